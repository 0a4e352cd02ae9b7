"""Exercise alibi_bias of notebook 02."""

from __future__ import annotations

import math
import random

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, seed_from
from tutor.checking.answers import Question

INF = float("inf")


exercise = Definition(minutes=15, difficulty=2, forbids=("helpers.models.alibi_bias",))


@exercise.reference
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


def _draw_heads(*counts: int) -> Draw:
    return lambda rng: [Question((count, rng.randint(4, 9))) for count in counts]


@exercise.stage(
    "a floating point tensor of shape (n_heads, size, size)",
    points=0.25,
    public=[Question((8, 3)), Question((3, 1)), Question((1, 4))],
    view="shape",
)
def _(rng):
    """One square for each head."""
    return _draw_heads(8, 4)(rng)


@exercise.stage(
    "the first row of each head: the future is blocked",
    points=0.25,
    public=[Question((8, 4)), Question((3, 5))],
    view="first row",
)
def _(rng):
    """Token 0 sees only itself: 0 for it, -inf for all the others, in every head."""
    return _draw_heads(8, 2, 5)(rng)


@exercise.stage("8 heads: slopes 1/2, 1/4, ..., 1/256", points=0.75, public=[Question((8, 4))])
def _(rng):
    """In head 0 the last row reads ..., -1, -1/2, 0: minus half a point for each step back."""
    return _draw_heads(8)(rng)


@exercise.stage(
    "any number of heads",
    points=1.25,
    public=[Question((heads, size)) for heads, size in ((2, 3), (4, 5), (16, 2), (3, 4), (12, 3), (14, 3), (20, 2))],
    decisive=True,
)
def _(rng):
    """Head k (from 0) of h heads has the slope 2^(-8 (k + 1) / h): with 2 heads 1/16 and 1/256. The rule is the same
    for 3 heads or 12. Where only the last digits differ, look at what is rounded on the way: half precision has three.
    """
    return _draw_heads(1, 2, 6, 7, 10, 14, 16, 20)(rng)


def _long(n_heads: int, size: int, seed: int) -> Question:
    """Returns a question that looks at some places of a large bias."""
    rng, places = random.Random(seed), [(0, size - 1, 0), (0, 0, size - 1), (n_heads - 1, size - 1, size - 1)]
    for distance in (11, 17, 33, 65, 101, 129, size - 20):
        start = rng.randrange(size - distance)
        places.append((rng.randrange(n_heads), start + distance, start))
    return Question((n_heads, size), extra={"shape": [n_heads, size, size], "places": torch.tensor(places)})


# With 16 heads a word loses more than 103 on the way through the text, and e^-104 is 0 in single precision.
@exercise.stage(
    "a long text", points=0.5, public=[_long(2, 300, 1), _long(4, 200, 2), _long(16, 160, 3)], measure="at places"
)
def _(rng):
    """A word loses as much with its hundredth step back as with its first: nothing is cut off."""
    return [_long(heads, rng.randint(155, 180), seed_from(rng)) for heads in (2, 4, 16)]


@exercise.corners(
    "any number of heads", n_heads=(1, 2, 7, range(33, 36), 64), size=(1, 2, range(33, 36), range(65, 68))
)
def _(rng, n_heads, size):
    return Question((n_heads, size)) if n_heads * size * size < 5000 else None


@exercise.mistake("the slopes are positive")
def _(n_heads, size):
    """Your bias rewards distance: the farther a word, the higher its score. It must be minus slope times distance."""
    return _sloped(-_slopes(n_heads), size)


@exercise.mistake("symmetric: the future is not blocked")
def _(n_heads, size):
    """-slope * |i - j| lets a token see the future as well as the past. Here the bias holds the causal mask too: -inf
    where j > i.
    """
    return -_slopes(n_heads).view(-1, 1, 1) * _distances(size).abs()


@exercise.mistake("the bias goes with the place of the key")
def _(n_heads, size):
    """slope * j makes the same weights, since softmax does not mind a constant in a row, and some programs do so. Asked
    for is minus slope times the distance i - j: 0 on the diagonal, and less with each step back.
    """
    return (_slopes(n_heads).view(-1, 1, 1) * torch.arange(size)).masked_fill(_distances(size) < 0, -INF)


@exercise.mistake("the future is rewarded")
def _(n_heads, size):
    """For j > i the distance i - j is negative, and minus slope times it is a bonus. Put -inf there."""
    return _sloped(_slopes(n_heads), size, None)


@exercise.mistake("the future has a bias of 0")
def _(n_heads, size):
    """0 is the best score there is, and the future gets it. Put -inf where j > i."""
    return _sloped(_slopes(n_heads), size, 0.0)


@exercise.mistake("the past is blocked in place of the future")
def _(n_heads, size):
    """Row i is the token that looks: -inf belongs above the diagonal, where j > i."""
    return _sloped(_slopes(n_heads), size).transpose(1, 2)


@exercise.mistake("the slopes halve from head to head, whatever the number of heads")
def _(n_heads, size):
    """That is right for 8 heads. In general the factor is 2^(-8 / h), so that the last slope is always 1/256."""
    return _sloped(2.0 ** -torch.arange(1, n_heads + 1), size)


@exercise.mistake("the first slope is 1")
def _(n_heads, size):
    """Head 0 has the slope 2^(-8 / h), not 2^0: the exponents run from 1 to h."""
    return _sloped(2.0 ** (-8 * torch.arange(n_heads) / n_heads), size)


@exercise.mistake("the slopes go down in equal steps")
def _(n_heads, size):
    """Slopes are geometric: each is the one before times the same factor. So some heads look near and others far."""
    return _sloped(torch.arange(n_heads, 0, -1) / n_heads, size)


@exercise.mistake("the heads stand in the opposite order")
def _(n_heads, size):
    """Head 0 has the steepest slope and looks nearest; the last one has 1/256."""
    return _sloped(_slopes(n_heads).flip(0), size)


@exercise.mistake("the distance is squared")
def _(n_heads, size):
    """ALiBi is linear: each step back costs the same."""
    return -_slopes(n_heads).view(-1, 1, 1) * _distances(size) ** 2 + _sloped(torch.zeros(1), size)


def _slopes_of_the_authors(n_heads: int) -> Tensor:
    """Returns the slopes of the paper's published code: of the next smaller power of 2, then every second one."""
    power = 2 ** int(math.log2(n_heads))
    more = _slopes(2 * power)[0::2][: n_heads - power]
    return torch.cat([_slopes(power), more])


@exercise.mistake("other slopes where the number of heads is no power of 2")
def _(n_heads, size):
    """The published code of the paper does so. Here the rule is the same for all: the slope of head k is 2^(-8 (k + 1)
    / h).
    """
    return _sloped(_slopes_of_the_authors(n_heads), size)


@exercise.mistake("a large finite number in place of -inf")
def _(n_heads, size):
    """-1e9 mostly works, but not in half precision, and a row in which all is blocked gets equal weights without a
    warning. Use -torch.inf.
    """
    return _sloped(_slopes(n_heads), size, -1e9)
