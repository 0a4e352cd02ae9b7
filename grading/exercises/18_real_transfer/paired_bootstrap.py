"""Exercise paired_bootstrap of notebook 18."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import fixed, seed_from
from tutor.checking.answers import Question

exercise = Definition(minutes=15, difficulty=2)


@exercise.reference
def paired_bootstrap(right_a: Tensor, right_b: Tensor, samples: Tensor) -> tuple[float, float, float]:
    difference = right_a.double() - right_b.double()
    means = difference[samples].mean(dim=1)
    low, high = torch.quantile(means, torch.tensor([0.025, 0.975], dtype=torch.double)).tolist()
    return difference.mean().item(), low, high


def _ask(size: int, draws: int, seed: int, a: float, b: float) -> Question:
    """Returns a question on two models that are right with these chances, often on the same examples."""
    generator = torch.Generator().manual_seed(seed)
    hard = torch.rand(size, generator=generator)
    noise = 0.3 * torch.rand(2, size, generator=generator) - 0.15
    right = hard + noise < torch.tensor([[a], [b]])
    return Question((right[0], right[1], torch.randint(size, (draws, size), generator=generator)))


exercise.by_hand(
    Question(
        (
            torch.tensor([True, True, False, True]),
            torch.tensor([True, False, False, False]),
            torch.tensor([[0, 1, 2, 3]]),
        )
    ),
    part=lambda found: found[0],
)


def _small(rng: random.Random) -> list[Question]:
    return [_ask(rng.randint(6, 12), rng.randint(30, 60), seed_from(rng), 0.8, 0.5) for _ in range(2)]


@exercise.stage(
    "the difference",
    points=0.5,
    public=[_ask(8, 1, 1, 0.9, 0.4), _ask(10, 1, 2, 0.3, 0.7)],
    measure="first of three values",
)
def _(rng: random.Random) -> list[Question]:
    """The first value is the accuracy of a minus that of b, on all examples, each once. Nothing is rounded."""
    return [_ask(rng.randint(6, 12), 1, seed_from(rng), 0.8, 0.4)]


@exercise.stage("the interval", points=1.5, public=fixed(_small, 3), decisive=True)
def _(rng: random.Random) -> list[Question]:
    """Each row of `samples` names the examples of one test set drawn again, some twice. Of the differences on these,
    2.5 % lie below the lower limit and 2.5 % above the upper one. Each is a quantile of these differences; nothing is
    rounded.
    """
    return [*_small(rng), _ask(rng.randint(20, 30), 200, seed_from(rng), 0.5, 0.7)]


@exercise.corners("the interval", size=(1, range(33, 40), range(130, 140)), draws=(1, 2, range(101, 110)), a=(0.2, 0.9))
def _(rng: random.Random, size: int, draws: int, a: float) -> Question:
    return _ask(size, draws, seed_from(rng), a, 0.6)


exercise.large += [_ask(20, 1200, 4, 0.8, 0.75), _ask(1500, 12, 5, 0.8, 0.75)]
