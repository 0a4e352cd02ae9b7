"""Exercise split_heads of notebook 03."""

from __future__ import annotations

import random

from torch import Tensor

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw
from tutor.checking.answers import Ask

from ._common import _counted, _split_reshaped, split_heads


def _split_interleaved(x: Tensor, n_heads: int) -> Tensor:
    b, n, d = x.shape
    return x.reshape(b, n, d // n_heads, n_heads).permute(0, 3, 1, 2)


def _split_not_turned(x: Tensor, n_heads: int) -> Tensor:
    return split_heads(x, n_heads).transpose(1, 2)


def _split_counts_swapped(x: Tensor, n_heads: int) -> Tensor:
    b, n, d = x.shape
    return x.reshape(b, n, d // n_heads, n_heads).transpose(1, 2)


def _split_into_batch(x: Tensor, n_heads: int) -> Tensor:
    return split_heads(x, n_heads).flatten(0, 1)


def _split(b: int, n: int, h: int, width: int, rng: random.Random | None = None) -> Ask:
    return Ask((_counted(b, n, h * width, rng=rng), h))


def _draw_split(one_token: bool = False) -> Draw:
    """Draws tensors of which no two sizes agree, and of which two do."""

    def draw(rng: random.Random) -> list[Ask]:
        b, n, h, width = rng.sample(range(2, 8), 4)
        side, few = rng.randint(3, 4), rng.choice([2, 3])
        sizes = [(b, n, h, width), (side, side, side, side)]
        sizes += [(few, 6, 3, 2), (2, 4, 4, few)]  # as many tokens as numbers, as many heads as tokens
        return [_split(b, 1 if one_token else n, h, width, rng) for b, n, h, width in sizes]

    return draw


def _draw_single(rng: random.Random) -> list[Ask]:
    """Draws one head, one sentence, and heads of one number."""
    few = rng.choice([2, 3])
    return [_split(*sizes, rng) for sizes in ((few, 5, 1, 4), (1, 5, few, 4), (few, 5, 4, 1))]


EXERCISE = Exercise(
    split_heads,
    [
        Stage(
            "the shape (b, h, n, d/h)",
            0.25,
            "Four axes: sentence, head, token, and the d/h numbers that this head has of this token.",
            [_split(2, 3, 4, 2), _split(3, 3, 3, 3)],
            _draw_split(),
            view="shape",
        ),
        Stage(
            "one token: which numbers go to which head",
            0.5,
            "Head 0 gets the first d/h numbers of the token, head 1 the next d/h, and so on: neighbours stay together.",
            [_split(2, 1, 2, 3), _split(2, 1, 3, 2)],
            _draw_split(one_token=True),
        ),
        Stage(
            "several tokens",
            1,
            "Look at head 0: each of its rows must hold the first numbers of another token. Cut the last axis first, "
            "then exchange the axes of tokens and heads.",
            [_split(2, 3, 2, 2), _split(2, 2, 2, 2), _split(3, 6, 3, 2), _split(2, 4, 4, 3)],
            _draw_split(),
            decisive=True,
        ),
        Stage(
            "one head, one sentence, one number for each head",
            0.25,
            "An axis of length 1 is an axis like the others: there are always four, and nothing is squeezed away.",
            [_split(2, 3, 1, 2), _split(1, 3, 2, 2), _split(2, 3, 4, 1)],
            _draw_single,
        ),
    ],
    [
        Mistake(
            "reshaped without a transpose",
            "The shape is right, the content is not: a reshape goes on reading the numbers in their old order, so "
            "that a head gets ALL numbers of a few tokens. Reshape to (b, n, h, d/h), then transpose(1, 2).",
            _split_reshaped,
        ),
        Mistake(
            "each head takes every h-th number",
            "The last axis is cut into h pieces of d/h neighbours: reshape to (b, n, h, d/h), not to (b, n, d/h, h).",
            _split_interleaved,
        ),
        Mistake(
            "the heads stand after the tokens",
            "(b, n, h, d/h) is half of the way. Exchange the axes 1 and 2, so that each head has an n x d/h matrix.",
            _split_not_turned,
        ),
        Mistake(
            "the number of heads and their width are exchanged",
            "There are h heads with d/h numbers each: reshape to (b, n, h, d/h).",
            _split_counts_swapped,
        ),
        Mistake(
            "heads and sentences share one axis",
            "Some programs do that, with (b * h, n, d/h). Here the heads keep an axis of their own.",
            _split_into_batch,
        ),
    ],
    trains=True,
    exceptions=("double precision stays double precision",),  # a tensor filled head by head is no mistake,
    large=[_split(1, 300, 2, 2)],
    hints=(
        (
            "Look at the four pictures in section 5. Which numbers stand in row 2 of head 0, as wanted, and which in "
            "row 2 of head 1? Two things must happen on the way: the last axis is cut, and two axes change places. "
            "Which of the two can a reshape do? And in which order do you do them?"
        ),
        (
            "A token `[0 1 2 3 4 5]` with 2 heads, cut into `[[0 1 2], [3 4 5]]`: 6 has become 2 x 3. No number has "
            "moved, so a reshape can do it, and it gives `(n, 2, 3)`: for each token its heads. (Cut into 3 x 2, the "
            "pieces would be `[0 1]`, `[2 3]`, `[4 5]`: three heads.)\n\n"
            "Wanted is, for each head, its tokens: `(2, n, 3)`. Now numbers must change their order, which a reshape "
            "never does. `x.transpose(i, j)` exchanges the axes `i` and `j`."
        ),
        (
            "Two steps after the first line:\n"
            "```python\n"
            "b, n, d = x.shape\n"
            "# 1. reshape to four axes: (b, n, number of heads, numbers of one head)\n"
            "# 2. exchange the axes of tokens and heads: (b, h, n, d/h)\n"
            "```\n"
            "For step 1, two whole numbers stand in place of `d`: `n_heads` and `d // n_heads`, in the order of the "
            "comment. Do not reshape straight to the shape of step 2. Then look at "
            "`split_heads(torch.arange(8).reshape(1, 2, 4), 2)`: head 0 must be `[[0, 1], [4, 5]]`, the first two "
            "numbers of *each* token."
        ),
    ),
)
