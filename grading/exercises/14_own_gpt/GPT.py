"""Exercise GPT of notebook 14."""

from __future__ import annotations

import math
import random
from typing import Any

import torch
from torch import Tensor, nn

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, seed_from
from helpers.heads import Attention, causal_mask
from tutor.checking.answers import Question
from tutor.checking.building import build as built
from tutor.checking.plain import Model

from ._common import FeedForward, TokenEmbedding, _normal, _tokens


class Layer(nn.Module):
    """A pre-norm layer; subclasses change one thing each."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, n_heads)
        self.feed_forward_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, 4 * d_model)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x = x + self.attention(self.attention_norm(x), mask)
        result: Tensor = x + self.feed_forward(self.feed_forward_norm(x))
        return result


exercise = Definition(
    minutes=25,
    difficulty=2,
    forbids=(
        "helpers.models.TransformerBase",
        "helpers.models.LanguageModel",
        "helpers.models.Layer",
        "helpers.llama.Llama",
    ),
)


@exercise.reference
class GPT(nn.Module):
    """The reference; subclasses change one thing each."""

    layer: type[Layer] = Layer

    def __init__(self, vocab_size: int, d_model: int, n_layers: int, n_heads: int, max_len: int) -> None:
        super().__init__()
        self.embedding = TokenEmbedding(vocab_size, d_model)
        self.position = nn.Parameter(torch.randn(max_len, d_model))
        self.layers = nn.ModuleList(self.layer(d_model, n_heads) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)

    def begin(self, tokens: Tensor) -> Tensor:
        found: Tensor = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim)
        return found + self.position[: tokens.shape[1]]

    def mask(self, size: int) -> Tensor:
        return causal_mask(size)

    def end(self, x: Tensor) -> Tensor:
        logits: Tensor = self.norm(x) @ self.embedding.weight.T
        return logits

    def forward(self, tokens: Tensor) -> Tensor:
        x, mask = self.begin(tokens), self.mask(tokens.shape[1])
        for layer in self.layers:
            x = layer(x, mask)
        return self.end(x)


OF_A_NORM = 4e-3  # tolerance: where the numbers of a token hardly differ, a norm makes rounding large
FAR = 10  # times what a token begins with: its numbers differ so much that no eps up to 1e-3 shows, and none is asked
SMALL = {"vocab_size": 7, "d_model": 4, "n_layers": 1, "n_heads": 2, "max_len": 6}
TWO = SMALL | {"n_layers": 2}  # for what one layer does not show; each takes time


def _build(rng: random.Random, layers: int = 2) -> dict[str, Any]:
    d, h = rng.choice([(8, 2), (6, 3), (8, 4)])
    return dict(zip(SMALL, [rng.randint(8, 12), d, layers, h, rng.randint(7, 9)], strict=True))


def _weights(build: dict[str, Any], seed: int) -> dict[str, Tensor]:
    """Returns weights of a ready model of the same make, in which norms and biases too are moved."""
    options = {"d_feedforward": 4 * build["d_model"], "positions": "learned", "norm_first": True}
    weights: dict[str, Tensor] = built(Model("TransformerBase", build | options, seed, spread=0.3, state=True))
    first = {name: FAR * weights[name] for name in ("embedding.weight", "position")}
    last = {name: weights[name] / FAR for name in ("norm.weight", "norm.bias")}  # the head has the embedding, too
    return weights | first | last


def _asked(rng: random.Random, b: int, n: int, build: dict[str, Any]) -> Question:
    tokens = _tokens(rng, b, n, build["vocab_size"])
    tokens[0, 0], tokens[0, -1] = 1, 2
    return Question((tokens,), build=build, weights=_weights(build, seed_from(rng)))


def _drawn(b: int, n: int, layers: int = 1) -> Draw:
    """Draws questions of `n` tokens; -1 stands for fewer than there are positions."""

    def draw(rng: random.Random) -> list[Question]:
        build = _build(rng, layers)
        length = n if n > 0 else build["max_len"] - rng.randint(2, 3)
        return [_asked(rng, b, length, build)]

    return draw


def _known(b: int, n: int, build: dict[str, Any] = SMALL) -> list[Question]:
    return [_asked(random.Random(900 + b * n), b, n, build)]


@exercise.stage(
    "names and shapes of the parameters",
    points=0.5,
    public=[Question(build=TWO, probe="parameters")],
    view="parameters",
)
def _(rng: random.Random) -> list[Question]:
    """embedding, position, layers and norm; in each layer attention_norm, attention, feed_forward_norm and
    feed_forward, a FeedForward of 4 * d_model numbers inside. Each layer is made by itself: `[Layer(...)] * n_layers`
    is one layer with n_layers names. The head is the embedding once more, and no module: a Linear that shares the
    weight is one more entry of `state_dict`, by another name. No buffers either.
    """
    return [Question(build=_build(rng), probe="parameters") for _ in range(2)]


@exercise.stage("logits of shape (b, n, V)", points=0.25, public=_known(2, 3), view="shape")
def _(rng: random.Random) -> list[Question]:
    """At each position one score for each token of the vocabulary."""
    return _drawn(3, 4)(rng)


@exercise.stage("one token", points=0.75, public=_known(1, 1, TWO), tolerance=OF_A_NORM)
def _(rng: random.Random) -> list[Question]:
    """The embedding times sqrt(d), plus the position; the layers, each of them x + part(norm(x)), twice; the last norm;
    then the product with each row of the embedding. One token sees itself.
    """
    return _drawn(1, 1)(rng)


@exercise.stage(
    "several tokens, fewer than there are positions",
    points=1.75,
    public=[*_known(1, 4, TWO), _asked(random.Random(38), 1, 5, TWO)],
    decisive=True,
    tolerance=OF_A_NORM,
)
def _(rng: random.Random) -> list[Question]:
    """Token i has position i, and sees itself and what stands before it. In a layer: x + part(norm(x)), twice, with a
    norm of its own for each part.
    """
    return _drawn(1, -1, 2)(rng)


def _new(width: int) -> Question:
    """Returns a question about the first numbers of a model so large that chance does not change what is said.

    Of 5,880 normal numbers a share of 0.68 is known to 0.006: one decimal of it is 0.7 but once in millions of times.
    """
    build = dict(zip(SMALL, [120, width, 1, 1, 120], strict=True))
    return Question(build=build, probe="first numbers", entries=("position: *", "embedding.weight: s*"))


@exercise.stage("a new model: the numbers with which positions and embedding begin", points=0.25, public=[_new(64)])
def _(rng: random.Random) -> list[Question]:
    """A position is an nn.Parameter of torch.randn(max_len, d_model): each number is drawn by itself, with mean 0 and
    standard deviation 1, as large as what the embedding, times sqrt(d), adds to it. The embedding is a TokenEmbedding,
    whose rows begin with a length of about 1: a standard deviation of 1 / sqrt(d).
    """
    return [_new(rng.choice([49, 64, 81]))]


def _layer(rng: random.Random, n: int, build: dict[str, Any]) -> Question:
    """Returns a question about a layer alone, with a mask that is not the causal one."""
    mask = torch.zeros(n, n)
    mask[:, rng.randrange(n - 1)] = -torch.inf
    x = _normal(seed_from(rng), 1, n, build["d_model"], size=FAR)
    return Question((x, mask), build=build, weights=_weights(build, seed_from(rng)), probe="part", part="layers.1")


@exercise.stage(
    "several texts, as long as there are positions",
    points=0.5,
    public=[*_known(3, 6), _layer(random.Random(7), 4, TWO)],
    tolerance=OF_A_NORM,
)
def _(rng: random.Random) -> list[Question]:
    """All texts of a batch have the same positions and mask. A layer goes by the mask that it is given."""
    build = _build(rng)
    return [_asked(rng, 3, build["max_len"], build), _layer(rng, 4, build)]


@exercise.corners(
    "several tokens, fewer than there are positions",
    n=(1, 2, range(33, 36), range(111, 114)),
    layers=(1, range(3, 5)),
    heads=("one", "as many as numbers"),
)
def _(rng: random.Random, n: int, layers: int, heads: str) -> Question | None:
    """Asks about longer texts and other depths; there are as many positions as tokens, or more."""
    if layers > 1 and 2 < n < 100:
        return None
    values = (7, 4, layers, 1 if heads == "one" else 4, n + rng.randint(0, 2))
    return _asked(rng, 1, n, dict(zip(SMALL, values, strict=True)))


@exercise.corners("several texts, as long as there are positions", b=(1, range(33, 36)), n=(1, 2))
def _(rng: random.Random, b: int, n: int) -> Question:
    return _asked(rng, b, n, dict(zip(SMALL, (7, 4, 1, 2, n), strict=True)))
