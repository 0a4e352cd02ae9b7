"""What several exercises of notebook 05 share."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import sympy
from sympy import Expr

from grading.exercises.draws import Draw
from tutor.checking.answers import Question
from tutor.checking.plain import Model

V, D, F, M, A, C, L = sympy.symbols("V D F M A C L", positive=True, integer=True)

EXACT = 1e-6  # what a count by hand may differ by: nothing

POSITIONS = 2048  # the default max_len of helpers.models: L*D and 2048*D are the same mistake


def _point(symbols: str = "VDFMACL", **values: int) -> dict[str, int]:
    """Returns values for all symbols that an answer may have in it, those of the known mistakes too."""
    point = {"V": 10, "D": 4, "M": 1, "A": 2, "L": POSITIONS} | values
    point.setdefault("F", point["D"])
    point.setdefault("C", point["V"])
    return {name: point[name] for name in symbols}


def _number(formula: Any) -> float:
    """Returns the number of a formula that was worked out at a point."""
    return float(formula.value({}))


def _draw_small(rng: random.Random) -> list[Question]:
    """Draws points to be counted by hand; all sizes differ in all of them, so that no two formulas agree by chance."""
    sizes = zip(
        *(rng.sample(choice, 3) for choice in (range(11, 40), range(3, 9), range(2, 7), range(3, 10))), strict=True
    )
    return [Question(at=_point(V=v, D=d, M=m, C=c, A=4)) for v, d, m, c in sizes]


def _draw_points(count: int, *free: str, symbols: str = "VDFMACL") -> Draw:
    """Draws points; of F and C only those in `free` are chosen apart from D and V."""

    def draw(rng: random.Random) -> list[Question]:
        asks = []
        for number in range(count):
            values = {
                "V": rng.randint(900, 60_000),
                "M": rng.randint(3, 24),
                "A": rng.randint(3, 16),
            }
            values["D"] = rng.randint(20, 800)
            wider = values["D"] + rng.randint(7, 3000)
            choices = {"F": wider if number % 2 == 0 else rng.randint(3, values["D"] - 7), "C": rng.randint(3, 40)}
            values |= {name: choices[name] for name in free}
            asks.append(Question(at=_point(symbols, **values)))
        return asks

    return draw


# Sizes that a formula may forget: an odd width, a vocabulary and a feed-forward part narrower than the width, one class
# and more classes than words, two classes. A formula at F = D gets F = D: it may still have both letters in it.
EDGES: tuple[dict[str, int], ...] = (
    {"V": 7, "D": 31, "F": 12, "M": 5, "A": 3, "C": 1},
    {"V": 5, "D": 3, "F": 17, "M": 9, "A": 4, "C": 40},
    {"V": 110, "D": 10, "F": 9, "M": 2, "A": 5, "C": 2},
)


def _at_edge(edge: dict[str, int], symbols: str, any_f: bool, **settings: Any) -> Question:
    return Question(at=_point(symbols, **(edge if any_f else edge | {"F": edge["D"]})), **settings)


def _edges(symbols: str = "VDFMACL", *, any_f: bool = False, **settings: Any) -> list[Question]:
    return [_at_edge(edge, symbols, any_f, **settings) for edge in EDGES]


def _draw_edges(symbols: str = "VDFMACL", *, any_f: bool = False, **settings: Any) -> Draw:
    """Draws points as those of `EDGES`."""

    def draw(rng: random.Random) -> list[Question]:
        odd, small = 2 * rng.randint(20, 400) + 1, rng.randint(2, 9)
        edges = [
            {"V": odd - rng.randint(3, 30), "D": odd, "F": rng.randint(3, odd - 9), "C": 1},
            {"V": small + 3, "D": small, "F": small + rng.randint(1, 9), "C": small + rng.randint(10, 90)},
            {"V": 10 * small, "D": 6 * small, "F": 5 * small, "C": 2},
        ]
        rest = {"M": rng.randint(3, 20), "A": rng.randint(3, 9)}
        return [_at_edge(edge | rest, symbols, any_f, **settings) for edge in edges]

    return draw


def count_parameters(model: Any, trainable_only: bool = False) -> int:
    numbers = (p for p in model.parameters() if p.requires_grad or not trainable_only)
    return sum(p.numel() for p in numbers)


LINEAR = Model("Linear", {"in_features": 3, "out_features": 2})  # what the text counts by hand, twice

TIED = ("head.weight", "base.embedding.weight")
TIED_IN_ONE = ("base.layers.0.attention_norm.bias", "base.layers.0.attention_norm.weight")
TIED_BIASES = ("base.layers.0.feed_forward_norm.bias", "base.layers.0.attention_norm.bias")


def _base(positions: str = "none", **changes: Any) -> Model:
    shape = {"vocab_size": 10, "d_model": 4, "n_layers": 1, "n_heads": 2, "max_len": 16}
    return Model("TransformerBase", shape | {"positions": positions} | changes)


def _language_model(
    positions: str = "none", *, tie: tuple[str, ...] = (), gradients: float = 0.0, **changes: Any
) -> Model:
    return Model("LanguageModel", {"base": _base(positions, **changes)}, tie=tie, gradients=gradients)


def _classifier(
    n_classes: int = 2, positions: str = "none", *, freeze: tuple[str, ...] = ("base",), **changes: Any
) -> Model:
    arguments = {"base": _base(positions, **changes), "n_classes": n_classes}
    return Model("Classifier", arguments, freeze=freeze)


# Beginnings of names: a part of the base is frozen, or a part of the head too, or the head alone.
PARTS = (("base.embedding",), ("base.layers.0.attention", "head.bias"), ("head",))


def _trained(n_classes: int = 2, **changes: Any) -> Model:
    """Returns a classifier with a frozen base in the middle of its training: what trains has gradients already."""
    return replace(_classifier(n_classes, **changes), gradients=0.5, training=True)


def _shape(rng: random.Random) -> dict[str, Any]:
    width = 4 * rng.randint(2, 4)
    return {
        "vocab_size": rng.randint(11, 40),
        "d_model": width,
        "n_layers": rng.randint(1, 3),
        "d_feedforward": width + rng.randint(1, 9),
        "max_len": rng.randint(17, 30),
        "norm_first": rng.random() < 0.5,
    }


def _draw_models(make: Callable[[random.Random], list[tuple[Any, ...]]]) -> Draw:
    return lambda rng: [Question(inputs) for inputs in make(rng)]


ATTENTION, FEED_FORWARD, NORMS = 4 * (D**2 + D), 2 * D * F + F + D, 4 * D
BLOCK = 6 * D**2 + 10 * D  # a layer at F = D


def layer_total() -> Expr:
    return ATTENTION + FEED_FORWARD + NORMS


EMBEDDING, HEAD = V * D, C * (D + 1)
