"""Exercise parameter_formulas of notebook 05."""

from __future__ import annotations

import random
from typing import Any

from sympy import Expr, Integer

from grading.definitions.definition import Definition, Stage
from grading.exercises.draws import both
from tutor.checking.answers import Question

from ._common import A, C, D, F, L, V, _draw_edges, _draw_points, _edges, _point

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


def _formulas_without(*endings: str) -> dict[str, Expr]:
    return {n: f for n, f in _formulas().items() if not n.endswith(endings)}


def _for_each_head(weight: Expr, bias: Expr) -> dict[str, Expr]:
    """Returns the formulas with A times this weight and this bias in query, key and value."""
    sizes = {f"{LAYER}.attention.{name}.weight": A * weight for name in PROJECTIONS[:3]}
    return _formulas() | sizes | {f"{LAYER}.attention.{name}.bias": A * bias for name in PROJECTIONS[:3]}


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
def _(rng):
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


@exercise.mistake("biases are lost")
def _():
    """Each Linear and each norm has a bias: one number for each output."""
    return _formulas_without("bias")


@exercise.mistake("biases are set to 0")
def _():
    """A bias has one number for each output, and it trains."""
    return {n: Integer(0) if n.endswith("bias") else f for n, f in _formulas().items()}


@exercise.mistake("a bias is one number")
def _():
    """A bias has one number for each output: D, F or C of them."""
    return {n: Integer(1) if n.endswith("bias") else f for n, f in _formulas().items()}


@exercise.mistake("the heads multiply the weights")
def _():
    """However many heads there are, they share one D x D matrix: each head works on its own D/A rows."""
    return _formulas(projection=A * D**2)


@exercise.mistake("the heads multiply weights and biases")
def _():
    """However many heads there are, they share D x D matrices: each head works on its own D/A rows of them."""
    return _formulas(projection=A * D**2, projection_bias=A * D)


@exercise.mistake("the heads multiply query, key and value")
def _():
    """However many heads there are, they share one query, one key and one value matrix: each head works on its own D/A
    rows.
    """
    return _for_each_head(D**2, D)


@exercise.mistake("the heads multiply the weights of query, key and value")
def _():
    """However many heads there are, they share one query, one key and one value matrix: each head works on its own D/A
    rows.
    """
    return _for_each_head(D**2, D / A)


@exercise.mistake("the biases of the Linears are lost")
def _():
    """Each Linear has a bias too, as the norms have: one number for each output."""
    return {n: f for n, f in _formulas().items() if not n.endswith("bias") or "norm" in n}


@exercise.mistake("C is taken to be 2")
def _():
    """A classifier may have any number of classes: write C."""
    return _formulas(head=2 * D, head_bias=Integer(2))


@exercise.mistake("only one head is counted")
def _():
    """D/A rows belong to one head; the matrix holds those of all A heads: D rows."""
    return _formulas(projection=D**2 / A, projection_bias=D / A)


@exercise.mistake("F is taken to be D")
def _():
    """The feed-forward part has its own width F; F = D is only the default."""
    return _formulas(hidden=D**2, hidden_bias=D, output=D**2)


@exercise.mistake("the two biases of the feed-forward part are exchanged")
def _():
    """A bias has one number for each output: hidden puts out F numbers, output D."""
    return _formulas(hidden_bias=D, output_bias=F)


@exercise.mistake("a bias has one number for each input")
def _():
    """A bias is added to the outputs: it has one number for each of these."""
    return _formulas(hidden_bias=D, output_bias=F, head_bias=D)


@exercise.mistake("a norm is taken for a matrix")
def _():
    """A norm keeps the D numbers apart: a vector of weights and a vector of biases, D numbers each."""
    return {n: D**2 if n.endswith("norm.weight") else f for n, f in _formulas().items()}


@exercise.mistake("the norms are lost")
def _():
    """A LayerNorm has parameters too: a weight and a bias, D numbers each."""
    return {n: f for n, f in _formulas().items() if "norm" not in n}


@exercise.mistake("the head has V outputs")
def _():
    """Write C for the outputs of the head: V for a language model, but 2 for a review that is good or bad."""
    return _formulas(head=V * D, head_bias=V)


@exercise.mistake("the head bias is lost")
def _():
    """The head is a Linear with a bias: one number for each of its C outputs."""
    return _formulas_without("head.bias")


@exercise.mistake("positions are counted")
def _():
    """Sinusoidal positions are a buffer: named_parameters() does not list them, they do not train."""
    return _formulas() | {"base.position": L * D}
