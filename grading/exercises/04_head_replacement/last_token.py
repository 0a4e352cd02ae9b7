"""Exercise last_token of notebook 04."""

from __future__ import annotations

import random
from dataclasses import replace

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw
from tutor.checking.answers import Question

exercise = Definition(minutes=12, difficulty=2, trains=True, forbids=("helpers.models.Classifier",))


@exercise.reference
def last_token(hidden: Tensor, lengths: Tensor) -> Tensor:
    return hidden[torch.arange(len(hidden)), lengths - 1]


def _hidden(b: int, n: int, d: int, seed: int) -> Tensor:
    values = torch.randn(b, n, d, generator=torch.Generator().manual_seed(seed))
    return (100 * values).round() / 100  # two decimals, to be read in the picture


def _with_gradients(hidden: Tensor, lengths: list[int]) -> list[Question]:
    """Returns a question for the result, and one for the gradients that pass through it."""
    ask = Question((hidden, torch.tensor(lengths)))
    return [ask, replace(ask, probe="gradients")]


def _draw_padded(low: int, texts: tuple[int, int], spare: int) -> Draw:
    """Returns what draws a batch of texts of at least `low` tokens; `spare` columns at most are padding for all."""

    def draw(rng: random.Random) -> list[Question]:
        n, d = rng.randint(6, 9), rng.choice([2, 3, 5])
        lengths = [rng.randint(low, n) for _ in range(rng.randint(*texts))]
        return [
            Question((_hidden(len(lengths), n + rng.randint(0, spare), d, rng.randrange(10**6)), torch.tensor(lengths)))
        ]

    return draw


@exercise.stage(
    "a tensor of shape (b, d)", points=0.5, public=[Question((_hidden(2, 4, 3, 1), torch.tensor([4, 2])))], view="shape"
)
def _(rng: random.Random) -> list[Question]:
    """One row of d numbers for each text: the axis of the tokens is gone."""
    return _draw_padded(2, (2, 5), 2)(rng)


@exercise.stage("one text", points=0.5, public=_with_gradients(_hidden(1, 7, 2, 2), [3]))
def _(rng: random.Random) -> list[Question]:
    """A text of length 3 has its tokens at the positions 0, 1 and 2: its last one is at position 2. The shape is (1, d)
    also for one text.
    """
    return _with_gradients(_hidden(1, 9, 3, rng.randrange(10**6)), [rng.choice([3, 4, 6, 7])])


@exercise.stage("several texts without padding", points=0.5, public=_with_gradients(_hidden(3, 4, 2, 3), [4, 4, 4]))
def _(rng: random.Random) -> list[Question]:
    """Where all texts are as long as the batch is wide, the last real token is the last row."""
    return _with_gradients(_hidden(4, 5, 3, rng.randrange(10**6)), [5] * 4)


def _middle_first(rng: random.Random) -> list[int]:
    """Returns three lengths of which the first is neither the largest nor the smallest."""
    low, middle, high = sorted(rng.sample(range(2, 7), 3))
    return [middle, high, low]


@exercise.stage(
    "several texts of different lengths",
    points=1,
    public=[
        Question((_hidden(3, 6, 2, 4), torch.tensor([3, 6, 2]))),
        Question((_hidden(2, 6, 3, 5), torch.tensor([4, 2]))),
        Question((_hidden(4, 4, 4, 7), torch.tensor([2, 4, 1, 3]))),
        Question((_hidden(3, 5, 1, 9), torch.tensor([4, 5, 2]))),
    ],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Each text has its own last position: text number k takes row lengths[k] - 1 of hidden[k]."""
    return [
        *_draw_padded(2, (6, 9), 2)(rng),
        Question((_hidden(3, 9, 2, rng.randrange(10**6)), torch.tensor(_middle_first(rng)))),
        Question((_hidden(3, 7, 1, rng.randrange(10**6)), torch.tensor(_middle_first(rng)))),
    ]


@exercise.stage("a text of <sos> alone", points=0.5, public=[Question((_hidden(3, 4, 2, 6), torch.tensor([2, 1, 4])))])
def _(rng: random.Random) -> list[Question]:
    """A length of 1 means that the only real token is at position 0."""
    return [Question((_hidden(3, 6, 3, rng.randrange(10**6)), torch.tensor([rng.randint(2, 5), 1, 6])))]


exercise.large += [Question((_hidden(3, 300, 2, 8), torch.tensor([290, 41, 300])))]


@exercise.corners(
    "several texts of different lengths",
    b=(1, 2, range(33, 36)),
    n=(1, 2, range(65, 68), range(301, 304)),
    last=("the first", "the last", "any"),
)
def _(rng: random.Random, b: int, n: int, last: str) -> Question | None:
    if b * n > 2500:
        return None
    lengths = {"the first": [1] * b, "the last": [n] * b, "any": [rng.randint(1, n) for _ in range(b)]}
    return Question((_hidden(b, n, 2, rng.randrange(10**6)), torch.tensor(lengths[last])))
