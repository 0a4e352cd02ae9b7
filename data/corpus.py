"""What every corpus shares: reproducible draws, the word rule, and lines of text."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

Item = TypeVar("Item")

WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*'?|[^\w\s]")


def words(text: str) -> list[str]:
    """The words that indices count: lower case, elided words and punctuation stand alone."""
    return WORD.findall(text.lower())


def listed(text: str) -> list[str]:
    """The words of a list that is written as running text."""
    return text.split()


class Draw:
    """Seeded draws built on `random.Random.random` alone.

    Python promises that the sequence of `random()` stays the same for a seed; it makes no such
    promise for `choice`, `sample` or `shuffle`. So the bytes do not depend on the version.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def below(self, stop: int) -> int:
        """An integer from 0 to `stop - 1`."""
        return int(self._random() * stop)

    def between(self, first: int, last: int) -> int:
        """An integer from `first` to `last`, both included."""
        return first + self.below(last - first + 1)

    def happens(self, probability: float) -> bool:
        """True with the given probability."""
        return self._random() < probability

    def one(self, items: Sequence[Item]) -> Item:
        """One of the items, all equally likely."""
        return items[self.below(len(items))]

    def weighted(self, items: Sequence[Item], weights: Sequence[int]) -> Item:
        """One of the items, with integer weights (no rounding, so no platform differs)."""
        point = self.below(sum(weights))
        for item, weight in zip(items, weights, strict=True):
            point -= weight
            if point < 0:
                return item
        raise ValueError("weights must be positive integers, one for each item")

    def shuffled(self, items: Iterable[Item]) -> list[Item]:
        """A new list in random order."""
        result = list(items)
        for last in range(len(result) - 1, 0, -1):
            other = self.below(last + 1)
            result[last], result[other] = result[other], result[last]
        return result

    def some(self, items: Sequence[Item], count: int) -> list[Item]:
        """`count` different items in random order."""
        return self.shuffled(items)[:count]


def lines(texts: Iterable[str]) -> str:
    """One text per line, with a line end after the last."""
    return "".join(text + "\n" for text in texts)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Tab-separated lines under a header; refuses a field that would break its line."""
    result = ["\t".join(columns)]
    for row in rows:
        fields = [str(field) for field in row]
        if len(fields) != len(columns) or any(set(field) & set("\t\r\n") for field in fields):
            raise ValueError(f"not a row of {len(columns)} plain fields: {fields}")
        result.append("\t".join(fields))
    return lines(result)
