"""Exercise grouped_query_attention of notebook 16."""

from __future__ import annotations

import math
import random

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import seed_from
from tutor.checking.answers import Question

from ._common import _values

SIZES = ((4, 2), (6, 3), (6, 2), (8, 4), (12, 3))  # h, g: heads of queries, and of keys and values


def _attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, scale: float = 0.0) -> Tensor:
    """Returns `(b, h, n, d)` for as many heads of keys and values as of queries."""
    scores = query @ key.mT / (scale or math.sqrt(query.size(-1)))
    return torch.softmax(scores if mask is None else scores + mask, dim=-1) @ value


exercise = Definition(
    minutes=15,
    difficulty=2,
    trains=True,
    forbids=(
        "torch.nn.functional.scaled_dot_product_attention",
        "torch._scaled_dot_product_attention_math",
        "torch._scaled_dot_product_flash_attention_for_cpu",
        "torch.nn.attention.flex_attention.flex_attention",
        "torch.nn.functional.multi_head_attention_forward",
        "torch.nn.MultiheadAttention",
        "helpers.llama.GroupedAttention",
        "helpers.heads.attend",
    ),
)


@exercise.reference
def grouped_query_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    share = query.size(1) // key.size(1)
    return _attention(query, key.repeat_interleave(share, dim=1), value.repeat_interleave(share, dim=1), mask)


def _ask(seed: int, b: int, heads: tuple[int, int], n: int, m: int, d: int, mask: Tensor | None = None) -> Question:
    h, g = heads
    key, value = _values(b, g, m, d, seed=seed + 1, size=1.5), _values(b, g, m, d, seed=seed + 2, size=2)
    return Question((_values(b, h, n, d, seed=seed, size=1.5), key, value, mask))


def _draw_sizes(rng: random.Random) -> tuple[int, int, int]:
    """Draws n, m and d that all differ, from each other and from every number of heads."""
    n, m = rng.sample([3, 5, 7], 2)
    return n, m, rng.choice([9, 10, 12])


_SILENT, _NUMBERED = torch.zeros(1, 6, 1, 1), torch.arange(3.0).view(1, 3, 1, 1)  # one key, whose value is its group
exercise.by_hand(Question((_SILENT, _SILENT[:, :3], _NUMBERED)), part=lambda read: read[0, :, 0, 0])


@exercise.stage(
    "as many groups as heads: attention as in notebook 03",
    points=0.5,
    public=[_ask(1, 1, (2, 2), 2, 3, 4), _ask(4, 2, (1, 1), 1, 2, 3)],
)
def _(rng: random.Random) -> list[Question]:
    """Each head has its own keys and values: dot products, divided by the root of their width d/h, softmax over the
    keys, and the weighted mean of the values. Where no mask is given, every query sees all keys.
    """
    n, m, d = _draw_sizes(rng)
    return [
        _ask(seed_from(rng), 2, (4, 4), n, m, d),
        _ask(seed_from(rng), 1, (1, 1), n, 1, d),
        _ask(seed_from(rng), 2, (2, 2), 1, m, 5),
    ]


@exercise.stage(
    "neighbouring heads share keys and values",
    points=0.75,
    public=[
        _ask(7, 2, (4, 2), 2, 3, 3),
        _ask(10, 1, (6, 2), 1, 2, 5),
        _ask(13, 1, (6, 3), 3, 2, 2),
        _ask(22, 1, (12, 3), 1, 2, 2),
    ],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """With h heads and g groups, h / g heads that follow one another share a group: with h = 4 and g = 2, heads 0 and 1
    read group 0, heads 2 and 3 group 1. Where no mask is given, every query sees all keys.
    """
    # Draws every pair of numbers of heads; texts that are as many as groups; and sizes that all agree.
    n, m, d = _draw_sizes(rng)
    asks = [_ask(seed_from(rng), 2, heads, n, m, d) for heads in SIZES]
    return [*asks, _ask(seed_from(rng), 1, (4, 2), 1, m, d), _ask(seed_from(rng), 4, (4, 2), 4, 4, 4)]


@exercise.stage("one group for all heads", points=0.25, public=[_ask(16, 2, (3, 1), 2, 4, 3)])
def _(rng: random.Random) -> list[Question]:
    """Keys and values are (b, 1, m, d/h): every head reads them, with a query of its own."""
    n, m, d = _draw_sizes(rng)
    return [_ask(seed_from(rng), 2, (h, 1), n, m, d) for h in (2, rng.choice([3, 4]))]


def _causal(n: int, m: int) -> Tensor:
    return torch.full((n, m), -math.inf).triu(1 + m - n)


def _padding(b: int, m: int) -> Tensor:
    """Returns a mask `(b, 1, 1, m)`: text 0 is whole, each one after it has one position less."""
    padded = torch.arange(m) >= (m - torch.arange(b) % m)[:, None]
    return torch.zeros(b, m).masked_fill(padded, -math.inf)[:, None, None]


def _slopes(h: int, n: int, m: int) -> Tensor:
    """Returns a mask `(h, n, m)` with a bias for each distance, another one for each head."""
    distance = (torch.arange(n)[:, None] + m - n - torch.arange(m)).abs()
    return _causal(n, m) - distance * torch.arange(1, h + 1)[:, None, None] / 2


def _of_each_head(b: int, h: int, n: int, m: int, seed: int) -> Tensor:
    """Returns a mask `(b, h, n, m)` of finite numbers, in which the first row of each head lies far below the others.

    A softmax takes off what a whole row has in common. In that of text 0 one number is so much larger than the others
    that no rounding shows.
    """
    mask = _values(b, h, n, m, seed=seed, size=2)
    mask[:, :, 0] -= 200
    mask[0, :, 0], mask[0, :, 0, 0] = -11_000, -10_000
    return mask


@exercise.stage(
    "with a mask",
    points=0.5,
    public=[
        _ask(19, 1, (4, 2), 3, 3, 2, _causal(3, 3)),
        _ask(22, 2, (2, 1), 2, 3, 3, _padding(2, 3)),
        _ask(25, 1, (4, 2), 2, 3, 2, _slopes(4, 2, 3)),
        _ask(25, 2, (4, 2), 2, 3, 3, _of_each_head(2, 4, 2, 3, 26)),
    ],
)
def _(rng: random.Random) -> list[Question]:
    """The mask is added to the scaled scores. It fits scores of (b, h, n, m), with a row for each head of the queries,
    and may hold finite numbers too.
    """
    n, d = rng.choice([3, 5, 7]), rng.choice([9, 10, 12])
    return [
        _ask(seed_from(rng), 2, (4, 2), n, n, d, _causal(n, n)),
        _ask(seed_from(rng), 3, (6, 3), n, 6, d, _padding(3, 6)),
        _ask(seed_from(rng), 2, (6, 2), 2, n, d, _slopes(6, 2, n)),
        _ask(seed_from(rng), 4, (4, 2), 4, 4, 4, _slopes(4, 4, 4)),
        _ask(seed_from(rng), 2, (6, 3), 3, n, d, _of_each_head(2, 6, 3, n, seed_from(rng))),
    ]


@exercise.corners(
    "as many groups as heads: attention as in notebook 03",
    n=(1, range(33, 36)),
    m=(1, range(33, 36), range(101, 104)),
    d=(1, 2, range(33, 36)),
    size=(0.01, 1.0, 30.0),
)
def _(rng: random.Random, n: int, m: int, d: int, size: float) -> Question | None:
    """Asks with scores that are nearly alike, and with scores that lie far apart."""
    if m > 100 and d > 2:
        return None
    query, *others = _ask(seed_from(rng), 1, (1, 1), n, m, d).inputs
    return Question((query * size, *others))


@exercise.corners(
    "neighbouring heads share keys and values",
    groups=(2, 3, range(9, 12), range(33, 36)),
    share=(2, 3, range(9, 12)),
    b=(1, 2),
)
def _(rng: random.Random, groups: int, share: int, b: int) -> Question | None:
    return None if groups * share > 150 else _ask(seed_from(rng), b, (groups * share, groups), 1, 2, 2)


@exercise.corners("one group for all heads", h=(2, range(9, 12), range(33, 36)), b=(1, range(33, 36)))
def _(rng: random.Random, h: int, b: int) -> Question | None:
    return None if b * h > 400 else _ask(seed_from(rng), b, (h, 1), 1, 2, 2)


@exercise.corners(
    "with a mask",
    kind=("zeros", "causal", "padding", "slopes", "of each head"),
    h=(1, 2, 5),
    n=(1, 2, 5),
)
def _(rng: random.Random, kind: str, h: int, n: int) -> Question:
    """Asks about one row and one head too; a mask may also block nothing."""
    b, m = 3, n + 2
    groups = 1 if h == 1 else rng.choice([1, h])
    mask = {
        "zeros": lambda: torch.zeros(n, m),
        "causal": lambda: _causal(n, m),
        "padding": lambda: _padding(b, m),
        "slopes": lambda: _slopes(h, n, m),
        "of each head": lambda: _of_each_head(b, h, n, m, seed_from(rng)),
    }[kind]()
    return _ask(seed_from(rng), b, (h, groups), n, m, 2, mask)
