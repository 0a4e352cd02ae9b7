"""Parallel sentences in English and French from one small grammar of both.

Every English sentence has one translation: "you" is "vous", "they" is "ils", and the object "it" is
"le". Where the order of words differs is the point: adjectives after the noun, object pronouns
before the verb, "ne ... pas" around it, adverbs after it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import translation_lexicon as lexicon
from corpus import Draw, table, words
from french import Adjective, NounPhrase, opens_with_vowel, sentence
from translation_lexicon import BothNoun, Verb

SEED = 20_02
SIZES = {"train": 9000, "dev": 500, "test": 500}


@dataclass(frozen=True)
class Phrase:
    """A noun phrase or pronoun in both languages; `person` picks the French verb form."""

    en: str
    fr: str
    person: str
    gender: str = "m"
    number: str = "s"
    kind: str = "person"


class Grammar:
    """Draws phrases and sentences; French comes without elision, `sentence` adds it."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw

    def noun_phrase(
        self, kinds: str, article: str = "", number: str = "", plain: float = 0.55
    ) -> Phrase:
        """A noun with determiner and often an adjective, in both languages."""
        noun = self.draw.one([n for n in lexicon.NOUNS if n.kind in kinds.split()])
        number = number or ("p" if self.draw.happens(0.25) else "s")
        names = ("le", "le", "le", "un", "un", "mon", "son", "notre", "votre", "leur", "ce")
        return self.built(noun, article or self.draw.one(names), number, plain)

    def built(self, noun: BothNoun, article: str, number: str, plain: float) -> Phrase:
        """The phrase for a given noun and French determiner name."""
        adjectives: list[tuple[str, Adjective]] = []
        if not self.draw.happens(plain):
            adjectives = [self.adjective(noun.kind)]
        en_noun = " ".join([*(english for english, _ in adjectives), noun.en(number)])
        phrase = NounPhrase(article, noun.french, number, tuple(a for _, a in adjectives))
        person = "il" if number == "s" else "ils"
        en = f"{self.english_article(article, number, en_noun)} {en_noun}".strip()
        return Phrase(en, phrase.text(), person, noun.french.gender, number, noun.kind)

    def english_article(self, article: str, number: str, following: str) -> str:
        """The English determiner for a French one."""
        if article == "un" and number == "s":
            return "an" if following[0] in "aeiou" else "a"
        singular = {"le": "the", "un": "some", "mon": "my", "son": self.draw.one(["his", "her"]),
                    "notre": "our", "votre": "your", "leur": "their", "ce": "this", "": ""}
        return "these" if article == "ce" and number == "p" else singular[article]  # fmt: skip

    def adjective(self, kind: str) -> tuple[str, Adjective]:
        """An adjective that suits the kind of noun."""
        suitable = [(en, fr) for en, _, fr, kinds in lexicon.ADJECTIVES if kind in kinds.split()]
        return self.draw.one(suitable)

    def place(self) -> tuple[str, str]:
        """ "near the river", "près de la rivière"."""
        en, fr, names = self.draw.one(lexicon.PREPOSITIONS)
        noun = next(n for n in lexicon.PLACES if n.english == self.draw_name(names, n))
        phrase = self.built(noun, "le", "s", 0.85)
        return f"{en} {phrase.en}", f"{fr} {phrase.fr}"
