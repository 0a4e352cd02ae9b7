"""The essays of a class: what a person has to read, and the points and comments that a person gives.

Both are nbgrader's own: the answers in its autograded files, the marks in its gradebook. Formgrader shows the same.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from grading.folder.course import Course
from grading.folder.database import is_lost
from grading.folder.errors import CourseError
from grading.notebooks import cells
from grading.notebooks.answers import OTHER_NAME

LOOK = "LOOK AT IT: "  # before a note on what an honest submission does not do
SAMPLES = "**Answers as students write them**"  # how the part of a rubric with sample answers begins
LONGEST = 5000  # characters of a comment


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
    """What a person gives an answer; `points` is None where nothing is decided yet.

    `again` says that it is to be read again, since it has changed: a mark that is taken back may have been so.
    """

    points: float | None
    comment: str = ""
    again: bool = False


@dataclass(frozen=True)
class Answer:
    """One answer, without its author: Markdown, and the pictures that it refers to, as attachments of a cell.

    `key` reveals nothing and stays the same; `state` is "read", "unread", or "again" for one that was graded anew since
    it was read; `overtaken` says that a later submission waits to be graded. `notes` are what grading has noted about
    the notebook: cells that are missing, where the answer was found, what is suspicious.
    """

    key: str
    text: str
    mark: Mark
    state: str
    overtaken: bool = False
    pictures: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """A fingerprint of the answer, the same for answers that are equal but for white space."""
        return _hash(json.dumps([self.text.split(), self.pictures], sort_keys=True))

    @property
    def seen(self) -> str:
        """A fingerprint of what a reader has before them, by which a save knows whether something came between."""
        pictures = json.dumps(self.pictures, sort_keys=True) if self.pictures else ""
        points = None if self.mark.points is None else float(self.mark.points)
        return f"{_hash(self.text + pictures)} {_hash(json.dumps([points, self.mark.comment]))}"


@dataclass(frozen=True)
class Group:
    """Equal answers with one mark and one state, which are read as one; `twin` says that others have another mark."""

    answers: Sequence[Answer]
    twin: bool = False

    @property
    def first(self) -> Answer:
        """The one that is shown."""
        return self.answers[0]

    @property
    def notes(self) -> list[str]:
        """What grading has noted about their notebooks, each with how many of them it is about."""
        counted = Counter(note for one in self.answers for note in dict.fromkeys(one.notes))
        every = len(self.answers)
        return [note if every == 1 else f"{note} ({times} of {every})" for note, times in counted.items()]


@dataclass(frozen=True)
class Given:
    """A mark for the answer `key`, given by a person who had `Answer.seen` before them."""

    key: str
    mark: Mark
    seen: str


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
    """Something came between reading and saving, and nothing was saved; `answers` are what is there now."""

    def __init__(self, message: str, answers: Sequence[Answer]) -> None:
        super().__init__(message)
        self.answers = answers


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
    text = re.split(r"(?m)^(?=#{1,6} )", before[-1])[-1] if before else ""
    rubric, _, samples = cells.text(essay).partition(SAMPLES)
    points = float(cells.settings(essay).get("points") or 0)
    return Question(assignment, name, points, text.strip(), rubric.strip(), samples.strip())


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
        comment = (self.comment.manual_comment or "") if self.comment else ""
        return Mark(self.grade.manual_score, comment, again=self.state == "again")

    @property
    def state(self) -> str:
        if self.grade.needs_manual_grade:
            return "unread" if self.grade.manual_score is None else "again"
        return "empty" if self.grade.manual_score is None else "read"


def _rows(db: Any, assignment: str) -> list[_Row]:
    """Returns the essays of an assignment in the gradebook, in an order that reveals nothing and stays the same.

    nbgrader gives each submission a number by chance; its hash is the key of an answer.
    """
    from nbgrader import api

    def within(query: Any, kind: Any) -> Any:
        own = query.join(api.SubmittedNotebook, kind.notebook_id == api.SubmittedNotebook.id)
        own = own.join(api.SubmittedAssignment, api.SubmittedNotebook.assignment_id == api.SubmittedAssignment.id)
        return own.join(api.Assignment, api.SubmittedAssignment.assignment_id == api.Assignment.id).filter(
            api.Assignment.name == assignment
        )

    graded = db.query(api.GradeCell).join(api.Notebook, api.GradeCell.notebook_id == api.Notebook.id)
    graded = graded.join(api.Assignment, api.Notebook.assignment_id == api.Assignment.id)
    graded = graded.filter(api.Assignment.name == assignment, api.GradeCell.cell_type == "markdown")
    essays = {cell.id: (cell.name, float(cell.max_score)) for cell in graded}
    written = db.query(api.Comment, api.BaseCell.name).join(api.BaseCell, api.Comment.cell_id == api.BaseCell.id)
    comments = {(one.notebook_id, name): one for one, name in within(written, api.Comment)}
    whose = (api.SubmittedAssignment.student_id, api.SubmittedAssignment.timestamp)
    found = []
    for grade, student, received in within(db.query(api.Grade, *whose), api.Grade):
        if grade.cell_id in essays:
            name, points = essays[grade.cell_id]
            key = _hash(f"{grade.notebook_id} {name}")
            found.append(_Row(name, points, student, key, received, grade, comments.get((grade.notebook_id, name))))
    return sorted(found, key=lambda row: row.key)


@contextmanager
def _opened(course: Course, *, writing: bool = False) -> Iterator[Any]:
    """Opens the gradebook; the errors of a database that cannot be read or written become sentences."""
    from sqlalchemy.exc import OperationalError
    from sqlalchemy.orm import Session

    if not course.has_gradebook():
        raise CourseError(f"there is no gradebook yet ({course.address}); grade first (python -m grading autograde).")
    course.refuse_damaged_gradebook()
    with ExitStack() as stack:
        try:
            stack.enter_context(course.address.reaching())
            if writing:
                engine = course.address.engine_for_writing()
                stack.callback(engine.dispose)
                yield stack.enter_context(Session(engine))
            else:
                yield stack.enter_context(course.gradebook()).db
            stack.close()
        except OperationalError as problem:
            if is_lost(problem):
                raise  # `reaching` says so
            busy = "locked" in str(problem.orig) or "deadlock" in str(problem.orig)
            raise CourseError(
                "another program is writing the gradebook (a grading run, or formgrader); nothing was saved, save "
                "again."
                if busy
                else f"the gradebook cannot be written: {course.address.reason(problem)}; nothing was saved."
            ) from problem


def counts(course: Course, assignments: Sequence[str] = ()) -> list[Count]:
    """Returns how far each essay of these assignments is read; of all that the gradebook has, where none is named.

    Raises:
        CourseError: when there is no gradebook, or an assignment is not in it.
    """
    for name in assignments:
        course.refuse_unknown(name)

    from nbgrader import api

    made = []
    with _opened(course) as db:
        known = sorted(name for (name,) in db.query(api.Assignment.name))
        if absent := [name for name in assignments if name not in known]:
            raise CourseError(f"the gradebook has no {absent[0]}; grade it first (python -m grading autograde).")
        for assignment in assignments or known:
            by_essay: dict[str, list[_Row]] = {}
            for row in _rows(db, assignment):
                by_essay.setdefault(row.essay, []).append(row)
            for name, rows in by_essay.items():
                states = [row.state for row in rows]
                empty, read = states.count("empty"), states.count("read")
                made.append(Count(assignment, name, rows[0].points, len(rows) - empty, read, empty))
    return sorted(made, key=lambda count: (count.assignment, count.name))


def groups(found: Sequence[Answer]) -> list[Group]:
    """Returns answers in their order, equal ones together; those that have another mark stand next to them."""
    by_words: dict[str, dict[tuple[Mark, str, bool], list[Answer]]] = {}
    for one in found:
        own = by_words.setdefault(one.words, {})
        own.setdefault((one.mark, one.state, one.overtaken), []).append(one)
    return [Group(equal, twin=len(own) > 1) for own in by_words.values() for equal in own.values()]


def answers(course: Course, asked: Question) -> list[Answer]:
    """Returns the answers to a question that a person reads, in their order.

    Raises:
        CourseError: when there is no gradebook, or it cannot be read.
    """
    with _opened(course) as db:
        rows = [row for row in _rows(db, asked.assignment) if row.essay == asked.name and row.state != "empty"]
        found = [_answer(course, asked, row) for row in rows]
    return [one for one in found if one is not None]


def _answer(course: Course, asked: Question, row: _Row) -> Answer | None:
    notebook = _graded(course, asked, row.student)
    own = [cell for cell in cells.cells_of(notebook) or [] if cells.grade_id(cell) == asked.name]
    if not own:
        return None
    received = course.received(row.student, asked.assignment)
    overtaken = received is not None and received.replace(tzinfo=None) != row.received
    pictures = own[0].get("attachments")
    return Answer(
        row.key,
        cells.text(own[0]),
        row.mark,
        row.state,
        overtaken,
        pictures if isinstance(pictures, dict) else {},
        _notes(notebook),
    )


def _graded(course: Course, asked: Question, student: str) -> Any:
    """Returns the autograded notebook; None while a grading writes it, or where one was interrupted."""
    path = course.autograded(student, asked.assignment)
    if path.with_name(f".{path.name}.half").exists():  # marks first, then this file takes the other's place
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def _notes(notebook: Any) -> tuple[str, ...]:
    """Returns what grading has noted about a notebook, without the name of its file: it may be that of its author."""
    metadata = notebook.get("metadata")
    grading = metadata.get("grading") if isinstance(metadata, dict) else None
    repairs, odd = (grading.get(part, []) if isinstance(grading, dict) else [] for part in ("put_right", "odd"))
    lines = ["its file had another name" if line.startswith(OTHER_NAME) else line for line in map(str, repairs)]
    return (*lines, *(f"{LOOK}{line}" for line in map(str, odd)))


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
        raise CourseError(f"expected a comment of at most {LONGEST} characters, got {len(comment)}; nothing was saved.")
    return Mark(value, comment)


def save(course: Course, asked: Question, given: Sequence[Given]) -> list[tuple[Answer, Mark]]:
    """Writes points and comments of answers into nbgrader's gradebook, all or none.

    Without points an answer counts as not read yet. Others who write the same rows meanwhile, with formgrader or a
    grading run, come before or after.

    Returns:
        For each answer what is there now, and the mark that it had before.

    Raises:
        ChangedError: when an answer was graded anew meanwhile, or somebody else has given it another mark.
        CourseError: when they cannot be saved.
    """
    with _opened(course, writing=True) as db:
        by_key = {row.key: row for row in _rows(db, asked.assignment) if row.essay == asked.name}
        if any(one.key not in by_key for one in given):
            raise CourseError("this answer is no longer in the gradebook; nothing was saved, load the page again.")
        rows = [by_key[one.key] for one in given]
        _lock(db, rows)
        found = [_answer(course, asked, row) for row in rows]
        now = [one for one in found if one is not None]
        if len(now) < len(found):
            raise CourseError(
                "this submission is being graded, or its grading was interrupted; nothing was saved. Save again in "
                "a moment, or grade it again (python -m grading autograde)."
            )
        _refuse_changed(now, given)
        for row, one in zip(rows, given, strict=True):
            row.grade.manual_score = one.mark.points
            row.grade.needs_manual_grade = one.mark.again or (one.mark.points is None and row.grade.auto_score is None)
            if row.comment is not None:
                row.comment.manual_comment = one.mark.comment or None
        states = [row.state for row in rows]
        db.commit()
    return [
        (replace(answer, mark=one.mark, state="unread" if state == "empty" else state), answer.mark)
        for answer, one, state in zip(now, given, states, strict=True)
    ]


def _lock(db: Any, rows: Sequence[_Row]) -> None:
    """Reads rows again, so that nobody else changes them until the transaction ends; a file is locked as a whole."""
    from nbgrader import api

    comments = [row.comment.id for row in rows if row.comment is not None]
    for table, ids in ((api.Grade, [row.grade.id for row in rows]), (api.Comment, comments)):
        query = db.query(table).filter(table.id.in_(ids)).order_by(table.id)
        query.with_for_update(of=table).populate_existing().all()


def _refuse_changed(now: Sequence[Answer], given: Sequence[Given]) -> None:
    anew = sum(
        answer.seen.partition(" ")[0] != one.seen.partition(" ")[0] for answer, one in zip(now, given, strict=True)
    )
    if anew and len(now) == 1:
        raise ChangedError(
            "a newer submission was graded meanwhile, and you see its answer now; your mark is not saved yet. "
            "Save again to give it to this answer.",
            now,
        )
    if anew:
        raise ChangedError(
            f"{anew} of these {len(now)} answers were graded anew meanwhile and are no longer among them; your mark is "
            "not saved yet. Save again to give it to the others, and load the page again to see the newer ones.",
            now,
        )
    for answer, one in zip(now, given, strict=True):
        if answer.seen != one.seen and (answer.mark.points, answer.mark.comment) != (one.mark.points, one.mark.comment):
            points = "no points" if answer.mark.points is None else f"{answer.mark.points:g} points"
            quoted = f', with the comment "{answer.mark.comment}"' if answer.mark.comment else ""
            whom = " to one of these answers" if len(now) > 1 else ""
            raise ChangedError(
                f"somebody else gave {points} meanwhile{quoted}{whom}; your mark is not saved. Save again to put yours "
                "in place.",
                now,
            )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:24]
