"""Exercise visible_positions of notebook 07."""

from __future__ import annotations

import random

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw
from tutor.checking.answers import Question

exercise = Definition(minutes=8, difficulty=1)


@exercise.reference
def visible_positions(kind: str, i: int, n: int) -> set[int]:
    if kind not in ("causal", "masked"):
        raise ValueError(f"kind {kind!r} is unknown: take 'causal' or 'masked'")
    return set(range(i + 1 if kind == "causal" else n))


exercise.by_hand(Question(("causal", 3, 5)), part=lambda seen: [position in seen for position in range(5)])


def _positions(kind: str) -> Draw:
    def draw(rng: random.Random) -> list[Question]:
        sizes = rng.sample(range(5, 12), 3)
        return [Question((kind, rng.randrange(1, n - 1), n)) for n in sizes]

    return draw


# Kinds that do not exist: other spellings, what begins like a kind or is a part of one, and other names.
NO_KINDS = (
    "Causal",
    "Masked",
    "CAUSAL",
    "",
    "mask",
    "caus",
    "masked ",
    "c",
    "m",
    "causal masked",
    "bert",
    "gpt",
    "both",
)


def _large(kind: str, rng: random.Random) -> list[Question]:
    """Returns questions on a long text, about a position near each end: no table is that large, and no window."""
    n = rng.randint(900, 1000)
    return [Question((kind, i, n)) for i in (rng.randint(720, n - 60), rng.randint(20, 60))]


@exercise.stage(
    "a causal model",
    points=0.5,
    public=[Question(("causal", *pair)) for pair in ((2, 5), (1, 6), (700, 900), (40, 300))],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Row i of the causal mask of notebook 01: which positions are not blocked? Its own position is one of them. The
    set holds whole numbers of Python: `.tolist()` or `int()` makes them of a tensor.
    """
    return [*_positions("causal")(rng), *_large("causal", rng)]


@exercise.stage(
    "a masked model",
    points=0.5,
    public=[Question(("masked", *pair)) for pair in ((2, 5), (1, 6), (700, 900), (40, 300))],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """There is no causal mask at all: which of the n positions are blocked?"""
    return [*_positions("masked")(rng), *_large("masked", rng)]


@exercise.stage(
    "the first and the last place",
    points=0.75,
    public=[Question((kind, *pair)) for kind in ("causal", "masked") for pair in ((0, 4), (3, 4), (0, 1))],
)
def _(rng: random.Random) -> list[Question]:
    """At the last position both models see the same. At the first, the causal one sees only itself."""
    return [Question((kind, i, n)) for n in (rng.randint(5, 9), 1) for kind in ("causal", "masked") for i in {0, n - 1}]


@exercise.stage(
    "another kind: a ValueError",
    points=0.25,
    public=[Question((kind, index % 3, 3)) for index, kind in enumerate(NO_KINDS)],
    raises="ValueError",
)
def _(rng: random.Random) -> list[Question]:
    """Whoever asks for a kind that does not exist has made a spelling mistake and wants to hear of it. A kind is
    compared as a whole, with ==.
    """
    kinds = rng.sample(NO_KINDS, len(NO_KINDS))
    return [Question((kind, rng.randrange(n), n)) for kind in kinds for n in [rng.randint(1, 5)]]


for kind in ("causal", "masked"):

    @exercise.corners(f"a {kind} model", n=(1, 2, range(33, 40), range(901, 990)), position=("first", "middle", "last"))
    def _(rng: random.Random, n: int, position: str, kind: str = kind) -> Question:
        return Question((kind, {"first": 0, "middle": n // 2, "last": n - 1}[position], n))
