"""Exercise pairs_to_score of notebook 11."""

from __future__ import annotations

import random

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw, both, fixed
from tutor.checking.answers import Ask

Pairs = list[tuple[str, str]]


def pairs_to_score(corpus: dict[str, Pairs]) -> Pairs:
    known = {english for english, _ in corpus["train"]}
    return [pair for pair in corpus["test"] if pair[0] not in known]


def _pairs(rng: random.Random, count: int) -> Pairs:
    subjects, verbs = ("I", "You", "We", "They"), ("see", "sell", "buy", "draw", "find")
    numbers = rng.sample(range(2, 99), count)
    return [(f"{rng.choice(subjects)} {rng.choice(verbs)} {n} cats.", f"phrase {n}") for n in numbers]


def _draw_corpus(copies: bool, paraphrase: bool = False) -> Draw:
    def draw(rng: random.Random) -> list[Ask]:
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
        return [Ask(({"train": train, "valid": valid, "test": test},))]

    return draw


def _all_known(rng: random.Random) -> list[Ask]:
    """Draws a corpus whose test part holds nothing that the model has not read."""
    pairs = _pairs(rng, 8)
    return [Ask(({"train": pairs[:6], "valid": pairs[6:], "test": rng.sample(pairs[:6], 3)},))]


EXERCISE = Exercise(
    pairs_to_score,
    [
        Stage(
            "the test part",
            0.5,
            "Neither the pairs of which the model has learned nor those with which you have chosen its settings; in "
            "their "
            "order.",
            fixed(_draw_corpus(False), 1),
            _draw_corpus(False),
        ),
        Stage(
            "copies of training sentences are left out",
            0.25,
            "Some English sentences of the test part stand in the training part too; the order of the others stays.",
            [*fixed(_draw_corpus(True), 1), *fixed(_all_known, 2)],
            both(_draw_corpus(True), _all_known),
        ),
        Stage(
            "known English, other French",
            0.25,
            "What the model has read is the English sentence: a pair is known when its English is in the training "
            "part, letter by letter. All others stay, also what stands there twice or in the validation part.",
            fixed(_draw_corpus(True, True), 1),
            _draw_corpus(True, True),
            decisive=True,
        ),
    ],
    [
        Mistake(
            "scored on training pairs",
            "The model has learned these by heart; BLEU on them says nothing about other sentences.",
            lambda corpus: corpus["train"],
        ),
        Mistake(
            "scored on the validation pairs",
            "They have helped to choose the settings and the moment to stop, so they flatter the model. They are for "
            "that, and the test part is for the result.",
            lambda corpus: corpus["valid"],
        ),
        Mistake(
            "copies of training pairs are kept",
            "Some sentences of the test part are in the training part, too. The model need only remember them.",
            lambda corpus: corpus["test"],
        ),
        Mistake(
            "whole pairs are compared",
            "The same English with another French translation has been read as well. Compare the English only.",
            lambda corpus: [pair for pair in corpus["test"] if pair not in corpus["train"]],
        ),
        Mistake(
            "what is in the validation part is left out, too",
            "The model has not learned from the validation part. Only what is in the training part is known to it.",
            lambda corpus: [
                pair
                for pair in corpus["test"]
                if pair[0] not in {english for english, _ in [*corpus["train"], *corpus["valid"]]}
            ],
        ),
        Mistake(
            "the French is compared",
            "What the model is given is English: a pair is known when its English has been read.",
            lambda corpus: [
                pair for pair in corpus["test"] if pair[1] not in {french for _, french in corpus["train"]}
            ],
        ),
        Mistake(
            "the copies are what is kept",
            "These are just the sentences that the model has read. Keep the others.",
            lambda corpus: [pair for pair in corpus["test"] if pair[0] in {english for english, _ in corpus["train"]}],
        ),
    ],
    hints=(
        "Three parts: one to learn from, one to choose settings with, one that has had no influence on the model. "
        "On which of them is the final result measured? And which of its sentences has the model met all the same? "
        "What exactly did it read of them: English, French, or the pair?",
        "In `train` is (*I sleep.*, *Je dors.*). In `test` are (*I sleep.*, *Je suis endormi.*) and (*I doze.*, "
        "*Je dors.*). The first is known: its English has been read, although the French is another one. The "
        "second is new: its English has never been read. Sentences are equal when they are equal letter by letter, "
        "so *i sleep* is another one; compare whole strings, since `in` between two strings also finds parts. "
        "Whether a sentence stands in `valid`, or twice in `test`, does not matter. A `set` of strings answers "
        "quickly whether one of them is in it.",
        "Two steps:\n"
        "```python\n"
        "known = {...}  # the English sentences of the training part, as a set\n"
        "```\n"
        'Then a list of those pairs of `corpus["test"]`, in their order, whose first half passes your test: `# '
        "...`\n\n"
        'A pair is `(English, French)`; `for english, french in corpus["train"]` takes it apart. Nothing is '
        "sorted and nothing is made a set but `known`: the order stays, and so do pairs that stand there twice.",
    ),
)
