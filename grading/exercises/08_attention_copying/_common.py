"""What several exercises of notebook 08 share."""

from __future__ import annotations

import random

import torch
from torch import Tensor


def _generator(rng: random.Random) -> torch.Generator:
    return torch.Generator().manual_seed(rng.randrange(10**6))


def _orthonormal(n: int, d: int, generator: torch.Generator) -> Tensor:
    """Returns n rows of length 1 at right angles, `(n, d)`, n <= d, in no special direction."""
    square: Tensor = torch.linalg.qr(torch.randn(d, d, generator=generator))[0]
    return square[:n].contiguous()


def _of_seed(n: int, d: int, seed: int) -> Tensor:
    return _orthonormal(n, d, torch.Generator().manual_seed(seed))


def _sizes(rng: random.Random, most: int = 7) -> tuple[int, int]:
    """Returns n and d; sometimes d is n, mostly it is larger."""
    n = rng.randint(4, most)
    return n, n + rng.choice([0, 1, 3])


def _positions(rng: random.Random) -> list[tuple[int, int, int, int]]:
    """Returns n, d and two indices for each kind of question, so that no mark depends on which of them was drawn.

    As many keys as numbers, and the second index is the last; fewer, and the first index is the last; the second index
    before the first, and neither at an end.
    """
    n, m, k = rng.randint(4, 6), rng.randint(4, 6), rng.randint(5, 7)
    low, high = sorted(rng.sample(range(1, k - 1), 2))
    return [
        (n, n, rng.randrange(n - 2), n - 1),
        (m, m + rng.choice([1, 3]), m - 1, rng.randrange(m - 2)),
        (k, k + rng.choice([1, 2]), high, low),
    ]


def _two(rng: random.Random, n: int) -> tuple[int, int]:
    a, b = rng.sample(range(n), 2)
    return a, b


def _noisy(means: Tensor, noise: float, count: int, generator: torch.Generator) -> Tensor:
    """Returns keys drawn around their means, `(count, n, d)`."""
    return means + noise * torch.randn(count, *means.shape, generator=generator)
