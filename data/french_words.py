"""Every inflected French word that agrees, with its gender and number: what `french_rules` looks up.

Most come from the lexicons of the corpora; the tables here add the words of fixed expressions.
"""

from __future__ import annotations

from collections.abc import Iterable

import reviews_lexicon
import reviews_patterns
import translation_lexicon
from corpus import listed, words
from french import DETERMINERS as DETERMINER_FORMS
from french import Adjective, Noun

Features = frozenset[tuple[str, str]]  # (gender, number)
PLURAL: Features = frozenset({("m", "p"), ("f", "p")})

# Nouns of the fixed expressions: gender, then the nouns in the singular
MORE_NOUNS = {
    "m": """bord été hiver début siècle lendemain soir jour lundi dimanche matin frère père village carnet
    grenier secret pays phare retour ami tableau voyage mot monde club train conseil avis lecteur
    bout point an départ nom autre total rythme prix roman livre jardin silence passage bal hameau passeur oiseau
    absent médecin notaire marin horloger soldat boulanger archiviste homme élève étudiant verre
    permis conseiller manifestant banquier prêt agriculteur professeur gardien voleur malade train
    tramway touriste guide fermier étalon chat chien spectateur danseur avocat témoin camion pont
    parent garçon marchand client randonneur enfant couteau pain""",
    "f": """mer action fois absence lettre signature recherche maison disparition ville île auberge famille
    semaine nuit soirée bibliothèque sœur mère voisine tante collègue cousine libraire lecture page
    année veille révolution guerre canicule ombre rivière chambre horloge route saison colline
    institutrice veuve couturière pianiste infirmière avocate dame orpheline langue phrase violence
    valise malle pierre vitre fillette cliente robe nageuse touriste directrice candidate reine
    prisonnière""",
}
MORE_PLURALS = {"années": "f", "vacances": "f"}
# Adjectives and participles outside the lexicons
MORE_ADJECTIVES = listed("""écrit mené construit dessiné amené volé traduit natal municipal prudent
endetté reconnaissant satisfait appliqué mince vigilant coupable attentionné inquiet robuste épuisé
perdu expérimenté ruiné boiteux peureux féroce ravi talentueux impatient bavard courageux blessé
sévère désobéissant débordé compétent malhonnête crédule patient lent clément innocent émoussé
rassis""")
IRREGULAR = {
    "premier": Adjective("premier"),
    "dernier": Adjective("dernier"),
    "ancien": Adjective("ancien"),
    "gros": Adjective("gros", "grosse"),
    "bas": Adjective("bas", "basse"),
    "haut": Adjective("haut"),
    "généreux": Adjective("généreux"),
    "autre": Adjective("autre"),
}
BEFORE = listed("premier deuxième troisième cinquième dernier ancien petit jeune seul autre")
NUMBERS = listed("deux trois quatre cinq six vingt cent cents cinquante")


def _add(table: dict[str, Features], form: str, features: Iterable[tuple[str, str]]) -> None:
    table[form] = table.get(form, frozenset()) | frozenset(features)


def _add_adjective(table: dict[str, Features], adjective: Adjective) -> None:
    for gender in "mf":
        for number in "sp":
            _add(table, adjective.form(gender, number), {(gender, number)})
    if adjective.liaison:
        _add(table, adjective.liaison, {("m", "s")})


def _nouns() -> dict[str, Features]:
    nouns = [noun for _, group in reviews_lexicon.NOUN_CLASSES.values() for noun, _ in group]
    nouns += [Noun(word.lemma, word.gender) for word in reviews_lexicon.polarity_words() if word.gender]
    nouns += [both.french for both in translation_lexicon.NOUNS + translation_lexicon.PLACES]
    nouns += [Noun(word, gender) for gender, text in MORE_NOUNS.items() for word in listed(text)]
    table: dict[str, Features] = {}
    for noun in nouns:
        for number in "sp":
            _add(table, noun.form(number), {(noun.gender, number)})
    return table


def _adjectives() -> tuple[dict[str, Features], dict[str, Features]]:
    """All adjectives, and those that may stand before their noun."""
    table: dict[str, Features] = {}
    before: dict[str, Features] = {}
    for word in reviews_lexicon.polarity_words():
        if word.adjective:
            _add_adjective(table, word.adjective)
            if word.before:
                _add_adjective(before, word.adjective)
    for _, _, adjective, _ in translation_lexicon.ADJECTIVES:
        _add_adjective(table, adjective)
        if adjective.before:
            _add_adjective(before, adjective)
    for lemma in [*MORE_ADJECTIVES, *IRREGULAR, *BEFORE]:
        adjective = IRREGULAR.get(lemma, Adjective(lemma))
        _add_adjective(table, adjective)
        if lemma in BEFORE:
            _add_adjective(before, adjective)
    for number in NUMBERS:
        before[number] = PLURAL
    return table, before


def _determiners() -> dict[str, Features]:
    table: dict[str, Features] = {}
    for masculine, feminine, plural in DETERMINER_FORMS.values():
        _add(table, masculine, {("m", "s")})
        _add(table, feminine, {("f", "s")})
        _add(table, plural, PLURAL)
    _add(table, "l'", {("m", "s"), ("f", "s")})
    for form in ("cet", "du", "au"):
        _add(table, form, {("m", "s")})
    _add(table, "aux", PLURAL)
    _add(table, "quelles", {("f", "p")})
    table["quels"] = frozenset({("m", "p")})
    for number in NUMBERS[:5]:
        _add(table, number, PLURAL)
    table["de"] = table["d'"] = frozenset((gender, number) for gender in "mf" for number in "sp")
    table.pop("", None)
    return table


def _verbs() -> tuple[dict[str, set[str]], set[str]]:
    """Conjugated form -> persons, and the infinitives."""
    table: dict[str, set[str]] = {}
    lexicon = translation_lexicon
    groups = (lexicon.VERBS, lexicon.INTRANSITIVE, lexicon.GIVING, lexicon.MODALS)
    verbs = [verb for group in groups for verb in group] + [lexicon.BE, lexicon.HAVE]
    for verb in verbs:
        for person, form in verb.forms.items():
            table.setdefault(form, set()).add(person)
    for word in reviews_lexicon.polarity_words():
        if word.kind == "verb":
            table.setdefault(word.present[0], set()).add("il")
            table.setdefault(word.present[1], set()).add("ils")
    singular = """devient avance raconte signe peint manie avait aura était hérite retrouve
    reçoit part revient trouve enquête quitte ouvre apprend change traverse garde attend cherche
    croise compte entre"""
    for form in listed(singular):
        table.setdefault(form, set()).add("il")
    for form in listed("deviennent étaient"):
        table.setdefault(form, set()).add("ils")
    return table, {verb.infinitive for verb in verbs}


NOUNS = _nouns()
ADJECTIVES, BEFORE_NOUN = _adjectives()
DETERMINERS = _determiners()
VERBS, _INFINITIVES = _verbs()
# Words that show that le, la, les or l' is a pronoun, or part of a fixed expression
OTHER_AFTER_DETERMINER = _INFINITIVES | set(listed("on plus à y en que qui"))
PRONOUNS: dict[str, tuple[Features, str]] = {
    "je": (frozenset({("m", "s"), ("f", "s")}), "je"),
    "j'": (frozenset({("m", "s"), ("f", "s")}), "je"),
    "il": (frozenset({("m", "s")}), "il"),
    "elle": (frozenset({("f", "s")}), "il"),
    "on": (frozenset({("m", "s")}), "il"),
    "nous": (PLURAL, "nous"),
    "vous": (PLURAL, "vous"),
    "ils": (frozenset({("m", "p")}), "ils"),
    "elles": (frozenset({("f", "p")}), "ils"),
}
SPEAKER_PARTICIPLES: dict[str, Features] = {}
for _word in reviews_lexicon.polarity_words():
    if _word.kind == "verb":
        _add_adjective(SPEAKER_PARTICIPLES, Adjective(_word.lemma))
_add_adjective(SPEAKER_PARTICIPLES, Adjective("sorti"))
ADVERBS = frozenset(
    [word.lemma for word in reviews_lexicon.polarity_words() if word.kind in ("adverb", "degree")]
    + [part for text in reviews_patterns.INTENSIFIERS for part in text.split()]
    + [*reviews_patterns.DEGREES, *listed("trop encore aussi plus moins pas jamais à fois")]
    + [french for _, french in translation_lexicon.ADVERBS]
)
NAMES = frozenset(
    word
    for names in (reviews_patterns.WOMEN, reviews_patterns.MEN, reviews_patterns.SURNAMES)
    for name in names
    for word in words(name)
)
