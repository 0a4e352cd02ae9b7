"""Exercise last_token of notebook 04."""

from __future__ import annotations

import random
from collections.abc import Callable

import torch
from torch import Tensor

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw
from tutor.checking.answers import Ask


def last_token(hidden: Tensor, lengths: Tensor) -> Tensor:
    return hidden[torch.arange(len(hidden)), lengths - 1]


def _hidden(b: int, n: int, d: int, seed: int) -> Tensor:
    numbers = torch.randn(b, n, d, generator=torch.Generator().manual_seed(seed))
    return (100 * numbers).round() / 100  # two decimals, to be read in the picture


def _draw_padded(low: int, texts: tuple[int, int], spare: int) -> Draw:
    """Returns what draws a batch of texts of at least `low` tokens; `spare` columns at most are padding for all."""

    def draw(rng: random.Random) -> list[Ask]:
        n, d = rng.randint(6, 9), rng.choice([2, 3, 5])
        lengths = [rng.randint(low, n) for _ in range(rng.randint(*texts))]
        return [Ask((_hidden(len(lengths), n + rng.randint(0, spare), d, rng.randrange(10**6)), torch.tensor(lengths)))]

    return draw


def _middle_first(rng: random.Random) -> list[int]:
    """Returns three lengths of which the first is neither the largest nor the smallest."""
    low, middle, high = sorted(rng.sample(range(2, 7), 3))
    return [middle, high, low]


def _row(place: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """Returns an answer that takes from each text the row at `place(hidden, lengths)`."""
    return lambda hidden, lengths: hidden[torch.arange(len(hidden)), place(hidden, lengths)]


def _mean_of_real(hidden: Tensor, lengths: Tensor) -> Tensor:
    return torch.stack([rows[:length].mean(dim=0) for rows, length in zip(hidden, lengths.tolist(), strict=True)])


EXERCISE = Exercise(
    last_token,
    [
        Stage(
            "a tensor of shape (b, d)",
            0.5,
            "One row of d numbers for each text: the axis of the tokens is gone.",
            [Ask((_hidden(2, 4, 3, 1), torch.tensor([4, 2])))],
            _draw_padded(2, (2, 5), 2),
            view="shape",
        ),
        Stage(
            "one text",
            0.5,
            "A text of length 3 has its tokens at the places 0, 1 and 2: its last one is at place 2. The shape is "
            "(1, d) "
            "also for one text.",
            [Ask((_hidden(1, 7, 2, 2), torch.tensor([3])))],
            lambda rng: [Ask((_hidden(1, 9, 3, rng.randrange(10**6)), torch.tensor([rng.choice([3, 4, 6, 7])])))],
        ),
        Stage(
            "several texts without padding",
            0.5,
            "Where all texts are as long as the batch is wide, the last real token is the last row.",
            [Ask((_hidden(3, 4, 2, 3), torch.tensor([4, 4, 4])))],
            lambda rng: [Ask((_hidden(4, 5, 3, rng.randrange(10**6)), torch.tensor([5] * 4)))],
        ),
        Stage(
            "several texts of different lengths",
            1,
            "Each text has its own last place: text number k takes row lengths[k] - 1 of hidden[k].",
            [
                Ask((_hidden(3, 6, 2, 4), torch.tensor([3, 6, 2]))),
                Ask((_hidden(2, 6, 3, 5), torch.tensor([4, 2]))),
                Ask((_hidden(4, 4, 4, 7), torch.tensor([2, 4, 1, 3]))),
                Ask((_hidden(3, 5, 1, 9), torch.tensor([4, 5, 2]))),
            ],
            lambda rng: [
                *_draw_padded(2, (6, 9), 2)(rng),
                Ask((_hidden(3, 9, 2, rng.randrange(10**6)), torch.tensor(_middle_first(rng)))),
                Ask((_hidden(3, 7, 1, rng.randrange(10**6)), torch.tensor(_middle_first(rng)))),
            ],
            decisive=True,
        ),
        Stage(
            "a text of <sos> alone",
            0.5,
            "A length of 1 means that the only real token is at place 0.",
            [Ask((_hidden(3, 4, 2, 6), torch.tensor([2, 1, 4])))],
            lambda rng: [Ask((_hidden(3, 6, 3, rng.randrange(10**6)), torch.tensor([rng.randint(2, 5), 1, 6])))],
        ),
    ],
    [
        Mistake(
            "the last row of the batch, which is mostly padding",
            "hidden[:, -1] is the last real token of the longest text only. For all the others it is a row of <pad>.",
            lambda hidden, lengths: hidden[:, -1],
        ),
        Mistake(
            "one row too far: the first padding",
            "Places are counted from 0: a text of 3 tokens ends at place 2. At place 3 the padding begins, or the "
            "batch ends.",
            _row(lambda hidden, lengths: lengths),
        ),
        Mistake(
            "one row too far, and held inside the batch",
            "Places are counted from 0: a text of 3 tokens ends at place 2. Clamping only hides the error for the "
            "longest text.",
            _row(lambda hidden, lengths: lengths.clamp(max=hidden.shape[1] - 1)),
        ),
        Mistake(
            "one row too early",
            "This is the last token but one. A text of 3 tokens ends at place 2.",
            _row(lambda hidden, lengths: lengths - 2),
        ),
        Mistake(
            "texts and places are exchanged",
            "hidden is (b, n, d), the texts first: hidden[texts, places], and not hidden[places, texts].",
            lambda hidden, lengths: hidden[lengths - 1, torch.arange(len(hidden))],
        ),
        Mistake(
            "every text is read at the places of all texts",
            "hidden[:, places] gives a table of every text with every place, (b, b, d). Pair them: "
            "hidden[torch.arange(b), places].",
            lambda hidden, lengths: hidden[:, lengths - 1],
        ),
        Mistake(
            "the length of the first text for all",
            "Every text has a length of its own, lengths[k].",
            lambda hidden, lengths: hidden[:, int(lengths[0]) - 1],
        ),
        Mistake(
            "the mean of all rows, padding included",
            "The padding takes part in this mean, and the question is for one row.",
            lambda hidden, lengths: hidden.mean(dim=1),
        ),
        Mistake(
            "the mean of the real rows",
            "Mean pooling is another rule, with which section 7 compares. Here only the last real token counts: in a "
            "causal model it is the one that has read everything.",
            _mean_of_real,
        ),
        Mistake(
            "the first row",
            "Row 0 is <sos>, which in a causal model has seen nothing but itself.",
            lambda hidden, lengths: hidden[:, 0],
        ),
    ],
    trains=True,
    large=[Ask((_hidden(3, 300, 2, 8), torch.tensor([290, 41, 300])))],
    hints=(
        (
            "A text has three tokens, the batch is five places wide. Places are counted from 0: at which ones do the "
            "tokens stand, at which one the last of them? What is that place, told by `lengths`? And for two texts "
            "of different lengths: can one single place serve both?"
        ),
        (
            "With `lengths` of 4, 1, 2, wanted are `hidden[0, 3]`, `hidden[1, 0]` and `hidden[2, 1]`: pairs of a "
            "text and a place, one pair for each text.\n\n"
            "torch pairs two index tensors of the same length: for a matrix `m`, `m[torch.tensor([0, 1, 2]), "
            "torch.tensor([3, 0, 1])]` holds `m[0, 3]`, `m[1, 0]` and `m[2, 1]`. With a colon in the first place, "
            "`m[:, places]`, you get *every* row at *all* the places, which is a table and not a list of pairs."
        ),
        (
            "Three steps, with their shapes:\n"
            "1. `texts`, `(b,)`: the numbers 0, 1, ... of the texts: `torch.arange(len(hidden))`;\n"
            "2. `places`, `(b,)`: the last real place of each text, made of `lengths`;\n"
            "3. `hidden` at the pairs of the two, `(b, d)`.\n\n"
            "Test: for `hidden = torch.arange(12.0).view(2, 3, 2)` and lengths 2 and 3, the result must be `[[2, 3], "
            "[10, 11]]`. An `IndexError` says that you have gone one place too far."
        ),
    ),
)
