"""Exercise RandomSynthesizer of notebook 09."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from grading.definitions.exercise import Exercise, Mistake

from ._common import (
    SynthesizerAttention,
    _reshaped_there_and_back,
    _shared_mistakes,
    _stages,
    _start_stage,
    _with,
    causal_mask,
    split_heads,
)


class RandomSynthesizer(nn.Module):
    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.scores = nn.Parameter(torch.zeros(n_heads, max_len, max_len))
        self.value, self.output = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def found(self, x: Tensor) -> Tensor:
        """Returns the scores `(h, n, n)`; of x only the length counts."""
        n = x.size(1)
        return self.scores[:, :n, :n]

    def weights(self, x: Tensor) -> Tensor:
        return torch.softmax(self.found(x) + causal_mask(x.size(1)), dim=-1)

    mixed = SynthesizerAttention.mixed
    forward = SynthesizerAttention.forward


class _Buffer(RandomSynthesizer):
    """Scores that do not train."""

    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:
        super().__init__(d_model, n_heads, max_len)
        values = self.scores.data
        del self.scores
        self.register_buffer("scores", values)


class _OneSquare(RandomSynthesizer):
    """One square of scores for all heads: the scores of several do not fit into it, so it keeps its zeros."""

    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:
        super().__init__(d_model, n_heads, max_len)
        self.scores = nn.Parameter(torch.zeros(max_len, max_len))

    def found(self, x: Tensor) -> Tensor:
        n = x.size(1)
        return self.scores[:n, :n]


class _NoScores(RandomSynthesizer):
    """Nothing is kept that could be learned."""

    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:
        super().__init__(d_model, n_heads, max_len)
        del self.scores

    def found(self, x: Tensor) -> Tensor:
        return _drawn_anew(self, x)


def _drawn_anew(self: Any, x: Tensor) -> Tensor:
    return torch.randn(self.n_heads, x.size(1), x.size(1))


def _with_values_compared(self: Any, x: Tensor) -> Tensor:
    value = split_heads(self.value(x), self.n_heads)
    return RandomSynthesizer.found(self, x) + value @ value.mT


def _with_tokens_compared(self: Any, x: Tensor) -> Tensor:
    heads = split_heads(x, self.n_heads)
    return RandomSynthesizer.found(self, x) + heads @ heads.mT


def _times_tokens(self: Any, x: Tensor) -> Tensor:
    return RandomSynthesizer.found(self, x) * x.mean(dim=-1)[:, None, :, None]


def _last_square(self: Any, x: Tensor) -> Tensor:
    n = x.size(1)
    return self.scores[:, -n:, -n:]  # type: ignore[no-any-return]


def _transposed(self: Any, x: Tensor) -> Tensor:
    return RandomSynthesizer.found(self, x).mT


EXERCISE = Exercise(
    RandomSynthesizer,
    _stages(
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
        "The scores are self.scores, whatever x holds; mask, softmax and values are as before.",
        "Head k has its own square of scores, self.scores[k].",
        "Cut both axes of the squares to the length: the first n rows and the first n columns. The mask is "
        "causal_mask(n).",
    ),
    [
        Mistake(
            "depends on x: this is the dense synthesizer again",
            "Here nothing makes the scores: they ARE the parameters, one number for each head, row and column.",
            type("RandomSynthesizer", (SynthesizerAttention,), {}),  # torch's messages tell the name of the class
        ),
        Mistake(
            "depends on x: values are compared with each other",
            "A dot product of tokens is what this layer does without. The scores are self.scores alone.",
            _with(RandomSynthesizer, found=_with_values_compared),
        ),
        Mistake(
            "depends on x: tokens are compared with each other",
            "A dot product of tokens is what this layer does without. The scores are self.scores alone.",
            _with(RandomSynthesizer, found=_with_tokens_compared),
        ),
        Mistake(
            "depends on x: the scores are multiplied with x",
            "Of x, only the length may matter for the scores. They are self.scores alone.",
            _with(RandomSynthesizer, found=_times_tokens),
        ),
        Mistake(
            "the scores do not train",
            "A buffer, or a parameter without gradient, keeps the numbers it started with. Use nn.Parameter, so that "
            "training can choose them.",
            _Buffer,
        ),
        Mistake(
            "the scores are drawn anew at each call",
            "Random is only where they start. Make them once, in the constructor, and use self.scores in each call.",
            _with(RandomSynthesizer, found=_drawn_anew),
        ),
        Mistake(
            "the scores are no parameter, and drawn anew at each call",
            "Random is only where they start, and training must be able to change them: make self.scores once, in the "
            "constructor, with nn.Parameter.",
            type("RandomSynthesizer", (_NoScores,), {}),
        ),
        Mistake(
            "one square of scores for all heads",
            "Each head has its own square: the parameter has the shape (h, max_len, max_len).",
            type("RandomSynthesizer", (_OneSquare,), {}),
        ),
        Mistake(
            "all heads use the square of the first",
            "Head k has its own square of scores, self.scores[k].",
            _with(RandomSynthesizer, found=lambda self, x: RandomSynthesizer.found(self, x)[:1]),
        ),
        Mistake(
            "scores or mask are not cut to the length",
            "It works only while a sentence is exactly max_len long. For n tokens keep the first n rows and columns of "
            "the scores, and take causal_mask(n).",
            _with(RandomSynthesizer, found=lambda self, x: self.scores),
        ),
        Mistake(
            "cut from the wrong end",
            "Row 0 and column 0 belong to the first token. Keep the first n rows and columns, not the last.",
            _with(RandomSynthesizer, found=_last_square),
        ),
        Mistake(
            "rows and columns are exchanged",
            "Row i is the token that looks, column j the one looked at: use the square as it stands.",
            _with(RandomSynthesizer, found=_transposed),
        ),
        Mistake(
            "values split and heads merged by a reshape without a transpose",
            "Shapes fit, but a head gets all numbers of a few tokens in place of a few numbers of all. Use split_heads "
            "and merge_heads.",
            _with(RandomSynthesizer, mixed=_reshaped_there_and_back),
        ),
        *_shared_mistakes(RandomSynthesizer),
    ],
    hints=(
        "Look at the last line of the table in section 1: what is $s_{ij}$ made from here? So what does `weights` "
        "have to know about `x`? Where are the numbers made, in the constructor or in each call, if training is to "
        "change them and two calls are to give the same? And how many squares of scores do three heads need?",
        "One head, `max_len` 3, and the learned scores `[[0, 1, 2], [3, 4, 5], [6, 7, 8]]`. A sentence of two "
        "tokens uses `[[0, 1], [3, 4]]`: token 0 and token 1 as rows, place 0 and place 1 as columns. With the "
        "mask, row 0 has only itself: weights 1, 0. Row 1 has the scores 3 and 4, so the weights 0.27 and 0.73. "
        "Every sentence of two tokens gets these, whatever it says. So *two* axes must be cut, both from their "
        "beginning. A parameter that trains is an `nn.Parameter`; a plain tensor or a buffer would keep the "
        "numbers it started with.",
        "In the constructor: `n_heads`, the layers `value` and `output`, and\n"
        "```python\n"
        "self.scores = nn.Parameter(...)  # (h, max_len, max_len): zeros, or small random numbers\n"
        "```\n"
        "`weights`: `n = x.size(1)`; the squares cut to `(h, n, n)`: `# ...`; plus the mask of $n$ tokens, `(n, "
        "n)`, which fits all heads; softmax over the last axis. The result has no batch axis.\n\n"
        "`forward` is the one of the dense synthesizer: `(h, n, n) @ (b, h, n, d/h)` gives `(b, h, n, d/h)`, since "
        "`@` uses the same weights for each sentence; then `merge_heads` and `output`, `(b, n, d)`.",
    ),
)
