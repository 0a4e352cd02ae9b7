"""Exercises of notebook 08: attention as a soft dictionary, measured by what it gives out."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import sympy
import torch
from torch import Tensor

from grading.exercise import Exercise, Mistake, Stage
from helpers.checking.answers import Ask

Draw = Callable[[random.Random], list[Ask]]


def _generator(rng: random.Random) -> torch.Generator:
    return torch.Generator().manual_seed(rng.randrange(10**6))


def _orthonormal(n: int, d: int, generator: torch.Generator) -> Tensor:
    """Returns n rows of length 1 at right angles, `(n, d)`, n <= d, in no special direction."""
    square: Tensor = torch.linalg.qr(torch.randn(d, d, generator=generator))[0]
    return square[:n].contiguous()


def _of_seed(n: int, d: int, seed: int) -> Tensor:
    return _orthonormal(n, d, torch.Generator().manual_seed(seed))


def _sizes(rng: random.Random, most: int = 7) -> tuple[int, int]:
    """Returns n and d; sometimes d is n, mostly it is larger."""
    n = rng.randint(4, most)
    return n, n + rng.choice([0, 1, 3])


# Keys of length 1 at right angles that can be multiplied by hand; the first two are not along the axes.
TURNED = torch.tensor([[0.6, 0.8, 0.0], [-0.8, 0.6, 0.0], [0.0, 0.0, 1.0]])


# --- copy_query -------------------------------------------------------------------------------------------------------


def copy_query(keys: Tensor, j: int, scale: float) -> Tensor:
    return scale * keys[j]


def _draw_copies(low: float, high: float) -> Draw:
    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for _ in range(3):
            n, d = _sizes(rng)
            j, scale = rng.randrange(1, n - 1), round(rng.uniform(low, high), 2)
            asks.append(Ask((_orthonormal(n, d, _generator(rng)), j, scale)))
        return asks

    return draw


def _value_in_place_of_key(keys: Tensor, j: int, scale: float) -> Tensor:
    value = torch.zeros(keys.shape[1])
    value[j] = scale
    return value


COPY_QUERY = Exercise(
    copy_query,
    [
        Stage(
            "a vector of shape (d,)",
            0.5,
            "A query is compared with every key, so it has as many numbers as one key: the width d.",
            [Ask((_of_seed(3, 5, 1), 1, 2.0))],
            _draw_copies(2, 4),
            view="shape",
            measure="attention",
        ),
        Stage(
            "three keys, by hand: weights 1/2, 1/4, 1/4",
            0.5,
            "With scale = ln 2 the scores must be ln 2, 0 and 0, so the weights 2/(2 + 1 + 1) and twice 1/4. "
            "Which query has these dot products with the keys?",
            [Ask((TURNED, 0, math.log(2))), Ask((TURNED, 1, math.log(2)))],
            lambda rng: [Ask((TURNED, rng.randrange(2), math.log(2)))],
            measure="attention",
        ),
        Stage(
            "any keys, any scale",
            1,
            "Print keys @ query: the scores must be `scale` at place j and the same smaller number everywhere else.",
            [Ask((_of_seed(4, 6, 2), 2, 1.5)), Ask((_of_seed(5, 5, 3), 1, 12.0))],
            lambda rng: [*_draw_copies(0.5, 4)(rng), *_draw_copies(8, 30)(rng)],
            measure="attention",
        ),
    ],
    [
        Mistake(
            "the query is the value, not the key",
            "The query is compared with the keys; the values are only read out afterwards. A query made of "
            "what you want to get out (1 at place j) looks at nothing in particular: build it from keys[j].",
            _value_in_place_of_key,
        ),
        Mistake(
            "the scale is missing",
            "A score of 1 against 0 gives a weight of e/(e + n - 1) only: the others keep a large part. "
            "Multiply the key by `scale`.",
            lambda keys, j, scale: keys[j].clone(),
        ),
        Mistake(
            "the scale is used twice",
            "The score of key j is query . key, and the key has length 1: one factor `scale` is enough.",
            lambda keys, j, scale: scale**2 * keys[j],
        ),
        Mistake(
            "the scale is divided by sqrt(d)",
            "Here the scores are plain dot products. Dividing by sqrt(d) makes the gap smaller than `scale`.",
            lambda keys, j, scale: scale * keys[j] / math.sqrt(keys.shape[1]),
        ),
        Mistake(
            "the query looks away from key j",
            "With a minus, key j has the lowest score of all and every value but v_j is copied.",
            lambda keys, j, scale: -scale * keys[j],
        ),
        Mistake(
            "another key: places count from 0",
            "keys[j] is the key of value j; keys[j - 1] is its neighbour.",
            lambda keys, j, scale: scale * keys[j - 1],
        ),
        Mistake(
            "the sum of all keys",
            "This query has the same score with every key, so the output is the average of all values.",
            lambda keys, j, scale: scale * keys.sum(dim=0),
        ),
    ],
)


# --- average_query ----------------------------------------------------------------------------------------------------


def average_query(keys: Tensor, a: int, b: int, scale: float) -> Tensor:
    return scale * (keys[a] + keys[b])


def _two(rng: random.Random, n: int) -> tuple[int, int]:
    a, b = rng.sample(range(n), 2)
    return a, b


def _draw_averages(low: float, high: float, values: bool = False) -> Draw:
    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for _ in range(3):
            n, d = _sizes(rng)
            keys, drawn = _orthonormal(n, d, _generator(rng)), torch.randn(n, 3, generator=_generator(rng))
            beside = {"values": drawn} if values else {}
            asks.append(Ask((keys, *_two(rng, n), round(rng.uniform(low, high), 2)), beside=beside))
        return asks

    return draw


AVERAGE_QUERY = Exercise(
    average_query,
    [
        Stage(
            "a vector of shape (d,)",
            0.5,
            "One query, as wide as one key.",
            [Ask((_of_seed(3, 5, 4), 0, 2, 2.0))],
            _draw_averages(2, 4),
            view="shape",
            measure="attention",
        ),
        Stage(
            "a small scale: the weights are exact",
            0.5,
            "With 4 keys and scale = ln 3 the scores are ln 3 twice and 0 twice: weights 3/8, 3/8, 1/8, 1/8.",
            [Ask((_of_seed(4, 4, 5), 1, 3, math.log(3)))],
            _draw_averages(0.5, 3),
            measure="attention",
        ),
        Stage(
            "a large scale: half of v_a and half of v_b",
            0.5,
            "Print keys @ query: the scores at a and b must be equal, to the last digit, and `scale` above the others.",
            [Ask((_of_seed(5, 6, 6), 4, 2, 10.0))],
            _draw_averages(8, 30),
            measure="attention",
        ),
        Stage(
            "other values: the output is still their average",
            0.5,
            "The query must not depend on what the values are; it makes equal weights for a and b whatever they hold.",
            [Ask((_of_seed(4, 5, 7), 0, 3, 6.0), beside={"values": torch.tensor([[2.0, 0], [9, 9], [-7, 5], [0, 4]])})],
            _draw_averages(2, 12, values=True),
            measure="attention",
        ),
    ],
    [
        Mistake(
            "the scale is missing",
            "Scores of 1 leave most of the weight with the other keys as soon as there are a few of them. Multiply by "
            "`scale`.",
            lambda keys, a, b, scale: keys[a] + keys[b],
        ),
        Mistake(
            "the average of the two keys: half the scale",
            "The softmax makes the average for you. With (k_a + k_b)/2 both scores are scale/2, and the others keep "
            "more than they should.",
            lambda keys, a, b, scale: scale * (keys[a] + keys[b]) / 2,
        ),
        Mistake(
            "the sum is scaled to length 1 first",
            "k_a + k_b has the length sqrt(2). Dividing by it makes both scores scale/sqrt(2); the keys already have "
            "length 1.",
            lambda keys, a, b, scale: scale * torch.nn.functional.normalize(keys[a] + keys[b], dim=0),
        ),
        Mistake(
            "only one of the two keys",
            "This query copies v_a. Both keys must get the same score.",
            lambda keys, a, b, scale: scale * keys[a],
        ),
        Mistake(
            "only the second of the two keys",
            "This query copies v_b. Both keys must get the same score.",
            lambda keys, a, b, scale: scale * keys[b],
        ),
        Mistake(
            "the difference of the two keys",
            "With k_a - k_b the score of b is -scale, the lowest of all: the output is v_a alone.",
            lambda keys, a, b, scale: scale * (keys[a] - keys[b]),
        ),
        Mistake(
            "the product of the two keys, number by number",
            "A query must have a large dot product with both keys; the sum has, the elementwise product has not.",
            lambda keys, a, b, scale: scale * keys[a] * keys[b],
        ),
    ],
)


# --- average_weight ---------------------------------------------------------------------------------------------------

s = sympy.Symbol("s", real=True)  # not positive: solve() would drop the solution 0
n = sympy.Symbol("n", positive=True, integer=True)


def average_weight() -> sympy.Expr:
    return sympy.exp(s) / (2 * sympy.exp(s) + n - 2)


def _weight_points(rng: random.Random) -> list[Ask]:
    return [Ask(at={"s": round(rng.uniform(0.5, 4), 2), "n": rng.randint(5, 60)}) for _ in range(4)]


AVERAGE_WEIGHT = Exercise(
    average_weight,
    [
        Stage(
            "scale 0: every key gets 1/n",
            0.5,
            "With s = 0 all the scores are 0 and the softmax is 1/n for each key. Put s = 0 and n = 5 into "
            "your formula.",
            [Ask(at={"s": 0, "n": 5}), Ask(at={"s": 0, "n": 8})],
            lambda rng: [Ask(at={"s": 0, "n": value}) for value in rng.sample(range(5, 60), 2)],
        ),
        Stage(
            "any scale, any number of keys",
            1.5,
            "Write the softmax down: e to the score of a, divided by the sum over all n keys of e to their score. Two "
            "scores are s, n - 2 are 0.",
            [Ask(at={"s": 1, "n": 2}), Ask(at={"s": 2, "n": 5}), Ask(at={"s": 6.5, "n": 30})],
            _weight_points,
            sealed=True,
        ),
    ],
    [
        Mistake(
            "the n - 2 others are forgotten",
            "A score of 0 is not a weight of 0: each of the other n - 2 keys adds e^0 = 1 to the sum.",
            lambda: sympy.Rational(1, 2),
        ),
        Mistake(
            "the sum has n others",
            "a and b are among the n keys: only n - 2 are left with a score of 0.",
            lambda: sympy.exp(s) / (2 * sympy.exp(s) + n),
        ),
        Mistake(
            "only one key has the score s",
            "That is the weight when one value is copied, with n - 1 others. Here two keys have the score s.",
            lambda: sympy.exp(s) / (sympy.exp(s) + n - 1),
        ),
        Mistake(
            "the weight of both together",
            "The formula is for one of the two. You have added the weights of a and b.",
            lambda: 2 * sympy.exp(s) / (2 * sympy.exp(s) + n - 2),
        ),
        Mistake(
            "scores in place of their exponentials",
            "The softmax divides e to the score by the sum of these powers, not the score by the sum of the scores.",
            lambda: s / (2 * s + n - 2),
        ),
        Mistake(
            "the others count 0 points each",
            "e^0 is 1. You have multiplied n - 2 with something else than 1.",
            lambda: sympy.exp(s) / (2 * sympy.exp(s) + (n - 2) * sympy.E),
        ),
    ],
)


# --- needed_scale -----------------------------------------------------------------------------------------------------


def needed_scale(n: int, error: float) -> float:
    return math.log((n - 2) * (1 - 2 * error) / (4 * error))


def _draw_scales(rng: random.Random) -> list[Ask]:
    asks = [Ask((rng.randint(5, 60), round(rng.uniform(0.01, 0.1), 3))) for _ in range(3)]
    return [*asks, Ask((rng.randint(1000, 60_000), 10 ** -rng.randint(3, 6)))]


NEEDED_SCALE = Exercise(
    needed_scale,
    [
        Stage(
            "scale 0: four keys, error 1/4",
            0.5,
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
            [Ask((10, 0.02)), Ask((1000, 1e-4))],
            _draw_scales,
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
)


# --- noisy_average_query ----------------------------------------------------------------------------------------------


def noisy_average_query(means: Tensor, a: int, b: int, scale: float) -> Tensor:
    return scale * (means[a] + means[b])


def _noisy(means: Tensor, noise: float, count: int, generator: torch.Generator) -> Tensor:
    """Returns keys drawn around their means, `(count, n, d)`."""
    return means + noise * torch.randn(count, *means.shape, generator=generator)


def _ask_noisy(means: Tensor, a: int, b: int, scale: float, noise: float, generator: torch.Generator) -> Ask:
    return Ask((means, a, b, scale), beside={"keys": _noisy(means, noise, 5, generator)})


def _draw_noisy(low: float, high: float, noise: float) -> Draw:
    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for _ in range(2):
            count, d = _sizes(rng)
            means, scale = _orthonormal(count, d, _generator(rng)), round(rng.uniform(low, high), 2)
            asks.append(_ask_noisy(means, *_two(rng, count), scale, noise, _generator(rng)))
        return asks

    return draw


NOISY_AVERAGE_QUERY = Exercise(
    noisy_average_query,
    [
        Stage(
            "a vector of shape (d,)",
            0.5,
            "One query, as wide as one mean.",
            [_ask_noisy(_of_seed(3, 5, 8), 0, 1, 2.0, 1e-4, torch.Generator().manual_seed(8))],
            _draw_noisy(2, 4, 1e-4),
            view="shape",
            measure="attention",
        ),
        Stage(
            "almost no noise, a small scale",
            0.5,
            "When the keys are at their means, this is `average_query`: scores `scale` for a and b, 0 for the others.",
            [_ask_noisy(_of_seed(4, 5, 9), 3, 1, 2.5, 1e-5, torch.Generator().manual_seed(9))],
            _draw_noisy(1.5, 3, 1e-5),
            tolerance=1e-3,
            measure="attention",
        ),
        Stage(
            "keys around their means: half and half in every draw",
            1,
            "The check draws the keys several times (one row each) and wants weights near 1/2 for a and b in each row.",
            [_ask_noisy(_of_seed(5, 7, 10), 0, 2, 10.0, 2e-3, torch.Generator().manual_seed(10))],
            _draw_noisy(9, 12, 2e-3),
            tolerance=0.03,
            measure="attention",
        ),
    ],
    [
        Mistake(
            "the scale is missing",
            "Scores of 1 leave much of the weight with the other keys. Multiply by `scale`.",
            lambda means, a, b, scale: means[a] + means[b],
        ),
        Mistake(
            "the average of the two means: half the scale",
            "The softmax makes the average for you; the query is the sum, times the scale.",
            lambda means, a, b, scale: scale * (means[a] + means[b]) / 2,
        ),
        Mistake(
            "far too large a scale: the noise decides",
            "A large scale makes the tiny difference of the two scores large as well, and the larger one takes "
            "everything. Use the scale that is given.",
            lambda means, a, b, scale: 1000 * scale * (means[a] + means[b]),
        ),
        Mistake(
            "only one of the two means",
            "This query copies v_a. Both keys must get the same score.",
            lambda means, a, b, scale: scale * means[a],
        ),
        Mistake(
            "the difference of the two means",
            "With a minus, key b has the lowest score of all. Take the sum.",
            lambda means, a, b, scale: scale * (means[a] - means[b]),
        ),
        Mistake(
            "the sum of all means",
            "Every key gets the same score: the output is the average of all values.",
            lambda means, a, b, scale: scale * means.sum(dim=0),
        ),
    ],
)


# --- swing ------------------------------------------------------------------------------------------------------------


def swing(samples: Tensor, queries: Tensor, a: int, b: int) -> float:
    weights = torch.softmax(samples @ queries.T, dim=1).mean(dim=-1)  # (m, n), the mean over the heads
    return float((weights[:, a] - weights[:, b]).var())


def _weights(samples: Tensor, queries: Tensor) -> Tensor:
    return torch.softmax(samples @ queries.T, dim=1)  # (m, n, h)


def _swing_of(weights: Tensor, a: int, b: int) -> Tensor:
    return weights[:, a] - weights[:, b]


def _keys_of_varying_norm(
    means: Tensor, key: int, low: float, high: float, count: int, generator: torch.Generator
) -> Tensor:
    """Returns draws of the keys, `(count, n, d)`: at their means, but `key` is between low and high times as long."""
    samples = means.repeat(count, 1, 1)
    samples[:, key] *= low + (high - low) * torch.rand(count, 1, generator=generator)
    return samples


def _ask_swing(rng: random.Random, count: int, heads: int) -> Ask:
    """One head under a key of varying norm, or two heads that look at different keys, both beside the middle."""
    size, d = rng.randint(4, 5), 5
    generator = _generator(rng)
    means = _orthonormal(size, d, generator)
    a, b = _two(rng, size)
    if heads == 1:
        samples = _keys_of_varying_norm(means, a, 0.5, 2.5, count, generator)
        return Ask((samples, 1.5 * (means[a] + means[b])[None], a, b))  # the other keys must count
    samples = _noisy(means, 0.5, count, generator)
    queries = torch.stack([4.0 * (means[a] + means[b]), 4.0 * means[b]])
    return Ask((samples, queries, a, b))


def _draw_swings(count: int, heads: int) -> Draw:
    return lambda rng: [_ask_swing(rng, count, heads) for _ in range(4)]


def _still(rng: random.Random) -> Ask:
    means = _orthonormal(4, 5, _generator(rng))
    return Ask((means.repeat(6, 1, 1), 2.0 * (means[0] + 0.5 * means[2])[None], 0, 2))


SWING = Exercise(
    swing,
    [
        Stage(
            "keys that never change: no swing",
            0.5,
            "When every draw is the same, w_a - w_b is the same number in every draw, and its variance is 0.",
            [_still(random.Random(1))],
            lambda rng: [_still(rng)],
            tolerance=1e-3,
        ),
        Stage(
            "one head, a key of varying norm",
            1,
            "Per draw: scores (n,), softmax over the n keys, then w_a - w_b. One number per draw; the swing is the "
            "variance of these numbers.",
            [_ask_swing(random.Random(50), 40, 1)],
            _draw_swings(40, 1),
            tolerance=0.02,
        ),
        Stage(
            "two heads: their outputs are averaged",
            1,
            "Each head makes its own weights. Average the weights of the heads in each draw; then as before.",
            [_ask_swing(random.Random(133), 40, 2)],
            _draw_swings(40, 2),
            tolerance=0.015,
        ),
    ],
    [
        Mistake(
            "the standard deviation, not the variance",
            "The standard deviation is the root of the variance. Both are honest measures; the ratio in the "
            "text is one of variances.",
            lambda samples, queries, a, b: float(_swing_of(_weights(samples, queries).mean(-1), a, b).std()),
        ),
        Mistake(
            "the mean is not taken off",
            "The mean of the squares also counts how far the output lies from the middle on average. The variance is "
            "about how much it moves.",
            lambda samples, queries, a, b: float(_swing_of(_weights(samples, queries).mean(-1), a, b).square().mean()),
        ),
        Mistake(
            "the weight on a alone",
            "Take w_a - w_b: +1 when the output is v_a, 0 in the middle, -1 when it is v_b.",
            lambda samples, queries, a, b: float(_weights(samples, queries).mean(-1)[:, a].var()),
        ),
        Mistake(
            "the scores in place of the weights",
            "What mixes the values are the weights: take the softmax of the scores over the keys.",
            lambda samples, queries, a, b: float(_swing_of((samples @ queries.T).mean(-1), a, b).var()),
        ),
        Mistake(
            "the scores are divided by sqrt(d)",
            "Here the scores are plain dot products, as in `attend`.",
            lambda samples, queries, a, b: swing(samples, queries / math.sqrt(queries.shape[1]), a, b),
        ),
        Mistake(
            "the softmax runs over the draws",
            "Each draw is an attention of its own: its n weights sum to 1. samples is (m, n, d), so the scores are "
            "(m, n) for one query and the softmax runs over n.",
            lambda samples, queries, a, b: float(
                _swing_of(torch.softmax(samples @ queries.T, dim=0).mean(-1), a, b).var()
            ),
        ),
        Mistake(
            "the queries are averaged, not the outputs",
            "One head with the mean of two queries is not two heads. Each head takes its own softmax, then the outputs "
            "are averaged.",
            lambda samples, queries, a, b: swing(samples, queries.mean(dim=0, keepdim=True), a, b),
        ),
        Mistake(
            "the heads are added",
            "The output is the average of the heads: divide the sum by their number.",
            lambda samples, queries, a, b: float(_swing_of(_weights(samples, queries).sum(-1), a, b).var()),
        ),
        Mistake(
            "the swing of each head, averaged",
            "First average the heads' outputs in each draw, then measure how much that average moves.",
            lambda samples, queries, a, b: float(_swing_of(_weights(samples, queries), a, b).var(dim=0).mean()),
        ),
        Mistake(
            "only the first head",
            "queries is (h, d): use all h of them.",
            lambda samples, queries, a, b: swing(samples, queries[:1], a, b),
        ),
        Mistake(
            "the range in place of the variance",
            "The range looks at two draws only, the most extreme ones. The variance uses all.",
            lambda samples, queries, a, b: float(
                torch.aminmax(_swing_of(_weights(samples, queries).mean(-1), a, b))[1]
                - torch.aminmax(_swing_of(_weights(samples, queries).mean(-1), a, b))[0]
            ),
        ),
    ],
)


# --- two_head_queries -------------------------------------------------------------------------------------------------


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
        lengths[0] = 0.5  # the shortest is always there: chance does not tell a scale that is too small
        samples[:, key] *= lengths
    return Ask((means, a, b, scale), beside={"keys": samples})


def _draw_heads(which: str, low: float = 20, high: float = 25, length: float = 1.0) -> Draw:
    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for _ in range(2):
            count, d = _sizes(rng)
            a, b = _two(rng, count)
            varying = {"none": [], "a": [a], "b": [b], "all": range(count)}[which]
            means, scale = _orthonormal(count, d, _generator(rng)), round(rng.uniform(low, high), 1)
            asks.append(_ask_heads(means, a, b, scale, varying, _generator(rng), length))
        return asks

    return draw


def _public_heads(a: int, b: int, varying: Sequence[int], seed: int, scale: float = 10.0, length: float = 1.0) -> Ask:
    generator = torch.Generator().manual_seed(seed)
    return _ask_heads(_of_seed(4, 6, seed), a, b, scale, varying, generator, length)


# A key of half its length under MIDDLE, or one of its length under SMALL, tells how large the gap of the scores is:
# half of it leaks more. Keys of a tenth of their length, under LARGE, tell a fixed number in place of the scale.
SMALL, MIDDLE, LARGE, SHORT = (4.8, 5.4), (9.8, 10.8), (160.0, 200.0), 0.1


def _stacked(first: Callable[..., Tensor], second: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda means, a, b, scale: torch.stack([first(means, a, b, scale), second(means, a, b, scale)])


def _both(means: Tensor, a: int, b: int, scale: float) -> Tensor:
    return scale * (means[a] + means[b])


TWO_HEAD_QUERIES = Exercise(
    two_head_queries,
    [
        Stage(
            "two queries, shape (2, d)",
            0.5,
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
            [_public_heads(1, 3, [], 12, 20.0)],
            _draw_heads("none"),
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
        ),
        Stage(
            "whichever key varies",
            0.5,
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
)


# --- self_attention_output --------------------------------------------------------------------------------------------

beta = sympy.Symbol("beta", positive=True)


def _coefficients(first: Any, second: Any, third: Any) -> dict[str, Any]:
    """Returns c2 for given exponentials of the scores of x1, x2 and x3."""
    total = first + second + third
    return {
        "u_a": second / total,
        "u_b": (first + third) / total,
        "u_c": third / total,
        "u_d": first / total,
    }


def self_attention_output() -> dict[str, Any]:
    return _coefficients(1, sympy.exp(beta**2), 1)


def _without_second_u_b() -> dict[str, Any]:
    right = self_attention_output()
    return right | {"u_b": right["u_b"] / 2}


def _divided(total: Any) -> dict[str, Any]:
    """Returns c2 for the right powers and a wrong sum of them."""
    power = sympy.exp(beta**2)
    return {"u_a": power / total, "u_b": 2 / total, "u_c": 1 / total, "u_d": 1 / total}


def _without_own_score() -> dict[str, Any]:
    return _divided(sympy.Integer(2))


def _without_zeros() -> dict[str, Any]:
    return _divided(sympy.exp(beta**2))


def _row_of_x1() -> dict[str, Any]:
    return _coefficients(sympy.exp(2 * beta**2), 1, sympy.exp(beta**2))


def _draw_betas(rng: random.Random) -> list[Ask]:
    return [Ask(at={"beta": round(rng.uniform(0.3, 3), 2)}) for _ in range(3)]


SELF_ATTENTION_OUTPUT = Exercise(
    self_attention_output,
    [
        Stage(
            "four coefficients by name",
            0.5,
            'Return {"u_a": ..., "u_b": ..., "u_c": ..., "u_d": ...}.',
            [Ask(take="names")],
            lambda rng: [Ask(take="names")],
        ),
        Stage(
            "by hand, with e^(beta^2) = 2: weights 1/4, 1/2, 1/4",
            0.5,
            "Then c2 = x1/4 + x2/2 + x3/4. Put in what x1, x2 and x3 are made of, and collect u_a, u_b, u_c and u_d.",
            [Ask(at={"beta": math.sqrt(math.log(2))})],
            lambda rng: [Ask(at={"beta": math.sqrt(math.log(rng.choice([2, 3, 4, 6])))})],
        ),
        Stage(
            "any beta",
            1,
            "The scores of x2 are its dot products with x1, x2 and x3. A vector of length beta has the dot "
            "product beta^2 with itself and 0 with the others.",
            [Ask(at={"beta": 1}), Ask(at={"beta": 1.7})],
            _draw_betas,
            sealed=True,
        ),
    ],
    [
        Mistake(
            "the score is beta in place of beta squared",
            "The dot product of a vector of length beta with itself is beta times beta.",
            lambda: _coefficients(1, sympy.exp(beta), 1),
        ),
        Mistake(
            "the other two tokens get no weight",
            "That is the limit of a large beta. For each beta, a score of 0 still adds e^0 = 1 to the sum: x1 "
            "and x3 keep a weight of 1/(e^(beta^2) + 2) each.",
            lambda: _coefficients(0, 1, 0),
        ),
        Mistake(
            "u_b is counted once",
            "u_b is in x1 and in x3: it comes in with both of their weights.",
            _without_second_u_b,
        ),
        Mistake(
            "c1 in place of c2",
            "This is the output of the first token. Token 2 asks with q2 = x2 = u_a.",
            _row_of_x1,
        ),
        Mistake(
            "a token's own score is left out of the sum",
            "The softmax divides by the sum over all three tokens, the one that looks included.",
            _without_own_score,
        ),
        Mistake(
            "a score of 0 adds nothing to the sum, but has a weight",
            "The denominator is the sum of the same three powers that stand on top: e^(beta^2) + 1 + 1.",
            _without_zeros,
        ),
        Mistake(
            "the weights, not multiplied out",
            "These are the weights of x1, x2 and x3. Each x is a sum of u's: multiply out and collect.",
            lambda: _without_second_u_b() | {"u_c": sympy.Integer(0), "u_d": sympy.Integer(0)},
        ),
    ],
)


# --- kqv_matrices -----------------------------------------------------------------------------------------------------


def kqv_matrices(u_a: Tensor, u_b: Tensor, u_c: Tensor, u_d: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    square = u_a @ u_a
    keys = torch.eye(len(u_a))
    queries = (torch.outer(u_d, u_a) + torch.outer(u_c, u_d)) / square
    values = (torch.outer(u_b, u_b) - torch.outer(u_c, u_c)) / square
    return keys, queries, values


def _vectors(d: int, beta: float, generator: torch.Generator | None) -> Ask:
    """Asks with four vectors of length beta at right angles; along the axes when there is no generator."""
    rows = torch.eye(d)[:4] if generator is None else _orthonormal(4, d, generator)
    return Ask(tuple(beta * row for row in rows.clone()))


def _draw_vectors(rng: random.Random) -> list[Ask]:
    return [_vectors(rng.choice([4, 5, 7]), round(rng.uniform(4, 5.5), 2), _generator(rng)) for _ in range(2)]


def _changed(change: Callable[..., tuple[Tensor, Tensor, Tensor]]) -> Callable[..., Any]:
    """Returns a wrong answer made from the right matrices."""
    return lambda u_a, u_b, u_c, u_d: change(*kqv_matrices(u_a, u_b, u_c, u_d), u_a, u_b, u_c, u_d)


def _self(name: str, points: float, look: str, view: str, *, hand: bool) -> Stage:
    public = _vectors(4, 4.0, None) if hand else _vectors(6, 4.5, torch.Generator().manual_seed(16))
    return Stage(name, points, look, [public], _draw_vectors, view=view, tolerance=5e-3, measure="self-attention")


KQV_MATRICES = Exercise(
    kqv_matrices,
    [
        _self(
            "three matrices of shape (d, d)",
            0.5,
            "Return K, Q, V in this order, each with d rows and d columns.",
            "shape",
            hand=True,
        ),
        _self(
            "c2 is close to u_b",
            1,
            "Token 2 must look at a token that holds u_b, and V must let u_b through. Compute Q @ u_a: what is "
            "it, and with which of the three keys has it a large dot product?",
            "last row",
            hand=True,
        ),
        _self(
            "c1 is close to u_b - u_c",
            1,
            "Token 1 must look at x3 = u_c + u_b, and V must turn this into u_b - u_c: keep u_b, turn u_c "
            "round. Mind that V also meets u_b in x1.",
            "first row",
            hand=True,
        ),
        _self(
            "vectors in any direction",
            0.5,
            "Use the vectors themselves (torch.outer), not the axes 0, 1, 2, 3, and take their length from them.",
            "values",
            hand=False,
        ),
    ],
    [
        Mistake(
            "V does not let u_b alone through",
            "With V = I the whole token is copied: c2 = u_d + u_b. V must drop u_d and turn u_c round.",
            _changed(lambda k, q, v, *u: (k, q, torch.eye(len(u[0])))),
        ),
        Mistake(
            "V is not divided by beta squared",
            "outer(u, u) @ u is beta^2 times u. Divide by u @ u, so that V gives u_b and not a multiple of it.",
            _changed(lambda k, q, v, *u: (k, q, v * (u[0] @ u[0]))),
        ),
        Mistake(
            "V is divided by beta, not by its square",
            "outer(u, u) @ u = (u . u) u, and u . u is beta squared.",
            _changed(lambda k, q, v, *u: (k, q, v * (u[0] @ u[0]).sqrt())),
        ),
        Mistake(
            "Q is transposed, or K and Q are exchanged",
            "outer(y, x) @ x is a multiple of y: it takes x in and gives y out. Q acts on the token that "
            "looks, K on the tokens looked at, and the order of the answer is K, Q, V.",
            _changed(lambda k, q, v, *u: (k, q.T, v)),
        ),
        Mistake(
            "V adds u_c in place of taking it away",
            "c1 shall be u_b - u_c, so V must turn u_c into -u_c.",
            _changed(lambda k, q, v, u_a, u_b, u_c, u_d: (k, q, v + 2 * torch.outer(u_c, u_c) / (u_c @ u_c))),
        ),
        Mistake(
            "V drops u_c",
            "c1 shall be u_b - u_c, so V needs a second rule, which turns u_c into -u_c.",
            _changed(lambda k, q, v, u_a, u_b, u_c, u_d: (k, q, torch.outer(u_b, u_b) / (u_b @ u_b))),
        ),
        Mistake(
            "the query of token 1 is not set",
            "Q must do two things: turn u_a (token 2) into a query for x1, and u_d (in token 1) into a query for x3.",
            _changed(lambda k, q, v, u_a, u_b, u_c, u_d: (k, torch.outer(u_d, u_a) / (u_a @ u_a), v)),
        ),
        Mistake(
            "token 2 looks for u_b itself",
            "u_b is in x1 and in x3, so both get the same weight, and c2 is the mean of V x1 and V x3. Ask for "
            "what only one of them has: u_d.",
            _changed(
                lambda k, q, v, u_a, u_b, u_c, u_d: (
                    k,
                    (torch.outer(u_b, u_a) + torch.outer(u_c, u_d)) / (u_a @ u_a),
                    v,
                )
            ),
        ),
        Mistake(
            "K, Q and V are all the identity",
            "Then every token copies itself, as in the exercise before.",
            lambda u_a, u_b, u_c, u_d: (torch.eye(len(u_a)),) * 3,
        ),
    ],
)


EXERCISES = [
    COPY_QUERY,
    AVERAGE_QUERY,
    AVERAGE_WEIGHT,
    NEEDED_SCALE,
    NOISY_AVERAGE_QUERY,
    SWING,
    TWO_HEAD_QUERIES,
    SELF_ATTENTION_OUTPUT,
    KQV_MATRICES,
]
