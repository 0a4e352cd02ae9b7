"""`guess` and `reveal`: what a student expected beside what came out, and nothing where nobody guessed."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch

from tutor import guess, guesses, overview, reveal
from tutor.notebooks import notebooks


@pytest.fixture(autouse=True)
def no_guess_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guesses, "_made", {})
    monkeypatch.setattr(overview, "_guesses", {})


def test_who_leaves_the_dots_is_asked_nothing_and_told_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    guess("the loss", ...)
    reveal("the loss", 3.0)
    assert capsys.readouterr().out == ""
    assert overview.of_guesses(overview._guesses.values()) == ""


def test_what_nobody_was_asked_is_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    reveal("the loss", 3.0)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("yours", "measured", "sentence"),
    [
        (10, 41_000, "You guessed 10; it is 41,000, 4,100 times as much."),
        (0.7, torch.tensor(0.6652), "You guessed 0.7; it is 0.665."),
        (5000, 0.5, "You guessed 5,000; it is 0.5, 1/10,000 of that."),
        (41_231, 41_000, "You guessed 41,231; it is 41,000."),
        (0, 2, "You guessed 0; it is 2."),
        (-2, 2, "You guessed -2; it is 2."),
        (3, math.inf, "You guessed 3; it is inf."),
        (0.05, 0.5, "You guessed 0.05; it is 0.5, 10 times as much."),
        (0.3, 0.55, "You guessed 0.3; it is 0.55."),
        (0.25, 0.25, "You guessed 0.25, and so it is."),
    ],
)
def test_a_number_is_told_beside_what_was_measured(
    yours: float, measured: Any, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    guess("it", yours)
    reveal("it", measured)
    assert capsys.readouterr().out.splitlines()[-1] == sentence


@pytest.mark.parametrize(
    ("yours", "close"), [(2, True), (1, True), (4, True), (0.99, False), (4.01, False), (-2, False)]
)
def test_a_number_is_close_within_a_factor_of_two(yours: float, close: bool) -> None:
    assert guesses.Comparison("it", 1.05 * yours, 2.1).is_close is close


def test_a_small_count_is_close_only_when_it_is_right() -> None:
    assert [guesses.Comparison("it", yours, 7.0).is_close for yours in (7.0, 8.0, 6.9)] == [True, False, False]
    assert guesses.Comparison("it", 12.0, 11.0).is_close


@pytest.mark.parametrize(
    ("yours", "measured", "close"),
    [(0.6, 0.5, True), (0.4, 0.5, True), (0.61, 0.5, False), (0.9, 1.0, True), (0.5, 1.0, False), (0.01, 0.05, False)],
)
def test_a_share_is_close_within_a_tenth_and_a_factor_of_two(yours: float, measured: float, close: bool) -> None:
    assert guesses.Comparison("it", yours, measured).is_close is close


def test_zero_is_close_to_nothing_but_zero() -> None:
    assert guesses.Comparison("it", 0.0, 0.0).is_close
    assert not guesses.Comparison("it", 1e-9, 0.0).is_close


def test_what_takes_time_is_worked_out_only_for_a_guess_and_draws_no_random_number_of_the_notebook(
    capsys: pytest.CaptureFixture[str],
) -> None:
    drawn = list[float]()

    def measure() -> float:
        drawn.append(float(torch.rand(())))
        return 3.0

    before = torch.get_rng_state()
    reveal("it", measure)
    assert drawn == []
    guess("it", 3)
    reveal("it", measure)
    assert len(drawn) == 1
    assert torch.equal(torch.get_rng_state(), before)
    assert capsys.readouterr().out.splitlines()[-1] == "You guessed 3, and so it is."


def test_one_of_several_and_an_order(capsys: pytest.CaptureFixture[str]) -> None:
    guess("which", " SCRATCH", among=["pretrained", "scratch"])
    reveal("which", "pretrained")
    guess("order", ["b", "a", "c"], among=["a", "b", "c"])
    reveal("order", ("b", "a", "c"))
    told = capsys.readouterr().out.splitlines()
    assert told[1] == "You guessed scratch; it is pretrained."
    assert told[3] == "You guessed b, a, c, and so it is."
    assert overview._guesses == {"which": False, "order": True}


@pytest.mark.parametrize(
    ("yours", "among", "expected"),
    [
        ("ten", (), "a number, such as 0.5 or 40"),
        (True, (), "a number"),
        (math.nan, (), "a number"),
        ("both", ("a", "b"), 'one of "a", "b"'),
        (["a"], ("a", "b"), 'all of "a", "b", as a list'),
        (1, ("a", "b"), 'one of "a", "b"'),
    ],
)
def test_what_is_no_guess_gets_one_sentence_and_is_not_told(
    yours: Any, among: tuple[str, ...], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    guess("it", yours, among)
    reveal("it", 1.0)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("That is no guess yet: expected ")
    assert expected in line


def test_a_guess_taken_back_is_gone(capsys: pytest.CaptureFixture[str]) -> None:
    guess("it", 3)
    guess("it", ...)
    reveal("it", 3)
    assert capsys.readouterr().out.splitlines() == ["Noted: 3. The cell after the experiment compares."]


def test_nothing_acts_where_marks_are_given(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    guess("it", 3)
    reveal("it", 3)
    assert capsys.readouterr().out == ""


def test_progress_tells_how_many_guesses_were_close(capsys: pytest.CaptureFixture[str]) -> None:
    for number, yours in enumerate((10, 30, 100)):
        guess(f"it {number}", yours)
        reveal(f"it {number}", 20)
    sentence = "Guesses: 2 of 3 close (within a factor of two, shares within 0.1)."
    progress = overview.Progress(
        notebooks()["01_causal_mask"], {}, overview.of_guesses(list(overview._guesses.values()))
    )
    assert sentence in str(progress)
    assert sentence in progress._repr_html_()


def test_progress_over_saved_notebooks_reads_what_they_tell(tmp_path: Path) -> None:
    comparison = guesses.Comparison("it", 30.0, 20.0)
    output: dict[str, Any] = {"output_type": "display_data", "metadata": {}, "data": {"text/plain": str(comparison)}}
    output["data"] |= comparison._repr_mimebundle_()
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "metadata": {"nbgrader": {"grade_id": "causal_mask_check"}}, "source": "", "outputs": []},
        {"cell_type": "code", "metadata": {"tags": ["experiment", "reveal"]}, "source": "", "outputs": [output]},
    ]
    (tmp_path / "mine.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    assert overview.table(tmp_path)[-1] == "Guesses: 1 of 1 close (within a factor of two, shares within 0.1)."
    cells[1]["outputs"] = []
    (tmp_path / "mine.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    assert overview.table(tmp_path)[-1].startswith("all ")


def test_what_a_guess_is_about_is_shown_as_text_and_runs_nothing() -> None:
    page = guesses.Comparison("<script>it</script>", "<b>", "a")._repr_html_()
    assert "<script>" not in page
    assert "&lt;b&gt;" in page
