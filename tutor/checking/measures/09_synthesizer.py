"""What is measured of answers in notebook 09: how a new module shares out its weights."""

from __future__ import annotations

from typing import Any

import torch

from tutor.checking.answers import Question
from tutor.checking.measures.registry import NotMeasured, as_tensor, measure


@measure("start", "the weights that a new module has")
def _start(ask: Question, value: Any) -> dict[str, str]:
    """Returns how the weights of a causal attention of one head are shared out, read off its output `(1, n, n)`.

    The tokens are one-hot and come out as they go in, so that row i of the output holds the weights of row i.
    """
    n = ask.inputs[0].shape[1]
    rows = as_tensor(value, (1, n, n))[0]
    if not bool(rows.isfinite().all()):
        raise NotMeasured("expected weights that are numbers, got NaN or infinity")
    if ask.extra["of"] == "alike":
        return {"all weights of a row alike": "yes" if torch.allclose(rows[-1], rows[-1].mean(), atol=1e-6) else "no"}
    return {"one position has nearly all": "yes" if bool(rows[n // 2 :].amax(dim=-1).mean() > 0.9) else "no"}
