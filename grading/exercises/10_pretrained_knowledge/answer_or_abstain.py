"""Exercise answer_or_abstain of notebook 10."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import torch

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, both
from tutor.checking.answers import Question

from ._common import Part, _people


def _choices(part: Part) -> list[tuple[float, float, float]]:
    """Returns each possible threshold, the highest first, with the coverage and the risk that it gives."""
    people = list(zip(part[0].tolist(), part[1].tolist(), strict=True))  # a draw asks often, and lists are fast
    found = []
    for threshold in sorted({confidence for confidence, _ in people}, reverse=True):
        given = [right for confidence, right in people if confidence >= threshold]
        found.append((threshold, len(given) / len(people), given.count(False) / len(given)))
    return found


def _lowest(choices: list[tuple[float, float, float]], max_risk: float) -> float:
    return min((threshold for threshold, _, risk in choices if risk <= max_risk), default=math.inf)


def _outcome(part: Part, threshold: float) -> tuple[float, float]:
    answered = [
        right for confidence, right in zip(part[0].tolist(), part[1].tolist(), strict=True) if confidence >= threshold
    ]
    return len(answered) / len(part[1]), answered.count(False) / max(1, len(answered))


exercise = Definition(minutes=25, difficulty=3)


@exercise.reference
def answer_or_abstain(dev: Part, test: Part, max_risk: float) -> tuple[float, float, float]:
    threshold = _lowest(_choices(dev), max_risk)
    return threshold, *_outcome(test, threshold)


def _together(dev: Part, test: Part) -> Part:
    return torch.cat([dev[0], test[0]]), torch.cat([dev[1], test[1]])


def _until_too_risky(choices: list[tuple[float, float, float]], max_risk: float) -> float:
    found = math.inf
    for threshold, _, risk in choices:
        if risk > max_risk:
            break
        found = threshold
    return found


def _halved(choices: list[tuple[float, float, float]], max_risk: float) -> float:
    """Returns what is found by halving the thresholds, as if the risk fell with each higher one."""
    low, high = 0, len(choices)
    while low < high:
        middle = (low + high) // 2
        if choices[::-1][middle][2] <= max_risk:
            high = middle
        else:
            low = middle + 1
    return [*(threshold for threshold, _, _ in choices[::-1]), math.inf][low]


def _chosen(dev: Part, test: Part, max_risk: float) -> float:
    return _lowest(_choices(dev), max_risk)


def _risk_of_all(dev: Part, test: Part, max_risk: float) -> tuple[float, float, float]:
    def part_of_all(part: Part) -> list[tuple[float, float, float]]:
        return [(threshold, coverage, risk * coverage) for threshold, coverage, risk in _choices(part)]

    threshold = _lowest(part_of_all(dev), max_risk)
    coverage, risk = _outcome(test, threshold)
    return threshold, coverage, coverage * risk


def _accuracy_wanted(dev: Part, test: Part, max_risk: float) -> tuple[float, float, float]:
    wanted = [(threshold, coverage, 1 - risk) for threshold, coverage, risk in _choices(dev)]
    threshold = _lowest(wanted, max_risk)
    coverage, risk = _outcome(test, threshold)
    return threshold, coverage, 1 - risk


RISKS = (0.31, 0.36, 0.41)  # no share of up to 12 people, so that rounding decides nothing


def _drawn_rule(wanted: Callable[[Part, Part, float], bool], count: int = 1) -> Draw:
    """Returns what asks about people that are as wanted, and for whom a mistake matters."""

    def one(rng: random.Random) -> Question:
        for _ in range(2000):
            dev, test = _people(rng, rng.randint(8, 10), 0.6), _people(rng, rng.randint(11, 12), 0.6)
            max_risk = rng.choice(RISKS)
            thresholds = {_lowest(_choices(part), max_risk) for part in (dev, test, _together(dev, test))}
            if len(thresholds) < 3 or not wanted(dev, test, max_risk):
                continue
            threshold, coverage, risk = answer_or_abstain(dev, test, max_risk)
            different = _risk_of_all(dev, test, max_risk)[0] != threshold != _accuracy_wanted(dev, test, max_risk)[0]
            if different and len({coverage, risk, 1 - risk, 0.0, 1.0, *_outcome(dev, threshold)}) == 7:
                return Question((dev, test, max_risk))
        raise AssertionError("2000 draws, and none is as wanted")

    return lambda rng: [one(rng) for _ in range(count)]


def _numbers(rng: random.Random, count: int) -> list[float]:
    """Returns different confidences, the largest first, with more digits than one would round to."""
    return sorted(round(number / 50 + rng.uniform(0.003, 0.008), 4) for number in rng.sample(range(10, 48), count))[
        ::-1
    ]


def _part(confidence: list[float], right: str, rng: random.Random | None = None) -> Part:
    """Returns a part from confidences and a word of "r" and "w", in any order with a generator."""
    people = list(zip(confidence, (letter == "r" for letter in right), strict=True))
    people = people if rng is None else rng.sample(people, len(people))
    return torch.tensor([c for c, _ in people]), torch.tensor([r for _, r in people])


def _is_right(dev: Part, threshold: float) -> bool:
    """Says whether an answer as sure as the threshold is right.

    Whoever tries the confidences of right answers alone, or of wrong ones alone, gets the same mark from all draws only
    if each question of a stage always has a threshold of the same kind.
    """
    return bool(dev[1][dev[0] == threshold].any())


def _steady(dev: Part, test: Part, max_risk: float) -> bool:
    """Says whether the risk on dev, once too high, stays so, and the threshold is neither the first nor the last.

    It is the confidence of a wrong answer; among the ends, that of a right one.
    """
    choices = _choices(dev)
    chosen = _chosen(dev, test, max_risk)
    if _is_right(dev, chosen):
        return False
    return chosen == _until_too_risky(choices, max_risk) and choices[-1][0] < chosen < choices[0][0]


def _draw_ends(rng: random.Random) -> list[Question]:
    """Draws dev parts in which only the surest gets an answer, in which all do, and one of a single person."""
    c = _numbers(rng, 7)
    test = _part([c[0] + 0.001, c[2], c[4] + 0.001, c[6] + 0.001], rng.choice(["rrww", "rwrw"]), rng)
    return [
        Question((_part(c[:5], "rwwwr", rng), test, rng.choice(RISKS))),
        Question((_part(c, "rrwwrrr", rng), test, rng.choice(RISKS))),
        Question((_part(c[3:4], "r"), test, rng.choice(RISKS))),
    ]


@exercise.stage("a threshold from dev, coverage and risk on test", points=1, seed=1, decisive=True)
def _(rng: random.Random) -> list[Question]:
    """Try each confidence of dev as the threshold and take the lowest whose risk on dev is at most max_risk. The risk
    counts only those who get an answer, and is 0 where nobody does.
    """
    return both(_drawn_rule(_steady), _draw_ends)(rng)


def _unsteady(dev: Part, test: Part, max_risk: float) -> bool:
    """Says whether who stops early, who halves and who takes the highest threshold all find others than is wanted.

    The threshold is the confidence of a right answer.
    """
    chosen = _chosen(dev, test, max_risk)
    if not _is_right(dev, chosen):
        return False
    choices, wanted = _choices(dev), _outcome(test, chosen)
    first, middle = _until_too_risky(choices, max_risk), _halved(choices, max_risk)
    highest = max((threshold for threshold, _, risk in choices if risk <= max_risk), default=math.inf)
    return all(_outcome(test, found) != wanted for found in (first, middle, highest))


def _draw_back(rng: random.Random) -> list[Question]:
    """Draws people of whom the second surest is wrong, and where halving, by luck, finds what is wanted.

    With the highest of the risks, the threshold would be the confidence of a wrong answer.
    """
    c = _numbers(rng, 7)
    return [Question((_part(c, "rwrrwww", rng), _part([c[1], c[3], c[4], c[6]], "rwrw", rng), rng.choice(RISKS[:2])))]


@exercise.stage("the risk goes up and comes down again", points=1, seed=2)
def _(rng: random.Random) -> list[Question]:
    """One wrong answer among the surest is no reason to stop: look at all thresholds before you choose."""
    return both(_drawn_rule(_unsteady), _draw_back)(rng)


def _draw_extremes(rng: random.Random) -> list[Question]:
    """Draws promises of no wrong answer at all, and of nothing, once to people of whom one is not sure at all."""
    c = _numbers(rng, 6)
    test = _part([c[1] + 0.001, c[2] + 0.001, c[4] + 0.001, c[5] - 0.1], "rwrr", rng)
    to_zero = [*c[:5], 0.0]
    return [
        Question((_part(numbers, rights, rng), test, risk))
        for numbers, rights, risk in ((c, "rrrwrw", 0.0), (c, "wwrwww", 1.0), (to_zero, "rrwrwr", 1.0))
    ]


def _draw_limit(rng: random.Random) -> list[Question]:
    """Draws a dev part whose risk is exactly as high as allowed, 0.1, which single precision makes a little larger.

    With 1 of 10, unlike 1 of 3, a share of right answers and a product of double precision decide as they should.
    """
    numbers = _numbers(rng, 11)
    dev = _part(numbers, "rwrrrrrrrrw")
    return [Question((dev, _part([numbers[9], numbers[0], numbers[10], numbers[10] - 0.001], "rwrw"), 0.1))]


@exercise.stage("a risk exactly as high as allowed, a confidence exactly at the threshold", points=0.5, seed=3)
def _(rng: random.Random) -> list[Question]:
    """Both are allowed: risk <= max_risk, also where max_risk is 0 or 1, and whoever has confidence >= threshold gets
    an answer. Compute the share from whole numbers or in double precision: in single precision, 1 of 10 is more than
    0.1.
    """
    return both(_draw_limit, _draw_extremes)(rng)


@exercise.stage("several people are equally sure", points=0.5, seed=4)
def _(rng: random.Random) -> list[Question]:
    """A threshold lets all of them in or none: their risk counts only together."""
    # Draws dev parts where answers are equally sure, right and wrong ones or wrong ones alone, and a test part.
    high, middle, low = sorted(rng.sample(range(30, 95), 3), reverse=True)
    confidence = torch.tensor([high + 2, high, middle, middle, middle, low, low - 10]) / 100
    dev = confidence, torch.tensor([True, True, True, False, False, False, False])
    test = torch.tensor([high, middle, high, low, high + 1]) / 100, torch.tensor([False, True, True, False, True])
    wrong = torch.tensor([high + 3, high + 2, high + 1, middle, middle, low]) / 100
    alone = wrong, torch.tensor([True, True, True, False, False, False])
    return [
        Question((dev, test, 0.25)),
        Question((alone, test, 0.3)),
    ]  # with one of the two the risk would be low enough


def _draw_hopeless(rng: random.Random) -> list[Question]:
    confidence, right = _people(rng, 6)
    return [Question(((confidence, torch.zeros(6, dtype=torch.bool)), (confidence - 0.02, right), 0.2))]


def _draw_nobody(rng: random.Random) -> list[Question]:
    """Draws a dev part with a good threshold, and a test part in which nobody is as sure."""
    c = _numbers(rng, 8)
    return [Question((_part(c[:3], "rrw", rng), _part(c[3:], rng.choice(["rwrrw", "wrwrr"])), 0.2))]


@exercise.stage("nobody gets an answer", points=1, seed=5)
def _(rng: random.Random) -> list[Question]:
    """Where no threshold is good enough, it is math.inf. Where it is above all confidences of test, nobody gets an
    answer either. Coverage and risk are 0 then.
    """
    return both(_draw_hopeless, _draw_nobody)(rng)


LIMITS = ("exactly", "just above", "just below")


@exercise.corners(
    "the risk goes up and comes down again", people=(4, 32, 256), wrong=("the surest", "the second"), limit=LIMITS
)
def _(rng: random.Random, people: int, wrong: str, limit: str) -> Question:
    """Asks about a single wrong answer near the top, whose risk comes down to the limit, or nearly, with the last."""
    max_risk = 1 / people + {"exactly": 0.0, "just above": 0.3 / people**2, "just below": -0.3 / people**2}[limit]
    tail = rng.randint(1, 3)
    numbers = [round(0.95 - 0.9 * n / (people + tail) - rng.uniform(0.0001, 0.0009), 5) for n in range(people + tail)]
    rights = ("wr" if wrong == "the surest" else "rw") + "r" * (people - 2) + "w" * tail
    choices = [numbers[0] + 0.01, numbers[0], numbers[people - 1], numbers[people - 1] - 0.0001]
    return Question((_part(numbers, rights, rng), _part(choices, rng.choice(("rwwr", "wrrw"))), max_risk))


@exercise.corners(
    "a threshold from dev, coverage and risk on test", dev=(1, range(101, 110)), test=(1, range(301, 310))
)
def _(rng: random.Random, dev: int, test: int) -> Question:
    """Asks about one person and about many, of whom two of three are right: some risks are a little more than 0.31."""
    parts = []
    for size in (dev, test):
        numbers = [round(0.3 + 0.002 * n + rng.uniform(0.0003, 0.0008), 5) for n in range(size)][::-1]
        parts.append(_part(numbers, ("rrw" * size)[:size], rng))
    return Question((*parts, 0.31))
