"""Exercises of notebook 10: what a language model knows, and whether it knows that it knows."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from grading.exercise import Exercise, Mistake, Stage
from helpers.checking.answers import Ask, InProcess
from helpers.checking.plain import Generator, Model
from helpers.data import EOS, IGNORE, MASK, PAD, SOS

Pair = tuple[str, str]
Numbers = tuple[list[int], list[int]]
Part = tuple[Tensor, Tensor]


def _both(*draws: Callable[[random.Random], list[Ask]]) -> Callable[[random.Random], list[Ask]]:
    return lambda rng: [ask for draw in draws for ask in draw(rng)]


# --- corrupt_span -----------------------------------------------------------------------------------------------------


def _draw(low: int, high: int, rng: torch.Generator) -> int:
    return int(torch.randint(low, high + 1, (), generator=rng))


def _kept(text: Tensor, rng: torch.Generator, block: int) -> Tensor:
    """Returns the first numbers of the text, from 4 on as many as chance wants and as fit beside two masks."""
    return text[: _draw(min(4, len(text)), min(len(text), block - 1), rng)]


def _quarter(kept: Tensor, rng: torch.Generator) -> int:
    return _draw(1, max(1, len(kept) // 2 - 1), rng)


def _moved(kept: Tensor, start: int, length: int, block: int, order: str = "pmsmc", fill: int = PAD) -> Tensor:
    """Returns prefix, mask, suffix, mask, content in this order, padded to block + 1 numbers."""
    parts = {"p": kept[:start], "s": kept[start + length :], "c": kept[start : start + length]}
    whole = torch.cat([parts.get(letter, torch.tensor([MASK])) for letter in order])
    return F.pad(whole, (0, block + 1 - len(whole)), value=fill)


def corrupt_span(text: Tensor, rng: torch.Generator, block: int) -> tuple[Tensor, Tensor]:
    kept = _kept(text, rng, block)
    length = _quarter(kept, rng)
    whole = _moved(kept, _draw(0, len(kept) - length, rng), length, block)
    return whole[:-1], whole[1:]


def _corrupting(
    keep: Callable[[Tensor, torch.Generator, int], Tensor] = _kept,
    length: Callable[[Tensor, torch.Generator], int] = _quarter,
    start: Callable[[int, int, torch.Generator], int] = lambda kept, length, rng: _draw(0, kept - length, rng),
    order: str = "pmsmc",
    cut: Callable[[Tensor], Any] = lambda whole: (whole[:-1], whole[1:]),
    fill: int = PAD,
) -> Callable[[Tensor, torch.Generator, int], Any]:
    """Returns an answer that is wrong in one of these steps."""

    def answer(text: Tensor, rng: torch.Generator, block: int) -> Any:
        kept = keep(text, rng, block)
        hidden = length(kept, rng)
        return cut(_moved(kept, start(len(kept), hidden, rng), hidden, block, order, fill))

    return answer


def _whole_document(text: Tensor, rng: torch.Generator, block: int) -> Any:
    """Draws length and place of the content before the text is cut."""
    length = _quarter(text, rng)
    start = _draw(0, len(text) - length, rng)
    whole = _moved(_kept(text, rng, block), start, length, block)
    return whole[:-1], whole[1:]


def _own_generator(text: Tensor, rng: torch.Generator, block: int) -> Any:
    return corrupt_span(text, torch.Generator().manual_seed(random.randrange(2**31)), block)


def _own_specials(text: Tensor, rng: torch.Generator, block: int) -> Any:
    """Numbers mask and padding behind the characters."""
    x, y = corrupt_span(text, rng, block)
    mask = int(text.max()) + 1
    return tuple(row.where(row != MASK, torch.tensor(mask)).where(row != PAD, torch.tensor(mask + 1)) for row in (x, y))


def _span_asks(of: str, sizes: Callable[[random.Random], tuple[int, int]], take: str = "draws") -> Any:
    """Returns what asks for texts of n different numbers and blocks, `(n, block)` from `sizes`."""

    def draw(rng: random.Random) -> list[Ask]:
        n, block = sizes(rng)
        text = torch.tensor(rng.sample(range(MASK + 1, MASK + 1 + max(n, 100)), n))
        beside = {"of": of, "mask": MASK, "padding": PAD}
        return [Ask((text, Generator(rng.randrange(10**6)), block), take=take, beside=beside)]

    return draw


def _span_stage(name: str, points: float, look: str, *asks: Any) -> Stage:
    """Returns a stage of what `_span_asks` returns."""
    draw = _both(*asks)
    return Stage(name, points, look, draw(random.Random(10)), draw, measure="spans")


def _long(rng: random.Random) -> tuple[int, int]:
    return rng.randint(150, 200), rng.randint(60, 70)


def _longer(rng: random.Random) -> tuple[int, int]:
    return rng.randint(40, 60), rng.randint(18, 22)


def _shorter(rng: random.Random) -> tuple[int, int]:
    return rng.randint(14, 18), rng.randint(30, 40)


def _tiny(rng: random.Random) -> tuple[int, int]:
    return rng.randint(1, 3), rng.randint(8, 12)


_ONE = _span_asks("shift", _shorter, take="result")
_SEEDS = _span_asks("", _long, take="seeds")


CORRUPT_SPAN = Exercise(
    corrupt_span,
    [
        Stage(
            "x and y of `block` numbers, y one place ahead of x",
            1,
            "Make one list of block + 1 numbers. All but the last of them are x, all but the first are y.",
            [*_ONE(random.Random(1)), *_span_asks("shift", _longer)(random.Random(2))],
            lambda rng: [*_ONE(rng), *_span_asks("shift", _longer)(rng)],
            measure="spans",
        ),
        _span_stage(
            "prefix, <mask>, suffix, <mask>, content, padding",
            1.5,
            "Write it out for the text 5 6 7 8 9 with the content 7 8: 5 6 4 9 4 7 8 0 0 ..., where 4 is <mask> and 0 "
            "<pad>.",
            *(_span_asks("pattern", sizes) for sizes in (_longer, _shorter, _tiny)),
        ),
        _span_stage(
            "how much of the text is kept",
            1,
            "Every length from 4 to the smaller of len(text) and block - 1 equally often, and a text of fewer than 4 "
            "numbers whole.",
            *(_span_asks("kept", sizes) for sizes in (_longer, _shorter, _tiny)),
        ),
        _span_stage(
            "the length of the content",
            1.5,
            "It is drawn anew each time, is at least 1, and a quarter of what is kept (not of the text) on average. If "
            "it begins too late to fit, it is cut.",
            _span_asks("content", _long),
            _span_asks("ends", _long),
        ),
        _span_stage(
            "the place of the content",
            0.5,
            "It may begin with the first number that is kept, and it may end with the last.",
            _span_asks("place", _longer),
        ),
        Stage(
            "chance comes from rng alone",
            0.5,
            "Pass generator=rng to torch.randint. The same seed must give the same result, another seed another one.",
            _SEEDS(random.Random(3)),
            _SEEDS,
        ),
    ],
    [
        Mistake(
            "y is x itself",
            "Under each number stands the same number: a model that copies what it reads would be perfect. Make one "
            "number more than block, and let y begin one place later than x.",
            _corrupting(cut=lambda whole: (whole[:-1], whole[:-1])),
        ),
        Mistake(
            "x is ahead of y",
            "It is the other way round: y is the next number, so y begins with the second.",
            _corrupting(cut=lambda whole: (whole[1:], whole[:-1])),
        ),
        Mistake(
            "y is filled with IGNORE",
            "Fill both with <pad>: y is x one place ahead, in the padding too. IGNORE comes later, in `with_gaps`.",
            _corrupting(cut=lambda whole: (whole[:-1], whole[1:].masked_fill(whole[1:] == PAD, IGNORE))),
        ),
        Mistake(
            "length and place of the content are drawn from the whole text",
            "The text is cut first, and then the content often lies behind the cut: it is empty, and nothing is to be "
            "learned. Draw length and place from what is kept.",
            _whole_document,
        ),
        Mistake(
            "the length of the content is always the same",
            "A quarter is the mean. With one fixed length the model learns to count, and never has to know where a "
            "content ends. Draw the length.",
            _corrupting(length=lambda kept, rng: max(1, len(kept) // 4)),
        ),
        Mistake(
            "the content may be empty",
            "A draw from 0 has the right mean, but where the content is empty nothing is hidden. Draw from 1 on.",
            _corrupting(length=lambda kept, rng: _draw(0, len(kept) // 2, rng)),
        ),
        Mistake(
            "half of the text is hidden",
            "A length drawn from 1 to all that is kept has a mean of one half. For a mean of a quarter, draw up to a "
            "half.",
            _corrupting(length=lambda kept, rng: _draw(1, len(kept), rng)),
        ),
        Mistake(
            "the length of the content is drawn up to a quarter",
            "A quarter is the mean, not the most. Draw up to a half, and the mean is a quarter.",
            _corrupting(length=lambda kept, rng: _draw(1, max(1, len(kept) // 4), rng)),
        ),
        Mistake(
            "the text is not cut at random",
            "As much as fits is kept every time. Draw how much is kept, so that the model meets beginnings of all "
            "lengths.",
            _corrupting(keep=lambda text, rng, block: text[: block - 1]),
        ),
        Mistake(
            "short texts are kept whole too often",
            "text[:k] with a k beyond the end of the text is the whole text. Draw k up to the smaller of len(text) and "
            "block - 1.",
            _corrupting(keep=lambda text, rng, block: text[: _draw(4, block - 1, rng)]),
        ),
        Mistake(
            "one number fewer is kept than fits",
            "There are block + 1 places, because x and y are cut from one list. With two masks, block - 1 numbers fit.",
            _corrupting(keep=lambda text, rng, block: _kept(text, rng, block - 1)),
        ),
        Mistake(
            "no room is left for the two masks",
            "Two masks come in addition: of block + 1 places, block - 1 are left for the text. Here the end of the "
            "content is lost.",
            _corrupting(keep=lambda text, rng, block: text[: _draw(min(4, len(text)), min(len(text), block + 1), rng)]),
        ),
        Mistake(
            "the content stays in its place",
            "Marked by two masks and left where it was, the content is predicted from its prefix only. Move it behind "
            "the suffix, so that the model has read both sides.",
            _corrupting(order="pmcms"),
        ),
        Mistake(
            "the second mask is missing",
            "Without a mask between suffix and content, nothing tells the model where the content begins.",
            _corrupting(order="pmsc"),
        ),
        Mistake(
            "the last number is never hidden",
            "The last start is `kept - length`, and it counts: torch.randint leaves its upper limit out, so that must "
            "be kept - length + 1.",
            _corrupting(start=lambda kept, length, rng: _draw(0, max(0, kept - length - 1), rng)),
        ),
        Mistake(
            "the content may begin so late that it is cut",
            "With a start up to the last number, text[start : start + length] often is shorter than `length`. The last "
            "start at which all of the content fits is kept - length.",
            _corrupting(start=lambda kept, length, rng: _draw(0, kept - 1, rng)),
        ),
        Mistake(
            "the padding is made of masks",
            "<mask> marks the gap and the content. Behind the content stands <pad>, which is not scored.",
            _corrupting(fill=MASK),
        ),
        Mistake(
            "mask and padding have other numbers",
            "The special tokens come first in every vocabulary of the course: <pad> is PAD (0) and <mask> is MASK (4), "
            "whatever characters the text has. With other numbers the model reads letters where gaps are meant.",
            _own_specials,
        ),
        Mistake(
            "chance does not come from rng",
            "Draw with torch.randint(..., generator=rng): only then does the same seed give the same run.",
            _own_generator,
        ),
    ],
)


# --- constant_baseline ------------------------------------------------------------------------------------------------


def constant_baseline(pairs: list[Pair], others: list[Pair]) -> tuple[str, float]:
    place = Counter(answer for _, answer in pairs).most_common(1)[0][0]
    return place, sum(answer == place for _, answer in others) / len(others)


PLACES = ["Lyon", "Porto", "Prague", "Turin", "Bergen", "Leeds", "Vienna", "Ghent", "Basel", "Krakow", "Malaga", "Oslo"]


def _asked(rng: random.Random, places: list[str]) -> list[Pair]:
    """Returns a pair for each place, in any order, about different people."""
    places, letters = rng.sample(places, len(places)), "abcdefghijklmnoprstuv"
    names = ["".join(rng.choices(letters, k=6)).title() for _ in places]
    return [(f"Where was {name} born?", place) for name, place in zip(names, places, strict=True)]


def _draw_baseline(rng: random.Random) -> list[Ask]:
    """Draws pairs and others with the same most frequent place."""
    first, second, *rest = rng.sample(PLACES, 8)
    pairs = _asked(rng, [first] * 5 + [second] * 2 + rest + rest[:3])
    return [Ask((pairs, _asked(rng, [first] * rng.randint(3, 5) + [second] + rest[: rng.randint(3, 6)])))]


def _draw_shifted(rng: random.Random) -> list[Ask]:
    """Draws pairs and others with different favourites, and yet another place that is the most frequent of all."""
    first, second, third, *rest = rng.sample(PLACES, 8)
    pairs = _asked(rng, [first] * 6 + [second] * 5 + rest)
    others = _asked(rng, [first] * rng.randint(0, 1) + [second] * 3 + [third] * 4 + rest[: rng.randint(2, 5)])
    return [Ask((pairs, others))]


def _draw_tie(rng: random.Random) -> list[Ask]:
    """Draws pairs with three most frequent places: the first to come is the last by name."""
    *rest, low, middle, high = sorted(rng.sample(PLACES, 8))
    pairs = [pair for place in (rest[0], high, low, middle) for pair in _asked(rng, [place])]
    pairs += _asked(rng, [low, middle, high, *rest[1:]])
    return [Ask((pairs, _asked(rng, [low, middle, high, *rest, rest[0]])))]


def _counted(answer: Callable[[list[Pair], list[Pair]], str]) -> Callable[[list[Pair], list[Pair]], Any]:
    """Returns an answer that says this place, and rightly the share of the others that were born there."""

    def say(pairs: list[Pair], others: list[Pair]) -> Any:
        place = answer(pairs, others)
        return place, sum(found == place for _, found in others) / len(others)

    return say


def _most_common(pairs: list[Pair]) -> str:
    return constant_baseline(pairs, pairs)[0]


def _first_of_alphabet(places: list[str]) -> str:
    return min(places, key=lambda place: (-places.count(place), place))


CONSTANT_BASELINE = Exercise(
    constant_baseline,
    [
        Stage(
            "the most frequent place, and its share",
            1,
            "Count the answers of `pairs`; then count how many of `others` have the most frequent of them.",
            _draw_baseline(random.Random(1)),
            _both(_draw_baseline, _draw_baseline),
        ),
        Stage(
            "another place is more frequent among the others",
            0.5,
            "The place is chosen before the others are looked at: from `pairs` alone, even where it does badly.",
            _draw_shifted(random.Random(2)),
            _both(_draw_shifted, _draw_shifted),
        ),
        Stage(
            "two places are equally frequent",
            0.5,
            "Then the one that comes first in `pairs` counts; Counter.most_common keeps that order.",
            _draw_tie(random.Random(3)),
            _draw_tie,
        ),
    ],
    [
        Mistake(
            "the place is chosen on the test set",
            "This is the place that does best on `others`: whoever chooses after having seen the answers has no "
            "baseline. Choose on `pairs`, score on `others`.",
            _counted(lambda pairs, others: _most_common(others)),
        ),
        Mistake(
            "the place is chosen on all pairs together",
            "The test set has taken part in the choice. Choose on `pairs` only, score on `others`.",
            _counted(lambda pairs, others: _most_common([*pairs, *others])),
        ),
        Mistake(
            "the share is that of the pairs it was chosen on",
            "How well the place does where it was chosen says too much good: the share of `others` is asked.",
            lambda pairs, others: constant_baseline(pairs, pairs),
        ),
        Mistake(
            "a count in place of a share",
            "Divide by the number of `others`.",
            lambda pairs, others: (_most_common(pairs), sum(a == _most_common(pairs) for _, a in others)),
        ),
        Mistake(
            "per cent in place of a share",
            "A share lies between 0 and 1.",
            lambda pairs, others: (_most_common(pairs), 100 * constant_baseline(pairs, others)[1]),
        ),
        Mistake(
            "of equally frequent places, the first of the alphabet",
            "Where two places are equally frequent, the one that comes first in `pairs` counts.",
            _counted(lambda pairs, others: _first_of_alphabet([answer for _, answer in pairs])),
        ),
        Mistake(
            "the place without its share",
            "Return two things: the place, and the share of `others` for which it is right.",
            lambda pairs, others: _most_common(pairs),
        ),
    ],
)


# --- exact_match ------------------------------------------------------------------------------------------------------


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


def _draw_matches(*shares: tuple[str, int], **settings: Any) -> Callable[[random.Random], list[Ask]]:
    """Returns what asks about pairs: of each kind, "right", one of `SPECIAL` or spoilt in some way, so many."""

    def draw(rng: random.Random) -> list[Ask]:
        recipe, found = _knowing(rng, *(how for how, _ in shares if how in SPECIAL))
        pairs = []
        for how, count in shares:
            chosen = [found.get(how, found["right"])[n % len(found.get(how, found["right"]))] for n in range(count)]
            pairs += chosen if how in found else _spoilt(chosen, rng, how)
        return [Ask((recipe, rng.sample(pairs, len(pairs))), **settings)]

    return draw


def _draw_modes(training: bool, **settings: Any) -> Callable[[random.Random], list[Ask]]:
    def draw(rng: random.Random) -> list[Ask]:
        recipe, found = _knowing(rng)
        return [Ask((_asking_model(recipe.seed, training), found["right"] * 2), **settings)]

    return draw


_ALL_OR_NONE = _both(
    _draw_matches(("right", 3)),
    _draw_matches(("first", 2)),
    _draw_matches(("without <sos>", 2)),
    _draw_matches(("a row too early", 2)),
)
_SOME = _both(_draw_matches(("right", 3), ("first", 2)), _draw_matches(("right", 1), ("first", 3)))
_NEARLY = _both(
    _draw_matches(("right", 2), ("last", 3)),
    _draw_matches(("right", 1), ("short", 3)),
    _draw_matches(("right", 3), ("long", 1)),
    _draw_matches(("right", 1), ("beyond", 2)),
    _draw_matches(("right", 2), ("endless", 1)),
)
_MODES = _both(_draw_modes(True, take="mode"), _draw_modes(False, take="mode"))


EXACT_MATCH = Exercise(
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


# --- risk_coverage ----------------------------------------------------------------------------------------------------


def risk_coverage(confidence: Tensor, right: Tensor) -> Part:
    order = confidence.argsort(descending=True)
    answered = torch.arange(1, len(right) + 1)
    return answered / len(right), (~right[order]).cumsum(dim=0) / answered


def _people(rng: random.Random, n: int, sure: float = 0.5) -> Part:
    """Returns different confidences, and whether the answer is right: the surer, the more often."""
    confidence = [number / 100 for number in rng.sample(range(5, 100), n)]
    right = [rng.random() < sure * c + 0.3 for c in confidence]
    return torch.tensor(confidence), torch.tensor(right)


def _told_apart(confidence: Tensor, right: Tensor, in_order: bool) -> bool:
    """Says whether another order of the people, or of `right` alone, gives another curve."""
    down = confidence.argsort(descending=True)
    orders = [down, down.flip(0)] + ([] if in_order else [down.argsort(), torch.arange(len(right))])
    curves = [right.sort(descending=True).values, *(right[order] for order in orders)]
    return len(right) < 3 or len({tuple(curve.tolist()) for curve in curves}) == len(curves)


def _draw_curve(in_order: bool, *sizes: int) -> Callable[[random.Random], list[Ask]]:
    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for n in sizes:
            confidence, right = _people(rng, n)
            while not _told_apart(confidence, right, in_order):
                confidence, right = _people(rng, n)
            order = confidence.argsort(descending=True) if in_order else torch.arange(n)
            asks.append(Ask((confidence[order], right[order])))
        return asks

    return draw


def _curve(
    order: Callable[[Tensor], Tensor] = lambda confidence: confidence.argsort(descending=True),
    risk: Callable[[Tensor], Tensor] = lambda right: (~right).cumsum(0) / torch.arange(1, len(right) + 1),
    first: int = 1,
) -> Callable[[Tensor, Tensor], Part]:
    def answer(confidence: Tensor, right: Tensor) -> Part:
        return torch.arange(first, len(right) + first) / len(right), risk(right[order(confidence)])

    return answer


RISK_COVERAGE = Exercise(
    risk_coverage,
    [
        Stage(
            "people in the order of confidence",
            1,
            "After k answers the coverage is k / n, and the risk is the number of wrong ones among these k, through k.",
            _draw_curve(True, 4)(random.Random(1)),
            _draw_curve(True, 5, 8),
        ),
        Stage(
            "people in any order",
            1.5,
            "The model answers first where it is surest: sort by confidence, largest first, and let `right` follow.",
            _draw_curve(False, 5)(random.Random(2)),
            _draw_curve(False, 7, 12),
        ),
        Stage(
            "one person",
            0.5,
            "With one person there is one point, at coverage 1.",
            [Ask((torch.tensor([0.4]), torch.tensor([False])))],
            lambda rng: [Ask((torch.tensor([rng.random()]), torch.tensor([bool(n)]))) for n in range(2)],
        ),
    ],
    [
        Mistake(
            "the least sure first",
            "argsort puts the smallest first. The model answers first where it is surest: descending=True.",
            _curve(order=lambda confidence: confidence.argsort()),
        ),
        Mistake(
            "not sorted",
            "`right` must follow the confidences, the largest first.",
            _curve(order=lambda confidence: torch.arange(len(confidence))),
        ),
        Mistake(
            "wrong answers as a share of all people",
            "Risk concerns those who got an answer: divide by k, the number of answers so far, not by n.",
            _curve(risk=lambda right: (~right).cumsum(0) / len(right)),
        ),
        Mistake(
            "the share of right answers",
            "That is the accuracy. The risk is the share of wrong ones.",
            _curve(risk=lambda right: right.cumsum(0) / torch.arange(1, len(right) + 1)),
        ),
        Mistake(
            "whether each answer is wrong, without counting",
            "The risk at coverage k / n concerns all k answers so far: count with cumsum, and divide by k.",
            _curve(risk=lambda right: (~right).float()),
        ),
        Mistake(
            "coverage begins at 0",
            "The first point is the one after the first answer, at coverage 1 / n; the last has coverage 1.",
            _curve(first=0),
        ),
        Mistake(
            "coverage and risk are exchanged",
            "Coverage comes first: it rises from 1 / n to 1.",
            lambda confidence, right: risk_coverage(confidence, right)[::-1],
        ),
    ],
)


# --- answer_or_abstain ------------------------------------------------------------------------------------------------


def _choices(part: Part) -> list[tuple[float, float, float]]:
    """Returns each possible threshold, the highest first, with the coverage and the risk that it gives."""
    confidence, right = part
    found = []
    for threshold in sorted(set(confidence.tolist()), reverse=True):
        answered = confidence >= threshold
        found.append((threshold, float(answered.float().mean()), float((~right[answered]).float().mean())))
    return found


def _lowest(choices: list[tuple[float, float, float]], max_risk: float) -> float:
    return min((threshold for threshold, _, risk in choices if risk <= max_risk), default=math.inf)


def _outcome(part: Part, threshold: float) -> tuple[float, float]:
    confidence, right = part
    answered = confidence >= threshold
    wrong = int((answered & ~right).sum())
    return int(answered.sum()) / len(right), wrong / max(1, int(answered.sum()))


def answer_or_abstain(dev: Part, test: Part, max_risk: float) -> tuple[float, float, float]:
    threshold = _lowest(_choices(dev), max_risk)
    return threshold, *_outcome(test, threshold)


def _together(dev: Part, test: Part) -> Part:
    return torch.cat([dev[0], test[0]]), torch.cat([dev[1], test[1]])


def _until_too_risky(choices: list[tuple[float, float, float]], max_risk: float) -> float:
    found = math.inf
    for threshold, _, risk in choices:
        if risk > max_risk:
            break
        found = threshold
    return found


def _abstaining(choose: Callable[[Part, Part, float], float], on: Any = lambda dev, test: test) -> Any:
    """Returns an answer that chooses the threshold in this way, and measures it on this part."""

    def answer(dev: Part, test: Part, max_risk: float) -> tuple[float, float, float]:
        threshold = choose(dev, test, max_risk)
        return threshold, *_outcome(on(dev, test), threshold)

    return answer


def _chosen(dev: Part, test: Part, max_risk: float) -> float:
    return _lowest(_choices(dev), max_risk)


def _above(dev: Part, test: Part, max_risk: float) -> tuple[float, float, float]:
    """Answers only where the confidence is larger than the threshold."""
    threshold = _chosen(dev, test, max_risk)
    return threshold, *_outcome(test, math.nextafter(threshold, math.inf) + 1e-6)


def _risk_of_all(dev: Part, test: Part, max_risk: float) -> tuple[float, float, float]:
    def part_of_all(part: Part) -> list[tuple[float, float, float]]:
        return [(threshold, coverage, risk * coverage) for threshold, coverage, risk in _choices(part)]

    threshold = _lowest(part_of_all(dev), max_risk)
    coverage, risk = _outcome(test, threshold)
    return threshold, coverage, coverage * risk


def _accuracy_wanted(dev: Part, test: Part, max_risk: float) -> tuple[float, float, float]:
    wanted = [(threshold, coverage, 1 - risk) for threshold, coverage, risk in _choices(dev)]
    threshold = _lowest(wanted, max_risk)
    coverage, risk = _outcome(test, threshold)
    return threshold, coverage, 1 - risk


def _one_by_one(dev: Part, test: Part, max_risk: float) -> tuple[float, float, float]:
    """Takes the people one by one, also where several are equally sure."""
    confidence, right = dev
    order = confidence.argsort(descending=True, stable=True)
    risk = risk_coverage(confidence[order], right[order])[1].tolist()
    fitting = [float(c) for c, r in zip(confidence[order], risk, strict=True) if r <= max_risk]
    threshold = min(fitting, default=math.inf)
    return threshold, *_outcome(test, threshold)


RISKS = (0.31, 0.36, 0.41)  # no share of up to 12 people, so that rounding decides nothing


def _drawn_rule(wanted: Callable[[Part, Part, float], bool], count: int = 1) -> Callable[[random.Random], list[Ask]]:
    """Returns what asks about people that are as wanted, and for whom it matters where the threshold is chosen."""

    def one(rng: random.Random) -> Ask:
        for _ in range(2000):
            dev, test = _people(rng, rng.randint(8, 12), 0.6), _people(rng, rng.randint(8, 12), 0.6)
            max_risk = rng.choice(RISKS)
            thresholds = {_lowest(_choices(part), max_risk) for part in (dev, test, _together(dev, test))}
            if len(thresholds) == 3 and wanted(dev, test, max_risk) and _coverage(dev, test, max_risk) > 0:
                return Ask((dev, test, max_risk))
        raise AssertionError("2000 draws, and none is as wanted")

    return lambda rng: [one(rng) for _ in range(count)]


def _coverage(dev: Part, test: Part, max_risk: float) -> float:
    return answer_or_abstain(dev, test, max_risk)[1]


def _steady(dev: Part, test: Part, max_risk: float) -> bool:
    """Says whether the risk on dev, once too high, stays so, and the threshold is neither the first nor the last."""
    choices = _choices(dev)
    chosen = _chosen(dev, test, max_risk)
    return chosen == _until_too_risky(choices, max_risk) and choices[-1][0] < chosen < choices[0][0]


def _unsteady(dev: Part, test: Part, max_risk: float) -> bool:
    first = _until_too_risky(_choices(dev), max_risk)
    return first != _chosen(dev, test, max_risk) and _outcome(test, first) != _outcome(
        test, _chosen(dev, test, max_risk)
    )


def _draw_equal(rng: random.Random) -> list[Ask]:
    """Draws a dev part where right and wrong answers are equally sure, and a test part that meets the threshold."""
    high, middle, low = sorted(rng.sample(range(30, 95), 3), reverse=True)
    confidence = torch.tensor([high + 2, high, middle, middle, middle, low, low - 10]) / 100
    dev = confidence, torch.tensor([True, True, True, False, False, False, False])
    test = torch.tensor([high, middle, high, low, high + 1]) / 100, torch.tensor([False, True, True, False, True])
    return [Ask((dev, test, 0.25))]


def _draw_limit(rng: random.Random) -> list[Ask]:
    """Draws a dev part whose risk is exactly as high as allowed."""
    numbers = sorted(rng.sample(range(20, 98), 6), reverse=True)
    dev = torch.tensor(numbers) / 100, torch.tensor([True, False, True, True, False, False])
    test = (
        torch.tensor([numbers[3], numbers[0], numbers[4], numbers[5]]) / 100,
        torch.tensor([True, False, True, False]),
    )
    return [Ask((dev, test, 0.25))]


def _draw_hopeless(rng: random.Random) -> list[Ask]:
    confidence, right = _people(rng, 6)
    return [Ask(((confidence, torch.zeros(6, dtype=torch.bool)), (confidence - 0.02, right), 0.2))]


def _draw_nobody(rng: random.Random) -> list[Ask]:
    """Draws a dev part with a good threshold, and a test part in which nobody is as sure."""
    confidence, right = _people(rng, 6)
    dev = torch.tensor([0.9, 0.97, 0.95]), torch.tensor([False, True, True])
    return [Ask((dev, (0.8 * confidence, right), 0.2))]


ANSWER_OR_ABSTAIN = Exercise(
    answer_or_abstain,
    [
        Stage(
            "a threshold from dev, coverage and risk on test",
            1,
            "Try each confidence of dev as the threshold and take the lowest whose risk on dev is at most max_risk.",
            _drawn_rule(_steady)(random.Random(1)),
            _drawn_rule(_steady, 2),
        ),
        Stage(
            "the risk goes up and comes down again",
            1,
            "One wrong answer among the surest is no reason to stop: look at all thresholds before you choose.",
            _drawn_rule(_unsteady)(random.Random(2)),
            _drawn_rule(_unsteady, 2),
        ),
        Stage(
            "a risk exactly as high as allowed, a confidence exactly at the threshold",
            0.5,
            "Both are allowed: risk <= max_risk, and whoever has confidence >= threshold gets an answer.",
            _draw_limit(random.Random(3)),
            _draw_limit,
        ),
        Stage(
            "several people are equally sure",
            0.5,
            "A threshold lets all of them in or none: their risk counts only together.",
            _draw_equal(random.Random(4)),
            _draw_equal,
        ),
        Stage(
            "nobody gets an answer",
            1,
            "Where no threshold is good enough, it is math.inf. Where it is above all confidences of test, nobody gets "
            "an answer either. Coverage and risk are 0 then.",
            _both(_draw_hopeless, _draw_nobody)(random.Random(5)),
            _both(_draw_hopeless, _draw_nobody),
        ),
    ],
    [
        Mistake(
            "the threshold is chosen on test",
            "A threshold that has seen the answers of test keeps its promise there by construction, and nowhere else. "
            "Choose on dev, measure on test.",
            _abstaining(lambda dev, test, max_risk: _lowest(_choices(test), max_risk)),
        ),
        Mistake(
            "the threshold is chosen on dev and test together",
            "The answers of test took part in the choice. Choose on dev alone.",
            _abstaining(lambda dev, test, max_risk: _lowest(_choices(_together(dev, test)), max_risk)),
        ),
        Mistake(
            "coverage and risk are those of dev",
            "On dev the risk is below max_risk because you chose it so. What it is worth shows on test.",
            _abstaining(_chosen, on=lambda dev, test: dev),
        ),
        Mistake(
            "it stops at the first threshold that is too risky",
            "One wrong answer among the surest makes the risk high for a moment. Look at all thresholds, and take the "
            "lowest that is good enough.",
            _abstaining(lambda dev, test, max_risk: _until_too_risky(_choices(dev), max_risk)),
        ),
        Mistake(
            "the highest threshold in place of the lowest",
            "The highest one answers hardly anybody. Of those with an allowed risk, take the lowest: it answers most.",
            _abstaining(
                lambda dev, test, max_risk: max((t for t, _, r in _choices(dev) if r <= max_risk), default=math.inf)
            ),
        ),
        Mistake(
            "who is exactly at the threshold gets no answer",
            "Confidence >= threshold: the person whose confidence is the threshold was counted when it was chosen.",
            _above,
        ),
        Mistake(
            "wrong answers as a share of all people",
            "The risk is a share of the answers given, not of all who asked. Otherwise silence alone makes it small.",
            _risk_of_all,
        ),
        Mistake(
            "risk and accuracy are confused",
            "The risk is the share of wrong answers, not of right ones.",
            _accuracy_wanted,
        ),
        Mistake(
            "risk before coverage",
            "Three numbers, in this order: the threshold, the coverage on test, the risk on test.",
            lambda dev, test, max_risk: tuple(answer_or_abstain(dev, test, max_risk)[n] for n in (0, 2, 1)),
        ),
        Mistake(
            "a count in place of the coverage",
            "The coverage is a share: divide the number of answers by that of the people in test.",
            lambda dev, test, max_risk: (
                (found := answer_or_abstain(dev, test, max_risk))[0],
                round(found[1] * len(test[1])),
                found[2],
            ),
        ),
        Mistake(
            "people who are equally sure are taken one by one",
            "A threshold cannot tell them apart: look at all with confidence >= threshold together.",
            _one_by_one,
        ),
        Mistake(
            "a risk that is exactly max_risk is refused",
            "max_risk is the highest risk that is allowed: risk <= max_risk.",
            _abstaining(
                lambda dev, test, max_risk: min((t for t, _, r in _choices(dev) if r < max_risk), default=math.inf)
            ),
        ),
    ],
)

EXERCISES = [CORRUPT_SPAN, CONSTANT_BASELINE, EXACT_MATCH, RISK_COVERAGE, ANSWER_OR_ABSTAIN]
