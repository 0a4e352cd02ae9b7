"""Exercise adamw_step of notebook 14."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import seed_from
from tutor.checking.answers import Question

from ._common import _normal

exercise = Definition(
    minutes=20,
    difficulty=2,
    forbids=(
        *(f"torch.optim.{name}" for name in ("AdamW", "Adam", "NAdam", "Adamax", "RAdam")),
        *(f"torch.optim.{name}" for name in ("adamw.adamw", "adam.adam", "_functional.adamw", "_functional.adam")),
        "torch._fused_adamw_",
        "torch._fused_adam_",
    ),
)

State = dict[str, Any]


@exercise.reference
def adamw_step(
    weight: Tensor,
    gradient: Tensor,
    state: State,
    rate: float,
    betas: tuple[float, float] = (0.9, 0.95),
    eps: float = 1e-8,
    decay: float = 0.01,
) -> tuple[Tensor, State]:
    return _step(weight, gradient, state, rate, betas, eps, decay)


def _step(
    weight: Tensor,
    gradient: Tensor,
    state: State,
    rate: float,
    betas: tuple[float, float] = (0.9, 0.95),
    eps: float = 1e-8,
    decay: float = 0.01,
    *,
    decays: str = "matrices",
    how: str = "apart",
    corrects: str = "both",
    counted: int = 1,
    root: str = "outside",
    squares: str = "gradients",
    forgets: bool = False,
    keeps: str = "sums",
    sign: int = 1,
) -> tuple[Tensor, State]:
    """Makes a step; the options are the ways in which it goes wrong."""
    held = {} if forgets else state
    step = held.get("step", 0) + 1
    count = step - 1 + counted
    strength = decay if decays == "all" or (decays == "matrices" and weight.dim() > 1) else 0.0
    pulled = gradient + strength * weight if how == "penalty" else gradient
    mean = betas[0] * held.get("mean", torch.zeros_like(weight)) + (1 - betas[0]) * pulled
    new = {"gradients": pulled, "mean": mean, "none": pulled.abs().sqrt()}[squares] ** 2
    square = betas[1] * held.get("square", torch.zeros_like(weight)) + (1 - betas[1]) * new
    factors = [1 - beta**count if corrects == "both" else 1.0 for beta in betas]
    first, second = mean / factors[0], square / factors[1]
    roots = {"outside": second.sqrt() + eps, "inside": (second + eps).sqrt(), "none": second + eps}
    length = roots | {"uncorrected": (square.sqrt() + eps) / abs(factors[1]) ** 0.5}
    shrunk = {"apart": 1 - rate * strength, "after": 1 - rate * strength, "penalty": 1.0, "whole": 1 - strength}[how]
    kept = (first, second) if keeps == "corrected" else (mean, square)
    move = sign * rate * first / length[root] * (shrunk if how == "after" else 1.0)
    return weight * shrunk - move, {"step": step, "mean": kept[0], "square": kept[1]}


def _asked(
    rng: random.Random,
    *shape: int,
    steps: int = 0,
    size: float = 1.0,
    usual: bool = False,
    rate: float = 0.0,
    **given: Any,
) -> Question:
    """Asks for a step after `steps` others; gradients are about as large as `size`, and none is near 0.

    The rate is so small that it does not matter whether a weight decays before or after the rest of its step, but for
    who gives another `rate`.
    """
    signs = torch.where(_normal(seed_from(rng), *shape) < 0, -1.0, 1.0)
    gradient = size * signs * (0.5 + _normal(seed_from(rng), *shape).abs())
    state: State = {}
    if steps:
        mean = size * (1 - 0.9**steps) * (0.5 * _normal(seed_from(rng), *shape))
        square = size**2 * (1 - 0.95**steps) * (0.4 + _normal(seed_from(rng), *shape).abs())
        state = {"step": steps, "mean": mean, "square": square}
    weight = 2 * _normal(seed_from(rng), *shape) + signs
    settings = {} if usual else {"betas": (rng.choice([0.8, 0.85]), rng.choice([0.96, 0.98])), "decay": 0.25}
    rate = rate or round(rng.uniform(0.008, 0.012), 4)
    return Question((weight, gradient, state, rate), keywords=settings | given)


def _at_first() -> Question:
    """Returns the question that the text works by hand."""
    return Question((torch.tensor([[2.0]]), torch.tensor([[0.5]]), {}, 0.1), keywords={"decay": 0.1})


exercise.by_hand(_at_first(), part=lambda made: float(made[0]), tolerance=0.002)


@exercise.stage("the first step of a bias", points=0.5, public=[_asked(random.Random(1), 3, usual=True)])
def _(rng: random.Random) -> list[Question]:
    """Before the first step the state is empty, and both means are 0. Divided by 1 - beta**1 they are the gradient and
    its square, so each weight moves by the rate, against the sign of its gradient.
    """
    return [_asked(rng, rng.randint(3, 5), usual=True), _asked(rng, rng.randint(3, 5))]


@exercise.stage(
    "a later step of a bias",
    points=0.75,
    public=[_asked(random.Random(2), 3, steps=4), _asked(random.Random(3), 4, steps=1, usual=True)],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """The means go on from those in the state: beta * the old one + (1 - beta) * the new gradient, or its square. They
    are divided by 1 - beta**t, where t counts this step too, and kept as they were before the division.
    """
    return [_asked(rng, 4, steps=rng.randint(2, 9)), _asked(rng, 3, steps=rng.randint(15, 30), usual=True)]


def _matrices(rng: random.Random) -> list[Question]:
    """Asks about matrices with gradients of several sizes, and about a parameter with three axes."""
    first = _asked(rng, 2, 3)
    return [
        first,
        _asked(rng, 3, 2, steps=rng.randint(2, 9), size=10.0),
        _asked(rng, 2, 2, steps=rng.randint(2, 9), size=0.05),
        _asked(rng, 2, 1, 2, steps=3),
        _asked(rng, 2, 2, steps=rng.randint(0, 4), rate=rng.choice([0.2, 0.4])),  # so large that the order shows
        _asked(rng, 2, 2, steps=2, usual=True, rate=1.0),  # so large that the usual decay shows
    ]


@exercise.stage("a matrix decays, apart from its gradient", points=0.75, public=_matrices(random.Random(4)))
def _(rng: random.Random) -> list[Question]:
    """A parameter with two axes or more is multiplied by 1 - rate * decay, whatever its gradient is, and before it is
    moved; the decay goes neither into the gradient nor into the means.
    """
    return _matrices(rng)


def _near_zero(rng: random.Random) -> list[Question]:
    """Asks about gradients so small that it matters where eps stands, about some that are 0, and for a large eps."""
    none = _asked(rng, 2, 2)
    none.inputs[1][:, 0] = 0.0
    small = [_asked(rng, 3, size=size, usual=True, rate=rate) for size, rate in ((1e-5, 0.0), (1e-8, 1.0))]
    small += [_asked(rng, 2, 2, steps=3, size=1e-5), none]
    large = [_asked(rng, 3, eps=rng.choice([0.2, 0.5]), rate=0.1), _asked(rng, 3, steps=2, eps=4.0, rate=0.4)]
    return [*small, *large]


@exercise.stage("small gradients and none, small eps and large ones", points=0.5, public=_near_zero(random.Random(5)))
def _(rng: random.Random) -> list[Question]:
    """eps is added to the root, not below it, and to that of the mean after its division: sqrt(v) + eps. It is there so
    that a gradient of 0 does not divide by 0, and comes as an argument: where it is large, the step is smaller.
    """
    return _near_zero(rng)


BETAS = ((0.0, 0.999), (0.9, 0.95), (0.9, 0.9999))


@exercise.corners("the first step of a bias", size=(1, range(33, 36), range(301, 304)), betas=BETAS)
def _(rng: random.Random, size: int, betas: tuple[float, ...]) -> Question:
    return _asked(rng, size, betas=betas)


@exercise.corners(
    "a later step of a bias", steps=(1, range(33, 36), range(301, 304), range(10_001, 10_100)), betas=BETAS
)
def _(rng: random.Random, steps: int, betas: tuple[float, ...]) -> Question:
    return _asked(rng, rng.randint(1, 3), steps=steps, betas=betas)


@exercise.corners(
    "a matrix decays, apart from its gradient",
    shape=((1, 1), (1, 33), (65, 1), (2, 1, 1), (1, 1, 2, 2)),
    decay=(0.0, 0.01, 0.5),
    rate=(0.0, 1e-4, 0.01, 1.0),
)
def _(rng: random.Random, shape: tuple[int, ...], decay: float, rate: float) -> Question:
    """Asks with a rate of 0 too, with which the warm-up of many schedules begins: the means go on."""
    ask = _asked(rng, *shape, steps=rng.randint(2, 9), decay=decay)
    return Question((*ask.inputs[:3], rate), keywords=ask.keywords)


@exercise.corners(
    "small gradients and none, small eps and large ones",
    size=(0.0, 1e-5, 1.0, 1e4),
    steps=(0, 1, range(101, 104)),
    eps=(1e-12, 1e-8, 1.0),
)
def _(rng: random.Random, size: float, steps: int, eps: float) -> Question:
    return _asked(rng, 2, 2, steps=steps, size=size, eps=eps)


def _settings_of_its_own(
    weight: Tensor, gradient: Tensor, state: State, rate: float, *_: Any, **__: Any
) -> tuple[Tensor, State]:
    return _step(weight, gradient, state, rate)


exercise.mistake(
    "betas and decay are written down",
    "betas, eps and decay come as arguments; what stands in the signature are their defaults.",
    _settings_of_its_own,
)
