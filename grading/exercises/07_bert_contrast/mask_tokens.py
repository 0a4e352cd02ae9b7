"""Exercise mask_tokens of notebook 07."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from grading.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw, seed_from
from helpers.checking.answers import Ask
from helpers.checking.plain import Generator
from helpers.data import EOS, IGNORE, MASK, OOV, PAD, SOS

from ._common import SPECIALS

Pair = tuple[Tensor, Tensor]


def mask_tokens(tokens: Tensor, vocab_size: int, generator: torch.Generator, share: float = 0.15) -> Pair:
    return _masking(tokens, vocab_size, generator, share)


def _masking(
    tokens: Tensor,
    vocab_size: int,
    generator: torch.Generator | None,
    share: float,
    *,
    allowed: Callable[[Tensor], Tensor] = lambda tokens: tokens > MASK,
    mask: float = 0.8,
    kept: float = 0.1,
    lowest: int = MASK + 1,
    one_word: bool = False,
) -> Pair:
    """Returns input and target; the settings that differ from their defaults make mistakes."""
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & allowed(tokens)
    target = tokens.masked_fill(~chosen, IGNORE)
    draw = torch.rand(tokens.shape, generator=generator)
    words = torch.randint(lowest, vocab_size, (1,) if one_word else tokens.shape, generator=generator)
    read = tokens.masked_fill(chosen & (draw < mask), MASK)
    return torch.where(chosen & (draw >= mask + kept), words, read), target


def _variant(**settings: Any) -> Callable[..., Pair]:
    return lambda tokens, vocab_size, generator, share=0.15: _masking(tokens, vocab_size, generator, share, **settings)


def _texts(rows: int, width: int, vocab_size: int, seed: int) -> Tensor:
    """Returns a batch with every special token: <sos>, words, a few <oov> and <mask>, <eos>, and padding."""
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(SPECIALS, vocab_size, (rows, width), generator=generator)
    strange = torch.rand(rows, width, generator=generator)
    tokens[strange < 0.06] = MASK
    tokens[strange < 0.03] = OOV
    lengths = torch.randint(width - max(3, width // 8), width + 1, (rows,), generator=generator)
    lengths[-1] = width // 2
    places = torch.arange(width)
    tokens[places == lengths.unsqueeze(1) - 1] = EOS
    tokens[places >= lengths.unsqueeze(1)] = PAD
    tokens[:, 0] = SOS
    return tokens


# Texts, width, vocabulary. Of ten words each is drawn, so that not one can be left out unseen.
LARGE, TEN_WORDS, SMALL = (64, 80, 1000), (96, 80, SPECIALS + 10), (6, 20, 50)


def _hide(of: str, size: tuple[int, int, int], seed: int, share: float | None = None, **settings: Any) -> Ask:
    """Returns a question about a batch; about 5,000 words where shares are measured."""
    beside = {"of": of, "specials": SPECIALS} if of else {}
    keywords = {} if share is None else {"share": share}
    return Ask((_texts(*size, seed), size[2], Generator(seed)), keywords, beside=beside, **settings)


def _drawn(of: str, size: tuple[int, int, int], share: float | None = None, **settings: Any) -> Draw:
    return lambda rng: [_hide(of, size, seed_from(rng), share, **settings)]


def _all_scored(tokens: Tensor, vocab_size: int, generator: torch.Generator, share: float = 0.15) -> Pair:
    return mask_tokens(tokens, vocab_size, generator, share)[0], tokens.clone()


def _only_mask_scored(tokens: Tensor, vocab_size: int, generator: torch.Generator, share: float = 0.15) -> Pair:
    read, target = mask_tokens(tokens, vocab_size, generator, share)
    return read, target.masked_fill(read != MASK, IGNORE)


def _only_changed_scored(tokens: Tensor, vocab_size: int, generator: torch.Generator, share: float = 0.15) -> Pair:
    read, target = mask_tokens(tokens, vocab_size, generator, share)
    return read, target.masked_fill(read == tokens, IGNORE)


def _all_hidden(tokens: Tensor, vocab_size: int, generator: torch.Generator, share: float = 0.15) -> Pair:
    read, _ = mask_tokens(tokens, vocab_size, generator, 1.0)
    return read, mask_tokens(tokens, vocab_size, generator, share)[1]


def _exchanged(tokens: Tensor, vocab_size: int, generator: torch.Generator, share: float = 0.15) -> Pair:
    read, target = mask_tokens(tokens, vocab_size, generator, share)
    return target, read


def _two_draws(tokens: Tensor, vocab_size: int, generator: torch.Generator, share: float = 0.15) -> Pair:
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    read = tokens.masked_fill(chosen & (torch.rand(tokens.shape, generator=generator) < 0.8), MASK)
    other = chosen & (torch.rand(tokens.shape, generator=generator) < 0.1)
    words = torch.randint(SPECIALS, vocab_size, tokens.shape, generator=generator)
    return torch.where(other, words, read), tokens.masked_fill(~chosen, IGNORE)


def _target_hidden(tokens: Tensor, vocab_size: int, generator: torch.Generator, share: float = 0.15) -> Pair:
    read, target = mask_tokens(tokens, vocab_size, generator, share)
    return read, read.masked_fill(target == IGNORE, IGNORE)


def _target_padded(tokens: Tensor, vocab_size: int, generator: torch.Generator, share: float = 0.15) -> Pair:
    read, target = mask_tokens(tokens, vocab_size, generator, share)
    return read, target.masked_fill(target == IGNORE, PAD)


def _in_place(tokens: Tensor, vocab_size: int, generator: torch.Generator, share: float = 0.15) -> Pair:
    read, target = mask_tokens(tokens, vocab_size, generator, share)
    tokens.copy_(read)
    return tokens, target


EXERCISE = Exercise(
    mask_tokens,
    [
        Stage(
            "the target: the hidden words, and nothing else",
            1.5,
            "Where a word is chosen, the target is the word that stood there; everywhere else it is IGNORE, and the "
            "input is as it was.",
            [_hide("targets", SMALL, 1, 0.5)],
            _drawn("targets", SMALL, 0.5),
            measure="masking",
        ),
        Stage(
            "15 % of the words are chosen, or the share that is asked for",
            1.5,
            "Draw a number between 0 and 1 for every place; chosen are the words whose number is below `share`. <pad>, "
            "<sos>, <eos>, <oov> and <mask> are no words.",
            [_hide("what is chosen", LARGE, 2), _hide("what is chosen", LARGE, 3, 0.5)],
            lambda rng: [*_drawn("what is chosen", LARGE)(rng), *_drawn("what is chosen", LARGE, 0.5)(rng)],
            measure="masking",
        ),
        Stage(
            "80 / 10 / 10",
            1,
            "Draw a second number for every place: below 0.8 the chosen word becomes <mask>, from 0.9 on another word, "
            "in between it stays.",
            [_hide("what happens", LARGE, 4, 0.5)],
            _drawn("what happens", LARGE, 0.5),
            measure="masking",
        ),
        Stage(
            "the other words",
            0.5,
            "Draw one for each place, from MASK + 1 (the first word) to vocab_size - 1: torch.randint, whose upper end "
            "is not drawn. Here there are ten words, and all are chosen.",
            [_hide("random words", TEN_WORDS, 5, 1.0)],
            _drawn("random words", TEN_WORDS, 1.0),
            measure="masking",
        ),
        Stage(
            "all chance comes from the generator",
            0.5,
            "Give generator=generator to torch.rand and to torch.randint, so that the same seed hides the same words.",
            [_hide("", SMALL, 6, 0.5, take="seeds")],
            _drawn("", SMALL, 0.5, take="seeds"),
        ),
        Stage(
            "the tokens are left as they were",
            0.5,
            "The next pass hides other words of the same text: work on a copy (clone, where, masked_fill).",
            [_hide("", SMALL, 7, 0.5)],
            _drawn("", SMALL, 0.5),
            measure="inputs kept",
        ),
    ],
    [
        Mistake(
            "every place is scored",
            "The model sees most of these words and could simply copy them. The target is the word where one was "
            "chosen, and IGNORE everywhere else.",
            _all_scored,
        ),
        Mistake(
            "only <mask> is scored",
            "Words that were exchanged or left are chosen too: they must be scored, or the model learns that only "
            "<mask> deserves attention.",
            _only_mask_scored,
        ),
        Mistake(
            "input and target are exchanged",
            "The input comes first, then the target.",
            _exchanged,
        ),
        Mistake(
            "all words are hidden, not only the chosen ones",
            "What becomes <mask> or another word must also have been chosen: join the two conditions by &.",
            _all_hidden,
        ),
        Mistake(
            "words left as they are are not scored",
            "The last tenth of the chosen words stays and is scored all the same. Take the target from what was "
            "chosen, not from what has changed.",
            _only_changed_scored,
        ),
        Mistake(
            "the target is what stands in the input",
            "The target must be taken before the words are hidden: it is what the model has to find.",
            _target_hidden,
        ),
        Mistake(
            "what is not scored has the target <pad>",
            "0 is a token like any other for the loss, so the model would learn to say <pad>. What is not scored has "
            "the target IGNORE (-100).",
            _target_padded,
        ),
        Mistake(
            "padding is chosen",
            "There is nothing to guess behind the end of a text: choose words only (tokens > MASK).",
            _variant(allowed=lambda tokens: (tokens > MASK) | (tokens == PAD)),
        ),
        Mistake(
            "special tokens are chosen",
            "<sos>, <eos>, <oov> and <mask> are no words. Words are the numbers above MASK.",
            _variant(allowed=lambda tokens: tokens != PAD),
        ),
        Mistake(
            "special tokens and padding are chosen",
            "Only words may be hidden: the numbers above MASK.",
            _variant(allowed=lambda tokens: tokens >= 0),
        ),
        Mistake(
            "chosen are those above the share",
            "torch.rand gives a number below `share` in that share of all cases: rand < share, not rand > share.",
            lambda tokens, vocab_size, generator, share=0.15: mask_tokens(tokens, vocab_size, generator, 1 - share),
        ),
        Mistake(
            "a word can be drawn twice, for <mask> and for another word",
            "Two separate draws overlap: some of the words that were <mask> become another word. Decide by one number: "
            "below 0.8, from 0.9 on, or in between.",
            _two_draws,
        ),
        Mistake(
            "always <mask>",
            "All chosen words become <mask>. A tenth should become another word and a tenth stay, since <mask> never "
            "occurs where the model is used.",
            _variant(mask=1.0, kept=0.0),
        ),
        Mistake(
            "no other words, or hardly any",
            "A tenth of the chosen words should become another word. If you draw again among those that are not "
            "<mask>: a tenth of all is half of these.",
            _variant(mask=0.8, kept=0.18),
        ),
        Mistake(
            "no chosen word stays as it is",
            "80 % become <mask> and 10 % another word; the last 10 % stay, and are scored all the same.",
            _variant(mask=0.8, kept=0.0),
        ),
        Mistake(
            "nothing is hidden",
            "The input still holds every word. Return the changed tokens; masked_fill without _ returns a new tensor.",
            _variant(mask=0.0, kept=1.0),
        ),
        Mistake(
            "the share is always 15 %",
            "15 % is only the default: use the argument share.",
            lambda tokens, vocab_size, generator, share=0.15: mask_tokens(tokens, vocab_size, generator),
        ),
        Mistake(
            "the other words may be special tokens",
            "Start the draw at MASK + 1: a <pad> or <eos> inside a text is no word.",
            _variant(lowest=0),
        ),
        Mistake(
            "the same other word everywhere",
            "Draw one word for each place: torch.randint(..., tokens.shape).",
            _variant(one_word=True),
        ),
        Mistake(
            "every call draws the same numbers",
            "torch.manual_seed, or a new generator with the seed of this one, starts again at each call: every pass "
            "hides the same words. Draw from the generator that you are given: it goes on.",
            lambda tokens, vocab_size, generator, share=0.15: mask_tokens(
                tokens, vocab_size, torch.Generator().manual_seed(generator.initial_seed()), share
            ),
        ),
        Mistake(
            "the generator is not used",
            "torch.rand(shape) draws from torch's own state: nobody can hide the same words again. Pass "
            "generator=generator, to torch.randint too.",
            lambda tokens, vocab_size, generator, share=0.15: _masking(tokens, vocab_size, None, share),
        ),
        Mistake(
            "the tokens are changed in place",
            "The caller's text is lost: at the next pass, some of its words would be <mask> for ever. Work on a copy.",
            _in_place,
        ),
    ],
)
