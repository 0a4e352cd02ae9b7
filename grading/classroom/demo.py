"""A small class to try the tools on: a perfect, a half-done, an empty, a mistaken and some broken submissions."""

from __future__ import annotations

import argparse
import copy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grading.authoring import bank
from grading.autograder.reporting import SOME_WITHOUT_MARK
from grading.classroom.demo_class import FOLDER, MARKER, STUDENTS, is_demo
from grading.folder.course import ROOT, Course
from grading.folder.errors import CourseError
from grading.notebooks.cells import grade_id

ASSIGNMENT = "01_causal_mask"
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
        if grade_id(cell) in sources:
            cell.source = sources[grade_id(cell)]
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
    contents = (
        perfect,
        nbformat.writes(fill(released, half)),
        nbformat.writes(released),
        nbformat.writes(fill(released, mistaken | essays)),
        perfect[: len(perfect) // 2],
        nbformat.writes(fill(released, right | essays | {order[0]: LOOP})),
        "",
    )
    return dict(zip(STUDENTS, contents, strict=True))


def make(course: Path, assignment: str = ASSIGNMENT) -> None:
    """Makes a course folder with the class's submissions in its gradebook/submitted/.

    Raises:
        CourseError: when it is the course itself, or a class is there that the demo has not made.
    """
    if course == ROOT:
        raise CourseError(f"the demo class has a course folder of its own; expected another one than {ROOT}.")
    paths = Course(course)
    folder = paths.class_folder
    if folder.exists() and any(folder.iterdir()) and not is_demo(paths):
        raise CourseError(
            f"{folder} holds a class that the demo has not made; expected an empty folder. Move it away, or say "
            "--folder OTHER."
        )
    made = submissions(nbformat.read(Course().released(assignment), as_version=4), assignment)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / MARKER).write_text("`make demo` may delete this folder.\n", encoding="utf-8")
    shutil.copy(ROOT / "nbgrader_config.py", course)
    paths.solution(assignment).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(Course().solution(assignment), paths.solution(assignment))
    for student, content in made.items():
        submission = paths.submitted(student, assignment)
        submission.mkdir(parents=True)
        (submission / "timestamp.txt").write_text(RECEIVED, encoding="utf-8")
        if content:
            (submission / f"{assignment}.ipynb").write_text(content, encoding="utf-8")


def _name(student: str) -> tuple[str, str]:
    """Returns first and last name: "fatou_endless_loop" -> ("Fatou", "Endless Loop")."""
    first, _, rest = student.partition("_")
    return first.title(), rest.replace("_", " ").title()


def _run(words: list[str]) -> int:
    """Shows a command of `python -m grading`, runs it as an instructor would, and returns its status."""
    print(f"$ python -m grading {shlex.join(words)}", flush=True)
    return subprocess.run([sys.executable, "-m", "grading", *words], cwd=ROOT).returncode


def command(options: argparse.Namespace) -> int:
    """Makes the class, grades it and writes its feedback with the commands of an instructor; returns their status."""
    course = Path(options.folder).resolve() if options.folder else FOLDER
    gradebook = (own := Course()).address  # the demo's folder gets the same settings
    if gradebook.file is None or not gradebook.file.is_relative_to(own.root):
        raise CourseError(
            f"the demo would write its students into {gradebook}, where a class of yours may be; expected a file in "
            "the course folder in db_url of nbgrader_config.py. Comment yours out for the demo."
        )
    try:
        course.mkdir(parents=True, exist_ok=True)
        make(course)
    except OSError as problem:
        raise CourseError(f"the class could not be written: {problem}") from problem
    students = [folder.parent.name for folder in Course(course).submitted_folders(ASSIGNMENT)]
    Course(course).name_students({student: _name(student) for student in students})
    for command in (["autograde", *(["--unsafe"] if options.unsafe else [])], ["feedback"]):
        status = _run([*command, ASSIGNMENT, "--course", str(course)])
        if status not in (0, SOME_WITHOUT_MARK):  # the class has broken submissions on purpose
            return status
    named = course.relative_to(ROOT) if course.is_relative_to(ROOT) else course
    print(
        f"\nFeedback pages: {Course(course).class_folder / 'feedback'}. The same class in the browser: "
        f"make formgrader COURSE={named}. Other commands take it with --course {named}."
    )
    return 0
