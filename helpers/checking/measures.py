"""Measure an answer: judge what it does where many answers are right, and not what it is.

A stage that names a measure compares what the measure makes of an answer's value: of a query, for example, what
attention gives out when it is asked with this query. Questions carry what a measure needs beside the inputs
(`Ask.beside`). A measure takes the question and a plain value, and returns a plain value; it knows the task, not its
solution.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from helpers.checking.answers import Ask, Reply
from helpers.checking.compare import dtype_kind, name_of


class NotMeasured(ValueError):
    """The value has not the kind or the shape that is measured; the message is one sentence."""


def measured(measure: str, ask: Ask, reply: Reply) -> Reply:
    """Returns the reply with its value measured; a value that cannot be measured becomes an unreadable reply.

    Args:
        measure: one of `MEASURES`, `INPUTS_KEPT`, or "" to leave the reply as it is.
    """
    if not measure or reply.outcome != "value" or reply.value is None:
        return reply
    if measure == INPUTS_KEPT:
        return dataclasses.replace(reply, value="changed" if reply.changed_inputs else "kept")
    try:
        return dataclasses.replace(reply, value=MEASURES[measure][1](ask, reply.value))
    except NotMeasured as problem:
        return dataclasses.replace(reply, outcome="unreadable", value=None, error=str(problem))


def _numbers(value: Any, shape: tuple[int, ...]) -> Tensor:
    """Returns a tensor of this shape in double precision; a tuple or list of its rows will do as well."""
    if isinstance(value, tuple | list) and len(shape) > 1:
        if len(value) != shape[0]:
            raise NotMeasured(f"expected {shape[0]} tensors of shape {shape[1:]}, got {name_of(value)}")
        return torch.stack([_numbers(row, shape[1:]) for row in value])
    if not isinstance(value, Tensor):
        raise NotMeasured(f"expected a tensor of shape {shape}, got {name_of(value)}")
    if tuple(value.shape) != shape:
        raise NotMeasured(f"expected a tensor of shape {shape}, got {tuple(value.shape)}")
    if dtype_kind(value) not in ("floating", "integer"):
        raise NotMeasured(f"expected floating point values, got {name_of(value)}")
    return value.to(torch.float64)


def _one_head(ask: Ask, value: Any) -> Tensor:
    """Returns the output of attention for one query: see `_outputs`."""
    return _outputs(ask, _numbers(value, (ask.inputs[0].shape[-1],)).unsqueeze(0))


def _two_heads(ask: Ask, value: Any) -> Tensor:
    """Returns the mean of the outputs of attention for two queries: see `_outputs`."""
    return _outputs(ask, _numbers(value, (2, ask.inputs[0].shape[-1])))


def _outputs(ask: Ask, queries: Tensor) -> Tensor:
    """Returns the output of attention, the mean over the heads, one query `(d,)` a head.

    Keys are `beside["keys"]` `(n, d)` or `(m, n, d)`, else the first input. Values are `beside["values"]` `(n, w)`,
    else one-hot, so that the output `(n,)` is the list of weights.
    """
    keys: Tensor = ask.beside.get("keys", ask.inputs[0]).to(torch.float64)
    values: Tensor = ask.beside.get("values", torch.eye(keys.shape[-2])).to(torch.float64)
    weights = torch.softmax(keys @ queries.T, dim=-2)  # (..., n, h), the softmax runs over the keys
    return weights.mean(dim=-1) @ values  # (..., w)


def _self_attention(ask: Ask, value: Any) -> Tensor:
    """Returns c1 and c2, `(2, d)`, of x1 = u_d + u_b, x2 = u_a, x3 = u_c + u_b, for K, Q and V of shape `(d, d)`."""
    u_a, u_b, u_c, u_d = (vector.to(torch.float64) for vector in ask.inputs)
    width = u_a.shape[0]
    key_matrix, query_matrix, value_matrix = _numbers(value, (3, width, width))
    x = torch.stack([u_d + u_b, u_a, u_c + u_b])  # (3, d)
    keys, queries, values = x @ key_matrix.T, x @ query_matrix.T, x @ value_matrix.T  # (3, d) each
    outputs: Tensor = torch.softmax(queries @ keys.T, dim=-1) @ values
    return outputs[:2]


def _shifted(ask: Ask, value: Any) -> Tensor:
    """Returns what a `(d, d)` matrix makes of the rows of `beside["rows"]` `(m, d)`."""
    rows: Tensor = ask.beside["rows"].to(torch.float64)
    shifted: Tensor = rows @ _numbers(value, (rows.shape[-1],) * 2).T
    return shifted


def _scores(ask: Ask, value: Any) -> Tensor:
    """Returns the scores `(..., n, n)` of queries `value[0]` and keys `value[1]`, a value as large as the input."""
    queries, keys = _numbers(value, tuple(ask.inputs[0].shape))[:2]
    scores: Tensor = queries @ keys.transpose(-2, -1)
    return scores


def _rows_alike(ask: Ask, value: Any) -> bool:
    """Returns whether all rows of a tensor `(b, ...)` hold the same numbers, up to rounding."""
    if not isinstance(value, Tensor) or value.dim() < 2:
        raise NotMeasured(f"expected a tensor with a row for each text, got {name_of(value)}")
    return torch.allclose(value, value[:1].expand_as(value), atol=1e-5)


INPUTS_KEPT = "inputs kept"  # measures the call and not its value: whether what was given is left as it was

# name -> (what it measures, as a sentence about it begins; the function)
MEASURES: dict[str, tuple[str, Callable[[Ask, Any], Any]]] = {
    "attention": ("the output of attention with your query", _one_head),
    "two heads": ("the mean output of attention with your two queries", _two_heads),
    "self-attention": ("the outputs c1 and c2 (two rows) with your matrices", _self_attention),
    "shifted rows": ("what your matrix makes of encoded positions, one a row", _shifted),
    "scores": ("the scores of your queries and keys", _scores),
    "rows alike": ("whether all rows get the same numbers", _rows_alike),
}
