"""Exercise quantise of notebook 18."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import fixed, seed_from
from tutor.checking.answers import Question

exercise = Definition(minutes=12, difficulty=2)


@exercise.reference
def quantise(weight: Tensor) -> tuple[Tensor, Tensor]:
    largest = weight.detach().abs().amax(dim=1)
    scales = torch.where(largest > 0, largest / 127, torch.ones_like(largest))
    return (weight.detach() / scales.unsqueeze(1)).round().to(torch.int8), scales


def _ask(rows: int, columns: int, seed: int, zero: bool = False, size: float = 1.0) -> Question:
    """Returns a question on rows of very different size; no value lies where rounding could go either way.

    All rows but the last of several are `size` times as large as usual.
    """
    generator = torch.Generator().manual_seed(seed)
    codes = torch.randint(-127, 128, (rows, columns), generator=generator).float()
    codes += 0.8 * (torch.rand(rows, columns, generator=generator) - 0.5)
    top = torch.randint(columns, (rows,), generator=generator)
    codes = codes.clamp(-126.4, 126.4)
    codes[torch.arange(rows), top] = 127 * (1 - 2 * torch.randint(2, (rows,), generator=generator)).float()
    sizes = size * torch.exp(2 * torch.randn(rows, 1, generator=generator)) / 100
    if rows > 1:
        sizes[-1] = 1 + torch.rand(1, generator=generator)  # a scale above 1, beside small ones
    if zero:
        sizes[rows // 2] = 0
    return Question((codes * sizes,))


exercise.by_hand(
    Question((torch.tensor([[1.0, -2.54, 0.5], [0.254, 0.1, 0.0]]),)), part=lambda found: found[0].tolist(), tolerance=0
)


def _rows(rng: random.Random) -> list[Question]:
    return [_ask(1, rng.randint(3, 6), seed_from(rng)), _ask(rng.randint(2, 4), rng.randint(4, 9), seed_from(rng))]


@exercise.stage("codes and scales, row by row", points=1.25, public=fixed(_rows, 1), decisive=True)
def _(rng: random.Random) -> list[Question]:
    """The largest amount of a row becomes 127 or -127: that makes its scale, greater than 0, one number for each row. A
    code is the value divided by the scale, rounded to the nearest whole number. Rows may be as small as you like: only
    one of zeros has no scale of its own.
    """
    return _rows(rng)


@exercise.stage(
    "a row of zeros",
    points=0.5,
    public=[_ask(1, 4, 2, zero=True), _ask(3, 4, 3, zero=True)],
    measure="rows of zeros",
)
def _(rng: random.Random) -> list[Question]:
    """Nothing can be divided by 0: a row of zeros has the scale 1, whatever other rows hold, and codes of 0."""
    return [_ask(rng.randint(2, 5), rng.randint(2, 6), seed_from(rng), zero=True)]


@exercise.stage("codes of one byte", points=0.25, public=[_ask(2, 3, 6)], view="dtype", measure="codes")
def _(rng: random.Random) -> list[Question]:
    """Whole numbers in a float tensor take four bytes each, as before: what is saved is saved by `torch.int8`."""
    return [_ask(rng.randint(2, 4), rng.randint(2, 6), seed_from(rng))]


@exercise.corners("codes and scales, row by row", rows=(1, range(65, 70)), columns=(1, 2, range(257, 262)))
def _(rng: random.Random, rows: int, columns: int) -> Question:
    return _ask(rows, columns, seed_from(rng))


@exercise.corners("codes and scales, row by row", rows=(1, 3), size=(1e-6, 1e-14))
def _(rng: random.Random, rows: int, size: float) -> Question:
    """Asks about rows of about 1e-8 and 1e-16, alone and beside a large one: they are small, and not zero."""
    return _ask(rows, 5, seed_from(rng), size=size)


exercise.large += [_ask(3, 1500, 4), _ask(1100, 3, 5)]
