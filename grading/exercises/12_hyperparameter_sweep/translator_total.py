"""Exercise translator_total of notebook 12."""

from __future__ import annotations

import random

import sympy
from sympy import Expr

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw
from tutor.checking.answers import Question

S, V, D, M, A = sympy.symbols("S V D M A", positive=True, integer=True)
ENCODER_LAYER, DECODER_LAYER = 6 * D**2 + 10 * D, 10 * D**2 + 16 * D


exercise = Definition(minutes=15, difficulty=2)


@exercise.reference
def translator_total() -> Expr:
    return (S + V) * D + M * (ENCODER_LAYER + DECODER_LAYER) + V * (D + 1)


def _sizes(words: int, french: int, width: int, layers: int, heads: int) -> Question:
    return Question(at={"S": words, "V": french, "D": width, "M": layers, "A": heads})


exercise.by_hand(_sizes(7, 9, 4, 1, 2), part=lambda total: float(total.value({})))


def _draw_sizes(layers: tuple[int, int]) -> Draw:
    def draw(rng: random.Random) -> list[Question]:
        def one() -> Question:
            heads, words = rng.randint(2, 9), rng.randint(50, 9000)
            return _sizes(words, words + rng.randint(7, 900), heads * rng.randint(3, 60), rng.randint(*layers), heads)

        alike = rng.randint(50, 9000)  # two vocabularies of one size are two all the same
        return [*(one() for _ in range(3)), _sizes(alike, alike, 12, rng.randint(*layers), 2)]

    return draw


@exercise.stage(
    "without layers: two embeddings and a head",
    points=0.5,
    public=[_sizes(7, 9, 4, 0, 2), _sizes(8, 8, 4, 0, 2)],
    sealed=True,
)
def _(rng: random.Random) -> list[Question]:
    """Put M = 0: what is left is an embedding for each language and a Linear from D to V, with its biases."""
    return _draw_sizes((0, 0))(rng)


@exercise.stage(
    "with layers",
    points=1.5,
    public=[_sizes(7, 9, 4, 1, 2), _sizes(8, 8, 4, 2, 2), _sizes(292, 458, 48, 2, 4), _sizes(9000, 11000, 768, 6, 12)],
    decisive=True,
    sealed=True,
)
def _(rng: random.Random) -> list[Question]:
    """An encoder layer has 6D^2 + 10D (notebook 05). A decoder layer has one more attention, four D x D matrices with
    biases, and one more norm.
    """
    return _draw_sizes((1, 12))(rng)
