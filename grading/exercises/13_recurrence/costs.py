"""Exercise costs of notebook 13."""

from __future__ import annotations

import random
from collections.abc import Callable

import sympy
from sympy import Expr, Integer

from grading.definitions.definition import Definition, Stage
from tutor.checking.answers import Question

D, A, L, W = sympy.symbols("D A L W", positive=True, integer=True)


exercise = Definition(minutes=25, difficulty=2)


@exercise.reference
def costs() -> dict[str, Expr]:
    return _costs()


def _costs(**changed: Expr) -> dict[str, Expr]:
    found = {
        "recurrence products": 6 * L * D**2,
        "recurrence steps": L,
        "recurrence path": L - 1,
        "attention products": 4 * L * D**2 + 2 * L**2 * D,
        "attention steps": Integer(1),
        "attention path": Integer(1),
        "window products": 4 * L * D**2 + 2 * L * W * D,
        "window steps": Integer(1),
        "window path": sympy.ceiling((L - 1) / (W - 1)),
    }
    return found | {name.replace("_", " "): value for name, value in changed.items()}


def _changed(**changed: Expr) -> Callable[[], dict[str, Expr]]:
    return lambda: _costs(**changed)


def _stage(name: str, points: float, feedback: str, *entries: str) -> Stage:
    places = [{"D": 6, "A": 3, "L": 41, "W": 4}, {"D": 64, "A": 8, "L": 64, "W": 8}]
    far = "window path" in entries
    if far:
        places.append({"D": 64, "A": 8, "L": 4097, "W": 4096})

    def draw(rng: random.Random) -> list[Question]:
        """Draws a window that divides the way and one that does not; no size is another one's multiple by chance.

        For the path of a window there is a wide one, too, of whose last step hardly anything is needed.
        """
        asks = []
        for rest in (0, 1):
            heads, window = rng.randint(3, 9), rng.randint(6, 12)
            length = rng.randint(13, 40) * (window - 1) + 1 + rest
            at = {"D": heads * rng.randint(10, 40), "A": heads, "L": length, "W": window}
            asks.append(Question(at=at, entries=entries))
        if far:
            wide = rng.randint(4000, 9000)
            asks.append(
                Question(at={"D": 64, "A": 8, "L": rng.randint(1, 3) * (wide - 1) + 2, "W": wide}, entries=entries)
            )
        return asks

    decisive = bool({"attention path", "recurrence products", "attention products"} & set(entries))
    asks = [Question(at=place, entries=entries) for place in places]
    return Stage(name, points, feedback, asks, draw, sealed=True, decisive=decisive)


@exercise.stage("a dict with the nine names", points=0.25, public=[Question(probe="names")])
def _(rng: random.Random) -> list[Question]:
    """The names are those of the docstring: recurrence, attention and window, each with products, steps and path."""
    return [Question(probe="names")]


exercise.add(
    _stage(
        "products, recurrence",
        0.75,
        "For each of L tokens: from_input multiplies (1, D) with (D, 3D), and from_state does so, too. Biases and "
        "gates do not count.",
        "recurrence products",
    ),
    _stage(
        "products, attention",
        0.75,
        "Four layers (L, D) @ (D, D): query, key, value, output. Then in each of A heads (L, D/A) @ (D/A, "
        "L) for the "
        "scores, and (L, L) @ (L, D/A) for the weighted average.",
        "attention products",
    ),
    _stage(
        "products, window",
        0.5,
        "The four layers stay as they are; a token, also one at the beginning, has W scores in place of L, and "
        "averages W values.",
        "window products",
    ),
    _stage(
        "steps that must wait for another",
        0.5,
        "How many tokens must be worked out one after the other while a sentence is read, the first one included? "
        "State t needs state t - 1; in attention, with a window or without, no token waits for another one's result.",
        "recurrence steps",
        "attention steps",
        "window steps",
    ),
    _stage(
        "path, recurrence and attention",
        0.5,
        "From token 0 to token L - 1: in a recurrence the news goes from state to state; in attention the last "
        "token looks at the first one itself.",
        "recurrence path",
        "attention path",
    ),
    _stage(
        "path, window", 0.75, "It is what layers_to_reach counts, as a formula: sympy.ceiling rounds up.", "window path"
    ),
)

exercise.by_hand(
    Question(at={"D": 2, "A": 1, "L": 5, "W": 2}, entries=("recurrence products", "attention products")),
    part=lambda found: [float(found[f"{kind} products"].to_sympy()) for kind in ("recurrence", "attention")],
)
