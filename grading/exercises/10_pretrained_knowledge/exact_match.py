"""Exercise exact_match of notebook 10."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from grading.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw, both
from helpers.checking.answers import Ask, InProcess
from helpers.checking.plain import Model
from helpers.data import EOS, MASK, SOS

Numbers = tuple[list[int], list[int]]


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
    return _written(model, question, len(wanted) + 1) == [*wanted, EOS]


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


# Seeds of models that come to an end for many questions. Others do too, but to find them takes longer.
TALKATIVE = (1, 57, 107, 121, 131, 174, 196, 210, 233, 242, 257, 260, 299, 386)
STEPS = 7
LONGEST = 64  # of what the models read: enough for everybody who stops at all


def _asking_model(seed: int, training: bool = False) -> Model:
    shape = {"vocab_size": 12, "d_model": 32, "n_layers": 1, "n_heads": 2, "norm_first": True, "max_len": LONGEST}
    base = Model("TransformerBase", shape | {"dropout": 0.95 if training else 0.0}, seed)
    return Model("LanguageModel", {"base": base}, seed, training=training)


@torch.no_grad()
def _most_probable(model: Any, tokens: Tensor, steps: int, late: int) -> tuple[Tensor, Tensor]:
    """Returns what the model says step by step behind each row, `(b, steps)`, and by how much each was preferred.

    Each is looked for `late` rows too early: 0 is the usual way of writing.
    """
    n, margins = tokens.shape[1], []
    for step in range(steps):
        best = model(tokens[:, : n + step - late])[:, -1].topk(2)
        margins.append(best.values[:, 0] - best.values[:, 1])
        tokens = torch.cat([tokens, best.indices[:, :1]], dim=1)
    return tokens[:, n:], torch.stack(margins, dim=1)


def _rows_written(
    recipe: Model, read: list[list[int]], steps: int = STEPS, late: int = 0, sure: int = STEPS
) -> list[list[int]]:
    """Returns what the model writes behind each list of numbers, cut where it hesitates in one of the `sure` first."""
    reply = InProcess(_most_probable).ask(Ask((recipe, torch.tensor(read), steps, late)), 20)
    written, margins = reply.value  # of the very model that an answer will get
    margins[:, sure:] = math.inf
    clear = [[*(margin > 0.03).tolist(), False].index(False) for margin in margins]
    return [row[:size] for row, size in zip(written.tolist(), clear, strict=True)]


def _answer(row: list[int], at_least: int = 1) -> list[int]:
    """Returns the words before <eos>; [] when there is no <eos>, and when not all before it are words."""
    words = row[: row.index(EOS)] if EOS in row else []
    return words if len(words) >= at_least and min(words) > MASK else []


def _answers(recipe: Model, questions: list[list[int]], read: list[list[int]], late: int = 0) -> list[Numbers]:
    rows = _rows_written(recipe, read, late=late)
    return [(q, words) for q, row in zip(questions, rows, strict=True) if (words := _answer(row, 2))]


def _clearly_wrong(recipe: Model, pairs: list[Numbers]) -> list[Numbers]:
    """Returns the pairs in whose answers the model writes another number before it hesitates."""
    rows = _rows_written(recipe, [[SOS, *question] for question, _ in pairs]) if pairs else []
    return [
        pair
        for pair, row in zip(pairs, rows, strict=True)
        if any(said != wanted for said, wanted in zip(row, [*pair[1], EOS], strict=False))
    ]


def _deceived(recipe: Model, known: list[Numbers], questions: list[list[int]]) -> list[Numbers]:
    """Returns pairs of which only the first number is wrong: told that, the model goes on as is wanted."""
    begun = [(q, other) for q, answer in known for other in range(MASK + 1, 12) if other != answer[0]]
    rests = _rows_written(recipe, [[SOS, *question, first] for question, first in begun])
    return [(q, [first, *_answer(row)]) for (q, first), row in zip(begun, rests, strict=True) if _answer(row)]


def _beyond(recipe: Model, known: list[Numbers], questions: list[list[int]]) -> list[Numbers]:
    """Returns answers with one number more: what the model says when it has to go on after <eos>."""
    rows = [_rows_written(recipe, [[SOS, *q, *answer, EOS]], steps=1)[0] for q, answer in known]
    return [(q, [*answer, *row]) for (q, answer), row in zip(known, rows, strict=True) if row and row[0] > MASK]


def _endless(recipe: Model, known: list[Numbers], questions: list[list[int]]) -> list[Numbers]:
    """Returns questions that the model never ends to answer, with the first three numbers that it writes."""
    steps = LONGEST - 1 - len(questions[0])
    rows = _rows_written(recipe, [[SOS, *question] for question in questions], steps, sure=4)
    return [
        (question, row[:3])
        for question, row in zip(questions, rows, strict=True)
        if len(row) == steps and EOS not in row and min(row[:3]) > MASK
    ]


def _without_sos(recipe: Model, known: list[Numbers], questions: list[list[int]]) -> list[Numbers]:
    """Returns answers that the model gives only without <sos>."""
    return _clearly_wrong(recipe, _answers(recipe, questions, questions))


def _too_early(recipe: Model, known: list[Numbers], questions: list[list[int]]) -> list[Numbers]:
    """Returns answers that the model gives when each is looked for one row too early."""
    return _clearly_wrong(recipe, _answers(recipe, questions, [[SOS, *q] for q in questions], late=1))


SPECIAL = {
    "first": _deceived,
    "beyond": _beyond,
    "endless": _endless,
    "without <sos>": _without_sos,
    "a row too early": _too_early,
}


def _knowing(rng: random.Random, *kinds: str) -> tuple[Model, dict[str, list[Numbers]]]:
    """Returns a model, three or four pairs that it answers rightly, and wrong ones of these kinds of `SPECIAL`."""
    for seed in [*rng.sample(TALKATIVE, len(TALKATIVE)), *rng.sample(range(10**6), 300)]:
        recipe = _asking_model(seed)
        questions = [[rng.randrange(MASK + 1, 12) for _ in range(4)] for _ in range(100)]
        written = _answers(recipe, questions, [[SOS, *question] for question in questions])
        known = list({tuple(answer): (question, answer) for question, answer in written}.values())[:4]
        if len(known) < 3:
            continue
        found = {"right": known} | {kind: SPECIAL[kind](recipe, known, questions) for kind in kinds}
        if all(found.values()):
            return recipe, found
    raise AssertionError("300 models, and none is as wanted")


def _other(number: int, rng: random.Random) -> int:
    return rng.choice([other for other in range(MASK + 1, 12) if other != number])


def _spoilt(pairs: list[Numbers], rng: random.Random, how: str) -> list[Numbers]:
    """Returns the pairs with answers that are nearly those of the model."""
    change: dict[str, Callable[[list[int]], list[int]]] = {
        "last": lambda answer: [*answer[:-1], _other(answer[-1], rng)],
        "short": lambda answer: answer[:-1],
        "long": lambda answer: [*answer, rng.randrange(MASK + 1, 12)],
    }
    return [(question, change[how](answer)) for question, answer in pairs]


def _draw_matches(*shares: tuple[str, int], **settings: Any) -> Draw:
    """Returns what asks about pairs: of each kind, "right", one of `SPECIAL` or spoilt in some way, so many."""

    def draw(rng: random.Random) -> list[Ask]:
        recipe, found = _knowing(rng, *(how for how, _ in shares if how in SPECIAL))
        pairs = []
        for how, count in shares:
            chosen = [found.get(how, found["right"])[n % len(found.get(how, found["right"]))] for n in range(count)]
            pairs += chosen if how in found else _spoilt(chosen, rng, how)
        return [Ask((recipe, rng.sample(pairs, len(pairs))), **settings)]

    return draw


def _draw_modes(training: bool, **settings: Any) -> Draw:
    def draw(rng: random.Random) -> list[Ask]:
        recipe, found = _knowing(rng)
        return [Ask((_asking_model(recipe.seed, training), found["right"] * 2), **settings)]

    return draw


_ALL_OR_NONE = both(
    _draw_matches(("right", 3)),
    _draw_matches(("first", 2)),
    _draw_matches(("without <sos>", 2)),
    _draw_matches(("a row too early", 2)),
)
_SOME = both(_draw_matches(("right", 3), ("first", 2)), _draw_matches(("right", 1), ("first", 3)))
_NEARLY = both(
    _draw_matches(("right", 2), ("last", 3)),
    _draw_matches(("right", 1), ("short", 3)),
    _draw_matches(("right", 3), ("long", 1)),
    _draw_matches(("right", 1), ("beyond", 2)),
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
            _ALL_OR_NONE,
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
            "One wrong number at the end, an end that comes too early or too late: <eos> is part of the answer.",
            _NEARLY(random.Random(3)),
            _NEARLY,
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
            "Look at the lengths and the rows of what you compare: behind <sos>, question and answer, the rows from "
            "len(question) on say the answer and <eos>.",
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
)
