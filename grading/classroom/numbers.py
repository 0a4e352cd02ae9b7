"""Under which number of the site each student hands in: a name alone may be anybody's."""

from __future__ import annotations

import json

from grading.classroom.placing import Arrived
from grading.classroom.recognition import site_numbers
from grading.course import Course
from grading.errors import CourseError
from grading.files import write_whole


class Numbers:
    """Remembers under which number of the site each student has handed in an assignment, in a file of the class.

    Without a roster a student is called as the site shows the name, and everybody may choose that.
    """

    def __init__(self, course: Course) -> None:
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
        known, now = self._known.get(_of(arrived), []), site_numbers(arrived.item)
        if not known or not now or now & set(known):
            return ""
        return (
            f"{arrived.student} has handed in {arrived.assignment} as number {', '.join(known)} of the site, and this "
            f"is from number {', '.join(sorted(now))}: name both in gradebook/students.csv"
        )

    def remember(self, arrived: Arrived) -> None:
        """Keeps the number of a file that was placed."""
        known = self._known.setdefault(_of(arrived), [])
        known += sorted(site_numbers(arrived.item) - set(known))

    def close(self) -> None:
        """Writes the file, whole or not at all."""
        known = {name: numbers for name, numbers in sorted(self._known.items()) if numbers}
        if known or self._path.exists():
            write_whole(self._path, json.dumps(known, indent=1), durable=True)


def _of(arrived: Arrived) -> str:
    return f"{arrived.student}/{arrived.assignment}"
