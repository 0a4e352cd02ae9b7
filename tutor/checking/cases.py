"""What an answer is judged on: questions with their wanted results, in stages, and what came back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from tutor.checking.answers import Question, Reply
from tutor.checking.compare import QuotesValues


@dataclass(frozen=True)
class Raised:
    """The wanted outcome is an exception of this class; `changed` says what of the inputs is then not as it was.

    `said` is what `words` leaves of its message: of two mistakes that end in the same class, it shows which.
    """

    error_type: str
    changed: str = ""
    said: str = ""


def words(reply: Reply) -> str:
    """Returns the words of a message that PyTorch or Python wrote; others are in the student's own words."""
    if reply.error_type not in ("RuntimeError", "IndexError"):
        return ""
    return " ".join(re.findall(r"[A-Za-z]+", reply.error.removeprefix(reply.error_type)))[:60]


@dataclass(frozen=True)
class Case:
    """One question, the wanted result, and what each known mistake makes of it (None where it gives no value).

    Of a further question of a check, `traces` holds for the mistakes that are wrong there only the class of the
    exception or the trace of the value; None where nothing is known of mistakes.

    A `hidden` one is asked in grading only, and nothing is revealed from which its inputs could be read. A `corner` is
    at the edge of what the exercise promises; those of a stage come last.
    """

    ask: Question
    wanted: Any
    mistakes: Mapping[str, Any] = field(default_factory=dict)
    hidden: bool = False
    traces: Mapping[str, str | float] | None = None
    corner: bool = False

    @property
    def is_open(self) -> bool:
        """Whether anything is known of what mistakes make of it."""
        return bool(self.mistakes) or self.traces is not None

    @cached_property
    def sent(self) -> Question:
        """The question as it is sent: without what lies beside it."""
        return replace(self.ask, extra={}) if self.ask.extra else self.ask


@dataclass(frozen=True)
class StageCases:
    """A stage of a check: its name, where to look when it fails, its points, and its cases.

    With a `cost` it asks what every answer keeps: it earns nothing, and takes so many points off where it fails. Where
    a `decisive` one fails, the exercise earns at most half of its points; where it fails at nothing but corners, the
    `share` of its points is lost. A `weak` one is passed without the result that is wanted, by a known one or by what
    the answer's process says of itself: it earns only beside others.
    """

    name: str
    feedback: str
    points: float
    view: str
    tolerance: float
    cases: tuple[Case, ...]
    measure: str = ""
    cost: float = 0.0
    decisive: bool = False
    weak: bool = False


@dataclass(frozen=True)
class Examples:
    """All that is needed to judge an answer to one exercise; `kept` is what a change of its inputs costs.

    `order` is the seed of the order in which the questions are asked; without it they are asked stage by stage. An
    answer that uses one of the parts `forbids` is none: these are what the exercise asks for.
    """

    name: str
    signature: str
    stages: tuple[StageCases, ...]
    hints: Mapping[str, str]
    salt: str = ""
    kept: float = 0.0
    order: str = ""
    forbids: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        """The full mark."""
        return sum(stage.points for stage in self.stages)


class InputsChanged(QuotesValues):
    """A sentence on an input that is no longer as it was; it quotes what it was."""


@dataclass(frozen=True)
class Asked:
    """A question that was put: the reply, and in one sentence what is wrong with it (None: nothing is)."""

    stage: StageCases
    case: Case
    reply: Reply
    problem: str | None
    apart: bool = False  # it was asked with copies of its inputs, since the answer changes them


def share(points: float) -> float:
    """Returns what it costs not to keep one thing, or to fail a stage that decides at its corners alone: a tenth."""
    return round(points / 10, 2)
