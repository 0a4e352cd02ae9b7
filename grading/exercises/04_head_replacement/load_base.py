"""Exercise load_base of notebook 04."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, seed_from
from helpers.models import Classifier
from tutor.checking.answers import Question
from tutor.checking.building import build
from tutor.checking.plain import Model

from ._common import THEN, _base, _classifier, _language_model, _other_options

Weights = dict[str, Tensor]


exercise = Definition(minutes=30, difficulty=3)


@exercise.reference
def load_base(model: Classifier, checkpoint: Weights) -> Classifier:
    wanted = model.base.state_dict()
    given = {name.removeprefix("base."): weight for name, weight in checkpoint.items() if name.startswith("base.")}
    different = sorted(wanted.keys() ^ given.keys())
    if different:
        raise ValueError(f"the checkpoint's base has other weights than the model's: {different[0]}.")
    for name, weight in given.items():
        if weight.shape != wanted[name].shape:
            raise ValueError(f"{name} is {tuple(weight.shape)} in the checkpoint, {tuple(wanted[name].shape)} here.")
    model.base.load_state_dict(given)
    return model


def _checkpoint(seed: int, **options: Any) -> Model:
    return replace(_language_model(seed, **options), state=True)


def _load_asks(*, n_classes: int = 3, **settings: Any) -> Draw:
    def draw(rng: random.Random) -> list[Question]:
        asks = []
        for options in ({}, _other_options(rng)):
            inputs = _classifier(seed_from(rng), n_classes, **options), _checkpoint(seed_from(rng), **options)
            asks.append(Question(inputs, changes=(0,), **settings))
        return asks

    return draw


def _load_ask(**settings: Any) -> list[Question]:
    return [Question((_classifier(1, 3), _checkpoint(2)), changes=(0,), **settings)]


def _as_dict(seed: int, change: Callable[[list[str]], dict[str, str]]) -> Weights:
    """Returns a small checkpoint as numbers; `change` tells of its names, in order, the new name of each."""
    state: Weights = build(_checkpoint(seed, d_model=4))
    return {new: state[name] for name, new in change(list(state)).items()}


TWICE = "base.{}"  # whoever takes away every `base.` finds such a name to fit


def _renamed(seed: int, which: int, to: str = "{}_old") -> Question:
    """Returns a checkpoint with as many names, one of them another."""
    checkpoint = _as_dict(seed, lambda names: {n: to.format(n) if i == which else n for i, n in enumerate(names)})
    return Question((_classifier(seed + 1, 3, d_model=4), checkpoint), changes=(0, 1))


def _of_another(seed: int) -> Question:
    """Returns a checkpoint whose base is called otherwise: that a name ends as it should is not enough."""
    checkpoint = _as_dict(seed, lambda names: {name: name.replace("base.", "encoder.") for name in names})
    return Question((_classifier(seed + 1, 3, d_model=4), checkpoint), changes=(0, 1))


def _width_one(seed: int) -> Question:
    """Returns a checkpoint of width 1, whose numbers could be copied into any width by broadcasting."""
    return Question((_classifier(seed), _checkpoint(seed + 1, d_model=1, n_heads=1)), changes=(0, 1))


def _turned(seed: int) -> Question:
    """Returns a checkpoint with as many numbers as are wanted, in a table of another shape."""
    checkpoint = _as_dict(seed, lambda names: {name: name for name in names})
    table = checkpoint["base.embedding.weight"]
    checkpoint["base.embedding.weight"] = table.reshape(table.shape[1], table.shape[0])
    return Question((_classifier(seed + 1, 3, d_model=4), checkpoint), changes=(0, 1))


def _exchanged(seed: int) -> Question:
    """Returns a checkpoint with all the names and all the shapes that are wanted, two of these at each other's name."""
    checkpoint = _as_dict(seed, lambda names: {name: name for name in names})
    table = "base.embedding.weight"
    other = next(name for name, weight in checkpoint.items() if weight.shape != checkpoint[table].shape)
    checkpoint[table], checkpoint[other] = checkpoint[other], checkpoint[table]
    return Question((_classifier(seed + 1, 3, d_model=4), checkpoint), changes=(0, 1))


def _other_width(rng: random.Random) -> list[Question]:
    """Returns bases of other shapes; of the last, the first weights fit and only later ones do not."""
    sizes = {"d_model": rng.choice([4, 12, 16]), "vocab_size": rng.choice([6, 9]), "d_feedforward": rng.choice([6, 12])}
    return [
        Question((_classifier(seed_from(rng)), _checkpoint(seed_from(rng), **{name: size})), changes=(0, 1))
        for name, size in sizes.items()
    ] + [make(seed_from(rng)) for make in (_width_one, _turned, _exchanged)]


def _other_names(rng: random.Random) -> list[Question]:
    few, many = rng.choice([(1, 2), (1, 3), (2, 3)])
    return [
        Question(
            (_classifier(seed_from(rng), n_layers=many), _checkpoint(seed_from(rng), n_layers=few)), changes=(0, 1)
        ),
        Question(
            (_classifier(seed_from(rng), n_layers=few), _checkpoint(seed_from(rng), n_layers=many)), changes=(0, 1)
        ),
        Question((_classifier(seed_from(rng)), replace(_base(seed_from(rng)), spread=0.3, state=True)), changes=(0, 1)),
        _renamed(seed_from(rng), rng.randint(0, 12)),
        _renamed(seed_from(rng), 0, TWICE),
        _of_another(seed_from(rng)),
    ]


PUBLIC_WIDTH = [
    Question(
        (_classifier(1), _checkpoint(2, d_model=4)), changes=(0, 1)
    ),  # whether they change is asked in other stages
    Question((_classifier(1), _checkpoint(2, vocab_size=9)), changes=(0, 1)),
    Question((_classifier(1), _checkpoint(2, d_feedforward=12)), changes=(0, 1)),
    _width_one(3),
    _turned(4),
    _exchanged(5),
]
PUBLIC_NAMES = [
    Question((_classifier(1, n_layers=2), _checkpoint(2)), changes=(0, 1)),
    Question((_classifier(1), _checkpoint(2, n_layers=2)), changes=(0, 1)),
    Question((_classifier(1), replace(_base(2), spread=0.3, state=True)), changes=(0, 1)),
    _renamed(4, 2),
    _renamed(5, 0, TWICE),
    _of_another(6),
]


def _stripped(checkpoint: Weights) -> Weights:
    return {name.removeprefix("base."): weight for name, weight in checkpoint.items() if name.startswith("base.")}


HEAD = ("head.*", "base.embedding.weight")


def _another_order(seed: int) -> Question:
    """Returns a checkpoint whose weights of the same shapes stand in another order: names count."""
    return Question((_classifier(seed + 1, 3, d_model=4), _as_dict(seed, _reversed)), changes=(0,))


def _reversed(names: list[str]) -> dict[str, str]:
    return {name: name for name in reversed(names)}


@exercise.stage(
    "the base has the weights of the checkpoint",
    points=1.5,
    public=[
        *_load_ask(probe="origins", entries=("base.*",)),
        replace(_another_order(6), probe="origins", entries=("base.*",)),
    ],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Every weight under base. must be 'as in input 2', the checkpoint. Compare the names on both sides: checkpoint has
    'base.embedding.weight', model.base calls it 'embedding.weight'. The order of the names does not count.
    """
    return [
        *_load_asks(probe="origins", entries=("base.*",))(rng),
        replace(_another_order(seed_from(rng)), probe="origins", entries=("base.*",)),
    ]


@exercise.stage(
    "the head is left alone",
    points=0.5,
    public=[
        *_load_ask(probe="origins", entries=HEAD),
        Question((_classifier(1, 7), _checkpoint(2)), changes=(0,), probe="origins", entries=HEAD),
    ],
)
def _(rng: random.Random) -> list[Question]:
    """The head must be 'as in input 1', the model, while the base (here its embedding) is 'as in input 2', also where
    the checkpoint's head has the shape of the model's.
    """
    return [
        *_load_asks(probe="origins", entries=HEAD)(rng)[:1],
        *_load_asks(n_classes=7, probe="origins", entries=HEAD)(rng)[:1],
    ]


@exercise.stage(
    "the model runs with them",
    points=1,
    public=[*_load_ask(follow_up=THEN), *_load_ask(follow_up=THEN, probe="learns")],
)
def _(rng: random.Random) -> list[Question]:
    """The model that comes back must give the logits of its own head on the base of the checkpoint, and all of it can
    learn.
    """
    return [*_load_asks(follow_up=THEN)(rng), *_load_asks(follow_up=THEN, probe="learns")(rng)[:1]]


@exercise.stage(
    "a base of other shapes: a ValueError", points=0.25, public=PUBLIC_WIDTH, raises="ValueError", measure="says why"
)
def _(rng: random.Random) -> list[Question]:
    """Compare the shapes before you load, and raise ValueError with one sentence when one differs."""
    return _other_width(rng)


@exercise.stage(
    "a base with other names: a ValueError",
    points=0.5,
    public=PUBLIC_NAMES,
    raises="ValueError",
    measure="says why",
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """A layer too few, a layer too many, another name, or names without base.: none of it may pass in silence. Compare
    the two sets of names before you load; the order of the names does not count.
    """
    return _other_names(rng)


def _model_only(asks: list[Question]) -> list[Question]:
    """Returns the questions with the checkpoint free to change: only the model must stay as it was."""
    return [replace(ask, changes=(1,)) for ask in asks]


@exercise.stage(
    "after a ValueError the model is as it was",
    points=0.25,
    public=_model_only([*PUBLIC_WIDTH, *PUBLIC_NAMES]),
    measure="inputs kept",
    raises="ValueError",
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Whatever is copied before the error stays: load_state_dict copies all that fits and complains about the rest
    afterwards. Check all names and all shapes first, then load.
    """
    # Of each kind one is asked in public, and the same checkpoints again in the two stages before.
    return _model_only(rng.sample([*_other_width(rng), *_other_names(rng)], 4))


@exercise.stage("the checkpoint is left as it was", points=0.5, public=_load_ask(), measure="inputs kept")
def _(rng: random.Random) -> list[Question]:
    """Others may load the same checkpoint: do not pop or rename its entries, make a new dict."""
    return _load_asks()(rng)


@exercise.stage("training the model does not change the checkpoint", points=0.5, public=_load_ask(probe="shared"))
def _(rng: random.Random) -> list[Question]:
    """The weights must be copied into the model, as load_state_dict does (without assign=True)."""
    return _load_asks(probe="shared")(rng)


@exercise.corners("the base has the weights of the checkpoint", sizes=((0, 7), (1, 1), (11, 1), (12, 7)))
def _(rng: random.Random, sizes: tuple[int, int]) -> Question:
    """Asks about shallow and deep models: the name of layer 10 begins like that of layer 1.

    Whatever the number of classes does, it does with any number of layers.
    """
    layers, n_classes = sizes
    options = {"n_layers": layers, "d_model": 2, "n_heads": 1}
    inputs = _classifier(seed_from(rng), n_classes, **options), _checkpoint(seed_from(rng), **options)
    return Question(inputs, changes=(0,), probe="origins", entries=("base.embedding*", "base.layers*query.weight"))


@exercise.corners("a base with other names: a ValueError", sizes=((0, 1), (1, 0), (3, 1), (10, 11), (12, 10)))
def _(rng: random.Random, sizes: tuple[int, int]) -> Question:
    """Asks about a layer too few, and one too many, of shallow and of deep models."""
    models = [{"n_layers": size, "d_model": 2, "n_heads": 1} for size in sizes]
    return Question((_classifier(1, **models[0]), _checkpoint(2, **models[1])), changes=(0, 1))


def _error_of_torch(model: Any, checkpoint: Weights) -> Any:
    """load_state_dict raises RuntimeError, after having loaded a part. Check names and shapes first, and raise
    ValueError with a sentence of your own.
    """
    model.base.load_state_dict(_stripped(checkpoint))
    return model


@exercise.mistake("names are compared, shapes are not")
def _(model: Classifier, checkpoint: Weights) -> Classifier:
    """The same names may hold other shapes: load_state_dict then raises RuntimeError, after having loaded a part.
    Compare the shapes too, and raise ValueError with a sentence of your own.
    """
    if _stripped(checkpoint).keys() != model.base.state_dict().keys():
        raise ValueError("the checkpoint's base has other weights than the model's.")
    return _error_of_torch(model, checkpoint)
