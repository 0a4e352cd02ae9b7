"""Exercise two_head_queries of notebook 08."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw
from tutor.checking.answers import Ask

from ._common import _generator, _of_seed, _orthonormal, _sizes, _two


def two_head_queries(means: Tensor, a: int, b: int, scale: float) -> Tensor:
    return torch.stack([scale * means[a], scale * means[b]])


def _ask_heads(
    means: Tensor,
    a: int,
    b: int,
    scale: float,
    varying: Sequence[int],
    generator: torch.Generator,
    length: float = 1.0,
) -> Ask:
    samples = length * means.repeat(6, 1, 1)
    for key in varying:
        lengths = 0.5 + 1.5 * torch.rand(6, 1, generator=generator)
        # Always there, since chance would not tell a scale that is too small: each at its shortest, all of them, and
        # each head's key in turn beside others at their longest, where a head that looks at both keys copies the other.
        lengths[0] = lengths[1] = lengths[2] = 0.5
        if key != a:
            lengths[1] = 2.0
        if key != b:
            lengths[2] = 2.0
        samples[:, key] *= lengths
    return Ask((means, a, b, scale), beside={"keys": samples})


def _draw_heads(which: str, low: float = 20, high: float = 25, length: float = 1.0) -> Draw:
    def draw(rng: random.Random) -> list[Ask]:
        """Draws two questions; in the second one b stands before a, and neither is at an end."""
        asks = []
        for number in range(2):
            count, d = _sizes(rng)
            a, b = _two(rng, count)
            if number:
                b, a = sorted(rng.sample(range(1, count - 1), 2))
            varying = {"none": [], "a": [a], "b": [b], "all": range(count)}[which]
            means, scale = _orthonormal(count, d, _generator(rng)), round(rng.uniform(low, high), 1)
            asks.append(_ask_heads(means, a, b, scale, varying, _generator(rng), length))
        return asks

    return draw


def _public_heads(
    a: int, b: int, varying: Sequence[int], seed: int, scale: float = 10.0, length: float = 1.0, n: int = 4
) -> Ask:
    generator = torch.Generator().manual_seed(seed)
    return _ask_heads(_of_seed(n, 6, seed), a, b, scale, varying, generator, length)


def _two_keys(rng: random.Random) -> Ask:
    """Returns a question on two keys only: there are no others to look away from."""
    a, b = rng.sample([0, 1], 2)
    return _public_heads(a, b, [], rng.randrange(10**6), rng.uniform(20, 25), n=2)


# A key of half its length under MIDDLE, or one of its length under SMALL, tells how large the gap of the scores is:
# half of it leaks more. Keys of a twentieth of their length, under LARGE, tell a fixed number in place of the scale.
SMALL, MIDDLE, LARGE, SHORT = (4.8, 5.4), (9.8, 10.8), (160.0, 200.0), 0.05


def _stacked(first: Callable[..., Tensor], second: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda means, a, b, scale: torch.stack([first(means, a, b, scale), second(means, a, b, scale)])


def _both(means: Tensor, a: int, b: int, scale: float) -> Tensor:
    return scale * (means[a] + means[b])


EXERCISE = Exercise(
    two_head_queries,
    [
        Stage(
            "two queries, shape (2, d)",
            0.25,
            "Stack the two queries into one tensor: torch.stack([first, second]).",
            [_public_heads(0, 2, [], 11, 20.0)],
            _draw_heads("none"),
            view="shape",
            measure="two heads",
        ),
        Stage(
            "keys at their means: half and half",
            0.5,
            "The two outputs are averaged. If one head copies v_a, what must the other one copy?",
            [_public_heads(1, 3, [], 12, 20.0), _public_heads(1, 0, [], 17, 20.0, n=2)],
            lambda rng: [*_draw_heads("none")(rng), _two_keys(rng)],
            tolerance=0.02,
            measure="two heads",
        ),
        Stage(
            "the norm of key a varies: still half and half in every draw",
            1,
            "Each row is one draw. A head must not be asked to keep two scores equal, since one of them moves. Each "
            "head needs the whole `scale`: half of it is too little for a key of half the length.",
            [_public_heads(2, 0, [2], 13)],
            _draw_heads("a", *MIDDLE),
            tolerance=0.02,
            measure="two heads",
            decisive=True,
        ),
        Stage(
            "whichever key varies",
            0.75,
            "Now the norm of key b varies, and then the norms of all keys. No head may depend on a tie. Each score "
            "must be `scale` above the others, no less, and no fixed number: there are questions with a scale of 5 and "
            "of 180.",
            [
                _public_heads(2, 1, [1], 14),
                _public_heads(0, 3, range(4), 15),
                _public_heads(0, 2, [], 12, 5.0),
                _public_heads(1, 2, [], 15, 180.0, SHORT),
            ],
            lambda rng: [
                *_draw_heads("b", *MIDDLE)(rng),
                *_draw_heads("all", *MIDDLE)(rng),
                *_draw_heads("none", *SMALL)(rng),
                *_draw_heads("none", *LARGE, SHORT)(rng),
            ],
            tolerance=0.02,
            measure="two heads",
        ),
    ],
    [
        Mistake(
            "both heads the same",
            "Two heads with the same query swing together, and their average swings as much as one. Give each head one "
            "key to look at.",
            _stacked(_both, _both),
        ),
        Mistake(
            "both heads look at a",
            "Both copies are v_a, and so is their average. The second head must look at b.",
            _stacked(lambda m, a, b, t: t * m[a], lambda m, a, b, t: t * m[a]),
        ),
        Mistake(
            "both heads look at b",
            "Both copies are v_b, and so is their average. The first head must look at a.",
            _stacked(lambda m, a, b, t: t * m[b], lambda m, a, b, t: t * m[b]),
        ),
        Mistake(
            "the scale is missing",
            "Without the scale each head gives nearly the average of all values. Multiply both queries by it.",
            _stacked(lambda m, a, b, t: m[a], lambda m, a, b, t: m[b]),
        ),
        Mistake(
            "the heads look away from their keys",
            "With a minus, each head copies everything but its own value.",
            _stacked(lambda m, a, b, t: -t * m[a], lambda m, a, b, t: -t * m[b]),
        ),
        Mistake(
            "one of the heads asks for the sum",
            "The sum still needs two equal scores, so that head swings. Let each head look at one key.",
            _stacked(_both, lambda m, a, b, t: t * (m[b] - m[a])),
        ),
        Mistake(
            "one head does all and the other nothing",
            "A query of zeros gives the average of all values, which is half of your output.",
            _stacked(_both, lambda m, a, b, t: 0 * m[a]),
        ),
    ],
    hints=(
        "In section 6 one head failed because it had to keep two scores equal. Which of the earlier exercises "
        "needs no two equal scores, only one that is far above the rest? The output is the average of what the two "
        "heads give, and is to be $\\frac{1}{2}(v_a + v_b)$. So if the first head gives $v_a$, what must the "
        "second one give?",
        "Five keys, and a head that asks for key $a$ alone with $s = 10$. If the key has length 1, its score is 10 "
        "and the others are 0; at length 1.5 it is 15, at length one half it is 5, and $e^5 / (e^5 + 4) \\approx "
        "148/152 = 0.97$. Longer or shorter, the head still copies: no tie can be lost. Had it asked with half of "
        "the scale, the short key would have 2.5 only, and $12.2/16.2 = 0.75$ of the weight. Which scale does each "
        "head need, then, although there are two of them? The average of the weights $(1, 0)$ and $(0, 1)$ is "
        "$(\\frac{1}{2}, \\frac{1}{2})$ by itself.",
        "Two queries, each for a task that you have solved in section 2, in one tensor:\n"
        "```python\n"
        "first = ...   # (d,): copies one of the two values\n"
        "second = ...  # (d,): copies the other one\n"
        "return torch.stack([first, second])  # (2, d)\n"
        "```\n"
        "Test it with `means @ queries.T`, `(n, 2)`: in each column one number is `scale`, at $a$ in the first and "
        "at $b$ in the second, and all others are 0. If a column has two large numbers, that head still depends on "
        "a tie. Use the scale that is given, not a number of your own.",
    ),
)
