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


def _self(name: str, points: float, look: str, view: str, *, hand: bool, decisive: bool = False) -> Stage:
    generator = torch.Generator().manual_seed(16)
    by_hand = [_vectors(4, 4.0, None), _vectors(5, 4.0, generator)]
    other_lengths = [_vectors(6, 4.5, generator), _vectors(4, 5.5, generator), _vectors(WIDE, 4.5, generator)]
    return Stage(
        name,
        points,
        look,
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
def _(rng, d, length):
    return _vectors(d, length, _generator(rng))


exercise.mistake(
    "V does not let u_b alone through",
    "With V = I the whole token is copied: c2 = u_d + u_b. V must drop u_d and turn u_c round.",
    _changed(lambda k, q, v, *u: (k, q, torch.eye(len(u[0])))),
)

exercise.mistake(
    "V is not divided by beta squared",
    "outer(u, u) @ u is beta^2 times u. Divide by u @ u, so that V gives u_b and not a multiple of it.",
    _changed(lambda k, q, v, *u: (k, q, v * (u[0] @ u[0]))),
)

exercise.mistake(
    "V is divided by beta, not by its square",
    "outer(u, u) @ u = (u . u) u, and u . u is beta squared.",
    _changed(lambda k, q, v, *u: (k, q, v * (u[0] @ u[0]).sqrt())),
)

exercise.mistake(
    "the scores are about beta, not about beta squared",
    "One token takes nearly all the weight when its score is about beta^2; yours are about beta. Q must turn u_a "
    "into a vector of length beta: torch.outer(y, x) / (x @ x) does.",
    _changed(lambda k, q, v, *u: (k, q / (u[0] @ u[0]).sqrt(), v)),
)

exercise.mistake(
    "Q is transposed, or K and Q are exchanged",
    "outer(y, x) @ x is a multiple of y: it takes x in and gives y out. Q acts on the token that "
    "looks, K on the tokens looked at, and the order of the answer is K, Q, V.",
    _changed(lambda k, q, v, *u: (k, q.T, v)),
)

exercise.mistake(
    "V adds u_c in place of taking it away",
    "c1 shall be u_b - u_c, so V must turn u_c into -u_c.",
    _changed(lambda k, q, v, u_a, u_b, u_c, u_d: (k, q, v + 2 * torch.outer(u_c, u_c) / (u_c @ u_c))),
)

exercise.mistake(
    "c1 is u_b, without -u_c",
    "There are two ways to this. Either V has no second rule, which turns u_c into -u_c. Or token 1 does not "
    "look at x3: compute Q @ (u_d + u_b), its query, and see whether it asks for u_c.",
    _changed(lambda k, q, v, u_a, u_b, u_c, u_d: (k, q, torch.outer(u_b, u_b) / (u_b @ u_b))),
)

exercise.mistake(
    "the query of token 1 is not set",
    "Q must do two things: turn u_a (token 2) into a query for x1, and u_d (in token 1) into a query for x3.",
    _changed(lambda k, q, v, u_a, u_b, u_c, u_d: (k, torch.outer(u_d, u_a) / (u_a @ u_a), v)),
)

exercise.mistake(
    "token 2 looks for u_b itself",
    "u_b is in x1 and in x3, so both get the same weight, and c2 is the mean of V x1 and V x3. Ask for "
    "what only one of them has: u_d.",
    _changed(lambda k, q, v, u_a, u_b, u_c, u_d: (k, (torch.outer(u_b, u_a) + torch.outer(u_c, u_d)) / (u_a @ u_a), v)),
)


@exercise.mistake("K, Q and V are all the identity")
def _(u_a, u_b, u_c, u_d):
    """Then every token copies itself, as in the exercise before."""
    return (torch.eye(len(u_a)),) * 3
