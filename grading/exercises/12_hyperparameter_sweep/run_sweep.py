"""Exercise run_sweep of notebook 12."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw, both
from tutor.checking.answers import Ask
from tutor.checking.plain import Recorded

from ._common import Row

Table = dict[str, Row]


Train = Callable[[Row], Row]
Save = Callable[[Table], None]


def run_sweep(settings: list[Row], train_one: Train, finished: Table, save: Save) -> list[Row]:
    table = dict(finished)
    for setting in settings:
        row = table.get(setting["name"], {})
        if not setting.items() <= row.items():
            table[setting["name"]] = {**setting, **train_one(setting)}
            save(table)
    return [table[setting["name"]] for setting in settings]


def _again(settings: list[Row], train_one: Train, finished: Table, save: Save) -> list[Row]:
    table = dict(finished)
    for setting in settings:
        table[setting["name"]] = {**setting, **train_one(setting)}
        save(table)
    return [table[setting["name"]] for setting in settings]


def _at_the_end(settings: list[Row], train_one: Train, finished: Table, save: Save) -> list[Row]:
    kept: list[Table] = []
    rows = run_sweep(settings, train_one, finished, lambda table: kept.append(dict(table)))
    for table in kept[-1:]:
        save(table)
    return rows


def _never_saved(settings: list[Row], train_one: Train, finished: Table, save: Save) -> list[Row]:
    return run_sweep(settings, train_one, finished, lambda table: None)


def _in_the_end_at_least(settings: list[Row], train_one: Train, finished: Table, save: Save) -> list[Row]:
    kept = [dict(finished)]
    try:
        return run_sweep(settings, train_one, finished, lambda table: kept.append(dict(table)))
    finally:
        save(kept[-1])


def _newest_only(settings: list[Row], train_one: Train, finished: Table, save: Save) -> list[Row]:
    return run_sweep(settings, train_one, finished, lambda table: save(dict([list(table.items())[-1]])))


def _earlier_forgotten(settings: list[Row], train_one: Train, finished: Table, save: Save) -> list[Row]:
    table: Table = {}
    for setting in settings:
        if not setting.items() <= finished.get(setting["name"], {}).items():
            table[setting["name"]] = {**setting, **train_one(setting)}
            save(table)
    return list(table.values())


def _others_forgotten(settings: list[Row], train_one: Train, finished: Table, save: Save) -> list[Row]:
    names = {setting["name"] for setting in settings}
    return run_sweep(settings, train_one, {name: row for name, row in finished.items() if name in names}, save)


def _new_rows_only(settings: list[Row], train_one: Train, finished: Table, save: Save) -> list[Row]:
    rows = run_sweep(settings, train_one, finished, save)
    return [row for row in rows if row != finished.get(row["name"])]


def _as_trained(settings: list[Row], train_one: Train, finished: Table, save: Save) -> list[Row]:
    rows = run_sweep(settings, train_one, finished, save)
    return sorted(rows, key=lambda row: row["name"] not in finished)


def _whole_table(settings: list[Row], train_one: Train, finished: Table, save: Save) -> list[Row]:
    table = dict(finished)
    for setting in settings:
        if not setting.items() <= table.get(setting["name"], {}).items():
            table[setting["name"]] = {**setting, **train_one(setting)}
            save(table)
    return list(table.values())


def _results_only(settings: list[Row], train_one: Train, finished: Table, save: Save) -> list[Row]:
    table = dict(finished)
    for setting in settings:
        if setting["name"] not in table:
            table[setting["name"]] = train_one(setting)
            save(table)
    return [table[setting["name"]] for setting in settings]


def _by_name(settings: list[Row], train_one: Train, finished: Table, save: Save) -> list[Row]:
    table = dict(finished)
    for setting in settings:
        if setting["name"] not in table:
            table[setting["name"]] = {**setting, **train_one(setting)}
            save(table)
    return [table[setting["name"]] for setting in settings]


def _too_early(settings: list[Row], train_one: Train, finished: Table, save: Save) -> list[Row]:
    table = dict(finished)
    for setting in settings:
        if not setting.items() <= table.get(setting["name"], {}).items():
            table[setting["name"]] = dict(setting)
            save(table)
            table[setting["name"]] = {**setting, **train_one(setting)}
    save(table)
    return [table[setting["name"]] for setting in settings]


def _going_on(settings: list[Row], train_one: Train, finished: Table, save: Save) -> list[Row]:
    table = dict(finished)
    for setting in settings:
        if not setting.items() <= table.get(setting["name"], {}).items():
            with suppress(BaseException):  # the mistake
                table[setting["name"]] = {**setting, **train_one(setting)}
                save(table)
    return [table[setting["name"]] for setting in settings if setting["name"] in table]


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


def _asks(of: str, *sweeps: dict[str, Any]) -> tuple[list[Ask], Draw]:
    """Returns the public questions and what draws those of grading.

    `of` is a part of the log; with "" and with "rows", where the stage has a measure, it is the result.
    """
    log: dict[str, Any] = {"take": "log", "beside": {"of": of}} if of else {}
    log = {"beside": {"of": of}} if of == "rows" else log

    def draw(rng: random.Random) -> list[Ask]:
        return [Ask(**_sweep(rng, **sweep), **log) for sweep in sweeps]

    return draw(random.Random(f"{of} {sweeps}")), draw  # so that no two public questions share a setting


_CHANGED = {"count": 4, "done": (0, 1, 2, 3), "changed": [(1, "layers"), (2, "width"), (3, "dropout")]}
_FAILED = {"count": 4, "done": (3,), "stop_at": 2, "fails": True}
_CHANGES = (
    _asks("trained", _CHANGED, {"count": 3, "done": (0, 2), "lacks": "dropout"}),
    _asks("trained", {"count": 3, "done": (0, 1), "changed": [(1, "norm")]}),
    _asks("trained", {"count": 4, "done": (1, 2), "changed": [(1, "seed"), (2, "rate")]}),
    _asks("rows", _CHANGED),
    _asks("saved", _CHANGED),
)

EXERCISE = Exercise(
    run_sweep,
    [
        Stage(
            "nothing is finished: a row for each setting",
            1,
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
            "in an earlier run.",
            *_asks("", {"count": 4, "done": (2, 1)}),
        ),
        Stage(
            "interrupted: what was finished is saved",
            1.5,
            "Save the whole table right after each training, before the next one begins; let pass what stops a "
            "training, Ctrl-C or an error.",
            *_asks("saved", {"count": 5, "done": (1,), "stop_at": 3, "foreign": True}, {"count": 3}, _FAILED),
            measure="sweep",
            decisive=True,
        ),
        Stage(
            "a setting with other numbers than in its row is trained again",
            0.5,
            "Somebody has changed one entry of a setting that was finished, a number or a text, or a row has not all "
            "entries. It is about another model then: compare all entries of the "
            "setting with those of the row, train again, and put the new row in the place of the old one, in the table "
            "and in the result.",
            [ask for asks, _ in _CHANGES for ask in asks],
            both(*(draw for _, draw in _CHANGES)),
            measure="sweep",
        ),
    ],
    [
        Mistake(
            "finished settings are trained again",
            "Before training, look whether the table already has a row that fits this setting; hours depend on it.",
            _again,
        ),
        Mistake(
            "the table is saved only at the end",
            "When the third of four settings is interrupted, the first two are lost. Save after each training.",
            _at_the_end,
        ),
        Mistake(
            "the table is never saved",
            "Nothing is left after an interruption. Call save(table) after each training.",
            _never_saved,
        ),
        Mistake(
            "the table is saved only when the function ends",
            "try ... finally helps against Ctrl-C, but not when the machine goes off or the notebook's session is "
            "closed. Save after each training, before the next one begins.",
            _in_the_end_at_least,
        ),
        Mistake(
            "only the newest row is saved",
            "save replaces what was saved before: give it the whole table.",
            _newest_only,
        ),
        Mistake(
            "the rows of the earlier run are lost",
            "Start from the finished rows: the table that is saved and returned holds the old ones and the new ones.",
            _earlier_forgotten,
        ),
        Mistake(
            "rows of other sweeps are lost",
            "save replaces the whole table: a row that belongs to none of today's settings must be in it, too. Start "
            "from all of `finished`.",
            _others_forgotten,
        ),
        Mistake(
            "only new rows are returned",
            "The result has a row for each setting, also for those that were finished before.",
            _new_rows_only,
        ),
        Mistake(
            "finished rows come first",
            "The rows of the result follow the order of the settings, whatever was finished when.",
            _as_trained,
        ),
        Mistake(
            "rows come in the order of the table",
            "The table begins with the rows of the earlier run. The result follows the order of the settings.",
            _whole_table,
        ),
        Mistake(
            "the setting is missing from its row",
            "A row holds the setting and its result, {**setting, **result}: nobody can read a table of results alone.",
            _results_only,
        ),
        Mistake(
            "finished is judged by the name alone",
            "A setting that was changed keeps its name, but its row is about another model. Compare all "
            "entries of the setting with those of the row.",
            _by_name,
        ),
        Mistake(
            "a setting counts as finished before it is trained",
            "After an interruption, its row has no result, and it will never be trained. Save after training.",
            _too_early,
        ),
        Mistake(
            "the interruption is swallowed",
            "Who presses Ctrl-C wants to stop: an except without a class (or BaseException) keeps the sweep running.",
            _going_on,
        ),
    ],
    hints=(
        "Do the day by hand and write every call into a line of its own: `train_one(shallow)`, `save(...)`, and so "
        "on, until *wide* is interrupted. Which rows are in the table at each `save`? If somebody pulled the plug "
        "between two lines, what would be lost? And how does the second run see that *shallow* is finished, and "
        "would have to be trained again if its dropout had been changed?",
        'A setting `{"name": "deep", "layers": 6, "dropout": 0.1}` and an old row `{"name": "deep", '
        '"layers": 6, "dropout": 0.1, "dev_bleu": 12.0}`: every entry of the setting is in the row with the '
        'same value, so the row counts. With `"dropout": 0.2` in the setting, or without the entry in the row, '
        'it does not: another model. Python compares just that with `a.items() <= b.items()` ("is each entry of '
        '`a` one of `b`?"); with an empty dict as `b` it is False. Equality would not do, since a row also has '
        "the entries of its result. `{**setting, **result}` makes a row of both. And since `save` replaces "
        "everything, it must always get the *whole* table.",
        "Begin with what is there:\n"
        "```python\n"
        "table = dict(finished)  # a copy; rows of other sweeps stay in it\n"
        "for setting in settings:\n"
        '    old = table.get(setting["name"], {})\n'
        "    # ... if old does not count: train, put the new row into the table, and then?\n"
        "```\n"
        "No `try` is needed: when `train_one` is interrupted, the function ends there, and all that was finished "
        "has been saved. Nothing may get into the table before its training has come to its end. The result is "
        "made after the loop, a list with one row for each setting, in the order of `settings` and not of the "
        "table: `# ...`",
    ),
)
