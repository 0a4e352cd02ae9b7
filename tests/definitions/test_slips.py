"""Slips in right answers, and what of them gets through."""

import ast

import pytest

from benchmarks import slips
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
    assert not slips.examine("01_causal_mask", exercise.load_one("01_causal_mask", "padding_mask"), 1)
    assert "0 of 7 get through" in capsys.readouterr().out
