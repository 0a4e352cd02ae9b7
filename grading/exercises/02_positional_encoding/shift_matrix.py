"""Exercise shift_matrix of notebook 02."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw
from tutor.checking.answers import Question

from ._common import _exponents, _sinusoids, _speeds, sinusoidal_encoding

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


def _shift(offset: int, d_model: int) -> Question:
    """Returns a question that looks at what R makes of the encodings of near and far positions."""
    places = torch.tensor([*range(d_model + 1), 100, 1000, 5000], dtype=torch.float64).unsqueeze(1)
    angles = places * _speeds(d_model)
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
def _(rng):
    """R turns a vector of d_model numbers into another one of d_model numbers."""
    return _draw_offsets(4, 8)(rng)


@exercise.stage("offset 0: nothing moves", points=0.25, public=[_shift(0, 4), _shift(0, 12)], measure="shifted rows")
def _(rng):
    """R @ PE[p] = PE[p] for every p, not for one p only: which matrix changes no vector at all?"""
    return [_shift(0, 4), _shift(0, 2 * rng.randint(5, 8))]


@exercise.stage(
    "one pair: a rotation by the offset",
    points=1,
    public=[_shift(1, 2), _shift(-2, 2), _shift(1000, 2)],
    tolerance=1e-3,
    measure="shifted rows",
)
def _(rng):
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
def _(rng):
    """Pair i turns by offset / 10000^(2i / d_model): 2 x 2 blocks along the diagonal, 0 everywhere else."""
    return [*_draw_offsets(4, 6, 12)(rng), _shift(rng.choice([-1, 1]) * rng.randint(600, 2000), 4)]


@exercise.corners(
    "every pair by its own angle", offset=(1, range(33, 40), range(1001, 1010)), sign=(1, -1), d_model=(2, 4, 34)
)
def _(rng, offset, sign, d_model):
    return _shift(sign * offset, d_model)


@exercise.mistake("the sign of the sine is wrong: it goes back in place of forward")
def _(offset, d_model):
    """Your matrix leads from position p to p - offset (it is the transpose of the wanted one). The plus stands in the
    first row: sin(p + k) = cos k sin p + sin k cos p.
    """
    return shift_matrix(-offset, d_model)


@exercise.mistake("a negative offset goes forward, too")
def _(offset, d_model):
    """An offset of -2 leads two places back: keep its sign, and the sines have the other one. abs() takes it away."""
    return shift_matrix(abs(offset), d_model)


@exercise.mistake("a negative offset moves nothing")
def _(offset, d_model):
    """For an offset of -2 your matrix is the identity: range(offset) is empty, or the offset is cut off at 0. Turn by
    the negative angle.
    """
    return shift_matrix(max(0, offset), d_model)


@exercise.mistake("it works for one position only")
def _(offset, d_model):
    """Your matrix takes PE[0] to PE[offset], but not PE[1] to PE[1 + offset]. R must not depend on p: use the addition
    formulas of sine and cosine.
    """
    first, goal = sinusoidal_encoding(1, d_model)[0], _sinusoids(1, _exponents(d_model), start=offset)[0]
    return torch.outer(goal, first) / first.dot(first)


@exercise.mistake("every pair turns by the same angle")
def _(offset, d_model):
    """Each pair has its own speed: the angle of pair i is offset / 10000^(2i / d_model)."""
    return _turns(torch.full((d_model // 2,), float(offset), dtype=torch.float64))


@exercise.mistake("the factor 2 of the exponent is counted twice")
def _(offset, d_model):
    """arange(0, d_model, 2) is 2i already; twice that makes the pairs turn too slowly."""
    return _turns(offset * _speeds(d_model) ** 2)


@exercise.mistake("the factor 2 of the exponent is missing")
def _(offset, d_model):
    """Pair number i turns by offset / 10000^(2i / d_model), not by offset / 10000^(i / d_model)."""
    return _turns(offset * _speeds(d_model) ** 0.5)


@exercise.mistake("both sines have a plus")
def _(offset, d_model):
    """cos(p + k) = cos p cos k - sin p sin k has a minus. Without it the matrix is no rotation and changes lengths."""
    return _turns(offset * _speeds(d_model), (1.0, 1.0))


@exercise.mistake("only the cosines, on the diagonal")
def _(offset, d_model):
    """sin(p + k) needs cos p as well as sin p: the sine of the offset stands beside the diagonal."""
    return _turns(offset * _speeds(d_model), (0.0, 0.0))


@exercise.mistake("pairs from the two halves")
def _(offset, d_model):
    """In our table sine and cosine of one pair are neighbours, so the 2 x 2 blocks stand along the diagonal."""
    order = torch.arange(d_model).view(-1, 2).T.flatten()  # 0, 2, 4, ..., 1, 3, 5, ...
    return shift_matrix(offset, d_model)[order][:, order]


@exercise.mistake("the columns are shifted in place of the positions")
def _(offset, d_model):
    """This matrix moves the numbers of one vector to other columns. The offset moves the position: each pair turns."""
    return torch.eye(d_model).roll(offset, dims=0)
