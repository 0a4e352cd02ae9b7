"""Read the text source of a notebook, and refuse one whose parts do not fit together.

A source is a jupytext percent script. Its head, the notebook's metadata in YAML, states below `course:` where the
notebook stands (see `grading.authoring.syllabus`); nothing of it reaches the notebook. A cell's marker says in one or
two words what the cell is:

    # %% setup                    imports that every answer needs; locked
    # %% exercise="causal_mask"   a solution between BEGIN SOLUTION and END SOLUTION; its check cell is added
    # %% [markdown] essay="why"   a written answer, marked by hand; its text is the rubric
    # %% experiment               a cell that no mark depends on
    # %% interactive              an experiment with widgets, whose output is not kept
    # %% measured                 an experiment with times, whose output no test compares
    # %% guess                    asks for a guess before an experiment; a student fills in its dots
    # %% reveal                   behind the experiment: shows the guess beside what came out, nothing without one
    # %% by_hand                  takes values that a student has worked out with a pencil
    # %% [markdown] questions     questions at the end, answered at once (`grading.authoring.questions`)
    # %% [markdown] pause         a place to stop, with what is done and what comes; a cell with `resume` is added

The three kinds of experiments are folded in the notebook: their first line, `# @title ...`, says what they show. One
that students are to read or to change stays open, and says so: `# %% experiment open=true`.

The points of exercises and essays stand in the table at the beginning, for the reader; those of an exercise must be
what its stages add up to. Minutes and difficulty stand in an exercise's definition: they are added to the table, with
their sum, and to the text in front of the exercise.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import jupytext
from nbformat import NotebookNode

from grading.authoring import questions
from grading.authoring.cell import EXPERIMENTS as EXPERIMENTS
from grading.authoring.cell import Cell as Cell
from grading.authoring.errors import BuildError
from grading.authoring.pacing import in_quarters, sittings
from grading.definitions import catalogue
from grading.notebooks.cells import AROUND, BEGIN_HIDDEN, captioned
from grading.notebooks.cells import BEGIN_SOLUTION as BEGIN
from grading.notebooks.cells import END_SOLUTION as END

TEXTS = {"essay", "prose", "questions", "pause"}
WORDS = {"setup", "questions", "pause"} | EXPERIMENTS | AROUND - {"resume"}
KEYS = {"exercise", "essay", "open"}
HEAD = 4  # the first cells, in one of which the table of points stands
PAUSE = (
    "---\n\n**A good place to stop.** {text} What follows takes about {rest}. When you come back, run the set-up cell "
    "at the top, and then the next cell: it brings back your answers, and what else the rest needs.\n\n---"
)
MINUTES_PER_POINT = {"check": 5, "essay": 8}  # of an exercise whose definition says no minutes, and of essays


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
    cells = [_cell(path, cell, line) for cell, line in zip(notebook.cells, lines, strict=True)]
    table, metadata = _table(cells), course_metadata(path)
    running = metadata.get("running", 0) if isinstance(metadata, dict) else 0
    cells = [part for cell in cells for part in _with_points(path.stem, cell, table)]
    minutes = sittings(cells, running if isinstance(running, int) else 0)
    return _with_pauses(path.stem, _with_effort(cells, minutes), minutes)


def _with_pauses(notebook: str, cells: Sequence[Cell], minutes: Sequence[float]) -> list[Cell]:
    """Returns the cells with what a place to stop says, and behind it the cell with which one goes on."""
    changed, number = list[Cell](), 1
    for cell in cells:
        if cell.kind == "pause":
            number += 1
            text = PAUSE.format(text=cell.source, rest=in_quarters(math.fsum(minutes[number - 1 :])))
            changed.append(replace(cell, source=text))
            changed.append(Cell("resume", "", None, f'resume("{notebook}", {number})', "code", cell.line))
        else:
            changed.append(cell)
    return changed


def _with_points(notebook: str, cell: Cell, table: Mapping[str, float]) -> Iterator[Cell]:
    """Yields a cell, and behind an exercise its check cell; points are those of the table, 0 where it has none."""
    points = table.get(cell.name, 0.0)
    essay = replace(cell, points=points, minutes=points * MINUTES_PER_POINT["essay"])
    yield essay if cell.kind == "essay" else cell
    if cell.kind == "exercise":
        effort = catalogue.effort(notebook, cell.name) or (round(points * MINUTES_PER_POINT["check"]), 0)
        yield Cell("check", cell.name, points, f"check({cell.name})", "code", cell.line, *effort)


def _with_effort(cells: Sequence[Cell], sittings: Sequence[float]) -> list[Cell]:
    """Returns the cells with what exercises take: in the table of the head, and as the last line before each."""
    answers = {one.name: one for one in cells if one.kind in ("check", "essay")}
    begins = _first_of_sittings(cells, sittings)
    found: list[Cell] = []
    for number, cell in enumerate(cells):
        if cell.kind == "exercise" and (difficulty := answers[cell.name].difficulty):
            line = f"*About {answers[cell.name].minutes:g} minutes, difficulty {dots(difficulty)}.*"
            if found and found[-1].kind == "prose":
                found[-1] = replace(found[-1], source=f"{found[-1].source}\n\n{line}")
            else:
                found.append(Cell("prose", "", None, line, "markdown", cell.line))
        in_head = number < HEAD and cell.kind == "prose"
        found.append(replace(cell, source=_with_minutes(cell.source, answers, begins)) if in_head else cell)
    return found


def _first_of_sittings(cells: Sequence[Cell], minutes: Sequence[float]) -> dict[str, str]:
    """Returns the sitting that begins with an exercise or essay, in words; nothing where there is one sitting only."""
    first, number = dict[int, str](), 1
    for cell in cells:
        number += cell.kind == "pause"
        if cell.kind in ("exercise", "essay"):
            first.setdefault(number, cell.name)
    names = {name: f"*sitting {number}, about {in_quarters(minutes[number - 1])}*" for number, name in first.items()}
    return names if len(minutes) > 1 else {}


def dots(difficulty: int) -> str:
    """Returns a difficulty from 1 to 3 as dots, such as "●●○"; "" for 0."""
    return "●" * difficulty + "○" * (3 - difficulty) if difficulty else ""


def _with_minutes(text: str, answers: Mapping[str, Cell], begins: Mapping[str, str]) -> str:
    """Returns a text in whose table of points there are minutes and difficulty, too, and a row for each sitting."""
    lines, inside = [], False
    for line in text.split("\n"):
        inside = line.startswith("|") and (inside or re.search(r"\|\s*points\s*\|\s*$", line) is not None)
        name = re.match(r"\|[^|]*`(\w+)", line)
        answer = answers.get(name.group(1)) if name else None
        if not inside:
            added = None
        elif answer:
            added = f"{answer.minutes:g} | {dots(answer.difficulty)}"
        elif "**total**" in line:
            added = f"**{math.fsum(one.minutes for one in answers.values()):g}** | "
        else:
            added = "---|---" if re.match(r"\|\s*-", line) else "minutes | difficulty" if "points" in line else " | "
        if added is not None and name and name.group(1) in begins:
            lines.append(f"| {begins[name.group(1)]} | | | | |")
        before, _, last = line.rstrip().removesuffix("|").rpartition("|")
        lines.append(
            line if added is None else f"{before}|{added}|{last}|" if "---" in added else f"{before}| {added} |{last}|"
        )
    return "\n".join(lines)


def _head(cells: Sequence[Cell]) -> str:
    return "\n".join(cell.source for cell in cells[:HEAD] if cell.language == "markdown")


def _table(cells: Sequence[Cell]) -> dict[str, float]:
    """Returns the points of each exercise and essay, from the table in the head."""
    rows = re.findall(r"^\|[^|\n]*`(\w+)[^`]*`[^|\n]*\|.*\|\s*(\d+\.?\d*)\s*\|\s*$", _head(cells), re.MULTILINE)
    return {name: float(points) if "." in points else int(points) for name, points in rows}


def course_metadata(path: Path) -> Any:
    """Returns what the head of a source states below `course:`, None when nothing."""
    return _parsed(path.read_text(encoding="utf-8")).metadata.get("course")


@lru_cache(maxsize=32)
def _parsed(text: str) -> NotebookNode:
    notebook: NotebookNode = jupytext.reads(text, fmt="py:percent")
    return notebook


def _cell(path: Path, cell: NotebookNode, line: int) -> Cell:
    place = f"{path.name}:{line}"
    metadata = {key: value for key, value in cell.metadata.items() if key != "lines_to_next_cell"}
    is_open = metadata.get("open") is True
    word = metadata.pop("title", None)
    unknown = sorted(set(metadata) - KEYS) + ([word] if word is not None and word not in WORDS else [])
    if unknown:
        known = ", ".join(sorted(WORDS | KEYS))
        raise BuildError(f"{place}: unknown word {unknown[0]!r} in the marker of a cell; expected one of: {known}.")
    kinds = [key for key in ("exercise", "essay") if key in metadata] + ([word] if word else [])
    if len(kinds) > 1:
        raise BuildError(f"{place}: a cell is one thing, this one is marked {' and '.join(kinds)}.")
    kind = kinds[0] if kinds else "prose" if cell.cell_type == "markdown" else "code"
    name = str(metadata.get(kind, ""))
    if kind in ("exercise", "essay") and not re.fullmatch(r"[A-Za-z]\w*", name):
        raise BuildError(f"{place}: {kind}={name!r}; expected a name of letters, digits and underscores.")
    if (kind in TEXTS) != (cell.cell_type == "markdown"):
        raise BuildError(f"{place}: a cell of kind {kind} must {'' if kind in TEXTS else 'not '}be [markdown].")
    _refuse_loose_regions(place, kind, cell.source)
    if "open" in metadata and (kind not in EXPERIMENTS or not is_open):
        raise BuildError(f"{place}: expected `open=true`, and for an experiment; all other cells are open.")
    source = questions.rendered(place, cell.source) if kind == "questions" else cell.source
    return Cell(kind, name, None, source.strip("\n"), cell.cell_type, line, is_open=is_open)


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
    _validate_definitions(path, checks)
    _validate_table(path, cells)
    _validate_points(path, checks)
    _validate_captions(path, cells)
    _validate_guesses(path, cells)
    _validate_hands(path, cells)
    _validate_pauses(path, cells)


def _validate_definitions(path: Path, checks: Mapping[str, Cell]) -> None:
    try:
        defined = catalogue.names(path.stem) if checks else []
    except LookupError as problem:
        raise BuildError(f"{path.name}: {problem}") from problem
    for name, cell in checks.items():
        if name not in defined:
            raise BuildError(
                f"{path.name}:{cell.line}: exercise {name!r} has no definition; expected it in "
                f"grading/exercises/{path.stem}/{name}.py."
            )
    for name in defined:
        if name not in checks:
            raise BuildError(f"{path.name}: grading/exercises defines {name!r}, and the notebook has no such exercise.")


def _validate_points(path: Path, checks: Mapping[str, Cell]) -> None:
    from grading.definitions.exercise import load_one  # imports PyTorch, which a mistake above need not wait for

    for name, cell in checks.items():
        points = load_one(path.stem, name).points
        if not math.isclose(points, cell.points or 0):
            raise BuildError(
                f"{path.name}: the table in the head gives {name!r} {cell.points:g} points, "
                f"its stages add up to {points:g}."
            )


def _validate_captions(path: Path, cells: Sequence[Cell]) -> None:
    """Refuses a folded experiment that does not say what it shows, and an open one that has a caption."""
    for cell in cells:
        if cell.kind in EXPERIMENTS and (captioned(cell.source)[0] != "") == cell.is_open:
            raise BuildError(
                f"{path.name}:{cell.line}: expected `# @title` and what the cell shows as its first line, or "
                "`open=true` in its marker, not both."
            )


def _validate_guesses(path: Path, cells: Sequence[Cell]) -> None:
    """Refuses a guess that nothing reveals behind it, and what is revealed that nobody was asked to guess."""
    open_ones: dict[str, int] = {}
    for cell in cells:
        if cell.kind not in ("guess", "reveal"):
            continue
        found = re.findall(rf'^{cell.kind}\(\s*"((?:[^"\\]|\\.)+)"', cell.source, re.MULTILINE)
        if len(found) != 1:
            raise BuildError(f'{path.name}:{cell.line}: expected one line {cell.kind}("what it is about", ...).')
        if cell.kind == "guess" and found[0] not in open_ones:
            open_ones[found[0]] = cell.line
        elif cell.kind == "reveal" and found[0] in open_ones:
            del open_ones[found[0]]
        else:
            already = "is asked twice" if cell.kind == "guess" else "is revealed, and was not to be guessed before"
            raise BuildError(f"{path.name}:{cell.line}: {found[0]!r} {already}.")
    for what, line in open_ones.items():
        raise BuildError(f"{path.name}:{line}: {what!r} is to be guessed, and no cell behind it reveals it.")


def _validate_hands(path: Path, cells: Sequence[Cell]) -> None:
    """Refuses an example by hand that no exercise of the notebook has, and one of an exercise that nobody is asked."""
    from grading.definitions.exercise import load

    defined = (
        {name for name, one in load(path.stem).items() if one.hand} if path.stem in catalogue.notebooks() else set()
    )
    asked: dict[str, int] = {}
    for cell in cells:
        if cell.kind == "by_hand":
            found = re.findall(r'^by_hand\(\s*"(\w+)"', cell.source, re.MULTILINE)
            if len(found) != 1 or found[0] not in defined:
                raise BuildError(
                    f'{path.name}:{cell.line}: expected by_hand("EXERCISE", ...) with one of: '
                    f"{', '.join(sorted(defined)) or 'none, no exercise of this notebook has an example by hand'}."
                )
            asked[found[0]] = cell.line
    if lost := sorted(defined - set(asked)):
        raise BuildError(f"{path.name}: {lost[0]!r} has an example by hand, and no cell asks for it.")


def _validate_pauses(path: Path, cells: Sequence[Cell]) -> None:
    """Refuses a place to stop in a notebook whose set-up does not import what goes on behind it."""
    setups = [cell.source for cell in cells if cell.kind == "setup"]
    imports = any(re.search(r"^from tutor import .*\bresume\b", setup, re.MULTILINE) for setup in setups)
    if not imports and (pauses := [cell.line for cell in cells if cell.kind == "pause"]):
        raise BuildError(
            f"{path.name}:{pauses[0]}: here is a place to stop; expected `resume` in the set-up's `from tutor import`."
        )


def _validate_table(path: Path, cells: Sequence[Cell]) -> None:
    """Refuses a table in the head that has other exercises and essays than the cells, or another total."""
    wanted = [cell.name for cell in cells if cell.points is not None]
    table = _table(cells)
    if missing := [name for name in wanted if table.get(name, 0) <= 0]:
        raise BuildError(
            f"{path.name}: the table in the head gives {missing[0]!r} no points; expected a number above 0."
        )
    if unknown := sorted(set(table) - set(wanted)):
        raise BuildError(f"{path.name}: the table in the head has a row for {unknown[0]!r}, and no cell is called so.")
    total = re.search(r"^\|\s*\*\*total\*\*.*\|\s*\*\*([\d.]+)\*\*\s*\|\s*$", _head(cells), re.MULTILINE)
    if total is None or not math.isclose(float(total.group(1)), math.fsum(table.values())):
        raise BuildError(
            f"{path.name}: the table's last row must be | **total** | ... | **{sum(table.values()):g}** |."
        )


def grade_id(cell: Cell) -> str:
    """Returns nbgrader's id of a cell: the exercise's name, with `_check` for its check cell."""
    return f"{cell.name}_check" if cell.kind == "check" else cell.name
