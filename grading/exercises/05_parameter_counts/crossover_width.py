"""Exercise crossover_width of notebook 05."""

from __future__ import annotations

import random

from sympy import Expr

from grading.definitions.definition import Definition
from tutor.checking.answers import Question

from ._common import M, V

exercise = Definition(minutes=15, difficulty=2)


@exercise.reference
def crossover_width() -> Expr:
    return (V - 10 * M) / (6 * M)


def _crossover_point(words: int, layers: int, heads: int = 2) -> Question:
    return Question(at={"V": words, "M": layers, "A": heads})


@exercise.stage(
    "one layer: 34 words cross at D = 4",
    points=0.5,
    public=[_crossover_point(34, 1), _crossover_point(64, 1), _crossover_point(13, 1)],
)
def _(rng: random.Random) -> list[Question]:
    """At the width of the crossing both have as many numbers: with 34 words at D = 4, 136 each. Put your D for 64 words
    into both counts, too; a D need not be a whole number, and may be below 1.
    """
    return [
        *(_crossover_point(6 * d + 10, 1, 4) for d in rng.sample(range(3, 60), 2)),
        _crossover_point(rng.randint(11, 15), 1, 4),  # the solution need not be a whole number, nor 1 or more
    ]


@exercise.stage(
    "any vocabulary and number of layers",
    points=1.5,
    public=[_crossover_point(50001, 4), _crossover_point(977, 6)],
    sealed=True,
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Write the equation V D = M (...), divide both sides by D, and solve for the D that is left."""
    return [_crossover_point(rng.randint(900, 60_000), rng.randint(2, 24), rng.randint(3, 9)) for _ in range(4)]
