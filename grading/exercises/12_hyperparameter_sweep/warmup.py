"""Exercise warmup of notebook 12."""

from __future__ import annotations

import math
import random

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, both
from tutor.checking.answers import Question

exercise = Definition(minutes=5, difficulty=1, forbids=("helpers.training.schedule",))


@exercise.reference
def warmup(step: int, warmup_steps: int, peak: float) -> float:
    return peak * min(step / warmup_steps, math.sqrt(warmup_steps / step))


def _at_steps(*asked: tuple[int, int, float]) -> list[Question]:
    return [Question(each) for each in asked]


exercise.by_hand(Question((16, 4, 1.0)))


def _draw_steps(low: float, high: float) -> Draw:
    """Draws steps between `low` and `high` times the length of the warm-up."""

    def draw(rng: random.Random) -> list[Question]:
        asks = []
        for length, peak in ((rng.randint(4, 9), 2.5), (rng.randint(40, 900), 1.0), (rng.randint(40, 900), 0.5)):
            step = max(2, round(length * rng.uniform(low, high)))
            asks.append(Question((step, length, peak * rng.uniform(0.6, 1))))
        return asks

    return draw


@exercise.stage(
    "at the end of the warm-up: the peak",
    points=0.5,
    public=_at_steps((4, 4, 1.0), (100, 100, 0.5), (3, 3, 0.0004567), (6, 6, 3.0)),
    tolerance=2e-7,
)
def _(rng: random.Random) -> list[Question]:
    """At step = warmup_steps both branches give the peak itself, to all its digits: it multiplies either branch."""
    return _draw_steps(1, 1)(rng)


@exercise.stage(
    "before: a straight line",
    points=1,
    public=_at_steps((1, 4, 1.0), (2, 4, 1.0), (30, 100, 0.5), (80, 100, 0.5), (1, 3, 0.001), (80, 100, 3.0)),
    tolerance=2e-7,
)
def _(rng: random.Random) -> list[Question]:
    """With 4 steps of warm-up: a quarter of the peak at step 1, a half at step 2, three quarters at step 3."""
    return _draw_steps(0.1, 0.8)(rng)


def _draw_late(rng: random.Random) -> list[Question]:
    """Draws a step very long after the warm-up, and one after a warm-up of one step."""
    length = rng.randint(3, 9)
    late = length * rng.randint(2_000, 9_000), length, rng.uniform(0.4, 2)
    return _at_steps(late, (rng.randint(2, 99), 1, rng.uniform(0.4, 2)))


@exercise.stage(
    "after: falling like one over the square root",
    points=1,
    public=_at_steps((16, 4, 1.0), (250, 100, 0.5), (7, 3, 0.001), (90_000, 4, 1.0), (9, 1, 0.5), (8, 4, 3.0)),
    decisive=True,
    tolerance=2e-7,
)
def _(rng: random.Random) -> list[Question]:
    """Four times as many steps as the warm-up, half of the peak. Between such steps it falls as well: the root is of
    step / warmup_steps, not of its whole part.
    """
    return both(_draw_steps(1.4, 9), _draw_late)(rng)


@exercise.stage(
    "step 1 already learns a little",
    points=0.5,
    public=_at_steps((1, 50, 1.0), (1, 1, 0.5), (1, 6, 0.001), (1, 1, 2.0)),
    tolerance=2e-7,
)
def _(rng: random.Random) -> list[Question]:
    """Steps are counted from 1: the first rate is peak / warmup_steps, not 0."""
    return _at_steps((1, rng.randint(20, 400), rng.uniform(0.4, 2)), (1, 1, rng.uniform(0.4, 2)))


PEAKS = (1.0, 1000.0)


@exercise.corners(
    "after: falling like one over the square root",
    warmup_steps=(1, 2, range(1001, 1100)),
    times=("one step more", "a hundred times", "a hundred million times"),
    peak=PEAKS,
)
def _(rng: random.Random, warmup_steps: int, times: str, peak: float) -> Question:
    step = {"one step more": warmup_steps + 1, "a hundred times": 100 * warmup_steps}.get(times, 10**8 * warmup_steps)
    return Question((step, warmup_steps, peak * rng.uniform(0.6, 1)))


@exercise.corners(
    "before: a straight line",
    warmup_steps=(2, 3, range(1001, 1100)),
    step=("the first", "the last but one"),
    peak=PEAKS,
)
def _(rng: random.Random, warmup_steps: int, step: str, peak: float) -> Question:
    return Question((1 if step == "the first" else warmup_steps - 1, warmup_steps, peak * rng.uniform(0.6, 1)))
