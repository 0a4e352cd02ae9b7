"""What is measured of answers in notebook 02: what a matrix does to positions, what queries and keys score."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tutor.checking.answers import Question
from tutor.checking.measures.registry import as_tensor, measure


@measure("shifted rows", "what your matrix makes of encoded positions, one a row")
def _shifted(ask: Question, value: Any) -> Tensor:
    """Returns what a `(d, d)` matrix makes of the rows of `extra["rows"]` `(m, d)`."""
    rows: Tensor = ask.extra["rows"].to(torch.float64)
    shifted: Tensor = rows @ as_tensor(value, (rows.shape[-1],) * 2).T
    return shifted


@measure("scores", "the scores of your queries and keys")
def _scores(ask: Question, value: Any) -> Tensor:
    """Returns the scores `(..., n, n)` of queries `value[0]` and keys `value[1]`, a value as large as the input."""
    queries, keys = as_tensor(value, tuple(ask.inputs[0].shape))[:2]
    scores: Tensor = queries @ keys.transpose(-2, -1)
    return scores
