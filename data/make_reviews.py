"""Invented French book reviews: many without label, few with one, and words the labels hide.

Every review has one author, one title, one speaker and one judgement. The words that judge are
divided into those that labelled training reviews may use, those of validation and those of test
(`polarity.tsv`); the unlabelled reviews mix them all. Whether a review is good or bad changes
nothing but the words that judge: patterns, names, plots and lengths are drawn the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import reviews_patterns as patterns
from corpus import Draw, lines, table, words
from french import Adjective, opens_with_vowel, sentence
from review_writer import WordsUsedUpError, Writer
from reviews_lexicon import PARTS, PolarityWord, divided

SEED = 20_03
UNLABELLED = 10_500
LABELLED = {"train": 300, "valid": 200, "test": 1000}
TURNS = {"train": 450, "test": 900}
BLANKS = 300  # for each side
TURNING_SHARE = 0.12  # of the reviews, labelled or not
MIXED_SHARE = 0.3  # of the test reviews: may also use words of train
PLACES = ("early", "middle", "late")
BODIES = (patterns.PLOT_JUDGED, patterns.PEOPLE_JUDGED, patterns.STYLE_JUDGED)


@dataclass(frozen=True)
class Review:
    """A review; `turn` is the word index of "mais" or -1."""

    text: str
    label: int
    turn: int = -1
    turn_sentence: int = -1
    place: str = ""


class Reviewer:
    """Draws whole reviews; never the same text twice."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.seen: set[str] = set()
        vocabulary = divided(draw)
        self.words = {part: [word for word in vocabulary if word.part == part] for part in PARTS}
        self.words["mixed"] = self.words["train"] + self.words["test"]
        self.words["all"] = self.words["train"] + self.words["valid"] + self.words["test"]

    def review(self, vocabulary: str, label: int, turning: bool = False, place: str = "") -> Review:
        """A review of 15 to 80 words; one that turns does so at the given place."""
        while True:
            writer = Writer(self.draw, self.words[vocabulary], label)
            try:
                made = self._turning(writer, place) if turning else self._steady(writer)
            except WordsUsedUpError:
                continue
            if 15 <= len(words(made.text)) <= 80 and made.text not in self.seen:
                self.seen.add(made.text)
                return made

    def _steady(self, writer: Writer) -> Review:
        sentences = self._opening(writer)
        body = [self._judged(writer, index > 0) for index in range(self.draw.between(2, 3))]
        return Review(" ".join([*sentences, *body, *self._closing(writer)]), writer.sign)

    def _opening(self, writer: Writer) -> list[str]:
        neutral = self.draw.happens(0.2)
        first = patterns.NEUTRAL_OPENINGS if neutral else patterns.OPENINGS
        pattern = writer.fresh(first)
        sentences = [writer.sentence(pattern)]
        if pattern[0] == "=" and self.draw.happens(0.4):  # a reaction and its reason
            reason = writer.fresh(_clauses(self.draw.one(BODIES), "~"))
            sentences = [_joined(writer, pattern, self.draw.one(patterns.BECAUSE), reason)]
        if self.draw.happens(0.25):
            sentences.append(writer.sentence(writer.fresh(patterns.PLOTS)))
        elif not neutral and self.draw.happens(0.5):
            sentences.append(writer.sentence("{cri} !"))
        return sentences

    def _closing(self, writer: Writer) -> list[str]:
        sentences = []
        if self.draw.happens(0.25):
            sentences.append(writer.sentence(writer.fresh(patterns.ENDINGS)))
        if self.draw.happens(0.12):
            sentences.append(writer.sentence(writer.fresh(patterns.COMPARISONS)))
        if not sentences or self.draw.happens(0.4):
            sentences.append(writer.sentence(writer.fresh(patterns.VERDICTS)))
        return sentences

    def _judged(self, writer: Writer, connected: bool = True) -> str:
        """A sentence that judges: sometimes two clauses, sometimes after a connective."""
        pattern = writer.fresh(self.draw.one(BODIES))
        if pattern[0] in "~=" and self.draw.happens(0.3):
            other = writer.fresh(_clauses(self.draw.one(BODIES), "~="))
            return _joined(writer, pattern, self.draw.one(patterns.JOINTS), other)
        if connected and pattern[0] in "~=" and self.draw.happens(0.15):
            return f"{writer.fresh(patterns.CONNECTIVES)} {writer.clause(pattern)}."
        return writer.sentence(pattern)

    def _turning(self, writer: Writer, place: str) -> Review:
        """The other judgement first, "mais", then the label's."""
        label, place = writer.sign, place or self.draw.one(PLACES)
        before = {"early": 0, "middle": self.draw.between(1, 2), "late": self.draw.between(2, 4)}
        after = {"early": self.draw.between(2, 4), "middle": self.draw.between(1, 2), "late": 0}
        sentences = []
        if self.draw.happens(0.5) and place != "early":
            sentences.append(writer.sentence(writer.fresh(patterns.NEUTRAL_OPENINGS)))
        writer.sign = 1 - label
        sentences += [self._judged(writer, index > 0) for index in range(before[place])]
        one, other = self.draw.some(BODIES, 2)  # "the style is ..., but the plot is ..."
        turning = writer.clause(writer.fresh(_clauses(one, "~=")))
        writer.sign = label
        turning += ", mais " + writer.clause(writer.fresh(_clauses(other, "~=")))
        turn_sentence = len(sentences)
        sentences.append(sentence(turning + "."))
        if after[place]:
            sentences += [self._judged(writer) for _ in range(after[place] - 1)]
            sentences.append(writer.sentence(writer.fresh(patterns.VERDICTS)))
        text = " ".join(sentences)
        return Review(text, label, words(text).index("mais"), turn_sentence, place)


def _joined(writer: Writer, pattern: str, joint: str, other: str) -> str:
    first = writer.clause(pattern)
    return sentence(f"{first}{joint} {writer.clause(other)}.")


def _clauses(group: Sequence[str], marks: str) -> list[str]:
    return [pattern for pattern in group if pattern[0] in marks]


def blanks(reviewer: Reviewer, side: str) -> list[tuple[str, str, int, str, str]]:
    """Reviews with a judging word that only the words on one side of it tell."""
    known = {form: word for word in reviewer.words["mixed"] for form in word.forms}
    found: list[tuple[str, str, int, str, str]] = []
    while len(found) < BLANKS:
        text = reviewer.review("mixed", len(found) % 2).text
        tokens = words(text)
        places = [index for index, token in enumerate(tokens) if token in known]
        place = places[0] if side == "right" else places[-1]
        others = opposites(known[tokens[place]], tokens[place], reviewer.words["mixed"])
        if len(places) >= 3 and others:
            other = reviewer.draw.one(others)
            found.append((side, text, place, tokens[place], other))
    return found


def opposites(word: PolarityWord, form: str, others: Sequence[PolarityWord]) -> list[str]:
    """Forms of the other sign that could stand in the same place."""
    found = []
    for other in others:
        same_use = (other.kind, other.gender, other.before) == (word.kind, word.gender, word.before)
        shared = set(other.domains) >= set(word.domains)
        if other.sign == word.sign or not same_use or not shared:
            continue
        if word.adjective and other.adjective:
            agreements = [(g, n) for g in "mf" for n in "sp" if word.adjective.form(g, n) == form]
            forms = {other.adjective.form(gender, number) for gender, number in agreements}
        elif word.kind == "verb":
            forms = {a for a, b in _same_use(other, word) if b == form}
        else:
            forms = set(other.forms)
        if len(forms) == 1 and opens_with_vowel(min(forms)) == opens_with_vowel(form):
            found.append(min(forms))
    return found


def _same_use(first: PolarityWord, second: PolarityWord) -> list[tuple[str, str]]:
    """The forms of two verbs side by side: participles by agreement, then the present."""
    participles = [
        (Adjective(first.lemma).form(gender, number), Adjective(second.lemma).form(gender, number))
        for gender in "mf"
        for number in "sp"
    ]
    return [*participles, *zip(first.present, second.present, strict=True)]


def files() -> dict[str, str]:
    """The files of this corpus: path -> text."""
    draw = Draw(SEED)
    reviewer = Reviewer(draw)
    result = {"polarity.tsv": _polarity(reviewer)}
    for split, size in LABELLED.items():
        rows = []
        for index in range(size):
            turning, mixed = draw.happens(TURNING_SHARE), draw.happens(MIXED_SHARE)
            vocabulary = "mixed" if split == "test" and mixed else split
            made = reviewer.review(vocabulary, index % 2, turning)
            rows.append((made.label, made.text, made.turn, vocabulary))
        result[f"{split}.tsv"] = table(("label", "text", "turn", "words"), draw.shuffled(rows))
    turns = []
    for split, size in TURNS.items():
        for index in range(size):
            made = reviewer.review("train", index % 2, True, PLACES[index // 2 % 3])
            turns.append(
                (split, made.label, made.text, made.turn, made.turn_sentence, made.place,
                 len(words(made.text)))
            )  # fmt: skip
    columns = ("split", "label", "text", "turn", "turn_sentence", "place", "length")
    result["turns.tsv"] = table(columns, turns)
    result["blanks.tsv"] = table(
        ("side", "text", "position", "answer", "other"),
        blanks(reviewer, "right") + blanks(reviewer, "left"),
    )
    unlabelled = [reviewer.review("all", index % 2, draw.happens(TURNING_SHARE)).text for index in range(UNLABELLED)]
    result["unlabelled.txt"] = lines(draw.shuffled(unlabelled))
    return {f"reviews_fr/{name}": text for name, text in result.items()}


def _polarity(reviewer: Reviewer) -> str:
    rows = [
        (word.lemma, word.sign, word.kind, part, " ".join(word.forms))
        for part in PARTS
        for word in reviewer.words[part]
    ]
    return table(("lemma", "polarity", "kind", "part", "forms"), rows)
