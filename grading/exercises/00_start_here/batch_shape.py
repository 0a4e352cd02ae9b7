"""Exercise batch_shape of notebook 00."""

from __future__ import annotations

import random

from grading.definitions.exercise import Exercise, Mistake, Stage
from tutor.checking.answers import Ask


def batch_shape(b: int, n: int, d: int) -> tuple[int, int, int]:
    return (b, n, d)


def _draw(rng: random.Random) -> list[Ask]:
    """Draws sizes that grow, that fall, and with a 1 in each place: no rule on sizes may do in place of the order."""
    low, middle, high = sorted(rng.sample(range(2, 60), 3))
    ones = [rng.sample(range(2, 60), 2) for _ in range(3)]
    asks: list[tuple[int, ...]] = [(low, middle, high), (high, middle, low), (middle, high, low)]
    asks += [(1, *ones[0]), (ones[1][0], 1, ones[1][1]), (*ones[2], 1)]
    rng.shuffle(asks)
    return [Ask(sizes) for sizes in asks]


PUBLIC = [Ask((2, 5, 8)), Ask((1, 3, 4)), Ask((7, 4, 2)), Ask((3, 1, 2)), Ask((4, 6, 1))]

EXERCISE = Exercise(
    batch_shape,
    [
        Stage(
            "three whole numbers: b, n and d",
            0.5,
            "Return one tuple of the three numbers that the function is given: return (first, second, third).",
            PUBLIC,
            _draw,
            measure="any order",
        ),
        Stage(
            "batch first, then tokens, then width",
            0.5,
            "The batch comes first, then the tokens of a sentence, then the numbers of a token.",
            PUBLIC,
            _draw,
            decisive=True,
        ),
    ],
    [
        Mistake(
            "the tokens come first",
            "In this course the batch comes first: (b, n, d). (n, b, d) is the older order, called sequence first.",
            lambda b, n, d: (n, b, d),
        ),
        Mistake(
            "the width comes before the tokens",
            "The numbers of one token lie side by side, on the last axis: (b, n, d).",
            lambda b, n, d: (b, d, n),
        ),
        Mistake(
            "the order is reversed",
            "Count from the outside in: sentences of the batch, tokens of a sentence, numbers of a token.",
            lambda b, n, d: (d, n, b),
        ),
        Mistake(
            "the batch comes last",
            "(n, d) is one sentence, and the batch is the axis in front of it: (b, n, d).",
            lambda b, n, d: (n, d, b),
        ),
        Mistake(
            "the width comes first",
            "A token is a row of d numbers, and what lies in a row is the last axis: (b, n, d).",
            lambda b, n, d: (d, b, n),
        ),
        Mistake(
            "the product in place of the shape",
            "b * n * d is how many numbers there are in all. The shape keeps the three sizes apart.",
            lambda b, n, d: b * n * d,
        ),
        Mistake(
            "the batch is missing",
            "(n, d) is one sentence. A batch of b of them has one more axis, in front.",
            lambda b, n, d: (n, d),
        ),
    ],
    hints=(
        (
            "Look at the picture in section 3 from the outside to the inside. How many sentences does it show? How "
            "many tokens has each sentence? How many numbers has each token? Which of the letters $b$, $n$ and $d$ "
            "stands for which of your three counts?"
        ),
        (
            "Say that there are five sentences of six tokens, and that each token is a row of ten numbers. The "
            "outermost thing, the batch of sentences, is counted first. The numbers of one token lie side by side, "
            "in a row: they are counted last. So the shape is `(5, 6, 10)`. It has three sizes, in this order "
            "whatever their values are; `5 * 6 * 10` would only say how many numbers there are in all."
        ),
        (
            "One line is enough, and nothing is computed: `return`, then a tuple, which is three names in round "
            "brackets with commas between them. The names are those in the brackets of `def batch_shape(...)`. In "
            "which order? The last sentence of section 3 says it. (`print` only shows something on the screen; "
            "`return` hands it to whoever has called the function.)"
        ),
    ),
)
