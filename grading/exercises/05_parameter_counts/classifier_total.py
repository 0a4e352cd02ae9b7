"""Exercise classifier_total of notebook 05."""

from __future__ import annotations

from sympy import Expr

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import both
from tutor.checking.answers import Ask

from ._common import (
    BLOCK,
    EMBEDDING,
    HEAD,
    D,
    L,
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


def classifier_total() -> Expr:
    return EMBEDDING + M * BLOCK + HEAD


EXERCISE = Exercise(
    classifier_total,
    [
        Stage(
            "small models: by hand",
            0.5,
            "Embedding and layer are those of the language model; with D = 4 and C = 2 the head has 2 rows of 4 "
            "numbers and 2 biases.",
            [Ask(at=_point(C=2)), Ask(at=_point(V=23, D=6, M=2, C=3))],
            _draw_small,
        ),
        Stage(
            "any size",
            1.5,
            "Embedding, M layers, and a head with C outputs in place of V.",
            [Ask(at=_point(V=50001, D=200, M=4, C=2)), Ask(at=_point(V=977, D=30, M=6, A=3, C=5)), *_edges()],
            both(_draw_points(4, "C"), _draw_edges()),
            sealed=True,
            decisive=True,
        ),
    ],
    [
        *_whole_model_mistakes(HEAD),
        Mistake(
            "the head has V outputs",
            "A classifier has one output for each class: C, not V.",
            _formula(EMBEDDING + M * BLOCK + V * (D + 1)),
        ),
        Mistake(
            "C is taken to be 2",
            "A classifier may have any number of classes: write C.",
            _formula(EMBEDDING + M * BLOCK + 2 * (D + 1)),
        ),
        Mistake(
            "the head of the language model is kept",
            "The head of the language model is taken off, and a new one with C outputs is put on.",
            _formula(EMBEDDING + M * BLOCK + V * (D + 1) + HEAD),
        ),
        Mistake(
            "each word has its own head",
            "One head serves all positions: the classifier puts it on the last token only.",
            _formula(EMBEDDING + M * BLOCK + L * HEAD),
        ),
    ],
    hints=(
        (
            "Put the classifier beside the language model: which parts are the same, number for number, and which "
            "one is another? How many outputs has it now? Is one head used for all the tokens, or is there one for "
            "each?"
        ),
        (
            "Three words, $D = F = 2$, two layers and $C = 4$ classes. The embedding (6 numbers) and the two layers "
            "(88) are those of the language model. The head goes from 2 numbers to 4 scores: $4 \\cdot 2 = 8$ "
            "weights and 4 biases, so 12. Together 106. With 5 classes it would be 109: one more row of 2, and one "
            "more bias."
        ),
        (
            "Three terms, as before: $$V D + M \\cdot (\\ldots) + (\\ldots)$$ The embedding and the bracket of the "
            "layers are those of `language_model_total`. The last bracket is a Linear from $D$ to $C$ with its "
            "biases; the head for words is gone altogether.\n\n"
            "Four letters are left: V, D, M and C. Test: `classifier_total().subs({V: 3, D: 2, M: 2, C: 4})` must be "
            "106, and with `C: 5` it must be 109."
        ),
    ),
)
