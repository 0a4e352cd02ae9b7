"""What several exercises of notebook 09 share."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from grading.exercise import Mistake, Stage
from grading.exercises.draws import Draw
from helpers.checking.answers import Ask


def _numbers(*shape: int, seed: int, size: float = 1.0) -> Tensor:
    """Returns normal numbers with one decimal, so that the file of examples stays short."""
    return (10 * size * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))).round() / 10


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    heads: Tensor = x.unflatten(-1, (n_heads, -1)).transpose(1, 2)
    return heads


def merge_heads(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)


def causal_mask(size: int) -> Tensor:
    return torch.full((size, size), -torch.inf).triu(1)


class SynthesizerAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.hidden = nn.Linear(d_model, d_model)
        self.B = nn.Parameter(torch.randn(n_heads, d_model // n_heads, max_len))
        self.b2 = nn.Parameter(torch.zeros(n_heads, max_len))
        self.value, self.output = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def heads(self, x: Tensor) -> Tensor:
        """Returns what the first layer makes of x, `(b, h, n, d/h)`."""
        return split_heads(torch.relu(self.hidden(x)), self.n_heads)

    def found(self, x: Tensor) -> Tensor:
        """Returns the scores `(b, h, n, n)`."""
        n = x.size(1)
        return self.heads(x) @ self.B[:, :, :n] + self.b2[:, None, :n]

    def weights(self, x: Tensor) -> Tensor:
        return torch.softmax(self.found(x) + causal_mask(x.size(1)), dim=-1)

    def mixed(self, x: Tensor) -> Tensor:
        """Returns the merged heads before the output projection, `(b, n, d)`."""
        return merge_heads(self.weights(x) @ split_heads(self.value(x), self.n_heads))

    def forward(self, x: Tensor) -> Tensor:
        projected: Tensor = self.output(self.mixed(x))
        return projected


def _with(base: type[nn.Module], **methods: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a class like `base` with other methods."""
    return type(base.__name__, (base,), methods)


def _weights(kind: type[nn.Module], build: dict[str, Any], seed: int) -> dict[str, Tensor]:
    """Returns weights for a module by name; biases differ from 0, so that none can be left out unseen."""
    return {
        name: _numbers(*parameter.shape, seed=1000 * seed + number, size=0.7)
        for number, (name, parameter) in enumerate(kind(**build).named_parameters())
    }


SIZES = ((12, 4), (15, 3), (10, 5), (14, 2))  # d, h


def _draw_build(rng: random.Random) -> dict[str, Any]:
    d, h = rng.choice(SIZES)
    return {"d_model": d, "n_heads": h, "max_len": rng.choice([7, 8, 9, 11])}


def _module(kind: type[nn.Module], seed: int, b: int, n: int, d: int, h: int, max_len: int) -> Ask:
    build = {"d_model": d, "n_heads": h, "max_len": max_len}
    return Ask((_numbers(b, n, d, seed=seed),), build=build, weights=_weights(kind, build, seed))


def _draw_module(kind: type[nn.Module], what: str = "") -> Draw:
    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for d, h in rng.sample(SIZES, 2):
            b, n, more = rng.sample([2, 3, 4, 6, 7], 3)
            n, h = 1 if what == "one token" else n, 1 if what == "one head" else h
            max_len = n + more if what == "short" else n
            asks.append(_module(kind, rng.randrange(10**6), b, n, d, h, max_len))
        return asks

    return draw


def _parameter_stage(points: float, look: str) -> Stage:
    return Stage(
        "names and shapes of the parameters",
        points,
        look,
        [Ask(build={"d_model": 6, "n_heads": 3, "max_len": 5}, take="parameters")],
        lambda rng: [Ask(build=_draw_build(rng), take="parameters") for _ in range(2)],
        view="parameters",
    )


def _stages(kind: type[nn.Module], each: float, look: str, rows: str, heads: str, cut: str) -> list[Stage]:
    """Returns the stages that both modules share; the last three have `each` points, the first three 1.5 in all."""
    return [
        _parameter_stage(0.5, look),
        Stage(
            "one token: only value and output count",
            0.5,
            "A single token gives all its weight to itself, whatever its score: the result is output(value(x)).",
            [_module(kind, 1, 2, 1, 6, 3, 1)],
            _draw_module(kind, "one token"),
        ),
        Stage(
            "the first row sees only itself",
            0.5,
            "Add causal_mask(n) to the scores before the softmax: row 0 has weight 1 on itself and 0 on the rest.",
            [_module(kind, 2, 1, 3, 4, 1, 3)],
            _draw_module(kind, "one head"),
            view="first row",
        ),
        Stage("one head", each, rows, [_module(kind, 3, 2, 4, 4, 1, 4)], _draw_module(kind, "one head")),
        Stage("several heads", each, heads, [_module(kind, 4, 2, 4, 6, 3, 4)], _draw_module(kind)),
        Stage("shorter than max_len", each, cut, [_module(kind, 5, 2, 3, 6, 3, 5)], _draw_module(kind, "short")),
    ]


def _no_mask(self: Any, x: Tensor) -> Tensor:
    return torch.softmax(self.found(x), dim=-1)


def _mask_after_softmax(self: Any, x: Tensor) -> Tensor:
    return torch.softmax(self.found(x), dim=-1).tril()


def _softmax_over_rows(self: Any, x: Tensor) -> Tensor:
    return torch.softmax(self.found(x) + causal_mask(x.size(1)).T, dim=-2)


def _no_output(self: Any, x: Tensor) -> Tensor:
    return self.mixed(x)  # type: ignore[no-any-return]


def _values_are_tokens(self: Any, x: Tensor) -> Tensor:
    return merge_heads(self.weights(x) @ split_heads(x, self.n_heads))


def _reshaped_values(self: Any, x: Tensor) -> Tensor:
    b, n, d = x.shape
    return merge_heads(self.weights(x) @ self.value(x).reshape(b, self.n_heads, n, d // self.n_heads))


def _merged_by_reshape(self: Any, x: Tensor) -> Tensor:
    return (self.weights(x) @ split_heads(self.value(x), self.n_heads)).reshape(x.shape)  # type: ignore[no-any-return]


def _reshaped_there_and_back(self: Any, x: Tensor) -> Tensor:
    b, n, d = x.shape
    value = self.value(x).reshape(b, self.n_heads, n, d // self.n_heads)
    return (self.weights(x) @ value).reshape(x.shape)  # type: ignore[no-any-return]


def _with_mask(kind: type[nn.Module]) -> Callable[..., Any]:
    """Returns the class with the causal mask as a buffer."""

    def start(self: Any, d_model: int, n_heads: int, max_len: int) -> None:
        kind.__init__(self, d_model, n_heads, max_len)
        self.register_buffer("mask", causal_mask(max_len), persistent=False)

    return _with(kind, __init__=start)


def _shared_mistakes(kind: type[nn.Module]) -> list[Mistake]:
    """Returns the mistakes that can be made in both modules."""
    return [
        Mistake(
            "the mask is a buffer",
            "It would work, but nothing is kept beside the parameters: make the mask in `weights`, causal_mask(n).",
            _with_mask(kind),
        ),
        Mistake(
            "the values are split by a reshape without a transpose",
            "Shapes fit, but a head gets all numbers of a few tokens in place of a few numbers of all. Use "
            "split_heads.",
            _with(kind, mixed=_reshaped_values),
        ),
        Mistake(
            "the heads are merged by a reshape without a transpose",
            "Shapes fit, but a token gets numbers of other tokens: the axis of the heads stands before that of the "
            "tokens. Use merge_heads.",
            _with(kind, mixed=_merged_by_reshape),
        ),
        Mistake(
            "no mask",
            "A token gives weight to tokens that come after it. Add causal_mask(n) to the scores before the softmax.",
            _with(kind, weights=_no_mask),
        ),
        Mistake(
            "the mask comes after the softmax",
            "The rows no longer sum to 1: the future has taken its share before it was removed. Add the mask to the "
            "scores, before the softmax.",
            _with(kind, weights=_mask_after_softmax),
        ),
        Mistake(
            "softmax over the wrong axis",
            "Each row, one token that looks, shares out a weight of 1: softmax over the last axis.",
            _with(kind, weights=_softmax_over_rows),
        ),
        Mistake(
            "the output projection is missing",
            "The merged heads must go through `self.output`: it is the only place where the heads are mixed.",
            _with(kind, forward=_no_output),
        ),
        Mistake(
            "the tokens themselves are averaged",
            "What a token gives is its value: split self.value(x) into heads, not x.",
            _with(kind, mixed=_values_are_tokens),
        ),
    ]
