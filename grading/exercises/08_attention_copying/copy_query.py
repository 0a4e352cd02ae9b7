"""Exercise copy_query of notebook 08."""

from __future__ import annotations

import math
import random

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw
from tutor.checking.answers import Question

from ._common import _generator, _of_seed, _orthonormal, _positions

# Keys of length 1 at right angles that can be multiplied by hand; the first two are not along the axes.
TURNED = torch.tensor([[0.6, 0.8, 0.0], [-0.8, 0.6, 0.0], [0.0, 0.0, 1.0]])

# Keys that are nearly along the axes: their small numbers count as the large ones do.
SLIGHTLY_TURNED = torch.tensor([[0.99998, 0.006, 0.0], [-0.006, 0.99998, 0.0], [0.0, 0.0, 1.0]])


exercise = Definition(minutes=10, difficulty=1)


@exercise.reference
def copy_query(keys: Tensor, j: int, scale: float) -> Tensor:
    return scale * keys[j]


TWO_KEYS = TURNED[:2, :2]  # those of the text
# Two digits are enough; of three, those of a factor sqrt(d) are told from those of a query that is the value.
exercise.by_hand(
    Question((TWO_KEYS, 0, 2.0)), part=lambda query: torch.softmax(TWO_KEYS @ query, dim=-1), tolerance=0.0012
)


def _draw_copies(*scales: tuple[float, float]) -> Draw:
    """Returns what draws a question with a scale of each range; one of them for each kind of indices."""

    def draw(rng: random.Random) -> list[Question]:
        asks = []
        for (low, high), (n, d, j, _) in zip(scales, _positions(rng), strict=False):
            asks.append(Question((_orthonormal(n, d, _generator(rng)), j, round(rng.uniform(low, high), 2))))
        return asks

    return draw


@exercise.stage(
    "a vector of shape (d,)",
    points=0.25,
    public=[Question((_of_seed(3, 5, 1), 1, 2.0))],
    view="shape",
    measure="attention",
)
def _(rng: random.Random) -> list[Question]:
    """A query is compared with every key, so it has as many numbers as one key: the width d."""
    return _draw_copies((2, 4))(rng)


@exercise.stage(
    "three keys, by hand: weights 1/2, 1/4, 1/4",
    points=0.5,
    public=[Question((TURNED, 0, math.log(2))), Question((TURNED, 1, math.log(2)))],
    measure="attention",
)
def _(rng: random.Random) -> list[Question]:
    """Print keys @ query: with scale = ln 2, score j must be ln 2 above each of the others, no less and no more. That
    makes the weights 2/(2 + 1 + 1) and twice 1/4.
    """
    return [Question((-TURNED, j, math.log(2))) for j in rng.sample([0, 1], 2)]


@exercise.stage(
    "any keys, any scale",
    points=1.25,
    public=[
        Question((_of_seed(4, 6, 2), 2, 1.5)),
        Question((_of_seed(5, 5, 3), 1, 6.0)),
        Question((_of_seed(4, 6, 9), 2, 1.5)),
        Question((_of_seed(4, 5, 3), 3, 50.0)),
        Question((_of_seed(3, 5, 8), 1, 200.0)),
        Question((_of_seed(2, 4, 3), 0, 1.0)),
        Question((_of_seed(3, 4, 2), 1, 0)),
        Question((SLIGHTLY_TURNED, 0, 1.5)),
    ],
    measure="leads",
    tolerance=1e-3,  # scores of 300 are rounded in single precision
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Print keys @ query: the score at index j must be `scale` above the others, and these must all be the same. With
    scale 0 all weights are the same.
    """
    # Returns questions with small scales, large ones, and 0, where all keys get the same weight.
    small = _draw_copies((0.5, 3), (0.5, 3), (0.5, 3))(rng)
    keys, j, _ = small[1].inputs
    # other keys at the same index with the same scale, and scales under which exponentials are no numbers any more
    n, d = keys.shape
    other = Question((_orthonormal(n, d, _generator(rng)), *small[1].inputs[1:]))
    far = _draw_copies((180, 300), (180, 300))(rng)
    return [*small, other, *_draw_copies((5, 7), (40, 60), (5, 7))(rng), *far, Question((keys, j, 0))]


@exercise.corners(
    "any keys, any scale", n=(2, range(17, 20)), position=("first", "last"), spare=(0, 1), scale=(0.01, 300.0)
)
def _(rng: random.Random, n: int, position: str, spare: int, scale: float) -> Question:
    return Question((_orthonormal(n, n + spare, _generator(rng)), 0 if position == "first" else n - 1, scale))


@exercise.mistake("the scale is used twice")
def _(keys: Tensor, j: int, scale: float) -> Tensor:
    """The score of key j is query . key, and the key has length 1: one factor `scale` is enough."""
    return scale**2 * keys[j]
