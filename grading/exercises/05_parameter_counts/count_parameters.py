"""Exercise count_parameters of notebook 05."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from grading.definitions.definition import Definition
from tutor.checking.answers import Question
from tutor.checking.plain import Model

from ._common import (
    PARTS,
    TIED,
    TIED_BIASES,
    TIED_IN_ONE,
    _base,
    _buffers,
    _classifier,
    _draw_models,
    _language_model,
    _shape,
    _shared_twice,
    _trained,
    count_parameters,
)

exercise = Definition(minutes=12, difficulty=1)
exercise.reference(count_parameters)


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
def _(rng):
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
def _(rng):
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
def _(rng):
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
def _(rng):
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
def _(rng, layers, words, trainable_only):
    model = replace(_language_model(vocab_size=words, n_layers=layers), meta=True)
    return Question((model, trainable_only))


@exercise.mistake("buffers are counted")
def _(model, trainable_only=False):
    """Buffers, such as the table of sinusoidal positions, are stored with the model but never trained: count
    model.parameters() only.
    """
    tensors = [*model.parameters(), *model.buffers()]
    return sum(t.numel() for t in tensors if t.requires_grad or not trainable_only)


@exercise.mistake("buffers are counted, even among what trains")
def _(model, trainable_only=False):
    """Buffers, such as the table of sinusoidal positions, never train: count model.parameters() only."""
    return count_parameters(model, trainable_only) + _buffers(model)


@exercise.mistake("what two modules share is counted twice")
def _(model, trainable_only=False):
    """Going from module to module gives a matrix again in each that has it. model.parameters() goes through all of them
    and gives it once.
    """
    found = (p for module in model.modules() for p in module.parameters(recurse=False))
    return sum(p.numel() for p in found if p.requires_grad or not trainable_only)


exercise.mistake(
    "shared weights are counted twice",
    "The head and the embedding are the same matrix under two names. model.parameters() gives it once.",
    _shared_twice,
)


@exercise.mistake("counted from the state_dict")
def _(model, trainable_only=False):
    """A state_dict lists shared weights under each of their names and does not say what trains. Use
    model.parameters().
    """
    return sum(t.numel() for t in model.state_dict().values())


@exercise.mistake("trainable_only is ignored")
def _(model, trainable_only=False):
    """With trainable_only=True, leave out each parameter whose requires_grad is False."""
    return count_parameters(model)


@exercise.mistake("frozen parameters are always left out")
def _(model, trainable_only=False):
    """Frozen parameters count too, unless trainable_only is True."""
    return count_parameters(model, True)


@exercise.mistake("the frozen parameters are counted in place of the others")
def _(model, trainable_only=False):
    """requires_grad is True for a parameter that trains. Keep these."""
    everything = count_parameters(model)
    return everything - count_parameters(model, True) if trainable_only else everything


@exercise.mistake("trainable_only is turned round")
def _(model, trainable_only=False):
    """With trainable_only=True the frozen ones are left out, with False they are counted."""
    return count_parameters(model, not trainable_only)


@exercise.mistake("only matrices are counted: biases and norms are lost")
def _(model, trainable_only=False):
    """A bias and the two vectors of a norm are parameters as well, though they have one axis only."""
    chosen = [p for p in model.parameters() if p.requires_grad or not trainable_only]
    return sum(p.numel() for p in chosen if p.dim() > 1)


@exercise.mistake("biases are lost")
def _(model, trainable_only=False):
    """Biases train like all the rest: count them."""
    named = [(n, p) for n, p in model.named_parameters() if p.requires_grad or not trainable_only]
    return sum(p.numel() for n, p in named if "bias" not in n)


@exercise.mistake("tensors are counted, not numbers")
def _(model, trainable_only=False):
    """A matrix of 10 rows and 4 columns is one tensor and 40 parameters: add up p.numel()."""
    return sum(1 for p in model.parameters() if p.requires_grad or not trainable_only)


@exercise.mistake("rows are counted, not numbers")
def _(model, trainable_only=False):
    """len(p) is the number of rows. A matrix of 10 rows and 4 columns has 40 numbers: p.numel()."""
    return sum(len(p) for p in model.parameters() if p.requires_grad or not trainable_only)


@exercise.mistake("the sides of a matrix are added, not multiplied")
def _(model, trainable_only=False):
    """A matrix of 10 rows and 4 columns has 10 * 4 numbers, not 10 + 4: p.numel()."""
    return sum(sum(p.shape) for p in model.parameters() if p.requires_grad or not trainable_only)


@exercise.mistake("parameters are counted again at every level")
def _(model, trainable_only=False):
    """module.parameters() already looks into all the modules inside: do not sum it over model.modules()."""
    return sum(count_parameters(module, trainable_only) for module in model.modules())


@exercise.mistake("learned positions are left out")
def _(model, trainable_only=False):
    """Learned positions are trained like the embedding. What decides is not the name: a parameter counts, a buffer does
    not.
    """
    named = [(n, p) for n, p in model.named_parameters() if p.requires_grad or not trainable_only]
    return sum(p.numel() for n, p in named if "position" not in n)
