"""Exercise EncoderLayer of notebook 03."""

from __future__ import annotations

import random
from typing import Any

from torch import Tensor

from grading.definitions.definition import Definition, Stage
from grading.exercises.draws import Draw
from tutor.checking.answers import Question

from ._common import (
    NAMES_OF_A_LAYER,
    OF_A_NORM,
    POST,
    PRE,
    SILENT_FEEDBACK,
    EncoderLayer,
    _bias,
    _causal,
    _draw_layer_build,
    _lowered,
    _padding,
    _parameter_stage,
    _values,
    _weights,
)

exercise = Definition(minutes=15, difficulty=2, forbids=("helpers.models.Layer",))
exercise.reference(EncoderLayer)


def _layer(
    seed: int, b: int, n: int, build: dict[str, Any], mask: Tensor | None = None, silent: bool = False
) -> Question:
    weights = _weights(EncoderLayer, build, seed, silent=silent)
    if mask is not None:  # both norms alike: who uses one for both parts need not fail here, too
        weights |= {f"feed_forward_norm.{name}": weights[f"attention_norm.{name}"] for name in ("weight", "bias")}
    return Question((_values(b, n, build["d_model"], seed=seed), mask), build=build, weights=weights)


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
        SILENT_FEEDBACK,
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
def _(rng: random.Random) -> list[Question]:
    """First attention, then feed-forward. Each time: x plus what the part makes of x, and then the norm of the sum."""
    return _draw_layer("post")(rng)


@exercise.stage(
    "pre-norm: x + part(norm(x)), twice",
    points=0.5,
    public=[_layer(4, 2, 3, PRE), LARGE_EPS["pre"]],
    decisive=True,
    tolerance=OF_A_NORM,
)
def _(rng: random.Random) -> list[Question]:
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
def _(rng: random.Random) -> list[Question]:
    """Hand the mask on to the attention, as it is."""
    return _draw_layer("mask")(rng)


for stage, build in (("post-norm: norm(x + part(x)), twice", POST), ("pre-norm: x + part(norm(x)), twice", PRE)):

    @exercise.corners(stage, b=(1, range(33, 36)), n=(2, range(65, 68)), d_feedforward=(1, range(33, 36)))
    def _(rng: random.Random, b: int, n: int, d_feedforward: int, build: dict[str, Any] = build) -> Question | None:
        return _layer(rng.randrange(10**6), b, n, build | {"d_feedforward": d_feedforward}) if b * n < 200 else None
