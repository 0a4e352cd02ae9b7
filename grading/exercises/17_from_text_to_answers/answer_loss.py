"""Exercise answer_loss of notebook 17."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from grading.definitions.definition import Definition
from grading.exercises.draws import fixed

from ._common import (
    add_far_apart,
    add_mistakes,
    batch,
    cornered,
    log_probabilities,
    long_text,
    one,
    places,
    several,
    without_pad,
)

exercise = Definition(minutes=20, difficulty=2, trains=True)


def _mean(logs: Tensor, scored: Tensor) -> Tensor:
    return -(logs * scored).sum() / scored.sum()


@exercise.reference
def answer_loss(logits: Tensor, tokens: Tensor, starts: Tensor, lengths: Tensor) -> Tensor:
    return _mean(log_probabilities(logits, tokens), places(tokens, starts, lengths))


@exercise.stage("one answer", points=0.5, public=[without_pad([(3, 6)], 1), without_pad([(1, 2)], 2)])
def _(rng):
    """By hand: the logits at place i score the token at place i + 1. Take the mean of minus the logarithms of the
    probabilities of the answer's tokens.
    """
    return one(rng)


@exercise.stage(
    "the prompt is not scored",
    points=1.25,
    public=[without_pad([(4, 7), (4, 7)], 3), without_pad([(5, 6)], 4)],
    decisive=True,
)
def _(rng):
    """Only tokens of the answer count: those at the places from start up to length - 1. The first of them is scored by
    the logits of the prompt's last place.
    """
    start = rng.randint(3, 6)
    spans = [(start, start + 3)] * 2, [(start, start + 1)]
    return [without_pad(texts, rng.randrange(10**6)) for texts in spans]


@exercise.stage(
    "answers of different lengths, and padding",
    points=1.25,
    public=[
        batch([(2, 8), (4, 5)], 5),
        batch([(3, 5), (1, 6), (2, 9)], 6, spare=2),
        batch([(3, 4), (1, 9), (5, 7)], 7),
        *fixed(several, 0),
    ],
    decisive=True,
)
def _(rng):
    """Where a text ends, lengths says: behind it nothing counts. And every token of an answer weighs the same,
    whichever text it is in: one sum over all, divided by the number of all.
    """
    return several(rng)


@exercise.corners(
    "answers of different lengths, and padding",
    texts=(1, range(33, 40)),
    start=(1, range(34, 40), range(101, 110)),
    answer=(1, 2, range(65, 70)),
    spare=(0, range(1, 4)),
)
def _(rng, texts, start, answer, spare):
    return cornered(rng, texts, start, answer, spare)


add_far_apart(exercise, 2)


@exercise.stage("a number, `()`, for backward()", points=0.5, public=[batch([(2, 5), (1, 4)], 8)], view="shape")
def _(rng):
    """A tensor without axes: the mean, and not one loss for each text or token."""
    return [batch([(2, 5), (rng.randint(1, 3), 4)], rng.randrange(10**6))]


exercise.large += fixed(long_text, 0)
add_mistakes(exercise, _mean, "scored")


@exercise.mistake("tokens with the number of <pad> are left out")
def _(logits, tokens, starts, lengths):
    """An answer may hold any number. Where a text ends, only lengths says."""
    return _mean(log_probabilities(logits, tokens), places(tokens, starts, lengths) & (tokens[:, 1:] != 0))


@exercise.mistake("the first token of the answer is left out, and of one that is alone the loss is 0")
def _(logits, tokens, starts, lengths):
    """The prompt's last place scores the first token of the answer: it counts, although its logits stand in the prompt.
    So an answer of one token has a loss, too.
    """
    scored = places(tokens, starts + 1, lengths)
    return -(log_probabilities(logits, tokens) * scored).sum() / scored.sum().clamp(min=1)


@exercise.mistake("the mean of the texts' means")
def _(logits, tokens, starts, lengths):
    """A token of a short answer would weigh more than one of a long answer. Take one mean over all of them."""
    scored = places(tokens, starts, lengths)
    return (-(log_probabilities(logits, tokens) * scored).sum(1) / scored.sum(1)).mean()


@exercise.mistake("the sum in place of the mean")
def _(logits, tokens, starts, lengths):
    """The loss would grow with the batch, and so would the steps: divide by the number of tokens that count."""
    return -(log_probabilities(logits, tokens) * places(tokens, starts, lengths)).sum()


@exercise.mistake("divided by all places")
def _(logits, tokens, starts, lengths):
    """Long prompts would make the loss small. Divide by the number of tokens that count."""
    return -(log_probabilities(logits, tokens) * places(tokens, starts, lengths)).mean()


@exercise.mistake("divided by the number of texts")
def _(logits, tokens, starts, lengths):
    """A batch of long answers would weigh more. Divide by the number of tokens that count."""
    return -(log_probabilities(logits, tokens) * places(tokens, starts, lengths)).sum() / len(tokens)


@exercise.mistake("softmax before the cross-entropy")
def _(logits, tokens, starts, lengths):
    """F.cross_entropy takes logits and does the softmax itself; twice is too flat, and learns badly."""
    return answer_loss(logits.softmax(dim=-1), tokens, starts, lengths)


@exercise.mistake("the sign is missing")
def _(logits, tokens, starts, lengths):
    """Logarithms of probabilities are negative; a loss is what shall become small. Take minus the mean."""
    return -answer_loss(logits, tokens, starts, lengths)


@exercise.mistake("bits in place of nats")
def _(logits, tokens, starts, lengths):
    """The logarithm is the natural one, in nats: torch.log, and not torch.log2."""
    return answer_loss(logits, tokens, starts, lengths) / torch.log(torch.tensor(2.0))


@exercise.mistake("the mean of the probabilities")
def _(logits, tokens, starts, lengths):
    """The loss is the mean of the logarithms, not the logarithm of the mean."""
    scored = places(tokens, starts, lengths)
    return -((log_probabilities(logits, tokens).exp() * scored).sum() / scored.sum()).log()


@exercise.mistake("one length for all texts")
def _(logits, tokens, starts, lengths):
    """Each text has a start and a length of its own: compare the places with starts[:, None] and lengths[:, None]."""
    first = int(starts[0])
    return F.cross_entropy(logits[:, first - 1 : -1].flatten(0, 1), tokens[:, first:].flatten())
