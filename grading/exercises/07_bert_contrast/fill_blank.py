"""Exercise fill_blank of notebook 07."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from torch import Tensor

from grading.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw, seed_from
from helpers.checking.answers import Ask
from helpers.data import MASK

from ._common import SPECIALS, _model, _sentence


def fill_blank(model: Any, tokens: Tensor, position: int) -> int:
    return _filled(model, tokens, position)


def _filled(
    model: Any, tokens: Tensor, position: int, row: int | None = None, until: int | None = None, hide: bool = True,
    lowest: int = SPECIALS,
) -> int:  # fmt: skip
    read = tokens.clone()
    if hide:
        read[position] = MASK
    logits = model(read[None, :until])[0, position if row is None else row]
    return int(logits[lowest:].argmax()) + lowest


def _blank(n: int, position: int, seed: int) -> Ask:
    return Ask((_model(seed), _sentence(n, seed), position))


# Seeds of models with five words for which <mask> is the best of all, or <oov>, or one of <pad>, <sos> and <eos> while
# every word has a logit below 0.
FEW = SPECIALS + 5
BEST_IS_MASK = (0, 8, 49, 68, 83, 89, 107, 115, 125)
BEST_IS_OOV = (2, 11, 22, 36, 46, 60, 75, 78, 99)
BELOW_ZERO = (384, 483, 680, 1147, 1174, 1283, 1286, 1316, 1510, 1673)


def _few_words(seed: int, where: str) -> Ask:
    n = 7 + seed % 4
    position = {"middle": 2 + seed % 3, "first": 1, "last": n - 2}[where]
    return Ask((_model(seed, vocab_size=FEW), _sentence(n, seed, FEW), position))


def _public_few(where: str, number: int) -> list[Ask]:
    return [_few_words(seeds[number], where) for seeds in (BEST_IS_MASK, BEST_IS_OOV, BELOW_ZERO)]


def _draw_blanks(low: int, high: int, where: str, place: Callable[[random.Random, int], int]) -> Draw:
    def draw(rng: random.Random) -> list[Ask]:
        sizes = [rng.randint(low, high) for _ in range(5)]
        few = [_few_words(rng.choice(seeds), where) for seeds in (BEST_IS_MASK, BEST_IS_OOV, BELOW_ZERO)]
        return [_blank(n, place(rng, n), seed_from(rng)) for n in sizes] + few

    return draw


def _special_at_zero(model: Any, tokens: Tensor, position: int) -> int:
    read = tokens.clone()
    read[position] = MASK
    logits = model(read[None])[0, position].detach().clone()
    logits[:SPECIALS] = 0
    return int(logits.argmax())


def _blank_in_place(model: Any, tokens: Tensor, position: int) -> int:
    tokens[position] = MASK
    return fill_blank(model, tokens, position)


EXERCISE = Exercise(
    fill_blank,
    [
        Stage(
            "a word in the middle of a sentence",
            1.5,
            "Put <mask> at the place, let the model read the whole sentence, and read the logits at this very place. "
            "The best *word* is wanted, a number above MASK, even when all words have a logit below 0.",
            [*(_blank(8, 3, seed) for seed in (1, 2, 3, 4, 5)), *_public_few("middle", 1)],
            _draw_blanks(7, 12, "middle", lambda rng, n: rng.randint(2, n - 4)),
        ),
        Stage(
            "the first word: all there is stands on the right",
            1,
            "Nothing but <sos> stands before it. Do you use what follows?",
            [*(_blank(7, 1, seed) for seed in (11, 12, 13, 14, 15)), *_public_few("first", 2)],
            _draw_blanks(6, 10, "first", lambda rng, n: 1),
        ),
        Stage(
            "the last word",
            0.5,
            "Between the last word and the end of the sentence stands <eos>: the model reads it too.",
            [*(_blank(6, 4, seed) for seed in (21, 22, 23, 24)), *_public_few("last", 3)],
            _draw_blanks(6, 9, "last", lambda rng, n: n - 2),
        ),
        Stage(
            "the sentence is left as it was",
            0.5,
            "Write <mask> into a copy: tokens.clone().",
            [_blank(6, 2, 31)],
            lambda rng: [_blank(rng.randint(6, 9), 2, seed_from(rng)) for _ in range(3)],
            measure="inputs kept",
        ),
    ],
    [
        Mistake(
            "the left side only",
            "The sentence is cut at the blank, as for a causal model. This model may read what follows: give it all.",
            lambda model, tokens, position: _filled(model, tokens, position, until=position + 1),
        ),
        Mistake(
            "the blank is not hidden",
            "The model sees the word that stands there. Put MASK at the place first, whatever it holds.",
            lambda model, tokens, position: _filled(model, tokens, position, hide=False),
        ),
        Mistake(
            "the place before the blank is read",
            "That is the habit of a causal model, whose place i - 1 says what comes at i. A masked model answers at "
            "the place itself.",
            lambda model, tokens, position: _filled(model, tokens, position, row=position - 1),
        ),
        Mistake(
            "the place after the blank is read",
            "A masked model answers at the place itself: logits[0, position].",
            lambda model, tokens, position: _filled(model, tokens, position, row=position + 1),
        ),
        Mistake(
            "the logits of special tokens are set to 0",
            "0 is not the lowest logit: when all words lie below, a special token wins. Cut them off, or set them to "
            "minus infinity.",
            _special_at_zero,
        ),
        Mistake(
            "<mask> is a possible answer",
            "The words begin at MASK + 1.",
            lambda model, tokens, position: _filled(model, tokens, position, lowest=MASK),
        ),
        Mistake(
            "a special token is a possible answer",
            "<pad> or <eos> is no word: take the best of the numbers above MASK.",
            lambda model, tokens, position: _filled(model, tokens, position, lowest=0),
        ),
        Mistake(
            "one place beside: the special tokens were cut off and not counted",
            "After logits[MASK + 1:] the first word has number 0: add MASK + 1 to what argmax gives.",
            lambda model, tokens, position: _filled(model, tokens, position) - SPECIALS,
        ),
        Mistake(
            "the last place is read",
            "logits[0, -1] is what the model says at <eos>. The blank is at `position`.",
            lambda model, tokens, position: _filled(model, tokens, position, row=-1),
        ),
        Mistake(
            "the sentence is changed in place",
            "The caller's sentence now has a <mask> in it. Work on a copy.",
            _blank_in_place,
        ),
    ],
)
