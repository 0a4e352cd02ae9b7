"""What is measured of answers in notebook 08: what attention gives out with a query, or with matrices."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from tutor.checking.answers import Question
from tutor.checking.measures.registry import as_tensor, measure


@measure("attention", "the output of attention with your query")
def _one_head(ask: Question, value: Any) -> Tensor:
    """Returns the output of attention for one query: see `_outputs`."""
    return _outputs(ask, as_tensor(value, (ask.inputs[0].shape[-1],)).unsqueeze(0))


@measure("leads", "by how much each score with your query is above the lowest")
def _leads(ask: Question, value: Any) -> Tensor:
    """Returns by how much the score of each key, a row of the first input `(n, d)`, is above the lowest one, `(n,)`.

    Less than a thousandth is none: that much is left of rounding, which differs from one processor to another.
    """
    keys: Tensor = ask.inputs[0].to(torch.float64)
    scores = keys @ as_tensor(value, (keys.shape[-1],))
    return F.threshold(scores - scores.min(), 1e-3, 0.0)


@measure("two heads", "the mean output of attention with your two queries")
def _two_heads(ask: Question, value: Any) -> Tensor:
    """Returns the mean of the outputs of attention for two queries: see `_outputs`."""
    return _outputs(ask, as_tensor(value, (2, ask.inputs[0].shape[-1])))


def _outputs(ask: Question, queries: Tensor) -> Tensor:
    """Returns the output of attention, the mean over the heads, one query `(d,)` a head.

    Keys are `extra["keys"]` `(n, d)` or `(m, n, d)`, else the first input. Values are `extra["values"]` `(n, w)`,
    else one-hot, so that the output `(n,)` is the list of weights.
    """
    keys: Tensor = ask.extra.get("keys", ask.inputs[0]).to(torch.float64)
    values: Tensor = ask.extra.get("values", torch.eye(keys.shape[-2])).to(torch.float64)
    weights = torch.softmax(keys @ queries.T, dim=-2)  # (..., n, h), the softmax runs over the keys
    return weights.mean(dim=-1) @ values  # (..., w)


@measure("self-attention", "the outputs c1 and c2 (two rows) with your matrices")
def _self_attention(ask: Question, value: Any) -> Tensor:
    """Returns c1 and c2, `(2, d)`, of x1 = u_d + u_b, x2 = u_a, x3 = u_c + u_b, for K, Q and V of shape `(d, d)`."""
    u_a, u_b, u_c, u_d = (vector.to(torch.float64) for vector in ask.inputs)
    width = u_a.shape[0]
    key_matrix, query_matrix, value_matrix = as_tensor(value, (3, width, width))
    x = torch.stack([u_d + u_b, u_a, u_c + u_b])  # (3, d)
    keys, queries, values = x @ key_matrix.T, x @ query_matrix.T, x @ value_matrix.T  # (3, d) each
    outputs: Tensor = torch.softmax(queries @ keys.T, dim=-1) @ values
    return outputs[:2]
