"""Judging: what is right, in what kinds of numbers and formulas, and which mistakes are recognised."""

import json
import math
import re
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import sympy
import torch
from torch import Tensor, nn

from grading.authoring.examples import encode
from grading.definitions.definition import ExerciseError, Mistake, Stage
from grading.definitions.exercise import Exercise
from tests.tutor.checking import LANGUAGE_MODEL, number_exercise, right_mask, verdict
from tutor import checks
from tutor.checking.answers import STUB, InProcess, Question
from tutor.checking.judging import judge
from tutor.checking.verdict import OTHERS, Verdict


def test_right() -> None:
    result = verdict(right_mask)
    assert result.outcome == "right"
    assert "all checks passed" in str(result)
    assert result.earned == result.points == 3


def test_not_attempted_wrong_and_crashed_are_three_messages() -> None:
    def untouched(size: int) -> Tensor:
        raise NotImplementedError(STUB)

    def crashing(size: int) -> Tensor:
        return right_mask(size)[size + 10]

    results = [verdict(untouched), verdict(lambda size: torch.zeros(size, size)), verdict(crashing)]
    assert [one.outcome for one in results] == ["not attempted", "wrong", "crashed"]
    assert "not attempted yet" in str(results[0])
    assert "IndexError" in str(results[2])
    assert results[0].earned == 0


def test_forgotten_return() -> None:
    assert "did you forget to return the result?" in str(verdict(lambda size: None))


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (lambda size: [[0.0]], "expected a tensor of shape (4, 4), got a list"),
        (lambda size: np.zeros((size, size)), "expected a tensor of shape (4, 4), got a ndarray"),
        (lambda size: torch.zeros(size), "expected shape (4, 4), got (4,)"),
        (lambda size: torch.zeros(size, size).long(), "expected floating point values, got integer (int64)"),
        (lambda size: right_mask(size) * 0, "values are NaN (not a number)"),
        (lambda size: torch.zeros(size, size, device="meta"), "tensor on meta"),
        (lambda size: torch.zeros(size, size).to_sparse(), "sparse"),
        (lambda size: (right_mask(size), 1), "expected one tensor of shape (4, 4), got a tuple of 2 values"),
        (lambda: right_mask(4), "TypeError"),
        ("not a function", "TypeError: 'str' object is not callable"),
        (lambda size: {"mask": right_mask(size)}, "expected a tensor of shape (4, 4), got a dict"),
    ],
)
def test_an_answer_of_the_wrong_kind_gets_one_sentence(answer: Any, sentence: str) -> None:
    result = verdict(answer)
    assert result.outcome in ("wrong", "crashed")
    assert sentence in str(result)


def test_printing_is_no_error_but_returns_nothing() -> None:
    result = verdict(lambda size: print(right_mask(size)))
    assert "prints its result; what counts is what it returns" in str(result)


def test_an_answer_that_prints_and_then_crashes_is_not_said_to_print_its_result() -> None:
    def crashing(size: int) -> Tensor:
        print("size is", size)
        raise ValueError("oh")

    result = verdict(crashing)
    assert result.outcome == "crashed"
    assert result.error_type == "ValueError"
    assert result.notes == ()


def test_hidden_questions_are_not_revealed() -> None:
    from grading.definitions import exercise
    from grading.definitions.examiner import examine

    defined = exercise.load("01_causal_mask")["padding_mask"]
    asked: list[str] = []

    def spy(lengths: Tensor, size: int) -> Tensor:
        asked.append(str(lengths.tolist()))
        raise ValueError(f"the hidden input is {lengths.tolist()}")

    result = examine(defined, InProcess(spy), "ada")
    assert asked
    assert not any(one in str(result) + result._repr_html_() for one in asked)
    wrong = examine(defined, InProcess(lambda lengths, size: torch.ones(len(lengths), size).bool()), "ada")
    assert not re.search(r"expected (True|False|0|1)\b", str(wrong))
    assert wrong.pictures == ()


@pytest.mark.parametrize("given", [0.3, torch.tensor(0.3), np.float64(0.3), sympy.Rational(3, 10)])
def test_a_number_may_be_of_any_kind(given: Any) -> None:
    assert judge(number_exercise().public_examples(), InProcess(lambda: given)).outcome == "right"


@pytest.mark.parametrize("given", [0.31, float("nan"), "0.3", None, [0.3]])
def test_a_wrong_number_is_wrong(given: Any) -> None:
    assert judge(number_exercise().public_examples(), InProcess(lambda: given)).outcome == "wrong"


def formula_exercise(sealed: bool) -> Exercise:
    def formula() -> sympy.Expr:
        n = sympy.Symbol("n")
        return (n + 1) ** 2

    asks = [Question(at={"n": 3}), Question(at={"n": 10})]
    return Exercise(formula, [Stage("everywhere", 1, "square", asks, lambda rng: asks, sealed=sealed)], [])


N = sympy.Symbol("n", positive=True)
SAME = [
    N**2 + 2 * N + 1,
    3.0 * (N + 1) ** 2 * (1 / 3),
    (N**3 + 3 * N**2 + 3 * N + 1) / (N + 1),
    sympy.exp(2 * sympy.log(N + 1)),
    1 + N * (N + 1) // 2 + sympy.binomial(N + 1, 2) + N,
    2 * sympy.Sum(sympy.Symbol("i"), (sympy.Symbol("i"), 1, N)) + sympy.Max(N, 2) + 1,
    abs(-N - 1) * sympy.ceiling(N + sympy.Rational(1, 3)),
    sympy.factorial(N + 1) ** 2 / sympy.factorial(N) ** 2,
]


@pytest.mark.parametrize("given", SAME)
def test_a_formula_may_have_any_form(given: Any) -> None:
    assert judge(formula_exercise(False).public_examples(), InProcess(lambda: given)).outcome == "right"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (N**2 + 1, "at n = 3 expected 16, got 10"),
        (sympy.Symbol("m"), "symbol m; expected only n"),
        (1 / (N - 3), "divides by zero"),
        (10 ** (10 ** (10**N)), "too large to compute"),
        (sympy.log(N - 100), "not a real number"),
        (sympy.sqrt(-N), "a part of kind ImaginaryUnit"),
        (sympy.Function("f")(N), "a part of kind f"),
        (sympy.factorial(10 ** (9 * N)), "too large to compute"),
        (sympy.factorial(-N), "divides by zero"),
        (sympy.Sum(1 / sympy.Symbol("i"), (sympy.Symbol("i"), 1, N)), "a part of kind harmonic"),
        ("n**2", "expected a sympy expression, got a str"),
    ],
)
def test_a_wrong_formula_gets_one_sentence(given: Any, sentence: str) -> None:
    assert sentence in str(judge(formula_exercise(False).public_examples(), InProcess(lambda: given)))


def test_a_text_in_place_of_a_sealed_formula_is_reported() -> None:
    stored = json.loads(json.dumps(encode(formula_exercise(True))))
    text = str(judge(checks._decode_examples("formula", stored), InProcess(lambda: "n**2")))
    assert "expected a formula or a number, got the text 'n**2'" in text


def test_a_reference_that_fails_is_a_fault_of_the_exercise() -> None:
    def broken(size: int) -> int:
        raise ValueError("oh")

    asks = [Question((1,))]
    with pytest.raises(ExerciseError, match=r"the reference gives .ValueError: oh"):
        Exercise(broken, [Stage("value", 1, "", asks, lambda rng: asks)], []).public_examples()


def test_a_wanted_exception() -> None:
    def picky(size: int) -> int:
        if size < 0:
            raise ValueError(f"size {size} is negative; expected 0 or more")
        return size

    def silent(size: int) -> int:
        raise ValueError

    asks = [Question((-1,))]
    stage = Stage("raises", 1, "", asks, lambda rng: asks, raises="ValueError")
    examples = Exercise(picky, [stage], []).public_examples()
    assert judge(examples, InProcess(picky)).outcome == "right"
    assert judge(examples, InProcess(silent)).outcome == "right"
    one_line = Exercise(picky, [replace(stage, measure="says why")], []).public_examples()
    assert judge(one_line, InProcess(picky)).outcome == "right"
    assert "the ValueError says nothing" in str(judge(one_line, InProcess(silent)))
    assert "expected a ValueError" in str(judge(examples, InProcess(lambda size: size)))
    assert judge(examples, InProcess(lambda size: [][size])).outcome != "right"
    assert "it was returned, not raised" in str(judge(examples, InProcess(lambda size: ValueError("negative"))))


@pytest.mark.parametrize(
    ("message", "missing"),
    [
        ("layers.1.norm: (2, 3), expected (5, 2)", ""),
        ("'layers.1.norm' is torch.Size([2, 3]), not 5x2.", ""),
        ("base.layers.1.norm: (2, 3), expected (5, 2)", "layers.1.norm"),
        ("layers.1.norm.weight: (2, 3), expected (5, 2)", "layers.1.norm"),
        ("layers.1.norm: (2, 3), expected 5", "the shape (5, 2)"),
        ("layers.1.norm: (12, 3), expected (5, 2)", "the shape (2, 3)"),
        ("layers.1.norm: (2, 30), expected (5, 2)", "the shape (2, 3)"),
        ("something differs", "layers.1.norm"),
    ],
)
def test_a_message_names_what_it_shall(message: str, missing: str) -> None:
    def complaining(size: int) -> int:
        raise ValueError("layers.1.norm is (2, 3), and (5, 2) is wanted")

    def answer(size: int) -> int:
        raise ValueError(message)

    asks = [Question((1,), extra={"named": ["layers.1.norm", (2, 3), (5, 2)]})]
    stage = Stage("raises", 1, "", asks, lambda rng: asks, raises="ValueError", measure="says why")
    result = judge(Exercise(complaining, [stage], []).public_examples(), InProcess(answer))
    assert result.outcome == ("wrong" if missing else "right")  # it has not stopped: it refuses, as it shall
    graded = judge(Exercise(complaining, [stage], []).public_examples(), InProcess(answer), hidden=True)
    assert "the message of the ValueError does not name all that it shall" in graded.sentence or not missing
    assert f"the message of the ValueError does not name {missing}" in str(result) or not missing


def test_a_mistake_that_fails_the_same_way_but_spoils_its_input_is_told_apart() -> None:
    def careful(model: Any) -> nn.Module:
        raise ValueError("it does not fit")

    def crashing(model: Any) -> nn.Module:
        raise RuntimeError("it does not fit")

    def spoiling(model: Any) -> nn.Module:
        model.head.bias.data += 1
        raise RuntimeError("too late")

    asks = [Question((LANGUAGE_MODEL,))]
    mistakes = [Mistake("spoils", "Look first.", spoiling), Mistake("crashes", "Say why.", crashing)]
    stage = Stage("kept", 1, "look first", asks, lambda rng: asks, measure="inputs kept", raises="ValueError")
    examples = Exercise(careful, [stage], mistakes).public_examples()
    assert judge(examples, InProcess(crashing)).mistake == "crashes"
    assert judge(examples, InProcess(spoiling)).mistake == "spoils"


def test_a_known_mistake_that_was_stopped_by_the_clock_is_in_no_check(monkeypatch: pytest.MonkeyPatch) -> None:
    def double(number: int) -> int:
        return 2 * number

    def endless(number: int) -> int:
        while True:
            number += 1

    asks = [Question((3,))]
    made = Exercise(
        double, [Stage("value", 1, "add", asks, lambda rng: asks)], [Mistake("counts on", "Stop.", endless)]
    )
    monkeypatch.setattr("grading.definitions.exercise.MISTAKE_SECONDS", 0.05)
    with pytest.raises(ExerciseError, match="double, stage 'value': the mistake 'counts on' had no result"):
        encode(made)


def test_what_is_right_where_a_mistake_is_wrong_did_not_make_it() -> None:
    def tail(numbers: Tensor, start: int) -> Tensor:
        return numbers[start:]

    one, other = [Question((torch.arange(5), 3))], [Question((torch.arange(6), 2))]
    stages = [Stage("short", 1, "cut", one, lambda rng: one), Stage("long", 1, "cut", other, lambda rng: other)]
    mistake = Mistake("the last two", "Use start.", lambda numbers, start: numbers[-2:].flip(0))
    examples = Exercise(tail, stages, [mistake]).public_examples()
    assert judge(examples, InProcess(mistake.answer)).mistake == "the last two"
    both = InProcess(lambda numbers, start: numbers[-2:].flip(0) if start == 3 else numbers)
    assert judge(examples, both).mistake == "the last two"
    one_place = InProcess(lambda numbers, start: numbers[-2:].flip(0) if start == 3 else numbers[start:])
    assert judge(examples, one_place).mistake == ""


def test_a_small_coincidence_gets_no_name() -> None:
    def layers(size: int, window: int) -> int:
        return -(-(size - 1) // (window - 1))

    full, rest = [Question((5, 3)), Question((7, 3))], [Question((6, 3)), Question((9, 4))]
    stages = [Stage("full", 1, "count", full, lambda rng: full), Stage("rest", 1, "round up", rest, lambda rng: rest)]
    mistake = Mistake("one place too many", "There are size - 1.", lambda size, window: -(-size // (window - 1)))
    examples = Exercise(layers, stages, [mistake]).public_examples()
    assert judge(examples, InProcess(mistake.answer)).mistake == "one place too many"
    assert judge(examples, InProcess(lambda size, window: layers(size, window) + 1)).mistake == ""


def test_a_name_needs_agreement_in_the_further_questions_of_a_check_too() -> None:
    def average(numbers: list[float]) -> float:
        return sum(numbers) / len(numbers)

    public, drawn = [Question(([1.0, 6.0],)), Question(([2.0, 3.0],))], [Question(([1.0, 2.0, 4.0, 8.0],))]
    stages = [Stage("mean", 1, "divide", public, lambda rng: drawn)]
    exercise = Exercise(average, stages, [Mistake("the largest", "Use all.", max), Mistake("the sum", "Divide.", sum)])
    asked = checks._decode_examples("average", json.loads(json.dumps(encode(exercise))))
    assert [case.mistakes for case in asked.stages[0].cases[2:]] == [{}]
    assert [judge(asked, InProcess(answer)).mistake for answer in (max, sum)] == ["the largest", "the sum"]

    def upper_median(numbers: list[float]) -> float:
        return sorted(numbers)[len(numbers) // 2]

    assert judge(exercise.public_examples(), InProcess(upper_median)).mistake == "the largest"
    for other in (
        upper_median,
        lambda numbers: 10**400,
        lambda numbers: {"mean": [None, "", {1, 2}, average(numbers)]},
    ):
        assert judge(asked, InProcess(other)).mistake == ""


def test_a_further_question_where_a_mistake_is_right_takes_its_name_from_an_answer_that_is_wrong_there() -> None:
    def half(number: int) -> int:
        return number // 2

    public, drawn = [Question((3,)), Question((5,))], [Question((4,)), Question((9,))]
    stages = [Stage("half", 1, "round down", public, lambda rng: drawn)]
    exercise = Exercise(half, stages, [Mistake("rounded up", "Down.", lambda number: -(-number // 2))])
    asked = checks._decode_examples("half", json.loads(json.dumps(encode(exercise))))
    assert judge(asked, InProcess(lambda number: -(-number // 2))).mistake == "rounded up"
    assert judge(exercise.public_examples(), InProcess(lambda number: number // 2 + 1)).mistake == "rounded up"
    assert judge(asked, InProcess(lambda number: number // 2 + 1)).mistake == ""


def test_a_mistake_that_passes_a_stage_in_its_own_way_is_still_named() -> None:
    def zeros(size: int) -> Tensor:
        return torch.zeros(size, size)

    three, two = [Question((3,))], [Question((2,))]
    stages = [
        Stage("shape", 1, "two axes", three, lambda rng: three, view="shape"),
        Stage("values", 1, "all zero", two, lambda rng: two),
    ]
    mistake = Mistake("random numbers", "Every number is 0.", lambda size: torch.full((size, size), 0.5))
    examples = Exercise(zeros, stages, [mistake]).public_examples()
    others_at_three = InProcess(lambda size: torch.full((size, size), 0.5 if size == 2 else 0.25))
    assert judge(examples, others_at_three).mistake == "random numbers"


def test_two_crashes_are_told_apart_by_what_python_says() -> None:
    def first(numbers: Tensor) -> Tensor:
        return numbers[:1]

    asks = [Question((torch.zeros(2, 3),)), Question((torch.zeros(7, 9),))]
    beyond = Mistake("one too far", "Count from 0.", lambda numbers: numbers[len(numbers)])
    examples = Exercise(first, [Stage("rows", 1, "", asks, lambda rng: asks)], [beyond]).public_examples()
    assert judge(examples, InProcess(lambda numbers: numbers[len(numbers) + 4])).mistake == "one too far"
    assert judge(examples, InProcess(lambda numbers: numbers[0, 0, 0])).outcome == "crashed"
    assert judge(examples, InProcess(lambda numbers: numbers[0, 0, 0])).mistake == ""


def test_pictures_of_a_module_are_named_for_its_inputs() -> None:
    class Twice(torch.nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.width = width

        def forward(self, x: Tensor) -> Tensor:
            return 2 * x

    class Once(Twice):
        def forward(self, x: Tensor) -> Tensor:
            return x

    asks = [Question((torch.ones(2, 3),), build={"width": 3})]
    result = judge(
        Exercise(Twice, [Stage("all", 1, "look", asks, lambda rng: asks)], []).public_examples(), InProcess(Once)
    )
    assert [caption for caption, _ in result.pictures] == ["input 1", "wanted", "yours"]


def judged(reference: Any, answer: Any, asks: list[Question], **settings: Any) -> Verdict:
    """Returns what a check says of an answer to an exercise of one stage, which says to look at "the stage"."""
    stage = Stage("all", 1, "the stage", asks, lambda rng: asks, **settings)
    return judge(Exercise(reference, [stage], []).public_examples(), InProcess(answer))


@pytest.mark.parametrize(
    ("wanted", "given", "feedback"),
    [
        ({0, 1}, range(2), "`set(...)`"),
        ([0, 1], torch.arange(2), "`.tolist()`"),
        ((0, 1), range(2), "`tuple(...)`"),
        ((0, 1), [0, 2], "the stage"),  # a list will do, its numbers are wrong
        ([0, 1], None, "the stage"),
        (1.0, "1.0", "the stage"),
    ],
)
def test_advice_on_another_kind_says_how_to_make_the_wanted_one(wanted: Any, given: Any, feedback: str) -> None:
    result = judged(lambda: wanted, lambda: given, [Question()])
    assert result.outcome == "wrong"
    assert feedback in result.feedback


@pytest.mark.parametrize(
    ("wanted", "given", "expected"),
    [
        (torch.tensor([122.2]), torch.tensor([122.24]), "expected 122.2, got 122.24"),
        (torch.tensor([122.2]), torch.tensor([122.5]), "expected 122.2, got 122.5"),
        (0.415612, 0.415612 + 3e-4, "expected 0.415612, got 0.415912"),
    ],
)
def test_numbers_that_differ_are_written_with_digits_that_do(wanted: Any, given: Any, expected: str) -> None:
    assert expected in str(judged(lambda: wanted, lambda: given, [Question()]))


@pytest.mark.parametrize(
    ("given", "feedback"),
    [
        ((3,), "only the shape is not"),
        ((1, 3), "only the shape is not"),
        ((3, 1), "the stage"),  # as wanted, but for a number
        ((2, 1), "the stage"),
    ],
)
def test_advice_on_another_shape_of_the_same_numbers_is_about_the_shape(given: tuple[int, ...], feedback: str) -> None:
    wanted = torch.arange(3.0).reshape(3, 1)
    wrong = wanted.clone()
    wrong[-1] = 7.0
    answer = (wrong if given[-1] == 1 else wanted)[: given[0] if given[-1] == 1 else None].reshape(given)
    result = judged(lambda: wanted, lambda: answer, [Question()])
    assert result.outcome == "wrong"
    assert feedback in result.feedback


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda x: x.flip(0), "the expected ones, at other indices"),
        (lambda x: 0.5 * x, "All are 0.5 times the expected ones."),
        (lambda x: -x, "All have the other sign."),
        (lambda x: x + 0.25, "All are 0.25 too large."),
        (lambda x: x - 3, "All are 3 too small."),
        (lambda x: x**2, ""),
        (lambda x: torch.where(x == 4, 5.0, 2 * x), ""),  # one of them is no multiple
        (lambda x: x[:2], ""),
        (lambda x: x * float("inf"), ""),
        (lambda x: x + torch.tensor([2e-4, -3e-4, 2e-4, -3e-4, 3e-4]), ""),  # by rounding, each in its place
        (lambda x: 1.0004 * x, ""),
    ],
)
@pytest.mark.parametrize("as_values", [False, True])
def test_a_difference_that_all_numbers_share_is_reported(change: Any, expected: str, as_values: bool) -> None:
    values = torch.tensor([1.0, 2.5, -3.0, 4.0, 7.0])
    changed = change(values)
    if as_values and len(changed) == len(values):
        asks = [Question((n,)) for n in range(len(values))]
        result = judged(lambda n: float(values[n]), lambda n: float(changed[n]), asks)
        expected = "" if "indices" in expected else expected  # five questions with a number each have no indices
    else:
        result = judged(lambda: values, lambda: changed, [Question()])
    assert result.outcome == "wrong"
    shared = re.findall(r"The numbers are the expected.*|All (?:are|have).*", result.sentence)
    assert shared == [] if not expected else expected in shared[0]


def test_one_large_number_speaks_for_no_others() -> None:
    numbers = [2.0, 3.0, 4.0, 5.0, 1e12]
    said = judged(lambda n: numbers[n], lambda n: numbers[n] ** 1.003 + 1, [Question((n,)) for n in range(5)])
    assert "times" not in said.sentence


def test_few_numbers_share_a_difference_by_chance_and_nothing_is_reported() -> None:
    result = judged(lambda: torch.tensor([1.0, 2.0, 1.0]), lambda: torch.tensor([2.0, 4.0, 2.0]), [Question()])
    assert "times" not in result.sentence


def test_what_is_not_finite_is_reported_with_its_likely_source() -> None:
    result = judged(lambda: torch.tensor([1.0]), lambda: torch.tensor([math.nan]), [Question()])
    assert result.feedback.startswith("the stage A NaN comes of")
    wanted = torch.tensor([1.0, -math.inf])
    assert judged(lambda: wanted, lambda: wanted + 1, [Question()]).feedback == "the stage"


def test_one_object_under_two_names_is_called_that() -> None:
    class Two(nn.Module):
        def __init__(self, shared: bool = False) -> None:
            super().__init__()
            self.first = nn.Linear(2, 2)
            self.second = self.first if shared else nn.Linear(2, 2)

    result = judged(Two, lambda: Two(shared=True), [Question(build={}, probe="parameters")], view="parameters")
    assert result.sentence == "'second.weight' and 'first.weight' are one and the same tensor"
    assert "one and the same object" in result.feedback


def test_where_to_look_is_shown_for_each_stage_that_fails() -> None:
    def ask(*numbers: int) -> list[Question]:
        return [Question((number,)) for number in numbers]

    stages = [
        Stage("small", 1, "look at small ones", ask(1), lambda rng: ask(1)),
        Stage("even", 1, "look at even ones", ask(2), lambda rng: ask(2)),
        Stage("large", 1, "look at large ones", ask(99), lambda rng: ask(99)),
        Stage("large again", 1, "look at large ones", ask(98), lambda rng: ask(98)),
    ]
    exercise = Exercise(lambda n: n + 1, stages, [])
    result = judge(exercise.public_examples(), InProcess(lambda n: n if n != 2 else 3))
    assert result.others == (("large", "look at large ones"),)
    assert "  Where to look: look at small ones\n    For 'large': look at large ones" in str(result)
    assert f"<details><summary>{OTHERS}</summary>" in result._repr_html_()
    stopped = judge(exercise.public_examples(), InProcess(lambda n: [][n] if n > 2 else n))  # what stops says where
    assert stopped.others == (("even", "look at even ones"),)
    graded = judge(exercise.drawn_examples("ada"), InProcess(lambda n: n), hidden=True)
    assert graded.others == ()


def test_advice_on_what_stops_is_about_that() -> None:
    asks = [Question((LANGUAGE_MODEL, torch.tensor([[1, 4]])))]

    def right(model: nn.Module, tokens: Tensor) -> Tensor:
        return model(tokens)

    misspelt = judged(right, lambda model, tokens: modell(tokens), asks)  # type: ignore[name-defined]  # noqa: F821
    assert "bound nowhere" in misspelt.feedback
    other_parts = judged(right, lambda model, tokens: model.embedding(tokens), asks)
    assert other_parts.feedback.startswith("the stage")
    assert "`check.given(1)`" in other_parts.feedback
    beyond = judged(right, lambda model, tokens: tokens[7], asks)
    assert beyond.feedback == "the stage"


def test_advice_on_a_gradient_that_does_not_arrive_is_about_gradients() -> None:
    asks = [Question((torch.tensor([1.0, 2.0]),), probe="gradients")]
    result = judged(lambda x: 2 * x, lambda x: 2 * x.detach(), asks)
    assert result.sentence == "a gradient of input 1 does not arrive"
    assert "`.detach()`" in result.feedback
    assert judged(lambda x: 2 * x, lambda x: 3 * x, asks).feedback == "the stage"


def test_the_point_at_which_letters_are_looked_at_is_reported_only_where_there_are_some_to_compare() -> None:
    letter = sympy.Symbol("D", positive=True)
    asks = [Question((letter,), at={"D": 200})]
    assert "at D = 200" in judged(lambda d: 3 * d, lambda d: 2 * d, asks).call
    assert "at D = 200" not in judged(lambda d: None, lambda d: 2 * d, asks).call


def kept_by_shape() -> Any:
    kept: dict[Any, Tensor] = {}
    return lambda x: kept.setdefault(x.shape, 2 * x)


@pytest.mark.parametrize(
    ("reference", "answer", "question", "feedback"),
    [
        (
            lambda size: list(range(size)),
            cache(lambda size: list(range(size))),
            Question((3,), probe="again", follow_up=(4,)),
            "Make a new one",
        ),
        (
            lambda x: 2 * x,
            kept_by_shape(),
            Question((torch.tensor([1.0, 2.0]),), probe="again", follow_up=(torch.tensor([1.0]),)),
            "although the numbers are others",
        ),
        (lambda x: x + 1, lambda x: x, Question((3,), probe="again", follow_up=(4,)), "the stage"),
    ],
)
def test_advice_on_what_is_kept_says_what_that_is(
    reference: Any, answer: Any, question: Question, feedback: str
) -> None:
    result = judged(reference, answer, [question])
    assert feedback in result.feedback
    assert ("what comes back is the same object" in result.sentence) is (feedback == "Make a new one")
