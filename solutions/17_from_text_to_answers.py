# ---
# jupyter:
#   course:
#     teaches: "from a model that goes on writing to one that answers, and what that costs"
#     part: pretraining
#     column: 2
#     row: 2
#     builds_on: ["06"]
#     questions:
#       - How does it learn to answer?
#       - Can a language model be asked, without any training?
#       - What does it learn from examples of answers?
#       - How does one train on "this answer is better than that one"?
#       - What does a tuned model know that it did not know before?
#   jupytext:
#     notebook_metadata_filter: course
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 17 · From text to answers
#
# A language model goes on writing. People who talk to one today expect something else: an answer, in a certain form, to their liking. Three steps lead from
# the one to the other. You **ask** it as it is. You show it
# examples of answers, which is called **instruction tuning** or *supervised fine-tuning* (SFT). And you train it on pairs of answers of which one is
# **preferred**, by *direct preference optimisation* (DPO). At each step you measure what has been gained and what has been lost.
#
# The model is much smaller than the real one of notebook 16, which is not needed here. It can be trained again in seconds, so each run is repeated with three seeds, and you see which differences are more than chance.
#
# **When you are done, you can**
# - turn a language model into a classifier without training it, by what it would write next;
# - train on answers only, and say which part of the gain is form and which is knowledge;
# - give the logarithm of the probability of a whole answer;
# - write the loss of DPO, say what its reference and its $\beta$ do, and see when a model is over-optimised.
#
# **Time**: about 2 h 15 min. **Before this**: notebooks 04 (a new head) and 06 (perplexity, writing, seeds).
#
# | exercise | what it asks | points |
# |---|---|---|
# | `score_by_words` | classify by the next word | 3 |
# | `answer_loss` | learn the answer, not the question | 4 |
# | `answer_log_probability` | how probable is a whole answer? | 3 |
# | `preference_pairs` | which answer is better than which? | 3 |
# | `preference_loss` | the loss of DPO | 4 |
# | *essay* `tuned_essay` | what does a tuned model know? | 3 |
# | **total** | | **20** |
#
# Folded cells are experiments: they train and draw, about a minute in all, and no mark depends on them.

# %% setup
import copy
import math

import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers import plots
from tutor import by_hand, check, guess, hint, resume, reveal
from helpers.corpora import load
from helpers.first_model import load_first_model
from helpers.models import LanguageModel
from helpers.vocabulary import EOS, PAD, SOS

# %% [markdown]
# ## 1. Ask before you replace the head
#
# The model is the one of notebook 00: two layers, width 64, trained on 10,500 invented reviews without a label. Notebooks 04 and 06 made a classifier of such a model with a new head and labelled reviews.
#
# There is another way,
# which trains on neither: let it read the review and a beginning such as *c'est donc un livre à* ("so this is a book to"), and look at **what it would write next**: *recommander* (recommend) or *éviter* (avoid)? This is called **prompting**, and a classification without any
# example is **zero-shot**. The beginning is the *prompt*.
#
# This notebook asks only about the tokens of an answer, and each of them is scored by the logits one position before it. In the picture, the answer starts at position 3; the *length* 5 is that of prompt and answer together, as in the exercises below.

# %% experiment
# @title Which logits score the tokens of an answer?
from helpers.diagrams import Diagram

picture = Diagram(4.2, 2.45)
for position, word in enumerate(["<sos>", "un livre", "à", "éviter", "<eos>"]):
    kind = "part" if position >= 3 else "data"
    picture.box(f"token {position}", (0.45 + 0.82 * position, 0.45), word, kind, width=0.74)
for position in range(4):
    x, scored = 0.45 + 0.82 * position, position >= 2  # the next token belongs to the answer
    kind = "attention" if scored else "data"
    picture.box(f"logits {position}", (x, 1.3), f"logits {position}", kind, width=0.74)
    picture.arrow(f"token {position}", f"logits {position}")
    if scored:
        picture.box(f"loss {position}", (x + 0.4, 2.15), f"loss of {position + 1}", "loss", width=0.78)
        picture.arrow(f"logits {position}", f"loss {position}")
        picture.arrow(f"token {position + 1}", f"loss {position}")
picture.note((1.27, 0.1), "prompt: positions 0 to 2", ha="center")
picture.note((3.32, 0.1), "answer: start 3, length 5", ha="center")
picture.show(
    "Five tokens, of which the first three are the prompt and the last two the answer. Above each "
    "token but the last stand its logits. Only those at positions 2 and 3 are scored: they are compared "
    "with the tokens at positions 3 and 4."
)

# %% [markdown]
# ### By hand
#
# After some review the model gives *recommander* the probability 0.2, *relire* (read again) 0.1 and *éviter* 0.05; the rest goes to other words. How many times as probable is praise as blame, if any word of a side will do? The natural logarithm of this number, the *log-odds*, is a score: greater than
# 0 means praise. Write it in place of the dots, with two digits after the point.

# %% by_hand
by_hand("score_by_words", ...)  # the log-odds

# %% [markdown]
# And now with the logits: the softmax divides all exponentials by the same sum. What becomes of this sum in the ratio?

# %% exercise="score_by_words"
def score_by_words(logits: Tensor, positive: list[int], negative: list[int]) -> Tensor:
    """Returns how much more probable the positive words are as the next word: the log-odds `(b,)`.

    The probabilities of a side's words are added.

    Args:
        logits: of the next word, `(b, V)`. They may be hundreds or thousands apart, or all far below 0.
        positive, negative: numbers of words, at least one a side; no word is on both.
    """
    ### BEGIN SOLUTION
    return logits[:, positive].logsumexp(dim=1) - logits[:, negative].logsumexp(dim=1)
    ### END SOLUTION


# %% [markdown]
# (By hand: $0.3 / 0.05 = 6$, and $\ln 6 \approx 1.79$. The sum of the softmax stands above and below the line and falls away, so the logits are enough.)
#
# Which prompt, and which words? Nobody knows beforehand. Here are four ways to ask; the third is as good French as the others.
#
# | way | the prompt goes on with | praise | blame |
# |---|---|---|---|
# | *un livre à* | c'est donc un livre à | recommander, relire, offrir | éviter, oublier, jeter |
# | *un livre à, one word a side* | c'est donc un livre à | recommander | éviter |
# | *je suis* | je suis (I am) | conquis, conquise (won over) | déçu, déçue (disappointed) |
# | *en deux mots* | en deux mots : très (in two words: very) | réussi (successful) | raté (failed) |
#
# **Choose by the validation reviews**, and look at the test once, with the way that you have chosen. But first guess how often the best of the four is wrong on the validation reviews; a coin is wrong 50 times in a hundred. And which is the worst? Write a number and a name in place of the dots, or leave them and go on: a guess earns nothing and costs nothing.

# %% experiment
# @title The four ways of asking, and how they are scored
corpus = load("reviews_fr")
base, vocabulary = load_first_model()
WAYS = {  # a prompt behind the review, words that praise, words that blame
    "un livre à": ("c'est donc un livre à", "recommander relire offrir", "éviter oublier jeter"),
    "un livre à, one word a side": ("c'est donc un livre à", "recommander", "éviter"),
    "je suis": ("je suis", "conquis conquise", "déçu déçue"),
    "en deux mots": ("en deux mots : très", "réussi", "raté"),
}


def numbers_of(text: str) -> list[int]:
    """Returns the numbers of words, all of which the vocabulary must know."""
    return [vocabulary.numbers[word] for word in vocabulary.split(text)]


@torch.no_grad()
def next_logits(model: LanguageModel, texts: list[str]) -> Tensor:
    """Returns the logits of the next word after each text, `(b, V)`."""
    rows = [[SOS, *vocabulary.encode(text)] for text in texts]
    lengths = torch.tensor([len(row) for row in rows])
    tokens = torch.tensor([row + [PAD] * (int(lengths.max()) - len(row)) for row in rows])
    return model(tokens, lengths)[torch.arange(len(rows)), lengths - 1]


def asked(model: LanguageModel, part: str, way: str) -> float:
    """Returns the share of reviews that a way of asking sorts rightly."""
    prompt, positive, negative = WAYS[way]
    logits = next_logits(model, [f"{text} {prompt}" for text in corpus[part]["text"]])
    score = score_by_words(logits, numbers_of(positive), numbers_of(negative))
    return ((score > 0).long() == torch.tensor(corpus[part]["label"])).float().mean().item()


# %% guess
guess("wrong answers in a hundred, best of four ways of asking", ...)

# %% guess
guess("the worst of the four ways", ...,
      among=["un livre à", "un livre à, one word a side", "je suis", "en deux mots"])

# %% experiment
# @title Four ways of asking, by validation; the chosen one on the test
valid = {way: asked(base, "valid", way) for way in WAYS}
chosen_way = max(valid, key=valid.get)
for way, share in valid.items():
    print(f"{way:28} validation {share:6.1%}", "  <- chosen" if way == chosen_way else "")
print(f"test, asked once: {asked(base, 'test', chosen_way):.1%}")

# %% reveal
reveal("wrong answers in a hundred, best of four ways of asking", 100 - 100 * max(valid.values()))

# %% reveal
reveal("the worst of the four ways", min(valid, key=valid.get))

# %% [markdown]
# More than nine in ten reviews are sorted rightly, by a model that was never trained for it. No label was trained on; but the way of asking was chosen by the labels of the validation reviews, and these count, too. (With 300 labels, the classifiers of notebook 06 come to about as much.) *En deux mots : très réussi* or *raté* does nearly as well.
#
# But *je suis conquis* or *déçu* is little better than a coin: it calls more than nine in ten of the reviews praise. It does see the difference, and gives a good review mostly a higher score than a bad one; but its 0 is not the place that divides them. (If you know that half of the reviews are good, you can move it without a label.)
#
# Both are typical of prompting: **it works, and it depends on the
# wording**. That is why the way must be chosen by validation: if you try ten prompts on the test and report the best one, you have chosen it by the test, and report too high a share (notebook 06). Calls to large models use longer prompts, often with a few examples in them (*few-shot*); the rest is as here.
#
# ## 2. It can be asked, and does not answer
#
# We forced it to choose between given words. What would it write by itself? Let it go on after *c'est donc*, and count how often it gives one of two wanted answers, *un livre à recommander .* or *un livre à éviter .*, word for word.

# %% experiment
# @title The question, its two answers, and how both become tokens
ANSWERS = {1: "un livre à recommander .", 0: "un livre à éviter ."}
QUESTION = "c'est donc"


def encode_pair(text: str, label: int) -> tuple[list[int], int]:
    """Returns the numbers of a review, the question and its answer, and where the answer starts."""
    prompt = [SOS, *vocabulary.encode(f"{text} {QUESTION}")]
    return [*prompt, *vocabulary.encode(ANSWERS[label]), EOS], len(prompt)


def stack(pairs: list[tuple[list[int], int]]) -> tuple[Tensor, Tensor, Tensor]:
    """Returns tokens `(b, n)`, starts `(b,)` and lengths `(b,)` of texts with an answer."""
    lengths = torch.tensor([len(numbers) for numbers, _ in pairs])
    rows = [numbers + [PAD] * (int(lengths.max()) - len(numbers)) for numbers, _ in pairs]
    return torch.tensor(rows), torch.tensor([start for _, start in pairs]), lengths


# %% experiment
# @title What a model answers, and how answers are judged
@torch.no_grad()
def answers_of(model: LanguageModel, texts: list[str], most: int = 6) -> list[str]:
    """Returns what the model writes after each review and the question, word by word."""
    written = [""] * len(texts)
    for _ in range(most):
        logits = next_logits(model, [f"{t} {QUESTION} {w}" for t, w in zip(texts, written)])
        best = logits.argmax(dim=1).tolist()
        written = [w if w.endswith((".", "!")) or b == EOS else f"{w} {vocabulary.tokens[b]}".strip()
                   for w, b in zip(written, best)]
    return written


def judge_answers(model: LanguageModel, part: str = "test", count: int = 300) -> tuple[float, float]:
    """Returns the share of answers in one of the two wanted forms, and of right ones among all."""
    texts, labels = corpus[part]["text"][:count], corpus[part]["label"][:count]
    written = answers_of(model, texts)
    in_form = [answer in ANSWERS.values() for answer in written]
    right = [answer == ANSWERS[label] for answer, label in zip(written, labels)]
    return sum(in_form) / count, sum(right) / count


# %% experiment
# @title What the base writes by itself after the question
for text, answer in zip(corpus.test["text"][:3], answers_of(base, corpus.test["text"][:3])):
    print(f"... {' '.join(text.split()[-6:])}  C'est donc | {answer}")
print("in the wanted form {:.0%}, right {:.0%}".format(*judge_answers(base)))

# %% [markdown]
# *Un livre à offrir et à ...*, *un livre à jeter et à ...*: right in what it means, and never in the form that was wanted. It goes on as reviews go on, because that is what it has learned. (*Offrir*: to give as a present; *jeter*: to throw away.)
#
# So we show it the 300 labelled reviews, each with the question and the right answer behind it, and train as always: the next token. Behind each answer stands `<eos>`, **the token that ends an answer**. It belongs to the answer and is learned with it: writing stops where `<eos>` comes next. But which tokens shall count?
#
# > **The mistake first.** Train on the whole text, prompt and answer alike. It works, and yet: of about 63 tokens of such a text six belong to the answer. Nine tenths of the loss, and of the gradient, are about writing *reviews*, which nobody has asked for.
#
# ### By hand
#
# A prompt of two tokens, `<sos>` among them, and an answer of two: `start` is 2, `length` 4. At the positions 0, 1, 2, 3 the model gave the probabilities 1/3, 1/2, 1/8 and 1/5 to the token that stands one position further on, be it padding. Which of them belong to tokens of the answer? What is the loss, in nats?

# %% by_hand
by_hand("answer_loss", ...)  # the loss, in nats

# %% exercise="answer_loss"
def answer_loss(logits: Tensor, tokens: Tensor, starts: Tensor, lengths: Tensor) -> Tensor:
    """Returns the mean loss over all tokens of all answers of a batch, in nats: a tensor `()`.

    Args:
        logits: `(b, n, V)`; those at position i score the token at position i + 1. They may be hundreds or
            thousands apart.
        tokens: `(b, n)`, any numbers, that of `<pad>` too: where a text ends, only `lengths` says.
        starts: `(b,)`, the position of each answer's first token, at least 1.
        lengths: `(b,)`, of prompt and answer together; an answer has at least one token. What stands
            behind is padding.
    """
    ### BEGIN SOLUTION
    logs = logits[:, :-1].log_softmax(dim=-1)  # (b, n - 1, V): position i scores token i + 1
    picked = logs.gather(2, tokens[:, 1:, None])[..., 0]  # (b, n - 1)
    following = torch.arange(1, tokens.shape[1], device=tokens.device)  # (n - 1,), positions
    scored = (following >= starts[:, None]) & (following < lengths[:, None])  # (b, n - 1)
    return -picked[scored].mean()
    ### END SOLUTION


# %% [markdown]
# (By hand: the token at position 2 is scored at position 1, that at position 3 at position 2: $\frac12 (\ln 2 + \ln 8) \approx 1.386$. Libraries mark the tokens that are left out in the targets instead: with the label $-100$, which `F.cross_entropy` skips, as its `ignore_index` is $-100$ unless you say otherwise.)
#
# Now both ways, three seeds each, with equal steps: two passes over 300 examples. Forced to choose between two words, the base was wrong in 7 of 100 test reviews. How many of its free answers will be wrong after training on answers only? (An answer in another form is wrong, too.)

# %% guess
guess("wrong answers in a hundred, after training on answers only", ...)

# %% experiment
# @title How the base is tuned, on answers or on whole texts
examples = [encode_pair(text, label) for text, label in zip(corpus.train["text"], corpus.train["label"])]


def tune(whole_text: bool, seed: int) -> LanguageModel:
    """Returns a copy of the base, trained on the examples: on their answers, or on the whole texts."""
    torch.manual_seed(seed)
    model = copy.deepcopy(base)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(2):
        for rows in torch.randperm(len(examples)).split(20):
            tokens, starts, lengths = stack([examples[row] for row in rows])
            starts = torch.ones_like(starts) if whole_text else starts
            loss = answer_loss(model(tokens, lengths), tokens, starts, lengths)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return model


reviews = stack([([SOS, *vocabulary.encode(text), EOS], 1) for text in corpus.valid["text"]])


@torch.no_grad()
def perplexity_on_reviews(model: LanguageModel) -> float:
    """Returns the perplexity on the validation reviews: what is left of the language model."""
    tokens, starts, lengths = reviews
    return math.exp(answer_loss(model(tokens, lengths), tokens, starts, lengths))


# %% measured
# @title Form, right answers and perplexity before tuning and after
rows = {"before": [(*judge_answers(base), perplexity_on_reviews(base))]}
for name, whole_text in (("whole text", True), ("answer only", False)):
    tuned = [tune(whole_text, seed) for seed in range(3)]
    rows[name] = [(*judge_answers(model), perplexity_on_reviews(model)) for model in tuned]
for name, runs in rows.items():
    form, right, perplexity = ([run[column] for run in runs] for column in range(3))
    print(f"{name:12} in form {min(form):4.0%} to {max(form):4.0%}, "
          f"right {min(right):.1%} to {max(right):.1%}, "
          f"perplexity on reviews {min(perplexity):.2f} to {max(perplexity):.2f}")

# %% reveal
reveal("wrong answers in a hundred, after training on answers only",
       100 - 100 * sum(right for _, right, _ in rows["answer only"]) / len(rows["answer only"]))

# %% [markdown]
# Both ways bring the form, at once and nearly always. With the loss on answers alone, one or two answers in a hundred more are right, at the price of a higher perplexity on reviews: the model is good at one thing now, and worse at what it could do before. (The loss on whole texts holds that back, since it goes on training it to write reviews. Mixing some of the old texts in is a usual remedy.)
#
# And how much has it *learned*? Forced to choose, the base was right in 93 % of the test reviews before it had seen a single example. After 300 examples about 95 % of the answers to test reviews are right. Nearly all that the examples brought is **the form**; what the reviews mean was known before. Of large models the same is suspected ([Zhou et al. 2023](https://arxiv.org/abs/2305.11206), who tune a model of 65 billion parameters on a thousand chosen examples, and conclude that almost all its knowledge comes from pretraining).
#
# ### How a conversation becomes one text
#
# Here a question is always the same two words. A chat has turns, and a language model reads one row of tokens. So a chat template (notebook 16) writes every turn with a mark before it, the name of the speaker, and a mark behind it. This is what `as_chat` of notebook 16 makes of a question to SmolLM2:
#
# ```
# <|im_start|>system
# You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>
# <|im_start|>user
# Where was Frédéric Chopin born?<|im_end|>
# <|im_start|>assistant
# ```
#
# Each mark is one token. The turn of the *assistant* is opened and left open: the prompt ends there, and the model writes the answer. `<|im_end|>` ends an answer, as `<eos>` does here. For the next question, the answer, its mark and a new turn of the *user* are added behind.
#
# In training, the answers are the assistant's turns: a loss as `answer_loss` scores their tokens with the `<|im_end|>` behind, and none of the user's. A model asked with another template than the one it was trained with reads a text of a kind that it has not seen.
#
# ## 3. How probable is a whole answer?
#
# To say that one answer is better than another one, and to train on that, we need the probability of an answer as a whole. Each token is chosen given all that stand before it, so the probabilities are multiplied, $p(y \mid x) = \prod_t p(y_t \mid x, y_{<t})$, and the logarithms are added.
#
# **By hand.** An answer of three tokens with the probabilities 1/2, 1/4 and 1/4: what is $\ln p$?

# %% by_hand
by_hand("answer_log_probability", ...)  # ln p

# %% [markdown]
# And which of two answers is more probable, one of 5 tokens or one of 20, if each token has the probability 1/2?

# %% exercise="answer_log_probability"
def answer_log_probability(logits: Tensor, tokens: Tensor, starts: Tensor, lengths: Tensor) -> Tensor:
    """Returns the logarithm of the probability of each text's answer, given its prompt: `(b,)`.

    The arguments are those of `answer_loss`.
    """
    ### BEGIN SOLUTION
    picked = logits[:, :-1].log_softmax(dim=-1).gather(2, tokens[:, 1:, None])[..., 0]  # (b, n - 1)
    following = torch.arange(1, tokens.shape[1], device=tokens.device)
    scored = (following >= starts[:, None]) & (following < lengths[:, None])
    return (picked * scored).sum(dim=1)
    ### END SOLUTION


# %% [markdown]
# (By hand: $\ln \frac{1}{32} \approx -3.47$. And the short one, by a factor of $2^{15}$: a product only gets smaller. Comparing answers of different lengths by their probability favours short ones.)

# %% [markdown] pause
# You have asked a model, taught it the form of an answer, and can say how probable an answer is. Next it learns from preferences.

# %% [markdown]
# ## 4. Which of two answers is better?
#
# For many wishes nobody can write the right answer down: *be kind*, *be helpful*. But of two answers one can say which is better. People are asked for that, or a second model; here a count does it. The wish is **"write praise"**, and the **reward** of a text is the number of its words that praise minus the number of those that blame, by the corpus's own list of judging words. So we know exactly what we ask for, which in practice nobody does.
#
# The answers to compare come from the model itself: for each of 500 beginnings it writes two continuations of 20 tokens.

# %% experiment
# @title The reward of a text, and how continuations are written
polarity = torch.zeros(len(vocabulary))
for forms, side in zip(corpus["polarity"]["forms"], corpus["polarity"]["polarity"]):
    for form in forms.split():
        if form in vocabulary.numbers:
            polarity[vocabulary.numbers[form]] = 1.0 if side == 1 else -1.0

START, LENGTH = 6, 26  # a prompt of <sos> and five words, and an answer of twenty tokens


def beginnings(texts: list[str], count: int) -> Tensor:
    """Returns `<sos>` and the first words of texts, `(count, START)`."""
    return torch.tensor([[SOS, *vocabulary.encode(text)][:START] for text in texts[:count]])


@torch.no_grad()
def write(model: LanguageModel, prompts: Tensor, seed: int) -> Tensor:
    """Returns prompts `(b, START)` with what the model writes after them, drawn, `(b, LENGTH)`."""
    generator, tokens = torch.Generator().manual_seed(seed), prompts
    while tokens.shape[1] < LENGTH:
        shares = model(tokens)[:, -1].softmax(dim=-1)
        tokens = torch.cat([tokens, torch.multinomial(shares, 1, generator=generator)], dim=1)
    return tokens


def reward(tokens: Tensor) -> Tensor:
    """Returns for each text how many words of its answer praise, minus those that blame, `(b,)`."""
    return polarity[tokens[:, START:]].sum(dim=1)


# %% experiment
# @title Two continuations for each beginning, and their rewards
prompts = beginnings(corpus["unlabelled"]["text"], 500)
written = torch.stack([write(base, prompts, seed) for seed in range(2)], dim=1)  # (500, 2, LENGTH)
rewards = torch.stack([reward(answers) for answers in written.unbind(1)], dim=1)  # (500, 2)
print(f"mean reward {rewards.mean():+.2f}, from {rewards.min():+.0f} to {rewards.max():+.0f}")
for prompt, answer in ((3, 0), (3, 1), (4, 0), (4, 1)):
    print(f"{rewards[prompt, answer]:+.0f}  {vocabulary.decode(written[prompt, answer].tolist())}")

# %% [markdown]
# Of each prompt we keep its best answer and its worst, and leave out the prompts where all answers are equally good: they say nothing about the wish.
#
# **By hand**: the rewards of three prompts with two answers each are $\begin{pmatrix} 1 & 1 \\ 0 & 2 \\ 3 & -1 \end{pmatrix}$. Which rows does the result have? Delete the rows that are too many; prompts and answers are counted from 0.

# %% by_hand
by_hand("preference_pairs", [
    [..., ..., ...],  # prompt, its best answer, its worst answer
    [..., ..., ...],
    [..., ..., ...],
])

# %% exercise="preference_pairs"
def preference_pairs(rewards: Tensor) -> Tensor:
    """Returns `(m, 3)`, whole numbers: prompt, its best answer, its worst answer.

    There is a row for each prompt whose best answer has a greater reward than its worst, in the order
    of the prompts; m may be 0. Of several equally good or bad answers the first is taken.

    Args:
        rewards: `(p, k)`, of k answers to each of p prompts.
    """
    ### BEGIN SOLUTION
    best, worst = rewards.argmax(dim=1), rewards.argmin(dim=1)  # (p,), the first of several
    rows = torch.stack([torch.arange(len(rewards)), best, worst], dim=1)
    return rows[rewards.amax(dim=1) > rewards.amin(dim=1)]
    ### END SOLUTION


# %% [markdown]
# (By hand: $(1, 1, 0)$ and $(2, 0, 1)$.)
#
# ## 5. Train on preferences
#
# One could train on the chosen answers alone, with `answer_loss`, as on examples of answers: the paper of DPO compares with this under the name *Preferred-FT*, and so shall we. It does not use the rejected ones.
#
# **Direct preference optimisation** ([Rafailov et al. 2023](https://arxiv.org/abs/2305.18290), equations 6 and 7) does. With $x$ for the prompt, it takes the chance that the chosen answer $y_w$ beats the rejected one $y_l$ to be
#
# $$ \sigma\Big(\beta \Big[ \ln\frac{p(y_w \mid x)}{p_\text{ref}(y_w \mid x)} - \ln\frac{p(y_l \mid x)}{p_\text{ref}(y_l \mid x)} \Big]\Big), \qquad \sigma(z) = \frac{1}{1 + e^{-z}}, $$
#
# and minimises minus the logarithm of it. $p$ is the model that learns, $p_\text{ref}$ the **reference**, the model as it was at the start, which never changes. Each *log-ratio* says how much more probable an answer has become. So the loss asks for one thing: the chosen answer must gain on the rejected one, **compared with the start**.
#
# Where does the formula come from? Suppose that each answer had a reward. A usual model of preferences takes the chance that one answer beats another to be $\sigma$ of the difference of their rewards.
#
# Now take the model that earns the highest mean reward minus $\beta$ times its distance from the reference (the KL divergence that is measured below). For this model the reward of an answer is $\beta$ times its log-ratio, up to a number that depends on the prompt alone and falls away in the difference. So no reward has to be known: DPO puts $\beta$ times the log-ratio in its place.
#
# $\beta$ says how soon it is enough. The gradient of a pair is minus $\beta\, \sigma(-\beta\,[\dots])$ times that of the bracket: at the start, where model and reference are equal, that is $-\beta / 2$ for every pair; where the bracket is much larger than $1/\beta$, nothing is left of it. A small $\beta$ lets the model go far away from the reference, a large one holds it close.
#
# **By hand.** The chosen answer has the log-ratio 2, the rejected one $-1$, and $\beta = 0.5$. What is the loss of this pair? What is it at the start, for any $\beta$?

# %% by_hand
by_hand("preference_loss", ...)  # of the pair with log-ratios 2 and -1

# %% exercise="preference_loss"
def preference_loss(
    chosen: Tensor, rejected: Tensor, reference_chosen: Tensor, reference_rejected: Tensor, beta: float
) -> Tensor:
    """Returns the loss of DPO, the mean over b pairs: a tensor `()`.

    Args:
        chosen, rejected: logarithms of the probabilities that the model gives to the answers, `(b,)`.
        reference_chosen, reference_rejected: those that the reference gives, `(b,)`.
        beta: greater than 0. Beta times the difference of the log-ratios may be hundreds, or a
            thousand, of either sign.
    """
    ### BEGIN SOLUTION
    difference = (chosen - reference_chosen) - (rejected - reference_rejected)  # (b,)
    return -F.logsigmoid(beta * difference).mean()
    ### END SOLUTION


# %% [markdown]
# (By hand: $-\ln \sigma(1.5) \approx 0.201$; at the start $\ln 2 \approx 0.693$.)
#
# Is the gradient at the start what the formula says?

# %% experiment
# @title Loss and gradient where model and reference are equal
start = torch.zeros(4, requires_grad=True)
for beta in (0.1, 0.5, 2.0):
    loss = preference_loss(start, torch.zeros(4), torch.zeros(4), torch.zeros(4), beta)
    [gradient] = torch.autograd.grad(loss, start)
    print(f"beta {beta}: loss {loss:.3f}, gradient of each of 4 chosen answers",
          f"{gradient[0]:+.4f} = -beta / 2 / 4")

# %% [markdown]
# Now the wish. Each run trains a copy of the base on the pairs, three passes; then it writes after 200 beginnings that it has not seen. We measure three things:
#
# - the **reward**;
# - how far the model has gone from the reference: the mean log-ratio of 200 answers that it writes itself (an estimate of the *Kullback-Leibler divergence*, KL, in nats for each answer);
# - the **perplexity on the validation reviews**, good and bad: what is left of the language model.

# %% experiment
# @title The pairs, and what the reference gives to their answers
pairs = preference_pairs(rewards)
print(f"{len(pairs)} pairs of {len(rewards)} prompts")
chosen_texts, rejected_texts = (written[pairs[:, 0], pairs[:, column]] for column in (1, 2))
new_prompts = beginnings(corpus.valid["text"], 200)


def log_probability(model: LanguageModel, tokens: Tensor) -> Tensor:
    """Returns the logarithm of the probability of the answers in texts `(b, LENGTH)`, `(b,)`."""
    starts, lengths = (torch.full((len(tokens),), number) for number in (START, LENGTH))
    return answer_log_probability(model(tokens), tokens, starts, lengths)


with torch.no_grad():
    before = log_probability(base, chosen_texts), log_probability(base, rejected_texts)


# %% experiment
# @title How a model is trained on preferences, by DPO or on the chosen answers
def prefer(beta: float | None, seed: int, passes: int = 3) -> LanguageModel:
    """Returns a copy of the base trained by DPO or, without a beta, on the chosen answers alone."""
    torch.manual_seed(seed)
    model = copy.deepcopy(base)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    for _ in range(passes):
        for rows in torch.randperm(len(pairs)).split(40):
            chosen = log_probability(model, chosen_texts[rows])
            if beta is None:
                loss = -chosen.mean() / (LENGTH - START)
            else:
                rejected = log_probability(model, rejected_texts[rows])
                loss = preference_loss(chosen, rejected, before[0][rows], before[1][rows], beta)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return model


# %% experiment
# @title What is measured: reward, KL and perplexity
@torch.no_grad()
def measure(model: LanguageModel) -> dict[str, float]:
    """Returns reward, KL and perplexity of a model."""
    answers = write(model, new_prompts, seed=1)
    gone = log_probability(model, answers) - log_probability(base, answers)
    return {"reward": reward(answers).mean().item(), "KL": gone.mean().item(),
            "perplexity": perplexity_on_reviews(model)}


# %% [markdown]
# Five kinds of runs: on the chosen answers alone, with three passes and with twelve, and DPO with $\beta$ = 2, 0.5 and 0.1. The twelve passes are a control: they show whether three merely go less far. A small $\beta$ lets the model go farther. How many times as far does it go with 0.1 as with 0.5, in nats of KL?

# %% guess
guess("distance from the reference with beta 0.1, divided by that with 0.5", ...)

# %% guess
guess("which stays closest to the reference", ...,
      among=["chosen alone", "chosen alone, 12 passes", "DPO, beta 2", "DPO, beta 0.5", "DPO, beta 0.1"])

# %% measured
# @title Reward, distance and perplexity of all runs: ranges of three seeds
RUNS = {  # beta and passes
    "chosen alone": (None, 3),
    "chosen alone, 12 passes": (None, 12),
    "DPO, beta 2": (2.0, 3),
    "DPO, beta 0.5": (0.5, 3),
    "DPO, beta 0.1": (0.1, 3),
}
models = {name: [prefer(beta, seed, passes) for seed in range(3)] for name, (beta, passes) in RUNS.items()}
found = {"reference": [measure(base)]} | {
    name: [measure(model) for model in runs] for name, runs in models.items()
}
pd.DataFrame({
    name: {key: f"{min(run[key] for run in runs):.2f} to {max(run[key] for run in runs):.2f}"
           for key in ("reward", "KL", "perplexity")}
    for name, runs in found.items()
}).T

# %% reveal
reveal("distance from the reference with beta 0.1, divided by that with 0.5",
       sum(run["KL"] for run in found["DPO, beta 0.1"]) / sum(run["KL"] for run in found["DPO, beta 0.5"]))

# %% reveal
reveal("which stays closest to the reference",
       min(RUNS, key=lambda name: sum(run["KL"] for run in found[name])))

# %% experiment
# @title What was wished for, and what it costs
figure, (left, right) = plots.panels(2, width=3.6, height=3.2)
for number, (name, runs) in enumerate(found.items()):
    look = {"color": plots.COLOURS[number], "marker": plots.MARKERS[number], "linestyle": "none"}
    left.plot([run["KL"] for run in runs], [run["reward"] for run in runs], label=name, **look)
    right.plot([run["KL"] for run in runs], [run["perplexity"] for run in runs], label=name, **look)
left.set(title="What was wished for", xlabel="distance from the reference (KL, nats)", ylabel="reward")
right.set(title="What it costs", xlabel="distance from the reference (KL, nats)",
          ylabel="perplexity on reviews", ylim=(0, None))
right.legend(fontsize=7, loc="lower right")
middle = {name: {key: sum(run[key] for run in runs) / len(runs) for key in runs[0]}
          for name, runs in found.items()}
plots.show(figure, "Reward and perplexity against the distance from the reference. " + " ".join(
    f"{name}: KL {mean['KL']:.1f}, reward {mean['reward']:.2f}, perplexity {mean['perplexity']:.2f}."
    for name, mean in middle.items()))

# %% [markdown]
# Every run grants the wish: the reward rises from about $-0.3$ to between 1 and 2.6 words for each answer of twenty tokens. The runs differ in the way that they went for it.
#
# - *The chosen answers alone*, with three passes, stay closest and gain least. With twelve they go 3.2 nats, and the reward is about 1.4.
# - DPO with $\beta = 0.5$ goes little farther, about 3.6 nats, and its reward is near 2.6. So the distance is not what makes the difference: **to imitate the better of two answers is not to learn what made it better**. With $\beta = 2$, too, it gains no less than the control, at about half the distance.
# - With $\beta = 0.1$ the model goes four to five times as far, **and the reward is no higher**; but the perplexity on reviews has nearly doubled, from 3.5 to more than 6. This is a form of *over-optimisation*: the model goes on moving away from the reference, and nothing is won by it.
#
# ### Do the chosen answers become more probable?
#
# Only the difference of the two log-ratios is in the loss of DPO. Look at each by itself: the mean log-ratio of the chosen answers of the training pairs, and that of the rejected ones. What do you expect of the chosen ones with $\beta = 0.1$?

# %% guess
guess("the chosen answers after DPO with beta 0.1", ..., among=["more probable", "less probable"])

# %% experiment
# @title How much more probable the chosen and the rejected answers have become
@torch.no_grad()
def log_ratios(model: LanguageModel) -> list[float]:
    """Returns the mean log-ratio of the chosen answers and that of the rejected ones, in nats."""
    return [(log_probability(model, texts) - reference).mean().item()
            for texts, reference in zip((chosen_texts, rejected_texts), before)]


ratios = {name: torch.tensor([log_ratios(model) for model in runs])  # (3, 2)
          for name, runs in models.items()}
figure, [axes] = plots.panels(1, width=5.6, height=2.9)
axes.axvline(0, color="#555555", linestyle=":")
for side, kind in enumerate(("chosen", "rejected")):
    for row, runs in enumerate(ratios.values()):
        axes.plot(runs[:, side], [row + 0.16 * (2 * side - 1)] * len(runs), plots.MARKERS[side],
                  markersize=5, color=plots.COLOURS[side], linestyle="none",
                  label=kind if row == 0 else None)
axes.set(xlabel="mean log-ratio (nats); left of 0: less probable than at the start",
         yticks=range(len(ratios)), yticklabels=list(ratios), ylim=(len(ratios) - 0.5, -0.5))
axes.legend(fontsize=8, loc="center left")
plots.show(figure, "Mean log-ratios of the chosen and of the rejected answers. " + " ".join(
    f"{name}: {runs[:, 0].mean():+.1f} and {runs[:, 1].mean():+.1f}." for name, runs in ratios.items()))
for name, runs in ratios.items():
    low, high = runs.amin(dim=0), runs.amax(dim=0)
    print(f"{name:24} chosen {low[0]:+5.1f} to {high[0]:+5.1f}, rejected {low[1]:+6.1f} to {high[1]:+6.1f}")

# %% reveal
reveal("the chosen answers after DPO with beta 0.1",
       "more probable" if ratios["DPO, beta 0.1"][:, 0].mean() > 0 else "less probable")

# %% [markdown]
# They become *less* probable: by about 7 nats, the logarithm of a factor of about a thousand. With $\beta = 0.5$ they end 0.4 nats below the start, with 2 about 0.6 above it. **DPO may make the chosen answers less probable, too**, as long as the rejected ones lose more: here about 22 nats with $\beta = 0.1$. What both lose goes to answers that stand in no pair, and of these the loss says nothing. The same was found with large models ([Pal et al. 2024](https://arxiv.org/abs/2402.13228)).
#
# Training on the chosen answers alone raises their log-probability by 3 nats, with twelve passes by 7. That is what it was asked for, and it does not earn the higher reward.
#
# Numbers do not show what has become of the French. Read.

# %% interactive
# @title What each of the models writes: move the slider
from ipywidgets import IntSlider, interact


def show_texts(choice: int) -> None:
    """Prints what one of the models writes after three beginnings; 0 is the reference."""
    name = ["reference", *RUNS][choice]
    answers = write(base if choice == 0 else models[name][0], new_prompts[:3], seed=1)
    print(name)
    for count, text in zip(reward(answers), answers.tolist()):
        print(f"{count:+.0f}  {vocabulary.decode(text[:START])} | {vocabulary.decode(text[START:])}")


slider = IntSlider(value=5, min=0, max=5, description="model", continuous_update=False)
_ = interact(show_texts, choice=slider)

# %% experiment
# @title The same for those who only read: the reference, and beta 0.1
show_texts(0)
show_texts(5)

# %% [markdown]
# The reference writes French. The last model praises, and its sentences no longer hold together. No reward has noticed: it counts words. (Real rewards are judgements of people, or of a model that has learned from these. They can be pleased in the same way, by what is easily judged: an answer that is long, polite and sure of itself may please whether it is true or not.)
#
# ## 6. Essay
#
# In at most twelve lines, in English or in French: **what does a tuned model know?** (a) Instruction tuning brought the share of right answers from nothing to nearly all. How much of that is *form* and how much *knowledge of reviews*? Use two numbers of sections 1 and 2. (b) The wish "write praise" was granted by all runs. What did the runs with small $\beta$ lose, by which measure, and why does the reward not show it? (c) Somebody tunes a large model on preferences of people who like long, polite, confident answers. Name one thing that it will have learned and one that it will *not* know better than before, and how you would measure the second.

# %% [markdown] essay="tuned_essay"
# **Rubric** (one point for each, 3 points in all)
#
# - (a) Mostly form, with two numbers: the base, forced to choose, is right in about 93 % of the reviews without an example (section 1), and gives the wanted form in 0 %; after tuning the form is there in nearly 100 % and 95 % are right. So about 2 points in a hundred (1.3 to 2.3, on the same 300 reviews) are knowledge of reviews that came with the 300 labels. Half a point for the claim with one number.
# - (b) The language: the perplexity on reviews rises from 3.5 to more than 6 with $\beta = 0.1$ (4.3 with 0.5), at a KL four to five times as large, and the texts fall apart. The reward counts judging words only, so it cannot see what is between them. Half a point for naming the loss without a measure, or the measure without the reason.
# - (c) Learned: a style (length, politeness, a confident tone). Not known better: facts, or when it is wrong. A measurement: the share of right answers to questions with known answers before and after, or how often it is right where it says that it is sure (calibration, notebook 10). Half a point without a measurement.
#
# **Misconceptions that cost marks**: "the examples taught it what the words mean" (it sorted 93 % before); "a higher reward means a better model"; "DPO adds knowledge, since people know what is right" (pairs say which of two texts is liked better); "KL measures how good the French is".
#
# **Answers as students write them**
#
# - *Full marks (3 of 3)*: "(a) Almost all of it is form: before any example the base, when it had to choose between recommander and éviter, was right
#   in 93 % of the reviews and gave the wanted answer in 0 %, and after tuning 100 % have the form and 95 % are right, so the labels brought perhaps two
#   points of knowledge. (b) With beta 0.1 the perplexity on reviews went from 3.5 to more than 6 and the sentences stop making sense, although
#   the reward is no higher than with 0.5. The reward counts praising words, so it is blind to everything in between. (c) It will have learned to write
#   long and sure of itself, and it will not know more facts. I would ask it 500 questions with known answers before and after, and compare how often
#   it is right among the answers in which it sounds sure." Why: each part with its reason and a measure, one point each.
# - *Half (1.5 of 3)*: "(a) Mostly form, because it could sort 93 % already. (b) The small beta lost good French, one sees it in the texts. (c) It will
#   be polite but it will not be more truthful, because people prefer politeness." Why: no misconception, but (a) has one number (0.5), (b) no measure
#   and not why the reward is blind (0.5), (c) no measurement (0.5).
# - *No marks (0 of 3)*: "(a) It learned to understand reviews, since it had 0 % before and 95 % after. (b) Nothing was lost, the reward is higher, so
#   the model is better. (c) It will know more, because people have corrected it." Why: three misconceptions, (a) takes the form for the knowledge,
#   (b) the reward for the wish, (c) preferences for facts.

# %% [markdown] questions
# ## Three questions
#
# For yourself: open an answer to see whether it is right.
#
# 1. Before tuning no answer had the wanted form; after 300 examples about 95 % are right. What did the examples teach?
#    - What the words of reviews mean. => Forced to choose between two words, the base was right in 93 % of the reviews before it had seen one example.
#    + Mostly the form of an answer. => The meaning was known before; the labels brought perhaps two points in a hundred.
#    - Nothing: the model was as good before. => It answered in no wanted form at all. That is what changed.
# 2. With $\beta = 0.1$ the reward is as high as with 0.5, at more than four times the KL. Is it the better model?
#    - Yes: it has gone farther for the same wish. => Distance is not what was wished for; it won nothing more, and it cost French.
#    - Neither: the same reward means equally good. => The reward counts judging words, and is blind to what is between them.
#    + No: it has lost more of the language. => The perplexity on reviews nearly doubled and the sentences fall apart, which no reward shows.
# 3. What does the loss of DPO ask of a pair?
#    + That the chosen answer gains on the rejected one. => Compared with the reference: only the difference of the two log-ratios is in the loss.
#    - That the chosen answer becomes as probable as possible. => That is training on the chosen answers alone. In DPO both may even become less probable, if the rejected one loses more.
#    - That the model stays as close to the reference as it can. => At the start it is as close as can be, and the loss is $\ln 2$. $\beta$ says how soon a gain is enough.

# %% [markdown]
# ## What to remember
#
# - A language model can be **asked**: score the words that would come next, by log-odds. The wording matters; choose it by validation.
# - **Instruction tuning** is training as before, with the loss on the answer only. It mostly teaches a form; the knowledge was there, or is not.
# - The logarithm of the probability of an answer is a sum over its tokens: long answers are improbable.
# - **DPO** wants the chosen answer to gain on the rejected one, compared with a reference; both may become less probable. $\beta$ holds the model close to it.
# - A reward is a measure of the wish, not the wish. Look at what it does not count: the distance from the reference, the perplexity on other texts, and the texts.
#
# **Go further.** Take a reward of your own: few repeated words, or sentences of ten words. Then give `prefer` twice the passes, and look where the reward goes, and where the French. And ask with examples: put two reviews with their answers before the question. This model, which has read single reviews of at most 80 words, does not learn from them; a large one does ([Brown et al. 2020](https://arxiv.org/abs/2005.14165)).

# %% [markdown]
# ## What others call it
#
# - **zero-shot, few-shot**: a prompt without, and with, examples in it. Learning from examples in the prompt is *in-context learning*.
# - **instruction tuning** (also *supervised fine-tuning*, *SFT*): training on prompts with answers.
# - **-100, `ignore_index`**: the label of tokens that are left out of the loss, prompt and padding, and the argument of PyTorch's `cross_entropy` that says which label this is.
# - **alignment**: making a model do what is wanted.
# - **RLHF**: reinforcement learning from human feedback. It trains a *reward model* on preferences, and then the language model by reinforcement learning on the rewards of what it writes ([Ouyang et al. 2022](https://arxiv.org/abs/2203.02155)); DPO does without both.
# - **policy, reference**: the model that learns, and what it began as.
# - **KL penalty**: what holds the policy close to the reference.
# - **reward hacking** (also *over-optimisation*): a high reward for what nobody wanted ([Gao et al. 2022](https://arxiv.org/abs/2210.10760)).

# %% experiment open=true
from tutor import progress

progress()
