"""Exercise induction_score of notebook 16."""

from __future__ import annotations

import random
from collections.abc import Callable

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import seed_from
from tutor.checking.answers import Question

Score = Callable[[Tensor], Tensor]


exercise = Definition(minutes=15, difficulty=2)


@exercise.reference
def induction_score(attention: Tensor) -> Tensor:
    return _looking_back(attention, attention.size(-1) // 2 - 1)


def _looking_back(attention: Tensor, distance: int) -> Tensor:
    """Returns the mean weight `(h,)` that the rows of the second half give to the position `distance` before them."""
    rows = torch.arange(attention.size(-1) // 2, attention.size(-1))
    return attention[:, :, rows, (rows - distance).clamp(max=attention.size(-1) - 1)].mean(dim=(0, 2))


def _random(seed: int, b: int, h: int, block: int) -> Tensor:
    """Returns causal attention weights `(b, h, 2 * block, 2 * block)` with two decimals."""
    n = 2 * block
    scores = torch.randn(b, h, n, n, generator=torch.Generator().manual_seed(seed)) * 1.5
    masked = scores + torch.full((n, n), -torch.inf).triu(1)
    return (100 * masked.softmax(dim=-1)).round() / 100


def _ask(weights: Tensor) -> Question:
    return Question((weights,))


_ROWS = [
    [1, 0, 0, 0, 0, 0],
    [0.5, 0.5, 0, 0, 0, 0],
    [0.4, 0.3, 0.3, 0, 0, 0],
    [0.1, 0.8, 0, 0.1, 0, 0],
    [0.2, 0.1, 0.6, 0, 0.1, 0],
    [0.1, 0.3, 0.1, 0.4, 0, 0.1],
]
exercise.by_hand(_ask(torch.tensor(_ROWS)[None, None]))


@exercise.stage(
    "one number for each head", points=0.25, public=[_ask(_random(1, 2, 3, 3)), _ask(_random(5, 2, 1, 3))], view="shape"
)
def _(rng: random.Random) -> list[Question]:
    """For attention (b, h, n, n) the result has the shape (h,): mean over the texts and over the rows."""
    return [_ask(_random(seed_from(rng), 3, 2, 4)), _ask(_random(seed_from(rng), 1, 1, 3))]


def _pure(block: int) -> Tensor:
    """Returns weights `(1, 4, n, n)` of heads that look at one position: itself, before, after the twin, the twin."""
    rows = torch.arange(2 * block)
    positions = [rows, (rows - 1).clamp(min=0), rows - block + 1, rows - block]
    heads = [torch.nn.functional.one_hot(position.clamp(min=0), 2 * block).float() for position in positions]
    return torch.stack(heads)[None]


@exercise.stage("heads that look at one place only", points=1, public=[_ask(_pure(5))], decisive=True)
def _(rng: random.Random) -> list[Question]:
    """Heads that look at themselves, at the token before, and at the same token one block earlier have 0; the one that
    looks at what came after it there has 1.
    """
    return [_ask(_pure(block)[:, rng.sample(range(4), 4)]) for block in (rng.choice([4, 5]), 6)]


@exercise.stage("one text, weights of all sizes", points=1, public=[_ask(_random(2, 1, 2, 4))], decisive=True)
def _(rng: random.Random) -> list[Question]:
    """Rows n/2 to n - 1, each at the position n/2 - 1 before it; the mean of these weights."""
    return [_ask(_random(seed_from(rng), 1, 3, 4)), _ask(_random(seed_from(rng), 1, 2, 5))]


@exercise.stage("several texts", points=0.5, public=[_ask(_random(3, 3, 2, 3))])
def _(rng: random.Random) -> list[Question]:
    """The mean runs over the texts of the batch as well, and not over the heads."""
    return [_ask(_random(seed_from(rng), 2, 4, 4)), _ask(_random(seed_from(rng), 3, 3, 3))]


@exercise.stage(
    "the type of the weights stays", points=0.25, public=[Question((_random(4, 1, 2, 3),), probe="in double")]
)
def _(rng: random.Random) -> list[Question]:
    """Weights in double precision give scores in double precision: compute with tensors, without .item()
    and .tolist(), and make a new one with their type, `attention.new_zeros(...)` in place of `torch.zeros(...)`.
    """
    return [Question((_random(seed_from(rng), 1, 2, 4),), probe="in double")]


@exercise.corners("one number for each head", b=(1, range(9, 12)), h=(1, range(9, 12), range(33, 36)))
def _(rng: random.Random, b: int, h: int) -> Question:
    return _ask(_random(seed_from(rng), b, h, 2))


@exercise.corners(
    "one text, weights of all sizes", block=(2, 3, range(33, 36), range(101, 104)), h=(1, 2, range(33, 36))
)
def _(rng: random.Random, block: int, h: int) -> Question | None:
    return None if (block > 9 and h > 2) or (block > 99 and h > 1) else _ask(_random(seed_from(rng), 1, h, block))


@exercise.corners("several texts", b=(1, range(33, 36), range(101, 104)), h=(2, range(9, 12)))
def _(rng: random.Random, b: int, h: int) -> Question | None:
    return None if b > 100 and h > 2 else _ask(_random(seed_from(rng), b, h, 2))
