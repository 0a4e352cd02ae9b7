"""Exercise noisy_average_query of notebook 08."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from grading.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw
from helpers.checking.answers import Ask

from ._common import _generator, _noisy, _of_seed, _orthonormal, _places


def noisy_average_query(means: Tensor, a: int, b: int, scale: float) -> Tensor:
    return scale * (means[a] + means[b])


def _ask_noisy(means: Tensor, a: int, b: int, scale: float, noise: float, generator: torch.Generator) -> Ask:
    return Ask((means, a, b, scale), beside={"keys": _noisy(means, noise, 5, generator)})


def _draw_noisy(low: float, high: float, noise: float) -> Draw:
    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for count, d, a, b in _places(rng):
            means, scale = _orthonormal(count, d, _generator(rng)), round(rng.uniform(low, high), 2)
            asks.append(_ask_noisy(means, a, b, scale, noise, _generator(rng)))
        return asks

    return draw


# In the drawn questions a query that also looks away from the other keys, and so gathers more noise, must pass whatever
# is drawn. How much too large a scale may be is told by the fixed question, which has more noise.
SOME = 5e-4

EXERCISE = Exercise(
    noisy_average_query,
    [
        Stage(
            "a vector of shape (d,)",
            0.25,
            "One query, as wide as one mean.",
            [_ask_noisy(_of_seed(3, 5, 8), 0, 1, 2.0, 1e-4, torch.Generator().manual_seed(8))],
            _draw_noisy(2, 4, 1e-4),
            view="shape",
            measure="attention",
        ),
        Stage(
            "almost no noise, a small scale",
            0.75,
            "When the keys are at their means, this is `average_query`: scores `scale` for a and b, 0 for the others.",
            [
                _ask_noisy(_of_seed(4, 5, 9), 3, 1, 2.5, 1e-5, torch.Generator().manual_seed(9)),
                _ask_noisy(_of_seed(5, 5, 9), 0, 4, 2.0, 1e-5, torch.Generator().manual_seed(9)),
                _ask_noisy(_of_seed(4, 6, 9), 0, 2, 0, 1e-5, torch.Generator().manual_seed(9)),
            ],
            _draw_noisy(1.5, 3, 1e-5),
            tolerance=1e-3,
            measure="attention",
            decisive=True,
        ),
        Stage(
            "keys around their means: half and half in every draw",
            1,
            "The check draws the keys several times (one row each) and wants weights near 1/2 for a and b in each row.",
            [_ask_noisy(_of_seed(5, 7, 10), 0, 2, 10.0, 2e-3, torch.Generator().manual_seed(10))],
            _draw_noisy(9, 12, SOME),
            tolerance=0.03,
            measure="attention",
            decisive=True,
        ),
    ],
    [
        Mistake(
            "the scale is missing",
            "Scores of 1 leave much of the weight with the other keys. Multiply by `scale`.",
            lambda means, a, b, scale: means[a] + means[b],
        ),
        Mistake(
            "the average of the two means: half the scale",
            "The softmax makes the average for you; the query is the sum, times the scale.",
            lambda means, a, b, scale: scale * (means[a] + means[b]) / 2,
        ),
        Mistake(
            "far too large a scale: the noise decides",
            "A large scale makes the tiny difference of the two scores large as well, and the larger one takes "
            "everything. Use the scale that is given.",
            lambda means, a, b, scale: 1000 * scale * (means[a] + means[b]),
        ),
        Mistake(
            "only one of the two means",
            "This query copies v_a. Both keys must get the same score.",
            lambda means, a, b, scale: scale * means[a],
        ),
        Mistake(
            "the difference of the two means",
            "With a minus, key b has the lowest score of all. Take the sum.",
            lambda means, a, b, scale: scale * (means[a] - means[b]),
        ),
        Mistake(
            "the same score with every key",
            "The sum of all means gives every key the same score, and so does a query of zeros: the output is the "
            "average of all values.",
            lambda means, a, b, scale: scale * means.sum(dim=0),
        ),
    ],
    hints=(
        "You choose the query before the keys are drawn. What do you know about key $a$ at that moment, and what "
        "will its score be on average over many draws? If the noise were zero, which exercise would this be?",
        "Two means, $(1, 0)$ and $(0, 1)$; one draw gives the keys $(1.01,\\ -0.02)$ and $(0.03,\\ 0.98)$. The "
        "query $(5, 5)$ makes the scores 4.95 and 5.05: nearly a tie, weights 0.475 and 0.525. The query $(500, "
        "500)$ makes 495 and 505: a difference of 10, and the second key takes everything. So the best that you "
        "can do is to ask for what the keys are on average, and not more loudly than you are told to.",
        "The keys are not among the arguments, only `means`, `(n, d)`.\n\n"
        "1. The two rows that count: `means[a]` and `means[b]`, each `(d,)`.\n"
        "2. One query, `(d,)`, made of them as in the exercise before: `# ...`\n"
        "3. Test it where there is no noise: `means @ query`, `(n,)`, is `scale` at $a$ and at $b$ and 0 elsewhere.\n\n"
        "Then add a little noise, `means + 0.002 * torch.randn(means.shape)`, and look at the softmax of the "
        "scores with a scale of 10: close to one half twice, in every draw.",
    ),
)
