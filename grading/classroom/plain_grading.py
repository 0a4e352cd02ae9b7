"""Grade a class with nbgrader's own commands, and say for each student the mark and why."""

from __future__ import annotations

import argparse
import glob
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grading.autograder.nbgrader_commands import nbgrader
from grading.autograder.reporting import LONGEST, name_column, names
from grading.folder.course import ROOT, Course
from grading.folder.errors import CourseError
from grading.folder.text import printable
from grading.notebooks import cells
from grading.notebooks.verdicts import read_verdict


@dataclass(frozen=True)
class Row:
    """One line of the table: `mark` is None when the submission could not be graded."""

    student: str
    mark: float | None
    points: float
    why: str
    name: str = ""


def name_students(course: Course, names: Mapping[str, tuple[str, str]]) -> None:
    """Writes students' first and last names into the gradebook, which formgrader shows."""
    with course.gradebook() as gradebook:
        for student, (first, last) in names.items():
            gradebook.update_or_create_student(student, first_name=first, last_name=last)


def grade(course: Course, assignment: str, *, say: bool = True, unsafe: bool = False) -> list[Row]:
    """Autogrades all submissions of an assignment, writes feedback, and returns the table.

    A student whose submission then has no mark is graded by an nbgrader alone, so that what it reports is of that one.
    With `unsafe` students' code runs in a plain kernel, with the rights of whoever grades.

    Raises:
        CourseError: when grading cannot start. A broken submission costs that student only.
    """
    students = [folder.parent.name for folder in course.submitted_folders(assignment)]
    course.refuse_damaged_gradebook()
    reported = {}
    for step in (
        ("generate_assignment", assignment, "--force"),
        ("autograde", assignment, *(["--SandboxedExecute.unprotected=True"] if unsafe else [])),
        ("generate_feedback", assignment, "--force"),
    ):
        if say:
            print(f"$ nbgrader {' '.join(step)}", flush=True)
        done = nbgrader(course.root, *step)
        if step[0] == "autograde":
            for student in students:
                if not course.autograded(student, assignment).exists():
                    reported[student] = nbgrader(course.root, *step, f"--student={glob.escape(student)}").stderr
        if done.returncode and step[0] == "generate_assignment":
            raise CourseError(f"nbgrader {step[0]} failed: {_told(done.stderr)}")
    known = names(course)
    rows = (row(course, assignment, student, reported.get(student, "")) for student in students)
    return [replace(one, name=known.get(one.student, "")) for one in rows]


def row(course: Course, assignment: str, student: str, reported: str = "") -> Row:
    """Returns the line of one student: the mark from nbgrader's gradebook, the reasons from the graded notebook.

    Args:
        course: the folder of the course.
        assignment: its full name.
        student: the student's id.
        reported: what nbgrader printed when it graded this student.
    """
    from nbgrader.api import MissingEntry

    graded = course.autograded(student, assignment)
    with course.gradebook() as gradebook:
        points = float(gradebook.find_assignment(assignment).max_score)
        if not graded.exists():
            reason = _why_not(course, student, assignment, reported)
            return Row(student, None, points, f"could not be graded: {reason}")
        try:
            submission = gradebook.find_submission(assignment, student)
            score, penalty = float(submission.score), float(submission.late_submission_penalty)
        except MissingEntry:
            return Row(student, None, points, "could not be graded: nbgrader has no entry for it; grade again")
    late = [f"handed in late: {penalty:g} of {score:g} points taken off"] if penalty else []
    return Row(student, max(0.0, score - penalty), points, "; ".join([*late, *reasons(graded)]) or "all checks passed")


def _why_not(course: Course, student: str, assignment: str, reported: str) -> str:
    """Returns why a submission has no graded notebook, from its folder and from what nbgrader said of it."""
    from grading.autograder.graded_notebook import load_master
    from grading.autograder.submission import UnreadableError, read

    try:
        read(course.submitted(student, assignment), load_master(course, assignment))
    except UnreadableError as problem:
        return str(problem)
    if "DeadKernelError" in reported or "Kernel died" in reported:
        return "its code ended the kernel"
    return f"nbgrader says: {_told(reported)}"


def _told(reported: str) -> str:
    """Returns the reason in what nbgrader printed: the error that came first, else the last line that tells of one."""
    _, traceback, rest = reported.partition("Traceback (most recent call last):\n")
    error = re.search(r"^(?: {4})?([\w.]+(?:Error|Exception|Entry)\b.*)", rest, re.MULTILINE)  # the log indents by 4
    if traceback and error:
        return error[1].removeprefix(f"{CourseError.__module__}.{CourseError.__name__}: ")[:400]
    lines = [line for line in reported.splitlines() if "ERROR" in line]
    return re.sub(r"^\[.*?\]\s*", "", lines[-1])[:200] if lines else "no reason given; see its log"


def reasons(graded: Path) -> list[str]:
    """Returns one sentence for each check cell of a graded notebook that lost marks, and for unread essays."""
    import nbformat
    from nbgrader.utils import determine_grade

    told = []
    for cell in nbformat.read(graded, as_version=4).cells:
        kind, name = cells.kind(cell), cells.exercise_of(cell)
        if kind not in ("check", "essay"):
            continue
        mark, points = determine_grade(cell)
        if kind == "essay":
            told += [f"{name}: to be read"] if mark is None else []
        elif mark != points:
            told.append(f"{name} {mark:g}/{points:g}: {_reason(cell)}")
    return told


def _reason(check: Mapping[str, Any]) -> str:
    """Returns why a check gave less than full marks: the mistake that the examiner recognised, or what it said."""
    for output in check["outputs"]:
        if output["output_type"] == "error":
            if output["ename"] == "CellTimeoutError":
                return "the cell ran too long and was stopped"
            if output["ename"] == "NameError":
                return "its cell was not run or failed, so there is nothing to check"
            return f"{output['ename']}: {output['evalue']}"[:120]
    verdict = read_verdict(check)
    if verdict is None:
        return "no reason given"
    failed = next((f" ({line.text})" for line in verdict.lines if line.kind == "failed"), "")
    return verdict.mistake or f"{verdict.said}{failed}"


def print_table(rows: Sequence[Row]) -> None:
    """Prints student, name where one is known, mark, and why, with long reasons on lines of their own."""
    width = max([7, *(len(printable(row.student)) for row in rows)])
    title, *column = name_column([row.student for row in rows], {row.student: row.name for row in rows})
    print(f"\n{'student':<{width}}  {title}{'mark':>7}  why")
    for entry, name in zip(rows, column, strict=True):
        mark = "none" if entry.mark is None else f"{entry.mark:g}/{entry.points:g}"
        first, *rest = printable(entry.why, LONGEST).split("; ")
        print(f"{printable(entry.student):<{width}}  {name}{mark:>7}  {first}")
        for line in rest:
            print(f"{'':<{width}}  {'':<{len(name)}}{'':>7}  {line}")


def command(options: argparse.Namespace) -> int:
    """Grades an assignment and prints the table; returns 0 only when every submission has a mark."""
    course = Course((options.course or ROOT).resolve())
    rows = grade(course, options.assignment, unsafe=options.unsafe)
    print_table(rows)
    missing = [entry.student for entry in rows if entry.mark is None]
    feedback = course.class_folder / "feedback"
    print(f"\n{len(rows) - len(missing)} of {len(rows)} submissions have a mark; feedback is in {feedback}.")
    return 1 if missing else 0
