"""Exercise DecoderLayer of notebook 03."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from grading.definitions.definition import Definition, Stage
from grading.exercises.draws import Draw
from tutor.checking.answers import Question

from ._common import (
    NAMES_OF_A_LAYER,
    OF_A_NORM,
    POST,
    PRE,
    SILENT_FEEDBACK,
    FeedForward,
    MultiHeadAttention,
    _bias,
    _causal,
    _draw_layer_build,
    _lowered,
    _padding,
    _parameter_stage,
    _values,
    _weights,
)

exercise = Definition(minutes=20, difficulty=2, forbids=("helpers.models.Layer",))


@exercise.reference
class DecoderLayer(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_feedforward: int, norm_first: bool = False) -> None:
        super().__init__()
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.attention_norm = nn.LayerNorm(d_model)
        self.cross_attention = MultiHeadAttention(d_model, n_heads)
        self.cross_attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_feedforward)
        self.feed_forward_norm = nn.LayerNorm(d_model)

    def add(self, x: Tensor, part: Callable[[Tensor], Tensor], norm: nn.Module) -> Tensor:
        """Returns x with what a part makes of it added, and the norm where it belongs."""
        result: Tensor = x + part(norm(x)) if self.norm_first else norm(x + part(x))
        return result

    def read(self, y: Tensor, memory: Tensor, memory_mask: Tensor | None) -> Tensor:
        """Returns what y finds in the memory."""
        result: Tensor = self.cross_attention(y, memory, memory_mask)
        return result

    def forward(
        self, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
    ) -> Tensor:
        x = self.add(x, lambda y: self.attention(y, y, mask), self.attention_norm)
        x = self.add(x, lambda y: self.read(y, memory, memory_mask), self.cross_attention_norm)
        return self.add(x, self.feed_forward, self.feed_forward_norm)


def _decoder(
    seed: int,
    b: int,
    n: int,
    m: int,
    build: dict[str, Any],
    *,
    mask: Tensor | None = None,
    memory_mask: Tensor | None = None,
    silent: bool = False,
) -> Question:
    x, memory = _values(b, n, build["d_model"], seed=seed), _values(b, m, build["d_model"], seed=seed + 1)
    return Question(
        (x, memory, mask, memory_mask), build=build, weights=_weights(DecoderLayer, build, seed, silent=silent)
    )


def _reading_bias(b: int, m: int, rng: random.Random) -> Tensor:
    """Returns a mask `(b, 1, 1, m)` of finite numbers."""
    return _values(b, 1, 1, m, seed=rng.randrange(10**6), size=2)


def _draw_decoder(kind: str) -> Draw:
    """Draws lengths that differ, then such that agree: there a mask fits at the wrong place, too."""

    def draw(rng: random.Random) -> list[Question]:
        asks = []
        for norm_first in {"post": (False,), "pre": (True,)}.get(kind, (False, True)):
            build, (b, *lengths) = _draw_layer_build(rng, norm_first), rng.sample([3, 6, 7, 8], 3)
            n, m = sorted(lengths)  # whoever reads no more of the memory than x is long is wrong in every stage
            sizes: list[tuple[int, int, int, Tensor | None, Tensor | None]]
            if kind == "causal":
                sizes = [(b, n, m, _causal(n), None), (b, n, n, _causal(n), None), (1, n, n, _bias(n, n), None)]
            elif kind == "padding":
                sizes = [(b, n, m, None, _padding(b, m, rng)), (b, n, n, None, _padding(b, n, rng))]
                sizes += [(2, n, k, None, _reading_bias(2, k, rng)) for k in (n, m)]
            elif kind == "both":
                sizes = [(b, n, n, _causal(n), _padding(b, n, rng)), (n, n, n, _causal(n), _padding(n, n, rng))]
                sizes.append((1, n, m, _bias(n, n), _reading_bias(1, m, rng)))
            elif kind == "silent":
                sizes = [(b, n, m, None, None), (1, 1, m, None, None)]
            else:
                sizes = [(b, n, m, None, None), (n, n, n, None, None), (1, n, 1, None, None)]
            for b, n, m, mask, memory_mask in sizes:
                masks = {"mask": mask, "memory_mask": memory_mask}
                asks.append(_decoder(rng.randrange(10**6), b, n, m, build, silent=kind == "silent", **masks))
        return asks

    return draw


exercise.add(
    _parameter_stage(
        0.25,
        f"The parts of an EncoderLayer, {NAMES_OF_A_LAYER[:-1]}, and two more: cross_attention and "
        "cross_attention_norm.",
        POST,
        draw=_draw_layer_build,
    )
)


@exercise.stage("the shape of the result: that of x", points=0.25, public=[_decoder(1, 1, 2, 3, POST)], view="shape")
def _(rng: random.Random) -> list[Question]:
    """x asks and the memory answers: the result has one row for each token of x, whatever the memory's length."""
    return [_decoder(rng.randrange(10**6), 2, rng.randint(3, 5), rng.randint(6, 8), POST)]


exercise.add(
    Stage(
        "silent parts: what the residuals carry",
        0.5,
        SILENT_FEEDBACK,
        [_decoder(2, 1, 2, 3, POST, silent=True), _decoder(3, 1, 2, 3, PRE, silent=True)],
        _draw_decoder("silent"),
        tolerance=OF_A_NORM,
    )
)


@exercise.stage(
    "post-norm",
    points=0.75,
    public=[_decoder(4, 1, 3, 4, POST), _decoder(12, 1, 3, 3, POST)],
    decisive=True,
    tolerance=OF_A_NORM,
)
def _(rng: random.Random) -> list[Question]:
    """Three times norm(x + part(x)): x reads itself, then the memory, then the feed-forward part. Each part has the
    norm that bears its name. None means no mask: nothing is added, not even a causal one.
    """
    return _draw_decoder("post")(rng)


@exercise.stage(
    "pre-norm",
    points=0.75,
    public=[_decoder(5, 1, 3, 4, PRE), _decoder(13, 1, 3, 3, PRE)],
    decisive=True,
    tolerance=OF_A_NORM,
)
def _(rng: random.Random) -> list[Question]:
    """Three times x + part(norm(x)), each part with the norm that bears its name. Only x is normalised here: the memory
    has been, by the encoder. None means no mask: nothing is added, not even a causal one.
    """
    return _draw_decoder("pre")(rng)


@exercise.stage(
    "the causal mask, in self-attention",
    points=0.5,
    public=[
        _decoder(6, 1, 3, 2, POST, mask=_causal(3)),
        _decoder(9, 1, 3, 2, PRE, mask=_causal(3)),
        _decoder(14, 1, 3, 3, POST, mask=_causal(3)),
        _decoder(15, 1, 3, 3, PRE, mask=_bias(3, 3)),
        _decoder(18, 1, 3, 3, PRE, mask=_lowered(_bias(3, 3), 1)),
    ],
    tolerance=OF_A_NORM,
)
def _(rng: random.Random) -> list[Question]:
    """`mask` belongs to the attention in which x reads itself. It is handed on as it is: it may hold finite numbers."""
    return _draw_decoder("causal")(rng)


@exercise.stage(
    "the mask of the memory, in cross-attention",
    points=0.5,
    public=[
        _decoder(7, 2, 2, 3, POST, memory_mask=_padding(2, 3, random.Random(4))),
        _decoder(10, 2, 2, 3, PRE, memory_mask=_padding(2, 3, random.Random(5))),
        _decoder(16, 2, 3, 3, POST, memory_mask=_padding(2, 3, random.Random(8))),
        _decoder(17, 2, 3, 3, PRE, memory_mask=_reading_bias(2, 3, random.Random(9))),
        _decoder(19, 1, 3, 3, PRE, memory_mask=_lowered(_bias(3, 3), 1)),
    ],
    tolerance=OF_A_NORM,
)
def _(rng: random.Random) -> list[Question]:
    """`memory_mask` belongs to the attention in which x reads the memory: it hides the padding there."""
    return _draw_decoder("padding")(rng)


@exercise.stage(
    "both masks",
    points=0.5,
    public=[
        _decoder(8, 2, 3, 3, PRE, mask=_causal(3), memory_mask=_padding(2, 3, random.Random(6))),
        _decoder(11, 2, 3, 3, POST, mask=_causal(3), memory_mask=_padding(2, 3, random.Random(7))),
    ],
    decisive=True,
    tolerance=OF_A_NORM,
)
def _(rng: random.Random) -> list[Question]:
    """Each mask at its own place, even where the lengths would allow to exchange them."""
    return _draw_decoder("both")(rng)


for stage, build in (("post-norm", POST), ("pre-norm", PRE)):

    @exercise.corners(stage, n=(1, range(33, 36)), m=(1, range(65, 68)), d_feedforward=(1, range(33, 36)))
    def _(rng: random.Random, n: int, m: int, d_feedforward: int, build: dict[str, Any] = build) -> Question:
        return _decoder(rng.randrange(10**6), 1, n, m, build | {"d_feedforward": d_feedforward})
