"""Exercise swing of notebook 08."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw
from tutor.checking.answers import Question

from ._common import _generator, _noisy, _orthonormal, _two

exercise = Definition(minutes=20, difficulty=2)


@exercise.reference
def swing(samples: Tensor, queries: Tensor, a: int, b: int) -> float:
    weights = torch.softmax(samples @ queries.T, dim=1).mean(dim=-1)  # (m, n), the mean over the heads
    return float((weights[:, a] - weights[:, b]).var())


def _ask_swing(rng: random.Random, heads: int) -> Question:
    """Returns a question in which a third key counts too: one head under keys of varying norm, or several under noise.

    Several heads look at different pairs of keys. With 80 draws it hardly counts whether one divides by 80 or by 79.
    """
    size, d, count = rng.randint(4, 5), 5, 80
    generator = _generator(rng)
    means = _orthonormal(size, d, generator)
    a, b = _two(rng, size)
    third = next(key for key in range(size) if key not in (a, b))
    if heads == 1:
        samples = _noisy(means, 0.2, count, generator)
        for key in (a, third):
            samples[:, key] *= 0.3 + 2.2 * torch.rand(count, 1, generator=generator)
        return Question((samples, 1.5 * (means[a] + means[b] + means[third])[None], a, b))
    pairs = [(a, third), (a, b), (a, a), (b, third), (b, b)][:heads]
    queries = torch.stack([3.0 * (means[first] + (means[second] if second != first else 0)) for first, second in pairs])
    return Question((_noisy(means, 0.5, count, generator), queries, a, b))


def _draw_swings(*heads: int) -> Draw:
    return lambda rng: [_ask_swing(rng, number) for number in heads]


def _still(rng: random.Random) -> Question:
    means = _orthonormal(4, 5, _generator(rng))
    return Question((means.repeat(6, 1, 1), 2.0 * (means[0] + 0.5 * means[2])[None], 0, 2))


@exercise.stage("keys that never change: no swing", points=0.25, public=[_still(random.Random(1))], tolerance=1e-3)
def _(rng: random.Random) -> list[Question]:
    """When every draw is the same, w_a - w_b is the same number in every draw, and its variance is 0."""
    return [_still(rng)]


@exercise.stage(
    "one head, keys of varying norm",
    points=1.25,
    public=[_ask_swing(random.Random(44), 1), _ask_swing(random.Random(26), 1)],
    tolerance=0.01,
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Per draw: scores (n,), softmax over the n keys, then w_a - w_b. One number per draw; the swing is the variance of
    these numbers.
    """
    return _draw_swings(1, 1)(rng)


@exercise.stage(
    "two heads: their outputs are averaged",
    points=0.75,
    public=[_ask_swing(random.Random(245), 2)],
    tolerance=0.01,
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Each head makes its own weights. Average the weights of the heads in each draw; then as before."""
    return _draw_swings(2, 2)(rng)


def _twice_the_same(rng: random.Random) -> Question:
    """Returns a question with three heads, two of which are the same: both count."""
    ask = _ask_swing(rng, 3)
    samples, queries, *keys = ask.inputs
    return Question((samples, queries[[0, 1, 0]], *keys))


def _looking_elsewhere(rng: random.Random) -> Question:
    """Returns a question with three heads, one of which looks away from both values: it counts in the average."""
    samples, queries, a, b = _ask_swing(rng, 2).inputs
    third = next(key for key in range(samples.shape[1]) if key not in (a, b))
    means = samples.mean(dim=0)  # (n, d)
    away = 8.0 * (means[third] - means[a] - means[b])
    return Question((samples, torch.cat([queries, away[None]]), a, b))


def _large(rng: random.Random) -> Question:
    """Returns a question with two heads whose scores are small in some draws and go up to some hundreds in others."""
    generator = _generator(rng)
    means = _orthonormal(4, 5, generator)
    lengths = torch.logspace(0, 2.4, 40)[torch.randperm(40, generator=generator)]
    samples = lengths[:, None, None] * _noisy(means, 0.02, 40, generator)
    a, b = _two(rng, 4)
    return Question((samples, torch.stack([1.5 * (means[a] + means[b]), 1.5 * means[a]]), a, b))


@exercise.stage(
    "more heads, and large scores",
    points=0.25,
    public=[
        _ask_swing(random.Random(166), 3),
        _ask_swing(random.Random(275), 5),
        _large(random.Random(7)),
        _twice_the_same(random.Random(3)),
        _looking_elsewhere(random.Random(4)),
    ],
    tolerance=0.01,
)
def _(rng: random.Random) -> list[Question]:
    """queries is (h, d): use all h heads, and divide by h. Scores of some hundreds are no harm to torch.softmax;
    torch.exp alone makes infinite numbers of them.
    """
    several = [_ask_swing(rng, 3), _ask_swing(rng, rng.choice([4, 5]))]
    return [*several, _large(rng), _twice_the_same(rng), _looking_elsewhere(rng)]


def _corner(rng: random.Random, m: int, n: int, heads: int, noise: float) -> Question:
    """Asks about many draws, few or many keys, and noise that is small, or so large that means tell little."""
    generator = _generator(rng)
    means = torch.eye(n)
    samples = (100 * _noisy(means, noise, m, generator)).round() / 100
    queries = (10 * torch.randn(heads, n, generator=generator)).round() / 10 + 2 * means[0]
    return Question((samples, queries, 0, n - 1))


NOISE = (0.1, 1.5)
exercise.corners("one head, keys of varying norm", m=(range(151, 160),), n=(2, range(5, 8)), heads=(1,), noise=NOISE)(
    _corner
)
exercise.corners("two heads: their outputs are averaged", m=(range(151, 160),), n=(2, 3), heads=(2,), noise=NOISE)(
    _corner
)
exercise.corners("more heads, and large scores", m=(range(301, 310),), n=(2,), heads=(range(33, 36),), noise=NOISE)(
    _corner
)
