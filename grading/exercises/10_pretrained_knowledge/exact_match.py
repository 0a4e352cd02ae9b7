"""Exercise exact_match of notebook 10."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, both
from grading.exercises.searched import Kind, Searched
from helpers.vocabulary import EOS, MASK, PAD, SOS
from tutor.checking.answers import Question
from tutor.checking.building import build

from ._written import (
    KINDS,
    LONGEST,
    Numbers,
    asking_model,
    in_full,
    is_as_long,
    is_of_kind,
    is_reordered,
    is_useful,
    other,
    pair,
    reordered,
    said,
)

NO_SPECIALS = "without special tokens"  # a kind beside `KINDS`


exercise = Definition(minutes=25, difficulty=2)


@exercise.reference
@torch.no_grad()
def exact_match(model: Any, pairs: list[Numbers]) -> float:
    was = model.training
    model.eval()
    found = [all(said(model, question, wanted)) for question, wanted in pairs]
    model.train(was)
    return sum(found) / len(pairs)


NUMBERS = {"right and long": 1, "endless": 1}  # pairs of these kinds; of the others four for each model
SEARCHED = Searched(
    __file__,
    {
        "models": Kind(lambda seed: Question((asking_model(seed),)), lambda ask: is_useful(ask.inputs[0].seed), 5),
        "more than twenty": Kind(in_full, partial(is_as_long, sizes=range(21, 25)), 2),
        "one number": Kind(in_full, partial(is_as_long, sizes=(1,)), 3),
        "in another order": Kind(reordered, is_reordered, 6),
        "more than a hundred": Kind(
            partial(in_full, vocab_size=400, max_len=256), partial(is_as_long, sizes=range(101, 256)), 1
        ),
    },
)
MODELS = SEARCHED.seeds("models")
SEARCHED.kinds |= {  # of another model they are searched for when it is there
    f"{kind} of {model}": Kind(partial(pair, model, kind), partial(is_of_kind, kind=kind), NUMBERS.get(kind, 4))
    for model in MODELS
    for kind in KINDS
}


@cache
def _pairs(model: int, kind: str) -> list[Numbers]:
    """Returns the pairs of a kind that are known of a model; of right ones a long one is the first."""
    kinds = ("right and long", "right") if kind == "right" else (kind,)
    names = [f"{kind} of {model}" for kind in kinds]
    return [_pair(SEARCHED.kinds[name].make(seed)) for name in names for seed in SEARCHED.seeds(name)]


def _pair(ask: Question) -> Numbers:
    found: Numbers = ask.inputs[1][0]
    return found


def _spoilt(pairs: list[Numbers], rng: random.Random, how: str) -> list[Numbers]:
    """Returns the pairs with answers that are nearly those of the model."""
    change: dict[str, Callable[[list[int]], list[int]]] = {
        "middle": lambda answer: [answer[0], other(answer[1], rng), *answer[2:]],
        "last": lambda answer: [*answer[:-1], other(answer[-1], rng)],
        "short": lambda answer: answer[:-1],
        "backwards": lambda answer: answer[::-1] if answer != answer[::-1] else [*answer[1:], other(answer[0], rng)],
        "long": lambda answer: [*answer, rng.randrange(MASK + 1, 12)],
    }
    return [(question, change[how](answer)) for question, answer in pairs]


@cache
@torch.no_grad()
def _without_specials(seed: int) -> list[Numbers]:
    """Returns pairs that a model would write if it could not say a special token, which it wants to do somewhere."""
    model, pairs = build(asking_model(seed)), list[Numbers]()
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
        seed = rng.choice(MODELS)
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
        return [Question((asking_model(seed), rng.sample(pairs, len(pairs))), **settings)]

    return draw


def _draw_modes(training: bool, **settings: Any) -> Draw:
    def draw(rng: random.Random) -> list[Question]:
        seed = rng.choice(MODELS)
        longest, *others = _pairs(seed, "right")
        pairs = others[:1] if "probe" in settings else [longest, *others[:2]]  # a mode is seen after any call
        return [Question((asking_model(seed, training), pairs), **settings)]

    return draw


def _long(ask: Question) -> Question:
    """Asks about more than a hundred numbers: as the model writes them, with another last one, with a digit moved."""
    model, [(question, answer)] = ask.inputs
    nearly = [*answer[:-1], answer[-1] + 1], _with_a_digit_moved(answer)
    return Question((model, [(question, numbers) for numbers in (answer, *nearly)]))


def _with_a_digit_moved(answer: list[int]) -> list[int]:
    """Returns other numbers of which the digits are the same ones: 55 and 6 for 5 and 56."""
    for place, (one, next_one) in enumerate(itertools.pairwise(map(str, answer))):
        first, then = one + next_one[0], next_one[1:]
        if then[:1] not in ("", "0") and int(then) > MASK and int(first) <= max(answer):
            return [*answer[:place], int(first), int(then), *answer[place + 2 :]]
    raise ValueError("in this answer no digit can be moved")


_draw_reordered = SEARCHED.asked("in another order")


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
_SOME_OTHERS = both(_draw_matches(("right", 2), ("first", 3)), _draw_matches(("right", 3), ("first", 4)))


@exercise.stage("some answers right", points=1, public=_SOME(random.Random(2)))
def _(rng: random.Random) -> list[Question]:
    """The result is a share: of all pairs, how many are right in every number?"""
    return _SOME_OTHERS(rng)


_NEARLY = both(
    _draw_matches(("right", 2), ("last", 3), ("first", 1)),
    _draw_matches(("right", 1), ("middle", 1), ("short", 3)),
    _draw_matches(("right", 3), ("long", 1)),
    _draw_matches(("right", 1), ("beyond", 2), ("special", 1), (NO_SPECIALS, 2)),
    _draw_matches(("right", 2), ("endless", 1)),
    _draw_matches(("short", 1)),
    _draw_matches(("right", 1), ("backwards", 2)),
    _draw_reordered,
)


_ALSO_NEARLY = both(
    _draw_matches(("right", 2), ("last", 2), ("short", 2), ("middle", 1), ("first", 1)),
    _draw_matches(("right", 3), ("long", 1), ("beyond", 1), ("special", 1)),
    _draw_matches(("right", 2), (NO_SPECIALS, 2)),
    _draw_matches(("right", 2), ("endless", 1)),
    _draw_matches(("short", 1)),  # alone: no longer pair beside it
    _draw_matches(("right", 1), ("backwards", 1)),
    _draw_reordered,
)


@exercise.stage("nearly right is wrong", points=1, public=_NEARLY(random.Random(3)), decisive=True)
def _(rng: random.Random) -> list[Question]:
    """One wrong number, two in another order, an end that comes too early or too late, a special token among the
    numbers: the answer is right as a whole, up to <eos>, or not at all.
    """
    return _ALSO_NEARLY(rng)


@exercise.stage("without dropout", points=0.5, seed=4)
def _(rng: random.Random) -> list[Question]:
    """This model comes in training mode, with dropout. Call model.eval() before you ask it anything."""
    return both(_draw_modes(True), _draw_modes(True, probe="mode while it runs"))(rng)


_MODES = both(_draw_modes(True, probe="mode"), _draw_modes(False, probe="mode"))


@exercise.stage("the mode is put back", points=0.5, seed=5)
def _(rng: random.Random) -> list[Question]:
    """Remember model.training before, and call model.train(remembered) at the end."""
    return _MODES(rng)


exercise.large += map(_long, SEARCHED.asked("more than a hundred")(random.Random(1)))


def _corner(rng: random.Random, answer: str, pairs: int) -> Question:
    """Returns a question with a right answer that is long, or of one number, and with wrong ones beside it.

    One of them is as long. The others have one number: to write many long ones takes right answers half their time.
    """
    [ask] = SEARCHED.asked(answer)(rng)
    question, right = _pair(ask)
    asked = [(question, right), (question, [*right[:-1], other(right[-1], rng)])]
    asked += [(question, [other(right[0], rng)]) for _ in range(pairs - 2)]
    return Question((ask.inputs[0], rng.sample(asked[:pairs], pairs)))


for stage in ("all answers right, or none", "some answers right", "nearly right is wrong"):
    sizes = (1,) if stage == "all answers right, or none" else (2, range(7, 10))
    exercise.corners(stage, answer=("more than twenty", "one number"), pairs=sizes)(_corner)
