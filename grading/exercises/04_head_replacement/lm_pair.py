"""Exercise lm_pair of notebook 04."""

from __future__ import annotations

import random

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw, both, fixed
from helpers.data import EOS, SOS
from tutor.checking.answers import Ask


def lm_pair(tokens: list[int]) -> tuple[list[int], list[int]]:
    return [SOS, *tokens], [*tokens, EOS]


def _draw_sentences(low: int, high: int, count: int) -> Draw:
    def draw(rng: random.Random) -> list[Ask]:
        return [Ask((rng.sample(range(4, 1000), rng.randint(low, high)),)) for _ in range(count)]

    return draw


def _border(rng: random.Random) -> list[Ask]:
    """Returns a sentence with the smallest numbers: 4, and 3 for words outside the vocabulary, which stay."""
    words = [3, 4, 4, 3, *(rng.randrange(5, 1000) for _ in range(3))]
    return [Ask((rng.sample(words, len(words)),))]


def _long(rng: random.Random) -> list[Ask]:
    return [Ask(([rng.randrange(4, 1000) for _ in range(rng.randint(520, 700))],))]


def _draw_repeated_word(rng: random.Random) -> list[Ask]:
    words = [rng.randrange(4, 1000) for _ in range(rng.randint(3, 6))]
    return [Ask(([*words, words[-1], words[-1]],)), Ask(([*words, *words],))]


EXERCISE = Exercise(
    lm_pair,
    [
        Stage(
            "one word, and several",
            0.75,
            "With the one word 7 there are two questions: what comes after <sos>? (7) And after 7? (<eos>) Write input "
            "and target one below the other: under each number of the input stands the one after it.",
            [Ask(([7],)), Ask(([7, 5, 9],)), Ask(([8, 4, 6, 5, 3],)), *fixed(_long, 1)],
            both(_draw_sentences(1, 1, 2), _draw_sentences(2, 12, 2), _border, _long),
            decisive=True,
        ),
        Stage(
            "a sentence that repeats a word",
            0.5,
            "A word may come several times, also at the end: shift by the place, never by the value.",
            [Ask(([5, 9, 5, 5],))],
            _draw_repeated_word,
        ),
        Stage(
            "no words at all",
            0.5,
            "An empty sentence still asks one question: <sos> is followed by <eos>. A sentence of two words is asked "
            "beside it.",
            [Ask(([],)), Ask(([8, 6],))],
            lambda rng: [*_draw_sentences(2, 2, 1)(rng), Ask(([],))],
        ),
        Stage(
            "the list of words is left as it was",
            0.25,
            "The words belong to the caller: append, insert and += would change that very list. Make two new ones.",
            [Ask(([7, 5, 9],))],
            _draw_sentences(2, 12, 2),
            measure="inputs kept",
        ),
    ],
    [
        Mistake(
            "the target is not shifted",
            "Under each number of the input stands the same number: the model would learn to copy what it reads. "
            "The target is one place ahead.",
            lambda tokens: ([SOS, *tokens], [SOS, *tokens]),
        ),
        Mistake(
            "the whole sentence is input and target",
            "Both lists go from <sos> to <eos>. The input needs no <eos> (nothing follows it) and the target no <sos> "
            "(nothing asks for it); dropping one from each shifts them.",
            lambda tokens: ([SOS, *tokens, EOS], [SOS, *tokens, EOS]),
        ),
        Mistake(
            "<eos> is lost, and the last word is no longer read",
            "The target ends with the last word, so the model never learns when to stop. The last word is an input "
            "too: what follows it is <eos>.",
            lambda tokens: ([SOS, *tokens][: max(1, len(tokens))], tokens),
        ),
        Mistake(
            "<eos> is lost: the target is one shorter",
            "The last word of the input has no answer under it. What follows it is <eos>: without it the model never "
            "learns when to stop.",
            lambda tokens: ([SOS, *tokens], tokens),
        ),
        Mistake(
            "<eos> is in the input too",
            "The input is one longer than the target: nobody asks what follows <eos>.",
            lambda tokens: ([SOS, *tokens, EOS], [*tokens, EOS]),
        ),
        Mistake(
            "<sos> is lost",
            "Without <sos> nobody asks for the first word: the model could not begin a sentence.",
            lambda tokens: (tokens, [*tokens[1:], EOS]),
        ),
        Mistake(
            "input and target are exchanged",
            "The input begins with <sos>, the target ends with <eos>.",
            lambda tokens: ([*tokens, EOS], [SOS, *tokens]),
        ),
        Mistake(
            "the target is two places ahead",
            "Under each number stands the next but one. The answer after <sos> is the first word.",
            lambda tokens: ([SOS, *tokens], [*tokens[1:], EOS, EOS][: len(tokens) + 1]),
        ),
    ],
    hints=(
        (
            "Draw the table of section 2 for a text of two words, 12 and 30: in the upper row what the model reads, "
            "in the lower row what it must say there. What stands above the word 12, so that it can be asked for? "
            "What stands under the word 30, so that the model can stop? How many columns are there?"
        ),
        (
            "The text has the one word 12. Two questions are asked: what comes after `<sos>`? (12.) What comes after "
            "12? (`<eos>`.) So both lists have two numbers, and 12 is in both of them, one place apart. With no word "
            "at all, one question is left.\n\n"
            "In Python, `[1, *[2, 3], 4]` is the new list `[1, 2, 3, 4]`. `append`, `insert` and `+=` would change "
            "the list of the caller."
        ),
        (
            "Two new lists of $n + 1$ numbers:\n"
            "1. the input: all the words, and one of the two special tokens. Which one, and at which end?\n"
            "2. the target: all the words, and the other one, at the other end.\n\n"
            "Return both with a comma between them. A test for any text: in `for read, said in zip(*lm_pair([12, 30, "
            "12]))`, each `said` must be the `read` of the next round. And look at `lm_pair([])`: one number in each "
            "list."
        ),
    ),
)
