"""Exercise corpus_bleu of notebook 11."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from functools import partial

from grading.definitions.definition import Definition
from tutor.checking.answers import Question

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
    smooth_from: int = 1,
    raw_lengths: bool = False,
    skip: bool = False,
) -> float:
    """Returns BLEU; the options are for the known mistakes."""
    given = hypotheses, references
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
        more = add if n >= smooth_from else 0
        if total + more > 0 or not skip:
            precisions.append((right + more) / (total + more) if total + more > 0 else 0.0)
    counted = given if raw_lengths else (hypotheses, references)
    written, wanted_length = (sum(map(len, sentences)) for sentences in counted)
    if not written or (mean == "geometric" and not all(precisions)):
        return 0.0
    logs = [math.log(p) for p in precisions if mean == "geometric"]
    average = math.exp(sum(logs) / len(logs)) if logs else sum(precisions) / largest
    penalty = math.exp(min(0.0, 1 - wanted_length / written))
    if brevity == "sentence":
        longest = sum(max(len(h), len(r)) for h, r in pairs)
        penalty = math.exp(min(0.0, 1 - longest / written))
    if brevity == "bonus":
        penalty = math.exp(1 - wanted_length / written)
    if brevity == "linear":
        penalty = min(1.0, written / wanted_length)
    return scale * average * (penalty if brevity != "none" else 1.0)


exercise = Definition(minutes=25, difficulty=2, forbids=("helpers.bleu.bleu",))


@exercise.reference
def corpus_bleu(hypotheses: Texts, references: Texts) -> float:
    return _bleu(hypotheses, references)


exercise.by_hand(
    Question(([["le", "chat", "dort", "sur", "le", "lit"]], [["le", "chat", "noir", "dort", "sur", "le", "lit"]]))
)


WORDS = (
    *("le", "la", "un", "chat", "chien", "livre", "lit", "petit", "noir", "dort", "voit", "sur", "dans", "vieux"),
    *("rouge", "jardin", "reine", "cherche", "souvent", "ici", ".", "et", "des", "nous", "ville", "matin"),
)
JOINED = ((("par", "tout"), ("part", "out")), (("on", "dit"), ("ond", "it")), (("la", "me"), ("lam", "e")))

Pair = tuple[list[str], list[str]]  # a hypothesis and its reference


def _reference(rng: random.Random, low: int, high: int) -> list[str]:
    """Returns a sentence in which no word stands twice."""
    return rng.sample(WORDS, rng.randint(low, high))


def _new_word(rng: random.Random, words: list[str]) -> str:
    return rng.choice([word for word in WORDS if word not in words])


def _replaced(rng: random.Random, words: list[str], position: int) -> list[str]:
    return [*words[:position], _new_word(rng, words), *words[position + 1 :]]


def _long_text() -> Question:
    """Returns a question with a sentence of 150 words, of which every eleventh is wrong."""
    reference = [f"w{number * number % 61}" for number in range(150)]
    return Question(([["x" if number % 11 == 10 else word for number, word in enumerate(reference)]], [reference]))


@exercise.stage("a perfect translation, and one without a single right word", points=0.5, seed=1)
def _(rng: random.Random) -> list[Question]:
    """All n-grams right: every precision is 1, and BLEU is 100. A precision of 0 makes BLEU 0; its logarithm does not
    exist.
    """
    words = _reference(rng, 5, 9)
    return [
        Question(([words], [list(words)])),
        Question(([["oui"] * rng.randint(4, 6)], [_reference(rng, 4, 6)])),
        Question(([words[::-1]], [words])),  # right words, and nothing longer
    ]


@exercise.stage("one sentence", points=0.5, seed=1)
def _(rng: random.Random) -> list[Question]:
    """For n = 1, 2, 3 and 4: how many of the n-grams are right, word by word and in this order? Then the geometric mean
    of the four shares, in per cent. 'Le' and 'le' are two words.
    """
    # Draws single sentences as long as their references, with one thing wrong each, and without a word said twice.
    # The first one goes on after its full stop: who ends there has not only lost a capital letter of another one.
    asks = list[Pair]()
    reference = [word for word in _reference(rng, 9, 10) if word != "."]
    reference.insert(4, ".")
    asks.append((_replaced(rng, reference, rng.choice([1, 2])), reference))
    reference = _reference(rng, 8, 10)
    asks.append(([reference[1], reference[0], *reference[2:]], reference))  # another order
    reference = _reference(rng, 8, 10)
    asks.append(([*reference[:-1], reference[-1].title() if reference[-1] != "." else "!"], reference))
    right, wrong = rng.choice(JOINED)
    rest = _reference(rng, 7, 8)
    asks.append(([*rest, *wrong], [*rest, *right]))  # written without spaces they are the same
    return [Question(([hypothesis], [reference])) for hypothesis, reference in asks]


@exercise.stage("words said twice", points=0.5, seed=1)
def _(rng: random.Random) -> list[Question]:
    """An n-gram counts as right at most as often as it stands in the reference of its sentence."""
    # Draws a sentence as long as its reference, in which a word stands in place of another once more.
    # In a second one a word is wrong, too: the share of different words that are right is not that of all words.
    reference = _reference(rng, 9, 10)
    position = rng.choice([1, 2])
    twice = [*reference[:position], reference[position - 1], *reference[position + 1 :]]
    other = _reference(rng, 8, 10)
    thrice = [*other[:-3], _new_word(rng, other), other[0], other[0]]
    return [Question(([twice], [reference])), Question(([thrice, twice], [other, reference]))]


@exercise.stage("translations that are too short, or too long", points=0.5, seed=1)
def _(rng: random.Random) -> list[Question]:
    """With c words written and r words in the references, c < r, the whole is multiplied by exp(1 - r / c); with c >= r
    it is left as it is. c and r are those of the whole corpus.
    """
    # Draws a corpus that is too short as a whole, though one sentence is too long; and one that is too long.
    first, second = _reference(rng, 8, 9), _reference(rng, 9, 10)
    extra = [_new_word(rng, first), "puis", "voilà"]
    too_short = [[*first, *extra[: rng.randint(1, 2)]], second[: rng.randint(4, 5)]]
    return [Question((too_short, [first, second])), Question(([[*first, *extra], second], [first, second]))]


@exercise.stage("a corpus: counts are summed before they are divided", points=1, seed=1, decisive=True)
def _(rng: random.Random) -> list[Question]:
    """Sum right n-grams, all n-grams, and lengths over all sentences; divide and take the mean at the end, once."""
    # Draws good and bad sentences as long as their references; a word of one stands in the reference of another.
    first, second, third = (_reference(rng, low, low + 1) for low in (6, 8, 10))
    strange = [word for word in rng.sample(third, len(third)) if word not in second][: len(second) - 2]
    strange += ["puis", "voilà", "enfin", "alors", "donc", "aussi", "bien", "puisque"][: len(second) - 2 - len(strange)]
    bad = [second[0], *strange, second[-1]]
    fair = _replaced(rng, third, rng.choice([2, 3]))
    pairs: list[Pair] = [(list(first), first), (bad, second), (fair, third)]
    pairs.insert(rng.randint(0, 1), (list(fourth := _reference(rng, 7, 8)), fourth))
    pairs.append((list(bad), list(second)))  # a pair that stands twice counts twice
    return [Question(([hypothesis for hypothesis, _ in pairs], [reference for _, reference in pairs]))]


@exercise.stage("special tokens are no words", points=0.5, seed=1, decisive=True)
def _(rng: random.Random) -> list[Question]:
    """<sos>, <eos> and <pad> are taken out first, wherever they stand, in hypotheses and references: before n-grams and
    lengths are counted. <oov> stays: it is a word that the model does not know.
    """
    # Draws sentences with special tokens at both ends and inside, once more of them on one side, once on the other.
    asks = []
    for padded in (0, 1):
        pairs = []
        for n in range(2):
            reference = _reference(rng, 8, 10)
            reference[4], reference[6] = "<oov>", "<b>"
            position = 1 if n else 6
            unknown = ("puis", "voilà")[n]  # words of no reference
            hypothesis = [*reference[:position], unknown, *reference[position + 1 :]]
            sides = []
            for side, words in enumerate((hypothesis, reference)):
                special, position = rng.choice(["<eos>", "<pad>", "<sos>"]), rng.randint(2, 6)
                inside = [*words[:position], *(["<eos>", special] if side == padded else [special]), *words[position:]]
                more = ["<pad>"] * (rng.randint(4, 6) if side == padded else 0)
                sides.append(["<sos>", *inside, "<eos>", *more])
            pairs.append(sides)
        asks.append(Question(([h for h, _ in pairs], [r for _, r in pairs])))
    return asks


@exercise.stage("sentences that are too short for 4-grams", points=0.5, seed=1)
def _(rng: random.Random) -> list[Question]:
    """Where a corpus has no 4-grams none is right, and BLEU is 0; nothing may be divided by 0, also where nothing is
    written. In a corpus a sentence of two or three words adds 0 to the number of 4-grams, and its words count.
    """
    # Draws perfect beginnings that have no 4-grams, nothing at all, and a corpus in which some sentences have none.
    first, second, good = _reference(rng, 6, 8), _reference(rng, 4, 7), _reference(rng, 9, 10)
    return [
        Question(([first[:3]], [first])),
        Question(([second[:3]], [second[:3]])),
        Question(([first[:3], second[:2]], [first, second])),
        Question(([[]], [second])),
        Question(([_replaced(rng, good, 2), ["oui"], [], first[:3]], [good, ["oui"], second[:3], first[:3]])),
    ]


exercise.large += [_long_text()]


def _with_a_slip(rng: random.Random, words: list[str]) -> list[str]:
    position = rng.randrange(len(words))
    return [*words[:position], "oui", *words[position + 1 :]]


@exercise.corners(
    "a corpus: counts are summed before they are divided",
    sentences=(1, 2, range(33, 36)),
    length=(4, 5, range(33, 36), range(101, 104)),
    slips=("in one", "in each"),
)
def _(rng: random.Random, sentences: int, length: int, slips: str) -> Question | None:
    """Asks about long and short sentences, with a full stop in the middle; a word more changes the third digit."""
    if sentences * length > 1300:
        return None
    references = [rng.choices(WORDS, k=length) for _ in range(sentences)]
    for reference in references:
        reference[length // 2] = "."
    hypotheses = [
        _with_a_slip(rng, words) if slips == "in each" or n == 0 else list(words) for n, words in enumerate(references)
    ]
    return Question((hypotheses, references))


@exercise.corners(
    "special tokens are no words",
    token=("<eos>", "<pad>", "<sos>", "<oov>"),
    position=("first", "in the middle", "last", "alone"),
    side=(0, 1),
)
def _(rng: random.Random, token: str, position: str, side: int) -> Question:
    """Asks about each of the tokens at each position of a hypothesis, and of a reference."""
    words = _reference(rng, 8, 10)
    at = {"first": 0, "in the middle": rng.randint(2, 6), "last": len(words), "alone": 0}[position]
    marked = [*words[:at], token, *words[at:]] if position != "alone" else [token]
    first, second = _reference(rng, 6, 8), _reference(rng, 6, 8)
    pair = (marked, words) if side == 0 else (words, marked)
    return Question(([first, pair[0], second], [first, pair[1], second]))


@exercise.corners(
    "translations that are too short, or too long", words=(4, range(33, 36), range(301, 304)), c=(-1, 0, 1)
)
def _(rng: random.Random, words: int, c: int) -> Question:
    """Asks about corpora that lack a single word, have one too many, or are as long as they should be."""
    reference = [f"w{rng.randrange(50)}" for _ in range(words)]
    written = reference[: words - 1] if c < 0 else [*reference, "puis"][: words + c]
    first = _reference(rng, 8, 8)
    return Question(([first, written], [first, reference]))


exercise.mistake(
    "smoothed counts",
    "One is added to the counts. Some definitions of BLEU for single sentences do so, this one does not.",
    partial(_bleu, add=1),
)
