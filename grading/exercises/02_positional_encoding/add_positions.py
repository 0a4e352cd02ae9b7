"""Exercise add_positions of notebook 02."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import torch
from torch import Tensor

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw, seed_from
from tutor.checking.answers import Ask

from ._common import _numbers


def add_positions(x: Tensor, encoding: Tensor) -> Tensor:
    return x + encoding[: x.shape[1]]


def _added_in_place(x: Tensor, encoding: Tensor) -> Tensor:
    x += encoding[: x.shape[1]]
    return x


def _placed(b: int, n: int, d: int, max_len: int, seed: int = 0) -> Ask:
    """Returns a question in which one word of the first sentence is all zeros, as a word may be."""
    x = _numbers(b, n, d, seed=seed)
    x[0, n - 1] = 0
    return Ask((x, _numbers(max_len, d, seed=seed + 1)))


def _draw_placed(*kinds: tuple[int, int, int]) -> Draw:
    """Draws for each kind (b, n, spare rows) one question, narrower than long; b and n may be 0 for "any"."""

    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for b, n, spare in kinds:
            n = n or rng.randint(3, 6)
            b = b or rng.choice([size for size in range(2, 7) if size != n])
            d = rng.choice([width for width in (2, 4) if width < n])
            asks.append(_placed(b, n, d, max(b, n) + spare, seed_from(rng)))
        return asks

    return draw


def _equal_sizes(rng: random.Random) -> list[Ask]:
    size = rng.randint(3, 5)
    return [_placed(size, size, 2, size + rng.randint(1, 4), seed_from(rng))]


def _long(n: int, seed: int) -> Ask:
    """Returns a question on two long sentences of width 1 that looks at some of their words."""
    rng, ask = random.Random(seed), _placed(2, n, 1, n + 3, seed)
    chosen = [0, 130, 300, 520, n - 2, *(rng.randrange(n) for _ in range(4))]
    places = [(sentence, word, 0) for sentence in range(2) for word in chosen]
    return replace(ask, beside={"shape": [2, n, 1], "places": torch.tensor(places)})


EXERCISE = Exercise(
    add_positions,
    [
        Stage(
            "the shape of x",
            0.25,
            "Adding positions changes numbers, not the shape: the result is (b, n, d).",
            [_placed(2, 3, 2, 3, 1), _placed(2, 3, 4, 5, 2), _placed(3, 3, 2, 5, 9), _placed(1, 1, 2, 2, 11)],
            _draw_placed((2, 4, 0), (3, 5, 2), (4, 4, 1)),
            view="shape",
        ),
        Stage(
            "one sentence",
            0.5,
            "Token j of the sentence gets row j of the table; the rows after the last token are not used.",
            [_placed(1, 3, 2, 3, 3), _placed(1, 3, 2, 5, 4)],
            _draw_placed((1, 0, 0), (1, 0, 3)),
        ),
        Stage(
            "as many sentences as words",
            1,
            "With b = n a wrong axis raises no error. Check by hand: x[0, 1] and x[1, 1] both get row 1 of the table.",
            [_placed(3, 3, 2, 5, 5), _placed(2, 2, 2, 2, 12)],
            _equal_sizes,
            decisive=True,
        ),
        Stage(
            "any batch, any length",
            0.5,
            "Cut the table to the number of words, which is x.shape[1], and let torch line the shapes up from the end.",
            [_placed(4, 2, 4, 6, 6), _placed(2, 5, 2, 7, 7), _placed(3, 1, 2, 3, 13)],
            _draw_placed((5, 3, 1), (0, 0, 2), (0, 0, 4)),
        ),
        Stage(
            "a long text",
            0.5,
            "Word j gets row j, however far it stands: no limit, and nothing that starts again.",
            [_long(600, 1)],
            lambda rng: [_long(rng.randint(1100, 1200), seed_from(rng))],
            measure="at places",
        ),
        Stage(
            "x and the table are left as they were",
            0.25,
            "The caller still needs the words without positions, and the table: make a new tensor, x + ..., and do not "
            "write into what you are given.",
            [_placed(2, 3, 2, 4, 8)],
            _draw_placed((0, 0, 1), (0, 0, 3)),
            measure="inputs kept",
        ),
    ],
    [
        Mistake(
            "positions are added along the batch axis",
            "Sentence 0 gets position 0, sentence 1 gets position 1, and all words of a sentence get the same: nothing "
            "says their order. Position j belongs to x[:, j], in every sentence.",
            lambda x, encoding: x + encoding[: x.shape[0]].unsqueeze(1),
        ),
        Mistake(
            "the table has its extra axis in the wrong place",
            "(n, 1, d) belongs to sequence-first tensors (n, b, d). Against (b, n, d) it is added along the batch axis "
            "when b = n, and fails otherwise. The table needs no extra axis here, or (1, n, d).",
            lambda x, encoding: x + encoding[: x.shape[1]].unsqueeze(1),
        ),
        Mistake(
            "the table is not cut to the length",
            "The table has rows for longer sentences too: take its first n rows, encoding[:x.shape[1]].",
            lambda x, encoding: x + encoding,
        ),
        Mistake(
            "the table is cut to the number of sentences",
            "x.shape[0] is the batch size. It works by luck when b = n. The number of words is x.shape[1].",
            lambda x, encoding: x + encoding[: x.shape[0]],
        ),
        Mistake(
            "the last rows of the table in place of the first",
            "The first word has position 0: the table is cut at the end, not at the start.",
            lambda x, encoding: x + encoding[len(encoding) - x.shape[1] :],
        ),
        Mistake(
            "every word gets position 0",
            "One row for all words does not tell them apart: word j gets row j.",
            lambda x, encoding: x + encoding[0],
        ),
        Mistake(
            "multiplied in place of added",
            "Positions are added to the word vectors; a product would wipe out a word where the table is 0.",
            lambda x, encoding: x * encoding[: x.shape[1]],
        ),
        Mistake(
            "x is scaled by the square root of d",
            "The factor sqrt(d) of section 3.4 of the paper belongs to the embedding and is in x already.",
            lambda x, encoding: x * math.sqrt(x.shape[2]) + encoding[: x.shape[1]],
        ),
        Mistake(
            "only the positions are returned",
            "The words are lost: return x plus the positions.",
            lambda x, encoding: encoding[: x.shape[1]].expand_as(x),
        ),
        Mistake(
            "what was given is changed in place",
            "`x += ...`, and calls with a name that ends in `_`, write into the tensors of the caller, who would add "
            "positions to them a second time. Write x + ..., which makes a new tensor.",
            _added_in_place,
        ),
    ],
    trains=True,
    hints=(
        (
            "Two sentences of three words, and a table of five rows. Which row is added to the first word of "
            "sentence 0? To the first word of sentence 1? To the last word of each? Which rows are not used at all? "
            "Then: which of the three sizes of `x` says how many rows you need?"
        ),
        (
            "torch lines shapes up from the end. `(3, d)` against `(2, 3, d)`: $d$ meets $d$, 3 meets 3, and the "
            "missing first axis is filled by repetition. So each sentence gets the same three rows. `(3, 1, d)` "
            "against `(2, 3, d)`: now the 3 meets the 2 sentences, and torch stops; against `(3, 3, d)` it does not "
            "stop, and each *sentence* gets a row.\n\n"
            "`encoding[:k]` are the first `k` rows of a table. With `b` different from `n` you notice when `k` is "
            "the wrong size: test with two sentences of three words."
        ),
        (
            "Two steps, with their shapes:\n"
            "1. `rows`, `(n, d)`: the table, cut to the number of words. That number stands in `x.shape`; at which "
            "place, when the batch comes first?\n"
            "2. the sum of `x` and `rows`, `(b, n, d)`: a new tensor. `x += ...` would write into the words of the "
            "caller.\n\n"
            "No loop and no extra axis. Look at `add_positions(torch.zeros(2, 3, 1), torch.arange(4.0).view(4, 1))`: "
            "each of the two sentences must read 0, 1, 2. If one of them reads 0, 0, 0, the rows have gone along the "
            "batch."
        ),
    ),
)
