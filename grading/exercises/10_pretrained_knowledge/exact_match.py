"""Exercise exact_match of notebook 10."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw, both
from helpers.data import EOS, MASK, PAD, SOS
from tutor.checking.answers import Ask
from tutor.checking.building import build
from tutor.checking.plain import Model

from ._written import KINDS, LONG_ANSWER, LONG_QUESTION, LONG_SEED, LONGEST, WRITTEN

Numbers = tuple[list[int], list[int]]
NO_SPECIALS = "without special tokens"  # a kind beside `KINDS`


def _written(model: Any, question: list[int], longest: int = 12, start: tuple[int, ...] = (SOS,)) -> list[int]:
    """Returns what the model writes behind the question, with <eos> where it comes to an end."""
    tokens = [*start, *question]
    for _ in range(longest):
        tokens.append(int(model(torch.tensor([tokens]))[0, -1].argmax()))
        if tokens[-1] == EOS:
            break
    return tokens[len(start) + len(question) :]


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


def _early(model: Any, question: list[int], wanted: list[int]) -> bool:
    """Says whether the rows before those of the answer say the answer."""
    said = model(torch.tensor([[SOS, *question, *wanted]]))[0, len(question) - 1 : -1].argmax(dim=-1)
    return bool(said.tolist() == [*wanted, EOS])


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
    numbers = [[MASK + 1 + "abcdefg".index(letter) for letter in word] for word in _texts(seed, kind)]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


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

    def draw(rng: random.Random) -> list[Ask]:
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
        return [Ask((_asking_model(seed), rng.sample(pairs, len(pairs))), **settings)]

    return draw


def _draw_modes(training: bool, **settings: Any) -> Draw:
    def draw(rng: random.Random) -> list[Ask]:
        seed = rng.choice(list(WRITTEN))
        return [Ask((_asking_model(seed, training), _pairs(seed, "right")), **settings)]

    return draw


def _long() -> Ask:
    """Asks about an answer of nearly two hundred numbers, as the model writes it and with another one at the end."""
    answer = [int(number) for number in LONG_ANSWER.split()]
    question = list(LONG_QUESTION)
    model = _asking_model(LONG_SEED, vocab_size=400, max_len=len(question) + len(answer) + 29)
    return Ask((model, [(question, answer), (question, [*answer[:-1], answer[-1] + 1])]))


_ALL_OR_NONE = both(
    _draw_matches(("right", 3)),
    _draw_matches(("first", 2)),
    _draw_matches(("without <sos>", 2)),
    _draw_matches(("a row too early", 2)),
)
_ALL_AND_NONE = both(
    _draw_matches(("right", 3)), _draw_matches(("first", 2), ("without <sos>", 2), ("a row too early", 1))
)
_SOME = both(_draw_matches(("right", 3), ("first", 2)), _draw_matches(("right", 1), ("first", 3)))
_NEARLY = both(
    _draw_matches(("right", 2), ("last", 3), ("first", 1)),
    _draw_matches(("right", 1), ("middle", 1), ("short", 3)),
    _draw_matches(("right", 3), ("long", 1)),
    _draw_matches(("right", 1), ("beyond", 2), ("special", 1), (NO_SPECIALS, 2)),
    _draw_matches(("right", 2), ("endless", 1)),
)
_ALSO_NEARLY = both(
    _draw_matches(("right", 2), ("last", 2), ("short", 2), ("middle", 1), ("first", 1)),
    _draw_matches(("right", 3), ("long", 1), ("beyond", 1), ("special", 1)),
    _draw_matches(("right", 2), (NO_SPECIALS, 2)),
    _draw_matches(("right", 2), ("endless", 1)),
)
_MODES = both(_draw_modes(True, take="mode"), _draw_modes(False, take="mode"))


EXERCISE = Exercise(
    exact_match,
    [
        Stage(
            "all answers right, or none",
            1,
            "Feed <sos> and the question; the row of the last number says what comes first in the answer.",
            _ALL_OR_NONE(random.Random(1)),
            _ALL_AND_NONE,
        ),
        Stage(
            "some answers right",
            1,
            "The result is a share: of all pairs, how many are right in every number?",
            _SOME(random.Random(2)),
            _SOME,
        ),
        Stage(
            "nearly right is wrong",
            1,
            "One wrong number, an end that comes too early or too late, a special token among the numbers: the "
            "answer is "
            "right as a whole, up to <eos>, or not at all.",
            _NEARLY(random.Random(3)),
            _ALSO_NEARLY,
            decisive=True,
        ),
        Stage(
            "without dropout",
            0.5,
            "This model comes in training mode, with dropout. Call model.eval() before you ask it anything.",
            _draw_modes(True)(random.Random(4)),
            _draw_modes(True),
        ),
        Stage(
            "the mode is put back",
            0.5,
            "Remember model.training before, and call model.train(remembered) at the end.",
            _MODES(random.Random(5)),
            _MODES,
        ),
    ],
    [
        Mistake(
            "the share of right numbers",
            "An answer is right as a whole or not at all: 'Ber' + 'lin' has half of its letters in common with "
            "'Bergen', and is another town.",
            _matching(lambda model, q, a: sum(_said(model, q, a)) / (len(a) + 1)),
        ),
        Mistake(
            "only the first number of the answer",
            "The first number is not the answer: many towns begin with the same letter.",
            _matching(lambda model, q, a: _said(model, q, a)[0]),
        ),
        Mistake(
            "<eos> is not asked for",
            "The model must also end here: 'Yorkshire' begins with 'York', and is another place.",
            _matching(lambda model, q, a: all(_said(model, q, a)[:-1])),
        ),
        Mistake(
            "the first number of the answer is not looked at",
            "The answer begins in the row of the last number of the question: there the model says what comes next.",
            _matching(lambda model, q, a: all(_said(model, q, a)[1:])),
        ),
        Mistake(
            "<sos> is missing",
            "In training every text began with <sos>. Without it all numbers stand at other places.",
            _matching(lambda model, q, a: _written(model, q, len(a) + 1, start=()) == [*a, EOS]),
        ),
        Mistake(
            "one row too early",
            "Row i of the logits tells what follows number i of all that was read, and <sos> is number 0: the answer "
            "begins in row len(question).",
            _matching(_early),
        ),
        Mistake(
            "no answer is ever found right",
            "Either the rows or lengths that you compare do not belong together (behind <sos>, question and answer, "
            "the "
            "rows from len(question) on say the answer and <eos>), or it is not always the most probable number that "
            "you take, whatever its probability is.",
            lambda model, pairs: 0.0,
        ),
        Mistake(
            "with dropout",
            "In training mode dropout takes numbers away at random, and another call gives another share. Call "
            "model.eval() first.",
            _matching(_exact, quiet=False),
        ),
        Mistake(
            "the model is left in evaluation mode",
            "Whoever goes on training after this call trains without dropout, and does not know. Put the mode back.",
            _matching(_exact, back=False),
        ),
        Mistake(
            "a count in place of a share",
            "Divide by the number of pairs.",
            lambda model, pairs: round(exact_match(model, pairs) * len(pairs)),
        ),
        Mistake(
            "per cent in place of a share",
            "A share lies between 0 and 1.",
            lambda model, pairs: 100 * exact_match(model, pairs),
        ),
    ],
    large=[_long()],
    hints=(
        "Look at the table of section 4: under the `?` stands the D. Now count the rows. `<sos>` is in row 0; if "
        "the question has 3 numbers, in which row does the model say the first number of the answer? An answer of "
        "2 numbers: how many rows must be right, if the model also has to stop there? And what must you do to the "
        "model before you ask it, and what after?",
        "The question is 7 8 9, the answer 5 6. The model reads 1 7 8 9 5 6 (`<sos>` is 1), six numbers, so six "
        "rows. Row 3, that of the 9, must say 5; row 4 must say 6; row 5 must say 2, which is `<eos>`. What rows 0 "
        "to 2 say does not matter. If the three rows say 5 6 2, the pair counts as 1. If they say 5 9 2 or 5 6 8, "
        "it counts as 0, not as two thirds: the second would have gone on writing. Dropout would make each call "
        "another one, hence `model.eval()`; whoever trains on afterwards wants the old mode back.",
        "Before the first question:\n"
        "```python\n"
        "was = model.training  # True or False\n"
        "model.eval()\n"
        "```\n"
        "Then for each pair, inside `torch.no_grad()`:\n\n"
        "1. The numbers in one row: `torch.tensor([[SOS, *question, *answer]])`, `(1, n)`.\n"
        "2. The model's logits, `(1, n, V)`, and in each row the most probable number: `(n,)`.\n"
        "3. Of these the rows that count, as many as the answer has numbers and one more: `# ...`\n"
        "4. Are they, as a whole, the answer and then EOS? That is one yes or no for the pair.\n\n"
        "At the end the mode goes back with `model.train(was)`, and the result is the number of yes, divided by "
        "the number of pairs.",
    ),
)
