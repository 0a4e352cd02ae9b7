"""Exercise score_variance of notebook 03."""

from __future__ import annotations

import random

import sympy

from grading.definitions.definition import Definition
from tutor.checking.answers import Question

D, A = sympy.symbols("D A", positive=True, integer=True)


exercise = Definition(minutes=8, difficulty=1)


@exercise.reference
def score_variance() -> sympy.Expr:
    return D / A


@exercise.stage("one head: the whole width is in the dot product", points=0.5, public=[Question(at={"D": 16, "A": 1})])
def _(rng: random.Random) -> list[Question]:
    """First take a single product of two independent numbers of mean 0 and variance 1: its variance is the mean of the
    product's square. A dot product of width D is a sum of D of them, and the variances of independent terms add up. The
    formula has the notebook's own symbols in it, D and A.
    """
    return [Question(at={"D": rng.randint(67, 199), "A": 1})]


@exercise.stage(
    "several heads",
    points=1.5,
    public=[Question(at={"D": 24, "A": 4}), Question(at={"D": 512, "A": 8}), Question(at={"D": 1536, "A": 12})],
    sealed=True,
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """How many numbers does the query of ONE head have, when A heads share a width of D?"""
    pairs = [(heads, rng.randint(5, 99)) for heads in rng.sample(range(2, 17), 4)]
    pairs.append((6, rng.randint(400, 500)))  # wider than all others, for every student
    return [Question(at={"D": heads * width, "A": heads}) for heads, width in pairs]
