"""What several exercises of notebook 07 share."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from helpers.vocabulary import EOS, MASK, SOS
from tutor.checking.plain import Model

SPECIALS = MASK + 1


V = 30


def _model(seed: int, causal: bool = False, noise: float = 0.0, spread: float = 0.3, **options: Any) -> Model:
    shape = {"vocab_size": V, "d_model": 16, "n_layers": 2, "n_heads": 2, "dropout": 0.0, "max_len": 64}
    base = Model("TransformerBase", shape | {"causal": causal} | options, seed, noise=noise)
    return Model("LanguageModel" if causal else "MaskedLanguageModel", {"base": base}, seed, spread=spread)


def _sentence(n: int, seed: int, vocab_size: int = V) -> Tensor:
    """Returns <sos>, n - 2 words, <eos>: `(n,)`."""
    words = torch.randint(SPECIALS, vocab_size, (n,), generator=torch.Generator().manual_seed(seed))
    words[0], words[-1] = SOS, EOS
    return words
