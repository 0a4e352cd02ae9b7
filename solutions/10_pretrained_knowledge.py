# ---
# jupyter:
#   course:
#     teaches: what a model knows, and when it should keep silent
#     part: pretraining
#     column: 2
#     row: 3
#     builds_on: ["06"]
#     running: 2
#     questions:
#       - Where does a fact live?
#       - Why does a model that has read answer more, and how does it answer about people it has never read about?
#       - When should it rather not answer?
#   jupytext:
#     notebook_metadata_filter: course
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 10 · What a language model knows, and whether it knows that it knows
#
# *Where was Maria Sonivic born?* Nobody can work that out; one has to have read it. A small Transformer that has read short texts about 200 people answers such questions for people it was never asked about before. The answer comes
# from nowhere but its weights. In this notebook you prepare the reading, measure what it brings against the simplest baseline there is, and then find out: when this model says *Dublin*, should you believe it? It names a town for people whom no text ever mentioned, too.
#
# **When you are done, you can**
# - prepare text for span corruption, and test a random function by its properties;
# - measure exact match honestly, against a baseline that has seen no more than the model;
# - read confidence histograms and risk-coverage curves, and choose a threshold below which a model keeps silent;
# - say what such a threshold promises, for whom, and for whom it does not.
#
# **Time**: about 3 h. **Before this**: notebook 04 (input and target of a language model), 06 (pretraining and fine-tuning).
#
# | exercise | what it asks | points |
# |---|---|---|
# | `constant_baseline` | one town for everybody | 2 |
# | `corrupt_span` | a text with a span moved behind it | 6 |
# | `exact_match` | the share of answers right in every letter | 4 |
# | `risk_coverage` | how the risk changes as more people get an answer | 3 |
# | `answer_or_abstain` | a threshold that keeps a promise | 4 |
# | *essay* `pretraining_essay` | why reading helps | 2 |
# | *essay* `made_up_essay` | answers found and answers made up | 2 |
# | *essay* `unseen_name_essay` | a name never seen | 1 |
# | **total** | | **24** |
#
# Folded cells are experiments: no mark depends on them.

# %% setup
import copy
import math
from collections import Counter

import pandas as pd
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from helpers import plots
from tutor import by_hand, check, guess, hint, resume, reveal
from helpers.batches import IGNORE, Batch, Batches, Example, for_answers, for_language_model
from helpers.corpora import Split, load
from helpers.models import LanguageModel, TransformerBase
from helpers.training import schedule, train
from helpers.vocabulary import EOS, MASK, PAD, SOS, Vocabulary

# %% [markdown]
# ## 1. Three groups of people
#
# The people are invented, so nobody, and no model trained elsewhere, can know them. What matters is who is read about and who is asked about:
#
# | group | texts to read | question and answer in training |
# |---|---|---|
# | `train`: teaches what a question is | yes | yes |
# | `valid`: shows whether reading has helped | yes | **no** |
# | `test`: nobody has written about them | **no** | **no** |
#
# The second group is the interesting one. The model has read *Maria Sonivic ... Dublin*, but it was never asked about her. The third group is the control: here there is nothing to know.
#
# The picture shows the same model three times. It learns in the first two columns; in the last one it only answers.

# %% experiment
# @title One model, three times: it reads, learns what a question is, and is asked
from helpers.diagrams import Diagram

picture = Diagram(4.2, 2.7)
steps = {"pretraining": ("many texts", "loss on every\ntoken", "part", "loss"),
         "fine-tuning": ("question and\nanswer", "loss on the\nanswer", "part", "loss"),
         "asking": ("a new\nquestion", "an answer,\nor silence", "frozen", "data")}
for x, (name, (given, wanted, model, end)) in zip((0.75, 2.1, 3.45), steps.items()):
    picture.column(x, 0.4, [(f"{name} in", given, "data"), (name, "the model", model),
                            (f"{name} out", wanted, end)], step=0.8, width=1.2)
    picture.note((x, 2.52), name, ha="center", weight="bold")
picture.arrow("pretraining", "fine-tuning")
picture.arrow("fine-tuning", "asking")
picture.show(
    "Three columns, with one model that goes on from each to the next. Pretraining: it reads many "
    "texts, with a loss on every token. Fine-tuning: it reads a question with its answer, with a "
    "loss on the answer. Asking: it learns no more, and answers a new question, or keeps silent."
)

# %% [markdown]
# For real people change one line, the first of the next cell: `load("birthplaces")` has texts from Wikipedia. It has no third group (the cells then leave it out), and ten times as much to read: take a graphics card.

# %% experiment open=true
corpus = load("biographies")
people = {"read about": corpus.valid} | (
    {"never read about": corpus.test} if "test" in corpus.parts else {}
)

print(*corpus["texts"]["text"][:4], sep="\n")
print()
for name, part in {"train": corpus.train, **people}.items():
    print(f"{name:17} {len(part):3} people, for example: {part['question'][0]} {part['answer'][0]}")

# %% [markdown]
# The model reads **characters**, not words: a name like *Sonivic* is then made of letters that the model knows. A character vocabulary is small, and the special tokens come first.

# %% experiment
# @title The characters of the vocabulary, special tokens first
texts = [*corpus["texts"]["text"], *corpus.train["question"], *corpus.train["answer"]]
vocabulary = Vocabulary.learn(texts, "character", mask=True)
print(len(vocabulary), "tokens:", *vocabulary.tokens[:5], *("".join(vocabulary.tokens[5:])))

# %% [markdown]
# ### A mistake worth making once: another order
#
# A number means a token only together with its vocabulary. Below, the same sentence is encoded with our vocabulary and read with two others: one learned without `mask=True`, and one learned from the
# questions alone. Nothing fails. A model that was pretrained with one vocabulary and is fine-tuned with another reads such lines, and one concludes that pretraining does not help.

# %% experiment
# @title One encoded sentence, read with three vocabularies
numbers = vocabulary.encode("Where was Maria Sonivic born?")
others = {
    "ours": vocabulary,
    "without <mask>": Vocabulary.learn(texts, "character"),
    "of the questions": Vocabulary.learn(corpus.train["question"], "character", mask=True),
}
for name, other in others.items():
    print(f"{name:17} number {MASK} is {other.tokens[MASK]!r:9}",
          "".join(other.tokens[n] if n < len(other) else "?" for n in numbers))

# %% [markdown]
# So: **one vocabulary, learned once, kept with the weights**. And `<mask>` has its number, 4, from the start, although it is used only in section 3.
#
# ## 2. The baseline: one town for everybody
#
# Suppose that a model gets 5 % of the towns right. Is that good? It depends on what you get without knowing anything. There are 24 towns here, so a blind guess is right in 4 % of cases. A little better: always say the town that is the most frequent *in training*. It knows nothing
# of anybody, and a model that does not beat it has learned nothing of anybody either.
#
# Here one can cheat without noticing it. To choose the town that is most frequent **among the people you test on** gives a higher score, and is no baseline any more: it has seen the answers.
#
# ### Exercise: the constant baseline

# %% exercise="constant_baseline"
def constant_baseline(pairs: list[tuple[str, str]], others: list[tuple[str, str]]) -> tuple[str, float]:
    """Returns the most frequent answer of `pairs`, and the share of `others` for which it is right.

    Args:
        pairs: questions with their answers, at least one, from which the answer is chosen. Of equally
            frequent answers, the one that comes first in `pairs` counts.
        others: questions with their answers, at least one, on which it is tried.

    Returns:
        The answer, and a share from 0 to 1.
    """
    ### BEGIN SOLUTION
    place = Counter(answer for _, answer in pairs).most_common(1)[0][0]
    return place, sum(answer == place for _, answer in others) / len(others)
    ### END SOLUTION


# %% experiment
# @title The most frequent town of training, tried on the two other groups
def pairs_of(part: Split) -> list[tuple[str, str]]:
    """Returns the questions of a part of the corpus with their answers."""
    return list(zip(part["question"], part["answer"], strict=True))


baseline = {
    name: constant_baseline(pairs_of(corpus.train), pairs_of(part)) for name, part in people.items()
}
for name, (place, share) in baseline.items():
    print(f"{name}: everybody was born in {place}: {share:.1%} right")

# %% [markdown]
# (With the real people it is London: 5.0 %.)
#
# ## 3. How to read
#
# ### From left to right
#
# The plain way is notebook 04's: `<sos>` and the text as input, the text and `<eos>` as target. To predict *Dublin* after *As everybody knows, Alma Tutovic was born in*, a model must have stored it.
#
# ### With a gap
#
# From left to right, a model learns only in the direction of writing. **Span corruption** (T5, [Raffel et al. 2020](https://arxiv.org/abs/1910.10683), sections 3.1.4 and 3.3.4) takes a span out of the text, marks the gap, and lets the model write the span. In T5 an encoder reads the text with its gaps and a decoder writes. Here one causal model does both, so the span is put at the end:
#
# | | |
# |---|---|
# | text | `Olga was born in Porto.` |
# | prefix, **content**, suffix | `Olga was ` **`born in`** ` Porto.` |
# | what the model reads | `Olga was ` `<mask>` ` Porto.` `<mask>` **`born in`** `<pad>` `<pad>` ... |
#
# When the model comes to the second `<mask>`, it has read what stood **before and after** the gap, although it is causal. One text gives many exercises, because the gap is drawn again each time; sometimes it is the town, sometimes the name.
#
# The recipe in four steps, for a `block` of positions:
#
# 1. **Keep** the first $k$ characters, $k$ drawn evenly from 4 to the smaller of `len(text)` and `block` $- 1$. (More does not fit: with two masks, and one position more than `block` because of the shift, $k + 2 \le$ `block` $+ 1$. A text of fewer than 4 characters is kept whole.)
# 2. Draw the **length** of the content: at least 1, anew each time, a quarter of $k$ *on average*. How you get that mean is left to you; a length drawn evenly from 1 to a bit less than $k/2$ will do.
# 3. Draw its **start** anew each time, evenly among all that fit into the kept text: $k -$ length $+ 1$ positions, the first and the last too.
# 4. Put together `prefix <mask> suffix <mask> content`, fill up with `<pad>` to `block` + 1 numbers; `x` is all but the last of them, `y` all but the first.
#
# **By hand.** For the text `5 6 7 8 9`, kept whole, the content `7 8` and `block` = 9: write `x` and `y` one below the other. Which number of `y` is under the second `<mask>` of `x`? Write it in place of the dots, in quotes, or leave them and go on.

# %% guess
guess("the number under the second mask", ..., among=["4", "7", "8", "9"])

# %% experiment
# @title The text by hand: x, and below it y
whole = [5, 6, MASK, 9, MASK, 7, 8, PAD, PAD, PAD]  # block + 1 = 10 numbers
print("x", *whole[:-1])
print("y", *whole[1:])

# %% reveal
second = whole.index(MASK, whole.index(MASK) + 1)
reveal("the number under the second mask", str(whole[1:][second]))

# %% [markdown]
# It is 7, the first number of the content: having read the second `<mask>`, the model must say how the content begins.
#
# ### Exercise: corrupt a span
#
# A random function has no single right result. So the check calls yours hundreds of times and looks at **properties**: the pattern, the shift, how much is kept, the lengths. That is how you should test random functions of your own,
# too. Draw with `torch.randint(low, high, (), generator=rng)`, where `high` is left out.

# %% exercise="corrupt_span"
def corrupt_span(text: Tensor, rng: torch.Generator, block: int) -> tuple[Tensor, Tensor]:
    """Returns input x and target y, both `(block,)`: the beginning of a text with a span moved behind it.

    Args:
        text: the numbers of the characters, `(n,)`, n at least 1; no special tokens. It is left as it is.
        rng: where all chance comes from; the same seed gives the same result.
        block: numbers in x and in y, at least 8.

    Returns:
        x and y as in steps 1 to 4 above, with MASK and PAD of helpers.vocabulary; y is x one position
        ahead.
    """
    ### BEGIN SOLUTION
    def draw(low: int, high: int) -> int:  # both included
        return int(torch.randint(low, high + 1, (), generator=rng))

    longest = min(len(text), block - 1)
    kept = text[: draw(min(4, longest), longest)]  # (k,)
    length = draw(1, max(1, len(kept) // 2 - 1))  # mean k / 4
    start = draw(0, len(kept) - length)
    mask, end = torch.tensor([MASK]), start + length
    moved = torch.cat([kept[:start], mask, kept[end:], mask, kept[start:end]])  # (k + 2,)
    whole = torch.full((block + 1,), PAD)
    whole[: len(moved)] = moved
    return whole[:-1], whole[1:]
    ### END SOLUTION


# %% [markdown]
# Here is what yours makes of one text. In each line, what stands behind the second `<mask>` is the answer to an exercise.

# %% experiment
# @title Five times your corrupt_span on one text
rng = torch.Generator().manual_seed(0)
text = torch.tensor(vocabulary.encode(corpus["texts"]["text"][0]))
for _ in range(5):
    x, y = corrupt_span(text, rng, block=64)
    print("".join(vocabulary.tokens[n] for n in x if n != PAD))

# %% [markdown]
# ### A mistake worth making once: measure before the cut
#
# This version draws the length and the start of the content from the *whole* text, and cuts afterwards. It looks right, and so do its outputs. Look at what it does to the content when texts are longer than the block. In which share of the draws, from 0 to 1, is the content *empty*?

# %% guess
guess("the share of empty contents, drawn before the cut", ...)

# %% experiment
# @title How long is the content, drawn from what is kept and drawn before the cut?
def corrupt_too_early(text: Tensor, rng: torch.Generator, block: int) -> Tensor:
    """Returns the content alone; its length and position were drawn before the text was cut."""
    length = int(torch.randint(1, max(2, len(text) // 2), (), generator=rng))
    start = int(torch.randint(0, len(text) - length + 1, (), generator=rng))
    kept = text[: int(torch.randint(4, min(len(text), block - 1) + 1, (), generator=rng))]
    return kept[start : start + length]


def content_of(x: Tensor, y: Tensor) -> Tensor:
    """Returns what stands behind the second mask."""
    whole = torch.cat([x, y[-1:]])
    second = (whole == MASK).nonzero()[1]
    return whole[second + 1 :][whole[second + 1 :] != PAD]


long_text, block = torch.arange(5, 165), 64  # 160 characters, as in a longer biography
sizes = {
    "drawn from what is kept": [len(content_of(*corrupt_span(long_text, rng, block))) for _ in range(2000)],
    "drawn before the cut": [len(corrupt_too_early(long_text, rng, block)) for _ in range(2000)],
}
edges, classes = [0, 1, 5, 10, 15, 20, block], ["empty", "1-4", "5-9", "10-14", "15-19", "20+"]
figure, places = plots.panels(2, width=4.4, height=2.8)
for axes, (name, size), colour in zip(places, sizes.items(), plots.COLOURS):
    shares = pd.Series(pd.cut(size, edges, right=False, labels=classes)).value_counts(
        sort=False, normalize=True
    )
    axes.bar(classes, shares, color=colour)
    axes.set(title=name, xlabel="length of the content (characters)",
             ylabel="share of 2,000 draws", ylim=(0, 1))
empty = {name: sum(n == 0 for n in size) / len(size) for name, size in sizes.items()}
plots.show(figure, "Bars: share of the draws with a content of each length. "
           + "; ".join(f"{name}: {share:.0%} are empty" for name, share in empty.items()) + ".")
print({name: f"{share:.0%} empty" for name, share in empty.items()})

# %% reveal
reveal("the share of empty contents, drawn before the cut", empty["drawn before the cut"])

# %% [markdown]
# On the right, most of the exercises ask for nothing; on the left none does. No error is raised, and the loss cannot show it, since it is a mean over what is asked. Only a look at the properties finds it.
#
# ## 4. When is an answer right?
#
# The question goes in, and the model continues: with its most probable character, then with the most probable one after that, until it says `<eos>`. **Exact match** counts the answers that are right in every character *and stop where they should*. *Bern* for *Bergen* is not half right, it is another town.
#
# Writing character by character needs a call of the model for each. Here is a way to save them. Give the model the question **and the right answer**, as in training, and look at what it says at each position.
#
# Suppose that at every position its most probable character
# is the right one, up to `<eos>`. Then, left alone, it would have written exactly this answer: its first character is right, so before the second one it reads just what it has read here, and so on. And if it fails at some position, it would have written something else from there on. **One call for each pair is enough to know**, though not to know *what* it would have written instead.
#
# | input | ... | n | ? | D | u | b | ... | n |
# |---|---|---|---|---|---|---|---|---|
# | most probable next | | | **D** | **u** | **b** | **l** | ... | `<eos>` |
#
# Which row of the logits is the first that counts? That of the last number of the question.
#
# ### Exercise: exact match
#
# Either way is right: writing, or one look.

# %% exercise="exact_match"
def exact_match(model: LanguageModel, pairs: list[tuple[list[int], list[int]]]) -> float:
    """Returns the share of questions that the model answers exactly.

    An answer is exact when the model, after `<sos>` and the question, and always going on with its most
    probable number, writes the numbers of the answer and then `<eos>`.

    Args:
        model: gives logits `(b, n, V)` for tokens `(b, n)`. It is asked without dropout, and left in the
            mode (training or evaluation) in which it came.
        pairs: questions and answers as numbers, without special tokens; at least one pair.
    """
    ### BEGIN SOLUTION
    was_training = model.training
    model.eval()
    right = 0
    with torch.no_grad():
        for question, answer in pairs:
            logits = model(torch.tensor([[SOS, *question, *answer]]))  # (1, n, V)
            said = logits[0, len(question) :].argmax(dim=-1)  # from the last number of the question on
            right += said.tolist() == [*answer, EOS]
    model.train(was_training)
    return right / len(pairs)
    ### END SOLUTION


# %% [markdown] pause
# You can prepare texts for reading, and you have a baseline and a measure of right answers. What comes next is the model: it reads, answers, says how sure it is, and learns when to keep silent.

# %% [markdown]
# ## 5. Reading against not reading
#
# Now the experiment. Two models of the same size learn from the same 100 questions of `train`, each asked several times, for the same number of passes. One of them has read all the texts before, and goes on reading them between the questions, so that it does not forget.
#
# What share of right answers, from 0 to 1, do you expect from the model that has read, for the people read about and for those never read about? The baseline is above: one town for everybody is right for about 8 % of them.

# %% guess
guess("right answers about people read about, of the model that has read (share)", ...)

# %% guess
guess("right answers about people never read about, of the same model (share)", ...)

# %% [markdown]
# In pretraining, one batch in four is read with gaps (your `corrupt_span`), the others from left to right. With gaps alone a model of this size needs far more time for the same knowledge: the town of a person is then asked for in few of the exercises.

# %% experiment
# @title The model, and the batches of which one in four is read with gaps
def new_model(seed: int) -> LanguageModel:
    """Returns a small character model that knows nothing."""
    torch.manual_seed(seed)
    return LanguageModel(TransformerBase(len(vocabulary), d_model=128, n_layers=2, n_heads=4,
                                         dropout=0.0, positions="alibi", norm_first=True))


def with_gaps(batch: Batch, rng: torch.Generator) -> Batch:
    """Returns the batch, one in four with a span of each text moved behind it."""
    if torch.rand((), generator=rng) < 0.25:
        block = batch.tokens.shape[1]
        texts = [row[1:length] for row, length in zip(batch.tokens, batch.lengths)]  # without <sos>
        pairs = zip(*(corrupt_span(text, rng, block) for text in texts))
        x, y = (torch.stack(part).long() for part in pairs)  # (b, block) each
        batch.tokens, batch.target = x, y.masked_fill(y == PAD, IGNORE)
    return batch


read, ask = for_language_model(vocabulary, max_len=256), for_answers(vocabulary)
# for models of this size; for the real people take choose_device() of helpers.device
cpu = torch.device("cpu")

# %% measured
# @title The loss while the model reads 800 short texts
reader = new_model(seed=0)
batches = Batches(corpus["texts"], read, token_budget=512, change=with_gaps)
epochs = 40
factor = schedule("linear", 50, epochs * len(batches))
history = train(reader, batches, "language_model",
                epochs=epochs, learning_rate=4e-3, factor=factor, device=cpu)

for row in history.iloc[::4].to_dict("records"):
    print("epoch {epoch:2.0f}, step {step:4.0f}, loss {loss:.2f}, "
          "perplexity {perplexity:.2f}".format(**row))
lines = {"loss": history["loss"]}
axes = plots.curves(lines, history["step"].tolist(), title="Reading 800 short texts",
                    x_label="step", y_label="loss (nats per character)")
plots.show(axes.figure, plots.describe_curves(lines, history["step"].tolist(), "step", digits=1))

# %% [markdown]
# The curve falls fast while the model learns the patterns of the sentences. What comes after that is slow, and it is what we want: there is nothing left to learn but the names and the towns.
#
# Then the questions. `Batches` may mix rows of different kinds: a question where the answer alone is scored, or a text.

# %% measured
# @title Questions learned by models that have read and by models that have not
import sys

from tqdm import tqdm


def fine_tuned(model: LanguageModel, reads_on: bool, seed: int, epochs: int = 2) -> LanguageModel:
    """Returns a copy of the model that has learned what a question is."""
    questions = pd.concat([corpus.train.rows.assign(text="")] * 4)
    pages = [corpus["texts"].rows.assign(question="", answer="")] if reads_on else []
    split = Split("biographies/questions", "train", pd.concat([questions, *pages]).reset_index(drop=True))

    def encode(row: dict) -> Example:
        return ask(row) if row["question"] else read(row)

    model = copy.deepcopy(model)
    train(model, Batches(split, encode, token_budget=1024, seed=seed), "language_model",
          epochs=epochs, device=cpu, seed=seed, progress=False)
    return model.cpu()  # where its answers are read


seeds = range(3)
with tqdm(total=2 * len(seeds), unit="model", file=sys.stdout) as bar:
    answering = {"has not read": [], "has read": []}
    for seed in seeds:
        answering["has not read"].append(fine_tuned(new_model(seed), False, seed))
        answering["has read"].append(fine_tuned(reader, True, seed))
        bar.update(2)

# %% measured
# @title Right answers with reading and without, beside one town for everybody
coded = {name: [(vocabulary.encode(q), vocabulary.encode(a)) for q, a in pairs_of(part)]
         for name, part in people.items()}
shares = {way: {name: [exact_match(model, pairs) for model in models] for name, pairs in coded.items()}
          for way, models in answering.items()}
shares |= {"one town for everybody": {name: [share] for name, (_, share) in baseline.items()}}

figure, (axes,) = plots.panels(1, width=6.8, height=3.2)
for place, (way, found) in enumerate(shares.items()):
    for number, (name, values) in enumerate(found.items()):
        x = place + 0.3 * number - 0.15
        axes.bar(x, sum(values) / len(values), width=0.27,
                 color=plots.COLOURS[number], label=name if place == 0 else None)
        axes.plot([x, x], [min(values), max(values)], color="#1a1a1a", linewidth=1.5)
axes.set(title="Where was X born? Mean and range of three seeds", ylabel="exact match (share)",
         xticks=range(len(shares)), xticklabels=list(shares))
axes.legend(frameon=False)
told = {way: {name: f"{sum(v) / len(v):.0%}" for name, v in found.items()} for way, found in shares.items()}
plots.show(figure, "Bars: share of right answers. "
           + "; ".join(f"{way}: " + ", ".join(f"{n} {s}" for n, s in found.items())
                       for way, found in told.items()) + ".")
print(pd.DataFrame(told).T)

# %% reveal
by_group = [sum(found) / len(found) for found in shares["has read"].values()]  # means of three seeds
reveal("right answers about people read about, of the model that has read (share)", by_group[0])

# %% reveal
reveal("right answers about people never read about, of the same model (share)", by_group[-1])

# %% [markdown]
# Three things to see:
#
# - **Reading makes the difference**: several times the baseline, for people about whom the model was never asked. Their towns were stored in reading, and the 100 questions about *others* taught it only how to bring them out.
# - **Not having read is not better than the baseline.** The questions of `train` can be learned by heart, and nothing follows from them for anybody else.
# - **Nobody beats the baseline for people never read about.** There is nothing to know.
#
# The range, the black lines, is that of the fine-tuning; all three models that have read start from the same reading.
#
# (With the real people, in a run of the course that `docs/results.md` describes: London for everybody is right for 5.0 %, the model that has not read for 0.4 %, the one that has read for 5.2 % when it is asked at once. One that has learned to write down the text about the person first, and then to answer, is right for 50.9 % by `docs/results.md`. There each place is told once, in one form, and the bare question does not bring it out.)
#
# ### Essay: why does reading help?
#
# In at most eight lines, in English or in French: **both models learn from the same 100 questions. What does the pretrained one bring along, where is it, and why can 100 questions about other people bring it out?** Use two numbers from the figure, and say what the third group of people is good for in this argument.

# %% [markdown] essay="pretraining_essay"
# **Rubric** (2 points in all)
#
# - *Facts in the weights* (1): reading stored pairs of name and town in the parameters; the question itself holds no hint, and the answering model has no text in front of it. Fine-tuning teaches the form (question, then town, then stop), not the facts: the people asked about in
#   `valid` occur in no question of training.
# - *Evidence* (0.5): two numbers, for example the share for people read about with and without reading, against the baseline.
# - *The control* (0.5): people never read about stay below the baseline, at about the 4 % of a blind guess, with both models; so it is not "better guessing" or "better English", but what was read about *these* people.
#
# **Misconceptions that cost marks**: "the model looks the texts up" (it has no access to them); "it has learned the answers in fine-tuning"; "pretraining helps because it gives better embeddings" alone, without facts.
#
# **Answers as students write them**
#
# - *Full marks (2 of 2)*: "The pretrained model brings along pairs of name and town that it has stored in its weights while it read; when it is
#   asked, it has no text before it, and the question itself holds no hint. The 100 questions teach it the form, that is, question, town, stop. The
#   people of `valid` are in none of these questions, so their towns can only come from reading. It gives the right town for 50 % of them, the model
#   that has not read for 4 %, and Lyon for everybody would be right for 8 %. The third group is the control: of people never read about it gets 5 % right, below the 8 % of the baseline. So reading has not made it better at guessing towns; it knows something of *these* people." Why: *facts in
#   the weights* (1), *evidence* (0.5), *the control* (0.5).
# - *Half (1 of 2)*: "The pretrained model has read sentences about these people and keeps what it has read in its parameters, since at the question
#   no text is given. This is why it reaches 50 % where the model without reading has 4 % and one town for everybody 8 %. The 100 questions are where
#   it learns the answers: the more of them, the more towns it knows. The third group has 5 %, which shows that the model should be trained for
#   longer." Why: That the facts lie in the weights is there, but "learns the answers in the questions" is a misconception, as nobody of `valid` is
#   asked about in training (0.5 of 1). *Evidence* (0.5). *The control* is misread: more training gives nothing about people who are in no text (0.5
#   lost).
# - *No marks (0 of 2)*: "Pretraining helps because it gives the model better embeddings and better English, so it understands the question. When it
#   is asked for a person, it looks the texts up that it has read and finds the town there. From 100 questions it has learned the answers, and
#   therefore it can answer similar ones. The third group is there to test the model on more people." Why: Three misconceptions in three sentences
#   (embeddings without facts, looking texts up, answers learned in fine-tuning), no number, and the third group without its use in the argument.

# %% [markdown]
# ## 6. How sure is it?
#
# The model does not only say *Dublin*. It says it with a probability: that of the first character, times that of the second given the first, and so on to `<eos>`. We call this product the **confidence**.
#
# **By hand.** A model writes *Lyon*, and gives *L*, *y*, *o*, *n* and `<eos>` the probabilities 0.8, 0.9, 1, 1 and 1. Which confidence is that? And can the answer with the highest confidence be one that does *not* begin with the most probable character?

# %% guess
guess("the confidence in Lyon", ...)

# %% experiment
# @title The confidence in Lyon
print(f"confidence: {math.prod([0.8, 0.9, 1, 1, 1]):.2f}")

# %% reveal
reveal("the confidence in Lyon", math.prod([0.8, 0.9, 1, 1, 1]))

# %% [markdown]
# To the second question: yes. If *L* has 0.6 and four towns share it evenly, each gets 0.15; *P* with 0.4 and one town gets 0.4.
#
# To know the confidence, we have to let the model write. This function answers many questions side by side, and adds up the logarithms of the probabilities until each answer has come to its end.

# %% experiment
# @title How answers are written, each with its confidence
@torch.no_grad()
def answers(model: LanguageModel, questions: list[str], longest: int = 24) -> tuple[list[str], Tensor]:
    """Returns the model's answer to each question, character by character, and its confidence
    in each, `(b,)`."""
    model.eval()
    prompts = [torch.tensor([SOS, *vocabulary.encode(question)]) for question in questions]
    ends = torch.tensor([len(prompt) for prompt in prompts])  # (b,), where each answer begins
    rows, done, sure = (
        torch.arange(len(prompts)), torch.zeros(len(prompts), dtype=torch.bool), torch.zeros(len(prompts))
    )
    tokens = torch.nn.functional.pad(pad_sequence(prompts, batch_first=True), (0, longest))
    for step in range(longest):
        hidden = model.base(tokens[:, : int(ends.max()) + step])[rows, ends + step - 1]  # (b, D)
        best = model.head(hidden).log_softmax(dim=-1).max(dim=-1)  # of each: value and number
        sure += best.values.masked_fill(done, 0.0)
        tokens[rows, ends + step] = best.indices.masked_fill(done, EOS)
        done |= best.indices == EOS
        if done.all():
            break
    written = [vocabulary.decode(row[end : end + longest].tolist()) for row, end in zip(tokens, ends)]
    return written, sure.exp()


# %% measured
# @title The six surest answers about each group of people
found = {name: [answers(model, part["question"]) for model in answering["has read"]]
         for name, part in people.items()}  # of three seeds each
firsts = {name: runs[0] for name, runs in found.items()}
table = pd.concat(
    pd.DataFrame({"group": name, "question": part["question"], "says": firsts[name][0],
                  "confidence": firsts[name][1].tolist(), "truth": part["answer"]})
    for name, part in people.items()
)
table["right"] = table["says"] == table["truth"]
surest = pd.concat(rows.nlargest(6, "confidence") for _, rows in table.groupby("group", sort=False))
print(surest.round({"confidence": 3}).to_string(index=False))

# %% [markdown]
# Look at the lower half. These people occur in no text. The model answers at once, with a real town, in the right form, and its confidence is not small. Nothing in the *wording* of an answer says whether it was found or made up. (A made-up answer is called a *hallucination*.)
#
# Does the confidence say it? Three histograms: right answers, wrong answers about people it has read about, and answers about people it cannot know.

# %% measured
# @title How sure is the model: right, wrong, and about people it cannot know?
parts = {
    "read about, right": table[(table["group"] == "read about") & table["right"]],
    "read about, wrong": table[(table["group"] == "read about") & ~table["right"]],
} | {name: table[table["group"] == name] for name in people if name != "read about"}
figure, places = plots.panels(len(parts), width=3.0, height=2.6)
for axes, (name, given), colour in zip(
    places, parts.items(), (plots.COLOURS[3], plots.COLOURS[1], plots.COLOURS[0])
):
    weight = [1 / max(1, len(given))] * len(given)  # bars add up to 1
    axes.hist(given["confidence"], bins=[n / 10 for n in range(11)], weights=weight, color=colour)
    axes.axvline(given["confidence"].median(), color="#1a1a1a", linestyle="--", linewidth=1)
    axes.set(title=f"{name} ({len(given)})", xlabel="confidence (probability)",
             ylabel="share of the answers", ylim=(0, 0.5))
medians = ", ".join(f"{name}: {given['confidence'].median():.1f}" for name, given in parts.items())
plots.show(figure, "Histograms of the confidence, one for each group of answers. "
           f"Medians, dashed: {medians}.")
print("median confidence:", medians)

# %% [markdown]
# Right answers tend to be surer than wrong ones, so the confidence does carry information. And for people it has never read about, the model is by no means the least sure. The histograms overlap, and there is no gap at which one could say: from here on it *knows*. What can be had is a trade: fewer answers for fewer mistakes.
#
# ### Is it as often right as it is sure?
#
# A model is *calibrated* if of the answers with a confidence of 0.8 about 80 % are right, and so at every level. To measure it, sort the answers into bins by their confidence; in each bin compare the share of right answers with the mean confidence. The mean of the differences, where bin $b$ counts by its $n_b$ of the $n$ answers, is the *expected calibration error*
# ([Guo et al. 2017](https://arxiv.org/abs/1706.04599), section 2): $\sum_b \frac{n_b}{n}\,|\text{right}_b - \text{confidence}_b|$.
#
# **By hand.** Two answers have a confidence of 0.9, and both are right; two have 0.6, and one is right. What is the error, as a share from 0 to 1?

# %% guess
guess("the calibration error of the four answers", ...)

# %% measured
# @title The calibration error of the example, and of each group
def calibration_error(confidence: Tensor, right: Tensor, bins: int = 10) -> float:
    """Returns the expected calibration error of answers, `(n,)` both, in bins of equal width."""
    bin_of = (confidence * bins).long().clamp(max=bins - 1)  # (n,)
    gaps = [(right[bin_of == b].float().mean() - confidence[bin_of == b].mean()).abs()
            * (bin_of == b).float().mean() for b in bin_of.unique()]
    return float(sum(gaps))


example = torch.tensor([0.9, 0.9, 0.6, 0.6]), torch.tensor([True, True, True, False])
print(f"the example by hand: {calibration_error(*example):.2f}")
for name, rows in table.groupby("group", sort=False):
    sure, right = torch.tensor(rows["confidence"].tolist()), torch.tensor(rows["right"].tolist())
    print(f"{name:17} mean confidence {sure.mean():.2f}, right {right.float().mean():.2f}, "
          f"calibration error {calibration_error(sure, right):.2f}")

# %% reveal
reveal("the calibration error of the four answers", calibration_error(*example))

# %% [markdown]
# In the example each of the two bins holds half of the answers and is off by 0.1: $\frac12 \cdot 0.1 + \frac12 \cdot 0.1 = 0.1$.
#
# Where nearly all answers are wrong, the error is about the mean confidence itself.
#
# Calibration is measured *for somebody*: a model may be calibrated for people it has read about and far from it for others. And it is another question than the *order* of the answers, which section 7 uses: halve every confidence, and the order stays.
#
# ## 7. Risk and coverage
#
# Let the model be allowed to say *I do not know*. It answers first where it is surest, then where it is second surest, and so on. After $k$ of $n$ answers:
#
# $$\text{coverage} = \frac{k}{n} \qquad\qquad \text{risk} = \frac{\text{wrong ones among these } k}{k}$$
#
# **By hand.** Four people, with confidence 0.9, 0.4, 0.7, 0.2; the answers are right, wrong, wrong, right. In which order are they answered, and what are coverage and risk after each?

# %% by_hand
by_hand("risk_coverage", [
    [..., ..., ..., ...],  # coverage after 1, 2, 3 and 4 answers
    [..., ..., ..., ...],  # risk
])

# %% [markdown]
# They are answered in the order 0.9, 0.7, 0.4, 0.2: right, wrong, wrong, right. Coverage is 1/4, 1/2, 3/4 and 1, and the risk is 0, 1/2, 2/3 and 1/2.
#
# ### Exercise: the risk-coverage curve

# %% exercise="risk_coverage"
def risk_coverage(confidence: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
    """Returns coverage and risk after each answer, `(n,)` both, the surest answered first.

    Args:
        confidence: of the answer to each of n people, a probability or its logarithm, `(n,)`, in any
            order; no two are equal.
        right: whether it is right, bool `(n,)`.

    Returns:
        Coverage, from 1/n to 1, and the share of wrong answers among those given so far.
    """
    ### BEGIN SOLUTION
    order = confidence.argsort(descending=True)
    given = torch.arange(1, len(right) + 1)  # (n,), how many have an answer
    return given / len(right), (~right[order]).cumsum(dim=0) / given
    ### END SOLUTION


# %% measured
# @title Risk and coverage for each group: mean and range of three seeds
def judged(given: tuple[list[str], Tensor], part: Split) -> tuple[Tensor, Tensor]:
    """Returns the confidence of each answer given and whether it is right, `(n,)` both."""
    said, confidence = given
    return confidence, torch.tensor([a == b for a, b in zip(said, part["answer"], strict=True)])


grid = [share / 20 for share in range(2, 21)]  # coverages from 10 % on; below, a handful of answers decides
judgements = {name: [judged(given, part) for given in found[name]] for name, part in people.items()}
curves = {}
for name, runs in judgements.items():
    risks = [risk_coverage(*run)[1] for run in runs]
    curves[name] = [[float(risk[round(c * len(risk)) - 1]) for c in grid] for risk in risks]
axes = plots.curves(curves, grid, title="The model that has read: mean and range of three seeds",
                    x_label="coverage (share of people who get an answer)",
                    y_label="risk (share of wrong answers)")
axes.set(ylim=(0, 1.03))
plots.show(axes.figure, plots.describe_curves(curves, grid, "coverage", digits=1))

# %% [markdown]
# For people it has read about, silence pays: the fewer answers it gives, the better they are. At coverage 1 the risk is one minus the exact match.
#
# For people it has never read about, the curve is flat and high. However few answers it gives, nearly all are wrong: where there is nothing to know, being sure means nothing. Keep this figure in mind for the next section.
#
# ## 8. Answer, or abstain
#
# A threshold turns the curve into a rule: answer if confidence $\ge$ threshold, otherwise say nothing. It is chosen on people whose answers we may look at (`dev`), so that the risk there is at most a given `max_risk`, and as many as possible get an answer. How well it works shows on **others**.
#
# Choosing it on the very people on whom it is measured would be the mistake of section 2 again: the promise is kept there by construction.
#
# Two subtleties. The risk does not always rise with the number of answers (in your example by hand: 0, 1/2, 2/3, 1/2), so look at **all** thresholds. And people who are equally sure get an answer together or not at all.
#
# ### Exercise: the rule

# %% exercise="answer_or_abstain"
def answer_or_abstain(dev: tuple[Tensor, Tensor], test: tuple[Tensor, Tensor],
                      max_risk: float) -> tuple[float, float, float]:
    """Returns a threshold chosen on dev, and the coverage and the risk that it gives on test.

    A person gets an answer if the confidence is at least the threshold. The threshold is the lowest of the
    confidences of dev with which the share of wrong answers among those given on dev is at most
    `max_risk`; if there is none, it is `math.inf`, and nobody gets an answer.

    Args:
        dev, test: for each of its n persons, at least one, the confidence `(n,)` and whether the answer is
            right, bool `(n,)`; dev and test have an n each.
        max_risk: a share from 0 to 1.

    Returns:
        Threshold, coverage on test, and risk on test (0 where nobody gets an answer).
    """
    ### BEGIN SOLUTION
    def measure(part: tuple[Tensor, Tensor], threshold: float) -> tuple[float, float]:
        confidence, right = part
        given = right[confidence >= threshold]
        return len(given) / len(right), int((~given).sum()) / max(1, len(given))

    candidates = dev[0].unique().tolist()  # all of them: the risk may rise and fall again
    allowed = [candidate for candidate in candidates if measure(dev, candidate)[1] <= max_risk]
    threshold = min(allowed, default=math.inf)
    return threshold, *measure(test, threshold)
    ### END SOLUTION


# %% [markdown]
# Half of the people read about choose the threshold; the other half and the people never read about show how well it works. The promise is: at most a quarter of the answers given are wrong. For which group will it be kept, with each of the three seeds? Write one of the four in quotes.

# %% guess
guess("for whom the promise is kept", ..., among=["read about", "never read about", "both", "neither"])

# %% measured
# @title The threshold of each seed, and how well it works for both groups
MAX_RISK = 0.25
half = len(corpus.valid) // 2
rows = []
for seed in seeds:
    parts = {name: runs[seed] for name, runs in judgements.items()}
    confidence, right = parts["read about"]
    dev = confidence[:half], right[:half]
    parts["read about"] = confidence[half:], right[half:]
    for name, part in parts.items():
        threshold, coverage, risk = answer_or_abstain(dev, part, MAX_RISK)
        rows.append({"seed": seed, "group": name, "threshold": threshold, "coverage": coverage,
                     "risk": risk, "risk of answering all": float((~part[1]).float().mean())})
print(pd.DataFrame(rows).round(2).to_string(index=False))

# %% reveal
broken = {row["group"] for row in rows if row["risk"] > MAX_RISK}
kept = [name for name in people if name not in broken]
reveal("for whom the promise is kept", kept[0] if len(kept) == 1 else "both" if kept else "neither")

# %% [markdown]
# - **Among people like those of dev**, silence pays: the risk lies below that of answering all. Is it below the promised quarter? In our run it is, for each of the three seeds (0.09, 0.07, 0.00), and the two highest thresholds pay for it: they answer only 30 and 10 % of the questions.
#
#   Do not rely on it. The threshold is the *lowest* that keeps the promise on the fifty people of dev, so luck with these fifty has a part in it. With fifty others it may turn out worse: a few wrong answers more or less move the risk by 0.1. More people in dev, or a promise with some room, would help.
# - **Among people never read about**, the same threshold still lets some pass (between 7 and 39 % in our run), and nearly all of these answers are wrong. The rule never promised anything about them. A threshold holds for people *drawn like those it was chosen on*, and in dev there was nobody who is unknown.
#
# That is the practical lesson. Users do ask about people whom no text mentions, and no error says so. Put such people into dev, and the rule becomes cautious; it is cautious enough if their share in dev is their share in the questions of real users.
#
# ### Or look it up
#
# Silence is not the only choice below the threshold. A student's review of this task proposes a database there, and doubts it at once (it "defeats the purpose of the model").
#
# We have such a database: the texts themselves. The cell below reads the name in the question, collects the texts that name this person, and takes the town that they mention most often; where no text names the person, it has nothing to say. (The first
# model, with its own threshold; of the people read about, only the half that did not choose it.)
#
# Which wrong answers will be left, in each of the two groups? What share of the people never read about, from 0 to 1, will get one?

# %% guess
guess("wrong answers about people never read about, looked up when unsure (share)", ...)

# %% measured
# @title Right, wrong and no answer: silent when unsure, or looking it up
towns = set(corpus.train["answer"])


def looked_up(question: str) -> str | None:
    """Returns the town that the texts about the person of a question mention, None when there is none."""
    name = question.removeprefix("Where was ").removesuffix(" born?")
    about = [text for text in corpus["texts"]["text"] if name in text]
    counts = Counter(town for text in about for town in towns if town in text)
    return counts.most_common(1)[0][0] if counts else None


limit, outcomes = rows[0]["threshold"], {}
for name, group in table.groupby("group", sort=False):
    if name == "read about":
        group = group.iloc[half:]  # the other half has chosen the threshold
    sure, in_texts = group["confidence"] >= limit, group["question"].map(looked_up)
    for rule, said in {"answers all": group["says"], "silent when unsure": group["says"].where(sure),
                       "looks it up when unsure": group["says"].where(sure, in_texts),
                       "always looks it up": in_texts}.items():
        right, silent = (said == group["truth"]).mean(), said.isna().mean()
        outcomes[name, rule] = {"right": right, "wrong": 1 - right - silent, "no answer": silent}
pd.DataFrame(outcomes).T.map("{:.0%}".format)

# %% reveal
still_wrong = outcomes[[*people][-1], "looks it up when unsure"]["wrong"]
reveal("wrong answers about people never read about, looked up when unsure (share)", still_wrong)

# %% [markdown]
# Looking it up corrects what the model is unsure of, and nothing else: the wrong answers that are left are those of which it was sure, in both groups. For people without a text, the database says so, which the model never does.
#
# And the last row of each group shows that the weak part is the confidence: to look *always* is best, where the
# facts stand in texts that can be found. Here that is easy, because each name belongs to one person and is written in one way. To find the right passage among millions, for a question in other words than the text, is a model's work again: *retrieval*, whose passages a second model then reads before it answers (*retrieval-augmented generation*) ([Lewis et al. 2020](https://arxiv.org/abs/2005.11401)).
#
# Back to the threshold. Move the slider with the mouse or the arrow keys. Where do the made-up answers disappear, and what is left of the right ones there?

# %% interactive
# @title Right, wrong and withheld answers for one threshold: move the slider
from ipywidgets import FloatSlider, interact


def show_rule(threshold: float) -> None:
    """Draws for each group how many answers are right, wrong and withheld with this threshold."""
    figure, (axes,) = plots.panels(1, width=7.2, height=2.2)
    told = []
    for row, (name, rows) in enumerate(table.groupby("group", sort=False)):
        given = rows[rows["confidence"] >= threshold]
        shares = {"right": given["right"].sum() / len(rows), "wrong": (~given["right"]).sum() / len(rows)}
        shares["no answer"] = 1 - sum(shares.values())
        left = 0.0
        for (kind, share), colour in zip(shares.items(), (plots.COLOURS[3], plots.COLOURS[1], "#bbbbbb")):
            axes.barh(row, share, left=left, color=colour, label=kind if row == 0 else None)
            left += share
        told.append(f"{name}: " + ", ".join(f"{kind} {share:.0%}" for kind, share in shares.items()))
    axes.set(title=f"Answers with confidence of at least {threshold:.2f}", xlabel="share of the people",
             xlim=(0, 1), yticks=range(len(told)), yticklabels=table["group"].unique())
    axes.invert_yaxis()  # the first group on top
    axes.legend(ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.3), frameon=False)
    plots.show(figure, "; ".join(told) + ".")


interact(show_rule, threshold=FloatSlider(value=0.5, min=0, max=1, step=0.05, continuous_update=False));

# %% measured
# @title The same picture for those who only read: thresholds 0.2 and 0.9
show_rule(0.2)
show_rule(0.9)

# %% [markdown]
# ## 9. Two essays
#
# **Essay 1**, at most ten lines, in English or in French. An assistant built like this model answers questions about people. Some answers it has read, others it makes up, and both look alike. **Name two different concerns for those who use it or build on it, each with an example from this notebook, and say for each what would make it smaller.**

# %% [markdown] essay="made_up_essay"
# **Rubric** (2 points in all; 1 for each concern with example and remedy, 0.5 where one of these is missing)
#
# Two concerns that are really different, such as:
#
# - *The user cannot tell*: same form, same tone, often the same confidence for people never read about. Example: towns named for the third group. Remedy: show the confidence and abstain; give the source (retrieval of the text in place of recall); an answer "I do not know" that training rewards.
# - *Errors are believed and spread*: made-up answers are plausible (real towns), so nobody checks them; they enter other texts, from which the next model learns. Remedy: mark generated text, check against sources.
# - *The promise does not carry over*: thresholds and accuracies measured on people read about say nothing about others. Example: the table of section 8. Remedy: unknown people in dev; measure by group.
# - *It concerns people*: a false statement about a person may harm; rare people are hit more often, as less is written about them. Remedy: abstain on persons, a way to object and correct.
# - *Nobody can say where it comes from*: a fact in the weights has no source, cannot be looked up, corrected or deleted one by one.
#
# **Misconceptions that cost marks**: "a bigger model does not make things up"; "a threshold solves it"; two concerns that are the same in other words.
#
# **Answers as students write them**
#
# - *Full marks (2 of 2)*: "First, a user cannot tell a read answer from an invented one: both are a town, said with the same certainty. The model
#   says Dublin for Igor Busirini, about whom it has read nothing, with a confidence of 0.98, while the median of its right answers is 0.6. It would
#   help to reward 'I do not know' in training, or to fetch the text and show it as the source. Second, a promise that was measured on some people
#   does not hold for others. The threshold for at most a quarter of wrong answers, chosen on people read about, lets 7 to 39 % of the unknown ones pass, and 86 % or more of these answers are wrong. Whoever builds on it has to put unknown people into dev and to report each group by itself."
#   Why: Two different concerns, each with example and remedy (1 + 1).
# - *Half (1 of 2)*: "A first concern is that one cannot see whether an answer is made up, because it looks like a right one: for Igor Busirini, never read about, it says Dublin with a confidence of 0.98, and the truth is Leeds. The source should be shown with the answer, and where there is
#   none, the model should say nothing. A second concern is that users do not know which answers are wrong. For example, Anna Gifezek was not born in Riga. One should use a bigger model, which does not make things up." Why: The first concern in full (1). The second is the first one in other
#   words, which is a misconception, so its example does not count for it, and the bigger model is no remedy (1 lost).
# - *No marks (0 of 2)*: "The model makes up answers, and this is a concern, because some answers are read and others are made up. Another concern is
#   that made-up answers are not true. Both would vanish with a bigger model, which knows all people and has nothing to make up. Until then a
#   threshold of 0.9 solves it, because all answers above it are right." Why: Both concerns restate the question and are the same one; no example. "A
#   threshold solves it" and "a bigger model does not make things up" are misconceptions: above 0.9 the table of section 6 has five answers about
#   people never read about, all of them wrong.

# %% [markdown]
# **Essay 2**, at most five lines, in English or in French. **What does the model do, step by step, when it is asked about a name it has never seen, and why does it not stop?** Say why its answer is a town at all, and which towns you expect.

# %% [markdown] essay="unseen_name_essay"
# **Rubric** (1 point in all)
#
# - *Mechanism* (0.5): the name is read letter by letter, each of them known; there is no place in the model that asks "have I seen this?". The hidden state is *some* state, near to those of similar names or patterns, and the head makes of any state a distribution over characters; the most probable one is written, and so on.
# - *Form and content* (0.5): training has never rewarded anything but a town behind a question, so form and end are right; the town is that of names that look similar (same first name or letters) or a frequent one. "I do not know" was no answer in any text.
#
# **Misconceptions that cost marks**: "the name becomes `<oov>`" (characters are known); "it answers at random" (the same question gets the same answer).
#
# **Answers as students write them**
#
# - *Full marks (1 of 1)*: "It reads the name letter by letter, and it knows each letter; nothing in it asks whether it has seen the whole. The
#   letters give some hidden state, near to those of similar names, and the head turns any state into probabilities of characters, so it writes the
#   most probable one, and the next, to the end. In training nothing but a town ever followed a question, and 'I do not know' stood nowhere, so I
#   expect a town: that of names that look alike, or a frequent one such as Lyon." Why: *mechanism* (0.5) and *form and content* (0.5).
# - *Half (0.5 of 1)*: "The name becomes `<oov>`, because it is not in the vocabulary, and so the model has nothing to go by. It answers all the same,
#   since in training a town came after each question and never 'I do not know'. I expect frequent towns, such as Lyon, or those of people with the
#   same first name." Why: *form and content* (0.5). *Mechanism* is lost by the first misconception: characters are known, so nothing becomes `<oov>`
#   (0.5 lost).
# - *No marks (0 of 1)*: "The model sees that it does not know the name and then answers at random. It does not stop because it was not told to stop.
#   Since it guesses, each time another town may come out, and I expect all towns equally often." Why: Nothing in the model sees that a name is new,
#   and the same question gets the same answer: the second misconception carries the answer. "It was not told to stop" restates the question.

# %% [markdown] questions
# ## Three questions
#
# For yourself: open an answer to see whether it is right.
#
# 1. A model that has read about 100 people is fine-tuned on questions about 100 others. Where does its answer about the first ones come from?
#    - From the texts, in which it looks the name up. => It has no text in front of it when it is asked, only the question and its weights.
#    + From its weights, where reading has stored the towns. => Fine-tuning has taught it the form: question, town, stop.
#    - From fine-tuning, which has taught it these answers. => The people asked about occur in no question of fine-tuning.
#    - From better embeddings, with which it guesses better. => Then it would guess better for people never read about, too; there it stays below the baseline.
# 2. A threshold was chosen on people read about so that at most a quarter of the answers are wrong. What does it promise?
#    - At most a quarter of wrong answers for anybody who is asked about. => Of the people never read about some pass, and nearly all of these answers are wrong.
#    - That each answer with a confidence above it is right. => It speaks of a share among many answers, and even that held on the people of dev alone.
#    + Hardly more than a quarter, for people like those of dev. => And luck with these has a part in it; for others it promises nothing.
# 3. Why does the model name a town for somebody whom no text mentions?
#    - The name becomes an unknown token, so it has nothing to go by. => It reads characters, and each of them is known.
#    - It answers at random where it does not know. => The same question gets the same answer each time, often with high confidence.
#    - It is too small; a larger one would notice that the name is new. => No part of a larger one asks "have I read this name?" either, and training rewards a town all the same.
#    + Any state gives some answer, and only towns followed questions. => Nothing in it checks whether the name was read, and no text taught it to say that it does not know.

# %% [markdown]
# ## What to remember
#
# - Facts that were read are in the weights. Fine-tuning on questions about *others* can bring them out.
# - A baseline chooses on training data too, and a rule chooses its threshold on dev. If you choose on test, you have nothing left to measure with.
# - Test random functions by their properties: pattern, range, mean, spread, seed. Draw lengths from what is *kept*.
# - One vocabulary, one order, kept with the weights.
# - Exact match of greedy answers needs one call for each pair: is every character of the answer, and then `<eos>`, the most probable one after those before it?
# - Confidence sorts answers among people like those of dev. About people never read about, it promises nothing.
#
# **Go further.** Put people never read about into dev (half of `test`), choose the threshold again, and measure on the rest: how much coverage does honesty cost? Then let the model *learn* to abstain: teach it in fine-tuning to answer `?` for invented names. Does it say `?` for
# the right people? The standard text on risk and coverage for neural networks is [Geifman and El-Yaniv 2017](https://arxiv.org/abs/1705.08500); on why models make things up, read [Kalai and Vempala 2024](https://arxiv.org/abs/2311.14648).
# Notebook 11 lets a model write whole sentences, and asks how to measure what it has written.

# %% [markdown]
# ## What others call it
#
# - **hallucination** (also *confabulation*): an answer that is made up and looks like any other.
# - **parametric knowledge**: what a model knows by its weights; **closed-book question answering** asks for it.
# - **exact match** (also *EM*): right in every character.
# - **calibration**: being as often right as one is sure; **ECE** is the expected calibration error.
# - **selective prediction** (also *abstention*, a *reject option*): answering only where one is sure enough.
# - **out-of-distribution**: unlike what was trained on, or chosen on; here, people nobody has written about.
# - **retrieval-augmented generation** (also *RAG*): looking passages up and answering from them.
# - **span corruption** (also *infilling*): a few words in a row are taken out of a text, and written after it.

# %% experiment open=true
from tutor import progress

progress()
