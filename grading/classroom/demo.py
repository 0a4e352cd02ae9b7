"""A small class to try the tools on: a perfect, a half-done, an empty, a mistaken and some broken submissions."""

from __future__ import annotations

import copy
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grading.authoring import bank
from grading.classroom import plain_grading as classroom
from grading.course import ROOT
from grading.errors import CourseError

ASSIGNMENT = "01_causal_mask"
MARKER = ".made_by_demo"  # a gradebook folder with this file may be made anew
ESSAY = (
    "Without the mask the model copies the next word from its own input during training. When it generates, the mask "
    "keeps the earlier states as they were, so keys and values can be kept."
)
RECEIVED = "2026-01-12 18:00:00 UTC"
LOOP = "def causal_mask(size):\n    while True:\n        size = size + 1"


def fill(released: NotebookNode, sources: dict[str, str]) -> NotebookNode:
    """Returns a released notebook with the source of some cells replaced, by grade id."""
    notebook = copy.deepcopy(released)
    for cell in notebook.cells:
        identifier = cell.metadata.get("nbgrader", {}).get("grade_id")
        if identifier in sources:
            cell.source = sources[identifier]
    return notebook


def _pick(assignment: str, wanted: Callable[[bank.BankAnswer], bool]) -> dict[str, str]:
    """Returns for each exercise the first answer of the bank that fits."""
    chosen: dict[str, str] = {}
    for answer in bank.answers(assignment):
        if wanted(answer):
            chosen.setdefault(answer.exercise, answer.source)
    return chosen


def submissions(released: NotebookNode, assignment: str = ASSIGNMENT) -> dict[str, str]:
    """Returns the content of each student's notebook file; an empty text stands for a missing file."""
    right = _pick(assignment, lambda answer: answer.right)
    mistaken = _pick(assignment, lambda answer: not answer.right and bool(answer.mistake))
    order = [cell.name for cell in bank.cells(assignment) if cell.kind == "exercise"]
    half = {name: right[name] for name in order[: len(order) // 2]}
    essays = {cell.name: ESSAY for cell in bank.cells(assignment) if cell.kind == "essay"}
    perfect = nbformat.writes(fill(released, right | essays))
    return {
        "ada_perfect": perfect,
        "blaise_half_done": nbformat.writes(fill(released, half)),
        "chloe_empty": nbformat.writes(released),
        "denis_mistaken": nbformat.writes(fill(released, mistaken | essays)),
        "emile_broken_file": perfect[: len(perfect) // 2],
        "fatou_endless_loop": nbformat.writes(fill(released, right | essays | {order[0]: LOOP})),
        "gael_no_notebook": "",
    }


def make(course: Path, assignment: str = ASSIGNMENT) -> None:
    """Writes the class's submissions under `course`/gradebook/submitted.

    Raises:
        CourseError: when a class is there that the demo has not made.
    """
    gradebook = course / "gradebook"
    if gradebook.exists() and any(gradebook.iterdir()) and not (gradebook / MARKER).exists():
        raise CourseError(
            f"{gradebook} holds a class that the demo has not made; expected an empty folder. Move it away, or say "
            "--folder OTHER."
        )
    released = nbformat.read(ROOT / "notebooks" / assignment / f"{assignment}.ipynb", as_version=4)
    made = submissions(released, assignment)
    shutil.rmtree(gradebook, ignore_errors=True)
    gradebook.mkdir(parents=True)
    (gradebook / MARKER).write_text("`make demo` may delete this folder.\n", encoding="utf-8")
    if course != ROOT:
        shutil.copy(ROOT / "nbgrader_config.py", course)
        source = f"solutions/{assignment}/{assignment}.ipynb"
        (course / source).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / source, course / source)
    for student, content in made.items():
        folder = gradebook / "submitted" / student / assignment
        folder.mkdir(parents=True)
        (folder / "timestamp.txt").write_text(RECEIVED, encoding="utf-8")
        if content:
            (folder / f"{assignment}.ipynb").write_text(content, encoding="utf-8")


def submissions_of(course: Path) -> list[str]:
    """Returns the students who have submitted something."""
    return sorted(path.name for path in (course / "gradebook" / "submitted").iterdir())


def _name(student: str) -> tuple[str, str]:
    """Returns first and last name: "fatou_endless_loop" -> ("Fatou", "Endless Loop")."""
    first, _, rest = student.partition("_")
    return first.title(), rest.replace("_", " ").title()


def run(folder: str | None = None) -> int:
    """Makes the class, grades it with plain nbgrader, and prints the table. The broken submissions have no mark."""
    course = Path(folder).resolve() if folder else ROOT
    try:
        course.mkdir(parents=True, exist_ok=True)
        make(course)
        classroom.name_students(course, {name: _name(name) for name in submissions_of(course)})
        rows = classroom.grade(course, ASSIGNMENT)
    except CourseError as problem:
        print(problem, file=sys.stderr)
        return 2
    except OSError as problem:
        print(f"the class could not be written: {problem}", file=sys.stderr)
        return 2
    classroom.print_table(rows)
    print(
        f"\nFeedback pages: {course / 'gradebook' / 'feedback'}. The same class in the browser: make formgrader."
        if course == ROOT
        else f"\nFeedback pages: {course / 'gradebook' / 'feedback'}."
    )
    return 0
