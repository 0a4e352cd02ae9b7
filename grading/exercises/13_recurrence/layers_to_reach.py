"""Exercise layers_to_reach of notebook 13."""

from __future__ import annotations

import math
import random

from grading.definitions.exercise import Exercise, Mistake, Stage
from tutor.checking.answers import Ask


def layers_to_reach(size: int, window: int) -> int:
    return -(-(size - 1) // (window - 1))


def _draw_even(rng: random.Random) -> list[Ask]:
    """Draws an odd and an even number of layers: Python rounds halves to the even number."""
    asks = []
    for window, counts in zip(rng.sample([3, 4, 5], 2), ((3, 5, 7), (4, 6)), strict=True):
        layers = rng.choice([other for other in counts if other != window])
        asks.append(Ask((layers * (window - 1) + 1, window)))
    return asks


def _draw_rest(rng: random.Random) -> list[Ask]:
    """Draws sizes for which one more layer is needed than half of a rounded quotient would say, and others."""
    asks = []
    for window in rng.sample([4, 5, 6], 2):
        layers = rng.randint(3, 6)
        asks += [Ask((layers * (window - 1) + 2, window)), Ask((layers * (window - 1) + window - 1, window))]
    rng.shuffle(asks)
    return asks


def _draw_ends(rng: random.Random) -> list[Ask]:
    size = rng.randint(5, 9)
    return [
        Ask((1, rng.randint(2, 5))),
        Ask((size, 2)),
        Ask((size, size)),
        Ask((size, size + 3)),
        Ask((2, rng.randint(2, 9) * 1_000_000)),
    ]


def _draw_far(rng: random.Random) -> list[Ask]:
    """Draws a small rest of a large window, and a sentence for which hundreds of layers are needed."""
    window = rng.randint(250, 400)
    return [Ask((rng.randint(2, 3) * (window - 1) + 2, window)), Ask((2 * rng.randint(130, 175) + 2, 2))]


EXERCISE = Exercise(
    layers_to_reach,
    [
        Stage(
            "each layer a full window",
            0.75,
            "A layer carries a token's news window - 1 places on, since one place of the window is the token itself. "
            "They must go from place 0 to place size - 1.",
            [Ask((9, 3)), Ask((13, 4)), Ask((16, 4))],
            _draw_even,
        ),
        Stage(
            "with a rest",
            0.5,
            "What is left over needs one more layer: round up.",
            [Ask((10, 4)), Ask((12, 4)), Ask((18, 5))],
            _draw_rest,
            decisive=True,
        ),
        Stage(
            "one token, a window of two, and one as long as the sentence",
            0.5,
            "One token needs no layer at all. With a window of 2 each layer carries one place on. A window as long as "
            "the sentence needs one layer.",
            [Ask((1, 3)), Ask((6, 2)), Ask((5, 5)), Ask((4, 9)), Ask((3, 4_000_000))],
            _draw_ends,
        ),
        Stage(
            "a large window, hundreds of layers",
            0.25,
            "However small the rest is, it needs one more layer. And there may be any number of layers.",
            [Ask((600, 300)), Ask((301, 2))],
            _draw_far,
        ),
    ],
    [
        Mistake(
            "a layer carries news as far as the window is wide",
            "One place of the window is the token itself: a layer carries news window - 1 places on.",
            lambda size, window: math.ceil((size - 1) / window),
        ),
        Mistake(
            "size divided by the window",
            "That would be so if windows lay side by side. They overlap: each layer carries news window - 1 places on, "
            "from place 0 to place size - 1.",
            lambda size, window: math.ceil(size / window),
        ),
        Mistake(
            "one place too many",
            "From place 0 to place size - 1 there are size - 1 places to go.",
            lambda size, window: math.ceil(size / (window - 1)),
        ),
        Mistake(
            "rounded down",
            "When news have come almost to the last token, one more layer is needed: round up.",
            lambda size, window: (size - 1) // (window - 1),
        ),
        Mistake(
            "rounded to the nearest",
            "A third of a layer is not there: round up, always.",
            lambda size, window: round((size - 1) / (window - 1)),
        ),
        Mistake(
            "rounded up by adding nearly one",
            "That loses a rest that is small beside a large window. Round up exactly: math.ceil(a / b), or -(-a // b).",
            lambda size, window: int((size - 1) / (window - 1) + 0.99),
        ),
        Mistake(
            "as in full attention: always one layer",
            "In one layer a token sees no further than its window; what lies before it comes through other tokens.",
            lambda size, window: 1,
        ),
        Mistake(
            "as in a recurrence: one place a layer",
            "A layer carries news over the whole window at once, not from neighbour to neighbour only.",
            lambda size, window: size - 1,
        ),
    ],
    hints=(
        "Draw eight points in a row, and a window of 3. After one layer, which tokens hold something of token 0? After "
        "two? By how many places does the border move each time, and where must it be at the end?",
        "Window 4, size 8. After one layer the tokens 0 to 3 know of token 0, since token 3 still sees it. After two "
        "layers token 6 does: it sees token 3. After three layers all the way to token 9, and so token 7 too: 3 "
        "layers. "
        "The border stood at 0, 3, 6, 9. For size 7 two layers are enough.",
        "The border moves on by (one less than the window) with each layer, from place 0 to place `size - 1`. How many "
        "such steps are needed is a division that rounds up: `math.ceil(a / b)`, or `-(-a // b)` in whole numbers. Or "
        "count:\n"
        "```python\n"
        "place, layers = 0, 0\n"
        "while place < size - 1:\n"
        "    # one more layer: the place moves on\n"
        "```\n"
        "Test: size 1 gives 0, and a window of 2 gives `size - 1`.",
    ),
)
