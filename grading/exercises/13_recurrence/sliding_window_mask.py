"""Exercise sliding_window_mask of notebook 13."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from tutor.checking.answers import Question

INF = float("inf")


exercise = Definition(minutes=8, difficulty=1)


@exercise.reference
def sliding_window_mask(size: int, window: int) -> Tensor:
    return _mask(size, -window + 1, 0)


def _seen(size: int, low: int, high: int) -> Tensor:
    """Returns where j - i is between low and high."""
    distance = torch.arange(size) - torch.arange(size)[:, None]
    return (distance >= low) & (distance <= high)


def _mask(size: int, low: int, high: int) -> Tensor:
    return torch.zeros(size, size).masked_fill(~_seen(size, low, high), -INF)


def _draw(rng: random.Random) -> list[Question]:
    """Draws sizes, each with a window of its own, and one of them with another one: a mask is not that of its size."""
    sizes = [rng.randint(5, 6), rng.randint(7, 9), rng.randint(13, 17)]
    windows = rng.sample([2, 3, 4], 3)
    return [Question((size, window)) for size, window in zip([*sizes, sizes[1]], [*windows, windows[0]], strict=True)]


@exercise.stage("a floating point tensor of shape (size, size)", points=0.25, public=[Question((5, 2))], view="shape")
def _(rng: random.Random) -> list[Question]:
    """One row for each token that looks, one column for each token looked at; floating point numbers."""
    return _draw(rng)[:1]


@exercise.stage("every row", points=1.25, public=[Question((5, 2)), Question((7, 3))], decisive=True)
def _(rng: random.Random) -> list[Question]:
    """Row i is 0 where i - window < j <= i, and minus infinity, no finite number, everywhere else: window positions,
    its own included. At the beginning there are fewer: a negative index would mean positions at the end.
    """
    return _draw(rng)


@exercise.stage(
    "a window of one token, and one as long as the sentence",
    points=0.5,
    public=[Question((4, 1)), Question((4, 4)), Question((3, 6)), Question((1, 2))],
)
def _(rng: random.Random) -> list[Question]:
    """With window 1 a token sees itself alone. With a window of at least `size` this is the causal mask."""
    size = rng.randint(4, 7)
    return [
        Question((size, 1)),
        Question((size, size)),
        Question((size, size + rng.randint(1, 5))),
        Question((1, rng.randint(2, 4))),
    ]


exercise.large += [Question((4, 255)), Question((3, 256)), Question((2, 65_536))]


@exercise.corners(
    "a window of one token, and one as long as the sentence",
    size=(1, 2, range(33, 36), range(65, 68)),
    window=("one", "two", "one position less", "the sentence", "beyond it"),
)
def _(rng: random.Random, size: int, window: str) -> Question:
    known = {"one": 1, "two": 2, "one position less": max(1, size - 1), "the sentence": size}
    return Question((size, known.get(window, size + rng.randint(1, 1001))))
