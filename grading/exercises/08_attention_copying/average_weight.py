"""Exercise average_weight of notebook 08."""

from __future__ import annotations

import random

import sympy

from grading.definitions.exercise import Exercise, Mistake, Stage
from tutor.checking.answers import Ask

s = sympy.Symbol("s", real=True)  # not positive: solve() would drop the solution 0
n = sympy.Symbol("n", positive=True, integer=True)


def average_weight() -> sympy.Expr:
    return sympy.exp(s) / (2 * sympy.exp(s) + n - 2)


def _weight_points(rng: random.Random) -> list[Ask]:
    """Returns a scale of middle size, one below 0, one near 0, and a large one."""
    scales = [rng.uniform(1, 4), -rng.uniform(0.5, 4), rng.uniform(0.1, 0.9), rng.uniform(10, 30)]
    return [
        Ask(at={"s": round(scale, 2), "n": n}) for scale, n in zip(scales, rng.sample(range(3, 60), 4), strict=True)
    ]


EXERCISE = Exercise(
    average_weight,
    [
        Stage(
            "scale 0: every key gets 1/n",
            0.25,
            "With s = 0 all the scores are 0 and the softmax is 1/n for each key. Put s = 0 and n = 5 into "
            "your formula.",
            [Ask(at={"s": 0, "n": 5}), Ask(at={"s": 0, "n": 8})],
            lambda rng: [Ask(at={"s": 0, "n": value}) for value in rng.sample(range(5, 60), 2)],
        ),
        Stage(
            "any scale, any number of keys",
            1.75,
            "Write the softmax down: e to the score of a, divided by the sum over all n keys of e to their score. Two "
            "scores are s, n - 2 are 0.",
            [
                Ask(at={"s": 1, "n": 2}),
                Ask(at={"s": 2, "n": 5}),
                Ask(at={"s": 6.5, "n": 30}),
                Ask(at={"s": -1.5, "n": 7}),
            ],
            _weight_points,
            sealed=True,
            decisive=True,
        ),
    ],
    [
        Mistake(
            "the n - 2 others are forgotten",
            "A score of 0 is not a weight of 0: each of the other n - 2 keys adds e^0 = 1 to the sum.",
            lambda: sympy.Rational(1, 2),
        ),
        Mistake(
            "the sum has n others",
            "a and b are among the n keys: only n - 2 are left with a score of 0.",
            lambda: sympy.exp(s) / (2 * sympy.exp(s) + n),
        ),
        Mistake(
            "only one key has the score s",
            "That is the weight when one value is copied, with n - 1 others. Here two keys have the score s.",
            lambda: sympy.exp(s) / (sympy.exp(s) + n - 1),
        ),
        Mistake(
            "the weight of both together",
            "The formula is for one of the two. You have added the weights of a and b.",
            lambda: 2 * sympy.exp(s) / (2 * sympy.exp(s) + n - 2),
        ),
        Mistake(
            "scores in place of their exponentials",
            "The softmax divides e to the score by the sum of these powers, not the score by the sum of the scores.",
            lambda: s / (2 * s + n - 2),
        ),
        Mistake(
            "the others count 0 points each",
            "e^0 is 1. You have multiplied n - 2 with something else than 1.",
            lambda: sympy.exp(s) / (2 * sympy.exp(s) + (n - 2) * sympy.E),
        ),
    ],
    hints=(
        "Write the scores of all $n$ keys in a row, for $n = 5$ say. How many of them are $s$, and how many are 0? "
        "The softmax takes $e$ to the power of each. What is $e^0$? And how many terms has the sum below the line, "
        "so that each key is in it exactly once?",
        "A case to count: $n = 7$ keys and a scale with $e^s = 10$. Two keys have the power 10, the five others "
        "have $e^0 = 1$ each. The sum is $10 + 10 + 5 = 25$, so each of the two gets $10/25 = 0.4$ and each other "
        "one $0.04$. Check: $2 \\cdot 0.4 + 5 \\cdot 0.04 = 1$. Now say the same with $s$ in place of the number "
        "and $n$ in place of 7: where did the 5 come from?",
        "The form is a softmax with equal terms collected: $$\\frac{e^s}{(\\text{how many}) \\cdot e^s + "
        "(\\text{how many}) \\cdot e^0}$$ Fill in the two counts; they must add up to $n$, because $a$ and $b$ are "
        "among the $n$ keys. In sympy:\n"
        "```python\n"
        "power = sympy.exp(s)\n"
        "return power / (...)  # the sum over all n keys\n"
        "```\n"
        "Two tests: with $s = 0$ the weight is $1/n$; and for a very large $s$ it comes close to one half.",
    ),
)
