"""Runs the cells of a notebook that use an exercise with each right answer of its bank: none of them may stop.

    python -m tests.notebooks.next_cells 05                              one notebook, in this process
    python -m tests.notebooks.next_cells 05 --file FOLDER/EXERCISE.py    other answers than the bank's, in its form

The notebook runs once, with its own solutions. What a cell has bound is kept, so that an answer begins where its
exercise stands: in a fork of the process, which runs only the cells that use the exercise or what such a cell has made,
and takes the rest as it was. Corpora are cut, steps of training after the first few only counted, and loops that train
cut short; a cell that cannot do without runs in full, and one for which the solution takes too long is not asked.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import os
import pickle
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from types import CodeType
from typing import Any

from matplotlib import pyplot

from grading.authoring import bank
from grading.authoring import source as sources
from grading.authoring.bank import BankAnswer
from helpers import checkpoints, corpora, plots, training
from tests.helpers.notebooks_on_device import ROOT, RUN
from tutor.checking.clock import TooSlow, time_limit

ROWS = 1_000  # of each part of a corpus
STEPS = 2  # of a training that are made; the others are counted
SECONDS = 8.0  # CPU seconds for one cell with the notebook's own solution
PATIENCE = 4.0  # times as long may an answer take, and a second more
IN_ALL = 4.0  # CPU seconds: an answer that has used so much is asked no further cell
Variables = dict[str, Any]


@dataclass
class Cell:
    """A code cell: what it reads, and, once it has run, what it has bound and how long that took."""

    cell: sources.Cell
    codes: list[CodeType]  # cut short, and as it stands
    reads: set[str]
    binds: Variables = field(default_factory=dict)
    seconds: float = 0.0
    stopped: str = ""  # why it was not run to its end


@dataclass(frozen=True)
class Found:
    """What became of an answer: the lines of the cells that were run, and where one stopped."""

    answer: str
    lines: list[int]
    stopped: str = ""


class _Short(ast.NodeTransformer):
    """Cuts the loops that train."""

    def visit_For(self, node: ast.For) -> ast.For:
        self.generic_visit(node)
        calls = (part.func for part in ast.walk(node) if isinstance(part, ast.Call))
        if any(isinstance(called, ast.Attribute) and called.attr == "backward" for called in calls):
            node.iter = ast.Call(ast.Name("_few", ast.Load()), [node.iter], [])
        return node


def _prepared(cell: sources.Cell) -> Cell:
    lines = "\n" * cell.line + cell.source  # so that lines are those of the file
    tree = ast.parse(lines)
    reads = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return Cell(cell, [_cut(lines, "<notebook>"), compile(tree, "<notebook>", "exec")], reads)


def _cut(text: str, name: str) -> CodeType:
    return compile(ast.fix_missing_locations(_Short().visit(ast.parse(text))), name, "exec")


def _few(values: Any) -> Iterator[Any]:
    return islice(values, STEPS)


def cut_short() -> None:
    """Makes corpora small, and lets a training make a few steps and count the others."""
    load, take_step = corpora.load, training.take_step

    def load_few(name: str, drop_copies: bool = False) -> corpora.Corpus:
        corpus = load(name, drop_copies)
        parts = {part: replace(split, rows=split.rows.head(ROWS)) for part, split in corpus.parts.items()}
        return replace(corpus, parts=parts)

    def count(run: checkpoints.Run, *arguments: Any) -> None:
        if run.step < STEPS or run.totals.count == 0:
            take_step(run, *arguments)
        else:
            run.batch, run.step = run.batch + 1, run.step + 1

    corpora.load = load_few
    training.take_step = count  # type: ignore[assignment]
    plots.show = lambda figure, *arguments, **options: pyplot.close(figure)  # to draw it takes longer than the rest


def _run(cell: Cell, variables: Variables, seconds: float) -> None:
    """Runs a cell.

    Raises:
        TooSlow: when it has used up its time.
        Exception: what the cell raises, when it stops cut short and as it stands.
    """
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        before = dict(variables)
        with time_limit(seconds, "cpu"):
            try:
                exec(cell.codes[0], variables)
            except Exception:  # noqa: BLE001 - a cell can end in any way
                variables.clear()
                variables.update(before)
                exec(cell.codes[1], variables)


def run_with_solutions(notebook: str) -> tuple[list[Cell], Variables]:
    """Runs a notebook once with its own solutions; returns its code cells, and the dictionary they have run in."""
    pyplot.switch_backend("Agg")
    variables: Variables = {"__name__": "__main__", "display": print, "_few": _few}
    cells = [_prepared(cell) for cell in sources.read(ROOT / "solutions" / f"{notebook}.py") if cell.kind in RUN]
    for cell in cells:
        before, begun = dict(variables), time.process_time()
        try:
            _run(cell, variables, SECONDS)
        except TooSlow:
            cell.stopped = "takes too long"
        except Exception as problem:  # noqa: BLE001 - what it needs may be missing where all is cut short
            cell.stopped = f"{type(problem).__name__}: {problem}"
        cell.seconds = time.process_time() - begun
        cell.binds = {name: value for name, value in variables.items() if before.get(name, before) is not value}
        pyplot.close("all")
    return cells, variables


def run_with(answer: BankAnswer, cells: Sequence[Cell], variables: Variables) -> Found:
    """Runs what uses an exercise with an answer, in the dictionary of which all functions are; it is not put back."""
    at = next(n for n, cell in enumerate(cells) if cell.cell.kind == "exercise" and cell.cell.name == answer.exercise)
    variables.clear()
    variables.update({"__name__": "__main__", "display": print, "_few": _few})
    for cell in cells[:at]:
        variables.update(cell.binds)
    exec(_cut(answer.source, f"<bank {answer.label}>"), variables)
    changed, lines, end = {answer.exercise}, list[int](), time.process_time() + IN_ALL
    for cell in cells[at + 1 :]:
        if not cell.reads & changed:
            variables.update(cell.binds)
            changed -= cell.binds.keys()
            continue
        if cell.cell.kind == "setup":  # what it defines calls the answer, as it stands
            variables.update(cell.binds)
            changed |= cell.binds.keys()
            continue
        if cell.stopped:
            variables.update(cell.binds)
            continue
        if time.process_time() > end:
            break
        before = dict(variables)
        try:
            _run(cell, variables, PATIENCE * cell.seconds + 1)
        except TooSlow:
            return Found(answer.label, lines)  # how fast it is, is not asked here
        except Exception as problem:  # noqa: BLE001 - that is what is looked for
            kind = f"line {cell.cell.line}: {type(problem).__name__}: {problem}"
            return Found(answer.label, lines, f"{kind}\n{traceback.format_exc(limit=-4)}")
        changed |= {name for name, value in variables.items() if before.get(name, before) is not value}
        lines.append(cell.cell.line)
    return Found(answer.label, lines)


def in_a_fork(answer: BankAnswer, cells: Sequence[Cell], variables: Variables) -> Found:
    """Does what `run_with` does in a process of its own, which leaves nothing behind."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        status = 1
        try:
            found = run_with(answer, cells, variables)
            with open(writing, "wb") as file:
                pickle.dump(found, file)
            status = 0
        except BaseException:  # noqa: BLE001 - the process ends here in any case
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(writing)
    with open(reading, "rb") as file:
        data = file.read()
    os.waitpid(child, 0)
    return pickle.loads(data) if data else Found(answer.label, [], "the process that ran it has died")


def report(notebook: str, answers: Sequence[BankAnswer]) -> dict[str, Any]:
    """Returns what became of the cells of a notebook, and of each answer."""
    cut_short()
    begun = time.process_time()
    cells, variables = run_with_solutions(notebook)
    once = time.process_time() - begun
    found = [in_a_fork(answer, cells, variables) for answer in answers]
    return {
        "seconds": [once, os.times().children_user + os.times().children_system],
        "cells": [[cell.cell.line, cell.cell.name, round(cell.seconds, 2), cell.stopped] for cell in cells],
        "used": {
            cell.cell.name: [
                other.cell.line for other in cells if other.cell.line > cell.cell.line and cell.cell.name in other.reads
            ]
            for cell in cells
            if cell.cell.kind == "exercise"
        },
        "answers": [[one.answer, one.lines, one.stopped] for one in found],
    }


def main(arguments: Sequence[str]) -> int:
    """Prints the report on one notebook as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("number", help="such as 05")
    parser.add_argument("--file", type=Path, help="answers to one exercise, called as it is, in place of the bank")
    options = parser.parse_args(arguments)
    (path,) = (ROOT / "solutions").glob(f"{options.number}_*.py")
    if options.file:
        answers = [replace(one, notebook=path.stem) for one in bank.read(options.file)]
    else:
        answers = [answer for answer in bank.answers(path.stem) if answer.right]
    print(json.dumps(report(path.stem, answers)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
