"""Exercise swing of notebook 08."""

from __future__ import annotations

import math
import random

import torch
from torch import Tensor

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw
from tutor.checking.answers import Ask

from ._common import _generator, _noisy, _orthonormal, _two


def swing(samples: Tensor, queries: Tensor, a: int, b: int) -> float:
    weights = torch.softmax(samples @ queries.T, dim=1).mean(dim=-1)  # (m, n), the mean over the heads
    return float((weights[:, a] - weights[:, b]).var())


def _weights(samples: Tensor, queries: Tensor) -> Tensor:
    return torch.softmax(samples @ queries.T, dim=1)  # (m, n, h)


def _swing_of(weights: Tensor, a: int, b: int) -> Tensor:
    return weights[:, a] - weights[:, b]


def _ask_swing(rng: random.Random, heads: int) -> Ask:
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
        return Ask((samples, 1.5 * (means[a] + means[b] + means[third])[None], a, b))
    pairs = [(a, third), (a, b), (a, a), (b, third), (b, b)][:heads]
    queries = torch.stack([3.0 * (means[first] + (means[second] if second != first else 0)) for first, second in pairs])
    return Ask((_noisy(means, 0.5, count, generator), queries, a, b))


def _twice_the_same(rng: random.Random) -> Ask:
    """Returns a question with three heads, two of which are the same: both count."""
    ask = _ask_swing(rng, 3)
    samples, queries, *keys = ask.inputs
    return Ask((samples, queries[[0, 1, 0]], *keys))


def _looking_elsewhere(rng: random.Random) -> Ask:
    """Returns a question with three heads, one of which looks away from both values: it counts in the average."""
    samples, queries, a, b = _ask_swing(rng, 2).inputs
    third = next(key for key in range(samples.shape[1]) if key not in (a, b))
    means = samples.mean(dim=0)  # (n, d)
    away = 8.0 * (means[third] - means[a] - means[b])
    return Ask((samples, torch.cat([queries, away[None]]), a, b))


def _large(rng: random.Random) -> Ask:
    """Returns a question with two heads whose scores are small in some draws and go up to some hundreds in others."""
    generator = _generator(rng)
    means = _orthonormal(4, 5, generator)
    lengths = torch.logspace(0, 2.4, 40)[torch.randperm(40, generator=generator)]
    samples = lengths[:, None, None] * _noisy(means, 0.02, 40, generator)
    a, b = _two(rng, 4)
    return Ask((samples, torch.stack([1.5 * (means[a] + means[b]), 1.5 * means[a]]), a, b))


def _draw_swings(*heads: int) -> Draw:
    return lambda rng: [_ask_swing(rng, number) for number in heads]


def _still(rng: random.Random) -> Ask:
    means = _orthonormal(4, 5, _generator(rng))
    return Ask((means.repeat(6, 1, 1), 2.0 * (means[0] + 0.5 * means[2])[None], 0, 2))


def _draw_many_heads(rng: random.Random) -> list[Ask]:
    several = [_ask_swing(rng, 3), _ask_swing(rng, rng.choice([4, 5]))]
    return [*several, _large(rng), _twice_the_same(rng), _looking_elsewhere(rng)]


EXERCISE = Exercise(
    swing,
    [
        Stage(
            "keys that never change: no swing",
            0.25,
            "When every draw is the same, w_a - w_b is the same number in every draw, and its variance is 0.",
            [_still(random.Random(1))],
            lambda rng: [_still(rng)],
            tolerance=1e-3,
        ),
        Stage(
            "one head, keys of varying norm",
            1.25,
            "Per draw: scores (n,), softmax over the n keys, then w_a - w_b. One number per draw; the swing is the "
            "variance of these numbers.",
            [_ask_swing(random.Random(44), 1), _ask_swing(random.Random(26), 1)],
            _draw_swings(1, 1),
            tolerance=0.01,
            decisive=True,
        ),
        Stage(
            "two heads: their outputs are averaged",
            0.75,
            "Each head makes its own weights. Average the weights of the heads in each draw; then as before.",
            [_ask_swing(random.Random(245), 2)],
            _draw_swings(2, 2),
            tolerance=0.01,
            decisive=True,
        ),
        Stage(
            "more heads, and large scores",
            0.25,
            "queries is (h, d): use all h heads, and divide by h. Scores of some hundreds are no harm to "
            "torch.softmax; torch.exp alone makes infinite numbers of them.",
            [
                _ask_swing(random.Random(166), 3),
                _ask_swing(random.Random(275), 5),
                _large(random.Random(7)),
                _twice_the_same(random.Random(3)),
                _looking_elsewhere(random.Random(4)),
            ],
            _draw_many_heads,
            tolerance=0.01,
        ),
    ],
    [
        Mistake(
            "the standard deviation, not the variance",
            "The standard deviation is the root of the variance. Both are honest measures; the ratio in the "
            "text is one of variances.",
            lambda samples, queries, a, b: float(_swing_of(_weights(samples, queries).mean(-1), a, b).std()),
        ),
        Mistake(
            "the mean is not taken off",
            "The mean of the squares also counts how far the output lies from the middle on average. The variance is "
            "about how much it moves.",
            lambda samples, queries, a, b: float(_swing_of(_weights(samples, queries).mean(-1), a, b).square().mean()),
        ),
        Mistake(
            "the weight on a alone",
            "Take w_a - w_b: +1 when the output is v_a, 0 in the middle, -1 when it is v_b.",
            lambda samples, queries, a, b: float(_weights(samples, queries).mean(-1)[:, a].var()),
        ),
        Mistake(
            "the scores in place of the weights",
            "What mixes the values are the weights: take the softmax of the scores over the keys.",
            lambda samples, queries, a, b: float(_swing_of((samples @ queries.T).mean(-1), a, b).var()),
        ),
        Mistake(
            "the scores are divided by sqrt(d)",
            "Here the scores are plain dot products, as in `attend`.",
            lambda samples, queries, a, b: swing(samples, queries / math.sqrt(queries.shape[1]), a, b),
        ),
        Mistake(
            "the softmax runs over the draws",
            "Each draw is an attention of its own: its n weights sum to 1. samples is (m, n, d), so the scores are "
            "(m, n) for one query and the softmax runs over n.",
            lambda samples, queries, a, b: float(
                _swing_of(torch.softmax(samples @ queries.T, dim=0).mean(-1), a, b).var()
            ),
        ),
        Mistake(
            "the queries are averaged, not the outputs",
            "One head with the mean of two queries is not two heads. Each head takes its own softmax, then the outputs "
            "are averaged.",
            lambda samples, queries, a, b: swing(samples, queries.mean(dim=0, keepdim=True), a, b),
        ),
        Mistake(
            "the heads are added",
            "The output is the average of the heads: divide the sum by their number.",
            lambda samples, queries, a, b: float(_swing_of(_weights(samples, queries).sum(-1), a, b).var()),
        ),
        Mistake(
            "the swing of each head, averaged",
            "First average the heads' outputs in each draw, then measure how much that average moves.",
            lambda samples, queries, a, b: float(_swing_of(_weights(samples, queries), a, b).var(dim=0).mean()),
        ),
        Mistake(
            "only the first head",
            "queries is (h, d): use all h of them.",
            lambda samples, queries, a, b: swing(samples, queries[:1], a, b),
        ),
        Mistake(
            "only the first two heads",
            "queries is (h, d): use all h of them, however many there are.",
            lambda samples, queries, a, b: swing(samples, queries[:2], a, b),
        ),
        Mistake(
            "divided by 2, however many heads there are",
            "The output is the average of the heads: divide the sum by h, the number of queries.",
            lambda samples, queries, a, b: swing(samples, queries, a, b) * (len(queries) / min(len(queries), 2)) ** 2,
        ),
        Mistake(
            "the range in place of the variance",
            "The range looks at two draws only, the most extreme ones. The variance uses all.",
            lambda samples, queries, a, b: float(
                torch.aminmax(_swing_of(_weights(samples, queries).mean(-1), a, b))[1]
                - torch.aminmax(_swing_of(_weights(samples, queries).mean(-1), a, b))[0]
            ),
        ),
    ],
    hints=(
        "One draw is one attention. Which single number do you get from it, and how many numbers have you then for "
        "$m$ draws? The swing is the variance of these. And with several heads: at which point are they averaged, "
        'so that "each head makes its own weights" is still true, and that what you measure is how much the '
        "*output* moves?",
        "Two heads, two draws. Head 1 has $(w_a, w_b) = (0.8,\\ 0.1)$ in draw 1 and $(0.2,\\ 0.7)$ in draw 2; head "
        "2 has $(0.4,\\ 0.5)$ and $(0.6,\\ 0.3)$. Averaged over the heads: $(0.6,\\ 0.3)$ and $(0.4,\\ 0.5)$. So "
        "$w_a - w_b$ is $0.3$, then $-0.1$. Their mean is 0.1, both are 0.2 away from it, and the mean square is "
        "0.04. (Each head alone swings by 0.36 and 0.04: the mean of these, 0.2, is another thing, because part of "
        "the movement cancels.) The weights of one draw and one head sum to 1 over the $n$ keys, so that is the "
        "axis of the softmax.",
        "All heads and draws at once:\n"
        "```python\n"
        "scores = samples @ queries.T  # (m, n, h)\n"
        "```\n\n"
        "1. Softmax over the $n$ keys of each draw and head: which of the three axes is it? `(m, n, h)`. "
        "`torch.softmax` also takes scores of some hundreds.\n"
        "2. The mean over the $h$ heads, however many: `(m, n)`.\n"
        "3. The two columns $a$ and $b$, and their difference: `(m,)`, one number for each draw.\n"
        "4. Its variance: `# ...` (not the standard deviation, and not the mean of the squares), as a `float`.",
    ),
)
