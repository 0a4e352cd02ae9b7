"""Exercise count_parameters of notebook 05."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from grading.definitions.definition import Definition
from tutor.checking.answers import Question
from tutor.checking.plain import Model

from ._common import (
    EXACT,
    LINEAR,
    PARTS,
    TIED,
    TIED_BIASES,
    TIED_IN_ONE,
    _base,
    _classifier,
    _draw_models,
    _language_model,
    _shape,
    _trained,
    count_parameters,
)

exercise = Definition(minutes=12, difficulty=1)
exercise.reference(count_parameters)
exercise.by_hand(Question((LINEAR,)), tolerance=EXACT)


def _large(rng: random.Random) -> Model:
    """Returns a model of the size of the large example, without numbers in it; its count is odd."""
    words = 50_001 + 2 * rng.randint(0, 500)
    arguments = {"base": _base(vocab_size=words, d_model=200, n_layers=4)}
    return Model("LanguageModel", arguments, meta=True)


def _convolution(rng: random.Random) -> Model:
    """Returns a layer for pictures, whose weights have four axes."""
    sizes = dict(zip(("in_channels", "out_channels", "kernel_size"), rng.sample(range(2, 6), 3), strict=True))
    return Model("Conv2d", sizes)


def _attention(rng: random.Random) -> Model:
    """Returns a module that has parameters of its own, and parts with others."""
    return Model("MultiheadAttention", {"embed_dim": 2 * rng.randint(2, 6), "num_heads": 2})


LARGE = _large(random.Random(1))

FOREIGN = (_convolution, _attention)
ALL_TIED = (TIED, TIED_BIASES, TIED_IN_ONE)  # in two modules, in one layer, in one module


@exercise.stage(
    "a plain model: every number of every tensor",
    points=0.5,
    public=[Question((model,)) for model in (_language_model(), LARGE, *(made(random.Random(2)) for made in FOREIGN))],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Go through model.parameters() and add up how many numbers each tensor has: p.numel(). Shapes are enough for it; a
    model on the meta device has shapes and no numbers, and data_ptr() is 0 for all of its tensors.
    """
    return _draw_models(
        lambda rng: [(_language_model(**_shape(rng)),), (_large(rng),), *((made(rng),) for made in FOREIGN)]
    )(rng)


def _batch_norm(rng: random.Random) -> Model:
    """Returns a module with buffers that a checkpoint keeps."""
    return Model("BatchNorm1d", {"num_features": rng.randint(3, 9)})


@exercise.stage(
    "buffers do not count, learned positions do",
    points=0.5,
    public=[
        Question((_language_model("sinusoidal"),)),
        Question((_classifier(2, "sinusoidal"), True)),
        Question((_language_model("learned"),)),
        Question((_batch_norm(random.Random(3)),)),
    ],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """What stands in model.buffers() does not count: sinusoidal positions, and the running mean and variance of a
    BatchNorm, which a state_dict has in it, too. What stands in model.parameters() does: learned positions.
    """
    return _draw_models(
        lambda rng: [
            (_classifier(3, "sinusoidal", **_shape(rng)), True),
            (_language_model("sinusoidal", **_shape(rng)),),
            (_language_model("learned", **_shape(rng)),),
            (_batch_norm(rng),),
        ]
    )(rng)


def _tied_and_frozen(**shape: Any) -> Model:
    return replace(_language_model(tie=TIED, **shape), freeze=("base.embedding",))


@exercise.stage(
    "shared weights count once",
    points=1,
    public=[
        *(Question((_language_model(tie=tied), flag)) for tied in ALL_TIED for flag in (False, True)),
        Question((_tied_and_frozen(), True)),
    ],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Here the head uses the matrix of the embedding: two names, one matrix in memory."""
    return _draw_models(
        lambda rng: [
            *((_language_model(tie=tied, **_shape(rng)), flag) for tied in ALL_TIED for flag in (False, True)),
            (_tied_and_frozen(**_shape(rng)), True),
        ]
    )(rng)


@exercise.stage(
    "only what trains, when asked",
    points=1,
    public=[
        *(Question((_classifier(), flag)) for flag in (True, False)),
        *(Question((_classifier(freeze=parts), True)) for parts in PARTS),
        Question((_trained(), True)),
    ],
)
def _(rng: random.Random) -> list[Question]:
    """The base of a classifier, or a part of it, is frozen: these parameters have requires_grad = False. Leave them out
    only when trainable_only is True. It is each parameter's own flag that counts.
    """
    return _draw_models(
        lambda rng: [
            *((_classifier(rng.randint(2, 9), **_shape(rng)), flag) for flag in (True, False)),
            *((_classifier(rng.randint(2, 9), freeze=parts, **_shape(rng)), True) for parts in PARTS[:2]),
            (_trained(rng.randint(2, 9), **_shape(rng)), True),
        ]
    )(rng)


@exercise.corners(
    "a plain model: every number of every tensor",
    layers=(0, 1, range(11, 13)),
    words=(1, range(1_000_001, 1_001_000)),
    trainable_only=(True, False),
)
def _(rng: random.Random, layers: int, words: int, trainable_only: bool) -> Question:
    model = replace(_language_model(vocab_size=words, n_layers=layers), meta=True)
    return Question((model, trainable_only))
