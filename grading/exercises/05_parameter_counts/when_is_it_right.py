"""Exercise when_is_it_right of notebook 05."""

from __future__ import annotations

import random
from typing import Any

import sympy
from sympy import Expr, Integer

from grading.definitions.exercise import Exercise, Mistake, Stage
from tutor.checking.answers import Ask

from ._common import BLOCK, NO_BIASES, ONE_NORM, A, D, layer_total


def when_is_it_right(claim: Expr) -> Integer | None:
    return _guarded(claim, BLOCK)


def _guarded(claim: Expr, truth: Expr) -> Integer | None:
    found = _solutions(claim, truth)
    right = len(found) == 1 and found[0].is_Integer and found[0] >= 1
    return found[0] if right else None


def _solutions(claim: Expr, truth: Expr = BLOCK) -> list[Expr]:
    return list(sympy.solve(sympy.Eq(sympy.expand(claim), sympy.expand(truth)), A))


def _unchecked(claim: Expr) -> Expr:
    return _solutions(claim)[0]


def _at_one_width(claim: Expr) -> Any:
    found = _solutions(claim.subs(D, 200), BLOCK.subs(D, 200))
    return found[0] if found and found[0].is_Integer and found[0] >= 1 else None


LINEAR = D**2 + D  # weights and bias of one D x D projection
PUBLISHED = A * 3 * LINEAR + 4 * D
AT_200_ONLY = A * 3 * LINEAR + 800
HEADED = A * 4 * LINEAR + 2 * LINEAR + 2 * D
FRACTION = A * 4 * LINEAR + 4 * D


ZERO_HEADS = A * D**2 + BLOCK  # right for A = 0 only
FACTORED = A * D * (3 * D + 3) + 4 * D  # right for A = 2, but not written as a sum of powers


UNEXPANDED = (A + 4) * D**2 + 10 * D  # right for A = 2, with A in brackets
BELOW = 18 * D**2 / A + 10 * D  # right for A = 3, and not linear in it


def _claims(*claims: Expr) -> list[Ask]:
    return [Ask((claim,), at={"D": 200, "F": 300}) for claim in claims]


EXAMPLE = A * D**2 + 5 * D**2 + 10 * D  # right for A = 1
MANY_HEADS = A * D**2 - 34 * D**2 + 10 * D  # right for A = 40
MOST_HEADS = A * D**2 - 84 * D**2 + 10 * D  # right for A = 90


def _right_at_the_first(widths: int) -> Expr:
    """Returns a claim that is right for A = 1 at D = 1, 2, ... up to a width, and beyond for no number of heads."""
    return A * BLOCK + sympy.prod(D - width for width in range(1, widths + 1))


def _right_at(width: int) -> Expr:
    """Returns a claim that is right at one width, for A = 1."""
    return A * (6 * width + 10) * D


SQUARE = 16 * A * D**2  # right at D = 1
NUMBER_BESIDE = EXAMPLE + 7  # right but for a number
FOR_ONE_NORM, WITHOUT_BIASES = EXAMPLE - 2 * D, EXAMPLE - 6 * D  # right for somebody who has a norm less, no biases


def _draw_count(rng: random.Random) -> list[Ask]:
    """The count of the text, and claims that two heads do not make right."""
    heads = rng.choice([3, 5])
    return _claims(*rng.sample([PUBLISHED, EXAMPLE, A * D**2 + (6 - heads) * D**2 + 10 * D], 3))


def _draw_claims(rng: random.Random) -> list[Ask]:
    """Claims that are right for exactly one A: many heads, few heads, and 2 heads written in two ways."""
    many, few, more, most = rng.choice([5, 6]), rng.choice([1, 2]), rng.randint(20, 60), rng.randint(66, 96)
    return _claims(
        A * LINEAR + (6 - many) * LINEAR + 4 * D,
        A * 2 * LINEAR + (6 - 2 * few) * LINEAR + 4 * D,
        FACTORED,
        A * D**2 + (6 - more) * D**2 + 10 * D,
        (A + 6 - few) * D**2 + 10 * D,
        BELOW,
        A * D**2 + (6 - most) * D**2 + 10 * D,
    )


def _draw_never_right(rng: random.Random) -> list[Ask]:
    extra = rng.choice([2, 3])
    claims = [
        A * 3 * LINEAR + 200 * extra + (4 - extra) * D,
        HEADED,
        ZERO_HEADS,
        _right_at(rng.randint(3, 30)),
        _right_at_the_first(rng.randint(3, 5)),
        EXAMPLE,
    ]
    return _claims(*rng.sample(claims, len(claims)))


EXERCISE = Exercise(
    when_is_it_right,
    [
        Stage(
            "the count of the text",
            0.5,
            "Solve claim = right count for A: sympy.solve(sympy.Eq(claim, right), A) gives a list of solutions. The "
            "example of the exercise is asked beside it.",
            _claims(PUBLISHED, EXAMPLE),
            _draw_count,
            sealed=True,
        ),
        Stage(
            "other claims",
            0.75,
            "Use the claim that is handed in, and the right count of a layer at F = D. Two formulas may be equal and "
            "written in different ways: expand their difference.",
            _claims(
                A * LINEAR + 2 * LINEAR + 4 * D,
                A * LINEAR + 4 * D,
                FACTORED,
                MANY_HEADS,
                UNEXPANDED,
                BELOW,
                MOST_HEADS,
            ),
            _draw_claims,
            sealed=True,
        ),
        Stage(
            "a claim that no number of heads makes right: None",
            0.75,
            "A solution that contains D is right for some widths at most, and an empty list says that there is "
            "none (there are no half heads, and A is at least 1): return None. One claim in between is right.",
            _claims(
                HEADED,
                EXAMPLE,
                FRACTION,
                AT_200_ONLY,
                ZERO_HEADS,
                SQUARE,
                *map(_right_at, (2, 4, 10)),
                _right_at_the_first(3),
                _right_at_the_first(4),
                NUMBER_BESIDE,
                FOR_ONE_NORM,
                WITHOUT_BIASES,
            ),
            _draw_never_right,
            decisive=True,
        ),
    ],
    [
        Mistake(
            "the list of solve is returned",
            "sympy.solve gives a list of solutions; return the one in it, with [0].",
            _solutions,
        ),
        Mistake(
            "the solution is not looked at",
            "Look at what solve gives: where the list is empty, or its solution contains D, no number of heads "
            "makes the claim right for every width. Return None there.",
            _unchecked,
        ),
        Mistake(
            "solved at one width only",
            "A claim may be right at D = 200 by chance. Solve with the symbol D, or try several widths.",
            _at_one_width,
        ),
        Mistake(
            "compared with a count that has one norm",
            "The right count of a layer has 10D, not 8D: two norms.",
            lambda claim: _solutions(claim, ONE_NORM)[0],
        ),
        Mistake(
            "compared with a count without biases",
            "The right count of a layer has the biases of all six Linears.",
            lambda claim: _solutions(claim, NO_BIASES)[0],
        ),
        Mistake(
            "compared with a count that has one norm; where that does not fit, None",
            "The right count of a layer has 10D, not 8D: two norms.",
            lambda claim: _guarded(claim, ONE_NORM),
        ),
        Mistake(
            "compared with a count without biases; where that does not fit, None",
            "The right count of a layer has the biases of all six Linears.",
            lambda claim: _guarded(claim, NO_BIASES),
        ),
        Mistake(
            "F is left in the count that the claim is compared with",
            "Claims are about a layer at F = D, and your solution has F in it: put layer_total().subs(F, D) in the "
            "equation.",
            lambda claim: _solutions(claim, layer_total())[0],
        ),
        Mistake(
            "None, whatever the claim says",
            "The count of the text is right for one number of heads. If you compare with layer_total(), put F = D "
            "in it first: with F in it, no claim is right.",
            lambda claim: None,
        ),
        Mistake(
            "one head, whatever the claim says",
            "Heads do not multiply the weights, that is true. But the question is for which A this claim, wrong "
            "as it is, gives the right number.",
            lambda claim: 1,
        ),
        Mistake(
            "two heads, whatever the claim says",
            "2 is right for the count of the text. Solve for A: your function is asked about other claims too.",
            lambda claim: 2,
        ),
    ],
    hints=(
        (
            "Which two formulas shall be equal, and which of their letters is the unknown? The right one is that of "
            "section 3, at $F = D$. Then think of what `sympy.solve` may hand back: a list with a number, a list "
            "with a formula in $D$, an empty list. Which answer belongs to each of the three?"
        ),
        (
            "Compare with $6D^2 + 10D$. The claim $2AD^2 + 2D^2 + 10D$ is right when $2A + 2 = 6$, so for $A = 2$, "
            "at every width. The claim $AD^2 + 5D^2 + 8D$ is right when $A = 1 + 2/D$: that is another number for "
            "each width (at $D = 2$ it is 2), so the answer is `None`. The claim $4AD^2 + 10D$ would need $A = 3/2$: "
            "there are no half heads, `solve` gives an empty list, and the answer is `None` again.\n\n"
            "Solve with the symbol `D` in the equation; at a single width nearly every claim can be made right."
        ),
        (
            "Solve, then look at what you have:\n"
            "```python\n"
            "right = layer_total().subs(F, D)  # the count of section 3, at F = D\n"
            "solutions = sympy.solve(sympy.Eq(sympy.expand(claim), sympy.expand(right)), A)\n"
            "# nothing in the list: None\n"
            "# the solution has a D in it, or is no whole number of at least 1: None\n"
            "# otherwise the solution itself, not the list\n"
            "```\n"
            "`solutions[0].is_Integer` is True for a number such as 2, and False for a formula. Test all kinds: "
            "`2*A*D**2 + 2*D**2 + 10*D` gives 2, `A*D**2 + 5*D**2 + 8*D` gives `None`, and so does `4*A*D**2 + 10*D`."
        ),
    ),
)
