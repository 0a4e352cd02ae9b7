"""What several exercises of notebook 11 share."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from helpers.vocabulary import EOS, OOV, PAD
from tutor.checking.building import build as built  # the model of a recipe, as an answer gets it
from tutor.checking.plain import Model

Sentences = list[list[int]]


def _sequences(b: int, n: int, vocab_size: int, seed: int) -> Tensor:
    return torch.randint(4, vocab_size, (b, n), generator=torch.Generator().manual_seed(seed))


def _padded(tokens: Tensor, lengths: Tensor, padding: int = PAD) -> Tensor:
    return tokens.masked_fill(torch.arange(tokens.shape[1]) >= lengths.unsqueeze(1), padding)


def _words(row: Iterable[int]) -> list[int]:
    """Returns what stands before the first <eos>."""
    numbers = list(row)
    return numbers[: [*numbers, EOS].index(EOS)]


def _to_eos(row: list[int]) -> list[int]:
    return row[: [*row, EOS].index(EOS) + 1]


def _translator(rng: random.Random) -> tuple[Model, Any]:
    """Returns a small model that has learned nothing and says <eos> now and then, as a recipe and built."""
    recipe = _recipe(rng.randrange(10**6))
    return recipe, built(recipe)


def _recipe(seed: int) -> Model:
    build = {"source_vocab_size": 9, "target_vocab_size": 9, "d_model": 8, "n_layers": 1, "n_heads": 2}
    return Model("EncoderDecoder", build | {"norm_first": True}, seed, spread=0.4)


def _pure(words: list[int]) -> bool:
    """Says whether only words and <oov> have been written: no <pad> and no <sos>, about which one could argue."""
    return all(word >= OOV for word in words)
