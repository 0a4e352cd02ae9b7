"""Exercise LoRALinear of notebook 15."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import seed_from
from tutor.checking.answers import Question

from ._common import LoRALinear, _values

exercise = Definition(minutes=30, difficulty=2)
exercise.reference(LoRALinear)

Build = dict[str, Any]


def _build(d_in: int, d_out: int, rank: int, alpha: float) -> Build:
    return {"d_in": d_in, "d_out": d_out, "rank": rank, "alpha": alpha}


def _weights(build: Build, seed: int, *chosen: str) -> dict[str, Tensor]:
    """Returns random numbers for the parameters that are chosen, for all of them where none is."""
    d_in, d_out, rank = build["d_in"], build["d_out"], build["rank"]
    shapes = {"weight": (d_out, d_in), "bias": (d_out,), "down": (rank, d_in), "up": (d_out, rank)}
    return {name: _values(*shapes[name], seed=seed + n) for n, name in enumerate(shapes) if name in (chosen or shapes)}


def _ask(build: Build, seed: int, *sizes: int, chosen: tuple[str, ...] = (), **settings: Any) -> Question:
    """Returns a question about tokens `(*sizes, d_in)`."""
    x = _values(*sizes, build["d_in"], seed=seed + 9)
    return Question((x,), build=build, weights=_weights(build, seed, *chosen), **settings)


def _sizes(rng: random.Random) -> tuple[int, int]:
    d_in, d_out = rng.sample([4, 5, 6, 7], 2)
    return d_in, d_out


DOES_THE_SAME = ("the *",)  # of what is taken: the weights, and what the layer itself gives afterwards
SCALES = ((1, 8.0), (2, 8.0), (4, 2.0))  # rank, alpha: neither is 1 in all, nor is their product alike


@exercise.stage(
    "names, shapes, and what trains",
    points=1,
    public=[
        Question(build=_build(4, 3, 2, 8.0), probe="parameters"),
        Question(build=_build(3, 5, 1, 8.0), probe="parameters"),
    ],
    view="parameters",
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """weight (d_out, d_in) and bias (d_out,) with requires_grad=False; down (rank, d_in) and up (d_out, rank) are
    nn.Parameters that train. Nothing else, no buffers either.
    """
    return [Question(build=_build(*_sizes(rng), rank, 8.0), probe="parameters") for rank in (1, rng.choice([2, 3]))]


@exercise.stage(
    "a new layer gives what the frozen layer gives",
    points=0.5,
    public=[_ask(_build(4, 3, 2, 8.0), 1, 2, 3, chosen=("weight", "bias", "down"))],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """up starts with zeros: then the product is zero, whatever down holds, and the bias is added once."""
    build = _build(*_sizes(rng), 2, 8.0)
    return [_ask(build, seed_from(rng), 2, 3, chosen=("weight", "bias", "down"))]


def _random_down(d: int, seed: int, alpha: float = 8.0) -> Question:
    """Returns a question whose result is `down` transposed, times the scale: the layer itself is silent."""
    silent = {"weight": torch.zeros(d, d), "bias": torch.zeros(d), "up": torch.eye(d)}
    x = torch.eye(d)[None]
    extra = {"sinusoids": torch.zeros(d, d), "turned": True}
    return Question((x,), build=_build(d, d, d, alpha), weights=silent, extra=extra)


@exercise.stage(
    "down starts with random numbers", points=0.5, public=[_random_down(4, 3)], measure="random start", decisive=True
)
def _(rng: random.Random) -> list[Question]:
    """Where both factors are zero, each one's gradient is zero too, and nothing ever moves. Start down with
    torch.randn.
    """
    return [_random_down(rng.choice([5, 6, 7]), seed_from(rng))]


@exercise.stage(
    "the frozen layer plus the two factors",
    points=1,
    public=[
        _ask(_build(4, 3, 2, 2.0), 2, 2, 3),
        _ask(_build(3, 5, 1, 1.0), 3, 4),
        _ask(_build(4, 3, 2, 2.0), 4, 2, 1, 3),
    ],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """What the frozen layer gives (with its bias), plus x through down and then through up; here alpha = rank, so that
    the scale is 1.
    """
    # Draws layers whose scale is 1: with several tokens, with one, and with fewer or more axes than usual.
    sizes = ((2, 3), (1, 1), (4,), (2, 1, 3))
    return [
        _ask(_build(*_sizes(rng), rank, float(rank)), seed_from(rng), *size)
        for size, rank in zip(sizes, (1, 2, 3, 1), strict=True)
    ]


@exercise.stage(
    "the scale alpha / rank",
    points=1,
    public=[
        *(_ask(_build(4, 3, rank, alpha), 4 + rank, 1, 3) for rank, alpha in SCALES),
        _ask(_build(3, 4, 2, 8.0), 9),  # a single token: no axis before its numbers
    ],
)
def _(rng: random.Random) -> list[Question]:
    """The way through the factors, and nothing else, is multiplied by alpha / rank."""
    several = [_ask(_build(*_sizes(rng), rank, alpha), seed_from(rng), 2, 3) for rank, alpha in SCALES]
    return [*several, _ask(_build(*_sizes(rng), 2, 8.0), seed_from(rng))]


exercise.by_hand(
    Question(
        (torch.tensor([3.0, 4.0]),),
        build=_build(2, 2, 1, 2.0),
        weights={
            "weight": torch.eye(2),
            "bias": torch.zeros(2),
            "down": torch.tensor([[1.0, 1.0]]),
            "up": torch.tensor([[0.0], [2.0]]),
        },
    )
)


@exercise.stage(
    "merged() gives a plain layer that does the same",
    points=0.75,
    public=[
        _ask(build, 7 + n, 1, 3, probe="merged", entries=DOES_THE_SAME)
        for n, build in enumerate((_build(4, 3, 2, 2.0), _build(3, 4, 4, 2.0)))
    ],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """A new nn.Linear with weight + alpha / rank * up @ down and with the same bias; this layer itself
    stays as it is.
    """
    return [
        _ask(_build(*_sizes(rng), rank, alpha), seed_from(rng), 2, 3, probe="merged", entries=DOES_THE_SAME)
        for rank, alpha in ((2, 2.0), (1, 8.0), (4, 2.0))
    ]


def _own(build: Build, seed: int) -> list[Question]:
    """Returns questions about a layer that has learned something, and about one that is new: what it shares."""
    looked_at = ("shared*", "what learns*", "*misses", "*double*")
    new = _ask(build, seed, 1, 2, chosen=("weight", "bias", "down"), probe="merged", entries=("shared*",))
    return [_ask(build, seed, 1, 2, probe="merged", entries=looked_at), new]


@exercise.stage(
    "merged() gives a layer of its own, of the same dtype", points=0.25, public=_own(_build(3, 2, 1, 1.0), 9)
)
def _(rng: random.Random) -> list[Question]:
    """Copy the bias as well: what is shared changes in both layers. And make the new layer with
    dtype=self.weight.dtype, so that one in double precision stays so. Keep nothing from call to call: the weights may
    have changed in between.
    """
    return _own(_build(*_sizes(rng), 2, 4.0), seed_from(rng))


@exercise.corners(
    "the scale alpha / rank",
    d=(1, range(33, 36)),
    rank=(1, range(5, 8), range(33, 36)),
    alpha=(0.0, 0.01, 300.0),
    tokens=((), (1, 65)),
)
def _(rng: random.Random, d: int, rank: int, alpha: float, tokens: Any) -> Question:
    d_out = rng.randint(1, 3)
    build = _build(d, d_out, rank, alpha)
    return _ask(build, seed_from(rng), *tokens, chosen=("weight", "bias", "down", "up"))


@exercise.corners("names, shapes, and what trains", d=(1, range(301, 400)), rank=(1, range(33, 40)))
def _(rng: random.Random, d: int, rank: int) -> Question:
    d_in, d_out = rng.sample([d, rng.randint(2, 9)], 2)
    return Question(build=_build(d_in, d_out, rank, 8.0), probe="parameters")
