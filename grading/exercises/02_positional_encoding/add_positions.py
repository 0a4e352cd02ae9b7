"""Exercise add_positions of notebook 02."""

from __future__ import annotations

import random
from dataclasses import replace

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, seed_from
from tutor.checking.answers import Question

from ._common import _values

exercise = Definition(minutes=8, difficulty=1, trains=True)


@exercise.reference
def add_positions(x: Tensor, encoding: Tensor) -> Tensor:
    return x + encoding[: x.shape[1]]


def _placed(b: int, n: int, d: int, max_len: int, seed: int = 0) -> Question:
    """Returns a question in which one word of the first sentence is all zeros, as a word may be."""
    x = _values(b, n, d, seed=seed)
    x[0, n - 1] = 0
    return Question((x, _values(max_len, d, seed=seed + 1)))


def _draw_placed(*kinds: tuple[int, int, int]) -> Draw:
    """Draws for each kind (b, n, spare rows) one question, narrower than long; b and n may be 0 for "any"."""

    def draw(rng: random.Random) -> list[Question]:
        asks = []
        for b, n, spare in kinds:
            n = n or rng.randint(3, 6)
            b = b or rng.choice([size for size in range(2, 7) if size != n])
            d = rng.choice([width for width in (2, 4) if width < n])
            asks.append(_placed(b, n, d, max(b, n) + spare, seed_from(rng)))
        return asks

    return draw


@exercise.stage(
    "the shape of x",
    points=0.25,
    public=[_placed(2, 3, 2, 3, 1), _placed(2, 3, 4, 5, 2), _placed(3, 3, 2, 5, 9), _placed(1, 1, 2, 2, 11)],
    view="shape",
)
def _(rng: random.Random) -> list[Question]:
    """Adding positions changes numbers, not the shape: the result is (b, n, d)."""
    return _draw_placed((2, 4, 0), (3, 5, 2), (4, 4, 1))(rng)


@exercise.stage("one sentence", points=0.5, public=[_placed(1, 3, 2, 3, 3), _placed(1, 3, 2, 5, 4)])
def _(rng: random.Random) -> list[Question]:
    """Token j of the sentence gets row j of the table; the rows after the last token are not used."""
    return _draw_placed((1, 0, 0), (1, 0, 3))(rng)


@exercise.stage(
    "as many sentences as words", points=1, public=[_placed(3, 3, 2, 5, 5), _placed(2, 2, 2, 2, 12)], decisive=True
)
def _(rng: random.Random) -> list[Question]:
    """With b = n a wrong axis raises no error. Check by hand: x[0, 1] and x[1, 1] both get row 1 of the table."""
    size = rng.randint(3, 5)
    return [_placed(size, size, 2, size + rng.randint(1, 4), seed_from(rng))]


@exercise.stage(
    "any batch, any length",
    points=0.5,
    public=[_placed(4, 2, 4, 6, 6), _placed(2, 5, 2, 7, 7), _placed(3, 1, 2, 3, 13)],
)
def _(rng: random.Random) -> list[Question]:
    """Cut the table to the number of words, which is x.shape[1], and let torch line the shapes up from the end."""
    return _draw_placed((5, 3, 1), (0, 0, 2), (0, 0, 4))(rng)


def _long(n: int, seed: int) -> Question:
    """Returns a question on two long sentences of width 1 that looks at some of their words."""
    rng, ask = random.Random(seed), _placed(2, n, 1, n + 3, seed)
    chosen = [0, 130, 300, 520, n - 2, *(rng.randrange(n) for _ in range(4))]
    positions = [(sentence, word, 0) for sentence in range(2) for word in chosen]
    return replace(ask, extra={"shape": [2, n, 1], "places": torch.tensor(positions)})


@exercise.stage("a long text", points=0.5, public=[_long(600, 1)], measure="at places")
def _(rng: random.Random) -> list[Question]:
    """Word j gets row j, however far it stands: no limit, and nothing that starts again."""
    return [_long(rng.randint(1100, 1200), seed_from(rng))]


@exercise.stage(
    "x and the table are left as they were",
    points=0.25,
    public=[_placed(2, 3, 2, 4, 8), _placed(1, 3, 2, 3, 10), _placed(1, 3, 2, 5, 14)],
    measure="inputs kept",
)
def _(rng: random.Random) -> list[Question]:
    """The caller still needs the words without positions, and the table: make a new tensor, x + ..., and do not write
    into what you are given.
    """
    # Draws one sentence too, with a table that fits and a longer one: there are rows to write into.
    return _draw_placed((0, 0, 1), (0, 0, 3), (1, 0, 0), (1, 0, 2))(rng)


@exercise.corners(
    "any batch, any length", b=(1, 2, range(33, 36)), n=(1, 2, range(65, 68), range(301, 304)), spare=(0, range(65, 68))
)
def _(rng: random.Random, b: int, n: int, spare: int) -> Question | None:
    """Asks about a table that is as long as the sentences, or much longer."""
    return _placed(b, n, 2, n + spare, seed_from(rng)) if b * n < 2500 else None
