"""Exercise fill_blank of notebook 07."""

from __future__ import annotations

import random
from typing import Any

from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, fixed, seed_from
from helpers.vocabulary import (
    MASK,
    OOV,  # noqa: F401 - known mistakes use it
    PAD,  # noqa: F401 - known mistakes use it
)
from tutor.checking.answers import Question
from tutor.checking.building import build

from ._common import SPECIALS, _model, _sentence

exercise = Definition(minutes=15, difficulty=2)


@exercise.reference
def fill_blank(model: Any, tokens: Tensor, position: int) -> int:
    return _filled(model, tokens, position)


def _filled(
    model: Any, tokens: Tensor, position: int, row: int | None = None, until: int | None = None, hide: bool = True,
    lowest: int = SPECIALS, sign: int = MASK,
) -> int:  # fmt: skip
    read = tokens.clone()
    if hide:
        read[position] = sign
    logits = model(read[None, :until])[0, position if row is None else row]
    return int(logits[lowest:].argmax()) + lowest


def _blank(n: int, position: int, seed: int) -> Question:
    return Question((_model(seed), _sentence(n, seed), position))


# Length, position and seed of sentences in which the best word is another one to the left side alone, without <eos> or
# without <sos>, in the rows beside and the last row, and while the word is visible.
SENTENCES = {
    "middle": (
        (11, 6, 100), (12, 3, 113), (10, 4, 117), (7, 2, 228), (11, 6, 250), (11, 6, 274), (9, 2, 416), (7, 2, 444),
        (11, 6, 454), (10, 5, 543), (9, 2, 656), (12, 2, 665), (7, 2, 678), (11, 6, 694),
    ),
    "first": (
        (6, 1, 115), (10, 1, 124), (7, 1, 126), (7, 1, 131), (9, 1, 138), (7, 1, 156), (9, 1, 158), (6, 1, 165),
        (6, 1, 245), (6, 1, 285), (7, 1, 311), (6, 1, 340), (6, 1, 385), (8, 1, 467),
    ),
    "last": (
        (6, 4, 112), (7, 5, 117), (6, 4, 124), (8, 6, 154), (6, 4, 168), (9, 7, 183), (9, 7, 187), (6, 4, 188),
        (6, 4, 196), (9, 7, 211), (6, 4, 228), (6, 4, 252), (9, 7, 267), (8, 6, 302),
    ),
}  # fmt: skip
# Sentences with other blanks beside the position, which are not to be filled: the best word is another one where they
# are, where <pad> stands for them, and, except at the first word, in the row of an earlier <mask>.
OTHER_BLANKS = {
    "middle": (
        (8, 3, 121), (11, 4, 250), (11, 2, 316), (8, 3, 409), (7, 4, 414), (10, 3, 429), (8, 4, 470), (9, 3, 472),
        (11, 5, 494), (8, 4, 495), (8, 4, 512), (11, 5, 524), (11, 5, 535), (11, 5, 544),
    ),
    "first": (
        (6, 1, 165), (6, 1, 285), (7, 1, 455), (7, 1, 465), (9, 1, 465), (7, 1, 469), (9, 1, 469), (9, 1, 472),
        (7, 1, 476), (9, 1, 476), (9, 1, 484), (9, 1, 486), (7, 1, 487), (7, 1, 492),
    ),
    "last": (
        (6, 4, 164), (7, 5, 197), (8, 6, 198), (7, 5, 233), (8, 6, 250), (6, 4, 256), (8, 6, 270), (9, 7, 466),
        (7, 5, 512), (7, 5, 534), (9, 7, 549), (9, 7, 554), (9, 7, 567), (9, 7, 594),
    ),
}  # fmt: skip
# Sentences in which the word at the position stands once more: the best word is another one where that is hidden too.
DOUBLED = {
    "middle": (
        (7, 4, 102), (8, 3, 109), (12, 3, 113), (8, 5, 115), (12, 5, 119), (7, 2, 120), (9, 4, 122), (12, 5, 131),
        (7, 4, 138), (11, 4, 142), (11, 4, 154), (9, 4, 158),
    ),
    "first": (
        (11, 1, 101), (10, 1, 106), (7, 1, 109), (6, 1, 120), (10, 1, 124), (7, 1, 127), (10, 1, 130), (10, 1, 136),
        (6, 1, 138), (11, 1, 149), (10, 1, 154), (11, 1, 155),
    ),
    "last": (
        (6, 4, 100), (8, 6, 110), (6, 4, 112), (9, 7, 115), (7, 5, 117), (7, 5, 125), (8, 6, 130), (7, 5, 141),
        (8, 6, 142), (6, 4, 144), (7, 5, 149), (6, 4, 156),
    ),
}  # fmt: skip
# Seeds of models with five words for which <mask> is the best of all, or <oov>, or one of <pad>, <sos> and <eos> while
# every word has a logit below 0; or the first word is the best word, or the last one; or no word is among the best
# five.
FEW = SPECIALS + 5
SEEDS = (
    (0, 8, 49, 68, 83, 89, 107, 115, 125),
    (2, 11, 22, 36, 46, 60, 75, 78, 99),
    (384, 483, 680, 1147, 1174, 1283, 1286, 1316, 1510, 1673),
    (9, 28, 29, 39, 41, 54, 57, 62, 63),
    (19, 20, 22, 32, 36, 37, 43, 55, 58),
    (680, 1043, 1943, 2191, 2253, 3499),
)


def _few_words(seed: int, where: str) -> Question:
    n = 7 + seed % 4
    position = {"middle": 2 + seed % 3, "first": 1, "last": n - 2}[where]
    return Question((_model(seed, vocab_size=FEW), _sentence(n, seed, FEW), position))


def _already_right(ask: Question) -> Question:
    """Returns the question with the best word standing at the position: it may be the answer."""
    model, tokens, position = ask.inputs
    standing = tokens.clone()
    standing[position] = fill_blank(build(model), tokens, position)
    return Question((model, standing, position))


def _other_blanks(ask: Question) -> Question:
    """Returns the question with <mask> at a position before, where there is one, and at one behind."""
    model, tokens, position = ask.inputs
    masked = tokens.clone()
    masked[[beside for beside in (position - 1, position + 1) if 0 < beside < len(tokens) - 1]] = MASK
    return Question((model, masked, position))


def _doubled(ask: Question) -> Question:
    """Returns the question with the word of the position at another one, too, two further on or two before."""
    model, tokens, position = ask.inputs
    doubled = tokens.clone()
    doubled[position + 2 if position + 2 < len(tokens) - 1 else position - 2] = tokens[position]
    return Question((model, doubled, position))


def _draw_blanks(where: str, kinds: int = len(SEEDS)) -> Draw:
    """Returns what draws sentences, and this many kinds of those with few words; the public ones hold all kinds."""

    def draw(rng: random.Random) -> list[Question]:
        asks = [_blank(*rng.choice(SENTENCES[where]))]
        asks += [_already_right(asks[0]), _other_blanks(_blank(*rng.choice(OTHER_BLANKS[where])))]
        asks += [_doubled(_blank(*rng.choice(DOUBLED[where])))]
        asks += [_few_words(rng.choice(seeds), where) for seeds in rng.sample(SEEDS, kinds)]
        return rng.sample(asks, len(asks))

    return draw


@exercise.stage("a word in the middle of a sentence", points=1.5, seed=1, decisive=True)
def _(rng: random.Random) -> list[Question]:
    """Put <mask> at the position (others may hold one as well), let the model read the whole sentence, and read the
    logits at this very position. The best *word* is wanted, a number above MASK, even when all words have a logit
    below 0.
    """
    return _draw_blanks("middle")(rng)


@exercise.stage("the first word: all there is stands on the right", points=1, public=fixed(_draw_blanks("first"), 2))
def _(rng: random.Random) -> list[Question]:
    """Nothing but <sos> stands before it: the model must read what follows. Of the logits at the position take the best
    word, any of MASK + 1 to V - 1.
    """
    return _draw_blanks("first", 2)(rng)


@exercise.stage("the last word", points=0.5, public=fixed(_draw_blanks("last"), 3))
def _(rng: random.Random) -> list[Question]:
    """Between the last word and the end of the sentence stands <eos>: the model reads it too. Of the logits at the
    position take the best word, any of MASK + 1 to V - 1.
    """
    return _draw_blanks("last", 2)(rng)


@exercise.stage("the sentence is left as it was", points=0.5, public=[_blank(6, 2, 31)], measure="inputs kept")
def _(rng: random.Random) -> list[Question]:
    """Write <mask> into a copy: tokens.clone()."""
    return [_blank(rng.randint(6, 9), 2, seed_from(rng))]


def _corner(rng: random.Random, n: int, position: str) -> Question:
    return _blank(n, {"first": 1, "middle": n // 2, "last": n - 2}[position], seed_from(rng))


exercise.corners("a word in the middle of a sentence", n=(5, range(33, 40), 64), position=("middle",))(_corner)
exercise.corners("the first word: all there is stands on the right", n=(3, range(33, 40), 64), position=("first",))(
    _corner
)
exercise.corners("the last word", n=(4, range(33, 40), 64), position=("last",))(_corner)
