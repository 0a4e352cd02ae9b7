"""Exercise synthesizer_scores of notebook 09."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import torch
from torch import Tensor

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw, both, seed_from
from tutor.checking.answers import Ask

from ._common import _numbers, with_a_zero_token


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


def _b2_by_rows(x: Tensor, a: Tensor, b1: Tensor, b: Tensor, b2: Tensor) -> Tensor:
    n = len(x)
    return (torch.relu(x @ a + b1) @ b)[:, :n] + b2[:n, None]


def _scaled_scores(x: Tensor, a: Tensor, b1: Tensor, b: Tensor, b2: Tensor) -> Tensor:
    return synthesizer_scores(x, a, b1, b, b2) / math.sqrt(a.shape[1])


def _one_head(n: int, d: int, w: int, max_len: int, seed: int, biases: bool = True) -> Ask:
    """Returns a question; the tokens are large, so that some numbers after the ReLU are, too."""
    shapes = ((n, d), (d, w), (w,), (w, max_len), (max_len,))
    x, a, b1, b, b2 = (
        _numbers(*shape, seed=10 * seed + number, size=5 if number == 0 else 2) for number, shape in enumerate(shapes)
    )
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
    """Draws a head wider than the sentence is long, one that is narrower, and one where all sizes agree."""

    def draw(rng: random.Random) -> list[Ask]:
        short, d, long = rng.sample([3, 4, 5, 6, 7, 8], 3)
        asks = []
        for n, w in ((min(short, long), max(short, long)), (max(short, long), min(short, long)), (d, d)):
            n, w = (1, w) if kind == "one token" else (n, w)
            max_len = n if kind in ("full", "no biases") else n + rng.randint(2, 5)
            asks.append(_one_head(n, d, w, max_len, rng.randrange(10**6), kind != "no biases"))
        return asks

    return draw


EXERCISE = Exercise(
    synthesizer_scores,
    [
        Stage(
            "a square of n times n scores",
            0.25,
            "One row for each token that looks, one column for each place in the sentence: (n, n). (Here the sentence "
            "is as long as B allows.)",
            [_one_head(4, 3, 2, 4, 1)],
            _draw_one_head("full"),
            view="shape",
        ),
        Stage(
            "without biases: two matrices and a ReLU",
            0.75,
            "Here b1 and b2 are 0: scores are relu(x @ A) @ B, with the ReLU between the two products.",
            [_one_head(3, 4, 2, 3, 7, biases=False), _one_head(4, 2, 6, 4, 2, biases=False)],
            _draw_one_head("no biases"),
            decisive=True,
        ),
        Stage(
            "with both biases",
            0.5,
            "b1 is added before the ReLU, b2 after B.",
            [_one_head(3, 2, 4, 3, 3), _one_head(4, 3, 2, 4, 7), with_a_zero_token(_one_head(3, 3, 4, 3, 9))],
            both(_draw_one_head("full"), lambda rng: [with_a_zero_token(_one_head(5, 4, 6, 5, seed_from(rng)))]),
        ),
        Stage(
            "shorter sentences: cut",
            1,
            "B has a column for each of max_len places; a sentence of n tokens uses the first n of them, of B and of "
            "b2.",
            [BY_HAND, _one_head(3, 2, 4, 6, 4), _one_head(4, 2, 3, 5, 8)],
            _draw_one_head("short"),
            decisive=True,
        ),
        Stage(
            "one token: one score",
            0.5,
            "With n = 1, one column of B is left, and the result is a square of 1 times 1.",
            [_one_head(1, 3, 2, 4, 5), _one_head(1, 3, 2, 4, 13)],
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
            "b2 is added along the wrong axis",
            "b2 has a number for each place that is looked at, so for each column: `+ b2[:n]` adds it to every row.",
            _b2_by_rows,
        ),
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
    hints=(
        "In the example by hand you get three scores for each of two tokens. Which of the three columns belongs to "
        "a place where nobody stands, and how do you see from `x` alone how many places there are? Two more "
        "questions on the formula: is $b_1$ added before or after the ReLU? And has $b_2$ one number for each "
        "token that looks, or one for each place that is looked at?",
        "All widths 1, room for three places: $x_0 = 2$, $x_1 = -3$, $A = (1)$, $b_1 = (1)$, $B = (1,\\ -2,\\ 5)$, "
        "$b_2 = (0,\\ 1,\\ 7)$. Token 0: $2 + 1 = 3$, the ReLU leaves it, $3 B = (3,\\ -6,\\ 15)$, with $b_2$ "
        "$(3,\\ -5,\\ 22)$. Token 1: $-3 + 1 = -2$, the ReLU makes it 0, and what is left is $b_2$: $(0,\\ 1,\\ "
        "7)$. The sentence has two tokens, so the first two columns stay: $(3,\\ -5)$ and $(0,\\ 1)$. The score "
        "$-5$ stays negative: the ReLU stands between the two products, not at the end. $b_2$ was added to *every* "
        "row.",
        "The shapes of the steps, for a sentence of $n$ tokens:\n\n"
        "1. `x @ A`: `(n, d)` times `(d, w)` is `(n, w)`; then the bias, and the ReLU of it, `(n, w)`.\n"
        "2. Times `B`, `(w, max_len)`: `(n, max_len)`; then `b2`, `(max_len,)`, which is added to each row.\n"
        "3. The cut: `# ...`, from `(n, max_len)` to `(n, n)`, with `n = len(x)`.\n\n"
        "You may also cut `B` and `b2` first; the result is the same. No softmax, no mask and no square root here. "
        "Test it with the numbers of section 1: the docstring gives the result.",
    ),
)
