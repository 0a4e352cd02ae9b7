"""Write the marks of a class as a file for a spreadsheet, for Canvas or for Moodle."""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grading.autograder.reporting import called
from grading.classroom import roster
from grading.classroom.roster import CANVAS_COLUMNS, Person, Roster
from grading.folder.course import ROOT, Course
from grading.folder.errors import CourseError
from grading.notebooks import cells
from tutor.files import write_whole

LIST = "gradebook/students.csv"
SHOWN = 20  # students who are named in one line of the command's output
LATE, TOTAL = "late_penalty", "mark"  # what a column holds beside an exercise
MOODLE_IDS = (("id number",), ("username", "user name"), ("email address", "email", "e-mail"))


@dataclass(frozen=True)
class Mark:
    """The mark of one student in one assignment, as nbgrader's gradebook has it.

    `score` is None where there is no mark; `unread` are the answers that a person still has to read; `penalty` are the
    points that lateness has taken off the mark. `parts` are the score, None where there is none yet, and the points of
    each exercise and essay, in the order of the notebook.
    """

    student: str
    assignment: str
    score: float | None
    points: float
    unread: int
    received: str
    penalty: float = 0.0
    parts: Mapping[str, tuple[float | None, float]] = field(default_factory=dict, compare=False)


def harmless(value: str) -> str:
    """Returns a text that any file can hold and no spreadsheet takes for a formula: those get an apostrophe before.

    So does what follows a semicolon, at which a spreadsheet in German, say, begins the next cell.
    """
    value = value.encode("utf-8", "replace").decode()  # a folder may have a name that is not text
    value = re.sub(r"(;\s*)(?=[=+\-@|%＝＋－＠])", r"\1'", value)
    bare = value.lstrip(" \t\r\n\ufeff'")
    return f"'{value}" if bare[:1] in tuple("=+-@|%＝＋－＠") or value[:1] in ("\t", "\r", "\n") else value


def marks(course: Course, assignments: Sequence[str] = ()) -> tuple[list[Mark], dict[str, Person]]:
    """Returns all marks of nbgrader's gradebook, and its students' names; who handed in without a mark is in it.

    Raises:
        CourseError: when there is no gradebook, or an assignment is not in it.
    """
    course.refuse_damaged_gradebook()
    if not course.has_gradebook():
        raise CourseError(f"there is no gradebook ({course.address}); grade first (python -m grading autograde).")
    found = list[Mark]()
    with course.gradebook() as book:
        points = {one.name: float(one.max_score) for one in book.assignments}
        unknown = [name for name in assignments if name not in points]
        if unknown:
            held = f"expected one of: {', '.join(sorted(points))}" if points else "it has none yet"
            raise CourseError(
                f"the gradebook has no assignment {unknown[0]!r}; {held}. Grade first (python -m grading autograde)."
            )
        people = {one.id: _known(one) for one in book.students}
        for name in assignments or points:
            graded = list(_recorded(book, name, points[name], _order(course, name)))
            handed_in = {folder.parent.name for folder in course.submissions.glob(f"[!.]*/{name}")}
            found += [mark for mark in graded if mark.score is not None or mark.received or mark.student in handed_in]
            found += [
                Mark(student, name, None, points[name], 0, "")
                for student in handed_in - {mark.student for mark in graded}
            ]
    return sorted(found, key=lambda mark: (mark.student, mark.assignment)), people


def _known(student: Any) -> Person:
    """Returns what nbgrader's gradebook knows of a student."""
    columns = {"email": student.email or "", "lms_user_id": student.lms_user_id or ""}
    return Person(student.id, student.first_name or "", student.last_name or "", columns)


def _order(course: Course, assignment: str) -> dict[str, int]:
    """Returns the places of a notebook's graded cells, by name; none where the course has no such notebook."""
    path = course.solution(assignment)
    found = cells.cells_of(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else []
    return {cells.grade_id(cell): place for place, cell in enumerate(found or [])}


def _recorded(book: Any, assignment: str, points: float, order: Mapping[str, int]) -> Iterator[Mark]:
    """Yields the marks that nbgrader's gradebook has for an assignment."""
    for submission in book.assignment_submissions(assignment):
        grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
        automatic = [grade for grade in grades if grade.cell.cell_type != "markdown"]
        has_mark = bool(grades) and all(
            grade.auto_score is not None or grade.manual_score is not None for grade in automatic
        )
        unread = sum(grade.needs_manual_grade and grade.cell.cell_type == "markdown" for grade in grades)
        penalty = float(submission.late_submission_penalty)
        score = max(0.0, float(submission.score) - penalty)
        graded = sorted(grades, key=lambda grade: (order.get(grade.cell.name, len(order)), grade.cell.name))
        parts = {
            grade.cell.name.removesuffix("_check"): (_score(grade), float(grade.cell.max_score)) for grade in graded
        }
        received = f"{submission.timestamp:%Y-%m-%d %H:%M:%S} UTC" if submission.timestamp else ""
        yield Mark(
            submission.student_id,
            assignment,
            score if has_mark else None,
            points,
            unread if has_mark else 0,
            received,
            penalty if has_mark else 0.0,
            parts,
        )


def _score(grade: Any) -> float | None:
    """Returns the points of one exercise or essay, None where nobody has given any."""
    return None if grade.auto_score is None and grade.manual_score is None else float(grade.score)


def number(value: float | None) -> str:
    """Returns a mark as text: at most two decimals, "" for none."""
    return "" if value is None else f"{value:.2f}".rstrip("0").rstrip(".")


def rows(kind: str, found: Sequence[Mark], people: dict[str, Person], listed: Roster) -> list[list[str]]:
    """Returns the lines of a file of marks, titles first; every text in it is harmless.

    `people` are nbgrader's students; where the roster `listed` knows a student, its columns come first. Where it holds
    Canvas's own title of an assignment, that one is used again.
    """
    everybody = {**people, **{mark.student: people.get(mark.student, Person(mark.student)) for mark in found}}
    everybody |= {one: person for one in everybody if (person := listed.person(one))}
    titles, *lines = FORMATS[kind](found, everybody)
    if kind == "canvas":
        titles = [*titles[:5], *(canvas_title(name, listed.titles) or name for name in titles[5:])]
    return [[harmless(value) for value in row] for row in (titles, *lines)]


def canvas_title(assignment: str, titles: Sequence[str]) -> str:
    """Returns the one title among these that Canvas has given to an assignment: "01_causal_mask (98765)"; else "".

    Canvas's importer finds an assignment by the number, whatever was written before it.
    """
    numbered = {title: match[1] for title in titles if (match := re.fullmatch(r"(.*\S) \(\d+\)", title))}
    fitting = [title for title, name in numbered.items() if name == assignment]
    fitting = fitting or [title for title, name in numbered.items() if _words(name) == _words(assignment)]
    return fitting[0] if len(fitting) == 1 else ""


def _words(title: str) -> str:
    return re.sub(r"[\W_]+", " ", title).strip().casefold()


def _plain_rows(found: Sequence[Mark], people: dict[str, Person]) -> list[list[str]]:
    titles = ["student", "last_name", "first_name", "assignment", "mark", "points", "late_penalty", "still_to_read"]
    titles.append("received_utc")
    lines = []
    for mark in found:
        person = people[mark.student]
        values = [number(mark.score), number(mark.points), number(mark.penalty), str(mark.unread)]
        when = mark.received.removesuffix(" UTC")
        lines.append([mark.student, person.last, person.first, mark.assignment, *values, when])
    return [titles, *lines]


def _by_student(found: Sequence[Mark]) -> tuple[list[str], dict[str, dict[str, Mark]]]:
    table: dict[str, dict[str, Mark]] = {}
    for mark in found:
        table.setdefault(mark.student, {})[mark.assignment] = mark
    return sorted({mark.assignment for mark in found}), table


def _canvas_rows(found: Sequence[Mark], people: dict[str, Person]) -> list[list[str]]:
    """Canvas wants these five titles first; an assignment without its number is looked for by its bare title."""
    names, table = _by_student(found)
    points = {mark.assignment: number(mark.points) for mark in found}
    lines = [["    Points Possible", "", "", "", "", *(points[name] for name in names)]]
    for student, own in table.items():
        person = people[student]
        full = f"{person.last}, {person.first}" if person.last and person.first else person.last or person.first
        canvas = person.columns if CANVAS_COLUMNS & set(person.columns) else {}
        ids = [
            canvas.get("id", "") or person.get("lms_user_id", "canvas id"),
            person.get("sis user id", "id number"),
            person.get("sis login id", "username", "email", "email address") or student,
            person.get("section"),
        ]
        lines.append([person.get("student") or full or student, *ids, *_scores(own, names)])
    return [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *names], *lines]


def _moodle_rows(found: Sequence[Mark], people: dict[str, Person]) -> list[list[str]]:
    """Moodle's import lets one choose which column names the student, and where each other one goes.

    What Moodle calls somebody stays empty where it is not known: another text there would be nobody, or another one.
    """
    names, table = _by_student(found)
    titles = ["First name", "Last name", "ID number", "Username", "Email address"]
    lines = []
    for student, own in table.items():
        person = people[student]
        ids = [person.get(*known) for known in MOODLE_IDS]
        lines.append([person.first, person.last, *ids, *_scores(own, names)])
    return [[*titles, *names], *lines]


def _exercise_rows(found: Sequence[Mark], people: dict[str, Person]) -> list[list[str]]:
    """A row for each student: each notebook's exercises and essays in order, what lateness cost, and the mark."""
    names, table = _by_student(found)
    columns = list[tuple[str, str]]()
    titles = ["student", "last_name", "first_name"]
    for name in names:
        parts = {part: most for mark in found if mark.assignment == name for part, (_, most) in mark.parts.items()}
        columns += [(name, part) for part in (*parts, LATE, TOTAL)]
        titles += [f"{name} {part} ({number(most)})" for part, most in parts.items()]
        points = next(mark.points for mark in found if mark.assignment == name)
        titles += [f"{name} {LATE}", f"{name} {TOTAL} ({number(points)})"]
    lines = []
    for student, own in table.items():
        person = people[student]
        values = [_value(own[name], part) if name in own else "" for name, part in columns]
        lines.append([student, person.last, person.first, *values])
    return [titles, *lines]


def _value(mark: Mark, part: str) -> str:
    if part == TOTAL:
        return number(mark.score)
    if part == LATE:
        return number(mark.penalty) if mark.score is not None else ""
    return number(mark.parts.get(part, (None, 0.0))[0])


def _scores(own: dict[str, Mark], names: Sequence[str]) -> list[str]:
    return [number(own[name].score) if name in own else "" for name in names]


FORMATS = {"csv": _plain_rows, "exercises": _exercise_rows, "canvas": _canvas_rows, "moodle": _moodle_rows}


def text(table: Sequence[Sequence[str]]) -> str:
    """Returns lines as CSV, with commas and the line ends of RFC 4180; quoted, for a name may have a semicolon."""
    made = io.StringIO(newline="")
    csv.writer(made, lineterminator="\r\n", quoting=csv.QUOTE_ALL).writerows(table)
    return made.getvalue()


def command(options: argparse.Namespace) -> int:
    """Writes the marks into a file (or, for "-", to standard output), and says what in them is not final."""
    course = Course((options.course or ROOT).resolve())
    found, people = marks(course, options.assignment)
    listed = roster.load(course.roster) if course.roster.exists() else Roster()
    content = text(rows(options.format, found, people, listed))
    if options.out == "-":
        sys.stdout.write(content)
    else:
        path = Path(options.out) if options.out else course.class_folder / f"marks_{options.format}.csv"
        if not path.absolute().parent.exists():
            raise CourseError(f"there is no folder {path.parent}; make it, or say --out with another place.")
        try:
            # Excel takes a file without this mark for its own old alphabet, and spoils accents.
            write_whole(path, "\ufeff" + content if options.format in ("csv", "exercises") else content)
        except OSError as problem:
            raise CourseError(
                f"{path} cannot be written ({problem.strerror}); say --out with another place."
            ) from problem
        print(f"{len(found)} marks of {len({mark.student for mark in found})} students: {path}", file=sys.stderr)
    for sentence in _advice(options.format, found, people, listed):
        print(sentence, file=sys.stderr)
    names = {one.id: one.name for one in {**people, **listed.people}.values()}
    unread = [mark for mark in found if mark.unread > 0]
    for title, those in (
        ("handed in late, with points taken off", [mark for mark in found if mark.penalty > 0]),
        ("not final, an essay is still to be read (python -m grading essays)", unread),
        ("handed in, but without a mark (their places are empty)", [mark for mark in found if mark.score is None]),
    ):
        if those:
            whose = [f"{called(mark.student, names)} {mark.assignment}" for mark in those]
            print(f"{title}: {len(those)}: {some(whose)}", file=sys.stderr)
    return 0


def some(texts: Sequence[str]) -> str:
    """Returns texts for one line: the first ones, and how many more there are."""
    more = len(texts) - SHOWN
    return ", ".join(texts[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def _advice(kind: str, found: Sequence[Mark], people: dict[str, Person], listed: Roster) -> Iterator[str]:
    """Yields what one should know before a site takes the file."""
    if listed:
        absent = [one for one in sorted({mark.student for mark in found}) if listed.person(one) is None]
        if absent:
            by_id = {one.id: one.name for one in people.values()}
            those = some([called(one, by_id) for one in absent])
            yield f"not in the list of students ({LIST}): {those}; their rows are in the file."
    if kind == "canvas":
        bare = [name for name in sorted({mark.assignment for mark in found}) if not canvas_title(name, listed.titles)]
        if bare:
            names = ", ".join(bare)
            yield f"Canvas looks for these by their bare title, and makes a new assignment where it has none: {names}"
    if kind == "moodle":
        yield (
            "Moodle takes an import for marks typed into its gradebook: an imported mark can no longer be changed in "
            "the assignment (docs.moodle.org, Grade import)."
        )
        known = {**people, **listed.people}
        students = [known.get(one, Person(one)) for one in sorted({mark.student for mark in found})]
        strange = [called(one.id, {one.id: one.name}) for one in students if not any(one.get(*t) for t in MOODLE_IDS)]
        if strange:
            yield (
                f"Moodle can tell these by name only: {some(strange)}; save Moodle's own list of them as "
                "gradebook/students.csv."
            )
