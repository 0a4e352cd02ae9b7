"""Exercise corrupt_span of notebook 10."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from grading.definitions.definition import Definition, Stage
from grading.exercises.draws import Draw, both, fixed
from helpers.batches import IGNORE  # noqa: F401 - known mistakes use it
from helpers.vocabulary import MASK, PAD
from tutor.checking.answers import Question
from tutor.checking.plain import Generator


def _draw(low: int, high: int, rng: torch.Generator) -> int:
    return int(torch.randint(low, high + 1, (), generator=rng))


def _kept(text: Tensor, rng: torch.Generator, block: int) -> Tensor:
    """Returns the first numbers of the text, from 4 on as many as chance wants and as fit beside two masks."""
    return text[: _draw(min(4, len(text)), min(len(text), block - 1), rng)]


def _quarter(kept: Tensor, rng: torch.Generator) -> int:
    return _draw(1, max(1, len(kept) // 2 - 1), rng)


def _moved(kept: Tensor, start: int, length: int, block: int, order: str = "pmsmc", fill: int = PAD) -> Tensor:
    """Returns prefix, mask, suffix, mask, content in this order, padded or cut to block + 1 numbers."""
    numbers = kept.tolist()  # it is called thousands of times, and lists are fast
    end = start + length
    parts = {"p": numbers[:start], "m": [MASK], "s": numbers[end:], "c": numbers[start:end]}
    whole = [number for letter in order for number in parts[letter]]
    return torch.tensor([*whole, *[fill] * (block + 1 - len(whole))][: block + 1])


exercise = Definition(minutes=40, difficulty=3)


@exercise.reference
def corrupt_span(text: Tensor, rng: torch.Generator, block: int) -> tuple[Tensor, Tensor]:
    kept = _kept(text, rng, block)
    length = _quarter(kept, rng)
    whole = _moved(kept, _draw(0, len(kept) - length, rng), length, block)
    return whole[:-1], whole[1:]


def _span_asks(
    of: str, sizes: Callable[[random.Random], tuple[int, int]], probe: str = "draws", letters: int = 0, **more: Any
) -> Draw:
    """Returns what asks for texts of n numbers and blocks, `(n, block)` from `sizes`.

    The numbers are all different, or of so few `letters` that what is hidden stands at several positions.
    """

    def draw(rng: random.Random) -> list[Question]:
        n, block = sizes(rng)
        text = torch.tensor(rng.sample(range(MASK + 1, MASK + 1 + max(n, 100)), n))
        text = MASK + 1 + text % letters if letters else text
        extra = {"of": of, "mask": MASK, "padding": PAD}
        return [Question((text, Generator(rng.randrange(10**6)), block), probe=probe, extra=extra, **more)]

    return draw


def _span_stage(
    name: str, points: float, feedback: str, public: list[Draw], drawn: Draw, decisive: bool = False
) -> Stage:
    """Returns a stage of what `_span_asks` returns; grading asks the public ones as well.

    Public ones of the same sizes are the same in all stages: they are asked once, which is 600 calls of an answer. And
    what is drawn is of one kind, by chance, since everybody is asked all of them.
    """
    asks = [ask for draw in public for ask in draw(random.Random(10))]
    return Stage(name, points, feedback, asks, drawn, measure="spans", decisive=decisive)


def _one_of(draws: Sequence[Draw]) -> Draw:
    """Returns what draws a question of one kind."""
    return lambda rng: rng.choice(draws)(rng)


def _long(rng: random.Random) -> tuple[int, int]:
    return rng.randint(150, 200), rng.randint(60, 70)


def _longer(rng: random.Random) -> tuple[int, int]:
    return rng.randint(40, 60), rng.randint(18, 22)


def _shorter(rng: random.Random) -> tuple[int, int]:
    return rng.randint(14, 18), rng.randint(30, 40)


def _smallest_block(rng: random.Random) -> tuple[int, int]:
    return rng.randint(20, 30), 8


def _tiny(n: int) -> Callable[[random.Random], tuple[int, int]]:
    return lambda rng: (n, rng.randint(8, 12))


def _small(rng: random.Random) -> tuple[int, int]:
    """Three lengths may be kept, and the padding is seen in all of them."""
    return 6, rng.randint(10, 14)


def _once(of: str, *sizes: Callable[[random.Random], tuple[int, int]]) -> list[Draw]:
    """Returns what asks for a single draw of each size: hundreds would tell nothing more."""
    return [_span_asks(of, size, probe="result") for size in sizes]


# of three positions, in the text of three numbers, the first and the last are to have two thirds of the draws
_POSITIONS = [
    *(_span_asks("place", sizes) for sizes in (_longer, _smallest_block, _tiny(3))),
    _span_asks("place", _longer, letters=1),
    _span_asks("ends", _long),
]
# an answer that loses the last number of all changes how often a length is met, by so little that chance would decide
_KEPT = [_span_asks("kept", sizes) for sizes in (_shorter, _small)]


_ONE = both(*_once("shift", _shorter, _longer, _tiny(1)))


@exercise.stage("x and y of `block` numbers, y one place ahead of x", points=1, seed=1, measure="spans")
def _(rng: random.Random) -> list[Question]:
    """Make one list of block + 1 numbers. All but the last of them are x, all but the first are y."""
    return _ONE(rng)


exercise.add(
    _span_stage(
        "prefix, <mask>, suffix, <mask>, content, padding",
        1.5,
        "Write it out for the text 5 6 7 8 9 with the content 7 8: 5 6 4 9 4 7 8 0 0 ..., where 4 is <mask> and 0 "
        "<pad>. The same text comes again and again: leave it as it is.",
        [_span_asks("pattern", _longer), *_once("pattern", _shorter, *map(_tiny, (1, 2, 3)))],
        both(*_once("pattern", _longer, _shorter, *map(_tiny, (1, 2, 3)))),
    ),
    _span_stage(
        "how much of the text is kept",
        1,
        "Every length from 4 to the smaller of len(text) and block - 1 equally often, and a text of fewer than 4 "
        "numbers whole.",
        [
            *(_span_asks("kept", sizes) for sizes in (_longer, _smallest_block, _tiny(2), _tiny(3))),
            *_KEPT,
            *_once("kept", _tiny(1)),
        ],
        both(_one_of(_KEPT), *_once("kept", *map(_tiny, (1, 2, 3)))),
    ),
    _span_stage(
        "the length of the content",
        1.5,
        "It is drawn anew each time, is at least 1, and a quarter of what is kept (not of the text) on average. "
        "Its position is another draw, evenly among those at which it fits into what is kept.",
        [_span_asks("content", _long)],
        _span_asks("content", _long),
        decisive=True,
    ),
    _span_stage(
        "the place of the content",
        0.5,
        "It may begin with the first number that is kept, and it may end with the last; all positions at which it "
        "fits are equally probable, however little is kept. The same letters may stand at several positions of "
        "a text: only the number that is drawn says which of them is hidden.",
        _POSITIONS,
        _one_of(_POSITIONS),
    ),
)


_AGAIN = "the same seed again"  # who puts the content of a short text at one position alone draws nothing there
_OF_LONG, *_OF_SHORT = (
    _span_asks("", _long, probe="seeds"),
    *(_span_asks("", _tiny(n), probe="seeds", entries=(_AGAIN,)) for n in (2, 3)),
)


@exercise.stage("chance comes from rng alone", points=0.5, public=fixed(both(_OF_LONG, *_OF_SHORT), 3))
def _(rng: random.Random) -> list[Question]:
    """Each draw comes from rng: how much is kept, the length and the position. Pass generator=rng to every
    torch.randint; the module `random` does not know rng, and the same seed must give the same result, another seed
    another one.
    """
    return both(_OF_LONG, _one_of(_OF_SHORT))(rng)


@exercise.corners(
    "prefix, <mask>, suffix, <mask>, content, padding",
    n=(1, 2, 4),  # of a longer text chance decides how much is kept
    block=(8, 9, range(301, 310)),
)
def _(rng: random.Random, n: int, block: int) -> Question:
    (ask,) = _span_asks("pattern", lambda rng: (n, block), probe="result")(rng)
    return ask
