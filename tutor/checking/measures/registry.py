"""Measure an answer: judge what it does where many answers are right, and not what it is.

A stage that names a measure compares what the measure makes of an answer's value: of a query, for example, what
attention gives out when it is asked with this query. Questions carry what a measure needs beside the inputs
(`Question.extra`). A measure takes the question and a plain value, and returns a plain value; it knows the task, not
its solution. Those of a notebook are in the file of its name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tutor.checking.answers import Question, Reply
from tutor.checking.compare import dtype_kind, name_of

Measure = Callable[[Question, Any], Any]
MEASURES: dict[str, tuple[str, Measure]] = {}  # name -> (what it measures, as a sentence about it begins; the function)
SAYS_WHY = "says why"  # measures no value, but an exception that is wanted: whether it says anything
INPUTS_KEPT = "inputs kept"  # measures the call and not its value: whether what was given is left as it was


def measure(name: str, what: str) -> Callable[[Measure], Measure]:
    """Decorates a measure: the name by which a stage asks for it, and what it measures, as a sentence about it begins.

    Raises:
        ValueError: when another one has this name.
    """

    def add(function: Measure) -> Measure:
        if name in MEASURES:
            raise ValueError(f"two measures are called {name!r}; expected a name of its own.")
        MEASURES[name] = what, function
        return function

    return add


class NotMeasured(ValueError):
    """The value has not the kind or the shape that is measured; the message is one sentence."""


def measured(name: str, ask: Question, reply: Reply) -> Reply:
    """Returns the reply with its value measured; a value that cannot be measured becomes an unreadable reply.

    Args:
        name: one of `MEASURES`, `INPUTS_KEPT`, or "" or `SAYS_WHY` to leave the reply as it is.
    """
    if name in ("", SAYS_WHY) or reply.outcome != "value" or reply.value is None:
        return reply
    if name == INPUTS_KEPT:
        return dataclasses.replace(reply, value=reply.changed_inputs or "kept")
    try:
        return dataclasses.replace(reply, value=MEASURES[name][1](ask, reply.value))
    except NotMeasured as problem:
        error = str(problem)
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError):  # of any odd value
        error = f"the result has not the form that is asked for: got {name_of(reply.value)}"
    return dataclasses.replace(reply, outcome="unreadable", value=None, error=error)


def as_tensor(value: Any, shape: tuple[int, ...]) -> Tensor:
    """Returns a tensor of this shape in double precision; a tuple or list of its rows will do as well."""
    if isinstance(value, tuple | list) and len(shape) > 1:
        if len(value) != shape[0]:
            raise NotMeasured(f"expected {shape[0]} tensors of shape {shape[1:]}, got {name_of(value)}")
        return torch.stack([as_tensor(row, shape[1:]) for row in value])
    if not isinstance(value, Tensor):
        raise NotMeasured(f"expected a tensor of shape {shape}, got {name_of(value)}")
    if tuple(value.shape) != shape:
        raise NotMeasured(f"expected a tensor of shape {shape}, got {tuple(value.shape)}")
    if dtype_kind(value) not in ("floating", "integer"):
        raise NotMeasured(f"expected floating point values, got {name_of(value)}")
    return value.to(torch.float64)
