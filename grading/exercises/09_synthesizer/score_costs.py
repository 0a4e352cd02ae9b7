"""Exercise score_costs of notebook 09."""

from __future__ import annotations

import random

import sympy
from sympy import Expr, Integer

from grading.definitions.definition import Definition, Stage
from tutor.checking.answers import Question

D, A, N, L = sympy.symbols("D A N L", positive=True, integer=True)

LINEAR = D**2 + D


exercise = Definition(minutes=20, difficulty=2)


@exercise.reference
def score_costs() -> dict[str, Expr]:
    return _costs()


def _costs(**changed: Expr) -> dict[str, Expr]:
    costs = {
        "key-query parameters": 2 * LINEAR,
        "dense parameters": LINEAR + D * N + A * N,
        "random parameters": A * N**2,
        "key-query products": 2 * L * D**2 + L**2 * D,
        "dense products": L * D**2 + L**2 * D,
        "random products": Integer(0),
    }
    return costs | {name.replace("_", " ").replace("key query", "key-query"): value for name, value in changed.items()}


SMALL = {"D": 6, "A": 3, "N": 10, "L": 4}
exercise.by_hand(Question(at=SMALL), part=lambda costs: float(costs["key-query products"].value({})))


def _cost_stage(name: str, points: float, feedback: str, *entries: str) -> Stage:
    places = [SMALL, {"D": 64, "A": 8, "N": 100, "L": 37}]

    def draw(rng: random.Random) -> list[Question]:
        asks = []
        for _ in range(2):
            heads, width, most = rng.randint(3, 9), rng.randint(10, 40), rng.randint(300, 900)
            at = {"D": heads * width, "A": heads, "N": most, "L": rng.randint(30, 250)}
            asks.append(Question(at=at, entries=entries))
        return asks

    decisive = "dense products" in entries  # what it saves, and what remains
    asks = [Question(at=place, entries=entries) for place in places]
    return Stage(name, points, feedback, asks, draw, sealed=True, decisive=decisive)


@exercise.stage("a dict with the six names", points=0.25, public=[Question(probe="names")])
def _(rng: random.Random) -> list[Question]:
    """The names are those of the docstring: three kinds, each with parameters and products."""
    return [Question(probe="names")]


exercise.add(
    _cost_stage(
        "parameters, key-query",
        0.5,
        "Scores need the two layers query and key, each from D to D with a bias. Value and output make no scores.",
        "key-query parameters",
    ),
    _cost_stage(
        "parameters, dense",
        0.75,
        "hidden is a layer from D to D with a bias; each of A heads has a B of D/A rows and N columns, and N "
        "numbers b2.",
        "dense parameters",
    ),
    _cost_stage("parameters, random", 0.5, "Each head has a square of N times N numbers.", "random parameters"),
    _cost_stage(
        "products, key-query",
        0.5,
        "A matrix product (p, q) @ (q, r) takes p*q*r products: twice (L, D) @ (D, D), then for each of A heads "
        "(L, D/A) @ (D/A, L).",
        "key-query products",
    ),
    _cost_stage(
        "products, dense and random",
        0.5,
        "Dense: once (L, D) @ (D, D), then for each of A heads (L, D/A) @ (D/A, L), as B is cut first. Random: "
        "the scores are already there.",
        "dense products",
        "random products",
    ),
)
