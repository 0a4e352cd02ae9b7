"""Exercise self_attention_output of notebook 08."""

from __future__ import annotations

import math
import random
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


BY_HAND = Question(at={"beta": math.sqrt(math.log(2))})  # where e^(beta^2) is 2
exercise.by_hand(BY_HAND, part=lambda found: [float(found[name].value({})) for name in ("u_a", "u_b", "u_c", "u_d")])


@exercise.stage("four coefficients by name", points=0.25, public=[Question(probe="names")])
def _(rng: random.Random) -> list[Question]:
    """Return {"u_a": ..., "u_b": ..., "u_c": ..., "u_d": ...}."""
    return [Question(probe="names")]


@exercise.stage(
    "by hand, with e^(beta^2) = 2: weights 1/4, 1/2, 1/4",
    points=0.5,
    public=[BY_HAND],
)
def _(rng: random.Random) -> list[Question]:
    """Three tokens, so three scores, 0, beta^2 and 0: where e^(beta^2) is 2, the weights are 1/4, 1/2 and 1/4, and sum
    to 1. Then c2 = x1/4 + x2/2 + x3/4. Put in what x1, x2 and x3 are made of, and collect u_a, u_b, u_c and u_d.
    """
    return [Question(at={"beta": math.sqrt(math.log(rng.choice([3, 4, 6])))})]


@exercise.stage(
    "any beta", points=1.25, public=[Question(at={"beta": 1}), Question(at={"beta": 1.7})], sealed=True, decisive=True
)
def _(rng: random.Random) -> list[Question]:
    """The scores of x2 are its dot products with x1, x2 and x3. A vector of length beta has the dot product beta^2 with
    itself and 0 with the others.
    """
    return [Question(at={"beta": round(rng.uniform(0.3, 3), 2)}) for _ in range(3)]
