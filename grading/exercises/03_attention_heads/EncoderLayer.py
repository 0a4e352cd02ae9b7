"""Exercise EncoderLayer of notebook 03."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw
from tutor.checking.answers import Ask

from ._common import (
    NAMES_OF_A_LAYER,
    OF_A_NORM,
    POST,
    PRE,
    SILENT_LOOK,
    EncoderLayer,
    _always_post,
    _always_pre,
    _bias,
    _causal,
    _draw_layer_build,
    _no_residual,
    _norm_before_sum,
    _normed_residual,
    _numbers,
    _orders_swapped,
    _padding,
    _parameter_stage,
    _residual_around,
    _weights,
    _with,
)


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
    weights = _weights(EncoderLayer, build, seed, silent=silent)
    if mask is not None:  # both norms alike: who uses one for both parts need not fail here, too
        weights |= {f"feed_forward_norm.{name}": weights[f"attention_norm.{name}"] for name in ("weight", "bias")}
    return Ask((_numbers(b, n, build["d_model"], seed=seed), mask), build=build, weights=weights)


def _draw_layer(kind: str) -> Draw:
    """Draws questions of both kinds of layers, or of one kind, with one sentence, one token and equal sizes."""

    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for norm_first in {"post": (False,), "pre": (True,)}.get(kind, (False, True)):
            build, (b, n) = _draw_layer_build(rng, norm_first), rng.sample([6, 7, 8, 9], 2)
            sizes: list[tuple[int, int, Tensor | None]]
            if kind == "mask":
                sizes = [(b, n, _causal(n)), (b, n, _padding(b, n, rng)), (1, n, _bias(n, n)), (n, n, _causal(n))]
            else:
                sizes = [(b, n, None), (1, n, None)] if kind == "silent" else [(b, n, None), (n, n, None), (1, 1, None)]
            asks += [_layer(rng.randrange(10**6), b, n, build, mask, kind == "silent") for b, n, mask in sizes]
        return asks

    return draw


EXERCISE = Exercise(
    EncoderLayer,
    [
        _parameter_stage(0.25, f"Four parts with these names: {NAMES_OF_A_LAYER}", POST, draw=_draw_layer_build),
        Stage(
            "silent parts: what the residuals carry",
            0.5,
            SILENT_LOOK,
            [_layer(1, 1, 3, POST, silent=True), _layer(2, 1, 3, PRE, silent=True)],
            _draw_layer("silent"),
            decisive=True,
            tolerance=OF_A_NORM,
        ),
        Stage(
            "post-norm: norm(x + part(x)), twice",
            1,
            "First attention, then feed-forward. Each time: x plus what the part makes of x, and then the norm of "
            "the sum.",
            [_layer(3, 2, 3, POST), _layer(8, 1, 1, POST)],
            _draw_layer("post"),
            decisive=True,
            tolerance=OF_A_NORM,
        ),
        Stage(
            "pre-norm: x + part(norm(x)), twice",
            0.5,
            "With norm_first the norm stands before the part; what is added to is x itself, not its norm.",
            [_layer(4, 2, 3, PRE)],
            _draw_layer("pre"),
            decisive=True,
            tolerance=OF_A_NORM,
        ),
        Stage(
            "with a mask",
            0.75,
            "Hand the mask on to the attention, as it is.",
            [
                _layer(5, 2, 3, POST, _causal(3)),
                _layer(6, 2, 3, PRE, _padding(2, 3, random.Random(1))),
                _layer(7, 1, 3, POST, _bias(3, 3)),
            ],
            _draw_layer("mask"),
            tolerance=OF_A_NORM,
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
    hints=(
        (
            "Take the formula of post-norm, $\\operatorname{norm}(x + \\text{part}(x))$, and write it out twice: "
            "with attention as the part, then with feed-forward. Which norm stands in which line? What is $x$ in the "
            "second line: the input of the layer, or the result of the first line? Then do the same for pre-norm."
        ),
        (
            "A token $(1, 3)$, with learned numbers of the norm still 1 and 0.\n"
            "- Post-norm: let the part make $(4, 0)$ of it. The sum is $(5, 3)$, its norm $(1, -1)$.\n"
            "- Pre-norm: the norm of the token is $(-1, 1)$. The part gets this and makes, say, $(4, 0)$ of it. "
            "Added to the token *itself*: $(5, 3)$. If you write `x = norm(x)`, the token is gone, and you add to "
            "$(-1, 1)$.\n\n"
            "In self-attention the tokens read themselves: `self.attention(y, y, mask)`. In pre-norm both are the "
            "normalised ones."
        ),
        (
            "`__init__`: keep `norm_first`, and make the four parts with the names of the docstring, such as "
            "`self.attention = MultiHeadAttention(d_model, n_heads)` and `self.attention_norm = "
            "nn.LayerNorm(d_model)`.\n\n"
            "`forward`; every line is `(b, n, d)`:\n"
            "```python\n"
            "if self.norm_first:\n"
            "    y = self.attention_norm(x)  # x itself is kept: it is added to\n"
            "    # new x: x and what the attention reads from y in y, with the mask\n"
            "    # the same with feed_forward and its own norm\n"
            "else:\n"
            "    # new x: x and what the attention reads from x in x; the norm goes round the sum\n"
            "    # the same with feed_forward and its own norm\n"
            "return x\n"
            "```"
        ),
    ),
)
