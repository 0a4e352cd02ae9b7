"""Exercise two_head_queries of notebook 08."""

from __future__ import annotations

import random
from collections.abc import Sequence

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw
from tutor.checking.answers import Question

from ._common import _generator, _of_seed, _orthonormal, _sizes, _two

exercise = Definition(minutes=12, difficulty=2)


@exercise.reference
def two_head_queries(means: Tensor, a: int, b: int, scale: float) -> Tensor:
    return torch.stack([scale * means[a], scale * means[b]])


def _ask_heads(
    means: Tensor,
    a: int,
    b: int,
    scale: float,
    varying: Sequence[int],
    generator: torch.Generator,
    length: float = 1.0,
) -> Question:
    samples = length * means.repeat(6, 1, 1)
    for key in varying:
        lengths = 0.5 + 1.5 * torch.rand(6, 1, generator=generator)
        # Always there, since chance would not tell a scale that is too small: each at its shortest, all of them, and
        # each head's key in turn beside others at their longest, where a head that looks at both keys copies the other.
        lengths[0] = lengths[1] = lengths[2] = 0.5
        if key != a:
            lengths[1] = 2.0
        if key != b:
            lengths[2] = 2.0
        samples[:, key] *= lengths
    return Question((means, a, b, scale), extra={"keys": samples})


def _draw_heads(which: str, low: float = 20, high: float = 25, length: float = 1.0) -> Draw:
    def draw(rng: random.Random) -> list[Question]:
        """Draws two questions; in the second one b stands before a, and neither is at an end."""
        asks = []
        for number in range(2):
            count, d = _sizes(rng)
            a, b = _two(rng, count)
            if number:
                b, a = sorted(rng.sample(range(1, count - 1), 2))
            varying = {"none": [], "a": [a], "b": [b], "all": range(count)}[which]
            means, scale = _orthonormal(count, d, _generator(rng)), round(rng.uniform(low, high), 1)
            asks.append(_ask_heads(means, a, b, scale, varying, _generator(rng), length))
        return asks

    return draw


def _public_heads(
    a: int, b: int, varying: Sequence[int], seed: int, scale: float = 10.0, length: float = 1.0, n: int = 4
) -> Question:
    generator = torch.Generator().manual_seed(seed)
    return _ask_heads(_of_seed(n, 6, seed), a, b, scale, varying, generator, length)


# A key of half its length under MIDDLE, or one of its length under SMALL, tells how large the gap of the scores is:
# half of it leaks more. Keys of a twentieth of their length, under LARGE, tell a fixed number in place of the scale.
SMALL, MIDDLE, LARGE, SHORT = (4.8, 5.4), (9.8, 10.8), (160.0, 200.0), 0.05
FAR = (30.0, 35.0)  # a fifth of it is enough for up to nine keys at their means, for every student


@exercise.stage(
    "two queries, shape (2, d)",
    points=0.25,
    public=[_public_heads(0, 2, [], 11, 20.0)],
    view="shape",
    measure="two heads",
)
def _(rng: random.Random) -> list[Question]:
    """Stack the two queries into one tensor: torch.stack([first, second])."""
    return _draw_heads("none")(rng)


def _two_keys(rng: random.Random) -> Question:
    """Returns a question on two keys only: there are no others to look away from."""
    a, b = rng.sample([0, 1], 2)
    return _public_heads(a, b, [], rng.randrange(10**6), rng.uniform(20, 25), n=2)


@exercise.stage(
    "keys at their means: half and half",
    points=0.5,
    public=[_public_heads(1, 3, [], 12, 20.0), _public_heads(1, 0, [], 17, 20.0, n=2)],
    tolerance=0.02,
    measure="two heads",
)
def _(rng: random.Random) -> list[Question]:
    """The two outputs are averaged: one head copies v_a, the other v_b. Print means @ query for each of them: the score
    of its key must be the whole `scale` above the others, with nothing divided.
    """
    return [*_draw_heads("none", *FAR)(rng), _two_keys(rng)]


@exercise.stage(
    "the norm of key a varies: still half and half in every draw",
    points=1,
    public=[_public_heads(2, 0, [2], 13)],
    tolerance=0.02,
    measure="two heads",
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Each row is one draw. A head must not be asked to keep two scores equal, since one of them moves. Each head needs
    the whole `scale`: half of it is too little for a key of half the length.
    """
    return _draw_heads("a", *MIDDLE)(rng)


@exercise.stage(
    "whichever key varies",
    points=0.75,
    public=[
        _public_heads(2, 1, [1], 14),
        _public_heads(0, 3, range(4), 15),
        _public_heads(0, 2, [], 12, 5.0),
        _public_heads(1, 2, [], 15, 180.0, SHORT),
    ],
    tolerance=0.02,
    measure="two heads",
)
def _(rng: random.Random) -> list[Question]:
    """Now the norm of key b varies, and then the norms of all keys. No head may depend on a tie. Each score must be
    `scale` above the others, no less, and no fixed number: there are questions with a scale of 5 and of 180.
    """
    return [
        *_draw_heads("b", *MIDDLE)(rng),
        *_draw_heads("all", *MIDDLE)(rng),
        *_draw_heads("none", *SMALL)(rng),
        *_draw_heads("none", *LARGE, SHORT)(rng),
    ]


@exercise.corners("keys at their means: half and half", n=(2, range(9, 12)), scale=(10.0, 25.0))
def _(rng: random.Random, n: int, scale: float) -> Question:
    """Asks with the smallest of the usual scales, too: a fifth of it is not enough."""
    a, b = _two(rng, n)
    return _ask_heads(_orthonormal(n, n, _generator(rng)), a, b, scale, [], _generator(rng))
