# ---
# jupyter:
#   course:
#     teaches: from one dot product to encoder and decoder layers
#     part: attention
#     column: 3
#     row: 0
#     builds_on: ["02"]
#     running: 1
#     questions:
#       - How do the parts fit together?
#       - Why are scores divided by the root of the width?
#       - Why several heads, if they have no more parameters than one?
#   jupytext:
#     notebook_metadata_filter: course
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 03 · Attention and its heads
#
# Everything that tokens know of each other in a Transformer passes through one operation: a token asks, all tokens are
# compared with the question, and the answer is a weighted average. You start with three words and a pencil, and end
# with the encoder and the decoder layer of "Attention Is All You Need" (Vaswani et al. 2017).
#
# **When you are done, you can**
# - compute attention by hand, and say why the scores are divided by a number that grows with the width, $\sqrt{d}$;
# - name the shape of every tensor on the way through the heads, and see when a reshape has mixed them up;
# - build multi-head attention, encoder and decoder layers, and test them against PyTorch's;
# - say what several heads can do that one head cannot.
#
# **Time**: about 2 h 45 min. **Before this**: notebook 01 (the mask). Of 02 you need one sentence: a pattern added to each token's row says where it stands.
#
# | exercise | what it asks | points |
# |---|---|---|
# | `score_variance` | a formula: how large scores get | 2 |
# | `scaled_dot_product_attention` | scores, weights, average | 3 |
# | `tensor_shapes` | the shape of nine tensors | 2 |
# | `split_heads` | from one wide tensor to heads | 2 |
# | `merge_heads` | and back | 1 |
# | `MultiHeadAttention` | four matrices and h heads | 4 |
# | *essay* `heads_essay` | why several heads | 2 |
# | `EncoderLayer` | attention, feed-forward, residuals, norms | 3 |
# | `DecoderLayer` | a layer that also reads the encoder's output | 4 |
# | **total** | | **23** |

# %% setup
import math
from collections import OrderedDict

import sympy
import torch
from torch import Tensor, nn

from helpers import plots
from tutor import by_hand, check, guess, hint, resume, reveal
from helpers.models import Attention, Context, EncoderDecoder, Layer, sinusoids

# %% [markdown]
# ## 1. One dot product
#
# In *Le chat dort*, the word *dort* wants to know who is sleeping. It asks with a **query**, a vector of $d$ numbers. Each
# word, itself included, shows a **key** of the same width: what it can be found by. And each word holds a **value**: what
# it gives when it is found. How well a key fits a query is one number, their dot product.
#
# Take a pencil. The query of *dort* is $(2, 0, 1, 1)$.
#
# | word | key | value |
# |---|---|---|
# | Le | (0, 1, 0, 0) | (10, 0) |
# | chat | (1, 0, 1, 1) | (0, 10) |
# | dort | (0, 0, 1, 1) | (10, 10) |
#
# 1. **Scores**: the three dot products. Multiply number by number and add: for *chat*, $2\cdot1 + 0\cdot0 + 1\cdot1 + 1\cdot1 = 4$.
# 2. **Scale**: divide each score by $\sqrt d$, here $\sqrt 4 = 2$. (Why? That is section 2.)
# 3. **Weights**: the softmax. You need $e^0 = 1$, $e^1 \approx 2.72$ and $e^2 \approx 7.39$.
# 4. **Output**: the values, each times its weight, added up.
#
# Write weights and output in place of the dots, with two decimals.

# %% by_hand
by_hand("scaled_dot_product_attention", [
    [..., ..., ...],  # the weights of Le, chat and dort
    [..., ...],  # the output
])

# %% [markdown]
# The scores are 0, 4 and 2, scaled 0, 2 and 1; the weights are 0.09, 0.67 and 0.24, the output is $(3.35,\ 9.10)$. In code:

# %% experiment open=true
words = ["Le", "chat", "dort"]
query = torch.tensor([2.0, 0.0, 1.0, 1.0])  # (d,)
key = torch.tensor([[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0]])  # (n, d)
value = torch.tensor([[10.0, 0.0], [0.0, 10.0], [10.0, 10.0]])  # (n, 2)

scores = key @ query / 4**0.5  # (n,)
weights = torch.softmax(scores, dim=-1)  # (n,)
print("scaled scores:", scores.tolist())
print("weights:      ", [round(weight, 2) for weight in weights.tolist()])
print("output:       ", [round(number, 2) for number in (weights @ value).tolist()])

# %% [markdown]
# *dort* takes two thirds of its answer from *chat*. Attention is a soft dictionary: an ordinary one needs a key that fits exactly
# and gives back one value; this one compares with all keys and gives back a mixture. So everything in it has a gradient and can be learned.
#
# ## 2. Why the square root?
#
# ### First without it
#
# Let queries and keys have $d$ random numbers of mean 0 and variance 1, and look at
# the scores *before* they are scaled: 20,000 dot products for each of four widths.
#
# What is the standard deviation of the scores at $d = 256$? Write a number in place of the dots, or leave them and go on.

# %% guess
guess("the standard deviation of the scores at d = 256", ...)

# %% experiment
# @title How widely scores are spread at four widths, as they are and divided by √d
generator = torch.Generator().manual_seed(0)
widths = [4, 16, 64, 256]
raw = {}
for d in widths:
    pairs = torch.randn(2, 20_000, d, generator=generator)  # queries and keys
    raw[d] = (pairs[0] * pairs[1]).sum(dim=-1)  # (20000,), one score for each pair

figure, axes = plots.panels(2, width=4.4)
for d in widths:
    axes[0].hist(raw[d].numpy(), bins=80, range=(-50, 50),
                 histtype="step", linewidth=1.6, density=True, label=f"d = {d}")
    scaled = raw[d] / d**0.5
    axes[1].hist(scaled.numpy(), bins=80, range=(-5, 5),
                 histtype="step", linewidth=1.6, density=True, label=f"d = {d}")
axes[0].set(title="scores as they are", xlabel="query · key", ylabel="share of scores per unit")
axes[1].set(title="scores divided by √d", xlabel="query · key / √d", ylabel="share of scores per unit")
axes[0].legend(frameon=False)
axes[1].legend(frameon=False)
spread = ", ".join(f"{raw[d].std():.1f} at d = {d}" for d in widths)
plots.show(figure, "Left: the wider the vectors, the wider the histogram of scores; "
           f"standard deviation {spread}. "
           "Right: divided by the root of d, the four histograms nearly lie on top of each other.")
print("standard deviation of the scores:", spread)

# %% reveal
reveal("the standard deviation of the scores at d = 256", raw[256].std())

# %% [markdown]
# On the left, the standard deviation is the square root of the width; divided by it, on the right, all four are alike. At $d = 64$ a score of 8 or of $-8$ is nothing special. In a softmax the difference
# between a score of 8 and one of 0 becomes a ratio of $e^8 \approx 2981$ between their weights: one key gets everything,
# and the choice is made by chance, before the model has learned anything.
#
# ### By hand: coins
#
# Let each of the numbers be $+1$ or $-1$, by the toss of a coin: mean 0, variance 1. A product of two such
# numbers is again $+1$ or $-1$. For $d = 2$, a score is the sum of two of them: $-2$ (one time in four), $0$ (two times in
# four) or $+2$ (one time in four). Its mean is 0, so its variance is the mean of the squares, $(4 + 0 + 0 + 4)/4 = 2$.
#
# `sympy` goes through all the tosses:

# %% experiment
# @title The variance of a score of coins, for three widths
from sympy.stats import Rademacher, variance  # Rademacher: +1 or -1, one half each

for width in (1, 2, 3):
    tosses = [(Rademacher(f"q{i}"), Rademacher(f"k{i}")) for i in range(width)]
    dot_product = sum(first * second for first, second in tosses)
    print(f"width {width}: variance of the score is {variance(dot_product)}")

# %% [markdown]
# ### Exercise: how large is a score?
#
# Write the variance as a formula. One more thing (section 4): a model of width $D$ has $A$ attentions side by side, its **heads**, and they share the
# $D$ numbers. Each head has its own $D/A$ numbers of the query and of the key, and makes its own scores of these only.
#
# So: the numbers of query and key are independent, with mean 0 and variance 1. What is the variance of one score of
# *one head*, before it is scaled? An expression of `sympy` in the symbols $D$ and $A$.

# %% setup
D, A = sympy.symbols("D A", positive=True, integer=True)  # width of the model, number of heads

# %% exercise="score_variance"
def score_variance() -> sympy.Expr:
    """Returns, as a formula in D and A, the variance of one unscaled score of one of the A heads.

    Example: one head (A = 1) of width D = 16 has scores of variance 16.
    """
    ### BEGIN SOLUTION
    return D / A  # a sum of D / A independent products, each of variance 1
    ### END SOLUTION


# %% [markdown]
# To bring the variance of something back to 1, divide it by its standard deviation, the square root of the variance.
# Not by the variance: that would make scores too small. This is the whole story of the famous factor (Vaswani et al. 2017, 3.2.1 and its
# footnote 4).

# %% experiment
# @title Your formula: what scores are divided by
from helpers.formulas import in_letters

scale = sympy.sqrt(in_letters(score_variance(), D, A))
print("divide the scores by:", scale)
base_model = {D: 512, A: 8}  # the base model of Vaswani et al. 2017, table 3
print("in the base model of 2017:", scale.subs(base_model))

# %% [markdown]
# ### What happens with another scale
#
# Now 500 queries of width 64, each with 8 keys of its own, and scores divided by 1, 2, 4, ... up to 128. Two things are measured:
#
# - the **entropy** of the 8 weights, in bits: 0 when one key gets everything, $\log_2 8 = 3$ when all get the same;
# - the **response**: how much the weights move when the dot products $q \cdot k$ move a little. This is the size of the softmax's
#   matrix of derivatives, divided by the divisor once more, since the softmax sees $q \cdot k$ divided by it (the chain rule). Where it is
#   near 0, hardly any gradient reaches the query and its keys.

# %% experiment
# @title The measurement: entropy and response for eight divisors
generator = torch.Generator().manual_seed(3)
queries = torch.randn(500, 1, 64, generator=generator)  # 500 queries of width 64
keys = torch.randn(500, 8, 64, generator=generator)  # each has 8 keys of its own
raw_scores = (queries @ keys.mT).squeeze(1)  # (500, 8)


def entropy(weights: Tensor) -> Tensor:
    """Returns the entropy in bits of each row of weights: `(..., n)` to `(...)`."""
    return -(weights * weights.clamp_min(1e-30).log2()).sum(dim=-1)


def response(weights: Tensor) -> Tensor:
    """Returns the size of the derivatives of a softmax, `(..., n)` to `(...)`:
    w_i (1 - w_i) and -w_i w_j."""
    derivatives = torch.diag_embed(weights) - weights.unsqueeze(-1) * weights.unsqueeze(-2)  # (..., n, n)
    return derivatives.flatten(-2).norm(dim=-1)


divisors = [1, 2, 4, 8, 16, 32, 64, 128]
# (500, 8) each
all_weights = {divisor: torch.softmax(raw_scores / divisor, dim=-1) for divisor in divisors}
entropies = [entropy(all_weights[divisor]).median().item() for divisor in divisors]
# (500,) each; the softmax sees q k / divisor, so its derivatives are divided once more
all_responses = {divisor: response(all_weights[divisor]) / divisor for divisor in divisors}
responses = [all_responses[divisor].median().item() for divisor in divisors]
typical = int(entropy(all_weights[1]).argsort()[250])  # a query in the middle, to look at

# %% experiment
# @title The drawing: defines show_weights and show_curves
def show_weights(divisor: int, axes) -> None:
    """Draws the weights of one typical query as bars."""
    axes.bar(range(8), all_weights[divisor][typical].numpy(), color=plots.COLOURS[0])
    axes.set(title=f"scores divided by {divisor}", xlabel="key", ylabel="weight",
             ylim=(0, 1), xticks=range(8))


def show_curves(axes, mark: int) -> None:
    """Draws entropy and response over all divisors, with a line at one of them."""
    lines = {"entropy": ("bits", entropies), "response": ("norm of derivatives", responses)}
    for axis, (title, (label, values)) in zip(axes, lines.items()):
        plots.curves({"median of 500": values}, divisors, title=title,
                     x_label="scores divided by", y_label=label, axes=axis, log_x=True)
        axis.axvline(mark, color=plots.COLOURS[1], linestyle=":", label=f"divided by {mark}")
        axis.legend(frameon=False)
        axis.set_ylim(bottom=0)


# %% interactive
# @title Weights, entropy and response for one divisor: move the slider
from ipywidgets import SelectionSlider, interact


def show_scale(divisor: int) -> None:
    """Draws weights, entropy and response for one divisor."""
    figure, axes = plots.panels(3, width=3.3, height=2.8)
    show_weights(divisor, axes[0])
    show_curves(axes[1:], divisor)
    plots.show(figure, f"Scores divided by {divisor}: "
               f"the largest weight is {all_weights[divisor][typical].max():.2f}.")


interact(show_scale, divisor=SelectionSlider(options=divisors, value=8, description="divide by"));

# %% experiment
# @title The same for those who only read: divided by 1, 8 and 64; then the curves
figure, axes = plots.panels(3, width=3.3, height=2.6)
for axis, divisor in zip(axes, (1, 8, 64)):
    show_weights(divisor, axis)
largest = ", ".join(f"{all_weights[divisor][typical].max():.2f} divided by {divisor}"
                    for divisor in (1, 8, 64))
plots.show(figure, f"Weights of one query on 8 keys, three times. The largest weight is {largest}.")

figure, axes = plots.panels(2, width=4.2, height=2.8)
show_curves(axes, 8)
lines = {"the entropy": entropies, "the response": responses}
plots.show(figure, plots.describe_curves(lines, divisors, "divisor", digits=2)
           + f" At divisor 8, the dotted line, they are {entropies[3]:.2f} and {responses[3]:.2f}.")
for divisor, median in zip(divisors, responses):
    silent = (all_responses[divisor] < 0.01).float().mean()
    print(f"divided by {divisor:3}: median response {median:.3f}, "
          f"below 0.01 for {silent:4.0%} of the queries")

# %% [markdown]
# Move the slider with the mouse or the arrow keys.
#
# - **Divided by 1**, the typical query stares at one key: the softmax is **saturated**. For 32 % of all queries the response is below 0.01, so they can hardly learn. (For the others it is large, so that the median says little here.)
# - **Divided by 64**, the entropy is close to its 3 bits: all weights are nearly equal, attention looks at nothing in particular, and the response is small for every query, because a change of $q \cdot k$ is divided by 64 as well. Such a model could
#   still learn to look, but only by making its queries and keys very long.
# - **Divided by 8**, the square root of 64, the weights are neither saturated nor equal, and no response is below 0.01. Nothing is magic about the exact number: 4 would do about as well here. What matters is that the scale follows the width, so that a
#   wide model starts as well as a narrow one. ([Yang et al. 2022](https://arxiv.org/abs/2203.03466) divide by $d$ itself, since queries and keys do not stay independent when they learn.)
#
# > **In practice: scaled, not clipped.** A student's review of the Transformer says that scores are *clipped* so that gradients do not *explode*. Neither word fits. Nothing is cut off here: the division
# > leaves the order of the scores as it was. And what threatens is the opposite of an explosion: in a saturated softmax gradients *vanish*, as the responses above show.
# >
# > Clipping exists, too, but elsewhere: before the optimizer changes the parameters, a gradient that is too long is shortened (notebook 06).
#
# ## 3. Exercise: attention
#
# Section 1 in code, for many queries at once. The queries are the rows of a matrix $Q$ $(n, d)$, the keys those of
# $K$ $(m, d)$, the values those of $V$ $(m, d_v)$, and the mask is that of notebook 01 or the biases of notebook 02:
#
# $$ \text{weights} = \operatorname{softmax}\Big(\frac{Q K^\top}{\sqrt d} + \text{mask}\Big), \qquad \text{output} = \text{weights}\; V $$
#
# > **The mistake first.** $K^\top$ on paper is `key.T` in code, as long as `key` is one matrix. With a batch, it is something else:

# %% experiment open=true
import warnings

batch_of_keys = torch.zeros(2, 5, 3)  # (b, m, d): two sentences, five keys each, width 3
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch warns about this use, and will forbid it one day
    print(".T turns all axes around, the batch too:", tuple(batch_of_keys.T.shape))
print("transpose(-2, -1) exchanges the last two:", tuple(batch_of_keys.transpose(-2, -1).shape))

# %% [markdown]
# With `.T` the second sentence's keys would be mixed with the first one's. Most of the time the shapes do not fit and torch stops you. When
# $b = m = d$ they do fit, and nobody stops you. Count axes from the end.
#
# (Between two tensors of three axes, `@` is what `torch.bmm` does, a *batched matrix multiplication*: $(b, n, d)$ times $(b, d, m)$ gives $(b, n, m)$, for each sentence by itself. With the axis of the heads there are four, and only `@` will do.)
#
# PyTorch's own attention, `nn.functional.scaled_dot_product_attention`, is what you write here, so an answer that calls it counts as none. The cell after yours compares the two.

# %% exercise="scaled_dot_product_attention"
def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Returns the output `(..., n, d_v)` and the weights `(..., n, m)` of attention.

    Args:
        query: any leading axes, then n queries of width d: `(..., n, d)`.
        key: `(..., m, d)`, as many keys as there are values.
        value: `(..., m, d_v)`.
        mask: added to the scaled scores before the softmax, `(n, m)` or any shape that fits;
            None adds nothing. It holds minus infinity where a key is blocked, or finite numbers.

    Scores may be of any size. Gradients must pass through it.
    Example: with a single key (m = 1) all weights are 1, and each row of the output is its value.
    """
    ### BEGIN SOLUTION
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))  # (..., n, m)
    if mask is not None:
        scores = scores + mask
    weights = torch.softmax(scores, dim=-1)  # (..., n, m), each row sums to 1
    return weights @ value, weights  # (..., n, d_v) and (..., n, m)
    ### END SOLUTION


# %% [markdown]
# torch has this function too, and its fast kernels never keep the weights. Yours must agree with it:

# %% experiment
# @title Is your attention equal to torch's?
torch.manual_seed(0)
query, key, value = torch.randn(2, 3, 5, 8), torch.randn(2, 3, 7, 8), torch.randn(2, 3, 7, 4)
yours, weights = scaled_dot_product_attention(query, key, value)
theirs = nn.functional.scaled_dot_product_attention(query, key, value)
print("shapes:", tuple(yours.shape), tuple(weights.shape))
print("equal to torch:", torch.allclose(yours, theirs, atol=1e-5))

# %% [markdown]
# ## 4. Several heads: every tensor has a shape
#
# A softmax gives each query **one** set of weights, and the output is **one** average. But *dort* has several questions at the same time:
# who sleeps, where, and which word comes before me? So a Transformer asks several times in parallel. It has $h$
# **heads**, and each of them works with its own $d/h$ numbers of each token.
#
# From here on $d$ is the width of the *model*; the width of a head, which was $d$ in sections 1 to 3, is $d/h$. (The exercise of section 2 wrote $D$ for the width of the model and $A$ for the number of heads, as the sympy formulas of this course do.)
#
# Follow one batch $x$ $(b, n, d)$ through *self-attention*, in which a text looks at itself:
#
# 1. three linear layers make `query`, key and value from `x`, each as wide as `x`;
# 2. each of the three is cut into heads: `query_heads` for the query;
# 3. the last two axes of the key's heads change places for the product: `key_heads_turned`;
# 4. the product of the two gives the `scores`, the softmax makes `weights` of them;
# 5. the weights times the heads of the value: `mixed`, one average per head and token;
# 6. the heads are put side by side again: `merged`;
# 7. one more linear layer: `output`.
#
# Shapes are how you find mistakes before you run anything. Write all nine of them. Where nothing is turned, the axes stand in the order
# sentence, head, token, number.

# %% exercise="tensor_shapes"
def tensor_shapes(b: int, n: int, d: int, h: int) -> dict[str, tuple[int, ...]]:
    """Returns the shape of each tensor in multi-head self-attention.

    Args:
        b, n, d: a batch of b sentences of n tokens of width d.
        h: the number of heads; d is a multiple of h.

    Returns:
        A dict with the names "x", "query", "query_heads", "key_heads_turned", "scores", "weights",
        "mixed", "merged" and "output", each with a tuple of whole numbers (int, not float).
        Example: tensor_shapes(1, 2, 6, 3)["x"] is (1, 2, 6).
    """
    ### BEGIN SOLUTION
    width = d // h  # numbers of one token in one head
    return {
        "x": (b, n, d),
        "query": (b, n, d),
        "query_heads": (b, h, n, width),
        "key_heads_turned": (b, h, width, n),
        "scores": (b, h, n, n),
        "weights": (b, h, n, n),
        "mixed": (b, h, n, width),
        "merged": (b, n, d),
        "output": (b, n, d),
    }
    ### END SOLUTION


# %% [markdown]
# What costs memory? Put in the numbers of a real model, width 512 and 8 heads, and let one text grow. The curves count the numbers in the tensors of
# your dict (scores and weights once: one can overwrite the other).
#
# The shape of the weights has $n$ in it twice. From how many tokens on do the weights hold more numbers than all the other tensors together? (Choose one of 64, 128, 256, 512, 1024,
# 2048 and 4096.)

# %% guess
guess("the tokens from which on the weights hold more than the rest", ...)

# %% experiment
# @title How many numbers the tensors hold, for texts of 64 to 4,096 tokens
lengths = [64, 128, 256, 512, 1024, 2048, 4096]
millions = {"weights": [], "the rest of the dict": []}
for length in lengths:
    sizes = {name: math.prod(shape) / 1e6 for name, shape in tensor_shapes(1, length, 512, 8).items()}
    millions["weights"].append(sizes["weights"])
    millions["the rest of the dict"].append(sum(sizes.values()) - sizes["weights"] - sizes["scores"])
axes = plots.curves(
    millions, lengths, title="The weights take over",
    x_label="tokens n", y_label="numbers to keep (millions)", log_x=True, log_y=True,
)
plots.show(axes.figure, plots.describe_curves(millions, lengths, "length"))

# %% reveal
pairs_of_sizes = zip(lengths, millions["weights"], millions["the rest of the dict"])
reveal(
    "the tokens from which on the weights hold more than the rest",
    next(length for length, of_weights, of_rest in pairs_of_sizes if of_weights > of_rest),
)

# %% [markdown]
# The weights grow with $n^2$, the rest with $n$: from about 450 tokens on, the weights are the larger part.
#
# ### Without the square
#
# *Go further: no exercise depends on this.*
#
# *FlashAttention* ([Dao et al. 2022](https://arxiv.org/abs/2205.14135), section 3.1) gives the same result and never keeps the square. The idea: read keys and values in **blocks**. A softmax needs the largest score of its row (so that no exponential overflows) and the sum of all exponentials,
# and both can be kept *so far*.
#
# For each query keep the largest score $m$, the sum $\ell$ of $e^{s - m}$, and the sum $o$ of the values, each times its $e^{s - m}$. When a block brings a larger score $m'$, everything that was summed is multiplied by $e^{m - m'}$: as if $m'$ had been known from the start. At the end the output is $o / \ell$.
#
# An example: scores $1, 3, 2$ in blocks of one. After the first, $m = 1$ and $\ell = 1$. The second brings $m = 3$: $\ell = 1 \cdot e^{1-3} + 1 \approx 1.14$. The third adds $e^{2-3}$: $\ell \approx 1.50$, which is $e^{-2} + 1 + e^{-1}$.

# %% experiment
# @title Attention in blocks: is it equal, and what must be kept?
def attention_in_blocks(query: Tensor, key: Tensor, value: Tensor, size: int) -> Tensor:
    """Returns the output of attention `(..., n, d_v)`; keys and values are read in blocks of `size`."""
    largest = query.new_full((*query.shape[:-1], 1), -torch.inf)  # (..., n, 1), m so far
    total, output = torch.zeros_like(largest), 0.0  # the sum l, and o
    for keys, values in zip(key.split(size, dim=-2), value.split(size, dim=-2)):
        scores = query @ keys.transpose(-2, -1) / math.sqrt(query.size(-1))  # (..., n, size)
        new = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
        shrink, powers = torch.exp(largest - new), torch.exp(scores - new)
        total = shrink * total + powers.sum(dim=-1, keepdim=True)
        output = shrink * output + powers @ values  # (..., n, d_v)
        largest = new
    return output / total


torch.manual_seed(0)
query, key, value = torch.randn(3, 1, 8, 100, 64)  # 8 heads, 100 tokens
whole, _ = scaled_dot_product_attention(query, key, value)
for size in (1, 7, 64, 100):
    same = torch.allclose(attention_in_blocks(query, key, value, size), whole, atol=1e-5)
    print(f"blocks of {size:3}: equal to the whole softmax: {same}")
n, h, size = 4096, 8, 128
print(f"{n:,} tokens, {h} heads: {h * n * n / 1e6:.0f} million weights at once, "
      f"in blocks of {size} {h * n * size / 1e6:.1f} million")

# %% [markdown]
# Equal for every size of block, and what must be kept at once goes from $h n^2$ to $h n B$ numbers for blocks of $B$ keys. The products are as many as before. (The real kernel also takes the *queries* in blocks, so that all of it fits into the small fast memory of a graphics card; there it gains time, since less has to be carried to and fro.)
#
# ## 5. Exercises: split and merge
#
# Here is one sentence of four tokens with six numbers each. The number 21 belongs to token 2 and has index 1 in it. With two heads, head 0
# shall get the numbers with index 0, 1, 2 of **each** token, and head 1 those with index 3, 4, 5.
#
# By hand: which numbers stand in head 1, in its rows for token 0 and for token 1?

# %% by_hand
by_hand("split_heads", [
    [..., ..., ...],  # head 1, token 0
    [..., ..., ...],  # head 1, token 1
])

# %% [markdown]
# They are 3, 4, 5 and 13, 14, 15: each token gives its second half.
#
# > **The mistake first.** The shape we want is `(b, h, n, d/h)`, so why not simply reshape to it?

# %% experiment
# @title A sentence cut into two heads, and what a reshape alone makes of it
x = torch.tensor([[[10.0 * token + index for index in range(6)] for token in range(4)]])  # (1, 4, 6)
wrong = x.reshape(1, 2, 4, 3)  # the right shape
wanted = torch.stack([x[0, :, :3], x[0, :, 3:]])  # (2, 4, 3), cut by hand

figure, axes = plots.panels(4, width=2.6, height=2.9)
names = {"row_label": "token", "column_label": "index", "digits": 0, "limits": (0, 40)}
plots.matrix(x[0], "x: token and index", axes=axes[0], **names)
plots.matrix(wanted[0], "head 0, as wanted", axes=axes[1], **names)
plots.matrix(wanted[1], "head 1, as wanted", axes=axes[2], columns=["3", "4", "5"], **names)
plots.matrix(wrong[0, 0], "head 0, only reshaped", axes=axes[3],
             row_label="row", column_label="number in the head", digits=0, limits=(0, 40))
plots.show(figure, "Four matrices. Head 0 as wanted holds 0, 1, 2 in its first row "
           "and 10, 11, 12 in its second. Only reshaped, it holds 0, 1, 2 and then 3, 4, 5: "
           "both rows are token 0, and the tokens 2 and 3 are in the other head.")

# %% [markdown]
# The right-hand picture has the right shape, and torch does not complain. But its row 1 is not token 1. Head 0 never sees
# the second half of the sentence, and for a causal model the mask of row 1 is put on numbers of token 0. Nothing stops such a model from running. No
# check of shapes finds the mistake, only looking at the numbers does.
#
# A reshape never changes the order of the numbers: it cuts the same long row of numbers in another way. So it can cut the last axis in two,
# `(b, n, h, d/h)`. To exchange two axes you need a transpose.

# %% exercise="split_heads"
def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Returns the heads `(b, h, n, d/h)` of a tensor `(b, n, d)`.

    Head 0 holds the first d/h numbers of each token, head 1 the next d/h, and so on.
    There are always four axes, also where one of them is 1. Gradients must pass through it.

    Example: in split_heads(tensor([[[0, 1, 2, 3], [4, 5, 6, 7]]]), 2), head 0 is [[0, 1], [4, 5]].
    """
    ### BEGIN SOLUTION
    b, n, d = x.shape
    pieces = x.reshape(b, n, n_heads, d // n_heads)  # the last axis is cut, nothing has moved
    return pieces.transpose(1, 2)  # (b, h, n, d/h)
    ### END SOLUTION


# %% [markdown]
# And the way back: the heads of each token stand side by side again.

# %% exercise="merge_heads"
def merge_heads(x: Tensor) -> Tensor:
    """Returns heads `(b, h, n, d/h)` merged to `(b, n, d)`: merge_heads(split_heads(x, h)) is x again.

    There are always three axes, also where one of them is 1. Gradients must pass through it.
    """
    ### BEGIN SOLUTION
    b, h, n, width = x.shape
    return x.transpose(1, 2).reshape(b, n, h * width)  # (b, n, h, d/h), then the last two axes become one
    ### END SOLUTION


# %% experiment
# @title Split and merged again: is it the same?
torch.manual_seed(0)
x = torch.randn(2, 5, 12)
for h in (1, 2, 3, 4, 6, 12):
    there = split_heads(x, h)
    print(f"h = {h:2}: {tuple(there.shape)}, "
          f"there and back is the same: {torch.equal(merge_heads(there), x)}")

# %% [markdown]
# ## 6. Exercise: multi-head attention
#
# You have all the parts. What is new are four linear layers, each from width $d$ to width $d$. (`nn.Linear` acts on the **last axis only**. Of `(b, n, d)` it takes the $d$ numbers of each token, multiplies them by the same matrix, and leaves the other axes as they are. So one layer
# serves batches and sentences of any size, and no token learns anything of another one in it: tokens meet in the weights of attention, and nowhere else.)
#
# - `query`, `key` and `value` decide what a token asks, what it can be found by, and what it gives;
# - `output` comes last, on the merged heads. It is the only place where the numbers of different heads meet.
#
# One matrix `query` serves all heads: its first $d/h$ outputs are the query of head 0, the next $d/h$ that of head 1, and so on.
# So **the number of parameters does not depend on the number of heads**.
#
# Who asks and who answers may be different sentences (section 10). So the module takes two inputs: the tokens `x` that ask, and the
# tokens `source` that are read. Self-attention is `attention(x, x)`.

# %% exercise="MultiHeadAttention"
class MultiHeadAttention(nn.Module):
    """Multi-head attention: `attention(x, source, mask)`.

    Its only parameters are four layers nn.Linear(d_model, d_model) called query, key, value and output.
    No dropout.
    """

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)
        ### END SOLUTION

    def forward(self, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
        """Returns `(b, n, d)`: what each token of `x` `(b, n, d)` reads in `source` `(b, m, d)`.

        The mask is added to the scaled scores `(b, h, n, m)`;
        it is `(n, m)`, or `(b, 1, 1, m)` for padding, or None. It may hold finite numbers, too.
        """
        ### BEGIN SOLUTION
        query = split_heads(self.query(x), self.n_heads)  # (b, h, n, d/h)
        key = split_heads(self.key(source), self.n_heads)  # (b, h, m, d/h)
        value = split_heads(self.value(source), self.n_heads)  # (b, h, m, d/h)
        mixed, _ = scaled_dot_product_attention(query, key, value, mask)  # (b, h, n, d/h)
        return self.output(merge_heads(mixed))  # (b, n, d)
        ### END SOLUTION


# %% [markdown]
# ### Equal to torch's, with the same weights
#
# torch's `nn.MultiheadAttention` keeps the matrices of query, key and value in one tall matrix. Copy yours into it:

# %% experiment
# @title With the same weights, is yours equal to torch's?
torch.manual_seed(0)
yours = MultiHeadAttention(d_model=24, n_heads=3)
theirs = nn.MultiheadAttention(embed_dim=24, num_heads=3, batch_first=True)
with torch.no_grad():
    parts = [yours.query, yours.key, yours.value]
    theirs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))  # (3d, d)
    theirs.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))  # (3d,)
    theirs.out_proj.load_state_dict(yours.output.state_dict())

x, source = torch.randn(2, 5, 24), torch.randn(2, 7, 24)
same = torch.allclose(yours(x, source), theirs(x, source, source, need_weights=False)[0], atol=1e-5)
print("equal to nn.MultiheadAttention:", same)

# %% [markdown]
# > **In practice: the mask as a buffer.** Yours is handed its mask in each call. In much code, such as minGPT and the models of Stanford's CS224N that are made from it, the causal mask lives in the module, with 1 for "may look", for the longest text that there can be:
# > ```python
# > square = torch.tril(torch.ones(max_len, max_len))
# > self.register_buffer("mask", square.view(1, 1, max_len, max_len))  # in the constructor
# > scores = scores.masked_fill(self.mask[:, :, :n, :n] == 0, -math.inf)  # in forward
# > ```
# > The two axes of size 1 stand for sentence and head: one square serves them all. A shorter text cuts out its upper left corner.
# >
# > Why a *buffer* (notebook 02)? It moves to the GPU with the model, and no training changes it. A plain attribute would stay behind; a parameter would be trained.
#
# ### Equal to separate small heads
#
# And here is what "heads" means, without any splitting: three little attentions, each with the rows of the matrices that belong to
# it, and their outputs side by side. Read `one_head`: it knows nothing of the other heads.

# %% experiment open=true
def one_head(attention: nn.Module, x: Tensor, source: Tensor, rows: slice) -> Tensor:
    """Returns the output of one head alone, `(b, n, d/h)`, from its rows of the three matrices."""
    query, key, value = (
        nn.functional.linear(tokens, layer.weight[rows], layer.bias[rows])  # (b, n, d/h)
        for layer, tokens in ((attention.query, x), (attention.key, source), (attention.value, source))
    )
    return scaled_dot_product_attention(query, key, value)[0]


heads = [one_head(yours, x, source, slice(first, first + 8)) for first in (0, 8, 16)]
print("three heads side by side:",
      torch.allclose(yours.output(torch.cat(heads, dim=-1)), yours(x, source), atol=1e-5))
for h in (1, 2, 3, 4, 6):
    print(f"h = {h}: {sum(p.numel() for p in MultiHeadAttention(24, h).parameters())} parameters")

# %% [markdown] pause
# You have built multi-head attention, and it agrees with PyTorch's. Next you see what several heads are good for, and put your attention into the layers of an encoder and of a decoder.

# %% [markdown]
# ## 7. What several heads can do
#
# Same parameters, same matrix products. (Not quite the same work: there are $h$ tables of weights in place of one, so the softmax and the memory for the weights grow with $h$.) Then what are several heads good for? Let a model answer **three questions at once** about every word of a
# sentence:
#
# 1. which word stands *before* it?
# 2. which word stands *after* it?
# 3. what is the *verb* of the sentence?
#
# The model is as small as can be: words and positions, one attention, and a linear layer that reads the three answers
# from its output. It trains on eight words drawn by chance with one verb somewhere among them. (They are not sentences: if they were, it could guess
# from grammar in place of looking.)

# %% experiment
# @title The words and the task: defines draw_sentences
others = ["le", "un", "mon", "ce", "chat", "chien", "oiseau", "renard", "facteur", "voisin"]
others += ["noir", "blanc", "petit", "jeune", "calme", "souvent"]
vocabulary = [*others, "regarde", "suit", "cherche", "entend"]  # the verbs come last
first_verb = len(others)


def draw_sentences(count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Returns tokens `(count, 8)` and the three answers for the six inner words, `(count, 6, 3)`."""
    tokens = torch.randint(first_verb, (count, 8), generator=generator)
    position = torch.randint(8, (count, 1), generator=generator)
    verb = torch.randint(first_verb, len(vocabulary), (count, 1), generator=generator)
    tokens = tokens.scatter(1, position, verb)  # the verb, put at its position
    return tokens, torch.stack([tokens[:, :-2], tokens[:, 2:], verb.expand(-1, 6)], dim=-1)


# %% experiment
# @title The model: defines Reader
class Reader(nn.Module):
    """Words and positions, one self-attention, and three answers for each inner word, `(b, 6, 3, V)`."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(vocabulary), d_model)
        self.reading = MultiHeadAttention(d_model, n_heads)
        self.answers = nn.Linear(d_model, 3 * len(vocabulary))

    def embed(self, tokens: Tensor) -> Tensor:
        """Returns words plus positions, `(b, n, d)`."""
        return self.embedding(tokens) + sinusoids(8, self.embedding.embedding_dim)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)  # (b, 8, d)
        return self.answers(self.reading(x, x))[:, 1:-1].unflatten(-1, (3, -1))


# %% experiment
# @title The training: defines train_reader
def train_reader(n_heads: int, seed: int, steps: int = 400) -> Reader:
    """Returns a reader of width 24 trained on fresh sentences."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    reader = Reader(24, n_heads)
    optimizer = torch.optim.Adam(reader.parameters(), lr=0.01)
    for _ in range(steps):
        tokens, answers = draw_sentences(64, generator)
        loss = nn.functional.cross_entropy(reader(tokens).flatten(0, 2), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return reader


# %% experiment
# @title The test: defines accuracies
@torch.no_grad()
def accuracies(reader: Reader) -> list[float]:
    """Returns the share of right answers to each of the three questions, on 500 new sentences."""
    tokens, answers = draw_sentences(500, torch.Generator().manual_seed(99))
    return (reader(tokens).argmax(dim=-1) == answers).float().mean(dim=(0, 1)).tolist()


# %% [markdown]
# One head or several, three runs each. All of them have the same number of parameters. How often will the single head be right about the word *before* (0 to 1)?

# %% guess
guess("the accuracy of one head on the word before", ...)

# %% measured
# @title Three questions, one attention: accuracy with 1 to 6 heads
import sys

from tqdm import tqdm

head_counts = [1, 2, 3, 4, 6]
readers = {h: [train_reader(h, seed) for seed in range(3)] for h in tqdm(head_counts, file=sys.stdout)}
results = torch.tensor([[accuracies(reader) for reader in readers[h]] for h in head_counts])  # (5, runs, 3)
lines = {name: results[:, :, index].T for index, name in enumerate(("word before", "word after", "verb"))}
axes = plots.curves(
    lines, head_counts, title="Three questions, one attention of width 24 (band: 3 runs)",
    x_label="number of heads", y_label="accuracy",
)
axes.set_ylim(0, 1.05)
axes.set_xticks(head_counts)
plots.show(axes.figure, plots.describe_curves(lines, head_counts, "heads", digits=2))

# %% reveal
reveal("the accuracy of one head on the word before", results[0, :, 0].mean())

# %% [markdown]
# The single head gets the verb right, and of *before* and *after* it gets one well and the other badly, or both half. This is not for lack of
# parameters: all the models have the same number.
#
# A single head has one set of weights for each word, so its output is one average of the words it looks at. If it looks at the word before and at the
# word after, both are in the average, but nothing in a linear reading says which was which. (The verb it
# can tell apart: only verbs are answers to question 3.)
#
# With three heads, each question can have a set of weights of its own, and all
# are answered. (With two heads nearly all are: the verb can share a head with a neighbour, since it can be told apart.) **A head is a place to put one average.**
#
# ### The maps of the heads, on a French sentence
#
# Now give a trained reader with three heads a real sentence made of its words, and look at the weights of each head.
# This tiny model was trained on three questions that we chose; that its heads divide the work so clearly is no proof that the
# heads of a large model do.

# %% measured
# @title Where each of three heads looks, in one French sentence
@torch.no_grad()
def head_maps(reader: Reader, tokens: Tensor) -> Tensor:
    """Returns the weights of each head, `(b, h, n, n)`."""
    x = reader.embed(tokens)
    query, key = split_heads(reader.reading.query(x), 3), split_heads(reader.reading.key(x), 3)
    return scaled_dot_product_attention(query, key, key)[1]  # only the weights: any value will do


sentence = ["le", "chien", "noir", "regarde", "souvent", "un", "oiseau", "blanc"]
tokens = torch.tensor([[vocabulary.index(word) for word in sentence]])  # (1, 8)
maps = head_maps(readers[3][0], tokens)[0]  # (3, 8, 8)

figure, axes = plots.panels(3, width=3.7, height=3.7)
for number in range(3):
    plots.matrix(maps[number], f"head {number}", rows=sentence, columns=sentence,
                 axes=axes[number], limits=(0, 1))
inner = range(1, 7)
shares = {"before": maps[:, inner, range(6)], "after": maps[:, inner, range(2, 8)],
          "verb": maps[:, inner, 3]}
told = "\n".join(f"{name:6} {[round(share, 2) for share in each.mean(dim=-1).tolist()]}"
                 for name, each in shares.items())
told = ("mean weight that head 0, head 1 and head 2 put on "
        f"the word before, the word after and the verb:\n{told}")
plots.show(figure, told)
print(told)

# %% [markdown]
# Read a map row by row: the word on the left looks at the words below. A line beside the diagonal is a head that looks one token back or one token on: it goes by
# *position*. A full column under *regarde* is a head that looks for the verb, wherever it is: it goes by *content*.
#
# Large trained models have such heads, too. [Voita et al. (2019)](https://arxiv.org/abs/1905.09418), section 5, find heads for neighbours, for syntax and for rare words in a translation model, and show that most of
# the others can be removed with little loss. What a head looks at is a hint, not an explanation.
#
# ### Essay: why several heads?
#
# In 6 to 10 sentences, in English or in French: why does a Transformer have several heads, and not one wide one? Say what a single head cannot do, and use the
# experiment above. Say what more heads cost, in parameters and in the width of a head. And why not as many heads as there are numbers, $h = d$?

# %% [markdown] essay="heads_essay"
# **Rubric** (half a point each)
# - One softmax gives one set of weights and hence one average per token; several heads look at several positions (or for several
#   things) at the same time and keep what they find apart. "More heads attend to more words" is not enough: one head can put weight on many words.
# - The experiment: one head cannot answer *before* and *after* for the same word, because both lie in one average and cannot be told apart;
#   with three heads each question has its own.
# - Cost: the parameters do not change (four d x d matrices), nor does the number of multiplications of the projections; each head gets narrower, d/h.
# - Why not h = d: a head of width 1 compares by a single product, queries and keys can then express very little
#   (Bhojanapalli et al. 2020 call it the low-rank bottleneck); and in practice many heads can be pruned.
#
# Costs marks: "each head has its own d x d matrices"; "heads are there to make it faster"; "each head learns a fixed linguistic role" as a
# general fact; confusing heads with layers.
#
# **Answers as students write them**
#
# - *Full marks (2 of 2)*: "One head makes one softmax for each token, so one set of weights and one average: what it finds at two positions is mixed.
#   Three heads can look at three positions at the same time and hand on what they find side by side. In the experiment one head is right for the word
#   before in 52 % and for the word after in 53 %, though for the verb in all cases: both neighbours lie in the same average and it cannot say which
#   was which. With three heads, head 1 looks back (0.68), head 2 looks on (0.62) and head 0 at the verb. More heads do not cost parameters, as there
#   are four d x d matrices for any h (2,400 at d = 24), but each head gets narrower, d/h. With h = d each query and each key is a single number, and
#   a product of two numbers can say very little about whom to look at." Why: All four lines, with the numbers of the experiment and of the count.
# - *Half (1 of 2)*: "With one head there is only one softmax and so one average for each word; several heads give several averages, which stay apart.
#   The experiment shows this: with one head the word before and the word after are right in about half of the cases only, because both are mixed in
#   one average, and with more heads they are right. Each head has its own three d x d matrices, so 3 heads cost three times the parameters. That is
#   why one does not take as many heads as there are numbers: the model would get too big." Why: The first two lines (1). The cost is the first
#   misconception (the four d x d matrices are shared out, the count does not change; 0.5 lost), and the reason against h = d follows from it and is
#   wrong: it is the width of 1 (0.5 lost).
# - *No marks (0 of 2)*: "Several heads are better because more heads can attend to more words at the same time. One head finds the subject, another
#   the verb, a third the object, so each head has its fixed role in the grammar. They also run in parallel, which makes the model faster than one
#   wide head. With too many heads there would not be enough roles for all of them." Why: "more heads attend to more words" is not enough by the
#   rubric's first line, since one head can put weight on many words. Fixed roles and speed are misconceptions; neither the experiment nor a cost is
#   named, and the reason against h = d is invented.

# %% [markdown]
# ## 8. The encoder layer
#
# Attention moves information between tokens. By itself it cannot be stacked.
#
# ### The mistake first: attention on attention
#
# Stack 12 attentions, each with fresh weights, and normalise after each. How alike do ten random tokens become? We measure the mean cosine between
# different tokens: 0 for unrelated vectors, 1 for equal ones. Once each attention *replaces* the tokens, once it is *added* to them, and once it is added with larger first weights.
#
# How alike will they be at the end, where attention replaces them? Write a mean cosine, from 0 to 1.

# %% guess
guess("the mean cosine after 12 attentions that replace the tokens", ...)

# %% experiment
# @title How alike ten tokens become on their way through 12 attentions
def alike(x: Tensor) -> float:
    """Returns the mean cosine between different tokens of one sentence `(1, n, d)`."""
    directions = nn.functional.normalize(x[0], dim=-1)  # (n, d), all of length 1
    cosines = directions @ directions.T  # (n, n)
    return (cosines.sum() - cosines.trace()).item() / (cosines.numel() - len(cosines))


@torch.no_grad()
def through_depth(residual: bool, make=MultiHeadAttention) -> list[float]:
    """Returns how alike the tokens are before the first and after each of 12 attentions."""
    torch.manual_seed(0)
    x, result = torch.randn(1, 10, 64), []
    for _ in range(12):
        result.append(alike(x))
        read = make(64, 4)(x, x)
        x = nn.functional.layer_norm(x + read if residual else read, (64,))
    return [*result, alike(x)]


def larger(d_model: int, n_heads: int) -> nn.Module:
    """Returns your attention with larger first weights (Xavier), as the models in `helpers` have."""
    attention = MultiHeadAttention(d_model, n_heads)
    for matrix in (p for p in attention.parameters() if p.dim() == 2):
        nn.init.xavier_uniform_(matrix)
    return attention


cosines = {"replaced: attention(x)": through_depth(False), "added: x + attention(x)": through_depth(True),
           "added, larger first weights": through_depth(True, larger)}
axes = plots.curves(cosines, range(13), title="Ten tokens on their way up",
                    x_label="attentions passed", y_label="mean cosine")
plots.show(axes.figure, plots.describe_curves(cosines, range(13), "attention", digits=2))

# %% reveal
reveal("the mean cosine after 12 attentions that replace the tokens", cosines["replaced: attention(x)"][-1])

# %% [markdown]
# After two attentions that *replace* the tokens, all tokens are nearly the same vector: averages of averages. [Dong et al. (2021)](https://arxiv.org/abs/2103.03404) prove that this happens doubly exponentially fast.
#
# A remedy is the **residual**: add what was read to what was there, $x + \text{attention}(x)$. The token keeps a part of itself and takes up something of the others.
#
# How large a part it keeps decides how long that helps. With the small first weights of `nn.Linear`, what is added is small, and in our run the cosine after 12 attentions is about 0.3. With larger first weights the same residual only slows the collapse down:
# the tokens end nearly as alike as without it. Dong et al. prove their theorem for attention *without* residuals; what deep stacks with residuals do is taken up in notebook 12.
#
# The second remedy is the **norm**. If something is added in every layer, the numbers grow. `nn.LayerNorm` takes each token by itself,
# subtracts the mean of its $d$ numbers and divides by their standard deviation; then it multiplies each of the $d$ by a learned
# number, at first 1, and adds another one, at first 0. By hand: $(1, 3)$ has mean 2 and standard deviation 1, so it becomes $(-1, 1)$.
#
# The third part is the **feed-forward** network: two linear layers with a ReLU in between, which makes 0 of each negative number. It is the same for every token. Attention
# moves information between tokens; feed-forward works on it, token by token (Vaswani et al. 2017, 3.3).
#
# (Is it an *MLP*, a *multilayer perceptron*? Yes, a small one, and many programs call it `mlp`. BERT and GPT-2 have another function in place of the ReLU, the *GELU*, which is smooth at 0.) Here it is, ready to use:

# %% setup
class FeedForward(nn.Sequential):
    """Two linear layers with a ReLU in between, `(b, n, d)` to `(b, n, d)`, for each token by itself."""

    def __init__(self, d_model: int, d_feedforward: int) -> None:
        hidden, output = nn.Linear(d_model, d_feedforward), nn.Linear(d_feedforward, d_model)
        super().__init__(OrderedDict(hidden=hidden, activation=nn.ReLU(), output=output))


class SpareAttention(Attention):
    """A spare part: multi-head attention from helpers, called like yours and with the same names."""

    def forward(self, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
        """Returns `(b, n, d)` for `x` `(b, n, d)` and `source` `(b, m, d)`."""
        return super().forward(x, Context(memory=source, memory_mask=mask), cross=True)

# %% [markdown]
# (If your `MultiHeadAttention` is not right yet, use `SpareAttention` in its place. It costs no marks here.)
#
# ### What your layers leave out: dropout
#
# `nn.Dropout(p)` sets each number to 0 with probability $p$ and divides the others by $1 - p$, so that their mean stays. It does so in training; after `model.eval()` it does nothing:

# %% experiment
# @title What dropout does to 100,000 ones, in training and in evaluation
torch.manual_seed(0)
drop, ones = nn.Dropout(0.1), torch.ones(100_000)
for mode in ("train", "eval"):
    kept = drop.train(mode == "train")(ones)
    print(f"{mode:5}: {(kept == 0).float().mean():5.1%} of the numbers are 0, "
          f"the others {kept.max():.3f}, mean {kept.mean():.3f}")

# %% [markdown]
# No number can rely on one particular other number, which makes it harder to learn a training set by heart. (What works against that is called *regularisation*.)
#
# In the paper of 2017 (section 5.4, $p = 0.1$) it acts on the **output of each part**, before that is added to the residual, and on the sum of word and position; so it does in the models of `helpers/models.py`.
# GPT ([Radford et al. 2018](https://cdn.openai.com/research-covers/language-unsupervised/language_understanding_paper.pdf), section 4.1), BERT and many models made after them drop **attention weights** as well, after the softmax: for this one step a token then cannot look at some of its words, and a row of weights no longer sums to exactly 1.
#
# Your layers have no dropout, because then they can be compared with others number for number. A model with dropout that is left in
# training mode gives another answer each time: `model.eval()` comes before every measurement.
#
# (One more thing that `helpers/models.py` does and this notebook does not show: it multiplies the embedding by $\sqrt{d}$, as section 3.4 of the paper says. Words start with variance $1/d$ there, and would otherwise be drowned out by the positions, whose numbers lie between $-1$ and 1.)
#
# ### Where does the norm go?
#
# There are two answers, and both are in use:
#
# - **post-norm**, as in the paper of 2017: $\operatorname{norm}(x + \text{part}(x))$. The norm stands on the path of the residual; what leaves a layer always has the same size.
# - **pre-norm**, as in GPT-2 (Radford et al. 2019, 2.3) and most large models since: $x + \text{part}(\operatorname{norm}(x))$. The path of the residual is free from the
#   bottom to the top, nothing stands on it.
#
# An encoder layer does it twice: first with attention as the part, then with feed-forward. Each has a norm of its own.

# %% exercise="EncoderLayer"
class EncoderLayer(nn.Module):
    """An encoder layer: self-attention, then feed-forward, each with residual and norm.

    Its parts are called attention, attention_norm, feed_forward and feed_forward_norm:
    a MultiHeadAttention (or SpareAttention), an nn.LayerNorm(d_model), a FeedForward
    and another nn.LayerNorm(d_model). No dropout.

    Args of the constructor:
        norm_first: False for post-norm, norm(x + part(x)); True for pre-norm, x + part(norm(x)).
    """

    def __init__(self, d_model: int, n_heads: int, d_feedforward: int, norm_first: bool = False) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_feedforward)
        self.feed_forward_norm = nn.LayerNorm(d_model)
        ### END SOLUTION

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Returns `(b, n, d)` for `x` `(b, n, d)`; the mask is handed on to the attention as it is."""
        ### BEGIN SOLUTION
        if self.norm_first:
            normal = self.attention_norm(x)
            x = x + self.attention(normal, normal, mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        return self.feed_forward_norm(x + self.feed_forward(x))
        ### END SOLUTION


# %% [markdown]
# The names of your parts are those of `helpers.models.Layer`, so its weights fit into your layer, and the two must agree:

# %% experiment
# @title With the same weights, is your layer equal to that of helpers?
x = torch.randn(2, 5, 24, generator=torch.Generator().manual_seed(1))
for norm_first in (False, True):
    ready = Layer(24, 3, 48, dropout=0.0, pre=norm_first, cross=False)
    layer = EncoderLayer(24, 3, 48, norm_first)
    layer.load_state_dict(ready.state_dict())
    print(f"norm_first={norm_first}: equal to the layer in helpers:",
          torch.allclose(layer(x), ready(x, Context()), atol=1e-5))

# %% [markdown]
# ### Post-norm and pre-norm, seen from inside
#
# Twelve layers of each kind, untrained. Left: how large the numbers of a token are on the way up. Right: how large the
# gradients are that come down from a loss at the top (of the output matrix of each feed-forward part).

# %% experiment
# @title The measurement: defines inside
def inside(norm_first: bool) -> tuple[list[float], list[float]]:
    """Returns the size of a token's numbers above each of 12 layers, and of each layer's gradient."""
    torch.manual_seed(0)
    layers = [EncoderLayer(64, 4, 256, norm_first) for _ in range(12)]
    for matrix in (p for layer in layers for p in layer.parameters() if p.dim() == 2):
        nn.init.xavier_uniform_(matrix)
    head, x, sizes = nn.Linear(64, 20), torch.randn(16, 10, 64), []
    for layer in layers:
        x = layer(x)
        sizes.append(x.detach().pow(2).mean().sqrt().item())
    x = nn.functional.layer_norm(x, (64,))  # pre-norm models need one more norm at the end
    nn.functional.cross_entropy(head(x).flatten(0, 1), torch.randint(20, (160,))).backward()
    return sizes, [layer.feed_forward.output.weight.grad.norm().item() for layer in layers]


# %% experiment
# @title Size of the tokens and of the gradients, layer by layer
found = {"post-norm": inside(False), "pre-norm": inside(True)}
figure, axes = plots.panels(2, width=4.2)
titles = {"size of a token's numbers": "root of the mean square",
          "gradient of each layer": "norm of the gradient"}
for which, (title, label) in enumerate(titles.items()):
    lines = {name: values[which] for name, values in found.items()}
    plots.curves(lines, range(1, 13), title=title, x_label="layer", y_label=label, axes=axes[which])
    axes[which].set_ylim(bottom=0)
plots.show(figure, " ".join(
    plots.describe_curves({k: v[i] for k, v in found.items()}, range(1, 13), "layer", 2) for i in (0, 1)
))

# %% [markdown]
# Post-norm keeps the tokens at size 1 and has its largest gradients near the top; in pre-norm the numbers grow and the
# gradients are largest at the bottom. [Xiong et al. (2020)](https://arxiv.org/abs/2002.04745) explain with this why deep post-norm models need a *learning rate*, the size of a training step, that starts small
# (*warm-up*) and pre-norm models hardly do. You meet it again in notebook 12.
#
# ## 9. The encoder
#
# An encoder is a stack of such layers: the output of one is the input of the next. (Ours is post-norm. A pre-norm encoder gets one more norm at the top.)
# `SpareEncoderLayer` is your spare part, in case your own `EncoderLayer` is not right yet.

# %% setup
class SpareEncoderLayer(Layer):
    """A spare part: the encoder layer from helpers, called like yours and with the same names."""

    def __init__(self, d_model: int, n_heads: int, d_feedforward: int, norm_first: bool = False) -> None:
        super().__init__(d_model, n_heads, d_feedforward, 0.0, norm_first, False)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Returns `(b, n, d)` for `x` `(b, n, d)`."""
        return super().forward(x, Context(mask=mask))

# %% [markdown]
# > **The mistake first.** A token is hidden by the mask. It suffices to hide it in the first layer, doesn't it? After that it has not been seen by anybody.
#
# It does not. Layer 1 does not delete the hidden token, it only stops others from reading it. The token itself goes up like all the others, and layer 2 reads it. Here is what
# a change of the *last* of five tokens does to the four tokens before it, with a causal mask in both layers or in the first one only:

# %% experiment
# @title What a change of the last token does to the four before it
torch.manual_seed(0)
first, second = EncoderLayer(16, 2, 32), EncoderLayer(16, 2, 32)
future = torch.full((5, 5), -torch.inf).triu(1)  # the causal mask of notebook 01
before, after = torch.randn(2, 1, 5, 16)
after[:, :4] = before[:, :4]  # the two sentences differ in their last token only

with torch.no_grad():
    for name, upper_mask in {"both layers": future, "the first layer only": None}.items():
        # (1, 5, d)
        change = second(first(before, future), upper_mask) - second(first(after, future), upper_mask)
        print(f"mask in {name}: the first four tokens change by {change[:, :4].abs().max().item():.3f}")

# %% [markdown]
# So every layer gets the mask. Here is the whole stack, ready to use: read it, it is short. Its layers lie in an `nn.ModuleList`: in a plain Python list torch would not find them, and their parameters would not train, not
# move to the GPU and not be saved.

# %% experiment open=true
class Encoder(nn.Module):
    """A stack of n_layers encoder layers (post-norm), each with weights of its own."""

    def __init__(self, d_model: int, n_heads: int, d_feedforward: int, n_layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(d_model, n_heads, d_feedforward) for _ in range(n_layers))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Returns `(b, n, d)`: each layer reads what the one before has made, with the mask."""
        for layer in self.layers:
            x = layer(x, mask)
        return x


encoder = Encoder(16, 2, 32, n_layers=3)
print("out of three layers:", tuple(encoder(before, future).shape), "with",
      sum(part.numel() for part in encoder.parameters()), "parameters")

# %% [markdown]
# ## 10. Exercise: the decoder layer
#
# To translate, a model reads an English sentence of $m$ tokens and writes a French one of $n$ tokens. The **encoder** reads: what comes out at its
# top, $(b, m, d)$, is called the **memory**. The **decoder** writes. Its layers have three parts:
#
# | part | who asks (queries) | who answers (keys, values) | mask |
# |---|---|---|---|
# | self-attention | the words written so far | the same words | causal |
# | **cross-attention** | the words written so far | the memory | padding of the source |
# | feed-forward | | | |
#
# > **The mistake first.** Which of the two asks? Try it the wrong way round and look at the shapes: 4 French words so far, 7 English ones.

# %% experiment open=true
written, memory = torch.randn(1, 4, 24), torch.randn(1, 7, 24)
cross_attention = SpareAttention(24, 3)
print("the decoder asks, the memory answers:", tuple(cross_attention(written, memory).shape))
print("the memory asks, the decoder answers:", tuple(cross_attention(memory, written).shape))

# %% [markdown]
# There must be one result for each word of the decoder, so that it can be added to that word: the decoder asks. The shape tells you, except where both sentences happen
# to have the same length. Then the wrong way runs and learns something else.
#
# In pre-norm, each part's norm is put on the decoder's `x` only. The memory is taken as it is: it comes from the encoder, which has normalised it.

# %% exercise="DecoderLayer"
class DecoderLayer(nn.Module):
    """A decoder layer: self-attention, cross-attention, feed-forward, each with residual and norm.

    Its parts are called attention, attention_norm, cross_attention, cross_attention_norm, feed_forward and
    feed_forward_norm, made as those of EncoderLayer. No dropout.

    Args of the constructor:
        norm_first: False for post-norm, norm(x + part(x)); True for pre-norm, x + part(norm(x)).
    """

    def __init__(self, d_model: int, n_heads: int, d_feedforward: int, norm_first: bool = False) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.attention_norm = nn.LayerNorm(d_model)
        self.cross_attention = MultiHeadAttention(d_model, n_heads)
        self.cross_attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_feedforward)
        self.feed_forward_norm = nn.LayerNorm(d_model)
        ### END SOLUTION

    def forward(
        self, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
    ) -> Tensor:
        """Returns `(b, n, d)` for the decoder's `x` `(b, n, d)` and the encoder's `memory` `(b, m, d)`.

        `mask`, `(n, n)`, is for self-attention; `memory_mask`, `(b, 1, 1, m)`, for cross-attention.
        Each may be None, and each is handed on as it is.
        """
        ### BEGIN SOLUTION
        if self.norm_first:
            normal = self.attention_norm(x)
            x = x + self.attention(normal, normal, mask)
            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
        return self.feed_forward_norm(x + self.feed_forward(x))
        ### END SOLUTION


# %% experiment
# @title With the same weights, is your decoder layer equal to that of helpers?
x, memory = torch.randn(2, 2, 5, 24, generator=torch.Generator().manual_seed(2))
future = torch.full((5, 5), -torch.inf).triu(1)
for norm_first in (False, True):
    ready = Layer(24, 3, 48, dropout=0.0, pre=norm_first, cross=True)
    layer = DecoderLayer(24, 3, 48, norm_first)
    layer.load_state_dict(ready.state_dict())
    same = torch.allclose(layer(x, memory, future),
                          ready(x, Context(mask=future, memory=memory)), atol=1e-5)
    print(f"norm_first={norm_first}: equal to the layer in helpers:", same)

# %% [markdown]
# ### The encoder runs once
#
# At inference a decoder writes word by word, and each new word is another run of the decoder. The source sentence does not change in the meantime, and nothing
# in the encoder looks at the words written. So the memory is the same at every step: compute it **once per batch** and keep it. Here 20 words are
# written in both ways, and a counter sits on the encoder.

# %% experiment
# @title How often the encoder runs for 20 words, and whether they are the same
torch.manual_seed(0)
translator = EncoderDecoder(50, 50, d_model=64, n_layers=2, n_heads=4).eval()
runs = []
translator.encoder.register_forward_hook(lambda module, inputs, output: runs.append(1))
source = torch.randint(50, (1, 12))  # one sentence of 12 tokens; the model is untrained


@torch.no_grad()
def write(steps: int, once: bool) -> Tensor:
    """Returns the tokens written, `(1, steps + 1)`,
    with one run of the encoder or with one for each step."""
    target = torch.zeros(1, 1, dtype=torch.long)
    context = translator.encode(source) if once else None
    for _ in range(steps):
        logits = translator.decode(target, context) if once else translator(source, target)  # (1, n, V)
        target = torch.cat([target, logits[:, -1:].argmax(dim=-1)], dim=1)
    return target


texts = {}
for once in (False, True):
    runs.clear()
    texts[once] = write(20, once)
    print("memory kept:  " if once else "memory remade:", len(runs), "runs of the encoder for 20 words")
print("the same words:", torch.equal(texts[False], texts[True]))

# %% measured
# @title The time for 20 words, memory kept or made anew
from time import perf_counter

for once in (False, True):
    start = perf_counter()
    for _ in range(5):
        write(20, once)
    print("memory kept:  " if once else "memory remade:",
          f"{200 * (perf_counter() - start):.0f} ms for 20 words")

# %% [markdown]
# The gain in time is small here, since the decoder runs 20 times in both ways; it grows with the length of the source.
#
# ### The whole model
#
# You have built all of it. Here is the Transformer of 2017 as one picture, with your layers in the two frames, $M$ of each. The lines around the coloured parts are the residuals; in *add, norm* they meet what the part has made, $\operatorname{norm}(x + \text{part}(x))$.
#
# It is an *encoder-decoder*. Without the left column and the cross-attention, the right one is a language model (notebook 04), which is called *decoder-only*. The left one alone, with an output layer on it, is BERT (notebook 07), *encoder-only*.
#
# (Such an output layer is also called a *head*; it has nothing to do with the heads of attention. Here it gives each token $V$ scores, one for each word: the `logits` of the picture.)

# %% experiment
# @title The drawing: defines draw_column
from helpers.diagrams import Diagram

KINDS = {"self-attention": "attention", "causal self-attention": "attention",
         "cross-attention": "attention", "feed-forward": "part", "head: d to V": "part"}


def draw_column(picture: Diagram, x: float, texts: list[str]) -> list[str]:
    """Draws boxes from bottom to top, a residual around each part, and returns their names."""
    names = [f"{text}, box {index} at {x}" for index, text in enumerate(texts)]
    boxes = [(name, text, KINDS.get(text, "data")) for name, text in zip(names, texts)]
    picture.column(x, 0.62, boxes, step=0.55, width=1.42)
    for before, after, text in zip(names, names[2:], texts[2:]):
        if text == "add, norm":  # what a part has made is added to what went into it
            picture.around(before, after, reach=0.86)
    return names

# %% experiment
# @title The Transformer of 2017, from bottom to top
picture = Diagram(4.2, 6.0)
encoder = draw_column(picture, 0.95, ["source (b, m)", "embed + position", "self-attention",
                                      "add, norm", "feed-forward", "add, norm", "memory (b, m, d)"])
decoder = draw_column(picture, 3.1, ["target so far (b, n)", "embed + position",
                                     "causal self-attention", "add, norm", "cross-attention",
                                     "add, norm", "feed-forward", "add, norm", "head: d to V",
                                     "logits (b, n, V)"])
picture.frame(encoder[2:6], margin=0.2)
picture.frame(decoder[2:8], margin=0.2)
picture.arrow(encoder[-1], decoder[4])
picture.note((2.0, 3.55), "keys,\nvalues", ha="center")
for x, text in ((0.95, "encoder, M layers"), (3.1, "decoder, M layers")):
    picture.note((x, 0.22), text, ha="center", weight="bold")
picture.show(
    "Two columns, from bottom to top. Encoder: source, embedding and positions, then in each of M "
    "layers self-attention and feed-forward; around each leads a residual line to add, norm; the end "
    "is the memory. Decoder: the same with causal self-attention, with cross-attention between it "
    "and feed-forward, which reads keys and values from the memory, and with a head from d to V."
)

# %% [markdown]
# ## 11. What attention took the place of
#
# *Go further: no exercise depends on this section. Notebook 13 builds a recurrence and compares it with attention.*
#
# Before 2017 most such models were **recurrent**: a GRU or an LSTM reads one word after the other and keeps a state, $s_t = f(x_t, s_{t-1})$. For a batch it works on $(b, d)$ at each of $n$ steps, where attention works on $(b, n, d)$ at once.
# How long does a sentence take, forwards (its output) and backwards (the gradients)?

# %% measured
# @title Time for one sentence, attention and a GRU
torch.manual_seed(0)
attending = Layer(64, 4, 64, dropout=0.0, pre=True, cross=False)
recurrent = nn.GRU(64, 64, batch_first=True)
READERS = {"attention": lambda x: attending(x, Context(causal=True)), "GRU": lambda x: recurrent(x)[0]}


def milliseconds(read, n: int) -> float:
    """Returns the time of one sentence of n words, forwards and backwards: the shortest of seven."""
    times = []
    for _ in range(7):
        x, start = torch.randn(1, n, 64), perf_counter()
        read(x).sum().backward()
        times.append(1000 * (perf_counter() - start))
    return min(times)  # other programs only add to it


lengths = [16, 32, 64, 128, 256, 512]
times = {name: [milliseconds(read, n) for n in lengths] for name, read in READERS.items()}
axes = plots.curves(times, lengths, title="One sentence, forwards and backwards", x_label="words",
                    y_label="time (ms)", log_x=True, log_y=True)
plots.show(axes.figure, plots.describe_curves(times, lengths, "length", digits=2))

# %% [markdown]
# In our run the GRU's line lies above that of attention at each of these lengths: its steps wait for each other, and on a GPU with thousands of cores most of them would stand idle. This is one of the arguments of Vaswani et al. (2017, section 4) for leaving recurrence out. What was given up for it, in
# generation and in long texts, is the subject of notebook 13.

# %% [markdown] questions
# ## Three questions
#
# For yourself: open an answer to see whether it is right.
#
# 1. Why are scores divided by $\sqrt{d/h}$, the root of the width of a head?
#    - So that large gradients do not explode on their way down. => The danger is the opposite: a saturated softmax lets hardly any gradient through.
#    + So that their spread does not depend on the width. => A score is a sum of $d/h$ products; its standard deviation grows with the root of their number.
#    - So that the weights of a row sum to 1. => The softmax sees to that, with any scale.
# 2. A model of width 512 goes from 1 head to 8. What happens to its parameters?
#    - There are eight times as many: each head has matrices of its own. => Each head has its own *rows* of the same four matrices, which stay $512 \times 512$.
#    - There are fewer, since a head is narrower. => A head is narrower, and there are more of them: 8 times 64 is 512 again.
#    + Their number stays the same. => Four layers from $d$ to $d$, whatever $h$ is. What changes is how their outputs are cut.
# 3. What can several heads do that a single one cannot?
#    + Look at several positions and keep apart what they find. => Each head makes an average of its own; a single head mixes all it looks at.
#    - Put weight on more than one word at the same time. => A single head can: its softmax may spread over all words.
#    - Run faster than one, since all of them work in parallel. => There is no less work: the products are as many, and there are more softmaxes.

# %% [markdown]
# ## What to remember
#
# - Attention is a soft dictionary: scores are dot products of a query with all keys, the softmax makes weights of them, the
#   output is the weighted average of the values.
# - A score of a head is a sum of $d/h$ products, its variance is $d/h$: divide by the square root of it, the width of a *head*.
# - Transpose from the end, `transpose(-2, -1)`. Reshape cuts and joins axes, it never exchanges them: split and merge need both.
# - One head is one average. Several heads look at several positions at once, with the same parameters.
# - Residuals keep tokens themselves, norms keep them at one size; post-norm or pre-norm is where the norm stands. Every layer gets the mask.
# - In cross-attention the decoder asks and the memory answers; the encoder runs once per batch.
#
# **Go further**: Elhage et al. (2021), [A Mathematical Framework for Transformer
# Circuits](https://transformer-circuits.pub/2021/framework/index.html), take heads apart into what they look at and what they copy. In notebook 05 you count all of these
# parameters; in 08 you set queries and keys by hand; in 11 you translate.

# %% [markdown]
# ## What others call it
#
# - **scaled dot-product attention**: query times key over the root of their width, softmax, weighted sum of values.
# - **skip connection** (also *residual connection*): adding what was there to what a part has made; what flows along these additions is the **residual stream**.
# - **MLP** (also *feed-forward network*, *FFN*): two linear layers with something nonlinear in between.
# - **GELU**: a smooth relative of the ReLU, $x$ times the share of a normal distribution below $x$.
# - **post-LN, pre-LN**: the norm on the path of the residual, or before the part.
# - **regularisation**: what keeps a model from learning its training set by heart, such as dropout.
# - **decoder-only, encoder-only, encoder-decoder**: the kinds of GPT, of BERT and of the Transformer of 2017.
# - **rank collapse** (also *oversmoothing*): all tokens become alike on the way up through a deep stack.
# - **online softmax**: a softmax in blocks with a running maximum and sum, as in FlashAttention.
#
# **The short route** of six notebooks goes on with 04.

# %% experiment open=true
from tutor import progress

progress()
