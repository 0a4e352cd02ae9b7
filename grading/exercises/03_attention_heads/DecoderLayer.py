"""Exercise DecoderLayer of notebook 03."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from grading.definitions.definition import Definition, Stage
from grading.exercises.draws import Draw
from tutor.checking.answers import Question

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
    _lowered,
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

exercise = Definition(minutes=20, difficulty=2, forbids=("helpers.models.Layer",))


@exercise.reference
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
) -> Question:
    x, memory = _numbers(b, n, build["d_model"], seed=seed), _numbers(b, m, build["d_model"], seed=seed + 1)
    return Question(
        (x, memory, mask, memory_mask), build=build, weights=_weights(DecoderLayer, build, seed, silent=silent)
    )


def _reading_bias(b: int, m: int, rng: random.Random) -> Tensor:
    """Returns a mask `(b, 1, 1, m)` of finite numbers."""
    return _numbers(b, 1, 1, m, seed=rng.randrange(10**6), size=2)


def _draw_decoder(kind: str) -> Draw:
    """Draws lengths that differ, then such that agree: there a mask fits at the wrong place, too."""

    def draw(rng: random.Random) -> list[Question]:
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


exercise.add(
    _parameter_stage(
        0.25,
        f"The parts of an EncoderLayer, {NAMES_OF_A_LAYER[:-1]}, and two more: cross_attention and "
        "cross_attention_norm.",
        POST,
        draw=_draw_layer_build,
    )
)


@exercise.stage("the shape of the result: that of x", points=0.25, public=[_decoder(1, 1, 2, 3, POST)], view="shape")
def _(rng):
    """x asks and the memory answers: the result has one row for each token of x, whatever the memory's length."""
    return [_decoder(rng.randrange(10**6), 2, rng.randint(3, 5), rng.randint(6, 8), POST)]


exercise.add(
    Stage(
        "silent parts: what the residuals carry",
        0.5,
        SILENT_LOOK,
        [_decoder(2, 1, 2, 3, POST, silent=True), _decoder(3, 1, 2, 3, PRE, silent=True)],
        _draw_decoder("silent"),
        tolerance=OF_A_NORM,
    )
)


@exercise.stage(
    "post-norm",
    points=0.75,
    public=[_decoder(4, 1, 3, 4, POST), _decoder(12, 1, 3, 3, POST)],
    decisive=True,
    tolerance=OF_A_NORM,
)
def _(rng):
    """Three times norm(x + part(x)): x reads itself, then the memory, then the feed-forward part. Each part has the
    norm that bears its name. None means no mask: nothing is added, not even a causal one.
    """
    return _draw_decoder("post")(rng)


@exercise.stage(
    "pre-norm",
    points=0.75,
    public=[_decoder(5, 1, 3, 4, PRE), _decoder(13, 1, 3, 3, PRE)],
    decisive=True,
    tolerance=OF_A_NORM,
)
def _(rng):
    """Three times x + part(norm(x)), each part with the norm that bears its name. Only x is normalised here: the memory
    has been, by the encoder. None means no mask: nothing is added, not even a causal one.
    """
    return _draw_decoder("pre")(rng)


@exercise.stage(
    "the causal mask, in self-attention",
    points=0.5,
    public=[
        _decoder(6, 1, 3, 2, POST, mask=_causal(3)),
        _decoder(9, 1, 3, 2, PRE, mask=_causal(3)),
        _decoder(14, 1, 3, 3, POST, mask=_causal(3)),
        _decoder(15, 1, 3, 3, PRE, mask=_bias(3, 3)),
        _decoder(18, 1, 3, 3, PRE, mask=_lowered(_bias(3, 3), 1)),
    ],
    tolerance=OF_A_NORM,
)
def _(rng):
    """`mask` belongs to the attention in which x reads itself. It is handed on as it is: it may hold finite numbers."""
    return _draw_decoder("causal")(rng)


@exercise.stage(
    "the mask of the memory, in cross-attention",
    points=0.5,
    public=[
        _decoder(7, 2, 2, 3, POST, memory_mask=_padding(2, 3, random.Random(4))),
        _decoder(10, 2, 2, 3, PRE, memory_mask=_padding(2, 3, random.Random(5))),
        _decoder(16, 2, 3, 3, POST, memory_mask=_padding(2, 3, random.Random(8))),
        _decoder(17, 2, 3, 3, PRE, memory_mask=_reading_bias(2, 3, random.Random(9))),
        _decoder(19, 1, 3, 3, PRE, memory_mask=_lowered(_bias(3, 3), 1)),
    ],
    tolerance=OF_A_NORM,
)
def _(rng):
    """`memory_mask` belongs to the attention in which x reads the memory: it hides the padding there."""
    return _draw_decoder("padding")(rng)


@exercise.stage(
    "both masks",
    points=0.5,
    public=[
        _decoder(8, 2, 3, 3, PRE, mask=_causal(3), memory_mask=_padding(2, 3, random.Random(6))),
        _decoder(11, 2, 3, 3, POST, mask=_causal(3), memory_mask=_padding(2, 3, random.Random(7))),
    ],
    decisive=True,
    tolerance=OF_A_NORM,
)
def _(rng):
    """Each mask at its own place, even where the lengths would allow to exchange them."""
    return _draw_decoder("both")(rng)


def _read_swapped(self: Any, y: Tensor, memory: Tensor, memory_mask: Tensor | None) -> Tensor:
    return self.cross_attention(memory, y)  # type: ignore[no-any-return]


for stage, build in (("post-norm", POST), ("pre-norm", PRE)):

    @exercise.corners(stage, n=(1, range(33, 36)), m=(1, range(65, 68)), d_feedforward=(1, range(33, 36)))
    def _(rng, n, m, d_feedforward, build=build):
        return _decoder(rng.randrange(10**6), 1, n, m, build | {"d_feedforward": d_feedforward})


exercise.mistake(
    "memory and queries are swapped",
    "The decoder asks: queries come from x. The encoder's memory answers: keys and values come from it.",
    _with(DecoderLayer, read=_read_swapped),
)


def _read_itself(self: Any, y: Tensor, memory: Tensor, memory_mask: Tensor | None) -> Tensor:
    return self.cross_attention(y, y)  # type: ignore[no-any-return]


exercise.mistake(
    "cross-attention reads x in place of the memory",
    "The memory has no effect: nothing of the source sentence can reach the translation. Its keys and values "
    "come from the memory.",
    _with(DecoderLayer, read=_read_itself),
)


def _no_cross_attention(
    self: Any, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
) -> Tensor:
    return EncoderLayer.forward(self, x, mask)


exercise.mistake(
    "there is no cross-attention",
    "This is an encoder layer. Between self-attention and feed-forward, x must read the memory.",
    _with(DecoderLayer, forward=_no_cross_attention),
)


def _read_with_first_attention(self: Any, y: Tensor, memory: Tensor, memory_mask: Tensor | None) -> Tensor:
    return self.attention(y, memory, memory_mask)  # type: ignore[no-any-return]


exercise.mistake(
    "self-attention is used for the memory, too",
    "cross_attention has weights of its own: self.cross_attention(x, memory, memory_mask).",
    _with(DecoderLayer, read=_read_with_first_attention),
)


def _cross_attention_first(
    self: Any, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
) -> Tensor:
    x = self.add(x, lambda y: self.read(y, memory, memory_mask), self.cross_attention_norm)
    x = self.add(x, lambda y: self.attention(y, y, mask), self.attention_norm)
    return self.add(x, self.feed_forward, self.feed_forward_norm)  # type: ignore[no-any-return]


exercise.mistake(
    "cross-attention comes first",
    "First x reads itself, then the memory, then comes the feed-forward part.",
    _with(DecoderLayer, forward=_cross_attention_first),
)

exercise.mistake(
    "the residuals are missing",
    "The token is replaced by what each part makes of it. It must be added to: x + part(x).",
    _with(DecoderLayer, add=_no_residual),
)

exercise.mistake(
    "the residual around the cross-attention is missing",
    "Here the decoder forgets its own words and keeps only what it found in the memory: x + cross_attention(...).",
    _with(DecoderLayer, add=_residual_around("attention_norm", "feed_forward_norm")),
)

exercise.mistake(
    "the residual around the self-attention is missing",
    "The other two parts have one; self-attention needs one too: x + attention(...).",
    _with(DecoderLayer, add=_residual_around("cross_attention_norm", "feed_forward_norm")),
)

exercise.mistake(
    "the residual around the feed-forward part is missing",
    "The two attentions have one; the feed-forward part needs one too: x + feed_forward(...).",
    _with(DecoderLayer, add=_residual_around("attention_norm", "cross_attention_norm")),
)


def _read_beside(
    self: Any, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
) -> Tensor:
    own = self.add(x, lambda y: self.attention(y, y, mask), self.attention_norm)
    if self.norm_first:
        own = x + self.read(self.cross_attention_norm(own), memory, memory_mask)
    else:
        own = self.cross_attention_norm(x + self.read(own, memory, memory_mask))
    return self.add(own, self.feed_forward, self.feed_forward_norm)  # type: ignore[no-any-return]


exercise.mistake(
    "what the memory gives is added to the x that came in",
    "Add it to what self-attention has left, not to the x that came in: a residual that is kept in a variable must be "
    "set anew before each part.",
    _with(DecoderLayer, forward=_read_beside),
)

exercise.mistake(
    "pre-norm and post-norm are exchanged",
    "norm_first=True means norm, then part: x + part(norm(x)). False, the default, means norm(x + part(x)).",
    _with(DecoderLayer, add=_orders_swapped),
)

exercise.mistake(
    "post-norm takes the norm before the sum",
    "x + norm(part(x)) never normalises x itself. Post-norm takes the norm of the sum: norm(x + part(x)).",
    _with(DecoderLayer, add=_norm_before_sum),
)

exercise.mistake(
    "pre-norm adds to the normalised x",
    "The residual path must stay free: x + part(norm(x)). `x = norm(x)` overwrites the x that you add to.",
    _with(DecoderLayer, add=_normed_residual),
)

exercise.mistake(
    "always post-norm",
    "norm_first is not looked at. When it is True, the norm stands before the part: x + part(norm(x)).",
    _with(DecoderLayer, add=_always_post),
)

exercise.mistake(
    "always pre-norm",
    "This is pre-norm, x + part(norm(x)), also when norm_first is False: then it is norm(x + part(x)).",
    _with(DecoderLayer, add=_always_pre),
)


def _read_normed_memory(self: Any, y: Tensor, memory: Tensor, memory_mask: Tensor | None) -> Tensor:
    source = self.cross_attention_norm(memory) if self.norm_first else memory
    return self.cross_attention(y, source, memory_mask)  # type: ignore[no-any-return]


exercise.mistake(
    "the memory is normalised again",
    "In pre-norm, norm x before the cross-attention, but not the memory: the encoder has already normalised it.",
    _with(DecoderLayer, read=_read_normed_memory),
)


def _first_norm_twice(
    self: Any, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
) -> Tensor:
    x = self.add(x, lambda y: self.attention(y, y, mask), self.attention_norm)
    x = self.add(x, lambda y: self.read(y, memory, memory_mask), self.attention_norm)
    return self.add(x, self.feed_forward, self.feed_forward_norm)  # type: ignore[no-any-return]


exercise.mistake(
    "the norm of the self-attention is used for the cross-attention, too",
    "cross_attention_norm has weights of its own: each part has its norm.",
    _with(DecoderLayer, forward=_first_norm_twice),
)


def _first_norm_thrice(
    self: Any, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
) -> Tensor:
    x = self.add(x, lambda y: self.attention(y, y, mask), self.attention_norm)
    x = self.add(x, lambda y: self.read(y, memory, memory_mask), self.attention_norm)
    return self.add(x, self.feed_forward, self.attention_norm)  # type: ignore[no-any-return]


exercise.mistake(
    "one norm is used three times",
    "Each of the three parts has a norm with weights of its own: use each at its place.",
    _with(DecoderLayer, forward=_first_norm_thrice),
)


def _future_seen(
    self: Any, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
) -> Tensor:
    return DecoderLayer.forward(self, x, memory, None, memory_mask)


exercise.mistake(
    "self-attention without the causal mask",
    "While training, the words to come stand in x: without the mask each position reads its own answer.",
    _with(DecoderLayer, forward=_future_seen),
)


def _causal_mask_twice(
    self: Any, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
) -> Tensor:
    return DecoderLayer.forward(self, x, memory, mask, mask)


exercise.mistake(
    "the causal mask is used for the memory, too",
    "`mask` says what x may see of itself. The source sentence is known as a whole: cross-attention gets memory_mask.",
    _with(DecoderLayer, forward=_causal_mask_twice),
)


def _read_without_mask(self: Any, y: Tensor, memory: Tensor, memory_mask: Tensor | None) -> Tensor:
    return self.cross_attention(y, memory)  # type: ignore[no-any-return]


exercise.mistake(
    "the mask is dropped in the second attention",
    "memory_mask never reaches the cross-attention, so that x reads the padding of the source.",
    _with(DecoderLayer, read=_read_without_mask),
)


def _masks_swapped(
    self: Any, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
) -> Tensor:
    return DecoderLayer.forward(self, x, memory, memory_mask, mask)


exercise.mistake(
    "the two masks are exchanged",
    "`mask` says what x may see of itself, `memory_mask` what it may see of the memory.",
    _with(DecoderLayer, forward=_masks_swapped),
)
