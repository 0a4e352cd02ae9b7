"""Exercise choose_setting of notebook 12."""

from __future__ import annotations

import math
import random
import statistics
from itertools import repeat
from typing import Any

import pandas as pd  # noqa: F401 - known mistakes use it

from grading.definitions.definition import Definition, Stage
from grading.exercises.draws import both, fixed, until
from tutor.checking.answers import Question

from ._common import Row

Scores = dict[str, Row]


def _mean(row: Row, part: str = "dev_bleu") -> float:
    return float(statistics.mean(row[part]))


def _standard_error(row: Row) -> float:
    return float(statistics.stdev(row["dev_bleu"]) / math.sqrt(len(row["dev_bleu"])))


exercise = Definition(minutes=15, difficulty=2)


@exercise.reference
def choose_setting(scores: Scores) -> str:
    best = max(scores.values(), key=_mean)
    limit = _mean(best) - _standard_error(best)
    return min((name for name in scores if _mean(scores[name]) >= limit), key=lambda name: scores[name]["parameters"])


# The text does not show the test part: what chooses there takes the right setting here, and is not named.
BY_HAND: Scores = {
    name: {"parameters": millions * 10**6, "dev_bleu": runs, "test_bleu": [test - 1, test, test + 1]}
    for name, millions, runs, test in (
        ("tiny", 1, [34.0, 35.0, 36.0], 30.0),
        ("small", 2, [40.0, 40.3, 40.6], 35.0),
        ("middle", 3, [40.0, 41.0, 42.0], 42.0),
        ("large", 6, [40.0, 42.0, 44.0], 38.0),
    )
}
exercise.by_hand(Question((BY_HAND,)))


def _rounded(scores: Scores, digits: int = 1) -> str:
    """Rounds the means to one decimal, as a table shows them, and the standard error to `digits`."""
    best = max(scores.values(), key=_mean)
    limit = round(round(_mean(best), 1) - round(_standard_error(best), digits), digits)
    near = [name for name, row in scores.items() if round(_mean(row), 1) >= limit]
    return min(near, key=lambda name: scores[name]["parameters"])


STEPS = {3: [-1.0, 1.0, 0.0], 4: [-1.0, 1.0, -0.5, 0.5], 5: [-1.0, 1.0, -0.5, 0.5, 0.0]}


def _runs(n: int, mean: float, spread: float, outlier: float = 0.0) -> list[float]:
    """Returns `n` runs with this mean and a standard deviation of `spread`; `outlier` is added to the last of them.

    Runs without a spread are all the same half, so that their mean is not rounded in any way of computing it.
    """
    if not spread:
        return [round(2 * mean) / 2] * n
    steps = STEPS[n]
    scale = spread / statistics.stdev(steps)
    runs = [mean + scale * step for step in steps]
    return [round(run, 2) for run in [*runs[:-1], runs[-1] + outlier]]


Settings = tuple[int | tuple[int, ...], list[tuple[int, float, float, float, float]]]


def _scores(rng: random.Random, settings: Settings, largest_first: bool) -> Question:
    """Returns the question for numbers of runs and rows of size, dev BLEU, its deviation, test BLEU and an outlier.

    The number of runs is one for all rows, or one for each.
    """
    counts, rows = settings
    sizes = dict(
        zip([row[0] for row in rows], counts if isinstance(counts, tuple) else [counts] * len(rows), strict=True)
    )
    names = rng.sample(["shallow", "wide", "deep", "narrow", "tall", "plain"], len(rows))
    base, unit = rng.uniform(30, 60), rng.choice([1.2, 1.3, 1.4])
    made = [
        {
            "parameters": size * rng.randint(86, 99) * 10_000,  # as texts, 900,000 comes after 1,800,000
            "dev_bleu": _runs(sizes[size], base + unit * dev, unit * spread, unit * outlier),
            "test_bleu": _runs(sizes[size], base - 1 + unit * test, unit),
        }
        for size, dev, spread, test, outlier in sorted(rows, reverse=largest_first)
    ]
    return Question((dict(zip(names, made, strict=True)),))


# number of runs; size, dev BLEU, its standard deviation, test BLEU, how much is added to one run
CLEAR = 5, [(1, 0.0, 1.0, 1.0, 0.0), (3, 8.0, 1.0, 2.0, 0.0), (6, 3.0, 1.0, 9.0, 0.0)]
# the smallest is the best on test, and bad on dev
TEMPTING = 3, [(1, 0.0, 1.0, 9.0, 0.0), (3, 8.0, 1.0, 3.0, 0.0)]
NEAR = 5, [(1, 0.0, 1.0, 0.0, 0.0), (2, 9.7, 2.0, 7.8, 0.0), (3, 10.0, 2.0, 8.0, 0.0), (6, 9.9, 2.0, 7.9, 0.0)]
BETWEEN = 5, [(1, 8.6, 1.0, 0.0, 0.0), (2, 9.7, 0.2, 0.0, 0.0), (6, 10.0, 2.0, 9.0, 0.0)]
OWN = 5, [(1, 9.0, 6.0, 0.0, 0.0), (2, 9.55, 0.4, 1.0, 0.0), (3, 9.85, 0.4, 3.0, 0.0), (6, 10.0, 0.6, 5.0, 0.0)]
# the limit is 9.11; with n in place of n - 1, 9.20
DIVISOR = 5, [(1, 9.15, 1.0, 0.0, 0.0), (3, 9.8, 0.4, 3.0, 0.0), (6, 10.0, 2.0, 5.0, 0.0)]
# the limit is 9.00; with the root of 3, which is also n - 1 and the number of settings, 8.85
ROOT = 4, [(1, 8.92, 1.0, 0.0, 0.0), (3, 9.8, 0.4, 3.0, 0.0), (6, 10.0, 2.0, 5.0, 0.0)]
# the limit is 8.85; with n in place of n - 1, 9.06
THREE = 3, [(1, 8.95, 1.0, 0.0, 0.0), (3, 9.8, 0.4, 3.0, 0.0), (6, 10.0, 2.0, 5.0, 0.0)]
LUCKY = 5, [(1, 4.0, 1.0, 2.0, 12.0), (3, 9.9, 1.0, 3.0, 0.0), (6, 10.0, 1.0, 5.0, 0.0)]
# one bad run: the median of the smallest is near the best, its mean is not
UNLUCKY = 5, [(1, 10.6, 1.0, 2.0, -8.0), (3, 9.9, 1.0, 3.0, 0.0), (6, 10.0, 1.0, 5.0, 0.0)]
# the standard error is 0, and the best is as good as itself
EQUAL = 5, [(1, 5.0, 1.0, 0.0, 0.0), (3, 10.0, 0.0, 3.0, 0.0), (6, 10.0, 0.0, 5.0, 0.0)]
# the same, and a smaller one is a little below it
QUIET = 5, [(1, 9.6, 1.0, 0.0, 0.0), (3, 5.0, 1.0, 3.0, 0.0), (6, 10.0, 0.0, 5.0, 0.0)]
# a bad setting lies between two good ones in size, and the smallest good one has neither the lowest nor the
# highest mean
GAP = 5, [(1, 9.6, 1.0, 0.0, 0.0), (2, 5.0, 1.0, 0.0, 0.0), (3, 10.0, 2.0, 3.0, 0.0), (6, 9.3, 1.0, 5.0, 0.0)]
# the best has five runs, and its limit is 9.11; with the root of 3, the runs of the smallest, it is 8.85
UNEVEN = (3, 4, 5), [(1, 9.05, 1.0, 0.0, 0.0), (3, 9.8, 0.4, 3.0, 0.0), (6, 10.0, 2.0, 5.0, 0.0)]
# the best has three runs, and its limit is 8.85; with the root of 5 it is 9.11
FEWER = (5, 4, 3), [(1, 8.98, 1.0, 0.0, 0.0), (3, 9.8, 0.4, 3.0, 0.0), (6, 10.0, 2.0, 5.0, 0.0)]
# the limit is 9.11; with the error of the test scores it is 9.55, and with n in place of n - 1 it is 9.20
TEST = 5, [(1, 9.35, 1.0, 0.0, 0.0), (3, 9.8, 0.4, 3.0, 0.0), (6, 10.0, 2.0, 5.0, 0.0)]
# one standard error is 1.15, the standard deviation 2, two standard errors are 2.31
DOUBLE = 3, [(1, 7.85, 1.0, 0.0, 0.0), (2, 8.2, 1.0, 0.0, 0.0), (3, 9.8, 0.4, 3.0, 0.0), (6, 10.0, 2.0, 5.0, 0.0)]

# the limit is 9.106: the smallest is just not as good, by less than rounding to one decimal shows
JUST_BELOW = 5, [(1, 9.085, 1.0, 0.0, 0.0), (3, 9.8, 0.4, 3.0, 0.0), (6, 10.0, 2.0, 5.0, 0.0)]


def _choices(*tables: Settings) -> tuple[list[Question], Any]:
    """Returns the public questions and what draws those of grading; every second begins with the smallest setting."""

    def draw(rng: random.Random) -> list[Question]:
        return [_scores(rng, table, largest_first=n % 2 == 0) for n, table in enumerate(tables)]

    return draw(random.Random(5)), draw


MARGINS, DRAWN_MARGINS = _choices(
    *(BETWEEN, OWN, LUCKY, UNLUCKY, DIVISOR, ROOT, THREE, EQUAL, QUIET, UNEVEN, FEWER, TEST, DOUBLE)
)

NEARLY_ALIKE, DRAWN_NEARLY_ALIKE = _choices(NEAR, NEAR, GAP)


exercise.add(
    Stage(
        "one setting is clearly the best",
        1,
        "The mean of dev_bleu decides; the test part is for the report, and nothing is chosen on it.",
        *_choices(CLEAR, TEMPTING, TEMPTING),
        decisive=True,
    )
)


def _of_one_size(rng: random.Random) -> list[Question]:
    """Returns two questions in which a good and a bad setting have the same number of parameters."""
    (scores,) = _scores(rng, GAP, largest_first=False).inputs
    good, bad, *larger = scores
    scores[bad]["parameters"] = scores[good]["parameters"]
    return [
        Question(({name: scores[name] for name in order},)) for order in ((good, bad, *larger), (bad, good, *larger))
    ]


def _all_failed(rng: random.Random) -> list[Question]:
    """Returns settings of which each has a BLEU of 0, in every run: the smallest is as good as any."""
    (scores,) = _scores(rng, CLEAR, largest_first=True).inputs
    return [Question(({name: row | {"dev_bleu": [0.0] * 5} for name, row in scores.items()},))]


@exercise.stage(
    "two are equally good: the smaller one",
    points=1,
    public=[*NEARLY_ALIKE, *fixed(both(_of_one_size, _all_failed), 6)],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Everything that is at most one standard error below the best mean is as good; take the fewest parameters."""
    return both(DRAWN_NEARLY_ALIKE, _of_one_size, _all_failed)(rng)


def _worked_by_hand(_: random.Random) -> list[Question]:
    """Returns the table that the text works by hand, with means just above and below its limit, and one exactly at it.

    The fourth has a standard deviation of 2 and a standard error of 1, to the last bit.
    """
    best = [40.0, 42.0, 44.0]
    return [
        Question(
            (
                {
                    "small": {"parameters": 10_000, "dev_bleu": [mean] * len(runs), "test_bleu": [36.0, 38.0]},
                    "large": {"parameters": 90_000, "dev_bleu": runs, "test_bleu": [37.0, 41.0]},
                },
            )
        )
        for runs, mean in ((best, 41.0), (best, 40.84), (best, 40.86), ([41.0, 41.0, 41.0, 45.0], 41.0))
    ]


def _where_rounding_harms(rng: random.Random) -> list[Question]:
    """Returns questions in which another setting is chosen: where all is rounded, and where only the means are."""

    def harmed(digits: int) -> Question:
        return until(
            repeat(rng),
            lambda rng: _scores(rng, JUST_BELOW, largest_first=True),
            lambda ask: _rounded(ask.inputs[0], digits) != choose_setting(ask.inputs[0]),
        )

    return [harmed(1), harmed(9)]


@exercise.stage(
    "one standard error, of the best setting",
    points=1,
    public=[*MARGINS, *fixed(both(_worked_by_hand, _where_rounding_harms), 5)],
)
def _(rng: random.Random) -> list[Question]:
    """The standard error is that of the best setting's mean: its standard deviation (with n - 1) divided by the root of
    n, its number of runs. Use means, not single runs.
    """
    return both(DRAWN_MARGINS, _worked_by_hand, _where_rounding_harms)(rng)


@exercise.corners(
    "one standard error, of the best setting",
    settings=(2, 3, range(33, 36), range(101, 104)),
    runs=(2, range(33, 36)),
    smallest=("just as good", "just not", "by far not"),
)
def _(rng: random.Random, settings: int, runs: int, smallest: str) -> Question:
    """Asks about two settings and about many, with two runs each or more; the test part may be empty.

    The smallest is by a hundredth of a standard error better or worse than the limit, and all the others are as good.
    """
    base, error = rng.uniform(20, 60), rng.uniform(0.5, 2)
    steps = [1.0, -1.0] if runs == 2 else [math.cos(n) for n in range(runs)]
    scale = error * math.sqrt(runs) / statistics.stdev(steps)
    best = [base + scale * (step - statistics.mean(steps)) for step in steps]
    below = {"just as good": 0.99, "just not": 1.01, "by far not": 9.0}[smallest] * error
    rows = [(base - below, [base - below] * runs)]
    rows += [(base - 0.5 * error, [base - 0.5 * error] * runs) for _ in range(settings - 2)]
    sizes = sorted(rng.sample(range(10**4, 10**9), settings))
    made = [
        {"parameters": size, "dev_bleu": found, "test_bleu": []}
        for size, (_, found) in zip(sizes, [*rows, (base, best)], strict=True)
    ]
    return Question(({f"setting {n}": made[n] for n in rng.sample(range(settings), settings)},))
