"""Exercise shift_matrix of notebook 02."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw
from tutor.checking.answers import Ask

from ._common import _exponents, _sinusoids, _speeds, sinusoidal_encoding


def shift_matrix(offset: int, d_model: int) -> Tensor:
    return _turns(offset / 10000 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model))


def _turns(angles: Tensor, signs: tuple[float, float] = (1.0, -1.0)) -> Tensor:
    """Returns 2 x 2 blocks [[cos, sign * sin], [sign * sin, cos]] along the diagonal."""
    upper, lower = (sign * angles.sin() for sign in signs)
    blocks = [torch.stack(block).view(2, 2) for block in zip(angles.cos(), upper, lower, angles.cos(), strict=True)]
    matrix: Tensor = torch.block_diag(*blocks)
    return matrix.float()


def _only_from_zero(offset: int, d_model: int) -> Tensor:
    first, goal = sinusoidal_encoding(1, d_model)[0], _sinusoids(1, _exponents(d_model), start=offset)[0]
    return torch.outer(goal, first) / first.dot(first)


def _halves_turned(offset: int, d_model: int) -> Tensor:
    order = torch.arange(d_model).view(-1, 2).T.flatten()  # 0, 2, 4, ..., 1, 3, 5, ...
    return shift_matrix(offset, d_model)[order][:, order]


def _rolled_columns(offset: int, d_model: int) -> Tensor:
    return torch.eye(d_model).roll(offset, dims=0)


def _shift(offset: int, d_model: int) -> Ask:
    """Returns a question that looks at what R makes of the encodings of near and far positions."""
    places = torch.tensor([*range(d_model + 1), 100, 1000, 5000], dtype=torch.float64).unsqueeze(1)
    angles = places * _speeds(d_model)
    return Ask((offset, d_model), beside={"rows": torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)})


def _draw_offsets(*widths: int) -> Draw:
    """Draws offsets to both sides for each width, none of which turns the columns back to their places."""

    def draw(rng: random.Random) -> list[Ask]:
        return [_shift(sign * (width * rng.randint(1, 3) + 1), width) for width in widths for sign in (1, -1)]

    return draw


EXERCISE = Exercise(
    shift_matrix,
    [
        Stage(
            "a floating point tensor of shape (d_model, d_model)",
            0.25,
            "R turns a vector of d_model numbers into another one of d_model numbers.",
            [_shift(1, 4), _shift(2, 6)],
            _draw_offsets(4, 8),
            view="shape",
        ),
        Stage(
            "offset 0: nothing moves",
            0.25,
            "R @ PE[p] = PE[p] for every p, not for one p only: which matrix changes no vector at all?",
            [_shift(0, 4), _shift(0, 12)],
            lambda rng: [_shift(0, 4), _shift(0, 2 * rng.randint(5, 8))],
            measure="shifted rows",
        ),
        Stage(
            "one pair: a rotation by the offset",
            1,
            "sin(p + k) = sin p cos k + cos p sin k: the factors of sin p and cos p are the first row of R. Then do "
            "the same for cos(p + k). A negative offset has a negative angle: the signs of the sines turn round.",
            [_shift(1, 2), _shift(-2, 2), _shift(1000, 2)],
            lambda rng: [*_draw_offsets(2)(rng), _shift(rng.choice([-1, 1]) * rng.randint(600, 2000), 2)],
            tolerance=1e-3,
            measure="shifted rows",
        ),
        Stage(
            "every pair by its own angle",
            1.5,
            "Pair i turns by offset / 10000^(2i / d_model): 2 x 2 blocks along the diagonal, 0 everywhere else.",
            [_shift(3, 4), _shift(5, 6), _shift(-7, 12), _shift(-1500, 4)],
            lambda rng: [*_draw_offsets(4, 6, 12)(rng), _shift(rng.choice([-1, 1]) * rng.randint(600, 2000), 4)],
            tolerance=1e-3,
            measure="shifted rows",
            decisive=True,
        ),
    ],
    [
        Mistake(
            "the sign of the sine is wrong: it goes back in place of forward",
            "Your matrix leads from position p to p - offset (it is the transpose of the wanted one). The plus stands "
            "in "
            "the first row: sin(p + k) = cos k sin p + sin k cos p.",
            lambda offset, d_model: shift_matrix(-offset, d_model),
        ),
        Mistake(
            "it works for one position only",
            "Your matrix takes PE[0] to PE[offset], but not PE[1] to PE[1 + offset]. R must not depend on p: use the "
            "addition formulas of sine and cosine.",
            _only_from_zero,
        ),
        Mistake(
            "every pair turns by the same angle",
            "Each pair has its own speed: the angle of pair i is offset / 10000^(2i / d_model).",
            lambda offset, d_model: _turns(torch.full((d_model // 2,), float(offset), dtype=torch.float64)),
        ),
        Mistake(
            "the factor 2 of the exponent is counted twice",
            "arange(0, d_model, 2) is 2i already; twice that makes the pairs turn too slowly.",
            lambda offset, d_model: _turns(offset * _speeds(d_model) ** 2),
        ),
        Mistake(
            "the factor 2 of the exponent is missing",
            "Pair number i turns by offset / 10000^(2i / d_model), not by offset / 10000^(i / d_model).",
            lambda offset, d_model: _turns(offset * _speeds(d_model) ** 0.5),
        ),
        Mistake(
            "both sines have a plus",
            "cos(p + k) = cos p cos k - sin p sin k has a minus. Without it the matrix is no rotation and changes "
            "lengths.",
            lambda offset, d_model: _turns(offset * _speeds(d_model), (1.0, 1.0)),
        ),
        Mistake(
            "only the cosines, on the diagonal",
            "sin(p + k) needs cos p as well as sin p: the sine of the offset stands beside the diagonal.",
            lambda offset, d_model: _turns(offset * _speeds(d_model), (0.0, 0.0)),
        ),
        Mistake(
            "pairs from the two halves",
            "In our table sine and cosine of one pair are neighbours, so the 2 x 2 blocks stand along the diagonal.",
            _halves_turned,
        ),
        Mistake(
            "the columns are shifted in place of the positions",
            "This matrix moves the numbers of one vector to other columns. The offset moves the position: each pair "
            "turns.",
            _rolled_columns,
        ),
    ],
    hints=(
        (
            "For one hand, section 5 has the whole matrix. With $d = 4$ there are two hands of different speeds: by "
            "which angle does each of them turn when you go $k$ places on? Does it depend on the fast hand where the "
            "slow one goes? What does that say about the numbers of $R$ that join two different pairs?"
        ),
        (
            "Take $d = 4$ and an offset of 50. Pair 0 has speed 1 and turns by 50, pair 1 has speed 1/100 and turns "
            "by 0.5. So the rows and columns 0 and 1 of $R$ hold the matrix of section 5 for the angle 50, the rows "
            "and columns 2 and 3 hold it for the angle 0.5, and the other eight numbers are 0.\n\n"
            "An offset of 0 turns nothing: cosine 1, sine 0. Which matrix is that? An offset of $-50$ turns back: "
            "only the sines change their sign. You can write the blocks into `torch.zeros(d_model, d_model)`, or "
            "give them to `torch.block_diag`."
        ),
        (
            "One block for each pair:\n"
            "```python\n"
            "matrix = torch.zeros(d_model, d_model)\n"
            "for i in range(d_model // 2):\n"
            "    # angle of pair i: the offset times the speed 1 / 10000^(2i / d_model)\n"
            "    # four numbers, in the rows and columns 2 * i and 2 * i + 1: two cosines, two sines\n"
            "```\n"
            '`torch.tensor(float(angle)).cos()` is a cosine. Which of the two sines has the minus? See "Watch the '
            'minus" in section 5. Test with your own table: `shift_matrix(3, 8) @ table[5]` must be `table[8]` for '
            "`table = sinusoidal_encoding(20, 8)`, and `shift_matrix(-3, 8)` must lead back."
        ),
    ),
)
