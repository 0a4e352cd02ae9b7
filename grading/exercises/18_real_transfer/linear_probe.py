"""Exercise linear_probe of notebook 18."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import fixed, seed_from
from tutor.checking.answers import Question

TOLERANCE = 5e-3  # who stops when three digits stand is right

exercise = Definition(minutes=25, difficulty=2)


@exercise.reference
def linear_probe(features: Tensor, labels: Tensor, penalty: float) -> tuple[Tensor, Tensor]:
    """Newton's method: the loss is convex, and a few steps are exact."""
    ones = torch.ones(len(features), 1, dtype=features.dtype)
    inputs, target = torch.cat([features.detach(), ones], dim=1), labels.to(features.dtype)
    cost = torch.full((inputs.shape[1],), 2 * penalty, dtype=features.dtype)
    cost[-1] = 0
    both = torch.zeros_like(cost)
    for _ in range(30):
        chance = torch.sigmoid(inputs @ both)
        gradient = inputs.T @ (chance - target) / len(inputs) + cost * both
        curvature = inputs.T @ (inputs * (chance * (1 - chance)).unsqueeze(1)) / len(inputs) + cost.diag()
        both = both - torch.linalg.solve(curvature, gradient)
    return both[:-1], both[-1]


def _ask(count: int, width: int, penalty: float, seed: int, share: float = 0.5) -> Question:
    """Returns a question on texts of which about `share` are positive, none of the classes empty."""
    generator = torch.Generator().manual_seed(seed)
    features = torch.randn(count, width, generator=generator) + 0.5
    order = (features.sum(dim=1) + torch.randn(count, generator=generator)).argsort(descending=True)
    labels = torch.zeros(count, dtype=torch.long)
    labels[order[: min(count - 1, max(1, round(share * count)))]] = 1
    return Question((features, labels, penalty))


def _strong(rng: random.Random) -> list[Question]:
    return [_ask(rng.randint(8, 20), rng.randint(1, 3), rng.choice([0.5, 1.0]), seed_from(rng)) for _ in range(2)]


@exercise.stage("a large penalty", points=0.5, public=fixed(_strong, 1), tolerance=TOLERANCE)
def _(rng: random.Random) -> list[Question]:
    """The loss is the mean cross-entropy over the texts plus `penalty` times the sum of the squared weights."""
    return _strong(rng)


def _weak(rng: random.Random) -> list[Question]:
    return [
        _ask(rng.randint(15, 30), rng.randint(2, 4), rng.choice([0.01, 0.03, 0.1]), seed_from(rng)),
        _ask(rng.randint(15, 30), 3, 0.05, seed_from(rng), share=0.8),
    ]


@exercise.stage("a small penalty", points=1.5, public=fixed(_weak, 2), tolerance=TOLERANCE, decisive=True)
def _(rng: random.Random) -> list[Question]:
    """Go on until the loss no longer falls: with a small penalty that takes longer. The bias costs nothing."""
    return _weak(rng)


@exercise.stage("the classes are not equal in number", points=0.5, seed=3, tolerance=TOLERANCE)
def _(rng: random.Random) -> list[Question]:
    """With nine of ten texts in one class the bias is large: it is not penalised, and it begins at nothing special."""
    return [_ask(rng.randint(20, 30), 2, 0.3, seed_from(rng), share=share) for share in (0.9, 0.1)]


@exercise.corners(
    "a small penalty", count=(2, range(33, 40), range(129, 140)), width=(1, range(8, 11)), penalty=(0.1, 2.0)
)
def _(rng: random.Random, count: int, width: int, penalty: float) -> Question:
    return _ask(count, width, penalty, seed_from(rng))


exercise.large += [_ask(600, 12, 0.1, 4)]
