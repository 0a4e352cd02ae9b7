"""Under which number of the site each student hands in: a name alone may be anybody's."""

from __future__ import annotations

import json

from grading.classroom.placing import Arrived
from grading.course import Course
from grading.errors import CourseError
from grading.files import write_whole


class Numbers:
    """Remembers under which number of the site each student has handed in an assignment, in a file of the class.

    Everybody may choose the name that a site shows. Without a roster the same goes for a folder of another's name
    inside one's own: there it is the path that is remembered.
    """

    def __init__(self, course: Course, *, with_roster: bool) -> None:
        self._course, self._with_roster = course, with_roster
        self._path = course.class_folder / "site_numbers.json"
        try:
            known = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            known = {}
        except ValueError as problem:
            raise CourseError(
                f"{self._path} is damaged ({problem}); expected what an earlier collection wrote. Delete it: whose "
                "work is whose is then told by the names alone, once."
            ) from problem
        self._known: dict[str, list[str]] = {name: list(map(str, numbers)) for name, numbers in dict(known).items()}

    def strange(self, arrived: Arrived) -> str:
        """Returns "" or why a file is not from who has handed in under this name before."""
        known, now = self._known.get(_of(arrived), []), self._told(arrived)
        if not now or now in known or arrived.item.owner:
            return ""
        remedy = "fill in the list of unknown files, or name both in gradebook/students.csv"
        numbers = [one for one in known if not one.startswith("folder ")]
        if now.startswith("folder ") or not numbers:
            inside = "/" in arrived.owner.source.strip("/") and not self._with_roster
            there = inside and self._course.submitted(arrived.student, arrived.assignment).exists()
            return f"lies in another folder, and {arrived.student} has handed in already: {remedy}" if there else ""
        return (
            f"{arrived.student} has handed in {arrived.assignment} as number {', '.join(numbers)} of the site, and "
            f"this is from number {now}: {remedy}"
        )

    def _told(self, arrived: Arrived) -> str:
        """Returns what is remembered of a file: the site's number, or the path of a folder inside another one."""
        nested = "/" in arrived.owner.source.strip("/") and not self._with_roster
        return arrived.owner.number or (f"folder {arrived.owner.source}" if nested else "")

    def remember(self, arrived: Arrived) -> None:
        """Keeps what told the owner of a file that was placed."""
        known = self._known.setdefault(_of(arrived), [])
        known += {self._told(arrived)} - {*known, ""}

    def close(self) -> None:
        """Writes the file, whole or not at all."""
        known = {name: numbers for name, numbers in sorted(self._known.items()) if numbers}
        if known or self._path.exists():
            write_whole(self._path, json.dumps(known, indent=1), durable=True)


def _of(arrived: Arrived) -> str:
    return f"{arrived.student}/{arrived.assignment}"
