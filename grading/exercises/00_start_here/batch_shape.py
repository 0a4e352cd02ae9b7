"""Exercise batch_shape of notebook 00."""

from __future__ import annotations

import random

from grading.definitions.definition import Definition
from tutor.checking.answers import Question

exercise = Definition(minutes=3, difficulty=1)


@exercise.reference
def batch_shape(b: int, n: int, d: int) -> tuple[int, int, int]:
    return (b, n, d)


exercise.by_hand(Question((2, 3, 4)))  # the picture that the text counts


def _draw(rng: random.Random) -> list[Question]:
    """Draws sizes that grow, that fall, and a 1 in each dimension: no rule on sizes may do in place of the order."""
    low, middle, high = sorted(rng.sample(range(2, 60), 3))
    ones = [rng.sample(range(2, 60), 2) for _ in range(3)]
    asks: list[tuple[int, ...]] = [(low, middle, high), (high, middle, low), (middle, high, low)]
    asks += [(1, *ones[0]), (ones[1][0], 1, ones[1][1]), (*ones[2], 1)]
    rng.shuffle(asks)
    return [Question(sizes) for sizes in asks]


PUBLIC = [Question((2, 5, 8)), Question((1, 3, 4)), Question((7, 4, 2)), Question((3, 1, 2)), Question((4, 6, 1))]


@exercise.stage("three whole numbers: b, n and d", points=0.5, public=PUBLIC, measure="any order")
def _(rng: random.Random) -> list[Question]:
    """Return one tuple of the three numbers that the function is given: return (first, second, third)."""
    return _draw(rng)


@exercise.stage("batch first, then tokens, then width", points=0.5, public=PUBLIC, decisive=True)
def _(rng: random.Random) -> list[Question]:
    """The batch comes first, then the tokens of a sentence, then the numbers of a token."""
    return _draw(rng)


@exercise.corners(
    "batch first, then tokens, then width", b=(1, range(1001, 1010)), n=(1, range(65, 70)), d=(1, range(4097, 4100))
)
def _(rng: random.Random, b: int, n: int, d: int) -> Question | None:
    """Asks for one large number at a time: a batch may be made to look at its shape."""
    return Question((b, n, d)) if b * n * d < 10_000 else None
