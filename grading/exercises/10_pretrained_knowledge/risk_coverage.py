"""Exercise risk_coverage of notebook 10."""

from __future__ import annotations

import random
from itertools import repeat

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, both, until
from tutor.checking.answers import Question

from ._common import _people, risk_coverage

exercise = Definition(minutes=10, difficulty=1)
exercise.reference(risk_coverage)
exercise.by_hand(Question((torch.tensor([0.9, 0.4, 0.7, 0.2]), torch.tensor([True, False, False, True]))))


def _told_apart(confidence: Tensor, right: Tensor, in_order: bool) -> bool:
    """Says whether another order of the people, or of `right` alone, or another way of counting gives another curve."""
    down = confidence.argsort(descending=True)
    rounded = (confidence * 100).round().argsort(descending=True, stable=True)
    orders = [down, down.flip(0), *([] if in_order else [down.argsort(), torch.arange(len(right)), rounded])]
    curves = [_risk(right[order]) for order in orders] + [
        _risk_before(right[down]),
        _risk(right.sort(descending=True)[0]),
    ]
    wrong = (~right[down]).nonzero().flatten()
    return len({tuple(curve.tolist()) for curve in curves}) == len(curves) and 0 < int(wrong[0]) < len(right) - 2


def _risk(right: Tensor) -> Tensor:
    return (~right).cumsum(0) / torch.arange(1, len(right) + 1)


def _risk_before(right: Tensor) -> Tensor:
    """Returns the risk before each answer, 0 before the first."""
    return torch.cat([torch.zeros(1), _risk(right)[:-1]])


def _draw_curve(in_order: bool, *sizes: int) -> Draw:
    def of_size(n: int, rng: random.Random) -> Question:
        confidence, right = until(
            repeat(rng), lambda rng: _people(rng, n), lambda people: _told_apart(*people, in_order)
        )
        order = confidence.argsort(descending=True) if in_order else torch.arange(n)
        return Question((confidence[order], right[order]))

    return lambda rng: [of_size(n, rng) for n in sizes]


@exercise.stage("people in the order of confidence", points=1, public=_draw_curve(True, 5, 6)(random.Random(1)))
def _(rng: random.Random) -> list[Question]:
    """After k answers the coverage is k / n, and the risk is the number of wrong ones among these k, through k."""
    return _draw_curve(True, 5, 8)(rng)


def _draw_many(rng: random.Random) -> list[Question]:
    """Draws so many wrong answers that a small type cannot count them, of small confidences; and negative ones, close
    together and far below.

    A logarithm of a probability is negative.
    """
    n = rng.randint(270, 280)
    right = torch.zeros(n, dtype=torch.bool)
    right[rng.sample(range(n), 9)] = True
    small = torch.tensor([round(number * 1e-4, 4) for number in rng.sample(range(1, 999), n)])
    close = torch.tensor([-0.9 - number * 1e-6 for number in rng.sample(range(1, 999), 20)])
    far = torch.tensor([-200.0 - 9 * number for number in rng.sample(range(99), 49)])  # whose probabilities are all 0
    asks = [Question((logs, torch.tensor(rng.sample([True, False] * 25, len(logs))))) for logs in (close, far)]
    return [Question((small, right)), *asks]


@exercise.stage(
    "people in any order",
    points=1.5,
    public=[*_draw_curve(False, 6)(random.Random(2)), *_draw_many(random.Random(3))],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """The model answers first where it is surest: sort by confidence, largest first, and let `right` follow.
    Confidences may be logarithms, all of them below 0.
    """
    return both(_draw_curve(False, 7, 12), _draw_many)(rng)


@exercise.stage("one person", points=0.5, seed=4)
def _(rng: random.Random) -> list[Question]:
    """With one person there is one point, at coverage 1."""
    # Draws one person, who is right, and one who is wrong.
    return [Question((torch.tensor([rng.random()]), torch.tensor([is_right]))) for is_right in (False, True)]


STEPS_OF = {"in the third digit": (0.5, 1e-3), "in the sixth": (0.3, 2e-6), "logarithms": (-0.1, 5.0)}


@exercise.corners(
    "people in any order",
    people=(1, 2, range(33, 40), range(301, 310)),
    differ=tuple(STEPS_OF),
    right=("all", "none", "one of two"),
)
def _(rng: random.Random, people: int, differ: str, right: str) -> Question:
    """Asks about confidences that differ little, and about logarithms far below 0, of probabilities that are all 0."""
    start, step = STEPS_OF[differ]
    confidence = torch.tensor([start - step * n for n in rng.sample(range(people), people)], dtype=torch.float32)
    found = {
        "all": [True] * people,
        "none": [False] * people,
        "one of two": [rng.random() < 0.5 for _ in range(people)],
    }
    return Question((confidence, torch.tensor(found[right])))
