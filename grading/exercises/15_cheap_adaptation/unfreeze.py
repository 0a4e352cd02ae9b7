"""Exercise unfreeze of notebook 15."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from grading.definitions.definition import Definition
from grading.exercises.draws import seed_from
from helpers.models import Classifier
from tutor.checking.answers import Question
from tutor.checking.plain import Model

from ._common import THEN, _classifier, _few

exercise = Definition(minutes=25, difficulty=2)


@exercise.reference
def unfreeze(model: Classifier, step: int) -> Classifier:
    return _flagged(model, step, lambda index, depth: step >= depth - index)


def _flagged(model: Classifier, step: int, learns: Callable[[int, int], bool]) -> Classifier:
    """Returns the model with the flags of a step, where `learns` says of a layer's index whether it learns."""
    base, depth = model.base, len(model.base.layers)
    model.requires_grad_(step > depth)
    model.head.requires_grad_(True)
    base.norm.requires_grad_(step > 0)
    for index, layer in enumerate(base.layers):
        layer.requires_grad_(learns(index, depth))
    return model


def _ask(model: Model, step: int, **settings: Any) -> Question:
    return Question((model, step), changes=(0,), probe="parameters", **settings)


def _steps(seed: int, steps: tuple[int, ...], **options: Any) -> list[Question]:
    return [_ask(_classifier(seed, **{"n_layers": 3} | options), step) for step in steps]


def _gradients(seed: int, step: int) -> Question:
    """Returns a question about what learns that takes a few gradients: who has them knows more than names."""
    inputs = _classifier(seed, n_layers=3), step
    return Question(inputs, changes=(0,), probe="learning", follow_up=THEN, entries=("head.bias", "*.query.bias"))


def _layers(seed: int, steps: tuple[int, ...], **options: Any) -> list[Question]:
    """Returns questions about the layers, and what stands below: the norm above them joins in with the first."""
    shown = ("head*", "base.layers*", "base.embedding*")
    return [replace(ask, entries=shown) for ask in _steps(seed, steps, **options)]


LEARNED: dict[str, Any] = {"positions": "learned"}
LIKE_BERT: dict[str, Any] = {"norm_first": False, "embedding_norm": True, "n_layers": 1}  # no norm above the layers


@exercise.stage("step 0: the head alone", points=0.25, public=_steps(1, (0,)), view="parameters")
def _(rng: random.Random) -> list[Question]:
    """At step 0 only head.weight and head.bias learn."""
    return _steps(_few(rng), (0,))


@exercise.stage(
    "step 1: the last layer joins in, and the norm above it",
    points=1,
    public=[*_steps(2, (1,)), _gradients(2, 1)],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """base.layers[-1] is the top layer, nearest to the head; base.norm stands between it and the head."""
    return [*_steps(_few(rng), (1,)), _gradients(seed_from(rng), 1)]


@exercise.stage(
    "then one layer more at each step", points=0.75, public=[*_layers(3, (2, 3)), _gradients(3, 2)], decisive=True
)
def _(rng: random.Random) -> list[Question]:
    """What has joined in goes on learning; each step adds the next layer below."""
    layers = [*_layers(_few(rng), (2, 3)), *_layers(_few(rng), (1,), n_layers=2)]
    return [*layers, _gradients(seed_from(rng), rng.choice([2, 3]))]


def _last(seed: int) -> list[Question]:
    return [*_steps(seed, (6,)), *_steps(seed, (3, 4), **LEARNED), *_steps(seed, (1, 2), **LIKE_BERT)]


@exercise.stage("after the layers, everything", points=0.5, public=_last(4), view="parameters")
def _(rng: random.Random) -> list[Question]:
    """From step len(layers) + 1 on the embedding learns too, and the norm after it and learned positions where there
    are some. In a post-norm base model.base.norm is an nn.Identity, which has requires_grad_, but no weight.
    """
    return _last(_few(rng))


def _flags(seed: int) -> list[Question]:
    """Returns questions about models of which a part is frozen already: more, and less, than the step says."""
    frozen = [("base.layers.2", "head"), ("base.embedding", "base.layers.0", "base.layers.1", "base.norm")]
    return [
        _ask(replace(_classifier(seed, n_layers=3), freeze=parts), step)
        for parts, step in zip(frozen, (1, 2), strict=True)
    ]


@exercise.stage("whatever was frozen before", points=0.25, public=_flags(6), view="parameters")
def _(rng: random.Random) -> list[Question]:
    """Set the flags to False as well as to True: the model may come in any state."""
    return _flags(_few(rng))


def _values_kept(seed: int) -> Question:
    return Question((_classifier(seed, n_layers=3), 2), changes=(0,), probe="origins")


def _gradients_kept(seed: int) -> Question:
    """Returns a question about a model in which an earlier step has left gradients."""
    return Question((replace(_classifier(seed, n_layers=3), gradients=0.5), 2), changes=(0,), probe="changed gradients")


def _modes_kept(seed: int) -> list[Question]:
    """Returns questions about a model that comes in training mode, and about one that does not."""
    model = _classifier(seed, n_layers=3, dropout=0.5)
    return [Question((replace(model, training=way), 2), changes=(0,), probe="modes") for way in (True, False)]


@exercise.stage(
    "no number and no mode changes", points=0.25, public=[_values_kept(7), _gradients_kept(7), *_modes_kept(8)]
)
def _(rng: random.Random) -> list[Question]:
    """Flags say what training may change later. Every weight and its gradient stay as they are, and the model and all
    its parts in their mode: eval() freezes nothing.
    """
    return [_values_kept(_few(rng)), _gradients_kept(_few(rng)), *_modes_kept(_few(rng))]


STEPS = ("the top layer", "all layers", "everything", "far beyond")


@exercise.corners("then one layer more at each step", depth=(1, range(11, 13)), step=STEPS)
def _(rng: random.Random, depth: int, step: str) -> Question:
    """Asks which parts of deep and of shallow models learn; of each layer the numbers of its queries tell."""
    number = dict(zip(STEPS, (1, depth, depth + 1, depth + rng.randint(30, 1001)), strict=True))[step]
    shown = ("head*", "base.embedding*", "*.query.weight")
    return _ask(_classifier(_few(rng), n_layers=depth, d_model=2, n_heads=1), number, entries=shown)


@exercise.mistake("nothing is frozen first")
def _(model: Classifier, step: int) -> Classifier:
    """A model may come with any flags, a new one with all of them at True: set them to False before you unfreeze."""
    base = model.base
    model.head.requires_grad_(True)
    for layer in base.layers[max(0, len(base.layers) - step) :]:
        layer.requires_grad_(True)
    if step:
        base.norm.requires_grad_(True)
    return model
