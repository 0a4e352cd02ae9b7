"""Exercise padding_mask of notebook 01."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw
from tutor.checking.answers import Ask


def padding_mask(lengths: Tensor, size: int) -> Tensor:
    return torch.arange(size) >= lengths.clamp(min=1).unsqueeze(1)


def _asked(*lengths: int, size: int) -> Ask:
    return Ask((torch.tensor(lengths), size))


def _draw_lengths(low: int) -> Draw:
    """Draws a batch with the lengths `low`, 1 and 2 and one that fills it, and a batch wider than its longest text.

    The last is asked again with its lengths in another order: what is kept by its shape is wrong there.
    """

    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for spare in (0, rng.randint(1, 3)):
            longest = rng.randint(5, 7)
            size = longest + spare
            rows = rng.choice([count for count in range(6, 10) if count != size])  # a transposed mask has another shape
            lengths = [low, 1, 2, longest] + [rng.randint(low, longest) for _ in range(rows - 4)]
            rng.shuffle(lengths)
            asks.append(_asked(*lengths, size=size))
        return [*asks, _asked(lengths[-1], *lengths[:-1], size=size)]

    return draw


def _draw_length(rng: random.Random) -> list[Ask]:
    """Draws a length that is not half of the size: padding at the start would be the inverted mask there."""
    size = rng.randint(6, 9)
    longer = rng.choice([length for length in range(3, 6) if 2 * length != size])
    return [_asked(length, size=size) for length in (1, 2, longer)]


def _draw_batch(rng: random.Random) -> list[Ask]:
    size = rng.randint(280, 320)
    return [*_draw_lengths(1)(rng), _asked(1, rng.randint(130, 250), size, size=size)]


def _draw_empty(rng: random.Random) -> list[Ask]:
    return [*_draw_lengths(0)(rng), _asked(0, size=rng.randint(2, 5)), _asked(0, 1, 0, size=1)]


EXERCISE = Exercise(
    padding_mask,
    [
        Stage(
            "a bool tensor of shape (b, size)",
            0.5,
            "One row for each sequence, one column for each place of the batch, also where no sequence is so long; "
            "True or False in each.",
            [_asked(2, 4, size=5), _asked(1, size=4)],
            _draw_lengths(1),
            view="shape",
        ),
        Stage(
            "one sequence",
            0.5,
            "A sequence of length 3 padded to 4 is real, real, real, padding: False, False, False, True.",
            [_asked(3, size=4), _asked(1, size=5), _asked(2, size=3)],
            _draw_length,
        ),
        Stage(
            "a batch of several lengths",
            1,
            "Compare every place 0, 1, 2, ... with the length of its own row.",
            [_asked(3, 1, 5, size=5), _asked(2, 1, 4, 2, size=6), _asked(150, 300, size=300)],
            _draw_batch,
            decisive=True,
        ),
        Stage(
            "no row without anything to see",
            1,
            "An empty sequence (length 0) would have all places padded, and the softmax of its rows would be NaN: "
            "leave its first place visible, and only that one. Other rows stay as they are.",
            [_asked(0, 2, size=3), _asked(1, 0, 2, 0, size=4), _asked(0, 1, size=1)],
            _draw_empty,
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
            "padding at the start in place of the end, also of an empty sequence",
            "Our batches are padded on the right. With padding at the start, the first rows of the causal mask see "
            "nothing but padding, and their softmax would be NaN.",
            lambda lengths, size: torch.arange(size) < size - lengths.clamp(min=1).unsqueeze(1),
        ),
        Mistake(
            "an empty sequence has nothing to see",
            "With length 0 every place is padding, the whole row of scores is -inf and its softmax is NaN. "
            "Treat a length of 0 as 1.",
            lambda lengths, size: torch.arange(size) >= lengths.unsqueeze(1),
        ),
        Mistake(
            "an empty sequence has no padding at all",
            "Only its first place must stay visible. The others are padding: nobody may look at them.",
            lambda lengths, size: (torch.arange(size) >= lengths.unsqueeze(1)) & (lengths > 0).unsqueeze(1),
        ),
        Mistake(
            "a sequence of length 1 is treated as one of length 2",
            "A sequence of length 1 has one real token; place 1 is padding already. Only the length 0 is treated as 1.",
            lambda lengths, size: torch.arange(size) >= lengths.clamp(min=2).unsqueeze(1),
        ),
    ],
    large=[Ask((torch.tensor([2049, 300]), 2051))],
    hints=(
        (
            "Take the table in section 7. In the row of length 2, what is the number of the first place that is "
            "padding? And if the length were 3? Which comparison between the number of a place and the length of its "
            "row is True exactly there? Then look at length 0: which place must be left out of the rule?"
        ),
        (
            "Width 5, length 3: the places 0, 1, 2 are real, 3 and 4 are padding. Compare each place with the length "
            "of its own row.\n\n"
            "For a whole batch at once: places of shape `(size,)` against lengths of shape `(b, 1)` give `(b, "
            "size)`, each place with each length. `torch.arange(size)` makes the places, `lengths.unsqueeze(1)` the "
            "column.\n\n"
            "The row of length 0 shall be False, True, True, True, True. There is another length with exactly this "
            "row. So no second mask is needed: which length do you put in place of 0?"
        ),
        (
            "Three steps, with their shapes:\n"
            "1. `places = torch.arange(size)`, of shape `(size,)`;\n"
            "2. the lengths as a column `(b, 1)`, with a lower limit: `clamp(min=...)` returns a new tensor in which "
            "smaller numbers are raised to that limit (`lengths` itself must stay as it is);\n"
            "3. one comparison of the two: bool, `(b, size)`.\n\n"
            "Is it `<`, `<=`, `>` or `>=`? Try length 2: place 1 is the last real token, and place 2 the first "
            "padding, where True must stand. Then try length 1 and length 0 in a batch of width 1."
        ),
    ),
)
