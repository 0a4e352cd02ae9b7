"""Exercise dequantise of notebook 18."""

from __future__ import annotations

import random
from collections.abc import Sequence

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import fixed, seed_from
from tutor.checking.answers import Question

exercise = Definition(minutes=20, difficulty=2)


@exercise.reference
def dequantise(blocks: Tensor) -> Tensor:
    scales, minima = blocks[:, :4].contiguous().view(torch.float16).float().split(1, dim=1)
    codes = torch.cat([blocks[:, 4:] & 15, blocks[:, 4:] >> 4], dim=1)
    return scales * codes + minima


def packed(scales: Sequence[float], minima: Sequence[float], codes: Tensor) -> Tensor:
    """Returns blocks `(n, 20)` of the layout Q4_1, of codes `(n, 32)` below 16."""
    both = torch.tensor([scales, minima], dtype=torch.float16).T.contiguous().view(torch.uint8)  # (n, 4)
    return torch.cat([both, (codes[:, :16] | codes[:, 16:] << 4).to(torch.uint8)], dim=1)


def _ask(count: int, seed: int, scale: float = 0.05, low: float = -0.4) -> Question:
    """Returns a question on blocks whose scales and minima lie around these."""
    generator = torch.Generator().manual_seed(seed)
    wide = (0.5 + torch.rand(2, count, generator=generator)) * torch.tensor([[scale], [low]])
    scales, minima = wide.tolist()
    return Question((packed(scales, minima, torch.randint(16, (count, 32), generator=generator)),))


def _steps() -> Question:
    """Returns a block of scale 1 and minimum 0 whose codes are 0 to 15, and then 15 to 0."""
    return Question((packed([1.0], [0.0], torch.cat([torch.arange(16), torch.arange(15, -1, -1)]).unsqueeze(0)),))


@exercise.stage("scale 1, minimum 0: the codes themselves", points=1, public=[_steps()])
def _(rng: random.Random) -> list[Question]:
    """A byte holds two codes: `byte & 15` is the low half, `byte >> 4` the high one. The low halves are the first 16
    values of a block, the high halves the last 16.
    """
    codes = torch.randint(16, (2, 32), generator=torch.Generator().manual_seed(seed_from(rng)))
    return [Question((packed([1.0, 1.0], [0.0, 0.0], codes),))]


def _blocks(rng: random.Random) -> list[Question]:
    return [
        _ask(1, seed_from(rng)),
        _ask(rng.randint(2, 5), seed_from(rng), scale=rng.uniform(0.01, 2)),
        _ask(3, seed_from(rng), scale=0.3, low=rng.uniform(0.5, 4)),
    ]


@exercise.stage("several blocks", points=1.75, public=fixed(_blocks, 1), decisive=True)
def _(rng: random.Random) -> list[Question]:
    """The first two bytes are the scale, the next two the minimum, each a number of 16 bits with a sign, its low byte
    first: `.contiguous().view(torch.float16)` reads bytes as such. A value is scale times code plus minimum, computed
    in float32.
    """
    return _blocks(rng)


@exercise.corners("several blocks", count=(1, range(33, 40), range(257, 262)), scale=(1e-4, 100.0), low=(-50.0, 0.0))
def _(rng: random.Random, count: int, scale: float, low: float) -> Question:
    return _ask(count, seed_from(rng), scale, low)


@exercise.corners("several blocks", count=(1, 3), scale=(-0.3, 3e-5))
def _(rng: random.Random, count: int, scale: float) -> Question:
    """Asks about scales below 0, and about ones that are *subnormal* in 16 bits: without the leading 1 of others."""
    return _ask(count, seed_from(rng), scale)


@exercise.stage("values in float32", points=0.25, public=[_ask(2, 4)], view="dtype")
def _(rng: random.Random) -> list[Question]:
    """A model computes with the values in `torch.float32`: neither the 16 bits of the scale nor 64 are wanted."""
    return [_ask(rng.randint(2, 4), seed_from(rng))]


exercise.large += [_ask(600, 3)]
