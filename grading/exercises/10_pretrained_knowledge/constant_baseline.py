"""Exercise constant_baseline of notebook 10."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

from grading.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import both
from helpers.checking.answers import Ask

Pair = tuple[str, str]


def constant_baseline(pairs: list[Pair], others: list[Pair]) -> tuple[str, float]:
    place = Counter(answer for _, answer in pairs).most_common(1)[0][0]
    return place, sum(answer == place for _, answer in others) / len(others)


PLACES = ["Lyon", "Porto", "Prague", "Turin", "Bergen", "Leeds", "Vienna", "Ghent", "Basel", "Krakow", "Malaga", "Oslo"]


def _asked(rng: random.Random, places: list[str]) -> list[Pair]:
    """Returns a pair for each place, in any order, about different people."""
    places, letters = rng.sample(places, len(places)), "abcdefghijklmnoprstuv"
    names = ["".join(rng.choices(letters, k=6)).title() for _ in places]
    return [(f"Where was {name} born?", place) for name, place in zip(names, places, strict=True)]


def _draw_baseline(rng: random.Random) -> list[Ask]:
    """Draws pairs and others with the same most frequent place."""
    first, second, *rest = rng.sample(PLACES, 8)
    pairs = _asked(rng, [first] * 5 + [second] * 2 + rest + rest[:3])
    return [Ask((pairs, _asked(rng, [first] * rng.randint(3, 5) + [second] + rest[: rng.randint(3, 6)])))]


def _draw_shifted(rng: random.Random) -> list[Ask]:
    """Draws pairs and others with different favourites, and yet another place that is the most frequent of all."""
    first, second, third, *rest = rng.sample(PLACES, 8)
    pairs = _asked(rng, [first] * 6 + [second] * 5 + rest)
    others = _asked(rng, [first] * rng.randint(0, 1) + [second] * 3 + [third] * 4 + rest[: rng.randint(2, 5)])
    return [Ask((pairs, others))]


def _draw_tie(rng: random.Random) -> list[Ask]:
    """Draws pairs with three most frequent places: the first to come is the last by name."""
    *rest, low, middle, high = sorted(rng.sample(PLACES, 8))
    pairs = [pair for place in (rest[0], high, low, middle) for pair in _asked(rng, [place])]
    pairs += _asked(rng, [low, middle, high, *rest[1:]])
    return [Ask((pairs, _asked(rng, [low, middle, high, *rest, rest[0]])))]


def _counted(answer: Callable[[list[Pair], list[Pair]], str]) -> Callable[[list[Pair], list[Pair]], Any]:
    """Returns an answer that says this place, and rightly the share of the others that were born there."""

    def say(pairs: list[Pair], others: list[Pair]) -> Any:
        place = answer(pairs, others)
        return place, sum(found == place for _, found in others) / len(others)

    return say


def _most_common(pairs: list[Pair]) -> str:
    return constant_baseline(pairs, pairs)[0]


def _first_of_alphabet(places: list[str]) -> str:
    return min(places, key=lambda place: (-places.count(place), place))


EXERCISE = Exercise(
    constant_baseline,
    [
        Stage(
            "the most frequent place, and its share",
            1,
            "Count the answers of `pairs`; then count how many of `others` have the most frequent of them.",
            _draw_baseline(random.Random(1)),
            both(_draw_baseline, _draw_baseline),
        ),
        Stage(
            "another place is more frequent among the others",
            0.5,
            "The place is chosen before the others are looked at: from `pairs` alone, even where it does badly.",
            _draw_shifted(random.Random(2)),
            both(_draw_shifted, _draw_shifted),
        ),
        Stage(
            "two places are equally frequent",
            0.5,
            "Then the one that comes first in `pairs` counts; Counter.most_common keeps that order.",
            _draw_tie(random.Random(3)),
            _draw_tie,
        ),
    ],
    [
        Mistake(
            "the place is chosen on the test set",
            "This is the place that does best on `others`: whoever chooses after having seen the answers has no "
            "baseline. Choose on `pairs`, score on `others`.",
            _counted(lambda pairs, others: _most_common(others)),
        ),
        Mistake(
            "the place is chosen on all pairs together",
            "The test set has taken part in the choice. Choose on `pairs` only, score on `others`.",
            _counted(lambda pairs, others: _most_common([*pairs, *others])),
        ),
        Mistake(
            "the share is that of the pairs it was chosen on",
            "How well the place does where it was chosen says too much good: the share of `others` is asked.",
            lambda pairs, others: constant_baseline(pairs, pairs),
        ),
        Mistake(
            "a count in place of a share",
            "Divide by the number of `others`.",
            lambda pairs, others: (_most_common(pairs), sum(a == _most_common(pairs) for _, a in others)),
        ),
        Mistake(
            "per cent in place of a share",
            "A share lies between 0 and 1.",
            lambda pairs, others: (_most_common(pairs), 100 * constant_baseline(pairs, others)[1]),
        ),
        Mistake(
            "of equally frequent places, the first of the alphabet",
            "Where two places are equally frequent, the one that comes first in `pairs` counts.",
            _counted(lambda pairs, others: _first_of_alphabet([answer for _, answer in pairs])),
        ),
        Mistake(
            "the place without its share",
            "Return two things: the place, and the share of `others` for which it is right.",
            lambda pairs, others: _most_common(pairs),
        ),
    ],
)
