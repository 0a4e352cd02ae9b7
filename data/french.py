"""A small grammar of French: forms, agreement, elision, contraction, spacing.

The rules are those of any school grammar. Texts are first written without elision or contraction
("le histoire de le roman que il aime"); `sentence` then applies them once, at the end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from corpus import listed

VOWELS = "aeiouyàâäéèêëîïôöùûüœæ"
# An h that blocks elision: "le héros", but "l'héroïne", "l'histoire", "l'humour".
ASPIRATED = frozenset(
    listed("""hache haches haché hachée hachés hachées haine hall halte hamac hameau hangar hasard
    hausse haut haute hautes hauts hauteur haletant haletante haletantes haletants havre hérisson
    hérissons héros hêtre hibou hideux hideuse hiérarchie homard honte honteux honteuse hors hublot
    huit huitième hurlement""")
)
NEVER_ELIDED_BEFORE = ASPIRATED | {"onze", "onzième", "oui", "yacht", "yaourt"}


def opens_with_vowel(word: str) -> bool:
    """True where French elides: before a vowel or a mute h."""
    word = word.lower().lstrip("«“ ")
    stem = re.split(r"['\- ,.;:!?]", word)[0]
    if not stem or stem in NEVER_ELIDED_BEFORE:
        return False
    if stem[0] == "y":  # "l'Yonne" but "le yacht"; before a vowel it is a consonant
        return len(stem) == 1 or stem[1] not in VOWELS
    return stem[0] in VOWELS or stem[0] == "h"


def plural(word: str) -> str:
    """The plural of a noun or of a masculine adjective."""
    if word.endswith(("s", "x", "z")):
        return word
    if word.endswith(("eau", "eu")):
        return word + "x"
    if word.endswith("al") and word not in ("bal", "banal", "bancal", "fatal", "natal"):
        return word[:-2] + "aux"
    return word + "s"


def feminine(word: str) -> str:
    """The feminine of an adjective by rule; exceptions are given by hand in the lexicons."""
    for ending, replacement in (
        ("eux", "euse"),
        ("if", "ive"),
        ("er", "ère"),
        ("el", "elle"),
        ("eil", "eille"),
        ("en", "enne"),
        ("on", "onne"),
        ("et", "ète"),
    ):
        if word.endswith(ending):
            return word[: -len(ending)] + replacement
    return word if word.endswith("e") else word + "e"


@dataclass(frozen=True)
class Noun:
    """A noun; `gender` is "m" or "f", `number` of a form is "s" or "p"."""

    singular: str
    gender: str
    plural: str = ""
    only: str = ""  # "s" or "p" when the other number is not used

    def form(self, number: str) -> str:
        """The noun in the given number."""
        return self.singular if number == "s" else self.plural or plural(self.singular)


@dataclass(frozen=True)
class Adjective:
    """An adjective; irregular forms are given, the others follow the rules."""

    masculine: str
    feminine_form: str = ""
    masculine_plural: str = ""
    liaison: str = ""  # masculine singular before a vowel: "bel", "nouvel", "vieil"
    before: bool = False  # stands before its noun

    def form(self, gender: str, number: str, following: str = "") -> str:
        """The form that agrees; `following` is the next word."""
        if gender == "f":
            word = self.feminine_form or feminine(self.masculine)
            return word if number == "s" else plural(word)
        if number == "p":
            return self.masculine_plural or plural(self.masculine)
        if self.liaison and following and opens_with_vowel(following):
            return self.liaison
        return self.masculine

    def forms(self) -> list[str]:
        """Every form once: masculine and feminine, singular and plural."""
        found = [self.form(gender, number) for number in "sp" for gender in "mf"]
        return list(dict.fromkeys([*found, *([self.liaison] if self.liaison else [])]))


DETERMINERS: dict[str, tuple[str, str, str]] = {
    # name: masculine singular, feminine singular, plural; elision comes later, in `sentence`
    "le": ("le", "la", "les"),
    "un": ("un", "une", "des"),
    "ce": ("ce", "cette", "ces"),
    "mon": ("mon", "ma", "mes"),
    "son": ("son", "sa", "ses"),
    "notre": ("notre", "notre", "nos"),
    "votre": ("votre", "votre", "vos"),
    "leur": ("leur", "leur", "leurs"),
    "quel": ("quel", "quelle", "quels"),
    "chaque": ("chaque", "chaque", ""),
    "aucun": ("aucun", "aucune", ""),
}


def determiner(name: str, gender: str, number: str, following: str) -> str:
    """The determiner that agrees with its noun and suits the next word."""
    masculine, feminine_form, plural_form = DETERMINERS[name]
    if number == "p":
        return "quelles" if name == "quel" and gender == "f" else plural_form
    vowel = opens_with_vowel(following)
    if name == "ce" and gender == "m" and vowel:
        return "cet"
    if name in ("mon", "son") and gender == "f" and vowel:
        return masculine  # "son histoire", "mon amie"
    return masculine if gender == "m" else feminine_form


@dataclass(frozen=True)
class NounPhrase:
    """A determiner, a noun and its adjectives, in order and in agreement."""

    determiner: str  # a name in DETERMINERS, or "" for none
    noun: Noun
    number: str = "s"
    adjectives: tuple[Adjective, ...] = field(default=())

    def text(self) -> str:
        """The phrase in words; "des" becomes "de" before an adjective ("de beaux passages")."""
        gender, number = self.noun.gender, self.number
        phrase = [self.noun.form(number)]
        for adjective in self.adjectives:
            if adjective.before:
                phrase.insert(0, adjective.form(gender, number, phrase[0]))
            else:
                phrase.append(adjective.form(gender, number))
        if not self.determiner:
            return " ".join(phrase)
        if self.determiner == "un" and number == "p" and any(a.before for a in self.adjectives):
            return " ".join(["de", *phrase])
        return " ".join([determiner(self.determiner, gender, number, phrase[0]), *phrase])


ELIDED = listed("je me te se le la de ne que ce jusque lorsque puisque quoique")
_ELISION = re.compile(rf"\b({'|'.join(ELIDED)}) (?=[\w])", re.IGNORECASE)
_CONTRACTIONS = {"de le": "du", "de les": "des", "à le": "au", "à les": "aux"}
_CONTRACTION = re.compile(r"(?<![\w'-])(de le|de les|à le|à les)(?= )", re.IGNORECASE)


def _elide(text: str) -> str:
    def replace(match: re.Match[str]) -> str:
        word, following = match.group(1), text[match.end() :].split(" ", 1)[0]
        if not opens_with_vowel(following):
            return match.group(0)
        if word.lower() == "ce" and following.lower() not in ("est", "était", "en", "eût"):
            return match.group(0)  # the determiner is "cet", not "c'"
        return word[:-1] + "'"

    return _ELISION.sub(replace, text)


def _contract(text: str) -> str:
    def replace(match: re.Match[str]) -> str:
        contracted = _CONTRACTIONS[match.group(1).lower()]
        return contracted.capitalize() if match.group(1)[0].isupper() else contracted

    return _CONTRACTION.sub(replace, text)


def clause(text: str) -> str:
    """Applies elision ("l'histoire", "s'il"), contraction ("du", "aux") and spacing."""
    text = re.sub(r"\s+", " ", text).strip()
    text = _contract(_elide(text))
    text = re.sub(r"\b([Ss])i (?=ils?\b)", r"\1'", text)
    text = re.sub(r" +([,.…)])", r"\1", text)
    return re.sub(r" *([;:!?»])", r" \1", text)


def sentence(text: str) -> str:
    """A clause with a capital; the end mark is expected in the text."""
    text = clause(text)
    return text[0].upper() + text[1:]
