"""How far a student is: `progress()` in a notebook, `python -m tutor progress` over all of them.

Nothing is sent or stored for it. In a notebook it shows what the checks reported since the kernel started; over all
notebooks, what the checks say in the saved files. Marks are given elsewhere, on other questions.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tutor.notebooks import Notebook, notebooks, opened

if TYPE_CHECKING:
    from tutor.checking.verdict import Verdict

WIDTH = 20  # signs of a bar
ESSAY_STUB = "*Your answer here: double-click, and replace this line.*"
RESULT = re.compile(r"(\w+): ([^\n]*?)(?: - ([\d.]+) of [\d.]+ points(?: so far)?)?(?:\n|$)")
NOT_CHECKED = "not checked yet"
GUESS = "application/vnd.course.guess+json"  # how a saved notebook says whether a guess was close

_results: dict[str, tuple[str, float]] = {}  # what the last check of each exercise reported, and its points
_guesses: dict[str, bool] = {}  # what was guessed in this kernel and measured since, and whether it was close


def note(verdict: Verdict) -> None:
    """Keeps what a check has reported."""
    _results[verdict.name] = (verdict.state, verdict.earned)


def note_guess(what: str, is_close: bool) -> None:  # noqa: FBT001 - what there is to note
    """Keeps how close a guess was."""
    _guesses[what] = is_close


def of_guesses(close: Collection[bool]) -> str:
    """Returns in some words how many guesses were close, "" where there were none."""
    return f"Guesses: {sum(close)} of {len(close)} close (within a factor of two, shares within 0.1)." if close else ""


@dataclass(frozen=True)
class Progress:
    """The table of one notebook: for each exercise what its last check reported, and its points."""

    notebook: Notebook
    results: Mapping[str, tuple[str, float]]
    guessed: str = ""  # how its guesses went, in a sentence

    @property
    def earned(self) -> float:
        """The points of all exercises so far; essays are not among them."""
        return round(sum(points for name, (_, points) in self.results.items() if name in self.notebook.exercises), 4)

    @property
    def points(self) -> float:
        """The points of all exercises."""
        return sum(self.notebook.exercises.values())

    @property
    def headline(self) -> str:
        """One line: which notebook, and how many points."""
        more = "" if self.earned == self.points else " so far"
        return f"{self.notebook.name}: {self.earned:g} of {self.points:g} points{more}"

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """Yields for each exercise and each essay its name, its points, and what there is to say."""
        for name, points in self.notebook.exercises.items():
            state, earned = self.results.get(name, (NOT_CHECKED, 0.0))
            yield name, f"{earned:g} of {points:g}", state
        for name, points in self.notebook.essays.items():
            yield name, f"{points:g}", "essay, for a person to mark"

    def __str__(self) -> str:
        rows = list(self.rows())
        wide = [max(len(row[column]) for row in rows) for column in (0, 1)]
        lines = [f"  {name:<{wide[0]}}  {points:>{wide[1]}}  {state}" for name, points, state in rows]
        lines += [f"  {self.guessed}"] if self.guessed else []
        return "\n".join([self.headline, f"  {bar(self.earned, self.points)}", *lines])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from helpers.theme import box, colour

        share = 100 * self.earned / self.points
        rows = "".join(
            f'<tr style="background:none"><td style="text-align:left;padding:1px 14px 1px 0">{html.escape(name)}</td>'
            f'<td style="text-align:right;padding:1px 14px 1px 0">{points}</td>'
            f'<td style="text-align:left;padding:1px 0">{html.escape(state)}</td></tr>'
            for name, points, state in self.rows()
        )
        guesses = f'<div style="margin-top:4px">{html.escape(self.guessed)}</div>' if self.guessed else ""
        return box(
            f'<div style="font-weight:700">{html.escape(self.headline)}</div>'
            f'<div style="height:8px;max-width:320px;margin:6px 0;background:{colour("empty")}">'
            f'<div style="height:8px;width:{share:.0f}%;background:{colour("right")}"></div></div>'
            f'<table style="border-collapse:collapse;font-size:13px;color:inherit;margin:0">{rows}</table>{guesses}',
            colour("open"),
        )


def progress() -> None:
    """Shows for each exercise of this notebook what its check has reported since the kernel started."""
    notebook = opened(_variables())
    if notebook is None:
        print("There is nothing to tell yet: run the cells above first (menu Run, Run All Above Selected Cell).")
    else:
        show(Progress(notebook, _results, of_guesses(_guesses.values())))


def _variables() -> Mapping[str, Any]:
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    return {} if shell is None else shell.user_ns


def show(value: Any) -> None:
    """Displays a value in a notebook, and prints it elsewhere."""
    from IPython.core.getipython import get_ipython
    from IPython.display import display

    if get_ipython() is None:
        print(value)
    else:
        display(value)


def bar(earned: float, points: float) -> str:
    """Returns a bar of text; full only when nothing is missing."""
    filled = int(WIDTH * earned / points) if points else 0
    return f"[{'#' * filled}{'-' * (WIDTH - filled)}]"


# --- all notebooks, from their files ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Saved:
    """What a saved notebook holds: what its checks reported, which essays are written, which guesses were close."""

    results: Mapping[str, tuple[str, float]]
    written: frozenset[str]
    guesses: tuple[bool, ...] = ()


def read(path: Path) -> tuple[Notebook, Saved] | None:
    """Returns which notebook a file is, and what it holds; None for a file that is no notebook of the course."""
    try:
        return _read(json.loads(path.read_text("utf-8"))["cells"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # not of the form of a notebook
        return None


def _read(cells: list[Any]) -> tuple[Notebook, Saved] | None:
    named = {cell["metadata"].get("nbgrader", {}).get("grade_id", ""): cell for cell in cells}
    shares = {one.name: sum(f"{exercise}_check" in named for exercise in one.exercises) for one in notebooks().values()}
    notebook = notebooks()[max(shares, key=lambda name: shares[name])]
    if not shares[notebook.name]:
        return None
    checks = {name: named[f"{name}_check"] for name in notebook.exercises if f"{name}_check" in named}
    found = {name: _result_in(cell, name, notebook.exercises[name]) for name, cell in checks.items()}
    essays = {name: "".join(named[name].get("source", "")).strip() for name in notebook.essays if name in named}
    written = frozenset(name for name, text in essays.items() if text not in ("", ESSAY_STUB))
    guesses = [output.get("data", {}).get(GUESS) for cell in cells for output in cell.get("outputs", ())]
    close = tuple(one["close"] is True for one in guesses if one)
    return notebook, Saved({name: result for name, result in found.items() if result}, written, close)


def _result_in(cell: Mapping[str, Any], exercise: str, points: float) -> tuple[str, float] | None:
    """Returns what the stored output of a check cell says and its points, None when it says nothing."""
    for output in cell.get("outputs", ()):
        match = RESULT.match("".join(output.get("data", {}).get("text/plain", "")))
        if match and match[1] == exercise:
            earned = points if match[2] == "all checks passed" else float(match[3] or 0)
            return match[2], min(earned, points)
    return None


def table(folder: Path) -> list[str]:
    """Returns the lines of a table over all notebooks of the course, from the newest file of each below a folder."""
    found: dict[str, tuple[float, Notebook, Saved]] = {}
    for path in sorted(folder.rglob("*.ipynb")):
        contents = None if any(part.startswith(".") for part in path.relative_to(folder).parts) else read(path)
        time = path.stat().st_mtime if contents else 0.0
        if contents and time >= found.get(contents[0].name, (0.0,))[0]:
            found[contents[0].name] = (time, *contents)
    rows, earned, points = [], 0.0, 0.0
    for name, notebook in notebooks().items():
        whole = sum(notebook.exercises.values())
        points += whole
        if name not in found:
            rows.append((name, bar(0, whole), f"- of {whole:g}", "no file here"))
            continue
        saved = found[name][2]
        mine = Progress(notebook, saved.results).earned
        earned += mine
        essays = (
            f"essays {len(saved.written)} of {len(notebook.essays)} written in their cells" if notebook.essays else ""
        )
        state = f"{len(saved.results)} of {len(notebook.exercises)} checked"
        rows.append((name, bar(mine, whole), f"{mine:g} of {whole:g}", f"{state}, {essays}" if essays else state))
    rows.append(
        ("all", bar(earned, points), f"{earned:g} of {points:g}", "points of the checks; a person marks essays")
    )
    wide = max(len(row[0]) for row in rows), max(len(row[2]) for row in rows)
    lines = [f"{name:<{wide[0]}}  {drawn}  {score:>{wide[1]}}  {state}" for name, drawn, score, state in rows]
    guessed = of_guesses([close for _, _, saved in found.values() for close in saved.guesses])
    return [*lines, guessed] if guessed else lines


def command(folders: list[str]) -> int:
    """Runs `python -m tutor progress [FOLDER]` and returns its exit status."""
    if len(folders) > 1:
        print("progress looks into one folder: python -m tutor progress FOLDER")
        return 2
    places = [Path(folder) for folder in folders] or [Path("work"), Path("notebooks"), Path()]
    place = next((place for place in places if place.is_dir()), None)
    if place is None:
        print(f"{folders[0]} is no folder: name the one that your notebooks are in.")
        return 2
    print(f"What the checks say in the saved notebooks of {place.resolve()}:")
    print(*table(place), sep="\n")
    return 0
