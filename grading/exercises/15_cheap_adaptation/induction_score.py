"""Exercise induction_score of notebook 15."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import seed_from
from tutor.checking.answers import Ask

Score = Callable[[Tensor], Tensor]


def induction_score(attention: Tensor) -> Tensor:
    return _looking_back(attention, attention.size(-1) // 2 - 1)


def _looking_back(attention: Tensor, distance: int) -> Tensor:
    """Returns the mean weight `(h,)` that the rows of the second half give to the place `distance` before them."""
    rows = torch.arange(attention.size(-1) // 2, attention.size(-1))
    return attention[:, :, rows, (rows - distance).clamp(max=attention.size(-1) - 1)].mean(dim=(0, 2))


def _random(seed: int, b: int, h: int, block: int) -> Tensor:
    """Returns causal attention weights `(b, h, 2 * block, 2 * block)` with two decimals."""
    n = 2 * block
    scores = torch.randn(b, h, n, n, generator=torch.Generator().manual_seed(seed)) * 1.5
    masked = scores + torch.full((n, n), -torch.inf).triu(1)
    return (100 * masked.softmax(dim=-1)).round() / 100


def _pure(block: int) -> Tensor:
    """Returns weights `(1, 4, n, n)` of heads that look at one place: itself, before, after the twin, the twin."""
    rows = torch.arange(2 * block)
    places = [rows, (rows - 1).clamp(min=0), rows - block + 1, rows - block]
    heads = [torch.nn.functional.one_hot(place.clamp(min=0), 2 * block).float() for place in places]
    return torch.stack(heads)[None]


def _ask(weights: Tensor) -> Ask:
    return Ask((weights,))


def _all_rows(attention: Tensor) -> Tensor:
    n = attention.size(-1)
    return attention.diagonal(1 - n // 2, dim1=-2, dim2=-1).mean(dim=(0, 2))


def _over_all_rows(attention: Tensor) -> Tensor:
    return induction_score(attention) / 2


def _summed(attention: Tensor) -> Tensor:
    return induction_score(attention) * (attention.size(-1) // 2)


def _one_number(attention: Tensor) -> Tensor:
    return induction_score(attention).mean()


def _first_text(attention: Tensor) -> Tensor:
    return induction_score(attention[:1])


def _for_each_text(attention: Tensor) -> Tensor:
    return torch.stack([induction_score(one[None]) for one in attention])


def _largest(attention: Tensor) -> Tensor:
    rows = torch.arange(attention.size(-1) // 2, attention.size(-1))
    return attention[:, :, rows, rows - attention.size(-1) // 2 + 1].amax(dim=(0, 2))


def _argmax_share(attention: Tensor) -> Tensor:
    n = attention.size(-1)
    rows = torch.arange(n // 2, n)
    return (attention[:, :, rows].argmax(dim=-1) == rows - n // 2 + 1).float().mean(dim=(0, 2))


EXERCISE = Exercise(
    induction_score,
    [
        Stage(
            "one number for each head",
            0.25,
            "For attention (b, h, n, n) the result has the shape (h,): mean over the texts and over the rows.",
            [_ask(_random(1, 2, 3, 3)), _ask(_random(5, 2, 1, 3))],
            lambda rng: [_ask(_random(seed_from(rng), 3, 2, 4)), _ask(_random(seed_from(rng), 1, 1, 3))],
            view="shape",
        ),
        Stage(
            "heads that look at one place only",
            1,
            "Heads that look at themselves, at the token before, and at the same token one block earlier have 0; the "
            "one that looks at what came after it there has 1.",
            [_ask(_pure(5))],
            lambda rng: [_ask(_pure(block)[:, rng.sample(range(4), 4)]) for block in (rng.choice([4, 5]), 6)],
            decisive=True,
        ),
        Stage(
            "one text, weights of all sizes",
            1,
            "Rows n/2 to n - 1, each at the place n/2 - 1 before it; the mean of these weights.",
            [_ask(_random(2, 1, 2, 4))],
            lambda rng: [_ask(_random(seed_from(rng), 1, 3, 4)), _ask(_random(seed_from(rng), 1, 2, 5))],
            decisive=True,
        ),
        Stage(
            "several texts",
            0.5,
            "The mean runs over the texts of the batch as well, and not over the heads.",
            [_ask(_random(3, 3, 2, 3))],
            lambda rng: [_ask(_random(seed_from(rng), 2, 4, 4)), _ask(_random(seed_from(rng), 3, 3, 3))],
        ),
        Stage(
            "the type of the weights stays",
            0.25,
            "Weights in double precision give scores in double precision: compute with tensors, without .item() and "
            ".tolist().",
            [Ask((_random(4, 1, 2, 3),), take="in double")],
            lambda rng: [Ask((_random(seed_from(rng), 1, 2, 4),), take="in double")],
        ),
    ],
    [
        Mistake(
            "it looks at the same token, not at the one after it",
            "One place too far back: that is where the token itself stood one block earlier. What followed it stands "
            "one place to the right.",
            lambda attention: _looking_back(attention, attention.size(-1) // 2),
        ),
        Mistake(
            "it looks two places after the same token",
            "One place too near: n/2 back stands the token itself, n/2 - 1 back the one that followed it.",
            lambda attention: _looking_back(attention, attention.size(-1) // 2 - 2),
        ),
        Mistake(
            "it looks at the token before the same token",
            "The one that FOLLOWED it is wanted: n/2 - 1 back, not n/2 + 1.",
            lambda attention: torch.stack(
                [
                    attention[:, :, row, row - attention.size(-1) // 2 - 1]
                    for row in range(attention.size(-1) // 2 + 1, attention.size(-1))
                ]
            ).mean(dim=(0, 1)),
        ),
        Mistake(
            "the token before",
            "That finds heads that look one place back, a part of the trick. Here: n/2 - 1 places back.",
            lambda attention: _looking_back(attention, 1),
        ),
        Mistake(
            "rows and columns are exchanged",
            "Row i is the token that looks, column j the one that is looked at.",
            lambda attention: induction_score(attention.mT),
        ),
        Mistake(
            "the last row of the first half counts too",
            "The diagonal has n/2 + 1 places. The first of them is in a row of the first half, where nothing has come "
            "twice yet.",
            _all_rows,
        ),
        Mistake(
            "divided by the number of all rows",
            "The mean runs over the n/2 rows of the second half only.",
            _over_all_rows,
        ),
        Mistake(
            "the sum in place of the mean",
            "A head that always looks there has the score 1, however long the text is.",
            _summed,
        ),
        Mistake(
            "the mean over the heads too",
            "Each head has a score of its own: the result is (h,).",
            _one_number,
        ),
        Mistake(
            "only the first text",
            "The mean runs over all texts of the batch.",
            _first_text,
        ),
        Mistake(
            "one score for each text",
            "The mean runs over the texts as well: the result is (h,).",
            _for_each_text,
        ),
        Mistake(
            "the largest weight in place of the mean",
            "One lucky row says little: take the mean.",
            _largest,
        ),
        Mistake(
            "the share of rows whose largest weight is there",
            "The weights themselves are averaged, not how often one is the largest.",
            _argmax_share,
        ),
    ],
    hints=(
        "Write a block of three letters twice, `A B C A B C`, and number the places. The token that looks stands at "
        "place 3. Where did its letter stand before, and where did stand what followed? How many places back is that, "
        "for each row of the second half?",
        "With $n = 6$: row 3 (A) should look at place 1 (B), row 4 (B) at place 2 (C), row 5 (C) at place 3 (A). Each "
        "is $n/2 - 1 = 2$ places back. If the weights there are 0.9, 0.6 and 0.6, the score is 0.7. Rows 0 to 2 do not "
        "count: nothing has come twice yet.\n\n`t[:, :, [3, 4, 5], [1, 2, 3]]` takes the entries (3, 1), (4, 2) and "
        "(5, 3) of each matrix, so its shape is `(b, h, 3)`.",
        "Three steps:\n"
        "1. the numbers of the rows: `torch.arange(...)`, `(n/2,)`, and their columns, $n/2 - 1$ less;\n"
        "2. the weights at these places, of all texts and heads: `(b, h, n/2)`;\n"
        "3. their mean over the first and the last axis: `(h,)`.\n\n"
        "With `diagonal(offset)`, mind that a diagonal also runs through one row of the first half: leave it out.",
    ),
)
