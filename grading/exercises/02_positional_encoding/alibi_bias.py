"""Exercise alibi_bias of notebook 02."""

from __future__ import annotations

import math
import random

import torch
from torch import Tensor

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw, seed_from
from tutor.checking.answers import Ask

INF = float("inf")


def alibi_bias(n_heads: int, size: int) -> Tensor:
    return _sloped(_slopes(n_heads), size)


def _slopes(n_heads: int) -> Tensor:
    return 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)


def _distances(size: int) -> Tensor:
    return (torch.arange(size).unsqueeze(1) - torch.arange(size)).float()


def _sloped(slopes: Tensor, size: int, future: float | None = -INF) -> Tensor:
    """Returns minus slope times distance; above the diagonal `future`, or for None the same formula."""
    bias = -slopes.view(-1, 1, 1) * _distances(size)
    return bias if future is None else bias.masked_fill(_distances(size) < 0, future)


def _slopes_of_the_authors(n_heads: int) -> Tensor:
    """Returns the slopes of the paper's published code: of the next smaller power of 2, then every second one."""
    power = 2 ** int(math.log2(n_heads))
    more = _slopes(2 * power)[0::2][: n_heads - power]
    return torch.cat([_slopes(power), more])


def _draw_heads(*counts: int) -> Draw:
    return lambda rng: [Ask((count, rng.randint(4, 9))) for count in counts]


def _long(n_heads: int, size: int, seed: int) -> Ask:
    """Returns a question that looks at some places of a large bias."""
    rng, places = random.Random(seed), [(0, size - 1, 0), (0, 0, size - 1), (n_heads - 1, size - 1, size - 1)]
    for distance in (11, 17, 33, 65, 101, 129, size - 20):
        start = rng.randrange(size - distance)
        places.append((rng.randrange(n_heads), start + distance, start))
    return Ask((n_heads, size), beside={"shape": [n_heads, size, size], "places": torch.tensor(places)})


EXERCISE = Exercise(
    alibi_bias,
    [
        Stage(
            "a floating point tensor of shape (n_heads, size, size)",
            0.25,
            "One square for each head.",
            [Ask((8, 3)), Ask((3, 1)), Ask((1, 4))],
            _draw_heads(8, 4),
            view="shape",
        ),
        Stage(
            "the first row of each head: the future is blocked",
            0.25,
            "Token 0 sees only itself: 0 for it, -inf for all the others, in every head.",
            [Ask((8, 4)), Ask((3, 5))],
            _draw_heads(8, 2, 5),
            view="first row",
        ),
        Stage(
            "8 heads: slopes 1/2, 1/4, ..., 1/256",
            0.75,
            "In head 0 the last row reads ..., -1, -1/2, 0: minus half a point for each step back.",
            [Ask((8, 4))],
            _draw_heads(8),
        ),
        Stage(
            "any number of heads",
            1.25,
            "Head k (from 0) of h heads has the slope 2^(-8 (k + 1) / h): with 2 heads 1/16 and 1/256. The rule is the "
            "same for 3 heads or 12.",
            [Ask((heads, size)) for heads, size in ((2, 3), (4, 5), (16, 2), (3, 4), (12, 3), (14, 3), (20, 2))],
            _draw_heads(1, 2, 6, 7, 10, 14, 16, 20),
            decisive=True,
        ),
        Stage(
            "a long text",
            0.5,
            "A word loses as much with its hundredth step back as with its first: nothing is cut off.",
            # with 16 heads a word loses more than 103 on the way through the text, and e^-104 is 0 in single precision
            [_long(2, 300, 1), _long(4, 200, 2), _long(16, 160, 3)],
            lambda rng: [_long(heads, rng.randint(155, 180), seed_from(rng)) for heads in (2, 4, 16)],
            measure="at places",
        ),
    ],
    [
        Mistake(
            "the slopes are positive",
            "Your bias rewards distance: the farther a word, the higher its score. It must be minus slope times "
            "distance.",
            lambda n_heads, size: _sloped(-_slopes(n_heads), size),
        ),
        Mistake(
            "symmetric: the future is not blocked",
            "-slope * |i - j| lets a token see the future as well as the past. Here the bias holds the causal mask "
            "too: "
            "-inf where j > i.",
            lambda n_heads, size: -_slopes(n_heads).view(-1, 1, 1) * _distances(size).abs(),
        ),
        Mistake(
            "the future is rewarded",
            "For j > i the distance i - j is negative, and minus slope times it is a bonus. Put -inf there.",
            lambda n_heads, size: _sloped(_slopes(n_heads), size, None),
        ),
        Mistake(
            "the future has a bias of 0",
            "0 is the best score there is, and the future gets it. Put -inf where j > i.",
            lambda n_heads, size: _sloped(_slopes(n_heads), size, 0.0),
        ),
        Mistake(
            "the past is blocked in place of the future",
            "Row i is the token that looks: -inf belongs above the diagonal, where j > i.",
            lambda n_heads, size: _sloped(_slopes(n_heads), size).transpose(1, 2),
        ),
        Mistake(
            "the slopes halve from head to head, whatever the number of heads",
            "That is right for 8 heads. In general the factor is 2^(-8 / h), so that the last slope is always 1/256.",
            lambda n_heads, size: _sloped(2.0 ** -torch.arange(1, n_heads + 1), size),
        ),
        Mistake(
            "the first slope is 1",
            "Head 0 has the slope 2^(-8 / h), not 2^0: the exponents run from 1 to h.",
            lambda n_heads, size: _sloped(2.0 ** (-8 * torch.arange(n_heads) / n_heads), size),
        ),
        Mistake(
            "the slopes go down in equal steps",
            "Slopes are geometric: each is the one before times the same factor. So some heads look near and others "
            "far.",
            lambda n_heads, size: _sloped(torch.arange(n_heads, 0, -1) / n_heads, size),
        ),
        Mistake(
            "the heads stand in the opposite order",
            "Head 0 has the steepest slope and looks nearest; the last one has 1/256.",
            lambda n_heads, size: _sloped(_slopes(n_heads).flip(0), size),
        ),
        Mistake(
            "the distance is squared",
            "ALiBi is linear: each step back costs the same.",
            lambda n_heads, size: (
                -_slopes(n_heads).view(-1, 1, 1) * _distances(size) ** 2 + _sloped(torch.zeros(1), size)
            ),
        ),
        Mistake(
            "other slopes where the number of heads is no power of 2",
            "The published code of the paper does so. Here the rule is the same for all: the slope of head k is "
            "2^(-8 (k + 1) / h).",
            lambda n_heads, size: _sloped(_slopes_of_the_authors(n_heads), size),
        ),
        Mistake(
            "a large finite number in place of -inf",
            "-1e9 mostly works, but not in half precision, and a row in which all is blocked gets equal weights "
            "without a warning. Use -torch.inf.",
            lambda n_heads, size: _sloped(_slopes(n_heads), size, -1e9),
        ),
    ],
    hints=(
        (
            "Write the distances $i - j$ of three tokens into a square of three rows and three columns. Where are "
            "they negative, and what must stand there in the end? Which sign has the bias of a word that is two "
            "steps back? Then: what do all heads have in common, and what differs from head to head?"
        ),
        (
            "The distances of three tokens are `[[0, -1, -2], [1, 0, -1], [2, 1, 0]]`. With a slope of 1/4, the last "
            "row of the bias is $-1/2, -1/4, 0$. The first row is $0, -\\infty, -\\infty$: without the minus "
            "infinities, negative distances would make a *bonus* of the future.\n\n"
            "Four heads have the exponents $-2, -4, -6, -8$, so the slopes 1/4, 1/16, 1/64, 1/256. All slopes at "
            "once: `2.0 ** exponents`. One slope for each head and one square for all: `(h, 1, 1)` times `(size, "
            "size)` gives `(h, size, size)`. `masked_fill(condition, number)` writes a number where a condition is "
            "True."
        ),
        (
            "From the slopes to the bias, with the shapes:\n"
            "```python\n"
            "heads = torch.arange(1, n_heads + 1)  # k + 1 for k = 0, 1, ...\n"
            "# slopes, (n_heads,): 2.0 to the power of -8 (k + 1) / n_heads\n"
            "places = torch.arange(size)\n"
            "distances = places.unsqueeze(1) - places  # (size, size), i - j\n"
            "# the slopes with two more axes, (n_heads, 1, 1): .view(-1, 1, 1)\n"
            "# minus slope times distance, (n_heads, size, size)\n"
            "# minus infinity where the distance is negative\n"
            "```\n"
            "Put minus infinity in last: 0 times infinity is NaN. Compare with the docstring, then look at the last "
            "slope: it is 1/256 for any number of heads."
        ),
    ),
)
