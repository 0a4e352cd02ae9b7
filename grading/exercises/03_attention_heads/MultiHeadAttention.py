"""Exercise MultiHeadAttention of notebook 03."""

from __future__ import annotations

import random
from typing import Any

from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw
from tutor.checking.answers import Question

from ._common import (
    HEAD_SIZES,
    MultiHeadAttention,
    _bias,
    _blocked,
    _lowered,
    _padding,
    _parameter_stage,
    _values,
    _weights,
)

exercise = Definition(minutes=20, difficulty=2, forbids=("helpers.models.Attention", "helpers.heads.Attention"))
exercise.reference(MultiHeadAttention)


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
    x = _values(b, n, d, seed=seed)
    source = x if same else _values(b, m, d, seed=seed + 1)
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
def _(rng: random.Random) -> list[Question]:
    """One row for each token that asks: x is (b, n, d), and so is the result, for a source of any length m."""
    return _draw_few("shape")(rng)


@exercise.stage(
    "a source of one token: only value and output count",
    points=0.5,
    public=[_heads(2, 2, 3, 1, 6, 3, biases=True), _heads(9, 1, 1, 1, 4, 2, biases=True)],
)
def _(rng: random.Random) -> list[Question]:
    """With a single key each weight is 1: the result is output(value(source)) for every token of x."""
    return _draw_few("one token")(rng)


@exercise.stage("one head", points=0.5, public=[_heads(3, 1, 4, 5, 6, 1, biases=True)])
def _(rng: random.Random) -> list[Question]:
    """Queries come from x, keys and values from the source; the merged heads go through the output projection."""
    return _draw_few("one head")(rng)


@exercise.stage("several heads", points=1, public=[_heads(4, 2, 4, 5, 6, 3), _heads(8, 2, 4, 4, 6, 2)], decisive=True)
def _(rng: random.Random) -> list[Question]:
    """Each head has its own d/h numbers of query, key and value, and its own softmax, with the scale of ITS width."""
    # Draws sizes that all differ; lengths that agree, with another source; sizes that all agree, or are 1.
    (d, h), (_, few) = rng.sample(HEAD_SIZES, 2)
    b, n, m = rng.sample([size for size in range(2, 9) if size not in (h, d // h)], 3)
    sizes = [(b, n, m, d, h), (b, m, m, d, h), (1, m, n, d, h), (3, 3, 3, 9, 3), (few, 1, few, 4 * few, few)]
    return [_heads(rng.randrange(10**6), *size) for size in sizes]


@exercise.stage("self-attention: the source is x itself", points=0.5, public=[_heads(5, 2, 4, 4, 6, 3, same=True)])
def _(rng: random.Random) -> list[Question]:
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
def _(rng: random.Random) -> list[Question]:
    """Hand the mask on to scaled_dot_product_attention; (n, m) and (b, 1, 1, m) both fit scores of (b, h, n, m). It is
    added to the scaled scores, and may hold finite numbers too.
    """
    # Draws every kind of mask; where all lengths agree, it shows which axis a mask belongs to.
    (d, h), (b, n, m) = rng.choice(HEAD_SIZES), rng.sample([4, 6, 7, 8], 3)
    masks = [(b, n, m, _blocked(n, m, rng)), (b, n, m, _padding(b, m, rng)), (b, n, m, _bias(n, m))]
    masks += [(b, n, m, _lowered(_bias(n, m), rng.randrange(n)))]
    masks += [(n, n, n, _blocked(n, n, rng)), (n, n, n, _padding(n, n, rng)), (b, 1, m, _padding(b, m, rng))]
    return [_heads(rng.randrange(10**6), b, n, m, d, h, mask) for b, n, m, mask in masks]


@exercise.corners(
    "several heads", b=(1, 2), n=(1, range(33, 36)), m=(2, range(65, 68)), heads=(1, "as many as numbers"), d=(2, 12)
)
def _(rng: random.Random, b: int, n: int, m: int, heads: int | str, d: int) -> Question:
    return _heads(rng.randrange(10**6), b, n, m, d, 1 if heads == 1 else d)
