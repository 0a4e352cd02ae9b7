"""Exercise attention_weights of notebook 01."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, both, seed_from
from tutor.checking.answers import Question

from ._common import INF, causal_mask

exercise = Definition(minutes=8, difficulty=1)


@exercise.reference
def attention_weights(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores + mask, dim=-1)


def _scores(*shape: int, seed: int = 0) -> Tensor:
    scores = torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).mul(4).round().div(2)
    scores[..., 0, 0], scores[..., 1, 0], scores[..., 1, 1] = 8.0, 7.0, 9.0  # cut at 5, they would be alike
    if shape[-1] > 3:
        scores[..., 0, 2] = 6.5
    scores[..., 0, -1] = 0.0  # a score of 0 in the future: a mask built from the scores leaks there
    return scores


def _masked(*shape: int, seed: int = 0) -> Question:
    return Question((_scores(*shape, seed=seed), causal_mask(shape[-1])))


def _draw_masked(*leading: int) -> Draw:
    def draw(rng: random.Random) -> list[Question]:
        size = rng.randint(3, 9)
        return [_masked(*leading, size + step, size + step, seed=seed_from(rng)) for step in range(2)]

    return draw


def _by_hand() -> Question:
    """Returns the question that the text works by hand."""
    return Question((torch.tensor([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]]), causal_mask(3)))


exercise.by_hand(_by_hand())


def _any_mask(*shape: int, seed: int) -> Question:
    """Returns a question with a mask that is not causal: random entries blocked, one in each row left open.

    The first row sees several tokens, and a later token sees nothing of the past.
    """
    size, generator = shape[-1], torch.Generator().manual_seed(seed)
    blocked = torch.rand(size, size, generator=generator) < 0.5
    blocked[torch.arange(size), torch.randint(size, (size,), generator=generator)] = False
    blocked[0], blocked[-1] = False, True
    blocked[0, 1], blocked[-1, -1] = True, False
    mask = torch.zeros(size, size).masked_fill(blocked, -INF)
    return Question((_scores(*shape, seed=seed), mask))


def _draw_any_mask(*leading: int) -> Draw:
    def draw(rng: random.Random) -> list[Question]:
        size = rng.randint(4, 8)
        return [_any_mask(*leading, size, size, seed=seed_from(rng))]

    return draw


@exercise.stage(
    "the shape of the scores", points=0.25, public=[_masked(4, 4, seed=1), _masked(1, 1, 3, 3, seed=6)], view="shape"
)
def _(rng: random.Random) -> list[Question]:
    """One weight for each score: the result has the shape of `scores`, also where an axis is 1."""
    return both(_draw_masked(), _draw_masked(1, 1))(rng)


@exercise.stage(
    "each row sums to 1", points=0.25, public=[_masked(4, 4, seed=1), _any_mask(5, 5, seed=7)], view="row sums"
)
def _(rng: random.Random) -> list[Question]:
    """A row holds the weights of one query over all keys: the softmax runs along the last axis, after masking."""
    return both(_draw_masked(), _draw_any_mask())(rng)


@exercise.stage("the first row", points=0.5, public=[_masked(4, 4, seed=2), _any_mask(4, 4, seed=8)], view="first row")
def _(rng: random.Random) -> list[Question]:
    """Use the mask that you are given, which may be another than the causal one: token 0 shares its weight among all
    that this mask leaves open. Under the causal mask that is token 0 alone, and its row 1, 0, 0, ...
    """
    return both(_draw_masked(), _draw_any_mask())(rng)


def _large_future(size: int, seed: int) -> Question:
    """Returns a question in which one blocked score is so large that beside it all others have a weight of 0."""
    rng, scores = random.Random(seed), _scores(size, size, seed=seed)
    scores[0, rng.randrange(1, size)] = rng.randint(300, 3000)
    return Question((scores, causal_mask(size)))


@exercise.stage(
    "every row",
    points=1,
    public=[_masked(3, 3, seed=3), _masked(5, 5, seed=4), _any_mask(4, 4, seed=9), _by_hand(), _large_future(4, 15)],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Add the mask that you are given to the scores, then take the softmax of each row: what is blocked takes no part
    in it, however large its score.
    """
    return [*both(_draw_masked(), _draw_any_mask(2))(rng), _large_future(rng.randint(3, 6), seed_from(rng))]


@exercise.stage(
    "batches and heads: (b, h, n, n), and more axes",
    points=0.5,
    public=[_masked(2, 2, 3, 3, seed=5), _any_mask(2, 1, 2, 3, 3, seed=10)],
)
def _(rng: random.Random) -> list[Question]:
    """Count axes from the end: -1 is the last one whatever stands before it."""
    return both(_draw_masked(2, 3), _draw_any_mask(4), _draw_any_mask(2, 1, 3))(rng)


def _large_scores(*leading: int, seed: int) -> Question:
    """Returns a question of five tokens with rows far above 0 and far below it, and very large scores in the future.

    Without taking off the largest score that is seen in a row, exponentials are infinite in some rows or 0 in all.
    """
    rng, scores = random.Random(seed), _scores(*leading, 5, 5, seed=seed)
    scores[..., 1, :] += rng.randint(200, 2000)
    scores[..., 2, :] -= rng.randint(200, 2000)
    scores[..., 3, :] -= rng.randint(20_000, 40_000)  # below every number that is taken for minus infinity
    scores[..., 0, 1 + rng.randrange(4)] = rng.randint(300, 3000)
    scores[..., 4, rng.randrange(5)] += rng.choice([8, 9, 10, 11])  # cut at 5, it would be another row
    return Question((scores, causal_mask(5)))


def _vast_scores(seed: int) -> Question:
    """Returns a question with rows far above 1e9 and far below -1e30, which some take for minus infinity.

    In both rows one key has all of the weight: beside such scores the logarithm of a sum has no decimals left.
    """
    rng, scores = random.Random(seed), _scores(5, 5, seed=seed)
    scores[1] += 10.0 ** rng.randint(10, 15) * torch.arange(1, 6)
    scores[3] -= 10.0 ** rng.randint(31, 36) * torch.arange(1, 6)
    return Question((scores, causal_mask(5)))


def _equal_scores(seed: int) -> Question:
    """Returns a question with rows of equal scores, far above 1e8 and far below -1e8: beside them a log(2) is lost."""
    levels = 10.0 ** random.Random(seed).randint(8, 15) * torch.tensor([1.0, -1.0, 1.0, -1.0, 1.0])
    return Question((levels[:, None].repeat(1, 5), causal_mask(5)))


@exercise.stage(
    "very large and very small scores",
    points=0.5,
    public=[_large_scores(seed=11), _large_scores(2, seed=12), _vast_scores(13), _equal_scores(14)],
    tolerance=2e-3,
)
def _(rng: random.Random) -> list[Question]:
    """exp(100) is too large for a floating point number, and exp(-200) is 0. `torch.softmax` takes off the largest
    score of each row first, the largest one that the mask leaves. A blocked score must be -inf, not a large number, and
    no score may be cut off.
    """
    return [
        _large_scores(seed=seed_from(rng)),
        _large_scores(2, 2, seed=seed_from(rng)),
        _vast_scores(seed_from(rng)),
        _equal_scores(seed_from(rng)),
    ]


@exercise.corners("every row", size=(1, 2, range(33, 36), range(65, 68)), mask=("none", "causal"))
def _(rng: random.Random, size: int, mask: str) -> Question:
    scores = torch.randn(size, size, generator=torch.Generator().manual_seed(seed_from(rng))).mul(4).round().div(2)
    return Question((scores, torch.zeros(size, size) if mask == "none" else causal_mask(size)))


@exercise.corners(
    "very large and very small scores",
    level=(-1e4, -60.0, 0.0, 100.0),
    apart=(0.0, 0.25, 120.0),
    size=(1, range(33, 36)),
)
def _(rng: random.Random, level: float, apart: float, size: int) -> Question:
    """Asks about rows that lie far below 0 or above, whose scores are all alike, or far from each other."""
    steps = torch.randint(5, (size, size), generator=torch.Generator().manual_seed(seed_from(rng)))
    return Question((level + apart * steps / 4, causal_mask(size)))
