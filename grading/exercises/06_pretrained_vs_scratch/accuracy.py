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

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw, both, fixed, seed_from
from helpers.data import Batch
from tutor.checking.answers import Ask

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
) -> Ask:
    """Returns a question with batches of these sizes; a wide `spread` of the weights makes large logits."""
    rng = random.Random(seed)
    loader = []
    for size in sizes:
        lengths = [rng.randint(1, 8) if padded else 5 for _ in range(size)]
        loader.append(_batch(_texts(rng, lengths), [rng.randrange(3) for _ in range(size)]))
    classifier = _classifier(seed_from(rng), 3, spread, dropout=dropout)
    return Ask((replace(classifier, training=training), loader))


def _without_padding(seed: int) -> Ask:
    return _loader_ask(seed, [7], padded=False)


def _large_numbers(seed: int) -> Ask:
    return _loader_ask(seed, [12], padded=False, spread=6.0)


def _with_padding(seed: int) -> Ask:
    return _loader_ask(seed, [11])


def _uneven(seed: int) -> Ask:
    return _loader_ask(seed, [10, 6, 1])


def _dropout(seed: int) -> Ask:
    return _loader_ask(seed, [8, 4, 1], training=True, dropout=1.0)


_TWO_CLASSES, _BEST_TWO = partial(_share_right, classes=2), partial(_share_right, best=2)
_LAST_ROW, _MEANS = partial(_share_right, lengths=False), partial(_share_right, means=True)
_LAST_BATCH, _INSIDE = partial(_share_right, last_only=True), partial(_share_right, inside=True)
_SQUASHED = partial(_share_right, squashed=True)
_AS_IT_COMES, _IN_TRAINING = partial(_share_right, mode=None), partial(_share_right, mode=True)


def _differs_from(*wrong_answers: Callable[..., Any]) -> Callable[[Ask], bool]:
    """Returns what says whether the share of right answers is none that these wrong answers find, nor their errors."""

    def differs(ask: Ask) -> bool:
        wanted = _wanted(accuracy, ask)
        if not 0.3 < wanted < 0.95:
            return False
        others: list[Callable[..., Any]] = [_TWO_CLASSES, _BEST_TWO, *wrong_answers]
        among = [wanted, *(_wanted(answer, ask) for answer in others)]
        return all(abs(share - wanted) > 0.02 for share in (1 - wanted, *among[1:])) and all(
            abs(share - (1 - wanted)) > 0.02 for share in among
        )

    return differs


def _is_noisy(ask: Ask) -> bool:
    """Says whether it is seen that nothing, and that the first batch only, is asked in evaluation mode."""
    differs = _differs_from(_LAST_ROW, _AS_IT_COMES, _IN_TRAINING, _INSIDE)
    return differs(ask) and abs(_wanted(_INSIDE, ask) - _wanted(_AS_IT_COMES, ask)) > 0.02


# kind of question -> (the question of a seed, what it must be good for, seeds); found once by a search
SEARCHED: dict[str, tuple[Callable[[int], Ask], Callable[[Ask], bool], list[int]]] = {
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


def _modes(rng: random.Random) -> list[Ask]:
    (ask,) = _asked("uneven")(rng)
    model, loader = ask.inputs
    return [Ask((replace(model, training=training), loader), take="mode", changes=(0,)) for training in (True, False)]


_PLAIN_BATCHES = both(_asked("without padding"), _asked("large numbers"))
EXERCISE = Exercise(
    accuracy,
    [
        Stage(
            "one batch without padding",
            0.25,
            "The class with the largest logit is the answer; count how many answers are the target, and divide.",
            fixed(_PLAIN_BATCHES, 1),
            _PLAIN_BATCHES,
        ),
        Stage(
            "the last real token of each text",
            0.5,
            "The classifier finds the last real token by the lengths: model(batch.tokens, batch.lengths).",
            fixed(_asked("with padding"), 2),
            _asked("with padding"),
        ),
        Stage(
            "batches of different sizes",
            1,
            "Count right answers and texts over all batches, and divide once, at the end.",
            fixed(_asked("uneven", 2), 3),
            _asked("uneven"),
            decisive=True,
        ),
        Stage(
            "in evaluation mode",
            0.75,
            "The model may come in training mode, with dropout: call model.eval() before you ask it, and put the mode "
            "back after the last batch.",
            fixed(_asked("dropout"), 4),
            _asked("dropout"),
            decisive=True,
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
            "the logits are squashed before the largest is looked for",
            "A sigmoid, or a tanh, of 20 and that of 30 are both 1: which is larger can no longer be seen. Compare the "
            "logits themselves.",
            _SQUASHED,
        ),
        Mistake(
            "measured in training mode",
            "Dropout is on, and the answers are noise in part. Call model.eval() before you measure.",
            partial(_share_right, mode=None),
        ),
        Mistake(
            "the mode is put back inside the loop",
            "Only the first batch is asked in evaluation mode. Put the mode back after the loop.",
            _INSIDE,
        ),
        Mistake(
            "two classes are compared",
            "The classifier may have any number of classes: take the argmax of the whole row.",
            _TWO_CLASSES,
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
    hints=(
        (
            "Section 5 names four things that go wrong. Which line of your function will prevent each of them? Take "
            "the example by hand: 27 of 30, then 1 of 3. Which two numbers do you carry from batch to batch, and "
            "when do you divide?"
        ),
        (
            "Three classes. First batch: logits `[[1, 3, 0], [2, 0, 1]]`, targets 1 and 2. The largest numbers stand "
            "at the places 1 and 0, so 1 of 2 is right. Second batch: 4 of 4. Right are 5 of 6, about 0.83; the mean "
            "of 0.5 and 1 would be 0.75. `argmax(dim=-1)` finds the place of the largest number in each row, for any "
            "number of classes.\n\n"
            "`model.training` says in which mode a model is, True or False, and `model.train(...)` takes exactly "
            "such a value."
        ),
        (
            "Two counts that go on from batch to batch:\n"
            "```python\n"
            "before = model.training  # to be put back at the end\n"
            "right, texts = 0, 0\n"
            "model.eval()\n"
            "with torch.no_grad():\n"
            "    for batch in loader:\n"
            "        # logits, (b, C): the model needs the lengths too\n"
            "        # the answers, (b,); how many of them are the target: onto `right`\n"
            "        # how many texts this batch has: onto `texts`\n"
            "# the mode as it was: after the loop, not in it\n"
            "# one division\n"
            "```\n"
            "`(first == second).sum().item()` counts equal numbers. `len(batch.target)` is the number of texts."
        ),
    ),
)
