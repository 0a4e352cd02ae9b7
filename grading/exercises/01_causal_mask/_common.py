"""What several exercises of notebook 01 share."""

from __future__ import annotations

import torch
from torch import Tensor

INF = float("inf")


def causal_mask(size: int) -> Tensor:
    return torch.triu(torch.full((size, size), -INF), diagonal=1)
