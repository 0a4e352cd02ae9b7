"""Exercise compare of notebook 06."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, both, fixed
from tutor.checking.answers import Question

from ._common import WAYS, Record

exercise = Definition(minutes=25, difficulty=3)


@exercise.reference
def compare(records: list[Record]) -> dict[str, dict[str, Any]]:
    return _compared(records)


RUN = ((0.70, 0.72), (0.76, 0.73), (0.74, 0.78))  # validation and test after each epoch, as the text has them
exercise.by_hand(
    Question(([{"way": "scratch", "seed": 0, "epoch": n, "valid": v, "test": t} for n, (v, t) in enumerate(RUN, 1)],)),
    part=lambda results: results["scratch"]["test"],
    tolerance=0.001,
)


Runs = dict[int, list[Record]]


def _first_best(column: str) -> Callable[[list[Record]], Record]:
    return lambda run: max(run, key=lambda record: record[column])


_BEST_BY_VALID = _first_best("valid")


def _compared(
    records: list[Record],
    *,
    choose: Callable[[list[Record]], Record] = _BEST_BY_VALID,
    seeds: Callable[[Runs], Runs] = lambda runs: runs,
    column: str = "valid",
    ordered: bool = True,
    spread: bool = False,
    summary: Callable[[list[float]], float] = statistics.mean,
) -> dict[str, dict[str, Any]]:
    """Returns curves, bands and results; the options are the ways in which they go wrong."""
    found = {}
    for way in dict.fromkeys(record["way"] for record in records):
        runs: Runs = {}
        for record in records:
            if record["way"] == way:
                runs.setdefault(record["seed"], []).append(record)
        if ordered:
            runs = {seed: sorted(run, key=lambda record: record["epoch"]) for seed, run in runs.items()}
        runs = seeds(runs)
        epochs = [[record[column] for record in row] for row in zip(*runs.values(), strict=False)]
        mean = [statistics.mean(values) for values in epochs]
        low, high = [min(values) for values in epochs], [max(values) for values in epochs]
        if spread:
            wide = [statistics.pstdev(values) for values in epochs]
            low = [m - w for m, w in zip(mean, wide, strict=True)]
            high = [m + w for m, w in zip(mean, wide, strict=True)]
        test = summary([choose(run)["test"] for run in runs.values()])
        found[way] = {"mean": mean, "low": low, "high": high, "test": test}
    return found


def _records(
    rng: random.Random, ways: Sequence[str], seeds: int, fewest: int, tie: bool = False, uneven: bool = False
) -> list[Record]:
    """Returns records in order, in which test is best at another epoch than validation, which is lowest at a third.

    With `uneven`, each way has one seed and one epoch more than the way before it, and begins with another seed. Of
    several seeds, two have the same numbers, and in the last run the last epoch is the best where there is no tie. All
    numbers are 128ths, whose sums are exact.
    """
    found: list[Record] = []
    names = rng.sample(range(100), seeds + 2 * len(ways))  # seeds are any numbers
    for index, way in enumerate(ways):
        more = index if uneven else 0
        epochs = fewest + more
        twin: tuple[list[float], list[float]] = [], []
        tops = sorted(rng.sample(range(103, 127), seeds + more))  # the last run is the luckiest, whatever the order
        for seed in range(more, more + seeds + more):
            valid = [v / 128 for v in [*rng.sample(range(64, 103), epochs - 1), tops[seed - more]]]
            test = [v / 128 for v in rng.sample(range(64, 127), epochs)]
            best = 0
            if epochs > 1:
                best = seed % (epochs - 1)  # not the same in all runs
                if seed == more + seeds + more - 1 > more and not tie:
                    best = epochs - 1
                index = valid.index(max(valid))
                valid[best], valid[index] = valid[index], valid[best]
                index, worst = test.index(max(test)), (best + 1) % epochs
                test[worst], test[index] = test[index], test[worst]
                index, lowest = valid.index(min(valid)), (best + 2) % epochs
                valid[lowest], valid[index] = valid[index], valid[lowest]
            if tie:
                valid[best + 1] = valid[best]
            if seed == more + 1 and seeds + more > 2:
                valid, test = twin
            twin = valid, test
            found += [
                {"way": way, "seed": names[seed], "epoch": epoch, "valid": valid[epoch - 1], "test": test[epoch - 1]}
                for epoch in range(1, epochs + 1)
            ]
    return found


def _shuffled(rng: random.Random, records: list[Record]) -> list[Record]:
    """Returns the records in an order in which no run is in the order of its epochs."""
    mixed = sorted(records, key=lambda record: -record["epoch"])
    first, rest = mixed[:1], mixed[1:]
    return first + sorted(rest, key=lambda record: (-record["epoch"], rng.random()))


def _draw_records(ways: int, seeds: int, epochs: int, **settings: Any) -> Draw:
    shuffle = settings.pop("shuffle", False)

    def draw(rng: random.Random) -> list[Question]:
        names = [*rng.sample(WAYS, ways - 1), rng.choice(["half", "distilled", "no dropout"])]
        records = _records(rng, names, seeds, epochs, **settings)
        return [Question((_shuffled(rng, records) if shuffle else records,))]

    return draw


_ONE_EPOCH, _ONE_RUN = _draw_records(2, 3, 1), both(_draw_records(2, 1, 4), _draw_records(1, 1, 5))
_ALL, _SHUFFLED = _draw_records(3, 3, 4, uneven=True), _draw_records(3, 3, 11, shuffle=True)  # 10 comes after 9


@exercise.stage("one epoch, several seeds: mean, lowest, highest", points=0.5, seed=1)
def _(rng: random.Random) -> list[Question]:
    """For each way: three lists with one number per epoch (mean, lowest and highest of valid over the seeds), and the
    mean of test.
    """
    return _ONE_EPOCH(rng)


@exercise.stage(
    "one seed, several epochs: validation chooses the epoch, test says how good it is",
    points=0.5,
    seed=3,
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Find the record with the best valid, and take the test of that same record."""
    return _ONE_RUN(rng)


@exercise.stage(
    "three ways, several seeds, several epochs",
    points=1,
    public=fixed(_draw_records(3, 3, 3, uneven=True), 3),
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Every run chooses an epoch of its own; the result is the mean of their test accuracies. One way may have other
    seeds, and more epochs, than another.
    """
    return _ALL(rng)


@exercise.stage("records in any order", points=0.5, seed=4)
def _(rng: random.Random) -> list[Question]:
    """Place each number by its epoch, not by where it stands in the list."""
    return _SHUFFLED(rng)


def _never_right(rng: random.Random) -> list[Question]:
    """Asks with a run whose validation is 0 in each epoch, which are as good as each other, too."""
    records = _records(rng, ["scratch"], 3, 4)
    seed = records[0]["seed"]
    return [Question(([record | {"valid": 0.0} if record["seed"] == seed else record for record in records],))]


_TIED = both(_draw_records(2, 3, 4, tie=True), _draw_records(2, 3, 4, tie=True, shuffle=True))


@exercise.stage(
    "two epochs as good as each other: the earlier one", points=0.5, public=[*fixed(_TIED, 5), *fixed(_never_right, 6)]
)
def _(rng: random.Random) -> list[Question]:
    """Of several epochs with the best valid take the first, as somebody would who stops when it gets no better."""
    return both(_TIED, _never_right)(rng)


@exercise.corners(
    "three ways, several seeds, several epochs",
    ways=(1, range(9, 12)),
    seeds=(1, 2, range(33, 36)),
    epochs=(1, 2, range(101, 104)),
)
def _(rng: random.Random, ways: int, seeds: int, epochs: int) -> Question | None:
    """Asks about many ways, runs and epochs; the best epochs differ in the third digit from the next ones."""
    if ways * seeds * epochs > 190:
        return None
    records: list[Record] = []
    for way in range(ways):
        for seed in rng.sample(range(1000), seeds):
            valid, test = (rng.sample(range(600, 600 + epochs), epochs) for _ in range(2))
            records += [
                {"way": f"way {way}", "seed": seed, "epoch": 1 + n, "valid": valid[n] / 1000, "test": test[n] / 1000}
                for n in range(epochs)
            ]
    return Question((rng.sample(records, len(records)),))


def _only_first(runs: Runs) -> Runs:
    return dict(list(runs.items())[:1])


exercise.mistake(
    "one seed",
    "Only the first run of each way is used. One run says as much about the seed as about the way: use all.",
    partial(_compared, seeds=_only_first),
)
