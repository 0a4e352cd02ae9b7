"""Exercise errors_by_length of notebook 06."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, both, seed_from
from tutor.checking.answers import Question

exercise = Definition(minutes=12, difficulty=2)


@exercise.reference
def errors_by_length(logits: Tensor, labels: Tensor, lengths: Tensor, edges: list[int]) -> Tensor:
    return _by_length(logits, labels, lengths, edges)


def _by_length(
    logits: Tensor,
    labels: Tensor,
    lengths: Tensor,
    edges: list[int],
    *,
    inside: Callable[[Tensor, int, int], Tensor] = lambda lengths, low, high: (low <= lengths) & (lengths < high),
    share: Callable[[Tensor, Tensor], Tensor] = lambda wrong, chosen: wrong[chosen].float().mean(),
) -> Tensor:
    """Returns one number for each bin; the options are the ways in which it goes wrong."""
    wrong = logits.argmax(dim=-1) != labels
    bins = itertools.pairwise(edges)
    return torch.stack([share(wrong, inside(lengths, low, high)) for low, high in bins])


def _classified(rng: random.Random, lengths: list[int], wrong: list[int], edges: list[int]) -> Question:
    """Returns a question with three classes in which the texts number `wrong` are misclassified, never as class 2.

    Of the others every third is in class 2, so that who compares two classes only finds more errors in every bin.
    """
    start = rng.randrange(3)
    labels = torch.tensor([rng.choice([0, 2]) if n in wrong else (start + n) % 3 for n in range(len(lengths))])
    logits = (10 * torch.randn(len(lengths), 3, generator=torch.Generator().manual_seed(seed_from(rng)))).round() / 10
    best = torch.tensor([(int(label) + (n in wrong)) % 3 for n, label in enumerate(labels)])
    logits[torch.arange(len(lengths)), best] = logits.amax(dim=1) + 0.2  # the best of three, and often below one half
    return Question((logits, labels, torch.tensor(lengths), edges))


def _draw_errors(*, on_edges: bool = False, empty: bool = False) -> Draw:
    def draw(rng: random.Random) -> list[Question]:
        edges = sorted(rng.sample(range(10, 90, 10), 4))
        lengths, wrong = list[int](), list[int]()
        for number, (low, high) in enumerate(itertools.pairwise(edges)):
            if empty and number == 1:
                continue
            size = rng.choice([4, 5]) + 2 * number
            for index in range(size):
                if index < 1 + number:
                    wrong.append(len(lengths))
                lengths.append(low if on_edges and index < 2 else rng.randint(low + 1, high - 1))
        if on_edges:  # the end of the last bin belongs to no bin, nor does what is shorter or longer than all bins
            outside = [edges[-1], edges[-1] + rng.randint(1, 9), *rng.sample(range(1, edges[0]), 2)]
            wrong += range(len(lengths), len(lengths) + len(outside))
            lengths += outside
        return [_classified(rng, lengths, wrong, edges)]

    return draw


_INSIDE, _ON_EDGES, _EMPTY = _draw_errors(), _draw_errors(on_edges=True), _draw_errors(empty=True)


def _many_texts() -> Question:
    """Returns a question with 400 texts in 40 bins."""
    number = torch.arange(400)
    logits = torch.stack([(number % 3).float(), (number % 5) - 1.5], dim=1)
    return Question((logits, number % 2, 3 * number + 1, list(range(1, 1202, 30))))


@exercise.stage("a floating point tensor with one number for each bin", points=0.25, seed=1, view="shape")
def _(rng: random.Random) -> list[Question]:
    """k + 1 edges make k bins: the result has shape (k,)."""
    return _INSIDE(rng)


@exercise.stage("of the texts in a bin, the share that is wrong", points=0.75, seed=2, decisive=True)
def _(rng: random.Random) -> list[Question]:
    """Divide the errors of a bin by the texts of the same bin. The class of a text is that with the largest logit, of
    however many classes.
    """
    return _INSIDE(rng)


@exercise.stage("lengths that are an edge, or outside all bins", points=0.5, seed=3)
def _(rng: random.Random) -> list[Question]:
    """A bin holds its lower edge and not its upper one: low <= length < high. Texts that are shorter than the first
    edge, or not shorter than the last, are in no bin.
    """
    return _ON_EDGES(rng)


def _none_wrong(rng: random.Random) -> list[Question]:
    """Asks for bins without errors: of many texts, of one; of one wrong text; of very long ones; and a single bin."""
    edges = [*sorted(rng.sample(range(10, 90, 10), 4)), 5000, 6000]
    sizes = [rng.randint(4, 6), 1, 1, 2, rng.randint(2, 3)]
    bins = list(zip(itertools.pairwise(edges), sizes, strict=True))
    lengths = [rng.randint(low + 1, high - 1) for (low, high), n in bins for _ in range(n)]
    last = sizes[0] + 2
    wrong = [last - 1, last + 1, *range(last + 2, len(lengths))]  # 0, 0, 1, 1/2 and 1
    alone = _classified(rng, [3, 4, 5, 6], [rng.randrange(4)], [1, 7])
    return [_classified(rng, lengths, wrong, edges), _classified(rng, [3, 4, 5], [], [1, 7]), alone]


def _empty_at_the_end(rng: random.Random) -> list[Question]:
    """Asks for bins of which the last two have no texts: the result has a number for them all the same."""
    edges = sorted(rng.sample(range(10, 90, 10), 4))
    lengths = [rng.randint(edges[0] + 1, edges[1] - 1) for _ in range(rng.randint(4, 6))]
    return [_classified(rng, lengths, [rng.randrange(4)], edges)]


_SPECIAL = both(_EMPTY, _none_wrong, _empty_at_the_end)


@exercise.stage("a bin without texts: NaN; one with texts and no errors: 0", points=0.5, seed=4, decisive=True)
def _(rng: random.Random) -> list[Question]:
    """0 errors of 0 texts is not 0 %: nobody was asked. The mean of an empty tensor is NaN, which is what we want. 0
    errors of 3 texts, or of a single one, is 0 %.
    """
    return _SPECIAL(rng)


exercise.large += [_many_texts()]


@exercise.corners(
    "lengths that are an edge, or outside all bins",
    bins=(1, 2, range(33, 36)),
    texts=(1, 2, range(301, 304)),
    place=("at the lower edges", "just below the upper edges", "outside"),
)
def _(rng: random.Random, bins: int, texts: int, place: str) -> Question:
    edges = [10 + 7 * n for n in range(bins + 1)]
    places = {"at the lower edges": edges[:-1], "just below the upper edges": [edge - 1 for edge in edges[1:]]}
    among = places.get(place, [0, 9, edges[-1], edges[-1] + 1, 10**6])
    lengths = [rng.choice(among) for _ in range(texts)]
    return _classified(rng, lengths, rng.sample(range(texts), texts // 2), edges)
