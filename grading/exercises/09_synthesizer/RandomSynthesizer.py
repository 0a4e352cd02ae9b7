"""Exercise RandomSynthesizer of notebook 09."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from grading.definitions.definition import Definition

from ._common import (
    SynthesizerAttention,
    _module,
    _reshaped_there_and_back,
    _shared_mistakes,
    _stages,
    _start_stage,
    _with,
    causal_mask,
    split_heads,
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


def _drawn_anew(self: Any, x: Tensor) -> Tensor:
    return torch.randn(self.n_heads, x.size(1), x.size(1))


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
            "Where scores start large, each row gives nearly all its weight to one place that nobody chose, and hardly "
            "any gradient passes. Start with zeros, or with torch.randn times something small.",
        ),
        "The scores are self.scores as they stand, whatever x holds, and nothing divides them; mask, softmax and "
        "values are as before.",
        "Head k has its own square of scores, self.scores[k].",
        "Cut both axes of the squares to the length: the first n rows and the first n columns. The mask is "
        "causal_mask(n).",
    )
)


@exercise.corners("shorter than max_len", b=(1, 2), n=(1, 2, range(33, 36)), heads=(1, 2), spare=(1, range(17, 20)))
def _(rng, b, n, heads, spare):
    return _module(RandomSynthesizer, rng.randrange(10**6), b, n, 2, heads, n + spare)


exercise.mistake(
    "depends on x: this is the dense synthesizer again",
    "Here nothing makes the scores: they ARE the parameters, one number for each head, row and column.",
    type("RandomSynthesizer", (SynthesizerAttention,), {}),  # torch's messages tell the name of the class
)


def _with_values_compared(self: Any, x: Tensor) -> Tensor:
    value = split_heads(self.value(x), self.n_heads)
    return RandomSynthesizer.found(self, x) + value @ value.mT


exercise.mistake(
    "depends on x: values are compared with each other",
    "A dot product of tokens is what this layer does without. The scores are self.scores alone.",
    _with(RandomSynthesizer, found=_with_values_compared),
)


def _with_tokens_compared(self: Any, x: Tensor) -> Tensor:
    heads = split_heads(x, self.n_heads)
    return RandomSynthesizer.found(self, x) + heads @ heads.mT


exercise.mistake(
    "depends on x: tokens are compared with each other",
    "A dot product of tokens is what this layer does without. The scores are self.scores alone.",
    _with(RandomSynthesizer, found=_with_tokens_compared),
)


def _times_tokens(self: Any, x: Tensor) -> Tensor:
    return RandomSynthesizer.found(self, x) * x.mean(dim=-1)[:, None, :, None]


exercise.mistake(
    "depends on x: the scores are multiplied with x",
    "Of x, only the length may matter for the scores. They are self.scores alone.",
    _with(RandomSynthesizer, found=_times_tokens),
)


@exercise.mistake("the scores do not train")
class _Buffer(RandomSynthesizer):
    """A buffer, or a parameter without gradient, keeps the numbers it started with. Use nn.Parameter, so that training
    can choose them.
    """

    # Scores that do not train.

    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:
        super().__init__(d_model, n_heads, max_len)
        values = self.scores.data
        del self.scores
        self.register_buffer("scores", values)


exercise.mistake(
    "the scores are drawn anew at each call",
    "Random is only where they start. Make them once, in the constructor, and use self.scores in each call.",
    _with(RandomSynthesizer, found=_drawn_anew),
)


class _NoScores(RandomSynthesizer):
    """Nothing is kept that could be learned."""

    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:
        super().__init__(d_model, n_heads, max_len)
        del self.scores

    def found(self, x: Tensor) -> Tensor:
        return _drawn_anew(self, x)


exercise.mistake(
    "the scores are no parameter, and drawn anew at each call",
    "Random is only where they start, and training must be able to change them: make self.scores once, in the "
    "constructor, with nn.Parameter.",
    type("RandomSynthesizer", (_NoScores,), {}),
)


class _OneSquare(RandomSynthesizer):
    """One square of scores for all heads: the scores of several do not fit into it, so it keeps its zeros."""

    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:
        super().__init__(d_model, n_heads, max_len)
        self.scores = nn.Parameter(torch.zeros(max_len, max_len))

    def found(self, x: Tensor) -> Tensor:
        n = x.size(1)
        return self.scores[:n, :n]


exercise.mistake(
    "one square of scores for all heads",
    "Each head has its own square: the parameter has the shape (h, max_len, max_len).",
    type("RandomSynthesizer", (_OneSquare,), {}),
)


class _OneSquareWithAnAxis(_OneSquare):
    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:
        super().__init__(d_model, n_heads, max_len)
        self.scores = nn.Parameter(torch.zeros(1, max_len, max_len))

    def found(self, x: Tensor) -> Tensor:
        n = x.size(1)
        return self.scores[:, :n, :n]


exercise.mistake(
    "one square, with an axis of size 1, for all heads",
    "Each head has its own square: the first axis of scores has the size h.",
    type("RandomSynthesizer", (_OneSquareWithAnAxis,), {}),
)

exercise.mistake(
    "all heads use the square of the first",
    "Head k has its own square of scores, self.scores[k].",
    _with(RandomSynthesizer, found=lambda self, x: RandomSynthesizer.found(self, x)[:1]),
)

exercise.mistake(
    "scores or mask are not cut to the length",
    "It works only while a sentence is exactly max_len long. For n tokens keep the first n rows and columns of "
    "the scores, and take causal_mask(n).",
    _with(RandomSynthesizer, found=lambda self, x: self.scores),
)


def _last_square(self: Any, x: Tensor) -> Tensor:
    n = x.size(1)
    return self.scores[:, -n:, -n:]  # type: ignore[no-any-return]


exercise.mistake(
    "cut from the wrong end",
    "Row 0 and column 0 belong to the first token. Keep the first n rows and columns, not the last.",
    _with(RandomSynthesizer, found=_last_square),
)


def _transposed(self: Any, x: Tensor) -> Tensor:
    return RandomSynthesizer.found(self, x).mT


exercise.mistake(
    "rows and columns are exchanged",
    "Row i is the token that looks, column j the one looked at: use the square as it stands.",
    _with(RandomSynthesizer, found=_transposed),
)

exercise.mistake(
    "values split and heads merged by a reshape without a transpose",
    "Shapes fit, but a head gets all numbers of a few tokens in place of a few numbers of all. Use split_heads "
    "and merge_heads.",
    _with(RandomSynthesizer, mixed=_reshaped_there_and_back),
)

exercise.mistakes += _shared_mistakes(RandomSynthesizer)
