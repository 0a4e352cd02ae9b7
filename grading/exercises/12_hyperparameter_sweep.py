"""Exercises of notebook 12: a sweep over four settings, and one that fails."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any

import sympy
from sympy import Expr

from grading.exercise import Exercise, Mistake, Stage
from helpers.checking.answers import Ask
from helpers.checking.plain import Recorded

Row = dict[str, Any]
Table = dict[str, Row]


# --- translator_total -------------------------------------------------------------------------------------------------

S, V, D, M, A = sympy.symbols("S V D M A", positive=True, integer=True)
ENCODER_LAYER, DECODER_LAYER = 6 * D**2 + 10 * D, 10 * D**2 + 16 * D


def translator_total() -> Expr:
    return (S + V) * D + M * (ENCODER_LAYER + DECODER_LAYER) + V * (D + 1)


def _formula(total: Any) -> Callable[[], Any]:
    return lambda: total


def _sizes(words: int, french: int, width: int, layers: int, heads: int) -> Ask:
    return Ask(at={"S": words, "V": french, "D": width, "M": layers, "A": heads})


def _draw_sizes(layers: tuple[int, int]) -> Callable[[random.Random], list[Ask]]:
    def draw(rng: random.Random) -> list[Ask]:
        def one() -> Ask:
            heads, words = rng.randint(2, 9), rng.randint(50, 9000)
            return _sizes(words, words + rng.randint(7, 900), heads * rng.randint(3, 60), rng.randint(*layers), heads)

        return [one() for _ in range(3)]

    return draw


TRANSLATOR_TOTAL = Exercise(
    translator_total,
    [
        Stage(
            "without layers: two embeddings and a head",
            0.5,
            "Put M = 0: what is left is an embedding for each language and a Linear from D to V, with its biases.",
            [_sizes(7, 9, 4, 0, 2)],
            _draw_sizes((0, 0)),
            sealed=True,
        ),
        Stage(
            "with layers",
            1.5,
            "An encoder layer has 6D^2 + 10D (notebook 05). A decoder layer has one more attention, four D x D "
            "matrices with biases, and one more norm.",
            [_sizes(7, 9, 4, 1, 2), _sizes(292, 458, 48, 2, 4), _sizes(9000, 11000, 768, 6, 12)],
            _draw_sizes((1, 12)),
            sealed=True,
        ),
    ],
    [
        Mistake(
            "the decoder is taken for a second encoder",
            "A decoder layer also reads the encoder: a cross-attention of four more D x D matrices, and its norm.",
            _formula((S + V) * D + 2 * M * ENCODER_LAYER + V * (D + 1)),
        ),
        Mistake(
            "the norm of the cross-attention is lost",
            "Each of the three parts of a decoder layer has a norm of 2D numbers.",
            _formula((S + V) * D + M * (ENCODER_LAYER + DECODER_LAYER - 2 * D) + V * (D + 1)),
        ),
        Mistake(
            "the biases of the cross-attention are lost",
            "Its four projections have a bias of D numbers each, as in any attention.",
            _formula((S + V) * D + M * (ENCODER_LAYER + DECODER_LAYER - 4 * D) + V * (D + 1)),
        ),
        Mistake(
            "one embedding in place of two",
            "Each language has its own embedding: S times D for the words that are read, V times D for those written.",
            _formula(S * D + M * (ENCODER_LAYER + DECODER_LAYER) + V * (D + 1)),
        ),
        Mistake(
            "the head is lost",
            "The head, from D to V, is the last part: V (D + 1) with its biases.",
            _formula((S + V) * D + M * (ENCODER_LAYER + DECODER_LAYER)),
        ),
        Mistake(
            "the head has no bias",
            "A Linear from D to V has V biases.",
            _formula((S + V) * D + M * (ENCODER_LAYER + DECODER_LAYER) + V * D),
        ),
        Mistake(
            "the head gives words of the source",
            "The model writes the target language: its head has V outputs, not S.",
            _formula((S + V) * D + M * (ENCODER_LAYER + DECODER_LAYER) + S * (D + 1)),
        ),
        Mistake(
            "the heads multiply the weights",
            "Heads share the rows of one matrix (notebook 05): A is not in the formula.",
            _formula((S + V) * D + M * (ENCODER_LAYER + DECODER_LAYER + 9 * (A - 1) * (D**2 + D)) + V * (D + 1)),
        ),
        Mistake(
            "M layers in the decoder only",
            "The encoder has M layers, and the decoder has M layers of its own.",
            _formula((S + V) * D + ENCODER_LAYER + M * DECODER_LAYER + V * (D + 1)),
        ),
    ],
)


# --- run_sweep --------------------------------------------------------------------------------------------------------

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
    lacks: int = -1,
    foreign: bool = False,
) -> Row:
    """Returns the inputs of a sweep of which `done` are finished.

    Args:
        changed: which of these had another value then, and of which entry.
        lacks: which of these has a row without its dropout.
        foreign: whether the table also has a row of another sweep.
    """
    *settings, other = _settings(rng, count + 1)
    finished = {other["name"]: {**other, **_result(rng)}} if foreign else {}
    finished |= {settings[n]["name"]: {**settings[n], **_result(rng)} for n in done}
    for n, entry in changed:
        finished[settings[n]["name"]][entry] += {"layers": 1, "width": 8, "dropout": 0.25}[entry]
    if lacks >= 0:
        del finished[settings[lacks]["name"]]["dropout"]
    results = [([setting], _result(rng)) for setting in settings]
    train_one = Recorded("train_one", results, stop_at)
    return {"inputs": (settings, train_one, finished, Recorded("save")), "changes": (2,)}


def _asks(of: str, *sweeps: dict[str, Any]) -> tuple[list[Ask], Callable[[random.Random], list[Ask]]]:
    """Returns the public questions and what draws those of grading; `of` is a part of the log, or "" for the result."""
    log: dict[str, Any] = {"take": "log", "beside": {"of": of}} if of else {}

    def draw(rng: random.Random) -> list[Ask]:
        return [Ask(**_sweep(rng, **sweep), **log) for sweep in sweeps]

    return draw(random.Random(12)), draw


RUN_SWEEP = Exercise(
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
            "Save the whole table right after each training, before the next one begins; let the interruption pass.",
            *_asks("saved", {"count": 5, "done": (1,), "stop_at": 3, "foreign": True}, {"count": 3}),
            measure="sweep",
        ),
        Stage(
            "a setting with other numbers than in its row is trained again",
            0.5,
            "Somebody has changed one entry of a setting that was finished, the layers, the width or the dropout, or a "
            "row has not all entries. It is about another model then: compare all entries of the setting with those "
            "of the row, not the name alone.",
            *_asks(
                "trained",
                {"count": 4, "done": (0, 1, 2, 3), "changed": [(1, "layers"), (2, "width"), (3, "dropout")]},
                {"count": 3, "done": (0, 2), "lacks": 2},
            ),
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
)


# --- diagnose ---------------------------------------------------------------------------------------------------------

Losses = list[float]


def diagnose(train_loss: Losses, dev_loss: Losses) -> str:
    if not train_loss[-1] <= 0.8 * train_loss[0]:
        return "fails to train"
    if dev_loss[-1] > 1.1 * min(dev_loss):
        return "overfits"
    if dev_loss[-1] < 0.95 * dev_loss[-2]:
        return "underfits"
    return "fits"


def _rule(change: Callable[[Losses, Losses], str | None]) -> Callable[[Losses, Losses], str]:
    """Returns what judges by `change` first, and by the right rule where that says nothing."""
    return lambda train_loss, dev_loss: change(train_loss, dev_loss) or diagnose(train_loss, dev_loss)


def _trains(train_loss: Losses) -> bool:
    return train_loss[-1] <= 0.8 * train_loss[0]


def _after_failure(train_loss: Losses, dev_loss: Losses) -> str:
    if dev_loss[-1] > 1.1 * min(dev_loss):
        return "overfits"
    return "underfits" if dev_loss[-1] < 0.95 * dev_loss[-2] else "fits"


def _published(train_loss: Losses, dev_loss: Losses) -> str | None:
    return None if _trains(train_loss) else "overfits"


def _failure_is_underfitting(train_loss: Losses, dev_loss: Losses) -> str | None:
    return None if _trains(train_loss) else "underfits"


def _nan_passes(train_loss: Losses, dev_loss: Losses) -> str:
    return "fails to train" if train_loss[-1] > 0.8 * train_loss[0] else _after_failure(train_loss, dev_loss)


def _gap(train_loss: Losses, dev_loss: Losses) -> str | None:
    return "overfits" if _trains(train_loss) and dev_loss[-1] > 1.1 * train_loss[-1] else None


def _any_rise(train_loss: Losses, dev_loss: Losses) -> str | None:
    return "overfits" if _trains(train_loss) and dev_loss[-1] > min(dev_loss) else None


def _from_the_first(train_loss: Losses, dev_loss: Losses) -> str | None:
    if not _trains(train_loss) or dev_loss[-1] > 1.1 * dev_loss[0]:
        return None
    return "underfits" if dev_loss[-1] < 0.95 * dev_loss[-2] else "fits"


def _from_the_one_before(train_loss: Losses, dev_loss: Losses) -> str | None:
    if not _trains(train_loss) or dev_loss[-1] > 1.1 * dev_loss[-2]:
        return None
    return "underfits" if dev_loss[-1] < 0.95 * dev_loss[-2] else "fits"


def _absolute(train_loss: Losses, dev_loss: Losses) -> str | None:
    if not _trains(train_loss):
        return None
    if dev_loss[-1] > min(dev_loss) + 0.1:
        return "overfits"
    return "underfits" if dev_loss[-1] < dev_loss[-2] - 0.05 else "fits"


def _still_falling_in_training(train_loss: Losses, dev_loss: Losses) -> str | None:
    if not _trains(train_loss) or dev_loss[-1] > 1.1 * min(dev_loss):
        return None
    return "underfits" if train_loss[-1] < 0.95 * train_loss[-2] else "fits"


def _any_fall(train_loss: Losses, dev_loss: Losses) -> str | None:
    good = _trains(train_loss) and dev_loss[-1] <= 1.1 * min(dev_loss)
    return "underfits" if good and dev_loss[-1] < dev_loss[-2] else None


def _fails_on_dev(train_loss: Losses, dev_loss: Losses) -> str:
    return "fails to train" if not dev_loss[-1] <= 0.8 * dev_loss[0] else _after_failure(train_loss, dev_loss)


def _no_failure(train_loss: Losses, dev_loss: Losses) -> str:
    return _after_failure(train_loss, dev_loss)


# The first training loss, and 80 % of it: the same to the last bit in whatever way the two are compared.
AT_80_PER_CENT = ((2.9, 2.32), (5.15, 4.12), (5.8, 4.64))


def _falling(start: float, end: float, epochs: int, speed: float) -> Losses:
    """Returns losses that fall from `start` to near `end` (the faster, the larger `speed`)."""
    return [round(end + (start - end) * math.exp(-speed * n), 3) for n in range(epochs)]


def _flat(rng: random.Random) -> tuple[Losses, Losses]:
    """A run that stays at the level of its first epoch; chance moves both losses a little."""
    level, epochs = rng.uniform(2.5, 5), rng.randint(6, 14)
    train, dev = ([round(level * rng.uniform(0.95, 1.02), 3) for _ in range(epochs)] for _ in range(2))
    train[0] = round(level * rng.uniform(1.0, 1.05), 3)
    dev[-1] = round(dev[-2] * rng.uniform(0.985, 1.0), 3)
    return train, dev


def _flat_and_uneven(rng: random.Random) -> tuple[Losses, Losses]:
    """A failed run whose dev loss jumps: at its end it is far above its lowest value."""
    train, dev = _flat(rng)
    dev[len(dev) // 2] = round(0.8 * min(dev), 3)
    return train, dev


def _up_and_down(rng: random.Random) -> tuple[Losses, Losses]:
    """A failed run whose training loss rises first and falls far once, and ends near its first value."""
    train, dev = _flat(rng)
    train[1], train[2] = round(1.4 * train[0], 3), round(0.7 * train[0], 3)
    return train, dev


def _not_a_number(rng: random.Random) -> tuple[Losses, Losses]:
    epochs, broken = rng.randint(6, 12), rng.randint(2, 4)
    train, dev = _falling(5, 1, epochs, 0.4), _falling(4.5, 1.2, epochs, 0.4)
    return train[:-broken] + [math.nan] * broken, dev[:-broken] + [math.nan] * broken


def _not_a_number_in_training(rng: random.Random) -> tuple[Losses, Losses]:
    """The training loss breaks in the last epoch, in which the dev loss is measured before the weights break."""
    train, dev = _good(rng)
    return [*train[:-1], math.nan], dev


def _good(rng: random.Random) -> tuple[Losses, Losses]:
    """Both have fallen and lie flat; there is a gap, and the dev loss is a little above its lowest."""
    epochs, low = rng.randint(12, 16), rng.uniform(0.5, 1)
    train = _falling(rng.uniform(4, 5), low * 0.7, epochs, 0.6)
    dev = _falling(rng.uniform(4, 5), low, epochs, 0.7)
    return train, [*dev[:-2], round(dev[-3] * 1.005, 3), round(dev[-3] * rng.uniform(1.02, 1.04), 3)]


def _good_and_quiet(rng: random.Random) -> tuple[Losses, Losses]:
    """Both fall a little to the very end, by less than 5 % in an epoch."""
    train, dev = _good(rng)
    return train, [*dev[:-2], round(dev[-3] * 0.995, 3), round(dev[-3] * rng.uniform(0.975, 0.985), 3)]


def _good_and_eager(rng: random.Random) -> tuple[Losses, Losses]:
    """The training loss still falls by more than 10 % in an epoch, the dev loss has nothing more to gain."""
    _, dev = _good(rng)
    speed = rng.uniform(0.14, 0.18)
    return [round(4.5 * math.exp(-speed * n), 3) for n in range(len(dev))], dev


def _good_and_high(rng: random.Random, last: float) -> tuple[Losses, Losses]:
    """A run with losses near 4, where a few per cent are much: the last dev loss is `last` times the one before."""
    epochs, low = rng.randint(9, 12), rng.uniform(3.8, 4.2)
    train, dev = _falling(8, low * 0.9, epochs, 0.7), _falling(8.5, low, epochs, 1.0)
    return train, [*dev[:-1], round(dev[-2] * last, 3)]


def _good_at_the_limit(rng: random.Random) -> tuple[Losses, Losses]:
    """The training loss has fallen to exactly 80 % of its first value."""
    first, last = rng.choice(AT_80_PER_CENT)
    train = [first, *sorted((round(rng.uniform(last, first), 2) for _ in range(rng.randint(3, 6))), reverse=True), last]
    _, dev = _good(rng)
    return train, dev


def _bent(rng: random.Random, rise: float) -> tuple[Losses, Losses]:
    """The training loss falls to nearly nothing, the dev loss falls and rises again to `rise` times its lowest."""
    down, up = rng.randint(4, 6), rng.randint(5, 8)
    low = rng.uniform(0.8, 1.2)
    dev = _falling(rng.uniform(4, 5), low, down, 1.0)
    dev += [round(dev[-1] * (1 + (rise - 1) * (n + 1) / up), 3) for n in range(up)]
    return _falling(5, 0.02, down + up, rng.uniform(0.4, 0.6)), dev


def _bent_and_falling(rng: random.Random) -> tuple[Losses, Losses]:
    """The dev loss has doubled and falls again, by more than 5 %; it is still far above its lowest."""
    train, dev = _bent(rng, 2.0)
    return train, [*dev, round(dev[-1] * rng.uniform(0.82, 0.88), 3)]


def _jump(rng: random.Random) -> tuple[Losses, Losses]:
    """The dev loss is at its lowest until the last epoch; the training loss is not low."""
    epochs, low = rng.randint(8, 12), rng.uniform(1.6, 2.0)
    dev = _falling(rng.uniform(4, 5), low, epochs, 0.8)
    return _falling(5, low * 0.8, epochs, 0.6), [*dev[:-1], round(dev[-2] * rng.uniform(1.25, 1.35), 3)]


def _unfinished(rng: random.Random) -> tuple[Losses, Losses]:
    epochs, speed = rng.randint(5, 9), rng.uniform(0.15, 0.2)
    train = [round(5 * math.exp(-speed * n), 3) for n in range(epochs)]
    return train, [round(1.15 * loss, 3) for loss in train]


Curves = Callable[[random.Random], tuple[Losses, Losses]]


def _curves(*kinds: Curves) -> tuple[list[Ask], Callable[[random.Random], list[Ask]]]:
    def draw(rng: random.Random) -> list[Ask]:
        return [Ask(kind(rng)) for kind in kinds]

    return draw(random.Random(63)), draw


DIAGNOSE = Exercise(
    diagnose,
    [
        Stage(
            "a flat training loss fails to train",
            1,
            "Look at the training loss first. While it has not fallen, the model has learned next to nothing, and what "
            "the dev loss does is of no interest.",
            *_curves(_flat, _flat_and_uneven, _up_and_down),
        ),
        Stage(
            "a dev loss that turns upwards overfits",
            1,
            "Compare the last dev loss with the lowest of the run, not with the first one or with the training loss.",
            *_curves(*(partial(_bent, rise=rise) for rise in (1.6, 1.3, 4.5)), _bent_and_falling, _jump),
        ),
        Stage(
            "a dev loss that still falls underfits",
            1,
            "Compare the last dev loss with the one before: is it lower by more than 5 %?",
            *_curves(_unfinished, _unfinished),
        ),
        Stage(
            "a run that is as it should be fits",
            0.5,
            "A gap between the two losses is usual, and a dev loss moves a little by chance: 10 % above its lowest is "
            "where overfitting begins.",
            *_curves(
                _good,
                _good_and_quiet,
                _good_and_eager,
                partial(_good_and_high, last=1.06),
                partial(_good_and_high, last=0.97),
                _good_at_the_limit,
            ),
        ),
        Stage(
            "a loss that is no longer a number fails to train",
            0.5,
            "With NaN, every comparison is False, also nan > 1. Ask whether it has fallen, not whether it is high.",
            *_curves(_not_a_number, _not_a_number_in_training),
        ),
    ],
    [
        Mistake(
            "a run that never trained is said to overfit",
            "This is the published mistake. Who overfits has learned the training set by heart: look first whether the "
            "training loss has fallen at all.",
            _rule(_published),
        ),
        Mistake(
            "a run that never trained is said to underfit",
            "An unfinished run still falls, and more epochs help it. A flat one needs a repair, not more epochs.",
            _rule(_failure_is_underfitting),
        ),
        Mistake(
            "there is no test for a failed run",
            "First ask whether the training loss has fallen to 80 % of its first value or below.",
            _no_failure,
        ),
        Mistake(
            "NaN goes unnoticed",
            "nan > 3 is False, and so is nan <= 3. Write the test the other way round: not (last <= 0.8 * first).",
            _nan_passes,
        ),
        Mistake(
            "the dev loss decides whether it trains",
            "Whether a model trains is seen on the training loss. A dev loss that ends high may also be overfitting.",
            _fails_on_dev,
        ),
        Mistake(
            "a gap is taken for overfitting",
            "The dev loss is nearly always above the training loss. It overfits when the dev loss *rises*.",
            _rule(_gap),
        ),
        Mistake(
            "any rise is taken for overfitting",
            "A dev loss moves a little by chance. Overfitting begins 10 % above the lowest one.",
            _rule(_any_rise),
        ),
        Mistake(
            "the last dev loss is compared with the first",
            "Even a run that overfits badly ends below its first dev loss. Compare with the lowest one.",
            _rule(_from_the_first),
        ),
        Mistake(
            "the last dev loss is compared with the one before, for overfitting",
            "A dev loss may rise by a few per cent in each of many epochs. Compare with the lowest of the run.",
            _rule(_from_the_one_before),
        ),
        Mistake(
            "margins in nats in place of per cent",
            "10 % of a loss of 4 are 0.4, of a loss of 1 they are 0.1. Compare with 1.1 times the lowest loss and with "
            "0.95 times the one before.",
            _rule(_absolute),
        ),
        Mistake(
            "underfitting is judged by the training loss",
            "The training loss goes on falling also when there is nothing more to gain. Look at the dev loss.",
            _rule(_still_falling_in_training),
        ),
        Mistake(
            "any fall is taken for underfitting",
            "A dev loss often falls by one or two per cent to the very end. Underfitting begins at 5 %.",
            _rule(_any_fall),
        ),
    ],
)


# --- warmup -----------------------------------------------------------------------------------------------------------


def warmup(step: int, warmup_steps: int, peak: float) -> float:
    return peak * min(step / warmup_steps, math.sqrt(warmup_steps / step))


def _at_steps(*asked: tuple[int, int, float]) -> list[Ask]:
    return [Ask(each) for each in asked]


def _draw_steps(low: float, high: float) -> Callable[[random.Random], list[Ask]]:
    """Draws steps between `low` and `high` times the length of the warm-up."""

    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for length in (rng.randint(4, 9), rng.randint(40, 900), rng.randint(40, 900)):
            step = max(2, round(length * rng.uniform(low, high)))
            asks.append(Ask((step, length, rng.uniform(0.4, 2))))
        return asks

    return draw


WARMUP = Exercise(
    warmup,
    [
        Stage(
            "at the end of the warm-up: the peak",
            0.5,
            "At step = warmup_steps both branches give the peak itself.",
            _at_steps((4, 4, 1.0), (100, 100, 0.5)),
            _draw_steps(1, 1),
            tolerance=1e-6,
        ),
        Stage(
            "before: a straight line",
            1,
            "With 4 steps of warm-up: a quarter of the peak at step 1, a half at step 2, three quarters at step 3.",
            _at_steps((1, 4, 1.0), (2, 4, 1.0), (30, 100, 0.5)),
            _draw_steps(0.1, 0.8),
            tolerance=1e-6,
        ),
        Stage(
            "after: falling like one over the square root",
            1,
            "Four times as many steps as the warm-up, half of the peak.",
            _at_steps((16, 4, 1.0), (250, 100, 0.5)),
            _draw_steps(1.4, 9),
            tolerance=1e-6,
        ),
        Stage(
            "step 1 already learns a little",
            0.5,
            "Steps are counted from 1: the first rate is peak / warmup_steps, not 0.",
            _at_steps((1, 50, 1.0), (1, 1, 0.5)),
            lambda rng: _at_steps((1, rng.randint(20, 400), rng.uniform(0.4, 2)), (1, 1, rng.uniform(0.4, 2))),
            tolerance=1e-6,
        ),
    ],
    [
        Mistake(
            "the larger of the two branches is taken",
            "The rate is the smaller of the two: max gives a huge rate at step 1, just where it must be small.",
            lambda step, warm, peak: peak * max(step / warm, math.sqrt(warm / step)),
        ),
        Mistake(
            "it stays at the peak",
            "After the warm-up the rate falls: peak * sqrt(warmup_steps / step).",
            lambda step, warm, peak: peak * min(step / warm, 1),
        ),
        Mistake(
            "it falls like one over the step",
            "It falls with the square root: at four times the warm-up, half of the peak is left, not a quarter.",
            lambda step, warm, peak: peak * min(step / warm, warm / step),
        ),
        Mistake(
            "there is no warm-up",
            "Only the falling branch is there, so the rate is highest at step 1.",
            lambda step, warm, peak: peak * math.sqrt(warm / step),
        ),
        Mistake(
            "it jumps at the end of the warm-up",
            "1 / sqrt(step) must be scaled so that it meets the line at the peak: sqrt(warmup_steps / step).",
            lambda step, warm, peak: peak * (step / warm if step <= warm else step**-0.5),
        ),
        Mistake(
            "it starts to fall from the peak as if the warm-up had not been",
            "The square root counts from step 0, not from the end of the warm-up: sqrt(warmup_steps / step).",
            lambda step, warm, peak: peak * (step / warm if step <= warm else (step - warm + 1) ** -0.5),
        ),
        Mistake(
            "steps are counted from 0",
            "At step 1 nothing would be learned, and the peak would come late: the line is step / warmup_steps.",
            lambda step, warm, peak: peak * min((step - 1) / warm, math.sqrt(warm / step)),
        ),
        Mistake(
            "the first step has number 0",
            "The caller counts steps from 1 already: take step as it is.",
            lambda step, warm, peak: peak * min((step + 1) / warm, math.sqrt(warm / (step + 1))),
        ),
        Mistake(
            "the peak is forgotten",
            "Both branches are factors between 0 and 1: multiply the smaller one by the peak.",
            lambda step, warm, peak: min(step / warm, math.sqrt(warm / step)),
        ),
        Mistake(
            "the formula of the paper without a peak",
            "min(step^-0.5, step * warmup^-1.5) has its own highest value, warmup^-0.5. Divide by that, and multiply "
            "by the peak.",
            lambda step, warm, peak: min(step**-0.5, step * warm**-1.5),
        ),
        Mistake(
            "the formula of the paper times the peak",
            "min(step^-0.5, step * warmup^-1.5) is at most warmup^-0.5, not 1: multiply by sqrt(warmup_steps) as well.",
            lambda step, warm, peak: peak * min(step**-0.5, step * warm**-1.5),
        ),
    ],
)


# --- choose_setting ---------------------------------------------------------------------------------------------------

Scores = dict[str, Row]


def _mean(row: Row, part: str = "dev_bleu") -> float:
    return float(statistics.mean(row[part]))


def _standard_error(row: Row) -> float:
    return float(statistics.stdev(row["dev_bleu"]) / math.sqrt(len(row["dev_bleu"])))


def choose_setting(scores: Scores) -> str:
    best = max(scores.values(), key=_mean)
    limit = _mean(best) - _standard_error(best)
    return min((name for name in scores if _mean(scores[name]) >= limit), key=lambda name: scores[name]["parameters"])


def _smallest_above(scores: Scores, limit: Callable[[Row, Row], float], part: str = "dev_bleu") -> str:
    """Returns the smallest setting whose mean is not below `limit(best row, its own row)`."""
    best = max(scores.values(), key=lambda row: _mean(row, part))
    near = [name for name, row in scores.items() if _mean(row, part) >= limit(best, row)]
    return min(near, key=lambda name: scores[name]["parameters"])


def _on_test(scores: Scores) -> str:
    def limit(best: Row, _: Row) -> float:
        return _mean(best, "test_bleu") - float(statistics.stdev(best["test_bleu"])) / math.sqrt(len(best["test_bleu"]))

    return _smallest_above(scores, limit, "test_bleu")


def _highest(part: str, of: Callable[[list[float]], float]) -> Callable[[Scores], str]:
    return lambda scores: max(scores, key=lambda name: of(scores[name][part]))


def _without_root(scores: Scores) -> str:
    return _smallest_above(scores, lambda best, _: _mean(best) - statistics.stdev(best["dev_bleu"]))


def _divided_by_n(scores: Scores) -> str:
    def limit(best: Row, _: Row) -> float:
        return _mean(best) - float(statistics.pstdev(best["dev_bleu"])) / math.sqrt(len(best["dev_bleu"]))

    return _smallest_above(scores, limit)


def _another_root(scores: Scores) -> str:
    return _smallest_above(
        scores, lambda best, _: _mean(best) - float(statistics.stdev(best["dev_bleu"])) / math.sqrt(len(scores))
    )


def _three_runs(scores: Scores) -> str:
    means = {name: sum(row["dev_bleu"]) / 3 for name, row in scores.items()}
    best = max(means, key=lambda name: means[name])
    limit = means[best] - float(statistics.stdev(scores[best]["dev_bleu"])) / math.sqrt(3)
    return min((name for name in scores if means[name] >= limit), key=lambda name: scores[name]["parameters"])


def _own_error(scores: Scores) -> str:
    return _smallest_above(scores, lambda best, own: _mean(best) - _standard_error(own))


def _best_run(scores: Scores) -> str:
    best = max(scores.values(), key=lambda row: max(row["dev_bleu"]))
    limit = max(best["dev_bleu"]) - _standard_error(best)
    near = [name for name, row in scores.items() if max(row["dev_bleu"]) >= limit]
    return min(near, key=lambda name: scores[name]["parameters"])


def _largest_near(scores: Scores) -> str:
    best = max(scores.values(), key=_mean)
    limit = _mean(best) - _standard_error(best)
    return max((name for name in scores if _mean(scores[name]) >= limit), key=lambda name: scores[name]["parameters"])


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


Settings = tuple[int, list[tuple[int, float, float, float, float]]]


def _scores(rng: random.Random, settings: Settings, largest_first: bool) -> Ask:
    """Returns the question for a number of runs and rows of size, dev BLEU, its deviation, test BLEU and an outlier."""
    n, rows = settings
    names = rng.sample(["shallow", "wide", "deep", "narrow", "tall", "plain"], len(rows))
    base, unit = rng.uniform(30, 60), rng.choice([1.2, 1.3, 1.4])
    made = [
        {
            "parameters": size * rng.randint(90, 110) * 1000,
            "dev_bleu": _runs(n, base + unit * dev, unit * spread, unit * outlier),
            "test_bleu": _runs(n, base - 1 + unit * test, unit),
        }
        for size, dev, spread, test, outlier in sorted(rows, reverse=largest_first)
    ]
    return Ask((dict(zip(names, made, strict=True)),))


# number of runs; size, dev BLEU, its standard deviation, test BLEU, how much is added to one run
CLEAR = 5, [(1, 0.0, 1.0, 1.0, 0.0), (3, 8.0, 1.0, 2.0, 0.0), (6, 3.0, 1.0, 9.0, 0.0)]
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
EQUAL = 5, [(1, 5.0, 1.0, 0.0, 0.0), (3, 10.0, 0.0, 3.0, 0.0), (6, 8.0, 1.0, 5.0, 0.0)]


def _choices(*tables: Settings) -> tuple[list[Ask], Any]:
    """Returns the public questions and what draws those of grading; every second begins with the smallest setting."""

    def draw(rng: random.Random) -> list[Ask]:
        return [_scores(rng, table, largest_first=n % 2 == 0) for n, table in enumerate(tables)]

    return draw(random.Random(5)), draw


CHOOSE_SETTING = Exercise(
    choose_setting,
    [
        Stage(
            "one setting is clearly the best",
            1,
            "The mean of dev_bleu decides; the test part is for the report, and nothing is chosen on it.",
            *_choices(CLEAR),
        ),
        Stage(
            "two are equally good: the smaller one",
            1,
            "Everything that is at most one standard error below the best mean is as good; take the fewest parameters.",
            *_choices(NEAR, NEAR),
        ),
        Stage(
            "one standard error, of the best setting",
            1,
            "The standard error is that of the best setting's mean: its standard deviation (with n - 1) divided by the "
            "root of n, its number of runs. Use means, not single runs.",
            *_choices(BETWEEN, OWN, LUCKY, UNLUCKY, DIVISOR, ROOT, THREE, EQUAL),
        ),
    ],
    [
        Mistake(
            "the choice is made on test",
            "Who chooses on test has no honest figure left to report: the chosen setting's test score is too good.",
            _on_test,
        ),
        Mistake(
            "the highest mean wins, however close the others are",
            "The difference may be chance: take the smallest setting within one standard error of the best.",
            _highest("dev_bleu", statistics.mean),
        ),
        Mistake(
            "the highest test score wins",
            "Nothing is chosen on test; use dev_bleu, and the smallest setting within one standard error.",
            _highest("test_bleu", statistics.mean),
        ),
        Mistake(
            "the best single run decides",
            "One lucky seed says little: compare means over the seeds.",
            _best_run,
        ),
        Mistake(
            "the highest single run wins",
            "One lucky seed says little: compare means, and allow for one standard error.",
            _highest("dev_bleu", max),
        ),
        Mistake(
            "the standard deviation is taken for the standard error",
            "The mean of n runs moves less than a single run: divide the standard deviation by the root of n.",
            _without_root,
        ),
        Mistake(
            "the standard deviation is divided by n",
            "A few runs lie closer to their own mean than to the true one: divide by n - 1 (numpy wants ddof=1).",
            _divided_by_n,
        ),
        Mistake(
            "the standard deviation is divided by the root of something else than n",
            "n is the number of runs of the best setting: not n - 1, not the number of settings, and not always 3.",
            _another_root,
        ),
        Mistake(
            "every setting is taken to have three runs",
            'The number of runs is len(row["dev_bleu"]): divide the sum by it for the mean, the standard deviation '
            "by its root.",
            _three_runs,
        ),
        Mistake(
            "each setting brings its own standard error",
            "A setting that varies a lot would allow itself the most. The margin is that of the best setting.",
            _own_error,
        ),
        Mistake(
            "the largest of the equally good ones",
            "When settings are equally good, take the smallest: it is cheaper to train and to use.",
            _largest_near,
        ),
        Mistake(
            "the smallest setting wins, however bad",
            "Small is a virtue only among the settings that are as good as the best.",
            lambda scores: min(scores, key=lambda name: scores[name]["parameters"]),
        ),
        Mistake(
            "the scores are returned in place of the name",
            "Return the name of the chosen setting.",
            lambda scores: scores[choose_setting(scores)],
        ),
    ],
)

EXERCISES = [TRANSLATOR_TOTAL, RUN_SWEEP, DIAGNOSE, WARMUP, CHOOSE_SETTING]
