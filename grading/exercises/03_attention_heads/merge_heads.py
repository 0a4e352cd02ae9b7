"""Exercise merge_heads of notebook 03."""

from __future__ import annotations

import random

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw
from tutor.checking.answers import Question

from ._common import _counted, _merge_reshaped, merge_heads

exercise = Definition(minutes=5, difficulty=1, trains=True)
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
def _(rng):
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
def _(rng):
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
def _(rng, b, h, n, width):
    return Question((_counted(b, h, n, width, rng=rng),)) if b * h * n * width < 3000 else None


exercise.mistake(
    "reshaped without a transpose",
    "The tokens must stand before the heads again when you reshape: transpose(1, 2) first, otherwise pieces of "
    "different tokens end up in one row.",
    _merge_reshaped,
)


@exercise.mistake("the numbers of the heads alternate")
def _(x):
    """Each head's d/h numbers stay together: bring the axes into the order (b, n, h, d/h) before the reshape."""
    return x.permute(0, 2, 3, 1).flatten(2)


@exercise.mistake("the heads are averaged")
def _(x):
    """Nothing is added up: the heads stand side by side, and the row of a token has d numbers again."""
    return x.mean(dim=1)


@exercise.mistake("the heads are added")
def _(x):
    """Nothing is added up: the heads stand side by side, and the row of a token has d numbers again."""
    return x.sum(dim=1)


@exercise.mistake("the heads stand one below the other")
def _(x):
    """Each token must have one row of d numbers: put the heads side by side, along the last axis."""
    return x.flatten(1, 2)


@exercise.mistake("view after a transpose")
def _(x):
    """A transpose only changes how the numbers are read, and `view` needs them in their new order in memory. Use
    reshape, which copies them where it must, or call contiguous() before view.
    """
    b, h, n, width = x.shape
    return x.transpose(1, 2).view(b, n, h * width)
