"""What `benchmarks.real_encoders` measures is what it says, and the documents say what was measured."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks import real_encoders
from benchmarks.real_encoders import (
    ASKED,
    KEPT,
    OF_WORDS,
    WORDINGS,
    BytePairs,
    SentenceClassifier,
    Task,
    Unigrams,
    WordPieces,
    ask,
    fit_head,
    mean_state,
    score_by_words,
    table,
    table_of_wordings,
    with_lora,
)
from helpers.corpora import Corpus, Split
from helpers.llama import Llama
from helpers.models import TransformerBase
from helpers.vocabulary import Vocabulary

RUNS = pd.read_csv(KEPT, sep="\t")


# Tokenizers; with those of `tokenizers` and `transformers` both were compared on all sentences of SST-2


def test_words_are_cut_into_the_longest_pieces(tmp_path: Path) -> None:
    words = ["[CLS]", "[SEP]", "[UNK]", "un", "##hap", "##happy", "happy", "elan", ",", "'", "_", "s", "##s"]
    numbers = {word: number for number, word in enumerate(words)}
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": {"vocab": numbers}}))
    pieces = WordPieces(tmp_path / "tokenizer.json")
    for text, wanted in {
        "Unhappy": "un ##happy",
        "Élan's": "elan ' s",
        "happys, unhap_x": "happy ##s , un ##hap _ [UNK]",
        "": "",
    }.items():
        assert [words[number] for number in pieces.encode(text)] == ["[CLS]", *wanted.split(), "[SEP]"], text


def test_byte_pairs_are_merged_in_the_order_of_the_list() -> None:
    letters = [*"abclo1'sé", "Ġ", "Ã", "©", "Ċ"]
    merges = ["l o", "b c", "a b", "Ġ lo", "lo lo"]
    tokens = [*letters, *(merge.replace(" ", "") for merge in merges)]
    pairs = BytePairs(tokens, merges)
    for text, wanted in {
        "abc": "a bc",  # "b c" comes before "a b" in the list
        "lo lolo": "lo Ġlo lo",  # "Ġ lo" comes before "lo lo"
        "lololo": "lolo lo",
        "é\na's": "Ã © Ċ a ' s",
        " 11": "Ġ 1 1",  # each digit alone, as SmolLM2 has it
        "": "",
    }.items():
        assert [tokens[number] for number in pairs.encode(text)] == wanted.split(), text


def test_french_reviews_are_put_together_again_marked_as_queries_and_cut(tmp_path: Path) -> None:
    library = pytest.importorskip("tokenizers", reason="the extra tokens is not installed")
    pieces = ["<s>", "</s>", "<unk>", "▁query:", "▁un", "▁livre", "▁d'amour", "!"]
    whole = library.Tokenizer(library.models.Unigram([(piece, -1.0) for piece in pieces], unk_id=2))
    whole.pre_tokenizer = library.pre_tokenizers.Metaspace()
    ends = [("<s>", 0), ("</s>", 1)]
    whole.post_processor = library.processors.TemplateProcessing(single="<s> $A </s>", special_tokens=ends)
    whole.save(str(tmp_path / "tokenizer.json"))
    for text, wanted in {
        "▁un ▁li vre ▁d ' amour !": "<s> ▁query: ▁un ▁livre ▁d'amour ! </s>",
        "un livre": "<s> ▁query: ▁un ▁livre </s>",
        "▁un " * 9: "<s> ▁query: ▁un ▁un ▁un ▁un </s>",
    }.items():
        numbers = Unigrams(tmp_path / "tokenizer.json", max_len=7).encode(text)
        assert [pieces[number] for number in numbers] == wanted.split(), text


# Heads


def test_a_head_finds_what_separates_and_takes_unscaled_states() -> None:
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(60) % 2
    states = 40 + 3 * torch.randn(60, 12, generator=generator)
    states[:, 5] += 12 * labels
    weight, bias = fit_head(states, labels)
    assert (F.linear(states, weight, bias).argmax(dim=1) == labels).all()
    assert (weight[1] - weight[0]).abs().argmax() == 5


def test_a_head_is_punished_more_where_labels_are_noise() -> None:
    generator = torch.Generator().manual_seed(0)
    states, labels = torch.randn(40, 100, generator=generator), torch.arange(40) % 2
    noise, _ = fit_head(states, labels)
    states[:, 0] += 8 * labels
    signal, _ = fit_head(states, labels)
    assert noise.norm() < signal.norm() / 2


def new_classifier() -> SentenceClassifier:
    torch.manual_seed(0)
    base = TransformerBase(50, 16, 2, 2, causal=False, dropout=0.0)
    return SentenceClassifier(base, torch.randn(2, 16), torch.randn(2)).eval()


TOKENS, LENGTHS = torch.tensor([[5, 6, 7, 8], [9, 3, 0, 0]]), torch.tensor([4, 2])


def test_the_mean_leaves_the_padding_out() -> None:
    base = new_classifier().base
    padded = mean_state(base, TOKENS, LENGTHS)
    torch.testing.assert_close(padded[1:], base(TOKENS[1:, :2]).mean(dim=1))
    torch.testing.assert_close(padded[:1], base(TOKENS[:1]).mean(dim=1))


def test_lora_begins_where_the_model_is_and_trains_little() -> None:
    model = new_classifier()
    before = model(TOKENS, LENGTHS)
    changed: Any = with_lora(model)
    torch.testing.assert_close(changed(TOKENS, LENGTHS), before)
    trained = {name for name, weight in changed.named_parameters() if weight.requires_grad}
    places = [f"base.layers.{layer}.attention.{part}" for layer in (0, 1) for part in ("query", "value")]
    narrow = {f"{place}.{part}" for place in places for part in ("down", "up")}
    assert trained == narrow | {"head.weight", "head.bias"}
    changed(TOKENS, LENGTHS).sum().backward()
    assert changed.base.layers[0].attention.query.up.grad.abs().sum() > 0


# Draws and questions


def task(labels: list[int]) -> Task:
    rows = pd.DataFrame({"text": ["a"] * len(labels), "label": labels})
    corpus = Corpus("few", {"train": Split("few/train", "train", rows)})
    return Task("few", corpus, Vocabulary("a"), [], torch.device("cpu"), argparse.Namespace())


def test_draws_are_balanced_and_more_labels_are_the_same_and_others() -> None:
    few = task([0] * 70 + [1] * 30)
    small, large = few.draw(10, 3), few.draw(40, 3)
    assert set(small) < set(large)
    assert [sum(row >= 70 for row in rows) for rows in (small, large)] == [5, 20]
    assert sorted(few.draw(100, 3)) == [*range(100)]
    assert few.draw(10, 4) != small
    assert few.draw(10, 3) == small


def test_copies_count_or_do_not() -> None:
    few = task([0, 1])
    rows = pd.DataFrame({"text": ["a", "b", "c", "d"], "label": [1, 0, 1, 1]})
    few.corpus.parts["test"] = Split("few/test", "test", rows)
    logits = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    assert few.accuracy(logits) == 0.5
    assert few.accuracy(logits, copies=False) == pytest.approx(2 / 3)


class Letters:
    """A tokenizer for tests: a letter is a token, and so is each word that is compared."""

    def encode(self, text: str) -> list[int]:
        words = [word for _, *pair in WORDINGS for word in pair]
        return [words.index(text) + 1] if text in words else [20 + ord(letter) % 40 for letter in text]


def test_the_score_is_that_of_the_last_token_whatever_is_beside_it() -> None:
    torch.manual_seed(0)
    model = Llama(64, 16, 2, 4, 2).eval()
    texts = ["a long sentence that is here", "short", "between the two"]
    scores = ask(model, Letters(), texts, torch.device("cpu"))  # type: ignore[arg-type]
    for wording, (behind, praise, blame) in enumerate(WORDINGS):
        for row, text in enumerate(texts):
            last = model(torch.tensor([Letters().encode(text + behind)]))[:, -1]
            (positive,), (negative,) = Letters().encode(praise), Letters().encode(blame)
            torch.testing.assert_close(scores[wording, row], (last[0, positive] - last[0, negative]).detach())


def test_praise_scores_above_blame() -> None:
    logits: Tensor = torch.tensor([[0.0, 2.0, 1.0], [0.0, -1.0, 3.0]])
    assert score_by_words(logits, [1], [2]).tolist() == [1.0, -4.0]


# What was measured, and what is stated of it


def mean(corpus: str, way: str, labels: int) -> float:
    chosen = (RUNS["corpus"] == corpus) & (RUNS["way"] == way) & (RUNS["labels"] == labels)
    return float(RUNS[chosen]["accuracy"].mean())


def test_the_page_has_the_tables_of_the_numbers_kept(repository: Path) -> None:
    page = (repository / "docs" / "results.md").read_text("utf-8")
    for shown in (table(RUNS, "sst2"), table(RUNS, "cls_books"), table_of_wordings(RUNS)):
        assert shown in page


def test_naive_bayes_wins_without_a_real_encoder_and_loses_to_a_fine_tuned_one() -> None:
    for corpus, counts in {"sst2": (20, 100, 300, 1600, 6920), "cls_books": (20, 100, 300, 1600)}.items():
        for labels in counts:
            bayes, *others = (mean(corpus, way, labels) for way in OF_WORDS)
            assert bayes > max(others), (corpus, labels)
    for labels in (100, 300, 1600, 6920):
        assert mean("sst2", "real, fine-tuned", labels) > mean("sst2", "naive Bayes", labels) + 0.05
    assert mean("sst2", "real, fine-tuned", 300) == pytest.approx(mean("sst2", "naive Bayes", 6920), abs=0.03)
    assert mean("sst2", "real, frozen", 6920) < mean("sst2", "naive Bayes", 6920)


def test_in_french_a_hundred_labels_do_on_a_real_encoder_what_all_do_for_naive_bayes() -> None:
    for more, fewer in ((300, 20), (1600, 100)):
        assert mean("cls_books", "real, frozen", fewer) > mean("cls_books", "naive Bayes", more)
    assert mean("cls_books", "real, frozen", 1600) > mean("cls_books", "naive Bayes", 1600) + 0.04


def test_the_page_says_how_far_chance_in_the_test_part_goes(repository: Path) -> None:
    errors = {n: [round(100 * math.sqrt(p * (1 - p) / n), 1) for p in (0.8, 0.6)] for n in (1821, 2000)}
    assert errors == {1821: [0.9, 1.1], 2000: [0.9, 1.1]}
    assert "0.9 points at 80 % and 1.1 at 60 %" in " ".join(
        (repository / "docs" / "results.md").read_text("utf-8").split()
    )


def test_the_notebook_says_the_numbers_that_are_kept(repository: Path) -> None:
    text = (repository / "solutions" / "06_pretrained_vs_scratch.py").read_text("utf-8")
    section = text[text.index("### What real pretraining buys") :]
    asked = sorted(RUNS[RUNS["way"] == ASKED]["accuracy"])
    words = f"{asked[0]:.0%}, {asked[1]:.0%}, {asked[2]:.0%} and {asked[3]:.0%}".replace("%", "", 3).replace("%", " %")
    sentences = [
        f"({100 * mean('sst2', 'naive Bayes', 6920):.1f} and {100 * mean('sst2', 'real, frozen', 6920):.1f} %)",
        f"MiniLM has {100 * mean('sst2', 'real, frozen', 100):.0f} % where naive Bayes has "
        f"{100 * mean('sst2', 'naive Bayes', 100):.0f} %",
        f"fine-tuned on 300 it has {100 * mean('sst2', 'real, fine-tuned', 300):.0f} %",
        f"to the end ({100 * mean('sst2', 'real, fine-tuned', 6920):.0f} %)",
        f"tried give {words}",
    ]
    for sentence in sentences:
        assert sentence in section, sentence


def test_every_run_that_is_kept_is_a_share_of_a_known_way() -> None:
    assert not RUNS.duplicated(["corpus", "way", "labels", "seed"]).any()
    assert RUNS["accuracy"].between(0, 1).all()
    for row in RUNS.to_dict("records"):
        assert row["way"] in real_encoders.WAYS[row["corpus"]]
        assert math.isnan(row["valid"]) == (row["way"] != ASKED)
