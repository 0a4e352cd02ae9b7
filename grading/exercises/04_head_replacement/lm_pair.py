"""Exercise lm_pair of notebook 04."""

from __future__ import annotations

import random

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, both, fixed
from helpers.vocabulary import EOS, SOS
from tutor.checking.answers import Question

exercise = Definition(minutes=5, difficulty=1, forbids=("helpers.batches.for_language_model",))


@exercise.reference
def lm_pair(tokens: list[int]) -> tuple[list[int], list[int]]:
    return [SOS, *tokens], [*tokens, EOS]


exercise.by_hand(Question(([17, 8, 704],)))  # "Je le garde", as the text numbers it


def _draw_sentences(low: int, high: int, count: int) -> Draw:
    def draw(rng: random.Random) -> list[Question]:
        return [Question((rng.sample(range(4, 1000), rng.randint(low, high)),)) for _ in range(count)]

    return draw


def _border(rng: random.Random) -> list[Question]:
    """Returns a sentence with the smallest numbers: 4, and 3 for words outside the vocabulary, which stay."""
    words = [3, 4, 4, 3, *(rng.randrange(5, 1000) for _ in range(3))]
    return [Question((rng.sample(words, len(words)),))]


def _long(rng: random.Random) -> list[Question]:
    return [Question(([rng.randrange(4, 1000) for _ in range(rng.randint(520, 700))],))]


@exercise.stage(
    "one word, and several",
    points=0.75,
    public=[Question(([7],)), Question(([7, 5, 9],)), Question(([8, 4, 6, 5, 3],)), *fixed(_long, 1)],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """With the one word 7 there are two questions: what comes after <sos>? (7) And after 7? (<eos>) Write input and
    target one below the other: under each number of the input stands the one after it. Every number is a word, the 3
    of unknown words too; and each call makes lists of its own.
    """
    return both(_draw_sentences(1, 1, 2), _draw_sentences(2, 12, 2), _border, _long)(rng)


@exercise.stage("a sentence that repeats a word", points=0.5, public=[Question(([5, 9, 5, 5],))])
def _(rng: random.Random) -> list[Question]:
    """A word may come several times, also at the end: shift by the position, never by the value."""
    words = [rng.randrange(4, 1000) for _ in range(rng.randint(3, 6))]
    return [Question(([*words, words[-1], words[-1]],)), Question(([*words, *words],))]


@exercise.stage("no words at all", points=0.5, public=[Question(([],)), Question(([8, 6],))])
def _(rng: random.Random) -> list[Question]:
    """An empty sentence still asks one question: <sos> is followed by <eos>. A sentence of two words is asked beside
    it.
    """
    return [*_draw_sentences(2, 2, 1)(rng), Question(([],))]


@exercise.stage(
    "the list of words is left as it was", points=0.25, public=[Question(([7, 5, 9],))], measure="inputs kept"
)
def _(rng: random.Random) -> list[Question]:
    """The words belong to the caller: append, insert and += would change that very list. Make two new ones."""
    return _draw_sentences(2, 12, 2)(rng)


@exercise.corners(
    "one word, and several", n=(1, 2, range(33, 36), range(1001, 1010)), word=(3, 1_000_003), repeated=(True, False)
)
def _(rng: random.Random, n: int, word: int, repeated: bool) -> Question:
    """Asks about one word and about many, all the same or all different."""
    return Question(([word] * n if repeated else [word + number for number in rng.sample(range(2 * n), n)],))


@exercise.corners("no words at all", n=(0, 2))
def _(rng: random.Random, n: int) -> Question:
    return Question((rng.sample(range(4, 1000), n),))
