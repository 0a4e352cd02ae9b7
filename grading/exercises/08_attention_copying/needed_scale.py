"""Exercise needed_scale of notebook 08."""

from __future__ import annotations

import math
import random

from grading.definitions.exercise import Exercise, Mistake, Stage
from tutor.checking.answers import Ask


def needed_scale(n: int, error: float) -> float:
    return math.log((n - 2) * (1 - 2 * error) / (4 * error))


def _draw_scales(rng: random.Random) -> list[Ask]:
    """Returns questions of usual sizes, and one whose scale is beyond 25."""
    asks = [Ask((rng.randint(5, 60), round(rng.uniform(0.01, 0.1), 3))) for _ in range(3)]
    many = rng.sample(range(2000, 60_000), 2)
    return [*asks, Ask((many[0], 10 ** -rng.randint(3, 5))), Ask((many[1], 0.4)), _beyond(rng.randint(2, 9))]


def _beyond(number: int) -> Ask:
    return Ask((100_000 * number, 1e-7))


def _below_zero(rng: random.Random) -> list[Ask]:
    return [Ask((count, round(rng.uniform(0.35, 0.45), 3))) for count in (3, 4)]


EXERCISE = Exercise(
    needed_scale,
    [
        Stage(
            "scale 0: four keys, error 1/4",
            0.25,
            "With scale 0 each of 4 keys has the weight 1/4, which is 1/4 below one half: needed_scale(4, 0.25) is 0.",
            [Ask((4, 0.25)), Ask((5, 0.3))],
            lambda rng: [Ask((count, 0.5 - 1 / count)) for count in rng.sample([4, 5, 8, 10, 20], 2)],
        ),
        Stage(
            "four keys, error 0.05: ln 9",
            0.5,
            "For four keys of which two share the attention, the weight is e^s/(2 e^s + 2) = 0.45 when e^s = 9.",
            [Ask((4, 0.05))],
            lambda rng: [Ask((4, round(rng.uniform(0.01, 0.1), 3)))],
        ),
        Stage(
            "any number of keys, any error",
            1,
            "Set average_weight() equal to 1/2 - error, solve for e^s, and take the natural logarithm.",
            [Ask((10, 0.02)), Ask((1000, 1e-4)), Ask((5000, 0.4)), _beyond(5)],
            _draw_scales,
            decisive=True,
        ),
        Stage(
            "less than they would get anyway: a scale below 0",
            0.25,
            "Three keys get 1/3 each at scale 0. Who wants less for two of them, 1/2 - 0.3, needs a scale below 0: the "
            "formula gives it by itself.",
            [Ask((3, 0.3)), Ask((4, 0.4))],
            _below_zero,
        ),
    ],
    [
        Mistake(
            "the n - 2 others are forgotten",
            "More keys leak more: e^s must grow with n - 2.",
            lambda n, error: math.log((1 - 2 * error) / (4 * error)),
        ),
        Mistake(
            "n others in place of n - 2",
            "a and b are among the n keys: n - 2 others leak.",
            lambda n, error: math.log(n * (1 - 2 * error) / (4 * error)),
        ),
        Mistake(
            "n - 1 others in place of n - 2",
            "One key has n - 1 others. Here two keys share the attention: n - 2 others leak.",
            lambda n, error: math.log((n - 1) * (1 - 2 * error) / (4 * error)),
        ),
        Mistake(
            "a factor 2 is lost",
            "e^s/(2 e^s + n - 2) = 1/2 - error gives e^s (1 - 2 (1/2 - error)) = (n - 2)(1/2 - error): the bracket on "
            "the left is 2 error, and a half on the right becomes another 2 below. In all 4 error.",
            lambda n, error: math.log((n - 2) * (1 - 2 * error) / (2 * error)),
        ),
        Mistake(
            "the error of both weights together",
            "`error` is how far each of the two weights stays below one half; the others then get twice as "
            "much in all.",
            lambda n, error: math.log((n - 2) * (1 - error) / (2 * error)),
        ),
        Mistake(
            "e^s in place of s",
            "You have solved for e^s. Take the natural logarithm to get the scale itself.",
            lambda n, error: (n - 2) * (1 - 2 * error) / (4 * error),
        ),
        Mistake(
            "a logarithm to another base",
            "The softmax uses powers of e, so the logarithm is the natural one: math.log or sympy.log.",
            lambda n, error: math.log10((n - 2) * (1 - 2 * error) / (4 * error)),
        ),
        Mistake(
            "a logarithm to base 2",
            "The softmax uses powers of e, so the logarithm is the natural one: math.log or sympy.log.",
            lambda n, error: math.log2((n - 2) * (1 - 2 * error) / (4 * error)),
        ),
        Mistake(
            "the sign is turned round",
            "ln(1/x) is -ln(x): your fraction is upside down.",
            lambda n, error: -needed_scale(n, error),
        ),
        Mistake(
            "the weight is set to the error",
            "The weight must be 1/2 - error, not error.",
            lambda n, error: math.log((n - 2) * error / (1 - 2 * error)),
        ),
    ],
    hints=(
        "Your formula gives the weight for a scale. Now the weight is given, $\\frac{1}{2} - \\text{error}$, and "
        "the scale is wanted. Write $E$ for $e^s$: then the equation has no exponential in it any more. On how "
        "many sides of it does $E$ stand once you have multiplied by the sum below the line? And when you know "
        "$E$, how do you get back to $s$?",
        "By hand, with $n = 6$ and an error of 0.1: the weight is to be 0.4. $E / (2E + 4) = 0.4$ becomes $E = 0.8 "
        "E + 1.6$, then $0.2 E = 1.6$ and $E = 8$. So the scale is $\\ln 8 \\approx 2.08$. Go through the same "
        "lines with letters. The 0.2 in front of $E$ is $1 - 2 \\cdot 0.4$: what is that, said with the error? And "
        "the 1.6 is 0.4 times what?",
        "Four steps, with $E$ for $e^s$:\n\n"
        "1. The wanted weight: `weight = 0.5 - error`.\n"
        "2. The equation without a fraction: $E = \\text{weight} \\cdot (2E + n - 2)$.\n"
        "3. Everything with $E$ to the left, the rest to the right, and divide: $E = $ `# ...`\n"
        "4. The natural logarithm of it, `math.log`, as a number: `float`.\n\n"
        "Test it with the example, `needed_scale(4, 0.05)`, which is $\\ln 9$, and with scale 0: four keys and the "
        "error 0.25. Nothing special is needed for scales below 0: the logarithm of a number below 1 is negative "
        "by itself.",
    ),
)
