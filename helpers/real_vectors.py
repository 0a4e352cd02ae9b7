"""Vectors of a real encoder, multilingual-e5-small, of texts of the course: there without a network."""

from dataclasses import dataclass

import torch
from torch import Tensor

from helpers.embedded import embedded

FILE = "real_vectors/e5.pt"  # in data/, made by data/make_real_vectors.py


@dataclass(frozen=True)
class RealVectors:
    """What the encoder made of texts, d = 384; `rows` are those of the parts of a corpus, in their order.

    Each vector is the mean over the tokens of a text, stored as one byte a value with a scale for each vector.
    """

    reviews: dict[str, Tensor]  # of train, valid and test of `reviews_fr`: (n, d)
    rows: dict[str, list[int]]  # which rows these are; of `unlabelled` and `pairs`, too
    english: Tensor  # (200, d), of sentences of the test part of `translation_en_fr`
    french: Tensor  # (200, d), of their translations
    states: Tensor  # (b, n, d), of the tokens of a few texts in one batch, padding included
    lengths: Tensor  # (b,), their tokens
    texts: list[str]  # these texts
    teacher: Tensor  # (m, 2), logits of a probe on vectors of the reviews `unlabelled`; negative is class 0


def load_real_vectors() -> RealVectors:
    """Returns the stored vectors as float32.

    Raises:
        FileNotFoundError: their file is missing; the message says where it should be.
    """
    path = embedded(FILE)
    if not path.is_file():
        raise FileNotFoundError(f"there is no {path}: install the course again")
    kept = torch.load(path, map_location="cpu", weights_only=True)
    vectors = {name: codes * scales.float().unsqueeze(-1) for name, (codes, scales) in kept["vectors"].items()}
    return RealVectors(
        {part: vectors[part] for part in ("train", "valid", "test")},
        kept["rows"],
        vectors["english"],
        vectors["french"],
        vectors["states"],
        kept["lengths"],
        kept["texts"],
        kept["teacher"].float(),
    )
