"""What is measured of answers in notebook 12: what a sweep trains and saves."""

from __future__ import annotations

from typing import Any

from tutor.checking.answers import Question
from tutor.checking.measures.registry import NotMeasured, measure


@measure("sweep", "what a sweep does, told by its calls")
def _sweep(ask: Question, value: Any) -> Any:
    """Returns what the log of a sweep (`Question.probe`) shows: calls of `train_one(setting)` and `save(table)`.

    With `extra["of"]` "trained": the names of the settings trained, in order. With "saved": the table last saved when
    each training began and when all was over; before the first save that is the third input, the table so far; at the
    end whether the sweep was interrupted. What is no log, but what the sweep returns or leaves, stays as it is.
    """
    if ask.probe != "log":
        return value
    try:
        calls = [(name, given[0]) for name, given in value if name != "interrupted"]
        trained = [setting["name"] for name, setting in calls if name == "train_one"]
    except (TypeError, ValueError, LookupError):
        raise NotMeasured("expected train_one(setting) and save(table), each with one argument") from None
    if ask.extra["of"] == "trained":
        return trained
    tables: list[Any] = [ask.inputs[2]]
    for name, table in calls:
        if name == "train_one":
            tables.append(tables[-1])
        else:
            tables[-1] = table
    return [*tables, "interrupted" if any(name == "interrupted" for name, _ in value) else "not interrupted"]
