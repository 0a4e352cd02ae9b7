"""Exercise language_model_total of notebook 05."""

from __future__ import annotations

from sympy import Expr

from grading.exercise import Exercise, Mistake, Stage
from helpers.checking.answers import Ask

from ._common import (
    BLOCK,
    EMBEDDING,
    HEAD,
    C,
    D,
    M,
    V,
    _draw_points,
    _draw_small,
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
            [Ask(at=_point(V=50001, D=200, M=4, C=2)), Ask(at=_point(V=977, D=30, M=6, A=3, C=5))],
            _draw_points(4, "C"),
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
)
