"""Exercise SynthesizerAttention of notebook 09."""

from __future__ import annotations

import math
import random
from typing import Any

import torch
from torch import Tensor

from grading.definitions.exercise import Exercise, Mistake, Stage
from tutor.checking.answers import Ask

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


def _dense_scores(self: Any, heads: Tensor, first: int = 0) -> Tensor:
    n = heads.size(2)
    scores: Tensor = heads @ self.B[:, :, first : first + n] + self.b2[:, None, first : first + n]
    return scores


def _first_head_for_all(self: Any, x: Tensor) -> Tensor:
    return SynthesizerAttention.found(self, x)[:, :1]


def _one_square_for_all(self: Any, x: Tensor) -> Tensor:
    return SynthesizerAttention.found(self, x).sum(dim=1, keepdim=True)


def _first_b_for_all(self: Any, x: Tensor) -> Tensor:
    n = x.size(1)
    return self.heads(x) @ self.B[0, :, :n] + self.b2[0, :n]  # type: ignore[no-any-return]


def _scaled(self: Any, x: Tensor) -> Tensor:
    return SynthesizerAttention.found(self, x) / math.sqrt(self.B.size(1))


def _never_cut(self: Any, x: Tensor) -> Tensor:
    return self.heads(x) @ self.B + self.b2[:, None]  # type: ignore[no-any-return]


def _linear_heads(self: Any, x: Tensor) -> Tensor:
    return split_heads(self.hidden(x), self.n_heads)


def _reshaped_heads(self: Any, x: Tensor) -> Tensor:
    b, n, d = x.shape
    return torch.relu(self.hidden(x)).reshape(b, self.n_heads, n, d // self.n_heads)


def _draw_long(rng: random.Random) -> list[Ask]:
    seed, n = rng.randrange(10**6), rng.randint(4, 6)
    return [_module(SynthesizerAttention, seed, b, few, 16, 2, 9) for b, few in ((2, n), (1, 2), (2, n - 1))]


EXERCISE = Exercise(
    SynthesizerAttention,
    [
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
        ),
        Stage(
            "a long head and a short sentence",
            0.5,
            "The last axis of B is the place; the one before it is the width of a head, which is never cut.",
            [_module(SynthesizerAttention, 6, 1, 2, 8, 2, 3), _module(SynthesizerAttention, 6, 2, 3, 8, 2, 3)],
            _draw_long,
        ),
    ],
    [
        Mistake(
            "B and b2, or the mask, are not cut to the length",
            "It works only while a sentence is exactly max_len long. For n tokens keep the first n places of B and b2, "
            "and take causal_mask(n).",
            _with(SynthesizerAttention, found=_never_cut),
        ),
        Mistake(
            "B and b2 are cut from the wrong end",
            "Place 0 of B belongs to the first token. Keep the first n places, not the last n.",
            _with(
                SynthesizerAttention,
                found=lambda self, x: _dense_scores(self, self.heads(x), self.B.size(2) - x.size(1)),
            ),
        ),
        Mistake(
            "the ReLU is missing",
            "Without it the two layers collapse into one: put torch.relu around self.hidden(x).",
            _with(SynthesizerAttention, heads=_linear_heads),
        ),
        Mistake(
            "the ReLU is on the scores",
            "Scores may be negative. The ReLU stands between hidden and B: torch.relu(self.hidden(x)).",
            _with(
                SynthesizerAttention,
                heads=_linear_heads,
                found=lambda self, x: torch.relu(SynthesizerAttention.found(self, x)),
            ),
        ),
        Mistake(
            "the heads share their scores: all use those of the first",
            "Heads that look at the same places are one head. Each needs the scores of its own part of hidden(x).",
            _with(SynthesizerAttention, found=_first_head_for_all),
        ),
        Mistake(
            "the heads share their scores: they are added up to one square",
            "Each head keeps its own square of scores: the result of the product is (b, h, n, n), and nothing is "
            "summed over the heads.",
            _with(SynthesizerAttention, found=_one_square_for_all),
        ),
        Mistake(
            "the heads share B and b2",
            "Head k has its own B[k] and b2[k]; here all heads use those of head 0.",
            _with(SynthesizerAttention, found=_first_b_for_all),
        ),
        Mistake(
            "the scores are divided by a square root",
            "That belongs to the dot product of a query and a key (notebook 03). This formula has no such factor.",
            _with(SynthesizerAttention, found=_scaled),
        ),
        Mistake(
            "b2 has no effect: lost, or added along the wrong axis",
            "Add self.b2, cut to the length, to the scores of its head: shape (h, 1, n), so self.b2[:, None, :n]. The "
            "same number on all scores of a row changes nothing, since the softmax takes it out.",
            _with(SynthesizerAttention, found=lambda self, x: self.heads(x) @ self.B[:, :, : x.size(1)]),
        ),
        Mistake(
            "the heads are cut by a reshape without a transpose",
            "Shapes fit, but a head gets all numbers of a few tokens in place of a few numbers of all. Use "
            "split_heads.",
            _with(SynthesizerAttention, heads=_reshaped_heads),
        ),
        Mistake(
            "all is split and merged by a reshape without a transpose",
            "Shapes fit, but a head gets all numbers of a few tokens in place of a few numbers of all. Use split_heads "
            "and merge_heads.",
            _with(SynthesizerAttention, heads=_reshaped_heads, mixed=_reshaped_there_and_back),
        ),
        *_shared_mistakes(SynthesizerAttention),
    ],
    hints=(
        "Take $d = 12$, $h = 3$ and `max_len` 9. In the formula, which letters carry the index $k$ of the head, "
        "and what shape has each of them for one head? All the $A_k$ lie side by side in `hidden`: which helper "
        "takes what comes out of it apart? And for a sentence of 5 tokens: which axis of `B` and of `b2` gets "
        "shorter, and how large is the mask?",
        "`@` multiplies the last two axes and goes through the others: `(b, h, n, w) @ (h, w, n)` is `(b, h, n, "
        "n)`, head by head. Adding $b_2$ is the trap. Let $h = n = 2$ and $b_2$, cut, be `[[10, 20], [30, 40]]`: "
        "both rows of head 0 must get $+10$ and $+20$, both rows of head 1 $+30$ and $+40$. Added as `(2, 2)` it "
        "runs as well, but row 0 of *both* heads gets 10 and 20, and row 1 gets 30 and 40. Which shape with three "
        'axes says "one line for each head, the same for all its rows"? `t[:, None]` puts an axis of length 1 in '
        "the middle.",
        "In the constructor: keep `n_heads`; three layers `nn.Linear(d_model, d_model)`; `B`, `(h, d/h, max_len)`, "
        "from `torch.randn`, and `b2`, `(h, max_len)`, each in `nn.Parameter`. Then `weights`:\n"
        "```python\n"
        "n = x.size(1)\n"
        "heads = ...   # hidden, ReLU, split_heads: (b, h, n, d/h)\n"
        "scores = ...  # with B and b2, their last axis cut to n: (b, h, n, n)\n"
        "# ... the mask of n tokens, then the softmax over the places looked at\n"
        "```\n"
        "And `forward`: the values split into heads, `(b, h, n, d/h)`; the weights times them, `(b, h, n, d/h)`; "
        "`merge_heads`, `(b, n, d)`; `output`. There is no square root. Test it with a sentence shorter than "
        "`max_len`.",
    ),
)
