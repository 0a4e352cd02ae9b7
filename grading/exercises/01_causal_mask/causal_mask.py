"""Exercise causal_mask of notebook 01."""

from __future__ import annotations

import random
from collections.abc import Callable

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import seed_from
from tutor.checking.answers import Question

from ._common import INF, causal_mask

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
    ),
)
exercise.reference(causal_mask)


def _draw_sizes(rng: random.Random) -> list[Question]:
    """Draws a small and a middle size, beside a larger one: what is right up to some size fails for all or for nobody.

    A window of 36 places, say, would otherwise hang on whether the size drawn for a student is larger.
    """
    sizes = [rng.randint(2, 6), rng.randint(7, 12), 40]
    rng.shuffle(sizes)
    return [Question((size,)) for size in sizes]


def _blocked_by(number: float) -> Callable[[int], Tensor]:
    return lambda size: torch.triu(torch.full((size, size), number), diagonal=1)


FINITE = (
    "It mostly works, but not in half precision or beside scores of its own size, and when a whole row is blocked it "
    "gives equal weights without a warning. Use float('-inf')."
)


@exercise.stage(
    "a floating point tensor of shape (size, size)", points=0.25, public=[Question((4,)), Question((9,))], view="shape"
)
def _(rng):
    """The mask has one row and one column for each token, and holds floating point numbers."""
    return _draw_sizes(rng)


@exercise.stage("one token alone", points=0.25, public=[Question((1,))])
def _(rng):
    """With size 1 the only token looks at itself: what must be added to its score?"""
    return [Question((1,))]


@exercise.stage(
    "the first row: token 0 sees only itself", points=0.5, public=[Question((5,)), Question((9,))], view="first row"
)
def _(rng):
    """Print the first row: token 0 may look at token 0 and at nothing after it."""
    return _draw_sizes(rng)


@exercise.stage("every row", points=1.5, public=[Question((3,)), Question((5,)), Question((8,))], decisive=True)
def _(rng):
    """Row i is the token that looks, column j the token looked at: allowed (0) where j <= i."""
    return _draw_sizes(rng)


def _large(size: int, seed: int) -> Question:
    """Returns a question that looks at a few places of a large mask, near the diagonal and far from it.

    Two loops over its places are a right answer too, and take one or two seconds.
    """
    rng = random.Random(seed)
    places = [(0, 0), (0, size - 1), (size - 1, 0), (size - 1, size - 1), (1, 2), (2, 1), (size - 2, size - 1)]
    for _ in range(8):
        low, high = sorted(rng.sample(range(size), 2))
        places += [(low, high), (high, low), (high, high)]
    return Question((size,), extra={"shape": [size, size], "places": torch.tensor(places)})


@exercise.stage("a long text", points=0.5, public=[_large(515, 1)], measure="at places")
def _(rng):
    """The rule is the same for any size: do not cut the mask from a table, and do not count in small numbers."""
    return [_large(rng.randint(130, 260), seed_from(rng))]


@exercise.corners("every row", size=(1, 2, range(33, 36), range(65, 68)))
def _(rng, size):
    return Question((size,))


@exercise.corners("a long text", size=(range(101, 104), range(121, 129)))
def _(rng, size):
    return _large(size, seed_from(rng))


@exercise.mistake("the diagonal is blocked too")
def _(size):
    """A token may look at itself: start the blocked part one place above the diagonal."""
    return torch.triu(torch.full((size, size), -INF))


@exercise.mistake("the past is blocked in place of the future")
def _(size):
    """Your mask is the transpose of the wanted one: -inf belongs above the diagonal, where j > i."""
    return causal_mask(size).T


@exercise.mistake("1 where blocked, in place of -inf")
def _(size):
    """The mask is added to the scores before the softmax; adding 1 makes a blocked token more likely. Blocked places
    need -inf, the others 0.
    """
    return torch.triu(torch.ones(size, size), diagonal=1)


@exercise.mistake("1 where allowed and 0 where blocked")
def _ones_where_allowed(size: int) -> Tensor:
    """This would be a mask to multiply with. Ours is added to the scores: 0 where allowed, -inf where blocked."""
    return torch.tril(torch.ones(size, size))


@exercise.mistake("allowed places hold 1, not 0")
def _(size):
    """Blocked places are right. But the mask is added to the scores, and what is allowed must stay as it is: add 0
    there, not 1.
    """
    return _ones_where_allowed(size) + causal_mask(size)


exercise.mistake("a large finite number in place of -inf", FINITE, _blocked_by(-1e9))

exercise.mistake("-10000 in place of -inf", FINITE, _blocked_by(-1e4))

exercise.mistake(
    "the smallest number of the type in place of -inf", FINITE, _blocked_by(torch.finfo(torch.float32).min)
)

exercise.mistake(
    "plus infinity in place of minus infinity",
    "exp(inf) is infinite: a blocked token would take everything, and the softmax would be NaN. Mind the sign.",
    _blocked_by(INF),
)


@exercise.mistake("0 times infinity is NaN")
def _(size):
    """Where the mask should be 0 you have 0 * -inf, which is no number (NaN). Fill with -inf first and keep the upper
    triangle, or use masked_fill or where: nothing may be multiplied by infinity.
    """
    return torch.triu(torch.ones(size, size), diagonal=1) * -INF


@exercise.mistake("allowed and blocked are exchanged")
def _(size):
    """-inf is what forbids. It belongs above the diagonal, where j > i, and 0 everywhere else."""
    return torch.full((size, size), -INF).tril()
