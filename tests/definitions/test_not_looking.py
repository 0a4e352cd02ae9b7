"""No reward for not looking: answers that know the public examples, and not what is asked, earn next to nothing."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import torch
from torch import Tensor

from grading.definitions import catalogue, exercise
from tests.definitions import kept
from tutor.checking import plain
from tutor.checking.answers import Question, Reply
from tutor.checking.judging import Case, Examples, Raised, Sealed, judge
from tutor.checks import public_examples

pytestmark = pytest.mark.all

# What one such answer may earn, of the points of all notebooks together; three students' are 4.25 at most.
MOST = 15 / 288
STUDENTS = kept.students(3)
Known = list[Case]
Strategy = Callable[[Known, Question, int], Any]


def shapes(ask: Question) -> str:
    """Returns what may be known of a question at a glance: kinds and sizes of its inputs."""
    return str([tuple(v.shape) if isinstance(v, Tensor) else type(v).__name__ for v in ask.inputs]) + ask.probe


def replay(known: Known, question: Question, number: int) -> Any:
    """Returns the public result of the same question, else of one of the same shapes, else of the next one."""
    same = [one.wanted for one in known if one.ask.encode() == question.encode()]
    alike = [one.wanted for one in known if shapes(one.ask) == shapes(question)]
    return (same or alike or [known[number % len(known)].wanted])[0]


def counting(known: Known, question: Question, number: int) -> Any:
    """Returns the result of the same question, else of the one that a check asks as the same one in number."""
    same = [one.wanted for one in known if one.ask.encode() == question.encode()]
    return (same or [known[number % len(known)].wanted])[0]


def nearest(known: Known, question: Question, number: int) -> Any:
    """Returns the result of the question that has most in common: what is taken, shapes, inputs, all else."""

    def common(one: Case) -> tuple[int, int, int]:
        ours, theirs = question.encode(), one.ask.encode()
        inputs = sum(a == b for a, b in zip(ours.get("inputs", ()), theirs.get("inputs", ()), strict=False))
        parts = sum(ours.get(name) == theirs.get(name) for name in ours.keys() | theirs.keys())
        return (ours.get("take") == theirs.get("take")) + (shapes(question) == shapes(one.ask)), inputs, parts

    return max(known, key=common).wanted


def constant(known: Known, question: Question, number: int) -> Any:
    """Returns the commonest of the public results."""
    by_text = {str(plain.encode(one.wanted)): one.wanted for one in known}
    (text, _), *_ = Counter(str(plain.encode(one.wanted)) for one in known).most_common(1)
    return by_text[text]


def filled(known: Known, question: Question, number: int) -> Any:
    """Returns a tensor as large as the first input, or as the public result, filled with the commonest value."""
    tensors = [one.wanted for one in known if isinstance(one.wanted, Tensor) and one.wanted.numel()]
    if not tensors:
        return constant(known, question, number)
    (value, _), *_ = Counter(number for tensor in tensors for number in tensor.flatten().tolist()).most_common(1)
    first = next((value for value in question.inputs if isinstance(value, Tensor)), tensors[0])
    like = first if any(t.shape == o.ask.inputs[0].shape for t, o in _pairs(known)) else replay(known, question, number)
    return torch.full_like(like, value, dtype=tensors[0].dtype) if isinstance(like, Tensor) else like


def _pairs(known: Known) -> list[tuple[Tensor, Case]]:
    return [
        (one.wanted, one)
        for one in known
        if isinstance(one.wanted, Tensor) and one.ask.inputs and isinstance(one.ask.inputs[0], Tensor)
    ]


@dataclass
class Cheat:
    """An answer that gives what a strategy makes of the public examples."""

    known: Known
    strategy: Strategy
    asked: int = field(default=0)

    def ask(self, question: Question, seconds: float) -> Reply:
        self.asked += 1
        value = self.strategy(self.known, question, self.asked - 1)
        if isinstance(value, Raised):
            return Reply("crashed", None, value.error_type, (value.error_type,))
        return Reply("value", value)

    def spent(self) -> float:
        return 0.0


def known_to_all(name: str) -> Known:
    """Returns the public questions whose results a student can read: those that are not sealed."""
    stages = public_examples(name)[name].stages
    return [case for stage in stages for case in stage.cases if not _holds_a_seal(case.wanted)]


def _holds_a_seal(wanted: Any) -> bool:
    return isinstance(wanted, Sealed)


def earned(strategy: Strategy, seed: str) -> dict[str, float]:
    """Returns what a strategy earns in each exercise where it can try."""
    found = {}
    for notebook in catalogue.notebooks():
        for name in catalogue.names(notebook):
            if known := known_to_all(name):
                cheat = Cheat(known, strategy)
                found[f"{notebook[:2]} {name}"] = judge(asked(notebook, name, seed), cheat, hidden=True).earned
    return found


def asked(notebook: str, name: str, seed: str) -> Examples:
    """Returns the drawn examples without known mistakes, of which these answers make none."""

    def drawn() -> Examples:
        examples = exercise.load(notebook)[name].drawn_examples(seed)
        stages = [
            replace(one, cases=tuple(replace(case, mistakes={}) for case in one.cases)) for one in examples.stages
        ]
        return replace(examples, stages=tuple(stages))

    return kept.kept(drawn, "without mistakes", kept.definition(notebook), name, seed)


@pytest.mark.parametrize("student", STUDENTS)
@pytest.mark.parametrize("strategy", [replay, nearest, counting, constant, filled])
def test_who_knows_the_public_examples_and_does_not_look_earns_little(strategy: Strategy, student: str) -> None:
    points = earned(strategy, student)
    possible = sum(one.points for notebook in catalogue.notebooks() for one in exercise.load(notebook).values())
    assert sum(points.values()) <= MOST * possible, ", ".join(
        f"{name} {mark:g}" for name, mark in points.items() if mark
    )
