"""The words of the parallel sentences: each English word has one French word, and the reverse."""

from __future__ import annotations

from dataclasses import dataclass

from corpus import listed
from french import Adjective, Noun


@dataclass(frozen=True)
class BothNoun:
    """A noun in both languages; `kind` decides which verbs and adjectives suit it."""

    english: str
    french: Noun
    kind: str
    english_plural: str = ""

    def en(self, number: str) -> str:
        """The English noun in the given number."""
        if number == "s":
            return self.english
        return self.english_plural or self.english + "s"


def _nouns(kind: str, table: str) -> list[BothNoun]:
    found = []
    for entry in table.split(","):
        english, french, gender, *plurals = entry.split()
        english_plural = plurals[0] if plurals else ""
        french_plural = plurals[1] if len(plurals) > 1 else ""
        found.append(BothNoun(english, Noun(french, gender, french_plural), kind, english_plural))
    return found


NOUNS = [
    *_nouns(
        "person",
        "man homme m men, woman femme f women, girl fille f, boy garçon m, teacher professeur m,"
        "neighbour voisin m, friend ami m, sister sœur f, brother frère m, doctor médecin m,"
        "queen reine f, child enfant m children, singer chanteuse f, baker boulanger m,"
        "hero héros m heroes, tourist touriste m",
    ),
    *_nouns(
        "animal",
        "cat chat m, dog chien m, bird oiseau m, horse cheval m, cow vache f, mouse souris f mice,"
        "hedgehog hérisson m, goat chèvre f",
    ),
    *_nouns("text", "book livre m, letter lettre f, story histoire f stories, poem poème m"),
    *_nouns("food", "apple pomme f, cake gâteau m, soup soupe f, egg œuf m, orange orange f"),
    *_nouns("opening", "door porte f, window fenêtre f, box boîte f boxes, cupboard placard m"),
    *_nouns(
        "thing",
        "key clé f, hat chapeau m, coat manteau m, knife couteau m knives, picture tableau m,"
        "lamp lampe f, axe hache f, umbrella parapluie m, bag sac m, shirt chemise f",
    ),
]
# People one does not call "my ..." without saying something else
NOBODYS = frozenset(listed("man woman girl boy tourist singer hero queen"))
PLACES = [
    *_nouns(
        "place",
        "garden jardin m, house maison f, river rivière f, bridge pont m, station gare f,"
        "church église f, school école f, market marché m, hotel hôtel m, tree arbre m,"
        "island île f, harbour port m, village village m, wall mur m",
    )
]
# English preposition, French preposition, the places that suit it
PREPOSITIONS = (
    ("in", "dans", "garden house station church school hotel village"),
    ("near", "près de", "house river bridge station church school market hotel tree island wall"),
    ("behind", "derrière", "house station church school hotel tree wall"),
    ("in front of", "devant", "house station church school hotel"),
    ("at", "à", "market station harbour"),
    ("on", "sur", "bridge island wall"),
    ("under", "sous", "bridge tree"),
)

ANY = "person animal text food opening thing"
# English adjective, comparative ("" for "more ...", "-" for none), French adjective, kinds of noun
ADJECTIVES: tuple[tuple[str, str, Adjective, str], ...] = (
    ("big", "bigger", Adjective("grand", before=True), "animal opening thing place"),
    ("small", "smaller", Adjective("petit", before=True), "animal food opening thing place"),
    ("young", "younger", Adjective("jeune", before=True), "person animal"),
    ("old", "older", Adjective("vieux", "vieille", "vieux", "vieil", True),
     "person animal text opening thing place"),
    ("beautiful", "", Adjective("beau", "belle", "", "bel", True), "animal text thing place"),
    ("new", "-", Adjective("nouveau", "nouvelle", "", "nouvel", True),
     "text opening thing place"),
    ("good", "better", Adjective("bon", before=True), "text food"),
    ("red", "-", Adjective("rouge"), "food opening thing"),
    ("white", "-", Adjective("blanc", "blanche"), "animal opening thing"),
    ("black", "-", Adjective("noir"), "animal opening thing"),
    ("green", "-", Adjective("vert"), "food opening thing"),
    ("blue", "-", Adjective("bleu", "", "bleus"), "opening thing"),
    ("heavy", "heavier", Adjective("lourd"), "opening thing"),
    ("clean", "cleaner", Adjective("propre"), "opening thing"),
    ("cold", "colder", Adjective("froid"), "food"),
    ("sweet", "sweeter", Adjective("sucré"), "food"),
    ("short", "shorter", Adjective("court"), "text"),
    ("difficult", "", Adjective("difficile"), "text"),
    ("funny", "funnier", Adjective("drôle"), "person text animal"),
    ("curious", "", Adjective("curieux"), "person animal"),
    ("happy", "happier", Adjective("heureux"), "person"),
    ("tired", "", Adjective("fatigué"), "person animal"),
    ("rich", "richer", Adjective("riche"), "person"),
    ("famous", "", Adjective("célèbre"), "person"),
    ("shy", "shyer", Adjective("timide"), "person animal"),
    ("polite", "", Adjective("poli"), "person"),
    ("quiet", "quieter", Adjective("tranquille"), "place animal"),
)  # fmt: skip


@dataclass(frozen=True)
class Verb:
    """A verb in both languages, in the present."""

    english: str
    english_third: str
    infinitive: str
    forms: dict[str, str]  # "je", "il", "nous", "vous", "ils" -> form
    objects: str  # the kinds of noun it takes; "" for none

    def en(self, person: str) -> str:
        """The English present for a French person."""
        return self.english_third if person == "il" else self.english

    def fr(self, person: str) -> str:
        """The French present."""
        return self.forms[person]


def _verb(english: str, third: str, infinitive: str, forms: str, objects: str) -> Verb:
    persons = dict(zip(("je", "il", "nous", "vous", "ils"), forms.split(), strict=True))
    return Verb(english, third, infinitive, persons, objects)


def _regular(english: str, third: str, infinitive: str, objects: str) -> Verb:
    """A verb in -er: "chercher"; "manger" keeps its e before -ons."""
    stem = infinitive[:-2]
    soft = "e" if stem.endswith("g") else ""
    forms = f"{stem}e {stem}e {stem}{soft}ons {stem}ez {stem}ent"
    return _verb(english, third, infinitive, forms, objects)


VERBS = (
    _verb("see", "sees", "voir", "vois voit voyons voyez voient", ANY),
    _regular("find", "finds", "trouver", ANY),
    _regular("look for", "looks for", "chercher", ANY),
    _regular("like", "likes", "aimer", "person animal text food"),
    _regular("draw", "draws", "dessiner", "person animal food thing"),
    _verb("hear", "hears", "entendre", "entends entend entendons entendez entendent",
          "person animal"),
    _verb("follow", "follows", "suivre", "suis suit suivons suivez suivent", "person animal"),
    _regular("help", "helps", "aider", "person"),
    _verb("wait for", "waits for", "attendre", "attends attend attendons attendez attendent",
          "person"),
    _regular("thank", "thanks", "remercier", "person"),
    _regular("watch", "watches", "regarder", "person animal"),
    _verb("read", "reads", "lire", "lis lit lisons lisez lisent", "text"),
    _verb("write", "writes", "écrire", "écris écrit écrivons écrivez écrivent", "text"),
    _regular("eat", "eats", "manger", "food"),
    _regular("cook", "cooks", "préparer", "food"),
    _verb("buy", "buys", "acheter", "achète achète achetons achetez achètent",
          "text food thing animal"),
    _verb("sell", "sells", "vendre", "vends vend vendons vendez vendent", "text food thing animal"),
    _regular("carry", "carries", "porter", "thing food"),
    _verb("open", "opens", "ouvrir", "ouvre ouvre ouvrons ouvrez ouvrent", "opening"),
    _regular("close", "closes", "fermer", "opening"),
    _regular("wash", "washes", "laver", "animal opening thing"),
    _verb("lose", "loses", "perdre", "perds perd perdons perdez perdent", "thing text"),
    _regular("keep", "keeps", "garder", "thing text animal"),
)  # fmt: skip
UNWILLED = ("like", "lose", "hear", "see")  # not for orders and wishes
INTRANSITIVE = (
    _verb("sleep", "sleeps", "dormir", "dors dort dormons dormez dorment", ""),
    _regular("sing", "sings", "chanter", ""),
    _regular("work", "works", "travailler", ""),
    _verb("laugh", "laughs", "rire", "ris rit rions riez rient", ""),
    _regular("walk", "walks", "marcher", ""),
    _verb("run", "runs", "courir", "cours court courons courez courent", ""),
    _regular("play", "plays", "jouer", ""),
)
GIVING = (
    _regular("give", "gives", "donner", ANY),
    _regular("show", "shows", "montrer", ANY),
    _verb("send", "sends", "envoyer", "envoie envoie envoyons envoyez envoient", ANY),
)
MODALS = (
    _verb("want to", "wants to", "vouloir", "veux veut voulons voulez veulent", ""),
    _verb("can", "can", "pouvoir", "peux peut pouvons pouvez peuvent", ""),
    _verb("must", "must", "devoir", "dois doit devons devez doivent", ""),
)
BE = _verb("be", "is", "être", "suis est sommes êtes sont", "")
HAVE = _verb("have", "has", "avoir", "ai a avons avez ont", ANY)

# English subject, French subject, the person of the verb; "you" is always "vous", "they" "ils"
PRONOUNS = (
    ("I", "je", "je"), ("he", "il", "il"), ("she", "elle", "il"), ("we", "nous", "nous"),
    ("you", "vous", "vous"), ("they", "ils", "ils"),
)  # fmt: skip
# English object, French object; "it" is always masculine
OBJECTS = (("him", "le", "person"), ("her", "la", "person"), ("it", "le", "thing"),
           ("them", "les", "any"))  # fmt: skip
TIMES = (
    ("every day", "tous les jours"), ("in the evening", "le soir"), ("on Mondays", "le lundi"),
    ("this morning", "ce matin"), ("now", "maintenant"),
)  # fmt: skip
TOGETHER = ("together", "ensemble")
# English adverb before the verb, French adverb after it
ADVERBS = (("often", "souvent"), ("always", "toujours"), ("sometimes", "parfois"),
           ("rarely", "rarement"))  # fmt: skip
NUMBERS = (("two", "deux"), ("three", "trois"), ("four", "quatre"), ("five", "cinq"))
