"""What the definitions of several notebooks draw with."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from itertools import islice
from typing import TypeVar

from grading.definitions.definition import ExerciseError
from tutor.checking.answers import Question

Draw = Callable[[random.Random], list[Question]]
Source = TypeVar("Source")
Made = TypeVar("Made")
TRIES = 10_000  # what fits is found after a few hundred at most


def seed_from(rng: random.Random) -> int:
    """Returns a seed for numbers that a question draws itself."""
    return rng.randrange(10**6)


def both(*draws: Draw) -> Draw:
    """Returns a draw that asks what each of the draws asks."""
    return lambda rng: [ask for draw in draws for ask in draw(rng)]


def fixed(draw: Draw, *seeds: int) -> list[Question]:
    """Returns drawn questions for the student's own check, always the same."""
    return [ask for seed in seeds for ask in draw(random.Random(seed))]


def until(
    sources: Iterable[Source], make: Callable[[Source], Made], fits: Callable[[Made], bool], tries: int = TRIES
) -> Made:
    """Returns the first of what is made that fits.

    Args:
        sources: what `make` gets in each try: `itertools.count(seed)`, or a generator again, `itertools.repeat(rng)`.
        make: makes a question, or a part of one.
        fits: says whether what is made shows what it is meant to show.
        tries: how many are made at most.

    Raises:
        ExerciseError: when none of them fits; it names the exercise and the function that makes them.
    """
    for source in islice(sources, tries):
        made = make(source)
        if fits(made):
            return made
    exercise, name = make.__module__.rpartition(".")[2], make.__qualname__.partition(".")[0]
    raise ExerciseError(f"{exercise}: in {tries:,} tries {name} made nothing that fits. Mend what it draws or expects.")
