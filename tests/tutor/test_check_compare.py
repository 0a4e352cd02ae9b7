"""Sentences that say how a value differs from the wanted one."""

from typing import Any

import pytest
import torch

from tutor.checking.compare import difference


@pytest.mark.parametrize(
    ("wanted", "given", "sentence"),
    [
        ((1, 2), (1, None), "value 2 of 2: expected a number, got None"),
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


def test_where_the_number_type_counts_no_value_does() -> None:
    codes = torch.tensor([1, -2], dtype=torch.int8)
    assert difference(codes, codes + 1, "dtype") is None
    assert difference(codes, codes.long(), "dtype") == "expected torch.int8, got torch.int64"
    assert difference(codes, codes[:1], "dtype") == "expected shape (2,), got (1,)"
    assert difference(codes, codes.long(), "shape") is None
