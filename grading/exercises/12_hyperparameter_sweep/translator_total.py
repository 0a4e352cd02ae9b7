"""Exercise translator_total of notebook 12."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import sympy
from sympy import Expr

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw
from tutor.checking.answers import Ask

S, V, D, M, A = sympy.symbols("S V D M A", positive=True, integer=True)
ENCODER_LAYER, DECODER_LAYER = 6 * D**2 + 10 * D, 10 * D**2 + 16 * D


def translator_total() -> Expr:
    return (S + V) * D + M * (ENCODER_LAYER + DECODER_LAYER) + V * (D + 1)


def _formula(total: Any) -> Callable[[], Any]:
    return lambda: total


def _sizes(words: int, french: int, width: int, layers: int, heads: int) -> Ask:
    return Ask(at={"S": words, "V": french, "D": width, "M": layers, "A": heads})


def _draw_sizes(layers: tuple[int, int]) -> Draw:
    def draw(rng: random.Random) -> list[Ask]:
        def one() -> Ask:
            heads, words = rng.randint(2, 9), rng.randint(50, 9000)
            return _sizes(words, words + rng.randint(7, 900), heads * rng.randint(3, 60), rng.randint(*layers), heads)

        alike = rng.randint(50, 9000)  # two vocabularies of one size are two all the same
        return [*(one() for _ in range(3)), _sizes(alike, alike, 12, rng.randint(*layers), 2)]

    return draw


EXERCISE = Exercise(
    translator_total,
    [
        Stage(
            "without layers: two embeddings and a head",
            0.5,
            "Put M = 0: what is left is an embedding for each language and a Linear from D to V, with its biases.",
            [_sizes(7, 9, 4, 0, 2), _sizes(8, 8, 4, 0, 2)],
            _draw_sizes((0, 0)),
            sealed=True,
        ),
        Stage(
            "with layers",
            1.5,
            "An encoder layer has 6D^2 + 10D (notebook 05). A decoder layer has one more attention, four D x D "
            "matrices with biases, and one more norm.",
            [_sizes(7, 9, 4, 1, 2), _sizes(8, 8, 4, 2, 2), _sizes(292, 458, 48, 2, 4), _sizes(9000, 11000, 768, 6, 12)],
            _draw_sizes((1, 12)),
            decisive=True,
            sealed=True,
        ),
    ],
    [
        Mistake(
            "the decoder is taken for a second encoder",
            "A decoder layer also reads the encoder: a cross-attention of four more D x D matrices, and its norm.",
            _formula((S + V) * D + 2 * M * ENCODER_LAYER + V * (D + 1)),
        ),
        Mistake(
            "the norm of the cross-attention is lost",
            "Each of the three parts of a decoder layer has a norm of 2D numbers.",
            _formula((S + V) * D + M * (ENCODER_LAYER + DECODER_LAYER - 2 * D) + V * (D + 1)),
        ),
        Mistake(
            "the biases of the cross-attention are lost",
            "Its four projections have a bias of D numbers each, as in any attention.",
            _formula((S + V) * D + M * (ENCODER_LAYER + DECODER_LAYER - 4 * D) + V * (D + 1)),
        ),
        Mistake(
            "one embedding in place of two",
            "Each language has its own embedding: S times D for the words that are read, V times D for those "
            "written; and the "
            "head has a matrix of its own, it does not share that of an embedding.",
            _formula(S * D + M * (ENCODER_LAYER + DECODER_LAYER) + V * (D + 1)),
        ),
        Mistake(
            "the head is lost",
            "The head, from D to V, is the last part: V (D + 1) with its biases.",
            _formula((S + V) * D + M * (ENCODER_LAYER + DECODER_LAYER)),
        ),
        Mistake(
            "the head has no bias",
            "A Linear from D to V has V biases.",
            _formula((S + V) * D + M * (ENCODER_LAYER + DECODER_LAYER) + V * D),
        ),
        Mistake(
            "the head gives words of the source",
            "The model writes the target language: its head has V outputs, not S.",
            _formula((S + V) * D + M * (ENCODER_LAYER + DECODER_LAYER) + S * (D + 1)),
        ),
        Mistake(
            "the heads multiply the weights",
            "Heads share the rows of one matrix (notebook 05): A is not in the formula.",
            _formula((S + V) * D + M * (ENCODER_LAYER + DECODER_LAYER + 9 * (A - 1) * (D**2 + D)) + V * (D + 1)),
        ),
        Mistake(
            "M layers in the decoder only",
            "The encoder has M layers, and the decoder has M layers of its own.",
            _formula((S + V) * D + ENCODER_LAYER + M * DECODER_LAYER + V * (D + 1)),
        ),
    ],
    hints=(
        "List the parts before you count: what stands before the layers, in the encoder and in the decoder, and "
        "what stands behind them? A layer of the decoder does something that a layer of the encoder does not: "
        "which part is it, and what comes with each part in post-norm? In the example by hand, 64, 136 and 45 of "
        "the 469 numbers are named. How many are left for the decoder layer with $D = 4$?",
        "Count an encoder layer with $D = 2$, part by part. Attention: four matrices of $2 \\cdot 2$ with 2 biases "
        "each, 24. Feed-forward with $F = D$: two such matrices, 12. Two norms of $2 \\cdot 2$ numbers each, 8. "
        "Together 44, and $6D^2 + 10D = 24 + 20$ is the same. Which of these parts occur once more in a decoder "
        "layer, and which do not? Around the layers, with $S = 3$, $V = 5$: embeddings $3 \\cdot 2 + 5 \\cdot 2 = "
        "16$, and a head with $2 \\cdot 5$ weights and 5 biases. Does the number of heads $A$ change any of this?",
        "The form of the sum, with two brackets left open: $$(S + V)\\, D + M \\cdot \\big(6D^2 + 10D\\big) + M "
        "\\cdot (\\dots) + (\\dots)$$ The first bracket is a decoder layer: an encoder layer, the four projections "
        "of the cross-attention with their biases, and what every part of a layer has behind it. The second one is "
        "the head, a linear layer from $D$ to the words of the language that is *written*, with biases. Both "
        "embeddings and the head have numbers of their own. Test with `.subs({S: 7, V: 9, D: 4, M: 1})`: it must "
        "be 469; with `M: 0` it must be 109.",
    ),
)
