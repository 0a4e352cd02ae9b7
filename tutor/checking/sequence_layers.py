"""What recipes may name beside the classes of `helpers.models`: layers, and a model made for one kind of question."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from helpers.models import Attention, Context, TransformerBase


class Recurrent(nn.GRU):
    """A GRU that gives its states and nothing else; with `double`, its weights are in double precision."""

    def __init__(self, d_model: int, *, double: bool = False) -> None:
        super().__init__(d_model, d_model, batch_first=True, dtype=torch.float64 if double else None)

    def forward(self, x: Tensor) -> Tensor:  # type: ignore[override]
        """Returns the states `(b, n, d)` after each token of `x` `(b, n, d)`."""
        states: Tensor = super().forward(x)[0]
        return states


class Adding(nn.Module):
    """The cell of an example that is worked by hand: the new state is the sum of token and state."""

    def forward(self, x: Tensor, state: Tensor) -> Tensor:
        """Returns the new states `(b, d)` of tokens and states `(b, d)`."""
        return x + state


class SelfAttention(Attention):
    """The attention of `helpers.models` without any mask."""

    def forward(self, x: Tensor) -> Tensor:  # type: ignore[override]
        """Returns `(b, n, d)` of `x` `(b, n, d)`."""
        return super().forward(x, Context())


class BaseWithMore(TransformerBase):
    """A base that has a linear layer `query` beside its layers, and another one two parts deeper."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.query = nn.Linear(self.d_model, self.d_model)
        deep = nn.Sequential(OrderedDict(query=nn.Linear(self.d_model, self.d_model)))
        self.more = nn.Sequential(deep, nn.ReLU())

    def forward(self, tokens: Tensor, padding: Tensor | None = None, context: Context | None = None) -> Tensor:
        """Returns `(b, n, d)` as the base does, after both layers."""
        states: Tensor = self.query(self.more(super().forward(tokens, padding, context)))
        return states


class SumOfSomeWords(nn.Module):
    """A model whose outputs add up what some of the words say; it is called as those of `helpers.models`.

    Args:
        strengths: `(n, n)`; output i is the sum over all tokens j of `strengths[i, j]` times what token j says.
        says: `(V, k)`, what each word of the vocabulary says.
        hushed: whether a word says nothing where it follows word 0.
    """

    def __init__(self, strengths: Tensor, says: Tensor, *, hushed: bool = False) -> None:
        super().__init__()
        self.strengths, self.says, self.hushed = nn.Parameter(strengths), nn.Parameter(says), hushed

    def forward(self, tokens: Tensor, padding: Tensor | None = None, context: Context | None = None) -> Tensor:
        """Returns `(b, n, k)` for `tokens` `(b, n)`."""
        size = tokens.shape[1]
        values = F.embedding(tokens, self.says)  # (b, n, k)
        if self.hushed:
            audible = F.pad(tokens[:, :-1] != 0, (1, 0), value=True)  # (b, n)
            values = values * audible[..., None]
        outputs: Tensor = self.strengths[:size, :size] @ values  # (n, n) @ (b, n, k)
        return outputs


LAYERS: dict[str, Any] = {
    "Linear": nn.Linear,
    "Conv2d": nn.Conv2d,
    "BatchNorm1d": nn.BatchNorm1d,
    "MultiheadAttention": nn.MultiheadAttention,
    "GRUCell": nn.GRUCell,
    "Adding": Adding,
    "RNNCell": nn.RNNCell,
    "Recurrent": Recurrent,
    "SelfAttention": SelfAttention,
    "BaseWithMore": BaseWithMore,
    "SumOfSomeWords": SumOfSomeWords,
}
