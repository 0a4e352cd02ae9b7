"""What several exercises of notebook 04 share."""

from __future__ import annotations

import random
from typing import Any

import torch

from helpers.vocabulary import PAD, SOS
from tutor.checking.plain import Model

TOKENS = torch.tensor([[SOS, 4, 6, 5, 3, 2], [SOS, 5, 4, PAD, PAD, PAD]])  # every word of a vocabulary of 7
LENGTHS = torch.tensor([6, 3])


def _base(seed: int, **options: Any) -> Model:
    shape = {"vocab_size": 7, "d_model": 8, "n_layers": 1, "n_heads": 2, "dropout": 0.0, "max_len": 12}
    return Model("TransformerBase", shape | options, seed)


def _language_model(seed: int, **options: Any) -> Model:
    return Model("LanguageModel", {"base": _base(seed, **options)}, seed, spread=0.3)


def _classifier(seed: int, n_classes: int = 2, **options: Any) -> Model:
    return Model("Classifier", {"base": _base(seed, **options), "n_classes": n_classes}, seed, spread=0.3)


OTHER_OPTIONS: list[dict[str, Any]] = [  # that no default has: a base built anew gives other hidden states
    {"n_heads": 4, "positions": "alibi"},
    {"n_heads": 1, "norm_first": True, "n_layers": 2},
    {"n_heads": 4, "positions": "learned", "d_feedforward": 12},
    {"n_heads": 4, "causal": False, "activation": "gelu"},
    {"positions": "rotary", "d_model": 12},
]


def _other_options(rng: random.Random) -> dict[str, Any]:
    return rng.choice(OTHER_OPTIONS)


THEN = (TOKENS, LENGTHS)
