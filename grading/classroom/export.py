"""Write the marks of a class as a file for a spreadsheet, for Canvas or for Moodle."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grading.classroom import roster
from grading.classroom.plain_grading import refuse_damaged_gradebook
from grading.classroom.roster import Person, Roster
from grading.errors import CourseError

FORMATS = ("csv", "canvas", "moodle")


@dataclass(frozen=True)
class Mark:
    """The mark of one student in one assignment, as nbgrader's gradebook has it.

    `score` is None where there is no mark; `unread` are the answers that a person still has to read.
    """

    student: str
    assignment: str
    score: float | None
    points: float
    unread: int
    received: str


def harmless(value: str) -> str:
    """Returns a text that no spreadsheet takes for a formula: an apostrophe comes before what could be one."""
    bare = value.lstrip(" \t\r\n\ufeff'")
    return f"'{value}" if bare[:1] in tuple("=+-@|%＝＋－＠") or value[:1] in ("\t", "\r", "\n") else value


def marks(course: Path, assignments: Sequence[str] = ()) -> tuple[list[Mark], dict[str, Person]]:
    """Returns all marks of nbgrader's gradebook, and its students' names; who handed in without a mark is in it.

    Raises:
        CourseError: when there is no gradebook, or an assignment is not in it.
    """
    from nbgrader.api import Gradebook

    database = course / "gradebook" / "gradebook.db"
    if not database.exists():
        raise CourseError(f"there is no {database}; grade first (python -m grading autograde).")
    refuse_damaged_gradebook(course)
    with Gradebook(f"sqlite:///{database}", "transformers") as book:
        there = {one.name: float(one.max_score) for one in book.assignments}
        unknown = [name for name in assignments if name not in there]
        if unknown:
            raise CourseError(
                f"the gradebook has no assignment {unknown[0]!r}; expected one of: {', '.join(sorted(there))}."
            )
        people = {one.id: Person(one.id, one.first_name or "", one.last_name or "") for one in book.students}
        found = []
        for name in sorted(assignments or there):
            for submission in book.assignment_submissions(name):
                graded = [grade for part in submission.notebooks for grade in part.grades]
                unread = sum(grade.needs_manual_grade and grade.cell.cell_type == "markdown" for grade in graded)
                automatic = [grade for grade in graded if grade.cell.cell_type != "markdown"]
                has_mark = all(g.auto_score is not None or g.manual_score is not None for g in automatic)
                score = max(0.0, float(submission.score) - float(submission.late_submission_penalty or 0))
                received = f"{submission.timestamp:%Y-%m-%d %H:%M:%S} UTC" if submission.timestamp else ""
                unread = unread if has_mark else 0
                found.append(
                    Mark(submission.student_id, name, score if has_mark else None, there[name], unread, received)
                )
            graded_ones = {mark.student for mark in found if mark.assignment == name}
            handed_in = {path.parent.name for path in (course / "gradebook" / "submitted").glob(f"[!.]*/{name}")}
            found += [Mark(student, name, None, there[name], 0, "") for student in handed_in - graded_ones]
    return sorted(found, key=lambda mark: (mark.student, mark.assignment)), people


def number(value: float | None) -> str:
    """Returns a mark as text: at most two decimals, "" for none."""
    return "" if value is None else f"{value:.2f}".rstrip("0").rstrip(".")


def rows(kind: str, found: Sequence[Mark], people: dict[str, Person], listed: Roster) -> list[list[str]]:
    """Returns the lines of a file of marks, titles first; every text in it is harmless.

    `people` are nbgrader's students; where the roster `listed` knows a student, its columns come first.
    """
    everybody = {**people, **{mark.student: people.get(mark.student, Person(mark.student)) for mark in found}}
    everybody |= {one: listed.people[one] for one in everybody if one in listed.people}
    table = {
        "csv": _plain_rows,
        "canvas": _canvas_rows,
        "moodle": _moodle_rows,
    }[kind](found, everybody)
    return [[harmless(value) for value in row] for row in table]


def _plain_rows(found: Sequence[Mark], people: dict[str, Person]) -> list[list[str]]:
    titles = ["student", "last_name", "first_name", "assignment", "mark", "points", "still_to_read", "received_utc"]
    lines = []
    for mark in found:
        person = people[mark.student]
        values = [number(mark.score), number(mark.points), str(mark.unread), mark.received.removesuffix(" UTC")]
        lines.append([mark.student, person.last, person.first, mark.assignment, *values])
    return [titles, *lines]


def _by_student(found: Sequence[Mark]) -> tuple[list[str], dict[str, dict[str, Mark]]]:
    table: dict[str, dict[str, Mark]] = {}
    for mark in found:
        table.setdefault(mark.student, {})[mark.assignment] = mark
    return sorted({mark.assignment for mark in found}), table


def _canvas_rows(found: Sequence[Mark], people: dict[str, Person]) -> list[list[str]]:
    """Canvas wants these five titles first, and takes an unknown title for a new assignment."""
    names, table = _by_student(found)
    points = {mark.assignment: number(mark.points) for mark in found}
    lines = [["    Points Possible", "", "", "", "", *(points[name] for name in names)]]
    for student, own in table.items():
        person = people[student]
        full = f"{person.last}, {person.first}" if person.last and person.first else person.last or person.first
        canvas = person.columns if {"sis login id", "sis user id"} & set(person.columns) else {}
        ids = [
            canvas.get("id", "") or person.get("lms_user_id", "canvas id"),
            person.get("sis user id", "id number"),
            person.get("sis login id", "username", "email", "email address") or student,
            person.get("section"),
        ]
        lines.append([person.get("student") or full or student, *ids, *_scores(own, names)])
    return [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *names], *lines]


def _moodle_rows(found: Sequence[Mark], people: dict[str, Person]) -> list[list[str]]:
    """Moodle's import lets one choose which column tells the student, and where each other one goes."""
    names, table = _by_student(found)
    titles = ["First name", "Last name", "ID number", "Username", "Email address"]
    lines = []
    for student, own in table.items():
        person = people[student]
        ids = [
            person.get("id number") or student,
            person.get("username", "user name") or student,
            person.get("email address", "email", "e-mail"),
        ]
        lines.append([person.first, person.last, *ids, *_scores(own, names)])
    return [[*titles, *names], *lines]


def _scores(own: dict[str, Mark], names: Sequence[str]) -> list[str]:
    return [number(own[name].score) if name in own else "" for name in names]


def text(table: Sequence[Sequence[str]]) -> str:
    """Returns lines as CSV, with commas and the line ends of RFC 4180."""
    made = io.StringIO(newline="")
    csv.writer(made, lineterminator="\r\n").writerows(table)
    return made.getvalue()


def run(course: Path, kind: str, out: str | None, assignments: Sequence[str] = ()) -> int:
    """Writes the marks into a file (or, for "-", to standard output), and says what in them is not final."""
    found, people = marks(course, assignments)
    own = course / "gradebook" / "students.csv"
    listed = roster.load(own) if own.exists() else Roster()
    content = text(rows(kind, found, people, listed))
    if out == "-":
        sys.stdout.write(content)
    else:
        path = Path(out) if out else course / "gradebook" / f"marks_{kind}.csv"
        # Excel takes a file without this mark for its own old alphabet, and spoils accents.
        _write(path, "\ufeff" + content if kind == "csv" else content)
        print(f"{len(found)} marks of {len({mark.student for mark in found})} students: {path}", file=sys.stderr)
    unread = sum(mark.unread > 0 for mark in found)
    none = sum(mark.score is None for mark in found)
    if unread:
        print(f"not final, an essay is still to be read (make formgrader): {unread}", file=sys.stderr)
    if none:
        print(f"handed in, but without a mark (their places are empty): {none}", file=sys.stderr)
    return 0


def _write(path: Path, content: str) -> None:
    from grading.authoring.build import write

    try:
        write(path, content)
    except OSError as problem:
        raise CourseError(f"{path} cannot be written ({problem.strerror}); say --out with another place.") from problem
