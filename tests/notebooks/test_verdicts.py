"""The reader of verdicts: what the examiner says comes through, and nothing that a file can hold makes it fail."""

from typing import Any

import pytest

from grading.notebooks import verdicts
from grading.notebooks.verdicts import Line, read_verdict
from tutor.checking import verdict as examiners

SAID = examiners.Verdict(
    "mask",
    "wrong",
    0.5,
    2.0,
    (("shape", True), ("values", False)),
    mistake="upside down",
    hint="Turn it.",
    notes=("it prints",),
    graded=True,
)


def check(*outputs: Any, points: Any = 2.0) -> dict[str, Any]:
    """Returns a check cell with these outputs, as a file holds it."""
    settings = {"grade_id": "mask_check", "grade": True, "locked": True, "solution": False, "points": points}
    return {"cell_type": "code", "metadata": {"nbgrader": settings}, "outputs": list(outputs)}


def bundle(data: Any) -> dict[str, Any]:
    return {"output_type": "display_data", "data": {verdicts.MIME: data}}


def test_what_the_examiner_says_comes_through() -> None:
    assert verdicts.MIME == examiners.MIME
    assert set(examiners.SAID) - {"not run"} == verdicts.OUTCOMES  # which only a student's own notebook says
    read = read_verdict(check(bundle(SAID.as_data())))
    assert read is not None
    assert (read.outcome, read.said, read.headline) == ("wrong", "not yet right", SAID.headline)
    assert (read.earned, read.points, read.mistake, read.hint) == (0.5, 2.0, "upside down", "Turn it.")
    assert read.lines == (
        Line("passed", "shape"),
        Line("failed", "values"),
        Line("mistake", "This looks like: upside down. Turn it."),
        Line("note", "it prints"),
    )


def test_the_last_verdict_counts_even_where_it_cannot_be_read() -> None:
    right = bundle(SAID.as_data() | {"outcome": "right", "earned": 2.0})
    text = {"output_type": "stream", "name": "stdout", "text": "mask: all checks passed - 2 of 2 points"}
    read = read_verdict(check(right, bundle(SAID.as_data()), text))
    assert read is not None
    assert read.earned == 0.5
    assert read_verdict(check(right, bundle("odd"))) is None


def test_nobody_earns_more_than_the_points_of_the_check() -> None:
    for earned, counted in ((1000.0, 2.0), (-3, 0.0)):
        read = read_verdict(check(bundle(SAID.as_data() | {"earned": earned, "points": 5000})))
        assert read is not None
        assert (read.earned, read.points) == (counted, 2.0)


def test_a_check_that_an_error_has_stopped_says_so() -> None:
    secret = read_verdict(check({"output_type": "error", "ename": "ValueError", "evalue": "SECRET"}))
    assert secret is not None
    assert (secret.outcome, secret.headline) == ("crashed", "The check stopped with ValueError")
    late = read_verdict(check({"output_type": "error", "ename": "CellTimeoutError", "evalue": "60 s"}))
    assert late is not None
    assert (late.outcome, late.headline) == ("late", "The check stopped with CellTimeoutError: 60 s")


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, [[]], True, float("nan"), 10**400, {"x": {}}])
def test_nothing_that_a_file_can_hold_makes_it_fail(value: Any) -> None:
    for key in SAID.as_data():
        read_verdict(check(bundle(SAID.as_data() | {key: value})))
    read_verdict(check(bundle(SAID.as_data() | {"lines": [value, {"kind": value, "text": value}]})))
    for cell in (value, {"outputs": value}, check(value), check({"data": value}), check(bundle(value), points=value)):
        assert read_verdict(cell) is None
    for name in ("ename", "evalue"):
        read_verdict(check({"output_type": "error", name: value}, points=value))
