"""Exercise LearnedPositions of notebook 02."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor, nn

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, seed_from
from tutor.checking.answers import Question

from ._common import _values, sinusoidal_encoding

exercise = Definition(minutes=12, difficulty=2)


@exercise.reference
class LearnedPositions(nn.Module):
    table: Tensor

    def __init__(self, max_len: int, d_model: int, fixed: Tensor | None = None) -> None:
        super().__init__()
        if fixed is None:
            self.table = nn.Parameter(torch.randn(max_len, d_model))
        else:
            self.register_buffer("table", fixed)

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[1] > len(self.table):
            raise ValueError(f"{x.shape[1]} tokens, but the table has {len(self.table)} positions")
        return x + self.table[: x.shape[1]]


class _Called(LearnedPositions):
    """Keeps a table under another name, and works otherwise."""

    name = "pe"

    def __init__(self, max_len: int, d_model: int, fixed: Tensor | None = None) -> None:
        nn.Module.__init__(self)
        if fixed is None:
            self.register_parameter(self.name, nn.Parameter(torch.randn(max_len, d_model)))
        else:
            self.register_buffer(self.name, fixed)

    def forward(self, x: Tensor) -> Tensor:
        table: Tensor = next(iter(self.state_dict(keep_vars=True).values()))
        if x.shape[1] > len(table):
            raise ValueError("too long")
        return x + table[: x.shape[1]]


class _Embedded(_Called):
    name = "table"

    def __init__(self, max_len: int, d_model: int, fixed: Tensor | None = None) -> None:
        nn.Module.__init__(self)
        table = nn.Embedding(max_len, d_model) if fixed is None else nn.Embedding.from_pretrained(fixed)
        self.add_module(self.name, table)


def _learned(b: int, n: int, d: int, max_len: int, seed: int) -> Question:
    table = _values(max_len, d, seed=seed + 1)
    return Question((_values(b, n, d, seed=seed),), build={"max_len": max_len, "d_model": d}, weights={"table": table})


def _fixed(b: int, n: int, d: int, max_len: int, seed: int) -> Question:
    table = _values(max_len, d, seed=seed + 1)
    return Question((_values(b, n, d, seed=seed),), build={"max_len": max_len, "d_model": d, "fixed": table})


def _draw_sizes(make: Any) -> Draw:
    return lambda rng: [make(rng.randint(8, 20), 2 * rng.randint(1, 3))]


def _built(max_len: int, d: int) -> Question:
    return Question(build={"max_len": max_len, "d_model": d}, probe="parameters")


@exercise.stage("max_len x d_model trainable numbers in `table`", points=0.5, public=[_built(10, 4)], view="parameters")
def _(rng: random.Random) -> list[Question]:
    """Look at list(LearnedPositions(10, 4).named_parameters()): expect one parameter of shape (10, 4) called table, and
    in named_buffers() nothing. What makes a tensor trainable is nn.Parameter.
    """
    return _draw_sizes(_built)(rng)


def _built_fixed(max_len: int, d: int) -> Question:
    table = sinusoidal_encoding(max_len, d)
    return Question(build={"max_len": max_len, "d_model": d, "fixed": table}, probe="parameters")


@exercise.stage(
    "a fixed table: nothing to train", points=0.25, public=[_built_fixed(6, 4)], view="parameters", decisive=True
)
def _(rng: random.Random) -> list[Question]:
    """A sinusoidal table is computed, not learned: it is a buffer called table (register_buffer), the only one, and
    nothing trains.
    """
    return _draw_sizes(_built_fixed)(rng)


def _new(max_len: int, d: int) -> Question:
    """Returns a question that looks at what a new module adds to zeros."""
    table = sinusoidal_encoding(max_len, d)
    return Question((torch.zeros(1, max_len, d),), build={"max_len": max_len, "d_model": d}, extra={"sinusoids": table})


@exercise.stage("a new table starts at random", points=0.25, public=[_new(5, 4), _new(9, 2)], measure="random start")
def _(rng: random.Random) -> list[Question]:
    """Rows that start alike, all zeros for example, tell no position from another. Start with torch.randn(max_len,
    d_model); `forward` adds the table to x and nothing else.
    """
    return [_new(rng.randint(5, 9), 2 * rng.randint(1, 4))]


@exercise.stage(
    "added to the words",
    points=1,
    public=[
        _learned(2, 3, 2, 3, 1),
        _learned(3, 3, 2, 5, 2),
        _fixed(2, 3, 2, 4, 3),
        _learned(4, 2, 2, 3, 6),
        _learned(1, 2, 5, 3, 7),
        _fixed(2, 3, 4, 3, 8),
        _learned(2, 3, 8, 4, 12),  # through which most gradients pass, so that a kept table is asked for them
    ],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """As in add_positions: x plus the first n rows of the table, along the words."""
    n, seed = rng.randint(3, 5), seed_from(rng)
    return [
        _learned(2, n, 4, n, seed),
        _learned(n, n, 4, n + 2, seed),
        _learned(n + 3, n, 2, n + 1, seed),  # more sentences than rows
        _learned(2, n, 10, n + 1, seed),  # wider than the table is long
        _fixed(2, n, 2, n + rng.randint(1, 3), seed),
        _fixed(2, n, 4, n, seed),
    ]


def _trained(max_len: int, d: int) -> Question:
    """Returns a question that looks at which numbers a gradient reaches, for sentences of all positions."""
    return Question((max_len, d), probe="learns", follow_up=(torch.zeros(2, max_len, d),))


@exercise.stage("training reaches the table", points=0.5, public=[_trained(10, 4)], decisive=True)
def _(rng: random.Random) -> list[Question]:
    """A loss must send a gradient through the result to self.table: add self.table itself, not a copy."""
    return _draw_sizes(_trained)(rng)


@exercise.stage(
    "longer than the table: a ValueError",
    points=0.5,
    public=[
        *(_learned(*sizes) for sizes in ((1, 4, 2, 3, 4), (2, 5, 2, 3, 5), (2, 3, 2, 1, 11))),
        *(_fixed(*sizes) for sizes in ((1, 4, 2, 3, 9), (2, 6, 7, 3, 10))),
    ],
    raises="ValueError",
    measure="says why",
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """There is no row for word max_len. Compare x.shape[1] with max_len before adding and raise ValueError."""
    max_len, seed = rng.randint(3, 5), seed_from(rng)
    learned = [_learned(2, max_len + extra, 2, max_len, seed) for extra in (1, rng.randint(2, 4))]
    fixed = [_fixed(1, max_len + 1, 2, max_len, seed), _fixed(2, 2 * max_len, 8, max_len, seed)]
    return [*learned, *fixed, _learned(2, max_len, 2, 1, seed)]  # one row would fit any number of words


exercise.large += [_learned(1, 600, 2, 600, 9)]


@exercise.corners(
    "added to the words",
    b=(1, range(33, 36)),
    n=(1, 2, range(33, 36)),
    spare=(0, 1, range(301, 304)),
    fixed=(True, False),
)
def _(rng: random.Random, b: int, n: int, spare: int, fixed: bool) -> Question:
    """Asks about a table as long as the sentences, longer by one row, and much longer."""
    return (_fixed if fixed else _learned)(b, n, 2, n + spare, seed_from(rng))


@exercise.corners(
    "longer than the table: a ValueError",
    max_len=(1, range(33, 36), range(301, 304)),
    extra=(1, 2),
    fixed=(True, False),
)
def _(rng: random.Random, max_len: int, extra: int, fixed: bool) -> Question:
    return (_fixed if fixed else _learned)(1, max_len + extra, 1, max_len, seed_from(rng))


@exercise.mistake("the table has another name")
class _AnotherName(_Embedded):
    """The checks load a table by its name: the only parameter must be called `table` (with nn.Embedding it would be
    `something.weight`).
    """

    name = "embedding"
