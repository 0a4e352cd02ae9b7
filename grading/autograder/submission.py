"""Read a submission: take the answers out of it, by id, and nothing else.

Whatever else a file holds - metadata, outputs, tags, copied or moved cells, links - cannot matter, because the graded
notebook is built from the master. What had to be put right is told.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from grading.authoring.build import BEGIN_HIDDEN
from helpers.checking import plain

MAX_BYTES = 50 << 20  # a notebook with many pictures has 5 MB
MAX_PARTS = 2_000_000  # commas and brackets; the longest notebook of the course has 30 000


class UnreadableError(ValueError):
    """No answers can be taken from the submission; the message says why, what was expected and what to do."""


@dataclass
class Work:
    """The answers of one submission.

    `answers` are sources of solution cells and texts of essays by grade id; `code` are all code cells of the student
    in order, with the id of those that have one; `put_right` are sentences on what was not as it should be.
    """

    answers: dict[str, str] = field(default_factory=dict)
    code: list[tuple[str, str]] = field(default_factory=list)
    put_right: list[str] = field(default_factory=list)

    def digest(self) -> str:
        """Returns a fingerprint of everything that grading looks at."""
        data = json.dumps([sorted(self.answers.items()), self.code, self.put_right])
        return hashlib.sha256(data.encode()).hexdigest()


@dataclass(frozen=True)
class Master:
    """The notebook that submissions are rebuilt on: nbgrader's source version, with checks and hidden lines."""

    assignment: str
    notebook: NotebookNode

    def cells(self, kind: str) -> list[NotebookNode]:
        """Returns the cells of a kind: "setup", "solution", "check" or "essay"."""
        return [cell for cell in self.notebook.cells if kind_of(cell) == kind]


def kind_of(cell: NotebookNode) -> str:
    """Returns "setup", "solution", "check", "essay" or "" from a cell's nbgrader metadata."""
    told = cell.metadata.get("nbgrader", {})
    if told.get("solution"):
        return "essay" if told.get("grade") else "solution"
    return "check" if told.get("grade") else "setup" if told.get("locked") and cell.cell_type == "code" else ""


def exercise_of(check: NotebookNode) -> str:
    """Returns the exercise that a check cell is for."""
    return str(check.metadata.nbgrader.grade_id).removesuffix("_check")


def read(folder: Path, master: Master) -> Work:
    """Returns the answers in a submission's folder.

    Raises:
        UnreadableError: when there is no notebook, or it is damaged beyond reading.
    """
    work = Work()
    try:
        path = _notebook_file(folder, master.assignment, work)
    except OSError as problem:
        raise UnreadableError(f"its folder cannot be read ({problem.strerror}); ask for the file again.") from problem
    work.code, essays = _cells(path, _load(path), master, work)
    wanted = [exercise_of(cell) for cell in master.cells("check")]
    untouched = {_bare(cell.source) for cell in master.cells("solution")}
    for name in wanted:
        sources = [source for identifier, source in work.code if identifier == name]
        if len(sources) > 1:
            work.put_right.append(f"the cell of {name} stands {len(sources)} times; they were run one after the other")
        if not any(_defines(source, name) and _bare(source) not in untouched for source in sources):
            others = [source for identifier, source in work.code if not identifier and _defines(source, name)]
            if others:
                work.put_right.append(f"{name} was found in another cell than its own")
                sources += others[-1:]
        if sources:
            work.answers[name] = "\n\n".join(sources)
        else:
            work.put_right.append(f"the cell of {name} is missing")
    for cell in master.cells("essay"):
        identifier = cell.metadata.nbgrader.grade_id
        if identifier in essays:
            work.answers[identifier] = essays[identifier]
        else:
            work.put_right.append(f"the cell of {identifier} is missing")
    return work


def _notebook_file(folder: Path, assignment: str, work: Work) -> Path:
    expected = folder / f"{assignment}.ipynb"
    if folder.is_symlink():
        raise UnreadableError("its folder is a link, not a folder; put the files themselves there.")
    found = sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() == ".ipynb" and path.is_file() and not path.is_symlink()
    )
    if expected in found:
        return expected
    if len(found) == 1:
        work.put_right.append(f"the file is called {shown(found[0].name)!r} in place of {expected.name!r}")
        return found[0]
    others = sorted(path.name for path in folder.iterdir() if path.name != "timestamp.txt")
    names = ", ".join(shown(name) for name in others)[:200]
    raise UnreadableError(
        f"no {expected.name} in the submission (found: {names or 'nothing'}); ask for the file again."
    )


def start_of(path: Path, size: int) -> bytes:
    """Returns the first bytes of a student's file: never through a link, never waiting, as it would for a pipe.

    Raises:
        OSError: when it is missing, or no file.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "rb") as file:
        return file.read(size)


def _load(path: Path) -> dict[str, Any]:
    try:
        data = start_of(path, MAX_BYTES + 1)
    except OSError as problem:
        raise UnreadableError(f"{path.name} cannot be read ({problem.strerror}); ask for the file again.") from problem
    if len(data) > MAX_BYTES:
        raise UnreadableError(f"{path.name} has more than {MAX_BYTES >> 20} MB; ask for it without outputs.")
    if sum(data.count(sign) for sign in (b",", b"[", b"{")) > MAX_PARTS:  # each may take 30 times its text
        raise UnreadableError(f"{path.name} has too many parts for a notebook; ask for it without outputs.")
    try:
        notebook = json.loads(data)  # UTF-8, with or without a mark, or UTF-16, as some editors write
    except (UnicodeDecodeError, ValueError, RecursionError) as problem:
        raise UnreadableError(
            f"{path.name} is damaged: it is not a notebook (not valid JSON); ask for it again, "
            "or see what `python -m grading doctor` can save of it."
        ) from problem
    if isinstance(notebook, dict) and isinstance(notebook.get("worksheets"), list):  # format 3, of 2013
        sheets = [sheet.get("cells") for sheet in notebook["worksheets"] if isinstance(sheet, dict)]
        notebook["cells"] = [cell for cells in sheets if isinstance(cells, list) for cell in cells]
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise UnreadableError(f"{path.name} is damaged: it has no cells; ask for it again.")
    return notebook


def _cells(
    path: Path, notebook: dict[str, Any], master: Master, work: Work
) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """Returns the student's code cells with their ids ("" for cells of their own), and the essays by id."""
    solutions = {cell.metadata.nbgrader.grade_id for cell in master.cells("solution")}
    essays = {cell.metadata.nbgrader.grade_id for cell in master.cells("essay")}
    given = {_bare(cell.source) for cell in master.notebook.cells}
    code, texts = list[tuple[str, str]](), dict[str, str]()
    cells = [cell for cell in notebook["cells"] if isinstance(cell, dict)]
    if len(cells) < len(notebook["cells"]):
        work.put_right.append(f"{len(notebook['cells']) - len(cells)} cells that are no cells were left out")
    for cell in cells:
        source = _text(cell.get("source", cell.get("input")))
        identifier = _grade_id(cell)
        if identifier in essays:
            texts[identifier] = f"{texts[identifier]}\n\n{source}" if identifier in texts else source
        elif identifier in solutions:
            if cell.get("cell_type") != "code":
                work.put_right.append(f"the cell of {identifier} is not a code cell; it was run as one")
            code.append((identifier, source))
        elif cell.get("cell_type") == "code" and not identifier and source.strip() and _bare(source) not in given:
            code.append(("", source))
    return code, texts


def _grade_id(cell: dict[str, Any]) -> str:
    value: Any = cell
    for key in ("metadata", "nbgrader", "grade_id"):
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""


def _text(source: Any) -> str:
    parts = source if isinstance(source, list) else [source]
    text = "".join(part for part in parts if isinstance(part, str))
    return plain.clean(text.replace("\r\n", "\n").replace("\r", "\n"))


def shown(name: str) -> str:
    """Returns the name of a file as it can be shown: a name may hold anything, commands to a terminal too."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in name)[:200]


def _bare(source: str) -> str:
    return "".join(source.split(BEGIN_HIDDEN)[0].split())


def _defines(source: str, name: str) -> bool:
    return (
        re.search(rf"^(?:async\s+def|def|class)\s+{re.escape(name)}\b|^{re.escape(name)}\s*=", source, re.MULTILINE)
        is not None
    )


def rebuilt(master: Master, work: Work) -> NotebookNode:
    """Returns the master with the student's answers in their cells; nothing else of the submission is in it."""
    notebook = copy.deepcopy(master.notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        if kind_of(cell) in ("solution", "essay"):
            cell.source = work.answers.get(cell.metadata.nbgrader.grade_id, "")
    return notebook


def plan(master: Master, work: Work, *, everything: bool) -> Sequence[tuple[str, str]]:
    """Returns what is run before the checks, as (exercise or "", source) in order.

    First the set-up cells of the master, then the answers; with `everything` the student's own further code cells
    too, in the student's order, for answers that use what was defined there.
    """
    setup = [("", cell.source) for cell in master.cells("setup")]
    if everything:
        return [*setup, *work.code]
    names = [exercise_of(cell) for cell in master.cells("check")]
    return [*setup, *((name, work.answers[name]) for name in names if name in work.answers)]
