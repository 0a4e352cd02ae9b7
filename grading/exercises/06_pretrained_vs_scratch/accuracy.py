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

from grading.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw, fixed, seed_from
from helpers.checking.answers import Ask
from helpers.data import Batch

from ._common import _batch, _classifier, _texts, _wanted


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
) -> float:
    """Returns the share of right classes; the options are the ways in which it goes wrong."""
    before = model.training
    if mode is not None:
        model.train(mode)
    shares, counts = list[float](), list[int]()
    for batch in list(loader)[-1:] if last_only else loader:
        logits = model(batch.tokens, batch.lengths) if lengths else model(batch.tokens)
        shares.append((logits[:, :classes].argmax(dim=-1) == batch.target).float().mean().item())
        counts.append(len(batch.target))
    if after is None:
        model.train(before)
    elif mode is not None:
        model.train(after)
    if means:
        return statistics.mean(shares)
    return math.fsum(share * count for share, count in zip(shares, counts, strict=True)) / sum(counts)


def _draw_loader(
    sizes: Sequence[int], differs_from: Sequence[Callable[..., Any]], padded: bool = True, **model: Any
) -> Draw:
    """Returns what draws a question with batches of these sizes, on which these wrong answers are seen to be wrong."""

    def draw(rng: random.Random) -> list[Ask]:
        while True:
            loader = []
            for size in sizes:
                lengths = [rng.randint(1, 8) if padded else 5 for _ in range(size)]
                loader.append(_batch(_texts(rng, lengths), [rng.randrange(3) for _ in range(size)]))
            classifier = _classifier(seed_from(rng), 3, 1.0, **{k: v for k, v in model.items() if k != "training"})
            ask = Ask((replace(classifier, training=model.get("training", False)), loader))
            wanted = _wanted(accuracy, ask)
            if not 0.3 < wanted < 0.95 or abs(1 - 2 * wanted) < 0.02:
                continue
            wrong_answers: list[Callable[..., Any]] = [_TWO_CLASSES, *differs_from]
            shares = (_wanted(answer, ask) for answer in wrong_answers)
            if all(abs(share - wanted) > 0.02 for share in shares):
                return [ask]

    return draw


_TWO_CLASSES = partial(_share_right, classes=2)
_LAST_ROW, _MEANS = partial(_share_right, lengths=False), partial(_share_right, means=True)
_NO_PADDING = _draw_loader([6], [], padded=False)
_PADDED = _draw_loader([12], [_LAST_ROW])
_UNEVEN = _draw_loader([10, 6, 2], [_LAST_ROW, _MEANS, partial(_share_right, last_only=True)])
_DROPOUT = _draw_loader(
    [8, 4], [_LAST_ROW, partial(_share_right, mode=None), partial(_share_right, mode=True)], dropout=1.0, training=True
)


def _modes(rng: random.Random) -> list[Ask]:
    (ask,) = _UNEVEN(rng)
    model, loader = ask.inputs
    return [Ask((replace(model, training=training), loader), take="mode", changes=(0,)) for training in (True, False)]


EXERCISE = Exercise(
    accuracy,
    [
        Stage(
            "one batch without padding",
            0.5,
            "The class with the largest logit is the answer; count how many answers are the target, and divide.",
            fixed(_NO_PADDING, 1),
            _NO_PADDING,
        ),
        Stage(
            "the last real token of each text",
            0.5,
            "The classifier finds the last real token by the lengths: model(batch.tokens, batch.lengths).",
            fixed(_PADDED, 2),
            _PADDED,
        ),
        Stage(
            "batches of different sizes",
            1,
            "Count right answers and texts over all batches, and divide once, at the end.",
            fixed(_UNEVEN, 3),
            lambda rng: [*_UNEVEN(rng), *_UNEVEN(rng)],
        ),
        Stage(
            "in evaluation mode",
            0.5,
            "The model may come in training mode, with dropout: call model.eval() before you ask it.",
            fixed(_DROPOUT, 4),
            _DROPOUT,
        ),
        Stage(
            "the model goes back to the mode it was in",
            0.5,
            "Keep model.training before, and put it back at the end with model.train(before): a model left in "
            "evaluation mode would train on without dropout.",
            fixed(_modes, 5),
            _modes,
        ),
    ],
    [
        Mistake(
            "measured in training mode",
            "Dropout is on, and the answers are noise in part. Call model.eval() before you measure.",
            partial(_share_right, mode=None),
        ),
        Mistake(
            "the model is left in evaluation mode",
            "The next training step would run without dropout, and no error says so. Put the mode back as it was.",
            partial(_share_right, after=False),
        ),
        Mistake(
            "the model is always left in training mode",
            "It may have come in evaluation mode: keep model.training, and put back what it was.",
            partial(_share_right, after=True),
        ),
        Mistake(
            "the last row in place of the last real token",
            "Without the lengths the classifier reads the last row, which is padding for most texts: pass "
            "batch.lengths on.",
            _LAST_ROW,
        ),
        Mistake(
            "the last row, and the model is left in evaluation mode",
            "Two mistakes: pass batch.lengths on, and put the mode back as it was.",
            partial(_share_right, lengths=False, after=False),
        ),
        Mistake(
            "the mean of the batches' means",
            "A text of a small batch counts more than one of a large batch. Count over all batches, divide once.",
            _MEANS,
        ),
        Mistake(
            "the mean of the batches' means, and the model is left in evaluation mode",
            "Count over all batches and divide once; and put the mode back as it was.",
            partial(_share_right, means=True, after=False),
        ),
        Mistake(
            "only the last batch",
            "Counts must go on from batch to batch: set them to 0 before the loop.",
            partial(_share_right, last_only=True),
        ),
        Mistake(
            "the share of wrong answers",
            "This is the error rate, 1 minus the accuracy.",
            lambda model, loader: 1 - _share_right(model, loader),
        ),
        Mistake(
            "in per cent",
            "A share lies between 0 and 1.",
            lambda model, loader: 100 * _share_right(model, loader),
        ),
        Mistake(
            "the number of right answers",
            "Divide it by the number of texts.",
            lambda model, loader: _share_right(model, loader) * sum(len(batch.target) for batch in loader),
        ),
    ],
)
