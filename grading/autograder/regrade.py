"""Grade again what has been graded: an assignment, some students, or one exercise of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grading import exercise as exercises
from grading.errors import CourseError


def merged(path: Path, new: NotebookNode, exercise: str) -> NotebookNode | None:
    """Returns a graded notebook with one exercise taken from another grading; None when there is none to keep.

    Its fingerprint stays the old one: the other exercises were not graded again, and a later run must see that.
    """
    try:
        old: NotebookNode = nbformat.read(path, as_version=4)
    except (OSError, ValueError, AttributeError, nbformat.reader.NotJSONError):
        return None  # never graded, or its file is damaged: then all of it is graded
    fresh = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in new.cells}
    wanted = {exercise, f"{exercise}_check"}
    places = {cell.metadata.get("nbgrader", {}).get("grade_id"): index for index, cell in enumerate(old.cells)}
    if not wanted <= set(places):
        return None
    for name in wanted:
        old.cells[places[name]] = fresh[name]
    told = old.metadata.get("grading", {})
    if exercise in told.get("verdicts", {}):
        told["verdicts"][exercise] = new.metadata["grading"]["verdicts"][exercise]
    return old


def scores(course: Path, assignment: str) -> dict[str, float]:
    """Returns the marks that nbgrader's gradebook has now, by student."""
    from nbgrader.api import Gradebook, MissingEntry

    database = course / "gradebook" / "gradebook.db"
    if not database.exists():
        return {}
    with Gradebook(f"sqlite:///{database}", "transformers") as book:
        try:
            return {one.student_id: float(one.score) for one in book.assignment_submissions(assignment)}
        except MissingEntry:
            return {}


def run(
    course: Path, assignment: str, students: Sequence[str] = (), exercise: str = "", *, unsafe: bool = False
) -> int:
    """Grades again, prints each mark before and after, and returns 0 only when every submission has a mark.

    Marks and comments that a person has given stay. With `exercise` no other exercise's mark can change.

    Raises:
        CourseError: when an assignment, a student or an exercise is unknown, or there is no sandbox.
    """
    from grading.autograder import reporting as telling
    from grading.autograder import run as autograde
    from grading.classroom import plain_grading as classroom

    classroom.submissions(course, assignment)  # refuses an unknown assignment
    if exercise and exercise not in (known := exercises.load(assignment)):
        raise CourseError(f"{assignment} has no exercise {exercise!r}; expected one of: {', '.join(known)}.")
    classroom.refuse_damaged_gradebook(course)
    before = scores(course, assignment)
    log = telling.Log(course, "regrade")
    log.say(f"regrade {assignment} students: {', '.join(students) or 'all'} exercise: {exercise or 'all'}")
    try:
        again = partial(autograde.run, [assignment], force=True, heard=log.outcome)
        outcomes = again(students=students, course=course, exercise=exercise, unsafe=unsafe)
    finally:
        log.close()
    wide = max([7, *(len(one.student) for one in outcomes)])
    print(f"{'student':<{wide}}  {'before':>6}  {'now':>6}")
    for one in sorted(outcomes, key=lambda one: one.student):
        old = f"{before[one.student]:g}" if one.student in before else ""
        now = "" if one.score is None else f"{one.score:g}"
        print(f"{one.student:<{wide}}  {old:>6}  {now:>6}  {telling.shown(one.reason)}".rstrip())
    changed = sum(one.score is not None and before.get(one.student) != one.score for one in outcomes)
    print(f"\n{changed} of {len(outcomes)} marks changed. Write the feedback again:", end=" ")
    print(f"python -m grading feedback {assignment}")
    print(f"log: {log.path}", file=sys.stderr)
    return 1 if any(one.state == telling.FAILED for one in outcomes) else 0
