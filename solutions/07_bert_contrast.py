# ---
# jupyter:
#   course:
#     teaches: "reading both sides: BERT's training, and what it was not made for"
#     part: pretraining
#     column: 1
#     row: 3
#     builds_on: ["06"]
#     running: 2
#     questions:
#       - What do both sides add?
#       - Which words can a causal model never take into account, whatever its size?
#       - What can a masked model not do?
#   jupytext:
#     notebook_metadata_filter: course
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 07 · Both sides: the contrast with BERT
#
# The language models of notebooks 04 to 06 read from left to right. That is right for generation, and a strange way of reading: when you meet *they* in a sentence, you often learn only later who is meant.
#
# BERT drops the causal mask and lets
# every word look to both sides. But then the question "which word comes next?" is no longer honest (notebook 01), so another one is needed: hide a few words, and ask for those.
#
# In this notebook you
# build this training, prove what a causal state *cannot* know, and measure where reading both sides helps, where it does not, and what is lost.
#
# **When you are done, you can**
# - say which words a causal and a masked model see, and confirm it by measurement;
# - hide words the way BERT does, score exactly those, and say what each part of the rule is for;
# - fill a blank from both sides, and show what one side alone leaves open;
# - judge when a masked model is the right choice, what fine-tuning adds to it, and why it does not write.
#
# **Time**: about 3 h. **Before this**: notebook 01 (the causal mask), notebook 04 (language model and classifier) and, for section 8, notebook 06 (pretraining).
#
# | exercise | what it asks | points |
# |---|---|---|
# | `visible_positions` | who sees whom, in both models | 2 |
# | `same_state` | a measurement: has a state read what follows? | 3 |
# | `mask_tokens` | hide words: 15 %, and 80 / 10 / 10 | 5.5 |
# | `masked_lm_loss` | the loss at the hidden words only | 4 |
# | `fill_blank` | the best word for a blank, from both sides | 3.5 |
# | *essay* `limits_essay` | the limits of the causal objective, and BERT's answer | 3 |
# | *essay* `finetuning_essay` | what fine-tuning adds, what BERT cannot do | 2 |
# | **total** | | **23** |
#
# Folded cells are experiments: they train, measure and draw, and no mark depends on them.

# %% setup
import copy
import math
import sys
from dataclasses import replace

import pandas as pd
import torch
from torch import Tensor, nn
from tqdm import tqdm

from helpers import plots
from tutor import by_hand, check, guess, hint, resume, reveal
from helpers.batches import IGNORE, Batch, Batches, Example, for_classifier, for_language_model
from helpers.corpora import Split, load
from helpers.models import Classifier, Context, LanguageModel, MaskedLanguageModel, TransformerBase
from helpers.training import evaluate, predict, train
from helpers.vocabulary import EOS, MASK, OOV, PAD, SOS, Vocabulary

# %% [markdown]
# ## 1. Two ways to guess a word
#
# Take *Salut les copains, comment allez-vous ?* and hide *comment*:
#
# > Salut les copains, ▢ allez-vous ?
# >
# > *Hi friends, ▢ are you?* The French sentence says "how go you"; *que* is "what", *que faites-vous* "what are you doing".
#
# | | what it may read to find ▢ | could ▢ be *que*? |
# |---|---|---|
# | **causal** (GPT) | Salut les copains, | yes: *Salut les copains, que faites-vous ?* |
# | **masked** (BERT) | Salut les copains, ▢ allez-vous ? | no: *que allez-vous* is not French |
#
# In the picture, arrows lead to a state from the tokens that it reads; the box beside it names the word it must guess.

# %% experiment
# @title What the state at position 2 reads, and what it must name, in both models
from helpers.diagrams import Diagram

def draw_reader(picture: Diagram, bottom: float, name: str, tokens: list[str], seen: range,
                asked: str) -> None:
    """Draws a row of tokens, which of them the state at position 2 sees, and what it must name."""
    for position, token in enumerate(tokens):
        picture.box(f"{name} {position}", (0.5 + 0.8 * position, bottom), token, width=0.72)
    picture.box(name, (2.1, bottom + 0.85), "state 2", "attention", width=0.72)
    picture.box(f"{name} loss", (3.4, bottom + 0.85), f"loss: {asked}", "loss", width=1.3)
    for position in seen:
        picture.arrow(f"{name} {position}", name)
    picture.arrow(name, f"{name} loss")
    picture.note((0.1, bottom + 0.85), name, weight="bold")


picture = Diagram(4.2, 2.9)
draw_reader(picture, 1.8, "causal", ["salut", "les", "copains", ",", "..."], range(3), "« , »")
draw_reader(picture, 0.3, "masked", ["salut", "les", "<mask>", ",", "..."], range(5), "copains")
picture.show(
    "Two rows of five tokens. Causal: the state at position 2 sees positions 0 to 2 and is scored on the "
    "next token, a comma. Masked: the token at position 2 is hidden, its state sees all five positions "
    "and is scored on the hidden word, copains."
)

# %% [markdown]
# In attention the difference is one square of numbers, the mask of notebook 01, whose row $i$ says whom token $i$ may look at. Only the causal model has it. (The masked model is called so because some of its *words* are masked, that is, hidden: section 3. Its attention has no mask: it is *bidirectional*.)
#
# ### Exercise: who sees whom
#
# By hand first: in a sentence of 5 tokens, counted from 0, which positions does position 3 see in each of the two models? And position 4, the last? For position 3 of the causal model, write True or False
# for each of the positions 0 to 4, instead of the dots.

# %% by_hand
by_hand("visible_positions", [..., ..., ..., ..., ...])  # does position 3 see position 0, 1, 2, 3, 4?

# %% [markdown]
# In the causal model position 3 sees the positions 0 to 3, itself among them; in the masked one all five. Position 4 sees all five in both. (The cell after the check draws your answer: a filled square says that the row's token may look at the column's.)

# %% exercise="visible_positions"
def visible_positions(kind: str, i: int, n: int) -> set[int]:
    """Returns the positions that the token at position i may look at in one layer, as a set.

    Args:
        kind: "causal" or "masked", the kind of model.
        i: the position of the token that looks, counted from 0.
        n: the length of the text, without padding; i is smaller.

    Raises:
        ValueError: for any other kind.
    """
    ### BEGIN SOLUTION
    if kind == "causal":
        return set(range(i + 1))  # itself, and what stands before
    if kind == "masked":
        return set(range(n))
    raise ValueError(f"kind {kind!r} is unknown: take 'causal' or 'masked'")
    ### END SOLUTION


# %% experiment
# @title Who may look at whom, by your answer
sentence = ["salut", "les", "copains", ",", "<mask>", "allez-vous", "?"]
n = len(sentence)
figure, axes = plots.panels(2, width=4.0, height=3.8)
for square, kind in zip(axes, ("causal", "masked")):
    seen = torch.tensor([[j in visible_positions(kind, i, n) for j in range(n)] for i in range(n)])
    plots.matrix(seen, f"{kind}: {int(seen.sum())} of {n * n} pairs",
                 rows=sentence, columns=sentence, axes=square)
plots.show(figure, "Two squares of 7 by 7 tokens. "
           "Causal: the lower triangle with its diagonal is filled, 28 of 49. Masked: all 49.")

# %% [markdown]
# *How many layers does it take until a causal model sees the right side as well?* No number of layers is enough. Layer 2 of token $i$ reads layer 1 of tokens $0$ to $i$, and these
# have read nothing beyond $i$ either, and so on, layer by layer. That is a proof; the next section confirms it by measurement.
#
# ## 2. Measured: the council and the demonstrators
#
# Two sentences that differ in a single word. The idea is Terry Winograd's (*Understanding Natural Language*, 1972), the wording that of the [collection of Winograd schemas](https://cs.nyu.edu/~davise/papers/WinogradSchemas/WS.html), made for the challenge of Levesque, Davis and Morgenstern (*The Winograd Schema Challenge*, KR 2012):
#
# > The city councilmen refused the demonstrators a permit because **they** *feared* violence.
# >
# > The city councilmen refused the demonstrators a permit because **they** *advocated* violence.
#
# Who are *they*? In the first sentence the councilmen, in the second the demonstrators. You know it only after the next word. Up to and including *they* the sentences are the same, so for a model that reads from left to right they are the same
# text. Its hidden state at *they* **cannot** differ, whatever its weights, its size or its training. A model that reads both sides *can* have two states there.
#
# "Cannot" is a strong word, so we measure it.
#
# ### Exercise: the same state?
#
# Run the model's base on each sentence, take the state at one position of each, and compare. The sentences may have different lengths, so run each one alone. Two traps:
# - Compare numbers with a tolerance. Two equal computations may differ by rounding, near $10^{-6}$ (on a GPU, say); a real influence of a word far away may be as small as $10^{-3}$.
# - Which row? At the *last* token every model has read everything. Only the row at `position` tells the two kinds apart.

# %% exercise="same_state"
def same_state(model: LanguageModel, first: Tensor, second: Tensor, position: int) -> bool:
    """Returns whether the hidden states of two texts at a position are the same, up to rounding.

    Args:
        model: `model.base(tokens)` returns the hidden states `(b, n, d)` of tokens `(b, n)`.
        first, second: the two texts as tokens, `(n,)` and `(m,)`.
        position: the position in both, counted from 0.
    """
    ### BEGIN SOLUTION
    with torch.no_grad():
        one = model.base(first.unsqueeze(0))[0, position]  # (d,)
        two = model.base(second.unsqueeze(0))[0, position]  # (d,)
    return bool((one - two).abs().max() < 1e-5)
    ### END SOLUTION


# %% [markdown]
# Now the council. To make the comparison as hard as can be, both models get the *same weights*, drawn at random: nothing is different but the mask.

# %% experiment
# @title The council: is the state at they the same in both models?
pairs = load("winograd_fr_en")["pairs"].rows
words = Vocabulary.learn(pairs["sentence"], mask=True)
shape = {"d_model": 32, "n_layers": 2, "n_heads": 4, "dropout": 0.0}

torch.manual_seed(0)
causal = LanguageModel(TransformerBase(len(words), causal=True, **shape)).eval()
both_sides = MaskedLanguageModel(TransformerBase(len(words), causal=False, **shape)).eval()
both_sides.load_state_dict(causal.state_dict())


def as_tokens(text: str, vocabulary: Vocabulary) -> Tensor:
    """Returns a text with <sos> before and <eos> behind, `(n,)`."""
    return torch.tensor([SOS, *vocabulary.encode(text), EOS])


council = pairs[(pairs["pair"] == 1) & (pairs["language"] == "en")]
feared, advocated = (as_tokens(text, words) for text in council["sentence"])
they = int(council["position"].iloc[0]) + 1  # <sos> stands before the first word
print("at", words.tokens[feared[they]], "in the causal model, the same state:    ",
      same_state(causal, feared, advocated, they))
print("at", words.tokens[feared[they]], "reading both sides, the same state:     ",
      same_state(both_sides, feared, advocated, they))

# %% experiment
# @title How far apart are the states of the two sentences, word by word?
with torch.no_grad():
    apart = {name: (model.base(feared[None]) - model.base(advocated[None]))[0].abs().amax(dim=-1)  # (n,)
             for name, model in (("causal", causal), ("both sides", both_sides))}

labels = [words.tokens[number] for number in feared]
labels[they + 1] = "feared / advocated"
figure, (axes,) = plots.panels(1, width=8.6, height=3.8)
for offset, (name, distance) in zip((-0.2, 0.2), apart.items()):
    axes.bar(torch.arange(len(labels)) + offset, distance, 0.4, label=name, color=plots.COLOURS[offset > 0])
axes.axvline(they, color="#555555", linestyle=":", zorder=0, label="they")
axes.set(title="How far apart are the states of the two sentences?",
         ylabel="largest difference of a hidden number", xticks=range(len(labels)))
axes.set_xticklabels(labels, rotation=45, ha="right")
axes.legend(frameon=False)
plots.show(figure, "Bars for each token. Causal: 0 up to and including they, "
           "above 0 from the word that differs on. Both sides: above 0 at every token.")
print("largest difference up to they, causal:     ", float(apart["causal"][: they + 1].max()))
print("smallest difference up to they, both sides: more than 0.01:",
      bool(apart["both sides"][: they + 1].min() > 0.01))

# %% [markdown]
# Zero. Not "about zero": exactly the same values, because the very same computation was done. With both sides every state has moved, even that of `<sos>`.
#
# One pair may be luck. The corpus holds 24 pairs built like this one, each in French and in English:

# %% experiment
# @title 24 pairs in two languages: is the state at the pronoun the same?
rows = []
for (number, language), two in pairs.groupby(["pair", "language"]):
    first, second = (as_tokens(text, words) for text in two["sentence"])
    position = int(two["position"].iloc[0]) + 1
    rows.append({"language": language,
                 "the same beginning": torch.equal(first[: position + 1], second[: position + 1]),
                 "causal: same state": same_state(causal, first, second, position),
                 "both sides: same state": same_state(both_sides, first, second, position)})
proof = pd.DataFrame(rows).groupby("language").sum().assign(pairs=24)
proof

# %% [markdown]
# What the argument of section 1 proves, in agreement with this measurement, and what it does not:
#
# - A causal state at the pronoun **cannot** tell who is meant. The argument is true for any weights, so no training repairs that.
# - It is not proved that the other model *understands* the pronoun. Its weights are random! Its states are different, so training *could* make something of the difference. That is all.
# - Nor is it proved that a causal model can never tell. At the end of the sentence it has read everything; the state of the *last* token may hold the answer. It is the earlier states that stay as they were. Remember this in section 7.
#
# ## 3. Hide words
#
# Without the causal mask the next word is visible, and guessing it is copying (notebook 01: the loss that was too good). So the input itself must change: some words are taken out, and the model has to say which. Devlin et al. (2019,
# [BERT](https://arxiv.org/abs/1810.04805), section 3.1, "Masked LM") do it like this:
#
# 1. Choose 15 % of the words at random. Only these are scored.
# 2. A chosen word becomes `<mask>` in 80 % of the cases, **another word** drawn at random in 10 %, and **stays as it is** in 10 %.
#
# Why not always `<mask>`? Because nobody writes `<mask>`: in the texts for which the model is used later there is none. A model that is scored at `<mask>` only may do its work there and nowhere else. With 80 / 10 / 10 it can never be sure that the word it
# sees is the right one, so it needs a prediction at every position.
#
# ### By hand
#
# Here is a batch of one text, written as token ids (the numbers of the tokens in the vocabulary): `<sos>` is 1, `<eos>` 2, `<pad>` 0, `<mask>` 4. `IGNORE` is -100. Suppose that the positions 2, 3 and 5 were chosen; the second draw says `<mask>` for 2, "another word" (21) for 3, and "stays" for 5.
#
# | position | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
# |---|---|---|---|---|---|---|---|---|
# | tokens | 1 | 17 | 8 | 30 | 12 | 9 | 2 | 0 |
# | **input** | 1 | 17 | **4** | **21** | 12 | **9** | 2 | 0 |
#
# The target has at each chosen position what the model has to find. Where nothing was chosen, it is `IGNORE`: torch's losses skip it. Write the target down.

# %% by_hand
by_hand("mask_tokens", [..., ..., ..., ..., ..., ..., ..., ...])  # the target at the positions 0 to 7

# %% [markdown]
# | position | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
# |---|---|---|---|---|---|---|---|---|
# | **target** | -100 | -100 | **8** | **30** | -100 | **9** | -100 | -100 |
#
# At position 5 nothing seems to have happened. Why must it be scored all the same?
#
# ### Exercise: hide them
#
# Special tokens (the ids 0 to `MASK`: `<pad>`, `<sos>`, `<eos>`, `<oov>`, `<mask>`) are no words: never chosen, and never put in as "another word". Draw one number between 0 and 1 for each position to choose, and a second one to decide what happens. Give
# `generator=generator` to `torch.rand` and `torch.randint`: then the same seed hides the same words, and your training can be repeated. Since chance is at work, the check measures shares over some 5,000 words, with a margin of many standard deviations.

# %% exercise="mask_tokens"
def mask_tokens(
    tokens: Tensor, vocab_size: int, generator: torch.Generator, share: float = 0.15
) -> tuple[Tensor, Tensor]:
    """Returns the input with hidden words and the target, both `(b, n)`, as BERT makes them.

    Args:
        tokens: texts as whole numbers, `(b, n)`, with special tokens (0 to MASK); left as they were.
        vocab_size: V; the words are the numbers from MASK + 1 to V - 1.
        generator: all random numbers come from it.
        share: how many of the words are chosen, between 0 and 1.

    Returns:
        The input: of the chosen words 80 % are MASK, 10 % another word, 10 % as they were. The other
        word is drawn for each position from the whole vocabulary (it may be the same by chance). And the
        target: the word that stood there where one was chosen, IGNORE everywhere else.
    """
    ### BEGIN SOLUTION
    is_word = tokens > MASK  # (b, n)
    chosen = is_word & (torch.rand(tokens.shape, generator=generator) < share)
    target = tokens.masked_fill(~chosen, IGNORE)

    draw = torch.rand(tokens.shape, generator=generator)  # (b, n), what happens to the chosen
    words = torch.randint(MASK + 1, vocab_size, tokens.shape, generator=generator)
    hidden = tokens.masked_fill(chosen & (draw < 0.8), MASK)
    return torch.where(chosen & (draw >= 0.9), words, hidden), target
    ### END SOLUTION


# %% [markdown]
# Look at what your function does to a review. Each line is another draw: at every pass the model has other words to find in the same text. (The original BERT drew before training: ten copies of each text with ten different draws, so that in 40 passes each draw was seen about four times. Drawing again at every pass is due to RoBERTa; both in section 4.1 of its paper, see
# section 10.)

# %% experiment
# @title One review, hidden three times by your function
corpus = load("reviews_fr")
review = corpus["unlabelled"]["text"][3]
reading = Vocabulary.learn(corpus["unlabelled"]["text"], mask=True)
tokens = as_tokens(review, reading)[None]
print("the review:", reading.decode(tokens[0].tolist()))
for seed in range(3):
    read, target = mask_tokens(tokens, len(reading), torch.Generator().manual_seed(seed))
    wanted = [reading.tokens[number] for number in target[target != IGNORE]]
    print(f"\ndraw {seed}: {reading.decode(read[0].tolist())}\n  to find: {', '.join(wanted)}")

# %% [markdown]
# ## 4. Score the hidden words, and no others
#
# The loss is a cross-entropy as ever: minus the logarithm of the probability that the model gives to the right word. Three things are new.
#
# - **Nothing is shifted.** The answer for position $i$ is in row $i$.
# - **Only chosen positions count**, and each of them counts the same, whichever text it is in.
# - **Padding must be hidden from attention.** In a causal model padding on the right lies in the future and is invisible by itself. Here it is not: `model(tokens, lengths)` hides it, `model(tokens)` does not.
#
# ### Exercise: the loss
#
# By hand: two positions of a text of four tokens were chosen, and the model gives probability 1/2 to the right word at one and 1/8 at the other. What is the loss, in nats?

# %% by_hand
by_hand("masked_lm_loss", ...)  # math.log(...) is the natural logarithm

# %% [markdown]
# It is $\frac{1}{2}(\ln 2 + \ln 8) = \ln 4 \approx 1.386$. And what is the mean over *no* positions? $0/0$. In a
# batch of short texts it happens that nothing is chosen; the loss must then be 0, or one NaN ends the training.

# %% exercise="masked_lm_loss"
def masked_lm_loss(
    model: MaskedLanguageModel, tokens: Tensor, target: Tensor, lengths: Tensor
) -> Tensor:
    """Returns the mean cross-entropy over the chosen positions, in nats, a tensor of shape `()`.

    Args:
        model: `model(tokens, lengths)` returns logits `(b, n, V)` and hides the padding.
        tokens: the input, in which some words are hidden, `(b, n)`.
        target: the right word where one was chosen, IGNORE elsewhere, `(b, n)`.
        lengths: number of real tokens of each text, `(b,)`; padding stands on the right.

    Gradients must pass through it. When nothing was chosen in the whole batch the loss is 0, and
    after `backward()` all gradients are 0.
    """
    ### BEGIN SOLUTION
    logits = model(tokens, lengths)  # (b, n, V)
    total = nn.functional.cross_entropy(
        logits.flatten(0, 1), target.flatten(), ignore_index=IGNORE, reduction="sum"
    )
    return total / (target != IGNORE).sum().clamp(min=1)
    ### END SOLUTION


# %% [markdown] pause
# You have hidden words and scored them, and know what a causal state cannot contain. Next, models are trained in this way, and you see where
# reading both sides helps, and where it does not.

# %% [markdown]
# ### A tiny world
#
# Before the reviews, a language small enough to see through: greetings, each followed by a question. The question word depends on the verb **after** it, and one verb leaves a choice: one can ask *comment allez-vous* and *où allez-vous*; the first is three times as
# frequent here. The greeting *Salut les copains* itself is never in the training, though all its words are. (*Comment* is how, *où* where, *que* what, *quand* when, *pourquoi* why; *allez* go, *habitez* live, *faites* do, *dites* say, *partez* leave, *revenez* come back, *riez* laugh.)

# %% experiment
# @title A tiny world: greetings, each with a question
greetings = [f"{hello} {who}" for hello in ("Salut", "Bonjour", "Bonsoir")
             for who in ("les copains", "les voisins", "mes amis", "tout le monde")]
questions = [*["comment allez-vous"] * 3, "où allez-vous", "où habitez-vous", "que faites-vous",
             "que dites-vous", "quand partez-vous", "quand revenez-vous", "pourquoi riez-vous"]
known = [hello for hello in greetings if hello != "Salut les copains"]
texts = pd.DataFrame({"text": [f"{hello}, {question} ?" for hello in known for question in questions] * 4})
small_talk = Split("greetings", "train", texts)
spoken = Vocabulary.learn(texts["text"], mask=True)
print(len(texts), "sentences,", len(spoken), "tokens; for example:", texts["text"][0])


def whole(vocabulary: Vocabulary, max_len: int = 128):
    """Returns what makes of a row a text with <sos> and <eos>, cut at `max_len` tokens."""
    def encode(row: dict) -> Example:
        tokens = [SOS, *vocabulary.encode(row["text"]), EOS][:max_len]
        return Example(tokens, tokens)
    return encode


def hiding(vocab_size: int, share: float):
    """Returns what hides words of a batch, others at every pass."""
    def change(batch: Batch, generator: torch.Generator) -> Batch:
        batch.tokens, batch.target = mask_tokens(batch.tokens, vocab_size, generator, share)
        return batch
    return change


# %% measured
# @title A causal and a masked model learn the greetings
cpu = torch.device("cpu")  # these models are so small that a graphics card would not help


def print_log(name: str, history: pd.DataFrame) -> None:
    """Prints the history of a training, a line for each entry."""
    for row in history.to_dict("records"):
        print(f"{name:10} epoch {row['epoch']:3.0f}  step {row['step']:5.0f}  "
              f"loss {row['loss']:.3f}  perplexity {row['perplexity']:7.1f}")


def small_models(vocab_size: int) -> tuple[LanguageModel, MaskedLanguageModel]:
    """Returns a causal and a masked model of the same make."""
    shape = {"d_model": 32, "n_layers": 2, "n_heads": 2, "dropout": 0.0, "norm_first": True}
    torch.manual_seed(0)
    left_only = LanguageModel(TransformerBase(vocab_size, causal=True, **shape))
    return left_only, MaskedLanguageModel(TransformerBase(vocab_size, causal=False, **shape))


talker, filler = small_models(len(spoken))
for name, model, batches in (
    ("causal", talker, Batches(small_talk, for_language_model(spoken), 512)),
    ("masked", filler, Batches(small_talk, whole(spoken), 512, change=hiding(len(spoken), 0.15))),
):
    log = train(model, batches, "language_model", epochs=30, learning_rate=3e-3, device=cpu)
    print_log(name, log[5::6])  # every sixth pass

# %% [markdown]
# The two losses cannot be compared with each other: they belong to different questions. (The causal one has to guess the greeting, about which nothing is known beforehand; the masked one sees most of the sentence.)
#
# ## 5. Fill the blank
#
# Now back to *Salut les copains, ▢ allez-vous ?*
#
# ### Exercise: the best word for a blank
#
# Put `<mask>` at the position, let the model read the **whole** sentence, and look at the logits **at this position**. The answer must be a word: `<eos>` may have a high score, and is none.

# %% exercise="fill_blank"
def fill_blank(model: MaskedLanguageModel, tokens: Tensor, position: int) -> int:
    """Returns the number of the most probable word at a position, from both sides.

    Args:
        model: `model(tokens)` returns logits `(b, n, V)` of tokens `(b, n)`.
        tokens: a sentence with `<sos>` and `<eos>`, `(n,)`, on the model's device, be it a GPU, that
            may hold other blanks (MASK) as well; it is left as it was.
        position: the position to fill, whatever stands there now.

    Only words are possible answers, that is, numbers above MASK.
    """
    ### BEGIN SOLUTION
    hidden = tokens.clone()
    hidden[position] = MASK
    with torch.no_grad():
        logits = model(hidden.unsqueeze(0))[0, position]  # (V,)
    return int(logits[MASK + 1 :].argmax()) + MASK + 1
    ### END SOLUTION


# %% experiment
# @title The same left side and four verbs: which word fills the blank?
filler.eval()
for verb in ("allez-vous", "faites-vous", "partez-vous", "riez-vous"):
    tokens = as_tokens(f"Salut les copains, comment {verb} ?", spoken)  # position 5 will be hidden
    print(f"Salut les copains, ___ {verb} ?   ->", spoken.tokens[fill_blank(filler, tokens, 5)])

# %% [markdown]
# The left side is the same in all four. Only the verb on the right tells which word is missing, and your function has read it. With *allez-vous*, two words are right. Let us see the probabilities, and beside them those of the causal model, which may read
# up to the comma only. Move the slider to hide another word.

# %% interactive
# @title Words for a hidden position, by either model: move the slider
from ipywidgets import IntSlider, interact


@torch.no_grad()
def show_blank(position: int) -> None:
    """Draws the five most probable words at a position of the greeting, from one side and from both."""
    tokens = as_tokens("Salut les copains, comment allez-vous ?", spoken)
    hidden = tokens.clone()
    hidden[position] = MASK
    found = {"left side only": talker(tokens[None, :position])[0, -1].softmax(dim=-1),
             "both sides": filler(hidden[None])[0, position].softmax(dim=-1)}
    figure, axes = plots.panels(2, width=4.2, height=2.6)
    said = []
    for axis, (name, shares) in zip(axes, found.items()):
        top = shares.topk(5)
        names = [spoken.tokens[number] for number in top.indices]
        axis.barh(names, top.values, color=plots.COLOURS[name == "both sides"])
        axis.set(title=name, xlabel="probability", xlim=(0, 1))
        axis.invert_yaxis()
        said.append(f"{name}, first {names[0]}")
    print(" ".join("___" if i == position else spoken.tokens[number]
                   for i, number in enumerate(tokens) if 0 < i < len(tokens) - 1))
    plots.show(figure, f"Five words with their probability. {'; '.join(said)}.")


talker.eval()
interact(show_blank,
         position=IntSlider(value=5, min=1, max=7, description="hidden", continuous_update=False));

# %% measured
# @title The same picture for those who only read: the question word
show_blank(5)

# %% [markdown]
# The causal model knows that a question word must follow, and how frequent each one is. There is no more to know from the left. The masked one has put nearly all of it on *comment* and *où*, roughly in the proportion of the training (three to one; here about four to one): the two words that are
# right French.
#
# (Hide the greeting's first word, position 1: there even both sides leave a choice, because every greeting goes with every question. No model can know what is not in the text.)
#
# ### Where do they look?
#
# Two attention maps of the last layer: of the masked model the head that looks most from the blank at the verb, of the causal model its first head. The marked row is the one that has to guess: the hidden word itself in the masked model, the token before it in the causal one.

# %% measured
# @title Where the two models look: attention in their last layer
tokens = as_tokens("Salut les copains, comment partez-vous ?", spoken)
hidden = tokens.clone()
hidden[5] = MASK
with torch.no_grad():
    heads = filler.base.attention_maps(hidden[None])[-1][0]  # (h, n, n)
    maps = {"causal": talker.base.attention_maps(tokens[None])[-1][0, 0],  # (n, n)
            # (n, n), the head that looks most from position 5 at position 6
            "both sides": heads[heads[:, 5, 6].argmax()]}

figure, axes = plots.panels(2, width=4.7, height=4.4)
for axis, (name, weights), numbers in zip(axes, maps.items(), (tokens, hidden)):
    labels = [spoken.tokens[number] for number in numbers]
    plots.matrix(weights, name, rows=labels, columns=labels, axes=axis, limits=(0, 1))
    row = 4 if name == "causal" else 5
    axis.add_patch(plots.plt.Rectangle((-0.5, row - 0.5), len(labels), 1, fill=False,
                                       edgecolor=plots.COLOURS[1], linewidth=2, clip_on=False, zorder=5))
figure.colorbar(axes[0].images[0], ax=axes, label="weight", shrink=0.7).ax.set_ylim(0, 1)
at_verb = (f"the hidden word gives {float(maps['both sides'][5, 6]):.0%} of its attention "
           f"to {spoken.tokens[hidden[6]]}")
plots.show(figure, "Two attention maps of 9 tokens. Causal: nothing above the diagonal. "
           f"Both sides: weights everywhere; in the marked row {at_verb}.")
for name, weights in maps.items():
    print(f"{name}: {float(weights.triu(1).sum() / weights.sum()):.0%} of all weight goes to the right")
print(at_verb)

# %% [markdown]
# At least one head of the masked model has learned to look at the verb on the right: nobody has told it where to look, only which words were missing. (Much of the other weight goes to `<sos>`. A softmax must put its weight somewhere, and a head that has nothing to say often puts it on such a position, an *attention sink*.)
#
# ## 6. The same on reviews
#
# Now the 10,500 invented reviews. Both models have one layer of width 64 and read the same texts twice. Then both have to find the same hidden words of reviews that they have not read.
#
# > **A mistake worth making once: positions that have no sides.** Our causal model gets its positions from ALiBi (notebook 02): each head is told how *far away* a word is. Among words that are all on the left that is enough. Take the mask off, and three positions to the left and three to the right become the same. Then a review read *backwards* must give
# > every word exactly the state that it has forwards, for any weights. The cell after the next one tests it.
#
# So the model that reads both sides gets two heads more, with a side each: the first sees only what stands before a word, the second only what follows it. (BERT has learned positions, which tell the sides apart, too, but need more reading than we have time for. ALiBi was made for causal models; for others it
# [has to be changed](https://github.com/ofirpress/attention_with_linear_biases/issues/5), its author writes.)
#
# A word on cost. A causal model learns from *every* position of a text, a masked one only from those that were chosen. With 15 %, it needs more passes to learn as much. To save time we hide 30 % (15 is no law: Wettig et al. 2023,
# [Should You Mask 15%?](https://arxiv.org/abs/2202.08005), find that more can be better), and let the masked model start from the word embeddings of the causal one, a help that it needs at this size.
#
# **Real reviews.** Replace `load("reviews_fr")` by `load("cls_books")` in the next cell, and sections 6, 8 and 9 run on real ones: 1,600 training reviews in 19,000 different subwords. The numbers are far lower then, and section 7 stays with the invented ones.

# %% experiment open=true
corpus = load("reviews_fr")  # the line to change
texts = corpus["unlabelled"] if "unlabelled" in corpus.parts else corpus.train
kind = "piece" if corpus.vocabulary else "word"
vocabulary = Vocabulary.learn(texts["text"], kind, mask=True)
V = len(vocabulary)
read = Split(f"{corpus.name}/read", "train", texts.rows[:-300])
unread = Split(f"{corpus.name}/unread", "valid", texts.rows[-300:].reset_index(drop=True))
print(f"{len(read):,} reviews to read, {len(unread)} to be asked about, {V:,} tokens")


class SidedBase(TransformerBase):
    """A base that reads both sides and can tell them apart: its first head sees what stands before a word,
    the second what follows it, near words first; the other heads see everything."""

    def _look(self, keys, past, x, padding, context) -> Context:
        context = super()._look(keys, past, x, padding, context)  # its mask: ALiBi's (..., h, n, n)
        distance = keys.unsqueeze(1) - keys  # (n, n), above 0 for what stands before
        near = -distance.abs().float()
        sides = [near.masked_fill(distance < 0, -torch.inf), near.masked_fill(distance > 0, -torch.inf)]
        everything = [torch.zeros_like(near)] * (self.n_heads - 2)
        return replace(context, mask=context.mask + torch.stack(sides + everything))


def new_base(causal: bool) -> TransformerBase:
    """Returns a base of one layer and width 64: ALiBi where it is causal, else with sides."""
    make, n_heads = (TransformerBase, 2) if causal else (SidedBase, 4)
    return make(V, 64, 1, n_heads, dropout=0.0, positions="alibi", causal=causal, norm_first=True)


# %% measured
# @title Are the states the same when a review is read backwards?
backwards_test = {"causal, ALiBi": new_base(causal=True),
                  "both sides, ALiBi as it is": TransformerBase(V, 64, 1, 2, dropout=0.0, positions="alibi",
                                                                causal=False, norm_first=True),
                  "both sides, two heads with a side": new_base(causal=False)}
text = as_tokens(unread["text"][0], vocabulary)[None, :128]  # (1, n)
with torch.no_grad():
    for name, base in backwards_test.items():  # with random weights
        backwards = base(text.flip(1)).flip(1)  # (1, n, d), the same word in the same row
        same = torch.allclose(base(text), backwards, atol=1e-3)
        print(f"{name:34} the same states forwards and backwards: {same}")

# %% [markdown]
# With ALiBi as it is, a model without the mask cannot know whether it reads *le roman* or *roman le* (the novel, novel the). Keep this in mind for section 7: the causal mask is not only a blindfold, it also tells the order.


# %% measured
# @title The causal model reads the reviews
torch.manual_seed(0)
causal_reader = LanguageModel(new_base(causal=True))
batches = Batches(read, for_language_model(vocabulary, max_len=128), 700)
log = train(causal_reader, batches, "language_model", epochs=2, learning_rate=4e-3, device=cpu,
            log_every=len(batches) // 2 + 1)
print_log("causal", log)

# %% measured
# @title The masked model reads the reviews
torch.manual_seed(0)
masked_reader = MaskedLanguageModel(new_base(causal=False))
masked_reader.base.embedding.load_state_dict(causal_reader.base.embedding.state_dict())
batches = Batches(read, whole(vocabulary), 700, change=hiding(V, 0.3))
asked = next(iter(Batches(unread, whole(vocabulary), 2048, change=hiding(V, 0.15))))
with torch.no_grad():
    before = masked_lm_loss(masked_reader, asked.tokens, asked.target, asked.lengths)
log = train(masked_reader, batches, "language_model", epochs=2, learning_rate=4e-3, device=cpu,
            log_every=len(batches) // 2 + 1)
print_log("masked", log)
with torch.no_grad():
    after = masked_lm_loss(masked_reader.eval(), asked.tokens, asked.target, asked.lengths)
print(f"your masked_lm_loss on unread reviews: {before:.1f} before, {after:.1f} after")

# %% [markdown]
# (Do not compare the loss on unread reviews with the log: in training 30 % of the words were hidden, here 15 %, so that more of the neighbours can be read.)
#
# Now both models have to find the same hidden words. How often is the first guess the word that stood there? The masked model reads both sides (with a `<mask>` now and then among its neighbours), the causal one everything on the left, with nothing hidden.

# %% measured
# @title How often is the first guess right, from one side and from both?
@torch.no_grad()
def first_guess(model: LanguageModel, split: Split) -> float:
    """Returns how often the most probable word at a hidden position is the right one."""
    model.eval()
    right = count = 0
    for batch in Batches(split, whole(vocabulary), 2048, change=hiding(V, 0.15)):
        hidden = batch.tokens == MASK  # (b, n)
        if model.base.causal:  # the row before says what comes next; nothing on the left is hidden
            original = torch.where(batch.target == IGNORE, batch.tokens, batch.target)
            guess = model(original, batch.lengths).argmax(dim=-1).roll(1, dims=1)  # (b, n)
        else:
            guess = model(batch.tokens, batch.lengths).argmax(dim=-1)  # (b, n)
        right += int((guess == batch.target)[hidden].sum())
        count += int(hidden.sum())
    return right / count


print(f"hidden words guessed right, left side only: {first_guess(causal_reader, unread):.0%}")
print(f"hidden words guessed right, both sides:     {first_guess(masked_reader, unread):.0%}")

# %% [markdown]
# The model that sees both sides finds more words (68 against 59 % in our run), though it has learned from fewer positions and some of its neighbours are hidden. And with positions that have no sides? A model with ALiBi as it is finds far fewer than the causal one (39 % against 60 %, in the run of `docs/results.md`): the little words that depend on order are out of its reach. So before you say "the objective is worse", look at what the model can see.
#
# Now the words where one side decides. In `blanks`, a word of judgement is missing, and there are two candidates, one that praises and one that blames, such as *captivant* (gripping) and *pénible* (tedious). In half of the reviews all evidence for the right one comes **before** the
# blank, in the other half **after** it.
#
# How often does each of the two models choose right in each half? Guess all four shares, in per cent. Write down that of the causal model where the right side tells, in place of the dots (or
# leave them and go on).

# %% guess
guess("right choices of the causal model where the right side tells, in %", ...)

# %% measured
# @title Blanks where one side tells: how often is the right word chosen?
@torch.no_grad()
def choose_right(model: LanguageModel, rows: pd.DataFrame) -> float:
    """Returns how often the right one of two words has the higher score at the blank."""
    model.eval()
    right = 0
    for row in rows.itertuples():
        tokens, position = as_tokens(row.text, vocabulary), row.position + 1
        if model.base.causal:
            logits = model(tokens[None, :position])[0, -1]  # (V,)
        else:
            tokens[position] = MASK
            logits = model(tokens[None])[0, position]  # (V,)
        right += int(logits[vocabulary.numbers[row.answer]] > logits[vocabulary.numbers[row.other]])
    return right / len(rows)


if "blanks" in corpus.parts:  # the invented reviews only
    blanks = corpus["blanks"].rows
    table = {name: {f"the {side} side tells": choose_right(model, blanks[blanks.side == side])
                    for side in ("left", "right")}
             for name, model in (("left side only (causal)", causal_reader),
                                 ("both sides (masked)", masked_reader))}
    print((100 * pd.DataFrame(table).T).round(0).astype(int).astype(str) + " %")

# %% reveal
if "blanks" in corpus.parts:
    at_right = 100 * table["left side only (causal)"]["the right side tells"]
else:
    at_right = math.nan  # other reviews have no such blanks
reveal("right choices of the causal model where the right side tells, in %", at_right)

# %% [markdown]
# Where the left side tells, the causal model is as good or better: it was trained on more positions. Where the right side tells, it finds two of three. What lifts it above one half cannot be the evidence, which is where it does not look. (It does know how frequent each of the two words is, for example.)
#
# The masked model finds the evidence on either side (92 and 94 % in our run). That is the gain, and it is exactly the one that the two states of section 2 made possible.
#
# ## 7. Reviews that turn: where does reading both sides help a classifier?
#
# > **Go further: sections 7 to 10.** No exercise depends on them. The essays ask for the figures of sections 7 to 9, so look at these at least; *Taking the mask off* and section 10 can wait.
#
# *Le scénario est saisissant, mais la prose est verbeuse* (the plot is gripping, **but** the prose is wordy) ... Some reviews praise first and then, after *mais*, say the opposite; the label is the final judgement. In the part `turns`, every review turns, some early, some late.
#
# A tempting story: "the causal model has
# committed itself before the turn; the one that reads both sides has not. So it will win, above all when the turn comes late." Do you believe it? Both are trained from scratch, with one layer and with two, three seeds each. Which is better on late turns?

# %% guess
guess("late turns, one layer: which is better?", ..., among=["causal", "both sides", "no difference"])

# %% guess
guess("late turns, two layers: which is better?", ..., among=["causal", "both sides", "no difference"])

# %% measured
# @title Training on reviews that turn: three settings, two models, three seeds
invented = load("reviews_fr")
turn_words = Vocabulary.learn(invented["unlabelled"]["text"], mask=True)
PLACES = ("early", "middle", "late")
tested = invented["turns_test"]
place_of, label_of = tested.rows["place"].to_numpy(), torch.tensor(tested["label"])


def accuracy_by_place(causal: bool, n_layers: int, positions: str, seed: int) -> list[float]:
    """Trains on turning reviews and returns the accuracy on others for early, middle and late turns."""
    torch.manual_seed(seed)
    base = TransformerBase(len(turn_words), 64, n_layers, 2, dropout=0.0, positions=positions,
                           causal=causal, norm_first=True)
    model, encode = Classifier(base), for_classifier(turn_words)
    train(model, Batches(invented["turns_train"], encode, 512, seed=seed), "classifier", epochs=4,
          learning_rate=2e-3, seed=seed, device=cpu, progress=False)
    right = predict(model, Batches(tested, encode, 8192)).argmax(dim=1) == label_of  # (900,)
    return [float(right[torch.tensor(place_of == place)].float().mean()) for place in PLACES]


SETTINGS = {"one layer": (1, "sinusoidal"), "two layers": (2, "sinusoidal"),
            "two layers, no positions": (2, "none")}
runs = {(title, causal): [accuracy_by_place(causal, layers, positions, seed) for seed in range(3)]
        for title, (layers, positions) in tqdm(SETTINGS.items(), file=sys.stdout)
        for causal in (True, False)}

# %% measured
# @title Accuracy on early, middle and late turns
figure, axes = plots.panels(3, width=3.3, height=3.4)
for axis, title in zip(axes, SETTINGS):
    for offset, causal in ((-0.1, True), (0.1, False)):
        found = torch.tensor(runs[title, causal])  # (seeds, 3)
        low, mean, high = found.amin(dim=0), found.mean(dim=0), found.amax(dim=0)
        axis.errorbar(torch.arange(3) + offset, mean, torch.stack([mean - low, high - mean]).numpy(),
                      fmt="s" if not causal else "o", capsize=3, markersize=7,
                      label="causal" if causal else "both sides", color=plots.COLOURS[not causal])
    axis.set(title=title, xticks=range(3), xticklabels=PLACES, xlabel="where the turn is",
             xlim=(-0.5, 2.5), ylim=(0.5, 1.02))
    axis.grid(axis="y", color="#dddddd", linewidth=0.6)
axes[0].set_ylabel("accuracy")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
means = {key: torch.tensor(found).mean(dim=0) for key, found in runs.items()}
told = [f"{title}, {'causal' if causal else 'both sides'}: " + ", ".join(f"{value:.2f}" for value in mean)
        for (title, causal), mean in means.items()]
plots.show(figure, "Dots with the range of three seeds for early, middle and late turns. "
           + "; ".join(told) + ".")
print("\n".join(told))
print("one layer, largest difference between causal and both sides:",
      float((means["one layer", True] - means["one layer", False]).abs().max()))

# %% reveal
def better_when_late(title: str) -> str:
    """Returns which model is better where the turn comes late, by one point at least."""
    lead = float(means[title, True][2] - means[title, False][2])
    return "no difference" if abs(lead) < 0.01 else "causal" if lead > 0 else "both sides"


reveal("late turns, one layer: which is better?", better_when_late("one layer"))

# %% reveal
reveal("late turns, two layers: which is better?", better_when_late("two layers"))

# %% [markdown]
# The story is not what happened. Three observations, from left to right:
#
# 1. **One layer: no difference at all**, to the last digit. The classifier reads the last token, and the last row of the causal mask blocks nothing: with a single layer both models compute the very same thing. What section 2 showed holds for the states *before* the end; for one answer about a whole text there is nothing to gain.
# 2. **Two layers: the causal model is better**, above all where the turn comes late. Here the masks do differ: the last token reads states that were themselves made with a view to one side or to both.
# 3. **Without any positions the causal model is as good as before**, and the other worse by 3 points where the turn comes early or late (in our run; in the middle it makes no difference): positions do help it, but less than the mask helps the causal one.
#
# An explanation that fits all three, and the backwards reading of section 6: the mask itself tells the order. A word *after* "mais" sees it, a word *before* does not, so in the causal model each state can hold "the turn is over", which is just what this task needs. In the other model every word sees "mais", and on which side of it a word is must be worked out
# from the positions; with 450 reviews it learns that only in part.
#
# That it is right in more than half of the cases all the same is due to other clues: most words of a review with an early turn, say, already have the sign of the label (for late turns this clue points to the other side; what the model uses there we have not found out).
#
# It is an explanation, and not a proof. What you have seen is measured with three seeds and tiny models, and need not hold for a pretrained BERT. But the tempting story was told before the
# measurement, and it was wrong.
#
# ## 8. What fine-tuning adds
#
# A masked model that has read many texts knows which words keep company, but it has not learned to judge. **Fine-tuning** puts a small head on it and goes on training, with few labels (notebooks 04 and 06). Devlin et al. take the first token, `[CLS]`, for the head; our
# `Classifier` takes the last real token. Either can serve in a model that reads both sides. Here: the labelled reviews of the corpus, the base fresh or pretrained, three seeds.

# %% measured
# @title Fine-tuned on the labelled reviews: accuracy after each pass
BASES = {"from scratch": new_base(causal=False), "causal, pretrained": causal_reader.base,
         "masked, pretrained": masked_reader.base}
encode = for_classifier(vocabulary, max_len=128)
exam, PASSES = Batches(corpus.test, encode, 8192), 4


def fine_tuned(name: str, seed: int) -> list[float]:
    """Trains a classifier on the labelled reviews and returns the accuracy on the test reviews
    after each pass."""
    torch.manual_seed(seed)
    base = new_base(causal=False) if name == "from scratch" else copy.deepcopy(BASES[name])
    model = Classifier(base)
    history = train(model, Batches(corpus.train, encode, 512, seed=seed), "classifier", epochs=PASSES,
                    learning_rate=1e-3, seed=seed, device=cpu, progress=False,
                    after_epoch=lambda: {"test": evaluate(model, exam, "classifier")["accuracy"]})
    return history["test"].tolist()


curves = {name: [fine_tuned(name, seed) for seed in range(3)] for name in tqdm(BASES, file=sys.stdout)}
axes = plots.curves(curves, range(1, PASSES + 1),
                    title=f"{len(corpus.train)} labelled reviews: mean and range of three seeds",
                    x_label="passes", y_label="accuracy")
axes.axhline(0.5, color="#555555", linestyle=":")
axes.set(ylim=(0.4, 1.0), xticks=range(1, PASSES + 1))
plots.show(axes.figure, plots.describe_curves(curves, range(1, PASSES + 1), "pass", digits=2))

# %% [markdown]
# Three hundred labels alone teach next to nothing: from scratch the model stays near a coin (the dotted line). After reading without labels, the same 300 are enough, *whichever* of the two objectives was used: the causal model ends at 0.94 in our run, the masked one at 0.89, and its seeds differ much more (look at its band).
#
# (Do not read a ranking of objectives from it: the two differ in their heads as well, and one was scored on every word, the other on 30 % of them.)
#
# For models of full size there is a fair comparison: table 5 of Devlin et al. (2019) pretrains a BERT twice on the same data, masked (without the second task, "no NSP") and from left to right, and fine-tunes both. On the sentiment of film reviews (SST-2) the two are close, 92.6 and 92.1 %, as one student report suspects: to tell praise from blame, one side goes a long way.
#
# On two tasks of other kinds both sides are worth nine or ten points: 86.5 against 77.5 % for paraphrases (MRPC), and 87.9 against 77.8 for questions whose answer is a passage of a text (SQuAD; measured as F1, which credits partly right answers); on the other two tasks of the table, whether a text answers a question (QNLI) and whether one text follows from another (MNLI), it is less than two. Our reviews are of the first kind: do not carry over to BERT what you see on them.
#
# What fine-tuning adds, then, is small and decisive: which of the two groups of words, which reading has already told apart, is called *positive*.
#
# ### Taking the mask off
#
# In their comparison with a model that reads from left to right, [Devlin et al. (2019, section 5.1)](https://aclanthology.org/N19-1423/) keep its mask in fine-tuning: taken off, it made the results worse, which they put down to the difference between pretraining and fine-tuning. A student report goes half of the way back all the same: it pretrains with the causal mask and takes the mask **off** for fine-tuning, and sees its training curves hardly change.
#
# In the model above that would change nothing: with one layer, the last token sees everything with the mask and without it, as in section 7. With two layers the states below the last one change. Is it worth it? The model may now look to both sides, but its
# weights were trained for states that look to one.
#
# With 300 labels and ALiBi, is the mask better kept or taken off? (To pretrain and fine-tune takes about five minutes; the course has done it once and kept the numbers in `data/measured_here`. `again = True`, in the code of the cell, does it again.)

# %% guess
guess("the causal mask with ALiBi and 300 labels: what is better?", ..., among=["kept", "taken off"])

# %% experiment
# @title The mask kept and taken off: accuracy after fine-tuning
again = False  # True pretrains six models and fine-tunes each of them four times


def with_and_without_mask(positions: str, seed: int) -> list[dict]:
    """Pretrains a causal model of two layers and fine-tunes it with its mask and without it."""
    torch.manual_seed(seed)
    reader = LanguageModel(TransformerBase(V, 64, 2, 2, dropout=0.0, positions=positions,
                                           causal=True, norm_first=True))
    batches = Batches(read, for_language_model(vocabulary, max_len=128), 700, seed=seed)
    train(reader, batches, "language_model", epochs=3, learning_rate=4e-3, device=cpu, progress=False)
    found = []
    for labels in (40, 300):
        few = Split(f"{corpus.name}/few", "train", corpus.train.rows.head(labels))
        for mask in ("kept", "taken off"):
            torch.manual_seed(100 + seed)
            model = Classifier(copy.deepcopy(reader.base))
            model.base.causal = mask == "kept"
            train(model, Batches(few, encode, 512, seed=seed), "classifier", epochs=6,
                  learning_rate=1e-3, seed=seed, device=cpu, progress=False)
            accuracy = evaluate(model, exam, "classifier")["accuracy"]
            found.append({"positions": positions, "seed": seed, "labels": labels, "mask": mask,
                          "accuracy": accuracy})
    return found


if again:
    mask_off = pd.DataFrame([row for positions in ("alibi", "sinusoidal") for seed in range(3)
                             for row in with_and_without_mask(positions, seed)])
else:
    mask_off = load("measured_here")["mask_taken_off"].rows
by_mask = mask_off.groupby(["positions", "labels", "mask"])["accuracy"]
pd.DataFrame({"mean": by_mask.mean(), "lowest": by_mask.min(), "highest": by_mask.max()}).round(3)

# %% reveal
reveal("the causal mask with ALiBi and 300 labels: what is better?", by_mask.mean()["alibi", 300].idxmax())

# %% [markdown]
# It is not worth it here, as Devlin et al. found for theirs. With 40 labels the two cannot be told apart: 0.914 with the mask and 0.917 without it for ALiBi in our run, 0.938 and 0.941 for sinusoidal positions, and seeds differ by more.
#
# With 300 labels and ALiBi the mask should stay on (0.991 against 0.965 in our run, and no seed says otherwise): these positions tell left from right only as long as the mask does, so the model
# loses more than it gains. With sinusoidal positions, which have an order of their own, the seeds do not agree (0.963 and 0.955 in our run).
#
# The last token of these reviews sees the whole text in any case; where each word gets a label, the right side may be worth more. And a model can be trained for it: [LLM2Vec](https://arxiv.org/abs/2404.05961) (BehnamGhader et al. 2024) takes the mask off large causal models and then trains them for a while on hidden words, before they are used.
#
# ## 9. What BERT was not made for: generation
#
# A causal model writes by answering the one question that it was trained on, again and again: which word comes next? Use the masked model in the same way: put a `<mask>` at the end, fill it, put the next one.

# %% measured
# @title Three ways to go on with a text
@torch.no_grad()
def write(model: LanguageModel, text: str, words: int = 14) -> str:
    """Returns a text with more words, each the most probable one, added at its end."""
    model.eval()
    tokens = [SOS, *vocabulary.encode(text)]
    for _ in range(words):
        if model.base.causal:
            number = int(model(torch.tensor([tokens]))[0, -1].argmax())
        else:
            number = fill_blank(model, torch.tensor([*tokens, MASK, EOS]), len(tokens))
        tokens.append(number)
        if number == EOS:
            break
    return vocabulary.decode(tokens)


@torch.no_grad()
def fill_all(model: LanguageModel, text: str, words: int = 14) -> str:
    """Returns a text with more words, all filled in at once."""
    tokens = torch.tensor([SOS, *vocabulary.encode(text), *[MASK] * words, EOS])
    best = model(tokens[None])[0].argmax(dim=-1)  # (n,)
    return vocabulary.decode(torch.where(tokens == MASK, best, tokens).tolist())


start = "Ce roman est"
print("causal, word by word:  ", write(causal_reader, start))
print("masked, word by word:  ", write(masked_reader, start))
print("masked, all at once:   ", fill_all(masked_reader, start))

# %% [markdown]
# The causal model writes a piece of a review. The masked one, word by word, goes wrong at the first step. It was trained on whole texts, where a `<mask>` right before `<eos>` hides the last word of a finished review, nearly always a full stop. All that it writes next has to follow that. All at once is no better: each blank is filled without
# knowing what its neighbours get, so the same frequent words come again and again.
#
# There is a deeper reason. A causal model gives the probability of a whole text: the product of what it says at each position, $p(w_1)\,p(w_2 \mid w_1)\,p(w_3 \mid w_1, w_2)\cdots$. Drawing one word after the other draws from that distribution.
#
# A masked model has
# learned each hidden word given *the others*, and such conditionals need not belong to any one distribution over texts. The model does not say in which order to write, nothing says when to stop, and the number of `<mask>` tokens fixes the length before the first word is known.
#
# Later work found ways around it. One can draw from BERT by filling one position after the other, again and again ([Wang and Cho 2019](https://arxiv.org/abs/1902.04094)). A masked model trained for translation can fill all positions at once and then revise those it is least sure of, in a few rounds
# ([Mask-Predict, Ghazvininejad et al. 2019](https://arxiv.org/abs/1904.09324)). And models trained with every share of masks, from few to all, write whole texts in this way ([LLaDA, Nie et al. 2025](https://arxiv.org/abs/2502.09992)). Each of them adds what BERT's training does not have: an order, or a rule in its place.
#
# ## 10. What came after
#
# **Better training of the same idea.** RoBERTa ([Liu et al. 2019](https://arxiv.org/abs/1907.11692)) kept the model and changed the training: more text, larger batches, longer, other words hidden at every pass, and without BERT's second task (does this sentence follow that one?). With it, the
# same kind of model did better than BERT on the tasks that the paper compares.
#
# (Many of these are those of **GLUE**, [Wang et al. 2018](https://arxiv.org/abs/1804.07461): nine English tasks on one or two sentences, such as sentiment, paraphrase or "does this follow from that?", one of them made of Winograd's sentences. A pretrained model is
# fine-tuned on each by itself, and the mean is its score; BERT became known by its lead there, table 1 of its paper. For French there is FLUE, [Le et al. 2020](https://arxiv.org/abs/1912.05372).)
#
# ELECTRA ([Clark et al. 2020](https://arxiv.org/abs/2003.10555)) attacked the cost that you met in section 6: a small model fills the blanks, and the large one has to say *for every word* whether it was exchanged, so it learns from all positions and not from
# 15 %. CamemBERT ([Martin et al. 2020](https://arxiv.org/abs/1911.03894)) did for French what BERT did for English. Such encoders are still what many systems use for classifying, labelling and searching.
#
# **Both sides and generation.** An encoder that reads both sides and a decoder that writes from left to right need not be rivals: the Transformer of 2017 had both (notebook 11). BART ([Lewis et al. 2020](https://arxiv.org/abs/1910.13461)) and T5
# ([Raffel et al. 2020](https://arxiv.org/abs/1910.10683)) train such a pair by taking spans of words out of a text and writing them again. T5 also states every task as text to be written.
#
# GPT-3 ([Brown et al. 2020](https://arxiv.org/abs/2005.14165)) went the other way: it kept the plain causal objective, was made far larger, and was given its tasks as a text with a few
# examples, the *prompt*, in place of fine-tuning: *in-context learning*. A causal model can also be *told* the evidence before it has to answer: the order of a prompt is a choice, and much that BERT reads on the right can be put on the left.
#
# ## 11. Essays
#
# In at most twelve lines, in English or in French: **what are the limits of the causal objective, and what is BERT's answer?** Use the council sentences with what you measured, explain 15 % and 80 / 10 / 10, and say honestly where the causal model was *not* worse.

# %% [markdown] essay="limits_essay"
# **Rubric** (3 points in all)
#
# - *The limit* (1): the state of a word depends on it and what stands before, so at *they* the two council sentences have exactly the same state (difference 0, in all 48 pairs), for any weights; with both sides the states differ (not 0), which makes a right answer possible, not certain.
# - *BERT's answer* (1): no causal mask; then the next word is visible and would be copied, so words are hidden and only these are scored. 15 %: more gives more to learn from each text, and less context; 80 / 10 / 10: `<mask>` never occurs in use, so also visible words may be wrong or right and must be judged.
# - *Evidence* (0.5): blanks where the right side tells: causal about two of three, masked more than nine of ten; or the greetings.
# - *Honesty* (0.5): one of: where the left side tells, the causal model is as good; a classifier at the last token has read everything in both models (one layer: the same numbers); on the turning reviews the causal model was better; it learns from every position of a text.
#
# **Misconceptions that cost marks**: "more layers let the causal model see the right side"; "the causal model cannot classify reviews that turn"; "different states prove that BERT understands the pronoun"; "all positions are scored"; "`<mask>` hides a word from attention" (it is visible, the *word* is not).
#
# **Answers as students write them**
#
# - *Full marks (3 of 3)*: "In a causal model the state of a word depends on it and on what stands before, so at *they* the two council sentences,
#   which differ only afterwards, have exactly the same state: difference 0, in all 48 pairs, for any weights. Reading both sides the states differ in
#   all of them, which makes a right answer possible, but does not give it. BERT drops the causal mask; then the next word could simply be copied, so
#   words are hidden and only these are scored. 15 % is a compromise: with more hidden one learns more from each text, but has less left to read. Of
#   the chosen words 80 % become `<mask>`, 10 % another word and 10 % stay, because `<mask>` never comes in real use and the model has to judge
#   visible words as well. Where the right side tells, the causal model fills 64 % of our blanks and the masked one 94 %; where the left side tells,
#   the causal one was not worse at all (99 against 92 %)." Why: *the limit* (1), *BERT's answer* (1), *evidence* (0.5), *honesty* (0.5).
# - *Half (1.5 of 3)*: "A causal model reads from left to right, so at *they* it cannot know what comes after. In our test the two council sentences
#   had the same state at this word in all 48 pairs, difference 0 whatever the weights, and with both sides they did not. Different states prove that
#   BERT understands whom *they* means. BERT hides 15 % of the words so that the others are not copied, and all positions are scored. Where the right
#   side tells, the causal model had 64 % and the masked one 94 %. So BERT is better in everything." Why: The same state for any weights is right, but
#   "prove that BERT understands" is a misconception: it makes a right answer possible, no more (0.5 of 1). *BERT's answer*: why words are hidden is
#   there; scoring all positions is wrong, 15 % is not explained and 80 / 10 / 10 is missing (0.5 of 1). *Evidence* (0.5). *Honesty* is missing (0.5
#   lost).
# - *No marks (0 of 3)*: "The causal objective has the limit that it is only causal: it predicts the next word and cannot look into the future. With
#   more layers it would see some of the right side, because each layer passes information on, but our model had too few. BERT's answer is to be
#   bidirectional, so it understands the whole sentence. It hides words from the attention with `<mask>`, and 15 % and 80 / 10 / 10 are the values
#   that worked best. The causal model cannot classify reviews that turn, since the verdict comes late." Why: No line is met: the first and the third
#   sentence repeat the question in other words, and the council sentences and all numbers are missing. Three misconceptions: more layers show the
#   right side, `<mask>` hides from attention, the causal model cannot classify reviews that turn (with two layers it had 0.92 and more).

# %% [markdown]
# In at most ten lines, in English or in French: **a newspaper wants (a) to sort readers' letters into complaints and praise with 300 labelled letters, (b) to have a short answer written to each. For which of the two would you take a masked model, and what would you add to it? Why not for both?** Use numbers of this notebook.

# %% [markdown] essay="finetuning_essay"
# **Rubric** (2 points in all)
#
# - *Sorting* (0.5): a pretrained masked model is a good choice (a pretrained causal one too: here it comes out a little higher).
# - *Fine-tuning* (0.5): a new head, small, on one token's state, and all (or some) of the weights trained on with the 300 labels (half of it without any number of the notebook); the pretraining knows which words keep company, the labels say which side is which. From scratch, 300 labels give about 56 %, after pretraining about 90 % or more.
# - *Writing* (1): a masked model trained as BERT was has no "next word", no order, no end, and the number of masks fixes the length; its conditionals need not belong to one distribution over texts. Take a causal model, or an encoder with a decoder (T5, BART).
#
# **Misconceptions that cost marks**: "fine-tuning teaches the language"; "the head is trained during pretraining"; "BERT cannot write because it is too small"; "put `<mask>` at the end and it becomes a language model" (section 9 shows what then comes).
#
# **Answers as students write them**
#
# - *Full marks (2 of 2)*: "For (a) I would take a masked model that has read many texts, though a causal one would do as well: here they end at 89
#   and 94 %. I add a small new head on the state of one token and train it, with all of the weights, on the 300 letters. Reading has already taught
#   which words keep company, the labels only say which side is a complaint; from scratch the same 300 give 56 %. For (b) I would not take it. It
#   fills blanks and has no next word: nothing says in which order to write or when to stop, and the number of `<mask>` fixes the length beforehand;
#   asked in turn, ours wrote hardly anything but full stops and exclamation marks. For the answers I take a causal model, or an encoder with a
#   decoder such as T5." Why: *sorting* (0.5), *fine-tuning* (0.5), *writing* (1), with numbers.
# - *Half (1 of 2)*: "To sort the letters I would take the masked model, because it reads both sides and had 89 % after pretraining. I add a head with
#   two outputs for one token and train it together with the model on the 300 letters; without pretraining it stays at 56 %, as the labels alone do
#   not tell which words belong together. For the answers I would take it as well. BERT cannot write only because it is too small. With a larger one
#   it is enough to put a `<mask>` at the end, fill it, and put the next one." Why: *sorting* and *fine-tuning* (1). *Writing* is lost (1): size is
#   not the reason, and `<mask>` at the end is what section 9 shows to fail, two misconceptions.
# - *No marks (0 of 2)*: "For (a) I would take a fresh model, because a pretrained one has read other texts and would confuse them with the letters;
#   fine-tuning then teaches it the language from the 300 letters. For (b) I would take the masked model. Its head is trained during pretraining, so
#   nothing has to be added, and with a `<mask>` at the end it becomes a language model. It is not good for both, since each model has been made for
#   one task only." Why: From scratch 300 labels give 56 %, so *sorting* is not met. *Fine-tuning* is replaced by two misconceptions (it teaches the
#   language; the head is trained before), and *writing* by a third (`<mask>` at the end), with no word on order, end or length. No number of the
#   notebook.

# %% [markdown] questions
# ## Three questions
#
# For yourself: open an answer to see whether it is right.
#
# 1. A causal model gets twice as many layers. Can its state at *they* now take account of *feared*, the word behind it?
#    - Yes: each layer passes on what the layer below has read. => Below, no state up to *they* has read anything behind *they* either. There is nothing to pass on.
#    - Not by itself, but enough training can bring it in. => The two states are the same for any weights, so for trained ones, too.
#    + No, with no number of layers and no training. => Layer for layer, it is made of what stands before; only a later state can have read it.
# 2. A word is chosen and becomes `<mask>`. What does that hide, and where is the loss taken?
#    - The position can no longer be looked at; the loss is taken at all positions. => The position stays visible, only its word is gone. And who scores all positions scores copies.
#    + The word is gone, the position is not; the loss is taken at all chosen positions. => Also at those that got another word or stayed as they were.
#    - The word is gone, the position is not; the loss is taken where the text shows a mask. => One chosen word in five shows no `<mask>`, and is scored all the same.
# 3. At the end of a text you put `<mask>`, fill it, put the next one, and so on. Why does a model trained as BERT was not write well in this way?
#    + It has learned each word from all others, not from those before it. => A `<mask>` before `<eos>` is a last word for it, and nothing tells in which order to write.
#    - It is too small: a larger one of the same kind would do it well. => Its training asks the same question at any size, and it is another question.
#    - The most probable word was taken; drawn words would read well. => The causal model took the most probable word as well, and wrote a piece of a review.

# %% [markdown]
# ## What to remember
#
# - A causal state has read what stands before it, exactly; no depth and no training adds a word of what follows. Measured: 0 against not 0.
# - Masked language modelling: choose 15 % of the *words*, 80 / 10 / 10, score only these, hide the padding from attention.
# - A blank is filled from both sides; where the evidence is on the right, the left side alone does not have it.
# - For one answer about a whole text, the last token of a causal model has read everything too. Whether both sides help has to be measured.
# - Fine-tuning adds a question to what was learned by reading. Generation needs an order: that is what the causal model has.
#
# **Go further.** First, in section 6, take rotary positions (notebook 02) for the model that reads both sides, `TransformerBase(..., positions="rotary", causal=False)`. Are hidden words found as often? And are the blanks filled as well, or does it need more passes for them?
#
# Then hide whole spans in place of single words (as T5 and SpanBERT do): write `mask_spans` with a mean length of 3 and the same 15 %, and compare `choose_right` after the same training. Are the blanks easier or harder? Notebook 08 looks at attention itself: how one head copies, and why two are better than one.

# %% [markdown]
# ## What others call it
#
# - **masked language modelling** (also *MLM*, a *cloze task*): guessing hidden words from both sides.
# - **bidirectional**: reading what stands before and what follows.
# - **dynamic masking**: other words are hidden at each pass.
# - **attention sink**: a token on which heads put their weight when they have nothing to say.
# - **coreference**: two expressions that mean the same, such as *they* and *the demonstrators*; a **Winograd schema** is a pair of sentences that tests it.
# - **special token**: a token that is no word, such as `<mask>`; BERT writes `[MASK]` and `[CLS]`.
# - **prompt**: the text that a model is given to go on with.
# - **in-context learning** (also *few-shot prompting*): doing a task from examples in the prompt, without any training.
# - **pretrain-fine-tune discrepancy**: what the model met in pretraining differs from what it meets later.
#
# **The short route** of six notebooks ends with 11, where encoder and decoder translate.

# %% experiment open=true
from tutor import progress

progress()
