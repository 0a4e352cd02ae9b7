"""The one reader of the verdicts in a graded notebook. Standard library only.

The examiner writes each verdict as data among the outputs of a check cell (`tutor.checking.verdict.Verdict.as_data`).
What another cell holds is what a student has shown, and no verdict: give only check cells to the functions here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grading.folder.text import printable
from grading.notebooks import cells

MIME = "application/vnd.course.verdict+json"
MAX_LINES, MAX_TEXT, MAX_POINTS = 100, 2000, 1e6  # of one verdict, whoever wrote it
OUTCOMES = frozenset({"right", "wrong", "not attempted", "crashed", "late"})
# The message of other errors may quote a hidden input.
SHOWN_ERRORS = frozenset({"NameError", "SyntaxError", "IndentationError", "CellTimeoutError", "NotImplementedError"})


@dataclass(frozen=True)
class Line:
    """A line below the headline; `kind` is "passed", "failed", "unreached", "said", "mistake", "look" or "note"."""

    kind: str
    text: str


@dataclass(frozen=True)
class RecordedVerdict:
    """What the examiner reported of one exercise; every text is "" where there is none.

    `outcome` is one of `OUTCOMES`, `said` the same in words, `earned` between 0 and `points`.
    """

    outcome: str
    said: str
    headline: str
    earned: float
    points: float
    mistake: str = ""
    hint: str = ""
    lines: tuple[Line, ...] = ()


def read_verdict(check: Any) -> RecordedVerdict | None:
    """Returns the verdict in a check cell, the last one where there are several; None when there is none to be read.

    A check that an error has stopped counts as a verdict that says so.
    """
    outputs = check.get("outputs") if isinstance(check, dict) else None
    outputs = [output for output in outputs if isinstance(output, dict)] if isinstance(outputs, list) else []
    bundles = [output["data"] for output in outputs if isinstance(output.get("data"), dict)]
    held = [bundle[MIME] for bundle in bundles if MIME in bundle]
    points = _number(cells.settings(check).get("points")) or 0.0
    if held:
        return _verdict(held[-1], points)
    errors = [output for output in outputs if output.get("output_type") == "error"]
    return _stopped(errors[0], points) if errors else None


def _verdict(data: Any, points: float) -> RecordedVerdict | None:
    """Returns data as a verdict; None when it has not the form that the examiner writes."""
    earned = _number(data.get("earned")) if isinstance(data, dict) else None
    if earned is None or _text(data, "outcome") not in OUTCOMES:
        return None
    texts = {key: _text(data, key) for key in ("outcome", "said", "headline", "mistake", "hint")}
    listed = data["lines"] if isinstance(data.get("lines"), list) else []
    lines = tuple(Line(_text(line, "kind"), _text(line, "text")) for line in listed if isinstance(line, dict))
    return RecordedVerdict(**texts, earned=min(max(earned, 0.0), points), points=points, lines=lines[:MAX_LINES])


def _stopped(error: Mapping[str, Any], points: float) -> RecordedVerdict:
    """Returns what is known of a check that was stopped by an error."""
    name = printable(_text(error, "ename"))
    detail = f": {_text(error, 'evalue')[:200]}" if name in SHOWN_ERRORS else ""
    sentence = f"The check stopped with {name}{detail}"
    return RecordedVerdict("late" if name == "CellTimeoutError" else "crashed", sentence, sentence, 0.0, points)


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    return value[:MAX_TEXT] if isinstance(value, str) else ""


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and abs(value) < MAX_POINTS else None
