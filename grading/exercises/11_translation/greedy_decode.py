"""Exercise greedy_decode of notebook 11."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw, fixed
from helpers.data import EOS, PAD, SOS
from tutor.checking.answers import Ask

from ._common import Sentences, _recipe, _to_eos, _words


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
    place: int = -1,
    lowest: bool = False,
) -> Tensor:
    """Returns the tokens written, `(b, <= max_len)`; the options are for the known mistakes."""
    context = model.encode(source, lengths)
    written = torch.full((len(source), 1), start)
    done = torch.zeros(len(source), dtype=torch.bool)
    for _ in range(max_len):
        context = model.encode(source, lengths) if again else context
        logits = model.decode(written, context)[:, place]
        best = (-logits if lowest else logits).argmax(dim=-1, keepdim=True)
        written = torch.cat([written, best], dim=1)
        done |= best[:, 0] == EOS
        if (until == "all" and done.all()) or (until == "any" and done.any()):
            break
    return written[:, 1:]


def greedy_decode(model: Any, source: Tensor, source_lengths: Tensor, max_len: int) -> Sentences:
    return [_words(row) for row in _decode(model, source, source_lengths, max_len).tolist()]


def _cached_wrongly(model: Any, source: Tensor, source_lengths: Tensor, max_len: int) -> Sentences:
    with torch.no_grad():
        context = model.encode(source, source_lengths)
        context.cache = {}
        written = torch.full((len(source), 1), SOS)
        for _ in range(max_len):
            best = model.decode(written, context)[:, -1:].argmax(dim=-1)
            written = torch.cat([written, best], dim=1)
    return [_words(row) for row in written[:, 1:].tolist()]


def _greedy(stop: Callable[[list[int]], list[int]] = _words, **options: Any) -> Callable[..., Sentences]:
    """Returns a decoder that is greedy with one thing changed."""

    def decode(model: Any, source: Tensor, source_lengths: Tensor, max_len: int) -> Sentences:
        return [stop(row) for row in _decode(model, source, source_lengths, max_len, **options).tolist()]

    return decode


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


# seed of a model -> sources after which it writes <pad>, and words after that
PADS = {45: ("445",), 47: ("588",), 49: ("446574", "45547"), 56: ("66", "548548", "485")}


def _ask(seed: int, sources: list[str], max_len: int, **more: Any) -> Ask:
    lengths = torch.tensor([len(source) for source in sources])
    rows = [[int(word) for word in source] + [PAD] * (int(lengths.max()) - len(source)) for source in sources]
    return Ask((_recipe(seed), torch.tensor(rows), lengths, max_len), **more)


def _ends(seed: int) -> list[tuple[str, int]]:
    """Returns the sources after which a model ends, with the number of words."""
    return [(source, int(words)) for source, words in (pair.split(":") for pair in KNOWN[seed][1].split())]


def _draw_cut(rng: random.Random) -> list[Ask]:
    """Draws sentences that are cut after a few words, after one and after many."""
    seeds = [rng.choice(list(KNOWN)) for _ in range(3)]
    sizes = rng.randint(3, 5), 1, rng.randint(10, 12)
    return [_ask(seed, [rng.choice(KNOWN[seed][0].split())], size) for seed, size in zip(seeds, sizes, strict=True)]


def _draw_stop(rng: random.Random) -> list[Ask]:
    """Draws a sentence that ends, an empty one, and two in which special tokens are written."""
    first = rng.choice(list(KNOWN))
    second, third = (rng.choice([seed for seed, known in KNOWN.items() if known[place]]) for place in (2, 3))
    fourth = rng.choice(list(PADS))
    return [
        _ask(first, [rng.choice(_ends(first))[0]], rng.randint(8, 12)),
        _ask(second, [rng.choice(KNOWN[second][2].split())], rng.randint(8, 12)),
        _ask(third, [rng.choice(KNOWN[third][3].split())], rng.randint(8, 12)),
        _ask(fourth, [rng.choice(PADS[fourth])], rng.randint(4, 6)),
    ]


def _draw_batch(same: bool, **more: Any) -> Draw:
    """Returns what draws a batch of which some end and one does not, all of the same length or of different ones."""

    def draw(rng: random.Random) -> list[Ask]:
        options = []
        for seed in KNOWN:
            cut, ends = KNOWN[seed][0].split(), _ends(seed)
            for source in cut:
                fit = [end for end in ends if (len(end[0]) == len(source)) == same]
                options += [(seed, source, one, two) for one in fit for two in fit if one[1] < two[1]]
        seed, source, one, two = rng.choice(options)
        return [_ask(seed, [one[0], source, two[0]], rng.randint(8, 12), **more)]

    return draw


def _draw_runs(rng: random.Random) -> list[Ask]:
    """A batch, and one sentence alone: who encodes each sentence for itself runs the encoder once there."""
    seed = rng.choice(list(KNOWN))
    alone = _ask(seed, [rng.choice(_ends(seed))[0]], 8, take="calls", part="encoder")
    return [*_draw_batch(False, take="calls", part="encoder")(rng), alone]


def _large_scores() -> Ask:
    """Returns a question on a model whose scores are in the hundreds: their exponentials are no numbers any more."""
    ask = _ask(13, ["4758", "65"], 6)
    return replace(ask, inputs=(replace(ask.inputs[0], spread=9.0), *ask.inputs[1:]))


EXERCISE = Exercise(
    greedy_decode,
    [
        Stage(
            "one sentence, cut after max_len words",
            0.5,
            "Begin with <sos>; at each step take the word with the highest score at the last place, and add it to what "
            "is read.",
            fixed(_draw_cut, 1),
            _draw_cut,
        ),
        Stage(
            "a sentence that ends",
            0.5,
            "What comes after the first <eos> does not count, and <eos> is not a word: leave it out, also where it "
            "comes "
            "first. Every other number counts.",
            fixed(_draw_stop, 1, 2),
            _draw_stop,
        ),
        Stage(
            "a batch: every sentence ends for itself",
            0.5,
            "The sentences end at different steps: go on until the last one has ended, and cut each at its own <eos>.",
            fixed(_draw_batch(same=True), 1, 2, 3),
            _draw_batch(same=True),
            decisive=True,
        ),
        Stage(
            "sources of different lengths",
            0.5,
            "Give source_lengths to model.encode, so that nobody looks at <pad>.",
            fixed(_draw_batch(same=False), 1, 2, 3),
            _draw_batch(same=False),
        ),
        Stage(
            "the encoder runs once for a batch (runs are counted)",
            1,
            "model.encode stands before the loop, model.decode in it. Calling model(source, target) runs both.",
            fixed(_draw_runs, 2),
            _draw_runs,
        ),
    ],
    [
        Mistake(
            "the memory is recomputed at every step",
            "The words are right, but the encoder ran once for each of them. The source does not change while you "
            "write: model.encode belongs before the loop.",
            _greedy(again=True),
        ),
        Mistake(
            "each sentence is encoded for itself",
            "The words are right, but the encoder ran once for each sentence. Encode the batch at once, before the "
            "loop, and let all sentences take each step together.",
            lambda model, source, source_lengths, max_len: [
                words
                for row, n in zip(source.split(1), source_lengths.split(1), strict=True)
                for words in greedy_decode(model, row, n, max_len)
            ],
        ),
        Mistake(
            "it does not stop at <eos>",
            "The model goes on after <eos>, because you ask it to. What comes after the first <eos> is no part of the "
            "sentence.",
            _greedy(stop=lambda row: [word for word in row if word != EOS], until="never"),
        ),
        Mistake(
            "everything is kept, <eos> and what follows",
            "Cut each sentence at its first <eos>, and leave that out.",
            _greedy(stop=list, until="never"),
        ),
        Mistake(
            "<eos> is kept as a word",
            "<eos> says that the sentence is over. It is not a part of it.",
            _greedy(stop=_to_eos),
        ),
        Mistake(
            "all stop when the first one does",
            "As soon as one sentence has ended, the others are cut. Go on until all have ended (or max_len is "
            "reached).",
            _greedy(until="any"),
        ),
        Mistake(
            "the padding of the source is read",
            "model.encode needs the lengths. Without them every <pad> is read as if it were a word.",
            lambda model, source, source_lengths, max_len: greedy_decode(model, source, None, max_len),  # type: ignore[arg-type]
        ),
        Mistake(
            "it begins with <eos>",
            "The decoder has learned to begin after <sos>.",
            _greedy(start=EOS),
        ),
        Mistake(
            "it begins with <pad>",
            "The decoder has learned to begin after <sos>.",
            _greedy(start=PAD),
        ),
        Mistake(
            "the first place is read at every step",
            "Place 0 answers what follows <sos>, and says the same at every step. The next word is at the last place.",
            _greedy(place=0),
        ),
        Mistake(
            "one word too few",
            "max_len counts the words that are written; <sos> is not one of them.",
            lambda model, source, source_lengths, max_len: greedy_decode(model, source, source_lengths, max_len - 1),
        ),
        Mistake(
            "one word too many",
            "max_len counts the words that are written; <sos> is not one of them.",
            lambda model, source, source_lengths, max_len: greedy_decode(model, source, source_lengths, max_len + 1),
        ),
        Mistake(
            "<sos> is kept as a word",
            "<sos> is what the decoder reads first. It is not a part of the translation.",
            lambda model, source, source_lengths, max_len: [
                [SOS, *words] for words in greedy_decode(model, source, source_lengths, max_len)
            ],
        ),
        Mistake(
            "special tokens that the model writes are dropped",
            "What the model says is what it says: only <eos> has a meaning here. Whoever reads the words may drop "
            "others.",
            _greedy(stop=lambda row: [word for word in _words(row) if word not in (PAD, SOS)]),
        ),
        Mistake(
            "with a cache, old words are fed again",
            "The cache has kept the keys and values of all words so far. Fed again, they stand there twice, at new "
            "places. With context.cache = {}, decode the newest word only.",
            _cached_wrongly,
        ),
    ],
    large=[_ask(693223, ["777"], 70), _large_scores()],
    hints=(
        "What depends on the source alone and therefore stands *before* the loop? In the loop: at which place of "
        "the logits does the model say the next word? Three sentences of a batch end after 2 words, after 5, and "
        'never: how many steps must the loop take, and what becomes of what the first sentence "writes" from '
        "step 4 on?",
        "Two sentences, three steps. Step 1 says 7 and 5, step 2 EOS and 8, step 3 9 and EOS. After step 2 one of "
        "them has ended, and the loop goes on; after step 3 both have, and it may stop. The rows are 7 EOS 9 and 5 "
        "8 EOS; cut at the *first* EOS: `[7]` and `[5, 8]`. The 9 was only carried along. A row that begins with "
        "EOS gives `[]`, and a 0 (`<pad>`) before the EOS stays: the model has written it. In a list, "
        "`row.index(EOS)` finds the first one, and raises an error where there is none.",
        "Before the loop:\n"
        "```python\n"
        "context = model.encode(source, source_lengths)  # once\n"
        "written = torch.full((len(source), 1), SOS)     # (b, 1)\n"
        "```\n"
        "Then at most `max_len` times:\n\n"
        "1. `model.decode(written, context)`: `(b, n, V)`; of these the last place, `(b, V)`.\n"
        "2. The best word of each sentence, with an axis for the place: `(b, 1)`.\n"
        "3. `torch.cat` along the places: `(b, n + 1)`.\n"
        "4. A bool for each sentence says whether it has ever said EOS, `(b,)`; leave the loop when all have: `# "
        "...`\n\n"
        "At the end, each row as a list, without SOS, cut before its first EOS: `# ...`",
    ),
)
