# ---
# jupyter:
#   course:
#     teaches: attention without keys and queries, and what it cannot do
#     part: attention
#     column: 0
#     row: 2
#     builds_on: ["08"]
#     remark: which also counts with formulas, as 05 does
#     running: 2
#     questions:
#       - Does it need queries and keys?
#       - What can scores do that do not compare two words?
#       - Which task shows the difference, and why in one layer only?
#   jupytext:
#     notebook_metadata_filter: course
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 09 · Attention without keys and queries
#
# In notebook 08 everything was a question put to a key: a dot product of two tokens decided who looks at whom. Is that comparison needed at all? In 2021, Tay et al. took it out. In their
# **synthesizer** a token says where it wants to look without seeing what stands there; in its extreme form, the scores are plain parameters and no token has a say.
#
# On several tasks such models lose
# surprisingly little. You build both forms, count what they save, and find the line that they cannot cross: by a bound
# computed before any training, in training, and by a proof of a few lines.
#
# **When you are done, you can**
# - build a dense and a random synthesizer for sentences of any length, and prove them equal to their definition;
# - say what each saves against keys and queries, and what it costs;
# - tell from a task alone, before any training, how well each kind of attention can do in one layer;
# - explain why one layer of a synthesizer cannot look something up, and what this "cannot" leaves open.
#
# **Time**: about 3 h. **Before this**: notebook 01 (the mask), 03 (heads), 05 (formulas with sympy), 08 (attention as a dictionary).
#
# | exercise | what it asks | points |
# |---|---|---|
# | `synthesizer_scores` | the scores of one head, cut to the length | 3 |
# | `SynthesizerAttention` | the dense synthesizer: heads, mask, values | 5 |
# | `RandomSynthesizer` | the same, with scores that are parameters | 3 |
# | `score_costs` | six formulas: what scores cost | 3 |
# | `compare_tasks` | the best that each kind can do on a task | 4 |
# | *essay* `one_layer_essay` | what it cannot do in one layer, and why | 2 |
# | *essay* `worth_it_essay` | when to take which | 2 |
# | **total** | | **22** |
#
# Source: Tay, Bahri, Metzler, Juan, Zhao and Zheng (2021), ["Synthesizer: Rethinking Self-Attention for Transformer Models"](https://arxiv.org/abs/2005.00743). Folded cells are experiments: no mark depends on them.

# %% setup
import sympy
import torch
from torch import Tensor, nn

from helpers import plots
from tutor import by_hand, check, guess, hint, resume, reveal
from helpers.batches import Batches, for_language_model
from helpers.corpora import Split, load
from helpers.heads import causal_mask, merge_heads, split_heads
from helpers.models import Attention, Context, LanguageModel, TransformerBase
from helpers.training import train
from helpers.vocabulary import Vocabulary

# %% [markdown]
# ## 1. What goes into a score
#
# Write $s_{ij}$ for the score that says how much token $i$ (the row, the one that looks) wants to look at token $j$. Up to now it was a dot product of a query and a key:
#
# $$ s_{ij} = \frac{(x_i W_q) \cdot (x_j W_k)}{\sqrt{d/h}} \qquad\text{needs } x_i \text{ and } x_j $$
#
# (Tokens are rows here, so matrices stand on their right.) The **dense synthesizer** makes all the scores of a row from $x_i$ alone, with two layers and a ReLU in between:
#
# $$ (s_{i0}, s_{i1}, s_{i2}, \dots) = \operatorname{relu}(x_i A + b_1)\, B + b_2 \qquad\text{needs } x_i \text{ and the number } j $$
#
# The matrix $B$ has one column for each *position*: column $j$ makes the score of position $j$, whichever token stands there. The **random synthesizer** goes one step further, with $s_{ij} = R_{ij}$, a value that is learned: it needs the numbers $i$ and $j$ only. (The name is from the paper, where these scores start as random values.) After the scores all three go on in the same way: mask, softmax, weighted average of the values.
#
# | | what $s_{ij}$ is made from | can a change of token $j$ move $s_{ij}$, for $j \ne i$? |
# |---|---|---|
# | key-query | $x_i$, $x_j$ | yes |
# | dense synthesizer | $x_i$, $j$ | **no** |
# | random synthesizer | $i$, $j$ | **no** |
#
# Everything in this notebook follows from the right-hand column. In the picture, arrows lead to the score $s_{31}$ from the tokens that it is made from.

# %% experiment
# @title Which tokens go into the score of token 3 for position 1
def draw_inputs(axes, title: str, tokens: list[int]) -> None:
    """Draws five tokens and the score s_31 above them, with an arrow from each token that goes into it."""
    for position in range(5):
        face, ink = (plots.COLOURS[0], "white") if position in tokens else ("#eeeeee", "black")
        box = {"boxstyle": "round,pad=0.4", "facecolor": face, "edgecolor": "#555555"}
        axes.text(position, 0, f"$x_{position}$", ha="center", va="center", bbox=box, color=ink)
    score_box = {"boxstyle": "round,pad=0.4", "facecolor": "#ffffff", "edgecolor": plots.COLOURS[1]}
    axes.text(2, 1.6, "$s_{31}$", ha="center", va="center", fontsize=12, bbox=score_box)
    for position in tokens:
        axes.annotate("", (2, 1.25), (position, 0.35),
                      arrowprops={"arrowstyle": "->", "color": plots.COLOURS[0]})
    axes.set(title=title, xlim=(-0.6, 4.6), ylim=(-0.5, 2.1))
    axes.axis("off")


figure, axes = plots.panels(3, width=3.2, height=1.9)
for axis, (title, tokens) in zip(axes, {"key-query": [3, 1], "dense": [3], "random": []}.items()):
    draw_inputs(axis, title, tokens)
plots.show(figure, "Three drawings of five tokens and the score s_31. "
           "Key-query: arrows from tokens 3 and 1. Dense: an arrow from token 3 only. Random: no arrow.")

# %% [markdown]
# ### By hand, with two tokens
#
# Two tokens of width 2, with `max_len` 3:
#
# $$ x_0 = (1, 0), \quad x_1 = (0, 2), \qquad A = \begin{pmatrix} 1 & -1 \\ 0 & 1 \end{pmatrix}, \quad b_1 = (0, -1), \qquad B = \begin{pmatrix} 1 & 0 & 2 \\ 0 & 3 & 1 \end{pmatrix}, \quad b_2 = (0, 1, 0) $$
#
# Take a pencil. For $x_0$: first $x_0 A + b_1 = (1, -2)$, then the ReLU, which replaces negative values by 0, then $B$ and $b_2$. Do the same for $x_1$. You get three scores for each token. But the
# sentence has only two tokens: write down the scores that it uses.

# %% by_hand
by_hand("synthesizer_scores", [
    [..., ...],  # token 0 looks at positions 0 and 1
    [..., ...],  # token 1
])

# %% [markdown]
# The next cell computes the steps, with all three scores.

# %% experiment
# @title The two tokens by hand: after each step, and not yet cut
x_hand = torch.tensor([[1.0, 0.0], [0.0, 2.0]])  # (n, d)
A_hand = torch.tensor([[1.0, -1.0], [0.0, 1.0]])  # (d, d/h)
b1 = torch.tensor([0.0, -1.0])
B_hand = torch.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]])  # (d/h, max_len)
b2 = torch.tensor([0.0, 1.0, 0.0])

print("x A + b1:\n", x_hand @ A_hand + b1)
print("after the ReLU:\n", torch.relu(x_hand @ A_hand + b1))
print("scores, not cut:\n", torch.relu(x_hand @ A_hand + b1) @ B_hand + b2)

# %% [markdown]
# Cut to two positions, token 0 has the scores 1 and 1, token 1 has 0 and 4.
#
# ### Two mistakes worth making once
#
# **Not cut.** Each row above has a score for position 2, and no token stands there. $B$ was made before any sentence came, with a column for each of `max_len` positions. A sentence of $n$ tokens uses the first $n$
# columns. Otherwise the softmax gives weight to positions where no token stands; or torch stops you, with a mask of the right size, on the first sentence shorter than `max_len`.
#
# **No ReLU.** Look at what it is for:

# %% experiment open=true
with_relu = torch.relu(x_hand @ A_hand) @ B_hand
without_relu = x_hand @ A_hand @ B_hand
one_matrix = A_hand @ B_hand
print("one matrix does the same, without a ReLU:", torch.equal(without_relu, x_hand @ one_matrix))
print("with it:", torch.equal(with_relu, x_hand @ one_matrix))

# %% [markdown]
# Without something nonlinear in between, two matrices are one matrix in two pieces.
#
# ## 2. Exercise: the scores of one head
#
# For one sentence and one head, without mask and softmax. `torch.relu` is the ReLU.

# %% exercise="synthesizer_scores"
def synthesizer_scores(x: Tensor, A: Tensor, b1: Tensor, B: Tensor, b2: Tensor) -> Tensor:
    """Returns the scores `(n, n)` of one head of a dense synthesizer: relu(x A + b1) B + b2,
    cut to the length.

    Args:
        x: the tokens of one sentence, `(n, d)`.
        A, b1: first layer, `(d, w)` and `(w,)`; w is the width of a head.
        B, b2: second layer, `(w, max_len)` and `(max_len,)`: a column for each position; n is at most
            max_len.

    Row i is the token that looks, column j the position looked at. Example: for the values of section 1
    it is [[1, 1], [0, 4]].
    """
    ### BEGIN SOLUTION
    n = len(x)
    hidden = torch.relu(x @ A + b1)  # (n, w)
    return hidden @ B[:, :n] + b2[:n]  # (n, n)
    ### END SOLUTION


# %% [markdown]
# ## 3. Exercise: the dense synthesizer
#
# Now as a module, with $h$ heads and the causal mask. Each head $k$ has its own part of everything:
#
# $$ \text{head}_k = \operatorname{softmax}\big(\operatorname{relu}(X A_k + b_{1,k})\, B_k + b_{2,k} + \text{mask}\big)\; X V_k $$
#
# - `hidden`, one layer `nn.Linear(d_model, d_model)`, holds all the $A_k$ and $b_{1,k}$ side by side, as `query` did in notebook 03: split what comes out of it into heads;
# - `B` of shape `(h, d/h, max_len)` and `b2` of shape `(h, max_len)` are parameters of your own: `nn.Parameter(tensor)`. Start `B` with random values: with zeros, the scores would not depend on the token, and `hidden` would get no gradient in the first step;
# - `value` and `output` are those of notebook 03.
#
# Three functions that you know are given, from `helpers.heads`: `causal_mask(size, device)`, `split_heads(x, n_heads)` and `merge_heads(x)`. Make the mask on the device of the input, CPU or GPU: `causal_mask(n, x.device)`.
#
# The module has two methods: `weights`, so that we can look at them later, and `forward`, which uses them. The check calls both.

# %% exercise="SynthesizerAttention"
class SynthesizerAttention(nn.Module):
    """The dense synthesizer, causal: `attention(x)`.

    Its only parameters are nn.Linear(d_model, d_model) called hidden, value and output,
    `B` `(h, d/h, max_len)` and `b2` `(h, max_len)`; it has no buffers. All of them learn.
    No dropout, no noise, and nothing is kept from one call to the next. Scores may be of any size.
    """

    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.n_heads, width = n_heads, d_model // n_heads
        self.hidden = nn.Linear(d_model, d_model)
        self.B = nn.Parameter(torch.randn(n_heads, width, max_len) / width**0.5)
        self.b2 = nn.Parameter(torch.zeros(n_heads, max_len))
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)
        ### END SOLUTION

    def weights(self, x: Tensor) -> Tensor:
        """Returns the attention weights `(b, h, n, n)` for `x` `(b, n, d)`; n is at most max_len."""
        ### BEGIN SOLUTION
        n = x.size(1)
        hidden = split_heads(torch.relu(self.hidden(x)), self.n_heads)  # (b, h, n, d/h)
        scores = hidden @ self.B[:, :, :n] + self.b2[:, None, :n]  # (b, h, n, n)
        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Returns `(b, n, d)`: the weighted values of all heads, merged and projected."""
        ### BEGIN SOLUTION
        value = split_heads(self.value(x), self.n_heads)  # (b, h, n, d/h)
        return self.output(merge_heads(self.weights(x) @ value))  # (b, n, d)
        ### END SOLUTION


# %% [markdown]
# ### Equal to its definition
#
# Tensors of four axes are easy to get wrong in a way that still runs. So here is the definition in the slowest form: one sentence, one head and one token at a time, one score after the other,
# and no mask at all, since row $i$ simply stops at $j = i$. Yours must agree for every length.

# %% experiment open=true
@torch.no_grad()
def by_loops(attention: nn.Module, x: Tensor) -> Tensor:
    """Returns what a dense synthesizer must give, `(b, n, d)`, number by number from its definition."""
    (h, w, _), result = attention.B.shape, torch.zeros_like(x)
    for s, sentence in enumerate(x):
        for i, token in enumerate(sentence):
            heads = []
            for k in range(h):
                rows = slice(k * w, (k + 1) * w)  # of the layers: what belongs to head k
                hidden = (attention.hidden.weight[rows] @ token
                          + attention.hidden.bias[rows]).clamp(min=0)  # (w,)
                powers = [torch.exp(hidden @ attention.B[k, :, j] + attention.b2[k, j])
                          for j in range(i + 1)]
                values = [attention.value.weight[rows] @ sentence[j] + attention.value.bias[rows]
                          for j in range(i + 1)]
                heads.append(sum(power * value for power, value in zip(powers, values)) / sum(powers))
            result[s, i] = attention.output(torch.cat(heads))
    return result


torch.manual_seed(0)
yours = SynthesizerAttention(d_model=12, n_heads=3, max_len=9)
for n in (1, 2, 5, 9):
    x = torch.randn(2, n, 12)
    print(f"n = {n}: equal to the loops: {torch.allclose(yours(x), by_loops(yours, x), atol=1e-5)}")

# %% [markdown]
# ### Longer than `max_len`
#
# What would the score of position 9 be? There is no column for it, and nothing to compute it from. Keys and queries know no such limit: a new token brings its own key.

# %% experiment open=true
torch.manual_seed(0)
try:
    yours(torch.randn(1, 10, 12))
except RuntimeError as problem:
    print("ten tokens, max_len 9:", type(problem).__name__)
print("key-query attention:  ", tuple(Attention(12, 3)(torch.randn(1, 10, 12), Context(causal=True)).shape))

# %% [markdown]
# ## 4. Exercise: the random synthesizer
#
# The same module without the two layers: the scores *are* parameters, one square for each head. All sentences of one length get the same weights, whatever they say. Start the scores with zeros (all weights
# equal) or with small random numbers. And do not draw them again at each call: they are learned.

# %% exercise="RandomSynthesizer"
class RandomSynthesizer(nn.Module):
    """The random synthesizer, causal: `attention(x)`.

    Its only parameters are nn.Linear(d_model, d_model) called value and output,
    and `scores` `(h, max_len, max_len)`; it has no buffers. All of them learn.
    No dropout, no noise, and nothing is kept from one call to the next. Scores may be of any size.
    """

    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.n_heads = n_heads
        self.scores = nn.Parameter(torch.zeros(n_heads, max_len, max_len))
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)
        ### END SOLUTION

    def weights(self, x: Tensor) -> Tensor:
        """Returns the attention weights `(h, n, n)` for `x` `(b, n, d)`; of x only the length n counts."""
        ### BEGIN SOLUTION
        n = x.size(1)
        return torch.softmax(self.scores[:, :n, :n] + causal_mask(n, x.device), dim=-1)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Returns `(b, n, d)`: the weighted values of all heads, merged and projected."""
        ### BEGIN SOLUTION
        value = split_heads(self.value(x), self.n_heads)  # (b, h, n, d/h)
        # (b, n, d), the same weights for the whole batch
        return self.output(merge_heads(self.weights(x) @ value))
        ### END SOLUTION


# %% [markdown]
# ## 5. Touch one token
#
# In notebook 01 you changed one word and looked at which outputs moved. Now do the same and look at which *weights* move. Three layers that have learned nothing yet, eight tokens; first we need keys and queries in
# the same form as your two modules:

# %% experiment
# @title Keys and queries in the form of this notebook's modules
class KeyQueryAttention(Attention):
    """The attention of `helpers.models`, causal, in the form of this notebook's modules."""

    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:
        super().__init__(d_model, n_heads)  # it needs no max_len

    def weights(self, x: Tensor) -> Tensor:
        context = Context(causal=True, maps={})
        super().forward(x, context)
        return context.maps[self]  # (b, h, n, n)

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x, Context(causal=True))


KINDS = {"key-query": KeyQueryAttention, "dense": SynthesizerAttention, "random": RandomSynthesizer}

# %% [markdown]
# Token 3 changes. Which rows of the weights will move in each of the three? Row $i$ is the token that looks. How many of the eight rows move in the dense synthesizer? Write a number from 0 to 8 in place of the dots, or leave them and go on; then move the slider.

# %% guess
guess("rows of the dense weights that move when token 3 changes", ...)

# %% interactive
# @title How far each weight moves when one token changes: move the slider
from ipywidgets import IntSlider, interact


@torch.no_grad()
def show_change(changed: int) -> None:
    """Draws how much each weight moves when one token is replaced, for the three kinds."""
    torch.manual_seed(4)
    before = torch.randn(1, 8, 16)
    after = before.clone()
    after[0, changed] = torch.randn(16)
    figure, axes = plots.panels(3, width=3.1, height=3.3)
    told = []
    for (name, kind), axis in zip(KINDS.items(), axes):
        layer = kind(16, 1, 8)
        moved = (layer.weights(after) - layer.weights(before)).abs().reshape(8, 8)
        plots.matrix(moved, f"{name}: change of the weights", axes=axis, limits=(0, 0.3))
        rows = [i for i in range(8) if moved[i].max() > 1e-6]
        told.append(f"{name}: rows {rows}" if rows else f"{name}: no row")
    figure.colorbar(axes[0].images[0], ax=axes, extend="max", label="change", shrink=0.8)
    plots.show(figure, f"How far each weight moves when token {changed} changes. "
               f"Rows that move: {'; '.join(told)}.")


interact(show_change, changed=IntSlider(value=3, min=0, max=7, description="token",
                                        continuous_update=False));

# %% experiment
# @title The same picture for those who only read: token 3 changes
show_change(3)

# %% reveal
def rows_that_move() -> Tensor:
    """Returns how many rows of the weights change with token 3."""
    some, other = torch.randn(2, 8, 16)
    changed = torch.where(torch.arange(8)[:, None] == 3, other, some)  # token 3 is another one
    dense = SynthesizerAttention(16, 1, 8)
    return ((dense.weights(changed[None]) - dense.weights(some[None])).abs().amax(dim=-1) > 1e-6).sum()


reveal("rows of the dense weights that move when token 3 changes", rows_that_move)

# %% [markdown]
# - **Key-query**: every row from 3 on, some of them too little for the eye. Row 3 has a new query, and all later rows find a new key at position 3.
# - **Dense**: row 3 and no other. Token 3 looks elsewhere, but nobody looks at *it* any differently.
# - **Random**: nothing.
#
# (With the slider at 0, row 0 stays as it is even in the key-query picture: that token has only itself to look at.) What moves in the *output* is another matter: the value of token 3 has changed in all three, and every row that looks at position 3 gets
# the new one. A synthesizer is not blind to what others say. It is blind to it **when it chooses where to look**.
#
# ## 6. Exercise: what it saves
#
# Is it at least cheaper? Count only what makes the scores, since values and output are the same in all three. Use these letters, as in notebook 05 ($A$ is not the matrix of section 1 here):
#
# | letter | what it stands for |
# |---|---|
# | $D$ | width of the model |
# | $A$ | number of heads, each of width $D/A$ |
# | $N$ | `max_len`, the longest sentence |
# | $L$ | length of the sentence at hand, $L \le N$ |
#
# Two things are counted. **Parameters**, with biases, as in notebook 05. **Products**: how many multiplications of two numbers it takes to make all the scores of one sentence. A matrix product of $(p, q)$ with $(q, r)$ takes
# $p \cdot q \cdot r$ of them, since each of the $p \cdot r$ results is a sum of $q$ products. Biases, scale, mask and softmax do not count, and $B$ is cut before it is used.
#
# **By hand**: width $D = 6$, $A = 3$ heads, $L = 4$ tokens. How many products do the scores of keys and queries take? Count the two layers first, then the three heads.

# %% by_hand
by_hand("score_costs", ...)  # the products of key-query

# %% [markdown]
# Queries take $4 \cdot 6 \cdot 6 = 144$ products, keys as many. Then each head multiplies $(4, 2)$ with $(2, 4)$: 32, and three heads 96. In all 384. Now as formulas.

# %% setup
D, A, N, L = sympy.symbols("D A N L", positive=True, integer=True)

# %% exercise="score_costs"
def score_costs() -> dict[str, sympy.Expr]:
    """Returns six formulas in D, A, N and L: what the scores of one layer cost.

    Returns:
        A dict with the keys "key-query parameters", "dense parameters", "random parameters" and
        "key-query products", "dense products", "random products".

    Example: at D = 6, A = 3, L = 4 the entry "key-query products" is 384.
    """
    ### BEGIN SOLUTION
    layer = D**2 + D  # nn.Linear(D, D)
    square = A * L * (D / A) * L  # in each head (L, D/A) with (D/A, L)
    return {
        "key-query parameters": 2 * layer,
        "dense parameters": layer + A * (D / A) * N + A * N,  # hidden, B, b2
        "random parameters": A * N**2,
        "key-query products": 2 * L * D**2 + square,
        "dense products": L * D**2 + square,
        "random products": sympy.Integer(0),
    }
    ### END SOLUTION


# %% [markdown]
# Let the machine confirm the parameters, then draw both costs for a layer of width 512 with 8 heads.

# %% experiment
# @title What the scores of one layer cost: formulas, counts and curves
from helpers.formulas import in_letters

costs = {name: in_letters(formula, D, A, N, L) for name, formula in score_costs().items()}
layer = {D: 512, A: 8}
makers = {"key-query": ("query", "key"), "dense": ("hidden", "B", "b2"), "random": ("scores",)}
for name, kind in KINDS.items():
    numbers = sum(p.numel() for part, p in kind(512, 8, 100).named_parameters()
                  if part.startswith(makers[name]))
    print(f"{name:10} {numbers:>8,} by numel, "
          f"{int(costs[f'{name} parameters'].subs(layer | {N: 100})):>8,} by formula, at N = 100")

lengths = [2**power for power in range(5, 13)]
figure, axes = plots.panels(2, width=4.4, height=3.2)
told = []
for what, letter, axis in (("parameters", N, axes[0]), ("products", L, axes[1])):
    lines = {name: [float(costs[f"{name} {what}"].subs(layer | {letter: length})) / 1e6
                    for length in lengths]
             for name in KINDS if costs[f"{name} {what}"] != 0}
    plots.curves(lines, lengths, title=f"{what} for the scores",
                 x_label="longest sentence N" if letter == N else "length L",
                 y_label=f"{what} (millions)", axes=axis, log_x=True, log_y=True)
    told.append(f"{what.capitalize()} in millions: " + plots.describe_curves(lines, lengths, "length"))
plots.show(figure, " ".join(told) + " Random scores need no products.")

# %% experiment
# @title Where dense has as many parameters as key-query, and how many products remain
longest = sympy.solve(sympy.Eq(costs["dense parameters"], costs["key-query parameters"]), N)[0]
print("dense has as many parameters as key-query at N =", sympy.factor(longest),
      "=", round(float(longest.subs(layer)), 1))
ratio = sympy.cancel(costs["dense products"] / costs["key-query products"])
print("dense products over key-query products:", ratio)
print("for very short and very long sentences:",
      sympy.limit(ratio, L, 0), "and", sympy.limit(ratio, L, sympy.oo))

# %% [markdown]
# Less than one might hope. The dense synthesizer saves one of three large products. That is half of the work when the sentence is short against the width and next to nothing when it is long: the square of $L \times L$ scores is still there,
# each a sum of $D/A$ products.
#
# Its parameters grow with $N$, and from $N \approx D$ on it has *more* than keys and queries. The random one saves all the products, and pays with $A N^2$ parameters. (The paper also has factorized
# forms, which make the square from two smaller pieces.)

# %% [markdown] pause
# You have both synthesizers, and what their scores cost beside keys and queries. What comes next is what they can do: three tasks, bounds counted before any training, and the training itself.

# %% [markdown]
# ## 7. Three tasks on the same sentences
#
# Now what it can *do*. We need tasks for which we know where to look. Every sentence has 16 tokens. The first eight are **pairs** of a letter and a number: the eight letters *a* to *h* in random order, each with a number from
# 0 to 23, all different. The last eight are **questions**: the letters again, in another order. Each question has one right answer, a number, and there are three rules for which one:
#
# | task | where the answer stands | what one has to know |
# |---|---|---|
# | `fixed` | eight positions back | the position of the question |
# | `named` | the position that the letter stands for: *a* is position 0, *b* position 1, ... | the question itself |
# | `look-up` | where the same letter stands | the question **and** all the pairs |

# %% experiment
# @title One sentence, and where its eight answers stand in each task
def shuffled(count: int, size: int, generator: torch.Generator) -> Tensor:
    """Returns `count` shuffled orders of the numbers below `size`, `(count, size)`."""
    return torch.rand(count, size, generator=generator).argsort(dim=1)


def sentences(count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Returns letters and numbers of sentences, `(count, 16)` each: eight pairs, eight questions
    (number 24)."""
    letters = torch.cat([shuffled(count, 8, generator), shuffled(count, 8, generator)], dim=1)
    numbers = torch.cat([shuffled(count, 24, generator)[:, :8], torch.full((count, 8), 24)], dim=1)
    return letters, numbers


def wanted_positions(task: str, letters: Tensor) -> Tensor:
    """Returns for each token the position where its answer stands, `(count, 16)`; -1 for the pairs,
    which ask nothing."""
    pairs, asked = letters[:, :8], letters[:, 8:]
    found = {
        "fixed": torch.arange(8).expand_as(asked),
        "named": asked,
        "look-up": pairs.argsort(dim=1).gather(1, asked),  # argsort of an order: where each letter is
    }[task]
    return torch.cat([torch.full_like(pairs, -1), found], dim=1)


TASKS = ("fixed", "named", "look-up")
letters, numbers = sentences(1, torch.Generator().manual_seed(1))
pairs = zip(letters[0].tolist(), numbers[0].tolist())
names = [f"{'abcdefgh'[letter]}{number if number < 24 else '?'}" for letter, number in pairs]
print("sentence:", " ".join(names))
for task in TASKS:
    positions = wanted_positions(task, letters)[0, 8:].tolist()
    looks = " ".join(f"{names[8 + row]}->{names[position]}" for row, position in enumerate(positions))
    print(f"{task:8} {looks}")

# %% [markdown]
# Check two or three of them yourself. (Why *different* numbers and 24 of them? If the numbers were always the same eight in another order, a layer could look at all the positions but one and name the number that is missing: the right answer without the right look.)
#
# ### Exercise: the best that a layer can do
#
# A *look* is the position that one row chooses. How many looks can a layer get right, at the very best? You can tell without training, by counting.
#
# What a layer knows when it chooses a position puts all rows into **groups** that look alike to it, and within a group it
# must make the same choice. The best choice is the position that is most often right.
#
# | name | what it knows at row $i$ | rows of one group have in common |
# |---|---|---|
# | `random` | the number $i$ | $i$ |
# | `dense` | $x_i$: the token at $i$ and its position | $i$ and the token at $i$ |
# | `prefix` | all that the mask leaves, a bound for any causal layer | the tokens $0$ to $i$ |
#
# **By hand.** Four sentences of two words, and in each the position that row 0 and row 1 should look at. Row 0 can only look at itself and is always right. Look at row 1:
#
# | sentence | tokens | row 0 should look at | row 1 should look at |
# |---|---|---|---|
# | 0 | 5 7 | 0 | 0 |
# | 1 | 6 7 | 0 | 0 |
# | 2 | 4 7 | 0 | 1 |
# | 3 | 5 8 | 0 | 1 |
#
# For each of the three, count the right looks of the best rule, in row 0 and row 1 together, and divide by 8.

# %% by_hand
by_hand("compare_tasks", [..., ..., ...])  # random, dense, prefix

# %% [markdown]
# In row 1 `random` must say the same position in every sentence: two of 4 are right, whichever it takes. `dense` has two groups in row 1, token 7 (positions 0, 0 and 1: two of three right) and token 8 (right). `prefix` tells all four apart. With the four looks of
# row 0, that is $\frac{6}{8}$, $\frac{7}{8}$ and $1$.

# %% exercise="compare_tasks"
def compare_tasks(tokens: Tensor, positions: Tensor) -> dict[str, float]:
    """Returns the largest share of looks that a random, a dense and any causal layer can get right.

    Args:
        tokens: sentences as whole numbers from 0 on, `(m, n)`.
        positions: for each token the position it should look at, `(m, n)`, its own or an earlier one; -1
            where there is nothing to look for: such rows do not count. At least one row counts.

    Returns:
        A dict with "random", "dense" and "prefix": right looks of the best rule, divided by all looks
        that count.
    """
    ### BEGIN SOLUTION
    knows = {
        "random": lambda sentence, i: i,
        "dense": lambda sentence, i: (i, sentence[i]),
        "prefix": lambda sentence, i: tuple(sentence[: i + 1]),
    }
    shares = {}
    for name, known in knows.items():
        groups: dict = {}  # what is known -> position -> how often it is wanted
        for sentence, wanted in zip(tokens.tolist(), positions.tolist()):
            for i, position in enumerate(wanted):
                if position >= 0:
                    group = groups.setdefault(known(sentence, i), {})
                    group[position] = group.get(position, 0) + 1
        right = sum(max(group.values()) for group in groups.values())
        shares[name] = right / sum(sum(group.values()) for group in groups.values())
    return shares
    ### END SOLUTION


# %% [markdown]
# Now put our three tasks in, with 20,000 sentences each. As tokens we give whole words, such as *c17* or *c?*, as one number. Which share of the looks, from 0 to 1, can a dense layer get right on `look-up`, at the very best?

# %% guess
guess("the best share of right looks of a dense layer on look-up", ...)

# %% experiment
# @title The best share of right looks, before any training: three tasks, three kinds
letters, numbers = sentences(20_000, torch.Generator().manual_seed(0))
words = 25 * letters + numbers  # (20000, 16)
bounds = {task: compare_tasks(words, wanted_positions(task, letters)) for task in TASKS}
print(f"{'':8}   random  dense  prefix")
for task, shares in bounds.items():
    print(f"{task:8} {shares['random']:8.2f} {shares['dense']:6.2f} {shares['prefix']:7.2f}")

# %% reveal
reveal("the best share of right looks of a dense layer on look-up", bounds["look-up"]["dense"])

# %% [markdown]
# From row to row of the table, one kind of layer fewer can do the task. With `fixed`, all three can be perfect. With `named`, a rule must know its own question: the random synthesizer is down to one look in eight, which is guessing. With `look-up`, the dense one is there, too.
#
# (The counts come from a sample; with more sentences, 0.13 goes to $\frac{1}{8} = 0.125$. In the right-hand column no two sentences are alike, so it says only that the answer is *determined* by the words before. Whether keys and queries can
# find it is a question for training.)
#
# Note what these numbers do not depend on: the width, the formula that makes the scores, the training time, the learning rate. They are a property of the task and of what is known when the choice is made.
#
# ## 8. In training
#
# A bound says what is impossible, not what is learned. So train: one layer with one attention head, and nothing around it that could help. Embeddings of letter, number and position are added; the layer's output goes straight into a linear layer with 24 outputs. There is no residual
# and no feed-forward part: **all that a question learns about a pair comes through the weights.**
#
# There are nine combinations of task and layer, with three seeds each. Which of the nine will stay at $\frac{1}{8}$? Write how many.

# %% guess
guess("combinations that stay at one in eight", ...)

# %% experiment
# @title The model around the layer: three embeddings, no residual, one output layer
class Reader(nn.Module):
    """Embeddings, one attention layer, and a score for each of 24 numbers."""

    def __init__(self, attention: nn.Module, d_model: int = 32) -> None:
        super().__init__()
        self.letter, self.number, self.position = (nn.Embedding(size, d_model) for size in (8, 25, 16))
        self.attention, self.head = attention, nn.Linear(d_model, 24)

    def embed(self, letters: Tensor, numbers: Tensor) -> Tensor:
        """Returns `(b, 16, d)` of letters and numbers `(b, 16)`."""
        return self.letter(letters) + self.number(numbers) + self.position.weight

    def forward(self, letters: Tensor, numbers: Tensor) -> Tensor:
        """Returns scores for the answers of the eight questions, `(b, 8, 24)`."""
        return self.head(self.attention(self.embed(letters, numbers)))[:, 8:]


def answers(task: str, letters: Tensor, numbers: Tensor) -> Tensor:
    """Returns the right answer of each question, `(b, 8)`."""
    return numbers.gather(1, wanted_positions(task, letters)[:, 8:])


# %% experiment
# @title How a model is trained and measured, on fresh sentences
STEPS, EVERY = 160, 20


def learn(model: nn.Module, task: str, seed: int, steps=STEPS, every=EVERY, rate=1e-2,
          log=False) -> list[float]:
    """Trains a model on fresh sentences; returns the share of right answers on 200 others,
    every few steps."""
    generator = torch.Generator().manual_seed(seed)
    test = sentences(200, torch.Generator().manual_seed(99))
    optimizer, shares = torch.optim.Adam(model.parameters(), lr=rate, fused=True), []
    for step in range(steps + 1):
        letters, numbers = sentences(32, generator)
        logits = model(letters, numbers)  # (32, 8, 24)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), answers(task, letters, numbers).flatten())
        if step % every == 0:
            with torch.no_grad():
                shares.append((model(*test).argmax(dim=-1) == answers(task, *test)).float().mean().item())
            if log and step % (4 * every) == 0:
                print(f"step {step:4}  loss {loss.item():.2f}  "
                      f"perplexity {loss.exp().item():5.1f}  right {shares[-1]:.2f}")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return shares


# %% measured
# @title Nine combinations of task and layer, three seeds each
from tqdm import tqdm

models, curves = {}, {}
for task in tqdm(TASKS, unit="task"):
    for name, kind in KINDS.items():
        for seed in range(3):
            torch.manual_seed(seed)
            models[task, name] = Reader(kind(32, 1, 16))  # the last seed's is kept
            first_of_look_up = (task, seed) == ("look-up", 0)
            if first_of_look_up:
                print(f"{task}, {name}, seed {seed}")
            curves.setdefault((task, name), []).append(
                learn(models[task, name], task, seed, log=first_of_look_up)
            )

# %% measured
# @title Accuracy in training, for each task and layer, with the bounds
steps = list(range(0, STEPS + 1, EVERY))
figure, axes = plots.panels(3, width=3.7, height=3.2)
for task, axis in zip(TASKS, axes):
    plots.curves({name: curves[task, name] for name in KINDS}, steps, title=task, x_label="step",
                 y_label="accuracy", axes=axis)
    for name, style in (("random", ":"), ("dense", "--")):
        axis.axhline(bounds[task][name], color=plots.COLOURS[list(KINDS).index(name)],
                     linestyle=style, linewidth=1)
    axis.set_ylim(0, 1.05)
plots.show(figure, "Mean and range of three seeds; thin lines are the bounds of compare_tasks. " + " ".join(
    f"{task}: "
    + plots.describe_curves({name: curves[task, name] for name in KINDS}, steps, "step", digits=2)
    for task in TASKS
))
print(f"{'':10}", *[f"{task:>16}" for task in TASKS])
for name in KINDS:
    last = [torch.tensor(curves[task, name])[:, -1] for task in TASKS]
    print(f"{name:10}", *[f"{end.mean():.2f} ({end.min():.2f}-{end.max():.2f})" for end in last])

# %% reveal
ends = torch.tensor([[run[-1] for run in runs] for runs in curves.values()])  # (9, 3)
reveal("combinations that stay at one in eight", (ends.mean(dim=1) < 0.2).sum())

# %% [markdown]
# Each curve is the mean of three seeds, its band goes from the lowest to the highest; the thin lines are the bounds of section 7 for a dense (dashed) and a random layer (dotted).
#
# The training finds the table of section 7 again. What is impossible stays at one in eight. (It starts at one in 24: the models do learn to name *some* number of the sentence. In the log their perplexity falls from 24 to 11 and 12, towards 8, which would be one of eight
# numbers, and not towards 1.)
#
# These curves do not rise slowly: they have nowhere to go. (The bound counts looks, the curves count answers. A lucky guess after a wrong look might lift a curve a little above its bound; here none does.)
#
# What is possible is learned within about a hundred steps, with one exception that is worth a look: on `fixed`, the simplest task, one of the three runs of keys and queries has learned only seven of the eight positions. A synthesizer has a
# column for each position. Keys and queries have to build "eight positions back" out of dot products of position vectors, and can get stuck.
#
# ### As maps
#
# The weights of the trained layers, each from the last of its three runs, for the sentence of section 7. Only the eight questions and the eight pairs are shown; a frame marks the position where the answer stands.

# %% measured
# @title Where the trained layers look; a frame marks the position of the answer
from matplotlib.patches import Rectangle

letters, numbers = sentences(1, torch.Generator().manual_seed(1))
for task in TASKS:
    figure, axes = plots.panels(3, width=3.7, height=3.4)
    positions, told = wanted_positions(task, letters)[0, 8:].tolist(), []
    for (name, _), axis in zip(KINDS.items(), axes):
        model = models[task, name]
        with torch.no_grad():
            # questions, pairs
            weights = model.attention.weights(model.embed(letters, numbers)).reshape(16, 16)[8:, :8]
        plots.matrix(weights, f"{task}: {name}", rows=names[8:], columns=names[:8], row_label="question",
                     column_label="pair", axes=axis, limits=(0, 1))
        for row, column in enumerate(positions):
            frame = Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False,
                              edgecolor=plots.COLOURS[1], linewidth=2, zorder=5)
            axis.add_patch(frame)
        found = weights[range(8), positions]
        told.append(f"{name} {found.mean():.1f}")
    figure.colorbar(axes[0].images[0], ax=axes, label="weight", shrink=0.8).ax.set_ylim(0, 1)
    plots.show(figure, f"Maps of the weights for the task {task}. "
               f"Mean weight on the position of the answer: {', '.join(told)}.")

# %% [markdown]
# - **fixed**: three diagonals. In that of keys and queries one frame is empty: this is the run with seven positions, and its fifth question looks at another question in place of a pair. That of the random synthesizer is the faintest: its largest weight is in the right position, and it stopped there, because the answers are right already.
# - **named**: keys and queries, and the dense synthesizer, look where the letter says. The random one has the same rows for every sentence and spreads them.
# - **look-up**: only keys and queries find the frames. The dense synthesizer spreads its weight evenly over the eight pairs, as the random one does. When each position is as likely as any other, there is nothing better to do.
#
# ## 9. Exactly why
#
# Here is the whole argument. Take the question *b?* at row $i$ and two sentences that are equal but for **one exchange of two pairs**: in the first, *b* stands at position 1 and *d* at position 4; in the second the other way round. The token at row $i$ is the same in both, so
# $x_i$ is the same vector. The scores of row $i$ are $\operatorname{relu}(x_i A + b_1) B + b_2$ (with the matrix $A$ of section 1), and nothing in it but $x_i$ varies.
#
# So both sentences get **the same row of weights**, and it would have to point at position 1 in the first and at position 4 in the second. Now let *b* stand at
# any of the eight positions: wherever this row of weights points, it is right in one sentence of eight.
#
# A key-query score $q_i \cdot k_j$ compares $x_i$ with $x_j$; when the pairs change places, their keys go with them, and the weight follows.

# %% measured
# @title Two pairs change places: do the weights of the question follow?
first = sentences(1, torch.Generator().manual_seed(1))
exchanged = [1, 4]
second = tuple(part.clone() for part in first)
for part, original in zip(second, first):
    part[:, exchanged] = original[:, exchanged[::-1]]
# the question for the pair at position 1
row = 8 + first[0][0, 8:].tolist().index(first[0][0, exchanged[0]].item())
print(f"question {names[row]}; the pairs {names[1]} and {names[4]} change places")
for name in ("key-query", "dense"):
    model = models["look-up", name]
    with torch.no_grad():
        before, after = (model.attention.weights(model.embed(*sentence)).reshape(16, 16)[row]
                         for sentence in (first, second))
    print(f"{name:10} weight on position 1: {before[1]:.2f}, then {after[1]:.2f};"
          f"  on position 4: {before[4]:.2f}, then {after[4]:.2f};"
          f"  row unchanged: {torch.equal(before, after)}")

# %% [markdown]
# ### Be careful with "cannot"
#
# The argument is about where *one attention layer* looks. It is not about every model in which that layer is used. Two ways around it, each measured with one seed:
#
# - **Two layers.** After a first layer with a residual, $x_i$ is no longer the bare question: it holds something of the pairs. The second layer makes its scores from *that*.
# - **Without looking.** Make each pair one word with an embedding of its own, *c17*, and put a residual and a feed-forward part after the layer. It can then spread its weights evenly, take the *bag* of all eight pairs, and let the feed-forward
#   part find the one with a *c* in it. The weights point nowhere in particular, and the answer is right.

# %% experiment
# @title Two ways around: blocks with a feed-forward part, and pairs as words
class Block(nn.Module):
    """Attention and feed-forward part, each with a residual and a norm before it."""

    def __init__(self, attention: nn.Module, d_model: int) -> None:
        super().__init__()
        self.attention = attention
        self.attention_norm, self.feed_forward_norm = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.ReLU(),
                                          nn.Linear(4 * d_model, d_model))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.attention_norm(x))
        return x + self.feed_forward(self.feed_forward_norm(x))


class ReaderOfWords(Reader):
    """A reader in which each pair is one word with an embedding of its own."""

    def __init__(self, attention: nn.Module, d_model: int) -> None:
        super().__init__(attention, d_model)
        self.word = nn.Embedding(8 * 25, d_model)

    def embed(self, letters: Tensor, numbers: Tensor) -> Tensor:
        return self.word(25 * letters + numbers) + self.position.weight


def blocks(kind, count: int) -> nn.Module:
    return nn.Sequential(*[Block(kind(64, 1, 16), 64) for _ in range(count)])


# %% measured
# @title Look-up learned by four models, 700 steps each
makers = {
    "dense, one block": lambda: Reader(blocks(SynthesizerAttention, 1), 64),
    "dense, two blocks": lambda: Reader(blocks(SynthesizerAttention, 2), 64),
    "dense, one block, pairs as words": lambda: ReaderOfWords(blocks(SynthesizerAttention, 1), 64),
    "key-query, one block": lambda: Reader(blocks(KeyQueryAttention, 1), 64),
}
around = {}
for name, make in tqdm(makers.items(), unit="model"):
    torch.manual_seed(0)
    around[name] = learn(make(), "look-up", seed=0, steps=700, every=100, rate=3e-3)

# %% measured
# @title Accuracy on look-up with two blocks, with pairs as words, and with keys
steps = list(range(0, 701, 100))
figure, (axes,) = plots.panels(1, width=8.2, height=3.4)
plots.curves(around, steps, title="look-up: ways around", x_label="step",
             y_label="accuracy", axes=axes)
axes.axhline(bounds["look-up"]["dense"], color="#555555", linestyle=":", label="bound, one dense layer")
axes.set_ylim(0, 1.05)
axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
plots.show(figure, plots.describe_curves(around, steps, "step", digits=2))
for name, shares in around.items():
    print(f"{name:34} {shares[-1]:.2f}")

# %% [markdown]
# A feed-forward part alone did not help: letter and number come as a sum, and an even mixture of eight sums no longer says which number belonged to which letter. (In an uneven mixture the weights could serve as tags. Nothing of the kind
# was learned here.)
#
# With two blocks the accuracy rises slowly. Pairs as words do better, by a trick that works because there are only 192 of them: the feed-forward part must know each one. Keys and queries need neither trick, and are done in a hundred steps.
#
# So when you read that a model "solves look-up without attention", or that it "cannot": find out what the layer knows when it chooses, and what comes after it.
#
# ## 10. On text
#
# How much of a text is look-up? We put the three layers into a small language model with one layer, and let it read 750 of our book reviews three times. A fourth one has no attention at all, as an ablation: each token sees only itself and its position. There are three seeds of each, and the measure is the perplexity on 300 reviews that it has not read.
#
# (Our reviews are invented ones, with few words. For real ones, change the next cell to `corpus = load("cls_books")`: the same cells run on 1,300 reviews, cut at 96 tokens, much more slowly, because there are 50,000 tokens to choose from.)
#
# With keys and queries the perplexity will be about 10: the model hesitates among ten words, so to speak. How large is it without any attention?

# %% guess
guess("the perplexity without attention", ...)

# %% measured open=true
corpus = load("reviews_fr")

# %% measured
# @title Reviews to read and reviews kept back; a layer without attention; how a layer is put in
mixed = corpus.parts.get("unlabelled", corpus.train).rows.sample(frac=1, random_state=0)
vocabulary = corpus.vocabulary or Vocabulary.learn(mixed["text"], min_count=3)
encode, cpu, MAX_LEN = for_language_model(vocabulary, max_len=96), torch.device("cpu"), 96
count, budget = (2000, 2048) if corpus.vocabulary else (750, 768)  # real reviews, or ours
to_read = mixed[300 : 300 + count].reset_index(drop=True)
read = Batches(Split("reviews/read", "train", to_read), encode, budget)
unread = Batches(Split("reviews/unread", "valid", mixed[:300].reset_index(drop=True)), encode, 2048)


class OnlyItself(nn.Module):
    """No attention: each token gets its own value."""

    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:
        super().__init__()
        self.value, self.output = (nn.Linear(d_model, d_model) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        return self.output(self.value(x))


class Plugged(nn.Module):
    """One of our layers in the place that `helpers.models` has for attention."""

    def __init__(self, attention: nn.Module) -> None:
        super().__init__()
        self.attention = attention

    def forward(self, x: Tensor, context: Context, cross: bool = False) -> Tensor:
        return self.attention(x)


# %% measured
# @title Reviews read with keys and queries, and with dense scores
def perplexities(kind, seed: int) -> list[float]:
    """Returns the perplexity on unread reviews after each of three epochs."""
    torch.manual_seed(seed)
    base = TransformerBase(len(vocabulary), d_model=48, n_layers=1, n_heads=2, dropout=0.0)
    base.layers[0].attention = Plugged(kind(48, 2, MAX_LEN))
    history = train(LanguageModel(base), read, "language_model", epochs=3, learning_rate=3e-3,
                    valid=unread, seed=seed, device=cpu, progress=False)
    if seed == 0:
        for epoch, row in history.iterrows():
            print(f"  epoch {epoch + 1}  step {row['step']:.0f}  loss {row['loss']:.2f}"
                  f"  perplexity {row['perplexity']:.1f}  unread {row['valid_perplexity']:.1f}")
    return history["valid_perplexity"].tolist()


on_text = {}
for name in tqdm(("key-query", "dense"), unit="kind"):
    print(name)
    on_text[name] = [perplexities(KINDS[name], seed) for seed in range(3)]

# %% measured
# @title Reviews read with random scores, and without attention
for name, kind in tqdm({"random": RandomSynthesizer, "no attention": OnlyItself}.items(), unit="kind"):
    print(name)
    on_text[name] = [perplexities(kind, seed) for seed in range(3)]

# %% measured
# @title Perplexity on reviews not read, for four kinds of layer
figure, (axes,) = plots.panels(1, width=6.4, height=2.4)
told = []
for number, (name, runs) in enumerate(on_text.items()):
    last = torch.tensor(runs)[:, -1]  # (3,), after the last epoch
    axes.plot(last, [number] * 3, plots.MARKERS[number], color=plots.COLOURS[number])
    told.append(f"{name} {last.mean():.1f}")
    print(f"{name:14} perplexity {last.mean():5.2f}  ({last.min():.2f} to {last.max():.2f})")
axes.set(title=f"{len(read.examples):,} reviews read three times: three seeds each",
         xlabel="perplexity on reviews not read (lower is better)")
axes.set(yticks=range(4), yticklabels=list(on_text), xlim=(9, None))
axes.invert_yaxis()
axes.grid(axis="x", color="#dddddd", linewidth=0.6)
plots.show(figure, "Perplexity on reviews not read, mean of three seeds: " + ", ".join(told) + ".")

# %% reveal
reveal("the perplexity without attention", torch.tensor(on_text["no attention"])[:, -1].mean())

# %% [markdown]
# From no attention to keys and queries, the perplexity falls from nearly 13 to a little above 10. Random scores bring about a third of that gain, dense ones about a half: a good part of what a small model learns from the words before it needs no
# comparison, and another good part does. (The four do not have the same number of parameters, and three epochs are few. That is a question of the second essay.)
#
# The paper's authors train large models on translation, language modelling and more. They report that random scores are surprisingly competitive, that comparing tokens is "useful but not that important after all", and that
# synthesizers *combined* with dot products do better than dot products alone. Your figure and their sentence need not contradict each other: how much comparing is worth depends on how much look-up there is in the data, and on how
# many layers share the work.
#
# ## 11. Essays
#
# Two short ones, in English or in French.
#
# **What it cannot do**: (a) Say in two or three sentences why one layer of a dense synthesizer cannot do the look-up task, however wide it is and however long it is trained. (b) Why does the same argument not apply to `named`? (c) Why did
# two blocks get further than one? (d) Someone says: "the synthesizer ignores all other tokens". What is wrong with that?

# %% [markdown] essay="one_layer_essay"
# **Rubric** (half a point for each, 2 points in all)
#
# - (a) The scores of row $i$ are a function of $x_i$ (and the position $j$) only; $x_j$ is not in them, so question and pair are never compared. Two sentences with the same question and exchanged pairs get the same weights but need different ones; over all positions, one look in eight is right. Width and training change the function, not what it knows.
# - (b) In `named` the right position is a function of the question's own letter, which is in $x_i$: the same question always wants the same position.
# - (c) After the first block, $x_i$ in the second holds something of the pairs (through the values and the residual), so scores made from it can depend on them.
# - (d) It takes in their *values*: the output changes when they change. They have no part in the *choice of where to look*.
#
# **Misconceptions that cost marks**: "it has too few parameters"; "it was not trained long enough"; "the ReLU loses the information"; "it does not know the positions"; "it cannot look at more than one token"; "no model with synthesizers can do look-up" (two layers, or a bag and a feed-forward part, get
# well beyond one in eight here).
#
# **Answers as students write them**
#
# - *Full marks (2 of 2)*: "(a) The scores of row i are made from x_i alone (and the position j), so the question is never compared with the pairs. Two
#   sentences with the same question and exchanged pairs get the same weights, though they need different ones, so no width and no training brings
#   more than one position in eight (0.13). (b) In `named` the position depends on the question's own letter, and that is in x_i: the same question always
#   wants the same position. (c) After the first block x_i holds something of the pairs, through the values and the residual, so the second one can make
#   scores that depend on them; ours came to 0.38. (d) It does not ignore them: their values come into the output, which changes when they change.
#   They only have no say in where it looks." Why: (a) to (d), half a point each.
# - *Half (1 of 2)*: "(a) A row's scores come from its own token, so the layer cannot know behind which position the right pair stands; if I exchange b18
#   and d19, its weights stay as they were (0.12 and 0.13) though the answer has moved. (b) In `named` the right position follows from the letter of the
#   question, which the row does see. (c) Two blocks got further, 0.38 in place of 0.13, because they have twice as many parameters and one block had
#   too few. (d) It is right that it ignores the others, since each row of scores depends on its own token only." Why: (a) and (b) (1). (c) is the
#   first misconception: the point is what the second block's x_i has read, not the number of parameters (0.5 lost). (d) confuses the scores with the
#   output: the values of the others come in (0.5 lost).
# - *No marks (0 of 2)*: "(a) One layer of a dense synthesizer has too few parameters for look-up, and 160 steps are not long enough; the ReLU also
#   loses information. (b) `named` is easier, so the argument does not apply. (c) Two blocks are deeper, and deeper models learn more. (d) Nothing is
#   wrong with it: the synthesizer cannot look at more than one token." Why: No part is met: (a) and (d) are made of misconceptions (parameters,
#   training, ReLU, one token), (b) and (c) say that it is so, without saying why. After 700 steps the single block is still at 0.13.

# %% [markdown]
# **Is it worth it?** You may choose the attention of a model that reads texts of up to 4,096 tokens at width 512 with 8 heads. (a) What does the dense synthesizer save against keys and queries, in parameters and in products, and what does it cost? Use your formulas. (b) What happens with a text of 5,000 tokens? (c) Describe one task for which you would choose a synthesizer,
# and one for which you would not. (d) On our reviews, what would you have to measure before you say "keys and queries are needed"?

# %% [markdown] essay="worth_it_essay"
# **Rubric** (half a point for each, 2 points in all)
#
# - (a) It saves one $D \times D$ layer ($D^2 + D$, about 263 thousand parameters) and $L D^2$ products; at $L = 4096$ that is a tenth of the products ($(D + L)/(2D + L) = 0.9$ remain). It costs $DN + AN$ parameters, about 2.1 million, more than it saves, since $N > D$. (The random one: no products, but $A N^2$, 134 million parameters.)
# - (b) There is no column of $B$ (no row and column of $R$) for the positions from 4,096 on: the text must be cut, or the model made and trained anew.
# - (c) For: tasks where a token's own position, or the token itself, fixes which position to look at (aligned sequences, local context, "look at the previous word"). Against: retrieval, copying by name, coreference, question answering, anything where the position depends on what stands elsewhere. A reason must be given.
# - (d) At least one of: equal number of parameters or equal compute, more seeds, more training, several layers, real text, a learning rate chosen for each kind.
#
# **Misconceptions that cost marks**: "it is linear in the length" (the square of scores remains); "it needs no attention weights"; "fewer parameters in any case"; "random means that it does not learn".
#
# **Answers as students write them**
#
# - *Full marks (2 of 2)*: "(a) The dense one saves a D x D layer, D^2 + D or about 263 thousand parameters, and L D^2 products, which at L = 4096 is
#   only a tenth: (D + L)/(2D + L) = 0.9 of the products remain. It costs DN + AN parameters, about 2.1 million, more than it saves, since N is far
#   above 505. (b) For the positions from 4,096 on there is no column of B, so the text must be cut or the model made and trained anew. (c) I would
#   choose it where the token or its own position says where to look, such as 'look at the previous word'; not for answering questions on a
#   text, where the position depends on what stands elsewhere. (d) The four models of our run do not have the same number of parameters; I would make
#   them equal, train longer than three epochs and with more seeds, and choose a learning rate for each." Why: (a) to (d), half a point each.
# - *Half (1 of 2)*: "(a) The dense synthesizer needs no keys, so it has fewer parameters in any case, and it is linear in the length. (b) With 5,000
#   tokens there is no column of B for the last 904 positions; one has to cut the text, or to make a larger model and train it again. (c) For: a task
#   where one always looks at the word before, because the position is known without comparing. Against: finding a name again somewhere in the text,
#   because where it stands is different each time. (d) Key-query had 10.3 and dense 11.4, so nothing must be measured any more: keys and queries are
#   needed." Why: (b) and (c) with reasons (1). (a) has two misconceptions: at N = 4096 it has more parameters, and the square of scores remains (0.5
#   lost). (d) measures nothing further, though parameters, epochs and seeds differ or are few (0.5 lost).
# - *No marks (0 of 2)*: "(a) The synthesizer saves the whole attention, as it needs no attention weights, and it costs a little accuracy. (b) A text
#   of 5,000 tokens takes longer, but it works as with any other attention. (c) I would choose it for short texts and not for long ones. (d) One would
#   have to measure whether keys and queries are needed." Why: (a) has no formula and a misconception (it has weights, they are made in another way),
#   (b) overlooks that B ends at 4,096, (c) gives no task and no reason, (d) restates the question.

# %% [markdown] questions
# ## Three questions
#
# For yourself: open an answer to see whether it is right.
#
# 1. One layer of a dense synthesizer stays at one answer in eight on look-up. What keeps it there?
#    - It has too few parameters for eight letters and 24 numbers. => A wider layer is another function of the same token. The bound does not depend on the width.
#    - It has not been trained for long enough. => After 700 steps one block still stands at 0.13. The bound was counted before any training.
#    + Its weights depend on the question alone, not the pairs. => Two sentences with the same question get the same row, though the answer stands elsewhere.
#    - It does not know at which position a token stands. => It does: the position is part of the token's vector, and each position has a column of its own in B.
# 2. Token 3 is exchanged for another one. What can happen at token 6, in one layer of a dense synthesizer?
#    - Nothing, since its scores are made from token 6 alone. => That holds for its weights. The value of token 3 is part of the weighted average.
#    + Its output changes, and its weights do not. => The others have no part in the choice of where to look, but what stands there is taken in.
#    - Its weights change, since it may look at token 3. => They would with keys and queries, where token 3 brings another key.
# 3. What does the dense synthesizer save in a model of width 512 that reads 4,096 tokens?
#    + One layer, and with it a tenth of the products. => What remains is (D + L) / (2D + L), here 0.9 of the products.
#    - The square of scores: its cost is linear in the length. => It still makes a score for each pair of positions, and each is a sum of D/A products.
#    - Parameters: there are no keys, so fewer have to be learned. => B has a column for each position: from about N = D on it has more parameters than keys and queries.

# %% [markdown]
# ## What to remember
#
# - A key-query score is made from $x_i$ and $x_j$, a dense score from $x_i$ and the number $j$, a random one from $i$ and $j$.
# - $B$ and $b_2$ are made for `max_len` positions and **cut to the length**; beyond `max_len` there is nothing.
# - The dense synthesizer saves one layer of products. The square of scores remains, and its parameters grow with `max_len`.
# - What a layer knows when it chooses puts rows into groups; the most frequent position in each group is **the best it can do**, before any training: fixed positions for all three, positions named by the token for dense and key-query, look-up by content for key-query alone.
# - "Cannot in one layer" is a statement about *looking*. What comes before and after the layer may find a way around, at a price.
#
# **Go further.** Mix them: let a layer add key-query scores and dense scores before the softmax, and learn how much of each, as the paper does. Does it learn `fixed` faster than keys and queries alone, and does it keep `look-up`? Then try the *bag* trick of section 9
# with pairs that did not occur in training: leave ten of the 192 words out of the training sentences, and ask for them. Notebook 10 asks where facts live when nothing can be looked up at all.

# %% [markdown]
# ## What others call it
#
# - **content-based attention**: scores that compare two tokens; **position-based attention**: scores that know only positions.
# - **associative recall** (also *key-value look-up*): the task `look-up`.
# - **Bayes-optimal accuracy**: the best that anybody can do with what is known; `compare_tasks` gives it for each kind of layer.
# - **quadratic complexity**: cost that grows with the square of the length.
# - **token mixing**: what a layer does that carries information from token to token, by attention or otherwise; with fixed learned weights, as the random synthesizer does.
# - **factorisation**: making a large matrix as the product of two thin ones.

# %% experiment open=true
from tutor import progress

progress()
