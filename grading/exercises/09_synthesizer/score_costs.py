"""Exercise score_costs of notebook 09."""

from __future__ import annotations

import random
from collections.abc import Callable

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


def _changed_costs(**changed: Expr) -> Callable[[], dict[str, Expr]]:
    return lambda: _costs(**changed)


def _cost_stage(name: str, points: float, look: str, *entries: str) -> Stage:
    places = [{"D": 6, "A": 3, "N": 10, "L": 4}, {"D": 64, "A": 8, "N": 100, "L": 37}]

    def draw(rng: random.Random) -> list[Question]:
        asks = []
        for _ in range(2):
            heads, width, most = rng.randint(3, 9), rng.randint(10, 40), rng.randint(300, 900)
            at = {"D": heads * width, "A": heads, "N": most, "L": rng.randint(30, 250)}
            asks.append(Question(at=at, entries=entries))
        return asks

    decisive = "dense products" in entries  # what it saves, and what remains
    asks = [Question(at=place, entries=entries) for place in places]
    return Stage(name, points, look, asks, draw, sealed=True, decisive=decisive)


@exercise.stage("a dict with the six names", points=0.25, public=[Question(probe="names")])
def _(rng):
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


exercise.mistake(
    "biases are lost",
    "query, key and hidden have a bias of D numbers each, and each head has N numbers b2.",
    _changed_costs(key_query_parameters=2 * D**2, dense_parameters=D**2 + D * N),
)

exercise.mistake(
    "the biases of the layers are lost",
    "query, key and hidden are nn.Linear layers, and each has a bias of D numbers.",
    _changed_costs(key_query_parameters=2 * D**2, dense_parameters=D**2 + D * N + A * N),
)

exercise.mistake(
    "b2 is lost",
    "Each of the A heads adds its own b2: N numbers each.",
    _changed_costs(dense_parameters=LINEAR + D * N),
)

exercise.mistake(
    "b2 is counted for one head",
    "Each of the A heads has its own b2: A times N numbers.",
    _changed_costs(dense_parameters=LINEAR + D * N + N),
)

exercise.mistake(
    "B is counted for one head",
    "D/A rows belong to the B of one head. There are A of them, so D rows in all.",
    _changed_costs(dense_parameters=LINEAR + D / A * N + A * N),
)

exercise.mistake(
    "every head has a B as wide as the model",
    "The heads share the width: the B of one head has D/A rows, not D.",
    _changed_costs(dense_parameters=LINEAR + A * D * N + A * N),
)

exercise.mistake(
    "B is as long as the sentence",
    "B is made before any sentence is seen, for the longest one: N columns. It is only cut to L for a sentence.",
    _changed_costs(dense_parameters=LINEAR + D * L + A * L, random_parameters=A * L**2),
)

exercise.mistake(
    "one square is counted",
    "Each of the A heads has its own square of N times N scores.",
    _changed_costs(random_parameters=N**2),
)

exercise.mistake(
    "value and output are counted",
    "Count what makes the scores. Value and output are the same in all three kinds.",
    _changed_costs(
        key_query_parameters=4 * LINEAR,
        dense_parameters=3 * LINEAR + D * N + A * N,
        random_parameters=2 * LINEAR + A * N**2,
    ),
)

exercise.mistake(
    "the layers' products are lost",
    "Queries, keys and hidden have to be made first: (L, D) @ (D, D) takes L*D*D products.",
    _changed_costs(key_query_products=L**2 * D, dense_products=L**2 * D),
)

exercise.mistake(
    "the products with the square are lost",
    "The last step has a cost, too: for each head (L, D/A) @ (D/A, L), in all L*L*D products.",
    _changed_costs(key_query_products=2 * L * D**2, dense_products=L * D**2),
)

exercise.mistake(
    "the heads multiply the products",
    "A head has D/A numbers of a token, so its square takes L*L*D/A products; A heads take L*L*D.",
    _changed_costs(key_query_products=2 * L * D**2 + A * L**2 * D, dense_products=L * D**2 + A * L**2 * D),
)

exercise.mistake(
    "the products of one head",
    "L*L*D/A is the square of one head. There are A heads.",
    _changed_costs(key_query_products=2 * L * D**2 + L**2 * D / A, dense_products=L * D**2 + L**2 * D / A),
)

exercise.mistake(
    "B is used without a cut",
    "B is cut to L columns before the product: (L, D/A) @ (D/A, L) for each head.",
    _changed_costs(dense_products=L * D**2 + L * N * D),
)

exercise.mistake(
    "the dense synthesizer has no square",
    "It compares no tokens, but it still makes a score for each pair of places: L rows of L numbers, each a "
    "sum of D/A products in each head.",
    _changed_costs(dense_products=L * D**2),
)

exercise.mistake(
    "queries and keys are counted once",
    "Queries and keys come from two layers: twice (L, D) @ (D, D).",
    _changed_costs(key_query_parameters=LINEAR, key_query_products=L * D**2 + L**2 * D),
)

exercise.mistake(
    "random scores cost products",
    "Nothing is multiplied: the scores are read from the parameters.",
    _changed_costs(random_products=L**2),
)
