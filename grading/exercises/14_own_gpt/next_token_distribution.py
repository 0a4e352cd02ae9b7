"""Exercise next_token_distribution of notebook 14."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import torch
from torch import Tensor

from grading.definitions.definition import Definition, Stage
from grading.exercises.draws import Draw, fixed
from tutor.checking.answers import Question

from ._common import _telling

exercise = Definition(minutes=20, difficulty=2, forbids=("helpers.chat.sampled",))


@exercise.reference
def next_token_distribution(
    logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Tensor:
    return _cut(logits, temperature, top_k, top_p)


def _cut(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    *,
    late: bool = False,
    multiply: bool = False,
    crossing: bool = True,
    extra: int = 0,
    order: str = "kp",
    again: bool = True,
    keep: str = "set",
) -> Tensor:
    """Returns the distribution; the options are the ways in which it goes wrong."""
    scale = temperature if multiply else 1 / temperature
    chances = (logits if late else logits * scale).softmax(dim=-1)
    whole = chances
    for way in order:
        ranked, indices = chances.sort(descending=True)
        if way == "k" and top_k is not None:
            chances = chances.index_fill(0, indices[top_k + extra :], 0)
        elif way == "p" and top_p is not None:
            before = ranked.cumsum(0) - ranked
            out = before >= top_p if crossing else ranked.cumsum(0) > top_p
            if keep == "each":
                out = ranked < 1 - top_p
            out[0] = False  # one token is left in any case
            chances = chances.index_fill(0, indices[out], 0)
        else:
            continue  # where nothing is cut, nothing is rounded anew
        if again:
            chances = chances / chances.sum()
    if late:
        chances = chances.log().mul(scale).softmax(dim=-1)
    if again:
        return chances / chances.sum()
    return whole.where(chances > 0, torch.zeros(()))


CUTS: dict[str, list[Any]] = {
    "k": [partial(_cut, extra=1), partial(_cut, extra=-1)],
    "p": [partial(_cut, crossing=False), partial(_cut, keep="each")],
    "all": [
        partial(_cut, late=True),
        partial(_cut, crossing=False),
        partial(_cut, order="pk"),
        partial(_cut, multiply=True),
        partial(_cut, extra=1),
        partial(_cut, extra=-1),
    ],
    "tp": [partial(_cut, late=True), partial(_cut, crossing=False), partial(_cut, multiply=True)],
}
Drawn = tuple[Tensor, float, int | None, float | None]


def _far(first: Tensor, second: Tensor) -> bool:
    return bool((first - second).abs().max() > 0.01)


def _is_clear(drawn: Drawn) -> bool:
    """Says whether the sum of the likeliest comes nowhere so near to `top_p` that rounding could decide."""
    logits, temperature, top_k, top_p = drawn
    chances = next_token_distribution(logits, temperature, top_k).sort(descending=True).values
    return top_p is None or bool((chances.cumsum(0)[:-1] - top_p).abs().min() > 1e-3)


def _draw(rng: random.Random, kind: str) -> Drawn:
    size = rng.randint(6, 9)
    numbers = rng.sample(range(-20, 21), size)  # no two are alike
    temperature = rng.choice([0.5, 0.7, 1.5, 2.0, 2.5]) if kind in ("t", "all", "tp") else 1.0
    top_k = rng.randint(3, size - 2) if kind in ("k", "all") else None
    top_p = round(rng.uniform(0.5, 0.95), 2) if kind in ("p", "all", "tp") else None
    return torch.tensor(numbers) / 10, temperature, top_k, top_p


def _asked(rng: random.Random, kind: str) -> Question:
    others = CUTS.get(kind, [])

    def tells(drawn: Drawn) -> bool:
        found = [next_token_distribution(*drawn), *(other(*drawn) for other in others)]
        return _is_clear(drawn) and all(_far(found[0], other) for other in found[1:])

    return Question(_telling(rng, lambda rng: _draw(rng, kind), tells))


def _drawn(*kinds: str) -> Draw:
    return lambda rng: [_asked(rng, kind) for kind in kinds]


def _p(rng: random.Random) -> list[Question]:
    """Asks for the fewest tokens, of many which are about as probable as each other, and where p is met exactly."""

    def flat(rng: random.Random) -> Drawn:
        return torch.tensor(rng.sample(range(-200, 201), rng.randint(190, 220))) / 1000, 1.0, None, 0.9

    by_hand = torch.tensor([0.5, 0.3, 0.15, 0.05])[rng.sample(range(4), 4)].log()
    own = [Question((by_hand, 1.0, None, p)) for p in (0.68, 0.4)]
    return [*_drawn("p", "p")(rng), Question(_telling(rng, flat, _is_clear)), *own, _exactly(rng)]


# exp(-2**-24) is, on every processor, the next number below 1 in 32 bits. Beside 1 they sum to 2 in 32 bits, and to a
# little less in 64: the likelier one has exactly a half in the first, and a little more in the second.
JUST_BELOW = -(2.0**-24)


def _exactly(rng: random.Random) -> Question:
    """Asks with a p that the likeliest token meets exactly, whatever computes it."""
    logits = [0.0, JUST_BELOW, *(-float(number) for number in rng.sample(range(40, 90), rng.randint(2, 5)))]
    return Question((torch.tensor(rng.sample(logits, len(logits))), 1.0, None, 0.5))


def _k(rng: random.Random) -> list[Question]:
    """Asks for cuts, also where each token has a smaller logit than those which usually stand for impossible.

    These logits, and what they are divided by, are sums of powers of two, so that nothing is rounded.
    """
    logits, scale = (10 * _draw(rng, "")[0]).round() / 4 - 2**14, 2**-6
    return [*_drawn("k", "k")(rng), Question((logits * scale, scale, 3, None))]


# So many tokens alike have 1/V each, which is rounded down so far that even their exact sum is rounded to less than 1.
# No exponential but exp(0) = 1 is in it, so that this holds on every processor.
SUMS_BELOW_1 = 47


def _edges(rng: random.Random) -> list[Question]:
    """Asks for cuts that leave one token, or all, also where rounding leaves the sum of all below 1."""
    logits = _draw(rng, "")[0]
    alike = torch.full((SUMS_BELOW_1,), rng.randint(-20, 20) / 10)
    cuts = [(1, None), (None, 0.01), (len(logits), 0.9999)]
    return [*(Question((logits, 1.0, k, p)) for k, p in cuts), Question((alike, 1.0, None, 1.0))]


def _temperatures(rng: random.Random) -> list[Question]:
    """Asks for no temperature, for any, for low and high ones, and of logits with too large or small exponentials."""
    found, logits = _drawn("", "t")(rng), _draw(rng, "")[0]
    near = Question((logits[:2] / 100, 0.009))
    return [
        *found,
        *(Question((logits, t)) for t in (0.04, 0.2, 25.0)),
        near,
        Question((logits + 200,)),
        Question((logits - 200,)),
    ]


exercise.by_hand(Question((torch.tensor([0.5, 0.3, 0.15, 0.05]).log(), 1.0, None, 0.75)))


def _stage(name: str, points: float, feedback: str, draw: Draw, **options: Any) -> Stage:
    return Stage(name, points, feedback, fixed(draw, 8), draw, **options)


exercise.add(
    _stage(
        "a temperature, and nothing cut",
        0.5,
        "Divide the logits by the temperature, then take the softmax: torch.softmax, as the exponential of a large "
        "number is infinity. Index i of the result belongs to token i: whoever has sorted puts each probability back "
        "to its index (`scatter`).",
        _temperatures,
    ),
    _stage(
        "the k most probable tokens",
        0.5,
        "All but the k most probable tokens get 0, and the others are divided by their sum.",
        _k,
    ),
    _stage(
        "the fewest tokens that have p together",
        1,
        "Go down from the most probable one, and stop as soon as the sum is p or more: the token that crosses p is "
        "still in. Then divide what is left by its sum.",
        _p,
        decisive=True,
    ),
    _stage(
        "temperature, then k, then p",
        0.75,
        "In this order: the temperature first, then top_k, and top_p on what is left of it, which sums to 1 again.",
        _drawn("tp", "all"),
        decisive=True,
    ),
    _stage(
        "one token is left, or all",
        0.25,
        "top_k=1 and a tiny top_p leave the most probable token; top_k=V and a top_p of 1 leave all, also where "
        "rounding leaves the sum of all a little below 1.",
        _edges,
    ),
)


def _apart(rng: random.Random, size: int, way: str) -> Tensor:
    """Returns logits, no two alike: near each other, near -100 or 100, or from 0 to 120 apart."""
    steps = torch.tensor(rng.sample(range(size), size))
    logits = 4 * steps / size if way != "120 apart" else (120 * (steps / (size - 1)) ** 4 if size > 1 else 0.0 * steps)
    return ((64 * logits).round() if size < 65 else 1024 * logits).div(64 if size < 65 else 1024) + {
        "near -100": -100.0,
        "near 100": 100.0,
    }.get(way, 0.0)


LEVELS = ("near -100", "near 100", "120 apart")
LENGTHS = (1, 2, range(33, 36), range(65, 68), range(301, 304), range(1001, 1004))


@exercise.corners("the k most probable tokens", size=LENGTHS[1:], k=("one", "all but one", "all"))
def _(rng: random.Random, size: int, k: str) -> Question:
    top_k = {"one": 1, "all but one": size - 1, "all": size}[k]
    return Question((_apart(rng, size, rng.choice(LEVELS[:2])), 1.0, top_k))


@exercise.corners(
    "a temperature, and nothing cut", level=LEVELS, temperature=(0.02, 1.0, 50.0), size=(1, range(65, 68))
)
def _(rng: random.Random, level: str, temperature: float, size: int) -> Question:
    return Question((_apart(rng, size, level), temperature))


@exercise.corners("the fewest tokens that have p together", size=LENGTHS[:-1], kept=("one", "half", "all but one"))
def _(rng: random.Random, size: int, kept: str) -> Question:
    """Asks with a p that lies half-way between two sums of probabilities, so that no rounding decides."""
    logits = _apart(rng, size, rng.choice(LEVELS[:2]))
    sums = [0.0, *logits.double().softmax(-1).sort(descending=True).values.cumsum(0).tolist()]
    number = {"one": 0, "half": size // 2, "all but one": max(size - 2, 0)}[kept]
    return Question((logits, 1.0, None, (sums[number] + sums[number + 1]) / 2))


exercise.mistake(
    "what is left does not sum to 1",
    "A distribution sums to 1: divide by the sum of what has not been cut.",
    partial(_cut, again=False),
)
