"""Exercise LoRALinear of notebook 15."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from grading.definitions.definition import Definition
from grading.exercises.draws import seed_from
from tutor.checking.answers import Question

from ._common import LoRALinear, _numbers, _with

exercise = Definition(minutes=30, difficulty=2)
exercise.reference(LoRALinear)

Build = dict[str, Any]


def _build(d_in: int, d_out: int, rank: int, alpha: float) -> Build:
    return {"d_in": d_in, "d_out": d_out, "rank": rank, "alpha": alpha}


def _weights(build: Build, seed: int, *chosen: str) -> dict[str, Tensor]:
    """Returns random numbers for the parameters that are chosen, for all of them where none is."""
    d_in, d_out, rank = build["d_in"], build["d_out"], build["rank"]
    shapes = {"weight": (d_out, d_in), "bias": (d_out,), "down": (rank, d_in), "up": (d_out, rank)}
    return {name: _numbers(*shapes[name], seed=seed + n) for n, name in enumerate(shapes) if name in (chosen or shapes)}


def _ask(build: Build, seed: int, *sizes: int, chosen: tuple[str, ...] = (), **settings: Any) -> Question:
    """Returns a question about tokens `(*sizes, d_in)`."""
    x = _numbers(*sizes, build["d_in"], seed=seed + 9)
    return Question((x,), build=build, weights=_weights(build, seed, *chosen), **settings)


def _sizes(rng: random.Random) -> tuple[int, int]:
    d_in, d_out = rng.sample([4, 5, 6, 7], 2)
    return d_in, d_out


DOES_THE_SAME = ("the *",)  # of what is taken: the weights, and what the layer itself gives afterwards
SCALES = ((1, 8.0), (2, 8.0), (4, 2.0))  # rank, alpha: neither is 1 in all, nor is their product alike


def _started(change: Callable[[Any], None]) -> Callable[..., Any]:
    """Returns the class with something done at the end of its constructor."""

    def begin(self: Any, d_in: int, d_out: int, rank: int, alpha: float = 8.0) -> None:
        LoRALinear.__init__(self, d_in, d_out, rank, alpha)
        change(self)

    return _with(LoRALinear, __init__=begin)


def _scaled(scale: Callable[[int, float], float]) -> Callable[..., Any]:
    """Returns the class with another scale, in its result and in what it merges."""

    def begin(self: Any, d_in: int, d_out: int, rank: int, alpha: float = 8.0) -> None:
        LoRALinear.__init__(self, d_in, d_out, rank, alpha)
        self.scale = scale(rank, alpha)

    return _with(LoRALinear, __init__=begin)


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
def _(rng):
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
def _(rng):
    """up starts with zeros: then the product is zero, whatever down holds, and the bias is added once."""
    build = _build(*_sizes(rng), 2, 8.0)
    return [_ask(build, seed_from(rng), 2, 3, chosen=("weight", "bias", "down"))]


def _random_down(d: int, seed: int, alpha: float = 8.0) -> Question:
    """Returns a question whose result is `down` transposed, times the scale: the layer itself is silent."""
    silent = {"weight": torch.zeros(d, d), "bias": torch.zeros(d), "up": torch.eye(d)}
    x = torch.eye(d)[None]
    return Question((x,), build=_build(d, d, d, alpha), weights=silent, extra={"sinusoids": torch.zeros(d, d)})


@exercise.stage(
    "down starts with random numbers", points=0.5, public=[_random_down(4, 3)], measure="random start", decisive=True
)
def _(rng):
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
def _(rng):
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
def _(rng):
    """The way through the factors, and nothing else, is multiplied by alpha / rank."""
    several = [_ask(_build(*_sizes(rng), rank, alpha), seed_from(rng), 2, 3) for rank, alpha in SCALES]
    return [*several, _ask(_build(*_sizes(rng), 2, 8.0), seed_from(rng))]


@exercise.stage(
    "merged() gives a plain layer that does the same",
    points=0.75,
    public=[
        _ask(build, 7 + n, 1, 3, probe="merged", entries=DOES_THE_SAME)
        for n, build in enumerate((_build(4, 3, 2, 2.0), _build(3, 4, 4, 2.0)))
    ],
    decisive=True,
)
def _(rng):
    """A new nn.Linear with weight + alpha / rank * up @ down and with the same bias; this layer itself
    stays as it is.
    """
    return [
        _ask(_build(*_sizes(rng), rank, alpha), seed_from(rng), 2, 3, probe="merged", entries=DOES_THE_SAME)
        for rank, alpha in ((2, 2.0), (1, 8.0), (4, 2.0))
    ]


def _own(build: Build, seed: int) -> Question:
    return _ask(build, seed, 1, 2, probe="merged", entries=("shared*", "what learns*", "*double*"))


@exercise.stage(
    "merged() gives a layer of its own, of the same dtype", points=0.25, public=[_own(_build(3, 2, 1, 1.0), 9)]
)
def _(rng):
    """Copy the bias as well: what is shared changes in both layers. And make the new layer with
    dtype=self.weight.dtype, so that one in double precision stays so.
    """
    return [_own(_build(*_sizes(rng), 2, 4.0), seed_from(rng))]


def _both_zero(self: Any) -> None:
    nn.init.zeros_(self.down)


@exercise.corners(
    "the scale alpha / rank",
    d=(1, range(33, 36)),
    rank=(1, range(5, 8), range(33, 36)),
    alpha=(0.0, 0.01, 300.0),
    tokens=((), (1, 65)),
)
def _(rng, d, rank, alpha, tokens):
    d_out = rng.randint(1, 3)
    build = _build(d, d_out, rank, alpha)
    return _ask(build, seed_from(rng), *tokens, chosen=("weight", "bias", "down", "up"))


@exercise.corners("names, shapes, and what trains", d=(1, range(301, 400)), rank=(1, range(33, 40)))
def _(rng, d, rank):
    d_in, d_out = rng.sample([d, rng.randint(2, 9)], 2)
    return Question(build=_build(d_in, d_out, rank, 8.0), probe="parameters")


exercise.mistake(
    "down does not start with random numbers",
    "The gradient of each factor is a product with the other one. Where both are zero, both gradients are "
    "zero, and nothing ever moves; where all rows of down are alike, all learn the same. Start it with "
    "torch.randn.",
    _started(_both_zero),
)


def _both_random(self: Any) -> None:
    nn.init.normal_(self.up)


exercise.mistake(
    "both factors start with random numbers",
    "The model is disturbed before it has seen one label. Start up with zeros.",
    _started(_both_random),
)


class _TurnedRound(LoRALinear):
    def __init__(self, d_in: int, d_out: int, rank: int, alpha: float = 8.0) -> None:
        nn.Linear.__init__(self, d_in, d_out)
        self.requires_grad_(False)
        self.scale = alpha / rank
        self.down = nn.Parameter(torch.zeros(rank, d_in))
        self.up = nn.Parameter(torch.randn(d_out, rank))


exercise.mistake(
    "up starts with random numbers and down with zeros",
    "It would learn as well, but here it is the other way round, as in the paper: down is random, up is zero.",
    type("LoRALinear", (_TurnedRound,), {}),
)


def _base_trains(self: Any) -> None:
    self.weight.requires_grad_(True)
    self.bias.requires_grad_(True)


exercise.mistake(
    "the frozen layer is not frozen",
    "weight and bias still train: then all d_out * d_in numbers change, and nothing is saved. Set their "
    "requires_grad to False.",
    _started(_base_trains),
)


def _bias_trains(self: Any) -> None:
    self.bias.requires_grad_(True)


exercise.mistake(
    "the bias still trains",
    "The bias belongs to the frozen layer: set its requires_grad to False as well.",
    _started(_bias_trains),
)


def _all_frozen(self: Any) -> None:
    self.requires_grad_(False)


exercise.mistake(
    "the factors are frozen too",
    "Nothing trains any more: freeze weight and bias first, and make down and up afterwards.",
    _started(_all_frozen),
)

exercise.mistake(
    "the scale is forgotten",
    "The way through the factors is multiplied by alpha / rank; in merged() as well.",
    _scaled(lambda rank, alpha: 1.0),
)

exercise.mistake(
    "the scale is alpha",
    "Divide by the rank: with it the size of the change depends less on how many rows down has.",
    _scaled(lambda rank, alpha: alpha),
)

exercise.mistake(
    "the scale is alpha / sqrt(rank)",
    "A later variant (rank-stabilised LoRA) divides by the root. Here, as in the paper, alpha is divided by the rank "
    "itself.",
    _scaled(lambda rank, alpha: alpha / math.sqrt(rank)),
)

exercise.mistake(
    "the scale is 1 / rank", "alpha is not used: the scale is alpha / rank.", _scaled(lambda rank, alpha: 1 / rank)
)

exercise.mistake(
    "the scale is rank / alpha", "It is the other way round: alpha / rank.", _scaled(lambda rank, alpha: rank / alpha)
)


def _result_scaled(self: Any, x: Tensor) -> Tensor:
    result: Tensor = self.scale * (nn.functional.linear(x, self.weight, self.bias) + x @ self.down.T @ self.up.T)
    return result


exercise.mistake(
    "the scale multiplies the frozen layer too",
    "Only the way through the factors is scaled; what the frozen layer gives is added as it is.",
    _with(LoRALinear, forward=_result_scaled),
)


def _without_base(self: Any, x: Tensor) -> Tensor:
    return self.scale * (x @ self.down.T @ self.up.T)  # type: ignore[no-any-return]


exercise.mistake(
    "the frozen layer is left out",
    "The factors make a change of what the layer knows already: add what the frozen layer gives.",
    _with(LoRALinear, forward=_without_base),
)


@torch.no_grad()
def _merged_unscaled(self: Any) -> nn.Linear:
    plain = nn.Linear(self.in_features, self.out_features, device=self.weight.device, dtype=self.weight.dtype)
    plain.weight.copy_(self.weight + self.up @ self.down)
    plain.bias.copy_(self.bias)
    return plain


exercise.mistake(
    "merged() forgets the scale",
    "The same scale belongs into the merged weight: weight + alpha / rank * up @ down.",
    _with(LoRALinear, merged=_merged_unscaled),
)


@torch.no_grad()
def _merged_in_place(self: Any) -> nn.Linear:
    self.weight += self.scale * (self.up @ self.down)
    plain = nn.Linear(self.in_features, self.out_features, device=self.weight.device, dtype=self.weight.dtype)
    plain.weight.copy_(self.weight)
    plain.bias.copy_(self.bias)
    return plain


exercise.mistake(
    "merged() changes the layer itself",
    "After it, the layer has the change in its weight and adds it a second time. Make a new nn.Linear.",
    _with(LoRALinear, merged=_merged_in_place),
)


@torch.no_grad()
def _merged_without_base(self: Any) -> nn.Linear:
    plain = nn.Linear(self.in_features, self.out_features, device=self.weight.device, dtype=self.weight.dtype)
    plain.weight.copy_(self.scale * (self.up @ self.down))
    plain.bias.copy_(self.bias)
    return plain


exercise.mistake(
    "merged() leaves the frozen weight out",
    "The merged weight is the frozen one plus the product of the factors.",
    _with(LoRALinear, merged=_merged_without_base),
)


@torch.no_grad()
def _merged_without_change(self: Any) -> nn.Linear:
    plain = nn.Linear(self.in_features, self.out_features, device=self.weight.device, dtype=self.weight.dtype)
    plain.weight.copy_(self.weight)
    plain.bias.copy_(self.bias)
    return plain


exercise.mistake(
    "merged() gives the frozen layer, without what was learned",
    "Add the product of the factors, times the scale, to the weight.",
    _with(LoRALinear, merged=_merged_without_change),
)
