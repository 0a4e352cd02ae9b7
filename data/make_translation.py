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
from french import Adjective, NounPhrase, sentence
from translation_lexicon import BE, HAVE, BothNoun, Verb

SEED = 20_02
SIZES = {"train": 9000, "dev": 500, "test": 500}
Pair = tuple[str, str]  # English, French
POSSESSIVES = ("mon", "son", "notre", "votre", "leur")


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

    def noun_phrase(self, kinds: str, article: str = "", number: str = "", plain: float = 0.55) -> Phrase:
        """A noun with determiner and often an adjective, in both languages."""
        noun = self.draw.one([n for n in lexicon.NOUNS if n.kind in kinds.split()])
        number = number or ("p" if self.draw.happens(0.25) else "s")
        article = article or self.draw.one(("le", "le", "un", "un", "ce", *POSSESSIVES))
        if article in POSSESSIVES and noun.english in lexicon.NOBODYS:
            article = "le"
        return self.built(noun, article, number, plain)

    def built(self, noun: BothNoun, article: str, number: str, plain: float) -> Phrase:
        """The phrase for a given noun and French determiner name."""
        adjectives: list[tuple[str, Adjective]] = []
        if not self.draw.happens(plain):
            adjectives = [self.adjective(noun.kind)]
        en_noun = " ".join([*(english for english, _ in adjectives), noun.en(number)])
        phrase = NounPhrase(
            "" if article in ("de", "none") else article,
            noun.french,
            number,
            tuple(adjective for _, adjective in adjectives),
        )
        fr = "de " * (article == "de") + phrase.text()
        en = f"{self.english_article(article, number, en_noun)} {en_noun}".strip()
        person = "il" if number == "s" else "ils"
        return Phrase(en, fr, person, noun.french.gender, number, noun.kind)

    def english_article(self, article: str, number: str, following: str) -> str:
        """The English determiner for a French one."""
        if article in ("un", "de") and number == "s":
            return "an" if following[0] in "aeiou" else "a"
        singular = {
            "le": "the",
            "un": "some",
            "de": "any",
            "mon": "my",
            "son": self.draw.one(["his", "her"]),
            "notre": "our",
            "votre": "your",
            "leur": "their",
            "ce": "this",
            "none": "",
        }
        return "these" if article == "ce" and number == "p" else singular[article]  # fmt: skip

    def adjective(self, kind: str) -> tuple[str, Adjective]:
        """An adjective that suits the kind of noun."""
        suitable = [(en, fr) for en, _, fr, kinds in lexicon.ADJECTIVES if kind in kinds.split()]
        return self.draw.one(suitable)

    def place(self) -> tuple[str, str]:
        """A place in both languages: "near the river", "près de la rivière"."""
        en, fr, suitable = self.draw.one(lexicon.PREPOSITIONS)
        name = self.draw.one(suitable.split())
        noun = next(noun for noun in lexicon.PLACES if noun.english == name)
        phrase = self.built(noun, "le", "s", 0.8)
        return f"{en} {phrase.en}", f"{fr} {phrase.fr}"

    def subject(self, pronoun: float = 0.5) -> Phrase:
        """A pronoun or a phrase for a person."""
        if self.draw.happens(pronoun):
            en, fr, person = self.draw.one(lexicon.PRONOUNS)
            return Phrase(en, fr, person)
        return self.noun_phrase("person", plain=0.75)

    def verb_and_object(self, article: str = "", plain: float = 0.55) -> tuple[Verb, Phrase]:
        """A verb with an object that suits it."""
        verb = self.draw.one(lexicon.VERBS)
        if verb.english == "like" and not article:  # "j'aime le chat", not "j'aime un chat"
            article = self.draw.one(["le", "mon", "ce"])
        return verb, self.noun_phrase(verb.objects, article, plain=plain)

    def willed(self, article: str = "") -> tuple[Verb, Phrase]:
        """A verb that one can want, be able to or be told to, with its object."""
        verb, phrase = self.verb_and_object(article)
        return self.willed(article) if verb.english in lexicon.UNWILLED else (verb, phrase)

    def willed_pronoun(self) -> tuple[Verb, str, str]:
        """The same with an object pronoun."""
        verb, en, fr = self.verb_and_pronoun()
        return self.willed_pronoun() if verb.english in lexicon.UNWILLED else (verb, en, fr)

    def verb_and_pronoun(self) -> tuple[Verb, str, str]:
        """A verb with an object pronoun that suits it, in both languages."""
        verb = self.draw.one(lexicon.VERBS)
        kinds = ["any", *verb.objects.split()]
        suitable = [(en, fr) for en, fr, kind in lexicon.OBJECTS if kind in kinds]
        if verb.objects != "person":
            suitable.append(("it", "le"))
        en, fr = self.draw.one(sorted(set(suitable)))
        return verb, en, fr

    def time(self, person: str) -> tuple[str, str]:
        """A time, or for several people "together"."""
        several = person in ("nous", "ils")
        return self.draw.one([*lexicon.TIMES, *([lexicon.TOGETHER] if several else [])])

    def ending(self, person: str, probability: float) -> tuple[str, str]:
        """A place, a time or nothing, with a space before it."""
        if not self.draw.happens(probability):
            return "", ""
        en, fr = self.place() if self.draw.happens(0.5) else self.time(person)
        return f" {en}", f" {fr}"


def be(subject: Phrase) -> str:
    """The form of "be" for a subject."""
    return {"je": "am", "il": "is"}.get(subject.person, "are")


def do(subject: Phrase) -> str:
    """The form of "do" for a subject."""
    return "does" if subject.person == "il" else "do"


def plain(g: Grammar) -> Pair:
    """The girl reads a long letter every day."""
    s, (v, o) = g.subject(), g.verb_and_object()
    en, fr = g.ending(s.person, 0.3)
    return f"{s.en} {v.en(s.person)} {o.en}{en}.", f"{s.fr} {v.fr(s.person)} {o.fr}{fr}."


def adverb(g: Grammar) -> Pair:
    """She often sees the cat."""
    s, (v, o), (en, fr) = g.subject(), g.verb_and_object(), g.draw.one(lexicon.ADVERBS)
    return f"{s.en} {en} {v.en(s.person)} {o.en}.", f"{s.fr} {v.fr(s.person)} {fr} {o.fr}."


def negated(g: Grammar) -> Pair:
    """We do not open the door."""
    s, (v, o) = g.subject(), g.verb_and_object(g.draw.one(["le", "le", "mon", "leur", "ce"]))
    if g.draw.happens(0.7):
        return f"{s.en} {do(s)} not {v.english} {o.en}.", f"{s.fr} ne {v.fr(s.person)} pas {o.fr}."
    return f"{s.en} never {v.en(s.person)} {o.en}.", f"{s.fr} ne {v.fr(s.person)} jamais {o.fr}."


def negated_indefinite(g: Grammar) -> Pair:
    """He does not buy an orange: "un" becomes "de" after a negation."""
    s, (v, o) = g.subject(), g.verb_and_object("de")
    if o.kind == "person":
        return negated_indefinite(g)
    return f"{s.en} {do(s)} not {v.english} {o.en}.", f"{s.fr} ne {v.fr(s.person)} pas {o.fr}."


def pronoun(g: Grammar) -> Pair:
    """They follow her near the river."""
    s, (v, en, fr) = g.subject(), g.verb_and_pronoun()
    en_end, fr_end = g.ending(s.person, 0.5)
    return (
        f"{s.en} {v.en(s.person)} {en}{en_end}.",
        f"{s.fr} {fr} {v.fr(s.person)}{fr_end}.",
    )


def pronoun_negated(g: Grammar) -> Pair:
    """You do not see them."""
    s, (v, en, fr) = g.subject(), g.verb_and_pronoun()
    en_end, fr_end = g.ending(s.person, 0.3)
    return (
        f"{s.en} {do(s)} not {v.english} {en}{en_end}.",
        f"{s.fr} ne {fr} {v.fr(s.person)} pas{fr_end}.",
    )


def described(g: Grammar) -> Pair:
    """The old house is not clean."""
    s = g.noun_phrase("person animal text food opening thing", g.draw.one(["le", "mon", "ce"]), "", 1)
    en, adjective = g.adjective(s.kind)
    fr = adjective.form(s.gender, s.number)
    if g.draw.happens(0.3):
        return f"{s.en} {be(s)} not {en}.", f"{s.fr} ne {BE.fr(s.person)} pas {fr}."
    degree = g.draw.one([("", ""), ("very ", "très "), ("too ", "trop ")])
    return f"{s.en} {be(s)} {degree[0]}{en}.", f"{s.fr} {BE.fr(s.person)} {degree[1]}{fr}."


def compared(g: Grammar) -> Pair:
    """The horse is bigger than the dog."""
    kind = g.draw.one(["person", "animal", "opening", "thing", "text"])
    s, other = (g.noun_phrase(kind, "le", "s", plain=1.0) for _ in range(2))
    en, adjective = g.adjective(kind)
    comparative = next(c for e, c, *_ in lexicon.ADJECTIVES if e == en) or f"more {en}"
    if s.en == other.en or comparative == "-":
        return compared(g)
    plus = "meilleur" if en == "good" else f"plus {adjective.masculine}"
    if s.gender == "f":
        plus = "meilleure" if en == "good" else f"plus {adjective.form('f', 's')}"
    return f"{s.en} is {comparative} than {other.en}.", f"{s.fr} est {plus} que {other.fr}."


def there_is(g: Grammar) -> Pair:
    """There is no bird under the tree."""
    (en, fr), count = g.place(), g.draw.one(["s", "s", "p", "no"])
    if count == "no":
        o = g.noun_phrase("person animal thing", "de", "s")
        return f"there is no {o.en.split(' ', 1)[1]} {en}.", f"il n'y a pas {o.fr} {fr}."
    if count == "p":
        number, nombre = g.draw.one(lexicon.NUMBERS)
        o = g.noun_phrase("person animal thing", "none", "p")
        return f"there are {number} {o.en} {en}.", f"il y a {nombre} {o.fr} {fr}."
    o = g.noun_phrase("person animal thing", "un", "s")
    return f"there is {o.en} {en}.", f"il y a {o.fr} {fr}."


def counted(g: Grammar) -> Pair:
    """She has three red keys."""
    s, (number, nombre) = g.subject(), g.draw.one(lexicon.NUMBERS)
    o = g.noun_phrase("person animal text food thing", "none", "p")
    return (
        f"{s.en} {HAVE.en(s.person)} {number} {o.en}.",
        f"{s.fr} {HAVE.fr(s.person)} {nombre} {o.fr}.",
    )


def asked(g: Grammar) -> Pair:
    """Does the teacher know the story?"""
    s, (v, o) = g.subject(), g.verb_and_object(plain=0.7)
    en, fr = g.ending(s.person, 0.2)
    if g.draw.happens(0.3):
        v, en_object, fr_object = g.verb_and_pronoun()
        return (
            f"{do(s)} {s.en} {v.english} {en_object}{en}?",
            f"est-ce que {s.fr} {fr_object} {v.fr(s.person)}{fr} ?",
        )
    return (
        f"{do(s)} {s.en} {v.english} {o.en}{en}?",
        f"est-ce que {s.fr} {v.fr(s.person)} {o.fr}{fr} ?",
    )


def asked_where(g: Grammar) -> Pair:
    """Where is the green hat? Why does she laugh?"""
    if g.draw.happens(0.4):
        s = g.noun_phrase("person animal thing text", g.draw.one(["le", "mon", "votre", "leur"]))
        return f"where {be(s)} {s.en}?", f"où {BE.fr(s.person)} {s.fr} ?"
    s, v = g.subject(), g.draw.one(lexicon.INTRANSITIVE)
    en, fr = g.draw.one([("where", "où"), ("why", "pourquoi"), ("when", "quand")])
    return f"{en} {do(s)} {s.en} {v.english}?", f"{fr} est-ce que {s.fr} {v.fr(s.person)} ?"


def asked_who(g: Grammar) -> Pair:
    """Who closes the window?"""
    v, o = g.verb_and_object()
    en, fr = g.ending("il", 0.3)
    return f"who {v.english_third} {o.en}{en}?", f"qui {v.fr('il')} {o.fr}{fr} ?"


def ordered(g: Grammar) -> Pair:
    """Close the white door. Do not open it."""
    v, o = g.willed(g.draw.one(["le", "mon", "ce"]))
    choice = g.draw.below(4)
    if choice == 0:
        v, en, fr = g.willed_pronoun()
        return f"do not {v.english} {en}.", f"ne {fr} {v.fr('vous')} pas."
    if choice == 1:
        return f"do not {v.english} {o.en}.", f"ne {v.fr('vous')} pas {o.fr}."
    if choice == 2:
        return f"let us {v.english} {o.en}.", f"{v.fr('nous')} {o.fr}."
    return f"{v.english} {o.en}.", f"{v.fr('vous')} {o.fr}."


def modal(g: Grammar) -> Pair:
    """I want to buy it. He cannot follow the cow."""
    s, (v, o), m = g.subject(), g.willed(), g.draw.one(lexicon.MODALS)
    if g.draw.happens(0.5):
        v, en, fr = g.willed_pronoun()
        english, french = f"{v.english} {en}", f"{fr} {v.infinitive}"
    else:
        english, french = f"{v.english} {o.en}", f"{v.infinitive} {o.fr}"
    if g.draw.happens(0.3):
        negation = {"can": "cannot", "must": "must not"}.get(m.english, f"{do(s)} not {m.english}")
        return f"{s.en} {negation} {english}.", f"{s.fr} ne {m.fr(s.person)} pas {french}."
    return f"{s.en} {m.en(s.person)} {english}.", f"{s.fr} {m.fr(s.person)} {french}."


def intransitive(g: Grammar) -> Pair:
    """The hedgehog sleeps behind the school every day."""
    s, v = g.subject(), g.draw.one(lexicon.INTRANSITIVE)
    (en_place, fr_place), (en_time, fr_time) = g.place(), g.time(s.person)
    if g.draw.happens(0.3):
        en_time = fr_time = ""
    if g.draw.happens(0.3):
        return (
            f"{s.en} {do(s)} not {v.english} {en_place}.",
            f"{s.fr} ne {v.fr(s.person)} pas {fr_place}.",
        )
    return (
        f"{s.en} {v.en(s.person)} {en_place} {en_time}".strip() + ".",
        f"{s.fr} {v.fr(s.person)} {fr_place} {fr_time}".strip() + ".",
    )


def given(g: Grammar) -> Pair:
    """We show the picture to our neighbour."""
    s, v = g.subject(0.7), g.draw.one(lexicon.GIVING)
    o = g.noun_phrase("text thing food", plain=0.7)
    to = g.noun_phrase("person", g.draw.one(["le", "mon", "leur"]), plain=0.9)
    return (
        f"{s.en} {v.en(s.person)} {o.en} to {to.en}.",
        f"{s.fr} {v.fr(s.person)} {o.fr} à {to.fr}.",
    )


PATTERNS: tuple[tuple[Callable[[Grammar], Pair], int], ...] = (
    (plain, 4), (adverb, 2), (negated, 3), (negated_indefinite, 1), (pronoun, 3),
    (pronoun_negated, 2), (described, 2), (compared, 1), (there_is, 2), (counted, 1), (asked, 2),
    (asked_where, 1), (asked_who, 1), (ordered, 2), (modal, 3), (intransitive, 2), (given, 2),
)  # fmt: skip


def pairs(draw: Draw, count: int) -> list[Pair]:
    """Pairs of 3 to 12 words; no English sentence and no French one comes twice."""
    grammar = Grammar(draw)
    patterns, weights = zip(*PATTERNS, strict=True)
    found: list[Pair] = []
    seen: set[str] = set()
    while len(found) < count:
        en, fr = draw.weighted(patterns, weights)(grammar)
        en, fr = en[0].upper() + en[1:], sentence(fr)
        lengths = [sum(word not in ".?" for word in words(text)) for text in (en, fr)]
        if en in seen or fr in seen or min(lengths) < 3 or max(lengths) > 12:
            continue
        seen |= {en, fr}
        found.append((en, fr))
    return found


def files() -> dict[str, str]:
    """The files of this corpus: path -> text."""
    everything = pairs(Draw(SEED), sum(SIZES.values()))
    result, start = {}, 0
    for split, size in SIZES.items():
        part = everything[start : start + size]
        result[f"translation_en_fr/{split}.tsv"] = table(("en", "fr"), part)
        start += size
    return result
