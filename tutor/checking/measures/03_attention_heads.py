"""What is measured of answers in notebook 03: whether what a dict holds are shapes."""

from __future__ import annotations

from typing import Any

from tutor.checking.answers import Question
from tutor.checking.compare import name_of
from tutor.checking.measures.registry import NotMeasured, measure


@measure("shapes", "what the entries of your dict are")
def _shapes(ask: Question, value: Any) -> dict[str, str]:
    """Returns for each entry of a dict whether it is a shape: a tuple or a list of whole numbers."""
    if not isinstance(value, dict):
        raise NotMeasured(f"expected a dict, got {name_of(value)}")

    def kind(shape: Any) -> str:
        if not isinstance(shape, tuple | list):
            return name_of(shape)
        return ", ".join(sorted({"whole numbers" if type(size) is int else name_of(size) for size in shape}))

    return {str(name): kind(shape) for name, shape in value.items()}
