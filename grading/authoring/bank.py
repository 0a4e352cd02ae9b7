"""The bank of answers: for each exercise, right ones of different styles and wrong ones with their mistake.

`tests/bank/NN_name/exercise.py` holds one percent cell for each answer, exactly what a student would type into the
solution cell:

    # %% right: broadcasting
    # %% wrong: starts at the diagonal -> the diagonal is blocked too
    # %% wrong: returns a list ->
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from grading.authoring import source
from grading.folder.course import ROOT, Course
from grading.folder.errors import CourseError

FOLDER = ROOT / "tests" / "bank"
MARKER = re.compile(r"# %% (right|wrong): (.+?)(?:\s*->\s*(.*))?$")


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
    """Returns the answers of one file of the bank.

    Raises:
        BankError: for text before the first marker, or a marker that is not understood.
    """
    answers: list[BankAnswer] = []
    head: re.Match[str] | None = None
    lines: list[str] = []

    def finish() -> None:
        if head is not None:
            kind, title, mistake = (
                head.group(1),
                head.group(2).strip(),
                (head.group(3) or "").strip(),
            )
            source = "\n".join(lines).strip("\n")
            answers.append(BankAnswer(path.parent.name, path.stem, kind == "right", title, mistake, source))

    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("# %%"):
            finish()
            head, lines = MARKER.match(line), []
            if head is None or (head.group(1) == "wrong") != (head.group(3) is not None):
                raise BankError(
                    f"{path.name}:{number}: expected '# %% right: title' or '# %% wrong: title -> mistake', "
                    f"got {line!r}."
                )
        elif head is None and line.strip() and not line.startswith("#"):
            raise BankError(f"{path.name}:{number}: text before the first marker.")
        else:
            lines.append(line)
    finish()
    return answers


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
