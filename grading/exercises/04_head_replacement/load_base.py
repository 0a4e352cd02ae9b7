"""Exercise load_base of notebook 04."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from torch import Tensor

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw, seed_from
from helpers.models import Classifier
from tutor.checking.answers import Ask
from tutor.checking.building import build
from tutor.checking.plain import Model

from ._common import THEN, _base, _classifier, _language_model, _other_options

Weights = dict[str, Tensor]


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
    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for options in ({}, _other_options(rng)):
            inputs = _classifier(seed_from(rng), n_classes, **options), _checkpoint(seed_from(rng), **options)
            asks.append(Ask(inputs, changes=(0,), **settings))
        return asks

    return draw


def _load_ask(**settings: Any) -> list[Ask]:
    return [Ask((_classifier(1, 3), _checkpoint(2)), changes=(0,), **settings)]


def _as_dict(seed: int, change: Callable[[list[str]], dict[str, str]]) -> Weights:
    """Returns a small checkpoint as numbers; `change` tells of its names, in order, the new name of each."""
    state: Weights = build(_checkpoint(seed, d_model=4))
    return {new: state[name] for name, new in change(list(state)).items()}


def _another_order(seed: int) -> Ask:
    """Returns a checkpoint whose weights of the same shapes stand in another order: names count."""
    return Ask((_classifier(seed + 1, 3, d_model=4), _as_dict(seed, _reversed)), changes=(0,))


def _reversed(names: list[str]) -> dict[str, str]:
    return {name: name for name in reversed(names)}


TWICE = "base.{}"  # whoever takes away every `base.` finds such a name to fit


def _renamed(seed: int, which: int, to: str = "{}_old") -> Ask:
    """Returns a checkpoint with as many names, one of them another."""
    checkpoint = _as_dict(seed, lambda names: {n: to.format(n) if i == which else n for i, n in enumerate(names)})
    return Ask((_classifier(seed + 1, 3, d_model=4), checkpoint), changes=(0, 1))


def _width_one(seed: int) -> Ask:
    """Returns a checkpoint of width 1, whose numbers could be copied into any width by broadcasting."""
    return Ask((_classifier(seed), _checkpoint(seed + 1, d_model=1, n_heads=1)), changes=(0, 1))


def _turned(seed: int) -> Ask:
    """Returns a checkpoint with as many numbers as are wanted, in a table of another shape."""
    checkpoint = _as_dict(seed, lambda names: {name: name for name in names})
    table = checkpoint["base.embedding.weight"]
    checkpoint["base.embedding.weight"] = table.reshape(table.shape[1], table.shape[0])
    return Ask((_classifier(seed + 1, 3, d_model=4), checkpoint), changes=(0, 1))


def _exchanged(seed: int) -> Ask:
    """Returns a checkpoint with all the names and all the shapes that are wanted, two of these at each other's name."""
    checkpoint = _as_dict(seed, lambda names: {name: name for name in names})
    table = "base.embedding.weight"
    other = next(name for name, weight in checkpoint.items() if weight.shape != checkpoint[table].shape)
    checkpoint[table], checkpoint[other] = checkpoint[other], checkpoint[table]
    return Ask((_classifier(seed + 1, 3, d_model=4), checkpoint), changes=(0, 1))


def _other_width(rng: random.Random) -> list[Ask]:
    """Returns bases of other shapes; of the last, the first weights fit and only later ones do not."""
    sizes = {"d_model": rng.choice([4, 12, 16]), "vocab_size": rng.choice([6, 9]), "d_feedforward": rng.choice([6, 12])}
    return [
        Ask((_classifier(seed_from(rng)), _checkpoint(seed_from(rng), **{name: size})), changes=(0, 1))
        for name, size in sizes.items()
    ] + [make(seed_from(rng)) for make in (_width_one, _turned, _exchanged)]


def _other_names(rng: random.Random) -> list[Ask]:
    few, many = rng.choice([(1, 2), (1, 3), (2, 3)])
    return [
        Ask((_classifier(seed_from(rng), n_layers=many), _checkpoint(seed_from(rng), n_layers=few)), changes=(0, 1)),
        Ask((_classifier(seed_from(rng), n_layers=few), _checkpoint(seed_from(rng), n_layers=many)), changes=(0, 1)),
        Ask((_classifier(seed_from(rng)), replace(_base(seed_from(rng)), spread=0.3, state=True)), changes=(0, 1)),
        _renamed(seed_from(rng), rng.randint(0, 12)),
        _renamed(seed_from(rng), 0, TWICE),
    ]


PUBLIC_WIDTH = [
    Ask((_classifier(1), _checkpoint(2, d_model=4)), changes=(0, 1)),  # whether they change is asked in other stages
    Ask((_classifier(1), _checkpoint(2, vocab_size=9)), changes=(0, 1)),
    Ask((_classifier(1), _checkpoint(2, d_feedforward=12)), changes=(0, 1)),
    _width_one(3),
    _turned(4),
    _exchanged(5),
]
PUBLIC_NAMES = [
    Ask((_classifier(1, n_layers=2), _checkpoint(2)), changes=(0, 1)),
    Ask((_classifier(1), _checkpoint(2, n_layers=2)), changes=(0, 1)),
    Ask((_classifier(1), replace(_base(2), spread=0.3, state=True)), changes=(0, 1)),
    _renamed(4, 2),
    _renamed(5, 0, TWICE),
]


def _model_only(asks: list[Ask]) -> list[Ask]:
    """Returns the questions with the checkpoint free to change: only the model must stay as it was."""
    return [replace(ask, changes=(1,)) for ask in asks]


def _stripped(checkpoint: Weights) -> Weights:
    return {name.removeprefix("base."): weight for name, weight in checkpoint.items() if name.startswith("base.")}


def _nothing_loaded(model: Any, checkpoint: Weights) -> Any:
    model.base.load_state_dict(checkpoint, strict=False)
    return model


def _whole_loaded(model: Any, checkpoint: Weights) -> Any:
    model.load_state_dict(checkpoint)
    return model


def _fitting_shapes_loaded(model: Any, checkpoint: Weights) -> Any:
    own = model.state_dict()
    fitting = {n: weight for n, weight in checkpoint.items() if n in own and own[n].shape == weight.shape}
    model.load_state_dict(fitting, strict=False)
    return model


def _fitting_base_loaded(model: Any, checkpoint: Weights) -> Any:
    _fitting_shapes_loaded(model, {n: weight for n, weight in checkpoint.items() if n.startswith("base.")})
    return model


def _partly_loaded(model: Any, checkpoint: Weights) -> Any:
    model.base.load_state_dict(_stripped(checkpoint), strict=False)
    return model


def _error_of_torch(model: Any, checkpoint: Weights) -> Any:
    model.base.load_state_dict(_stripped(checkpoint))
    return model


def _names_compared(model: Any, checkpoint: Weights) -> Any:
    if _stripped(checkpoint).keys() != model.base.state_dict().keys():
        raise ValueError("the checkpoint's base has other weights than the model's.")
    return _error_of_torch(model, checkpoint)


def _silent(model: Any, checkpoint: Weights) -> Any:
    try:
        return load_base(model, checkpoint)
    except ValueError:
        return model


def _half_loaded(model: Any, checkpoint: Weights) -> Any:
    try:
        return _error_of_torch(model, checkpoint)
    except RuntimeError as problem:
        raise ValueError(str(problem)) from problem


def _head_anew(model: Any, checkpoint: Weights) -> Any:
    load_base(model, checkpoint)
    return Classifier(model.base, model.head.out_features)


def _checkpoint_changed(model: Any, checkpoint: Weights) -> Any:
    for name in [name for name in checkpoint if not name.startswith("base.")]:
        del checkpoint[name]
    return load_base(model, checkpoint)


def _memory_taken_over(model: Any, checkpoint: Weights) -> Any:
    load_base(model, checkpoint)
    for name, parameter in model.base.named_parameters():
        parameter.data = checkpoint[f"base.{name}"]
    return model


def _prefix_stripped_as_letters(model: Any, checkpoint: Weights) -> Any:
    letters = {name.lstrip("base."): w for name, w in checkpoint.items() if name.startswith("base.")}
    model.base.load_state_dict(letters, strict=False)
    return model


HEAD = ("head.*", "base.embedding.weight")

EXERCISE = Exercise(
    load_base,
    [
        Stage(
            "the base has the weights of the checkpoint",
            1.5,
            "Every weight under base. must be 'as in input 2', the checkpoint. Compare the names on both sides: "
            "checkpoint has 'base.embedding.weight', model.base calls it 'embedding.weight'.",
            [
                *_load_ask(take="origins", entries=("base.*",)),
                replace(_another_order(6), take="origins", entries=("base.*",)),
            ],
            lambda rng: [
                *_load_asks(take="origins", entries=("base.*",))(rng),
                replace(_another_order(seed_from(rng)), take="origins", entries=("base.*",)),
            ],
            decisive=True,
        ),
        Stage(
            "the head is left alone",
            0.5,
            "The head must be 'as in input 1', the model, while the base (here its embedding) is 'as in input 2', also "
            "where the checkpoint's head has the shape of the model's.",
            [
                *_load_ask(take="origins", entries=HEAD),
                Ask((_classifier(1, 7), _checkpoint(2)), changes=(0,), take="origins", entries=HEAD),
            ],
            lambda rng: [
                *_load_asks(take="origins", entries=HEAD)(rng)[:1],
                *_load_asks(n_classes=7, take="origins", entries=HEAD)(rng)[:1],
            ],
        ),
        Stage(
            "the model runs with them",
            1,
            "The model that comes back must give the logits of its own head on the base of the checkpoint, and all of "
            "it can learn.",
            [*_load_ask(then=THEN), *_load_ask(then=THEN, take="learns")],
            lambda rng: [*_load_asks(then=THEN)(rng), *_load_asks(then=THEN, take="learns")(rng)[:1]],
        ),
        Stage(
            "a base of other shapes: a ValueError",
            0.25,
            "Compare the shapes before you load, and raise ValueError with one sentence when one differs.",
            PUBLIC_WIDTH,
            _other_width,
            raises="ValueError",
            measure="says why",
        ),
        Stage(
            "a base with other names: a ValueError",
            0.5,
            "A layer too few, a layer too many, another name, or names without base.: none of it may pass in "
            "silence. Compare the "
            "two sets of names before you load.",
            PUBLIC_NAMES,
            _other_names,
            raises="ValueError",
            measure="says why",
            decisive=True,
        ),
        Stage(
            "after a ValueError the model is as it was",
            0.25,
            "Whatever is copied before the error stays: load_state_dict copies all that fits and complains about the "
            "rest afterwards. Check all names and all shapes first, then load.",
            _model_only([*PUBLIC_WIDTH, *PUBLIC_NAMES]),
            lambda rng: _model_only([*_other_width(rng), *_other_names(rng)]),
            measure="inputs kept",
            raises="ValueError",
        ),
        Stage(
            "the checkpoint is left as it was",
            0.5,
            "Others may load the same checkpoint: do not pop or rename its entries, make a new dict.",
            _load_ask(),
            _load_asks(),
            measure="inputs kept",
        ),
        Stage(
            "training the model does not change the checkpoint",
            0.5,
            "The weights must be copied into the model, as load_state_dict does (without assign=True).",
            _load_ask(take="shared"),
            _load_asks(take="shared"),
        ),
    ],
    [
        Mistake(
            "strict=False, and nothing is loaded",
            "No name fits: the checkpoint says 'base.embedding.weight', model.base 'embedding.weight'. strict=False "
            "turns this into silence. Take the prefix off, and never use strict=False without reading what it returns.",
            _nothing_loaded,
        ),
        Mistake(
            "torch's error in place of a ValueError",
            "load_state_dict raises RuntimeError, after having loaded a part. Check names and shapes first, and raise "
            "ValueError with a sentence of your own.",
            _error_of_torch,
        ),
        Mistake(
            "names are compared, shapes are not",
            "The same names may hold other shapes: load_state_dict then raises RuntimeError, after having loaded a "
            "part. Compare the shapes too, and raise ValueError with a sentence of your own.",
            _names_compared,
        ),
        Mistake(
            "the whole checkpoint is loaded, head included",
            "The checkpoint's head scores V words and does not fit; where it does by chance, it overwrites yours. Take "
            "only the names that begin with base.",
            _whole_loaded,
        ),
        Mistake(
            "whatever fits by shape is loaded",
            "What does not fit is skipped in silence, and a head that fits by chance is overwritten. Take exactly the "
            "names of the base, and raise ValueError when one of them does not fit.",
            _fitting_shapes_loaded,
        ),
        Mistake(
            "what does not fit in the base is skipped in silence",
            "A base that is half trained and half random is worse than an error: raise ValueError.",
            _fitting_base_loaded,
        ),
        Mistake(
            "strict=False: missing layers pass in silence",
            "With strict=False a missing or an additional layer is no error, and a part of the base stays random. "
            "Compare the names yourself.",
            _partly_loaded,
        ),
        Mistake(
            "after the error the model is half loaded",
            "load_state_dict copies what fits before it raises, so catching its error comes too late: the model is "
            "already a mixture. Compare names and shapes first.",
            _half_loaded,
        ),
        Mistake(
            "the head is a new one",
            "The head may have been trained already: keep it as it is.",
            _head_anew,
        ),
        Mistake(
            "entries of the checkpoint are removed, renamed or added",
            "The caller's checkpoint is no longer what it was. Make a new dict with the names that you need.",
            _checkpoint_changed,
        ),
        Mistake(
            "model and checkpoint share their memory",
            "Training the model would change the checkpoint too: copy the numbers (load_state_dict or copy_).",
            _memory_taken_over,
        ),
        Mistake(
            "lstrip takes letters, not a prefix",
            "'base.embedding.weight'.lstrip('base.') is 'mbedding.weight': lstrip removes any of these letters. Use "
            "removeprefix. And strict=False has hidden it from you.",
            _prefix_stripped_as_letters,
        ),
        Mistake(
            "no error is raised: the model comes back as it was",
            "Whoever calls the function would believe that the weights are loaded, and a printed sentence stops no "
            "program. Where the base does not fit, raise ValueError.",
            _silent,
        ),
    ],
    hints=(
        (
            "Write two names side by side: that of the embedding in the checkpoint, and that of the same weight in "
            "`model.base`. What must be done so that they agree? Which entries of the checkpoint are none of the "
            "base's business? And if a name or a shape does not fit, what must *not* have happened yet when you "
            "notice?"
        ),
        (
            "A small case. The base has `a` `(3, 4)` and `b` `(4,)`. The checkpoint has `base.a` `(3, 4)`, `base.c` "
            "`(4,)` and `head.weight`. Without the prefix, and without the head, it has `a` and `c`. So `b` is "
            "missing and `c` is one too many: a `ValueError`, and nothing is loaded. Had it `a` and `b`, but `a` of "
            "`(3, 5)`: a `ValueError` as well.\n\n"
            "`first.keys() == second.keys()` compares names in any order. Take the prefix off with `removeprefix`: "
            '`lstrip("base.")` removes letters, so that `base.embedding` becomes `mbedding`.'
        ),
        (
            "Look at everything first, load last:\n"
            "```python\n"
            'wanted = model.base.state_dict()  # names without "base."\n'
            "given = {}  # a new dict: the checkpoint itself stays as it is\n"
            "for name, weight in checkpoint.items():\n"
            '    ...  # into `given`, without its prefix, if the name begins with "base."\n'
            '# 1. other names in `given` than in `wanted`: raise ValueError("...")\n'
            '# 2. for each name, another .shape: raise ValueError("...")\n'
            "# 3. only now load `given`, into the base and strictly; it copies the numbers\n"
            "return model\n"
            "```\n"
            "Each sentence says what was found and what was expected. Loading comes last, since `load_state_dict` "
            "copies what fits before it complains. Nothing touches the head."
        ),
    ),
)
