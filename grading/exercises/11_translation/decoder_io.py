"""Exercise decoder_io of notebook 11."""

from __future__ import annotations

import random

import torch
from torch import Tensor

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw, both
from helpers.data import EOS, IGNORE, PAD, SOS
from tutor.checking.answers import Ask

from ._common import Sentences


def _rows(lists: Sentences, fill: int) -> Tensor:
    width = max(map(len, lists))
    return torch.tensor([[*row, *[fill] * (width - len(row))] for row in lists])


def decoder_io(target: Sentences) -> tuple[Tensor, Tensor]:
    return _rows([[SOS, *words] for words in target], PAD), _rows([[*words, EOS] for words in target], IGNORE)


def _draw_targets(count: int, same: bool = False) -> Draw:
    def draw(rng: random.Random) -> list[Ask]:
        lengths = [rng.randint(2, 5)] * count if same else sorted(rng.sample(range(1, 9), count))
        if count > 2:  # neither the first nor the last is the longest
            *others, longest = lengths
            others = rng.sample(others, len(others))
            lengths = [others[0], longest, *others[1:]]
        target = [[rng.randrange(4, 500) for _ in range(length)] for length in lengths]
        return [Ask((target + target[:1] if same else target,))]  # a sentence may stand in a batch twice

    return draw


def _large_and_long(rng: random.Random) -> list[Ask]:
    """Draws a word with a large number, and a sentence that is much longer than the other."""
    short = [rng.randrange(40_000, 90_000)]
    return [Ask(([short, [rng.randrange(4, 9) for _ in range(rng.randint(20, 30))]],))]


EXERCISE = Exercise(
    decoder_io,
    [
        Stage(
            "one sentence",
            0.5,
            "The sentence [7, 9] is read as <sos> 7 9 and must be answered by 7 9 <eos>.",
            [Ask(([[7, 9]],))],
            _draw_targets(1),
            measure="whole numbers",
        ),
        Stage(
            "sentences of the same length",
            0.5,
            "One row for each sentence; under each word of the input stands the word that follows it.",
            [Ask(([[7, 9, 8], [5, 5, 6], [7, 9, 8]],))],
            _draw_targets(3, same=True),
        ),
        Stage(
            "sentences of different lengths",
            1,
            "A short row is filled at its end, the input with PAD, and the output with IGNORE, so that the loss skips "
            "it.",
            [Ask(([[7, 9, 8], [5]],)), Ask(([[6, 7], [8, 9, 4, 5], [4]],)), *_large_and_long(random.Random(1))],
            both(_draw_targets(4), _large_and_long),
            decisive=True,
        ),
    ],
    [
        Mistake(
            "the output is not shifted",
            "Under each word stands the same word: the decoder would learn to copy what it has just read.",
            lambda target: (
                _rows([[SOS, *words] for words in target], PAD),
                _rows([[SOS, *words] for words in target], IGNORE),
            ),
        ),
        Mistake(
            "the padding is scored",
            "Filled with PAD, the output asks the model to say <pad> after <eos>, and most of what it learns from "
            "short sentences is that. Fill the output with IGNORE.",
            lambda target: (
                _rows([[SOS, *words] for words in target], PAD),
                _rows([[*words, EOS] for words in target], PAD),
            ),
        ),
        Mistake(
            "the input is filled with IGNORE",
            "IGNORE is -100, which is no token: an embedding has no such row. Fill the input with PAD.",
            lambda target: (
                _rows([[SOS, *words] for words in target], IGNORE),
                _rows([[*words, EOS] for words in target], IGNORE),
            ),
        ),
        Mistake(
            "<eos> stands at the end of the padding",
            "<eos> comes right after the last word of its own sentence; what follows it is not scored.",
            lambda target: (
                _rows([[SOS, *words] for words in target], PAD),
                torch.cat([_rows(target, IGNORE), torch.full((len(target), 1), EOS)], dim=1),
            ),
        ),
        Mistake(
            "<eos> is lost",
            "The last word has no answer under it, so the model never learns when to stop.",
            lambda target: (
                _rows([[SOS, *words] for words in target], PAD),
                _rows([[*words, IGNORE] for words in target], IGNORE),
            ),
        ),
        Mistake(
            "<eos> is lost, and the last word is not read",
            "The model must read the last word, too: what follows it is <eos>.",
            lambda target: (_rows([[SOS, *words][:-1] for words in target], PAD), _rows(target, IGNORE)),
        ),
        Mistake(
            "<eos> is in the input too",
            "Nobody asks what follows <eos>: the input ends with the last word.",
            lambda target: (
                _rows([[SOS, *words, EOS] for words in target], PAD),
                _rows([[*words, EOS] for words in target], IGNORE),
            ),
        ),
        Mistake(
            "short sentences read <eos>",
            "With <eos> behind each sentence, cutting the last column takes it away from the longest sentence only. "
            "The "
            "input of a sentence ends with its last word, then comes PAD.",
            lambda target: (
                _rows([[SOS, *words, EOS] for words in target], PAD)[:, :-1],
                _rows([[*words, EOS] for words in target], IGNORE),
            ),
        ),
        Mistake(
            "input and output are exchanged",
            "The input begins with <sos>, the output ends with <eos>.",
            lambda target: (
                _rows([[*words, EOS] for words in target], IGNORE),
                _rows([[SOS, *words] for words in target], PAD),
            ),
        ),
    ],
    large=[Ask(([[7 * number % 490 + 4 for number in range(300)], [5, 6]],))],
    hints=(
        "Take one sentence with the word numbers 7 and 9. Write what the decoder reads in one line and, under each "
        "number, what it must say when it has read that far. How many places has each line, and where does `<eos>` "
        "stand? Then a second sentence, of one word, in the same batch: an embedding has no row $-100$, and a loss "
        "would take 0 for a word to be learned. So what fills the end of which line?",
        "Sentences of 3 words and of 1 word: `[[4, 6, 8], [5]]`. The longest has $n = 3$, so both tensors have 4 "
        "columns. Read: SOS 4 6 8, and SOS 5 PAD PAD. Say: 4 6 8 EOS, and 5 EOS IGNORE IGNORE. Below each other, "
        "in every column: what is said is what is read one place further on. EOS stands right behind the last word "
        "of *its own* sentence and not at the end of the row; and the input of the short sentence has no EOS at "
        "all. Lists make this easy: `[0] * 2` is `[0, 0]`, and `[1, *words]` puts a number in front.",
        "Lists first, tensors last:\n"
        "```python\n"
        "width = 1 + max(len(words) for words in target)\n"
        "for words in target:\n"
        "    missing = width - (len(words) + 1)  # places to fill, 0 for the longest\n"
        "    # ... one row that is read, one row that must be said, each with width numbers\n"
        "```\n"
        "Collect the rows in two lists of lists; `torch.tensor` of each is `(b, n + 1)`. Return the input first. "
        "If torch complains about lists of different lengths, print the lengths of your rows.",
    ),
)
