"""Read the text source of a notebook, and refuse one whose parts do not fit together.

A source is a jupytext percent script. Its head, the notebook's metadata in YAML, tells below `course:` where the
notebook stands (see `grading.authoring.syllabus`); nothing of it reaches the notebook. A cell's marker says in one or
two words what the cell is:

    # %% setup                             imports that every answer needs; locked
    # %% exercise="causal_mask"            a solution between BEGIN SOLUTION and END SOLUTION
    # %% check="causal_mask" points=3      one line, `check(causal_mask)`; the examiner's line is added
    # %% [markdown] essay="why" points=2   a written answer, marked by hand; its text is the rubric
    # %% experiment                        a cell that no mark depends on
    # %% interactive                       an experiment with widgets, whose output is not kept
    # %% measured                          an experiment with times, whose output no test compares
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import jupytext
from nbformat import NotebookNode

from grading.definitions import catalogue
from grading.folder.errors import CourseError
from grading.notebooks.cells import BEGIN_HIDDEN
from grading.notebooks.cells import BEGIN_SOLUTION as BEGIN
from grading.notebooks.cells import END_SOLUTION as END

WORDS = {"setup", "experiment", "interactive", "measured"}
KEYS = {"exercise", "check", "essay", "points"}


class BuildError(CourseError):
    """A source is not as it must be; the message names the file and the line."""

    status = 1


@dataclass(frozen=True)
class Cell:
    """One cell of a source, with the line of its marker."""

    kind: str  # "prose", "code", "setup", "exercise", "check", "essay" or one of WORDS
    name: str
    points: float | None
    source: str
    language: str  # "markdown" or "code"
    line: int


def read(path: Path) -> list[Cell]:
    """Returns the cells of a source.

    Raises:
        BuildError: for a marker that is not understood, naming file and line.
    """
    text = path.read_text(encoding="utf-8")
    lines = [number for number, line in enumerate(text.splitlines(), 1) if re.match(r"# %%", line)]
    notebook = _parsed(text)
    if len(lines) != len(notebook.cells):
        raise BuildError(f"{path.name}: text before the first marker `# %%`; put it into a cell of its own.")
    return [_cell(path, cell, line) for cell, line in zip(notebook.cells, lines, strict=True)]


def course_metadata(path: Path) -> Any:
    """Returns what the head of a source tells below `course:`, None when nothing."""
    return _parsed(path.read_text(encoding="utf-8")).metadata.get("course")


@lru_cache(maxsize=32)
def _parsed(text: str) -> NotebookNode:
    notebook: NotebookNode = jupytext.reads(text, fmt="py:percent")
    return notebook


def _cell(path: Path, cell: NotebookNode, line: int) -> Cell:
    place = f"{path.name}:{line}"
    metadata = {key: value for key, value in cell.metadata.items() if key != "lines_to_next_cell"}
    word = metadata.pop("title", None)
    unknown = sorted(set(metadata) - KEYS) + ([word] if word is not None and word not in WORDS else [])
    if unknown:
        known = ", ".join(sorted(WORDS | KEYS))
        raise BuildError(f"{place}: unknown word {unknown[0]!r} in the marker of a cell; expected one of: {known}.")
    kinds = [key for key in ("exercise", "check", "essay") if key in metadata] + ([word] if word else [])
    if len(kinds) > 1:
        raise BuildError(f"{place}: a cell is one thing, this one is marked {' and '.join(kinds)}.")
    kind = kinds[0] if kinds else "prose" if cell.cell_type == "markdown" else "code"
    name, points = str(metadata.get(kind, "")), metadata.get("points")
    if (kind in ("check", "essay")) != (points is not None):
        raise BuildError(f"{place}: {'points are missing' if points is None else 'points belong to check and essay'}.")
    if points is not None and (isinstance(points, bool) or not isinstance(points, int | float) or points <= 0):
        raise BuildError(f"{place}: points={points!r}; expected a number above 0.")
    if kind in ("exercise", "check", "essay") and not re.fullmatch(r"[A-Za-z]\w*", name):
        raise BuildError(f"{place}: {kind}={name!r}; expected a name of letters, digits and underscores.")
    if (kind in ("essay", "prose")) != (cell.cell_type == "markdown"):
        raise BuildError(f"{place}: a cell of kind {kind} must {'' if kind == 'essay' else 'not '}be [markdown].")
    _refuse_loose_regions(place, kind, cell.source)
    return Cell(kind, name, points, cell.source.strip("\n"), cell.cell_type, line)


def _refuse_loose_regions(place: str, kind: str, source: str) -> None:
    has = BEGIN in source or END in source
    if (kind == "exercise" and source.count(BEGIN) != source.count(END)) or (kind == "exercise") != has:
        raise BuildError(f"{place}: {BEGIN} and {END} belong, in pairs, into exercise cells and nowhere else.")
    if BEGIN_HIDDEN in source:
        raise BuildError(f"{place}: hidden tests are written by the build; define them in grading/exercises.")


def validate(path: Path, cells: Sequence[Cell]) -> None:
    """Refuses a source whose ids, exercises, checks, definitions and points do not fit together.

    Raises:
        BuildError: naming the file and, where there is one, the line.
    """
    seen: dict[str, int] = {}
    for cell in cells:
        if cell.name:
            identifier = grade_id(cell)
            if identifier in seen:
                raise BuildError(
                    f"{path.name}:{cell.line}: {identifier!r} is already the id of line {seen[identifier]}."
                )
            seen[identifier] = cell.line
    checks = {cell.name: cell for cell in cells if cell.kind == "check"}
    for cell in cells:
        if cell.kind == "exercise" and cell.name not in checks:
            raise BuildError(f"{path.name}:{cell.line}: exercise {cell.name!r} has no check cell.")
    _validate_definitions(path, checks)
    _validate_points(path, checks)
    _validate_table(path, cells)


def _validate_definitions(path: Path, checks: Mapping[str, Cell]) -> None:
    try:
        defined = catalogue.names(path.stem) if checks else []
    except LookupError as problem:
        raise BuildError(f"{path.name}: {problem}") from problem
    for name, cell in checks.items():
        if name not in defined:
            raise BuildError(
                f"{path.name}:{cell.line}: check {name!r} has no definition; expected it in "
                f"grading/exercises/{path.stem}/{name}.py."
            )
    for name in defined:
        if name not in checks:
            raise BuildError(f"{path.name}: grading/exercises defines {name!r}, but the notebook has no check for it.")


def _validate_points(path: Path, checks: Mapping[str, Cell]) -> None:
    from grading.definitions.exercise import load_one  # imports PyTorch, which a mistake above need not wait for

    for name, cell in checks.items():
        points = load_one(path.stem, name).points
        if not math.isclose(points, cell.points or 0):
            raise BuildError(
                f"{path.name}:{cell.line}: check {name!r} says {cell.points:g} points, its stages add up to {points:g}."
            )


def _validate_table(path: Path, cells: Sequence[Cell]) -> None:
    """The head of a notebook tells the points of each part; they must be those of the cells."""
    wanted = {cell.name: cell.points for cell in cells if cell.points is not None}
    head = "\n".join(cell.source for cell in cells[:4] if cell.language == "markdown")
    rows = dict(re.findall(r"^\|[^|\n]*`(\w+)[^`]*`[^|\n]*\|.*\|\s*([\d.]+)\s*\|\s*$", head, re.MULTILINE))
    told = {name: float(points) for name, points in rows.items()}
    if told != wanted:
        wrong = sorted({*told, *wanted}, key=str)
        name = next(name for name in wrong if told.get(name) != wanted.get(name))
        raise BuildError(
            f"{path.name}: the table in the head gives {name!r} {told.get(name, 'no')} points, its cell "
            f"{wanted.get(name, 'none')}; make them agree."
        )
    total = re.search(r"^\|\s*\*\*total\*\*.*\|\s*\*\*([\d.]+)\*\*\s*\|\s*$", head, re.MULTILINE)
    if total is None or not math.isclose(float(total.group(1)), math.fsum(p or 0 for p in wanted.values())):
        raise BuildError(
            f"{path.name}: the table's last row must be | **total** | ... | **{sum(wanted.values()):g}** |."
        )


def grade_id(cell: Cell) -> str:
    """Returns nbgrader's id of a cell: the exercise's name, with `_check` for its check cell."""
    return f"{cell.name}_check" if cell.kind == "check" else cell.name
