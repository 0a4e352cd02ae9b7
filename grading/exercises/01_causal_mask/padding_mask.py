"""Exercise padding_mask of notebook 01."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw
from tutor.checking.answers import Question

exercise = Definition(minutes=8, difficulty=1, forbids=("helpers.models.as_mask",))


@exercise.reference
def padding_mask(lengths: Tensor, size: int) -> Tensor:
    return torch.arange(size) >= lengths.clamp(min=1).unsqueeze(1)


def _asked(*lengths: int, size: int) -> Question:
    return Question((torch.tensor(lengths), size))


def _draw_lengths(low: int) -> Draw:
    """Draws a batch with the lengths `low`, 1 and 2 and one that fills it, and a batch wider than its longest text.

    The last is asked again with its lengths in another order: what is kept by its shape is wrong there.
    """

    def draw(rng: random.Random) -> list[Question]:
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


@exercise.stage(
    "a bool tensor of shape (b, size)", points=0.5, public=[_asked(2, 4, size=5), _asked(1, size=4)], view="shape"
)
def _(rng: random.Random) -> list[Question]:
    """One row for each sequence, one column for each position of the batch, also where no sequence is so long; True or
    False in each.
    """
    return _draw_lengths(1)(rng)


@exercise.stage("one sequence", points=0.5, public=[_asked(3, size=4), _asked(1, size=5), _asked(2, size=3)])
def _(rng: random.Random) -> list[Question]:
    """A sequence of length 3 padded to 4 is real, real, real, padding: False, False, False, True."""
    # Draws a length that is not half of the size: padding at the start would be the inverted mask there.
    size = rng.randint(6, 9)
    longer = rng.choice([length for length in range(3, 6) if 2 * length != size])
    return [_asked(length, size=size) for length in (1, 2, longer)]


@exercise.stage(
    "a batch of several lengths",
    points=1,
    public=[_asked(3, 1, 5, size=5), _asked(2, 1, 4, 2, size=6), _asked(150, 300, size=300)],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Compare every position 0, 1, 2, ... with the length of its own row, however many positions there are: do not
    count in small numbers, such as uint8.
    """
    size = rng.randint(280, 320)
    return [*_draw_lengths(1)(rng), _asked(1, rng.randint(130, 250), size, size=size)]


@exercise.stage(
    "no row without anything to see",
    points=1,
    public=[_asked(0, 2, size=3), _asked(1, 0, 2, 0, size=4), _asked(0, 1, size=1)],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """An empty sequence (length 0) would have all positions padded, and the softmax of its rows would be NaN: leave its
    first position visible, and only that one. Other rows stay as they are.
    """
    return [*_draw_lengths(0)(rng), _asked(0, size=rng.randint(2, 5)), _asked(0, 1, 0, size=1)]


exercise.large += [Question((torch.tensor([2049, 300]), 2051))]


@exercise.corners(
    "a batch of several lengths",
    b=(1, 2, range(101, 104)),
    size=(1, 2, range(33, 36), range(301, 304)),
    lengths=("all 1", "all full", "any"),
)
def _(rng: random.Random, b: int, size: int, lengths: str) -> Question | None:
    if b * size > 4000:
        return None
    drawn = {"all 1": [1] * b, "all full": [size] * b, "any": [rng.randint(1, size) for _ in range(b)]}
    return _asked(*drawn[lengths], size=size)


@exercise.corners("no row without anything to see", b=(1, 2, range(33, 36)), size=(1, 2, range(65, 68)))
def _(rng: random.Random, b: int, size: int) -> Question:
    return _asked(*rng.sample([0, *(rng.choice([0, size]) for _ in range(b - 1))], b), size=size)
