"""Exercise score_variance of notebook 03."""

from __future__ import annotations

import random

import sympy

from grading.definitions.exercise import Exercise, Mistake, Stage
from tutor.checking.answers import Ask

D, A = sympy.symbols("D A", positive=True, integer=True)


def score_variance() -> sympy.Expr:
    return D / A


def _draw_widths(rng: random.Random) -> list[Ask]:
    pairs = [(heads, rng.randint(5, 99)) for heads in rng.sample(range(2, 17), 4)]
    pairs.append((6, rng.randint(400, 500)))  # wider than all others, for every student
    return [Ask(at={"D": heads * width, "A": heads}) for heads, width in pairs]


EXERCISE = Exercise(
    score_variance,
    [
        Stage(
            "one head: the whole width is in the dot product",
            0.5,
            "A dot product of width D is a sum of D products; the variances of independent terms add up.",
            [Ask(at={"D": 16, "A": 1})],
            lambda rng: [Ask(at={"D": rng.randint(67, 199), "A": 1})],
        ),
        Stage(
            "several heads",
            1.5,
            "How many numbers does the query of ONE head have, when A heads share a width of D?",
            [Ask(at={"D": 24, "A": 4}), Ask(at={"D": 512, "A": 8}), Ask(at={"D": 1536, "A": 12})],
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
    hints=(
        (
            "A score of one head is a sum of products, number of the query times number of the key. How many "
            "products are there in one head, when $A$ heads share the $D$ numbers? What is the variance of one of "
            "these products (think of the coins)? And what happens to variances when independent numbers are added?"
        ),
        (
            "In the coin example, a product is $+1$ or $-1$: variance 1. A score of width 2 had variance 2, and "
            "`sympy` finds 3 for width 3: variances of independent terms add up. The same holds for any numbers of "
            "mean 0 and variance 1.\n\n"
            "Now a model of width 12 with 3 heads. Cut the 12 numbers into 3 equal pieces. How many numbers has the "
            "query of one head, so how many products are in its score? Add up that many variances of 1. Then say the "
            "same with letters."
        ),
        (
            "A formula with two factors: $$\\text{variance of a score} = (\\text{number of products in one head}) "
            "\\times (\\text{variance of one product})$$ The second factor is 1. The first one is a fraction of the "
            "two symbols `D` and `A` of the cell above. Return it as an expression, without numbers put in.\n\n"
            "Test it: `score_variance().subs({D: 12, A: 12})` must be 1, since each head has one number, and with "
            "`A: 1` it must be 12. No root here: the root of the variance is the standard deviation, by which the "
            "scores are divided afterwards."
        ),
    ),
)
