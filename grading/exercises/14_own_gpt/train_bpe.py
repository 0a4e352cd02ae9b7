"""Exercise train_bpe of notebook 14."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from grading.definitions.definition import Definition, Stage
from grading.exercises.draws import Draw, fixed
from tutor.checking.answers import Question

from ._common import (
    Answers,
    Pair,
    _bytes,
    _differ,
    _first_met,
    _largest,
    _learn,
    _telling,
    _text,
    _words,
    replace_pair,
    split_words,
)

exercise = Definition(minutes=30, difficulty=3)


@exercise.reference
def train_bpe(texts: list[str], merges: int) -> list[Pair]:
    return _learn(texts, merges)


def _all_at_once(texts: list[str], merges: int) -> list[Pair]:
    counts = Counter(word for text in texts for word in split_words(text))
    pairs = Counter[Pair]()
    for word, times in counts.items():
        parts = _bytes(word)
        for pair in itertools.pairwise(parts):
            pairs[pair] += times
    return sorted(pairs, key=lambda pair: (-pairs[pair], pair))[:merges]


def _stale(texts: list[str], merges: int) -> list[Pair]:
    """Adds to the counts what a merge makes, and takes away nothing but the pair that was merged."""
    counts = Counter(word for text in texts for word in split_words(text))
    words = {word: _bytes(word) for word in counts}
    pairs = Counter[Pair]()
    for word, parts in words.items():
        for pair in itertools.pairwise(parts):
            pairs[pair] += counts[word]
    found: list[Pair] = []
    while pairs and len(found) < merges:
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        del pairs[best]
        for word, parts in words.items():
            words[word] = replace_pair(parts, best, 256 + len(found))
            for pair in itertools.pairwise(words[word]):
                if 256 + len(found) in pair:
                    pairs[pair] += counts[word]
        found.append(best)
    return found


def _first_text(texts: list[str], merges: int) -> list[Pair]:
    return _learn(texts[:1], merges)


_first = partial(_learn, choose=_first_met)
_last = partial(_learn, choose=_largest)
_across = partial(_learn, split=lambda text: [text])
_characters = partial(_learn, numbers=lambda word: [ord(sign) for sign in word])
_word_once = partial(_learn, once=True)
_stops_early = partial(_learn, seldom=2)
_crashes = partial(_learn, endless=True)
_spaces_lost = partial(_learn, split=str.split)
_every_other = partial(_learn, apart=True)
_no_overlap = partial(_learn, overlap=False)

Inputs = tuple[list[str], int]
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _one_word(rng: random.Random) -> Inputs:
    return [rng.choice(_words(rng, 3)) * 2], 1


def _few_words(rng: random.Random) -> Inputs:
    words = _words(rng, 6)
    return [_text(rng, words, 14) for _ in range(2)], rng.randint(4, 6)


def _with_accents(rng: random.Random) -> Inputs:
    words = [word + rng.choice("éèçà") for word in _words(rng, 5)]
    return [_text(rng, words, 14) for _ in range(2)], rng.randint(4, 6)


def _tied(rng: random.Random) -> Inputs:
    word = "".join(rng.sample("abdefghklmnoprst", 5))
    return [f"{word} {word}"], 1


def _until_the_end(rng: random.Random) -> Inputs:
    return ["".join(rng.sample("abdefghklmnoprst", 2))], rng.randint(3, 6)


def _overlapping(rng: random.Random) -> Inputs:
    """Returns a word in which one pair is the most frequent only where neighbours overlap."""
    second, third, first = sorted(rng.sample("abdefghklmnoprst", 3))
    return [4 * first + 2 * (second + third)], 1


def _tied_later(rng: random.Random) -> Inputs:
    """Returns words of which a learned piece and a late letter stand in equally frequent pairs."""
    first, second, third, *late = sorted(rng.sample("abdefghklmnoprst", 5))
    word = first + second
    return [word, word, word + third, late[1] + late[0]], rng.randint(2, 4)


def _three_alike(rng: random.Random) -> Inputs:
    return [3 * rng.choice("abdefghklmnoprst")], rng.randint(3, 6)


def _tied_alike(rng: random.Random) -> Inputs:
    """Returns pairs that occur once, of which the smallest has its first byte in common with one that is met before.

    Compared as texts, by their sums or by their second bytes, another one is the smallest.
    """
    first, (least, middle, largest) = rng.choice("abc"), sorted(rng.sample("defghklmnoprst", 3))
    return [least + first, first + largest, first + middle], 1


def _several_texts(rng: random.Random) -> Inputs:
    """Returns texts without spaces; the most frequent pair occurs three times in one word of the second.

    Another pair is the most frequent for who counts a pair once in a word, reads the first text only, puts the texts
    together, with or without spaces, or makes the capitals small.
    """
    first, second, third, fourth, alone = rng.sample("abdefghklmnoprst", 5)
    word = third + fourth
    return [word, 3 * (first.upper() + second.upper()), word, *[alone] * 5], 1


def _repeated_texts(rng: random.Random) -> Inputs:
    """Returns a short text that comes three times, beside one in which another pair occurs twice."""
    first, second, third, fourth = rng.sample("abdefghklmnoprst", 4)
    return [first + second, 2 * (third + fourth), *[first + second] * 2], 1


def _no_merges(rng: random.Random) -> Inputs:
    return [rng.choice(_words(rng, 3))], 0


def _several_letters(rng: random.Random) -> Inputs:
    """Returns texts of a single letter each, which have a space before them only for who joins them so."""
    return [*[rng.choice("éèçà")] * 2, *[rng.choice("abdefgh")] * 4], 1


def _repeated(rng: random.Random) -> Inputs:
    """Returns a word of one syllable, again and again: its first merge is made in many places, side by side."""
    first, second = rng.sample("abdefghklmnoprst", 2)
    return [rng.randint(7, 9) * (first + second)], 2


def _repeated_letter(rng: random.Random) -> Inputs:
    """Returns the same of a letter that is two bytes."""
    return [rng.randint(7, 9) * rng.choice("éèçà")], 2


def _wide_space(rng: random.Random) -> Inputs:
    """Returns words with a space between them that is two bytes: a space that does not break."""
    return [f"{first}\u00a0{second}" for first, second in (rng.sample("abdefgh", 2) for _ in range(3))], 1


# More questions of a kind, whoever fails there.
MORE = {
    "one": [_overlapping],
    "few": [_several_texts, _repeated, _repeated_texts],
    "accents": [_several_letters, _repeated_letter, _wide_space],
    "ties": [_tied_later, _tied_alike],
    "end": [_three_alike, _no_merges],
}
# kind of question -> (how it is drawn, the mistakes that fail there, the mistakes that do not)
ENDS: Answers = [_stops_early, _crashes]
TIES: Answers = [_first, _last]
FEW: Answers = [_across, _word_once, _all_at_once, _stale, _spaces_lost, _every_other]
WAYS: dict[str, tuple[Callable[[random.Random], Inputs], Answers, Answers]] = {
    "one": (_one_word, [_every_other], [*TIES, *ENDS, _characters, _no_overlap]),
    "few": (_few_words, FEW, [*TIES, *ENDS, _characters, _no_overlap]),
    "accents": (_with_accents, [_characters, _first_text, *FEW], [*TIES, *ENDS, _no_overlap]),
    "ties": (
        _tied,
        [*TIES, _every_other],
        [*ENDS, _across, _word_once, _all_at_once, _stale, _spaces_lost, _characters],
    ),
    "end": (_until_the_end, ENDS, [*TIES, *FEW, _characters]),
}


def _drawn(kind: str, number: int = 1) -> Draw:
    draw, apart, same = WAYS[kind]
    tells = _differ(train_bpe, apart, same)

    def asked(rng: random.Random) -> list[Question]:
        found = _telling(rng, lambda rng: [draw(rng) for _ in range(number)], tells)
        return [Question(one) for one in (*found, *(one(rng) for one in MORE.get(kind, [])))]

    return asked


exercise.by_hand(Question((["aab aab"], 3)))


def _stage(name: str, points: float, feedback: str, kind: str, number: int = 1, **options: Any) -> Stage:
    draw = _drawn(kind, number)
    return Stage(name, points, feedback, fixed(draw, 14), draw, **options)


exercise.add(
    _stage(
        "one word, one merge",
        0.5,
        "Cut the word into its bytes, count its pairs of neighbours (overlapping ones too), and return a list with "
        "the most frequent pair, a tuple of two numbers.",
        "one",
        measure="pairs",
    ),
    _stage(
        "a few words, several merges",
        2,
        "Count pairs inside of words only, each as often as its word occurs; after each merge the words have new "
        "parts, and the pairs are counted again.",
        "few",
        decisive=True,
    ),
    _stage(
        "letters of two bytes",
        0.5,
        "word.encode() gives the bytes of a word: é are two of them, 195 and 169.",
        "accents",
    ),
    _stage(
        "of equally frequent pairs, the smallest",
        0.5,
        "Where several pairs are the most frequent, take the one that is smallest as Python compares tuples.",
        "ties",
        decisive=True,
    ),
    _stage(
        "it ends when nothing is left to merge",
        0.5,
        "Go on while there are pairs, even such as occur once; when every word is one piece, return what you have."
        " A pair that overlaps with itself, as in aaa, is merged from the left.",
        "end",
    ),
)


@exercise.corners("one word, one merge", times=(2, range(17, 20), range(151, 155)))
def _(rng: random.Random, times: int) -> Question:
    return Question(([times * "".join(sorted(rng.sample(LETTERS, 2)))], 1))


@exercise.corners(
    "a few words, several merges",
    merges=(1, 2, range(33, 36), range(65, 68)),
    texts=("one", "one for each word"),
)
def _(rng: random.Random, merges: int, texts: str) -> Question | None:
    """Asks for the beginnings of a long word, in which no pair comes twice: no two pairs are equally frequent."""
    if merges > 60 and texts == "one":
        return None
    word, met = rng.choice(LETTERS), set[str]()
    while len(word) < merges + 2:
        following = rng.choice([sign for sign in LETTERS if word[-1] + sign not in met])
        met.add(word[-1] + following)
        word += following
    words = [word[:size] for size in range(2, len(word) + 1)]
    rng.shuffle(words)
    return Question((["\n".join(words)] if texts == "one" else words, merges))


@exercise.corners("letters of two bytes", signs=("éé", "漢漣", "😀🌍"), times=(1, range(33, 36)))
def _(rng: random.Random, signs: str, times: int) -> Question:
    """Asks for signs of two, three and four bytes, of which two begin alike: one pair is the most frequent."""
    return Question((rng.sample(times * signs, times * len(signs)), 1))


@exercise.corners(
    "of equally frequent pairs, the smallest", words=(2, range(33, 36), range(101, 104)), merges=("1", "all")
)
def _(rng: random.Random, words: int, merges: str) -> Question:
    found = rng.sample([first + second for first, second in itertools.product(LETTERS[::2], LETTERS[1::2])], words)
    return Question((found, 1 if merges == "1" else words))


@exercise.corners("it ends when nothing is left to merge", size=(0, 1, 2, 64, 512), merges=(0, 1, "more"))
def _(rng: random.Random, size: int, merges: int | str) -> Question:
    """Asks for one letter, again and again: there is never more than one pair."""
    return Question(([size * rng.choice(LETTERS)], size + rng.randint(1, 9) if merges == "more" else merges))
