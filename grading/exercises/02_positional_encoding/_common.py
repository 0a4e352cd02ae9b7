"""What several exercises of notebook 02 share."""

from __future__ import annotations

import torch
from torch import Tensor


def _values(*shape: int, seed: int = 0) -> Tensor:
    """Returns random numbers in steps of a quarter, easy to read in a failing check."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).mul(4).round().div(4)


def sinusoidal_encoding(max_len: int, d_model: int) -> Tensor:
    return _sinusoids(max_len, torch.arange(d_model) // 2 * 2 / d_model)


def _sinusoids(max_len: int, exponents: Tensor, *, start: int = 0, swapped: bool = False) -> Tensor:
    """Returns the table for one exponent per column, worked out in double precision."""
    positions = torch.arange(start, start + max_len, dtype=torch.float64).unsqueeze(1)
    angles = positions / 10000 ** (exponents.double())
    even = torch.arange(len(exponents)) % 2 == 0
    return torch.where(even ^ swapped, angles.sin(), angles.cos()).float()


def _speeds(d_model: int) -> Tensor:
    return 1 / 10000 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
