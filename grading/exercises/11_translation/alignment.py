"""Exercise alignment of notebook 11."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, both, seed_from
from helpers.vocabulary import EOS, PAD, SOS
from tutor.checking.answers import Question
from tutor.checking.plain import Model

from ._common import _sequences


@torch.no_grad()
def _maps(model: Any, source: list[int], read: list[int], part: str = "cross_attention") -> Tensor:
    """Returns the weights of all layers, `(layers, h, n, m)`, when the decoder reads these tokens."""
    context = model.encode(torch.tensor([source]))
    context.maps = {}
    model.decode(torch.tensor([read]), context)
    return torch.stack([context.maps[getattr(layer, part)][0] for layer in model.decoder.layers])


exercise = Definition(minutes=20, difficulty=2)


@exercise.reference
def alignment(model: Any, source: list[int], words: list[int]) -> Tensor:
    return _maps(model, source, [SOS, *words[:-1]])[-1].mean(dim=0)


def _aligned(n_words: int, m: int, layers: int, seed: int, last: int = EOS, *, odd: bool = False) -> Question:
    build = {"source_vocab_size": 12, "target_vocab_size": 14, "d_model": 12, "n_layers": layers, "n_heads": 3}
    recipe = Model("EncoderDecoder", build | {"norm_first": True}, seed, spread=0.3)
    source = [*_sequences(1, m - 1, 12, seed)[0].tolist(), last]
    words = _sequences(1, n_words, 14, seed + 1)[0].tolist()
    if odd:
        words[1], words[-1] = PAD, words[0]  # a model may write both: <pad>, and a word once more
    return Question((recipe, source, words))


def _draw_alignment(low: int, high: int, layers: int) -> Draw:
    def draw(rng: random.Random) -> list[Question]:
        sizes = rng.sample(range(low, high + 1), 2) if high > low else [low, rng.randint(3, 6)]
        return [_aligned(sizes[0], sizes[1], layers, rng.randrange(10**6))]

    return draw


def _draw_long(layers: int) -> Draw:
    """Returns what draws a long source: each of its words gets little."""
    return lambda rng: [_aligned(3, rng.randint(70, 80), layers, seed_from(rng))]


@exercise.stage(
    "a row for each word written, a column for each token of the source",
    points=0.5,
    public=[_aligned(3, 5, 2, 1)],
    view="shape",
)
def _(rng: random.Random) -> list[Question]:
    """n words and m tokens give a tensor (n, m): the axes of the batch, the layers and the heads are gone."""
    return _draw_alignment(3, 7, 2)(rng)


@exercise.stage("each row sums to 1", points=0.5, public=[_aligned(3, 5, 2, 2), _aligned(3, 75, 1, 9)], view="row sums")
def _(rng: random.Random) -> list[Question]:
    """Weights sum to 1 over the source, and so does their mean over the heads."""
    return both(_draw_alignment(3, 7, 2), _draw_long(1))(rng)


@exercise.stage(
    "one layer",
    points=1,
    public=[_aligned(3, 4, 1, 3), _aligned(4, 4, 1, 5, odd=True), _aligned(1, 2, 1, 6), _aligned(3, 70, 1, 10)],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Word i is written by the position that has read <sos> and the words before it: feed <sos> and all words but the
    last. The weights are those that context.maps has, as they are, those of <eos> included; if you compute them
    yourself, divide the scores by the root of a head's width.
    """
    return both(
        _draw_alignment(3, 7, 1),
        _draw_long(1),
        lambda rng: [_aligned(5, rng.randint(3, 6), 1, seed_from(rng), odd=True)],
    )(rng)


@exercise.stage(
    "several layers: the last one",
    points=1,
    public=[_aligned(4, 6, 3, 4, odd=True), _aligned(3, 72, 2, 11), _aligned(3, 4, 2, 7, last=5)],
)
def _(rng: random.Random) -> list[Question]:
    """context.maps has the weights of every attention; take those of the cross_attention of the last layer of the
    decoder. The source is read as it is, with <eos> or without.
    """
    return both(_draw_alignment(3, 7, 3), _draw_long(2))(rng)


exercise.large += [_aligned(90, 80, 1, 8)]


@exercise.corners("several layers: the last one", n_words=(1, 2, range(65, 68)), m=(1, 2, range(33, 36)))
def _(rng: random.Random, n_words: int, m: int) -> Question:
    return _aligned(n_words, m, rng.randint(1, 2), seed_from(rng), rng.choice([EOS, 5]))


@exercise.corners("several layers: the last one", layers=(range(4, 6),))
def _(rng: random.Random, layers: int) -> Question:
    """Asks about more layers than elsewhere, once: to make and copy them is most of what a question costs."""
    return _aligned(2, 3, layers, seed_from(rng))
