"""Exercise pairs_to_score of notebook 11."""

from __future__ import annotations

import random

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, both, fixed
from tutor.checking.answers import Question

Pairs = list[tuple[str, str]]


exercise = Definition(minutes=5, difficulty=1)


@exercise.reference
def pairs_to_score(corpus: dict[str, Pairs]) -> Pairs:
    known = {english for english, _ in corpus["train"]}
    return [pair for pair in corpus["test"] if pair[0] not in known]


def _pairs(rng: random.Random, count: int) -> Pairs:
    subjects, verbs = ("I", "You", "We", "They"), ("see", "sell", "buy", "draw", "find")
    numbers = rng.sample(range(2, 99), count)
    return [(f"{rng.choice(subjects)} {rng.choice(verbs)} {n} cats.", f"phrase {n}") for n in numbers]


def _draw_corpus(copies: bool, paraphrase: bool = False) -> Draw:
    def draw(rng: random.Random) -> list[Question]:
        pairs = _pairs(rng, 14)
        train, valid, test = pairs[:6], pairs[6:9], pairs[9:]
        test.sort(key=lambda pair: pair[0])
        test[0], test[-1] = test[-1], test[0]  # not in the order of the alphabet
        if copies:  # two known pairs side by side
            place = rng.randint(1, 4)
            test[place:place] = [train[1], train[4]]
        if paraphrase:  # the same English with other French is known, too; other English with the same French is new
            test = [*test, (train[2][0], "une autre phrase"), ("Another sentence.", train[3][1])]
            test = [*test, ("Another sentence.", "encore une phrase"), (valid[1][0], "la troisième phrase")]
            test = [test[0], *test, test[0], test[0]]  # the same pair, too
            known = train[5][0]  # nearly the same sentences are others: a part, small letters, another order
            test += [(known.lower(), "phrase a"), (known.removesuffix("."), "phrase b"), (known[:-6], "phrase c")]
            test += [(" ".join(known.split()[::-1]), "phrase d"), (known + " ", "phrase e")]
        return [Question(({"train": train, "valid": valid, "test": test},))]

    return draw


@exercise.stage("the test part", points=0.5, seed=1)
def _(rng: random.Random) -> list[Question]:
    """Neither the pairs of which the model has learned nor those with which you have chosen its settings; in their
    order.
    """
    return _draw_corpus(False)(rng)


def _all_known(rng: random.Random) -> list[Question]:
    """Draws a corpus whose test part holds nothing that the model has not read."""
    pairs = _pairs(rng, 8)
    return [Question(({"train": pairs[:6], "valid": pairs[6:], "test": rng.sample(pairs[:6], 3)},))]


@exercise.stage(
    "copies of training sentences are left out",
    points=0.25,
    public=[*fixed(_draw_corpus(True), 1), *fixed(_all_known, 2)],
)
def _(rng: random.Random) -> list[Question]:
    """Some English sentences of the test part stand in the training part too; the order of the others stays. Put what
    stays into a new list.
    """
    return both(_draw_corpus(True), _all_known)(rng)


@exercise.stage("known English, other French", points=0.25, seed=1, decisive=True)
def _(rng: random.Random) -> list[Question]:
    """What the model has read is the English sentence: a pair is known when its English is in the training part, letter
    by letter. All others stay, also what stands there twice or in the validation part.
    """
    return _draw_corpus(True, True)(rng)


@exercise.corners(
    "known English, other French",
    train=(1, range(301, 310)),
    test=(0, 1, range(65, 70), range(301, 310)),
    known=("none", "all but one", "all"),
    first=("train", "test"),
)
def _(rng: random.Random, train: int, test: int, known: str, first: str) -> Question:
    """Asks about long and short lists. The parts of a corpus may stand in any order."""
    learned = [(f"We see {n} cats .", f"phrase {n}") for n in rng.sample(range(1000, 9000), train)]
    new = {"none": test, "all but one": min(test, 1), "all": 0}[known]
    tested = [(f"They draw {n} cats.", f"phrase {n}") for n in rng.sample(range(1000, 9000), new)]
    tested += [(rng.choice(learned)[0], f"autre phrase {n}") for n in range(test - new)]
    corpus = {"train": learned, "valid": learned[:1], "test": rng.sample(tested, test)}
    return Question((dict(sorted(corpus.items(), reverse=first == "train")),))
