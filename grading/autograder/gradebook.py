"""The one writer of marks: nbgrader's own database and its autograded files, each submission whole or not at all."""

from __future__ import annotations

import contextlib
import datetime
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import nbformat
from nbformat import NotebookNode
from sqlalchemy.exc import SAWarning

from grading.autograder.penalties import LatePenalties
from grading.autograder.read_before import Answers
from grading.autograder.submission import Master
from grading.cells import grade_id, kind
from grading.course import Course
from grading.errors import CourseError
from grading.files import locked
from grading.text import one_line

T = TypeVar("T")
WAIT = 60.0  # seconds to wait for a database that somebody else is writing


def only_run(course: Course) -> contextlib.AbstractContextManager[None]:
    """Holds the lock of a class's gradebook folder; the kernel frees it however this process ends.

    Raises:
        CourseError: when another run holds it.
    """
    folder = course.class_folder
    told = f"another run is grading {folder}; wait until it has ended (one run at a time keeps marks whole)."
    return locked(folder / ".grading.lock", told)


def knows(course: Course, master: Master) -> bool:
    """Says whether the gradebook has an assignment with the very cells of the master."""
    from nbgrader.api import MissingEntry

    def stored() -> dict[str, str] | None:
        with course.gradebook() as book:
            try:
                notebook = book.find_notebook(master.assignment, master.assignment)
            except MissingEntry:
                return None
            return {cell.name: cell.source for cell in notebook.source_cells}

    found = _patiently(stored)
    wanted = [cell for cell in master.notebook.cells if kind(cell)]
    return found is not None and all(found.get(grade_id(cell)) == cell.source for cell in wanted)


@dataclass(frozen=True)
class Written:
    """What the gradebook holds of a submission: its mark, from which a penalty for lateness has been taken off."""

    score: float
    penalty: float
    changed: bool = True


class Writer:
    """Writes marks into nbgrader's gradebook with one connection, one transaction for each submission."""

    def __init__(self, course: Course, penalties: LatePenalties) -> None:
        self.course, self._penalties = course, penalties
        self._gradebook = _patiently(course.gradebook)

    def close(self) -> None:
        """Ends the connection."""
        self._gradebook.close()

    def write(
        self,
        assignment: str,
        student: str,
        notebook: NotebookNode,
        received: datetime.datetime | None,
        *,
        only: str = "",
    ) -> Written:
        """Writes one submission's marks, or the mark of `only` one exercise, and its notebook; returns its mark.

        The notebook's file comes last and holds the fingerprint: a run that is killed in between grades it again.

        Raises:
            PenaltyError: when the course's late-penalty plugin stops; then nothing was written.
        """
        path = self.course.autograded(student, assignment)
        temporary = path.with_name(f".{path.name}.half")
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(nbformat.v4.writes(notebook), encoding="utf-8")
        try:
            written = _patiently(
                lambda: self._transaction(assignment, student, notebook, received, only), self._rollback
            )
        except CourseError:
            self._rollback()
            temporary.unlink()
            raise
        os.replace(temporary, path)
        return written

    def count_lateness(self, assignment: str, student: str, received: datetime.datetime | None) -> Written | None:
        """Takes points off for lateness where answers are as they were: as time, due date and extension now say.

        Returns what the gradebook holds of a submission, and whether the penalty has changed; None when it is unknown.

        Raises:
            PenaltyError: when the course's late-penalty plugin stops; then nothing was written.
        """
        try:
            return _patiently(lambda: self._lateness(assignment, student, received), self._rollback)
        except CourseError:
            self._rollback()
            raise

    def _lateness(self, assignment: str, student: str, received: datetime.datetime | None) -> Written | None:
        submission = self._find(assignment, student)
        if submission is None:
            return None
        moment = submission.timestamp if received is None else received.replace(tzinfo=None)
        before = float(submission.late_submission_penalty)
        if moment == submission.timestamp and not before and not submission.total_seconds_late:
            return Written(float(submission.score), 0.0, changed=False)
        submission.timestamp = moment
        written = self._finish(submission)
        return replace(written, changed=written.penalty != before)

    def _find(self, assignment: str, student: str) -> Any:
        from nbgrader.api import MissingEntry

        try:
            return self._gradebook.find_submission(assignment, student)
        except MissingEntry:
            return None

    def _rollback(self) -> None:
        self._gradebook.db.rollback()

    def _transaction(
        self, assignment: str, student: str, notebook: NotebookNode, received: datetime.datetime | None, only: str
    ) -> Written:
        from nbgrader.utils import compute_checksum, is_grade, is_solution

        book, session = self._gradebook, self._gradebook.db
        extra: dict[str, Any] = {} if received is None else {"timestamp": received.replace(tzinfo=None)}  # it is UTC
        book.db = _Flushing(session)  # nbgrader commits after each of its steps; here they are one transaction
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SAWarning)  # nbgrader's objects meet before they are in the session
                book.update_or_create_student(student)
                submission = book.update_or_create_submission(assignment, student, **extra)
        finally:
            book.db = session
        answers = Answers(self.course, student, assignment, notebook)
        cells = {grade_id(cell): cell for cell in notebook.cells if "nbgrader" in cell.metadata}
        if only:
            cells = {name: cell for name, cell in cells.items() if name == f"{only}_check"}
        with session.no_autoflush:
            for part in submission.notebooks:
                for grade in part.grades:
                    cell = cells.get(grade.name)
                    if cell is not None and is_grade(cell):
                        answers.set_mark(grade, cell)
                for comment in part.comments:
                    cell = cells.get(comment.name)
                    if cell is not None and is_solution(cell):
                        untouched = cell.metadata.nbgrader.get("checksum") == compute_checksum(cell)
                        comment.auto_comment = "No response." if untouched else None
        written = self._finish(submission)
        answers.keep()
        return written

    def _finish(self, submission: Any) -> Written:
        """Ends a transaction with the points that lateness costs, counted from the mark as it now is."""
        session = self._gradebook.db
        session.flush()
        for part in submission.notebooks:
            session.refresh(part, ["score"])
        penalty = self._penalties.assign(submission)
        score = float(sum(part.score for part in submission.notebooks))
        session.commit()
        session.expunge_all()  # else each flush looks at every submission that was written before
        return Written(max(0.0, score - penalty), penalty)


class _Flushing:
    """A database session in which a commit only sends what has changed, within the transaction."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def commit(self) -> None:
        self._session.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)


def _patiently(action: Callable[[], T], undo: Callable[[], None] = lambda: None) -> T:
    """Returns what an action gives; tries again while another process has the database locked."""
    from nbgrader.api import InvalidEntry
    from sqlalchemy.exc import OperationalError

    end, pause = time.monotonic() + WAIT, 0.05
    while True:
        try:
            return action()
        except (OperationalError, InvalidEntry) as problem:  # nbgrader gives some of the former as the latter
            undo()
            if "locked" not in str(problem) or time.monotonic() > end:
                told = one_line(str(problem).splitlines()[0], 200)
                raise CourseError(
                    f"the gradebook cannot be written: {told}; close what uses it, or make room."
                ) from problem
            time.sleep(pause)
            pause = min(1.0, 2 * pause)
