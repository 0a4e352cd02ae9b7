"""The words of the book reviews: polarity words by kind, and the neutral nouns around them.

A polarity word is written once, with marks: `^` may stand before its noun, `^^` always does;
`+` has degrees ("très fluide", "plus fluide que"), which a word such as "sublime" has not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from corpus import Draw, listed
from french import Adjective, Noun

# kinds of noun an adjective suits: w(ork), p(lot), s(tyle), c(haracters)
ADJECTIVES: dict[int, dict[str, str]] = {
    1: {
        "wpsc": """remarquable^ magnifique^ superbe^ formidable^ admirable^ éblouissant merveilleux^ fascinant
        génial séduisant+ brillant^+ touchant+ savoureux+""",
        "wps": "beau^^+ joli^^+",
        "w": "réussi+ captivant+ passionnant+ envoûtant+ divertissant+ lumineux indispensable",
        "p": "haletant ingénieux+ palpitant+ saisissant+ subtil+",
        "s": "fluide+ limpide+ élégant+ poétique+ raffiné+ soigné+ alerte+",
        "c": "attachant+ nuancé+ crédible+ vibrant authentique humain+",
    },
    0: {
        "wpsc": """médiocre^ décevant+ raté fade+ insipide pitoyable^ lamentable^ navrant pénible+ exécrable^
        agaçant+ banal+ affreux^""",
        "wps": "mauvais^^+ vilain^^+",
        "w": "ennuyeux+ soporifique+ indigeste+ poussif+ laborieux+ interminable inutile",
        "p": "prévisible+ décousu+ incohérent+ bancal absurde+",
        "s": "lourd+ ampoulé+ maladroit+ pompeux+ monotone+ scolaire+ verbeux+",
        "c": "caricatural+ stéréotypé superficiel+ artificiel+ inconsistant schématique+",
    },
}
IRREGULAR = {
    "beau": Adjective("beau", "belle", "", "bel", True),
}
ADVERBS = {
    1: "admirablement brillamment magistralement superbement remarquablement finement habilement élégamment",
    0: "platement lourdement maladroitement péniblement laborieusement grossièrement pauvrement paresseusement",
}
# "un régal": noun and gender
NOUNS = {
    1: "régal m, bonheur m, délice m, merveille f, bijou m, pépite f, réussite f, trésor m, révélation f",
    0: "déception f, ratage m, désastre m, gâchis m, corvée f, naufrage m, catastrophe f, calvaire m, échec m",
}
# "écrit avec finesse"
QUALITIES = {
    1: "finesse f, élégance f, talent m, tendresse f, grâce f, justesse f, virtuosité f, intelligence f",
    0: "lourdeur f, maladresse f, platitude f, paresse f, prétention f, mollesse f, froideur f, emphase f",
}
# "lu avec enthousiasme"
EMOTIONS = {
    1: "enthousiasme m, jubilation f, émerveillement m, gourmandise f, joie f, admiration f",
    0: "ennui m, agacement m, lassitude f, exaspération f, dépit m, consternation f",
}
# "m'a captivé": past participle, present singular, present plural
VERBS = {
    1: """captivé captive captivent, ému émeut émeuvent, bouleversé bouleverse bouleversent,
    enchanté enchante enchantent, séduit séduit séduisent, charmé charme charment, ébloui éblouit éblouissent,
    conquis conquiert conquièrent, comblé comble comblent""",
    0: """ennuyé ennuie ennuient, déçu déçoit déçoivent, lassé lasse lassent, agacé agace agacent,
    irrité irrite irritent, fatigué fatigue fatiguent, endormi endort endorment,
    exaspéré exaspère exaspèrent, consterné consterne consternent""",
}
# "j'ai adoré": past participles
PARTICIPLES = {
    1: "adoré dévoré savouré aimé apprécié admiré",
    0: "détesté subi enduré exécré maudit déploré",
}
# "un livre à savourer"
INFINITIVES = {
    1: "offrir conseiller recommander relire lire",
    0: "fuir éviter oublier bannir jeter",
}
# "divinement fluide": stands before an adjective that has degrees
DEGREES = {
    1: "divinement délicieusement joliment agréablement formidablement",
    0: "affreusement désespérément horriblement cruellement outrageusement",
}
# A cry of its own: "Bravo !"
CRIES = {1: "bravo chapeau merci", 0: "hélas dommage pitié"}
PARTS = ("train", "valid", "test")


@dataclass(frozen=True)
class PolarityWord:
    """A word that says what the reviewer thinks; `forms` are its spellings."""

    lemma: str
    sign: int  # 1 positive, 0 negative
    kind: str
    domains: str = ""  # nouns an adjective suits
    gradable: bool = False
    adjective: Adjective | None = None
    before: str = ""  # "" after its noun, "^" either, "^^" before
    gender: str = ""  # of a noun
    forms: tuple[str, ...] = ()
    present: tuple[str, str] = ("", "")  # of a verb: third person singular and plural
    part: str = ""  # the labelled part that may show it
    weight: int = 1  # how often it is chosen among its like


def _adjective(entry: str, sign: int, domains: str) -> PolarityWord:
    lemma = entry.rstrip("+^")
    adjective = IRREGULAR.get(lemma, Adjective(lemma))
    before = "^^" if "^^" in entry else "^" if "^" in entry else ""
    return PolarityWord(
        lemma, sign, "adjective", domains, "+" in entry, adjective, before,
        forms=tuple(adjective.forms()),
    )  # fmt: skip


def _nouns(texts: dict[int, str], kind: str) -> list[PolarityWord]:
    found = []
    for sign, text in texts.items():
        for entry in text.split(", "):
            lemma, gender = entry.split()
            found.append(PolarityWord(lemma, sign, kind, gender=gender, forms=(lemma,)))
    return found


def _verbs() -> list[PolarityWord]:
    found = []
    for sign, text in VERBS.items():
        for entry in text.split(","):
            participle, singular, plural = entry.split()
            forms = (*Adjective(participle).forms(), singular, plural)
            spellings = tuple(dict.fromkeys(forms))
            present = (singular, plural)
            found.append(PolarityWord(participle, sign, "verb", forms=spellings, present=present))
    return found


def polarity_words() -> list[PolarityWord]:
    """Every polarity word, in the order of this file."""
    found = [
        _adjective(entry, sign, domains)
        for sign, groups in ADJECTIVES.items()
        for domains, text in groups.items()
        for entry in listed(text)
    ]
    for kind, texts in (("noun", NOUNS), ("quality", QUALITIES), ("emotion", EMOTIONS)):
        found += _nouns(texts, kind)
    found += _verbs()
    plain = (
        ("adverb", ADVERBS),
        ("participle", PARTICIPLES),
        ("infinitive", INFINITIVES),
        ("degree", DEGREES),
        ("cry", CRIES),
    )
    for kind, texts in plain:
        for sign, text in texts.items():
            found += [PolarityWord(word, sign, kind, forms=(word,)) for word in listed(text)]
    return found


def divided(draw: Draw) -> list[PolarityWord]:
    """The polarity words with their part and weight.

    Every group of like words is divided by itself, so that each part can say everything: about a
    quarter for train, a seventh for valid, the rest for test. In each group some words are much
    more common than others, as in any language: the weight falls off with the rank.
    """
    groups: dict[tuple[str, int, str, bool], list[PolarityWord]] = {}
    for word in polarity_words():
        group = (word.kind, word.sign, word.domains, word.gradable)
        groups.setdefault(group, []).append(word)
    found = []
    for like in groups.values():
        first, second = round(len(like) / 4 + 0.1), max(1, round(len(like) / 7))
        in_parts = [
            replace(word, part="train" if i < first else "valid" if i < first + second else "test")
            for i, word in enumerate(draw.shuffled(like))
        ]
        for rank, word in enumerate(draw.shuffled(in_parts), start=1):
            found.append(replace(word, weight=60 // rank))
    return found


def _table(text: str) -> tuple[tuple[Noun, str], ...]:
    """Nouns as "roman m s": singular, gender, number used here."""
    found = []
    for entry in text.split(","):
        singular, gender, number = entry.split()
        found.append((Noun(singular, gender), number))
    return tuple(found)


# class -> (domain of adjectives, nouns with the number they are used in)
NOUN_CLASSES: dict[str, tuple[str, tuple[tuple[Noun, str], ...]]] = {
    "livre": ("w", _table("roman m s, livre m s, récit m s, ouvrage m s, texte m s")),
    "œuvre": (
        "w",
        _table(
            "roman m s, livre m s, récit m s, ouvrage m s, histoire f s, œuvre f s, fresque f s,"
            "chronique f s, fable f s, conte m s, saga f s, fiction f s"
        ),
    ),
    "intrigue": (
        "p",
        _table(
            "intrigue f s, histoire f s, scénario m s, suspense m s, trame f s, enquête f s,"
            "rebondissement m p, péripétie f p, aventure f p"
        ),
    ),
    "récit": ("p", _table("intrigue f s, histoire f s, récit m s, enquête f s, narration f s")),
    "fin": (
        "p",
        _table("fin f s, dénouement m s, conclusion f s, épilogue m s, chute f s"),
    ),
    "moment": ("p", _table("chapitre m p, scène f p, passage m p, épisode m p, page f p")),
    "style": (
        "s",
        _table(
            "style m s, écriture f s, plume f s, prose f s, dialogue m p, phrase f p, ton m s,"
            "description f p, langue f s"
        ),
    ),
    "voix": ("s", _table("écriture f s, plume f s, prose f s, langue f s, style m s")),
    "gens": (
        "c",
        _table("personnage m p, héros m s, héroïne f s, protagoniste m p, narrateur m s,narratrice f s, héros m p"),
    ),
    "figure": ("c", _table("figure f p, personnage m p, silhouette f p")),
}
