"""Exercise padding_mask of notebook 01."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from grading.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw
from helpers.checking.answers import Ask


def padding_mask(lengths: Tensor, size: int) -> Tensor:
    return torch.arange(size) >= lengths.clamp(min=1).unsqueeze(1)


def _draw_lengths(low: int, high: int) -> Draw:
    def draw(rng: random.Random) -> list[Ask]:
        size = high + rng.randint(0, 3)
        rows = rng.choice([count for count in range(5, 9) if count != size])  # a transposed mask has another shape
        lengths = [rng.randint(low, high) for _ in range(rows - 2)] + [low, size]
        rng.shuffle(lengths)
        return [Ask((torch.tensor(lengths), size))]

    return draw


def _draw_length(rng: random.Random) -> list[Ask]:
    """Draws a length that is not half of the size: padding at the start would be the inverted mask there."""
    size = rng.randint(6, 9)
    return [Ask((torch.tensor([rng.choice([length for length in range(1, 6) if 2 * length != size])]), size))]


EXERCISE = Exercise(
    padding_mask,
    [
        Stage(
            "a bool tensor of shape (b, size)",
            0.5,
            "One row for each sequence, one column for each place; True or False in each.",
            [Ask((torch.tensor([2, 4]), 5))],
            _draw_lengths(1, 6),
            view="shape",
        ),
        Stage(
            "one sequence",
            0.5,
            "A sequence of length 3 padded to 4 is real, real, real, padding: False, False, False, True.",
            [Ask((torch.tensor([3]), 4))],
            _draw_length,
        ),
        Stage(
            "a batch of several lengths",
            1,
            "Compare every place 0, 1, 2, ... with the length of its own row.",
            [Ask((torch.tensor([3, 1, 5]), 5))],
            _draw_lengths(1, 7),
        ),
        Stage(
            "no row without anything to see",
            1,
            "An empty sequence (length 0) would have all places padded, and the softmax of its rows would be NaN: "
            "leave its first place visible.",
            [Ask((torch.tensor([0, 2]), 3))],
            _draw_lengths(0, 5),
        ),
    ],
    [
        Mistake(
            "the mask is inverted",
            "It is True at the real tokens. A padding mask marks what is to be ignored.",
            lambda lengths, size: torch.arange(size) < lengths.clamp(min=1).unsqueeze(1),
        ),
        Mistake(
            "the mask is inverted, and an empty sequence has nothing to see",
            "It is True at the real tokens; a padding mask marks what is to be ignored. Mind length 0 as well.",
            lambda lengths, size: torch.arange(size) < lengths.unsqueeze(1),
        ),
        Mistake(
            "off by one: the last real token is marked as padding",
            "A sequence of length 2 has real tokens at places 0 and 1; place 2 is the first padding.",
            lambda lengths, size: torch.arange(size) >= lengths.unsqueeze(1) - 1,
        ),
        Mistake(
            "off by one: the first padding is taken for a token",
            "A sequence of length 2 has real tokens at places 0 and 1; place 2 is padding already: >= and not >.",
            lambda lengths, size: torch.arange(size) > lengths.unsqueeze(1),
        ),
        Mistake(
            "padding at the start in place of the end",
            "Our batches are padded on the right. With padding at the start, the first rows of the causal mask see "
            "nothing but padding, and their softmax would be NaN.",
            lambda lengths, size: torch.arange(size) < size - lengths.unsqueeze(1),
        ),
        Mistake(
            "an empty sequence has nothing to see",
            "With length 0 every place is padding, the whole row of scores is -inf and its softmax is NaN. "
            "Treat a length of 0 as 1.",
            lambda lengths, size: torch.arange(size) >= lengths.unsqueeze(1),
        ),
    ],
)
