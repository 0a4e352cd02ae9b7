# ---
# jupyter:
#   course:
#     teaches: "new tasks for few trained parameters"
#     part: pretraining
#     column: 2
#     row: 4
#     builds_on: ["10"]
#     running: 2
#     questions:
#       - How little must be trained?
#       - How few numbers give a model a new task?
#       - Which way suits which budget of labels, memory and time?
#   jupytext:
#     notebook_metadata_filter: course
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 15 · Cheap adaptation
#
# You have one model that has read ten thousand reviews, and forty publishers who each want it to sort *their* reviews, from a few dozen labelled examples each. In notebook 06 you would have trained all of its parameters,
# forty times, and kept forty whole models. Is that needed?
#
# Below, a few hundred trained parameters do the work. You build the method with which this is done today, *LoRA*, set it against three others with the same labels and the same effort, and find out what few parameters buy and what they do not.
# At the end you look into the change itself: how many directions does it need?
#
# **When you are done, you can**
# - adapt a model by training two thin matrices beside a frozen one, and merge them into it afterwards;
# - count what each way of adapting trains and keeps, before you run it;
# - compare four ways fairly: the same labels, the same steps, a learning rate chosen for each, several seeds;
# - measure how thin a change is that was free to be thick.
#
# **Time**: about 2 h 15 min. **Before this**: notebooks 04 (freezing), 05 (counting), 06 (the task, the seeds) and 10.
#
# | exercise | what it asks | points |
# |---|---|---|
# | `LoRALinear` | a frozen layer and two thin matrices beside it | 5 |
# | `add_lora` | put it into a whole model | 4 |
# | `unfreeze` | let a model thaw from the top | 3 |
# | *essay* `budget_essay` | which way for which budget? | 2 |
# | **total** | | **14** |
#
# Folded cells are experiments: they train and draw, one and a half to three minutes in all, as the machine is free or busy, and no mark depends on them.

# %% setup
import copy
import math

import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers import plots
from tutor import by_hand, check, guess, hint, resume, reveal
from helpers.batches import Batch, Batches, for_classifier, for_language_model
from helpers.corpora import Split, load
from helpers.models import Classifier, LanguageModel, TransformerBase
from helpers.training import schedule, train
from helpers.vocabulary import Vocabulary

# %% [markdown]
# ## 1. One base, many tasks
#
# A task is given to a model by changing some of its parameters. Which ones is up to you:
#
# | way | what learns | what you keep for each task |
# |---|---|---|
# | **head only** | the new head | the head |
# | **full** | everything | a whole model |
# | **gradual** | first the head, then more and more layers from the top, at last everything | a whole model |
# | **LoRA** | the head, and two thin matrices beside some of the frozen ones | these |
#
# The model is that of notebook 06: one layer, width 64. It reads the invented reviews once, which takes half a minute. Before that, answer on paper.
#
# ### By hand: what does each way train?
#
# The base has $V = 849$ words, $D = 64$, $F = D$ and one pre-norm layer with one more norm after it: $VD + 6D^2 + 10D + 2D$ parameters (notebook 05). The head has $2D + 2$. How many does *head only* train, and how many does *full*? And if each is kept in four bytes, what do forty publishers take, with either way?
#
# Write the megabytes (millions of bytes) for forty whole models in place of the dots, or leave them and go on: a guess earns nothing and costs nothing.

# %% guess
guess("megabytes that forty whole models take", ...)

# %% measured
# @title The base reads ten thousand reviews once
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

# %% experiment
# @title What a new head and a whole model train, and what forty of them take
def numbers_in(model: nn.Module) -> int:
    """Returns how many numbers of a model learn."""
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)


classifier = Classifier(copy.deepcopy(language_model.base))
for name, count in {"head only": numbers_in(classifier.head), "full": numbers_in(classifier)}.items():
    print(f"{name:9} {count:7,} parameters, for forty publishers {40 * 4 * count / 1e6:6.2f} MB")

# %% reveal
reveal("megabytes that forty whole models take", 40 * 4 * numbers_in(classifier) / 1e6)

# %% [markdown]
# Thirteen megabytes are nothing. But the same ratio holds for a model with billions of parameters, where one copy fills a graphics card, and where training keeps three more values for each parameter that learns: its gradient, and the two means of Adam (notebook 05).
#
# The head alone is cheap for one more reason: a gradient for the head never has to go down into the base.
#
# ## 2. A thin change
#
# Fine-tuning turns a matrix $W$ into $W + \Delta W$. *LoRA* (*low-rank adaptation*, [Hu et al. 2021](https://arxiv.org/abs/2106.09685), section 4.1) keeps $W$ as it is, and does not learn $\Delta W$ itself but two thin matrices whose product it is:
#
# $$ \Delta W = \frac{\alpha}{r} \, B A, \qquad B \in \mathbb{R}^{d_\text{out} \times r}, \quad A \in \mathbb{R}^{r \times d_\text{in}} $$
#
# $A$ goes **down** from $d_\text{in}$ values to $r$, the *rank* (a matrix that is such a product has at most rank $r$); $B$ goes **up** again to $d_\text{out}$. We call them so in code. Only these two learn: $r (d_\text{in} + d_\text{out})$ parameters in place of $d_\text{in} d_\text{out}$. In the picture: the wide way is frozen, the thin one learns.

# %% experiment
# @title The wide way is frozen, the thin one learns
from helpers.diagrams import Diagram

picture = Diagram(4.0, 3.4)
picture.box("x", (2.0, 0.3), "x (..., d_in)", width=1.4)
picture.box("W", (1.0, 1.5), "W (d_out, d_in)\nfrozen", "frozen", width=1.3)
picture.box("down", (3.0, 1.15), "down\n(r, d_in)", "part", width=0.75)
picture.box("up", (3.0, 2.0), "up (d_out, r)", "part", width=1.3)
picture.box("add", (2.0, 2.6), "add", width=0.6)
picture.box("y", (2.0, 3.15), "y (..., d_out)", width=1.4)
for start, end in (("x", "W"), ("x", "down"), ("down", "up"), ("W", "add"), ("up", "add"),
                   ("add", "y")):
    picture.arrow(start, end)
picture.note((2.75, 2.42), r"times $\alpha / r$")
picture.show(
    "Two ways from x to an addition that gives y. The wide one leads through the frozen matrix W, the "
    "thin one down to r numbers and up again, times alpha over r; only the thin one learns."
)

# %% [markdown]
# ### By hand
#
# $W = \begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix}$ without a bias, rank 1, $\alpha = 2$, `down` $= (1 \;\; 1)$, `up` $= \begin{pmatrix} 0 \\ 2 \end{pmatrix}$. What does the layer give for the input $(3, 4)$?

# %% by_hand
by_hand("LoRALinear", [..., ...])  # the output for (3, 4)

# %% [markdown]
# On the thin way `down` makes of $(3, 4)$ the single number 7, `up` makes of it $(0, 14)$, and the scale $\alpha / r = 2$ makes of this $(0, 28)$. The wide way gives $(3, 4)$ back, so the output is $(3, 32)$. As a matrix, the change is $2 \begin{pmatrix} 0 & 0 \\ 2 & 2 \end{pmatrix}$.
#
# Two more questions. What can a change of rank 1 *not* do? And with $d_\text{in} = d_\text{out} = 64$: from which rank on is nothing saved any more?
#
# (A change of rank 1 moves the output along one line only, here that of $(0, 1)$, and one value made of the input decides by how much. And $r \cdot 128$ is $64 \cdot 64$ at $r = 32$: from there on nothing is saved.)
#
# ### Exercise: a LoRA layer
#
# As in the paper, `down` starts with random numbers and `up` with zeros: the change is zero at first, so that the model begins as what it is. How large the random numbers are, no check asks; of a size near $1 / \sqrt{d_\text{in}}$ they keep what `down` gives about as large as its input. After training the two can be **merged**: $W + \frac{\alpha}{r} B A$ is a matrix like any other, and the layer that has it is as fast as before.

# %% exercise="LoRALinear"
class LoRALinear(nn.Linear):
    """A linear layer that stands still, and beside it two thin matrices that learn.

    d_in, d_out: as of nn.Linear; rank: the width between the two; the change is scaled by alpha / rank.
    Parameters: weight `(d_out, d_in)` and bias `(d_out,)`, frozen; down `(rank, d_in)`, which starts
    with random numbers, and up `(d_out, rank)`, which starts with zeros. No others, and no buffers.
    """

    def __init__(self, d_in: int, d_out: int, rank: int, alpha: float = 8.0) -> None:
        super().__init__(d_in, d_out)
        ### BEGIN SOLUTION
        self.requires_grad_(False)  # before there is anything that shall learn
        self.scale = alpha / rank
        self.down = nn.Parameter(torch.randn(rank, d_in) / math.sqrt(d_in))
        self.up = nn.Parameter(torch.zeros(d_out, rank))
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Returns `(..., d_out)` for `x` `(..., d_in)`."""
        ### BEGIN SOLUTION
        change = x @ self.down.T @ self.up.T  # (..., d_in) -> (..., r) -> (..., d_out)
        return super().forward(x) + self.scale * change
        ### END SOLUTION

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        """Returns a new, plain layer that does the same; this one stays as it is.

        Its weight and bias are its own, shared with no other layer, and have the dtype and the device of
        this one's.
        """
        ### BEGIN SOLUTION
        plain = nn.Linear(self.in_features, self.out_features).to(self.weight)  # its dtype and device
        plain.weight.copy_(self.weight + self.scale * self.up @ self.down)  # (d_out, d_in)
        plain.bias.copy_(self.bias)
        return plain
        ### END SOLUTION


# %% [markdown]
# ### A mistake worth making once: two zeros
#
# For a change of zero it suffices that one of the two factors is zero. Why not both? Take one number each, $u$ and $v$, with the loss $(uv - 1)^2$. The gradient of $u$ is $2 (uv - 1) v$, that of $v$ is $2 (uv - 1) u$.

# %% experiment open=true
for u_start, v_start in ((0.0, 0.0), (0.0, 0.5)):
    u, v = torch.tensor(u_start, requires_grad=True), torch.tensor(v_start, requires_grad=True)
    optimizer = torch.optim.SGD([u, v], lr=0.1)
    for _ in range(50):
        loss = (u * v - 1) ** 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"start at u = {u_start}, v = {v_start}: after 50 steps the loss is {loss.item():.4f}")

# %% [markdown]
# Two zeros hold each other fast: each gradient is a product with the other one. No error is raised, and the loss stays where it was. With one zero, the first step moves that one, and from the second step on both move.
#
# (And why $\alpha / r$? The paper divides by $r$ so that another rank does not need another learning rate each time; $\alpha$ is a constant that it sets once and leaves, since a larger one acts much like a larger rate. Ours is 8 throughout; we have tried no other.)
#
# > **In practice: freeze first.** A freshly made `nn.Linear` learns. If you freeze the whole layer *after* making `down` and `up`, they are frozen too and nothing learns. If you forget to freeze, everything learns, the accuracy looks fine, and you keep whole models without noticing. Both are found by one line: count what learns.
#
# ## 3. Into a whole model
#
# Which matrices get a thin change? Hu et al. tried several choices of attention matrices with the same number of trained parameters each. Query and value together, at rank 4, did at least as well as any single kind at rank 8, and they name the two the best choice overall. All four kinds at rank 2 are as good or a little better in the same table (their table 5). We begin with query and value.
#
# ### By hand: the count
#
# A model of width $D$ with $M$ layers and a head for $C$ classes; query and value of each layer, rank $r$. How many parameters learn? Write the formula, and compute it for our model ($D = 64$, $M = 1$, $C = 2$) with $r = 1$ and $r = 4$; then for $D = 4096$, $M = 32$, $r = 8$, as large as a language model of seven billion parameters, without the head. The guess is your count for $r = 4$.

# %% guess
guess("parameters that learn in our model with LoRA of rank 4", ...)

# %% [markdown]
# ### Exercise: add LoRA to a model
#
# In `helpers.models`, each layer of the base has the linear layers `attention.query`, `.key`, `.value` and `.output`, and `feed_forward.hidden` and `.output`. They are chosen by their last names.

# %% exercise="add_lora"
def add_lora(model: Classifier, names: tuple[str, ...], rank: int) -> Classifier:
    """Returns the model with a LoRALinear in the place of each chosen layer of its base.

    Args:
        names: last names, such as ("query", "value"), of the linear layers to replace: all that
            `model.base` has at any depth, within its layers and beside them. Each new layer takes over
            weight and bias of the old one; all of these have a bias, and are in float32. It stands on
            the device of the old one.
        rank: of the new layers; alpha is left at its default.

    Afterwards only the head (even one that came frozen) and the factors down and up learn. The logits
    are those of before, and the model is in the mode in which it came; the mode of the new layers does
    not matter, as they do the same in both. You may change `model` itself, or return a copy.
    """
    ### BEGIN SOLUTION
    model.base.requires_grad_(False)  # first, so that the new factors are not frozen with it
    model.head.requires_grad_(True)
    for parent in list(model.base.modules()):
        for name, part in list(parent.named_children()):
            if name in names and isinstance(part, nn.Linear):
                layer = LoRALinear(part.in_features, part.out_features, rank).to(part.weight.device)
                layer.weight, layer.bias = part.weight, part.bias  # what was learned in pretraining
                setattr(parent, name, layer)
    return model
    ### END SOLUTION


# %% experiment
# @title What learns with LoRA in the model, counted and by the formula
print("rank  learns  by the formula")
for rank in (1, 4):
    adapted = add_lora(Classifier(copy.deepcopy(language_model.base)), ("query", "value"), rank)
    formula = 1 * 2 * rank * (64 + 64) + 2 * (64 + 1)  # M * 2 * r * 2D + C (D + 1)
    print(f"{rank:4}  {numbers_in(adapted):6,}  {formula:6,}")
print(f"at D = 4096, M = 32, r = 8, without a head: {32 * 2 * 8 * 2 * 4096:,}")

# %% reveal
reveal("parameters that learn in our model with LoRA of rank 4", numbers_in(adapted))

# %% [markdown]
# The formula is $M \cdot 2 \cdot r \cdot 2D + C (D + 1)$: in each layer two matrices, each with $r$ rows down and $r$ columns up, and the head. For the large model, four million beside seven billion are less than a thousandth. (For GPT-3 with its 175 billion, Hu et al. report 10,000 times fewer trained parameters and a third of the memory.)

# %% [markdown] pause
# You have written LoRA and put it into a whole model. Next come an older way and the contest of all ways. (Coming back trains the base once more, for half a minute.)

# %% [markdown]
# ## 4. Unfreezing from the top
#
# An older idea keeps the full model and only changes the *order*. The layers near the head are said to hold what is most specific to the old task, those near the words what is most general.
#
# [Howard and Ruder 2018](https://arxiv.org/abs/1801.06146) (section 3.3) therefore unfreeze the last layer first, then one layer more after each epoch. To train
# all of them at once risks that the model forgets what it knew. They call it *gradual unfreezing*. What is unfrozen stays so.
#
# **By hand.** A base of three layers, $0$ at the bottom and $2$ at the top. List what learns at steps 0 to 4; where are the embedding and the last norm in your list? The definition of the steps is in the docstring below.

# %% guess
guess("the step from which on the embedding learns, with three layers", ...)

# %% exercise="unfreeze"
def unfreeze(model: Classifier, step: int) -> Classifier:
    """Returns the model with those parameters set to learn whose turn has come, all others frozen.

    Step 0: the head. Step 1: also the top layer, `model.base.layers[-1]`, and `model.base.norm` (in a
    post-norm base an nn.Identity, without parameters). Each step after it: one layer more, downwards.
    One step after the lowest layer, and later: everything.
    The model may come with any flags; nothing else of it changes, no number, no gradient and no mode
    of a part.
    You may change `model` itself, or return a copy (to which PyTorch does not take the gradients along).
    """
    ### BEGIN SOLUTION
    base, depth = model.base, len(model.base.layers)
    model.requires_grad_(step > depth)  # what belongs to no layer comes last: embedding, positions
    model.head.requires_grad_(True)
    base.norm.requires_grad_(step >= 1)
    for index, layer in enumerate(base.layers):
        layer.requires_grad_(step >= depth - index)
    return model
    ### END SOLUTION


# %% experiment
# @title What learns at which step, in a model of three layers
rows = []
for step in range(5):
    shown = unfreeze(Classifier(TransformerBase(849, 64, 3, 2, norm_first=True)), step)
    parts = {"head": shown.head, "last norm": shown.base.norm}
    parts |= {f"layer {place}": shown.base.layers[place] for place in (2, 1, 0)}
    parts["embedding"] = shown.base.embedding
    learns = {name: "learns" if numbers_in(part) else "·" for name, part in parts.items()}
    rows.append({"step": step, **learns, "parameters": f"{numbers_in(shown):,}"})
pd.DataFrame(rows).set_index("step")

# %% reveal
reveal("the step from which on the embedding learns, with three layers",
       next(row["step"] for row in rows if row["embedding"] == "learns"))

# %% [markdown]
# ## 5. Which way, with how many labels?
#
# The rules are those of notebook 06: validation chooses, the test reports, several seeds. Two more for a comparison of *ways*:
#
# - **the same effort**: 60 steps for each, with the same reviews in the same order;
# - **a learning rate for each**: two thin matrices want another rate than a whole model. One rate for all would decide the contest before it begins. Each way gets the best of four, chosen with 128 labels by the validation reviews.
#
# With 8 labels, which way will be best? With 300? And where does rank 1, with 386 parameters, lie between the head (130) and the whole model (79,810)? Two guesses come before the contest.

# %% measured
# @title Labelled reviews by number and seed, and the share of right answers
def batches_of(split: Split, role: str, budget: int, seed: int = 0) -> Batches:
    """Returns the batches of labelled reviews."""
    return Batches(Split(f"reviews/{role}", role, split.rows), to_classify, budget, seed=seed)


def some_labels(count: int, seed: int) -> Split:
    """Returns `count` labelled reviews, as many of each class."""
    mixed = corpus.train.rows.sample(frac=1, random_state=seed)
    halves = [mixed[mixed["label"] == label][: count // 2] for label in (0, 1)]
    return Split("reviews/few", "train", pd.concat(halves, ignore_index=True))


@torch.no_grad()
def share_right(model: Classifier, batches: list[Batch]) -> float:
    """Returns the share of right answers."""
    right = [model.eval()(batch.tokens, batch.lengths).argmax(dim=-1) == batch.target for batch in batches]
    return torch.cat(right).float().mean().item()


to_classify = for_classifier(vocabulary, max_len=512)
valid, test = (list(batches_of(part, "test", 8192)) for part in (corpus.valid, corpus.test))

# %% measured
# @title Five ways, 60 steps for each
import sys

from tqdm import tqdm

WAYS, STEPS = ("head only", "LoRA, rank 1", "LoRA, rank 4", "gradual", "full"), 60
LAST = MAKE["n_layers"] + 1  # the step of `unfreeze` at which everything learns

# %% measured
# @title How a model is adapted in one of the five ways
def adapted_model(way: str, count: int, seed: int, rate: float) -> Classifier:
    """Returns a classifier that was trained in one of the ways, with `count` labels."""
    torch.manual_seed(seed)
    model = Classifier(copy.deepcopy(language_model.base))
    if way.startswith("LoRA"):
        model = add_lora(model, ("query", "value"), rank=int(way[-1]))
    else:
        model = unfreeze(model, LAST if way == "full" else 0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, fused=True)  # what is frozen stays
    batches, done = batches_of(some_labels(count, seed), "train", 512, seed), 0
    while done < STEPS:
        for batch in list(batches)[: STEPS - done]:
            if way == "gradual":  # a third of the steps each: head, layer, everything
                told = unfreeze(model, done * (LAST + 1) // STEPS)  # it may be a copy
                for parameter, like in zip(model.parameters(), told.parameters()):
                    parameter.requires_grad_(like.requires_grad)
            loss = F.cross_entropy(model.train()(batch.tokens, batch.lengths), batch.target)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            done += 1
    return model

# %% measured
# @title Validation accuracy at four learning rates; the best is chosen for each way
RATES = (1e-3, 3e-3, 1e-2, 3e-2)
table = pd.DataFrame({way: {rate: share_right(adapted_model(way, 128, seed=100, rate=rate), valid)
                            for rate in RATES} for way in WAYS})
rates = table.idxmax().to_dict()  # the first, where several are equal
print(table.rename_axis("rate").round(3).to_string())
print("chosen:", ", ".join(f"{way} {rate:g}" for way, rate in rates.items()))

# %% [markdown]
# Look down the columns: what would have happened with one rate for all? Now the contest: forty-five runs, half a minute to a minute. First your guesses.

# %% guess
guess("points in a hundred between best and worst seed, rank 1, 8 labels", ...)

# %% guess
guess("wrong answers in a hundred, LoRA of rank 1 with 300 labels", ...)

# %% measured
# @title The contest: five ways, three seeds, three numbers of labels
LABELS, SEEDS, trained, contest = (8, 32, 300), range(3), {}, {}
scores = {way: [[0.0] * len(LABELS) for _ in SEEDS] for way in WAYS}  # way -> (seeds, labels)
plan = [(way, seed, place) for way in WAYS for seed in SEEDS for place in range(len(LABELS))]
for way, seed, place in tqdm(plan, unit="run", file=sys.stdout):
    model = adapted_model(way, LABELS[place], seed, rates[way])
    scores[way][seed][place], trained[way] = share_right(model, test), numbers_in(model)
    contest[way, seed, LABELS[place]] = model  # two of them are looked at below

# %% measured
# @title Which way, with how many labels?
axes = plots.curves(scores, LABELS, title="Ways to adapt: mean and range of three seeds",
                    x_label="labels", y_label="test accuracy", log_x=True)
axes.set_ylim(0.45, 1.0)
axes.set_xticks(LABELS, [str(count) for count in LABELS])
axes.minorticks_off()
plots.show(axes.figure, plots.describe_curves(scores, LABELS, "labels", digits=2))

# %% reveal
eight = [100 * run[LABELS.index(8)] for run in scores["LoRA, rank 1"]]
reveal("points in a hundred between best and worst seed, rank 1, 8 labels", max(eight) - min(eight))

# %% reveal
reveal("wrong answers in a hundred, LoRA of rank 1 with 300 labels",
       100 - 100 * sum(run[LABELS.index(300)] for run in scores["LoRA, rank 1"]) / len(SEEDS))

# %% measured
# @title How accuracy is drawn against the number of trained parameters
drawn_at = trained | {"gradual": 0.55 * trained["gradual"]}  # beside "full", which trains as many


def show_numbers(axes, count: int) -> None:
    """Draws accuracy against the number of trained parameters, for one number of labels."""
    place = LABELS.index(count)
    for way, colour, marker in zip(WAYS, plots.COLOURS, plots.MARKERS):
        runs = [run[place] for run in scores[way]]
        axes.plot([drawn_at[way]] * 2, [min(runs), max(runs)], color=colour, linewidth=5, alpha=0.3)
        axes.plot(drawn_at[way], sum(runs) / len(runs), marker, color=colour, markersize=8, label=way)
    axes.set(title=f"{count} labels", xlabel="trained parameters", xscale="log", xlim=(60, 3e5),
             ylim=(0.45, 1.0))
    axes.grid(color="#dddddd", linewidth=0.6)

# %% measured
# @title What do two hundred times as many trained parameters buy?
figure, places = plots.panels(len(LABELS), width=3.0, height=3.1)
for axes, count in zip(places, LABELS):
    show_numbers(axes, count)
places[0].set_ylabel("test accuracy")
figure.legend(*places[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
means = {way: [sum(run[n] for run in scores[way]) / 3 for n in range(len(LABELS))] for way in WAYS}
plots.show(figure, "Accuracy against trained parameters, a panel for each number of labels. " + " ".join(
    f"{way}, {trained[way]:,} parameters: " + ", ".join(f"{mean:.2f}" for mean in means[way]) + "."
    for way in WAYS))

# %% measured
# @title All ways: trained parameters, memory for forty tasks, accuracy
rows = {way: {"trained": f"{trained[way]:,}", "for forty tasks": f"{160 * trained[way] / 1e6:.2f} MB",
              **{f"{count} labels": f"{mean:.1%} ({min(runs):.1%} to {max(runs):.1%})"
                 for count, mean, runs in zip(LABELS, means[way], zip(*scores[way]))}}
        for way in WAYS}
pd.DataFrame.from_dict(rows, orient="index")

# %% [markdown]
# The first figure shows the accuracy by labels, the second the same numbers by trained parameters. (*Gradual* is drawn a little to the left of *full*, which trains as many; the bars go from the lowest to the highest of three seeds.)
#
# - **Eight labels are a lottery**, whatever the way: from seed to seed the accuracy moves by 5 to 39 points, from way to way the means move by 9. No order can be read off there. (A seed decides several things at once: which eight reviews, their order, the first head and factors. Which of them matters most, this run does not tell.)
# - **From 32 labels on, the head alone falls behind.** It can only weigh what the frozen base leaves at the last word. In our run it has 86.1 % with 32 labels and 86.5 % with 300, a difference within the range of its seeds; whether more steps or another rate would bring it further, we have not tried.
# - **With 300 labels the other four end together.** Rank 1, with its 386 parameters, has 93.7 % in our run, and the whole model, with 79,810, has 93.9 %. Is the whole model better, then? The ranges overlap. With 32 labels they do not: rank 1 (93.1 to 93.3 %) lies above the whole model (88.5 to 92.6 %), by half a point. Three seeds, all on one base, with rates chosen by one run each, are
#   too few to put the four in order. What they do say is that two hundred times as many trained parameters have not bought anything that shows here.
# - **So the price decides**: the second column of the table. For forty tasks LoRA needs one base and forty little packets, full and gradual need forty models.
# - **One rate for all could have told another story.** With 0.03 for everybody, the head alone (0.810 in validation in our run) would have looked better than the whole model (0.705); with each of the three smaller rates it would not. The rates themselves rest on little: one seed and 200 validation reviews, where a single review makes a difference of 0.005.
#
# The work of a step is *less* cheap than one might think. LoRA's gradient has to pass through the frozen layer on its way down to `query` and `value`. Only the gradients of the frozen weights themselves are spared, in a deep model about a third of the operations that notebook 14 counts. (For GPT-3, Hu et al. report 43.1 tokens a second for each graphics card in place of 32.5, which is a quarter less time: section 4.2.)
#
# What LoRA saves above all is the memory for gradients and means of Adam.
#
# ### Merged, and as fast as before
#
# Put your `merged()` layers into a model of the contest that was trained with LoRA. The logits must not change but for rounding, and nothing of LoRA is left.

# %% measured
# @title Logits and accuracy before and after merging
with_lora = contest["LoRA, rank 4", 0, 300]
plain = copy.deepcopy(with_lora)
attention = plain.base.layers[0].attention
attention.query, attention.value = attention.query.merged(), attention.value.merged()

with torch.no_grad():
    pairs = [(plain(batch.tokens, batch.lengths), with_lora(batch.tokens, batch.lengths)) for batch in test]
difference = max((first - second).abs().max().item() for first, second in pairs)
left = [name for name, _ in plain.named_parameters() if name.endswith(("down", "up"))]
print(f"logits differ by less than 0.0001: {difference < 1e-4}; factors left: {len(left)}")
print(f"accuracy {share_right(with_lora, test):.3f} before, {share_right(plain, test):.3f} after merging")

# %% [markdown]
# ## 6. How thin is a change that could be thick?
#
# LoRA *forces* the change to be thin. Is the change that full fine-tuning makes thin by itself? Take the matrices before and after, and their difference $\Delta W$. By a singular value decomposition every matrix is a sum of matrices of rank 1, sorted by size (the sizes are its *singular values*); cutting the sum after $r$ terms gives the best approximation of rank $r$.
#
# So take a model of the contest that was fully fine-tuned with 300 labels, cut the
# change of each matrix of the layer to rank $r$, and measure. (The changes of embedding, norms, biases and head are left as they are in all points, so that rank 0 is not the model before.)
#
# At which rank is the accuracy that of the whole change, to half a point in a hundred? The ranks are 0, 1, 2, 4, 8, 16, 32 and 64.

# %% guess
guess("rank at which the cut change does as well as the whole one", ...)

# %% measured
# @title Test accuracy with the change cut to a rank
tuned = contest["full", 0, 300]
before, after = language_model.base.layers[0].state_dict(), tuned.base.layers[0].state_dict()
parts = {name: torch.linalg.svd(after[name] - before[name], full_matrices=False)
         for name in after if after[name].dim() == 2}  # name -> U, S, V of the change

RANKS = (0, 1, 2, 4, 8, 16, 32, 64)
cut_scores = []
for rank in RANKS:
    cut = copy.deepcopy(tuned)
    for name, (left, sizes, right) in parts.items():
        change = left[:, :rank] * sizes[:rank] @ right[:rank]  # (64, 64), of rank r
        cut.base.layers[0].get_parameter(name).data = before[name] + change
    cut_scores.append(share_right(cut, test))
print("  ".join(f"rank {rank}: {score:.3f}" for rank, score in zip(RANKS, cut_scores)))

# %% reveal
reveal("rank at which the cut change does as well as the whole one",
       next(rank for rank, score in zip(RANKS, cut_scores) if score > cut_scores[-1] - 0.005))

# %% [markdown]
# Move the slider: it cuts the changes of all six matrices to the same rank. On the left the sizes of the 64 terms of one of them, the value matrix, those kept in blue; on the right the accuracy of the model with all six cut (its axis begins near 0.82).

# %% interactive
# @title The change of the value matrix, cut to a rank: move the slider
from ipywidgets import SelectionSlider, interact


def show_cut(rank: int) -> None:
    """Draws what of the change of the value matrix is kept at a rank, and the accuracy there."""
    sizes = parts["attention.value.weight"][1]
    kept = (sizes[:rank].square().sum() / sizes.square().sum()).item()
    figure, (left, right) = plots.panels(2, width=3.9, height=2.7)
    left.bar(range(1, 65), sizes, color=[plots.COLOURS[0]] * rank + ["#cccccc"] * (64 - rank))
    left.set(title=f"rank {rank} keeps {kept:.0%} of the squares", xlabel="term", ylabel="size")
    plots.curves({"accuracy": cut_scores}, range(len(RANKS)), title="Accuracy with the cut change",
                 x_label="rank", y_label="test accuracy", axes=right)
    place = RANKS.index(rank)
    right.plot(place, cut_scores[place], "o", color=plots.COLOURS[1], markersize=11)
    right.set_xticks(range(len(RANKS)), [str(one) for one in RANKS])
    right.get_legend().remove()
    plots.show(figure, f"The {rank} largest of 64 terms of the change hold {kept:.0%} of its squares. "
               f"With all matrices cut to this rank the test accuracy is {cut_scores[place]:.2f}.")


slider = SelectionSlider(options=RANKS, value=1, description="rank", continuous_update=False)
_ = interact(show_cut, rank=slider)

# %% measured
# @title The same picture for those who only read: rank 1 and rank 16
show_cut(1)
show_cut(16)

# %% [markdown]
# Rank 1 is enough: with one term for each of the six matrices the accuracy is 0.946 in our run, with all 64 it is 0.947; without any it is 0.823. The other terms are there (the figure shows them for one matrix), and the accuracy hardly depends on them.
#
# That is the assumption from which LoRA started: the change that a task needs has a low *intrinsic rank*, even where the matrices are large. In the paper,
# too, rank 1 is enough on two tasks if query and value both have it (their table 6). It need not be so: our task has two classes and one direction from blame to praise. For a new language, say, one should expect to need more.
#
# ## 7. The essay
#
# In at most twelve lines, in English or in French: **which way for which budget?** For each of the first three, name a way and give a reason with a number: of your own run or, as for (b), which no run here has tried, of a formula that counts what is trained or kept.
#
# (a) *The agency*: forty publishers with 30 labels each, and one server whose memory holds the base once. (b) *The laboratory*: one task, 100,000 labels, a graphics card of its own. (c) *The telephone*: the app has kept, for each text, the numbers that the base gives at its last word, and cannot run the base again; 30 labels. (d) What does the contest of section 5 **not** tell you? Name one thing, and what you would measure.

# %% [markdown] essay="budget_essay"
# **Rubric** (half a point for each, 2 points in all)
#
# - (a) *LoRA*: one base in memory and 386 (rank 4: 1,154) numbers for each publisher, 0.06 MB in place of 12.77 MB for all forty; with 32 labels it reaches what the whole model does (about 93 %). Good answers add that the factors are **not** merged here, since forty merged models would be forty bases again.
# - (b) *Full*, gradual, or LoRA of a higher rank chosen by validation: memory is no limit, there is one model to keep (79,810 numbers, 0.32 MB; or the count of a higher rank, as 4,226 for rank 16), and with many labels there may be more to learn than a thin change holds. Good answers say that the run with 300 labels cannot decide it.
# - (c) *Head only*: it needs no gradient through the base, and no base at all once the hidden states are kept; 130 numbers. Its price in the stored run: about 86 against 93 % with 32 labels.
# - (d) One limit with its remedy: three seeds, whose ranges overlap with 300 labels for most pairs of ways (more seeds, more bases); with 8 labels the draw decides (many draws); one small base of one layer, invented reviews, two classes (a larger model, a harder task); 60 steps for each (until validation stops rising); rates chosen with 128 labels only.
#
# **Misconceptions that cost marks**: "LoRA makes the model smaller, or faster to use" (merged it is as large and as fast as before, unmerged a little slower); "fewer trained parameters are always better, because they cannot overfit"; "full is better than LoRA, 93.9 against 92.6 %" (the ranges of the seeds overlap); "head only needs fewer labels, since it has fewer numbers"; "a step of LoRA needs no gradient through the base".
#
# **Answers as students write them**
#
# - *Full marks (2 of 2)*: "(a) LoRA of rank 1: the server keeps the base once and 386 numbers for each publisher, 0.06 MB for all forty where whole
#   models take 12.77, and with 32 labels it had 93 % like the full model; I would not merge, since forty merged models are forty bases again. (b) Full
#   fine-tuning, because one model of 79,810 numbers, 0.32 MB, is all there is to keep and 100,000 labels may ask for more than a thin change; I would
#   try rank 16 beside it and let validation choose. (c) The head alone, with 130 numbers, since it needs no gradient through the base and can learn from the numbers that were kept;
#   it costs about 7 points, 86 against 93 % with 32 labels. (d) The contest does not say which of the four good ways is best, because most of the
#   ranges of three seeds overlap with 300 labels. I would run twenty seeds, each with its own draw of labels." Why: (a) to (d), half a point each, each with a number or a
#   measurement.
# - *Half (1 of 2)*: "(a) LoRA, because 386 numbers for each publisher and one base fit into the server, 0.06 MB beside 12.77 for forty models. (b) LoRA
#   again, since fewer numbers cannot overfit, though full was better, 93.9 against 92.6 %. (c) The head alone, as it has only 130 numbers and does
#   not need the base to run again when its outputs are kept. (d) It does not tell how long the training took." Why: (a) and (c) (1). (b) is decided by
#   two misconceptions, a difference within the ranges of the seeds and the belief that few numbers cannot overfit (0.5 lost). (d) names no limit of
#   what the accuracies say, and no measurement (0.5 lost).
# - *No marks (0 of 2)*: "(a) Full, because it trains everything and so it must be the best for everybody. (b) LoRA, because it makes the model smaller
#   and faster. (c) LoRA as well, since its steps need no gradient through the base. (d) Nothing, the experiment shows that LoRA is the best way." Why:
#   (a) forgets the memory of the server, (b) and (c) rest on misconceptions (merged, the model is as large and as fast as before; LoRA's gradient passes
#   through the base), and (d) overlooks every limit. No number anywhere.

# %% [markdown] questions
# ## Three questions
#
# For yourself: open an answer to see whether it is right.
#
# 1. A LoRA model is merged after training. What has become of its size and its speed in use?
#    - It is smaller, because only the factors are kept. => The merged matrix has all its $d_\text{out} \cdot d_\text{in}$ numbers. What is small is what each task keeps *before* merging.
#    + Both are those of the model before. => $W + \frac{\alpha}{r} BA$ is a matrix like any other, of the same shape.
#    - It is faster, because products with thin matrices are cheap. => Those products come on top of the wide one while it is not merged; merged there are none.
# 2. Why does one factor start with zeros, and the other one with random numbers?
#    - So that the model begins with a small random change. => A product with zeros is zero: the model begins exactly as it was.
#    - With zeros in both, the first change would be too large. => It would be zero, too. But each gradient is a product with the other factor, so both would stay zero.
#    + The change is zero at first, and yet a gradient arrives. => The factor of zeros gets a gradient at once, the other one from the second step on.
# 3. With 300 labels, LoRA of rank 4 has 92.6 % of the answers right and the whole model 93.9 %, means of three seeds. What follows?
#    + Nothing about their order: the ranges of the seeds overlap. => So the price decides, and 1,154 numbers for a task are cheaper than 79,810.
#    - Full fine-tuning is better, by more than one point. => One mean is higher. But its worst seed (92.7 %) is below the best one of rank 4 (94.0 %).
#    - More labels would not help LoRA, since it has so few numbers. => No run here has tried more than 300 labels, so this one cannot tell.

# %% [markdown]
# ## What to remember
#
# - LoRA: $W$ frozen, plus $\frac{\alpha}{r} B A$ with one factor zero at the start. It trains $r (d_\text{in} + d_\text{out})$ numbers and can be merged exactly.
# - Count what learns before you train. It finds a base that was not frozen, and factors that were.
# - Compare ways with the same labels and effort, a rate for each, several seeds; where ranges overlap, let the price decide.
# - The change that a task needs can be thin even where nobody forces it to be: look at its singular values.
#
# **Go further.** Give the thin change to other matrices: `("key",)` with rank 2 has as many factors as query and value with rank 1, 256; `("hidden", "output")` with rank 1 has 384, since there is an `output` in the attention, too. Which does best with 32 labels? The idea that a change
# for a task needs few directions was measured before LoRA by [Aghajanyan et al. 2020](https://arxiv.org/abs/2012.13255). The models that are adapted so in earnest are built of newer parts than ours: notebook 16 builds them, and puts a real one in.

# %% [markdown]
# ## What others call it
#
# - **parameter-efficient fine-tuning** (also *PEFT*): adapting a model by few trained parameters; LoRA's matrices are *adapters*.
# - **full fine-tuning**: everything learns.
# - **catastrophic forgetting**: what was known before is lost in training on.
# - **intrinsic rank** (also *intrinsic dimension*): how few directions a change needs.
# - **QLoRA**: LoRA beside frozen weights that are kept in four bits (*quantisation*).

# %% experiment open=true
from tutor import progress

progress()
