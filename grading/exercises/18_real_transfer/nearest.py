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
STEP = 5e-4  # by how much close ones differ: a thousand times what float32 rounds, and less than what three digits show

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


def _cosines(ask: Question) -> Tensor:
    """Returns the cosine of each text with the query, in double precision."""
    query, states, _ = ask.inputs
    return F.cosine_similarity(states.double(), query.double().unsqueeze(0), dim=1)


def _is_clear(ask: Question) -> bool:
    """Says whether the order of the first `k` is clear."""
    cosines = _cosines(ask).sort(descending=True).values
    return bool((cosines[:-1] - cosines[1:])[: ask.inputs[2]].amin() > CLEAR) if len(cosines) > 1 else True


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


def _close(rng: random.Random) -> Question:
    """Returns a question whose cosines differ by a `STEP` each: two or three digits of them do not tell the order."""

    def draw(rng: random.Random) -> Question:
        texts, width = rng.randint(5, 7), rng.randint(4, 6)
        generator = torch.Generator().manual_seed(seed_from(rng))
        query, *others = torch.randn(texts + 1, width, generator=generator, dtype=torch.double)
        along, beside = F.normalize(query, dim=0), torch.stack(others)
        across = F.normalize(beside - (beside @ along).unsqueeze(1) * along, dim=1)
        cosines = rng.choice([0.5, -0.3]) + STEP * torch.tensor(rng.sample(range(texts), texts)).unsqueeze(1)
        lengths = torch.exp(torch.randn(texts, 1, generator=generator))
        states = lengths * (cosines * along + (1 - cosines**2).sqrt() * across)
        return Question((query.float(), states.float(), 3))

    def is_told_apart(ask: Question) -> bool:
        cosines = _cosines(ask)
        orders = [cosines.mul(10**digits).round().argsort(descending=True, stable=True)[:3] for digits in (2, 3)]
        return all(order.tolist() != nearest(*ask.inputs) for order in orders)

    return until(repeat(rng), draw, is_told_apart)


def _short(rng: random.Random) -> Question:
    """Returns a question on a vector a thousandth as long as others: nothing may be added to a length."""

    def draw(rng: random.Random) -> Question:
        query, states, k = _draw(rng, rng.randint(5, 7), rng.randint(4, 6), 3).inputs
        sizes = torch.tensor([rng.choice([1e-3, 1e-2, 1.0, 30.0]) for _ in range(len(states))])
        return Question((query, F.normalize(states, dim=1) * sizes.unsqueeze(1), k))

    def is_told_apart(ask: Question) -> bool:
        query, states, k = ask.inputs
        lengths = states.norm(dim=1)
        divisors = [lengths * query.norm() + eps for eps in (1e-2, 1e-3)]
        divisors += [changed for eps in (1e-2, 2e-3) for changed in (lengths + eps, lengths.clamp(min=eps))]
        orders = [(states @ query / divisor).argsort(descending=True)[:k].tolist() for divisor in divisors]
        return _is_clear(ask) and all(order != nearest(*ask.inputs) for order in orders)

    return until(repeat(rng), draw, is_told_apart)


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


def _near_and_short(rng: random.Random) -> list[Question]:
    return [_close(rng), _short(rng)]


@exercise.stage(
    "the k nearest, in order", points=1.5, public=fixed(_some, 2) + fixed(_near_and_short, 1), decisive=True
)
def _(rng: random.Random) -> list[Question]:
    """The nearest comes first. The length of a vector does not count: a long text is not nearer than a short one. All
    may lie on the other side of the query; then the nearest is the one whose cosine is least negative. Cosines that
    differ in the fourth digit have an order, too.
    """
    return _some(rng) + _near_and_short(rng)


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
