"""What is measured of answers in notebook 04: where a head comes from."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tutor.checking.answers import Question
from tutor.checking.compare import name_of
from tutor.checking.measures.registry import NotMeasured, measure


@measure("new head", "where the head comes from, told by its scores")
def _new_head(ask: Question, value: Any) -> str:
    """Returns in words whether the scores `(b, C)` are those that rows of the old head give, `extra["old"]` `(b, V)`.

    The mean of all rows counts as one of them. Up to a bias, which adds the same to a class of all texts.
    """
    old: Tensor = ask.extra["old"]
    if not isinstance(value, Tensor) or value.dim() != 2 or len(value) != len(old):
        return "a new head"  # another stage reports the shape
    scores, rows = ((part - part.mean(dim=0)).T for part in (value, old))
    rows = torch.cat([rows, rows.mean(dim=0, keepdim=True)])  # (V + 1, b)
    close = (scores[:, None] - rows[None]).abs().amax(dim=-1) < 1e-4  # (C, V + 1)
    return "rows of the old head" if bool(close.any(dim=1).all()) else "a new head"


@measure("rows alike", "whether all rows get the same numbers")
def _rows_alike(ask: Question, value: Any) -> bool:
    """Returns whether all rows of a tensor `(b, ...)` hold the same numbers, up to rounding; of `(1, n, ...)` the n."""
    if not isinstance(value, Tensor) or value.dim() < 2:
        raise NotMeasured(f"expected a tensor with a row for each text, got {name_of(value)}")
    if value.dim() > 2 and len(value) == 1:
        value = value[0]
    return torch.allclose(value, value[:1].expand_as(value), atol=1e-5)
