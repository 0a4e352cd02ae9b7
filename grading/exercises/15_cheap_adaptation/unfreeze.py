"""Exercise unfreeze of notebook 15."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from torch import nn

from grading.definitions.exercise import Exercise, Mistake, Stage
from helpers.models import Classifier
from tutor.checking.answers import Ask
from tutor.checking.plain import Model

from ._common import _classifier, _few


def unfreeze(model: Classifier, step: int) -> Classifier:
    return _flagged(model, step, lambda place, depth: step >= depth - place)


def _flagged(model: Classifier, step: int, learns: Callable[[int, int], bool]) -> Classifier:
    """Returns the model with the flags of a step, where `learns` says of a layer's place whether it learns."""
    base, depth = model.base, len(model.base.layers)
    model.requires_grad_(step > depth)
    model.head.requires_grad_(True)
    base.norm.requires_grad_(step > 0)
    for place, layer in enumerate(base.layers):
        layer.requires_grad_(learns(place, depth))
    return model


def _ask(model: Model, step: int, **settings: Any) -> Ask:
    return Ask((model, step), changes=(0,), take="parameters", **settings)


def _steps(seed: int, steps: tuple[int, ...], **options: Any) -> list[Ask]:
    return [_ask(_classifier(seed, **{"n_layers": 3} | options), step) for step in steps]


LEARNED = {"positions": "learned"}


def _last(seed: int) -> list[Ask]:
    return [*_steps(seed, (6,)), *_steps(seed, (3, 4), **LEARNED)]


def _flags(seed: int) -> list[Ask]:
    """Returns questions about models of which a part is frozen already: more, and less, than the step says."""
    frozen = [("base.layers.2", "head"), ("base.embedding", "base.layers.0", "base.layers.1", "base.norm")]
    return [
        _ask(replace(_classifier(seed, n_layers=3), freeze=parts), step)
        for parts, step in zip(frozen, (1, 2), strict=True)
    ]


def _numbers_kept(seed: int) -> Ask:
    return Ask((_classifier(seed, n_layers=3), 2), changes=(0,), take="origins")


def _modes_kept(seed: int) -> list[Ask]:
    """Returns questions about a model that comes in training mode, and about one that does not."""
    model = _classifier(seed, n_layers=3, dropout=0.5)
    return [Ask((replace(model, training=way), 2), changes=(0,), take="modes") for way in (True, False)]


def _bottom_first(model: Any, step: int) -> Any:
    return _flagged(model, step, lambda place, depth: step > place)


def _one_at_a_time(model: Any, step: int) -> Any:
    return _flagged(model, step, lambda place, depth: step == depth - place or step > depth)


def _one_early(model: Any, step: int) -> Any:
    return unfreeze(model, step + 1)


def _one_late(model: Any, step: int) -> Any:
    return unfreeze(model, max(0, step - 1))


def _last_norm_frozen(model: Any, step: int) -> Any:
    model = unfreeze(model, step)
    model.base.norm.requires_grad_(step > len(model.base.layers))
    return model


def _norm_never(model: Any, step: int) -> Any:
    model = unfreeze(model, step)
    model.base.norm.requires_grad_(False)
    return model


def _norm_from_the_start(model: Any, step: int) -> Any:
    model = unfreeze(model, step)
    model.base.norm.requires_grad_(True)
    return model


def _no_norms(model: Any, step: int) -> Any:
    model = unfreeze(model, step)
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            module.requires_grad_(False)
    return model


def _no_embedding(model: Any, step: int) -> Any:
    return unfreeze(model, min(step, len(model.base.layers)))


def _no_positions(model: Any, step: int) -> Any:
    model = unfreeze(model, step)
    if isinstance(model.base.position, nn.Parameter):
        model.base.position.requires_grad_(False)
    return model


def _embedding_with_the_first_layer(model: Any, step: int) -> Any:
    model = unfreeze(model, step)
    if step >= len(model.base.layers):
        model.requires_grad_(True)
    return model


def _head_frozen(model: Any, step: int) -> Any:
    model = unfreeze(model, step)
    model.head.requires_grad_(step > len(model.base.layers))
    return model


def _never_frozen(model: Any, step: int) -> Any:
    base = model.base
    model.head.requires_grad_(True)
    for layer in base.layers[max(0, len(base.layers) - step) :]:
        layer.requires_grad_(True)
    if step:
        base.norm.requires_grad_(True)
    return model


EXERCISE = Exercise(
    unfreeze,
    [
        Stage(
            "step 0: the head alone",
            0.25,
            "At step 0 only head.weight and head.bias learn.",
            _steps(1, (0,)),
            lambda rng: _steps(_few(rng), (0,)),
            view="parameters",
        ),
        Stage(
            "step 1: the last layer joins in, and the norm above it",
            1,
            "base.layers[-1] is the top layer, nearest to the head; base.norm stands between it and the head.",
            _steps(2, (1,)),
            lambda rng: _steps(_few(rng), (1,)),
            view="parameters",
            decisive=True,
        ),
        Stage(
            "then one layer more at each step",
            0.75,
            "What has joined in goes on learning; each step adds the next layer below.",
            _steps(3, (2, 3)),
            lambda rng: [*_steps(_few(rng), (2, 3)), *_steps(_few(rng), (1,), n_layers=2)],
            view="parameters",
            decisive=True,
        ),
        Stage(
            "after the layers, everything",
            0.5,
            "From step len(layers) + 1 on the embedding learns too, and learned positions where there are some.",
            _last(4),
            lambda rng: [*_last(_few(rng)), *_steps(_few(rng), (1, 2), n_layers=1)],
            view="parameters",
        ),
        Stage(
            "whatever was frozen before",
            0.25,
            "Set the flags to False as well as to True: the model may come in any state.",
            _flags(6),
            lambda rng: _flags(_few(rng)),
            view="parameters",
        ),
        Stage(
            "no number and no mode changes",
            0.25,
            "Flags say what training may change later. Every weight stays as it is, and the model "
            "and all its parts in their mode: eval() freezes nothing.",
            [_numbers_kept(7), *_modes_kept(8)],
            lambda rng: [_numbers_kept(_few(rng)), *_modes_kept(_few(rng))],
        ),
    ],
    [
        Mistake(
            "the bottom layer first",
            "The layers nearest to the head come first: base.layers[-1] at step 1.",
            _bottom_first,
        ),
        Mistake(
            "one step early",
            "At step 0 no layer learns, only the head.",
            _one_early,
        ),
        Mistake(
            "one step late",
            "At step 1 the top layer and base.norm learn already.",
            _one_late,
        ),
        Mistake(
            "the layers above are frozen again",
            "Gradual unfreezing adds layers; those that have joined in go on learning.",
            _one_at_a_time,
        ),
        Mistake(
            "the last norm joins in only at the end",
            "base.norm stands above the top layer, so it joins in with it, at step 1.",
            _last_norm_frozen,
        ),
        Mistake(
            "the last norm never learns",
            "base.norm belongs to none of the layers: unfreeze it at step 1.",
            _norm_never,
        ),
        Mistake(
            "the last norm learns from the start",
            "base.norm is part of the base: at step 0 it is frozen.",
            _norm_from_the_start,
        ),
        Mistake(
            "no norm learns",
            "The norms inside a layer join in with it, and base.norm with the top layer.",
            _no_norms,
        ),
        Mistake(
            "the embedding never learns",
            "After the last layer, one step more: then everything learns.",
            _no_embedding,
        ),
        Mistake(
            "the embedding joins in with the first layer",
            "It is a step of its own: at step len(layers) all layers learn, and the embedding one step later.",
            _embedding_with_the_first_layer,
        ),
        Mistake(
            "learned positions never learn",
            "base.position is a parameter of the base itself: at the last step everything learns.",
            _no_positions,
        ),
        Mistake(
            "the head is frozen",
            "The head learns at every step: it is new.",
            _head_frozen,
        ),
        Mistake(
            "nothing is frozen first",
            "A model comes with all its flags at True: set them to False before you unfreeze.",
            _never_frozen,
        ),
    ],
    large=[_ask(_classifier(9, n_layers=12, d_model=2), 2)],
    hints=(
        "Which layer is nearest to the head, `base.layers[0]` or `base.layers[-1]`? In a base of three layers, write "
        "down which parts learn at steps 0, 1, 2, 3 and 4. Which parts of the base belong to no layer, and in which "
        "line of your list does each of them stand?",
        "Three layers a, b, c from bottom to top, a norm above them and an embedding below. Step 0: head. Step "
        "1: head, norm, c. Step 2: head, norm, c, b. Step 3: with a. Step 4 and all later ones: everything. So the "
        "layer at place $k$ of $M$, counted from 0, joins in at step $M - k$: c, with $k = 2$, at step 1.\n\n"
        "`module.requires_grad_(truth)` sets the flags of all parameters inside, and takes a comparison as well as "
        "`True`: `layer.requires_grad_(3 > 2)`.",
        "```python\n"
        "base, depth = model.base, len(model.base.layers)\n"
        "...  # all flags: True only when the step is beyond the layers\n"
        "...  # the head: True\n"
        "...  # base.norm: from step 1 on\n"
        "for place, layer in enumerate(base.layers):\n"
        "    ...  # from step depth - place on\n"
        "return model\n"
        "```\n"
        "The first line of the four goes over everything, so that the others only have to correct it. Do not call "
        "`eval()`.",
    ),
)
