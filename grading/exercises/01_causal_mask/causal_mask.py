"""Exercise causal_mask of notebook 01."""

from __future__ import annotations

import random
from collections.abc import Callable

import torch
from torch import Tensor

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import seed_from
from tutor.checking.answers import Ask

from ._common import INF, causal_mask


def _draw_sizes(rng: random.Random) -> list[Ask]:
    """Draws a small and a middle size, beside a larger one: what is right up to some size fails for all or for nobody.

    A window of 36 places, say, would otherwise hang on whether the size drawn for a student is larger.
    """
    sizes = [rng.randint(2, 6), rng.randint(7, 12), 40]
    rng.shuffle(sizes)
    return [Ask((size,)) for size in sizes]


def _large(size: int, seed: int) -> Ask:
    """Returns a question that looks at a few places of a large mask, near the diagonal and far from it.

    Two loops over its places are a right answer too, and take one or two seconds.
    """
    rng = random.Random(seed)
    places = [(0, 0), (0, size - 1), (size - 1, 0), (size - 1, size - 1), (1, 2), (2, 1), (size - 2, size - 1)]
    for _ in range(8):
        low, high = sorted(rng.sample(range(size), 2))
        places += [(low, high), (high, low), (high, high)]
    return Ask((size,), beside={"shape": [size, size], "places": torch.tensor(places)})


def _diagonal_blocked(size: int) -> Tensor:
    return torch.triu(torch.full((size, size), -INF))


def _transposed(size: int) -> Tensor:
    return causal_mask(size).T


def _ones_where_blocked(size: int) -> Tensor:
    return torch.triu(torch.ones(size, size), diagonal=1)


def _ones_where_allowed(size: int) -> Tensor:
    return torch.tril(torch.ones(size, size))


def _ones_where_allowed_infinity_where_blocked(size: int) -> Tensor:
    return _ones_where_allowed(size) + causal_mask(size)


def _blocked_by(number: float) -> Callable[[int], Tensor]:
    return lambda size: torch.triu(torch.full((size, size), number), diagonal=1)


def _zero_times_infinity(size: int) -> Tensor:
    return torch.triu(torch.ones(size, size), diagonal=1) * -INF


def _exchanged(size: int) -> Tensor:
    return torch.full((size, size), -INF).tril()


FINITE = (
    "It mostly works, but not in half precision or beside scores of its own size, and when a whole row is blocked it "
    "gives equal weights without a warning. Use float('-inf')."
)


EXERCISE = Exercise(
    causal_mask,
    [
        Stage(
            "a floating point tensor of shape (size, size)",
            0.25,
            "The mask has one row and one column for each token, and holds floating point numbers.",
            [Ask((4,)), Ask((9,))],
            _draw_sizes,
            view="shape",
        ),
        Stage(
            "one token alone",
            0.25,
            "With size 1 the only token looks at itself: what must be added to its score?",
            [Ask((1,))],
            lambda rng: [Ask((1,))],
        ),
        Stage(
            "the first row: token 0 sees only itself",
            0.5,
            "Print the first row: token 0 may look at token 0 and at nothing after it.",
            [Ask((5,)), Ask((9,))],
            _draw_sizes,
            view="first row",
        ),
        Stage(
            "every row",
            1.5,
            "Row i is the token that looks, column j the token looked at: allowed (0) where j <= i.",
            [Ask((3,)), Ask((5,)), Ask((8,))],
            _draw_sizes,
            decisive=True,
        ),
        Stage(
            "a long text",
            0.5,
            "The rule is the same for any size: do not cut the mask from a table, and do not count in small numbers.",
            [_large(515, 1)],
            lambda rng: [_large(rng.randint(130, 260), seed_from(rng))],
            measure="at places",
        ),
    ],
    [
        Mistake(
            "the diagonal is blocked too",
            "A token may look at itself: start the blocked part one place above the diagonal.",
            _diagonal_blocked,
        ),
        Mistake(
            "the past is blocked in place of the future",
            "Your mask is the transpose of the wanted one: -inf belongs above the diagonal, where j > i.",
            _transposed,
        ),
        Mistake(
            "1 where blocked, in place of -inf",
            "The mask is added to the scores before the softmax; adding 1 makes a blocked token more likely. "
            "Blocked places need -inf, the others 0.",
            _ones_where_blocked,
        ),
        Mistake(
            "1 where allowed and 0 where blocked",
            "This would be a mask to multiply with. Ours is added to the scores: 0 where allowed, -inf where blocked.",
            _ones_where_allowed,
        ),
        Mistake(
            "allowed places hold 1, not 0",
            "Blocked places are right. But the mask is added to the scores, and what is allowed must stay as it is: "
            "add 0 there, not 1.",
            _ones_where_allowed_infinity_where_blocked,
        ),
        Mistake("a large finite number in place of -inf", FINITE, _blocked_by(-1e9)),
        Mistake("-10000 in place of -inf", FINITE, _blocked_by(-1e4)),
        Mistake(
            "the smallest number of the type in place of -inf", FINITE, _blocked_by(torch.finfo(torch.float32).min)
        ),
        Mistake(
            "plus infinity in place of minus infinity",
            "exp(inf) is infinite: a blocked token would take everything, and the softmax would be NaN. Mind the sign.",
            _blocked_by(INF),
        ),
        Mistake(
            "0 times infinity is NaN",
            "Where the mask should be 0 you have 0 * -inf, which is no number (NaN). Fill with -inf first and keep the "
            "upper triangle, or use masked_fill or where: nothing may be multiplied by infinity.",
            _zero_times_infinity,
        ),
        Mistake(
            "allowed and blocked are exchanged",
            "-inf is what forbids. It belongs above the diagonal, where j > i, and 0 everywhere else.",
            _exchanged,
        ),
    ],
    hints=(
        (
            "Which tokens may token 2 look at? Write its row for a sentence of five tokens on paper: five places, a "
            "0 where it may look and a minus infinity where it may not. Then add the rows of token 0 and of token 4. "
            "Where does the border between the two kinds of places run?"
        ),
        (
            "Two numbers decide a place: its row $i$ and its column $j$. With four tokens, row 1 is `0, 0, -inf, "
            "-inf`: the columns 0 and 1 are not later than token 1, the columns 2 and 3 are. On the diagonal, $j = "
            "i$, a token looks at itself.\n\n"
            "`torch.triu(square, diagonal=k)` keeps what stands on the diagonal number `k` and above it, and puts 0 "
            "everywhere else; number 0 is the diagonal from corner to corner, number 1 the one above it. Do not "
            "multiply a triangle of ones and zeros by minus infinity: 0 times infinity is NaN."
        ),
        (
            "With a triangle:\n"
            "```python\n"
            'square = torch.full((size, size), float("-inf"))  # (size, size)\n'
            "# keep the part that is forbidden, 0 elsewhere: torch.triu, and the right diagonal\n"
            "```\n"
            "Or with two loops: start with `torch.zeros(size, size)`, go through all `i` and `j`, and write "
            '`float("-inf")` into `mask[i, j]` where a comparison of `j` with `i` says "later". Either way, '
            "compare with `causal_mask(2)` in the docstring, and look at `causal_mask(1)`: the only token looks at "
            "itself."
        ),
    ),
)
