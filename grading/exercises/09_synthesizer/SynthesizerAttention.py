"""Exercise SynthesizerAttention of notebook 09."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from grading.definitions.definition import Definition

from ._common import (
    SynthesizerAttention,
    _module,
    _reshaped_there_and_back,
    _shared_mistakes,
    _stages,
    _start_stage,
    _with,
    split_heads,
)

exercise = Definition(minutes=30, difficulty=3)
exercise.reference(SynthesizerAttention)


def _linear_heads(self: Any, x: Tensor) -> Tensor:
    return split_heads(self.hidden(x), self.n_heads)


def _reshaped_heads(self: Any, x: Tensor) -> Tensor:
    b, n, d = x.shape
    return torch.relu(self.hidden(x)).reshape(b, self.n_heads, n, d // self.n_heads)


exercise.add(
    *_stages(
        SynthesizerAttention,
        (1, 1, 1.25, 0.25),
        "Three layers nn.Linear(d_model, d_model): hidden, value, output; B is an nn.Parameter of shape (h, d/h, "
        "max_len), b2 one of shape (h, max_len). Nothing else, no buffers either.",
        _start_stage(
            SynthesizerAttention,
            "alike",
            "B starts with random numbers",
            "Where B is 0, or all its columns are alike, `hidden` has no effect and gets no gradient in the first "
            "step. Start B with `torch.randn`.",
        ),
        "With one head the scores are those of the last exercise: relu(hidden(x)) @ B + b2, then mask and softmax.",
        "Split relu(hidden(x)) into heads; head k uses its own B[k] and b2[k], and has its own softmax.",
        "Of B and b2, keep the first n places, the last axis: self.B[:, :, :n] and self.b2[:, None, :n]. The mask "
        "is causal_mask(n), not that of max_len.",
    )
)


@exercise.stage(
    "a long head and a short sentence",
    points=0.5,
    public=[_module(SynthesizerAttention, 6, 1, 2, 8, 2, 3), _module(SynthesizerAttention, 6, 2, 3, 8, 2, 3)],
)
def _(rng):
    """The last axis of B is the place; the one before it is the width of a head, which is never cut."""
    seed, n = rng.randrange(10**6), rng.randint(4, 6)
    return [_module(SynthesizerAttention, seed, b, few, 16, 2, 9) for b, few in ((2, n), (1, 2), (2, n - 1))]


def _never_cut(self: Any, x: Tensor) -> Tensor:
    return self.heads(x) @ self.B + self.b2[:, None]  # type: ignore[no-any-return]


@exercise.corners("shorter than max_len", b=(1, 2), n=(1, 2, range(33, 36)), heads=(1, 2), spare=(1, range(17, 20)))
def _(rng, b, n, heads, spare):
    return _module(SynthesizerAttention, rng.randrange(10**6), b, n, 2, heads, n + spare)


exercise.mistake(
    "B and b2, or the mask, are not cut to the length",
    "It works only while a sentence is exactly max_len long. For n tokens keep the first n places of B and b2, "
    "and take causal_mask(n).",
    _with(SynthesizerAttention, found=_never_cut),
)


def _dense_scores(self: Any, heads: Tensor, first: int = 0) -> Tensor:
    n = heads.size(2)
    scores: Tensor = heads @ self.B[:, :, first : first + n] + self.b2[:, None, first : first + n]
    return scores


exercise.mistake(
    "B and b2 are cut from the wrong end",
    "Place 0 of B belongs to the first token. Keep the first n places, not the last n.",
    _with(SynthesizerAttention, found=lambda self, x: _dense_scores(self, self.heads(x), self.B.size(2) - x.size(1))),
)

exercise.mistake(
    "the ReLU is missing",
    "Without it the two layers collapse into one: put torch.relu around self.hidden(x).",
    _with(SynthesizerAttention, heads=_linear_heads),
)

exercise.mistake(
    "the ReLU is on the scores",
    "Scores may be negative. The ReLU stands between hidden and B: torch.relu(self.hidden(x)).",
    _with(
        SynthesizerAttention, heads=_linear_heads, found=lambda self, x: torch.relu(SynthesizerAttention.found(self, x))
    ),
)


def _first_head_for_all(self: Any, x: Tensor) -> Tensor:
    return SynthesizerAttention.found(self, x)[:, :1]


exercise.mistake(
    "the heads share their scores: all use those of the first",
    "Heads that look at the same places are one head. Each needs the scores of its own part of hidden(x).",
    _with(SynthesizerAttention, found=_first_head_for_all),
)


def _one_square_for_all(self: Any, x: Tensor) -> Tensor:
    return SynthesizerAttention.found(self, x).sum(dim=1, keepdim=True)


exercise.mistake(
    "the heads share their scores: they are added up to one square",
    "Each head keeps its own square of scores: the result of the product is (b, h, n, n), and nothing is "
    "summed over the heads.",
    _with(SynthesizerAttention, found=_one_square_for_all),
)


def _first_b_for_all(self: Any, x: Tensor) -> Tensor:
    n = x.size(1)
    return self.heads(x) @ self.B[0, :, :n] + self.b2[0, :n]  # type: ignore[no-any-return]


exercise.mistake(
    "the heads share B and b2",
    "Head k has its own B[k] and b2[k]; here all heads use those of head 0.",
    _with(SynthesizerAttention, found=_first_b_for_all),
)


def _scaled(self: Any, x: Tensor) -> Tensor:
    return SynthesizerAttention.found(self, x) / math.sqrt(self.B.size(1))


exercise.mistake(
    "the scores are divided by a square root",
    "That belongs to the dot product of a query and a key (notebook 03). This formula has no such factor.",
    _with(SynthesizerAttention, found=_scaled),
)

exercise.mistake(
    "b2 has no effect: lost, or added along the wrong axis",
    "Add self.b2, cut to the length, to the scores of its head: shape (h, 1, n), so self.b2[:, None, :n]. The "
    "same number on all scores of a row changes nothing, since the softmax takes it out.",
    _with(SynthesizerAttention, found=lambda self, x: self.heads(x) @ self.B[:, :, : x.size(1)]),
)

exercise.mistake(
    "the heads are cut by a reshape without a transpose",
    "Shapes fit, but a head gets all numbers of a few tokens in place of a few numbers of all. Use split_heads.",
    _with(SynthesizerAttention, heads=_reshaped_heads),
)

exercise.mistake(
    "all is split and merged by a reshape without a transpose",
    "Shapes fit, but a head gets all numbers of a few tokens in place of a few numbers of all. Use split_heads "
    "and merge_heads.",
    _with(SynthesizerAttention, heads=_reshaped_heads, mixed=_reshaped_there_and_back),
)

exercise.mistakes += _shared_mistakes(SynthesizerAttention)
