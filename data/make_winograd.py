"""Pairs of sentences that differ in one word, and with it in what the pronoun stands for.

The first pair is the classical one: an idea of Winograd 1972, "Understanding Natural Language", in the
wording of the Winograd schema collection of Davis, Morgenstern and Ortiz. The others are of the same
build. Both candidates have the same gender and number in French, so grammar does not decide, and the
deciding word comes after the pronoun.
"""

from __future__ import annotations

from collections.abc import Iterator

from corpus import table, words

COLUMNS = (
    "pair", "language", "variant", "sentence", "pronoun", "position", "first", "second", "answer",
    "word",
)  # fmt: skip

# A French sentence, then its English one, with `*` before the pronoun and {} for the deciding word;
# under it: first candidate | second candidate | the word for the first | the word for the second.
PAIRS = """
Les conseillers municipaux ont refusé un permis aux manifestants parce qu'*ils {} la violence.
    les conseillers municipaux | les manifestants | craignaient | prônaient
The city councilmen refused the demonstrators a permit because *they {} violence.
    the city councilmen | the demonstrators | feared | advocated
Le banquier a refusé un prêt à l'agriculteur parce qu'*il était trop {}.
    le banquier | l'agriculteur | prudent | endetté
The banker refused the farmer a loan because *he was too {}.
    the banker | the farmer | cautious | indebted
La valise n'entre pas dans la malle parce qu'*elle est trop {}.
    la valise | la malle | grosse | petite
The case does not fit into the chest because *it is too {}.
    the case | the chest | big | small
Les infirmières ont remercié les voisines parce qu'*elles étaient {}.
    les infirmières | les voisines | reconnaissantes | généreuses
The nurses thanked the neighbours because *they were {}.
    the nurses | the neighbours | grateful | generous
Le professeur a félicité l'élève parce qu'*il était {}.
    le professeur | l'élève | satisfait | appliqué
The teacher praised the pupil because *he was {}.
    the teacher | the pupil | pleased | diligent
La pierre a brisé la vitre parce qu'*elle était {}.
    la pierre | la vitre | lourde | mince
The stone broke the window because *it was {}.
    the stone | the window | heavy | thin
Les gardiens ont arrêté les voleurs parce qu'*ils étaient {}.
    les gardiens | les voleurs | vigilants | coupables
The guards arrested the thieves because *they were {}.
    the guards | the thieves | watchful | guilty
Le médecin a rassuré le malade parce qu'*il était {}.
    le médecin | le malade | attentionné | inquiet
The doctor reassured the patient because *he was {}.
    the doctor | the patient | caring | anxious
La mère a porté la fillette parce qu'*elle était {}.
    la mère | la fillette | robuste | épuisée
The mother carried the little girl because *she was {}.
    the mother | the little girl | sturdy | exhausted
Le train a dépassé le tramway parce qu'*il roulait {}.
    le train | le tramway | vite | lentement
The train overtook the tram because *it was going {}.
    the train | the tram | fast | slowly
Les touristes ont suivi les guides parce qu'*ils étaient {}.
    les touristes | les guides | perdus | expérimentés
The tourists followed the guides because *they were {}.
    the tourists | the guides | lost | experienced
La cliente a payé la couturière parce qu'*elle avait {} la robe.
    la cliente | la couturière | commandé | cousu
The customer paid the dressmaker because *she had {} the dress.
    the customer | the dressmaker | ordered | sewn
Le fermier a vendu l'étalon parce qu'*il était {}.
    le fermier | l'étalon | ruiné | boiteux
The farmer sold the stallion because *he was {}.
    the farmer | the stallion | ruined | lame
Le chat a fui le chien parce qu'*il était {}.
    le chat | le chien | peureux | féroce
The cat fled from the dog because *it was {}.
    the cat | the dog | timid | fierce
Les spectateurs ont applaudi les danseurs parce qu'*ils étaient {}.
    les spectateurs | les danseurs | ravis | talentueux
The spectators applauded the dancers because *they were {}.
    the spectators | the dancers | delighted | talented
L'avocat a interrompu le témoin parce qu'*il était {}.
    l'avocat | le témoin | impatient | bavard
The lawyer interrupted the witness because *he was {}.
    the lawyer | the witness | impatient | talkative
La nageuse a secouru la touriste parce qu'*elle était {}.
    la nageuse | la touriste | courageuse | blessée
The swimmer rescued the tourist because *she was {}.
    the swimmer | the tourist | brave | injured
Le camion n'a pas pu passer sous le pont parce qu'*il était trop {}.
    le camion | le pont | haut | bas
The lorry could not pass under the bridge because *it was too {}.
    the lorry | the bridge | high | low
Les parents ont puni les garçons parce qu'*ils étaient {}.
    les parents | les garçons | sévères | désobéissants
The parents punished the boys because *they were {}.
    the parents | the boys | strict | disobedient
La directrice a engagé la candidate parce qu'*elle était {}.
    la directrice | la candidate | débordée | compétente
The manager hired the applicant because *she was {}.
    the manager | the applicant | overworked | competent
Le marchand a menti au client parce qu'*il était {}.
    le marchand | le client | malhonnête | crédule
The merchant lied to the customer because *he was {}.
    the merchant | the customer | dishonest | gullible
Les randonneurs ont attendu les enfants parce qu'*ils étaient {}.
    les randonneurs | les enfants | patients | lents
The hikers waited for the children because *they were {}.
    the hikers | the children | patient | slow
La reine a gracié la prisonnière parce qu'*elle était {}.
    la reine | la prisonnière | clémente | innocente
The queen pardoned the prisoner because *she was {}.
    the queen | the prisoner | merciful | innocent
Le couteau n'a pas coupé le pain parce qu'*il était trop {}.
    le couteau | le pain | émoussé | rassis
The knife did not cut the bread because *it was too {}.
    the knife | the bread | blunt | stale
"""


def rows() -> Iterator[tuple[object, ...]]:
    """One row per sentence, in the order of `COLUMNS`."""
    entries = PAIRS.strip().splitlines()
    for index, (stem, details) in enumerate(zip(entries[::2], entries[1::2], strict=True)):
        first, second, *deciding = details.strip().split(" | ")
        language = ("fr", "en")[index % 2]
        for variant, answer, word in zip("ab", (first, second), deciding, strict=True):
            before, after = stem.format(word).split("*")
            position = len(words(before))
            pronoun = words(before + after)[position]
            yield (
                index // 2 + 1, language, variant, before + after, pronoun, position,
                first, second, answer, word,
            )  # fmt: skip


def files() -> dict[str, str]:
    """The files of this corpus: path -> text."""
    return {"winograd_fr_en/pairs.tsv": table(COLUMNS, rows())}
