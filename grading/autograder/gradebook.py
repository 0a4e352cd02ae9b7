"""The one writer of marks: nbgrader's own database and its autograded files, each submission whole or not at all."""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import html
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import nbformat
from nbformat import NotebookNode
from sqlalchemy.exc import SAWarning

from grading.authoring import build
from grading.autograder.grade_submission import Graded
from grading.autograder.submission import Master, Work, exercise_of, kind_of, rebuilt
from grading.errors import CourseError
from helpers.checking.verdict import MIME

T = TypeVar("T")
WAIT = 60.0  # seconds to wait for a database that somebody else is writing


@contextlib.contextmanager
def only_run(folder: Path) -> Iterator[None]:
    """Holds the lock of a class's gradebook folder; the kernel frees it however this process ends.

    Raises:
        CourseError: when another run holds it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".grading.lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as problem:
            raise CourseError(
                f"another run is grading {folder}; wait until it has ended (one run at a time keeps marks whole)."
            ) from problem
        yield


def graded_notebook(master: Master, work: Work, graded: Graded, key: str) -> NotebookNode:
    """Returns the notebook that nbgrader shows: the student's answers, and our verdicts as outputs of the checks."""
    notebook = rebuilt(master, work)
    for cell in notebook.cells:
        if kind_of(cell) == "solution":
            error = graded.errors.get(cell.metadata.nbgrader.grade_id, "")
            cell.outputs = [_shown("text/plain", f"When this cell was run: {error}")] if error else []
        elif kind_of(cell) == "check":
            verdict = graded.verdicts[exercise_of(cell)]
            page = {"text/plain": str(verdict), "text/html": verdict._repr_html_(), MIME: verdict.as_data()}
            mark = {"text/plain": repr(round(verdict.earned, 4))}
            cell.execution_count = 1
            cell.outputs = [
                nbformat.v4.new_output("display_data", page),
                nbformat.v4.new_output("execute_result", mark, execution_count=1),
            ]
    if graded.put_right:
        lines = "".join(f"<li>{html.escape(line)}</li>" for line in graded.put_right)
        note = nbformat.v4.new_markdown_cell(f"**Put right before grading**\n<ul>{lines}</ul>")
        note.id = "put-right"
        notebook.cells.insert(0, note)
    verdicts = {name: _recorded(graded, name) for name in graded.verdicts}
    notebook.metadata["grading"] = {"key": key, "verdicts": verdicts, "put_right": graded.put_right}
    return notebook


def _recorded(graded: Graded, name: str) -> dict[str, Any]:
    """Returns what the report of a class needs of a verdict."""
    verdict = graded.verdicts[name]
    kept = ("earned", "points", "outcome", "mistake", "hint", "sentence")
    return {key: getattr(verdict, key) for key in kept} | {"seconds": round(graded.spent.get(name, 0.0), 3)}


def _shown(kind: str, text: str) -> NotebookNode:
    output: NotebookNode = nbformat.v4.new_output("display_data", {kind: text})
    return output


def recorded_key(path: Path) -> str:
    """Returns the fingerprint of what an autograded notebook was made from, "" when there is none."""
    try:
        key = json.loads(path.read_text(encoding="utf-8"))["metadata"]["grading"]["key"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return ""  # missing, or left by something else: it is graded again
    return str(key)


class Writer:
    """Writes marks into nbgrader's gradebook with one connection, one transaction for each submission."""

    def __init__(self, course: Path, course_id: str = "transformers") -> None:
        from nbgrader.api import Gradebook

        self.course = course
        address = f"sqlite:///{course / 'gradebook' / 'gradebook.db'}"
        self._gradebook = _patiently(lambda: Gradebook(address, course_id))

    def close(self) -> None:
        """Ends the connection."""
        self._gradebook.close()

    def autograded(self, assignment: str, student: str) -> Path:
        """Returns the path of an autograded notebook."""
        return self.course / "gradebook" / "autograded" / student / assignment / f"{assignment}.ipynb"

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
        wanted = [cell for cell in master.notebook.cells if kind_of(cell)]
        return all(stored.get(cell.metadata.nbgrader.grade_id) == cell.source for cell in wanted)

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
        path = self.autograded(assignment, student)
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
        extra: dict[str, Any] = {} if received is None else {"timestamp": received}
        book.db = _Flushing(session)  # nbgrader commits after each of its steps; here they are one transaction
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SAWarning)  # nbgrader's objects meet before they are in the session
                book.update_or_create_student(student)
                submission = book.update_or_create_submission(assignment, student, **extra)
        finally:
            book.db = session
        cells = {cell.metadata.nbgrader.grade_id: cell for cell in notebook.cells if "nbgrader" in cell.metadata}
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
                told = " ".join(str(problem).splitlines()[0].split())[:200]
                raise CourseError(
                    f"the gradebook cannot be written: {told}; close what uses it, or make room."
                ) from problem
            time.sleep(pause)
            pause = min(1.0, 2 * pause)


def load_master(course: Path, assignment: str) -> Master:
    """Returns the master of an assignment, with checksums as nbgrader computes them for a release."""
    path = course / "solutions" / assignment / f"{assignment}.ipynb"
    source = nbformat.read(path, as_version=4)
    released = {cell.id: cell for cell in build.release(source).cells}
    for cell in source.cells:
        if kind_of(cell) in ("solution", "essay"):
            cell.metadata = released[cell.id].metadata
            cell.source = released[cell.id].source
    return Master(assignment, source)
