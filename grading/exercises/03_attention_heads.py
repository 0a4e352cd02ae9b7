"""Exercises of notebook 03: from one dot product to heads, encoder and decoder layers."""

from __future__ import annotations

import math
import random
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import sympy
import torch
from torch import Tensor, nn

from grading.exercise import Exercise, Mistake, Stage
from helpers.checking.answers import Ask

INF = float("inf")


def _numbers(*shape: int, seed: int, size: float = 1.0) -> Tensor:
    """Returns normal numbers with one decimal, so that the file of examples stays short."""
    return (10 * size * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))).round() / 10


def _blocked(rows: int, columns: int, rng: random.Random) -> Tensor:
    """Returns a mask of 0 and minus infinity with at least one open place in each row."""
    mask = torch.zeros(rows, columns)
    for row in mask:
        for column in rng.sample(range(columns), rng.randint(1, columns - 1)):
            row[column] = -INF
    return mask


def _causal(size: int) -> Tensor:
    return torch.full((size, size), -INF).triu(1)


# --- tensor_shapes ----------------------------------------------------------------------------------------------------

Shapes = dict[str, tuple[int, ...]]


def tensor_shapes(b: int, n: int, d: int, h: int) -> Shapes:
    return {
        "x": (b, n, d),
        "query": (b, n, d),
        "query_heads": (b, h, n, d // h),
        "key_heads_turned": (b, h, d // h, n),
        "scores": (b, h, n, n),
        "weights": (b, h, n, n),
        "mixed": (b, h, n, d // h),
        "merged": (b, n, d),
        "output": (b, n, d),
    }


def _shapes(b: int, n: int, d: int, h: int, **changed: tuple[int, ...]) -> Shapes:
    return tensor_shapes(b, n, d, h) | changed


def _heads_of_full_width(b: int, n: int, d: int, h: int) -> Shapes:
    full = {"query_heads": (b, h, n, d), "key_heads_turned": (b, h, d, n), "mixed": (b, h, n, d)}
    return _shapes(b, n, d, h, **full)


def _merged_keeps_head_width(b: int, n: int, d: int, h: int) -> Shapes:
    return _shapes(b, n, d, h, merged=(b, n, d // h), output=(b, n, d // h))


def _counts_swapped(b: int, n: int, d: int, h: int) -> Shapes:
    w = d // h
    swapped = {"query_heads": (b, w, n, h), "key_heads_turned": (b, w, h, n), "mixed": (b, w, n, h)}
    return _shapes(b, n, d, h, **swapped, scores=(b, w, n, n), weights=(b, w, n, n))


def _heads_after_tokens(b: int, n: int, d: int, h: int) -> Shapes:
    w = d // h
    return _shapes(b, n, d, h, query_heads=(b, n, h, w), key_heads_turned=(b, n, w, h), mixed=(b, n, h, w))


def _scores_without_heads(b: int, n: int, d: int, h: int) -> Shapes:
    return _shapes(b, n, d, h, scores=(b, n, n), weights=(b, n, n))


def _numbers_against_numbers(b: int, n: int, d: int, h: int) -> Shapes:
    return _shapes(b, n, d, h, scores=(b, h, d // h, d // h), weights=(b, h, d // h, d // h))


def _key_not_turned(b: int, n: int, d: int, h: int) -> Shapes:
    return _shapes(b, n, d, h, key_heads_turned=(b, h, n, d // h))


def _draw_shapes(*entries: str, take: str = "result") -> Callable[[random.Random], list[Ask]]:
    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for _ in range(2):
            b, n, h, width = rng.sample(range(2, 18), 4)  # all four different
            asks.append(Ask((b, n, h * width, h), take=take, entries=entries))
        return asks

    return draw


def _shape_stage(name: str, look: str, *entries: str) -> Stage:
    return Stage(name, 0.5, look, [Ask((2, 7, 15, 3), entries=entries)], _draw_shapes(*entries), sealed=True)


TENSOR_SHAPES = Exercise(
    tensor_shapes,
    [
        Stage(
            "a dict with the nine names",
            0.5,
            "The docstring lists the nine names, in the order in which the tensors are made.",
            [Ask((2, 7, 15, 3), take="names")],
            _draw_shapes(take="names"),
        ),
        _shape_stage(
            "before and after the heads",
            "Outside the heads every token has d numbers, whatever h is: what goes in is as wide as what comes out.",
            *("x", "query", "merged", "output"),
        ),
        _shape_stage(
            "inside the heads",
            "The d numbers of a token are shared out: h heads with d/h numbers each. The head stands before the token.",
            *("query_heads", "key_heads_turned", "mixed"),
        ),
        _shape_stage(
            "scores and weights",
            "Each head has one score for each query and each key; the width of a head is summed away.",
            *("scores", "weights"),
        ),
    ],
    [
        Mistake(
            "d and d/h are mixed up: each head is as wide as the model",
            "The heads share the d numbers of a token: each gets d/h of them. h heads of width d would need h times "
            "the work and the memory.",
            _heads_of_full_width,
        ),
        Mistake(
            "d and d/h are mixed up: the merged heads are as wide as one head",
            "Merging puts the h heads of width d/h side by side again: h times d/h is d.",
            _merged_keeps_head_width,
        ),
        Mistake(
            "the number of heads and their width are exchanged",
            "There are h heads with d/h numbers each, not d/h heads with h numbers each.",
            _counts_swapped,
        ),
        Mistake(
            "the heads stand after the tokens",
            "The last two axes must be token and number, so that the matrix product pairs tokens with tokens: "
            "(b, h, n, d/h).",
            _heads_after_tokens,
        ),
        Mistake(
            "all heads share one square of scores",
            "Every head has scores of its own, that is what a head is: one n x n square for each of the h heads.",
            _scores_without_heads,
        ),
        Mistake(
            "scores compare numbers in place of tokens",
            "A score belongs to a pair of tokens: the product sums over the d/h numbers, and n x n remains.",
            _numbers_against_numbers,
        ),
        Mistake(
            "the key is not turned",
            "For the product query @ key the last two axes of the key change places: (b, h, d/h, n).",
            _key_not_turned,
        ),
    ],
)


# --- score_variance ---------------------------------------------------------------------------------------------------

D, A = sympy.symbols("D A", positive=True, integer=True)


def score_variance() -> sympy.Expr:
    return D / A


def _draw_widths(rng: random.Random) -> list[Ask]:
    pairs = [(heads, rng.randint(5, 99)) for heads in rng.sample(range(2, 17), 4)]
    return [Ask(at={"D": heads * width, "A": heads}) for heads, width in pairs]


SCORE_VARIANCE = Exercise(
    score_variance,
    [
        Stage(
            "one head: the whole width is in the dot product",
            0.5,
            "A dot product of width D is a sum of D products; the variances of independent terms add up.",
            [Ask(at={"D": 16, "A": 1})],
            lambda rng: [Ask(at={"D": rng.randint(3, 99), "A": 1})],
        ),
        Stage(
            "several heads",
            1.5,
            "How many numbers does the query of ONE head have, when A heads share a width of D?",
            [Ask(at={"D": 24, "A": 4}), Ask(at={"D": 512, "A": 8})],
            _draw_widths,
            sealed=True,
        ),
    ],
    [
        Mistake(
            "the heads are forgotten",
            "D is right for a single head. With A heads, a head has only D/A of the numbers, so its dot product has "
            "fewer terms.",
            lambda: D,
        ),
        Mistake(
            "squared",
            "Each of the products has variance 1, and variances of independent terms ADD: a sum of w terms has "
            "variance w, not w squared.",
            lambda: (D / A) ** 2,
        ),
        Mistake(
            "D squared",
            "Variances add up, they do not multiply; and a head has only D/A of the D numbers.",
            lambda: D**2,
        ),
        Mistake(
            "the standard deviation in place of the variance",
            "That is the square root of the variance: the right number to divide the scores by, but the question was "
            "the variance.",
            lambda: sympy.sqrt(D / A),
        ),
        Mistake(
            "the scale in place of the variance",
            "That is what the scores are multiplied with. The question was the variance of the scores before that.",
            lambda: 1 / sympy.sqrt(D / A),
        ),
        Mistake(
            "the variance of one product only",
            "One product of two such numbers has variance 1. A score is a sum of many of them: how many?",
            lambda: sympy.Integer(1),
        ),
        Mistake(
            "the variances of all heads are added",
            "The question is one score of one head, and a head has D/A numbers: divide by A, do not multiply.",
            lambda: D * A,
        ),
    ],
)


# --- scaled_dot_product_attention -------------------------------------------------------------------------------------

Pair = tuple[Tensor, Tensor]


def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Pair:
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
    return weights @ value, weights


def _attended(scores: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
    return weights @ value, weights


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


def _zero_blocks(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Pair:
    scores = query @ key.mT / math.sqrt(query.size(-1))
    return _attended(scores if mask is None else scores.masked_fill(mask == 0, -INF), value, None)


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


def _bias(n: int, m: int) -> Tensor:
    """Returns a mask of finite numbers, one for each distance, as relative positions have."""
    return -0.5 * (torch.arange(n)[:, None] - torch.arange(m)).abs().float()


def _draw_attention(*leading: int, masks: str = "", one_key: bool = False) -> Callable[[random.Random], list[Ask]]:
    """Draws sizes that all differ, so that a scale with any other of them is seen."""

    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for kind in masks.split() or ["none", "none"]:
            d = rng.choice([5, 7, 10, 12, 14, 18])
            n, m, d_value = rng.sample([size for size in range(2, 12) if size != d], 3)
            m = 1 if one_key else m
            mask = {"blocked": _blocked(n, max(m, 2), rng)[:, :m], "bias": _bias(n, m)}.get(kind)
            asks.append(_attention_inputs(leading, n, m, d, d_value, rng.randrange(10**6), mask))
        return asks

    return draw


def _draw_batches(rng: random.Random) -> list[Ask]:
    same = _attention_inputs((4,), 4, 4, 4, 4, rng.randrange(10**6))  # all sizes alike: key.T does not crash here
    return [*_draw_attention(3)(rng), *_draw_attention(2, 3, masks="blocked")(rng), same]


SCALED_DOT_PRODUCT_ATTENTION = Exercise(
    scaled_dot_product_attention,
    [
        Stage(
            "two tensors: output (n, d_v) and weights (n, m)",
            0.5,
            "Return the pair (output, weights): n queries, m keys, values of width d_v.",
            [_attention_inputs((), 4, 3, 5, 2, 10)],
            _draw_attention(),
            view="shape",
        ),
        Stage(
            "one key: nothing to choose",
            0.5,
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
            0.5,
            "Count axes from the end: only the last two change places, whatever stands before them.",
            [
                _attention_inputs((2,), 4, 3, 5, 2, 70, _blocked(4, 3, random.Random(7))),
                _attention_inputs((3,), 3, 3, 3, 3, 80),
            ],
            _draw_batches,
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
    ],
)


# --- split_heads and merge_heads --------------------------------------------------------------------------------------


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    b, n, d = x.shape
    return x.reshape(b, n, n_heads, d // n_heads).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    b, h, n, width = x.shape
    return x.transpose(1, 2).reshape(b, n, h * width)


def _split_reshaped(x: Tensor, n_heads: int) -> Tensor:
    b, n, d = x.shape
    return x.reshape(b, n_heads, n, d // n_heads)


def _split_interleaved(x: Tensor, n_heads: int) -> Tensor:
    b, n, d = x.shape
    return x.reshape(b, n, d // n_heads, n_heads).permute(0, 3, 1, 2)


def _split_not_turned(x: Tensor, n_heads: int) -> Tensor:
    return split_heads(x, n_heads).transpose(1, 2)


def _split_counts_swapped(x: Tensor, n_heads: int) -> Tensor:
    b, n, d = x.shape
    return x.reshape(b, n, d // n_heads, n_heads).transpose(1, 2)


def _split_into_batch(x: Tensor, n_heads: int) -> Tensor:
    return split_heads(x, n_heads).flatten(0, 1)


def _counted(*shape: int, rng: random.Random | None = None) -> Tensor:
    """Returns a tensor of different whole numbers as floats: in order, or shuffled."""
    numbers = list(range(math.prod(shape)))
    if rng is not None:
        rng.shuffle(numbers)
    return torch.tensor(numbers, dtype=torch.float32).reshape(shape)


def _draw_split(one_token: bool = False) -> Callable[[random.Random], list[Ask]]:
    def draw(rng: random.Random) -> list[Ask]:
        b, n, h, width = rng.sample(range(2, 8), 4)
        side = rng.randint(2, 4)
        shapes = [(b, 1 if one_token else n, h, width), (side, 1 if one_token else side, side, side)]
        return [Ask((_counted(b, n, h * width, rng=rng), h)) for b, n, h, width in shapes]

    return draw


SPLIT_HEADS = Exercise(
    split_heads,
    [
        Stage(
            "the shape (b, h, n, d/h)",
            0.5,
            "Four axes: sentence, head, token, and the d/h numbers that this head has of this token.",
            [Ask((_counted(2, 3, 8), 4))],
            _draw_split(),
            view="shape",
        ),
        Stage(
            "one token: which numbers go to which head",
            0.5,
            "Head 0 gets the first d/h numbers of the token, head 1 the next d/h, and so on: neighbours stay together.",
            [Ask((_counted(1, 1, 6), 2))],
            _draw_split(one_token=True),
        ),
        Stage(
            "several tokens",
            1,
            "Look at head 0: each of its rows must hold the first numbers of another token. Cut the last axis first, "
            "then exchange the axes of tokens and heads.",
            [Ask((_counted(1, 3, 4), 2)), Ask((_counted(2, 2, 4), 2))],
            _draw_split(),
        ),
    ],
    [
        Mistake(
            "reshaped without a transpose",
            "The shape is right, the content is not: a reshape goes on reading the numbers in their old order, so "
            "that a head gets ALL numbers of a few tokens. Reshape to (b, n, h, d/h), then transpose(1, 2).",
            _split_reshaped,
        ),
        Mistake(
            "each head takes every h-th number",
            "The last axis is cut into h pieces of d/h neighbours: reshape to (b, n, h, d/h), not to (b, n, d/h, h).",
            _split_interleaved,
        ),
        Mistake(
            "the heads stand after the tokens",
            "(b, n, h, d/h) is half of the way. Exchange the axes 1 and 2, so that each head has an n x d/h matrix.",
            _split_not_turned,
        ),
        Mistake(
            "the number of heads and their width are exchanged",
            "There are h heads with d/h numbers each: reshape to (b, n, h, d/h).",
            _split_counts_swapped,
        ),
        Mistake(
            "heads and sentences share one axis",
            "Some programs do that, with (b * h, n, d/h). Here the heads keep an axis of their own.",
            _split_into_batch,
        ),
    ],
)


def _merge_reshaped(x: Tensor) -> Tensor:
    b, h, n, width = x.shape
    return x.reshape(b, n, h * width)


def _merge_interleaved(x: Tensor) -> Tensor:
    return x.permute(0, 2, 3, 1).flatten(2)


def _heads_averaged(x: Tensor) -> Tensor:
    return x.mean(dim=1)


def _heads_added(x: Tensor) -> Tensor:
    return x.sum(dim=1)


def _heads_one_after_the_other(x: Tensor) -> Tensor:
    return x.flatten(1, 2)


def _draw_merge(rng: random.Random) -> list[Ask]:
    b, h, n, width = rng.sample(range(2, 7), 4)
    side = rng.randint(2, 4)
    return [Ask((_counted(*shape, rng=rng),)) for shape in ((b, h, n, width), (side,) * 4)]


MERGE_HEADS = Exercise(
    merge_heads,
    [
        Stage(
            "the shape (b, n, d)",
            0.5,
            "Three axes again: the h pieces of width d/h of each token stand side by side, h times d/h is d.",
            [Ask((_counted(2, 4, 3, 2),))],
            _draw_merge,
            view="shape",
        ),
        Stage(
            "the way back",
            0.5,
            "merge_heads(split_heads(x, h)) must be x again: undo the steps in the opposite order.",
            [Ask((_counted(1, 2, 3, 2),)), Ask((_counted(2, 2, 2, 2),))],
            _draw_merge,
        ),
    ],
    [
        Mistake(
            "reshaped without a transpose",
            "The tokens must stand before the heads again when you reshape: transpose(1, 2) first, otherwise pieces of "
            "different tokens end up in one row.",
            _merge_reshaped,
        ),
        Mistake(
            "the numbers of the heads alternate",
            "Each head's d/h numbers stay together: bring the axes into the order (b, n, h, d/h) before the reshape.",
            _merge_interleaved,
        ),
        Mistake(
            "the heads are averaged",
            "Nothing is added up: the heads stand side by side, and the row of a token has d numbers again.",
            _heads_averaged,
        ),
        Mistake(
            "the heads are added",
            "Nothing is added up: the heads stand side by side, and the row of a token has d numbers again.",
            _heads_added,
        ),
        Mistake(
            "the heads stand one below the other",
            "Each token must have one row of d numbers: put the heads side by side, along the last axis.",
            _heads_one_after_the_other,
        ),
    ],
)


# --- modules: recipes, weights, variants ------------------------------------------------------------------------------


class FeedForward(nn.Sequential):
    """The feed-forward part that the notebook gives."""

    def __init__(self, d_model: int, d_feedforward: int) -> None:
        hidden, output = nn.Linear(d_model, d_feedforward), nn.Linear(d_feedforward, d_model)
        super().__init__(OrderedDict(hidden=hidden, activation=nn.ReLU(), output=output))


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.value, self.output = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def parts(self, x: Tensor, source: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Returns query, key and value of all heads."""
        pairs = ((self.query, x), (self.key, source), (self.value, source))
        query, key, value = (split_heads(part(tokens), self.n_heads) for part, tokens in pairs)
        return query, key, value

    def forward(self, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
        query, key, value = self.parts(x, source)
        mixed, _ = scaled_dot_product_attention(query, key, value, mask)
        projected: Tensor = self.output(merge_heads(mixed))
        return projected


def _with(base: type[nn.Module], **methods: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a class like `base` with other methods."""
    return type(base.__name__, (base,), methods)


def _weights(kind: type[nn.Module], build: dict[str, Any], seed: int, silent: bool = False) -> dict[str, Tensor]:
    """Returns weights for a module by name; `silent` ones let every part give zeros.

    The weights of a norm differ from 1 and its biases from 0, so that no norm can be left out or used twice unseen.
    """
    made = {}
    for number, (name, parameter) in enumerate(kind(**build).named_parameters()):
        numbers = _numbers(*parameter.shape, seed=1000 * seed + number, size=0.5)
        made[name] = 1 + numbers / 2 if name.endswith("norm.weight") else numbers
        if silent and "output." in name:
            made[name] = torch.zeros(parameter.shape)
    return made


def _parameter_stage(points: float, look: str, *builds: dict[str, Any], draw: Callable[..., Any]) -> Stage:
    def draw_builds(rng: random.Random) -> list[Ask]:
        return [Ask(build=draw(rng), take="parameters") for _ in range(2)]

    public = [Ask(build=build, take="parameters") for build in builds]
    return Stage("names and shapes of the parameters", points, look, public, draw_builds, view="parameters")


# --- MultiHeadAttention -----------------------------------------------------------------------------------------------


def _one_softmax(self: Any, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
    mask = mask if mask is None or mask.dim() == 2 else mask[:, 0]
    mixed, _ = scaled_dot_product_attention(self.query(x), self.key(source), self.value(source), mask)
    return self.output(mixed)  # type: ignore[no-any-return]


def _first_head_for_all(self: Any, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
    query, key, value = self.parts(x, source)
    weights = scaled_dot_product_attention(query, key, value, mask)[1][:, :1]
    return self.output(merge_heads(weights @ value))  # type: ignore[no-any-return]


def _no_output_projection(self: Any, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
    query, key, value = self.parts(x, source)
    return merge_heads(scaled_dot_product_attention(query, key, value, mask)[0])


def _heads_scaled_by(divisor: Callable[[Tensor, int], float]) -> Callable[..., Tensor]:
    def forward(self: Any, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
        query, key, value = self.parts(x, source)
        mixed, _ = _attended(query @ key.mT / divisor(query, self.n_heads), value, mask)
        return self.output(merge_heads(mixed))  # type: ignore[no-any-return]

    return forward


def _sources_swapped(self: Any, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
    return MultiHeadAttention.forward(self, source, x, mask)


def _source_not_read(self: Any, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
    return MultiHeadAttention.forward(self, x, x, mask)


def _cut_by_reshape(self: Any, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
    pairs = ((self.query, x), (self.key, source), (self.value, source))
    query, key, value = (_split_reshaped(part(tokens), self.n_heads) for part, tokens in pairs)
    mixed, _ = scaled_dot_product_attention(query, key, value, mask)
    return self.output(merge_heads(mixed))  # type: ignore[no-any-return]


def _merged_by_reshape(self: Any, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
    query, key, value = self.parts(x, source)
    mixed, _ = scaled_dot_product_attention(query, key, value, mask)
    return self.output(_merge_reshaped(mixed))  # type: ignore[no-any-return]


def _cut_and_merged_by_reshape(self: Any, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
    pairs = ((self.query, x), (self.key, source), (self.value, source))
    query, key, value = (_split_reshaped(part(tokens), self.n_heads) for part, tokens in pairs)
    mixed, _ = scaled_dot_product_attention(query, key, value, mask)
    return self.output(_merge_reshaped(mixed))  # type: ignore[no-any-return]


def _heads_without_mask(self: Any, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
    return MultiHeadAttention.forward(self, x, source)


def _heads_masked_at_zero(self: Any, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
    query, key, value = self.parts(x, source)
    return self.output(merge_heads(_zero_blocks(query, key, value, mask)[0]))  # type: ignore[no-any-return]


def _values_are_keys(self: Any, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
    query, key, _ = self.parts(x, source)
    return self.output(merge_heads(scaled_dot_product_attention(query, key, key, mask)[0]))  # type: ignore[no-any-return]


HEADS_BUILD = {"d_model": 6, "n_heads": 3}


def _heads(seed: int, b: int, n: int, m: int, d: int, h: int, mask: Tensor | None = None, same: bool = False) -> Ask:
    build = {"d_model": d, "n_heads": h}
    x = _numbers(b, n, d, seed=seed)
    source = x if same else _numbers(b, m, d, seed=seed + 1)
    return Ask((x, source, mask), build=build, weights=_weights(MultiHeadAttention, build, seed))


def _padding(b: int, m: int, rng: random.Random) -> Tensor:
    """Returns a mask `(b, 1, 1, m)`: minus infinity from some place of each sentence on."""
    lengths = torch.tensor([rng.randint(1, m - 1) for _ in range(b)])
    padded = torch.arange(m) >= lengths[:, None]
    return torch.zeros(b, m).masked_fill(padded, -INF)[:, None, None]


HEAD_SIZES = ((12, 4), (15, 3), (10, 5), (14, 2), (20, 4))  # d, h: d/h, d and their roots differ from h


def _draw_heads(kind: str = "") -> Callable[[random.Random], list[Ask]]:
    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for d, h in rng.sample(HEAD_SIZES, 2):
            b, n, m = rng.sample([size for size in range(2, 9) if size not in (h, d // h)], 3)
            h, m = 1 if kind == "one head" else h, 1 if kind == "one token" else m
            masks = [_blocked(n, m, rng), _padding(b, m, rng)] if kind == "mask" else [None]
            asks += [_heads(rng.randrange(10**6), b, n, m, d, h, mask) for mask in masks]
        if kind == "self":
            return [_heads(rng.randrange(10**6), 2, 5, 5, 12, 4, same=True)]
        return asks

    return draw


def _draw_head_build(rng: random.Random) -> dict[str, Any]:
    d, h = rng.choice(HEAD_SIZES)
    return {"d_model": d, "n_heads": h}


MULTI_HEAD_ATTENTION = Exercise(
    MultiHeadAttention,
    [
        _parameter_stage(
            0.5,
            "Four nn.Linear(d_model, d_model) called query, key, value and output, whatever n_heads is.",
            HEADS_BUILD,
            draw=_draw_head_build,
        ),
        Stage(
            "the shape of the result: that of x, also when the source is longer",
            0.5,
            "One row for each token that asks: x is (b, n, d), and so is the result, for a source of any length m.",
            [_heads(1, 2, 4, 5, 6, 3)],
            _draw_heads(),
            view="shape",
        ),
        Stage(
            "a source of one token: only value and output count",
            0.5,
            "With a single key each weight is 1: the result is output(value(source)) for every token of x.",
            [_heads(2, 2, 3, 1, 6, 3)],
            _draw_heads("one token"),
        ),
        Stage(
            "one head",
            0.5,
            "Queries come from x, keys and values from the source; the merged heads go through the output projection.",
            [_heads(3, 1, 4, 5, 6, 1)],
            _draw_heads("one head"),
        ),
        Stage(
            "several heads",
            1,
            "Each head has its own d/h numbers of query, key and value, and its own softmax, with the scale of ITS "
            "width.",
            [_heads(4, 2, 4, 5, 6, 3)],
            _draw_heads(),
        ),
        Stage(
            "self-attention: the source is x itself",
            0.5,
            "Nothing special: the same tensor is given twice.",
            [_heads(5, 2, 4, 4, 6, 3, same=True)],
            _draw_heads("self"),
        ),
        Stage(
            "with a mask",
            0.5,
            "Hand the mask on to scaled_dot_product_attention; (n, m) and (b, 1, 1, m) both fit scores of (b, h, n, "
            "m).",
            [
                _heads(6, 2, 4, 5, 6, 3, _blocked(4, 5, random.Random(1))),
                _heads(7, 2, 4, 5, 6, 3, _padding(2, 5, random.Random(2))),
            ],
            _draw_heads("mask"),
        ),
    ],
    [
        Mistake(
            "the heads share their scores: there is only one softmax",
            "The width is never split, so this is one head of width d. Split query, key and value first; each head "
            "then has scores and a softmax of its own.",
            _with(MultiHeadAttention, forward=_one_softmax),
        ),
        Mistake(
            "all heads use the scores of the first",
            "Heads that share their scores all look at the same places, and one would do. Each head needs its own "
            "weights.",
            _with(MultiHeadAttention, forward=_first_head_for_all),
        ),
        Mistake(
            "the output projection is missing",
            "The merged heads must go through `self.output`: it is the only place where the heads are mixed.",
            _with(MultiHeadAttention, forward=_no_output_projection),
        ),
        Mistake(
            "scaled by the width of the model in place of that of a head",
            "A head's dot product is a sum of d/h products: divide by the square root of d/h, the last axis of the "
            "split query.",
            _with(MultiHeadAttention, forward=_heads_scaled_by(lambda q, h: math.sqrt(q.size(-1) * h))),
        ),
        Mistake(
            "scaled by the root of the number of heads",
            "A head's dot product is a sum of d/h products, however many heads there are: divide by the square root of "
            "d/h, the last axis of the split query.",
            _with(MultiHeadAttention, forward=_heads_scaled_by(lambda q, h: math.sqrt(h))),
        ),
        Mistake(
            "the scale is missing",
            "Divide the scores of each head by the square root of d/h.",
            _with(MultiHeadAttention, forward=_heads_scaled_by(lambda q, h: 1.0)),
        ),
        Mistake(
            "x and the source are swapped",
            "x asks, so it makes the queries; the source is read, so it makes keys and values. The result has a row "
            "for each token of x.",
            _with(MultiHeadAttention, forward=_sources_swapped),
        ),
        Mistake(
            "the source is not read",
            "Keys and values are made from x, so x only ever looks at itself. They must come from the source.",
            _with(MultiHeadAttention, forward=_source_not_read),
        ),
        Mistake(
            "the heads are cut by a reshape without a transpose",
            "Shapes fit, but a head gets all numbers of a few tokens in place of a few numbers of all. Use "
            "split_heads.",
            _with(MultiHeadAttention, forward=_cut_by_reshape),
        ),
        Mistake(
            "the heads are merged by a reshape without a transpose",
            "Pieces of different tokens end up in one row. Use merge_heads.",
            _with(MultiHeadAttention, forward=_merged_by_reshape),
        ),
        Mistake(
            "cut and merged by reshapes without a transpose",
            "The two mistakes do not undo each other: in between, a head compared tokens that are mixtures. Use "
            "split_heads and merge_heads.",
            _with(MultiHeadAttention, forward=_cut_and_merged_by_reshape),
        ),
        Mistake(
            "the values are the keys",
            "What a token offers to be found by (key) and what it gives (value) are two projections: use `self.value`.",
            _with(MultiHeadAttention, forward=_values_are_keys),
        ),
        Mistake(
            "0 in the mask is taken for blocked",
            "Many programs write masked_fill(mask == 0, -1e9), for masks of 1 and 0. In ours 0 means allowed and minus "
            "infinity blocked: add it to the scores, or hand it on to scaled_dot_product_attention.",
            _with(MultiHeadAttention, forward=_heads_masked_at_zero),
        ),
        Mistake(
            "the mask is not used",
            "The mask must reach the scores of every head: hand it on to scaled_dot_product_attention.",
            _with(MultiHeadAttention, forward=_heads_without_mask),
        ),
    ],
)


# --- EncoderLayer -----------------------------------------------------------------------------------------------------


class EncoderLayer(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_feedforward: int, norm_first: bool = False) -> None:
        super().__init__()
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_feedforward)
        self.feed_forward_norm = nn.LayerNorm(d_model)

    def add(self, x: Tensor, part: Callable[[Tensor], Tensor], norm: nn.Module) -> Tensor:
        """Returns x with what a part makes of it added, and the norm where it belongs."""
        result: Tensor = x + part(norm(x)) if self.norm_first else norm(x + part(x))
        return result

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.add(x, lambda y: self.attention(y, y, mask), self.attention_norm)
        return self.add(x, self.feed_forward, self.feed_forward_norm)


def _no_residual(self: Any, x: Tensor, part: Callable[[Tensor], Tensor], norm: nn.Module) -> Tensor:
    return part(norm(x)) if self.norm_first else norm(part(x))


def _residual_around(*kept: str) -> Callable[..., Tensor]:
    """Returns an `add` with a residual around some parts only, told by the names of their norms."""

    def add(self: Any, x: Tensor, part: Callable[[Tensor], Tensor], norm: nn.Module) -> Tensor:
        whole = any(norm is getattr(self, name) for name in kept)
        return EncoderLayer.add(self, x, part, norm) if whole else _no_residual(self, x, part, norm)

    return add


def _always_post(self: Any, x: Tensor, part: Callable[[Tensor], Tensor], norm: nn.Module) -> Tensor:
    return norm(x + part(x))  # type: ignore[no-any-return]


def _always_pre(self: Any, x: Tensor, part: Callable[[Tensor], Tensor], norm: nn.Module) -> Tensor:
    return x + part(norm(x))


def _orders_swapped(self: Any, x: Tensor, part: Callable[[Tensor], Tensor], norm: nn.Module) -> Tensor:
    return norm(x + part(x)) if self.norm_first else x + part(norm(x))


def _norm_before_sum(self: Any, x: Tensor, part: Callable[[Tensor], Tensor], norm: nn.Module) -> Tensor:
    return x + part(norm(x)) if self.norm_first else x + norm(part(x))


def _normed_residual(self: Any, x: Tensor, part: Callable[[Tensor], Tensor], norm: nn.Module) -> Tensor:
    if self.norm_first:
        x = norm(x)
        return x + part(x)
    return norm(x + part(x))  # type: ignore[no-any-return]


def _no_norm(self: Any, x: Tensor, part: Callable[[Tensor], Tensor], norm: nn.Module) -> Tensor:
    return x + part(x)


def _one_norm(self: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    x = self.add(x, lambda y: self.attention(y, y, mask), self.attention_norm)
    return self.add(x, self.feed_forward, self.attention_norm)  # type: ignore[no-any-return]


def _norms_swapped(self: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    x = self.add(x, lambda y: self.attention(y, y, mask), self.feed_forward_norm)
    return self.add(x, self.feed_forward, self.attention_norm)  # type: ignore[no-any-return]


def _layer_without_mask(self: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    return EncoderLayer.forward(self, x)


def _no_feed_forward(self: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    return self.add(x, lambda y: self.attention(y, y, mask), self.attention_norm)  # type: ignore[no-any-return]


def _feed_forward_first(self: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    x = self.add(x, self.feed_forward, self.feed_forward_norm)
    return self.add(x, lambda y: self.attention(y, y, mask), self.attention_norm)  # type: ignore[no-any-return]


def _raw_keys(self: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    """In pre-norm only the queries are normalised."""
    source = x
    x = self.add(x, lambda y: self.attention(y, source, mask), self.attention_norm)
    return self.add(x, self.feed_forward, self.feed_forward_norm)  # type: ignore[no-any-return]


def _layer(seed: int, b: int, n: int, build: dict[str, Any], mask: Tensor | None = None, silent: bool = False) -> Ask:
    weights = _weights(EncoderLayer, build, seed, silent)
    return Ask((_numbers(b, n, build["d_model"], seed=seed), mask), build=build, weights=weights)


def _layer_build(d: int, h: int, f: int, norm_first: bool = False) -> dict[str, Any]:
    return {"d_model": d, "n_heads": h, "d_feedforward": f, "norm_first": norm_first}


def _draw_layer_build(rng: random.Random, norm_first: bool | None = None) -> dict[str, Any]:
    d, h = rng.choice(HEAD_SIZES)
    return _layer_build(d, h, rng.choice([9, 11, 13]), rng.random() < 0.5 if norm_first is None else norm_first)


def _draw_layer(kind: str) -> Callable[[random.Random], list[Ask]]:
    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for norm_first in {"post": (False, False), "pre": (True, True)}.get(kind, (False, True)):
            build, (b, n) = _draw_layer_build(rng, norm_first), rng.sample([6, 7, 8, 9], 2)
            masks = [_causal(n), _padding(b, n, rng)] if kind == "mask" else [None]
            asks += [_layer(rng.randrange(10**6), b, n, build, mask, kind == "silent") for mask in masks]
        return asks

    return draw


POST, PRE = _layer_build(4, 2, 3), _layer_build(4, 2, 3, True)
NAMES_OF_A_LAYER = (
    "attention (yours, or SpareAttention), attention_norm (nn.LayerNorm), feed_forward (FeedForward) and "
    "feed_forward_norm (nn.LayerNorm)."
)
SILENT_LOOK = (
    "Here every part gives zeros. With the residual, x + 0 is left, then the norms do their work (post-norm), or "
    "nothing at all happens (pre-norm). Without it, the token would be lost."
)

ENCODER_LAYER = Exercise(
    EncoderLayer,
    [
        _parameter_stage(0.5, f"Four parts with these names: {NAMES_OF_A_LAYER}", POST, draw=_draw_layer_build),
        Stage(
            "silent parts: what the residuals carry",
            0.5,
            SILENT_LOOK,
            [_layer(1, 1, 3, POST, silent=True), _layer(2, 1, 3, PRE, silent=True)],
            _draw_layer("silent"),
        ),
        Stage(
            "post-norm: norm(x + part(x)), twice",
            1,
            "First attention, then feed-forward. Each time: x plus what the part makes of x, and then the norm of "
            "the sum.",
            [_layer(3, 2, 3, POST)],
            _draw_layer("post"),
        ),
        Stage(
            "pre-norm: x + part(norm(x)), twice",
            0.5,
            "With norm_first the norm stands before the part; what is added to is x itself, not its norm.",
            [_layer(4, 2, 3, PRE)],
            _draw_layer("pre"),
        ),
        Stage(
            "with a mask",
            0.5,
            "Hand the mask on to the attention.",
            [_layer(5, 2, 3, POST, _causal(3)), _layer(6, 2, 3, PRE, _padding(2, 3, random.Random(1)))],
            _draw_layer("mask"),
        ),
    ],
    [
        Mistake(
            "the residuals are missing",
            "The token is replaced by what the part makes of it. It must be added to: x + part(x).",
            _with(EncoderLayer, add=_no_residual),
        ),
        Mistake(
            "the residual around the attention is missing",
            "There is one around the feed-forward part; the attention needs one too: x + attention(x).",
            _with(EncoderLayer, add=_residual_around("feed_forward_norm")),
        ),
        Mistake(
            "the residual around the feed-forward part is missing",
            "There is one around the attention; the feed-forward part needs one too: x + feed_forward(x).",
            _with(EncoderLayer, add=_residual_around("attention_norm")),
        ),
        Mistake(
            "always post-norm",
            "norm_first is not looked at. When it is True, the norm stands before the part: x + part(norm(x)).",
            _with(EncoderLayer, add=_always_post),
        ),
        Mistake(
            "always pre-norm",
            "This is pre-norm, x + part(norm(x)), also when norm_first is False: then it is norm(x + part(x)).",
            _with(EncoderLayer, add=_always_pre),
        ),
        Mistake(
            "pre-norm and post-norm are exchanged",
            "norm_first=True means norm, then part: x + part(norm(x)). False, the default, means norm(x + part(x)).",
            _with(EncoderLayer, add=_orders_swapped),
        ),
        Mistake(
            "post-norm takes the norm before the sum",
            "x + norm(part(x)) never normalises x itself. Post-norm takes the norm of the sum: norm(x + part(x)).",
            _with(EncoderLayer, add=_norm_before_sum),
        ),
        Mistake(
            "pre-norm adds to the normalised x",
            "The residual path must stay free: x + part(norm(x)). `x = norm(x)` overwrites the x that you add to.",
            _with(EncoderLayer, add=_normed_residual),
        ),
        Mistake(
            "in pre-norm only the queries are normalised",
            "In self-attention, queries, keys and values come from the same tensor, and that is norm(x).",
            _with(EncoderLayer, forward=_raw_keys),
        ),
        Mistake(
            "the norms are missing",
            "Nothing keeps the numbers at one size here. Each of the two parts has a norm.",
            _with(EncoderLayer, add=_no_norm),
        ),
        Mistake(
            "one norm is used twice",
            "attention_norm and feed_forward_norm have weights of their own: use each at its place.",
            _with(EncoderLayer, forward=_one_norm),
        ),
        Mistake(
            "the two norms are exchanged",
            "attention_norm belongs to the attention, feed_forward_norm to the feed-forward part. Each has weights of "
            "its own.",
            _with(EncoderLayer, forward=_norms_swapped),
        ),
        Mistake(
            "the feed-forward part is missing",
            "After the attention and its norm comes the feed-forward part, with its own residual and norm.",
            _with(EncoderLayer, forward=_no_feed_forward),
        ),
        Mistake(
            "the feed-forward part comes first",
            "First the tokens read each other (attention), then each token thinks for itself (feed-forward).",
            _with(EncoderLayer, forward=_feed_forward_first),
        ),
        Mistake(
            "the mask is not used",
            "The layer takes a mask and must hand it on: self.attention(x, x, mask).",
            _with(EncoderLayer, forward=_layer_without_mask),
        ),
    ],
)


# --- Encoder ----------------------------------------------------------------------------------------------------------


class Encoder(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_feedforward: int, n_layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(d_model, n_heads, d_feedforward) for _ in range(n_layers))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        for layer in self.layers:
            x = layer(x, mask)
        return x


class _OneLayerManyTimes(Encoder):
    def __init__(self, d_model: int, n_heads: int, d_feedforward: int, n_layers: int) -> None:
        super().__init__(d_model, n_heads, d_feedforward, 0)
        self.layers = nn.ModuleList([EncoderLayer(d_model, n_heads, d_feedforward)] * n_layers)


class _PlainList(Encoder):
    def __init__(self, d_model: int, n_heads: int, d_feedforward: int, n_layers: int) -> None:
        nn.Module.__init__(self)
        self.layers = [EncoderLayer(d_model, n_heads, d_feedforward) for _ in range(n_layers)]  # type: ignore[assignment]


def _mask_in_first_layer(self: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    for number, layer in enumerate(self.layers):
        x = layer(x, mask if number == 0 else None)
    return x


def _mask_in_last_layer(self: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    for number, layer in enumerate(self.layers):
        x = layer(x, mask if number == len(self.layers) - 1 else None)
    return x


def _no_mask_in_stack(self: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    return Encoder.forward(self, x)


def _only_last_counts(self: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    return self.layers[-1](x, mask)  # type: ignore[no-any-return]


def _only_first_layer(self: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    return self.layers[0](x, mask)  # type: ignore[no-any-return]


def _results_added(self: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    for layer in self.layers:
        x = x + layer(x, mask)
    return x


def _stack(seed: int, b: int, n: int, build: dict[str, Any], mask: Tensor | None = None) -> Ask:
    weights = _weights(Encoder, build, seed)
    return Ask((_numbers(b, n, build["d_model"], seed=seed), mask), build=build, weights=weights)


def _stack_build(n_layers: int, d: int = 4, h: int = 2, f: int = 3) -> dict[str, Any]:
    return {"d_model": d, "n_heads": h, "d_feedforward": f, "n_layers": n_layers}


def _draw_stack(low: int, high: int, masked: bool = False) -> Callable[[random.Random], list[Ask]]:
    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for layers in rng.sample(range(low, high + 1), min(2, high - low + 1)):
            n, seed = rng.randint(3, 6), rng.randrange(10**6)
            asks.append(_stack(seed, 2, n, _stack_build(layers, 6, 3, 5), _causal(n) if masked else None))
        return asks

    return draw


ENCODER = Exercise(
    Encoder,
    [
        _parameter_stage(
            0.5,
            "One `layers = nn.ModuleList(...)` with n_layers different layers: layers.0, layers.1 and so on.",
            _stack_build(3),
            draw=lambda rng: _stack_build(rng.randint(3, 5), 6, 3, 5),
        ),
        Stage(
            "one layer",
            0.5,
            "With one layer the encoder gives what that layer gives.",
            [_stack(1, 1, 3, _stack_build(1))],
            _draw_stack(1, 1),
        ),
        Stage(
            "several layers",
            0.5,
            "The output of a layer is the input of the next one: x = layer(x, mask).",
            [_stack(2, 1, 3, _stack_build(2))],
            _draw_stack(2, 4),
        ),
        Stage(
            "the mask, in every layer",
            0.5,
            "Every layer looks at all tokens anew, so every layer needs the mask.",
            [_stack(3, 1, 3, _stack_build(3), _causal(3))],
            _draw_stack(2, 4, masked=True),
        ),
    ],
    [
        Mistake(
            "the mask is dropped from the second layer on",
            "What the first layer hides, the second one shows: a token that may not be seen leaks in there. Give the "
            "mask to every layer.",
            _with(Encoder, forward=_mask_in_first_layer),
        ),
        Mistake(
            "only the last layer gets the mask",
            "By then the layers below have already let everything through. Give the mask to every layer.",
            _with(Encoder, forward=_mask_in_last_layer),
        ),
        Mistake(
            "no layer gets the mask",
            "The encoder takes a mask and must hand it on to each of its layers.",
            _with(Encoder, forward=_no_mask_in_stack),
        ),
        Mistake(
            "one layer is used again and again",
            "`[layer] * n` holds the SAME layer n times, with one set of weights. Make a new layer for each place.",
            _OneLayerManyTimes,
        ),
        Mistake(
            "the layers are in a plain list",
            "torch does not look into a Python list: these weights would not train, move to a GPU or be saved. Use "
            "nn.ModuleList.",
            _PlainList,
        ),
        Mistake(
            "every layer reads the input anew",
            "Only the last layer has an effect here. Each layer must read what the one before it has made.",
            _with(Encoder, forward=_only_last_counts),
        ),
        Mistake(
            "it stops after the first layer",
            "Is there a `return` inside the loop? All layers must run before the result is returned.",
            _with(Encoder, forward=_only_first_layer),
        ),
        Mistake(
            "the layers' results are added to x again",
            "Each layer already has its residuals inside: x = layer(x, mask), without x +.",
            _with(Encoder, forward=_results_added),
        ),
    ],
)


# --- DecoderLayer -----------------------------------------------------------------------------------------------------


class DecoderLayer(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_feedforward: int, norm_first: bool = False) -> None:
        super().__init__()
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.attention_norm = nn.LayerNorm(d_model)
        self.cross_attention = MultiHeadAttention(d_model, n_heads)
        self.cross_attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_feedforward)
        self.feed_forward_norm = nn.LayerNorm(d_model)

    def add(self, x: Tensor, part: Callable[[Tensor], Tensor], norm: nn.Module) -> Tensor:
        """Returns x with what a part makes of it added, and the norm where it belongs."""
        result: Tensor = x + part(norm(x)) if self.norm_first else norm(x + part(x))
        return result

    def read(self, y: Tensor, memory: Tensor, memory_mask: Tensor | None) -> Tensor:
        """Returns what y finds in the memory."""
        found: Tensor = self.cross_attention(y, memory, memory_mask)
        return found

    def forward(
        self, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
    ) -> Tensor:
        x = self.add(x, lambda y: self.attention(y, y, mask), self.attention_norm)
        x = self.add(x, lambda y: self.read(y, memory, memory_mask), self.cross_attention_norm)
        return self.add(x, self.feed_forward, self.feed_forward_norm)


def _read_swapped(self: Any, y: Tensor, memory: Tensor, memory_mask: Tensor | None) -> Tensor:
    return self.cross_attention(memory, y)  # type: ignore[no-any-return]


def _read_itself(self: Any, y: Tensor, memory: Tensor, memory_mask: Tensor | None) -> Tensor:
    return self.cross_attention(y, y)  # type: ignore[no-any-return]


def _read_without_mask(self: Any, y: Tensor, memory: Tensor, memory_mask: Tensor | None) -> Tensor:
    return self.cross_attention(y, memory)  # type: ignore[no-any-return]


def _read_with_first_attention(self: Any, y: Tensor, memory: Tensor, memory_mask: Tensor | None) -> Tensor:
    return self.attention(y, memory, memory_mask)  # type: ignore[no-any-return]


def _read_normed_memory(self: Any, y: Tensor, memory: Tensor, memory_mask: Tensor | None) -> Tensor:
    source = self.cross_attention_norm(memory) if self.norm_first else memory
    return self.cross_attention(y, source, memory_mask)  # type: ignore[no-any-return]


def _no_cross_attention(
    self: Any, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
) -> Tensor:
    return EncoderLayer.forward(self, x, mask)


def _future_seen(
    self: Any, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
) -> Tensor:
    return DecoderLayer.forward(self, x, memory, None, memory_mask)


def _causal_mask_twice(
    self: Any, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
) -> Tensor:
    return DecoderLayer.forward(self, x, memory, mask, mask)


def _masks_swapped(
    self: Any, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
) -> Tensor:
    return DecoderLayer.forward(self, x, memory, memory_mask, mask)


def _cross_attention_first(
    self: Any, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
) -> Tensor:
    x = self.add(x, lambda y: self.read(y, memory, memory_mask), self.cross_attention_norm)
    x = self.add(x, lambda y: self.attention(y, y, mask), self.attention_norm)
    return self.add(x, self.feed_forward, self.feed_forward_norm)  # type: ignore[no-any-return]


def _decoder(
    seed: int,
    b: int,
    n: int,
    m: int,
    build: dict[str, Any],
    *,
    mask: Tensor | None = None,
    memory_mask: Tensor | None = None,
    silent: bool = False,
) -> Ask:
    x, memory = _numbers(b, n, build["d_model"], seed=seed), _numbers(b, m, build["d_model"], seed=seed + 1)
    return Ask((x, memory, mask, memory_mask), build=build, weights=_weights(DecoderLayer, build, seed, silent))


def _draw_decoder(kind: str) -> Callable[[random.Random], list[Ask]]:
    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for norm_first in {"post": (False, False), "pre": (True, True)}.get(kind, (False, True)):
            build, (b, n, m) = _draw_layer_build(rng, norm_first), rng.sample([3, 6, 7, 8, 9], 3)
            m = n if kind == "same" else m
            mask = _causal(n) if kind in ("causal", "same") else None
            memory_mask = _padding(b, m, rng) if kind in ("padding", "same") else None
            masks = {"mask": mask, "memory_mask": memory_mask}
            asks.append(_decoder(rng.randrange(10**6), b, n, m, build, silent=kind == "silent", **masks))
        return asks

    return draw


DECODER_LAYER = Exercise(
    DecoderLayer,
    [
        _parameter_stage(
            0.5,
            f"The parts of an EncoderLayer, {NAMES_OF_A_LAYER[:-1]}, and two more: cross_attention and "
            "cross_attention_norm.",
            POST,
            draw=_draw_layer_build,
        ),
        Stage(
            "the shape of the result: that of x",
            0.5,
            "x asks and the memory answers: the result has one row for each token of x, whatever the memory's length.",
            [_decoder(1, 1, 2, 3, POST)],
            _draw_decoder("post"),
            view="shape",
        ),
        Stage(
            "silent parts: what the residuals carry",
            0.5,
            SILENT_LOOK,
            [_decoder(2, 1, 2, 3, POST, silent=True), _decoder(3, 1, 2, 3, PRE, silent=True)],
            _draw_decoder("silent"),
        ),
        Stage(
            "post-norm",
            0.5,
            "Three times norm(x + part(x)): x reads itself, then the memory, then the feed-forward part.",
            [_decoder(4, 1, 3, 4, POST)],
            _draw_decoder("post"),
        ),
        Stage(
            "pre-norm",
            0.5,
            "Three times x + part(norm(x)). Only x is normalised here: the memory has been, by the encoder.",
            [_decoder(5, 1, 3, 4, PRE)],
            _draw_decoder("pre"),
        ),
        Stage(
            "the causal mask, in self-attention",
            0.5,
            "`mask` belongs to the attention in which x reads itself.",
            [_decoder(6, 1, 3, 2, POST, mask=_causal(3)), _decoder(9, 1, 3, 2, PRE, mask=_causal(3))],
            _draw_decoder("causal"),
        ),
        Stage(
            "the mask of the memory, in cross-attention",
            0.5,
            "`memory_mask` belongs to the attention in which x reads the memory: it hides the padding there.",
            [
                _decoder(7, 2, 2, 3, POST, memory_mask=_padding(2, 3, random.Random(4))),
                _decoder(10, 2, 2, 3, PRE, memory_mask=_padding(2, 3, random.Random(5))),
            ],
            _draw_decoder("padding"),
        ),
        Stage(
            "both masks",
            0.5,
            "Each mask at its own place, even where the lengths would allow to exchange them.",
            [
                _decoder(8, 2, 3, 3, PRE, mask=_causal(3), memory_mask=_padding(2, 3, random.Random(6))),
                _decoder(11, 2, 3, 3, POST, mask=_causal(3), memory_mask=_padding(2, 3, random.Random(7))),
            ],
            _draw_decoder("same"),
        ),
    ],
    [
        Mistake(
            "memory and queries are swapped",
            "The decoder asks: queries come from x. The encoder's memory answers: keys and values come from it.",
            _with(DecoderLayer, read=_read_swapped),
        ),
        Mistake(
            "cross-attention reads x in place of the memory",
            "The memory has no effect: nothing of the source sentence can reach the translation. Its keys and values "
            "come from the memory.",
            _with(DecoderLayer, read=_read_itself),
        ),
        Mistake(
            "there is no cross-attention",
            "This is an encoder layer. Between self-attention and feed-forward, x must read the memory.",
            _with(DecoderLayer, forward=_no_cross_attention),
        ),
        Mistake(
            "self-attention is used for the memory, too",
            "cross_attention has weights of its own: self.cross_attention(x, memory, memory_mask).",
            _with(DecoderLayer, read=_read_with_first_attention),
        ),
        Mistake(
            "cross-attention comes first",
            "First x reads itself, then the memory, then comes the feed-forward part.",
            _with(DecoderLayer, forward=_cross_attention_first),
        ),
        Mistake(
            "the residuals are missing",
            "The token is replaced by what each part makes of it. It must be added to: x + part(x).",
            _with(DecoderLayer, add=_no_residual),
        ),
        Mistake(
            "the residual around the cross-attention is missing",
            "Here the decoder forgets its own words and keeps only what it found in the memory: x + "
            "cross_attention(...).",
            _with(DecoderLayer, add=_residual_around("attention_norm", "feed_forward_norm")),
        ),
        Mistake(
            "the residual around the self-attention is missing",
            "The other two parts have one; self-attention needs one too: x + attention(...).",
            _with(DecoderLayer, add=_residual_around("cross_attention_norm", "feed_forward_norm")),
        ),
        Mistake(
            "the residual around the feed-forward part is missing",
            "The two attentions have one; the feed-forward part needs one too: x + feed_forward(...).",
            _with(DecoderLayer, add=_residual_around("attention_norm", "cross_attention_norm")),
        ),
        Mistake(
            "pre-norm and post-norm are exchanged",
            "norm_first=True means norm, then part: x + part(norm(x)). False, the default, means norm(x + part(x)).",
            _with(DecoderLayer, add=_orders_swapped),
        ),
        Mistake(
            "post-norm takes the norm before the sum",
            "x + norm(part(x)) never normalises x itself. Post-norm takes the norm of the sum: norm(x + part(x)).",
            _with(DecoderLayer, add=_norm_before_sum),
        ),
        Mistake(
            "pre-norm adds to the normalised x",
            "The residual path must stay free: x + part(norm(x)). `x = norm(x)` overwrites the x that you add to.",
            _with(DecoderLayer, add=_normed_residual),
        ),
        Mistake(
            "always post-norm",
            "norm_first is not looked at. When it is True, the norm stands before the part: x + part(norm(x)).",
            _with(DecoderLayer, add=_always_post),
        ),
        Mistake(
            "always pre-norm",
            "This is pre-norm, x + part(norm(x)), also when norm_first is False: then it is norm(x + part(x)).",
            _with(DecoderLayer, add=_always_pre),
        ),
        Mistake(
            "the memory is normalised again",
            "In pre-norm, norm x before the cross-attention, but not the memory: the encoder has already normalised "
            "it.",
            _with(DecoderLayer, read=_read_normed_memory),
        ),
        Mistake(
            "self-attention without the causal mask",
            "While training, the words to come stand in x: without the mask each position reads its own answer.",
            _with(DecoderLayer, forward=_future_seen),
        ),
        Mistake(
            "the causal mask is used for the memory, too",
            "`mask` says what x may see of itself. The source sentence is known as a whole: cross-attention gets "
            "memory_mask.",
            _with(DecoderLayer, forward=_causal_mask_twice),
        ),
        Mistake(
            "the mask is dropped in the second attention",
            "memory_mask never reaches the cross-attention, so that x reads the padding of the source.",
            _with(DecoderLayer, read=_read_without_mask),
        ),
        Mistake(
            "the two masks are exchanged",
            "`mask` says what x may see of itself, `memory_mask` what it may see of the memory.",
            _with(DecoderLayer, forward=_masks_swapped),
        ),
    ],
)

EXERCISES = [
    SCORE_VARIANCE,
    SCALED_DOT_PRODUCT_ATTENTION,
    TENSOR_SHAPES,
    SPLIT_HEADS,
    MERGE_HEADS,
    MULTI_HEAD_ATTENTION,
    ENCODER_LAYER,
    ENCODER,
    DECODER_LAYER,
]
