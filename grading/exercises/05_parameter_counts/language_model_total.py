"""Exercise language_model_total of notebook 05."""

from __future__ import annotations

from sympy import Expr

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import both
from tutor.checking.answers import Ask

from ._common import (
    BLOCK,
    EMBEDDING,
    HEAD,
    C,
    D,
    M,
    V,
    _draw_edges,
    _draw_points,
    _draw_small,
    _edges,
    _formula,
    _point,
    _whole_model_mistakes,
)


def language_model_total() -> Expr:
    return (EMBEDDING + M * BLOCK + HEAD).subs(C, V)


EXERCISE = Exercise(
    language_model_total,
    [
        Stage(
            "small models: by hand",
            0.5,
            "With V = 10, D = 4 and M = 1 the embedding has 10 * 4 numbers, the layer those of the picture, the head "
            "10 * 4 and 10 biases. Then try M = 2: everything of a layer comes twice.",
            [Ask(at=_point(C=3)), Ask(at=_point(V=23, D=6, M=2, C=5))],
            _draw_small,
        ),
        Stage(
            "any vocabulary, width and number of layers",
            1.5,
            "One embedding, M layers, one head with a bias for each of the V words.",
            [Ask(at=_point(V=50001, D=200, M=4, C=2)), Ask(at=_point(V=977, D=30, M=6, A=3, C=5)), *_edges()],
            both(_draw_points(4, "C"), _draw_edges()),
            sealed=True,
            decisive=True,
        ),
    ],
    [
        *_whole_model_mistakes(V * (D + 1)),
        Mistake(
            "the head has C outputs",
            "The head of a language model scores all V words: the formula has V, D and M in it, and no C.",
            _formula(EMBEDDING + M * BLOCK + HEAD),
        ),
    ],
    hints=(
        (
            "A language model is an embedding, $M$ layers and a head, one after the other. Which of the three grow "
            "with the vocabulary? Which comes $M$ times, with everything that is in it? How many outputs has the "
            "head, and does each of them have a bias?"
        ),
        (
            "Three words, $D = F = 2$, two layers. The embedding has $3 \\cdot 2 = 6$ numbers. A layer has four "
            "Linears and two more, all from 2 to 2, so $6 \\cdot (4 + 2) = 36$, and two norms with 4 each: 44. Two "
            "layers: 88. The head goes from 2 numbers to 3 scores: 6 weights and 3 biases, 9. Together 103.\n\n"
            "Neither positions nor heads have appeared: sinusoids are computed, and heads only split the rows of a "
            "matrix."
        ),
        (
            "Three terms, two of them left open: $$V D + M \\cdot (\\ldots) + (\\ldots)$$ The first bracket is a "
            "whole layer at $F = D$, biases and norms too: your `layer_total().subs(F, D)`, or the same written out. "
            "The second one is a Linear from $D$ numbers to one score for each word, with its biases.\n\n"
            "Only V, D and M may be left in the formula. Test: `language_model_total().subs({V: 3, D: 2, M: 2})` "
            "must be 103, and at `{V: 10, D: 4, M: 1}` the 226 of the text."
        ),
    ),
)
