"""Exercise when_is_it_right of notebook 05."""

from __future__ import annotations

import random

import sympy
from sympy import Expr, Integer

from grading.definitions.definition import Definition
from tutor.checking.answers import Question

from ._common import BLOCK, A, D

exercise = Definition(minutes=25, difficulty=3)


@exercise.reference
def when_is_it_right(claim: Expr) -> Integer | None:
    return _guarded(claim, BLOCK)


def _guarded(claim: Expr, truth: Expr) -> Integer | None:
    found = _solutions(claim, truth)
    right = len(found) == 1 and found[0].is_Integer and found[0] >= 1
    return found[0] if right else None


LINEAR = D**2 + D  # weights and bias of one D x D projection
PUBLISHED = A * 3 * LINEAR + 4 * D
AT_200_ONLY = A * 3 * LINEAR + 800
HEADED = A * 4 * LINEAR + 2 * LINEAR + 2 * D
FRACTION = A * 4 * LINEAR + 4 * D


ZERO_HEADS = A * D**2 + BLOCK  # right for A = 0 only
FACTORED = A * D * (3 * D + 3) + 4 * D  # right for A = 2, but not written as a sum of powers


UNEXPANDED = (A + 4) * D**2 + 10 * D  # right for A = 2, with A in brackets
BELOW = 18 * D**2 / A + 10 * D  # right for A = 3, and not linear in it


def _claims(*claims: Expr) -> list[Question]:
    return [Question((claim,), at={"D": 200, "F": 300}) for claim in claims]


NO_A_AT_ONE = BLOCK + (A - 3) * (D**2 - D)  # right for A = 3, and at D = 1 for any
EXAMPLE = A * D**2 + 5 * D**2 + 10 * D  # right for A = 1
MANY_HEADS = A * D**2 - 34 * D**2 + 10 * D  # right for A = 40
MOST_HEADS = A * D**2 - 84 * D**2 + 10 * D  # right for A = 90
BEYOND = tuple(A * D**2 + (6 - heads) * D**2 + 10 * D for heads in (200, 1000, 123_457))
REPORTED = D * ((D + 1) * (2 + 2 * A) + 4)  # of the report that the text quotes: right for A = 2


SQUARE = 16 * A * D**2  # right at D = 1
NUMBER_BESIDE = EXAMPLE + 7  # right but for a number
FOR_ONE_NORM, WITHOUT_BIASES = EXAMPLE - 2 * D, EXAMPLE - 6 * D  # right for somebody who has a norm less, no biases


@exercise.stage("the count of the text", points=0.5, public=_claims(PUBLISHED, EXAMPLE, REPORTED), sealed=True)
def _(rng: random.Random) -> list[Question]:
    """Solve claim = right count for A: sympy.solve(sympy.Eq(claim, right), A) gives a list of solutions. The example of
    the exercise is asked beside it.
    """
    # The count of the text, and claims that two heads do not make right.
    heads = rng.choice([3, 5])
    return _claims(*rng.sample([PUBLISHED, EXAMPLE, REPORTED, A * D**2 + (6 - heads) * D**2 + 10 * D], 4))


@exercise.stage(
    "other claims",
    points=0.75,
    public=_claims(
        A * LINEAR + 2 * LINEAR + 4 * D,
        A * LINEAR + 4 * D,
        FACTORED,
        MANY_HEADS,
        UNEXPANDED,
        BELOW,
        NO_A_AT_ONE,
        MOST_HEADS,
        *BEYOND,
    ),
    sealed=True,
)
def _(rng: random.Random) -> list[Question]:
    """Use the claim that is handed in, and the right count of a layer at F = D. A may be any whole number from 1 on:
    solve for it, a trial of some ends too early. Two formulas may be equal and written in different ways: expand their
    difference.
    """
    # Claims that are right for exactly one A: many heads, few heads, and 2 heads written in two ways.
    beyond = rng.randint(101, 300), rng.randint(1001, 5000), rng.randint(10**5, 10**6)
    many, few, more, most = rng.choice([5, 6]), rng.choice([1, 2]), rng.randint(20, 60), rng.randint(66, 96)
    return _claims(
        A * LINEAR + (6 - many) * LINEAR + 4 * D,
        A * 2 * LINEAR + (6 - 2 * few) * LINEAR + 4 * D,
        FACTORED,
        A * D**2 + (6 - more) * D**2 + 10 * D,
        (A + 6 - few) * D**2 + 10 * D,
        BELOW,
        BLOCK + (A - few) * (D**2 - D),
        A * D**2 + (6 - most) * D**2 + 10 * D,
        *(A * D**2 + (6 - heads) * D**2 + 10 * D for heads in beyond),
    )


def _right_at_some(*widths: int) -> Expr:
    """Returns a claim that is right for A = 1 at these widths, and at others for no number of heads."""
    return A * BLOCK + sympy.prod(D - width for width in widths)


# The solution is 4D, as in the text, or another whole number of heads at each width.
BY_WIDTH = (A * D + 2 * D**2, A * D + 5 * D**2, 2 * A * D + 5 * D**2, A * D + 5 * D**2 - D, A * D + 6 * D**2 - D**3)
ANOTHER_A_AT_EACH_WIDTH = [claim + 10 * D for claim in BY_WIDTH]


def _right_at(width: int) -> Expr:
    """Returns a claim that is right at one width, for A = 1."""
    return A * (6 * width + 10) * D


@exercise.stage(
    "a claim that no number of heads makes right: None",
    points=0.75,
    public=_claims(
        HEADED,
        EXAMPLE,
        FRACTION,
        AT_200_ONLY,
        ZERO_HEADS,
        SQUARE,
        *map(_right_at, (2, 4, 10)),
        _right_at_some(1, 2, 3, 4),  # so at any one, two or three of these widths, too
        _right_at_some(20, 100, 200, 1000),  # those of the text's table
        *ANOTHER_A_AT_EACH_WIDTH,
        NUMBER_BESIDE,
        FOR_ONE_NORM,
        WITHOUT_BIASES,
    ),
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """A solution that contains D is right for some widths at most, and an empty list says that there is none. There are
    no half heads, and rounding makes none right; A is at least 1. Put what you have found back into the claim: it must
    agree with the right count in every power of D, and as a whole, not in D**2 alone. Else return None. One claim in
    between is right.
    """
    extra = rng.choice([2, 3])
    claims = [  # those that are always the same are asked of everybody, and once
        A * 3 * LINEAR + 200 * extra + (4 - extra) * D,
        _right_at(rng.randint(3, 30)),
        _right_at_some(*range(1, rng.randint(4, 5) + 1)),
        EXAMPLE,
    ]
    return _claims(*rng.sample(claims, len(claims)))


@exercise.corners(
    "other claims", heads=(1, 2, range(87, 97)), written=("as a sum", "with brackets", "below", "squared")
)
def _(rng: random.Random, heads: int, written: str) -> Question:
    """Asks about few heads and about many, in claims that are written in different ways.

    Where A is squared there is a solution below 0, too, for who solves for a letter that may be negative.
    """
    claims = {
        "as a sum": A * D**2 + (6 - heads) * D**2 + 10 * D,
        "with brackets": D * ((A + 6 - heads) * D + 10),
        "below": 6 * heads * D**2 / A + 10 * D,
        "squared": A**2 * D**2 + (6 - heads**2) * D**2 + 10 * D,
    }
    return _claims(claims[written])[0]


def _solutions(claim: Expr, truth: Expr = BLOCK) -> list[Expr]:
    """sympy.solve gives a list of solutions; return the one in it, with [0]."""
    return list(sympy.solve(sympy.Eq(sympy.expand(claim), sympy.expand(truth)), A))
