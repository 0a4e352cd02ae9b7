"""Exercise answer_loss of notebook 17."""

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

exercise = Definition(minutes=20, difficulty=2, trains=True)


def _mean(logs: Tensor, scored: Tensor) -> Tensor:
    return -(logs * scored).sum() / scored.sum()


@exercise.reference
def answer_loss(logits: Tensor, tokens: Tensor, starts: Tensor, lengths: Tensor) -> Tensor:
    return _mean(log_probabilities(logits, tokens), positions(tokens, starts, lengths))


exercise.by_hand(given([1 / 3, 1 / 2, 1 / 8, 1 / 5], start=2, length=4), part=float)


@exercise.stage("one answer", points=0.5, public=[without_pad([(3, 6)], 1), without_pad([(1, 2)], 2)])
def _(rng: random.Random) -> list[Question]:
    """By hand: the logits at position i score the token at position i + 1. Take the mean of minus the logarithms of the
    probabilities of the answer's tokens.
    """
    return one(rng)


@exercise.stage(
    "the prompt is not scored",
    points=1.25,
    public=[without_pad([(4, 7), (4, 7)], 3), without_pad([(5, 6)], 4)],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Only tokens of the answer count: those at the positions from start up to length - 1. The first of them is scored
    by the logits of the prompt's last position.
    """
    start = rng.randint(3, 6)
    spans = [(start, start + 3)] * 2, [(start, start + 1)]
    return [without_pad(texts, rng.randrange(10**6)) for texts in spans]


@exercise.stage(
    "answers of different lengths, and padding",
    points=1.25,
    public=[
        batch([(2, 8), (4, 5)], 5),
        batch([(3, 5), (1, 6), (2, 9)], 6, spare=2),
        batch([(3, 4), (1, 9), (5, 7)], 7),
        *fixed(several, 0),
    ],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Where a text ends, lengths says: behind it nothing counts. And every token of an answer weighs the same,
    whichever text it is in: one sum over all, divided by the number of all.
    """
    return several(rng)


@exercise.corners(
    "answers of different lengths, and padding",
    texts=(1, range(33, 40)),
    start=(1, range(34, 40), range(101, 110)),
    answer=(1, 2, range(65, 70)),
    spare=(0, range(1, 4)),
)
def _(rng: random.Random, texts: int, start: int, answer: int, spare: int) -> Question | None:
    return cornered(rng, texts, start, answer, spare)


add_far_apart(exercise, 2)


@exercise.stage("a number, `()`, for backward()", points=0.5, public=[batch([(2, 5), (1, 4)], 8)], view="shape")
def _(rng: random.Random) -> list[Question]:
    """A tensor without axes: the mean, and not one loss for each text or token."""
    return [batch([(2, 5), (rng.randint(1, 3), 4)], rng.randrange(10**6))]


exercise.large += fixed(long_text, 0)
