"""Exercise masked_lm_loss of notebook 07."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, both, seed_from
from helpers.batches import IGNORE
from helpers.vocabulary import EOS, MASK, PAD, SOS
from tutor.checking.answers import Question
from tutor.checking.plain import Model

from ._common import SPECIALS, _model, _sentence

exercise = Definition(minutes=20, difficulty=2, trains=True)


@exercise.reference
def masked_lm_loss(model: Any, tokens: Tensor, target: Tensor, lengths: Tensor) -> Tensor:
    return _loss(model(tokens, lengths), target)


def _loss(logits: Tensor, target: Tensor) -> Tensor:
    total = F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=IGNORE, reduction="sum")
    return total / (target != IGNORE).sum().clamp(min=1)


def _by_hand() -> Question:
    """Returns the question that the text works by hand.

    Of eight tokens the model gives 6 the probability 1/2 where it reads <mask>, and each the same where it reads 5.
    """
    says = torch.zeros(8, 8)
    says[MASK, 6] = math.log(7)
    model = Model("SumOfSomeWords", {"strengths": torch.eye(4), "says": says})
    target = torch.tensor([[IGNORE, 6, 7, IGNORE]])
    return Question((model, torch.tensor([[SOS, MASK, 5, EOS]]), target, torch.tensor([4])))


exercise.by_hand(_by_hand())


LARGE_LOGITS = 12.0


def _batch(lengths: list[int], chosen: list[list[int]], seed: int, spread: float = 0.3, spare: int = 0) -> Question:
    """Returns a question on texts of these lengths; of each, these positions are chosen: <mask>, another word, kept.

    With a large `spread` the logits are so large that their exponentials are 0 or infinite; the model has no layers
    then, through which the rounding of a processor would grow until gradients differ. There are `spare` columns more
    than the longest text needs.
    """
    tokens = torch.full((len(lengths), max(lengths) + spare), PAD)
    for row, length in zip(tokens, lengths, strict=True):
        seed += 1
        row[:length] = _sentence(length, seed)
    target = torch.full_like(tokens, IGNORE)
    for text, positions in enumerate(chosen):
        for count, position in enumerate(positions):
            target[text, position] = tokens[text, position]
            if count % 3 < 2:
                tokens[text, position] = MASK if count % 3 == 0 else SPECIALS + (int(tokens[text, position]) + 3) % 20
    layers = 0 if spread == LARGE_LOGITS else 2
    return Question((_model(seed, spread=spread, n_layers=layers), tokens, target, torch.tensor(lengths)))


def _draw_batch(low: int, high: int, texts: int, positions: tuple[int, ...], spread: float = 0.3) -> Draw:
    def draw(rng: random.Random) -> list[Question]:
        lengths = [rng.randint(low, high) for _ in range(texts)]
        chosen = [rng.sample(range(1, n - 1), c) for n, c in zip(lengths, positions, strict=False)]
        return [_batch(lengths, chosen, seed_from(rng), spread)]

    return draw


# A millionth that is added to each probability is seen in what decides, for every student, and not here for some.
NEAR = 1e-3


@exercise.stage(
    "one text, one chosen word",
    points=0.5,
    public=[_batch([6], [[3]], 10), _batch([8], [[2]], 20)],
    tolerance=NEAR,
)
def _(rng: random.Random) -> list[Question]:
    """By hand: softmax of the logits at the chosen position, minus the logarithm of the probability of the target."""
    return both(_draw_batch(6, 10, 1, (1,)), _draw_batch(4, 4, 1, (1,)))(rng)


@exercise.stage(
    "several chosen words, also some that are not <mask>",
    points=1,
    public=[_batch([9], [[2, 4, 5, 7]], 30), _batch([9], [[1, 4, 5, 6]], 36, LARGE_LOGITS)],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """The mean over all positions where the target is not IGNORE, whatever stands in the input there. Logits may be
    large: F.cross_entropy takes care of that, log(softmax(...)) does not.
    """
    return both(_draw_batch(8, 10, 1, (4,)), _draw_batch(8, 10, 1, (4,), LARGE_LOGITS))(rng)


@exercise.stage(
    "texts of different lengths",
    points=1,
    public=[
        _batch([14, 6], [[11], [1, 4, 2]], 40),
        _batch([6, 11], [[1, 4, 2], [9]], 41),
        _batch([6, 6], [[1, 4], [2]], 43, spare=3),
        _batch([7], [[1, 4, 5]], 44, spare=4),
        _batch([5, 9, 6, 7, 5, 8, 6, 7, 5, 9], [[1, 2, 3], [5], [2], [3], [], [4], [], [1], [2, 3], [4]], 42),
    ],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """The model must not look at the padding: give it the lengths. And every chosen word counts the same, whichever
    text it is in.
    """
    short, long = rng.randint(6, 8), rng.randint(14, 18)
    return [
        _batch([long, short], [[11], [1, 4, 2]], seed_from(rng)),
        _batch([short, long], [[2, 3, 4], [9]], seed_from(rng)),
        _batch([7, 12, *[rng.randint(5, 9) for _ in range(9)]], [[1, 2, 3, 4], [5], [2], [3]], seed_from(rng)),
        _batch([short, short], [[2, 3], [1]], seed_from(rng), spare=rng.randint(2, 5)),
        _batch([short], [[2, 3, 4]], seed_from(rng), spare=rng.randint(3, 6)),
    ]


def _nothing_chosen(lengths: list[int], seed: int) -> list[Question]:
    """Returns batches in which nothing was chosen, and nothing in the last text only; the first one is trained too."""
    nothing = _batch(lengths, [[] for _ in lengths], seed)
    return [nothing, _batch(lengths, [[2, 1]], seed + 100), replace(nothing, probe="learns")]


@exercise.stage(
    "a batch in which nothing was chosen",
    points=1,
    public=_nothing_chosen([5, 4], 50),
    tolerance=NEAR,
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Then there is nothing to learn: the loss is 0, and so is each gradient after backward(). A mean over nothing is
    0/0, not a number, and a new tensor knows no weights. Texts without a chosen word may also stand beside others.
    """
    return _nothing_chosen([rng.randint(4, 7), rng.randint(4, 6)], seed_from(rng))


_two_texts = _draw_batch(5, 9, 2, (2, 1))


@exercise.stage(
    "a number, `()`, for backward()",
    points=0.5,
    public=[_batch([5, 4], [[2, 3], [1]], 60), replace(_batch([5, 4], [[2, 3], [1]], 60), probe="learns")],
    view="shape",
)
def _(rng: random.Random) -> list[Question]:
    """A tensor without axes, the mean: not one loss for each position, and no Python number. It must still know the
    weights it came from: no .item(), .detach() or torch.no_grad() on the way.
    """
    return [replace(ask, probe=probe) for ask in _two_texts(rng) for probe in ("result", "learns")]


exercise.large += [_batch([64], [[3, 40, 63]], 9)]


def _corner(rng: random.Random, texts: int, n: int, chosen: str, spread: float) -> Question:
    """Asks about one chosen word and about all, in short texts and long ones, of a model that is sure or is not."""
    positions = [1] if chosen == "the first" else [n - 2] if chosen == "the last" else list(range(1, n - 1))
    return _batch([n, *[3] * (texts - 1)], [positions, *[[1]] * (texts - 1)], seed_from(rng), spread)


SPREADS = (0.3, LARGE_LOGITS)
exercise.corners("one text, one chosen word", texts=(1,), n=(3, 64), chosen=("the first", "the last"), spread=SPREADS)(
    _corner
)
exercise.corners(
    "several chosen words, also some that are not <mask>", texts=(1,), n=(4, 64), chosen=("all",), spread=SPREADS
)(_corner)
exercise.corners(
    "texts of different lengths", texts=(2, range(33, 36)), n=(4, 64), chosen=("the last", "all"), spread=SPREADS
)(_corner)
