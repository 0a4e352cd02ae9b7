"""Exercise language_model_total of notebook 05."""

from __future__ import annotations

import random

from sympy import Expr

from grading.definitions.definition import Definition
from grading.exercises.draws import both
from tutor.checking.answers import Question

from ._common import (
    BLOCK,
    EMBEDDING,
    EXACT,
    HEAD,
    C,
    M,
    V,
    _draw_edges,
    _draw_points,
    _draw_small,
    _edges,
    _number,
    _point,
)

exercise = Definition(minutes=10, difficulty=1)


@exercise.reference
def language_model_total() -> Expr:
    return (EMBEDDING + M * BLOCK + HEAD).subs(C, V)


exercise.by_hand(Question(at=_point(M=2, C=3)), part=_number, tolerance=EXACT)


@exercise.stage(
    "small models: by hand", points=0.5, public=[Question(at=_point(C=3)), Question(at=_point(V=23, D=6, M=2, C=5))]
)
def _(rng: random.Random) -> list[Question]:
    """With V = 10, D = 4 and M = 1 the embedding has 10 * 4 numbers, the layer those of the picture, the head 10 * 4
    and 10 biases. Then try M = 2: everything of a layer comes twice. Then another D: two formulas may agree at one.
    """
    return _draw_small(rng)


@exercise.stage(
    "any vocabulary, width and number of layers",
    points=1.5,
    public=[Question(at=_point(V=50001, D=200, M=4, C=2)), Question(at=_point(V=977, D=30, M=6, A=3, C=5)), *_edges()],
    sealed=True,
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """One embedding, M layers, one head with a bias for each of the V words."""
    return both(_draw_points(4, "C"), _draw_edges())(rng)
