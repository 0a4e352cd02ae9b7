"""`check()` itself: how it finds its exercise, and what it does under nbgrader."""

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from tests.tutor.checking import right_mask
from tutor import checks
from tutor.checking.answers import Question
from tutor.checking.building import build, build_inputs
from tutor.checking.calls import as_code
from tutor.checking.model_probes import state_of
from tutor.checks import EXAMPLES, check, given, public_examples
from tutor.notebooks import notebooks


@pytest.fixture
def mode(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    return lambda value: monkeypatch.setenv("NBGRADER_EXECUTION", value)


def test_check_finds_the_exercise_by_the_variable(capsys: pytest.CaptureFixture[str], mode: object) -> None:
    scope: dict[str, Any] = {"check": check, "torch": torch}
    exec("causal_mask = lambda size: torch.triu(torch.full((size, size), -torch.inf), 1)\ncheck(causal_mask)", scope)
    assert "causal_mask: all checks passed" in capsys.readouterr().out


def test_check_of_an_unknown_name_says_what_is_known(mode: object) -> None:
    with pytest.raises(LookupError, match=r"no exercise is called 'right_mask'; expected one of: .*padding_mask"):
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


def test_missing_examples_are_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Any, mode: object) -> None:
    monkeypatch.setattr(checks, "EXAMPLES", tmp_path / "check_examples")
    public_examples.cache_clear()
    try:
        with pytest.raises(FileNotFoundError, match="install the course again, or run `make build`"):
            check(right_mask, "causal_mask")
    finally:
        public_examples.cache_clear()


def test_no_test_runs_in_a_grading_mode() -> None:
    assert "NBGRADER_EXECUTION" not in os.environ


def test_the_second_failure_offers_a_hint_and_a_right_answer_ends_it(
    capsys: pytest.CaptureFixture[str], mode: object
) -> None:
    def output_of(answer: object) -> str:
        check(answer, "causal_mask")
        return capsys.readouterr().out

    def wrong(size: int) -> None:
        """Returns nothing."""

    offer = "`hint(causal_mask)` shows a hint; it costs nothing."
    assert [offer in output_of(answer) for answer in (wrong, wrong, wrong, right_mask, wrong)] == [
        False,
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("notebook", sorted({path.parent.name for path in EXAMPLES.glob("*/*.json")}))
def test_what_was_asked_can_be_pasted_into_a_cell(notebook: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The call runs where `torch` and `check` are, and gives the answer the very inputs of the question."""
    for name in notebooks()[notebook].exercises:
        examples = public_examples(name)[name]
        for question in [case.ask for stage in examples.stages for case in stage.cases if case.ask.build is None]:
            got = list[Any]()

            def answer(*inputs: Any, **keywords: Any) -> None:
                got.extend([*inputs, *keywords.values()])  # noqa: B023 - called within the loop

            monkeypatch.setattr(checks, "_asked", [(answer, question)])
            eval(as_code(name, question), {"torch": torch, "check": check, name: answer})
            wanted = [*build_inputs(question.inputs), *map(build, question.keywords.values())]
            assert [str(state_of(value)) for value in got] == [str(state_of(value)) for value in wanted]


def test_a_module_is_asked_with_the_weights_of_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = {"weight": torch.full((2, 3), 2.0), "bias": torch.ones(2)}
    question = Question((torch.ones(1, 3),), build={"in_features": 3, "out_features": 2}, weights=weights)
    call = as_code("Linear", question)
    assert call == (
        "check.given(0)(torch.tensor([[1.0, 1.0, 1.0]]))  # check.given(0) is Linear(in_features=3, out_features=2) "
        "with the weights of this check"
    )
    of_a_part = as_code("Model", replace(question, probe="part", part="layers.1"))
    assert of_a_part.startswith("check.given(0).get_submodule('layers.1')(torch.tensor(")
    monkeypatch.setattr(checks, "_asked", [(torch.nn.Linear, question)])
    assert eval(call, {"check": check, "torch": torch}).tolist() == [[7.0, 7.0]]
    with pytest.raises(LookupError, match="there is no number 7"):
        given(7)
    monkeypatch.setattr(checks, "_asked", [])
    with pytest.raises(LookupError, match="no check has shown a question yet"):
        given(1)


def test_of_a_long_list_the_beginning_and_the_end_are_reported() -> None:
    losses = [5.0 - n / 100 for n in range(90)]
    code = as_code("diagnose", Question((losses, "a 'quoted' text " * 30)))
    assert code.startswith("diagnose(check.given(1), check.given(2))  # check.given(1) is 90 entries, first 5.0, 4.99")
    assert "and last 4.13, 4.12, 4.11; check.given(2) is a text of 480 characters that begins with" in code
