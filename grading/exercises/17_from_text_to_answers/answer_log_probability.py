"""Exercise answer_log_probability of notebook 17."""

from __future__ import annotations

import random

from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import fixed
from tutor.checking.answers import Question

from ._common import (
    add_far_apart,
    batch,
    cornered,
    given,
    log_probabilities,
    long_text,
    one,
    positions,
    several,
    without_pad,
)

exercise = Definition(minutes=15, difficulty=2, trains=True)


def _sums(logs: Tensor, scored: Tensor) -> Tensor:
    return (logs * scored).sum(dim=1)


@exercise.reference
def answer_log_probability(logits: Tensor, tokens: Tensor, starts: Tensor, lengths: Tensor) -> Tensor:
    return _sums(log_probabilities(logits, tokens), positions(tokens, starts, lengths))


exercise.by_hand(given([1 / 2, 1 / 4, 1 / 4], start=1, length=4), part=float)


@exercise.stage("one answer", points=0.5, public=[without_pad([(3, 6)], 11), without_pad([(1, 2)], 12)])
def _(rng: random.Random) -> list[Question]:
    """The probability of an answer is the product of those of its tokens, each after all before it: its logarithm is
    a sum.
    """
    return one(rng)


@exercise.stage(
    "one number for each text",
    points=0.5,
    public=[batch([(2, 5), (1, 4), (3, 6)], 13)],
    view="shape",
)
def _(rng: random.Random) -> list[Question]:
    """A batch of b texts has b logarithms, `(b,)`."""
    return [batch([(2, 5)] * rng.randint(2, 4), rng.randrange(10**6))]


@exercise.stage(
    "prompts and answers of different lengths, and padding",
    points=1.5,
    public=[
        batch([(2, 8), (4, 5)], 14),
        batch([(3, 5), (1, 6), (2, 9)], 15, spare=2),
        batch([(3, 4), (1, 9), (5, 7)], 16),
        *fixed(several, 1),
    ],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Of each text the tokens at the positions start to length - 1, the last one included, count, whatever their
    numbers: sum along the row, with a mask for each row.
    """
    return several(rng)


@exercise.corners(
    "prompts and answers of different lengths, and padding",
    texts=(1, range(33, 40)),
    start=(1, range(34, 40), range(101, 110)),
    answer=(1, 2, range(65, 70)),
    spare=(0, range(1, 4)),
)
def _(rng: random.Random, texts: int, start: int, answer: int, spare: int) -> Question | None:
    return cornered(rng, texts, start, answer, spare)


add_far_apart(exercise, 3)


exercise.large += fixed(long_text, 1)
