# ---
# jupyter:
#   course:
#     teaches: "the tools: run, answer, check, validate, hand in"
#     part: tools
#     column: 0
#     row: 0
#     builds_on: []
#     questions:
#       - How do I run, check, hand in?
#   jupytext:
#     notebook_metadata_filter: course
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 00 · Start here
#
# This notebook is about the tools; all others work the same way.
#
# **When you are done, you can**
# - say what a language model does;
# - run cells, and start again from a clean state;
# - answer an exercise and read what `check` says about it;
# - have the whole notebook validated, and hand it in.
#
# **Time**: about 15 minutes. **Before this**: nothing but a little Python. If you have never trained a network in PyTorch, read *Before you start*
# (ten minutes; `before.html`, beside this notebook) before 01.
#
# | exercise | what it asks | points |
# |---|---|---|
# | `batch_shape` | the shape of a batch | 1 |
# | **total** | | **1** |

# %% [markdown]
# ## 1. Run a cell
#
# Click into the next cell and press **Shift+Enter**: it runs, and the next one is selected. Always run the first cell of a notebook first: the others
# need it.
#
# - The number in brackets on the left says in which order cells were run. `[*]` means: still running.
# - Most experiments are folded: one line says what they show. Run them as they are; click the line to read the code.
# - To stop a cell that runs too long: the square ■ in the toolbar, or press Esc, then `I` twice.
# - When something is odd, start again from a clean state: menu **Kernel → Restart Kernel and Run All Cells**.

# %% setup
import torch

from helpers import device, plots
from tutor import by_hand, check, guess, hint, reveal

# %% [markdown]
# ## 2. A model, to begin with
#
# Here is a Transformer that has read 10,500 invented French book reviews. It has one skill: it reads the beginning of a text
# and gives each of the 849 *tokens* (words and punctuation marks) of its vocabulary a probability of being the **next token**. You will build each of its parts.
#
# Its text begins *l'intrigue est bancale et le style est franchement ...* (*the plot is shaky and the style is frankly ...*). To find the next word, it looks back at these words. At which one
# most? Write it, in quotation marks, in place of the dots, or leave them and go on: a guess earns nothing and costs nothing.

# %% guess
guess("the word that the model looks at most", ..., among=["intrigue", "bancale", "style"])

# %% experiment
# @title The most probable next words, and where the last word looks
from helpers.first_model import load_first_model
from helpers.vocabulary import SOS

model, vocabulary = load_first_model()


@torch.no_grad()
def show_next(sentence: str) -> None:
    """Draws the most probable next words after a sentence, and where the model looks for them."""
    numbers = torch.tensor([[SOS, *vocabulary.encode(sentence)]])  # (1, n): words become numbers
    probabilities, words = model(numbers)[0, -1].softmax(-1).topk(8)  # of 849
    looks = model.base.attention_maps(numbers)[0][0].mean(0)[-1]  # (n,), by the last word, in layer 1

    figure, (left, right) = plots.panels(2, width=3.4, height=3.2)
    tokens = [vocabulary.tokens[number] for number in numbers[0]]
    names = [vocabulary.tokens[word] for word in words]
    bars = ((left, names, probabilities, "the next word", "probability"),
            (right, tokens, looks, "where the last word looks", "weight"))
    for axes, labels, values, title, label in bars:
        axes.barh(range(len(values)), values)
        axes.set(title=title, xlabel=label, xlim=(0, 1), yticks=range(len(values)), yticklabels=labels)
        axes.invert_yaxis()
    told = ", ".join(f"{name} {value:.2f}" for name, value in zip(names[:3], probabilities))
    most = tokens[int(looks.argmax())]
    plots.show(figure, f"After '{sentence}': {told}. The last word looks most at '{most}'.")


show_next("l'intrigue est bancale et le style est franchement")

# %% reveal
words_read = [SOS, *vocabulary.encode("l'intrigue est bancale et le style est franchement")]
looked_at = model.base.attention_maps(torch.tensor([words_read]))[0][0].mean(0)[-1]  # (n,)
reveal("the word that the model looks at most", vocabulary.tokens[words_read[looked_at.argmax()]])

# %% [markdown]
# The adjective must be masculine, as *le style* is, and not feminine, as *l'intrigue*: on the left,
# *fascinant* and not *fascinante*. On the right, the last word, *franchement*, looks most at *style*. This looking is **attention**, and notebooks
# 01 to 03 build it.
#
# Try a beginning of your own: make a new cell (the **+** in the toolbar) and write `show_next("le style est")` in it, with your words. What the model has never
# read becomes `<oov>`, *out of vocabulary*. Or move the slider: each step lets the model read one word more.

# %% interactive
# @title What the model expects after each word of a review: move the slider
from ipywidgets import IntSlider, interact

review = "ce roman est un régal . l'intrigue est captivante et le style est franchement"


def show_after(count: int) -> None:
    """Draws what the model expects after the first `count` words of the review."""
    show_next(" ".join(review.split()[:count]))


slider = IntSlider(value=4, min=0, max=len(review.split()), description="words", continuous_update=False)
_ = interact(show_after, count=slider)

# %% experiment
# @title The same picture for those who only read: after four words
show_after(4)

# %% [markdown]
# The next picture shows, from bottom to top, how the model makes one word; for each further word it starts again. Notebooks 01 to 04 explain the names. In all notebooks
# a text has $n$ tokens, each token has $d$ numbers, and the vocabulary has $V$ words.

# %% experiment
# @title From words to the next word, and round again
from helpers.diagrams import Diagram

picture = Diagram(4.1, 3.6)
picture.column(1.3, 0.3, [
    ("words", "<sos> ce roman est", "data"),
    ("numbers", "token numbers (1, n)", "data"),
    ("vectors", "vectors (1, n, d)", "data"),
    ("layers", "2 layers: attention,\nfeed-forward", "attention"),
    ("scores", "scores (1, n, V)", "data"),
    ("next", "the next word", "data"),
], step=0.6, width=1.8)
for height, text in ((0.6, "vocabulary"), (1.2, "embedding"), (2.45, "head"), (3.0, "softmax")):
    picture.note((1.37, height), text)
picture.around("next", "words", reach=1.4)
picture.note((2.77, 1.8), "once more,\none word longer")
picture.show(
    "A column of boxes: the vocabulary makes numbers of words, the embedding vectors of numbers; two "
    "layers of attention and feed-forward work on them, a head gives a score for each word, and a "
    "softmax the next word. An arrow leads from it back to the words: once more, one word longer."
)

# %% [markdown]
# ## 3. Your computer
#
# Everything in this course runs on a laptop without a graphics card; only the longest experiments (notebooks 06 and 12 at full size) gain from one.
# The next cell says what you have.

# %% measured
# @title The processor that this course uses on your computer
print(device.explain_device(device.choose_device()))

# %% [markdown]
# ## 4. A batch, by hand
#
# A Transformer never sees words. It sees numbers: each *token* (a word, a piece of a word or a punctuation mark) becomes a row of $d$ numbers. A sentence of $n$ tokens
# becomes $n$ such rows, and $b$ sentences are stacked into a *batch*: $b$ is the *batch size*. Here is a small one:

# %% experiment
# @title A small batch: a picture for each sentence, a row for each token
batch = torch.arange(24.0).reshape(2, 3, 4)  # (b, n, d)

figure, axes = plots.panels(2, width=3.6)
tokens = [["Le", "chat", "dort"], ["La", "souris", "court"]]
for index, place in enumerate(axes):
    plots.matrix(
        batch[index],
        f"sentence {index}",
        rows=tokens[index],
        row_label="token",
        column_label="number",
        digits=0,
        axes=place,
        limits=(0, 23),
    )
plots.show(figure, "Two sentences of three tokens, each token a row of four numbers, counted from 0 to 23.")

# %% [markdown]
# How many sentences, how many tokens in each, how many numbers for each token: in this order, these three numbers are the *shape* of the batch. We write it
# `(b, n, d)`, batch first, in every notebook.
#
# Count them in the picture and write the shape in place of the dots: three whole numbers.

# %% by_hand
by_hand("batch_shape", [..., ..., ...])

# %% [markdown]
# Two sentences, three tokens, four numbers: $(2, 3, 4)$.
#
# ## 5. An exercise
#
# The next cell is an exercise. In your copy it ends with `raise NotImplementedError("Replace this line by your answer")`: replace that line, run the cell, then
# run the check below it. Right above each exercise stand the minutes that it may take and its difficulty: ●○○ is one idea, ●●○ several at once, for ●●●
# you make a plan first.
#
# Try this first:
# 1. Run the check **before** you write anything: *not attempted yet*.
# 2. Write `return (n, b, d)`, run both cells: *not yet right*, and it names the mistake.
# 3. Write `print((b, n, d))` without `return`: it asks whether you forgot the `return`.
# 4. Now write the right answer.


# %% exercise="batch_shape"
def batch_shape(b: int, n: int, d: int) -> tuple[int, int, int]:
    """Returns the shape of a batch: b sentences of n tokens, each token d numbers.

    Example: batch_shape(2, 3, 4) is the shape of the picture above.
    """
    ### BEGIN SOLUTION
    return (b, n, d)
    ### END SOLUTION


# %% [markdown]
# ### What a check does
#
# - It calls your function on a few small examples, in stages from easy to hard. **The first stage that fails says where to look.**
# - If it recognises the mistake, it says which one it is. Its messages count rows and columns from 0, as Python does.
# - Stuck all the same? Run `hint(batch_shape)` in a cell of your own: each exercise has three hints, and each call shows the next one. They cost
#   nothing.
# - It never changes your variables, and stops after a few seconds if your function does not come back.
# - You may run it as often as you like; only what you hand in counts. Your mark comes from the same questions and from *other* ones, drawn for
#   you: an answer that fits only the examples will not do.
# - Points are given by stage, so half an answer is worth handing in. The stages that an exercise is there for weigh most: an answer that fails
#   one of them gets half of the points at most. Stages that many wrong answers pass too (on a shape, say, or on what is left alone) earn points only
#   beside one of them.
# - You may use what PyTorch has, and what `helpers` has, too, but for the one part that an exercise asks you to write: an answer that calls, say, the
#   table of sinusoids in `helpers.models` where you are to write that table is no answer, and earns nothing. The check says so, and where PyTorch has
#   the part, the exercise says so.
#
# ### What every answer keeps
#
# Your function will be called by other code, often, and inside a training loop. So each check ends with a few questions that the exercise does not repeat. (Today the bold beginnings are
# enough; read a rule to its end when a check names it. Modules begin in notebook 02.)
# - **What it is given stays as it is.** A function that changes a tensor, a list or a model that it was given spoils it for the caller: work on a
#   copy (`scores = scores.masked_fill(...)`, and not `scores.masked_fill_(...)`). Where it is to change a model, or to return one, nothing else about that
#   model changes: not its mode (training or evaluation), its dropout, nor which of its weights train. Unless it is to train a model, it leaves no
#   gradients in it: `backward()` does.
# - **The same question gets the same answer**, also after another one. When weights or tensors have been changed in place, the answer changes with them:
#   nothing is kept from call to call. A copy of a module has weights of its own. A tensor, list or dict that is returned is a new one each time, not a part
#   of a table that is kept.
# - **Each call does what its description says**: a method also when it is called alone, and a function on a long input as on a short one. A call that an error or Ctrl-C has
#   stopped can be made once more, on what it has left.
# - **Gradients pass through** everything that training needs: modules, and functions whose description says so. (A gradient says how the loss changes with a number; training
#   needs it.) `.detach()`, `.item()` and numpy stop them. A module does the same in training mode as in evaluation mode.
# - **Double precision stays double**: a function or a module that is given such numbers, and returns numbers made of them, makes them of that type, with
#   all their digits: no `.float()`, no `dtype=torch.float32`, and new tensors with `dtype=x.dtype`.
# - **A module stays on the device of its inputs**, and so does a function through which training passes, or which is given a model and tensors, or
#   returns a model: on a GPU, `x + torch.zeros(n)` stops, since the zeros are made on the processor. Say
#   `torch.zeros(n, dtype=x.dtype, device=x.device)` or `x.new_zeros(n)`; a table that a module keeps is a parameter, or registered with
#   `register_buffer`; a new layer goes there with `.to(x.device)`. The check sees to it without a GPU.
# - **Random numbers and PyTorch's settings belong to the caller**: no `torch.manual_seed` and no `torch.set_grad_enabled` inside, and two new modules do
#   not begin with the same random weights. Arguments that may be left out keep the default values given in the `def` line.
#
# Each of these costs a tenth of the points of its exercise.

# %% experiment
# @title The shape of the picture, and what your function says
print("the picture above has the shape", tuple(batch.shape))
print("your function says:           ", tuple(batch_shape(2, 3, 4)))

# %% [markdown]
# ## 6. Validate and hand in
#
# 1. **Kernel → Restart Kernel and Run All Cells**: your notebook must run from top to bottom. Grading runs the set-up cells, your answers and the
#    cells that you have added, in your order; of our experiments only what your answers need, and no training.
# 2. **Validate**, the button in the toolbar above: it runs the checks once more in a clean state and says *Success!* or which cell is not right yet.
# 3. **Save** (Ctrl+S, ⌘S on a Mac).
# 4. Hand in the file `00_start_here.ipynb` under its own name, in the way your course says: by *Nbgrader → Assignment List → Submit* on a course
#    server, or by uploading the file.
#
# Some cells cannot be edited: checks and set-up cells. That protects you too. If you damage something, get a fresh copy of the
# notebook and copy your answers into it.
#
# Written questions, marked *essay*, are read by a person. Validate only sees whether you have written something.

# %% [markdown] questions
# ## Three questions
#
# For yourself: open an answer to see whether it is right. Each notebook ends with three such questions.
#
# 1. A batch holds 8 sentences of 20 tokens each, and 64 numbers stand for each token. What is its shape?
#    - (20, 8, 64) => That is tokens first, as in some other programs. In this course the batch comes first.
#    - (8, 64, 20) => The last axis is the width: the numbers of one token stand side by side.
#    + (8, 20, 64) => Batch, tokens, width: `(b, n, d)`.
# 2. Your function passes the check in the notebook. What does that say about your mark?
#    - It is certain: the check is what gives the mark. => The mark comes from the check's questions and from others, drawn for you.
#    + It is a good sign, and no more than that. => The other questions decide as well: an answer made for the examples alone fails on them.
#    - It says nothing: the mark comes from other questions only. => The questions of the check count, too.
# 3. What does the model of section 2 give when it has read the beginning of a text?
#    - The next word, looked up in the reviews that it has read. => It looks nothing up. What it has read is left only in its weights.
#    + A probability for each token of its vocabulary. => All 849 get one; the picture shows the eight largest.
#    - A score for how good the text is. => It was trained on one question only: which token comes next?

# %% [markdown]
# ## What to remember
#
# - Shapes are `(b, n, d)`: batch, tokens, width.
# - Run the check early; the first stage that fails says where to look.
# - Before you hand in: restart, run all, validate, save.
#
# **Which notebooks?** All of them, if you can. Six are a course of their own: **01** (the mask), **03** (attention), **04** (from language model to
# classifier), **06** (pretraining), **07** (BERT) and **11** (translation). Each of the six says at its end what comes next on this short route.
#
# **Go further.** Ask the model of section 2 for the words after `le style est bancal et l'intrigue est franchement`: the adjectives turn feminine, and yet, in the layer that is drawn, the first of two, the last word still looks most at *style*. What it looks at is not all that it knows.
#
# Put the cursor inside the brackets of `torch.zeros(` and press Shift+Tab: the documentation appears. Add `?` after any
# name and run the cell for the same: `plots.matrix?`. Then open notebook 01: it asks what a word may look at.

# %% [markdown]
# ## The map of the course
#
# [The map](path.svg) has a box for each notebook, with its question, time and points, and an arrow to it from each that it needs. Take a
# notebook only after those from which an arrow leads to it. The last cell of each notebook says in words what comes next.
#
# What to remember of all notebooks is in [the recap](recap.html), two printed pages.

# %% [markdown]
# ## What others call it
#
# - **token**: a word, a piece of a word or a punctuation mark, as a model reads it: a number of its vocabulary, which then becomes a row of numbers.
# - **batch size**: how many texts are worked on at once, the $b$ of `(b, n, d)`.
# - **sequence length**: how many tokens a text has, the $n$.
# - **hidden size** (also *model dimension*, $d_\text{model}$): how many numbers stand for one token, the $d$. We call it the *width*.
# - **tensor**: a table of numbers with any number of axes; its *shape* says how long each axis is.

# %% experiment open=true
from tutor import progress

progress()
