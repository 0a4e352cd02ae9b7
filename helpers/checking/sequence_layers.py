"""Layers that recipes may name beside the classes of `helpers.models`: functions of `(b, n, d)` that give as much."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from helpers.models import Attention, Context


class Recurrent(nn.GRU):
    """A GRU that gives its states and nothing else; with `double`, its weights are in double precision."""

    def __init__(self, d_model: int, *, double: bool = False) -> None:
        super().__init__(d_model, d_model, batch_first=True, dtype=torch.float64 if double else None)

    def forward(self, x: Tensor) -> Tensor:  # type: ignore[override]
        """Returns the states `(b, n, d)` after each token of `x` `(b, n, d)`."""
        states: Tensor = super().forward(x)[0]
        return states


class SelfAttention(Attention):
    """The attention of `helpers.models` without any mask."""

    def forward(self, x: Tensor) -> Tensor:  # type: ignore[override]
        """Returns `(b, n, d)` of `x` `(b, n, d)`."""
        return super().forward(x, Context())


LAYERS: dict[str, Any] = {"GRUCell": nn.GRUCell, "Recurrent": Recurrent, "SelfAttention": SelfAttention}
