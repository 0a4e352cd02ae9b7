"""Exercise average_query of notebook 08."""

from __future__ import annotations

import math
import random

import torch
from torch import Tensor

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw
from tutor.checking.answers import Ask

from ._common import _generator, _of_seed, _orthonormal, _places


def average_query(keys: Tensor, a: int, b: int, scale: float) -> Tensor:
    return scale * (keys[a] + keys[b])


def _draw_averages(*scales: tuple[float, float], values: bool = False) -> Draw:
    """Returns what draws a question with a scale of each range; one of them for each kind of places."""

    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for (low, high), (n, d, a, b) in zip(scales, _places(rng), strict=False):
            keys, drawn = _orthonormal(n, d, _generator(rng)), torch.randn(n, 3, generator=_generator(rng))
            beside = {"values": drawn} if values else {}
            asks.append(Ask((keys, a, b, round(rng.uniform(low, high), 2)), beside=beside))
        return asks

    return draw


def _small(rng: random.Random) -> list[Ask]:
    """Returns questions with small scales, and one with scale 0, where all keys get the same weight."""
    asks = _draw_averages((0.5, 3), (0.5, 3), (0.5, 3))(rng)
    keys, a, b, _ = asks[0].inputs
    return [*asks, Ask((keys, a, b, 0))]


# Below 7, half of the scale would leave too much with the others; at 50, so would no mistake, and only a tie will do.
MIDDLE, LARGE = (5.0, 7.0), (40.0, 60.0)
HUGE = (150.0, 260.0)  # the exponential of which is no number in single precision


EXERCISE = Exercise(
    average_query,
    [
        Stage(
            "a vector of shape (d,)",
            0.25,
            "One query, as wide as one key.",
            [Ask((_of_seed(3, 5, 4), 0, 2, 2.0))],
            _draw_averages((2, 4)),
            view="shape",
            measure="attention",
        ),
        Stage(
            "a small scale: the weights are exact",
            0.75,
            "With 4 keys and scale = ln 3 the scores are ln 3 twice and 0 twice: weights 3/8, 3/8, 1/8, 1/8. With "
            "scale 0 all weights are the same.",
            [
                Ask((_of_seed(4, 4, 5), 1, 3, math.log(3))),
                Ask((_of_seed(5, 6, 5), 3, 1, 0.7)),
                Ask((_of_seed(2, 3, 5), 0, 1, 1.0)),
                Ask((_of_seed(4, 6, 5), 0, 2, 0)),
            ],
            _small,
            measure="attention",
            decisive=True,
        ),
        Stage(
            "a large scale: half of v_a and half of v_b",
            0.5,
            "Print keys @ query: the scores at a and b must be equal, to the last digit, and `scale` above the others.",
            [Ask((_of_seed(5, 6, 6), 4, 2, 6.0)), *(Ask((_of_seed(5, 5, 6), 1, 4, scale)) for scale in (50.0, 256.0))],
            _draw_averages(MIDDLE, LARGE, HUGE),
            measure="attention",
        ),
        Stage(
            "other values: the output is still their average",
            0.5,
            "The query must not depend on what the values are; it makes equal weights for a and b whatever they hold.",
            [Ask((_of_seed(4, 5, 7), 0, 3, 2.0), beside={"values": torch.tensor([[2.0, 0], [9, 9], [-7, 5], [0, 4]])})],
            _draw_averages((1.5, 4), (1.5, 4), (1.5, 4), values=True),
            measure="attention",
        ),
    ],
    [
        Mistake(
            "the scale is missing",
            "Scores of 1 leave most of the weight with the other keys as soon as there are a few of them. Multiply by "
            "`scale`.",
            lambda keys, a, b, scale: keys[a] + keys[b],
        ),
        Mistake(
            "the average of the two keys: half the scale",
            "The softmax makes the average for you. With (k_a + k_b)/2 both scores are scale/2, and the others keep "
            "more than they should.",
            lambda keys, a, b, scale: scale * (keys[a] + keys[b]) / 2,
        ),
        Mistake(
            "the sum is scaled to length 1 first",
            "k_a + k_b has the length sqrt(2). Dividing by it makes both scores scale/sqrt(2); the keys already have "
            "length 1.",
            lambda keys, a, b, scale: scale * torch.nn.functional.normalize(keys[a] + keys[b], dim=0),
        ),
        Mistake(
            "only one of the two keys",
            "This query copies v_a. Both keys must get the same score.",
            lambda keys, a, b, scale: scale * keys[a],
        ),
        Mistake(
            "only the second of the two keys",
            "This query copies v_b. Both keys must get the same score.",
            lambda keys, a, b, scale: scale * keys[b],
        ),
        Mistake(
            "the difference of the two keys",
            "With k_a - k_b the score of b is -scale, the lowest of all: the output is v_a alone.",
            lambda keys, a, b, scale: scale * (keys[a] - keys[b]),
        ),
        Mistake(
            "the product of the two keys, number by number",
            "A query must have a large dot product with both keys; the sum has, the elementwise product has not.",
            lambda keys, a, b, scale: scale * keys[a] * keys[b],
        ),
    ],
    hints=(
        "Weights come from differences of scores. With the weights $\\frac{3}{8}, \\frac{3}{8}, \\frac{1}{8}, "
        "\\frac{1}{8}$: which two scores must be equal, and which differences do they have to the other two, if a "
        "ratio of 3 to 1 comes from $e$ to the difference? You know a query that makes one score high and leaves "
        "the others at 0. What do you need now?",
        "Dot products add up: the score of a key with $p + q$ is its score with $p$ plus its score with $q$. Take "
        "the keys $(0.6,\\ 0.8,\\ 0)$, $(-0.8,\\ 0.6,\\ 0)$ and $(0,\\ 0,\\ 1)$. The query $(1.2,\\ 1.6,\\ 0)$ "
        "gives the scores 2, 0, 0; the query $(0,\\ 0,\\ 2)$ gives 0, 0, 2. What does $(1.2,\\ 1.6,\\ 2)$ give? "
        "The average itself is made by the softmax: two equal scores get equal weights. Is there still a reason to "
        "halve anything in the query?",
        "The same way as for one key:\n\n"
        "1. The two keys that count: `keys[a]` and `keys[b]`, each `(d,)`.\n"
        "2. One query, `(d,)`, that has something in common with both of them: `# ...`\n"
        "3. Its length: the score at $a$ and the score at $b$ are each the whole `scale`.\n\n"
        "Test it with `keys @ query`, `(n,)`: `scale` at $a$ and at $b$, 0 elsewhere. If you find `scale / 2` or "
        "`scale / sqrt(2)` there, something was divided that should not have been; if one of the two is negative, "
        "look at your signs.",
    ),
)
