"""What several exercises of notebook 13 share."""

from __future__ import annotations

import torch
from torch import Tensor


def values(*shape: int, seed: int, size: float = 1.0) -> Tensor:
    """Returns normal numbers with one decimal, so that the file of examples stays short."""
    return (10 * size * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))).round() / 10
