"""Exercise parameter_formulas of notebook 05."""

from __future__ import annotations

import random
from typing import Any

from sympy import Expr, Integer

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import both
from tutor.checking.answers import Ask

from ._common import A, C, D, F, L, V, _draw_edges, _draw_points, _edges, _point

LAYER = "base.layers.0"
PROJECTIONS = ("query", "key", "value", "output")


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

    def draw(rng: random.Random) -> list[Ask]:
        return [Ask(at=ask.at, entries=patterns) for ask in _draw_points(2, "F", "C")(rng)]

    return {
        "public": [*(Ask(at=point, entries=patterns) for point in points), *_edges(any_f=True, entries=patterns)],
        "draw": both(draw, _draw_edges(any_f=True, entries=patterns)),
        "sealed": True,
    }


EXERCISE = Exercise(
    parameter_formulas,
    [
        Stage(
            "one entry for each parameter, under its own name",
            0.5,
            "Print the names of example.named_parameters(): these 19 names are the keys.",
            [Ask(take="names")],
            lambda rng: [Ask(take="names")],
        ),
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
            "Each of the four projections turns D numbers into D numbers. Compare with A = 1 and A = 4 heads "
            "in the table above.",
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
    ],
    [
        Mistake(
            "biases are lost",
            "Each Linear and each norm has a bias: one number for each output.",
            lambda: _formulas_without("bias"),
        ),
        Mistake(
            "biases are set to 0",
            "A bias has one number for each output, and it trains.",
            lambda: {n: Integer(0) if n.endswith("bias") else f for n, f in _formulas().items()},
        ),
        Mistake(
            "a bias is one number",
            "A bias has one number for each output: D, F or C of them.",
            lambda: {n: Integer(1) if n.endswith("bias") else f for n, f in _formulas().items()},
        ),
        Mistake(
            "the heads multiply the weights",
            "A heads do not have a D x D matrix each. They share one: each head works on its own D/A rows.",
            lambda: _formulas(projection=A * D**2),
        ),
        Mistake(
            "the heads multiply weights and biases",
            "A heads do not have D x D matrices of their own. They share one: each works on its own D/A rows.",
            lambda: _formulas(projection=A * D**2, projection_bias=A * D),
        ),
        Mistake(
            "the heads multiply query, key and value",
            "A heads do not have query, key and value matrices of their own. They share one of each: each head works "
            "on "
            "its own D/A rows.",
            lambda: _for_each_head(D**2, D),
        ),
        Mistake(
            "the heads multiply the weights of query, key and value",
            "A heads do not have query, key and value matrices of their own. They share one of each: each head works "
            "on "
            "its own D/A rows.",
            lambda: _for_each_head(D**2, D / A),
        ),
        Mistake(
            "the biases of the Linears are lost",
            "Each Linear has a bias too, as the norms have: one number for each output.",
            lambda: {n: f for n, f in _formulas().items() if not n.endswith("bias") or "norm" in n},
        ),
        Mistake(
            "C is taken to be 2",
            "A classifier may have any number of classes: write C.",
            lambda: _formulas(head=2 * D, head_bias=Integer(2)),
        ),
        Mistake(
            "only one head is counted",
            "D/A rows belong to one head; the matrix holds those of all A heads: D rows.",
            lambda: _formulas(projection=D**2 / A, projection_bias=D / A),
        ),
        Mistake(
            "F is taken to be D",
            "The feed-forward part has its own width F; F = D is only the default.",
            lambda: _formulas(hidden=D**2, hidden_bias=D, output=D**2),
        ),
        Mistake(
            "the two biases of the feed-forward part are exchanged",
            "A bias has one number for each output: hidden puts out F numbers, output D.",
            lambda: _formulas(hidden_bias=D, output_bias=F),
        ),
        Mistake(
            "a bias has one number for each input",
            "A bias is added to the outputs: it has one number for each of these.",
            lambda: _formulas(hidden_bias=D, output_bias=F, head_bias=D),
        ),
        Mistake(
            "a norm is taken for a matrix",
            "A norm keeps the D numbers apart: a vector of weights and a vector of biases, D numbers each.",
            lambda: {n: D**2 if n.endswith("norm.weight") else f for n, f in _formulas().items()},
        ),
        Mistake(
            "the norms are lost",
            "A LayerNorm has parameters too: a weight and a bias, D numbers each.",
            lambda: {n: f for n, f in _formulas().items() if "norm" not in n},
        ),
        Mistake(
            "the head has V outputs",
            "Write C for the outputs of the head: V for a language model, but 2 for a review that is good or bad.",
            lambda: _formulas(head=V * D, head_bias=V),
        ),
        Mistake(
            "the head bias is lost",
            "The head is a Linear with a bias: one number for each of its C outputs.",
            lambda: _formulas_without("head.bias"),
        ),
        Mistake(
            "positions are counted",
            "Sinusoidal positions are a buffer: named_parameters() does not list them, they do not train.",
            lambda: _formulas() | {"base.position": L * D},
        ),
    ],
    hints=(
        (
            "All sizes of `example` differ: 11, 4, 6 and 3. Which letter is which? Read the printed shapes with "
            "these letters: what is `(6, 4)`, and what `(3,)`? And which letter never appears in a shape, whatever "
            "its value, as the table with 1, 2, 4 and 12 heads shows?"
        ),
        (
            "Two rules are enough.\n"
            "- A `Linear` from $X$ numbers to $Y$ numbers has a weight of $Y$ rows of $X$, so $X \\cdot Y$ numbers, "
            "and a bias with one number for each *output*: $Y$. From $F$ to 7 it would be $7F$ and 7.\n"
            "- A norm treats each of the $D$ numbers by itself: a vector of weights and a vector of biases, of the "
            "same length.\n\n"
            "The embedding has one row of $D$ numbers for each word. All four projections of the attention go from "
            "$D$ to $D$; the feed-forward part goes from $D$ to $F$ and back."
        ),
        (
            "Let a loop write what repeats itself:\n"
            "```python\n"
            'layer = "base.layers.0"\n'
            'formulas = {"base.embedding.weight": ...}\n'
            'for name in ("query", "key", "value", "output"):\n'
            '    formulas[f"{layer}.attention.{name}.weight"] = ...  # from D to D\n'
            '    formulas[f"{layer}.attention.{name}.bias"] = ...\n'
            "# feed_forward.hidden from D to F, feed_forward.output from F to D\n"
            "# attention_norm and feed_forward_norm\n"
            '# head, from D to C: these two names have no "base." in front\n'
            "```\n"
            "Each part has a `.weight` and a `.bias`, but for the embedding. `len(formulas)` must be 19. Then put in "
            "V = 11, D = 4, F = 6, C = 3 and compare with the shapes printed above, name by name."
        ),
    ),
)
