"""Fills the slots of the review patterns: one `Writer` holds what stays the same in one review."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import reviews_patterns as patterns
from corpus import Draw
from french import Adjective, Noun, NounPhrase, clause, determiner, sentence
from reviews_lexicon import NOUN_CLASSES, PolarityWord

SLOT = re.compile(r"\{([^}]*)\}")
# Slot -> kind of polarity word that stands there unchanged
PLAIN = {
    "adv": "adverb",
    "qualité": "quality",
    "émotion": "emotion",
    "infinitif": "infinitive",
    "participe": "participle",
    "cri": "cry",
}


class WordsUsedUpError(Exception):
    """A small vocabulary has no unused word left for this review."""


class Writer:
    """Writes the sentences of one review; `sign` may be changed between two of them."""

    def __init__(self, draw: Draw, words: Sequence[PolarityWord], sign: int) -> None:
        self.draw = draw
        self.words = words
        self.sign = sign
        self.used: set[str] = set()
        self.speaker = draw.one("mf")
        self.author, self.surname = self._author()
        self.title = self._title()
        self.noun, self.number, self.domain = Noun("livre", "m"), "s", "w"

    def clause(self, pattern: str) -> str:
        """The pattern filled, without capital and end mark."""
        return self._fill(pattern.lstrip("~=").rstrip("."))

    def sentence(self, pattern: str) -> str:
        """The pattern filled, as a sentence."""
        return sentence(self._fill(pattern.lstrip("~=")))

    def fresh(self, items: Sequence[str]) -> str:
        """One of the items that this review has not used yet."""
        left = [item for item in items if item not in self.used]
        choice = self.draw.one(left or items)
        self.used.add(choice)
        return choice

    def _author(self) -> tuple[str, str]:
        first = self.draw.one(patterns.WOMEN if self.draw.happens(0.5) else patterns.MEN)
        surname = self.draw.one(patterns.SURNAMES)
        return f"{first} {surname}", surname

    def _title(self) -> str:
        title = f"{self.draw.one(patterns.TITLE_HEADS)} {self.draw.one(patterns.TITLE_TAILS)}"
        return f"« {sentence(title)} »"

    def _fill(self, pattern: str) -> str:
        return clause(SLOT.sub(lambda match: self._slot(match.group(1)), pattern))

    def _slot(self, slot: str) -> str:
        if "|" in slot:
            return slot.split("|")["sp".index(self.number)]
        if slot.endswith("*"):
            return Adjective(slot[:-1]).form(self.noun.gender, self.number)
        if slot.endswith("@"):
            return Adjective(slot[:-1]).form(self.speaker, "s")
        name = slot.lower()
        if ":" in name:
            return self._noun_phrase(*name.split(":"))
        if name in PLAIN:
            return self._word(PLAIN[name]).lemma
        if name in patterns.NEUTRAL:
            return self.fresh(patterns.NEUTRAL[name])
        return self._named(name)

    def _named(self, name: str) -> str:
        single: dict[str, Callable[[], str]] = {
            "adj": lambda: self._adjective(self.noun.gender, self.number),
            "adj mw": lambda: self._alone("w"),
            "adj mp": lambda: self._alone("p"),
            "adj mc": lambda: self._alone("c"),
            "cadj m": lambda: self._alone("w", gradable=True),
            "tadj": self._intensified,
            "un nom": lambda: self._judging_noun("un"),
            "quel nom": lambda: self._judging_noun("quel"),
            "verbe": lambda: self._word("verb").present["sp".index(self.number)],
            "touché": lambda: Adjective(self._word("verb").lemma).form(self.speaker, "s"),
            "pronom": lambda: ("il" if self.noun.gender == "m" else "elle") + "s" * (self.number == "p"),
            "titre": lambda: self.title,
            "autre titre": self._title,
            "auteur": lambda: self.author,
            "nom": lambda: self.surname,
        }
        return single[name]()

    def _word(self, kind: str, *choices: Sequence[PolarityWord]) -> PolarityWord:
        """A polarity word of the present sign, from the first choice that has an unused one."""
        for choice in choices or [self.words]:
            found = [
                word for word in choice if (word.kind, word.sign) == (kind, self.sign) and word.lemma not in self.used
            ]
            if found:
                word = self.draw.weighted(found, [word.weight for word in found])
                self.used.add(word.lemma)
                return word
        raise WordsUsedUpError(kind)

    def _judging_adjective(self, domain: str, gradable: bool = False, attributive: bool = False) -> PolarityWord:
        """An adjective for the domain; a third of the time one that suits no other domain.

        "vilain", "joli" and the like, which always stand before a noun, come only with one.
        """
        suited = [
            word
            for word in self.words
            if domain in word.domains and (word.gradable or not gradable) and (attributive or word.before != "^^")
        ]
        narrow = [word for word in suited if word.domains == domain]
        return self._word("adjective", narrow if self.draw.happens(0.35) else suited, suited)

    def _adjective(self, gender: str, number: str) -> str:
        word = self._judging_adjective(self.domain)
        return Adjective.form(_form(word), gender, number)

    def _alone(self, domain: str, gradable: bool = False) -> str:
        return _form(self._judging_adjective(domain, gradable)).masculine

    def _intensified(self) -> str:
        """An adjective after "vraiment", "très" or, if it has degrees, "divinement"."""
        word = self._judging_adjective(self.domain)
        stronger = patterns.INTENSIFIERS + (patterns.DEGREES if word.gradable else ())
        judging = word.gradable and self.draw.happens(0.7)
        degree = self._word("degree").lemma if judging else self.fresh(stronger)
        return f"{degree} {_form(word).form(self.noun.gender, self.number)}"

    def _judging_noun(self, article: str) -> str:
        word = self._word("noun")
        return f"{determiner(article, word.gender, 's', word.lemma)} {word.lemma}"

    def _noun_phrase(self, article: str, noun_class: str) -> str:
        self.domain, nouns = NOUN_CLASSES[noun_class.rstrip("+")]
        singulars = [noun.singular for noun, _ in nouns]
        chosen = self.fresh(singulars)
        self.noun, self.number = nouns[singulars.index(chosen)]
        adjectives: tuple[Adjective, ...] = ()
        if noun_class.endswith("+"):
            word = self._judging_adjective(self.domain, attributive=True)
            before = word.before == "^^" or (word.before == "^" and self.draw.happens(0.5))
            adjectives = (_placed(_form(word), before),)
        return NounPhrase(article, self.noun, self.number, adjectives).text()


def _form(word: PolarityWord) -> Adjective:
    if word.adjective is None:
        raise ValueError(f"{word.lemma} is no adjective")
    return word.adjective


def _placed(adjective: Adjective, before: bool) -> Adjective:
    return Adjective(
        adjective.masculine,
        adjective.feminine_form,
        adjective.masculine_plural,
        adjective.liaison,
        before,
    )
