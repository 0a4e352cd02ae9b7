"""Exercise merge_heads of notebook 03."""

from __future__ import annotations

import random

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw
from tutor.checking.answers import Question

from ._common import _counted, merge_heads

exercise = Definition(minutes=5, difficulty=1, trains=True, forbids=("helpers.heads.merge_heads",))
exercise.reference(merge_heads)


def _draw_merge(one_token: bool = False) -> Draw:
    def draw(rng: random.Random) -> list[Question]:
        b, h, n, width = rng.sample(range(2, 7), 4)
        side, few = rng.randint(3, 4), rng.choice([2, 3])
        sizes = [(b, h, n, width), (side,) * 4, (1, few, 4, 5), (few, 1, 5, 4), (few, 4, 5, 1), (few, 3, 6, 2)]
        return [Question((_counted(b, h, 1 if one_token else n, width, rng=rng),)) for b, h, n, width in sizes]

    return draw


@exercise.stage(
    "one token: its pieces side by side",
    points=0.25,
    public=[Question((_counted(2, 4, 1, 2),)), Question((_counted(1, 2, 1, 3),))],
)
def _(rng: random.Random) -> list[Question]:
    """Three axes again, (b, n, d), also where one of them is 1: the h pieces of width d/h of the token stand side by
    side, first that of head 0. h times d/h is d.
    """
    return _draw_merge(one_token=True)(rng)


@exercise.stage(
    "several tokens: the way back",
    points=0.75,
    public=[Question((_counted(*sizes),)) for sizes in ((1, 2, 3, 2), (2, 2, 2, 2), (2, 4, 3, 2), (1, 3, 2, 1))],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """merge_heads(split_heads(x, h)) must be x again: undo the steps in the opposite order. The result has the shape
    (b, n, d).
    """
    return _draw_merge()(rng)


exercise.large += [Question((_counted(1, 2, 300, 2),))]


@exercise.corners(
    "several tokens: the way back",
    b=(1, 2, range(33, 36)),
    h=(1, 2, range(33, 36)),
    n=(1, 2, range(65, 68)),
    width=(1, 2),
)
def _(rng: random.Random, b: int, h: int, n: int, width: int) -> Question | None:
    return Question((_counted(b, h, n, width, rng=rng),)) if b * h * n * width < 3000 else None
