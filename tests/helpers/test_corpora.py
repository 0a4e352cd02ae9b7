"""The embedded corpora: bytes, formats, French, and what must not leak."""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
import math
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[2] / "data"
sys.path.insert(0, str(DATA))

import french_rules  # noqa: E402  (the scripts of data/ are no package)
import french_words  # noqa: E402
import make  # noqa: E402
import make_biographies  # noqa: E402
from corpus import Draw, words  # noqa: E402
from french import Adjective, Noun, NounPhrase, clause, opens_with_vowel, sentence  # noqa: E402

pytestmark = pytest.mark.all

Row = dict[str, str]


def rows(path: str) -> list[Row]:
    """The rows of a made table."""
    with (DATA / path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def texts(path: str) -> list[str]:
    """The lines of a made text."""
    return (DATA / path).read_text(encoding="utf-8").splitlines()


def french_texts() -> list[str]:
    """Every French text of every corpus."""
    found = texts("reviews_fr/unlabelled.txt")
    for name in ("train", "valid", "test", "turns", "blanks"):
        found += [row["text"] for row in rows(f"reviews_fr/{name}.tsv")]
    for name in ("train", "dev", "test"):
        found += [row["fr"] for row in rows(f"translation_en_fr/{name}.tsv")]
    pairs = rows("winograd_fr_en/pairs.tsv")
    return found + [row["sentence"] for row in pairs if row["language"] == "fr"]


# --- files ---------------------------------------------------------------------------------------


def test_scripts_make_the_same_bytes_again():
    """In a fresh process with another hash seed, so that no order depends on it."""
    finished = subprocess.run(
        [sys.executable, "make.py", "--check"],
        cwd=DATA,
        env={"PYTHONHASHSEED": "12345", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_every_file_has_its_hash():
    hashes = json.loads((DATA / "sha256.json").read_text())
    folders = [path for path in DATA.iterdir() if path.is_dir() and path.name != "__pycache__"]
    made = {
        path.relative_to(DATA).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in folders
        if folder.name in {name.split("/")[0] for name in hashes}
        for path in folder.iterdir()
    }
    assert made == hashes


def test_check_sees_a_changed_file(tmp_path, monkeypatch, capsys):
    contents = {"a/b.txt": b"one\n"}
    monkeypatch.setattr(make, "FOLDER", tmp_path)
    monkeypatch.setattr(make, "made_files", lambda: contents)
    monkeypatch.setattr(sys, "argv", ["make.py"])
    assert make.main() == 0
    monkeypatch.setattr(sys, "argv", ["make.py", "--check"])
    assert make.main() == 0
    (tmp_path / "a/b.txt").write_bytes(b"two\n")
    assert make.main() == 1
    assert "a/b.txt" in capsys.readouterr().out


def test_size_and_plain_bytes():
    paths = [DATA / path for path in json.loads((DATA / "sha256.json").read_text())]
    assert sum(path.stat().st_size for path in paths) < 5_000_000
    for path in paths:
        content = path.read_bytes()
        content.decode("utf-8")
        assert b"\r" not in content
        assert content.endswith(b"\n")
        assert b"\n\n" not in content


def test_readme_gives_the_sizes():
    paths = json.loads((DATA / "sha256.json").read_text())
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    for row in make.sizes({path: (DATA / path).read_bytes() for path in paths}):
        assert row in readme


def test_draws_do_not_depend_on_the_version():
    """These values are the sequence that Python promises for `random.Random(7).random()`."""
    draw = Draw(7)
    assert [draw.below(1000) for _ in range(5)] == [323, 150, 650, 72, 535]
    assert sorted(Draw(1).shuffled(range(50))) == list(range(50))
    drawn = Counter(draw.weighted("ab", (3, 1)) for _ in range(4000))
    assert 2800 < drawn["a"] < 3200


# --- French --------------------------------------------------------------------------------------


def test_no_mistake_of_french_in_any_sentence():
    found = [problem for text in french_texts() for problem in french_rules.problems(text)]
    assert not found, f"{len(found)} mistakes, such as {found[:10]}"


BROKEN = """le livre de le auteur est beau.|elision
Le livre de le voisin est beau.|contraction
Je donne une pomme à les voisins.|contraction
Le histoire est belle.|elision
L'héros est beau.|consonant
Si il lit, je ris.|elision
Je ne vois pas que il lit.|elision
Ce homme lit un livre.|elision
Ce oiseau est petit.|elision
Un beau oiseau chante.|bel
Un bel chat chante.|consonant
Ma amie est belle.|vowel
L'ami du homme est vieux.|vowel
Je vois la petit maison.|agreement
Je vois une livre.|agreement
Les personnages sont attachante.|agreement
Les personnages, attachantes et justes, vous captivent.|agreement
La fin est prévisible et ennuyeux.|agreement
J'ai trouvé le style lourde.|agreement
Des dialogues ennuyeux et lourde.|agreement
Quant aux personnages, elles sont attachants.|agreement|pronoun
Les personnages est attachants.|number
L'intrigue captivent le lecteur.|number
L'intrigue, que l'on suit avec joie, sont menées.|number|agreement
Nous lisez un livre.|person
Elle le vois.|person
Vous ne voyez le chat.|pas
Je vois pas le chat.|ne
De plus, Morvan signe des beaux romans.|des
le chat dort.|capital
Le chat dort|end mark
Le chat  dort.|space
Le chat dort .|space
Que dire du chat?|mark
Le chat dort. il rit.|capital
Le chat dort,et rit.|mark
Le l'homme dort.|unknown
Je lis un livre. La livre est beau.|agreement
Le style m'a captivée. La fin m'a conquis.|gender|agreement
Chaque page m'a émus.|plural
Les le chat dort.|unknown
Un nouvel élève élève dort.|doubled
Je vois un zorbique.|unknown"""


@pytest.mark.parametrize("line", BROKEN.splitlines())
def test_the_checker_can_fail(line):
    text, *kinds = line.split("|")
    found = french_rules.problems(text)
    assert any(kind in problem for kind in kinds for problem in found), found


RIGHT = """Le héros lit l'histoire de l'héroïne.
La hache est vieille.
De beaux passages, voilà ce que je retiens.
Ce vieil homme aime cet ancien hôtel.
S'il lit, je ris.
Mon amie dort, mon ami rit.
Le livre est nouveau et intéressant.
Il n'y a pas d'oiseau près du mur.
L'autre jour, un nouvel élève chante."""


@pytest.mark.parametrize("text", RIGHT.splitlines())
def test_the_checker_lets_right_french_pass(text):
    known = [p for p in french_rules.problems(text) if "unknown" not in p]
    assert not known


AGREEING = french_words.ADJECTIVES | french_words.SPEAKER_PARTICIPLES
SAME_WORD = {
    form: [other for other in row["forms"].split() if other in AGREEING]
    for row in rows("reviews_fr/polarity.tsv")
    if row["kind"] in ("adjective", "verb")
    for form in row["forms"].split()
    if form in AGREEING
}


def mutants(text: str, draw: Draw) -> Iterator[str]:
    """The text with one word in a form that does not agree, for each word that can."""
    pieces = text.split(" ")
    for index, piece in enumerate(pieces):
        bare = piece.rstrip(",.")
        others = [
            form
            for form in SAME_WORD.get(bare, ())
            if not AGREEING[bare] & AGREEING[form] and opens_with_vowel(form) == opens_with_vowel(bare)
        ]
        if others:
            other = piece.replace(bare, draw.one(others))
            yield " ".join([*pieces[:index], other, *pieces[index + 1 :]])


def test_the_checker_sees_an_adjective_that_does_not_agree():
    """A wrong form put into real sentences of the corpus is found nearly every time."""
    draw = Draw(5)
    made = [m for text in texts("reviews_fr/unlabelled.txt")[:400] for m in mutants(text, draw)]
    missed = [mutant for mutant in made if not french_rules.problems(mutant)]
    assert len(made) > 1000
    assert len(missed) / len(made) < 0.05, missed[:10]


def test_the_checker_sees_a_verb_of_the_wrong_number():
    lemmas = [row["forms"].split() for row in rows("reviews_fr/polarity.tsv") if row["kind"] == "verb"]
    other = {"est": "sont", "sont": "est", "a": "ont", "ont": "a"}
    for *_, singular, plural in lemmas:
        if singular in french_words.VERBS and plural.endswith("nt"):
            other |= {singular: plural, plural: singular}
    made = []
    for text in texts("reviews_fr/unlabelled.txt")[:800]:
        for match in re.finditer(r"(?<=(?:ne|re|on|es) )(est|sont|\w+e|\w+ent)\b", text):
            if match[0] in other:
                made.append(text[: match.start()] + other[match[0]] + text[match.end() :])
    missed = [mutant for mutant in made if not french_rules.problems(mutant)]
    assert len(made) > 200
    assert len(missed) / len(made) < 0.05, missed[:10]


def test_grammar():
    assert clause("le histoire de le héros que il aime") == "l'histoire du héros qu'il aime"
    assert clause("si il vient à les halles de le hôtel") == "s'il vient aux halles de l'hôtel"
    assert sentence("le humour de le auteur ,  si elle veut!") == "L'humour de l'auteur, si elle veut !"
    old = Adjective("vieux", "vieille", "vieux", "vieil", True)
    good = Adjective("bon", before=True)
    friend, hero, tale = Noun("ami", "m"), Noun("héros", "m"), Noun("histoire", "f")
    assert NounPhrase("ce", friend, "s", (old,)).text() == "ce vieil ami"
    assert NounPhrase("ce", friend).text() == "cet ami"
    assert NounPhrase("ce", hero).text() == "ce héros"
    assert NounPhrase("son", tale).text() == "son histoire"
    assert NounPhrase("son", tale, "s", (old,)).text() == "sa vieille histoire"
    assert NounPhrase("un", tale, "p", (old,)).text() == "de vieilles histoires"
    assert NounPhrase("un", tale, "p", (Adjective("banal"),)).text() == "des histoires banales"
    assert NounPhrase("le", Noun("cheval", "m"), "p", (good,)).text() == "les bons chevaux"
    assert Adjective("banal").form("m", "p") == "banals"
    assert Adjective("caricatural").form("m", "p") == "caricaturaux"
    assert Adjective("ennuyeux").forms() == ["ennuyeux", "ennuyeuse", "ennuyeuses"]


# --- reviews -------------------------------------------------------------------------------------


def polarity() -> dict[str, Row]:
    """Form -> its row in polarity.tsv."""
    return {form: row for row in rows("reviews_fr/polarity.tsv") for form in row["forms"].split()}


def test_no_form_belongs_to_two_words():
    forms = [form for row in rows("reviews_fr/polarity.tsv") for form in row["forms"].split()]
    assert len(forms) == len(set(forms))


def test_labelled_parts_show_their_own_words_only():
    known = polarity()
    for name in ("train", "valid", "test"):
        for row in rows(f"reviews_fr/{name}.tsv"):
            parts = {known[word]["part"] for word in words(row["text"]) if word in known}
            allowed = {"train", "test"} if row["words"] == "mixed" else {row["words"]}
            assert parts
            assert parts <= allowed
            assert row["words"] == name or (name, row["words"]) == ("test", "mixed")
    shown = Counter(row["part"] for row in rows("reviews_fr/polarity.tsv"))
    assert 0.2 < shown["train"] / sum(shown.values()) < 0.32


@pytest.mark.parametrize("name", ["train", "valid", "test", "turns"])
def test_every_review_means_its_label(name):
    known = polarity()
    for row in rows(f"reviews_fr/{name}.tsv"):
        tokens, turn = words(row["text"]), int(row["turn"])
        signs = [known[token]["polarity"] if token in known else "" for token in tokens]
        assert set(signs[max(turn, 0) :]) - {""} == {row["label"]}
        assert (tokens.count("mais"), turn >= 0) in ((1, True), (0, False))
        if turn >= 0:
            assert tokens[turn] == "mais"
            assert set(signs[:turn]) - {""} == {str(1 - int(row["label"]))}


def test_turns_are_recorded():
    found = rows("reviews_fr/turns.tsv")
    assert {row["split"] for row in found} == {"train", "test"}
    for row in found:
        before = row["text"][: row["text"].index(" mais ")]
        ends = sum(before.count(mark) for mark in (". ", "! ", "? "))
        assert int(row["turn_sentence"]) == ends
        assert int(row["length"]) == len(words(row["text"]))
    share = {
        place: [int(row["turn"]) / int(row["length"]) for row in found if row["place"] == place]
        for place in ("early", "middle", "late")
    }
    assert max(share["early"]) < 0.5
    assert min(share["late"]) > 0.5
    means = [sum(share[place]) / len(share[place]) for place in ("early", "middle", "late")]
    assert means[0] < 0.35 < means[1] < 0.65 < means[2]
    assert len({len(share[place]) for place in share}) == 1


def test_blanks():
    known = polarity()
    found = rows("reviews_fr/blanks.tsv")
    assert Counter(row["side"] for row in found) == {"left": 300, "right": 300}
    for row in found:
        tokens, position = words(row["text"]), int(row["position"])
        positions = [index for index, token in enumerate(tokens) if token in known]
        assert tokens[position] == row["answer"]
        assert positions[0 if row["side"] == "right" else -1] == position
        answer, other = known[row["answer"]], known[row["other"]]
        assert answer["polarity"] != other["polarity"]
        assert answer["kind"] == other["kind"]


def test_other_word_of_a_blank_would_be_right_french():
    for row in rows("reviews_fr/blanks.tsv"):
        other = re.sub(rf"\b{row['answer']}\b", row["other"], row["text"].lower())
        before = french_rules.problems(row["text"].lower())
        assert Counter(p.split(":")[0] for p in french_rules.problems(other)) <= Counter(
            p.split(":")[0] for p in before
        ), (row["text"], row["other"])


def test_reviews_are_balanced_different_and_of_fair_length():
    seen = Counter(texts("reviews_fr/unlabelled.txt"))
    for name in ("train", "valid", "test", "turns", "blanks"):
        found = rows(f"reviews_fr/{name}.tsv")
        seen.update(row["text"] for row in found)
        if name != "blanks":
            assert sum(int(row["label"]) for row in found) * 2 == len(found)
    assert set(seen.values()) == {1}
    assert all(15 <= len(words(text)) <= 80 for text in seen)
    assert 200 <= len(rows("reviews_fr/train.tsv")) <= 400
    assert len(rows("reviews_fr/test.tsv")) == 1000


def bayes(train: list[tuple[list[str], int]], test: list[tuple[list[str], int]]) -> float:
    """Accuracy of naive Bayes on the presence of words, with add-one smoothing."""
    counts = {0: Counter[str](), 1: Counter[str]()}
    for tokens, label in train:
        counts[label].update(set(tokens))
    known = set(counts[0]) | set(counts[1])
    right = 0
    for tokens, label in test:
        score = sum(math.log((counts[1][token] + 1) / (counts[0][token] + 1)) for token in set(tokens) & known)
        right += int(score > 0) == label
    return right / len(test)


def labelled(name: str) -> list[tuple[list[str], int]]:
    return [(words(row["text"]), int(row["label"])) for row in rows(f"reviews_fr/{name}.tsv")]


def test_labels_alone_do_not_suffice():
    """Naive Bayes knows its training reviews and is lost where the words are new."""
    train, test = labelled("train"), labelled("test")
    assert bayes(train, train) > 0.9
    assert 0.5 < bayes(train, test) < 0.7
    kinds = [row["words"] for row in rows("reviews_fr/test.tsv")]
    new = [item for item, kind in zip(test, kinds, strict=True) if kind == "test"]
    assert abs(bayes(train, new) - 0.5) < 0.08


def test_only_the_judging_words_tell():
    """Without them, even 1000 labels leave subject, author, title and pattern at chance."""
    known = polarity()

    def neutral(items: list[tuple[list[str], int]]) -> list[tuple[list[str], int]]:
        return [([t for t in tokens if t not in known], label) for tokens, label in items]

    many = neutral(labelled("test") + labelled("train"))
    assert abs(bayes(many[::2], many[1::2]) - 0.5) < 0.07
    lengths: dict[int, list[int]] = {0: [], 1: []}
    for tokens, label in labelled("test") + labelled("train"):
        lengths[label].append(len(tokens))
    means = [sum(found) / len(found) for found in lengths.values()]
    assert abs(means[0] - means[1]) < 2


def test_unlabelled_words_keep_company_with_their_like():
    """In reviews that do not turn, all judging words have one sign; every form is read often."""
    known = polarity()
    seen: Counter[str] = Counter()
    for text in texts("reviews_fr/unlabelled.txt"):
        tokens = words(text)
        seen.update({known[token]["lemma"] for token in tokens if token in known})
        if "mais" not in tokens:
            assert len({known[token]["polarity"] for token in tokens if token in known}) == 1
    assert min(seen[row["lemma"]] for row in known.values()) >= 30


# --- biographies ---------------------------------------------------------------------------------


def people(name: str) -> dict[str, str]:
    """Name -> town."""
    found = {}
    for row in rows(f"biographies/qa_{name}.tsv"):
        assert row["question"].startswith("Where was ")
        assert row["question"].endswith(" born?")
        found[row["question"][len("Where was ") : -len(" born?")]] = row["answer"]
    return found


def test_biographies():
    train, dev, unseen = (people(name) for name in ("train", "dev", "unseen"))
    read = texts("biographies/texts.txt")
    assert not (set(train) & set(dev) | set(train) & set(unseen) | set(dev) & set(unseen))
    for name, town in (train | dev).items():
        about = [text for text in read if name in text]
        assert len(about) == make_biographies.TEXTS_EACH == len(set(about))
        assert all(town in text for text in about)
        assert all(text.index(name) < text.index(town) for text in about)
    surnames = {name.split()[1] for name in train | dev}
    assert not surnames & {name.split()[1] for name in unseen}
    assert not any(name.split()[1] in text for name in unseen for text in read)
    assert len(read) == make_biographies.TEXTS_EACH * len(train | dev)
    for towns in (train, dev, unseen):
        (_, most), *_ = Counter(towns.values()).most_common(1)
        assert most / len(towns) < 0.09
    constant = Counter(train.values()).most_common(1)[0][0]
    assert sum(town == constant for town in unseen.values()) / len(unseen) < 0.09


def test_a_name_does_not_reveal_the_town():
    """Naive Bayes on first names and endings is near the constant answer on unseen people."""
    read, unseen = people("train") | people("dev"), people("unseen")

    def features(name: str) -> list[str]:
        first, last = name.split()
        return [first, last[:3], last[-3:], last[-2:], first[-1]]

    towns = Counter(read.values())
    counts = Counter((town, part) for name, town in read.items() for part in features(name))

    def guess(name: str) -> str:
        return max(
            sorted(towns),
            key=lambda town: (
                math.log(towns[town])
                + sum(math.log((counts[town, part] + 0.1) / (towns[town] + 5)) for part in features(name))
            ),
        )

    assert sum(guess(name) == town for name, town in unseen.items()) / len(unseen) < 0.13


# --- translation ---------------------------------------------------------------------------------


def test_translation_parts_do_not_overlap():
    parts = {name: rows(f"translation_en_fr/{name}.tsv") for name in ("train", "dev", "test")}
    assert [len(part) for part in parts.values()] == [9000, 500, 500]
    for side in ("en", "fr"):
        every = [row[side] for part in parts.values() for row in part]
        assert len(every) == len(set(every))
    for row in [row for part in parts.values() for row in part]:
        for side in ("en", "fr"):
            assert 3 <= sum(word.isalpha() or "'" in word or "-" in word
                            for word in words(row[side])) <= 12  # fmt: skip


def test_translation_words_of_test_are_in_train():
    train = rows("translation_en_fr/train.tsv")
    for side in ("en", "fr"):
        known = {word for row in train for word in words(row[side])}
        for name in ("dev", "test"):
            found = {word for row in rows(f"translation_en_fr/{name}.tsv") for word in words(row[side])}
            assert found <= known


def test_english_articles():
    for row in rows("translation_en_fr/train.tsv"):
        tokens = words(row["en"])
        for first, second in itertools.pairwise(tokens):
            assert (first == "an") == (second[0] in "aeiou") or first not in ("a", "an")
            assert first != second


@pytest.mark.parametrize(
    ("english", "french"),
    [
        ("every day", "tous les jours"),
        ("there is no", "il n'y a pas de"),
        ("do not", "ne "),
        ("why ", "pourquoi est-ce qu"),
    ],
)
def test_translation_has_the_constructions(english, french):
    found = [row for row in rows("translation_en_fr/train.tsv") if english in row["en"].lower()]
    right = [row for row in found if french[:-1] in row["fr"].lower()]
    assert len(right) > 20


# --- Winograd ------------------------------------------------------------------------------------


def test_winograd_pairs():
    found = rows("winograd_fr_en/pairs.tsv")
    assert found[0]["sentence"].startswith("Les conseillers municipaux ont refusé")
    assert len({row["pair"] for row in found}) >= 20
    for row in found:
        tokens = words(row["sentence"])
        assert tokens[int(row["position"])] == row["pronoun"]
        assert row["answer"] in (row["first"], row["second"])
        word = words(row["word"])[0]
        assert tokens.index(word) > int(row["position"])
        for candidate in (row["first"], row["second"]):
            assert words(candidate)[-1] in tokens[: int(row["position"])]
    for first, second in zip(found[::2], found[1::2], strict=True):
        assert (first["variant"], second["variant"]) == ("a", "b")
        assert (first["answer"], second["answer"]) == (first["first"], first["second"])
        one, two = words(first["sentence"]), words(second["sentence"])
        assert len(one) == len(two)
        assert sum(a != b for a, b in zip(one, two, strict=True)) == 1


def test_winograd_pronoun_is_ambiguous_in_french():
    for row in rows("winograd_fr_en/pairs.tsv"):
        if row["language"] == "fr":
            features, _ = french_words.PRONOUNS[row["pronoun"]]
            for candidate in (row["first"], row["second"]):
                noun = next(w for w in words(candidate) if w in french_words.NOUNS)
                assert features & french_words.NOUNS[noun]
