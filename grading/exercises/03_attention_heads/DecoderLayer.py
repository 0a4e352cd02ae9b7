"""Exercise DecoderLayer of notebook 03."""

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
    FeedForward,
    MultiHeadAttention,
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


class DecoderLayer(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_feedforward: int, norm_first: bool = False) -> None:
        super().__init__()
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.attention_norm = nn.LayerNorm(d_model)
        self.cross_attention = MultiHeadAttention(d_model, n_heads)
        self.cross_attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_feedforward)
        self.feed_forward_norm = nn.LayerNorm(d_model)

    def add(self, x: Tensor, part: Callable[[Tensor], Tensor], norm: nn.Module) -> Tensor:
        """Returns x with what a part makes of it added, and the norm where it belongs."""
        result: Tensor = x + part(norm(x)) if self.norm_first else norm(x + part(x))
        return result

    def read(self, y: Tensor, memory: Tensor, memory_mask: Tensor | None) -> Tensor:
        """Returns what y finds in the memory."""
        found: Tensor = self.cross_attention(y, memory, memory_mask)
        return found

    def forward(
        self, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
    ) -> Tensor:
        x = self.add(x, lambda y: self.attention(y, y, mask), self.attention_norm)
        x = self.add(x, lambda y: self.read(y, memory, memory_mask), self.cross_attention_norm)
        return self.add(x, self.feed_forward, self.feed_forward_norm)


def _read_swapped(self: Any, y: Tensor, memory: Tensor, memory_mask: Tensor | None) -> Tensor:
    return self.cross_attention(memory, y)  # type: ignore[no-any-return]


def _read_itself(self: Any, y: Tensor, memory: Tensor, memory_mask: Tensor | None) -> Tensor:
    return self.cross_attention(y, y)  # type: ignore[no-any-return]


def _read_without_mask(self: Any, y: Tensor, memory: Tensor, memory_mask: Tensor | None) -> Tensor:
    return self.cross_attention(y, memory)  # type: ignore[no-any-return]


def _read_with_first_attention(self: Any, y: Tensor, memory: Tensor, memory_mask: Tensor | None) -> Tensor:
    return self.attention(y, memory, memory_mask)  # type: ignore[no-any-return]


def _read_normed_memory(self: Any, y: Tensor, memory: Tensor, memory_mask: Tensor | None) -> Tensor:
    source = self.cross_attention_norm(memory) if self.norm_first else memory
    return self.cross_attention(y, source, memory_mask)  # type: ignore[no-any-return]


def _no_cross_attention(
    self: Any, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
) -> Tensor:
    return EncoderLayer.forward(self, x, mask)


def _future_seen(
    self: Any, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
) -> Tensor:
    return DecoderLayer.forward(self, x, memory, None, memory_mask)


def _causal_mask_twice(
    self: Any, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
) -> Tensor:
    return DecoderLayer.forward(self, x, memory, mask, mask)


def _masks_swapped(
    self: Any, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
) -> Tensor:
    return DecoderLayer.forward(self, x, memory, memory_mask, mask)


def _cross_attention_first(
    self: Any, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
) -> Tensor:
    x = self.add(x, lambda y: self.read(y, memory, memory_mask), self.cross_attention_norm)
    x = self.add(x, lambda y: self.attention(y, y, mask), self.attention_norm)
    return self.add(x, self.feed_forward, self.feed_forward_norm)  # type: ignore[no-any-return]


def _first_norm_twice(
    self: Any, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
) -> Tensor:
    x = self.add(x, lambda y: self.attention(y, y, mask), self.attention_norm)
    x = self.add(x, lambda y: self.read(y, memory, memory_mask), self.attention_norm)
    return self.add(x, self.feed_forward, self.feed_forward_norm)  # type: ignore[no-any-return]


def _first_norm_thrice(
    self: Any, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
) -> Tensor:
    x = self.add(x, lambda y: self.attention(y, y, mask), self.attention_norm)
    x = self.add(x, lambda y: self.read(y, memory, memory_mask), self.attention_norm)
    return self.add(x, self.feed_forward, self.attention_norm)  # type: ignore[no-any-return]


def _decoder(
    seed: int,
    b: int,
    n: int,
    m: int,
    build: dict[str, Any],
    *,
    mask: Tensor | None = None,
    memory_mask: Tensor | None = None,
    silent: bool = False,
) -> Ask:
    x, memory = _numbers(b, n, build["d_model"], seed=seed), _numbers(b, m, build["d_model"], seed=seed + 1)
    return Ask((x, memory, mask, memory_mask), build=build, weights=_weights(DecoderLayer, build, seed, silent=silent))


def _reading_bias(b: int, m: int, rng: random.Random) -> Tensor:
    """Returns a mask `(b, 1, 1, m)` of finite numbers."""
    return _numbers(b, 1, 1, m, seed=rng.randrange(10**6), size=2)


def _draw_decoder(kind: str) -> Draw:
    """Draws lengths that differ, then such that agree: there a mask fits at the wrong place, too."""

    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for norm_first in {"post": (False,), "pre": (True,)}.get(kind, (False, True)):
            build, (b, *lengths) = _draw_layer_build(rng, norm_first), rng.sample([3, 6, 7, 8], 3)
            n, m = sorted(lengths)  # whoever reads no more of the memory than x is long is wrong in every stage
            sizes: list[tuple[int, int, int, Tensor | None, Tensor | None]]
            if kind == "causal":
                sizes = [(b, n, m, _causal(n), None), (b, n, n, _causal(n), None), (1, n, n, _bias(n, n), None)]
            elif kind == "padding":
                sizes = [(b, n, m, None, _padding(b, m, rng)), (b, n, n, None, _padding(b, n, rng))]
                sizes += [(2, n, k, None, _reading_bias(2, k, rng)) for k in (n, m)]
            elif kind == "both":
                sizes = [(b, n, n, _causal(n), _padding(b, n, rng)), (n, n, n, _causal(n), _padding(n, n, rng))]
                sizes.append((1, n, m, _bias(n, n), _reading_bias(1, m, rng)))
            elif kind == "silent":
                sizes = [(b, n, m, None, None), (1, 1, m, None, None)]
            else:
                sizes = [(b, n, m, None, None), (n, n, n, None, None), (1, n, 1, None, None)]
            for b, n, m, mask, memory_mask in sizes:
                masks = {"mask": mask, "memory_mask": memory_mask}
                asks.append(_decoder(rng.randrange(10**6), b, n, m, build, silent=kind == "silent", **masks))
        return asks

    return draw


EXERCISE = Exercise(
    DecoderLayer,
    [
        _parameter_stage(
            0.25,
            f"The parts of an EncoderLayer, {NAMES_OF_A_LAYER[:-1]}, and two more: cross_attention and "
            "cross_attention_norm.",
            POST,
            draw=_draw_layer_build,
        ),
        Stage(
            "the shape of the result: that of x",
            0.25,
            "x asks and the memory answers: the result has one row for each token of x, whatever the memory's length.",
            [_decoder(1, 1, 2, 3, POST)],
            lambda rng: [_decoder(rng.randrange(10**6), 2, rng.randint(3, 5), rng.randint(6, 8), POST)],
            view="shape",
        ),
        Stage(
            "silent parts: what the residuals carry",
            0.5,
            SILENT_LOOK,
            [_decoder(2, 1, 2, 3, POST, silent=True), _decoder(3, 1, 2, 3, PRE, silent=True)],
            _draw_decoder("silent"),
            tolerance=OF_A_NORM,
        ),
        Stage(
            "post-norm",
            0.75,
            "Three times norm(x + part(x)): x reads itself, then the memory, then the feed-forward part.",
            [_decoder(4, 1, 3, 4, POST), _decoder(12, 1, 3, 3, POST)],
            _draw_decoder("post"),
            decisive=True,
            tolerance=OF_A_NORM,
        ),
        Stage(
            "pre-norm",
            0.75,
            "Three times x + part(norm(x)). Only x is normalised here: the memory has been, by the encoder.",
            [_decoder(5, 1, 3, 4, PRE), _decoder(13, 1, 3, 3, PRE)],
            _draw_decoder("pre"),
            decisive=True,
            tolerance=OF_A_NORM,
        ),
        Stage(
            "the causal mask, in self-attention",
            0.5,
            "`mask` belongs to the attention in which x reads itself.",
            [
                _decoder(6, 1, 3, 2, POST, mask=_causal(3)),
                _decoder(9, 1, 3, 2, PRE, mask=_causal(3)),
                _decoder(14, 1, 3, 3, POST, mask=_causal(3)),
                _decoder(15, 1, 3, 3, PRE, mask=_bias(3, 3)),
            ],
            _draw_decoder("causal"),
            tolerance=OF_A_NORM,
        ),
        Stage(
            "the mask of the memory, in cross-attention",
            0.5,
            "`memory_mask` belongs to the attention in which x reads the memory: it hides the padding there.",
            [
                _decoder(7, 2, 2, 3, POST, memory_mask=_padding(2, 3, random.Random(4))),
                _decoder(10, 2, 2, 3, PRE, memory_mask=_padding(2, 3, random.Random(5))),
                _decoder(16, 2, 3, 3, POST, memory_mask=_padding(2, 3, random.Random(8))),
                _decoder(17, 2, 3, 3, PRE, memory_mask=_reading_bias(2, 3, random.Random(9))),
            ],
            _draw_decoder("padding"),
            tolerance=OF_A_NORM,
        ),
        Stage(
            "both masks",
            0.5,
            "Each mask at its own place, even where the lengths would allow to exchange them.",
            [
                _decoder(8, 2, 3, 3, PRE, mask=_causal(3), memory_mask=_padding(2, 3, random.Random(6))),
                _decoder(11, 2, 3, 3, POST, mask=_causal(3), memory_mask=_padding(2, 3, random.Random(7))),
            ],
            _draw_decoder("both"),
            decisive=True,
            tolerance=OF_A_NORM,
        ),
    ],
    [
        Mistake(
            "memory and queries are swapped",
            "The decoder asks: queries come from x. The encoder's memory answers: keys and values come from it.",
            _with(DecoderLayer, read=_read_swapped),
        ),
        Mistake(
            "cross-attention reads x in place of the memory",
            "The memory has no effect: nothing of the source sentence can reach the translation. Its keys and values "
            "come from the memory.",
            _with(DecoderLayer, read=_read_itself),
        ),
        Mistake(
            "there is no cross-attention",
            "This is an encoder layer. Between self-attention and feed-forward, x must read the memory.",
            _with(DecoderLayer, forward=_no_cross_attention),
        ),
        Mistake(
            "self-attention is used for the memory, too",
            "cross_attention has weights of its own: self.cross_attention(x, memory, memory_mask).",
            _with(DecoderLayer, read=_read_with_first_attention),
        ),
        Mistake(
            "cross-attention comes first",
            "First x reads itself, then the memory, then comes the feed-forward part.",
            _with(DecoderLayer, forward=_cross_attention_first),
        ),
        Mistake(
            "the residuals are missing",
            "The token is replaced by what each part makes of it. It must be added to: x + part(x).",
            _with(DecoderLayer, add=_no_residual),
        ),
        Mistake(
            "the residual around the cross-attention is missing",
            "Here the decoder forgets its own words and keeps only what it found in the memory: x + "
            "cross_attention(...).",
            _with(DecoderLayer, add=_residual_around("attention_norm", "feed_forward_norm")),
        ),
        Mistake(
            "the residual around the self-attention is missing",
            "The other two parts have one; self-attention needs one too: x + attention(...).",
            _with(DecoderLayer, add=_residual_around("cross_attention_norm", "feed_forward_norm")),
        ),
        Mistake(
            "the residual around the feed-forward part is missing",
            "The two attentions have one; the feed-forward part needs one too: x + feed_forward(...).",
            _with(DecoderLayer, add=_residual_around("attention_norm", "cross_attention_norm")),
        ),
        Mistake(
            "pre-norm and post-norm are exchanged",
            "norm_first=True means norm, then part: x + part(norm(x)). False, the default, means norm(x + part(x)).",
            _with(DecoderLayer, add=_orders_swapped),
        ),
        Mistake(
            "post-norm takes the norm before the sum",
            "x + norm(part(x)) never normalises x itself. Post-norm takes the norm of the sum: norm(x + part(x)).",
            _with(DecoderLayer, add=_norm_before_sum),
        ),
        Mistake(
            "pre-norm adds to the normalised x",
            "The residual path must stay free: x + part(norm(x)). `x = norm(x)` overwrites the x that you add to.",
            _with(DecoderLayer, add=_normed_residual),
        ),
        Mistake(
            "always post-norm",
            "norm_first is not looked at. When it is True, the norm stands before the part: x + part(norm(x)).",
            _with(DecoderLayer, add=_always_post),
        ),
        Mistake(
            "always pre-norm",
            "This is pre-norm, x + part(norm(x)), also when norm_first is False: then it is norm(x + part(x)).",
            _with(DecoderLayer, add=_always_pre),
        ),
        Mistake(
            "the memory is normalised again",
            "In pre-norm, norm x before the cross-attention, but not the memory: the encoder has already normalised "
            "it.",
            _with(DecoderLayer, read=_read_normed_memory),
        ),
        Mistake(
            "the norm of the self-attention is used for the cross-attention, too",
            "cross_attention_norm has weights of its own: each part has its norm.",
            _with(DecoderLayer, forward=_first_norm_twice),
        ),
        Mistake(
            "one norm is used three times",
            "Each of the three parts has a norm with weights of its own: use each at its place.",
            _with(DecoderLayer, forward=_first_norm_thrice),
        ),
        Mistake(
            "self-attention without the causal mask",
            "While training, the words to come stand in x: without the mask each position reads its own answer.",
            _with(DecoderLayer, forward=_future_seen),
        ),
        Mistake(
            "the causal mask is used for the memory, too",
            "`mask` says what x may see of itself. The source sentence is known as a whole: cross-attention gets "
            "memory_mask.",
            _with(DecoderLayer, forward=_causal_mask_twice),
        ),
        Mistake(
            "the mask is dropped in the second attention",
            "memory_mask never reaches the cross-attention, so that x reads the padding of the source.",
            _with(DecoderLayer, read=_read_without_mask),
        ),
        Mistake(
            "the two masks are exchanged",
            "`mask` says what x may see of itself, `memory_mask` what it may see of the memory.",
            _with(DecoderLayer, forward=_masks_swapped),
        ),
    ],
    hints=(
        (
            "The table in section 10 has one row for each of the three parts. Write three lines from it in the form "
            '"x and part(...)", one for each row. Who asks in the second line, who answers, and which mask belongs '
            "to it? Is the memory changed anywhere?"
        ),
        (
            "4 French words so far, 7 English ones, width 24. Self-attention: `x` `(1, 4, 24)` reads itself, its "
            "mask is `(4, 4)`. Cross-attention: `x` makes the queries, the memory `(1, 7, 24)` is the source; the "
            "scores are `(1, h, 4, 7)`, and `memory_mask` `(1, 1, 1, 7)` fits them. The result is `(1, 4, 24)`, so "
            "it can be added to `x`. With the two exchanged it is `(1, 7, 24)`.\n\n"
            "In pre-norm, what asks is normalised, and the memory goes in as it comes. Each of the three parts has a "
            "norm of its own, and so has each attention its own weights."
        ),
        (
            "`__init__`: the four parts of `EncoderLayer`, and `cross_attention` with `cross_attention_norm`, made "
            "in the same way. A method saves you from writing everything twice:\n"
            "```python\n"
            "def add(self, x: Tensor, part, norm: nn.Module) -> Tensor:\n"
            "    ...  # x and part(...): norm_first says where the norm stands\n"
            "```\n"
            "A `part` is a function of one tensor. The first of the three lines of `forward` is then\n"
            "```python\n"
            "x = self.add(x, lambda y: self.attention(y, y, mask), self.attention_norm)\n"
            "```\n"
            "The second one is built like it: in its `lambda`, `y` asks the memory, under the other mask. The third "
            "needs no `lambda`, since `self.feed_forward` is a function of one tensor. Each line is `(b, n, d)`."
        ),
    ),
)
