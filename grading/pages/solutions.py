"""Worked solutions of a notebook, as one page for students when nobody writes any more.

The page is the solved notebook: text, code, figures and, in the place of each exercise, an answer, what the check asks
of it and which mistakes it knows. Sample answers to essays are the instructor's: they are not on it.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grading.folder.course import ROOT, Course
from grading.folder.errors import CourseError
from grading.notebooks import cells
from tutor.files import write_whole

if TYPE_CHECKING:
    from grading.definitions.bank import BankAnswer
    from grading.definitions.exercise import Exercise

MARKS = re.compile(rf"^[ \t]*(?:{cells.BEGIN_SOLUTION}|{cells.END_SOLUTION})[ \t]*\n?", re.MULTILINE)


def command(options: argparse.Namespace) -> int:
    """Runs `python -m grading solutions`."""
    course = Course((options.course or ROOT).resolve())
    print(f"{write_page(course, options.assignment, early=options.early)}: for students, when you give it to them.")
    return 0


def write_page(course: Course, assignment: str, *, early: bool = False) -> Path:
    """Writes the page into `gradebook/solutions/` and returns its path.

    Args:
        course: the course folder.
        assignment: its name.
        early: whether to write it though somebody may still hand in.

    Raises:
        CourseError: when there is no such assignment, or its time is not over for everybody.
    """
    course.refuse_unknown(assignment)
    ends, who = _last_end(course, assignment)
    now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
    if ends and ends > now and not early:
        raise CourseError(
            f"{assignment} is due on {ends:%Y-%m-%d %H:%M} UTC{f' for {who}' if who else ''}: expected that time to be "
            "over. Wait for it, or say --early."
        )
    page = course.class_folder / "solutions" / f"{assignment}.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    write_whole(page, make_page(course, assignment))
    return page


def _last_end(course: Course, assignment: str) -> tuple[datetime.datetime | None, str]:
    """Returns the latest due date in the gradebook, in UTC, and whose it is: "" for everybody; (None, "") for none."""
    course.refuse_damaged_gradebook()
    if not course.has_gradebook():
        return None, ""
    with course.gradebook() as book:
        due = next((one.duedate for one in book.assignments if one.name == assignment), None)
        if due is None:
            return None, ""
        extended = [
            (due + submission.extension, str(submission.student.id))
            for submission in book.assignment_submissions(assignment)
            if submission.extension
        ]
    return max([(due, ""), *extended])


# --- the page ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """What the page shows of one cell; `kind` is "solution", "essay", "prose", "experiment" or "code".

    `caption` is that of an experiment; `other` is a right answer of another style, None where the bank names none.
    """

    kind: str
    name: str
    source: str
    outputs: list[Any]
    points: float = 0.0
    exercise: Exercise | None = None
    caption: str = ""
    other: BankAnswer | None = None


def make_page(course: Course, assignment: str) -> str:
    """Returns the page as HTML that needs nothing from outside."""
    from grading.definitions import bank
    from grading.definitions.exercise import load  # PyTorch, only now: what is mistyped is answered at once
    from grading.pages.markup import read_output
    from grading.pages.rendering import render

    notebook = json.loads(course.solution(assignment).read_text(encoding="utf-8"))
    exercises = load(assignment)
    parts = list[Part]()
    for cell in notebook["cells"]:
        kind, name = cells.kind(cell), cells.grade_id(cell)
        source, exercise = cells.text(cell), None
        is_alive = "widget" in cells.tags(cell) or cells.is_around(cell) or cells.is_progress(cell)
        if kind == "check" or is_alive:
            continue  # its exercise says what the check asks; sliders, guesses and points are of a kernel at work
        caption, source = cells.captioned(source) if cells.is_experiment(cell) else ("", source)
        points = float(cells.settings(cell).get("points") or 0)
        if kind == "solution":
            source, exercise = MARKS.sub("", source), exercises[name]
            points = exercise.points
        elif kind == "essay":
            source = ""
        elif cell["cell_type"] == "markdown":
            kind = "prose"
        else:
            kind = "experiment" if cells.is_experiment(cell) else "code"
        outputs = [read_output(one) for one in cell.get("outputs", ())] if kind != "solution" else []
        other = next((one for one in bank.of_exercise(assignment, name) if one.other), None) if exercise else None
        parts.append(Part(kind, name, source, outputs, points, exercise, caption, other))
    return render("solutions.html", title=f"{assignment}: worked solutions", parts=parts)
