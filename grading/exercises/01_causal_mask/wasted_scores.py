"""Exercise wasted_scores of notebook 01."""

from __future__ import annotations

import sympy

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw
from tutor.checking.answers import Ask

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
    hints=(
        (
            "Draw the mask of four tokens. How many squares are grey in its first row, in its second, in its third, "
            "in its last? Do the same for five tokens. How does the count change from one row to the next, and in "
            "which row is nothing thrown away?"
        ),
        (
            "Four tokens: the rows throw away 3, 2, 1 and 0 scores, so 6 of 16. Look at the square in another way: "
            "it has 4 places on the diagonal, which are kept, and $16 - 4 = 12$ others, in two triangles. Which of "
            "the two is thrown away, and is one larger than the other? Do the same for three tokens, then say it "
            "with $L$ in place of 4."
        ),
        (
            "Number the rows from 0. What is thrown away is $$\\sum_{i=0}^{L-1} (\\text{grey squares of row } i)$$ "
            "with $L - 1$ grey squares in row 0 and none in row $L - 1$. What is it for row $i$? You may write it as "
            '`sympy.Sum(..., (i, 0, L - 1)).doit()` with `i = sympy.Symbol("i")`, or take the other way: all '
            "places, without the diagonal, shared fairly between two triangles.\n\n"
            "Return the expression in `L` itself, and test it: `wasted_scores().subs(L, 4)` must be 6."
        ),
    ),
)
