"""Say what is wrong with a notebook file, and write a mended copy beside it; never over the original.

Works on a student's copy of the course too: it compares with the released notebook, and runs nothing. The copy is the
released notebook with the student's answers and own cells in it, so whatever was copied, split, retyped, moved or
deleted is as it should be.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grading.classroom.rescue import HALF, BeyondMendingError, Cell, load
from grading.folder.course import ROOT
from grading.folder.errors import CourseError
from grading.notebooks import assignments as released
from grading.notebooks.answers import Reading, join, read_cells
from grading.notebooks.cells import bare, defines, grade_id, is_stub, kind, settings, text
from grading.notebooks.essay_cells import read_essays
from tutor.files import write_new

LARGE_OUTPUT = 1 << 20  # bytes of one cell; larger ones are left out of the copy
LARGE_FILE = 10 << 20  # many sites for handing in refuse more
FLAGS = ("grade", "solution", "locked", "points")


@dataclass
class Diagnosis:
    """What was found: `problems` are mended in `notebook`, `advice` is for the student to follow.

    `lost` are the cells that a `damaged` file no longer has.
    """

    assignment: str = ""
    problems: list[str] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)
    notebook: dict[str, Any] = field(default_factory=dict)
    damaged: bool = False
    lost: list[str] = field(default_factory=list)


# --- the cells --------------------------------------------------------------------------------------------------------


def _rebuild(student: Sequence[Cell], master: Sequence[Cell], found: Diagnosis) -> list[Cell]:
    """Returns the released cells with the student's answers in them, and the student's own cells where they stood.

    What counts as an answer is what the autograder takes for one (`grading.notebooks.answers`).
    """
    student = _without_halves(student, master)
    _put_ids_back(student, master, found)
    reading = read_cells(student, master)
    moved = _find_moved(reading, master)
    own, extra = _sort_cells(student, master, moved)
    for name, cell in reading.elsewhere.items():
        found.problems.append(f"{name} stands in another cell than its own; it is put into its own")
        if name not in moved:  # it stays where it is, too: what stands before it may fail, or it holds two answers
            own[name] = [*own.get(name, []), cell]
    for name, parts in own.items():  # a cell still to be written, joined behind an answer, would take its place
        own[name] = [one for one in parts if not is_stub(text(one), reading.given)] or parts
    order = [one["id"] for one in master]
    if list(own) != sorted(own, key=order.index):
        found.problems.append("its cells are not in their order; they are put back")
    made = extra.get("", [])
    for one in master:
        made.append(_mend(one, own.get(one["id"], []), found))
        made += extra.get(one["id"], [])
    if found.lost:
        found.problems.append(f"lost with the damage: {', '.join(found.lost)}; the cells are put back as released")
    return made


def _put_ids_back(student: Sequence[Cell], master: Sequence[Cell], found: Diagnosis) -> None:
    """Gives cells that lost their grading information it again, where no other cell has it."""
    lost = {grade_id(one): settings(one) for one in master if grade_id(one)}
    for cell in student:
        lost.pop(grade_id(cell), None)
    stripped = [(cell, str(cell.get("id", ""))) for cell in student if str(cell.get("id", "")) in lost]
    for cell, name in stripped:
        cell["metadata"]["nbgrader"] = dict(lost[name])
    if stripped:
        names = ", ".join(name for _, name in stripped)
        found.problems.append(f"the grading information of {names} was lost; it is put back")


def _without_halves(student: Sequence[Cell], master: Sequence[Cell]) -> list[Cell]:
    """Returns the cells but for beginnings of texts and experiments of the course, which are put back as a whole."""
    given = [bare(text(one)) for one in master]

    def is_half(cell: Cell) -> bool:
        cut = bool(cell["metadata"].pop(HALF, False)) and not grade_id(cell)
        return cut and any(one.startswith(bare(text(cell))) for one in given)

    return [cell for cell in student if not is_half(cell)]


def _find_moved(reading: Reading, master: Sequence[Cell]) -> dict[str, Cell]:
    """Returns the cells that hold the answers to exercises whose own cells are deleted or as released.

    Not the own cell of another exercise, which may hold two answers.
    """
    stubs = {grade_id(one): bare(text(one)) for one in master}
    return {
        name: cell
        for name, cell in reading.elsewhere.items()
        if all(bare(text(one)) == stubs[name] for one in reading.own.get(name, []))
        and grade_id(cell) not in reading.own
    }


def _sort_cells(
    student: Sequence[Cell], master: Sequence[Cell], moved: Mapping[str, Cell]
) -> tuple[dict[str, list[Cell]], dict[str, list[Cell]]]:
    """Returns the student's cells by the released cell that they belong to, and the further ones by that they follow.

    Args:
        student: the student's cells.
        master: the released cells.
        moved: the answers that stand in another cell than their own, by exercise.
    """
    given = {one["id"]: bare(text(one)) for one in master}
    by_text = {source: identifier for identifier, source in given.items()}
    kinds = {one["id"]: kind(one) for one in master}
    there = {grade_id(cell) for cell in student}
    own, extra, last = dict[str, list[Cell]](), dict[str, list[Cell]](), ""
    for cell in student:
        names = [name for name, answer in moved.items() if answer is cell]
        for name in names:
            last = last if name in own else name
            own[name] = [cell]
        if names:
            continue
        name, source = grade_id(cell), bare(text(cell))
        place = name if kinds.get(name) else str(cell.get("id", ""))
        if place not in given or (kinds[place] and place != name):
            place = by_text.get(source, "")
        if kinds.get(place) in ("solution", "essay") and place != name and place in there:
            place = ""  # the released text again, beside the answer
        if place and not kinds[place] and place in own:
            if source == given[place]:
                continue
            place = ""
        if place:
            own.setdefault(place, [])
            own[place] += [] if place in moved else [cell]
            last = place
        elif source:
            cell["metadata"].pop("nbgrader", None)  # of another notebook, or of nobody
            extra.setdefault(last, []).append(cell)
    return own, extra


def _mend(master: Cell, student: Sequence[Cell], found: Diagnosis) -> Cell:
    """Returns a released cell with the student's text in it where it is the student's to write."""
    made = copy.deepcopy(master)
    name, what = grade_id(master), kind(master)
    if not student:
        _report_missing(name, what, found)
        return made
    first = student[0]
    if what in ("check", "setup"):
        if len(student) > 1:
            found.problems.append(f"the cell {name} stands {len(student)} times; once is kept")
        if bare(text(first)) != bare(text(master)) or first.get("cell_type") != master["cell_type"]:
            found.problems.append(f"the cell {name}, which is not to be changed, was changed; it is put back")
    elif what in ("solution", "essay"):
        made["source"] = _join_parts(name, student, master["cell_type"], found)
        if grade_id(first) and any(settings(first).get(flag) != settings(master).get(flag) for flag in FLAGS):
            found.problems.append(f"the grading information of {name} was changed; it is put back")
    else:  # text or an experiment of the course: the student's notes in it stay
        made["source"] = text(first)
        if first.get("cell_type") in ("code", "markdown", "raw"):
            made["cell_type"] = first["cell_type"]
    _take_outputs(made, first)
    return made


def _report_missing(name: str, what: str, found: Diagnosis) -> None:
    """Reports that the student's file has not the released cell of a name; `what` is the kind of cell."""
    if what and found.damaged:
        found.lost.append(name)
    elif what in ("solution", "essay"):
        found.problems.append(f"the cell of {name} was deleted; an empty one is put back")
    elif what in ("check", "setup"):
        found.problems.append(f"the cell {name} was deleted; it is put back")


def _take_outputs(made: Cell, theirs: Cell) -> None:
    if made["cell_type"] != "code":
        made.pop("outputs", None)
        made.pop("execution_count", None)
        return
    count = theirs.get("execution_count")
    made["outputs"] = [one for one in theirs.get("outputs", []) if isinstance(one, dict)]
    made["execution_count"] = count if isinstance(count, int) else None


def _join_parts(name: str, student: Sequence[Cell], cell_type: str, found: Diagnosis) -> str:
    """Returns the text of an answer: all its cells in their order, or one of them where all are the same."""
    sources = [text(cell).strip("\n") for cell in student]
    if any(cell.get("cell_type") != cell_type for cell in student):
        wanted = "a code cell" if cell_type == "code" else "a text (Markdown) cell"
        found.problems.append(f"the cell of {name} is no longer {wanted}; it is made one again")
    if len(student) > 1 and len(set(sources)) == 1:
        found.problems.append(f"the cell of {name} stands {len(student)} times, each time the same; once is kept")
        return sources[0]
    if len(student) > 1:
        how = "was split or copied with changes"
        found.problems.append(f"the cell of {name} {how}: its {len(student)} parts are joined in their order")
    return join(sources)


def _advise(cells: Sequence[Cell], master: Sequence[Cell], found: Diagnosis) -> None:
    """Tells the student what a mended copy cannot put right: answers that are missing or cannot run."""
    stubs = {grade_id(cell): bare(text(cell)) for cell in master if kind(cell) in ("solution", "essay")}
    essays, open_ones = read_essays(cells, master), []
    for cell in cells:
        name, source = grade_id(cell), text(cell)
        if name not in stubs:
            continue
        if bare(source) in (stubs[name], ""):
            if name in essays and essays[name].text:
                where = "; ".join(essays[name].notes)
                found.advice.append(f"{name} {where}: it is read there, and better put into its own cell")
            else:
                open_ones.append(name)
            continue
        if re.search(r"^(<{7} |>{7} |={7}$)", source, re.MULTILINE):
            found.advice.append(f"the cell of {name} holds merge-conflict markers; choose one version")
        elif cell["cell_type"] == "code":
            trouble = _syntax(source)
            if trouble:
                found.advice.append(f"the cell of {name} is not valid Python ({trouble})")
            elif not defines(source, name):
                found.advice.append(f"the cell of {name} does not define {name}")
    if open_ones:
        found.advice.append(f"not answered yet: {', '.join(open_ones)}")


def _syntax(source: str) -> str:
    plain = re.sub(r"^(\s*)[%!].*$", r"\1pass", source, flags=re.MULTILINE)
    try:
        ast.parse(plain)
    except SyntaxError as problem:
        return f"line {problem.lineno}: {problem.msg}"
    except (ValueError, RecursionError, MemoryError) as problem:
        return str(problem) or "too deeply nested"
    return ""


def _slim(cells: list[Cell], found: Diagnosis) -> None:
    total = 0
    for number, cell in enumerate(cells, 1):
        size = len(json.dumps(cell.get("outputs", [])))
        total += size
        if size > LARGE_OUTPUT:
            place = grade_id(cell) or f"number {number}"
            found.problems.append(f"the outputs of cell {place} have {size / (1 << 20):.1f} MB; they are left out")
            cell["outputs"] = []
    if total > LARGE_FILE:
        found.problems.append(f"its outputs have {total >> 20} MB in all; they are left out (run the cells again)")
        for cell in cells:
            if "outputs" in cell:
                cell["outputs"] = []


def diagnose(path: Path, assignment: str = "", course: Path = ROOT, data: bytes | None = None) -> Diagnosis:
    """Returns what is wrong with a file, with a mended notebook.

    Args:
        path: the file.
        assignment: what it is for, where neither its name nor its cells show it.
        course: the folder of the course.
        data: what is in the file, where it is not on the disk.

    Raises:
        BeyondMendingError: when nothing can be saved.
    """
    file = load(path, data)
    masters = released.notebooks(course)
    known = list(masters)
    if not known:
        raise BeyondMendingError("there are no released notebooks to compare with; run it in a copy of the course.")
    if assignment and assignment not in masters:
        raise BeyondMendingError(f"no assignment is called {assignment!r}; expected one of: {', '.join(known)}.")
    inside = released.by_content(file.cells, course)
    named = released.by_name(path.name, known)
    found = Diagnosis(assignment or inside or named, file.problems, file.advice, damaged=file.damaged)
    if not found.assignment:
        raise BeyondMendingError(
            f"neither the name nor the cells of {path.name} tell which notebook of the course it is; say it: "
            f"python -m grading doctor {path.name} {known[0]}"
        )
    if inside and named and inside != named:
        found.problems.append(f"it is called like {named}, but its cells are those of {inside}")
    if path.name != f"{found.assignment}.ipynb":
        found.advice.append(f"its name is {path.name!r}; hand it in as {found.assignment}.ipynb")
    master = masters[found.assignment]
    _report_kernel(file.metadata, found)
    cells = _rebuild(file.cells, master["cells"], found)
    _advise(cells, master["cells"], found)
    _slim(cells, found)
    found.notebook = {
        "cells": [_normalise(cell, number) for number, cell in enumerate(cells)],
        "metadata": copy.deepcopy(master["metadata"]),
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    _unique_ids(found.notebook["cells"])
    return found


def _report_kernel(metadata: dict[str, Any], found: Diagnosis) -> None:
    kernel, language = metadata.get("kernelspec"), metadata.get("language_info")
    name = kernel.get("name") if isinstance(kernel, dict) else None
    language_name = (language.get("name") if isinstance(language, dict) else None) or (
        kernel.get("language") if isinstance(kernel, dict) else None
    )
    if isinstance(language_name, str) and language_name.casefold() not in ("python", "ipython"):
        found.problems.append(f"its kernel is for {language_name[:40]}; it is set to Python 3")
    elif isinstance(name, str) and name != "python3":
        found.problems.append(f"its kernel is {name[:60]!r}, which others do not have; it is set to python3")


def _normalise(cell: Cell, number: int) -> Cell:
    """Returns a cell with the keys of format 4.5, and its source with newlines as they should be."""
    cell_type = cell.get("cell_type") if cell.get("cell_type") in ("code", "markdown", "raw") else "raw"
    made: Cell = {
        "cell_type": cell_type,
        "id": str(cell.get("id") or f"own-{number}"),
        "metadata": cell["metadata"],
        "source": text(cell).splitlines(keepends=True),
    }
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", made["id"]):
        made["id"] = f"own-{number}"
    if cell_type == "code":
        made |= {"execution_count": cell.get("execution_count"), "outputs": cell.get("outputs", [])}
    elif isinstance(cell.get("attachments"), dict):
        made["attachments"] = cell["attachments"]
    return made


def _unique_ids(cells: list[Cell]) -> None:
    seen = {cell["id"] for cell in cells if kind(cell)}
    for number, cell in enumerate(cells):
        if not kind(cell) and cell["id"] in seen:
            cell["id"] = f"own-{number}-{len(seen)}"
        seen.add(cell["id"])


# --- the command ------------------------------------------------------------------------------------------------------


def _names(path: Path) -> Iterator[Path]:
    yield path.with_name(f"{path.stem}_mended.ipynb")
    for number in range(2, 1000):
        yield path.with_name(f"{path.stem}_mended_{number}.ipynb")


def as_file(notebook: dict[str, Any]) -> bytes:
    """Returns a notebook as it stands in a file."""
    content = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    return content.encode("utf-8", "replace")  # JSON can hold halves of characters


def write_copy(path: Path, notebook: dict[str, Any]) -> Path:
    """Writes a mended copy beside a file, under a name that no file has, whole or not at all."""
    for name in _names(path):
        if write_new(name, as_file(notebook)):
            return name
    raise OSError(f"there are too many mended copies beside {path.name}")


def command(options: argparse.Namespace) -> int:
    """Prints what is wrong, and writes a mended copy when something is; returns 0 when nothing was, else 1.

    Raises:
        CourseError: when nothing can be saved, or the copy cannot be written.
    """
    path: Path = options.file
    if path.is_dir():
        raise CourseError(f"{path} is a folder; expected a notebook file (.ipynb) in it.")
    found = diagnose(path, options.assignment)
    print(f"{path.name} is {found.assignment}.")
    for line in found.problems:
        print(f"  wrong: {line}")
    for line in found.advice:
        print(f"  to do: {line}")
    if not found.problems:
        print("  nothing in the file had to be mended.")
        return 1 if found.advice else 0
    if not options.no_copy:
        try:
            made = write_copy(path, found.notebook)
        except OSError as problem:
            raise CourseError(f"the mended copy cannot be written: {problem}") from problem
        print(f"A mended copy is in {made.name}; the original is as it was. Open it, look, and run all its cells.")
    return 1
