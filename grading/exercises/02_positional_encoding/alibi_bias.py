"""Exercise alibi_bias of notebook 02."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, seed_from
from tutor.checking.answers import Question

INF = float("inf")


exercise = Definition(minutes=15, difficulty=2, forbids=("helpers.models.alibi_bias",))


@exercise.reference
def alibi_bias(n_heads: int, size: int) -> Tensor:
    return _sloped(_slopes(n_heads), size)


exercise.by_hand(Question((2, 3)), part=lambda bias: bias[:, -1], tolerance=5e-4)  # 1/256 is 0.004


def _slopes(n_heads: int) -> Tensor:
    return 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)


def _distances(size: int) -> Tensor:
    return (torch.arange(size).unsqueeze(1) - torch.arange(size)).float()


def _sloped(slopes: Tensor, size: int, future: float | None = -INF) -> Tensor:
    """Returns minus slope times distance; above the diagonal `future`, or for None the same formula."""
    bias = -slopes.view(-1, 1, 1) * _distances(size)
    return bias if future is None else bias.masked_fill(_distances(size) < 0, future)


def _draw_heads(*counts: int) -> Draw:
    return lambda rng: [Question((count, rng.randint(4, 9))) for count in counts]


@exercise.stage(
    "a floating point tensor of shape (n_heads, size, size)",
    points=0.25,
    public=[Question((8, 3)), Question((3, 1)), Question((1, 4))],
    view="shape",
)
def _(rng: random.Random) -> list[Question]:
    """One square for each head."""
    return _draw_heads(8, 4)(rng)


@exercise.stage(
    "the first row of each head: the future is blocked",
    points=0.25,
    public=[Question((8, 4)), Question((3, 5))],
    view="first row",
)
def _(rng: random.Random) -> list[Question]:
    """Token 0 sees only itself: 0 for it, -inf for all the others, in every head."""
    return _draw_heads(8, 2, 5)(rng)


@exercise.stage("8 heads: slopes 1/2, 1/4, ..., 1/256", points=0.75, public=[Question((8, 4))])
def _(rng: random.Random) -> list[Question]:
    """In head 0 the last row reads ..., -1, -1/2, 0: minus half a point for each step back."""
    return _draw_heads(8)(rng)


@exercise.stage(
    "any number of heads",
    points=1.25,
    public=[Question((heads, size)) for heads, size in ((2, 3), (4, 5), (16, 2), (3, 4), (12, 3), (14, 3), (20, 2))],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Head k (from 0) of h heads has the slope 2^(-8 (k + 1) / h): with 2 heads 1/16 and 1/256. The rule is the same
    for 3 heads or 12. Where only the last digits differ, look at what is rounded on the way: half precision has three.
    """
    return _draw_heads(1, 2, 6, 7, 10, 14, 16, 20)(rng)


def _long(n_heads: int, size: int, seed: int) -> Question:
    """Returns a question that looks at some entries of a large bias."""
    rng, positions = random.Random(seed), [(0, size - 1, 0), (0, 0, size - 1), (n_heads - 1, size - 1, size - 1)]
    for distance in (11, 17, 33, 65, 101, 129, size - 20):
        start = rng.randrange(size - distance)
        positions.append((rng.randrange(n_heads), start + distance, start))
    return Question((n_heads, size), extra={"shape": [n_heads, size, size], "places": torch.tensor(positions)})


# With 16 heads a word loses more than 103 on the way through the text, and e^-104 is 0 in single precision. That is
# asked at one size: three loops over the entries are a right answer, and take most of a second for it.
@exercise.stage(
    "a long text", points=0.5, public=[_long(2, 270, 1), _long(4, 150, 2), _long(16, 150, 3)], measure="at places"
)
def _(rng: random.Random) -> list[Question]:
    """A word loses as much with its hundredth step back as with its first: nothing is cut off."""
    return [_long(heads, rng.randint(155, 180), seed_from(rng)) for heads in (2, 4)]


@exercise.corners(
    "any number of heads", n_heads=(1, 2, 7, range(33, 36), 64), size=(1, 2, range(33, 36), range(65, 68))
)
def _(rng: random.Random, n_heads: int, size: int) -> Question | None:
    return Question((n_heads, size)) if n_heads * size * size < 5000 else None
