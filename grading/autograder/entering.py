"""Takes a notebook into the gradebook: which cells it has, and what each is worth, as `solutions/` has them now.

nbgrader's own step takes a notebook in that has other cells only while nobody has handed in. Here it may change in mid
term: each mark then counts for the points that the notebook has now, or it counts no more until it is given again.
"""

from __future__ import annotations

import csv
import datetime
import io
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from nbgrader import api
from nbgrader.utils import compute_checksum, is_grade, is_locked, is_solution
from sqlalchemy.orm import Session

from grading.autograder.gradebook import patiently
from grading.autograder.submission import Master
from grading.folder.course import COURSE_ID, Course
from grading.folder.text import printable
from grading.notebooks.cells import grade_id
from tutor.files import write_whole

SHOWN = 20  # students who are named in one line


@dataclass(frozen=True)
class Cells:
    """What the gradebook has of a notebook's cells, by name.

    `graded` are points and type of what has a mark, `sources` type, lock and text of all.
    """

    graded: Mapping[str, tuple[float, str]]
    solutions: frozenset[str]
    sources: Mapping[str, tuple[str, bool, str]]

    @property
    def points(self) -> float:
        """The points of the whole notebook."""
        return sum(points for points, _ in self.graded.values())


def enter(course: Course, master: Master, report: Callable[[str], None] = lambda sentence: None) -> str:
    """Makes the gradebook have an assignment as its master is; returns which points have changed, "" for none.

    Points that were given by other points, or for another type of cell, are taken out until it is graded again. Marks
    that a person gave stay, at most the new points, and are to be looked at again. What was left out leaves the
    gradebook; the marks that people gave it are kept in a file. `report` gets what else happens, as for a `Writer`.

    Raises:
        CourseError: when the gradebook cannot be read or written.
    """
    with course.address.turn():
        patiently(course, course.gradebook).close()  # there is one now, whole or not at all
        if knows(course, master):
            return ""
        with closing(_Connection(course)) as connection:
            return patiently(course, lambda: connection.enter(master), report)


def knows(course: Course, master: Master) -> bool:
    """Says whether the gradebook has an assignment with the very cells and points of the master, and no others."""

    def stored() -> Cells | None:
        with course.gradebook() as book:
            notebook = _notebook(book.db, master.assignment)
            return None if notebook is None else _held(notebook)

    return patiently(course, stored) == wanted(master)


def ungraded(course: Course, assignment: str) -> list[str]:
    """Returns whose graded notebook has an exercise without points in the gradebook: it is to be graded again."""
    with course.gradebook() as book:
        rows = book.db.query(api.SubmittedAssignment.student_id)
        rows = rows.join(api.SubmittedNotebook, api.SubmittedNotebook.assignment_id == api.SubmittedAssignment.id)
        rows = rows.join(api.Grade, api.Grade.notebook_id == api.SubmittedNotebook.id)
        rows = rows.join(api.GradeCell, api.GradeCell.id == api.Grade.cell_id)
        rows = rows.join(api.Assignment, api.Assignment.id == api.SubmittedAssignment.assignment_id)
        rows = rows.filter(api.Assignment.name == assignment, api.GradeCell.cell_type == "code")
        rows = rows.filter(api.Grade.auto_score.is_(None), api.Grade.manual_score.is_(None))
        found = sorted({student for (student,) in rows})
    return [student for student in found if course.autograded(student, assignment).exists()]


def say_who_is_left(assignment: str, students: Sequence[str], command: str) -> str:
    """Returns the sentence on students whose marks do not count until a command grades them again."""
    more = len(students) - SHOWN
    named = printable(", ".join(students[:SHOWN]), 1000) + (f" and {more} more" if more > 0 else "")
    return (
        f"{assignment}: graded by other points than it has now, and without a mark until they are graded again "
        f"({command}): {named}."
    )


def wanted(master: Master) -> Cells:
    """Returns what the gradebook has to have of a master."""
    own = [cell for cell in master.notebook.cells if "nbgrader" in cell.metadata]
    return Cells(
        {grade_id(cell): (float(cell.metadata.nbgrader.points), cell.cell_type) for cell in own if is_grade(cell)},
        frozenset(grade_id(cell) for cell in own if is_solution(cell)),
        {
            grade_id(cell): (cell.cell_type, bool(is_locked(cell)), cell.source)
            for cell in own
            if is_grade(cell) or is_solution(cell) or is_locked(cell)
        },
    )


def _held(notebook: Any) -> Cells:
    graded = [*notebook.grade_cells, *notebook.task_cells]
    return Cells(
        {cell.name: (float(cell.max_score), cell.cell_type) for cell in graded},
        frozenset(cell.name for cell in notebook.solution_cells),
        {cell.name: (cell.cell_type, bool(cell.locked), cell.source) for cell in notebook.source_cells},
    )


def _notebook(db: Any, assignment: str) -> Any:
    """Returns nbgrader's object of an assignment's notebook; None where there is none."""
    query = db.query(api.Notebook).join(api.Assignment, api.Assignment.id == api.Notebook.assignment_id)
    return query.filter(api.Assignment.name == assignment, api.Notebook.name == assignment).one_or_none()


class _Connection:
    """A connection to the gradebook that writes: each entry is one transaction."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._engine = course.address.engine_for_writing()

    def close(self) -> None:
        self._engine.dispose()

    def enter(self, master: Master) -> str:
        """Does what `enter` does."""
        with Session(self._engine) as db:
            notebook = _notebook(db, master.assignment)
            new = notebook is None
            if new:
                notebook = _new_notebook(db, master)
            before, now, said = _held(notebook), wanted(master), list[str]()
            kept = self._leave_out(db, notebook, now, master.assignment, said)
            said += _change(db, notebook, before, now)
            _write_sources(db, notebook, master)
            db.commit()
        if new or not said:
            return ""
        total = f"{now.points:g} in all ({before.points:g} before)"
        return f"{master.assignment} has other points now: {', '.join(said)}; {total}.{kept}"

    def _leave_out(self, db: Any, notebook: Any, now: Cells, assignment: str, said: list[str]) -> str:
        """Removes the cells that the master has not, with what is kept for each; what people gave goes to a file.

        Returns a sentence that names the file, "" where there is none.
        """
        by_people: list[list[str]] = []
        for cell in [*notebook.grade_cells, *notebook.task_cells, *notebook.solution_cells]:
            graded = not isinstance(cell, api.SolutionCell)
            if cell.name in (now.graded if graded else now.solutions) and not isinstance(cell, api.TaskCell):
                continue
            if graded:
                said.append(f"{_called(cell.name)} left out ({cell.max_score:g})")
            for table, column in ((api.Grade, "manual_score"), (api.Comment, "manual_comment")):
                for row in db.query(table).filter(table.cell_id == cell.id):
                    value = getattr(row, column)
                    if value is not None:
                        by_people.append([row.notebook.assignment.student_id, cell.name, column, str(value)])
                    db.delete(row)
            db.flush()
            db.delete(cell)
        for source in notebook.source_cells:
            if source.name not in now.sources:
                db.delete(source)
        db.flush()
        if not by_people:
            return ""
        moment = datetime.datetime.now(datetime.timezone.utc)
        path = self._course.class_folder / "left_out" / f"{assignment}_{moment:%Y%m%d-%H%M%S}.csv"
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\r\n").writerows([["student", "cell", "what", "value"], *by_people])
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.getvalue())
        return f" What people had given for what is left out is kept in {path}."


def _change(db: Any, notebook: Any, before: Cells, now: Cells) -> list[str]:
    """Makes the cells that are new, for each submission too, and changes those that are other; returns which."""
    said = list[str]()
    db.expire(notebook)
    held = {cell.name: cell for cell in notebook.grade_cells}
    for name, (points, kind) in now.graded.items():
        cell = held.get(name)
        if cell is None:
            cell = api.GradeCell(name=name, notebook=notebook, max_score=points, cell_type=kind)
            db.add(cell)
            db.flush()
            for part in notebook.submissions:
                db.add(api.Grade(cell_id=cell.id, notebook=part))
            said.append(f"{_called(name)} new ({points:g})")
        elif before.graded[name] != (points, kind):
            old, old_kind = before.graded[name]
            change = f"{old:g} -> {points:g}" if old != points else f"{old_kind} -> {kind}"
            said.append(f"{_called(name)} {change}")
            cell.max_score, cell.cell_type = points, kind
            for grade in db.query(api.Grade).filter(api.Grade.cell_id == cell.id):
                _take_out(grade, points, kind, same_type=old_kind == kind)
    for name in now.solutions - {cell.name for cell in notebook.solution_cells}:
        cell = api.SolutionCell(name=name, notebook=notebook)
        db.add(cell)
        db.flush()
        for part in notebook.submissions:
            db.add(api.Comment(cell_id=cell.id, notebook=part))
    return said


def _take_out(grade: Any, points: float, kind: str, *, same_type: bool) -> None:
    """Takes out what counts no more when a cell has other points."""
    if grade.manual_score is not None:
        grade.manual_score = min(grade.manual_score, points)
        grade.needs_manual_grade = True
    if kind == "code" or not same_type:  # an essay's own score is 0, for an answer that is as it was released
        grade.needs_manual_grade = grade.needs_manual_grade or grade.auto_score is not None
        grade.auto_score = None


def _new_notebook(db: Any, master: Master) -> Any:
    """Returns a new notebook in the gradebook, of an assignment that is made where it is missing."""
    assignment = db.query(api.Assignment).filter_by(name=master.assignment).one_or_none()
    if assignment is None:
        if db.get(api.Course, COURSE_ID) is None:
            db.add(api.Course(id=COURSE_ID))
            db.flush()
        assignment = api.Assignment(name=master.assignment, course_id=COURSE_ID)
        db.add(assignment)
    kernel = json.dumps(master.notebook.metadata.get("kernelspec", {}))
    notebook = api.Notebook(name=master.assignment, assignment=assignment, kernelspec=kernel)
    db.add(notebook)
    db.flush()
    for submission in assignment.submissions:  # an extension for somebody, before anything was graded
        db.add(api.SubmittedNotebook(notebook=notebook, assignment=submission))
    db.flush()
    return notebook


def _write_sources(db: Any, notebook: Any, master: Master) -> None:
    """Writes what a submission's cells are compared with."""
    sources = wanted(master).sources
    held = {source.name: source for source in notebook.source_cells}
    for cell in master.notebook.cells:
        if (name := grade_id(cell)) in sources:
            source = held.get(name) or api.SourceCell(name=name, notebook=notebook)
            source.cell_type, source.locked, source.source = sources[name]
            source.checksum = compute_checksum(cell)
            db.add(source)


def _called(name: str) -> str:
    return name.removesuffix("_check")
