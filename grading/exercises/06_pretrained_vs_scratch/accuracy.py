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

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, both, fixed, seed_from
from helpers.batches import Batch
from tutor.checking.answers import Question

from ._common import _batch, _classifier, _texts, _wanted

exercise = Definition(minutes=15, difficulty=2, forbids=("helpers.training.evaluate", "helpers.training.predict"))


@exercise.reference
def accuracy(model: Any, loader: Sequence[Batch]) -> float:
    return _share_right(model, loader)


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
    squashed: bool = False,
) -> float:
    """Returns the share of right classes; the options are the ways in which it goes wrong."""
    before = model.training
    if mode is not None:
        model.train(mode)
    shares, counts = list[float](), list[int]()
    for batch in list(loader)[-1:] if last_only else loader:
        logits = model(batch.tokens, batch.lengths) if lengths else model(batch.tokens)
        logits = logits.sigmoid() if squashed else logits
        found = logits[:, :classes].topk(best, dim=-1).indices  # (b, 1) or (b, 2)
        shares.append((found == batch.target[:, None]).any(dim=-1).float().mean().item())
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
    return _loader_ask(seed, [7], padded=False)


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
_SQUASHED = partial(_share_right, squashed=True)
_AS_IT_COMES, _IN_TRAINING = partial(_share_right, mode=None), partial(_share_right, mode=True)


def _differs_from(*wrong_answers: Callable[..., Any]) -> Callable[[Question], bool]:
    """Returns what says whether the share of right answers is none that these wrong answers find, nor their errors."""

    def differs(ask: Question) -> bool:
        wanted = _wanted(accuracy, ask)
        if not 0.3 < wanted < 0.95:
            return False
        others: list[Callable[..., Any]] = [_TWO_CLASSES, _BEST_TWO, *wrong_answers]
        among = [wanted, *(_wanted(answer, ask) for answer in others)]
        return all(abs(share - wanted) > 0.02 for share in (1 - wanted, *among[1:])) and all(
            abs(share - (1 - wanted)) > 0.02 for share in among
        )

    return differs


def _is_noisy(ask: Question) -> bool:
    """Says whether it is seen that nothing, and that the first batch only, is asked in evaluation mode."""
    differs = _differs_from(_LAST_ROW, _AS_IT_COMES, _IN_TRAINING, _INSIDE)
    return differs(ask) and abs(_wanted(_INSIDE, ask) - _wanted(_AS_IT_COMES, ask)) > 0.02


# kind of question -> (the question of a seed, what it must be good for, seeds); found once by a search
SEARCHED: dict[str, tuple[Callable[[int], Question], Callable[[Question], bool], list[int]]] = {
    "without padding": (
        _without_padding,
        _differs_from(),
        [11, 18, 27, 28, 36, 51, 59, 95, 124, 130, 135, 138, 148, 149, 151],
    ),
    "large numbers": (
        _large_numbers,
        _differs_from(_SQUASHED),
        [7, 8, 22, 29, 36, 37, 49, 64, 65, 88, 90, 94, 96, 102, 107],
    ),
    "with padding": (
        _with_padding,
        _differs_from(_LAST_ROW),
        [56, 85, 93, 98, 105, 111, 113, 132, 151, 152, 161, 180, 195, 203, 244],
    ),
    "uneven": (
        _uneven,
        _differs_from(_LAST_ROW, _MEANS, _LAST_BATCH),
        [2, 14, 29, 30, 53, 54, 59, 70, 89, 102, 106, 108, 111, 112, 115, 135, 143, 147, 150, 177],
    ),
    "dropout": (_dropout, _is_noisy, [41, 65, 124, 180, 199, 214, 216, 222, 227, 260, 275, 293]),
}


def _asked(kind: str, number: int = 1) -> Draw:
    """Returns what draws questions of a kind."""
    ask, _, seeds = SEARCHED[kind]
    return lambda rng: [ask(seed) for seed in rng.sample(seeds, number)]


_PLAIN_BATCHES = both(_asked("without padding"), _asked("large numbers"))


SHARE = 5e-5  # tolerance: four digits will do, half precision, which may have three, will not


@exercise.stage("one batch without padding", points=0.25, seed=1, tolerance=SHARE)
def _(rng):
    """The class with the largest logit is the answer; count how many answers are the target, and divide."""
    return _PLAIN_BATCHES(rng)


@exercise.stage("the last real token of each text", points=0.5, seed=2, tolerance=SHARE, decisive=True)
def _(rng):
    """The classifier finds the last real token by the lengths: model(batch.tokens, batch.lengths)."""
    return _asked("with padding")(rng)


@exercise.stage(
    "batches of different sizes", points=1, public=fixed(_asked("uneven", 2), 3), decisive=True, tolerance=SHARE
)
def _(rng):
    """Count right answers and texts over all batches, and divide once, at the end."""
    return _asked("uneven")(rng)


@exercise.stage("in evaluation mode", points=0.75, seed=4, decisive=True, tolerance=SHARE)
def _(rng):
    """The model may come in training mode, with dropout: call model.eval() before you ask it, and put the mode back
    after the last batch.
    """
    return _asked("dropout")(rng)


@exercise.stage("the model goes back to the mode it was in", points=0.5, seed=5, decisive=True)
def _(rng):
    """Keep model.training before, and put it back at the end with model.train(before): a model left in evaluation mode
    would train on without dropout.
    """
    (ask,) = _asked("uneven")(rng)
    model, loader = ask.inputs
    return [
        Question((replace(model, training=training), loader), probe="mode", changes=(0,)) for training in (True, False)
    ]


@exercise.corners("batches of different sizes", batches=(1, range(9, 12)), size=(1, range(33, 36)))
def _(rng, batches, size):
    """Asks about one text and about hundreds, whose share of right ones differs in the third digit."""
    return _loader_ask(seed_from(rng), [size] * batches)
