"""Exercise sliding_window_mask of notebook 13."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from grading.definitions.exercise import Exercise, Mistake, Stage
from tutor.checking.answers import Ask

INF = float("inf")


def sliding_window_mask(size: int, window: int) -> Tensor:
    return _mask(size, -window + 1, 0)


def _seen(size: int, low: int, high: int) -> Tensor:
    """Returns where j - i is between low and high."""
    distance = torch.arange(size) - torch.arange(size)[:, None]
    return (distance >= low) & (distance <= high)


def _mask(size: int, low: int, high: int) -> Tensor:
    return torch.zeros(size, size).masked_fill(~_seen(size, low, high), -INF)


def _first_tokens(size: int, window: int) -> Tensor:
    return _mask(size, -size, 0).masked_fill(torch.arange(size) >= window, -INF)


def _far_past(size: int, window: int) -> Tensor:
    return _mask(size, -size, -window)


def _blocks(size: int, window: int) -> Tensor:
    block = torch.arange(size) // window
    return _mask(size, -size, 0).masked_fill(block != block[:, None], -INF)


def _draw(rng: random.Random) -> list[Ask]:
    """Draws sizes, each with a window of its own, and one of them with another one: a mask is not that of its size."""
    sizes = [rng.randint(5, 6), rng.randint(7, 9), rng.randint(13, 17)]
    windows = rng.sample([2, 3, 4], 3)
    return [Ask((size, window)) for size, window in zip([*sizes, sizes[1]], [*windows, windows[0]], strict=True)]


def _draw_ends(rng: random.Random) -> list[Ask]:
    size = rng.randint(4, 7)
    return [Ask((size, 1)), Ask((size, size)), Ask((size, size + rng.randint(1, 5))), Ask((1, rng.randint(2, 4)))]


EXERCISE = Exercise(
    sliding_window_mask,
    [
        Stage(
            "a floating point tensor of shape (size, size)",
            0.25,
            "One row for each token that looks, one column for each token looked at; floating point numbers.",
            [Ask((5, 2))],
            lambda rng: _draw(rng)[:1],
            view="shape",
        ),
        Stage(
            "every row",
            1.25,
            "Row i is 0 where i - window < j <= i, and minus infinity everywhere else: window places, its own "
            "included.",
            [Ask((5, 2)), Ask((7, 3))],
            _draw,
            decisive=True,
        ),
        Stage(
            "a window of one token, and one as long as the sentence",
            0.5,
            "With window 1 a token sees itself alone. With a window of at least `size` this is the causal mask.",
            [Ask((4, 1)), Ask((4, 4)), Ask((3, 6)), Ask((1, 2))],
            _draw_ends,
        ),
    ],
    [
        Mistake(
            "one token too many: the token itself is not counted",
            "A window of 3 is the token itself and the two before it: j > i - window.",
            lambda size, window: _mask(size, -window, 0),
        ),
        Mistake(
            "one token too few",
            "A window of 3 is the token itself and the two before it, three places in all.",
            lambda size, window: _mask(size, -window + 2, 0),
        ),
        Mistake(
            "the future is in the window",
            "The mask is causal, too: nothing with j > i.",
            lambda size, window: _mask(size, -window + 1, window - 1),
        ),
        Mistake(
            "the window lies in the future",
            "Row i is the token that looks, and it looks back: j <= i. Yours is the transpose of the wanted mask.",
            lambda size, window: _mask(size, 0, window - 1),
        ),
        Mistake(
            "the causal mask alone",
            "The far past is still seen. Block j <= i - window, too.",
            lambda size, window: _mask(size, -size, 0),
        ),
        Mistake(
            "the future is not blocked",
            "The far past is blocked, but the mask must be causal, too: minus infinity where j > i.",
            lambda size, window: _mask(size, -window + 1, size),
        ),
        Mistake(
            "the window does not slide: only the first tokens are seen",
            "The window moves with the token that looks: row i begins at column i - window + 1.",
            _first_tokens,
        ),
        Mistake(
            "blocks in place of a window that slides",
            "Each token has a window of its own; cut into blocks, the first token of a block sees nothing before it.",
            _blocks,
        ),
        Mistake(
            "inside and outside of the window are exchanged",
            "What the window holds is allowed: 0 there, minus infinity on everything else.",
            lambda size, window: torch.zeros(size, size).masked_fill(_seen(size, -window + 1, 0), -INF),
        ),
        Mistake(
            "only the far past is seen",
            "The window holds the token and those just before it, not what lies before the window.",
            _far_past,
        ),
        Mistake(
            "ones and zeros",
            "The mask is added to scores: 0 where a token may look, minus infinity where not.",
            lambda size, window: _seen(size, -window + 1, 0).float(),
        ),
    ],
    large=[Ask((4, 255)), Ask((3, 256)), Ask((2, 65_536))],
    hints=(
        "Write the row of token 4 for a window of 3: which columns are 0? Which is the first of them, as a formula in "
        "`i` and `window`? What is the row of token 1, where the window would begin before the sentence does?",
        "Size 4, window 2. Row 0: `0, -inf, -inf, -inf`. Row 1: `0, 0, -inf, -inf`. Row 2: `-inf, 0, 0, -inf`. Row 3: "
        "`-inf, -inf, 0, 0`. A band of two diagonals: the one from corner to corner, number 0, and the one below it, "
        "number -1. A window of 3 has the diagonals 0, -1 and -2. Two things are forbidden, then: what lies above "
        "the band, and what lies below it.",
        "With places that are compared:\n"
        "```python\n"
        "i = torch.arange(size).unsqueeze(1)  # (size, 1): who looks\n"
        "j = torch.arange(size)  # (size,): who is looked at\n"
        "seen = ...  # (size, size), truth values: two comparisons, joined by &\n"
        "```\n"
        "Then a tensor that is 0 where `seen` is true and `-torch.inf` elsewhere: `torch.where`, or `masked_fill` on "
        "zeros. Test: with `window` equal to `size` it must be the causal mask of notebook 01.",
    ),
)
