"""Cutting by the pair that was learned first gives what merging all pairs in their order gives."""

import random

import pytest

from helpers.pieces import bpe_encode


def in_order(text: str, merges: list[tuple[int, int]]) -> list[int]:
    """Returns the pieces of a text without spaces or signs: every merge, wherever its pair stands, from the left."""
    numbers = list(text.encode())
    for new, pair in enumerate(merges, 256):
        found: list[int] = []
        for number in numbers:
            if found and (found[-1], number) == pair:
                found[-1] = new
            else:
                found.append(number)
        numbers = found
    return numbers


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_the_merges_decides(seed: int) -> None:
    rng = random.Random(seed)
    merges: list[tuple[int, int]] = []
    while len(merges) < 12:
        known = [97, 98, *range(256, 256 + len(merges))]
        if (pair := (rng.choice(known), rng.choice(known))) not in merges:
            merges.append(pair)
    for length in range(12):
        text = "".join(rng.choices("ab", k=length))
        assert bpe_encode(text, merges) == in_order(text, merges)


def test_no_piece_reaches_across_words() -> None:
    assert bpe_encode("aab b", [(97, 97), (256, 98)]) == [257, 32, 98]
    assert bpe_encode("a, a", [(97, 44), (97, 32), (32, 97)]) == [97, 44, 258]
    assert bpe_encode("é", []) == [195, 169]
    assert bpe_encode("", [(97, 97)]) == []
