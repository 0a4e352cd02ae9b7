"""Exercise self_attention_output of notebook 08."""

from __future__ import annotations

import math
import random
from typing import Any

import sympy

from grading.exercise import Exercise, Mistake, Stage
from helpers.checking.answers import Ask

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
            lambda rng: [Ask(at={"beta": math.sqrt(math.log(rng.choice([2, 3, 4, 6])))})],
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
)
