"""Exercise greedy_decode of notebook 11."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from grading.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw, both, fixed
from helpers.checking.answers import Ask
from helpers.data import EOS, PAD, SOS

from ._common import Sentences, _padded, _pure, _sequences, _to_eos, _translator, _words


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


def _draw_greedy(kind: str, **more: Any) -> Draw:
    """Returns what draws a question that `kind` describes; models and sources are tried until one fits."""

    def draw(rng: random.Random) -> list[Ask]:
        for _ in range(400):
            recipe, model = _translator(rng)
            b = 60
            lengths = torch.tensor([rng.randint(2, 6) for _ in range(b)]) if kind == "padded" else torch.full((b,), 5)
            sources = _padded(_sequences(b, int(lengths.max()), 9, rng.randrange(10**6)), lengths)
            full = _decode(model, sources, lengths, 6, until="never").tolist()
            found = [_words(row) for row in full]
            pure = [i for i, words in enumerate(found) if _pure(words) and len(set(words)) > 1]
            cut = [i for i in pure if len(found[i]) == 6]
            stop = [i for i in pure if 2 <= len(found[i]) < 5 and any(w != EOS for w in full[i][len(found[i]) :])]
            chosen = {"cut": cut[:1], "stop": stop[:1]}.get(kind, [])
            if kind in ("batch", "padded") and cut and len({len(found[i]) for i in stop}) > 1:
                other = next(i for i in stop if len(found[i]) != len(found[stop[0]]))
                chosen = [stop[0], cut[0], other]
            if not chosen:
                continue
            chosen_lengths = lengths[chosen]
            batch = sources[chosen][:, : int(chosen_lengths.max())]
            blind = [_words(row) for row in _decode(model, batch, None, 6).tolist()]
            if kind != "padded" or blind != [found[i] for i in chosen]:
                return [Ask((recipe, batch, chosen_lengths, 6), **more)]
        raise LookupError(f"no question of the kind {kind!r} was found")

    return draw


# A batch, and one sentence alone: who encodes each sentence for itself runs the encoder once there.
_ENCODER_RUNS = both(*(_draw_greedy(kind, take="calls", part="encoder") for kind in ("padded", "stop")))

EXERCISE = Exercise(
    greedy_decode,
    [
        Stage(
            "one sentence, cut after max_len words",
            0.5,
            "Begin with <sos>; at each step take the word with the highest score at the last place, and add it to what "
            "is read.",
            fixed(_draw_greedy("cut"), 1),
            _draw_greedy("cut"),
        ),
        Stage(
            "a sentence that ends",
            0.5,
            "What comes after the first <eos> does not count, and <eos> is not a word: leave it out.",
            fixed(_draw_greedy("stop"), 1, 2),
            _draw_greedy("stop"),
        ),
        Stage(
            "a batch: every sentence ends for itself",
            0.5,
            "The sentences end at different steps: go on until the last one has ended, and cut each at its own <eos>.",
            fixed(_draw_greedy("batch"), 1),
            _draw_greedy("batch"),
        ),
        Stage(
            "sources of different lengths",
            0.5,
            "Give source_lengths to model.encode, so that nobody looks at <pad>.",
            fixed(_draw_greedy("padded"), 1),
            _draw_greedy("padded"),
        ),
        Stage(
            "the encoder runs once for a batch (runs are counted)",
            1,
            "model.encode stands before the loop, model.decode in it. Calling model(source, target) runs both.",
            fixed(_ENCODER_RUNS, 2),
            _ENCODER_RUNS,
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
            "What the model says is what it says: only <eos> has a meaning here. Whoever reads the words may drop others.",
            _greedy(stop=lambda row: [word for word in _words(row) if word not in (PAD, SOS)]),
        ),
        Mistake(
            "with a cache, old words are fed again",
            "The cache has kept the keys and values of all words so far. Fed again, they stand there twice, at new "
            "places. With context.cache = {}, decode the newest word only.",
            _cached_wrongly,
        ),
    ],
)
