"""Texts as pieces of byte-pair encoding, cut fast enough for the long list of merges of a real model."""

import re
from collections.abc import Sequence
from itertools import pairwise

WORD = re.compile(r" ?\w+| ?[^\w\s]+|\s")  # a word or signs, with the space before them


def bpe_encode(text: str, merges: Sequence[tuple[int, int]]) -> list[int]:
    """Returns the numbers of the pieces of a text, whose words begin as their bytes.

    Args:
        merges: different pairs, in the order in which they were learned; pair n makes 256 + n of two smaller numbers.
    """
    made_of = {pair: number for number, pair in enumerate(merges, 256)}
    return [number for word in WORD.findall(text) for number in _cut(list(word.encode()), made_of)]


def _cut(numbers: list[int], made_of: dict[tuple[int, int], int]) -> list[int]:
    """Returns the pieces of one word: of the pairs that stand in it, the one learned first is merged, and so on."""
    while known := made_of.keys() & set(pairwise(numbers)):
        first = min(known, key=made_of.__getitem__)
        place = 0
        while place < len(numbers) - 1:  # from left to right: of three alike the first two
            if (numbers[place], numbers[place + 1]) == first:
                numbers[place : place + 2] = [made_of[first]]
            place += 1
    return numbers
