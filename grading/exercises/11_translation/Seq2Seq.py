"""Exercise Seq2Seq of notebook 11."""

from __future__ import annotations

import math
import random
from typing import Any

import torch
from torch import Tensor, nn

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, both
from helpers.models import Context, TransformerBase
from helpers.vocabulary import PAD, SOS
from tutor.checking.answers import Question
from tutor.checking.plain import Model

from ._common import _padded, _sequences

INF = math.inf


def hide_padding(lengths: Tensor, size: int) -> Tensor:
    """Returns the mask of the memory `(b, 1, 1, m)`: minus infinity where a source is padded."""
    padded = torch.arange(size, device=lengths.device) >= lengths.unsqueeze(1)
    return torch.zeros(padded.shape, device=lengths.device).masked_fill(padded, -INF)[:, None, None]


exercise = Definition(minutes=20, difficulty=2, forbids=("helpers.models.EncoderDecoder",))


@exercise.reference
class Seq2Seq(nn.Module):
    """The reference; subclasses change one thing each."""

    reads_ahead, writes_ahead, dropout = True, False, 0.0

    def __init__(
        self, source_vocab_size: int, target_vocab_size: int, d_model: int, n_layers: int, n_heads: int
    ) -> None:
        super().__init__()
        shape = d_model, n_layers, n_heads
        common: dict[str, Any] = {"dropout": self.dropout, "norm_first": True}
        self.encoder = TransformerBase(source_vocab_size, *shape, causal=not self.reads_ahead, **common)
        self.decoder = TransformerBase(target_vocab_size, *shape, causal=not self.writes_ahead, cross=True, **common)
        self.head = nn.Linear(d_model, target_vocab_size)

    def encode(self, source: Tensor, source_lengths: Tensor) -> Context:
        mask = hide_padding(source_lengths, source.shape[1])
        return Context(memory=self.encoder(source, source_lengths), memory_mask=mask)

    def decode(self, target: Tensor, context: Context) -> Tensor:
        return self.head(self.decoder(target, context=context))

    def forward(self, source: Tensor, source_lengths: Tensor, target: Tensor) -> Tensor:
        return self.decode(target, self.encode(source, source_lengths))


SMALL = {"source_vocab_size": 9, "target_vocab_size": 7, "d_model": 8, "n_layers": 1, "n_heads": 2}


def _drawn_build(rng: random.Random, n_layers: int = 1) -> dict[str, Any]:
    d, h = rng.choice([(8, 2), (12, 3), (8, 4)])
    sizes = rng.sample(range(7, 20), 2)
    return dict(zip(SMALL, [*sizes, d, n_layers, h], strict=True))


def _weights(build: dict[str, Any], seed: int, training: bool = False) -> Model:
    """Returns weights for a Seq2Seq, as those of a ready model of the same make; norms and biases too are moved."""
    return Model("EncoderDecoder", build | {"norm_first": True}, seed, spread=0.3, state=True, training=training)


def _forward(
    seed: int,
    build: dict[str, Any],
    lengths: list[int],
    n: int,
    training: bool = False,
    spare: int = 0,
    padding: int = PAD,
    **more: Any,
) -> Question:
    """Returns a question on sources of these lengths, padded with a number by `spare` more than the longest needs."""
    sources, b = torch.tensor(lengths), len(lengths)
    source = _padded(_sequences(b, max(lengths) + spare, build["source_vocab_size"], seed), sources, padding)
    target = _sequences(b, n, build["target_vocab_size"], seed + 1)
    target[:, 0] = SOS
    return Question((source, sources, target), build=build, weights=_weights(build, seed, training), **more)


def _draw_forward(kind: str, n_layers: int = 1, **more: Any) -> Draw:
    """Returns what draws a question; a module of two layers takes half as long again to be built and asked."""

    def draw(rng: random.Random) -> list[Question]:
        n, m = rng.sample(range(3, 8), 2)
        lengths = {"one": [m], "single": [m], "same": [m] * 3, "padded": [m, 2, *rng.sample(range(1, m), 1)]}[kind]
        n = 1 if kind == "one" else n
        return [_forward(rng.randrange(10**6), _drawn_build(rng, n_layers), lengths, n, **more)]

    return draw


def _with_one_vocabulary(build: dict[str, Any]) -> dict[str, Any]:
    """Returns a build with vocabularies of one size, whose embeddings are two all the same."""
    return build | {"source_vocab_size": build["target_vocab_size"]}


@exercise.stage(
    "names and shapes of the parameters",
    points=0.5,
    public=[Question(build=build, probe="parameters") for build in (SMALL, _with_one_vocabulary(SMALL))],
    view="parameters",
)
def _(rng: random.Random) -> list[Question]:
    """Three parts: self.encoder and self.decoder, a TransformerBase with norm_first=True each, and self.head, a Linear
    from d_model to the target's vocabulary. The decoder has cross=True. What the text does not set, d_feedforward too,
    stays at the defaults of TransformerBase.
    """
    return [
        Question(build=build, probe="parameters")
        for build in (_drawn_build(rng, n_layers=2), _with_one_vocabulary(_drawn_build(rng)))
    ]


@exercise.stage("logits of shape (b, n, V)", points=0.5, public=[_forward(1, SMALL, [4, 4], 3)], view="shape")
def _(rng: random.Random) -> list[Question]:
    """For each of the n positions of the target one score for each of its V words."""
    return _draw_forward("same")(rng)


@exercise.stage("one sentence, the first word", points=0.5, public=[_forward(2, SMALL, [4], 1)])
def _(rng: random.Random) -> list[Question]:
    """With the target <sos> alone, only the encoder, the cross-attention and the head can be wrong. The encoder reads
    the whole source at once.
    """
    return _draw_forward("one")(rng)


@exercise.stage(
    "several sentences, several words",
    points=1,
    public=[_forward(3, SMALL, [5, 5], 4), _forward(6, SMALL, [5, 5], 4, training=True)],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """The decoder reads the target that it is given, and at each position only up to there. In training mode the
    logits are the same: there is no dropout.
    """
    return both(_draw_forward("same", n_layers=2), _draw_forward("same", training=True))(rng)


@exercise.stage(
    "sources of different lengths",
    points=0.5,
    public=[
        _forward(4, SMALL, [5, 2, 3], 3),
        _forward(8, SMALL, [3, 3], 4, spare=2),
        _forward(9, SMALL, [2, 5, 3], 3, padding=6),
    ],
)
def _(rng: random.Random) -> list[Question]:
    """Neither the encoder nor the cross-attention may look at padding: the encoder takes the lengths, the context the
    mask of the memory. The lengths alone say what is padding, whatever number stands there.
    """
    kinds = (
        _draw_forward("padded"),
        _draw_forward("single", spare=3),
        _draw_forward("padded", padding=rng.choice([4, 5])),
    )
    return both(*kinds)(rng)


def _contexts(seed: int, build: dict[str, Any], lengths: list[int], n: int) -> Question:
    other = _forward(seed + 1, build, lengths[::-1], n)  # with other positions of padding, too
    return _forward(seed, build, lengths, n, probe="contexts", follow_up=other.inputs[:2])


@exercise.stage(
    "a context is read as it was made, also twice and after another one",
    points=0.5,
    public=[_contexts(7, SMALL, [5, 2], 4)],
)
def _(rng: random.Random) -> list[Question]:
    """decode reads the context that it is given, and nothing that the last encode has left in the module; no cache
    stands in a context unless somebody puts one there. The decoder gets that context itself, and no copy: it uses a
    cache, and notes the weights of attention, where somebody has put a dict for them.
    """
    return [_contexts(rng.randrange(10**6), _drawn_build(rng, n_layers=2), [6, rng.randint(2, 5)], rng.randint(3, 5))]


@exercise.stage(
    "the encoder runs once for a batch (runs are counted)",
    points=0.5,
    public=[_forward(5, SMALL, lengths, 4, probe="calls", part="encoder") for lengths in ([5, 2], [5])],
)
def _(rng: random.Random) -> list[Question]:
    """The source does not change while the target is written: run the encoder once, keep the memory, and let every
    position of the target read it.
    """
    return both(*(_draw_forward(kind, probe="calls", part="encoder") for kind in ("padded", "single")))(rng)


@exercise.corners(
    "sources of different lengths", b=(1, 2), m=(1, range(33, 36)), n=(1, range(33, 36)), spare=(0, 1, range(33, 36))
)
def _(rng: random.Random, b: int, m: int, n: int, spare: int) -> Question:
    """Asks about one source with padding, and about padding that is longer than a source."""
    build = dict(zip(SMALL, (7, 6, 4, 1, 2), strict=True))
    return _forward(rng.randrange(10**6), build, [m, 1][:b], n, spare=spare)
