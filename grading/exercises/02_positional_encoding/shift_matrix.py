"""Exercise shift_matrix of notebook 02."""

from __future__ import annotations

import math
import random

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw
from tutor.checking.answers import Question

from ._common import _speeds

exercise = Definition(minutes=20, difficulty=3, forbids=("helpers.models.rotate", "helpers.models.rotary_angles"))


@exercise.reference
def shift_matrix(offset: int, d_model: int) -> Tensor:
    return _turns(offset / 10000 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model))


def _turns(angles: Tensor, signs: tuple[float, float] = (1.0, -1.0)) -> Tensor:
    """Returns 2 x 2 blocks [[cos, sign * sin], [sign * sin, cos]] along the diagonal."""
    upper, lower = (sign * angles.sin() for sign in signs)
    blocks = [torch.stack(block).view(2, 2) for block in zip(angles.cos(), upper, lower, angles.cos(), strict=True)]
    matrix: Tensor = torch.block_diag(*blocks)
    return matrix.float()


exercise.by_hand(Question((math.pi / 2, 2)))  # no whole number of positions, but a turn that a pencil can draw


def _shift(offset: int, d_model: int) -> Question:
    """Returns a question that looks at what R makes of the encodings of near and far positions."""
    positions = torch.tensor([*range(d_model + 1), 100, 1000, 5000], dtype=torch.float64).unsqueeze(1)
    angles = positions * _speeds(d_model)
    return Question((offset, d_model), extra={"rows": torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)})


def _draw_offsets(*widths: int) -> Draw:
    """Draws offsets to both sides for each width, none of which turns the columns back to their places."""

    def draw(rng: random.Random) -> list[Question]:
        return [_shift(sign * (width * rng.randint(1, 3) + 1), width) for width in widths for sign in (1, -1)]

    return draw


@exercise.stage(
    "a floating point tensor of shape (d_model, d_model)",
    points=0.25,
    public=[_shift(1, 4), _shift(2, 6)],
    view="shape",
)
def _(rng: random.Random) -> list[Question]:
    """R turns a vector of d_model numbers into another one of d_model numbers."""
    return _draw_offsets(4, 8)(rng)


@exercise.stage("offset 0: nothing moves", points=0.25, public=[_shift(0, 4), _shift(0, 12)], measure="shifted rows")
def _(rng: random.Random) -> list[Question]:
    """R @ PE[p] = PE[p] for every p, not for one p only: which matrix changes no vector at all?"""
    return [_shift(0, 4), _shift(0, 2 * rng.randint(5, 8))]


@exercise.stage(
    "one pair: a rotation by the offset",
    points=1,
    public=[_shift(1, 2), _shift(-2, 2), _shift(1000, 2)],
    tolerance=1e-3,
    measure="shifted rows",
)
def _(rng: random.Random) -> list[Question]:
    """sin(p + k) = sin p cos k + cos p sin k: the factors of sin p and cos p are the first row of R. Then do the same
    for cos(p + k). A negative offset has a negative angle: the signs of the sines turn round.
    """
    return [*_draw_offsets(2)(rng), _shift(rng.choice([-1, 1]) * rng.randint(600, 2000), 2)]


@exercise.stage(
    "every pair by its own angle",
    points=1.5,
    public=[_shift(3, 4), _shift(5, 6), _shift(-7, 12), _shift(-1500, 4)],
    tolerance=1e-3,
    measure="shifted rows",
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Pair i turns by offset / 10000^(2i / d_model): 2 x 2 blocks along the diagonal, 0 everywhere else."""
    return [*_draw_offsets(4, 6, 12)(rng), _shift(rng.choice([-1, 1]) * rng.randint(600, 2000), 4)]


@exercise.corners(
    "every pair by its own angle", offset=(1, range(33, 40), range(1001, 1010)), sign=(1, -1), d_model=(2, 4, 34)
)
def _(rng: random.Random, offset: int, sign: int, d_model: int) -> Question:
    return _shift(sign * offset, d_model)
