"""Exercise count_parameters of notebook 05."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from grading.definitions.exercise import Exercise, Mistake, Stage
from tutor.checking.answers import Ask
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


def _with_buffers(model: Any, trainable_only: bool = False) -> int:
    tensors = [*model.parameters(), *model.buffers()]
    return sum(t.numel() for t in tensors if t.requires_grad or not trainable_only)


def _always_with_buffers(model: Any, trainable_only: bool = False) -> int:
    return count_parameters(model, trainable_only) + _buffers(model)


def _from_state_dict(model: Any, trainable_only: bool = False) -> int:
    return sum(t.numel() for t in model.state_dict().values())


def _frozen_only(model: Any, trainable_only: bool = False) -> int:
    everything = count_parameters(model)
    return everything - count_parameters(model, True) if trainable_only else everything


def _flag_inverted(model: Any, trainable_only: bool = False) -> int:
    return count_parameters(model, not trainable_only)


def _matrices_only(model: Any, trainable_only: bool = False) -> int:
    chosen = [p for p in model.parameters() if p.requires_grad or not trainable_only]
    return sum(p.numel() for p in chosen if p.dim() > 1)


def _without_biases(model: Any, trainable_only: bool = False) -> int:
    named = [(n, p) for n, p in model.named_parameters() if p.requires_grad or not trainable_only]
    return sum(p.numel() for n, p in named if "bias" not in n)


def _tensors(model: Any, trainable_only: bool = False) -> int:
    return sum(1 for p in model.parameters() if p.requires_grad or not trainable_only)


def _rows(model: Any, trainable_only: bool = False) -> int:
    return sum(len(p) for p in model.parameters() if p.requires_grad or not trainable_only)


def _sides_added(model: Any, trainable_only: bool = False) -> int:
    return sum(sum(p.shape) for p in model.parameters() if p.requires_grad or not trainable_only)


def _module_by_module(model: Any, trainable_only: bool = False) -> int:
    found = (p for module in model.modules() for p in module.parameters(recurse=False))
    return sum(p.numel() for p in found if p.requires_grad or not trainable_only)


def _every_level(model: Any, trainable_only: bool = False) -> int:
    return sum(count_parameters(module, trainable_only) for module in model.modules())


def _without_positions(model: Any, trainable_only: bool = False) -> int:
    named = [(n, p) for n, p in model.named_parameters() if p.requires_grad or not trainable_only]
    return sum(p.numel() for n, p in named if "position" not in n)


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


def _batch_norm(rng: random.Random) -> Model:
    """Returns a module with buffers that a checkpoint keeps."""
    return Model("BatchNorm1d", {"num_features": rng.randint(3, 9)})


def _tied_and_frozen(**shape: Any) -> Model:
    return replace(_language_model(tie=TIED, **shape), freeze=("base.embedding",))


LARGE = _large(random.Random(1))

FOREIGN = (_convolution, _attention)
ALL_TIED = (TIED, TIED_BIASES, TIED_IN_ONE)  # in two modules, in one layer, in one module

EXERCISE = Exercise(
    count_parameters,
    [
        Stage(
            "a plain model: every number of every tensor",
            0.5,
            "Go through model.parameters() and add up how many numbers each tensor has: p.numel().",
            [Ask((model,)) for model in (_language_model(), LARGE, *(made(random.Random(2)) for made in FOREIGN))],
            _draw_models(
                lambda rng: [(_language_model(**_shape(rng)),), (_large(rng),), *((made(rng),) for made in FOREIGN)]
            ),
            decisive=True,
        ),
        Stage(
            "buffers do not count, learned positions do",
            0.5,
            "Sinusoidal positions are a buffer: model.buffers(), not model.parameters(). Learned ones are parameters.",
            [
                Ask((_language_model("sinusoidal"),)),
                Ask((_classifier(2, "sinusoidal"), True)),
                Ask((_language_model("learned"),)),
                Ask((_batch_norm(random.Random(3)),)),
            ],
            _draw_models(
                lambda rng: [
                    (_classifier(3, "sinusoidal", **_shape(rng)), True),
                    (_language_model("sinusoidal", **_shape(rng)),),
                    (_language_model("learned", **_shape(rng)),),
                    (_batch_norm(rng),),
                ]
            ),
        ),
        Stage(
            "shared weights count once",
            1,
            "Here the head uses the matrix of the embedding: two names, one matrix in memory.",
            [
                *(Ask((_language_model(tie=tied), flag)) for tied in ALL_TIED for flag in (False, True)),
                Ask((_tied_and_frozen(), True)),
            ],
            _draw_models(
                lambda rng: [
                    *((_language_model(tie=tied, **_shape(rng)), flag) for tied in ALL_TIED for flag in (False, True)),
                    (_tied_and_frozen(**_shape(rng)), True),
                ]
            ),
            decisive=True,
        ),
        Stage(
            "only what trains, when asked",
            1,
            "The base of a classifier, or a part of it, is frozen: these parameters have requires_grad = False. Leave "
            "them out only when trainable_only is True. It is each parameter's own flag that counts.",
            [
                *(Ask((_classifier(), flag)) for flag in (True, False)),
                *(Ask((_classifier(freeze=parts), True)) for parts in PARTS),
                Ask((_trained(), True)),
            ],
            _draw_models(
                lambda rng: [
                    *((_classifier(rng.randint(2, 9), **_shape(rng)), flag) for flag in (True, False)),
                    *((_classifier(rng.randint(2, 9), freeze=parts, **_shape(rng)), True) for parts in PARTS[:2]),
                    (_trained(rng.randint(2, 9), **_shape(rng)), True),
                ]
            ),
        ),
    ],
    [
        Mistake(
            "buffers are counted",
            "Buffers, such as the table of sinusoidal positions, are stored with the model but never "
            "trained: count model.parameters() only.",
            _with_buffers,
        ),
        Mistake(
            "buffers are counted, even among what trains",
            "Buffers, such as the table of sinusoidal positions, never train: count model.parameters() only.",
            _always_with_buffers,
        ),
        Mistake(
            "what two modules share is counted twice",
            "Going from module to module gives a matrix again in each that has it. model.parameters() goes through all "
            "of them and gives it once.",
            _module_by_module,
        ),
        Mistake(
            "shared weights are counted twice",
            "The head and the embedding are the same matrix under two names. model.parameters() gives it once.",
            _shared_twice,
        ),
        Mistake(
            "counted from the state_dict",
            "A state_dict lists shared weights under each of their names and does not say what trains. "
            "Use model.parameters().",
            _from_state_dict,
        ),
        Mistake(
            "trainable_only is ignored",
            "With trainable_only=True, leave out each parameter whose requires_grad is False.",
            lambda model, trainable_only=False: count_parameters(model),
        ),
        Mistake(
            "frozen parameters are always left out",
            "Frozen parameters count too, unless trainable_only is True.",
            lambda model, trainable_only=False: count_parameters(model, True),
        ),
        Mistake(
            "the frozen parameters are counted in place of the others",
            "requires_grad is True for a parameter that trains. Keep these.",
            _frozen_only,
        ),
        Mistake(
            "trainable_only is turned round",
            "With trainable_only=True the frozen ones are left out, with False they are counted.",
            _flag_inverted,
        ),
        Mistake(
            "only matrices are counted: biases and norms are lost",
            "A bias and the two vectors of a norm are parameters as well, though they have one axis only.",
            _matrices_only,
        ),
        Mistake("biases are lost", "Biases train like all the rest: count them.", _without_biases),
        Mistake(
            "tensors are counted, not numbers",
            "A matrix of 10 rows and 4 columns is one tensor and 40 parameters: add up p.numel().",
            _tensors,
        ),
        Mistake(
            "rows are counted, not numbers",
            "len(p) is the number of rows. A matrix of 10 rows and 4 columns has 40 numbers: p.numel().",
            _rows,
        ),
        Mistake(
            "the sides of a matrix are added, not multiplied",
            "A matrix of 10 rows and 4 columns has 10 * 4 numbers, not 10 + 4: p.numel().",
            _sides_added,
        ),
        Mistake(
            "parameters are counted again at every level",
            "module.parameters() already looks into all the modules inside: do not sum it over model.modules().",
            _every_level,
        ),
        Mistake(
            "learned positions are left out",
            "Learned positions are trained like the embedding. What decides is not the name: a parameter "
            "counts, a buffer does not.",
            _without_positions,
        ),
    ],
    hints=(
        (
            "Take the rule in bold in section 1, and hold it against each of the three programs above it. Which list "
            "of tensors has exactly those that training may change, a shared one only once? And what do you add for "
            "one tensor: 1, its number of rows, or something else?"
        ),
        (
            "A `Linear` from 3 to 5 has a weight of 5 rows of 3 and a bias of 5. `model.parameters()` gives these "
            "two tensors; `numel()` says 15 and 5, so there are 20 parameters. If the weight is frozen "
            "(`requires_grad` is False), there are still 20, but 5 trainable ones.\n\n"
            "`parameters()` looks into all parts of a model by itself, leaves buffers out, and gives a matrix with "
            "two names once. `state_dict()` and `named_parameters(remove_duplicate=False)` do not."
        ),
        (
            "A loop over the tensors:\n"
            "```python\n"
            "total = 0\n"
            "for p in model.parameters():\n"
            "    # leave p out, or add how many numbers it has\n"
            "return total\n"
            "```\n"
            "When is `p` left out? Write down the four cases: `trainable_only` True or False, `p.requires_grad` True "
            "or False. In three of them `p` is counted. Test with the small models of the text: 226 parameters for "
            "the plain language model, and with a frozen base the same 226, of which 50 train (the head: 10 rows of "
            "4, and 10 biases)."
        ),
    ),
)
