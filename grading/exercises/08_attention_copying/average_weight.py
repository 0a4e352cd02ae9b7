"""Exercise average_weight of notebook 08."""

from __future__ import annotations

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
def _(rng):
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
def _(rng):
    """Write the softmax down: e to the score of a, divided by the sum over all n keys of e to their score. Two scores
    are s, n - 2 are 0. e is sympy.E, not 2.718.
    """
    # Returns a scale of middle size, one below 0, one near 0, and a large one.
    scales = [rng.uniform(1, 4), -rng.uniform(0.5, 4), rng.uniform(0.1, 0.9), rng.uniform(10, 30)]
    return [
        Question(at={"s": round(scale, 2), "n": n})
        for scale, n in zip(scales, rng.sample(range(3, 60), 4), strict=True)
    ]


@exercise.mistake("the n - 2 others are forgotten")
def _():
    """A score of 0 is not a weight of 0: each of the other n - 2 keys adds e^0 = 1 to the sum."""
    return sympy.Rational(1, 2)


@exercise.mistake("the sum has n others")
def _():
    """a and b are among the n keys: only n - 2 are left with a score of 0."""
    return sympy.exp(s) / (2 * sympy.exp(s) + n)


@exercise.mistake("only one key has the score s")
def _():
    """That is the weight when one value is copied, with n - 1 others. Here two keys have the score s."""
    return sympy.exp(s) / (sympy.exp(s) + n - 1)


@exercise.mistake("the weight of both together")
def _():
    """The formula is for one of the two. You have added the weights of a and b."""
    return 2 * sympy.exp(s) / (2 * sympy.exp(s) + n - 2)


@exercise.mistake("scores in place of their exponentials")
def _():
    """The softmax divides e to the score by the sum of these powers, not the score by the sum of the scores."""
    return s / (2 * s + n - 2)


@exercise.mistake("the others count 0 points each")
def _():
    """e^0 is 1. You have multiplied n - 2 with something else than 1."""
    return sympy.exp(s) / (2 * sympy.exp(s) + (n - 2) * sympy.E)
