"""A Llama that writes with a static cache: each step runs the same kernels on the same memory, as a CUDA graph needs.

`Llama.greedy` makes longer keys and values at each step, and the host starts every kernel anew. Here keys and values
have their full length from the beginning and what is not written yet is masked, so that on CUDA a step is recorded
once and then started as a whole (https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs).
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.llama import GroupedAttention, Llama, LlamaLayer
from helpers.models import Context, rotary_angles, rotate


class StaticWriter:
    """Writes `count` tokens behind `tokens` `(b, n)`, as `Llama.greedy` does.

    Args:
        model: is not changed, and must stay where it is as long as this object is used.
        tokens: what stands before, `(b, n)`; later calls start from it again.
        count: how many tokens are written, at least 1.
    """

    def __init__(self, model: Llama, tokens: Tensor, count: int) -> None:
        self.model, self.tokens, self.count = model, tokens, count
        size, device = tokens.size(1) + count, tokens.device
        self.places = torch.arange(size, device=device)
        self.angles = rotary_angles(self.places, model.d_head, model.base)  # (m, w/2)
        self.place = torch.zeros(1, dtype=torch.long, device=device)  # of the token that is read next
        self.token = torch.zeros_like(tokens[:, :1])  # (b, 1), that token
        self.cache: dict[nn.Module, tuple[Tensor, Tensor]] = {}
        self._read(size)
        self.graph = self._record() if device.type == "cuda" else None

    @torch.no_grad()
    def __call__(self) -> Tensor:
        """Returns `(b, count)`."""
        self._read()
        written = [self.token.clone()]
        for _ in range(self.count - 1):
            self.graph.replay() if self.graph else self._step()
            written.append(self.token.clone())
        return torch.cat(written, dim=1)

    @torch.no_grad()
    def _read(self, size: int = 0) -> None:
        """Reads `tokens` and copies their keys and values to the static ones; a size makes those first."""
        context = Context(cache={})
        last = self.model.hidden_states(self.tokens, context=context)[:, -1:]
        for attention, pair in (context.cache or {}).items():
            if size:
                key, value = (x.new_zeros(*x.shape[:2], size, x.size(3)) for x in pair)
                self.cache[attention] = key, value  # (b, g, m, w) each
            for kept, new in zip(self.cache[attention], pair, strict=True):
                kept[:, :, : new.size(2)].copy_(new)
        self.token.copy_(self.model.scores(last).argmax(dim=-1))
        self.place.fill_(self.tokens.size(1))

    def _record(self) -> "torch.cuda.CUDAGraph":
        """Returns a step as a graph; three steps before it, on another stream, make what kernels need."""
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream), torch.no_grad():
            for _ in range(3):
                self.place.fill_(self.tokens.size(1))
                self._step()
        torch.cuda.current_stream().wait_stream(stream)
        self.place.fill_(self.tokens.size(1))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph), torch.no_grad():
            self._step()
        return graph

    def _step(self) -> None:
        """Reads one token and puts the most probable next one in its place, without a value that the host must know."""
        angles = self.angles.index_select(0, self.place)  # (1, w/2)
        seen = (self.places <= self.place).unsqueeze(0)  # (1, m)
        x = self.model.embedding(self.token)  # (b, 1, d)
        for layer in self.model.layers:
            assert isinstance(layer, LlamaLayer)
            x = x + self._attend(layer.attention, layer.attention_norm(x), angles, seen)
            x = x + layer.feed_forward(layer.feed_forward_norm(x))
        self.token.copy_(self.model.scores(self.model.norm(x)).argmax(dim=-1))
        self.place.add_(1)

    def _attend(self, attention: GroupedAttention, x: Tensor, angles: Tensor, seen: Tensor) -> Tensor:
        """Returns `(b, 1, d)` for `x` `(b, 1, d)`, and writes its key and value into the cache."""
        query, key, value = (
            part(x).unflatten(-1, (-1, attention.d_head)).transpose(1, 2)  # (b, h or g, 1, w)
            for part in (attention.query, attention.key, attention.value)
        )
        keys, values = self.cache[attention]  # (b, g, m, w)
        keys.index_copy_(2, self.place, rotate(key, angles))
        values.index_copy_(2, self.place, value)
        keys, values = (kept.repeat_interleave(attention.sharing, dim=1) for kept in (keys, values))
        mixed = F.scaled_dot_product_attention(rotate(query, angles), keys, values, seen)  # (b, h, 1, w)
        output: Tensor = attention.output(mixed.transpose(1, 2).flatten(2))
        return output
