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
def _(rng):
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
def _(rng):
    """How much more probable has the model made the chosen answer, measured by the reference, and how much the
    rejected one? Their difference times beta goes into the sigmoid. Its logarithm is taken for each pair, and then the
    mean.
    """
    return _several(rng)


@exercise.corners("several pairs", size=(1, range(101, 110)), beta=(0.001, 0.1, 1.0), far=(0.0, 0.01, 1.0))
def _(rng, size, beta, far):
    return _ask(size, seed_from(rng), beta, far)


@exercise.stage(
    "one pair that is far off", points=1, public=[_ask(1, 6, 1.0, shift=-70.0), _ask(3, 7, 1.0, shift=80.0)]
)
def _(rng):
    """Where the model prefers the wrong answer by hundreds of nats, the sigmoid is 0 and its logarithm minus infinity:
    then nothing is learned any more. F.logsigmoid is made for this.
    """
    return [_ask(2, seed_from(rng), 1.0, shift=sign * rng.uniform(110, 160)) for sign in (-1, 1)]


@exercise.stage("a number, `()`, for backward()", points=0.5, public=[_ask(3, 8, 0.3)], view="shape")
def _(rng):
    """A tensor without axes: the mean over the pairs."""
    return [_ask(rng.randint(2, 5), seed_from(rng), 0.3)]


exercise.large += [_ask(3000, 9, 0.2)]


@exercise.mistake("without the reference")
def _(chosen, rejected, reference_chosen, reference_rejected, beta):
    """A log-ratio compares with the reference: an answer that was probable from the start is no merit."""
    return -F.logsigmoid(beta * (chosen - rejected)).mean()


@exercise.mistake("chosen and rejected are exchanged")
def _(chosen, rejected, reference_chosen, reference_rejected, beta):
    """The loss must fall when the *chosen* answer becomes more probable: chosen minus rejected."""
    return preference_loss(rejected, chosen, reference_rejected, reference_chosen, beta)


@exercise.mistake("the sign of the reference")
def _(chosen, rejected, reference_chosen, reference_rejected, beta):
    """The log-ratio is the model's logarithm *minus* the reference's, for both answers."""
    return -F.logsigmoid(beta * ((chosen + reference_chosen) - (rejected + reference_rejected))).mean()


@exercise.mistake("the log-ratios are added")
def _(chosen, rejected, reference_chosen, reference_rejected, beta):
    """Preferred is the difference: the log-ratio of the chosen answer minus that of the rejected one."""
    return -F.logsigmoid(beta * ((chosen - reference_chosen) + (rejected - reference_rejected))).mean()


@exercise.mistake("beta is outside of the sigmoid")
def _(chosen, rejected, reference_chosen, reference_rejected, beta):
    """beta scales the difference before the sigmoid; outside it is only another learning rate."""
    return -beta * F.logsigmoid((chosen - reference_chosen) - (rejected - reference_rejected)).mean()


@exercise.mistake("beta is left out")
def _(chosen, rejected, reference_chosen, reference_rejected, beta):
    """The difference of the log-ratios is multiplied by beta before the sigmoid."""
    return preference_loss(chosen, rejected, reference_chosen, reference_rejected, 1.0)


@exercise.mistake("divided by beta")
def _(chosen, rejected, reference_chosen, reference_rejected, beta):
    """beta multiplies: the larger it is, the sooner a small difference suffices."""
    return preference_loss(chosen, rejected, reference_chosen, reference_rejected, 1 / beta)


@exercise.mistake("the sigmoid without a logarithm")
def _(chosen, rejected, reference_chosen, reference_rejected, beta):
    """The loss is minus the *logarithm* of the probability that the chosen answer wins."""
    return -torch.sigmoid(beta * ((chosen - reference_chosen) - (rejected - reference_rejected))).mean()


@exercise.mistake("the sign of the loss")
def _(chosen, rejected, reference_chosen, reference_rejected, beta):
    """A logarithm of a probability is negative, and a loss shall become small: take minus it."""
    return -preference_loss(chosen, rejected, reference_chosen, reference_rejected, beta)


@exercise.mistake("the sum in place of the mean")
def _(chosen, rejected, reference_chosen, reference_rejected, beta):
    """The loss would grow with the batch: take the mean over the pairs."""
    return preference_loss(chosen, rejected, reference_chosen, reference_rejected, beta) * len(chosen)


@exercise.mistake("the mean before the sigmoid")
def _(chosen, rejected, reference_chosen, reference_rejected, beta):
    """Each pair has its own probability: first the logarithm of the sigmoid for each, then the mean."""
    return -F.logsigmoid(beta * ((chosen - reference_chosen) - (rejected - reference_rejected)).mean())
