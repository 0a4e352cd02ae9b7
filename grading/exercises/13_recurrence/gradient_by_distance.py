"""Exercise gradient_by_distance of notebook 13."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import seed_from
from tutor.checking.answers import Question
from tutor.checking.plain import Model

from ._common import values

exercise = Definition(minutes=20, difficulty=2)


@exercise.reference
def gradient_by_distance(model: Any, x: Tensor) -> Tensor:
    inputs = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(inputs)[:, -1].sum(), inputs)
    sizes: Tensor = gradient.norm(dim=-1).mean(dim=0).flip(0)
    return sizes


def _question(kind: str, b: int, n: int, d: int, seed: int) -> Question:
    arguments = {"d_model": d} if kind == "Recurrent" else {"d_model": d, "n_heads": 1}
    return Question((Model(kind, arguments, seed, spread=0.3), values(b, n, d, seed=seed)))


def _draw_several(rng: random.Random) -> list[Question]:
    b, n, d = rng.sample([3, 4, 5, 6], 3)
    fresh = [_question("Recurrent", b, n, d, seed_from(rng)), _question("SelfAttention", n, n, n, seed_from(rng))]
    return [*fresh, _question("Recurrent", 3, 4, 2, seed_from(rng))]


@exercise.stage(
    "one number for each distance: (n,)", points=0.25, public=[_question("Recurrent", 2, 4, 3, 1)], view="shape"
)
def _(rng: random.Random) -> list[Question]:
    """Distances 0 to n - 1: one size for each token of a sentence, whatever the width and the number of sentences."""
    return _draw_several(rng)[:1]


@exercise.stage(
    "one sentence",
    points=1,
    public=[_question("Recurrent", 1, 4, 3, 2), _question("SelfAttention", 1, 5, 4, 3)],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Take the sum of the last output, its gradient by x, `(1, n, d)`, and of each token the length of its row:
    norm(dim=-1). Entry k is the token k positions before the last: turn the order round.
    """
    # Draws models; one of them gets a shape that is asked in public: so what is kept by its shape is always seen.
    n, d, other = rng.sample([3, 4, 5, 6], 3)
    fresh = [_question("Recurrent", 1, n, d, seed_from(rng)), _question("SelfAttention", 1, n, other, seed_from(rng))]
    return [*fresh, _question("Recurrent", 1, 4, 3, seed_from(rng))]


@exercise.stage(
    "several sentences: the mean of their sizes",
    points=1.25,
    public=[_question("Recurrent", 3, 4, 2, 4), _question("SelfAttention", 4, 4, 4, 5)],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Add up the last outputs of all sentences; then take the length of each gradient, `(b, n)`, and of these the mean
    over the sentences.
    """
    return _draw_several(rng)


def _in_double(b: int, n: int, d: int, seed: int) -> Question:
    """Returns a question for the type of the result, where model and inputs are in double precision."""
    model = Model("Recurrent", {"d_model": d, "double": True}, seed, spread=0.3)
    return Question((model, values(b, n, d, seed=seed)), probe="in double")


@exercise.stage(
    "one token, one number, double precision",
    points=0.5,
    public=[_in_double(2, 3, 2, 8), _question("Recurrent", 2, 1, 3, 6), _question("Recurrent", 3, 4, 1, 7)],
)
def _(rng: random.Random) -> list[Question]:
    """With n = 1 there is the distance 0 only, and with d = 1 the length of a row is its absolute value. Sizes have the
    type of `x`: of a double `x` (torch.float64) they are double, too.
    """
    b, n = rng.sample([2, 3, 4, 5], 2)
    return [
        _in_double(b, n, 2, seed_from(rng)),
        _question("Recurrent", b, 1, n, seed_from(rng)),
        _question("Recurrent", b, n, 1, seed_from(rng)),
        _question("Recurrent", 3, 4, 1, seed_from(rng)),
    ]


@exercise.corners(
    "several sentences: the mean of their sizes",
    kind=("Recurrent", "SelfAttention"),
    b=(1, range(33, 36)),
    n=(1, 2, range(33, 36)),
    d=(1, 2),
)
def _(rng: random.Random, kind: str, b: int, n: int, d: int) -> Question | None:
    return _question(kind, b, n, d, seed_from(rng)) if b * n < 300 else None
