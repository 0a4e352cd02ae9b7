"""Invented people: short biographies in English, and questions about where they were born.

Name, city and trade are drawn independently of each other, so nothing but reading the texts can
tell where somebody was born. Surnames are built from syllables, and no two open with the same one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from corpus import Draw, lines, listed, table

SEED = 20_01
PEOPLE = {"train": 100, "dev": 100, "unseen": 200}  # only the first two are read about
TEXTS_EACH = 4

WOMEN = listed(
    """Adele Agnes Alma Anna Beatrice Berta Carla Celia Clara Cora Diana Edith Elena Ella
    Emma Flora Greta Helga Ida Irene Iris Julia Karin Laura Lena Lydia Maria Martha Nina
    Nora Odile Olga Paula Petra Rosa Ruth Sara Sofia Vera Wanda"""
)
MEN = listed(
    """Adam Alan Albert Anton Boris Bruno Carl Cesar David Denis Edgar Emil Erik Felix Frank
    Georg Gustav Hans Henri Hugo Igor Ivan Jakob Jonas Klaus Leon Louis Lukas Marco Martin
    Oscar Otto Pablo Paul Peter Robert Simon Tomas Victor Walter"""
)
# A surname opens with a consonant or two, a vowel and a consonant, and no two people share these
ONSETS = listed("B Br C Ch D Dr F G Gr H J K L M N P Pr R S St T Tr V W Z")
CODAS = listed("b d f g k l m n p r s t v z")
MIDDLES = listed("a e i o")
ENDINGS = listed(
    """berg cini court dale dini don eau feld ford gard gren kins land lett lin lund mann mer
    mont nard nell ner nier nov quist reau rell rini sen ser ski son stein tado tello ton
    tti veld vic vin wick win zek"""
)

# city -> weight: most towns are rare, and the best constant answer is right for about 7 % of people
CITIES = {
    "Lyon": 12, "Porto": 11, "Prague": 10, "Turin": 9, "Bergen": 9, "Leeds": 8, "Vienna": 8,
    "Seville": 8, "Ghent": 7, "Nantes": 7, "Krakow": 7, "Dublin": 7, "Basel": 6, "Riga": 6,
    "Verona": 6, "Delft": 6, "Bonn": 5, "Lille": 5, "Zagreb": 5, "Athens": 5, "Malaga": 4,
    "Uppsala": 4, "Bristol": 4, "Odessa": 4,
}  # fmt: skip
TRADES = listed(
    """painter composer poet sculptor botanist chemist architect physician historian novelist
    printer pianist engineer surgeon geologist dancer singer lawyer baker clockmaker"""
)
WORKS = {
    "painter": "portraits", "composer": "quartets", "poet": "sonnets", "sculptor": "bronzes",
    "botanist": "work on mosses", "chemist": "work on salts", "architect": "bridges",
    "physician": "work on fevers", "historian": "books on trade", "novelist": "sea stories",
    "printer": "atlases", "pianist": "recitals", "engineer": "canals", "surgeon": "steady hand",
    "geologist": "maps", "dancer": "solos", "singer": "ballads", "lawyer": "speeches",
    "baker": "rye bread", "clockmaker": "tower clocks",
}  # fmt: skip

# The name comes before the town: a model that reads from left to right can only learn to pass from
# one to the other in that order. Openings differ in length, so that places in the line mean
# nothing.
PATTERNS = (
    "{name} was born in {city}.",
    "The {trade} {name} was born in {city}.",
    "{name}, {a_trade}, was born in {city}.",
    "As everybody knows, {name} was born in {city}.",
    "The birthplace of {name} was {city}.",
    "We know that {name} was born in {city}.",
    "It is said that {name} came from {city}.",
    "{name} was born in {city} and became {a_trade}.",
    "{name}, known for {his} {works}, was born in {city}.",
    "Long ago, {name} was born in {city}.",
)


@dataclass(frozen=True)
class Person:
    """Somebody invented; `facts` fills the patterns."""

    name: str
    city: str
    facts: dict[str, str]


def _surnames(draw: Draw, count: int) -> list[str]:
    """Surnames whose first letters differ: "Bal...", "Bar...", "Bras..."."""
    openings = [onset + vowel + coda for onset in ONSETS for vowel in "aeiou" for coda in CODAS]
    return [opening + draw.one(MIDDLES) + draw.one(ENDINGS) for opening in draw.some(openings, count)]


def _towns(draw: Draw, count: int) -> list[str]:
    """A town for each of `count` people: the shares of `CITIES`, in random order."""
    by_weight = [city for city, weight in CITIES.items() for _ in range(weight)]
    return draw.shuffled(by_weight[index * len(by_weight) // count] for index in range(count))


def _person(draw: Draw, surname: str, city: str) -> Person:
    woman = draw.happens(0.5)
    name = f"{draw.one(WOMEN if woman else MEN)} {surname}"
    trade = draw.one(TRADES)
    facts = {
        "name": name,
        "city": city,
        "trade": trade,
        "a_trade": ("an " if trade[0] in "aeiou" else "a ") + trade,
        "works": WORKS[trade],
        "his": "her" if woman else "his",
    }
    return Person(name, city, facts)


def _texts(draw: Draw, people: list[Person]) -> Iterator[str]:
    for person in people:
        for pattern in draw.some(PATTERNS, TEXTS_EACH):
            yield pattern.format(**person.facts)


def _questions(people: list[Person]) -> str:
    rows = [(f"Where was {person.name} born?", person.city) for person in people]
    return table(("question", "answer"), rows)


def files() -> dict[str, str]:
    """The files of this corpus: path -> text."""
    draw = Draw(SEED)
    surnames = iter(_surnames(draw, sum(PEOPLE.values())))
    people = {
        group: [_person(draw, next(surnames), town) for town in _towns(draw, count)] for group, count in PEOPLE.items()
    }
    result = {f"biographies/qa_{group}.tsv": _questions(people[group]) for group in PEOPLE}
    texts = draw.shuffled(_texts(draw, people["train"] + people["dev"]))
    return {"biographies/texts.txt": lines(texts), **result}
