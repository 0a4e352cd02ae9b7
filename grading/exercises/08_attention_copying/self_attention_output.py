"""Exercise self_attention_output of notebook 08."""

from __future__ import annotations

import math
import random
from typing import Any

import sympy

from grading.definitions.exercise import Exercise, Mistake, Stage
from tutor.checking.answers import Ask

beta = sympy.Symbol("beta", positive=True)


def _coefficients(first: Any, second: Any, third: Any) -> dict[str, Any]:
    """Returns c2 for given exponentials of the scores of x1, x2 and x3."""
    total = first + second + third
    return {
        "u_a": second / total,
        "u_b": (first + third) / total,
        "u_c": third / total,
        "u_d": first / total,
    }


def self_attention_output() -> dict[str, Any]:
    return _coefficients(1, sympy.exp(beta**2), 1)


def _without_second_u_b() -> dict[str, Any]:
    right = self_attention_output()
    return right | {"u_b": right["u_b"] / 2}


def _divided(total: Any) -> dict[str, Any]:
    """Returns c2 for the right powers and a wrong sum of them."""
    power = sympy.exp(beta**2)
    return {"u_a": power / total, "u_b": 2 / total, "u_c": 1 / total, "u_d": 1 / total}


def _without_own_score() -> dict[str, Any]:
    return _divided(sympy.Integer(2))


def _without_zeros() -> dict[str, Any]:
    return _divided(sympy.exp(beta**2))


def _row_of_x1() -> dict[str, Any]:
    return _coefficients(sympy.exp(2 * beta**2), 1, sympy.exp(beta**2))


def _draw_betas(rng: random.Random) -> list[Ask]:
    return [Ask(at={"beta": round(rng.uniform(0.3, 3), 2)}) for _ in range(3)]


EXERCISE = Exercise(
    self_attention_output,
    [
        Stage(
            "four coefficients by name",
            0.25,
            'Return {"u_a": ..., "u_b": ..., "u_c": ..., "u_d": ...}.',
            [Ask(take="names")],
            lambda rng: [Ask(take="names")],
        ),
        Stage(
            "by hand, with e^(beta^2) = 2: weights 1/4, 1/2, 1/4",
            0.5,
            "Then c2 = x1/4 + x2/2 + x3/4. Put in what x1, x2 and x3 are made of, and collect u_a, u_b, u_c and u_d.",
            [Ask(at={"beta": math.sqrt(math.log(2))})],
            lambda rng: [Ask(at={"beta": math.sqrt(math.log(rng.choice([3, 4, 6])))})],
        ),
        Stage(
            "any beta",
            1.25,
            "The scores of x2 are its dot products with x1, x2 and x3. A vector of length beta has the dot "
            "product beta^2 with itself and 0 with the others.",
            [Ask(at={"beta": 1}), Ask(at={"beta": 1.7})],
            _draw_betas,
            sealed=True,
            decisive=True,
        ),
    ],
    [
        Mistake(
            "the score is beta in place of beta squared",
            "The dot product of a vector of length beta with itself is beta times beta.",
            lambda: _coefficients(1, sympy.exp(beta), 1),
        ),
        Mistake(
            "the other two tokens get no weight",
            "That is the limit of a large beta. For each beta, a score of 0 still adds e^0 = 1 to the sum: x1 "
            "and x3 keep a weight of 1/(e^(beta^2) + 2) each.",
            lambda: _coefficients(0, 1, 0),
        ),
        Mistake(
            "u_b is counted once",
            "u_b is in x1 and in x3: it comes in with both of their weights.",
            _without_second_u_b,
        ),
        Mistake(
            "c1 in place of c2",
            "This is the output of the first token. Token 2 asks with q2 = x2 = u_a.",
            _row_of_x1,
        ),
        Mistake(
            "a token's own score is left out of the sum",
            "The softmax divides by the sum over all three tokens, the one that looks included.",
            _without_own_score,
        ),
        Mistake(
            "a score of 0 adds nothing to the sum, but has a weight",
            "The denominator is the sum of the same three powers that stand on top: e^(beta^2) + 1 + 1.",
            _without_zeros,
        ),
        Mistake(
            "the weights, not multiplied out",
            "These are the weights of x1, x2 and x3. Each x is a sum of u's: multiply out and collect.",
            lambda: _without_second_u_b() | {"u_c": sympy.Integer(0), "u_d": sympy.Integer(0)},
        ),
    ],
    hints=(
        "Token 2 asks with $q_2 = x_2$, and the keys are the tokens themselves. Multiply out the three dot "
        "products $x_2 \\cdot x_1$, $x_2 \\cdot x_2$ and $x_2 \\cdot x_3$: which of the products $u \\cdot u'$ in "
        "them are not 0? What is $u \\cdot u$ for a vector of length $\\beta$? And what does a score of 0 add to "
        "the sum below the line of a softmax?",
        "The second half of the work is to collect. Suppose the weights were $\\frac{1}{2}$, $\\frac{1}{3}$ and "
        "$\\frac{1}{6}$. Then $c_2 = \\frac{1}{2}(u_d + u_b) + \\frac{1}{3} u_a + \\frac{1}{6}(u_c + u_b)$. There "
        "is $\\frac{1}{2}$ of $u_d$, $\\frac{1}{3}$ of $u_a$, $\\frac{1}{6}$ of $u_c$; and $u_b$ comes twice, "
        "$\\frac{1}{2} + \\frac{1}{6} = \\frac{2}{3}$. The real weights are a softmax of your three scores. Two of "
        "the scores are equal, so two of the weights are.",
        "Three scores, three powers, their sum, and then the dict:\n"
        "```python\n"
        "first = ...   # e to the power of the score of x1; the same for x2 and x3\n"
        "second = ...\n"
        "third = ...\n"
        "total = first + second + third\n"
        "```\n"
        "The weights are the three powers divided by `total`. Each entry of the dict is the sum of the weights of "
        'those tokens in which this $u$ occurs: `{"u_a": ..., "u_b": ..., "u_c": ..., "u_d": ...}`. Powers '
        "are `sympy.exp(...)`, and $\\beta$ is the symbol `beta`. Test: with $e^{\\beta^2} = 2$ the weights are "
        "1/4, 1/2, 1/4.",
    ),
)
