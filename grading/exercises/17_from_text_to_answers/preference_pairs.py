"""Exercise preference_pairs of notebook 17."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import fixed, seed_from
from tutor.checking.answers import Question

exercise = Definition(minutes=15, difficulty=2)


@exercise.reference
def preference_pairs(rewards: Tensor) -> Tensor:
    best, worst = rewards.argmax(dim=1), rewards.argmin(dim=1)
    prompts = torch.arange(len(rewards))
    high, low = rewards[prompts, best], rewards[prompts, worst]
    return torch.stack([prompts, best, worst], dim=1)[high > low]


def _rewards(prompts: int, answers: int, seed: int) -> Question:
    """Returns a question on rewards that all differ."""
    generator = torch.Generator().manual_seed(seed)
    return Question((torch.randperm(prompts * answers, generator=generator).view(prompts, answers) / 7 - prompts,))


@exercise.stage(
    "best and worst", points=1, public=[_rewards(3, 4, 1), _rewards(1, 2, 2), _rewards(5, 3, 3)], decisive=True
)
def _(rng: random.Random) -> list[Question]:
    """A row for each prompt whose best answer is better than its worst, by however little: its number, the index of its
    best answer, the index of its worst.
    """
    return [_rewards(rng.randint(2, 6), rng.randint(2, 5), seed_from(rng)) for _ in range(2)]


@exercise.corners("best and worst", prompts=(1, 2, range(65, 70), range(301, 310)), answers=(2, range(33, 40)))
def _(rng: random.Random, prompts: int, answers: int) -> Question:
    return _rewards(prompts, answers, seed_from(rng))


exercise.by_hand(Question((torch.tensor([[1.0, 1.0], [0.0, 2.0], [3.0, -1.0]]),)))

TIES = [[1.0, 3.0, 3.0, 0.0], [2.0, 2.0, 5.0, 2.0], [0.0, -1.0, 0.0, -1.0]]


@exercise.stage("whole numbers, `(m, 3)`", points=0.25, public=[_rewards(4, 3, 5)], view="shape")
def _(rng: random.Random) -> list[Question]:
    """They number prompts and answers, and shall find them again: `texts[pairs[:, 0]]` takes whole numbers only."""
    return [_rewards(rng.randint(3, 6), 3, seed_from(rng))]


def _levels(rng: random.Random) -> list[tuple[float, float]]:
    return [(float(low), low + rng.uniform(0.5, 2)) for low in rng.choices(range(-2, 2), k=rng.randint(4, 7))]


def _tied(rng: random.Random) -> list[Question]:
    return [
        Question((torch.tensor([rng.sample([low, low, high, high], 4) for low, high in _levels(rng)]),)),
        Question((torch.tensor(rng.sample(TIES, 3)) * rng.uniform(0.5, 3),)),
    ]


@exercise.stage("several equally good", points=0.25, public=[Question((torch.tensor(TIES),)), *fixed(_tied, 0)])
def _(rng: random.Random) -> list[Question]:
    """Of several best answers, and of several worst ones, take the first."""
    return _tied(rng)


def _with_equal_rows(rng: random.Random) -> list[Question]:
    """Draws rewards in which some prompts have equal answers only, and in which all have, also of a rounded mean."""
    rewards = torch.tensor([rng.sample([-1.0, 0.5, 2.0], 3) for _ in range(5)])
    for row in rng.sample(range(5), 2):
        rewards[row] = rng.choice([-1.5, 0.0, 3.0])
    near = torch.tensor([[0.25, 0.25], [0.25, 0.2501], [-3.0, -3.0]])
    uneven = [Question((torch.full((1, 3), level),)) for level in (-2.98, rng.choice([0.1, 0.11, 0.22, 0.43]))]
    zeros = torch.zeros(rng.randint(1, 4), 3)
    return [Question((rewards,)), Question((zeros,)), Question((near,)), *uneven]


@exercise.stage(
    "prompts whose answers are equally good",
    points=1.5,
    public=[Question((torch.tensor([[1.0, 1.0], [0.0, 2.0], [-1.0, -1.0]]),)), *fixed(_with_equal_rows, 3)],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """There is nothing to prefer: such a prompt has no row, and the others keep their numbers. Where the best answer is
    better, by however little, there is a row. Where no prompt has a preference the result is empty, `(0, 3)`.
    """
    return _with_equal_rows(rng)


@exercise.corners(
    "prompts whose answers are equally good",
    answers=(1, 2, range(33, 40)),
    level=(-1e6, 0.0, 0.1),
    better_by=(0.0, 1e-3, 1.0),
)
def _(rng: random.Random, answers: int, level: float, better_by: float) -> Question:
    rewards = torch.full((3, answers), level, dtype=torch.float64)
    rewards[1, rng.randrange(answers)] += better_by
    return Question((rewards,))


exercise.large += [_rewards(2000, 5, 4)]
