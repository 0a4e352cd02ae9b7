"""Exercise corpus_bleu of notebook 11."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from grading.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw, both, fixed
from helpers.checking.answers import Ask

Texts = Sequence[Sequence[str]]


def _grams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def _clean(sentences: Texts) -> list[list[str]]:
    return [[token for token in sentence if token not in ("<pad>", "<sos>", "<eos>")] for sentence in sentences]


def _bleu(
    hypotheses: Texts,
    references: Texts,
    *,
    clean: bool = True,
    clip: bool = True,
    brevity: str = "corpus",
    largest: int = 4,
    mean: str = "geometric",
    add: int = 0,
    scale: float = 100.0,
    negative: bool = False,
    recall: bool = False,
) -> float:
    """Returns BLEU; the options are for the known mistakes."""
    if clean:
        hypotheses, references = _clean(hypotheses), _clean(references)
    pairs, precisions = list(zip(hypotheses, references, strict=True)), []
    for n in range(1, largest + 1):
        right = total = 0
        for hypothesis, reference in pairs:
            found, wanted = _grams(hypothesis, n), _grams(reference, n)
            right += sum(
                min(count, wanted[gram]) if clip else count * (gram in wanted) for gram, count in found.items()
            )
            size = len(reference if recall else hypothesis) - n + 1
            total += size if negative else max(0, size)
        precisions.append((right + add) / (total + add) if total + add > 0 else 0.0)
    written, wanted_length = (sum(map(len, sentences)) for sentences in (hypotheses, references))
    if not written or (mean == "geometric" and not all(precisions)):
        return 0.0
    logs = [math.log(p) for p in precisions if mean == "geometric"]
    average = math.exp(sum(logs) / largest) if logs else sum(precisions) / largest
    penalty = math.exp(min(0.0, 1 - wanted_length / written))
    if brevity == "sentence":
        longest = sum(max(len(h), len(r)) for h, r in pairs)
        penalty = math.exp(min(0.0, 1 - longest / written))
    if brevity == "bonus":
        penalty = math.exp(1 - wanted_length / written)
    if brevity == "linear":
        penalty = min(1.0, written / wanted_length)
    return scale * average * (penalty if brevity != "none" else 1.0)


def corpus_bleu(hypotheses: Texts, references: Texts) -> float:
    return _bleu(hypotheses, references)


def _one_text(hypotheses: Texts, references: Texts) -> float:
    """Counts n-grams across the ends of sentences, too."""
    written, wanted = ([token for sentence in texts for token in sentence] for texts in (hypotheses, references))
    return _bleu([written], [wanted])


def _clipped_at_the_end(hypotheses: Texts, references: Texts) -> float:
    """Lets an n-gram count that stands in the reference of another sentence."""
    hypotheses, references, logs = _clean(hypotheses), _clean(references), 0.0
    for n in range(1, 5):
        found, wanted = (sum((_grams(s, n) for s in sentences), Counter()) for sentences in (hypotheses, references))
        right = (found & wanted).total()
        if not right:
            return 0.0
        logs += math.log(right / found.total()) / 4
    written, wanted_length = (sum(map(len, sentences)) for sentences in (hypotheses, references))
    return 100 * math.exp(logs + min(0.0, 1 - wanted_length / written))


def _sentence_mean(hypotheses: Texts, references: Texts) -> float:
    each = [_bleu([h], [r]) for h, r in zip(hypotheses, references, strict=True)]
    return sum(each) / max(1, len(each))


NOUNS, PARTS = ("chat", "chien", "livre", "lit"), ("le", "un", "petit", "noir", "dort", "voit", "sur", "<oov>", ".")


def _reference(rng: random.Random, low: int, high: int) -> list[str]:
    return [rng.choice((*NOUNS, *PARTS)) for _ in range(rng.randint(low, high))]


def _spoiled(rng: random.Random, words: list[str], drop: float, swap: float, double: float) -> list[str]:
    """Returns a sentence with words left out, exchanged for others, and said twice."""
    made = []
    for word in words:
        if rng.random() < drop:
            continue
        word = rng.choice((*NOUNS, *PARTS)) if rng.random() < swap else word
        made += [word] * (2 if rng.random() < double else 1)
    return made


def _draw_bleu(kind: str) -> Draw:
    """Returns what draws sentences in which the point of `kind` decides, by at least 0.1."""

    def draw(rng: random.Random) -> list[Ask]:
        for _ in range(3000):
            count = 1 if kind == "one" else rng.randint(3, 6)
            references = [_reference(rng, 6, 10) for _ in range(count)]
            drop, double = {"short": (0.2, 0.0), "double": (0.0, 0.3)}.get(kind, (0.05, 0.05))
            hypotheses = [_spoiled(rng, words, drop, 0.12, double) for words in references]
            if kind == "short":
                hypotheses[0] = [*references[0], "et", "voilà", "."]
            if kind == "corpus":
                hypotheses[0] = _spoiled(rng, references[0], 0.3, 0.6, 0.0)
            if kind == "special":
                longest = max(map(len, hypotheses)) + 1
                hypotheses = [["<sos>", *h, "<eos>", *["<pad>"] * (longest - len(h))] for h in hypotheses]
                references = [["<sos>", *r, "<eos>"] for r in references]
            if kind == "none":
                hypotheses = [["chat", "dort"], ["un", "lit", "noir"]]
                references = [["chat", *_reference(rng, 4, 6)], _reference(rng, 4, 7)]
            if kind == "uneven":  # beside good translations, one of a single word and one of none
                hypotheses += [["oui"], []]
                references += [["oui"], _reference(rng, 1, 2)]
            bleu = corpus_bleu(hypotheses, references)
            others: dict[str, list[Callable[..., float]]] = {
                "short": [
                    partial(_bleu, recall=True),
                    *(partial(_bleu, brevity=name) for name in ("none", "linear", "sentence")),
                ],
                "double": [partial(_bleu, clip=False)],
                "corpus": [_sentence_mean, _one_text, _clipped_at_the_end],
                "uneven": [partial(_bleu, negative=True)],
                "special": [partial(_bleu, clean=False)],
                "none": [partial(_bleu, add=1)],
                "one": [partial(_bleu, largest=2), partial(_bleu, mean="arithmetic"), partial(_bleu, add=1)],
            }
            found = [other(hypotheses, references) for other in others[kind]]
            clipped = kind == "one" or abs(_clipped_at_the_end(hypotheses, references) - bleu) > 0.1
            if kind == "none" or (5 < bleu < 99 and all(abs(each - bleu) > 1 for each in found) and clipped):
                return [Ask((hypotheses, references))]
        raise LookupError(f"no sentences of the kind {kind!r} were found")

    return draw


NOTHING = Ask(([[]], [["le", "chat", "dort"]]))

EXERCISE = Exercise(
    corpus_bleu,
    [
        Stage(
            "a perfect translation, and one without a single right word",
            0.5,
            "All n-grams right: every precision is 1, and BLEU is 100. A precision of 0 makes BLEU 0; its logarithm "
            "does not exist.",
            [
                Ask(([["le", "chat", "dort", "bien", "."]], [["le", "chat", "dort", "bien", "."]])),
                Ask(([["un", "deux", "trois", "quatre", "cinq"]], [["le", "chat", "dort", "bien", "."]])),
            ],
            lambda rng: [
                Ask(([(words := _reference(rng, 5, 9))], [words])),
                Ask(([["oui"] * 5], [_reference(rng, 5, 9)])),
            ],
        ),
        Stage(
            "one sentence",
            0.5,
            "For n = 1, 2, 3 and 4: how many of the n-grams are right? Then the geometric mean of the four shares, in "
            "per cent.",
            fixed(_draw_bleu("one"), 1),
            _draw_bleu("one"),
        ),
        Stage(
            "words said twice",
            0.5,
            "An n-gram counts as right at most as often as it stands in the reference of its sentence.",
            [
                *fixed(_draw_bleu("double"), 1),
                Ask(([["le", "le", "chat", "dort", "bien", "le"]], [["le", "chat", "dort", "bien", "ici"]])),
            ],
            _draw_bleu("double"),
        ),
        Stage(
            "translations that are too short",
            0.5,
            "With c words written and r words in the references, c < r, the whole is multiplied by exp(1 - r / c).",
            fixed(_draw_bleu("short"), 1),
            _draw_bleu("short"),
        ),
        Stage(
            "a corpus: counts are summed before they are divided",
            1,
            "Sum right n-grams, all n-grams, and lengths over all sentences; divide and take the mean at the end, "
            "once.",
            fixed(_draw_bleu("corpus"), 1),
            _draw_bleu("corpus"),
        ),
        Stage(
            "special tokens are no words",
            0.5,
            "<sos>, <eos> and <pad> are taken off first, from both sides. <oov> stays: it is a word that the model "
            "does not know.",
            fixed(_draw_bleu("special"), 1),
            _draw_bleu("special"),
        ),
        Stage(
            "sentences that are too short for 4-grams",
            0.5,
            "Sentences of two and three words have no 4-grams: nothing is right, BLEU is 0, and nothing may be divided "
            "by 0, also where nothing is written. In a corpus such a sentence adds 0 to the number of 4-grams.",
            [*fixed(_draw_bleu("none"), 1), NOTHING, *fixed(_draw_bleu("uneven"), 1)],
            both(_draw_bleu("none"), lambda rng: [NOTHING], _draw_bleu("uneven")),
        ),
    ],
    [
        Mistake(
            "the mean of the sentences' BLEU",
            "A sentence without one right 4-gram counts 0 then, however good it is otherwise. Sum the counts over the "
            "corpus and compute BLEU once.",
            _sentence_mean,
        ),
        Mistake(
            "no brevity penalty",
            "A model that writes only the words of which it is sure has a high precision. Multiply by exp(1 - r / c) "
            "where c < r.",
            partial(_bleu, brevity="none"),
        ),
        Mistake(
            "a translation that is too long gets a bonus",
            "exp(1 - r / c) is above 1 where c > r: take 1 there. The precisions punish needless words.",
            partial(_bleu, brevity="bonus"),
        ),
        Mistake(
            "the brevity penalty is c / r",
            "The penalty is exp(1 - r / c), which is smaller than c / r.",
            partial(_bleu, brevity="linear"),
        ),
        Mistake(
            "the brevity penalty looks at each sentence",
            "One translation may be too long and another too short: compare all words written with all words of the "
            "references.",
            partial(_bleu, brevity="sentence"),
        ),
        Mistake(
            "no clipping",
            'With "le le le le" every word is right. Count an n-gram at most as often as the reference has it.',
            partial(_bleu, clip=False),
        ),
        Mistake(
            "n-grams are clipped for the whole corpus at once",
            "An n-gram is right only if it stands in the reference of its own sentence: clip in each sentence, then "
            "sum.",
            _clipped_at_the_end,
        ),
        Mistake(
            "the corpus is taken for one long sentence",
            "No n-gram goes from one sentence into the next, and each sentence has its own reference. Count in each "
            "sentence, then sum.",
            _one_text,
        ),
        Mistake(
            "short sentences take n-grams away",
            "A sentence of one word has no 4-grams, not -2: add max(0, length - n + 1) to their number.",
            partial(_bleu, negative=True),
        ),
        Mistake(
            "special tokens are kept",
            "Every sentence begins with <sos> and ends with <eos>, so these are right for nothing, and BLEU looks "
            "better than it is. Take them off first.",
            partial(_bleu, clean=False),
        ),
        Mistake(
            "n-grams up to 2 only",
            "BLEU takes n = 1, 2, 3 and 4. Long n-grams see the order of the words.",
            partial(_bleu, largest=2),
        ),
        Mistake(
            "n-grams up to 3 only",
            "BLEU takes n = 1, 2, 3 and 4.",
            partial(_bleu, largest=3),
        ),
        Mistake(
            "the arithmetic mean",
            "The four precisions are multiplied and the fourth root is taken: exp of the mean of their logarithms.",
            partial(_bleu, mean="arithmetic"),
        ),
        Mistake(
            "smoothed counts",
            "One is added to the counts. Some definitions of BLEU for single sentences do so, this one does not.",
            partial(_bleu, add=1),
        ),
        Mistake(
            "hypotheses and references are exchanged",
            "Divide by the number of n-grams that were written, not by that of the references.",
            lambda hypotheses, references: _bleu(references, hypotheses),
        ),
        Mistake(
            "divided by the number of n-grams of the references",
            "That is a recall. A precision is the share of what was written: divide by the n-grams of the hypotheses.",
            partial(_bleu, recall=True),
        ),
        Mistake("a share in place of per cent", "BLEU goes from 0 to 100.", partial(_bleu, scale=1.0)),
    ],
)
