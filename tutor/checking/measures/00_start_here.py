"""What is measured of answers in notebook 00: numbers, in any order."""

from __future__ import annotations

from typing import Any

from tutor.checking.answers import Question
from tutor.checking.measures.registry import measure


@measure("any order", "the numbers, in order of size")
def _any_order(ask: Question, value: Any) -> Any:
    """Returns the numbers of a tuple or list, sorted; any other value as it is."""
    numbers = isinstance(value, tuple | list) and all(isinstance(part, int | float) for part in value)
    return sorted(value) if numbers else value
