"""Write the feedback pages of a class, with nbgrader's `generate_feedback` and the page of `exporter`.

nbgrader is imported when there is a page to write: what is mistyped is answered at once.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path

from tqdm import tqdm

from grading.autograder import reporting
from grading.folder.course import ROOT, Course
from grading.folder.errors import CourseError
from grading.folder.text import printable
from grading.notebooks import cells
from grading.notebooks.verdicts import read_verdict


class _ToLog(logging.Handler):
    """Takes nbgrader's messages to a log file of ours."""

    def __init__(self, log: reporting.Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        self._log.write(record.getMessage())


def command(options: argparse.Namespace) -> int:
    """Runs `python -m grading feedback`."""
    return run(Course((options.course or ROOT).resolve()), options.assignment, options.student)


def run(course: Course, assignments: Sequence[str] = (), students: Sequence[str] = (), *, progress: bool = True) -> int:
    """Writes feedback pages with nbgrader's `generate_feedback`; returns 0 only when all could be written.

    Raises:
        CourseError: when nothing that was chosen has been graded, or the gradebook cannot be reached.
    """
    chosen = _choose(course, assignments, students)
    course.refuse_damaged_gradebook()
    record = reporting.Log(course.root, "feedback")
    log = logging.Logger("feedback", logging.ERROR)
    log.addHandler(_ToLog(record))
    stale = _without_a_mark(course, {path.stem for path in chosen})
    failed, old = list[str](), 0
    for path in tqdm(chosen, unit="page", disable=not progress, file=sys.stderr):
        whose = (path.parts[-3], path.stem)
        again = f"graded by other points than it has now; grade again (python -m grading autograde {path.stem})"
        try:
            problem = again if whose in stale else _write_page(course, path, log)
            old += not problem and _lacks_verdicts(path)
        except CourseError:  # the gradebook cannot be reached: no page can be written
            raise
        except Exception as other:  # noqa: BLE001 - whatever it is: it is reported, and the next one is written
            problem = f"{type(other).__name__}: {other}".removesuffix(": ")
            record.write(traceback.format_exc())
        if problem:
            failed.append(f"{path.parts[-3]} {path.stem}: {problem}")
    record.close()
    print(f"feedback pages in {course.class_folder / 'feedback'}: {len(chosen) - len(failed)}")
    if old:
        print(f"without all verdicts: {old}; grade these again (python -m grading autograde).", file=sys.stderr)
    for line in failed:
        print(f"no page for {printable(line, 1000)}", file=sys.stderr)
    if failed:
        print(f"log: {record.path}", file=sys.stderr)
    return 1 if failed else 0


def _without_a_mark(course: Course, assignments: Iterable[str]) -> set[tuple[str, str]]:
    """Returns students and assignments whose points in the gradebook do not count any more."""
    from grading.autograder.entering import ungraded

    if not course.has_gradebook():
        return set()
    return {(student, name) for name in assignments for student in ungraded(course, name)}


def _choose(course: Course, assignments: Sequence[str], students: Sequence[str]) -> list[Path]:
    """Returns the autograded notebooks of these assignments and students, of all where none is named."""
    folder = course.class_folder / "autograded"
    found = sorted(path for path in folder.glob("[!.]*/[!.]*/*.ipynb") if path.stem == path.parent.name)
    chosen = [
        path
        for path in found
        if (not assignments or path.stem in assignments) and (not students or path.parts[-3] in students)
    ]
    absent = {*assignments} - {path.stem for path in found}
    if absent or not found:
        raise CourseError(
            f"no graded submission {f'of {sorted(absent)[0]!r} ' if absent else ''}in {folder}; grade first "
            "(python -m grading autograde)."
        )
    if nobody := sorted({*students} - {path.parts[-3] for path in chosen}):
        raise CourseError(
            f"no graded submission of a student called {nobody[0]!r}{f' for {assignments[0]}' if assignments else ''}; "
            f"expected the id of one of the {len(found)} in {folder}."
        )
    if nothing := sorted({*assignments} - {path.stem for path in chosen}):
        raise CourseError(f"no graded submission of {nothing[0]!r} by {', '.join(students)}; grade it first.")
    return chosen


def _write_page(course: Course, path: Path, log: logging.Logger) -> str:
    """Writes the page of an autograded notebook; returns what nbgrader says when it cannot, else ""."""
    from nbgrader.converters import GenerateFeedback
    from nbgrader.converters.base import NbGraderException
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import Config
    from traitlets.config.loader import PyFileConfigLoader

    config = Config()
    config.merge(PyFileConfigLoader("nbgrader_config.py", str(course.root)).load_config())
    folder = CourseDirectory(config=config, assignment_id=path.stem, student_id=path.parts[-3])
    try:
        with course.address.reaching():
            GenerateFeedback(coursedir=folder, config=config, force=True, log=log).start()
    except NbGraderException as problem:
        return str(problem) or type(problem).__name__
    return ""


def _lacks_verdicts(path: Path) -> bool:
    """Says whether a check of an autograded notebook holds no verdict that can be read."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return any(cells.kind(cell) == "check" and read_verdict(cell) is None for cell in cells.cells_of(notebook) or ())
