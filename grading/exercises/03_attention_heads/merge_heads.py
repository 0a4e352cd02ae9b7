"""Exercise merge_heads of notebook 03."""

from __future__ import annotations

import random

from torch import Tensor

from grading.exercise import Exercise, Mistake, Stage
from helpers.checking.answers import Ask

from ._common import _counted, _merge_reshaped, merge_heads


def _merge_interleaved(x: Tensor) -> Tensor:
    return x.permute(0, 2, 3, 1).flatten(2)


def _heads_averaged(x: Tensor) -> Tensor:
    return x.mean(dim=1)


def _heads_added(x: Tensor) -> Tensor:
    return x.sum(dim=1)


def _heads_one_after_the_other(x: Tensor) -> Tensor:
    return x.flatten(1, 2)


def _draw_merge(rng: random.Random) -> list[Ask]:
    b, h, n, width = rng.sample(range(2, 7), 4)
    side = rng.randint(2, 4)
    return [Ask((_counted(*shape, rng=rng),)) for shape in ((b, h, n, width), (side,) * 4)]


EXERCISE = Exercise(
    merge_heads,
    [
        Stage(
            "the shape (b, n, d)",
            0.5,
            "Three axes again: the h pieces of width d/h of each token stand side by side, h times d/h is d.",
            [Ask((_counted(2, 4, 3, 2),))],
            _draw_merge,
            view="shape",
        ),
        Stage(
            "the way back",
            0.5,
            "merge_heads(split_heads(x, h)) must be x again: undo the steps in the opposite order.",
            [Ask((_counted(1, 2, 3, 2),)), Ask((_counted(2, 2, 2, 2),))],
            _draw_merge,
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
    ],
)
