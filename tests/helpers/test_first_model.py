"""The model of notebook 00 knows what the notebook shows: an adjective agrees with its noun."""

from pathlib import Path

import pytest
import torch

from helpers import embedded, first_model
from helpers.batches import Batches, for_language_model
from helpers.corpora import load
from helpers.first_model import load_first_model
from helpers.training import evaluate
from helpers.vocabulary import SOS, Vocabulary


def probable(sentence: str, count: int) -> list[str]:
    model, vocabulary = load_first_model()
    with torch.no_grad():
        logits = model(torch.tensor([[SOS, *vocabulary.encode(sentence)]]))[0, -1]
    return [vocabulary.tokens[number] for number in logits.topk(count).indices]


def test_the_adjective_agrees_with_its_noun() -> None:
    for beginning, wanted, other in (("le style est franchement", "touchant", "touchante"),
                                     ("l'intrigue est franchement", "touchante", "touchant")):  # fmt: skip
        words = probable(beginning, 40)
        assert wanted in words
        assert other not in words


def test_the_last_word_looks_most_at_the_noun_as_the_notebook_says() -> None:
    model, vocabulary = load_first_model()
    tokens = vocabulary.split("l'intrigue est bancale et le style est franchement")
    with torch.no_grad():
        maps = model.base.attention_maps(torch.tensor([[SOS, *vocabulary.encode(" ".join(tokens))]]))
    assert ["<sos>", *tokens][int(maps[0][0].mean(0)[-1].argmax())] == "style"


def test_reviews_that_it_has_not_read_are_no_surprise() -> None:
    model, vocabulary = load_first_model()
    found = evaluate(model, Batches(load("reviews_fr").valid, for_language_model(vocabulary)), "language_model")
    assert found["perplexity"] < 4


def test_its_words_are_those_of_the_reviews() -> None:
    assert load_first_model()[1].tokens == Vocabulary.learn(load("reviews_fr")["unlabelled"]["text"]).tokens


def test_it_is_in_evaluation_mode_and_small() -> None:
    assert not load_first_model()[0].training
    assert embedded.embedded(first_model.FILE).stat().st_size < 500_000


def test_a_missing_file_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(first_model, "embedded", tmp_path.joinpath)
    with pytest.raises(FileNotFoundError, match=r"model\.pt: install the course again"):
        load_first_model()
