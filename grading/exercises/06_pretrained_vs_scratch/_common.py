"""What several exercises of notebook 06 share."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from helpers.batches import IGNORE, scored_places
from helpers.vocabulary import EOS, PAD, SOS
from tutor.checking.answers import InProcess, Question
from tutor.checking.plain import Model

Record = dict[str, Any]


def _wanted(answer: Callable[..., Any], ask: Question) -> Any:
    """Returns what an answer of this file makes of a question."""
    return InProcess(answer).ask(ask, 5).value


WORDS = ["le", "roman", "est", "long", "bon", "un", "style", "très", "et", "fin"]
V = 4 + len(WORDS)


def _base(seed: int, **options: Any) -> Model:
    shape = {"vocab_size": V, "d_model": 8, "n_layers": 1, "n_heads": 2, "dropout": 0.0, "max_len": 40}
    return Model("TransformerBase", shape | options, seed)


def _language_model(seed: int, spread: float = 0.3, **options: Any) -> Model:
    return Model("LanguageModel", {"base": _base(seed, **options)}, seed, spread=spread)


def _classifier(seed: int, n_classes: int = 2, spread: float = 0.3, **options: Any) -> Model:
    return Model("Classifier", {"base": _base(seed, **options), "n_classes": n_classes}, seed, spread=spread)


def _batch(texts: Sequence[Sequence[int]], labels: Sequence[int] = (), unasked: Sequence[int] = ()) -> Model:
    """Returns a batch of texts, for a classifier where there are labels, else for a language model.

    Of a language model nothing is asked at the positions `unasked` of the first text.
    """
    n = 1 + max(map(len, texts))

    def padded(rows: list[list[int]], value: int) -> Tensor:
        return torch.tensor([row + [value] * (n - len(row)) for row in rows])

    tokens = padded([[SOS, *text] for text in texts], PAD)
    target = torch.tensor(labels) if labels else padded([[*text, EOS] for text in texts], IGNORE)
    if unasked:
        target[0, list(unasked)] = IGNORE
    lengths = torch.tensor([1 + len(text) for text in texts])
    cells = {"tokens": tokens, "lengths": lengths, "target": target, "scored": scored_places(target)}
    return Model("Batch", {"rows": torch.arange(len(texts)), **cells, "n_tokens": int(lengths.sum())})


def _texts(rng: random.Random, lengths: Sequence[int]) -> list[list[int]]:
    return [[rng.randrange(4, V) for _ in range(length)] for length in lengths]


WAYS = ["scratch", "frozen", "pretrained"]
