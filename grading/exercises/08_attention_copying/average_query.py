"""Exercise average_query of notebook 08."""

from __future__ import annotations

import math
import random

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw
from tutor.checking.answers import Question

from ._common import _generator, _of_seed, _orthonormal, _positions

exercise = Definition(minutes=8, difficulty=1)


@exercise.reference
def average_query(keys: Tensor, a: int, b: int, scale: float) -> Tensor:
    return scale * (keys[a] + keys[b])


KEYS = torch.eye(4)
exercise.by_hand(Question((KEYS, 0, 1, math.log(3))), part=lambda query: KEYS @ query)  # the scores


def _draw_averages(*scales: tuple[float, float], values: bool = False) -> Draw:
    """Returns what draws a question with a scale of each range; one of them for each kind of indices."""

    def draw(rng: random.Random) -> list[Question]:
        asks = []
        for (low, high), (n, d, a, b) in zip(scales, _positions(rng), strict=False):
            keys, drawn = _orthonormal(n, d, _generator(rng)), torch.randn(n, 3, generator=_generator(rng))
            extra = {"values": drawn} if values else {}
            asks.append(Question((keys, a, b, round(rng.uniform(low, high), 2)), extra=extra))
        return asks

    return draw


# Below 7, half of the scale would leave too much with the others; at 50, so would no mistake, and only a tie will do.
MIDDLE, LARGE = (5.0, 7.0), (40.0, 60.0)
HUGE = (150.0, 260.0)  # the exponential of which is no number in single precision


@exercise.stage(
    "a vector of shape (d,)",
    points=0.25,
    public=[Question((_of_seed(3, 5, 4), 0, 2, 2.0))],
    view="shape",
    measure="attention",
)
def _(rng: random.Random) -> list[Question]:
    """One query, as wide as one key."""
    return _draw_averages((2, 4))(rng)


@exercise.stage(
    "a small scale: the weights are exact",
    points=0.75,
    public=[
        Question((_of_seed(4, 4, 5), 1, 3, math.log(3))),
        Question((_of_seed(5, 6, 5), 3, 1, 0.7)),
        Question((_of_seed(2, 3, 5), 0, 1, 1.0)),
        Question((_of_seed(4, 6, 5), 0, 2, 0)),
    ],
    measure="attention",
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Print keys @ query: the scores at a and b must be equal, and `scale` above each of the others, no less and no
    more. With 4 keys and scale = ln 3 that makes the weights 3/8, 3/8, 1/8, 1/8; with scale 0 all are the same.
    """
    # Returns questions with small scales, and one with scale 0, where all keys get the same weight.
    asks = _draw_averages((0.5, 3), (0.5, 3), (0.5, 3))(rng)
    keys, a, b, _ = asks[0].inputs
    return [*asks, Question((keys, a, b, 0))]


@exercise.stage(
    "a large scale: half of v_a and half of v_b",
    points=0.5,
    public=[
        Question((_of_seed(5, 6, 6), 4, 2, 6.0)),
        *(Question((_of_seed(5, 5, 6), 1, 4, scale)) for scale in (50.0, 256.0)),
    ],
    measure="attention",
)
def _(rng: random.Random) -> list[Question]:
    """Print keys @ query: the scores at a and b must be equal, to the last digit, and `scale` above the others."""
    return _draw_averages(MIDDLE, LARGE, HUGE)(rng)


@exercise.stage(
    "other values: the output is still their average",
    points=0.5,
    public=[
        Question((_of_seed(4, 5, 7), 0, 3, 2.0), extra={"values": torch.tensor([[2.0, 0], [9, 9], [-7, 5], [0, 4]])})
    ],
    measure="attention",
)
def _(rng: random.Random) -> list[Question]:
    """The query must not depend on what the values are; it makes equal weights for a and b whatever they hold."""
    return _draw_averages((1.5, 4), (1.5, 4), (1.5, 4), values=True)(rng)


@exercise.corners(
    "a small scale: the weights are exact",
    n=(2, range(17, 20)),
    order=("first and last", "last and first"),
    scale=(0.01, 3.0),
)
def _(rng: random.Random, n: int, order: str, scale: float) -> Question:
    a, b = (0, n - 1) if order == "first and last" else (n - 1, 0)
    return Question((_orthonormal(n, n + 1, _generator(rng)), a, b, scale))
