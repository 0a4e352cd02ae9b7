"""Slips in right answers, and what of them gets through."""

import ast

import pytest

from benchmarks import slips
from grading.authoring import bank
from grading.definitions import exercise


def test_each_slip_is_a_program_of_its_own() -> None:
    made = list(slips.with_a_slip("def half(x: int) -> float:\n    if x > 1:\n        return x / 2\n    return 0.5\n"))
    assert len(set(made)) == len(made) > 10
    assert all(ast.parse(one) for one in made)
    assert any("x >= 1" in one for one in made)
    assert any("x * 2" in one for one in made)
    assert any("x / 3" in one for one in made)
    assert any("pass" in one for one in made)


def test_no_slip_in_a_mask_gets_through(capsys: pytest.CaptureFixture[str]) -> None:
    found = slips.examine("01_causal_mask", exercise.load_one("01_causal_mask", "padding_mask"), 1)
    assert found == slips.Count(tried=7)
    assert "0 of 7 get through" in capsys.readouterr().out


def test_what_gives_another_result_on_a_corner_is_counted() -> None:
    def answer(body: str) -> bank.BankAnswer:
        source = f"def layers_to_reach(size, window):\n    return {body}\n"
        return bank.BankAnswer("13_recurrence", "layers_to_reach", True, "one line", "", source)

    assert not slips.changes_a_corner(answer("-(-(size - 1) // (window - 1))"))
    assert slips.changes_a_corner(answer("-(-(min(size, 1000) - 1) // (window - 1))"))


def test_a_row_of_the_table_says_what_was_counted() -> None:
    assert slips.Count(1200, 30, 24).row("14", "GPT") == "| 14 | GPT | 1,200 | 30 | 24 | 2.0 % |"
