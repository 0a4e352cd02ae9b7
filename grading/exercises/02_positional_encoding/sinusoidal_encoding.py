"""Exercise sinusoidal_encoding of notebook 02."""

from __future__ import annotations

import random

import torch

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, seed_from
from tutor.checking.answers import Question

from ._common import sinusoidal_encoding

exercise = Definition(minutes=15, difficulty=2, forbids=("helpers.models.sinusoids", "helpers.models.rotary_angles"))
exercise.reference(sinusoidal_encoding)
exercise.by_hand(Question((101, 4)), part=lambda table: table[[2, 100]])


def _draw_tables(*widths: int) -> Draw:
    """Draws for each width a short table and a longer one, of an even and an odd number of rows."""

    def draw(rng: random.Random) -> list[Question]:
        return [
            Question((size, width)) for width in widths for size in (rng.randint(3, 12), 31 + 2 * rng.randint(0, 5))
        ]

    return draw


@exercise.stage(
    "a floating point tensor of shape (max_len, d_model)",
    points=0.25,
    public=[Question((5, 4)), Question((1, 6)), Question((4, 4))],
    view="shape",
)
def _(rng: random.Random) -> list[Question]:
    """One row for each position, one column for each number of the width."""
    return _draw_tables(4, 8)(rng)


@exercise.stage(
    "position 0: 0, 1, 0, 1, ...", points=0.25, public=[Question((3, 6)), Question((4, 4))], view="first row"
)
def _(rng: random.Random) -> list[Question]:
    """At position 0 every angle is 0: sin 0 = 0 stands in the even columns, cos 0 = 1 in the odd ones."""
    return _draw_tables(4, 10)(rng)


@exercise.stage("one pair of columns: sin p, cos p", points=0.5, public=[Question((4, 2)), Question((41, 2))])
def _(rng: random.Random) -> list[Question]:
    """With d_model = 2 there is only i = 0: the angle at position p is p / 10000^0 = p, in radians."""
    return _draw_tables(2)(rng)


# From a width of 12 on, the largest 10000^(2i) is infinite in single precision.
@exercise.stage(
    "every pair at its own speed",
    points=1.5,
    public=[Question((6, 4)), Question((9, 6)), Question((41, 10)), Question((9, 24))],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Columns 2i and 2i + 1 share the angle p / 10000^(2i / d_model). For d_model = 4 the second pair is 100 times
    slower than the first. Where only later rows are off, and by a little, look at what is rounded on the way.
    """
    return [*_draw_tables(4, 6)(rng), Question((rng.randint(5, 40), 2 * rng.randint(6, 16)))]


def _far(rows: int, seed: int) -> Question:
    """Returns a question that looks at some entries of a long table, the last one among them."""
    rng = random.Random(seed)
    chosen = [128, 300, 520, 1030, 2050, 4100, rows - 1, *(rng.randrange(2100, rows) for _ in range(5))]
    positions = [(row, column) for row in chosen for column in range(4)]
    return Question((rows, 4), extra={"shape": [rows, 4], "places": torch.tensor(positions)})


@exercise.stage("a long text", points=0.5, public=[_far(5021, 1)], tolerance=2e-3, measure="at places")
def _(rng: random.Random) -> list[Question]:
    """The formula is the same at position 5000. Half precision, small whole numbers and a table that starts again
    cannot tell such positions apart, and whoever takes off full turns needs 2 pi with all its digits.
    """
    return [_far(rng.randint(5010, 5600), seed_from(rng))]


@exercise.corners("every pair at its own speed", max_len=(1, 2, range(33, 36)), d_model=(2, 4, 64))
def _(rng: random.Random, max_len: int, d_model: int) -> Question:
    return Question((max_len, d_model))


@exercise.corners("a long text", max_len=(range(65, 70), range(301, 304)), d_model=(2, 4, 64))
def _(rng: random.Random, max_len: int, d_model: int) -> Question:
    """Asks about the last positions, and about some in between, in a few columns."""
    rows = [max_len - 2, max_len - 1, *(rng.randrange(max_len) for _ in range(4))]
    columns = {0, 1, d_model // 2, d_model - 2, d_model - 1}
    positions = torch.tensor([(row, column) for row in rows for column in sorted(columns)])
    return Question((max_len, d_model), extra={"shape": [max_len, d_model], "places": positions})
