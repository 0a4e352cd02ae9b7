"""Exercise tensor_shapes of notebook 03."""

from __future__ import annotations

import random

from grading.definitions.definition import Definition, Stage
from grading.exercises.draws import Draw
from tutor.checking.answers import Question

Shapes = dict[str, tuple[int, ...]]


exercise = Definition(minutes=12, difficulty=1)


@exercise.reference
def tensor_shapes(b: int, n: int, d: int, h: int) -> Shapes:
    return {
        "x": (b, n, d),
        "query": (b, n, d),
        "query_heads": (b, h, n, d // h),
        "key_heads_turned": (b, h, d // h, n),
        "scores": (b, h, n, n),
        "weights": (b, h, n, n),
        "mixed": (b, h, n, d // h),
        "merged": (b, n, d),
        "output": (b, n, d),
    }


def _draw_shapes(*entries: str) -> Draw:
    def draw(rng: random.Random) -> list[Question]:
        b, n, h, width = rng.sample(range(2, 18), 4)  # all four different
        sizes = [(b, n, h, width), (1, width, h, n), (n, b, 1, h), (h, 1, b, n), (b, n, n, width), (h, n, b, 1)]
        return [Question((b, n, h * width, h), entries=entries) for b, n, h, width in sizes]

    return draw


def _shape_stage(name: str, points: float, feedback: str, *entries: str) -> Stage:
    """Returns a stage that asks for some of the shapes; those with heads are what the exercise is there for."""
    sizes = ((2, 7, 15, 3), (3, 4, 5, 1), (1, 4, 6, 2), (3, 2, 5, 5))
    asks = [Question((b, n, d, h), entries=entries) for b, n, d, h in sizes]
    return Stage(name, points, feedback, asks, _draw_shapes(*entries), sealed=True, decisive="x" not in entries)


@exercise.stage(
    "a dict with the nine names, each with whole numbers",
    points=0.25,
    public=[Question((2, 7, 15, 3))],
    measure="shapes",
)
def _(rng: random.Random) -> list[Question]:
    """The docstring lists the nine names, in the order in which the tensors are made. The numbers of a shape are whole
    numbers: `/` makes floats, also where nothing is left over; `//` does not.
    """
    return _draw_shapes()(rng)


exercise.add(
    _shape_stage(
        "before and after the heads",
        0.5,
        "Outside the heads every token has d numbers, whatever h is: what goes in is as wide as what comes out.",
        *("x", "query", "merged", "output"),
    ),
    _shape_stage(
        "inside the heads",
        0.75,
        "The d numbers of a token are shared out: h heads with d/h numbers each. The head stands before the token.",
        *("query_heads", "key_heads_turned", "mixed"),
    ),
    _shape_stage(
        "scores and weights",
        0.5,
        "Sentence and head are two axes here, too. Each head has one score for each query and each key; the width of a "
        "head is summed away.",
        *("scores", "weights"),
    ),
)


@exercise.corners("scores and weights", b=(1, range(33, 36)), n=(1, range(65, 70)), h=(1, range(33, 36)), width=(1, 2))
def _(rng: random.Random, b: int, n: int, h: int, width: int) -> Question:
    return Question((b, n, h * width, h), entries=("scores", "weights"))
