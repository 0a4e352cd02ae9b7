"""What several exercises of notebook 15 share."""

from __future__ import annotations

import math
import random
from typing import Any

import torch
from torch import Tensor, nn

from helpers.vocabulary import PAD, SOS
from tutor.checking.plain import Model

TOKENS = torch.tensor([[SOS, 4, 6, 5, 3, 2], [SOS, 5, 4, PAD, PAD, PAD]])  # every word of a vocabulary of 7
THEN = (TOKENS, torch.tensor([6, 3]))


def _values(*shape: int, seed: int, size: float = 1.0) -> Tensor:
    """Returns normal numbers with one decimal, so that the file of examples stays short."""
    return (10 * size * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))).round() / 10


def _classifier(seed: int, n_classes: int = 2, kind: str = "TransformerBase", **options: Any) -> Model:
    """Returns a classifier of two pre-norm layers, or of another make, moved from its first weights by training."""
    shape = {"vocab_size": 7, "d_model": 4, "n_layers": 2, "n_heads": 2, "dropout": 0.0, "max_len": 12}
    base = Model(kind, shape | {"norm_first": True} | options, seed)
    return Model("Classifier", {"base": base, "n_classes": n_classes}, seed, spread=0.3)


def _few(rng: random.Random) -> int:
    """Returns a seed for the weights of a model: one of a few, since a model that was made before is only copied."""
    return 10 * rng.randrange(1, 4)


class LoRALinear(nn.Linear):
    def __init__(self, d_in: int, d_out: int, rank: int, alpha: float = 8.0) -> None:
        super().__init__(d_in, d_out)
        self.requires_grad_(False)
        self.scale = alpha / rank
        self.down = nn.Parameter(torch.randn(rank, d_in) / math.sqrt(d_in))
        self.up = nn.Parameter(torch.zeros(d_out, rank))

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + self.scale * (x @ self.down.T @ self.up.T)

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        """Returns a plain layer; each answer has this method, and the check calls it."""
        like = self.weight
        plain = nn.Linear(self.in_features, self.out_features, device=like.device, dtype=like.dtype)
        plain.weight.copy_(self.weight + self.scale * (self.up @ self.down))
        plain.bias.copy_(self.bias)
        return plain
