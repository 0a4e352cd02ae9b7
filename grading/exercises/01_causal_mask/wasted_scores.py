"""Exercise wasted_scores of notebook 01."""

from __future__ import annotations

import sympy

from grading.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw
from helpers.checking.answers import Ask

L = sympy.Symbol("L", positive=True, integer=True)


def wasted_scores() -> sympy.Expr:
    return L * (L - 1) / 2


def _at(symbol: str, low: int, high: int, count: int) -> Draw:
    return lambda rng: [Ask(at={symbol: value}) for value in rng.sample(range(low, high + 1), count)]


EXERCISE = Exercise(
    wasted_scores,
    [
        Stage(
            "5 tokens: 10 scores, 2 tokens: 1",
            0.5,
            "Return a formula, not a number. Count the -inf in a mask of 5 tokens by hand, and in one of 2, then put "
            "L = 5 and L = 2 into your formula.",
            [Ask(at={"L": 5}), Ask(at={"L": 2})],
            lambda rng: [Ask(at={"L": 5}), Ask(at={"L": 2})],
        ),
        Stage(
            "any number of tokens",
            1.5,
            "Row i throws away L - 1 - i scores. Sum over the rows, or take the square without its diagonal and "
            "halve it.",
            [Ask(at={"L": 3}), Ask(at={"L": 8}), Ask(at={"L": 31}), Ask(at={"L": 3000})],
            _at("L", 6, 5000, 4),
            sealed=True,
            decisive=True,
        ),
    ],
    [
        Mistake(
            "the diagonal is counted",
            "The L scores of the diagonal are kept: each token looks at itself. Take them off.",
            lambda: L * (L + 1) / 2,
        ),
        Mistake(
            "all scores are counted",
            "The scores of the past and of the token itself are used; only j > i is wasted.",
            lambda: L**2,
        ),
        Mistake(
            "both triangles are counted",
            "The scores below the diagonal are the past, which is used. Only one of the two triangles is wasted.",
            lambda: L * (L - 1),
        ),
        Mistake(
            "half of all scores",
            "Exactly half would split the diagonal in two. First take the diagonal off, then halve.",
            lambda: L**2 / 2,
        ),
        Mistake(
            "one row in place of all",
            "L - 1 is what the first row throws away; the second one throws away L - 2, and so on. Sum over the rows.",
            lambda: L - 1,
        ),
        Mistake(
            "a number, not a formula: 10",
            "10 is right for five tokens only. Write how many there are for any number of tokens, with the symbol L.",
            lambda: sympy.Integer(10),
        ),
        Mistake(
            "a number, not a formula: 15",
            "15 is right for the six words of the picture only. Write how many there are for any number of tokens, "
            "with the symbol L.",
            lambda: sympy.Integer(15),
        ),
        Mistake(
            "one row too many",
            "Row i throws away L - 1 - i scores, from row 0 (L - 1) to the last row (none): the sum is "
            "(L - 1) + ... + 1 + 0.",
            lambda: (L + 1) * (L + 2) / 2,
        ),
    ],
)
