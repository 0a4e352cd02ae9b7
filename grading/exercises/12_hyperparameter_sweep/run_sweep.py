"""Exercise run_sweep of notebook 12."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from grading.definitions.definition import Definition, Stage
from grading.exercises.draws import Draw, both
from tutor.checking.answers import Question
from tutor.checking.plain import Recorded

from ._common import Row

Table = dict[str, Row]


Train = Callable[[Row], Row]
Save = Callable[[Table], None]


exercise = Definition(minutes=30, difficulty=3)


def _counts(row: Row, setting: Row) -> bool:
    """Says whether a row of an earlier run is about a setting; an entry that is None may be missing in it."""
    return all(row.get(entry) == value for entry, value in setting.items())


@exercise.reference
def run_sweep(settings: list[Row], train_one: Train, finished: Table, save: Save) -> list[Row]:
    table = dict(finished)
    for setting in settings:
        if not _counts(table.get(setting["name"], {}), setting):
            table[setting["name"]] = {**setting, **train_one(setting)}
            save(table)
    return [table[setting["name"]] for setting in settings]


def _settings(rng: random.Random, count: int) -> list[Row]:
    names = rng.sample(["shallow", "wide", "deep", "narrow", "tall", "plain", "wet", "dry"], count)
    return [
        {"name": name, "layers": rng.randint(1, 8), "width": 8 * rng.randint(4, 90), "dropout": rng.choice([0.1, 0.2])}
        | {"norm": rng.choice(["pre", "post"]), "warmup": None, "seed": rng.randrange(2**30, 2**31), "rate": 1e-3}
        for name in names
    ]


def _result(rng: random.Random) -> Row:
    return {"dev_loss": round(rng.uniform(0.5, 4), 3), "dev_bleu": round(rng.uniform(10, 90), 1)}


def _sweep(
    rng: random.Random,
    count: int,
    done: Iterable[int] = (),
    stop_at: int = 0,
    *,
    changed: Iterable[tuple[int, str]] = (),
    lacks: str = "",
    foreign: bool = False,
    fails: bool = False,
) -> Row:
    """Returns the inputs of a sweep of which `done` are finished.

    Args:
        changed: which of these had another value then, and of which entry.
        lacks: an entry that the row of the setting with number 2 has not.
        foreign: whether the table also has a row of another sweep.
        fails: whether the training that stops ends with an error, and not as by Ctrl-C.
    """
    *settings, other = _settings(rng, count + 1)
    finished = {other["name"]: {**other, **_result(rng)}} if foreign else {}
    finished |= {settings[n]["name"]: {**settings[n], **_result(rng)} for n in done}
    for n, entry in changed:
        row = finished[settings[n]["name"]]
        if entry == "norm":
            row[entry] = "pre" if row[entry] == "post" else "post"
        else:
            row[entry] += {"layers": 1, "width": 8, "dropout": 0.25, "seed": 1, "rate": -5e-4}[entry]
        row["seconds"] = rng.randint(60, 900)  # noted then, and not today: nothing of the old row is left
    if lacks:
        del finished[settings[2]["name"]][lacks]
    results = [([setting], _result(rng)) for setting in settings]
    train_one = Recorded("train_one", results, stop_at, fails)
    return {"inputs": (settings, train_one, finished, Recorded("save")), "changes": (2,)}


def _changed_back(rng: random.Random) -> Question:
    """Returns a sweep in which the training of a changed setting stops; then the setting is the old one again.

    Its row is still in the table, and fits.
    """
    sweep = _sweep(rng, 3, (0, 1), 1, changed=[(1, "layers")])
    settings, train_one, finished, save = sweep["inputs"]
    row = finished[settings[1]["name"]]
    before = [*settings[:1], {entry: row[entry] for entry in settings[1]}, *settings[2:]]
    results = [*train_one.results, ([before[1]], _result(rng))]
    inputs = (settings, replace(train_one, results=results), finished, save)
    return Question(inputs, changes=(2,), probe="resumed", follow_up=(before,))


def _asks(of: str, *sweeps: dict[str, Any]) -> tuple[list[Question], Draw]:
    """Returns the public questions and what draws those of grading.

    `of` is a part of the log; with "" and with "rows", where the stage has a measure, it is the result; with "resumed"
    that of a second call on what the first one, which was stopped, has left.
    """
    log: dict[str, Any] = {"probe": "log", "extra": {"of": of}} if of else {}
    if of in ("rows", "resumed"):
        log = {"probe": "resumed" if of == "resumed" else "result", "extra": {"of": "rows"}}

    def draw(rng: random.Random) -> list[Question]:
        return [Question(**_sweep(rng, **sweep), **log) for sweep in sweeps]

    return draw(random.Random(f"{of} {sweeps}")), draw  # so that no two public questions share a setting


def _by_hand() -> Question:
    """Returns the first run of the example in the text: `middle` is finished, `wide` is interrupted."""
    settings: list[Row] = [
        {"name": name, "layers": layers} for layers, name in enumerate(("shallow", "middle", "wide", "deep"), 2)
    ]
    result = {"dev_bleu": 20.0}
    train_one = Recorded("train_one", [([setting], result) for setting in settings], stop_at=2)
    inputs = (settings, train_one, {"middle": settings[1] | result}, Recorded("save"))
    return Question(inputs, changes=(2,), probe="log", extra={"of": "saved"})


def _in_words(calls: list[list[Any]]) -> list[str]:
    """Returns the calls of a log as a student writes them; what stopped the run is no call."""
    return [
        f"train {given[0]['name']}" if name == "train_one" else "save" for name, given in calls if name != "interrupted"
    ]


exercise.by_hand(_by_hand(), part=_in_words)


_FAILED = {"count": 4, "done": (3,), "stop_at": 2, "fails": True}
_STOPPED = {"count": 4, "done": (1,), "stop_at": 2}
_CALLS, _DRAWN_CALLS = _asks("saved", {"count": 5, "done": (1,), "stop_at": 3, "foreign": True}, {"count": 3}, _FAILED)
_RESUMED, _DRAWN_RESUMED = _asks("resumed", _STOPPED, _FAILED)


exercise.add(
    Stage(
        "nothing is finished: a row for each setting",
        0.75,
        "One row for each setting, in the order of the settings: the entries of the setting and of its result.",
        *_asks("", {"count": 3}),
    ),
    Stage(
        "what is finished is not trained again",
        1,
        "Train a setting only when the table has no row that fits it.",
        *_asks("trained", {"count": 4, "done": (2, 1)}),
        measure="sweep",
    ),
    Stage(
        "rows of an earlier run are in the result",
        1,
        "The result has one row for each setting, in the order of the settings, whether it was trained today or "
        "in an earlier run. A row of an earlier run fits if it has every entry of the setting with the same value, "
        "which may be None or a list.",
        *_asks("", {"count": 4, "done": (2, 1)}),
    ),
    Stage(
        "interrupted: what was finished is saved",
        1,
        "Save the whole table right after each training, before the next one begins; let pass what stops a "
        "training, Ctrl-C or an error. A training that was stopped leaves no row, and is begun anew in the next run.",
        [*_CALLS, *_RESUMED],
        both(_DRAWN_CALLS, _DRAWN_RESUMED),
        measure="sweep",
        decisive=True,
    ),
)


MISSING = object()  # of an entry that the row of an earlier run does not have
ENTRIES: dict[str, tuple[Any, Any]] = {  # what a setting holds, and what the row of an earlier run holds in its place
    "None, and a number": (None, 3),
    "None, and 0": (None, 0),
    "0, and None": (0, None),
    "0, and no entry": (0, MISSING),
    "an empty list, and no entry": ([], MISSING),
    "a text, and another letter": ("Pre", "pre"),
    "0, which is False there, in a text": (0, "False"),
    "1, and a text": (1, "1"),
    "a list, and another": ([64, 32], [32, 64]),
    "a third digit": (0.101, 0.102),
    "a large number": (2**53 + 1, 2**53),
    "the same": ([64, None], [64, None]),
}


@exercise.corners("nothing is finished: a row for each setting", settings=(0, 1, range(33, 36)), shared=(True, False))
def _(rng: random.Random, settings: int, shared: bool) -> Question:
    """Asks about no setting and about many; a result may have an entry of the same name as the setting, and wins."""
    asked = [{"name": f"setting {n}", "layers": rng.randint(1, 9), "rate": rng.random()} for n in range(settings)]
    results = [([one], _result(rng) | ({"rate": rng.random()} if shared else {})) for one in asked]
    return Question((asked, Recorded("train_one", results), {}, Recorded("save")), changes=(2,))


@exercise.corners("rows of an earlier run are in the result", entry=tuple(ENTRIES), order=("as it is", "turned round"))
def _(rng: random.Random, entry: str, order: str) -> Question:
    """Asks about a row whose entries stand in another order, and which differs from its setting in one or in none."""
    wanted, was = ENTRIES[entry]
    name = f"wide {rng.randrange(10**6)}"  # so that no two corners share a setting
    setting = {"name": name, "layers": rng.randint(2, 9), "entry": wanted}
    row = {**setting, **_result(rng), "entry": was, "seconds": rng.randint(60, 900)}
    row = {key: value for key, value in row.items() if value is not MISSING}
    row = dict(list(row.items())[:: -1 if order == "turned round" else 1])
    trained = Recorded("train_one", [([setting], _result(rng))])
    return Question(([setting], trained, {name: row}, Recorded("save")), changes=(2,))


_CHANGED = {"count": 4, "done": (0, 1, 2, 3), "changed": [(1, "layers"), (2, "width"), (3, "dropout")]}


_CHANGES = (
    _asks("trained", _CHANGED, {"count": 3, "done": (0, 2), "lacks": "dropout"}),
    _asks("trained", {"count": 3, "done": (0, 1), "changed": [(1, "norm")]}),
    _asks("trained", {"count": 4, "done": (1, 2), "changed": [(1, "seed"), (2, "rate")]}),
    _asks("rows", _CHANGED),
    _asks("saved", _CHANGED),
)


@exercise.stage(
    "a setting with other numbers than in its row is trained again",
    points=0.5,
    public=[ask for asks, _ in _CHANGES for ask in asks],
    measure="sweep",
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Somebody has changed one entry of a setting that was finished, a number or a text, or a row has not all entries.
    It is about another model then: compare all entries of the setting with those of the row, train again, and put the
    new row in the place of the old one, in the table and in the result.
    """
    return both(*(draw for _, draw in _CHANGES))(rng)


@exercise.stage(
    "the old row stays until there is a new one", points=0.5, public=[_changed_back(random.Random("changed back"))]
)
def _(rng: random.Random) -> list[Question]:
    """The training of a changed setting was stopped, and in the second run the setting is the old one again: its row
    fits, and must still be there. Nothing is deleted before the new row takes its place.
    """
    return [_changed_back(rng)]


exercise.add(
    Stage(
        "an entry that is None may be missing in the row",
        0.25,
        "Only an entry that is None may be missing: such a row counts, and its setting is not trained again.",
        *_asks("trained", {"count": 3, "done": (0, 2), "lacks": "warmup"}),
        measure="sweep",
    )
)


@exercise.mistake("the table is saved only at the end")
def _(settings: list[Row], train_one: Train, finished: Table, save: Save) -> list[Row]:
    """When the third of four settings is interrupted, the first two are lost. Save after each training."""
    kept: list[Table] = []
    rows = run_sweep(settings, train_one, finished, lambda table: kept.append(dict(table)))
    for table in kept[-1:]:
        save(table)
    return rows


@exercise.mistake("the table is never saved")
def _(settings: list[Row], train_one: Train, finished: Table, save: Save) -> list[Row]:
    """Nothing is left after an interruption. Call save(table) after each training."""
    return run_sweep(settings, train_one, finished, lambda table: None)


@exercise.mistake("the table is saved only when the function ends")
def _(settings: list[Row], train_one: Train, finished: Table, save: Save) -> list[Row]:
    """try ... finally helps against Ctrl-C, but not when the machine goes off or the notebook's session is closed. Save
    after each training, before the next one begins.
    """
    kept = [dict(finished)]
    try:
        return run_sweep(settings, train_one, finished, lambda table: kept.append(dict(table)))
    finally:
        save(kept[-1])


@exercise.mistake("only the newest row is saved")
def _(settings: list[Row], train_one: Train, finished: Table, save: Save) -> list[Row]:
    """save replaces what was saved before: give it the whole table."""
    return run_sweep(settings, train_one, finished, lambda table: save(dict([list(table.items())[-1]])))


@exercise.mistake("the rows of the earlier run are lost")
def _(settings: list[Row], train_one: Train, finished: Table, save: Save) -> list[Row]:
    """Start from the finished rows: the table that is saved and returned holds the old ones and the new ones."""
    table: Table = {}
    for setting in settings:
        if not _counts(finished.get(setting["name"], {}), setting):
            table[setting["name"]] = {**setting, **train_one(setting)}
            save(table)
    return list(table.values())


@exercise.mistake("rows of other sweeps are lost")
def _(settings: list[Row], train_one: Train, finished: Table, save: Save) -> list[Row]:
    """save replaces the whole table: a row that belongs to none of today's settings must be in it, too. Start from all
    of `finished`.
    """
    names = {setting["name"] for setting in settings}
    return run_sweep(settings, train_one, {name: row for name, row in finished.items() if name in names}, save)


@exercise.mistake("only new rows are returned")
def _(settings: list[Row], train_one: Train, finished: Table, save: Save) -> list[Row]:
    """The result has a row for each setting, also for those that were finished before."""
    rows = run_sweep(settings, train_one, finished, save)
    return [row for row in rows if row != finished.get(row["name"])]


@exercise.mistake("finished rows come first")
def _(settings: list[Row], train_one: Train, finished: Table, save: Save) -> list[Row]:
    """The rows of the result follow the order of the settings, whatever was finished when."""
    rows = run_sweep(settings, train_one, finished, save)
    return sorted(rows, key=lambda row: row["name"] not in finished)


@exercise.mistake("a setting counts as finished before it is trained")
def _(settings: list[Row], train_one: Train, finished: Table, save: Save) -> list[Row]:
    """After an interruption, its row has no result, and it will never be trained. Save after training."""
    table = dict(finished)
    for setting in settings:
        if not _counts(table.get(setting["name"], {}), setting):
            table[setting["name"]] = dict(setting)
            save(table)
            table[setting["name"]] = {**setting, **train_one(setting)}
    save(table)
    return [table[setting["name"]] for setting in settings]


@exercise.mistake("the interruption is swallowed")
def _(settings: list[Row], train_one: Train, finished: Table, save: Save) -> list[Row]:
    """Who presses Ctrl-C wants to stop: an except without a class (or BaseException) keeps the sweep running."""
    table = dict(finished)
    for setting in settings:
        if not _counts(table.get(setting["name"], {}), setting):
            with suppress(BaseException):  # the mistake
                table[setting["name"]] = {**setting, **train_one(setting)}
                save(table)
    return [table[setting["name"]] for setting in settings if setting["name"] in table]
