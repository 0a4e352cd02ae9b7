"""Exercise EncoderLayer of notebook 03."""

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
    SILENT_LOOK,
    EncoderLayer,
    _always_post,
    _always_pre,
    _bias,
    _causal,
    _draw_layer_build,
    _lowered,
    _no_residual,
    _norm_before_sum,
    _normed_residual,
    _numbers,
    _orders_swapped,
    _padding,
    _parameter_stage,
    _residual_around,
    _weights,
    _with,
)

exercise = Definition(minutes=15, difficulty=2, forbids=("helpers.models.Layer",))
exercise.reference(EncoderLayer)


def _layer(
    seed: int, b: int, n: int, build: dict[str, Any], mask: Tensor | None = None, silent: bool = False
) -> Question:
    weights = _weights(EncoderLayer, build, seed, silent=silent)
    if mask is not None:  # both norms alike: who uses one for both parts need not fail here, too
        weights |= {f"feed_forward_norm.{name}": weights[f"attention_norm.{name}"] for name in ("weight", "bias")}
    return Question((_numbers(b, n, build["d_model"], seed=seed), mask), build=build, weights=weights)


def _draw_layer(kind: str) -> Draw:
    """Draws questions of both kinds of layers, or of one kind, with one sentence, one token and equal sizes."""

    def draw(rng: random.Random) -> list[Question]:
        asks = []
        for norm_first in {"post": (False,), "pre": (True,)}.get(kind, (False, True)):
            build, (b, n) = _draw_layer_build(rng, norm_first), rng.sample([6, 7, 8, 9], 2)
            sizes: list[tuple[int, int, Tensor | None]]
            if kind == "mask":
                sizes = [(b, n, _causal(n)), (b, n, _padding(b, n, rng)), (1, n, _bias(n, n)), (n, n, _causal(n))]
            else:
                sizes = [(b, n, None), (1, n, None)] if kind == "silent" else [(b, n, None), (n, n, None), (1, 1, None)]
            asks += [_layer(rng.randrange(10**6), b, n, build, mask, kind == "silent") for b, n, mask in sizes]
        return asks

    return draw


# Some numbers of a token differ so little here that an eps of 1e-3 shows, and none of 1e-5 or less; of others it hangs
# on the draw whether it does.
LARGE_EPS = {
    "silent": _layer(138, 1, 3, POST, silent=True),
    "post": _layer(27, 2, 3, POST),
    "pre": _layer(113, 2, 3, PRE),
    "mask": _layer(27, 2, 3, PRE, _causal(3)),
}
exercise.add(
    _parameter_stage(0.25, f"Four parts with these names: {NAMES_OF_A_LAYER}", POST, draw=_draw_layer_build),
    Stage(
        "silent parts: what the residuals carry",
        0.5,
        SILENT_LOOK,
        [_layer(1, 1, 3, POST, silent=True), _layer(2, 1, 3, PRE, silent=True), LARGE_EPS["silent"]],
        _draw_layer("silent"),
        decisive=True,
        tolerance=OF_A_NORM,
    ),
)


@exercise.stage(
    "post-norm: norm(x + part(x)), twice",
    points=1,
    public=[_layer(3, 2, 3, POST), _layer(8, 1, 1, POST), LARGE_EPS["post"]],
    decisive=True,
    tolerance=OF_A_NORM,
)
def _(rng):
    """First attention, then feed-forward. Each time: x plus what the part makes of x, and then the norm of the sum."""
    return _draw_layer("post")(rng)


@exercise.stage(
    "pre-norm: x + part(norm(x)), twice",
    points=0.5,
    public=[_layer(4, 2, 3, PRE), LARGE_EPS["pre"]],
    decisive=True,
    tolerance=OF_A_NORM,
)
def _(rng):
    """With norm_first the norm stands before the part; what is added to is x itself, not its norm."""
    return _draw_layer("pre")(rng)


@exercise.stage(
    "with a mask",
    points=0.75,
    public=[
        _layer(5, 2, 3, POST, _causal(3)),
        _layer(6, 2, 3, PRE, _padding(2, 3, random.Random(1))),
        LARGE_EPS["mask"],
        _layer(7, 1, 3, POST, _bias(3, 3)),
        _layer(7, 1, 3, POST, _lowered(_bias(3, 3), 1)),
    ],
    tolerance=OF_A_NORM,
    decisive=True,
)
def _(rng):
    """Hand the mask on to the attention, as it is."""
    return _draw_layer("mask")(rng)


for stage, build in (("post-norm: norm(x + part(x)), twice", POST), ("pre-norm: x + part(norm(x)), twice", PRE)):

    @exercise.corners(stage, b=(1, range(33, 36)), n=(2, range(65, 68)), d_feedforward=(1, range(33, 36)))
    def _(rng, b, n, d_feedforward, build=build):
        return _layer(rng.randrange(10**6), b, n, build | {"d_feedforward": d_feedforward}) if b * n < 200 else None


exercise.mistake(
    "the residuals are missing",
    "The token is replaced by what the part makes of it. It must be added to: x + part(x).",
    _with(EncoderLayer, add=_no_residual),
)

exercise.mistake(
    "the residual around the attention is missing",
    "There is one around the feed-forward part; the attention needs one too: x + attention(x).",
    _with(EncoderLayer, add=_residual_around("feed_forward_norm")),
)

exercise.mistake(
    "the residual around the feed-forward part is missing",
    "There is one around the attention; the feed-forward part needs one too: x + feed_forward(x).",
    _with(EncoderLayer, add=_residual_around("attention_norm")),
)

exercise.mistake(
    "always post-norm",
    "norm_first is not looked at. When it is True, the norm stands before the part: x + part(norm(x)).",
    _with(EncoderLayer, add=_always_post),
)

exercise.mistake(
    "always pre-norm",
    "This is pre-norm, x + part(norm(x)), also when norm_first is False: then it is norm(x + part(x)).",
    _with(EncoderLayer, add=_always_pre),
)

exercise.mistake(
    "pre-norm and post-norm are exchanged",
    "norm_first=True means norm, then part: x + part(norm(x)). False, the default, means norm(x + part(x)).",
    _with(EncoderLayer, add=_orders_swapped),
)

exercise.mistake(
    "post-norm takes the norm before the sum",
    "x + norm(part(x)) never normalises x itself. Post-norm takes the norm of the sum: norm(x + part(x)).",
    _with(EncoderLayer, add=_norm_before_sum),
)

exercise.mistake(
    "pre-norm adds to the normalised x",
    "The residual path must stay free: x + part(norm(x)). `x = norm(x)` overwrites the x that you add to.",
    _with(EncoderLayer, add=_normed_residual),
)


def _raw_keys(self: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    """In pre-norm only the queries are normalised."""
    source = x
    x = self.add(x, lambda y: self.attention(y, source, mask), self.attention_norm)
    return self.add(x, self.feed_forward, self.feed_forward_norm)  # type: ignore[no-any-return]


exercise.mistake(
    "in pre-norm only the queries are normalised",
    "In self-attention, queries, keys and values come from the same tensor, and that is norm(x).",
    _with(EncoderLayer, forward=_raw_keys),
)


def _no_norm(self: Any, x: Tensor, part: Callable[[Tensor], Tensor], norm: nn.Module) -> Tensor:
    return x + part(x)


exercise.mistake(
    "the norms are missing",
    "Nothing keeps the numbers at one size here. Each of the two parts has a norm.",
    _with(EncoderLayer, add=_no_norm),
)


def _one_norm(self: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    x = self.add(x, lambda y: self.attention(y, y, mask), self.attention_norm)
    return self.add(x, self.feed_forward, self.attention_norm)  # type: ignore[no-any-return]


exercise.mistake(
    "one norm is used twice",
    "attention_norm and feed_forward_norm have weights of their own: use each at its place.",
    _with(EncoderLayer, forward=_one_norm),
)


def _norms_swapped(self: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    x = self.add(x, lambda y: self.attention(y, y, mask), self.feed_forward_norm)
    return self.add(x, self.feed_forward, self.attention_norm)  # type: ignore[no-any-return]


exercise.mistake(
    "the two norms are exchanged",
    "attention_norm belongs to the attention, feed_forward_norm to the feed-forward part. Each has weights of its own.",
    _with(EncoderLayer, forward=_norms_swapped),
)


def _no_feed_forward(self: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    return self.add(x, lambda y: self.attention(y, y, mask), self.attention_norm)  # type: ignore[no-any-return]


exercise.mistake(
    "the feed-forward part is missing",
    "After the attention and its norm comes the feed-forward part, with its own residual and norm.",
    _with(EncoderLayer, forward=_no_feed_forward),
)


def _feed_forward_first(self: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    x = self.add(x, self.feed_forward, self.feed_forward_norm)
    return self.add(x, lambda y: self.attention(y, y, mask), self.attention_norm)  # type: ignore[no-any-return]


exercise.mistake(
    "the feed-forward part comes first",
    "First the tokens read each other (attention), then each token thinks for itself (feed-forward).",
    _with(EncoderLayer, forward=_feed_forward_first),
)


def _layer_without_mask(self: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    return EncoderLayer.forward(self, x)


exercise.mistake(
    "the mask is not used",
    "The layer takes a mask and must hand it on: self.attention(x, x, mask).",
    _with(EncoderLayer, forward=_layer_without_mask),
)
