"""Exercise tensor_shapes of notebook 03."""

from __future__ import annotations

import random

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw
from tutor.checking.answers import Ask

Shapes = dict[str, tuple[int, ...]]


def tensor_shapes(b: int, n: int, d: int, h: int) -> Shapes:
    return {
        "x": (b, n, d),
        "query": (b, n, d),
        "query_heads": (b, h, n, d // h),
        "key_heads_turned": (b, h, d // h, n),
        "scores": (b, h, n, n),
        "weights": (b, h, n, n),
        "mixed": (b, h, n, d // h),
        "merged": (b, n, d),
        "output": (b, n, d),
    }


def _shapes(b: int, n: int, d: int, h: int, **changed: tuple[int, ...]) -> Shapes:
    return tensor_shapes(b, n, d, h) | changed


def _heads_of_full_width(b: int, n: int, d: int, h: int) -> Shapes:
    full = {"query_heads": (b, h, n, d), "key_heads_turned": (b, h, d, n), "mixed": (b, h, n, d)}
    return _shapes(b, n, d, h, **full)


def _merged_keeps_head_width(b: int, n: int, d: int, h: int) -> Shapes:
    return _shapes(b, n, d, h, merged=(b, n, d // h), output=(b, n, d // h))


def _counts_swapped(b: int, n: int, d: int, h: int) -> Shapes:
    w = d // h
    swapped = {"query_heads": (b, w, n, h), "key_heads_turned": (b, w, h, n), "mixed": (b, w, n, h)}
    return _shapes(b, n, d, h, **swapped, scores=(b, w, n, n), weights=(b, w, n, n))


def _heads_after_tokens(b: int, n: int, d: int, h: int) -> Shapes:
    w = d // h
    return _shapes(b, n, d, h, query_heads=(b, n, h, w), key_heads_turned=(b, n, w, h), mixed=(b, n, h, w))


def _scores_without_heads(b: int, n: int, d: int, h: int) -> Shapes:
    return _shapes(b, n, d, h, scores=(b, n, n), weights=(b, n, n))


def _numbers_against_numbers(b: int, n: int, d: int, h: int) -> Shapes:
    return _shapes(b, n, d, h, scores=(b, h, d // h, d // h), weights=(b, h, d // h, d // h))


def _key_not_turned(b: int, n: int, d: int, h: int) -> Shapes:
    return _shapes(b, n, d, h, key_heads_turned=(b, h, n, d // h))


def _draw_shapes(*entries: str) -> Draw:
    def draw(rng: random.Random) -> list[Ask]:
        b, n, h, width = rng.sample(range(2, 18), 4)  # all four different
        sizes = [(b, n, h, width), (1, width, h, n), (n, b, 1, h), (h, 1, b, n), (b, n, n, width), (h, n, b, 1)]
        return [Ask((b, n, h * width, h), entries=entries) for b, n, h, width in sizes]

    return draw


def _shape_stage(name: str, points: float, look: str, *entries: str) -> Stage:
    """Returns a stage that asks for some of the shapes; those with heads are what the exercise is there for."""
    sizes = ((2, 7, 15, 3), (3, 4, 5, 1), (1, 4, 6, 2), (3, 2, 5, 5))
    asks = [Ask((b, n, d, h), entries=entries) for b, n, d, h in sizes]
    return Stage(name, points, look, asks, _draw_shapes(*entries), sealed=True, decisive="x" not in entries)


EXERCISE = Exercise(
    tensor_shapes,
    [
        Stage(
            "a dict with the nine names, each with whole numbers",
            0.25,
            "The docstring lists the nine names, in the order in which the tensors are made. The numbers of a shape "
            "are whole numbers: `/` makes floats, also where nothing is left over; `//` does not.",
            [Ask((2, 7, 15, 3))],
            _draw_shapes(),
            measure="shapes",
        ),
        _shape_stage(
            "before and after the heads",
            0.5,
            "Outside the heads every token has d numbers, whatever h is: what goes in is as wide as what comes out.",
            *("x", "query", "merged", "output"),
        ),
        _shape_stage(
            "inside the heads",
            0.75,
            "The d numbers of a token are shared out: h heads with d/h numbers each. The head stands before the token.",
            *("query_heads", "key_heads_turned", "mixed"),
        ),
        _shape_stage(
            "scores and weights",
            0.5,
            "Each head has one score for each query and each key; the width of a head is summed away.",
            *("scores", "weights"),
        ),
    ],
    [
        Mistake(
            "d and d/h are mixed up: each head is as wide as the model",
            "The heads share the d numbers of a token: each gets d/h of them. h heads of width d would need h times "
            "the work and the memory.",
            _heads_of_full_width,
        ),
        Mistake(
            "d and d/h are mixed up: the merged heads are as wide as one head",
            "Merging puts the h heads of width d/h side by side again: h times d/h is d.",
            _merged_keeps_head_width,
        ),
        Mistake(
            "the number of heads and their width are exchanged",
            "There are h heads with d/h numbers each, not d/h heads with h numbers each.",
            _counts_swapped,
        ),
        Mistake(
            "the heads stand after the tokens",
            "The last two axes must be token and number, so that the matrix product pairs tokens with tokens: "
            "(b, h, n, d/h).",
            _heads_after_tokens,
        ),
        Mistake(
            "all heads share one square of scores",
            "Every head has scores of its own, that is what a head is: one n x n square for each of the h heads.",
            _scores_without_heads,
        ),
        Mistake(
            "scores compare numbers in place of tokens",
            "A score belongs to a pair of tokens: the product sums over the d/h numbers, and n x n remains.",
            _numbers_against_numbers,
        ),
        Mistake(
            "the key is not turned",
            "For the product query @ key the last two axes of the key change places: (b, h, d/h, n).",
            _key_not_turned,
        ),
    ],
    hints=(
        (
            "Take one token of width 6 and three heads. How many numbers has the token before it is cut, how many "
            "has each head of it, and how many has it when the heads are side by side again? Which of the nine "
            "tensors are inside the heads, and so have four axes? And a score: to which two things does it belong?"
        ),
        (
            "One sentence of 5 tokens of width 12, with 4 heads: each head has 3 of the 12 numbers. `query_heads` is "
            "`(1, 4, 5, 3)`: sentence, head, token, number. Check: $1 \\cdot 4 \\cdot 5 \\cdot 3 = 60 = 1 \\cdot 5 "
            "\\cdot 12$, since cutting loses nothing.\n\n"
            "For `@`, only the last two axes count: `(5, 3) @ (3, 5)` gives `(5, 5)`, the inner 3 is summed away, "
            "and the axes in front stay as they are. What comes out of the softmax has the shape of what went in. "
            "And `(5, 5) @ (5, 3)`, weights times values?"
        ),
        (
            "Begin like this, and fill in the dots:\n"
            "```python\n"
            "width = d // h  # the numbers of one head: a whole number, unlike d / h\n"
            "return {\n"
            '    "x": (b, n, d),\n'
            '    "query": ...,  # a linear layer as wide as x\n'
            '    "query_heads": ...,  # four axes: sentence, head, token, number\n'
            '    "key_heads_turned": ...,  # as above, the last two axes exchanged\n'
            '    "scores": ...,  # the product of the two before\n'
            '    # "weights", "mixed" (weights times the heads of the value), "merged", "output"\n'
            "}\n"
            "```\n"
            "Test with sizes that all differ, such as `tensor_shapes(2, 5, 12, 4)`, and follow each `@` with a "
            "pencil: do the inner sizes agree?"
        ),
    ),
)
