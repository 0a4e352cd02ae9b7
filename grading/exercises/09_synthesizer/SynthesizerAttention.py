"""Exercise SynthesizerAttention of notebook 09."""

from __future__ import annotations

import random

from grading.definitions.definition import Definition
from tutor.checking.answers import Question

from ._common import (
    SynthesizerAttention,
    _module,
    _stages,
    _start_stage,
)

exercise = Definition(minutes=30, difficulty=3)
exercise.reference(SynthesizerAttention)


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
        "Of B and b2, keep the first n positions, the last axis: self.B[:, :, :n] and self.b2[:, None, :n]. The mask "
        "is causal_mask(n), not that of max_len.",
    )
)


@exercise.stage(
    "a long head and a short sentence",
    points=0.5,
    public=[_module(SynthesizerAttention, 6, 1, 2, 8, 2, 3), _module(SynthesizerAttention, 6, 2, 3, 8, 2, 3)],
)
def _(rng: random.Random) -> list[Question]:
    """The last axis of B is the position; the one before it is the width of a head, which is never cut."""
    seed, n = rng.randrange(10**6), rng.randint(4, 6)
    return [_module(SynthesizerAttention, seed, b, few, 16, 2, 9) for b, few in ((2, n), (1, 2), (2, n - 1))]


@exercise.corners("shorter than max_len", b=(1, 2), n=(1, 2, range(33, 36)), heads=(1, 2), spare=(1, range(17, 20)))
def _(rng: random.Random, b: int, n: int, heads: int, spare: int) -> Question:
    return _module(SynthesizerAttention, rng.randrange(10**6), b, n, 2, heads, n + spare)
