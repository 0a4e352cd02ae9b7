"""Exercise kqv_matrices of notebook 08."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from grading.definitions.definition import Definition, Stage
from tutor.checking.answers import Question

from ._common import _generator, _orthonormal

exercise = Definition(minutes=25, difficulty=3)


@exercise.reference
def kqv_matrices(u_a: Tensor, u_b: Tensor, u_c: Tensor, u_d: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    square = u_a @ u_a
    keys = torch.eye(len(u_a))
    queries = (torch.outer(u_d, u_a) + torch.outer(u_c, u_d)) / square
    values = (torch.outer(u_b, u_b) - torch.outer(u_c, u_c)) / square
    return keys, queries, values


WIDE = 40  # so wide that scores divided by its root no longer tell the tokens apart


def _vectors(d: int, beta: float, generator: torch.Generator | None) -> Question:
    """Asks with four vectors of length beta at right angles; along the axes when there is no generator."""
    rows = torch.eye(d)[:4] if generator is None else _orthonormal(4, d, generator)
    return Question(tuple(beta * row for row in rows.clone()))


def _draw_directions(rng: random.Random) -> list[Question]:
    """Draws vectors in any direction, of the length of the public ones."""
    return [_vectors(d, 4.0, _generator(rng)) for d in (4, rng.choice([5, 7]))]


def _draw_lengths(rng: random.Random) -> list[Question]:
    return [_vectors(d, round(rng.uniform(4.5, 5.5), 2), _generator(rng)) for d in (4, rng.choice([5, 7]), WIDE)]


def _changed(change: Callable[..., tuple[Tensor, Tensor, Tensor]]) -> Callable[..., Any]:
    """Returns a wrong answer made from the right matrices."""
    return lambda u_a, u_b, u_c, u_d: change(*kqv_matrices(u_a, u_b, u_c, u_d), u_a, u_b, u_c, u_d)


def _self(name: str, points: float, feedback: str, view: str, *, hand: bool, decisive: bool = False) -> Stage:
    generator = torch.Generator().manual_seed(16)
    by_hand = [_vectors(4, 4.0, None), _vectors(5, 4.0, generator)]
    other_lengths = [_vectors(6, 4.5, generator), _vectors(4, 5.5, generator), _vectors(WIDE, 4.5, generator)]
    return Stage(
        name,
        points,
        feedback,
        by_hand if hand else other_lengths,
        _draw_directions if hand else _draw_lengths,
        view=view,
        tolerance=5e-3,
        measure="self-attention",
        decisive=decisive,
    )


exercise.add(
    _self(
        "three matrices of shape (d, d)",
        0.25,
        "Return K, Q, V in this order, each with d rows and d columns.",
        "shape",
        hand=True,
    ),
    _self(
        "c2 is close to u_b",
        1,
        "Token 2 must look at a token that holds u_b, and V must let u_b through. Compute Q @ u_a and its dot "
        "products with the three keys: which one is the highest, and is it about beta^2 above the others? The vectors "
        "have any direction: use them themselves (torch.outer), not the axes 0, 1, 2, 3.",
        "last row",
        hand=True,
        decisive=True,
    ),
    _self(
        "c1 is close to u_b - u_c",
        1,
        "Token 1 must look at x3 = u_c + u_b, and V must turn this into u_b - u_c: keep u_b, turn u_c "
        "round. Mind that V also meets u_b in x1.",
        "first row",
        hand=True,
        decisive=True,
    ),
    _self(
        "vectors of other lengths, up to 5.5",
        0.75,
        "The check draws their length: take it from the vectors, beta squared is u_a @ u_a.",
        "values",
        hand=False,
    ),
)


@exercise.corners("vectors of other lengths, up to 5.5", d=(4, range(33, 36)), length=(4.5, 5.5))
def _(rng: random.Random, d: int, length: float) -> Question:
    return _vectors(d, length, _generator(rng))
