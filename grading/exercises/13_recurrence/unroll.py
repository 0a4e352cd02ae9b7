"""Exercise unroll of notebook 13."""

from __future__ import annotations

import random
from itertools import count, repeat
from typing import Any

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import seed_from, until
from tutor.checking.answers import Question
from tutor.checking.building import build_inputs
from tutor.checking.plain import Model

from ._common import values

exercise = Definition(minutes=20, difficulty=2, trains=True)


@exercise.reference
def unroll(cell: Any, x: Tensor, lengths: Tensor, state: Tensor) -> Tensor:
    states = list[Tensor]()
    for t in range(x.shape[1]):
        state = torch.where((t < lengths)[:, None], cell(x[:, t], state), state)
        states.append(state)
    return torch.stack(states, dim=1)


def _lengths(b: int, n: int, kind: str, generator: torch.Generator) -> Tensor:
    """Draws lengths of one of the kinds of `_question`."""
    if kind == "all shorter":
        return torch.randint(1, n, (b,), generator=generator)
    if kind in ("", "empty"):
        return torch.full((b,), n)
    longest = n - 1 if kind == "two lengths" else n
    between = torch.randint(2, longest, (b - 2,), generator=generator)
    return torch.cat([torch.tensor([1, longest]), between])[torch.randperm(b, generator=generator)]


def _turns_back(lengths: Tensor) -> bool:
    """Says whether the order from long to short is its own inverse.

    Who sorts the sentences and puts them back by the same order is not seen there.
    """
    order = lengths.argsort(stable=True, descending=True)
    return torch.equal(order[order], torch.arange(len(lengths)))


def _question(b: int, n: int, d_in: int, d: int, seed: int, kind: str = "", spread: float = 0.5) -> Question:
    """Returns a question; no token is all zeros unless the kind says so.

    Args:
        b, n, d_in, d: the sizes, as in the text of the exercise.
        seed: of all that is drawn.
        spread: how far the weights of the cell lie apart.
        kind: "empty": the first state is 0. "shorter": one sentence has all n tokens, another one, and the rest
            between. "all shorter": none has n. "two lengths": none has n, and not all are equally long. "not finite":
            shorter, and padding holds NaN and infinity. "zeros": shorter, and the last token of the longest sentence
            is all zeros.
    """
    generator = torch.Generator().manual_seed(seed)
    any_order = kind in ("", "empty", "all shorter") or b <= 2
    lengths = until(
        repeat(generator),
        lambda generator: _lengths(b, n, kind, generator),
        lambda lengths: any_order or not _turns_back(lengths),
    )
    x = values(b, n, d_in, seed=seed + 1)
    x[x == 0] = 0.1
    if kind == "not finite":
        odd = torch.tensor([torch.inf, torch.nan, -torch.inf]).repeat(n)[:n]
        x = torch.where((torch.arange(n) < lengths[:, None])[..., None], x, odd[:, None])
    if kind == "zeros":
        x[lengths.argmax(), -1] = 0
    cell = Model("GRUCell", {"input_size": d_in, "hidden_size": d}, seed, spread=spread)
    state = values(b, d, seed=seed + 2, size=0.7)
    return Question((cell, x, lengths, 0 * state if kind == "empty" else state))


_TWO_SENTENCES = torch.tensor([[1.0, 2.0, 3.0], [4.0, 9.0, 9.0]])[..., None]  # (2, 3, 1), padded with 9
exercise.by_hand(
    Question((Model("Adding"), _TWO_SENTENCES, torch.tensor([3, 1]), torch.zeros(2, 1))),
    part=lambda states: states[..., 0],
)


def _draw_empty(rng: random.Random) -> list[Question]:
    d_in, d, b, n = rng.sample([2, 3, 4, 5], 4)
    return [_question(b, n, d_in, d, seed_from(rng), "empty")]


@exercise.stage(
    "a state for each token: (b, n, d)", points=0.25, public=[_question(2, 3, 4, 5, 1, "empty")], view="shape"
)
def _(rng: random.Random) -> list[Question]:
    """Keep the state after every token, and stack them along axis 1: sentences, tokens, width."""
    return _draw_empty(rng)


@exercise.stage(
    "all sentences equally long, from an empty state",
    points=0.75,
    public=[_question(2, 3, 4, 5, 1, "empty"), _question(3, 3, 2, 2, 2, "empty")],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Step t reads x[:, t], the tokens number t of all sentences, and the state that step t - 1 has left."""
    return _draw_empty(rng)


@exercise.stage("from a state that is given", points=0.75, public=[_question(2, 4, 3, 2, 3), _question(3, 3, 2, 2, 4)])
def _(rng: random.Random) -> list[Question]:
    """The first step reads `state`, not zeros; what comes back begins with the state after the first token."""
    b, n, d_in, d = rng.sample([2, 3, 4, 5], 4)
    return [_question(b, n, d_in, d, seed_from(rng))]


@exercise.stage(
    "padding leaves the state",
    points=1.25,
    public=[_question(4, 5, 2, 3, 5, "shorter"), _question(4, 4, 2, 2, 6, "shorter")],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """A sentence with lengths[s] tokens has its last new state at t = lengths[s] - 1. From then on, its state stays
    what it is: torch.where(t < lengths, new, old), with an axis for the width.
    """
    b, n = rng.sample([4, 5, 6], 2)
    d_in, d = rng.sample([2, 3, 4], 2)
    return [_question(b, n, d_in, d, seed_from(rng), "shorter"), _question(4, 4, d, d, seed_from(rng), "shorter")]


def _cleaned_and_multiplied(cell: Any, x: Tensor, lengths: Tensor, state: Tensor) -> Tensor:
    """Returns the states where padding is cleaned, and multiplied by 0 in place of a choice."""
    x, states = torch.nan_to_num(x), list[Tensor]()
    for t in range(x.shape[1]):
        real = (t < lengths)[:, None].to(x.dtype)
        state = real * cell(x[:, t], state) + (1 - real) * state
        states.append(state)
    return torch.stack(states, dim=1)


def _overflowing(b: int, n: int, d_in: int, d: int, seed: int) -> Question:
    """Returns a question whose padding overflows in the cell also where the largest numbers stand for infinity."""
    return until(
        count(seed),
        lambda seed: _question(b, n, d_in, d, seed, "not finite", spread=4.0),
        lambda ask: bool(_cleaned_and_multiplied(*build_inputs(ask.inputs)).isnan().any()),
    )


def _standing_still(b: int, seed: int) -> Question:
    """Returns a question in which a step leaves all states exactly as they are, and the next one does not.

    Tokens are so large that each number of a state is 1 or -1, and the second token is the first one once more.
    """
    x = 1e6 * values(b, 4, 3, seed=seed)
    x[:, 1], x[:, 2] = x[:, 0], -x[:, 0]
    cell = Model("RNNCell", {"input_size": 3, "hidden_size": 2}, seed, spread=0.5)
    return Question((cell, x, torch.full((b,), 4), values(b, 2, seed=seed + 1, size=0.7)))


@exercise.stage(
    "whatever padding and tokens hold",
    points=0.5,
    public=[
        _question(3, 4, 2, 2, 9, "not finite"),
        _overflowing(3, 3, 2, 2, 12),
        _question(2, 3, 2, 6, 10, "zeros"),
        _standing_still(2, 13),
    ],
)
def _(rng: random.Random) -> list[Question]:
    """Padding may hold NaN or infinity, which 0 times does not remove: choose, with torch.where. And a token may be all
    zeros: what is padding, `lengths` alone says.
    """
    # Draws padding and tokens of an odd kind, the latter with wider states than all other stages.
    # So it is there that most gradients pass, and the question about gradients is about several steps.
    b, n, d_in = rng.sample([3, 4, 5], 3)
    return [
        _question(b, n, d_in, 2, seed_from(rng), "not finite"),
        _overflowing(b, n, d_in, 2, seed_from(rng)),
        _question(n, b, 2, 6, seed_from(rng), "zeros"),
        _standing_still(rng.randint(2, 3), seed_from(rng)),
    ]


@exercise.stage(
    "one token, one sentence, no sentence of n tokens",
    points=0.5,
    public=[_question(3, 1, 2, 4, 7), _question(1, 3, 4, 2, 8), _question(2, 4, 3, 2, 11, "all shorter")],
)
def _(rng: random.Random) -> list[Question]:
    """With n = 1 or b = 1 the result has three axes still. It has n states also where no sentence is that long."""
    d_in, d, b = rng.sample([2, 3, 4, 5], 3)
    return [
        _question(b, 1, d_in, d, seed_from(rng)),
        _question(1, b, d_in, d, seed_from(rng)),
        _question(max(b, 3), d_in + 2, d_in, d, seed_from(rng), "two lengths"),
    ]


exercise.large += [_question(2, 70, 1, 2, 31, spread=1.0)]


@exercise.corners("padding leaves the state", b=(1, 2, range(33, 36)), n=(1, 2, range(65, 68)), shortest=("1", "n"))
def _(rng: random.Random, b: int, n: int, shortest: str) -> Question | None:
    """Asks about one sentence and about many, of one token and of many, padded or not."""
    if b * n > 300:
        return None
    cell, x, _, state = _question(b, n, 1, 2, seed_from(rng)).inputs
    lengths = [n if shortest == "n" else 1, *(rng.randint(1, n) for _ in range(b - 1))]
    return Question((cell, x, torch.tensor(rng.sample(lengths, b)), state))
