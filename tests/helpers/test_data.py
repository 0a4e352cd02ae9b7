"""Vocabularies and batches, and downloads that succeed or fail in every way we could think of."""

import os
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import torch

from helpers import corpora
from helpers.batches import (
    IGNORE,
    Batch,
    Batches,
    for_answers,
    for_classifier,
    for_language_model,
    for_translation,
    padding_share,
)
from helpers.corpora import CorpusError, Split, load
from helpers.vocabulary import EOS, MASK, OOV, PAD, SOS, Vocabulary
from tests.servers import Server

TEXTS = ["Le chat dort.", "Le chat n'a pas dormi ; qu'importe !", "Peut-être."]


def split_of(role: str = "train", count: int = 60, **columns: object) -> Split:
    texts = [" ".join(["mot"] * (1 + 7 * row % 31)) for row in range(count)]
    rows = {"text": texts, "label": [row % 2 for row in range(count)], **columns}
    return Split(f"made/{role}", role, pd.DataFrame(rows))  # type: ignore[arg-type]


# Vocabularies


def test_words_follow_the_rule_of_the_embedded_corpora() -> None:
    vocabulary = Vocabulary.learn(TEXTS)
    assert vocabulary.tokens[:4] == ["<pad>", "<sos>", "<eos>", "<oov>"]
    assert vocabulary.split(TEXTS[1]) == [
        "le", "chat", "n'", "a", "pas", "dormi", ";", "qu'", "importe", "!"
    ]  # fmt: skip
    assert vocabulary.split("Peut-être.") == ["peut-être", "."]
    assert vocabulary.tokens[4:7] == [".", "chat", "le"]  # most frequent first, then by letter
    assert vocabulary.decode(vocabulary.encode(TEXTS[1])) == "le chat n'a pas dormi ; qu'importe !"


def test_unknown_words_do_not_crash() -> None:
    for kind in ("word", "character", "piece"):
        vocabulary = Vocabulary.learn(["abc"], kind)
        assert vocabulary.encode("") == []
        assert OOV in vocabulary.encode("abc xyz ☃ \u0000")
        assert "<oov>" in vocabulary.decode(vocabulary.encode("☃"))
    once = Vocabulary.learn(["a b b"], min_count=2)
    assert once.encode("a b") == [OOV, 4]


def test_mask_is_a_special_token_only_when_asked() -> None:
    assert len(Vocabulary(["a"])) == 5
    assert Vocabulary(["a"], mask=True).tokens[MASK] == "<mask>"
    assert "<mask>" not in Vocabulary(["a"]).numbers


def test_characters_and_pieces_come_back() -> None:
    characters = Vocabulary.learn(TEXTS, "character")
    assert [characters.decode(characters.encode(text)) for text in TEXTS] == TEXTS
    pieces = Vocabulary.learn(["▁Le ▁chat ▁dor t ."], "piece")
    assert pieces.decode([SOS, *pieces.encode("▁Le ▁chat ▁dor t ."), EOS, PAD]) == "Le chat dort."


# Examples and batches


def test_examples_shift_targets_and_score_answers_only() -> None:
    words = Vocabulary(["a", "b", "c", "d"])
    a, b, c, d = words.encode("a b c d")
    lm = for_language_model(words)({"text": "a b c"})
    assert (lm.tokens, lm.target) == ([SOS, a, b, c], [a, b, c, EOS])
    cut = for_language_model(words, max_len=2)({"text": "a b c"})
    assert (cut.tokens, cut.target) == ([SOS, a], [a, b])
    assert for_classifier(words)({"text": "a b", "label": 1}).tokens == [SOS, a, b]
    answer = for_answers(words)({"question": "a b", "answer": "c d"})
    assert answer.tokens == [SOS, a, b, c, d]
    assert answer.target == [IGNORE, IGNORE, c, d, EOS]
    pair = for_translation(words, words)({"en": "a b", "fr": "c d"})
    assert (pair.source, pair.tokens, pair.target) == ([a, b, EOS], [SOS, c, d], [c, d, EOS])


def test_batches_hold_every_row_once_within_the_budget() -> None:
    words = Vocabulary(["mot"])
    batches = Batches(split_of(), for_language_model(words), token_budget=100)
    found = list(batches)
    assert sorted(torch.cat([batch.rows for batch in found]).tolist()) == list(range(60))
    assert all(batch.tokens.numel() <= 100 for batch in found)
    for batch in found:
        real = torch.arange(batch.tokens.size(1)) < batch.lengths[:, None]
        assert (batch.tokens != PAD).equal(real)
        assert (batch.target != IGNORE).equal(real)
        assert batch.target.flatten()[batch.scored].numel() == batch.n_tokens == real.sum()
        for row, tokens, length in zip(batch.rows, batch.tokens, batch.lengths, strict=True):
            assert tokens[:length].tolist() == list(batches.examples[row].tokens)


def test_order_depends_on_seed_and_pass_and_nothing_else() -> None:
    def rows(batches: Batches) -> list[list[int]]:
        return [batch.rows.tolist() for batch in batches]

    def make(seed: int, role: str = "train") -> Batches:
        return Batches(split_of(role), for_classifier(Vocabulary(["mot"])), 100, seed=seed)

    first, again, other = make(1), make(1), make(2)
    passes = [rows(first), rows(first)]
    assert passes == [rows(again), rows(again)]
    assert passes[0] != passes[1]
    assert passes[0] != rows(other)
    again.epoch = 0
    assert rows(again) == passes[0]
    valid = make(1, "valid")
    assert rows(valid) == rows(valid)


def test_grouping_by_length_saves_padding() -> None:
    encode = for_classifier(Vocabulary(["mot"]))
    naive = Batches(split_of(), encode, 10**9, batch_size=8, grouped=False)
    assert sorted(len(batch.rows) for batch in naive) == [4] + [8] * 7
    assert padding_share(Batches(split_of(), encode, 200)) < padding_share(naive) / 2


def test_a_row_longer_than_the_budget_comes_alone() -> None:
    split = split_of(count=3)
    split.rows.loc[1, "text"] = "mot " * 500
    batches = Batches(split, for_classifier(Vocabulary(["mot"])), token_budget=100)
    sizes = [batch.tokens.shape for batch in batches]
    assert (1, 501) in sizes


def test_batches_can_change_at_every_pass() -> None:
    def replace_some(batch: Batch, generator: torch.Generator) -> Batch:
        batch.tokens[torch.rand(batch.tokens.shape, generator=generator) < 0.5] = OOV
        return batch

    def tokens(batches: Batches) -> list[list[int]]:
        return [batch.tokens.flatten().tolist() for batch in batches]

    made = [Batches(split_of("valid"), for_classifier(Vocabulary(["mot"])), change=replace_some) for _ in range(2)]
    first, second = tokens(made[0]), tokens(made[0])
    assert first != second
    assert [first, second] == [tokens(made[1]), tokens(made[1])]


def test_what_is_missing_is_named() -> None:
    with pytest.raises(ValueError, match="made/train has no rows"):
        Batches(split_of(count=0), for_classifier(Vocabulary(["mot"])))
    with pytest.raises(KeyError, match="made/train has no column 'texte', only"):
        split_of()["texte"]
    corpus = corpora.Corpus("made", {"train": split_of()})
    with pytest.raises(KeyError, match="made has no part 'valid', only"):
        _ = corpus.valid
    with pytest.raises(ValueError, match="no corpus 'nothing': take one of"):
        load("nothing")
    with pytest.raises(ValueError, match=r"no corpus '\.\./docs': take one of"):
        load("../docs")


# Embedded corpora


@pytest.mark.parametrize(
    ("name", "roles"),
    [
        ("reviews_fr", {"unlabelled": "train", "train": "train", "valid": "valid", "test": "test",
                        "turns_train": "train", "turns_test": "test", "blanks": "other"}),
        ("biographies", {"texts": "train", "train": "train", "valid": "valid", "test": "test"}),
        ("translation_en_fr", {"train": "train", "valid": "valid", "test": "test"}),
        ("winograd_fr_en", {"pairs": "other"}),
    ],
)  # fmt: skip
def test_embedded_corpora_load(name: str, roles: dict[str, str]) -> None:
    corpus = load(name)
    assert {part: corpus[part].role for part in roles} == roles
    for part in roles:
        assert len(corpus[part]) > 0
        assert corpus[part].name == f"{name}/{part}"
        texts = corpus[part].rows.select_dtypes(["object", "string"])
        assert (texts != "").all(axis=None)


# Real corpora, from a server on this machine


@pytest.fixture
def mirror(repository: Path) -> Path:
    """A folder with copies of the public files."""
    here = repository.parent / "shared" / "data" / "mirror"
    folder = Path(os.environ.get("COURSE_TEST_MIRROR") or here)
    if not folder.is_dir():
        pytest.skip("no copies of the real corpora here (COURSE_TEST_MIRROR names their folder)")
    return folder


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_book_reviews(serve: Callable[..., type[Server]], mirror: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server = serve(mirror)
    corpus = load("cls_books")
    output = capsys.readouterr().out
    for words in ("Source: github.com/moussaKam", "Licence: ", "MB to", "43 of 2000", "13 of 400"):
        assert words in output
    assert [len(part) for part in (corpus.train, corpus.valid, corpus.test)] == [1600, 400, 2000]
    assert [sum(corpus[part]["label"]) for part in ("train", "valid", "test")] == [800, 200, 1000]
    assert corpus.vocabulary is not None
    assert len(corpus.vocabulary) == 50_001

    asked = len(server.asked)
    assert asked == 8
    clean = load("cls_books", drop_copies=True)  # from the cache, which says nothing about licences
    assert len(server.asked) == asked
    assert "Licence" not in capsys.readouterr().out
    assert [len(clean.valid), len(clean.test)] == [387, 1957]
    assert not any(clean.copies("test"))

    encode = for_classifier(corpus.vocabulary)
    naive = Batches(corpus.train, encode, 10**9, batch_size=8, grouped=False)
    assert 0.55 < padding_share(naive) < 0.61
    assert padding_share(Batches(corpus.train, encode, 4096)) < 0.15
    numbers = [n for example in naive.examples for n in example.tokens]
    assert numbers.count(OOV) / len(numbers) < 0.001
    text = corpus.train["text"][0]
    raw = corpus.vocabulary.decode(corpus.vocabulary.encode(text))
    assert corpus.vocabulary.split(raw) == text.split()  # raw text is cut as the corpus was


def test_other_real_corpora(serve: Callable[..., type[Server]], mirror: Path) -> None:
    serve(mirror)
    captions = load("multi30k_en_fr")
    assert [len(captions[part]) for part in ("train", "valid", "test")] == [29_000, 1014, 1000]
    assert captions.test["fr"][0] == "Un homme avec un chapeau orange regardant quelque chose."
    sentences = load("sst2")
    assert [len(sentences[part]) for part in ("train", "valid", "test")] == [6920, 872, 1821]
    assert [sum(sentences[part]["label"]) for part in ("train", "valid", "test")] == [3610, 444, 909]
    assert sentences.train["text"][1] == "apparently reassembled from the cutting room floor of any given daytime soap"
    people = load("birthplaces")
    assert [len(people[part]) for part in ("train", "valid", "texts")] == [2000, 500, 2937]
    assert people.train["answer"][0] == "Lebanon"
    assert people["texts"].role == "train"


def test_plays(serve: Callable[..., type[Server]], mirror: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = mirror / "karpathy" / "char-rnn" / "master" / "data" / "tinyshakespeare" / "input.txt"
    if not copy.is_file():
        pytest.skip(f"no copy of tiny Shakespeare in {mirror}")
    server = serve(mirror)
    plays = load("shakespeare")
    assert [path.rsplit("/", 1)[1] for path in server.asked] == ["input.txt"]
    assert "Licence: the plays are in the public domain" in capsys.readouterr().out
    assert plays.train.role == "train"
    lines = copy.read_text("utf-8").removesuffix("\n").split("\n")
    assert plays.train["text"] == [line.rstrip() for line in lines]
    text = "\n".join(plays.train["text"])
    assert text.startswith("First Citizen:\nBefore we proceed any further, hear me speak.\n\nAll:")
    assert (len(set(text)), len(text)) == (65, 1_115_389)  # no line break at the end, no space before one
    assert len(load("shakespeare").train) == 40_000  # from the cache
    assert len(server.asked) == 1


def test_a_folder_serves_as_mirror(monkeypatch: pytest.MonkeyPatch, cache: Path, mirror: Path, tmp_path: Path) -> None:
    monkeypatch.setenv(corpora.MIRROR, str(mirror))
    assert len(load("birthplaces").train) == 2000
    monkeypatch.setenv(corpora.MIRROR, str(tmp_path / "nothing"))
    with pytest.raises(CorpusError, match="could not be stored"):
        load("multi30k_en_fr")
    assert set(files_in(cache)) == {"wiki.txt", "birth_places_train.tsv", "birth_dev.tsv"}


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("missing", "the server answered 404 for http"),
        ("damaged", "its SHA-256 is not the expected one"),
        ("truncated", "no connection, or it broke off"),
        ("offline", "no connection, or it broke off"),
    ],
)
def test_a_failed_download_gets_a_sentence_and_leaves_nothing(
    fault: str,
    sentence: str,
    serve: Callable[..., type[Server]],
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    serve(fault=fault)
    if fault == "offline":
        monkeypatch.setenv(corpora.MIRROR, "http://127.0.0.1:9")
    (cache / "birthplaces").mkdir(parents=True)
    (cache / "birthplaces" / "wiki.txt").write_text("half of a fi")  # a damaged copy from before
    with pytest.raises(CorpusError) as caught:
        load("birthplaces")
    message = str(caught.value)
    assert sentence in message
    assert message.startswith("birthplaces cannot be downloaded: ")
    assert corpora.MIRROR in message
    assert "\n" not in message
    assert caught.value.__suppress_context__
    assert files_in(cache) == []


def test_what_was_downloaded_is_kept_and_a_damaged_copy_is_replaced(
    serve: Callable[..., type[Server]], mirror: Path, cache: Path
) -> None:
    serve(mirror)
    load("birthplaces")
    (cache / "birthplaces" / "birth_dev.tsv").write_text("damaged")
    (cache / "birthplaces" / "wiki.txt").unlink()
    server = serve(mirror)
    assert len(load("birthplaces").valid) == 500
    assert sorted(path.rsplit("/", 1)[1] for path in server.asked) == ["birth_dev.tsv", "wiki.txt"]
