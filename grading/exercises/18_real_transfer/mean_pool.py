"""Exercise mean_pool of notebook 18."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import fixed, seed_from
from tutor.checking.answers import Question

MOST = 10_000  # values of a corner: the checks that students have hold all of them

exercise = Definition(minutes=10, difficulty=1)


@exercise.reference
def mean_pool(states: Tensor, lengths: Tensor) -> Tensor:
    is_word = torch.arange(states.shape[1], device=states.device) < lengths.unsqueeze(1)
    return (states * is_word.unsqueeze(2)).sum(dim=1) / lengths.unsqueeze(1)


def _ask(lengths: list[int], width: int, seed: int, more: int = 0) -> Question:
    """Returns a question on texts of these lengths, in a batch with `more` padding than the longest needs."""
    generator = torch.Generator().manual_seed(seed)
    states = 3 * torch.randn(len(lengths), max(lengths) + more, width, generator=generator) + 1
    return Question((states, torch.tensor(lengths)))


def _zeros(rng: random.Random) -> Question:
    """Returns a question on states of which many are exactly 0, as behind a ReLU, and those of the first token all."""
    states, lengths = _ask([*(rng.randint(2, 5) for _ in range(2)), 1], rng.randint(3, 5), seed_from(rng)).inputs
    states = states.relu()
    states[0, 0] = 0
    return Question((states, lengths))


BY_HAND = Question(
    (
        torch.tensor([[[1.0, 2.0], [3.0, 6.0], [8.0, 8.0]], [[4.0, 0.0], [2.0, 1.0], [0.0, 2.0]]]),
        torch.tensor([2, 3]),
    )
)

exercise.by_hand(BY_HAND)


@exercise.stage("texts of one length", points=0.5, public=[_ask([3, 3], 4, 1), _ask([1], 2, 2)])
def _(rng: random.Random) -> list[Question]:
    """Without padding it is the mean over the tokens, axis 1: one vector `(d,)` for each text."""
    return [_ask([rng.randint(2, 5)] * rng.randint(2, 4), rng.randint(2, 6), seed_from(rng))]


def _padded(rng: random.Random) -> list[Question]:
    lengths = [1, *(rng.randint(2, 6) for _ in range(rng.randint(2, 4)))]
    return [
        _ask(rng.sample(lengths, len(lengths)), rng.randint(2, 5), seed_from(rng)),
        _ask([rng.randint(2, 4)], 3, seed_from(rng), more=rng.randint(1, 3)),
    ]


@exercise.stage(
    "padding does not count",
    points=1.5,
    public=[_ask([2, 4, 1], 3, 3), *fixed(_padded, 0), BY_HAND, _zeros(random.Random(1))],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """The states at padding are no zeros: leave them out of the sum, and divide by the number of real tokens. Each text
    has its own number. A token whose value is 0 counts, too.
    """
    return [*_padded(rng), _zeros(rng)]


@exercise.corners(
    "padding does not count",
    texts=(1, range(33, 40)),
    longest=(1, range(65, 70), range(129, 140)),
    width=(1, range(65, 70)),
)
def _(rng: random.Random, texts: int, longest: int, width: int) -> Question | None:
    if texts * longest * width > MOST:
        return None
    lengths = [rng.randint(1, longest) for _ in range(texts - 1)] + [longest]
    return _ask(rng.sample(lengths, texts), width, seed_from(rng), more=1)


exercise.large += [_ask([1, 600, 301], 4, 4), _ask([2, 1], 2000, 5)]
