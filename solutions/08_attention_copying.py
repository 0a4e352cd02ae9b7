# ---
# jupyter:
#   course:
#     teaches: attention as a soft dictionary, measured
#     part: attention
#     column: 0
#     row: 1
#     builds_on: ["03"]
#     questions:
#       - What can one head do?
#       - How sharp must a query be to copy a value?
#       - Why does one head fail when a key changes its length, and why do two hold still?
#   jupytext:
#     notebook_metadata_filter: course
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 08 · Attention as copying
#
# `{"chat": "cat", "chien": "dog", "oiseau": "bird"}["chien"]`: a Python dictionary compares what you look up with its keys and gives
# back the value of the one key that is equal. Attention is a dictionary too, but a *soft* one: every key fits a little, and you
# get a mixture of all the values. You choose what is looked up (the *query*) and find out what such a dictionary can do: copy
# one value, average two of them, and keep that up when the keys move.
#
# The questions are those of the "attention exploration" in assignment 5 of Stanford's CS224N (2021), parts (a) to (e),
# and each answer is measured.
#
# **When you are done, you can**
# - write down a query that copies any value, or averages any two, and say how sharp it has to be;
# - compute the weights in closed form, and the scale that a wanted precision needs;
# - show why one head fails when a key changes its length, and measure how much two heads help;
# - design the matrices K, Q and V of a self-attention layer by hand, for a given task.
#
# **Time**: about 3 h. **Before this**: notebook 03 (attention and its heads); outer products of vectors are recalled where you need them.
#
# | exercise | what it asks | points |
# |---|---|---|
# | `copy_query` | a query that copies one value | 2 |
# | `average_query` | a query that averages two values | 2 |
# | `average_weight` | a formula: the weight on each of the two | 2 |
# | `needed_scale` | the scale for a wanted precision | 2 |
# | `swing` | a measurement: how far the output moves between two values | 2.5 |
# | `two_head_queries` | two queries whose average holds still | 2.5 |
# | `self_attention_output` | a formula: what a token gets when K, Q and V do nothing | 2 |
# | `kqv_matrices` | K, Q and V for a given task | 3 |
# | *essay* `one_head_essay` | why one head copies, averages and fails | 2 |
# | *essay* `many_heads_essay` | why two heads, and why K, Q and V | 2 |
# | **total** | | **22** |
#
# Folded cells are experiments: they draw, print and compare, and no mark depends on them.

# %% setup
import math

import sympy
import torch
from torch import Tensor

from helpers import plots
from tutor import by_hand, check, guess, hint, resume, reveal

# %% [markdown]
# ## 1. A dictionary with soft edges
#
# The dictionary has $n$ keys $k_1, \dots, k_n$ and $n$ values $v_1, \dots, v_n$, all of them vectors. A query $q$ is compared with each key
# by a dot product, its *score*; the softmax turns scores into weights $\alpha_i$ that sum to 1; the output $c$ is the weighted average of the values:
#
# $$ \alpha_i = \frac{e^{k_i \cdot q}}{\sum_{j=1}^n e^{k_j \cdot q}}, \qquad c = \sum_{i=1}^n \alpha_i v_i $$

# %% experiment
# @title A query meets three keys: scores, weights, output
from helpers.diagrams import Diagram

picture = Diagram(4.2, 3.6)
picture.box("query", (0.75, 3.3), "query q (d)", width=1.1)
picture.box("output", (2.65, 0.3), "output c (d)", width=1.4)
for i in range(1, 4):
    x = 0.75 + 0.95 * i
    picture.box(f"key {i}", (x, 2.6), f"key $k_{i}$", width=0.8)
    picture.box(f"weight {i}", (x, 1.8), f"weight $\\alpha_{i}$", "attention", width=0.8)
    picture.box(f"value {i}", (x, 1.05), f"times $v_{i}$", width=0.8)
    picture.arrow("query", f"key {i}", corner="across")
    for start, end in (("key", "weight"), ("weight", "value")):
        picture.arrow(f"{start} {i}", f"{end} {i}")
    picture.arrow(f"value {i}", "output")
picture.note((0.1, 2.2), "softmax of $q \\cdot k_i$")
picture.note((0.1, 0.67), "sum")
picture.show(
    "A query meets three keys. The softmax of its dot products with them gives three weights; each "
    "weight multiplies the value of its key, and the sum of the three is the output."
)

# %% [markdown]
# This is the attention of notebook 03 for one query, without the division by $\sqrt{d}$, which a query $\sqrt{d}$ times as long would undo. Here $d$ is the width of a key, that is of one head ($d/h$ in notebook 03).
#
# ### By hand, with two keys
#
# Take $k_1 = (0.6,\ 0.8)$ and $k_2 = (-0.8,\ 0.6)$. Both have length 1 ($0.36 + 0.64 = 1$), and they are at a right angle ($-0.48 + 0.48 = 0$): such vectors are
# called **orthonormal**. With the query $q = 2 k_1 = (1.2,\ 1.6)$ the scores are 2 and 0. Compute the two weights with a pencil ($e^2 \approx 7.39$), to two
# decimals, and write them in place of the dots.

# %% by_hand
by_hand("copy_query", [..., ...])  # the weight of key 1, and of key 2

# %% setup
def attend(query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Returns the output of attention for one query, `(w,)`: the weighted average of the values.

    Shapes: query `(d,)`, keys `(n, d)`, values `(n, w)`. With m draws of the keys, `(m, n, d)`,
    it is `(m, w)`.
    """
    weights = torch.softmax(keys @ query.to(keys.dtype), dim=-1)  # (n,) or (m, n)
    return weights @ values


# %% experiment
# @title A tool: random keys of length 1, at right angles to each other
def orthonormal_keys(count: int, width: int, seed: int = 0) -> Tensor:
    """Returns random keys of length 1 at right angles, `(count, width)`; count is at most width."""
    numbers = torch.randn(width, width, generator=torch.Generator().manual_seed(seed))
    return torch.linalg.qr(numbers)[0][:count]


# %% experiment
# @title Two keys: their scores, their weights and the output
two_keys = torch.tensor([[0.6, 0.8], [-0.8, 0.6]])
two_values = torch.tensor([[10.0, 0.0], [0.0, 10.0]])
query = torch.tensor([1.2, 1.6])

print("scores: ", two_keys @ query)
print("weights:", torch.softmax(two_keys @ query, dim=-1).round(decimals=2))
print("output: ", attend(query, two_keys, two_values).round(decimals=1))

# %% [markdown]
# The weights are $7.39 / 8.39 = 0.88$ and $1 / 8.39 = 0.12$. The output is *mostly* $v_1$. Two things follow:
# - a score of 0 is not a weight of 0: the second key still gets $e^0 = 1$ before the division;
# - the weights are positive and sum to 1, so the output always lies *between* the values. Of three values $v_a$, $v_b$ and $v_c$ in the plane it never leaves
#   the triangle:

# %% experiment
# @title The outputs of 300 random queries: where do they lie?
corners = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.5, 0.87]])  # three values in the plane: A, B and C


def draw_triangle(axes, title: str) -> None:
    """Draws the triangle of the three values, with their names."""
    around = torch.cat([corners, corners[:1]])
    axes.plot(around[:, 0], around[:, 1], color="#888888", linewidth=1)
    for (x, y), name in zip(corners.tolist(), ["v_a", "v_b", "v_c"]):
        axes.annotate(name, (x, y), (x + (x - 0.5) * 0.1, y + (0.05 if y else -0.1)), ha="center")
    axes.set(title=title, xlabel="first number of the output", ylabel="second number",
             xlim=(-0.15, 1.15), ylim=(-0.17, 1.03))
    axes.set_aspect("equal")


three_keys = orthonormal_keys(3, 4)
generator = torch.Generator().manual_seed(0)
outputs = torch.stack([attend(4 * torch.randn(4, generator=generator), three_keys, corners)
                       for _ in range(300)])

figure, (axes,) = plots.panels(1, width=4.2, height=3.8)
draw_triangle(axes, "300 random queries: never outside")
axes.plot(outputs[:, 0], outputs[:, 1], ".", color=plots.COLOURS[0], alpha=0.5)
plots.show(figure, "The outputs of 300 random queries all lie inside the triangle of the three values, "
           "many near its corners and edges.")

# %% [markdown]
# ## 2. Copying (part a)
#
# When is the output one of the values, $c \approx v_j$? When $\alpha_j \approx 1$, that is, when **the score
# of key $j$ is much higher than all other scores.**
#
# ### A mistake worth making once
#
# I want value 1 (the second one: in code we count from 0), so I ask with value 1? Here are four orthonormal keys. To see the weights themselves, we let value $i$ be row $i$ of
# the identity matrix ("one-hot"): the output then *is* the list of weights. What weight will
# value 1 get? Write a number in place of the dots, or leave them and go on.

# %% guess
guess("the weight on value 1, asked with value 1", ...)

# %% experiment
# @title The weights on the four values, asked with the value and with the key
keys = orthonormal_keys(4, 4, seed=3)
one_hot = torch.eye(4)

asked_with_value = attend(one_hot[1], keys, one_hot)
asked_with_key = attend(keys[1], keys, one_hot)
print("asked with the value:", asked_with_value.round(decimals=2))
print("asked with the key:  ", asked_with_key.round(decimals=2))

# %% reveal
reveal("the weight on value 1, asked with value 1", asked_with_value[1])

# %% [markdown]
# The value is what the dictionary *gives*, never what it compares. As a query it favours whatever key happens to point its way. The key as
# query favours the right one, but feebly: scores of 1 and 0 are weights of $e$ to 1 only.
#
# ### Exercise: a query that copies
#
# So the query needs the direction of the key and a length of its own: make the score of key $j$ exactly `scale` higher than each other
# score. There are many such queries, and **any of them is right**: the check runs attention with yours and with
# one-hot values as above, and looks at the weights.

# %% exercise="copy_query"
def copy_query(keys: Tensor, j: int, scale: float) -> Tensor:
    """Returns a query `(d,)` with which attention copies value j.

    Args:
        keys: `(n, d)`, rows of length 1 at right angles; 2 <= n <= d. They stay as they are.
        j: the index of the wanted value, counted from 0.
        scale: how much higher the score of key j is than every other score. With 0 all are equal.

    Example: with 3 keys, j = 0 and scale = ln 2, the weights are 1/2, 1/4 and 1/4.
    """
    ### BEGIN SOLUTION
    return scale * keys[j]  # its dot product is scale with key j, and 0 with the others
    ### END SOLUTION


# %% [markdown]
# Now watch the scale at work. At scale 0 all scores are equal and the output is the middle of the triangle. Then it walks towards the corner, fast at first, and never
# quite arrives: no finite scale gives a weight of exactly 1. (On paper. The computer rounds: in `float32` and with three keys, the weight *is* 1 from a scale of about 17 on.)

# %% experiment
# @title Copying: where the output is at scales from 0 to 8
scales = [0, 1, 2, 3, 4, 8]
figure, (axes,) = plots.panels(1, width=4.2, height=3.8)
draw_triangle(axes, "Copying: the output walks into a corner")
for j, (colour, marker) in enumerate(zip(plots.COLOURS, plots.MARKERS)):
    if j < 3:
        path = torch.stack([attend(copy_query(three_keys, j, scale), three_keys, corners)
                            for scale in scales])  # (6, 2)
        axes.plot(path[:, 0], path[:, 1], color=colour, marker=marker, markersize=5)
        if j == 2:
            for scale, (x, y) in list(zip(scales, path.tolist()))[:3]:
                axes.annotate(f"scale {scale}", (x, y), (x + 0.03, y + 0.01), fontsize=8)
shares = [f"{attend(copy_query(three_keys, 1, scale), three_keys, torch.eye(3))[1]:.2f} at {scale}"
          for scale in scales]
plots.show(figure, "Three paths from the middle of the triangle into its corners. "
           "Weight on the copied value by scale: " + ", ".join(shares) + ".")

# %% [markdown]
# ### How many keys fit?
#
# At most $d$ vectors of $d$ numbers can be at right angles. Does a dictionary of width 64 have room for 64 entries only? Try random keys of length 1 in
# place of orthonormal ones. They are *nearly* at right angles when $d$ is large: the dot product of two random directions is about
# $1/\sqrt{d}$ in size. The query is 20 times one of the keys, and we
# measure the weight on the value of this key, between 0 and 1.

# %% guess
guess("the weight on the wanted value, among 8,192 random keys of width 64", ...)

# %% experiment
# @title The weight on the wanted value among 2 to 8,192 random keys
def weight_of_the_copy(count: int, width: int) -> float:
    """Returns the weight on the wanted value among `count` random keys of length 1;
    the mean of 40 trials."""
    generator = torch.Generator().manual_seed(count + width)
    found = []
    for _ in range(40):
        # (n, d)
        keys = torch.nn.functional.normalize(torch.randn(count, width, generator=generator), dim=1)
        found.append(torch.softmax(keys @ (20.0 * keys[0]), dim=-1)[0])
    return torch.stack(found).mean().item()


counts = [2**power for power in range(1, 14)]
copied = {f"width {width}": [weight_of_the_copy(count, width) for count in counts]
          for width in (4, 8, 16, 64)}
axes = plots.curves(
    copied, counts, title="Random keys: a wide dictionary holds many",
    x_label="number of keys", y_label="weight on the wanted value", log_x=True,
)
plots.show(axes.figure, plots.describe_curves(copied, counts, "number of keys", digits=2))

# %% reveal
reveal("the weight on the wanted value, among 8,192 random keys of width 64", copied["width 64"][-1])

# %% [markdown]
# With width 64, thousands of random keys can be told apart: the room for *nearly* right angles grows much faster than $d$. With width 4, a few dozen
# keys are already too many: some other key points almost the same way.
#
# ## 3. The average of two (part b)
#
# A dictionary that copies is no surprise. But attention can do something that no Python dictionary can: give back the average of *two* values,
# $c \approx \frac{1}{2}(v_a + v_b)$. What must the scores be? By hand: four keys have the weights
# $\frac{3}{8}, \frac{3}{8}, \frac{1}{8}, \frac{1}{8}$, and the scores of the last two keys are 0. Which scores have the first two?

# %% by_hand
by_hand("average_query", [..., ..., 0, 0])  # four scores; math.log(...) is the natural logarithm

# %% [markdown]
# Weights of 3 to 1 are $e^s$ to $e^0$ with $s = \ln 3 \approx 1.10$, for both of the two keys. So a query is wanted with the same score for
# key $a$ and for key $b$, and 0 for all others.

# %% exercise="average_query"
def average_query(keys: Tensor, a: int, b: int, scale: float) -> Tensor:
    """Returns a query `(d,)` with which attention averages the values a and b.

    Args:
        keys: `(n, d)`, rows of length 1 at right angles; 2 <= n <= d. They stay as they are.
        a, b: the indices of the two values, different from each other.
        scale: how much higher the scores of keys a and b are than every other score. With 0 all
            are equal.

    Example: with 4 keys and scale = ln 3, a and b get the weight 3/8 each, the other two 1/8 each.
    """
    ### BEGIN SOLUTION
    return scale * (keys[a] + keys[b])  # key a has nothing to do with key b: scores scale and scale
    ### END SOLUTION


# %% experiment
# @title Averaging: where the output is at scales from 0 to 8
figure, (axes,) = plots.panels(1, width=4.2, height=3.8)
draw_triangle(axes, "Averaging: to the middle of an edge")
for (first, second), colour, marker in zip([(0, 1), (1, 2), (0, 2)], plots.COLOURS, plots.MARKERS):
    path = torch.stack([attend(average_query(three_keys, first, second, scale), three_keys, corners)
                        for scale in scales])
    axes.plot(path[:, 0], path[:, 1], color=colour, marker=marker, markersize=5)
ends = attend(average_query(three_keys, 0, 1, 8.0), three_keys, corners)
plots.show(figure, "Three paths from the middle of the triangle to the middles of its edges; "
           f"for v_a and v_b it ends at ({ends[0]:.2f}, {ends[1]:.2f}).")

# %% [markdown]
# ## 4. Exactly how sharp?
#
# The paths end in the middles of the edges: half of one value, half of another. But "a large scale" is too vague. You know every score, so you know every weight exactly. Write $s$ for the
# scale: two scores are $s$, the other $n - 2$ are 0. Which weight does each of the two get?

# %% setup
s = sympy.Symbol("s", real=True)  # the scale
n = sympy.Symbol("n", positive=True, integer=True)  # the number of keys

# %% exercise="average_weight"
def average_weight() -> sympy.Expr:
    """Returns, as a formula in s and n, the weight that each of the two averaged values gets.

    Use the symbols s and n of the cell above, and write e to the power of s as sympy.exp(s). With
    s = 0 the weight is 1/n: nothing is preferred.
    """
    ### BEGIN SOLUTION
    return sympy.exp(s) / (2 * sympy.exp(s) + (n - 2))  # each of the n - 2 others adds e^0 = 1
    ### END SOLUTION


# %% [markdown]
# Does the formula agree with the attention? And what is left over when the scale is very large?

# %% experiment
# @title Does the formula agree with the attention?
from helpers.formulas import in_letters

measured = attend(average_query(orthonormal_keys(10, 16), 2, 7, 4.0),
                  orthonormal_keys(10, 16), torch.eye(10))
weight = in_letters(average_weight(), s, n)
print(f"formula, s = 4 and n = 10: {float(weight.subs({s: 4, n: 10})):.4f}")
print(f"measured:                  {measured[2]:.4f} and {measured[7]:.4f}")
print("for a very large scale:   ", sympy.limit(weight, s, sympy.oo))

# %% [markdown]
# Turn the question round: how large must the scale be for a wanted precision? Suppose that each of the two weights may be below one half by at most `error`. Set your
# formula equal to $\frac{1}{2} - \text{error}$ and solve for $s$, with a pencil or with sympy. (With sympy: inside the function `n` is a number, the
# argument, and hides the symbol of the formula. There the symbol is `sympy.Symbol("n", positive=True, integer=True)`, as in the set-up.)
#
# By hand: which scale is needed with four keys and an error of 0.05?

# %% by_hand
by_hand("needed_scale", ...)  # math.log(...) is the natural logarithm

# %% [markdown]
# $e^s / (2 e^s + 2) = 0.45$ gives $e^s = 9$, so the scale is $\ln 9 \approx 2.20$.

# %% exercise="needed_scale"
def needed_scale(n: int, error: float) -> float:
    """Returns the scale with which each of the two averaged values gets the weight 1/2 - error.

    Args:
        n: the number of keys, at least 3.
        error: how far each of the two weights stays below one half, between 0 and 1/2. Where it is
            larger than at scale 0, the scale is below 0.

    Example: needed_scale(4, 0.05) is ln 9 = 2.1972...
    """
    ### BEGIN SOLUTION
    power = (n - 2) * (1 - 2 * error) / (4 * error)  # e to the scale
    return math.log(power)
    ### END SOLUTION


# %% experiment
# @title The scale that is needed, by the number of keys
counts = [2**power for power in range(2, 17)]
curves = {f"error {error:g}": [needed_scale(count, error) for count in counts]
          for error in (0.1, 0.01, 0.001)}
axes = plots.curves(
    curves, counts, title="The scale that is needed grows with the logarithm",
    x_label="number of keys n", y_label="scale", log_x=True,
)
plots.show(axes.figure, plots.describe_curves(curves, counts, "n"))
print(f"twice as many keys: {needed_scale(65_536, 0.01) - needed_scale(32_768, 0.01):.2f} more")

# %% [markdown]
# Once there are many keys, each doubling of their number costs $\ln 2 \approx 0.69$ more, whatever the error. That is why attention can look up one thing in
# a text of 65,536 tokens with scores below 20: the exponential does the work.
#
# ## 5. Keys that are not quite known (part c, first half)
#
# So far the query was made from the keys. In a trained model it is not: the query comes from one token, the keys from others, and all of them vary from text
# to text. Let us model that. Key $i$ is drawn around a mean $\mu_i$, with a little noise in every direction: $k_i \sim \mathcal{N}(\mu_i, \sigma^2 I)$, so the noise in each coordinate is normal, with standard deviation $\sigma$. The means are
# orthonormal and known; the keys are drawn *after* you have chosen the query.
#
# If the noise is very small, your query still averages the values $a$ and $b$, made from the means in place of the keys, $s(\mu_a + \mu_b)$: the noise hardly changes any dot product. With more noise, which scale is the best? Two effects pull in opposite directions:
# - a *small* scale leaks: the other keys keep part of the weight (section 4);
# - a *large* scale amplifies: the two scores are never quite equal, and the scale multiplies their difference. What was a tie becomes a winner.
#
# Move the slider, with the mouse or with the arrow keys. Each dot is the output for one draw of the keys, with noise of size $\sigma = 0.03$ in each coordinate.
# Where do the dots gather at scale 6? Along which line do they spread at 60?

# %% interactive
# @title Outputs for 200 draws of noisy keys: move the slider
from ipywidgets import IntSlider, interact


def draw_outputs(axes, scale: int) -> str:
    """Draws the outputs of 200 draws of noisy keys for one scale, and says where they lie."""
    generator = torch.Generator().manual_seed(5)
    samples = three_keys + 0.03 * torch.randn(200, 3, 4, generator=generator)  # (m, n, d)
    outputs = attend(scale * (three_keys[0] + three_keys[1]), samples, corners)  # (m, 2)
    draw_triangle(axes, f"scale {scale}")
    axes.plot(outputs[:, 0], outputs[:, 1], ".", color=plots.COLOURS[1], alpha=0.5)
    (x, y), spread = outputs.mean(dim=0), outputs.std(dim=0)[0]
    return (f"Scale {scale}: outputs around ({x:.2f}, {y:.2f}), "
            f"spread {spread:.2f} along the edge from v_a to v_b. ")


def show_scale(scale: int) -> None:
    """Shows one scale in a figure of its own."""
    figure, (axes,) = plots.panels(1, width=4.2, height=3.8)
    plots.show(figure, draw_outputs(axes, scale))


interact(show_scale,
         scale=IntSlider(value=6, min=0, max=100, description="scale", continuous_update=False));

# %% experiment
# @title The same picture for those who only read, at scales 1, 6 and 60
figure, three = plots.panels(3, width=3.6, height=3.4)
told = [draw_outputs(axes, scale) for axes, scale in zip(three, (1, 6, 60))]
plots.show(figure, "200 draws of noisy keys. " + "".join(told))

# %% experiment
# @title How far from one half, by scale, for three sizes of noise
def mean_distance(noise: float, scale: float) -> float:
    """Returns how far, on average over 400 draws of 10 keys, the weights of a and b are from one half."""
    means = orthonormal_keys(10, 16)
    # (m, n, d)
    samples = means + noise * torch.randn(400, 10, 16, generator=torch.Generator().manual_seed(6))
    weights = attend(scale * (means[0] + means[1]), samples, torch.eye(10))  # (m, n)
    return (weights[:, :2] - 0.5).abs().mean().item()


scales = [2 ** (power / 2) for power in range(-2, 17)]
curves = {f"noise {noise:g}": [mean_distance(noise, scale) for scale in scales]
          for noise in (0.2, 0.05, 0.01)}
axes = plots.curves(
    curves, scales, title="Too small leaks, too large amplifies",
    x_label="scale", y_label="mean distance from one half", log_x=True,
)
plots.show(axes.figure, plots.describe_curves(curves, scales, "scale", digits=2))
for name, distances in curves.items():
    print(f"{name}: best scale about {scales[distances.index(min(distances))]:.0f}, "
          f"distance {min(distances):.2f}")

# %% [markdown]
# At scale 6 the dots gather around the middle of the edge, at 60 they spread all along it. Each curve of the last figure is a valley with two walls. The left one is the same for all, and you have its formula. The right one comes the earlier the more noise there is.
#
# Averaging
# two values in one head means keeping **a tie**, and a tie is fragile. Copying has no such wall as long as the noise leaves the right key the nearest one: then a larger scale is better. (Section 7 shows draws in which it does not.)
#
# ## 6. A key of varying length (part c, second half)
#
# Noise in all directions is not the worst. Let key $a$ keep its direction and change its *length*: $k_a \approx \varepsilon\,\mu_a$ with $\varepsilon \sim \mathcal{N}(1, \tfrac{1}{2})$ (a variance of
# one half). The same word, said loudly or softly. Its *covariance*, which says how much it varies in each direction, is $\sigma^2 I + \frac{1}{2} \mu_a \mu_a^\top$ with a tiny $\sigma$ (CS224N writes $\alpha$ for $\sigma^2$); all other
# keys stay at their means.
#
# > **Inner or outer?** A student's published solution of this question begins with $\mu_a \mu_a^\top = 1$, which mixes up two products.
# >
# > A row times a column, $\mu_a^\top \mu_a$, is the number 1, since $\mu_a$ has length 1. A column times a row is the *outer* product, a matrix of $d \times d$ numbers: it keeps what lies in the direction of $\mu_a$ and takes away the rest.
# >
# > That is why only the length varies here:
# > the variance is one half in this direction, and hardly anything in all others. With the number 1 in its place, nothing would say in which direction.
#
# By hand: with $q = s(\mu_a + \mu_b)$ the score of $b$ is $s$ and that of $a$ is $\varepsilon s$. Take $s = 10$. What are the two weights for $\varepsilon = 0.5$, $1$ and $1.5$?
# (Leave out the other keys: at $s = 10$ they hardly count. You need $e^{5} \approx 148$.) Write down the weight on $a$ for $\varepsilon = 0.5$.

# %% guess
guess("the weight on a where its key is half as long", ...)

# %% experiment
# @title The weights on a and b for five lengths of key a
means = orthonormal_keys(5, 32)
query = 10.0 * (means[0] + means[1])
for length in (0.5, 0.9, 1.0, 1.1, 1.5):
    keys = means.clone()
    keys[0] *= length  # the direction stays, the length changes
    weights = attend(query, keys, torch.eye(5))
    print(f"length {length}: weight on a {weights[0]:.3f}, weight on b {weights[1]:.3f}")

# %% reveal
half_as_long = torch.cat([0.5 * means[:1], means[1:]])
reveal("the weight on a where its key is half as long", attend(query, half_as_long, torch.eye(5))[0])

# %% [markdown]
# A key that is 10 % longer takes almost three quarters; one that is half as long gets next to nothing (0.007). The output is nearly $v_a$ or nearly $v_b$, depending on the
# draw, and hardly ever the average that was wanted.
#
# Now measure it. In each draw let $w_a$ and $w_b$ be the weights of the two values. The number $w_a - w_b$ says where the output lies: $+1$ at $v_a$, $-1$ at $v_b$, 0 at
# their average. How much it moves from draw to draw is its variance: we call that the **swing**.
#
# Your function should measure several heads as well: you need that in section 7. Each head has its own query and makes its own weights; the output is the
# average of the heads' outputs, so the weights are averaged too.

# %% exercise="swing"
def swing(samples: Tensor, queries: Tensor, a: int, b: int) -> float:
    """Returns the variance, over the draws, of w_a - w_b.

    Args:
        samples: `(m, n, d)`, m draws of the n keys.
        queries: `(h, d)`, one query for each of the h heads, however many.
        a, b: the indices of the two values.

    w_a and w_b are the weights on the values a and b in one draw, averaged over the heads.
    The variance is the mean squared distance from the mean; m is at least 2, and dividing by m or
    by m - 1 are both accepted.

    Example: an output that is v_a in half of the draws and v_b in the others has a swing of 1.
    """
    ### BEGIN SOLUTION
    scores = samples @ queries.T  # (m, n, h)
    # (m, n), softmax over the keys, then mean over the heads
    weights = torch.softmax(scores, dim=1).mean(dim=-1)
    return (weights[:, a] - weights[:, b]).var().item()
    ### END SOLUTION


# %% [markdown]
# Here are 4,000 draws of the keys, as a histogram.

# %% experiment
# @title One head, 4,000 draws of the length of key a: where is the output?
def draw_keys(means: Tensor, key: int, draws: int, seed: int = 7) -> tuple[Tensor, Tensor]:
    """Returns draws of the keys `(m, n, d)` in which one key varies in length, and its lengths `(m,)`."""
    generator = torch.Generator().manual_seed(seed)
    lengths = 1 + math.sqrt(0.5) * torch.randn(draws, generator=generator)  # mean 1, variance 1/2
    # all keys: very little noise
    samples = means + 0.001 * torch.randn(draws, *means.shape, generator=generator)
    samples[:, key] += (lengths[:, None] - 1) * means[key]
    return samples, lengths


def histogram(axes, outputs: Tensor, title: str, colour: str) -> None:
    """Draws how often the output lies where between v_b (-1) and v_a (+1)."""
    share = torch.full_like(outputs, 1 / len(outputs))
    axes.hist(outputs.numpy(), bins=41, range=(-1.025, 1.025), weights=share.numpy(), color=colour)
    axes.set(title=title, xlabel="where the output is: -1 = v_b, 0 = average, +1 = v_a",
             ylabel="share of the draws", ylim=(0, 0.85))


samples, lengths = draw_keys(means, 0, draws=4000)
weights = attend(query, samples, torch.eye(5))  # (m, n)
one_head = weights[:, 0] - weights[:, 1]  # (m,)

figure, (axes,) = plots.panels(1, width=5.4, height=3.2)
histogram(axes, one_head, "One head, asked for the average", plots.COLOURS[1])
near = (one_head.abs() < 0.5).float().mean().item()
plots.show(figure, f"Two heaps, at -1 and at +1; only {near:.0%} of the draws lie between -0.5 and 0.5.")
print(f"mean {one_head.mean():.1f}, swing {float(swing(samples, query[None], 0, 1)):.2f}, "
      f"within 0.5 of the average: {near:.0%}")

# %% [markdown]
# On average over the draws, the output is close to where it should be. But nobody reads an average over draws: each text is one draw, and in almost every one the
# output is at one of the two extremes. The swing is not far from 1, the largest that is possible.
#
# Could a better query repair it? As long as it looks *towards* key $a$, no: the score of $a$ is multiplied by $\varepsilon$ and moves, that of $b$ does not, and the tie is lost. (There is one
# way round for one head, if you like puzzles. It comes at the end of section 7, with its price.)
#
# ## 7. Two heads (part d)
#
# Copying was robust: it needs *one* score to be high, not two to be equal. So let one head copy and the other copy, and average their outputs. (In a real layer
# the heads are concatenated and multiplied by an output matrix, section 3.2.2 of [Vaswani et al. (2017)](https://arxiv.org/abs/1706.03762); the average of two heads is one such matrix.)
#
# The check draws keys whose lengths vary between one half and two, and once keys that are twenty times too short, with a scale to match. Many
# pairs of queries are right.

# %% exercise="two_head_queries"
def two_head_queries(means: Tensor, a: int, b: int, scale: float) -> Tensor:
    """Returns two queries `(2, d)`:
    the average of their outputs is close to the average of the values a and b.

    Args:
        means: `(n, d)`, rows of length 1 at right angles; 2 <= n <= d. They stay as they are.
            Any key may be shorter or longer than its mean, but not turned round.
        a, b: the indices of the two values, different from each other.
        scale: how much higher the score of a head's key is than the others, at least,
            when the key has length 1; mostly 10 to 25.
    """
    ### BEGIN SOLUTION
    return scale * torch.stack([means[a], means[b]])  # (2, d), each head copies one value
    ### END SOLUTION


# %% [markdown]
# The same 4,000 draws as before, with one head and with your two. The scale is the same. One head had a swing of 0.78.

# %% guess
guess("how many times smaller the swing of two heads is", ...)

# %% experiment
# @title One head and two heads, the same 4,000 draws
queries = torch.stack([*two_head_queries(means, 0, 1, 10.0)]).float()  # (2, d)
# (m, n)
weights = (attend(queries[0], samples, torch.eye(5)) + attend(queries[1], samples, torch.eye(5))) / 2
two_heads = weights[:, 0] - weights[:, 1]
one, two = (float(swing(samples, asked, 0, 1)) for asked in (query[None], queries))

figure, (left, right) = plots.panels(2, width=4.6, height=3.2)
histogram(left, one_head, f"One head: swing {one:.2f}", plots.COLOURS[1])
histogram(right, two_heads, f"Two heads, the same draws: swing {two:.2f}", plots.COLOURS[0])
near_two = (two_heads.abs() < 0.1).float().mean().item()
plots.show(figure, "Left: two heaps at the ends. "
           f"Right: {near_two:.0%} of the draws lie within 0.1 of the average, the others left of it.")
print(f"within 0.1 of the average: {near_two:.0%}; "
      f"the variance is {one / two:.0f} times smaller than with one head")

# %% reveal
reveal("how many times smaller the swing of two heads is", one / two)

# %% [markdown]
# A large gain, at the price of one more query. But look at the right-hand picture again: it is not perfect. It is tempting to write that two heads *always* give the average, but some draws lie to the
# left, towards $v_b$. Where do they come from? Plot each draw over the length $\varepsilon$ of its key.

# %% experiment
# @title The same draws over the length of key a
figure, (axes,) = plots.panels(1, width=6.4, height=3.6)
axes.hist(lengths.numpy(), bins=60, weights=torch.full_like(lengths, 7 / len(lengths)).numpy(),
          bottom=-1.5, color="#dddddd")
axes.plot(lengths, one_head, ".", color=plots.COLOURS[1], markersize=3, label="one head")
axes.plot(lengths, two_heads, ".", color=plots.COLOURS[0], markersize=3, label="two heads")
axes.set(title="Where the cliff is", xlabel="length of key a (negative: it points backwards)",
         ylabel="-1 = v_b, 0 = average, +1 = v_a", ylim=(-1.5, 1.2))
axes.text(1.0, -1.45, "how often each length occurs", ha="center", fontsize=8, color="#333333")
axes.legend(loc="upper left", frameon=False, markerscale=4)
backwards = (lengths < 0).float().mean().item()
plots.show(figure, "One head: a cliff from -1 to +1 at length 1. "
           f"Two heads: a step from {two_heads.min():.1f} to 0 near length 0; "
           f"{backwards:.0%} of the lengths lie below 0.")
expected = 0.5 * math.erfc(1 / math.sqrt(0.5) / math.sqrt(2))
print(f"draws with a negative length: {backwards:.1%} measured, {expected:.1%} expected")

# %% [markdown]
# Both have a cliff. With one head it is at $\varepsilon = 1$, exactly where the lengths are most frequent: that is the tie. With two heads it is near
# $\varepsilon = 0$, where they are rare: there the key has turned round and the first head no longer finds it. Two heads have not removed the
# cliff; they have moved it out of the way.
#
# Can it be moved further, or taken away? A query can say what it wants, and also what it does *not* want:
# - let the first of the two heads look away from all the other keys: their scores are then $-s$ in place of 0, and the key may be turned round down to $\varepsilon = -1$;
# - the puzzle of section 6: let **one** head look away from the others, and not towards $a$ and $b$ at all. The scores of $a$ and $b$ are 0, whatever their length: a tie that nothing disturbs!
#
# What is the price of this? We add 20 keys that nobody had in mind when the query was made, and measure the swing again, and how much weight is left for $a$ and $b$.

# %% experiment
# @title Four ways to ask, without and with 20 keys that nobody had in mind
others = means[2:].sum(dim=0)
ways = {
    "one head": query[None],
    "two heads": queries,
    "two heads, one looks away": torch.stack([10.0 * (means[0] - means[1] - others), 10.0 * means[1]]),
    "one head that only looks away": -10.0 * others[None],
}
strangers = orthonormal_keys(25, 32)[5:]  # 20 more keys, at right angles to the five
crowd = torch.cat([samples, strangers.expand(len(samples), -1, -1)], dim=1)  # (m, 25, d)
more = torch.cat([means, strangers])  # (25, d)
print(f"{'':31} swing   with 20 strangers: swing   weight on a and b")
for name, asked in ways.items():
    kept = torch.softmax(more @ asked.T, dim=0).mean(dim=1)[:2].sum()
    swings = [float(swing(draws, asked, 0, 1)) for draws in (samples, crowd)]
    print(f"{name:31} {swings[0]:.3f} {swings[1]:>26.3f} {kept:>12.2f}")

# %% [markdown]
# The query that only looks away has no swing at all, and fails as soon as there are keys that it does not know: a stranger's score is 0, too.
#
# For the same reason the head that looks away loses what it has gained: where its key is very short or turned round, the strangers score as high or higher,
# and the swing is about that of two plain heads.
#
# A real query meets new texts all the time. So
# we must look towards what we want, one head for each thing, and the tie is what we give up.

# %% [markdown] pause
# You have copied and averaged values with one head and with two. Next, keys, queries and values are all made from the same tokens, and you
# design the matrices that make them.

# %% [markdown]
# ## 8. Self-attention: nothing learned (part e, first half)
#
# In self-attention, keys, queries and values are not given. They are all made from the same tokens $x_i$ by three matrices: $k_i = K x_i$, $q_i = Q x_i$, $v_i = V x_i$.
#
# Take four vectors $u_a, u_b, u_c, u_d$ at right angles, all of length $\beta$, and three tokens made from them:
#
# $$ x_1 = u_d + u_b, \qquad x_2 = u_a, \qquad x_3 = u_c + u_b $$
#
# Think of each $u$ as a property: tokens 1 and 3 share $u_b$ and differ in something else; token 2 has nothing in common with them. Begin with three matrices that do
# nothing, $K = Q = V = I$. What does token 2 get, $c_2$? Its scores are the dot products of $x_2$ with $x_1$, $x_2$ and $x_3$. Remember $u \cdot u = \beta^2$.
#
# By hand, where $\beta$ is such that $e^{\beta^2} = 2$: which three weights does token 2 give to $x_1$, $x_2$ and $x_3$? And how much of each $u$ is then in $c_2$?

# %% by_hand
by_hand("self_attention_output", [..., ..., ..., ...])  # how much of u_a, u_b, u_c and u_d

# %% [markdown]
# The scores are 0, $\beta^2$ and 0, so the weights are $\frac{1}{4}$, $\frac{1}{2}$ and $\frac{1}{4}$. Then
# $c_2 = \frac{1}{4}(u_d + u_b) + \frac{1}{2} u_a + \frac{1}{4}(u_c + u_b)$: one half of $u_a$ and of $u_b$, a quarter of $u_c$ and of $u_d$. Now for any $\beta$.

# %% setup
beta = sympy.Symbol("beta", positive=True)  # the length of each u

# %% exercise="self_attention_output"
def self_attention_output() -> dict[str, sympy.Expr]:
    """Returns how much of u_a, u_b, u_c and u_d is in c2, for K = Q = V = I.

    Returns:
        A dict with the keys "u_a", "u_b", "u_c" and "u_d"; the values are formulas in beta, the
        symbol of the cell above.

    Example: if c2 were x1 / 2 + x3 / 2, that is u_d / 2 + u_b + u_c / 2, the dict would be
    {"u_a": 0, "u_b": 1, "u_c": 1/2, "u_d": 1/2}.
    """
    ### BEGIN SOLUTION
    power = sympy.exp(beta**2)  # e to the score of x2 with itself; the scores with x1 and x3 are 0
    total = power + 2
    return {"u_a": power / total, "u_b": 2 / total, "u_c": 1 / total, "u_d": 1 / total}
    ### END SOLUTION


# %% [markdown]
# How fast does it become a copy? And what if we want token 2 to get $u_b$, and may add something to $x_2$: first $u_d$, which $x_1$ has, then $u_c$, which
# $x_3$ has? What will $c_2$ mostly be made of, with $u_d$ added?

# %% guess
guess("what c2 is mostly made of, with u_d added to x2", ...,
      among=["u_a", "u_b", "u_b and u_d", "u_a and u_d", "u_a and u_b and u_d"])

# %% experiment
# @title What is in c2, for three lengths beta and for three tokens x2
for length in (1, 2, 3):
    print(f"beta = {length}:", {name: round(float(in_letters(formula, beta).subs(beta, length)), 4)
                                for name, formula in self_attention_output().items()})


def coefficients(added: Tensor, u: Tensor) -> Tensor:
    """Returns how much of each u is in c2, `(4,)`, when `added` is added to x2 and K = Q = V = I."""
    u_a, u_b, u_c, u_d = u
    x = torch.stack([u_d + u_b, u_a + added, u_c + u_b])  # (3, d)
    return u @ attend(x[1], x, x) / (u[0] @ u[0])


u = 3.0 * orthonormal_keys(4, 6, seed=8)  # u_a, u_b, u_c, u_d, each of length 3
# (3, 4)
mixtures = torch.stack([coefficients(added, u) for added in (0 * u[3], u[3], u[2])]).round(decimals=3) + 0.0
axes = plots.matrix(
    mixtures, "What is in c2, for beta = 3",
    rows=["x2 = u_a", "x2 = u_a + u_d", "x2 = u_a + u_c"], columns=["u_a", "u_b", "u_c", "u_d"],
    row_label="", column_label="share of each vector", digits=3, limits=(0, 1),
)
told = "; ".join(" ".join(f"{share:.3f}" for share in row) for row in mixtures)
plots.show(axes.figure, f"Shares of u_a to u_d in c2, row by row: {told}.")

# %% reveal
seen = [name for name, share in zip(["u_a", "u_b", "u_c", "u_d"], mixtures[1]) if share > 0.1]
reveal("what c2 is mostly made of, with u_d added to x2", " and ".join(seen))

# %% [markdown]
# No trace of $u_b$. With $u_a + u_d$, the score with $x_1$ rises from 0 to $\beta^2$, but the score of token 2 with *itself* rises to $2\beta^2$. With identity matrices a token always
# resembles itself most. And even if it copied $x_1$, it would get $u_d$ along with $u_b$. So two things must be learned: **whom to look at**, apart from what one is, and **what to
# take along**, apart from what is there.
#
# ## 9. Self-attention: designed by hand (part e, second half)
#
# That is what $K$, $Q$ and $V$ are for. The task: find matrices with
#
# $$ c_2 \approx u_b \qquad \text{and at the same time} \qquad c_1 \approx u_b - u_c $$
#
# One tool is enough, the **outer product**. The matrix $\frac{1}{\beta^2}\, y\, x^\top$ (`torch.outer(y, x) / (x @ x)`) is a rule "where you find $x$, put $y$": it turns $x$ into $y$ and
# everything at a right angle to $x$ into 0. Sums of such matrices are lists of rules.

# %% experiment open=true
x, y = torch.tensor([2.0, 0.0]), torch.tensor([0.0, 2.0])
rule = torch.outer(y, x) / (x @ x)  # where you find x, put y
print("the rule:\n", rule)
print("applied to x:          ", rule @ x)
print("applied to y:          ", rule @ y)
print("applied to 3 x + 5 y:  ", rule @ (3 * x + 5 * y))

# %% [markdown]
# Plan before you write, one matrix at a time:
# 1. **Q**: whom shall token 2 look at? It is simplest if that is a single token: then ask for something that only this one has. The same for token 1.
# 2. **K**: how do the tokens present themselves? As they are will do.
# 3. **V**: what is taken along? One rule for what to keep, one for what to turn round, nothing for the rest.
#
# Mind the scores: they must be about $\beta^2$, so that one token takes nearly all the weight. The check draws $\beta$ between 4 and 5.5.

# %% exercise="kqv_matrices"
def kqv_matrices(u_a: Tensor, u_b: Tensor, u_c: Tensor, u_d: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Returns K, Q and V, each `(d, d)`, with c2 close to u_b and c1 close to u_b - u_c.

    Args:
        u_a, u_b, u_c, u_d: `(d,)` each, at right angles and all of the same length,
            in any direction; d >= 4.

    The tokens are x1 = u_d + u_b, x2 = u_a, x3 = u_c + u_b;
    matrices act from the left: k_i = K @ x_i, and so on.
    """
    ### BEGIN SOLUTION
    square = u_a @ u_a  # beta squared
    keys = torch.eye(len(u_a))
    # token 2 asks for u_d, token 1 for u_c
    queries = (torch.outer(u_d, u_a) + torch.outer(u_c, u_d)) / square
    # keep u_b, turn u_c round, drop the rest
    values = (torch.outer(u_b, u_b) - torch.outer(u_c, u_c)) / square
    return keys, queries, values
    ### END SOLUTION


# %% [markdown]
# Look at your layer from both sides: who looks at whom, and what comes out.

# %% experiment
# @title Your layer: who looks at whom, and what comes out
u = 4.5 * orthonormal_keys(4, 6, seed=8)
u_a, u_b, u_c, u_d = u
x = torch.stack([u_d + u_b, u_a, u_c + u_b])  # (3, d)
K, Q, V = (matrix.float() for matrix in kqv_matrices(u_a, u_b, u_c, u_d))
weights = torch.softmax((x @ Q.T) @ (x @ K.T).T, dim=-1)  # (3, 3)
outputs = weights @ (x @ V.T)  # (3, d)
weights = weights.round(decimals=2)
shares = (outputs @ u.T / (u_a @ u_a)).round(decimals=2) + 0.0  # (3, 4); 0.0 makes a plain zero of -0

names = ["token 1", "token 2", "token 3"]
figure, (left, right) = plots.panels(2, width=3.9, height=3.2)
plots.matrix(weights, "Who looks at whom", rows=names, columns=names, digits=2, axes=left, limits=(0, 1))
plots.matrix(
    shares, "What comes out", rows=["c1", "c2", "c3"], columns=["u_a", "u_b", "u_c", "u_d"],
    row_label="", column_label="share of each vector", digits=2, axes=right, limits=(-1, 1),
)
told = "; ".join(" ".join(f"{share:.2f}" for share in row) for row in shares)
plots.show(figure, plots.describe_matrix(weights, "Weights")
           + f" Shares of u_a to u_d in c1, c2 and c3: {told}.")

# %% [markdown]
# You have programmed a layer of attention: two rules say who looks at whom, two others what is carried over. Token 3 was not mentioned in the task; can you explain its row? (What does
# your $Q$ make of $u_c + u_b$?)
#
# Trained models have heads that can be read in just this way: one product of matrices ($Q^\top K$) decides where a head looks, another (output times $V$) what it copies. [Elhage et al. (2021), "A
# Mathematical Framework for Transformer Circuits"](https://transformer-circuits.pub/2021/framework/index.html) take trained heads apart along this line, and find that many of them copy.
#
# ## 10. Essays
#
# Two short ones, in English or in French. One sentence is enough for each question, but it must say *why*.
#
# **One head**: (a) What must be true of the scores for attention to copy $v_j$? (b) Why does $s(k_a + k_b)$ give the average of two values, and why must $s$ be large? (c) With a
# little noise on the keys, why is a larger scale not always better? (d) Why does a key $a$ of varying length make the output of this query swing, whatever the (large) scale?

# %% [markdown] essay="one_head_essay"
# **Rubric** (half a point for each, 2 points in all)
#
# - (a) The score of key $j$ is higher than each other score by a large *difference* (several times 1, more for more keys); the softmax then puts nearly all weight there. The values play no part.
# - (b) Orthonormal keys: the scores are $s$ for both and 0 for the rest, so the two weights are equal; $s$ must be large because each other key keeps $e^0 = 1$ against $e^s$.
# - (c) The scale multiplies the small difference between the two noisy scores as well as the gap to the others; when scale times noise is about 1 or more, the tie is lost.
# - (d) The score of $a$ is $\varepsilon s$ against $s$: the difference $(\varepsilon - 1)s$ is large for almost every $\varepsilon$, positive or negative, so the softmax picks one of the two.
#
# **Misconceptions that cost marks**: "the weight is exactly 1" or "exactly 0"; "the query must be equal to the value"; "the mean over many draws is right, so it works"; "a larger scale
# repairs the swing" (it makes it worse).
#
# **Answers as students write them**
#
# - *Full marks (2 of 2)*: "(a) The score of key j must be higher than each other one by a large difference, because the softmax depends on
#   differences only; with n keys the weight is e^s / (e^s + n - 1), so more keys need more. (b) With orthonormal keys k_a and k_b both get the score
#   s and all others 0, so their weights are equal; but each other key still keeps e^0 = 1 against e^s, so s must be large. (c) The scale also
#   multiplies the small difference that noise makes between the two scores: with noise 0.2 the best scale was about 3, and at scale 60 even noise of
#   0.03 spread the outputs by 0.40 along the edge. (d) The score of a is its length times s and that of b is s, so the difference (length - 1) s is
#   large for nearly every length, and the softmax picks one of the two." Why: (a) to (d), half a point each.
# - *Half (1 of 2)*: "(a) The score of key j must be larger than all others by several units, so that the softmax gives it nearly all of the weight;
#   the values do not matter for this. (b) The query has the same product s with both keys and 0 with the others. So both get the same weight, and s
#   must be large because each of the others still has e^0 = 1. (c) A larger scale is not always better because the mean over many draws is right
#   anyway. (d) The length of the key changes the output, since a longer key has more weight in the average. With a still larger scale this would be
#   repaired." Why: (a) and (b) (1). (c) gives a misconception for a reason: a right mean over draws does not make one draw right (0.5 lost). (d) says
#   nothing of the difference (length - 1) s, and a larger scale makes the swing worse (0.5 lost).
# - *No marks (0 of 2)*: "(a) To copy v_j the query must be equal to v_j; then its weight is exactly 1 and all others are exactly 0. (b) The query
#   k_a + k_b contains both keys, therefore the output contains both values, and a large s makes it larger. (c) Noise is always bad, so one should
#   not use noise. (d) The output swings because the key varies, and it would swing less with a larger scale." Why: (a) asks for the value in place
#   of a difference of scores and has weights of exactly 1 and 0; (b), (c) and (d) say what happens without a reason, and the end of (d) is the last
#   misconception. No part earns its half point.

# %% [markdown]
# **Several heads and three matrices**: (a) Why do two heads hold still that look at one key each, where two heads that both have the query $s(\mu_a + \mu_b)$ do not? (b) In which draws do they still fail, and why? (c) With $K = Q = V = I$, why
# can adding $u_d$ or $u_c$ to $x_2$ not make $c_2$ equal to $u_b$? (d) What does each of your matrices $Q$ and $V$ do, in words?

# %% [markdown] essay="many_heads_essay"
# **Rubric** (half a point for each, 2 points in all)
#
# - (a) Each head copies one value, which needs one score that is clearly the highest, not two that are equal; a longer or shorter key is still the highest. Two heads with the query $s(\mu_a + \mu_b)$ swing together, so their average swings as much.
# - (b) When the key's length is near 0 or negative (about 16 % of the draws for variance 1/2; in 8 % it is negative): its score is no longer the highest, the first head falls back on the other values.
# - (c) The added vector raises the score with $x_1$ (or $x_3$) to $\beta^2$, but that of token 2 with itself to $2\beta^2$: it still copies itself. Even a copy of $x_1$ would bring $u_d$ along with $u_b$.
# - (d) $Q$ turns what a token is into what it looks for ($u_a$ into $u_d$, $u_d$ into $u_c$), each time something that only one token has; $V$ keeps $u_b$, turns $u_c$ round, and drops the rest.
#
# **Misconceptions that cost marks**: "two heads always give the average"; "two heads halve the variance because one averages two numbers" (true of independent numbers only); "$V$ decides where to look"; "it
# works because there are more parameters".
#
# **Answers as students write them**
#
# - *Full marks (2 of 2)*: "(a) A head that looks at one key only needs its score to be clearly the highest, and it stays so when the key gets longer
#   or shorter. Two heads with the query s(mu_a + mu_b) need a tie, lose it in the same draws and in the same direction, so their average swings as
#   one head does. (b) When the length of k_a is near 0 or negative, in about 16 % of the draws: its score is no longer the highest, and the first head
#   takes the other values. (c) u_d in x_2 raises its score with x_1 to beta^2, but that of token 2 with itself to 2 beta^2, so it still copies
#   itself; and a copy of x_1 would bring u_d along with u_b. (d) Q turns what a token is into what it looks for, u_a into u_d and u_d into u_c; V
#   keeps u_b, turns u_c round and drops the rest." Why: (a) to (d), half a point each.
# - *Half (1 of 2)*: "(a) A head with one key only has to have the highest score there, which a longer or shorter key does not change; two heads that
#   both ask for mu_a + mu_b swing in the same draws, so nothing is gained by averaging them. (b) They fail in a few draws because of bad luck with
#   the noise. (c) The added vector raises the score with the other token, but that with itself rises twice as much, to 2 beta^2, so token 2 copies
#   itself. (d) Q decides what is carried over and V decides where to look." Why: (a) and (c) (1). (b) names neither the length near 0 or below nor
#   what the head then does (0.5 lost). (d) has the parts of Q and V exchanged, "V decides where to look" being the third misconception (0.5 lost).
# - *No marks (0 of 2)*: "(a) Two heads halve the variance, because one averages two numbers, so two heads always give the average. (b) They fail
#   rarely, in those draws in which they do not work. (c) With K = Q = V = I it is not possible since the identity does nothing. (d) With three
#   matrices there are more parameters, and so the model can do more; Q is for the query and V for the value." Why: (a) would hold for independent
#   numbers, but heads with the same query swing together, and then the second half of the question has no answer. (b) and (c) repeat the question,
#   (d) repeats the names and takes parameters for a reason. No part is met.

# %% [markdown] questions
# ## Three questions
#
# For yourself: open an answer to see whether it is right.
#
# 1. A head is to copy one of 50 values. What must hold for its query?
#    - It is as close as possible to the value that is wanted. => Values are never compared with anything; the query meets the keys.
#    - Its score is 1 with the right key and 0 with all others. => That is $e$ to 1: the other 49 keys keep nearly all of the weight.
#    + Its score with the right key is far above all others. => Weights come from differences of scores; a large difference leaves little for the rest.
# 2. One head asks for the average with $s(\mu_a + \mu_b)$, and key $a$ varies in length. What does a larger $s$ do?
#    + It makes the swing larger: the tie is lost more often. => The scores differ by $(\varepsilon - 1)s$, and $s$ multiplies this difference.
#    - It makes the swing smaller: the other keys leak less. => They do leak less. But the two weights move apart, and that is what swings.
#    - Not much: the mean over many draws is right already. => Each text is one draw, and in nearly each the output is one of the two values.
# 3. Why does the output of two heads, one for each key, stay where it is, where that of one head for both keys swings?
#    - An average of two numbers has half of the variance. => Of two independent ones. Two heads that both ask for $s(\mu_a + \mu_b)$ swing together.
#    + Each of them needs one highest score, and no tie. => A key that is longer or shorter still has the highest score, until it turns round.
#    - They have more parameters, so they can do more. => With the wrong two queries nothing is gained; what counts is what they ask for.

# %% [markdown]
# ## What to remember
#
# - Attention is a soft dictionary: scores are dot products, weights come from *differences* of scores, the output is an average of the values and always lies between them.
# - To copy, make one score larger by $s$: the weight is $e^s / (e^s + n - 1)$. The scale that is needed grows with $\ln n$ only.
# - To average in one head, two scores must be equal: a tie, lost as soon as scale times noise is about 1.
# - Two heads that copy are robust where one head that averages is not: they need no tie. They still fail where a key turns round.
# - $Q$ and $K$ decide where to look, $V$ what is taken along; $y x^\top / \beta^2$ is the rule "where you find $x$, put $y$".
#
# **Go further.** Extend your matrices: let token 3 get $u_a$ as well, without changing $c_1$ and $c_2$. Then try something impossible: can one head give $c_2 \approx 2 u_b$ *with values
# that are the tokens themselves* ($V = I$)? Think of the triangle. Notebook 09 takes the opposite road: an attention without any keys and queries at all.

# %% [markdown]
# ## What others call it
#
# - **content-based addressing** (also *soft look-up*, *associative memory*): finding a value by how well its key fits.
# - **convex combination**: an average with weights that are positive and sum to 1; it never leaves the hull of its values, here the triangle.
# - **inverse temperature** (also *logit scale*): the scale of the scores; a temperature of $1/s$ is a scale of $s$.
# - **near-orthogonality**: many more than $d$ directions that are *nearly* at right angles; **superposition** is their use by a model.
# - **outer product** (also *rank-one matrix*): a column times a row; sums of such products store values under keys.
# - **QK circuit, OV circuit**: $Q^\top K$ decides where a head looks, output times $V$ what it copies.

# %% experiment open=true
from tutor import progress

progress()
