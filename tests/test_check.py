"""`check()`: its messages, what it recognises, and that it leaves everything as it was."""

import copy
import json
import os
import random
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy
import torch
from torch import Tensor, nn

from grading.authoring.examples import encode
from grading.exercise import Exercise, ExerciseError, Mistake, Stage
from helpers import check as check_module
from helpers import models
from helpers.check import check, public_examples
from helpers.checking import measures, plain
from helpers.checking.answers import STUB, Ask, InProcess, Reply
from helpers.checking.compare import difference
from helpers.checking.judging import judge
from helpers.checking.limits import time_limit
from helpers.checking.plain import Model
from helpers.checking.verdict import MIME, Verdict
from helpers.models import Classifier


def verdict(answer: Any, name: str = "causal_mask") -> Verdict:
    """Returns the public verdict on an answer."""
    return judge(public_examples()[name], InProcess(answer))


def right_mask(size: int) -> Tensor:
    return torch.triu(torch.full((size, size), -torch.inf), diagonal=1)


def test_right() -> None:
    said = verdict(right_mask)
    assert said.outcome == "right"
    assert "all checks passed" in str(said)
    assert said.earned == said.points == 3


def test_not_attempted_wrong_and_crashed_are_three_messages() -> None:
    def untouched(size: int) -> Tensor:
        raise NotImplementedError(STUB)

    def crashing(size: int) -> Tensor:
        return right_mask(size)[size + 10]

    said = [verdict(untouched), verdict(lambda size: torch.zeros(size, size)), verdict(crashing)]
    assert [one.outcome for one in said] == ["not attempted", "wrong", "crashed"]
    assert "not attempted yet" in str(said[0])
    assert "IndexError" in str(said[2])
    assert said[0].earned == 0


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
    said = verdict(answer)
    assert said.outcome in ("wrong", "crashed")
    assert sentence in str(said)


def test_a_value_nested_too_deeply_is_wrong_and_not_an_error() -> None:
    nested: list[Any] = []
    for _ in range(50):
        nested = [nested]
    assert "nested more than" in str(verdict(lambda size: nested))


def test_an_endless_list_is_wrong_and_not_an_error() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert "nested more than" in str(verdict(lambda size: endless))


@pytest.mark.parametrize("swallow", [False, True])
def test_an_endless_loop_is_stopped(swallow: bool) -> None:
    def loop(size: int) -> Tensor:
        while True:
            try:
                size += 1
            except Exception:
                if not swallow:
                    raise

    start = time.monotonic()
    said = verdict(loop)
    assert time.monotonic() - start < 10
    assert said.outcome == "late"
    assert "is there a loop that never ends?" in str(said)


def test_a_sleep_is_stopped() -> None:
    start = time.monotonic()
    assert verdict(lambda size: time.sleep(60)).outcome == "late"
    assert time.monotonic() - start < 10


def test_the_time_limit_works_outside_the_main_thread() -> None:
    from concurrent.futures import ThreadPoolExecutor

    def spin() -> str:
        try:
            with time_limit(0.2):
                end = time.monotonic() + 30
                while time.monotonic() < end:
                    pass
        except BaseException as problem:  # noqa: BLE001 - TooSlow is not an Exception, on purpose
            return type(problem).__name__
        return "never stopped"

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(spin).result() == "TooSlow"


def test_an_answer_that_exits_is_a_crash() -> None:
    assert "SystemExit" in str(verdict(lambda size: exit(3)))


def test_an_exception_that_cannot_tell_its_text() -> None:
    class Odd(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    def odd(size: int) -> Tensor:
        raise Odd

    assert "whose text cannot be read" in str(verdict(odd))


def test_printing_is_no_error_but_returns_nothing() -> None:
    said = verdict(lambda size: print(right_mask(size)))
    assert "prints its result; what counts is what it returns" in str(said)


def test_an_answer_that_prints_and_then_crashes_is_not_said_to_print_its_result() -> None:
    def crashing(size: int) -> Tensor:
        print("size is", size)
        raise ValueError("oh")

    said = verdict(crashing)
    assert said.outcome == "crashed"
    assert said.error_type == "ValueError"
    assert said.notes == ()


def test_prints_and_warnings_do_not_come_out(capsys: pytest.CaptureFixture[str]) -> None:
    import sys
    import warnings

    def noisy(size: int) -> Tensor:
        print("hello")
        print("oh", file=sys.stderr)
        warnings.warn("careful", stacklevel=1)
        return right_mask(size)

    assert verdict(noisy).outcome == "right"
    assert capsys.readouterr() == ("", "")


def test_an_answer_that_changes_its_input_is_told_so() -> None:
    def in_place(scores: Tensor, mask: Tensor) -> Tensor:
        scores += mask
        return torch.softmax(scores, dim=-1)

    said = verdict(in_place, "attention_weights")
    assert said.outcome == "right"
    assert "changes its input in place" in str(said)


def test_check_leaves_random_state_and_settings_as_they_were() -> None:
    def meddling(size: int) -> Tensor:
        random.seed(1)
        np.random.seed(1)
        torch.manual_seed(1)
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float64)
        return right_mask(size)

    before = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state()
    verdict(meddling)
    assert random.getstate() == before[0]
    assert np.random.get_state()[1].tolist() == before[1]
    assert torch.equal(torch.get_rng_state(), before[2])
    assert torch.is_grad_enabled()
    assert torch.get_default_dtype() == torch.float32


def test_the_picture_shows_wanted_and_yours() -> None:
    page = verdict(lambda size: torch.triu(torch.full((size, size), -torch.inf)))._repr_html_()
    assert "the diagonal is blocked too" in page
    assert "Asked: causal_mask(1)" in page  # the first question that fails has little to show:
    assert "Pictures of causal_mask(5):" in page
    assert "wanted (5, 5)" in page
    assert "yours (5, 5)" in page
    assert "rgba" not in page  # see-through colours cannot be read in the dark theme
    page = verdict(lambda scores, mask: scores, "attention_weights")._repr_html_()
    assert page.index("scores (4, 4)") < page.index("mask (4, 4)") < page.index("wanted (4, 4)")


def test_html_escapes_what_a_student_wrote() -> None:
    def hostile(size: int) -> Tensor:
        raise ValueError("<script>alert(1)</script>")

    page = verdict(hostile)._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_hidden_questions_are_not_told() -> None:
    from grading import exercise
    from grading.examiner import examine

    defined = exercise.load("01_causal_mask")["padding_mask"]
    asked: list[str] = []

    def spy(lengths: Tensor, size: int) -> Tensor:
        asked.append(str(lengths.tolist()))
        raise ValueError(f"the hidden input is {lengths.tolist()}")

    said = examine(defined, InProcess(spy), "ada")
    assert asked
    assert not any(one in str(said) + said._repr_html_() for one in asked)
    wrong = examine(defined, InProcess(lambda lengths, size: torch.ones(len(lengths), size).bool()), "ada")
    assert not re.search(r"expected (True|False|0|1)\b", str(wrong))
    assert wrong.pictures == ()


def shown(verdict: Any, **options: Any) -> dict[str, Any]:
    """Returns what a notebook holds of a value that is displayed."""
    from IPython.core.formatters import DisplayFormatter

    formatter = DisplayFormatter()
    formatter.active_types = formatter.format_types  # as in a kernel
    return dict(formatter.format(verdict, **options)[0])


def test_a_student_s_notebook_holds_text_and_html_of_a_check_and_nothing_else() -> None:
    said = verdict(lambda size: torch.zeros(size, size))
    assert shown(said) == {"text/plain": str(said), "text/html": said._repr_html_()}


def test_a_graded_notebook_holds_the_verdict_as_data_too() -> None:
    from grading import exercise
    from grading.examiner import examine

    defined = exercise.load("01_causal_mask")["causal_mask"]
    said = examine(defined, InProcess(lambda size: torch.triu(torch.full((size, size), -torch.inf))), "ada")
    held = shown(said)
    assert held == {"text/plain": str(said), "text/html": said._repr_html_(), MIME: said.as_data()}
    assert shown(said, exclude=(MIME,)).keys() == {"text/plain", "text/html"}
    data = json.loads(json.dumps(held[MIME]))
    assert data == held[MIME]
    assert (data["outcome"], data["said"], data["earned"], data["points"]) == ("wrong", "not yet right", 0.5, 3.0)
    assert data["headline"] == "causal_mask: not yet right - 0.5 of 3 points" == str(said).split("\n")[0]
    assert [stage["passed"] for stage in data["stages"]] == [passed for _, passed in said.stages]
    assert data["mistake"] == "the diagonal is blocked too"
    signs = {"passed": "[passed] ", "failed": "[failed] ", "note": "Note: "}
    lines = [f"  {signs.get(line['kind'], '')}{line['text']}" for line in data["lines"]]
    assert lines == str(said).split("\n")[1:]


@pytest.mark.parametrize(("mode", "held"), [("autograde", True), ("", False)])
def test_a_solution_notebook_holds_no_data(monkeypatch: pytest.MonkeyPatch, mode: str, held: bool) -> None:
    from grading.examiner import mark

    outputs: list[dict[str, Any]] = []
    monkeypatch.setenv("NBGRADER_EXECUTION", mode)
    monkeypatch.setattr("IPython.display.display", lambda value, **options: outputs.append(shown(value, **options)))
    assert mark("01_causal_mask", "causal_mask", right_mask) == 3
    assert [MIME in output for output in outputs] == [held]


# --- check() itself ---------------------------------------------------------------------------------------------------


@pytest.fixture
def mode(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    return lambda value: monkeypatch.setenv("NBGRADER_EXECUTION", value)


def test_check_finds_the_exercise_by_the_variable(capsys: pytest.CaptureFixture[str], mode: object) -> None:
    scope: dict[str, Any] = {"check": check, "torch": torch}
    exec("causal_mask = lambda size: torch.triu(torch.full((size, size), -torch.inf), 1)\ncheck(causal_mask)", scope)
    assert "causal_mask: all checks passed" in capsys.readouterr().out


def test_check_of_an_unknown_name_says_what_is_known(mode: object) -> None:
    with pytest.raises(LookupError, match=r"no exercise is called 'right_mask'; expected one of: .*causal_mask"):
        check(right_mask)


def test_validate_turns_a_wrong_answer_into_an_error(mode: Callable[[str], None]) -> None:
    mode("validate")
    with pytest.raises(AssertionError, match="not yet right"):
        check(lambda size: torch.zeros(size, size), "causal_mask")
    check(right_mask, "causal_mask")


def test_check_is_silent_while_marks_are_given(mode: Callable[[str], None], capsys: pytest.CaptureFixture[str]) -> None:
    mode("autograde")
    check(lambda size: None, "causal_mask")
    assert capsys.readouterr().out == ""


def test_missing_examples_are_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Any, mode: object) -> None:
    monkeypatch.setattr(check_module, "EXAMPLES", tmp_path / "check_examples")
    public_examples.cache_clear()
    try:
        with pytest.raises(FileNotFoundError, match="install the course again, or run `make build`"):
            check(right_mask, "causal_mask")
    finally:
        public_examples.cache_clear()


# --- the kinds of answers ---------------------------------------------------------------------------------------------


class Scale(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


class Shift(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.weight


class Frozen(Scale):
    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.weight.requires_grad_(False)


def module_exercise() -> Exercise:
    asks = [Ask((torch.ones(2, 3),), build={"width": 3}, weights={"weight": torch.tensor([1.0, 2.0, 4.0])})]
    parameters = [Ask(build={"width": 3}, take="parameters")]
    return Exercise(
        Scale,
        [
            Stage("parameters", 1, "one trainable vector", parameters, lambda rng: parameters, view="parameters"),
            Stage("outputs", 1, "multiply", asks, lambda rng: asks),
        ],
        [Mistake("added in place of multiplied", "Multiply.", Shift), Mistake("frozen", "Train it.", Frozen)],
    )


def test_a_module_is_built_given_weights_and_called() -> None:
    examples = module_exercise().public_examples()
    assert judge(examples, InProcess(Scale)).outcome == "right"
    assert judge(examples, InProcess(Shift)).mistake == "added in place of multiplied"
    assert judge(examples, InProcess(Frozen)).mistake == "frozen"
    assert judge(examples, InProcess(nn.Identity)).outcome != "right"
    said = judge(examples, InProcess(lambda width: width))
    assert said.sentence == "it stopped with TypeError: expected a class of nn.Module, got one that makes a int"


def test_an_unknown_take_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no take 'resutl'; expected one of: result, names, "):
        Ask((1,), take="resutl")
    with pytest.raises(ValueError, match="there is no take 'all'"):
        Ask.decode({"take": "all"})


def test_a_call_of_a_module_tells_how_it_was_built() -> None:
    examples = module_exercise().public_examples()
    assert judge(examples, InProcess(Shift)).call == "Scale(width=3)(tensor of shape (2, 3))"
    assert judge(examples, InProcess(Frozen)).call == "Scale(width=3)"


def number_exercise() -> Exercise:
    def answer() -> float:
        return 0.1 + 0.2

    asks = [Ask()]
    return Exercise(answer, [Stage("value", 1, "add", asks, lambda rng: asks)], [])


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

    asks = [Ask(at={"n": 3}), Ask(at={"n": 10})]
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
        (sympy.factorial(-N), "below zero"),
        (sympy.Sum(1 / sympy.Symbol("i"), (sympy.Symbol("i"), 1, N)), "a part of kind harmonic"),
        ("n**2", "expected a sympy expression, got a str"),
    ],
)
def test_a_wrong_formula_gets_one_sentence(given: Any, sentence: str) -> None:
    assert sentence in str(judge(formula_exercise(False).public_examples(), InProcess(lambda: given)))


def test_a_text_in_place_of_a_sealed_formula_is_told() -> None:
    stored = json.loads(json.dumps(encode(formula_exercise(True))))
    said = str(judge(check_module._decode_examples("formula", stored), InProcess(lambda: "n**2")))
    assert "expected a formula or a number, got the text 'n**2'" in said


def test_a_reference_that_fails_is_a_fault_of_the_exercise() -> None:
    def broken(size: int) -> int:
        raise ValueError("oh")

    asks = [Ask((1,))]
    with pytest.raises(ExerciseError, match=r"the reference gives .ValueError: oh"):
        Exercise(broken, [Stage("value", 1, "", asks, lambda rng: asks)], []).public_examples()


def test_a_wanted_exception() -> None:
    def picky(size: int) -> int:
        if size < 0:
            raise ValueError(f"size {size} is negative; expected 0 or more")
        return size

    asks = [Ask((-1,))]
    stage = Stage("raises", 1, "", asks, lambda rng: asks, raises="ValueError")
    examples = Exercise(picky, [stage], []).public_examples()
    assert judge(examples, InProcess(picky)).outcome == "right"
    assert "expected a ValueError" in str(judge(examples, InProcess(lambda size: size)))
    assert judge(examples, InProcess(lambda size: [][size])).outcome != "right"
    assert "it was returned, not raised" in str(judge(examples, InProcess(lambda size: ValueError("negative"))))


def test_a_model_comes_by_its_recipe_and_fresh_each_time() -> None:
    base = Model("TransformerBase", {"vocab_size": 7, "d_model": 8, "n_layers": 1, "n_heads": 2}, seed=3)
    ask = Ask((Model("LanguageModel", {"base": base}, seed=3),))
    seen = []

    def spoil(model: nn.Module) -> Tensor:
        seen.append(model)
        weight = next(model.parameters())
        value = weight.detach().clone()
        weight.data.zero_()
        return value

    first, second = InProcess(spoil).ask(ask), InProcess(spoil).ask(ask)
    assert torch.equal(first.value, second.value)
    assert first.value.abs().sum() > 0
    assert first.changed_inputs
    assert seen[0] is not seen[1]


# --- models that come back --------------------------------------------------------------------------------------------

LANGUAGE_MODEL = Model(
    "LanguageModel", {"base": Model("TransformerBase", {"vocab_size": 6, "d_model": 8, "n_layers": 1, "n_heads": 2})}
)
TOKENS = torch.tensor([[1, 4, 5]])


def asked(answer: Any, *inputs: Any, **settings: Any) -> Any:
    """Returns the value of a reply that has crossed a process boundary in its encoded form."""
    question = Ask.decode(json.loads(json.dumps(Ask(inputs, **settings).encode())))
    reply = InProcess(answer).ask(question)
    assert reply.outcome == "value", reply.error
    return plain.decode(json.loads(json.dumps(plain.encode(reply.value))))


def classifier_of(model: Any) -> nn.Module:
    return Classifier(copy.deepcopy(model.base), 3)


def sharing_classifier_of(model: Any) -> nn.Module:
    return Classifier(model.base, 3)


def test_a_returned_model_is_called_whole_or_in_part() -> None:
    assert asked(classifier_of, LANGUAGE_MODEL, then=(TOKENS,)).shape == (1, 3)
    hidden = asked(classifier_of, LANGUAGE_MODEL, then=(TOKENS,), part="base")
    assert torch.equal(hidden, asked(lambda model: model.base, LANGUAGE_MODEL, then=(TOKENS,)))
    assert asked(classifier_of, LANGUAGE_MODEL, take="parameters", part="head") == {
        "weight": ((3, 8), True),
        "bias": ((3,), True),
    }


def test_the_origin_of_each_weight_is_told() -> None:
    other = replace(LANGUAGE_MODEL, seed=7, spread=0.1, state=True)

    def mixed(model: Any, weights: dict[str, Tensor]) -> Any:
        for name, weight in model.named_parameters():
            weight.data = weights[name] if "layers" in name else weight.data + 1 if "head" in name else weight.data
        return model

    told = asked(mixed, LANGUAGE_MODEL, other, take="origins")
    assert told["base.layers.0.attention_norm.weight"] == "as in input 2"
    assert told["base.embedding.weight"] == "as in input 1"
    assert told["head.bias"] == "new"
    same = replace(LANGUAGE_MODEL, state=True)
    told = asked(lambda model, weights: model, LANGUAGE_MODEL, same, take="origins", entries=("head.*",))
    assert told == {"head.weight": "as in input 1 and 2", "head.bias": "as in input 1 and 2"}


def test_shared_memory_is_told() -> None:
    assert asked(classifier_of, LANGUAGE_MODEL, take="shared") == set()
    names = asked(sharing_classifier_of, LANGUAGE_MODEL, take="shared")
    assert "base.embedding.weight" in names
    assert "head.weight" not in names
    assert asked(sharing_classifier_of, LANGUAGE_MODEL, take="shared", changes=(0,)) == set()


def test_only_what_a_gradient_reaches_learns() -> None:
    def flagged(model: Any) -> nn.Module:
        model.base.requires_grad_(False)
        return model

    assert asked(flagged, LANGUAGE_MODEL, take="learns", then=(TOKENS,)) == {"head.weight": 48, "head.bias": 6}
    assert asked(lambda m: m.requires_grad_(False), LANGUAGE_MODEL, take="learns", then=(TOKENS,)) == {}
    assert len(asked(lambda m: m.eval(), LANGUAGE_MODEL, take="learns", then=(TOKENS,))) == 19


@pytest.mark.parametrize(("given", "sentence"), [({"head.weight": 1}, "expected a model (an nn.Module), got a dict")])
def test_what_is_no_model_is_told(given: Any, sentence: str) -> None:
    reply = InProcess(lambda model: given).ask(Ask((LANGUAGE_MODEL,), take="origins"))
    assert reply.outcome == "crashed"
    assert sentence in reply.error
    assert InProcess(lambda model: None).ask(Ask((LANGUAGE_MODEL,), take="origins")).value is None


def test_an_input_that_must_stay_as_it_was() -> None:
    def freezing(model: Any) -> nn.Module:
        return model.requires_grad_(False)

    def spoiling(model: Any) -> nn.Module:
        model.head.bias.data += 1
        raise ValueError("too late")

    def careful(model: Any) -> nn.Module:
        raise ValueError("it does not fit")

    assert InProcess(freezing).ask(Ask((LANGUAGE_MODEL,))).changed_inputs
    assert not InProcess(freezing).ask(Ask((LANGUAGE_MODEL,), changes=(0,))).changed_inputs
    assert InProcess(spoiling).ask(Ask((LANGUAGE_MODEL,))).changed_inputs
    asks = [Ask((LANGUAGE_MODEL,))]
    kept = Stage("kept", 1, "copy", asks, lambda rng: asks, measure="inputs kept")
    examples = Exercise(classifier_of, [kept], []).public_examples()
    assert judge(examples, InProcess(classifier_of)).outcome == "right"
    assert "no longer as it was" in str(judge(examples, InProcess(freezing)))
    kept = Stage("kept", 1, "look first", asks, lambda rng: asks, measure="inputs kept", raises="ValueError")
    examples = Exercise(careful, [kept], []).public_examples()
    assert judge(examples, InProcess(careful)).outcome == "right"
    assert "no longer as it was" in str(judge(examples, InProcess(spoiling)))


def test_a_mistake_that_fails_the_same_way_but_spoils_its_input_is_told_apart() -> None:
    def careful(model: Any) -> nn.Module:
        raise ValueError("it does not fit")

    def crashing(model: Any) -> nn.Module:
        raise RuntimeError("it does not fit")

    def spoiling(model: Any) -> nn.Module:
        model.head.bias.data += 1
        raise RuntimeError("too late")

    asks = [Ask((LANGUAGE_MODEL,))]
    mistakes = [Mistake("spoils", "Look first.", spoiling), Mistake("crashes", "Say why.", crashing)]
    stage = Stage("kept", 1, "look first", asks, lambda rng: asks, measure="inputs kept", raises="ValueError")
    examples = Exercise(careful, [stage], mistakes).public_examples()
    assert judge(examples, InProcess(crashing)).mistake == "crashes"
    assert judge(examples, InProcess(spoiling)).mistake == "spoils"


def test_what_is_right_where_a_mistake_is_wrong_did_not_make_it() -> None:
    def tail(numbers: Tensor, start: int) -> Tensor:
        return numbers[start:]

    one, other = [Ask((torch.arange(5), 3))], [Ask((torch.arange(6), 2))]
    stages = [Stage("short", 1, "cut", one, lambda rng: one), Stage("long", 1, "cut", other, lambda rng: other)]
    mistake = Mistake("the last two", "Use start.", lambda numbers, start: numbers[-2:].flip(0))
    examples = Exercise(tail, stages, [mistake]).public_examples()
    assert judge(examples, InProcess(mistake.answer)).mistake == "the last two"
    both = InProcess(lambda numbers, start: numbers[-2:].flip(0) if start == 3 else numbers)
    assert judge(examples, both).mistake == "the last two"
    one_place = InProcess(lambda numbers, start: numbers[-2:].flip(0) if start == 3 else numbers[start:])
    assert judge(examples, one_place).mistake == ""


def test_a_mistake_that_passes_a_stage_in_its_own_way_is_still_named() -> None:
    def zeros(size: int) -> Tensor:
        return torch.zeros(size, size)

    three, two = [Ask((3,))], [Ask((2,))]
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

    asks = [Ask((torch.zeros(2, 3),)), Ask((torch.zeros(7, 9),))]
    beyond = Mistake("one too far", "Count from 0.", lambda numbers: numbers[len(numbers)])
    examples = Exercise(first, [Stage("rows", 1, "", asks, lambda rng: asks)], [beyond]).public_examples()
    assert judge(examples, InProcess(lambda numbers: numbers[len(numbers) + 4])).mistake == "one too far"
    assert judge(examples, InProcess(lambda numbers: numbers[0, 0, 0])).outcome == "crashed"
    assert judge(examples, InProcess(lambda numbers: numbers[0, 0, 0])).mistake == ""


@pytest.mark.parametrize(
    ("wanted", "given", "sentence"),
    [
        ((1, 2), (1, None), "value 1 of 2: expected a number, got None"),
        ({"a": [1.0]}, {"a": None}, "at entry 'a': expected a list of 1 values, got None"),
        ({1, 2}, {torch.tensor(1), torch.tensor(2)}, "got an integer tensor of shape () there"),
        (torch.zeros(2), torch.tensor([0.0, 1.0]), "expected 0, got 1"),
        (torch.tensor([-0.0, 1.0]), torch.tensor([1.0, 1.0]), "expected 0, got 1"),
    ],
)
def test_a_part_that_differs_is_named(wanted: Any, given: Any, sentence: str) -> None:
    assert sentence in str(difference(wanted, given))


def test_the_shape_of_a_tuple_of_numbers_says_nothing_of_the_numbers() -> None:
    assert difference((1, 2), (5, 6), "shape") is None
    assert difference((1, 2), (5, 6, 7), "shape") == "expected 2 values, got 3"
    assert "expected a whole number" in str(difference((1, 2), (5, 6.5), "shape"))
    assert "expected a number" in str(difference((1, 2), (5, "6"), "shape"))


def test_rows_may_be_asked_to_be_alike() -> None:
    asks = [Ask((LANGUAGE_MODEL,), then=(torch.tensor([[1, 4, 0], [1, 4, 5]]), torch.tensor([2, 2])))]
    stage = Stage("padding", 1, "read the last real token", asks, lambda rng: asks, measure="rows alike")
    examples = Exercise(classifier_of, [stage], []).public_examples()
    assert judge(examples, InProcess(classifier_of)).outcome == "right"
    assert judge(examples, InProcess(lambda model: model)).outcome == "wrong"


def test_spread_moves_every_parameter_and_the_same_way_each_time() -> None:
    def norm(model: Any) -> Tensor:
        return model.base.layers[0].attention_norm.weight

    shaken = replace(LANGUAGE_MODEL, spread=0.1)
    assert torch.equal(asked(norm, LANGUAGE_MODEL), torch.ones(8))
    assert not torch.equal(asked(norm, shaken), torch.ones(8))
    assert torch.equal(asked(norm, shaken), asked(norm, shaken))


# --- answers that are measured ----------------------------------------------------------------------------------------


def measured_exercise() -> Exercise:
    """Asks for a query that copies the first of two values; what is compared is the output, here the weights."""

    def query(keys: Tensor, scale: float) -> Tensor:
        return scale * keys[0]

    keys = torch.tensor([[0.6, 0.8, 0.0], [-0.8, 0.6, 0.0]])
    drawn = keys.repeat(2, 1, 1) * torch.tensor([1.0, 2.0])[:, None, None]
    asks = [Ask((keys, 2.0))]
    more = [Ask((keys, 2.0), beside={"keys": drawn, "values": torch.tensor([[3.0], [7.0]])})]
    return Exercise(
        query,
        [
            Stage("weights", 1, "copy", asks, lambda rng: asks, measure="attention"),
            Stage("outputs of two draws", 1, "copy", more, lambda rng: more, measure="attention"),
        ],
        [Mistake("the scale is missing", "Multiply.", lambda keys, scale: keys[0])],
    )


@pytest.mark.parametrize(
    "answer",
    [
        lambda keys, scale: scale * keys[0],
        lambda keys, scale: -scale * keys[1],
        lambda keys, scale: scale * keys[0].double() + torch.tensor([0.0, 0.0, 5.0]),
    ],
)
def test_answers_that_differ_are_right_when_their_measure_is(answer: Any) -> None:
    assert judge(measured_exercise().public_examples(), InProcess(answer)).outcome == "right"


def test_a_mistake_is_recognised_by_its_measure() -> None:
    unscaled = InProcess(lambda keys, scale: keys[0] + torch.tensor([0, 0, 1.0]))
    said = judge(measured_exercise().public_examples(), unscaled)
    assert said.mistake == "the scale is missing"
    assert "the output of attention with your query: 2 of 2 values differ" in str(said)
    hidden = judge(measured_exercise().drawn_examples("ada"), InProcess(lambda keys, scale: keys[0]), hidden=True)
    assert hidden.mistake == "the scale is missing"
    assert not re.search(r"expected 0|got 0", str(hidden))


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (None, "did you forget to return the result?"),
        (2.0, "expected a tensor of shape (3,), got the float 2.0"),
        ([1.0, 2.0, 3.0], "expected a tensor of shape (3,), got a list"),
        (torch.zeros(1, 3), "expected a tensor of shape (3,), got (1, 3)"),
        (torch.zeros(3, dtype=torch.complex64), "expected floating point values, got a complex tensor of shape (3,)"),
        (torch.zeros(3, dtype=torch.bool), "expected floating point values, got a bool tensor of shape (3,)"),
        (torch.full((3,), torch.nan), "values are NaN (not a number)"),
        (torch.full((3,), torch.inf), "values are NaN (not a number)"),
        (torch.zeros(3).to_sparse(), "expected a tensor of shape (3,), got a sparse_coo tensor"),
        (torch.zeros(3, device="meta"), "expected a tensor of shape (3,), got a"),
        ({"query": torch.zeros(3)}, "expected a tensor of shape (3,), got a dict"),
        (sympy.Symbol("q"), "expected a tensor of shape (3,), got a sympy expression"),
    ],
)
def test_a_value_that_cannot_be_measured_gets_one_sentence(value: Any, sentence: str) -> None:
    said = judge(measured_exercise().public_examples(), InProcess(lambda keys, scale: value))
    assert said.outcome == "wrong"
    assert sentence in str(said)
    hidden = judge(measured_exercise().drawn_examples("ada"), InProcess(lambda keys, scale: value), hidden=True)
    assert (hidden.outcome, hidden.earned) == ("wrong", 0)


def test_what_lies_beside_a_question_does_not_reach_the_answer() -> None:
    asked: list[Ask] = []

    class Spy(InProcess):
        def ask(self, question: Ask, seconds: float = 2.0) -> Any:
            asked.append(question)
            return super().ask(question, seconds)

    judge(measured_exercise().public_examples(), Spy(lambda keys, scale: keys[0]))
    assert len(asked) == 2
    assert not any(question.beside for question in asked)


def test_a_measure_survives_the_file_of_examples() -> None:
    stored = json.loads(json.dumps(encode(measured_exercise())))
    assert [stage["measure"] for stage in stored["stages"]] == ["attention", "attention"]
    examples = check_module._decode_examples("query", stored)
    assert judge(examples, InProcess(lambda keys, scale: -scale * keys[1])).outcome == "right"
    assert judge(examples, InProcess(lambda keys, scale: keys[0])).mistake == "the scale is missing"
    assert "measure" not in json.dumps(encode(number_exercise()))


@pytest.mark.parametrize("value", [torch.zeros(2, 4), (torch.zeros(4), torch.zeros(4)), [torch.zeros(4)] * 2])
def test_two_heads_may_come_as_one_tensor_or_one_by_one(value: Any) -> None:
    ask = Ask((torch.eye(3, 4), 0, 1, 20.0))
    weights = measures.measured("two heads", ask, Reply("value", value)).value
    assert torch.allclose(weights, torch.full((3,), 1 / 3, dtype=torch.float64))


def test_a_wrong_number_of_matrices_gets_one_sentence() -> None:
    ask = Ask(tuple(4 * row for row in torch.eye(4)))
    reply = measures.measured("self-attention", ask, Reply("value", (torch.eye(4), torch.eye(4))))
    assert (reply.outcome, reply.error) == ("unreadable", "expected 3 tensors of shape (4, 4), got a tuple")
    reply = measures.measured("self-attention", ask, Reply("value", (torch.eye(4), torch.eye(4), torch.eye(3))))
    assert reply.error == "expected a tensor of shape (4, 4), got (3, 3)"


def test_a_matrix_is_measured_by_what_it_makes_of_rows() -> None:
    ask = Ask((1, 2), beside={"rows": torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])})
    shifted = measures.measured("shifted rows", ask, Reply("value", torch.tensor([[1.0, 2.0], [3.0, 4.0]]))).value
    assert shifted.tolist() == [[1.0, 3.0], [4.0, 8.0], [3.0, 7.0]]
    reply = measures.measured("shifted rows", ask, Reply("value", torch.zeros(2)))
    assert (reply.outcome, reply.error) == ("unreadable", "expected a tensor of shape (2, 2), got (2,)")


def test_queries_and_keys_are_measured_by_their_scores() -> None:
    ask = Ask((torch.zeros(3, 1, 1, 2, 2),))
    value = torch.tensor([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 2.0], [3.0, 4.0]], [[9.0, 9.0], [9.0, 9.0]]])
    scores = measures.measured("scores", ask, Reply("value", value.view(3, 1, 1, 2, 2))).value
    assert scores.tolist() == [[[[1.0, 3.0], [2.0, 4.0]]]]
    reply = measures.measured("scores", ask, Reply("value", value[:2].view(2, 1, 1, 2, 2)))
    assert reply.error == "expected a tensor of shape (3, 1, 1, 2, 2), got (2, 1, 1, 2, 2)"


def test_a_generator_comes_by_its_seed_and_is_no_changed_input() -> None:
    ask = Ask((plain.Generator(5),))
    reply = InProcess(lambda generator: torch.rand(3, generator=generator)).ask(ask)
    assert torch.equal(reply.value, torch.rand(3, generator=torch.Generator().manual_seed(5)))
    assert not reply.changed_inputs
    assert Ask.decode(json.loads(json.dumps(ask.encode()))) == ask


def from_its_seed(generator: torch.Generator) -> Tensor:
    return torch.rand(9, generator=torch.Generator().manual_seed(generator.initial_seed()))


@pytest.mark.parametrize(
    ("answer", "again", "other", "once_more"),
    [
        (lambda generator: torch.rand(9, generator=generator), "the same result", "another result", "another result"),
        (lambda generator: torch.rand(9), "another result", "another result", "another result"),
        (lambda generator: torch.ones(9), "the same result", "the same result", "the same result"),
        (from_its_seed, "the same result", "another result", "the same result"),
    ],
)
def test_whether_chance_comes_from_the_generator_is_seen(answer: Any, again: str, other: str, once_more: str) -> None:
    seen = InProcess(answer).ask(Ask((plain.Generator(5),), take="seeds")).value
    assert seen == {
        "the same seed again": again,
        "another seed": other,
        "the same generator once more": once_more,
    }


def test_what_a_returned_loss_can_teach_is_seen() -> None:
    ask = Ask((LANGUAGE_MODEL, torch.tensor([[1, 2]])), take="learns")
    learned = InProcess(lambda model, tokens: model(tokens).mean()).ask(ask)
    assert learned.value["head.weight"] == 6 * 8
    assert not learned.changed_inputs
    assert InProcess(lambda model, tokens: model(tokens).mean().detach()).ask(ask).value == {}
    assert InProcess(lambda model, tokens: model.head(model.base(tokens).detach()).sum()).ask(ask).value.keys() == {
        "head.weight",
        "head.bias",
    }
    assert InProcess(lambda model, tokens: 1.5).ask(ask).value == 1.5


TEXT = torch.tensor([[1, *range(5, 45), 2, 0]])  # <sos>, forty words, <eos>, <pad>


@pytest.mark.parametrize(
    ("of", "wanted"),
    [
        ("what is chosen", {"words": "about 50 %", "padding": "none", "other special tokens": "some"}),
        ("targets", {"where scored": "the words that stood there", "where not scored": "changed"}),
        ("what happens", {"<mask>": "about 50 %", "another word": "about 30 %", "left as it is": "about 20 %"}),
        (
            "random words",
            {
                "special tokens": "some",
                "beyond the vocabulary": "some",
                "different words": "many",
                "from the whole vocabulary": "no",
            },
        ),
    ],
)
def test_the_masking_of_words_is_measured(of: str, wanted: dict[str, str]) -> None:
    read, target = TEXT.clone(), torch.full_like(TEXT, -100)
    target[0, :21] = TEXT[0, :21]  # <sos> and half of the words
    read[0, 1:12] = 4  # <mask>
    read[0, 12:18] = torch.tensor([9, 50, 3, 7, 8, 10])  # of which 50 and 3 are no words
    read[0, 30] = 6
    ask = Ask((TEXT, 45), beside={"of": of, "specials": 5})
    assert measures.measured("masking", ask, Reply("value", (read, target))).value == wanted


def test_only_input_and_target_can_be_measured_as_masking() -> None:
    ask = Ask((TEXT, 45), beside={"of": "targets", "specials": 5})
    for value, sentence in [
        (TEXT, "expected two tensors of shape (1, 43), the input and the target"),
        ((TEXT, TEXT[0]), "expected two tensors of shape (1, 43)"),
        ((TEXT, TEXT.float()), "expected whole numbers, got"),
    ]:
        reply = measures.measured("masking", ask, Reply("value", value))
        assert reply.outcome == "unreadable"
        assert reply.error.startswith(sentence)


BATCH = Model("Batch", {"rows": torch.arange(1), "tokens": TOKENS, "lengths": torch.tensor([TOKENS.shape[1]]),
                        "target": TOKENS, "scored": torch.arange(TOKENS.shape[1])})  # fmt: skip


def one_step(model: Any, batch: Any, optimizer: torch.optim.Optimizer, clear: bool = True) -> None:
    if clear:
        optimizer.zero_grad()
    model(batch.tokens, batch.lengths).square().mean().backward()
    optimizer.step()


def test_what_a_call_has_made_of_a_model_is_looked_at() -> None:
    before = asked(lambda model: None, LANGUAGE_MODEL, take="after")
    after = asked(one_step, LANGUAGE_MODEL, BATCH, plain.Optimizer("SGD", 0.1), changes=(0,), take="after")
    assert before.keys() == after.keys()
    assert not torch.equal(before["head.bias"], after["head.bias"])
    outputs = [
        asked(one_step, left, BATCH, plain.Optimizer("SGD", 0.1), clear, changes=(0,), take="after", then=(TOKENS,))
        for clear in (True, False)
        for left in (LANGUAGE_MODEL, replace(LANGUAGE_MODEL, gradients=0.5))
    ]
    assert torch.equal(outputs[0], outputs[1])  # old gradients are cleared
    assert torch.equal(outputs[0], outputs[2])  # there are none
    assert not torch.allclose(outputs[0], outputs[3])


def test_a_model_comes_in_the_mode_that_is_asked_for_and_its_mode_is_told() -> None:
    training = replace(LANGUAGE_MODEL, training=True)
    assert asked(lambda model: model.training, training) is True
    assert asked(lambda model: model.training, LANGUAGE_MODEL) is False
    assert asked(lambda model: model.eval(), training, take="mode") == "evaluation mode"
    assert asked(lambda model: None, training, take="mode") == "training mode"


def test_a_vocabulary_comes_by_its_words() -> None:
    words = Model("Vocabulary", {"words": ["le", "roman"]})
    assert asked(lambda vocabulary: vocabulary.encode("Le roman inconnu"), words) == [4, 5, 3]


@pytest.mark.parametrize(
    ("value", "varied"),
    [
        ([4, 5, 6, 4], True),
        ([4, 5, 4, 5], False),
        (torch.tensor([7]), True),
        ([4, torch.tensor(5), torch.tensor([6])], True),
        ([torch.tensor(5), torch.tensor(5)], False),
    ],
)
def test_variety_is_measured(value: Any, varied: bool) -> None:
    assert measures.measured("variety", Ask(), Reply("value", value)).value is varied


@pytest.mark.parametrize("value", ["le roman", [4, "roman"], torch.ones(2)])
def test_only_whole_numbers_have_variety(value: Any) -> None:
    reply = measures.measured("variety", Ask(), Reply("value", value))
    assert reply.outcome == "unreadable"
    assert reply.error.startswith("expected a list of whole numbers, got")


def test_no_test_runs_in_a_grading_mode() -> None:
    assert "NBGRADER_EXECUTION" not in os.environ


def test_runs_of_a_part_of_a_model_are_counted() -> None:
    """Of a model among the inputs or of one that is built; and weights may come as a recipe."""
    sizes = {"source_vocab_size": 7, "target_vocab_size": 7, "d_model": 8, "n_layers": 1, "n_heads": 2}
    recipe, tokens = Model("EncoderDecoder", sizes, seed=3), torch.tensor([[4, 5]])
    question = Ask((recipe, tokens), take="calls", part="encoder")

    def runs(answer: Callable[..., Any]) -> Any:
        return InProcess(answer).ask(question).value

    assert runs(lambda model, source: model(source, source)) == "once"
    assert runs(lambda model, source: [model(source, source) for _ in range(3)]) == "more than once"
    assert runs(lambda model, source: model.decoder.embedding(source)) == "never"
    assert runs(lambda model, source: None) is None

    built = replace(question, inputs=(tokens, tokens), build=sizes)
    assert InProcess(models.EncoderDecoder).ask(built).value == "once"
    weights = Model("EncoderDecoder", sizes, seed=3, spread=0.2, state=True)
    first, second = (
        InProcess(models.EncoderDecoder).ask(Ask((tokens, tokens), build=sizes, weights=given)).value
        for given in (weights, replace(weights, seed=4))
    )
    assert not torch.equal(first, second)


@pytest.mark.parametrize(
    ("y", "said"),
    [
        ([6, 4, 9, 4, 0, 0], "x one place ahead"),
        ([7, 5, 6, 4, 9, 4], "x one place behind"),
        ([6, 4, 9, 4, -100, -100], "x one place ahead, but -100 for the padding"),
        ([4, 9, 4, 0, 0, 0], "something else"),
    ],
)
def test_the_shift_of_a_target_is_told(y: list[int], said: str) -> None:
    x = torch.tensor([5, 6, 4, 9, 4, 0])
    ask = Ask((torch.arange(5, 11), plain.Generator(0), 6), beside={"of": "shift", "mask": 4, "padding": 0})
    assert measures.measured("spans", ask, Reply("value", (x, torch.tensor(y)))).value == {"y": said}


def test_how_often_a_span_is_the_first_or_the_last_is_told() -> None:
    middle, last = [5, 6, 4, 8, 4, 7, 0], [5, 6, 4, 4, 7, 8, 0]
    beside = {"of": "ends", "mask": 4, "padding": 0}
    ask = Ask((torch.arange(5, 11), plain.Generator(0), 6), take="draws", beside=beside)
    for wholes, said in (([middle] * 9 + [last], "seldom"), ([middle] * 4 + [last], "often")):
        draws = [(torch.tensor(whole[:-1]), torch.tensor(whole[1:])) for whole in wholes]
        told = measures.measured("spans", ask, Reply("value", draws)).value
        assert list(told.values()) == ["seldom", said]
