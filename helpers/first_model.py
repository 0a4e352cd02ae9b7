"""The language model of notebook 00: small, trained on the embedded French reviews, there without a network."""

from typing import Any

import torch

from helpers.embedded import embedded
from helpers.models import LanguageModel, TransformerBase
from helpers.vocabulary import Vocabulary

FILE = "first_model/model.pt"  # in data/, made by data/make_first_model.py
SHAPE: dict[str, Any] = {
    "d_model": 64,
    "n_layers": 2,
    "n_heads": 2,
    "dropout": 0.0,
    "positions": "alibi",
    "norm_first": True,
}


def load_first_model() -> tuple[LanguageModel, Vocabulary]:
    """Returns the model, in evaluation mode on the CPU, and its vocabulary of French words.

    Raises:
        FileNotFoundError: its file is missing; the message says where it should be.
    """
    path = embedded(FILE)
    if not path.is_file():
        raise FileNotFoundError(f"there is no {path}: install the course again")
    kept = torch.load(path, map_location="cpu", weights_only=True)
    vocabulary = Vocabulary(kept["words"])
    model = LanguageModel(TransformerBase(len(vocabulary), **SHAPE))
    model.load_state_dict({name: weight.float() for name, weight in kept["weights"].items()})
    return model.eval(), vocabulary
