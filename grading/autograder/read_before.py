"""What was graded last of a submission: a person who has read an essay is asked again only when its text has changed.

nbgrader deletes a graded notebook before it grades again, so fingerprints of the answers are kept beside its folder.
"""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from pathlib import Path
from typing import Any

from grading.folder.course import Course
from grading.notebooks.cells import cells_of, exercise_of, grade_id, kind, text
from tutor.files import write_whole


class Answers:
    """The answers of a submission, as fingerprints by exercise or essay: those graded last, and those of `notebook`."""

    def __init__(self, course: Course, student: str, assignment: str, notebook: Any) -> None:
        self._graded = course.autograded(student, assignment)
        self._path = self._graded.parent.with_name(f".{assignment}.answers.json")
        self._notebook = notebook

    @cached_property
    def _before(self) -> dict[str, str]:
        return _kept(self._path) or _of_file(self._graded)

    @cached_property
    def _now(self) -> dict[str, str]:
        return _of(self._notebook)

    def mark(self, grade: Any, cell: Any) -> dict[str, Any]:
        """Returns what changes in a mark of nbgrader's gradebook by what its graded cell now gives.

        A mark that a person has given stays. It is to be looked at again when what it is for has changed.
        """
        from nbgrader.utils import determine_grade

        score, name = determine_grade(cell)[0], exercise_of(cell)
        changed: dict[str, Any] = {"auto_score": score}
        if grade.manual_score is None:
            changed["needs_manual_grade"] = score is None
        elif score != grade.auto_score or self._before.get(name) != self._now.get(name):
            changed["needs_manual_grade"] = True
        return changed

    def keep(self) -> None:
        """Keeps the answers of the notebook as those graded last: to be called when its marks are in the gradebook."""
        write_whole(self._path, json.dumps(self._now))


def _of(notebook: Any) -> dict[str, str]:
    """Returns the fingerprints of the answers in a graded notebook."""
    cells = [cell for cell in cells_of(notebook) or [] if kind(cell) in ("solution", "essay")]
    return {grade_id(cell): hashlib.sha256(_read_of(cell).encode()).hexdigest() for cell in cells}


def _read_of(cell: Any) -> str:
    """Returns what a person reads of an answer: its text, and its pictures where it has some."""
    pictures = cell.get("attachments")
    return text(cell) + (json.dumps(pictures, sort_keys=True) if pictures else "")


def _of_file(path: Path) -> dict[str, str]:
    """Returns those of the file of a graded notebook; none where there is no such file, or it is damaged."""
    try:
        return _of(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return {}


def _kept(path: Path) -> dict[str, str]:
    """Returns those that were kept; none where none were, or their file is damaged."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return kept if isinstance(kept, dict) else {}
