"""Exercise average_weight of notebook 08."""

from __future__ import annotations

import random

import sympy

from grading.definitions.definition import Definition
from tutor.checking.answers import Question

s = sympy.Symbol("s", real=True)  # not positive: solve() would drop the solution 0
n = sympy.Symbol("n", positive=True, integer=True)


exercise = Definition(minutes=10, difficulty=1)


@exercise.reference
def average_weight() -> sympy.Expr:
    return sympy.exp(s) / (2 * sympy.exp(s) + n - 2)


@exercise.stage(
    "scale 0: every key gets 1/n", points=0.25, public=[Question(at={"s": 0, "n": 5}), Question(at={"s": 0, "n": 8})]
)
def _(rng: random.Random) -> list[Question]:
    """With s = 0 all the scores are 0 and the softmax is 1/n for each key. Put s = 0 and n = 5 into your formula."""
    return [Question(at={"s": 0, "n": value}) for value in rng.sample(range(5, 60), 2)]


@exercise.stage(
    "any scale, any number of keys",
    points=1.75,
    public=[
        Question(at={"s": 1, "n": 2}),
        Question(at={"s": 2, "n": 5}),
        Question(at={"s": 6.5, "n": 30}),
        Question(at={"s": -1.5, "n": 7}),
    ],
    sealed=True,
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Write the softmax down: e to the score of a, divided by the sum over all n keys of e to their score. Two scores
    are s, n - 2 are 0. e is sympy.E, not 2.718.
    """
    # Returns a scale of middle size, one below 0, one near 0, and a large one.
    scales = [rng.uniform(1, 4), -rng.uniform(0.5, 4), rng.uniform(0.1, 0.9), rng.uniform(10, 30)]
    return [
        Question(at={"s": round(scale, 2), "n": n})
        for scale, n in zip(scales, rng.sample(range(3, 60), 4), strict=True)
    ]
