# ---
# jupyter:
#   course:
#     teaches: "what a really pretrained encoder brings, on few labels, and how it is made small"
#     part: pretraining
#     column: 1
#     row: 4
#     builds_on: ["07"]
#     running: 2
#     questions:
#       - What is a real encoder worth?
#       - How does one sentence find another one in a second language?
#       - How few labels are enough, and how do I know?
#       - Can a small model learn from a large one?
#       - What is in a file of weights, and what do a few bits cost?
#   jupytext:
#     notebook_metadata_filter: course
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 18 · Transfer, for real
#
# Notebooks 04, 06 and 07 transferred what small models had learned from invented reviews. Here the encoder is real: *multilingual-e5-small*, 118 million parameters, trained on a billion pairs of texts in many languages ([Wang et al. 2024](https://arxiv.org/abs/2402.05672)). You make vectors of texts, put a head on them, fine-tune, teach a small model, read the bytes of a file of weights, and find out which differences are more than chance.
#
# **When you are done, you can**
# - make one vector of a text, and find the texts that lie nearest, in another language too;
# - fit a head on frozen vectors, with a penalty chosen by validation, and say what labels are worth;
# - fine-tune with a learning rate for each depth, and measure what the model forgets;
# - train a small model on the outputs of a large one;
# - turn four or eight bits into values, and say what they cost;
# - say with an interval whether one model is better than another on a test set.
#
# **Time**: about 3 h. **Before this**: notebooks 04 (a new head), 06 (fine-tuning, seeds) and 07 (BERT).
#
# | exercise | what it asks | points |
# |---|---|---|
# | `mean_pool` | a text becomes one vector | 2 |
# | `nearest` | which texts lie nearest? | 2 |
# | `linear_probe` | a head on frozen vectors | 2.5 |
# | `layerwise_rates` | a learning rate for each depth | 2.5 |
# | `distillation_loss` | a small model learns from a large one | 3 |
# | `dequantise` | the bytes of a file become values | 3 |
# | `quantise` | one byte for each value | 2 |
# | `paired_bootstrap` | is a better than b? | 2 |
# | *essay* `plan_essay` | a plan for 200 labels | 2 |
# | **total** | | **21** |
#
# Folded cells are experiments: they compute and draw, one to two minutes in all, and no mark depends on them. Nothing is downloaded: the encoder's vectors of 1,120 texts come with the course.

# %% setup
import copy
import json
import math
from importlib.util import find_spec

import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers import plots
from helpers.corpora import load
from helpers.embedded import embedded
from helpers.first_model import load_first_model
from helpers.models import Classifier, LanguageModel
from helpers.real_vectors import load_real_vectors
from helpers.vocabulary import EOS, PAD, SOS
from tutor import by_hand, check, guess, hint, resume, reveal

real = load_real_vectors()  # what multilingual-e5-small made of texts, 384 values each
reviews = load("reviews_fr")
texts = {part: [reviews[part]["text"][row] for row in real.rows[part]] for part in real.reviews}
labels = {part: torch.tensor(reviews[part]["label"])[real.rows[part]] for part in real.reviews}

# %% [markdown]
# ## 1. A text becomes a vector
#
# The encoder is a BERT (notebook 07) of 12 layers and width 384. Of its 118 million parameters 96 million are the embeddings of 250,000 pieces of words in many languages. It gives one state of 384 values for each token. To compare whole texts we need one vector for each, the **sentence embedding**: here it is the mean of the states over the tokens, *mean pooling*. For this the encoder was trained: the means of two texts that belong together shall point in the same direction.
#
# **What is stored, and what is yours.** The states and vectors below are those of the real encoder, made once by `data/make_real_vectors.py`. (They were rounded to one byte a value, which section 5 is about; the encoder's own matrices had been rounded to 4 bits.) All that is done with them is done by your functions. What was measured once with a real encoder itself says *stored*.
#
# Here are four texts, read in one batch. The shorter ones end with padding, whose states are no zeros.
#
# > **The mistake first.** Take the mean over all positions of the batch. The similarity of two vectors is their **cosine**, $\frac{u \cdot v}{|u|\,|v|}$: 1 if they point in the same direction, 0 at a right angle.

# %% experiment
# @title The mistake: cosines when padding counts
def cosines_of(vectors: Tensor) -> pd.DataFrame:
    """Returns the cosine of each of the four texts with each."""
    unit = F.normalize(vectors, dim=1)
    names = [text if len(text) < 30 else text[:27] + "..." for text in real.texts]
    return pd.DataFrame((unit @ unit.T).numpy().round(3), index=names, columns=range(len(names)))


print("tokens of each text:", real.lengths.tolist(), "of", real.states.shape[1], "positions")
cosines_of(real.states.mean(dim=1))

# %% [markdown]
# ### By hand
#
# Two texts of 2 and 3 tokens, states of width 2: $\begin{pmatrix} 1 & 2 \\ 3 & 6 \\ 8 & 8 \end{pmatrix}$ and $\begin{pmatrix} 4 & 0 \\ 2 & 1 \\ 0 & 2 \end{pmatrix}$. Which vectors do they become?

# %% by_hand
by_hand("mean_pool", [[..., ...], [..., ...]])  # one vector for each text

# %% exercise="mean_pool"
def mean_pool(states: Tensor, lengths: Tensor) -> Tensor:
    """Returns the mean of each text's states over its tokens, `(b, d)`.

    Args:
        states: of the last layer, `(b, n, d)`, some may be zero; at padding stand any finite numbers.
        lengths: the number of tokens of each text, `(b,)`, at least 1; what stands behind is padding.
    """
    ### BEGIN SOLUTION
    is_token = torch.arange(states.shape[1], device=states.device) < lengths[:, None]  # (b, n)
    return (states * is_token[..., None]).sum(dim=1) / lengths[:, None]
    ### END SOLUTION


# %% experiment
# @title The same cosines, with your mean
pooled = mean_pool(real.states, real.lengths)
away = F.cosine_similarity(pooled, real.states.mean(dim=1), dim=1)
print("cosine of each text's own two vectors, right and wrong:", [round(x, 3) for x in away.tolist()])
cosines_of(pooled)

# %% [markdown]
# (By hand: $(2, 4)$ and $(2, 1)$; the row $(8, 8)$ is padding.)
#
# With padding in the mean, the short texts are more alike than they are: the *very good book* and the *livre très mauvais* (a very bad one) 0.90 in place of 0.87. Worse, the vector of a text depends on its neighbours in the batch. Here the wrong vectors of the short texts have cosines of 0.91 to 0.97 with the right ones; in another batch, with more or less padding, they would be others.
#
# The French praise and the English praise lie nearest to each other (0.96). *Très bon* and *très mauvais* are not far behind: both are short judgements of a book. **Do not read a cosine as a percentage**: even the late train has 0.73 and more with all of them. So it is with this encoder; only the order counts.
#
# ### Find the translation
#
# Take the vector of an English sentence, and among the vectors of 200 French ones that with the largest cosine. No dictionary is used, and no label.
#
# **By hand.** The query is $(1, 0)$, three texts have the vectors $(3, 4)$, $(0.8, 0.6)$ and $(6, -6)$, with the numbers 0, 1, 2. In which order do they come, the nearest first?

# %% by_hand
by_hand("nearest", [..., ..., ...])  # the numbers of the texts, the nearest first

# %% exercise="nearest"
def nearest(query: Tensor, states: Tensor, k: int) -> list[int]:
    """Returns the numbers of the `k` rows whose cosine with the query is largest, the largest first.

    Args:
        query: `(d,)`, not zero.
        states: here one vector for each text, as `mean_pool` makes it, `(n, d)`; none is zero, but their
            lengths may be anything, 0.001 or 100.
        k: from 1 to n.
    """
    ### BEGIN SOLUTION
    cosines = F.cosine_similarity(states, query[None], dim=1)  # (n,)
    return cosines.argsort(descending=True)[:k].tolist()
    ### END SOLUTION


# %% [markdown]
# (By hand: the cosines are 0.6, 0.8 and $\frac{1}{\sqrt 2} \approx 0.71$, so 1, 2, 0. By the product alone it would be 2, 0, 1.)
#
# The 200 pairs are from the translations of notebook 11: short sentences, many of them alike (*Who sees the pictures every day?*). How many of the 200 English sentences find their own translation first?

# %% guess
guess("English sentences of 200 that find their translation first", ...)

# %% experiment
# @title How many sentences find their translation, and what the others find
pairs = load("translation_en_fr").test
rows = real.rows["pairs"]
found = [nearest(vector, real.french, 3) for vector in real.english]
first = sum(three[0] == number for number, three in enumerate(found))
print(f"first: {first} of {len(found)}; among the first three:",
      sum(number in three for number, three in enumerate(found)))
for number, three in [(n, t) for n, t in enumerate(found) if t[0] != n][:4]:
    print(f"\n{pairs['en'][rows[number]]}\n  found  {pairs['fr'][rows[three[0]]]}"
          f"\n  wanted {pairs['fr'][rows[number]]}")

# %% reveal
reveal("English sentences of 200 that find their translation first", first)

# %% [markdown]
# Nearly all of them, and all among the first three, without one translated word. What is found wrongly is near in form or in meaning. This is how search engines find texts by what they say (*semantic search*), in other languages too. The vectors of all texts are made once; for a query only one more is needed.
#
# With the model itself you can look for a sentence of your own. `python -m helpers.weights fetch e5` in a terminal brings it (91 MB, MIT licence; it wants the packages `safetensors` and `tokenizers`). Without it, the cell says so, and nothing later needs it.

# %% experiment open=true
own = "My neighbour has lost her keys again."

# %% measured
# @title Yours, where the encoder has been fetched: the nearest French sentences to your own
from helpers.weights import find, is_here

if is_here("e5") and find_spec("safetensors") and find_spec("tokenizers"):
    from tokenizers import Tokenizer

    from helpers.weights import load as load_weights

    tokenizer = Tokenizer.from_file(str(find("e5") / "tokenizer.json"))
    tokens = torch.tensor([tokenizer.encode(f"query: {own}").ids])
    with torch.no_grad():
        vector = mean_pool(load_weights("e5")(tokens), torch.tensor([tokens.shape[1]]))[0]
    for number in nearest(vector, real.french, 3):
        print("yours:", pairs["fr"][rows[number]])
else:
    print("multilingual-e5-small is not here; the rest of the notebook uses its stored vectors.")

# %% [markdown]
# ## 2. A head on frozen vectors
#
# Now labels. A *linear probe* (notebook 04) is a head on frozen vectors, which no training changes: the **logit** of class 1 is $w \cdot x + b$. What is minimised is the mean cross-entropy over the texts plus a **penalty** on large weights, often called *weight decay* or *L2 regularisation*:
#
# $$ \frac1n \sum_{i=1}^n \text{cross-entropy}\big(\sigma(w \cdot x_i + b),\; y_i\big) \; + \; \lambda \sum_j w_j^2. $$
#
# With 384 weights and 20 texts, some $w$ separates the training texts without an error: without the penalty the loss falls for ever while the weights grow, and which solution you get depends on when you stop. With it there is exactly one smallest loss, and any optimizer that goes on long enough finds it. The bias is not penalised: it says how frequent a class is.

# %% exercise="linear_probe"
def linear_probe(features: Tensor, labels: Tensor, penalty: float) -> tuple[Tensor, Tensor]:
    """Returns the weights `(d,)` and the bias `()` that make the loss as small as it can be.

    The loss is the mean cross-entropy over the texts plus `penalty` times the sum of the squared
    weights. Three digits of the weights and the bias are enough; neither requires a gradient.

    Args:
        features: `(n, d)`, columns may differ in size; neither changed nor standardised; float32 or
            float64, and the results are of the same type.
        labels: integers 0 or 1, `(n,)`, both occur; `features @ weight + bias` is the logit of class 1.
        penalty: greater than 0.
    """
    ### BEGIN SOLUTION
    features, target = features.detach(), labels.to(features.dtype)
    weight = torch.zeros(features.shape[1], dtype=features.dtype, requires_grad=True)
    bias = torch.zeros((), dtype=features.dtype, requires_grad=True)
    optimizer = torch.optim.LBFGS([weight, bias], max_iter=300, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimizer.zero_grad()
        logits = features @ weight + bias  # (n,)
        loss = F.binary_cross_entropy_with_logits(logits, target) + penalty * (weight**2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    return weight.detach(), bias.detach()
    ### END SOLUTION


# %% [markdown]
# The task is that of notebook 06: the invented French reviews, of which only 300 are labelled. Remember what makes it hard: the words that judge in the test reviews are mostly *not* those of the labelled ones, so that who only counts words knows few of them. The encoder has never seen these reviews; but it has read French.
#
# First the penalty. Six values are tried with all 300 labels, and 100 validation reviews choose. What will the largest do to the training reviews?

# %% experiment
# @title The penalty, chosen by validation
middle = F.normalize(real.reviews["train"], dim=1).mean(dim=0)
features = {part: F.normalize(vectors, dim=1) - middle for part, vectors in real.reviews.items()}
PENALTIES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)


def is_right(probe: tuple[Tensor, Tensor], part: str) -> Tensor:
    """Returns which reviews of a part a probe sorts rightly, `(n,)`."""
    return (features[part] @ probe[0] + probe[1] > 0) == labels[part].bool()


def fitted(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the probe on training rows whose penalty is best in validation, of equals the largest."""
    probes = [linear_probe(features["train"][rows], labels["train"][rows], size) for size in PENALTIES]
    return max(reversed(probes), key=lambda probe: is_right(probe, "valid").sum().item())


for size in PENALTIES:
    probe = linear_probe(features["train"], labels["train"], size)
    in_training, in_validation = (is_right(probe, part).float().mean() for part in ("train", "valid"))
    print(f"penalty {size:7.0e}  length of the weights {probe[0].norm():7.1f}  "
          f"right in training {in_training:.1%}, in validation {in_validation:.1%}")

# %% [markdown]
# The small penalties fit all training reviews, with weights that are five and more times as long, and are a little worse in validation; the larger ones find nearly the same probe. 100 reviews do not tell 97 % from 98 %, so nothing hangs on the exact value here. Even with 0.1, where the weights are short, as many reviews are sorted rightly: for the sign of a logit only the direction of the weights counts, and the bias.
#
# Now **label efficiency**: accuracy by the number of labels, five draws for each. Naive Bayes, which counts words, stands beside it, with the same labels. (Each draw chooses its penalty by the same 100 validation reviews, so that with 20 labels we really use 120; one who has only 20 uses cross-validation within them.)
#
# With how many labels does the frozen encoder pass what naive Bayes has with all 300?

# %% guess
guess("labels with which the probe passes naive Bayes with 300", ..., among=[10, 20, 50, 100, 300])

# %% experiment
# @title Label efficiency: the frozen encoder and naive Bayes
vocabulary = load_first_model()[1]


def counts_of(some: list[str]) -> Tensor:
    """Returns how often each word of the vocabulary occurs in each text, `(n, V)`."""
    return torch.stack([torch.bincount(torch.tensor(vocabulary.encode(text)), minlength=len(vocabulary))
                        for text in some]).float()


counts = {part: counts_of(some) for part, some in texts.items()}


def naive_bayes(rows: Tensor) -> Tensor:
    """Returns which test reviews naive Bayes sorts rightly after training on rows, `(n,)`."""
    each = [counts["train"][rows][labels["train"][rows] == label].sum(dim=0) + 1 for label in (0, 1)]
    evidence = (each[1] / each[1].sum()).log() - (each[0] / each[0].sum()).log()  # (V,)
    return (counts["test"] @ evidence > 0) == labels["test"].bool()


def draw(count: int, seed: int) -> Tensor:
    """Returns as many training rows, half of them of each class."""
    order = torch.randperm(len(labels["train"]), generator=torch.Generator().manual_seed(seed))
    return torch.cat([order[labels["train"][order] == label][: count // 2] for label in (0, 1)])


# %% experiment
# @title The figure: accuracy by number of labels, five draws
curves = {"frozen encoder": lambda rows: is_right(fitted(rows), "test"), "naive Bayes": naive_bayes}
efficiency = {name: {count: [way(draw(count, seed)).float().mean().item() for seed in range(5)]
                     for count in (10, 20, 50, 100, 300)} for name, way in curves.items()}
figure, [axes] = plots.panels(1, width=4.6, height=3.4)
for (name, by_count), colour, marker in zip(efficiency.items(), plots.COLOURS, plots.MARKERS):
    middles = [100 * sum(scores) / len(scores) for scores in by_count.values()]
    axes.plot(list(by_count), middles, color=colour, marker=marker, label=name)
    axes.fill_between(list(by_count), [100 * min(s) for s in by_count.values()],
                      [100 * max(s) for s in by_count.values()], color=colour, alpha=0.18, linewidth=0)
axes.set(title="Invented French reviews", xlabel="labelled reviews", ylabel="test accuracy (%)",
         xscale="log", ylim=(40, 102))
axes.set_xticks(list(by_count), [str(count) for count in by_count])
axes.minorticks_off()
axes.legend(loc="center right")
said = {name: ", ".join(f"{count} labels {20 * sum(s):.0f} % ({100 * min(s):.0f} to {100 * max(s):.0f})"
                        for count, s in by_count.items()) for name, by_count in efficiency.items()}
plots.show(figure, "Test accuracy by number of labels, mean and range of five draws. "
           + " ".join(f"{name}: {numbers}." for name, numbers in said.items()))

# %% reveal
level = sum(efficiency["naive Bayes"][300]) / 5
passing = [count for count, scores in efficiency["frozen encoder"].items() if sum(scores) / 5 > level]
reveal("labels with which the probe passes naive Bayes with 300", passing[0])

# %% [markdown]
# Ten labels are enough: five good reviews and five bad ones give 90 %, and 300 give 92 %. Naive Bayes stays between 53 and 57 %, since the words that judge are new in the test. The encoder knows *affreux* (awful) from elsewhere, and the labels only say which direction is praise.
#
# One comparison puts this into its place. The two-layer model of notebook 00, 160,000 parameters, has read 10,500 of these very reviews without labels. Fine-tuned on 300 it comes near, as section 3 will show. What a model has read counts, and not only how large it is.
#
# Invented reviews are easy: many sentences are alike. What of *real* French book reviews, those of notebook 06? The next cell shows *stored* accuracies: the same frozen encoder with a linear head beside naive Bayes and our own pretraining, by number of labels (mean, lowest and highest draw).

# %% experiment
# @title Stored: real French book reviews, the frozen encoder beside naive Bayes
kept = load("measured_here")["real_encoders"].rows


def stored(corpus: str, *ways: str) -> pd.DataFrame:
    """Returns the stored test accuracies of ways of learning, in per cent: mean, min, max."""
    here = kept[(kept["corpus"] == corpus) & kept["way"].isin(ways)]
    scores = 100 * here.groupby(["way", "labels"])["accuracy"].agg(["mean", "min", "max"])
    scores["shown"] = [f"{mean:.1f} ({low:.0f} to {high:.0f})" for mean, low, high in scores.to_numpy()]
    return scores


french = stored("cls_books", "real, frozen", "naive Bayes", "own pretraining")
french["shown"].unstack().rename_axis(index="stored: test accuracy (%)")

# %% [markdown]
# With 100 labels the encoder is ahead of naive Bayes with 1,600 (82 against 81 %); and our own pretraining, which has read only captions and these reviews, is behind both. Look at the first column, too: with 20 labels one draw of the encoder's head gives 74 % and another 80 %. One run would have said little.

# %% [markdown]
# ## 3. A rate for each depth
#
# *Fine-tuning* trains the encoder, too. The lower layers know the language; the upper ones are nearer to what the model was trained for, and the head is new. Howard and Ruder ([2018](https://arxiv.org/abs/1801.06146), section 3.2) let each layer learn more slowly than the one above it; they divide the rate by 2.6 with each step. This is called *discriminative fine-tuning*, or *layer-wise learning-rate decay*.
#
# **By hand.** A model has two layers, the rate is 8 and the decay 0.5. At which rates do its parts learn, if each step down multiplies by the decay?

# %% by_hand
by_hand("layerwise_rates", [..., ..., ..., ...])  # embeddings, layer 0, layer 1, head

# %% exercise="layerwise_rates"
def layerwise_rates(names: list[str], rate: float, decay: float) -> dict[str, float]:
    """Returns the learning rate of each parameter, by its name.

    The head learns at `rate`. Each step down multiplies it by `decay`: the last layer is one step
    down, the one below it two, and so on. What belongs neither to the head nor to a layer is one step
    below layer 0, were it a norm behind the last layer.

    Args:
        names: such as "head.weight", "base.layers.11.attention.query.bias" or "base.embedding.weight",
            in any order. Of the head are those that begin with "head.", of layer i those that begin with
            "base.layers.i."; all others belong to neither. The last layer is among them, but lower ones may
            be missing (frozen, say): a missing layer counts as a step like any other.
        rate, decay: greater than 0; decay is at most 1.
    """
    ### BEGIN SOLUTION
    layers = {name: int(name.split(".")[2]) for name in names if name.startswith("base.layers.")}
    count = 1 + max(layers.values())
    steps = {name: 0 if name.startswith("head.") else count - layers.get(name, -1) for name in names}
    return {name: rate * decay**down for name, down in steps.items()}
    ### END SOLUTION


# %% [markdown]
# (By hand: 1, 2, 4 and 8.)
#
# What is it good for? The less the lower parts move, the less of the old knowledge is lost: losing it is called **forgetting**. Here is the language model of notebook 00, two layers, with a new head, fine-tuned on the 300 labelled reviews with several decays. Afterwards its base goes back under the old head that writes: how good is it still at predicting reviews? Its perplexity was 3.4 before.
#
# By which factor does the perplexity grow with one rate for all?

# %% guess
guess("perplexity after fine-tuning at one rate, divided by that before", ...)

# %% experiment
# @title How the small model is fine-tuned, and what it still knows
writer = load_first_model()[0]


def as_tokens(some: list[str]) -> tuple[Tensor, Tensor]:
    """Returns tokens `(b, n)` and lengths `(b,)` of reviews."""
    rows = [torch.tensor([SOS, *vocabulary.encode(text), EOS]) for text in some]
    lengths = torch.tensor([len(row) for row in rows])
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD), lengths


def fine_tune(rate: float, decay: float, seed: int) -> Classifier:
    """Returns the small base with a new head, trained on the 300 reviews for three passes."""
    torch.manual_seed(seed)
    model = Classifier(copy.deepcopy(writer.base))
    named = dict(model.named_parameters())
    rates = layerwise_rates(list(named), rate, decay)
    optimizer = torch.optim.AdamW([{"params": [named[name]], "lr": rates[name]} for name in named])
    for _ in range(3):
        for rows in torch.randperm(300).split(20):
            tokens, lengths = as_tokens([texts["train"][row] for row in rows])
            loss = F.cross_entropy(model(tokens, lengths), labels["train"][rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return model


# %% experiment
# @title What is measured: accuracy, perplexity
@torch.no_grad()
def perplexity_of(model: LanguageModel) -> float:
    """Returns the perplexity of a model on the validation reviews."""
    tokens, lengths = as_tokens(texts["valid"])
    logits = model(tokens, lengths)[:, :-1]
    return math.exp(F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=PAD))


def after(rate: float, decay: float, seed: int) -> dict[str, float]:
    """Returns test accuracy and perplexity after fine-tuning."""
    model, old = fine_tune(rate, decay, seed), copy.deepcopy(writer)
    old.base = model.base
    with torch.no_grad():
        right = model(*as_tokens(texts["test"])).argmax(dim=1) == labels["test"]
    return {"accuracy": right.float().mean().item(), "perplexity": perplexity_of(old)}


# %% measured
# @title Accuracy and perplexity after fine-tuning: ranges of three seeds
SETTINGS = {"rate 0.003, decay 1": (3e-3, 1.0), "rate 0.003, decay 0.5": (3e-3, 0.5),
            "rate 0.003, decay 0.2": (3e-3, 0.2), "rate 0.0003, decay 1": (3e-4, 1.0)}
runs = {name: [after(*setting, seed) for seed in range(3)] for name, setting in SETTINGS.items()}
print(f"perplexity before: {perplexity_of(writer):.2f}")
pd.DataFrame({
    name: {key: f"{min(run[key] for run in three):.3f} to {max(run[key] for run in three):.3f}"
           for key in ("accuracy", "perplexity")}
    for name, three in runs.items()
}).T

# %% reveal
reveal("perplexity after fine-tuning at one rate, divided by that before",
       sum(run["perplexity"] for run in runs["rate 0.003, decay 1"]) / 3 / perplexity_of(writer))

# %% [markdown]
# With one rate for all, the perplexity has tripled: the model has paid for its 300 labels with much of what it had read. A rate that falls with depth keeps nearly all, and the accuracy is no lower; the ranges of accuracy overlap, so three seeds do not say more.
#
# But look at the last row. A rate ten times as small for *all* layers does about as well. A rate for each depth is one way to be careful, and this is the one to compare it with.
#
# *Stored:* the same with MiniLM, a real encoder in English, and 100 labels. With one rate of $5\cdot 10^{-5}$ it is right for 73.2 % of the reviews, and its vectors of texts on other subjects have moved (mean cosine with those before: 0.963). Halved with each layer down, this rate gives 69.3 % and 0.999; one rate of $10^{-5}$ for all gives 70.1 % and 0.998. So careful ways forget less and here learn less, too (`docs/results.md` has the table).
#
# And when is fine-tuning worth it at all? The next cell shows *stored* measurements with MiniLM, a real English encoder, on real English film reviews (the runs of notebook 06, section 9): a frozen encoder with a head beside fine-tuning and LoRA (notebook 15). With how many labels is fine-tuning first ahead of the frozen encoder by more than two points, on average?

# %% guess
guess("labels with which fine-tuning is first ahead", ..., among=[20, 100, 300, 1600, 6920])

# %% experiment
# @title Stored: MiniLM frozen, fine-tuned and with LoRA, by number of labels
english = stored("sst2", "real, frozen", "real, fine-tuned", "real, LoRA")
english["shown"].unstack().rename_axis(index="stored: test accuracy (%)")

# %% reveal
gain = (english["mean"]["real, fine-tuned"] - english["mean"]["real, frozen"]) > 2
reveal("labels with which fine-tuning is first ahead", int(gain.index[gain.argmax()]))

# %% [markdown]
# With 20 labels fine-tuning is behind the frozen encoder (58.1 and 61.5 % on average, and the ranges overlap widely); from 100 on it is ahead, and its lead grows to eight points with all labels. LoRA follows it closely. So: a probe first, always, since it takes a second; fine-tuning where there are a few hundred labels. (The ranges are of five draws for *frozen*, and for fine-tuning with 100 and 300 labels; of two for the rest. With 6,920 labels fine-tuning and LoRA have one run.)

# %% [markdown] pause
# You have made vectors of texts and put a head on them, you know what labels are worth with a real encoder, and how to fine-tune it with a rate for each depth. Next, what is large is made small: a small model learns from a large one, and values are rounded to a few bits. At the end you decide what differences are worth.

# %% [markdown]
# ## 4. A small model that a large one teaches
#
# The encoder has 118 million parameters; a telephone or a server with a million users may want something smaller. **Distillation** ([Hinton, Vinyals and Dean 2015](https://arxiv.org/abs/1503.02531)) trains a small model, the *student*, on the outputs of a large one, the *teacher*. The teacher says more than a label: "0.9 this, 0.1 that". And it can answer for any text, so texts *without* labels become useful. MiniLM ([Wang et al. 2020](https://arxiv.org/abs/2002.10957)), which notebook 06 shows, was made in a similar way, from attention weights in place of outputs.
#
# Both models' logits are divided by a **temperature** $T$ before the softmax: above 1, small probabilities become visible. With $p$ for the teacher's distribution at $T$, $q$ for the student's, and a share $s$ for the teacher, the loss of a text is
#
# $$ s \, T^2 \sum_c p_c \ln \frac{p_c}{q_c} \; + \; (1 - s) \, \text{cross-entropy}(\text{student}, \text{label}). $$
#
# The sum is the *Kullback-Leibler divergence* of $q$ from $p$: 0 where both are equal, else greater. The labels' part has no temperature. Why $T^2$? The gradient of the sum becomes about $1/T^2$ as large when $T$ grows; with the factor, a new temperature does not change how much the teacher counts.
#
# In the picture, nothing is learned on the hatched side.

# %% experiment
# @title What a student learns from
from helpers.diagrams import Diagram

picture = Diagram(4.2, 2.7)
picture.box("text", (2.1, 0.3), "a text")
for x, name, kind in ((1.05, "teacher", "frozen"), (3.15, "student", "part")):
    picture.box(name, (x, 1.0), name, kind, width=1.2)
    picture.arrow("text", name)
picture.box("goal", (1.05, 1.7), "softmax at T", width=1.2)
picture.box("own", (2.45, 1.7), "softmax at T", width=1.2)
picture.box("plain", (3.65, 1.7), "at 1", width=0.6)
picture.box("soft", (1.75, 2.4), "divergence, share s", "loss", width=1.6)
picture.box("hard", (3.45, 2.4), "cross-entropy", "loss", width=1.2)
for start, end in (("teacher", "goal"), ("student", "own"), ("student", "plain"), ("goal", "soft"),
                   ("own", "soft"), ("plain", "hard")):
    picture.arrow(start, end)
picture.show("A text goes into teacher and student. Both outputs, at the temperature T, meet in the "
             "divergence; the student's own at temperature 1 meets the label in the cross-entropy.")

# %% [markdown]
# **By hand.** Two classes, $T = 2$, $s = 1$. The teacher's logits are $2 \ln 3$ and 0, the student's 0 and 0. What is the loss?

# %% by_hand
by_hand("distillation_loss", ...)  # two digits are enough

# %% exercise="distillation_loss"
def distillation_loss(
    student: Tensor, teacher: Tensor, labels: Tensor, temperature: float, share: float
) -> Tensor:
    """Returns the loss of a student, the mean over b texts: a tensor `()`.

    Args:
        student: its logits `(b, C)`, through which it learns.
        teacher: the teacher's logits `(b, C)`; nothing is learned through them. Logits of both may be
            hundreds apart.
        labels: the right classes, `(b,)`.
        temperature: greater than 0.
        share: of the teacher's part, from 0 to 1; the labels have the rest.
    """
    ### BEGIN SOLUTION
    goal = (teacher.detach() / temperature).softmax(dim=1)  # (b, C)
    logs = (student / temperature).log_softmax(dim=1)
    divergence = F.kl_div(logs, goal, reduction="batchmean")
    return share * temperature**2 * divergence + (1 - share) * F.cross_entropy(student, labels)
    ### END SOLUTION


# %% [markdown]
# (By hand: at $T = 2$ the teacher says $\frac34$ and $\frac14$, the student $\frac12$ and $\frac12$; the divergence is 0.131, and times 4 it is 0.523.)
#
# Our student counts words: one matrix from the 849 words of the vocabulary to two classes, 1,700 parameters in all. It learns from the 300 labels, or from the teacher's logits for 2,000 reviews without labels. The teacher is the encoder with a probe on the 300 labels. (These logits are *stored*; they come from `data/make_real_vectors.py`.)
#
# How many of 100 test reviews will the small model sort rightly, when it learns from the teacher?

# %% guess
guess("right test reviews in a hundred, small model taught by the teacher", ...)

# %% experiment
# @title The small model, and how it is taught
unlabelled = [reviews["unlabelled"]["text"][row] for row in real.rows["unlabelled"]]
tables = {**counts, "unlabelled": counts_of(unlabelled)}
shares = {name: F.normalize(table, p=1, dim=1) for name, table in tables.items()}
nothing = torch.zeros(len(unlabelled), dtype=torch.long)  # with share 1 no label counts


def taught(part: str, teacher: Tensor, known: Tensor, temperature: float, share: float, seed: int):
    """Returns which test reviews a new small model sorts rightly after twenty passes, `(n,)`."""
    torch.manual_seed(seed)
    model = nn.Linear(len(vocabulary), 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.2)
    for _ in range(20):
        for rows in torch.randperm(len(teacher)).split(50):
            logits = model(shares[part][rows])
            loss = distillation_loss(logits, teacher[rows], known[rows], temperature, share)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return model(shares["test"]).argmax(dim=1) == labels["test"]


# %% measured
# @title The same small model, taught in four ways: ranges of three seeds
best = real.teacher.argmax(dim=1)
ways = {
    "300 labels": ("train", torch.zeros(300, 2), labels["train"], 1.0, 0.0),
    "2,000 best classes of the teacher": ("unlabelled", real.teacher, best, 1.0, 0.0),
    "2,000 outputs, temperature 1": ("unlabelled", real.teacher, nothing, 1.0, 1.0),
    "2,000 outputs, temperature 4": ("unlabelled", real.teacher, nothing, 4.0, 1.0),
}
students = {name: [taught(*way, seed) for seed in range(3)] for name, way in ways.items()}
full = fitted(torch.arange(300))
print(f"{'the teacher itself':35} {is_right(full, 'test').float().mean():.1%}")
for name, three in students.items():
    print(f"{name:35}", " to ".join(f"{f(x.float().mean() for x in three):.1%}" for f in (min, max)))

# %% reveal
reveal("right test reviews in a hundred, small model taught by the teacher",
       100 * sum(three.float().mean().item() for three in students["2,000 outputs, temperature 1"]) / 3)

# %% [markdown]
# On 300 labels the small model is hardly better than a coin: most words that judge in the test reviews never had a label. Taught by the large one it has more than 91 %, nearly what the teacher has, with a seventy-thousandth of its parameters. What it gained is what the *unlabelled* reviews hold: each word that judges occurs there, and the teacher says on which side.
#
# The teacher's best classes alone do as well, and so does the higher temperature. With two classes, outputs say little more than the best class; the case of Hinton and his colleagues is a larger one, with many classes of which some are alike. Teaching on the best class is called *pseudo-labelling*.
#
# And the limit: a student learns the teacher's mistakes, too. It can be no better where the teacher is wrong in the same way again and again, and it counts words: *not good* is beyond it.
#
# ## 5. What is in the file
#
# SmolLM2, the model of notebook 16, has 134 million values; in float32 they would fill 538 MB, and its file has 98. In the layout *Q4_1* of most of its matrices, 32 neighbouring values are a **block** of 20 bytes:
#
# | bytes | what they hold |
# |---|---|
# | 0 and 1 | the scale $d$, a value of 16 bits (`torch.float16`) with a sign, its low byte first |
# | 2 and 3 | the minimum $m$, another one |
# | 4 to 19 | 32 codes $q$ of 4 bits, from 0 to 15, two in a byte |
#
# (*Low byte first* is *little-endian*; `struct` names it by the sign for less than. PyTorch's `view` reads it so on the computers of today.) A value is $d\,q + m$. The low four bits of bytes 4 to 19 are the codes of values 0 to 15, the high four those of values 16 to 31: the two codes of a byte are 16 values apart. So `byte & 15` and `byte >> 4` are the codes. For example, the byte 179 is 1011 0011 in binary digits: the low code is 3, the high one 11.
#
# In the picture, the byte is the first of the 16.

# %% experiment
# @title Two codes in a byte: values 0 and 16 of a block
from helpers.diagrams import Diagram

picture = Diagram(4.2, 1.9)
for place, bit in enumerate("10110011"):
    kind = "attention" if place < 4 else "part"
    picture.box(f"bit {place}", (0.7 + 0.4 * place, 0.55), bit, kind, width=0.34)
picture.box("high", (1.3, 1.45), "byte >> 4: 11", width=1.4)
picture.box("low", (2.9, 1.45), "byte & 15: 3", width=1.4)
picture.arrow("bit 1", "high")
picture.arrow("bit 6", "low")
picture.note((1.3, 0.2), "high: value 16", ha="center")
picture.note((2.9, 0.2), "low: value 0", ha="center")
picture.show("The eight bits 1011 0011 of the byte 179. The first four are the high code, 11, of value 16 "
             "of the block; the last four the low code, 3, of value 0.")

# %% [markdown]
# > **The mistake first.** If low and high codes take turns, as one might expect, every value has a right size and nearly all stand in the wrong column. Nothing in the file says so; the model writes nonsense.

# %% exercise="dequantise"
def dequantise(blocks: Tensor) -> Tensor:
    """Returns the values of blocks of the layout Q4_1, `(n, 32)`, float32.

    Args:
        blocks: `(n, 20)`, bytes (`torch.uint8`): two of the scale, two of the minimum, 16 of codes.
    """
    ### BEGIN SOLUTION
    scale, minimum = blocks[:, :4].contiguous().view(torch.float16).float().split(1, dim=1)  # (n, 1)
    codes = torch.cat([blocks[:, 4:] & 15, blocks[:, 4:] >> 4], dim=1)  # (n, 32)
    return scale * codes + minimum
    ### END SOLUTION


# %% [markdown]
# A test on a file: `data/tiny_llama_gguf` is a tiny model in this layout, with random values, and `data/tiny_llama` is the same one in float32. One matrix has 64 blocks, and where they begin the head of the file says.

# %% experiment
# @title Your values, and those of the same matrix in float32
start, size = 32000, 64 * 20  # bytes of the matrix of layer 0 that makes values in attention
content = (embedded("tiny_llama_gguf") / "model.gguf").read_bytes()[start : start + size]
blocks = torch.frombuffer(bytearray(content), dtype=torch.uint8).reshape(64, 20)
content = (embedded("tiny_llama") / "model.safetensors").read_bytes()
length = int.from_bytes(content[:8], "little")  # of the head, which is JSON (notebook 16)
place = json.loads(content[8 : 8 + length])["model.layers.0.self_attn.v_proj.weight"]["data_offsets"]
content = content[8 + length + place[0] : 8 + length + place[1]]
wanted = torch.frombuffer(bytearray(content), dtype=torch.float32)
values = dequantise(blocks)
print(f"first values {[round(x, 4) for x in values[0, :4].tolist()]}")
print(f"largest difference {(values.flatten() - wanted).abs().max():.1e}, "
      f"{size:,} bytes in place of {len(content):,}")

# %% [markdown]
# This was reading; now you write. The simplest useful layout has **one byte for each value and one scale for each row**, as in *LLM.int8()* ([Dettmers et al. 2022](https://arxiv.org/abs/2208.07339)): the largest amount of a row becomes 127 or $-127$, everything else the nearest whole step. The error is at most half a step. (A row makes one output of a layer. Rows may differ much in size, and one large value makes the steps large for all that share its scale.)
#
# **By hand.** The matrix $\begin{pmatrix} 1 & -2.54 & 0.5 \\ 0.254 & 0.1 & 0 \end{pmatrix}$: which codes?

# %% by_hand
by_hand("quantise", [[..., ..., ...], [..., ..., ...]])  # the codes, row by row

# %% exercise="quantise"
def quantise(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Returns codes `(r, c)`, `torch.int8`, and the scale of each row, `(r,)`, of a matrix `(r, c)`.

    Code times scale is about the value, and scales are greater than 0. In each row the code of the
    largest amount is 127 or -127, however small that is, and codes are rounded to the nearest whole
    number. A row of zeros, and only such a row, has the scale 1.
    """
    ### BEGIN SOLUTION
    largest = weight.detach().abs().amax(dim=1)  # (r,)
    scales = torch.where(largest > 0, largest / 127, torch.ones_like(largest))
    return (weight.detach() / scales[:, None]).round().to(torch.int8), scales
    ### END SOLUTION


# %% [markdown]
# (By hand: the scales are 0.02 and 0.002, the codes $(50, -127, 25)$ and $(127, 50, 0)$.)
#
# What does it cost? All matrices of the language model of notebook 00 are rounded and unpacked again, and its perplexity is measured. Before, it is 3.4. In which of four ways does it suffer most?

# %% guess
guess("the way of rounding that costs most", ...,
      among=["int8, a scale a row", "int8, a scale a matrix",
             "4 bits, a block of 32", "4 bits, a scale a matrix"])

# %% measured
# @title Bits for each value, and the perplexity that is left
def steps_of(weight: Tensor, values_together: int, most: int) -> Tensor:
    """Returns a matrix rounded to codes from 0 to `most`, with a scale and a minimum for so many values."""
    parts = weight.reshape(-1, values_together)
    low = parts.amin(dim=1, keepdim=True)
    scale = (parts.amax(dim=1, keepdim=True) - low).clamp_min(1e-12) / most
    return (((parts - low) / scale).round() * scale + low).reshape(weight.shape)


def by_rows(weight: Tensor) -> Tensor:
    """Returns a matrix after your codes and scales."""
    codes, scales = quantise(weight)
    return codes * scales[:, None]


ROUNDED = {
    "int8, a scale a row": by_rows,
    "int8, a scale a matrix": lambda weight: by_rows(weight.reshape(1, -1)).reshape(weight.shape),
    "4 bits, a block of 32": lambda weight: steps_of(weight, 32, 15),
    "4 bits, a scale a matrix": lambda weight: steps_of(weight, weight.numel(), 15),
}
table = {"float32": {"bits a value": 32.0, "perplexity": perplexity_of(writer)}}
for name, bits in zip(ROUNDED, (8 + 32 / 64, 8.0, 160 / 32, 4.0)):
    rounded = copy.deepcopy(writer)
    for parameter in rounded.parameters():
        if parameter.dim() == 2:
            parameter.data = ROUNDED[name](parameter.data)
    table[name] = {"bits a value": bits, "perplexity": perplexity_of(rounded)}
pd.DataFrame(table).T.round(3)

# %% reveal
reveal("the way of rounding that costs most", max(ROUNDED, key=lambda name: table[name]["perplexity"]))

# %% [markdown]
# One byte a value costs nothing that shows in three digits. Four bits cost 3 % of the perplexity with a scale for each block of 32, and 19 % with one scale for each whole matrix: how many values share a scale counts as much as the number of bits. For the scales a block pays one bit more for each value, so *4 bits* are 5.
#
# *Stored:* the same was done once with MiniLM, a real encoder in English. A linear probe on 100 labels is right for 68.4 % of the reviews with float32, for 68.5 % with a byte a value, for 67.4 % with four bits and a scale for each block of 32, and for 55.6 % with one scale for each matrix, where chance has half. There the number of values that share a scale counts even more (`docs/results.md` has the table).
#
# This model is small, and its matrices hold no extreme values. In large models a few dimensions of the hidden states are many times as large as all others; LLM.int8() computes these few in 16 bits, and the rest in 8. (The stored vectors of the encoder are of this kind: one byte a value, a scale for each vector, half a megabyte in place of two.)
#
# ## 6. Is a better than b?
#
# Seeds are not the only noise. Our test set has 320 reviews; another 320 of the same kind would give another accuracy. How different could it be? The *bootstrap* ([Efron 1979](https://doi.org/10.1214/aos/1176344552)) draws test sets from the one you have: 320 reviews at random, some twice, some not at all. On each drawn set the accuracies are computed anew.
#
# > **The mistake first.** Compute an interval for each of two models and see whether they overlap. But a review that is hard for one model is often hard for the other, too. Both intervals move together, so they may overlap although the *difference* is clear.
#
# So the difference is taken on the *same* drawn reviews: this is the **paired bootstrap** ([Koehn 2004](https://aclanthology.org/W04-3250/)). Its **95 % interval** leaves out 2.5 % of the drawn differences on each side. If it contains 0, this test set does not decide.
#
# **By hand.** On four reviews, model a is right on 0, 1 and 3, model b on 0 only. What is the difference of their accuracies? That is the number to write down; then think on: how large would it be if review 1 were drawn four times?

# %% by_hand
by_hand("paired_bootstrap", ...)  # the difference on the four reviews

# %% exercise="paired_bootstrap"
def paired_bootstrap(right_a: Tensor, right_b: Tensor, samples: Tensor) -> tuple[float, float, float]:
    """Returns the accuracy of a minus that of b, and the lower and upper limit of its 95 % interval.

    The limits are the quantiles 0.025 and 0.975 (as `torch.quantile` interpolates) of the differences on
    the drawn test sets. No value is rounded.

    Args:
        right_a, right_b: whether each model is right, for the same n examples, `(n,)`, booleans.
        samples: the numbers of the examples of each drawn test set, `(draws, n)`; they may repeat.
    """
    ### BEGIN SOLUTION
    difference = right_a.double() - right_b.double()  # (n,): 1, 0 or -1
    means = difference[samples].mean(dim=1)  # (draws,)
    return difference.mean().item(), means.quantile(0.025).item(), means.quantile(0.975).item()
    ### END SOLUTION


# %% [markdown]
# (By hand: $\frac34 - \frac14 = 0.5$; and 1, since a is right on review 1 and b is not.)
#
# Five comparisons of this notebook. How many of them does the test set *not* decide?

# %% guess
guess("comparisons of five that are not decided", ...)

# %% experiment
# @title Five comparisons with their intervals
count, generator = len(labels["test"]), torch.Generator().manual_seed(0)
samples = torch.randint(count, (2000, count), generator=generator)
teacher_right, student_right = is_right(full, "test"), students["2,000 outputs, temperature 1"][0]
compared = {
    "encoder or naive Bayes": (teacher_right, naive_bayes(torch.arange(300))),
    "300 labels or 100": (teacher_right, is_right(fitted(draw(100, 0)), "test")),
    "300 labels or 10": (teacher_right, is_right(fitted(draw(10, 0)), "test")),
    "teacher or student": (teacher_right, student_right),
    "student or 300 labels": (student_right, students["300 labels"][0]),
}
limits = {name: paired_bootstrap(*both, samples) for name, both in compared.items()}
for name, (gap, low, high) in limits.items():
    a, b = (right.float().mean() for right in compared[name])
    print(f"{name:23} {a:6.1%} {b:6.1%}  difference {100 * gap:+5.1f} points, 95 % from "
          f"{100 * low:+5.1f} to {100 * high:+5.1f}{'  not decided' if low <= 0 <= high else ''}")
never = torch.zeros(count, dtype=torch.bool)  # beside it the difference is the accuracy itself
alone = [paired_bootstrap(right, never, samples)[1:] for right in compared["300 labels or 10"]]
print("each by itself, 300 labels and 10:",
      " and ".join(f"{low:.1%} to {high:.1%}" for low, high in alone))

# %% reveal
reveal("comparisons of five that are not decided",
       sum(low <= 0 <= high for _, low, high in limits.values()))

# %% [markdown]
# Three of five are not decided, and these are just the ones about which one would like to know more. *300 labels or 10*: 1.2 points for thirty times as many labels, and the interval contains 0. The two that are decided need no interval to be seen.
#
# Compare the last line: by itself each accuracy is uncertain by three points on either side, six in all. The paired interval is four points wide, because most reviews on which one is wrong are missed by the other, too. To decide a difference of one point one needs far more than 320 reviews: the width falls with the root of their number.
#
# Neither kind of interval knows about other draws of labels, other seeds or other texts. Draws and seeds are a noise of the *training*; the interval is about the choice of *test examples*. A report needs both.
#
# ## 7. Essay
#
# In at most twelve lines, in English or in French: **a plan for 200 labels.** You are to sort messages in a language that the encoder has hardly seen, Breton say. You get 200 labelled messages, 5,000 without a label, and two weeks. (a) What do you measure *first*, before you train anything large, and what would each result tell you? (b) In which order do you try what, how do you split the 200, and when do you stop? (c) At the end one way is 3 points better than another on the test part. What do you believe, and what not?

# %% [markdown] essay="plan_essay"
# **Rubric** (2 points in all)
#
# - (a) *Measure first* (0.75): a cheap baseline (naive Bayes or the more frequent class), *and* something that says whether the encoder knows the language: a frozen probe on some of the labels beside naive Bayes; whether a message finds its translation (`nearest`) where some pairs can be had; how many tokens a word becomes, or the loss on masked words. Each with what follows from it. Half of it for a baseline alone.
# - (b) *Order and split* (0.75): from cheap to dear, frozen probe, then fine-tuning with small rates or a rate for each depth; the 5,000 by reading on (pretraining) or by a teacher; a test part fixed once and opened once; rates and penalty by validation or cross-validation within the rest; several draws or seeds. A reason to stop: when no way beats the cheaper one by more than the noise. Half of it if the test is used to choose, or no validation is named.
# - (c) *Believe* (0.5): a paired interval on the test part and several draws. On 100 test messages a difference of 3 points is three messages: the interval nearly certainly contains 0. Nothing about other kinds of messages. Half of it for seeds *or* the test's size.
#
# **Misconceptions that cost marks**: "a multilingual encoder knows every language equally well"; "fine-tuning is always better than a frozen encoder"; "a high cosine shows that it understands"; "three seeds show that the difference is real" (all share one test set); "a teacher can give labels whether it knows the language or not".
#
# **Answers as students write them**
#
# - *Full marks (2 of 2)*: "(a) First naive Bayes, and then a probe on the frozen encoder with the same labels, five draws of each; if the probe is not
#   above naive Bayes, the encoder does not read Breton, and if of 50 sentences only one or two find their French translation, that says the same. (b) I
#   put 80 messages aside for the test and do not touch them; in the other 120 I choose the penalty by cross-validation. If the probe is good I
#   fine-tune with small rates that fall with depth, three seeds; if it is bad, I let the encoder read the 5,000 messages first. I stop when a way is
#   not better than the cheaper one by more than the range of draws. (c) 3 points of 80 are two or three messages, so the paired interval will contain
#   0: I believe that both are about equally good for messages like these, take the cheaper one, and know nothing about others." Why: each part with
#   what follows from it.
# - *Half (1 of 2)*: "(a) I begin with naive Bayes as a baseline. (b) Then I try a frozen encoder, then fine-tuning with three seeds, choose the
#   learning rate in validation and keep a test set. (c) 3 points are real if all three seeds agree." Why: (a) nothing says whether the encoder
#   knows the language (0.4 of 0.75); (b) is right but has no reason to stop and leaves the 5,000 (0.6 of 0.75); (c) is a misconception: the seeds share one test set (0).
# - *No marks (0 of 2)*: "(a) The encoder is multilingual, so it knows Breton and I can start. (b) I fine-tune it on all 200, with several rates, and
#   take the one that is best on the test. (c) 3 points better is better." Why: nothing is measured first, the test chooses, a difference without its noise.

# %% [markdown] questions
# ## Three questions
#
# For yourself: open an answer to see whether it is right.
#
# 1. Two texts have a cosine of 0.8 in this encoder. How alike are they?
#    - Very: 80 % of their meaning is shared. => A cosine is no share. Unlike texts have 0.7 and more in this encoder.
#    + That depends on what other pairs have. => Only the order counts: beside the cosines of other texts it says something.
#    - Not at all, since it is below 0.9. => There is no threshold that holds for all encoders, nor for all texts of this one.
# 2. A student learns from a teacher's outputs on texts without labels. Where does what it gains come from?
#    - From the temperature, which makes the task easier. => The teacher's best classes alone brought most of it.
#    + From texts that had no label before: the teacher says what their words mean. => The labelled reviews do not hold these words.
#    - From nowhere: a student cannot know more than 300 labels say. => The teacher has read far more than the 300 reviews.
# 3. On 320 reviews a is right in 2 points more than b, three seeds agree, and the paired interval goes from $-0.5$ to 4.5. What follows?
#    - a is better: the seeds agree. => All seeds are measured on the same 320 reviews; they do not show how another test set would decide.
#    - Both are equally good. => Not decided is not equal: the difference may be 4 points.
#    + The test set does not decide. => The interval contains 0. More test reviews would make it narrower.

# %% [markdown]
# ## What to remember
#
# - A text becomes a vector by the mean over its tokens, without the padding. Cosines are for ordering, across languages too.
# - A **linear probe** on a good frozen encoder is convex, done in a second, and hard to beat with few labels. Choose its penalty by validation.
# - A rate that falls with depth keeps what the encoder knew. Measure what it forgets.
# - **Distillation**: the loss at a temperature $T$, times $T^2$. A teacher makes use of texts that nobody has labelled.
# - A file of 4 bits a value is blocks with a scale and a minimum of their own. The fewer values share a scale, the less is lost.
# - Seeds and the choice of test examples are two kinds of noise. A **paired** interval says whether a test set decides.
#
# **Go further.** Where the encoder is here, make vectors of 40 sentences of your own in two languages and see which pairs it finds. Or round the stored vectors to 4, 2 and 1 bits and count how many sentences still find their translation.

# %% [markdown]
# ## What others call it
#
# - **sentence embedding** (also *text embedding*): one vector for a text; a search by its cosine is *semantic search* or *dense retrieval*.
# - **mean pooling**: the mean over the tokens; the state of the first token is *CLS pooling*.
# - **weight decay** (also *L2 regularisation*, *ridge*): the penalty on large weights; in Adam the two are not the same, in AdamW it is taken off the weights directly.
# - **discriminative fine-tuning** (also *layer-wise learning-rate decay*, *LLRD*): a rate for each depth.
# - **knowledge distillation**: a student that learns from a teacher's outputs; the teacher's softened probabilities are *soft targets*, training on its best classes is *pseudo-labelling*.
# - **post-training quantisation**: rounding the weights of a trained model; with a scale for each row it is *per-channel*, for each block *group-wise*.
# - **bootstrap**: drawing examples again, with repetition, to see how much a result varies.

# %% experiment open=true
from tutor import progress

progress()
