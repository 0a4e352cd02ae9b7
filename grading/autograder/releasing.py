"""Steps of nbgrader's around a release: taking an assignment into the gradebook, and keeping what was released."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import NbGraderPreprocessor, SaveCells
from traitlets.log import get_logger

from grading.autograder.entering import enter, say_who_is_left, ungraded
from grading.autograder.graded_notebook import load_master
from grading.autograder.preprocessors import assignment_of
from grading.autograder.submission import Master
from grading.folder.course import Course
from grading.folder.errors import CourseError


def enter_assignment(assignment: str, **others: Any) -> None:
    """Takes an assignment into the gradebook as `solutions/` has it: nbgrader calls it before each submission.

    nbgrader takes no exception from here: it goes on, and then stops at what is missing.
    """
    course, log = Course(Path.cwd()), get_logger()
    try:
        course.refuse_unknown(assignment)
        _enter(course, load_master(course, assignment), log)
    except CourseError as problem:
        log.error("%s", problem)


def _enter(course: Course, master: Master, log: Any) -> None:
    """Takes a master into the gradebook, and says what has changed and who is to be graded again."""
    changed = enter(course, master, log.warning)
    if changed:
        log.warning("%s", changed)
        if left := ungraded(course, master.assignment):
            again = f"nbgrader autograde {master.assignment} --force"
            log.warning("%s", say_who_is_left(master.assignment, left, again))


class EnterCells(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no types
    """Takes a notebook into the gradebook, in the place of nbgrader's `SaveCells` in `generate_assignment`.

    nbgrader's refuses other cells as soon as somebody has handed in, and then deletes the release.
    """

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Returns the notebook as it was.

        Raises:
            CourseError: when it is no notebook of this course, or the gradebook cannot be written.
        """
        _enter(Course(Path.cwd()), Master(assignment_of(resources), nb), self.log)
        return nb, resources


# The steps of `generate_assignment`: nbgrader's, but for the one that takes the notebook into the gradebook.
RELEASING = [EnterCells if step is SaveCells else step for step in GenerateAssignment.preprocessors.default()]


def keep_released() -> None:
    """Lets no release be lost: nbgrader's `generate_assignment --force` deletes it first, and when it fails, too."""
    start = GenerateAssignment.start
    if not hasattr(start, "__wrapped__"):
        GenerateAssignment.start = _keeping(start)


def _keeping(start: Callable[[Any], None]) -> Callable[[Any], None]:
    @wraps(start)
    def wrapped(converter: Any) -> None:
        directory = converter.coursedir
        folder = Path(directory.format_path(directory.release_directory, ".", directory.assignment_id))
        if not folder.is_dir():
            start(converter)
            return
        with tempfile.TemporaryDirectory() as copies:
            copy = Path(copies, folder.name)
            shutil.copytree(folder, copy)
            try:
                start(converter)
            except BaseException:
                shutil.copytree(copy, folder, dirs_exist_ok=True)
                raise

    return wrapped
