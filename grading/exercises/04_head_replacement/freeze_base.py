"""Exercise freeze_base of notebook 04."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from grading.definitions.definition import Definition
from grading.exercises.draws import seed_from
from helpers.models import Classifier
from tutor.checking.answers import Question
from tutor.checking.plain import Model

from ._common import THEN, _classifier, _other_options

exercise = Definition(minutes=5, difficulty=1)


@exercise.reference
def freeze_base(model: Classifier) -> Classifier:
    model.base.requires_grad_(False)
    return model


def _freeze_ask(model: Model, **settings: Any) -> Question:
    return Question((model,), changes=(0,), **settings)


LEARNED = {"positions": "learned", "norm_first": True, "n_layers": 2}


@exercise.stage(
    "the head still learns",
    points=0.25,
    public=[_freeze_ask(_classifier(1, 3), follow_up=THEN, probe="learns", entries=("head.*",))],
)
def _(rng: random.Random) -> list[Question]:
    """head.weight and head.bias must keep requires_grad=True."""
    return [_freeze_ask(_classifier(seed_from(rng), 3), follow_up=THEN, probe="learns", entries=("head.*",))]


def _half_frozen(seed: int) -> list[Model]:
    """Returns classifiers of which a part of the base, or all of it, is frozen already."""
    frozen = (("base.layers",), ("base.embedding",), ("base",))
    return [replace(_classifier(seed, 2), freeze=parts) for parts in frozen]


@exercise.stage(
    "nothing else learns",
    points=1.5,
    public=[
        _freeze_ask(model, follow_up=THEN, probe="learns")
        for model in (_classifier(1, 3), _classifier(4, 3, n_layers=3), *_half_frozen(5))
    ],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Whatever was frozen before, print the names of all parameters with requires_grad=True: only those of the head may
    be left.
    """
    return [
        _freeze_ask(_classifier(seed_from(rng), rng.randint(2, 5), n_layers=3), follow_up=THEN, probe="learns"),
        *(_freeze_ask(model, follow_up=THEN, probe="learns") for model in _half_frozen(seed_from(rng))),
    ]


def _large(seed: int) -> Model:
    """Returns a classifier of width 200 with two classes, as in the full-size run."""
    return _classifier(seed, 2, d_model=200)


@exercise.stage(
    "402 numbers at D = 200, C = 2", points=0.5, public=[_freeze_ask(_large(1), follow_up=THEN, probe="learns")]
)
def _(rng: random.Random) -> list[Question]:
    """The head is a Linear from 200 numbers to 2: 2 * 200 weights and 2 biases."""
    return [_freeze_ask(_large(seed_from(rng)), follow_up=THEN, probe="learns")]


@exercise.stage(
    "also where positions are learned and a last norm follows",
    points=0.5,
    public=[_freeze_ask(_classifier(2, 2, **LEARNED), follow_up=THEN, probe="learns")],
)
def _(rng: random.Random) -> list[Question]:
    """Not every parameter of the base belongs to a layer: base.position and base.norm exist in some models."""
    return [_freeze_ask(_classifier(seed_from(rng), 4, **LEARNED), follow_up=THEN, probe="learns")]


@exercise.stage("no weight changes its value", points=0.25, public=[_freeze_ask(_classifier(3, 2), probe="origins")])
def _(rng: random.Random) -> list[Question]:
    """Freezing says what training may change later. It changes no number: every weight stays 'as in input 1', those of
    the head too.
    """
    return [_freeze_ask(_classifier(seed_from(rng), 3, **_other_options(rng)), probe="origins")]


@exercise.corners("nothing else learns", layers=(1, 2, range(11, 13)), n_classes=(1, range(101, 104)))
def _(rng: random.Random, layers: int, n_classes: int) -> Question:
    model = _classifier(seed_from(rng), n_classes, n_layers=layers, d_model=2, n_heads=1)
    return _freeze_ask(model, probe="parameters", entries=("head*", "base.embedding*", "*query.weight", "*norm*"))
