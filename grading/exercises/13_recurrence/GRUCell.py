"""Exercise GRUCell of notebook 13."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import count
from typing import cast

import torch
from torch import Tensor, nn

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, seed_from, until
from tutor.checking.answers import Question

from ._common import values

exercise = Definition(
    minutes=20,
    difficulty=2,
    forbids=("torch.nn.GRUCell", "torch.nn.GRU", "torch.gru_cell", "torch.gru"),
)


@exercise.reference
class GRUCell(nn.Module):
    def __init__(self, d_in: int, d: int) -> None:
        super().__init__()
        self.from_input, self.from_state = nn.Linear(d_in, 3 * d), nn.Linear(d, 3 * d)

    def thirds(self, x: Tensor, state: Tensor) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        # What both layers give, each in three parts (b, d): for reset, update and candidate.
        return self.from_input(x).chunk(3, dim=-1), self.from_state(state).chunk(3, dim=-1)

    def mixed(self, reset: Tensor, update: Tensor, inputs: Tensor, states: Tensor, state: Tensor) -> Tensor:
        """Returns the new state of the gates and the last third of both layers."""
        candidate = torch.tanh(inputs + reset * states)
        return (1 - update) * candidate + update * state

    def forward(self, x: Tensor, state: Tensor) -> Tensor:
        (x_r, x_z, x_n), (h_r, h_z, h_n) = self.thirds(x, state)
        return self.mixed(torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z), x_n, h_n, state)


def _weights(d_in: int, d: int, seed: int, kind: str) -> dict[str, Tensor]:
    """Returns weights; kind "kept" has a candidate of 0, so that only the update gate is seen."""
    shapes = {"from_input.weight": (3 * d, d_in), "from_input.bias": (3 * d,)}
    shapes |= {"from_state.weight": (3 * d, d), "from_state.bias": (3 * d,)}
    weights = {name: values(*shape, seed=10 * seed + n) for n, (name, shape) in enumerate(shapes.items())}
    if kind == "kept":
        for weight in weights.values():
            weight[2 * d :] = 0
    return weights


def _step(b: int, d_in: int, d: int, seed: int, kind: str = "") -> Question:
    x, state = values(b, d_in, seed=10 * seed + 7), values(b, d, seed=10 * seed + 8)
    build = {"d_in": d_in, "d": d}
    return Question(
        (x, torch.zeros_like(state) if kind == "empty" else state), build=build, weights=_weights(d_in, d, seed, kind)
    )


def _loud(ask: Question) -> Question:
    """Returns a question with larger tokens: many sums in the gates are above 8 or below -8.

    None is above 40: twice as much has an exponential still, whoever writes tanh with it.
    """
    (x, state), weights = ask.inputs, cast(dict[str, Tensor], ask.weights)
    of_state = state @ weights["from_state.weight"].T + weights["from_state.bias"]

    def bearable(x: Tensor) -> bool:
        of_input = x @ weights["from_input.weight"].T + weights["from_input.bias"]
        return float((of_input.abs() + of_state.abs()).max()) < 40

    return replace(ask, inputs=(until(count(), lambda halvings: 5 * x / 2**halvings, bearable, 100), state))


def _draw(kind: str = "") -> Draw:
    def draw(rng: random.Random) -> list[Question]:
        d_in, d, b = rng.sample([2, 3, 4, 5], 3)
        alike = [] if kind else [_step(d, d, d, seed_from(rng))]
        return [_step(b, d_in, d, seed_from(rng), kind), *alike, _loud(_step(3, 4, 4, seed_from(rng), kind))]

    return draw


def _large_step(seed: int) -> Question:
    """Returns a question in which an exponential of what the layers give is infinite, and tanh is 1 or -1."""
    ask = _step(3, 4, 2, seed)
    x, state = ask.inputs
    return replace(ask, inputs=(1000 * x, state))


@exercise.stage(
    "names and shapes of the parameters",
    points=0.5,
    public=[Question(build={"d_in": 4, "d": 3}, probe="parameters")],
    view="parameters",
)
def _(rng: random.Random) -> list[Question]:
    """Two layers: from_input is nn.Linear(d_in, 3 * d), from_state is nn.Linear(d, 3 * d). Nothing else."""
    return [Question(build={"d_in": rng.randint(5, 9), "d": rng.randint(2, 4)}, probe="parameters")]


@exercise.stage(
    "how much of the old state stays",
    points=1,
    public=[_step(2, 3, 2, 1, "kept"), _step(3, 2, 3, 2, "kept"), _loud(_step(3, 4, 4, 11, "kept"))],
)
def _(rng: random.Random) -> list[Question]:
    """Here the last thirds of both layers are 0, so the candidate is 0, and the new state is update * state. The update
    gate is the sigmoid of the two second thirds added up.
    """
    return _draw("kept")(rng)


@exercise.stage(
    "from an empty state",
    points=1,
    public=[_step(2, 3, 2, 3, "empty"), _step(3, 2, 3, 4, "empty"), _loud(_step(3, 4, 4, 12, "empty"))],
)
def _(rng: random.Random) -> list[Question]:
    """The old state is 0, so the new one is (1 - update) * candidate; of from_state only the biases are left."""
    return _draw("empty")(rng)


@exercise.stage(
    "one step, everything in it",
    points=2,
    public=[_step(2, 3, 2, 5), _step(2, 2, 4, 6), _loud(_step(3, 4, 4, 10))],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """reset and update are sigmoids of the first and of the second thirds added up; candidate = tanh(third of
    from_input + reset * third of from_state); new state = (1 - update) * candidate + update * state.
    """
    return _draw()(rng)


@exercise.stage(
    "one sentence, one number",
    points=0.5,
    public=[
        _step(1, 3, 1, 7),
        _step(3, 1, 4, 8),
        _loud(_step(6, 1, 6, 13)),
        _step(4, 3, 1, 14),
        _step(1, 3, 1, 15, "empty"),
    ],
)
def _(rng: random.Random) -> list[Question]:
    """With one sentence, or with one number in the state or in the input, the result is still (b, d)."""
    return [
        _step(1, rng.randint(2, 5), 1, seed_from(rng)),
        _step(rng.randint(2, 4), 1, rng.randint(4, 6), seed_from(rng)),
        _loud(_step(6, 1, 6, seed_from(rng))),
        _step(rng.randint(2, 4), 3, 1, seed_from(rng)),
    ]


exercise.by_hand(
    Question(
        (torch.tensor([[2.0]]), torch.tensor([[0.5]])),
        build={"d_in": 1, "d": 1},
        weights={
            "from_input.weight": torch.tensor([[1.0], [-1.0], [0.5]]),
            "from_input.bias": torch.zeros(3),
            "from_state.weight": torch.tensor([[2.0], [2.0], [4.0]]),
            "from_state.bias": torch.zeros(3),
        },
    ),
    part=float,
)
exercise.large += [_large_step(9)]


@exercise.corners("one step, everything in it", b=(1, range(33, 36)), d_in=(1, range(33, 36)), d=(1, range(9, 12)))
def _(rng: random.Random, b: int, d_in: int, d: int) -> Question:
    return _step(b, d_in, d, seed_from(rng))
