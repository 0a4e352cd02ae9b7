"""Exercise attention_weights of notebook 01."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from grading.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw
from helpers.checking.answers import Ask

from ._common import INF, causal_mask


def attention_weights(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores + mask, dim=-1)


def _scores(*shape: int, seed: int = 0) -> Tensor:
    scores = torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).mul(4).round().div(2)
    scores[..., 0, -1] = 0.0  # a score of 0 in the future: a mask built from the scores leaks there
    return scores


def _masked(*shape: int, seed: int = 0) -> Ask:
    return Ask((_scores(*shape, seed=seed), causal_mask(shape[-1])))


def _draw_masked(*leading: int) -> Draw:
    def draw(rng: random.Random) -> list[Ask]:
        size = rng.randint(3, 9)
        return [_masked(*leading, size + step, size + step, seed=rng.randrange(10**6)) for step in range(2)]

    return draw


def _draw_any_mask(rng: random.Random) -> list[Ask]:
    """A mask that is not causal: random places blocked, one place in each row left open."""
    size = rng.randint(4, 8)
    generator = torch.Generator().manual_seed(rng.randrange(10**6))
    blocked = torch.rand(size, size, generator=generator) < 0.5
    blocked[torch.arange(size), torch.randint(size, (size,), generator=generator)] = False
    mask = torch.zeros(size, size).masked_fill(blocked, -INF)
    return [Ask((_scores(2, size, size, seed=rng.randrange(10**6)), mask))]


def _softmax_over_queries(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores + mask, dim=-2)


def _softmax_over_first_axis(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores + mask, dim=0)


def _mask_after_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores, dim=-1).masked_fill(mask == -INF, 0.0)


def _mask_added_after_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores, dim=-1) + mask


def _mask_multiplied(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores * mask, dim=-1)


def _scores_zeroed(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores.masked_fill(mask == -INF, 0.0), dim=-1)


def _zero_blocks(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores.masked_fill(mask == 0, -INF), dim=-1)


def _zero_blocks_by_a_large_number(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores.masked_fill(mask == 0, -1e9), dim=-1)


def _mask_from_scores(scores: Tensor, mask: Tensor) -> Tensor:
    upper = torch.triu(scores, diagonal=1)
    return torch.softmax(torch.where(upper != 0, -INF, scores), dim=-1)


def _mask_forgotten(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores, dim=-1)


EXERCISE = Exercise(
    attention_weights,
    [
        Stage(
            "the shape of the scores",
            0.5,
            "One weight for each score: the result has the shape of `scores`.",
            [_masked(4, 4, seed=1)],
            _draw_masked(),
            view="shape",
        ),
        Stage(
            "each row sums to 1",
            0.5,
            "A row holds the weights of one query over all keys: the softmax runs along the last axis, after masking.",
            [_masked(4, 4, seed=1)],
            _draw_masked(),
            view="row sums",
        ),
        Stage(
            "the first row: all weight on the first token",
            0.5,
            "Token 0 sees only itself, so its row must be 1, 0, 0, ...",
            [_masked(4, 4, seed=2)],
            _draw_masked(),
            view="first row",
        ),
        Stage(
            "every row",
            1,
            "Add the mask to the scores, then take the softmax of each row.",
            [_masked(3, 3, seed=3), _masked(5, 5, seed=4)],
            lambda rng: [*_draw_masked()(rng), *_draw_any_mask(rng)],
        ),
        Stage(
            "batches and heads: (b, h, n, n)",
            0.5,
            "Count axes from the end: -1 is the last one whatever stands before it.",
            [_masked(2, 2, 3, 3, seed=5)],
            lambda rng: [*_draw_masked(2, 3)(rng), *_draw_masked(4)(rng)],
        ),
    ],
    [
        Mistake(
            "softmax over the wrong axis (down the columns)",
            "Each query shares its attention over the keys: the softmax runs along the last axis, dim=-1.",
            _softmax_over_queries,
        ),
        Mistake(
            "softmax over the first axis",
            "dim=0 is the batch as soon as there is one. Count from the end: dim=-1.",
            _softmax_over_first_axis,
        ),
        Mistake(
            "the mask comes after the softmax",
            "The blocked scores have already taken their share, so rows no longer sum to 1. Mask first, then softmax "
            "(or divide each row by its new sum).",
            _mask_after_softmax,
        ),
        Mistake(
            "the mask is added after the softmax",
            "Weights of -inf mean nothing. Add the mask to the scores, before the softmax.",
            _mask_added_after_softmax,
        ),
        Mistake(
            "the mask is multiplied",
            "0 times a score is 0 and -inf times 0 is NaN. This mask is made to be added.",
            _mask_multiplied,
        ),
        Mistake(
            "blocked scores are set to 0",
            "A score of 0 still gets exp(0) = 1 before normalisation. A blocked score must be -inf.",
            _scores_zeroed,
        ),
        Mistake(
            "0 in the mask is taken for blocked",
            "Many programs write masked_fill(mask == 0, ...), for masks of 1 and 0. In ours 0 means allowed and -inf "
            "blocked: just add it to the scores.",
            _zero_blocks,
        ),
        Mistake(
            "0 in the mask is taken for blocked, by a large finite number",
            "Many programs write masked_fill(mask == 0, -1e9), for masks of 1 and 0. In ours 0 means allowed and -inf "
            "blocked: just add it to the scores.",
            _zero_blocks_by_a_large_number,
        ),
        Mistake(
            "the mask is built from the scores",
            "Where a score happens to be 0, `triu(scores)` is 0 too and the future leaks through. "
            "Use the mask you are given.",
            _mask_from_scores,
        ),
        Mistake(
            "the mask is not used",
            "These are the weights without any mask: every token still sees the future.",
            _mask_forgotten,
        ),
    ],
)
