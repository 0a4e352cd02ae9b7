# ---
# jupyter:
#   course:
#     teaches: "the parts of today's large models, and a real one in them"
#     part: models
#     column: 3
#     row: 4
#     builds_on: ["14"]
#     running: 3
#     questions:
#       - What is in models of today?
#       - What do they do differently from the paper of 2017, and why?
#       - Why need a model that writes not read again what it has read?
#       - Which head copies, and how do I know?
#   jupytext:
#     notebook_metadata_filter: course
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 16 · A real model
#
# The large models of today are not quite the GPT of notebook 14. [LLaMA](https://arxiv.org/abs/2302.13971) (section 2.2), on which many others are modelled, names three changes: another norm, another feed-forward part, and the rotary positions of notebook 02. Later models share keys and values among heads, and all of them keep what they have read. You build these parts and put them together; then the published weights of a real model go in, rounded to 4 bits as the file has them, and *your* class answers questions.
#
# **When you are done, you can**
# - say what RMSNorm and SwiGLU leave out and put in, and keep the number of parameters;
# - let several heads share their keys and values, and repair by some training a model that was converted to this;
# - make a model write without reading everything again;
# - write a whole Llama, load published weights into it, and say when nothing must be loaded;
# - find the heads that copy, watch them appear in training, and prove what they do by switching them off.
#
# **Time**: about 3 h 30 min. **Before this**: notebooks 01 (who may look ahead), 02 (rotary positions), 03 (heads), 05 (counting) and 14 (a GPT, its tokens). The model that reads reviews is the one of 15, made anew here.
#
# | exercise | what it asks | points |
# |---|---|---|
# | `RMSNorm` | a norm without a mean | 2 |
# | `SwiGLU` | a feed-forward part with a gate | 2 |
# | `grouped_query_attention` | heads that share their keys | 2 |
# | `read_with_cache` | new tokens, without reading the old ones again | 3 |
# | `Llama` | the whole model, with its cache | 5 |
# | `load_weights` | published names to one's own | 4 |
# | `induction_score` | which heads copy? | 3 |
# | *essay* `parts_essay` | what these measurements decide, and what they do not | 2 |
# | **total** | | **23** |
#
# Folded cells are experiments: they train and draw, two to three minutes in all, and no mark depends on them. Nothing is downloaded.

# %% setup
import copy
import json
import math
import re
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from tqdm import tqdm

from helpers import plots
from tutor import by_hand, check, guess, hint, resume, reveal
from helpers.batches import Batches, for_language_model
from helpers.corpora import Split, load
from helpers.diagrams import Diagram
from helpers.heads import attend, causal_mask, merge_heads, split_heads
from helpers.models import LanguageModel, TransformerBase, rotary_angles, rotate
from helpers.pieces import GPT2_WORD, Cutter
from helpers.training import evaluate, schedule, train
from helpers.vocabulary import Vocabulary
from helpers.weights import find

# %% [markdown]
# ## 1. What is in a real model
#
# SmolLM2-135M ([Ben Allal et al. 2025](https://arxiv.org/abs/2502.02737)) is a small language model that anybody may use, and built as the large ones are. Here is all that is in it. (Section 7 reads a file of it in which the matrices are rounded to 4 bits a number, so all that is measured there is measured on the rounded model.) **Before you read the numbers**: which parts do you know from notebooks 02, 03 and 14, and which names are new?

# %% experiment
# @title What is in a real model: SmolLM2-135M, from below
PARTS = [("tokens", "n tokens", "data", ""),
         ("embedding", "embedding 49,152 × 576", "part", "28,311,552"),
         ("norm 1", "RMSNorm", "part", "576"),
         ("query", "query 576 × 576", "part", "331,776"),
         ("key", "key, value\n576 × 192 each", "part", "221,184"),
         ("attention", "attention: 9 heads of 64 read 3", "attention", ""),
         ("output", "output 576 × 576", "part", "331,776"),
         ("norm 2", "RMSNorm", "part", "576"),
         ("SwiGLU", "SwiGLU: 3 times 576 × 1,536", "part", "2,654,208"),
         ("last norm", "RMSNorm", "part", "576"),
         ("head", "head: the embedding once more", "part", "0"),
         ("scores", "49,152 scores at each token", "data", "")]
picture = Diagram(4.2, 5.9)
below, branches, above = PARTS[:3], PARTS[3:5], PARTS[5:]  # query, key and value read the same
picture.column(1.85, 0.3, [part[:3] for part in below], step=0.48, width=2.4)
picture.column(1.85, 2.34, [part[:3] for part in above], step=0.48, width=2.4)
for x, (name, text, kind, _) in zip((1.2, 2.5), branches):
    text = text.replace(" 576", "\n576", 1) if name == "query" else text
    picture.box(name, (x, 1.8), text, kind, width=1.2)
    picture.arrow("norm 1", name)
    picture.arrow(name, "attention")
picture.note((3.25, 1.8), "331,776\n+ 221,184")
for first, parts in ((0.3, below), (2.34, above)):
    for place, (name, text, _, count) in enumerate(parts):
        picture.note((3.25, first + 0.48 * place), count or ("numbers" if name == "scores" else ""))
picture.frame(["norm 1", "SwiGLU"], margin=0.14)
picture.note((0.02, 2.7), "30 times", rotation=90)
total = 49152 * 576 + 30 * (2 * 576 * 576 + 2 * 576 * 192 + 3 * 576 * 1536 + 2 * 576) + 576
picture.show("SmolLM2-135M from below: " + "; ".join(
    text.replace("\n", ", ") + (f" ({count} numbers)" if count else "") for _, text, _, count in PARTS) +
    ". Query, key and value all read what the first norm gives. What lies between embedding and last norm "
    f"is there 30 times; {total:,} numbers in all.")

# %% [markdown]
# Two things are not drawn: each half of a layer is added to what comes in (the residual), and positions have no numbers, since each layer turns queries and keys as in notebook 02. Nothing has a bias.
#
# The parts are tried first in the language model of notebooks 06 and 15, which is trained here once more: one layer, width 64, two heads, and 10,500 invented reviews that it reads once, in half a minute. (`Batches`, `schedule` and `train` of `helpers` make batches, rates and steps as in notebooks 06 and 12; its positions are those of ALiBi, notebook 02.)

# %% measured
# @title The language model of the reviews is trained once more
corpus, cpu = load("reviews_fr"), torch.device("cpu")  # so small a model gains nothing from a GPU
vocabulary = Vocabulary.learn(corpus["unlabelled"]["text"])
MAKE = {"d_model": 64, "n_layers": 1, "n_heads": 2, "dropout": 0.0, "norm_first": True,
        "positions": "alibi"}

to_read = for_language_model(vocabulary, max_len=512)
reading = Batches(Split("reviews/read", "train", corpus["unlabelled"].rows), to_read, token_budget=400)
unread = Batches(Split("reviews/unread", "valid", corpus.valid.rows), to_read, token_budget=8192)

torch.manual_seed(0)
language_model = LanguageModel(TransformerBase(len(vocabulary), **MAKE))
history = train(language_model, reading, "language_model", epochs=1, learning_rate=6e-3, valid=unread,
                factor=schedule("linear", 50, len(reading)), device=cpu)
print(f"{len(reading.examples):,} reviews read once, {history['step'].iloc[-1]:,.0f} steps; "
      f"perplexity on reviews not read: {history['valid_perplexity'].iloc[-1]:.2f}")

# %% [markdown]
# ## 2. Three parts of today's models
#
# ### A norm without a mean
#
# LayerNorm subtracts the mean of a token's values, divides by their standard deviation, and then applies a learned weight and bias. [Zhang and Sennrich 2019](https://arxiv.org/abs/1910.07467) suspect that the mean is not what helps, and leave it out. In their code the bias is gone, too, unless one asks for it. **RMSNorm** divides by the *root mean square*.
#
# $$ \text{RMSNorm}(x) = \frac{x}{\sqrt{\frac{1}{D} \sum_k x_k^2 + \varepsilon}} \odot w $$
#
# Here $\odot$ multiplies value by value, $w$ is the learned weight, and $\varepsilon$ keeps a token of zeros from a division by 0.
#
# **By hand**, with $w = 1$ and without $\varepsilon$: the token $(1, 7)$. What does RMSNorm make of it?

# %% by_hand
by_hand("RMSNorm", [..., ...])  # what becomes of (1, 7)

# %% [markdown]
# The mean square is 25, so the token becomes $(0.2, 1.4)$; LayerNorm makes of it $(-1, 1)$. Now the token $(101, 107)$: which of the two norms gives it the same result as before? And which gives $(10, 70)$ the same as $(1, 7)$?

# %% exercise="RMSNorm"
class RMSNorm(nn.Module):
    """Divides each token by its root mean square, and multiplies by a learned weight.

    d_model: numbers of a token. eps: added to the mean of the squares, before the root.
    Parameters: weight `(d_model,)`, which starts with ones. No others, and no buffers. An answer that uses
    PyTorch's own (nn.RMSNorm, F.rms_norm) or that of helpers.llama earns nothing.
    """

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Returns `(..., d_model)` for `x` `(..., d_model)`."""
        ### BEGIN SOLUTION
        mean_square = x.square().mean(dim=-1, keepdim=True)  # (..., 1)
        return x / torch.sqrt(mean_square + self.eps) * self.weight
        ### END SOLUTION


# %% [markdown]
# (By hand: LayerNorm gives $(101, 107)$ the same as $(1, 7)$, namely $(-1, 1)$, since it takes the mean off; RMSNorm makes of it about $(0.97, 1.03)$. To $(10, 70)$ both give the same as to $(1, 7)$.)
#
# How much does the mean matter in a model that was trained *with* LayerNorm? Exchange its three norms for yours, with the learned weights and biases kept, and train nothing. The perplexity was 3.63. What is it then: ruined, a little worse, or the same? And without any norm? Write both perplexities in place of the dots, or leave them and go on: a guess earns nothing and costs nothing.

# %% guess
guess("perplexity with RMSNorm in place of LayerNorm", ...)

# %% guess
guess("perplexity without any norm", ...)

# %% measured
# @title Perplexity with other norms, without a step of training
class WithBias(nn.Module):
    """Your norm with the weight and the bias of a LayerNorm."""

    def __init__(self, old: nn.LayerNorm) -> None:
        super().__init__()
        self.norm, self.bias = RMSNorm(len(old.weight), old.eps), old.bias
        self.norm.weight = old.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x) + self.bias


def exchanged(make) -> LanguageModel:
    """Returns a copy of the language model with other norms, made of the old ones."""
    model = copy.deepcopy(language_model)
    layer = model.base.layers[0]
    layer.attention_norm = make(layer.attention_norm)
    layer.feed_forward_norm = make(layer.feed_forward_norm)
    model.base.norm = make(model.base.norm)
    return model


for name, make in {"LayerNorm": lambda old: old, "RMSNorm": WithBias,
                   "no norm": lambda old: nn.Identity()}.items():
    measured = evaluate(exchanged(make), unread, "language_model")
    print(f"{name:9} perplexity {measured['perplexity']:.3g}")

# %% reveal
reveal("perplexity with RMSNorm in place of LayerNorm",
       lambda: evaluate(exchanged(WithBias), unread, "language_model")["perplexity"])

# %% reveal
reveal("perplexity without any norm", measured["perplexity"])

# %% [markdown]
# The same, or nearly: from 3.63 to 3.64 in our run, without a step of training. What these norms do is to keep the *size* of the tokens: with nothing in their place (which takes their learned weights and biases away, too) the model is useless. Whether the mean is taken off makes next to no difference here. The paper trains with RMSNorm from the start, on several tasks, and reports results comparable with those of LayerNorm in 7 to 64 % less time.
#
# ### A feed-forward part with a gate
#
# The plain part is $W_2 \, \text{relu}(W_1 x)$. [Shazeer 2020](https://arxiv.org/abs/2002.05202) lets one linear map decide how much of another one passes:
#
# $$ \text{SwiGLU}(x) = W_\text{out} \big( \text{silu}(W_\text{gate}\, x) \odot W_\text{hidden}\, x \big), \qquad \text{silu}(z) = z \cdot \frac{1}{1 + e^{-z}} $$
#
# That is a third matrix. A fair comparison keeps the number of parameters, so the paper cuts the width to two thirds.
#
# **By hand**: $D = 64$, $F = 192$, no biases. How many parameters has the plain part? How wide may the three matrices be, with as many parameters in all? And what if they keep the width 192, and SwiGLU is then reported to be better?

# %% guess
guess("width of the three matrices of a SwiGLU, D = 64 and F = 192", ...)

# %% exercise="SwiGLU"
class SwiGLU(nn.Module):
    """A gated feed-forward part with about as many numbers as a plain one of width d_feedforward.

    Layers, all without biases: gate and hidden from d_model to two thirds of d_feedforward (rounded
    down), and output back to d_model. An answer that uses that of helpers.llama earns nothing.
    """

    def __init__(self, d_model: int, d_feedforward: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        width = 2 * d_feedforward // 3  # three matrices in place of two
        self.gate = nn.Linear(d_model, width, bias=False)
        self.hidden = nn.Linear(d_model, width, bias=False)
        self.output = nn.Linear(width, d_model, bias=False)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Returns `(..., d_model)` for `x` `(..., d_model)`."""
        ### BEGIN SOLUTION
        return self.output(F.silu(self.gate(x)) * self.hidden(x))
        ### END SOLUTION


# %% experiment
# @title The plain part, your SwiGLU, and three matrices of full width, in numbers
def numbers_in(model: nn.Module) -> int:
    """Returns how many numbers of a model learn."""
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)


rows = {}
for d_model, width in ((64, 192), (512, 2048), (4096, 16384)):
    with torch.device("meta"):  # shapes without numbers: the last one would have 134 million
        rows[f"D = {d_model}, F = {width}"] = {
            "plain, 2 D F": f"{2 * d_model * width:,}",
            "your SwiGLU": f"{numbers_in(SwiGLU(d_model, width)):,}",
            "three matrices of width F": f"{3 * d_model * width:,}"}
pd.DataFrame.from_dict(rows, orient="index")

# %% reveal
reveal("width of the three matrices of a SwiGLU, D = 64 and F = 192",
       numbers_in(SwiGLU(64, 192)) / (3 * 64))

# %% experiment
# @title What opens the gate: silu beside ReLU
z = torch.linspace(-6, 6, 61)
gates = {"silu": F.silu(z), "ReLU": torch.relu(z)}
axes = plots.curves(gates, z, title="What opens the gate", x_label="gate(x)", y_label="factor")
low = F.silu(z).min().item()
plots.show(axes.figure, f"ReLU is 0 for negative numbers, silu falls to {low:.2f} and comes back to 0; "
           "for large numbers both are the number itself.")

# %% [markdown]
# The factor is no share between 0 and 1: it falls to −0.28, so that it can turn the sign, and it grows without bound. (By hand: the plain part has 24,576 parameters, and the three matrices may be 128 wide. At 192 they have half as many again; a better result with them does not show that it comes from the gate.)
#
# In Shazeer's tables the gated parts have a somewhat lower loss at equal size; about the reason he makes no claim. Whether it would show on our reviews, we have not measured.
#
# ### Fewer keys and values
#
# One change came after LLaMA's first paper. When a model writes, it keeps keys and values of all tokens so far (section 3): $2 \cdot M \cdot A \cdot D/A$ values for each token, with $M$ layers of $A$ heads of width $D/A$.
#
# *Grouped-query attention* ([Ainslie et al. 2023](https://arxiv.org/abs/2305.13245)) lets several heads of queries share one head of keys and values. With one for all it is the *multi-query attention* of [Shazeer 2019](https://arxiv.org/abs/1911.02150). (In shapes, as in the exercise below, the small letters of notebook 03 stand for the same: $h$ heads are $A$, their width $d/h$ is $D/A$; new is $g$, the number of groups.)
#
# **By hand**: 32 layers, 32 heads of width 128, two bytes for each value. How many bytes does a text of 4,096 tokens keep? And with 8 heads of keys and values in place of 32?
#
# Then: six heads of queries and three groups, both counted from 0. Which group does each head read, if neighbours share one?

# %% by_hand
by_hand("grouped_query_attention", [..., ..., ..., ..., ..., ...])  # the group of heads 0 to 5

# %% exercise="grouped_query_attention"
def grouped_query_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None,
) -> Tensor:
    """Returns what each head reads, `(b, h, n, d/h)`; several heads share keys and values.

    Args:
        query: `(b, h, n, d/h)`, a head of queries for each of the h heads.
        key, value: `(b, g, m, d/h)`, g groups; h is a multiple of g. The first h / g heads read group 0,
            the next h / g heads group 1, and so on.
        mask: fits scores of `(b, h, n, m)`, such as `(n, m)`, `(h, n, m)` or `(b, 1, 1, m)`, and is added
            to the scaled scores: minus infinity blocks, other numbers shift. Each row leaves at least one
            key open. Without a mask (None) every query sees all keys: it is not causal by itself.

    Write it with a softmax: PyTorch's F.scaled_dot_product_attention has all this ready (`enable_gqa`),
    and an answer that uses it earns nothing.
    """
    ### BEGIN SOLUTION
    share = query.size(1) // key.size(1)  # heads that read one group
    key = key.repeat_interleave(share, dim=1)  # (b, h, m, d/h)
    value = value.repeat_interleave(share, dim=1)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))  # (b, h, n, m)
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
    return weights @ value
    ### END SOLUTION


# %% [markdown]
# (By hand: $2 \cdot 32 \cdot 32 \cdot 128 \cdot 4096$ values are 1,074 million, or 2.1 GB; with 8 groups a quarter, 0.5 GB. The six heads read the groups 0, 0, 1, 1, 2, 2.)
#
# A finished model can be converted to this: Ainslie et al. take the *mean* of the key matrices of the heads that are to share, likewise of the value matrices, and train on with 5 % of the steps of the pretraining.
#
# We do it with the model of section 1: its two heads get one head of keys and values. Beside the mean we try to keep the first head only; and so that more training alone is not mistaken for a repair,
# the unchanged model trains on just as long. The perplexity was 3.63. What is it after the change to the mean of both heads, before any training?

# %% guess
guess("perplexity with the mean of both heads of keys, before training", ...)

# %% measured
# @title The attention of a layer with one head of keys and values for all
class Grouped(nn.Module):
    """The attention of a layer, with one head of keys and values for all, made of several by `merge`."""

    def __init__(self, old: nn.Module, merge) -> None:
        super().__init__()
        self.heads, self.query, self.output = old.n_heads, old.query, old.output
        self.key, self.value = self.shared(old.key, merge), self.shared(old.value, merge)

    def shared(self, old: nn.Linear, merge) -> nn.Linear:
        new = nn.Linear(old.in_features, old.out_features // self.heads)
        by_head = old.weight.detach().unflatten(0, (self.heads, -1))  # (h, d/h, d)
        new.weight = nn.Parameter(merge(by_head))  # (d/h, d)
        new.bias = nn.Parameter(merge(old.bias.detach().unflatten(0, (self.heads, -1))))
        return new

    def forward(self, x: Tensor, context, cross: bool = False) -> Tensor:
        query = self.query(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)  # (b, h, n, d/h)
        key, value = self.key(x)[:, None], self.value(x)[:, None]  # (b, 1, n, d/h)
        mixed = grouped_query_attention(query, key, value, context.mask)
        return self.output(mixed.transpose(1, 2).flatten(2))

# %% measured
# @title Perplexity with shared keys and values, before training on and after
first = corpus["unlabelled"].rows.head(len(corpus["unlabelled"].rows) // 20)  # 5 % of what it has read
again = Batches(Split("reviews/again", "train", first), to_read, token_budget=400)
ways = {"two heads of keys, as they are": None, "one: their mean": lambda parts: parts.mean(dim=0),
        "one: the first": lambda parts: parts[0].clone()}
for name, merge in ways.items():
    model = copy.deepcopy(language_model)
    if merge:
        model.base.layers[0].attention = Grouped(model.base.layers[0].attention, merge)
    before = evaluate(model, unread, "language_model")["perplexity"]
    train(model, again, "language_model", epochs=1, learning_rate=1e-3, device=cpu, progress=False)
    after = evaluate(model, unread, "language_model")["perplexity"]
    print(f"{name:30} perplexity {before:5.2f}, after reading 5 % again {after:5.2f}")

# %% reveal
def with_their_mean() -> float:
    """Returns the perplexity with the mean of both heads of keys and values."""
    changed = copy.deepcopy(language_model)
    changed.base.layers[0].attention = Grouped(changed.base.layers[0].attention, ways["one: their mean"])
    return evaluate(changed, unread, "language_model")["perplexity"]


reveal("perplexity with the mean of both heads of keys, before training", with_their_mean)

# %% [markdown]
# Half of the keys and values are gone. Without training that costs much: from 3.63 to 5.10 in our run with the first head alone, to 11.33 with the mean, though the mean has something of both. The mean of two matrices that were never trained to fit each other fits neither.
#
# Some eighty steps later they are at 4.06 and 4.09: most of the damage is repaired, though not all of it. The unchanged model gains nothing from the same steps
# (3.69), so it is not just more training.
#
# In the paper the mean does best after training, before a single head; the models there are far larger, and in ours the two end alike. With one layer of two heads, merged into one, ours is also the hardest case: 8 groups of 32 heads leave much more.
#
# ## 3. Writing without reading again
#
# `write` of notebook 14 reads the whole text again for each new token. Most of that work has been done before.
#
# In a causal model no token sees what comes after it, so as long as the text fits into the window, the keys and values of old tokens are the same in each step: **keep them**. (Where it no longer fits, `write` lets the window slide, every position changes, and with learned positions they must be computed again.)
#
# What the new token needs is its own query, and the keys and values of all. This is the *key-value cache* of every model that writes by attention (a recurrence, notebook 13, keeps its state).
#
# Nothing is hidden in the model: what has been kept goes in as an argument and comes out again, longer.
#
# The model is the GPT of notebook 14: the embedding times $\sqrt d$, plus the position; pre-norm layers; a last norm; and the tied head, in which a token's logit is the product of the result with the token's row of the embedding. `TransformerBase` of `helpers.models`, with learned positions and pre-norm, has the same parts under the same names: `position` is a parameter with a row for each position, `norm` the last norm. It ends with that norm, so the head is for you to add.
#
# Four functions that you know are given, from `helpers.heads`:
#
# - `causal_mask(size, device)`: 0 where $j \le i$, minus infinity above, on a device such as `x.device` (without one, on the CPU);
# - `split_heads(x, n_heads)`: `(b, h, n, d/h)` of `(b, n, d)`; `merge_heads(x)`: the way back;
# - `attend(query, key, value, mask)`: softmax(query @ key.T / sqrt(d/h) + mask) @ value, `(b, h, n, d/h)`.
#
# For example, three tokens have been read, with positions 0, 1 and 2; a fourth comes. Its position is 3, not 0. Its query, one row, meets four keys. If two tokens come at once, they have positions 3 and 4, and their rows of the mask are the *last two* of the causal mask of size 5: $(0, 0, 0, 0, -\infty)$ and $(0, 0, 0, 0, 0)$.
#
# > **A trap.** `F.scaled_dot_product_attention(..., is_causal=True)` with two queries and five keys takes the *first* two rows of that mask ([PyTorch's documentation](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html) calls it the upper left causal bias): the new tokens would see the beginning of the text and not themselves.

# %% experiment
# @title A layer reads one new token: what is computed, and what was kept
picture = Diagram(4.2, 4.0)
picture.box("x", (2.1, 0.25), "x of the new token, then its norm", width=3.8)
for x, name in ((0.75, "query"), (2.1, "key"), (3.45, "value")):
    picture.box(name, (x, 0.95), name, "part", width=1.1)
    picture.axes.annotate("", (x, 0.77), (x, 0.43), arrowprops={"arrowstyle": "-|>", "color": "#444444"})
for middle, kind, name in ((2.1, "k", "key"), (3.45, "v", "value")):
    for i in range(4):
        looks = "frozen" if i < 3 else "part"
        picture.box(f"{kind}{i}", (middle - 0.42 + 0.28 * i, 1.7), f"{kind}{i}", looks, width=0.28)
    picture.arrow(name, f"{kind}3")
picture.box("weights", (1.42, 2.45), "4 scores, softmax: 4 weights", "attention", width=2.45)
picture.box("mean", (2.1, 3.1), "weighted mean of 4 values, output matrix", "attention", width=3.8)
picture.box("rest", (2.1, 3.75), "add x; norm, feed-forward part, add", "part", width=3.8)
for start, end in (
    ((0.75, 1.12), (0.75, 2.28)),
    ((2.1, 1.87), (2.1, 2.28)),
    ((1.42, 2.62), (1.42, 2.93)),
    ((3.45, 1.87), (3.45, 2.93)),
    ((2.1, 3.27), (2.1, 3.58)),
):
    picture.axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": "#444444"})
picture.note((2.83, 2.05), "the cache", ha="center")
picture.show(
    "A layer of a GPT reads the fourth token of a text. Only this token's x is computed. Its key and "
    "its value are put behind three kept ones of each, which is the cache. Its query makes four scores "
    "with the four keys; softmax makes four weights, with which the four values are averaged. Output "
    "matrix, residual, norm and feed-forward part follow as ever."
)

# %% [markdown]
# Hatched is what was kept, all else is computed now. Of the older tokens nothing else is needed: neither their queries nor their x.

# %% setup
Cache = list[tuple[Tensor, Tensor]]  # keys and values of each layer, (b, h, m, d/h) each

# %% exercise="read_with_cache"
def read_with_cache(model: nn.Module, tokens: Tensor, cache: Cache | None) -> tuple[Tensor, Cache]:
    """Returns logits `(b, n, V)` of new tokens `(b, n)`, and the cache with which reading goes on.

    The cache holds for each layer a pair (keys, values) of all m tokens read before, `(b, h, m, d/h)` each;
    None when there are none; n is 1 or more, and m + n at most max_len. What is returned is a new list, for
    m + n tokens. The new tokens have the positions m, m + 1, ... The embedding is multiplied by sqrt(d),
    and the head is tied, as in GPT. Only parts of the model are used, embedding, position, layers and norm;
    of a layer attention_norm, attention, feed_forward_norm and feed_forward; of its attention n_heads,
    query, key, value and output. Neither the model nor a layer or an attention is called as a whole, nor
    is its `forward`.
    """
    ### BEGIN SOLUTION
    n, d = tokens.shape[1], model.embedding.embedding_dim
    past = 0 if cache is None else cache[0][0].shape[2]
    mask = causal_mask(past + n)[past:]  # (n, past + n)
    x, kept = model.embedding(tokens) * math.sqrt(d) + model.position[past : past + n], []
    for number, layer in enumerate(model.layers):
        part, y = layer.attention, layer.attention_norm(x)
        query, key, value = (split_heads(matrix(y), part.n_heads)  # (b, h, n, d/h)
                             for matrix in (part.query, part.key, part.value))
        if cache is not None:
            key = torch.cat([cache[number][0], key], dim=2)  # (b, h, past + n, d/h)
            value = torch.cat([cache[number][1], value], dim=2)
        kept.append((key, value))
        x = x + part.output(merge_heads(attend(query, key, value, mask)))
        x = x + layer.feed_forward(layer.feed_forward_norm(x))
    return model.norm(x) @ model.embedding.weight.T, kept
    ### END SOLUTION


# %% [markdown]
# One pass over a text, and the same text token by token, must give the same logits; this is tested first. And how much time does the cache save? We take a new model with a window of 512, since what it writes does not matter. Each point is the shortest of three measurements: what else the machine does can only add to them.

# %% measured
# @title Time for n tokens, with the cache and without
@torch.no_grad()
def by_cache(model: TransformerBase, tokens: Tensor) -> Tensor:
    """Returns the logits `(1, n, V)` of a text `(1, n)` that is read token by token."""
    found, cache = [], None
    for position in range(tokens.shape[1]):
        logits, cache = read_with_cache(model, tokens[:, position : position + 1], cache)
        found.append(logits)
    return torch.cat(found, dim=1)


@torch.no_grad()
def all_again(model: TransformerBase, tokens: Tensor) -> None:
    """Reads a text `(1, n)` as `write` does: for each token all that stands before it once more."""
    for m in range(1, tokens.shape[1] + 1):
        model(tokens[:, :m])


torch.manual_seed(0)
model = TransformerBase(512, 64, 2, 4, dropout=0.0, positions="learned", norm_first=True, max_len=512)
text = torch.randint(512, (1, 512))
with torch.no_grad():
    logits = model(text[:, :64]) @ model.embedding.weight.T  # (1, 64, V)
    difference = (logits - by_cache(model, text[:, :64])).abs().max()
print(f"one pass against token by token: largest difference {difference:.0e}")
ways = {"everything again": all_again, "with the cache": by_cache}
lengths, times = [32, 64, 128, 192, 256, 320], {way: [] for way in ways}
for n in lengths:
    for way, reader in ways.items():
        taken = []
        for _ in range(3):
            start = time.perf_counter()
            reader(model, text[:, :n])
            taken.append(time.perf_counter() - start)
        times[way].append(min(taken))
axes = plots.curves(times, lengths, title="Writing n tokens", x_label="tokens n", y_label="seconds")
plots.show(axes.figure, plots.describe_curves(times, lengths, "n", digits=1))

# %% [markdown]
# The same numbers up to rounding, and the longer the text, the larger the gain. With everything read again, token $m$ costs a pass over $m$ tokens, so $n$ tokens cost about $n^2 / 2$ times one; with the cache each costs one, and the attention over what is kept. (At short lengths the cache gains little or nothing: calling PyTorch costs more there than what it computes.)
#
# The price is memory: two vectors of width $d$ for each token and layer. For a model of 96 layers and a width of 12,288 ([GPT-3](https://arxiv.org/abs/2005.14165), table 2.1) that is $2 \cdot 96 \cdot 12288 \approx 2.4$ million numbers **for each token**, 4.7 MB in half precision. Grouped heads, which share keys and values, make it smaller (section 2).
#
# With the cache, `write` would read the prompt once, and then hand only the token just drawn to `read_with_cache`, until the text no longer fits into the window.

# %% [markdown] pause
# You have the parts of today's models and a cache. Next they are put together into a Llama, and published weights go in. (Coming back trains the small model once more, for half a minute.)

# %% [markdown]
# ## 4. The whole model
#
# What is missing is the position of a token. In notebook 02 you turned pair $i$ of a head by $p / 10000^{2i/w}$ at position $p$, with $w$ numbers in a head. Two things change here.
#
# **Another base.** With 10,000 in a head of 64, the slowest pair takes some 47,000 tokens for a full turn, and the pairs beside it less. Models that shall read long texts take a larger base; SmolLM2 has 100,000. Move the slider: a query and a key that are equal, and their score by the distance between them.

# %% interactive
# @title Two equal vectors, some tokens apart: move the slider for the base
from ipywidgets import SelectionSlider, interact

BASES, distances = (10, 100, 1000, 10000, 100000, 500000), torch.arange(0, 2048, 8)


def show_base(base: int) -> None:
    """Draws the score of two equal vectors of ones, in a head of 64, by their distance."""
    score = rotary_angles(distances, 64, base).cos().mean(dim=-1)  # 1 where nothing is turned
    axes = plots.curves(
        {f"base {base:,}": score},
        distances,
        title="Two equal vectors, some tokens apart",
        x_label="distance (tokens)",
        y_label="score, divided by its maximum",
    )
    axes.set_ylim(-0.5, 1.05)
    far = score[distances > 1000]
    plots.show(
        axes.figure,
        f"With base {base:,} the score falls from 1 at distance 0 to {score[4]:.2f} at 32; beyond "
        f"1,000 tokens it lies between {far.min():.2f} and {far.max():.2f}.",
    )


slider = SelectionSlider(options=BASES, value=10000, description="base", continuous_update=False)
_ = interact(show_base, base=slider)

# %% measured
# @title The same picture for those who only read: bases 100 and 100,000
show_base(100)
show_base(100000)

# %% [markdown]
# With a small base nearly all pairs have gone round many times, and far away the score is noise around 0. With a large one some pairs hardly move, and equal vectors still score clearly above 0 at two thousand tokens.
#
# **Positions that go on.** With a cache the first new token has the position $m$, not 0. A key is turned once, by its own position, and kept as it is then; it need not be turned again, since a score asks for the distance only.
#
# ### A mistake worth making once: every call begins at position 0
#
# Take one head. Tokens 0 to 3 are read at once, or 0 to 2 first and 3 in a second call that begins at 0 again.

# %% experiment open=true
torch.manual_seed(0)
queries, keys = torch.randn(2, 1, 1, 4, 64)
whole = (
    rotate(queries, rotary_angles(torch.arange(4), 64))
    @ rotate(keys, rotary_angles(torch.arange(4), 64)).mT
)
kept_keys = rotate(keys[:, :, :3], rotary_angles(torch.arange(3), 64))
for name, position in (("at position 3", 3), ("at position 0", 0)):
    angles = rotary_angles(torch.tensor([position]), 64)
    new_keys = torch.cat([kept_keys, rotate(keys[:, :, 3:], angles)], dim=2)
    scores = rotate(queries[:, :, 3:], angles) @ new_keys.mT
    print(f"last token {name}:", " ".join(f"{score:6.2f}" for score in scores.flatten().tolist()))
print("all at once:             ", " ".join(f"{score:6.2f}" for score in whole[0, 0, 3].tolist()))

# %% [markdown]
# No error is raised, and the score with itself is even right, since this distance is 0 in both. All others are wrong.
#
# ### Exercise: Llama
#
# Now all parts come together. The four matrices are given; `rotary_angles(positions, width, base)` and `rotate(x, angles)` of `helpers.models` are your `rotary` in two steps, with neighbours as pairs. If a part of yours is not right yet, one of torch's may stand in for it (`SwiGLU` has none): `nn.RMSNorm(d_model, eps)`, `F.scaled_dot_product_attention(..., enable_gqa=True)` (here, but not in the exercises that ask for these parts).
#
# So that the model runs on a GPU too, make positions and mask where the tokens are: `torch.arange(..., device=x.device)`, `causal_mask(size, x.device)`. (This mask is in single precision. In a model in half precision it makes the weights single, too, and they no longer fit the values: there, add `mask.type_as(scores)`. No check asks for it.)

# %% setup
class Projections(nn.Module):
    """The four matrices of an attention whose heads share keys and values. Nothing has a bias."""

    def __init__(self, d_model: int, n_heads: int, n_groups: int) -> None:
        super().__init__()
        self.n_heads, self.n_groups = n_heads, n_groups
        keys = d_model // n_heads * n_groups  # numbers of all keys of a token
        self.query, self.key = (
            nn.Linear(d_model, d_model, bias=False),
            nn.Linear(d_model, keys, bias=False),
        )
        self.value, self.output = (
            nn.Linear(d_model, keys, bias=False),
            nn.Linear(d_model, d_model, bias=False),
        )

# %% exercise="Llama"
class LlamaLayer(nn.Module):
    """A pre-norm layer: x + attention(norm(x)), then x + feed_forward(norm(x)).

    Its parts are called attention_norm (an RMSNorm with this eps), attention (the Projections),
    feed_forward_norm (another RMSNorm) and feed_forward (a SwiGLU).
    """

    def __init__(
        self, d_model: int, n_heads: int, n_groups: int, d_feedforward: int, base: float, eps: float
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.base = base
        self.attention_norm = RMSNorm(d_model, eps)
        self.attention = Projections(d_model, n_heads, n_groups)
        self.feed_forward_norm = RMSNorm(d_model, eps)
        self.feed_forward = SwiGLU(d_model, d_feedforward)
        ### END SOLUTION

    def forward(
        self, x: Tensor, kept: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Returns `(b, n, d)` for `x` `(b, n, d)`; and keys and values of all, `(b, g, m + n, d/h)`.

        `kept` holds those of m tokens read before; None when there are none. A key is kept as it is
        compared: turned by its position. Positions, angles and the causal mask follow from x and kept.
        """
        ### BEGIN SOLUTION
        part, y = self.attention, self.attention_norm(x)
        query = split_heads(part.query(y), part.n_heads)  # (b, h, n, d/h)
        key, value = (split_heads(matrix(y), part.n_groups) for matrix in (part.key, part.value))
        past, n = 0 if kept is None else kept[0].size(2), x.size(1)
        positions = torch.arange(past, past + n, device=x.device)
        angles = rotary_angles(positions, query.size(-1), self.base)
        query, key = rotate(query, angles), rotate(key, angles)
        if kept is not None:
            key, value = torch.cat([kept[0], key], dim=2), torch.cat([kept[1], value], dim=2)
        mask = causal_mask(past + n, x.device)[past:]  # (n, past + n)
        x = x + part.output(merge_heads(grouped_query_attention(query, key, value, mask)))
        return x + self.feed_forward(self.feed_forward_norm(x)), (key, value)
        ### END SOLUTION


class Llama(nn.Module):
    """A language model of today's parts, with a tied head.

    Its parts are called embedding (an nn.Embedding), layers (an nn.ModuleList of n_layers layers) and norm
    (an RMSNorm with this eps). The embedding, as it is, goes through the layers and the norm; a token's
    score is the product of the result with its row of the embedding. There is nothing else in it: no
    buffer, and no second name for the embedding, such as `head.weight`. The angles of `rotary_angles` have
    this base; n_heads heads share n_groups heads of keys.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        n_layers: int,
        n_heads: int,
        n_groups: int,
        d_feedforward: int,
        base: float = 10000.0,
        eps: float = 1e-5,
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.layers = nn.ModuleList(
            LlamaLayer(d_model, n_heads, n_groups, d_feedforward, base, eps) for _ in range(n_layers)
        )
        self.norm = RMSNorm(d_model, eps)
        ### END SOLUTION

    def forward(self, tokens: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        """Returns logits `(b, n, V)` for new tokens `(b, n)`, and a new cache of all m + n tokens.

        A cache holds for each layer a pair (keys, values), `(b, g, m, d/h)` each, of m tokens read before;
        None when there are none. The new tokens have the positions m, m + 1, ...
        """
        ### BEGIN SOLUTION
        x, kept = self.embedding(tokens), []
        for number, layer in enumerate(self.layers):
            x, pair = layer(x, None if cache is None else cache[number])
            kept.append(pair)
        return self.norm(x) @ self.embedding.weight.T, kept
        ### END SOLUTION


# %% [markdown]
# Is it the same model as others compute it? `helpers.llama` has one, under other names. We give both the same numbers.

# %% measured
# @title Your Llama beside that of helpers, and in two parts
from helpers import llama

SIZES = {
    "vocab_size": 320,
    "d_model": 64,
    "n_layers": 2,
    "n_heads": 4,
}  # those of data/tiny_llama, see below
torch.manual_seed(0)
mine = Llama(**SIZES, n_groups=2, d_feedforward=144, base=100000.0).eval()
theirs = llama.Llama(**SIZES, n_kv_heads=2, d_feedforward=96, base=100000.0).eval()
theirs.load_state_dict(
    {
        name.replace("forward.hidden", "forward.up").replace("forward.output", "forward.down"): tensor
        for name, tensor in mine.state_dict().items()
    }
)
tokens = torch.randint(320, (2, 20))
with torch.no_grad():
    logits, kept = mine(tokens)
    first, kept = mine(tokens[:, :12])  # and once more in two parts
    second, kept = mine(tokens[:, 12:], kept)
    print(f"against helpers.llama: largest difference {(logits - theirs(tokens)).abs().max():.0e}")
    print(
        "in two parts:          largest difference "
        f"{(logits - torch.cat([first, second], dim=1)).abs().max():.0e}"
    )

# %% [markdown]
# ## 5. Published weights
#
# A model is published as a file of tensors with names, and a few settings. The most common layout, *safetensors*, takes eight bytes for a length, then a head in JSON with names, types, shapes and places, and then the numbers. Nothing in it is code, so reading it cannot run anything (reading a *pickle* can).

# %% setup
TYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


def read_safetensors(path: Path) -> dict[str, Tensor]:
    """Returns the tensors of a file by their published names."""
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    tensors = {}
    for name, told in json.loads(content[8:start]).items():
        if name != "__metadata__":
            first, last = (start + offset for offset in told["data_offsets"])
            numbers = torch.frombuffer(bytearray(content[first:last]), dtype=TYPES[told["dtype"]])
            tensors[name] = numbers.reshape(told["shape"])
    return tensors

# %% experiment
# @title Settings, names and shapes of a published file
tiny = read_safetensors(
    find("tiny_llama") / "model.safetensors"
)  # random numbers, in the published layout
settings = json.loads((find("tiny_llama") / "config.json").read_text())
print(
    {
        name: settings[name]
        for name in ("hidden_size", "num_attention_heads", "num_key_value_heads", "rope_theta")
    }
)
for name in [name for name in tiny if ".1." not in name]:
    print(f"{name:50} {tuple(tiny[name].shape)}")

# %% [markdown]
# In the settings, `num_key_value_heads` is the number of groups, and `rope_theta` the base of the angles. The names of the tensors are those that the library *transformers* gives to a Llama. Ours are others: we say `attention.query` where it says `self_attn.q_proj`. So names have to be replaced, and everything has to be accounted for.
#
# **By hand.** A table has `"model.": ""` and `"mlp.up_proj": "feed_forward.hidden"`. What becomes of `model.layers.1.mlp.up_proj.weight`? A file also holds `lm_head.weight`, for which our tied model has no place. May it be passed over in silence? And if our model has one layer more than the file?
#
# ### Exercise: load them

# %% exercise="load_weights"
def load_weights(model: nn.Module, tensors: dict[str, Tensor], names: dict[str, str]) -> nn.Module:
    """Returns the model, all of whose parameters have the numbers of published tensors now.

    Args:
        model: one of ours; it is changed, and keeps the type and the device of its numbers; what is
            frozen stays frozen.
        tensors: the published ones by their names; they stay as they are, and share no memory with
            the model. They may stand on another device than the model.
        names: parts of published names, and what we call them. They are replaced in this order, wherever
            they stand, also several times: with {"/": ".", "h.": "layers.", "ln": "norm"}, "h/0/ln/weight"
            is our "layers.0.norm.weight".

    Raises:
        ValueError: a published tensor has no place in the model, or another one has taken it, and the
            message has its published name (of two that become one of ours, either will do); or one of the
            model gets no numbers, and it has our name for it; or two shapes differ, and it has both, such
            as (5, 2) and (2, 5). Of several faults one is enough. The model is as it was then, in all its
            tensors.
    """
    ### BEGIN SOLUTION
    found, places = {}, model.state_dict()
    for published, tensor in tensors.items():
        own = published
        for theirs, ours in names.items():
            own = own.replace(theirs, ours)
        if own not in places:
            raise ValueError(f"the model has no place for {published}")
        if own in found:
            raise ValueError(f"{published} becomes our {own}, and so does another tensor")
        if tensor.shape != places[own].shape:
            raise ValueError(
                f"{published} is {tuple(tensor.shape)}, our {own} {tuple(places[own].shape)}"
            )
        found[own] = tensor
    if missing := sorted(set(places) - set(found)):
        raise ValueError(f"nothing is published for our {missing[0]}")
    model.load_state_dict(found)
    return model
    ### END SOLUTION


# %% setup
NAMES = {
    "model.embed_tokens": "embedding", "model.": "", "input_layernorm": "attention_norm",
    "post_attention_layernorm": "feed_forward_norm", "self_attn.q_proj": "attention.query",
    "self_attn.k_proj": "attention.key", "self_attn.v_proj": "attention.value",
    "self_attn.o_proj": "attention.output", "mlp.gate_proj": "feed_forward.gate",
    "mlp.up_proj": "feed_forward.hidden", "mlp.down_proj": "feed_forward.output",
}

# %% [markdown]
# (By hand: it becomes `layers.1.feed_forward.hidden.weight`. The head may not be passed over, not even where it is the embedding once more: where it is not, the published model is another one than ours, and nobody would notice. A layer more would stay random, with the same effect.)
#
# ### A mistake worth making once: all names and shapes fit
#
# For the tiny model we know what *transformers* computes: its logits after two short texts, on the same numbers. All names are replaced, all shapes fit, nothing is left over, nothing is missing. The logits are numbers up to 3.6. How large is the largest difference?

# %% guess
guess("largest difference of logits, all names and shapes fitting", ...)

# %% measured open=true
known = load("measured_here")[
    "tiny_llama"
].rows  # tokens, and the logits of transformers after the last one
texts = torch.tensor([[int(number) for number in row.split()] for row in known["tokens"]])  # (2, 9)
wanted = torch.tensor([[float(number) for number in row.split()] for row in known["logits"]])  # (2, V)


def neighbours(weight: Tensor, width: int) -> Tensor:
    """Returns rows of queries or keys with number i of a head beside number i + width / 2."""
    # of a head of width 4: rows 0 1 2 3 -> in two halves (0 1) (2 3) -> by turns 0 2 1 3
    return weight.unflatten(0, (-1, 2, width // 2)).transpose(1, 2).flatten(0, 2)


turned = {
    name: neighbours(tensor, 16) if "q_proj" in name or "k_proj" in name else tensor
    for name, tensor in tiny.items()
}
for name, tensors in {"as they are published": tiny, "with neighbours as pairs": turned}.items():
    loaded = load_weights(
        Llama(**SIZES, n_groups=2, d_feedforward=144, base=100000.0), tensors, NAMES
    ).eval()
    with torch.no_grad():
        difference = (loaded(texts)[0][:, -1] - wanted).abs().max()
    print(f"{name:25} largest difference {difference:.1e}, of logits up to {wanted.abs().max():.1f}")

# %% reveal
def apart() -> Tensor:
    """Returns the largest difference between the published logits and those of your model."""
    empty = Llama(**SIZES, n_groups=2, d_feedforward=144, base=100000.0)
    published = load_weights(empty, tiny, NAMES).eval()
    return (published(texts)[0][:, -1] - wanted).abs().max()


reveal("largest difference of logits, all names and shapes fitting", apart)

# %% [markdown]
# Nothing was wrong with a name or a shape, and the model was another one. The reason is a remark of notebook 02: *transformers* turns number $i$ of a head with number $i + w/2$, we turn neighbours. Reordering the rows of queries and keys, both alike, changes no score and makes the two the same. In a head of width 4 the pairs are (0, 2) and (1, 3), so the rows 0, 1, 2, 3 are put into the order 0, 2, 1, 3, which `neighbours` does.
#
# No check of names can find this; **a known answer can**. After loading weights, compare logits once.

# %% [markdown] pause
# Your Llama computes what the published model computes. Next you look inside: which heads copy, and what a real model does. (Coming back trains the small model once more, for half a minute.)

# %% [markdown]
# ## 6. Heads that copy
#
# A large model learns something within a single text, without any training: it has met *Maria Sonivic* once, and after the next *Maria* it expects *Sonivic* again.
#
# [Olsson et al. 2022](https://arxiv.org/abs/2209.11895) give evidence, for large models in their own words preliminary and indirect, that much of this is the work of **induction heads**, which do one thing: *find what came after the last occurrence of the present token, and copy it*. `A B ... A` gives `B`.
#
# To find them, one needs a text in which nothing else helps: **random tokens, written twice**. In the first half nobody can guess anything. In the second half, a perfect induction head is right wherever the present token has always been followed by the same one; where a token stands twice in the block, with different ones behind it, even this head must choose.
#
# ### Why two layers?
#
# A head compares the present token with others. But at the position of `B`, nothing says that `A` stood before it, unless *an earlier layer* has written it there. So it takes two heads in two layers: one that looks at the token before, and one that looks for a position that says "before me stood what stands here now".
#
# We train models of attention alone, without feed-forward parts, with one layer and with two. Each text is a block of 6 to 12 random letters, repeated up to 24 positions; with blocks of many lengths, no fixed distance will do. How will the losses of the two go down? Your guess is asked before the figure.
#
# ### Exercise: the induction score
#
# **By hand**, with blocks of three: `A B C A B C`, positions 0 to 5. The second `A` is at position 3; `B`, which followed the first one, at position 1. So row 3 should look at column 1. And rows 4 and 5? Here are these three rows of a head; what is its score, the mean of what it gives to the right columns?
#
# | row | 0 | 1 | 2 | 3 | 4 | 5 |
# |---|---|---|---|---|---|---|
# | 3 | 0.1 | 0.8 | 0 | 0.1 | 0 | 0 |
# | 4 | 0.2 | 0.1 | 0.6 | 0 | 0.1 | 0 |
# | 5 | 0.1 | 0.3 | 0.1 | 0.4 | 0 | 0.1 |

# %% by_hand
by_hand("induction_score", [...])  # of the one head

# %% exercise="induction_score"
def induction_score(attention: Tensor) -> Tensor:
    """Returns for each head how much it looks at what followed the same token one block earlier, `(h,)`.

    Args:
        attention: weights `(b, h, n, n)` on texts that are a block of n / 2 tokens (two or more),
            written twice; row i holds the weights of the token at position i.

    Returns:
        The mean over the texts and over the rows of the second half, a number from 0 to 1 each, in
        the type of the weights.
    """
    ### BEGIN SOLUTION
    half = attention.size(-1) // 2
    rows = torch.arange(half, 2 * half)
    looked_for = rows - half + 1  # the token itself stood at rows - half, what followed it one further
    return attention[:, :, rows, looked_for].mean(dim=(0, 2))  # (b, h, n/2) -> (h,)
    ### END SOLUTION


# %% [markdown]
# (By hand: row 4 should look at column 2, row 5 at column 3. The mean of 0.8, 0.6 and 0.4 is 0.6.)
#
# Now the two models, on texts of letters.

# %% measured
# @title Texts of repeated blocks, and what is measured on them
LETTERS, POSITIONS = 26, 24


class Nothing(nn.Module):
    """In the place of a feed-forward part: adds nothing."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.zeros_like(x)


def repeated(texts: int, block: int, chance: torch.Generator) -> Tensor:
    """Returns texts `(b, n)` of a random block each, repeated."""
    blocks = torch.randint(LETTERS, (texts, block), generator=chance)
    return blocks.repeat(1, math.ceil(POSITIONS / block))[:, :POSITIONS]


twice = repeated(64, POSITIONS // 2, torch.Generator().manual_seed(99))  # (64, 24), to measure with


@torch.no_grad()
def second_half_loss(model: LanguageModel) -> float:
    """Returns the mean loss in the second half of texts that are a block, written twice, in nats."""
    logits = model(twice)[:, POSITIONS // 2 : -1]  # from the position on where the block begins again
    return F.cross_entropy(logits.transpose(1, 2), twice[:, POSITIONS // 2 + 1 :]).item()


@torch.no_grad()
def head_scores(model: LanguageModel) -> Tensor:
    """Returns the induction score of each head, `(layers, h)`."""
    return torch.stack([induction_score(weights) for weights in model.base.attention_maps(twice)])

# %% measured
# @title Models of attention alone, and their training
def attention_alone(layers: int) -> LanguageModel:
    """Returns a new language model without feed-forward parts."""
    base = TransformerBase(LETTERS, 32, layers, 4, dropout=0.0, positions="learned", norm_first=True,
                           max_len=POSITIONS)
    for layer in base.layers:
        layer.feed_forward = Nothing()
    return LanguageModel(base)


EVERY = 20  # steps between two measurements


def copying_model(layers: int, seed: int, steps: int = 300) -> tuple[LanguageModel, list[dict]]:
    """Trains a model of attention alone on repeated blocks; returns it and what was measured."""
    torch.manual_seed(seed)
    model, log, chance = attention_alone(layers), [], torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=8e-3, fused=True)
    for step in range(steps + 1):
        if step % EVERY == 0:
            log.append({"loss": second_half_loss(model), "score": head_scores(model).max().item()})
        lengths = torch.randint(6, 13, (4,), generator=chance).tolist()
        texts = torch.cat([repeated(8, length, chance) for length in lengths])  # (32, 24)
        loss = F.cross_entropy(model(texts)[:, :-1].flatten(0, 1), texts[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model, log

# %% measured
# @title Three models of one layer and three of two are trained
copying = {(layers, seed): copying_model(layers, seed)
           for layers, seed in tqdm([(layers, seed) for layers in (1, 2) for seed in range(3)],
                                    unit="model", file=sys.stdout)}

# %% [markdown]
# What is their loss in the second half after 300 steps? A guess at random among 26 letters costs $\ln 26 \approx 3.26$ nats, and it would be 0 if every letter were known.

# %% guess
guess("loss of the models with one layer after 300 steps, in nats", ...)

# %% guess
guess("loss of the models with two layers after 300 steps, in nats", ...)

# %% measured
# @title How one layer and two learn to copy
figure, panels = plots.panels(2, width=4.1, height=3.2)
told, steps = [], range(0, 301, EVERY)
titles, labels = ("Loss in the second half", "The best head"), ("loss (nats)", "induction score")
for axes, key, title, label in zip(panels, ("loss", "score"), titles, labels):
    lines = {f"{layers} layer{'s' * (layers - 1)}": [[row[key] for row in copying[layers, seed][1]]
                                                    for seed in range(3)] for layers in (1, 2)}
    plots.curves(lines, steps, title=title, x_label="step", y_label=label, axes=axes)
    told.append(f"{title}: {plots.describe_curves(lines, steps, 'step', digits=2)}")
by_chance = sum(1 / (row + 1) for row in range(12, 24)) / 12  # all positions up to its own alike
levels = {"a guess at random": math.log(LETTERS), "spread evenly": by_chance}
for axes, (name, level) in zip(panels, levels.items()):
    axes.axhline(level, color="#555555", linestyle=":", label=name)
    axes.legend(frameon=False)
plots.show(figure, " ".join(told) + f" Dotted: a guess at random costs {math.log(LETTERS):.2f} nats, "
           f"and a head that looks everywhere alike has the score {by_chance:.3f}.")

# %% reveal
reveal("loss of the models with one layer after 300 steps, in nats",
       sum(copying[1, seed][1][-1]["loss"] for seed in range(3)) / 3)

# %% reveal
reveal("loss of the models with two layers after 300 steps, in nats",
       sum(copying[2, seed][1][-1]["loss"] for seed in range(3)) / 3)

# %% [markdown]
# For 120 steps the two behave alike. **With two layers** the loss then falls fast, from about 2.7 to below 0.5, and **in the same steps** the score of the best head climbs from below 0.2 to above 0.7: the heads have found each other.
#
# Before that, a head that looks for "before me stood what stands here" finds nothing, since nobody writes it down; and to write it down is of
# no use as long as nobody looks for it. Olsson et al. see the same sudden change, at an early stage of training, in models of many sizes with two layers or more, and not with one.
#
# **With one layer** the mean of the three goes up and down between 1.8 and 2.3 from step 160 on, and ends at 2.3. For comparison: a model that knows the letters of a block and how often each is in it, and nothing of their order, pays 2.2 nats on average.
#
# The best head comes to between 0.1 and 0.3, which is above chance. A copy by position would do that: learned positions can tell a head to look a
# fixed number of positions back, though with seven lengths of block no one number is right in all texts. What these heads really do, we have not taken apart.
#
# Here are both heads of one such model at work: on the left the head of layer 0 that looks most at the token before, on the right the best induction head.

# %% measured
# @title Two heads at work: one looks at the token before, one copies
model = copying[2, 0][0].eval()
block = torch.randperm(LETTERS, generator=torch.Generator().manual_seed(5))[:6]  # different letters
text = block.repeat(2)[None]  # (1, 12)
maps, best = model.base.attention_maps(text), int(head_scores(model)[1].argmax())
before = maps[0][0].diagonal(-1, dim1=-2, dim2=-1).mean(dim=-1)  # (h,): who looks one position back?
names = [chr(ord("A") + n) for n in text[0].tolist()]
figure, (left, right) = plots.panels(2, width=4.0, height=4.0)
plots.matrix(maps[0][0, before.argmax()].detach(), f"layer 0, head {int(before.argmax())}", rows=names,
             columns=names, axes=left, limits=(0, 1))
plots.matrix(maps[1][0, best].detach(), f"layer 1, head {best}", rows=names, columns=names, axes=right,
             limits=(0, 1))
figure.colorbar(right.images[0], ax=[left, right], label="weight", shrink=0.7).ax.set_ylim(0, 1)
plots.show(figure, "Two attention maps on a block of six letters, written twice. The head of layer 0 "
           f"gives the token before it {before.max():.2f} on average; the head of layer 1 looks, in the "
           "second half, at what followed the same letter one block earlier.")

# %% [markdown]
# Read the right map row by row. In the first half there is nothing to find, and the head rests on the first letter. In the second half, four of the six rows give nearly everything to the position *behind* their letter's twin: one column to the right of the diagonal on which the twins lie.
#
# The other two are divided: the row of the second `B` gives it 0.61, that of the
# second `J` only 0.37, and nearly all the rest lies where the head rests when it finds nothing, on the first letter. No head here is a perfect one.
#
# ### Switched off
#
# A pattern in a map is a suspicion. The proof is to take the head away. We set what a head adds to zero (its part of what goes into the output matrix), one head at a time, and measure the second half again; then all four heads of a layer.

# %% measured
# @title How heads are switched off
@contextmanager
def switched_off(model: LanguageModel, layer: int, heads: list[int]):
    """Lets some heads of a layer add nothing."""

    def silence(module: nn.Module, inputs: tuple[Tensor]) -> tuple[Tensor]:
        parts = inputs[0].unflatten(-1, (4, -1)).clone()  # (b, n, h, d/h)
        parts[:, :, heads] = 0
        return (parts.flatten(-2),)

    hook = model.base.layers[layer].attention.output.register_forward_pre_hook(silence)
    try:
        yield
    finally:
        hook.remove()

# %% measured
# @title The loss is measured with one head off, and with a whole layer
choices = {"none": (0, [])} | {f"{layer}.{head}": (layer, [head]) for layer in (0, 1) for head in range(4)}
choices |= {"0.all": (0, [0, 1, 2, 3]), "1.all": (1, [0, 1, 2, 3])}
costs = {}
for name, (layer, heads) in choices.items():
    costs[name] = []
    for seed in range(3):
        with switched_off(copying[2, seed][0], layer, heads):
            costs[name].append(second_half_loss(copying[2, seed][0]))

# %% measured
# @title Which heads can be spared?
figure, (axes,) = plots.panels(1, width=7.6, height=3.0)
for seed in range(3):
    losses = [runs[seed] for runs in costs.values()]
    axes.plot(losses, plots.MARKERS[seed], color=plots.COLOURS[seed], label=f"model {seed}", alpha=0.8)
axes.axhline(math.log(LETTERS), color="#555555", linestyle=":", label="a guess at random")
axes.set(title="Loss in the second half, with heads switched off", xlabel="what is off (layer.head)",
         ylabel="loss (nats)", ylim=(0, None))
axes.set_xticks(range(len(costs)), list(costs))
axes.grid(axis="y", color="#dddddd", linewidth=0.6)
figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper")
plots.show(figure, "Loss in the second half with heads switched off, three models each: " + "; ".join(
    f"{name} {', '.join(f'{loss:.1f}' for loss in runs)}" for name, runs in costs.items()) + ".")
for seed in range(3):
    first_layer = copying[2, seed][0].base.attention_maps(twice)[0]
    weights = first_layer.diagonal(-1, dim1=-2, dim2=-1).mean(dim=0)  # (h, 23): one position back
    most, dearest = int(weights.mean(dim=1).argmax()), max(range(4), key=lambda n: costs[f"0.{n}"][seed])
    halves = weights[most, :11].mean(), weights[most, 11:].mean()  # rows 1 to 11, and rows 12 to 23
    print(f"model {seed}, layer 0: head {most} looks most at the token before "
          f"({halves[0]:.2f} in the first half, {halves[1]:.2f} in the second), "
          f"head {dearest} costs most when off")

# %% [markdown]
# Three things to see:
#
# - **A whole layer cannot be spared**: without the four heads of layer 1, or without those of layer 0, the loss is far above that of a guess at random. What is left of the model is sure of something wrong.
# - **A single head of layer 1** can, though the map above is clear: without it the loss rises by 0.4 at most (model 1 without head 2: from 0.4 to 0.8), and stays far below a guess. The others stand in for it. A head that can be spared need not be a head without a function.
# - **A single head of layer 0** can matter much: in each of the three models one lies above the others, in two of them above a guess. The lines under the figure say which: the one that looks most at the token before. Its number differs from model to model, as their beginnings were random. (It does so in the first block, of twelve letters here, where there is something to
#   write down; in the second it looks elsewhere.)
#
# So a score says where to look, and only switching off says what it is good for. (Setting to zero is the bluntest way: the layers above have never seen such a zero. Putting in the mean over many texts is gentler.)
#
# And the language model of section 1? It has read ten thousand texts, in which names come back. Has one of its two heads a high score? By chance it would be 0.034.

# %% guess
guess("the higher induction score of the two heads that read reviews", ...)

# %% measured
# @title Induction scores of the language model of the reviews
words = torch.randint(5, len(vocabulary), (64, 20), generator=torch.Generator().manual_seed(1)).repeat(1, 2)
with torch.no_grad():
    review_scores = induction_score(language_model.base.attention_maps(words)[0])
print("its two heads:", ", ".join(f"{score:.3f}" for score in review_scores.tolist()),
      f"(by chance about {sum(1 / n for n in range(21, 41)) / 20:.3f})")

# %% reveal
reveal("the higher induction score of the two heads that read reviews", review_scores.max())

# %% [markdown]
# No: neither is clearly above chance (0.024 and 0.036 in our run, where chance is about 0.034). With a single layer there is no earlier head that could write down what stood before, so the trick with two heads is not open to it.

# %% [markdown]
# ## 7. A real model
#
# Now SmolLM2 itself. Its file is not part of the course; the button below fetches it (93 MB, `SmolLM2-135M-Instruct.Q4_1.gguf`, licence Apache 2.0). In a terminal, `.venv/bin/python -m helpers.weights fetch smollm2` does the same.
#
# *Q4_1* says that the matrices are rounded to 16 levels for each block of 32 numbers, 4 bits each. So the model below is not number for number the published one: whether a wrong answer, a chance or a share comes from the model or from the rounding, nobody can say here.
#
# Without it nothing is missing for a mark: each cell below then shows what it measured once, on our machine. With it, the same cells ask the model in *your* class.

# %% interactive
# @title A button that fetches SmolLM2 (93 MB, Apache 2.0)
from helpers.weights.button import fetch_button

fetch_button("smollm2")

# %% [markdown]
# A new model has random numbers in all its places, which nobody needs. So they are thrown away first: on the device *meta* a tensor has a shape and no numbers. Then your `load_weights` fills one part after the other, each as soon as it has memory again, so that never more than one is in memory twice. A layer's name in the file is replaced by nothing, since the layer is the model then.

# %% measured
# @title SmolLM2 in your class, where its file is here
from helpers.memory import give_back_freed_memory
from helpers.weights import problem
from helpers.weights.files import read

GGUF_NAMES = {  # llama.cpp's names for the same; in its files pairs are neighbours already
    "attn_q.": "attention.query.", "attn_k.": "attention.key.", "attn_v.": "attention.value.",
    "attn_output.": "attention.output.", "attn_norm.": "attention_norm.",
    "ffn_norm.": "feed_forward_norm.", "ffn_gate": "feed_forward.gate",
    "ffn_up": "feed_forward.hidden", "ffn_down": "feed_forward.output",
}
PARTS_OF_THE_FILE = {"token_embd.": "embedding", "output_norm.": "norm"} | {
    f"blk.{number}.": f"layers.{number}" for number in range(30)}
real = None
if missing := problem("smollm2"):
    print(missing, "The cells below show what they measured in our run.", sep="\n")
else:
    file = read(find("smollm2"))
    cut_by = [file.setting(f"tokenizer.ggml.{part}") for part in ("tokens", "merges")]
    stored = file.tensors
    del file
    give_back_freed_memory()  # of its other settings, and of the trainings above
    real = Llama(49152, 576, 30, 9, 3, 4 * 576, base=100000.0).eval().to_empty(device="meta")
    give_back_freed_memory()  # of the random numbers
    for begins, part in PARTS_OF_THE_FILE.items():
        tensors = {name: tensor.read().float() for name, tensor in stored.items()
                   if name.startswith(begins)}
        module = real.get_submodule(part).to_empty(device="cpu")
        load_weights(module, tensors, {begins: "", **GGUF_NAMES})
    left = [name for name in stored if not name.startswith(tuple(PARTS_OF_THE_FILE))]
    del stored, tensors  # what was read lies in the model now
    give_back_freed_memory()
    print(f"SmolLM2 in your class: {sum(number.numel() for number in real.parameters()):,} numbers,",
          f"{len(left)} tensors left over")

found = {}  # tables by name


def kept(name: str, measure) -> pd.DataFrame:
    """Returns what is measured on the real model or, without it, the table of our run."""
    found[name] = load("measured_here")[name].rows if real is None else pd.DataFrame(measure())
    give_back_freed_memory()  # scores of a long text take 50 MB
    return found[name]

# %% [markdown]
# $4 \cdot 576$ goes in as the width of the feed-forward part, and two thirds of it, 1,536, are in the file: the rule of section 2 is the one that was used.
#
# ### Its tokens
#
# Its tokenizer is that of notebook 14, learned from another text: single bytes and 48,900 merges, as pairs of texts in which each byte has a letter. With the merges as pairs of numbers, the `Cutter` of `helpers.pieces` cuts as your `bpe_encode` of notebook 14 does. It looks up which merge of a word was learned first, in place of going through all 48,900, and remembers the words that it has cut.
#
# Only the words are others than in notebook 14. Here `'s` and `'t` are words of their own (*don't* is ` don` and `'t`), so is each digit, and of several blanks in a row all but the last one before a word are one. A model must read what it was trained on, so the pattern is GPT-2's, with single digits.

# %% measured
# @title The letters of the bytes
def letters() -> list[str]:
    """Returns GPT-2's letter for each byte: its own where it can be seen, else one from 256 on."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in seen]
    return [chr(byte if byte in seen else 256 + hidden.index(byte)) for byte in range(256)]

# %% measured
# @title How SmolLM2 cuts three texts
class Tokenizer:
    """Text to the model's tokens and back, with its own list of tokens and merges."""

    def __init__(self, tokens: list[str], merges: list[str]) -> None:
        self.tokens, self.pieces, pairs = tokens, letters(), []
        numbers = {piece: number for number, piece in enumerate(self.pieces)}
        for merge in merges:
            left, right = merge.split(" ")
            pairs.append((numbers[left], numbers[right]))
            numbers[left + right] = len(self.pieces)
            self.pieces.append(left + right)
        self.cutter = Cutter(pairs, GPT2_WORD)
        self.number = {token: number for number, token in enumerate(tokens)}
        self.byte = {letter: byte for byte, letter in enumerate(letters())}

    def encode(self, text: str) -> list[int]:
        """Returns the model's numbers of the tokens of a text."""
        return [self.number[self.pieces[piece]] for piece in self.cutter.encode(text)]

    def decode(self, numbers: list[int]) -> str:
        """Returns the text of tokens; special ones, which no bytes make, are left out."""
        text = "".join(
            self.tokens[number] for number in numbers if not self.tokens[number].startswith("<|")
        )
        return bytes(self.byte[letter] for letter in text).decode("utf-8", errors="replace")


if real is not None:
    tokenizer = Tokenizer(*cut_by)


def cuts() -> list[dict]:
    """Returns how three texts are cut."""
    texts = ("The capital of France is", "an unbelievable transformer", "Où est la bibliothèque ?")
    return [
        {"text": text, "tokens": "|".join(tokenizer.decode([token]) for token in tokenizer.encode(text))}
        for text in texts
    ]


kept("real_tokens", cuts)

# %% [markdown]
# English words are whole, French ones are not: the list was learned from English text. Such a model reads French in more tokens, and for more money where tokens are paid for.
#
# ### A conversation
#
# An *instruct* model was first trained to go on with texts, and then to answer. The texts of that second training had marks for whose turn it is, and so must ours. The answers are written greedily: the most probable token at each step.

# %% measured
# @title Four questions, and what the model answers
@torch.no_grad()
def go_on(
    model: Llama, tokens: list[int], most: int, end: int | None = None
) -> tuple[list[int], list[float]]:
    """Returns the tokens that a model writes by its cache, and the chance that it gave to each."""
    logits, cache = model(torch.tensor([tokens]))
    written, chances = [], []
    while len(written) < most and (not written or written[-1] != end):
        chance, token = logits[0, -1].softmax(dim=-1).max(dim=-1)
        written.append(int(token))
        chances.append(float(chance))
        logits, cache = model(token[None, None], cache)
    return written, chances


def as_chat(question: str) -> list[int]:
    """Returns the tokens of a question with the marks that SmolLM2 was trained with."""
    begin, end = tokenizer.number["<|im_start|>"], tokenizer.number["<|im_end|>"]
    turns = (
        "system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face",
        f"user\n{question}",
    )
    told = [
        number
        for turn in turns
        for number in (begin, *tokenizer.encode(turn), end, *tokenizer.encode("\n"))
    ]
    return [*told, begin, *tokenizer.encode("assistant\n")]


def conversation() -> list[dict]:
    """Returns four questions and what the model writes."""
    questions = (
        "What is a transformer in machine learning?",
        "Write one sentence about the sea.",
        "Where was Frédéric Chopin born?",
        "What is 17 times 23?",
    )
    rows = []
    for question in questions:
        answer, _ = go_on(real, as_chat(question), 60, tokenizer.number["<|im_end|>"])
        rows.append({"question": question, "answer": tokenizer.decode(answer).replace("\n", " ").strip()})
    return rows


for row in kept("real_answers", conversation).itertuples():
    print(f"- {row.question}\n  {row.answer}")

# %% [markdown]
# In our run the sentences are fluent, and two of the four answers are wrong. Chopin has become a person who never lived, and 17 times 23 is 391. What is wrong is written exactly as what is right; this is called a *hallucination*. Nothing in the loss of a language model asks for truth (notebook 10).
#
# That it is the same model as others compute is not a matter of its answers: given the same tokens, your class and `transformers` differ by less than 0.001 in logits of up to 35, in texts of up to 2,048 tokens, and the most probable token is the same everywhere.
#
# ### You chat with it
#
# Your class, and your cache: what was said stays in it, so that a new question is all that the model has to read. Ask in English, and ask on. The sliders are those of notebook 14: at temperature 0 the most probable token is taken each time, *nucleus* is top-p.

# %% interactive
# @title A chat with your Llama: type, and press Enter
from IPython.display import display

from helpers.chat import Chat, show_chat

if real is None:
    print(missing, "Below is a conversation that it had in our run.", sep="\n")
else:
    display(show_chat(Chat(real, tokenizer)))

# %% [markdown]
# Here is a conversation, at temperature 0.7 with a nucleus of 0.9:
#
# > **What's the capital of France?** Ladies and gentlemen, the capital of France is Paris. It's a city that has been shaped by the ingenuity of countless people across the continent. [...]
# >
# > **And what should I see there?** The capital of France is a city that's both familiar and yet, utterly unique. You can walk through the Eiffel Tower, and take in the breathtaking views of the city, surrounded by the majestic beauty of Paris. [...] You can walk in the city's charming neighborhoods, such as Marseille, and take in the vibrant energy of the French capital. [...]
#
# What *there* is, the second question does not say: the model has it from the cache. That Marseille is no neighbourhood of Paris, no cache can mend. (The code is in `helpers.chat`: a loop as in `go_on`, with a draw in the place of the maximum.)
#
# ### How much faster with the cache?
#
# Some tokens after a prompt of each length, with the cache and with everything read again; the seconds are those of the processor, so that a busy machine does not count. How many times as fast is it with the cache, after 32 tokens and after 256?

# %% guess
guess("times as fast with the cache, after 32 tokens", ...)

# %% guess
guess("times as fast with the cache, after 256 tokens", ...)

# %% measured
# @title Tokens a second, with the cache and with everything read again
def speeds() -> list[dict]:
    """Returns tokens a second of processor time, at several lengths."""
    rows, steps = [], 5
    with torch.no_grad():
        for length in (32, 128, 256):
            text = torch.randint(49152, (1, length), generator=torch.Generator().manual_seed(length))
            _, past = real(text)
            start = time.process_time()
            for _ in range(4 * steps):
                _, past = real(text[:, :1], past)
            middle = time.process_time()
            for step in range(steps):
                real(torch.cat([text, text[:, : step + 1]], dim=1))
            rows.append(
                {
                    "length": length,
                    "with the cache": 4 * steps / (middle - start),
                    "everything again": steps / (time.process_time() - middle),
                }
            )
    return rows


times = kept("real_speeds", speeds)
lines = {way: times[way].tolist() for way in ("with the cache", "everything again")}
axes = plots.curves(
    lines,
    times["length"].tolist(),
    title="SmolLM2 on one core",
    x_label="tokens read before",
    y_label="tokens a second of one core",
)
axes.set_ylim(0, None)
plots.show(axes.figure, plots.describe_curves(lines, times["length"].tolist(), "length", digits=2))
times.assign(ratio=times["with the cache"] / times["everything again"]).round(2)

# %% reveal
ratios = times["with the cache"] / times["everything again"]
reveal("times as fast with the cache, after 32 tokens", ratios.iloc[0])

# %% reveal
reveal("times as fast with the cache, after 256 tokens", ratios.iloc[-1])

# %% [markdown]
# In our run the cache makes it 3 times as fast at 32 tokens and 14 times at 256: 12.7 tokens a second against 0.88. With the cache the length hardly shows, since nearly all the work is 134 million multiplications for the one new token; the attention over what is kept is little beside them, so far. (The hardware of telephones and data centres is faster; the ratio is what carries over, as long as reading many tokens at once is not free.)
#
# ### Who may look ahead?
#
# `future_influence` of notebook 01 takes any model and finds out by changing tokens: it knows nothing of masks. Asked of the real model, with one token changed at a time:

# %% measured
# @title Which tokens change the logits after which?
def influences() -> list[dict]:
    """Returns for each token of a sentence which tokens change its logits, row by row."""
    tokens = torch.tensor(tokenizer.encode("The cat sat on the mat because it was tired"))
    influence = torch.zeros(len(tokens), len(tokens), dtype=torch.bool)
    with torch.no_grad():
        before = real(tokens[None])[0][0]
        for j in range(len(tokens)):
            changed = tokens.clone()
            changed[j] = (changed[j] + 1) % 49152
            influence[:, j] = (real(changed[None])[0][0] - before).abs().amax(dim=-1) > 1e-3
    return [
        {"token": tokenizer.decode([token]).strip(), "changed by": "".join("01"[int(x)] for x in row)}
        for token, row in zip(tokens.tolist(), influence)
    ]


rows = kept("real_influence", influences)
influence = torch.tensor(
    [[int(x) for x in f"{row:0>{len(rows)}}"] for row in rows["changed by"].astype(str)]
)
axes = plots.matrix(
    influence,
    "What changes the logits after a token",
    rows=rows["token"].tolist(),
    columns=rows["token"].tolist(),
)
axes.set(xlabel="token that is changed", ylabel="logits after this token")
pairs = len(rows) * (len(rows) - 1) // 2
plots.show(
    axes.figure,
    f"Of {pairs} places above the diagonal, the future, {int(influence.triu(1).sum())} change the "
    f"logits; of {pairs + len(rows)} on and below it, {int(influence.tril().sum())} do.",
)

# %% [markdown]
# Not one token changes what stands before it, and each changes all that follows, through thirty layers. So a real model keeps what notebook 01 promised, and you have measured it without looking inside.
#
# ### Which of its 270 heads copy?
#
# Random tokens, written twice, as in section 6. The weights of a layer follow from what its matrices `query` and `key` give; hooks listen to them.

# %% measured
# @title Induction scores of all 270 heads
@torch.no_grad()
def attention_maps(model: Llama, tokens: Tensor, base: float = 100000.0) -> list[Tensor]:
    """Returns the weights of each layer, `(b, h, n, n)`, for tokens `(b, n)`."""
    heard: dict[nn.Module, Tensor] = {}
    hooks = [
        matrix.register_forward_hook(lambda module, inputs, output: heard.update({module: output}))
        for layer in model.layers
        for matrix in (layer.attention.query, layer.attention.key)
    ]
    try:
        model(tokens)
    finally:
        for hook in hooks:
            hook.remove()
    maps, n = [], tokens.size(1)
    for layer in model.layers:
        part = layer.attention
        query, key = (
            split_heads(heard[part.query], part.n_heads),
            split_heads(heard[part.key], part.n_groups),
        )
        angles = rotary_angles(torch.arange(n), query.size(-1), base)
        key = rotate(key, angles).repeat_interleave(part.n_heads // part.n_groups, dim=1)
        scores = rotate(query, angles) @ key.mT / math.sqrt(query.size(-1)) + causal_mask(n)
        maps.append(scores.softmax(dim=-1))
    return maps


PERIOD = 32
random_twice = torch.randint(1000, 40000, (4, PERIOD), generator=torch.Generator().manual_seed(0)).repeat(
    1, 2
)


def real_scores() -> list[dict]:
    """Returns the induction score of each head."""
    scores = [induction_score(weights) for weights in attention_maps(real, random_twice)]
    return [
        {"layer": layer, "head": head, "score": round(float(score), 4)}
        for layer, row in enumerate(scores)
        for head, score in enumerate(row)
    ]


heads = kept("real_heads", real_scores)
grid = torch.tensor(heads.pivot(index="head", columns="layer", values="score").to_numpy())  # (9, 30)
figure, (axes,) = plots.panels(1, width=7.4, height=3.0)
image = axes.imshow(grid, cmap="Blues", vmin=0, vmax=1, aspect="auto")
axes.set(title="Induction score of each head", xlabel="layer", ylabel="head", yticks=range(9))
figure.colorbar(image, ax=axes, label="score")
best = heads.sort_values("score", ascending=False).head(8)
plots.show(
    figure,
    f"Induction scores of 270 heads: {(heads['score'] > 0.5).sum()} are above 0.5, "
    f"{(heads['score'] < 0.1).sum()} below 0.1. The highest: "
    + ", ".join(f"{row.layer}.{row.head} {row.score:.2f}" for row in best.itertuples())
    + ".",
)

# %% measured
# @title How heads of the real model are switched off
@contextmanager
def heads_off(model: Llama, chosen: list[tuple[int, int]]):
    """Lets some heads, (layer, head) each, add nothing."""
    hooks = []
    for layer in {layer for layer, _ in chosen}:
        off = [head for at, head in chosen if at == layer]

        def silence(module: nn.Module, inputs: tuple[Tensor], off: list[int] = off) -> tuple[Tensor]:
            parts = inputs[0].unflatten(-1, (9, -1)).clone()  # (b, n, h, d/h)
            parts[:, :, off] = 0
            return (parts.flatten(-2),)

        hooks.append(model.layers[layer].attention.output.register_forward_pre_hook(silence))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


ENGLISH = (
    "The harbour was quiet in the early morning. A few boats moved slowly towards the open sea, and the "
    "men on board spoke little. On the wall an old woman was mending a net. She had done this work for "
    "forty years, "
    "and she did not look at her hands. When the sun came over the hills, the first shop opened its doors."
)


@torch.no_grad()
def losses(model: Llama, text: Tensor) -> tuple[float, float]:
    """Returns the loss in the second half of random tokens written twice, and that of a text `(1, n)`."""
    logits = model(random_twice)[0][:, PERIOD:-1]
    copying = F.cross_entropy(logits.flatten(0, 1), random_twice[:, PERIOD + 1 :].flatten())
    return copying.item(), F.cross_entropy(model(text)[0][0, :-1], text[0, 1:]).item()

# %% measured
# @title Loss on repeated tokens and on English, with heads off
def switched() -> list[dict]:
    """Returns both losses with no heads off, the best 1, 4, 16 off, and as many others nearby."""
    order = [(row.layer, row.head) for row in heads.sort_values("score", ascending=False).itertuples()]
    chance, rows = torch.Generator().manual_seed(0), []
    english_text = torch.tensor([tokenizer.encode(ENGLISH)])
    for count in (0, 1, 4, 16):
        chosen = {"the best": order[:count]}
        for draw in range(2 if count else 0):
            others = []
            for layer, _ in order[
                :count
            ]:  # one that is not among the best 32, of this layer or the next to it
                free = [other for other in order[32:] if other not in others]
                near = min(abs(other[0] - layer) for other in free)
                free = [other for other in free if abs(other[0] - layer) == near]
                others.append(free[int(torch.randint(len(free), (), generator=chance))])
            chosen[f"others, draw {draw}"] = others
        for which, off in chosen.items():
            with heads_off(real, off):
                copying, english = losses(real, english_text)
            rows.append({"off": count, "which": which, "copying": copying, "english": english})
    return rows


off = kept("real_off", switched)
off["which"] = off["which"].str.replace(r", draw .*", "", regex=True)
off.groupby(["off", "which"])[["copying", "english"]].agg(["min", "max"]).round(2)

# %% [markdown]
# In our run 248 of the 270 heads have a score below 0.1, and 7 have more than 0.5: most heads do something else. The high ones are in layers 17 to 23, none in the first half; what such a head needs, a head below must have written down (section 6).
#
# And here, unlike in the small models of section 6, they cannot be spared. Without the best **one** of 270 the loss on the repeated tokens rises from 2.8 to 4.7 nats; without the best sixteen it is 12.4, worse than a guess among all 49,152 tokens (10.8). Sixteen others in their place, near by, make it 3.1 or 3.3. So it is these heads, and not any heads.
#
# On plain English the best sixteen cost nothing that shows (3.14 before and after): a text in which no sequence comes back has no use for them, and sixteen others cost more there. One prompt, one text, two draws: the direction is beyond doubt, the numbers are not to be carried far.
#
# ### Where were they born, and how sure is it?
#
# Notebook 10 asked a small model where invented people were born. Here are real ones, and at the end two invented ones of notebook 10. The text begins `... was born in the city of`; what follows is written greedily, and the chance of its first token stands beside it. For how many of the twelve is the place right? And is the chance lower where it is wrong?

# %% guess
guess("right places of birth, of twelve", ...)

# %% measured
# @title Where people were born, says the model, and the chance that it gives
PEOPLE = {
    "Albert Einstein": "Ulm",
    "Marie Curie": "Warsaw",
    "Ludwig van Beethoven": "Bonn",
    "Wolfgang Amadeus Mozart": "Salzburg",
    "Sigmund Freud": "Freiberg",
    "William Shakespeare": "Stratford",
    "Charles Darwin": "Shrewsbury",
    "Galileo Galilei": "Pisa",
    "Napoleon Bonaparte": "Ajaccio",
    "Nelson Mandela": "Mvezo",
    "Abraham Lincoln": "Hodgenville",
    "Victor Hugo": "Besançon",
    "Maria Sonivic": "",
    "Klaus Prezagren": "",
}


def births() -> list[dict]:
    """Returns where the model says that people were born, and the chance of the first token."""
    rows = []
    for person, place in PEOPLE.items():
        written, chances = go_on(real, tokenizer.encode(f"{person} was born in the city of"), 6)
        says = re.split(r"[,.\n]| in | on ", tokenizer.decode(written))[0].strip()
        rows.append(
            {"person": person, "says": says, "place": place or "(invented)", "chance": chances[0]}
        )
    return rows


born = kept("real_births", births)
born.assign(right=[row.place in row.says for row in born.itertuples()]).round(2)

# %% reveal
reveal("right places of birth, of twelve", sum(row.place in row.says for row in born.itertuples()))

# %% [markdown]
# In our run one of twelve is right, Mozart's. The others are mostly places where these people lived and worked: of a name and a city that often stand together, the model knows that they belong together, and not how. *Freiburg* is a letter away from Freud's Freiberg, and wrong, with the highest chance of all, 0.72; Mozart's right one has 0.32. The two invented people get low chances, 0.03 and 0.08, but so do Einstein and Hugo. A threshold that lets Mozart through lets five wrong places through with him.
#
# That is the lesson of notebook 10 once more: a chance is a share of texts, and no measure of what is true; to be silent at the right moment has to be measured on other questions.
#
# ## 8. Essay
#
# In at most twelve lines, in English or in French. A small company wants a model of about SmolLM2's size for a telephone that writes long answers. For each of the following: **what do the measurements of this notebook decide, and what do they leave open?** (a) Nine heads of keys and values, or three? Say what each costs for a text of 4,000 tokens, in bytes (of which type?). (b) RMSNorm and SwiGLU in place of LayerNorm and a plain feed-forward part. (c) Somebody proposes to leave out the eight heads with the highest induction score, "since the others stand in for them". (d) It shall say where people were born, and be silent where it does not know.

# %% [markdown] essay="parts_essay"
# **Rubric** (half a point for each, 2 points in all)
#
# - (a) *Counted, not guessed*: with 30 layers and heads of 64, three heads keep $2 \cdot 30 \cdot 3 \cdot 64 = 11{,}520$ numbers a token, for 4,000 tokens 46 million, 92 MB in half precision (184 MB in single); nine heads three times as much, 276 MB. Left open: the quality at equal size. Our conversion of a trained model (3.63 to about 4.1 after training on) is one layer of two heads and says little about a model trained with groups from the start.
# - (b) *Not decided*: exchanging the norm of a trained model (3.63 to 3.64) shows that the mean hardly matters there, not that training is as good; SwiGLU was not compared at all. It takes models trained from the start at equal numbers of parameters, over several seeds.
# - (c) *Decided by switching off with a control*: the score says where to look, the losses with these heads off, beside as many others off, say what they do. Without the best four the loss on repeated tokens goes from 2.8 to 7.6, with four others near by to 3.1 or 3.3; that others stand in was seen for single heads of a small model (section 6). Left open: what this copying is worth in real answers, since plain English without repetition does not get worse.
# - (d) *Left open, with a measurement*: a chance is no knowledge. The table has a wrong place at 0.72 and a right one at 0.32. One needs many questions, a threshold chosen on one half, and the errors counted on the other (notebook 10), in the telephone's own wording.
#
# **Misconceptions that cost marks**: "fewer key heads make the model three times as fast"; "RMSNorm is better, since all large models have it"; "a head with a high score is needed" or "can be spared" by the score alone; "0.9 means that nine of ten such answers are right".
#
# **Answers as students write them**
#
# - *Full marks (2 of 2)*: "(a) Three heads: 2 x 30 x 3 x 64 numbers a token, 92 MB for 4,000 tokens in half precision, and nine would be 276 MB, much for
#   a telephone. What the three cost in quality we have not measured at this size. (b) Nothing is decided: I exchanged the norm in a trained model, and the
#   perplexity went from 3.63 to 3.64, but a fair comparison trains both from the start with equal parameters and several seeds. (c) I would not: with
#   the best four off the loss on repeated tokens goes from 2.8 to 7.6, and with four others near by to 3.1 or 3.3, so the others do not stand in for
#   them. (d) The chance alone is no guard: Freud's wrong place has 0.72 and Mozart's right one 0.32. I would ask many questions, choose a threshold
#   on one half and count the errors on the other." Why: (a) to (d), half a point each.
# - *Half (1 of 2)*: "(a) Three heads keep a third, 11,520 numbers a token, so 92 MB in place of 276 for 4,000 tokens. (b) I would take both, because
#   all modern models use them, so they are better. (c) Yes, in section 6 a single head could be spared. (d) It must not be believed: it gives invented
#   people a city too, so one needs a threshold that is tested on other questions." Why: (a) and (d) (1). (b) takes fashion for a measurement, and (c)
#   carries one head of a small model over to eight of a large one, without a control.
# - *No marks (0 of 2)*: "(a) Three heads, because then it is three times faster. (b) RMSNorm and SwiGLU are better. (c) Yes, they only copy, and nobody
#   needs that. (d) It is sure of most answers, so they are right." Why: Each sentence is a misconception, and no number of the notebook is in it.

# %% [markdown] questions
# ## Three questions
#
# For yourself: open an answer to see whether it is right.
#
# 1. A model has 32 heads of queries, and 8 heads of keys and values in place of 32. What is a quarter of what it was?
#    - The time to write a token. => Nearly all the work is products with the matrices, most of which stay as they are.
#    + What is kept of each token. => Keys and values of 8 heads are kept in place of 32; every head still has a query of its own.
#    - The number of parameters. => Only the key and value matrices become smaller; queries, output, feed-forward part and embedding stay.
# 2. All published names are replaced, all shapes fit, nothing is left over. Is it the published model?
#    - Yes: every number is in its place. => So it was with the tiny model, and its logits were off by almost as much as they are large.
#    - Yes, if the names were checked in both directions. => That finds tensors that are missing or left over, and says nothing of how pairs are turned.
#    + Nobody knows before a known answer is compared. => Names and shapes do not say how a tensor is used; logits for one text do.
# 3. A head has a high induction score. What is known of it?
#    - That the model needs it for copying. => In the small models each head of layer 1 could be off, and the loss rose by 0.4 at most.
#    + That it looks where a head that copies would look. => What it is good for, switching it off says, with other heads off for comparison.
#    - That it can be spared, since the others stand in for it. => In SmolLM2, without the best one of 270, the loss on repeated tokens rose from 2.8 to 4.7.

# %% [markdown]
# ## What to remember
#
# - RMSNorm leaves the mean out. SwiGLU puts a gate in, at two thirds of the width. Heads that share keys and values leave less to keep while writing.
# - Keys and values of old tokens do not change while the text fits into the window, so keep them.
# - A key is turned once, by its own position, and kept so. New tokens go on at position $m$.
# - Weights are loaded whole or not at all: nothing left over, nothing missing, all shapes alike. And then a known answer is compared, for names and shapes do not say how pairs are made.
# - An induction head looks at what followed the last occurrence. It needs a head in an earlier layer, appears suddenly, and is proven by switching it off.
#
# **Go further.** Build a second layer into the language model of section 1, train it again, and measure its induction scores during training. How two heads of two layers work together is taken apart in [Elhage et al. 2021](https://transformer-circuits.pub/2021/framework/index.html).

# %% [markdown]
# ## What others call it
#
# - **multi-query attention** (also *MQA*), **grouped-query attention** (also *GQA*): heads that share keys and values.
# - **prefill, decoding**: reading the prompt in one pass, then one token at a time with the cache.
# - **safetensors, GGUF**: files of weights that hold no code; in the second they are as a rule *quantised* to a few bits.
# - **chat template**: the marks for whose turn it is.
# - **induction head**: a head that copies what followed the last occurrence.
# - **ablation of a head** (also *zero ablation*): switching it off, to see what it was for.

# %% experiment open=true
from tutor import progress

progress()
