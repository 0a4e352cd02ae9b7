"""Exercise order_blindness of notebook 02."""

from __future__ import annotations

import random
from itertools import count
from typing import Any

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, both, seed_from, until
from tutor.checking.answers import Question
from tutor.checking.building import build
from tutor.checking.plain import Model

exercise = Definition(minutes=10, difficulty=1)


@exercise.reference
def order_blindness(encoder: Any, x: Tensor, permutation: Tensor) -> float:
    with torch.no_grad():
        permuted_after = encoder(x)[:, permutation]
        permuted_before = encoder(x[:, permutation])
    return float((permuted_after - permuted_before).abs().max())


def _encoder(seed: int, positions: str = "none", causal: bool = False) -> Model:
    shape = {"vocab_size": 12, "d_model": 8, "n_layers": 2, "n_heads": 2, "dropout": 0.0, "max_len": 16}
    return Model("TransformerBase", shape | {"positions": positions, "causal": causal}, seed)


def _sentences(b: int, n: int, seed: int) -> Tensor:
    """Returns b sentences of n words, of which each has no word twice."""
    return torch.rand(b, 12, generator=torch.Generator().manual_seed(seed)).argsort(dim=1)[:, :n].contiguous()


def _turning(n: int, seed: int) -> Tensor:
    """Returns a permutation that is not its own inverse."""
    return until(
        count(seed),
        lambda seed: torch.randperm(n, generator=torch.Generator().manual_seed(seed)),
        lambda permutation: not torch.equal(permutation[permutation], torch.arange(n)),
    )


def _blind(b: int, n: int, seed: int, positions: str = "none", causal: bool = False) -> Question:
    return Question((_encoder(seed, positions, causal), _sentences(b, n, seed), _turning(n, seed)))


def _differences(ask: Question) -> Tensor:
    """Returns all differences between the two ways, `(b, n, d)`."""
    encoder, (x, permutation) = build(ask.inputs[0]), ask.inputs[1:]
    with torch.no_grad():
        differences: Tensor = encoder(x)[:, permutation] - encoder(x[:, permutation])
    return differences


def _seeing(
    b: int, n: int, seed: int, positions: str = "none", causal: bool = False, *, inside: bool = False
) -> Question:
    """Returns a question whose largest difference is negative: `max` without `abs` gives another number.

    It is also the difference of a word that moves.

    Args:
        inside: it also stands neither in the first or last sentence, nor at the first or last word or number.
    """

    def fits(ask: Question) -> bool:
        change = _differences(ask)
        sizes = change.abs()
        stays = ask.inputs[2] == torch.arange(n)
        others = [change.max(), *sizes[:, stays].flatten()]
        if inside:
            others += [part.max() for axis in range(3) for part in (sizes.select(axis, 0), sizes.select(axis, -1))]
        return float(sizes.max() - torch.stack(others).max()) > 0.05

    return until(count(seed), lambda seed: _blind(b, n, seed, positions, causal), fits)


def _draw_blind(*sizes: tuple[int, int], see: bool = False, **options: Any) -> Draw:
    make = _seeing if see else _blind
    return lambda rng: [make(b, n, seed_from(rng), **options) for b, n in sizes]


@exercise.stage("an encoder without positions: 0", points=0.25, public=[_blind(5, 5, 1), _blind(6, 4, 2)])
def _(rng: random.Random) -> list[Question]:
    """Encode, then take the outputs in the new order; put the words in the new order, then encode. Without positions
    the two must agree.
    """
    return _draw_blind((5, 5), (7, 6))(rng)


@exercise.stage(
    "another kind of encoder",
    points=0.5,
    public=[_seeing(4, 4, 5, "sinusoidal", inside=True), _seeing(1, 5, 6, "learned")],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """With positions the order counts. Return one number, the largest absolute difference of all: of all sentences, not
    of one of them, all words and all numbers of a hidden state.
    """
    return _draw_blind((4, 4), (1, 6), see=True, positions="sinusoidal")(rng)


@exercise.stage(
    "several sentences of any length", points=0.75, public=[_blind(3, 6, 3), _seeing(3, 5, 4, "rotary", inside=True)]
)
def _(rng: random.Random) -> list[Question]:
    """x is (b, n) and the outputs are (b, n, d): the words stand along axis 1 in both. The largest difference may stand
    in any sentence, at any word and in any of the d numbers.
    """
    return _draw_blind((2, 7), (6, 5), see=True, positions="rotary")(rng)


def _staying(n: int, seed: int) -> Tensor:
    """Returns a permutation of 4 words or more that is not its own inverse, and leaves one word where it is."""
    position = seed % n
    moved = _turning(n - 1, seed)
    others = [other for other in range(n) if other != position]
    permutation = torch.full((n,), position)
    permutation[others] = torch.tensor(others)[moved]
    return permutation


def _still(b: int, n: int, seed: int) -> Question:
    """Returns a question under a causal mask whose largest difference is that of a word which keeps its position."""

    def make(seed: int) -> Question:
        return Question((_encoder(seed, causal=True), _sentences(b, n, seed), _staying(n, seed)))

    def fits(ask: Question) -> bool:
        sizes, stays = _differences(ask).abs(), ask.inputs[2] == torch.arange(n)
        return float(sizes[:, stays].max() - sizes[:, ~stays].max()) > 0.05

    return until(count(seed, n), make, fits)  # the same word stays


@exercise.stage(
    "one more kind of encoder",
    points=0.5,
    public=[_seeing(2, 5, 7, causal=True), _seeing(3, 4, 8, causal=True, inside=True), _still(2, 6, 2)],
)
def _(rng: random.Random) -> list[Question]:
    """Ask the encoder itself; do not conclude from its settings. Under a causal mask the first word sees one word and
    the last one sees all, and a word that keeps its position may see others than before.
    """
    return both(
        _draw_blind((2, 6), (3, 4), see=True, causal=True),
        lambda rng: [_still(2, 6, 6 * rng.randrange(10**5) + rng.choice([2, 3]))],
    )(rng)


@exercise.corners(
    "several sentences of any length",
    b=(1, range(33, 36)),
    n=(1, 2, 12),
    order=("turned round", "as it was", "shifted"),
)
def _(rng: random.Random, b: int, n: int, order: str) -> Question | None:
    """Asks about a single word and about many sentences, and about an order that leaves all words where they are.

    One word has one order, and two words have two.
    """
    if (n, order) in ((1, "turned round"), (1, "shifted"), (2, "shifted")):
        return None
    positions = list(range(n))
    moved = {"turned round": positions[::-1], "as it was": positions, "shifted": [*positions[1:], 0]}[order]
    seed = seed_from(rng)
    return Question((_encoder(seed, "rotary"), _sentences(b, n, seed), torch.tensor(moved)))
