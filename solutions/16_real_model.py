# ---
# jupyter:
#   course:
#     teaches: "the parts of today's large models, and a real one in them"
#     part: models
#     column: 3
#     row: 4
#     builds_on: ["14", "15"]
#     running: 3
#     questions:
#       - What is in models of today?
#       - What do they do differently from the paper of 2017, and why?
#       - Why can a model write faster than it reads?
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
# The large models of today are not quite the GPT of notebook 14. [LLaMA](https://arxiv.org/abs/2302.13971) (section 2.2), on which many others are modelled, names three changes: another norm, another feed-forward part, and the rotary positions of notebook 02. Later models share keys and values among heads, and all of them keep what they have read. You build these parts, and try each in a small model.
#
# **When you are done, you can**
# - say what RMSNorm and SwiGLU leave out and put in, and keep the number of parameters;
# - let several heads share their keys and values, and heal a model that was converted to this;
# - make a model write without reading everything again;
# - find the heads that copy, watch them appear in training, and prove what they do by switching them off.
#
# **Time**: about 1 h 45 min. **Before this**: notebooks 02 (rotary positions), 05 (counting), 14 (a GPT) and 15 (the reviewer).
#
# | exercise | what it asks | points |
# |---|---|---|
# | `RMSNorm` | a norm without a mean | 2 |
# | `SwiGLU` | a feed-forward part with a gate | 2 |
# | `grouped_query_attention` | heads that share their keys | 2 |
# | `read_with_cache` | new tokens, without reading the old ones again | 3 |
# | `induction_score` | which heads copy? | 3 |
# | **total** | | **12** |
#
# Cells tagged `experiment` train and draw, two to three minutes in all; no mark depends on them, and grading skips them.

# %% setup
import copy
import math
import sys
import time

import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from tqdm import tqdm

from helpers import plots
from tutor import check, hint
from helpers.batches import Batches, for_language_model
from helpers.corpora import Split, load
from helpers.models import LanguageModel, TransformerBase
from helpers.training import evaluate, schedule, train
from helpers.vocabulary import Vocabulary

# %% [markdown]
# ## 1. A small model to try them on
#
# The new parts are tried on the language model of notebook 15: one layer, width 64, and 10,000 invented reviews that it reads once, in half a minute.

# %% measured
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
# LayerNorm subtracts the mean of a token's numbers, divides by their standard deviation, and then applies a learned weight and bias. [Zhang and Sennrich 2019](https://arxiv.org/abs/1910.07467) suspect that the mean is not what helps, and leave it out; in their code the bias is gone, too, unless one asks for it. **RMSNorm** divides by the *root mean square*.
#
# $$ \text{RMSNorm}(x) = \frac{x}{\sqrt{\frac{1}{D} \sum_k x_k^2 + \varepsilon}} \odot w $$
#
# **By hand**, with $w = 1$ and without $\varepsilon$: the token $(1, 7)$. Its mean square is 25, so it becomes $(0.2, 1.4)$; LayerNorm makes of it $(-1, 1)$. Now the token $(101, 107)$: which of the two norms gives it the same result as before? And which gives $(10, 70)$ the same as $(1, 7)$?

# %% exercise="RMSNorm"
class RMSNorm(nn.Module):
    """Divides each token by its root mean square, and multiplies by a learned weight.

    d_model: numbers of a token. eps: added to the mean of the squares, before the root.
    Parameters: weight `(d_model,)`, which starts with ones. No others, and no buffers.
    """

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        ### BEGIN SOLUTION
        super().__init__()
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
# How much does the mean matter in a model that was trained *with* LayerNorm? Exchange its three norms for yours, with the learned weights and biases kept, and train nothing. **Predict** the perplexity: ruined, a little worse, or the same?

# %% measured
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
# **By hand**: $D = 64$, $F = 192$, no biases. How many numbers has the plain part? How wide may the three matrices be? And what if somebody keeps $F = 192$ and reports that SwiGLU is better?

# %% exercise="SwiGLU"
class SwiGLU(nn.Module):
    """A gated feed-forward part with about as many numbers as a plain one of width d_feedforward.

    Layers, all without biases: gate and hidden from d_model to two thirds of d_feedforward (rounded
    down), and output back to d_model.
    """

    def __init__(self, d_model: int, d_feedforward: int) -> None:
        ### BEGIN SOLUTION
        super().__init__()
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

# %% experiment
z = torch.linspace(-6, 6, 61)
gates = {"silu": F.silu(z), "ReLU": torch.relu(z)}
axes = plots.curves(gates, z, title="What opens the gate", x_label="gate(x)", y_label="factor")
low = F.silu(z).min().item()
plots.show(axes.figure, f"ReLU is 0 for negative numbers, silu falls to {low:.2f} and comes back to 0; "
           "for large numbers both are the number itself.")

# %% [markdown]
# The factor is no share between 0 and 1: it falls to −0.28, so that it can turn the sign, and it grows without bound. (By hand: the plain part has 24,576 numbers, and the three matrices may be 128 wide. At 192 they have half as many numbers again, and whoever finds them better has not shown that it is the gate.)
#
# In Shazeer's tables the gated parts have a somewhat lower loss at equal size; about the reason he makes no claim. Whether it would show on our reviews, we have not measured.
#
# ### Fewer keys and values
#
# One change came after LLaMA's first paper. When a model writes, it keeps keys and values of all tokens so far (section 3): $2 \cdot M \cdot A \cdot D/A$ numbers for each token, with $M$ layers of $A$ heads of width $D/A$. *Grouped-query attention* ([Ainslie et al. 2023](https://arxiv.org/abs/2305.13245)) lets several heads of queries share one head of keys and values. With one for all it is the *multi-query attention* of [Shazeer 2019](https://arxiv.org/abs/1911.02150).
#
# **By hand**: 32 layers, 32 heads of width 128, numbers of two bytes. What does a text of 4,096 tokens keep? And with 8 heads of keys and values in place of 32? Then: six heads of queries and three groups. Which group does head 4 read, if neighbours share one?

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
            to the scaled scores: minus infinity blocks, other numbers shift; None: nothing is blocked.
            Each row leaves at least one key open.
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
# (By hand: $2 \cdot 32 \cdot 32 \cdot 128 \cdot 4096$ numbers are 1,074 million, or 2.1 GB; with 8 groups a quarter, 0.5 GB. Head 4 reads group 2.)
#
# A finished model can be converted to this, which is an adaptation, too: Ainslie et al. take the *mean* of the key matrices of the heads that are to share, likewise of the value matrices, and train on with 5 % of the steps of the pretraining. We do it with the reviewer: its two heads get one head of keys and values. Beside the mean we try to keep the first head only; and so that nobody takes for healing what is just more
# training, the unchanged model trains on just as long. **Predict** the four perplexities after the change, without and with training.

# %% measured
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

# %% [markdown]
# Half of the keys and values are gone. Without training that costs much: from 3.63 to 5.10 in our run with the first head alone, to 11.33 with the mean, though the mean has something of both. The mean of two matrices that were never trained to fit each other fits neither. Some eighty steps later they are at 4.06 and 4.09: most of the damage is healed, though not all of it. The unchanged model gains nothing from the same steps
# (3.69), so it is not just more training. In the paper the mean does best after training, before a single head; the models there are far larger, and in ours the two end alike. With one layer of two heads, merged into one, ours is also the hardest case: 8 groups of 32 heads leave much more.
#
# ## 3. Writing without reading again
#
# `write` of notebook 14 reads the whole text again for each new token. Most of that work has been done before. In a causal model no token sees what comes after it, so as long as the text fits into the window, the keys and values of old tokens are the same in each step: **keep them**. (Where it no longer fits, `write` lets the window slide, every position changes, and with learned positions they must be made anew.) What the new token needs is its own query, and the keys and values of all. This is the *key-value cache* of every model that writes.
#
# Nothing is hidden in the model: what has been kept goes in as an argument and comes out again, longer. The model is the GPT of notebook 14. `TransformerBase` of `helpers.models`, with learned positions and pre-norm, is the same one under the same names, and so are its parts; here are the four functions that notebook 14 gave.
#
# **By hand.** Three tokens have been read, with positions 0, 1 and 2; a fourth comes. Its position is 3, not 0. Its query, one row, meets four keys. If two tokens come at once, they have positions 3 and 4, and their rows of the mask are the *last two* of the causal mask of size 5: $(0, 0, 0, 0, -\infty)$ and $(0, 0, 0, 0, 0)$.
#
# > **A trap.** `F.scaled_dot_product_attention(..., is_causal=True)` with two queries and five keys takes the *first* two rows of that mask ([PyTorch's documentation](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html) calls it the upper left causal bias): the new tokens would see the beginning of the text and not themselves.

# %% setup
def causal_mask(size: int) -> Tensor:
    """Returns the mask of notebook 01, `(size, size)`: 0 where j <= i, minus infinity above."""
    return torch.full((size, size), -torch.inf).triu(1)


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Returns `(b, h, n, d/h)` for `(b, n, d)`."""
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """Returns `(b, n, d)` for `(b, h, n, d/h)`."""
    return x.transpose(1, 2).flatten(2)


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """Returns softmax(query @ key.T / sqrt(d/h) + mask) @ value, `(b, h, n, d/h)`."""
    return F.scaled_dot_product_attention(query, key, value, mask.type_as(query))


Cache = list[tuple[Tensor, Tensor]]  # keys and values of each layer, (b, h, m, d/h) each

# %% exercise="read_with_cache"
def read_with_cache(model: nn.Module, tokens: Tensor, cache: Cache | None) -> tuple[Tensor, Cache]:
    """Returns logits `(b, n, V)` of new tokens `(b, n)`, and the cache with which reading goes on.

    The cache holds for each layer a pair (keys, values) of all m tokens read before, `(b, h, m, d/h)` each;
    None when there are none; n is 1 or more, and m + n at most max_len. What is returned is a new list, for
    m + n tokens. The new tokens have the positions m, m + 1, ... Of the model, only its parts may be
    used: embedding, position, layers and norm; of a layer attention_norm, attention, feed_forward_norm
    and feed_forward; of its attention n_heads, query, key, value and output.
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
# One pass over a text, and the same text token by token, must give the same logits; this is tested first. And what is the cache worth? We take a new model with a window of 512, since what it writes does not matter. Each point is the shortest of three measurements: what else the machine does can only add to them.

# %% measured
@torch.no_grad()
def by_cache(model: TransformerBase, tokens: Tensor) -> Tensor:
    """Returns the logits `(1, n, V)` of a text `(1, n)` that is read token by token."""
    found, cache = [], None
    for place in range(tokens.shape[1]):
        logits, cache = read_with_cache(model, tokens[:, place : place + 1], cache)
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
# The same numbers up to rounding, and the longer the text, the larger the gain. With everything read again, token $m$ costs a pass over $m$ tokens, so $n$ tokens cost about $n^2 / 2$ times one; with the cache each costs one, and the attention over what is kept. (At short lengths the cache gains little or nothing: calling PyTorch costs more there than what it computes.) The price is memory: two vectors of width $d$ for each token and layer. For a model of 96 layers and a width of 12,288 ([GPT-3](https://arxiv.org/abs/2005.14165), table 2.1) that is $2 \cdot 96 \cdot 12288 \approx 2.4$ million numbers **for each token**, 4.7 MB in half precision. Grouped heads, which share keys and values, make it smaller (section 2).
#
# With the cache, `write` would read the prompt once, and then hand only the token just drawn to `read_with_cache`, until the text no longer fits into the window.
#
# ## 4. Heads that copy
#
# Adapted or not, a large model learns something within a single text, without any training: it has met *Maria Sonivic* once, and after the next *Maria* it expects *Sonivic* again. [Olsson et al. 2022](https://arxiv.org/abs/2209.11895) give evidence, for large models in their own words preliminary and indirect, that much of this is the work of **induction heads**, which do one thing: *find what came after the last occurrence of the present token, and copy it*. `A B ... A` gives `B`.
#
# To find them, one needs a text in which nothing else helps: **random tokens, written twice**. In the first half nobody can guess anything. In the second half, a perfect induction head is right wherever the present token has always been followed by the same one; where a token stands twice in the block, with different ones behind it, even this head must choose.
#
# ### Why two layers?
#
# A head compares the present token with others. But at the place of `B`, nothing says that `A` stood before it, unless *an earlier layer* has written it there. So it takes two heads in two layers: one that looks at the token before, and one that looks for a place that says "before me stood what stands here now".
#
# We train models of attention alone, without feed-forward parts, with one layer and with two. Each text is a block of 6 to 12 random letters, repeated up to 24 places; with blocks of many lengths, no fixed distance will do. **Predict**: how will the curves of the two look?
#
# ### Exercise: the induction score
#
# **By hand**, with blocks of three: `A B C A B C`, places 0 to 5. The second `A` stands at place 3; `B`, which followed the first one, at place 1. So row 3 should look at column 1. And rows 4 and 5?

# %% exercise="induction_score"
def induction_score(attention: Tensor) -> Tensor:
    """Returns for each head how much it looks at what followed the same token one block earlier, `(h,)`.

    Args:
        attention: weights `(b, h, n, n)` on texts that are a block of n / 2 tokens (two or more),
            written twice; row i holds the weights of the token at place i.

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


# %% measured
LETTERS, PLACES = 26, 24


class Nothing(nn.Module):
    """In the place of a feed-forward part: adds nothing."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.zeros_like(x)


def repeated(texts: int, block: int, chance: torch.Generator) -> Tensor:
    """Returns texts `(b, n)` of a random block each, repeated."""
    blocks = torch.randint(LETTERS, (texts, block), generator=chance)
    return blocks.repeat(1, math.ceil(PLACES / block))[:, :PLACES]


twice = repeated(64, PLACES // 2, torch.Generator().manual_seed(99))  # (64, 24), to measure with


@torch.no_grad()
def second_half_loss(model: LanguageModel) -> float:
    """Returns the mean loss in the second half of texts that are a block, written twice, in nats."""
    logits = model(twice)[:, PLACES // 2 : -1]  # from the place on where the block begins again
    return F.cross_entropy(logits.transpose(1, 2), twice[:, PLACES // 2 + 1 :]).item()


@torch.no_grad()
def head_scores(model: LanguageModel) -> Tensor:
    """Returns the induction score of each head, `(layers, h)`."""
    return torch.stack([induction_score(weights) for weights in model.base.attention_maps(twice)])

# %% measured
def attention_alone(layers: int) -> LanguageModel:
    """Returns a new language model without feed-forward parts."""
    base = TransformerBase(LETTERS, 32, layers, 4, dropout=0.0, positions="learned", norm_first=True,
                           max_len=PLACES)
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
copying = {(layers, seed): copying_model(layers, seed)
           for layers, seed in tqdm([(layers, seed) for layers in (1, 2) for seed in range(3)],
                                    unit="model", file=sys.stdout)}

# %% measured
figure, panels = plots.panels(2, width=4.1, height=3.2)
told, steps = [], range(0, 301, EVERY)
titles, labels = ("Loss in the second half", "The best head"), ("loss (nats)", "induction score")
for axes, key, title, label in zip(panels, ("loss", "score"), titles, labels):
    lines = {f"{layers} layer{'s' * (layers - 1)}": [[row[key] for row in copying[layers, seed][1]]
                                                    for seed in range(3)] for layers in (1, 2)}
    plots.curves(lines, steps, title=title, x_label="step", y_label=label, axes=axes)
    told.append(f"{title}: {plots.describe_curves(lines, steps, 'step', digits=2)}")
by_chance = sum(1 / (row + 1) for row in range(12, 24)) / 12  # all places up to its own alike
levels = {"a guess at random": math.log(LETTERS), "spread evenly": by_chance}
for axes, (name, level) in zip(panels, levels.items()):
    axes.axhline(level, color="#555555", linestyle=":", label=name)
    axes.legend(frameon=False)
plots.show(figure, " ".join(told) + f" Dotted: a guess at random costs {math.log(LETTERS):.2f} nats, "
           f"and a head that looks everywhere alike has the score {by_chance:.3f}.")

# %% [markdown]
# (By hand: row 4 should look at column 2, row 5 at column 3.)
#
# For 120 steps the two behave alike. **With two layers** the loss then falls fast, from about 2.7 to below 0.5, and **in the same steps** the score of the best head climbs from below 0.2 to above 0.7: the heads have found each other. Before that, a head that looks for "before me stood what stands here" finds nothing, since nobody writes it down; and to write it down is of
# no use as long as nobody looks for it. Olsson et al. see the same sudden change, at an early stage of training, in models of many sizes with two layers or more, and not with one.
#
# **With one layer** the mean of the three goes up and down between 1.8 and 2.4 from step 160 on, and ends at 2.3. For comparison: whoever knows the letters of a block, how often each is in it, and nothing of their order pays 2.2 nats on average. The best head comes to between 0.1 and 0.3, which is above chance. A copy by position would do that: learned positions can tell a head to look a
# fixed number of places back, though with seven lengths of block no one number is right in all texts. What these heads really do, we have not taken apart.
#
# Here are both heads of one such model at work: on the left the head of layer 0 that looks most at the token before, on the right the best induction head.

# %% measured
model = copying[2, 0][0].eval()
block = torch.randperm(LETTERS, generator=torch.Generator().manual_seed(5))[:6]  # different letters
text = block.repeat(2)[None]  # (1, 12)
maps, best = model.base.attention_maps(text), int(head_scores(model)[1].argmax())
before = maps[0][0].diagonal(-1, dim1=-2, dim2=-1).mean(dim=-1)  # (h,): who looks one place back?
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
# Read the right map row by row. In the first half there is nothing to find, and the head rests on the first letter. In the second half, four of the six rows give nearly everything to the place *behind* their letter's twin: one place to the right of the diagonal on which the twins lie. The other two are divided: the row of the second `B` gives it 0.61, that of the
# second `J` only 0.37, and nearly all the rest lies where the head rests when it finds nothing, on the first letter. No head here is a perfect one.
#
# ### Switched off
#
# A pattern in a map is a suspicion. The proof is to take the head away. We set what a head adds to zero (its part of what goes into the output matrix), one head at a time, and measure the second half again; then all four heads of a layer.

# %% measured
from contextlib import contextmanager


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
choices = {"none": (0, [])} | {f"{layer}.{head}": (layer, [head]) for layer in (0, 1) for head in range(4)}
choices |= {"0.all": (0, [0, 1, 2, 3]), "1.all": (1, [0, 1, 2, 3])}
costs = {}
for name, (layer, heads) in choices.items():
    costs[name] = []
    for seed in range(3):
        with switched_off(copying[2, seed][0], layer, heads):
            costs[name].append(second_half_loss(copying[2, seed][0]))

# %% measured
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
    weights = first_layer.diagonal(-1, dim1=-2, dim2=-1).mean(dim=0)  # (h, 23): one place back
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
#   write down; in the second it looks elsewhere. The short text of the maps has both its blocks within the first twelve places.)
#
# So a score says where to look, and only switching off says what it is good for. (Setting to zero is the bluntest way: the layers above have never seen such a zero. Putting in the mean over many texts is gentler.)
#
# And the reader of section 1? It has read ten thousand texts, in which names come back. **Predict**: has one of its two heads a high score?

# %% measured
words = torch.randint(5, len(vocabulary), (64, 20), generator=torch.Generator().manual_seed(1)).repeat(1, 2)
with torch.no_grad():
    review_scores = induction_score(language_model.base.attention_maps(words)[0])
print("the reader's two heads:", ", ".join(f"{score:.3f}" for score in review_scores.tolist()),
      f"(by chance about {sum(1 / n for n in range(21, 41)) / 20:.3f})")

# %% [markdown]
# No: neither is clearly above chance (0.024 and 0.036 in our run, where chance is about 0.034). With a single layer there is no earlier head that could write down what stood before, so the trick with two heads is not open to it.

# %% [markdown]
# ## What to remember
#
# - RMSNorm leaves the mean out. SwiGLU puts a gate in, at two thirds of the width. Heads that share keys and values leave less to keep while writing.
# - Keys and values of old tokens do not change while the text fits into the window, so keep them.
# - An induction head looks at what followed the last occurrence. It needs a head in an earlier layer, appears suddenly, and is proven by switching it off.
#
# **Go further.** Build a second layer into the reader of section 1, train it again, and measure its induction scores during training. How two heads of two layers work together is taken apart in [Elhage et al. 2021](https://transformer-circuits.pub/2021/framework/index.html).

# %% experiment
from tutor import progress

progress()
