"""`by_hand`: right, or the known mistake whose result a student has worked out."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tutor import by_hand
from tutor.checking.by_hand import alike, at, leaves, shape
from tutor.hands import judged

HINTS = {"too late": "Mask first.", "no mask": "Use the mask."}
EXAMPLE = {
    "wanted": [[1.0, 0.0], [0.25, 0.75]],
    "tolerance": 0.01,
    "mistakes": {"too late": [[0.5, 0.0], [0.25, 0.75]], "no mask": [[0.5, 0.5], [0.25, 0.75]]},
}


@pytest.mark.parametrize(
    ("yours", "said"),
    [
        ([[1, 0], [0.25, 0.75]], "right."),
        ([(1.004, -0.004), (0.251, 0.749)], "right."),
        (torch.tensor([[1.0, 0.0], [0.25, 0.75]]), "right."),
        ([[0.5, 0], [0.25, 0.75]], "this looks like: too late. Mask first."),
        ([[0.5, 0.5], [0.25, 0.75]], "this looks like: no mask. Use the mask."),
        ([[1, 0], [0.3, 0.75]], "row 2, value 1 is not right yet, all others are."),
        ([[1, 1], [0.3, 0.75]], "row 1, value 2 is not right yet; 2 of the 4 values are not."),
        ([[1, 0]], "expected 2 lists of 2 values, got 1 list of 2 values."),
        ([1, 0, 0.25, 0.75], "expected 2 lists of 2 values, got 4 values."),
        ([[1, 0], [1]], "expected 2 lists of 2 values, got 3 values in 2 lists of unequal length."),
        (1, "expected 2 lists of 2 values, got one value."),
        ([], "expected 2 lists of 2 values, got none."),
        ([["1", "0"], ["0.25", "0.75"]], "row 1, value 1 is not right yet; 4 of the 4 values are not."),
    ],
)
def test_what_is_said_of_values(yours: Any, said: str) -> None:
    told = judged("weights", yours, EXAMPLE, HINTS)
    assert told.sentence == said
    assert told.is_right == (said == "right.")
    assert said.split(".")[0] in told._repr_html_()
    assert str(told) == f"weights, by hand: {said}"


@pytest.mark.parametrize(
    ("yours", "said"), [(3, "right."), (4, "that is not right yet."), (5, "this looks like: no mask. Use the mask.")]
)
def test_a_single_value(yours: int, said: str) -> None:
    example = {"wanted": 3, "tolerance": 0.01, "mistakes": {"no mask": 5}}
    assert judged("count", yours, example, HINTS).sentence == said


def test_a_mistake_of_another_shape_is_named() -> None:
    example = EXAMPLE | {"mistakes": {"no mask": [1.0, 0.0, 0.25]}}
    assert judged("weights", [1, 0, 0.25], example, HINTS).sentence == "this looks like: no mask. Use the mask."
    assert judged("weights", [1, 0, 0.3], example, HINTS).sentence == "expected 2 lists of 2 values, got 3 values."


def test_texts_and_truths_are_compared_as_they_are() -> None:
    assert alike("le ", "le", 0.01)
    assert not alike("la", "le", 0.01)
    assert alike(1, True, 0.01)
    assert not alike(None, False, 0.01)
    assert not alike("1", 1, 0.01)


def test_positions_are_said_in_words() -> None:
    assert [at(one) for one in ((2,), (0, 1), (0, 1, 2))] == ["value 3", "row 1, value 2", "block 1, row 2, value 3"]
    assert shape(dict(leaves([[[1, 2], [3, 4]]]))) == "1 list of 2 lists of 2 values"


def test_dots_say_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    by_hand("attention_weights", ...)
    by_hand("attention_weights", [[1, 0, 0], [..., 0.88, 0], [0.09, 0.24, 0.67]])
    assert capsys.readouterr().out == ""


def test_the_example_of_notebook_01(capsys: pytest.CaptureFixture[str]) -> None:
    by_hand("attention_weights", [[1, 0, 0], [0.12, 0.88, 0], [0.09, 0.24, 0.67]])
    assert capsys.readouterr().out == "attention_weights, by hand: right.\n"
    by_hand("attention_weights", [[0.67, 0, 0], [0.11, 0.79, 0], [0.09, 0.24, 0.67]])
    assert "this looks like: the mask comes after the softmax." in capsys.readouterr().out


def test_nothing_is_said_where_marks_are_given(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    by_hand("attention_weights", 1)
    by_hand("no exercise", 1)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("name", ["no_exercise", "causal_mask", "../hints", "*"])
def test_an_exercise_without_an_example_is_refused_in_one_sentence(name: str) -> None:
    with pytest.raises(LookupError, match="there is no example by hand for"):
        by_hand(name, 1)
