"""What several exercises of notebook 11 share."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from helpers.vocabulary import EOS, PAD
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


def _recipe(seed: int) -> Model:
    build = {"source_vocab_size": 9, "target_vocab_size": 9, "d_model": 8, "n_layers": 1, "n_heads": 2}
    return Model("EncoderDecoder", build | {"norm_first": True}, seed, spread=0.4)
