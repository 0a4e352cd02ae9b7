"""Exercise needed_scale of notebook 08."""

from __future__ import annotations

import math
import random

from grading.definitions.definition import Definition
from tutor.checking.answers import Question

exercise = Definition(minutes=12, difficulty=2)


@exercise.reference
def needed_scale(n: int, error: float) -> float:
    return math.log((n - 2) * (1 - 2 * error) / (4 * error))


exercise.by_hand(Question((4, 0.05)))


@exercise.stage("scale 0: four keys, error 1/4", points=0.25, public=[Question((4, 0.25)), Question((5, 0.3))])
def _(rng: random.Random) -> list[Question]:
    """With scale 0 each of 4 keys has the weight 1/4, which is 1/4 below one half: needed_scale(4, 0.25) is 0."""
    return [Question((count, 0.5 - 1 / count)) for count in rng.sample([4, 5, 8, 10, 20], 2)]


@exercise.stage("four keys, error 0.05: ln 9", points=0.5, public=[Question((4, 0.05))])
def _(rng: random.Random) -> list[Question]:
    """For four keys of which two share the attention, the weight is e^s/(2 e^s + 2) = 0.45 when e^s = 9."""
    return [Question((4, round(rng.uniform(0.01, 0.1), 3)))]


def _beyond(number: int) -> Question:
    return Question((100_000 * number, 1e-7))


@exercise.stage(
    "any number of keys, any error",
    points=1,
    public=[Question((10, 0.02)), Question((1000, 1e-4)), Question((5000, 0.4)), _beyond(5)],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Set average_weight() equal to 1/2 - error, solve for e^s, and take the natural logarithm. The scale has no bound:
    it may be below 0, and above 20 for many keys and a tiny error.
    """
    # Returns questions of usual sizes, and one whose scale is beyond 25.
    asks = [Question((rng.randint(5, 60), round(rng.uniform(0.01, 0.1), 3))) for _ in range(3)]
    many = rng.sample(range(2000, 60_000), 2)
    return [*asks, Question((many[0], 10 ** -rng.randint(3, 5))), Question((many[1], 0.4)), _beyond(rng.randint(2, 9))]


@exercise.stage(
    "less than they would get anyway: a scale below 0", points=0.25, public=[Question((3, 0.3)), Question((4, 0.4))]
)
def _(rng: random.Random) -> list[Question]:
    """Three keys get 1/3 each at scale 0. Who wants less for two of them, 1/2 - 0.3, needs a scale below 0: the formula
    gives it by itself.
    """
    return [Question((count, round(rng.uniform(0.35, 0.45), 3))) for count in (3, 4)]


@exercise.corners(
    "any number of keys, any error", n=(3, 4, range(33, 40), range(1_000_001, 1_001_000)), error=(1e-7, 0.001, 0.499)
)
def _(rng: random.Random, n: int, error: float) -> Question:
    return Question((n, error))
