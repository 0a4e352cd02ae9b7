"""Exercise score_by_words of notebook 17."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import fixed, seed_from
from tutor.checking.answers import Question

exercise = Definition(minutes=10, difficulty=1)


@exercise.reference
def score_by_words(logits: Tensor, positive: list[int], negative: list[int]) -> Tensor:
    return logits[:, positive].logsumexp(dim=1) - logits[:, negative].logsumexp(dim=1)


def _ask(
    texts: int,
    words: int,
    positive: int,
    negative: int,
    seed: int,
    spread: float = 2.0,
    low: float = 0.0,
    between: float = 0.0,
) -> Question:
    """Returns a question with this many words a side, drawn from a vocabulary of `words`.

    The logits of every other text lie at `low`, those of the others at `-low`; those of the positive words lie higher
    than the rest by `between`.
    """
    rng = random.Random(seed)
    chosen = rng.sample(range(words), positive + negative)
    logits = spread * torch.randn(texts, words, generator=torch.Generator().manual_seed(seed))
    logits[::2] += low
    logits[1::2] -= low
    logits[:, chosen[:positive]] += between
    return Question((logits, chosen[:positive], chosen[positive:]))


exercise.by_hand(Question((torch.tensor([[0.2, 0.1, 0.05, 0.65]]).log(), [0, 1], [2])), part=float)


@exercise.stage("one word a side", points=1, public=[_ask(3, 8, 1, 1, 1), _ask(1, 5, 1, 1, 2)])
def _(rng: random.Random) -> list[Question]:
    """Log-odds of one word against another: the difference of their logits. The logarithm of the sum of all
    exponentials, by which softmax divides, is in both and falls away.
    """
    return [_ask(rng.randint(1, 4), rng.randint(5, 9), 1, 1, seed_from(rng))]


def _several(rng: random.Random) -> list[Question]:
    return [
        _ask(3, 12, 3, 2, seed_from(rng)),
        _ask(2, 12, 1, 4, seed_from(rng)),
        _ask(4, 12, rng.randint(2, 4), rng.randint(2, 4), seed_from(rng), spread=rng.uniform(0.5, 4)),
    ]


@exercise.stage("several words a side", points=1.5, public=[_ask(3, 12, 3, 2, 3), *fixed(_several, 0)], decisive=True)
def _(rng: random.Random) -> list[Question]:
    """Any of a side's words will do: their probabilities add up. Add probabilities, not logits and not logarithms."""
    return _several(rng)


@exercise.corners(
    "several words a side",
    texts=(1, range(33, 40)),
    words=(2, range(40, 50), range(301, 310)),
    positive=(1, 2, range(33, 36)),
    negative=(1, 2),
    low=(0.0, -60.0, 50.0),
)
def _(rng: random.Random, texts: int, words: int, positive: int, negative: int, low: float) -> Question | None:
    if positive + negative > words:
        return None
    return _ask(texts, words, positive, negative, seed_from(rng), low=low)


def _low_and_high(seed: int, low: float) -> Question:
    """Returns a question on two texts, one at `low` and one at `-low`.

    The score is not near 0: there the rounding of numbers of this size in 32 bits would be seen.
    """
    return _ask(2, 9, 2, 2, seed, low=low, between=6.0)


@exercise.stage(
    "probabilities that are very small",
    points=0.5,
    public=[_low_and_high(4, -800.0), _ask(2, 9, 2, 2, 5, between=-900.0)],
)
def _(rng: random.Random) -> list[Question]:
    """Exponentials of logits below -100 are 0 in 32 bits, and those above 90 infinite; in 64 bits so are those below
    -750 and above 710. logsumexp is made for this.
    """
    return [_low_and_high(seed_from(rng), rng.choice([-1, 1]) * rng.uniform(800, 950))] + [
        _ask(2, 9, 3, 2, seed_from(rng), between=sign * rng.uniform(800, 950)) for sign in (-1, 1)
    ]


exercise.large += [_ask(1, 12_000, 300, 400, 6)]
