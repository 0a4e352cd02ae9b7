"""The corners of an exercise's domain: which arguments it may be given, stated once, and asked of everybody.

What is drawn keeps to a comfortable middle: a cap at 64, a comparison at its very limit, a product that underflows are
met by luck. So a definition says of what its arguments may be made, a few values for each dimension:

@exercise.corners("every row", size=(1, 2, range(33, 40), range(101, 110)), window=("one token", "all", "beyond"))
def _(rng: random.Random, size: int, window: str) -> Question:
    return Question((size, {"one token": 1, "all": size, "beyond": size + rng.randint(1, 5)}[window]))

Every value, and every pair of values of two dimensions, is in a question of the check, and grading asks everybody the
same ones. They are no secret: what is drawn for each student shows that an answer does not know results by heart.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tutor.checking.answers import Question

Corner = dict[str, int]  # dimension -> number of one of its values


@dataclass(frozen=True)
class Corners:
    """What the arguments in a stage's questions may be.

    Args:
        stage: the name of the stage that requires it, and fails where an answer does.
        dimensions: a few values each; a `range` stands for one of its numbers, drawn once.
        question: makes a question of a generator and one value for each dimension; None where two do not go together.
    """

    stage: str
    dimensions: Mapping[str, Sequence[Any]]
    question: Callable[..., Question | None]

    def drawn(self, rng: random.Random) -> Iterator[tuple[Corner, Question]]:
        """Yields questions in which each value, and each pair of values that go together, is met."""
        corners = list(self._all())
        rng.shuffle(corners)
        missing = {pair for corner in corners for pair in _pairs(corner)}
        while corners:
            corner = max(corners, key=lambda one: len(_pairs(one) & missing))
            corners.remove(corner)
            for drawn in self._made(rng, corner) if _pairs(corner) & missing else ():
                missing -= _pairs(corner)
                yield drawn

    def every(self, rng: random.Random) -> Iterator[tuple[Corner, Question]]:
        """Yields a question for each combination of values: what `benchmarks/slips.py` holds an answer against."""
        for corner in self._all():
            yield from self._made(rng, corner)

    def _all(self) -> Iterator[Corner]:
        for numbers in itertools.product(*(range(len(values)) for values in self.dimensions.values())):
            yield dict(zip(self.dimensions, numbers, strict=True))

    def _made(self, rng: random.Random, corner: Corner) -> Iterator[tuple[Corner, Question]]:
        values = {name: self.dimensions[name][number] for name, number in corner.items()}
        question = self.question(rng, **{name: _one(rng, value) for name, value in values.items()})
        if question is not None:
            yield corner, question


def _pairs(corner: Corner) -> set[tuple[tuple[str, int], ...]]:
    """Returns the pairs of a corner; of one with a single dimension, that."""
    return set(itertools.combinations(corner.items(), min(2, len(corner))))


def _one(rng: random.Random, value: Any) -> Any:
    return rng.choice(value) if isinstance(value, range) else value
