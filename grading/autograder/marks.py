"""Marks of many submissions in one transaction, by statements on nbgrader's own tables.

What nbgrader's API does with an object for each cell and a commit for each mark is here one statement for each table.
The rows are the same. Every row is read locked (a file is locked as a whole): what somebody else writes meanwhile, with
formgrader for instance, is there before the transaction or comes after it.
"""

from __future__ import annotations

import datetime
import itertools
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nbformat import NotebookNode
from nbgrader import api
from nbgrader.utils import compute_checksum, is_grade, is_solution
from sqlalchemy import Connection, Table, bindparam, insert, select, update

from grading.autograder.penalties import LatePenalties, PenaltyError
from grading.autograder.read_before import Answers
from grading.folder.errors import CourseError
from grading.notebooks.cells import grade_id

STUDENT: Table = api.Student.__table__
ASSIGNMENT: Table = api.Assignment.__table__
NOTEBOOK: Table = api.Notebook.__table__
CELL: Table = api.BaseCell.__table__
GRADED_CELL: Table = api.GradeCell.__table__
SUBMISSION: Table = api.SubmittedAssignment.__table__
PART: Table = api.SubmittedNotebook.__table__
GRADE: Table = api.Grade.__table__
COMMENT: Table = api.Comment.__table__
# Which of nbgrader's kinds of cells have a mark, and which have comments.
GRADED, COMMENTED = ("GradeCell", "TaskCell"), ("SolutionCell", "TaskCell")


@dataclass(frozen=True)
class Marked:
    """A graded submission: its notebook with the verdicts, when it came in, and the files that say which attempt it is.

    With `only` the mark of this one exercise is written, and no other.
    """

    assignment: str
    student: str
    notebook: NotebookNode
    received: datetime.datetime | None
    beside: Mapping[str, bytes] = field(default_factory=dict)
    only: str = ""

    @property
    def timestamp(self) -> datetime.datetime | None:
        """When it came in, in UTC and without a zone, as nbgrader has it."""
        return None if self.received is None else self.received.replace(tzinfo=None)


@dataclass(frozen=True)
class Written:
    """What the gradebook holds of a submission: its mark, from which a penalty for lateness has been taken off."""

    score: float
    penalty: float
    changed: bool = True


@dataclass(eq=False)
class _Row:
    """A row of a table; `known` is what the database has of it, nothing where it is new. Changes go into `values`."""

    table: Table
    values: dict[str, Any]
    known: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def held(cls, table: Table, row: Any) -> _Row:
        """Returns a row that the database has."""
        return cls(table, dict(row._mapping), row._mapping)

    @classmethod
    def new(cls, table: Table, **values: Any) -> _Row:
        """Returns a row that is to be made, with nbgrader's kind of id and everything else empty."""
        return cls(table, dict.fromkeys(table.c.keys()) | {"id": api.new_uuid()} | values)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["values"][name]
        except KeyError:
            raise AttributeError(name) from None


@dataclass(eq=False)
class _Part:
    """A notebook of a submission, with what nbgrader's step for penalties asks of it."""

    row: _Row
    grades: list[_Row]
    comments: list[_Row]

    @property
    def score(self) -> float:
        """The points, as nbgrader adds them up: a person's before the examiner's, and extra credit to either."""
        total = 0.0
        for grade in self.grades:
            points = grade.auto_score if grade.manual_score is None else grade.manual_score
            total += 0.0 if points is None else points + (grade.extra_credit or 0.0)
        return total

    @property
    def late_submission_penalty(self) -> float | None:
        """The points that lateness costs; None for nothing."""
        penalty: float | None = self.row.late_submission_penalty
        return penalty

    @late_submission_penalty.setter
    def late_submission_penalty(self, points: float | None) -> None:
        self.row.values["late_submission_penalty"] = points


@dataclass(eq=False)
class _Submission:
    """A submission, with what nbgrader's step for penalties asks of it."""

    row: _Row
    assignment: Any  # the assignment's own row, for its due date
    notebooks: list[_Part]

    student_id = property(lambda self: self.row.student_id)
    timestamp = property(lambda self: self.row.timestamp)
    extension = property(lambda self: self.row.extension)
    total_seconds_late = api.SubmittedAssignment.total_seconds_late  # nbgrader's own rule

    @property
    def duedate(self) -> datetime.datetime | None:
        """The due date with this student's extension; an extension of none is none, where nbgrader stops."""
        due: datetime.datetime | None = self.assignment.duedate
        return due if due is None or self.extension is None else due + self.extension

    def rows(self) -> list[_Row]:
        """Returns all its rows."""
        below = [[part.row, *part.grades, *part.comments] for part in self.notebooks]
        return [self.row, *itertools.chain.from_iterable(below)]

    def written(self, penalty: float) -> Written:
        """Returns its mark less the penalty."""
        return Written(max(0.0, float(sum(part.score for part in self.notebooks)) - penalty), penalty)


class _Held:
    """What the gradebook holds of an assignment and of some students' submissions."""

    def __init__(self, connection: Connection, assignment: str, students: Sequence[str]) -> None:
        found = connection.execute(select(ASSIGNMENT).where(ASSIGNMENT.c.name == assignment)).one_or_none()
        if found is None:
            raise CourseError(
                f"the gradebook has no assignment {assignment!r}; run nbgrader generate_assignment {assignment}."
            )
        self._assignment = found
        self._notebooks = connection.scalars(
            select(NOTEBOOK.c.id).where(NOTEBOOK.c.assignment_id == found.id).order_by(NOTEBOOK.c.name)
        ).all()
        cells = connection.execute(
            select(CELL.c.id, CELL.c.name, CELL.c.type, CELL.c.notebook_id).where(
                CELL.c.notebook_id.in_(self._notebooks)
            )
        ).all()
        self.names: dict[str, str] = {cell.id: cell.name for cell in cells}
        code = select(GRADED_CELL.c.id).where(GRADED_CELL.c.cell_type == "code", GRADED_CELL.c.id.in_(self.names))
        self.checks = set(connection.scalars(code))
        self._cells = defaultdict(list)
        for cell in cells:
            self._cells[cell.notebook_id].append(cell)
        self.students = set(connection.scalars(select(STUDENT.c.id).where(STUDENT.c.id.in_(students))))
        mine = (SUBMISSION.c.assignment_id == found.id) & SUBMISSION.c.student_id.in_(students)
        rows = _held(connection, SUBMISSION, mine)
        self._submissions = {row.student_id: row for row in rows}
        parts = _held(connection, PART, PART.c.assignment_id.in_([row.id for row in rows])) if rows else []
        self._parts = {(row.assignment_id, row.notebook_id): row for row in parts}
        ids = [row.id for row in parts]
        self._grades, self._comments = (
            {(row.notebook_id, row.cell_id): row for row in _held(connection, table, table.c.notebook_id.in_(ids))}
            if ids
            else {}
            for table in (GRADE, COMMENT)
        )

    def has(self, student: str) -> bool:
        """Says whether the gradebook has a submission of a student."""
        return student in self._submissions

    def submission(self, student: str) -> _Submission:
        """Returns a student's submission, as nbgrader would make it where there is none; nothing is written yet."""
        row = self._submissions.get(student) or _Row.new(
            SUBMISSION, assignment_id=self._assignment.id, student_id=student
        )
        return _Submission(row, self._assignment, [self._part(row.id, one) for one in self._notebooks])

    def _part(self, submission: str, notebook: str) -> _Part:
        row = self._parts.get((submission, notebook)) or _Row.new(
            PART, assignment_id=submission, notebook_id=notebook, flagged=False
        )
        cells = self._cells[notebook]
        return _Part(
            row,
            [
                self._grades.get((row.id, cell.id))
                or _Row.new(GRADE, notebook_id=row.id, cell_id=cell.id, needs_manual_grade=True)
                for cell in cells
                if cell.type in GRADED
            ],
            [
                self._comments.get((row.id, cell.id)) or _Row.new(COMMENT, notebook_id=row.id, cell_id=cell.id)
                for cell in cells
                if cell.type in COMMENTED
            ],
        )


def _held(connection: Connection, table: Table, where: Any) -> list[_Row]:
    """Returns rows, locked until the transaction ends."""
    statement = select(table).where(where).order_by(table.c.id).with_for_update()
    return [_Row.held(table, row) for row in connection.execute(statement)]


def store(
    connection: Connection,
    marked: Sequence[Marked],
    penalties: LatePenalties,
    answers_of: Callable[[Marked], Answers],
) -> list[Written | PenaltyError]:
    """Writes the marks of submissions, each of another student or assignment; the caller's transaction makes it whole.

    Args:
        connection: within a transaction.
        marked: what is written.
        penalties: the course's rule for late work.
        answers_of: returns what shows whether a person has to read something again.

    Returns:
        For each submission its mark, or why the penalty cannot be computed; then nothing of this one is written.
    """
    held = {
        name: _Held(connection, name, [one.student for one in marked if one.assignment == name])
        for name in dict.fromkeys(one.assignment for one in marked)
    }
    results, rows, students = list[Written | PenaltyError](), list[_Row](), dict[str, None]()
    for one in marked:
        known = held[one.assignment]
        submission = known.submission(one.student)
        _mark(submission, one, known.names, answers_of(one))
        try:
            results.append(submission.written(penalties.assign(submission)))
        except PenaltyError as problem:
            results.append(problem)
            continue
        rows += submission.rows()
        if one.student not in known.students:
            students[one.student] = None
    if students:
        connection.execute(insert(STUDENT), [{"id": student} for student in students])
    _write(connection, rows)
    return results


def count_lateness(
    connection: Connection,
    assignment: str,
    student: str,
    received: datetime.datetime | None,
    penalties: LatePenalties,
) -> Written | None:
    """Counts the points for lateness of one submission anew; returns what the gradebook holds.

    None when it does not hold the points of each exercise.

    Raises:
        PenaltyError: when the course's late-penalty plugin stops; then nothing was written.
    """
    held = _Held(connection, assignment, [student])
    if not held.has(student):
        return None
    submission = held.submission(student)
    grades = [grade for part in submission.notebooks for grade in part.grades]
    if any(grade.auto_score is None for grade in grades if grade.cell_id in held.checks):
        return None  # its points have changed since
    before = float(sum(part.late_submission_penalty or 0.0 for part in submission.notebooks))
    moment = submission.timestamp if received is None else received.replace(tzinfo=None)
    if moment == submission.timestamp and not before and not submission.total_seconds_late:
        return Written(submission.written(0.0).score, 0.0, changed=False)
    submission.row.values["timestamp"] = moment
    penalty = penalties.assign(submission)
    _write(connection, submission.rows())
    return Written(submission.written(penalty).score, penalty, changed=penalty != before)


def _mark(
    submission: _Submission,
    one: Marked,
    names: Mapping[str, str],
    answers: Answers,
) -> None:
    """Puts the marks and comments of a graded notebook into the rows of its submission."""
    if one.timestamp is not None:
        submission.row.values["timestamp"] = one.timestamp
    cells = {grade_id(cell): cell for cell in one.notebook.cells if "nbgrader" in cell.metadata}
    if one.only:
        cells = {name: cell for name, cell in cells.items() if name == f"{one.only}_check"}
    for part in submission.notebooks:
        for grade in part.grades:
            cell = cells.get(names[grade.cell_id])
            if cell is not None and is_grade(cell):
                grade.values |= answers.mark(grade, cell)
        for comment in part.comments:
            cell = cells.get(names[comment.cell_id])
            if cell is not None and is_solution(cell):
                untouched = cell.metadata.nbgrader.get("checksum") == compute_checksum(cell)
                comment.values["auto_comment"] = "No response." if untouched else None


def _write(connection: Connection, rows: Sequence[_Row]) -> None:
    """Makes the rows that are new, and changes those that have changed: for each table one statement or two."""
    for table in (SUBMISSION, PART, GRADE, COMMENT):
        own = [row for row in rows if row.table is table]
        if new := [row.values for row in own if not row.known]:
            connection.execute(insert(table), new)
        for column in table.c:
            changed = [row for row in own if row.known and row.values[column.name] != row.known[column.name]]
            if changed:
                statement = update(table).where(table.c.id == bindparam("the_row"))
                connection.execute(
                    statement.values({column: bindparam("the_value")}),
                    [{"the_row": row.id, "the_value": row.values[column.name]} for row in changed],
                )
