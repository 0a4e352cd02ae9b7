"""Exercise perplexity of notebook 06."""

from __future__ import annotations

import math
import random

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, both, seed_from
from tutor.checking.answers import Question

exercise = Definition(minutes=10, difficulty=1)
TWO_WORDS = Question((torch.tensor([[math.log(2), math.log(8)]]), torch.tensor([2])))
exercise.by_hand(TWO_WORDS)


@exercise.reference
def perplexity(losses: Tensor, token_counts: Tensor) -> float:
    return math.exp(float((losses * _real_positions(losses, token_counts)).sum() / token_counts.sum()))


def _real_positions(losses: Tensor, token_counts: Tensor) -> Tensor:
    return torch.arange(losses.shape[1]) < token_counts.unsqueeze(1)  # (b, n)


def _losses(b: int, n: int, seed: int) -> Tensor:
    values = torch.rand(b, n, generator=torch.Generator().manual_seed(seed)) * 5
    return (10 * values).round().clamp(min=1) / 10  # one decimal, to be read in the picture; 0 only where it is meant


def _counts(*numbers: int) -> Tensor:
    return torch.tensor(numbers)


def _draw_losses(texts: int, spare: int, different: bool) -> Draw:
    """Returns what draws `texts` texts of the same or of `different` lengths, with `spare` columns of padding."""

    def draw(rng: random.Random) -> list[Question]:
        n = rng.randint(texts + 3, texts + 7)
        counts = rng.sample(range(1, n), texts) if different else [n] * texts
        return [Question((_losses(texts, n + spare, seed_from(rng)), torch.tensor(counts)))]

    return draw


@exercise.stage(
    "one text",
    points=0.5,
    public=[
        TWO_WORDS,
        Question((_losses(1, 5, 1), _counts(5))),
    ],
)
def _(rng: random.Random) -> list[Question]:
    """Losses of ln 2 and ln 8 have the mean ln 4: a perplexity of 4, the mean taken before the exponential."""
    return _draw_losses(1, 0, False)(rng)


def _with_zeros(losses: Tensor) -> Tensor:
    """Returns losses of which some, of words that are sure, are 0: they count as all others."""
    losses[:, 1] = 0
    return losses


@exercise.stage(
    "several texts of the same length",
    points=0.5,
    public=[Question((_losses(3, 4, 2), _counts(4, 4, 4))), Question((_with_zeros(_losses(2, 3, 6)), _counts(3, 3)))],
)
def _(rng: random.Random) -> list[Question]:
    """One number for all texts together: the mean over all tokens, then one exponential."""
    return _draw_losses(4, 0, False)(rng)


@exercise.stage(
    "what lies beyond a text is not counted",
    points=0.5,
    public=[Question((_losses(2, 6, 3), _counts(4, 4)))],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Row k holds token_counts[k] losses; what follows them belongs to the padding and means nothing."""
    return [Question((_losses(3, n + 3, seed_from(rng)), torch.tensor([n] * 3))) for n in (rng.randint(3, 6),)]


def _square(rng: random.Random) -> list[Question]:
    """Asks with as many texts as positions, one of them of a single token; and what follows a text is large."""
    n = rng.randint(3, 5)
    losses, counts = _losses(n, n, seed_from(rng)), torch.tensor(rng.sample(range(1, n + 1), n))
    return [Question((losses.where(_real_positions(losses, counts), torch.tensor(1e9)), counts))]


@exercise.stage(
    "every token counts the same, in a short text and in a long one",
    points=0.5,
    public=[
        Question((_losses(3, 7, 4), _counts(7, 2, 4))),
        Question((_losses(4, 4, 5), _counts(1, 4, 2, 3))),
        *_square(random.Random(8)),
    ],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Divide the sum of all losses by the number of all tokens, not text by text."""
    return both(_draw_losses(4, 1, True), _square)(rng)


exercise.large += [Question((_losses(2, 400, 7), _counts(390, 260))), Question((_losses(2, 5, 8) + 20, _counts(5, 2)))]


@exercise.corners(
    "every token counts the same, in a short text and in a long one",
    b=(1, range(33, 36)),
    n=(1, 2, range(65, 68), range(301, 304)),
    level=(0.0, 0.001, 30.0),
)
def _(rng: random.Random, b: int, n: int, level: float) -> Question | None:
    """Asks about losses that are all 0, tiny or large, in a wide table: the product of probabilities would be 0."""
    if b * n > 2500:
        return None
    losses = level * torch.randint(8, 13, (b, n), generator=torch.Generator().manual_seed(seed_from(rng))) / 10
    return Question((losses, torch.tensor([n, *(rng.randint(1, n) for _ in range(b - 1))])))


@exercise.mistake("the mean of the exponentials")
def _(losses: Tensor, token_counts: Tensor) -> float:
    """exp of a mean is not the mean of exp: one token with a loss of 10 would count as 22026. First the mean of the
    losses, then the exponential.
    """
    return float((losses.exp() * _real_positions(losses, token_counts)).sum() / token_counts.sum())
