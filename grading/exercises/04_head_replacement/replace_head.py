"""Exercise replace_head of notebook 04."""

from __future__ import annotations

import copy
import random
from dataclasses import replace
from typing import Any

import torch

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, both, seed_from
from helpers.models import (
    Classifier,
    LanguageModel,
    TransformerBase,  # noqa: F401 - known mistakes use it
)
from helpers.vocabulary import PAD, SOS
from tutor.checking.answers import Question
from tutor.checking.building import build

from ._common import OTHER_OPTIONS, THEN, _language_model

exercise = Definition(
    minutes=20,
    difficulty=3,
    exceptions=(  # the text: everything in it can learn, whatever its mode
        "a model that is made of a frozen one is frozen, too",
        "a model that is made of one in training mode is in training mode, too",
    ),
)


@exercise.reference
def replace_head(model: LanguageModel, n_classes: int) -> Classifier:
    return Classifier(copy.deepcopy(model.base), n_classes)


def _swap_asks(**settings: Any) -> Draw:
    def draw(rng: random.Random) -> list[Question]:
        first = Question((_language_model(seed_from(rng)), rng.choice([3, 4, 5])), **settings)
        second = Question((_language_model(seed_from(rng), n_layers=2, d_model=12), rng.choice([2, 6])), **settings)
        return [first, second]

    return draw


ALIKE = (
    torch.tensor([[SOS, 4, 6, PAD, PAD, PAD], [SOS, 4, 6, 5, 3, 5]]),
    torch.tensor([3, 3]),
)  # the same up to position 2


@exercise.stage(
    "a classifier: one row of n_classes numbers for each text",
    points=0.25,
    public=[Question((_language_model(1), 3), follow_up=THEN)],
    view="shape",
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Called on tokens (b, n) and lengths (b,), the new model must give (b, n_classes): Classifier of helpers.models
    does so.
    """
    return _swap_asks(follow_up=THEN)(rng)


@exercise.stage(
    "all of it can learn, the new head included",
    points=0.5,
    public=[Question((_language_model(1), 3), follow_up=THEN, probe="learns")],
)
def _(rng: random.Random) -> list[Question]:
    """The head has n_classes * D + n_classes numbers, and nothing is frozen yet."""
    return _swap_asks(follow_up=THEN, probe="learns")(rng)


@exercise.stage(
    "the base has the weights of the language model",
    points=1,
    public=[Question((_language_model(seed), n), probe="origins") for seed, n in ((1, 4), (2, 4), (3, 7))],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Every weight under base. must be 'as in input 1', the language model; the head is new, also where the old one has
    as many outputs.
    """
    return both(
        _swap_asks(probe="origins"), lambda rng: [Question((_language_model(seed_from(rng)), 7), probe="origins")]
    )(rng)


def _asked_for_rows(seed: int, n_classes: int) -> Question:
    """Returns a question that carries what the old head says of the last real tokens, `(b, V)`."""
    model = _language_model(seed)
    tokens, lengths = THEN
    with torch.no_grad():
        old = build(model)(tokens, lengths)[torch.arange(len(tokens)), lengths - 1]
    return Question((model, n_classes), follow_up=THEN, extra={"old": old})


@exercise.stage(
    "the head is a new one, and no part of the old one", points=0.25, public=[_asked_for_rows(5, 3)], measure="new head"
)
def _(rng: random.Random) -> list[Question]:
    """The rows of the old head score words. A new Linear begins with numbers of its own: Classifier makes one."""
    return [_asked_for_rows(seed_from(rng), rng.randint(2, 5))]


@exercise.stage(
    "the base gives the same hidden states",
    points=0.5,
    public=[Question((_language_model(3, **options), 3), follow_up=THEN, part="base") for options in OTHER_OPTIONS],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """The same weights in a base of another make (heads, positions, mask, activation) compute something else. Take a
    copy of the base, and do not build one anew.
    """
    return [
        Question((_language_model(seed_from(rng), **options), rng.choice([2, 3, 6])), follow_up=THEN, part="base")
        for options in rng.sample(OTHER_OPTIONS, 3)  # all of them are asked in public
    ]


@exercise.stage(
    "what comes after the last real token makes no difference",
    points=0.5,
    public=[Question((_language_model(4), 3), follow_up=ALIKE)],
    measure="rows alike",
)
def _(rng: random.Random) -> list[Question]:
    """The head must read the last real token of each text, found by its length: Classifier does it."""
    return [Question((_language_model(seed_from(rng), n_layers=2), rng.randint(2, 5)), follow_up=ALIKE)]


def _in_training(seed: int) -> Question:
    return Question((replace(_language_model(seed), training=True), 4))


@exercise.stage(
    "the old model is left as it was",
    points=0.5,
    public=[Question((_language_model(1), 3)), _in_training(1)],
    measure="inputs kept",
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """The language model must keep its head, all its weights and its mode: do not assign to model.head, and do not call
    eval() or train() on it.
    """
    return [*_swap_asks()(rng), _in_training(seed_from(rng))]


@exercise.stage(
    "training the new model does not change the old one",
    points=0.5,
    public=[Question((_language_model(1), 3), probe="shared")],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """The two models must not share parameters: give the new one a copy of the base, copy.deepcopy(model.base)."""
    return _swap_asks(probe="shared")(rng)


@exercise.corners(
    "a classifier: one row of n_classes numbers for each text", sizes=((1, 1), (1, 3), (2, 1), (102, 3), (1002, 1))
)
def _(rng: random.Random, sizes: tuple[int, int]) -> Question:
    n_classes, layers = sizes
    return Question((_language_model(rng.randrange(4), n_layers=layers), n_classes), follow_up=THEN)


@exercise.corners("the base gives the same hidden states", sizes=((1, 2), (2, 8), (6, 2)))
def _(rng: random.Random, sizes: tuple[int, int]) -> Question:
    layers, d_model = sizes
    model = _language_model(seed_from(rng), n_layers=layers, d_model=d_model, n_heads=1)
    return Question((model, 3), follow_up=THEN, part="base")
