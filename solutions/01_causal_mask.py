# ---
# jupyter:
#   course:
#     teaches: why no word may look ahead, and how to make sure
#     part: attention
#     column: 1
#     row: 0
#     builds_on: ["00"]
#     questions:
#       - Why may no word look ahead?
#       - What goes wrong when the future is removed after the softmax, and not before?
#       - How do I prove, from outside, that a model does not look ahead?
#   jupytext:
#     notebook_metadata_filter: course
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 01 · The causal mask
#
# A language model reads a sentence once and answers, at *every* position, "which word comes next?".
# For that to be an honest question, no position may look at the words that follow it. One small square of zeros and minus infinities makes sure of it. You build it, use it, and test whether a model keeps to it.
#
# **When you are done, you can**
# - write the causal mask and say what each of its rows means;
# - turn masked scores into attention weights, for any number of batches and heads;
# - count what the mask throws away, and prove from outside that a model does not look ahead;
# - mask padding without making a single NaN.
#
# **Time**: about 1 h 30 min. **Before this**: notebook 00; you have once trained a small network in PyTorch, or read *Before you start* (ten minutes; `before.html`, beside notebook 00).
#
# | exercise | what it asks | points |
# |---|---|---|
# | `causal_mask` | the square of 0 and minus infinity | 3 |
# | `attention_weights` | softmax of masked scores | 3 |
# | `wasted_scores` | a formula: how much of the square is thrown away | 2 |
# | `future_influence` | a measurement: which token changes which output | 3 |
# | `padding_mask` | True where a batch is padded | 3 |
# | *essay* `mask_essay` | why the mask, in training and in generation | 2 |
# | **total** | | **16** |

# %% setup
import sympy
import torch
from torch import Tensor

from helpers import plots
from tutor import by_hand, check, guess, hint, reveal
from helpers.models import LanguageModel, TransformerBase

# %% [markdown]
# ## 1. One sentence, many questions
#
# Take the sentence *Le chat dort sur le canapé*. It holds five exercises for a language model:
#
# | the model sees | the model must guess |
# |---|---|
# | Le | chat |
# | Le chat | dort |
# | Le chat dort | sur |
# | Le chat dort sur | le |
# | Le chat dort sur le | canapé |
#
# The slow way is to run the model once for each line. The fast way is to run it **once** on the whole sentence and to read five answers, one at
# each position. But then the answers are in the input, too, and attention lets every token look at every other token; nothing in it knows what
# "before" and "after" mean.
#
# So we forbid it. For this you need two words. A **score** $s_{ij}$ is a number that says how much token $i$ wants to look at token $j$. (Section 3 says where it comes
# from.) A softmax turns each row of scores into **weights**, which are positive and sum to 1: $e$ to the power of each score, divided by the sum of these powers.
#
# Before the softmax, we add to each score a number $m_{ij}$:
#
# $$ m_{ij} = \begin{cases} 0 & \text{if } j \le i \quad\text{(the past and the token itself: nothing changes)} \\
# -\infty & \text{if } j > i \quad\text{(the future: forbidden)} \end{cases} $$
#
# Why minus infinity? Because the softmax takes $e^{s_{ij} + m_{ij}}$ first, and $e^{-\infty} = 0$: a power of
# exactly zero, before the row is divided by its sum.

# %% [markdown]
# ### By hand, with three tokens
#
# Here are nine scores: a row for each token that looks, a column for each token looked at. Take a pencil and compute the three rows of weights **with** the mask; you need
# $e^0 = 1$, $e^1 \approx 2.72$, $e^2 \approx 7.39$ and $e^3 \approx 20.09$.
#
# | | Le | chat | dort |
# |---|---|---|---|
# | **Le** | 2 | 1 | 0 |
# | **chat** | 1 | 3 | 1 |
# | **dort** | 0 | 1 | 2 |
#
# Write your three rows in place of the dots, with two digits after the decimal point, and run the cell.

# %% by_hand
by_hand("attention_weights", [
    [..., ..., ...],  # Le
    [..., ..., ...],  # chat
    [..., ..., ...],  # dort
])

# %% [markdown]
# The next cell computes them, on the right; on the left, the same without a mask.

# %% experiment
# @title The weights of three tokens, with the mask and without
words = ["Le", "chat", "dort"]
scores = torch.tensor([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
mask = torch.tensor([[0.0, -torch.inf, -torch.inf], [0.0, 0.0, -torch.inf], [0.0, 0.0, 0.0]])

free = torch.softmax(scores, dim=-1)
masked = torch.softmax(scores + mask, dim=-1)

figure, axes = plots.panels(3)
plots.matrix(
    free, "weights without a mask", rows=words, columns=words, digits=2, axes=axes[0], limits=(0, 1)
)
plots.matrix(mask, "the mask", rows=words, columns=words, digits=0, axes=axes[1])
plots.matrix(
    masked, "weights with the mask", rows=words, columns=words, digits=2, axes=axes[2], limits=(0, 1)
)
plots.show(figure, "Three matrices side by side. " + plots.describe_matrix(masked, "Weights with the mask"))

# %% [markdown]
# Read the right-hand picture row by row. *Le* can look only at itself, so all its weight goes there. *chat* shares its weight between *Le* and itself. Only *dort*
# sees everything: its row is the same with and without the mask. Each row still sums to 1.
#
# ### A mistake worth making once
#
# Could we not take the softmax first and put zeros into the future afterwards? What is the sum of the first row then, to two digits? Write a number in place of
# the dots, or leave them: a guess costs nothing.

# %% guess
guess("the sum of the first row", ...)

# %% experiment open=true
too_late = torch.softmax(scores, dim=-1) * (mask == 0)  # the future is removed after the softmax

print("weights:\n", too_late.round(decimals=2))
print("sums of the rows:", too_late.sum(dim=-1).round(decimals=2))

# %% reveal
reveal("the sum of the first row", too_late[0].sum())

# %% [markdown]
# The first row sums to 0.67: the future has already taken its share, and removing it afterwards leaves a hole.
# (Dividing each row by its new sum repairs it, unless all the weight was in the future: 0 divided by 0 is no number.)
#
# ## 2. Exercise: the mask
#
# Now for any size. `torch.full`, `torch.triu`, `torch.where` or a plain double loop will all do, only not a mask that is ready-made, such as torch's own
# (`nn.Transformer.generate_square_subsequent_mask`): it is what you write here. `-torch.inf` is minus infinity.


# %% exercise="causal_mask"
def causal_mask(size: int) -> Tensor:
    """Returns the causal mask `(size, size)` as floating point numbers.

    Row i is the token that looks, column j the token looked at:
    0 where j <= i, minus infinity where j > i.

    Example: causal_mask(2) is [[0, -inf], [0, 0]].
    """
    ### BEGIN SOLUTION
    blocked = torch.full((size, size), -torch.inf)
    return torch.triu(blocked, diagonal=1)  # keeps what lies above the diagonal, zeros elsewhere
    ### END SOLUTION


# %% [markdown]
# With your mask, here is the sentence from the beginning. The first five rows are the lines of the table in section 1 (the
# last one asks for a word after the end): what is white is what the model may use, what is grey does not exist for it.

# %% experiment
# @title The mask of a sentence of six words, and PyTorch's own
sentence = ["Le", "chat", "dort", "sur", "le", "canapé"]
square = causal_mask(len(sentence))

axes = plots.matrix(square, "Who may look at whom", rows=sentence, columns=sentence, digits=0)
plots.show(axes.figure, plots.describe_matrix(square, "The causal mask of a sentence of six words"))
theirs = torch.nn.Transformer.generate_square_subsequent_mask(len(sentence))
print("torch's generate_square_subsequent_mask is the same square:", torch.equal(square, theirs))

# %% [markdown]
# torch has this square under a long name, `nn.Transformer.generate_square_subsequent_mask(n)`, and much code on the web uses it.
# torch's own layers, which you do not need here, take it as `src_mask=` (`nn.TransformerEncoderLayer`, `nn.Transformer`), as `mask=` (`nn.TransformerEncoder`) or as `tgt_mask=` (decoders, `nn.Transformer`).
# Next to it they take `is_causal=True` (or `src_is_causal=`, `tgt_is_causal=`), which *promises* that the mask is this one, so that torch may use a faster way: see section 4.
#
# ## 3. Exercise: the weights
#
# Where do scores come from, and where do weights go? The model turns the row of numbers of each token into three other rows, by three matrices that it learns:
#
# - a *query*: what the token looks for;
# - a *key*: what it can be found by;
# - a *value*: what it gives when it is found.
#
# The score $s_{ij}$ is the dot product of the query of token $i$ with the key of token $j$: large where the two fit. The weights then make the new vector of token $i$: it is the
# *weighted sum* of all values, each value times the weight of its token. (Notebook 03 builds this, with numbers.) The picture shows the whole way, from bottom to top. You write the
# middle of it, from scores and mask to weights:

# %% experiment
# @title The way of one attention: from queries, keys and mask to new vectors
from helpers.diagrams import Diagram

picture = Diagram(4.1, 3.5)
picture.column(1.85, 1.05, [
    ("scores", "scores (n, n)", "data"),
    ("masked", "masked scores (n, n)", "data"),
    ("weights", "weights (n, n)", "attention"),
    ("output", "new vectors (n, d)", "data"),
], step=0.75, width=1.6)
picture.box("queries", (1.05, 0.3), "queries (n, d)", width=1.15)
picture.box("keys", (2.4, 0.3), "keys (n, d)", width=1.0)
picture.box("values", (3.55, 0.3), "values (n, d)", width=1.0)
picture.box("mask", (0.52, 1.8), "mask (n, n)\n0 or −∞", width=0.88)
for name, end in (("queries", "scores"), ("keys", "scores"), ("mask", "masked")):
    picture.arrow(name, end)
picture.arrow("values", "output", corner="up")
for height, text in ((1.42, "add"), (2.17, "softmax of each row"), (2.92, "weighted sum")):
    picture.note((1.93, height), text)
picture.show(
    "Queries and keys make scores, n by n. The mask is added to them, the softmax of each row makes "
    "weights of them, and the sum of the values with these weights is each token's new vector."
)

# %% [markdown]
# A real model has a batch of sentences, and several such attentions side by side, its *heads*. So its scores have the shape `(b, h, n, n)`: one square
# for each sentence and each head. The mask stays `(n, n)`; adding it works for all squares at once, because torch
# lines up shapes **from the end**. Count the axis of your softmax from the end, too.


# %% exercise="attention_weights"
def attention_weights(scores: Tensor, mask: Tensor) -> Tensor:
    """Returns the attention weights: the softmax over the keys of the masked scores.

    Args:
        scores: any leading axes, then one row per query and one column per key: `(..., n, n)`.
            Finite, but they may be very large or very small, the blocked ones too: no weight is ever NaN.
        mask: `(n, n)`, 0 where looking is allowed and minus infinity where it is not; causal, or another
            one. Each row allows at least one key.

    Returns:
        Weights `(..., n, n)`; each row sums to 1.
    """
    ### BEGIN SOLUTION
    return torch.softmax(scores + mask, dim=-1)  # (..., n, n), the last axis runs over the keys
    ### END SOLUTION


# %% [markdown]
# > **A trap from real code.** Some implementations build the mask from the scores themselves: "take the upper
# > triangle of the scores, and where it is not zero put minus infinity". It looks right and passes most tests. Now
# > imagine that a score above the diagonal happens to be exactly 0. It is not blocked, and the future leaks through
# > that one hole. Scores of exactly 0 do occur: in a model whose weights begin at zero, all of them are 0. Your
# > check has such a score in it.
#
# Move the slider with the mouse or with the arrow keys. The scores are random but always the same; only the number of
# tokens changes. Watch the first row, the last row, and how the weight of one token shrinks as rows get longer.

# %% interactive
# @title Mask and weights for one token up to twelve: move the slider
from ipywidgets import IntSlider, interact


def show_weights(size: int) -> None:
    """Draws mask and weights for `size` tokens."""
    numbers = torch.randn(12, 12, generator=torch.Generator().manual_seed(1))[:size, :size]
    weights = attention_weights(numbers, causal_mask(size))
    figure, (left, right) = plots.panels(2, width=3.8, height=3.6)
    plots.matrix(causal_mask(size), "mask (grey: minus infinity)", axes=left)
    plots.matrix(weights, "weights", axes=right, limits=(0, 1))
    alt = plots.describe_matrix(weights, f"Right, the weights for {size} tokens")
    plots.show(figure, f"Left, the causal mask. {alt}")


slider = IntSlider(value=6, min=1, max=12, description="tokens", continuous_update=False)
_ = interact(show_weights, size=slider)

# %% experiment
# @title The same picture for those who only read: six tokens
show_weights(6)

# %% [markdown]
# ## 4. Exercise: what is thrown away
#
# Count the grey squares in the picture of *Le chat dort sur le canapé*. For five tokens it would be 10 of 25. These
# scores were computed (a product of a query and a key each), and then thrown away. How many are there for $L$ tokens? ($L$ is
# the $n$ of the shapes; formulas for `sympy` are written with $L$.)
#
# Answer with a formula in the symbol $L$, written with `sympy`, Python's library for algebra. Any form will do, `(L + 1) * 3` is as good as
# `3 * L + 3`: the check compares what they mean. (It reads sums, products, powers, fractions, `factorial`, `binomial`,
# `floor`, `Max` and `Sum`, and tries lengths from 2 on.)

# %% setup
L = sympy.Symbol("L", positive=True, integer=True)  # the number of tokens


# %% exercise="wasted_scores"
def wasted_scores() -> sympy.Expr:
    """Returns a formula in L: how many of the L * L scores are thrown away (10 for L = 5)."""
    ### BEGIN SOLUTION
    return L * (L - 1) / 2  # the square without its diagonal, halved
    ### END SOLUTION


# %% experiment
# @title The share of the scores that is wasted, for longer and longer texts
from helpers.formulas import in_letters

share = sympy.simplify(in_letters(wasted_scores(), L) / L**2)
print("share of the scores that is wasted:", share)
try:
    print("for a very long text:", sympy.limit(share, L, sympy.oo))
except NotImplementedError:  # your formula is right, and sympy finds no limit of its form
    print("for a text of 512 tokens:", float(share.subs(L, 512)))

lengths = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
shares = {"wasted": [float(share.subs(L, n)) for n in lengths]}
axes = plots.curves(
    shares,
    lengths,
    title="Nearly half of the square is never used",
    x_label="number of tokens L",
    y_label="share of scores thrown away",
    log_x=True,
)
plots.show(axes.figure, plots.describe_curves(shares, lengths, "length"))

# %% [markdown]
# Nearly half of the work, for long texts. torch has *kernels* that save it, programs made for one operation on one kind of device: with one of them, its
# `scaled_dot_product_attention(..., is_causal=True)` needs no mask in memory and can skip what lies above the diagonal. Where there is none, it
# builds the mask and computes the whole square.
#
# The models in `helpers/models.py` call it in this way, unless more must be added to the scores than the causal mask (for padding, section 7, or the biases of notebook 02).
#
# ## 5. Exercise: catch a model that looks ahead
#
# Suppose that somebody gives you a model and says: "it is causal". You cannot see its code. How do you test it?
#
# Change one word and look at what moves. If you change token $j$ and output $i$ changes, then $j$ has an influence on
# $i$. In a causal model that must never happen for $j > i$. Two things to watch:
# - outputs are floating point numbers. Run twice, on a GPU say, and they may differ by rounding, near $10^{-6}$: that is no influence. But a
#   distant token in a long sentence may have a very small one, below $10^{-3}$: that counts.
# - the changed token must still be a word of the vocabulary, and another one than before.


# %% exercise="future_influence"
def future_influence(model: LanguageModel, tokens: Tensor, vocab_size: int) -> Tensor:
    """Returns a bool matrix `(n, n)`: True at [i, j] when changing token j changes output i.

    All influences count, those of the past too. An output changes when one of its k numbers does.

    Args:
        model: any model, causal or not. Called on a batch of tokens `(1, n)`, it returns outputs
            `(1, n, k)`.
        tokens: one sentence, `(n,)`, whole numbers from 0 to vocab_size - 1.
        vocab_size: the number of words; a changed token must stay below it.
    """
    ### BEGIN SOLUTION
    n = len(tokens)
    influence = torch.zeros(n, n, dtype=torch.bool)
    with torch.no_grad():
        before = model(tokens.unsqueeze(0))[0]  # (n, k)
        for j in range(n):
            changed = tokens.clone()
            changed[j] = (changed[j] + 1) % vocab_size
            after = model(changed.unsqueeze(0))[0]  # (n, k)
            influence[:, j] = (after - before).abs().amax(dim=-1) > 1e-5
    return influence
    ### END SOLUTION


# %% [markdown]
# Now put it to use: two models with the same *parameters*, the numbers that training changes (here they are still the random ones of the beginning). One has the mask, the other
# has not. For six tokens your matrix has 36 squares. How many will be True for the model *with* the mask?

# %% guess
guess("the squares that are True with the mask, of 36", ...)

# %% experiment
# @title Which token changes which output: a model with the mask and one without
torch.manual_seed(0)
honest = LanguageModel(TransformerBase(50, d_model=32, n_layers=2, n_heads=4, causal=True)).eval()
cheating = LanguageModel(TransformerBase(50, d_model=32, n_layers=2, n_heads=4, causal=False)).eval()
cheating.load_state_dict(honest.state_dict())

tokens = torch.tensor([3, 14, 15, 9, 26, 5])
names = {"with the mask": honest, "without the mask": cheating}
figure, axes = plots.panels(2, width=3.8, height=3.8)
for (name, model), axis in zip(names.items(), axes):
    influence = future_influence(model, tokens, vocab_size=50)
    plots.matrix(
        influence,
        name,
        rows=sentence,
        columns=sentence,
        row_label="output i",
        column_label="changed token j",
        axes=axis,
    )
    print(f"{name}: {int(influence.triu(1).sum())} influences from the future")
plots.show(
    figure,
    "Left, with the mask: only the lower triangle is filled. Right, without: every square is filled.",
)

# %% reveal
reveal(
    "the squares that are True with the mask, of 36",
    lambda: int(future_influence(honest, tokens, vocab_size=50).sum()),
)

# %% [markdown]
# ### What goes wrong without it
#
# Let two new, smaller models train on sentences of *random* words, one with the mask and one without. Training makes the *loss* small: minus the natural logarithm of the
# probability that the model gave to the right word, on average over all words.
#
# There is nothing to learn in random words: the best anybody can do is to give each of 20 words the probability 1/20, a loss of $\ln 20 \approx 3.00$ (in *nats*, the
# unit of the natural logarithm). What do you expect from the model without a mask?
#
# (You need not read the loop in the next cell, nor know its words yet. `logits` are the scores of the 20 words before a softmax (notebook 04), `cross_entropy` makes the loss of them
# (06); `Adam`, with its step size `lr`, is the optimizer, which changes the parameters so that the loss falls, by `zero_grad`, `backward` and `step`; `dropout` is
# switched off (03). [Before you start](../00_start_here/before.html) goes through such a loop.)

# %% guess
guess("the last loss of the model without a mask, in nats per word", ...)

# %% experiment
# @title Two models train on random words, one with the mask and one without
import sys

from tqdm import tqdm


def train_on_noise(causal: bool, steps: int = 250) -> list[float]:
    """Returns the loss after each step of training on fresh random words."""
    torch.manual_seed(0)
    model = LanguageModel(
        TransformerBase(20, d_model=32, n_layers=1, n_heads=2, causal=causal, dropout=0.0)
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    losses = []
    for _ in tqdm(range(steps), unit="step", file=sys.stdout):
        words = torch.randint(20, (32, 13))  # 32 sentences of 13 words
        logits = model(words[:, :-1])  # (32, 12, 20), the guess for each next word
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), words[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


losses = {"with the mask": train_on_noise(causal=True), "without the mask": train_on_noise(causal=False)}
steps = range(1, 251)
axes = plots.curves(
    losses, steps, title="Training on random words", x_label="step", y_label="loss (nats per word)"
)
axes.axhline(torch.tensor(20.0).log().item(), color="#555555", linestyle=":")
axes.text(60, 3.15, "best possible without looking ahead: ln 20", color="#333333")
alt = [f"{name} the loss goes from {told[0]:.1f} at step 1 to {told[-1]:.1f} at step 250"
       for name, told in losses.items()]
plots.show(axes.figure, "; ".join(alt) + ".")
print({name: round(values[-1], 1) for name, values in losses.items()})

# %% reveal
reveal("the last loss of the model without a mask, in nats per word", losses["without the mask"][-1])

# %% [markdown]
# With the mask, the loss stays near 3.00. Without it, it falls far below what is possible: the model has found that the answer to question $i$ stands in its input, one
# position to the right. (Why not down to 0? The last of the 12 positions has no next word to copy: one twelfth of 3.00 is 0.25.)
#
# So the model has become excellent at copying and knows nothing about words. When it then has to write, there is no next word to copy, and it
# fails. A training loss that is too good to be true usually is.
#
# ## 6. One pass in place of $n$
#
# Section 1 promised that one masked pass gives the same answers as $n$ runs, one for each beginning of the sentence. First
# the proof by numbers, then the gain.


# %% experiment
# @title The same answers from one pass as from a run for each prefix?
@torch.no_grad()
def one_by_one(model: LanguageModel, tokens: Tensor) -> Tensor:
    """Returns the last output of each prefix, `(n, V)`: n runs of the model."""
    return torch.stack([model(tokens[None, :length])[0, -1] for length in range(1, len(tokens) + 1)])


@torch.no_grad()
def in_one_pass(model: LanguageModel, tokens: Tensor) -> Tensor:
    """Returns all outputs, `(n, V)`: one run of the model."""
    return model(tokens[None])[0]


difference = (one_by_one(honest, tokens) - in_one_pass(honest, tokens)).abs().max()
print("the same answers with the mask:   ", bool(difference < 1e-5))
difference = (one_by_one(cheating, tokens) - in_one_pass(cheating, tokens)).abs().max()
print("the same answers without the mask:", bool(difference < 1e-5))

# %% [markdown]
# Now the gain. For a sentence of 128 tokens, one pass takes the place of 128 runs on its beginnings. How many times faster will it be?

# %% guess
guess("how many times faster one pass is, at 128 tokens", ...)

# %% measured
# @title How long both ways take, for 4 to 128 tokens
from time import perf_counter


def milliseconds(run, *arguments) -> float:
    """Returns the median time of five runs."""
    times = []
    for _ in range(5):
        start = perf_counter()
        run(*arguments)
        times.append(1000 * (perf_counter() - start))
    return sorted(times)[2]


lengths = [4, 8, 16, 32, 64, 128]
texts = [torch.arange(length) % 50 for length in lengths]
times = {
    "one run for each prefix": [milliseconds(one_by_one, honest, text) for text in texts],
    "one masked pass": [milliseconds(in_one_pass, honest, text) for text in texts],
}
axes = plots.curves(
    times,
    lengths,
    title="The same answers, measured on this machine",
    x_label="number of tokens",
    y_label="time (ms)",
    log_x=True,
    log_y=True,
)
plots.show(axes.figure, plots.describe_curves(times, lengths, "length"))
ratio = times["one run for each prefix"][-1] / times["one masked pass"][-1]
print(f"at {lengths[-1]} tokens, one pass is {ratio:.0f} times faster")

# %% reveal
reveal("how many times faster one pass is, at 128 tokens", ratio)

# %% [markdown]
# That factor is the reason why Transformers are trained with a mask: every sentence of $n$ words gives $n - 1$ training
# examples for the price of one pass.
#
# Using a trained model, which is called *inference*, has no such saving: in *generation* the model
# makes a text token by token, each from those before it (it is *autoregressive*), and $n$ tokens take $n$ passes. The mask helps there, too: what has been computed for a token stays the
# same, whatever is appended, so its key and its value can be kept.
#
# ## 7. Exercise: padding
#
# Sentences in a batch have different lengths, a tensor has not. The short ones are filled up on the right with a special
# token `<pad>`. No real token should look at it: we need a second mask, one row per *sentence* this time.
#
# With lengths 2 and 4 and a batch of width 4:
#
# | | position 0 | position 1 | position 2 | position 3 |
# |---|---|---|---|---|
# | length 2 | False | False | **True** | **True** |
# | length 4 | False | False | False | False |
#
# True means "padding, ignore it": torch's own convention for `key_padding_mask`.
#
# **The trap.** What is the softmax of a row in which *everything* is minus infinity?

# %% experiment open=true
nothing_to_see = torch.tensor([-torch.inf, -torch.inf, -torch.inf])
print("softmax:", torch.softmax(nothing_to_see, dim=-1))

# %% [markdown]
# Zero divided by zero: NaN, "not a number". And NaN is contagious: one such row makes the loss NaN, then the
# gradients (by which training changes the parameters), then all the parameters of the model. It happens when a batch holds an **empty** text (length 0): all its positions are padding.
#
# So leave the first position of an empty text visible. What is computed there is of no use, but it is a number, and
# no result of this text is used.


# %% exercise="padding_mask"
def padding_mask(lengths: Tensor, size: int) -> Tensor:
    """Returns a bool mask `(b, size)`: True where a sentence is padded.

    Args:
        lengths: number of real tokens of each sentence, `(b,)`; padding stands on the right.
        size: the width of the batch; no length is larger.

    A sentence of length 0 keeps its first position visible (False), so that no softmax is NaN.
    """
    ### BEGIN SOLUTION
    positions = torch.arange(size)  # (size,)
    return positions >= lengths.clamp(min=1).unsqueeze(1)  # (b, size), each row against its own length
    ### END SOLUTION


# %% [markdown]
# The two masks work together: a score is blocked if the causal mask blocks it **or** the key is padding. In shapes: the
# causal mask is `(n, n)`, the padding mask becomes `(b, 1, n)`, and together they are `(b, n, n)`.

# %% experiment
# @title Both masks at once, for sentences of length 6, 3 and 0
lengths = torch.tensor([6, 3, 0])
future = causal_mask(6) == -torch.inf  # (n, n), True where blocked
padded = padding_mask(lengths, 6).unsqueeze(1)  # (b, 1, n)
joined = torch.zeros(3, 6, 6).masked_fill(future | padded, -torch.inf)  # (b, n, n)
weights = torch.stack([attention_weights(torch.zeros(6, 6), mask) for mask in joined])  # (b, n, n)

figure, axes = plots.panels(3)
for axis, length, square in zip(axes, lengths, weights):
    plots.matrix(square, f"length {length}", axes=axis, digits=2, limits=(0, 1))
plots.show(
    figure,
    "Weights of three sentences of length 6, 3 and 0 with equal scores: no weight on padding, no NaN.",
)
print("any NaN:", bool(weights.isnan().any()))

# %% [markdown]
# In the middle, the three columns of padding are empty; on the right, every row of the empty text looks at position 0. (Rows that belong to padding have weights
# too; what comes out there is thrown away.)
#
# ## 8. Essay
#
# In at most ten lines, in English or in French: **why does a language model need the causal mask during training, and what is its role
# when the model generates text word by word?** Use the experiment on random words, and say what would change in the outputs at earlier
# positions if there were no mask while generating.

# %% [markdown] essay="mask_essay"
# **Rubric** (half a point for each, 2 points in all)
#
# - *Training*: the target of position $i$ is the input of position $i + 1$. Without a mask the model copies it; the loss falls
#   below what is possible (as on random words) and nothing about language is learned.
# - *Training*: with the mask, one pass over $n$ tokens gives $n$ honest predictions, the same as $n$ runs on the prefixes.
# - *Generation*: the future does not exist yet, so nothing has to be hidden from the last position; but the mask keeps the states of earlier
#   positions the same as in training, whatever is appended.
# - *Generation*: since earlier states do not change, keys and values can be kept, and only the new position is computed.
#
# **Misconceptions that cost marks**: "the mask hides the padding" (another mask); "the mask makes the model faster" as the only reason; "at generation the
# mask is useless, so a model trained without one works too"; "the mask sets the scores to zero".
#
# **Answers as students write them**
#
# - *Full marks (2 of 2)*: "In training the target at position i is the word that stands at position i + 1 of the input. Without the mask the model looks
#   one position on and copies it: on our random words the loss then falls to 0.3, though nobody can get below about 3.0, so it has learned nothing that
#   helps to write. With the mask one pass over n words gives n honest predictions, the same as n runs on the prefixes. In generation there is no
#   future yet, so the last word needs no hiding. But each word that I append would change the states of all earlier words if there were no mask, and
#   the model was never trained with such states; with the mask they stay as they are, so their keys and values can be kept and only the new position is
#   computed." Why: All four lines, and the experiment with its number.
# - *Half (1 of 2)*: "The mask is needed in training because otherwise the model sees the answer: the next word is in its input and it copies it. The
#   experiment with random words shows it, where the loss went down to 0.3 without the mask and stayed at 3.0 with it. The mask also makes training
#   cheap, because one pass over the sentence trains all positions at once, as if we had run each prefix. When the model generates, the mask has nothing
#   to do, because the words after the last one do not exist. So one could switch it off there and get the same text." Why: Both lines on training
#   (1). Nothing of the two on generation: "one could switch it off" is the third misconception, since earlier states would change with each word that
#   is appended (0.5 lost), and that keys and values can be kept is missing (0.5 lost).
# - *No marks (0 of 2)*: "A language model needs the causal mask because it must read from left to right, as people do. The mask sets the scores of
#   the future words to zero, so that they get no attention. It also hides the padding, and it makes training faster since only half of the scores are
#   needed. When the model generates word by word, the mask plays the same role: each word sees only the words before it." Why: It says what the mask
#   does, not why it is needed: no word of copying, of the loss on random words or of earlier states. Three misconceptions take the place of reasons
#   (scores set to zero, padding, speed).

# %% [markdown] questions
# ## Three questions
#
# For yourself: open an answer to see whether it is right.
#
# 1. Why is the mask added before the softmax, and not multiplied after it?
#    - It saves the softmax over the future. => Both ways take the softmax over all scores; the cost is the same.
#    - Zeros after the softmax would let the model see the future. => A weight of zero hides the token, too. What is wrong is the sum of the row.
#    + After the softmax the future has already taken its share. => The rest of the row no longer sums to 1; a score of minus infinity takes no share at all.
# 2. A model trains without the mask, and its training loss falls far below that of every model with one. What has it learned?
#    + To copy the next token from its own input. => The target of a position stands one position to the right, where it can look.
#    - More of the language, since it sees both sides. => Then it would write well. It fails as soon as there is no next token to copy.
#    - Nothing: a loss cannot fall without the mask. => It can, and it does: the answers are in the input.
# 3. While a model writes token by token, nothing stands behind the last token. What is the mask good for there?
#    - Nothing: it can be switched off once the training is over. => Then each appended token would change the vectors of all earlier ones, as never happened in training.
#    - It hides the padding from the token that is being written. => That is another mask, with one row for each sentence.
#    + It keeps the vectors of earlier tokens as they were. => So they are those of training, and their keys and values can be kept.

# %% [markdown]
# ## What to remember
#
# - The causal mask is 0 where $j \le i$ and $-\infty$ where $j > i$, **added before** the softmax.
# - Rows are queries, columns are keys; the softmax runs along the last axis; each row sums to 1.
# - $L(L-1)/2$ of the $L^2$ scores are thrown away: nearly half.
# - To test causality, change a token and see what moves. To distrust a model, look for a loss that is too good.
# - A padding mask has one row per sentence; a row with nothing to see gives NaN.
#
# **Go further.** Read section 3.2.3 of [Vaswani et al. (2017)](https://arxiv.org/abs/1706.03762): the mask takes one sentence there. Then change the rule: let each
# token see only the last three (`j <= i` **and** `j > i - 3`, a *sliding window*). How many layers does it take until the first token can
# influence the tenth? `future_influence` can tell you. Notebook 02 asks the next question: how does a model know the *order* of what it sees?

# %% [markdown]
# ## What others call it
#
# - **causal mask** (also *look-ahead mask*, *autoregressive mask*): a square that hides from each token what comes after it.
# - **next-token prediction** (also *causal language modelling*): to say after each token which one comes next.
# - **autoregressive**: making each token from those before it.
# - **inference**: using a trained model, in contrast to training it.
# - **generation** (also *decoding*): making a text token by token.
# - **key padding mask**: hides the padding from attention; one row for each sentence.
# - **target leakage**: the answer stands in the input; the sign of it is a loss that is too good to be true.
# - **sliding-window attention** (also *local attention*): each token sees the last few only.
#
# **The short route** of six notebooks goes on with 03, attention itself. Of 02 you need one sentence: to each token's row of numbers a pattern is added that says where it stands.

# %% experiment open=true
from tutor import progress

progress()
