"""What takes long and comes out the same each time: made once, and kept in `.cache/tests` for other tests and runs.

What is kept is found by a hash of all that decides it, so that nothing stale is ever found: the helpers, what grading
asks of every exercise, what defines those of the notebook, and the versions of the libraries. Deleting the folder costs
time and nothing else.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import pickle
import platform
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import mpmath
import numpy as np
import sympy
import torch

from grading.authoring import bank
from grading.authoring.bank import BankAnswer
from grading.autograder.drawn_sets import DrawnSets
from grading.definitions import catalogue, exercise
from grading.definitions.bank import known_mistakes
from grading.definitions.exercise import Results
from grading.folder.course import ROOT
from tutor.checking import building
from tutor.checking.answers import InProcess, Question, Reply
from tutor.checking.judging import Case, Examples, judge
from tutor.checking.verdict import Verdict
from tutor.files import write_whole

FOLDER = ROOT / ".cache" / "tests"
DAYS = 14  # what has not been used for so long belongs to a state of the course that is gone
PATIENCE, CLOCK = 60.0, "cpu"  # CPU seconds for one answer: on a busy machine none may lose to the clock
STUDENT = "a student"  # whose questions the bank is asked; `--students` adds others
IN_SANDBOX = "another student"  # whose questions are asked where submissions are graded: one draw more for each answer
SETS = DrawnSets(FOLDER / "drawn", b"the secret of the tests")
Made = TypeVar("Made")

building.MODELS = 500  # thirty answers get the same questions; with fewer, some models are made for each of them anew


def students(count: int) -> tuple[str, ...]:
    """Returns `count` students, each with questions of their own."""
    return (STUDENT, *(f"student {number}" for number in range(2, count + 1)))


def kept(make: Callable[[], Made], *deciding: str, anew: bool = False) -> Made:
    """Returns what `make` makes, or, unless `anew`, what it made before for the same `deciding` texts."""
    path = FOLDER / f"{_digest(deciding)}.pickle"
    if not anew:
        with contextlib.suppress(FileNotFoundError):
            made: Made = pickle.loads(path.read_bytes())
            path.touch()
            return made
    made = make()
    write_whole(path, pickle.dumps(made))
    return made


def forget_the_old(folder: Path = FOLDER) -> None:
    """Deletes what no run has used for `DAYS` days."""
    for path in folder.glob("*.pickle"):
        if time.time() - path.stat().st_mtime > DAYS * 24 * 60 * 60:
            path.unlink(missing_ok=True)


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


# Packages that decide the results of every exercise.
SHARED = ("helpers", "tutor", "grading/definitions", "grading/folder", "grading/notebooks")


def _content(paths: Iterable[Path]) -> str:
    return _digest(f"{path.parent.name}/{path.name}\0{path.read_text('utf-8')}" for path in sorted(paths))


@functools.cache
def _shared() -> str:
    """Returns a hash of what decides the results of every exercise."""
    numbers = (torch.__version__, np.__version__, sympy.__version__, mpmath.__version__, str(torch.get_num_threads()))
    code = _content([Path(__file__), *(path for name in SHARED for path in (ROOT / name).rglob("*.py"))])
    return _digest([sys.version, platform.machine(), *numbers, code])


@functools.cache
def definition(notebook: str) -> str:
    """Returns a hash of what decides the questions of a notebook's exercises, and what is made of them."""
    return _digest([_shared(), _content(catalogue.definitions(notebook)), *map(repr, known_mistakes(notebook))])


_encoded = dict[int, tuple[Question, str]]()


def _in_text(question: Question) -> str:
    """Returns a question as text. Each is put to many answers, and encoded once: none of them gets its very inputs."""
    known = _encoded.get(id(question))
    if known is None or known[0] is not question:  # it is kept, so that no other one gets its identity
        known = _encoded[id(question)] = (question, json.dumps(question.encode()))
    return known[1]


class AskedOnce(InProcess):
    """An answer that is asked each question once: every student gets the public ones, and the reply is the same."""

    def __init__(self, answer: object) -> None:
        super().__init__(answer, CLOCK, alone=True)
        self._replies: dict[str, Reply] = {}

    def ask(self, question: Question, seconds: float = 2.0) -> Reply:
        """Returns the reply, made now or when the same question was asked before."""
        key = _in_text(question)
        if key not in self._replies:
            self._replies[key] = super().ask(question, seconds)
        return self._replies[key]


@dataclass
class Replayed:
    """A known mistake that gives the replies which it gave when the examples were made, question by question."""

    replies: dict[str, Reply]

    def ask(self, question: Question, seconds: float) -> Reply:
        """Returns the reply to a question; with copies of its inputs a mistake was asked none."""
        if question.apart:
            return Reply("unreadable", error="it was not asked with copies of its inputs")
        if question.probe == "parts used":
            return Reply("value", [])
        return self.replies[_in_text(replace(question, forbids=()) if question.forbids else question)]

    def spent(self) -> float:
        """Returns no time: all questions have been asked before."""
        return 0.0


def variant(notebook: str, name: str, seed: str) -> Examples:
    """Returns the drawn examples of an exercise, drawn once for all runs."""
    defined = exercise.load(notebook)[name]
    SETS.draw_one(notebook, defined, seed)
    return defined.variant(seed)


def drawn(notebook: str, name: str, seed: str) -> Examples:
    """Returns the drawn examples of an exercise; what each known mistake makes of each question is known then."""
    examples = variant(notebook, name, seed)
    for case in _cases(examples):
        dict(case.mistakes)
    SETS.keep_one(notebook, exercise.load(notebook)[name], seed)
    return examples


def _cases(examples: Examples) -> list[Case]:
    return [case for stage in examples.stages for case in stage.cases]


def without_corners(examples: Examples) -> Examples:
    """Returns examples without the corners of a domain, of which no known mistake is asked."""
    known = [tuple(case for case in stage.cases if stage.cost or case.mistakes) for stage in examples.stages]
    stages = [replace(stage, cases=mine) for stage, mine in zip(examples.stages, known, strict=True)]
    return replace(examples, stages=tuple(stages))


def known_mistake(notebook: str, name: str, seed: str, mistake: str) -> Replayed:
    """Returns a known mistake as an answer to the drawn examples, asked when they were made."""
    asked = [case for case in _cases(drawn(notebook, name, seed)) if isinstance(case.mistakes, Results)]
    return Replayed({_in_text(case.sent): case.mistakes.reply(mistake) for case in asked})  # type: ignore[attr-defined]


def marked(answer: BankAnswer, seed: str, student: InProcess) -> Verdict:
    """Returns the verdict on an answer but for its hint: no known mistake is asked, which halves the work."""
    examples = variant(answer.notebook, answer.exercise, seed)
    stages = [replace(one, cases=tuple(replace(case, mistakes={}) for case in one.cases)) for one in examples.stages]
    return judge(replace(examples, stages=tuple(stages)), student, PATIENCE, hidden=True)


def verdict(answer: BankAnswer, seed: str, student: InProcess | None = None) -> Verdict:
    """Returns the verdict on an answer of the bank in this process.

    With `student`, the answer to be asked, it is judged now; else an earlier judgement is good enough.
    """

    def judged() -> Verdict:
        asked = student or InProcess(bank.run(answer), CLOCK)
        examples = variant(answer.notebook, answer.exercise, seed)
        return judge(examples, asked, PATIENCE, hidden=True)

    deciding = "verdict", definition(answer.notebook), _source(answer.notebook), answer.exercise, answer.source, seed
    return kept(judged, *deciding, anew=student is not None)


@functools.cache
def _source(notebook: str) -> str:
    """Returns a hash of what a student's variables come from, and of the definition of running an answer."""
    return _content([ROOT / "solutions" / f"{notebook}.py", Path(bank.__file__)])
