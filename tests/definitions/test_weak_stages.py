"""What earns only beside something else, what is drawn again, and in which order questions are asked."""

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from grading.definitions import exercise
from grading.definitions.definition import Stage
from grading.definitions.exercise import Exercise
from tutor.checking.answers import InProcess, Question, Reply, timed
from tutor.checking.judging import Examples, judge

Draw = Callable[[random.Random], list[Question]]


def table(size: int, factor: float = 1.0) -> Tensor:
    """Returns the reference: a column of numbers."""
    return factor * torch.arange(1.0, size + 1)[:, None]


def is_even(number: int) -> bool:
    """Returns a reference with two results."""
    return number % 2 == 0


def stage(name: str, public: list[Question], draw: Draw, points: float = 1, **more: Any) -> Stage:
    return Stage(name, points, "look", public, draw, **more)


def sizes(low: int, high: int) -> Draw:
    return lambda rng: [Question((rng.randint(low, high),))]


def columns() -> Exercise:
    """Returns an exercise with stages of all kinds."""
    numbers = stage("any size", [Question((3,))], sizes(4, 60), decisive=True)
    shape = stage("the shape", [Question((3,))], sizes(4, 60), view="shape")
    same = stage("one row", [Question((1,))], lambda rng: [Question((1,))])
    settled = stage(
        "settings", [Question((3,), probe="random numbers")], lambda rng: [Question((4,), probe="random numbers")]
    )
    return Exercise(table, [numbers, shape, same, settled], [])


def weak(examples: Examples) -> set[str]:
    return {one.name for one in examples.stages if one.weak}


def test_weak_are_known_results_and_what_a_process_says_of_itself() -> None:
    defined = columns()
    assert weak(defined.public_examples()) == {"one row", "settings"}
    assert weak(defined.drawn_examples("ada")) == weak(defined.check_examples()) == weak(defined.public_examples())


def test_weak_is_what_has_no_other_results_than_the_public_ones() -> None:
    both = stage("even or odd", [Question((1,)), Question((2,))], sizes(3, 90), decisive=True)
    zeros = stage("nothing", [Question((3, 0.0))], lambda rng: [Question((rng.randint(4, 60), 0.0))])
    assert weak(Exercise(is_even, [both], []).public_examples()) == {"even or odd"}
    assert weak(Exercise(table, [zeros], []).public_examples()) == {"nothing"}


def test_a_weak_stage_earns_only_beside_one_that_decides() -> None:
    examples = columns().drawn_examples("ada")
    assert judge(examples, InProcess(table), hidden=True).earned == 4
    ones = judge(examples, InProcess(lambda size: torch.ones(size, 1)), hidden=True)
    assert {"the shape", "one row"} <= {name for name, passed in ones.stages if passed}
    assert ones.earned == 1  # the shape is another one for each student
    assert any("earns its points together with 'any size'" in note for note in ones.notes)
    assert judge(columns().check_examples(), InProcess(lambda size: torch.ones(size, 1))).earned == 1


def test_where_all_is_weak_all_that_decide_are_passed_together() -> None:
    even = stage("even", [Question((2,))], lambda rng: [Question((2 * rng.randint(2, 9),))], decisive=True)
    odd = stage("odd", [Question((1,))], lambda rng: [Question((2 * rng.randint(2, 9) + 1,))], decisive=True)
    examples = Exercise(is_even, [even, odd], []).drawn_examples("ada")
    assert judge(examples, InProcess(lambda number: True), hidden=True).earned == 0
    assert judge(examples, InProcess(is_even), hidden=True).earned == 2


@pytest.mark.parametrize("seed", [f"student {number}" for number in range(20)])
def test_a_stage_that_is_not_weak_asks_for_something_that_no_check_knows(seed: str) -> None:
    """Of ten sizes a check knows two; each draw of one size would be known to it once in five times."""
    defined = Exercise(table, [stage("few sizes", [Question((3,))], sizes(3, 12), decisive=True)], [])
    (known,) = (one for one in defined.check_examples().stages if one.name == "few sizes")
    (asked,) = (one for one in defined.drawn_examples(seed).stages if one.name == "few sizes")
    known_sizes = {case.ask.inputs[0] for case in known.cases}
    assert not known_sizes & {case.ask.inputs[0] for case in asked.cases if case.hidden}


@pytest.mark.parametrize("seed", [f"student {number}" for number in range(10)])
def test_who_knows_all_results_of_the_check_and_is_wrong_in_some_questions_fails_the_stage(seed: str) -> None:
    """Two of the three questions of each draw are the student's own; it is wrong in two of them."""
    draw: Draw = lambda rng: [Question((3 * rng.randint(9, 900) + rest,)) for rest in range(3)]  # noqa: E731
    defined = Exercise(table, [stage("any size", [Question((3,))], draw, decisive=True)], [])
    known = {case.ask.inputs[0] for one in defined.check_examples().stages for case in one.cases}

    def wrong_in_some(size: int) -> Tensor:
        return table(size) if size in known or size % 3 == 0 else torch.zeros(size, 1)

    assert judge(defined.check_examples(), InProcess(wrong_in_some)).outcome == "right"
    assert judge(defined.drawn_examples(seed), InProcess(wrong_in_some), hidden=True).earned == 0


# --- the order --------------------------------------------------------------------------------------------------------


class Heard:
    """An answer that is right and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Question] = []

    def ask(self, question: Question, seconds: float) -> Reply:
        self.asked.append(question)
        return InProcess(table).ask(question, seconds)

    def spent(self) -> float:
        return 0.0


def order(seed: str) -> list[int]:
    """Returns the places of the questions of the stages, in the order in which they are asked."""
    recorder = Heard()
    examples = columns().drawn_examples(seed)
    assert judge(examples, recorder, hidden=True).outcome == "right"
    main = different(examples)
    return [next(n for n, ask in enumerate(main) if ask is one) for one in recorder.asked[: len(main)]]


def different(examples: Examples) -> list[Question]:
    """Returns the questions of the stages; one that is the same in two of them, once."""
    found = dict[str, Question]()
    for ask in (case.sent for one in examples.stages if not one.cost for case in one.cases):
        found.setdefault(ask.text, ask)
    return list(found.values())


def test_questions_are_asked_in_an_order_that_the_seed_draws() -> None:
    orders = {seed: order(seed) for seed in map(str, range(6))}
    assert all(sorted(found) == list(range(8)) for found in orders.values())  # two each, and one where it is not weak
    assert order("0") == orders["0"]
    assert len(set(map(tuple, orders.values()))) > 3


def test_a_check_asks_stage_by_stage() -> None:
    recorder = Heard()
    examples = columns().check_examples()
    judge(examples, recorder)
    main = different(examples)
    assert all(one is other for one, other in zip(recorder.asked, main, strict=False))


def test_what_two_stages_ask_alike_is_asked_once_and_judged_in_both() -> None:
    recorder, examples = Heard(), columns().check_examples()
    assert judge(examples, recorder).outcome == "right"
    one, other = (stage.cases[0].sent.text for stage in examples.stages[:2])
    assert one == other
    assert [ask.text for ask in recorder.asked].count(one) == 1
    verdict = judge(examples, InProcess(lambda size: table(size) if size == 1 else torch.zeros(2)))
    assert [name for name, passed in verdict.stages if passed is False][:2] == ["any size", "the shape"]


def test_the_stage_that_fails_first_is_reported_whatever_is_asked_first() -> None:
    def fails_from_the_second_stage_on(size: int) -> Tensor:
        return table(size) if size > 1 else torch.zeros(2)

    for seed in map(str, range(6)):
        verdict = judge(columns().drawn_examples(seed), InProcess(fails_from_the_second_stage_on), hidden=True)
        assert [name for name, passed in verdict.stages if not passed] == ["one row"]
        assert "stage 'one row'" in verdict.sentence


class Slow:
    """An answer that uses up all its time at one question, and replies at once to the others."""

    def __init__(self, at: int) -> None:
        self.at, self.used, self.asked = at, 0.0, list[int]()

    def ask(self, question: Question, seconds: float) -> Reply:
        self.asked.append(question.inputs[0])
        if question.inputs[0] != self.at:
            return Reply("value", question.inputs[0])
        self.used += seconds
        return Reply("late", error="it was stopped")

    def spent(self) -> float:
        return self.used


@pytest.mark.parametrize("seed", ["", *map(str, range(20))])
def test_what_is_late_does_not_hang_on_the_order(seed: str) -> None:
    replies = timed(Slow(3), [Question((number,)) for number in range(8)], 1.0, seed)
    assert [reply.outcome for reply in replies] == ["value"] * 3 + ["late"] * 5


@pytest.mark.parametrize("seed", [*map(str, range(20))])
def test_an_answer_that_is_always_late_takes_no_more_than_half_its_time_more(seed: str) -> None:
    class Late(Slow):
        def ask(self, question: Question, seconds: float) -> Reply:
            self.at = question.inputs[0]
            return super().ask(question, seconds)

    slow = Late(0)
    replies = timed(slow, [Question((number,)) for number in range(8)], 1.0, seed)
    assert {reply.outcome for reply in replies} == {"late"}
    assert slow.used <= 1.5


def test_both_ways_of_grading_have_one_order() -> None:
    defined = exercise.load_one("12_hyperparameter_sweep", "diagnose")
    assert defined.drawn_examples("ada").order == defined.variant("ada").order != defined.variant("zoe").order
    assert defined.public_examples().order == defined.check_examples().order == ""
