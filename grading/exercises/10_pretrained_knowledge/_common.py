"""What several exercises of notebook 10 share."""

from __future__ import annotations

import random

import torch
from torch import Tensor

Part = tuple[Tensor, Tensor]


def risk_coverage(confidence: Tensor, right: Tensor) -> Part:
    order = confidence.argsort(descending=True)
    answered = torch.arange(1, len(right) + 1)
    return answered / len(right), (~right[order]).cumsum(dim=0) / answered


def _people(rng: random.Random, n: int, sure: float = 0.5) -> Part:
    """Returns different confidences, and whether the answer is right: the surer, the more often.

    Two of them lie so close together that rounding to three digits makes them equal.
    """
    confidence = [(number + rng.uniform(0.1, 0.4)) / 100 for number in rng.sample(range(5, 99), n)]
    if n > 2:
        confidence[-1] = confidence[0] + 0.0003
    right = [rng.random() < sure * c + 0.3 for c in confidence]
    return torch.tensor([round(c, 5) for c in confidence]), torch.tensor(right)
