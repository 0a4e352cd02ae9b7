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
# This notebook is about the tools. Ten minutes now save an hour later: you will run a cell, fill one, have it checked, read a
# hint, and hand the notebook in. All the other notebooks work the same way.
#
# **When you are done, you can**
# - run cells, and start again from a clean state when something is odd;
# - answer an exercise and read what `check` says about it;
# - have the whole notebook validated, and hand it in.
#
# **Time**: about 10 minutes. **Before this**: nothing but a little Python.
#
# | exercise | what it asks | points |
# |---|---|---|
# | `batch_shape` | the shape of a batch | 1 |
# | **total** | | **1** |

# %% [markdown]
# ## 1. Run a cell
#
# Click into the next cell and press **Shift+Enter**: it runs, and the next one is selected. The first cell of each notebook
# brings in what the notebook needs; always run it first.
#
# - The number in brackets on the left says in which order cells were run. `[*]` means: still running.
# - To stop a cell that runs too long: the square ■ in the toolbar, or press Esc, then `I` twice.
# - When something is odd, start again from a clean state: menu **Kernel → Restart Kernel and Run All Cells**.

# %% setup
import torch

from helpers import device, plots
from tutor import check, hint

# %% [markdown]
# ## 2. Your computer
#
# Everything in this course runs on a laptop without a graphics card. If you have one that torch can use, the long
# experiments (notebooks 06 and 12 at full size) use it; the others run on the processor, since models so small gain nothing from a graphics card.
# The next cell says what you have. (In a terminal, `python -m tutor` says the same in more detail, with a remedy for each thing that is
# missing.)

# %% measured
print(device.explain_device(device.choose_device()))

# %% [markdown]
# ## 3. A batch, by hand
#
# A Transformer never sees words. It sees numbers: each token becomes a row of $d$ numbers, a sentence of $n$ tokens becomes $n$ such rows,
# and $b$ sentences are stacked into a *batch*. Here is a small one, two sentences of three tokens, with four numbers for each token.

# %% experiment
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
# Count: how many sentences, how many tokens in each, how many numbers for each token? In this order, these three numbers are the *shape* of the
# batch. We write it `(b, n, d)`, batch first, in every notebook.
#
# ## 4. An exercise
#
# The next cell is an exercise. Yours says `raise NotImplementedError("Replace this line by your answer")`: replace that line, run the cell, then
# run the check below it.
#
# Try this first, to see what the check can tell you:
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
# - If it recognises the mistake, it says which one it is.
# - Stuck all the same? Run `hint(batch_shape)` in a cell of your own: each exercise has three hints, and each call shows the next one. They cost
#   nothing.
# - It never changes your variables, and stops after a few seconds if your function does not come back.
# - You may run it as often as you like; only what you hand in counts. Your mark comes from the same questions and from *other* ones, drawn for
#   you: an answer that fits only the examples will not do.
# - Points are given by stage, so half an answer is worth handing in. The stage that an exercise is there for weighs most: an answer that fails
#   it gets half of the points at most. A stage on what everybody knows, or on what is left alone, earns points only beside it.
# - You may use what PyTorch has, and what `helpers` has, too, but for the one part that an exercise asks you to write: an answer that calls, say, the
#   table of sinusoids in `helpers.models` where you are to write that table is no answer, and earns nothing. The check says so.
#
# ### What every answer keeps
#
# Your function will be called by other code, often, and inside a training loop. So each check asks at its end, without saying so in each exercise:
# - **What it is given stays as it is.** A function that changes a tensor, a list or a model that it was given spoils it for the caller: work on a
#   copy (`scores = scores.masked_fill(...)`, and not `scores.masked_fill_(...)`).
# - **The same question gets the same answer**, also after another one. Once weights or tensors have been changed in place, it is worked out anew: nothing is
#   kept from call to call. A copy of a module has weights of its own. A list or dict that is returned is a new one each time. A long input is treated in
#   the same way as a short one.
# - **Gradients pass through** everything that training needs: modules, and functions whose description says so. `.detach()`, `.item()` and numpy
#   stop them. A module does the same in training mode as in evaluation mode, and double precision stays double.
# - **Random numbers and PyTorch's settings belong to the caller**: no `torch.manual_seed` and no `torch.set_grad_enabled` inside, and two new modules do
#   not begin with the same random weights. Arguments that may be left out keep the default values given in the `def` line.
#
# Each of these costs a tenth of the points of its exercise.

# %% experiment
print("the picture above has the shape", tuple(batch.shape))
print("your function says:           ", tuple(batch_shape(2, 3, 4)))

# %% [markdown]
# ## 5. Validate and hand in
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
#
# ## What to remember
#
# - Shapes are `(b, n, d)`: batch, tokens, width.
# - Run the check early; the first stage that fails says where to look.
# - Before you hand in: restart, run all, validate, save.
#
# **Go further.** Put the cursor inside the brackets of `torch.zeros(` and press Shift+Tab: the documentation appears. Add `?` after any
# name and run the cell for the same: `plots.matrix?`. Then open notebook 01: it asks what a word may look at.

# %% experiment
from tutor import progress

progress()
