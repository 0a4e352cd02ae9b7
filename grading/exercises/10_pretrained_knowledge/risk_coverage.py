"""Exercise risk_coverage of notebook 10."""

from __future__ import annotations

import random
from collections.abc import Callable

import torch
from torch import Tensor

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw, both
from tutor.checking.answers import Ask

from ._common import Part, _people, risk_coverage


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


def _draw_many(rng: random.Random) -> list[Ask]:
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
    asks = [Ask((logs, torch.tensor(rng.sample([True, False] * 25, len(logs))))) for logs in (close, far)]
    return [Ask((small, right)), *asks]


def _draw_one(rng: random.Random) -> list[Ask]:
    """Draws one person, who is right, and one who is wrong."""
    return [Ask((torch.tensor([rng.random()]), torch.tensor([is_right]))) for is_right in (False, True)]


def _curve(
    order: Callable[[Tensor], Tensor] = lambda confidence: confidence.argsort(descending=True),
    risk: Callable[[Tensor], Tensor] = _risk,
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
            _draw_curve(True, 5, 6)(random.Random(1)),
            _draw_curve(True, 5, 8),
        ),
        Stage(
            "people in any order",
            1.5,
            "The model answers first where it is surest: sort by confidence, largest first, and let `right` follow.",
            [*_draw_curve(False, 6)(random.Random(2)), *_draw_many(random.Random(3))],
            both(_draw_curve(False, 7, 12), _draw_many),
            decisive=True,
        ),
        Stage(
            "one person",
            0.5,
            "With one person there is one point, at coverage 1.",
            _draw_one(random.Random(4)),
            _draw_one,
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
            "the answer itself is not counted yet",
            "The risk at coverage k / n concerns k answers, the newest among them: this is the risk before it.",
            _curve(risk=_risk_before),
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
    hints=(
        "Do the example by hand with pencil and paper: 0.9, 0.4, 0.7, 0.2, and right, wrong, wrong, right. What "
        "did you do first with the four people, and what moved along with the confidences? After the third answer: "
        "how many wrong ones are there, and by which number do you divide, 3 or 4?",
        "Three people: confidence 0.3, 0.8, 0.6, and right is False, True, False. From the surest down these are "
        "the people 1, 2, 0, which is what `argsort` with `descending=True` gives. `right` in this order: True, "
        "False, False. Wrong ones: 0, 1, 1; counted so far: 0, 1, 2 (`cumsum` makes running sums). After one, two "
        "and three answers: $0/1$, $1/2$, $2/3$. That is the risk. The coverage is $1/3$, $2/3$, $3/3$.",
        "All tensors have the shape `(n,)`.\n"
        "```python\n"
        "order = confidence.argsort(descending=True)  # numbers of the people, the surest first\n"
        "wrong = ...     # whether each answer is wrong, in this order; ~ turns a bool tensor round\n"
        "answered = ...  # 1, 2, ..., n: the number of answers so far\n"
        "```\n"
        "Risk: the running sum of `wrong`, divided by the number of answers so far. Coverage: the number of "
        "answers so far, divided by $n$. Return the coverage first. The last risk is the share of wrong answers of "
        "all.",
    ),
)
