"""Exercise label_efficiency of notebook 06."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from grading.definitions.definition import Definition
from tutor.checking.answers import Question

from ._common import WAYS, Record

exercise = Definition(minutes=10, difficulty=1)


@exercise.reference
def label_efficiency(records: list[Record], wanted: float) -> dict[str, dict[str, Any]]:
    return _efficient(records, wanted)


def _efficient(
    records: list[Record],
    wanted: float,
    *,
    summary: Callable[[list[float]], float] = statistics.mean,
    reached: Callable[[list[float], float], bool] = lambda values, wanted: statistics.mean(values) >= wanted,
    ordered: bool = True,
    pick: Callable[[list[int]], Any] = lambda enough: min(enough, default=None),
) -> dict[str, dict[str, Any]]:
    """Returns accuracies by number of labels; the options are the ways in which they go wrong."""
    found = {}
    for way in dict.fromkeys(record["way"] for record in records):
        values: dict[int, list[float]] = {}
        for record in records:
            if record["way"] == way:
                values.setdefault(record["labels"], []).append(record["accuracy"])
        labels = sorted(values) if ordered else list(values)
        enough = [number for number in labels if reached(values[number], wanted)]
        found[way] = {
            "labels": labels,
            "accuracy": [summary(values[number]) for number in labels],
            "needed": pick(enough),
        }
    return found


def _label_records(
    rng: random.Random,
    ways: Sequence[str],
    seeds: int,
    *,
    exact: bool = False,
    never: bool = False,
    mixed: bool = False,
    enough: int = 0,
    twins: bool = False,
) -> list[Question]:
    """Returns a question in which more labels are not always better, and each way has a number of labels of its own.

    In the first way the second number of labels is the first that is enough, and the third is not. Its mean is the
    wanted one where that is `exact`, else a little more, so that no rounding decides. One of three ways never gets
    there. Seeds are any numbers; with `twins`, two of the seeds have the same accuracy.
    """
    own = rng.sample([20, 25, 50, 75], len(ways))
    shared = [rng.choice([100, 150]), *rng.sample([10, 200, 300, 400], 3)]
    names = rng.sample(range(100), seeds)
    enough = enough or rng.randint(19, 22)  # all accuracies are told in 32nds, whose means are exact
    records = []
    others = rng.sample([-9, rng.choice([-1, 1, 2])], len(ways) - 1)
    for way, number, better in zip(ways, own, [0, *others], strict=True):
        top = enough + better
        levels = [top - 2, top, top - 1, *rng.sample(range(top + 1, top + 5), 2)]
        for size, level in zip(sorted([number, *shared]), levels, strict=True):
            # no seed, nor the middle one, is the mean; nor is the mean of different accuracies
            moved = [0] if seeds == 1 else rng.sample([-1, -1, 2] if twins else [-2, -1, 3], seeds)
            records += [
                {"way": way, "labels": size, "seed": names[seed], "accuracy": (level + moved[seed]) / 32}
                for seed in range(seeds)
            ]
    if mixed:  # the number of its own is never the largest of a way, so that no way is in order
        records = sorted(rng.sample(records, len(records)), key=lambda record: record["labels"] in own)
    wanted = 0.97 if never else enough / 32 - (0 if exact else 1 / 64)
    return [Question((records, wanted))]


@exercise.stage("one way, one seed", points=0.5, seed=1)
def _(rng: random.Random) -> list[Question]:
    """The accuracy of a number of labels is the mean over the seeds that there are: with one seed it is that record's.
    Needed is the smallest number of labels with at least the wanted accuracy: reaching it exactly is enough. More
    labels are not always better, so look at all numbers one by one.
    """
    # Asks with one run: 21/32 is wanted and reached exactly, which rounding would miss, something less, and more.
    # 21/32 are not 66 %, though they are when rounded. Last, a model that has learned from no label is good enough.
    (near,) = _label_records(rng, ["scratch"], 1, enough=21)
    return [
        *_label_records(rng, ["scratch"], 1, exact=True, enough=21),
        *_label_records(rng, ["scratch"], 1),
        Question((near.inputs[0], 0.66)),
        Question(([{**record, "labels": index} for index, record in enumerate(near.inputs[0])], 0.5)),
    ]


@exercise.stage("several seeds", points=0.5, seed=2, decisive=True)
def _(rng: random.Random) -> list[Question]:
    """Take the mean over the seeds first, and compare the mean with what is wanted. There are as many seeds as records
    say, not always the same number.
    """
    return [ask for twins in (False, True) for ask in _label_records(rng, ["pretrained"], 3, twins=twins)]


@exercise.stage("never reached: None", points=0.5, seed=3, decisive=True)
def _(rng: random.Random) -> list[Question]:
    """Where no number of labels was enough, say so: None. The largest number tried would be a claim."""
    return _label_records(rng, ["scratch"], 3, never=True)


@exercise.stage("several ways, records in any order", points=0.5, seed=4)
def _(rng: random.Random) -> list[Question]:
    """Group by way, then by number of labels, and sort the numbers. Not all ways have the same ones, nor all numbers as
    many seeds.
    """
    # Asks with three ways, in each of which one run of the most labels is not there; one name is a part of another.
    one, other = rng.sample([*WAYS, "half", "distilled"], 2)
    (ask,) = _label_records(rng, rng.sample([one, other, f"{one}, twice"], 3), 3, mixed=True)
    records, wanted = ask.inputs
    for way in {record["way"]: None for record in records}:
        most = max(record["labels"] for record in records if record["way"] == way)
        records.remove(next(one for one in records if (one["way"], one["labels"]) == (way, most)))
    return [Question((records, wanted))]


@exercise.corners(
    "several seeds",
    numbers=(1, 2, range(33, 36)),
    seeds=(1, 2, range(9, 12)),
    limit=("exactly", "just above", "just below"),
)
def _(rng: random.Random, numbers: int, seeds: int, limit: str) -> Question | None:
    """Asks for the wanted accuracy exactly, a thousandth more and a thousandth less; means are exact."""
    if numbers * seeds > 230:
        return None
    labels = sorted(rng.sample(range(1000), numbers))
    levels = rng.sample(range(500, 500 + 4 * numbers, 2), numbers)
    wanted = rng.choice(levels) + {"exactly": 0, "just above": 1, "just below": -1}[limit]
    records = [
        {"way": "scratch", "labels": number, "seed": seed, "accuracy": level / 1024}
        for number, level in zip(labels, levels, strict=True)
        for seed in range(seeds)
    ]
    return Question((rng.sample(records, len(records)), wanted / 1024))
