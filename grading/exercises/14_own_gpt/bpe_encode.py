"""Exercise bpe_encode of notebook 14."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from grading.definitions.definition import Definition, Stage
from grading.exercises.draws import Draw, fixed
from tutor.checking.answers import Question

from ._common import Answers, Pair, _bytes, _differ, _telling, replace_pair, split_words

exercise = Definition(minutes=12, difficulty=2, forbids=("helpers.pieces.bpe_encode", "helpers.pieces.Cutter"))


@exercise.reference
def bpe_encode(text: str, merges: list[Pair]) -> list[int]:
    return _cut(text, merges)


def _cut(
    text: str,
    merges: list[Pair],
    *,
    split: Callable[[str], Iterable[str]] = split_words,
    numbers: Callable[[str], list[int]] = _bytes,
    first: int = 256,
    backwards: bool = False,
) -> list[int]:
    """Cuts a text into pieces; the options are the ways in which it goes wrong."""
    found: list[int] = []
    order = list(enumerate(merges, first))
    for word in split(text):
        parts = numbers(word)
        for number, pair in reversed(order) if backwards else order:
            parts = replace_pair(parts, pair, number)
        found += parts
    return found


def _pieces(merges: list[Pair]) -> list[bytes]:
    known = [bytes([number]) for number in range(256)]
    for first, second in merges:
        known.append(known[first] + known[second])
    return known


def _longest(text: str, merges: list[Pair]) -> list[int]:
    """Takes the longest piece that fits at each position."""
    number_of = {piece: number for number, piece in reversed(list(enumerate(_pieces(merges))))}
    found = []
    for word in split_words(text):
        left = word.encode()
        while left:
            size = next(size for size in range(len(left), 0, -1) if left[:size] in number_of)
            found.append(number_of[left[:size]])
            left = left[size:]
    return found


def _from_the_left(text: str, merges: list[Pair]) -> list[int]:
    """Merges the first pair from the left that was ever learned, again and again."""
    rank = {pair: number for number, pair in enumerate(merges, 256)}
    found = []
    for word in split_words(text):
        parts = _bytes(word)
        while place := [at for at, pair in enumerate(itertools.pairwise(parts)) if pair in rank]:
            at = place[0]
            parts[at : at + 2] = [rank[parts[at], parts[at + 1]]]
        found += parts
    return found


def _one_each(text: str, merges: list[Pair], rounds: int = 1) -> list[int]:
    found = []
    for word in split_words(text):
        parts = _bytes(word)
        for number, pair in rounds * list(enumerate(merges, 256)):
            at = next((at for at, two in enumerate(itertools.pairwise(parts)) if two == pair), None)
            if at is not None:
                parts[at : at + 2] = [number]
        found += parts
    return found


_across = partial(_cut, split=lambda text: [text])
_characters = partial(_cut, numbers=lambda word: [ord(sign) for sign in word])
_ascii_only = partial(_cut, numbers=lambda word: [byte for byte in word.encode() if byte < 128])
_ranks = partial(_cut, first=0)
_in_turns = partial(_one_each, rounds=20)  # more than the words drawn here have letters
_latest_first = partial(_cut, backwards=True)

Inputs = tuple[str, list[Pair]]
SIGNS = "œŒß€漢字ñ😀žø"


def _plain(rng: random.Random) -> Inputs:
    return "".join(rng.choices("abcdefgh", k=4)) + " " + rng.choice("!?."), []


def _one_word(rng: random.Random) -> Inputs:
    """Returns a word of few letters, and merges that contend for them."""
    letters = [ord(letter) for letter in rng.sample("abcdefghijklmnop", 3)]
    merges: list[Pair] = []
    while len(merges) < 4:
        known = letters + list(range(256, 256 + len(merges)))
        pair = rng.choice(known), rng.choice(known)
        if pair not in merges:
            merges.append(pair)
    return "".join(chr(letter) for letter in rng.choices(letters, k=10)), merges


def _across_words(rng: random.Random) -> Inputs:
    """Returns merges that would fit across the border of two words as well."""
    first, second = rng.sample("abcdefgh", 2)
    pairs = [(ord(second), ord(" ")), (ord(first), ord(second))]
    return f"{first}{second} {second}{first} {first}{second}", pairs


def _white(rng: random.Random) -> list[Inputs]:
    """Returns words between which more than one space stands, with one merge and with another."""
    first, second = rng.sample("abcdefgh", 2)
    text, pair = f"{first}{second}\n{first}{second}  {second}{first}\n", (ord(first), ord(second))
    return [(text, [pair]), (text, [pair[::-1]])]


def _tabs(rng: random.Random) -> list[Inputs]:
    """Returns words with a tab between them, and a merge that fits where a space would stand in its place."""
    first, second = rng.sample("abcdefgh", 2)
    return [(f"{first}\t{second} {second}\t{first}", [(ord(" "), ord(second))])]


def _alike(rng: random.Random) -> list[Inputs]:
    """Returns signs that look like others: a letter with its accent behind it, a space that does not break."""
    return [(f"{rng.choice('aeiou')}\u0301\u00a0{rng.choice('xyz')}", [])]


def _unread(rng: random.Random) -> Inputs:
    merges = [(ord(first), ord(second)) for first, second in (rng.sample("abcdefgh", 2) for _ in range(3))]
    return "".join(rng.sample(SIGNS, 3)) + " " + rng.choice("xyz"), merges


def _capitals(rng: random.Random) -> list[Inputs]:
    return [("".join(rng.choices("ABCDEFGH", k=4)), [])]


def _capital_signs(rng: random.Random) -> list[Inputs]:
    return [("".join(rng.sample("ŒÉÀÇ", 2)), [])]


def _learned_anew(rng: random.Random) -> list[Inputs]:
    """Returns a word with two lists of three merges: both know it as a piece, and only one can make it whole."""
    a, b, c = map(ord, rng.sample("abcdefgh", 3))
    word = chr(a) + chr(b) + chr(c)
    return [(word, [(a, b), (b, c), (256, c)]), (word, [(b, c), (a, b), (257, c)])]


def _two_ways(rng: random.Random) -> list[Inputs]:
    """Returns merges of which two make the same piece of three letters; the second one does."""
    letter = rng.choice("abcdefgh")
    one = ord(letter)
    return [(3 * letter, [(one, one), (one, 256), (256, one)])]


def _many_merges(rng: random.Random) -> list[Inputs]:
    """Returns more than a thousand merges, of which the last ones make the word whole."""
    a, b, c = map(ord, rng.sample("abcdefgh", 3))
    others: list[Pair] = list(itertools.product(range(200, 240), range(200, 230)))
    return [(chr(a) + chr(b) + chr(c), [*others, (b, c), (a, 256 + len(others))])]


def _long_word(rng: random.Random) -> list[Inputs]:
    """Returns a word of 129 letters whose last 128 are one piece, of 64 equal pairs: no place in it is a border."""
    a, b = map(ord, rng.sample("abcdefgh", 2))
    return [(chr(b) + 64 * (chr(a) + chr(b)), [(a, b), *((number, number) for number in range(256, 262))])]


def _beside_signs(rng: random.Random) -> list[Inputs]:
    """Returns letters beside signs, which are words of their own, and merges that would fit across the border."""
    letter, sign = rng.choice("abcdefgh"), rng.choice("!?.")
    return [(f"{letter}{sign} {letter}{letter}{sign}{letter}", [(ord(letter), ord(sign)), (ord(sign), ord(letter))])]


# More questions of a kind, whoever fails there.
MORE = {
    "plain": [_capitals],
    "one word": [_learned_anew, _two_ways, _many_merges, _long_word],
    "borders": [_white, _tabs, _beside_signs],
    "unread": [_capital_signs, _alike],
}
# kind of question -> (how it is drawn, the mistakes that fail there, the mistakes that do not)
BYTES: Answers = [_characters, _ascii_only]
ORDER: Answers = [_longest, _from_the_left, _one_each, _in_turns, _latest_first, _ranks]
WAYS: dict[str, tuple[Callable[[random.Random], Inputs], Answers, Answers]] = {
    "plain": (_plain, [], [_across, *BYTES, *ORDER]),
    "one word": (_one_word, ORDER, [_across, *BYTES]),
    "borders": (_across_words, [_across, _ranks], [*BYTES, *ORDER[:-1]]),
    "unread": (_unread, BYTES, [_across, *ORDER]),
}


def _drawn(kind: str, number: int = 1) -> Draw:
    draw, apart, same = WAYS[kind]
    tells = _differ(bpe_encode, apart, same)

    def asked(rng: random.Random) -> list[Question]:
        """Draws questions; the last text comes once more, with one merge: a word is not cut the same way always."""
        found = _telling(rng, lambda rng: [draw(rng) for _ in range(number)], tells)
        text, merges = found[-1]
        more = [inputs for also in MORE.get(kind, []) for inputs in also(rng)]
        return [Question(one) for one in (*found, (text, merges[:1]), *more)]

    return asked


exercise.by_hand(Question(("abc", [(98, 99), (97, 98)])))


def _stage(name: str, points: float, feedback: str, kind: str, number: int = 1, **options: Any) -> Stage:
    draw = _drawn(kind, number)
    return Stage(name, points, feedback, fixed(draw, 15), draw, **options)


exercise.add(
    _stage(
        "without merges: bytes",
        0.25,
        "With an empty list of merges, the pieces of a text are its bytes, spaces among them.",
        "plain",
    ),
    _stage(
        "a word: what was learned first is merged first",
        1.25,
        "Merge in the order of the list, wherever the pair stands in the word, from left to right; merge number n "
        "makes 256 + n. Another call has other merges: what an earlier one made of a word does not count.",
        "one word",
        3,
        decisive=True,
    ),
    _stage(
        "words stay apart",
        0.25,
        "Training has counted inside of words: cut the text with split_words, which loses no space and no line "
        "break, and merge in each word by itself.",
        "borders",
    ),
    _stage(
        "signs that were never read",
        0.25,
        "Every text has bytes, also an emoji: nothing is unknown, and nothing may be left out.",
        "unread",
    ),
)


@exercise.corners(
    "a word: what was learned first is merged first",
    size=(1, 2, range(33, 40), range(65, 70), range(301, 310)),
    merges=(1, range(33, 36), range(65, 70)),
)
def _(rng: random.Random, size: int, merges: int) -> Question:
    """Asks for a word of two letters, and merges of which each joins the one before to the word's next letters."""
    letters = rng.sample("abcdefgh", 2)
    word = "".join(rng.choices(letters, k=size))
    pairs: list[Pair] = []
    parts = [ord(letter) for letter in word]
    while len(pairs) < merges:
        known = [*itertools.pairwise(parts), (ord(letters[0]), 256 + len(pairs) - 1), (ord("z"), len(pairs))]
        pair = next(pair for pair in known if pair not in pairs)
        parts = replace_pair(parts, pair, 256 + len(pairs))
        pairs.append(pair)
    return Question((word, pairs))


@exercise.corners("words stay apart", words=(0, 1, range(33, 40), range(1001, 1010)), different=(1, range(65, 70)))
def _(rng: random.Random, words: int, different: int) -> Question:
    pool = [a + b for a, b in itertools.islice(itertools.product(rng.sample("abcdefghijkl", 12), repeat=2), different)]
    pairs = [(ord(pool[0][0]), ord(pool[0][1])), (ord(" "), 256)]
    return Question((" ".join(rng.choices(pool, k=words)), pairs))
