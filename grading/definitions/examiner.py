"""Mark an answer: on all that its check asks, and on inputs that nobody has seen."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from grading.definitions.exercise import Exercise, load_one
from tutor.checking.answers import Answer, InProcess
from tutor.checking.judging import judge
from tutor.checking.verdict import MIME, Verdict

SECONDS = 10.0  # for one exercise, however many questions it asks


def examine(
    exercise: Exercise,
    answer: Answer,
    seed: str,
    seconds: float = SECONDS,
    reading: contextlib.AbstractContextManager[None] | None = None,
) -> Verdict:
    """Returns the verdict on an answer, asked questions drawn from `seed`; reveals nothing of hidden inputs.

    The replies are read and compared within `reading`, which may limit what that costs (`reading_time`).
    """
    examples = exercise.variant(seed)
    with reading or contextlib.nullcontext():
        return judge(examples, answer, seconds, hidden=True)


def mark(notebook: str, name: str, answer: Any) -> float:
    """Shows the verdict on an answer and returns its mark; the last line of a check cell in plain nbgrader.

    nbgrader takes the returned number as the score of the cell.

    Raises:
        LookupError: when the notebook or the exercise is not defined.
    """
    from IPython.display import display

    exercise = load_one(notebook, name)
    verdict = examine(exercise, InProcess(answer), seed=_student())
    grading = os.environ.get("NBGRADER_EXECUTION") == "autograde"
    display(verdict, exclude=() if grading else (MIME,))  # nobody reads the data of a solution notebook
    return min(max(round(verdict.earned, 4), 0.0), exercise.points)


def _student() -> str:
    """Returns the student whose work nbgrader is grading (the folder above the assignment's), else "public"."""
    return Path.cwd().parent.name if os.environ.get("NBGRADER_EXECUTION") == "autograde" else "public"
