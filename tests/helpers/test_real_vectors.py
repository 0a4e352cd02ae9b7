"""The stored vectors of a real encoder: they are of the texts that they say, and know what a real encoder knows."""

from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from helpers import embedded, real_vectors
from helpers.corpora import load
from helpers.real_vectors import RealVectors, load_real_vectors


@pytest.fixture(scope="module")
def real() -> RealVectors:
    return load_real_vectors()


def unit(vectors: Tensor) -> Tensor:
    return F.normalize(vectors, dim=1)


def test_each_vector_has_its_row(real: RealVectors) -> None:
    reviews = load("reviews_fr")
    for part, vectors in real.reviews.items():
        assert vectors.shape == (len(real.rows[part]), 384)
        assert max(real.rows[part]) < len(reviews[part])
        assert len(set(real.rows[part])) == len(real.rows[part])
    assert len(real.english) == len(real.french) == len(real.rows["pairs"])
    assert real.teacher.shape == (len(real.rows["unlabelled"]), 2)
    assert len(real.texts) == len(real.lengths) == len(real.states)
    assert real.states.shape[1] == real.lengths.max()


def test_sentences_find_their_translations(real: RealVectors) -> None:
    found = (unit(real.english) @ unit(real.french).T).argmax(dim=1)
    assert (found == torch.arange(len(found))).float().mean() > 0.5  # by chance 0.005


def test_classes_of_the_reviews_lie_apart(real: RealVectors) -> None:
    reviews = load("reviews_fr")
    labels = {part: torch.tensor(reviews[part]["label"])[real.rows[part]] for part in ("train", "test")}
    middles = [unit(real.reviews["train"])[labels["train"] == label].mean(dim=0) for label in (0, 1)]
    nearer = (unit(real.reviews["test"]) - sum(middles) / 2) @ (middles[1] - middles[0]) > 0
    assert (nearer == labels["test"].bool()).float().mean() > 0.7  # by chance 0.5


def test_padding_in_the_stored_states_is_not_zero(real: RealVectors) -> None:
    short = int(real.lengths.argmin())
    assert (real.states[short, real.lengths[short] :].norm(dim=1) > 0.1).all()


def test_the_file_is_small() -> None:
    assert embedded.embedded(real_vectors.FILE).stat().st_size < 500_000


def test_without_the_file_the_error_says_where_it_should_be(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(real_vectors, "embedded", tmp_path.joinpath)
    with pytest.raises(FileNotFoundError, match=r"there is no .*e5\.pt: install the course again"):
        load_real_vectors()
