"""Exercise greedy_decode of notebook 11."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import Draw, fixed
from helpers.vocabulary import EOS, PAD, SOS
from tutor.checking.answers import Question

from ._common import Sentences, _recipe, _words


@torch.no_grad()
def _decode(
    model: Any,
    source: Tensor,
    lengths: Tensor | None,
    max_len: int,
    *,
    start: int = SOS,
    until: str = "all",
    again: bool = False,
    position: int = -1,
    lowest: bool = False,
) -> Tensor:
    """Returns the tokens written, `(b, <= max_len)`; the options are for the known mistakes."""
    context = model.encode(source, lengths)
    written = torch.full((len(source), 1), start, device=source.device)
    done = torch.zeros(len(source), dtype=torch.bool, device=source.device)
    for _ in range(max_len):
        context = model.encode(source, lengths) if again else context
        logits = model.decode(written, context)[:, position]
        best = (-logits if lowest else logits).argmax(dim=-1, keepdim=True)
        written = torch.cat([written, best], dim=1)
        done |= best[:, 0] == EOS
        if (until == "all" and done.all()) or (until == "any" and done.any()):
            break
    return written[:, 1:]


exercise = Definition(minutes=20, difficulty=2, forbids=("helpers.models.EncoderDecoder.greedy",))


@exercise.reference
def greedy_decode(model: Any, source: Tensor, source_lengths: Tensor, max_len: int) -> Sentences:
    return [_words(row) for row in _decode(model, source, source_lengths, max_len).tolist()]


# seed of a model -> sources after which it never ends in twelve words; that it ends after so many words; that it
# ends at
# once; and after which it writes special tokens as well. Searched for once: it prefers each word clearly.
KNOWN: dict[int, tuple[str, str, str, str]] = {
    888568: ("84444", "85556:3 568:3 68456:5 778445:5", "476 5644 66555", ""),
    209863: ("667 776 74768", "846:4 8468:5", "64 44 554765", ""),
    406284: ("67 78 74 854", "856:2 476868:2 76865:2 8485:6 84765:6", "656", "6544 65456"),
    693223: ("777 645 565 5555", "8545:2 45755:2 554:2 5544:3 67545:4", "854764 465 64745", ""),
    353659: ("74 567 747 757", "4857:2 85574:2 584748:2 658:6 658:6 586654:6", "", "685 648454"),
    270160: ("68 66 88 886", "588:2 675588:6", "865", ""),
    52788: ("65 88 46 86", "474:5 4744:5 74:6", "", "66"),
    529541: ("75 675 556 674", "4767:2 76:2 67:2 84778:4 56477:4 48666:5 88747:5 685458:5 4686:6 656664:6", "", "7777"),
    233508: ("57 55 87 56", "54:3 54:3 45:3 46:5 664:5 46:5", "", "646446"),
    308478: ("584 8556 8748 85548", "48648:2 467:2 86888:4 767656:4", "486 4746 747", ""),
    483741: ("55 74 47 76", "64844:3 46:4 476846:4 64548:5 85664:6 586654:6 686845:6", "8544 85 668", ""),
    53699: ("84 46 48777 75584", "478:2 47888:2 668874:4", "8657 87575 5658", ""),
}


# seed of a model -> sources after which it writes <pad> first, and words after that
PADS = {45: ("445",), 47: ("588",), 49: ("446574", "45547"), 56: ("66", "548548", "485")}


def _ask(seed: int, sources: list[str], max_len: int, padding: int = PAD, **more: Any) -> Question:
    lengths = torch.tensor([len(source) for source in sources])
    rows = [[int(word) for word in source] + [padding] * (int(lengths.max()) - len(source)) for source in sources]
    return Question((_recipe(seed), torch.tensor(rows), lengths, max_len), **more)


def _ends(seed: int) -> list[tuple[str, int]]:
    """Returns the sources after which a model ends, with the number of words."""
    return [(source, int(words)) for source, words in (pair.split(":") for pair in KNOWN[seed][1].split())]


def _draw_batch(same: bool, **more: Any) -> Draw:
    """Returns what draws a batch of which some end and one does not, all of the same length or of different ones."""

    def draw(rng: random.Random) -> list[Question]:
        options = []
        for seed in KNOWN:
            cut, ends = KNOWN[seed][0].split(), _ends(seed)
            for source in cut:
                fit = [end for end in ends if (len(end[0]) == len(source)) == same]
                options += [(seed, source, one, two) for one in fit for two in fit if one[1] < two[1]]
        seed, source, one, two = rng.choice(options)
        return [_ask(seed, [one[0], source, two[0]], rng.randint(7, 8), **more)]

    return draw


def _large_scores() -> Question:
    """Returns a question on a model whose scores are in the hundreds: their exponentials are no numbers any more."""
    ask = _ask(13, ["4758", "65"], 6)
    return replace(ask, inputs=(replace(ask.inputs[0], spread=9.0), *ask.inputs[1:]))


@exercise.stage("one sentence, cut after max_len words", points=0.5, seed=1)
def _(rng: random.Random) -> list[Question]:
    """Begin with <sos>; at each step take the word with the highest score at the last position, and add it to what is
    read.
    """
    # Draws sentences that are cut after a few words, and after one; a large question is cut after many.
    seeds = [rng.choice(list(KNOWN)) for _ in range(2)]
    sizes = rng.randint(3, 5), 1
    return [_ask(seed, [rng.choice(KNOWN[seed][0].split())], size) for seed, size in zip(seeds, sizes, strict=True)]


def _draw_stop(rng: random.Random) -> list[Question]:
    """Draws a sentence that ends, an empty one, and three with special tokens in them, one with <pad> at its end."""
    first = rng.choice(list(KNOWN))
    second, third = (rng.choice([seed for seed, known in KNOWN.items() if known[index]]) for index in (2, 3))
    fourth = rng.choice(list(PADS))
    return [
        _ask(first, [rng.choice(_ends(first))[0]], rng.randint(7, 9)),
        _ask(second, [rng.choice(KNOWN[second][2].split())], rng.randint(7, 9)),
        _ask(third, [rng.choice(KNOWN[third][3].split())], rng.randint(7, 9)),
        _ask(fourth, [rng.choice(PADS[fourth])], rng.randint(4, 6)),
        _ask(fourth, [rng.choice(PADS[fourth])], 1),
    ]


@exercise.stage("a sentence that ends", points=0.5, public=fixed(_draw_stop, 1))
def _(rng: random.Random) -> list[Question]:
    """What comes after the first <eos> does not count, and <eos> is not a word: leave it out, also where it comes
    first. Every other number counts.
    """
    return _draw_stop(rng)


@exercise.stage(
    "a batch: every sentence ends for itself", points=0.5, public=fixed(_draw_batch(same=True), 1, 2), decisive=True
)
def _(rng: random.Random) -> list[Question]:
    """The sentences end at different steps: go on until the last one has ended, and cut each at its own <eos>."""
    return _draw_batch(same=True)(rng)


def _draw_padded(rng: random.Random) -> list[Question]:
    """Draws a batch that is padded with PAD, and one that is padded with a word."""
    return [*_draw_batch(same=False)(rng), *_draw_batch(same=False, padding=rng.randint(4, 8))(rng)]


@exercise.stage("sources of different lengths", points=0.5, public=fixed(_draw_padded, 1))
def _(rng: random.Random) -> list[Question]:
    """Give source_lengths to model.encode, so that nobody looks at padding, whatever number it is."""
    return _draw_padded(rng)


@exercise.stage("the encoder runs once for a batch (runs are counted)", points=1, seed=2, decisive=True)
def _(rng: random.Random) -> list[Question]:
    """model.encode stands before the loop, model.decode in it. Calling model(source, target) runs both."""
    # A batch, and one sentence alone: who encodes each sentence for itself runs the encoder once there.
    seed = rng.choice(list(KNOWN))
    alone = _ask(seed, [rng.choice(_ends(seed))[0]], 8, probe="calls", part="encoder")
    return [*_draw_batch(False, probe="calls", part="encoder")(rng), alone]


exercise.large += [_ask(693223, ["777"], 70), _large_scores()]


@exercise.corners(
    "a batch: every sentence ends for itself",
    b=(1, 2, range(33, 36)),
    max_len=(1, 2, range(8, 12)),
    ends=("all", "one"),
)
def _(rng: random.Random, b: int, max_len: int, ends: str) -> Question:
    """Asks about batches of sources of one length: all end, or one does and the others go on."""
    options = []
    for seed, (cut, *_) in KNOWN.items():
        for end, _words_written in _ends(seed):
            fit = [source for source in cut.split() if len(source) == len(end)]
            alike = [source for source, _count in _ends(seed) if len(source) == len(end)]
            options += [(seed, end, fit if ends == "one" else alike)] if fit else []
    seed, end, others = rng.choice(options)
    sources = [end, *(rng.choice(others) for _ in range(b - 1))]
    return _ask(seed, rng.sample(sources, b), max_len)
