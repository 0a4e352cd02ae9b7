"""Exercise linear_probe of notebook 18."""

from __future__ import annotations

import random
from itertools import repeat
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from grading.definitions.definition import Definition
from grading.exercises.draws import both, fixed, seed_from, until
from tutor.checking.answers import Question

TOLERANCE = 5e-3  # who stops when three digits stand is right

exercise = Definition(minutes=25, difficulty=2)


@exercise.reference
def linear_probe(features: Tensor, labels: Tensor, penalty: float) -> tuple[Tensor, Tensor]:
    """Newton's method in double precision: the loss is convex; a step after which it is no smaller is halved."""
    ones = torch.ones(len(features), 1, dtype=torch.double)
    inputs, target = torch.cat([features.detach().double(), ones], dim=1), labels.double()
    cost = torch.full((inputs.shape[1],), 2 * penalty, dtype=torch.double)
    cost[-1] = 0

    def loss(both: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(inputs @ both, target) + (cost * both**2).sum() / 2

    both = torch.zeros_like(cost)
    for _ in range(60):
        chance = torch.sigmoid(inputs @ both)
        gradient = inputs.T @ (chance - target) / len(inputs) + cost * both
        if gradient.abs().amax() < 1e-12:
            break
        curvature = inputs.T @ (inputs * (chance * (1 - chance)).unsqueeze(1)) / len(inputs) + cost.diag()
        step = torch.linalg.solve(curvature, gradient)
        for _ in range(20):
            if loss(both - step) <= loss(both):
                break
            step = step / 2
        both = both - step
    return both[:-1].to(features.dtype), both[-1].to(features.dtype)


def _ask(count: int, width: int, penalty: float, seed: int, share: float = 0.5) -> Question:
    """Returns a question on texts of which about `share` are positive, none of the classes empty."""
    generator = torch.Generator().manual_seed(seed)
    features = torch.randn(count, width, generator=generator) + 0.5
    order = (features.sum(dim=1) + torch.randn(count, generator=generator)).argsort(descending=True)
    labels = torch.zeros(count, dtype=torch.long)
    labels[order[: min(count - 1, max(1, round(share * count)))]] = 1
    return Question((features, labels, penalty))


def _missed(ask: Question, **options: Any) -> float:
    """Returns by how many tolerances L-BFGS in single precision, with these options, misses the minimum."""
    features, labels, penalty = ask.inputs
    both = torch.zeros(features.shape[1] + 1, requires_grad=True)
    optimizer = torch.optim.LBFGS([both], **options)

    def closure() -> Tensor:
        optimizer.zero_grad()
        logits = features @ both[:-1] + both[-1]
        loss = F.binary_cross_entropy_with_logits(logits, labels.float()) + penalty * (both[:-1] ** 2).sum()
        torch.autograd.backward(loss)
        return loss

    with torch.enable_grad():
        optimizer.step(closure)
    weight, bias = linear_probe(*ask.inputs)
    wanted = torch.cat([weight, bias.unsqueeze(0)])
    return float(((both.detach() - wanted).abs() / (1 + wanted.abs())).amax() / TOLERANCE)


def _is_found(ask: Question) -> bool:
    """Says whether the optimizer that the hints name finds the minimum, and not by a hair."""
    return _missed(ask, max_iter=300, line_search_fn="strong_wolfe") < 0.2


def _apart(rng: random.Random) -> Question:
    """Returns a question on texts that some weights separate: the penalty alone keeps them from growing."""

    def draw(rng: random.Random) -> Question:
        generator = torch.Generator().manual_seed(seed_from(rng))
        features = torch.randn(20, 3, generator=generator)
        way = F.normalize(torch.randn(3, generator=generator), dim=0)
        labels = (features @ way > 0).long()
        return Question((features + 0.3 * torch.outer(2.0 * labels - 1, way), labels, 3e-4))

    return until(repeat(rng), draw, lambda ask: 5 < int(ask.inputs[1].sum()) < 15 and _is_found(ask))


def _uneven(rng: random.Random) -> Question:
    """Returns a question on features of very different size: the weights of the small ones are found last."""

    def draw(rng: random.Random) -> Question:
        generator = torch.Generator().manual_seed(seed_from(rng))
        features = torch.randn(40, 12, generator=generator) * torch.logspace(0, -1.2, 12)
        scores = features @ torch.randn(12, generator=generator)
        scores = scores / scores.std() + torch.randn(40, generator=generator)
        return Question((features, (scores > scores.median()).long(), 3e-4))

    return until(repeat(rng), draw, lambda ask: _is_found(ask) and _missed(ask) > 4)


def _far(rng: random.Random) -> Question:
    """Returns a question with one text so far out that its probability is 1 in 32 bits."""
    features, labels, penalty = _ask(20, 2, 0.05, seed_from(rng)).inputs
    number = int(torch.where(labels == 1, features.sum(dim=1), -torch.inf).argmax())
    features[number] = 20 * (features[number].abs() + 0.5)
    return Question((features, labels, penalty))


def _strong(rng: random.Random) -> list[Question]:
    return [_ask(rng.randint(8, 20), rng.randint(1, 3), rng.choice([0.5, 1.0]), seed_from(rng))]


@exercise.stage("a large penalty", points=0.5, public=fixed(both(_strong, _strong), 1), tolerance=TOLERANCE)
def _(rng: random.Random) -> list[Question]:
    """The loss is the mean cross-entropy over the texts plus `penalty` times the sum of the squared weights."""
    return _strong(rng)


def _weak(rng: random.Random) -> list[Question]:
    return [
        _ask(rng.randint(15, 30), rng.randint(2, 4), rng.choice([0.01, 0.03, 0.1]), seed_from(rng)),
        _ask(rng.randint(15, 30), 3, 0.05, seed_from(rng), share=0.8),
    ]


@exercise.stage("a small penalty", points=1.0, public=fixed(_weak, 2), tolerance=TOLERANCE, decisive=True)
def _(rng: random.Random) -> list[Question]:
    """Go on until the loss no longer falls: with a small penalty that takes longer. The bias costs nothing."""
    return _weak(rng)


@exercise.stage("the classes are not equal in number", points=0.5, seed=3, tolerance=TOLERANCE)
def _(rng: random.Random) -> list[Question]:
    """With nine of ten texts in one class the bias is large: it is not penalised, and it begins at nothing special."""
    return [_ask(rng.randint(20, 30), 2, 0.3, seed_from(rng), share=share) for share in (0.9, 0.1)]


def _hard(rng: random.Random) -> list[Question]:
    # In this order the last two of those that are asked again have the same penalty, and no third is asked beside them.
    return [_far(rng), _apart(rng), _uneven(rng)]


@exercise.stage("texts that can be separated, features of any size", points=0.5, seed=4, tolerance=TOLERANCE)
def _(rng: random.Random) -> list[Question]:
    """With a tiny penalty an optimizer needs many steps, most of all for the weights of small features; and for a logit
    of 20 the sigmoid is 1 in 32 bits: `F.binary_cross_entropy_with_logits` never takes its logarithm.
    """
    return _hard(rng)


@exercise.corners("a small penalty", count=(2, range(129, 140)), width=(1, range(8, 11)), penalty=(0.1, 2.0))
def _(rng: random.Random, count: int, width: int, penalty: float) -> Question:
    return _ask(count, width, penalty, seed_from(rng))


exercise.large += [_ask(600, 12, 0.1, 4)]
