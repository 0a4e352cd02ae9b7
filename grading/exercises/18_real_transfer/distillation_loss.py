"""Exercise distillation_loss of notebook 18."""

from __future__ import annotations

import random
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional as F

from grading.definitions.definition import Definition
from grading.exercises.draws import fixed, seed_from
from tutor.checking.answers import Question

exercise = Definition(minutes=15, difficulty=2, trains=True)


@exercise.reference
def distillation_loss(student: Tensor, teacher: Tensor, labels: Tensor, temperature: float, share: float) -> Tensor:
    soft = F.softmax(teacher.detach() / temperature, dim=1)
    told = F.kl_div(F.log_softmax(student / temperature, dim=1), soft, reduction="batchmean")
    return share * temperature**2 * told + (1 - share) * F.cross_entropy(student, labels)


def _ask(
    texts: int,
    classes: int,
    seed: int,
    temperature: float,
    share: float,
    spread: float = 2.0,
    near: float | None = None,
) -> Question:
    """Returns a question; `near` is by how much the teacher's second logit lies below its first, else it is drawn."""
    generator = torch.Generator().manual_seed(seed)
    student, teacher = spread * torch.randn(2, texts, classes, generator=generator)
    if near is not None:
        first, second = teacher.topk(2, dim=1).indices.T
        teacher[torch.arange(texts), second] = teacher[torch.arange(texts), first] - near
    return Question((student, teacher, torch.randint(classes, (texts,), generator=generator), temperature, share))


exercise.by_hand(
    Question((torch.tensor([[0.0, 0.0]]), torch.tensor([[2 * 1.0986123, 0.0]]), torch.tensor([0]), 2.0, 1.0)),
    part=float,
)


def _soft(rng: random.Random) -> list[Question]:
    return [
        _ask(1, rng.randint(2, 4), seed_from(rng), 1.0, 1.0),
        _ask(rng.randint(3, 5), rng.randint(3, 5), seed_from(rng), rng.choice([1.5, 3.0]), 1.0),
    ]


@exercise.stage("the teacher alone", points=1.25, public=fixed(_soft, 1), decisive=True)
def _(rng: random.Random) -> list[Question]:
    """With share 1 only the teacher counts: the Kullback-Leibler divergence of the student's distribution from the
    teacher's, both at the temperature, the mean over the texts, times the temperature squared.
    """
    return _soft(rng)


@exercise.stage("the labels alone", points=0.5, seed=2)
def _(rng: random.Random) -> list[Question]:
    """With share 0 it is the ordinary cross-entropy with the labels, without any temperature."""
    return [_ask(rng.randint(2, 5), rng.randint(2, 5), seed_from(rng), rng.choice([2.0, 5.0]), 0.0)]


def _both(rng: random.Random) -> list[Question]:
    return [
        _ask(
            rng.randint(3, 6),
            rng.randint(3, 6),
            seed_from(rng),
            rng.choice([2.0, 4.0]),
            round(rng.uniform(0.2, 0.8), 2),
        )
    ]


@exercise.stage("both", points=0.5, public=fixed(_both, 3))
def _(rng: random.Random) -> list[Question]:
    """`share` of the teacher's part, times the temperature squared, and one minus `share` of the labels'. It holds for
    each temperature, below 1 too, and with nothing added to a probability: `log_softmax` needs no small number.
    """
    return _both(rng)


@exercise.corners(
    "both",
    texts=(1, range(33, 40), range(257, 260)),
    classes=(2, range(33, 40)),
    temperature=(0.5, 10.0),
    share=(0.0, 0.5, 1.0),
)
def _(rng: random.Random, texts: int, classes: int, temperature: float, share: float) -> Question:
    return _ask(texts, classes, seed_from(rng), temperature, share)


@exercise.stage(
    "logits far apart",
    points=0.5,
    public=[_ask(2, 4, 5, 1.0, 0.5, spread=200.0), _ask(3, 3, 6, 2.0, 1.0, spread=40.0, near=1.5)],
)
def _(rng: random.Random) -> list[Question]:
    """A chance of 0 in 32 bits has the logarithm minus infinity. F.log_softmax computes the logarithm itself, and
    F.kl_div counts a chance of 0 of the teacher as 0.
    """
    return [
        _ask(rng.randint(2, 4), rng.randint(3, 5), seed_from(rng), temperature, 0.7, spread=300.0, near=1.5)
        for temperature in (1.0, 2.0)
    ]


def _learning(rng: random.Random) -> list[Question]:
    asks = _both(rng)
    return [replace(ask, probe="gradients") for ask in asks]


@exercise.stage("the student learns, the teacher does not", points=0.25, public=fixed(_learning, 9))
def _(rng: random.Random) -> list[Question]:
    """A gradient reaches the student's logits from both parts, and none the teacher's: `teacher.detach()`. Under
    `torch.no_grad()` nobody learns.
    """
    return _learning(rng)


exercise.large += [_ask(2, 3000, 7, 2.0, 0.5), _ask(1200, 3, 8, 2.0, 0.5)]
