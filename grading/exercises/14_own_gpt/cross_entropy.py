"""Exercise cross_entropy of notebook 14."""

from __future__ import annotations

import random
from functools import partial

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
    """Asks so that in each row another place is right than the likeliest and the unlikeliest one."""
    ask = _asked(rng, *shape, size=size)
    logits = ask.inputs[0] + shift
    order = logits.argsort(dim=-1)
    place = torch.tensor([rng.randrange(1, shape[-1] - 1) for _ in range(logits[..., 0].numel())])
    targets: Tensor = order.gather(-1, place.view(*shape[:-1], 1))[..., 0]
    return Question((logits, targets))


def _with_few(large: list[Question]) -> list[Question]:
    """Returns those whose gradients are asked, too."""
    return [*large[:3], *large[-2:]]


def _with_gradients(ask: Question) -> Question:
    return Question(ask.inputs, probe="gradients")


@exercise.stage("one place", points=0.5, public=[_unlike(random.Random(1), 1, 5)])
def _(rng):
    """The loss of a place is the logarithm of the sum of all e**z, less the logit of the token that came; the result is
    a tensor without axes.
    """
    return [_unlike(rng, 1, rng.randint(4, 7)) for _ in range(2)]


@exercise.stage(
    "the mean of several places, in any number of axes",
    points=0.5,
    public=[_unlike(random.Random(2), 3, 5), _unlike(random.Random(3), 2, 3, 4)],
)
def _(rng):
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
def _(rng):
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
def _(rng):
    """The gradient of a logit is its probability, less 1 for the token that came, divided by the number of places. Use
    operations of PyTorch from the logits to the mean; a logit that is cut off (`clamp`) has no gradient. The largest
    logit is detached wherever it stands, or nowhere: then its own gradients cancel.
    """
    return [_with_gradients(_unlike(rng, 3, 2, 5)), *map(_with_gradients, _with_few(_large(rng)))]


@exercise.corners("one place", vocabulary=(1, 2, range(33, 36), range(101, 104), range(1001, 1004)))
def _(rng, vocabulary):
    return _asked(rng, 1, vocabulary)


@exercise.corners(
    "the mean of several places, in any number of axes",
    places=(1, 2, range(33, 36), range(65, 68), range(301, 304)),
    axes=("one", "texts of one token", "one text", "three"),
)
def _(rng, places, axes):
    shape = {"one": (places,), "texts of one token": (places, 1), "one text": (1, places), "three": (1, places, 1)}
    return _asked(rng, *shape[axes], rng.randint(2, 3))


@exercise.corners(
    "logits of any size",
    level=(-900.0, -100.0, 0.0, 900.0),
    apart=(0.0, 1e-3, 1.0, 120.0, 700.0, 10_000.0),
    target=("the likeliest", "the least likely"),
)
def _(rng, level, apart, target):
    """Asks about two rows of logits that reach over so much in all, and about a right token at their end."""
    shares = torch.rand(2, 5, generator=torch.Generator().manual_seed(seed_from(rng)))
    lowest, highest = shares.amin(dim=-1, keepdim=True), shares.amax(dim=-1, keepdim=True)
    shares = (shares - lowest) / (highest - lowest)
    return Question((level + apart * shares, (shares.argmax if target == "the likeliest" else shares.argmin)(dim=-1)))


@exercise.mistake("e**z is taken of the logits as they are")
def _overflows(logits, targets):
    """e**z of a large logit is infinite, and of logits far below 0 the sum is 0. Take the largest logit of each row
    away before: that changes no probability.
    """
    return (logits.exp().sum(dim=-1).log() - _right(logits, targets)).mean()


@exercise.mistake("the quotient is computed as it stands")
def _quotient(logits, targets):
    """Infinity by infinity, and 0 by 0, are no numbers. Take the largest logit of each row away before e**z, and the
    logarithms of sum and logit apart from each other.
    """
    powers = logits.exp()
    return -(_right(powers, targets) / powers.sum(dim=-1)).log().mean()


@exercise.mistake("the logarithm of a probability that is rounded to 0")
def _of_softmax(logits, targets):
    """softmax is right, but the probability of an unlikely token is rounded to 0, and its logarithm is minus infinity.
    Stay with logarithms: log-sum-exp, less the logit of the token that came.
    """
    return -_right(logits.softmax(dim=-1), targets).log().mean()


@exercise.mistake("probabilities are kept from 0 by a small number")
def _kept_from_zero(logits, targets):
    """A number added to probabilities, or a limit below them, makes the loss wrong just where the model is most wrong,
    and there its gradient is 0. With log-sum-exp no limit is needed.
    """
    return -(_right(logits.softmax(dim=-1), targets) + 1e-9).log().mean()


@exercise.mistake("logits are cut off")
def _cut_off(logits, targets):
    """A limit on the logits keeps the sum finite and changes the loss. Take the largest one of the row away in its
    place: that changes nothing.
    """
    return _overflows(logits.clamp(-80, 80), targets)


@exercise.mistake("the largest logit is taken away and not given back")
def _not_given_back(logits, targets):
    """Where log-sum-exp is made with the largest logit taken away, it must be added again, or be taken away from the
    logit of the token that came, too.
    """
    shifted = logits - logits.amax(dim=-1, keepdim=True)
    return (shifted.exp().sum(dim=-1).log() - _right(logits, targets)).mean()


@exercise.mistake("the largest logit of all places is taken away")
def _of_all(logits, targets):
    """Each row has a largest logit of its own, `dim=-1`: beside that of another row, all terms of a sum may be 0."""
    shifted = logits - logits.max()
    return (shifted.exp().sum(dim=-1).log() - _right(shifted, targets)).mean()


exercise.mistake(
    "the sum in place of the mean",
    "A batch with more tokens would have a larger loss and make a larger step: take the mean over all places.",
    lambda logits, targets: _each(logits, targets).sum(),
)

exercise.mistake(
    "a loss for each place",
    "What is trained on is one number: the mean of all places, a tensor without axes.",
    _each,
)

exercise.mistake(
    "the sign is turned over",
    "A loss is small where the model is right: it is minus the logarithm of the probability.",
    lambda logits, targets: -_each(logits, targets).mean(),
)


def _over(dim: int, logits: Tensor, targets: Tensor) -> Tensor:
    return (logits.logsumexp(dim=dim, keepdim=True).expand_as(logits) - logits).gather(-1, targets[..., None]).mean()


exercise.mistake(
    "the sum runs over the places",
    "It is the tokens of the vocabulary, the last axis, whose probabilities sum to 1: `dim=-1`.",
    partial(_over, 0),
)

exercise.mistake(
    "bits in place of nats",
    "The loss is in nats, natural logarithms (`log`, not `log2`). Bits come in the next exercise.",
    lambda logits, targets: _each(logits, targets).mean() / torch.tensor(2.0).log(),
)


def _other_gradient(logits: Tensor, targets: Tensor, *, taken: bool) -> Tensor:
    highest = logits.amax(dim=-1, keepdim=True)
    first, then = (highest.detach(), highest) if taken else (highest, highest.detach())
    return ((logits - first).exp().sum(dim=-1).log() + then[..., 0] - _right(logits, targets)).mean()


exercise.mistake(
    "the largest logit is detached in one place only",
    "`detach` may be left out: the largest logit is subtracted and added again, and its gradients cancel. Detach it in "
    "both places or in none.",
    partial(_other_gradient, taken=True),
)

exercise.mistake(
    "the largest logit is detached only where it is added again",
    "`detach` may be left out: the largest logit is subtracted and added again, and its gradients cancel. Detach it in "
    "both places or in none.",
    partial(_other_gradient, taken=False),
)
