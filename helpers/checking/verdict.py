"""Judge an answer on examples, stage by stage, and say it as HTML and as text."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from helpers.checking import plain
from helpers.checking.answers import Answer, Ask, Reply, timed
from helpers.checking.compare import (
    VIEWS,
    QuotesValues,
    difference,
    keys_difference,
    name_of,
    number_text,
)
from helpers.checking.measures import INPUTS_KEPT, MEASURES, measured

MIME = "application/vnd.course.verdict+json"  # how a graded notebook holds a verdict as data: see `Verdict.as_data`
SAID = {
    "right": "all checks passed",
    "wrong": "not yet right",
    "not attempted": "not attempted yet",
    "crashed": "stopped with an error",
    "late": "took too long",
}
SECONDS = 5.0  # for one check, however many questions it asks; right answers take a tenth on a slow laptop
INPUTS_CHANGED = "what the function was given is no longer as it was; the caller still needs it"


@dataclass(frozen=True)
class Sealed:
    """A wanted value known only by its fingerprints, so that the file of examples does not tell the answer.

    `seal` is what `plain.seal` gives: a text, or for a dict or a sequence a text for each part.
    """

    seal: Any


@dataclass(frozen=True)
class Raised:
    """The wanted outcome is an exception of this class; `changed` when what was given is then no longer as it was.

    `said` is what `words` leaves of its message: of two mistakes that end in the same class, it tells which.
    """

    error_type: str
    changed: bool = False
    said: str = ""


def words(reply: Reply) -> str:
    """Returns the words of a message that PyTorch or Python wrote; others are in the student's own words."""
    kind, _, message = reply.error.partition(": ")
    return " ".join(re.findall(r"[A-Za-z]+", message))[:60] if kind in ("RuntimeError", "IndexError") else ""


@dataclass(frozen=True)
class Case:
    """One question, the wanted result, and what each known mistake makes of it (None where it gives no value)."""

    ask: Ask
    wanted: Any
    mistakes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StageCases:
    """A stage of a check: its name, where to look when it fails, its points, and its cases."""

    name: str
    look: str
    points: float
    view: str
    tolerance: float
    cases: tuple[Case, ...]
    measure: str = ""


@dataclass(frozen=True)
class Examples:
    """All that is needed to judge an answer to one exercise."""

    name: str
    signature: str
    stages: tuple[StageCases, ...]
    hints: Mapping[str, str]
    salt: str = ""

    @property
    def points(self) -> float:
        """The full mark."""
        return sum(stage.points for stage in self.stages)


@dataclass
class Verdict:
    """The outcome of a check; shown as HTML in a notebook and as text elsewhere.

    `outcome` is "right", "wrong", "not attempted", "crashed" or "late"; `earned` are the points of passed stages.
    """

    name: str
    outcome: str
    earned: float
    points: float
    stages: list[tuple[str, bool]]
    sentence: str = ""
    look: str = ""
    mistake: str = ""
    hint: str = ""
    notes: list[str] = field(default_factory=list)
    pictures: list[tuple[str, Tensor]] = field(default_factory=list)
    call: str = ""
    picture_call: str = ""
    graded: bool = False

    @property
    def headline(self) -> str:
        """One line: which exercise, and how it went."""
        mark = f" - {self.earned:g} of {self.points:g} points" if self.graded else ""
        return f"{self.name}: {SAID[self.outcome]}{mark}"

    def _lines(self) -> list[tuple[str, str]]:
        """Returns (kind, text) for each line below the headline."""
        lines = []
        if self.outcome != "not attempted":
            lines += [("passed" if passed else "failed", stage) for stage, passed in self.stages]
        lines += [("said", text) for text in (self.call and f"Asked: {self.call}", self.sentence) if text]
        if self.mistake:
            lines += [("mistake", f"This looks like: {self.mistake}. {self.hint}")]
        elif self.look and self.outcome in ("wrong", "crashed", "late"):
            lines += [("look", f"Where to look: {self.look}")]
        return lines + [("note", note) for note in self.notes]

    def __str__(self) -> str:
        marks = {"passed": "[passed] ", "failed": "[failed] ", "note": "Note: "}
        return "\n".join([self.headline, *(f"  {marks.get(kind, '')}{text}" for kind, text in self._lines())])

    __repr__ = __str__

    def as_data(self) -> dict[str, Any]:
        """Returns all that the text says as JSON-ready data, so that nobody has to read it out of the text.

        Of this form, with every entry always there, and "" or an empty list for what is not said::

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

        `kind` is "passed" or "failed" (the text is a stage's name), "said", "mistake" ("This looks like: ..."), "look"
        ("Where to look: ...") or "note" (without "Note: " before it).
        """
        return {
            "exercise": self.name,
            "outcome": self.outcome,
            "said": SAID[self.outcome],
            "headline": self.headline,
            "earned": float(self.earned),
            "points": float(self.points),
            "stages": [{"name": name, "passed": passed} for name, passed in self.stages],
            "sentence": self.sentence,
            "look": self.look,
            "mistake": self.mistake,
            "hint": self.hint,
            "notes": list(self.notes),
            "lines": [{"kind": kind, "text": text} for kind, text in self._lines()],
        }

    def _repr_mimebundle_(self, **keywords: Any) -> dict[str, Any]:
        """Returns what a notebook gets beside text and HTML: of an examiner's verdict the data, of a check nothing."""
        return {MIME: self.as_data()} if self.graded else {}

    def _repr_html_(self) -> str:
        colour = {"right": "#117733", "not attempted": "#6b6b6b"}.get(self.outcome, "#aa4400")
        signs = {"passed": "&#10003; ", "failed": "&#10007; ", "note": "Note: "}
        rows = "".join(
            f'<div style="margin-top:2px;{"font-weight:600" if kind == "mistake" else ""}">'
            f"{signs.get(kind, '')}{html.escape(text)}</div>"
            for kind, text in self._lines()
        )
        tables = "".join(
            _table(caption, tensor, dict(self.pictures).get("wanted")) for caption, tensor in self.pictures
        )
        if tables and self.picture_call:
            tables = f'<div style="margin-top:6px">Pictures of {html.escape(self.picture_call)}:</div>{tables}'
        return (
            f'<div role="status" style="border-left:6px solid {colour};background:#f7f7f7;color:#1a1a1a;'
            f'padding:8px 12px;font-family:sans-serif;font-size:14px;line-height:1.45">'
            f'<div style="font-weight:700;color:{colour}">{html.escape(self.headline)}</div>{rows}{tables}</div>'
        )


def judge(examples: Examples, answer: Answer, seconds: float = SECONDS, pictures: bool = True) -> Verdict:
    """Returns the verdict on an answer, asked every case of every stage within `seconds` in all.

    With `pictures=False` nothing of the inputs and wanted values is told: for questions that must stay hidden.
    """
    questions = [replace(case.ask, beside={}) for stage in examples.stages for case in stage.cases]
    replies = timed(answer, questions, seconds)
    asked = [
        [(case, measured(stage.measure, case.ask, next(replies))) for case in stage.cases] for stage in examples.stages
    ]
    flat = [pair for pairs in asked for pair in pairs]
    problems = [
        next(
            (
                (problem, case, reply)
                for case, reply in pairs
                if (problem := _problem(stage, case, reply, examples.salt)) is not None
            ),
            None,
        )
        for stage, pairs in zip(examples.stages, asked, strict=True)
    ]
    verdict = Verdict(
        examples.name,
        "right",
        sum(stage.points for stage, problem in zip(examples.stages, problems, strict=True) if problem is None),
        examples.points,
        [(stage.name, problem is None) for stage, problem in zip(examples.stages, problems, strict=True)],
    )
    verdict.notes = _notes(flat)
    if not any(problems):
        return verdict
    if flat[0][1].outcome == "not attempted":
        verdict.outcome, verdict.sentence = "not attempted", flat[0][1].error
        verdict.earned = 0.0
        return verdict
    index = next(i for i, problem in enumerate(problems) if problem)
    stage, (problem, case, reply) = (
        examples.stages[index],
        problems[index] or ("", flat[0][0], flat[0][1]),
    )
    verdict.outcome = {"crashed": "crashed", "late": "late"}.get(reply.outcome, "wrong")
    verdict.look = stage.look
    verdict.mistake = _recognised(examples, flat, flat) or _recognised(examples, asked[index], flat)
    verdict.hint = examples.hints.get(verdict.mistake, "")
    if pictures:
        verdict.call = _call(examples, case.ask)
        verdict.sentence = problem
        drawn = next((found for found in problems if found and _shows_much(found[1])), (problem, case, reply))
        verdict.pictures = _pictures(examples, drawn[1], drawn[2])
        verdict.picture_call = _call(examples, drawn[1].ask) if drawn[1] is not case else ""
    elif not (verdict.mistake and isinstance(problem, QuotesValues)):  # a named mistake says more
        verdict.sentence = _without_values(stage, reply, problem)
    return verdict


def _problem(stage: StageCases, case: Case, reply: Reply, salt: str) -> str | None:
    """Returns None when a reply is as wanted, else one sentence."""
    if isinstance(case.wanted, Raised):
        if case.wanted.error_type in reply.error_types:
            return INPUTS_CHANGED if stage.measure == INPUTS_KEPT and reply.changed_inputs else None
        returned = isinstance(reply.value, plain.Other) and reply.value.type_name == case.wanted.error_type
        got = reply.error or ("it was returned, not raised" if returned else f"got {name_of(reply.value)}")
        return f"expected a {case.wanted.error_type} with a clear sentence; {got}"
    if reply.outcome != "value":
        told = reply.error or "no result came back"  # never empty: an empty problem must not pass for none
        return f"it stopped with {told}{reply.place}" if reply.outcome == "crashed" else told
    if isinstance(case.wanted, Sealed):
        return _sealed_problem(case.wanted.seal, reply.value, case.ask.at, salt)
    problem = difference(case.wanted, reply.value, stage.view, stage.tolerance, case.ask.at)
    if problem and stage.measure == INPUTS_KEPT and reply.value is not None:
        return INPUTS_CHANGED
    if problem and stage.measure and reply.value is not None:
        return type(problem)(f"{MEASURES[stage.measure][0]}: {problem}")
    return problem


def _sealed_problem(seal: Any, value: Any, at: Mapping[str, Any] | None, salt: str) -> str | None:
    if value is None:
        return "the function returns None: did you forget to return the result?"
    if isinstance(seal, dict):
        if not isinstance(value, dict):
            return f"expected a dict with {len(seal)} entries, got {name_of(value)}"
        value = {str(key): item for key, item in value.items()}
        problem = keys_difference(seal, value)
        parts = {f"at entry {key!r}": (part, value.get(key)) for key, part in seal.items()}
        return problem or _sealed_parts(parts, at, salt)
    if isinstance(seal, list):
        if not isinstance(value, tuple | list) or len(value) != len(seal):
            return f"expected {len(seal)} values, got {name_of(value)}"
        pairs = enumerate(zip(seal, value, strict=True))
        return _sealed_parts({f"value {n} of {len(seal)}": pair for n, pair in pairs}, at, salt)
    try:
        if plain.digest(value, at, salt) == seal:
            return None
        numeric = isinstance(value, plain.Expression | int | float)
        shown = number_text(value, at) if numeric else repr(value)
    except plain.NotPlain as problem:
        return str(problem)
    if numeric and at:
        place = ", ".join(f"{name} = {number}" for name, number in at.items())
        return QuotesValues(f"at {place} it gives {shown}, which is not the right value")
    if at and isinstance(value, str):
        return f"expected a formula or a number, got the text {shown[:80]}"
    said = shown if numeric or isinstance(value, str) else name_of(value)
    return QuotesValues(f"{said[:80]} is not the right value")


def _sealed_parts(parts: Mapping[str, tuple[Any, Any]], at: Mapping[str, Any] | None, salt: str) -> str | None:
    for place, (seal, value) in parts.items():
        problem = _sealed_problem(seal, value, at, salt)
        if problem:
            return type(problem)(f"{place}: {problem}")
    return None


def _notes(flat: Iterable[tuple[Case, Reply]]) -> list[str]:
    notes = []
    replies = [reply for _, reply in flat]
    if any(reply.changed_inputs for reply in replies):
        notes.append("the function changes its input in place; work on a copy, the caller still needs the original.")
    if any(reply.printed and reply.value is None for reply in replies):
        notes.append("the function prints its result; what counts is what it returns.")
    return notes


def _without_values(stage: StageCases, reply: Reply, problem: str) -> str:
    if reply.outcome == "crashed":  # an exception's message may quote the inputs
        return f"stage '{stage.name}': it stopped with {reply.error_types[0]}{reply.place}"
    if isinstance(problem, QuotesValues):
        problem = "the result is not the wanted one"
    return f"stage '{stage.name}' ({VIEWS[stage.view]}): {problem}"


def _recognised(examples: Examples, pairs: list[tuple[Case, Reply]], flat: list[tuple[Case, Reply]]) -> str:
    """Returns the first known mistake whose results are the answer's in all of `pairs`, and wrong in one; else "".

    An answer that is right, anywhere in `flat`, where a mistake is wrong did not make this mistake.
    """
    stage_of = {id(case): stage for stage in examples.stages for case in stage.cases}

    def right(case: Case, reply: Reply) -> bool:
        return _problem(stage_of[id(case)], case, reply, examples.salt) is None

    def made(name: str, case: Case, reply: Reply) -> bool:
        return name in case.mistakes and _same(case, case.mistakes[name], reply, examples.salt)

    def harmless(name: str, case: Case) -> bool:
        return name in case.mistakes and _passes(stage_of[id(case)], case, case.mistakes[name], examples.salt)

    if all(right(case, reply) for case, reply in pairs):
        return ""
    for name in examples.hints:
        fits = all(made(name, case, reply) for case, reply in pairs)
        if fits and all(harmless(name, case) for case, reply in flat if right(case, reply)):
            return name
    return ""


def _passes(stage: StageCases, case: Case, expected: Any, salt: str) -> bool:
    """Says whether what a known mistake gives in a case is good enough for its stage."""
    if isinstance(expected, Sealed):
        return isinstance(case.wanted, Sealed) and case.wanted.seal == expected.seal
    reply = Reply("value", expected)
    if isinstance(expected, Raised):
        kind = expected.error_type
        reply = Reply("crashed", None, kind, (kind,), changed_inputs=expected.changed)
    return _problem(stage, case, reply, salt) is None


def _same(case: Case, expected: Any, reply: Reply, salt: str) -> bool:
    """Says whether a reply is what a known mistake gives, an exception included."""
    if isinstance(expected, Raised):
        alike = expected.changed == reply.changed_inputs and expected.said in ("", words(reply))
        return reply.outcome == "crashed" and expected.error_type in reply.error_types and alike
    if reply.outcome != "value" or reply.value is None:
        return reply.outcome == "value" and expected is None
    if isinstance(expected, Sealed):
        return _sealed_problem(expected.seal, reply.value, case.ask.at, salt) is None
    if expected is None:
        return False
    return difference(expected, reply.value, "values", 1e-4, case.ask.at) is None


def _call(examples: Examples, ask: Ask) -> str:
    parts = [_told(value) for value in ask.inputs] + [f"{k}={_told(v)}" for k, v in ask.keywords.items()]
    at = f" at {', '.join(f'{k} = {v}' for k, v in ask.at.items())}" if ask.at else ""
    if ask.build is None:
        return f"{examples.name}({', '.join(parts)}){at}"
    made = f"{examples.name}({', '.join(f'{k}={_told(v)}' for k, v in ask.build.items())})"
    return made if ask.take == "parameters" else f"{made}({', '.join(parts)})"


def _told(value: Any) -> str:
    if isinstance(value, Tensor):
        if value.dim() == 1 and value.numel() <= 8 and not value.is_floating_point():
            return f"tensor({value.tolist()})"
        return f"tensor of shape {tuple(value.shape)}"
    if isinstance(value, plain.Model):
        shared = f" whose {value.tie[0]} is {value.tie[1]}" if value.tie else ""
        frozen = f" with {', '.join(value.freeze)}* frozen" if value.freeze else ""
        mode = " in training mode" if value.training else ""
        return f"{'the weights of ' if value.state else ''}a {value.name}{shared}{frozen}{mode}"
    if isinstance(value, plain.Optimizer):
        return f"{value.name} with lr {value.lr:g}"
    if isinstance(value, list) and value and all(isinstance(item, plain.Model) for item in value):
        return f"[{len(value)} of: {_told(value[0])}]"
    if isinstance(value, plain.Generator):
        return f"a generator with seed {value.seed}"
    if isinstance(value, plain.Recorded):
        return value.name + (f" (interrupted at call {value.stop_at})" if value.stop_at else "")
    if isinstance(value, plain.Expression):
        return str(value.to_sympy())[:80]
    if isinstance(value, dict):
        if len(value) > 12:
            return f"a dict of {len(value)} entries"
        return "{" + ", ".join(f"{key!r}: {_told(item)}" for key, item in value.items()) + "}"
    return repr(value)[:60]


def _shows_much(case: Case) -> bool:
    """Says whether a picture of a case is worth more than its sentence."""
    return isinstance(case.wanted, Tensor) and case.wanted.numel() > 1


def _pictures(examples: Examples, case: Case, reply: Reply) -> list[tuple[str, Tensor]]:
    """Returns inputs by name, wanted and yours, where these are small tensors of at least one dimension."""
    names = examples.signature.partition("(")[2].rstrip(")").split(", ")
    inputs = [(name, value) for name, value in zip(names, case.ask.inputs, strict=False) if isinstance(value, Tensor)]
    found = [(name, value) for name, value in inputs if value.dim()][:2]
    if not isinstance(case.wanted, Tensor) or case.wanted.dim() == 0:
        return []
    yours = [("yours", reply.value)] if isinstance(reply.value, Tensor) and reply.value.dim() else []
    return [*found, ("wanted", case.wanted), *yours]


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
    numbers = rows.to(torch.float64)
    finite = numbers[numbers.isfinite()].abs()
    top = float(finite.max()) if finite.numel() and float(finite.max()) else 1.0
    body = ""
    for i, row in enumerate(numbers):
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
            body += f'<td style="border:{edge};background:{back};padding:1px 6px;text-align:right">{text}</td>'
        body += "</tr>"
    table = "display:inline-table;vertical-align:top;margin:8px 14px 2px 0;border-collapse:collapse;font-size:12px"
    head = "caption-side:top;text-align:left;white-space:nowrap;padding:0;color:#1a1a1a"
    told = f"{html.escape(caption)} {tuple(tensor.shape)}"
    return f'<table style="{table};color:#1a1a1a"><caption style="{head}">{told}</caption>{body}</table>'
