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


def _stage(name: str, points: float, look: str, *entries: str) -> Stage:
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
    return Stage(name, points, look, asks, draw, sealed=True, decisive=decisive)


@exercise.stage("a dict with the nine names", points=0.25, public=[Question(probe="names")])
def _(rng):
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


exercise.mistake(
    "the path of attention is the length",
    "The last token looks at the first one itself: one look, however long the sentence.",
    _changed(attention_path=L),
)

exercise.mistake(
    "the path of attention is that of a recurrence",
    "The last token looks at the first one itself: one look, however long the sentence.",
    _changed(attention_path=L - 1),
)

exercise.mistake(
    "attention waits for its tokens, too",
    "While a sentence is read, all rows of scores can be made at once. It is only in writing that a "
    "token waits "
    "for the one before.",
    _changed(attention_steps=L, window_steps=L),
)

exercise.mistake(
    "layers are counted as steps",
    "Count for one layer: within it no token waits for another one's result. That more layers may be needed is "
    "told by the path.",
    _changed(window_steps=sympy.ceiling((L - 1) / (W - 1))),
)

exercise.mistake(
    "a recurrence does not wait",
    "State t is made from state t - 1: L steps, one after the other.",
    _changed(recurrence_steps=Integer(1)),
)

exercise.mistake(
    "the first state is not counted as a step",
    "The first state waits for nobody, but it must be worked out, too: L states, one after the other.",
    _changed(recurrence_steps=L - 1),
)

exercise.mistake(
    "the path of a recurrence is one step too long",
    "Token 0 is already in the first state. From there to the last state there are L - 1 steps.",
    _changed(recurrence_path=L),
)

exercise.mistake(
    "the heads multiply the products of attention",
    "A head has D/A numbers of a token, so its square takes L*L*D/A products, twice; A heads take 2*L*L*D.",
    _changed(attention_products=4 * L * D**2 + 2 * A * L**2 * D, window_products=4 * L * D**2 + 2 * A * L * W * D),
)

exercise.mistake(
    "the products of one head",
    "L*L*D/A is the square of one head. There are A heads.",
    _changed(attention_products=4 * L * D**2 + 2 * L**2 * D / A, window_products=4 * L * D**2 + 2 * L * W * D / A),
)

exercise.mistake(
    "the weighted average is lost",
    "After the scores, the values are averaged: (L, L) @ (L, D/A) in each head, as many products again.",
    _changed(attention_products=4 * L * D**2 + L**2 * D, window_products=4 * L * D**2 + L * W * D),
)

exercise.mistake(
    "value and output are lost",
    "Four layers multiply each token: query, key, value and output.",
    _changed(attention_products=2 * L * D**2 + 2 * L**2 * D, window_products=2 * L * D**2 + 2 * L * W * D),
)

exercise.mistake(
    "the layers of attention are lost",
    "Queries, keys, values and the output have to be made: four times (L, D) @ (D, D).",
    _changed(attention_products=2 * L**2 * D, window_products=2 * L * W * D),
)

exercise.mistake(
    "one third of the recurrence is counted",
    "There is a third for each gate and one for the candidate: both layers have 3D outputs.",
    _changed(recurrence_products=2 * L * D**2),
)

exercise.mistake(
    "only one layer of the recurrence is counted",
    "Two layers multiply in each step: from_input the token, from_state the state, D times 3D each.",
    _changed(recurrence_products=3 * L * D**2),
)

exercise.mistake(
    "one token of the recurrence is counted",
    "6*D*D products are one step. The sentence has L of them.",
    _changed(recurrence_products=6 * D**2),
)

exercise.mistake(
    "the window has a square of its own",
    "Each of L tokens has W scores: L*W of them, not W*W.",
    _changed(window_products=4 * L * D**2 + 2 * W**2 * D),
)

exercise.mistake(
    "the window saves nothing",
    "A token looks at W places only; the other scores are never made.",
    _changed(window_products=4 * L * D**2 + 2 * L**2 * D),
)

exercise.mistake(
    "the path of the window is one look",
    "In one layer a token sees no further than its window. What comes from before it takes more layers.",
    _changed(window_path=Integer(1)),
)

exercise.mistake(
    "the path of the window is the length divided by the window",
    "One place of the window is the token itself, and there are L - 1 places to go: (L - 1)/(W - 1), rounded up.",
    _changed(window_path=sympy.ceiling(L / W)),
)

exercise.mistake(
    "the path of the window is not rounded up",
    "There is no half layer: sympy.ceiling((L - 1)/(W - 1)).",
    _changed(window_path=(L - 1) / (W - 1)),
)
