"""Exercise training_bytes of notebook 05."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grading.definitions.exercise import Exercise, Mistake, Stage
from tutor.checking.answers import Ask
from tutor.checking.plain import Model

from ._common import (
    PARTS,
    TIED,
    _buffers,
    _classifier,
    _draw_models,
    _language_model,
    _shape,
    _shared_twice,
    _trained,
    count_parameters,
)


def training_bytes(model: Any) -> int:
    return 4 * count_parameters(model) + 12 * count_parameters(model, True)


def _shared(frozen: bool, **shape: Any) -> Model:
    """Returns a model whose head and embedding are one matrix, which may be frozen."""
    model = _language_model("sinusoidal", tie=TIED, **shape)
    return replace(model, freeze=("base.embedding",)) if frozen else model


EXERCISE = Exercise(
    training_bytes,
    [
        Stage(
            "a model that trains as a whole",
            1,
            "A number that trains is kept four times: itself, its gradient, and Adam's two moments; 4 bytes each.",
            [Ask((_language_model(),)), Ask((_language_model(n_layers=2, gradients=0.5),))],
            _draw_models(lambda rng: [(_language_model(gradients=g, **_shape(rng)),) for g in (0.0, 0.5)]),
            decisive=True,
        ),
        Stage(
            "a frozen base, or a part of it",
            0.5,
            "What is frozen, each parameter by itself, has no gradient and no moments: its weights are all that is "
            "kept.",
            [Ask((_classifier(),)), *(Ask((_classifier(freeze=parts),)) for parts in PARTS), Ask((_trained(),))],
            _draw_models(
                lambda rng: [
                    (_classifier(rng.randint(2, 9), **_shape(rng)),),
                    *((_classifier(rng.randint(2, 9), freeze=parts, **_shape(rng)),) for parts in PARTS[:2]),
                ]
            ),
        ),
        Stage(
            "shared weights once, buffers not at all",
            0.5,
            "One matrix under two names is one matrix in memory; buffers are left out of this count.",
            [Ask((_shared(frozen),)) for frozen in (False, True)],
            _draw_models(lambda rng: [(_shared(frozen, **_shape(rng)),) for frozen in (False, True)]),
        ),
    ],
    [
        Mistake(
            "one of the two moments is forgotten",
            "You count 12 bytes for a number that trains. Weight, gradient and Adam's *two* moments are 16: the "
            "running mean of the gradient and that of its square.",
            lambda model: 4 * count_parameters(model) + 8 * count_parameters(model, True),
        ),
        Mistake(
            "Adam's moments are forgotten",
            "Adam keeps two more numbers for each one that trains: running means of the gradient and of its square.",
            lambda model: 4 * count_parameters(model) + 4 * count_parameters(model, True),
        ),
        Mistake(
            "only the weights are counted",
            "Training keeps a gradient and two moments beside each weight.",
            lambda model: 4 * count_parameters(model),
        ),
        Mistake(
            "frozen parameters get gradients and moments",
            "What is frozen keeps its weights only: 4 bytes and not 16.",
            lambda model: 16 * count_parameters(model),
        ),
        Mistake(
            "frozen weights take no memory",
            "Frozen weights do not train, but they are there: 4 bytes each.",
            lambda model: 16 * count_parameters(model, True),
        ),
        Mistake(
            "the flag is turned round",
            "requires_grad is True for a number that trains: this one takes 16 bytes, a frozen one 4.",
            lambda model: 16 * count_parameters(model) - 12 * count_parameters(model, True),
        ),
        Mistake(
            "numbers are counted, not bytes",
            "A float32 takes 4 bytes.",
            lambda model: count_parameters(model) + 3 * count_parameters(model, True),
        ),
        Mistake(
            "bits in place of bytes",
            "A float32 has 32 bits, which are 4 bytes.",
            lambda model: 32 * count_parameters(model) + 96 * count_parameters(model, True),
        ),
        Mistake(
            "two bytes for a number",
            "A float32 takes 4 bytes; 2 would be a half precision number.",
            lambda model: 2 * count_parameters(model) + 6 * count_parameters(model, True),
        ),
        Mistake(
            "eight bytes for a number",
            "A float32 takes 4 bytes; 8 would be a float64.",
            lambda model: 8 * count_parameters(model) + 24 * count_parameters(model, True),
        ),
        Mistake(
            "shared weights are counted twice",
            "One matrix under two names is one matrix in memory, with one gradient.",
            lambda model: 4 * _shared_twice(model) + 12 * _shared_twice(model, True),
        ),
        Mistake(
            "buffers are counted",
            "Buffers are left out of this count, and they never have a gradient.",
            lambda model: training_bytes(model) + 4 * _buffers(model),
        ),
    ],
    hints=(
        (
            "Make a table with two columns: a number that trains, and one that is frozen. Which of the four things "
            "in the list of section 7 are in memory for each of them? How many bytes has one `float32`? And for "
            "which two kinds of count do you have a program already?"
        ),
        (
            "A `Linear` from 4 to 3 has 12 weights and 3 biases. Let the weights be frozen and the biases train. "
            "Each of the 15 numbers is there itself: $15 \\cdot 4 = 60$ bytes. Each of the 3 that train has a "
            "gradient and two moments beside it, 3 more numbers: $3 \\cdot 3 \\cdot 4 = 36$ bytes. Together 96. If "
            "all of it trained, it would be $15 \\cdot 16 = 240$."
        ),
        (
            "Two counts make the bytes:\n"
            "1. how many parameters there are, and how many of them train: `count_parameters`, with and without "
            "`trainable_only`. It counts shared weights once and no buffers, as you need it here.\n"
            "2. bytes = 4 for each parameter, and ... more for each one that trains.\n\n"
            "Test with `nn.Linear(3, 2)`: 128, and after `requires_grad_(False)` 32. (If your `count_parameters` is "
            "not right yet, a loop over `model.parameters()` does it: each `p` has `p.numel()` numbers and its own "
            "flag.)"
        ),
    ),
)
