"""Exercise train_step of notebook 06."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from grading.definitions.definition import Definition
from grading.exercises.draws import seed_from
from grading.exercises.searched import Kind, Searched
from helpers.batches import IGNORE, Batch
from helpers.vocabulary import SOS
from tutor.checking.answers import Question
from tutor.checking.plain import Model, Optimizer

from ._common import _batch, _classifier, _language_model, _texts, _wanted

exercise = Definition(minutes=20, difficulty=2, forbids=("helpers.training.take_step",))


@exercise.reference
def train_step(model: Any, batch: Batch, optimizer: torch.optim.Optimizer) -> float:
    return _step(model, batch, optimizer)


def _mean_loss(logits: Tensor, target: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, -2), target.flatten(), ignore_index=IGNORE)


def _clip(model: nn.Module) -> None:
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)


def _step(
    model: Any,
    batch: Batch,
    optimizer: torch.optim.Optimizer,
    *,
    loss: Callable[[Tensor, Tensor], Tensor] = _mean_loss,
    clear: str = "first",
    clip: Callable[[nn.Module], None] | None = _clip,
    lengths: bool = True,
    mode: bool = True,
    steps: int = 1,
) -> float:
    """Makes a training step; the options are the ways in which it goes wrong."""
    model.train(mode)
    logits = model(batch.tokens, batch.lengths) if lengths else model(batch.tokens)
    value = loss(logits, batch.target)
    if clear == "first":
        optimizer.zero_grad()
    value.backward()
    if clear == "late":
        optimizer.zero_grad()
    if clip:
        clip(model)
    for _ in range(steps):
        optimizer.step()
    return value.item()


RATE = 0.5
LEFT = 0.002  # so small that a short gradient stays short with it, and is not clipped
PROBE = (torch.tensor([[SOS, 4, 5, 6, 7]]),)  # what the model is asked after the step


def _step_ask(model: Model, batch: Model, optimizer: str = "SGD", groups: int = 1, **settings: Any) -> Question:
    usual = optimizer == "SGD"  # with a weight decay: who moves the weights without the optimizer forgets it
    made = Optimizer(optimizer, RATE if usual else 0.05, groups=groups, weight_decay=0.2 if usual else 0.0)
    return Question((model, batch, made), changes=(0,), **settings)


def _learned(seed: int, spread: float, optimizer: str = "SGD", groups: int = 1, **options: Any) -> Question:
    """Asks what a language model gives after a step."""
    rng = random.Random(seed)
    model = replace(_language_model(seed_from(rng), spread), **options)
    batch = _batch(_texts(rng, rng.sample(range(2, 8), 3)))
    return _step_ask(model, batch, optimizer, groups, probe="after", follow_up=PROBE)


def _short(seed: int, optimizer: str = "SGD", **options: Any) -> Question:
    return _learned(seed, 0.05, optimizer, **options)


def _long(seed: int, groups: int = 1) -> Question:
    return _learned(seed, 0.8, groups=groups)


def _frozen(seed: int) -> Question:
    return _learned(seed, 0.8, freeze=("base.embedding",))


def _tied(seed: int) -> Question:
    """Asks about a model whose head shares its weight with the embedding: one parameter, under two names."""
    return _learned(seed, 0.8, tie=("head.weight", "base.embedding.weight"))


def _norms(ask: Question) -> list[float]:
    """Returns how long the gradient of the loss is: in all, and that of each parameter."""

    def norms(model: Any, batch: Batch) -> list[float]:
        _mean_loss(model(batch.tokens, batch.lengths), batch.target).backward()
        each = [float(parameter.grad.norm()) for parameter in model.parameters() if parameter.grad is not None]
        return [math.hypot(*each), *each]

    found: list[float] = _wanted(norms, Question(ask.inputs[:2]))
    return found


def _is_short(ask: Question) -> bool:
    """Says whether the gradient is not to be clipped, and yet shorter than 1 by much."""
    return 0.2 < _norms(ask)[0] < 0.85


def _is_long(ask: Question) -> bool:
    """Says whether the gradient is to be clipped, of several parameters each by itself too."""
    whole, *each = _norms(ask)
    return 3 < whole < 30 and sorted(each)[-2] > 1.5


def _is_long_frozen(ask: Question) -> bool:
    """As `_is_long`, and by much longer where nothing is frozen."""
    free = Question((replace(ask.inputs[0], freeze=()), *ask.inputs[1:]))
    return _is_long(ask) and _norms(free)[0] > 1.2 * _norms(ask)[0]


# What a kind of question must be good for holds for all its seeds; `seeds.json` has as many.
SEARCHED = Searched(
    __file__,
    {
        "short": Kind(_short, _is_short, 25),
        "long": Kind(_long, _is_long, 25),
        "tied": Kind(_tied, _is_long, 15),
        "frozen": Kind(_frozen, _is_long_frozen, 15),
    },
)


@exercise.stage(
    "it returns the loss of a language model",
    points=0.25,
    public=[_step_ask(_language_model(1), _batch([[4, 5, 6], [7, 8, 9]]))],
)
def _(rng: random.Random) -> list[Question]:
    """cross_entropy takes the logits as they are, (k, V), and k targets: flatten both to k = b * n rows. The loss is
    that of the weights before the step.
    """
    return [_step_ask(_language_model(seed_from(rng)), _batch(_texts(rng, [5, 5, 5])))]


@exercise.stage(
    "where the target is IGNORE nothing counts",
    points=0.5,
    public=[
        _step_ask(_language_model(2), _batch([[4, 5, 6, 7, 8, 9], [7, 8]])),
        _step_ask(_language_model(2), _batch([[4, 5, 6, 7, 8, 9], [7, 8]], unasked=[0, 2, 3])),
    ],
)
def _(rng: random.Random) -> list[Question]:
    """Where the target is IGNORE nothing is asked, beyond a text or inside of it: the mean runs over the other
    positions only.
    """
    # Asks with padding; with padding, and positions inside of a text where nothing is asked, as in masked models.
    lengths = [8, rng.randint(1, 3), 5]
    unasked = rng.sample(range(7), 3)
    return [
        _step_ask(_language_model(seed_from(rng)), _batch(_texts(rng, lengths))),
        _step_ask(_language_model(seed_from(rng)), _batch(_texts(rng, lengths), unasked=unasked)),
    ]


@exercise.stage(
    "it returns the loss of a classifier",
    points=0.5,
    public=[_step_ask(_classifier(3, 3), _batch([[4, 5, 6, 7, 8, 9], [7, 8], [5, 6, 4]], [2, 0, 1]))],
)
def _(rng: random.Random) -> list[Question]:
    """A classifier gives logits (b, C) for targets (b,), and must know the lengths of the texts: model(batch.tokens,
    batch.lengths).
    """
    return [
        _step_ask(
            _classifier(seed_from(rng), 3),
            _batch(_texts(rng, [7, rng.randint(1, 3), 4, 2]), rng.sample([0, 1, 2, rng.randrange(3)], 4)),
        )
    ]


@exercise.stage("the model has made one step", points=0.75, public=[_short(37), _short(37, "Adam")], decisive=True)
def _(rng: random.Random) -> list[Question]:
    """backward() fills the gradients, optimizer.step() moves the weights by them: in this order, once each."""
    first, second = rng.sample(SEARCHED.seeds("short"), 2)
    return [_short(first), _short(second, "Adam")]


@exercise.stage(
    "gradients left by an earlier step do not count", points=0.75, public=[_short(37, gradients=LEFT)], decisive=True
)
def _(rng: random.Random) -> list[Question]:
    """backward() adds to the gradients that are there. optimizer.zero_grad() clears them in every group, at any time
    before backward(). It leaves None where nothing comes after it: with zeros in its gradient, what has been frozen
    since would still lose weight.
    """
    return [_short(seed, gradients=LEFT) for seed in rng.sample(SEARCHED.seeds("short"), 1)]


@exercise.stage(
    "a long gradient is scaled down to length 1",
    points=0.75,
    public=[_long(2, groups=2), _frozen(6), _tied(1)],
)
def _(rng: random.Random) -> list[Question]:
    """nn.utils.clip_grad_norm_(model.parameters(), 1.0), when the gradients are there and not yet used. What is frozen
    stays frozen, and has no part in the length. A shorter gradient stays as it is.
    """
    return [
        *(_long(seed, groups=2) for seed in rng.sample(SEARCHED.seeds("long"), 1)),
        *map(_frozen, rng.sample(SEARCHED.seeds("frozen"), 1)),
        *map(_tied, rng.sample(SEARCHED.seeds("tied"), 1)),
    ]


@exercise.stage(
    "the model is in training mode",
    points=0.5,
    public=[
        _step_ask(_language_model(4, dropout=1.0), _batch([[4, 5, 6], [7, 8, 9]])),
        _step_ask(
            replace(_language_model(4, dropout=1.0), training=True, in_evaluation=("base",)),
            _batch([[4, 5, 6], [7, 8, 9]]),
        ),
    ],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Whoever measured the model before may have left it in evaluation mode, without dropout: call model.train() at the
    beginning of every step.
    """
    return [_step_ask(_language_model(seed_from(rng), dropout=1.0), _batch(_texts(rng, [5, 5])))]


@exercise.corners("where the target is IGNORE nothing counts", texts=(1, range(33, 36)), words=(0, range(33, 36)))
def _(rng: random.Random, texts: int, words: int) -> Question:
    """Asks about one text and many, of one token (<sos>) and of many."""
    lengths = [words, *(rng.randint(0, words) for _ in range(texts - 1))]
    return _step_ask(_language_model(seed_from(rng)), _batch(_texts(rng, lengths)))


@exercise.corners(
    "gradients left by an earlier step do not count", groups=(1, 3), frozen=("", "base.embedding", "base")
)
def _(rng: random.Random, groups: int, frozen: str) -> Question | None:
    """Asks also about what has been frozen after the earlier step: some of several groups, and all but the head."""
    if groups == 1 and frozen == "base.embedding":
        return None
    late: dict[str, Any] = {"freeze": (frozen,), "frozen_late": True} if frozen else {}
    (seed,) = rng.sample(SEARCHED.seeds("short"), 1)
    return _short(seed, gradients=LEFT, groups=groups, **late)


@exercise.corners("it returns the loss of a classifier", texts=(1, range(33, 36)), n_classes=(2, range(33, 36)))
def _(rng: random.Random, texts: int, n_classes: int) -> Question | None:
    """Asks about one text and many classes, and the other way round."""
    if (texts > 1) == (n_classes > 2):
        return None
    lengths, labels = ([rng.randint(low, high) for _ in range(texts)] for low, high in ((0, 9), (0, n_classes - 1)))
    return _step_ask(_classifier(seed_from(rng), n_classes), _batch(_texts(rng, lengths), labels))
