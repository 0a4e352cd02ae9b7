"""Exercise answer_log_probability of notebook 17."""

from __future__ import annotations

from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import fixed

from ._common import LARGE, batch, cornered, log_probabilities, long_text, one, places, several

exercise = Definition(minutes=15, difficulty=2, trains=True)


@exercise.reference
def answer_log_probability(logits: Tensor, tokens: Tensor, starts: Tensor, lengths: Tensor) -> Tensor:
    return (log_probabilities(logits, tokens) * places(tokens, starts, lengths)).sum(dim=1)


@exercise.stage("one answer", points=0.5, public=[batch([(3, 6)], 11), batch([(1, 2)], 12)])
def _(rng):
    """The probability of an answer is the product of those of its tokens, each after all before it: its logarithm is
    a sum.
    """
    return one(rng)


@exercise.stage(
    "one number for each text",
    points=0.5,
    public=[batch([(2, 5), (1, 4), (3, 6)], 13)],
    view="shape",
)
def _(rng):
    """A batch of b texts has b logarithms, `(b,)`."""
    return [batch([(2, 5)] * rng.randint(2, 4), rng.randrange(10**6))]


@exercise.stage(
    "prompts and answers of different lengths, and padding",
    points=2,
    public=[
        batch([(2, 8), (4, 5)], 14),
        batch([(3, 5), (1, 6), (2, 9)], 15, spare=2),
        batch([(3, 4), (1, 9), (5, 7)], 16, LARGE),
        *fixed(several, 1),
    ],
    decisive=True,
)
def _(rng):
    """Of each text only the tokens from start up to length - 1 count: sum along the row, with a mask for each row."""
    return several(rng)


@exercise.corners(
    "prompts and answers of different lengths, and padding",
    texts=(1, range(33, 40)),
    start=(1, range(34, 40), range(101, 110)),
    answer=(1, 2, range(65, 70)),
    spread=(1.0, 150.0),
    spare=(0, range(1, 4)),
)
def _(rng, texts, start, answer, spread, spare):
    return cornered(rng, texts, start, answer, spread, spare)


exercise.large += fixed(long_text, 1)


@exercise.mistake("the prompt is counted too")
def _(logits, tokens, starts, lengths):
    """The prompt is given: only tokens at the places from start on count."""
    return answer_log_probability(logits, tokens, starts.clamp(max=1), lengths)


@exercise.mistake("the padding is counted")
def _(logits, tokens, starts, lengths):
    """Behind place length - 1 nothing belongs to the answer."""
    return answer_log_probability(logits, tokens, starts, lengths * 0 + tokens.shape[1])


@exercise.mistake("the mean in place of the sum")
def _(logits, tokens, starts, lengths):
    """A product of probabilities is a sum of logarithms. The mean would be the same for long and short answers."""
    return answer_log_probability(logits, tokens, starts, lengths) / (lengths - starts)


@exercise.mistake("the probability in place of its logarithm")
def _(logits, tokens, starts, lengths):
    """Wanted is the logarithm: the probability of a long answer is too small for a number of 32 bits."""
    return answer_log_probability(logits, tokens, starts, lengths).exp()


@exercise.mistake("minus the logarithm")
def _(logits, tokens, starts, lengths):
    """This is no loss: the logarithm of a probability is at most 0."""
    return -answer_log_probability(logits, tokens, starts, lengths)


@exercise.mistake("logits in place of logarithms of probabilities")
def _(logits, tokens, starts, lengths):
    """Logits are not normalised: log_softmax makes logarithms of probabilities of them."""
    return (logits[:, :-1].gather(2, tokens[:, 1:, None])[..., 0] * places(tokens, starts, lengths)).sum(dim=1)


@exercise.mistake("the first token of the answer is left out")
def _(logits, tokens, starts, lengths):
    """The prompt's last place scores the first token of the answer."""
    return answer_log_probability(logits, tokens, starts + 1, lengths)


@exercise.mistake("the prompt's last token is counted")
def _(logits, tokens, starts, lengths):
    """The token at place start is the first one that counts."""
    return answer_log_probability(logits, tokens, (starts - 1).clamp(min=1), lengths)


@exercise.mistake("nothing is shifted")
def _(logits, tokens, starts, lengths):
    """The logits at place i score the token that comes *next*: logits[:, :-1] belong to tokens[:, 1:]."""
    logs = logits.log_softmax(dim=-1).gather(2, tokens[..., None])[..., 0][:, 1:]
    return (logs * places(tokens, starts, lengths)).sum(dim=1)


@exercise.mistake("the logarithm of a softmax")
def _(logits, tokens, starts, lengths):
    """Where a word is very improbable its share is 0 in 32 bits, and the logarithm minus infinity. `log_softmax` does
    both at once and never leaves the numbers.
    """
    shares = logits[:, :-1].softmax(dim=-1).gather(2, tokens[:, 1:, None])[..., 0]
    scored = places(tokens, starts, lengths)
    return shares.log().masked_fill(~scored, 0.0).sum(dim=1)


@exercise.mistake("one number for the whole batch")
def _(logits, tokens, starts, lengths):
    """Sum along each row, not over the batch: dim=1."""
    return answer_log_probability(logits, tokens, starts, lengths).sum()
