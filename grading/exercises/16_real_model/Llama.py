"""Exercise Llama of notebook 16."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from grading.definitions.definition import Definition, Stage
from grading.exercises.draws import Draw, fixed, seed_from
from helpers.heads import attend, causal_mask, merge_heads, split_heads
from helpers.models import rotary_angles, rotate
from tutor.checking.answers import Question

from ._common import Projections, RMSNorm, SwiGLU, _tokens, _values

exercise = Definition(
    minutes=45,
    difficulty=3,
    forbids=("helpers.llama.Llama", "helpers.llama.LlamaLayer", "helpers.llama.GroupedAttention"),
)
Pair = tuple[Tensor, Tensor]
Kept = list[Pair]


class Way(NamedTuple):
    """How a model of this shape computes; all but the defaults are ways in which it goes wrong."""

    positions: str = "on"
    based: bool = True
    eps: bool = True
    turns: str = "query and key"
    halves: bool = False
    keeps: str = "turned"
    spread: str = "repeat_interleave"
    mask: str = "causal"
    norm: str = "before"
    scaled: bool = False
    layers: str = "each"
    end: str = "logits"


UNTURNED = ("as they are", "before they are turned")  # ways of keeping in which a call turns all keys that it reads


class LlamaLayer(nn.Module):
    def __init__(
        self, d_model: int, n_heads: int, n_groups: int, d_feedforward: int, base: float, eps: float, way: Way
    ) -> None:
        super().__init__()
        self.base, self.way = base if way.based else 10000.0, way
        self.attention_norm, self.attention = RMSNorm(d_model, eps), Projections(d_model, n_heads, n_groups)
        self.feed_forward_norm, self.feed_forward = RMSNorm(d_model, eps), SwiGLU(d_model, d_feedforward)

    def turned(self, x: Tensor, first: int) -> Tensor:
        """Returns heads `(b, h, n, w)` turned by the positions from `first` on."""
        width = x.size(-1)
        angles = rotary_angles(torch.arange(first, first + x.size(2), device=x.device), width, self.base)
        if not self.way.halves:
            return rotate(x, angles)
        order = torch.arange(width).unflatten(0, (2, -1)).T.flatten()  # 0, w/2, 1, w/2 + 1, ...
        return rotate(x[..., order], angles)[..., order.argsort()]

    def heads(self, y: Tensor, first: int) -> tuple[Tensor, Tensor, Tensor]:
        """Returns queries, keys and values of new tokens, as they are read and kept."""
        way, part = self.way, self.attention
        query = split_heads(part.query(y), part.n_heads)
        key, value = (split_heads(matrix(y), part.n_groups) for matrix in (part.key, part.value))
        query = self.turned(query, first) if "query" in way.turns else query
        key = self.turned(key, first) if "key" in way.turns and way.keeps not in UNTURNED else key
        value = self.turned(value, first) if "value" in way.turns else value
        if way.spread == "before keeping":
            key, value = (self.shared_out(x) for x in (key, value))
        return query, key, value

    def shared_out(self, x: Tensor) -> Tensor:
        """Returns `(b, h, m, w)` of keys or values `(b, g, m, w)`."""
        times = self.attention.n_heads // x.size(1)
        return x.repeat(1, times, 1, 1) if self.way.spread == "turns" else x.repeat_interleave(times, dim=1)

    def read(self, y: Tensor, kept: Pair | None) -> tuple[Tensor, Pair]:
        """Returns what the attention adds, and what is kept."""
        way, n, past = self.way, y.size(1), 0 if kept is None else kept[0].size(2)
        query, key, value = self.heads(y, {"on": past, "anew": 0, "one late": past + (past > 0)}[way.positions])
        if kept is not None and way.keeps != "nothing":
            old = [self.shared_out(x) if way.spread == "before keeping" else x for x in kept]
            key, value = torch.cat([old[0], key], dim=2), torch.cat([old[1], value], dim=2)
        made = (key[:, :, -n:], value[:, :, -n:]) if way.keeps == "the new ones" else (key, value)
        key = self.turned(key, 0) if way.keeps in UNTURNED else key  # all of them, anew in each call
        made = (key, value) if way.keeps == "as they are" else made
        m = key.size(2)
        mask = torch.zeros(m, m) if way.mask == "none" else causal_mask(m, y.device)
        mask = mask[:n] if way.mask == "first rows" else mask[-n:]
        mixed = attend(query, self.shared_out(key), self.shared_out(value), mask)
        return self.attention.output(merge_heads(mixed)), made

    def forward(self, x: Tensor, kept: Pair | None) -> tuple[Tensor, Pair]:
        norm = self.way.norm
        y = x if norm in ("none", "after") else self.attention_norm(x)
        added, made = self.read(y, kept)
        x = added + {"on the path": y, "no residual": 0}.get(norm, x)
        if norm == "after":
            x = self.attention_norm(x)
            return self.feed_forward_norm(x + self.feed_forward(x)), made
        y = x if norm == "none" else self.feed_forward_norm(x)
        return self.feed_forward(y) + {"on the path": y, "no residual": 0}.get(norm, x), made


@exercise.reference
class Llama(nn.Module):
    way = Way()

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        n_layers: int,
        n_heads: int,
        n_groups: int,
        d_feedforward: int,
        base: float = 10000.0,
        eps: float = 1e-5,
    ) -> None:
        super().__init__()
        eps = eps if self.way.eps else 1e-6
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.layers = nn.ModuleList(
            LlamaLayer(d_model, n_heads, n_groups, d_feedforward, base, eps, self.way) for _ in range(n_layers)
        )
        self.norm = RMSNorm(d_model, eps)

    def forward(self, tokens: Tensor, cache: Kept | None = None) -> tuple[Tensor, Kept]:
        x, kept = self.embedding(tokens) * (self.embedding.embedding_dim**0.5 if self.way.scaled else 1.0), Kept()
        for number, layer in enumerate(self.layers):
            layer = self.layers[0] if self.way.layers == "the first" else layer
            old = None if not cache else cache[0 if self.way.layers == "the first cache" else number]
            x, pair = layer(x, old)
            kept.append(pair)
        return self.scores(x), kept

    def scores(self, x: Tensor) -> Tensor:
        """Returns the logits `(b, n, V)` of the last layer's output."""
        logits: Tensor = (x if self.way.end == "no norm" else self.norm(x)) @ self.embedding.weight.T
        return logits.softmax(dim=-1) if self.way.end == "probabilities" else logits


NAMES = ("vocab_size", "d_model", "n_layers", "n_heads", "n_groups", "d_feedforward")
SIZES = ((8, 2, 1, 6), (8, 4, 2, 6), (8, 1, 1, 9), (12, 3, 1, 6), (8, 2, 2, 6))  # d, h, g, F; a head has an even width


def _build(rng: random.Random, size: tuple[int, ...], layers: int = 1, **options: float) -> dict[str, Any]:
    """Returns the sizes of a model; of one layer where a second one would show nothing more, and cost half as much."""
    return dict(zip(NAMES, (rng.randint(6, 9), size[0], layers, *size[1:]), strict=True)) | options


@cache
def _shapes(**build: Any) -> dict[str, tuple[int, ...]]:
    return {name: tuple(parameter.shape) for name, parameter in Llama(**build).named_parameters()}


def _weights(rng: random.Random, build: dict[str, Any]) -> dict[str, Tensor]:
    weights = {}
    for name, shape in _shapes(**build).items():
        drawn = _values(*shape, seed=seed_from(rng), size=0.8)
        weights[name] = drawn + 1 if len(shape) == 1 else drawn
    return weights | {"embedding.weight": _away_from_zero(weights["embedding.weight"])}


def _away_from_zero(x: Tensor) -> Tensor:
    """Returns tokens none of which is so small that a small eps shows: what becomes of eps is asked by itself."""
    return x + torch.where(x < 0, -0.5, 0.5)


def _pair(rng: random.Random, build: dict[str, Any], b: int, past: int) -> Pair:
    """Returns drawn keys and values of a layer."""
    sizes = b, build["n_groups"], past, build["d_model"] // build["n_heads"]
    return _values(*sizes, seed=seed_from(rng)), _values(*sizes, seed=seed_from(rng))


def _asked(rng: random.Random, build: dict[str, Any], b: int, n: int, past: int = 0) -> Question:
    """Returns a question about `n` new tokens after `past` others, with drawn weights and a drawn cache."""
    weights = _weights(rng, build)
    pairs = [_pair(rng, build, b, past) for _ in range(build["n_layers"])]
    tokens = _tokens(rng, b, n, build["vocab_size"])
    return Question((tokens, pairs) if past else (tokens,), build=build, weights=weights)


def _layer(rng: random.Random, build: dict[str, Any], b: int, n: int, past: int = 0) -> Question:
    """Returns a question about a layer by itself, the last one."""
    x = _away_from_zero(_values(b, n, build["d_model"], seed=seed_from(rng)))
    inputs = x, _pair(rng, build, b, past) if past else None
    part = f"layers.{build['n_layers'] - 1}"
    return Question(inputs, build=build, weights=_weights(rng, build), probe="part", part=part)


TINY = 1 / 256  # times a row of the embedding: its mean square is about as large as the eps that is left out


def _of_tiny_values(rng: random.Random, **options: float) -> Question:
    """Returns a question in which the eps of every norm matters: tokens are tiny, and parts add next to nothing."""
    ask = _asked(rng, _build(rng, SIZES[0], 2, **options), 1, 3)
    weights = dict(ask.weights) if isinstance(ask.weights, dict) else {}
    for name, factor in (("embedding", TINY), ("attention.output", TINY / 16), ("feed_forward.output", TINY / 16)):
        weights |= {own: weight * factor for own, weight in weights.items() if f"{name}.weight" in own}
    return replace(ask, weights=weights | {"norm.weight": weights["norm.weight"] / TINY})


def _one(rng: random.Random) -> list[Question]:
    return [_asked(rng, _build(rng, SIZES[1], 2), 1, 1)]


def _several(rng: random.Random) -> list[Question]:
    return [_asked(rng, _build(rng, SIZES[0], 2), 2, rng.randint(3, 4)), _asked(rng, _build(rng, SIZES[1]), 1, 3)]


def _bases(rng: random.Random) -> list[Question]:
    asks = [_asked(rng, _build(rng, SIZES[0], 2, base=100.0, eps=0.25), 1, 5)]
    asks += [_asked(rng, _build(rng, SIZES[0]), 1, 1, 12)]
    return [*asks, _of_tiny_values(rng), _of_tiny_values(rng, base=100.0, eps=1e-4)]


def _one_more(rng: random.Random) -> list[Question]:
    return [
        _asked(rng, _build(rng, SIZES[0], base=50.0, eps=1e-5), 1, 1, 3),
        _asked(rng, _build(rng, SIZES[1], 2), 2, 1, 5),
    ]


def _some_more(rng: random.Random) -> list[Question]:
    return [
        _asked(rng, _build(rng, SIZES[0], 2, base=50.0, eps=1e-5), 2, 3, 2),
        _asked(rng, _build(rng, SIZES[0]), 1, 2, 12),
    ]


def _kinds(rng: random.Random) -> list[Question]:
    return [_asked(rng, _build(rng, size), 1, 3, past) for size, past in zip(SIZES[2:], (0, 2, 3), strict=True)]


def _layers(rng: random.Random) -> list[Question]:
    """Returns questions about the second of two layers, and about one of a model without another."""
    return [
        _layer(rng, _build(rng, size, layers, base=50.0), 2, 3, past)
        for size, layers, past in zip(SIZES[:2], (2, 1), (0, 4), strict=True)
    ]


def _all_sizes(rng: random.Random) -> list[Question]:
    return [*_one_more(rng)[1:], *_several(rng)[1:], *_kinds(rng)[:2], *_layers(rng)[1:]]


def _parameters(rng: random.Random) -> list[Question]:
    """Returns questions on names and shapes; what the state has beyond the parameters is the same for every size."""
    of_two = Question(build=_build(rng, SIZES[0], 2), probe="parameters")
    return [of_two, *(Question(build=_build(rng, SIZES[1]), probe=probe) for probe in ("parameters", "state"))]


def _stage(name: str, points: float, feedback: str, draw: Draw, seed: int, **options: Any) -> Stage:
    return Stage(name, points, feedback, fixed(draw, seed), draw, **options)


OF_A_NORM = 1e-3  # tolerance: where the numbers of a token are small, a norm makes rounding large

exercise.add(
    _stage(
        "names and shapes of the parameters",
        0.5,
        "embedding, layers and norm; in each layer attention_norm, attention (the Projections), feed_forward_norm and "
        "feed_forward (a SwiGLU). The head has no weights of its own, and no second name for those of the embedding. "
        "Nothing has a bias or a buffer.",
        _parameters,
        1,
        view="parameters",
    ),
    _stage(
        "logits, and a pair for each layer",
        0.25,
        "Return two things: logits (b, n, V), and a list with a pair (keys, values) of each layer, (b, g, m + n, d/h) "
        "each: there are g heads of them, and they are kept before they are shared out. It is so without a cache, too, "
        "and for one head or one group. A layer returns x, (b, n, d), and its pair.",
        _all_sizes,
        2,
        view="shape",
    ),
    _stage(
        "one token",
        0.5,
        "The embedding as it is, the layers, the last norm, then the product with each row of the embedding. In a "
        "layer: x + part(norm(x)), twice. One token sees itself, and at position 0 nothing is turned.",
        _one,
        3,
        tolerance=OF_A_NORM,
    ),
    _stage(
        "several tokens",
        1,
        "Token i sees itself and what stands before it. Its query and its key are turned by its position, and the key "
        "is kept so; the value is not turned; the first h / g heads read group 0.",
        _several,
        4,
        decisive=True,
        tolerance=OF_A_NORM,
    ),
    _stage(
        "a layer by itself",
        0.5,
        "`layer(x, kept)` is x + attention(norm(x)), then x + feed_forward(norm(x)). Positions, angles and mask follow "
        "from x and kept; with None nothing was read before.",
        _layers,
        9,
        tolerance=OF_A_NORM,
    ),
    _stage(
        "another base and another eps, or none",
        0.5,
        "base belongs to the angles of every layer, and eps to every norm, the last one too. Left out, they are 10000 "
        "and 1e-5.",
        _bases,
        5,
        tolerance=OF_A_NORM,
    ),
    _stage(
        "one new token, with a cache",
        1,
        "Its position is the number m of tokens read before. Kept keys have been turned by their own positions "
        "already: put the new key, turned by its position, behind them, and keep all m + 1.",
        _one_more,
        6,
        decisive=True,
        tolerance=OF_A_NORM,
    ),
    _stage(
        "several new tokens, with a cache",
        0.5,
        "Their positions go on from m. Each sees all that was read before, and of the new ones itself and those before "
        "it: the last n rows of the causal mask of all m + n tokens.",
        _some_more,
        7,
        tolerance=OF_A_NORM,
    ),
    _stage(
        "other numbers of heads and groups",
        0.25,
        "One head, one group for three heads, as many groups as heads: all sizes follow from the arguments.",
        _kinds,
        8,
        tolerance=OF_A_NORM,
    ),
)


def _sized(rng: random.Random, layers: int, h: int, g: int, width: int = 2, **options: float) -> dict[str, Any]:
    """Returns the sizes of a model of heads with `width` numbers."""
    return _build(rng, (max(h * width, 4), h, g, 6), layers, **options)


@exercise.corners("names and shapes of the parameters", layers=(1, range(11, 13)), h=(1, 2, 9), g=("one", "all"))
def _(rng: random.Random, layers: int, h: int, g: str) -> Question | None:
    """Asks about all kinds of heads in one layer, and about numbers of layers with two digits once."""
    if (layers > 1 and h != 2) or (h == 1 and g == "all") or (layers > 1 and g == "all"):
        return None
    return Question(build=_sized(rng, layers, h, 1 if g == "one" else h, rng.choice([4, 6])), probe="parameters")


@exercise.corners("several tokens", b=(1, range(33, 36)), n=(2, range(33, 36), range(101, 104), range(601, 604)))
def _(rng: random.Random, b: int, n: int) -> Question | None:
    return None if b > 1 and n > 2 else _asked(rng, _sized(rng, 1, 2, 1), b, n)


@exercise.corners("another base and another eps, or none", base=(2.0, 1e6), eps=(1e-8, 1.0))
def _(rng: random.Random, base: float, eps: float) -> Question:
    return _asked(rng, _sized(rng, 1, 1, 1, 4, base=base, eps=eps), 1, 3)


@exercise.corners(
    "one new token, with a cache", past=(1, range(33, 36), range(301, 304), range(601, 604)), b=(1, range(33, 36))
)
def _(rng: random.Random, past: int, b: int) -> Question | None:
    return None if past > 30 and b > 1 else _asked(rng, _sized(rng, 1, 2, 1), b, 1, past)


@exercise.corners("several new tokens, with a cache", past=(1, range(101, 104)), n=(2, range(33, 36)))
def _(rng: random.Random, past: int, n: int) -> Question:
    return _asked(rng, _sized(rng, 1, 2, 1), 1, n, past)


@exercise.corners("other numbers of heads and groups", layers=(1, 3), h=(1, 2, 6), g=("one", "all"), past=(0, 2))
def _(rng: random.Random, layers: int, h: int, g: str, past: int) -> Question | None:
    """Asks about three layers where there are two heads; one head has one group, whatever that is called."""
    if (layers > 1 and h != 2) or (h == 1 and g == "all"):
        return None
    return _asked(rng, _sized(rng, layers, h, 1 if g == "one" else h), 1, 2, past)
