"""Exercise scaled_dot_product_attention of notebook 03."""

from __future__ import annotations

import math
import random
from itertools import repeat

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, until
from tutor.checking.answers import Question

from ._common import _bias, _blocked, _values, scaled_dot_product_attention

exercise = Definition(
    minutes=12,
    difficulty=2,
    trains=True,
    forbids=(
        "torch.nn.functional.scaled_dot_product_attention",
        "torch._scaled_dot_product_attention_math",
        "torch._scaled_dot_product_flash_attention_for_cpu",
        "torch.nn.attention.flex_attention.flex_attention",
        "torch.nn.functional.multi_head_attention_forward",
        "torch.nn.MultiheadAttention",
        "helpers.models.Attention",
        "helpers.heads.Attention",
        "helpers.heads.attend",
    ),
)
exercise.reference(scaled_dot_product_attention)


def _by_hand() -> Question:
    """Returns the question that the text works by hand: one query on three keys."""
    query = torch.tensor([[2.0, 0.0, 1.0, 1.0]])
    key = torch.tensor([[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0]])
    return Question((query, key, torch.tensor([[10.0, 0.0], [0.0, 10.0], [10.0, 10.0]]), None))


def _weights_and_output(pair: tuple[Tensor, Tensor]) -> list[Tensor]:
    output, weights = pair
    return [weights[0], output[0]]


# With weights of two digits, the output is off by 2 in a hundred.
exercise.by_hand(_by_hand(), part=_weights_and_output, tolerance=0.02)


def _attention_inputs(
    leading: tuple[int, ...], n: int, m: int, d: int, d_value: int, seed: int, mask: Tensor | None = None
) -> Question:
    query = _values(*leading, n, d, seed=seed)
    key, value = _values(*leading, m, d, seed=seed + 1), _values(*leading, m, d_value, seed=seed + 2)
    return Question((query, key, value, mask))


def _draw_attention(*leading: int, masks: str = "", one_key: bool = False) -> Draw:
    """Draws sizes that all differ, so that a scale with any other of them is seen; one question is of one query."""

    def draw(rng: random.Random) -> list[Question]:
        asks = []
        for kind in masks.split() or ["none", "none", "one query"]:
            d = rng.choice([5, 7, 10, 12, 14, 18])
            n, m, d_value = rng.sample([size for size in range(3, 12) if size != d], 3)
            n, m = 1 if kind == "one query" else n, 1 if one_key else m
            mask = {"blocked": _blocked(n, max(m, 3), rng)[:, :m], "bias": _bias(n, m)}.get(kind)
            asks.append(_attention_inputs(leading, n, m, d, d_value, rng.randrange(10**6), mask))
        return asks

    return draw


@exercise.stage(
    "two tensors: output (n, d_v) and weights (n, m)",
    points=0.25,
    public=[_attention_inputs((), 4, 3, 5, 2, 10)],
    view="shape",
)
def _(rng: random.Random) -> list[Question]:
    """Return the pair (output, weights): n queries, m keys, values of width d_v."""
    return _draw_attention()(rng)


@exercise.stage("one key: nothing to choose", points=0.25, public=[_attention_inputs((), 2, 1, 4, 3, 20)])
def _(rng: random.Random) -> list[Question]:
    """With a single key the softmax has one term, so the weight is 1 and the output is that key's value."""
    return _draw_attention(one_key=True)(rng)


@exercise.stage("two queries: the scale", points=0.5, public=[_attention_inputs((), 2, 3, 6, 3, 30)], decisive=True)
def _(rng: random.Random) -> list[Question]:
    """Put the three steps of section 1 into code: dot products, divided by the square root of the width d of the query,
    softmax. The d is the last axis of the query.
    """
    return [_attention_inputs((), 2, m, d, 3, rng.randrange(10**6)) for m, d in ((4, 12), (7, 5), (8, 18))]


@exercise.stage("many queries", points=0.5, public=[_attention_inputs((), 4, 3, 5, 2, 40)])
def _(rng: random.Random) -> list[Question]:
    """Row i of the weights belongs to query i; the softmax runs along the keys, the last axis."""
    return _draw_attention()(rng)


@exercise.stage(
    "with a mask",
    points=0.5,
    public=[
        _attention_inputs((), 4, 3, 5, 2, 50, _blocked(4, 3, random.Random(5))),
        _attention_inputs((), 3, 4, 6, 2, 60, _bias(3, 4)),
    ],
)
def _(rng: random.Random) -> list[Question]:
    """The mask is added to the scores after they are scaled and before the softmax. It may hold finite numbers too, as
    the biases of relative positions.
    """
    return _draw_attention(masks="blocked bias")(rng)


def _one_mask_for_all_heads(b: int, h: int, n: int, m: int, seed: int) -> Question:
    """Returns a question whose mask `(b, 1, 1, m)` is another one for each sentence."""
    return _attention_inputs((b, h), n, m, 5, 4, seed, _values(b, 1, 1, m, seed=seed + 3, size=2))


@exercise.stage(
    "batches and heads",
    points=0.75,
    public=[
        _attention_inputs((2,), 4, 3, 5, 2, 70, _blocked(4, 3, random.Random(7))),
        _attention_inputs((3,), 3, 3, 3, 3, 80),
        _attention_inputs((1,), 1, 3, 2, 1, 90),
        _attention_inputs((2, 1), 2, 4, 3, 2, 100, _bias(2, 4)),
        _attention_inputs((1, 2, 2), 2, 3, 5, 1, 110),
        _one_mask_for_all_heads(2, 3, 2, 3, 130),
    ],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Count axes from the end: only the last two change places, whatever stands before them."""
    same = _attention_inputs((4,), 4, 4, 4, 4, rng.randrange(10**6))  # all sizes alike: key.T does not crash here
    one = _attention_inputs((1,), 1, 5, 6, 1, rng.randrange(10**6))
    many = _draw_attention(2, 1, 2, masks="blocked")(rng)
    n, m = rng.sample([3, 4, 5, 6], 2)
    alike = _one_mask_for_all_heads(2, 3, n, m, rng.randrange(10**6))
    return [
        *_draw_attention(3, masks="none bias")(rng),
        same,
        one,
        *many,
        *_draw_attention(2, 3, masks="blocked")(rng),
        alike,
    ]


def _gradients_beside_a_blocked_key(n: int, m: int, seed: int) -> Question:
    """Returns a question on gradients where a blocked key has a score of 100 and more, the others small ones.

    What is blocked has weight 0; but 0 times the gradient of an infinite exponential is NaN.
    """
    ask = _attention_inputs((), n, m, 4, 3, seed)
    query, key, value, _ = ask.inputs
    query[:, 0], key[:, 0], key[seed % m, 0] = 1, 0, 300
    mask = torch.zeros(n, m)
    mask[:, seed % m] = -math.inf
    return Question((query, key, value, mask), probe="gradients")


def _large_scores(n: int, m: int, seed: int, size: int = 30_000) -> Question:
    """Returns a question in which the scores of a row are all near `size` or -`size`, and what is blocked even higher.

    All numbers are whole and the root of the width is 4, so that no rounding depends on the order of the sums; and in
    each row one key has all of the weight, so that none depends on whether a largest score or a logsumexp is taken off.
    """
    blocked = seed % m

    def make(generator: torch.Generator) -> list[Tensor]:
        return [torch.randint(-2, 3, (size, 16), generator=generator).float() for size in (n, m)]

    def fits(drawn: list[Tensor]) -> bool:
        query, key = drawn
        small = (query[:, 2:] @ (40 * key[:, 2:]).T)[:, [j for j in range(m) if j != blocked]] / 4
        best = small.topk(2, dim=-1).values
        return bool((best[:, 0] - best[:, 1] >= 20).all()) and len(set(small.argmax(dim=-1).tolist())) > 1

    query, key = until(repeat(torch.Generator().manual_seed(seed)), make, fits)
    query[:, 0], key = size // 25 * (1 - 2 * (torch.arange(n) % 2)), 40 * key
    key[:, 0], query[:, 1], key[:, 1], key[blocked, 1] = 100, 1, 0, 40 * size // 3
    mask = torch.zeros(n, m)
    mask[0] = -10_000  # this far below 0 a whole row is shifted, and nothing is blocked
    mask[:, blocked] = -math.inf
    return Question((query, key, _values(m, 3, seed=seed + 1), mask))


@exercise.stage(
    "large scores",
    points=0.25,
    public=[_large_scores(2, 4, 120), _large_scores(2, 4, 120, 10**6), _gradients_beside_a_blocked_key(2, 3, 140)],
)
def _(rng: random.Random) -> list[Question]:
    """Scores of 30,000 and of -1,000,000, and a row of -10,000 in the mask, are no more than a shift of a row: the
    softmax takes it out. What is blocked has weight 0, however high its score is. `torch.softmax` does both. A gradient
    is asked for here, too: it passes through weights and values.
    """
    return [
        _large_scores(3, 5, rng.randrange(10**6)),
        _large_scores(2, rng.choice([6, 7]), rng.randrange(10**6), 75 * rng.randint(600, 13_000)),
        _gradients_beside_a_blocked_key(3, rng.randint(4, 6), rng.randrange(10**6)),
    ]


@exercise.corners(
    "many queries", n=(1, 2, range(33, 36)), m=(1, 2, range(65, 68)), d=(1, 2, range(33, 36)), d_v=(1, range(5, 8))
)
def _(rng: random.Random, n: int, m: int, d: int, d_v: int) -> Question:
    """Asks about vectors of a single number, and about many keys."""
    return _attention_inputs((), n, m, d, d_v, rng.randrange(10**6))


@exercise.corners("with a mask", level=(-60.0, 60.0), apart=(0.0, 0.25, 120.0), n=(1, range(33, 36)))
def _(rng: random.Random, level: float, apart: float, n: int) -> Question:
    """Asks about a mask of finite numbers that lie far below 0 or above, all alike or far from each other.

    They lie between -60 and 60: exponentials of them are finite, which is asked among the large scores.
    """
    seed = rng.randrange(10**6)
    steps = torch.randint(3, (n, 5), generator=torch.Generator().manual_seed(seed))
    mask = level - math.copysign(apart, level) * steps / 2
    return _attention_inputs((), n, 5, 4, 2, seed, mask)
