"""A course folder: where everything in it lies. Standard library only, so that no command waits for an import."""

from __future__ import annotations

import contextlib
import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from grading.folder.database import Address, read_address
from grading.folder.errors import CourseError
from grading.folder.files import read_bounded

ROOT = Path(__file__).resolve().parents[2]
COURSE_ID = "transformers"
ISO = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)(?:[T ](?P<time>\d\d:\d\d)(?::(?P<seconds>\d\d(?:[.,]\d{1,9})?))?"
    r" ?(?:Z|UTC|(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)?)?)?",
    re.ASCII,
)
MAX_OFFSET = 14 * 60  # minutes from UTC


@dataclass(frozen=True)
class Course:
    """The folder of a course, laid out as `nbgrader_config.py` says."""

    root: Path = ROOT

    @property
    def class_folder(self) -> Path:
        """Everything about people: submissions, marks, feedback."""
        return self.root / "gradebook"

    @property
    def database(self) -> Path:
        """The file of nbgrader's gradebook, where its `db_url` names no other place."""
        return self.class_folder / "gradebook.db"

    @property
    def roster(self) -> Path:
        """The instructor's list of students."""
        return self.class_folder / "students.csv"

    @property
    def submissions(self) -> Path:
        """The folder of all submissions."""
        return self.class_folder / "submitted"

    def source(self, assignment: str) -> Path:
        """Returns the text source of a notebook."""
        return self.root / "solutions" / f"{assignment}.py"

    def solution(self, assignment: str) -> Path:
        """Returns the solution notebook."""
        return self.root / "solutions" / assignment / f"{assignment}.ipynb"

    def released(self, assignment: str) -> Path:
        """Returns the notebook that students get."""
        return self.root / "notebooks" / assignment / f"{assignment}.ipynb"

    def submitted(self, student: str, assignment: str) -> Path:
        """Returns the folder of one submission."""
        return self.submissions / student / assignment

    def autograded(self, student: str, assignment: str) -> Path:
        """Returns the graded notebook of one submission."""
        return self.class_folder / "autograded" / student / assignment / f"{assignment}.ipynb"

    def feedback(self, student: str, assignment: str) -> Path:
        """Returns the feedback page of one submission."""
        return self.class_folder / "feedback" / student / assignment / f"{assignment}.html"

    def received(self, student: str, assignment: str) -> datetime.datetime | None:
        """Returns when a submission came in, as `read_timestamp` does."""
        return read_timestamp(self.submitted(student, assignment))

    @cached_property
    def assignments(self) -> list[str]:
        """The names of all assignments, in order: those that have a solution notebook."""
        return sorted(path.stem for path in (self.root / "solutions").glob("*/*.ipynb"))

    def submitted_folders(self, assignment: str) -> list[Path]:
        """Returns the submission folders of an assignment.

        Raises:
            CourseError: when the assignment is unknown, or nothing was submitted.
        """
        self.refuse_unknown(assignment)
        found = sorted(path for path in self.submissions.glob(f"*/{assignment}") if path.is_dir())
        if not found:
            raise CourseError(
                f"nothing was submitted for {assignment}: expected folders {self.submissions}/STUDENT/{assignment}/ "
                "with a notebook; put the collected files there."
            )
        return found

    def refuse_unknown(self, assignment: str) -> None:
        """Raises CourseError when this is no course folder, or has no such assignment."""
        if not self.assignments:
            raise CourseError(f"{self.root} is no course folder: expected solutions/NN_name/NN_name.ipynb in it.")
        if assignment not in self.assignments:
            raise CourseError(
                f"no assignment is called {assignment!r}; expected one of: {', '.join(self.assignments)}."
            )

    @cached_property
    def address(self) -> Address:
        """Where the gradebook is: what `db_url` of nbgrader's settings names, else `database`."""
        return read_address(self.root, self.database)

    def has_gradebook(self) -> bool:
        """Says whether there is a gradebook; raises CourseError when its server cannot be reached."""
        return self.address.exists()

    def refuse_damaged_gradebook(self) -> None:
        """Raises CourseError for a gradebook that a failed run left half made, or that cannot be reached or written."""
        self.address.refuse_damaged()

    def gradebook(self) -> Any:
        """Returns nbgrader's gradebook, opened: a context manager that closes it.

        A new one is made whole or not at all: whenever this process is killed, there is a whole one or none.

        Raises:
            CourseError: when its server cannot be reached, before or while it is used as a context manager.
        """
        return self.address.open(COURSE_ID)

    def name_students(self, names: Mapping[str, tuple[str, str]]) -> None:
        """Writes students' first and last names, by id, into the gradebook, where formgrader shows them."""
        with self.gradebook() as gradebook:
            for student, (first, last) in names.items():
                gradebook.update_or_create_student(student, first_name=first, last_name=last)


def read_timestamp(folder: Path) -> datetime.datetime | None:
    """Returns the time in a submission's `timestamp.txt`, in UTC and with its zone; None when it holds none.

    Only forms of ISO 8601 count (`read_iso`): of "12.01.2026" nobody knows whether it is in January or in December.
    """
    try:
        return parse_timestamp(read_bounded(folder / "timestamp.txt", 100))
    except OSError:
        return None


def parse_timestamp(data: bytes) -> datetime.datetime | None:
    """Returns the time that such a file holds, as `read_timestamp` does."""
    with contextlib.suppress(ValueError):
        return read_iso(data.decode("utf-8-sig"))
    return None


def read_iso(text: str) -> datetime.datetime:
    """Returns a time of ISO 8601, in UTC and with its zone; without a zone in the text it is in UTC.

    Raises:
        ValueError: for anything else, such as another order of day and month, or a zone by its name.
    """
    found = ISO.fullmatch(text.strip())
    if not found:
        raise ValueError(f"{text.strip()[:50]!r} is no time; expected for example 2026-01-12 18:00:00 UTC")
    hours, minutes = int(found["hours"] or 0), int(found["minutes"] or 0)
    if minutes > 59 or hours * 60 + minutes > MAX_OFFSET:
        raise ValueError(f"{text.strip()[:50]!r} has no time zone of this world; expected at most 14 hours")
    offset = datetime.timedelta(hours=hours, minutes=minutes) * (-1 if found["sign"] == "-" else 1)
    seconds = (found["seconds"] or "00").replace(",", ".")
    whole, _, parts = seconds.partition(".")
    time = datetime.datetime.fromisoformat(f"{found['day']} {found['time'] or '00:00'}:{whole}.{parts:0<6.6}")
    try:
        return (time - offset).replace(tzinfo=datetime.timezone.utc)
    except OverflowError as problem:
        raise ValueError(f"{text.strip()[:50]!r} is beyond the calendar") from problem
