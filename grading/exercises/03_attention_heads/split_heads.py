"""Exercise split_heads of notebook 03."""

from __future__ import annotations

import random
from dataclasses import replace

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw
from tutor.checking.answers import Question

from ._common import _counted, split_heads

# A tensor filled head by head is no mistake: it need not stay in double precision.
exercise = Definition(
    minutes=12,
    difficulty=2,
    trains=True,
    forbids=("helpers.heads.split_heads", "helpers.models.Attention._heads", "helpers.llama.GroupedAttention._heads"),
)
exercise.reference(split_heads)


def _by_hand() -> Tensor:
    """Returns the sentence of the picture: 10 times the token, plus the position of the number."""
    return (10 * torch.arange(4.0)[:, None] + torch.arange(6.0)).unsqueeze(0)


exercise.by_hand(Question((_by_hand(), 2)), part=lambda heads: heads[0, 1, :2])


def _split(b: int, n: int, h: int, width: int, rng: random.Random | None = None) -> Question:
    return Question((_counted(b, n, h * width, rng=rng), h))


def _with_gradients(ask: Question) -> list[Question]:
    """Returns the question for the result, and for the gradients that pass through it."""
    return [ask, replace(ask, probe="gradients")]


def _draw_split(one_token: bool = False) -> Draw:
    """Draws tensors of which no two sizes agree, and of which two do."""

    def draw(rng: random.Random) -> list[Question]:
        b, n, h, width = rng.sample(range(2, 8), 4)
        side, few = rng.randint(3, 4), rng.choice([2, 3])
        sizes = [(b, n, h, width), (side, side, side, side)]
        sizes += [(few, 6, 3, 2), (2, 4, 4, few)]  # as many tokens as numbers, as many heads as tokens
        return [_split(b, 1 if one_token else n, h, width, rng) for b, n, h, width in sizes]

    return draw


@exercise.stage("the shape (b, h, n, d/h)", points=0.25, public=[_split(2, 3, 4, 2), _split(3, 3, 3, 3)], view="shape")
def _(rng: random.Random) -> list[Question]:
    """Four axes: sentence, head, token, and the d/h numbers that this head has of this token."""
    return _draw_split()(rng)


@exercise.stage(
    "one token: which numbers go to which head", points=0.5, public=[_split(2, 1, 2, 3), _split(2, 1, 3, 2)]
)
def _(rng: random.Random) -> list[Question]:
    """Head 0 gets the first d/h numbers of the token, head 1 the next d/h, and so on: neighbours stay together, and the
    numbers of a sentence stay in this sentence.
    """
    return _draw_split(one_token=True)(rng)


@exercise.stage(
    "several tokens",
    points=1,
    public=[_split(2, 3, 2, 2), _split(2, 2, 2, 2), _split(3, 6, 3, 2), _split(2, 4, 4, 3)],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Look at head 0: each of its rows must hold the first numbers of another token. Cut the last axis first, then
    exchange the axes of tokens and heads.
    """
    return _draw_split()(rng)


@exercise.stage(
    "one head, one sentence, one number for each head",
    points=0.25,
    public=[
        *_with_gradients(_split(2, 3, 1, 2)),
        *_with_gradients(_split(1, 3, 2, 2)),
        *_with_gradients(_split(2, 3, 4, 1)),
    ],
)
def _(rng: random.Random) -> list[Question]:
    """An axis of length 1 is an axis like the others: there are always four, nothing is squeezed away, and gradients
    pass through as elsewhere.
    """
    # Draws one head, one sentence, and heads of one number.
    few = rng.choice([2, 3])
    sizes = ((few, 5, 1, 4), (1, 5, few, 4), (few, 5, 4, 1), (1, 1, few, 4))
    return [ask for b, n, h, width in sizes for ask in _with_gradients(_split(b, n, h, width, rng))]


exercise.large += [_split(1, 300, 2, 2)]


@exercise.corners(
    "several tokens", b=(1, 2, range(33, 36)), n=(1, 2, range(65, 68)), h=(1, 2, range(33, 36)), width=(1, 2)
)
def _(rng: random.Random, b: int, n: int, h: int, width: int) -> Question | None:
    return _split(b, n, h, width, rng) if b * n * h * width < 3000 else None
