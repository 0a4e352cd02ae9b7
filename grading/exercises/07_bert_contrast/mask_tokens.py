"""Exercise mask_tokens of notebook 07."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import seed_from
from helpers.batches import IGNORE
from helpers.vocabulary import EOS, MASK, OOV, PAD, SOS
from tutor.checking.answers import Question
from tutor.checking.plain import Generator

from ._common import SPECIALS

Pair = tuple[Tensor, Tensor]


exercise = Definition(minutes=35, difficulty=3)


@exercise.reference
def mask_tokens(tokens: Tensor, vocab_size: int, generator: torch.Generator, share: float = 0.15) -> Pair:
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    target = tokens.masked_fill(~chosen, IGNORE)
    draw = torch.rand(tokens.shape, generator=generator)
    words = torch.randint(MASK + 1, vocab_size, tokens.shape, generator=generator)
    read = tokens.masked_fill(chosen & (draw < 0.8), MASK)
    return torch.where(chosen & (draw >= 0.9), words, read), target


# The seed draws what the text supposes: positions 2, 3 and 5 are chosen; one is hidden, one becomes 21, one stays.
BY_HAND = Question((torch.tensor([[SOS, 17, 8, 30, 12, 9, EOS, PAD]]), 32, Generator(43_897)), {"share": 0.5})
exercise.by_hand(BY_HAND, part=lambda pair: pair[1][0], tolerance=0.0)  # the target


def _texts(rows: int, width: int, words: int, seed: int, shortest: float = 0.9) -> Tensor:
    """Returns a batch with every special token: <sos>, words, a few <oov> and <mask>, <eos>, and padding.

    The shortest text has this share of the width: where it is small, much of the batch is padding.
    """
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(SPECIALS, SPECIALS + words, (rows, width), generator=generator)
    strange = torch.rand(rows, width, generator=generator)
    tokens[strange < 0.06] = MASK
    tokens[strange < 0.03] = OOV
    tokens[0, 1], tokens[0, 2] = MASK, OOV  # in every batch, however small
    lengths = torch.randint(int(shortest * width), width + 1, (rows,), generator=generator)
    lengths[0] = width
    positions = torch.arange(width)
    tokens[positions == lengths.unsqueeze(1) - 1] = EOS
    tokens[positions >= lengths.unsqueeze(1)] = PAD
    tokens[:, 0] = SOS
    return tokens


# Large batches take long where an answer goes from word to word: those are public, and not all of them are drawn too.
# Texts, width, words in them. Of ten words each is drawn, so that not one can be left out unseen; of two words it is
# seen in the shares whether a third, <mask>, is drawn with them, and whether the word that stood there is.
LARGE, TEN_WORDS, TWO_WORDS, SMALL, ONE_TEXT = (64, 80, 900), (96, 80, 10), (230, 80, 2), (6, 24, 40), (1, 48, 40)
PADDED, FULL, SEVERAL = (100, 80, 900, 0.25), (140, 80, 900), (16, 20, 40)
SHARES = (0.3, 0.4, 0.6, 0.7)


def _hide(
    of: str, size: tuple[Any, ...], seed: int, share: float | None = None, unseen: int = 0, **settings: Any
) -> Question:
    """Returns a question about a batch of this size, as for `_texts`; of 4,500 words or more where shares are measured.

    The vocabulary holds `unseen` words more than the texts.
    """
    extra = {"of": of, "specials": SPECIALS} if of else {}
    keywords = {} if share is None else {"share": share}
    rows, width, words, *shortest = size
    texts = _texts(rows, width, words, seed, *shortest)
    inputs = (texts, SPECIALS + words + unseen, Generator(seed + 1_000_003))  # not the numbers that made the texts
    return Question(inputs, keywords, extra=extra, **settings)


def _targets(seed: int, share: float) -> list[Question]:
    sizes = ((SMALL, share), (ONE_TEXT, share), (SMALL, 1.0))
    return [_hide("targets", size, seed + n, wanted) for n, (size, wanted) in enumerate(sizes)]


@exercise.stage(
    "the target: the hidden words, and nothing else",
    points=1.5,
    public=_targets(1, 0.5),
    measure="masking",
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Where a word is chosen, the target is the word that stood there; everywhere else it is IGNORE, and the input is
    as it was.
    """
    return _targets(seed_from(rng), rng.choice(SHARES))


def _choices(seed: int, share: float) -> list[Question]:
    """Returns questions with the usual share, another one, none and all."""
    sizes = ((PADDED, None), (PADDED, share), (SMALL, 0.0), (SMALL, 1.0))
    return [_hide("what is chosen", size, seed + n, wanted) for n, (size, wanted) in enumerate(sizes)]


@exercise.stage(
    "15 % of the words are chosen, or the share that is asked for",
    points=1.5,
    public=_choices(2, 0.5),
    measure="masking",
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Draw a number between 0 and 1 for every position; chosen are the words whose number is below `share`, which may
    be 0 or 1. <pad>, <sos>, <eos>, <oov> and <mask> are no words.
    """
    return _choices(seed_from(rng), rng.choice(SHARES))


def _fates(seed: int) -> list[Question]:
    """Returns questions in which all words are chosen, and half of them: what chose a word may not decide its fate."""
    return [_hide("what happens", LARGE, seed, 1.0), _hide("what happens", FULL, seed + 1, 0.5)]


@exercise.stage("80 / 10 / 10", points=1, public=_fates(4), measure="masking", decisive=True)
def _(rng: random.Random) -> list[Question]:
    """Draw a second number for every position: below 0.8 the chosen word becomes <mask>, from 0.9 on another word, in
    between it stays.
    """
    return _fates(seed_from(rng))[1:]


def _other_words(seed: int) -> list[Question]:
    """Returns questions in which all words are chosen: of ten words, of many that stand in no text, and of two."""
    return [
        _hide("random words", TEN_WORDS, seed, 1.0),
        _hide("random words", (TEN_WORDS[0], TEN_WORDS[1], 300), seed + 1, 1.0, unseen=300),
        _hide("two words", TWO_WORDS, seed + 2, 1.0),
    ]


@exercise.stage("the other words", points=0.5, public=_other_words(5), measure="masking")
def _(rng: random.Random) -> list[Question]:
    """Draw one for each position, from MASK + 1 (the first word) to vocab_size - 1, whether it stands in the texts or
    not, or at this very position: torch.randint, whose upper end is not drawn, but the lower one is. Here all words are
    chosen.
    """
    return _other_words(seed_from(rng))[1:]


@exercise.stage("all chance comes from the generator", points=0.5, public=[_hide("", SEVERAL, 6, 0.5, probe="seeds")])
def _(rng: random.Random) -> list[Question]:
    """Give generator=generator to torch.rand and to torch.randint, so that the same seed hides the same words. Seed
    nothing yourself: the next call with this generator hides others.
    """
    return [_hide("", SEVERAL, seed_from(rng), rng.choice(SHARES), probe="seeds")]


@exercise.stage(
    "the tokens are left as they were", points=0.5, public=[_hide("", SMALL, 7, 0.5)], measure="inputs kept"
)
def _(rng: random.Random) -> list[Question]:
    """The next pass hides other words of the same text: work on a copy (clone, where, masked_fill)."""
    return [_hide("", SMALL, seed_from(rng), rng.choice(SHARES))]


@exercise.corners(
    "the target: the hidden words, and nothing else",
    rows=(1, 2, range(101, 104)),
    width=(range(33, 36), range(301, 304)),
    share=(0.5, 1.0),
)
def _(rng: random.Random, rows: int, width: int, share: float) -> Question | None:
    """Asks about small and large batches."""
    if not 60 <= rows * width <= 4000:  # in a smaller one it is chance whether anything is chosen
        return None
    return _hide("targets", (rows, width, 40), seed_from(rng), share)


@exercise.mistake("only <mask> is scored")
def _(tokens: Tensor, vocab_size: int, generator: torch.Generator, share: float = 0.15) -> Pair:
    """Words that were exchanged or left are chosen too: they must be scored, or the model learns that only <mask>
    deserves attention.
    """
    read, target = mask_tokens(tokens, vocab_size, generator, share)
    return read, target.masked_fill(read != MASK, IGNORE)
