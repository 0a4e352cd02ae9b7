"""Exercise parameter_formulas of notebook 05."""

from __future__ import annotations

import random
from typing import Any

from sympy import Expr

from grading.definitions.definition import Definition, Stage
from grading.exercises.draws import both
from helpers.models import (
    Classifier,  # noqa: F401 - known mistakes use it
    LanguageModel,  # noqa: F401 - known mistakes use it
    TransformerBase,  # noqa: F401 - known mistakes use it
)
from tutor.checking.answers import Question

from ._common import C, D, F, V, _draw_edges, _draw_points, _edges, _point

LAYER = "base.layers.0"
PROJECTIONS = ("query", "key", "value", "output")


exercise = Definition(minutes=30, difficulty=2)


@exercise.reference
def parameter_formulas() -> dict[str, Expr]:
    return _formulas()


def _formulas(
    projection: Expr = D**2,
    projection_bias: Expr = D,
    hidden: Expr = F * D,
    hidden_bias: Expr = F,
    output: Expr = D * F,
    output_bias: Expr = D,
    norm: Expr = D,
    embedding: Expr = V * D,
    head: Expr = C * D,
    head_bias: Expr = C,
) -> dict[str, Expr]:
    formulas = {"base.embedding.weight": embedding}
    for name in PROJECTIONS:
        formulas[f"{LAYER}.attention.{name}.weight"] = projection
        formulas[f"{LAYER}.attention.{name}.bias"] = projection_bias
    for name, pair in {"hidden": (hidden, hidden_bias), "output": (output, output_bias)}.items():
        (
            formulas[f"{LAYER}.feed_forward.{name}.weight"],
            formulas[f"{LAYER}.feed_forward.{name}.bias"],
        ) = pair
    for name in ("attention_norm", "feed_forward_norm"):
        formulas[f"{LAYER}.{name}.weight"] = formulas[f"{LAYER}.{name}.bias"] = norm
    return formulas | {"head.weight": head, "head.bias": head_bias}


def _entries(*patterns: str) -> dict[str, Any]:
    points = [_point(V=50, D=6, F=11, C=3, A=2), _point(V=64, D=8, F=32, C=7, A=4)]

    def draw(rng: random.Random) -> list[Question]:
        return [Question(at=ask.at, entries=patterns) for ask in _draw_points(2, "F", "C")(rng)]

    return {
        "public": [*(Question(at=point, entries=patterns) for point in points), *_edges(any_f=True, entries=patterns)],
        "draw": both(draw, _draw_edges(any_f=True, entries=patterns)),
        "sealed": True,
    }


@exercise.stage("one entry for each parameter, under its own name", points=0.5, public=[Question(probe="names")])
def _(rng: random.Random) -> list[Question]:
    """Print the names of example.named_parameters(): these 19 names are the keys."""
    return [Question(probe="names")]


exercise.add(
    Stage(
        "the embedding and the head",
        0.5,
        "The embedding has one row of D numbers for each of V words; the head one row of D numbers, and "
        "one bias, for each of C classes.",
        **_entries("base.embedding.*", "head.*"),
    ),
    Stage(
        "the attention",
        1,
        "Each of the four projections turns D numbers into D numbers, whatever D is, an odd number too. Compare with "
        "A = 1 and A = 4 heads in the table above.",
        **_entries("*.attention.*"),
        decisive=True,
    ),
    Stage(
        "the feed-forward part",
        1,
        "hidden turns D numbers into F, output turns F into D; a bias has one number for each output.",
        **_entries("*.feed_forward.*"),
    ),
    Stage(
        "the norms",
        1,
        "A norm multiplies each of D numbers by a weight of its own and adds a bias of its own.",
        **_entries("*_norm.*"),
    ),
)
