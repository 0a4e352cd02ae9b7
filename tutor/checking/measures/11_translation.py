"""What is measured of answers in notebook 11: whether tokens are whole numbers."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from tutor.checking.answers import Question
from tutor.checking.compare import dtype_kind, name_of
from tutor.checking.measures.registry import NotMeasured, measure


@measure("whole numbers", "the tokens")
def _whole_numbers(ask: Question, value: Any) -> Any:
    """Returns tensors as they are, if they hold whole numbers: tokens are looked up in a vocabulary."""
    for part in value if isinstance(value, tuple | list) else [value]:
        if isinstance(part, Tensor) and dtype_kind(part) != "integer":
            raise NotMeasured(f"expected whole numbers, got {name_of(part)}: tokens are looked up by their number")
    return value
