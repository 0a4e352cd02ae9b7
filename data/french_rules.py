"""Finds mistakes of French in a text: elision, contraction, spacing, agreement, conjugation.

`problems` reads finished text, not the patterns it came from: it splits it into words, looks them
up in `french_words` and follows noun phrases, predicates and subjects from left to right. It knows
the French of these corpora, not all French; a word after a determiner that it does not know is
a problem too, so that nothing escapes by being unknown.
"""

from __future__ import annotations

import re

from corpus import WORD
from french import opens_with_vowel
from french_words import (
    ADJECTIVES,
    ADVERBS,
    BEFORE_NOUN,
    DETERMINERS,
    NAMES,
    NOUNS,
    OTHER_AFTER_DETERMINER,
    PRONOUNS,
    SPEAKER_PARTICIPLES,
    VERBS,
    Features,
)

ELIDES = {"je", "me", "te", "se", "le", "la", "de", "ne", "que", "jusque", "lorsque", "ce"}
ELIDED = {"j'", "m'", "t'", "s'", "l'", "d'", "n'", "qu'", "c'", "jusqu'"}
UNCONTRACTED = {("de", "le"), ("de", "les"), ("à", "le"), ("à", "les")}
CONTRACTED = {"de", "d'", "du", "au", "aux"}
JOINTS = {",", "et"} | ADVERBS
LIAISON = {"beau": "bel", "nouveau": "nouvel", "vieux": "vieil", "ce": "cet"}
NEGATIVE = {"pas", "jamais", "que", "qu'", "plus", "rien"}
CLITICS = {"ne", "n'", "le", "la", "les", "l'", "m'", "vous", "nous"}
BOUNDARIES = {".", "!", "?", ";", ":", "mais", "car", "tant", "parce", "»"}
COPULAS = {"est", "sont", "devient", "deviennent", "suis", "sommes", "êtes"}
SPACING = (
    (re.compile(r"\s{2}|^\s|\s$"), "doubled or outer space"),
    (re.compile(r"\s[,.]"), "space before a comma or full stop"),
    (re.compile(r"[^\s][;:!?»]"), "no space before a high mark"),
    (re.compile(r"«[^\s]"), "no space after an opening quotation mark"),
    (re.compile(r"[,;:.!?»](?=[^\s,.;:!?»])"), "no space after a mark"),
    (re.compile(r"' |[’`´]"), "apostrophe"),
    (re.compile(r"^[^A-ZÀÂÉÈÊÎÔÛÇŒ«]|[.!?] [^A-ZÀÂÉÈÊÎÔÛÇŒ«]"), "missing capital"),
    (re.compile(r"[^.!?]$"), "no end mark"),
)
# A word such as "écrit", verb or participle, is a verb after one of these
AFTER_SUBJECT = frozenset((*CLITICS, *PRONOUNS, *NAMES, *NOUNS, *ADJECTIVES))
ANY: Features = frozenset((g, n) for g in "mf" for n in "sp")
MASCULINE: Features = frozenset({("m", "s")})


def problems(text: str) -> list[str]:
    """What is wrong with a text, each with the words around it; empty when nothing is."""
    found = [f"{name}: {text!r}" for pattern, name in SPACING if pattern.search(text)]
    tokens = WORD.findall(text)
    lower = [token.lower() for token in tokens]
    found += _neighbours(lower)
    speaker: set[str] = set()
    start = 0
    for index, token in enumerate(lower):
        if token in {".", "!", "?"}:
            found += _Sentence(lower[start : index + 1], speaker).problems()
            start = index + 1
    if len(speaker) > 1:
        found.append(f"the speaker changes gender: {text!r}")
    return found


def _neighbours(tokens: list[str]) -> list[str]:
    """Mistakes that two or three words in a row show."""
    found = []
    for first, second, third in zip(tokens, [*tokens[1:], ""], [*tokens[2:], "", ""], strict=False):
        vowel = opens_with_vowel(second) and second[:1].isalpha()
        pair = f"{first} {second} {third}"
        if first in ELIDES and vowel:
            found.append(f"missing elision: {pair}")
        if first in ELIDED and not vowel:
            found.append(f"elision before a consonant: {pair}")
        if first == "si" and second in ("il", "ils"):
            found.append(f"missing elision: {pair}")
        if (first, second) in UNCONTRACTED:
            found.append(f"missing contraction: {pair}")
        if first in ("du", "au", "ma", "sa") and vowel:
            found.append(f"wrong before a vowel: {pair}")
        noun = ("m", "s") in NOUNS.get(second, ()) or ("m", "s") in BEFORE_NOUN.get(second, ())
        if first in LIAISON and vowel and noun:
            found.append(f"{LIAISON[first]} is needed: {pair}")
        if first in LIAISON.values() and not vowel:
            found.append(f"wrong before a consonant: {pair}")
        if first == "des" and second in BEFORE_NOUN and third in NOUNS:
            found.append(f"des before an adjective: {pair}")
        if first == second and first.isalpha() and first not in ("nous", "vous"):
            found.append(f"doubled word: {pair}")
    return found


class _Sentence:
    """Follows one sentence: the noun phrase that adjectives and verbs refer to at each word."""

    def __init__(self, tokens: list[str], speaker: set[str]) -> None:
        self.tokens = [*tokens, "", "", ""]
        self.speaker = speaker
        self.found: list[str] = []
        self.head: Features | None = None  # of the noun phrase that is spoken of
        self.subject: Features | None = None  # the same while its verb has not come

    def problems(self) -> list[str]:
        """The mistakes of agreement, conjugation and negation."""
        self._negation()
        index = 0
        while self.tokens[index]:
            index = self._step(index)
        return self.found

    def _report(self, what: str, index: int) -> None:
        around = " ".join(self.tokens[max(0, index - 4) : index + 4]).strip()
        self.found.append(f"{what}: {around}")

    def _negation(self) -> None:
        for index, token in enumerate(self.tokens):
            rest, before = self.tokens[index + 1 : index + 7], self.tokens[max(0, index - 6) : index]
            if token in ("ne", "n'") and not NEGATIVE & set(rest):
                self._report("ne without pas", index)
            if token in ("pas", "jamais") and not {"ne", "n'"} & set(before):
                self._report("pas without ne", index)

    def _step(self, index: int) -> int:
        """Reads from a word and returns the index of the next to read."""
        token, following = self.tokens[index], self.tokens[index + 1]
        if token in BOUNDARIES:
            pointed = token == ":" and self.tokens[0] == "pour"  # "Pour le héros, un mot : nul."
            self.subject = None
            self.head = self.head if pointed else None
            return index + 1
        if token == "c'" or (token, following) == ("deux", "mots"):
            self.head, self.subject = MASCULINE, None
            return index + 1
        if token in PRONOUNS and following not in NOUNS and not self._is_object(index):
            return self._pronoun(index)
        if token in DETERMINERS and self._opens_noun_phrase(index):
            return self._noun_phrase(index)
        if token in SPEAKER_PARTICIPLES and self._is_speaker(index):
            self._speaker(index)
            return index + 1
        if token in ADJECTIVES and not (token in VERBS and self.tokens[index - 1] in AFTER_SUBJECT):
            if self.head is not None and not self.head & ADJECTIVES[token]:
                self._report("no agreement", index)
            return self._chain(index, self.head or ADJECTIVES[token])
        if token in NAMES and self._is_subject(index):
            self.head, self.subject = None, frozenset({("m", "s"), ("f", "s")})
        elif token in VERBS and self.subject is not None:
            self._verb(index)
        elif token not in CLITICS | ADVERBS | NAMES | {",", "et", "de", "d'"}:
            self.subject = self.subject if token in ("que", "l'", "on", "suit", "avec") else None
        return index + 1

    def _is_subject(self, index: int) -> bool:
        """True for a name that no "de" comes before."""
        while self.tokens[index] in NAMES:
            index -= 1
        return self.tokens[index] not in ("de", "d'")

    def _is_object(self, index: int) -> bool:
        """True for "vous" and "nous" after a subject, and for "on" in "que l'on suit"."""
        token = self.tokens[index]
        return (token in CLITICS and self.subject is not None) or (token == "on" and self.tokens[index - 1] == "l'")

    def _opens_noun_phrase(self, index: int) -> bool:
        """False for the pronouns le, la, les, l', leur and for a "de" before anything else."""
        token, following = self.tokens[index : index + 2]
        if following in OTHER_AFTER_DETERMINER:
            return False
        if token in ("de", "d'"):
            return following in NOUNS or following in BEFORE_NOUN
        if token in ("le", "la", "les", "l'", "leur") and following in VERBS:
            return bool(DETERMINERS[token] & NOUNS.get(following, frozenset()))
        return True

    def _pronoun(self, index: int) -> int:
        """A subject pronoun; after "quant à" and "que dire de" it repeats the noun phrase."""
        features, person = PRONOUNS[self.tokens[index]]
        repeats = self.tokens[0] == "quant" or self.tokens[:2] == ["que", "dire"]
        if repeats and person in ("il", "ils") and self.head is not None:
            if not self.head & features:
                self._report("pronoun of another gender or number", index)
            features = self.head & features or features
        position = index + 1
        while self.tokens[position] in CLITICS:
            position += 1
        verb = self.tokens[position]
        if verb in VERBS and person not in VERBS[verb]:
            self._report("wrong person of the verb", position)
        impersonal = verb == "y" or (verb, self.tokens[position + 1]) == ("s'", "agit")
        if self.tokens[0] != "pour":
            self.head, self.subject = None if impersonal else features, None
        return index + 1

    def _noun_phrase(self, index: int) -> int:
        """Determiner, adjectives, noun, adjectives: all must agree."""
        features = DETERMINERS[self.tokens[index]]
        position, fresh = index + 1, self.tokens[index]
        while self.tokens[position] in BEFORE_NOUN and not (
            self.tokens[position] in NOUNS and self.tokens[position + 1] not in NOUNS
        ):
            features &= BEFORE_NOUN[self.tokens[position]]
            position += 1
        noun = self.tokens[position]
        if noun not in NOUNS:
            self._report("unknown word after a determiner", position)
            return index + 1
        if fresh in ("mon", "son") and opens_with_vowel(self.tokens[index + 1]):
            features |= {("f", "s")} & NOUNS[noun]
        features &= NOUNS[noun]
        if not features:
            self._report("no agreement", position)
            features = NOUNS[noun]
        if noun in ("mot", "fois"):  # "Pour le héros, je ne vois qu'un mot : nul." "à la fois"
            return position + 1
        self.head = features
        opens = index == 0 or self.tokens[index - 1] in BOUNDARIES | {",", "et", "que", "qu'", "même"}
        if opens and fresh not in CONTRACTED:
            self.subject = features
        if noun == "lecture":  # "sortie de cette lecture émue": the adjective is the reader's
            self.head = None
        return position + 1

    def _is_speaker(self, index: int) -> bool:
        before = self.tokens[max(0, index - 6) : index]
        return "m'" in before or index == 0 or before[-2:] == ["cette", "lecture"] or before[-2:] == ["je", "suis"]

    def _speaker(self, index: int) -> None:
        features = SPEAKER_PARTICIPLES[self.tokens[index]]
        genders = {gender for gender, number in features if number == "s"}
        if not genders:
            self._report("plural for one speaker", index)
        self.speaker |= genders if len(genders) == 1 else set()
        self.subject = None

    def _chain(self, index: int, features: Features) -> int:
        """Adjectives joined by commas, "et" and adverbs agree with the first."""
        position = index
        while True:
            token = self.tokens[position]
            if token in ADJECTIVES:
                if position > index and token in VERBS and self.tokens[position - 1] in ADJECTIVES:
                    return position  # "la fille riche écrit"
                if not features & ADJECTIVES[token]:
                    self._report("no agreement", position)
                features = features & ADJECTIVES[token] or features
            elif token not in JOINTS or not self._joins(position):
                return position
            position += 1

    def _joins(self, index: int) -> bool:
        """True when an adjective follows the joint."""
        while self.tokens[index] in JOINTS:
            index += 1
        return self.tokens[index] in ADJECTIVES

    def _verb(self, index: int) -> None:
        """The verb of a noun subject is in the third person of its number."""
        numbers = {number for _, number in self.subject or ANY}
        persons = {"il" if number == "s" else "ils" for number in numbers}
        if not persons & VERBS[self.tokens[index]]:
            self._report("subject and verb differ in number", index)
        if self.tokens[index] in COPULAS:
            self.head = self.subject
        self.subject = None
