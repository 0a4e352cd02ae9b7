# ---
# jupyter:
#   course:
#     teaches: what a recurrence does, and what was given up and gained by leaving it
#     part: attention
#     column: 0
#     row: 3
#     builds_on: ["09"]
#     running: 1
#     questions:
#       - Why was recurrence given up?
#       - What does a state of fixed size still hold after many words?
#       - Which is faster, in training and in generation, and from which length on?
#       - How far does a window see?
#   jupytext:
#     notebook_metadata_filter: course
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 13 · Leaving recurrence
#
# Somebody reads you a list: *c5, a2, f7, ...* You may not write it down, and you hear each pair once. Then comes the question: *what was c?*
#
# Until about 2018 most of the networks that led in language modelling read in this way: **recurrently**, from word to word, with one vector that they carried
# along, the **state**. All that they knew of what came before was in it. Attention goes back to the list each time it is asked. For this it keeps the whole list, and compares each word with each.
#
# For a long text the old way is the cheaper one on paper: no square, and a memory that does not grow. Yet it was given up. In this notebook you build it, as a *gated recurrent unit*, put it beside attention on the same task, time both, and work out by formulas the table with
# which the Transformer's authors made their case. At the end you can judge the exchange yourself, and say when you would undo it.
#
# **When you are done, you can**
# - write a GRU cell, one step and whole sentences with padding, equal to PyTorch's;
# - measure how far a gradient reaches back, and say what the update gate has to do with it;
# - tell which part of the work must wait for another one, in training and in generation;
# - build a sliding window, and count the layers that it takes from the first token to the last;
# - compare recurrence, attention and windows by formulas: work, waiting, paths.
#
# **Time**: about 2 h 30 min. **Before this**: notebooks 01 (masks), 03 (attention and heads), 05 (formulas with sympy) and 09 (the look-up task).
#
# | exercise | what it asks | points |
# |---|---|---|
# | `GRUCell` | one step of a recurrence, equal to PyTorch's | 5 |
# | `unroll` | a whole batch, token by token; padding leaves the state | 4 |
# | `gradient_by_distance` | how far the last output feels an input | 3 |
# | `sliding_window_mask` | attention that sees a few tokens back | 2 |
# | `layers_to_reach` | how many layers the first token needs to the last | 2 |
# | `costs` | nine formulas: work, waiting, paths | 4 |
# | *essay* `exchange_essay` | what was given up, what was gained | 2 |
# | **total** | | **22** |
#
# Folded cells are experiments: they train, draw or take times, and no mark depends on them.

# %% setup
import math
import time

import sympy
import torch
from torch import Tensor, nn

from helpers import plots
from tutor import by_hand, check, guess, hint, resume, reveal
from helpers.models import Attention, Context

# %% [markdown]
# **Four questions** to keep in mind. Section 8 answers them.
#
# 1. Six pairs are heard, and one is asked for. Is a pair that was heard long ago harder, for a GRU and for attention?
# 2. A sentence twice as long: how much longer does a training step take, for each of the two?
# 3. And generation, one word after the other: is attention faster there, too?
# 4. Each token sees itself and the two before it. How many layers until token 11 can know of token 0?
#
# The picture shows the two ways from a token to a later state. From $x_0$ to $h_3$ there are four arrows above, and one below:

# %% experiment
# @title From a token to a later state: step by step, or in one look
from helpers.diagrams import Diagram

def draw_row(picture: Diagram, bottom: float, name: str, kind: str, recurrent: bool) -> None:
    """Draws four tokens, above them the states that read them, and an arrow for each reading."""
    for position in range(4):
        x = 0.6 + 1.0 * position
        picture.box(f"{name} x{position}", (x, bottom), f"$x_{position}$", width=0.6)
        picture.box(f"{name} h{position}", (x, bottom + 0.75), f"$h_{position}$", kind, width=0.6)
        if recurrent and position:
            picture.arrow(f"{name} h{position - 1}", f"{name} h{position}")
        for other in [position] if recurrent else range(position + 1):
            picture.arrow(f"{name} x{other}", f"{name} h{position}")
    picture.note((0.3, bottom + 1.15), name, weight="bold")


picture = Diagram(4.2, 3.2)
draw_row(picture, 1.85, "recurrence: one step after the other", "part", recurrent=True)
draw_row(picture, 0.25, "attention: all tokens at once", "attention", recurrent=False)
picture.show(
    "Four tokens and their states, twice. Recurrence: each state is made of its token and the state "
    "before it, so token 0 reaches state 3 in four steps. Attention: each state reads its own token "
    "and all before it, so token 0 reaches state 3 in one."
)

# %% [markdown]
# ## 1. One step
#
# A recurrence is one function, used again and again: it takes a token $x$ and the old state $h$ and gives the new state. The simplest form, $h' = \tanh(x W + h U)$, overwrites everything in each step. A **gated** one decides for each value of the state how much of it
# stays. In the form of PyTorch ($\sigma$ is the sigmoid, between 0 and 1, and $\odot$ multiplies value by value):
#
# $$ \begin{aligned}
# r &= \sigma(x W_r + b_r + h U_r + c_r) && \text{reset gate} \\
# z &= \sigma(x W_z + b_z + h U_z + c_z) && \text{update gate} \\
# n &= \tanh\big(x W_n + b_n + r \odot (h U_n + c_n)\big) && \text{candidate} \\
# h' &= (1 - z) \odot n + z \odot h && \text{new state}
# \end{aligned} $$
#
# - $z$ near 1: the value **stays**, whatever the token says. $z$ near 0: it is replaced.
# - $r$ near 0: the candidate is made from the token alone, as if nothing had been read before.
#
# The letters $r$, $z$ and $n$ are those of PyTorch's page, and $h$ is the state, not the number of heads. In shapes such as `(b, n, d)`, $n$ is the number of tokens, as in the other notebooks.
#
# ### By hand
#
# Width 1, token $x = 2$, old state $h = 0.5$. The three $W$ are $1, -1, 0.5$, the three $U$ are $2, 2, 4$, and there are no biases. What are $r$, $z$, $n$ and $h'$? How much of the old state stays?
#
# Write $h'$ in place of the dots, with two digits after the point, and run the cell.

# %% by_hand
by_hand("GRUCell", ...)  # the new state

# %% experiment
# @title Both gates, the candidate and the new state of the example
x, h = torch.tensor(2.0), torch.tensor(0.5)
r = torch.sigmoid(1 * x + 2 * h)
z = torch.sigmoid(-1 * x + 2 * h)
n = torch.tanh(0.5 * x + r * (4 * h))
print(f"r = sigmoid(3) = {r:.3f},  z = sigmoid(-1) = {z:.3f},  n = {n:.3f}")
print(f"new state = {1 - z:.3f} * {n:.3f} + {z:.3f} * {h:.1f} = {(1 - z) * n + z * h:.3f}")

# %% [markdown]
# A good quarter of the old state stays, $z = 0.269$; the rest is candidate.
#
# ### Exercise: the cell
#
# As in PyTorch, one layer makes all that comes from the token, three times $d$ values: first those for $r$, then those for $z$, last those for $n$. Another layer does the same for the state. `part.chunk(3, dim=-1)` cuts into three.

# %% exercise="GRUCell"
class GRUCell(nn.Module):
    """One step of a gated recurrent unit: `cell(x, state)`.

    Its only parameters are from_input, an nn.Linear(d_in, 3 * d), and from_state, an
    nn.Linear(d, 3 * d); each gives d numbers for the reset gate, d for the update gate and d for
    the candidate, in this order. No dropout, and nothing is kept from one call to the next.
    PyTorch's own (nn.GRUCell, nn.GRU, torch.gru_cell) is no answer, and earns nothing.
    """

    def __init__(self, d_in: int, d: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.from_input = nn.Linear(d_in, 3 * d)
        self.from_state = nn.Linear(d, 3 * d)
        ### END SOLUTION

    def forward(self, x: Tensor, state: Tensor) -> Tensor:
        """Returns the new state `(b, d)` of tokens `x` `(b, d_in)` and the old state `(b, d)`."""
        ### BEGIN SOLUTION
        x_reset, x_update, x_new = self.from_input(x).chunk(3, dim=-1)  # (b, d) each
        h_reset, h_update, h_new = self.from_state(state).chunk(3, dim=-1)  # (b, d) each
        reset = torch.sigmoid(x_reset + h_reset)
        update = torch.sigmoid(x_update + h_update)
        candidate = torch.tanh(x_new + reset * h_new)
        return (1 - update) * candidate + update * state
        ### END SOLUTION


# %% [markdown]
# Is it PyTorch's ([its page](https://docs.pytorch.org/docs/stable/generated/torch.nn.GRU.html))? Give both the same weights, and ask. (The GRU comes from [Cho et al. 2014](https://arxiv.org/abs/1406.1078). In their published paper they multiply by $r$ *before* the matrix: $(r \odot h)\, U_n$. PyTorch does so *after* it: then one matrix product makes $h U_r$, $h U_z$ and $h U_n$ at once. Both are called GRU; weights trained for one are wrong for the other.)

# %% experiment
# @title Your cell beside PyTorch's, with the same weights
torch.manual_seed(0)
theirs, yours = nn.GRUCell(5, 8), GRUCell(5, 8)
yours.from_input.load_state_dict({"weight": theirs.weight_ih, "bias": theirs.bias_ih})
yours.from_state.load_state_dict({"weight": theirs.weight_hh, "bias": theirs.bias_hh})
x, state = torch.randn(4, 5), torch.randn(4, 8)
print("the same new state:", torch.allclose(yours(x, state), theirs(x, state), atol=1e-6))

# %% [markdown]
# ## 2. A whole sentence
#
# Now the loop. It cannot be avoided: state $t$ needs state $t-1$.
#
# A batch holds sentences of several lengths. With attention, a mask hid the padding (notebook 01). Here padding can do harm to the memory: a state that goes on reading padding *changes*, and what
# it knew of the sentence fades.
#
# **By hand.** A "cell" that only adds the token to the state, two sentences of lengths 3 and 1, padded with 9: `x` is $[[1, 2, 3], [4, 9, 9]]$, and both states begin with 0. What are the states after each step?

# %% by_hand
by_hand("unroll", [
    [..., ..., ...],  # sentence 0, after each of three steps
    [..., ..., ...],  # sentence 1, of length 1
])

# %% [markdown]
# Sentence 0 has the states 1, 3, 6, and sentence 1 has 4, 4, 4, and not 4, 13, 22: what stands behind its end is not read.

# %% exercise="unroll"
def unroll(cell, x: Tensor, lengths: Tensor, state: Tensor) -> Tensor:
    """Returns the states `(b, n, d)` after each token of a batch, read from left to right.

    Args:
        cell: function of tokens `(b, d_in)` and states `(b, d)` that gives the new states `(b, d)`.
        x: the sentences, padded at the end, `(b, n, d_in)`.
        lengths: how many tokens of each sentence are real, `(b,)`, from 1 to n.
        state: the states before the first token, `(b, d)`.

    From its end on, the state of a sentence stays as it is, whatever the padding holds, NaN
    too: so `unroll(...)[:, -1]` is what is left of each sentence. There are n states also where
    no sentence has n tokens. They are on the device of x.
    """
    ### BEGIN SOLUTION
    states = []
    for t in range(x.size(1)):
        new = cell(x[:, t], state)  # (b, d)
        real = (t < lengths).unsqueeze(1)  # (b, 1)
        state = torch.where(real, new, state)
        states.append(state)
    return torch.stack(states, dim=1)  # (b, n, d)
    ### END SOLUTION


# %% [markdown]
# `nn.GRU` does all this at once, and faster; for padding it wants a *packed* batch. The last states must be yours.

# %% experiment
# @title The last states of your loop and of PyTorch's GRU
from torch.nn.utils.rnn import pack_padded_sequence

torch.manual_seed(1)
gru = nn.GRU(5, 8, batch_first=True)
cell = nn.GRUCell(5, 8)
cell.load_state_dict({name.removesuffix("_l0"): weight for name, weight in gru.state_dict().items()})
x, lengths = torch.randn(3, 6, 5), torch.tensor([6, 2, 4])
packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
_, last = gru(packed)  # (1, b, d)
states = unroll(cell, x, lengths, torch.zeros(3, 8))
print("the same last states:", torch.allclose(states[:, -1], last[0], atol=1e-6))

# %% [markdown]
# ## 3. What the state still holds
#
# The look-up task of notebook 09, in the form of the introduction. A sentence has twelve tokens. Six letters come in random order, each with a number from 0 to 7, all different; **after each pair one question** is asked about a letter that was heard already. The
# answer stands 1, 3, 5, ... or 11 tokens back: this is the *distance*, and we count right answers for each distance by itself.
#
# The distance is not the number of pairs heard so far: the last question of the sentence below comes after six pairs, and its answer stands only five tokens back.

# %% experiment
# @title The look-up task: one sentence, its answers and their distances
PAIRS, NUMBERS = 6, 8


def shuffled(count: int, size: int, generator: torch.Generator) -> Tensor:
    """Returns `count` shuffled orders of the numbers below `size`, `(count, size)`."""
    return torch.rand(count, size, generator=generator).argsort(dim=1)


def sentences(count: int, generator: torch.Generator) -> tuple[Tensor, ...]:
    """Returns letters and numbers `(count, 12)`, then answers and distances `(count, 6)`.

    Pairs and questions take turns; a question has the number 8.
    """
    letters = shuffled(count, PAIRS, generator)
    numbers = shuffled(count, NUMBERS, generator)[:, :PAIRS]
    heard = torch.arange(1, PAIRS + 1)
    back = (torch.rand(count, PAIRS, generator=generator) * heard).long()  # 0: the last pair
    asked = heard - 1 - back
    questions = letters.gather(1, asked), torch.full_like(asked, NUMBERS)
    return (torch.stack([letters, questions[0]], dim=2).flatten(1),
            torch.stack([numbers, questions[1]], dim=2).flatten(1),
            numbers.gather(1, asked), 2 * back + 1)


letters, numbers, answers, distances = sentences(1, torch.Generator().manual_seed(15))
names = [f"{'abcdef'[a]}{'?' if b == NUMBERS else int(b)}" for a, b in zip(letters[0], numbers[0])]
print("sentence: ", " ".join(names))
print("answers:  ", *answers[0].tolist())
print("distances:", *distances[0].tolist())

# %% [markdown]
# How well does someone do who remembers the numbers, but not which letter they came with? With $k$ numbers heard, a guess among them is right once in $k$. Where the answer is near, $k$ is often small, so this guesser, too, has its best results there. It is the dotted line of the figure, and the one to beat.
#
# One layer each, in the same surroundings as in notebook 09: embeddings of letter, number and position, the layer, and a head with eight outputs. One GRU has a state of 64 numbers, one of 16; three seeds each. Attention gets 300
# steps, the GRUs 800, each with a learning rate that did well in a few trials.

# %% experiment
# @title The two layers: a GRU, and attention under a mask
class Recurrent(nn.Module):
    """PyTorch's GRU in the form of a layer: `(b, n, d)` in, the states `(b, n, d)` out."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.gru = nn.GRU(d_model, d_model, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.gru(x)[0]


class MaskedAttention(Attention):
    """The attention of `helpers.models`, one head, under a mask `(n, n)`."""

    def __init__(self, d_model: int, mask: Tensor | None) -> None:
        super().__init__(d_model, n_heads=1)
        self.mask = mask

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x, Context(mask=self.mask))


# %% experiment
# @title What is around each layer: embeddings and a head
class Reader(nn.Module):
    """Embeddings, one layer, and a score for each of 8 numbers."""

    def __init__(self, layer: nn.Module, d_model: int) -> None:
        super().__init__()
        sizes = PAIRS, NUMBERS + 1, 2 * PAIRS
        self.letter, self.number, self.position = (nn.Embedding(size, d_model) for size in sizes)
        self.layer, self.head = layer, nn.Linear(d_model, NUMBERS)

    def embed(self, letters: Tensor, numbers: Tensor) -> Tensor:
        """Returns `(b, 12, d)` of letters and numbers `(b, 12)`."""
        return self.letter(letters) + self.number(numbers) + self.position.weight

    def forward(self, letters: Tensor, numbers: Tensor) -> Tensor:
        """Returns scores for the answers of the six questions, `(b, 6, 8)`."""
        return self.head(self.layer(self.embed(letters, numbers)))[:, 1::2]


# %% experiment
# @title How the models are trained and measured
TEST = sentences(1000, torch.Generator().manual_seed(99))
DISTANCES = range(1, 2 * PAIRS, 2)


@torch.no_grad()
def by_distance(model: nn.Module) -> list[float]:
    """Returns the share of right answers at each distance, on 1,000 sentences of the test."""
    letters, numbers, answers, distances = TEST
    right = (model(letters, numbers).argmax(dim=-1) == answers).float()  # (1000, 6)
    return [right[distances == distance].mean().item() for distance in DISTANCES]


def learn(model: nn.Module, seed: int, steps: int, rate: float, log: bool) -> nn.Module:
    """Trains a model on fresh sentences and returns it."""
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for step in range(1, steps + 1):
        letters, numbers, answers, _ = sentences(32, generator)
        loss = nn.functional.cross_entropy(model(letters, numbers).flatten(0, 1), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if log and step % (steps // 4) == 0:
            shares = by_distance(model)
            print(f"  step {step:3}  loss {loss.item():.2f}  perplexity {loss.exp().item():.1f}"
                  f"  right at distance 1: {shares[0]:.2f}, at distance 11: {shares[-1]:.2f}")
    return model


# %% [markdown]
# Numbers from 0 to 7 that are drawn blindly are right once in eight. How often is the GRU with a state of 64 right about a pair that stands eleven tokens back? Write a share between 0 and 1 in place of the dots, or leave them and go on: a guess earns nothing and costs nothing.

# %% guess
guess("share of right answers at distance 11, GRU with a state of 64", ...)

# %% measured
# @title Training: attention, and a GRU with a large and a small state
from tqdm import tqdm

causal = torch.full((2 * PAIRS, 2 * PAIRS), -torch.inf).triu(1)
LAYERS = {
    "attention": (lambda: Reader(MaskedAttention(64, causal), 64), 300, 3e-3),
    "GRU, state of 64": (lambda: Reader(Recurrent(64), 64), 800, 6e-3),
    "GRU, state of 16": (lambda: Reader(Recurrent(16), 16), 800, 6e-3),
}
shares = {}
for name, (make, steps, rate) in tqdm(LAYERS.items(), unit="kind"):
    print(name)
    for seed in range(3):
        torch.manual_seed(seed)
        model = learn(make(), seed, steps, rate, log=seed == 0)
        shares.setdefault(name, []).append(by_distance(model))

# %% measured
# @title How often is an answer right that stands far back?
heard = torch.arange(1, PAIRS + 1).expand_as(TEST[3])
guesser = [(1 / heard[TEST[3] == distance]).mean().item() for distance in DISTANCES]
figure, (axes,) = plots.panels(1, width=6.6, height=3.4)
plots.curves(shares, DISTANCES, title="Look-up by distance: mean and range of three seeds",
             x_label="distance of the answer (tokens)", y_label="accuracy", axes=axes)
axes.plot(DISTANCES, guesser, color="#555555", linestyle=":", label="a guess among those heard")
axes.set(ylim=(0, 1.05), xticks=list(DISTANCES))
axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
plots.show(figure, plots.describe_curves(shares | {"a guess": guesser}, DISTANCES, "distance", digits=2))
print(f"{'':18}", *[f"{distance:>5}" for distance in DISTANCES])
for name, runs in (shares | {"a guess": [guesser]}).items():
    print(f"{name:18}", *[f"{share:5.2f}" for share in torch.tensor(runs).mean(dim=0)])

# %% reveal
reveal("share of right answers at distance 11, GRU with a state of 64",
       sum(run[-1] for run in shares["GRU, state of 64"]) / len(shares["GRU, state of 64"]))

# %% [markdown]
# **Attention** is right at every distance: the question is compared with each pair, and it does not matter where the pair stands.
#
# The **GRU** with a state of 64 falls from 0.87 at distance 1 to 0.38 at distance 11 in our run. The one with a state of 16 lies on the dotted line: that is the score of someone who knows which numbers were heard, and not which letter each came with. (At the far end it is even below the line: that guesser forgets no number. The embeddings of this GRU have width 16, too.)
#
# Mind what is mixed in this curve. A distance of 11 occurs only at the last question, when six pairs have been heard, and a distance of 1 also when it was the only one. So the curve falls because answers are far away *and* because more has been heard; and the far ones are seldom asked in training. "Go further" takes them apart.
#
# Is the state too small? Six letters with six different numbers of eight: there are $8 \cdot 7 \cdot 6 \cdot 5 \cdot 4 \cdot 3 = 20{,}160$ such tables, which 15 bits can tell apart. A state of 64 values has room enough for that.
#
# And look at the log: the near distances, which are asked far more often, are learned first. In our run, distance 11 was at 0.16 after 400
# steps, and at 0.36 after 800. Nothing says that it would stop there.
#
# So the figure shows what is **hard to learn**, and not what is impossible. With every token the GRU has to write a number into its state under the name of a letter, without touching the others; and a mistake shows only at a
# question many steps later.
#
# ## 4. How far does a gradient reach?
#
# To learn that a number eleven tokens back was the right one, training must send its gradient there. In a recurrence it goes back through every state in between (*backpropagation through time*), and each step multiplies it by something. Measure what arrives.
#
# ### Exercise: the gradient by distance
#
# How strongly does the *last* output depend on the input $k$ steps before it? Add up the numbers of the last outputs of all sentences; the gradient of this one number by `x` has the shape of `x`. For each token take the length of its gradient
# (the root of the sum of squares), and the mean over the sentences.

# %% exercise="gradient_by_distance"
def gradient_by_distance(model, x: Tensor) -> Tensor:
    """Returns the size of the gradient of the last output by the input k steps before, `(n,)`.

    Args:
        model: function of `(b, n, d)` that gives outputs `(b, n, d)`, such as a GRU or attention.
        x: the inputs, `(b, n, d)`; they stay as they are, and ask for no gradient afterwards.

    Entry k belongs to the token k positions before the last one: for each sentence the length of the
    gradient of the sum of its last output's numbers, and of that the mean over the sentences. The
    result has the type of x and is on its device.
    """
    ### BEGIN SOLUTION
    inputs = x.detach().clone().requires_grad_()
    last = model(inputs)[:, -1].sum()
    (gradient,) = torch.autograd.grad(last, inputs)  # (b, n, d)
    sizes = gradient.norm(dim=-1)  # (b, n)
    return sizes.mean(dim=0).flip(0)
    ### END SOLUTION


# %% [markdown]
# The next cell takes four new layers of width 64 that have learned nothing yet, and sentences of 60 tokens. Beside attention there are a GRU as PyTorch starts it, and two whose update gates start with a bias of 2 and of 4: then $z$ is near $\sigma(2) = 0.88$ or $\sigma(4) = 0.98$, and the state mostly stays.
#
# All
# curves begin at distance 1 and are divided by their first value: they show how much is left of it farther back. (Distance 0 is another matter. The last token is also the one that asks, and in attention its query moves all weights.)
#
# By how many powers of ten does the gradient of the GRU, as PyTorch starts it, shrink from distance 1 to 59? (1 is a tenth of it, 2 a hundredth.)

# %% guess
guess("powers of ten that the gradient of a new GRU loses in 58 steps", ...)

# %% experiment
# @title How much of the gradient is left, farther and farther back?
def slow(bias: float) -> Recurrent:
    """Returns a new GRU layer of width 64 whose update gates start with this bias."""
    layer = Recurrent(64)
    with torch.no_grad():
        layer.gru.bias_hh_l0[64:128] += bias  # the second third
    return layer


KINDS = {"attention": lambda: MaskedAttention(64, None), "GRU": lambda: slow(0),
         "GRU, bias 2": lambda: slow(2), "GRU, bias 4": lambda: slow(4)}
reach = {}
for name, make in KINDS.items():
    for seed in range(3):
        torch.manual_seed(seed)
        layer, x = make(), torch.randn(16, 60, 64)
        sizes = gradient_by_distance(layer, x)
        reach.setdefault(name, []).append((sizes[1:] / sizes[1]).tolist())  # distances 1 to 59

figure, (axes,) = plots.panels(1, width=6.6, height=3.4)
plots.curves(reach, range(1, 60), title="Gradient of the last output, by distance: three seeds",
             x_label="distance (tokens)", y_label="size, distance 1 = 1", axes=axes, log_y=True)
axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
plots.show(figure, plots.describe_curves(reach, range(1, 60), "distance", digits=1))
for name, runs in reach.items():
    mean = torch.tensor(runs).mean(dim=0)
    print(f"{name:12}", *[f"distance {k}: {mean[k - 1]:.0e}" for k in (2, 10, 59)], sep="   ")

# %% reveal
reveal("powers of ten that the gradient of a new GRU loses in 58 steps",
       -torch.tensor(reach["GRU"]).mean(dim=0)[-1].log10())

# %% [markdown]
# - **The GRU as it starts**: a straight line on this logarithmic scale, so at each step back the gradient shrinks by about the same factor. Over 60 tokens that makes twelve powers of ten. What stands there can hardly be learned from: the *vanishing gradient*.
# - **With slow gates**: where the update gate is $z$, the state passes on $z$ times the old one, and the gradient goes back the same way. $\sigma(4)^{58} = 0.982^{58} = 0.35$ from distance 1 to 59, and about that much arrives. The gate is what gradients travel by. For the LSTM, the GRU's older relative,
#   [Jozefowicz et al. (2015)](https://proceedings.mlr.press/v37/jozefowicz15.html) found that a gate which keeps the old at the start, by a bias of 1, helps. It has a price: with $z = 0.98$ a new token has a weight of 0.02, and must wait until training gives it more.
# - **Attention** is flat: every token is one look away. Flat does not say large: before training each of the 60 tokens has about one sixtieth of the weight, so each gets a small gradient, and all of them about the same.
#
# ## 5. What must wait
#
# Now the clock. A model does two kinds of work. In **training**, which notebook 03 has timed already (section 11), it reads a sentence that is there as a whole. In **generation** it makes one token, which is then the next input: here both have to wait.
#
# We time one sentence of random tokens, width 64, on one thread:
# a training step (forward and backward), and writing token by token, the GRU with its state, attention with keys and values kept (as the decoder of notebook 11 does).
#
# Your guesses, for 512 tokens: how many times as long as attention's does the GRU's training step take? And which of the two writes faster?

# %% guess
guess("time of the GRU's training step divided by attention's, 512 tokens", ...)

# %% guess
guess("which writes 512 tokens faster", ..., among=["GRU", "attention"])

# %% measured
# @title How the times are taken
def fastest(work, *inputs) -> float:
    """Returns the milliseconds of the fastest of several calls, after one that does not count."""
    work(*inputs)
    taken = []
    while len(taken) < 3 or sum(taken) < 0.25:
        start = time.perf_counter()
        work(*inputs)
        taken.append(time.perf_counter() - start)
    return 1000 * min(taken)


def step_of(layer: nn.Module, *inputs) -> None:
    """Makes one training step's forward and backward pass."""
    layer(*inputs).square().mean().backward()


@torch.no_grad()
def write_recurrent(layer: Recurrent, x: Tensor) -> None:
    """Reads token by token, passing on the state."""
    state = None
    for token in x.split(1, dim=1):  # (1, 1, d)
        _, state = layer.gru(token, state)


@torch.no_grad()
def write_attention(layer: Attention, x: Tensor) -> None:
    """Reads token by token, keeping all keys and values."""
    context = Context(cache={})
    for token in x.split(1, dim=1):
        layer(token, context)


# %% measured
# @title Milliseconds for one sentence, in training and in generation
threads = torch.get_num_threads()
torch.set_num_threads(1)
torch.manual_seed(0)
lengths = [16, 32, 64, 128, 256, 512]
recurrent, attention = Recurrent(64), Attention(64, 4)
training, writing = {"attention": [], "GRU": []}, {"attention": [], "GRU": []}
for length in tqdm(lengths, unit="length"):
    x = torch.randn(1, length, 64)
    training["GRU"].append(fastest(step_of, recurrent, x))
    training["attention"].append(fastest(step_of, attention, x, Context(causal=True)))
    writing["GRU"].append(fastest(write_recurrent, recurrent, x))
    writing["attention"].append(fastest(write_attention, attention, x))
torch.set_num_threads(threads)

figure, axes = plots.panels(2, width=4.2, height=3.3)
told = []
for axis, (name, times) in zip(axes, {"training": training, "generation": writing}.items()):
    plots.curves(times, lengths, title=f"{name}: time for one sentence", x_label="length (tokens)",
                 y_label="milliseconds", axes=axis, log_x=True, log_y=True)
    told.append(f"{name}: " + plots.describe_curves(times, lengths, "length", digits=2))
plots.show(figure, "Milliseconds. " + " ".join(told))
for name, times in {"training": training, "generation": writing}.items():
    ratios = [gru / other for gru, other in zip(times["GRU"], times["attention"])]
    print(f"{name:8} time of the GRU / time of attention:",
          *[f"{length}: {ratio:.1f}" for length, ratio in zip(lengths, ratios)], sep="  ")

# %% reveal
reveal("time of the GRU's training step divided by attention's, 512 tokens",
       training["GRU"][-1] / training["attention"][-1])

# %% reveal
reveal("which writes 512 tokens faster", min(writing, key=lambda name: writing[name][-1]))

# %% [markdown]
# (These are times of one machine and one moment; yours differ, and so do two runs. Look at the shapes; both axes are logarithmic.)
#
# - **Training.** The GRU's time grows about as the length does: each token waits for the state before it, and on the way back each gradient waits for the one after it. Attention makes all rows in a few large matrix products, and its line is far below, even at length 512, where it needs three times *as many*
#   multiplications as the GRU (section 7).
# - **Waiting.** So it is not the work that makes the difference, but the waiting: a step that waits is a small matrix product by itself, with all that a call costs, and whatever could compute beside it has nothing to do. We took one thread; with many, or on a graphics card, there
#   is more that has nothing to do.
# - **Generation.** That advantage is gone. Each new word has to wait for the last one, and attention, too, now makes small matrix products, token by token. Each new token also looks at all keys and values that are kept, so its work grows with the length of what has been written, and so does the memory (section 7 gives the formulas). The GRU's token number 10,000 costs what its first one did.
#
# Vaswani et al. give this as the reason in their introduction: "This inherently sequential nature precludes parallelization within training examples, which becomes critical at longer sequence lengths".
#
# ## 6. A window
#
# Attention compares each token with each: a square. If it looks back a few positions only, the square becomes a band. The *Longformer* of [Beltagy et al. (2020)](https://arxiv.org/abs/2004.05150) and [Mistral 7B](https://arxiv.org/abs/2310.06825) have such windows; table 1 of Vaswani et al. calls it
# *restricted* self-attention. (Theirs and the Longformer's reach to both sides of a token; ours, as Mistral's, only back.) With a window of 3, each token sees itself and the two before it.

# %% exercise="sliding_window_mask"
def sliding_window_mask(size: int, window: int) -> Tensor:
    """Returns the mask `(size, size)` of a causal window: 0 where token i may look, else -inf.

    Token i (the row) sees `window` positions, its own included: i - window < j <= i. Where the
    sentence begins, there are fewer. Example: sliding_window_mask(3, 2) has the rows
    [0, -inf, -inf], [0, 0, -inf] and [-inf, 0, 0]. `window` is at least 1.
    """
    ### BEGIN SOLUTION
    i = torch.arange(size).unsqueeze(1)  # (size, 1): the token that looks
    j = torch.arange(size)  # (size,): the token looked at
    seen = (j <= i) & (j > i - window)  # (size, size)
    return torch.zeros(size, size).masked_fill(~seen, -torch.inf)
    ### END SOLUTION


# %% [markdown]
# What does a window cost? The next cell puts one of 6 tokens into the look-up task of section 3 and trains again. Which distances will it get right?
#
# In the figure the mask is on the left: grey squares are cut off (minus infinity), the others are what a token sees (0).

# %% guess
guess("the largest distance that a window of 6 still answers", ...)

# %% measured
# @title Look-up with a window of 6, and with all tokens in sight
window_shares = {"attention": shares["attention"], "window of 6": []}
for seed in tqdm(range(3), unit="seed"):
    torch.manual_seed(seed)
    windowed = Reader(MaskedAttention(64, sliding_window_mask(2 * PAIRS, 6)), 64)
    window_shares["window of 6"].append(by_distance(learn(windowed, seed, 300, 3e-3, log=seed == 0)))

figure, (left, right) = plots.panels(2, width=4.2, height=3.3)
plots.matrix(sliding_window_mask(2 * PAIRS, 6), "window of 6, twelve tokens", axes=left)
plots.curves(window_shares, DISTANCES, title="Look-up by distance: three seeds",
             x_label="distance of the answer (tokens)", y_label="accuracy", axes=right)
right.plot(DISTANCES, guesser, color="#555555", linestyle=":", label="a guess")
right.set(ylim=(0, 1.05), xticks=list(DISTANCES))
right.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
plots.show(figure, "Left, a band of six positions, the diagonal and five below it. "
           "Right, share of right answers: "
           + plots.describe_curves(window_shares, DISTANCES, "distance", digits=2))
for name, runs in window_shares.items():
    print(f"{name:12}", *[f"{share:5.2f}" for share in torch.tensor(runs).mean(dim=0)])

# %% reveal
means = torch.tensor(window_shares["window of 6"]).mean(dim=0)
reveal("the largest distance that a window of 6 still answers",
       max(distance for distance, share in zip(DISTANCES, means) if share > 0.5))

# %% [markdown]
# A cliff: right up to distance 5, and from distance 7 on about one in eight, as if drawn blindly. (It could do better: it sees three pairs, and when the letter is not among them, the answer is none of their numbers. It has not learned that.) A GRU fades; a window ends. (With one layer, that is.)

# %% [markdown] pause
# You have built a GRU and a window, and measured how far they and attention reach, and how long they take. Next you count: how many layers a window needs, and what each kind of layer costs.

# %% [markdown]
# ### Exercise: through several layers
#
# With a second layer there is a way around. Take a window of 3: token 2 sees token 0 and knows of it; token 4 sees token 2, and so learns of token 0 at second hand. How many layers does a window need until the *last* token can know of the *first*?
#
# **By hand**: twelve tokens, 0 to 11, and a window of 3, so that each token sees itself and the two before it. How many layers?

# %% by_hand
by_hand("layers_to_reach", ...)  # layers until token 11 can know of token 0

# %% [markdown]
# Each layer carries the news two positions on, and 11 positions take six layers, the last of them not used to the full. Move the slider: the right-hand picture
# shows who can know of whom. (In these two pictures a *blue* square means yes: the left one shows what is seen, and not the mask.)

# %% interactive
# @title Who can know of whom, after so many layers? Move the slider
from ipywidgets import IntSlider, interact


def show_reach(layers: int) -> None:
    """Draws the window of one layer, and who can know of whom after several."""
    seen = (sliding_window_mask(12, 3) == 0).float()  # (12, 12)
    known = torch.linalg.matrix_power(seen, layers) > 0
    figure, (left, right) = plots.panels(2, width=3.6, height=3.6)
    plots.matrix(seen, "one layer: a window of 3", axes=left, limits=(0, 1))
    plots.matrix(known, f"who can know of whom, layers: {layers}", axes=right, limits=(0, 1),
                 row_label="who knows", column_label="of whom")
    farthest = int(known[:, 0].nonzero().max())
    plots.show(figure, f"Two squares of 12 by 12 positions. Left, a band of three positions. Right, after "
               f"{layers} layers of it: token {farthest} is the last that can know of token 0.")


interact(show_reach, layers=IntSlider(value=2, min=1, max=7, description="layers",
                                      continuous_update=False));

# %% experiment
# @title The same picture for those who only read: two layers
show_reach(2)

# %% exercise="layers_to_reach"
def layers_to_reach(size: int, window: int) -> int:
    """Returns how many layers of a window are needed until the last of `size` tokens can know of
    the first.

    `window` is at least 2, and counts the token itself. Example: 2 for size 5 and window 3.
    A sentence of one token needs no layer: 0.
    """
    ### BEGIN SOLUTION
    return math.ceil((size - 1) / (window - 1))
    ### END SOLUTION


# %% [markdown]
# *Can* know: the way is there. Whether anything useful travels on it, from layer to layer, is for training to find out. Mistral 7B has 32 layers and a window of 4,096 tokens, and its authors speak of a span of about 131 thousand tokens: $32 \cdot 4095 + 1 = 131\,041$. Does your function agree? It is tried with a window of 64, so that a mask of all the tokens, if it makes one, fits into memory.

# %% experiment
# @title How far do 32 layers with a window of 64 reach?
window, layers = 64, 32
farthest = layers * (window - 1) + 1  # the longest sentence that 32 layers are enough for
print(f"{farthest:,} tokens: {layers_to_reach(farthest, window)} layers;"
      f" one token more: {layers_to_reach(farthest + 1, window)}")

# %% [markdown]
# ## 7. The table, by formulas
#
# Table 1 of Vaswani et al. compares kinds of layers in three respects, in orders of growth ($O(n^2 d)$: it grows like $n^2 d$, up to a constant factor); here are three of its four rows (convolutions are left out). The letters are the paper's: $n$ is the length, $d$ the width and $r$ the size of a neighbourhood, not the candidate and the reset gate of section 1.
#
# | layer | complexity | sequential operations | maximum path length |
# |---|---|---|---|
# | self-attention | $O(n^2 d)$ | $O(1)$ | $O(1)$ |
# | recurrent | $O(n d^2)$ | $O(n)$ | $O(n)$ |
# | self-attention, restricted | $O(r n d)$ | $O(1)$ | $O(n / r)$ |
#
# Orders of growth leave factors out. Yours will be exact, for the layers of this notebook. The letters are $D$ (width), $A$ (heads), $L$ (length) and $W$ (window, with $2 \le W \le L$; no weights here), and three things are counted:
#
# - **products**: multiplications of two numbers, counted in all matrix products of one layer for one sentence, as in notebook 09: $(p, q)$ with $(q, s)$ takes $p \cdot q \cdot s$. Gates, biases and softmax do not count. The recurrence is a `GRUCell` from width $D$ to $D$. Attention has the layers query, key, value and output, makes all
#   $L \cdot L$ scores, and averages the values by them; a window makes $W$ scores for each token, and averages $W$ values (count it so at the beginning of the sentence, too).
# - **steps**: how many tokens must be worked out one after the other while a sentence is read, in one layer; 1 where all are worked out at the same time.
# - **path**: how many times what the first token says is handed on until the last token has it. In a recurrence it is handed from state to state, in attention by one look; with a window, by one look in each layer, so here it is the number of layers. (The arrow from $x_0$ to $h_0$, in the picture of a recurrence at the beginning, does not count: it only brings the token into the first state.)
#
# **By hand**: $D = 2$, $L = 5$ and one head. How many products does the recurrence make, and how many does attention make?

# %% by_hand
by_hand("costs", [..., ...])  # products of the recurrence, products of attention

# %% [markdown]
# The GRU multiplies $(1, 2)$ with $(2, 6)$ twice in each of 5 steps: 120 products. Attention: four times $(5, 2)$ with $(2, 2)$, that is 80; $(5, 2)$ with $(2, 5)$ and $(5, 5)$ with $(5, 2)$, 100 for one head; in all 180. And for two heads of width 1? (The same: each makes 25 and 25.)

# %% setup
D, A, L, W = sympy.symbols("D A L W", positive=True, integer=True)

# %% exercise="costs"
def costs() -> dict[str, sympy.Expr]:
    """Returns nine formulas in D, A, L and W: what one layer costs, and how far news has to go.

    Returns:
        A dict with the keys "recurrence products", "recurrence steps", "recurrence path", and the
        same three for "attention" and for "window". `sympy.ceiling` rounds up.

    An entry without letters may be a plain number such as 1, or sympy's: `sympy.Integer(1)`.
    Example: at D = 2, L = 5 the entry "recurrence products" is 120, "attention products" 180.
    """
    ### BEGIN SOLUTION
    layers = 4 * L * D**2  # query, key, value, output: (L, D) with (D, D)
    head = L * (D / A) * L + L * L * (D / A)  # scores, then the average of the values
    head_of_window = L * (D / A) * W + L * W * (D / A)
    return {
        "recurrence products": L * 2 * D * (3 * D),  # token and state, with (D, 3D)
        "recurrence steps": L,
        "recurrence path": L - 1,
        "attention products": layers + A * head,
        "attention steps": sympy.Integer(1),
        "attention path": sympy.Integer(1),
        "window products": layers + A * head_of_window,
        "window steps": sympy.Integer(1),
        "window path": sympy.ceiling((L - 1) / (W - 1)),
    }
    ### END SOLUTION


# %% experiment
# @title Your nine formulas as a table
from helpers.formulas import in_letters

found = {name: in_letters(entry, D, A, L, W) for name, entry in costs().items()}  # plain numbers, too
at = {D: 512, A: 8, W: 128}
print(f"{'':12}{'products':>24}{'steps':>8}{'path':>28}")
for kind in ("attention", "recurrence", "window"):
    products, steps, path = (found[f"{kind} {what}"] for what in ("products", "steps", "path"))
    print(f"{kind:12}{sympy.expand(products)!s:>24}{steps!s:>8}{path!s:>28}")
equal = sympy.solve(sympy.Eq(found["attention products"], found["recurrence products"]), L)
print("attention makes as many products as the recurrence at L =", equal[0])

# %% experiment
# @title Products, steps and paths as sentences get longer
lengths = [2**power for power in range(7, 15)]  # from the window's width on
figure, axes = plots.panels(3, width=3.4, height=3.2)
told = []
labels = {"products": "multiplications", "steps": "tokens one after the other", "path": "times handed on"}
for (what, label), panel in zip(labels.items(), axes):
    lines = {kind: [float(found[f"{kind} {what}"].subs(at | {L: length})) for length in lengths]
             for kind in ("attention", "recurrence", "window")}
    plots.curves(lines, lengths, title=what, x_label="length L", y_label=label, axes=panel,
                 log_x=True, log_y=True)
    panel.lines[-1].set_linestyle("--")  # the window: it hides no other line
    panel.legend(frameon=False)
    panel.set_xticks(lengths[::2])
    told.append(f"{what}: " + plots.describe_curves(lines, lengths, "length", digits=2))
figure.suptitle("One layer of width 512; window of 128")
plots.show(figure, "Width 512, window 128. " + " ".join(told))

# %% [markdown]
# Attention makes fewer products than the GRU **as long as the sentence is shorter than the layer is wide**, $L < D$, exactly: on the left the two curves cross at 512. Vaswani et al. say so for orders of growth: self-attention is faster than recurrence when $n$ is smaller than $d$, which, they write, is most often the case in translation. So for sentences, not having to wait did not even cost more work.
#
# The square outgrows all else only where texts are long, and there a window with $W < D$ is the cheapest of the three: it neither waits nor squares, and pays with a longer path.
#
# One column is missing in that table: what must be **kept in generation**. A recurrence keeps its state, $D$ numbers, however much it has read. Attention keeps keys and values, $2 L D$ numbers in each layer; a window $2 W D$.
#
# ## 8. Looking back
#
# The four questions of the beginning, answered.
#
# 1. **Distance**: far answers are harder for the GRU (but more has been heard there, too); to attention all distances are the same (section 3). It is a statement about this training: the state had room, and more steps brought more.
# 2. **Training**: about twice as long for the GRU. For attention less than that as long as the calls cost more than the multiplications, and more when the square rules (section 5).
# 3. **Generation**: no; there each token waits in any case, and attention's has more to look at (sections 5 and 7).
# 4. **The window**: $\lceil 11 / 2 \rceil = 6$ layers (section 6).
#
# Nor was the exchange made in a day. Convolutions, which look at a window, had beaten strong recurrent networks on one large text before it ([Dauphin et al. 2016](https://arxiv.org/abs/1612.08083)). In March 2018 recurrent ones set records again ([Merity et al. 2018](https://arxiv.org/abs/1803.08240)). In August [Al-Rfou et al. 2018](https://arxiv.org/abs/1808.04444) were ahead of them, character by character, with attention alone. Recurrent networks that translated had attention beside the recurrence, from [Bahdanau et al. (2015)](https://arxiv.org/abs/1409.0473) on.
#
# The story did not end in 2017. Layers have come that are recurrences in generation, with a state of fixed size, and can be trained without waiting: [Katharopoulos et al. (2020)](https://arxiv.org/abs/2006.16236) take the softmax out of attention and find a recurrence, and the state-space layers of
# [Gu and Dao (2023)](https://arxiv.org/abs/2312.00752) let the token decide what is kept, as gates do. For another family without attention, gated convolutions, [Arora et al. (2023)](https://arxiv.org/abs/2312.04927) trace 82 % of the gap to attention to one thing, the question of section 3: recalling what was said before.
#
# ## 9. Essay
#
# In English or in French, a few sentences for each part. (a) What did a recurrence have that attention has given up? Name two things, with formulas. (b) What was gained? Name two things, with formulas or with measurements of this notebook. (c) Someone looks at the figure of section 3 and says: "a GRU cannot remember more
# than a few tokens." What do sections 3 and 4 say to that? (d) A model on a hearing aid is to follow what is said all day, word by word; another one is to be trained on a library in a data centre. Which kind of layer for which, and why?

# %% [markdown] essay="exchange_essay"
# **Rubric** (half a point for each, 2 points in all)
#
# - (a) Two of: a memory of fixed size in generation ($D$ numbers, against $2LD$ keys and values); a fixed cost for each token, $6D^2$, against one that grows with what stands before, $4D^2 + 2LD$; products linear in the length, $6LD^2$, against $2L^2D$; an order that needs no positions; no longest sentence.
# - (b) Two of: one step in place of $L$ in training, measured as the smaller time of a training step; a path of 1 in place of $L - 1$, seen in the gradient that does not shrink with distance; fewer products while $L < D$; look-up that does not depend on the distance.
# - (c) What was measured is what was learned in 800 steps, one setting. In the log, answers get better with more steps, the near ones first; with a bias on the update gate the gradient reaches 60 tokens back. "Cannot" is not shown. (The state of 16 is a matter of room and of training, which this run cannot tell apart.)
# - (d) The hearing aid: a recurrence (or a window), since memory and time for each word are fixed however long the day. The library: attention, since all tokens of a text are trained at once. A reason must be given for both.
#
# **Misconceptions that cost marks**: "attention needs less memory"; "attention is faster in generation, too"; "recurrence was given up because it makes more products"; "a GRU forgets after a fixed number of tokens"; "a GRU has no gradient beyond ten tokens, whatever its gates".
#
# **Answers as students write them**
#
# - *Full marks (2 of 2)*: "(a) A recurrence keeps D numbers while it writes and pays 6D^2 products for each token, however long the text; attention keeps 2LD numbers, and each new
#   token looks at all of them. (b) State t waits for state t - 1, so a sentence takes L steps, and attention takes one, which is why its training step was so much faster; and the path
#   from the first token to the last is 1 in place of L - 1, so the gradient arrives undiminished by the distance. (c) The figure shows what 800 steps have taught one setting: the log still rises, near
#   distances first, and with a bias of 4 on the update gate the gradient reaches 60 tokens back, so 'cannot' is too much. (d) On the hearing aid I would take a recurrence, since its memory and
#   its time for each word stay the same all day; in the data centre attention, which trains all positions of a text at once." Why: (a) to (d), half a point each.
# - *Half (1 of 2)*: "(a) It needs only its state of D numbers, and the work grows with L and not with the square of L. (b) Training does not wait any more, 1 step in place of L, and every
#   token can look at every other one directly, so that the path is 1. (c) That is right, the GRU forgets what is more than five tokens ago, one sees it in the curve. (d) Attention for both, because it is
#   faster in generation, too." Why: (a) and (b) (1). (c) takes what one training has learned for a limit and overlooks the update gate (0.5 lost). (d) holds a misconception: when writing, each token
#   waits, and what attention keeps grows all day (0.5 lost).
# - *No marks (0 of 2)*: "(a) Nothing was given up, since attention is better in everything. (b) It makes fewer products for any length and needs less memory. (c) A GRU forgets, that is known. (d) The small device gets a small
#   Transformer and the data centre a large one." Why: No part is met: (a) and (b) are misconceptions (the square, the kept keys and values), (c) repeats the claim in place of examining it, (d) speaks of sizes and gives no
#   reason.

# %% [markdown] questions
# ## Three questions
#
# For yourself: open an answer to see whether it is right.
#
# 1. Recurrence was given up for training on long texts. What was the reason?
#    - It makes more multiplications than attention. => Only while the sentence is shorter than the layer is wide; at length 512 it made a third as many here, and was slower.
#    + Each state must wait for the one before it. => A sentence takes $L$ steps, one after the other; attention works out all its tokens at once.
#    - Its state needs more memory than keys and values. => The state has $D$ numbers however long the text is; keys and values are $2LD$ in each layer.
# 2. A new GRU's gradient shrinks by twelve powers of ten over 60 tokens. What follows?
#    - No GRU can learn from what stands so far back. => With a bias of 4 on the update gate about a third of the gradient arrives: it depends on the gates.
#    - A GRU forgets each token after a fixed number of steps. => No number is fixed: how much of the old state stays is decided by the gate, anew in each step.
#    + As it starts, it can hardly learn from there. => What arrives is too small to learn from; other gates, at the start or after training, let more through.
# 3. A model writes token number 10,000. For which layer does this token cost more than token number 10 did?
#    + For attention: it looks at all that is kept. => $4D^2 + 2LD$ products, with the $L$ of what stands before; a recurrence makes $6D^2$ each time.
#    - For the GRU: its state has grown with each token. => A state has the same $D$ numbers after every token.
#    - For neither: what has been read is kept in both cases. => Kept, it need not be worked out again; but attention still compares the new token with all of it.

# %% [markdown]
# ## What to remember
#
# - A **recurrence** carries one state from token to token; a **gate** decides how much of it stays. Padding must leave it alone.
# - In a recurrence, what is far back comes through every step in between, and so does its gradient. Attention reaches it in one look.
# - In training, the recurrence **waits** $L$ times and attention once. In generation both wait, and it is attention whose cost for each token grows.
# - Attention makes fewer products than a GRU exactly while $L < D$.
# - A **window** of $W$ needs no square; news of the first token takes $\lceil (L-1)/(W-1) \rceil$ layers to the last.
#
# **Go further.** Count right answers at the last question alone, when six pairs have been heard at any distance: how much of the fall is left? Start the update gates of section 3's GRU with a bias of 1 or 2, and train again: does the far end of the curve rise? Then give it 3,000 steps. And take two layers of a window of 6 with a residual between them: do they learn distance 7?

# %% [markdown]
# ## What others call it
#
# - **recurrent network** (also *RNN*): one function used at each token, with a state that is handed on; **GRU** and **LSTM** have gates.
# - **backpropagation through time** (also *BPTT*): gradients that go back from state to state.
# - **vanishing gradient**: it shrinks by a factor at each step back.
# - **receptive field**: what a token can know of, after so many layers.
# - **linear attention**: attention without the softmax, which can be computed as a recurrence.
# - **state-space model** (also *SSM*): a recurrence that can be trained without waiting.
# - **sequential operations**: what must be done one after the other; the rest can be done in *parallel*.

# %% experiment open=true
from tutor import progress

progress()
