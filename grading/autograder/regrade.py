"""The command `regrade`: grade again what has been graded, an assignment, some students, or one exercise of them."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from grading.autograder import reporting
from grading.autograder.outcome import FAILED
from grading.autograder.preparation import chosen, start_fork_server
from grading.folder.course import ROOT, Course
from grading.folder.errors import CourseError
from grading.folder.text import printable
from grading.notebooks.cells import cells_of, exercise_of, kind


def command(options: argparse.Namespace) -> int:
    """Grades again, as `run` does."""
    course = Course((options.course or ROOT).resolve())
    return run(course, options.assignment, options.student, options.exercise, unsafe=options.unsafe)


def run(
    course: Course, assignment: str, students: Sequence[str] = (), exercise: str = "", *, unsafe: bool = False
) -> int:
    """Grades again, prints each mark before and after, and returns 0 only when every submission has a mark, else
    SOME_WITHOUT_MARK.

    Marks and comments that a person has given stay. With `exercise` no other exercise's mark can change.

    Raises:
        CourseError: when an assignment, a student or an exercise is unknown, or there is no sandbox.
    """
    chosen(course, [assignment], students)  # refuses what is mistyped, before anything is imported
    if exercise and exercise not in (known := _exercises(course, assignment)):
        raise CourseError(f"{assignment} has no exercise {exercise!r}; expected one of: {', '.join(known)}.")
    with reporting.Log(course.root, "regrade") as log, start_fork_server(unsafe=unsafe) as fork_server:
        log.write(f"regrade {assignment} students: {', '.join(students) or 'all'} exercise: {exercise or 'all'}")
        from grading.autograder import run as autograde

        before = _scores(course, assignment)
        settings = autograde.Settings(course, [assignment], students, exercise, force=True, unsafe=unsafe)
        outcomes = autograde.run(settings, fork_server, log.outcome, log.write_and_print)
    wide = max([7, *(len(printable(one.student)) for one in outcomes)])
    outcomes.sort(key=lambda one: one.student)
    title, *column = reporting.name_column([one.student for one in outcomes], reporting.names(course))
    print(f"{'student':<{wide}}  {title}{'before':>6}  {'now':>6}")
    for one, name in zip(outcomes, column, strict=True):
        old = f"{before[one.student]:g}" if one.student in before else ""
        now = "" if one.score is None else f"{one.score:g}"
        notes = printable("; ".join(one.notes), reporting.LONGEST)
        print(f"{printable(one.student):<{wide}}  {name}{old:>6}  {now:>6}  {notes}".rstrip())
    changed = sum(one.score is not None and before.get(one.student) != one.score for one in outcomes)
    print(f"\n{changed} of {len(outcomes)} marks changed. Write the feedback again:", end=" ")
    print(f"python -m grading feedback {assignment}")
    print(f"log: {log.path}", file=sys.stderr)
    return reporting.SOME_WITHOUT_MARK if any(one.state == FAILED for one in outcomes) else 0


def _exercises(course: Course, assignment: str) -> list[str]:
    notebook = json.loads(course.solution(assignment).read_text(encoding="utf-8"))
    return [exercise_of(cell) for cell in cells_of(notebook) or [] if kind(cell) == "check"]


def _scores(course: Course, assignment: str) -> dict[str, float]:
    """Returns the marks that nbgrader's gradebook has now, by student."""
    from nbgrader.api import MissingEntry

    course.refuse_damaged_gradebook()
    if not course.has_gradebook():
        return {}
    with course.gradebook() as book:
        try:
            submissions = book.assignment_submissions(assignment)
            return {one.student_id: max(0.0, one.score - one.late_submission_penalty) for one in submissions}
        except MissingEntry:
            return {}
