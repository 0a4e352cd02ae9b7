"""The bank of answers: for each exercise, right ones of different styles and wrong ones with their mistake.

`tests/bank/NN_name/exercise.py` holds one percent cell for each answer, exactly what a student would type into the
solution cell:

    # %% right: broadcasting
    # %% wrong: starts at the diagonal -> the diagonal is blocked too
    # %% wrong: returns a list ->

An answer that differs little from one above it is written as a difference from that one:

    # %% wrong: blocks the past -> the past is blocked
    # of: broadcasting
    # -    return i >= j
    # +    return i <= j

What a hunk takes away (`# -`) stands exactly once in the base; where it does not, or where a hunk only adds (`# +`),
lines that stay (`#  `) mark the place. `# ...` stands between two hunks. The base is written whole: one look finds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from grading.authoring import source
from grading.folder.course import ROOT, Course
from grading.folder.errors import CourseError

FOLDER = ROOT / "tests" / "bank"
MARKER = re.compile(r"# %% (right|wrong): (.+?)(?:\s*->\s*(.*))?$")
BASE, BETWEEN = "# of: ", "\n# ...\n"


class BankError(CourseError):
    """A file of the bank is not as it must be; the message names file and line."""


@dataclass(frozen=True)
class BankAnswer:
    """One answer of the bank; `mistake` is the known mistake that must be recognised, or ""."""

    notebook: str
    exercise: str
    right: bool
    title: str
    mistake: str
    source: str

    @property
    def label(self) -> str:
        """What a test calls it."""
        return f"{self.exercise}-{'right' if self.right else 'wrong'}-{self.title}"


def read(path: Path) -> list[BankAnswer]:
    """Returns the answers of one file of the bank, all of them whole.

    Raises:
        BankError: for text before the first marker, and for a marker or a difference that is not understood.
    """
    answers: list[BankAnswer] = []
    differences: set[str] = set()
    for number, head, text in _cells(path):
        kind, title, mistake = head.group(1), head.group(2).strip(), (head.group(3) or "").strip()
        if text.startswith(BASE):
            first, _, hunks = text.partition("\n")
            base = first.removeprefix(BASE).strip()
            found = [answer for answer in answers if answer.title == base]
            if len(found) != 1 or base in differences:
                wrong = "is itself a difference" if base in differences else f"names {len(found)} answers above"
                raise BankError(f"{path.name}:{number + 1}: {base!r} {wrong}; name one that is written whole above.")
            differences.add(title)
            text = _changed(found[0], hunks, path, number + 2)
        answers.append(BankAnswer(path.parent.name, path.stem, kind == "right", title, mistake, text))
    return answers


def _cells(path: Path) -> Iterator[tuple[int, re.Match[str], str]]:
    """Yields the number of each marker's line, the marker, and the text below it."""
    start, head, lines = 0, None, list[str]()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("# %%"):
            if head is not None:
                yield start, head, "\n".join(lines).strip("\n")
            start, head, lines = number, MARKER.match(line), []
            if head is None or (head.group(1) == "wrong") != (head.group(3) is not None):
                raise BankError(
                    f"{path.name}:{number}: expected '# %% right: title' or '# %% wrong: title -> mistake', "
                    f"got {line!r}."
                )
        elif head is None and line.strip() and not line.startswith("#"):
            raise BankError(f"{path.name}:{number}: text before the first marker.")
        else:
            lines.append(line)
    if head is not None:
        yield start, head, "\n".join(lines).strip("\n")


def _changed(base: BankAnswer, hunks: str, path: Path, number: int) -> str:
    """Returns the source of an answer whose difference from `base` begins in line `number` of its file."""
    lines, made, end = base.source.split("\n"), list[str](), 0  # `made` of the lines above `end`
    for hunk in (text.split("\n") for text in hunks.split(BETWEEN)):
        for below, line in enumerate(hunk):
            if not re.match("# [-+ ]|#$", line):  # editors take away the spaces at the end of "#  "
                form = "expected '# -', '# +' or '#  ' and a line of code, or '# ...' between two hunks"
                raise BankError(f"{path.name}:{number + below}: {form}, got {line!r}.")
        old, new = ([line[3:] for line in hunk if line[2:3] != sign] for sign in "+-")
        places = [at for at in range(len(lines)) if lines[at : at + len(old)] == old]
        if old == new:
            raise BankError(f"{path.name}:{number}: this hunk changes nothing; write what it takes away or adds.")
        if len(places) != 1 or places[0] < end:
            raise BankError(
                f"{path.name}:{number}: what this hunk takes away or keeps must stand once in {base.title!r}, below "
                f"the hunk before, and stands there {len(places)} times; copy it, with lines around it ('#  ')."
            )
        made += lines[end : places[0]] + new
        end, number = places[0] + len(old), number + len(hunk) + 1
    return "\n".join(made + lines[end:]).strip("\n")


def answers(notebook: str) -> list[BankAnswer]:
    """Returns all answers of the bank to the exercises of a notebook."""
    return [answer for path in sorted((FOLDER / notebook).glob("*.py")) for answer in read(path)]


@cache
def cells(notebook: str) -> Sequence[source.Cell]:
    """Returns the cells of a notebook's source."""
    return source.read(Course().source(notebook))


def namespace(notebook: str, exercise: str) -> dict[str, Any]:
    """Returns the variables that a student has when reaching an exercise: set-up, and the solutions before it."""
    variables: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells(notebook):
        if cell.kind == "exercise" and cell.name == exercise:
            break
        if cell.kind in ("setup", "code", "exercise"):
            exec(compile(cell.source, f"<{notebook}:{cell.line}>", "exec"), variables)
    return variables


def run(answer: BankAnswer) -> Any:
    """Returns the function or class that an answer of the bank defines.

    Raises:
        BankError: when it does not define its exercise's name.
    """
    variables = namespace(answer.notebook, answer.exercise)
    exec(compile(answer.source, f"<bank {answer.label}>", "exec"), variables)
    if answer.exercise not in variables:
        raise BankError(f"{answer.label}: the answer does not define {answer.exercise}.")
    return variables[answer.exercise]
