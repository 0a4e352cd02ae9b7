"""The one writer of marks: nbgrader's own database and its autograded files, each submission whole or not at all.

`marks` has the statements; here is what surrounds them: files, waiting, and what to do when a server goes away.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from nbgrader.api import InvalidEntry
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError

from grading.autograder.marks import Marked, Written, count_lateness, store
from grading.autograder.penalties import LatePenalties, PenaltyError
from grading.autograder.read_before import Answers
from grading.folder.course import Course
from grading.folder.database import is_lost
from grading.folder.errors import CourseError
from grading.folder.files import locked
from grading.notebooks.beside import copy_others, write_beside

T = TypeVar("T")
WAIT = 60.0  # seconds to wait for a database that somebody else is writing, or whose server is gone
BATCH = 200  # submissions in one transaction: more make it hardly faster, and others wait longer
CLASHES = ("40001", "40P01")  # PostgreSQL's states for two transactions of which one has to be done again
MOST_CLASHES = 20


def only_run(course: Course) -> contextlib.AbstractContextManager[None]:
    """Holds the lock of a class's gradebook folder; the kernel frees it however this process ends.

    Raises:
        CourseError: when another run holds it.
    """
    folder = course.class_folder
    message = f"another run is grading {folder}; wait until it has ended (one run at a time keeps marks whole)."
    return locked(folder / ".grading.lock", message)


class UnwritableError(CourseError):
    """The database refuses the rows of one submission; the message says why."""


class Writer:
    """Writes marks into nbgrader's gradebook, many submissions in one transaction, each whole or not at all.

    Where a server goes away, it waits for it, and `report` gets the sentence that says so.
    """

    def __init__(
        self, course: Course, penalties: LatePenalties, report: Callable[[str], None] = lambda sentence: None
    ) -> None:
        self.course, self._penalties, self._report = course, penalties, report
        patiently(course, course.gradebook).close()  # there is one now
        self._engine = course.address.engine_for_writing()

    def close(self) -> None:
        """Ends the connection."""
        self._engine.dispose()

    def write(self, marked: Sequence[Marked]) -> list[Written | CourseError]:
        """Writes the marks of submissions and their notebooks.

        A notebook's file comes last and holds the fingerprint: a run that is killed in between grades it again.

        Returns:
            For each submission what the gradebook holds now, or why nothing of it was written: the course's
            late-penalty plugin stops, or the database refuses a row.

        Raises:
            CourseError: when the gradebook cannot be written.
        """
        return [row for start in range(0, len(marked), BATCH) for row in self._write(marked[start : start + BATCH])]

    def _write(self, marked: Sequence[Marked]) -> list[Written | CourseError]:
        paths = [self.course.autograded(one.student, one.assignment) for one in marked]
        temporaries = [path.with_name(f".{path.name}.half") for path in paths]
        try:
            for temporary, one in zip(temporaries, marked, strict=True):
                # On one line: with indents json takes ten times as long, and nbformat copies it all first.
                temporary.parent.mkdir(parents=True, exist_ok=True)
                text = json.dumps(one.notebook, ensure_ascii=False, sort_keys=True)
                # JSON can hold halves of characters, which UTF-8 cannot.
                temporary.write_text(text, encoding="utf-8", errors="replace")
            written = self._rows(marked)
            for one, path, temporary, result in zip(marked, paths, temporaries, written, strict=True):
                if isinstance(result, Written):
                    write_beside(path.parent, {})  # until all is there, so that no page goes to another attempt
                    os.replace(temporary, path)
                    self._answers(one).keep()
                    self.keep_beside(one.assignment, one.student, one.beside)
        finally:
            for temporary in temporaries:
                temporary.unlink(missing_ok=True)
        return written

    def keep_beside(self, assignment: str, student: str, beside: Mapping[str, bytes]) -> None:
        """Puts beside a graded notebook what nbgrader puts there: which attempt it is, and a student's other files."""
        place = self.course.autograded(student, assignment).parent
        write_beside(place, beside)
        copy_others(self.course.submitted(student, assignment), place, self._report)

    def _rows(self, marked: Sequence[Marked]) -> list[Written | CourseError]:
        """Writes all in one transaction; where the database refuses a row, each in one of its own."""

        def transaction() -> list[Written | PenaltyError]:
            with self._engine.begin() as connection:
                return store(connection, marked, self._penalties, self._answers)

        try:
            return [*patiently(self.course, transaction, self._report)]
        except (DBAPIError, UnicodeError) as problem:
            if len(marked) > 1:
                return [result for one in marked for result in self._rows([one])]
            if isinstance(problem, UnicodeError):
                return [UnwritableError("the gradebook does not take it: a text is none; ask for the file again.")]
            return [UnwritableError(f"the gradebook does not take it: {self.course.address.reason(problem)}")]

    def _answers(self, one: Marked) -> Answers:
        return Answers(self.course, one.student, one.assignment, one.notebook)

    def count_lateness(self, assignment: str, student: str, received: datetime.datetime | None) -> Written | None:
        """Takes points off for lateness where answers are as they were: as time, due date and extension now say.

        Returns what the gradebook holds of a submission, and whether the penalty has changed; None when it is unknown.

        Raises:
            PenaltyError: when the course's late-penalty plugin stops; then nothing was written.
            CourseError: when the gradebook cannot be written.
        """

        def transaction() -> Written | None:
            with self._engine.begin() as connection:
                return count_lateness(connection, assignment, student, received, self._penalties)

        return patiently(self.course, transaction, self._report)


def patiently(course: Course, action: Callable[[], T], report: Callable[[str], None] = lambda sentence: None) -> T:
    """Returns what an action gives; tries again while others have the rows, or the server does not answer.

    An action is a whole transaction: one whose end was not confirmed is done again, with the same result.

    Raises:
        CourseError: when it cannot be done, or not for as long as one waits.
        DBAPIError: when the database refuses the data.
    """
    began = lost = None
    pause, clashes = 0.05, 0
    while True:
        try:
            result = action()
            break
        except (DBAPIError, InvalidEntry) as problem:  # nbgrader gives some of the former as the latter
            cause = problem if isinstance(problem, DBAPIError) else problem.__context__
            began = began or time.monotonic()
            waited = time.monotonic() - began
            if is_lost(cause):
                lost = lost or time.monotonic()
                if waited > WAIT:
                    raise _gone(course, cause) from None
            elif clashes < MOST_CLASHES and _has_clashed(cause):
                clashes += 1
            elif isinstance(cause, DataError | IntegrityError):
                raise
            elif "locked" not in str(problem) or waited > WAIT:
                reason = course.address.reason(problem)
                raise CourseError(
                    f"the gradebook cannot be written: {reason}; close what uses it, or make room."
                ) from problem
        time.sleep(pause)
        pause = min(1.0, 2 * pause)
    if lost:
        report(
            f"the gradebook ({course.address}) did not answer for {time.monotonic() - lost:.1f} s, and does again: no "
            "mark is lost, and none is written twice."
        )
    return result


def _has_clashed(problem: BaseException | None) -> bool:
    """Says whether another transaction was in the way, which has made the same rows or waits for ours."""
    state = getattr(getattr(problem, "orig", None), "sqlstate", None)
    return state in CLASHES or isinstance(problem, IntegrityError)


def _gone(course: Course, problem: BaseException | None) -> CourseError:
    reason = course.address.reason(problem)
    return CourseError(
        f"the gradebook ({course.address}) has not answered for {WAIT:.0f} s: {reason}; what was written is whole, and "
        "no mark is in it twice. Start the server, and run the same command again: it goes on."
    )
