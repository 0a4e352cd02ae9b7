"""Exercise LoRALinear of notebook 15."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import seed_from
from tutor.checking.answers import Ask

from ._common import LoRALinear, _numbers, _with

Build = dict[str, Any]


def _build(d_in: int, d_out: int, rank: int, alpha: float) -> Build:
    return {"d_in": d_in, "d_out": d_out, "rank": rank, "alpha": alpha}


def _weights(build: Build, seed: int, *chosen: str) -> dict[str, Tensor]:
    """Returns random numbers for the parameters that are chosen, for all of them where none is."""
    d_in, d_out, rank = build["d_in"], build["d_out"], build["rank"]
    shapes = {"weight": (d_out, d_in), "bias": (d_out,), "down": (rank, d_in), "up": (d_out, rank)}
    return {name: _numbers(*shapes[name], seed=seed + n) for n, name in enumerate(shapes) if name in (chosen or shapes)}


def _ask(build: Build, seed: int, *sizes: int, chosen: tuple[str, ...] = (), **settings: Any) -> Ask:
    """Returns a question about tokens `(*sizes, d_in)`."""
    x = _numbers(*sizes, build["d_in"], seed=seed + 9)
    return Ask((x,), build=build, weights=_weights(build, seed, *chosen), **settings)


def _random_down(d: int, seed: int, alpha: float = 8.0) -> Ask:
    """Returns a question whose result is `down` transposed, times the scale: the layer itself is silent."""
    silent = {"weight": torch.zeros(d, d), "bias": torch.zeros(d), "up": torch.eye(d)}
    x = torch.eye(d)[None]
    return Ask((x,), build=_build(d, d, d, alpha), weights=silent, beside={"sinusoids": torch.zeros(d, d)})


def _sizes(rng: random.Random) -> tuple[int, int]:
    d_in, d_out = rng.sample([4, 5, 6, 7], 2)
    return d_in, d_out


def _draw_parameters(rng: random.Random) -> list[Ask]:
    return [Ask(build=_build(*_sizes(rng), rank, 8.0), take="parameters") for rank in (1, rng.choice([2, 3]))]


def _draw_start(rng: random.Random) -> list[Ask]:
    build = _build(*_sizes(rng), 2, 8.0)
    return [_ask(build, seed_from(rng), 2, 3, chosen=("weight", "bias", "down"))]


def _draw_even(rng: random.Random) -> list[Ask]:
    """Draws layers whose scale is 1: with several tokens, with one, and with fewer or more axes than usual."""
    sizes = ((2, 3), (1, 1), (4,), (2, 1, 3))
    return [
        _ask(_build(*_sizes(rng), rank, float(rank)), seed_from(rng), *size)
        for size, rank in zip(sizes, (1, 2, 3, 1), strict=True)
    ]


DOES_THE_SAME = ("the *",)  # of what is taken: the weights, and what the layer itself gives afterwards
SCALES = ((1, 8.0), (2, 8.0), (4, 2.0))  # rank, alpha: neither is 1 in all, nor is their product alike


def _draw_scale(rng: random.Random) -> list[Ask]:
    several = [_ask(_build(*_sizes(rng), rank, alpha), seed_from(rng), 2, 3) for rank, alpha in SCALES]
    return [*several, _ask(_build(*_sizes(rng), 2, 8.0), seed_from(rng))]


def _draw_merged(rng: random.Random) -> list[Ask]:
    return [
        _ask(_build(*_sizes(rng), rank, alpha), seed_from(rng), 2, 3, take="merged", entries=DOES_THE_SAME)
        for rank, alpha in ((2, 2.0), (1, 8.0), (4, 2.0))
    ]


def _own(build: Build, seed: int) -> Ask:
    return _ask(build, seed, 1, 2, take="merged", entries=("shared*", "what learns*", "*double*"))


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


def _both_zero(self: Any) -> None:
    nn.init.zeros_(self.down)


def _both_random(self: Any) -> None:
    nn.init.normal_(self.up)


class _TurnedRound(LoRALinear):
    def __init__(self, d_in: int, d_out: int, rank: int, alpha: float = 8.0) -> None:
        nn.Linear.__init__(self, d_in, d_out)
        self.requires_grad_(False)
        self.scale = alpha / rank
        self.down = nn.Parameter(torch.zeros(rank, d_in))
        self.up = nn.Parameter(torch.randn(d_out, rank))


def _base_trains(self: Any) -> None:
    self.weight.requires_grad_(True)
    self.bias.requires_grad_(True)


def _bias_trains(self: Any) -> None:
    self.bias.requires_grad_(True)


def _all_frozen(self: Any) -> None:
    self.requires_grad_(False)


def _without_base(self: Any, x: Tensor) -> Tensor:
    return self.scale * (x @ self.down.T @ self.up.T)  # type: ignore[no-any-return]


def _result_scaled(self: Any, x: Tensor) -> Tensor:
    result: Tensor = self.scale * (nn.functional.linear(x, self.weight, self.bias) + x @ self.down.T @ self.up.T)
    return result


@torch.no_grad()
def _merged_unscaled(self: Any) -> nn.Linear:
    plain = nn.Linear(self.in_features, self.out_features, dtype=self.weight.dtype)
    plain.weight.copy_(self.weight + self.up @ self.down)
    plain.bias.copy_(self.bias)
    return plain


@torch.no_grad()
def _merged_in_place(self: Any) -> nn.Linear:
    self.weight += self.scale * (self.up @ self.down)
    plain = nn.Linear(self.in_features, self.out_features, dtype=self.weight.dtype)
    plain.weight.copy_(self.weight)
    plain.bias.copy_(self.bias)
    return plain


@torch.no_grad()
def _merged_without_base(self: Any) -> nn.Linear:
    plain = nn.Linear(self.in_features, self.out_features, dtype=self.weight.dtype)
    plain.weight.copy_(self.scale * (self.up @ self.down))
    plain.bias.copy_(self.bias)
    return plain


@torch.no_grad()
def _merged_without_change(self: Any) -> nn.Linear:
    plain = nn.Linear(self.in_features, self.out_features, dtype=self.weight.dtype)
    plain.weight.copy_(self.weight)
    plain.bias.copy_(self.bias)
    return plain


EXERCISE = Exercise(
    LoRALinear,
    [
        Stage(
            "names, shapes, and what trains",
            1,
            "weight (d_out, d_in) and bias (d_out,) with requires_grad=False; down (rank, d_in) and up (d_out, rank) "
            "are nn.Parameters that train. Nothing else, no buffers either.",
            [Ask(build=_build(4, 3, 2, 8.0), take="parameters"), Ask(build=_build(3, 5, 1, 8.0), take="parameters")],
            _draw_parameters,
            view="parameters",
            decisive=True,
        ),
        Stage(
            "a new layer gives what the frozen layer gives",
            0.5,
            "up starts with zeros: then the product is zero, whatever down holds.",
            [_ask(_build(4, 3, 2, 8.0), 1, 2, 3, chosen=("weight", "bias", "down"))],
            _draw_start,
            decisive=True,
        ),
        Stage(
            "down starts with random numbers",
            0.5,
            "Where both factors are zero, each one's gradient is zero too, and nothing ever moves. Start down with "
            "torch.randn.",
            [_random_down(4, 3)],
            lambda rng: [_random_down(rng.choice([5, 6, 7]), seed_from(rng))],
            measure="random start",
            decisive=True,
        ),
        Stage(
            "the frozen layer plus the two factors",
            1,
            "What the frozen layer gives (with its bias), plus x through down and then through up; here alpha = rank, "
            "so that the scale is 1.",
            [
                _ask(_build(4, 3, 2, 2.0), 2, 2, 3),
                _ask(_build(3, 5, 1, 1.0), 3, 4),
                _ask(_build(4, 3, 2, 2.0), 4, 2, 1, 3),
            ],
            _draw_even,
            decisive=True,
        ),
        Stage(
            "the scale alpha / rank",
            1,
            "The way through the factors, and nothing else, is multiplied by alpha / rank.",
            [
                *(_ask(_build(4, 3, rank, alpha), 4 + rank, 1, 3) for rank, alpha in SCALES),
                _ask(_build(3, 4, 2, 8.0), 9),  # a single token: no axis before its numbers
            ],
            _draw_scale,
        ),
        Stage(
            "merged() gives a plain layer that does the same",
            0.75,
            "A new nn.Linear with weight + alpha / rank * up @ down and with the same bias; this layer itself stays as "
            "it is.",
            [
                _ask(build, 7 + n, 1, 3, take="merged", entries=DOES_THE_SAME)
                for n, build in enumerate((_build(4, 3, 2, 2.0), _build(3, 4, 4, 2.0)))
            ],
            _draw_merged,
        ),
        Stage(
            "merged() gives a layer of its own, of the same dtype",
            0.25,
            "Copy the bias as well: what is shared changes in both layers. And make the new layer with "
            "dtype=self.weight.dtype, so that one in double precision stays so.",
            [_own(_build(3, 2, 1, 1.0), 9)],
            lambda rng: [_own(_build(*_sizes(rng), 2, 4.0), seed_from(rng))],
        ),
    ],
    [
        Mistake(
            "down does not start with random numbers",
            "The gradient of each factor is a product with the other one. Where both are zero, both gradients are "
            "zero, and nothing ever moves; where all rows of down are alike, all learn the same. Start it with "
            "torch.randn.",
            _started(_both_zero),
        ),
        Mistake(
            "both factors start with random numbers",
            "The model is disturbed before it has seen one label. Start up with zeros.",
            _started(_both_random),
        ),
        Mistake(
            "up starts with random numbers and down with zeros",
            "It would learn as well, but here it is the other way round, as in the paper: down is random, up is zero.",
            type("LoRALinear", (_TurnedRound,), {}),
        ),
        Mistake(
            "the frozen layer is not frozen",
            "weight and bias still train: then all d_out * d_in numbers change, and nothing is saved. Set their "
            "requires_grad to False.",
            _started(_base_trains),
        ),
        Mistake(
            "the bias still trains",
            "The bias belongs to the frozen layer: set its requires_grad to False as well.",
            _started(_bias_trains),
        ),
        Mistake(
            "the factors are frozen too",
            "Nothing trains any more: freeze weight and bias first, and make down and up afterwards.",
            _started(_all_frozen),
        ),
        Mistake(
            "the scale is forgotten",
            "The way through the factors is multiplied by alpha / rank; in merged() as well.",
            _scaled(lambda rank, alpha: 1.0),
        ),
        Mistake(
            "the scale is alpha",
            "Divide by the rank: with it the size of the change depends less on how many rows down has.",
            _scaled(lambda rank, alpha: alpha),
        ),
        Mistake(
            "the scale is 1 / rank",
            "alpha is not used: the scale is alpha / rank.",
            _scaled(lambda rank, alpha: 1 / rank),
        ),
        Mistake(
            "the scale is rank / alpha",
            "It is the other way round: alpha / rank.",
            _scaled(lambda rank, alpha: rank / alpha),
        ),
        Mistake(
            "the scale multiplies the frozen layer too",
            "Only the way through the factors is scaled; what the frozen layer gives is added as it is.",
            _with(LoRALinear, forward=_result_scaled),
        ),
        Mistake(
            "the frozen layer is left out",
            "The factors make a change of what the layer knows already: add what the frozen layer gives.",
            _with(LoRALinear, forward=_without_base),
        ),
        Mistake(
            "merged() forgets the scale",
            "The same scale belongs into the merged weight: weight + alpha / rank * up @ down.",
            _with(LoRALinear, merged=_merged_unscaled),
        ),
        Mistake(
            "merged() changes the layer itself",
            "After it, the layer has the change in its weight and adds it a second time. Make a new nn.Linear.",
            _with(LoRALinear, merged=_merged_in_place),
        ),
        Mistake(
            "merged() leaves the frozen weight out",
            "The merged weight is the frozen one plus the product of the factors.",
            _with(LoRALinear, merged=_merged_without_base),
        ),
        Mistake(
            "merged() gives the frozen layer, without what was learned",
            "Add the product of the factors, times the scale, to the weight.",
            _with(LoRALinear, merged=_merged_without_change),
        ),
    ],
    hints=(
        "Four tensors have a name in the text. Which two come from the layer as it was, and must not train? Which two "
        "are new? For the change to be zero at the start, is it enough if *one* factor is zero? And if both are, what "
        "is the gradient of $uv$ with respect to $u$, and with respect to $v$?",
        "A layer with $W = (2)$, one number in and one out, rank 1 and `alpha` 3. With `down` $= 5$ and `up` $= 0$ "
        "it gives $2x$, as before. After a step `up` is $0.1$: now it gives $2x + 3 \\cdot 0.1 \\cdot 5 x = 3.5 x$. "
        "So the merged layer has the weight $3.5$, and with it no second way is needed. With `rank` 2 the factor 3 "
        "would be $3/2$.\n\nWhoever inherits from `nn.Linear` has `weight` and `bias` already, with the right names "
        "and shapes.",
        "```python\n"
        "class LoRALinear(nn.Linear):\n"
        "    def __init__(self, d_in, d_out, rank, alpha=8.0):\n"
        "        super().__init__(d_in, d_out)  # makes weight (d_out, d_in) and bias (d_out,)\n"
        "        ...  # 1. freeze the two\n"
        "        ...  # 2. keep the scale, a plain number\n"
        "        ...  # 3. down (rank, d_in): random; up (d_out, rank): zeros; both nn.Parameter\n"
        "```\n"
        "`forward`: `super().forward(x)` is the frozen way; `x @ self.down.T` has the shape `(..., rank)`, and then `@ "
        "self.up.T` brings it to `(..., d_out)`. `merged`: a new `nn.Linear` of the same `dtype`, into "
        "which, under `torch.no_grad()`, `copy_` puts a weight `(d_out, d_in)` and the bias.",
    ),
)
