"""What the definitions of several notebooks draw with."""

from __future__ import annotations

import random
from collections.abc import Callable

from tutor.checking.answers import Question

Draw = Callable[[random.Random], list[Question]]


def seed_from(rng: random.Random) -> int:
    """Returns a seed for numbers that a question draws itself."""
    return rng.randrange(10**6)


def both(*draws: Draw) -> Draw:
    """Returns a draw that asks what each of the draws asks."""
    return lambda rng: [ask for draw in draws for ask in draw(rng)]


def fixed(draw: Draw, *seeds: int) -> list[Question]:
    """Returns drawn questions for the student's own check, always the same."""
    return [ask for seed in seeds for ask in draw(random.Random(seed))]
