"""Exercise training_bytes of notebook 05."""

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
    _classifier,
    _draw_models,
    _language_model,
    _shape,
    _trained,
    count_parameters,
)

exercise = Definition(minutes=12, difficulty=2)


@exercise.reference
def training_bytes(model: Any) -> int:
    return 4 * count_parameters(model) + 12 * count_parameters(model, True)


exercise.by_hand(Question((LINEAR,)), tolerance=EXACT)


@exercise.stage(
    "a model that trains as a whole",
    points=0.75,
    public=[Question((_language_model(),)), Question((_language_model(n_layers=2, gradients=0.5),))],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """A number that trains is kept four times: itself, its gradient, and Adam's two moments; 4 bytes each."""
    return _draw_models(lambda rng: [(_language_model(gradients=g, **_shape(rng)),) for g in (0.0, 0.5)])(rng)


@exercise.stage(
    "a frozen base, or a part of it",
    points=0.5,
    public=[
        Question((_classifier(),)),
        *(Question((_classifier(freeze=parts),)) for parts in PARTS),
        Question((_trained(),)),
    ],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """What is frozen, each parameter by itself, has no gradient and no moments: its weights are all that is kept."""
    return _draw_models(
        lambda rng: [
            (_classifier(rng.randint(2, 9), **_shape(rng)),),
            *((_classifier(rng.randint(2, 9), freeze=parts, **_shape(rng)),) for parts in PARTS[:2]),
        ]
    )(rng)


def _shared(frozen: bool, **shape: Any) -> Model:
    """Returns a model whose head and embedding are one matrix, which may be frozen."""
    model = _language_model("sinusoidal", tie=TIED, **shape)
    return replace(model, freeze=("base.embedding",)) if frozen else model


@exercise.stage(
    "shared weights once, buffers not at all",
    points=0.5,
    public=[Question((_shared(frozen),)) for frozen in (False, True)],
)
def _(rng: random.Random) -> list[Question]:
    """One matrix under two names is one matrix in memory; buffers are left out of this count."""
    return _draw_models(lambda rng: [(_shared(frozen, **_shape(rng)),) for frozen in (False, True)])(rng)


@exercise.stage(
    "counted in float32, whatever the model comes in",
    points=0.25,
    public=[Question((replace(_language_model(), dtype=dtype),)) for dtype in ("float16", "float64")],
)
def _(rng: random.Random) -> list[Question]:
    """The count is in float32, 4 bytes for each number, also for a model whose numbers have another type now."""
    return _draw_models(
        lambda rng: [(replace(_language_model(**_shape(rng)), dtype=dtype),) for dtype in ("float16", "float64")]
    )(rng)


@exercise.corners(
    "a frozen base, or a part of it",
    layers=(0, 1, range(11, 13)),
    words=(1, range(1_000_001, 1_001_000)),
    frozen=((), ("base",), ("base", "head")),
)
def _(rng: random.Random, layers: int, words: int, frozen: Any) -> Question:
    """Asks also about a model of which nothing trains, and of which everything does."""
    return Question((replace(_classifier(freeze=frozen, vocab_size=words, n_layers=layers), meta=True),))
