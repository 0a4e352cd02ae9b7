"""Exercise add_lora of notebook 15."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from grading.definitions.definition import Definition
from helpers.models import Classifier
from tutor.checking.answers import Question
from tutor.checking.plain import Model

from ._common import THEN, LoRALinear, _classifier, _few, _values

Names = tuple[str, ...]


exercise = Definition(minutes=30, difficulty=3)


@exercise.reference
def add_lora(model: Classifier, names: Names, rank: int) -> Classifier:
    return _replaced(_with_frozen_base(model), lambda module, name: name in names, rank)


def _with_frozen_base(model: Classifier) -> Classifier:
    model.base.requires_grad_(False)
    model.head.requires_grad_(True)
    return model


def _replaced(
    model: Classifier,
    chosen: Callable[[nn.Module, str], bool],
    rank: int,
    take_over: Callable[[Any, nn.Linear], None] | None = None,
) -> Classifier:
    """Returns the model with a LoRALinear in the place of each linear layer of its base that is chosen."""
    for module in list(model.base.modules()):
        for name, part in list(module.named_children()):
            if isinstance(part, nn.Linear) and chosen(module, name):
                layer = LoRALinear(part.in_features, part.out_features, rank).to(part.weight.device)
                (take_over or _weights_taken_over)(layer, part)
                setattr(module, name, layer)
    return model


def _weights_taken_over(layer: Any, part: nn.Linear) -> None:
    layer.weight, layer.bias = part.weight, part.bias


def _ask(model: Model, names: Names, rank: int, **settings: Any) -> Question:
    return Question((model, names, rank), changes=(0,), **settings)


KINDS: tuple[tuple[Names, int], ...] = ((("query", "value"), 2), (("hidden", "output"), 1), (("key",), 3))
MAKES: tuple[dict[str, Any], ...] = (
    {},
    {"norm_first": False, "positions": "alibi"},
    {"positions": "learned", "n_heads": 4, "d_feedforward": 12},
)


def _frozen(seed: int, *parts: str, **settings: Any) -> Question:
    """Returns a question about a model of which parts come frozen."""
    return _ask(replace(_classifier(seed, 3), freeze=parts), ("query", "value"), 2, probe="parameters", **settings)


def _learning(seed: int) -> list[Question]:
    """Returns questions about what learns: three kinds of names, in models of three makes.

    The first asks whether the new layers are there at all, and nothing else.
    """
    (_, (below, rank), _), new = KINDS, ("*.down", "*.up")
    return [_ask(_classifier(seed), below, rank, probe="parameters", entries=new)] + [
        _ask(_classifier(seed, 2, **make), names, rank, follow_up=THEN, probe="learns")
        for (names, rank), make in zip(KINDS, MAKES, strict=True)
    ]


def _half_frozen(seed: int) -> Question:
    return _frozen(seed, "base.layers.0", "base.embedding")


def _nothing_replaced(seed: int) -> Question:
    """Returns a question with a name that no layer has: then the head alone learns."""
    return _ask(_classifier(seed, 3), ("gate",), 2, probe="parameters")


def _frozen_head(seed: int) -> list[Question]:
    """Returns questions about the head of a model that comes with all of it frozen, and with a part."""
    return [_frozen(seed, part, entries=("head*",)) for part in ("head", "head.bias")]


@exercise.stage(
    "the head, down and up of the named layers learn, and nothing else",
    points=1.25,
    public=[*_learning(2), _half_frozen(3), _nothing_replaced(6)],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """The head, and every linear layer of the base whose last name is among `names`, in every layer and at any depth;
    all of the old base is frozen, its norms and its embedding too.
    """
    return [*_learning(_few(rng)), _half_frozen(_few(rng)), _nothing_replaced(_few(rng))]


def _wherever(seed: int) -> Question:
    """Returns a question about a base that has linear layers beside its layers, and about a head that is named."""
    model = _classifier(seed, kind="BaseWithMore")
    return _ask(model, ("query", "head"), 2, probe="parameters", entries=("head*", "*.down", "*.up"))


@exercise.stage("wherever they stand in the base, and only there", points=0.25, public=[_wherever(4)])
def _(rng: random.Random) -> list[Question]:
    """`names` are looked for in all that model.base.modules() gives, and not only within base.layers: this base has a
    linear layer `query` of its own, and one deeper. The head is no part of the base, whatever its name.
    """
    return [_wherever(_few(rng))]


def _count(rank: int) -> Question:
    wide = _classifier(1, 2, n_layers=1, d_feedforward=10)
    return _ask(wide, ("value", "hidden", "output"), rank, probe="parameters", entries=("*.down", "*.up"))


def _scale(seed: int, rank: int) -> Question:
    """Returns a question about the scale of a new layer, which gets factors that are not zero and nothing beside."""
    place = "base.layers.1.attention.query"
    silent = {f"{place}.weight": torch.zeros(4, 4), f"{place}.bias": torch.zeros(4)}
    factors = {f"{place}.down": _values(rank, 4, seed=seed), f"{place}.up": _values(4, rank, seed=seed + 1)}
    x = _values(1, 2, 4, seed=seed + 2)
    return _ask(_classifier(10), ("query", "value"), rank, weights=silent | factors, follow_up=(x,), part=place)


@exercise.stage(
    "rank and alpha: rank times (d_in + d_out) numbers for each of them, scaled by 8 / rank",
    points=0.5,
    public=[_count(8), _scale(1, 2)],
)
def _(rng: random.Random) -> list[Question]:
    """Leave alpha at its default, whatever the rank. A layer from d_in to d_out has rank * (d_in + d_out) new numbers:
    hand `rank` on, and take d_in and d_out from the old layer, since those of the feed-forward part may differ.
    """
    return [_count(rng.choice([3, 5, 6, 7])), _scale(rng.randrange(10**6), rng.choice([1, 3, 4]))]


def _same(seed: int) -> list[Question]:
    return [
        _ask(_classifier(seed, 2, **make), names, rank, follow_up=THEN)
        for (names, rank), make in zip(KINDS[:2], MAKES[1:], strict=True)
    ]


@exercise.stage("the model answers as before", points=1, public=_same(5), decisive=True)
def _(rng: random.Random) -> list[Question]:
    """The new layers take over weight and bias of those whose place they take; their up is zero. So the model gives the
    same logits as before.
    """
    return _same(_few(rng))


@exercise.stage(
    "no old weight is lost or renamed",
    points=0.5,
    public=[_ask(_classifier(8, 3), ("query", "value"), 2, probe="origins")],
)
def _(rng: random.Random) -> list[Question]:
    """Each old weight keeps its name and its numbers, and is 'as in input 1'; new are down and up alone."""
    return [_ask(_classifier(_few(rng), 3, **MAKES[2]), ("hidden", "output"), 2, probe="origins")]


@exercise.stage(
    "the head learns, even if it came frozen",
    points=0.25,
    public=_frozen_head(6),
    view="parameters",
)
def _(rng: random.Random) -> list[Question]:
    """Set the flags of the head to True as well: the model may come in any state."""
    return _frozen_head(_few(rng))


def _modes(seed: int) -> list[Question]:
    """Returns questions about a model that comes in training mode, and about one that does not."""
    model = _classifier(seed, dropout=0.5)
    return [_ask(replace(model, training=way), ("query", "value"), 2, probe="mode") for way in (True, False)]


@exercise.stage("the mode stays", points=0.25, public=_modes(9))
def _(rng: random.Random) -> list[Question]:
    """A model that comes in training mode, with its dropout, stays in it, and one in evaluation mode in that: do not
    call eval() or train().
    """
    return _modes(_few(rng))


@exercise.corners(
    "the head, down and up of the named layers learn, and nothing else",
    depth=(1, range(5, 7)),
    names=(
        (),
        ("output",),
        ("put", "den", "base.layers.0.attention.query"),
        ("key", "query", "value", "output", "hidden"),
    ),
    rank=(1, range(9, 12)),
)
def _(rng: random.Random, depth: int, names: Any, rank: int) -> Question:
    model = _classifier(_few(rng), 2, n_layers=depth, d_model=2, n_heads=1)
    return _ask(model, names, rank, probe="parameters", entries=("head*", "*norm*", "*embedding*", "*.down", "*.up"))


@exercise.mistake("the norms still learn")
def _(model: Classifier, names: Names, rank: int) -> Classifier:
    """Layer norms are part of the base: freeze all of it."""
    model = add_lora(model, names, rank)
    for module in model.base.modules():
        if isinstance(module, nn.LayerNorm):
            module.requires_grad_(True)
    return model


@exercise.mistake("the embedding still learns")
def _(model: Classifier, names: Names, rank: int) -> Classifier:
    """The embedding is part of the base, and the largest one here: freeze all of it."""
    model = add_lora(model, names, rank)
    model.base.embedding.requires_grad_(True)
    return model


@exercise.mistake("the new layers have no place in the model")
def _(model: Classifier, names: Names, rank: int) -> Classifier:
    """They are made, and nobody calls them: setattr puts a module into the place of another one."""
    return _with_frozen_base(model)


@exercise.mistake("down and up are frozen too")
def _(model: Classifier, names: Names, rank: int) -> Classifier:
    """The base is frozen after the new layers have come: then their factors are frozen with it. Freeze first, replace
    afterwards.
    """
    model = add_lora(model, names, rank)
    model.base.requires_grad_(False)
    return model


@exercise.mistake("the new layers begin with random weights")
def _(model: Classifier, names: Names, rank: int) -> Classifier:
    """A LoRALinear is made with a weight and a bias of its own. Give it those of the layer whose place it takes: what
    was learned in pretraining is lost otherwise.
    """
    return _replaced(_with_frozen_base(model), lambda module, name: name in names, rank, lambda layer, part: None)


def _bias_lost(layer: Any, part: nn.Linear) -> None:
    layer.weight = part.weight


@exercise.mistake("the new layers begin with random biases")
def _(model: Classifier, names: Names, rank: int) -> Classifier:
    """The bias belongs to the layer too: take it over as well as the weight."""
    return _replaced(_with_frozen_base(model), lambda module, name: name in names, rank, _bias_lost)


@exercise.mistake("every linear layer is replaced")
def _(model: Classifier, names: Names, rank: int) -> Classifier:
    """Only those whose name is among `names`."""
    return _replaced(_with_frozen_base(model), lambda module, name: True, rank)


@exercise.mistake("always query and value")
def _(model: Classifier, names: Names, rank: int) -> Classifier:
    """Which layers are replaced, `names` says."""
    return add_lora(model, ("query", "value"), rank)


@exercise.mistake("only the first layer of the base")
def _(model: Classifier, names: Names, rank: int) -> Classifier:
    """The same names are found in each layer: go through all of them."""
    first = set(model.base.layers[0].modules())
    return _replaced(_with_frozen_base(model), lambda module, name: module in first and name in names, rank)


def _always_rank(rank: int) -> Callable[..., Any]:
    return lambda model, names, other: add_lora(model, names, rank)


exercise.mistake("always rank 4", "Hand `rank` on to LoRALinear.", _always_rank(4))
