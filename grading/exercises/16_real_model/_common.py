"""What several exercises of notebook 16 share: what its set-up cells give, and how numbers are drawn."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def causal_mask(size: int) -> Tensor:
    return torch.full((size, size), -torch.inf).triu(1)


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    parts: Tensor = x.unflatten(-1, (n_heads, -1))
    return parts.transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    mixed: Tensor = F.scaled_dot_product_attention(query, key, value, mask.type_as(query))
    return mixed


def _tokens(rng: random.Random, b: int, n: int, vocab_size: int) -> Tensor:
    return torch.tensor([[rng.randrange(vocab_size) for _ in range(n)] for _ in range(b)])


def _numbers(*shape: int, seed: int, size: float = 1.0) -> Tensor:
    """Returns normal numbers with one decimal, so that the file of examples stays short."""
    return (10 * size * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))).round() / 10


def _with(base: type[nn.Module], **methods: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a class like `base` with other methods."""
    return type(base.__name__, (base,), methods)
