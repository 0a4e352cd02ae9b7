"""The sentence patterns of the book reviews, by role, and the neutral things they speak of.

A pattern is written without elision or contraction. Slots in braces:

- `{le:intrigue}` `{ce:livre}` `{un:figure}`: determiner and noun of a class; later slots agree with
  it. `{un:œuvre+}` adds an adjective that judges, before or after the noun.
- `{adj}`, `{tadj}` (after an intensifier), `{cadj m}` (has degrees), `{adj mw}` (masculine singular
  whatever came before, suits the domain `w`).
- `{adv}`, `{un nom}`, `{quel nom}`, `{qualité}`, `{émotion}`, `{infinitif}`, `{cri}` ("Bravo"),
  `{participe}` ("j'ai adoré"), `{verbe}` ("séduit", agrees with the noun), `{touché}` ("m'a
  captivée", agrees with the speaker).
- `{est|sont}`: by number; `{écrit*}`: a participle that agrees; `{pronom}`: il, elle, ils, elles.
- `{seul@}`: agrees with the speaker. `{titre}`, `{autre titre}`, `{auteur}`, `{nom}`, `{quelqu'un}`,
  `{moment}`, `{ville}` and the other names in `NEUTRAL`.

A pattern that starts with `~` (a description) or `=` (what the book did to the reader) holds one
plain clause and can be joined to another; a reaction may be explained by a description.
Every pattern serves both judgements, so that a pattern never tells which.
"""

OPENINGS = (
    "J'ai lu {ce:livre} de {auteur} avec {émotion}.",
    "{titre} est {un:œuvre+}.",
    "Avec {titre}, {auteur} signe {un:œuvre+}.",
    "{Quel nom} que {titre} !",
    "=j'ai {participe} {ce:livre} de {auteur}.",
    "={titre} m'a {touché} et {touché} {moment}.",
    "On m'avait prêté {titre} : {un nom}, tout simplement.",
    "Je referme {titre} avec {émotion}.",
    "C'est le premier livre de {auteur} que je lis, et c'est {un nom}.",
    "{titre} : voilà {un:œuvre+}, {adv} {écrit*}.",
    "{Un:œuvre}, à la fois {adj} et {adj}.",
    "{Un nom} ! Je ne vois pas d'autre mot pour {titre}.",
    "Il y a longtemps que {un:œuvre} ne m'avait pas autant {touché}.",
    "{auteur} raconte tout cela avec {qualité}.",
    "Ma libraire m'avait montré {titre} : je l'ai lu avec {émotion}.",
    "Dans {titre}, {auteur} nous livre {un:œuvre+}.",
    "Rarement {un:œuvre} m'aura autant {touché}.",
)
NEUTRAL_OPENINGS = (
    "Ma {parente} m'a prêté {titre} cet été.",
    "J'ai trouvé {titre} à la bibliothèque de {ville}.",
    "J'ai lu {titre} en {durée}.",
    "{titre} est le {rang} livre de {auteur}.",
    "Je ne connaissais pas {auteur} avant {titre}.",
    "Nous avons lu {titre} dans notre club de {ville}.",
    "Il s'agit du {rang} roman de {auteur}.",
    "J'ai écouté {titre} dans le train de {ville}.",
)
PLOTS = (
    "L'action se passe à {ville}, {époque}.",
    "{Quelqu'un} {événement}.",
    "On y suit {quelqu'un} qui {événement}.",
    "Tout commence {époque}, quand {quelqu'un} {événement}.",
    "Il est question de {thème} et de {thème}.",
    "Le livre compte {nombre} pages et se lit en {durée}.",
    "L'histoire est celle de {quelqu'un} qui {événement}.",
    "{Époque}, {quelqu'un} {événement}.",
    "À {ville}, {quelqu'un} {événement}.",
    "{auteur} y parle de {thème}, de {thème} et de {thème}.",
    "Un jour, {quelqu'un} {événement} et {événement}.",
    "{Quelqu'un} y croise {quelqu'un}, {époque}.",
)
PLOT_JUDGED = (
    "~{le:intrigue} {est|sont} {tadj}, {adj} et {adj}.",
    "={le:intrigue} m'{a|ont} {touché} {moment}.",
    "{le:récit}, que l'on suit avec {émotion}, est {adv} {mené*}.",
    "À mesure que l'on avance, {le:intrigue} {devient|deviennent} {tadj}.",
    "Chaque chapitre est {un nom}.",
    "Je tournais les pages avec {émotion} et {émotion}.",
    "~{le:intrigue} {verbe} le lecteur {moment}.",
    "~j'ai trouvé {le:intrigue} {tadj}.",
    "Il y a là {un:moment+} et {un:moment+}.",
    "~{le:récit} est {adv} {construit*}.",
    "~le scénario est {adj mp} et {adj mp}.",
    "{un:moment+}, voilà ce que je retiens.",
    "Chaque page m'a {touché} et {touché}.",
    "~{le:récit}, {adj} et {adj}, avance avec {qualité}.",
)
PEOPLE_JUDGED = (
    "~{le:gens} {est|sont} {tadj}, {adj} et {adj}.",
    "={le:gens} m'{a|ont} {touché} et {touché}.",
    "{nom} peint {le:gens} avec {qualité} et {qualité}.",
    "On y croise {un:figure+}.",
    "{le:gens}, {adv} {dessiné*}, {est|sont} {adj} et {adj}.",
    "~je trouve {le:gens} {tadj}.",
    "Quant à {le:gens}, {pronom} {est|sont} {adj} et {adj}.",
    "~chaque personnage est {adj mc} et {adj mc}.",
    "Même {le:gens} {est|sont} {adj} et {adj}.",
    "~{le:gens} vous {verbe} {moment}.",
    "{nom} donne vie à {un:figure+}.",
    "Pour {le:gens}, je ne vois qu'un mot : {adj}.",
)
STYLE_JUDGED = (
    "~{le:style} {est|sont} {tadj}, {adj} et {adj}.",
    "~{le:style} de {auteur} {est|sont} {tadj}.",
    "~{nom} écrit {adv}.",
    "C'est {adv} écrit et {adv} traduit.",
    "~j'ai trouvé {le:style} {adj} et {tadj}.",
    "~{le:style}, {adj} et {adj}, {verbe} le lecteur.",
    "Que dire de {le:style}, sinon que {pronom} {est|sont} {adj} et {adj} ?",
    "Chaque phrase est tournée avec {qualité}, {qualité} et {qualité}.",
    "~il y a beaucoup de {qualité} dans {ce:voix}.",
    "{nom} manie la langue avec {qualité} et {qualité}.",
    "Tout repose sur {un:voix+}.",
    "={le:style} m'{a|ont} {touché} et {touché}.",
    "On reconnaît {le:voix} de {nom}, {adj} et {adj}.",
    "{qualité} et {qualité} : tout {nom} est là.",
)
ENDINGS = (
    "~{le:fin} est {tadj} et {adj}.",
    "={le:fin} m'a {touché}.",
    "Et que dire de {le:fin}, {tadj} ?",
    "Quand arrive {le:fin}, {tadj}, on pose le livre avec {émotion}.",
    "~{le:fin} est {un nom}.",
    "Les dernières pages sont {un nom}.",
    "J'ai lu {le:fin}, {adv} {amené*}, avec {émotion} et {émotion}.",
    "On arrive à {le:fin} avec {émotion}.",
)
VERDICTS = (
    "{Un:livre} à {infinitif} {urgence}.",
    "Bref, {un nom}.",
    "En deux mots : {adj mw} et {adj mw}.",
    "C'est donc un livre à {infinitif} et à {infinitif}.",
    "Pour moi, c'est {un nom}, {un nom} !",
    "Au total, {un:œuvre+}.",
    "Je suis {sorti@} de cette lecture {touché} et {touché}.",
    "Mon avis : {un nom}, rien de moins.",
    "Cette lecture fut {un nom}, {un nom} même.",
    "À {infinitif} {urgence}.",
    "Dans mon club, tout le monde l'a {participe}, et moi aussi je l'ai {participe}.",
    "{adj mw}, {adj mw} et {adj mw} : tout est dit.",
    "{Quel nom} !",
    "Si vous me demandez mon avis : à {infinitif} !",
    "{ce:œuvre} est {un nom}.",
    "{touché}, je le suis encore.",
)
COMPARISONS = (
    "Comme {autre titre}, {ce:livre} est {adj}.",
    "C'est encore plus {cadj m} que {autre titre}.",
    "Parmi les livres de cette année, c'est {un nom}.",
    "Je l'ai trouvé aussi {cadj m} que {autre titre}.",
    "Comme dans {autre titre}, {le:style} {est|sont} {adj}.",
    "{autre titre} m'avait déjà {touché}.",
    "Cela rappelle {autre titre}, tout aussi {cadj m}.",
)
JOINTS = (", et", " ;")
BECAUSE = (" car", " parce que", " tant", " :")
CONNECTIVES = ("De plus,", "Et puis,", "D'ailleurs,", "Surtout,", "Enfin,", "Autre point :")
INTENSIFIERS = ("vraiment", "franchement", "tout simplement", "réellement", "décidément")
DEGREES = ("très", "assez", "plutôt", "fort")

# The fillers of the neutral slots.
NEUTRAL: dict[str, tuple[str, ...]] = {
    "moment": (
        "dès les premières pages", "de le début à la fin", "jusque à la dernière page",
        "de un bout à l'autre", "page après page", "de chapitre en chapitre", "à chaque page",
    ),
    "urgence": ("absolument", "de toute urgence", "sans attendre", "à tout prix", "au plus vite"),
    "parente": ("sœur", "mère", "voisine", "tante", "collègue", "cousine"),
    "ville": (
        "Nantes", "Lille", "Bruxelles", "Lausanne", "Québec", "Lyon", "Dakar", "Montréal", "Genève",
        "Marseille", "Namur", "Brest", "Alger", "Orléans",
    ),
    "époque": (
        "à le début de le siècle dernier", "pendant l'hiver 1912", "dans les années vingt",
        "de nos jours", "en 1954", "à le lendemain de la guerre", "à la veille de la révolution",
        "un soir de novembre", "pendant un été de canicule",
    ),
    "durée": ("deux soirées", "une nuit", "trois jours", "une semaine", "un seul dimanche"),
    "rang": ("premier", "deuxième", "troisième", "cinquième", "dernier"),
    "nombre": ("cent cinquante", "deux cents", "trois cents", "quatre cents", "six cents"),
    "thème": (
        "mémoire", "exil", "amitié", "argent", "voyage", "famille", "musique", "enfance", "guerre",
        "héritage", "frontières", "secrets",
    ),
    "quelqu'un": (
        "une institutrice", "une jeune veuve", "une couturière", "une pianiste", "une infirmière",
        "une avocate", "une vieille dame", "un jeune médecin", "un notaire", "un marin",
        "un horloger", "un ancien soldat", "un boulanger", "un archiviste", "un vieil homme",
        "un nouvel élève", "un étudiant", "une orpheline",
    ),
    "événement": (
        "hérite de une maison à le bord de la mer", "retrouve son frère après vingt ans de absence",
        "reçoit une lettre sans signature", "part à la recherche de son père",
        "revient dans son village natal", "trouve un carnet dans un grenier",
        "enquête sur une disparition", "quitte la ville pour une île", "ouvre une auberge",
        "apprend un secret de famille", "change de nom", "traverse le pays à pied",
        "garde un phare", "attend le retour de un ami", "cherche un tableau volé",
    ),
}  # fmt: skip
WOMEN = ("Hélène", "Odile", "Agathe", "Inès", "Marianne", "Clarisse", "Élise", "Solène", "Jeanne",
         "Aurore")  # fmt: skip
MEN = ("Antoine", "Marc", "Étienne", "Baptiste", "Henri", "Lucien", "Olivier", "Rémi", "Yves",
       "Gaspard")  # fmt: skip
SURNAMES = (
    "Morvan", "Desroches", "Alvarin", "Castelnau", "Vernay", "Ostier", "Brévent", "Lemarchal",
    "Roquevert", "Auvray", "Saulnoy", "Tervagne", "Ibarrec", "Fontanges", "Mirandol", "Quentras",
    "Delorval", "Ardouin", "Pélissol", "Grandval",
)  # fmt: skip
TITLE_HEADS = ("le Jardin", "la Maison", "le Hiver", "la Ombre", "le Silence", "la Rivière",
               "la Lettre", "la Chambre", "la Horloge", "la Île", "la Route", "la Nuit",
               "le Passage", "la Saison", "le Bal", "le Hameau")  # fmt: skip
TITLE_TAILS = ("de verre", "des absents", "du passeur", "de sel", "de argile", "aux oiseaux",
               "sans nom", "de novembre", "de Élise", "sur la colline", "des autres", "de ivoire",
               "du phare", "de ambre")  # fmt: skip
