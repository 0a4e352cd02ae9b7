"""Exercise exact_match of notebook 10."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, both
from helpers.vocabulary import EOS, MASK, PAD, SOS
from tutor.checking.answers import Question
from tutor.checking.building import build
from tutor.checking.plain import Model

from ._written import KINDS, LONG_ANSWER, LONG_QUESTION, LONG_SEED, LONGEST, WRITTEN

Numbers = tuple[list[int], list[int]]
NO_SPECIALS = "without special tokens"  # a kind beside `KINDS`


def _matching(right: Callable[[Any, list[int], list[int]], float], quiet: bool = True, back: bool = True) -> Any:
    """Returns an answer that takes the mean of `right` over the pairs, and may forget about the mode of the model."""

    @torch.no_grad()
    def answer(model: Any, pairs: list[Numbers]) -> float:
        was = model.training
        if quiet:
            model.eval()
        found = [right(model, question, wanted) for question, wanted in pairs]
        if back:
            model.train(was)
        return sum(found) / len(pairs)

    return answer


def _exact(model: Any, question: list[int], wanted: list[int]) -> bool:
    return all(_said(model, question, wanted))


exercise = Definition(minutes=25, difficulty=2)


@exercise.reference
def exact_match(model: Any, pairs: list[Numbers]) -> float:
    result: float = _matching(_exact)(model, pairs)
    return result


def _said(model: Any, question: list[int], wanted: list[int]) -> list[bool]:
    """Returns for each place of the answer and <eos> whether the model, told all before, says what stands there."""
    whole = [SOS, *question, *wanted, EOS]
    guesses = model(torch.tensor([whole[:-1]]))[0].argmax(dim=-1).tolist()
    return [a == b for a, b in zip(guesses[len(question) :], whole[len(question) + 1 :], strict=True)]


def _asking_model(seed: int, training: bool = False, vocab_size: int = 12, max_len: int = LONGEST) -> Model:
    """Returns a model with much dropout, so that no answer of it is like another in training mode."""
    shape = {"vocab_size": vocab_size, "d_model": 32, "n_layers": 1, "n_heads": 2, "norm_first": True}
    shape["max_len"] = max_len
    base = Model("TransformerBase", shape | {"dropout": 0.95}, seed)
    return Model("LanguageModel", {"base": base}, seed, training=training)


def _pairs(seed: int, kind: str) -> list[Numbers]:
    """Returns the pairs of a kind that are known of a model."""
    numbers = [_numbers(word) for word in _texts(seed, kind)]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _numbers(word: str) -> list[int]:
    return [MASK + 1 + "abcdefg".index(letter) for letter in word]


def _texts(seed: int, kind: str) -> list[str]:
    return WRITTEN[seed][KINDS.index(kind)].split()


def _other(number: int, rng: random.Random) -> int:
    return rng.choice([other for other in range(MASK + 1, 12) if other != number])


def _spoilt(pairs: list[Numbers], rng: random.Random, how: str) -> list[Numbers]:
    """Returns the pairs with answers that are nearly those of the model."""
    change: dict[str, Callable[[list[int]], list[int]]] = {
        "middle": lambda answer: [answer[0], _other(answer[1], rng), *answer[2:]],
        "last": lambda answer: [*answer[:-1], _other(answer[-1], rng)],
        "short": lambda answer: answer[:-1],
        "long": lambda answer: [*answer, rng.randrange(MASK + 1, 12)],
    }
    return [(question, change[how](answer)) for question, answer in pairs]


@cache
@torch.no_grad()
def _without_specials(seed: int) -> list[Numbers]:
    """Returns pairs that a model would write if it could not say a special token, which it wants to do somewhere."""
    model, pairs = build(_asking_model(seed)), list[Numbers]()
    for question, _ in _pairs(seed, "special"):
        tokens = [SOS, *question]
        while tokens[-1] != EOS and len(tokens) < LONGEST // 2:
            scores = model(torch.tensor([tokens]))[0, -1]
            scores[[PAD, SOS, MASK]] = -torch.inf
            tokens.append(int(scores.argmax()))
        answer = tokens[1 + len(question) : -1]
        if tokens[-1] == EOS and answer:
            pairs.append((question, answer))
    return pairs


def _draw_matches(*shares: tuple[str, int], **settings: Any) -> Draw:
    """Returns what asks about pairs: of each kind, a known one or spoilt in some way, so many.

    Among those with the right answers is always the longest answer of the model.
    """

    def draw(rng: random.Random) -> list[Question]:
        seed = rng.choice(list(WRITTEN))
        longest, *others = _pairs(seed, "right")
        pairs = list[Numbers]()
        for how, count in shares:
            if how == "right":
                pairs += [longest, *rng.sample(others, len(others))][:count]
            elif how in KINDS or how == NO_SPECIALS:
                known = _without_specials(seed) if how == NO_SPECIALS else _pairs(seed, how)
                pairs += rng.sample(known, min(count, len(known)))
            else:
                long_enough = [pair for pair in others if len(pair[1]) > 1] or [longest]
                chosen = rng.choices(long_enough, k=count) if how != "middle" else [longest] * count
                pairs += _spoilt(chosen, rng, how)
        return [Question((_asking_model(seed), rng.sample(pairs, len(pairs))), **settings)]

    return draw


def _draw_modes(training: bool, **settings: Any) -> Draw:
    def draw(rng: random.Random) -> list[Question]:
        seed = rng.choice(list(WRITTEN))
        return [Question((_asking_model(seed, training), _pairs(seed, "right")), **settings)]

    return draw


def _long() -> Question:
    """Asks about an answer of nearly two hundred numbers, as the model writes it and with another one at the end."""
    answer = [int(number) for number in LONG_ANSWER.split()]
    question = list(LONG_QUESTION)
    model = _asking_model(LONG_SEED, vocab_size=400, max_len=len(question) + len(answer) + 29)
    return Question((model, [(question, answer), (question, [*answer[:-1], answer[-1] + 1])]))


_ALL_OR_NONE = both(
    _draw_matches(("right", 3)),
    _draw_matches(("first", 2)),
    _draw_matches(("without <sos>", 2)),
    _draw_matches(("a row too early", 2)),
)


_ALL_AND_NONE = both(
    _draw_matches(("right", 3)), _draw_matches(("first", 2), ("without <sos>", 2), ("a row too early", 1))
)


@exercise.stage("all answers right, or none", points=1, public=_ALL_OR_NONE(random.Random(1)))
def _(rng: random.Random) -> list[Question]:
    """Feed <sos> and the question; the row of the last number says what comes first in the answer. An answer is right
    in all of its numbers, however many they are, and in the <eos> behind them. Who asks in batches pads at the end: a
    model reads padding in front, too.
    """
    return _ALL_AND_NONE(rng)


_SOME = both(_draw_matches(("right", 3), ("first", 2)), _draw_matches(("right", 1), ("first", 3)))


@exercise.stage("some answers right", points=1, seed=2)
def _(rng: random.Random) -> list[Question]:
    """The result is a share: of all pairs, how many are right in every number?"""
    return _SOME(rng)


_NEARLY = both(
    _draw_matches(("right", 2), ("last", 3), ("first", 1)),
    _draw_matches(("right", 1), ("middle", 1), ("short", 3)),
    _draw_matches(("right", 3), ("long", 1)),
    _draw_matches(("right", 1), ("beyond", 2), ("special", 1), (NO_SPECIALS, 2)),
    _draw_matches(("right", 2), ("endless", 1)),
    _draw_matches(("short", 1)),
)


_ALSO_NEARLY = both(
    _draw_matches(("right", 2), ("last", 2), ("short", 2), ("middle", 1), ("first", 1)),
    _draw_matches(("right", 3), ("long", 1), ("beyond", 1), ("special", 1)),
    _draw_matches(("right", 2), (NO_SPECIALS, 2)),
    _draw_matches(("right", 2), ("endless", 1)),
    _draw_matches(("short", 1)),  # alone: no longer pair beside it
)


@exercise.stage("nearly right is wrong", points=1, public=_NEARLY(random.Random(3)), decisive=True)
def _(rng: random.Random) -> list[Question]:
    """One wrong number, an end that comes too early or too late, a special token among the numbers: the answer is right
    as a whole, up to <eos>, or not at all.
    """
    return _ALSO_NEARLY(rng)


@exercise.stage("without dropout", points=0.5, seed=4)
def _(rng: random.Random) -> list[Question]:
    """This model comes in training mode, with dropout. Call model.eval() before you ask it anything."""
    return _draw_modes(True)(rng)


_MODES = both(_draw_modes(True, probe="mode"), _draw_modes(False, probe="mode"))


@exercise.stage("the mode is put back", points=0.5, seed=5)
def _(rng: random.Random) -> list[Question]:
    """Remember model.training before, and call model.train(remembered) at the end."""
    return _MODES(rng)


exercise.large += [_long()]


BEYOND_TWENTY = 951, "ac", "aaaaaaaaaaaeeeeeeeeeef"  # a model, a question, and its answer of more than twenty numbers
SHORT_ANSWERS = (873, 921, 977)  # each of these has one of a single number


def _corner(rng: random.Random, answer: str, pairs: int) -> Question:
    """Returns a question with a right answer that is long, or of one number, and with wrong ones beside it."""
    if answer == "the longest":
        seed, *texts = BEYOND_TWENTY
        right = (_numbers(texts[0]), _numbers(texts[1]))
    else:
        seed = rng.choice(SHORT_ANSWERS)
        right = min(_pairs(seed, "right"), key=lambda pair: len(pair[1]))
    wrong = [(right[0], [*right[1][:-1], _other(right[1][-1], rng)]) for _ in range(pairs - 1)]
    return Question((_asking_model(seed), rng.sample([right, *wrong], pairs)))


for stage in ("all answers right, or none", "some answers right", "nearly right is wrong"):
    sizes = (1,) if stage == "all answers right, or none" else (2, range(7, 10))
    exercise.corners(stage, answer=("the longest", "one number"), pairs=sizes)(_corner)
