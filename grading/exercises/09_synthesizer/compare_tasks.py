"""Exercise compare_tasks of notebook 09."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping

import torch
from torch import Tensor

from grading.definitions.definition import Definition, Stage
from tutor.checking.answers import Question

Known = Callable[[list[int], int, int], Hashable]  # sentence, row, wanted position -> what the rule may look at
Shares = dict[str, float]

KNOWN: dict[str, Known] = {
    "random": lambda sentence, i, position: i,
    "dense": lambda sentence, i, position: (i, sentence[i]),
    "prefix": lambda sentence, i, position: tuple(sentence[: i + 1]),
}


exercise = Definition(minutes=30, difficulty=3)


@exercise.reference
def compare_tasks(tokens: Tensor, positions: Tensor) -> Shares:
    return _shares(tokens, positions)


def _groups(tokens: Tensor, positions: Tensor, known: Known, nothing: int = 0) -> dict[Hashable, Counter[int]]:
    """Returns for all that a rule may look at how often each position is wanted; those below `nothing` do not count."""
    groups: dict[Hashable, Counter[int]] = defaultdict(Counter)
    for sentence, wanted in zip(tokens.tolist(), positions.tolist(), strict=True):
        for i, position in enumerate(wanted):
            if position >= nothing:
                groups[known(sentence, i, position)][position] += 1
    return groups


def _best(groups: dict[Hashable, Counter[int]]) -> float:
    right = sum(max(counts.values()) for counts in groups.values())
    return right / sum(sum(counts.values()) for counts in groups.values())


def _shares(tokens: Tensor, positions: Tensor, changed: Mapping[str, Known] = KNOWN, nothing: int = 0) -> Shares:
    known = {**KNOWN, **changed}
    return {name: _best(_groups(tokens, positions, known[name], nothing)) for name in KNOWN}


ALIKE = (1, 11, 111)  # tokens of which several have the same digits in a row
ROUND = (0, 100, 1000)  # tokens that a row makes equal in sums such as 100 * i + token, or as n * i + token with n


def _task(
    rng: random.Random, m: int, n: int, words: int, skip: float = 0.0, tokens_of: tuple[int, ...] = ALIKE
) -> Question:
    """Draws a task whose positions follow the row, the token or the tokens before it, each in part of the rows."""
    tokens, positions = [], []
    own = [[rng.randint(0, i) for _ in range(words)] for i in range(n)]  # the position that a word names, by row
    for _ in range(m):
        sentence = [rng.randrange(words) for _ in range(n)]
        row = []
        for i in range(n):
            before = sum(sentence[: i + 1]) % (i + 1)
            row.append(rng.choice([own[i][0], own[i][sentence[i]], before, rng.randint(0, i)]))
        tokens.append([tokens_of[number] for number in sentence])
        positions.append([-1 if rng.random() < skip * (1 + i) / n else position for i, position in enumerate(row)])
    return Question((torch.tensor(tokens), torch.tensor(positions)))


def _long_task(n: int) -> Question:
    """Returns a task of two sentences that differ in their first token alone, and look at different positions."""
    tokens = torch.zeros(2, n, dtype=torch.int64)
    tokens[1, 0] = 1
    return Question((tokens, torch.stack([torch.zeros(n, dtype=torch.int64), torch.arange(n)])))


def _entry(ask: Question, *entries: str) -> Question:
    return Question(ask.inputs, entries=entries)


# The four sentences of two words that the notebook does by hand.
SMALL = Question((torch.tensor([[5, 7], [6, 7], [4, 7], [5, 8]]), torch.tensor([[0, 0], [0, 0], [0, 1], [0, 1]])))
exercise.by_hand(SMALL, part=lambda shares: [shares[name] for name in KNOWN])
# In these two every other rule that we know of gives other shares: no wrong answer passes by luck.
LARGER = _task(random.Random(1), 24, 4, 2)
LARGEST = _task(random.Random(2), 24, 4, 4, tokens_of=(4, *ROUND))


def _written_alike(rng: random.Random) -> Question:
    """Returns a task of beginnings that look at other positions, and are the same number when their tokens are digits.

    As in 1 + 1 * 10 and 11 + 0 * 10: in bases of 10, 100 and 1,000, from the first token on and from the last.
    """
    sentences = [pair for base in (10, 100, 1000) for pair in ([1, 1], [base + 1, 0], [0, base + 1])]
    positions = [[0, int(max(pair) > 1)] for pair in sentences]
    order = rng.sample(range(len(sentences)), len(sentences))
    return Question((torch.tensor(sentences)[order], torch.tensor(positions)[order]))


def _draw_tasks(rng: random.Random, *skip: float) -> list[Question]:
    first, second = skip or (0.0, 0.0)
    tasks = [
        _written_alike(rng),
        _task(rng, 40, 6, 2, first),
        _task(rng, 30, 5, 4, second, (5, *ROUND)),
        _task(rng, 1, 4, 2),
        _task(rng, 9, 1, 3),
    ]
    return [Question(task.inputs) for task in tasks]


def _share_stage(name: str, feedback: str, entry: str) -> Stage:
    return Stage(
        name,
        1,
        feedback,
        [_entry(SMALL, entry), _entry(LARGER, entry), _entry(LARGEST, entry)],
        lambda rng: [_entry(task, entry) for task in _draw_tasks(rng)],
        decisive=entry == "dense",
    )


@exercise.stage("a dict with the three names", points=0.25, public=[Question(SMALL.inputs, probe="names")])
def _(rng: random.Random) -> list[Question]:
    """The names are "random", "dense" and "prefix"."""
    return [Question(_task(rng, 5, 3, 2).inputs, probe="names")]


exercise.add(
    _share_stage(
        "random: one place for each row",
        "For row i count how often each position is wanted, over all sentences. The best rule takes the most frequent "
        "one.",
        "random",
    ),
    _share_stage(
        "dense: one place for each row and token",
        "Now make a group for each pair (i, token at i), and take the most frequent position of each group.",
        "dense",
    ),
    _share_stage(
        "prefix: one place for each beginning of a sentence",
        "Make a group for each beginning, tokens 0 to i with i itself: all that any causal layer could know. Whoever "
        "makes one number of a beginning may give two of them the same one; tuples of tokens stay apart.",
        "prefix",
    ),
)


@exercise.stage(
    "rows that ask nothing", points=0.75, public=[Question(_task(random.Random(8), 16, 4, 2, skip=0.8).inputs)]
)
def _(rng: random.Random) -> list[Question]:
    """Where positions is -1, there is no question: leave it out of the right ones and out of the total."""
    return _draw_tasks(rng, 0.8, 0.7)


exercise.large += [_long_task(70)]  # of two tokens, 64 are as many as one whole number holds


BASES = (2, 3, 10, 16, 64, 100, 1000, 65_536, 1_000_003)


@exercise.corners("prefix: one place for each beginning of a sentence", base=BASES)
def _(rng: random.Random, base: int) -> Question:
    """Asks about beginnings that are the same number to a base: 1 and base + 1, and 2 and 1."""
    times = rng.randint(1, 3)
    tokens, positions = torch.tensor([[1, base + 1], [2, 1]]), torch.tensor([[0, 0], [0, 1]])
    return _entry(Question((tokens.repeat(times, 1), positions.repeat(times, 1))), "prefix")


@exercise.corners("rows that ask nothing", base=BASES)
def _(rng: random.Random, base: int) -> Question:
    """Asks about the same beginnings, of which one row asks nothing."""
    times = rng.randint(1, 3)
    tokens, positions = torch.tensor([[1, base + 1], [2, 1]]), torch.tensor([[0, 0], [-1, 1]])
    return Question((tokens.repeat(times, 1), positions.repeat(times, 1)))


for entry, stage in (
    ("random", "random: one place for each row"),
    ("dense", "dense: one place for each row and token"),
):

    @exercise.corners(stage, m=(1, 2, range(101, 104)), n=(1, 2, range(33, 36)), words=(1, 3))
    def _(rng: random.Random, m: int, n: int, words: int, entry: str = entry) -> Question | None:
        return _entry(_task(rng, m, n, words), entry) if m * n < 2000 else None
