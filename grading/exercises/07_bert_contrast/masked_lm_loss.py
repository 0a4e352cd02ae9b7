"""Exercise masked_lm_loss of notebook 07."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw, both, seed_from
from helpers.data import IGNORE, MASK, PAD
from tutor.checking.answers import Ask

from ._common import SPECIALS, _model, _sentence


def masked_lm_loss(model: Any, tokens: Tensor, target: Tensor, lengths: Tensor) -> Tensor:
    return _loss(model(tokens, lengths), target)


def _loss(logits: Tensor, target: Tensor) -> Tensor:
    total = F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=IGNORE, reduction="sum")
    return total / (target != IGNORE).sum().clamp(min=1)


def _batch(lengths: list[int], chosen: list[list[int]], seed: int, spread: float = 0.3, spare: int = 0) -> Ask:
    """Returns a question on texts of these lengths; of each, these places are chosen: <mask>, another word, kept.

    With a large `spread` the logits are so large that their exponentials are 0 or infinite. There are `spare` columns
    more than the longest text needs.
    """
    tokens = torch.full((len(lengths), max(lengths) + spare), PAD)
    for row, length in zip(tokens, lengths, strict=True):
        seed += 1
        row[:length] = _sentence(length, seed)
    target = torch.full_like(tokens, IGNORE)
    for text, places in enumerate(chosen):
        for count, place in enumerate(places):
            target[text, place] = tokens[text, place]
            if count % 3 < 2:
                tokens[text, place] = MASK if count % 3 == 0 else SPECIALS + (int(tokens[text, place]) + 3) % 20
    return Ask((_model(seed, spread=spread), tokens, target, torch.tensor(lengths)))


LARGE_LOGITS = 12.0


def _draw_batch(low: int, high: int, texts: int, places: tuple[int, ...], spread: float = 0.3) -> Draw:
    def draw(rng: random.Random) -> list[Ask]:
        lengths = [rng.randint(low, high) for _ in range(texts)]
        chosen = [rng.sample(range(1, n - 1), c) for n, c in zip(lengths, places, strict=False)]
        return [_batch(lengths, chosen, seed_from(rng), spread)]

    return draw


_two_texts = _draw_batch(5, 9, 2, (2, 1))


def _padded_batches(rng: random.Random) -> list[Ask]:
    short, long = rng.randint(6, 8), rng.randint(14, 18)
    return [
        _batch([long, short], [[11], [1, 4, 2]], seed_from(rng)),
        _batch([short, long], [[2, 3, 4], [9]], seed_from(rng)),
        _batch([7, 12, *[rng.randint(5, 9) for _ in range(9)]], [[1, 2, 3, 4], [5], [2], [3]], seed_from(rng)),
        _batch([short, short], [[2, 3], [1]], seed_from(rng), spare=rng.randint(2, 5)),
        _batch([short], [[2, 3, 4]], seed_from(rng), spare=rng.randint(3, 6)),
    ]


def _nothing_chosen(lengths: list[int], seed: int) -> list[Ask]:
    """Returns batches in which nothing was chosen, and nothing in the last text only; the first one is trained too."""
    nothing = _batch(lengths, [[] for _ in lengths], seed)
    return [nothing, _batch(lengths, [[2, 1]], seed + 100), replace(nothing, take="learns")]


def _mean_of_means(model: Any, tokens: Tensor, target: Tensor, lengths: Tensor) -> Tensor:
    logits = model(tokens, lengths)
    rows = [_loss(one[None], goal[None]) for one, goal in zip(logits, target, strict=True) if (goal != IGNORE).any()]
    return torch.stack(rows).mean() if rows else logits.sum() * 0


def _scored_as(change: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    """Returns an answer that scores another target, made of tokens and target."""
    return lambda model, tokens, target, lengths: masked_lm_loss(model, tokens, change(tokens, target), lengths)


EXERCISE = Exercise(
    masked_lm_loss,
    [
        Stage(
            "one text, one chosen word",
            0.5,
            "By hand: softmax of the logits at the chosen place, minus the logarithm of the probability of the target.",
            [_batch([6], [[3]], 10), _batch([8], [[2]], 20)],
            both(_draw_batch(6, 10, 1, (1,)), _draw_batch(4, 4, 1, (1,))),
        ),
        Stage(
            "several chosen words, also some that are not <mask>",
            1,
            "The mean over all places where the target is not IGNORE, whatever stands in the input there. Logits may "
            "be "
            "large: F.cross_entropy takes care of that, log(softmax(...)) does not.",
            [_batch([9], [[2, 4, 5, 7]], 30), _batch([9], [[1, 4, 5, 6]], 36, LARGE_LOGITS)],
            both(_draw_batch(8, 10, 1, (4,)), _draw_batch(8, 10, 1, (4,), LARGE_LOGITS)),
            decisive=True,
        ),
        Stage(
            "texts of different lengths",
            1,
            "The model must not look at the padding: give it the lengths. And every chosen word counts the same, "
            "whichever text it is in.",
            [
                _batch([14, 6], [[11], [1, 4, 2]], 40),
                _batch([6, 11], [[1, 4, 2], [9]], 41),
                _batch([6, 6], [[1, 4], [2]], 43, spare=3),
                _batch([7], [[1, 4, 5]], 44, spare=4),
                _batch([5, 9, 6, 7, 5, 8, 6, 7, 5, 9], [[1, 2, 3], [5], [2], [3], [], [4], [], [1], [2, 3], [4]], 42),
            ],
            _padded_batches,
            decisive=True,
        ),
        Stage(
            "a batch in which nothing was chosen",
            1,
            "Then there is nothing to learn: the loss is 0, and so is each gradient after backward(). A mean over "
            "nothing is 0/0, not a number, and a new tensor knows no weights. Texts without a chosen word may also "
            "stand beside others.",
            _nothing_chosen([5, 4], 50),
            lambda rng: _nothing_chosen([rng.randint(4, 7), rng.randint(4, 6)], seed_from(rng)),
        ),
        Stage(
            "a number, `()`, for backward()",
            0.5,
            "A tensor without axes, the mean: not one loss for each place, and no Python number. It must still know "
            "the weights it came from: no .item(), .detach() or torch.no_grad() on the way.",
            [_batch([5, 4], [[2, 3], [1]], 60), replace(_batch([5, 4], [[2, 3], [1]], 60), take="learns")],
            lambda rng: [replace(ask, take=take) for ask in _two_texts(rng) for take in ("result", "learns")],
            view="shape",
        ),
    ],
    [
        Mistake(
            "the loss no longer knows the weights",
            "torch.no_grad(), .item() and .detach() cut a number from the weights it came from: backward() finds none.",
            lambda model, tokens, target, lengths: masked_lm_loss(model, tokens, target, lengths).detach(),
        ),
        Mistake(
            "every place is scored",
            "The model sees these words and need only copy them. Places with the target IGNORE do not count.",
            _scored_as(lambda tokens, target: torch.where(target == IGNORE, tokens, target)),
        ),
        Mistake(
            "the target is one place ahead, as in a causal model",
            "A masked model says which word stands *at* a place, not which comes next: nothing is shifted.",
            lambda model, tokens, target, lengths: _loss(model(tokens, lengths)[:, :-1], target[:, 1:]),
        ),
        Mistake(
            "only <mask> is scored",
            "Chosen words that were exchanged or left as they are count too: look at target, not at tokens.",
            _scored_as(lambda tokens, target: target.masked_fill(tokens != MASK, IGNORE)),
        ),
        Mistake(
            "the sum is divided by all places",
            "Divide by the number of chosen places: otherwise long texts and padding make the loss small.",
            lambda model, tokens, target, lengths: (
                _loss(model(tokens, lengths), target) * (target != IGNORE).sum() / target.numel()
            ),
        ),
        Mistake(
            "the padding is visible",
            "Nothing hides the padding from a model that looks to both sides: call model(tokens, lengths).",
            lambda model, tokens, target, lengths: _loss(model(tokens), target),
        ),
        Mistake(
            "the mean of the texts' means",
            "A word of a text with few chosen words would weigh more than others. Take one mean over all of them.",
            _mean_of_means,
        ),
        Mistake(
            "softmax before the cross-entropy",
            "F.cross_entropy takes logits and does the softmax itself; twice is too flat, and learns badly.",
            lambda model, tokens, target, lengths: _loss(model(tokens, lengths).softmax(dim=-1), target),
        ),
        Mistake(
            "the sum in place of the mean",
            "The loss would grow with the batch, and so would the steps: divide by the number of chosen places.",
            lambda model, tokens, target, lengths: (
                _loss(model(tokens, lengths), target) * (target != IGNORE).sum().clamp(min=1)
            ),
        ),
        Mistake(
            "the sum is divided by the number of texts",
            "Two texts with one chosen word each weigh as much as two with ten: divide by the number of chosen places.",
            lambda model, tokens, target, lengths: (
                _loss(model(tokens, lengths), target) * (target != IGNORE).sum().clamp(min=1) / len(target)
            ),
        ),
        Mistake(
            "the loss of a batch without chosen words does not know the weights",
            "backward() stops with an error there: a new tensor such as torch.tensor(0.0) was made from nothing. Take "
            "0 times something that the model gave, or divide the sum by at least 1.",
            lambda model, tokens, target, lengths: (
                masked_lm_loss(model, tokens, target, lengths) if bool((target != IGNORE).any()) else torch.tensor(0.0)
            ),
        ),
        Mistake(
            "1 is added to the number of chosen places",
            "Where one word is chosen, half of its loss is lost. Divide by at least 1: clamp(min=1), or max(1, ...).",
            lambda model, tokens, target, lengths: (
                F.cross_entropy(model(tokens, lengths).flatten(0, 1), target.flatten(), reduction="sum")
                / ((target != IGNORE).sum() + 1)
            ),
        ),
        Mistake(
            "bits in place of nats",
            "The logarithm is the natural one, in nats: torch.log, and not torch.log2.",
            lambda model, tokens, target, lengths: masked_lm_loss(model, tokens, target, lengths) / math.log(2),
        ),
        Mistake(
            "not a number where nothing was chosen",
            "F.cross_entropy takes a mean over no places: 0/0. One such batch makes all weights NaN.",
            lambda model, tokens, target, lengths: F.cross_entropy(
                model(tokens, lengths).flatten(0, 1), target.flatten(), ignore_index=IGNORE
            ),
        ),
    ],
    trains=True,
    large=[_batch([64], [[3, 40, 63]], 9)],
    hints=(
        "Two texts: in the long one two places were chosen, in the short one a single place. How many logarithms "
        "do you add up, and by which number do you divide, if each chosen place is to count the same? Now nothing "
        "was chosen in either text: what is your sum, and what are you dividing by? And what else, besides the "
        "tokens, must the model be told so that it does not read the padding?",
        "The right words have the probabilities 1/2 and 1/4 in one text and 1/16 in the other. The loss is "
        "$\\frac{1}{3}(\\ln 2 + \\ln 4 + \\ln 16) = \\frac{7}{3} \\ln 2 \\approx 1.617$. (The mean of the two "
        "texts' means would be 1.906: there the third word weighs as much as the other two together.) "
        "`nn.functional.cross_entropy` takes *logits* `(places, V)` and targets `(places,)`, and leaves out the "
        'places with IGNORE. With `reduction="sum"` it adds up only: over no places that is a plain 0, which '
        "still knows the weights it came from; a mean is $0/0$.",
        "Begin with the logits of all places; the lengths hide the padding:\n"
        "```python\n"
        "logits = model(tokens, lengths)  # (b, n, V)\n"
        "```\n\n"
        "1. Put all places of all texts in one row: `logits.flatten(0, 1)` is `(b * n, V)`, `target.flatten()` is "
        "`(b * n,)`. Nothing is shifted.\n"
        "2. The *sum* of the losses over the places that are not IGNORE: `()`.\n"
        "3. The number of these places: count in `target`, not the `<mask>` in `tokens`.\n"
        "4. Divide. The divisor is that number, except where it is 0: `# ...` (adding 1 everywhere would spoil the "
        "other batches; what does `clamp` do?)\n\n"
        "No `.item()` and no new `torch.tensor(0.0)` on the way: `backward()` must find the weights.",
    ),
)
