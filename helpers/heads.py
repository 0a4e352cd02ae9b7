"""Attention in heads, ready for the notebooks that build on it (Vaswani et al. 2017, section 3.2).

Tensors are batch first: b sequences, n tokens, width d, h heads.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def causal_mask(size: int, device: torch.device | None = None) -> Tensor:
    """Returns what is added to scores so that no token sees a later one, `(size, size)`: minus infinity there, else 0.

    It stands on this device, such as `x.device`; without one, on the CPU.
    """
    positions = torch.arange(size, device=device)
    later = positions > positions.unsqueeze(1)  # (size, size): the key stands behind the query
    return torch.zeros(size, size, device=device).masked_fill(later, -torch.inf)


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Returns the heads of `x` `(b, n, d)`, `(b, h, n, d/h)`; head 0 has the first d/h values of each token."""
    return x.view(*x.shape[:-1], n_heads, -1).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """Returns `(b, n, d)` for heads `(b, h, n, d/h)`: the values of all heads of a token, side by side."""
    return x.transpose(1, 2).flatten(2)


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """Returns softmax(query @ key.T / sqrt(d/h) + mask) @ value, `(b, h, n, d/h)`."""
    return F.scaled_dot_product_attention(query, key, value, mask.type_as(query))


class Attention(nn.Module):
    """Attention of several heads under a mask: one d x d matrix each for query, key, value and output."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.value, self.output = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Returns `(b, n, d)` for `x` `(b, n, d)` and a mask `(n, n)`, which is added to the scores."""
        query, key, value = (split_heads(matrix(x), self.n_heads) for matrix in (self.query, self.key, self.value))
        mixed: Tensor = self.output(merge_heads(attend(query, key, value, mask)))
        return mixed
