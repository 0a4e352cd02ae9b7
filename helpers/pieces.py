"""Texts as pieces of byte-pair encoding, cut fast enough for the long list of merges of a real model."""

import re
from collections.abc import Sequence
from itertools import pairwise

WORD = re.compile(r" ?\w+| ?[^\w\s]+|\s")  # a word or signs, with the space before them

# Numerals that are no digits, such as superscripts, fractions and circled ones: Python counts them as letters of words.
_NUMERALS = (
    "\u00b2\u00b3\u00b9\u00bc-\u00be\u2070\u2074-\u2079\u2080-\u2089\u2150-\u2182\u2185-\u2189"
    "\u2460-\u249b\u24ea-\u24ff\u2776-\u2793"
)
# The words of SmolLM2 and, but for its single digits, of GPT-2 (Radford et al. 2019, `encoder.py`).
GPT2_WORD = re.compile(
    r"'(?:s|t|re|ve|m|ll|d)"  # what follows an apostrophe: don't is " don" and "'t"
    rf"| ?[^\W\d_{_NUMERALS}]+"  # letters, with the space before them
    rf"|[\d{_NUMERALS}]"  # each digit by itself, without the space
    rf"| ?(?:[^\s\w]|_)+"  # signs, with the space before them
    r"|\s+(?!\S)|\s+"  # white space: all but the last one before a word
)


class Cutter:
    """Cuts texts into pieces by one list of merges, and each word once: it remembers those that it has cut."""

    def __init__(self, merges: Sequence[tuple[int, int]], word: re.Pattern[str] = WORD) -> None:
        """Takes merges as `bpe_encode` does, and a pattern that finds the words, across which nothing is merged."""
        self._made_of = {pair: number for number, pair in enumerate(merges, 256)}
        self._word = word
        self._known: dict[str, list[int]] = {}

    def encode(self, text: str) -> list[int]:
        """Returns the numbers of the pieces of a text, whose words begin as their bytes."""
        return [number for word in self._word.findall(text) for number in self._cut(word)]

    def _cut(self, word: str) -> list[int]:
        if word not in self._known:
            self._known[word] = _cut(list(word.encode()), self._made_of)
        return self._known[word]


def bpe_encode(text: str, merges: Sequence[tuple[int, int]], word: re.Pattern[str] = WORD) -> list[int]:
    """Returns the numbers of the pieces of a text, whose words begin as their bytes.

    Args:
        merges: different pairs, in the order in which they were learned; pair n makes 256 + n of two smaller numbers.
        word: finds the words, across which nothing is merged. For many texts and long lists, a `Cutter` is faster.
    """
    return Cutter(merges, word).encode(text)


def _cut(numbers: list[int], made_of: dict[tuple[int, int], int]) -> list[int]:
    """Returns the pieces of one word: of the pairs that stand in it, the one learned first is merged, and so on."""
    while known := [pair for pair in pairwise(numbers) if pair in made_of]:
        first = min(known, key=made_of.__getitem__)
        index = 0
        while index < len(numbers) - 1:  # from left to right: of three alike the first two
            if (numbers[index], numbers[index + 1]) == first:
                numbers[index : index + 2] = [made_of[first]]
            index += 1
    return numbers
