"""Exercise compare of notebook 06."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw, both, fixed
from tutor.checking.answers import Ask

from ._common import WAYS, Record


def compare(records: list[Record]) -> dict[str, dict[str, Any]]:
    return _compared(records)


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
        epochs = [[record[column] for record in places] for places in zip(*runs.values(), strict=False)]
        mean = [statistics.mean(values) for values in epochs]
        low, high = [min(values) for values in epochs], [max(values) for values in epochs]
        if spread:
            wide = [statistics.pstdev(values) for values in epochs]
            low = [m - w for m, w in zip(mean, wide, strict=True)]
            high = [m + w for m, w in zip(mean, wide, strict=True)]
        test = summary([choose(run)["test"] for run in runs.values()])
        found[way] = {"mean": mean, "low": low, "high": high, "test": test}
    return found


def _one_epoch_for_all(records: list[Record]) -> dict[str, dict[str, Any]]:
    found = _compared(records)
    for way, figures in found.items():
        epoch = 1 + figures["mean"].index(max(figures["mean"]))
        figures["test"] = statistics.mean(r["test"] for r in records if r["way"] == way and r["epoch"] == epoch)
    return found


def _last_best(run: list[Record]) -> Record:
    return _BEST_BY_VALID(run[::-1])


def _only_first(runs: Runs) -> Runs:
    return dict(list(runs.items())[:1])


def _only_luckiest(runs: Runs) -> Runs:
    best = max(runs, key=lambda seed: max(record["valid"] for record in runs[seed]))
    return {best: runs[best]}


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
    for place, way in enumerate(ways):
        more = place if uneven else 0
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
                place = valid.index(max(valid))
                valid[best], valid[place] = valid[place], valid[best]
                place, worst = test.index(max(test)), (best + 1) % epochs
                test[worst], test[place] = test[place], test[worst]
                place, lowest = valid.index(min(valid)), (best + 2) % epochs
                valid[lowest], valid[place] = valid[place], valid[lowest]
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

    def draw(rng: random.Random) -> list[Ask]:
        names = [*rng.sample(WAYS, ways - 1), rng.choice(["half", "distilled", "no dropout"])]
        records = _records(rng, names, seeds, epochs, **settings)
        return [Ask((_shuffled(rng, records) if shuffle else records,))]

    return draw


def _never_right(rng: random.Random) -> list[Ask]:
    """Asks with a run whose validation is 0 in each epoch, which are as good as each other, too."""
    records = _records(rng, ["scratch"], 3, 4)
    seed = records[0]["seed"]
    return [Ask(([record | {"valid": 0.0} if record["seed"] == seed else record for record in records],))]


_ONE_EPOCH, _ONE_RUN = _draw_records(2, 3, 1), both(_draw_records(2, 1, 4), _draw_records(1, 1, 5))
_ALL, _SHUFFLED = _draw_records(3, 3, 4, uneven=True), _draw_records(3, 3, 11, shuffle=True)  # 10 comes after 9
_TIED = both(_draw_records(2, 3, 4, tie=True), _draw_records(2, 3, 4, tie=True, shuffle=True))

EXERCISE = Exercise(
    compare,
    [
        Stage(
            "one epoch, several seeds: mean, lowest, highest",
            0.5,
            "For each way: three lists with one number per epoch (mean, lowest and highest of valid over the seeds), "
            "and the mean of test.",
            fixed(_ONE_EPOCH, 1),
            _ONE_EPOCH,
        ),
        Stage(
            "one seed, several epochs: validation chooses the epoch, test says how good it is",
            0.5,
            "Find the record with the best valid, and take the test of that same record.",
            fixed(_ONE_RUN, 3),
            _ONE_RUN,
            decisive=True,
        ),
        Stage(
            "three ways, several seeds, several epochs",
            1,
            "Every run chooses an epoch of its own; the result is the mean of their test accuracies. One way may have "
            "other seeds, and more epochs, than another.",
            fixed(_draw_records(3, 3, 3, uneven=True), 3),
            _ALL,
            decisive=True,
        ),
        Stage(
            "records in any order",
            0.5,
            "Place each number by its epoch, not by where it stands in the list.",
            fixed(_SHUFFLED, 4),
            _SHUFFLED,
        ),
        Stage(
            "two epochs as good as each other: the earlier one",
            0.5,
            "Of several epochs with the best valid take the first, as somebody would who stops when it gets no better.",
            [*fixed(_TIED, 5), *fixed(_never_right, 6)],
            both(_TIED, _never_right),
        ),
    ],
    [
        Mistake(
            "validates on test",
            "The epoch was chosen by its test accuracy, so that luck on the test set counts as skill. Choose by valid, "
            "then report test, and never look back.",
            partial(_compared, choose=_first_best("test")),
        ),
        Mistake(
            "one seed",
            "Only the first run of each way is used. One run says as much about the seed as about the way: use all.",
            partial(_compared, seeds=_only_first),
        ),
        Mistake(
            "the luckiest seed",
            "Only the best run of each way is used. Whoever tries more seeds would win: use all.",
            partial(_compared, seeds=_only_luckiest),
        ),
        Mistake(
            "the highest test accuracy of all seeds",
            "This reports the luckiest run. Take the mean over the seeds.",
            partial(_compared, summary=max),
        ),
        Mistake(
            "equal test accuracies are counted once",
            "A set forgets how often something is in it. Two seeds with the same accuracy are two seeds: use a list.",
            partial(_compared, summary=lambda tests: statistics.mean(set(tests))),
        ),
        Mistake(
            "always the last epoch",
            "The last epoch need not be the best. Choose by validation, in each run.",
            partial(_compared, choose=lambda run: run[-1]),
        ),
        Mistake(
            "one epoch for all seeds",
            "The epoch was chosen by the mean curve. Each run chooses its own, as it would if it were alone.",
            _one_epoch_for_all,
        ),
        Mistake(
            "the curve of the test accuracy",
            "The curve is there to choose by, so it shows validation. Test appears once, at the end.",
            partial(_compared, column="test"),
        ),
        Mistake(
            "the band is a standard deviation",
            "The band goes from the lowest to the highest run.",
            partial(_compared, spread=True),
        ),
        Mistake(
            "records are taken in the order in which they come",
            "The list is in any order: sort each run by its epoch.",
            partial(_compared, ordered=False),
        ),
        Mistake(
            "the later of two equal epochs",
            "Of several epochs with the best validation accuracy take the first.",
            partial(_compared, choose=_last_best),
        ),
    ],
    hints=(
        (
            "Take one way with two seeds and three epochs, and write its six records into a table: a row for each "
            "seed, a column for each epoch. Which numbers make the second point of the curve: those of a row, or "
            "those of a column? Who chooses an epoch, a row or the whole table, and by which of the two accuracies?"
        ),
        (
            "One way, two runs of three epochs:\n"
            "- Seed 0: validation 0.70, 0.76, 0.74, test 0.72, 0.73, 0.78.\n"
            "- Seed 1: validation 0.71, 0.72, 0.75, test 0.70, 0.74, 0.77.\n\n"
            "Down the columns: mean 0.705, 0.74, 0.745; lowest 0.70, 0.72, 0.74; highest 0.71, 0.76, 0.75. Along the "
            "rows: seed 0 chooses epoch 2 and says 0.73, seed 1 chooses epoch 3 and says 0.77. The result is their "
            "mean, 0.75.\n\n"
            "`max(run, key=lambda record: ...)` returns a whole record, and the first one where several are equal, "
            "if the run is in the order of its epochs."
        ),
        (
            "Sort the records into runs first:\n"
            "```python\n"
            "runs = {}  # for one way: seed -> the list of its records\n"
            "for record in records:\n"
            '    if record["way"] == way:\n'
            '        runs.setdefault(record["seed"], []).append(record)\n'
            '# each run sorted by "epoch": the records come in any order\n'
            '# for each epoch, the "valid" of all runs: mean, min, max, into three lists\n'
            '# for each run, the record that is best in "valid"; the mean of their "test"\n'
            "```\n"
            "This goes into a loop over the ways, each name once, and fills `found[way]` with the four keys. For "
            "sorted runs, `zip(*runs.values())` goes through the epochs and gives one record of each run at a time. "
            "Keep numbers in lists: a set forgets equal ones."
        ),
    ),
)
