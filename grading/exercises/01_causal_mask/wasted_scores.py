"""Exercise wasted_scores of notebook 01."""

from __future__ import annotations

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
def _(rng):
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
def _(rng):
    """Row i throws away L - 1 - i scores. Sum over the rows, or take the square without its diagonal and halve it."""
    return _at("L", 6, 5000, 4)(rng)


@exercise.mistake("the diagonal is counted")
def _():
    """The L scores of the diagonal are kept: each token looks at itself. Take them off."""
    return L * (L + 1) / 2


@exercise.mistake("all scores are counted")
def _():
    """The scores of the past and of the token itself are used; only j > i is wasted."""
    return L**2


@exercise.mistake("both triangles are counted")
def _():
    """The scores below the diagonal are the past, which is used. Only one of the two triangles is wasted."""
    return L * (L - 1)


@exercise.mistake("half of all scores")
def _():
    """Exactly half would split the diagonal in two. First take the diagonal off, then halve."""
    return L**2 / 2


@exercise.mistake("one row in place of all")
def _():
    """L - 1 is what the first row throws away; the second one throws away L - 2, and so on. Sum over the rows."""
    return L - 1


@exercise.mistake("a number, not a formula: 10")
def _():
    """10 is right for five tokens only. Write how many there are for any number of tokens, with the symbol L."""
    return sympy.Integer(10)


@exercise.mistake("a number, not a formula: 15")
def _():
    """15 is right for the six words of the picture only. Write how many there are for any number of tokens, with the
    symbol L.
    """
    return sympy.Integer(15)


@exercise.mistake("one row too many")
def _():
    """Row i throws away L - 1 - i scores, from row 0 (L - 1) to the last row (none): the sum is (L - 1) +
    ... + 1 + 0.
    """
    return (L + 1) * (L + 2) / 2
