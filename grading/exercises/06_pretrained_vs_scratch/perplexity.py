"""Exercise perplexity of notebook 06."""

from __future__ import annotations

import math
import random

import torch
from torch import Tensor

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw, both, seed_from
from tutor.checking.answers import Ask


def perplexity(losses: Tensor, token_counts: Tensor) -> float:
    return math.exp(float((losses * _real_places(losses, token_counts)).sum() / token_counts.sum()))


def _real_places(losses: Tensor, token_counts: Tensor) -> Tensor:
    return torch.arange(losses.shape[1]) < token_counts.unsqueeze(1)  # (b, n)


def _losses(b: int, n: int, seed: int) -> Tensor:
    numbers = torch.rand(b, n, generator=torch.Generator().manual_seed(seed)) * 5
    return (10 * numbers).round().clamp(min=1) / 10  # one decimal, to be read in the picture; 0 only where it is meant


def _with_zeros(losses: Tensor) -> Tensor:
    """Returns losses of which some, of words that are sure, are 0: they count as all others."""
    losses[:, 1] = 0
    return losses


def _counts(*numbers: int) -> Tensor:
    return torch.tensor(numbers)


def _draw_losses(texts: int, spare: int, different: bool) -> Draw:
    """Returns what draws `texts` texts of the same or of `different` lengths, with `spare` columns of padding."""

    def draw(rng: random.Random) -> list[Ask]:
        n = rng.randint(texts + 3, texts + 7)
        counts = rng.sample(range(1, n), texts) if different else [n] * texts
        return [Ask((_losses(texts, n + spare, seed_from(rng)), torch.tensor(counts)))]

    return draw


def _square(rng: random.Random) -> list[Ask]:
    """Asks with as many texts as places, one of them of a single token; and what follows a text is large."""
    n = rng.randint(3, 5)
    losses, counts = _losses(n, n, seed_from(rng)), torch.tensor(rng.sample(range(1, n + 1), n))
    return [Ask((losses.where(_real_places(losses, counts), torch.tensor(1e9)), counts))]


def _text_means(losses: Tensor, token_counts: Tensor) -> Tensor:
    return (losses * _real_places(losses, token_counts)).sum(dim=1) / token_counts


EXERCISE = Exercise(
    perplexity,
    [
        Stage(
            "one text",
            0.5,
            "Losses of ln 2 and ln 8 have the mean ln 4: a perplexity of 4, the mean taken before the exponential.",
            [Ask((torch.tensor([[math.log(2), math.log(8)]]), _counts(2))), Ask((_losses(1, 5, 1), _counts(5)))],
            _draw_losses(1, 0, False),
        ),
        Stage(
            "several texts of the same length",
            0.5,
            "One number for all texts together: the mean over all tokens, then one exponential.",
            [Ask((_losses(3, 4, 2), _counts(4, 4, 4))), Ask((_with_zeros(_losses(2, 3, 6)), _counts(3, 3)))],
            _draw_losses(4, 0, False),
        ),
        Stage(
            "what lies beyond a text is not counted",
            0.5,
            "Row k holds token_counts[k] losses; what follows them belongs to the padding and means nothing.",
            [Ask((_losses(2, 6, 3), _counts(4, 4)))],
            lambda rng: [Ask((_losses(3, n + 3, seed_from(rng)), torch.tensor([n] * 3))) for n in (rng.randint(3, 6),)],
            decisive=True,
        ),
        Stage(
            "every token counts the same, in a short text and in a long one",
            0.5,
            "Divide the sum of all losses by the number of all tokens, not text by text.",
            [
                Ask((_losses(3, 7, 4), _counts(7, 2, 4))),
                Ask((_losses(4, 4, 5), _counts(1, 4, 2, 3))),
                *_square(random.Random(8)),
            ],
            both(_draw_losses(4, 1, True), _square),
            decisive=True,
        ),
    ],
    [
        Mistake(
            "padding is counted",
            "The mean runs over all places of the table, padding included. Only the first token_counts[k] numbers of "
            "row k are losses of tokens.",
            lambda losses, token_counts: float(losses.mean().exp()),
        ),
        Mistake(
            "padding is counted in the number of tokens",
            "The losses of padding are left out, but the sum is divided by all places: the perplexity comes out too "
            "low. Divide by token_counts.sum().",
            lambda losses, token_counts: float(
                (losses * _real_places(losses, token_counts)).sum().div(losses.numel()).exp()
            ),
        ),
        Mistake(
            "the mean of the perplexities of the texts",
            "One difficult text would outweigh all the others. Take the mean of the losses over all tokens first, and "
            "one exponential at the end.",
            lambda losses, token_counts: float(_text_means(losses, token_counts).exp().mean()),
        ),
        Mistake(
            "the mean of the exponentials",
            "exp of a mean is not the mean of exp: one token with a loss of 10 would count as 22026. First the mean of "
            "the losses, then the exponential.",
            lambda losses, token_counts: float(
                (losses.exp() * _real_places(losses, token_counts)).sum() / token_counts.sum()
            ),
        ),
        Mistake(
            "every text counts the same, however long",
            "This is the mean of the means of the texts: a token of a short text counts more than one of a long text. "
            "Weight by the number of tokens.",
            lambda losses, token_counts: float(_text_means(losses, token_counts).mean().exp()),
        ),
        Mistake(
            "the exponential is missing",
            "This is the mean loss in nats. The perplexity is its exponential.",
            lambda losses, token_counts: math.log(perplexity(losses, token_counts)),
        ),
        Mistake(
            "a power of 2",
            "Our losses are in nats (natural logarithm), so the base is e. 2 belongs to losses in bits.",
            lambda losses, token_counts: 2 ** math.log(perplexity(losses, token_counts)),
        ),
        Mistake(
            "the sum in place of the mean",
            "exp of the sum grows with the length of the text and soon beyond all numbers. Divide by the tokens first.",
            lambda losses, token_counts: float((losses * _real_places(losses, token_counts)).sum().exp()),
        ),
    ],
    large=[Ask((_losses(2, 400, 7), _counts(390, 260))), Ask((_losses(2, 5, 8) + 20, _counts(5, 2)))],
    hints=(
        (
            "Two texts, one of three tokens and one of a single token, in a table of two rows and four columns. "
            "Cross out the places that belong to no text. How many numbers are left, and does each of them count the "
            "same? Which comes first in the formula of section 2, the mean or the exponential?"
        ),
        (
            "Row 0: 1, 2, 3, then a 9 of the padding. Row 1: 4, then three 9s. The losses of the 4 tokens add up to "
            "10, their mean is 2.5, and the perplexity is $e^{2.5} \\approx 12.2$. (The mean of the two texts' means "
            "would be 3, which is wrong: the short text would count as much as the long one.)\n\n"
            "Which places are real? Compare the numbers of the places, `(n,)`, with `token_counts` as a column, `(b, "
            "1)`: that gives `(b, n)`, True or False. `losses[real]` picks the numbers where `real` is True."
        ),
        (
            "Mark the real places first:\n"
            "```python\n"
            "places = torch.arange(losses.shape[1])  # (n,)\n"
            "real = ...  # (b, n): True in the first token_counts[k] places of row k\n"
            "total = losses[real].sum()  # of the tokens only\n"
            "# divide by the number of all tokens, then take the exponential, once\n"
            "```\n"
            "`token_counts.unsqueeze(1)` is the column. A place number equal to the count is already beyond the "
            "text. `math.exp(...)` gives a plain number. Test: `torch.tensor([[1.0, 2, 3, 9], [4, 9, 9, 9]])` with "
            "counts 3 and 1 must give about 12.18."
        ),
    ),
)
