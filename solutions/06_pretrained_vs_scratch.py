# ---
# jupyter:
#   course:
#     teaches: "pretraining pays: measured so that nobody can say it was luck"
#     part: pretraining
#     column: 1
#     row: 2
#     builds_on: ["04"]
#     running: 3
#     questions:
#       - What does pretraining buy?
#       - How many labels is it worth?
#       - How do I compare two ways of training so that the result can be believed?
#   jupytext:
#     notebook_metadata_filter: course
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 06 · Pretrained against scratch
#
# You have 300 book reviews with a label, and ten thousand without. A classifier that starts from random weights learns the 300 by heart and understands
# little. One that has first read the ten thousand, guessing word after word, makes far more of them. You run this experiment from the
# first loss to the last figure, and learn when a figure can be trusted.
#
# **When you are done, you can**
# - pretrain a language model with your own training step, and say how good it is in one number;
# - let it write, more or less at random;
# - compare three ways to train a classifier so that nobody can say you were lucky;
# - say how many labels pretraining saves, and where the model still goes wrong.
#
# **Time**: about 3 h 30 min. **Before this**: notebook 04 (the two heads, the last real token, freezing).
#
# | exercise | what it asks | points |
# |---|---|---|
# | `perplexity` | how good is a language model? | 2 |
# | `train_step` | one step of training, for every model of this course | 4 |
# | `generate` | let the model write | 4 |
# | `accuracy` | the share of right answers, measured properly | 3 |
# | `compare` | three ways, several seeds: curves, bands, results | 3 |
# | `label_efficiency` | how many labels are enough? | 2 |
# | `errors_by_length` | where are the mistakes? | 2 |
# | *essay* `curves_essay` | read the curves | 3 |
# | *essay* `report_essay` | what is wrong with this report? | 2 |
# | **total** | | **25** |
#
# Folded cells are experiments; no mark depends on them. Those that train take about two minutes in all.

# %% setup
import copy
import math

import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers import plots
from tutor import by_hand, check, guess, hint, resume, reveal
from helpers.batches import IGNORE, Batch, Batches, for_classifier, for_language_model
from helpers.corpora import Split, load
from helpers.device import choose_device
from helpers.models import Classifier, LanguageModel, TransformerBase
from helpers.training import predict, schedule
from helpers.vocabulary import EOS, OOV, PAD, SOS, Vocabulary

# %% [markdown]
# ## 1. The plan
#
# Three classifiers of the same make see the same labels. Only their beginning differs:
#
# | way | the base starts from | what learns from the labels |
# |---|---|---|
# | **scratch** | random weights | everything |
# | **frozen** | a language model | the head only |
# | **pretrained** | a language model | everything |
#
# As a picture (what does not learn is hatched):

# %% experiment
# @title Three ways to start: what is new, what has read, what does not learn
from helpers.diagrams import Diagram

picture = Diagram(4.2, 2.9)
starts = {"scratch": ("base of\nrandom numbers", "part"),
          "frozen": ("base of the\nlanguage model", "frozen"),
          "pretrained": ("base of the\nlanguage model", "part")}
for x, (way, (text, kind)) in zip((0.75, 2.1, 3.45), starts.items()):
    boxes = [(f"{way} in", "labelled reviews", "data"), (f"{way} base", text, kind),
             (f"{way} head", "new head", "part"), (f"{way} loss", "loss", "loss")]
    picture.column(x, 0.35, boxes, step=0.68, width=1.25)
    picture.note((x, 2.75), way, ha="center", weight="bold")
picture.show(
    "Three columns, each from labelled reviews over a base and a new head to the loss. Scratch: the "
    "base begins with random numbers. Frozen: it is the language model's, and hatched, since it does "
    "not learn. Pretrained: it is the language model's and learns."
)

# %% [markdown]
# And a *baseline* that is no network, naive Bayes: it counts words. A network should beat it.
#
# The reviews are invented, so that the experiment runs on any computer in a few minutes. For real ones one line changes (section 9). Those with a label come in three parts: one to learn from, *validation* to choose by, *test* to report.
#
# Among the options, `norm_first` puts each norm before its part (notebook 03); `alibi` lowers each score by a multiple of the distance between the two words (notebook 02).

# %% experiment open=true
corpus = load("reviews_fr")  # invented reviews; load("cls_books") for the real ones

SMALL = {"d_model": 64, "n_layers": 1, "n_heads": 2, "dropout": 0.0, "norm_first": True,
         "positions": "alibi"}
LARGE = {"d_model": 200, "n_layers": 4, "n_heads": 2, "dropout": 0.1}
invented = corpus.name == "reviews_fr"
model_options = SMALL if invented else LARGE
device = torch.device("cpu") if invented else choose_device()  # the small model gains nothing from a GPU

if invented:
    unlabelled = corpus["unlabelled"]
else:  # the texts of training and validation, without their labels, and never those of the test
    texts = pd.DataFrame({"text": corpus.train["text"] + corpus.valid["text"]})
    unlabelled = Split(f"{corpus.name}/unlabelled", "train", texts)
vocabulary = corpus.vocabulary or Vocabulary.learn(unlabelled["text"])
V = len(vocabulary)

print(f"{len(unlabelled):,} reviews to read, {V:,} words")
print(f"with labels: {len(corpus.train):,} to learn from, {len(corpus.valid)} for validation,",
      f"{len(corpus.test):,} for the test")
print("Negative:" if corpus.train["label"][0] == 0 else "Positive:", corpus.train["text"][0])

# %% [markdown]
# ### Why should reading help?
#
# Which share of the *different words* of the test is not in the labelled reviews, and which is not in the unlabelled ones? Guess the first of
# the two: write a number in place of the dots, or leave them and go on.

# %% guess
guess("words of the test that are not in the labelled reviews, in %", ...)

# %% experiment
# @title How many words of the test do the other reviews not have?
def words_of(split: Split) -> set[str]:
    """Returns the different words of a split."""
    return {word for text in split["text"] for word in vocabulary.split(text)}


test_words = words_of(corpus.test)
for name, split in (("labelled", corpus.train), ("unlabelled", unlabelled)):
    unseen = test_words - words_of(split)
    print(f"of {len(test_words):,} different words of the test, "
          f"{len(unseen):4,} are not in the {name} reviews")
if invented:  # the corpus has a list of its judging words
    judging = {form for forms in corpus["polarity"]["forms"] for form in forms.split()}
    for name, split in (("test", corpus.test), ("validation", corpus.valid)):
        met = words_of(split) & judging
        print(f"of {len(met):,} different judging words of the {name}, "
              f"{len(met - words_of(corpus.train)):4,} are not in the labelled reviews")

# %% reveal
new_words = test_words - words_of(corpus.train)
reveal("words of the test that are not in the labelled reviews, in %",
       100 * len(new_words) / len(test_words))

# %% [markdown]
# Many words of the test never come with a label, and most of these are *judging words*: they praise or blame. (Of those of the validation reviews not one has a label; section 6 shows what follows.) The unlabelled reviews have them all, *beside each
# other*: a review that calls a plot *bancale* (shaky) also calls its hero *agaçant* (annoying). Nobody says which side is the good one, but one can read which words belong together.
#
# ## 2. How good is a language model?
#
# At every position the model gives a probability $p$ to the word that really follows. The **loss** of this position is $-\ln p$ (in *nats*, because of the natural logarithm). The **perplexity** is the exponential of the mean loss over all $N$ tokens:
#
# $$ \text{perplexity} = \exp\Big( \frac{1}{N} \sum_{t=1}^{N} -\ln p_t \Big) $$
#
# ### By hand
#
# - A model hesitates evenly between 4 words at every position. Every loss is $\ln 4$, so the perplexity is 4. In this sense perplexity says *among how many words* a model hesitates.
# - A model that knows nothing gives each of $V$ words the probability $1/V$. It hesitates between all of them: its perplexity is $V$.
# - A text of two words: at the first position $p = 1/2$, at the second $p = 1/8$. What is the perplexity?

# %% by_hand
by_hand("perplexity", ...)

# %% [markdown]
# The mean loss is $(\ln 2 + \ln 8) / 2 = \ln 4$: again 4. (The mean of the perplexities 2 and 8 would be 5.)
#
# ### A mistake worth making once
#
# In a batch, short texts are padded. torch gives the loss 0 at a padded position (`ignore_index`), which is right in a *sum*. And in a mean?

# %% experiment open=true
losses = torch.tensor([[1.4, 1.4, 1.4, 1.4, 1.4, 1.4],
                       [1.4, 1.4, 0.0, 0.0, 0.0, 0.0]])  # (2, 6), four positions of padding
token_counts = torch.tensor([6, 2])

print(f"mean over the table:     perplexity {losses.mean().exp():.2f}")
print(f"mean over the 8 tokens:  perplexity {(losses.sum() / 8).exp():.2f}")

# %% [markdown]
# Each token has the same loss of 1.4, so the perplexity must be $e^{1.4} \approx 4.06$. With the padding in the mean the model looks far better than it is.
#
# ### Exercise: perplexity
#
# The positions beyond a text hold *any* numbers here. A long text counts more than a short one, since it has more tokens.

# %% exercise="perplexity"
def perplexity(losses: Tensor, token_counts: Tensor) -> float:
    """Returns the exponential of the mean loss over all tokens of all texts.

    Args:
        losses: the loss at each position in nats, `(b, n)`. In row k the first token_counts[k] numbers
            belong to the text; those that follow belong to the padding: finite numbers that mean
            nothing. The table may be wider than the longest text, and stays as it is.
        token_counts: how many tokens each text has, `(b,)`, at least one each.

    Example: perplexity(torch.tensor([[0.693, 2.079, 9.0]]), torch.tensor([2])) is about 4.
    """
    ### BEGIN SOLUTION
    real = torch.arange(losses.shape[1]) < token_counts.unsqueeze(1)  # (b, n)
    mean = losses[real].mean()  # over all tokens at once, so that long texts count more
    return math.exp(mean)
    ### END SOLUTION


# %% [markdown]
# Here is the model, still with random weights. It should hesitate between about as many words as there are, or a few more, since random guesses favour some words, mostly wrong ones.
#
# (Elsewhere you will meet `torch.utils.data.DataLoader`: it takes the rows of a data set, with `shuffle=True` in a new order at each pass, a fixed number at a time, and stacks them into tensors. The course has a class of its own, `Batches`. It puts texts of about the same length together, so that little is padding. And it fills each batch up to a number of tokens, padding counted, so that a batch of long texts needs no more memory than one of short texts.)

# %% measured
# @title The perplexity of a model that has read nothing
def new_base() -> TransformerBase:
    """Returns a base with random numbers."""
    return TransformerBase(V, **model_options)


@torch.no_grad()
def token_losses(model: LanguageModel, batch: Batch) -> Tensor:
    """Returns the loss at each position in nats, `(b, n)`, fifty texts at a time to save memory."""
    model.eval()
    parts = zip(batch.tokens.split(50), batch.target.split(50))
    return torch.cat([F.cross_entropy(model(tokens.to(device)).transpose(1, 2).cpu(), target,
                                      ignore_index=IGNORE, reduction="none") for tokens, target in parts])


# the pair of notebook 04: <sos> A B and A B <eos>
for_reading = for_language_model(vocabulary, max_len=512)
reading = Batches(unlabelled, for_reading, token_budget=700 if invented else 8192)
unread = Batches(Split(f"{corpus.name}/unread", "valid", corpus.valid.rows), for_reading)
unread = unread.collate(range(len(corpus.valid)))  # the validation reviews as one batch

torch.manual_seed(0)
language_model = LanguageModel(new_base()).to(device)
before_reading = copy.deepcopy(language_model)
print(f"V = {V:,}; perplexity before it has read anything: "
      f"{perplexity(token_losses(language_model, unread), unread.lengths):,.0f}")

# %% [markdown]
# ## 3. One step of training
#
# Nearly every training run repeats these five lines (some leave out the fourth):
#
# 1. **forward**: the model gives logits, from which the loss is computed;
# 2. **clear** the gradients of the step before;
# 3. **backward**: compute the gradient of the loss for every parameter;
# 4. **clip** the gradient: if it is longer than 1, scale it down to length 1, keeping its direction;
# 5. **step**: the optimizer moves every parameter a little, so that the loss falls; how far, the *learning rate* says.
#
# ### Two mistakes worth making once
#
# **Not clearing.** torch does not replace gradients, it *adds* to them. Take a single parameter $w = 1$ and the loss $w^2$. The gradient is $2w = 2$, however often it is computed. By machine:

# %% experiment open=true
w = torch.tensor(1.0, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for time in range(3):
    (w**2).backward()
    print(f"backward number {time + 1}: the gradient is {w.grad.item():.0f}")

optimizer.zero_grad()
(w**2).backward()
print(f"and after optimizer.zero_grad(): {w.grad.item():.0f}")

# %% [markdown]
# Without clearing, the model would follow the sum of all gradients it has ever had.
#
# **Softmax before cross-entropy.** `F.cross_entropy` takes *logits* and does the softmax itself. Give it probabilities and it does a second softmax on values between 0 and 1. Suppose the model is perfectly sure and right: probability 1 for
# the right word, 0 for the 848 others. What loss does it get? (A model that knows nothing has $\ln 849 \approx 6.74$.)

# %% guess
guess("the loss of a perfect model, softmax done twice, in nats", ...)

# %% experiment open=true
sure = torch.zeros(1, 849)
sure[0, 7] = 1.0  # probabilities of a model that is sure that the next word is number 7

print(f"loss of a perfect model, softmax done twice: {F.cross_entropy(sure, torch.tensor([7])):.2f} nats")
print(f"loss of a model that knows nothing:          {math.log(849):.2f} nats")

# %% reveal
reveal("the loss of a perfect model, softmax done twice, in nats", F.cross_entropy(sure, torch.tensor([7])))

# %% [markdown]
# By hand it is $-\ln \frac{e^1}{e^1 + 848 e^0} = \ln(e + 848) - 1$. Perfect knowledge lowers the loss by no more than one nat. Such a model learns very slowly and stays bad, and again no error is raised.
#
# ### Exercise: the training step
#
# The same step shall train language models, with logits `(b, n, V)` and targets `(b, n)`, and classifiers, with logits `(b, C)` and targets `(b,)`. Flattening all axes but the last makes them alike:
# `logits.flatten(0, -2)` is `(b * n, V)` for the first kind and leaves the second as it is. A padded position has the target `IGNORE`, -100, which `F.cross_entropy` leaves out of the sum *and* of the count, unless you tell it otherwise.

# %% exercise="train_step"
def train_step(model: nn.Module, batch: Batch, optimizer: torch.optim.Optimizer) -> float:
    """Makes one step of training and returns the mean loss of the batch before the step, in nats.

    The model is put into training mode, and need not be put back. The gradient of this batch alone,
    of all parameters together, is scaled down to length 1 where it is longer
    (`nn.utils.clip_grad_norm_`), and the optimizer makes one step with it. What is frozen stays as it
    is, also where it was frozen after an earlier step.

    Args:
        model: called as model(batch.tokens, batch.lengths), it gives logits `(b, n, V)` or `(b, C)`.
        batch: has tokens `(b, n)`, lengths `(b,)` and target `(b, n)` or `(b,)`, IGNORE where nothing
            is asked: beyond a text, and for some models inside of it.
        optimizer: of the model's parameters, in one group or in several; their gradients may be left
            over from an earlier step.
    """
    ### BEGIN SOLUTION
    model.train()
    logits = model(batch.tokens, batch.lengths)  # (b, n, V) or (b, C)
    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()
    ### END SOLUTION


# %% [markdown]
# > **In practice: a model left in `eval`.** After each *epoch*, a pass over all that is trained on, one measures, and measuring switches dropout off with `model.eval()`. If nobody switches it on again, all epochs but the first run without dropout. Nothing breaks; the model only
# > *overfits* (learns its training set by heart), and the paper says "dropout 0.1". Two habits prevent it: a training step begins with `model.train()`, as yours does, and a measurement leaves the model in the mode it found (section 5).
#
# ### Pretraining
#
# Now the language model reads. The optimizer is `AdamW`: it gives each parameter a step of its own size, from running means of its gradients and of their squares. The learning rate rises during the first 50 steps and then falls to 0.
#
# Every line of the log is the mean over the steps since the last one; at the end of an epoch comes the perplexity on the validation reviews, which it never reads. It takes
# less than a minute.

# %% measured
# @title Pretraining with your step: loss and perplexity on the way
import sys

from tqdm import tqdm


# steps after which a copy of the base is kept, for section 7
READ = (300, 600, 900) if invented else (30, 100, 300, 1400)
kept = {}


def pretrain(model: LanguageModel, epochs: int, learning_rate: float, log_every: int) -> list[dict]:
    """Trains a language model with your step, logs as it goes, and returns the log."""
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    total = sum(len(reading.plan(epoch)) for epoch in range(epochs))
    factor, losses, log = schedule("linear", 50, total), [], []
    with tqdm(total=total, desc="pretraining", unit="step", file=sys.stdout) as bar:
        for epoch in range(1, epochs + 1):
            for batch in reading:
                optimizer.param_groups[0]["lr"] = learning_rate * factor(bar.n)
                losses.append(train_step(model, batch.to(device), optimizer))
                bar.update()
                if bar.n in READ:
                    kept[bar.n] = copy.deepcopy(model.base)
                if bar.n % log_every == 0 or bar.n == total:
                    loss = sum(losses) / len(losses)
                    log.append({"step": bar.n, "loss": loss})
                    tqdm.write(f"epoch {epoch}  step {bar.n:5,}  loss {loss:.3f}  "
                               f"perplexity {math.exp(loss):7.1f}")
                    losses.clear()
            log[-1]["epoch_end"] = bar.n
            log[-1]["valid"] = perplexity(token_losses(model, unread), unread.lengths)
            tqdm.write(f"epoch {epoch}  done          validation perplexity {log[-1]['valid']:7.1f}")
    return log


log = pretrain(language_model, epochs=2 if invented else 12, learning_rate=6e-3 if invented else 1e-3,
               log_every=250 if invented else 20)

# %% measured
# @title Perplexity while the language model reads
steps = [entry["step"] for entry in log]
curve = {"perplexity in training": [math.exp(entry["loss"]) for entry in log]}
axes = plots.curves(curve, steps, title="The language model learns", x_label="step",
                    y_label="perplexity (words it hesitates between)", log_y=True)
ends = [(entry["epoch_end"], entry["valid"]) for entry in log if "valid" in entry]
axes.plot(*zip(*ends), color=plots.COLOURS[1], marker="s", label="on validation reviews")
low, high = min(*curve["perplexity in training"], ends[-1][1]), curve["perplexity in training"][0]
axes.set_yticks([tick for tick in (3, 5, 10, 20, 50, 100, 200, 500) if low / 1.5 < tick < 1.5 * high])
axes.yaxis.set_major_formatter("{x:.0f}")
axes.minorticks_off()
axes.legend(frameon=False)
plots.show(axes.figure, plots.describe_curves(curve, steps, "step", digits=2)
           + f" On validation reviews it is {ends[-1][1]:.1f} in the end.")

# %% [markdown]
# From hundreds of words to three or four: invented reviews are regular, and a good part of each sentence can be foreseen. (On real reviews, expect several tens.) The perplexity in training is a mean over steps in which the model was still worse; the one on validation is that of the model as it is.
#
# > **A real log to read.** One student report pretrains at full size ($V = 50\,001$, 3,125 steps an epoch) and logs the perplexity in training every 500 steps: 1,479, 650, 489, 426, 377 and 340 in the first epoch, 247, 236, 228, 222, 216 and 212 in the second.
# >
# > Between 377 and 340 it falls by a tenth, between 340 and 247, at the border of the epochs, by more than a quarter. What is different from there on?
# >
# > (The texts are the same ones again. How much of that fall is language, and how much memory of these texts, no number of this log tells; a perplexity on validation texts would. One cause more may lie in the program, such as a learning rate that changes with the epoch.)
#
# ## 4. Generation: let it write
#
# To write, the model reads `<sos>` and the words so far, and the **last row** of its logits scores the next word. Which word do we take?
#
# - The most probable one, always: *greedy*. Safe, and soon boring: the same beginning gives the same text.
# - One *drawn* by its probability (*sampling*). The **temperature** $T$ says how boldly: the probabilities are the softmax of the logits divided by $T$.
#
# ### By hand
#
# Two words have the logits 2 and 0. At $T = 1$ their odds are $e^2 : 1 \approx 7.4 : 1$. At $T = 2$ they are $e^1 : 1 \approx 2.7 : 1$, at $T = 0.5$ they are $e^4 : 1 \approx 55 : 1$. So a low temperature comes close to greedy, and a high one close to a lottery. $T = 0$ cannot be divided by: it *means* greedy.
#
# ### Exercise: generate
#
# When the model writes `<eos>`, the text is over, and `<eos>` is no part of it. A model may also never write it, so `max_len` sets a limit. `vocabulary.encode(prompt)` gives the *token ids* of the words, that is their numbers in the vocabulary, and that of `<oov>` for a word it does not know; `torch.multinomial(probabilities, 1)` draws an id.

# %% exercise="generate"
@torch.no_grad()
def generate(model: LanguageModel, vocabulary: Vocabulary, prompt: str, max_len: int,
             temperature: float) -> list[int]:
    """Returns the token ids of a text: the words of the prompt, and those that the model writes after them.

    Args:
        model: called on tokens `(1, n)` that begin with <sos>, it gives logits `(1, n, V)`. It is in
            evaluation mode, and stays so.
        prompt: the beginning of a text, as people write: with capitals and commas, or empty. It may
            hold words that the vocabulary does not know.
        max_len: the most ids that are returned, those of the prompt counted; a longer prompt
            comes back as it is.
        temperature: divides the logits before the softmax, from whose probabilities each word is
            drawn; 0 means: always the most probable word. Two calls draw different texts.

    Returns:
        At most max_len ids, without <sos>. The first <eos> that the model writes ends the text
        and is left out.
    """
    ### BEGIN SOLUTION
    text = vocabulary.encode(prompt)
    while len(text) < max_len:
        logits = model(torch.tensor([[SOS, *text]]))[0, -1]  # (V,), the last row has read everything
        if temperature == 0:
            word = int(logits.argmax())
        else:
            word = int(torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1))
        if word == EOS:
            break
        text.append(word)
    return text
    ### END SOLUTION


# %% [markdown]
# The same beginnings and the same seeds, before and after reading; then one beginning at five temperatures. One beginning has a word that no review has. (*Ce roman est*: this novel is; *L'héroïne m'a*: the heroine has ... me; *J'ai lu ce*: I have read this; *Le style est*: the style is.)

# %% measured
# @title What the model writes, before reading and after
language_model, before_reading = language_model.cpu().eval(), before_reading.cpu().eval()


def written(model: LanguageModel, prompt: str, temperature: float, max_len: int = 22) -> str:
    """Returns what the model makes of a beginning."""
    torch.manual_seed(len(prompt))
    return vocabulary.decode(generate(model, vocabulary, prompt, max_len, temperature))


def as_page(table: pd.DataFrame):
    """Shows a table of texts: wide columns, aligned to the left."""
    left = "text-align: left; vertical-align: top"
    return table.style.format(escape="html").hide(axis="index").set_table_styles(
        [{"selector": "th, td", "props": left}]
    )


prompts = ["Ce roman est", "L'héroïne m'a", "J'ai lu ce quokka", ""]
page = {"prompt": [prompt or "(nothing)" for prompt in prompts],
        "before reading": [written(before_reading, prompt, 0.7) for prompt in prompts],
        "after reading": [written(language_model, prompt, 0.7) for prompt in prompts]}
as_page(pd.DataFrame(page))

# %% measured
# @title One beginning at five temperatures
temperatures = [0, 0.5, 1, 2, 5]
page = {"temperature": [str(T) for T in temperatures],
        "after « Le style est »": [written(language_model, "Le style est", T) for T in temperatures]}
as_page(pd.DataFrame(page))

# %% [markdown]
# Before reading: a lottery over all the words. After reading: words that mostly agree in gender and number, an article before a noun, a full stop, and, if you look closely, reviews that mostly stay *on one side* unless a *mais* (but) turns them: what begins with praise goes on with praise. At a temperature of 5 it is a lottery again.
#
# A few texts are no measurement. The invented reviews come with
# a list of their judging words, so it can be counted: of two judging words that follow each other in a text, how often are both praise or both blame? By chance it would be about half.

# %% measured
# @title How often do two judging words in a row stand on the same side?
def same_side(texts: list[str], signs: dict[str, int]) -> float:
    """Returns how often two judging words that follow each other have the same sign."""
    pairs = []
    for text in texts:
        judging = [signs[word] for word in vocabulary.split(text) if word in signs]
        pairs += [first == second for first, second in zip(judging, judging[1:])]
    return sum(pairs) / len(pairs)


if invented:
    signs = {form: row.polarity for row in corpus["polarity"].rows.itertuples()
             for form in row.forms.split() if form in vocabulary.numbers}
    torch.manual_seed(0)
    for temperature in (0.7, 1.5):
        drawn = [vocabulary.decode(generate(language_model, vocabulary, "", 40, temperature))
                 for _ in range(30)]
        turning = sum(" mais " in text for text in drawn)
        print(f"written at temperature {temperature}: "
              f"{same_side(drawn, signs):.0%} of the pairs on one side, « mais » in {turning} of 30 texts")
    print(f"reviews it has read:        {same_side(unlabelled['text'], signs):.0%}")

# %% [markdown]
# They stay on one side, at the lower temperature as often as the reviews that the model has read. At a higher temperature they stray more often. Nobody asked for that; it is what guessing the next word takes. It is also exactly what a classifier of reviews needs.
#
# Another student report names as a limit of this objective that it captures grammar and some meaning, but does not by itself learn *sentiment*. The count above says otherwise, for these reviews: the model does tell the two sides apart. It only does not know which of them is called *positive*.
#
# What a model writes shows what it has read. The report with the log of section 3 lets two models go on after *Bonjour les*: its own, after two epochs, comes to *la région de la Commission* and then to it once more; the one that was handed out with the task writes of people who were very welcoming and friendly. The first goes round in circles with words of an administration, the second could be from a review.

# %% [markdown] pause
# You have a language model that writes, and know its perplexity. Next, classifiers are made from it and compared. (When you come back, it
# is pretrained again, in about half a minute.)

# %% [markdown]
# ## 5. Accuracy, measured properly
#
# The share of right answers sounds too simple for an exercise. Four things go wrong in practice:
#
# - **the mode**: with dropout on, the answer to the same review changes from call to call;
# - **the row**: without the lengths, the classifier reads the last row of the batch, mostly padding (notebook 04, section 3);
# - **the mean**: the last batch of a pass is often small. In the *mean of the batches' accuracies*, one review of a batch of 2 counts as much as 16 of a batch of 32;
# - **the aftermath**: the model stays in `eval`, see the box in section 3.
#
# ### By hand
#
# A batch of 30 with 27 right, then one of 3 with 1 right. What is the accuracy, as a share between 0 and 1?

# %% by_hand
by_hand("accuracy", ...)

# %% [markdown]
# It is 28 of 33. And the mean of the two accuracies?

# %% experiment
# @title The accuracy, and the mean of the two batches' accuracies
print(f"right of all: {28 / 33:.3f}, mean of the batches: {(27 / 30 + 1 / 3) / 2:.3f}")

# %% [markdown]
# ### Exercise: accuracy
#
# The function measures any classifier, on batches of any sizes. Mind all four points of the list above.

# %% exercise="accuracy"
def accuracy(model: nn.Module, loader: Batches | list[Batch]) -> float:
    """Returns the share of texts, between 0 and 1, whose class the model gets right.

    Measured in evaluation mode; afterwards the model is in the mode in which it came.

    Args:
        model: called as model(batch.tokens, batch.lengths), it gives logits `(b, C)`.
        loader: batches of any sizes with tokens `(b, n)`, lengths `(b,)` and target `(b,)`.
    """
    ### BEGIN SOLUTION
    before = model.training
    model.eval()
    right = total = 0
    with torch.no_grad():
        for batch in loader:
            best = model(batch.tokens, batch.lengths).argmax(dim=-1)  # (b,)
            right += int((best == batch.target).sum())
            total += len(batch.target)
    model.train(before)
    return right / total
    ### END SOLUTION


# %% [markdown]
# ## 6. The comparison
#
# ### The rules
#
# - **Train** on the 300 labelled reviews, and on nothing else with a label.
# - **Validation** is there to *choose*: how many epochs, which learning rate. Since we choose by it, it flatters.
# - **Test** is there to *report*, once, what has been chosen. It must not choose anything.
# - **Several seeds**, here three. A seed changes the new head, the base (from scratch) and the order of the reviews. What changes with it is chance.
#
# After every epoch we write down one record. Looking at the test each time is allowed here only because the records are read by a function that does not choose by it: yours.

# %% measured
# @title How a run begins, how it trains, and what is written down
from time import perf_counter

for_classes = for_classifier(vocabulary, max_len=512)
learned_from, valid, test = ([batch.to(device) for batch in Batches(split, for_classes, 8192)]
                             for split in (corpus.train, corpus.valid, corpus.test))


def new_classifier(way: str, seed: int) -> Classifier:
    """Returns a classifier that starts in one of the three ways."""
    torch.manual_seed(seed)
    base = new_base() if way == "scratch" else copy.deepcopy(language_model.base)
    model = Classifier(base)
    model.base.requires_grad_(way != "frozen")
    return model.to(device)


def run(way: str, seed: int, labelled: Split, epochs: int) -> tuple[Classifier, list[dict]]:
    """Trains one classifier and returns it with one record for each epoch."""
    model, records = new_classifier(way, seed), []
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(learning, lr=1e-3 if invented or way == "frozen" else 2e-4, fused=True)
    batches = Batches(labelled, for_classes, token_budget=512 if invented else 1024, seed=seed)
    for epoch in range(1, epochs + 1):
        start = perf_counter()
        for batch in batches:
            train_step(model, batch.to(device), optimizer)
        seconds = perf_counter() - start
        scores = {"valid": accuracy(model, valid), "test": accuracy(model, test),
                  "train": accuracy(model, learned_from), "seconds": seconds}
        records.append({"way": way, "seed": seed, "epoch": epoch, **scores})
    return model, records

# %% [markdown]
# Nine runs, about half a minute. The log shows the first seed of each way. How good will the model from scratch be on the validation reviews, after its last epoch?

# %% guess
guess("validation accuracy from scratch, mean of the seeds, in %", ...)

# %% measured
# @title Nine runs: three ways, three seeds each
WAYS = ("scratch", "pretrained", "frozen")
SEEDS, EPOCHS = (range(3), 4) if invented else (range(5), 6)
models, records = {}, []
plan = [(way, seed) for way in WAYS for seed in SEEDS]
for way, seed in tqdm(plan, desc="classifiers", unit="run", file=sys.stdout):
    models[way, seed], found = run(way, seed, corpus.train, EPOCHS)
    records += found
    if seed == 0:
        for entry in found:
            tqdm.write(f"{way:10}  seed {seed}  epoch {entry['epoch']}  "
                       f"training {entry['train']:.3f}  validation {entry['valid']:.3f}")

# %% reveal
at_the_end = [r["valid"] for r in records if (r["way"], r["epoch"]) == ("scratch", EPOCHS)]
reveal("validation accuracy from scratch, mean of the seeds, in %", 100 * sum(at_the_end) / len(at_the_end))

# %% [markdown]
# ### Exercise: compare
#
# Read the records in two ways. The **curve** of a way shows validation accuracy after each epoch: mean, lowest and highest over the seeds. The **result** of a way is one number: every run chooses the epoch that was best *in validation* (the first, where several are equal), and says how good it was *in the test*; then the mean over the seeds.
#
# By hand, with one run of three epochs: validation 0.70, 0.76, 0.74 and test 0.72, 0.73, 0.78. What is the result?

# %% by_hand
by_hand("compare", ...)

# %% [markdown]
# The second epoch is chosen, by its 0.76. The result is 0.73, not 0.78.

# %% exercise="compare"
def compare(records: list[dict]) -> dict[str, dict]:
    """Returns for each way its curve with a band, and its result.

    Args:
        records: one for each epoch of each run, in any order, such as
            {"way": "scratch", "seed": 0, "epoch": 1, "valid": 0.61, "test": 0.58}. There may be
            other ways and seeds. Epochs are counted from 1, and all runs of a way have the same
            number of them.

    Returns:
        For each way a dict: "mean", "low" and "high" are lists with one number for each epoch, of the
        validation accuracies over the seeds; "test" is the mean over the seeds of the test accuracy at
        the epoch that is the best in validation in that run (the first such epoch).
    """
    ### BEGIN SOLUTION
    results = {}
    for way in {record["way"] for record in records}:
        runs: dict[int, list[dict]] = {}
        for record in sorted(records, key=lambda record: record["epoch"]):
            if record["way"] == way:
                runs.setdefault(record["seed"], []).append(record)
        epochs = [[record["valid"] for record in same_epoch] for same_epoch in zip(*runs.values())]
        # max takes the first
        chosen = [max(run, key=lambda record: record["valid"]) for run in runs.values()]
        results[way] = {
            "mean": [sum(values) / len(values) for values in epochs],
            "low": [min(values) for values in epochs],
            "high": [max(values) for values in epochs],
            "test": sum(record["test"] for record in chosen) / len(chosen),
        }
    return results
    ### END SOLUTION


# %% [markdown]
# The baseline, in a few lines. Each word brings evidence: how much more often does it occur in positive reviews than in negative ones? Naive Bayes adds up the logarithms, as if words were independent, which is the naive part. (Adding 1 to each count keeps a word that was never seen from deciding everything.)

# %% measured
# @title Naive Bayes, which counts words: validation and test
from collections import Counter


def naive_bayes(train: Split, other: Split) -> list[int]:
    """Returns a class for each review of `other`, learned from the word counts of `train`."""
    counts = [Counter(), Counter()]
    for text, label in zip(train["text"], train["label"]):
        counts[label].update(vocabulary.split(text))
    different = len(counts[0] | counts[1]) + 1
    totals = [sum(count.values()) + different for count in counts]

    def evidence(word: str) -> float:
        return math.log((counts[1][word] + 1) / totals[1]) - math.log((counts[0][word] + 1) / totals[0])

    return [int(sum(map(evidence, vocabulary.split(text))) > 0) for text in other["text"]]


def share_right(split: Split) -> float:
    """Returns the accuracy of naive Bayes on a split."""
    return sum(a == b for a, b in zip(naive_bayes(corpus.train, split), split["label"])) / len(split)


bayes = {"valid": share_right(corpus.valid), "test": share_right(corpus.test)}
print(f"naive Bayes: validation {bayes['valid']:.3f}, test {bayes['test']:.3f}")

# %% measured
# @title Accuracy of the three ways and of naive Bayes, after each epoch
results = compare(records)
epochs = range(1, EPOCHS + 1)
means = {way: results[way]["mean"] for way in WAYS}
trained = compare([{**record, "valid": record["train"]} for record in records])  # the same for training
in_training = {way: trained[way]["mean"] for way in WAYS}
HUES = plots.COLOURS[0], plots.COLOURS[1], plots.COLOURS[3]  # blue, orange, green
figure, (left, right) = plots.panels(2, width=4.2, height=3.8)
for axes, shown, title in ((left, means, "Validation"), (right, in_training, "Training")):
    plots.curves(shown, epochs, axes=axes, title=title, x_label="epoch", y_label="", colours=HUES)
    axes.get_legend().remove()
    axes.set(ylim=(0.3, 1.02), xticks=list(epochs))
for line, colour, way in zip(right.get_lines(), HUES, WAYS):
    line.set_linestyle("--")
    left.fill_between(epochs, results[way]["low"], results[way]["high"],
                      color=colour, alpha=0.18, linewidth=0)
left.axhline(bayes["valid"], color="#777777", linestyle=":", label="naive Bayes")
left.set_ylabel("accuracy")
figure.suptitle(f"{len(corpus.train)} labels: means of {len(SEEDS)} seeds, on the left with their range")
figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
plots.show(figure, "Validation: " + plots.describe_curves(means, epochs, "epoch", digits=2)
           + " Training: " + plots.describe_curves(in_training, epochs, "epoch", digits=2)
           + f" Naive Bayes in validation: {bayes['valid']:.2f}.")

# %% measured
# @title The results: training, validation, test, and seconds
seconds = pd.DataFrame(records).groupby("way")["seconds"].sum() / len(SEEDS)
rows = {way: [in_training[way][-1], results[way]["mean"][-1], results[way]["test"], seconds[way]]
        for way in WAYS}
rows["naive Bayes"] = [share_right(corpus.train), bayes["valid"], bayes["test"], math.nan]
columns = ["training, last epoch", "validation, last epoch", "test (the result)", "seconds of training"]
pd.DataFrame.from_dict(rows, orient="index", columns=columns).style.format("{:.1%}").format(
    "{:.1f}", subset=["seconds of training"], na_rep="")

# %% [markdown]
# Read it with the bands in mind:
#
# - **Scratch is near chance on the validation reviews** and a little better in the test, like naive Bayes: in the test some judging words come back that had a label, in validation none do (section 1). For a word without a label its random weights decide, and the validation reviews judge with few different words, so chance is large: a seed may well end below one half.
#
#   It is not too small to learn: on its own 300 reviews it is nearly perfect.
#
#   (A student report says of such a curve that it starts from *zero*. A guess between two classes of equal size is right about half the time, so a curve that begins at the bottom of a figure seldom begins at zero: read the numbers on the axis first. That of this figure begins at 0.3.)
# - **Pretrained is far above, from the first epoch**, and its band does not touch the others' at the beginning. Its gap between training and validation (99.3 and 93.2 % in our run) is small beside that of scratch (99.4 and 44.7 % in our run), and it is there: this model, too, ends by knowing its training reviews by heart. Learning by heart is not the opposite of understanding.
# - **Frozen starts lower and comes close.** Its head alone (130 parameters in the small model) has to find the direction in which the base keeps praise and blame apart; it is there already. It cannot learn by heart as well as the other two (96.2 % in training in our run, 90.7 % in validation). It is faster, since no gradient has to go down into the base; but do not trust a single number of the last column, seconds are noisy (*scratch* and *pretrained* do the same work).
#
# > **In practice: the last row and the last real token.** You know the mistake from notebook 04. This is what it costs when it happens in the *measurement* only: a well trained model, measured without the lengths. In training and measurement alike it would hide better.

# %% measured
# @title The same trained model, measured with the lengths and without them
def last_row_accuracy(model: Classifier) -> float:
    """Returns the accuracy that one sees when the lengths are forgotten."""
    model.eval()
    with torch.no_grad():
        hits = [(model(batch.tokens).argmax(dim=-1) == batch.target) for batch in test]
    return torch.cat(hits).float().mean().item()


best = models["pretrained", 0]
print(f"last real token: {accuracy(best, test):.3f}")
print(f"last row:        {last_row_accuracy(best):.3f}")

# %% [markdown]
# From 95 % to 63 % in our run, with the same weights. Our batches hold reviews of about the same length, so there is little padding; but one `<pad>` at the end is enough, and the head has never been trained on one.
#
# > **In practice: the test used as validation.** "We report the best epoch." Best by which set? The cell below takes from the same runs the epoch that was best *in the test*. Nothing was trained differently, and yet the results can only rise. The difference is small here (0.5 points at most in the stored run), because there are only four epochs to choose from; people also choose among
# > learning rates, sizes and seeds.

# %% measured
# @title The epoch chosen by validation, and chosen by the test
def best_in_test(way: str) -> float:
    """Returns the mean over the seeds of the highest test accuracy: how not to report."""
    runs = [[r["test"] for r in records if (r["way"], r["seed"]) == (way, seed)] for seed in SEEDS]
    return sum(map(max, runs)) / len(runs)


rows = {way: [results[way]["test"], best_in_test(way)] for way in WAYS}
table = pd.DataFrame.from_dict(rows, orient="index", columns=["chosen by validation", "chosen by test"])
table["flattery"] = table["chosen by test"] - table["chosen by validation"]
table.style.format("{:.1%}")

# %% [markdown]
# > **Go further, in practice: duplicates between training and test**, also called *contamination*. Reviews on the web are copied, quoted, posted twice. A network knows a copied test review by heart.
# >
# > The model from scratch gets 56 % of the 1,000 test reviews right after its last epoch, and nearly all of those it has learned from. What will its accuracy be if 200 of these slip into the test? The models are those we have,
# > with the same weights.
# >
# > `load` counts copies and says so; `load(..., drop_copies=True)` leaves them out. (The real reviews do have some.)

# %% guess
guess("test accuracy from scratch with 200 copies in the test, in %", ...)

# %% measured
# @title The test, and the test with 200 copies of training reviews
slipped = pd.concat([corpus.test.rows, corpus.train.rows.sample(200, random_state=0)], ignore_index=True)
with_copies = [batch.to(device) for batch in Batches(Split("leaky", "test", slipped), for_classes, 8192)]


def mean_accuracy(way: str, loader: list[Batch]) -> float:
    """Returns the mean over the seeds of the accuracy after the last epoch."""
    return sum(accuracy(models[way, seed], loader) for seed in SEEDS) / len(SEEDS)


rows = {way: [mean_accuracy(way, test), mean_accuracy(way, with_copies)] for way in WAYS}
columns = ["the test", "the test with 200 copies"]
pd.DataFrame.from_dict(rows, orient="index", columns=columns).style.format("{:.1%}")

# %% reveal
reveal("test accuracy from scratch with 200 copies in the test, in %", 100 * rows["scratch"][1])

# %% [markdown]
# By hand: 560 and 200 of 1,200 are 63 %. The model that has only learned by heart gains most: copies flatter exactly the wrong one.
#
# > **Go further, in practice: one lucky score.** Suppose that a model is right in 57 of 100 cases, and is tested on 200 reviews. By chance alone its score is often 3 points off: it depends on *which* 200 reviews they are.
# >
# > Move the slider (mouse or arrow keys): each dot is the score of the same model on another 200 reviews; the orange one would be in
# > the paper.
# >
# > Seeds are another kind of chance: those of section 6 share one test set, and what their bands show is how far training differs. Both kinds reward trying often and reporting the best.

# %% interactive
# @title Scores of one model on many draws of 200 reviews: move the slider
from ipywidgets import IntSlider, interact


def show_scores(tried: int) -> None:
    """Draws the scores of one and the same model on many draws of 200 reviews, and the luckiest."""
    chance = torch.Generator().manual_seed(3)
    scores = (torch.rand(40, 200, generator=chance) < 0.57).float().mean(dim=1)[:tried]  # (tried,)
    luckiest = int(scores.argmax())
    figure, (axes,) = plots.panels(1, width=7.0, height=2.8)
    axes.plot(range(1, tried + 1), scores, "o", color=plots.COLOURS[0])
    axes.plot(luckiest + 1, scores[luckiest], "s", color=plots.COLOURS[1], markersize=9)
    axes.axhline(0.57, color="#777777", linestyle="--")
    axes.set(title=f"The best of {tried}: {scores[luckiest]:.3f}. The truth: 0.570",
             xlabel="draw of 200 reviews", ylabel="score", xlim=(0, 41), ylim=(0.46, 0.68))
    plots.show(figure, f"Scores of one model on {tried} draws of 200 reviews, "
               f"from {scores.min():.3f} to {scores.max():.3f}; the truth is 0.570.")


slider = IntSlider(value=5, min=1, max=40, description="draws", continuous_update=False)
_ = interact(show_scores, tried=slider)

# %% experiment
# @title The same picture for those who only read: five draws, then forty
show_scores(5)
show_scores(40)

# %% [markdown]
# ## 7. How many labels does reading save?
#
# Labels cost work: somebody has to read and decide. So a practical question is not "how much better with 300 labels?", but "**how many labels do I need?**"
#
# We train with 4, 20, 80 and 300 labels, three seeds each. Every run sees about the same number of reviews (fewer labels, more epochs), so that little but the labels differs (the number of steps does). The runs with all 300 labels are those of section 6, after their third epoch.
#
# *Frozen* takes part, too: is it risky to train everything with very few labels, and safer to train the head alone?

# %% measured
# @title Training with 4, 20, 80 and 300 labels
def some_labels(count: int, seed: int) -> Split:
    """Returns `count` labelled reviews, as many of each class."""
    mixed = corpus.train.rows.sample(frac=1, random_state=seed)
    halves = [mixed[mixed["label"] == label][: count // 2] for label in (0, 1)]
    return Split(f"{corpus.name}/{count} labels", "train", pd.concat(halves, ignore_index=True))


def one_score(way: str, count: int, seed: int) -> float:
    """Trains with `count` labels, and returns the test accuracy at the end: no epoch is chosen."""
    labelled, model = some_labels(count, seed), new_classifier(way, seed)
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(learning, lr=1e-3 if invented or way == "frozen" else 2e-4, fused=True)
    batches = Batches(labelled, for_classes, token_budget=512, seed=seed)
    for _ in range(SEEN // count):
        for batch in batches:
            train_step(model, batch.to(device), optimizer)
    return accuracy(model, test)


COUNTS, SEEN = (4, 20, 80, 300), 900 if invented else 1500
plan = [(way, count, seed) for way in WAYS for count in COUNTS[:3 if invented else 4] for seed in range(3)]
label_records = [{"way": way, "labels": count, "seed": seed, "accuracy": one_score(way, count, seed)}
                 for way, count, seed in tqdm(plan, desc="label counts", unit="run", file=sys.stdout)]
label_records += [{"way": record["way"], "labels": 300, "seed": record["seed"], "accuracy": record["test"]}
                  for record in records if invented and record["epoch"] == SEEN // 300]

# %% [markdown]
# ### Exercise: label efficiency
#
# First the mean over the seeds, then the question. If no number of labels was enough, the honest answer is "we do not know", `None`, and not the largest number that was tried.

# %% exercise="label_efficiency"
def label_efficiency(records: list[dict], wanted: float) -> dict[str, dict]:
    """Returns for each way how accuracy grows with labels, and how many labels are enough.

    Args:
        records: one for each run, in any order, such as
            {"way": "scratch", "labels": 80, "seed": 0, "accuracy": 0.56}. There may be other
            ways and seeds.
        wanted: the accuracy that one would like to have, between 0 and 1.

    Returns:
        For each way a dict: "labels" are its numbers of labels in ascending order; "accuracy" are the
        means over the seeds in the same order; "needed" is the smallest number of labels whose mean
        accuracy is at least wanted, or None where there is none.
    """
    ### BEGIN SOLUTION
    results = {}
    for way in {record["way"] for record in records}:
        values: dict[int, list[float]] = {}
        for record in records:
            if record["way"] == way:
                values.setdefault(record["labels"], []).append(record["accuracy"])
        labels = sorted(values)
        means = [sum(values[count]) / len(values[count]) for count in labels]
        enough = [count for count, mean in zip(labels, means) if mean >= wanted]
        results[way] = {"labels": labels, "accuracy": means, "needed": enough[0] if enough else None}
    return results
    ### END SOLUTION


# %% measured
# @title Test accuracy by number of labels
found = label_efficiency(label_records, wanted=0.7)
by_seed = {way: [[r["accuracy"] for r in label_records if (r["way"], r["seed"]) == (way, seed)]
                 for seed in range(3)] for way in found}
by_seed = {way: by_seed[way] for way in WAYS}  # the colours of the figure above
axes = plots.curves(by_seed, list(COUNTS),
                    title="Test accuracy by number of labels: mean and range of three seeds",
                    x_label="labelled reviews", y_label="accuracy", log_x=True,
                    colours=HUES)
axes.set(xticks=list(COUNTS), ylim=(0.4, 1.0))
axes.minorticks_off()
plots.show(axes.figure, plots.describe_curves(by_seed, list(COUNTS), "labels", digits=2))
for way in WAYS:
    shown = "  ".join(f"{value:.2f}" for value in found[way]["accuracy"])
    needed = found[way]["needed"] or f"more than {COUNTS[-1]}"
    print(f"{way:10}  {shown}  needs {needed} labels for 70 %")

# %% [markdown]
# Even four labels, two of each kind, are enough to tell the model which side is the good one, though it then matters much *which* four: look at the band. Ten thousand reviews that nobody has labelled are worth more than all the labels we have. This is a reason why pretraining has won: text is nearly free, labels are not.
#
# Is it safer to train the head alone when labels are few? One student report thinks so. In our run it is not: *frozen* and *pretrained* are close, and *frozen* is a little behind, with 0.75 against 0.80 with 4 labels and 0.92 against 0.95 with 300. (A head alone also learns more slowly: with 20 labels more passes would bring it closer.) With the fewest labels neither is safe, since *which* labels one has matters more than what is trained; with many, it is better to train everything.
#
# Three seeds and one small,
# regular corpus do not settle the question.
#
# (These are test scores, and nothing was chosen by them: no epoch, no setting. "4 labels are enough" describes this figure. To decide how many labels to buy, draw it from validation scores.)
#
# ### And how much reading is enough?
#
# Pretraining helps because the model has seen more data, says a student report. If so, half of the reading should help half as much, or so. Copies of the base were kept while it read, in the end each of the 10,500 reviews twice. Each of them now gets the same 20 labels, with three seeds. Reading nothing at all is *scratch*, with 0.52 in our run.
#
# (One thing is not quite fair: the last
# copy was taken when the learning rate had fallen to 0, the others while it was higher.)
#
# Guess the shape of the curve first: after which of the copies is the accuracy above 0.7, for the first time?

# %% guess
guess("reviews read until the accuracy is above 0.7", ..., among=["3,360", "6,720", "10,070", "21,000"])

# %% measured
# @title Test accuracy with 20 labels, by what was read before
at_20, whole = COUNTS.index(20), language_model.base
by_reading = {0: [scores[at_20] for scores in by_seed["scratch"]]}  # steps of reading -> three scores
for step, base in kept.items():
    language_model.base = base  # from which a new classifier is made
    by_reading[step] = [one_score("pretrained", 20, seed) for seed in range(3)]
language_model.base = whole
by_reading[log[-1]["step"]] = [scores[at_20] for scores in by_seed["pretrained"]]

reviews = [round(step * len(unlabelled) / len(reading.plan(1)) / 10) * 10 for step in by_reading]
curve = {"has read": [list(scores) for scores in zip(*list(by_reading.values())[1:])]}
axes = plots.curves(curve, reviews[1:],
                    title="Test accuracy with 20 labels, by what was read before: three seeds",
                    x_label="reviews read, in the end twice each", y_label="accuracy",
                    log_x=True)
nothing, apart = by_reading[0], reviews[1] / 3  # a logarithmic axis has no 0
axes.plot([apart] * 2, [min(nothing), max(nothing)], color=plots.COLOURS[0], alpha=0.3, linewidth=5)
axes.plot(apart, sum(nothing) / 3, "o", color=plots.COLOURS[0], markersize=5)
axes.set_xticks([apart, *reviews[1:]], ["none", *(f"{count:,}" for count in reviews[1:])])
axes.minorticks_off()
axes.get_legend().remove()
axes.set_ylim(0.4, 1.0)
plots.show(axes.figure, f"Without reading {sum(nothing) / 3:.2f}; the base that "
           + plots.describe_curves(curve, reviews[1:], "reviews", digits=2))
for count, scores in zip(reviews, by_reading.values()):
    print(f"{count:6,} reviews read: {sum(scores) / 3:.2f}  ({min(scores):.2f} to {max(scores):.2f})")

# %% reveal
enough = [count for count, scores in zip(reviews, by_reading.values()) if sum(scores) / 3 > 0.7]
reveal("reviews read until the accuracy is above 0.7", f"{enough[0]:,}" if enough else "none of them")

# %% [markdown]
# Reading helps late. In our run a base that has read 3,360 reviews is worth no more than none: 0.51 of the answers are right, and 0.52 without reading. After 6,720 reviews it is 0.86, after half of the reading 0.90, and after all of it the same. So half of the reading does not help half as much, it helps as much as all of it; and the first sixth does not help at all. Somewhere between the first two copies
# it begins to.
#
# A language model first learns which words are frequent and which follow each other; which words keep company through a whole review, and so belong to the same side, it learns later. (That is our reading of five points, no proof.) It also answers the report: it is not the *amount* of data by itself
# that helps, but what the reading has taught by then.

# %% [markdown] pause
# You have compared the three ways, with many labels and with few. Next you look at single mistakes and at real reviews, and write the two
# essays. (When you come back, the models are trained again, in about a minute.)

# %% [markdown]
# ## 8. Where are the mistakes?
#
# A number such as 95 % hides *which* reviews are misread. Two looks: by length, and one by one.
#
# ### Exercise: errors by length
#
# Sort the texts into bins by length. Of the texts *in a bin*, which share is wrong? Two traps. If most texts are of middle length, most *errors* are of middle length too, and this says nothing. And a bin without texts has no share: NaN, not 0.

# %% exercise="errors_by_length"
def errors_by_length(logits: Tensor, labels: Tensor, lengths: Tensor, edges: list[int]) -> Tensor:
    """Returns the share of wrong answers among the texts of each bin of lengths, `(k,)`.

    Args:
        logits: `(b, C)`; the class with the largest number is the model's answer.
        labels: the right classes, `(b,)`.
        lengths: how long the texts are, `(b,)`.
        edges: k + 1 whole numbers in ascending order; bin j holds the texts with
            edges[j] <= length < edges[j + 1]. Texts outside all bins do not count.

    Returns:
        Floating point numbers between 0 and 1, and NaN for a bin without texts. A bin with texts
        and no errors has 0.
    """
    ### BEGIN SOLUTION
    wrong = logits.argmax(dim=-1) != labels  # (b,)
    shares = []
    for low, high in zip(edges, edges[1:]):
        inside = (low <= lengths) & (lengths < high)  # (b,)
        shares.append(wrong[inside].float().mean())  # the mean of nothing is NaN
    return torch.stack(shares)
    ### END SOLUTION


# %% measured
# @title Share of wrong answers, by length of the review
labels = torch.tensor(corpus.test["label"])
lengths = torch.tensor([len(vocabulary.split(text)) for text in corpus.test["text"]])
# six bins, about as many texts in each
cuts = torch.quantile(lengths.float(), torch.linspace(0, 1, 7)).int().tolist()
edges = [*cuts[:-1], cuts[-1] + 1]

logits = {way: [predict(models[way, seed], Batches(corpus.test, for_classes, 8192)) for seed in SEEDS]
          for way in WAYS}
shares = {way: [errors_by_length(found, labels, lengths, edges).tolist() for found in logits[way]]
          for way in WAYS}
middles = [(low + high - 1) / 2 for low, high in zip(edges, edges[1:])]
axes = plots.curves(shares, middles,
                    title=f"Errors by length of the review: mean and range of {len(SEEDS)} seeds",
                    x_label="words in the review (middle of the bin)", y_label="share of wrong answers")
axes.set(ylim=(0, 0.6))
plots.show(axes.figure, plots.describe_curves(shares, middles, "words", digits=1))

# %% [markdown]
# The lines are nearly level: length explains little.
#
# ### One by one: the most confident mistakes
#
# The most instructive mistakes are those of which the model is sure. Here are the worst of the pretrained model; the confidence is the mean probability over the seeds. Read them before you read on: what do they have in common?

# %% measured
# @title The five mistakes of which the models are surest
probabilities = torch.stack([found.softmax(dim=-1)
                             for found in logits["pretrained"]]).mean(dim=0)  # (reviews, 2)
confidence, answer = probabilities.max(dim=-1)
wrong = (answer != labels).nonzero().squeeze(1)
worst = wrong[confidence[wrong].argsort(descending=True)][:5].tolist()
names = ["negative", "positive"]
print(f"{len(wrong)} of {len(labels):,} reviews are misread by the {len(SEEDS)} models together")
page = {"it is": [names[labels[n]] for n in worst], "the models say": [names[answer[n]] for n in worst],
        "confidence": [f"{confidence[n]:.3f}" for n in worst],
        "review": [corpus.test["text"][n] for n in worst]}
if invented:  # for those who read no French: praise (+) and blame (-) in the order of the text, and "but"
    marks = {form: "+" if sign > 0 else "-" for form, sign in signs.items()} | {"mais": "BUT"}
    page["in short"] = [" ".join(marks[word] for word in vocabulary.split(text) if word in marks)
                        for text in page["review"]]
as_page(pd.DataFrame(page))

# %% measured
# @title Reviews with a « mais » and without: how many are misread?
turning = torch.tensor([" mais " in f" {text.lower()} " for text in corpus.test["text"]])  # (reviews,)
for name, chosen in (("with a « mais »", turning), ("without", ~turning)):
    share = (answer != labels)[chosen].float().mean()
    print(f"{name:16} {int(chosen.sum()):4} reviews, misread: {share:.1%}")

# %% [markdown]
# (These are the invented reviews, unless you have changed the line.) What the mistakes share you can see in the table and count in the last cell: reviews that **turn** at a *mais*. The model weighs up all the praise and blame it meets; that the last word counts, three hundred labels have not taught it.
# Notebook 07 looks at such reviews with models of two kinds.
#
# On real reviews the mistakes are of more kinds. A student report that reads those of its models finds words whose side is not in the word: *repose enfin en paix* (may he at last rest in peace), which is not blame but respect, and *drogue* (a drug), which praises a book that one cannot put down. A count of words does not help there.
#
# The report also finds two
# strong words, *torchon* (a dishcloth, slang for something badly written) and *offense* (an insult), and says that with them a model should *not* fail: there a count of words would do. With `load("cls_books")` the cell above shows yours.
#
# The accuracy (95 %) hid what goes wrong, the lengths did not show it, five reviews were enough.
#
# ## 9. The same, on real reviews
#
# *Go further: no exercise depends on this section.*
#
# **Change one line**: in section 1 `load("reviews_fr")` becomes `load("cls_books")`, and the same cells download and read real book reviews, with a vocabulary of 50,001 subwords. Do that with a graphics card. (On a CPU, `from helpers.device import set_threads` and `set_threads()` give a large model all the cores it may use; small ones train fastest on one thread, which the course sets.)
#
# Then the cells above run the experiment of full size ($V = 50\,001$, $D = 200$, 4 layers, 2 heads, 1,600 labels). One student report on this very experiment gives *validation* accuracies: after two epochs 76 % pretrained and 65 % from scratch, and at best 80 and 78 %. It does not say which file it validated on, nor over how many seeds, and "at best" is the highest value seen: you now know what that means.
#
# And this is a run of ours, of 35 minutes on one core, two seeds for each way, measured on the test part (the numbers, and the command that makes them, are in `docs/results.md`). It is not quite the cells above: they read the 2,000 reviews of training and validation, and its language model read 31,000 texts, these reviews and the captions of 29,000 pictures:

# %% experiment
# @title 1,600 real reviews: test accuracy after each epoch
real = {
    "scratch": [[60.1, 69.9, 71.4, 72.9, 73.4], [60.7, 70.0, 69.7, 73.2, 73.9]],
    "pretrained": [[66.6, 71.3, 73.8, 73.5, 74.3], [63.7, 74.6, 74.6, 74.6, 75.4]],
    "frozen": [[55.2, 61.5, 62.0, 62.2, 62.8], [57.5, 60.8, 62.3, 54.8, 63.1]],
}
axes = plots.curves(real, range(1, 6), title="1,600 real reviews: mean and range of two seeds",
                    x_label="epoch", y_label="test accuracy (%)", colours=HUES)
axes.axhline(81.0, color="#555555", linestyle="--", label="naive Bayes")
axes.set_xticks(range(1, 6))
axes.legend(frameon=False)
alt = ("Test accuracy after each of five epochs. Pretrained rises from 65 to 75 %, "
       "scratch from 60 to 74 %, frozen from 56 to 63 %. Naive Bayes is above all of them, at 81 %.")
plots.show(axes.figure, alt)

# %% [markdown]
# Pretraining is ahead of scratch here, too, from the first epoch on. But the gap is small and closes: with 1,600 labels there is much to learn from, and most of what this language model had read were not reviews. Two seeds cannot tell 75 % from 74 %. And *frozen*, second and close to the first in section 6, is now last (63 %), ten points behind scratch: in this base a head alone finds little that tells praise from blame, in training, too.
#
# And **naive
# Bayes wins**: counting words, in a fraction of a second. A strong and cheap baseline belongs in every such figure, all the more when you would rather not see it there.

# %% [markdown]
# ### What real pretraining buys
#
# Our language model has read 31,000 texts. What would a base be worth that has read more than a billion pairs of sentences? MiniLM is one: a BERT of six layers (notebook 07), 22 million parameters; the mean of its states over the tokens represents a whole English sentence.
#
# The next figure puts it beside the ways of this notebook, by number of labels, on real English film reviews (SST-2). On the right are the French reviews of the last figure, which MiniLM cannot read; there *real* is multilingual-e5-small, a BERT of 12 layers and 118 million parameters that has read French, too, in a file rounded to 4 bits. The colours are not those of section 6.
# *Fine-tuned* begins with the head of *frozen*; *LoRA* trains two narrow matrices beside each query and value only (notebook 15).
#
# *Asked* is a language model, SmolLM2, that got **no label to train on**: it reads the review and behind it "In one word, the film was", and its logits of *wonderful* and *awful* are compared (notebook 17). Labels it needed all the same: those of the validation reviews chose this question among four, and the middle of the validation scores was taken for zero, which assumes that both classes are equally frequent. Its weights are those of a file in which the matrices are rounded to 4 bits (*Q4_1*).
#
# (All learning rates and numbers of passes were fixed beforehand. The numbers are kept in `data/measured_here`; `docs/results.md` has the command that makes them.)
#
# Where do you expect naive Bayes? Without the real base there are three ways: which of them is the
# best with all 6,920 English labels?

# %% guess
guess("the best without the real base, with 6,920 English labels", ...,
      among=["naive Bayes", "scratch", "own pretraining"])

# %% measured
# @title Real pretraining beside our three ways, by number of labels
kept_runs = load("measured_here")["real_encoders"].rows
figure, panels = plots.panels(2, width=4.6, height=4.2)
titles = {"sst2": "English film reviews (SST-2)", "cls_books": "French book reviews (cls_books)"}
for axes, (name, title) in zip(panels, titles.items()):
    here = kept_runs[kept_runs["corpus"] == name]
    learned = here[here["way"] != "asked"]
    for (way, scores), colour, marker in zip(
        learned.groupby("way", sort=False), plots.COLOURS, plots.MARKERS
    ):
        points = 100 * scores.groupby("labels")["accuracy"].agg(["mean", "min", "max"])
        axes.plot(points.index, points["mean"], marker=marker, markersize=5, color=colour, label=way)
        axes.fill_between(
            points.index, points["min"], points["max"], color=colour, alpha=0.18, linewidth=0
        )
    if len(learned) < len(here):
        axes.axhline(
            100 * here["accuracy"][here["way"] == "asked"].iloc[-1],
            color="#555555",
            linestyle="--",
            label="asked, none to train on",
        )
    counts = sorted(set(learned["labels"]))
    axes.set(
        title=title, xlabel="labelled reviews", ylabel="test accuracy (%)", xscale="log", ylim=(45, 95)
    )
    axes.set_xticks(counts, [f"{count:,}" for count in counts])
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize=8, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.14))
alt = (
    "English, from 20 to 6,920 labels: naive Bayes rises from 55 to 82 %, scratch from 51 to 76 %, own "
    "pretraining from 52 to 80 %; MiniLM frozen from 62 to 81 %, fine-tuned from 58 to 89 %, with LoRA "
    "from 57 to 88 %; asked, with no label to train on, 80 %. French, from 20 to 1,600: naive Bayes "
    "from 60 to 81 %, scratch and own pretraining from 53 to 72 and 71 %; multilingual-e5-small "
    "frozen from 77 to 85 %."
)
plots.show(figure, alt)

# %% reveal
all_labels = kept_runs[(kept_runs["corpus"] == "sst2") & (kept_runs["labels"] == 6920)]
ours = all_labels[all_labels["way"].isin(["naive Bayes", "scratch", "own pretraining"])]
best_of_ours = ours.groupby("way")["accuracy"].mean().idxmax()
reveal("the best without the real base, with 6,920 English labels", best_of_ours)

# %% [markdown]
# Two things are true at once. **Naive Bayes wins** against every network of ours, at every number of labels and in both languages, and with 6,920 labels it is level with the frozen MiniLM (81.5 and 80.9 %). And **real pretraining wins where labels are few**: with 100 of them the frozen MiniLM has 69 % where naive Bayes has 60 %, and fine-tuned on 300 it has 80 %, nearly what naive Bayes needs all 6,920 for.
#
# In French the difference is larger. With 100 labels the encoder, left as it is, does what naive Bayes does with 1,600 (82 and 81 %); with 20 it does more than naive Bayes with 300 (77 and 75 %).
#
# *Frozen*, the last in the figure before, is a good way to begin when the base is good: its head is fitted in a second, on any machine. Fine-tuned, the base keeps its lead to the end (89 %).
#
# And the model that is only asked gets
# as far without training as MiniLM with 300 labels (80 %), if the question has the right words: the four wordings that were tried give 66, 75, 78 and 80 % in the test, and the labels of the validation reviews put them in the same order, so one can choose by these. Without any label one must expect the mean of the four, 75 %.
#
# What the figure does not say. With 20 labels the bands of all ways from MiniLM lie over each other: five draws for naive Bayes and the frozen bases, five for fine-tuning with 100 and 300 labels, two for the rest, and one with all labels. One test set of 1,821 or 2,000 reviews is itself uncertain by 0.9 points (the standard error of 80 %). The French encoder was not fine-tuned. Own pretraining gains less here than in section 7, perhaps since captions of pictures teach little about films and books.
#
# And what MiniLM and SmolLM2 have read is not known text by text: these very reviews
# may be among it. Nobody outside can check such a leak (notebook 10): a reason to try a ready-made model on texts that are newer than it is.

# %% [markdown]
# ## 10. Two essays
#
# **First.** In at most fifteen lines, in English or in French: **read the curves of section 6.** What do the three solid curves and the dotted line say, at the beginning and at the end? How large is the gap between training (on the right, dashed) and validation at the end for each of the three, which of them have learned the training reviews by heart, and why does this hurt one of them and not another? What do the bands allow you to say, and what not? Use numbers of your own run.

# %% [markdown] essay="curves_essay"
# **Rubric** (3 points in all)
#
# - *Beginning and end* (1; half of it without numbers of the own run): pretrained is far above from the first epoch (about 0.9 against 0.5 in validation), frozen starts below it and comes close (0.78, then 0.9), scratch stays near chance in validation and near the dotted line of naive Bayes (0.45 and 0.47 in the stored run).
# - *The gap* (0.5): with numbers for all three: from scratch about 50 points (near 100 % in training, near chance in validation), pretrained and frozen about 6 points.
# - *By heart* (1; half for each part): both scratch and pretrained end near 100 % in training, so both know their 300 reviews by heart. What differs is what else they know: from scratch the model
#   cannot know judging words that it has never seen with a label; the language model has learned from unlabelled text which words keep company, so that a few labels say which side is which for all of them.
# - *Bands* (0.5): where the bands do not touch, the order does not depend on the seed; where they overlap or nearly touch (frozen and pretrained from the second epoch on), three seeds do not decide. The band is the range of seeds, not of other data: all runs share one training set and one language model.
#
# **Misconceptions that cost marks**: "scratch is too small, or trained too little" (it fits its training reviews perfectly); "the pretrained model does not learn by heart" (its training accuracy says that it does); "a gap shows that a model is bad"; "the pretrained model has seen the labels"; "a higher mean is always better, whatever the bands"; "validation accuracy is what one reports".
#
# **Answers as students write them**
#
# - *Full marks (3 of 3)*: "In validation pretrained has 0.93 after the first epoch and 0.93 at the end; frozen starts at 0.78 and ends at 0.91;
#   scratch stays at 0.45, no better than a coin and than the dotted line of naive Bayes (0.47), and is near it in the test too (57.4 and 59.7 %). At
#   the end the gap between training and validation is 55 points for scratch (99.4 and 44.7 %), 6 for pretrained (99.3 and 93.2 %) and 6 for frozen
#   (96.2 and 90.7 %). So scratch *and* pretrained know their 300 reviews by heart. It hurts scratch because the judging words of the validation reviews
#   never had a label in training; the pretrained model has read without labels which words keep company, and the label of a few tells it that of all. The
#   band of pretrained does not touch that of scratch, so this order does not hang on the seed; those of pretrained and frozen overlap after the
#   second epoch and nearly touch later, and three seeds do not decide. A band says nothing about other reviews, because all runs share one training
#   set and one language model."
#   Why: *beginning and end* (1), *the gap* (0.5), *by heart* (1), *bands* (0.5).
# - *Half (1.5 of 3)*: "Pretrained is at 0.93 from the first epoch to the last, frozen climbs from 0.78 to 0.91, and scratch remains at 0.45, like the
#   dotted line of naive Bayes, which has 0.47. The gaps at the end are 99.4 against 44.7 % for scratch, 99.3 against 93.2 % for pretrained, and 96.2
#   against 90.7 % for frozen. The scratch model has learned its training reviews by heart and the pretrained one has not, that is why only scratch is
#   bad in validation. The mean of pretrained is higher than that of frozen, 93.2 against 90.7 %, so pretrained is better than frozen." Why:
#   *beginning and end* (1) and *the gap* (0.5). *By heart* is the second misconception: 99.3 % in training says that pretrained knows its reviews as
#   well, and what it knows besides is missing (1 lost). The last sentence reads means without their bands (0.5 lost).
# - *No marks (0 of 3)*: "The curves show that pretraining works very well and that training from scratch does not. The scratch model is too small and
#   was trained for too few epochs; with more of them its curve would rise like the others. The pretrained model has seen the labels of these reviews
#   in its pretraining, so it knows them at once. There is a gap between training and validation, and a gap always shows a bad model. The bands show
#   that the results are reliable." Why: No number of the own run, and hence neither *beginning and end* nor *the gap*. Scratch too small (it has 99.4
#   % in training), labels seen in pretraining (it read without any), a gap shows a bad model: three misconceptions. The sentence on the bands says
#   nothing of overlap.

# %% [markdown]
# **Second.** A report says: *"We fine-tuned for 20 epochs and tried eight learning rates and ten seeds. The best model reaches 83.1 % on the test set, against 79.5 % for the same model from scratch (one run, default learning rate). So pretraining gains 3.6 points."* In at most eight lines, in English or in French: **name what is wrong, and say for each point what you would do instead.**

# %% [markdown] essay="report_essay"
# **Rubric** (half a point for each of four, 2 points in all)
#
# - *Test used as validation*: the epoch, the learning rate and the seed were chosen by the test; choose by validation and report the test once.
# - *Lucky seed*: the best of ten seeds against one run; report mean and range over the same number of seeds for both.
# - *Unequal effort*: 1,600 combinations (20 epochs, 8 rates, 10 seeds) for one side, one for the other; give the baseline the same search.
# - *No idea of the noise, or of copies*: 3.6 points may be within what seeds do; say how large the test set is, check for copies between training (or pretraining) text and test, add a simple baseline such as naive Bayes.
#
# **Misconceptions that cost marks**: "20 epochs are too many" (not by itself: the choice of the epoch is the problem); "accuracy is the wrong measure"; "the gain is therefore zero" (it is unknown).
#
# **Answers as students write them**
#
# - *Full marks (2 of 2)*: "First, the epoch, the rate and the seed were chosen by the test set, so 83.1 % is the luckiest of many numbers; I would
#   choose by validation and look at the test once. Second, the best of ten seeds stands against one run; I would give mean and range of ten seeds for
#   both. Third, one side had 20 x 8 x 10 = 1,600 tries and the other a single one with the default rate; the model from scratch must get the same
#   search. Fourth, nobody knows what 3.6 points mean: I would say how large the test set is, look for copies between training and test, and put naive
#   Bayes into the table." Why: Four points, each with its remedy.
# - *Half (1 of 2)*: "The best model was picked by its test accuracy, which should have been done on validation reviews, with the test used only once
#   at the end. It is also unfair that the pretrained model tried eight learning rates and ten seeds, and the one from scratch only the default; both
#   should have the same search. Besides, 20 epochs are too many, one should stop after 5. And accuracy is the wrong measure; with F1 one would see
#   that the gain is zero." Why: *test used as validation* and *unequal effort* (1). The two other points are misconceptions (20 epochs, accuracy,
#   gain of zero) and stand where the lucky seed and the noise should be (1 lost).
# - *No marks (0 of 2)*: "The report should not say that pretraining gains 3.6 points, because this is too small to be interesting. 20 epochs are too
#   many, the model has surely overfitted. Accuracy is not a good measure for reviews. Instead one should take a larger model and more data, and then
#   the gain would be clearer." Why: None of the four points: nothing on the choice by the test, on seeds, on the search or on the noise. What is
#   named are misconceptions, and the remedies do not belong to them.

# %% [markdown] questions
# ## Three questions
#
# For yourself: open an answer to see whether it is right.
#
# 1. From scratch 99 % are right in training and 45 % in validation, pretrained 99 % and 93 %. Which model knows its training reviews by heart?
#    - The one from scratch, since it fails on all other reviews. => It does know them by heart. But 99 % in training says the same of the other.
#    - Neither, but the one from scratch is too small to learn more. => It fits its 300 reviews nearly perfectly: its size is not what is missing.
#    + Both, and the pretrained one knows something more. => Which words keep company it has read without labels, and that helps with other reviews.
# 2. You try twenty epochs, and want to report one accuracy. Which one?
#    + That in the test, at the epoch that was best in validation. => Validation chooses, and so it flatters. The test has chosen nothing.
#    - That in validation, at the epoch that was best in validation. => The epoch was chosen by this very number: it is too good.
#    - That in the test, at the epoch that was best in the test. => Then the test has chosen, and nothing is left that could report.
# 3. The best of ten seeds of A has 83 %, a single run of B 80 %. What do you know?
#    - A is better by 3 points, since both met the same test. => On one side the luckiest of ten runs was taken, on the other there was one run.
#    + Neither that A is better nor that it is not. => Mean and range of as many seeds for both would say more; and how many reviews the test has.
#    - A gains nothing: the 3 points are the luck of ten seeds. => That would have to be measured, too. The gain is not zero, it is unknown.

# %% [markdown]
# ## What to remember
#
# - Perplexity is the exponential of the mean loss **per token**. Padding in the mean makes every model look better.
# - One training step: forward, clear, backward, clip, step. `cross_entropy` wants logits.
# - Validation chooses, the test reports, and only once. Several seeds, with a band. A simple baseline in the same figure.
# - Copies between training and test measure memory, not understanding.
# - Pretraining gives a classifier the words that no label has shown it. It saves labels: with few of them its gain is largest.
#
# **Go further.** Is it reading much, or reading different things? Pretrain on 500 reviews twenty times over, and on 10,000 once, and compare both with 20 labels. The idea of this notebook, with the numbers of its time, is in
# [Radford et al. 2018](https://cdn.openai.com/research-covers/language-unsupervised/language_understanding_paper.pdf) (table 5 compares with and without pretraining: an *ablation*, one part taken out and all else kept) and, for another network, in [Howard and Ruder 2018](https://arxiv.org/abs/1801.06146) (figure 3: errors by number of labels). Notebook 07 asks what changes when a model may read both sides.

# %% [markdown]
# ## What others call it
#
# - **DataLoader**: PyTorch's class that makes batches; ours is `Batches`.
# - **sampling** (also *ancestral sampling*): drawing each token by its probability.
# - **greedy decoding**: taking the most probable token, always.
# - **early stopping**: choosing the epoch by validation and taking the weights of that epoch.
# - **model selection**: choosing anything by validation.
# - **sample efficiency** (also *label efficiency*): how much is learned from how few labels.
# - **memorisation**: knowing the training set by heart.
# - **contamination** (also *train-test leakage*): texts of the test that stood in what was trained on.
# - **ablation**: taking one part out, all else kept, to see what it contributed.
#
# **The short route** of six notebooks goes on with 07.

# %% experiment open=true
from tutor import progress

progress()
