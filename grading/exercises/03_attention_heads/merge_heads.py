"""Exercise merge_heads of notebook 03."""

from __future__ import annotations

import random

from torch import Tensor

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw
from tutor.checking.answers import Ask

from ._common import _counted, _merge_reshaped, merge_heads


def _merge_interleaved(x: Tensor) -> Tensor:
    return x.permute(0, 2, 3, 1).flatten(2)


def _heads_averaged(x: Tensor) -> Tensor:
    return x.mean(dim=1)


def _heads_added(x: Tensor) -> Tensor:
    return x.sum(dim=1)


def _heads_one_after_the_other(x: Tensor) -> Tensor:
    return x.flatten(1, 2)


def _view_after_transpose(x: Tensor) -> Tensor:
    b, h, n, width = x.shape
    return x.transpose(1, 2).view(b, n, h * width)


def _draw_merge(one_token: bool = False) -> Draw:
    def draw(rng: random.Random) -> list[Ask]:
        b, h, n, width = rng.sample(range(2, 7), 4)
        side, few = rng.randint(3, 4), rng.choice([2, 3])
        sizes = [(b, h, n, width), (side,) * 4, (1, few, 4, 5), (few, 1, 5, 4), (few, 4, 5, 1), (few, 3, 6, 2)]
        return [Ask((_counted(b, h, 1 if one_token else n, width, rng=rng),)) for b, h, n, width in sizes]

    return draw


EXERCISE = Exercise(
    merge_heads,
    [
        Stage(
            "one token: its pieces side by side",
            0.25,
            "Three axes again, (b, n, d), also where one of them is 1: the h pieces of width d/h of the token stand "
            "side by side, first that of head 0. h times d/h is d.",
            [Ask((_counted(2, 4, 1, 2),)), Ask((_counted(1, 2, 1, 3),))],
            _draw_merge(one_token=True),
        ),
        Stage(
            "several tokens: the way back",
            0.75,
            "merge_heads(split_heads(x, h)) must be x again: undo the steps in the opposite order. The result has the "
            "shape (b, n, d).",
            [Ask((_counted(*sizes),)) for sizes in ((1, 2, 3, 2), (2, 2, 2, 2), (2, 4, 3, 2), (1, 3, 2, 1))],
            _draw_merge(),
            decisive=True,
        ),
    ],
    [
        Mistake(
            "reshaped without a transpose",
            "The tokens must stand before the heads again when you reshape: transpose(1, 2) first, otherwise pieces of "
            "different tokens end up in one row.",
            _merge_reshaped,
        ),
        Mistake(
            "the numbers of the heads alternate",
            "Each head's d/h numbers stay together: bring the axes into the order (b, n, h, d/h) before the reshape.",
            _merge_interleaved,
        ),
        Mistake(
            "the heads are averaged",
            "Nothing is added up: the heads stand side by side, and the row of a token has d numbers again.",
            _heads_averaged,
        ),
        Mistake(
            "the heads are added",
            "Nothing is added up: the heads stand side by side, and the row of a token has d numbers again.",
            _heads_added,
        ),
        Mistake(
            "the heads stand one below the other",
            "Each token must have one row of d numbers: put the heads side by side, along the last axis.",
            _heads_one_after_the_other,
        ),
        Mistake(
            "view after a transpose",
            "A transpose only changes how the numbers are read, and `view` needs them in their new order in memory. "
            "Use reshape, which copies them where it must, or call contiguous() before view.",
            _view_after_transpose,
        ),
    ],
    trains=True,
    exceptions=("double precision stays double precision",),
    large=[Ask((_counted(1, 2, 300, 2),))],
    hints=(
        (
            "You made two steps in `split_heads`. Which of them was the last one? To come back, undo the last one "
            "first. Where do the pieces of token 2 stand in `(b, h, n, d/h)`: next to each other, or one in each "
            "head?"
        ),
        (
            "Two heads, two tokens, one number each: head 0 holds `[[1], [2]]`, head 1 holds `[[3], [4]]`. Token 0 "
            "owns 1 and 3, token 1 owns 2 and 4, so the merged tensor is `[[1, 3], [2, 4]]`. A reshape reads in the "
            "order 1, 2, 3, 4 and would give token 0 the numbers 1 and 2. So bring the tokens before the heads, and "
            "only then join the last two axes.\n\n"
            "To join, use `reshape`. `view` stops with an error here: after a transpose the numbers do not lie in "
            "their new order in memory."
        ),
        (
            "The shapes on the way:\n"
            "1. `(b, h, n, d/h)`, as given: `b, h, n, width = x.shape`\n"
            "2. `(b, n, h, d/h)`: which two axes have changed places?\n"
            "3. `(b, n, d)`: the last two axes joined. What is $d$, in the letters of step 1?\n\n"
            "Test it with numbers that you can follow: `x = torch.arange(12.0).reshape(1, 2, 6)`, then "
            "`merge_heads(split_heads(x, 3))` must be `x` again, number for number; a look at the shape alone would "
            "not show a mistake."
        ),
    ),
)
