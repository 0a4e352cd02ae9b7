"""The verdict on an answer: as text, as HTML with pictures, and for whoever grades as data."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import torch
from torch import Tensor

from helpers.theme import box, colour
from tutor.checking.compare import difference
from tutor.checking.probes import Question

MIME = "application/vnd.course.verdict+json"  # how a graded notebook holds a verdict as data: see `Verdict.as_data`
OTHERS = "If that is right already: where to look for the other stages that fail"
SAID = {
    "right": "all checks passed",
    "wrong": "not yet right",
    "not attempted": "not attempted yet",
    "crashed": "stopped with an error",
    "late": "took too long",
    "not run": "not checked",
}


KINDS = {True: "passed", False: "failed", None: "unreached"}  # of the line on a stage
SIGNS = {"passed": ("&#10003;", "passed"), "failed": ("&#10007;", "failed"), "unreached": ("&ndash;", "not reached")}
UNREACHED = ' <span aria-hidden="true">(not reached)</span>'  # for the eye; the sign says it to a screen reader


@dataclass(frozen=True)
class Verdict:
    """The outcome of a check; shown as HTML in a notebook and as text elsewhere.

    `outcome` is "right", "wrong", "not attempted", "crashed" or "late"; `earned` are the points of passed stages.
    Where the answer's cell has failed, a check asks nothing: "not run".
    `feedback` says where to look for the first stage that fails, `others` for the others, by name, in a check.
    `error_type` is the class of the exception that the first question which fails has ended in, else "". A `graded`
    verdict gives its points, and nothing of the inputs and wanted values.
    """

    name: str
    outcome: str
    earned: float
    points: float
    stages: tuple[tuple[str, bool | None], ...]  # None: not reached
    sentence: str = ""
    feedback: str = ""
    others: tuple[tuple[str, str], ...] = ()
    mistake: str = ""
    hint: str = ""
    notes: tuple[str, ...] = ()
    pictures: tuple[tuple[str, Tensor], ...] = ()
    call: str = ""
    picture_call: str = ""
    question: Question | None = None  # which `call` describes
    error_type: str = ""
    graded: bool = False

    @property
    def state(self) -> str:
        """How it went, in words, without points."""
        return SAID[self.outcome]

    @property
    def headline(self) -> str:
        """One line: which exercise, how it went, and its points; those of a check may change with the next answer."""
        more = "" if self.graded or self.outcome == "right" else " so far"
        mark = "" if self.outcome == "not run" else f" - {self.earned:g} of {self.points:g} points{more}"
        return f"{self.name}: {self.state}{mark}"

    def _lines(self) -> list[tuple[str, str]]:
        """Returns (kind, text) for each line below the headline."""
        lines = []
        if self.outcome != "not attempted":
            lines += [(KINDS[passed], stage) for stage, passed in self.stages]
        lines += [("said", text) for text in (self.call and f"Asked: {self.call}", self.sentence) if text]
        if self.mistake:
            lines += [("mistake", f"This looks like: {self.mistake}. {self.hint}")]
        elif self.feedback and self.outcome in ("wrong", "crashed", "late"):
            lines += [("look", f"Where to look: {self.feedback}")]
            lines += [("other", f"For '{stage}': {feedback}") for stage, feedback in self.others]
        return lines + [("note", note) for note in self.notes]

    def __str__(self) -> str:
        marks = {kind: f"[{said}] " for kind, (_, said) in SIGNS.items()} | {"note": "Note: ", "other": "  "}
        return "\n".join([self.headline, *(f"  {marks.get(kind, '')}{text}" for kind, text in self._lines())])

    __repr__ = __str__

    def as_data(self) -> dict[str, Any]:
        """Returns all that the text says as JSON-ready data, so that nobody has to read it out of the text.

        Of this form, with every entry always there, and "" or an empty list for what is missing::

            {
                "exercise": "causal_mask",
                "outcome": "wrong",  # or "right", "not attempted", "crashed", "late"
                "said": "not yet right",  # the outcome in words, one of the values of `SAID`
                "headline": "causal_mask: not yet right - 1 of 3 points",  # the first line of the text
                "earned": 1.0,
                "points": 3.0,
                "stages": [{"name": "every row", "passed": False}],  # all stages, in order; none is left out
                "sentence": "stage 'every row' (every value): the result is not the wanted one",
                "look": "one sentence of the stage that fails first",
                "mistake": "the name of the known mistake",
                "hint": "what to do about it",
                "notes": ["the function prints its result; ..."],
                "lines": [{"kind": "failed", "text": "every row"}],  # below the headline, as the text shows them
            }

        `kind` is "passed", "failed" or, where an earlier error stands in the way, "unreached" (the text is a stage's
        name), "said", "mistake" ("This looks like: ..."), "look" ("Where to look: ...") or "note" (without "Note: "
        before it).
        """
        return {
            "exercise": self.name,
            "outcome": self.outcome,
            "said": SAID[self.outcome],
            "headline": self.headline,
            "earned": float(self.earned),
            "points": float(self.points),
            "stages": [{"name": name, "passed": bool(passed)} for name, passed in self.stages],
            "sentence": self.sentence,
            "look": self.feedback,
            "mistake": self.mistake,
            "hint": self.hint,
            "notes": list(self.notes),
            "lines": [{"kind": kind, "text": text} for kind, text in self._lines()],
        }

    def _repr_mimebundle_(self, **keywords: Any) -> dict[str, Any]:
        """Returns what a notebook gets beside text and HTML: of an examiner's verdict the data, of a check nothing."""
        return {MIME: self.as_data()} if self.graded else {}

    def _repr_html_(self) -> str:
        edge = colour({"right": "right", "not attempted": "open"}.get(self.outcome, "wrong"))
        signs = {kind: sign_as_html(kind) for kind in SIGNS} | {"note": "Note: "}
        looks = {"mistake": "font-weight:600", "unreached": f"color:{colour('open')}"}
        rows = ""
        for others, lines in groupby(self._lines(), lambda line: line[0] == "other"):
            group = "".join(
                f'<div style="margin-top:2px;{looks.get(kind, "")}">'
                f"{signs.get(kind, '')}{sentence_as_html(text)}{UNREACHED if kind == 'unreached' else ''}</div>"
                for kind, text in lines
            )
            rows += f"<details><summary>{OTHERS}</summary>{group}</details>" if others else group
        tables = "".join(
            _table(caption, tensor, dict(self.pictures).get("wanted")) for caption, tensor in self.pictures
        )
        if tables and self.picture_call:
            tables = f'<div style="margin-top:6px">Pictures of {html.escape(self.picture_call)}:</div>{tables}'
        headline = f'<div style="font-weight:700;color:{edge}">{html.escape(self.headline)}</div>'
        return box(f"{headline}{rows}{tables}", edge)


def sign_as_html(kind: str) -> str:
    """Returns the sign before a stage of a kind of `SIGNS`, which a screen reader reads as a word."""
    sign, said = SIGNS[kind]
    return f'<span role="img" aria-label="{said}">{sign}</span> '


def sentence_as_html(text: str) -> str:
    """Returns a sentence as HTML, with what stands between two backticks as code."""
    # JupyterLab's own background of code is not made for a box with a colour of its own.
    style = "font-size:13px;color:inherit;background:none;padding:0"
    return re.sub(r"`([^`\n]+)`", rf'<code style="{style}">\1</code>', html.escape(text))


def _tint(value: float, shade: float) -> str:
    """Returns a background, blue for positive and orange for negative; opaque, for the dark theme too."""
    full = (0, 114, 178) if value >= 0 else (213, 94, 0)
    return f"rgb({','.join(str(round(255 - 0.55 * shade * (255 - part))) for part in full)})"


def _table(caption: str, tensor: Tensor, wanted: Tensor | None) -> str:
    """Returns an HTML table of a tensor, its first rows and columns, with the cells that differ outlined."""
    while tensor.dim() > 2:
        caption, tensor = f"{caption} [0]", tensor[0]
        wanted = wanted[0] if wanted is not None and wanted.dim() > 2 else wanted
    rows = (tensor if tensor.dim() == 2 else tensor[None]).detach()[:8, :8]
    goal = None if wanted is None else (wanted if wanted.dim() == 2 else wanted[None])[:8, :8]
    values = rows.to(torch.float64)
    finite = values[values.isfinite()].abs()
    top = float(finite.max()) if finite.numel() and float(finite.max()) else 1.0
    body = ""
    for i, row in enumerate(values):
        body += "<tr>"
        for j, number in enumerate(row):
            value = float(number)
            shade = 0.0 if value != value or value in (float("inf"), float("-inf")) else abs(value) / top
            back = "#d9d9d9" if not number.isfinite() else _tint(value, shade)
            text = str(bool(value)) if rows.dtype == torch.bool else f"{value + 0.0:.3g}"
            differs = caption.startswith("yours") and (
                goal is None
                or goal.shape != rows.shape
                or difference(goal[i, j].float(), rows[i, j].float()) is not None
            )
            edge = "2px solid #aa4400" if differs else "1px solid #ffffff"
            style = f"border:{edge};background:{back};color:#1a1a1a;padding:1px 6px;text-align:right"
            body += f'<td style="{style}">{text}</td>'
        body += "</tr>"
    table = "display:inline-table;vertical-align:top;margin:8px 14px 2px 0;border-collapse:collapse;font-size:12px"
    head = "caption-side:top;text-align:left;white-space:nowrap;padding:0;color:inherit"
    title = f"{html.escape(caption)} {tuple(tensor.shape)}"
    return f'<table style="{table};color:inherit"><caption style="{head}">{title}</caption>{body}</table>'
