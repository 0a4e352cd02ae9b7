"""A file of the class in which `collect` remembers what nbgrader's gradebook has no place for."""

from __future__ import annotations

import json
from typing import Any

from grading.folder.course import Course
from grading.folder.errors import CourseError
from tutor.files import write_whole


class SideFile:
    """A JSON object beside the gradebook: `known`, of which empty values are not kept.

    Raises:
        CourseError: when the file is damaged; with `remedy`, which says what follows from deleting it.
    """

    def __init__(self, course: Course, name: str, remedy: str) -> None:
        self._path = course.class_folder / name
        self.known: dict[str, Any] = {}
        try:
            self.known |= json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return
        except (ValueError, TypeError) as problem:
            raise CourseError(
                f"{self._path} is damaged ({problem}); expected what an earlier collection wrote. Delete it{remedy}"
            ) from problem

    def close(self) -> None:
        """Writes the file, whole or not at all; where there is nothing to remember, none is made."""
        known = {name: value for name, value in sorted(self.known.items()) if value}
        if known or self._path.exists():
            write_whole(self._path, json.dumps(known, indent=1), durable=True)
