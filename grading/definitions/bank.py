"""The bank: to each exercise right answers of different styles, and wrong ones with the mistake that they make.

`grading/exercises/NN_name/EXERCISE.answers.py` holds one percent cell for each answer, exactly what a student would
type into the solution cell:

    # %% right: broadcasting
    # %% wrong: returns a list ->
    # %% wrong: starts at the diagonal -> the diagonal is blocked too
    # hint: A token may look at itself: start the blocked part one place above the diagonal.

The first answer with the name of a mistake has its hint below the marker, a paragraph after each empty `# hint:`, and
is itself the known mistake: checks compare with what it makes (`known_mistakes.py`). Where a name has no hint, the
definition makes the mistake. The order of the names is that in which checks look for them.

An answer that differs little from one above it is written as a difference from the one that `# of:` names, or else from
the one of the difference before; from the file's first answer where no line `# of:` stands above. A text that stands
there exactly once is replaced; several such lines are applied in turn:

    # %% wrong: blocks the past -> the past is blocked
    # of: broadcasting
    # ~ i >= j => i <= j

A right answer that differs in style from the solution may have a line `# other: what each of the two does better` below
its marker: then the page of worked solutions shows it beside the solution, one for each exercise.

Whole lines are taken away (`# -`) and added (`# +`). What is taken away stands exactly once in the base; where it does
not, or where a hunk only adds, lines that stay (`#  `) mark the place. `# ...` stands between two hunks:

    # %% wrong: no return ->
    # -    return i >= j
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from grading.definitions import catalogue
from grading.folder.errors import CourseError

MARKER = re.compile(r"# %% (right|wrong): (.+?)(?:\s*->\s*(.*))?$")
HINT, OTHER, BASE, REPLACES, BETWEEN = "# hint:", "# other: ", "# of: ", "# ~ ", "\n# ...\n"


class BankError(CourseError):
    """A file of the bank is not as it must be; the message names file and line."""


@dataclass(frozen=True)
class BankAnswer:
    """One answer of the bank; `mistake` is the known mistake that must be recognised, or "".

    With a `hint` it is itself that mistake. A right one with `other` (what each does better) is
    shown beside the solution.
    """

    notebook: str
    exercise: str
    right: bool
    title: str
    mistake: str
    source: str
    hint: str = ""
    other: str = ""

    @property
    def label(self) -> str:
        """What a test calls it."""
        return f"{self.exercise}-{'right' if self.right else 'wrong'}-{self.title}"

    def made(self, variables: dict[str, Any]) -> Any:
        """Returns the function or class that the answer defines, run among these variables.

        Raises:
            BankError: when it does not define its exercise's name.
        """
        exec(compile(self.source, f"<bank {self.label}>", "exec"), variables)
        if self.exercise not in variables:
            raise BankError(f"{self.label}: the answer does not define {self.exercise}.")
        return variables[self.exercise]


def answers(notebook: str) -> list[BankAnswer]:
    """Returns all answers of the bank to the exercises of a notebook."""
    return [answer for path in sorted((catalogue.FOLDER / notebook).glob("*.answers.py")) for answer in read(path)]


def of_exercise(notebook: str, name: str) -> list[BankAnswer]:
    """Returns the answers to one exercise; none where it has no file of them."""
    path = catalogue.FOLDER / notebook / f"{name}.answers.py"
    return read(path) if path.is_file() else []


def known_mistakes(notebook: str) -> list[BankAnswer]:
    """Returns the answers to a notebook's exercises that are its known mistakes."""
    return [answer for answer in answers(notebook) if answer.hint]


def read(path: Path) -> list[BankAnswer]:
    """Returns the answers of one file of the bank, all of them whole.

    Raises:
        BankError: for text before the first marker, and for a marker, a hint or a difference that is not understood.
    """
    answers: list[BankAnswer] = []
    base: BankAnswer | None = None
    for number, head, text in _cells(path):
        kind, title, mistake = head.group(1), head.group(2).strip(), (head.group(3) or "").strip()
        lines = text.split("\n")
        hints = list(takewhile(lambda line: line.startswith(HINT), lines))
        others = list(takewhile(lambda line: line.startswith(OTHER), lines))
        if others and (kind == "wrong" or len(others) > 1 or any(answer.other for answer in answers)):
            raise BankError(f"{path.name}:{number + 1}: expected one line '# other: ' in a file, below a right answer.")
        if hints and (not mistake or mistake in {answer.mistake for answer in answers}):
            where = f"the first answer with its name; {mistake!r} has one above" if mistake else "'-> its name'"
            raise BankError(f"{path.name}:{number + 1}: expected the hint of a mistake below {where}.")
        above = len(hints) + len(others)
        number, lines = number + 1 + above, lines[above:]  # the line below the hint
        if lines[:1] and lines[0].startswith(BASE):
            base = _named(lines[0].removeprefix(BASE).strip(), answers, f"{path.name}:{number}")
            source = _changed(base, lines[1:], path, number + 1)
        elif all(not line or line.startswith("#") for line in lines):  # no code: an answer has some
            if not answers:
                raise BankError(f"{path.name}:{number}: the first answer of a file has code; expected it whole.")
            base = base or answers[0]
            source = _changed(base, lines, path, number)
        else:
            source = "\n".join(lines)
        exercise, other = path.name.partition(".")[0], "".join(others).removeprefix(OTHER).strip()
        hint = _paragraphs(hints)
        answers.append(BankAnswer(path.parent.name, exercise, kind == "right", title, mistake, source, hint, other))
    return answers


def _paragraphs(hints: Sequence[str]) -> str:
    """Returns what lines `# hint: ...` say, each paragraph in a line."""
    said = " ".join(line.removeprefix(HINT).strip() or "\n\n" for line in hints)
    return "\n\n".join(paragraph.strip() for paragraph in said.split("\n\n"))


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


def _named(title: str, answers: Sequence[BankAnswer], place: str) -> BankAnswer:
    """Returns the answer above a difference that it names as its base."""
    found = [answer for answer in answers if answer.title == title]
    if len(found) != 1:
        raise BankError(f"{place}: {title!r} names {len(found)} answers above; expected the title of one.")
    return found[0]


def _changed(base: BankAnswer, lines: Sequence[str], path: Path, number: int) -> str:
    """Returns the source of an answer whose difference from `base` begins in line `number` of its file."""
    if lines[:1] and lines[0].startswith(REPLACES):
        return _replaced(base, lines, path, number)
    kept, made, end = base.source.split("\n"), list[str](), 0  # `made` of the lines above `end`
    for hunk in (text.split("\n") for text in "\n".join(lines).split(BETWEEN)):
        for below, line in enumerate(hunk):
            if not re.match("# [-+ ]|#$", line):  # editors take away the spaces at the end of "#  "
                form = "'# ~ old => new', or '# -', '# +' or '#  ' and a line of code, or '# ...' between two hunks"
                raise BankError(f"{path.name}:{number + below}: expected {form}, got {line!r}.")
        old, new = ([line[3:] for line in hunk if line[2:3] != sign] for sign in "+-")
        places = [at for at in range(len(kept)) if kept[at : at + len(old)] == old]
        if old == new:
            raise BankError(f"{path.name}:{number}: this hunk changes nothing; write what it takes away or adds.")
        if len(places) != 1 or places[0] < end:
            raise BankError(
                f"{path.name}:{number}: what this hunk takes away or keeps must stand once in {base.title!r}, below "
                f"the hunk before, and stands there {len(places)} times; copy it, with lines around it ('#  ')."
            )
        made += kept[end : places[0]] + new
        end, number = places[0] + len(old), number + len(hunk) + 1
    return "\n".join(made + kept[end:]).strip("\n")


def _replaced(base: BankAnswer, lines: Sequence[str], path: Path, number: int) -> str:
    """Returns the source of a base in which texts are replaced, one after another."""
    source = base.source
    for below, line in enumerate(lines, number):
        old, arrow, new = line.removeprefix(REPLACES).partition(" =>")
        if not line.startswith(REPLACES) or not arrow or old == new.removeprefix(" "):
            raise BankError(f"{path.name}:{below}: expected '# ~ old => new' with two texts, got {line!r}.")
        if (count := source.count(old)) != 1:
            raise BankError(
                f"{path.name}:{below}: {old!r} must stand once in {base.title!r}, as it is after the lines above, and "
                f"stands there {count} times; take in what stands beside it."
            )
        source = source.replace(old, new.removeprefix(" "))
    return source
