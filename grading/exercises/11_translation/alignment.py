"""Exercise alignment of notebook 11."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw, both, seed_from
from helpers.data import EOS, PAD, SOS
from tutor.checking.answers import Ask
from tutor.checking.plain import Model

from ._common import _sequences


@torch.no_grad()
def _maps(model: Any, source: list[int], read: list[int], part: str = "cross_attention") -> Tensor:
    """Returns the weights of all layers, `(layers, h, n, m)`, when the decoder reads these tokens."""
    context = model.encode(torch.tensor([source]))
    context.maps = {}
    model.decode(torch.tensor([read]), context)
    return torch.stack([context.maps[getattr(layer, part)][0] for layer in model.decoder.layers])


def alignment(model: Any, source: list[int], words: list[int]) -> Tensor:
    return _maps(model, source, [SOS, *words[:-1]])[-1].mean(dim=0)


def _aligned(n_words: int, m: int, layers: int, seed: int, last: int = EOS, *, odd: bool = False) -> Ask:
    build = {"source_vocab_size": 12, "target_vocab_size": 14, "d_model": 12, "n_layers": layers, "n_heads": 3}
    recipe = Model("EncoderDecoder", build | {"norm_first": True}, seed, spread=0.3)
    source = [*_sequences(1, m - 1, 12, seed)[0].tolist(), last]
    words = _sequences(1, n_words, 14, seed + 1)[0].tolist()
    if odd:
        words[1], words[-1] = PAD, words[0]  # a model may write both: <pad>, and a word once more
    return Ask((recipe, source, words))


def _draw_alignment(low: int, high: int, layers: int) -> Draw:
    def draw(rng: random.Random) -> list[Ask]:
        sizes = rng.sample(range(low, high + 1), 2) if high > low else [low, rng.randint(3, 6)]
        return [_aligned(sizes[0], sizes[1], layers, rng.randrange(10**6))]

    return draw


def _draw_long(layers: int) -> Draw:
    """Returns what draws a long source: each of its words gets little."""
    return lambda rng: [_aligned(3, rng.randint(70, 80), layers, seed_from(rng))]


EXERCISE = Exercise(
    alignment,
    [
        Stage(
            "a row for each word written, a column for each token of the source",
            0.5,
            "n words and m tokens give a tensor (n, m): the axes of the batch, the layers and the heads are gone.",
            [_aligned(3, 5, 2, 1)],
            _draw_alignment(3, 7, 2),
            view="shape",
        ),
        Stage(
            "each row sums to 1",
            0.5,
            "Weights sum to 1 over the source, and so does their mean over the heads.",
            [_aligned(3, 5, 2, 2), _aligned(3, 75, 2, 9)],
            both(_draw_alignment(3, 7, 2), _draw_long(2)),
            view="row sums",
        ),
        Stage(
            "one layer",
            1,
            "Word i is written by the place that has read <sos> and the words before it: feed <sos> and all words but "
            "the last.",
            [_aligned(3, 4, 1, 3), _aligned(4, 4, 1, 5, odd=True), _aligned(1, 2, 1, 6), _aligned(3, 70, 1, 10)],
            both(
                _draw_alignment(3, 7, 1),
                _draw_long(1),
                lambda rng: [_aligned(5, rng.randint(3, 6), 1, seed_from(rng), odd=True)],
            ),
            decisive=True,
        ),
        Stage(
            "several layers: the last one",
            1,
            "context.maps has the weights of every attention; take those of the cross_attention of the last layer of "
            "the decoder. The source is read as it is, with <eos> or without.",
            [_aligned(4, 6, 3, 4, odd=True), _aligned(3, 4, 2, 7, last=5), _aligned(3, 72, 3, 11)],
            both(_draw_alignment(3, 7, 3), _draw_long(3)),
        ),
    ],
    [
        Mistake(
            "a row for each word read, not written",
            "The place that reads word i writes word i + 1. Feed <sos> and all words but the last: then row i belongs "
            "to the moment in which word i is written.",
            lambda model, source, words: _maps(model, source, words)[-1].mean(dim=0),
        ),
        Mistake(
            "one row too many",
            "After the last word the model writes <eos>, which is not asked for. Leave the last word out of what is "
            "fed.",
            lambda model, source, words: _maps(model, source, [SOS, *words])[-1].mean(dim=0),
        ),
        Mistake(
            "one row too many, the first is cut",
            "This leaves the rows of the next words: the row of <sos> is the one that writes the first word.",
            lambda model, source, words: _maps(model, source, [SOS, *words])[-1].mean(dim=0)[1:],
        ),
        Mistake(
            "self-attention in place of cross-attention",
            "This map has the written words on both axes. Take layer.cross_attention.",
            lambda model, source, words: _maps(model, source, [SOS, *words[:-1]], "attention")[-1].mean(dim=0),
        ),
        Mistake(
            "the first layer",
            "The last layer's map is asked for: model.decoder.layers[-1].",
            lambda model, source, words: _maps(model, source, [SOS, *words[:-1]])[0].mean(dim=0),
        ),
        Mistake(
            "the mean over the layers too",
            "Only the last layer is asked for.",
            lambda model, source, words: _maps(model, source, [SOS, *words[:-1]]).mean(dim=(0, 1)),
        ),
        Mistake(
            "one head only",
            "Each head looks somewhere else; take the mean over all of them.",
            lambda model, source, words: _maps(model, source, [SOS, *words[:-1]])[-1, 0],
        ),
        Mistake(
            "the heads are summed",
            "A row sums to the number of heads. Take the mean.",
            lambda model, source, words: _maps(model, source, [SOS, *words[:-1]])[-1].sum(dim=0),
        ),
        Mistake(
            "rows and columns are exchanged",
            "Rows are the words that look, those written; columns are the tokens looked at, those of the source.",
            lambda model, source, words: alignment(model, source, words).T,
        ),
        Mistake(
            "the heads are still there",
            "Take the mean over the heads, and the only sentence of the batch.",
            lambda model, source, words: _maps(model, source, [SOS, *words[:-1]])[-1],
        ),
    ],
    large=[_aligned(90, 80, 1, 8)],
    hints=(
        "The decoder has read `<sos>` *nous trouvons*: three places, three rows. Which word does it write at the "
        "place of `<sos>`, and which at the place of *nous*? So for a translation of $n$ words, what must the "
        "decoder read so that it has exactly $n$ places, and place $i$ is the one that writes word $i$?",
        "Let the words be 12, 7, 9. The place that reads `<sos>` writes 12, the one that reads 12 writes 7, the "
        "one that reads 7 writes 9; a place that reads 9 would write `<eos>`, and nobody asks for that. So three "
        "tokens are read, and the last word is not among them. The rows come with a head each: if two heads have "
        "the rows $(0.2,\\ 0.8)$ and $(0.6,\\ 0.4)$, the mean is $(0.4,\\ 0.6)$, which still sums to 1; a sum over "
        "the heads would not. (`decoder_io` made the same shift.)",
        "Encode one sentence as a batch of one, and switch the notes on:\n"
        "```python\n"
        "context = model.encode(torch.tensor([source]), torch.tensor([len(source)]))\n"
        "context.maps = {}\n"
        "```\n\n"
        "1. What the decoder reads, $n$ tokens in a batch of one, `(1, n)`: `# ...`\n"
        "2. `model.decode` of this with the context; its logits are not needed, the notes are in `context.maps` "
        "afterwards.\n"
        "3. The map of the last layer's `cross_attention`, which is itself the key of its entry: `(1, h, n, m)`.\n"
        "4. Of the only sentence, the mean over the heads: which axis is it? `(n, m)`.\n\n"
        "Each row must sum to 1.",
    ),
)
