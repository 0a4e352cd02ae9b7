"""Exercise layer_total of notebook 05."""

from __future__ import annotations

import random

from grading.definitions.definition import Definition
from grading.exercises.draws import both
from tutor.checking.answers import Question

from ._common import (
    EXACT,
    _draw_edges,
    _draw_points,
    _edges,
    _number,
    _point,
    layer_total,
)

exercise = Definition(minutes=10, difficulty=1)
exercise.reference(layer_total)
exercise.by_hand(Question(at=_point("DFA", D=4)), part=_number, tolerance=EXACT)


@exercise.stage(
    "F = D: as many as there are squares in the picture",
    points=1,
    public=[Question(at=_point("DFA", D=4)), Question(at=_point("DFA", D=1)), Question(at=_point("DFA", D=7, A=3))],
)
def _(rng: random.Random) -> list[Question]:
    """Count the squares of the picture for D = 4, then put D = F = 4 into your formula."""
    return [Question(at=_point("DFA", A=3)), *_draw_points(2, symbols="DFA")(rng)]


@exercise.stage(
    "any F",
    points=1,
    public=[
        Question(at=_point("DFA", F=16)),
        Question(at=_point("DFA", D=200, F=800, A=5)),
        Question(at=_point("DFA", D=20, F=3)),
        *_edges("DFA", any_f=True),
    ],
    sealed=True,
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Add up your sixteen formulas of one layer. F stands in three of them: in both matrices of the feed-forward part,
    and in the bias of the Linear that puts out F numbers. The norms have the width D, whatever F is.
    """
    return both(_draw_points(4, "F", symbols="DFA"), _draw_edges("DFA", any_f=True))(rng)
