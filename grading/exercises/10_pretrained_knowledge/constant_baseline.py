"""Exercise constant_baseline of notebook 10."""

from __future__ import annotations

import random
from collections import Counter

from grading.definitions.definition import Definition
from grading.exercises.draws import both
from tutor.checking.answers import Question

Pair = tuple[str, str]


exercise = Definition(minutes=8, difficulty=1)


@exercise.reference
def constant_baseline(pairs: list[Pair], others: list[Pair]) -> tuple[str, float]:
    place = Counter(answer for _, answer in pairs).most_common(1)[0][0]
    return place, sum(answer == place for _, answer in others) / len(others)


PLACES = ["Lyon", "Porto", "Prague", "Turin", "Bergen", "Leeds", "Vienna", "Ghent", "Basel", "Krakow", "Malaga", "Oslo"]


Pairs = list[Pair]
INSIDE = [("York", "New York"), ("Bath", "Bathgate"), ("Ham", "Hamburg"), ("Mans", "Le Mans")]


def _in_order(rng: random.Random, places: list[str]) -> Pairs:
    """Returns a pair for each place, about different people."""
    letters = "abcdefghijklmnoprstuv"
    names = ["".join(rng.choices(letters, k=6)).title() for _ in places]
    return [(f"Where was {name} born?", place) for name, place in zip(names, places, strict=True)]


def _asked(rng: random.Random, places: list[str]) -> Pairs:
    """Returns a pair for each place, in any order."""
    return _in_order(rng, rng.sample(places, len(places)))


def _draw_baseline(rng: random.Random) -> list[Question]:
    """Draws pairs and others with the same most frequent place."""
    first, second, *rest = rng.sample(PLACES, 8)
    pairs = _asked(rng, [first] * 5 + [second] * 2 + rest + rest[:3])
    return [Question((pairs, _asked(rng, [first] * rng.randint(3, 5) + [second] + rest[: rng.randint(3, 6)])))]


def _draw_inside(rng: random.Random) -> list[Question]:
    """Draws a place that is part of the name of another, once the shorter as the most frequent, once the longer."""
    inside, rest = rng.choice(INSIDE), rng.sample(PLACES, 3)
    asks = []
    for first, second in (inside, inside[::-1]):
        pairs = _asked(rng, [first] * 5 + [second] + rest)
        asks.append(Question((pairs, _asked(rng, [first] * 4 + [second] * rng.randint(2, 3) + rest))))
    return asks


def _draw_repeated(rng: random.Random) -> list[Question]:
    """Draws pairs of which some stand there several times, and others of which some stand in `pairs`, too."""
    first, second, third, *rest = rng.sample(PLACES, 6)
    once = _asked(rng, [first, second, second, third, *rest])
    of_first = next(pair for pair in once if pair[1] == first)
    others = _asked(rng, [second] * 2 + [third])
    others += [of_first] * rng.randint(3, 4)
    pairs = [*once, *[of_first] * rng.randint(2, 4)]
    return [Question((rng.sample(pairs, len(pairs)), rng.sample(others, len(others))))]


def _draw_single(rng: random.Random) -> list[Question]:
    """Draws a single pair and a single other, of the same place and of another."""
    one, two = rng.sample(PLACES, 2)
    return [Question((_asked(rng, [one]), _asked(rng, [place]))) for place in (one, two)]


_FIRST = both(_draw_baseline, _draw_inside, _draw_repeated, _draw_single)


@exercise.stage("the most frequent place, and its share", points=1, seed=1)
def _(rng: random.Random) -> list[Question]:
    """Count the answers of `pairs`, each pair as often as it stands there; then count how many of `others` have exactly
    the most frequent of them, and divide by the number of `others`.
    """
    return _FIRST(rng)


def _draw_shifted(rng: random.Random) -> list[Question]:
    """Draws pairs and others with different favourites, and yet another place that is the most frequent of all."""
    first, second, third, *rest = rng.sample(PLACES, 8)
    pairs = _asked(rng, [first] * 6 + [second] * 5 + [third] + rest)
    others = _asked(rng, [first] + [second] * 3 + [third] * 4 + rest[: rng.randint(3, 5)])
    return [Question((pairs, others))]


@exercise.stage(
    "another place is more frequent among the others", points=0.5, public=_draw_shifted(random.Random(2)), decisive=True
)
def _(rng: random.Random) -> list[Question]:
    """The place is chosen before the others are looked at: from `pairs` alone, even where it does badly."""
    return both(_draw_shifted, _draw_shifted)(rng)


@exercise.stage("two places are equally frequent", points=0.5, seed=3)
def _(rng: random.Random) -> list[Question]:
    """Then the one that comes first in `pairs` counts; Counter.most_common keeps that order."""
    # Draws pairs with three most frequent places, none of which is to be told by anything but where it comes first.
    # The first to come is once the last and twice neither by name, reaches its number once first and twice last, comes
    # last of all or not, and does neither best nor worst among the others. A share of 7, 9 or 11 is none of two digits.
    asks = []
    for is_last, ends in ((True, True), (False, True), (False, False)):
        *rest, low, middle, high = sorted(rng.sample(PLACES, 8))
        winner, second, third, best = (high, low, middle, middle) if is_last else (middle, high, low, high)
        order = [second, third, rest[2], winner] if ends else [winner, second, rest[2], third]
        pairs = _in_order(rng, [rest[0], winner, second, third, rest[1], *order])
        others = _asked(rng, [winner, second, third, best, best, *rest[: rng.choice((1, 3, 5))]])
        asks.append(Question((pairs, [*others, *_asked(rng, [winner])])))
    return asks


exercise.large += [
    Question(
        (_asked(random.Random(9), ["Lyon", "Lille"] * 150 + ["Lyon"]), _asked(random.Random(8), ["Lyon", "Nice"] * 150))
    )
]


@exercise.corners(
    "the most frequent place, and its share",
    pairs=(1, range(33, 40), range(301, 310)),
    others=(1, range(101, 110), range(301, 310)),
    right=("one", "all but one", "all"),
)
def _(rng: random.Random, pairs: int, others: int, right: str) -> Question:
    """Asks for shares that differ in the third digit."""
    first, *rest = rng.sample(PLACES, 6)
    more = [first] * max(1, pairs // 4 + 1)
    more += [rest[n % len(rest)] for n in range(pairs - len(more))]
    number = {"one": 1, "all but one": others - 1, "all": others}[right]
    tried = [first] * number + [rng.choice(rest) for _ in range(others - number)]
    return Question((_asked(rng, more), _asked(rng, tried)))


@exercise.corners("two places are equally frequent", places=(2, range(11, 13)), times=(1, range(33, 36)))
def _(rng: random.Random, places: int, times: int) -> Question:
    """Asks about places that all come equally often, the one that comes first last in the end."""
    names = rng.sample(PLACES, places)
    pairs = _in_order(rng, [*names, *names[::-1] * (times - 1)])
    return Question((pairs, _asked(rng, [*names, names[0], names[-1]])))
