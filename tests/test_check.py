"""`check()` itself: how it finds its exercise, and what it does under nbgrader."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from helpers import check as check_module
from helpers.check import check, public_examples
from tests.checking import right_mask


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


def test_no_test_runs_in_a_grading_mode() -> None:
    assert "NBGRADER_EXECUTION" not in os.environ


def test_the_second_failure_offers_a_hint_and_a_right_answer_ends_it(
    capsys: pytest.CaptureFixture[str], mode: object
) -> None:
    def said(answer: object) -> str:
        check(answer, "causal_mask")
        return capsys.readouterr().out

    def wrong(size: int) -> None:
        """Returns nothing."""

    offer = "`hint(causal_mask)` shows a hint; it costs nothing."
    assert [offer in said(answer) for answer in (wrong, wrong, wrong, right_mask, wrong)] == [
        False,
        True,
        True,
        False,
        False,
    ]
