"""Exercise self_attention_output of notebook 08."""

from __future__ import annotations

import math
from typing import Any

import sympy

from grading.definitions.definition import Definition
from tutor.checking.answers import Question

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


exercise = Definition(minutes=15, difficulty=2)


@exercise.reference
def self_attention_output() -> dict[str, Any]:
    return _coefficients(1, sympy.exp(beta**2), 1)


def _divided(total: Any) -> dict[str, Any]:
    """Returns c2 for the right powers and a wrong sum of them."""
    power = sympy.exp(beta**2)
    return {"u_a": power / total, "u_b": 2 / total, "u_c": 1 / total, "u_d": 1 / total}


@exercise.stage("four coefficients by name", points=0.25, public=[Question(probe="names")])
def _(rng):
    """Return {"u_a": ..., "u_b": ..., "u_c": ..., "u_d": ...}."""
    return [Question(probe="names")]


@exercise.stage(
    "by hand, with e^(beta^2) = 2: weights 1/4, 1/2, 1/4",
    points=0.5,
    public=[Question(at={"beta": math.sqrt(math.log(2))})],
)
def _(rng):
    """Three tokens, so three scores, 0, beta^2 and 0: where e^(beta^2) is 2, the weights are 1/4, 1/2 and 1/4, and sum
    to 1. Then c2 = x1/4 + x2/2 + x3/4. Put in what x1, x2 and x3 are made of, and collect u_a, u_b, u_c and u_d.
    """
    return [Question(at={"beta": math.sqrt(math.log(rng.choice([3, 4, 6])))})]


@exercise.stage(
    "any beta", points=1.25, public=[Question(at={"beta": 1}), Question(at={"beta": 1.7})], sealed=True, decisive=True
)
def _(rng):
    """The scores of x2 are its dot products with x1, x2 and x3. A vector of length beta has the dot product beta^2 with
    itself and 0 with the others.
    """
    return [Question(at={"beta": round(rng.uniform(0.3, 3), 2)}) for _ in range(3)]


@exercise.mistake("the score is beta in place of beta squared")
def _():
    """The dot product of a vector of length beta with itself is beta times beta."""
    return _coefficients(1, sympy.exp(beta), 1)


@exercise.mistake("the other two tokens get no weight")
def _():
    """That is the limit of a large beta. For each beta, a score of 0 still adds e^0 = 1 to the sum: x1 and x3 keep a
    weight of 1/(e^(beta^2) + 2) each.
    """
    return _coefficients(0, 1, 0)


@exercise.mistake("u_b is counted once")
def _without_second_u_b() -> dict[str, Any]:
    """u_b is in x1 and in x3: it comes in with both of their weights."""
    right = self_attention_output()
    return right | {"u_b": right["u_b"] / 2}


@exercise.mistake("c1 in place of c2")
def _():
    """This is the output of the first token. Token 2 asks with q2 = x2 = u_a."""
    return _coefficients(sympy.exp(2 * beta**2), 1, sympy.exp(beta**2))


@exercise.mistake("a token's own score is left out of the sum")
def _():
    """The softmax divides by the sum over all three tokens, the one that looks included."""
    return _divided(sympy.Integer(2))


@exercise.mistake("a score of 0 adds nothing to the sum, but has a weight")
def _():
    """The denominator is the sum of the same three powers that stand on top: e^(beta^2) + 1 + 1."""
    return _divided(sympy.exp(beta**2))


@exercise.mistake("the softmax is over four vectors")
def _():
    """Token 2 looks at three tokens, x1, x2 and x3, not at the four u's: the softmax is over three scores."""
    return _divided(sympy.exp(beta**2) + 3)


@exercise.mistake("dot products in place of shares")
def _():
    """The dot product of c2 with a vector u is beta^2 times how much of u is in c2. Divide by u . u = beta^2."""
    return {name: beta**2 * share for name, share in self_attention_output().items()}


@exercise.mistake("the weights, not multiplied out")
def _():
    """These are the weights of x1, x2 and x3. Each x is a sum of u's: multiply out and collect."""
    return _without_second_u_b() | {"u_c": sympy.Integer(0), "u_d": sympy.Integer(0)}
