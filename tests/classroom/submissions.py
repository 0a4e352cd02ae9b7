"""Submissions of notebook 01 that several tests need: a perfect one, and odd ones."""

import copy
import functools

import nbformat
from nbformat import NotebookNode

from grading.classroom import demo
from grading.folder.course import ROOT, Course

ASSIGNMENT = demo.ASSIGNMENT
AUTOMATIC = 14.0  # the points of notebook 01 without its essay


def released() -> NotebookNode:
    return nbformat.read(ROOT / "notebooks" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb", as_version=4)


@functools.cache
def _perfect() -> str:
    return demo.submissions(released())["ada_perfect"]


def perfect() -> NotebookNode:
    return nbformat.reads(_perfect(), as_version=4)


def cell(notebook: NotebookNode, grade_id: str) -> NotebookNode:
    return next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id)


def recorded_mark(course: Course, student: str) -> float:
    """Returns a student's mark in nbgrader's gradebook, with what lateness has taken off it."""
    with course.gradebook() as book:
        submission = book.find_submission(ASSIGNMENT, student)
        return max(0.0, float(submission.score) - float(submission.late_submission_penalty))


def oddities() -> dict[str, NotebookNode]:
    """Returns submissions that are odd but honest, and some that are not honest."""
    warning, copied, tagged, looping, undefined, kernel, below = (perfect() for _ in range(7))
    source = cell(warning, "causal_mask").source
    cell(warning, "causal_mask").source = "import sys, warnings\n" + source.replace(
        "size):", "size):\n    warnings.warn('old'); print('x', file=sys.stderr)"
    )
    twin = copy.deepcopy(cell(copied, "causal_mask"))
    twin.id = "twin"
    copied.cells.insert(3, twin)
    cell(tagged, "causal_mask").source = "def causal_mask(size):\n    return 0"
    cell(tagged, "causal_mask_check").metadata["tags"] = ["experiment", "skip-execution"]
    cell(looping, "causal_mask").source = "while True:\n    pass"
    cell(undefined, "causal_mask").source = "def another_name(size):\n    return 0"
    kernel.metadata["kernelspec"] = {"name": "conda-env-abc", "display_name": "abc", "language": "python"}
    own = cell(below, "mask_essay")
    text, own.source = own.source, cell(released(), "mask_essay").source
    drawing = nbformat.v4.new_markdown_cell(f"{text}\n\n![d](attachment:d.gif)")
    drawing.attachments = {"d.gif": {"image/gif": "R0lGODlhAQABAAAAACw="}}
    below.cells.insert(below.cells.index(own) + 1, drawing)
    return {
        "essay_below": below,
        "warning": warning,
        "copied": copied,
        "tagged": tagged,
        "looping": looping,
        "undefined": undefined,
        "kernel": kernel,
    }
