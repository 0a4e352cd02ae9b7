"""Exercise causal_mask of notebook 01."""

from __future__ import annotations

import random

import torch

from grading.definitions.definition import Definition
from grading.exercises.draws import seed_from
from tutor.checking.answers import Question

from ._common import causal_mask

exercise = Definition(
    minutes=8,
    difficulty=1,
    forbids=(
        "torch.nn.Transformer.generate_square_subsequent_mask",
        "torch.nn.modules.transformer._generate_square_subsequent_mask",
        "torch.nn.attention.bias.causal_lower_right",
        "torch.nn.attention.bias.causal_upper_left",
        "torch.nn.attention.bias.CausalBias._materialize",
        "helpers.models.causal_mask",
        "helpers.heads.causal_mask",
    ),
)
exercise.reference(causal_mask)


def _draw_sizes(rng: random.Random) -> list[Question]:
    """Draws a small and a middle size, beside a larger one: what is right up to some size fails for all or for nobody.

    A window of 36 positions, say, would otherwise hang on whether the size drawn for a student is larger.
    """
    sizes = [rng.randint(2, 6), rng.randint(7, 12), 40]
    rng.shuffle(sizes)
    return [Question((size,)) for size in sizes]


@exercise.stage(
    "a floating point tensor of shape (size, size)", points=0.25, public=[Question((4,)), Question((9,))], view="shape"
)
def _(rng: random.Random) -> list[Question]:
    """The mask has one row and one column for each token, and holds floating point numbers."""
    return _draw_sizes(rng)


@exercise.stage("one token alone", points=0.25, public=[Question((1,))])
def _(rng: random.Random) -> list[Question]:
    """With size 1 the only token looks at itself: what must be added to its score?"""
    return [Question((1,))]


@exercise.stage(
    "the first row: token 0 sees only itself", points=0.5, public=[Question((5,)), Question((9,))], view="first row"
)
def _(rng: random.Random) -> list[Question]:
    """Print the first row: token 0 may look at token 0 and at nothing after it."""
    return _draw_sizes(rng)


@exercise.stage("every row", points=1.5, public=[Question((3,)), Question((5,)), Question((8,))], decisive=True)
def _(rng: random.Random) -> list[Question]:
    """Row i is the token that looks, column j the token looked at: allowed (0) where j <= i."""
    return _draw_sizes(rng)


def _large(size: int, seed: int) -> Question:
    """Returns a question that looks at a few entries of a large mask, near the diagonal and far from it.

    Two loops over its entries are a right answer too, and take one or two seconds.
    """
    rng = random.Random(seed)
    positions = [(0, 0), (0, size - 1), (size - 1, 0), (size - 1, size - 1), (1, 2), (2, 1), (size - 2, size - 1)]
    for _ in range(8):
        low, high = sorted(rng.sample(range(size), 2))
        positions += [(low, high), (high, low), (high, high)]
    return Question((size,), extra={"shape": [size, size], "places": torch.tensor(positions)})


@exercise.stage("a long text", points=0.5, public=[_large(515, 1)], measure="at places")
def _(rng: random.Random) -> list[Question]:
    """The rule is the same for any size: do not cut the mask from a table, and do not count in small numbers."""
    return [_large(rng.randint(130, 260), seed_from(rng))]


@exercise.corners("every row", size=(1, 2, range(33, 36), range(65, 68)))
def _(rng: random.Random, size: int) -> Question:
    return Question((size,))


@exercise.corners("a long text", size=(range(101, 104), range(121, 129)))
def _(rng: random.Random, size: int) -> Question:
    return _large(size, seed_from(rng))
