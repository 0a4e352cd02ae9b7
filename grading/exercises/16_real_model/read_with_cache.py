"""Exercise read_with_cache of notebook 16."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from grading.definitions.definition import Definition, Stage
from grading.exercises.draws import Draw, fixed, seed_from
from helpers.heads import attend, causal_mask, merge_heads, split_heads
from tutor.checking.answers import Question
from tutor.checking.plain import Model

from ._common import _tokens, _values

Kept = list[tuple[Tensor, Tensor]]


exercise = Definition(minutes=25, difficulty=3)


@exercise.reference
def read_with_cache(model: Any, tokens: Tensor, cache: Kept | None) -> tuple[Tensor, Kept]:
    return _read(model, tokens, cache)


def _aligned(n: int, m: int) -> Tensor:
    """Returns the mask of the last `n` of `m` tokens, `(n, m)`."""
    return causal_mask(m)[m - n :]


def _new_only(n: int, m: int) -> Tensor:
    mask = _aligned(n, m)
    mask[:, : m - n] = -torch.inf
    return mask


def _read(
    model: Any,
    tokens: Tensor,
    cache: Kept | None,
    *,
    positions: str = "on",
    mask: Any = _aligned,
    turned: bool = False,
    keep: str = "all",
    twice: bool = False,
    swapped: bool = False,
    scaled: bool = True,
    last: bool = False,
    normed: bool = False,
    cut: Callable[[Tensor, int], Tensor] = split_heads,
    join: Callable[[Tensor], Tensor] = merge_heads,
) -> tuple[Tensor, Kept]:
    """Reads new tokens; the options are the ways in which it goes wrong."""
    past = cache[0][0].shape[2] if cache else 0
    n, d = tokens.shape[1], model.embedding.embedding_dim
    first = {"on": past, "anew": 0, "one late": past + 1 if past else 0}[positions]
    x = model.embedding(tokens) * (math.sqrt(d) if scaled else 1.0) + model.position[first : first + n]
    kept: Kept = []
    for number, layer in enumerate(model.layers):
        part, y = layer.attention, layer.attention_norm(x)
        query, key, value = (cut(matrix(y), part.n_heads) for matrix in (part.query, part.key, part.value))
        new = key, value
        if cache:
            old = cache[number]
            key, value = (
                torch.cat([b, a] if turned else [a, b], dim=2) for a, b in zip(old, (key, value), strict=True)
            )
        m = key.shape[2]
        mixed = attend(query, key, value, mask(n, m))
        if twice:
            key, value = torch.cat([key, new[0]], dim=2), torch.cat([value, new[1]], dim=2)
        pair = new if keep == "new" else (key, value)
        kept.append((pair[1], pair[0]) if swapped else pair)
        x = (y if normed else x) + part.output(join(mixed))
        y = layer.feed_forward_norm(x)
        x = (y if normed else x) + layer.feed_forward(y)
    logits = model.norm(x) @ model.embedding.weight.T
    return logits[:, -1:] if last else logits, kept


LENGTHS = 12
HEADS = ((8, 1), (8, 8))  # d, h: all numbers in one head, and one number in each; fewer make rounding large in a norm


def _asked(
    rng: random.Random,
    b: int,
    n: int,
    past: int,
    lengths: int = LENGTHS,
    layers: int = 2,
    heads: tuple[int, int] | None = None,
    dropout: float = 0.0,
) -> Question:
    d, h = heads or rng.choice([(8, 2), (6, 3), (8, 4)])
    shape = {"vocab_size": rng.randint(7, 10), "d_model": d, "n_layers": layers, "n_heads": h, "max_len": lengths}
    options = {"d_feedforward": 2 * d, "positions": "learned", "norm_first": True, "dropout": dropout}
    model = Model("TransformerBase", shape | options, seed_from(rng), spread=0.3, training=dropout > 0)
    sizes = b, h, past, d // h
    cache = (
        [(_values(*sizes, seed=seed_from(rng)), _values(*sizes, seed=seed_from(rng))) for _ in range(layers)]
        if past
        else None
    )
    return Question((model, _tokens(rng, b, n, shape["vocab_size"]), cache))


def _at_first(rng: random.Random) -> list[Question]:
    return [_asked(rng, 1, 1, 0, layers=1), _asked(rng, 2, rng.randint(3, 5), 0)]


def _one_more(rng: random.Random) -> list[Question]:
    """Returns questions about one text and several; the second model would use dropout, which is none of its parts."""
    return [_asked(rng, 1, 1, rng.randint(2, 4)), _asked(rng, 3, 1, 5, layers=1, dropout=0.5)]


def _some_more(rng: random.Random) -> list[Question]:
    """Returns questions about two layers, about as many tokens as were read before, and up to the last position."""
    return [
        _asked(rng, 2, 3, rng.randint(2, 4)),
        _asked(rng, 1, 3, 3, layers=1),
        _asked(rng, 1, 2, LENGTHS - 2, layers=1),
    ]


def _all_sizes(rng: random.Random) -> list[Question]:
    """Returns a question with and without a cache, for one token and several, several texts and two layers."""
    of_one_head = [_asked(rng, 1, n, past, layers=1, heads=HEADS[0]) for n, past in ((2, 0), (2, 3))]
    return [*_one_more(rng), *_at_first(rng)[1:], *_some_more(rng)[:1], *of_one_head]


def _never_called(rng: random.Random) -> list[Question]:
    """Returns questions on each part that is not to be called; with a cache on those that hold the others."""
    first, later = _asked(rng, 1, 2, 0), _asked(rng, 1, 2, 3)
    asks = [(first, "layers.0.attention"), *((later, part) for part in ("", "layers.0", "layers.0.attention"))]
    return [replace(ask, probe="calls", part=part) for ask, part in asks]


def _stage(name: str, points: float, feedback: str, draw: Draw, **options: Any) -> Stage:
    return Stage(name, points, feedback, fixed(draw, 9), draw, **options)


exercise.add(
    _stage(
        "logits, and a pair for each layer",
        0.25,
        "Return two things: logits (b, n, V), and a list with a pair (keys, values) of each layer, (b, h, m + n, "
        "d/h) each. It is so with None, too, where m is 0, and for one head.",
        _all_sizes,
        view="shape",
    ),
    _stage(
        "nothing has been read before",
        0.5,
        "With cache=None it is the forward pass of GPT: in a layer x + part(norm(x)), twice, and model.norm before the "
        "head. Heads are cut by split_heads and put together by merge_heads, which exchange two axes. What is returned "
        "beside the logits is a list with keys and values of each layer, (b, h, n, d/h) each.",
        _at_first,
    ),
    _stage(
        "one new token",
        1.25,
        "Its position is the number of tokens read before. Its query looks at all keys, the kept ones first and "
        "its own last; keys and values are kept with those of the new token.",
        _one_more,
        decisive=True,
    ),
    _stage(
        "several new tokens at once",
        0.75,
        "Their positions go on from the number of tokens read before. Each of them sees all that was read before, "
        "and of the new ones itself and those before it: the last n rows of the causal mask of all m + n tokens.",
        _some_more,
    ),
    _stage(
        "the model and its layers are not called",
        0.25,
        "Use their parts alone, as the text lists them. What the model, a layer or an attention does when it is "
        "called, or its `forward` is, you are to write yourself.",
        _never_called,
        decisive=True,
    ),
)


@exercise.corners("nothing has been read before", n=(1, range(33, 36), range(101, 104)), layers=(1, 4), heads=HEADS)
def _(rng: random.Random, n: int, layers: int, heads: tuple[int, int]) -> Question | None:
    """Asks about texts that fill all positions, or leave one."""
    return None if n > 30 and layers > 1 else _asked(rng, 1, n, 0, n + rng.randint(0, 1), layers, heads)


@exercise.corners("one new token", past=(1, range(33, 36), range(101, 104)), layers=(1, 4), b=(1, range(33, 36)))
def _(rng: random.Random, past: int, layers: int, b: int) -> Question | None:
    if past > 30 and (layers > 1 or b > 1):
        return None
    return _asked(rng, b, 1, past, past + rng.randint(1, 2), layers, HEADS[0])


@exercise.corners("several new tokens at once", past=(1, range(101, 104)), n=(2, range(33, 36)))
def _(rng: random.Random, past: int, n: int) -> Question:
    return _asked(rng, 1, n, past, past + n + rng.randint(0, 1), 1, HEADS[0])
