"""Exercise rotary of notebook 02."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import repeat

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, seed_from, until
from tutor.checking.answers import Question

from ._common import _speeds, _values

exercise = Definition(minutes=25, difficulty=3, forbids=("helpers.models.rotate", "helpers.models.rotary_angles"))


@exercise.reference
def rotary(x: Tensor, positions: Tensor) -> Tensor:
    return _rotated(x, positions, _speeds(x.shape[-1]))


def _turned(x: Tensor, angles: Tensor) -> Tensor:
    even, odd = x[..., 0::2], x[..., 1::2]
    first = even * angles.cos() - odd * angles.sin()
    second = even * angles.sin() + odd * angles.cos()
    return torch.stack([first, second], dim=-1).flatten(-2)


def _rotated(x: Tensor, positions: Tensor, speeds: Tensor) -> Tensor:
    """Returns x with queries and keys turned at these speeds."""
    angles = (positions.double().unsqueeze(1) * speeds).float()  # (n, d/2)
    return torch.stack([_turned(x[0], angles), _turned(x[1], angles), x[2]])


def _by_hand() -> Question:
    """Returns the question that the text works by hand: (1, 0) everywhere, a quarter turn for each position."""
    x = torch.tensor([1.0, 0.0]).expand(3, 1, 1, 4, 2).clone()
    return Question((x, torch.pi / 2 * torch.arange(1, 5)))


exercise.by_hand(_by_hand(), part=lambda turned: turned[1:, 0, 0])


def _qkv(b: int, h: int, n: int, d: int, seed: int) -> Tensor:
    return _values(3, b, h, n, d, seed=seed)


def _positions(n: int, rng: random.Random) -> Tensor:
    """Returns different positions, not in order."""
    sampled = until(repeat(rng), lambda rng: rng.sample(range(1, 1 + 3 * n), n), lambda found: found != sorted(found))
    return torch.tensor(sampled)


def _draw_rotary(*sizes: tuple[int, int, int, int]) -> Draw:
    def draw(rng: random.Random) -> list[Question]:
        return [Question((_qkv(b, h, n, d, rng.randrange(10**6)), _positions(n, rng))) for b, h, n, d in sizes]

    return draw


@exercise.stage(
    "the shape of x",
    points=0.25,
    public=[Question((_qkv(1, 2, 2, 4, 1), torch.tensor([3, 1]))), Question((_qkv(1, 1, 1, 2, 6), torch.tensor([2])))],
    view="shape",
)
def _(rng: random.Random) -> list[Question]:
    """Turning changes numbers, not the shape: queries, keys and values come back in one tensor (3, b, h, n, d)."""
    return _draw_rotary((2, 3, 3, 4))(rng)


@exercise.stage(
    "at position 0 nothing moves", points=0.25, public=[Question((_qkv(1, 2, 2, 4, 2), torch.tensor([0, 0])))]
)
def _(rng: random.Random) -> list[Question]:
    """An angle of 0 has cosine 1 and sine 0: every pair stays as it is. Do you use the positions you are given?"""
    return [Question((_qkv(1, 2, 4, 6, seed_from(rng)), torch.tensor([0, 0, 0, 0])))]


def _equal_rows(b: int, h: int, n: int, d: int) -> Tensor:
    """Returns the same vector at every position, with equal numbers: no score depends on how pairs are chosen."""
    return torch.ones(3, b, h, n, d)


@exercise.stage(
    "the score depends on the distance only",
    points=0.75,
    public=[
        Question((_equal_rows(1, 3, 3, 4), torch.tensor([3, 0, 41]))),
        Question((_equal_rows(1, 3, 3, 4), torch.tensor([53, 50, 91]))),
    ],
    measure="scores",
    tolerance=4e-3,
)
def _(rng: random.Random) -> list[Question]:
    """The same vector stands at every position. Turned by its position as query and as key, its score may depend on
    nothing but the difference of the two positions; the values must stay. Look at the speed as well: pair i turns by p
    / 10000^(2i / d).
    """
    positions, step = _positions(4, rng), rng.randint(20, 60)
    positions[int(positions.argmax())] += 40  # so far away that the slow pairs count too; the order stays as it was
    x = _equal_rows(1, 3, 4, 2 * rng.randint(2, 4))
    return [Question((x, positions)), Question((x, positions + step))]


@exercise.stage(
    "every number",
    points=1.25,
    public=[
        Question((_qkv(1, 1, 2, 2, 3), torch.tensor([1, 2]))),
        Question((_qkv(2, 1, 3, 4, 4), torch.tensor([2, 0, 7]))),
        Question((_qkv(1, 3, 2, 6, 5), torch.tensor([5, 4]))),
        Question((_qkv(1, 3, 3, 4, 7), torch.tensor([9, 4, 9]))),
    ],
    tolerance=4e-3,
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Neighbours (0, 1), (2, 3), ... are the pairs; pair i at position p turns by p / 10000^(2i / d), where d is the
    width of one head: (a, b) becomes (a cos - b sin, a sin + b cos). Every token is turned by the position of its own
    row, also where another one has the same.
    """
    return _draw_rotary((1, 1, 3, 2), (2, 3, 5, 4), (2, 4, 4, 8))(rng)


@exercise.stage("far away in a long text", points=0.5, seed=1, tolerance=1e-4)
def _(rng: random.Random) -> list[Question]:
    """The angle at position 5000 is 5000 / 10000^(2i / d): whole numbers, angles and sines in half precision, and
    tables that start again, cannot tell such positions apart. Numbers of x in half precision have lost their last
    digits.
    """
    # Draws positions in a long text; two of the five tokens stand at the same one.
    positions = [rng.randint(130, 250), rng.randint(2100, 4000), rng.randint(4100, 5000), rng.randint(520, 1000)]
    rng.shuffle(positions)
    return [Question((_qkv(1, 3, 5, 4, seed_from(rng)), torch.tensor([*positions, positions[0]])))]


POSITIONS: dict[str, Callable[[random.Random, int], list[int]]] = {
    "all alike": lambda rng, n: [rng.randint(1, 9)] * n,
    "far": lambda rng, n: rng.sample(range(301, 700), n),
    "from 0 on": lambda rng, n: list(range(n)),
    "turned round": lambda rng, n: list(range(n))[::-1],
}


@exercise.corners("every number", n=(1, 2, range(33, 36)), d=(2, 4, 64), positions=tuple(POSITIONS))
def _(rng: random.Random, n: int, d: int, positions: str) -> Question | None:
    """Asks about near and far positions in any order, and about heads of two numbers and of many."""
    if n * d > 400:
        return None
    return Question((_qkv(1, 1, n, d, seed_from(rng)), torch.tensor(POSITIONS[positions](rng, n))))


@exercise.corners("the score depends on the distance only", n=(2, range(33, 36)), positions=("far",))
def _(rng: random.Random, n: int, positions: str) -> Question:
    return Question((_equal_rows(1, 1, n, 4), torch.tensor(POSITIONS[positions](rng, n))))


@exercise.mistake("the exponent is divided by the width of all heads together")
def _(x: Tensor, positions: Tensor) -> Tensor:
    """d is the width of one head, x.shape[-1]: pair i of each head turns by p / 10000^(2i / d)."""
    return _rotated(x, positions, _speeds(x.shape[-1]) ** (1 / x.shape[2]))
