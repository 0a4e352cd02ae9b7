"""Exercise risk_coverage of notebook 10."""

from __future__ import annotations

import random
from collections.abc import Callable

import torch
from torch import Tensor

from grading.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw
from helpers.checking.answers import Ask

from ._common import Part, _people, risk_coverage


def _told_apart(confidence: Tensor, right: Tensor, in_order: bool) -> bool:
    """Says whether another order of the people, or of `right` alone, gives another curve."""
    down = confidence.argsort(descending=True)
    orders = [down, down.flip(0)] + ([] if in_order else [down.argsort(), torch.arange(len(right))])
    curves = [right.sort(descending=True).values, *(right[order] for order in orders)]
    return len(right) < 3 or len({tuple(curve.tolist()) for curve in curves}) == len(curves)


def _draw_curve(in_order: bool, *sizes: int) -> Draw:
    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for n in sizes:
            confidence, right = _people(rng, n)
            while not _told_apart(confidence, right, in_order):
                confidence, right = _people(rng, n)
            order = confidence.argsort(descending=True) if in_order else torch.arange(n)
            asks.append(Ask((confidence[order], right[order])))
        return asks

    return draw


def _curve(
    order: Callable[[Tensor], Tensor] = lambda confidence: confidence.argsort(descending=True),
    risk: Callable[[Tensor], Tensor] = lambda right: (~right).cumsum(0) / torch.arange(1, len(right) + 1),
    first: int = 1,
) -> Callable[[Tensor, Tensor], Part]:
    def answer(confidence: Tensor, right: Tensor) -> Part:
        return torch.arange(first, len(right) + first) / len(right), risk(right[order(confidence)])

    return answer


EXERCISE = Exercise(
    risk_coverage,
    [
        Stage(
            "people in the order of confidence",
            1,
            "After k answers the coverage is k / n, and the risk is the number of wrong ones among these k, through k.",
            _draw_curve(True, 4)(random.Random(1)),
            _draw_curve(True, 5, 8),
        ),
        Stage(
            "people in any order",
            1.5,
            "The model answers first where it is surest: sort by confidence, largest first, and let `right` follow.",
            _draw_curve(False, 5)(random.Random(2)),
            _draw_curve(False, 7, 12),
        ),
        Stage(
            "one person",
            0.5,
            "With one person there is one point, at coverage 1.",
            [Ask((torch.tensor([0.4]), torch.tensor([False])))],
            lambda rng: [Ask((torch.tensor([rng.random()]), torch.tensor([bool(n)]))) for n in range(2)],
        ),
    ],
    [
        Mistake(
            "the least sure first",
            "argsort puts the smallest first. The model answers first where it is surest: descending=True.",
            _curve(order=lambda confidence: confidence.argsort()),
        ),
        Mistake(
            "not sorted",
            "`right` must follow the confidences, the largest first.",
            _curve(order=lambda confidence: torch.arange(len(confidence))),
        ),
        Mistake(
            "wrong answers as a share of all people",
            "Risk concerns those who got an answer: divide by k, the number of answers so far, not by n.",
            _curve(risk=lambda right: (~right).cumsum(0) / len(right)),
        ),
        Mistake(
            "the share of right answers",
            "That is the accuracy. The risk is the share of wrong ones.",
            _curve(risk=lambda right: right.cumsum(0) / torch.arange(1, len(right) + 1)),
        ),
        Mistake(
            "whether each answer is wrong, without counting",
            "The risk at coverage k / n concerns all k answers so far: count with cumsum, and divide by k.",
            _curve(risk=lambda right: (~right).float()),
        ),
        Mistake(
            "coverage begins at 0",
            "The first point is the one after the first answer, at coverage 1 / n; the last has coverage 1.",
            _curve(first=0),
        ),
        Mistake(
            "coverage and risk are exchanged",
            "Coverage comes first: it rises from 1 / n to 1.",
            lambda confidence, right: risk_coverage(confidence, right)[::-1],
        ),
    ],
)
