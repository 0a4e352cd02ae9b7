# ---
# jupyter:
#   course:
#     teaches: how a model knows the order of words
#     part: attention
#     column: 2
#     row: 0
#     builds_on: ["01"]
#     running: 1
#     questions:
#       - How does it know the order?
#       - Why can attention alone not tell who hunts whom?
#       - What do sinusoids, a table, ALiBi and rotations buy, and what do they cost?
#       - What happens on sentences longer than any in training?
#   jupytext:
#     notebook_metadata_filter: course
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 02 · Positional encoding
#
# *Le chat chasse la souris. La souris chasse le chat.* The same five words, two very different evenings. In this notebook you
# see that attention alone cannot tell the two sentences apart, and you build four cures: sinusoids, a learned table, a bias on
# the distance (ALiBi) and rotations (rotary). At the end they compete on one task, on sentences up to four times longer than any
# that they have trained on.
#
# **When you are done, you can**
# - measure from outside whether a model sees the order of its words;
# - write sinusoidal, learned, ALiBi and rotary positions, and say what each of them costs;
# - add positions along the right axis, and find the mistake when somebody has not;
# - explain why a shift is a rotation, and what that has to do with attention;
# - predict what happens to each kind of positions on sentences longer than in training.
#
# **Time**: about 2 h 45 min. **Before this**: notebook 01; sine and cosine; what a rotation in the plane is.
#
# | exercise | what it asks | points |
# |---|---|---|
# | `order_blindness` | a measurement: does a model see the order? | 2 |
# | `sinusoidal_encoding` | the table of sines and cosines | 3 |
# | `add_positions` | add the table along the right axis | 3 |
# | `shift_matrix` | the matrix that moves every position by the same offset | 3 |
# | `LearnedPositions` | a module with a trainable table | 3 |
# | `alibi_bias` | a bias on the distance, one slope for each head | 3 |
# | `rotary` | queries and keys turned by their position | 3 |
# | *essay* `position_essay` | what each kind buys and what it costs | 2 |
# | **total** | | **22** |

# %% setup
import torch
from torch import Tensor, nn

from helpers import plots
from tutor import by_hand, check, guess, hint, resume, reveal
from helpers.models import Classifier, TransformerBase

# %% [markdown]
# ## 1. A bag of words
#
# ### By hand, with five words
#
# Take the word *chasse*. It looks at all five words of *le chat chasse la souris*. The table has $e^{\text{score}}$ for each of them, and each word carries a *value* of one
# number only. (No mask here: every word sees every word.)
#
# | | le | chat | chasse | la | souris |
# |---|---|---|---|---|---|
# | $e^{\text{score}}$ | 1 | 4 | 2 | 1 | 2 |
# | value | 0 | 10 | 5 | 0 | 20 |
#
# The powers sum to 10, so the weights are 0.1, 0.4, 0.2, 0.1, 0.2, and the output is $0.4 \cdot 10 + 0.2 \cdot 5 + 0.2
# \cdot 20 = 9$. Now write the columns in the order *la souris chasse le chat* and compute again. Nothing changes: a sum has no order. Each word
# asks "what is in the bag?", and never "where?".
#
# Does a whole Transformer do better, with its layers and heads? Below, one with random weights and **without positions** reads both
# sentences. (All in lower case: for a model, *Le* and *le* are two different words.)

# %% experiment
# @title Two sentences, read by a Transformer without positions
vocabulary = ["le", "chat", "chasse", "la", "souris"]  # the number of a word is its index in this list


def encode_words(*sentences: str) -> Tensor:
    """Returns the tokens of sentences of equal length, (b, n)."""
    return torch.tensor([[vocabulary.index(word) for word in sentence.split()] for sentence in sentences])


chat_first, souris_first = "le chat chasse la souris", "la souris chasse le chat"
torch.manual_seed(0)
bag_model = TransformerBase(5, d_model=8, n_layers=2, n_heads=2, positions="none", causal=False).eval()
with torch.no_grad():
    states = bag_model(encode_words(chat_first, souris_first))  # (2, 5, 8)

figure, axes = plots.panels(2, width=3.6, height=3.2)
for axis, sentence, square in zip(axes, (chat_first, souris_first), states):
    plots.matrix(
        square, sentence, rows=sentence.split(), axes=axis,
        row_label="word", column_label="number of the hidden state",
    )
alt = ("Two matrices of hidden states, a row for each word. "
       "The row of each word is the same in both; only their order differs.")
plots.show(figure, alt)
print(f"largest difference between the two rows of souris: {(states[0, 4] - states[1, 1]).abs().max():.1f}")

# %% [markdown]
# Look for the row *souris* on the left (the last) and on the right (the second): the same eight colours. So are the rows of
# *chat*, and of all the others. The hunter and the hunted have the same *hidden states*, the rows that come out at the top, in both sentences. Whatever reads one of these states, or their mean, cannot say who hunts whom.
#
# ## 2. Exercise: is it blind?
#
# Make it a measurement, from outside, that works for any *encoder*: a model that gives one hidden state for each token. (Models and their parts are *modules*, of torch's class
# `nn.Module`. A module is in training mode or, after `eval()`, in evaluation mode, in which nothing is left to chance.)
#
# A *permutation* is a list of positions: `permutation = [3, 4, 2, 0, 1]` puts the word at position 3 first, then that at position 4, and so on. There are two ways:
# - encode the sentence, then put the **outputs** into the new order;
# - put the **words** into the new order, then encode.
#
# If the two agree for every permutation, moving a word does nothing but move its output: the encoder is blind to the order. You have just seen it with
# `[3, 4, 2, 0, 1]`, which makes *la souris chasse le chat* out of *le chat chasse la souris*. (This one is its own inverse: done twice, it changes nothing. So it cannot tell a permutation from its inverse; `[1, 2, 3, 4, 0]` can.)
#
# > **A test that always says 0.** `x[permutation]` picks along axis 0: it puts the *sentences* of the batch into another order, not the words. No model
# > of this course mixes sentences, so the difference is 0 for each of them, even for one that sees the order very well. The words stand along axis 1.

# %% exercise="order_blindness"
def order_blindness(encoder: nn.Module, x: Tensor, permutation: Tensor) -> float:
    """Returns the largest absolute difference between "encode, then permute" and "permute, then encode":
    one number, over all sentences, words and hidden numbers. The encoder stays as it is, and in the mode
    in which it came: if you call `eval()`, put the mode back. It comes in evaluation mode, or without
    dropout (which makes a model random in training mode).

    Args:
        encoder: called on tokens `(b, n)`, it returns hidden states `(b, n, d)`.
        x: the tokens of b sentences, `(b, n)`.
        permutation: `(n,)`; position i gets what stood at `permutation[i]`, in every sentence.

    Example: 0 (up to rounding) for an encoder without positions and without a mask.
    """
    ### BEGIN SOLUTION
    with torch.no_grad():
        moved_after = encoder(x)[:, permutation]  # (b, n, d)
        moved_before = encoder(x[:, permutation])  # (b, n, d)
    return (moved_after - moved_before).abs().max().item()
    ### END SOLUTION


# %% [markdown]
# Now test four models with random parameters: one without positions, one without positions but with the causal mask of notebook 01, and two with positions. (Sinusoidal and rotary
# are two kinds of them; sections 3 and 7 build them.) The first is blind, as you have seen. Is the second? Write one of the two answers, in quotation marks, in place of the
# dots, or leave them and go on.

# %% guess
guess("no positions, but a causal mask", ..., among=["blind", "sees the order"])

# %% experiment
# @title How far four models are from being blind to the order
sentences, permutation = encode_words(chat_first, souris_first), torch.tensor([3, 4, 2, 0, 1])
kinds = {
    "no positions, sees both sides": {"positions": "none", "causal": False},
    "no positions, causal mask": {"positions": "none", "causal": True},
    "sinusoidal, sees both sides": {"positions": "sinusoidal", "causal": False},
    "rotary, sees both sides": {"positions": "rotary", "causal": False},
}
for name, options in kinds.items():
    torch.manual_seed(0)
    encoder = TransformerBase(5, d_model=8, n_layers=2, n_heads=2, **options).eval()
    print(f"{name:30} {order_blindness(encoder, sentences, permutation):.1f}")

# %% reveal
def with_a_mask() -> str:
    """Returns what a model without positions, but with a causal mask, sees of the order."""
    masked = TransformerBase(5, d_model=8, n_layers=2, n_heads=2, positions="none", causal=True).eval()
    return "blind" if order_blindness(masked, sentences, permutation) < 0.001 else "sees the order"


reveal("no positions, but a causal mask", with_a_mask)

# %% [markdown]
# The second line surprises many people. The causal mask of notebook 01 says nothing about positions, yet it breaks the symmetry: the first word sees one
# word, the second one two, and so on. From that, a deep enough model can find out where it is, and
# language models without any positions do work ([Haviv et al., 2022](https://arxiv.org/abs/2203.16634), section 4).
#
# Remember it for the end: "no positions" is blind without a mask; with a mask, section 8 has a surprise for you.
#
# So the order must be given to a model, and there are three places on the way where it can enter. The next sections take them one by one. (Read the picture from the
# bottom. The *embedding* of a word is the row of numbers that stands for it before the first layer.)

# %% experiment
# @title The three places where positions can enter
from helpers.diagrams import Diagram

picture = Diagram(4.1, 3.8)
picture.column(1.2, 0.3, [
    ("tokens", "tokens (b, n)", "data"),
    ("embeddings", "embeddings (b, n, d)", "data"),
    ("queries", "queries, keys (b, n, d)", "data"),
    ("scores", "scores (b, n, n)", "data"),
    ("weights", "weights (b, n, n)", "attention"),
], step=0.8, width=1.75)
ways = {"embeddings": "add a vector to each:\nsinusoidal, learned",
        "queries": "turn each by an angle:\nrotary", "scores": "subtract the distance:\nALiBi"}
for row, (end, text) in enumerate(ways.items()):
    picture.box(text, (3.15, 1.1 + 0.8 * row), text, "part", width=1.65)
    picture.arrow(text, end)
picture.show(
    "A column from tokens over embeddings, queries and keys, and scores to weights. Positions can "
    "enter in three places: a vector is added to each embedding (sinusoidal, learned), queries and "
    "keys are turned by an angle (rotary), or the distance is subtracted from the scores (ALiBi)."
)

# %% [markdown]
# ## 3. A clock for each position
#
# How could we tell a model the *position* $p$ of a word in its sentence, 0 for the first word, 1 for the second? We add something to its vector. But what?
#
# - **The number $p$ itself?** At position 1000 it drowns the word, whose numbers are about 1.
# - **$p$ divided by the length?** Then one step means 0.1 in a sentence of ten words and 0.001 in a long text.
# - **A clock hand** that turns by the same angle at each position? It stays of length 1 and every step is alike. But after a full turn it
#   is back: positions 0 and 60 of a minute hand look the same.
# - **Several hands of different speeds**, as the hours, minutes and seconds of a clock. That is the idea of
#   [Vaswani et al. (2017)](https://arxiv.org/abs/1706.03762), section 3.5.
#
# A hand needs two numbers: how far it points to the right, $\sin(\text{angle})$, and how far up, $\cos(\text{angle})$. The table $PE$ of positional encodings has a row for each position $p$; pair
# number $i$ of the $d/2$ pairs stands in its columns $2i$ and $2i + 1$:
#
# $$ PE_{p,\,2i} = \sin\frac{p}{10000^{2i/d}} \qquad\qquad PE_{p,\,2i+1} = \cos\frac{p}{10000^{2i/d}} $$
#
# **By hand, with $d = 4$.** There are two pairs, $i = 0$ and $i = 1$. In the first, $p$ is divided by $10000^0 = 1$, in the second by $10000^{2/4} = 100$: their
# *speeds* are 1 and 1/100. Work out the last two rows with a calculator, in radians:
#
# | position $p$ | $\sin p$ | $\cos p$ | $\sin(p/100)$ | $\cos(p/100)$ |
# |---|---|---|---|---|
# | 0 | 0 | 1 | 0 | 1 |
# | 1 | 0.84 | 0.54 | 0.01 | 1.00 |
# | 2 | ? | ? | ? | ? |
# | 100 | ? | ? | ? | ? |
#
# Write them in place of the dots, with two digits after the decimal point, and run the cell. It says whether they are right and, if it can, where they come from when they
# are not; no mark depends on it.

# %% by_hand
by_hand("sinusoidal_encoding", [
    [..., ..., ..., ...],  # position 2
    [..., ..., ..., ...],  # position 100
])

# %% [markdown]
# Position 2 has 0.91, −0.42, 0.02 and 1.00, position 100 has −0.51, 0.86, 0.84 and 0.54. The last two you have met before: at position 100 the slow hand stands where the fast one
# stood at position 1. The next cell draws the hands of these four positions.

# %% experiment
# @title The fast and the slow hand at four positions
figure, axes = plots.panels(4, width=2.3, height=2.6)
for axis, p in zip(axes, (0, 1, 2, 100)):
    hands = {f"speed {speed:g}": torch.tensor([p * speed, p * speed + torch.pi / 2]).sin()
             for speed in (1, 0.01)}
    plots.clock(hands, f"position {p}", axes=axis)
    axis.set(xlabel="sine", ylabel="cosine" if p == 0 else "")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
alt = (
    "Four clocks. At position 0 both hands point up. "
    "At 1 and 2 the fast hand has turned by 57 and 115 degrees, the slow one hardly. "
    "At 100 the slow hand stands at 57 degrees, where the fast one stood at position 1."
)
plots.show(figure, alt)

# %% [markdown]
# ### Exercise: the table, and three ways to get it wrong
#
# - Sine and cosine share the exponent of their *pair*: in column 3 it is $2/d$, not $3/d$.
# - `torch.arange(0, d_model, 2)` already counts $0, 2, 4, \dots$: that is $2i$, not $i$.
# - The columns alternate: sine, cosine, sine, cosine. Some libraries put all sines first; their tables have the same columns
#   in another order, and a model trained with one does not work with the other.

# %% exercise="sinusoidal_encoding"
def sinusoidal_encoding(max_len: int, d_model: int) -> Tensor:
    """Returns the sinusoidal positions, floating point numbers of shape `(max_len, d_model)`.

    Row p belongs to position p, from 0. Columns 2i and 2i + 1 hold the sine and the cosine of
    p / 10000^(2i / d_model). d_model is even; max_len may be several thousand.

    Example: sinusoidal_encoding(2, 4) is [[0, 1, 0, 1], [0.8415, 0.5403, 0.0100, 1.0000]].
    """
    ### BEGIN SOLUTION
    two_i = torch.arange(0, d_model, 2)  # (d/2,)
    angles = torch.arange(max_len).unsqueeze(1) / 10000 ** (two_i / d_model)  # (max_len, d/2)
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (max_len, d/2, 2)
    return pairs.flatten(1)  # (max_len, d)
    ### END SOLUTION


# %% [markdown]
# Left, your table, blue above 0 and red below it: each row is the pattern that one position adds to its word. The columns on the left turn fast, those on the right hardly
# move. Right, how alike two positions are: the dot product of position 20 (or 40) with every other position.

# %% experiment
# @title Your table, and how alike two positions are
table = sinusoidal_encoding(64, 64)  # (64, 64)
likeness = table @ table.T  # (64, 64), the dot product of every two positions

figure, (left, right) = plots.panels(2, width=4.6, height=4.2)
plots.matrix(sinusoidal_encoding(16, 16), "16 positions, 16 columns", axes=left,
             row_label="position p", column_label="column")
lines = {"with position 20": likeness[20].tolist(), "with position 40": likeness[40].tolist()}
plots.curves(lines, range(64), title="How alike are two positions?",
             x_label="position", y_label="dot product", axes=right)
alt = ("Left, a striped table. Right, two curves of the same shape, "
       f"with peaks of {likeness[20, 20]:.0f} at position 20 and at position 40.")
plots.show(figure, alt)

# %% [markdown]
# Two things to see. On the whole, near positions are more alike than far ones. And the two curves are the **same curve, shifted**: how alike two positions are
# depends on their distance only. Section 5 explains why.
#
# ## 4. Exercise: along which axis?
#
# Adding the table looks like the easiest line of the whole Transformer. It is one of the most often wrong. Your words are
# `x`, of shape `(b, n, d)`: b sentences of n words. Word $j$ of **every** sentence gets row $j$ of the table.
#
# > **A mistake that is easily copied.** Unless told otherwise, PyTorch's Transformer layers want the *sequence* first, `(n, b, d)`, and so did
# > its tutorial on language models ([withdrawn in 2024](https://github.com/pytorch/tutorials/pull/2910); its code lives on in many programs).
# > There the table has the shape `(max_len, 1, d)`, and `x + table[:x.size(0)]` is right.
# >
# > Copy that line into a program whose
# > tensors are *batch* first, and `x.size(0)` is the number of sentences. Nothing crashes: sentence 0 gets position 0 for all its words,
# > sentence 1 gets position 1, and nothing says which word comes first.
# >
# > If you correct it to `x.size(1)` but keep the axis of 1 in the middle, it
# > fails for most batches. It runs, just as wrong, when by chance $b = n$, and when $b = 1$: then $n$ sentences come out.
#
# See it happen. The table below is `0, 1, 2, ...` itself and the words are all 0, so that each square shows the position which a word
# has been given.

# %% experiment
# @title The positions that nine words are given, in three ways
sequence_first = torch.arange(10.0).view(10, 1, 1)  # (max_len, 1, d) as in the tutorial, with d = 1
b, n = 3, 3
x = torch.zeros(b, n, 1)  # three sentences of three words
given = {
    "as it should be": torch.arange(n).expand(b, n),
    "table[:x.size(0)]": (x + sequence_first[: x.size(0)])[..., 0],
    "table[:x.size(1)]": (x + sequence_first[: x.size(1)])[..., 0],
}
figure, axes = plots.panels(3)
for axis, (name, result) in zip(axes, given.items()):
    plots.matrix(
        result, name, digits=0, axes=axis, limits=(0, 2), row_label="sentence", column_label="word"
    )
plots.show(figure, "First: every sentence has the positions 0, 1, 2. "
           "The two others: 0, 0, 0, then 1, 1, 1, then 2, 2, 2.")

# %% [markdown]
# In the two squares on the right each sentence has *one* position for all its words. No error so far, because $b = n = 3$. And with two sentences?

# %% experiment open=true
for b in (3, 2):
    try:
        x = torch.zeros(b, n, 1) + sequence_first[:n]
        print(f"table[:x.size(1)] with b = {b} and n = {n}: no error")
    except RuntimeError:
        print(f"table[:x.size(1)] with b = {b} and n = {n}: RuntimeError")

# %% [markdown]
# The rule: a table `(n, d)` **without** any extra axis fits `(b, n, d)`, because torch lines up shapes from the end, and b is then
# filled by repetition. And test with $b \ne n$.

# %% exercise="add_positions"
def add_positions(x: Tensor, encoding: Tensor) -> Tensor:
    """Returns x with the position of each word added, `(b, n, d)`; x and the encoding stay as they were.
    Gradients must pass through it, to both.

    Args:
        x: word vectors, `(b, n, d)`: b sentences of n words.
        encoding: one row for each position, `(max_len, d)` with max_len at least n.

    Example: with x of zeros `(2, 3, 1)` and the encoding [[0], [1], [2], [3]],
    both sentences become [[0], [1], [2]].
    """
    ### BEGIN SOLUTION
    n = x.shape[1]
    return x + encoding[:n]  # (b, n, d) + (n, d): the same rows for each sentence
    ### END SOLUTION


# %% [markdown]
# What does the wrong axis cost? Here is one attention layer, with three ways of adding the table, and your `order_blindness` as the
# judge.

# %% experiment
# @title How blind one layer is, with the table added in three ways
class SmallEncoder(nn.Module):
    """Word vectors, positions added in the given way, and one Transformer layer."""

    def __init__(self, add) -> None:
        super().__init__()
        self.add, self.embedding = add, nn.Embedding(5, 16)
        self.layer = nn.TransformerEncoderLayer(
            16, nhead=2, dim_feedforward=16, dropout=0.0, batch_first=True
        )

    def forward(self, tokens: Tensor) -> Tensor:
        return self.layer(self.add(self.embedding(tokens)))  # (b, n, 16)


table = sinusoidal_encoding(10, 16).float()
ways = {
    "no positions": lambda x: x,
    "along the batch axis": lambda x: x + table.unsqueeze(1)[: x.size(0)],
    "add_positions": lambda x: add_positions(x, table),
}
for name, add in ways.items():
    torch.manual_seed(0)
    print(f"{name:22} {order_blindness(SmallEncoder(add).eval(), sentences, permutation):.1f}")

# %% [markdown]
# With the wrong axis, the model is *exactly* as blind as without positions. It still trains, its loss still falls (a bag of words says a lot), and
# no test of shapes complains. Moreover, the output for a sentence now depends on which row of the batch it stands in.
#
# ## 5. A shift is a rotation
#
# Let us look at the hands again. At position $p$ a hand of speed 1 stands at the angle $p$. Three positions later it stands at $p + 3$: it has turned by 3
# radians. *Whatever $p$ is*. Turning by a fixed angle is a rotation of the plane, and a rotation is a matrix. From the addition formulas
#
# $$ \sin(p + k) = \cos k \, \sin p + \sin k \, \cos p \qquad \cos(p + k) = -\sin k \, \sin p + \cos k \, \cos p $$
#
# we read off
#
# $$ \begin{pmatrix} \sin(p+k) \\ \cos(p+k) \end{pmatrix} = \begin{pmatrix} \cos k & \sin k \\ -\sin k & \cos k \end{pmatrix}
# \begin{pmatrix} \sin p \\ \cos p \end{pmatrix} $$
#
# **By hand.** Take a quarter turn, $k = \pi/2$. (An offset is a whole number of positions; a quarter turn is easier to draw.) Which four numbers stand in the matrix?

# %% by_hand
by_hand("shift_matrix", [
    [..., ...],  # makes the new sine
    [..., ...],  # makes the new cosine
])

# %% [markdown]
# The matrix is $\begin{pmatrix} 0 & 1 \\ -1 & 0 \end{pmatrix}$. A hand that points up (twelve o'clock) is
# $(0, 1)$. Multiply: it becomes $(1, 0)$ and points to the right, at three o'clock. Once more: $(0, -1)$, six o'clock.
#
# > **Watch the minus.** In a mathematics book the minus stands in the first row. There the pair is (cosine, sine) and the turn goes
# > the other way. Ours is (sine, cosine); with the book's matrix you go $k$ positions *back*.
#
# Move the sliders with the mouse or with the arrow keys. Blue is position $p$, orange is position $p + k$, for the four pairs of $d = 8$. Change $p$: both hands run, but
# the angle between them stays. Change $k$: only that angle changes.

# %% interactive
# @title Hands at two positions, and the angle between them: move the sliders
from ipywidgets import IntSlider, interact


def show_hands(position: int, offset: int) -> None:
    """Draws the hands of two positions, one clock for each pair of d = 8."""
    speeds = 10000 ** (-torch.arange(0, 8, 2) / 8)  # (4,)
    figure, axes = plots.panels(4, width=2.3, height=2.7)
    for axis, speed in zip(axes, speeds.tolist()):
        angles = torch.tensor([position * speed, (position + offset) * speed])
        hands = torch.stack([angles.sin(), angles.cos()], dim=1)  # (2, 2)
        title = f"turns by {offset * speed * 180 / torch.pi:.1f}°"
        both = {f"position {position}": hands[0], f"position {position + offset}": hands[1]}
        plots.clock(both, title, axes=axis)
        axis.set(xlabel="sine", ylabel="cosine" if axis is axes[0] else "")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    turns = ", ".join(f"{offset * speed * 180 / torch.pi:.1f}" for speed in speeds.tolist())
    plots.show(figure, f"From position {position} to position {position + offset} "
               f"the four hands turn by {turns} degrees.")


interact(
    show_hands,
    position=IntSlider(value=1, min=0, max=60, continuous_update=False),
    offset=IntSlider(value=2, min=-10, max=10, continuous_update=False),
);

# %% experiment
# @title The same picture for those who only read: two steps on from positions 1 and 9
show_hands(1, 2)
show_hands(9, 2)

# %% [markdown]
# The hands stand elsewhere in the two rows, but each clock turns by the same angle in both.
#
# ### Exercise: one matrix for every position
#
# Four clocks, four rotations: written into one matrix, they are four
# blocks of $2 \times 2$ along the diagonal, and zeros everywhere else. The matrix may depend on the offset. It must not
# depend on $p$: a matrix that leads from $PE_0$ to $PE_k$, but not from $PE_1$ to $PE_{1+k}$, does not count.

# %% exercise="shift_matrix"
def shift_matrix(offset: int, d_model: int) -> Tensor:
    """Returns the matrix R `(d_model, d_model)` with R @ PE[p] = PE[p + offset] for every position p.

    PE is your sinusoidal_encoding: pairs (sine, cosine) in columns 2i and 2i + 1, of speed
    1 / 10000^(2i / d_model). The offset may be negative.

    Example: shift_matrix(1, 2) is [[0.5403, 0.8415], [-0.8415, 0.5403]], the cosine and sine of 1.
    """
    ### BEGIN SOLUTION
    angles = offset / 10000 ** (torch.arange(0, d_model, 2) / d_model)  # (d/2,)
    blocks = [torch.stack([a.cos(), a.sin(), -a.sin(), a.cos()]).view(2, 2) for a in angles]
    return torch.block_diag(*blocks)  # (d, d)
    ### END SOLUTION


# %% [markdown]
# Why does it matter? "Look two words back" is now **one matrix**, the same at every position. Let the queries of a *head* (one of the attentions side by side of notebook 01) be its keys multiplied by
# `shift_matrix(-2, d)`: then each query points at the position two before its own. A Transformer can learn this matrix, since queries
# are made by one.
#
# (It is one of the two reasons that Vaswani et al. give for sinusoids in section 3.5. The other: they "may allow the model to extrapolate" to
# sentences longer than in training. Section 8 tests it.)

# %% experiment
# @title A head whose queries are its keys, shifted by two positions
table = sinusoidal_encoding(12, 64)  # (12, 64), the keys: positions alone, no words
shift = shift_matrix(-2, 64).to(table.dtype)  # (64, 64)
queries = 2 * table @ shift.T  # (12, 64), each is (twice) the key two positions before
weights = torch.softmax(queries @ table.T, dim=-1)  # (12, 12)

axes = plots.matrix(weights, "A head that looks two positions back", limits=(0, 1))
plots.show(axes.figure,
           plots.describe_matrix(weights, "From row 2 on, rows look mostly two positions back. Weights"))
print(f"mean weight on the position two before, rows 2 to 11: {weights.diagonal(-2).mean():.1f}")

# %% [markdown]
# (The factor 2 makes the picture sharper; the matrix that makes queries can learn it, too.) From row 2 on, the largest weight stands two columns left of the diagonal. The first two rows have no position
# $p - 2$ to look at, and settle for the nearest that they find.
#
# And why did the likeness of two positions in section 3 depend on their distance only? A
# rotation $R$, here that by $k$ positions, does not change dot products: $PE_p \cdot PE_q = (R\,PE_p) \cdot (R\,PE_q) = PE_{p+k} \cdot PE_{q+k}$.
#
# ## 6. Exercise: a learned table
#
# The simplest cure of all: make a table `(max_len, d)` of random numbers and let training find good ones, as it does for the table of word
# embeddings. Two well-known models, BERT and GPT-2, do so. Vaswani et al. tried both and found "nearly identical results" (section 3.5; table 3, row E).
#
# What is it that makes a tensor learn? Only `nn.Parameter`. There are three kinds of tensor in a module, and they look the same in `forward`:
#
# | how it is stored | in `parameters()`: it trains | saved and moved with the model |
# |---|---|---|
# | `self.table = torch.randn(...)` | no | **no** |
# | `self.register_buffer("table", ...)` | no | yes |
# | `self.table = nn.Parameter(...)` | **yes** | yes |
#
# A sinusoidal table is computed once and never changes: a buffer, with **0** trainable parameters. Asked
# "how many parameters does this model have?", one easily counts the sinusoids, too; notebook 05 takes such counts apart.
#
# (A text that this course goes back to calls positions "learnable and structured". Each word is true of one table, and neither table is both from the start: sinusoids have the structure of
# section 5 and nothing to learn; a learned table begins as random numbers, and any structure in it comes from training.)
#
# One question has no good answer: what about word number `max_len`? (The most tokens that a model can read at once are its *context window*, or *context length*.) There is no row for it. Quietly starting again at row 0, or repeating the
# last row, would fool the model. The rule here: refuse, with a `ValueError` that says why.

# %% exercise="LearnedPositions"
class LearnedPositions(nn.Module):
    """Adds a table of positions, one row for each, to word vectors.

    Args:
        max_len: number of positions.
        d_model: width.
        fixed: a ready table `(max_len, d_model)`, for example sinusoids, which is used as it is and
            never trains. Without it, the table starts at random and trains.

    The table `(max_len, d_model)` is called `table`: an `nn.Parameter` when it trains, a buffer when
    `fixed` is given (a parameter that does not require gradients will do, and so will a buffer that is
    not saved). Nothing else is stored as parameter or buffer.

    Called on x `(b, n, d_model)`, the module returns x plus the first n rows, `(b, n, d_model)`.
    It raises ValueError when n is larger than max_len, with a fixed table too. The same in training mode
    and in evaluation mode: no dropout, no noise.

    Example: LearnedPositions(10, 4) has 40 trainable parameters;
    LearnedPositions(10, 4, sinusoidal_encoding(10, 4)) has none.
    """

    def __init__(self, max_len: int, d_model: int, fixed: Tensor | None = None) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        if fixed is None:
            self.table = nn.Parameter(torch.randn(max_len, d_model))
        else:
            self.register_buffer("table", fixed)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        ### BEGIN SOLUTION
        n, max_len = x.shape[1], len(self.table)
        if n > max_len:
            raise ValueError(f"{n} words are more than the {max_len} positions of the table: "
                             "cut them, or make it longer")
        return add_positions(x, self.table)
        ### END SOLUTION


# %% [markdown]
# What a table costs. BERT-base has 512 positions of width 768 ([Devlin et al., 2019](https://arxiv.org/abs/1810.04805), section 3 and its released
# code). And what a table never learns: we train on sentences of four words and look at which of eight rows have moved.

# %% experiment
# @title What a table costs, and which of its rows learn
def trainable(module: nn.Module) -> int:
    """Returns how many numbers of a module train."""
    return sum(p.numel() for p in module.parameters() if p.requires_grad)


print(f"learned, 512 x 768:    {trainable(LearnedPositions(512, 768)):,} trainable parameters")
print(f"sinusoidal, 512 x 768: {trainable(LearnedPositions(512, 768, sinusoidal_encoding(512, 768))):,}")

torch.manual_seed(0)
positions = LearnedPositions(8, 4)
before = positions.table.detach().clone()
optimizer = torch.optim.SGD(positions.parameters(), lr=0.1)
for _ in range(10):
    loss = positions(torch.randn(16, 4, 4)).square().mean()  # any loss will do: sentences of four words
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
moved = (positions.table - before).abs().amax(dim=1) > 0
print("has row p moved?", moved.tolist())

# %% [markdown]
# Rows 4 to 7 have not moved at all. A model whose table has 512 rows, trained on sentences of up to 100 words, carries 412 rows of the
# noise it was born with. Keep this in mind for the last experiment.

# %% [markdown] pause
# You have written the two kinds of positions that say *where* a word is, a fixed table and a learned one. Next come the two kinds that say *how far* two words are
# apart, and a race of all of them.

# %% [markdown]
# ## 7. Distance in place of position
#
# Often it is not the position that counts but the **distance**: an adjective belongs to the noun beside it, be it at position 5 or at position 500. So why not
# tell attention the distance directly? Sinusoids and tables say the *absolute* position of a word; what follows says the *relative* one, the distance.
#
# ### Heads, as far as you need them here
#
# Both ways work inside the *heads* of attention, which notebook 03 builds. Three sentences on them are enough for the two exercises:
#
# 1. The query of each token is cut into $h$ equal pieces, one for each head, and so are its key and its value: of width 8, each of two heads gets 4 numbers.
# 2. Each head makes scores, weights and weighted sums from its own pieces only, so there is a square of scores for each head: `(b, h, n, n)` in all.
# 3. At the end the results of all heads are put side by side again.

# %% experiment
# @title Two heads, and where ALiBi and rotary act in them
picture = Diagram(4.2, 4.5)
picture.box("all", (2.1, 0.3), "queries, keys, values (3, b, n, 8)", width=2.5)
picture.box("out", (2.1, 4.2), "new vectors (b, n, 8)", width=1.8)
for head, x in enumerate((1.05, 3.15)):
    texts = {"pieces": f"head {head}: numbers {4 * head} to {4 * head + 3}\n(3, b, n, 4)",
             "scores": "scores (b, n, n)", "weights": "weights (b, n, n)",
             "sums": "weighted sums (b, n, 4)"}
    picture.column(x, 1.05, [(f"{name} {head}", text, "attention" if name == "weights" else "data")
                             for name, text in texts.items()], step=0.8, width=1.75)
    picture.arrow("all", f"pieces {head}")
    picture.arrow(f"sums {head}", "out")
    picture.note((x, 1.46), "rotary: queries, keys", ha="center")
    picture.note((x, 2.24), f"ALiBi: add bias[{head}]", ha="center")
picture.show(
    "Queries, keys and values of width 8 are cut in two: head 0 gets the numbers 0 to 3, head 1 the "
    "numbers 4 to 7. Each head makes a square of scores, weights and weighted sums of width 4 of its "
    "own, and the sums are put side by side to new vectors. Rotary turns the queries and keys of each "
    "head before the scores are made; ALiBi adds to the scores of each head its own bias."
)

# %% [markdown]
# So the biases of all heads are one tensor `(h, n, n)`; `alibi_bias` calls this $n$ `size`. And `rotary` gets queries, keys and values already cut, in one tensor `(3, b, h, n, d)`, whose
# $d$ is the width of *one head*: 4 in the picture.
#
# ### ALiBi: a word loses a little with each step
#
# [Press et al. (2022)](https://arxiv.org/abs/2108.12409), section 3, add nothing to the words. They subtract from each score the distance, times a *slope* $m$:
#
# $$ \text{score}_{ij} - m \cdot (i - j) \qquad \text{for } j \le i $$
#
# Let three scores of a row be equal, and let $m = \ln 2 \approx 0.69$. Each step back then divides $e^{\text{score}}$ by 2: the weights are in the ratio
# $1 : 2 : 4$, that is $1/7,\ 2/7,\ 4/7$. The nearest word gets the most.
#
# Each head gets its own slope. With $h$ heads they are $2^{-8/h},\ 2^{-2 \cdot 8/h},\ \dots,\ 2^{-8}$: a geometric sequence. For 8 heads: $1/2, 1/4, \dots, 1/256$.
# The first head is short-sighted, the last one sees far. The slopes are fixed: nothing is learned.
#
# **By hand.** With 2 heads the slopes are others. A sentence has three words; which numbers does each of the two heads add to the scores of its last word? (Fractions such as `-1/2` will
# do.)

# %% by_hand
by_hand("alibi_bias", [
    [..., ..., ...],  # head 0: two positions back, one position back, the word itself
    [..., ..., ...],  # head 1
])

# %% [markdown]
# The slopes are $2^{-4} = 1/16$ and $2^{-8} = 1/256$. So head 0 adds $-1/8,\ -1/16,\ 0$ and head 1 adds $-1/128,\ -1/256,\ 0$: the last slope is always $1/256$.
#
# > **A sign and a symmetry.** With a plus, the farthest word would win. And $-m\,|i - j|$ on both sides of the diagonal (without a causal mask) tells how
# > far a word is, but not on *which side*. ALiBi was made for causal models. Here the bias contains the mask of notebook 01: minus infinity where $j > i$.

# %% exercise="alibi_bias"
def alibi_bias(n_heads: int, size: int) -> Tensor:
    """Returns the bias that ALiBi adds to the scores of a causal model,
    floating point, `(n_heads, size, size)`.

    Row i looks, column j is looked at. In head k (k = 0, 1, ...):
    -slope_k * (i - j) where j <= i, with slope_k = 2^(-8 (k + 1) / n_heads),
    and minus infinity where j > i. The rule is the same for any number of heads and any size.

    Example: alibi_bias(8, 3)[0] is [[0, -inf, -inf], [-0.5, 0, -inf], [-1, -0.5, 0]].
    """
    ### BEGIN SOLUTION
    slopes = 2 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)  # (h,)
    positions = torch.arange(size)
    distance = positions.unsqueeze(1) - positions  # (n, n), i - j
    bias = -slopes.view(-1, 1, 1) * distance  # (h, n, n)
    return bias.masked_fill(distance < 0, -torch.inf)
    ### END SOLUTION


# %% [markdown]
# With equal scores, the bias alone makes the weights. Here is the last row of four of the eight heads. Head 0 sees hardly more than five words back; to head 7 all 32 words are nearly alike.

# %% experiment
# @title What the bias alone makes of equal scores, in four of eight heads
weights = torch.softmax(alibi_bias(8, 32), dim=-1)[:, -1]  # (8, 32), the last row of each head
distances = list(range(32))
lines = {f"head {k}, slope 1/{2 ** (k + 1)}": weights[k].flip(0).tolist() for k in (0, 2, 4, 7)}
axes = plots.curves(
    lines, distances, title="Equal scores under ALiBi",
    x_label="distance back (words)", y_label="weight of the word",
)
plots.show(axes.figure, plots.describe_curves(lines, distances, "distance"))

# %% [markdown]
# ### Rotary: turn the queries and the keys
#
# [Su et al. (2021)](https://arxiv.org/abs/2104.09864), section 3.2, do not *add* a clock to the word. They take each pair of numbers of the **query** as a hand, and
# turn it by the angle that belongs to its position. They do the same with the **key**. Their dot product then depends on the angle *between* them, and that is the distance.
#
# A pair $(a, b)$ at position $p$ becomes, with the angle $\theta = p / 10000^{2i/d}$ of pair $i$ ($d$ is the width of one head),
#
# $$ (a \cos\theta - b \sin\theta,\ \ a \sin\theta + b \cos\theta) $$
#
# **Values are not turned.** They are what is carried to the output, and the output should not depend on where in the text we are. A common mistake is
# to turn all three, since in much code one matrix makes all three.
#
# **By hand.** Take $d = 2$ and, to keep it simple, a quarter turn for each position: the angles at the positions 1, 2, 3, 4 are $\pi/2,\ \pi,\ 3\pi/2,\ 2\pi$. Let the key and the
# value of every word be $(1, 0)$. What are they at the four positions?

# %% by_hand
by_hand("rotary", [
    [[..., ...], [..., ...], [..., ...], [..., ...]],  # the key at the positions 1, 2, 3, 4
    [[..., ...], [..., ...], [..., ...], [..., ...]],  # the value
])

# %% [markdown]
# The key turns counter-clockwise: at position 1 it is $(0, 1)$, at 2 it is $(-1, 0)$, at 3 it is $(0, -1)$, at 4 it is $(1, 0)$ again. The value is $(1, 0)$ everywhere. Let the query
# be $(1, 0)$, too, and turn like the key. Then the scores are:
# - Query at 2, key at 1: $(-1, 0) \cdot (0, 1) = 0$. Query at 4, key at 3: $(1, 0) \cdot (0, -1) = 0$. Distance 1 both times, score 0 both times.
# - Query at 3, key at 1: $-1$. Query at 4, key at 2: $-1$. Distance 2.
#
# > **Two conventions.** Here the pairs are neighbours: $(0, 1), (2, 3), \dots$, as in the paper. Others, such as GPT-NeoX and Llama in the library
# > *transformers*, pair number $i$ with number $i + d/2$ (look for `rotate_half`). Both are fine, but the weights of one do not work with the other.

# %% exercise="rotary"
def rotary(x: Tensor, positions: Tensor) -> Tensor:
    """Returns x with the queries and the keys turned by their positions, and the values as they are.

    The tensor `x` itself stays unchanged.

    Args:
        x: queries x[0], keys x[1] and values x[2], in one tensor `(3, b, h, n, d)`;
            d is here the width of one head, and even.
        positions: one for each token, `(n,)`, whole numbers from 0 to several thousand, in any
            order; two tokens may have the same.

    Returns:
        `(3, b, h, n, d)`. Of a query or key at position p, pair i, which is (a, b) in the columns
        2i and 2i + 1, becomes (a cos t - b sin t, a sin t + b cos t) with t = p / 10000^(2i / d).

    Example: a query [1, 0] at position 1 becomes [0.5403, 0.8415].
    """
    ### BEGIN SOLUTION
    d = x.shape[-1]
    angles = positions.unsqueeze(1) / 10000 ** (torch.arange(0, d, 2) / d)  # (n, d/2)
    even, odd = x[:2, ..., 0::2], x[:2, ..., 1::2]  # (2, b, h, n, d/2), of queries and keys
    first = even * angles.cos() - odd * angles.sin()
    second = even * angles.sin() + odd * angles.cos()
    turned = torch.stack([first, second], dim=-1).flatten(-2)  # (2, b, h, n, d)
    return torch.cat([turned, x[2:]])
    ### END SOLUTION


# %% [markdown]
# Does the score depend on the distance only? The key always stands five positions before the query; the pair walks through a long text. For comparison, the same
# query and key with sinusoids *added*.

# %% experiment
# @title The score of the same two words, five apart, all along a text
generator = torch.Generator().manual_seed(1)
query, key = torch.randn(2, 32, generator=generator)  # (32,) each
starts = list(range(0, 100, 2))
table = sinusoidal_encoding(200, 32)
turned, added = [], []
for start in starts:
    positions = torch.tensor([start + 5, start])  # the query, and the key five positions before it
    x = torch.stack([query, key]).view(1, 1, 1, 2, 32).expand(3, 1, 1, 2, 32)
    queries, keys, _ = rotary(x, positions)
    turned.append((queries[0, 0, 0] @ keys[0, 0, 1]).item())
    added.append(((query + table[start + 5]) @ (key + table[start])).item())
lines = {"rotary": turned, "sinusoids added": added}
axes = plots.curves(
    lines, starts, title="The same two words, five positions apart",
    x_label="position of the key", y_label="score",
)
plots.show(axes.figure, plots.describe_curves(lines, starts, "position", digits=2))

# %% [markdown]
# With sinusoids, the score contains words times positions, and so it moves with the absolute position. With rotary it is flat: the distance is all that is left. The
# last test is the one for the values. Move a whole text 50 positions on: does the output of attention change?

# %% experiment
# @title What attention makes of the same text, 50 positions later
def attention(x: Tensor) -> Tensor:
    """Returns the output of attention, (b, h, n, d), for queries, keys and values (3, b, h, n, d)."""
    queries, keys, values = x
    return torch.softmax(queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5, dim=-1) @ values


x = torch.randn(3, 1, 2, 6, 8, generator=generator)
here, there = torch.arange(6), torch.arange(6) + 50


def all_turned(x: Tensor, positions: Tensor) -> Tensor:
    """Returns queries, keys and values, all three turned: the mistake."""
    values = rotary(x[[2, 2, 2]], positions)[0]  # the values, turned as if they were queries
    return torch.cat([rotary(x, positions)[:2], values.unsqueeze(0)])


for name, turn in {"values as they are": rotary, "values turned too": all_turned}.items():
    change = (attention(turn(x, here)) - attention(turn(x, there))).abs().max().item()
    print(f"{name:20} the output changes by {change:.1f}")

# %% [markdown]
# Only if the values stay as they are does the output stay the same.
#
# > **Do positions favour what is near?** A student report says that they help a model to find the closest tokens and to give them more importance. Of ALiBi that is true by construction. Of the others it is not.
# >
# > Sinusoids and a table only say where a word stands, and what a head makes of it is learned: the one in section 5 looks two positions back, past the nearest word. Rotary may score a distance
# > of 4 as high as one of 0, as in the example by hand.
#
# ## 8. Who comes first?
#
# Now let them compete. The task is *Le chat chasse la souris*, made longer: somewhere among other words stand *chat* and *souris*, once each, and the last
# token is a question mark. There, the model must say **which of the two came first**. One bit, and without the order there is only guessing: one half.
#
# All five models are the same otherwise: one layer, four heads, a causal mask. They train on sentences of 4 to 16 words, and we test them on up to 64. Each
# trains three times, with other random numbers (*seeds*). (This takes about half a minute.)
#
# The learned table needs a rule for positions it has not seen, or there would be nothing to plot. Ours: it has 64 rows from the start, and rows 16 to 63
# **stay as they were drawn**, because no training sentence reaches them.
#
# Here are three sentences of the task:

# %% experiment
# @title Three sentences, and which animal comes first
TRAINED, VOCABULARY, CHAT, SOURIS, QUESTION = 16, 12, 0, 1, 2  # words 3 to 11 are other words


def place_animals(positions: Tensor, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Returns sentences `(b, length)` with chat and souris at `positions` `(b, 2)`,
    and which is first: 0 or 1."""
    words = torch.randint(3, VOCABULARY, (len(positions), length), generator=generator)
    words.scatter_(1, positions, torch.tensor([CHAT, SOURIS]).expand(len(positions), 2))
    words[:, -1] = QUESTION
    return words, (positions[:, 1] < positions[:, 0]).long()


def draw_sentences(count: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Returns sentences with the two animals anywhere before the question mark, and which is first."""
    shuffled = torch.rand(count, length - 1, generator=generator).argsort(dim=1)
    return place_animals(shuffled[:, :2], length, generator)


words, first = draw_sentences(3, 8, torch.Generator().manual_seed(7))
names = {CHAT: "chat", SOURIS: "souris", QUESTION: "?"}
for sentence, answer in zip(words.tolist(), first.tolist()):
    print(" ".join(names.get(word, "…") for word in sentence), "  first:", names[answer])

# %% experiment
# @title The training: defines train
def train(positions: str, seed: int, n_layers: int = 1, steps: int = 400) -> Classifier:
    """Returns a model that has learned on sentences of 4 to 16 words which animal comes first."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    base = TransformerBase(
        VOCABULARY, d_model=32, n_layers=n_layers, n_heads=4, dropout=0.0,
        positions=positions, max_len=4 * TRAINED,
    )
    model = Classifier(base)  # reads the hidden state of the last token
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, fused=True)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, steps)
    for _ in range(steps):
        length = int(torch.randint(4, TRAINED + 1, (), generator=generator))
        sentences, first = draw_sentences(32, length, generator)
        loss = nn.functional.cross_entropy(model(sentences), first)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.eval()


# %% experiment
# @title The test: defines accuracies, lengths and tests
@torch.no_grad()
def accuracies(models: list[Classifier], tests: list[tuple[Tensor, Tensor]]) -> Tensor:
    """Returns the share of right answers of each model on each test, (models, tests)."""
    right = [[(model(words).argmax(dim=-1) == first).float().mean() for words, first in tests]
             for model in models]
    return torch.tensor(right)


lengths = [8, 12, 16, 20, 24, 32, 48, 64]
tests = [draw_sentences(300, length, torch.Generator().manual_seed(length)) for length in lengths]
kinds = ["none", "sinusoidal", "learned", "alibi", "rotary"]

# %% [markdown]
# Decide before you run the race: which of the five is best at 64 words? And in which share of the sentences is rotary right there, from 0 to 1? (A coin is right in 0.5 of them.)

# %% guess
guess("the best at 64 words", ..., among=["none", "sinusoidal", "learned", "alibi", "rotary"])

# %% guess
guess("the accuracy of rotary at 64 words", ...)

# %% measured
# @title Which animal comes first? Five kinds of positions, from 8 to 64 words
import sys

from tqdm import tqdm

models = {kind: [train(kind, seed) for seed in range(3)] for kind in tqdm(kinds, file=sys.stdout)}
results = {kind: accuracies(models[kind], tests) for kind in kinds}  # (3, 8) each

axes = plots.curves(
    results, lengths, title="Which animal comes first? (mean of 3 seeds, band from worst to best)",
    x_label="length of the sentence (words)", y_label="accuracy",
)
axes.axhline(0.5, color="#555555", linestyle=":")
axes.axvspan(4, TRAINED, color="#dddddd", alpha=0.5, zorder=0)
axes.text(10, 0.04, "trained", color="#333333", ha="center")
axes.set(ylim=(0, 1.03), xlim=(4, 65))
axes.legend(loc="lower left", bbox_to_anchor=(1, 0.3), frameon=False)
plots.show(axes.figure, plots.describe_curves(results, lengths, "length", digits=2))

print("mean accuracy at", *[f"{length:>5}" for length in lengths])
for kind in kinds:
    print(f"{kind:16}", *[f"{mean:5.2f}" for mean in results[kind].mean(dim=0)])

# %% reveal
reveal("the best at 64 words", max(kinds, key=lambda kind: results[kind][:, -1].mean()))

# %% reveal
reveal("the accuracy of rotary at 64 words", results["rotary"][:, -1].mean())

# %% [markdown]
# At the trained lengths (grey), four of the five solve the task nearly always (the learned table with 16 words a little less often). Only *none* guesses: in one layer, the question mark sees
# nothing but a bag. If we had tested at the trained lengths only, we would say that it makes no difference which of the four we take.
#
# Beyond them, it makes all the difference. (To be right there, too, is called *length extrapolation*.) To see why, fix the length at 64 and put both animals into one part of the sentence:
# - **the start**, the first 15 words: the *positions* are those of training (but for that of the question mark), the distances are not;
# - **the end**, the last 15 words before the question mark: the *distances* are those of training, the positions are not;
# - **the middle**: neither is.

# %% measured
# @title Where in a sentence of 64 words each kind is right
def draw_within(start: int, stop: int) -> tuple[Tensor, Tensor]:
    """Returns 64-word sentences with both animals at positions from `start` to `stop` - 1,
    and which is first."""
    generator = torch.Generator().manual_seed(start)
    shuffled = torch.rand(500, stop - start, generator=generator).argsort(dim=1)
    return place_animals(start + shuffled[:, :2], 64, generator)


parts = {"start": (0, 15), "middle": (16, 48), "end": (48, 63)}
part_tests = [draw_within(*part) for part in parts.values()]
by_part = torch.stack([accuracies(models[kind], part_tests).mean(dim=0) for kind in kinds[1:]])  # (4, 3)

figure, (axis,) = plots.panels(1, width=4.4, height=3.8)
plots.matrix(
    by_part, "Accuracy at 64 words (mean of 3 seeds)", rows=kinds[1:], columns=list(parts), digits=2,
    axes=axis, row_label="positions", column_label="where both animals stand", limits=(0, 1),
)
plots.plt.setp(axis.get_xticklabels(), rotation=0, ha="center", rotation_mode=None)
alt = [f"{kind}: " + ", ".join(f"{v:.2f} ({n})" for v, n in zip(row, parts))
       for kind, row in zip(kinds[1:], by_part)]
plots.show(figure, "; ".join(alt))

# %% [markdown]
# The picture falls into two halves: **the two absolute kinds know positions, the two relative kinds know distances.**
#
# - **Learned**: good at positions 0 to 14. The rows from 16 on have never trained, and it guesses there.
# - **Sinusoidal**: the same, though the hands can be computed for every position. The model has never seen these combinations of hands. *Computable* does not
#   mean *understood*. Where its accuracy is far below one half, it is not unsure but wrong.
# - **Rotary**: good at the trained distances, wherever in the text they are. Beyond, the hands go on turning, the score changes its sign, and *far*
#   looks like *near*: in the middle it is not unsure, but wrong (0.12 in our run). At the start it is no better than a guess.
# - **ALiBi**: good at the trained distances too, and beyond them the rule "the farther word loses more" stays true. But it fades: at the start of the sentence both words have
#   hardly any weight left, and it guesses.
#
# ### A second layer
#
# One layer was our choice. Before you generalise, give all five a second one (150 steps are enough; three seeds). With one layer, *none* could only guess. In which share of the
# sentences, from 0 to 1, do you expect it to be right at 64 words now?

# %% guess
guess("the accuracy of none at 64 words, with two layers", ...)

# %% measured
# @title Accuracy with two layers
print("accuracy with two layers (mean of 3 seeds)")
print("length          ", *[f"{length:>5}" for length in lengths])
for kind in kinds:
    deeper = [train(kind, seed, n_layers=2, steps=150) for seed in range(3)]
    mean = accuracies(deeper, tests).mean(dim=0)
    print(f"{kind:16}", *[f"{value:5.2f}" for value in mean])

# %% reveal
def of_one_again() -> Tensor:
    """Returns the accuracy of one of the three, trained once more: the cell above has not kept them."""
    return accuracies([train("none", 0, n_layers=2, steps=150)], tests)[0, -1]


reveal("the accuracy of none at 64 words, with two layers", of_one_again)

# %% [markdown]
# *None*, which could only guess, is now right at **every** length. Under the causal mask the word *souris* can look back in the first layer and ask:
# "has there been a *chat*?". In the second layer the question mark reads the answer. That needs neither positions nor distances, and works in a sentence of any length.
#
# The others can take this way too; where one still fails at 64 words, it is its positions that disturb. Sinusoids had 0.46 there with one layer in our run, and with two they have 1.00. So
# neither run alone says whether sinusoids "extrapolate": it depends on what else the model has.
#
# **So what have we shown?** Not that one kind is best. Which one reaches beyond the trained lengths depends on the task and on the depth, and here a second layer changed
# the order: *none* went from a guess to the top. Our task also suits ALiBi (with one layer, its answer is "which of the two is nearer?"); a task that needs a word from far back would punish it.
#
# [Kazemnejad et al. (2023)](https://arxiv.org/abs/2305.19466) compare five kinds in models that they train from scratch, and "no positions at all" comes out best overall. What carries over is the
# method: a good result at the trained length says nothing about longer ones, so measure there, and look where in the text it fails.

# %% [markdown]
# ## 9. Essay
#
# In at most twelve lines, in English or in French: **what does each of the four kinds of positions (sinusoidal, learned, ALiBi, rotary) buy, and what does it
# cost?** Speak of trainable parameters, of absolute position and distance, and of sentences longer than in training. Support what you say with the last experiment, and
# say which kind you would take for a model that must read texts longer than it has trained on, and what you would measure before you trust it.

# %% [markdown] essay="position_essay"
# **Rubric** (half a point for each, 2 points in all)
#
# - *Cost and limits*: learned has max_len x d trainable parameters and no position beyond the table; the three others have none (the slopes of
#   ALiBi and the speeds of rotary are fixed) and can be computed for any length.
# - *Absolute or relative*: sinusoidal and learned are added to the words and say the position (a shift is a linear map, so that relative
#   attention can be learned); ALiBi and rotary act on the scores, which then depend on the distance; rotary leaves the values alone.
# - *Beyond the trained length*: read from the experiment with one layer, with the reason: untrained rows (learned), unseen combinations (sinusoidal),
#   unseen distances that turn the sign (rotary), a bias that stays monotone but fades (ALiBi).
# - *A choice with its condition*: for example ALiBi when near words matter most, rotary with a remedy for unseen distances; and a measurement at the
#   longer lengths, on the real task, with several seeds. Mentions what the choice loses (ALiBi fades out what is far).
#
# **Misconceptions that cost marks**: "sinusoids reach any length because they can be computed for any position"; "sinusoidal positions are learned";
# "without positions a Transformer never sees the order" (with a causal mask and two layers it does); "the experiment proves that ALiBi is best".
#
# **Answers as students write them**
#
# - *Full marks (2 of 2)*: "The learned table costs max_len x d trainable parameters (393,216 for 512 x 768) and has no row beyond its end; sinusoids,
#   ALiBi and rotary have none to train and can be computed for any position. Sinusoidal and learned positions are added to the words and say the position
#   itself, while ALiBi and rotary change the scores, which then depend on the distance, and rotary leaves the values alone. With one layer all four
#   are right at length 8, and at 64 they have 0.46, 0.51, 0.87 and 0.33: the rows beyond the trained positions were never trained, the sinusoids meet
#   combinations that they have not seen, rotary meets unseen angles that turn the sign of a score, and ALiBi's bias only goes on falling. For long
#   texts in which near words decide I would take ALiBi, knowing that it fades out what is far. Before I trust it I would measure it at those lengths,
#   on the real task, with several seeds, because with two layers our own order was another one." Why: All four lines; each drop has its reason, and
#   the choice its condition and its price.
# - *Half (1 of 2)*: "Learned positions cost max_len x d numbers that have to be trained and end with the table. Sinusoids, ALiBi and rotary cost
#   nothing to train and can be computed for any length. Learned and sinusoidal positions are added to the embedding and say where a word stands;
#   ALiBi and rotary work inside the scores and know only how far apart two words are. In the experiment ALiBi had 0.87 at 64 words and all the others
#   0.51 or less. This proves that ALiBi is the best, so I would take it for long texts." Why: *Cost and limits* and *absolute or relative* (1). The
#   numbers at length 64 are right, but no reason is given for any of the drops (0.5 lost); the choice has no condition and no measurement, and "this
#   proves" is the last misconception, as two layers change the order (0.5 lost).
# - *No marks (0 of 2)*: "A Transformer without positions cannot see the order of the words at all, therefore each kind of positions buys order.
#   Sinusoidal positions are learned during training like the learned ones, only with waves. Since a sine can be computed for any position, they work for
#   texts of any length. ALiBi and rotary are newer and therefore better. I would take rotary, because the large models of today use it." Why: No line
#   is met. Three misconceptions (order never seen without positions, sinusoids learned, any position computed means any length reached), nothing from
#   the experiment, which has sinusoids at 0.46 and rotary at 0.33 for 64 words, and fashion for a reason.

# %% [markdown] questions
# ## Three questions
#
# For yourself: open an answer to see whether it is right.
#
# 1. A model has no positions at all. Can it see the order of the words?
#    - No: attention sums over a bag of words. => That is so without a mask. A causal mask lets each word see another part of the sentence.
#    + With a causal mask it can. => The first word sees one word, the second one two; with two layers such a model was right at every length.
#    - Yes: the embeddings of the words say it. => A word has the same embedding wherever it stands.
# 2. Sinusoids can be computed for position 10,000. What follows for a model that has trained on 100 words?
#    - It works on 10,000 words: there is a row for each. => The row is there, but the model has never met such combinations of hands.
#    - It works if the sinusoids are trained a little longer. => Sinusoids are not trained at all: they are a fixed table.
#    + Nothing yet: how it does there has to be measured. => At four times the trained length it fell to a guess with one layer, and was right with two.
# 3. What does rotary turn, and why just this?
#    + Queries and keys: then their score depends on the distance. => Both turn by their positions, and the dot product keeps the difference of the angles.
#    - Queries, keys and values: all three come from the same word. => A turned value would carry the absolute position into the output.
#    - The embeddings, before the first layer. => What acts there is added: sinusoids and a learned table. Rotary acts in every layer, on each head.

# %% [markdown]
# ## What to remember
#
# - Attention without positions and without a mask sees a bag of words: permuting the words only permutes the outputs.
# - Sinusoids are clock hands, pairs (sine, cosine) of different speeds; a shift by $k$ positions rotates each pair, by the same matrix at every position.
# - Positions `(n, d)` are added to `(b, n, d)` without an extra axis. Test with $b \ne n$.
# - A learned table trains `max_len` x `d` numbers and knows nothing beyond the lengths it has seen; sinusoids train none.
# - ALiBi subtracts slope times distance from the scores. Rotary turns queries and keys, never the values.
# - Good at the trained length does not mean good beyond it.
#
# **Go further.** Stretch rotary: give the words of a 64-word sentence the positions 0, 1/4, 2/4, ... in place of 0, 1, 2, ..., so that hardly any distance is larger
# than in training ([Chen et al., 2023](https://arxiv.org/abs/2306.15595), position interpolation).
#
# In `helpers/models.py`, the angles are made in `TransformerBase._look`:
# make a class of your own in which they are divided by 4, load the weights of a trained model from section 8 and test it at 64 words. What does it win, and what does it
# lose for animals that stand close together? Notebook 03 builds the heads in which all this happens.

# %% [markdown]
# ## What others call it
#
# - **permutation equivariance**: moving the words moves the outputs and does nothing else; `order_blindness` measures how far a model is from it.
# - **absolute positional encoding** (also *position embedding*): says where a token stands: sinusoids, a learned table.
# - **relative positional encoding**: says how far two tokens are apart: ALiBi, rotary.
# - **RoPE**: rotary positions (*rotary position embedding*).
# - **NoPE**: a causal model without any positions.
# - **context window** (also *context length*): the most tokens that a model can read at once.
# - **length extrapolation** (also *length generalisation*): being right on texts longer than in training.
# - **position interpolation**: squeezing the positions of a long text into those of training, as in *Go further*.

# %% experiment open=true
from tutor import progress

progress()
