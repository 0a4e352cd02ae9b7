"""Exercise choose_setting of notebook 12."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable
from itertools import repeat
from typing import Any

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


def _smallest_above(scores: Scores, limit: Callable[[Row, Row], float], part: str = "dev_bleu") -> str:
    """Returns the smallest setting whose mean is not below `limit(best row, its own row)`."""
    best = max(scores.values(), key=lambda row: _mean(row, part))
    near = [name for name, row in scores.items() if _mean(row, part) >= limit(best, row)]
    return min(near, key=lambda name: scores[name]["parameters"])


def _highest(part: str, of: Callable[[list[float]], float]) -> Callable[[Scores], str]:
    return lambda scores: max(scores, key=lambda name: of(scores[name][part]))


def _near(scores: Scores) -> list[str]:
    best = max(scores.values(), key=_mean)
    return [name for name in scores if _mean(scores[name]) >= _mean(best) - _standard_error(best)]


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
def _(rng):
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
def _(rng):
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
def _(rng, settings, runs, smallest):
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


@exercise.mistake("the choice is made on test")
def _(scores):
    """Who chooses on test has no honest figure left to report: the chosen setting's test score is too good."""

    def limit(best: Row, _: Row) -> float:
        return _mean(best, "test_bleu") - float(statistics.stdev(best["test_bleu"])) / math.sqrt(len(best["test_bleu"]))

    return _smallest_above(scores, limit, "test_bleu")


@exercise.mistake("the best is the best on test, and dev decides what is near it")
def _(scores):
    """Nothing is chosen on test, the best one neither: it is the one with the highest mean of dev_bleu."""
    best = max(scores.values(), key=lambda row: _mean(row, "test_bleu"))
    limit = _mean(best) - _standard_error(best)
    return min((name for name in scores if _mean(scores[name]) >= limit), key=lambda name: scores[name]["parameters"])


@exercise.mistake("of those that are as good, the best on test")
def _(scores):
    """Nothing is chosen on test: of the settings that are as good on dev, the one with the fewest parameters."""
    return max(_near(scores), key=lambda name: sum(scores[name]["test_bleu"]))


@exercise.mistake("the test scores have a part in the choice")
def _(scores):
    """What is chosen with the help of the test scores has no honest test score left: choose on dev_bleu alone."""
    return choose_setting(
        {name: row | {"dev_bleu": row["dev_bleu"] + row["test_bleu"]} for name, row in scores.items()}
    )


exercise.mistake(
    "the highest mean wins, however close the others are",
    "The difference may be chance: take the smallest setting within one standard error of the best.",
    _highest("dev_bleu", statistics.mean),
)

exercise.mistake(
    "the highest test score wins",
    "Nothing is chosen on test; use dev_bleu, and the smallest setting within one standard error.",
    _highest("test_bleu", statistics.mean),
)


@exercise.mistake("the best single run decides")
def _(scores):
    """One lucky seed says little: compare means over the seeds."""
    best = max(scores.values(), key=lambda row: max(row["dev_bleu"]))
    limit = max(best["dev_bleu"]) - _standard_error(best)
    near = [name for name, row in scores.items() if max(row["dev_bleu"]) >= limit]
    return min(near, key=lambda name: scores[name]["parameters"])


exercise.mistake(
    "the highest single run wins",
    "One lucky seed says little: compare means, and allow for one standard error.",
    _highest("dev_bleu", max),
)


@exercise.mistake("the standard deviation is taken for the standard error")
def _(scores):
    """The mean of n runs moves less than a single run: divide the standard deviation by the root of n."""
    return _smallest_above(scores, lambda best, _: _mean(best) - statistics.stdev(best["dev_bleu"]))


@exercise.mistake("the variance is taken with n in place of n - 1")
def _(scores):
    """A few runs lie closer to their own mean than to the true one: divide by n - 1 (numpy wants ddof=1)."""

    def limit(best: Row, _: Row) -> float:
        return _mean(best) - float(statistics.pstdev(best["dev_bleu"])) / math.sqrt(len(best["dev_bleu"]))

    return _smallest_above(scores, limit)


@exercise.mistake("the standard deviation is divided by the root of something else than n")
def _(scores):
    """n is the number of runs of the best setting: not n - 1, not the number of settings, and not always 3."""
    return _smallest_above(
        scores, lambda best, _: _mean(best) - float(statistics.stdev(best["dev_bleu"])) / math.sqrt(len(scores))
    )


@exercise.mistake("the standard deviation is divided by n in place of its root")
def _(scores):
    """The standard error of a mean of n runs is their standard deviation divided by the root of n."""
    return _smallest_above(
        scores, lambda best, _: _mean(best) - statistics.stdev(best["dev_bleu"]) / len(best["dev_bleu"])
    )


@exercise.mistake("two standard errors")
def _(scores):
    """As good is what lies at most one standard error below the best mean, not two."""
    return _smallest_above(scores, lambda best, _: _mean(best) - 2 * _standard_error(best))


exercise.mistake(
    "means are rounded before they are compared",
    "A table shows one decimal; what decides may lie behind it. Compare the numbers as they are.",
    _rounded,
)


@exercise.mistake("the lowest mean of those that are as good")
def _(scores):
    """Of all settings that are as good as the best, take the one with the fewest parameters."""
    return min(_near(scores), key=lambda name: _mean(scores[name]))


@exercise.mistake("numbers of parameters are compared as texts")
def _(scores):
    """As texts, '900000' comes after '1800000'. Compare the numbers."""
    return min(_near(scores), key=lambda name: str(scores[name]["parameters"]))


@exercise.mistake("every setting is taken to have three runs")
def _(scores):
    """The number of runs is len(row["dev_bleu"]): divide the sum by it for the mean, the standard deviation by its
    root.
    """
    means = {name: sum(row["dev_bleu"]) / 3 for name, row in scores.items()}
    best = max(means, key=lambda name: means[name])
    limit = means[best] - float(statistics.stdev(scores[best]["dev_bleu"])) / math.sqrt(3)
    return min((name for name in scores if means[name] >= limit), key=lambda name: scores[name]["parameters"])


@exercise.mistake("each setting brings its own standard error")
def _(scores):
    """A setting that varies a lot would allow itself the most. The margin is that of the best setting."""
    return _smallest_above(scores, lambda best, own: _mean(best) - _standard_error(own))


@exercise.mistake("the largest of the equally good ones")
def _(scores):
    """When settings are equally good, take the smallest: it is cheaper to train and to use."""
    best = max(scores.values(), key=_mean)
    limit = _mean(best) - _standard_error(best)
    return max((name for name in scores if _mean(scores[name]) >= limit), key=lambda name: scores[name]["parameters"])


@exercise.mistake("the smallest setting wins, however bad")
def _(scores):
    """Small is a virtue only among the settings that are as good as the best."""
    return min(scores, key=lambda name: scores[name]["parameters"])


@exercise.mistake("the scores are returned in place of the name")
def _(scores):
    """Return the name of the chosen setting."""
    return scores[choose_setting(scores)]
