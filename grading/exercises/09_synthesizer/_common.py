"""What several exercises of notebook 09 share."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from grading.definitions.definition import Stage
from grading.exercises.draws import Draw, both, seed_from
from tutor.checking.answers import Question


def _values(*shape: int, seed: int, size: float = 1.0) -> Tensor:
    """Returns normal numbers with one decimal, so that the file of examples stays short."""
    return (10 * size * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))).round() / 10


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    heads: Tensor = x.unflatten(-1, (n_heads, -1)).transpose(1, 2)
    return heads


def merge_heads(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)


def causal_mask(size: int, device: torch.device | None = None) -> Tensor:
    return torch.full((size, size), -torch.inf, device=device).triu(1)


class SynthesizerAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.hidden = nn.Linear(d_model, d_model)
        self.B = nn.Parameter(torch.randn(n_heads, d_model // n_heads, max_len))
        self.b2 = nn.Parameter(torch.zeros(n_heads, max_len))
        self.value, self.output = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def heads(self, x: Tensor) -> Tensor:  # what the first layer makes of x, (b, h, n, d/h)
        return split_heads(torch.relu(self.hidden(x)), self.n_heads)

    def found(self, x: Tensor) -> Tensor:  # the scores, (b, h, n, n)
        n = x.size(1)
        return self.heads(x) @ self.B[:, :, :n] + self.b2[:, None, :n]

    def weights(self, x: Tensor) -> Tensor:
        """Returns the attention weights `(b, h, n, n)`; each answer has this method, and the check calls it."""
        return torch.softmax(self.found(x) + causal_mask(x.size(1), x.device), dim=-1)

    def mixed(self, x: Tensor) -> Tensor:  # the merged heads before the output projection, (b, n, d)
        return merge_heads(self.weights(x) @ split_heads(self.value(x), self.n_heads))

    def forward(self, x: Tensor) -> Tensor:
        projected: Tensor = self.output(self.mixed(x))
        return projected


@cache
def _shapes(kind: Callable[..., nn.Module], *build: tuple[str, Any]) -> dict[str, torch.Size]:
    """Returns the shapes of a module's parameters by name."""
    return {name: parameter.shape for name, parameter in kind(**dict(build)).named_parameters()}


def _weights(kind: Callable[..., nn.Module], build: dict[str, Any], seed: int) -> dict[str, Tensor]:
    """Returns weights for a module by name; biases differ from 0, so that none can be left out unseen."""
    return {
        name: _values(*shape, seed=1000 * seed + number, size=0.7)
        for number, (name, shape) in enumerate(_shapes(kind, *build.items()).items())
    }


SIZES = ((12, 4), (15, 3), (10, 5), (14, 2))  # d, h


def _draw_build(rng: random.Random) -> dict[str, Any]:
    d, h = rng.choice(SIZES)
    return {"d_model": d, "n_heads": h, "max_len": rng.choice([7, 8, 9, 11])}


def _module(kind: type[nn.Module], seed: int, b: int, n: int, d: int, h: int, max_len: int) -> Question:
    build = {"d_model": d, "n_heads": h, "max_len": max_len}
    return Question((_values(b, n, d, seed=seed),), build=build, weights=_weights(kind, build, seed))


def _large_scores(kind: type[nn.Module], seed: int, n: int, d: int, h: int, max_len: int) -> Question:
    """Returns a question with scores far above 100 and far below -100; those of the future are the highest."""
    ask = _module(kind, seed, 2, n, d, h, max_len)
    weights = dict(ask.weights)  # type: ignore[arg-type]
    positions = torch.arange(max_len)
    if kind is SynthesizerAttention:
        weights["b2"] = weights["b2"] + 150 - 300 * (torch.arange(h) % 2)[:, None] + 200 * (positions == n - 1)
    else:
        rows = 150 - 300 * (positions % 2)
        weights["scores"] = weights["scores"] + rows[:, None] + 400 * (positions > positions[:, None])
    return replace(ask, weights=weights)


def _low_scores(kind: type[nn.Module], seed: int, n: int, d: int, h: int, max_len: int) -> Question:
    """Returns a question with scores of -30,000 and more, each 20,000 above the one before it.

    Any number that somebody may put for minus infinity, or add in its place, leaves the future ahead.
    """
    ask = _module(kind, seed, 2, n, d, h, max_len)
    weights = dict(ask.weights)  # type: ignore[arg-type]
    name = "b2" if kind is SynthesizerAttention else "scores"
    weights[name] = weights[name] - 30_000 + 20_000 * torch.arange(max_len)
    return replace(ask, weights=weights)


def _start_stage(kind: type[nn.Module], of: str, name: str, feedback: str) -> Stage:
    """Returns a stage about the scores that a new module has: what its other parameters do is known.

    The matrices are those that change nothing, and tokens are one-hot, so that the output holds the weights.
    """

    def ask(n: int) -> Question:
        parts = ("hidden", "value", "output") if kind is SynthesizerAttention else ("value", "output")
        weights = {f"{part}.weight": torch.eye(n) for part in parts} | {
            f"{part}.bias": torch.zeros(n) for part in parts
        }
        build = {"d_model": n, "n_heads": 1, "max_len": n}
        if kind is SynthesizerAttention:
            weights["b2"] = torch.zeros(1, n)  # so that B alone tells the positions apart
        return Question((torch.eye(n)[None],), build=build, weights=weights, extra={"of": of})

    return Stage(name, 0.25, feedback, [ask(8)], lambda rng: [ask(rng.randint(9, 14))], measure="start")


def _draw_module(kind: type[nn.Module], what: str = "") -> Draw:
    """Draws sizes that differ, and for one module sentences of two lengths; one has a single sentence."""

    def draw(rng: random.Random) -> list[Question]:
        asks: list[Question] = []
        for d, h in rng.sample(SIZES, 2):
            b, n, more = rng.sample([2, 3, 4, 6, 7], 3)
            n, h = 1 if what == "one token" else max(n, 3), 1 if what == "one head" else h
            max_len, seed = n + more if what == "short" else n, rng.randrange(10**6)
            asks.append(_module(kind, seed, 1 if asks else b, n, d, h, max_len))
            if what == "short":
                asks.append(_module(kind, seed, n, n - 1, d, h, max_len))
        return asks

    return draw


def with_a_zero_token(ask: Question) -> Question:
    """Returns the question with a token, of all its sentences, that is a vector of zeros: a token like any other."""
    tokens = ask.inputs[0].clone()
    tokens[..., 1, :] = 0
    return replace(ask, inputs=(tokens, *ask.inputs[1:]))


def _draw_zero_token(kind: type[nn.Module]) -> Draw:
    def draw(rng: random.Random) -> list[Question]:
        n = rng.randint(4, 6)
        return [with_a_zero_token(_module(kind, seed_from(rng), 2, n, 6, 3, n))]

    return draw


def _draw_large(kind: type[nn.Module]) -> Draw:
    def draw(rng: random.Random) -> list[Question]:
        (d, h), n = rng.choice([size for size in SIZES if size[1] > 2]), rng.randint(4, 6)
        seeds = rng.sample(range(10**6), 2)
        sizes = n, d, h, n + rng.randint(1, 4)
        return [_low_scores(kind, seeds[1], n + 1, d, h, n + 5), _large_scores(kind, seeds[0], *sizes)]

    return draw


def _parameter_stage(points: float, feedback: str) -> Stage:
    return Stage(
        "names and shapes of the parameters",
        points,
        feedback,
        [Question(build={"d_model": 6, "n_heads": 3, "max_len": 5}, probe="parameters")],
        lambda rng: [Question(build=_draw_build(rng), probe="parameters") for _ in range(2)],
        view="parameters",
    )


def _stages(
    kind: type[nn.Module], points: Sequence[float], feedback: str, start: Stage, rows: str, heads: str, cut: str
) -> list[Stage]:
    """Returns the stages that both modules share, with `points` for the last four; the first four have 1 in all."""
    return [
        _parameter_stage(0.25, feedback),
        start,
        Stage(
            "one token: only value and output count",
            0.25,
            "A single token gives all its weight to itself, whatever its score: the result is output(value(x)).",
            [_module(kind, 1, 2, 1, 6, 3, 1)],
            _draw_module(kind, "one token"),
        ),
        Stage(
            "the first row sees only itself",
            0.25,
            "Row 0 has weight 1 on itself and 0 on the rest: add causal_mask(n) to the scores, then take the softmax "
            "over the last axis.",
            [_module(kind, 2, 1, 3, 4, 1, 3)],
            _draw_module(kind, "one head"),
            view="first row",
        ),
        Stage(
            "one head",
            points[0],
            rows,
            [_module(kind, 3, 2, 4, 4, 1, 4)],
            _draw_module(kind, "one head"),
            decisive=True,
        ),
        Stage(
            "several heads",
            points[1],
            heads,
            [_module(kind, 4, 2, 4, 6, 3, 4), with_a_zero_token(_module(kind, 10, 2, 4, 6, 3, 4))],
            both(_draw_module(kind), _draw_zero_token(kind)),
        ),
        Stage(
            "shorter than max_len",
            points[2],
            cut,
            [_module(kind, 5, 2, 3, 6, 3, 5), _module(kind, 5, 2, 2, 6, 3, 5)],
            _draw_module(kind, "short"),
            decisive=True,
        ),
        Stage(
            "large scores",
            points[3],
            "Scores of 150, of -150 and of -30,000 are as good as others: only differences within a row count. "
            "`torch.softmax` takes the largest score of each row off first, after the mask is added; exponentials by "
            "hand overflow, a row that is masked after its softmax may have nothing left, and -10,000 in place of "
            "minus infinity hides nothing where scores are lower.",
            [_low_scores(kind, 9, 4, 6, 3, 7), _large_scores(kind, 8, 4, 6, 3, 5)],
            _draw_large(kind),
        ),
    ]
