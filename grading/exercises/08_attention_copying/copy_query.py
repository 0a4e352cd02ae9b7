"""Exercise copy_query of notebook 08."""

from __future__ import annotations

import math
import random

import torch
from torch import Tensor

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw
from tutor.checking.answers import Ask

from ._common import _generator, _of_seed, _orthonormal, _places

# Keys of length 1 at right angles that can be multiplied by hand; the first two are not along the axes.
TURNED = torch.tensor([[0.6, 0.8, 0.0], [-0.8, 0.6, 0.0], [0.0, 0.0, 1.0]])

# Keys that are nearly along the axes: their small numbers count as the large ones do.
SLIGHTLY_TURNED = torch.tensor([[0.99998, 0.006, 0.0], [-0.006, 0.99998, 0.0], [0.0, 0.0, 1.0]])


def copy_query(keys: Tensor, j: int, scale: float) -> Tensor:
    return scale * keys[j]


def _draw_copies(*scales: tuple[float, float]) -> Draw:
    """Returns what draws a question with a scale of each range; one of them for each kind of places."""

    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for (low, high), (n, d, j, _) in zip(scales, _places(rng), strict=False):
            asks.append(Ask((_orthonormal(n, d, _generator(rng)), j, round(rng.uniform(low, high), 2))))
        return asks

    return draw


def _any_scale(rng: random.Random) -> list[Ask]:
    """Returns questions with small scales, large ones, and 0, where all keys get the same weight."""
    small = _draw_copies((0.5, 3), (0.5, 3), (0.5, 3))(rng)
    keys, j, _ = small[1].inputs
    # other keys at the same place with the same scale, and scales under which exponentials are no numbers any more
    n, d = keys.shape
    other = Ask((_orthonormal(n, d, _generator(rng)), *small[1].inputs[1:]))
    far = _draw_copies((180, 300), (180, 300))(rng)
    return [*small, other, *_draw_copies((5, 7), (40, 60), (5, 7))(rng), *far, Ask((keys, j, 0))]


def _value_in_place_of_key(keys: Tensor, j: int, scale: float) -> Tensor:
    value = torch.zeros(keys.shape[1])
    value[j] = scale
    return value


EXERCISE = Exercise(
    copy_query,
    [
        Stage(
            "a vector of shape (d,)",
            0.25,
            "A query is compared with every key, so it has as many numbers as one key: the width d.",
            [Ask((_of_seed(3, 5, 1), 1, 2.0))],
            _draw_copies((2, 4)),
            view="shape",
            measure="attention",
        ),
        Stage(
            "three keys, by hand: weights 1/2, 1/4, 1/4",
            0.5,
            "With scale = ln 2 the scores must be ln 2, 0 and 0, so the weights 2/(2 + 1 + 1) and twice 1/4. "
            "Which query has these dot products with the keys?",
            [Ask((TURNED, 0, math.log(2))), Ask((TURNED, 1, math.log(2)))],
            lambda rng: [Ask((-TURNED, j, math.log(2))) for j in rng.sample([0, 1], 2)],
            measure="attention",
        ),
        Stage(
            "any keys, any scale",
            1.25,
            "Print keys @ query: the score at place j must be `scale` above the others, and these must all be the "
            "same. With scale 0 all weights are the same.",
            [
                Ask((_of_seed(4, 6, 2), 2, 1.5)),
                Ask((_of_seed(5, 5, 3), 1, 6.0)),
                Ask((_of_seed(4, 6, 9), 2, 1.5)),
                Ask((_of_seed(4, 5, 3), 3, 50.0)),
                Ask((_of_seed(3, 5, 8), 1, 200.0)),
                Ask((_of_seed(2, 4, 3), 0, 1.0)),
                Ask((_of_seed(3, 4, 2), 1, 0)),
                Ask((SLIGHTLY_TURNED, 0, 1.5)),
            ],
            _any_scale,
            measure="leads",
            tolerance=1e-3,  # scores of 300 are rounded in single precision
            decisive=True,
        ),
    ],
    [
        Mistake(
            "the query is the value, not the key",
            "The query is compared with the keys; the values are only read out afterwards. A query made of "
            "what you want to get out (1 at place j) looks at nothing in particular: build it from keys[j].",
            _value_in_place_of_key,
        ),
        Mistake(
            "the scale is missing",
            "A score of 1 against 0 gives a weight of e/(e + n - 1) only: the others keep a large part. "
            "Multiply the key by `scale`.",
            lambda keys, j, scale: keys[j].clone(),
        ),
        Mistake(
            "the query is brought to length 1 again",
            "Dividing the query by its length takes the scale out again.",
            lambda keys, j, scale: torch.nn.functional.normalize(scale * keys[j], dim=0),
        ),
        Mistake(
            "the scale is used twice",
            "The score of key j is query . key, and the key has length 1: one factor `scale` is enough.",
            lambda keys, j, scale: scale**2 * keys[j],
        ),
        Mistake(
            "the scale is divided by sqrt(d)",
            "Here the scores are plain dot products. Dividing by sqrt(d) makes the gap smaller than `scale`.",
            lambda keys, j, scale: scale * keys[j] / math.sqrt(keys.shape[1]),
        ),
        Mistake(
            "the query looks away from key j",
            "With a minus, key j has the lowest score of all and every value but v_j is copied.",
            lambda keys, j, scale: -scale * keys[j],
        ),
        Mistake(
            "another key: places count from 0",
            "keys[j] is the key of value j; keys[j - 1] is its neighbour.",
            lambda keys, j, scale: scale * keys[j - 1],
        ),
        Mistake(
            "the same score with every key",
            "The sum of all keys has the same score with each of them, and so has a query of zeros: the output is the "
            "average of all values.",
            lambda keys, j, scale: scale * keys.sum(dim=0),
        ),
    ],
    hints=(
        "Which scores do you want? Write them in a row for 4 keys and $j = 2$: one of them is `scale`, the others "
        "are 0. A score is the dot product of a key with your query. The keys have length 1 and are at right "
        "angles: what is the dot product of a key with itself, and with another key? So in which direction must a "
        "query point that has something in common with key $j$ and nothing with all others?",
        "Take the two keys of section 1, $k_1 = (0.6,\\ 0.8)$ and $k_2 = (-0.8,\\ 0.6)$. The query $(-0.8,\\ 0.6)$ "
        "gives the scores $-0.48 + 0.48 = 0$ and $0.64 + 0.36 = 1$. The query $(-2.4,\\ 1.8)$ points the same way "
        "and is three times as long: scores 0 and 3, weights $1/21$ and $20/21$ (since $e^3 \\approx 20$). So the "
        "direction decides *which* score is high, and the length *how* high. What you want to get out, the value, "
        "plays no part in this.",
        "`keys` is `(n, d)`, one key is `keys[j]`, `(d,)`, and your query has the same shape.\n"
        "```python\n"
        "key = keys[j]  # (d,), of length 1\n"
        "query = ...    # its direction, with the length that makes its score scale\n"
        "```\n"
        "Test it with `keys @ query`, `(n,)`: `scale` at place $j$ and 0 elsewhere, up to rounding. Nothing is "
        "divided: not by $\\sqrt{d}$, and not by the length of the query. With `scale` 0 all scores are 0.",
    ),
)
