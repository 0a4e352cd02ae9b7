"""Exercise freeze_base of notebook 04."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from torch import nn

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import seed_from
from helpers.models import Classifier
from tutor.checking.answers import Ask
from tutor.checking.plain import Model

from ._common import THEN, _classifier, _classifier_with_head, _other_options


def freeze_base(model: Classifier) -> Classifier:
    model.base.requires_grad_(False)
    return model


def _freeze_ask(model: Model, **settings: Any) -> Ask:
    return Ask((model,), changes=(0,), **settings)


def _large(seed: int) -> Model:
    """Returns a classifier of width 200 with two classes, as in the full-size run."""
    return _classifier(seed, 2, d_model=200)


def _half_frozen(seed: int) -> list[Model]:
    """Returns classifiers of which a part of the base, or all of it, is frozen already."""
    frozen = (("base.layers",), ("base.embedding",), ("base",))
    return [replace(_classifier(seed, 2), freeze=parts) for parts in frozen]


def _freezing(chosen: Callable[[str], bool]) -> Callable[[Any], Any]:
    """Returns an answer that freezes the parameters whose names are chosen, and leaves all others as they are."""

    def freeze(model: Any) -> Any:
        for name, parameter in model.named_parameters():
            if chosen(name):
                parameter.requires_grad_(False)
        return model

    return freeze


def _norms_left(model: Any) -> Any:
    for module in model.base.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            module.requires_grad_(False)
    return model


def _new_head(model: Any) -> Any:
    return _classifier_with_head(freeze_base(model), model.head.in_features, model.head.out_features)


def _frozen_new_head(model: Any) -> Any:
    changed = _new_head(model)
    changed.base.requires_grad_(False)
    return changed


LEARNED = {"positions": "learned", "norm_first": True, "n_layers": 2}

EXERCISE = Exercise(
    freeze_base,
    [
        Stage(
            "the head still learns",
            0.25,
            "head.weight and head.bias must keep requires_grad=True.",
            [_freeze_ask(_classifier(1, 3), then=THEN, take="learns", entries=("head.*",))],
            lambda rng: [_freeze_ask(_classifier(seed_from(rng), 3), then=THEN, take="learns", entries=("head.*",))],
        ),
        Stage(
            "nothing else learns",
            1.5,
            "Whatever was frozen before, print the names of all parameters with requires_grad=True: only those of the "
            "head may be left.",
            [
                _freeze_ask(model, then=THEN, take="learns")
                for model in (_classifier(1, 3), _classifier(4, 3, n_layers=3), *_half_frozen(5))
            ],
            lambda rng: [
                _freeze_ask(_classifier(seed_from(rng), rng.randint(2, 5), n_layers=3), then=THEN, take="learns"),
                *(_freeze_ask(model, then=THEN, take="learns") for model in _half_frozen(seed_from(rng))),
            ],
            decisive=True,
        ),
        Stage(
            "402 numbers at D = 200, C = 2",
            0.5,
            "The head is a Linear from 200 numbers to 2: 2 * 200 weights and 2 biases.",
            [_freeze_ask(_large(1), then=THEN, take="learns")],
            lambda rng: [_freeze_ask(_large(seed_from(rng)), then=THEN, take="learns")],
        ),
        Stage(
            "also where positions are learned and a last norm follows",
            0.5,
            "Not every parameter of the base belongs to a layer: base.position and base.norm exist in some models.",
            [_freeze_ask(_classifier(2, 2, **LEARNED), then=THEN, take="learns")],
            lambda rng: [_freeze_ask(_classifier(seed_from(rng), 4, **LEARNED), then=THEN, take="learns")],
        ),
        Stage(
            "no weight changes its value",
            0.25,
            "Freezing says what training may change later. It changes no number: every weight stays 'as in input 1'.",
            [_freeze_ask(_classifier(3, 2), take="origins")],
            lambda rng: [_freeze_ask(_classifier(seed_from(rng), 3, **_other_options(rng)), take="origins")],
        ),
    ],
    [
        Mistake(
            "nothing is frozen",
            "Every parameter of the model that comes back still learns. A frozen copy freezes only itself, no_grad() "
            "only what runs inside of it, and eval() turns off dropout. A module has no flag of its own: "
            "`model.base.requires_grad = False` only makes a new attribute. Use requires_grad_(False), or set the flag "
            "of each parameter.",
            lambda model: model,
        ),
        Mistake(
            "the base comes back without its head",
            "Return the whole model: model, and not model.base.",
            lambda model: model.base.requires_grad_(False),
        ),
        Mistake(
            "the head is frozen too",
            "Nothing can learn any more. Freeze model.base, not model.",
            _freezing(lambda name: True),
        ),
        Mistake(
            "the head is frozen in place of the base",
            "It is the other way round: the new head starts from random numbers and must learn.",
            _freezing(lambda name: name.startswith("head.")),
        ),
        Mistake(
            "the norms still learn",
            "Layer norms have a weight and a bias of D numbers each, and they are part of the base.",
            _norms_left,
        ),
        Mistake(
            "the embedding still learns",
            "base.layers is not the whole base: the embedding is the largest part of it.",
            _freezing(lambda name: name.startswith("base.layers.")),
        ),
        Mistake(
            "only the embedding is frozen",
            "The embedding is the largest part of the base, but its layers learn as well.",
            _freezing(lambda name: name == "base.embedding.weight"),
        ),
        Mistake(
            "the biases of the base still learn",
            "A parameter called bias is a parameter too.",
            _freezing(lambda name: name.startswith("base.") and name.endswith("weight")),
        ),
        Mistake(
            "learned positions still learn",
            "base.position is a parameter of the base itself and belongs to none of its parts: loop over "
            "base.parameters(), which knows them all.",
            _freezing(lambda name: name.startswith("base.") and name != "base.position"),
        ),
        Mistake(
            "the head is a new one",
            "Freezing changes no number: the head may have been trained already.",
            _frozen_new_head,
        ),
    ],
    hints=(
        (
            "In the cell above the exercise, a flag is set and nothing is frozen. Who has a flag that torch reads, a "
            "module or its parameters? Then look at the picture of section 1: which of the two parts of a classifier "
            "shall stand still, and does everything in it belong to a layer?"
        ),
        (
            "An `nn.Linear(3, 2)` has two parameters, its weight (6 numbers) and its bias (2). Each has a flag of "
            "its own: with the weight's flag at False, 2 of 8 numbers learn, with both at False none does. The flag "
            "of the *module* would be a new attribute that nobody reads.\n\n"
            "`module.parameters()` gives those of all parts inside, at any depth: embeddings, norms, biases and "
            "learned positions too. So no list of parts is needed. `eval()` and `torch.no_grad()` are something "
            "else: they freeze nothing."
        ),
        (
            "Two steps:\n"
            "1. go through the parameters of the part that shall stand still, and set each one's flag "
            "`requires_grad` (a method of the module, with an underscore at its end, does it for all of them at "
            "once);\n"
            "2. return the model: all of it, not the part.\n\n"
            "Do not touch the head, neither its flags nor its numbers. Then print `[name for name, p in "
            "model.named_parameters() if p.requires_grad]`: only `head.weight` and `head.bias` may be left, also "
            "when a part of the base was frozen before."
        ),
    ),
)
