# ---
# jupyter:
#   course:
#     teaches: count parameters by hand, by formula and by machine
#     part: models
#     column: 2
#     row: 1
#     builds_on: ["04"]
#     questions:
#       - Where are the parameters?
#       - Which terms of a count are wrong, even where its total is right?
#       - How much memory does training take?
#   jupytext:
#     notebook_metadata_filter: course
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 05 · Counting parameters
#
# 117 million parameters: that number stood in a famous paper (GPT-2, table 2), and it was wrong. The authors later
# [corrected it](https://github.com/openai/gpt-2#readme) to 124 million. Counting is easy to get nearly right. In this
# notebook you count in three ways, **by hand, by formula and by program**, until all three agree.
#
# **When you are done, you can**
# - say what counts as a parameter and what does not, and count it for any model;
# - write the number of parameters of a Transformer as a formula, and explain each of its terms;
# - find the wrong term in somebody else's count, also where the total happens to be right;
# - say which part of a model is the large one, and how much memory training takes.
#
# **Time**: about 3 h 15 min. **Before this**: notebooks 03 and 04; you know what attention, heads, layer norm and a frozen base are. A little `sympy` helps.
#
# | exercise | what it asks | points |
# |---|---|---|
# | `count_parameters` | a program that counts | 3 |
# | `parameter_formulas` | a formula for each parameter of a model | 4 |
# | `layer_total` | one layer | 2 |
# | `language_model_total` | a language model | 2 |
# | `classifier_total` | a classifier | 2 |
# | `when_is_it_right` | a wrong count that passes its test | 2 |
# | `repair` | four wrong counts, found and mended | 3 |
# | `crossover_width` | where the layers outweigh the embedding | 2 |
# | `training_bytes` | the memory that training takes | 2 |
# | *essay* `which_count_essay` | which count for which question | 2 |
# | **total** | | **24** |
#
# Folded cells are experiments: they draw, print and compare, and no mark depends on them.

# %% setup
import pandas as pd
import sympy
import torch
from torch import nn

from helpers import plots
from tutor import by_hand, check, guess, hint, resume, reveal
from helpers.models import Classifier, LanguageModel, TransformerBase

V, D, F, M, A, C, L = sympy.symbols("V D F M A C L", positive=True, integer=True)

# %% [markdown]
# ## The letters
#
# | letter | what it stands for | in the *large example*, the full-size model of notebook 04 |
# |---|---|---|
# | $V$ | number of words in the vocabulary | 50,001 |
# | $D$ | width: how many values describe one token | 200 |
# | $F$ | width inside the feed-forward part | 200 (the same as $D$) |
# | $M$ | number of layers | 4 |
# | $A$ | number of heads | 2 |
# | $C$ | number of outputs of the head: classes, or words | 2 or 50,001 |
# | $L$ | number of tokens in a sequence | |
#
# The set-up cell has made a `sympy` symbol of each. A formula such as `D * (F + 1)` is an ordinary Python value: you can add
# formulas, expand them, solve them, and put numbers in with `.subs({D: 200, F: 800})`. The checks compare what formulas
# **mean**: any correct form gets full marks.
#
# ## 1. What counts
#
# Start with the smallest part that has parameters. A `Linear` from 3 inputs to 2 outputs computes each output as a weighted sum of
# the 3 inputs, plus a constant of its own, the *bias*. Draw it on paper and count the values that training may change. Write
# your count in place of the dots and run the cell.

# %% by_hand
by_hand("count_parameters", ...)

# %% [markdown]
# The next cell draws one square for each parameter.

# %% experiment
# @title A Linear from 3 to 2: one square for each parameter
from matplotlib.patches import Rectangle


def squares(axes, x, y, rows, columns, colour, strength=1.0):
    """Draws rows x columns squares, one for each parameter, from the upper left corner (x, y)."""
    for i in range(rows):
        for j in range(columns):
            place = (x + j, y - i - 0.9)
            axes.add_patch(Rectangle(place, 0.9, 0.9, color=colour, alpha=strength, linewidth=0))


small = nn.Linear(3, 2)
figure, (axes,) = plots.panels(1, width=4, height=1.7)
squares(axes, 0, 0, *small.weight.shape, plots.COLOURS[0])
squares(axes, 4, 0, len(small.bias), 1, plots.COLOURS[1])
axes.text(1.5, -2.6, "weight: 2 rows of 3", ha="center")
axes.text(4.5, -2.6, "bias: 2", ha="center")
axes.set(xlim=(-0.2, 6.2), ylim=(-3, 0.3), aspect="equal", title="A Linear from 3 to 2")
axes.axis("off")
weights, biases = small.weight.numel(), small.bias.numel()
plots.show(figure, f"A Linear from 3 to 2: {weights} weights in 2 rows of 3, and {biases} biases.")
print(f"{weights} weights + {biases} biases = {weights + biases} parameters")

# %% [markdown]
# $2 \cdot 3$ weights and $2$ biases: 8 parameters. In general a `Linear` has one row for each **output**, as long as there are
# **inputs**, and one bias for each output.
#
# ### Three answers to one question
#
# Now a whole model, a small one: a language model for 10 words with $D = 4$ and one layer. Its head is made to *share* the
# matrix of the embedding, a common way to save ([Press and Wolf, 2017](https://arxiv.org/abs/1608.05859)): both are 10 x 4, and
# the model uses one matrix for both. How many parameters does it have? Here are three programs as people write them.

# %% experiment open=true
tiny = LanguageModel(TransformerBase(10, d_model=4, n_layers=1, n_heads=2, max_len=16))
tiny.head.weight = tiny.base.embedding.weight  # one matrix, two names

saved = tiny.state_dict().values()
named = [tensor for _, tensor in tiny.named_parameters(remove_duplicate=False)]
print(sum(tensor.numel() for tensor in saved), "all that is saved: state_dict()")
print(sum(tensor.numel() for tensor in [*named, *tiny.buffers()]), "all tensors with a name")
print(len(list(tiny.parameters())), "how long the list of parameters is")

# %% [markdown]
# All three are wrong.
# - `state_dict()` lists the shared matrix under both of its names: 40 parameters too many.
# - The second one makes the same mistake, and adds the *buffers*: tensors that travel with the model but that nothing trains.
#   Here it is the table of sinusoidal positions, $16 \cdot 4 = 64$ numbers that a formula has put there.
# - The third one counts matrices and vectors, not what is in them.
#
# The rule: **a parameter is a number that belongs to the model and that training may change. Each is counted once, whatever
# the number of its names.** Sometimes a part is *frozen*: its values stay as they are (`requires_grad` is `False`). They are
# parameters of the model all the same, but a second count, of the **trainable** ones, leaves them out.
#
# ### Exercise: a program that counts

# %% exercise="count_parameters"
def count_parameters(model: nn.Module, trainable_only: bool = False) -> int:
    """Returns the number of parameters of a model: numbers, not tensors.

    Args:
        model: any module. Weights shared under several names count once; buffers do not count.
        trainable_only: leave out parameters that are frozen (requires_grad is False).

    Example: count_parameters(nn.Linear(3, 2)) is 8.
    """
    ### BEGIN SOLUTION
    parameters = model.parameters()  # gives each parameter once, and no buffers
    return sum(p.numel() for p in parameters if p.requires_grad or not trainable_only)
    ### END SOLUTION


# %% [markdown]
# With your program, the same small model in four versions. Explain each difference to yourself before you go on.

# %% experiment
# @title What your program counts in four versions of the small model
def small_model(**options):
    """Returns the small language model: 10 words, D = 4, one layer, at most 16 tokens."""
    base = TransformerBase(10, d_model=4, n_layers=1, n_heads=2, max_len=16, **options)
    return LanguageModel(base)


tied = small_model()
tied.head.weight = tied.base.embedding.weight
frozen = small_model()
frozen.base.requires_grad_(False)
versions = {
    "as it is": small_model(),
    "learned positions": small_model(positions="learned"),
    "head shares the embedding": tied,
    "base frozen": frozen,
}
models = versions.values()
columns = {
    "parameters": [count_parameters(model) for model in models],
    "trainable": [count_parameters(model, trainable_only=True) for model in models],
}
pd.DataFrame(columns, index=list(versions))

# %% [markdown]
# ## 2. A formula for each parameter
#
# A total can be right by accident. So take the model apart and find a formula for each tensor in it. The next model
# is made for that: all its sizes are different, so that a shape says by itself which letters it consists of. Only the
# number of heads does not show. Where is it?

# %% experiment open=true
base = TransformerBase(vocab_size=11, d_model=4, n_layers=1, n_heads=2, d_feedforward=6)
example = Classifier(base, n_classes=3)

for name, parameter in example.named_parameters():
    print(f"{name:41s}", tuple(parameter.shape))

# %% [markdown]
# ### A matrix for each head?
#
# "Each head looks at the sentence in its own way, so each head needs its own query matrix, $D \times D$. With $A$ heads that
# makes $A \cdot D^2$ weights." Is that so? The next cell builds the attention of a model of width 12 with 1, 2, 4 and 12 heads.
#
# How many weights has the query matrix in all with 4 heads? Write a number in place of the dots, or leave them and go on.

# %% guess
guess("weights of the query matrix at D = 12, with 4 heads", ...)

# %% experiment
# @title Does the query matrix grow with the number of heads?
rows = []
for heads in (1, 2, 4, 12):
    base = TransformerBase(vocab_size=11, d_model=12, n_layers=1, n_heads=heads)
    query = base.layers[0].attention.query.weight
    rows.append((heads, heads * 12**2, query.numel(), 12 // heads))
columns = ["heads", "expected: A · D²", "there are", "rows for each head"]
pd.DataFrame(rows, columns=columns).set_index("heads")

# %% reveal
reveal("weights of the query matrix at D = 12, with 4 heads", rows[2][2])

# %% [markdown]
# There is **one** matrix, whatever the number of heads. The heads share its rows: each works on $D/A$ of them. That is
# multi-head attention (Vaswani et al., 2017, section 3.2.2: $d_k = d_v = d_{model}/h$): several looks for the price of one.
# In the picture, the colours say to which head a row of the query matrix belongs.

# %% experiment
# @title The query matrix with two heads: what one might think, and what is there
figure, (claimed, real) = plots.panels(2, width=3.6, height=2.3)
for head in range(2):
    squares(claimed, 5 * head, 0, 4, 4, plots.COLOURS[head])
    squares(real, 2.5, -2 * head, 2, 4, plots.COLOURS[head])
    claimed.text(5 * head + 2, -4.9, f"head {head + 1}", ha="center")
    real.text(7, -2 * head - 1.2, f"head {head + 1}")
claimed.set_title("what one might think: 2 · 16 = 32")
real.set_title("what is there: 16, split")
for axes in (claimed, real):
    axes.set(xlim=(-0.5, 9.5), ylim=(-5.2, 0.4), aspect="equal")
    axes.axis("off")
plots.show(
    figure,
    "The query matrix at D = 4 with two heads. Left, what one might think: two matrices of 4 by 4, "
    "32 numbers. Right, what is there: one matrix of 4 by 4, 16 numbers; its upper two rows belong to "
    "head 1, its lower two to head 2.",
)

# %% [markdown]
# ### Exercise: the formulas
#
# How many numbers does each of the 19 tensors hold? Answer with a formula in $V$, $D$, $F$ and $C$ for each. The keys are the names that were
# printed above. Write the entries one by one, or let a loop do it; the names of the parts repeat themselves.

# %% exercise="parameter_formulas"
def parameter_formulas() -> dict[str, sympy.Expr]:
    """Returns, for each parameter of a classifier with one layer, its name and its size.

    The names are those of `example.named_parameters()`, as printed above. The formulas hold for any
    V, D, F, C, A.
    An entry for a Linear from D to 7, without bias, would be: "its.name.weight": 7 * D.
    """
    ### BEGIN SOLUTION
    def linear(name: str, inputs: sympy.Expr, outputs: sympy.Expr) -> dict[str, sympy.Expr]:
        return {f"{name}.weight": inputs * outputs, f"{name}.bias": outputs}

    def norm(name: str) -> dict[str, sympy.Expr]:
        return {f"{name}.weight": D, f"{name}.bias": D}

    layer = "base.layers.0"
    formulas = {"base.embedding.weight": V * D}
    for name in ("query", "key", "value", "output"):
        formulas |= linear(f"{layer}.attention.{name}", D, D)  # the heads share the D rows
    formulas |= norm(f"{layer}.attention_norm")
    formulas |= linear(f"{layer}.feed_forward.hidden", D, F)
    formulas |= linear(f"{layer}.feed_forward.output", F, D)
    formulas |= norm(f"{layer}.feed_forward_norm")
    return formulas | linear("head", D, C)
    ### END SOLUTION


# %% [markdown]
# Now side by side what torch counts (`numel`), your formula, and its value, for a language model ($C = V$) with one layer at the sizes of the large example. With `torch.device("meta")`
# torch builds tensors that have a shape but no values: enough for counting, and 50,001 words take no memory.

# %% experiment
# @title Two tools: models without values, and tables with commas
def on_paper(make, *arguments, **options):
    """Builds a model whose tensors have shapes but no numbers in them."""
    with torch.device("meta"):
        return make(*arguments, **options)


def with_commas(table):
    """Returns a table with 1,000 in place of 1000."""
    return table.map(lambda value: value if isinstance(value, sympy.Expr) else f"{value:,}")


# %% experiment
# @title What torch counts, your formula, and its value, side by side
from helpers.formulas import in_letters

base = on_paper(TransformerBase, 50_001, d_model=200, n_layers=1, n_heads=2)
numel = {name: p.numel() for name, p in on_paper(LanguageModel, base).named_parameters()}
formulas = {name: in_letters(one, V, D, F, C) for name, one in parameter_formulas().items()}
values = {V: 50_001, D: 200, F: 200, C: 50_001}

table = pd.DataFrame({"numel": numel, "formula": formulas})
table["formula's value"] = [int(formula.subs(values)) for formula in table["formula"]]
print("the columns agree:", bool((table["numel"] == table["formula's value"]).all()))
with_commas(table)

# %% [markdown]
# Look at the sizes. Two tensors, the embedding and the weight of the head, have ten million parameters each. The layer between
# them, where all the attention is, has less than a quarter of a million.
#
# Where are the parameters of a model? In the blue boxes, and nowhere else: tokens, logits and the residuals, the lines on the right, hold none.

# %% experiment
# @title Where the parameters of a model are: in the blue boxes
from helpers.diagrams import Diagram

picture = Diagram(4.0, 4.4)
picture.column(1.75, 0.3, [
    ("tokens", "tokens (b, n)", "data"), ("embedding", "embedding", "part"),
    ("attention", "attention", "part"), ("norm 1", "add, norm", "part"),
    ("feed-forward", "feed-forward", "part"), ("norm 2", "add, norm", "part"),
    ("head", "head", "part"), ("logits", "logits (b, n, V)", "data"),
], step=0.55, width=1.4)
picture.around("embedding", "norm 1", reach=1.0)
picture.around("norm 1", "norm 2", reach=1.0)
picture.frame(["attention", "norm 1", "feed-forward", "norm 2"], margin=0.42)
picture.note((0.3, 2.3), "× M", ha="center", weight="bold")
picture.show(
    "A column from tokens to logits: embedding, then M times attention, add and norm, feed-forward, "
    "add and norm, then the head. All of these are blue: they hold parameters. The residual lines around "
    "attention and feed-forward, the tokens and the logits hold none."
)

# %% [markdown]
# ## 3. One layer
#
# Here is a layer with $D = F = 4$, all of it. The squares in full colour are a block's weight, the faint column beside them is its bias. (The weight of a norm is one column, too.)
# Count the squares by hand, block by block.

# %% experiment
# @title One layer at D = F = 4: a square for each parameter
attention = [f"attention.{name}" for name in ("query", "key", "value", "output")]
feed_forward = ["feed_forward.hidden", "feed_forward.output"]
layer = TransformerBase(10, d_model=4, n_layers=1, n_heads=2).layers[0]

figure, (axes,) = plots.panels(1, width=7.4, height=3.6)
for y, names in ((0, [*attention, "attention_norm"]), (-7.5, [*feed_forward, "feed_forward_norm"])):
    for index, name in enumerate(names):
        part, x = layer.get_submodule(name), 7 * index
        colour = plots.COLOURS[3] if "norm" in name else plots.COLOURS[0 if y == 0 else 1]
        width = 1 if part.weight.dim() == 1 else part.weight.shape[1]
        squares(axes, x, y, len(part.weight), width, colour)
        squares(axes, x + width + 0.3, y, len(part.bias), 1, colour, strength=0.45)
        axes.text(x, y + 0.5, name.split(".")[-1], fontsize=9)
axes.set(xlim=(-0.5, 33), ylim=(-12, 1.8), aspect="equal", title="One layer at D = F = 4")
axes.axis("off")
plots.show(
    figure,
    "One layer at D = F = 4, a square for each parameter. First row, attention: query, key, value and "
    "output, each a weight of 4 by 4 and a bias of 4; then a norm with two columns of 4. Second row, "
    "feed-forward: hidden and output, each 4 by 4 and 4; then a norm, twice 4.",
)

# %% by_hand
by_hand("layer_total", ...)  # how many squares there are

# %% [markdown]
# ### A mistake worth making once
#
# Somebody has counted this layer like this: "six matrices of 16, six biases of 4, and the layer norm with its weight and its bias of 4:
# $96 + 24 + 8 = 128$." Your count should be larger. What was left out? It is easy to miss when one thinks of "the norm"
# of a layer, in place of looking at the squares.
#
# ### Exercise: the total of a layer
#
# Add up the formulas of one layer. Keep $F$ and $D$ apart. At $F = D$ your formula must become something of the form
# $a D^2 + b D$, and at $D = F = 4$ it must give the number of squares.

# %% exercise="layer_total"
def layer_total() -> sympy.Expr:
    """Returns the number of parameters of one layer as a formula in D and F."""
    ### BEGIN SOLUTION
    attention = 4 * (D * D + D)  # query, key, value, output
    feed_forward = (D * F + F) + (F * D + D)  # hidden, output
    norms = 2 * (D + D)  # two of them, each with a weight and a bias
    return attention + feed_forward + norms
    ### END SOLUTION


# %% experiment
# @title One layer at five sizes, by your program and by your formula
one_layer = in_letters(layer_total(), D, F)
print("any F:   ", sympy.expand(one_layer))
print("at F = D:", sympy.expand(one_layer.subs(F, D)))

rows = []
for width, inner in [(4, 4), (4, 16), (200, 200), (200, 800), (512, 2048)]:
    base = on_paper(TransformerBase, 10, width, n_layers=1, n_heads=2, d_feedforward=inner)
    by_formula = int(one_layer.subs({D: width, F: inner}))
    rows.append((width, inner, count_parameters(base.layers[0]), by_formula))
with_commas(pd.DataFrame(rows, columns=["D", "F", "your program", "your formula"]))

# %% [markdown]
# The first row is the picture: 136 squares. Doubling the width makes a layer nearly four times as large: the term with $D^2$ wins. The biases and norms, which are easily
# miscounted, are less than one hundredth of a layer at $D = 200$: errors as small as this stay unnoticed.
#
# ### The same layer under torch's names
#
# Student reports often count `nn.TransformerEncoder`, torch's own stack. It has the same parameters under other names: query, key and value lie one on top of the other in a single tall matrix, `self_attn.in_proj_weight`. How many rows does it have?

# %% guess
guess("rows of in_proj_weight at D = 200", ...)

# %% experiment
# @title torch's own layer: names, shapes and formulas
layer = on_paper(nn.TransformerEncoderLayer, 200, 2, dim_feedforward=200, batch_first=True)
stacked = {"self_attn.in_proj_weight": 3 * D**2, "self_attn.in_proj_bias": 3 * D}  # three in one
rows = [(name, " x ".join(map(str, part.shape)), f"{part.numel():,}", stacked.get(name, D**part.dim()))
        for name, part in layer.named_parameters()]
print("one layer:", f"{count_parameters(layer):,};", "four layers:",
      f"{count_parameters(on_paper(nn.TransformerEncoder, layer, 4)):,}; by formula:",
      sympy.expand(sum(row[-1] for row in rows)))
columns = ["name", "shape", "numel at D = 200", "formula at F = D"]
pd.DataFrame(rows, columns=columns).set_index("name")

# %% reveal
reveal("rows of in_proj_weight at D = 200", len(layer.self_attn.in_proj_weight))

# %% [markdown]
# Twelve tensors in place of sixteen, and the same total: 242,000 in a layer, 968,000 in four. If you count a model of torch's, count *its* names; if you compare two models, compare totals.
#
# ## 4. Whole models
#
# From here on $F = D$, the default of our models. Three models have the same base, and the base is the embedding and $M$ layers. (Sinusoidal
# positions add nothing, as you know.)
#
# | model | what follows the base |
# |---|---|
# | language model | a head that scores all $V$ words |
# | classifier | a head that scores $C$ classes |
# | frozen classifier | the same, but only the head trains: notebook 06 uses it with pretrained bases |
#
# ### Exercise: the total of a language model
#
# **By hand first**: 10 words, $D = 4$, **two** layers. How many parameters does the language model have? Each layer has as many
# as you counted squares; the embedding and the head are added.

# %% by_hand
by_hand("language_model_total", ...)

# %% [markdown]
# The embedding has $10 \cdot 4$, the layers $2 \cdot 136$, and the head $10 \cdot 4$ weights and one bias for each word: 362. With one layer it is 226,
# the first row of the table in section 1. If you get 10 less, you have forgotten the bias of the head; if you get 64
# more, you have counted the positions, 16 of them in that model. (A student report makes both mistakes.)

# %% exercise="language_model_total"
def language_model_total() -> sympy.Expr:
    """Returns the number of parameters of a language model: a formula in V, D and M.

    F = D (where you write F, D is put in), and the head has V outputs.
    """
    ### BEGIN SOLUTION
    embedding = V * D
    layer = 6 * D**2 + 10 * D  # layer_total() at F = D
    head = V * D + V
    return embedding + M * layer + head
    ### END SOLUTION


# %% [markdown]
# ### Exercise: the total of a classifier
#
# The same base; only the head is another one, with $C$ outputs in place of $V$.

# %% exercise="classifier_total"
def classifier_total() -> sympy.Expr:
    """Returns the number of parameters of a classifier: a formula in V, D, M and C.

    F = D, and the head has C outputs.
    """
    ### BEGIN SOLUTION
    return V * D + M * (6 * D**2 + 10 * D) + C * (D + 1)
    ### END SOLUTION


# %% [markdown]
# And when the base is frozen? By hand: only the head trains, with one row of $D$ weights and one bias for each class, so $C (D + 1)$: 402 parameters at $D = 200$ and two classes, the 402 of notebook 04.
#
# The three ways, side by side, at the sizes of the large example. The first column is arithmetic that you can do on paper.

# %% experiment
# @title The three models of the large example, without values in them
def large_base():
    """Returns the base of the large example, without numbers in it."""
    return on_paper(TransformerBase, 50_001, d_model=200, n_layers=4, n_heads=2)


language_model = on_paper(LanguageModel, large_base())
classifier = on_paper(Classifier, large_base(), n_classes=2)
frozen = on_paper(Classifier, large_base().requires_grad_(False), n_classes=2)
large = {V: 50_001, D: 200, F: 200, M: 4}

# %% experiment
# @title Language model, classifier, frozen classifier: counted in three ways
embedding, layers = 50_001 * 200, 4 * 242_000  # 10,000,200 and 968,000
counted = [embedding + layers + 50_001 * 201, embedding + layers + 2 * 201, 2 * 201]
formulas = [language_model_total(), classifier_total(), C * (D + 1)]
by_formula = [int(in_letters(formula, V, D, F, M, C).subs(large | {C: 2})) for formula in formulas]
models = [language_model, classifier, frozen]
by_program = [count_parameters(model, trainable_only=True) for model in models]

rows = ["language model", "classifier", "classifier, base frozen"]
columns = {"by hand": counted, "by formula": by_formula, "by program": by_program}
with_commas(pd.DataFrame(columns, index=rows))

# %% [markdown]
# Three ways, one number. This is the kind of agreement to look for before you publish a count.

# %% [markdown] pause
# You have counted layers and whole models in three ways. Next come counts that are wrong, some of them in print, and how one finds where.

# %% [markdown]
# ## 5. Counts that go wrong
#
# Here is a count of one layer (at $F = D$), of a kind that is easily made. The wording is ours:
#
# > *"A layer is its heads and its norms. Each of the $A$ heads has a query, a key and a value matrix with bias, $D^2 + D$
# > each; the two norms have $4D$. Together: $3A(D^2 + D) + 4D$."*
#
# Suppose that its author has tested the formula against the program, on the model at hand, which has two heads, and for several widths:

# %% experiment open=true
claim = A * 3 * (D**2 + D) + 4 * D

rows = []
for width in (20, 100, 200, 1000):
    built = on_paper(TransformerBase, 10, width, n_layers=1, n_heads=2).layers[0]
    rows.append((width, int(claim.subs({A: 2, D: width})), count_parameters(built)))
with_commas(pd.DataFrame(rows, columns=["D", "the claim at A = 2", "by program"]))

# %% [markdown]
# Four tests passed out of four. And yet you know that heads do not multiply anything. For which number of heads is the claim right? You need
# not try them one by one: write "claim = right count" as an equation and let `sympy` solve it.
#
# ```python
# sympy.solve(sympy.Eq(5 * A + D, 20 + D), A)   # gives a list with one solution: [4]
# sympy.solve(sympy.Eq(5 * A, 20 * D), A)       # gives [4*D]: another A for each width
# sympy.solve(sympy.Eq(2 * A, 3), A)            # gives []: there are no half heads
# ```
#
# In the last two lines no number of heads is right for *every* width: the answer to our question is then `None`.
#
# ### Exercise: when is it right?

# %% exercise="when_is_it_right"
def when_is_it_right(claim: sympy.Expr) -> int | None:
    """Returns the A for which a claim about one layer (at F = D) is right for every width D.

    Args:
        claim: a formula in A and D, in which A, or a power of it, stands once.

    Returns:
        A whole number of at least 1, or None when no number of heads makes the claim right
        for every width.

    Example: the claim A*D**2 + 5*D**2 + 10*D is right for A = 1.
    """
    ### BEGIN SOLUTION
    right = 6 * D**2 + 10 * D  # layer_total() at F = D
    solutions = sympy.solve(sympy.Eq(claim, right), A)
    if len(solutions) == 1 and solutions[0].is_Integer:  # not one that contains D
        return solutions[0]
    return None
    ### END SOLUTION


# %% experiment
# @title The claim and the program, for 1 to 10 heads
print("the claim of the text is right for A =", when_is_it_right(claim))

heads = [1, 2, 3, 4, 5, 6, 8, 10]
counts = {
    "the claim": [int(claim.subs({A: a, D: 120})) for a in heads],
    "by program": [count_parameters(on_paper(TransformerBase, 10, 120, 1, a).layers) for a in heads],
}
axes = plots.curves(
    counts, heads, title="One layer at D = 120", x_label="heads A", y_label="number of parameters"
)
axes.yaxis.set_major_formatter("{x:,.0f}")
first, last = counts["the claim"][0], counts["the claim"][-1]
plots.show(
    axes.figure,
    f"One layer at D = 120: the claim grows from {first:,} parameters with 1 head to {last:,} with "
    f"10; by program it is {counts['by program'][0]:,} for any number. They meet at 2 heads.",
)

# %% [markdown]
# Two mistakes cancel. The claim lets the heads multiply the weights, $3(A - 1)(D^2 + D)$ too many, and it forgets the
# output matrix of the attention and the two matrices of the feed-forward part, with their biases, $3(D^2 + D)$ too few. At $A = 2$, and only there, the two are equal, for
# **every** width: so varying the width could never show it. **A test that varies one size says nothing about the others.**

# %% [markdown]
# ### Exercise: find the wrong term
#
# Four more counts, of a whole classifier this time, written as a sum of six terms. In each of them **exactly one term is wrong**.

# %% experiment open=true
counts_of_others = {
    "first": [V * D, 0, 4 * M * (D**2 + D), 2 * M * (D**2 + D), 2 * M * D, C * (D + 1)],
    "second": [V * D, 0, 4 * M * D**2, 2 * M * (D**2 + D), 4 * M * D, C * (D + 1)],
    "third": [V * D, L * D, 4 * M * (D**2 + D), 2 * M * (D**2 + D), 4 * M * D, C * (D + 1)],
    "fourth": [V * D, 0, 4 * M * (D**2 + D), 2 * M * (D**2 + D), 4 * M * D, C * D],
}
terms = ["embedding", "positions", "attention", "feed-forward", "norms", "head"]
claims = {}
for name, formulas in counts_of_others.items():
    claims[name] = {term: sympy.sympify(formula) for term, formula in zip(terms, formulas)}

claims["first"]

# %% experiment
# @title How far is each of the four counts from the truth?
rows = []
for name, one in claims.items():
    total = int(sum(one.values()).subs(large | {C: 2, L: 512}))
    rows.append((name, f"{total:,}", f"{total - 10_968_602:+,}"))
columns = ["count", "at the sizes of the large example", "error"]
pd.DataFrame(rows, columns=columns).set_index("count")

# %% [markdown]
# All of them are within one per cent of the truth, which is 10,968,602. Neither a plot nor a training run would show the difference.
#
# Write a program that finds the wrong term and mends it. It will be tested on these four and on others.
#
# One trap: `C*D + C` and `C*(D + 1)` are the same number, but `C*D + C == C*(D + 1)` is `False` in `sympy`, because `==` compares how
# a formula is *written*. To compare what it means, expand the difference: `sympy.expand(first - second) == 0`.

# %% exercise="repair"
def repair(claim: dict[str, sympy.Expr]) -> tuple[str, sympy.Expr]:
    """Returns the name of the wrong term of a count, and the corrected count of the classifier.

    Args:
        claim: six terms, "embedding", "positions" (sinusoidal), "attention", "feed-forward",
            "norms" and "head"; formulas in V, D, M and C at F = D, those of the layers for all
            M layers. Exactly one term is wrong, for some sizes at least, and may have other letters in
            it. The order of the terms may differ; `claim` stays as it is.

    Returns:
        A name and a formula. Example: for a claim with 2*V*D as its embedding, "embedding" and
        the sum of the six right terms.
    """
    ### BEGIN SOLUTION
    right = {
        "embedding": V * D,
        "positions": 0,  # a buffer
        "attention": 4 * M * (D**2 + D),
        "feed-forward": 2 * M * (D**2 + D),
        "norms": 4 * M * D,
        "head": C * (D + 1),
    }
    wrong = [name for name in right if sympy.expand(claim[name] - right[name]) != 0]
    return wrong[0], sum(right.values())
    ### END SOLUTION


# %% experiment
# @title The wrong term of each count, and the corrected total
for name, one in claims.items():
    wrong, corrected = repair(one)
    total = int(in_letters(corrected, V, D, F, M, C).subs(large | {C: 2}))
    print(f"{name:7s} wrong: {wrong:10s} {one[wrong]!s:8s} corrected total: {total:,}")

# %% [markdown]
# ### A right number in a wrong place
#
# One more count, from a published student report on the large example ($V = 50\,001$, $D = 200$, 4 layers, 2 heads). In our letters, it says that the encoder layers have "a total of" $M D \, ((D + 1)(2 + 2A) + 4)$ parameters, and writes: 10,968,200. **By hand**: put $M = 4$, $D = 200$ and $A = 2$ into it. Which quantity of section 4 *is* 10,968,200?
#
# The formula gives 968,000. The number is the **base**: the layers and the 10,000,200 of the embedding. A few lines before, the report itself gives it for the base, as its program counts. So the formula was derived on paper, and the number read off a program.
#
# And the formula? There is an $A$ in it: the heads multiply the weights, the mistake from the beginning of this section, this time in a real report. Give one layer of it to your function, `when_is_it_right(D * ((D + 1) * (2 + 2 * A) + 4))`: it is right for two heads only, which the report has. With four heads it would say 1,611,200 in place of 968,000.
#
# A count has three parts: what is counted, the formula, the number. Check that
# all three speak of the same thing, and the formula at more than one setting.
#
# Another report has a right total from wrong parts. It gives a layer $4(n^2 + n)$ for the attention, $2(n^2 + n)$ for the feed-forward part and $2n$ for the normalisation, where $n$ is the width; four layers of these parts make $24n^2 + 32n$. It writes $24n^2 + 40n$, which is what a program counts. **By hand**: what is missing in a part? (A second norm, $2n$ in each layer: the report names two norms and counts one.) Even when you know the total from elsewhere, add up the parts.

# %% [markdown] pause
# You can tell when a count is right, and find the term that is not. Next come the shares of embedding and layers, and the memory that
# training takes.

# %% [markdown]
# ## 6. Where the parameters are
#
# You saw that the embedding of the large example outweighs its layers by ten to one. Is it always so? The embedding is $V D$, it grows
# with the width; the layers grow with its *square*. So the layers must win in the end.
#
# An example: with one layer and $D = 4$ the layer has 136 parameters, the squares that you counted, and the embedding has 4 for each word. At
# $136 / 4 = 34$ words both are equal.
#
# And for 50,001 words and 4 layers? The next figure tries the widths 64, 128, 256, 512, 1,024, 2,048, 4,096 and 8,192. At which of them are the
# layers the larger part for the first time?

# %% guess
guess("the first of these widths at which the layers are larger", ...)

# %% experiment
# @title Embedding and layers of a language model, by width
def shares(width, layers=4):
    """Returns the size of each part of a language model with 50,001 words."""
    base = on_paper(TransformerBase, 50_001, width, layers, n_heads=1)
    head = on_paper(nn.Linear, width, 50_001)
    parts = {"embedding": base.embedding, "layers": base.layers, "head": head}
    return {name: count_parameters(part) for name, part in parts.items()}


widths = [64, 128, 256, 512, 1024, 2048, 4096, 8192]
found = [shares(width) for width in widths]
grown = {name: [parts[name] for parts in found] for name in ("embedding", "layers")}
axes = plots.curves(
    grown, widths, title="50,001 words, 4 layers", log_x=True, log_y=True,
    x_label="width D", y_label="number of parameters",
)
axes.set_xticks(widths, widths)
larger = next(w for w, parts in zip(widths, found) if parts["layers"] > parts["embedding"])
plots.show(
    axes.figure,
    f"{plots.describe_curves(grown, widths, 'width')} "
    f"The layers are the larger part at width {larger}, and not yet at {larger // 2}.",
)

# %% reveal
reveal("the first of these widths at which the layers are larger", larger)

# %% [markdown]
# ### Exercise: the crossing
#
# The lines cross a little above $D = 2048$: from there on the layers are the larger part. Find the width at which the two are equal, as a formula in $V$ and $M$.

# %% exercise="crossover_width"
def crossover_width() -> sympy.Expr:
    """Returns the width D at which M layers (F = D) have as many parameters as the embedding.

    A formula in V and M; its value need not be a whole number. Example: for V = 34, M = 1 it is 4.
    """
    ### BEGIN SOLUTION
    layers = M * (6 * D**2 + 10 * D)
    return sympy.solve(sympy.Eq(V * D, layers), D)[0]  # without D = 0: our D is positive
    ### END SOLUTION


# %% experiment
# @title The crossing for 50,001 words and 4 layers
crossing = in_letters(crossover_width(), V, M)
print("formula:", crossing)
print(f"50,001 words, 4 layers: D = {float(crossing.subs(large)):.1f}")
for width in (2081, 2082):
    parts = shares(width)
    print(f"at D = {width}: layers minus embedding = {parts['layers'] - parts['embedding']:+,}")

# %% [markdown]
# The figure below shows six settings for those who only read; the sliders are below it. Move them with the mouse or with the arrow keys (Tab goes from one to the other). What changes
# the picture more, twice the width or twice the layers?

# %% experiment
# @title The shares of embedding, layers and head in six models
def draw_shares(*settings):
    """Draws one bar for each (width, layers): the shares of embedding, layers and head."""
    names = [f"D = {width}, M = {layers}" for width, layers in settings]
    table = pd.DataFrame([shares(width, layers) for width, layers in settings], index=names)
    percent = 100 * table.div(table.sum(axis="columns"), axis="index")

    figure, (axes,) = plots.panels(1, width=7, height=1.3 + 0.4 * len(settings))
    start = 0
    for part, colour in zip(percent, (plots.COLOURS[0], plots.COLOURS[1], plots.COLOURS[3])):
        bars = axes.barh(names, percent[part], left=start, color=colour, label=part)
        labels = [f"{share:.0f} %" if share > 7 else "" for share in percent[part]]
        axes.bar_label(bars, labels, label_type="center", color="white")
        start = start + percent[part]
    axes.set(title="Where the parameters are (50,001 words)", xlabel="share (%)", xlim=(0, 100))
    axes.invert_yaxis()
    figure.legend(ncols=3, frameon=False, loc="outside lower center")
    told = [f"{name}: {share:.0f} percent" for name, share in percent["layers"].items()]
    plots.show(figure, "Share of the layers in a model with 50,001 words: " + "; ".join(told) + ".")


draw_shares((128, 4), (256, 4), (1024, 4), (4096, 4), (256, 48), (1024, 48))

# %% interactive
# @title The same shares at any width and depth: move the sliders
from ipywidgets import IntSlider, SelectionSlider, interact

interact(
    lambda width, layers: draw_shares((width, layers)),
    width=SelectionSlider(options=widths, value=256, description="width D"),
    layers=IntSlider(value=4, min=1, max=96, description="layers M", continuous_update=False),
);

# %% [markdown]
# There is hardly a difference: the layers are $M (6D + 10) / V$ times the embedding, and 10 is small beside $6D$.
#
# Small models are dictionaries with a little network attached; large models are networks with a little dictionary. That is why sharing the
# matrix of embedding and head saves much in small models, and little in the largest ones.
#
# ### Parameters that rest: a mixture of experts
#
# Does every parameter of a layer work on every token? In a *mixture of experts* it is not. The layer has $E$ feed-forward parts, the experts, and a small matrix $D \times E$, the router, which chooses $k$ of them for each token ([Shazeer et al. 2017](https://arxiv.org/abs/1701.06538); in Transformers, with $k = 1$, [Fedus et al. 2021](https://arxiv.org/abs/2101.03961)). All have to be stored, only $k$ compute:
#
# $$ \text{total} = \text{attention and norms} + D E + E\,(2DF + F + D) \qquad \text{active} = \text{attention and norms} + D E + k\,(2DF + F + D) $$
#
# So there are two counts once more, and each answers a question of its own: the *total* says what memory it takes, the *active* parameters what a token costs. [Mixtral](https://arxiv.org/abs/2401.04088) (eight experts in each layer, two of them chosen) has 47 billion in all, and a token uses 13 billion of them. Here are both counts for our layer with $D = 512$ and $F = 2{,}048$:

# %% experiment
# @title Total and active parameters of a layer with experts
sizes, expert = {D: 512, F: 2048}, 2 * D * F + F + D
rest = layer_total() - expert  # attention and norms
for experts, chosen in ((1, 1), (8, 1), (8, 2), (64, 2)):
    counts = [int((rest + D * experts + n * expert).subs(sizes)) for n in (experts, chosen)]
    print(f"{experts:2} experts, {chosen} chosen: total {counts[0]:>11,}, active {counts[1]:>10,}")

# %% [markdown]
# (With one expert the router has nothing to choose, and is there for the comparison only.) A report that sets the total of such a model beside that of an ordinary one compares two different things.
#
# ## 7. What training costs
#
# "The weights are 84 megabytes, so a small graphics card will do." Will it? What turns gradients into steps is the *optimizer*, mostly Adam
# ([Kingma and Ba, 2015](https://arxiv.org/abs/1412.6980), algorithm 1). For each number that trains, training with Adam keeps
# - the value itself,
# - its gradient (how fast the loss changes with it),
# - two moments: running means of the gradient and of its square.
#
# All are `float32`, 4 bytes each. What is frozen has neither gradient nor moments. **By hand**: a `Linear` from 3 to 2 has 8 parameters,
# and none of them is frozen. How many bytes does it take in training?

# %% by_hand
by_hand("training_bytes", ...)

# %% [markdown]
# It takes $8 \cdot 4 \cdot 4 = 128$ bytes. When it is frozen, only the values themselves are kept: 32 bytes.
#
# ### Exercise: the bytes of training
#
# Activations come on top: the intermediate results that are kept for the *backward pass*, which computes the gradients. They depend on the batch, not only on the
# model: leave them out here, and leave out buffers as well.

# %% exercise="training_bytes"
def training_bytes(model: nn.Module) -> int:
    """Returns the bytes that a model's weights, gradients and Adam's two moments take in float32.

    Frozen parameters have neither gradient nor moments; weights that are shared are there once. A model
    that comes in another type, half precision say, is counted as if it were float32.

    Example: 128 for nn.Linear(3, 2).
    """
    ### BEGIN SOLUTION
    total = 0
    for parameter in model.parameters():
        copies = 4 if parameter.requires_grad else 1  # weight, gradient, two moments
        total += 4 * copies * parameter.numel()
    return total
    ### END SOLUTION


# %% [markdown]
# Does the rule hold? The next cell takes one real step of training and measures weights, gradients and moments afterwards (all but Adam's step counters, 4 bytes for each tensor).

# %% experiment
# @title What one real step of training keeps, and your count
torch.manual_seed(0)
model = LanguageModel(TransformerBase(1000, d_model=64, n_layers=2, n_heads=2))
optimizer = torch.optim.Adam(model.parameters())
model(torch.randint(1000, (2, 8))).square().mean().backward()
optimizer.step()

kept = {"weights": list(model.parameters()), "gradients": [p.grad for p in model.parameters()]}
for moment in ("exp_avg", "exp_avg_sq"):
    kept[f"Adam: {moment}"] = [state[moment] for state in optimizer.state.values()]
measured = 0
for name, tensors in kept.items():
    size = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
    measured += size
    print(f"{name:16s} {size:9,} bytes")
print(f"together {measured:,}, your count {training_bytes(model):,}")

# %% experiment
# @title Memory in training: three models of the large example
megabytes = {
    "language model": training_bytes(language_model) / 1e6,
    "classifier": training_bytes(classifier) / 1e6,
    "classifier, base frozen": training_bytes(frozen) / 1e6,
}
figure, (axes,) = plots.panels(1, width=6.4, height=2.2)
bars = axes.barh(list(megabytes), list(megabytes.values()), color=plots.COLOURS[0])
axes.bar_label(bars, fmt="%.1f MB", padding=4)
axes.set(title="Weights, gradients and Adam's moments", xlabel="memory (MB)", xlim=(0, 400))
axes.invert_yaxis()
told = [f"{name} {size:.1f} MB" for name, size in megabytes.items()]
plots.show(figure, "Memory in training: " + "; ".join(told) + ".")

# %% [markdown]
# Four times the weights. The language model needs 336 MB and not 84 before it has seen a single word. With a frozen base, only
# the weights remain: 402 parameters of 10,968,602 train, and their gradients and moments are too few to be seen in the bar. That is one reason why so often only a
# part of a large model is trained.
#
# (Another is that frozen weights can be kept in fewer bits than 32, *quantisation*: with 8 bits a number, the 10,968,200 of the base take 11.0 MB in place of 43.9.)
#
# ### And the activations
#
# A student report on the experiment of notebook 06 limits its texts to 64 tokens, in batches of 16. Its small graphics card (an NVIDIA T500), it says, would otherwise have run out of memory. By our count, weights, gradients and moments are not the problem. What grows with the *batch* are the activations, kept until the backward pass has used
# them.
#
# PyTorch can report each tensor that it keeps. On paper, as here, it costs nothing. Weights, gradients and moments of
# our language model take 336 MB: how much do the activations of one such batch add?

# %% guess
guess("megabytes of activations of the language model, for 16 texts of 64 tokens", ...)

# %% experiment
# @title Activations of one batch: four sizes, two models
def activation_bytes(model: nn.Module, texts: int, length: int) -> int:
    """Returns the bytes that a forward pass and its loss keep for the way back, without the weights."""
    weights = {part.untyped_storage()._cdata for part in model.parameters()}
    kept = {}  # each piece of memory once

    def keep(tensor):
        if tensor.untyped_storage()._cdata not in weights:
            kept[tensor.untyped_storage()._cdata] = tensor
        return tensor

    with torch.device("meta"), torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        logits = model(torch.zeros(texts, length, dtype=torch.long)).flatten(0, -2)
        nn.functional.cross_entropy(logits, torch.zeros(len(logits), dtype=torch.long))
    return sum(tensor.untyped_storage().nbytes() for tensor in kept.values())


rows = {}
for texts, length in ((1, 64), (4, 64), (16, 64), (16, 512)):
    sizes = [activation_bytes(one, texts, length) / 1e6 for one in (language_model, classifier)]
    batch = f"{texts} text{'s' * (texts > 1)} of {length} tokens"
    rows[batch] = [f"{size:,.{int(size < 100)}f} MB" for size in sizes]
columns = ["activations: language model", "classifier"]
pd.DataFrame.from_dict(rows, orient="index", columns=columns)

# %% reveal
reveal(
    "megabytes of activations of the language model, for 16 texts of 64 tokens",
    activation_bytes(language_model, 16, 64) / 1e6,
)

# %% [markdown]
# The batch counts in full: four times the texts, four times the memory. The length counts in full, too, and with its square in the weights of attention: so one cuts the texts first, and then makes the batch smaller. The language model needs far more than the classifier, because for *each token* it keeps a value for every one of 50,001 words.
#
# A small batch gives a noisy gradient. The way out is **accumulation**: `backward()` *adds* its gradients to those that are there, until `zero_grad()` clears them (notebook 06 shows it). So run four batches of 4, each loss divided by 4, and let the optimizer step once. The step is that of a batch of 16, with the memory of one of 4:

# %% experiment open=true
torch.manual_seed(0)
model = Classifier(TransformerBase(1000, d_model=32, n_layers=2, n_heads=2, dropout=0.0))
tokens, labels = torch.randint(1000, (16, 12)), torch.randint(2, (16,))


def gradient(pieces: int) -> torch.Tensor:
    """Returns the gradient of the mean loss over 16 texts, taken in equal pieces one after the other."""
    model.zero_grad()
    for some, right in zip(tokens.chunk(pieces), labels.chunk(pieces)):
        (nn.functional.cross_entropy(model(some), right) / pieces).backward()
    return torch.cat([part.grad.flatten() for part in model.parameters()])


print("largest difference below 1e-6:", bool((gradient(1) - gradient(4)).abs().max() < 1e-6))

# %% [markdown]
# ## 8. Essay
#
# A real case first. A student report finds it no surprise that a classifier learns its training set by heart, "with 20M parameters". At its sizes, which are those of section 4, the *language model* has 21,018,401; the classifier, whose head has 2 outputs in place of 50,001, has 10,968,602. The count of one model was taken for that of another.
#
# Now an invented one. A report says: *"Our classifier has only 402 parameters. It is therefore 50,000 times smaller than the language model of the other group,
# with its 21 million, and beats it."* The classifier is the one of section 4, with a frozen, pretrained base.
#
# In at most ten lines, in English or in French: **which count answers which question?** Say what each of your counts (all
# parameters, trainable parameters, bytes in training) is good for, what is wrong with the sentence, and write a correct one in its place.

# %% [markdown] essay="which_count_essay"
# **Rubric** (half a point for each, 2 points in all)
#
# - *All parameters* (10,968,602) say what the model is: what has to be stored and loaded, frozen or not. This is the
#   count with which models are compared.
# - *Trainable parameters* (402) say what this training can change: the cost of gradients and optimiser states, the size of what is saved for
#   each task, and roughly how much can be fitted to the training data.
# - *Bytes*: in training, 16 for each trainable number and 4 for each frozen one (float32, Adam); activations come on top. At inference, the
#   weights, and what one pass keeps (keys and values of a model that writes: notebooks 11 and 16).
# - The sentence compares the trainable count of one model with the full count of another. Like with like: 10,968,602 against 21,018,401, a factor of
#   about 2, most of it the head with 50,001 outputs. A good sentence names the kind of count, and says that the base was pretrained.
#
# **Misconceptions that cost marks**: "frozen parameters do not count, they cost nothing"; "fewer trainable parameters means a faster model" (the
# forward pass is the same); "the number of parameters says how good a model is"; counting buffers or positions as parameters.
#
# **Answers as students write them**
#
# - *Full marks (2 of 2)*: "All parameters, 10,968,602, say what the model is: what is stored and loaded, frozen or not,
#   and with this count models are compared. The 402 trainable ones say what this training can change, hence the gradients and optimiser states and
#   the size of what is saved for the task. Bytes say what fits into memory: in training 16 for each trainable number and 4 for each frozen one, so
#   43.9 MB here against 175.5 MB if all of it trains, and activations on top; to use it, hardly more than the weights. The sentence compares the trainable count
#   of one model with the full count of another. It should say: "Our classifier has 10,968,602 parameters, of which we trained 402 on a pretrained
#   base; the language model has 21,018,401, about twice as many, because of its head with 50,001 outputs."" Why: All four lines.
# - *Half (1 of 2)*: "There are three counts. All parameters are what has to be stored and loaded, here 10,968,602, also when most of them are
#   frozen. The trainable parameters are those that the optimiser moves, here 402, so they say how much of the training costs gradients and moments.
#   The bytes in training are four times the weights, so the classifier with a frozen base needs 175.5 MB. The sentence of the report is wrong because
#   a frozen model is faster and smaller anyway, so one should write: "Our classifier has 402 parameters and is faster."" Why: The lines on all and on
#   trainable parameters (1). *Bytes* is wrong: 4 for a frozen number, so 43.9 MB (0.5 lost). The last line is not met: the new sentence repeats the
#   mistake, with the misconception that fewer trainable parameters make a faster model (0.5 lost).
# - *No marks (0 of 2)*: "The number of parameters says how good a model is, and the report shows that a small model can be better than a large one.
#   Its 402 parameters are the right count, since frozen parameters do not count: they cost nothing, neither in memory nor in time. Only the factor is
#   not exact, because 21,018,401 / 402 is about 52,000. The sentence should therefore say "52,000 times smaller"." Why: No line is met. Two
#   misconceptions carry the whole answer (the count says how good a model is; frozen parameters cost nothing), and the arithmetic, which is right,
#   repairs what was not wrong.

# %% [markdown] questions
# ## Three questions
#
# For yourself: open an answer to see whether it is right.
#
# 1. A model gets eight heads in place of two; its width stays the same. What happens to its number of parameters?
#    - It grows: each head has matrices of its own. => A head works on $D/A$ rows of the one query matrix; the more heads, the fewer rows for each.
#    - It grows in query, key and value, not in the output. => All four matrices stay $D \times D$, whatever the number of heads.
#    + It stays the same: heads share out what is there. => Heads split the width, they do not multiply the weights.
# 2. The base of a classifier is frozen, and only its head trains. What is gained?
#    - The model is smaller: what is frozen does not count. => It has to be stored and loaded all the same; frozen numbers are parameters.
#    + Training keeps no gradients and moments of the base. => 4 bytes for each frozen number in place of 16.
#    - The model answers faster: few numbers are at work. => All numbers take part in the forward pass, frozen or not.
# 3. A formula for the parameters of a layer agrees with the program at twenty widths. What do you know of it?
#    + It is right for these widths, with the other sizes as they were. => Two mistakes may cancel at two heads, at every width. Vary the heads, too.
#    - It is right for any number of heads: twenty tests are more than chance allows. => All twenty were made at one number of heads; they say nothing about others.
#    - Each of its terms is right, since their sum is. => Two wrong terms can have a right sum; in section 5 they had.

# %% [markdown]
# ## What to remember
#
# - A parameter is a number that training may change; it is counted once. Buffers are not parameters, frozen parameters are.
# - At $F = D$ a layer has $6D^2 + 10D$ parameters: six matrices, six biases, two norms. Heads split the width, they do not multiply the weights.
# - Small models are mostly embedding; layers grow with the square of the width and win in the end.
# - Training with Adam in `float32` keeps 16 bytes for each trainable parameter.
# - A formula that agrees once may be two mistakes that cancel. Vary **every** size before you believe it.
#
# **Go further.** Count the 124 million of GPT-2, to the last digit. It has 50,257 words, learned positions for 1,024 tokens, $D = 768$, 12 layers, 12 heads and
# $F = 4D$. There is one more norm at the end, and the head shares the matrix of the embedding and has no bias
# ([Radford et al., 2019](https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf), section 2.3, with the sizes of the
# published weights). Build its base with `on_paper(TransformerBase, ...)`, write down your formula, and see whether both give
# 124,439,808. Notebook 06 measures what is gained by pretraining such parameters.

# %% [markdown]
# ## What others call it
#
# - **weight tying** (also a *tied head*): embedding and head share one matrix.
# - **buffer**: a tensor that travels with the model and is never trained.
# - **optimizer state**: what the optimizer keeps for each parameter, such as Adam's two moments.
# - **activation memory**: what the forward pass keeps for the backward pass.
# - **gradient accumulation**: adding up the gradients of several small batches before a step.
# - **mixture of experts** (also *MoE*, *sparse model*): a layer with many feed-forward parts; each token uses a few of them.
# - **active parameters**: those that one token uses, in contrast to the total.
# - **quantisation**: keeping weights in fewer bits.

# %% experiment open=true
from tutor import progress

progress()
