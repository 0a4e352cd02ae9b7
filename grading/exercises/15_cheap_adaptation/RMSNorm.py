"""Exercise RMSNorm of notebook 15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import seed_from
from tutor.checking.answers import Ask

from ._common import _numbers, _with


class RMSNorm(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Tensor) -> Tensor:
        return x / (x.square().mean(dim=-1, keepdim=True) + self.eps).sqrt() * self.weight


def _ask(seed: int, *sizes: int, size: float = 1.0, eps: float = 1e-6, weights: bool = True) -> Ask:
    """Returns a question about tokens whose mean is not 0, and with learned weights or with those of a new module."""
    x = (_numbers(*sizes, seed=seed) + 1) * size
    learned = {"weight": _numbers(sizes[-1], seed=seed + 1) + 1} if weights else None
    return Ask((x,), build={"d_model": sizes[-1], "eps": eps}, weights=learned)


def _new(seed: int, d: int) -> list[Ask]:
    return [_ask(seed, 1, 1, d, weights=False), _ask(seed + 1, 2, 3, d, weights=False)]


def _learned(seed: int, d: int) -> list[Ask]:
    return [_ask(seed, 2, 3, d), _ask(seed + 1, d, d), _ask(seed + 2, 2, 2, 2, d), _ask(seed + 3, d)]


def _tiny(seed: int, d: int) -> list[Ask]:
    zeros = Ask((torch.zeros(1, 2, d),), build={"d_model": d, "eps": 1e-6}, weights={"weight": torch.ones(d)})
    return [zeros, _ask(seed + 1, 1, 2, d, eps=0.25), _ask(seed, 1, 2, d, size=1e-3)]


def _of(formula: Callable[[Any, Tensor], Tensor]) -> Callable[..., Any]:
    return _with(RMSNorm, forward=formula)


def _square(x: Tensor) -> Tensor:
    return x.square().mean(dim=-1, keepdim=True)


class _WithBias(RMSNorm):
    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__(d_model, eps)
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + self.bias


EXERCISE = Exercise(
    RMSNorm,
    [
        Stage(
            "one parameter: weight (d_model,)",
            0.25,
            "weight is an nn.Parameter of d_model numbers; there is no bias and no buffer.",
            [Ask(build={"d_model": 4}, take="parameters")],
            lambda rng: [Ask(build={"d_model": d}, take="parameters") for d in rng.sample([3, 5, 7, 9], 2)],
            view="parameters",
        ),
        Stage(
            "each token is divided by its root mean square",
            0.75,
            "Square, mean over the last axis, root; then divide. No mean is subtracted. A new module has a weight of "
            "ones.",
            _new(1, 4),
            lambda rng: _new(seed_from(rng), rng.choice([3, 5, 6])),
            decisive=True,
        ),
        Stage(
            "times the learned weight",
            0.5,
            "The normalised numbers are multiplied by weight, one number for each place of the last axis.",
            _learned(3, 3),
            lambda rng: _learned(seed_from(rng), rng.choice([4, 5, 6])),
        ),
        Stage(
            "eps stands inside the root",
            0.5,
            "Add eps to the mean of the squares, before the root. For large numbers it makes no difference, for small "
            "ones a large one.",
            _tiny(5, 4),
            lambda rng: _tiny(seed_from(rng), rng.choice([3, 5, 6])),
        ),
    ],
    [
        Mistake(
            "the mean is subtracted",
            "That is LayerNorm. RMSNorm leaves the mean where it is.",
            _of(lambda self, x: RMSNorm.forward(self, x - x.mean(dim=-1, keepdim=True))),
        ),
        Mistake(
            "divided by the standard deviation",
            "The standard deviation measures from the mean, the root mean square from zero.",
            _of(
                lambda self, x: x / (x.var(dim=-1, keepdim=True, unbiased=False) + self.eps).sqrt() * self.weight,
            ),
        ),
        Mistake(
            "eps is added to the root",
            "Add it to the mean of the squares: the root of 1e-6 is 1e-3, a thousand times as much.",
            _of(lambda self, x: x / (_square(x).sqrt() + self.eps) * self.weight),
        ),
        Mistake(
            "eps is not used",
            "A token of zeros gives 0 / 0. Add eps to the mean of the squares.",
            _of(lambda self, x: x / _square(x).sqrt() * self.weight),
        ),
        Mistake(
            "the sum in place of the mean",
            "With the sum, wide tokens become small ones: take the mean of the squares.",
            _of(lambda self, x: x / (x.square().sum(dim=-1, keepdim=True) + self.eps).sqrt() * self.weight),
        ),
        Mistake(
            "the root is missing",
            "It is divided by the mean square itself: take its root.",
            _of(lambda self, x: x / (_square(x) + self.eps) * self.weight),
        ),
        Mistake(
            "the mean runs over the tokens",
            "Each token by itself: the mean runs over its numbers, dim=-1.",
            _of(lambda self, x: x / (x.square().mean(dim=-2, keepdim=True) + self.eps).sqrt() * self.weight),
        ),
        Mistake(
            "the mean runs over everything",
            "Each token by itself: the mean runs over its numbers, dim=-1, and keepdim=True keeps the axis.",
            _of(lambda self, x: x / (x.square().mean() + self.eps).sqrt() * self.weight),
        ),
        Mistake(
            "the learned weight is not used",
            "Multiply the normalised numbers by self.weight.",
            _of(lambda self, x: x / (_square(x) + self.eps).sqrt()),
        ),
        Mistake(
            "a bias is kept",
            "RMSNorm has a weight only.",
            type("RMSNorm", (_WithBias,), {}),
        ),
    ],
    hints=(
        "The name says it from right to left: square, mean, root. Over which axis runs the mean, if each token is to "
        "be normalised by itself? What of LayerNorm is *not* done? And what happens to a token of zeros?",
        "The token $(1, 7)$: its squares are 1 and 49, their mean is 25, the root 5, and the result $(0.2, 1.4)$. "
        "LayerNorm would subtract the mean 4 first, and give $(-1, 1)$. With the token $(0, 0)$, the mean of the "
        "squares is 0, and `eps` keeps the division alive: $0 / \\sqrt{0 + \\text{eps}} = 0$.",
        "In the constructor: `eps`, and `weight`, an `nn.Parameter` of ones `(d_model,)`. In `forward`:\n"
        "1. the squares `(b, n, d)`;\n"
        "2. their mean over the last axis, with `keepdim=True`: `(b, n, 1)`;\n"
        "3. plus `eps`, and then the root;\n"
        "4. `x` divided by it, `(b, n, d)`, times `weight`, which fits the last axis by itself.",
    ),
)
