"""Exercise grouped_query_attention of notebook 16."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import seed_from
from tutor.checking.answers import Question

from ._common import _numbers

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
    ),
)


@exercise.reference
def grouped_query_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    share = query.size(1) // key.size(1)
    return _attention(query, key.repeat_interleave(share, dim=1), value.repeat_interleave(share, dim=1), mask)


def _ask(seed: int, b: int, heads: tuple[int, int], n: int, m: int, d: int, mask: Tensor | None = None) -> Question:
    h, g = heads
    key, value = _numbers(b, g, m, d, seed=seed + 1, size=1.5), _numbers(b, g, m, d, seed=seed + 2, size=2)
    return Question((_numbers(b, h, n, d, seed=seed, size=1.5), key, value, mask))


def _draw_sizes(rng: random.Random) -> tuple[int, int, int]:
    """Draws n, m and d that all differ, from each other and from every number of heads."""
    n, m = rng.sample([3, 5, 7], 2)
    return n, m, rng.choice([9, 10, 12])


def _shared_by(share: Callable[[Tensor, int], Tensor]) -> Callable[..., Tensor]:
    """Returns an answer in which keys and values are spread over the heads in another way."""

    def answer(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        times = query.size(1) // key.size(1)
        return _attention(query, share(key, times), share(value, times), mask)

    return answer


def _scaled_by(size: Callable[[Tensor, Tensor], float]) -> Callable[..., Tensor]:
    def answer(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        times = query.size(1) // key.size(1)
        key, value = key.repeat_interleave(times, dim=1), value.repeat_interleave(times, dim=1)
        return _attention(query, key, value, mask, scale=size(query, key))

    return answer


@exercise.stage(
    "as many groups as heads: attention as in notebook 03",
    points=0.5,
    public=[_ask(1, 1, (2, 2), 2, 3, 4), _ask(4, 2, (1, 1), 1, 2, 3)],
)
def _(rng):
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
def _(rng):
    """With h heads and g groups, h / g heads that follow one another share a group: with h = 4 and g = 2, heads 0 and 1
    read group 0, heads 2 and 3 group 1. Where no mask is given, every query sees all keys.
    """
    # Draws every pair of numbers of heads; texts that are as many as groups; and sizes that all agree.
    n, m, d = _draw_sizes(rng)
    asks = [_ask(seed_from(rng), 2, heads, n, m, d) for heads in SIZES]
    return [*asks, _ask(seed_from(rng), 1, (4, 2), 1, m, d), _ask(seed_from(rng), 4, (4, 2), 4, 4, 4)]


@exercise.stage("one group for all heads", points=0.25, public=[_ask(16, 2, (3, 1), 2, 4, 3)])
def _(rng):
    """Keys and values are (b, 1, m, d/h): every head reads them, with a query of its own."""
    n, m, d = _draw_sizes(rng)
    return [_ask(seed_from(rng), 2, (h, 1), n, m, d) for h in (2, rng.choice([3, 4]))]


def _causal(n: int, m: int) -> Tensor:
    return torch.full((n, m), -math.inf).triu(1 + m - n)


def _padding(b: int, m: int) -> Tensor:
    """Returns a mask `(b, 1, 1, m)`: text 0 is whole, each one after it has one place less."""
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
    mask = _numbers(b, h, n, m, seed=seed, size=2)
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
def _(rng):
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
def _(rng, n, m, d, size):
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
def _(rng, groups, share, b):
    return None if groups * share > 150 else _ask(seed_from(rng), b, (groups * share, groups), 1, 2, 2)


@exercise.corners("one group for all heads", h=(2, range(9, 12), range(33, 36)), b=(1, range(33, 36)))
def _(rng, h, b):
    return None if b * h > 400 else _ask(seed_from(rng), b, (h, 1), 1, 2, 2)


@exercise.corners(
    "with a mask",
    kind=("zeros", "causal", "padding", "slopes", "of each head"),
    h=(1, 2, 5),
    n=(1, 2, 5),
)
def _(rng, kind, h, n):
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


exercise.mistake(
    "the heads take turns: head 0 reads group 0, head 1 group 1, ...",
    "That is `repeat` or `tile`. The heads of a group are neighbours: `repeat_interleave`, or head i reads "
    "group i // (h / g).",
    _shared_by(lambda x, times: x.repeat(1, times, 1, 1)),
)


def _first_head(x: Tensor, times: int) -> Tensor:
    return x[:, :1].expand(-1, times * x.size(1), -1, -1)


exercise.mistake(
    "every head reads the first group",
    "With more than one group, head i reads group i // (h / g).",
    _shared_by(_first_head),
)


def _mean_head(x: Tensor, times: int) -> Tensor:
    return x.mean(dim=1, keepdim=True).expand(-1, times * x.size(1), -1, -1)


exercise.mistake(
    "every head reads the mean of all groups",
    "A mean makes one group of several; here they stay apart, and head i reads group i // (h / g).",
    _shared_by(_mean_head),
)


def _group_of_head(x: Tensor, times: int) -> Tensor:
    """Takes the number of groups for the number of heads in each."""
    heads = torch.arange(times * x.size(1))
    return x[:, (heads // x.size(1)).clamp(max=x.size(1) - 1)]


exercise.mistake(
    "the head is divided by the number of groups",
    "i // g is right only where as many heads share a group as there are groups. Divide by h / g, the number "
    "of heads that share one.",
    _shared_by(_group_of_head),
)


@exercise.mistake("keys and values are spread in different ways")
def _(query, key, value, mask=None):
    """A head reads keys and values of the same group."""
    times = query.size(1) // key.size(1)
    return _attention(query, key.repeat_interleave(times, dim=1), value.repeat(1, times, 1, 1), mask)


@exercise.mistake("the queries of a group are averaged")
def _(query, key, value, mask=None):
    """Only keys and values are shared. Each head asks with its own query."""
    times = query.size(1) // key.size(1)
    mean = query.unflatten(1, (-1, times)).mean(dim=2).repeat_interleave(times, dim=1)
    return grouped_query_attention(mean, key, value, mask)


exercise.mistake(
    "the scale is missing",
    "Divide the dot products by the square root of d/h, as always.",
    _scaled_by(lambda query, key: 1.0),
)

exercise.mistake(
    "divided by d in place of its square root",
    "The standard deviation of a score is the square root of d.",
    _scaled_by(lambda query, key: query.size(-1)),
)

exercise.mistake(
    "divided by the square root of the number of heads",
    "A score is a sum over the d/h numbers of one head: divide by the root of d/h.",
    _scaled_by(lambda query, key: math.sqrt(query.size(1))),
)

exercise.mistake(
    "divided by the square root of the length",
    "A score is a sum over the d/h numbers of one head, not over the keys.",
    _scaled_by(lambda query, key: math.sqrt(key.size(-2))),
)


@exercise.mistake("the mask is not used")
def _(query, key, value, mask=None):
    """Add it to the scores before the softmax."""
    return grouped_query_attention(query, key, value)


@exercise.mistake("the mask is scaled too")
def _(query, key, value, mask=None):
    """Minus infinity does not mind, but a finite bias does: scale the scores first, then add the mask."""
    mask = mask if mask is None else mask / math.sqrt(query.size(-1))
    return grouped_query_attention(query, key, value, mask)


@exercise.mistake("softmax over the queries")
def _(query, key, value, mask=None):
    """Each query shares its attention over the keys: the softmax runs along the last axis, dim=-1."""
    times = query.size(1) // key.size(1)
    scores = query @ key.repeat_interleave(times, dim=1).mT / math.sqrt(query.size(-1))
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-2)
    return weights @ value.repeat_interleave(times, dim=1)


@exercise.mistake("without a mask it is causal")
def _(query, key, value, mask=None):
    """None: nothing is blocked, and every query sees all keys. Who wants the causal mask gives it."""
    causal = torch.full((query.size(2), key.size(2)), -math.inf).triu(1)
    return grouped_query_attention(query, key, value, causal if mask is None else mask)
