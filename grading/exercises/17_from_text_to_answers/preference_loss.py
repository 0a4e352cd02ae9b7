"""Exercise preference_loss of notebook 17."""

from __future__ import annotations

import random

import torch
from torch import Tensor
from torch.nn import functional as F

from grading.definitions.definition import Definition
from grading.exercises.draws import fixed, seed_from
from tutor.checking.answers import Question

exercise = Definition(minutes=20, difficulty=2, trains=True)


@exercise.reference
def preference_loss(
    chosen: Tensor, rejected: Tensor, reference_chosen: Tensor, reference_rejected: Tensor, beta: float
) -> Tensor:
    return -F.logsigmoid(beta * ((chosen - reference_chosen) - (rejected - reference_rejected))).mean()


def _ask(size: int, seed: int, beta: float, far: float = 2.0, shift: float = 0.0) -> Question:
    """Returns a question on `size` pairs; each model differs from its reference by about `far`, and by `shift` more."""
    generator = torch.Generator().manual_seed(seed)
    reference = -20 + 4 * torch.randn(2, size, generator=generator)
    model = reference + far * torch.randn(2, size, generator=generator)
    return Question((model[0] + shift, model[1] - shift, reference[0], reference[1], beta))


def _equal(size: int, seed: int, beta: float) -> Question:
    return _ask(size, seed, beta, far=0.0)


@exercise.stage("model and reference are equal", points=0.5, public=[_equal(3, 1, 0.1), _equal(1, 2, 2.0)])
def _(rng: random.Random) -> list[Question]:
    """Then both log-ratios are 0, whatever beta: the loss is minus the logarithm of sigmoid(0) = 1/2. The mean over
    the pairs is one number, `()`.
    """
    return [_equal(rng.randint(2, 5), seed_from(rng), rng.choice([0.05, 0.3, 1.5]))]


def _several(rng: random.Random) -> list[Question]:
    return [_ask(rng.randint(2, 6), seed_from(rng), beta) for beta in (0.1, round(rng.uniform(0.2, 0.9), 2), 1.5)]


@exercise.stage(
    "several pairs",
    points=2,
    public=[_ask(1, 3, 0.5), _ask(4, 4, 0.1), _ask(3, 5, 2.0), *fixed(_several, 0)],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """How much more probable has the model made the chosen answer, measured by the reference, and how much the
    rejected one? Their difference times beta goes into the sigmoid. Its logarithm is taken for each pair, and then the
    mean.
    """
    return _several(rng)


exercise.by_hand(Question((*(torch.tensor([ratio]) for ratio in (2.0, -1.0, 0.0, 0.0)), 0.5)), part=float)


@exercise.corners("several pairs", size=(1, range(101, 110)), beta=(0.001, 0.1, 1.0), far=(0.0, 0.01, 1.0))
def _(rng: random.Random, size: int, beta: float, far: float) -> Question:
    return _ask(size, seed_from(rng), beta, far)


@exercise.stage(
    "one pair that is far off", points=1, public=[_ask(1, 6, 1.0, shift=-400.0), _ask(3, 7, 1.0, shift=450.0)]
)
def _(rng: random.Random) -> list[Question]:
    """Where the model prefers the wrong answer by hundreds of nats, the sigmoid is 0, in 64 bits as in 32, and its
    logarithm minus infinity: then nothing is learned any more. F.logsigmoid is made for this.
    """
    return [_ask(2, seed_from(rng), 1.0, shift=sign * rng.uniform(400, 480)) for sign in (-1, 1)]


@exercise.stage("a number, `()`, for backward()", points=0.5, public=[_ask(3, 8, 0.3)], view="shape")
def _(rng: random.Random) -> list[Question]:
    """A tensor without axes: the mean over the pairs."""
    return [_ask(rng.randint(2, 5), seed_from(rng), 0.3)]


exercise.large += [_ask(3000, 9, 0.2)]
