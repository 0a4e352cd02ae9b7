"""Exercise RandomSynthesizer of notebook 09."""

from __future__ import annotations

import random

import torch
from torch import Tensor, nn

from grading.definitions.definition import Definition
from tutor.checking.answers import Question

from ._common import (
    SynthesizerAttention,
    _module,
    _stages,
    _start_stage,
    causal_mask,
)

exercise = Definition(minutes=12, difficulty=2)


@exercise.reference
class RandomSynthesizer(nn.Module):
    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.scores = nn.Parameter(torch.zeros(n_heads, max_len, max_len))
        self.value, self.output = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def found(self, x: Tensor) -> Tensor:  # the scores, (h, n, n); of x only the length counts
        n = x.size(1)
        return self.scores[:, :n, :n]

    def weights(self, x: Tensor) -> Tensor:
        """Returns the attention weights `(h, n, n)`; each answer has this method, and the check calls it."""
        return torch.softmax(self.found(x) + causal_mask(x.size(1), x.device), dim=-1)

    mixed = SynthesizerAttention.mixed
    forward = SynthesizerAttention.forward


exercise.add(
    *_stages(
        RandomSynthesizer,
        (0.5, 0.5, 0.75, 0.25),
        "scores is an nn.Parameter of shape (h, max_len, max_len); value and output are nn.Linear(d_model, d_model). "
        "Nothing else, no buffers either.",
        _start_stage(
            RandomSynthesizer,
            "sharp",
            "scores start with zeros or small numbers",
            "Where scores start large, each row gives nearly all its weight to one position that nobody chose, and "
            "hardly any gradient passes. Start with zeros, or with torch.randn times something small.",
        ),
        "The scores are self.scores as they stand, whatever x holds, and nothing divides them; mask, softmax and "
        "values are as before.",
        "Head k has its own square of scores, self.scores[k].",
        "Cut both axes of the squares to the length: the first n rows and the first n columns. The mask is "
        "causal_mask(n).",
    )
)


@exercise.corners("shorter than max_len", b=(1, 2), n=(1, 2, range(33, 36)), heads=(1, 2), spare=(1, range(17, 20)))
def _(rng: random.Random, b: int, n: int, heads: int, spare: int) -> Question:
    return _module(RandomSynthesizer, rng.randrange(10**6), b, n, 2, heads, n + spare)
