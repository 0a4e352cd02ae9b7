# ---
# jupyter:
#   course:
#     teaches: an encoder-decoder that translates, and what its BLEU is worth
#     part: translation
#     column: 3
#     row: 1
#     builds_on: ["03"]
#     running: 2
#     questions:
#       - How does it translate?
#       - What does the decoder read in training, and what when it writes?
#       - When does a beam find a better sentence than the greedy way?
#       - What does BLEU measure, and what not?
#   jupytext:
#     notebook_metadata_filter: course
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 11 · Translation
#
# The Transformer was made for this: read a sentence in one language, write it in another. You put encoder and decoder together, train them on 9,000 pairs
# of sentences, and let them write: greedily, and with a beam. Then you write the measure by which translations are judged, BLEU, and find out what a high value says and what it hides.
#
# **When you are done, you can**
# - train an encoder-decoder with teacher forcing, and say who reads what;
# - write word by word without doing the same work again at every step;
# - compute BLEU exactly as the tools of the field do, and name ways to get a value that looks better than the model is;
# - search with a beam, and see in the cross-attention where each word came from.
#
# **Time**: about 3 h 30 min. **Before this**: notebooks 01 (masks), 03 (encoder and decoder layers) and 04 (input and target of a language model).
#
# | exercise | what it asks | points |
# |---|---|---|
# | `decoder_io` | what the decoder reads, what it must say | 2 |
# | `Seq2Seq` | encoder, decoder, head: put together | 4 |
# | `greedy_decode` | write a batch word by word | 3 |
# | `corpus_bleu` | the measure, equal to sacrebleu | 4 |
# | `pairs_to_score` | on which sentences to measure | 1 |
# | `beam_decode` | search for a better sentence | 4 |
# | `alignment` | which word was written while looking where | 3 |
# | *essay* `translation_essay` | what a BLEU says and what it does not | 3 |
# | **total** | | **24** |

# %% setup
import copy
import math
from collections import Counter

import pandas as pd
import torch
from torch import Tensor, nn

from helpers import plots
from tutor import by_hand, check, guess, hint, resume, reveal
from helpers.batches import IGNORE, Batches, for_translation
from helpers.corpora import Split, load
from helpers.models import Context, EncoderDecoder, TransformerBase
from helpers.training import schedule, train
from helpers.vocabulary import EOS, PAD, SOS, Vocabulary

# %% [markdown]
# ## 1. Two languages
#
# | English | French | what is not word for word |
# |---|---|---|
# | We find the old queen. | Nous trouvons la vieille reine. | *the* becomes *la*, because *reine* is feminine: the article depends on a word that comes later |
# | We have four curious men. | Nous avons quatre hommes curieux. | most adjectives stand *after* their noun |
# | The young man does not buy them. | Le jeune homme ne les achète pas. | *does* has no word of its own, *not* becomes two words, *them* moves before the verb |
#
# To write the French sentence from left to right, one must look back and forth in the English one. No table "third word to third word" will do.
#
# The course brings 10,000 such pairs, invented ones with regular grammar. (For real captions of pictures change one name in the next cell: `load("multi30k_en_fr")`. Every cell then runs as it is, but
# the training of section 4 takes five to ten minutes on a CPU and the translations stay poor. `benchmarks/real_translation.py` does the full run, in 40 minutes on one core: a BLEU of 56 on captions that it has never seen, see `docs/results.md`.)

# %% experiment open=true
corpus = load("translation_en_fr")
english = Vocabulary.learn(corpus.train["en"])
french = Vocabulary.learn(corpus.train["fr"])

print(f"{len(corpus.train):,} pairs to learn from, {len(corpus.valid)} to choose with, "
      f"{len(corpus.test)} to test with")
print(f"{len(english)} English words, {len(french)} French ones (with <pad> <sos> <eos> <oov>)")
for row in corpus.train.rows.sample(4, random_state=5).itertuples():
    print(f"  {row.en:52} {row.fr}")

# %% [markdown]
# ## 2. Exercise: what the decoder reads
#
# The decoder is a language model of French that may also look at the English sentence. While it learns, it reads the **right** words so far, even where it would have written others itself: **teacher forcing**. So one pass through the model trains as many predictions as there are words, and none of them sees its answer, because the causal mask hides what comes later. In the picture below only the *memory*, the hidden states of the encoder, leads from the English side to the French one.
#
# | position | 0 | 1 | 2 | 3 |
# |---|---|---|---|---|
# | it **reads** up to | `<sos>` | nous | trouvons | la |
# | it must **say** | nous | trouvons | la | vieille |

# %% experiment
# @title Encoder, memory, decoder: in training the decoder reads the right words so far
from helpers.diagrams import Diagram

picture = Diagram(4.2, 3.3)
picture.column(0.85, 0.5, [
    ("source", "we find the queen", "data"), ("encoder", "encoder", "attention"),
    ("memory", "memory (b, m, d)", "data"),
], step=0.78, width=1.45)
picture.column(3.05, 0.5, [
    ("target", "<sos> nous trouvons la", "data"), ("decoder", "decoder", "attention"),
    ("logits", "logits (b, n, V)", "data"), ("loss", "loss: nous trouvons la ...", "loss"),
], step=0.78, width=1.85)
picture.arrow("memory", "decoder")
picture.note((2.07, 1.55), "cross-\nattention", ha="right", fontsize=8)
picture.note((3.05, 0.16), "in training: the right words so far", ha="center")
picture.show(
    "Two columns. The encoder makes the memory of the English sentence. The decoder reads the right "
    "French words so far, from <sos> on, and by cross-attention the memory; the loss compares its "
    "logits with the same words, one position further on."
)

# %% [markdown]
# Notebook 04 did this for one sentence. What is new is the batch: sentences have different lengths and the rows of a tensor have not.
#
# > **The mistake first.** Fill the short rows with `<pad>`, in input and output alike, and train. The loss falls beautifully. How much of it is about French? In which share of the positions, from 0 to 1, would the right answer be `<pad>`? Write a number in place of the dots, or leave them and go on.

# %% guess
guess("the share of answers that are padding", ...)

# %% experiment
# @title How many of the answers are padding, in 64 batches
lengths = torch.tensor([len(french.encode(text)) + 1 for text in corpus.train["fr"][:2048]])  # with <eos>
batches_of_32 = lengths.view(-1, 32)  # (64, 32): 64 batches in the order of the corpus
positions = batches_of_32.amax(dim=1).sum() * 32

print(f"positions in the outputs of 64 batches: {int(positions):,}")
print(f"of these the answer is <pad> in {1 - lengths.sum() / positions:.0%}")

# %% reveal
reveal("the share of answers that are padding", 1 - lengths.sum() / positions)

# %% [markdown]
# In nearly a third of the positions the question would be "what comes after the end?", and the answer is always the same. A loss must skip these positions. In torch a target of $-100$ is skipped by
# `cross_entropy`; the course calls this number `IGNORE`. In the *input* there must be real token numbers everywhere: fill it with `PAD`.

# %% exercise="decoder_io"
def decoder_io(target: list[list[int]]) -> tuple[Tensor, Tensor]:
    """Returns what the decoder reads and what it must say, for a batch of sentences.

    Args:
        target: b sentences, each a list of one or more word numbers, without special tokens.

    Returns:
        Two tensors of whole numbers, `(b, n + 1)`, where n is the length of the longest sentence.
        Input: `<sos>` and the words, then PAD. Output: the words and `<eos>`, then IGNORE.

    Example: decoder_io([[7, 9], [5]]) is [[SOS, 7, 9], [SOS, 5, PAD]] and [[7, 9, EOS], [5, EOS, IGNORE]].
    """
    ### BEGIN SOLUTION
    n = max(len(words) for words in target)
    read, say = [], []
    for words in target:
        missing = n - len(words)
        read.append([SOS, *words] + [PAD] * missing)
        say.append([*words, EOS] + [IGNORE] * missing)
    return torch.tensor(read), torch.tensor(say)  # (b, n + 1) each
    ### END SOLUTION


# %% experiment
# @title Two sentences of a batch: what the decoder reads and what it must say
sentences = ["Nous trouvons la vieille reine.", "Qui mange ?"]
read, say = decoder_io([french.encode(text) for text in sentences])
rows = {}
for k in range(2):
    rows[f"sentence {k + 1} reads"] = [french.tokens[number] for number in read[k]]
    rows[f"sentence {k + 1} must say"] = [
        "(skipped)" if number == IGNORE else french.tokens[number] for number in say[k]
    ]
pd.DataFrame(rows, index=[f"position {i}" for i in range(read.shape[1])]).T

# %% [markdown]
# ## 3. Exercise: encoder, decoder, head
#
# Three parts, all known from notebook 03:
#
# | part | reads | gives | who sees whom |
# |---|---|---|---|
# | **encoder** | source `(b, m)` | memory `(b, m, d)` | every word sees all words |
# | **decoder** | target so far `(b, n)`, and the memory | hidden states `(b, n, d)` | each position sees itself and what came before, and all of the memory |
# | **head** | hidden states | logits `(b, n, V)` | each position for itself |
#
# The encoder and the decoder are a `TransformerBase` each (`helpers/models.py`); the one with `cross=True` has cross-attention in its layers. What the decoder gets from the encoder travels in a `Context`: the memory, and a mask
# which hides the positions of the memory that are only padding. A base is called as `base(tokens)`, as `base(tokens, lengths)` where padding stands at the end, and as
# `base(tokens, context=context)` where it has a memory to read. Here is the function that makes the mask out of lengths:

# %% setup
def hide_padding(lengths: Tensor, size: int) -> Tensor:
    """Returns the mask of a memory, `(b, 1, 1, size)`: 0 for real tokens, minus infinity for padding."""
    padded = torch.arange(size, device=lengths.device) >= lengths.unsqueeze(1)  # (b, size)
    mask = torch.zeros(padded.shape, device=lengths.device).masked_fill(padded, -torch.inf)
    return mask[:, None, None]  # (b, 1, 1, size): the same for all heads and all queries


# %% [markdown]
# > **The mistake first.** `TransformerBase` is causal unless you say otherwise. For a translator that means: the encoder's first word knows nothing of the others. Change the *last noun* of an English sentence, and see what moves in
# > the memory.

# %% experiment
# @title Another last noun: which words of the memory change?
sentence = torch.tensor([english.encode("We find the old queen .")])  # (1, m)
changed = sentence.clone()
changed[0, 4] = english.encode("man")[0]
for causal in (True, False):
    torch.manual_seed(0)
    encoder = TransformerBase(len(english), 32, 2, 4, dropout=0.0, causal=causal).eval()
    moved = (encoder(sentence) - encoder(changed)).abs().amax(dim=-1)[0] > 1e-5  # (m,)
    names = [english.tokens[number] for number, yes in zip(sentence[0], moved) if yes]
    print(f"causal={causal}: queen -> man changes the memory of", names)

# %% [markdown]
# With a causal encoder the memory of *the* is the same for a queen and a man, and for the French article (*la* or *le*) that matters. Encoders read both sides: `causal=False`. The decoder
# must stay causal; with `causal=False` it would read the answers in its own input (notebook 01).
#
# Write the class. Three methods: `encode` reads the source and returns a context; `decode` reads the target with a context and returns logits; `forward` does both, for training. The source does not change
# while the target is read, so **the encoder runs once for a batch**. The check counts its runs. (`norm_first=True` is pre-norm, notebook 03.)

# %% exercise="Seq2Seq"
class Seq2Seq(nn.Module):
    """A translator: self.encoder and self.decoder, a TransformerBase each, and self.head, an nn.Linear.

    Both bases have the same d_model, n_layers and n_heads, dropout=0.0 and norm_first=True; the rest as in
    TransformerBase, but for what an encoder and a decoder need.
    """

    def __init__(
        self, source_vocab_size: int, target_vocab_size: int, d_model: int, n_layers: int, n_heads: int
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        shape = {"d_model": d_model, "n_layers": n_layers, "n_heads": n_heads,
                 "dropout": 0.0, "norm_first": True}
        self.encoder = TransformerBase(source_vocab_size, causal=False, **shape)
        self.decoder = TransformerBase(target_vocab_size, causal=True, cross=True, **shape)
        self.head = nn.Linear(d_model, target_vocab_size)
        ### END SOLUTION

    def encode(self, source: Tensor, source_lengths: Tensor) -> Context:
        """Returns a Context with memory `(b, m, d)` and memory_mask, for source `(b, m)` and
        lengths `(b,)`; no cache. Padding is hidden from the encoder, and by the mask from the decoder:
        what is padding, the lengths alone say, whatever number stands there."""
        ### BEGIN SOLUTION
        memory = self.encoder(source, source_lengths)  # (b, m, d)
        return Context(memory=memory, memory_mask=hide_padding(source_lengths, source.size(1)))
        ### END SOLUTION

    def decode(self, target: Tensor, context: Context) -> Tensor:
        """Returns logits `(b, n, V)` of what follows each position of target `(b, n)`, read with this
        context, whatever was encoded since. Its cache and its maps, if it has them, are used."""
        ### BEGIN SOLUTION
        return self.head(self.decoder(target, context=context))
        ### END SOLUTION

    def forward(self, source: Tensor, source_lengths: Tensor, target: Tensor) -> Tensor:
        """Returns logits `(b, n, V)` for the right target `(b, n)` that the decoder reads: teacher
        forcing."""
        ### BEGIN SOLUTION
        return self.decode(target, self.encode(source, source_lengths))
        ### END SOLUTION


# %% [markdown]
# Your class has the parts of `helpers.models.EncoderDecoder`, under the same names, and the two must agree. (If yours is not right yet, open the folded cells from here on, and write `EncoderDecoder(..., dropout=0.0, norm_first=True)` in place of `Seq2Seq(...)`. It costs no marks.)
#
# Does one pass with the right words give the same as writing step by step? It must: at each position the causal mask leaves exactly what had been written by then.

# %% experiment
# @title One run against seven steps, and your class against the one in helpers
torch.manual_seed(0)
tiny = Seq2Seq(len(english), len(french), 32, 2, 4).eval()
source, source_lengths = torch.tensor([[*english.encode("We find the old queen."), EOS]]), torch.tensor([7])
read, _ = decoder_io([french.encode("Nous trouvons la vieille reine.")])  # (1, 7)

with torch.no_grad():
    context = tiny.encode(source, source_lengths)
    at_once = tiny.decode(read, context)  # (1, 7, V)
    steps = [tiny.decode(read[:, :n], context)[:, -1] for n in range(1, 8)]  # 7 times (1, V)
print("one run equals seven steps:", torch.allclose(at_once, torch.stack(steps, dim=1), atol=1e-5))

ready = EncoderDecoder(len(english), len(french), 32, 2, 4, dropout=0.0, norm_first=True).eval()
ready.load_state_dict(tiny.state_dict())
print("equal to the model in helpers:",
      torch.allclose(at_once, ready(source, read, source_lengths), atol=1e-5))

# %% [markdown]
# ## 4. Training
#
# Two layers of width 64, four epochs (passes over the pairs). After each pass we keep a copy of the weights, to measure later how well each of them translates.

# %% measured
# @title Four passes over the pairs: losses, perplexity and right words
def learn(model: nn.Module, pairs: Split, epochs: int, seed: int = 0, **options) -> pd.DataFrame:
    """Trains a translator with a short warm-up and a linear decay; returns its history."""
    batches = Batches(pairs, for_translation(english, french), token_budget=1024, seed=seed)
    factor = schedule("linear", 50, epochs * len(batches))
    return train(model, batches, "translation", epochs=epochs, learning_rate=3e-3, factor=factor, seed=seed,
                 device=torch.device("cpu"), **options)


def new_translator() -> Seq2Seq:
    """Returns a translator before its training, the same each time."""
    torch.manual_seed(0)
    return Seq2Seq(len(english), len(french), 64, 2, 4)


translator, snapshots = new_translator(), []  # the weights after each pass


def keep_weights() -> dict[str, float]:
    """Keeps a copy of the translator's weights."""
    snapshots.append(copy.deepcopy(translator.state_dict()))
    return {}  # nothing for the history


history = learn(translator, corpus.train, epochs=4, after_epoch=keep_weights,
                valid=Batches(corpus.valid, for_translation(english, french)))
translator.eval()
for row in history.itertuples():
    print(f"epoch {row.epoch:.0f}, step {row.step:3.0f}, loss {row.loss:.3f}; "
          f"on the validation sentences: loss {row.valid_loss:.3f}, "
          f"perplexity {row.valid_perplexity:.2f}, right words {row.valid_accuracy:.1%}")

# %% [markdown]
# The loss falls, and at the end nearly every word is right, *given the right words before it*. That is not yet a translation. When the model writes alone, it reads its own words, and one wrong word changes all that
# follow. (That it was trained on right words only is called *exposure bias*.)
#
# ## 5. Exercise: generation
#
# Begin with `<sos>`. Compute the logits at the last position, take the word with the highest one, add it to what is read, and compute again, until the word is `<eos>`: **greedy** decoding. In a batch, sentences end at different steps.
# Those that have ended are simply carried along until the last one has; what comes after their first `<eos>` is cut.
#
# > **The mistake first.** The model can be called as one, `model(source, source_lengths, target)`: it encodes, then decodes. Handy, and in the loop it runs the encoder again for every word. Watch the counter:

# %% experiment open=true
runs = []
hook = tiny.encoder.register_forward_hook(lambda module, inputs, output: runs.append(1))
written = torch.tensor([[SOS]])
with torch.no_grad():
    for _ in range(12):
        logits = tiny.decode(written, tiny.encode(source, source_lengths))  # (1, n, V)
        written = torch.cat([written, logits[:, -1:].argmax(dim=-1)], dim=1)
hook.remove()
print("words written:", written.shape[1] - 1, "- runs of the encoder:", len(runs))

# %% exercise="greedy_decode"
@torch.no_grad()
def greedy_decode(
    model: nn.Module, source: Tensor, source_lengths: Tensor, max_len: int
) -> list[list[int]]:
    """Returns the words written for each source, as numbers: at most max_len, those before the
    first `<eos>`. All of them count, also `<pad>` and other special tokens that a model may write.

    Args:
        model: has `encode(source, source_lengths)` and `decode(target, context)`, as Seq2Seq.
        source: `(b, m)`, padded at the end, with any number. New tensors go to its device.
        source_lengths: number of real tokens of each source, `(b,)`.
        max_len: most words of a translation, also for a model that never says `<eos>`.
    """
    ### BEGIN SOLUTION
    context = model.encode(source, source_lengths)  # once: the source does not change
    written = torch.full((len(source), 1), SOS, device=source.device)  # (b, 1)
    ended = torch.zeros(len(source), dtype=torch.bool, device=source.device)  # (b,)
    while not ended.all() and written.size(1) <= max_len:
        logits = model.decode(written, context)[:, -1]  # (b, V), the newest position
        word = logits.argmax(dim=-1)  # (b,)
        written = torch.cat([written, word.unsqueeze(1)], dim=1)
        ended |= word == EOS
    sentences = written[:, 1:].tolist()  # without <sos>
    return [words[: words.index(EOS)] if EOS in words else words for words in sentences]
    ### END SOLUTION


# %% measured
# @title Three sentences translated word by word
def sources_of(texts: list[str]) -> tuple[Tensor, Tensor]:
    """Returns English texts as source `(b, m)` and lengths `(b,)`; each ends with <eos>."""
    numbers = [[*english.encode(text), EOS] for text in texts]
    lengths = torch.tensor([len(row) for row in numbers])
    width = int(lengths.max())
    return torch.tensor([row + [PAD] * (width - len(row)) for row in numbers]), lengths


def translate(model: nn.Module, texts: list[str], max_len: int = 20) -> list[list[str]]:
    """Returns the French words of each English text."""
    return [[french.tokens[number] for number in row]
            for row in greedy_decode(model, *sources_of(texts), max_len)]


for text in ["We find the old queen.", "We have four curious men.", "The young man does not buy them."]:
    print(f"{text:34} {' '.join(translate(translator, [text])[0])}")  # words as the model writes them

# %% [markdown]
# Compare with the table of section 1. (In our run the model writes *l' jeune homme*. French says *l'homme*, but *le jeune homme*. More such mistakes are in section 10.)
#
# ### Work that is done again and again
#
# Look at the loop once more: at step 5 the decoder reads `<sos>` and four words, at step 6 `<sos>` and five, and so on. Its layers compute keys and values of *nous* again at every step, and get the same result each time:
# the causal mask makes sure that *nous* does not know what was written later.
#
# So they can be **kept**. Then each step needs only the newest word: its query, key and value, and the kept keys and values of the words before. In
# the course's models this is switched on by `context.cache = {}`; it is called a *KV cache*, for keys and values.
#
# By hand: how many words does the decoder read in all, to write 20 words? With keeping, 20. And without?

# %% guess
guess("words that the decoder reads to write 20, without keeping", ...)

# %% experiment
# @title How many words the decoder reads, with and without kept keys and values
def words_read(n: int, keep: bool) -> tuple[list[int], Tensor]:
    """Returns how many words the decoder reads at each of n steps, counted, and what is written
    `(1, n + 1)`."""
    sizes = []
    hook = tiny.decoder.embedding.register_forward_hook(
        lambda module, inputs, output: sizes.append(inputs[0].numel())
    )
    with torch.no_grad():
        context = tiny.encode(source, source_lengths)
        context.cache = {} if keep else None
        written = torch.tensor([[SOS]])
        for _ in range(n):
            new = written[:, -1:] if keep else written  # (1, 1) or all so far
            written = torch.cat([written, tiny.decode(new, context)[:, -1:].argmax(dim=-1)], dim=1)
    hook.remove()
    return sizes, written


(again, first), (kept, second) = words_read(20, keep=False), words_read(20, keep=True)
print("words read in all, without and with the cache:", sum(again), "and", sum(kept))
print("the same words written:", torch.equal(first, second))

# %% reveal
reveal("words that the decoder reads to write 20, without keeping", sum(again))

# %% [markdown]
# To write $n$ words, it reads $1 + 2 + \dots + n = n(n+1)/2$ without keeping, and $n$ with it: 210 against 20.
#
# Move the slider with the mouse or with the arrow keys: it sets how many words are written. The two areas count all the words that the decoder's layers read.

# %% interactive
# @title The decoder's work for one number of words: move the slider
from ipywidgets import IntSlider, interact


def show_work(n: int) -> None:
    """Draws how many words the decoder reads at each of n steps, without and with kept keys and values."""
    steps = range(1, n + 1)
    lines = {"everything again": list(steps), "keys and values kept": [1] * n}
    axes = plots.curves(lines, steps, title=f"{n} words: {n * (n + 1) // 2} words read, or {n}",
                        x_label="step", y_label="words that the decoder reads")
    for colour, values in zip(plots.COLOURS, lines.values()):
        axes.fill_between(steps, 0, values, color=colour, alpha=0.15, linewidth=0)
    axes.set(ylim=(0, n + 1))
    axes.locator_params(integer=True)
    plots.show(axes.figure, plots.describe_curves(lines, steps, "step")
               + f" In all {n * (n + 1) // 2} against {n}.")


interact(show_work, n=IntSlider(value=20, min=2, max=60, description="words", continuous_update=False));

# %% experiment
# @title The same picture for those who only read: 20 words
show_work(20)

# %% measured
# @title Processor time for 20, 80 and 320 words, with and without the cache
from time import process_time


def milliseconds(n: int, keep: bool) -> float:
    """Returns the processor time of writing n words, the better of two."""
    times = []
    for _ in range(2):
        start = process_time()
        words_read(n, keep)
        times.append(1000 * (process_time() - start))
    return min(times)


for n in (20, 80, 320):
    plain, cached = milliseconds(n, False), milliseconds(n, True)
    print(f"{n:3} words: {plain:6.0f} ms again and again, {cached:5.0f} ms kept, "
          f"{plain / cached:.1f} times as fast")

# %% [markdown]
# For short sentences it hardly matters here: the tiny model spends its time on other things. For long ones it decides whether a model can be used at all, and every chat program does it. The price is memory: for each word a key and a value of width $d$ each, in every layer. (A classic bug: with the cache switched on, feed *all* words again. Then the old ones stand in it twice.)

# %% [markdown] pause
# You have a translator that writes by itself. What comes next is how to judge it: BLEU, the pairs on which it may be measured, and the search for a better sentence. The translator itself is not kept: the cell below trains it again, in half a minute.

# %% [markdown]
# ## 6. Exercise: BLEU
#
# How good are 500 translations? There are many right ways to translate a sentence, so counting sentences that are equal says little. **BLEU** ([Papineni et al. 2002](https://aclanthology.org/P02-1040/)) counts pieces of one to four words,
# called **n-grams**, and measures which share of them is right, that is, also stands in the *reference*, the translation that was wanted. This share is the *precision*.
#
# ### By hand
#
# - reference (7 words): *le chat noir dort sur le lit* (the black cat sleeps on the bed)
# - translation (6 words): *le chat dort sur le lit*
#
# $$ \text{BLEU} = 100 \cdot \min\big(1,\; e^{1 - r/c}\big) \cdot \big(p_1\, p_2\, p_3\, p_4\big)^{1/4} $$
#
# with the precisions $p_n$ of its n-grams, $c$ words written and $r$ words in the references. The second factor is a *geometric mean*: it is 0 as soon as one precision is.
#
# Write down the n-grams of the translation, count those that also stand in the reference, and compute its BLEU. You need $e^{-1/6} \approx 0.846$ and a calculator for the fourth root.

# %% by_hand
by_hand("corpus_bleu", ...)

# %% [markdown]
# | n | n-grams of the translation (wrong ones in italics) | right | precision |
# |---|---|---|---|
# | 1 | le, chat, dort, sur, le, lit | 6 of 6 | $p_1 = 1$ |
# | 2 | le chat, *chat dort*, dort sur, sur le, le lit | 4 of 5 | $p_2 = 4/5$ |
# | 3 | *le chat dort*, *chat dort sur*, dort sur le, sur le lit | 2 of 4 | $p_3 = 1/2$ |
# | 4 | *le chat dort sur*, *chat dort sur le*, dort sur le lit | 1 of 3 | $p_4 = 1/3$ |
#
# So $e^{1 - 7/6} \approx 0.846$ and $(\tfrac45 \cdot \tfrac12 \cdot \tfrac13)^{1/4} \approx 0.604$: BLEU is about 51. One word is missing, every word that was written is right, and half of
# the points are gone. BLEU is strict.
#
# Three rules, each against a trick:
#
# | rule | against |
# |---|---|
# | **clipping**: an n-gram is right at most as often as the reference has it | *le le le le*, where every word "is right" |
# | **brevity penalty** $e^{1-r/c}$ where $c < r$ | writing only the two words that one is sure of |
# | **counts are summed over the corpus**, and divided once at the end | an average over sentences, in which one short sentence without a right 4-gram counts 0, whatever else is right in it |
#
# And a fourth, against a common mistake: the special tokens `<sos>`, `<eos>` and `<pad>` are no words. See what happens to a poor translation when they are left in:

# %% experiment
# @title A poor translation, scored without special tokens and with them
def share_of_right_words(hypothesis: list[str], reference: list[str]) -> float:
    """Returns the clipped precision of single words."""
    return sum((Counter(hypothesis) & Counter(reference)).values()) / len(hypothesis)


poor, wanted = ["un", "chien", "mange", "."], ["le", "chat", "dort", "."]
print(f"without special tokens: {share_of_right_words(poor, wanted):.0%} of the words are right")
framed = [["<sos>", *words, "<eos>", "<pad>", "<pad>"] for words in (poor, wanted)]
print(f"with special tokens:    {share_of_right_words(*framed):.0%}")

# %% [markdown]
# `Counter` is the tool for this exercise: it counts, and `first & second` keeps of each n-gram the smaller of the two counts. (Some programs add a little to the counts, so that no precision is 0. This is called *smoothing*; ours does not.)

# %% exercise="corpus_bleu"
def corpus_bleu(hypotheses: list[list[str]], references: list[list[str]]) -> float:
    """Returns the BLEU of translations, from 0 to 100, with n = 1 to 4 and one reference for each
    (Papineni et al. 2002).

    Args:
        hypotheses: what was written, a list of words for each sentence.
        references: what was wanted, as many lists.

    The tokens `<pad>`, `<sos>` and `<eos>` are taken out first, wherever they stand, in hypotheses and
    references; lengths and n-grams are those of what is left. `<oov>` counts as a word, and capital
    letters make another word.
    No smoothing: when one of the four precisions is 0, or there is nothing to count, BLEU is 0.0.
    """
    ### BEGIN SOLUTION
    special = {"<pad>", "<sos>", "<eos>"}
    right, total, written, wanted = [0] * 4, [0] * 4, 0, 0
    for hypothesis, reference in zip(hypotheses, references):
        hypothesis = [word for word in hypothesis if word not in special]
        reference = [word for word in reference if word not in special]
        written, wanted = written + len(hypothesis), wanted + len(reference)
        for n in range(1, 5):
            found, there = (Counter(zip(*(words[i:] for i in range(n))))
                            for words in (hypothesis, reference))
            right[n - 1] += sum((found & there).values())  # clipped: the smaller of the two counts
            total[n - 1] += sum(found.values())
    if not all(right):
        return 0.0
    mean_log = sum(math.log(r / t) for r, t in zip(right, total)) / 4
    return 100 * math.exp(min(0.0, 1 - wanted / written) + mean_log)
    ### END SOLUTION


# %% experiment
# @title BLEU of five translations of one sentence
cat = [["le", "chat", "noir", "dort", "sur", "le", "lit"]]
for text in ["le chat dort sur le lit", "le chat noir dort sur le lit", "le chat noir",
             "le le le le le le le", "lit le sur dort noir chat le"]:
    print(f"{corpus_bleu([text.split()], cat):5.1f}  {text}")

# %% [markdown]
# The third line is a perfect beginning, and too short to have a 4-gram. The fourth has no right pair of words, and the last has all the right words in the wrong order. On one sentence BLEU is a rough tool; it was made for whole corpora.
#
# Other people's BLEU can be compared with yours only if all details are the same: which words (`l'homme`, one or two?), capital letters, smoothing. [Post (2018)](https://aclanthology.org/W18-6319/) found differences of up to 1.8 points between settings in common
# use, and wrote [sacrebleu](https://github.com/mjpost/sacrebleu), since then the usual tool. Your function and sacrebleu, on the same words and without smoothing, give the same value: the tests of this course compare them
# on hundreds of random cases.
#
# ### A learning curve
#
# Now the question of section 4: how well did the model translate after each pass? After the first one it had 82 % of the words right, given the right words before them. What was its BLEU, from 0 to 100, on the 500 validation sentences, writing alone?

# %% guess
guess("BLEU after the first pass", ...)

# %% measured
# @title BLEU and right words after each pass
def bleu_on(model: nn.Module, pairs: list[tuple[str, str]]) -> float:
    """Returns the BLEU of a model's greedy translations of (English, French) pairs."""
    model.eval()
    return corpus_bleu(translate(model, [en for en, _ in pairs]), [french.split(fr) for _, fr in pairs])


def pairs_of(split: Split) -> list[tuple[str, str]]:
    """Returns the (English, French) pairs of a part of the corpus."""
    return list(zip(split["en"], split["fr"]))


reader = copy.deepcopy(translator)
bleus = []
for weights in snapshots:
    reader.load_state_dict(weights)
    bleus.append(bleu_on(reader, pairs_of(corpus.valid)))
accuracies = [100 * value for value in history["valid_accuracy"]]
lines = {"BLEU, writing alone": bleus, "right words, with teacher forcing (%)": accuracies}
axes = plots.curves(lines, range(1, 5), title="Learning to translate",
                    x_label="passes over 9,000 pairs", y_label="BLEU, or per cent")
axes.set(xticks=range(1, 5), ylim=(0, 103))
plots.show(axes.figure, plots.describe_curves(lines, range(1, 5), "pass", digits=2))
print("BLEU after each pass:", ", ".join(f"{bleu:.1f}" for bleu in bleus))

# %% reveal
reveal("BLEU after the first pass", bleus[0])

# %% [markdown]
# After the first pass most of the words are right under teacher forcing, and BLEU is far lower: a 4-gram needs four right words in a row, and a model that writes alone must live with its mistakes. Then the two meet. A BLEU of 97.5 (in our run)
# is possible only because this French is so regular, with few words and short sentences. For comparison: the Transformer of Vaswani et al. (2017, table 2), trained on 36 million pairs of sentences, had a BLEU of 41.8 on English-French news.
#
# ### Long sentences and short ones
#
# One BLEU for a corpus does not say *where* it was earned.
#
# Suppose that of two models one has the lower loss and the other the higher BLEU, and somebody says that the latter likely handles longer sentences better. (So does a report in notebook 12.) BLEU alone cannot say that. But it can be measured: the validation sentences in three thirds, by their length.

# %% measured
# @title BLEU of short, middle and long sentences, after passes 1, 2 and 4
ordered = sorted(pairs_of(corpus.valid), key=lambda pair: len(english.split(pair[0])))
third = len(ordered) // 3
thirds = [ordered[:third], ordered[third:-third], ordered[-third:]]
rows = {}
for number in (1, 2, 4):
    reader.load_state_dict(snapshots[number - 1])
    rows[f"after pass {number}"] = [f"{bleu_on(reader, pairs):.1f}" for pairs in thirds]
ends = [[len(english.split(pairs[index][0])) for index in (0, -1)] for pairs in thirds]
columns = [f"{low} to {high} words" for low, high in ends]
pd.DataFrame.from_dict(rows, orient="index", columns=columns)

# %% [markdown]
# Compare the columns: are long sentences harder for this model, early on and in the end? Then the rows: in which third is the gain from one pass to the next the largest? (In our run the longest third is lowest each time, and from pass 2 to pass 4 it gains most, from 87.7 to 96.9.) This is how such a claim is tested.
#
# (And remember that BLEU adds up the n-grams of all sentences before it divides: a sentence of twenty words counts twice as much as one of ten, and for 4-grams more than that, 17 against 7.)
#
# ## 7. Exercise: on which pairs?
#
# A model that has few pairs learns them by heart. Scored on sentences that it has read, it shows only its memory. That sounds too obvious to happen, and it does happen, because real corpora have copies: the same
# caption or the same headline in both parts. The model has read the *English*, so a test sentence is known when its English is in the training part, whatever its French.

# %% exercise="pairs_to_score"
def pairs_to_score(corpus: dict[str, list[tuple[str, str]]]) -> list[tuple[str, str]]:
    """Returns the (English, French) pairs on which a translator's final BLEU is to be computed, in
    their order.

    Args:
        corpus: three lists of pairs, "train" (to learn from), "valid" (to choose settings) and "test" (for
            the result). Some pairs of "test" may have an English sentence that is also in "train": they
            do not count.
    """
    ### BEGIN SOLUTION
    known = {english_text for english_text, _ in corpus["train"]}
    return [pair for pair in corpus["test"] if pair[0] not in known]
    ### END SOLUTION


# %% [markdown]
# Here is the size of the error. Smaller models (one layer) learn from 500, 1,000 and 4,000 of the pairs, each for about as many steps. Then BLEU is taken twice: on 300 of the pairs from which they have learned, and on sentences that they have never seen. What do you expect of the two curves? Write the BLEU of the model with 500 pairs on new sentences.

# %% guess
guess("BLEU on new sentences, learned from 500 pairs", ...)

# %% measured
# @title Three models from 500, 1,000 and 4,000 pairs, scored in two ways
parts = {name: pairs_of(corpus[name]) for name in ("train", "valid", "test")}
unseen = pairs_to_score(parts)[:300]
sizes, on_unseen, on_known = [500, 1000, 4000], [], []
for size in sizes:
    some = corpus.train.rows.sample(size, random_state=0).reset_index(drop=True)
    torch.manual_seed(0)
    model = Seq2Seq(len(english), len(french), 64, 1, 2)
    few = Split(f"translation_en_fr/{size}", "train", some)
    learn(model, few, epochs=16_000 // size)
    on_unseen.append(bleu_on(model, unseen))
    on_known.append(bleu_on(model, pairs_of(few)[:300]))
    print(f"{size:5,} pairs: unseen {on_unseen[-1]:.0f}, learned from {on_known[-1]:.0f}")

# %% measured
# @title BLEU on sentences learned from and on sentences never seen
lines = {"sentences they have learned from": on_known, "sentences they have never seen": on_unseen}
axes = plots.curves(lines, sizes, title="The same models, scored in two ways",
                    x_label="pairs to learn from", y_label="BLEU", log_x=True)
axes.set(ylim=(0, 103), xticks=sizes, xticklabels=[f"{size:,}" for size in sizes])
plots.show(axes.figure, plots.describe_curves(lines, sizes, "pairs", digits=2))
final = pairs_to_score(parts)
print(f"the translator of section 4 on {len(final)} unseen pairs: BLEU {bleu_on(translator, final):.1f}")

# %% reveal
reveal("BLEU on new sentences, learned from 500 pairs", on_unseen[0])

# %% [markdown]
# With 500 pairs the model looks perfect on what it has learned from, and on new sentences it is useless. Scored that way, it looks *better* than the model with 4,000 pairs, which is much better. The training score does not merely flatter: it puts the models into the wrong
# order. (It is one run for each size: read the order of the models, not the single values.)
#
# The line below the figure is the score that counts for the finished translator of section 4: a BLEU of 96.8 in our run.
#
# ## 8. Exercise: a beam
#
# Greedy decoding never takes anything back. Suppose that the model gives these probabilities for a sentence of two words (*un chat, un chien, un lit*: a cat, a dog, a bed; *le*: the; *des*: some):
#
# | first word | | second word | | together |
# |---|---|---|---|---|
# | un | 0.5 | chat / chien / lit | 0.4 / 0.3 / 0.3 | un chat: **0.20** |
# | le | 0.4 | chat / chien / lit | 0.9 / 0.1 / 0.0 | le chat: **0.36** |
# | des | 0.1 | chats / chiens / lits | 0.2 / 0.2 / 0.6 | des lits: 0.06 |
#
# Greedy takes *un* and can then get 0.20 at most. *Beam search* of width 2 keeps the two best beginnings, its *beams*: *un* and *le*. It looks at what can follow either, and finds *le chat*. (Probabilities are multiplied, so their logarithms are added.)
#
# 1. Start with one beam, `<sos>`, with sum 0.
# 2. Extend every beam by every word; add the log-probability of the word to the sum of the beam. Keep the `width` best of all these.
# 3. Those that end with `<eos>` are **finished**: they go to a list of their own and are not extended. The others are the beams of the next step. Stop when there are no beams left, or after `max_len` steps.
# 4. Compare what is finished, and the beams that `max_len` has cut: the **score** is the sum divided by the number of words written, `<eos>` included (**length normalisation**: without it, every further word makes a sentence worse, and the shortest wins).
#
# **The mistake first.** "A beam looks at more sentences than greedy decoding, so what it finds is at least as good." Let the probabilities be others, and follow a search of width 2. Three beginnings of two words matter, and the beam has room for two of them. Read one row at a time:
#
# | words so far | probabilities | together | in a beam of 2? | what follows | in the end | score (rule 4) |
# |---|---|---|---|---|---|---|
# | un chat | $0.5 \cdot 0.4$ | 0.20 | **no**, third | *.* and `<eos>`, both certain | **0.20** | $\ln(0.20) / 4 \approx -0.40$ |
# | le chat | $0.46 \cdot 0.5$ | 0.23 | yes | one more word, at most 0.4, then *.* and `<eos>` | 0.092 | $\ln(0.092) / 5 \approx -0.48$ |
# | le chien | $0.46 \cdot 0.5$ | 0.23 | yes | the same | 0.092 | $-0.48$ |
#
# Greedy decoding takes *un* first and ends with the best sentence of the three; the beam has dropped it. It is rare, and the rule against it is simple:
#
# 5. Let the greedy sentence, which is what a beam of width 1 finds, take part in the last comparison.

# %% exercise="beam_decode"
@torch.no_grad()
def beam_decode(model: nn.Module, source: Tensor, width: int, max_len: int) -> tuple[list[int], float]:
    """Returns the words of the best translation found, without `<eos>`, and its score. Only `<eos>` ends
    a sentence; a beam may write every other token, also `<pad>`.

    Args:
        model: has `encode(source, source_lengths)` and `decode(target, context)`, as Seq2Seq.
        source: one sentence without padding, `(1, m)`; its length for `encode` is
            `torch.tensor([m], device=source.device)`. Other new tensors go to its device, too.
        width: number of beams, 1 or more. With 1 this is greedy decoding.
        max_len: most words written, `<eos>` included, 1 or more.

    The score is the mean of the log-probabilities (nats) of all words written, `<eos>` included.
    It is never below that of the greedy sentence.
    """
    ### BEGIN SOLUTION
    context = model.encode(source, torch.tensor([source.size(1)], device=source.device))
    beams, finished = [([SOS], 0.0)], []  # tokens, and the sum of their log-probabilities
    for _ in range(max_len):
        candidates = []
        for tokens, total in beams:
            read = torch.tensor([tokens], device=source.device)  # (1, n)
            logs = model.decode(read, context)[0, -1].log_softmax(dim=-1)  # (V,)
            best = logs.topk(min(width, len(logs)))
            candidates += [([*tokens, word], total + log)
                           for log, word in zip(best.values.tolist(), best.indices.tolist())]
        candidates = sorted(candidates, key=lambda candidate: candidate[1], reverse=True)[:width]
        finished += [candidate for candidate in candidates if candidate[0][-1] == EOS]
        beams = [candidate for candidate in candidates if candidate[0][-1] != EOS]
        if not beams:
            break
    found = [([t for t in tokens[1:] if t != EOS], total / (len(tokens) - 1))
             for tokens, total in finished + beams]
    if width > 1:
        found.append(beam_decode(model, source, 1, max_len))
    return max(found, key=lambda pair: pair[1])
    ### END SOLUTION


# %% [markdown]
# Does it help? We take the model after its first pass, which still hesitates, and the finished one, and 60 validation sentences. Two things are compared: the score, which the beam is made to raise, and BLEU, which may follow. How many points of BLEU does a beam of 4 bring to the model after its first pass?

# %% guess
guess("points of BLEU that a beam of 4 brings after the first pass", ...)

# %% measured
# @title Mean score and BLEU with one beam and with four, after passes 1 and 4
def with_beam(model: nn.Module, width: int, count: int = 60) -> tuple[float, float]:
    """Returns the mean score and the BLEU of beam search on `count` validation sentences."""
    found = [beam_decode(model, sources_of([text])[0], width, 20) for text in corpus.valid["en"][:count]]
    written = [[french.tokens[number] for number in words] for words, _ in found]
    wanted = [french.split(text) for text in corpus.valid["fr"][:count]]
    return sum(score for _, score in found) / count, corpus_bleu(written, wanted)


rows = []
for passes in (1, 4):
    reader.load_state_dict(snapshots[passes - 1])
    for width in (1, 4):
        score, bleu = with_beam(reader, width)
        rows.append({"passes": passes, "width": width,
                     "mean score (nats)": round(score, 3), "BLEU": round(bleu, 1)})
table = pd.DataFrame(rows).pivot(index="passes", columns="width")
table

# %% reveal
reveal("points of BLEU that a beam of 4 brings after the first pass",
       table["BLEU"][4][1] - table["BLEU"][1][1])

# %% [markdown]
# The score of a beam is never below that of width 1: that is what your search guarantees. BLEU is another matter, since the score is the model's *opinion* of its sentence.
#
# Here, after the first pass, the model still hesitates between several words, the right one is often its second choice, and the
# beam brings points. After the last pass it is sure of itself and there is little to search for; a difference of a point on 60 sentences may be chance. On large corpora wide beams can even lower BLEU ([Koehn and Knowles 2017](https://aclanthology.org/W17-3204/), section 3.6). Vaswani et al. (2017) took a width of 4.

# %% [markdown] pause
# You can write with a beam, and measure what was written. What comes next is to look inside: where the model looks while it writes a word, and which mistakes it makes. The translator itself is not kept: the cell below trains it again, in half a minute.

# %% [markdown]
# ## 9. Exercise: where did the word come from?
#
# While the decoder writes a word, its cross-attention spreads a weight of 1 over the English words. Nothing in its training says which words belong together. Has it found out?
#
# `context.maps = {}`, set before `model.decode`, makes the attentions note their weights: afterwards `context.maps[attention]` has them, `(b, h, n, m)`, for each attention of the decoder. Those of the last layer are called
# `model.decoder.layers[-1].cross_attention`.
#
# > **The mistake first.** The decoder has read `<sos> nous trouvons`. To which word does the row of *trouvons* belong? Not to *trouvons*: at this position the model has already read it, and looks for what comes *next*. Name the rows by the words that are read, and
# > the whole map is off by one.

# %% exercise="alignment"
@torch.no_grad()
def alignment(model: nn.Module, source: list[int], words: list[int]) -> Tensor:
    """Returns where the model looks while it writes each word, `(n, m)`: a row for each of the n words.

    Args:
        model: has `encode(source, source_lengths)`, `decode(target, context)` and `decoder.layers`, as
            Seq2Seq.
        source: m token numbers of one English sentence.
        words: the n words of its translation, 1 or more, without `<sos>` and `<eos>`.

    Row i has the weights of the last layer's cross-attention at the position that *writes* word i,
    the mean over the heads.
    """
    ### BEGIN SOLUTION
    context = model.encode(torch.tensor([source]), torch.tensor([len(source)]))
    context.maps = {}
    read = torch.tensor([[SOS, *words[:-1]]])  # (1, n): at position i the model writes word i
    model.decode(read, context)
    attention = model.decoder.layers[-1].cross_attention
    return context.maps[attention][0].mean(dim=0)  # (h, n, m) to (n, m)
    ### END SOLUTION


# %% measured
# @title Where the model looks while it writes: two sentences
def draw_alignment(text: str, axes, model: nn.Module = translator) -> str:
    """Draws the alignment of a text and its greedy translation; returns what to say to those who
    cannot see it."""
    source = [*english.encode(text), EOS]
    words = greedy_decode(model, torch.tensor([source]), torch.tensor([len(source)]), 20)[0]
    words = words or [EOS]  # a model that has not learned yet may write nothing
    weights = alignment(model, source, words)  # (n, m)
    names = [english.tokens[number] for number in source], [french.tokens[number] for number in words]
    plots.matrix(weights, "", rows=names[1], columns=names[0],
                 row_label="word written", column_label="word looked at", axes=axes, limits=(0, 1))
    axes.set_title(text)
    looked = [f"{word} at {names[0][int(row.argmax())]}" for word, row in zip(names[1], weights)]
    return ", ".join(looked)


texts = ["We have four curious men.", "The young man does not buy them."]
figure, axes = plots.panels(2, width=4.4, height=3.8)
said = [draw_alignment(text, axis) for text, axis in zip(texts, axes)]
plots.show(figure, "Two maps of cross-attention. The largest weight of each row. Left: " + said[0]
           + ". Right: " + said[1] + ".")

# %% [markdown]
# Read the left map from top to bottom. A diagonal would mean word for word; where French exchanges noun and adjective, the two strongest squares exchange places as well: the model writes *hommes* while it looks at *men*, the last word before the full stop, and goes *back* to *curious*
# for the next one.
#
# On the right, *ne* and *pas* both come from *not*. (*les* looks at *not* as well, and hardly at *them*: not every row can be read.) All this was learned from pairs of sentences alone.
#
# Is it a habit, or one lucky sentence? We look for such exchanges in 120 translations: two words next to each other, which look most at two English words next to each other, in the opposite order.

# %% measured
# @title Neighbours that change places between English and French
exchanges = Counter()
for text in corpus.test["en"][:120]:
    source = [*english.encode(text), EOS]
    words = greedy_decode(translator, torch.tensor([source]), torch.tensor([len(source)]), 20)[0]
    if len(words) < 2:
        continue  # nothing to exchange
    positions = alignment(translator, source, words).argmax(dim=-1).tolist()  # (n,)
    for i in range(len(words) - 1):
        if positions[i + 1] == positions[i] - 1:
            pair = [english.tokens[source[k]] for k in (positions[i + 1], positions[i])]
            exchanges[" ".join(pair) + " -> "
                      + " ".join(french.tokens[word] for word in words[i : i + 2])] += 1

print(f"{sum(exchanges.values())} exchanges in 120 sentences, for example:")
for exchange in sorted(exchanges)[:: max(1, len(exchanges) // 10)]:
    print("  ", exchange)

# %% [markdown]
# In our run the list reads like a chapter of French grammar: the adjective behind its noun (*clean lamp*, *lampe propre*), the pronoun before its verb (*sell them*, *les vendent*), *pas* and the adverb behind theirs (*not open*, *ouvre pas*; *always lose*, *perdent toujours*). A few are noise.
#
# Two warnings. Weights say where the model *looked*, not why it wrote what it wrote: a word of the memory has already read the whole sentence, so the position of *men* knows of *four* and *curious*, too. And the last layer, averaged
# over its heads, is a choice: other layers and heads look elsewhere.

# %% [markdown]
# ## 10. From good to bad
#
# One BLEU for a corpus hides its sentences. Always read some. Here are translations of the model after its *second* pass; the finished one makes too few mistakes to learn from. They stand in the order of the model's own score, from the sentence that it is surest of to the one that it is least sure of.

# %% measured
# @title Translations of the second pass, from the surest to the least sure
reader = copy.deepcopy(translator)
reader.load_state_dict(snapshots[1])
judged = []
for text, wanted in parts["test"][:120]:
    words, score = beam_decode(reader, sources_of([text])[0], 1, 20)
    written = french.decode(words)
    judged.append({"English": text, "written": written,
                   "wanted": " ".join(french.split(wanted)).replace("' ", "'"), "score": round(score, 3)})
table = pd.DataFrame(judged).sort_values("score", ascending=False).reset_index(drop=True)
table["right"] = (table["written"] == table["wanted"]).map({True: "yes", False: "no"})
chosen = [0, 30, 60, *range(90, 118, 4), 118, 119]
pd.set_option("display.max_colwidth", None)  # whole sentences
table.loc[chosen]

# %% measured
# @title How many are right word by word, from the surest third to the least sure
thirds = (table["right"] == "yes").groupby(table.index // 40).mean()
for name, share in zip(("surest 40", "middle 40", "least sure 40"), thirds):
    print(f"{name:14} {share:.0%} are right word by word")

# %% [markdown]
# The model's own score is a good judge of its work: of the surest third nearly all are right (100 % in our run), of the middle third 90 %, of the last one half (50 %). (If a person is to check some of the translations, begin at the lower end. Notebook 10 did the same with answers to questions.)
#
# And the mistakes are not of one kind. Look for these in your table:
#
# - an elision that is missing (*ne achète* for *n'achète*);
# - a wrong gender (*vertes* for *verts*, green);
# - another word (*plus propre*, cleaner, for *meilleure*, better);
# - words that come from nowhere (*la dessinent*, draw her, for *mes enfants fatigués*, my tired children).
#
# To BLEU they are all alike, one or two wrong words. To a reader the first is a slip, while the last says something other than the English.
#
# ## 11. Essay
#
# In at most twelve lines, in English or in French: **Your model has a BLEU of 97 on this corpus. Somebody else's model has 41 on another one. Who has the better model? Say what BLEU measures and what it does not, what you would have to know to compare the two, and
# what you would look at besides.** Use at least two numbers or sentences of this notebook.

# %% [markdown] essay="translation_essay"
# **Rubric** (3 points in all)
#
# - *No comparison without the same test* (1): BLEU depends on the sentences (ours are invented, short and regular), on how words are cut, capital letters, smoothing, the number of references. Only the same test, cut the same way and scored by the same program, can be compared. "97 is
#   better than 41" earns nothing here.
# - *What it measures, and what not* (1): agreement of n-grams with *one* reference, strict on order through 4-grams; a right translation in other words scores low, one missing word costs half (the example: 51), a wrong one with a single fatal word (*ne ... pas* lost, a wrong gender) may score high. Any one good example.
# - *Whether the number is honest* (0.5): scored on sentences that the model has read (known against unseen in section 7, with a number), copies in the test part, settings chosen on the test part, special tokens kept, mean over sentences.
# - *What to look at besides* (0.5): sentences from good to bad; kinds of error (gender, pronouns, negation); the model's own score against right and wrong; the alignment; a person who speaks both languages.
#
# **Misconceptions that cost marks**: "BLEU 97 means that 97 % of the sentences (or words) are right"; "a beam always raises BLEU"; "the loss on the training pairs shows how well it translates"; "the attention map proves why a word was chosen" (it shows where the model looked). Whoever says that the question cannot be answered, and
# why, may earn full marks.
#
# **Answers as students write them**
#
# - *Full marks (3 of 3)*: "Nobody can say, since BLEU depends on its test: our sentences are invented, short and regular, the others' may be news,
#   and words, capitals and smoothing may be treated in another way. Only the same sentences, cut alike and scored by the same program, compare two
#   models. BLEU counts runs of one to four words that also stand in *one* reference. So *le chat dort sur le lit* gets 51 because one word is
#   missing, and *les vieilles chanteuses portent de haches* loses little though it is wrong. I would also ask whether the test was unread: with 500
#   pairs the same model had 99 on sentences that it had learned from and 24 on unseen ones. Besides the number I would read sentences from the surest
#   to the least sure and count kinds of error, such as the wrong gender in *ces couteaux sont très vertes*." Why: *same test* (1), *what it measures* (1),
#   *honest* (0.5), *besides* (0.5).
# - *Half (1.5 of 3)*: "The two numbers cannot be compared, because they come from different corpora: ours has short, regular sentences, and it also
#   depends on how the words are cut and on the program. To compare, both models must translate the same test. BLEU 97 means that 97 % of our words
#   are right, and 41 that the other model has more than half of its words wrong. To check this I would look at the loss on the training pairs, which
#   shows how well a model translates. I would also read some translations, because *la dessinent* for *my tired children* is worse than *couteaux vertes*." Why: *same test* (1) and *besides* (0.5). *What it measures* is the first misconception, and n-grams and the one reference are missing
#   (1 lost); whether the number is honest is replaced by the loss on training pairs, another misconception (0.5 lost).
# - *No marks (0 of 3)*: "Our model is better, since 97 is more than 41 and BLEU goes up to 100. It means that 97 % of our sentences are right. The
#   other group should use a beam, which always raises BLEU, and train for more passes. Besides BLEU I would look at the loss on the training pairs,
#   which shows how well a model translates." Why: "97 is better than 41" earns nothing by the first line. BLEU as a share of right sentences, the
#   beam that always helps and the training loss are misconceptions, and no line is left.

# %% [markdown] questions
# ## Three questions
#
# For yourself: open an answer to see whether it is right.
#
# 1. A model has a BLEU of 97 on its test sentences. What does that say?
#    - 97 % of its sentences are those of the reference. => One wrong word spoils a whole sentence, and costs a few n-grams among many.
#    - 97 % of its words are right, in whatever order. => Words in a wrong order count as right words, and bring the longer n-grams to nothing.
#    + Nearly all its n-grams are in the references. => And it says so of this test only: other sentences, or another way to cut words, give another value.
# 2. A beam of 4 finds sentences with a higher score than greedy decoding does. What follows for BLEU?
#    - It rises as well, since more sentences were looked at. => The score is the model's opinion. After the last pass score and BLEU hardly moved.
#    + Nothing certain: the score is the model's opinion. => It rose after the first pass, when the right word was often second; wide beams can lower it.
#    - It falls, since a beam prefers short sentences. => The sum is divided by the number of words, so that short sentences have no advantage.
# 3. In training nearly every word is right. Why may the same model translate badly?
#    + There it reads the right words so far, and here its own. => One wrong word changes all that follows; this is called exposure bias.
#    - The encoder runs once for a batch, and not for each word. => The source does not change while the target is written, so one run is enough.
#    - Without the answers the causal mask has nothing to hide. => The mask keeps the states of earlier words the same; that is no fault of the translation.

# %% [markdown]
# ## What to remember
#
# - Teacher forcing: the decoder reads the right words, shifted by one; padding is `PAD` where it is read and `IGNORE` where it would be scored.
# - The encoder reads both sides and runs **once for a batch**; the decoder is causal, and what it has computed for old words can be kept: $n$ words read in place of $n(n+1)/2$.
# - BLEU: clipped precisions of 1- to 4-grams, counts summed over the corpus, geometric mean, brevity penalty; no special tokens; on sentences that the model has not read.
# - A beam raises the model's own score. Whether BLEU follows is another question.
# - Row $i$ of an alignment belongs to the word that is *written* at position $i$, not to the one that is read there.
#
# **Go further.** Replace the encoder by a causal one, train again, and find in the table of section 10 which French words go wrong. In notebook 12 you choose the size of such a model: four
# settings, one sweep, and a published sentence about it that is not true.

# %% [markdown]
# ## What others call it
#
# - **sequence-to-sequence** (also *seq2seq*): a sequence in, another one out.
# - **teacher forcing**: the decoder reads the right words in training.
# - **exposure bias**: in generation it meets its own mistakes, which it never met in training.
# - **KV cache** (also *key-value cache*): keys and values of old tokens, kept.
# - **beam search**: keeping the best few beginnings; **length normalisation** divides their sums by their lengths.
# - **n-gram**: a run of $n$ words.
# - **reference, hypothesis**: the translation that was wanted, and the one that was written.
# - **word alignment**: which words of two sentences belong together.
#
# **The short route** of six notebooks ends here. What you have left out is in 02, 05, 08 to 10 and from 12 on; the head of each says which notebooks come before it.

# %% experiment open=true
from tutor import progress

progress()
