"""What several exercises of notebook 17 need: batches of texts, each a prompt and an answer, with logits."""

from __future__ import annotations

import itertools
import math
import random

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import fixed, seed_from, until
from helpers.vocabulary import PAD
from tutor.checking.answers import Question

V = 11  # words of the drawn vocabularies
LARGE = 800.0  # logits so far apart that the exponentials of most are 0
ZERO = -750.0  # the exponential of this is 0 in 64 bits too
FAR_APART = "logits that are hundreds or thousands apart"


def positions(tokens: Tensor, starts: Tensor, lengths: Tensor) -> Tensor:
    """Returns where the next token belongs to the answer, `(b, n - 1)`."""
    following = torch.arange(1, tokens.shape[1], device=tokens.device)
    return (following >= starts[:, None]) & (following < lengths[:, None])


def log_probabilities(logits: Tensor, tokens: Tensor) -> Tensor:
    """Returns the logarithm of the probability of each token but the first, `(b, n - 1)`."""
    return logits[:, :-1].log_softmax(dim=-1).gather(2, tokens[:, 1:, None])[..., 0]


def batch(
    spans: list[tuple[int, int]], seed: int, spread: float = 1.0, spare: int = 0, words: int = V, first: int = PAD
) -> Question:
    """Returns a question on texts whose answers span `(start, length)`, with `spare` columns of padding for all.

    Logits are drawn; what they say of the padding, and of the positions before the answer, is wild, so that whoever
    counts it is seen. Tokens are numbers from `first` on. Where that of `<pad>` is among them, only the lengths say
    where a text ends.
    """
    generator = torch.Generator().manual_seed(seed)
    size = max(length for _, length in spans) + spare
    tokens = torch.full((len(spans), size), PAD)
    for row, (_, length) in zip(tokens, spans, strict=True):
        row[:length] = torch.randint(first, words, (length,), generator=generator)
    logits = spread * torch.randn(len(spans), size, words, generator=generator)
    starts, lengths = (torch.tensor(numbers) for numbers in zip(*spans, strict=True))
    return Question((logits, tokens, starts, lengths))


def without_pad(spans: list[tuple[int, int]], seed: int, spread: float = 1.0) -> Question:
    """Returns a question in which no token has the number of `<pad>`: what else is wrong shows, and nothing more."""
    return batch(spans, seed, spread, first=PAD + 1)


def given(probabilities: list[float], start: int, length: int) -> Question:
    """Returns a question on one text of whose tokens, from the second on, the model gives these probabilities.

    Neighbouring tokens differ, and the other words of the vocabulary share the rest equally.
    """
    tokens = torch.tensor([1 + i % 2 if i < length else PAD for i in range(len(probabilities) + 1)])
    logits = torch.zeros(len(tokens), 4)
    for row, token, probability in zip(logits, tokens[1:], probabilities, strict=False):
        row[:] = math.log((1 - probability) / 3)
        row[token] = math.log(probability)
    return Question((logits[None], tokens[None], torch.tensor([start]), torch.tensor([length])))


def draw_spans(rng: random.Random, texts: int, low: int = 2, high: int = 7) -> list[tuple[int, int]]:
    """Returns spans of answers whose lengths differ, behind prompts of different lengths."""
    lengths = rng.sample(range(low, high + texts), texts)
    return [(start, start + length) for start, length in zip(rng.choices(range(1, 6), k=texts), lengths, strict=True)]


def one(rng: random.Random) -> list[Question]:
    """Draws one text without padding, and one whose answer is a single token behind `<sos>`."""
    start = rng.randint(2, 5)
    return [without_pad([(start, start + rng.randint(2, 5))], seed_from(rng)), without_pad([(1, 2)], seed_from(rng))]


def several(rng: random.Random) -> list[Question]:
    """Draws batches whose prompts and answers differ in length."""
    return [
        batch(draw_spans(rng, 3), seed_from(rng)),
        batch(draw_spans(rng, 4), seed_from(rng), spare=rng.randint(1, 3)),
        batch([(3, 4), (1, 9), (5, 7)], seed_from(rng)),
    ]


def _is_lost(question: Question) -> bool:
    """Says whether each answer has a token whose share is 0, also to one who computes in 64 bits."""
    logits, tokens, starts, lengths = question.inputs
    logs = log_probabilities(logits, tokens).masked_fill(~positions(tokens, starts, lengths), 0.0)
    return bool((logs < ZERO).any(dim=1).all())


def _far(spans: list[tuple[int, int]], seed: int) -> Question:
    return until(itertools.count(seed), lambda seed: without_pad(spans, seed, LARGE), _is_lost)


def far_apart(rng: random.Random) -> list[Question]:
    """Draws one text, and two with the same positions, whose logits lie far apart: nothing else is asked of them."""
    return [_far([(2, 8)], seed_from(rng)), _far([(3, 6), (3, 6)], seed_from(rng))]


def long_text(rng: random.Random) -> list[Question]:
    """Draws a text beyond any table of a few hundred positions."""
    start = rng.randint(130, 180)
    return [batch([(start, start + rng.randint(150, 180)), (2, 9)], seed_from(rng), words=3)]


def cornered(rng: random.Random, texts: int, start: int, answer: int, spare: int) -> Question | None:
    """Returns a question on `texts` texts with this start and length of the answer; not many that are long, too.

    Logits lie so close together that the probability of the longest answer is still a number of 32 bits.
    """
    if texts > 2 and start + answer > 80:
        return None
    others = [(rng.randint(1, 5), rng.randint(6, 9)) for _ in range(texts - 1)]
    return batch([(start, start + answer), *others], seed_from(rng), 0.5, spare, words=2)


def add_far_apart(exercise: Definition, seed: int) -> None:
    """Adds the stage on logits that are far apart, where the logarithm of a softmax is lost, and its corners."""

    @exercise.stage(FAR_APART, points=0.5, public=fixed(far_apart, seed))
    def _(rng: random.Random) -> list[Question]:
        """A share that softmax gives may be 0, in 64 bits as in 32, and so may a product of shares: the logarithm is
        minus infinity, or that of whatever was added against it. `log_softmax` and `F.cross_entropy` go from logits to
        logarithms at once.
        """
        return far_apart(rng)

    @exercise.corners(FAR_APART, start=(1, range(4, 9)), answer=(1, 2))
    def _(rng: random.Random, start: int, answer: int) -> Question:
        return _far([(start, start + answer)], seed_from(rng))
