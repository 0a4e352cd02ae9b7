"""Exercise causal_mask of notebook 01."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from grading.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw
from helpers.checking.answers import Ask

from ._common import INF, causal_mask


def _sizes(low: int, high: int, count: int) -> Draw:
    def draw(rng: random.Random) -> list[Ask]:
        return [Ask((size,)) for size in rng.sample(range(low, high + 1), count)]

    return draw


def _diagonal_blocked(size: int) -> Tensor:
    return torch.triu(torch.full((size, size), -INF))


def _transposed(size: int) -> Tensor:
    return causal_mask(size).T


def _ones_where_blocked(size: int) -> Tensor:
    return torch.triu(torch.ones(size, size), diagonal=1)


def _ones_where_allowed(size: int) -> Tensor:
    return torch.tril(torch.ones(size, size))


def _ones_where_allowed_infinity_where_blocked(size: int) -> Tensor:
    return _ones_where_allowed(size) + causal_mask(size)


def _large_number(size: int) -> Tensor:
    return torch.triu(torch.full((size, size), -1e9), diagonal=1)


EXERCISE = Exercise(
    causal_mask,
    [
        Stage(
            "a floating point tensor of shape (size, size)",
            0.5,
            "The mask has one row and one column for each token, and holds floating point numbers.",
            [Ask((4,))],
            _sizes(2, 12, 2),
            view="shape",
        ),
        Stage(
            "one token alone",
            0.5,
            "With size 1 the only token looks at itself: what must be added to its score?",
            [Ask((1,))],
            lambda rng: [Ask((1,))],
        ),
        Stage(
            "the first row: token 0 sees only itself",
            1,
            "Print the first row: token 0 may look at token 0 and at nothing after it.",
            [Ask((5,))],
            _sizes(3, 12, 2),
            view="first row",
        ),
        Stage(
            "every row",
            1,
            "Row i is the token that looks, column j the token looked at: allowed (0) where j <= i.",
            [Ask((3,)), Ask((5,))],
            _sizes(2, 24, 4),
        ),
    ],
    [
        Mistake(
            "the diagonal is blocked too",
            "A token may look at itself: start the blocked part one place above the diagonal.",
            _diagonal_blocked,
        ),
        Mistake(
            "the past is blocked in place of the future",
            "Your mask is the transpose of the wanted one: -inf belongs above the diagonal, where j > i.",
            _transposed,
        ),
        Mistake(
            "1 where blocked, in place of -inf",
            "The mask is added to the scores before the softmax; adding 1 makes a blocked token more likely. "
            "Blocked places need -inf, the others 0.",
            _ones_where_blocked,
        ),
        Mistake(
            "1 where allowed and 0 where blocked",
            "This would be a mask to multiply with. Ours is added to the scores: 0 where allowed, -inf where blocked.",
            _ones_where_allowed,
        ),
        Mistake(
            "allowed places hold 1, not 0",
            "Blocked places are right. But the mask is added to the scores, and what is allowed must stay as it is: "
            "add 0 there, not 1.",
            _ones_where_allowed_infinity_where_blocked,
        ),
        Mistake(
            "a large finite number in place of -inf",
            "-1e9 mostly works, but it overflows in half precision, and when a whole row is blocked it gives equal "
            "weights without a warning. Use float('-inf').",
            _large_number,
        ),
    ],
)
