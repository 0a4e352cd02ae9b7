"""Exercise layerwise_rates of notebook 18."""

from __future__ import annotations

import random
import re

from grading.definitions.definition import Definition
from grading.exercises.draws import fixed
from tutor.checking.answers import Question

exercise = Definition(minutes=15, difficulty=2)

PARTS = ("attention.query.weight", "attention.output.bias", "feed_forward.0.weight", "norm_1.weight", "norm_2.bias")


@exercise.reference
def layerwise_rates(names: list[str], rate: float, decay: float) -> dict[str, float]:
    numbers = {name: re.fullmatch(r"base\.layers\.(\d+)\..*", name) for name in names}
    layers = 1 + max((int(found[1]) for found in numbers.values() if found), default=-1)
    rates = {}
    for name, found in numbers.items():
        below = 0 if name.startswith("head.") else layers + 1 if not found else layers - int(found[1])
        rates[name] = rate * decay**below
    return rates


def _names(rng: random.Random, layers: int, head: str = "head.weight head.bias", parts: int = 2) -> list[str]:
    """Returns the names of a model's parameters, in an order that says nothing."""
    names = ["base.embedding.weight", "base.positions.weight", *head.split()]
    for number in range(layers):
        names += [f"base.layers.{number}.{part}" for part in rng.sample(PARTS, parts)]
    return rng.sample(names, len(names))


def _ask(rng: random.Random, layers: int, decay: float, head: str = "head.weight head.bias") -> Question:
    return Question((_names(rng, layers, head), rng.choice([1e-3, 2e-5, 0.5]), decay))


def _one(rng: random.Random) -> list[Question]:
    return [_ask(rng, 1, decay) for decay in (0.5, round(rng.uniform(0.2, 0.9), 2))]


exercise.by_hand(
    Question(
        (
            ["base.embedding.weight", "base.layers.0.norm_1.weight", "base.layers.1.norm_1.weight", "head.weight"],
            8.0,
            0.5,
        )
    ),
    part=lambda rates: list(rates.values()),
)


@exercise.stage("one layer", points=0.5, public=fixed(_one, 1), tolerance=1e-5)
def _(rng: random.Random) -> list[Question]:
    """The head learns at the full rate, the layer below it at the decayed one, the embeddings at one decayed twice."""
    return _one(rng)


def _upper_layers(rng: random.Random) -> Question:
    """Returns a question on the names of a model whose lower layers are left out, and one in the middle with them."""
    last = rng.randint(5, 7)
    kept = (2, *range(4, last + 1))
    names = ["base.embedding.weight", "base.norm.bias", "head.weight"]
    names += [f"base.layers.{number}.{rng.choice(PARTS)}" for number in kept]
    return Question((rng.sample(names, len(names)), rng.choice([1e-3, 0.5]), round(rng.uniform(0.3, 0.8), 2)))


def _several(rng: random.Random) -> list[Question]:
    return [_ask(rng, rng.randint(2, 6), round(rng.uniform(0.3, 0.9), 2)), _ask(rng, rng.randint(11, 13), 0.8)]


@exercise.stage(
    "several layers",
    points=1.5,
    public=[*fixed(_several, 2), _upper_layers(random.Random(4))],
    decisive=True,
    tolerance=1e-5,
)
def _(rng: random.Random) -> list[Question]:
    """Each layer counts one step more from the top: the last one is decayed once, layer 0 as often as there are layers,
    the embeddings once more. Numbers may have two digits, and lower layers may be missing among the names.
    """
    return [*_several(rng), _upper_layers(rng)]


def _other_heads(rng: random.Random) -> list[Question]:
    head = "head.0.weight head.0.bias head.2.weight head.layers.3.weight"
    return [_ask(rng, rng.randint(2, 4), 0.5, head), _ask(rng, 2, 1.0)]


@exercise.stage("a head of several parts, and no decay", points=0.25, public=fixed(_other_heads, 3), tolerance=1e-5)
def _(rng: random.Random) -> list[Question]:
    """Whatever the head consists of has the full rate, be it called `head.layers.3`; with a decay of 1 all have it."""
    return _other_heads(rng)


def _look_alikes(rng: random.Random) -> list[Question]:
    """Returns two questions: names with a head in them, and names with something like a layer in them."""
    heads = ["base.layers.0.attention.heads.weight", "base.head.weight", "header.weight", "old.head.bias"]
    layers = ["base.layers_norm.1.weight", "base.layer.0.bias", "layers.1.weight", "old.base.layers.0.norm_1.weight"]
    asks = []
    for others in (heads, layers):
        names = [*_names(rng, rng.randint(2, 4)), *others, "base.norm.weight"]
        asks.append(Question((rng.sample(names, len(names)), rng.choice([1e-3, 0.5]), round(rng.uniform(0.3, 0.8), 2))))
    return asks


@exercise.stage("names that only look like a head or a layer", points=0.25, seed=5, tolerance=1e-5)
def _(rng: random.Random) -> list[Question]:
    """Of the head is what *begins* with `head.`, of a layer what begins with `base.layers.` and a number, dots and all.
    Whatever else there is stands below layer 0, a last norm of the base, too.
    """
    return _look_alikes(rng)


@exercise.corners("several layers", layers=(1, 2, range(33, 36)), decay=(0.1, 1.0, 0.99))
def _(rng: random.Random, layers: int, decay: float) -> Question:
    return _ask(rng, layers, decay)
