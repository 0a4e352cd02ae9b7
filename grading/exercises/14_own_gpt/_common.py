"""What several exercises of notebook 14 share: what the notebook gives in its set-up cells, and how texts are drawn."""

from __future__ import annotations

import itertools
import math
import random
import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from grading.definitions.definition import ExerciseError

Pair = tuple[int, int]
WORD = re.compile(r" ?\w+| ?[^\w\s]+|\s")


def split_words(text: str) -> list[str]:
    return WORD.findall(text)


def replace_pair(numbers: list[int], pair: Pair, new: int) -> list[int]:
    found: list[int] = []
    for number in numbers:
        if found and found[-1] == pair[0] and number == pair[1]:
            found[-1] = new
        else:
            found.append(number)
    return found


def _bytes(word: str) -> list[int]:
    return list(word.encode())


def _smallest(pairs: Counter[Pair]) -> Pair:
    return min(pairs, key=lambda pair: (-pairs[pair], pair))


def _first_met(pairs: Counter[Pair]) -> Pair:
    return max(pairs, key=lambda pair: pairs[pair])


def _largest(pairs: Counter[Pair]) -> Pair:
    return max(pairs, key=lambda pair: (pairs[pair], pair))


def _not_overlapping(parts: list[int]) -> list[Pair]:
    """Returns the pairs of neighbours, but of 1, 1, 1 only one."""
    found, skip = list[Pair](), False
    for pair in itertools.pairwise(parts):
        skip = pair[0] == pair[1] and not skip
        if skip or pair[0] != pair[1]:
            found.append(pair)
    return found


def _learn(
    texts: list[str],
    merges: int,
    *,
    split: Callable[[str], Iterable[str]] = split_words,
    numbers: Callable[[str], list[int]] = _bytes,
    choose: Callable[[Counter[Pair]], Pair] = _smallest,
    once: bool = False,
    seldom: int = 1,
    endless: bool = False,
    apart: bool = False,
    overlap: bool = True,
) -> list[Pair]:
    """Learns merges; the options are the ways in which it goes wrong."""
    counts = Counter(word for text in texts for word in split(text))
    words = {word: numbers(word) for word in counts}
    found: list[Pair] = []
    while len(found) < merges:
        pairs = Counter[Pair]()
        for word, parts in words.items():
            neighbours = list(itertools.pairwise(parts)) if overlap else _not_overlapping(parts)
            for pair in neighbours[:: 2 if apart else 1]:
                pairs[pair] += 1 if once else counts[word]
        if max(pairs.values(), default=0) < seldom and not endless:
            break
        best = choose(pairs)
        words = {word: replace_pair(parts, best, 256 + len(found)) for word, parts in words.items()}
        found.append(best)
    return found


class FeedForward(nn.Sequential):
    """The feed-forward part that the notebook gives."""

    def __init__(self, d_model: int, d_feedforward: int) -> None:
        hidden, output = nn.Linear(d_model, d_feedforward), nn.Linear(d_feedforward, d_model)
        super().__init__(OrderedDict(hidden=hidden, activation=nn.ReLU(), output=output))


class TokenEmbedding(nn.Embedding):
    """The embedding that the notebook gives."""

    def reset_parameters(self) -> None:
        nn.init.normal_(self.weight, std=self.embedding_dim**-0.5)


def _telling(
    rng: random.Random, draw: Callable[[random.Random], Any], tells: Callable[[Any], bool], tries: int = 3000
) -> Any:
    """Draws until a question tells apart what it is there for, so that no mark depends on luck.

    Raises:
        ExerciseError: when it never does, which is a fault of the definition.
    """
    for _ in range(tries):
        drawn = draw(rng)
        if tells(drawn):
            return drawn
    raise ExerciseError("no question was found that tells the known mistakes from the reference.")


Answers = list[Callable[..., Any]]


def _differ(reference: Callable[..., Any], apart: Answers, same: Answers | None = None) -> Callable[[Any], bool]:
    """Returns whether questions, a list of inputs, tell apart the answers that they must, and no others.

    Of those that differ from the reference, no two may give the same on all of the questions.
    """

    def replies(answer: Callable[..., Any], questions: Any) -> str:
        try:
            return str([answer(*inputs) for inputs in questions])
        except (ArithmeticError, LookupError, ValueError) as problem:
            return type(problem).__name__

    def tells(questions: Any) -> bool:
        found = [replies(reference, questions)]
        if any(replies(other, questions) != found[0] for other in same or []):
            return False
        for other in apart:
            reply = replies(other, questions)
            if reply in found:
                return False
            found.append(reply)
        return True

    return tells


SYLLABLES = ("le", "la", "te", "ne", "ca", "on", "an", "es", "re", "ou", "pe", "et", "in", "aa")


def _words(rng: random.Random, count: int) -> list[str]:
    """Returns different words of two or three syllables."""
    made: list[str] = []
    while len(made) < count:
        word = "".join(rng.choices(SYLLABLES, k=rng.randint(2, 3)))
        if word not in made:
            made.append(word)
    return made


def _text(rng: random.Random, words: Sequence[str], count: int) -> str:
    """Returns a text of words and a few commas; some words come more often than others."""
    weights = [1 / (place + 1) for place in range(len(words))]
    return " ".join(rng.choices(words, weights, k=count)) + rng.choice(".!?")


def _tokens(rng: random.Random, b: int, n: int, vocab_size: int) -> Tensor:
    return torch.tensor([[rng.randrange(vocab_size) for _ in range(n)] for _ in range(b)])


def _normal(seed: int, *shape: int, size: float = 1.0) -> Tensor:
    """Returns normal numbers with one decimal, so that the file of examples stays short."""
    return (10 * size * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))).round() / 10


LN2 = math.log(2)
