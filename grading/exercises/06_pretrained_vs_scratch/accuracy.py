"""Exercise accuracy of notebook 06."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import both, fixed, seed_from
from grading.exercises.searched import Kind, Searched
from helpers.batches import Batch
from tutor.checking.answers import Question
from tutor.checking.building import build
from tutor.checking.plain import Model

from ._common import _batch, _classifier, _texts, _wanted

exercise = Definition(minutes=15, difficulty=2, forbids=("helpers.training.evaluate", "helpers.training.predict"))


@exercise.reference
def accuracy(model: Any, loader: Sequence[Batch]) -> float:
    return _share_right(model, loader)


@torch.no_grad()
def _by_hand() -> Question:
    """Returns the question that the text works by hand: of 30 texts 27 are right, and then of 3 texts one."""
    rng, classifier, loader = random.Random(1), _classifier(1), list[Model]()
    model = build(classifier)
    for size, right in ((30, 27), (3, 1)):
        texts = _texts(rng, [5] * size)
        batch = build(_batch(texts, [0] * size))
        best = model(batch.tokens, batch.lengths).argmax(dim=-1).tolist()
        loader.append(_batch(texts, [one if n < right else 1 - one for n, one in enumerate(best)]))
    return Question((classifier, loader))


@torch.no_grad()
def _share_right(
    model: Any,
    loader: Sequence[Batch],
    *,
    mode: bool | None = False,
    after: bool | None = None,
    lengths: bool = True,
    means: bool = False,
    last_only: bool = False,
    classes: int | None = None,
    best: int = 1,
    inside: bool = False,
    squash: Callable[[Tensor], Tensor] | None = None,
    above: float = 0.0,
) -> float:
    """Returns the share of right classes; the options are the ways in which it goes wrong."""
    before = model.training
    if mode is not None:
        model.train(mode)
    shares, counts = list[float](), list[int]()
    for batch in list(loader)[-1:] if last_only else loader:
        logits = model(batch.tokens, batch.lengths) if lengths else model(batch.tokens)
        logits = squash(logits) if squash else logits
        found = logits[:, :classes].topk(best, dim=-1).indices  # (b, 1) or (b, 2)
        right = (found == batch.target[:, None]).any(dim=-1)
        shares.append((right & (logits.softmax(-1).amax(-1) > above)).float().mean().item())
        counts.append(len(batch.target))
        if inside:
            model.train(before)
    if after is None:
        model.train(before)
    elif mode is not None:
        model.train(after)
    if means:
        return statistics.mean(shares)
    return math.fsum(share * count for share, count in zip(shares, counts, strict=True)) / sum(counts)


exercise.by_hand(_by_hand(), tolerance=0.005)


def _loader_ask(
    seed: int,
    sizes: Sequence[int],
    *,
    padded: bool = True,
    training: bool = False,
    dropout: float = 0.0,
    spread: float = 1.0,
) -> Question:
    """Returns a question with batches of these sizes; a wide `spread` of the weights makes large logits."""
    rng = random.Random(seed)
    loader = []
    for size in sizes:
        lengths = [rng.randint(1, 8) if padded else 5 for _ in range(size)]
        loader.append(_batch(_texts(rng, lengths), [rng.randrange(3) for _ in range(size)]))
    classifier = _classifier(seed_from(rng), 3, spread, dropout=dropout)
    return Question((replace(classifier, training=training), loader))


def _without_padding(seed: int) -> Question:
    return _loader_ask(seed, [12], padded=False)


def _large_numbers(seed: int) -> Question:
    return _loader_ask(seed, [12], padded=False, spread=6.0)


def _with_padding(seed: int) -> Question:
    return _loader_ask(seed, [11])


def _uneven(seed: int) -> Question:
    return _loader_ask(seed, [10, 6, 1])


def _dropout(seed: int) -> Question:
    return _loader_ask(seed, [8, 4, 1], training=True, dropout=1.0)


_TWO_CLASSES, _BEST_TWO = partial(_share_right, classes=2), partial(_share_right, best=2)
_LAST_ROW, _MEANS = partial(_share_right, lengths=False), partial(_share_right, means=True)
_LAST_BATCH, _INSIDE = partial(_share_right, last_only=True), partial(_share_right, inside=True)
_MORE_THAN_HALF = partial(_share_right, above=0.5)
_SIGMOID, _TANH = partial(_share_right, squash=torch.sigmoid), partial(_share_right, squash=torch.tanh)
_AS_IT_COMES, _IN_TRAINING = partial(_share_right, mode=None), partial(_share_right, mode=True)


def _differs_from(*wrong_answers: Callable[..., Any]) -> Callable[[Question], bool]:
    """Returns what says whether the share of right answers is none that these wrong answers find, nor their errors.

    Who squashes the logits is seen where they are large, and only there.
    """

    def differs(ask: Question) -> bool:
        wanted = _wanted(accuracy, ask)
        if not 0.3 < wanted < 0.95 or (_SIGMOID not in wrong_answers and _wanted(_TANH, ask) != wanted):
            return False
        others: list[Callable[..., Any]] = [_TWO_CLASSES, _BEST_TWO, *wrong_answers]
        among = [wanted, *(_wanted(answer, ask) for answer in others)]
        return all(abs(share - wanted) > 0.02 for share in (1 - wanted, *among[1:])) and all(
            abs(share - (1 - wanted)) > 0.02 for share in among
        )

    return differs


def _is_large(ask: Question) -> bool:
    """Says whether it is seen that logits are squashed, by whichever function."""
    return _differs_from(_SIGMOID)(ask) and _wanted(_SIGMOID, ask) == _wanted(_TANH, ask)


def _is_noisy(ask: Question) -> bool:
    """Says whether it is seen that nothing, and that the first batch only, is asked in evaluation mode."""
    differs = _differs_from(_LAST_ROW, _MORE_THAN_HALF, _AS_IT_COMES, _IN_TRAINING, _INSIDE)
    return differs(ask) and abs(_wanted(_INSIDE, ask) - _wanted(_AS_IT_COMES, ask)) > 0.02


# What a kind of question must be good for holds for all its seeds; `seeds.json` has as many.
SEARCHED = Searched(
    __file__,
    {
        "without padding": Kind(_without_padding, _differs_from(_MORE_THAN_HALF), 15),
        "large numbers": Kind(_large_numbers, _is_large, 15),
        "with padding": Kind(_with_padding, _differs_from(_LAST_ROW, _MORE_THAN_HALF), 15),
        "uneven": Kind(_uneven, _differs_from(_LAST_ROW, _MEANS, _LAST_BATCH, _MORE_THAN_HALF), 20),
        "dropout": Kind(_dropout, _is_noisy, 12),
    },
)


_PLAIN_BATCHES = both(SEARCHED.asked("without padding"), SEARCHED.asked("large numbers"))


SHARE = 5e-5  # tolerance: four digits will do, half precision, which may have three, will not


@exercise.stage("one batch without padding", points=0.25, seed=1, tolerance=SHARE)
def _(rng: random.Random) -> list[Question]:
    """The class with the largest logit is the answer; count how many answers are the target, and divide."""
    return _PLAIN_BATCHES(rng)


@exercise.stage("the last real token of each text", points=0.5, seed=2, tolerance=SHARE, decisive=True)
def _(rng: random.Random) -> list[Question]:
    """The classifier finds the last real token by the lengths: model(batch.tokens, batch.lengths)."""
    return SEARCHED.asked("with padding")(rng)


@exercise.stage(
    "batches of different sizes", points=1, public=fixed(SEARCHED.asked("uneven", 2), 3), decisive=True, tolerance=SHARE
)
def _(rng: random.Random) -> list[Question]:
    """Count right answers and texts over all batches, and divide once, at the end."""
    return SEARCHED.asked("uneven")(rng)


@exercise.stage("in evaluation mode", points=0.75, seed=4, decisive=True, tolerance=SHARE)
def _(rng: random.Random) -> list[Question]:
    """The model may come in training mode, with dropout: call model.eval() before you ask it, which all its parts hear,
    and put the mode back after the last batch.
    """
    (ask,) = SEARCHED.asked("dropout")(rng)
    return [ask, replace(ask, probe="mode while it runs")]


@exercise.stage("the model goes back to the mode it was in", points=0.5, seed=5, decisive=True)
def _(rng: random.Random) -> list[Question]:
    """Keep model.training before, and put it back at the end with model.train(before): a model left in evaluation mode
    would train on without dropout.
    """
    (ask,) = SEARCHED.asked("uneven")(rng)
    model, loader = ask.inputs
    return [
        Question((replace(model, training=training), loader), probe="mode", changes=(0,)) for training in (True, False)
    ]


@exercise.corners("batches of different sizes", batches=(1, range(9, 12)), size=(1, range(33, 36)))
def _(rng: random.Random, batches: int, size: int) -> Question:
    """Asks about one text and about hundreds, whose share of right ones differs in the third digit."""
    return _loader_ask(seed_from(rng), [size] * batches)
