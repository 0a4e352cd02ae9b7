"""Exercise classifier_total of notebook 05."""

from __future__ import annotations

import random

from sympy import Expr

from grading.definitions.definition import Definition
from grading.exercises.draws import both
from tutor.checking.answers import Question

from ._common import (
    BLOCK,
    EMBEDDING,
    HEAD,
    M,
    _draw_edges,
    _draw_points,
    _draw_small,
    _edges,
    _point,
)

exercise = Definition(minutes=5, difficulty=1)


@exercise.reference
def classifier_total() -> Expr:
    return EMBEDDING + M * BLOCK + HEAD


@exercise.stage(
    "small models: by hand", points=0.5, public=[Question(at=_point(C=2)), Question(at=_point(V=23, D=6, M=2, C=3))]
)
def _(rng: random.Random) -> list[Question]:
    """Embedding and layer are those of the language model; with D = 4 and C = 2 the head has 2 rows of 4 numbers and 2
    biases.
    """
    return _draw_small(rng)


@exercise.stage(
    "any size",
    points=1.5,
    public=[Question(at=_point(V=50001, D=200, M=4, C=2)), Question(at=_point(V=977, D=30, M=6, A=3, C=5)), *_edges()],
    sealed=True,
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Embedding, M layers, and a head with C outputs in place of V."""
    return both(_draw_points(4, "C"), _draw_edges())(rng)
