"""Exercise frozen_total of notebook 05."""

from __future__ import annotations

from sympy import Expr

from grading.exercise import Exercise, Mistake, Stage
from helpers.checking.answers import Ask

from ._common import BLOCK, EMBEDDING, HEAD, C, D, M, V, _draw_points, _draw_small, _formula, _point


def frozen_total() -> Expr:
    return HEAD


EXERCISE = Exercise(
    frozen_total,
    [
        Stage(
            "small models: by hand",
            0.5,
            "Only the head trains: with D = 4 and C = 2 it has 2 rows of 4 numbers, and 2 biases.",
            [Ask(at=_point(C=2)), Ask(at=_point(V=23, D=6, M=2, C=3))],
            _draw_small,
        ),
        Stage(
            "any size",
            0.5,
            "Whatever V and M are, they are in the frozen base.",
            [Ask(at=_point(V=50001, D=200, M=4, C=2)), Ask(at=_point(V=977, D=30, M=6, A=3, C=5))],
            _draw_points(3, "C"),
            sealed=True,
            decisive=True,
        ),
    ],
    [
        Mistake(
            "the head bias is lost",
            "The head trains a bias for each class, too.",
            _formula(C * D),
        ),
        Mistake(
            "the frozen parameters are counted too",
            "This is the whole classifier. Count what still trains when the base is frozen.",
            _formula(EMBEDDING + M * BLOCK + HEAD),
        ),
        Mistake(
            "the frozen parameters are counted in place of the others",
            "This is the base, which is frozen. Count what still trains.",
            _formula(EMBEDDING + M * BLOCK),
        ),
        Mistake(
            "the bias of the head is one number",
            "The head has one bias for each class.",
            _formula(C * D + 1),
        ),
        Mistake(
            "the bias of the head has D numbers",
            "The head has one bias for each of its C outputs, not for each of its D inputs.",
            _formula(C * D + D),
        ),
        Mistake(
            "C is taken to be 2",
            "A classifier may have any number of classes: write C.",
            _formula(2 * (D + 1)),
        ),
        Mistake(
            "the embedding trains",
            "The base is the embedding and the layers: all of it is frozen.",
            _formula(EMBEDDING + HEAD),
        ),
        Mistake(
            "the last layer trains",
            "The base is the embedding and all its layers: all of it is frozen.",
            _formula(BLOCK + HEAD),
        ),
        Mistake(
            "the head has V outputs",
            "A classifier has one output for each class: C, not V.",
            _formula(V * (D + 1)),
        ),
    ],
    hints=(
        (
            "The base of the classifier stands still. What belongs to the base: the embedding, all the layers, or "
            "both? What is left of the model, and which of the letters V, D, M and C can still have an influence on "
            "its size?"
        ),
        (
            "$D = 2$ and $C = 4$: the head has 4 rows of 2 weights and 4 biases, 12 numbers. These 12 train whether "
            "the vocabulary has 3 words or 50,001, and whether there are 2 layers or 20, since all of that is "
            "frozen. At $D = 200$ and $C = 2$ you know the number already: 402."
        ),
        (
            "Write down the terms of `classifier_total`, and cross out those that belong to the base: the embedding, "
            "and everything that is multiplied by $M$. What is left has the form $$C \\cdot (\\ldots)$$ with what "
            "*one* output costs in the bracket: one row of weights, and one more number. Test: "
            "`frozen_total().subs({D: 2, C: 4})` must be 12, and at `{D: 200, C: 2}` it must be 402."
        ),
    ),
)
