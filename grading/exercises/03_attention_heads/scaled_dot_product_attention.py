"""Exercise scaled_dot_product_attention of notebook 03."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import torch
from torch import Tensor

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw
from tutor.checking.answers import Ask

from ._common import Pair, _attended, _bias, _blocked, _numbers, _zero_blocks, scaled_dot_product_attention


def _scaled_by(divisor: Callable[[Tensor, Tensor, Tensor], float]) -> Callable[..., Pair]:
    def answer(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Pair:
        return _attended(query @ key.mT / divisor(query, key, value), value, mask)

    return answer


def _batch_turned(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Pair:
    turned = key.permute(*range(key.dim() - 1, -1, -1))  # what key.T does to more than two axes
    return _attended(query @ turned / math.sqrt(query.size(-1)), value, mask)


def _softmax_over_queries(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Pair:
    scores = query @ key.mT / math.sqrt(query.size(-1))
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-2)
    return weights @ value, weights


def _mask_dropped(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Pair:
    return scaled_dot_product_attention(query, key, value)


def _mask_after_softmax(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Pair:
    weights = scaled_dot_product_attention(query, key, value)[1]
    weights = weights if mask is None else weights * torch.exp(mask)
    return weights @ value, weights


def _mask_scaled_too(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Pair:
    scores = query @ key.mT if mask is None else query @ key.mT + mask
    return _attended(scores / math.sqrt(query.size(-1)), value, None)


def _scores_returned(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Pair:
    scores = query @ key.mT / math.sqrt(query.size(-1))
    scores = scores if mask is None else scores + mask
    return torch.softmax(scores, dim=-1) @ value, scores


def _attention_inputs(
    leading: tuple[int, ...], n: int, m: int, d: int, d_value: int, seed: int, mask: Tensor | None = None
) -> Ask:
    query = _numbers(*leading, n, d, seed=seed)
    key, value = _numbers(*leading, m, d, seed=seed + 1), _numbers(*leading, m, d_value, seed=seed + 2)
    return Ask((query, key, value, mask))


def _naive(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Pair:
    scores = query @ key.mT / math.sqrt(query.size(-1))
    powers = torch.exp(scores if mask is None else scores + mask)
    weights = powers / powers.sum(dim=-1, keepdim=True)
    return weights @ value, weights


def _draw_attention(*leading: int, masks: str = "", one_key: bool = False) -> Draw:
    """Draws sizes that all differ, so that a scale with any other of them is seen; one question is of one query."""

    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for kind in masks.split() or ["none", "none", "one query"]:
            d = rng.choice([5, 7, 10, 12, 14, 18])
            n, m, d_value = rng.sample([size for size in range(3, 12) if size != d], 3)
            n, m = 1 if kind == "one query" else n, 1 if one_key else m
            mask = {"blocked": _blocked(n, max(m, 3), rng)[:, :m], "bias": _bias(n, m)}.get(kind)
            asks.append(_attention_inputs(leading, n, m, d, d_value, rng.randrange(10**6), mask))
        return asks

    return draw


def _draw_batches(rng: random.Random) -> list[Ask]:
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


def _one_mask_for_all_heads(b: int, h: int, n: int, m: int, seed: int) -> Ask:
    """Returns a question whose mask `(b, 1, 1, m)` is another one for each sentence."""
    return _attention_inputs((b, h), n, m, 5, 4, seed, _numbers(b, 1, 1, m, seed=seed + 3, size=2))


def _gradients_beside_a_blocked_key(n: int, m: int, seed: int) -> Ask:
    """Returns a question on gradients where a blocked key has a score of 100 and more, the others small ones.

    What is blocked has weight 0; but 0 times the gradient of an infinite exponential is NaN.
    """
    ask = _attention_inputs((), n, m, 4, 3, seed)
    query, key, value, _ = ask.inputs
    query[:, 0], key[:, 0], key[seed % m, 0] = 1, 0, 300
    mask = torch.zeros(n, m)
    mask[:, seed % m] = -math.inf
    return Ask((query, key, value, mask), take="gradients")


def _large_scores(n: int, m: int, seed: int) -> Ask:
    """Returns a question in which the scores of a row are all near 30,000 or -30,000, and what is blocked even higher.

    All numbers are whole and the root of the width is 4, so that no rounding depends on the order of the sums; and in
    each row one key has all of the weight, so that none depends on whether a largest score or a logsumexp is taken off.
    """
    generator = torch.Generator().manual_seed(seed)
    while True:
        query, key = (torch.randint(-2, 3, (size, 16), generator=generator).float() for size in (n, m))
        blocked = seed % m
        small = (query[:, 2:] @ (40 * key[:, 2:]).T)[:, [j for j in range(m) if j != blocked]] / 4
        best = small.topk(2, dim=-1).values
        if bool((best[:, 0] - best[:, 1] >= 20).all()) and len(set(small.argmax(dim=-1).tolist())) > 1:
            break
    query[:, 0], key = 1200 * (1 - 2 * (torch.arange(n) % 2)), 40 * key
    key[:, 0], query[:, 1], key[:, 1], key[blocked, 1] = 100, 1, 0, 400_000
    mask = torch.zeros(n, m)
    mask[:, blocked] = -math.inf
    return Ask((query, key, _numbers(m, 3, seed=seed + 1), mask))


EXERCISE = Exercise(
    scaled_dot_product_attention,
    [
        Stage(
            "two tensors: output (n, d_v) and weights (n, m)",
            0.25,
            "Return the pair (output, weights): n queries, m keys, values of width d_v.",
            [_attention_inputs((), 4, 3, 5, 2, 10)],
            _draw_attention(),
            view="shape",
        ),
        Stage(
            "one key: nothing to choose",
            0.25,
            "With a single key the softmax has one term, so the weight is 1 and the output is that key's value.",
            [_attention_inputs((), 2, 1, 4, 3, 20)],
            _draw_attention(one_key=True),
        ),
        Stage(
            "two queries: the scale",
            0.5,
            "Put the three steps of section 1 into code: dot products, divided by the square root of the width d of "
            "the query, softmax. The d is the last axis of the query.",
            [_attention_inputs((), 2, 3, 6, 3, 30)],
            lambda rng: [
                _attention_inputs((), 2, m, d, 3, rng.randrange(10**6)) for m, d in ((4, 12), (7, 5), (8, 18))
            ],
            decisive=True,
        ),
        Stage(
            "many queries",
            0.5,
            "Row i of the weights belongs to query i; the softmax runs along the keys, the last axis.",
            [_attention_inputs((), 4, 3, 5, 2, 40)],
            _draw_attention(),
        ),
        Stage(
            "with a mask",
            0.5,
            "The mask is added to the scores after they are scaled and before the softmax. It may hold finite numbers "
            "too, as the biases of relative positions.",
            [
                _attention_inputs((), 4, 3, 5, 2, 50, _blocked(4, 3, random.Random(5))),
                _attention_inputs((), 3, 4, 6, 2, 60, _bias(3, 4)),
            ],
            _draw_attention(masks="blocked bias"),
        ),
        Stage(
            "batches and heads",
            0.75,
            "Count axes from the end: only the last two change places, whatever stands before them.",
            [
                _attention_inputs((2,), 4, 3, 5, 2, 70, _blocked(4, 3, random.Random(7))),
                _attention_inputs((3,), 3, 3, 3, 3, 80),
                _attention_inputs((1,), 1, 3, 2, 1, 90),
                _attention_inputs((2, 1), 2, 4, 3, 2, 100, _bias(2, 4)),
                _attention_inputs((1, 2, 2), 2, 3, 5, 1, 110),
                _one_mask_for_all_heads(2, 3, 2, 3, 130),
            ],
            _draw_batches,
            decisive=True,
        ),
        Stage(
            "large scores",
            0.25,
            "Scores of 30,000 and of -30,000 are no more than a shift of a row, and the softmax takes it out. What is "
            "blocked has weight 0, however high its score is. `torch.softmax` does both.",
            [_large_scores(2, 4, 120), _gradients_beside_a_blocked_key(2, 3, 140)],
            lambda rng: [
                *(_large_scores(n, m, rng.randrange(10**6)) for n, m in ((3, 5), (2, rng.choice([6, 7])))),
                _gradients_beside_a_blocked_key(3, rng.randint(4, 6), rng.randrange(10**6)),
            ],
        ),
    ],
    [
        Mistake(
            "the scale is missing",
            "Dot products grow with the width. Divide the scores by the square root of d before the softmax.",
            _scaled_by(lambda query, key, value: 1.0),
        ),
        Mistake(
            "divided by d in place of its square root",
            "The standard deviation of a score is sqrt(d), the root of its variance d. Divided by d, the weights are "
            "nearly equal and attention attends to nothing.",
            _scaled_by(lambda query, key, value: query.size(-1)),
        ),
        Mistake(
            "divided by the length",
            "The number of keys has nothing to do with the size of a score: a score is a sum over the d numbers of a "
            "query. Divide by the root of the last axis of the query.",
            _scaled_by(lambda query, key, value: key.size(-2)),
        ),
        Mistake(
            "divided by the square root of the length",
            "The root is right, the size is not: a score is a sum over the d numbers of a query, not over the keys. "
            "Take the last axis of the query.",
            _scaled_by(lambda query, key, value: math.sqrt(key.size(-2))),
        ),
        Mistake(
            "the width of the values is used for the scale",
            "The scores are made of queries and keys; the values take no part in them and may have another width.",
            _scaled_by(lambda query, key, value: math.sqrt(value.size(-1))),
        ),
        Mistake(
            "multiplied by the square root of d",
            "The scores are already too large for the softmax: divide them.",
            _scaled_by(lambda query, key, value: 1 / math.sqrt(query.size(-1))),
        ),
        Mistake(
            "the batch is transposed too (key.T)",
            "`.T` turns all axes around, the batch included: right for a single matrix only. Exchange the last two: "
            "key.transpose(-2, -1).",
            _batch_turned,
        ),
        Mistake(
            "softmax over the queries",
            "Each query shares its attention over the keys: the softmax runs along the last axis, dim=-1.",
            _softmax_over_queries,
        ),
        Mistake(
            "the mask is not used",
            "Without the mask every query still sees every key. Add it to the scores before the softmax.",
            _mask_dropped,
        ),
        Mistake(
            "the mask comes after the softmax",
            "What is blocked has already taken its share, so rows no longer sum to 1. Mask first, then softmax.",
            _mask_after_softmax,
        ),
        Mistake(
            "the mask is scaled too",
            "Minus infinity does not mind, but a finite bias does: scale the scores first, then add the mask.",
            _mask_scaled_too,
        ),
        Mistake(
            "0 in the mask is taken for blocked",
            "Many programs write masked_fill(mask == 0, -1e9), for masks of 1 and 0. In ours 0 means allowed and minus "
            "infinity blocked: just add it to the scores.",
            _zero_blocks,
        ),
        Mistake(
            "the scores are returned in place of the weights",
            "The second result must be what the softmax makes of the scores: rows that sum to 1.",
            _scores_returned,
        ),
        Mistake(
            "the exponential overflows",
            "exp(89) is infinite in these numbers, and exp(-104) is 0: the weights become NaN. `torch.softmax` takes "
            "the largest score of a row off first.",
            _naive,
        ),
    ],
    trains=True,
    hints=(
        (
            "Section 1 has four steps for one query. Write them down for $n$ queries and $m$ keys: how many scores "
            "are there, and which shape do they have? Which numbers share one softmax: those of one query, or those "
            "of one key? Between which two steps does the mask $M$ come in the formula of section 3?"
        ),
        (
            "Two queries of width 4 and three keys: `(2, 4) @ (4, 3)` gives scores `(2, 3)`. So the keys `(3, 4)` "
            "must be turned, by exchanging their last two axes only: `transpose(-2, -1)`. Each score is a sum over 4 "
            "numbers, so it is divided by $\\sqrt 4 = 2$, not by anything made of 2 or 3. Each row of 3 gets a "
            "softmax of its own. Weights `(2, 3)` times values `(3, d_v)` are `(2, d_v)`.\n\n"
            "A mask may hold a finite number: a score of 4 with a mask of $-1$ becomes $4/2 - 1 = 1$. It would be "
            "1.5 if the mask were scaled too."
        ),
        (
            "The steps of section 1 with their shapes:\n"
            "```python\n"
            "scores = query @ key.transpose(-2, -1)  # (..., n, m)\n"
            "# divide by the square root of the width of a query: query.size(-1)\n"
            "if mask is not None:\n"
            "    ...  # what does the formula do with it?\n"
            "# weights, (..., n, m): torch.softmax, which of the two last axes holds the keys?\n"
            "# output, (..., n, d_v): a matrix product of the weights and the values\n"
            "# return both: first the output, then the weights\n"
            "```\n"
            "Test with one key, and with `mask = torch.full((n, m), -torch.inf).triu(1)`: each row of the weights "
            "sums to 1, the upper triangle is 0."
        ),
    ),
)
