"""Exercise cross_entropy of notebook 14."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import seed_from
from tutor.checking.answers import Question

from ._common import _normal

exercise = Definition(
    minutes=12,
    difficulty=2,
    trains=True,
    forbids=(
        "torch.nn.functional.cross_entropy",
        "torch.nn.CrossEntropyLoss",
        *(f"{place}.log_softmax" for place in ("torch", "torch.Tensor", "torch.special", "torch.nn.functional")),
        "torch.nn.LogSoftmax",
        "torch._log_softmax",
        "torch._C._nn.cross_entropy_loss",
        *(f"{place}.logsumexp" for place in ("torch", "torch.Tensor", "torch.special")),
        *(f"torch.distributions.{name}" for name in ("Categorical", "OneHotCategorical", "Multinomial")),
    ),
)


@exercise.reference
def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    return _each(logits, targets).mean()


def _each(logits: Tensor, targets: Tensor) -> Tensor:
    """Returns the loss of each target, with the shape of the targets."""
    shifted = logits - logits.amax(dim=-1, keepdim=True)
    return shifted.exp().sum(dim=-1).log() - _right(shifted, targets)


def _right(logits: Tensor, targets: Tensor) -> Tensor:
    return logits.gather(-1, targets[..., None])[..., 0]


def _asked(rng: random.Random, *shape: int, size: float = 2.0) -> Question:
    """Asks about normal logits `shape`, the last axis of which is the vocabulary; no two of a row are equal."""
    logits = size * torch.linspace(-1.7, 1.7, shape[-1]).expand(*shape)
    order = torch.rand(*shape, generator=torch.Generator().manual_seed(seed_from(rng))).argsort(dim=-1)
    logits = logits.gather(-1, order) + _normal(seed_from(rng), *shape, size=size / 50)
    targets = torch.tensor([rng.randrange(shape[-1]) for _ in range(logits[..., 0].numel())])
    return Question((logits, targets.view(shape[:-1])))


def _unlike(rng: random.Random, *shape: int, size: float = 2.0, shift: float = 0.0) -> Question:
    """Asks so that in each row another token is right than the likeliest and the unlikeliest one."""
    ask = _asked(rng, *shape, size=size)
    logits = ask.inputs[0] + shift
    order = logits.argsort(dim=-1)
    rank = torch.tensor([rng.randrange(1, shape[-1] - 1) for _ in range(logits[..., 0].numel())])
    targets: Tensor = order.gather(-1, rank.view(*shape[:-1], 1))[..., 0]
    return Question((logits, targets))


def _with_few(large: list[Question]) -> list[Question]:
    """Returns those whose gradients are asked, too."""
    return [*large[:3], *large[-2:]]


def _with_gradients(ask: Question) -> Question:
    return Question(ask.inputs, probe="gradients")


exercise.by_hand(Question((torch.tensor([[1000.0, 1001.0, 999.0]]), torch.tensor([0]))), part=float)


@exercise.stage("one place", points=0.5, public=[_unlike(random.Random(1), 1, 5)])
def _(rng: random.Random) -> list[Question]:
    """The loss of a position is the logarithm of the sum of all e**z, less the logit of the token that came; the
    result is a tensor without axes.
    """
    return [_unlike(rng, 1, rng.randint(4, 7)) for _ in range(2)]


@exercise.stage(
    "the mean of several places, in any number of axes",
    points=0.5,
    public=[_unlike(random.Random(2), 3, 5), _unlike(random.Random(3), 2, 3, 4)],
)
def _(rng: random.Random) -> list[Question]:
    """Each row of logits, along the last axis, has its target. Take the mean of all their losses, whether they stand in
    one axis or in several.
    """
    b, n, v = rng.choice([(2, 3, 5), (3, 2, 6), (2, 4, 5)])
    return [_unlike(rng, n, v), _unlike(rng, b, n, v), _unlike(rng, 2, b, n, v)]


def _far_below(rng: random.Random) -> Question:
    """Asks about rows with logits so far below that only the largest may be taken away; the right token is likelier."""
    logits = torch.tensor([-220.0, -180.0, 0.0, 40.0, 35.0]) + _normal(seed_from(rng), 2, 5)
    turned = rng.randrange(5)
    return Question((logits.roll(turned, dims=1), torch.full((2,), (2 + turned) % 5)))


def _large(rng: random.Random) -> list[Question]:
    """Asks about logits that are large, all far below 0, both, and of which one row is far above the other."""
    low, high = -rng.uniform(300, 900), rng.uniform(300, 900)
    both = _unlike(rng, 3, 5)
    apart = torch.tensor([[high], [0.0], [low]])
    return [
        _unlike(rng, 3, 5, shift=high),
        _unlike(rng, 3, 5, shift=low),
        _unlike(rng, 2, 3, 5, size=rng.uniform(150, 250)),
        Question((both.inputs[0] + apart, both.inputs[1])),
        _far_below(rng),
        _apart(rng, 1000),
        _apart(rng, 10_000),
    ]


def _apart(rng: random.Random, apart: int) -> Question:
    """Asks about rows whose likeliest token lies so far above the one that came."""
    target = rng.randrange(4)
    logits = _normal(seed_from(rng), 2, 4)
    logits[:, (target + 1) % 4] += apart
    return Question((logits, torch.full((2,), target)))


@exercise.stage("logits of any size", points=0.75, public=_large(random.Random(4)), decisive=True)
def _(rng: random.Random) -> list[Question]:
    """float32 ends at e**88, and e**-104 is 0. With the largest logit of each row taken away first, one term of the sum
    is 1, and no other is larger. Then nothing need be cut off, and nothing may be: a difference can be far below -80.
    """
    return _large(rng)


@exercise.stage(
    "gradients, of large logits too",
    points=0.25,
    public=[
        _with_gradients(_unlike(random.Random(5), 2, 3, 4)),
        *map(_with_gradients, _with_few(_large(random.Random(6)))),
    ],
)
def _(rng: random.Random) -> list[Question]:
    """The gradient of a logit is its probability, less 1 for the token that came, divided by the number of positions.
    Use operations of PyTorch from the logits to the mean; a logit that is cut off (`clamp`) has no gradient. The
    largest logit is detached wherever it stands, or nowhere: then its own gradients cancel.
    """
    return [_with_gradients(_unlike(rng, 3, 2, 5)), *map(_with_gradients, _with_few(_large(rng)))]


@exercise.corners("one place", vocabulary=(1, 2, range(33, 36), range(101, 104), range(1001, 1004)))
def _(rng: random.Random, vocabulary: int) -> Question:
    return _asked(rng, 1, vocabulary)


@exercise.corners(
    "the mean of several places, in any number of axes",
    positions=(1, 2, range(33, 36), range(65, 68), range(301, 304)),
    axes=("one", "texts of one token", "one text", "three"),
)
def _(rng: random.Random, positions: int, axes: str) -> Question:
    shape = {
        "one": (positions,),
        "texts of one token": (positions, 1),
        "one text": (1, positions),
        "three": (1, positions, 1),
    }
    return _asked(rng, *shape[axes], rng.randint(2, 3))


@exercise.corners(
    "logits of any size",
    level=(-900.0, -100.0, 0.0, 900.0),
    apart=(0.0, 1e-3, 1.0, 120.0, 700.0, 10_000.0),
    target=("the likeliest", "the least likely"),
)
def _(rng: random.Random, level: float, apart: float, target: str) -> Question:
    """Asks about two rows of logits that reach over so much in all, and about a right token at their end."""
    shares = torch.rand(2, 5, generator=torch.Generator().manual_seed(seed_from(rng)))
    lowest, highest = shares.amin(dim=-1, keepdim=True), shares.amax(dim=-1, keepdim=True)
    shares = (shares - lowest) / (highest - lowest)
    return Question((level + apart * shares, (shares.argmax if target == "the likeliest" else shares.argmin)(dim=-1)))
