"""Exercise warmup of notebook 12."""

from __future__ import annotations

import math
import random

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw, both
from tutor.checking.answers import Ask


def warmup(step: int, warmup_steps: int, peak: float) -> float:
    return peak * min(step / warmup_steps, math.sqrt(warmup_steps / step))


def _at_steps(*asked: tuple[int, int, float]) -> list[Ask]:
    return [Ask(each) for each in asked]


def _draw_steps(low: float, high: float) -> Draw:
    """Draws steps between `low` and `high` times the length of the warm-up."""

    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for length, peak in ((rng.randint(4, 9), 2.5), (rng.randint(40, 900), 1.0), (rng.randint(40, 900), 0.5)):
            step = max(2, round(length * rng.uniform(low, high)))
            asks.append(Ask((step, length, peak * rng.uniform(0.6, 1))))
        return asks

    return draw


def _draw_late(rng: random.Random) -> list[Ask]:
    """Draws a step very long after the warm-up, and one after a warm-up of one step."""
    length = rng.randint(3, 9)
    late = length * rng.randint(2_000, 9_000), length, rng.uniform(0.4, 2)
    return _at_steps(late, (rng.randint(2, 99), 1, rng.uniform(0.4, 2)))


EXERCISE = Exercise(
    warmup,
    [
        Stage(
            "at the end of the warm-up: the peak",
            0.5,
            "At step = warmup_steps both branches give the peak itself.",
            _at_steps((4, 4, 1.0), (100, 100, 0.5), (3, 3, 0.0004567), (6, 6, 3.0)),
            _draw_steps(1, 1),
            tolerance=2e-7,
        ),
        Stage(
            "before: a straight line",
            1,
            "With 4 steps of warm-up: a quarter of the peak at step 1, a half at step 2, three quarters at step 3.",
            _at_steps((1, 4, 1.0), (2, 4, 1.0), (30, 100, 0.5), (80, 100, 0.5), (1, 3, 0.001), (80, 100, 3.0)),
            _draw_steps(0.1, 0.8),
            tolerance=2e-7,
        ),
        Stage(
            "after: falling like one over the square root",
            1,
            "Four times as many steps as the warm-up, half of the peak.",
            _at_steps((16, 4, 1.0), (250, 100, 0.5), (7, 3, 0.001), (90_000, 4, 1.0), (9, 1, 0.5), (8, 4, 3.0)),
            both(_draw_steps(1.4, 9), _draw_late),
            decisive=True,
            tolerance=2e-7,
        ),
        Stage(
            "step 1 already learns a little",
            0.5,
            "Steps are counted from 1: the first rate is peak / warmup_steps, not 0.",
            _at_steps((1, 50, 1.0), (1, 1, 0.5), (1, 6, 0.001), (1, 1, 2.0)),
            lambda rng: _at_steps((1, rng.randint(20, 400), rng.uniform(0.4, 2)), (1, 1, rng.uniform(0.4, 2))),
            tolerance=2e-7,
        ),
    ],
    [
        Mistake(
            "the larger of the two branches is taken",
            "The rate is the smaller of the two: max gives a huge rate at step 1, just where it must be small.",
            lambda step, warm, peak: peak * max(step / warm, math.sqrt(warm / step)),
        ),
        Mistake(
            "it stays at the peak",
            "After the warm-up the rate falls: peak * sqrt(warmup_steps / step).",
            lambda step, warm, peak: peak * min(step / warm, 1),
        ),
        Mistake(
            "it falls like one over the step",
            "It falls with the square root: at four times the warm-up, half of the peak is left, not a quarter.",
            lambda step, warm, peak: peak * min(step / warm, warm / step),
        ),
        Mistake(
            "there is no warm-up",
            "Only the falling branch is there, so the rate is highest at step 1.",
            lambda step, warm, peak: peak * math.sqrt(warm / step),
        ),
        Mistake(
            "it jumps at the end of the warm-up",
            "1 / sqrt(step) must be scaled so that it meets the line at the peak: sqrt(warmup_steps / step).",
            lambda step, warm, peak: peak * (step / warm if step <= warm else step**-0.5),
        ),
        Mistake(
            "it starts to fall from the peak as if the warm-up had not been",
            "The square root counts from step 0, not from the end of the warm-up: sqrt(warmup_steps / step).",
            lambda step, warm, peak: peak * (step / warm if step <= warm else (step - warm + 1) ** -0.5),
        ),
        Mistake(
            "steps are counted from 0",
            "At step 1 nothing would be learned, and the peak would come late: the line is step / warmup_steps.",
            lambda step, warm, peak: peak * min((step - 1) / warm, math.sqrt(warm / step)),
        ),
        Mistake(
            "the first step has number 0",
            "The caller counts steps from 1 already: take step as it is.",
            lambda step, warm, peak: peak * min((step + 1) / warm, math.sqrt(warm / (step + 1))),
        ),
        Mistake(
            "the peak is forgotten",
            "Both branches are factors between 0 and 1: multiply the smaller one by the peak.",
            lambda step, warm, peak: min(step / warm, math.sqrt(warm / step)),
        ),
        Mistake(
            "the formula of the paper without a peak",
            "min(step^-0.5, step * warmup^-1.5) has its own highest value, warmup^-0.5. Divide by that, and multiply "
            "by the peak.",
            lambda step, warm, peak: min(step**-0.5, step * warm**-1.5),
        ),
        Mistake(
            "the formula of the paper times the peak",
            "min(step^-0.5, step * warmup^-1.5) is at most warmup^-0.5, not 1: multiply by sqrt(warmup_steps) as well.",
            lambda step, warm, peak: peak * min(step**-0.5, step * warm**-1.5),
        ),
    ],
    hints=(
        "Take $W = 4$ and a peak of 1, and write for the steps 1, 2, 4 and 16 both numbers in the bracket, $t/W$ "
        "and $\\sqrt{W/t}$. Which of the two is smaller before step 4, which after it, and what happens at step 4 "
        "itself? So does your function have to ask on which side it is?",
        "$W = 9$, peak 0.002. Step 3: $3/9 = 0.33$ and $\\sqrt{9/3} = 1.73$; the rate is a third of the peak, "
        "about 0.00067. Step 9: 1 and 1; the peak itself, 0.002. Step 36: $36/9 = 4$ and $\\sqrt{9/36} = 0.5$; "
        "half of the peak, 0.001. The smaller of the two numbers is a factor between 0 and 1, and it is the right "
        "one on both sides. Steps come counted from 1, so nothing must be added or taken away, and nothing is "
        "divided by 0.",
        "Two numbers first:\n"
        "```python\n"
        "rise = ...  # the straight line: 1 at step warmup_steps\n"
        "fall = ...  # math.sqrt of a fraction: 1 at step warmup_steps as well\n"
        "```\n"
        "The result is the peak times one of them: `# ...` `min` or `max`? Test with `warmup(1, 4, 1.0)`, a "
        "quarter; `warmup(4, 4, 1.0)`, the peak; `warmup(16, 4, 1.0)`, a half. If the second is right and the "
        "third is a quarter, the root is missing; if step 5 is far below step 4, `fall` does not begin at the peak.",
    ),
)
