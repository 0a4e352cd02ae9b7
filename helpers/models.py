"""Transformers from torch.nn parts: one base, and the heads that the notebooks put on it.

Section numbers are those of Vaswani et al. (2017), "Attention Is All You Need". Tensors are batch
first: b sequences, n tokens, width d, h heads; m is the length of the memory that a decoder reads.
"""

import math
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.choices import pick, refuse_unknown

Positions = Literal["none", "sinusoidal", "learned", "alibi", "rotary"]
Activation = Literal["relu", "gelu", "gelu_tanh"]


@dataclass
class Context:
    """What all layers share in one forward pass: who may see whom, and what is kept.

    A model works on a copy of the one that it is given, but fills the dicts in it: pass one
    with `cache={}` to reuse keys and values when decoding token by token, or with `maps={}` to
    collect the attention weights (slower: the fused kernel does not keep them).
    """

    mask: Tensor | None = None  # (b, h, n, n) or sizes of 1, added to the scores
    causal: bool = False  # the mask would be the causal one only: the kernel needs no tensor
    angles: Tensor | None = None  # (n, d/h/2), of rotary positions
    memory: Tensor | None = None  # (b, m, d), the output of the encoder
    memory_mask: Tensor | None = None  # (b, 1, 1, m), added to the scores
    cache: dict[nn.Module, tuple[Tensor, Tensor]] | None = None  # keys, values (b, h, m, d/h)
    maps: dict[nn.Module, Tensor] | None = None  # weights (b, h, n, m) of each attention


def as_mask(padding: Tensor, size: int) -> Tensor:
    """Returns the key padding mask `(b, size)`, True where padded, of lengths `(b,)` or a mask."""
    return padding if padding.dim() == 2 else torch.arange(size, device=padding.device) >= padding.unsqueeze(1)


def sinusoids(max_len: int, d_model: int) -> Tensor:
    """Returns the positions of section 3.5, `(max_len, d_model)`."""
    exponents = torch.arange(0, d_model, 2) / d_model
    angles = torch.arange(max_len).unsqueeze(1) / 10000**exponents  # (max_len, d/2)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :d_model]


def causal_mask(distance: Tensor) -> Tensor:
    """Returns what is hidden from a token `(n, m)`: all that comes after it.

    `distance` `(n, m)` is the position of each query minus that of each key.
    """
    return distance < 0


def alibi_bias(n_heads: int, distance: Tensor) -> Tensor:
    """Returns what ALiBi adds to the scores, `(h, n, m)`, of tokens `distance` `(n, m)` apart (Press 2022)."""
    slopes = 2 ** (-8 / n_heads * torch.arange(1, n_heads + 1, device=distance.device))  # (h,)
    return -slopes[:, None, None].type_as(distance) * distance.abs()


def rotary_angles(positions: Tensor, width: int, base: float = 10000) -> Tensor:
    """Returns by how much `rotate` turns the pairs of a head of `width` numbers, `(n, width/2)`, at `positions` `(n,)`.

    The first pair turns by one radian from token to token, the last one by little more than 1/`base`.
    """
    return positions.unsqueeze(1) / base ** (torch.arange(0, width, 2, device=positions.device) / width)


def rotate(x: Tensor, angles: Tensor) -> Tensor:
    """Turns each pair of numbers of `x` `(b, h, n, d/h)` by `angles` `(n, d/h/2)` (Su 2021, 3.2)."""
    even, odd, sine, cosine = x[..., 0::2], x[..., 1::2], angles.sin(), angles.cos()
    pairs = torch.stack([even * cosine - odd * sine, even * sine + odd * cosine], dim=-1)
    return pairs.flatten(-2).type_as(x)  # (b, h, n, d/h)


class Attention(nn.Module):
    """Multi-head attention (3.2.2): one d x d matrix each for query, key, value and output."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)
        for projection in (self.query, self.key, self.value, self.output):
            nn.init.xavier_uniform_(projection.weight)
            nn.init.zeros_(projection.bias)

    def forward(self, x: Tensor, context: Context, cross: bool = False) -> Tensor:
        """Returns `(b, n, d)`: tokens of `x` `(b, n, d)` read each other or, if `cross`, memory."""
        query = self._heads(self.query(x))  # (b, h, n, d/h)
        kept = context.cache.get(self) if context.cache is not None else None
        if cross and kept is not None:
            key, value = kept  # the memory is the same at every step
        else:
            source = context.memory if cross else x
            key, value = self._heads(self.key(source)), self._heads(self.value(source))
        if context.angles is not None and not cross:
            query, key = rotate(query, context.angles), rotate(key, context.angles)
        if kept is not None and not cross:
            key, value = torch.cat([kept[0], key], 2), torch.cat([kept[1], value], 2)
        if context.cache is not None:
            context.cache[self] = key, value
        mask, causal = context.memory_mask if cross else context.mask, context.causal and not cross
        if context.maps is None:
            mixed = F.scaled_dot_product_attention(query, key, value, mask, is_causal=causal)
        else:
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))  # (b, h, n, m)
            if causal:
                mask = torch.full_like(scores[0, 0], -torch.inf).triu(1)
            context.maps[self] = (scores if mask is None else scores + mask).softmax(dim=-1)
            mixed = context.maps[self].type_as(value) @ value
        return self.output(mixed.transpose(1, 2).flatten(2))  # (b, n, d)

    def _heads(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:2], self.n_heads, -1).transpose(1, 2)  # (b, h, n, d/h)


class Layer(nn.Module):
    """Self-attention, cross-attention (in a decoder) and feed-forward, all with residuals (3.1).

    LayerNorm comes after the sum (post-norm, as in the paper) or before the part (pre-norm).
    Dropout acts on the output of each part (5.4), not on the attention weights.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_feedforward: int,
        dropout: float,
        pre: bool,
        cross: bool,
        activation: Activation = "relu",
    ) -> None:
        super().__init__()
        self.pre, self.cross, self.dropout = pre, cross, nn.Dropout(dropout)
        self.attention = Attention(d_model, n_heads)
        self.attention_norm = nn.LayerNorm(d_model)
        if cross:
            self.cross_attention = Attention(d_model, n_heads)
            self.cross_attention_norm = nn.LayerNorm(d_model)
        hidden, output = nn.Linear(d_model, d_feedforward), nn.Linear(d_feedforward, d_model)
        activations = {"relu": nn.ReLU(), "gelu": nn.GELU(), "gelu_tanh": nn.GELU(approximate="tanh")}
        between = pick("activation", activation, activations)
        self.feed_forward = nn.Sequential(OrderedDict(hidden=hidden, activation=between, output=output))
        self.feed_forward_norm = nn.LayerNorm(d_model)

    def forward(self, x: Tensor, context: Context) -> Tensor:
        """Returns `(b, n, d)` for `x` `(b, n, d)`."""
        if self.pre:
            x = x + self.dropout(self.attention(self.attention_norm(x), context))
            if self.cross:
                x = x + self.dropout(self.cross_attention(self.cross_attention_norm(x), context, cross=True))
            return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))
        x = self.attention_norm(x + self.dropout(self.attention(x, context)))
        if self.cross:
            x = self.cross_attention_norm(x + self.dropout(self.cross_attention(x, context, cross=True)))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))


class TransformerBase(nn.Module):
    """Token embedding, positions and layers: everything but the head.

    The embedding starts with variance 1/d and is multiplied by sqrt(d) (3.4), so that words and
    positions are of about the same size. Sinusoidal positions are a buffer: they do not train.

    Args:
        vocab_size: number of different tokens, V.
        d_model, n_layers, n_heads: width D, layers M, heads A.
        d_feedforward: width F inside the feed-forward part; D when not given.
        dropout: share of the numbers that training sets to zero (5.4).
        positions: "none", "sinusoidal", "learned", "alibi" (Press 2022) or "rotary" (Su 2021).
        causal: whether a token sees only itself and the tokens before it.
        norm_first: pre-norm layers, and one more LayerNorm after the last.
        max_len: longest sequence that sinusoidal and learned positions can number.
        cross: whether the layers also read the output of an encoder (a decoder).
        activation: "relu" as in the paper, "gelu" (Hendrycks 2016), or "gelu_tanh", its approximation in GPT-2.
        embedding_norm: whether a LayerNorm follows the sum of embedding and position, as in BERT (Devlin 2019).

    Raises:
        ValueError: for an unknown kind of positions or activation, or a width that the heads cannot share.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        n_layers: int,
        n_heads: int,
        d_feedforward: int | None = None,
        dropout: float = 0.1,
        positions: Positions = "sinusoidal",
        causal: bool = True,
        norm_first: bool = False,
        max_len: int = 2048,
        cross: bool = False,
        activation: Activation = "relu",
        embedding_norm: bool = False,
    ) -> None:
        super().__init__()
        refuse_unknown("kind of positions", positions, get_args(Positions))
        if d_model % (n_heads * 2 if positions == "rotary" else n_heads):
            part = "equal, even part" if positions == "rotary" else "equal part"
            raise ValueError(f"d_model {d_model} has no {part} for each of {n_heads} heads")
        self.d_model, self.n_heads = d_model, n_heads
        self.positions, self.causal, self.cross = positions, causal, cross
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        self.position: Tensor | None  # (max_len, d)
        if positions == "learned":
            self.position = nn.Parameter(torch.randn(max_len, d_model))
        else:
            table = sinusoids(max_len, d_model) if positions == "sinusoidal" else None
            self.register_buffer("position", table, persistent=False)
        self.embedding_norm = nn.LayerNorm(d_model) if embedding_norm else nn.Identity()
        d_feedforward = d_feedforward or d_model
        self.layers = nn.ModuleList(
            Layer(d_model, n_heads, d_feedforward, dropout, pre=norm_first, cross=cross, activation=activation)
            for _ in range(n_layers)
        )
        self.norm = nn.LayerNorm(d_model) if norm_first else nn.Identity()
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Tensor, padding: Tensor | None = None, context: Context | None = None) -> Tensor:
        """Returns the hidden states `(b, n, d)` of `tokens` `(b, n)`.

        Args:
            padding: lengths `(b,)` when the padding is at the end (the fastest way when causal),
                or a key padding mask `(b, n)`, True where padded. Padded rows mean nothing.
            context: memory of an encoder, keys and values to reuse, maps to fill.

        Raises:
            ValueError: when there are more tokens than positions.
        """
        context = context or Context()
        if self.cross and context.memory is None:
            raise ValueError("a decoder reads the output of an encoder: give it as context.memory")
        kept = next(iter((context.cache or {}).values()), None)
        past = 0 if kept is None else kept[0].size(2)  # tokens read in earlier calls
        size = past + tokens.size(1)
        x = self.embedding(tokens) * math.sqrt(self.d_model)  # (b, n, d)
        if self.position is not None:
            if size > len(self.position):
                raise ValueError(f"{size} tokens are more than max_len={len(self.position)}: cut them or raise it")
            x = x + self.position[past:size]
        context = self._look(torch.arange(size, device=x.device), past, x, padding, context)
        x = self.dropout(self.embedding_norm(x))
        for layer in self.layers:
            x = layer(x, context)
        return self.norm(x)

    def attention_maps(self, tokens: Tensor, padding: Tensor | None = None) -> list[Tensor]:
        """Returns the attention weights of each layer, `(b, h, n, n)`, for `forward`'s arguments."""
        maps: dict[nn.Module, Tensor] = {}
        self(tokens, padding, Context(maps=maps))
        return list(maps.values())

    def _look(self, keys: Tensor, past: int, x: Tensor, padding: Tensor | None, context: Context) -> Context:
        """Returns `context` with who sees whom: tokens at `keys[past:]` `(n,)` look at all at `keys` `(m,)`."""
        queries = keys[past:]
        if self.positions == "rotary":
            context = replace(context, angles=rotary_angles(queries, self.d_model // self.n_heads))
        if self.causal and padding is not None and padding.dim() == 1:
            padding = None  # padding at the end lies in the future of every real token
        causal = self.causal and len(queries) > 1  # the last token sees all the others
        if padding is None and self.positions != "alibi" and not (causal and past):
            return replace(context, mask=None, causal=causal)
        distance = queries.unsqueeze(1) - keys  # (n, m)
        hidden = causal_mask(distance) & causal
        if padding is not None:
            padded = as_mask(padding, len(keys))[:, None, None]  # (b, 1, 1, m)
            hidden = (hidden | padded) & (distance != 0)  # a token sees itself: no row is empty
        mask = x.new_zeros(hidden.shape).masked_fill(hidden, -torch.inf)
        if self.positions == "alibi":
            mask = mask + alibi_bias(self.n_heads, distance.type_as(x))
        return replace(context, mask=mask, causal=False)


class LanguageModel(nn.Module):
    """The base and a head that scores every word of the vocabulary at every position."""

    def __init__(self, base: TransformerBase) -> None:
        super().__init__()
        self.base = base
        self.head = nn.Linear(base.d_model, base.embedding.num_embeddings)

    def forward(self, tokens: Tensor, padding: Tensor | None = None, context: Context | None = None) -> Tensor:
        """Returns logits `(b, n, V)` of the next token, for the arguments of `TransformerBase`."""
        return self.head(self.base(tokens, padding, context))


class MaskedLanguageModel(LanguageModel):
    """A language model that sees both sides and scores the token *at* each position (Devlin 2019).

    Raises:
        ValueError: for a causal base.
    """

    def __init__(self, base: TransformerBase) -> None:
        if base.causal:
            raise ValueError("a masked language model sees both sides: its base needs causal=False")
        super().__init__(base)


class Classifier(nn.Module):
    """The base and a head on the hidden state of the last real token."""

    def __init__(self, base: TransformerBase, n_classes: int = 2) -> None:
        super().__init__()
        self.base = base
        self.head = nn.Linear(base.d_model, n_classes, device=next(base.parameters()).device)

    def forward(self, tokens: Tensor, padding: Tensor | None = None) -> Tensor:
        """Returns logits `(b, C)` of `tokens` `(b, n)`; padding as in `TransformerBase`."""
        hidden = self.base(tokens, padding)  # (b, n, d)
        if padding is None:
            last = hidden[:, -1]  # (b, d)
        else:
            real = ~as_mask(padding, tokens.size(1))  # (b, n)
            position = (torch.arange(tokens.size(1), device=tokens.device) * real).argmax(dim=1)
            last = hidden[torch.arange(len(tokens), device=tokens.device), position]  # (b, d)
        return self.head(last)


class EncoderDecoder(nn.Module):
    """Two bases: one reads the source from both sides, one writes the target from left to right.

    `options` are those of `TransformerBase`, the same for both.
    """

    def __init__(
        self, source_vocab_size: int, target_vocab_size: int, d_model: int, n_layers: int, n_heads: int, **options: Any
    ) -> None:
        super().__init__()
        shape = d_model, n_layers, n_heads
        self.encoder = TransformerBase(source_vocab_size, *shape, causal=False, **options)
        self.decoder = TransformerBase(target_vocab_size, *shape, cross=True, **options)
        self.head = nn.Linear(d_model, target_vocab_size)

    def encode(self, source: Tensor, padding: Tensor | None = None) -> Context:
        """Returns what the decoder reads of `source` `(b, m)`; padding as in `TransformerBase`."""
        memory = self.encoder(source, padding)  # (b, m, d)
        if padding is None:
            return Context(memory=memory)
        padded = as_mask(padding, source.size(1))  # (b, m)
        padded = padded & ~padded.all(dim=1, keepdim=True)  # an empty source is seen: no NaN
        zeros = self.head.weight.new_zeros(padded.shape)
        return Context(memory=memory, memory_mask=zeros.masked_fill(padded, -torch.inf)[:, None, None])

    def decode(self, target: Tensor, context: Context, padding: Tensor | None = None) -> Tensor:
        """Returns logits `(b, n, V)` of the next token of `target` `(b, n)`.

        With `context.cache = {}` set before the first call, each call needs the new tokens only.
        """
        return self.head(self.decoder(target, padding, context))

    def forward(
        self, source: Tensor, target: Tensor, source_padding: Tensor | None = None, target_padding: Tensor | None = None
    ) -> Tensor:
        """Returns logits `(b, n, V)` of the next token of `target` `(b, n)`, given `source`."""
        return self.decode(target, self.encode(source, source_padding), target_padding)

    @torch.no_grad()
    def greedy(self, source: Tensor, padding: Tensor | None, sos: int, eos: int, max_len: int) -> Tensor:
        """Returns the most probable token at each step, `(b, <= max_len)`; `eos` from the end on."""
        context = replace(self.encode(source, padding), cache={})
        steps = [source.new_full((len(source), 1), sos)]
        done = torch.zeros_like(steps[0], dtype=torch.bool)
        while len(steps) <= max_len and not done.all():
            best = self.decode(steps[-1], context).argmax(dim=-1)  # (b, 1)
            steps.append(best.masked_fill(done, eos))
            done = done | (steps[-1] == eos)
        return torch.cat(steps[1:], dim=1)
