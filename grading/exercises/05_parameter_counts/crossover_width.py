"""Exercise crossover_width of notebook 05."""

from __future__ import annotations

from sympy import Expr

from grading.definitions.definition import Definition
from tutor.checking.answers import Question

from ._common import A, M, V, _formula

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
def _(rng):
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
def _(rng):
    """Write the equation V D = M (...), divide both sides by D, and solve for the D that is left."""
    return [_crossover_point(rng.randint(900, 60_000), rng.randint(2, 24), rng.randint(3, 9)) for _ in range(4)]


exercise.mistake(
    "the number of layers is lost",
    "There are M layers on one side and one embedding on the other.",
    _formula((V - 10) / 6),
)

exercise.mistake(
    "biases and norms are neglected",
    "V/(6M) is a good estimate for large V; the exact equation has the 10D of each layer too.",
    _formula(V / (6 * M)),
)

exercise.mistake("one norm is counted", "A layer has 10D beside 6D^2, not 8D.", _formula((V - 8 * M) / (6 * M)))

exercise.mistake(
    "biases are lost in the layers",
    "A layer has 10D beside 6D^2: six biases and two norms.",
    _formula((V - 4 * M) / (6 * M)),
)

exercise.mistake(
    "M multiplies the matrices only",
    "All of a layer comes M times: M (6D^2 + 10D) has 10 M D in it.",
    _formula((V - 10) / (6 * M)),
)

exercise.mistake(
    "a sign is turned",
    "V D = M (6 D^2 + 10 D): when the 10 M D go to the other side, they are taken off.",
    _formula((V + 10 * M) / (6 * M)),
)

exercise.mistake(
    "the head is put beside the embedding",
    "The question is about the embedding alone, V D. (With the head it is a good question, too.)",
    _formula((2 * V - 10 * M) / (6 * M)),
)

exercise.mistake(
    "the list of solve is returned",
    "sympy.solve gives a list of solutions; return the one that is larger than 0, with [0].",
    _formula([(V - 10 * M) / (6 * M)]),
)

exercise.mistake(
    "the heads multiply the weights",
    "Heads split the width D among them; A is not in the equation.",
    _formula((V - (4 * A + 6) * M) / ((4 * A + 2) * M)),
)
