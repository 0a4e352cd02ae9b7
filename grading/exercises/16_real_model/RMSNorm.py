"""Exercise RMSNorm of notebook 16."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import torch

from grading.definitions.definition import Definition
from grading.exercises.draws import seed_from
from tutor.checking.answers import Question

from ._common import RMSNorm, _values

exercise = Definition(
    minutes=5,
    difficulty=1,
    forbids=("torch.nn.RMSNorm", "torch.nn.functional.rms_norm", "torch.rms_norm", "helpers.llama.RMSNorm"),
)


exercise.reference(RMSNorm)


def _ask(seed: int, *sizes: int, size: float = 1.0, eps: float | None = 1e-6, weights: bool = True) -> Question:
    """Returns a question about tokens whose mean is not 0, and with learned weights or with those of a new module.

    Without an eps the module has that of the signature.
    """
    x = (_values(*sizes, seed=seed) + 1) * size
    learned = {"weight": _values(sizes[-1], seed=seed + 1) + 1} if weights else None
    return Question((x,), build={"d_model": sizes[-1]} | ({} if eps is None else {"eps": eps}), weights=learned)


exercise.by_hand(Question((torch.tensor([1.0, 7.0]),), build={"d_model": 2}))


@exercise.stage(
    "one parameter: weight (d_model,)",
    points=0.25,
    public=[Question(build={"d_model": 4}, probe="parameters")],
    view="parameters",
)
def _(rng: random.Random) -> list[Question]:
    """weight is an nn.Parameter of d_model numbers; there is no bias and no buffer."""
    return [Question(build={"d_model": d}, probe="parameters") for d in rng.sample([3, 5, 7, 9], 2)]


def _new(seed: int, d: int) -> list[Question]:
    return [_ask(seed, 1, 1, d, weights=False), _ask(seed + 1, 2, 3, d, weights=False)]


@exercise.stage("each token is divided by its root mean square", points=0.75, public=_new(1, 4), decisive=True)
def _(rng: random.Random) -> list[Question]:
    """Square, mean over the last axis, root; then divide. No mean is subtracted. A new module has a weight of ones."""
    return _new(seed_from(rng), rng.choice([3, 5, 6]))


def _learned(seed: int, d: int) -> list[Question]:
    return [_ask(seed, 2, 3, d), _ask(seed + 1, d, d), _ask(seed + 2, 2, 2, 2, d), _ask(seed + 3, d)]


@exercise.stage("times the learned weight", points=0.5, public=_learned(3, 3))
def _(rng: random.Random) -> list[Question]:
    """The normalised numbers are multiplied by weight, one number for each index of the last axis."""
    return _learned(seed_from(rng), rng.choice([4, 5, 6]))


def _tiny(seed: int, d: int) -> list[Question]:
    zeros = Question((torch.zeros(1, 2, d),), build={"d_model": d, "eps": 1e-6}, weights={"weight": torch.ones(d)})
    return [zeros, _ask(seed + 1, 1, 2, d, eps=0.25), _ask(seed, 1, 2, d, size=1e-3, eps=None)]


@exercise.stage("eps stands inside the root", points=0.5, public=_tiny(5, 4))
def _(rng: random.Random) -> list[Question]:
    """Add eps to the mean of the squares, before the root. For large numbers it makes no difference, for small ones a
    large one. Left out, it is 1e-6.
    """
    return _tiny(seed_from(rng), rng.choice([3, 5, 6]))


@exercise.corners(
    "times the learned weight",
    d=(1, 2, range(33, 36), range(65, 68), range(301, 304)),
    tokens=((), (1, 1), (65,), (1, 2)),
)
def _(rng: random.Random, d: int, tokens: Any) -> Question | None:
    """Asks about numbers that are not so small that eps matters."""
    if d > 60 and tokens == (65,):
        return None
    ask = _ask(seed_from(rng), *tokens, d)
    x = ask.inputs[0]
    return replace(ask, inputs=(x + torch.where(x < 0, -0.5, 0.5),))


@exercise.corners("eps stands inside the root", size=(0.0, 1e-4, 1.0, 1e4, 1e8), eps=(1e-10, 1e-5, 1.0))
def _(rng: random.Random, size: float, eps: float) -> Question:
    return _ask(seed_from(rng), 2, rng.randint(2, 5), size=size, eps=eps)
