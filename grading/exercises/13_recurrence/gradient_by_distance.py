"""Exercise gradient_by_distance of notebook 13."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import seed_from
from tutor.checking.answers import Question
from tutor.checking.plain import Model

from ._common import numbers

exercise = Definition(minutes=20, difficulty=2)


@exercise.reference
def gradient_by_distance(model: Any, x: Tensor) -> Tensor:
    inputs = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(inputs)[:, -1].sum(), inputs)
    sizes: Tensor = gradient.norm(dim=-1).mean(dim=0).flip(0)
    return sizes


def _sizes(
    model: Any,
    x: Tensor,
    *,
    output: Callable[[Tensor], Tensor] = lambda states: states[:, -1].sum(),
    size: Callable[[Tensor], Tensor] = lambda gradient: gradient.norm(dim=-1).mean(dim=0),
) -> Tensor:
    """Returns the sizes with one thing done otherwise: of which output, or how large a gradient is."""
    inputs = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(output(model(inputs)), inputs)
    return size(gradient).flip(0)


def _with_size(size: Callable[[Tensor], Tensor]) -> Callable[..., Tensor]:
    return lambda model, x: _sizes(model, x, size=size)


def _with_output(output: Callable[[Tensor], Tensor]) -> Callable[..., Tensor]:
    return lambda model, x: _sizes(model, x, output=output)


def _question(kind: str, b: int, n: int, d: int, seed: int) -> Question:
    arguments = {"d_model": d} if kind == "Recurrent" else {"d_model": d, "n_heads": 1}
    return Question((Model(kind, arguments, seed, spread=0.3), numbers(b, n, d, seed=seed)))


def _draw_several(rng: random.Random) -> list[Question]:
    b, n, d = rng.sample([3, 4, 5, 6], 3)
    fresh = [_question("Recurrent", b, n, d, seed_from(rng)), _question("SelfAttention", n, n, n, seed_from(rng))]
    return [*fresh, _question("Recurrent", 3, 4, 2, seed_from(rng))]


@exercise.stage(
    "one number for each distance: (n,)", points=0.25, public=[_question("Recurrent", 2, 4, 3, 1)], view="shape"
)
def _(rng):
    """Distances 0 to n - 1: one size for each token of a sentence, whatever the width and the number of sentences."""
    return _draw_several(rng)[:1]


@exercise.stage(
    "one sentence",
    points=1,
    public=[_question("Recurrent", 1, 4, 3, 2), _question("SelfAttention", 1, 5, 4, 3)],
    decisive=True,
)
def _(rng):
    """Take the sum of the last output, its gradient by x, `(1, n, d)`, and of each token the length of its row:
    norm(dim=-1). Entry k is the token k places before the last: turn the order round.
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
def _(rng):
    """Add up the last outputs of all sentences; then take the length of each gradient, `(b, n)`, and of these the mean
    over the sentences.
    """
    return _draw_several(rng)


def _in_double(b: int, n: int, d: int, seed: int) -> Question:
    """Returns a question for the type of the result, where model and inputs are in double precision."""
    model = Model("Recurrent", {"d_model": d, "double": True}, seed, spread=0.3)
    return Question((model, numbers(b, n, d, seed=seed)), probe="in double")


@exercise.stage(
    "one token, one number, double precision",
    points=0.5,
    public=[_in_double(2, 3, 2, 8), _question("Recurrent", 2, 1, 3, 6), _question("Recurrent", 3, 4, 1, 7)],
)
def _(rng):
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
def _(rng, kind, b, n, d):
    return _question(kind, b, n, d, seed_from(rng)) if b * n < 300 else None


@exercise.mistake("counted from the first token")
def _(model, x):
    """Entry k is the token k places BEFORE THE LAST, so entry 0 is the last token: flip the order."""
    return gradient_by_distance(model, x).flip(0)


exercise.mistake(
    "the outputs of all tokens are added up",
    "What is asked is how the LAST output depends on each token: states[:, -1].",
    _with_output(lambda states: states.sum()),
)

exercise.mistake(
    "the first output in place of the last",
    "states[:, -1] is the last output of each sentence.",
    _with_output(lambda states: states[:, 0].sum()),
)

exercise.mistake(
    "one number of the output",
    "An output has d numbers: add all of them up.",
    _with_output(lambda states: states[:, -1, 0].sum()),
)

exercise.mistake(
    "the mean of the output in place of the sum",
    "Add the d numbers of the last output up, for all sentences: sum(). The mean is taken at the end, over sentences.",
    _with_output(lambda states: states[:, -1].mean()),
)

exercise.mistake(
    "gradients are averaged before their length is taken",
    "Directions cancel: take the length of each gradient first, then the mean over the sentences.",
    _with_size(lambda gradient: gradient.mean(dim=0).norm(dim=-1)),
)

exercise.mistake(
    "the length is taken over sentences and width together",
    "Each sentence has a length of its own for each token: norm(dim=-1), then the mean over the sentences.",
    _with_size(lambda gradient: gradient.norm(dim=(0, 2))),
)

exercise.mistake(
    "the sum over the sentences",
    "With more sentences the number would grow: take the mean over them.",
    _with_size(lambda gradient: gradient.norm(dim=-1).sum(dim=0)),
)

exercise.mistake(
    "the length is taken over the tokens",
    "The length of a gradient runs over the width, the last axis. The axis of the tokens stays.",
    _with_size(lambda gradient: gradient.norm(dim=1).mean(dim=0)),
)

exercise.mistake(
    "average over the wrong axis",
    "The axes are sentences, tokens, width: after the length, `(b, n)`, the mean is over sentences, dim=0.",
    _with_size(lambda gradient: gradient.norm(dim=-1).mean(dim=1)),
)

exercise.mistake(
    "the mean of the numbers, with their signs",
    "Up and down cancel. The size of a gradient is its length, the root of the sum of squares.",
    _with_size(lambda gradient: gradient.mean(dim=-1).mean(dim=0)),
)

exercise.mistake(
    "the mean of the absolute numbers",
    "The size of a gradient is its length, the root of the sum of squares: norm(dim=-1).",
    _with_size(lambda gradient: gradient.abs().mean(dim=-1).mean(dim=0)),
)

exercise.mistake(
    "the root is missing",
    "The length is the ROOT of the sum of squares: norm(dim=-1).",
    _with_size(lambda gradient: gradient.square().sum(dim=-1).mean(dim=0)),
)


@exercise.mistake("the length of the outputs")
def _(model, x):
    """These are the outputs themselves. What is asked is how the last of them changes with each input: a gradient."""
    return model(x).detach().norm(dim=-1).mean(dim=0).flip(0)
