"""The notebook that a grading makes of a submission: built from the master, read back by the next run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from nbformat import NotebookNode

from grading.authoring import build
from grading.autograder.submission import Master, Work, rebuilt
from grading.folder.course import Course
from grading.notebooks.cells import exercise_of, grade_id, kind, settings

if TYPE_CHECKING:  # nbgrader's processes read notebooks too, and need no PyTorch
    from grading.autograder.grade_submission import Graded

MARKDOWN, ESCAPED = re.compile(r"([\\`*_\[\]{}<>&$~|#!])"), r"\\\1"  # signs that Markdown may obey, each as itself


def load_master(course: Course, assignment: str) -> Master:
    """Returns the master of an assignment, with checksums as nbgrader computes them for a release."""
    source = nbformat.read(course.solution(assignment), as_version=4)
    released = {cell.id: cell for cell in build.release(source).cells}
    for cell in source.cells:
        if kind(cell) in ("solution", "essay"):
            cell.metadata = released[cell.id].metadata
            cell.source = released[cell.id].source
    return Master(assignment, source)


def graded_notebook(master: Master, work: Work, graded: Graded, key: str) -> NotebookNode:
    """Returns the notebook that nbgrader shows: the student's answers, and our verdicts as outputs of the checks."""
    from tutor.checking.verdict import MIME  # only now, for the same reason

    notebook = rebuilt(master, work)
    for cell in notebook.cells:
        if kind(cell) == "solution":
            error = graded.errors.get(grade_id(cell), "")
            cell.outputs = [_output({"text/plain": f"When this cell was run: {error}"})] if error else []
        elif kind(cell) == "check":
            verdict = graded.verdicts[exercise_of(cell)]
            page = {"text/plain": str(verdict), "text/html": verdict._repr_html_(), MIME: verdict.as_data()}
            mark = {"text/plain": repr(round(verdict.earned, 4))}
            cell.execution_count = 1
            cell.outputs = [
                _output(page),
                _output(mark, output_type="execute_result", execution_count=1),
            ]
    if graded.repairs:
        lines = "\n".join(f"- {MARKDOWN.sub(ESCAPED, line)}" for line in graded.repairs)  # a file may have any name
        note = nbformat.v4.new_markdown_cell(f"**Put right before grading**\n\n{lines}")
        note.id = "put-right"
        notebook.cells.insert(0, note)
    verdicts = {name: _recorded(graded, name) for name in graded.verdicts}
    notebook.metadata["grading"] = {
        "key": key,
        "verdicts": verdicts,
        "put_right": graded.repairs,
        "odd": graded.odd,
        "lacking": graded.lacking,
    }
    return notebook


def _recorded(graded: Graded, name: str) -> dict[str, Any]:
    """Returns what the report of a class needs of a verdict."""
    verdict = graded.verdicts[name]
    kept = ("earned", "points", "outcome", "mistake", "hint", "sentence")
    return {key: getattr(verdict, key) for key in kept} | {"seconds": round(graded.spent.get(name, 0.0), 3)}


def _output(data: Mapping[str, Any], **further: Any) -> NotebookNode:
    """Returns an output; nbformat's own function compares each with its schema, which takes longer than all else."""
    entries = {"output_type": "display_data", "metadata": {}, "data": dict(data)} | further
    made: NotebookNode = nbformat.from_dict(entries)
    return made


def recorded_key(path: Path) -> str:
    """Returns the fingerprint of what an autograded notebook was made from, "" when there is none."""
    try:
        key = json.loads(path.read_text(encoding="utf-8"))["metadata"]["grading"]["key"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return ""  # missing, or left by something else: it is graded again
    return str(key)


def _points(notebook: NotebookNode, but: set[str]) -> dict[str, Any]:
    """Returns the points of what has a mark, by name, without some."""
    graded = [cell for cell in notebook.cells if kind(cell) in ("check", "essay") and grade_id(cell) not in but]
    return {grade_id(cell): settings(cell).get("points") for cell in graded}


def merge_exercise(path: Path, new: NotebookNode, exercise: str) -> NotebookNode | None:
    """Returns a graded notebook with one exercise taken from another grading; None when there is none to keep.

    Nor is one kept whose other exercises have other points than now, or are others: all of it is graded again.

    Its fingerprint stays the old one: the other exercises were not graded again, and a later run must see that.
    """
    try:
        old: NotebookNode = nbformat.read(path, as_version=4)
    except (OSError, ValueError, AttributeError, nbformat.reader.NotJSONError):
        return None  # never graded, or its file is damaged: then all of it is graded
    fresh = {grade_id(cell): cell for cell in new.cells}
    wanted = {exercise, f"{exercise}_check"}
    places = {grade_id(cell): index for index, cell in enumerate(old.cells)}
    if not wanted <= set(places) or _points(old, wanted) != _points(new, wanted):
        return None
    for name in wanted:
        old.cells[places[name]] = fresh[name]
    grading = old.metadata.get("grading", {})
    if exercise in grading.get("verdicts", {}):
        grading["verdicts"][exercise] = new.metadata["grading"]["verdicts"][exercise]
    return old
