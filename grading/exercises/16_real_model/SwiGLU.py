"""Exercise SwiGLU of notebook 16."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import torch

from grading.definitions.definition import Definition
from grading.exercises.draws import seed_from
from tutor.checking.answers import Question

from ._common import SwiGLU, _values

exercise = Definition(minutes=10, difficulty=1, forbids=("helpers.llama.SwiGLU",))


exercise.reference(SwiGLU)


def _parameters(*sizes: tuple[int, int]) -> list[Question]:
    return [Question(build={"d_model": d, "d_feedforward": f}, probe="parameters") for d, f in sizes]


@exercise.stage(
    "names and shapes: three matrices, two thirds as wide",
    points=1,
    public=_parameters((4, 6), (3, 10), (2, 8), (1, 16384)),
    view="parameters",
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """gate and hidden are (width, d_model), output is (d_model, width), with width = 2 * d_feedforward // 3 and without
    biases.
    """
    return _parameters((rng.randint(3, 6), 3 * rng.randint(3, 6)), (5, 3 * rng.randint(2, 6) + 1), (4, 8), (1, 16384))


@cache
def _shapes(d: int, f: int) -> dict[str, tuple[int, ...]]:
    return {name: tuple(parameter.shape) for name, parameter in SwiGLU(d, f).named_parameters()}


def _ask(seed: int, d: int, f: int, *sizes: int, size: float = 1.0) -> Question:
    weights = {name: _values(*shape, seed=seed + n) for n, (name, shape) in enumerate(_shapes(d, f).items())}
    biases = {f"{name}.bias": torch.zeros(size) for name, size in (("gate", 2 * f // 3), ("hidden", 2 * f // 3))}
    silent = biases | {"output.bias": torch.zeros(d)}  # so that who keeps biases does not lose everything
    return Question(
        (_values(*sizes, d, seed=seed + 9, size=size),),
        build={"d_model": d, "d_feedforward": f},
        weights=weights | silent,
    )


def _same_width(seed: int) -> list[Question]:
    """Returns questions about matrices of one width: two sentences, one token, and numbers whose exp overflows.

    The last has one number between the matrices: a sum of several such products may cancel, and then float32's
    rounding, which is the processor's, decides.
    """
    return [_ask(seed, 4, 6, 2, 3), _ask(seed + 1, 4, 6, 1, 1), _ask(seed + 2, 4, 2, 3, size=100.0)]


@exercise.stage("output(silu(gate(x)) * hidden(x))", points=1, public=_same_width(1), decisive=True)
def _(rng: random.Random) -> list[Question]:
    """The gate goes through silu, hidden(x) does not; the two are multiplied number by number, and the product goes
    through output.
    """
    return [
        *_same_width(seed_from(rng)),
        *(_ask(seed_from(rng), *size) for size in ((3, 8, 2, 2), (5, 9, 4), (4, 7), (3, 6, 2, 1, 2))),
    ]


@exercise.corners(
    "names and shapes: three matrices, two thirds as wide",
    d=(1, range(33, 36), range(101, 104)),
    f=(2, 3, range(97, 103), range(301, 304)),
)
def _(rng: random.Random, d: int, f: int) -> Question:
    return _parameters((d, f))[0]


@exercise.corners(
    "output(silu(gate(x)) * hidden(x))",
    sizes=((1, 2), (3, 2), (3, 100), (33, 6)),  # d, f
    tokens=((), (1,), (1, 33)),
    size=(1e-2, 1.0),
)
@exercise.corners(
    "output(silu(gate(x)) * hidden(x))",
    sizes=((1, 2), (3, 2)),  # one number between the matrices: nothing cancels
    tokens=((), (1,), (1, 33)),
    size=(100.0,),
)
def _(rng: random.Random, sizes: tuple[int, ...], tokens: Any, size: float) -> Question:
    return _ask(seed_from(rng), *sizes, *tokens, size=size)
