"""Exercise MultiHeadAttention of notebook 03."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw
from tutor.checking.answers import Question

from ._common import (
    HEAD_SIZES,
    MultiHeadAttention,
    _attended,
    _bias,
    _blocked,
    _lowered,
    _merge_reshaped,
    _numbers,
    _padding,
    _parameter_stage,
    _split_reshaped,
    _weights,
    _with,
    _zero_blocks,
    merge_heads,
    scaled_dot_product_attention,
    split_heads,
)

exercise = Definition(minutes=20, difficulty=2, forbids=("helpers.models.Attention",))
exercise.reference(MultiHeadAttention)


def _heads_scaled_by(divisor: Callable[[Tensor, int], float]) -> Callable[..., Tensor]:
    def forward(self: Any, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
        query, key, value = self.parts(x, source)
        mixed, _ = _attended(query @ key.mT / divisor(query, self.n_heads), value, mask)
        return self.output(merge_heads(mixed))  # type: ignore[no-any-return]

    return forward


def _from(key_of: str, value_of: str) -> Callable[..., Tensor]:
    """Returns a `forward` in which keys and values are made from "x" or from "source"."""

    def forward(self: Any, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
        given = {"x": x, "source": source}
        parts = ((self.query, x), (self.key, given[key_of]), (self.value, given[value_of]))
        query, key, value = (split_heads(part(tokens), self.n_heads) for part, tokens in parts)
        mixed, _ = scaled_dot_product_attention(query, key, value, mask)
        return self.output(merge_heads(mixed))  # type: ignore[no-any-return]

    return forward


HEADS_BUILD = {"d_model": 6, "n_heads": 3}


def _heads(
    seed: int,
    b: int,
    n: int,
    m: int,
    d: int,
    h: int,
    mask: Tensor | None = None,
    *,
    same: bool = False,
    biases: bool = False,
) -> Question:
    build = {"d_model": d, "n_heads": h}
    x = _numbers(b, n, d, seed=seed)
    source = x if same else _numbers(b, m, d, seed=seed + 1)
    return Question((x, source, mask), build=build, weights=_weights(MultiHeadAttention, build, seed, biases=biases))


def _draw_few(kind: str) -> Draw:
    """Draws questions about one head, a source of one token, or one with biases."""

    def draw(rng: random.Random) -> list[Question]:
        asks = []
        for d, h in ((15, 3), rng.choice(HEAD_SIZES)):  # an odd width, which no two heads share
            b, n, m = rng.sample([3, 6, 7, 8], 3)
            h, m = 1 if kind == "one head" else h, 1 if kind == "one token" else m
            asks.append(_heads(rng.randrange(10**6), b, n, m, d, h, biases=kind != "shape"))
        return asks

    return draw


def _draw_head_build(rng: random.Random) -> dict[str, Any]:
    d, h = rng.choice(HEAD_SIZES)
    return {"d_model": d, "n_heads": h}


exercise.add(
    _parameter_stage(
        0.25,
        "Four nn.Linear(d_model, d_model) called query, key, value and output, whatever n_heads is.",
        HEADS_BUILD,
        draw=_draw_head_build,
    )
)


@exercise.stage(
    "the shape of the result: that of x, also when the source is longer",
    points=0.25,
    public=[_heads(1, 2, 4, 5, 6, 3)],
    view="shape",
)
def _(rng):
    """One row for each token that asks: x is (b, n, d), and so is the result, for a source of any length m."""
    return _draw_few("shape")(rng)


@exercise.stage(
    "a source of one token: only value and output count",
    points=0.5,
    public=[_heads(2, 2, 3, 1, 6, 3, biases=True), _heads(9, 1, 1, 1, 4, 2, biases=True)],
)
def _(rng):
    """With a single key each weight is 1: the result is output(value(source)) for every token of x."""
    return _draw_few("one token")(rng)


@exercise.stage("one head", points=0.5, public=[_heads(3, 1, 4, 5, 6, 1, biases=True)])
def _(rng):
    """Queries come from x, keys and values from the source; the merged heads go through the output projection."""
    return _draw_few("one head")(rng)


@exercise.stage("several heads", points=1, public=[_heads(4, 2, 4, 5, 6, 3), _heads(8, 2, 4, 4, 6, 2)], decisive=True)
def _(rng):
    """Each head has its own d/h numbers of query, key and value, and its own softmax, with the scale of ITS width."""
    # Draws sizes that all differ; lengths that agree, with another source; sizes that all agree, or are 1.
    (d, h), (_, few) = rng.sample(HEAD_SIZES, 2)
    b, n, m = rng.sample([size for size in range(2, 9) if size not in (h, d // h)], 3)
    sizes = [(b, n, m, d, h), (b, m, m, d, h), (1, m, n, d, h), (3, 3, 3, 9, 3), (few, 1, few, 4 * few, few)]
    return [_heads(rng.randrange(10**6), *size) for size in sizes]


@exercise.stage("self-attention: the source is x itself", points=0.5, public=[_heads(5, 2, 4, 4, 6, 3, same=True)])
def _(rng):
    """Nothing special: the same tensor is given twice."""
    (d, h), n = rng.choice(HEAD_SIZES), rng.randint(6, 9)
    return [_heads(rng.randrange(10**6), b, n, n, d, h, same=True) for b in (2, n)]


@exercise.stage(
    "with a mask",
    points=1,
    public=[
        _heads(6, 2, 4, 5, 6, 3, _blocked(4, 5, random.Random(1))),
        _heads(7, 2, 4, 5, 6, 3, _padding(2, 5, random.Random(2))),
        _heads(10, 1, 3, 4, 4, 2, _bias(3, 4)),
        _heads(10, 1, 3, 4, 4, 2, _lowered(_bias(3, 4), 1)),
        _heads(11, 3, 3, 3, 6, 3, _padding(3, 3, random.Random(3))),
        _heads(12, 3, 3, 3, 6, 2, _blocked(3, 3, random.Random(4))),
        _heads(13, 2, 1, 4, 6, 3, _padding(2, 4, random.Random(5))),
    ],
)
def _(rng):
    """Hand the mask on to scaled_dot_product_attention; (n, m) and (b, 1, 1, m) both fit scores of (b, h, n, m). It is
    added to the scaled scores, and may hold finite numbers too.
    """
    # Draws every kind of mask; where all lengths agree, it shows which axis a mask belongs to.
    (d, h), (b, n, m) = rng.choice(HEAD_SIZES), rng.sample([4, 6, 7, 8], 3)
    masks = [(b, n, m, _blocked(n, m, rng)), (b, n, m, _padding(b, m, rng)), (b, n, m, _bias(n, m))]
    masks += [(b, n, m, _lowered(_bias(n, m), rng.randrange(n)))]
    masks += [(n, n, n, _blocked(n, n, rng)), (n, n, n, _padding(n, n, rng)), (b, 1, m, _padding(b, m, rng))]
    return [_heads(rng.randrange(10**6), b, n, m, d, h, mask) for b, n, m, mask in masks]


def _one_softmax(self: Any, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
    mask = mask if mask is None or mask.dim() == 2 else mask[:, 0]
    mixed, _ = scaled_dot_product_attention(self.query(x), self.key(source), self.value(source), mask)
    return self.output(mixed)  # type: ignore[no-any-return]


@exercise.corners(
    "several heads", b=(1, 2), n=(1, range(33, 36)), m=(2, range(65, 68)), heads=(1, "as many as numbers"), d=(2, 12)
)
def _(rng, b, n, m, heads, d):
    return _heads(rng.randrange(10**6), b, n, m, d, 1 if heads == 1 else d)


exercise.mistake(
    "the heads share their scores: there is only one softmax",
    "The width is never split, so this is one head of width d. Split query, key and value first; each head "
    "then has scores and a softmax of its own.",
    _with(MultiHeadAttention, forward=_one_softmax),
)


def _first_head_for_all(self: Any, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
    query, key, value = self.parts(x, source)
    weights = scaled_dot_product_attention(query, key, value, mask)[1][:, :1]
    return self.output(merge_heads(weights @ value))  # type: ignore[no-any-return]


exercise.mistake(
    "all heads use the scores of the first",
    "Heads that share their scores all look at the same places, and one would do. Each head needs its own weights.",
    _with(MultiHeadAttention, forward=_first_head_for_all),
)


def _no_output_projection(self: Any, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
    query, key, value = self.parts(x, source)
    return merge_heads(scaled_dot_product_attention(query, key, value, mask)[0])


exercise.mistake(
    "the output projection is missing",
    "The merged heads must go through `self.output`: it is the only place where the heads are mixed.",
    _with(MultiHeadAttention, forward=_no_output_projection),
)

exercise.mistake(
    "scaled by the width of the model in place of that of a head",
    "A head's dot product is a sum of d/h products: divide by the square root of d/h, the last axis of the "
    "split query.",
    _with(MultiHeadAttention, forward=_heads_scaled_by(lambda q, h: math.sqrt(q.size(-1) * h))),
)

exercise.mistake(
    "scaled by the root of the number of heads",
    "A head's dot product is a sum of d/h products, however many heads there are: divide by the square root of "
    "d/h, the last axis of the split query.",
    _with(MultiHeadAttention, forward=_heads_scaled_by(lambda q, h: math.sqrt(h))),
)

exercise.mistake(
    "the scale is missing",
    "Divide the scores of each head by the square root of d/h.",
    _with(MultiHeadAttention, forward=_heads_scaled_by(lambda q, h: 1.0)),
)


def _sources_swapped(self: Any, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
    return MultiHeadAttention.forward(self, source, x, mask)


exercise.mistake(
    "x and the source are swapped",
    "x asks, so it makes the queries; the source is read, so it makes keys and values. The result has a row "
    "for each token of x.",
    _with(MultiHeadAttention, forward=_sources_swapped),
)


def _source_not_read(self: Any, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
    return MultiHeadAttention.forward(self, x, x, mask)


exercise.mistake(
    "the source is not read",
    "Keys and values are made from x, so x only ever looks at itself. They must come from the source.",
    _with(MultiHeadAttention, forward=_source_not_read),
)


def _cut_by_reshape(self: Any, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
    pairs = ((self.query, x), (self.key, source), (self.value, source))
    query, key, value = (_split_reshaped(part(tokens), self.n_heads) for part, tokens in pairs)
    mixed, _ = scaled_dot_product_attention(query, key, value, mask)
    return self.output(merge_heads(mixed))  # type: ignore[no-any-return]


exercise.mistake(
    "the heads are cut by a reshape without a transpose",
    "Shapes fit, but a head gets all numbers of a few tokens in place of a few numbers of all. Use split_heads.",
    _with(MultiHeadAttention, forward=_cut_by_reshape),
)


def _merged_by_reshape(self: Any, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
    query, key, value = self.parts(x, source)
    mixed, _ = scaled_dot_product_attention(query, key, value, mask)
    return self.output(_merge_reshaped(mixed))  # type: ignore[no-any-return]


exercise.mistake(
    "the heads are merged by a reshape without a transpose",
    "Pieces of different tokens end up in one row. Use merge_heads.",
    _with(MultiHeadAttention, forward=_merged_by_reshape),
)


def _cut_and_merged_by_reshape(self: Any, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
    pairs = ((self.query, x), (self.key, source), (self.value, source))
    query, key, value = (_split_reshaped(part(tokens), self.n_heads) for part, tokens in pairs)
    mixed, _ = scaled_dot_product_attention(query, key, value, mask)
    return self.output(_merge_reshaped(mixed))  # type: ignore[no-any-return]


exercise.mistake(
    "cut and merged by reshapes without a transpose",
    "The two mistakes do not undo each other: in between, a head compared tokens that are mixtures. Use "
    "split_heads and merge_heads.",
    _with(MultiHeadAttention, forward=_cut_and_merged_by_reshape),
)


def _values_are_keys(self: Any, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
    query, key, _ = self.parts(x, source)
    return self.output(merge_heads(scaled_dot_product_attention(query, key, key, mask)[0]))  # type: ignore[no-any-return]


exercise.mistake(
    "the values are the keys",
    "What a token offers to be found by (key) and what it gives (value) are two projections: use `self.value`.",
    _with(MultiHeadAttention, forward=_values_are_keys),
)


def _heads_masked_at_zero(self: Any, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
    query, key, value = self.parts(x, source)
    return self.output(merge_heads(_zero_blocks(query, key, value, mask)[0]))  # type: ignore[no-any-return]


exercise.mistake(
    "0 in the mask is taken for blocked",
    "Many programs write masked_fill(mask == 0, -1e9), for masks of 1 and 0. In ours 0 means allowed and minus "
    "infinity blocked: add it to the scores, or hand it on to scaled_dot_product_attention.",
    _with(MultiHeadAttention, forward=_heads_masked_at_zero),
)


def _heads_without_mask(self: Any, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
    return MultiHeadAttention.forward(self, x, source)


exercise.mistake(
    "the mask is not used",
    "The mask must reach the scores of every head: hand it on to scaled_dot_product_attention.",
    _with(MultiHeadAttention, forward=_heads_without_mask),
)


def _mask_scaled_too(self: Any, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
    query, key, value = self.parts(x, source)
    scores = query @ key.mT if mask is None else query @ key.mT + mask
    return self.output(merge_heads(_attended(scores / math.sqrt(query.size(-1)), value, None)[0]))  # type: ignore[no-any-return]


exercise.mistake(
    "the mask is scaled too",
    "Minus infinity does not mind, but a finite mask does: scale the scores first, then add the mask.",
    _with(MultiHeadAttention, forward=_mask_scaled_too),
)

exercise.mistake(
    "the keys come from x, the values from the source",
    "What is read is the source: its tokens are found by their keys and give their values, so both are made from it.",
    _with(MultiHeadAttention, forward=_from("x", "source")),
)

exercise.mistake(
    "the keys come from the source, the values from x",
    "What is read is the source: its tokens are found by their keys and give their values, so both are made from it.",
    _with(MultiHeadAttention, forward=_from("source", "x")),
)
