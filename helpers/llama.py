"""Llama, the shape of most language models of today, from its parts (Touvron et al. 2023, "LLaMA").

It is the decoder of `helpers.models` with four parts changed: RMSNorm for LayerNorm, rotary positions, query heads that
share keys and values, and SwiGLU for the feed-forward part. Nothing has a bias, but in Qwen2 (Yang et al. 2024), which
adds one to queries, keys and values. Mistral (Jiang et al. 2023) has the same parts.

Tensors are batch first: b sequences, n tokens, width d; h query heads and g key/value heads of w numbers each, h a
multiple of g; F numbers inside the feed-forward part, V words. m counts the tokens read so far, with the n new ones.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.models import Context, causal_mask, rotary_angles, rotate


class Slower(NamedTuple):
    """How Llama 3.1 makes a model that was trained on `length` tokens read longer texts (Dubey et al. 2024).

    Pairs that turn fewer than `low` times within these tokens turn `factor` times more slowly from then on, those that
    turn more than `high` times turn as before; in between, the share of either follows the number of turns.
    """

    factor: float
    low: float
    high: float
    length: float

    def of(self, steps: Tensor) -> Tensor:
        """Returns by how much pairs turn from token to token, `(w/2,)`, that otherwise turn by `steps` `(w/2,)`."""
        turns = self.length * steps / (2 * math.pi)  # within the length
        kept = ((turns - self.low) / (self.high - self.low)).clamp(0, 1)
        return steps * (kept + (1 - kept) / self.factor)


class RMSNorm(nn.Module):
    """Divides each token by the root of its mean square, then scales every number (Zhang 2019).

    Unlike LayerNorm it takes no mean away and has no bias. Half precision is widened for the mean.
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(d_model)), eps

    def forward(self, x: Tensor) -> Tensor:
        """Returns `(..., d)` for `x` `(..., d)`."""
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        mean_square = wide.square().mean(dim=-1, keepdim=True)  # (..., 1)
        return self.weight * (wide * torch.rsqrt(mean_square + self.eps)).type_as(x)


class SwiGLU(nn.Module):
    """The feed-forward part with a gate: down(silu(gate(x)) * up(x)) (Shazeer 2020)."""

    def __init__(self, d_model: int, d_feedforward: int) -> None:
        super().__init__()
        self.gate = nn.Linear(d_model, d_feedforward, bias=False)
        self.up = nn.Linear(d_model, d_feedforward, bias=False)
        self.down = nn.Linear(d_feedforward, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Returns `(b, n, d)` for `x` `(b, n, d)`."""
        return self.down(F.silu(self.gate(x)) * self.up(x))  # (b, n, F) inside


class GroupedAttention(nn.Module):
    """Attention in which h/g query heads share each key/value head: the cache is h/g times smaller (Ainslie 2023).

    Query heads 0 to h/g - 1 read key/value head 0, the next ones head 1. Each head of queries and keys holds its rotary
    pairs as neighbours, 0::2 and 1::2, as `helpers.models.rotate` turns them.
    """

    def __init__(self, d_model: int, n_heads: int, n_kv_heads: int, d_head: int, bias: bool = False) -> None:
        super().__init__()
        self.d_head, self.sharing = d_head, n_heads // n_kv_heads
        self.query = nn.Linear(d_model, n_heads * d_head, bias=bias)
        self.key = nn.Linear(d_model, n_kv_heads * d_head, bias=bias)
        self.value = nn.Linear(d_model, n_kv_heads * d_head, bias=bias)
        self.output = nn.Linear(n_heads * d_head, d_model, bias=False)

    def forward(self, x: Tensor, angles: Tensor, context: Context) -> Tensor:
        """Returns `(b, n, d)`: tokens of `x` `(b, n, d)`, turned by `angles` `(n, w/2)`, read those before them."""
        query = rotate(self._heads(self.query(x)), angles)  # (b, h, n, w)
        key, value = rotate(self._heads(self.key(x)), angles), self._heads(self.value(x))  # (b, g, n, w)
        if context.cache is not None:
            if self in context.cache:
                old_key, old_value = context.cache[self]  # (b, g, m - n, w)
                key, value = torch.cat([old_key, key], dim=2), torch.cat([old_value, value], dim=2)
            context.cache[self] = key, value  # (b, g, m, w)
        key = key.repeat_interleave(self.sharing, dim=1)  # (b, h, m, w)
        value = value.repeat_interleave(self.sharing, dim=1)
        if context.maps is None:
            mixed = F.scaled_dot_product_attention(query, key, value, context.mask, is_causal=context.causal)
        else:
            scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)  # (b, h, n, m)
            mask = torch.full_like(scores[0, 0], -torch.inf).triu(1) if context.causal else context.mask
            context.maps[self] = (scores if mask is None else scores + mask).softmax(dim=-1)
            mixed = context.maps[self] @ value
        return self.output(mixed.transpose(1, 2).flatten(2))  # (b, n, d)

    def _heads(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (-1, self.d_head)).transpose(1, 2)  # (b, h or g, n, w)


class LlamaLayer(nn.Module):
    """Attention and feed-forward part, each after its norm and with a residual."""

    def __init__(self, attention: GroupedAttention, feed_forward: SwiGLU, d_model: int, eps: float) -> None:
        super().__init__()
        self.attention_norm, self.attention = RMSNorm(d_model, eps), attention
        self.feed_forward_norm, self.feed_forward = RMSNorm(d_model, eps), feed_forward

    def forward(self, x: Tensor, angles: Tensor, context: Context) -> Tensor:
        """Returns `(b, n, d)` for `x` `(b, n, d)`."""
        x = x + self.attention(self.attention_norm(x), angles, context)
        return x + self.feed_forward(self.feed_forward_norm(x))


class Llama(nn.Module):
    """The whole language model.

    Args:
        vocab_size: number of different tokens, V.
        d_model, n_layers, n_heads: width d, layers, query heads h.
        n_kv_heads: heads of keys and values, g; as many as `n_heads` when not given.
        d_feedforward: width F inside SwiGLU; when not given, 8/3 d, which has as many numbers as 4 d without a gate.
        d_head: numbers of a head, w; d/h when not given.
        base: of the rotary angles (`helpers.models.rotary_angles`).
        eps: of each RMSNorm.
        max_len: most tokens that the model was made for; more are refused.
        tied: whether the head's weight is that of the embedding.
        bias: whether queries, keys and values have one, as in Qwen2.
        slower: how the rotary angles are made smaller, as in Llama 3.1.

    Raises:
        ValueError: when heads cannot share out the width, the keys, or their numbers in pairs.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        n_layers: int,
        n_heads: int,
        n_kv_heads: int | None = None,
        d_feedforward: int | None = None,
        d_head: int | None = None,
        base: float = 10000,
        eps: float = 1e-5,
        max_len: int = 2048,
        tied: bool = True,
        bias: bool = False,
        slower: Slower | None = None,
    ) -> None:
        super().__init__()
        n_kv_heads = n_kv_heads or n_heads
        if n_heads % n_kv_heads:
            raise ValueError(f"{n_heads} query heads cannot share {n_kv_heads} heads of keys and values equally")
        if d_head is None and d_model % n_heads:
            raise ValueError(f"d_model {d_model} has no equal part for each of {n_heads} heads: say d_head")
        self.d_head = d_head or d_model // n_heads
        if self.d_head % 2:
            raise ValueError(f"rotary positions turn pairs, and a head of {self.d_head} numbers has one left over")
        self.base, self.max_len, self.tied, self.slower = base, max_len, tied, slower
        d_feedforward = d_feedforward or 8 * d_model // 3
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.layers = nn.ModuleList(
            LlamaLayer(
                GroupedAttention(d_model, n_heads, n_kv_heads, self.d_head, bias),
                SwiGLU(d_model, d_feedforward),
                d_model,
                eps,
            )
            for _ in range(n_layers)
        )
        self.norm = RMSNorm(d_model, eps)
        if not tied:
            self.head = nn.Linear(d_model, vocab_size, bias=False)
        for weight in self.parameters():
            if weight.dim() == 2:
                nn.init.normal_(weight, std=0.02)

    def forward(self, tokens: Tensor, padding: Tensor | None = None, context: Context | None = None) -> Tensor:
        """Returns logits `(b, n, V)` of the next token, for the arguments of `hidden_states`."""
        return self.scores(self.hidden_states(tokens, padding, context))

    def hidden_states(self, tokens: Tensor, padding: Tensor | None = None, context: Context | None = None) -> Tensor:
        """Returns what the head reads, `(b, n, d)`, of `tokens` `(b, n)`.

        Args:
            padding: lengths `(b,)` of sequences padded at the end. Nothing is done with them: padding lies in the
                future of every real token. Padded rows mean nothing.
            context: `Context(cache={})` to give new tokens only in later calls, `Context(maps={})` to keep the weights
                `(b, h, n, m)` of each attention.

        Raises:
            ValueError: when padding may stand elsewhere, or there are more tokens than `max_len`.
        """
        if padding is not None and padding.dim() != 1:
            raise ValueError("Llama takes padding at the end only: give lengths (b,), not a mask")
        context = context or Context()
        kept = next(iter((context.cache or {}).values()), None)
        past = 0 if kept is None else kept[0].size(2)  # tokens read in earlier calls
        size = past + tokens.size(1)
        if size > self.max_len:
            raise ValueError(f"{size} tokens are more than max_len={self.max_len}, for which the model was made")
        positions = torch.arange(past, size, device=tokens.device)  # (n,)
        angles = self._angles(positions)  # (n, w/2)
        x = self.embedding(tokens)  # (b, n, d)
        context = replace(context, mask=None, causal=past == 0 and len(positions) > 1)  # the last token sees all others
        if past and len(positions) > 1:
            hidden = causal_mask(positions.unsqueeze(1) - torch.arange(size, device=tokens.device))  # (n, m)
            context.mask = x.new_zeros(hidden.shape).masked_fill(hidden, -torch.inf)
        for layer in self.layers:
            x = layer(x, angles, context)
        return self.norm(x)

    def _angles(self, positions: Tensor) -> Tensor:
        if self.slower is None:
            return rotary_angles(positions, self.d_head, self.base)  # (n, w/2)
        one = rotary_angles(torch.ones_like(positions[:1]), self.d_head, self.base)[0]  # (w/2,)
        return positions.unsqueeze(1) * self.slower.of(one)  # (n, w/2)

    def scores(self, hidden: Tensor) -> Tensor:
        """Returns the logits `(..., V)` of hidden states `(..., d)`."""
        return F.linear(hidden, self.embedding.weight if self.tied else self.head.weight)

    def attention_maps(self, tokens: Tensor) -> list[Tensor]:
        """Returns the attention weights of each layer, `(b, h, n, n)`, for `tokens` `(b, n)`."""
        maps: dict[nn.Module, Tensor] = {}
        self.hidden_states(tokens, context=Context(maps=maps))
        return list(maps.values())

    @torch.no_grad()
    def greedy(self, tokens: Tensor, max_new: int, end: int | None = None) -> Tensor:
        """Returns what follows `tokens` `(b, n)` by the most probable token at each step, `(b, <= max_new)`.

        Args:
            max_new: most tokens to write.
            end: the token after which a sequence is over; it is repeated while others go on.
        """
        context, step, steps = Context(cache={}), tokens, list[Tensor]()
        done = torch.zeros_like(tokens[:, :1], dtype=torch.bool)  # (b, 1)
        while len(steps) < max_new and not done.all():
            last = self.hidden_states(step, context=context)[:, -1:]  # (b, 1, d)
            step = self.scores(last).argmax(dim=-1)  # (b, 1)
            if end is not None:
                step = step.masked_fill(done, end)
                done = done | (step == end)
            steps.append(step)
        return torch.cat(steps, dim=1) if steps else tokens[:, :0]
