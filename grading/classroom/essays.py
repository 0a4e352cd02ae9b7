"""The essays of a class: what a person has to read, and the points and comments that a person gives.

Both are nbgrader's own: the answers in its autograded files, the marks in its gradebook. Formgrader shows the same.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from grading import cells
from grading.course import Course
from grading.errors import CourseError

SAMPLES = "**Answers as students write them**"  # how the part of a rubric with sample answers begins
LONGEST = 5000  # signs of a comment


@dataclass(frozen=True)
class Question:
    """What an essay asks, and what only the reader sees: rubric and sample answers. All texts are Markdown."""

    assignment: str
    name: str
    points: float
    text: str
    rubric: str
    samples: str


@dataclass(frozen=True)
class Mark:
    """What a person gives an answer; `points` is None where nothing is decided yet."""

    points: float | None
    comment: str = ""


@dataclass(frozen=True)
class Answer:
    """One answer, without its author.

    `key` tells nothing and stays the same; `state` is "read", "unread", or "again" for one that was graded anew since
    it was read; `overtaken` says that a later submission waits to be graded.
    """

    key: str
    text: str
    mark: Mark
    state: str
    overtaken: bool = False

    @property
    def seen(self) -> str:
        """A fingerprint of what a reader has before them, by which a save knows whether something came between."""
        return f"{_hash(self.text)} {_hash(json.dumps([self.mark.points, self.mark.comment]))}"


@dataclass(frozen=True)
class Count:
    """How far the reading of an essay is; `empty` are answers that are as they were released: they have no points."""

    assignment: str
    name: str
    points: float
    answers: int
    read: int
    empty: int


class ChangedError(CourseError):
    """Something came between reading and saving, and nothing was saved; `answer` is what is there now."""

    def __init__(self, told: str, answer: Answer) -> None:
        super().__init__(told)
        self.answer = answer


def question(course: Course, assignment: str, name: str) -> Question:
    """Returns an essay's question: of the text before it in the solution notebook what follows the last heading.

    Raises:
        CourseError: when there is no such assignment, or no such essay in it.
    """
    course.refuse_unknown(assignment)
    found = cells.cells_of(json.loads(course.solution(assignment).read_text(encoding="utf-8"))) or []
    places = {cells.grade_id(cell): place for place, cell in enumerate(found) if cells.kind(cell) == "essay"}
    if name not in places:
        raise CourseError(f"{assignment} has no essay {name!r}; expected one of: {', '.join(places) or 'none'}.")
    essay = found[places[name]]
    before = [cells.text(cell) for cell in found[: places[name]] if cell.get("cell_type") == "markdown"]
    told = re.split(r"(?m)^(?=#{1,6} )", before[-1])[-1] if before else ""
    rubric, _, samples = cells.text(essay).partition(SAMPLES)
    points = float(cells.settings(essay).get("points") or 0)
    return Question(assignment, name, points, told.strip(), rubric.strip(), samples.strip())


# --- what the gradebook holds -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Row:
    """An essay in the gradebook; `grade` and `comment` are nbgrader's objects, `received` is in UTC."""

    essay: str
    points: float
    student: str
    key: str
    received: datetime.datetime | None
    grade: Any
    comment: Any

    @property
    def mark(self) -> Mark:
        return Mark(self.grade.manual_score, (self.comment.manual_comment or "") if self.comment else "")

    @property
    def state(self) -> str:
        if self.grade.needs_manual_grade:
            return "unread" if self.grade.manual_score is None else "again"
        return "empty" if self.grade.manual_score is None else "read"


def _rows(book: Any, assignment: str) -> list[_Row]:
    """Returns the essays of an assignment in the gradebook, in an order that tells nothing and stays the same.

    nbgrader gives each submission a number by chance; its hash is the key of an answer.
    """
    from nbgrader import api

    def within(query: Any, kind: Any) -> Any:
        own = query.join(api.SubmittedNotebook, kind.notebook_id == api.SubmittedNotebook.id)
        own = own.join(api.SubmittedAssignment, api.SubmittedNotebook.assignment_id == api.SubmittedAssignment.id)
        return own.join(api.Assignment, api.SubmittedAssignment.assignment_id == api.Assignment.id).filter(
            api.Assignment.name == assignment
        )

    graded = [cell for one in book.find_assignment(assignment).notebooks for cell in one.grade_cells]
    essays = {cell.id: (cell.name, float(cell.max_score)) for cell in graded if cell.cell_type == "markdown"}
    written = book.db.query(api.Comment, api.BaseCell.name).join(api.BaseCell, api.Comment.cell_id == api.BaseCell.id)
    comments = {(one.notebook_id, name): one for one, name in within(written, api.Comment)}
    whose = (api.SubmittedAssignment.student_id, api.SubmittedAssignment.timestamp)
    found = []
    for grade, student, received in within(book.db.query(api.Grade, *whose), api.Grade):
        if grade.cell_id in essays:
            name, points = essays[grade.cell_id]
            key = _hash(f"{grade.notebook_id} {name}")
            found.append(_Row(name, points, student, key, received, grade, comments.get((grade.notebook_id, name))))
    return sorted(found, key=lambda row: row.key)


@contextmanager
def _opened(course: Course) -> Iterator[Any]:
    """Opens the gradebook; the errors of a database that cannot be read or written become sentences."""
    from nbgrader.api import MissingEntry
    from sqlalchemy.exc import OperationalError

    if not course.database.exists():
        raise CourseError(f"there is no {course.database}; grade first (python -m grading autograde).")
    course.refuse_damaged_gradebook()
    try:
        with course.gradebook() as book:
            yield book
    except MissingEntry as problem:
        raise CourseError("the gradebook has no such assignment; grade it first (python -m grading autograde).") from (
            problem
        )
    except OperationalError as problem:
        busy = "locked" in str(problem.orig)
        raise CourseError(
            "another program is writing the gradebook (a grading run, or formgrader); nothing was saved, save again."
            if busy
            else f"the gradebook cannot be written: {problem.orig}; nothing was saved."
        ) from problem


def counts(course: Course, assignments: Sequence[str] = ()) -> list[Count]:
    """Returns how far each essay of these assignments is read; of all that the gradebook has, where none is named.

    Raises:
        CourseError: when there is no gradebook, or an assignment is not in it.
    """
    for name in assignments:
        course.refuse_unknown(name)
    made = []
    with _opened(course) as book:
        for assignment in assignments or sorted(one.name for one in book.assignments):
            by_essay: dict[str, list[_Row]] = {}
            for row in _rows(book, assignment):
                by_essay.setdefault(row.essay, []).append(row)
            for name, rows in by_essay.items():
                states = [row.state for row in rows]
                empty, read = states.count("empty"), states.count("read")
                made.append(Count(assignment, name, rows[0].points, len(rows) - empty, read, empty))
    return sorted(made, key=lambda count: (count.assignment, count.name))


def answers(course: Course, asked: Question) -> list[Answer]:
    """Returns the answers to a question that a person reads, in their order.

    Raises:
        CourseError: when there is no gradebook, or it cannot be read.
    """
    with _opened(course) as book:
        rows = [row for row in _rows(book, asked.assignment) if row.essay == asked.name and row.state != "empty"]
        found = [_answer(course, asked, row) for row in rows]
    return [one for one in found if one is not None]


def _answer(course: Course, asked: Question, row: _Row) -> Answer | None:
    text = _text(course, asked, row.student)
    if text is None:
        return None
    received = course.received(row.student, asked.assignment)
    overtaken = received is not None and received.replace(tzinfo=None) != row.received
    return Answer(row.key, text, row.mark, row.state, overtaken)


def _text(course: Course, asked: Question, student: str) -> str | None:
    """Returns the answer in the autograded file; None while a grading writes it, or where one was interrupted."""
    path = course.autograded(student, asked.assignment)
    if path.with_name(f".{path.name}.half").exists():  # marks first, then this file takes the other's place
        return None
    try:
        found = cells.cells_of(json.loads(path.read_text(encoding="utf-8"))) or []
    except (OSError, ValueError, RecursionError):
        return None
    own = [cells.text(cell) for cell in found if cells.grade_id(cell) == asked.name]
    return own[0] if own else None


# --- what a person gives ----------------------------------------------------------------------------------------------


def read_mark(asked: Question, points: str, comment: str) -> Mark:
    """Returns what was typed as a mark.

    Raises:
        CourseError: when the points are no number between 0 and the question's, or the comment is too long.
    """
    typed = points.strip().replace(",", ".")
    try:
        value = float(typed) if typed else None
    except ValueError:
        value = math.nan
    if value is not None and not 0 <= value <= asked.points:
        raise CourseError(
            f"expected points from 0 to {asked.points:g}, got {points.strip()[:20]!r}; nothing was saved."
        )
    comment = comment.replace("\r\n", "\n").strip().encode("utf-8", "replace").decode()
    if len(comment) > LONGEST:
        raise CourseError(f"expected a comment of at most {LONGEST} signs, got {len(comment)}; nothing was saved.")
    return Mark(value, comment)


def save(course: Course, asked: Question, key: str, mark: Mark, seen: str) -> Answer:
    """Writes points and comment of one answer into nbgrader's gradebook, both or none, and returns what is there then.

    Args:
        course: the class.
        asked: the question.
        key: which answer.
        mark: without points the answer counts as not read yet.
        seen: `Answer.seen` of what the reader had before them.

    Raises:
        ChangedError: when the answer was graded anew meanwhile, or somebody else has given it another mark.
        CourseError: when it cannot be saved.
    """
    from sqlalchemy import text

    with _opened(course) as book:
        book.db.execute(text("BEGIN IMMEDIATE"))  # from here on nobody else writes, so what is read stays true
        try:
            row = next(
                (row for row in _rows(book, asked.assignment) if (row.essay, row.key) == (asked.name, key)), None
            )
            if row is None:
                raise CourseError("this answer is no longer in the gradebook; nothing was saved, load the page again.")
            now = _answer(course, asked, row)
            if now is None:
                raise CourseError(
                    "this submission is being graded, or its grading was interrupted; nothing was saved. Save again in "
                    "a moment, or grade it again (python -m grading autograde)."
                )
            _refuse_changed(now, mark, seen)
            row.grade.manual_score = mark.points
            row.grade.needs_manual_grade = mark.points is None and row.grade.auto_score is None
            if row.comment is not None:
                row.comment.manual_comment = mark.comment or None
            book.db.commit()
        except BaseException:
            book.db.rollback()
            raise
    return Answer(key, now.text, mark, "unread" if mark.points is None else "read", now.overtaken)


def _refuse_changed(now: Answer, mark: Mark, seen: str) -> None:
    if now.seen == seen:
        return
    if now.seen.split()[0] != seen.split()[0]:
        raise ChangedError(
            "a newer submission was graded meanwhile, and you see its answer now; your mark is not saved yet. "
            "Save again to give it to this answer.",
            now,
        )
    if now.mark != mark:
        points = "no points" if now.mark.points is None else f"{now.mark.points:g} points"
        said = f', with the comment "{now.mark.comment}"' if now.mark.comment else ""
        raise ChangedError(
            f"somebody else gave {points} meanwhile{said}; your mark is not saved. Save again to put yours in place.",
            now,
        )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:24]
