"""What several exercises of notebook 16 share: what its set-up cells give, and how numbers are drawn."""

from __future__ import annotations

import random

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def _tokens(rng: random.Random, b: int, n: int, vocab_size: int) -> Tensor:
    return torch.tensor([[rng.randrange(vocab_size) for _ in range(n)] for _ in range(b)])


def _values(*shape: int, seed: int, size: float = 1.0) -> Tensor:
    """Returns normal numbers with one decimal, so that the file of examples stays short."""
    return (10 * size * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))).round() / 10


class Projections(nn.Module):
    """The four matrices that the notebook gives."""

    def __init__(self, d_model: int, n_heads: int, n_groups: int) -> None:
        super().__init__()
        self.n_heads, self.n_groups = n_heads, n_groups
        keys = d_model // n_heads * n_groups
        self.query, self.key = nn.Linear(d_model, d_model, bias=False), nn.Linear(d_model, keys, bias=False)
        self.value, self.output = nn.Linear(d_model, keys, bias=False), nn.Linear(d_model, d_model, bias=False)


class RMSNorm(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Tensor) -> Tensor:
        return x / (x.square().mean(dim=-1, keepdim=True) + self.eps).sqrt() * self.weight


class SwiGLU(nn.Module):
    def __init__(self, d_model: int, d_feedforward: int) -> None:
        super().__init__()
        width = 2 * d_feedforward // 3
        self.gate = nn.Linear(d_model, width, bias=False)
        self.hidden = nn.Linear(d_model, width, bias=False)
        self.output = nn.Linear(width, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        mixed: Tensor = self.output(F.silu(self.gate(x)) * self.hidden(x))
        return mixed
