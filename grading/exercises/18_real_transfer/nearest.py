"""Exercise nearest of notebook 18."""

from __future__ import annotations

import random
from itertools import repeat

import torch
from torch import Tensor
from torch.nn import functional as F

from grading.definitions.definition import Definition
from grading.exercises.draws import fixed, seed_from, until
from tutor.checking.answers import Question

CLEAR = 0.02  # by how much two cosines differ at least: rounding changes no order

exercise = Definition(minutes=12, difficulty=1)


@exercise.reference
def nearest(query: Tensor, states: Tensor, k: int) -> list[int]:
    cosines = F.cosine_similarity(states, query.unsqueeze(0), dim=1)
    found: list[int] = cosines.argsort(descending=True)[:k].tolist()
    return found


def _draw(rng: random.Random, texts: int, width: int, k: int, shift: float = 0.0) -> Question:
    generator = torch.Generator().manual_seed(seed_from(rng))
    lengths = torch.exp(1.2 * torch.randn(texts, 1, generator=generator))  # long vectors and short ones
    states = lengths * (torch.randn(texts, width, generator=generator) + shift)
    return Question((torch.randn(width, generator=generator) - shift, states, k))


def _is_clear(ask: Question) -> bool:
    """Says whether the order of the first `k` is clear."""
    query, states, k = ask.inputs
    cosines = F.cosine_similarity(states.double(), query.double().unsqueeze(0), dim=1).sort(descending=True).values
    return bool((cosines[:-1] - cosines[1:])[:k].amin() > CLEAR) if len(cosines) > 1 else True


def _is_told_apart(ask: Question) -> bool:
    """Says whether the product, the distance, amounts and rows divided by their largest value have another order.

    The nearest one looks the query's way: that all may look away is asked elsewhere.
    """
    query, states, k = ask.inputs
    unit, products = F.normalize(states, dim=1) @ query, states @ query
    others = [products, -torch.cdist(states, query.unsqueeze(0)).squeeze(1), unit.abs()]
    others.append((states / states.abs().amax(dim=1, keepdim=True)) @ query)
    orders = [scores.argsort(descending=True)[:k].tolist() for scores in others]
    return _is_clear(ask) and bool(unit.amax() > 0) and all(order != nearest(*ask.inputs) for order in orders)


def _ask(rng: random.Random, texts: int, width: int, k: int, shift: float = 0.0) -> Question:
    fits = _is_told_apart if texts > 3 and shift == 0 else _is_clear
    return until(repeat(rng), lambda rng: _draw(rng, texts, width, k, shift), fits)


exercise.by_hand(
    Question((torch.tensor([1.0, 0.0]), torch.tensor([[3.0, 4.0], [0.8, 0.6], [6.0, -6.0]]), 3)), tolerance=0
)


def _one(rng: random.Random) -> list[Question]:
    return [_ask(rng, rng.randint(4, 8), rng.randint(3, 6), 1) for _ in range(3)]


@exercise.stage("the nearest one", points=0.5, seed=1)
def _(rng: random.Random) -> list[Question]:
    """The cosine is the product of both vectors, each divided by its length. The largest one is the nearest."""
    return _one(rng)


def _some(rng: random.Random) -> list[Question]:
    return [_ask(rng, rng.randint(6, 9), rng.randint(4, 8), rng.randint(2, 4)) for _ in range(3)] + [
        _ask(rng, 4, 6, 4),
        _ask(rng, 5, 4, 3, shift=1.5),
    ]


@exercise.stage("the k nearest, in order", points=1.5, public=fixed(_some, 2), decisive=True)
def _(rng: random.Random) -> list[Question]:
    """The nearest comes first. The length of a vector does not count: a long text is not nearer than a short one. All
    may lie on the other side of the query; then the nearest is the one whose cosine is least negative.
    """
    return _some(rng)


@exercise.corners("the k nearest, in order", texts=(1, 2, range(33, 36)), width=(2, range(65, 70)), k=(1, 2))
def _(rng: random.Random, texts: int, width: int, k: int) -> Question | None:
    if k > texts or (width == 2 and texts > 30):
        return None
    return until(repeat(rng), lambda rng: _draw(rng, texts, width, k), _is_clear)


exercise.large += [
    until(
        repeat(random.Random(5)),
        lambda rng: _draw(rng, 1500, 8, 1),
        lambda ask: int(nearest(*ask.inputs)[0]) > 1024 and _is_clear(ask),
    )
]
