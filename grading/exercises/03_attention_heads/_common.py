"""What several exercises of notebook 03 share."""

from __future__ import annotations

import math
import random
from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from grading.definitions.definition import Stage
from tutor.checking.answers import Question

INF = float("inf")


def _values(*shape: int, seed: int, size: float = 1.0) -> Tensor:
    """Returns normal numbers with one decimal, so that the file of examples stays short."""
    return (10 * size * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))).round() / 10


def _blocked(rows: int, columns: int, rng: random.Random) -> Tensor:
    """Returns a mask of 0 and minus infinity with at least two open entries in each row, so that weights differ."""
    mask = torch.zeros(rows, columns)
    for row in mask:
        for column in rng.sample(range(columns), rng.randint(1, max(1, columns - 2))):
            row[column] = -INF
    return mask


def _bias(n: int, m: int) -> Tensor:
    """Returns a mask of finite numbers, one for each distance, as relative positions have."""
    return -0.5 * (torch.arange(n)[:, None] - torch.arange(m)).abs().float()


def _lowered(mask: Tensor, row: int) -> Tensor:
    """Returns a mask with one row of finite numbers far below 0: a softmax takes off what a row has in common.

    One of its numbers is so much larger than the others that no rounding shows.
    """
    lowered = mask.clone()
    lowered[row], lowered[row, 0] = -11_000, -10_000
    return lowered


def _causal(size: int) -> Tensor:
    return torch.full((size, size), -INF).triu(1)


Pair = tuple[Tensor, Tensor]


def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Pair:
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
    return weights @ value, weights


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    b, n, d = x.shape
    return x.reshape(b, n, n_heads, d // n_heads).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    b, h, n, width = x.shape
    return x.transpose(1, 2).reshape(b, n, h * width)


def _counted(*shape: int, rng: random.Random | None = None) -> Tensor:
    """Returns a tensor of different whole numbers as floats: in order, or shuffled."""
    values = list(range(math.prod(shape)))
    if rng is not None:
        rng.shuffle(values)
    return torch.tensor(values, dtype=torch.float32).reshape(shape)


class FeedForward(nn.Sequential):
    """The feed-forward part that the notebook gives."""

    def __init__(self, d_model: int, d_feedforward: int) -> None:
        hidden, output = nn.Linear(d_model, d_feedforward), nn.Linear(d_feedforward, d_model)
        super().__init__(OrderedDict(hidden=hidden, activation=nn.ReLU(), output=output))


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.value, self.output = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def parts(self, x: Tensor, source: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Returns query, key and value of all heads."""
        pairs = ((self.query, x), (self.key, source), (self.value, source))
        query, key, value = (split_heads(part(tokens), self.n_heads) for part, tokens in pairs)
        return query, key, value

    def forward(self, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
        query, key, value = self.parts(x, source)
        mixed, _ = scaled_dot_product_attention(query, key, value, mask)
        projected: Tensor = self.output(merge_heads(mixed))
        return projected


@cache
def _shapes(kind: Callable[..., nn.Module], *build: tuple[str, Any]) -> dict[str, torch.Size]:
    """Returns the shapes of a module's parameters by name."""
    return {name: parameter.shape for name, parameter in kind(**dict(build)).named_parameters()}


def _weights(
    kind: Callable[..., nn.Module], build: dict[str, Any], seed: int, *, silent: bool = False, biases: bool = True
) -> dict[str, Tensor]:
    """Returns weights for a module by name; `silent` ones let every part give zeros.

    The weights of a norm differ from 1 and its biases from 0, so that no norm can be left out or used twice unseen.
    Without `biases` those of linear layers are 0, so that whoever forgot them does not lose everything.
    """
    shapes = _shapes(kind, *build.items())
    values = _values(sum(map(math.prod, shapes.values())), seed=seed, size=0.5)
    made = {}
    for (name, shape), part in zip(shapes.items(), values.split([*map(math.prod, shapes.values())]), strict=True):
        empty = (silent and "output." in name) or not (biases or name.endswith("weight") or "norm" in name)
        made[name] = torch.zeros(shape) if empty else part.reshape(shape)
        if name.endswith("norm.weight"):
            made[name] = 1 + made[name] / 2
    return made


def _parameter_stage(points: float, feedback: str, *builds: dict[str, Any], draw: Callable[..., Any]) -> Stage:
    def draw_builds(rng: random.Random) -> list[Question]:
        return [Question(build=draw(rng), probe="parameters") for _ in range(2)]

    public = [Question(build=build, probe="parameters") for build in builds]
    return Stage("names and shapes of the parameters", points, feedback, public, draw_builds, view="parameters")


def _padding(b: int, m: int, rng: random.Random) -> Tensor:
    """Returns a mask `(b, 1, 1, m)`: minus infinity from some position of each sentence on, finite before it."""
    lengths = torch.tensor([rng.randint(1, m - 1) for _ in range(b)])
    padded = torch.arange(m) >= lengths[:, None]
    return (0.5 * torch.arange(m)).expand(b, m).masked_fill(padded, -INF)[:, None, None]


HEAD_SIZES = ((12, 4), (15, 3), (10, 5), (14, 2), (20, 4))  # d, h: d/h, d and their roots differ from h


class EncoderLayer(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_feedforward: int, norm_first: bool = False) -> None:
        super().__init__()
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_feedforward)
        self.feed_forward_norm = nn.LayerNorm(d_model)

    def add(self, x: Tensor, part: Callable[[Tensor], Tensor], norm: nn.Module) -> Tensor:
        """Returns x with what a part makes of it added, and the norm where it belongs."""
        result: Tensor = x + part(norm(x)) if self.norm_first else norm(x + part(x))
        return result

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.add(x, lambda y: self.attention(y, y, mask), self.attention_norm)
        return self.add(x, self.feed_forward, self.feed_forward_norm)


def _layer_build(d: int, h: int, f: int, norm_first: bool = False) -> dict[str, Any]:
    return {"d_model": d, "n_heads": h, "d_feedforward": f, "norm_first": norm_first}


def _draw_layer_build(rng: random.Random, norm_first: bool | None = None) -> dict[str, Any]:
    d, h = rng.choice(HEAD_SIZES)
    return _layer_build(d, h, rng.choice([9, 11, 13]), rng.random() < 0.5 if norm_first is None else norm_first)


POST, PRE = _layer_build(4, 2, 3), _layer_build(4, 2, 3, True)
OF_A_NORM = 4e-3  # tolerance: where the numbers of a token hardly differ, another eps shows, and nobody asks for one
NAMES_OF_A_LAYER = (
    "attention (yours, or SpareAttention), attention_norm (nn.LayerNorm), feed_forward (FeedForward) and "
    "feed_forward_norm (nn.LayerNorm)."
)
SILENT_FEEDBACK = (
    "Here every part gives zeros. With the residual, x + 0 is left, then the norms do their work (post-norm), or "
    "nothing at all happens (pre-norm). Without it, the token would be lost."
)
