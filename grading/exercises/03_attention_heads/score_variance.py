"""Exercise score_variance of notebook 03."""

from __future__ import annotations

import random

import sympy

from grading.exercise import Exercise, Mistake, Stage
from helpers.checking.answers import Ask

D, A = sympy.symbols("D A", positive=True, integer=True)


def score_variance() -> sympy.Expr:
    return D / A


def _draw_widths(rng: random.Random) -> list[Ask]:
    pairs = [(heads, rng.randint(5, 99)) for heads in rng.sample(range(2, 17), 4)]
    return [Ask(at={"D": heads * width, "A": heads}) for heads, width in pairs]


EXERCISE = Exercise(
    score_variance,
    [
        Stage(
            "one head: the whole width is in the dot product",
            0.5,
            "A dot product of width D is a sum of D products; the variances of independent terms add up.",
            [Ask(at={"D": 16, "A": 1})],
            lambda rng: [Ask(at={"D": rng.randint(3, 99), "A": 1})],
        ),
        Stage(
            "several heads",
            1.5,
            "How many numbers does the query of ONE head have, when A heads share a width of D?",
            [Ask(at={"D": 24, "A": 4}), Ask(at={"D": 512, "A": 8})],
            _draw_widths,
            sealed=True,
            decisive=True,
        ),
    ],
    [
        Mistake(
            "the heads are forgotten",
            "D is right for a single head. With A heads, a head has only D/A of the numbers, so its dot product has "
            "fewer terms.",
            lambda: D,
        ),
        Mistake(
            "squared",
            "Each of the products has variance 1, and variances of independent terms ADD: a sum of w terms has "
            "variance w, not w squared.",
            lambda: (D / A) ** 2,
        ),
        Mistake(
            "D squared",
            "Variances add up, they do not multiply; and a head has only D/A of the D numbers.",
            lambda: D**2,
        ),
        Mistake(
            "the standard deviation in place of the variance",
            "That is the square root of the variance: the right number to divide the scores by, but the question was "
            "the variance.",
            lambda: sympy.sqrt(D / A),
        ),
        Mistake(
            "the scale in place of the variance",
            "That is what the scores are multiplied with. The question was the variance of the scores before that.",
            lambda: 1 / sympy.sqrt(D / A),
        ),
        Mistake(
            "the variance of one product only",
            "One product of two such numbers has variance 1. A score is a sum of many of them: how many?",
            lambda: sympy.Integer(1),
        ),
        Mistake(
            "the variances of all heads are added",
            "The question is one score of one head, and a head has D/A numbers: divide by A, do not multiply.",
            lambda: D * A,
        ),
    ],
)
