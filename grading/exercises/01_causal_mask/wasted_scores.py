"""Exercise wasted_scores of notebook 01."""

from __future__ import annotations

import random

import sympy

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw
from tutor.checking.answers import Question

L = sympy.Symbol("L", positive=True, integer=True)


exercise = Definition(minutes=8, difficulty=1)


@exercise.reference
def wasted_scores() -> sympy.Expr:
    return L * (L - 1) / 2


@exercise.stage("5 tokens: 10 scores, 2 tokens: 1", points=0.5, public=[Question(at={"L": 5}), Question(at={"L": 2})])
def _(rng: random.Random) -> list[Question]:
    """Count the -inf in a mask of 5 tokens by hand, row by row, and in one of 2, then put L = 5 and L = 2 into your
    formula. (A number, without L in it, is right for one length at most.)
    """
    return [Question(at={"L": 5}), Question(at={"L": 2})]


def _at(symbol: str, low: int, high: int, count: int) -> Draw:
    return lambda rng: [Question(at={symbol: value}) for value in rng.sample(range(low, high + 1), count)]


@exercise.stage(
    "any number of tokens",
    points=1.5,
    public=[Question(at={"L": 3}), Question(at={"L": 8}), Question(at={"L": 31}), Question(at={"L": 3000})],
    sealed=True,
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Row i throws away L - 1 - i scores. Sum over the rows, or take the square without its diagonal and halve it."""
    return _at("L", 6, 5000, 4)(rng)
