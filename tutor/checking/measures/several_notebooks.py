"""What is measured of answers in more than one notebook."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tutor.checking.answers import Question
from tutor.checking.compare import name_of
from tutor.checking.measures.registry import NotMeasured, as_tensor, measure


@measure("at places", "some entries of a large result, one after the other")
def _at_positions(ask: Question, value: Any) -> Tensor:
    """Returns the numbers of a large tensor at `extra["places"]`, indices `(m, axes)`; its shape `extra["shape"]`."""
    shape = tuple(ask.extra["shape"])
    if not isinstance(value, Tensor):
        raise NotMeasured(f"expected a tensor of shape {shape}, got {name_of(value)}")
    if tuple(value.shape) != shape:
        raise NotMeasured(f"expected a tensor of shape {shape}, got {tuple(value.shape)}")
    return value[ask.extra["places"].unbind(dim=1)]


@measure("random start", "what the new table holds")
def _random_start(ask: Question, value: Any) -> str:
    """Returns in words what was added to zeros `(1, n, d)`: rows of a random table, or of which other one.

    `extra["sinusoids"]` `(n, d)` is the table of sines and cosines. With `extra["turned"]` the rows of the table are
    the columns of what was added.
    """
    rows = as_tensor(value, tuple(ask.inputs[0].shape))[0]
    rows = rows.T if ask.extra.get("turned") else rows
    if not bool(rows.isfinite().all()):
        return "not numbers"
    if len(rows.mul(1e6).round().unique(dim=0)) < len(rows):
        return "some rows are alike"
    if not bool((rows - rows[:, :1]).abs().amax(dim=1).gt(1e-6).all()):
        return "all numbers of a row are alike"
    if torch.allclose(rows, ask.extra["sinusoids"].to(torch.float64), atol=1e-3):
        return "sinusoids"
    steps = rows.flatten().diff()
    return "counted numbers" if torch.allclose(steps, steps[:1].expand_as(steps), atol=1e-6) else "random numbers"
