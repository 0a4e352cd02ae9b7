"""What is measured of answers in notebook 18: one part of a result, of which a stage says where to look."""

from __future__ import annotations

from typing import Any

from tutor.checking.answers import Question
from tutor.checking.compare import name_of
from tutor.checking.measures.registry import NotMeasured, measure


def _parts(value: Any, count: int) -> tuple[Any, ...] | list[Any]:
    if not isinstance(value, tuple | list) or len(value) != count:
        raise NotMeasured(f"expected {count} values, got {name_of(value)}")
    return value


@measure("first of three values", "the first value")
def _first(ask: Question, value: Any) -> Any:
    """Returns the first of three values."""
    return _parts(value, 3)[0]


@measure("codes", "the codes")
def _codes(ask: Question, value: Any) -> Any:
    """Returns the codes, of codes and scales."""
    return _parts(value, 2)[0]


@measure("rows of zeros", "of the rows of zeros")
def _of_zeros(ask: Question, value: Any) -> dict[str, Any]:
    """Returns codes and scales of those rows of a matrix `(r, c)` that are zeros; scales may stand in a column.

    Of the others it is only told whether all their codes are 0, too, so that who finds only zeros is not right.
    """
    zeros = ~ask.inputs[0].any(dim=1)
    codes, scales = _parts(value, 2)
    if len(codes) != len(zeros) or scales.numel() != len(zeros):
        raise NotMeasured(f"expected codes and scales of {len(zeros)} rows, got {name_of(codes)} and {name_of(scales)}")
    found = {"their codes": codes[zeros], "their scales": scales.flatten()[zeros]}
    others = {True: "have codes other than 0", False: "have codes of 0 alone"}
    return found | ({} if bool(zeros.all()) else {"the other rows": others[bool(codes[~zeros].any())]})
