"""Exercises of notebook 09: attention whose scores are made without comparing tokens."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import sympy
import torch
from sympy import Expr, Integer
from torch import Tensor, nn

from grading.exercise import Exercise, Mistake, Stage
from helpers.checking.answers import Ask

Draw = Callable[[random.Random], list[Ask]]


def _numbers(*shape: int, seed: int, size: float = 1.0) -> Tensor:
    """Returns normal numbers with one decimal, so that the file of examples stays short."""
    return (10 * size * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))).round() / 10


# --- synthesizer_scores -----------------------------------------------------------------------------------------------


def synthesizer_scores(x: Tensor, A: Tensor, b1: Tensor, B: Tensor, b2: Tensor) -> Tensor:  # noqa: N803 - as in the paper
    return _uncut(x, A, b1, B, b2)[:, : len(x)]


def _uncut(x: Tensor, a: Tensor, b1: Tensor, b: Tensor, b2: Tensor) -> Tensor:
    return torch.relu(x @ a + b1) @ b + b2


def _no_relu(x: Tensor, a: Tensor, b1: Tensor, b: Tensor, b2: Tensor) -> Tensor:
    return ((x @ a + b1) @ b + b2)[:, : len(x)]


def _relu_last(x: Tensor, a: Tensor, b1: Tensor, b: Tensor, b2: Tensor) -> Tensor:
    return torch.relu((x @ a + b1) @ b + b2)[:, : len(x)]


def _relu_twice(x: Tensor, a: Tensor, b1: Tensor, b: Tensor, b2: Tensor) -> Tensor:
    return torch.relu(synthesizer_scores(x, a, b1, b, b2))


def _relu_before_b1(x: Tensor, a: Tensor, b1: Tensor, b: Tensor, b2: Tensor) -> Tensor:
    return ((torch.relu(x @ a) + b1) @ b + b2)[:, : len(x)]


def _cut_from_the_end(x: Tensor, a: Tensor, b1: Tensor, b: Tensor, b2: Tensor) -> Tensor:
    return _uncut(x, a, b1, b, b2)[:, -len(x) :]


def _without(name: str) -> Callable[..., Tensor]:
    def answer(x: Tensor, A: Tensor, b1: Tensor, B: Tensor, b2: Tensor) -> Tensor:  # noqa: N803 - as in the paper
        zeroed = {"b1": b1, "b2": b2} | {name: torch.zeros_like({"b1": b1, "b2": b2}[name])}
        return synthesizer_scores(x, A, zeroed["b1"], B, zeroed["b2"])

    return answer


def _weights_in_place_of_scores(x: Tensor, a: Tensor, b1: Tensor, b: Tensor, b2: Tensor) -> Tensor:
    return torch.softmax(synthesizer_scores(x, a, b1, b, b2), dim=-1)


def _scaled_scores(x: Tensor, a: Tensor, b1: Tensor, b: Tensor, b2: Tensor) -> Tensor:
    return synthesizer_scores(x, a, b1, b, b2) / math.sqrt(a.shape[1])


def _one_head(n: int, d: int, w: int, max_len: int, seed: int, biases: bool = True) -> Ask:
    shapes = ((n, d), (d, w), (w,), (w, max_len), (max_len,))
    x, a, b1, b, b2 = (_numbers(*shape, seed=10 * seed + number) for number, shape in enumerate(shapes))
    return Ask((x, a, b1 if biases else 0 * b1, b, b2 if biases else 0 * b2))


BY_HAND = Ask(
    (
        torch.tensor([[1.0, 0.0], [0.0, 2.0]]),
        torch.tensor([[1.0, -1.0], [0.0, 1.0]]),
        torch.tensor([0.0, -1.0]),
        torch.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]]),
        torch.tensor([0.0, 1.0, 0.0]),
    )
)


def _draw_one_head(kind: str) -> Draw:
    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for _ in range(2):
            n, d, w, more = rng.sample([3, 4, 5, 6, 7], 4)
            n = 1 if kind == "one token" else n
            max_len = n if kind in ("full", "no biases") else n + more
            asks.append(_one_head(n, d, w, max_len, rng.randrange(10**6), kind != "no biases"))
        return asks

    return draw


SYNTHESIZER_SCORES = Exercise(
    synthesizer_scores,
    [
        Stage(
            "a square of n times n scores",
            0.5,
            "One row for each token that looks, one column for each place in the sentence: (n, n). (Here the sentence "
            "is as long as B allows.)",
            [_one_head(4, 3, 2, 4, 1)],
            _draw_one_head("full"),
            view="shape",
        ),
        Stage(
            "without biases: two matrices and a ReLU",
            0.5,
            "Here b1 and b2 are 0: scores are relu(x @ A) @ B, with the ReLU between the two products.",
            [_one_head(3, 4, 2, 3, 2, biases=False)],
            _draw_one_head("no biases"),
        ),
        Stage(
            "with both biases",
            0.5,
            "b1 is added before the ReLU, b2 after B.",
            [_one_head(3, 2, 4, 3, 3)],
            _draw_one_head("full"),
        ),
        Stage(
            "shorter sentences: cut",
            1,
            "B has a column for each of max_len places; a sentence of n tokens uses the first n of them, of B and of "
            "b2.",
            [BY_HAND, _one_head(3, 2, 4, 6, 4)],
            _draw_one_head("short"),
        ),
        Stage(
            "one token: one score",
            0.5,
            "With n = 1, one column of B is left, and the result is a square of 1 times 1.",
            [_one_head(1, 3, 2, 4, 5)],
            _draw_one_head("one token"),
        ),
    ],
    [
        Mistake(
            "not cut to the length",
            "The result has max_len columns: scores for places where the sentence has no token. Keep the first n "
            "columns of B and of b2.",
            _uncut,
        ),
        Mistake(
            "cut from the wrong end",
            "Column j of B belongs to place j, counted from the start: keep the first n columns, not the last.",
            _cut_from_the_end,
        ),
        Mistake(
            "the ReLU is missing",
            "Without it, A and B multiply to one single matrix, and the scores are linear in x. Put torch.relu around "
            "x @ A + b1.",
            _no_relu,
        ),
        Mistake(
            "the ReLU comes last",
            "Scores may be negative. The ReLU stands between the two products: relu(x @ A + b1), then B.",
            _relu_last,
        ),
        Mistake(
            "a second ReLU on the scores",
            "One ReLU, between the two products. Scores may be negative.",
            _relu_twice,
        ),
        Mistake(
            "the ReLU comes before b1 is added",
            "b1 shifts the point where the ReLU opens: relu(x @ A + b1).",
            _relu_before_b1,
        ),
        Mistake("b1 is lost", "Add b1 to x @ A, before the ReLU.", _without("b1")),
        Mistake("b2 is lost", "Add b2, cut to the length, to every row of scores.", _without("b2")),
        Mistake(
            "the softmax is already taken",
            "Return the scores. The mask has to be added before the softmax, and that comes in the next exercise.",
            _weights_in_place_of_scores,
        ),
        Mistake(
            "the scores are divided by a square root",
            "That belongs to the dot product of a query and a key (notebook 03). This formula has no such factor.",
            _scaled_scores,
        ),
    ],
)


# --- modules: weights and variants ------------------------------------------------------------------------------------


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    heads: Tensor = x.unflatten(-1, (n_heads, -1)).transpose(1, 2)
    return heads


def merge_heads(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)


def causal_mask(size: int) -> Tensor:
    return torch.full((size, size), -torch.inf).triu(1)


class SynthesizerAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.hidden = nn.Linear(d_model, d_model)
        self.B = nn.Parameter(torch.randn(n_heads, d_model // n_heads, max_len))
        self.b2 = nn.Parameter(torch.zeros(n_heads, max_len))
        self.value, self.output = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def heads(self, x: Tensor) -> Tensor:
        """Returns what the first layer makes of x, `(b, h, n, d/h)`."""
        return split_heads(torch.relu(self.hidden(x)), self.n_heads)

    def found(self, x: Tensor) -> Tensor:
        """Returns the scores `(b, h, n, n)`."""
        n = x.size(1)
        return self.heads(x) @ self.B[:, :, :n] + self.b2[:, None, :n]

    def weights(self, x: Tensor) -> Tensor:
        return torch.softmax(self.found(x) + causal_mask(x.size(1)), dim=-1)

    def mixed(self, x: Tensor) -> Tensor:
        """Returns the merged heads before the output projection, `(b, n, d)`."""
        return merge_heads(self.weights(x) @ split_heads(self.value(x), self.n_heads))

    def forward(self, x: Tensor) -> Tensor:
        projected: Tensor = self.output(self.mixed(x))
        return projected


class RandomSynthesizer(nn.Module):
    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.scores = nn.Parameter(torch.zeros(n_heads, max_len, max_len))
        self.value, self.output = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def found(self, x: Tensor) -> Tensor:
        """Returns the scores `(h, n, n)`; of x only the length counts."""
        n = x.size(1)
        return self.scores[:, :n, :n]

    def weights(self, x: Tensor) -> Tensor:
        return torch.softmax(self.found(x) + causal_mask(x.size(1)), dim=-1)

    mixed = SynthesizerAttention.mixed
    forward = SynthesizerAttention.forward


def _with(base: type[nn.Module], **methods: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a class like `base` with other methods."""
    return type(base.__name__, (base,), methods)


def _weights(kind: type[nn.Module], build: dict[str, Any], seed: int) -> dict[str, Tensor]:
    """Returns weights for a module by name; biases differ from 0, so that none can be left out unseen."""
    return {
        name: _numbers(*parameter.shape, seed=1000 * seed + number, size=0.7)
        for number, (name, parameter) in enumerate(kind(**build).named_parameters())
    }


SIZES = ((12, 4), (15, 3), (10, 5), (14, 2))  # d, h


def _draw_build(rng: random.Random) -> dict[str, Any]:
    d, h = rng.choice(SIZES)
    return {"d_model": d, "n_heads": h, "max_len": rng.choice([7, 8, 9, 11])}


def _module(kind: type[nn.Module], seed: int, b: int, n: int, d: int, h: int, max_len: int) -> Ask:
    build = {"d_model": d, "n_heads": h, "max_len": max_len}
    return Ask((_numbers(b, n, d, seed=seed),), build=build, weights=_weights(kind, build, seed))


def _draw_module(kind: type[nn.Module], what: str = "") -> Draw:
    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for d, h in rng.sample(SIZES, 2):
            b, n, more = rng.sample([2, 3, 4, 6, 7], 3)
            n, h = 1 if what == "one token" else n, 1 if what == "one head" else h
            max_len = n + more if what == "short" else n
            asks.append(_module(kind, rng.randrange(10**6), b, n, d, h, max_len))
        return asks

    return draw


def _parameter_stage(points: float, look: str) -> Stage:
    return Stage(
        "names and shapes of the parameters",
        points,
        look,
        [Ask(build={"d_model": 6, "n_heads": 3, "max_len": 5}, take="parameters")],
        lambda rng: [Ask(build=_draw_build(rng), take="parameters") for _ in range(2)],
        view="parameters",
    )


def _stages(kind: type[nn.Module], each: float, look: str, rows: str, heads: str, cut: str) -> list[Stage]:
    """Returns the stages that both modules share; the last three have `each` points, the first three 1.5 in all."""
    return [
        _parameter_stage(0.5, look),
        Stage(
            "one token: only value and output count",
            0.5,
            "A single token gives all its weight to itself, whatever its score: the result is output(value(x)).",
            [_module(kind, 1, 2, 1, 6, 3, 1)],
            _draw_module(kind, "one token"),
        ),
        Stage(
            "the first row sees only itself",
            0.5,
            "Add causal_mask(n) to the scores before the softmax: row 0 has weight 1 on itself and 0 on the rest.",
            [_module(kind, 2, 1, 3, 4, 1, 3)],
            _draw_module(kind, "one head"),
            view="first row",
        ),
        Stage("one head", each, rows, [_module(kind, 3, 2, 4, 4, 1, 4)], _draw_module(kind, "one head")),
        Stage("several heads", each, heads, [_module(kind, 4, 2, 4, 6, 3, 4)], _draw_module(kind)),
        Stage("shorter than max_len", each, cut, [_module(kind, 5, 2, 3, 6, 3, 5)], _draw_module(kind, "short")),
    ]


# --- SynthesizerAttention ---------------------------------------------------------------------------------------------


def _dense_scores(self: Any, heads: Tensor, first: int = 0) -> Tensor:
    n = heads.size(2)
    scores: Tensor = heads @ self.B[:, :, first : first + n] + self.b2[:, None, first : first + n]
    return scores


def _first_head_for_all(self: Any, x: Tensor) -> Tensor:
    return SynthesizerAttention.found(self, x)[:, :1]


def _one_square_for_all(self: Any, x: Tensor) -> Tensor:
    return SynthesizerAttention.found(self, x).sum(dim=1, keepdim=True)


def _first_b_for_all(self: Any, x: Tensor) -> Tensor:
    n = x.size(1)
    return self.heads(x) @ self.B[0, :, :n] + self.b2[0, :n]  # type: ignore[no-any-return]


def _scaled(self: Any, x: Tensor) -> Tensor:
    return SynthesizerAttention.found(self, x) / math.sqrt(self.B.size(1))


def _never_cut(self: Any, x: Tensor) -> Tensor:
    return self.heads(x) @ self.B + self.b2[:, None]  # type: ignore[no-any-return]


def _linear_heads(self: Any, x: Tensor) -> Tensor:
    return split_heads(self.hidden(x), self.n_heads)


def _reshaped_heads(self: Any, x: Tensor) -> Tensor:
    b, n, d = x.shape
    return torch.relu(self.hidden(x)).reshape(b, self.n_heads, n, d // self.n_heads)


def _no_mask(self: Any, x: Tensor) -> Tensor:
    return torch.softmax(self.found(x), dim=-1)


def _mask_after_softmax(self: Any, x: Tensor) -> Tensor:
    return torch.softmax(self.found(x), dim=-1).tril()


def _softmax_over_rows(self: Any, x: Tensor) -> Tensor:
    return torch.softmax(self.found(x) + causal_mask(x.size(1)).T, dim=-2)


def _no_output(self: Any, x: Tensor) -> Tensor:
    return self.mixed(x)  # type: ignore[no-any-return]


def _values_are_tokens(self: Any, x: Tensor) -> Tensor:
    return merge_heads(self.weights(x) @ split_heads(x, self.n_heads))


def _reshaped_values(self: Any, x: Tensor) -> Tensor:
    b, n, d = x.shape
    return merge_heads(self.weights(x) @ self.value(x).reshape(b, self.n_heads, n, d // self.n_heads))


def _merged_by_reshape(self: Any, x: Tensor) -> Tensor:
    return (self.weights(x) @ split_heads(self.value(x), self.n_heads)).reshape(x.shape)  # type: ignore[no-any-return]


def _reshaped_there_and_back(self: Any, x: Tensor) -> Tensor:
    b, n, d = x.shape
    value = self.value(x).reshape(b, self.n_heads, n, d // self.n_heads)
    return (self.weights(x) @ value).reshape(x.shape)  # type: ignore[no-any-return]


def _with_mask(kind: type[nn.Module]) -> Callable[..., Any]:
    """Returns the class with the causal mask as a buffer."""

    def start(self: Any, d_model: int, n_heads: int, max_len: int) -> None:
        kind.__init__(self, d_model, n_heads, max_len)
        self.register_buffer("mask", causal_mask(max_len), persistent=False)

    return _with(kind, __init__=start)


def _shared_mistakes(kind: type[nn.Module]) -> list[Mistake]:
    """Returns the mistakes that can be made in both modules."""
    return [
        Mistake(
            "the mask is a buffer",
            "It would work, but nothing is kept beside the parameters: make the mask in `weights`, causal_mask(n).",
            _with_mask(kind),
        ),
        Mistake(
            "the values are split by a reshape without a transpose",
            "Shapes fit, but a head gets all numbers of a few tokens in place of a few numbers of all. Use "
            "split_heads.",
            _with(kind, mixed=_reshaped_values),
        ),
        Mistake(
            "the heads are merged by a reshape without a transpose",
            "Shapes fit, but a token gets numbers of other tokens: the axis of the heads stands before that of the "
            "tokens. Use merge_heads.",
            _with(kind, mixed=_merged_by_reshape),
        ),
        Mistake(
            "no mask",
            "A token gives weight to tokens that come after it. Add causal_mask(n) to the scores before the softmax.",
            _with(kind, weights=_no_mask),
        ),
        Mistake(
            "the mask comes after the softmax",
            "The rows no longer sum to 1: the future has taken its share before it was removed. Add the mask to the "
            "scores, before the softmax.",
            _with(kind, weights=_mask_after_softmax),
        ),
        Mistake(
            "softmax over the wrong axis",
            "Each row, one token that looks, shares out a weight of 1: softmax over the last axis.",
            _with(kind, weights=_softmax_over_rows),
        ),
        Mistake(
            "the output projection is missing",
            "The merged heads must go through `self.output`: it is the only place where the heads are mixed.",
            _with(kind, forward=_no_output),
        ),
        Mistake(
            "the tokens themselves are averaged",
            "What a token gives is its value: split self.value(x) into heads, not x.",
            _with(kind, mixed=_values_are_tokens),
        ),
    ]


SYNTHESIZER_ATTENTION = Exercise(
    SynthesizerAttention,
    [
        *_stages(
            SynthesizerAttention,
            1,
            "Three layers nn.Linear(d_model, d_model): hidden, value, output; B is an nn.Parameter of shape (h, d/h, "
            "max_len), b2 one of shape (h, max_len). Nothing else, no buffers either.",
            "With one head the scores are those of the last exercise: relu(hidden(x)) @ B + b2, then mask and softmax.",
            "Split relu(hidden(x)) into heads; head k uses its own B[k] and b2[k], and has its own softmax.",
            "Of B and b2, keep the first n places, the last axis: self.B[:, :, :n] and self.b2[:, None, :n]. The mask "
            "is causal_mask(n), not that of max_len.",
        ),
        Stage(
            "a long head and a short sentence",
            0.5,
            "The last axis of B is the place; the one before it is the width of a head, which is never cut.",
            [_module(SynthesizerAttention, 6, 1, 2, 8, 2, 3)],
            lambda rng: [_module(SynthesizerAttention, rng.randrange(10**6), 2, rng.randint(2, 5), 16, 2, 9)],
        ),
    ],
    [
        Mistake(
            "B and b2, or the mask, are not cut to the length",
            "It works only while a sentence is exactly max_len long. For n tokens keep the first n places of B and b2, "
            "and take causal_mask(n).",
            _with(SynthesizerAttention, found=_never_cut),
        ),
        Mistake(
            "B and b2 are cut from the wrong end",
            "Place 0 of B belongs to the first token. Keep the first n places, not the last n.",
            _with(
                SynthesizerAttention,
                found=lambda self, x: _dense_scores(self, self.heads(x), self.B.size(2) - x.size(1)),
            ),
        ),
        Mistake(
            "the ReLU is missing",
            "Without it the two layers collapse into one: put torch.relu around self.hidden(x).",
            _with(SynthesizerAttention, heads=_linear_heads),
        ),
        Mistake(
            "the ReLU is on the scores",
            "Scores may be negative. The ReLU stands between hidden and B: torch.relu(self.hidden(x)).",
            _with(
                SynthesizerAttention,
                heads=_linear_heads,
                found=lambda self, x: torch.relu(SynthesizerAttention.found(self, x)),
            ),
        ),
        Mistake(
            "the heads share their scores: all use those of the first",
            "Heads that look at the same places are one head. Each needs the scores of its own part of hidden(x).",
            _with(SynthesizerAttention, found=_first_head_for_all),
        ),
        Mistake(
            "the heads share their scores: they are added up to one square",
            "Each head keeps its own square of scores: the result of the product is (b, h, n, n), and nothing is "
            "summed over the heads.",
            _with(SynthesizerAttention, found=_one_square_for_all),
        ),
        Mistake(
            "the heads share B and b2",
            "Head k has its own B[k] and b2[k]; here all heads use those of head 0.",
            _with(SynthesizerAttention, found=_first_b_for_all),
        ),
        Mistake(
            "the scores are divided by a square root",
            "That belongs to the dot product of a query and a key (notebook 03). This formula has no such factor.",
            _with(SynthesizerAttention, found=_scaled),
        ),
        Mistake(
            "b2 has no effect: lost, or added along the wrong axis",
            "Add self.b2, cut to the length, to the scores of its head: shape (h, 1, n), so self.b2[:, None, :n]. The "
            "same number on all scores of a row changes nothing, since the softmax takes it out.",
            _with(SynthesizerAttention, found=lambda self, x: self.heads(x) @ self.B[:, :, : x.size(1)]),
        ),
        Mistake(
            "the heads are cut by a reshape without a transpose",
            "Shapes fit, but a head gets all numbers of a few tokens in place of a few numbers of all. Use "
            "split_heads.",
            _with(SynthesizerAttention, heads=_reshaped_heads),
        ),
        Mistake(
            "all is split and merged by a reshape without a transpose",
            "Shapes fit, but a head gets all numbers of a few tokens in place of a few numbers of all. Use split_heads "
            "and merge_heads.",
            _with(SynthesizerAttention, heads=_reshaped_heads, mixed=_reshaped_there_and_back),
        ),
        *_shared_mistakes(SynthesizerAttention),
    ],
)


# --- RandomSynthesizer ------------------------------------------------------------------------------------------------


class _Buffer(RandomSynthesizer):
    """Scores that do not train."""

    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:
        super().__init__(d_model, n_heads, max_len)
        values = self.scores.data
        del self.scores
        self.register_buffer("scores", values)


class _OneSquare(nn.Module):
    """One square of scores for all heads: its weights are those of one head only."""

    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.scores = nn.Parameter(torch.zeros(max_len, max_len))
        self.value, self.output = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)


def _with_values_compared(self: Any, x: Tensor) -> Tensor:
    value = split_heads(self.value(x), self.n_heads)
    return RandomSynthesizer.found(self, x) + value @ value.mT


def _with_tokens_compared(self: Any, x: Tensor) -> Tensor:
    heads = split_heads(x, self.n_heads)
    return RandomSynthesizer.found(self, x) + heads @ heads.mT


def _times_tokens(self: Any, x: Tensor) -> Tensor:
    return RandomSynthesizer.found(self, x) * x.mean(dim=-1)[:, None, :, None]


def _last_square(self: Any, x: Tensor) -> Tensor:
    n = x.size(1)
    return self.scores[:, -n:, -n:]  # type: ignore[no-any-return]


def _transposed(self: Any, x: Tensor) -> Tensor:
    return RandomSynthesizer.found(self, x).mT


RANDOM_SYNTHESIZER = Exercise(
    RandomSynthesizer,
    _stages(
        RandomSynthesizer,
        0.5,
        "scores is an nn.Parameter of shape (h, max_len, max_len); value and output are nn.Linear(d_model, d_model). "
        "Nothing else, no buffers either.",
        "The scores are self.scores, whatever x holds; mask, softmax and values are as before.",
        "Head k has its own square of scores, self.scores[k].",
        "Cut both axes of the squares to the length: the first n rows and the first n columns. The mask is "
        "causal_mask(n).",
    ),
    [
        Mistake(
            "depends on x: this is the dense synthesizer again",
            "Here nothing makes the scores: they ARE the parameters, one number for each head, row and column.",
            type("RandomSynthesizer", (SynthesizerAttention,), {}),  # torch's messages tell the name of the class
        ),
        Mistake(
            "depends on x: values are compared with each other",
            "A dot product of tokens is what this layer does without. The scores are self.scores alone.",
            _with(RandomSynthesizer, found=_with_values_compared),
        ),
        Mistake(
            "depends on x: tokens are compared with each other",
            "A dot product of tokens is what this layer does without. The scores are self.scores alone.",
            _with(RandomSynthesizer, found=_with_tokens_compared),
        ),
        Mistake(
            "depends on x: the scores are multiplied with x",
            "Of x, only the length may matter for the scores. They are self.scores alone.",
            _with(RandomSynthesizer, found=_times_tokens),
        ),
        Mistake(
            "the scores do not train",
            "A buffer, or a parameter without gradient, keeps the numbers it started with. Use nn.Parameter, so that "
            "training can choose them.",
            _Buffer,
        ),
        Mistake(
            "one square of scores for all heads",
            "Each head has its own square: the parameter has the shape (h, max_len, max_len).",
            type("RandomSynthesizer", (_OneSquare,), {}),
        ),
        Mistake(
            "all heads use the square of the first",
            "Head k has its own square of scores, self.scores[k].",
            _with(RandomSynthesizer, found=lambda self, x: RandomSynthesizer.found(self, x)[:1]),
        ),
        Mistake(
            "scores or mask are not cut to the length",
            "It works only while a sentence is exactly max_len long. For n tokens keep the first n rows and columns of "
            "the scores, and take causal_mask(n).",
            _with(RandomSynthesizer, found=lambda self, x: self.scores),
        ),
        Mistake(
            "cut from the wrong end",
            "Row 0 and column 0 belong to the first token. Keep the first n rows and columns, not the last.",
            _with(RandomSynthesizer, found=_last_square),
        ),
        Mistake(
            "rows and columns are exchanged",
            "Row i is the token that looks, column j the one looked at: use the square as it stands.",
            _with(RandomSynthesizer, found=_transposed),
        ),
        Mistake(
            "values split and heads merged by a reshape without a transpose",
            "Shapes fit, but a head gets all numbers of a few tokens in place of a few numbers of all. Use split_heads "
            "and merge_heads.",
            _with(RandomSynthesizer, mixed=_reshaped_there_and_back),
        ),
        *_shared_mistakes(RandomSynthesizer),
    ],
)


# --- score_costs ------------------------------------------------------------------------------------------------------

D, A, N, L = sympy.symbols("D A N L", positive=True, integer=True)

LINEAR = D**2 + D


def score_costs() -> dict[str, Expr]:
    return _costs()


def _costs(**changed: Expr) -> dict[str, Expr]:
    costs = {
        "key-query parameters": 2 * LINEAR,
        "dense parameters": LINEAR + D * N + A * N,
        "random parameters": A * N**2,
        "key-query products": 2 * L * D**2 + L**2 * D,
        "dense products": L * D**2 + L**2 * D,
        "random products": Integer(0),
    }
    return costs | {name.replace("_", " ").replace("key query", "key-query"): value for name, value in changed.items()}


def _changed_costs(**changed: Expr) -> Callable[[], dict[str, Expr]]:
    return lambda: _costs(**changed)


def _cost_stage(name: str, look: str, *entries: str) -> Stage:
    points = [{"D": 6, "A": 3, "N": 10, "L": 4}, {"D": 64, "A": 8, "N": 100, "L": 37}]

    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for _ in range(2):
            heads, width, most = rng.randint(3, 9), rng.randint(10, 40), rng.randint(300, 900)
            at = {"D": heads * width, "A": heads, "N": most, "L": rng.randint(30, 250)}
            asks.append(Ask(at=at, entries=entries))
        return asks

    return Stage(name, 0.5, look, [Ask(at=point, entries=entries) for point in points], draw, sealed=True)


SCORE_COSTS = Exercise(
    score_costs,
    [
        Stage(
            "a dict with the six names",
            0.5,
            "The names are those of the docstring: three kinds, each with parameters and products.",
            [Ask(take="names")],
            lambda rng: [Ask(take="names")],
        ),
        _cost_stage(
            "parameters, key-query",
            "Scores need the two layers query and key, each from D to D with a bias. Value and output make no scores.",
            "key-query parameters",
        ),
        _cost_stage(
            "parameters, dense",
            "hidden is a layer from D to D with a bias; each of A heads has a B of D/A rows and N columns, and N "
            "numbers b2.",
            "dense parameters",
        ),
        _cost_stage(
            "parameters, random",
            "Each head has a square of N times N numbers.",
            "random parameters",
        ),
        _cost_stage(
            "products, key-query",
            "A matrix product (p, q) @ (q, r) takes p*q*r products: twice (L, D) @ (D, D), then for each of A heads "
            "(L, D/A) @ (D/A, L).",
            "key-query products",
        ),
        _cost_stage(
            "products, dense and random",
            "Dense: once (L, D) @ (D, D), then for each of A heads (L, D/A) @ (D/A, L), as B is cut first. Random: "
            "the scores are already there.",
            "dense products",
            "random products",
        ),
    ],
    [
        Mistake(
            "biases are lost",
            "query, key and hidden have a bias of D numbers each, and each head has N numbers b2.",
            _changed_costs(key_query_parameters=2 * D**2, dense_parameters=D**2 + D * N),
        ),
        Mistake(
            "the biases of the layers are lost",
            "query, key and hidden are nn.Linear layers, and each has a bias of D numbers.",
            _changed_costs(key_query_parameters=2 * D**2, dense_parameters=D**2 + D * N + A * N),
        ),
        Mistake(
            "b2 is lost",
            "Each of the A heads adds its own b2: N numbers each.",
            _changed_costs(dense_parameters=LINEAR + D * N),
        ),
        Mistake(
            "b2 is counted for one head",
            "Each of the A heads has its own b2: A times N numbers.",
            _changed_costs(dense_parameters=LINEAR + D * N + N),
        ),
        Mistake(
            "B is counted for one head",
            "D/A rows belong to the B of one head. There are A of them, so D rows in all.",
            _changed_costs(dense_parameters=LINEAR + D / A * N + A * N),
        ),
        Mistake(
            "every head has a B as wide as the model",
            "The heads share the width: the B of one head has D/A rows, not D.",
            _changed_costs(dense_parameters=LINEAR + A * D * N + A * N),
        ),
        Mistake(
            "B is as long as the sentence",
            "B is made before any sentence is seen, for the longest one: N columns. It is only cut to L for a "
            "sentence.",
            _changed_costs(dense_parameters=LINEAR + D * L + A * L, random_parameters=A * L**2),
        ),
        Mistake(
            "one square is counted",
            "Each of the A heads has its own square of N times N scores.",
            _changed_costs(random_parameters=N**2),
        ),
        Mistake(
            "value and output are counted",
            "Count what makes the scores. Value and output are the same in all three kinds.",
            _changed_costs(
                key_query_parameters=4 * LINEAR,
                dense_parameters=3 * LINEAR + D * N + A * N,
                random_parameters=2 * LINEAR + A * N**2,
            ),
        ),
        Mistake(
            "the layers' products are lost",
            "Queries, keys and hidden have to be made first: (L, D) @ (D, D) takes L*D*D products.",
            _changed_costs(key_query_products=L**2 * D, dense_products=L**2 * D),
        ),
        Mistake(
            "the products with the square are lost",
            "The last step has a cost, too: for each head (L, D/A) @ (D/A, L), in all L*L*D products.",
            _changed_costs(key_query_products=2 * L * D**2, dense_products=L * D**2),
        ),
        Mistake(
            "the heads multiply the products",
            "A head has D/A numbers of a token, so its square takes L*L*D/A products; A heads take L*L*D.",
            _changed_costs(key_query_products=2 * L * D**2 + A * L**2 * D, dense_products=L * D**2 + A * L**2 * D),
        ),
        Mistake(
            "the products of one head",
            "L*L*D/A is the square of one head. There are A heads.",
            _changed_costs(key_query_products=2 * L * D**2 + L**2 * D / A, dense_products=L * D**2 + L**2 * D / A),
        ),
        Mistake(
            "B is used without a cut",
            "B is cut to L columns before the product: (L, D/A) @ (D/A, L) for each head.",
            _changed_costs(dense_products=L * D**2 + L * N * D),
        ),
        Mistake(
            "the dense synthesizer has no square",
            "It compares no tokens, but it still makes a score for each pair of places: L rows of L numbers, each a "
            "sum of D/A products in each head.",
            _changed_costs(dense_products=L * D**2),
        ),
        Mistake(
            "queries and keys are counted once",
            "Queries and keys come from two layers: twice (L, D) @ (D, D).",
            _changed_costs(key_query_parameters=LINEAR, key_query_products=L * D**2 + L**2 * D),
        ),
        Mistake(
            "random scores cost products",
            "Nothing is multiplied: the scores are read from the parameters.",
            _changed_costs(random_products=L**2),
        ),
    ],
)


# --- compare_tasks ----------------------------------------------------------------------------------------------------

Known = Callable[[list[int], int, int], Hashable]  # sentence, row, wanted place -> what the rule may look at
Shares = dict[str, float]

KNOWN: dict[str, Known] = {
    "random": lambda sentence, i, place: i,
    "dense": lambda sentence, i, place: (i, sentence[i]),
    "prefix": lambda sentence, i, place: tuple(sentence[: i + 1]),
}


def compare_tasks(tokens: Tensor, places: Tensor) -> Shares:
    return _shares(tokens, places)


def _groups(tokens: Tensor, places: Tensor, known: Known, nothing: int = 0) -> dict[Hashable, Counter[int]]:
    """Returns for all that a rule may look at how often each place is wanted; places below `nothing` do not count."""
    groups: dict[Hashable, Counter[int]] = defaultdict(Counter)
    for sentence, wanted in zip(tokens.tolist(), places.tolist(), strict=True):
        for i, place in enumerate(wanted):
            if place >= nothing:
                groups[known(sentence, i, place)][place] += 1
    return groups


def _best(groups: dict[Hashable, Counter[int]]) -> float:
    right = sum(max(counts.values()) for counts in groups.values())
    return right / sum(sum(counts.values()) for counts in groups.values())


def _shares(tokens: Tensor, places: Tensor, changed: Mapping[str, Known] = KNOWN, nothing: int = 0) -> Shares:
    known = {**KNOWN, **changed}
    return {name: _best(_groups(tokens, places, known[name], nothing)) for name in KNOWN}


def _changed_shares(**changed: Known) -> Callable[[Tensor, Tensor], Shares]:
    return lambda tokens, places: _shares(tokens, places, changed)


def _of_groups(share: Callable[[dict[Hashable, Counter[int]]], float]) -> Callable[[Tensor, Tensor], Shares]:
    return lambda tokens, places: {name: share(_groups(tokens, places, known)) for name, known in KNOWN.items()}


def _mean_of_groups(groups: dict[Hashable, Counter[int]]) -> float:
    return sum(max(counts.values()) / sum(counts.values()) for counts in groups.values()) / len(groups)


def _agreeing_only(groups: dict[Hashable, Counter[int]]) -> float:
    whole = sum(sum(counts.values()) for counts in groups.values() if len(counts) == 1)
    return whole / sum(sum(counts.values()) for counts in groups.values())


def _once_each(tokens: Tensor, places: Tensor) -> Shares:
    total = int((places >= 0).sum())
    return {"random": int((places >= 0).any(dim=0).sum()) / total, "dense": 1.0, "prefix": 1.0}


def _mean_of_rows(tokens: Tensor, places: Tensor) -> Shares:
    rows = [i for i in range(tokens.shape[1]) if bool((places[:, i] >= 0).any())]
    shares: list[Shares] = []
    for i in rows:
        only = torch.full_like(places, -1)
        only[:, i] = places[:, i]
        shares.append(_shares(tokens, only))
    return {name: sum(share[name] for share in shares) / len(shares) for name in KNOWN}


def _of_all_rows(tokens: Tensor, places: Tensor) -> Shares:
    asked = float((places >= 0).float().mean())
    return {name: share * asked for name, share in _shares(tokens, places).items()}


WORDS = (1, 11, 111)  # tokens of which several have the same digits in a row


def _task(rng: random.Random, m: int, n: int, words: int, skip: float = 0.0) -> Ask:
    """Draws a task whose places follow the row, the token or the tokens before it, each in part of the rows."""
    tokens, places = [], []
    own = [[rng.randint(0, i) for _ in range(words)] for i in range(n)]  # the place that a word names, by row
    for _ in range(m):
        sentence = [rng.randrange(words) for _ in range(n)]
        row = []
        for i in range(n):
            before = sum(sentence[: i + 1]) % (i + 1)
            row.append(rng.choice([own[i][0], own[i][sentence[i]], before, rng.randint(0, i)]))
        tokens.append([WORDS[number] for number in sentence])
        places.append([-1 if rng.random() < skip * (1 + i) / n else place for i, place in enumerate(row)])
    return Ask((torch.tensor(tokens), torch.tensor(places)))


def _entry(ask: Ask, *entries: str) -> Ask:
    return Ask(ask.inputs, entries=entries)


# The four sentences of two words that the notebook does by hand.
SMALL = Ask((torch.tensor([[5, 7], [6, 7], [4, 7], [5, 8]]), torch.tensor([[0, 0], [0, 0], [0, 1], [0, 1]])))
LARGER = _task(random.Random(7), 24, 4, 2)


def _share_stage(name: str, look: str, entry: str) -> Stage:
    return Stage(
        name,
        1,
        look,
        [_entry(SMALL, entry), _entry(LARGER, entry)],
        lambda rng: [_entry(_task(rng, 40, 6, 2), entry), _entry(_task(rng, 30, 5, 3), entry)],
    )


COMPARE_TASKS = Exercise(
    compare_tasks,
    [
        Stage(
            "a dict with the three names",
            0.5,
            'The names are "random", "dense" and "prefix".',
            [Ask(SMALL.inputs, take="names")],
            lambda rng: [Ask(_task(rng, 5, 3, 2).inputs, take="names")],
        ),
        _share_stage(
            "random: one place for each row",
            "For row i count how often each place is wanted, over all sentences. The best rule takes the most frequent "
            "one.",
            "random",
        ),
        _share_stage(
            "dense: one place for each row and token",
            "Now make a group for each pair (i, token at i), and take the most frequent place of each group.",
            "dense",
        ),
        _share_stage(
            "prefix: one place for each beginning of a sentence",
            "Make a group for each beginning, tokens 0 to i with i itself: all that any causal layer could know.",
            "prefix",
        ),
        Stage(
            "rows that ask nothing",
            0.5,
            "Where places is -1, there is no question: leave it out of the right ones and out of the total.",
            [Ask(_task(random.Random(8), 16, 4, 2, skip=0.8).inputs)],
            lambda rng: [Ask(_task(rng, 40, 6, 2, skip=0.8).inputs), Ask(_task(rng, 30, 5, 3, skip=0.7).inputs)],
        ),
    ],
    [
        Mistake(
            "rows that ask nothing count as questions",
            "-1 is no place: a rule cannot be right there, nor wrong. Leave these rows out altogether.",
            lambda tokens, places: _shares(tokens, places, nothing=-1),
        ),
        Mistake(
            "the place 0 is left out",
            "0 is a place like any other, the first; only -1 asks nothing.",
            lambda tokens, places: _shares(tokens, places, nothing=1),
        ),
        Mistake(
            "each token's tensor is a group of its own",
            "Two tensors are two keys of a dict, even if they hold the same number. Take numbers: .tolist() or "
            ".item().",
            _changed_shares(dense=lambda sentence, i, place: object(), prefix=lambda sentence, i, place: object()),
        ),
        Mistake(
            "each place's tensor is counted for itself",
            "Two tensors are two keys of a dict, even if they hold the same number. Take numbers: .tolist() or "
            ".item().",
            _once_each,
        ),
        Mistake(
            "divided by all rows, also those that ask nothing",
            "Divide the number of right looks by the number of questions: rows whose place is not -1.",
            _of_all_rows,
        ),
        Mistake(
            "the random layer has one place for all rows",
            "Its scores are a square: each row has numbers of its own. Make a group for each i.",
            _changed_shares(random=lambda sentence, i, place: 0),
        ),
        Mistake(
            "the dense layer does not know its row",
            "x_i is a token AND its position: make a group for each pair (i, token), not for each token.",
            _changed_shares(dense=lambda sentence, i, place: sentence[i]),
        ),
        Mistake(
            "the dense layer sees the token looked at",
            "Its scores are made before it looks: x_j does not go in. Group by (i, token at i) only.",
            _changed_shares(dense=lambda sentence, i, place: (i, sentence[i], sentence[place])),
        ),
        Mistake(
            "the prefix holds the future",
            "A causal layer at row i knows the tokens 0 to i. Cut the sentence after i.",
            _changed_shares(prefix=lambda sentence, i, place: (i, *sentence)),
        ),
        Mistake(
            "the prefix lacks the row's own token",
            "Token i knows itself: the beginning is tokens 0 to i, with i, so sentence[: i + 1].",
            _changed_shares(prefix=lambda sentence, i, place: (i, *sentence[:i])),
        ),
        Mistake(
            "the mean over the rows",
            "Rows with few questions would count as much as those with many. Add up right looks and questions over "
            "all rows, then divide once.",
            _mean_of_rows,
        ),
        Mistake(
            "the mean over the groups",
            "Small groups would count as much as large ones. Add up the right looks of all groups, then divide once.",
            _of_groups(_mean_of_groups),
        ),
        Mistake(
            "only groups that agree are right",
            "A rule that takes the most frequent place is right for a part of a group, also when the group does not "
            "agree.",
            _of_groups(_agreeing_only),
        ),
    ],
)

EXERCISES = [SYNTHESIZER_SCORES, SYNTHESIZER_ATTENTION, RANDOM_SYNTHESIZER, SCORE_COSTS, COMPARE_TASKS]
