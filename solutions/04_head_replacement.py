# ---
# jupyter:
#   course:
#     teaches: from language model to classifier
#     part: models
#     column: 1
#     row: 1
#     builds_on: ["03"]
#     running: 1
#     questions:
#       - Can it classify instead?
#       - Which row of a padded batch has read the whole text?
#       - How do I know which weights have been loaded, and which will learn?
#   jupytext:
#     notebook_metadata_filter: course
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 04 · From language model to classifier
#
# A language model has read thousands of book reviews and learned to guess the next word. You have 200 reviews with a label,
# *positive* or *negative*, and want a model that tells one from the other. Starting from nothing would waste what the
# first model knows. So you keep its body, take off its head, and put on another one: *transfer learning*. Its usual mistakes raise no error: the
# program runs, and the model is worse than it should be.
#
# **When you are done, you can**
# - say what a language model and a classifier have in common, and what differs in shape, output and target;
# - take the one row of a padded batch that has read the whole text;
# - swap a head without spoiling the model that it came from;
# - load weights so that you know what has been loaded, and freeze exactly what you mean to freeze.
#
# **Time**: about 2 h. **Before this**: notebook 01 (the causal mask, padding) and notebook 03 (what a Transformer base computes).
#
# | exercise | what it asks | points |
# |---|---|---|
# | `lm_pair` | input and target of a language model | 2 |
# | `last_token` | the row that has read everything | 3 |
# | `replace_head` | a classifier made of a language model | 4 |
# | `load_base` | weights from a checkpoint, or a clear error | 5 |
# | `freeze_base` | only the head learns | 3 |
# | *essay* `head_essay` | why the head must go | 3 |
# | **total** | | **20** |
#
# Folded cells are experiments, on which no mark depends. An answer must not use what a training has made there.

# %% setup
import copy

import torch
from torch import Tensor, nn

from helpers import plots
from tutor import by_hand, check, guess, hint, resume, reveal
from helpers.batches import Batches, Example, for_classifier
from helpers.corpora import Split, load
from helpers.models import Classifier, LanguageModel, TransformerBase
from helpers.training import evaluate, train
from helpers.vocabulary import EOS, PAD, SOS, Vocabulary

# %% [markdown]
# ## 1. One body, two heads
#
# Both models read b texts of n tokens, `(b, n)`, and send them through the same **base** (embedding, positions, layers), which gives every
# token a *hidden state*, `(b, n, d)`. (The width is `d` in shapes and $D$ in formulas.) They differ only in what comes after:
#
# | | language model | classifier |
# |---|---|---|
# | question | which word comes next, at *every* position? | which class is the *whole text*? |
# | what the head reads | every hidden state, `(b, n, d)` | one hidden state for each text, `(b, d)` |
# | head | `Linear(D, V)`: a score for each of $V$ words | `Linear(D, C)`: a score for each of $C$ classes |
# | output | `(b, n, V)` | `(b, C)` |
# | target | the next words, `(b, n)` | one label for each text, `(b,)` |
#
# The scores that a head gives are called *logits*.

# %% experiment
# @title A language model and a classifier made of it
from helpers.diagrams import Diagram

def draw_model(picture: Diagram, x: float, name: str, above: list[tuple[str, str]]) -> None:
    """Draws a base, and above it boxes from bottom to top: texts with their kinds."""
    boxes = [("tokens (b, n)", "data"), ("base", "attention"),
             ("hidden states (b, n, d)", "data"), *above]
    picture.column(x, 0.65, [(f"{name} {text}", text, kind) for text, kind in boxes], width=1.65)
    picture.note((x, 0.22), name, ha="center", weight="bold")


picture = Diagram(4.2, 4.0)
draw_model(picture, 0.95, "language model", [("head: D to V", "part"),
                                             ("logits (b, n, V)", "data")])
draw_model(picture, 3.2, "classifier", [("last real row (b, d)", "data"),
                                        ("new head: D to C", "part"), ("logits (b, C)", "data")])
picture.arrow("language model base", "classifier base", linestyle="--")
picture.note((2.08, 1.42), "the same\nweights", ha="center", va="bottom")
picture.show(
    "Two columns of boxes. Both start with tokens (b, n), the base and hidden states (b, n, d); the "
    "base of the classifier has the weights of the language model. The language model has a head "
    "from D to V on every row; the classifier takes the last real row and has a new head, D to C."
)

# %% [markdown]
# ### By hand: how large is a head?
#
# A `Linear` from $D$ to $C$ has $D \cdot C$ weights and $C$ biases. In the full-size model of this course, $V = 50\,001$ words and $D = 200$. How many parameters has each head, the one for words and the one for two classes? Write a number in place of the
# dots of each cell, or leave them and go on.

# %% guess
guess("the parameters of the head for 50,001 words", ...)

# %% guess
guess("the parameters of the head for 2 classes", ...)

# %% experiment
# @title How large the two heads are
def count(module: nn.Module, trainable_only: bool = False) -> int:
    """Returns how many numbers the parameters of a module hold."""
    return sum(p.numel() for p in module.parameters() if p.requires_grad or not trainable_only)


print(f"head for 50,001 words: {count(nn.Linear(200, 50_001)):>10,} parameters")
print(f"head for 2 classes:    {count(nn.Linear(200, 2)):>10,} parameters")

# %% reveal
reveal("the parameters of the head for 50,001 words", count(nn.Linear(200, 50_001)))

# %% reveal
reveal("the parameters of the head for 2 classes", count(nn.Linear(200, 2)))

# %% [markdown]
# Ten million parameters go, 402 come.
#
# ## 2. What the old head was trained on
#
# What *does* a language model learn from? From pairs of an input and a target, made of the text alone: under each token that it reads stands the one that it must say next.
#
# Two tokens are added to the words. `<sos>` (start of sequence) is there so that the first word can be asked for, `<eos>` (end of sequence) so that the
# model can say that the text is over: without it as a target, a model never learns to stop.
#
# Here are the reviews of the course, invented ones with the words of real ones. What cuts a text into tokens and numbers them is a *tokenizer*;
# ours takes whole words, most take *subwords*, pieces of words (notebook 14).

# %% experiment
# @title The reviews, and a sentence as token numbers
corpus = load("reviews_fr")
vocabulary = Vocabulary.learn(corpus["unlabelled"]["text"], min_count=3)
V, D = len(vocabulary), 48  # words, width of our small model

text = "Je le garde"
print(f"{len(corpus['unlabelled']):,} reviews without a label, {len(corpus.train)} with one; {V} words")
print(text, "->", vocabulary.encode(text), f"  (<sos> is {SOS}, <eos> is {EOS}, <pad> is {PAD})")

# %% [markdown]
# By hand: which four numbers does the model read of *Je le garde*, and which four must it say?

# %% by_hand
by_hand("lm_pair", [
    [..., ..., ..., ...],  # the input
    [..., ..., ..., ...],  # the target
])

# %% [markdown]
# | position | 0 | 1 | 2 | 3 |
# |---|---|---|---|---|
# | **input**: the model has read up to | `<sos>`, 1 | je, 17 | le, 8 | garde, 704 |
# | **target**: and must say | je, 17 | le, 8 | garde, 704 | `<eos>`, 2 |
#
# ### A mistake worth making once
#
# What if nobody shifts? Input and target are then the same list, and the loss looks wonderful. Read what such a model writes. (`Batches(..., 2048)` packs reviews into
# batches of at most 2,048 tokens, padding included.)

# %% measured
# @title A language model whose target is its input: the loss
sample = Split("reviews_fr/sample", "train", corpus["unlabelled"].rows.sample(600, random_state=0))


def same_twice(row: dict) -> Example:
    """Returns a review as input and, by mistake, as target."""
    tokens = [SOS, *vocabulary.encode(row["text"])]
    return Example(tokens, tokens)


def small_language_model(seed: int = 0) -> LanguageModel:
    """Returns a new language model of width D with two layers."""
    torch.manual_seed(seed)
    return LanguageModel(TransformerBase(V, d_model=D, n_layers=2, n_heads=2))


cpu = torch.device("cpu")  # our models are so small that a graphics card would not help
copying_model = small_language_model()
history = train(copying_model, Batches(sample, same_twice, 2048), "language_model",
                epochs=2, learning_rate=1e-2, device=cpu, log_every=6)
print("loss:", history["loss"].round(1).tolist())

# %% measured
# @title What the model without a shift writes
@torch.no_grad()
def continued(model: LanguageModel, text: str, words: int = 10) -> str:
    """Returns the text with the most probable next words."""
    tokens = [SOS, *vocabulary.encode(text)]
    model.eval()
    while words and tokens[-1] != EOS:
        tokens.append(int(model(torch.tensor([tokens]))[0, -1].argmax()))
        words -= 1
    return vocabulary.decode(tokens)


print("the model without a shift writes:", continued(copying_model, "ce roman est"))

# %% [markdown]
# The loss falls to nearly nothing, and the model has learned to repeat what it has just read: the target was the input. (In notebook 01 such a loss came from a missing mask. Here the mask is in its place, and the *target* is wrong.)
#
# ### Exercise: the pair
#
# `tokens` is a list of numbers without special tokens, as `vocabulary.encode` gives it. Write the two lists one below the other: under each number must stand the one that
# *follows* it.

# %% exercise="lm_pair"
def lm_pair(tokens: list[int]) -> tuple[list[int], list[int]]:
    """Returns what a language model reads, and what it must say at each position.

    Args:
        tokens: the n words of a text as numbers, without special tokens; n may be 0.

    Returns:
        The input, `<sos>` and the words, and the target, the words and `<eos>`:
        two new lists of n + 1 numbers.

    Example: lm_pair([7, 5, 9]) is ([SOS, 7, 5, 9], [7, 5, 9, EOS]).
    """
    ### BEGIN SOLUTION
    return [SOS, *tokens], [*tokens, EOS]
    ### END SOLUTION


# %% [markdown]
# With your pairs, we train the language model that the rest of this notebook builds on. It is small (two layers of width 48) and reads 3,000 reviews
# once, which takes a few seconds.

# %% measured
# @title The language model learns, and writes
def encode_pair(row: dict) -> Example:
    """Returns a review as the input and target of a language model."""
    return Example(*lm_pair(vocabulary.encode(row["text"])))


read_once = Split("reviews_fr/read", "train", corpus["unlabelled"].rows.sample(3000, random_state=0))
language_model = small_language_model()
history = train(language_model, Batches(read_once, encode_pair, 2048), "language_model",
                epochs=1, learning_rate=3e-3, device=cpu, log_every=20)
plots.show(
    plots.curves({"loss": history["loss"]}, history["step"].tolist(), title="The language model learns",
                 x_label="step", y_label="loss (nats per word)").figure,
    plots.describe_curves({"loss": history["loss"]}, history["step"].tolist(), "step", digits=2),
)
print("the model with the shift writes:", continued(language_model, "ce roman est"))

# %% [markdown]
# No poet, but it has seen which words follow each other in a review. That is what we want to keep. (Such a first training, on text without labels, is called *pretraining*.)
#
# ## 3. Many rows, one answer: which row?
#
# The base gives one hidden state for each token. The classifier needs one for each *text*. In a causal model the choice is easy to reason about: row $i$ has read tokens
# $0$ to $i$ and nothing else (notebook 01), so **only the last token has read the whole text**. That is also what GPT did for classification
# ([Radford et al. 2018](https://cdn.openai.com/research-covers/language-unsupervised/language_understanding_paper.pdf), section 3.2).
#
# "The last row" is then `hidden[:, -1]`, is it not? Look at a real batch first.

# %% experiment
# @title Eight reviews in one batch: words and padding
batches = Batches(corpus.train, for_classifier(vocabulary), token_budget=10**9, batch_size=8, grouped=False)
batch = next(iter(batches))
is_padding = batch.tokens == PAD  # (8, n)

figure, (axes,) = plots.panels(1, width=8.4, height=2.0)
axes.imshow(~is_padding, cmap="Blues", vmin=-0.3, vmax=1.4, aspect="auto")
axes.set(title="Eight reviews in one batch: strong is a word, faint is padding",
         xlabel="position of the token", ylabel="review", yticks=range(8))
axes.axvspan(batch.tokens.shape[1] - 1.5, batch.tokens.shape[1] - 0.5,
             fill=False, edgecolor=plots.COLOURS[1], linewidth=2.5)
plots.show(figure, f"Eight rows of lengths {batch.lengths.tolist()}, padded to {batch.tokens.shape[1]}. "
           f"The last column is marked: it holds a word in {int((~is_padding[:, -1]).sum())} of 8 rows.")
print("lengths:", batch.lengths.tolist())

# %% [markdown]
# The framed column is what `hidden[:, -1]` takes. It is a word for the longest review and padding for the others. Over the whole corpus, in batches of eight:

# %% experiment
# @title How often the last row is padding, in batches of eight
for name in ("train", "valid", "test"):
    in_eights = Batches(corpus[name], for_classifier(vocabulary),
                        token_budget=10**9, batch_size=8, grouped=False)
    padded = [(one.tokens[:, -1] == PAD) for one in in_eights]  # (8,) for each batch
    print(f"{name}: the last row is padding for {torch.cat(padded).float().mean():.0%} "
          f"of {len(corpus[name])} reviews")

# %% [markdown]
# About seven of eight, as one would think: in each batch only the longest has a word there.
#
# ### Exercise: the last real token
#
# The padding stands on the right, and the lengths are known (they count `<sos>`, so none is 0).

# %% exercise="last_token"
def last_token(hidden: Tensor, lengths: Tensor) -> Tensor:
    """Returns the hidden state of the last real token of each text, `(b, d)`.

    Args:
        hidden: one hidden state for each token, `(b, n, d)`; those of the padding mean nothing.
        lengths: number of real tokens of each text, `(b,)`, from 1 to n; the padding stands on the right.

    Gradients must pass through it. Example: with lengths [2, 3], the result holds hidden[0, 1] and
    hidden[1, 2].
    """
    ### BEGIN SOLUTION
    texts = torch.arange(len(hidden), device=hidden.device)  # (b,)
    return hidden[texts, lengths - 1]  # (b, d), one position for each text
    ### END SOLUTION


# %% [markdown]
# Two other rules to compare with: the mistake, and a rule that is often used, the mean over the real tokens.

# %% experiment open=true
def last_row(hidden: Tensor, lengths: Tensor) -> Tensor:
    """Returns the last row of the batch, `(b, d)`."""
    return hidden[:, -1]


def mean_of_tokens(hidden: Tensor, lengths: Tensor) -> Tensor:
    """Returns the mean of the real rows, `(b, d)`."""
    real = torch.arange(hidden.shape[1], device=hidden.device) < lengths.unsqueeze(1)  # (b, n)
    return (hidden * real.unsqueeze(-1)).sum(dim=1) / lengths.unsqueeze(1)


# %% [markdown]
# Move the slider with the mouse or with the arrow keys: it sets the length of one review in a batch that is twelve tokens wide. Each row of the picture is a rule, and its numbers say
# how much of each hidden state the rule takes. The middle row is your function. Watch the upper one while the review gets shorter.

# %% interactive
# @title What each of three rules takes of a review: move the slider
from ipywidgets import IntSlider, interact


def show_rules(length: int) -> None:
    """Draws how much of each row the three rules take, for a review of `length` tokens."""
    review = ["<sos>", *vocabulary.split("Ce roman est long, mais je le relirai !")][:length]
    # (1, 12, 12): row i has a 1 at i, so a rule's result shows what it takes
    hidden = torch.eye(12).unsqueeze(0)
    taken = [rule(hidden, torch.tensor([length]))[0] for rule in (last_row, last_token, mean_of_tokens)]
    figure, (axes,) = plots.panels(1, width=8.4, height=2.4)
    plots.matrix(torch.stack(taken), f"What each rule takes of a review of {length} tokens",
                 rows=["last row", "last real token", "mean"], columns=review + ["<pad>"] * (12 - length),
                 row_label="", column_label="token", digits=2, axes=axes, limits=(0, 1))
    plots.show(figure, f"Of {length} tokens and {12 - length} paddings, the last row takes position 11, "
               f"your function position {int(taken[1].argmax())}, "
               f"the mean takes {float(taken[2].max()):.2f} of each real token.")


interact(show_rules,
         length=IntSlider(value=6, min=1, max=11, description="length", continuous_update=False));

# %% experiment
# @title The same picture for those who only read: a review of six tokens
show_rules(6)

# %% [markdown]
# Is a padded row really so bad? It is not empty: the `<pad>` at the end attends to the whole review before it. But its embedding was never trained: in the language model's batches
# the padding stands on the right, where no word looks, and it is never a target.
#
# And *how many* paddings stand before that last `<pad>` depends on the other reviews in the batch. So the same review gets another hidden state when it shares its batch with others.

# %% experiment
# @title Is a review's row the same alone and in a batch?
review = batch.tokens[:1, : batch.lengths[0]]  # (1, n), the first review of the batch, alone
language_model.eval()
with torch.no_grad():
    alone = language_model.base(review)  # (1, n, d)
    together = language_model.base(batch.tokens)[:1]  # (1, width of the batch, d)

length = batch.lengths[:1]
print("last real token, the same alone and in the batch:",
      torch.allclose(last_token(alone, length), last_token(together, length), atol=1e-4))
print("last row, the same alone and in the batch:       ",
      torch.allclose(last_row(alone, length), last_row(together, length), atol=1e-4))

# %% [markdown]
# ## 4. A new head
#
# Now the operation itself. The shortest way to write it is one line, and it is wrong twice. We make the mistake on a copy, to keep the original.

# %% experiment open=true
victim = copy.deepcopy(language_model)
victim.head = nn.Linear(D, 2)  # the tempting line
print("output for a batch of 8:", tuple(victim(batch.tokens).shape))

# %% [markdown]
# - The output is `(8, n, 2)`: still one answer for each *token*. `LanguageModel` does not know that it should look at one row only. That is what `Classifier` in
#   `helpers/models.py` is for: open it, it is fifteen lines.
# - The language model no longer exists. Its parameters for word scores are gone (ten million at full size), and every other variable that holds this model now holds one without them. A function
#   that changes what it was given is among the most expensive mistakes there are, because nothing happens where the mistake is.
#
# There is a subtler form. `Classifier(model.base, 2)` leaves the old head alone, but the base is the *same object* in both models. Train the classifier, and the language
# model changes with it. You will see the damage after the exercise.
#
# ### Exercise: the swap
#
# (Two words of the text below. The *make* of a base: its layers, heads, positions, mask, and the function in its feed-forward networks. A *frozen* parameter is one that does not train,
# see section 6.)

# %% exercise="replace_head"
def replace_head(model: LanguageModel, n_classes: int) -> Classifier:
    """Returns a classifier with the base of a language model and a new head.

    Args:
        model: has `model.base` (a TransformerBase) and `model.head`, nothing of it frozen. It is left
            as it was, its mode of training included, and nothing that later happens to the
            classifier, such as training, may change it.
        n_classes: number of outputs of the new head.

    Returns:
        A `Classifier` of helpers.models. Its base gives the same hidden states as the model's,
        of whatever make that base is; its head is new. Everything in it can learn, and stands on the
        device of the model; it may be in training mode or in evaluation mode.
    """
    ### BEGIN SOLUTION
    base = copy.deepcopy(model.base)  # weights and make, in memory of its own
    return Classifier(base, n_classes)
    ### END SOLUTION


# %% [markdown]
# Here is the damage. We train two classifiers on a few reviews: one that shares its base with the language model, one made by you. Afterwards we measure how
# surprised the *language model* is by reviews it has not read: its *perplexity* says among how many equally likely words it seems to choose, and lower is better.
#
# How many times as large as before will the perplexity be after a classifier with a *shared* base has trained? (1 means that it stays the same.)

# %% guess
guess("how many times as large the perplexity is, once a shared base has trained", ...)

# %% measured
# @title The language model's perplexity before and after two classifiers
few_labels = Batches(corpus.train, for_classifier(vocabulary), token_budget=1024)
unread = Split("reviews_fr/unread", "valid",
               corpus["unlabelled"].rows.drop(read_once.rows.index).sample(200, random_state=1))


def perplexity_after_training(model: LanguageModel, classifier: Classifier) -> float:
    """Trains the classifier and returns the perplexity of the language model afterwards."""
    train(classifier, few_labels, "classifier", epochs=6, learning_rate=3e-3, device=cpu)
    return evaluate(model, Batches(unread, encode_pair), "language_model")["perplexity"]


before = evaluate(language_model, Batches(unread, encode_pair), "language_model")["perplexity"]
lender = copy.deepcopy(language_model)
print(f"perplexity of the language model before:          {before:.0f}")
print("after a classifier with its own base has trained: "
      f"{perplexity_after_training(language_model, replace_head(language_model, 2)):.0f}")
print("after a classifier with a shared base has trained: "
      f"{perplexity_after_training(lender, Classifier(lender.base, 2)):.0f}")

# %% reveal
reveal(
    "how many times as large the perplexity is, once a shared base has trained",
    lambda: evaluate(lender, Batches(unread, encode_pair), "language_model")["perplexity"] / before,
)

# %% [markdown]
# With a shared base the language model is spoiled, and no line of your program mentions it.
#
# > **Go further: the same swap, for pictures.** Nothing in a base needs words. A *Vision Transformer* ([Dosovitskiy et al. 2021](https://arxiv.org/abs/2010.11929), section 3.1) cuts a picture into patches of $16 \times 16$ pixels. A patch is $16 \cdot 16 \cdot 3 = 768$ numbers (three colours), which one linear layer turns into a token of width $D$.
# > A picture of $224 \times 224$ pixels becomes $14 \cdot 14 = 196$ tokens, with learned positions, and an encoder without a causal mask reads them.
# >
# > It is pretrained to name what is seen; for another task its head is taken off and a new one, $D$ to $C$, put on (section 3.2): your `replace_head`. (The head reads one token more, which stands before the patches and belongs to none.)

# %% [markdown] pause
# You have made a classifier of a language model: it reads the right row, and its base is its own. Next you load a base from a file, freeze it, and see in an experiment which row is best.

# %% [markdown]
# ## 5. Loading a base
#
# Usually the language model is not in the same program. It was trained elsewhere, for days, and comes as a **checkpoint**: a file with a dict of names and tensors, which torch calls
# a *state dict*. These are some of its entries.

# %% experiment
# @title Some entries of a checkpoint: names and shapes
checkpoint = language_model.state_dict()
for name in [*list(checkpoint)[:3], *list(checkpoint)[-2:]]:
    print(f"{name:36} {tuple(checkpoint[name].shape)}")

# %% [markdown]
# The names are paths: the model's `base`, in it the `embedding`, in it the `weight`. A classifier has the same base under the same names, and a head of another shape. So
# `classifier.load_state_dict(checkpoint)` complains about the head. Many people then find the argument `strict=False` ("do not insist"), load the base alone, and the error goes away:

# %% experiment open=true
torch.manual_seed(1)
classifier = Classifier(TransformerBase(V, d_model=D, n_layers=2, n_heads=2), n_classes=2)
before = copy.deepcopy(classifier.base.state_dict())

answer = classifier.base.load_state_dict(checkpoint, strict=False)  # no error!

changed = [name for name, weight in classifier.base.state_dict().items()
           if not torch.equal(weight, before[name])]
print("weights of the base that have changed:", len(changed), "of", len(before))
print("names that were not found, for example:", answer.missing_keys[0])
print("names that nobody wanted, for example: ", answer.unexpected_keys[0])

# %% [markdown]
# **Nothing was loaded.** The base calls its weight `embedding.weight`, the checkpoint calls it `base.embedding.weight`; no name fits, and `strict=False` turns all of that into
# silence. The model trains afterwards, from random numbers, and its owner concludes that pretraining does not help.
#
# A second trap: `load_state_dict` copies whatever fits *before* it raises its error about the rest. A program that catches the error goes on with a model
# that is half old and half new.
#
# ### Exercise: load the base, or say why not
#
# The rule is simple: compare **first** (the names on both sides, then the shapes), and load only when all of it fits. An error message is for a person: a good one says in
# one sentence what was found and what was expected (of yours the check only wants to see that it says something). `name.removeprefix("base.")` takes a prefix off.

# %% exercise="load_base"
def load_base(model: Classifier, checkpoint: dict[str, Tensor]) -> Classifier:
    """Returns the model with the base weights of a language model's checkpoint; its head is left alone.

    Args:
        model: has `model.base` and `model.head`; it may be changed in place, or a changed copy be returned.
        checkpoint: the state dict of a language model: names that begin with `base.` and with `head.`.
            It stays as it is, and shares no memory with the model; it may stand on another device.

    Raises:
        ValueError: when names or shapes of the checkpoint's base are not exactly those of the model's
            (a layer too few or too many, another width, another name, names without `base.`). The
            order of the names does not count.
            The model is then as it was before.
    """
    ### BEGIN SOLUTION
    wanted = model.base.state_dict()
    given = {name.removeprefix("base."): weight
             for name, weight in checkpoint.items() if name.startswith("base.")}
    unpaired = sorted(wanted.keys() ^ given.keys())
    if unpaired:
        where = "model" if unpaired[0] in wanted else "checkpoint"
        raise ValueError(f"the base does not fit: {len(unpaired)} names are on one side only, "
                         f"such as {unpaired[0]} of the {where}")
    for name, weight in given.items():
        if weight.shape != wanted[name].shape:
            raise ValueError(f"the base does not fit: {name} has shape {tuple(weight.shape)}, "
                             f"expected {tuple(wanted[name].shape)}")
    model.base.load_state_dict(given)  # copies the numbers
    return model
    ### END SOLUTION


# %% [markdown]
# First the proof that something was loaded: classifier and language model now compute the same hidden states. Then three checkpoints that do not fit, and what your function says about them. Would
# *you* know what to do after reading each sentence?

# %% experiment
# @title Was the base loaded, and what does your function say of three others?
loaded = load_base(classifier, checkpoint).eval()
with torch.no_grad():
    same = torch.allclose(loaded.base(batch.tokens, batch.lengths),
                          language_model.base(batch.tokens, batch.lengths))
print("the same hidden states as the language model:", same)

misfits = {
    "three layers": LanguageModel(TransformerBase(V, d_model=D, n_layers=3, n_heads=2)).state_dict(),
    "width 32": LanguageModel(TransformerBase(V, d_model=32, n_layers=2, n_heads=2)).state_dict(),
    "no prefix": language_model.base.state_dict(),
}
for name, state in misfits.items():
    try:
        load_base(classifier, state)
        print(f"{name}: no error")
    except ValueError as problem:
        print(f"{name}: {problem}")

# %% [markdown]
# ## 6. Freezing the base
#
# With few labels one may decide to train the new head *only*: the base is **frozen**. (To read a frozen base with a linear layer is called *linear probing*.) That saves time and memory, since the base needs no gradients. The base cannot forget what it
# has read, and it cannot adapt either.
#
# In torch a parameter learns if its flag `requires_grad` is True. Parameters have the flag; a module has none, and Python
# does not mind:

# %% experiment open=true
attempt = replace_head(language_model, 2)
attempt.base.requires_grad = False  # makes a new attribute that nobody ever reads

print("parameters that still learn:", count(attempt, trainable_only=True), "of", count(attempt))

# %% [markdown]
# ### Exercise: freeze
#
# All of the base, nothing of the head. Layer norms count (they have parameters too), and so do positions in models that learn them: do not list the parts, ask the base for
# *its parameters*.

# %% exercise="freeze_base"
def freeze_base(model: Classifier) -> Classifier:
    """Returns the model with all parameters of `model.base` frozen; those of `model.head` learn.

    The model may be changed in place, or a changed copy be returned. No weight changes its value.
    Parts of the base may be frozen already; the head is not.
    """
    ### BEGIN SOLUTION
    for parameter in model.base.parameters():
        parameter.requires_grad = False
    return model
    ### END SOLUTION


# %% [markdown]
# Back to the numbers of section 1. This is the classifier of the full-size run: $V = 50\,001$, $D = 200$, four layers, two heads.

# %% experiment
# @title How many parameters learn in the full-size classifier
large = Classifier(TransformerBase(50_001, d_model=200, n_layers=4, n_heads=2), n_classes=2)
print(f"everything learns: {count(large, trainable_only=True):>10,} parameters")
print(f"the base is frozen: {count(freeze_base(large), trainable_only=True):>9,} parameters")

# %% [markdown]
# ### See it move
#
# Flags are promises. Let us look at what happens: train the same classifier twice for one pass over the reviews, once free and once frozen. For every part, measure
# how far its parameters have moved (the length of the difference between after and before).

# %% measured
# @title How far each part moves in one pass, free and frozen
def movement(model: Classifier) -> dict[str, float]:
    """Trains for one pass and returns how far the parameters of each part have moved."""
    before = copy.deepcopy(model.state_dict())
    train(model, few_labels, "classifier", epochs=1, device=cpu, progress=False)
    squares: dict[str, float] = {}
    for name, weight in model.state_dict().items():
        part = name.rpartition(".")[0]  # weight and bias of one part together
        squares[part] = squares.get(part, 0.0) + float((weight - before[name]).square().sum())
    return {part: square**0.5 for part, square in squares.items()}


torch.manual_seed(0)
fresh = replace_head(language_model, 2)
free, frozen = movement(copy.deepcopy(fresh)), movement(freeze_base(copy.deepcopy(fresh)))

figure, both = plots.panels(2, width=4.2, height=4.6)
for axes, title, moved in zip(both, ("everything learns", "the base is frozen"), (free, frozen)):
    axes.barh(list(moved), list(moved.values()), color=[plots.COLOURS["head" in part] for part in moved])
    axes.set(title=title, xlabel="distance moved in one pass",
             xlim=(0, 1.05 * max([*free.values(), *frozen.values()])))
    axes.invert_yaxis()
both[1].set_yticks([])
moving = [sum(value > 0 for value in moved.values()) for moved in (free, frozen)]
plots.show(figure, "Bars, one for each part of the model. Left, everything learns: "
           f"{moving[0]} of {len(free)} parts move. Right, frozen base: {moving[1]} part moves, the head.")

# %% [markdown]
# On the right everything but the head stands still: not "moves little", but exactly 0. On the left all parts move, the embedding furthest, because it is by far the largest. That is the freedom
# that makes a model fit the new task better, and the freedom to forget.
#
# ## 7. Which row is best? An experiment
#
# To make one state of many is called *pooling*. Three rules to choose from: the last row of the batch, the last real token, the mean of the real tokens.
#
# So that only the rule differs, all else is the same for the three: the base, 200 labelled reviews to learn from and 100 others to be tested on, batches of eight, the start of the head.
# Everything learns. Since 100 reviews are few and chance is large, we repeat all of it with five seeds, each with its own cut into 200 and 100. (It takes up to a minute.)
#
# In which order do you expect the three rules after five passes? Write the three names as a list, each in quotation marks, all in square brackets, the best first. And how far will the best be
# ahead of the worst? (0.1 means ten of a hundred reviews.)

# %% guess
guess("the rules, the best first", ..., among=["last row", "last real token", "mean of the real tokens"])

# %% guess
guess("how far the accuracy of the best rule is above that of the worst", ...)

# %% measured
# @title The training, with three rules and five seeds
import sys

from tqdm import tqdm

RULES = {"last row": last_row, "last real token": last_token, "mean of the real tokens": mean_of_tokens}


def score_with(rule):
    """Returns what `train` needs to score a classifier that reads its row by this rule."""
    return lambda model, batch: (model.head(rule(model.base(batch.tokens, batch.lengths), batch.lengths)),
                                 batch.target)


def learning_curve(rule, seed: int, epochs: int = 5) -> tuple[Classifier, Split, list[float]]:
    """Trains on 200 reviews and returns the model, the other 100 reviews,
    and the accuracy on them after each epoch."""
    mixed = corpus.train.rows.sample(frac=1, random_state=seed)
    learn, held_out = (Split("reviews_fr/cut", role, rows.reset_index(drop=True))
                       for role, rows in (("train", mixed[:200]), ("valid", mixed[200:])))
    torch.manual_seed(seed)
    model, encode, score = replace_head(language_model, 2), for_classifier(vocabulary), score_with(rule)
    eights = {"token_budget": 10**9, "batch_size": 8, "grouped": False}
    tested = Batches(held_out, encode, **eights)
    history = train(model, Batches(learn, encode, **eights, seed=seed), score,
                    epochs=epochs, seed=seed, device=cpu, progress=False,
                    after_epoch=lambda: {"held_out": evaluate(model, tested, score)["accuracy"]})
    return model, held_out, history["held_out"].tolist()


seeds = range(5)
runs = {name: [learning_curve(RULES[name], seed) for seed in seeds]
        for name in tqdm(RULES, unit="rule", file=sys.stdout)}

# %% measured
# @title Accuracy on reviews the model has not seen, for three rules
curves = {name: [curve for _, _, curve in found] for name, found in runs.items()}  # (seeds, epochs) each
epochs = range(1, 6)
axes = plots.curves(curves, epochs, title="Reviews the model has not seen: mean and range of five seeds",
                    x_label="passes over 200 reviews", y_label="accuracy")
axes.set(ylim=(0.3, 1.0), xticks=list(epochs))
axes.axhline(0.5, color="#555555", linestyle=":", label="a coin")
for part in (axes.lines[2], axes.collections[2]):
    part.set_color(plots.COLOURS[3])  # not a second blue: the bands overlap
axes.legend(loc="lower right")
last = {name: [curve[-1] for curve in found] for name, found in curves.items()}
ranges = "; ".join(f"{name} {min(values):.2f} to {max(values):.2f}" for name, values in last.items())
plots.show(axes.figure, plots.describe_curves(curves, epochs, "pass", digits=2)
           + f" Range of the seeds at the last pass: {ranges}.")
for name, values in curves.items():
    print(f"{name:24}", "  ".join(f"{value:.2f}" for value in torch.tensor(values).mean(dim=0).tolist()))
for better, worse in (("last real token", "last row"), ("last row", "mean of the real tokens")):
    ahead = (torch.tensor(curves[better]) > torch.tensor(curves[worse])).sum(dim=0).tolist()
    print(f"{better} ahead of {worse}, in how many of five seeds, by pass: {ahead}")

# %% reveal
means = {name: sum(values) / len(values) for name, values in last.items()}  # after the last pass
reveal("the rules, the best first", sorted(means, key=means.get, reverse=True))

# %% reveal
reveal("how far the accuracy of the best rule is above that of the worst",
       max(means.values()) - min(means.values()))

# %% [markdown]
# The bands overlap, so no single number, and not every order, can be trusted: look for what all five seeds do alike. Within a seed only the rule differs, and the last two lines compare seed by seed.
#
# - **The last real token learns fastest**: compare the second and the third pass. Its row has read everything, and it is of the kind that the base was pretrained on.
# - **The last row needs more passes.** It stands on a `<pad>` that the base has never learned from, and training has first to teach the base what that is. In the end it gets there, because the padding, too, can attend to the
#   whole review. That is why the mistake survives in so much code: nothing breaks.
# - **The mean ends lowest**: 0.89 in our run after the fifth pass, against 0.93 and 0.95, though it is ahead of the last row at the second. From the third pass on it is below the last row in all five seeds, which is a hint and no proof.
#
# A reason why the mean may be worse is at hand: in a causal model most rows have read only a part of the review, and all of them count the same. (In a model that reads both sides, notebook 07, every row has read everything, and the
# mean is a good rule.)
#
# There is one more difference, and no accuracy shows it. Ask each trained model twice for the class of the same 100 reviews: once in batches of eight, and once each review alone.

# %% measured
# @title How many answers change with the other reviews in the batch
@torch.no_grad()
def classes(model: Classifier, rule, split: Split, together: int) -> Tensor:
    """Returns the class of each review when `together` reviews share a batch, `(reviews,)`."""
    model.eval()
    batches = Batches(split, for_classifier(vocabulary),
                      token_budget=10**9, batch_size=together, grouped=False)
    return torch.cat([model.head(rule(model.base(b.tokens, b.lengths), b.lengths)).argmax(dim=-1)
                      for b in batches])


for name, found in runs.items():
    changed = [int((classes(model, RULES[name], split, 8) != classes(model, RULES[name], split, 1)).sum())
               for model, split, _ in found]
    print(f"{name:24} answers out of 100 that change with the batch, for each seed: {changed}")

# %% [markdown]
# With the last row, what the model thinks of a review depends on which other reviews happen to be in the batch. Such a model cannot be trusted even where its accuracy is good: run it again in another order, and it
# contradicts itself. The other two rules give the same answer in any batch.
#
# ## 8. Essay
#
# In at most twelve lines, in English or in French: **why must the head of the language model go? What changes in the output and in the target, what stays, and what may go wrong on the way?** Use shapes, and at least one number of this notebook.

# %% [markdown] essay="head_essay"
# **Rubric** (3 points in all)
#
# - *Why* (1; half of it without any number of the notebook): the old head answers another question: $V$ scores at every position, "which word comes next". No row of it stands for a class, and it is large ($V \cdot D + V$: ten million numbers against 402
#   at $D = 200$, $C = 2$), so with few labels it could not be learned anew.
# - *Output and target* (1; half for each, with shapes): from `(b, n, V)` to `(b, C)`, hence one row of each text must be chosen (the last real one, which in a causal model has read everything); the target goes from the text itself, shifted by one, `(b, n)`,
#   to one label for each text, `(b,)`: labels cost work, the next word is free.
# - *What stays* (0.5): the base with its weights, that is, what was learned from text without labels; it may be frozen (402 parameters learn) or trained on.
# - *What may go wrong* (0.5): any one, with its reason: last row is padding; base re-initialised or not loaded (`strict=False`); base shared with the old model; norms or embedding not frozen.
#
# **Misconceptions that cost marks**: "the head must go because its weights are not trained" (they are, for words); "the classifier is trained on the next word too"; "freezing makes the model smaller" (only fewer numbers learn); "the last row is
# the last token"; "a model with a frozen base cannot learn". The remark that one *could* keep the head and compare the scores of two words such as *bon* and *mauvais* is right and earns full marks for *why* if the difference is explained.
#
# **Answers as students write them**
#
# - *Full marks (3 of 3)*: "The old head answers "which word comes next" with V scores at each position; no row of it means *good* or *bad*. It is also
#   large: 10,050,201 parameters for 50,001 words at D = 200, against 402 for two classes, so 300 labels could not teach it anew. The output goes from
#   (b, n, V) to (b, C), so one row must be taken, the last real one, which has read the whole text. The target was the text itself, shifted by one,
#   (b, n), and free; now it is one label for each text, (b,), which somebody has to write. The base stays with all that it has learned from
#   unlabelled text, and may be frozen or trained on. What may go wrong: taking the last row, which is padding for 86 % of the training reviews, so
#   that the answer changes with the other reviews in the batch." Why: *why* (1), *output and target* (1), *what stays* (0.5), *what may go wrong* (0.5),
#   with shapes and numbers.
# - *Half (1.5 of 3)*: "The head of the language model gives a score to each word of the vocabulary, and we do not want a word but a class, so no row
#   of it fits. It also has ten million parameters at D = 200, against 402 for the new one, too many for a few labels. So the output becomes (b, C) in
#   place of (b, n, V): we take the last row, because it is the last token and has read everything. The classifier is still trained on the next word,
#   and the label is the next word after the review. The base is thrown away with the head and made anew." Why: *why* in full (1); of *output and
#   target* the output with its shapes (0.5). The target is lost by two misconceptions (the last row is the last token; the classifier is trained on
#   the next word). *What stays* is wrong and *what may go wrong* is missing (0.5 + 0.5 lost).
# - *No marks (0 of 3)*: "The head must go because its weights are not trained yet, and a classifier needs trained weights. Freezing makes the model
#   much smaller: 402 parameters in place of 10,968,602. The output changes from words to classes, and the target changes as well. What stays is the
#   model, but a model with a frozen base cannot learn." Why: "the output changes", "what stays is the model": the question said again, without a
#   shape and without a word on what the base has learned. The head *is* trained, for words; freezing does not make the model smaller; a frozen base
#   does not keep the head from learning. Three misconceptions, and no line is met.

# %% [markdown] questions
# ## Three questions
#
# For yourself: open an answer to see whether it is right.
#
# 1. Why does a classifier need another head than the language model that it is made of?
#    - The weights of the old head have not been trained. => They have, for words: each of its rows scores one word of the vocabulary.
#    - The old head reads the next word, which the classifier no longer sees. => No head sees the next word: it reads hidden states, here as there.
#    + The old head answers another question, at every position. => It scores $V$ words for each token; what is wanted are $C$ scores for the whole text.
# 2. Which row of `hidden`, of shape `(b, n, d)`, should a classifier read in a causal model?
#    - The last row of the batch, `hidden[:, -1]`, since the last token has read everything. => For most texts of a padded batch that row is padding.
#    + The row `lengths - 1` of each text. => That is the last real token, the only one that has read all of the text and nothing else.
#    - The first row, where `<sos>` stands for the text. => With a causal mask `<sos>` has seen nothing but itself.
# 3. The base is frozen, so 402 parameters learn. What has become of the model?
#    + It is as large as before; fewer parameters change. => The base still computes all hidden states, and only the head adapts to the labels.
#    - It is much smaller, with 402 parameters in place of eleven million. => All of them are still there, and all are used.
#    - It can no longer learn anything new. => The head learns, from the states that the base gives it.

# %% [markdown]
# ## What to remember
#
# - A language model reads `<sos> A B C` and must say `A B C <eos>`. If the loss is wonderful, look at the shift.
# - In a causal model only the **last real token** has read the whole text. In batches of eight, the last *row* is padding for about seven of eight.
# - A new head belongs on a **copy** of the base; a function should leave what it was given as it was.
# - `strict=False` is silent. Compare names and shapes first, load then, and look at what has changed.
# - Freezing is a flag of *parameters*. `model.base.requires_grad_(False)`, a method (mind the underscore), sets it for each of them; `model.base.requires_grad = False` sets none. With a frozen base, 402 parameters learn at $D = 200$, $C = 2$. Count what still learns before you train.
#
# **Go further.** Between "everything learns" and "only the head learns" there is a way: let the head learn first, then unfreeze the layers one by one from the top (*gradual unfreezing*, [Howard and Ruder 2018](https://arxiv.org/abs/1801.06146),
# section 3.3). Write `unfreeze_top(model, n_layers)` and find out with the experiment of section 7 whether it helps with 50 labels. Notebook 05 counts every parameter of these models; notebook 06 runs the large comparison: scratch, pretrained, frozen.

# %% [markdown]
# ## What others call it
#
# - **transfer learning**: what was learned on one task is the start of another.
# - **fine-tuning**: training a pretrained model on, with the labels of the new task.
# - **backbone** (also *base*, *encoder*): the model without its head.
# - **linear probing**: training only a linear head on a frozen backbone.
# - **tokenizer**: what cuts a text into tokens and gives them their numbers.
# - **subword**: a token that is a piece of a word.
# - **pooling**: making one state of many, such as *last-token pooling* and *mean pooling*.
# - **checkpoint**: a file with the weights of a model; in torch a *state dict* of names and tensors.
# - **Vision Transformer** (also *ViT*): a Transformer whose tokens are patches of a picture.
#
# **The short route** of six notebooks goes on with 06.

# %% experiment open=true
from tutor import progress

progress()
