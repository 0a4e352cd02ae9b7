"""Exercise synthesizer_scores of notebook 09."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, both, seed_from
from tutor.checking.answers import Question

from ._common import _values, with_a_zero_token

exercise = Definition(minutes=12, difficulty=1)


@exercise.reference
def synthesizer_scores(x: Tensor, A: Tensor, b1: Tensor, B: Tensor, b2: Tensor) -> Tensor:  # noqa: N803 - as in the paper
    return _uncut(x, A, b1, B, b2)[:, : len(x)]


def _one_head(n: int, d: int, w: int, max_len: int, seed: int, biases: bool = True) -> Question:
    """Returns a question; the tokens are large, so that some numbers after the ReLU are, too."""
    shapes = ((n, d), (d, w), (w,), (w, max_len), (max_len,))
    x, a, b1, b, b2 = (
        _values(*shape, seed=10 * seed + number, size=5 if number == 0 else 2) for number, shape in enumerate(shapes)
    )
    return Question((x, a, b1 if biases else 0 * b1, b, b2 if biases else 0 * b2))


BY_HAND = Question(
    (
        torch.tensor([[1.0, 0.0], [0.0, 2.0]]),
        torch.tensor([[1.0, -1.0], [0.0, 1.0]]),
        torch.tensor([0.0, -1.0]),
        torch.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]]),
        torch.tensor([0.0, 1.0, 0.0]),
    )
)
exercise.by_hand(BY_HAND)


def _draw_one_head(kind: str) -> Draw:
    """Draws a head wider than the sentence is long, one that is narrower, and one where all sizes agree."""

    def draw(rng: random.Random) -> list[Question]:
        short, d, long = rng.sample([3, 4, 5, 6, 7, 8], 3)
        asks = []
        for n, w in ((min(short, long), max(short, long)), (max(short, long), min(short, long)), (d, d)):
            n, w = (1, w) if kind == "one token" else (n, w)
            max_len = n if kind in ("full", "no biases") else n + rng.randint(2, 5)
            asks.append(_one_head(n, d, w, max_len, rng.randrange(10**6), kind != "no biases"))
        return asks

    return draw


@exercise.stage("a square of n times n scores", points=0.25, public=[_one_head(4, 3, 2, 4, 1)], view="shape")
def _(rng: random.Random) -> list[Question]:
    """One row for each token that looks, one column for each position in the sentence: (n, n). (Here the sentence is as
    long as B allows.)
    """
    return _draw_one_head("full")(rng)


@exercise.stage(
    "without biases: two matrices and a ReLU",
    points=0.75,
    public=[_one_head(3, 4, 2, 3, 7, biases=False), _one_head(4, 2, 6, 4, 2, biases=False)],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Here b1 and b2 are 0: scores are relu(x @ A) @ B, with the ReLU between the two products; row i is that of
    token i, which looks.
    """
    return _draw_one_head("no biases")(rng)


@exercise.stage(
    "with both biases",
    points=0.5,
    public=[_one_head(3, 2, 4, 3, 3), _one_head(4, 3, 2, 4, 7), with_a_zero_token(_one_head(3, 3, 4, 3, 9))],
)
def _(rng: random.Random) -> list[Question]:
    """b1 is added before the ReLU, b2 after B."""
    return both(_draw_one_head("full"), lambda rng: [with_a_zero_token(_one_head(5, 4, 6, 5, seed_from(rng)))])(rng)


@exercise.stage(
    "shorter sentences: cut",
    points=1,
    public=[BY_HAND, _one_head(3, 2, 4, 6, 4), _one_head(4, 2, 3, 5, 8)],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """B has a column for each of max_len positions; a sentence of n tokens uses the first n of them, of B and of b2."""
    return _draw_one_head("short")(rng)


@exercise.stage("one token: one score", points=0.5, public=[_one_head(1, 3, 2, 4, 5), _one_head(1, 3, 2, 4, 13)])
def _(rng: random.Random) -> list[Question]:
    """With n = 1, one column of B is left, and the result is a square of 1 times 1."""
    return _draw_one_head("one token")(rng)


@exercise.corners(
    "shorter sentences: cut", n=(1, 2, range(33, 36)), d=(1, 2), w=(1, range(33, 36)), spare=(0, range(65, 68))
)
def _(rng: random.Random, n: int, d: int, w: int, spare: int) -> Question:
    x, *weights = _one_head(n, d, w, n + spare, rng.randrange(10**6)).inputs
    return Question((x.where(x != 0, 0.1), *weights))  # a vector of zeros is asked for elsewhere, and not by chance


def _uncut(x: Tensor, a: Tensor, b1: Tensor, b: Tensor, b2: Tensor) -> Tensor:
    """The result has max_len columns: scores for positions where the sentence has no token. Keep the first n columns of
    B and of b2.
    """
    return torch.relu(x @ a + b1) @ b + b2
