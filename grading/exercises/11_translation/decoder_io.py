"""Exercise decoder_io of notebook 11."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, both
from helpers.batches import IGNORE
from helpers.vocabulary import EOS, PAD, SOS
from tutor.checking.answers import Question

from ._common import Sentences


def _rows(lists: Sentences, fill: int) -> Tensor:
    width = max(map(len, lists))
    return torch.tensor([[*row, *[fill] * (width - len(row))] for row in lists])


exercise = Definition(minutes=10, difficulty=1, forbids=("helpers.batches.for_translation",))


@exercise.reference
def decoder_io(target: Sentences) -> tuple[Tensor, Tensor]:
    return _rows([[SOS, *words] for words in target], PAD), _rows([[*words, EOS] for words in target], IGNORE)


def _draw_targets(count: int, same: bool = False) -> Draw:
    def draw(rng: random.Random) -> list[Question]:
        lengths = [rng.randint(2, 5)] * count if same else sorted(rng.sample(range(1, 9), count))
        if count > 2:  # neither the first nor the last is the longest
            *others, longest = lengths
            others = rng.sample(others, len(others))
            lengths = [others[0], longest, *others[1:]]
        target = [[rng.randrange(4, 500) for _ in range(length)] for length in lengths]
        return [Question((target + target[:1] if same else target,))]  # a sentence may stand in a batch twice

    return draw


@exercise.stage("one sentence", points=0.5, public=[Question(([[7, 9]],))], measure="whole numbers")
def _(rng: random.Random) -> list[Question]:
    """The sentence [7, 9] is read as <sos> 7 9 and must be answered by 7 9 <eos>, both of whole numbers
    (dtype=torch.long).
    """
    return _draw_targets(1)(rng)


@exercise.stage("sentences of the same length", points=0.5, public=[Question(([[7, 9, 8], [5, 5, 6], [7, 9, 8]],))])
def _(rng: random.Random) -> list[Question]:
    """One row for each sentence; under each word of the input stands the word that follows it."""
    return _draw_targets(3, same=True)(rng)


def _large_and_long(rng: random.Random) -> list[Question]:
    """Draws a word with a large number, and a sentence that is much longer than the other."""
    short = [rng.randrange(40_000, 90_000)]
    return [Question(([short, [rng.randrange(4, 9) for _ in range(rng.randint(20, 30))]],))]


@exercise.stage(
    "sentences of different lengths",
    points=1,
    public=[
        Question(([[7, 9, 8], [5]],)),
        Question(([[6, 7], [8, 9, 4, 5], [4]],)),
        *_large_and_long(random.Random(1)),
    ],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """A short row is filled at its end, the input with PAD, and the output with IGNORE, so that the loss skips it. All
    rows are one position longer than the longest sentence, wherever in the batch that stands.
    """
    return both(_draw_targets(4), _large_and_long)(rng)


exercise.large += [Question(([[7 * number % 490 + 4 for number in range(300)], [5, 6]],))]


@exercise.corners(
    "sentences of different lengths",
    b=(1, 2, range(101, 104)),
    n=(1, range(33, 36), range(301, 304)),
    word=(4, 1_000_003),
)
def _(rng: random.Random, b: int, n: int, word: int) -> Question | None:
    """Asks about the longest sentence in any row, and about many short ones."""
    if b * n > 5000:
        return None
    lengths = [rng.randint(1, n) for _ in range(b - 1)]
    lengths.insert(rng.randint(0, b - 1), n)
    return Question(([[word + rng.randrange(9) for _ in range(length)] for length in lengths],))
