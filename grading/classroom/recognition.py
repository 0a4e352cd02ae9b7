"""Whose a delivered file is, and for which assignment: from the names that Moodle, Canvas or people give to files."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grading import assignments
from grading.cells import cells_of
from grading.classroom.deliveries import Item, RefusedError
from grading.classroom.placing import Arrived
from grading.classroom.roster import Roster, valid_id

MOODLE = re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_(?P<kind>file|onlinetext)(?:_(?P<rest>.*))?")
CANVAS = re.compile(r"(?P<name>[^_/]+)_(?:LATE_)?(?P<number>\d+)_(?P<delivery>\d+)_(?P<rest>.+)", re.IGNORECASE)
ARCHIVES = (".zip", ".tar", ".gz", ".7z", ".rar")


@dataclass(frozen=True)
class Class:
    """Who and what a file can be of: the course folder, its roster (empty: anybody) and its assignments.

    `asked` is the one assignment that everything is for, "" when the files tell.
    """

    course: Path
    people: Roster
    known: list[str]
    asked: str = ""

    def recognise(self, item: Item) -> Arrived:
        """Returns whose file it is, and for which assignment.

        Raises:
            RefusedError: when student or assignment cannot be told; the message says why.
        """
        if not item.name.casefold().endswith(".ipynb"):
            archive = item.name.casefold().endswith(ARCHIVES)
            raise RefusedError("is an archive; unpack it by hand" if archive else "is no notebook")
        file, inside = item.parts[-1], item.parts[:-1]
        moodle = next((found for part in item.parts if (found := MOODLE.fullmatch(part))), None)
        canvas = CANVAS.fullmatch(file) if moodle is None else None
        if moodle:
            student = self._person(moodle["number"], moodle["name"])
            if file == moodle.string:  # Moodle without folders: the file's name follows
                file = moodle["rest"] or ""
        elif canvas:
            student, file = self._person(canvas["number"], canvas["name"]), canvas["rest"]
        else:
            student = self._named(file, inside)
        assignment = self._assignment(item, file) or self.asked
        if not assignment:
            raise RefusedError(f"is for no assignment that can be told; say which: collect PATH {self.known[0]}")
        if self.asked and assignment != self.asked:
            raise RefusedError(f"is for {assignment}, not for {self.asked}; collect it without naming an assignment")
        attempt = re.search(r"-(\d{1,4})\.ipynb$", file, re.IGNORECASE) if canvas else None
        return Arrived(student, assignment, item, int(attempt[1]) if attempt else 0)

    def _assignment(self, item: Item, file: str) -> str:
        """Returns the assignment that a folder, the file's name or its cells tell, "" when none does."""
        folder = next((part for part in reversed(item.parts[:-1]) if part in self.known), "")
        told = folder or assignments.by_name(file, self.known)
        if told:
            return told
        try:
            cells = cells_of(json.loads(item.read().decode("utf-8-sig")))
        except (ValueError, RecursionError):  # a RefusedError is a ValueError
            return ""
        return assignments.by_content(cells, self.course) if cells else ""

    def _person(self, number: str, name: str) -> str:
        """Returns the student whom a site means by a number and a name."""
        if not self.people:
            return re.sub(r"[^\w.@-]+", "_", unicodedata.normalize("NFC", name)).strip("_.-").casefold()[:100]
        return _only(self.people.find(number=number, name=name), f"{name} ({number})")

    def _named(self, file: str, inside: Sequence[str]) -> str:
        """Returns the student whom the names of a file and its folders tell: STUDENT_ASSIGNMENT, or STUDENT/..."""
        stem = file[: -len(".ipynb")]
        place = next((index for index in range(len(inside) - 1, -1, -1) if inside[index] in self.known), None)
        if place == 0:
            raise RefusedError("names no student; expected STUDENT/ASSIGNMENT/file.ipynb")
        if place is not None:
            told = inside[place - 1]
        else:
            suffix = next((f"_{name}" for name in self.known if stem.endswith(f"_{name}")), "")
            if not inside and not suffix and assignments.by_name(file, self.known):
                raise RefusedError("names no student; expected STUDENT_ASSIGNMENT.ipynb or a folder for each student")
            before = stem.removesuffix(suffix)
            told = before if suffix or not inside or self._knows_only(before, inside[-1]) else inside[-1]
        if self.people:
            return _only(self.people.find(label=told), told)
        if not valid_id(told):
            raise RefusedError(f"{told!r} cannot be a student's id; expected letters, digits and .@_- only")
        return told

    def _knows_only(self, one: str, other: str) -> bool:
        """Says whether the roster knows the first label, and not the other."""
        return bool(self.people.find(label=one)) and not self.people.find(label=other)


def site_numbers(item: Item) -> set[str]:
    """Returns the numbers that Moodle or Canvas gives to the person of a file."""
    matches = [MOODLE.fullmatch(part) for part in item.parts] + [CANVAS.fullmatch(item.parts[-1])]
    return {match["number"] for match in matches if match}


def _only(found: set[str], told: str) -> str:
    if len(found) > 1:
        raise RefusedError(f"{told} fits several students of the roster: {', '.join(sorted(found))}")
    if not found:
        raise RefusedError(f"{told} is not in the roster")
    return next(iter(found))
