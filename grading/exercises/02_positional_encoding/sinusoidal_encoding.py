"""Exercise sinusoidal_encoding of notebook 02."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw, seed_from
from tutor.checking.answers import Ask

from ._common import _exponents, _sinusoids, sinusoidal_encoding


def _halves(max_len: int, d_model: int) -> Tensor:
    table = sinusoidal_encoding(max_len, d_model)
    return torch.cat([table[:, 0::2], table[:, 1::2]], dim=1)


def _pair_number_only(max_len: int, d_model: int) -> Tensor:
    return _sinusoids(max_len, torch.arange(d_model) // 2 / d_model)


def _draw_tables(*widths: int) -> Draw:
    """Draws for each width a short table and a longer one, of an even and an odd number of rows."""

    def draw(rng: random.Random) -> list[Ask]:
        return [Ask((size, width)) for width in widths for size in (rng.randint(3, 12), 31 + 2 * rng.randint(0, 5))]

    return draw


def _far(rows: int, seed: int) -> Ask:
    """Returns a question that looks at some places of a long table, the last one among them."""
    rng = random.Random(seed)
    chosen = [128, 300, 520, 1030, 2050, 4100, rows - 1, *(rng.randrange(2100, rows) for _ in range(5))]
    places = [(row, column) for row in chosen for column in range(4)]
    return Ask((rows, 4), beside={"shape": [rows, 4], "places": torch.tensor(places)})


EXERCISE = Exercise(
    sinusoidal_encoding,
    [
        Stage(
            "a floating point tensor of shape (max_len, d_model)",
            0.25,
            "One row for each position, one column for each number of the width.",
            [Ask((5, 4)), Ask((1, 6)), Ask((4, 4))],
            _draw_tables(4, 8),
            view="shape",
        ),
        Stage(
            "position 0: 0, 1, 0, 1, ...",
            0.25,
            "At position 0 every angle is 0: sin 0 = 0 stands in the even columns, cos 0 = 1 in the odd ones.",
            [Ask((3, 6)), Ask((4, 4))],
            _draw_tables(4, 10),
            view="first row",
        ),
        Stage(
            "one pair of columns: sin p, cos p",
            0.5,
            "With d_model = 2 there is only i = 0: the angle at position p is p / 10000^0 = p.",
            [Ask((4, 2)), Ask((41, 2))],
            _draw_tables(2),
        ),
        Stage(
            "every pair at its own speed",
            1.5,
            "Columns 2i and 2i + 1 share the angle p / 10000^(2i / d_model). For d_model = 4 the second pair is 100 "
            "times slower than the first.",
            # from a width of 12 on, the largest 10000^(2i) is infinite in single precision
            [Ask((6, 4)), Ask((9, 6)), Ask((41, 10)), Ask((9, 24))],
            lambda rng: [*_draw_tables(4, 6)(rng), Ask((rng.randint(5, 40), 2 * rng.randint(6, 16)))],
            decisive=True,
        ),
        Stage(
            "a long text",
            0.5,
            "The formula is the same at place 5000. Half precision, small whole numbers and a table that starts again "
            "cannot tell such places apart.",
            [_far(5021, 1)],
            lambda rng: [_far(rng.randint(5010, 5600), seed_from(rng))],
            tolerance=2e-3,
            measure="at places",
        ),
    ],
    [
        Mistake(
            "sine and cosine are exchanged",
            "The sine stands in the even columns 0, 2, 4, ... and the cosine in the odd ones.",
            lambda max_len, d_model: _sinusoids(max_len, _exponents(d_model), swapped=True),
        ),
        Mistake(
            "the exponent is not divided by d_model",
            "10000^(2i) leaves every pair but the first standing still. The exponent runs from 0 to almost 1: 2i / "
            "d_model.",
            lambda max_len, d_model: _sinusoids(max_len, _exponents(d_model) * d_model),
        ),
        Mistake(
            "every pair turns at the same speed",
            "The exponent 2i / d_model is missing: without it all pairs say the same, and far positions look alike.",
            lambda max_len, d_model: _sinusoids(max_len, torch.zeros(d_model)),
        ),
        Mistake(
            "positions start at 1",
            "The first token has position 0, so the first row is 0, 1, 0, 1, ...",
            lambda max_len, d_model: _sinusoids(max_len, _exponents(d_model), start=1),
        ),
        Mistake(
            "all sines, then all cosines",
            "The right numbers in the wrong columns: sine and cosine of one pair are neighbours, columns 2i and 2i + "
            "1.",
            _halves,
        ),
        Mistake(
            "each column has its own speed",
            "The two columns of a pair share one angle. In an odd column 2i + 1 the exponent is still 2i / d_model.",
            lambda max_len, d_model: _sinusoids(max_len, torch.arange(d_model) / d_model),
        ),
        Mistake(
            "the factor 2 of the exponent is counted twice",
            "arange(0, d_model, 2) is 2i already; twice that makes the pairs slow down too fast.",
            lambda max_len, d_model: _sinusoids(max_len, 2 * _exponents(d_model)),
        ),
        Mistake(
            "the factor 2 of the exponent is missing",
            "Pair number i has the exponent 2i / d_model, not i / d_model.",
            _pair_number_only,
        ),
    ],
    hints=(
        (
            "Fill in the two empty rows of the table in section 3 with a calculator, and watch what you type. Which "
            "two numbers make the angle of a cell? Which columns have the same angle, and what differs between them? "
            "Then: how would the head of the table read for $d = 6$?"
        ),
        (
            "With $d = 6$ there are three pairs. Their exponents $2i/d$ are 0, 2/6 and 4/6, so they divide by 1, by "
            "21.5 and by 464. At place 3 the angles are 3, then 0.139, then 0.00646, and the row is $\\sin 3, \\cos "
            "3, \\sin 0.139, \\cos 0.139, \\sin 0.00646, \\cos 0.00646$.\n\n"
            "All angles at once: a column of places `(max_len, 1)` against a row of divisors `(d/2,)` gives "
            "`(max_len, d/2)`. `table[:, 0::2]` are the columns 0, 2, 4, ... of a table, `table[:, 1::2]` the "
            "columns 1, 3, 5, ...; you can write into both."
        ),
        (
            "All angles first, then the columns:\n"
            "```python\n"
            "places = torch.arange(max_len).unsqueeze(1)  # (max_len, 1)\n"
            "twice_i = torch.arange(0, d_model, 2)  # (d_model / 2,): this is 2i, do not double it again\n"
            "# angles, (max_len, d_model / 2): each place, divided by the power of its pair\n"
            "table = torch.zeros(max_len, d_model)\n"
            "# table[:, 0::2] and table[:, 1::2]: which gets the sines, which the cosines?\n"
            "```\n"
            "Check row 0 by hand (it needs no calculator), then compare with `sinusoidal_encoding(2, 4)` in the "
            "docstring."
        ),
    ),
)
