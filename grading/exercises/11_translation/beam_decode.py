"""Exercise beam_decode of notebook 11."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import both, seed_from
from grading.exercises.searched import Kind, Searched
from helpers.vocabulary import EOS, SOS
from tutor.checking.answers import Question
from tutor.checking.building import build

from ._common import _recipe, _sequences, _words

Sentence = tuple[list[int], float]  # words with <sos>, and the sum of their log-probabilities


def _mean(sentence: Sentence) -> float:
    return sentence[1] / (len(sentence[0]) - 1)


@torch.no_grad()
def _search(
    model: Any,
    source: Tensor,
    width: int,
    max_len: int,
    *,
    first_end: bool = False,
    refill: bool = False,
    unordered: bool = False,
    by_mean: bool = False,
) -> list[Sentence]:
    """Returns the sentences found; the options are other searches, which questions must tell from this one."""
    context = model.encode(source, None)
    beams, finished = [([SOS], 0.0)], list[Sentence]()
    for _ in range(max_len):
        candidates = finished[:] if by_mean else []
        for tokens, total in beams:
            logs = model.decode(torch.tensor([tokens], device=source.device), context)[0, -1].log_softmax(-1)
            candidates += [([*tokens, word], total + gain) for word, gain in enumerate(logs.tolist())]
        candidates.sort(key=_mean)  # without `by_mean` all are of the same length: the sums decide
        if unordered:  # of the same words in any order the best remains
            candidates = sorted({tuple(sorted(one[0])): one for one in candidates}.values(), key=_mean)
        candidates.reverse()
        best = candidates[:width]
        ended = [one for one in best if one[0][-1] == EOS]
        finished = ended if by_mean else finished + ended
        beams = [one for one in (candidates if refill else best) if one[0][-1] != EOS][:width]
        if not beams or (first_end and finished):
            break
    return finished if first_end and finished else finished + beams


def _best(found: list[Sentence]) -> Sentence:
    best = max(found, key=_mean)
    return _words(best[0][1:]), _mean(best)


exercise = Definition(minutes=50, difficulty=3)


@exercise.reference
def beam_decode(model: Any, source: Tensor, width: int, max_len: int) -> tuple[list[int], float]:
    return _best(_search(model, source, width, max_len) + _search(model, source, 1, max_len))


Known = tuple[int, str, int, int]  # the seed of a model, the words of a source, width and max_len


def _ask(known: Known) -> Question:
    seed, words, width, max_len = known
    return Question((_recipe(seed), torch.tensor([[int(word) for word in words]]), width, max_len))


def _below(seeds: tuple[int, int]) -> Question:
    return Question((_recipe(seeds[0]), _sequences(1, 4, 9, seeds[1]), 2, 5))


@lru_cache(50)
def _built(seed: int) -> Any:
    return build(_recipe(seed))


def _found(ask: Question, width: int = 0, **others: bool) -> list[Sentence]:
    """Returns what is found with the width of a question, or with another one."""
    return _search(_built(ask.inputs[0].seed), ask.inputs[1], width or ask.inputs[2], ask.inputs[3], **others)


def _is_other(ask: Question, width: int = 0, **others: bool) -> bool:
    """Says whether another search ends with another sentence, also where the greedy one takes part."""
    greedy = _found(ask, 1)
    return _best(_found(ask, width, **others) + greedy)[0] != _best(_found(ask) + greedy)[0]


def _is_clear(ask: Question) -> bool:
    """Says whether the best sentence has words, and is clearly better than all others that are found."""
    found = _found(ask) + _found(ask, 1)
    first, second, *_ = *sorted({tuple(one[0]): _mean(one) for one in found}.values())[::-1], -math.inf
    return first - second > LEAD and len(_best(found)[0]) > 0


def _ends(ask: Question) -> bool:
    return any(tokens[-1] == EOS for tokens, _ in _found(ask))


def _is_better(ask: Question) -> bool:
    """Says whether the beam finds a clearly better sentence than the greedy one."""
    return _is_other(ask, 1) and _is_clear(ask)


def _loses(ask: Question) -> bool:
    """Says whether the beam loses the greedy sentence, and finds none that is as good."""
    return _best(_found(ask))[0] != _best(_found(ask) + _found(ask, 1))[0] and _is_clear(ask)


def _known(widths: Sequence[int], lengths: Sequence[int]) -> Callable[[int], Known]:
    """Returns what draws a question from a number."""

    def draw(number: int) -> Known:
        rng = random.Random(number)
        words = "".join(str(rng.randrange(4, 9)) for _ in range(rng.randint(2, 5)))
        return seed_from(rng), words, rng.choice(widths), rng.choice(lengths)

    return draw


def _two_seeds(number: int) -> tuple[int, int]:
    rng = random.Random(number)
    return seed_from(rng), seed_from(rng)


WORDS = 9  # that the models know
LEAD = 0.02  # of the best score
_ONE, _TWO = _known([1], range(3, 10)), _known([3], [2])
_MIDDLE, _WIDE = _known(range(2, 6), range(4, 9)), _known(range(10, 13), [4])


def _order(ask: Question) -> bool:
    """Says whether it matters that two beams of the same words in another order are two."""
    return _is_other(ask, unordered=True) and _is_clear(ask)


def _first_end(ask: Question) -> bool:
    """Says whether it matters that the search goes on when the first beam has ended."""
    return _is_other(ask, first_end=True) and _is_better(ask)


def _places(ask: Question) -> bool:
    """Says whether it matters that nothing takes the places of beams that have ended."""
    return _is_other(ask, refill=True) and _is_better(ask)


def _by_mean(ask: Question) -> bool:
    """Says whether it matters that ended sentences take no place among the beams, for the sake of their mean."""
    return _is_other(ask, by_mean=True) and _is_better(ask)


def _wide(ask: Question) -> bool:
    """Says whether it matters that there are more beams than words: not all that are too many may be given up."""
    return _is_other(ask, WORDS) and _is_clear(ask)


def _short(most: int, fits: Callable[[Question], bool]) -> Callable[[Question], bool]:
    """Returns what says whether a question fits, and the decoder is called for it `most` times or so.

    These calls are nearly all that a question costs.
    """
    return lambda ask: ask.inputs[2] * ask.inputs[3] <= most and fits(ask)


SEARCHED = Searched(
    __file__,
    {
        "width 1": Kind(_ask, _is_clear, 36, _ONE),
        "two words": Kind(_ask, lambda ask: _is_better(ask) and not _ends(ask), 3, _TWO),
        "better than greedy": Kind(_ask, _short(20, _is_better), 39, _MIDDLE),
        "the first end": Kind(_ask, _short(20, _first_end), 19, _MIDDLE),
        "places of ended beams": Kind(_ask, _short(24, _places), 4, _MIDDLE),
        "order": Kind(_ask, _short(20, _order), 14, _MIDDLE),
        "wide": Kind(_ask, _short(48, _wide), 11, _WIDE),
        "below greedy, ended": Kind(_below, lambda ask: _loses(ask) and _ends(ask), 2, _two_seeds),
        "below greedy": Kind(_below, lambda ask: _loses(ask) and not _ends(ask), 7, _two_seeds),
        "width 1, shown": Kind(_ask, _is_clear, 3, _ONE),
        "better than greedy, shown": Kind(_ask, _is_better, 3, _MIDDLE),
        "by the mean, shown": Kind(_ask, _by_mean, 1, _MIDDLE),
        "order, shown": Kind(_ask, _order, 1, _MIDDLE),
        "wide, shown": Kind(_ask, _short(48, _wide), 1, _WIDE),
        "below greedy, shown": Kind(_below, _loses, 1, _two_seeds),
    },
)
_asked = SEARCHED.asked


def _shown(*kinds: str) -> list[Question]:
    """Returns all questions of some kinds."""
    return [SEARCHED.kinds[kind].make(source) for kind in kinds for source in SEARCHED.seeds(kind)]


@exercise.stage("width 1: the greedy sentence and its score", points=1, public=_shown("width 1, shown"))
def _(rng: random.Random) -> list[Question]:
    """With one beam only the best word is kept at each step, be it <pad> or <sos>: none is left out. The score is the
    mean of the log-probabilities of all words written, <eos> among them.
    """
    return _asked("width 1", 2)(rng)


@exercise.stage("width 3, two words", points=1, public=_shown("two words")[:2], decisive=True)
def _(rng: random.Random) -> list[Question]:
    """Keep the three best first words. Then look at all words after each of the three, and keep the three best of
    these.
    """
    return _asked("two words")(rng)


@exercise.stage(
    "short and long sentences",
    points=1,
    public=[
        *_shown("better than greedy, shown", "by the mean, shown"),
        _ask((399253, "57", 30, 2)),  # more beams than there are words
        *_shown("order, shown", "wide, shown"),
    ],
)
def _(rng: random.Random) -> list[Question]:
    """Of all extensions the `width` best are kept, those that end among them: fewer beams are open then. A sentence
    that has ended stays in the list of the finished ones; divide the sum of its log-probabilities by the number of
    words written, <eos> among them, before you compare. A width may be larger than the number of words there
    are.
    """
    return both(_asked("better than greedy", 2), _asked("order"), _asked("wide"))(rng)


@exercise.stage(
    "never below greedy",
    points=1,
    public=[*_shown("below greedy, shown"), _shown("below greedy, ended")[1]],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """The beam may lose the beginning of the greedy sentence, and find nothing as good. Let the greedy sentence take
    part in the last comparison.
    """
    return both(_asked("below greedy, ended"), _asked("below greedy"))(rng)


@exercise.corners("short and long sentences", tells=("the first end", "places of ended beams"))
def _(rng: random.Random, tells: str) -> Question:
    [ask] = _asked(tells)(rng)
    return ask


@exercise.corners("short and long sentences", width=(1, range(14, 17)), max_len=(1, 2), source=(1, range(33, 36)))
def _(rng: random.Random, width: int, max_len: int, source: int) -> Question:
    """Asks about one word and about two, about a source of one token and about a long one."""
    return Question((_recipe(rng.randrange(10**6)), _sequences(1, source, 9, rng.randrange(10**6)), width, max_len))


@exercise.mistake("only the sentence is returned")
def _(model: Any, source: Tensor, width: int, max_len: int) -> list[int]:
    """Return two things: the words and the score."""
    return beam_decode(model, source, width, max_len)[0]
