"""Exercise alibi_bias of notebook 02."""

from __future__ import annotations

import torch
from torch import Tensor

from grading.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw
from helpers.checking.answers import Ask

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


def _draw_heads(*counts: int) -> Draw:
    return lambda rng: [Ask((count, rng.randint(4, 9))) for count in counts]


EXERCISE = Exercise(
    alibi_bias,
    [
        Stage(
            "a floating point tensor of shape (n_heads, size, size)",
            0.5,
            "One square for each head.",
            [Ask((8, 3))],
            _draw_heads(8, 4),
            view="shape",
        ),
        Stage(
            "the first row of each head: the future is blocked",
            0.5,
            "Token 0 sees only itself: 0 for it, -inf for all the others, in every head.",
            [Ask((8, 4))],
            _draw_heads(8, 2),
            view="first row",
        ),
        Stage(
            "8 heads: slopes 1/2, 1/4, ..., 1/256",
            1,
            "In head 0 the last row reads ..., -1, -1/2, 0: minus half a point for each step back.",
            [Ask((8, 4))],
            _draw_heads(8),
        ),
        Stage(
            "any number of heads",
            1,
            "Head k (from 0) of h heads has the slope 2^(-8 (k + 1) / h): with 2 heads 1/16 and 1/256.",
            [Ask((2, 3)), Ask((4, 5)), Ask((16, 2))],
            _draw_heads(1, 2, 4, 16),
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
    ],
)
