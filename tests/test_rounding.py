"""A replay allows what another processor rounds otherwise, and nothing else."""

import nbformat
import pytest

from tests.rounding import Shown

LAST_DIGIT = [
    ("reward 1.44, perplexity 13.20.", "reward 1.43, perplexity 13.21."),
    ("| 9.9 |", "| 10.0 |"),
    ("   9.99 a", "  10.00 a"),  # a column of a table
    ("1.20e-05", "1.21e-05"),
    ("-0.00", "0.00"),
    ("−0.31", "−0.32"),
    ("0.1", "0.0999"),  # as %g writes it
]
MORE = [
    ("reward 1.44", "reward 1.42"),
    ("-0.31", "0.31"),
    ("1.2e-05", "1.2e-04"),
    ("71 of 200", "72 of 200"),  # whole numbers are counted, not measured
    ("torch 2.13.0", "torch 2.14.0"),
    ("0.5 0.5", "0.5"),
    ("loss 0.51", "cost 0.51"),
    ("nan", "0.0"),
    ("1.0", "1"),
]


@pytest.mark.parametrize(("first", "second"), LAST_DIGIT)
def test_the_last_digit_may_differ_by_one(first: str, second: str) -> None:
    assert Shown(first) == second
    assert Shown(second) == first


@pytest.mark.parametrize(("first", "second"), MORE)
def test_nothing_else_may(first: str, second: str) -> None:
    assert Shown(first) != second
    assert Shown(second, share=0.01) != first


def test_what_is_trained_may_differ_by_a_hundredth() -> None:
    assert Shown("perplexity 13.21", share=0.01) == "perplexity 13.30"
    assert Shown("perplexity 13.21", share=0.01) != "perplexity 13.40"
    assert Shown("perplexity 13.21") != "perplexity 13.30"


@pytest.mark.parametrize(
    ("stored", "tags", "passed"),
    [
        ("14.41\n", [], 1),
        ("14.5\n", [], 1),
        ("14.50\n", [], 0),
        ("14.50\n", ["experiment"], 1),
        ("14.60\n", ["experiment"], 0),
    ],
)
def test_a_replayed_cell_is_compared_so(stored: str, tags: list[str], passed: int, pytester: pytest.Pytester) -> None:
    cell = nbformat.v4.new_code_cell("print('14.40')", execution_count=1, metadata={"tags": tags})
    cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=stored)]
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), pytester.path / "shown.ipynb")
    pytester.makeconftest("from tests import rounding\nrounding.use()\n")
    result = pytester.runpytest_inprocess("--nbval", "--nbval-current-env", "shown.ipynb")
    result.assert_outcomes(passed=passed, failed=1 - passed)
