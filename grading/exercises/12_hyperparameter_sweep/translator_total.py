"""Exercise translator_total of notebook 12."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

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


def _formula(total: Any) -> Callable[[], Any]:
    return lambda: total


def _sizes(words: int, french: int, width: int, layers: int, heads: int) -> Question:
    return Question(at={"S": words, "V": french, "D": width, "M": layers, "A": heads})


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
def _(rng):
    """Put M = 0: what is left is an embedding for each language and a Linear from D to V, with its biases."""
    return _draw_sizes((0, 0))(rng)


@exercise.stage(
    "with layers",
    points=1.5,
    public=[_sizes(7, 9, 4, 1, 2), _sizes(8, 8, 4, 2, 2), _sizes(292, 458, 48, 2, 4), _sizes(9000, 11000, 768, 6, 12)],
    decisive=True,
    sealed=True,
)
def _(rng):
    """An encoder layer has 6D^2 + 10D (notebook 05). A decoder layer has one more attention, four D x D matrices with
    biases, and one more norm.
    """
    return _draw_sizes((1, 12))(rng)


exercise.mistake(
    "the decoder is taken for a second encoder",
    "A decoder layer also reads the encoder: a cross-attention of four more D x D matrices, and its norm.",
    _formula((S + V) * D + 2 * M * ENCODER_LAYER + V * (D + 1)),
)

exercise.mistake(
    "matrices for each head",
    "The heads share the matrices of an attention: each of the four is D x D, whatever A is.",
    _formula((S + V) * D + M * (ENCODER_LAYER + DECODER_LAYER + 12 * D**2 * (A - 1)) + V * (D + 1)),
)

exercise.mistake(
    "one layer in place of M",
    "There are M layers in the encoder and M in the decoder: multiply what one of each has by M.",
    _formula((S + V) * D + ENCODER_LAYER + DECODER_LAYER + V * (D + 1)),
)

exercise.mistake(
    "the norm of the cross-attention is lost",
    "Each of the three parts of a decoder layer has a norm of 2D numbers.",
    _formula((S + V) * D + M * (ENCODER_LAYER + DECODER_LAYER - 2 * D) + V * (D + 1)),
)

exercise.mistake(
    "the biases of the cross-attention are lost",
    "Its four projections have a bias of D numbers each, as in any attention.",
    _formula((S + V) * D + M * (ENCODER_LAYER + DECODER_LAYER - 4 * D) + V * (D + 1)),
)

exercise.mistake(
    "one embedding in place of two",
    "Each language has its own embedding: S times D for the words that are read, V times D for those "
    "written; and the "
    "head has a matrix of its own, it does not share that of an embedding.",
    _formula(S * D + M * (ENCODER_LAYER + DECODER_LAYER) + V * (D + 1)),
)

exercise.mistake(
    "the head is lost",
    "The head, from D to V, is the last part: V (D + 1) with its biases.",
    _formula((S + V) * D + M * (ENCODER_LAYER + DECODER_LAYER)),
)

exercise.mistake(
    "the head has no bias",
    "A Linear from D to V has V biases.",
    _formula((S + V) * D + M * (ENCODER_LAYER + DECODER_LAYER) + V * D),
)

exercise.mistake(
    "the head gives words of the source",
    "The model writes the target language: its head has V outputs, not S.",
    _formula((S + V) * D + M * (ENCODER_LAYER + DECODER_LAYER) + S * (D + 1)),
)

exercise.mistake(
    "the heads multiply the weights",
    "Heads share the rows of one matrix (notebook 05): A is not in the formula.",
    _formula((S + V) * D + M * (ENCODER_LAYER + DECODER_LAYER + 9 * (A - 1) * (D**2 + D)) + V * (D + 1)),
)

exercise.mistake(
    "M layers in the decoder only",
    "The encoder has M layers, and the decoder has M layers of its own.",
    _formula((S + V) * D + ENCODER_LAYER + M * DECODER_LAYER + V * (D + 1)),
)
