"""What is measured of answers in notebook 14: pairs."""

from __future__ import annotations

from typing import Any

from tutor.checking.answers import Question
from tutor.checking.compare import name_of
from tutor.checking.measures.registry import NotMeasured, measure


@measure("pairs", "the pairs")
def _pairs(ask: Question, value: Any) -> Any:
    """Returns a list of pairs as it is; each is a tuple, which is equal to another tuple and to no list."""
    strange = [pair for pair in value if not isinstance(pair, tuple)] if isinstance(value, tuple | list) else []
    if strange:
        raise NotMeasured(f"expected each pair to be a tuple, got {name_of(strange[0])}")
    return value
