"""The one writer of marks: nbgrader's own database and its autograded files, each submission whole or not at all."""

from __future__ import annotations

import contextlib
import datetime
import os
import time
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import nbformat
from nbformat import NotebookNode
from sqlalchemy.exc import SAWarning

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


class Writer:
    """Writes marks into nbgrader's gradebook with one connection, one transaction for each submission."""

    def __init__(self, course: Course) -> None:
        self.course = course
        self._gradebook = _patiently(course.gradebook)

    def close(self) -> None:
        """Ends the connection."""
        self._gradebook.close()

    def knows(self, assignment: str, master: Master) -> bool:
        """Says whether the gradebook has the assignment with the very cells of the master."""
        return _patiently(lambda: self._knows(assignment, master), self._rollback)

    def _knows(self, assignment: str, master: Master) -> bool:
        from nbgrader.api import MissingEntry

        try:
            notebook = self._gradebook.find_notebook(assignment, assignment)
        except MissingEntry:
            return False
        stored = {cell.name: cell.source for cell in notebook.source_cells}
        wanted = [cell for cell in master.notebook.cells if kind(cell)]
        return all(stored.get(grade_id(cell)) == cell.source for cell in wanted)

    def write(
        self,
        assignment: str,
        student: str,
        notebook: NotebookNode,
        received: datetime.datetime | None,
        *,
        only: str = "",
    ) -> float:
        """Writes one submission's marks, or the mark of `only` one exercise, and its notebook; returns its score.

        The notebook's file comes last and holds the fingerprint: a run that is killed in between grades it again.
        """
        path = self.course.autograded(student, assignment)
        temporary = path.with_name(f".{path.name}.half")
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(nbformat.v4.writes(notebook), encoding="utf-8")
        score = _patiently(lambda: self._transaction(assignment, student, notebook, received, only), self._rollback)
        os.replace(temporary, path)
        return score

    def _rollback(self) -> None:
        self._gradebook.db.rollback()

    def _transaction(
        self, assignment: str, student: str, notebook: NotebookNode, received: datetime.datetime | None, only: str
    ) -> float:
        from nbgrader.utils import compute_checksum, determine_grade, is_grade, is_solution

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
        cells = {grade_id(cell): cell for cell in notebook.cells if "nbgrader" in cell.metadata}
        if only:
            cells = {name: cell for name, cell in cells.items() if name == f"{only}_check"}
        with session.no_autoflush:
            for part in submission.notebooks:
                for grade in part.grades:
                    cell = cells.get(grade.name)
                    if cell is not None and is_grade(cell):
                        grade.auto_score = determine_grade(cell)[0]
                        grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
                for comment in part.comments:
                    cell = cells.get(comment.name)
                    if cell is not None and is_solution(cell):
                        untouched = cell.metadata.nbgrader.get("checksum") == compute_checksum(cell)
                        comment.auto_comment = "No response." if untouched else None
        session.flush()
        session.refresh(submission, ["score"])
        score = float(submission.score)
        session.commit()
        session.expunge_all()  # else each flush looks at every submission that was written before
        return score


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
