# ---
# jupyter:
#   course:
#     teaches: a GPT of one's own, from bytes to text
#     part: models
#     column: 3
#     row: 3
#     builds_on: ["06", "05"]
#     running: 4
#     questions:
#       - Can I build a GPT myself?
#       - What are the pieces that a GPT reads, and who chooses them?
#       - How is a language model trained and measured, and what does it cost?
#   jupytext:
#     notebook_metadata_filter: course
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 14 · Your own GPT
#
# A zip program makes a text smaller: what comes again is only pointed back to, and what is frequent gets a short code. A language model can do so, too: the better it guesses what comes next, the fewer bits are left to write.
#
# Here you build one, train it in a minute or two on one core of a laptop until it writes readable French, and see whether it needs fewer bits than `zlib`, which packs as most zip files are packed. Eight parts are yours, from the tokenizer to the optimizer; attention, which you wrote in notebook 03, is given.
#
# It is built nearly as GPT-2 was in 2019: pieces of words in place of words, learned positions, layers with the norm before each part, and a head that is the embedding once more (but a ReLU, where GPT-2 has a GELU). The newer parts of today's models come in notebook 16.
#
# **When you are done, you can**
# - learn the pieces of a language from its bytes, and cut any text with them;
# - write a whole GPT, and say what each of its parameters is for;
# - write its loss so that no logit is too large for it, and its optimizer, AdamW;
# - train it, and measure it in a unit that does not depend on how its text was cut;
# - estimate beforehand what a training costs;
# - draw from its distribution, and let it write.
#
# **Time**: about 3 h 45 min. **Before this**: notebooks 03 (pre-norm), 05 (counting) and 06 (training, temperature).
#
# | exercise | what it asks | points |
# |---|---|---|
# | `train_bpe` | the pieces of a language, from its bytes | 4 |
# | `bpe_encode` | a text cut into these pieces | 2 |
# | `GPT` | the whole model | 4 |
# | `cross_entropy` | the loss, for logits of any size | 2 |
# | `bits_per_byte` | a measure for any vocabulary | 2 |
# | `adamw_step` | the optimizer's step, decay apart | 2.5 |
# | `training_loop` | batches, schedule, clipping | 3 |
# | `next_token_distribution` | temperature, top-k, top-p | 3 |
# | *essay* `scaling_essay` | what ten times the quality would take | 2 |
# | **total** | | **24.5** |
#
# Folded cells are experiments: they train, measure and draw, and no mark depends on them.

# %% setup
import lzma
import math
import re
import time
import zlib
from collections import Counter, OrderedDict, defaultdict

import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from tqdm.auto import tqdm

from helpers import plots
from tutor import by_hand, check, guess, hint, resume, reveal
from helpers.corpora import load
from helpers.heads import Attention, causal_mask

# %% [markdown]
# ## 1. The text, and the program to beat
#
# The reviews are the unlabelled ones of notebook 06, all of them invented. To work with real ones, change the name in the first line: they are downloaded once, and everything below runs on them, more slowly. The last 150 reviews are held back: nothing learns from them, neither pieces nor weights.

# %% experiment open=true
CORPUS = "reviews_fr"  # invented reviews; "cls_books" for real ones


def read_texts(name: str) -> list[str]:
    """Returns the reviews of a corpus that need no label, as texts; each ends with a line break."""
    corpus = load(name)
    texts = corpus["unlabelled" if "unlabelled" in corpus.parts else "train"]["text"]
    if any("▁" in text for text in texts):  # real reviews come as pieces marked with ▁
        texts = [text.replace(" ", "").replace("▁", " ").strip() for text in texts]
    return [text + "\n" for text in texts]


texts = read_texts(CORPUS)
train_texts, held_back = texts[:-150], texts[-150:]
n_bytes = sum(len(text.encode()) for text in held_back)
print(f"{len(train_texts):,} reviews to learn from, {len(held_back)} held back ({n_bytes:,} bytes)")
print(train_texts[1])

# %% [markdown]
# How many bits does a program need for each byte that is held back? Raw bytes take 8. Counting how often each byte occurs, and giving short codes to frequent ones, cannot do with less than the entropy of these shares (notebook 03). `zlib` also looks for repetitions within the last 32,768 bytes ([RFC 1951](https://www.rfc-editor.org/rfc/rfc1951), section 2).
#
# How many bits per byte does `zlib` need? And how many will a model with fewer than 100,000 parameters need, after it has read all the other reviews once? The second guess is asked in section 5. Write a number in place of the dots, or leave them and go on: a guess earns nothing and costs nothing.

# %% guess
guess("bits per byte that zlib needs", ...)

# %% measured
# @title What programs need for each byte
raw = "".join(held_back).encode()
shares = torch.tensor(list(Counter(raw).values())) / len(raw)
zipped = 8 * len(zlib.compress(raw, level=9)) / len(raw)
programs = {"as it is": 8.0,
            "by the share of each byte": float(-(shares * shares.log2()).sum()),
            "zlib": zipped}
pd.DataFrame({"bits per byte": programs}).round(2)

# %% reveal
reveal("bits per byte that zlib needs", zipped)

# %% [markdown]
# In our run `zlib` needs 1.93 bits for each byte. That is the program to beat. (In section 5 a stronger one comes.)
#
# ## 2. Pieces: what a GPT reads
#
# A vocabulary of words has no number for a word that it has never seen. A vocabulary of characters makes texts long, and sooner or later one comes with a character that is not in it.
#
# The way out that GPT-2 took ([Radford et al. 2019](https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf), section 2.2): begin with the **256 bytes**, of which every text in the world is made, and then join, again and again, the two neighbours that are found together most often. The number of a piece is what other texts call its *token id*.
#
# Joining is *byte-pair encoding*, a method of data compression that [Sennrich et al. 2016](https://arxiv.org/abs/1508.07909) brought to translation.
#
# Two rules keep the pieces useful. A text is first cut into words (or signs), each with the space before it, and **no piece reaches across words**: else the list would fill up with pieces such as the end of one word with the beginning of the next. And all must be **deterministic**: learning twice from the same text gives the same pieces.

# %% setup
WORD = re.compile(r" ?\w+| ?[^\w\s]+|\s")  # a word or signs, with the space before them
Pair = tuple[int, int]


def split_words(text: str) -> list[str]:
    """Returns the words of a text; put together they are the text again."""
    return WORD.findall(text)


def replace_pair(numbers: list[int], pair: Pair, new: int) -> list[int]:
    """Returns the numbers with `new` in place of each occurrence of the pair, from left to right."""
    found: list[int] = []
    for number in numbers:
        if found and (found[-1], number) == pair:
            found[-1] = new
        else:
            found.append(number)
    return found

# %% experiment
# @title Two texts as words, and words as bytes
for text in ("L'été dernier, j'ai lu.", "aab aab"):
    print(split_words(text), [list(word.encode()) for word in split_words(text)][:2])

# %% [markdown]
# *é* is two bytes, 195 and 169. A first merge in French might well be to put these two together.
#
# ### By hand
#
# The text is `aab aab`. Its words are `aab` and `␣aab` (`␣` is the space): the bytes 97 97 98, and 32 97 97 98. Count the pairs of neighbours: (97, 97) occurs twice, (97, 98) twice, (32, 97) once. Two are equally frequent, and the smaller one wins: 97 97 becomes **256**. Now the words are 256 98 and 32 256 98. Which pair is the second one, and becomes 257? And which would be the third?

# %% by_hand
by_hand("train_bpe", [
    [97, 97],
    [..., ...],  # the second pair
    [..., ...],  # the third
])

# %% [markdown]
# The second pair is (256, 98), which occurs twice; it becomes 257. Then the words are 257 and 32 257, so the third pair is (32, 257).

# %% exercise="train_bpe"
def train_bpe(texts: list[str], merges: int) -> list[Pair]:
    """Returns the pairs to merge, tuples of two numbers, in the order in which they were learned.

    A word (of `split_words`) begins as the list of its bytes, numbers from 0 to 255. Again and again,
    the most frequent pair of neighbours is replaced by a new number in all words: first 256, then 257, ...
    Neighbours overlap: 1, 1, 1 has the pair (1, 1) twice. Pairs never reach across words. Of equally
    frequent pairs the smallest is taken, as Python compares tuples. It ends after `merges`
    pairs, or before, when every word is a single piece.

    Example: train_bpe(["aab aab"], 2) is [(97, 97), (256, 98)].
    """
    ### BEGIN SOLUTION
    counts = Counter(word for text in texts for word in split_words(text))
    parts = {word: list(word.encode()) for word in counts}  # each different word once
    pairs, places = Counter[Pair](), defaultdict[Pair, set[str]](set)  # how often, and in which words
    for word, numbers in parts.items():
        for pair in zip(numbers, numbers[1:]):
            pairs[pair] += counts[word]
            places[pair].add(word)
    found: list[Pair] = []
    while (most := max(pairs.values(), default=0)) > 0 and len(found) < merges:
        best = min(pair for pair, count in pairs.items() if count == most)
        for word in places.pop(best):  # only these words change
            old, new = parts[word], replace_pair(parts[word], best, 256 + len(found))
            for pair in zip(old, old[1:]):
                pairs[pair] -= counts[word]
            for pair in zip(new, new[1:]):
                pairs[pair] += counts[word]
                places[pair].add(word)
            parts[word] = new
        found.append(best)
    return found
    ### END SOLUTION


# %% [markdown]
# ### Counting again, or keeping the counts
#
# Counting all pairs again after each merge gives the right pairs, and takes two seconds here. Real text has more different words: the 1.1 MB of Shakespeare's plays in section 5 have nearly sixteen times as many, and 768 merges take some 50 s in this way.
#
# Yet a merge changes only the words in which its pair occurs. Note beside each pair which words these are, and *keep* the counts. Then a merge only subtracts the pairs of the old parts of these words, and adds those of the new ones: 1.3 s, for the same merges. Tokenizers are trained in this way. (The check accepts either.)
#
# ### To cut a text
#
# The same merges, in the same order, cut any other text. The order matters: of two pairs that both occur in a word, the one that was learned first is merged first, wherever it is. This is not the same as taking the longest piece that fits.
#
# **By hand**: the bytes of `abc` are 97, 98 and 99. The merges are (98, 99), which makes 256, and (97, 98), which makes 257, in this order. How is `abc` cut?

# %% by_hand
by_hand("bpe_encode", [..., ...])  # the numbers of its pieces

# %% [markdown]
# The first merge leaves 97, 256, that is `a|bc`, and now there is no pair (97, 98) any more. The longest piece from the left would be `ab|c`.

# %% exercise="bpe_encode"
def bpe_encode(text: str, merges: list[Pair]) -> list[int]:
    """Returns the numbers of the pieces of a text.

    Each word (of `split_words`) begins as its bytes. The merges are made in the order in which they were
    learned, each wherever its pair stands in the word, from left to right; merge number n (counted from 0)
    makes 256 + n.
    `merges` is any list of different pairs in which pair n holds numbers below 256 + n, whatever text it
    was learned from.

    Example: bpe_encode("aab b", [(97, 97), (256, 98)]) is [257, 32, 98].
    """
    ### BEGIN SOLUTION
    pieces: list[int] = []
    for word in split_words(text):
        numbers = list(word.encode())
        for new, pair in enumerate(merges, 256):
            numbers = replace_pair(numbers, pair, new)
        pieces += numbers
    return pieces
    ### END SOLUTION


# %% [markdown]
# The way back to text is easy: put the bytes together. Only one thing can go wrong, and with a model that writes, it does: half an *é* is no character. `errors="replace"` puts a � there.
#
# Now we can learn pieces and look at them. We take 500 reviews: they already hold 964 of the 1,071 different words (each with its space) of all the reviews to learn from. Real reviews have far more different words, and more of them would take longer.

# %% setup
def bpe_pieces(merges: list[Pair]) -> list[bytes]:
    """Returns the bytes of each number: the 256 bytes, then what the merges make."""
    pieces = [bytes([byte]) for byte in range(256)]
    for first, second in merges:
        pieces.append(pieces[first] + pieces[second])
    return pieces


def bpe_decode(numbers: list[int], merges: list[Pair]) -> str:
    """Returns the text of pieces. Bytes that are no character, as half an é, become "�"."""
    pieces = bpe_pieces(merges)
    return b"".join(pieces[number] for number in numbers).decode("utf-8", errors="replace")

# %% experiment
# @title Pieces of French, in the order in which they were learned
all_merges = train_bpe(train_texts[:500], 768)  # for fewer, take the beginning of this list
pieces = bpe_pieces(all_merges)
learned = [piece.decode("utf-8", errors="replace").replace(" ", "␣") for piece in pieces[256:]]
print("first: ", " | ".join(learned[:24]))
print("then:  ", " | ".join(learned[200:216]))
print("last:  ", " | ".join(learned[-12:]))
strange = "Naïveté, œuvre, 漢字 and 😀: does it come back?"
print(strange, "->", bpe_decode(bpe_encode(strange, all_merges), all_merges), "\n")
for size in (256, 320, 512, 1024):
    numbers = bpe_encode("La lecture était fascinante.", all_merges[: size - 256])
    cut = "|".join(bpe_decode([number], all_merges) for number in numbers).replace(" ", "␣")
    print(f"V = {size:5}: {len(numbers):2} pieces  {cut}")

# %% [markdown]
# The very first merge is *é*, and next come endings and the beginnings of words after a space. The program knows nothing about French: that *-es*, *-nt* and *ou* are useful follows from counting. Among the last pieces are whole words (*épilogue*, *␣Silence*) and names (*␣Roquevert*), beside stems (*␣silhouett*) and short remains (*ire*). They are there only because the text is full of them: these are the pieces of *this* corpus.
#
# (With 256 pieces you see � where a letter has been cut into its two bytes. Signs that the program has never read come back all the same.)
#
# ### A token that is no text
#
# Where does one review end? Ours end with a line break, and none has one inside, so that the model can learn it. In general any text may hold a line break, and what is to mark an end must not occur in any text. GPT-2 therefore has one token more than its merges make: a *special token*, written `<|endoftext|>`, which stands between two documents.
#
# It is put in as a number. Where it is written into a text, it must be found **before** the text is cut into words, else it is signs and letters like any other. Chat models have several: where a turn begins, who speaks, where it ends.

# %% setup
def encode_with_special(text: str, merges: list[Pair], special: list[str]) -> list[int]:
    """Returns the numbers of a text whose special tokens are whole: special[0] is 256 + len(merges)."""
    parts = re.split("(" + "|".join(map(re.escape, special)) + ")", text)  # these are kept, at odd indices
    numbers: list[int] = []
    for index, part in enumerate(parts):
        if index % 2:
            numbers.append(256 + len(merges) + special.index(part))
        else:
            numbers += bpe_encode(part, merges)
    return numbers

# %% experiment
# @title The end of a text as letters, and as a special token
END = "<|endoftext|>"
two = f"Un beau livre.{END}Une lecture pénible."
print("as text:         ", bpe_encode(two, all_merges))
print("as special token:", encode_with_special(two, all_merges, [END]))

# %% [markdown]
# As text it is cut into ten numbers, which say nothing to the model; as a special token it is one, 1024, beyond all pieces. Where a text comes from a stranger, use `bpe_encode`: someone who can write special tokens into a prompt can end the document, or speak in another's name. (Below, the line break stays our mark, so that nothing changes in what we compare with.)
#
# ### What the size of the vocabulary does
#
# A larger vocabulary makes texts shorter, so that a model with a window of $n$ tokens sees more text at once. It costs parameters: one row of $d$ values for each piece. A model of width 48 with two layers has about 57,000 parameters in its layers. From which size of the vocabulary on does the embedding have more?

# %% guess
guess("size of the vocabulary from which on the embedding is larger", ...)

# %% experiment
# @title Bytes per token, and parameters of the embedding, by the vocabulary
def encode_all(texts: list[str], merges: list[Pair]) -> Tensor:
    """Returns the numbers of all texts in one row; each different word is cut once."""
    different = {word for text in texts for word in split_words(text)}
    known = {word: bpe_encode(word, merges) for word in different}
    return torch.tensor([number for text in texts for word in split_words(text) for number in known[word]])


def in_layers(d: int, n_layers: int) -> int:
    """Returns the parameters of pre-norm layers with feed-forward parts of width 4 d (notebook 05)."""
    return n_layers * (12 * d**2 + 13 * d)


sizes = [256, 320, 512, 768, 1024]
per_token = [n_bytes / len(encode_all(held_back, all_merges[: size - 256])) for size in sizes]
figure, (left, right) = plots.panels(2, width=4.2, height=3.3)
lengths = {"text held back": per_token}
counts = {"embedding": [48 * size / 1000 for size in sizes],
          "layers": [in_layers(48, 2) / 1000] * len(sizes)}
plots.curves(lengths, sizes, title="Pieces grow longer ...", axes=left,
             x_label="vocabulary V", y_label="bytes per token")
plots.curves(counts, sizes, title="... and the embedding larger (d = 48)", axes=right,
             x_label="vocabulary V", y_label="parameters (thousands)")
left.set_ylim(0, 4.5)
right.set_ylim(0, 70)
plots.show(figure, f"Left, bytes per token: {plots.describe_curves(lengths, sizes, 'V', digits=3)} "
           f"Right, thousands of parameters: {plots.describe_curves(counts, sizes, 'V', digits=3)}")

# %% reveal
reveal("size of the vocabulary from which on the embedding is larger", in_layers(48, 2) / 48)

# %% [markdown]
# The first merges shorten the text most, each further one by less; the embedding grows in a straight line. In our run a token stands for 1 byte with 256 pieces, and for 3.36 bytes with 1,024. At this width the embedding would have more parameters than both layers from about 1,200 pieces on. We take $V = 512$. (GPT-2 has 50,257 pieces and a width of 768 or more: section 2.3 of the paper.)

# %% experiment
# @title The text as tokens of 512 pieces
V = 512
merges = all_merges[: V - 256]
train_tokens, held_tokens = encode_all(train_texts, merges), encode_all(held_back, merges)
bytes_per_token = n_bytes / len(held_tokens)
print(f"{len(train_tokens):,} tokens to learn from, {len(held_tokens):,} held back, "
      f"{bytes_per_token:.2f} bytes per token")

# %% [markdown] pause
# You can cut any text into pieces. Next come the model that reads them, its loss and its optimizer.

# %% [markdown]
# ## 3. The model
#
# A GPT is a stack of pre-norm layers between two uses of one table. Two of its parts you have written in notebooks 01 and 03, and the set-up has imported them from `helpers.heads`:
#
# - `causal_mask(n)`: the mask `(n, n)`, 0 and minus infinity;
# - `Attention(d_model, n_heads)`: a module with the layers `query`, `key`, `value` and `output`. It is called with `x` `(b, n, d)` and a mask, which it adds to its scores.
#
# `FeedForward` below was given in notebook 03, too. New is `TokenEmbedding`.
#
# The picture shows one layer: the norm stands before each part, and the residual path, on the right, is never normed.

# %% experiment
# @title One pre-norm layer
from helpers.diagrams import Diagram

picture = Diagram(4.2, 4.5)
picture.column(1.6, 0.3, [
    ("x", "x (b, n, d)", "data"), ("norm 1", "norm", "part"),
    ("attention", "causal attention", "attention"), ("add 1", "add", "data"),
    ("norm 2", "norm", "part"), ("feed-forward", "feed-forward", "part"), ("add 2", "add", "data"),
    ("next", "to the next layer (b, n, d)", "data"),
], step=0.55, width=1.75)
picture.around("x", "add 1", reach=1.15)
picture.around("add 1", "add 2", reach=1.15)
picture.show(
    "One pre-norm layer, from bottom to top: x, norm, causal attention, add, norm, feed-forward, add, "
    "the next layer. Residual lines lead past norm and attention, and past norm and feed-forward."
)

# %% setup
class FeedForward(nn.Sequential):
    """Two linear layers with a ReLU in between, `(b, n, d)` to `(b, n, d)`, for each token by itself."""

    def __init__(self, d_model: int, d_feedforward: int) -> None:
        hidden, output = nn.Linear(d_model, d_feedforward), nn.Linear(d_feedforward, d_model)
        super().__init__(OrderedDict(hidden=hidden, activation=nn.ReLU(), output=output))


class TokenEmbedding(nn.Embedding):
    """A row of d numbers for each token. Rows begin with a length of about 1."""

    def reset_parameters(self) -> None:
        """Draws the first numbers; PyTorch calls it."""
        nn.init.normal_(self.weight, std=self.embedding_dim**-0.5)

# %% [markdown]
# **One table, used twice.** At the bottom, token $t$ becomes row $t$ of the embedding $E$. At the top, the score of token $t$ is the product of the last hidden state with row $t$: $\text{logits} = h E^\top$. This is a *tied head*; [Press and Wolf 2017](https://arxiv.org/abs/1608.05859) showed that it helps, and it saves $V \cdot d$ parameters.
#
# The two uses want different sizes. As a head, rows of length about 1 give scores of a reasonable size to hidden states of $d$ values around 1. As an input, such a row would be small beside a position whose values are around 1. So the embedding, *as an input*, is multiplied by $\sqrt d$ ([Vaswani et al. 2017](https://arxiv.org/abs/1706.03762), section 3.4, do both: tie and multiply).
#
# Positions begin here with a standard deviation of 1, as the rows of PyTorch's `nn.Embedding` do; much smaller ones would make hardly any difference beside the token at first, much larger ones would hide it.
#
# For example, with $d = 4$ the row $(0.5, -0.5, 0.5, 0.5)$ has length 1. Times $\sqrt 4 = 2$ it is $(1, -1, 1, 1)$: values of the size of the position's.
#
# ### Exercise: the whole model
#
# Two classes in one cell. `Layer` is pre-norm, $x + \text{part}(\text{norm}(x))$, twice. `GPT` puts everything together: embedding times $\sqrt d$, plus position, layers, a last norm, the tied head. There is no dropout: a model this small, which reads each text once, has no time to learn by heart.

# %% exercise="GPT"
class Layer(nn.Module):
    """A pre-norm layer: x + attention(norm(x)), then x + feed_forward(norm(x)). No dropout.

    Its parts are called attention_norm, attention, feed_forward_norm and feed_forward: an
    nn.LayerNorm, an Attention, another nn.LayerNorm and a FeedForward of width 4 * d_model inside.
    How small the eps of a norm is, no check asks.
    """

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.attention_norm = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, n_heads)
        self.feed_forward_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, 4 * d_model)
        ### END SOLUTION

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Returns `(b, n, d)` for `x` `(b, n, d)` and a mask `(n, n)`."""
        ### BEGIN SOLUTION
        x = x + self.attention(self.attention_norm(x), mask)
        return x + self.feed_forward(self.feed_forward_norm(x))
        ### END SOLUTION


class GPT(nn.Module):
    """A language model with a tied head.

    Its parts are called embedding (a TokenEmbedding), position (an nn.Parameter of normal random numbers,
    `(max_len, d_model)`, with standard deviation 1), layers (an nn.ModuleList of `n_layers` layers)
    and norm (an nn.LayerNorm).
    The embedding times sqrt(d_model), plus the position, goes through the layers and the norm. A token's
    score is the product of the result with its row of the embedding: the head is no module. There is
    nothing else in it, under no other name, and no buffer: masks are made when they are needed.
    """

    def __init__(self, vocab_size: int, d_model: int, n_layers: int, n_heads: int, max_len: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.embedding = TokenEmbedding(vocab_size, d_model)
        self.position = nn.Parameter(torch.randn(max_len, d_model))
        self.layers = nn.ModuleList(Layer(d_model, n_heads) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)
        ### END SOLUTION

    def forward(self, tokens: Tensor) -> Tensor:
        """Returns logits `(b, n, V)` of the next token, for tokens `(b, n)` with n <= max_len."""
        ### BEGIN SOLUTION
        n, d = tokens.shape[1], self.embedding.embedding_dim
        mask = causal_mask(n)
        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]  # (b, n, d)
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x) @ self.embedding.weight.T  # (b, n, V)
        ### END SOLUTION


# %% [markdown]
# Three tests of a new model cost nothing:
#
# - the **count**, by the formulas of notebook 05 with a feed-forward width of $4d$: $V d$ for the embedding, $n d$ for positions, $12 d^2 + 13 d$ for each layer, $2d$ for the last norm, and nothing for the head;
# - a **known model with the same weights** must give the same logits: `helpers.models` has one whose head can be tied;
# - the **first loss**: a model that knows nothing gives each of $V$ tokens the same chance, and has a loss of $\ln V$, here 6.24.
#
# Is the first loss of a new model with a tied head less than that, about the same, or more?

# %% guess
guess("the first loss, beside ln V", ..., among=["less", "about the same", "more"])

# %% experiment
# @title Three tests of a new model: count, known logits, first loss
from helpers.models import LanguageModel, TransformerBase  # to compare, and for nothing else

SHAPES = {"small": (48, 2, 4), "larger": (80, 3, 4)}  # width, layers, heads
WINDOW = 64


def new_gpt(name: str) -> GPT:
    """Returns a new model of one of the shapes, always with the same first weights."""
    torch.manual_seed(0)
    return GPT(V, *SHAPES[name], WINDOW)


for name, (d, n_layers, n_heads) in SHAPES.items():
    model = new_gpt(name)
    numel = sum(parameter.numel() for parameter in model.parameters())
    formula = V * d + WINDOW * d + in_layers(d, n_layers) + 2 * d
    theirs = LanguageModel(
        TransformerBase(V, d, n_layers, n_heads, 4 * d, 0.0, "learned", norm_first=True, max_len=WINDOW)
    )
    theirs.base.load_state_dict(
        model.state_dict(), strict=False
    )  # a head that shares the table is one more name
    # The head is tied, as ours is: its weight is that of the embedding, and its bias is 0.
    theirs.head.weight, theirs.head.bias.data[:] = theirs.base.embedding.weight, 0
    tokens = train_tokens[: 8 * WINDOW].view(8, WINDOW)
    with torch.no_grad():
        logits, known = model(tokens), theirs(tokens)
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
    print(
        f"{name:6} {numel:,} parameters, by formula {formula:,}; largest difference from the known model "
        f"{(logits - known).abs().max():.0e}"
    )
    itself = (logits.argmax(-1) == tokens).float().mean()
    print(
        f"       first loss {loss:.2f}, ln V = {math.log(V):.2f}; at {itself:.0%} of the positions "
        f"the likeliest next token is the token itself"
    )

# %% reveal
above = loss.item() - math.log(V)  # of the larger model
reveal("the first loss, beside ln V",
       "more" if above > 0.1 else "less" if above < -0.1 else "about the same")

# %% [markdown]
# The counts agree, and so do the logits. But the first loss is **above** $\ln V$: these models are worse than ignorant. The last number tells why. The residual path carries each token's own row to the top, where a tied head compares it with all rows and finds it most alike to itself: a new model with a tied head believes that every token comes once more. The first steps of training are spent on unlearning that.
#
# ## 4. How good is it?
#
# ### The loss, by hand
#
# At each position the loss is $-\ln$ of the probability that the model gave to the token which came. So far PyTorch has computed it. With logits $z$, and $t$ for the number of the token that came, it is
#
# $$ -\ln \frac{e^{z_t}}{\sum_j e^{z_j}} $$
#
# Before you write it, run it as it stands. The first row below is an ordinary one. In the others a number was added to all its logits: that changes no probability, and so it changes no loss. What comes out where 150 was taken off all logits?

# %% guess
guess("the loss computed as it stands, all logits less 150", ...,
      among=["the same", "another number", "no number"])

# %% experiment open=true
row = torch.tensor([2.0, 1.0, -1.0])  # the logits of one position; the first token came
for shift in (0.0, 50.0, 100.0, -50.0, -150.0):
    powers = torch.exp(row + shift)
    print(f"all logits {shift:+5.0f}: loss {-torch.log(powers[0] / powers.sum()):.3f}")

# %% reveal
as_it_stands, right = -torch.log(powers[0] / powers.sum()), -row.log_softmax(dim=0)[0]
reveal("the loss computed as it stands, all logits less 150",
       "no number" if as_it_stands.isnan()
       else "the same" if as_it_stands.isclose(right) else "another number")

# %% [markdown]
# 32 bits hold no number above $3.4 \cdot 10^{38}$, which is $e^{88.7}$, and take $e^{-104}$ for 0: infinity by infinity, and 0 by 0, are no numbers. (In float16 $e^{12}$ is too large.) Logits of such sizes come up when a training goes wrong, and just then the loss should be right.
#
# The way out is the rule that you have just seen: the same number may be added to all logits. So take the largest one away, $m = \max_j z_j$, and stay with logarithms:
#
# $$ -\ln \frac{e^{z_t}}{\sum_j e^{z_j}} = \ln \sum_j e^{z_j - m} - (z_t - m) $$
#
# Now the largest term of the sum is $e^0 = 1$; whatever is rounded to 0 beside it does not matter. This is called *log-sum-exp*. It also has the right gradient, for each logit its probability, less 1 for the token that came. A limit on the logits or on the probabilities (`clamp`, or `+ 1e-9`) has not: where it acts, nothing is learned.
#
# **By hand**: logits 1000, 1001 and 999, and the first token came. What is the loss?

# %% by_hand
by_hand("cross_entropy", ...)  # in nats

# %% [markdown]
# Less 1001 the logits are $-1$, 0 and $-2$; the sum is $0.368 + 1 + 0.135 = 1.503$, and the loss $0.408 + 1 = 1.408$.

# %% exercise="cross_entropy"
def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Returns the mean loss of all positions, in nats: a tensor without axes, through which gradients pass.

    The loss of a position is -log softmax(logits)[target]. It is right, and so is its gradient, for finite
    logits of any size, 10,000 apart too. Write it by hand, with `exp` and `log`: an answer that uses
    PyTorch's own cross_entropy, log_softmax, logsumexp or distributions earns nothing.

    Args:
        logits: `(..., V)`: one axis or more before the last.
        targets: `(...)`, numbers from 0 to V - 1.

    Example: cross_entropy(torch.tensor([[1000.0, 1001.0, 999.0]]), torch.tensor([0])) is 1.4076.
    """
    ### BEGIN SOLUTION
    shifted = logits - logits.max(dim=-1, keepdim=True).values  # (..., V), at most 0
    log_sums = shifted.exp().sum(dim=-1).log()  # (...)
    right = shifted.gather(-1, targets[..., None])[..., 0]  # (...)
    return (log_sums - right).mean()
    ### END SOLUTION


# %% [markdown]
# ### In which unit?
#
# The loss of a language model is in nats *per token*, and a token is whatever the vocabulary makes of it. A model with long pieces has few tokens, each of which is hard to guess; one that reads bytes has many that are easy. Their losses, and their perplexities, cannot be compared. What can be compared is how many bits they need for the **whole text**, shared out among its bytes, which do not depend on any vocabulary:
#
# $$ \text{bits per byte} = \frac{\text{sum of all losses in nats}}{\ln 2 \cdot \text{number of bytes}} $$
#
# **By hand**: a text of 6 bytes is cut into two tokens, to which the model gives the probabilities $1/4$ and $1/16$. How many bits per byte are that?

# %% by_hand
by_hand("bits_per_byte", ...)

# %% [markdown]
# These are $2 + 4 = 6$ bits for 6 bytes: 1 bit per byte. A second model cuts it into three tokens and gives each of them $1/4$. Its loss per token is lower: $\ln 4 = 1.39$ nats, against 2.08. And in bits per byte? (It is the same: 1.)
#
# Here and in the loop below `F.cross_entropy` may do the work that you have written above. Three things must hold while one measures: evaluation mode, no gradients, and **nothing of the text held back may have been learned from**, not even its pieces.

# %% exercise="bits_per_byte"
def bits_per_byte(model: nn.Module, tokens: Tensor, n_bytes: int) -> float:
    """Returns how many bits the model needs for each byte of a text it is only measured on.

    The model reads all tokens of each row but the last, and is asked at each position for the next one.
    The cross-entropies of all positions are added up, in bits, and divided by the number of bytes. It is
    measured in evaluation mode and without gradients; afterwards the model is in the mode in which it came.

    Args:
        model: gives logits `(b, n, V)` for tokens `(b, n)`.
        tokens: `(b, n + 1)`.
        n_bytes: how many bytes the tokens that are asked for stand for.
    """
    ### BEGIN SOLUTION
    training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(tokens[:, :-1])  # (b, n, V)
    model.train(training)
    target = tokens[:, 1:]
    nats = cross_entropy(logits, target) * target.numel()  # of all positions together
    return nats.item() / math.log(2) / n_bytes
    ### END SOLUTION


# %% experiment
# @title Bits per byte of models that have learned nothing yet
def windows(tokens: Tensor) -> Tensor:
    """Returns windows `(k, WINDOW + 1)` of tokens; each begins with the last token of the one before."""
    count = (len(tokens) - 1) // WINDOW
    return torch.stack([tokens[n * WINDOW : (n + 1) * WINDOW + 1] for n in range(count)])


held_windows = windows(held_tokens)
held_bytes = sum(len(bpe_pieces(merges)[number]) for number in held_windows[:, 1:].flatten().tolist())
for name in SHAPES:
    print(f"{name:6} untrained: {bits_per_byte(new_gpt(name), held_windows, held_bytes):.2f} bits per byte")

# %% [markdown]
# (Each window is read by itself: its first token is guessed from a single one, so the number is a little higher than it would be with more context. All our models are measured in the same way. The very first token, and those behind the last whole window, are not asked for, and their bytes are not counted; the programs of section 1 get all of the text. These are a few bytes of 40,754.)
#
# ## 5. Training
#
# ### The optimizer
#
# Adam ([Kingma and Ba 2015](https://arxiv.org/abs/1412.6980), algorithm 1) keeps for each weight two means that fade: one of its gradients $g$, and one of their squares.
#
# $$ m \leftarrow \beta_1 m + (1 - \beta_1)\, g, \qquad v \leftarrow \beta_2 v + (1 - \beta_2)\, g^2 $$
#
# Both begin at 0, and so are too small at first: after $t$ steps by the factors $1 - \beta_1^t$ and $1 - \beta_2^t$, by which they are divided. With these $\hat m$ and $\hat v$, the weight moves by $\text{rate} \cdot \hat m / (\sqrt{\hat v} + \varepsilon)$: by about the rate, whatever the size of its gradients. ($\varepsilon$ is there so that nothing is divided by 0.)
#
# We take $\beta_1 = 0.9$ and $\beta_2 = 0.95$, as the training of GPT-3 did and that of many language models since. Adam's paper, and PyTorch, have 0.999 for the second: then the mean of the squares covers some 1,000 steps in place of 20, and follows more slowly when gradients change.
#
# To *regularise*, that is to keep weights from growing beyond what they are needed for, they are pulled towards 0. The obvious way is a penalty of $\frac{\lambda}{2} w^2$ in the loss, which adds $\lambda w$ to the gradient. Try it: a thousand weights of 1 have large gradients, another thousand have small ones, and all are noise, so that nothing is left but the pull. Which weights should shrink more, and which do?

# %% experiment
# @title Weight decay with Adam and with AdamW, for large gradients and small ones
noise = torch.Generator().manual_seed(0)
for way in (torch.optim.Adam, torch.optim.AdamW):
    weights = nn.Parameter(torch.ones(2, 1000))
    optimizer = way([weights], lr=1e-3, weight_decay=0.5)
    for _ in range(500):
        weights.grad = torch.tensor([[10.0], [0.1]]) * torch.randn(2, 1000, generator=noise)
        optimizer.step()
    large, small = weights.mean(dim=1).tolist()
    print(f"{way.__name__:5} mean weight, gradients of size 10: {large:.2f}, of size 0.1: {small:.2f}")

# %% [markdown]
# As a penalty, the pull is part of the gradient, and Adam divides it by the size of the gradients: weights with large ones hardly feel it, and those with small ones shrink far more than they should. **AdamW** ([Loshchilov and Hutter 2019](https://arxiv.org/abs/1711.05101)) takes the pull out of the gradient: each step multiplies the weight by $1 - \text{rate} \cdot \lambda$, apart from everything else. This *decoupled weight decay* treats all weights alike ($0.9995^{500} = 0.78$).
#
# All but the norms and biases: they are few, and the factor of a norm belongs near 1. As in nanoGPT and in `helpers.training`, only what has two axes or more decays: all matrices, and with them the embedding and the positions.
#
# **By hand**: a weight of 2 in a matrix, with a gradient of 0.5, at the first step, with a rate of 0.1 and a decay of 0.1 (and $\varepsilon = 0$). Where is the weight afterwards? Give three digits.

# %% by_hand
by_hand("adamw_step", ...)  # the weight after the first step

# %% [markdown]
# The weight is multiplied by 0.99: 1.98. The means are $0.1 \cdot 0.5 = 0.05$ and $0.05 \cdot 0.25 = 0.0125$; divided by $1 - 0.9$ and $1 - 0.95$ they are 0.5 and 0.25. So the weight moves by $0.1 \cdot 0.5 / \sqrt{0.25} = 0.1$, to 1.88.

# %% setup
State = dict[str, Tensor | int]  # of one parameter: how many steps it has made, and the two means

# %% exercise="adamw_step"
def adamw_step(
    weight: Tensor, gradient: Tensor, state: State, rate: float,
    betas: tuple[float, float] = (0.9, 0.95), eps: float = 1e-8, decay: float = 0.01,
) -> tuple[Tensor, State]:
    """Returns a parameter after one step of AdamW, and its state then. What is given stays as it is.

    A parameter with two axes or more is multiplied by 1 - rate * decay first; one with a single axis does
    not decay. Then rate * m / (sqrt(v) + eps) is subtracted, where m and v are the means of the gradients
    and of their squares, this gradient included, divided by 1 - betas[0]**t and 1 - betas[1]**t at step t
    (counted from 1). Write it by hand: an answer that uses an optimizer of PyTorch earns nothing.

    Args:
        gradient: as large as the weight.
        state: {} before the first step; then "step" (the steps that have been made: it is given as an
            int, and may come back as an int or as a tensor of one number), "mean" and "square"
            (the two means, as large as the weight, as they are before they are divided).
    """
    ### BEGIN SOLUTION
    step = state.get("step", 0) + 1
    mean = betas[0] * state.get("mean", 0) + (1 - betas[0]) * gradient
    square = betas[1] * state.get("square", 0) + (1 - betas[1]) * gradient**2
    direction = mean / (1 - betas[0] ** step) / ((square / (1 - betas[1] ** step)).sqrt() + eps)
    if weight.dim() > 1:
        weight = weight * (1 - rate * decay)
    return weight - rate * direction, {"step": step, "mean": mean, "square": square}
    ### END SOLUTION


# %% [markdown]
# What is left of an optimizer is to keep a state for each parameter, and to make the step for all of them. After a hundred steps your AdamW and PyTorch's must have come to the same weights.
#
# (The cell compares in double precision, 64 bits. Some gradients are 0 but for rounding, those of the key's biases for example, which add the same to all scores of a row. Adam divides even these by their size, so with 32 bits such weights would differ between the two programs.)

# %% setup
class AdamW(torch.optim.Optimizer):
    """Makes your step for all parameters of a model."""

    def __init__(self, parameters, lr: float, betas=(0.9, 0.95), decay: float = 0.01) -> None:
        super().__init__(parameters, {"lr": lr, "betas": betas, "decay": decay})

    @torch.no_grad()
    def step(self) -> None:
        """Moves every parameter that has a gradient."""
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    moved, self.state[weight] = adamw_step(
                        weight,
                        weight.grad,
                        self.state[weight],
                        group["lr"],
                        group["betas"],
                        decay=group["decay"],
                    )
                    weight.copy_(moved)

# %% experiment
# @title Your AdamW beside PyTorch's, after a hundred steps
def in_one_row(model: GPT) -> Tensor:
    """Returns all weights of a model."""
    return torch.cat([weight.detach().flatten() for weight in model.parameters()])


def after_steps(optimizer_of) -> Tensor:
    """Returns the weights of a small model after 100 steps with an optimizer."""
    model = new_gpt("small").double()
    optimizer = optimizer_of(model)
    for tokens in train_tokens[: 100 * 4 * WINDOW].view(100, 4, WINDOW):
        optimizer.zero_grad()
        cross_entropy(model(tokens[:, :-1]), tokens[:, 1:]).backward()
        optimizer.step()
    return in_one_row(model)


def of_torch(model: GPT) -> torch.optim.Optimizer:
    """Returns PyTorch's AdamW with two groups: what decays, and what does not."""
    matrices = [weight for weight in model.parameters() if weight.dim() > 1]
    vectors = [weight for weight in model.parameters() if weight.dim() < 2]
    groups = [{"params": matrices}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.95), weight_decay=0.01)


ours = after_steps(lambda model: AdamW(model.parameters(), lr=1e-3))
apart = (ours - after_steps(of_torch)).abs().max()
moved = (ours - in_one_row(new_gpt("small"))).abs().max()
print(f"In 100 steps a weight has moved by up to {moved:.2f}; "
      f"{'all are' if apart < 1e-6 * moved else 'not all are'} where PyTorch's AdamW has them.")

# %% [markdown] pause
# You have a model, its loss, a measure for any vocabulary, and an optimizer. Next they are put together: the model is trained, and writes.

# %% [markdown]
# ### The loop
#
# One step: set the rate, read a batch, compute the loss, clear the gradients, go backward, clip, step. The schedule of notebook 12 rose and then fell like one over a square root.
#
# Here is another, for a training whose length $T$ is known beforehand. It rises in a straight line to its peak at step $W$, and falls in a straight line, so that the step after the last one would have a rate of 0. (A rate of 0 at the last step itself would waste that step.)
#
# $$ \text{rate}(t) = \text{peak} \cdot \min\left(\frac{t}{W},\ \frac{T - t + 1}{T - W + 1}\right) $$
#
# A rate is kept in the optimizer, once for each *group* of parameters; changing it there changes the next step:

# %% experiment open=true
weight = nn.Parameter(torch.tensor([1.0]))
optimizer = torch.optim.SGD([weight], lr=0.1)
for rate in (0.1, 0.5):
    optimizer.param_groups[0]["lr"] = rate
    optimizer.zero_grad()
    weight.sum().backward()  # the gradient is 1
    optimizer.step()
    print(f"rate {rate}: the weight is now {weight.item():.1f}")

# %% [markdown]
# For example, with three batches, read twice ($T = 6$), and $W = 2$, the rates are $\frac12, 1, \frac45, \frac35, \frac25, \frac15$ of the peak. The count goes on in the second pass; it is steps that count, not passes.

# %% exercise="training_loop"
def training_loop(
    model: nn.Module, optimizer: torch.optim.Optimizer, batches: list[Tensor],
    passes: int, peak: float, warmup_steps: int,
) -> list[float]:
    """Trains a model, in training mode; returns the loss of each batch, as it was before its step.

    The batches `(b, n + 1)`, each with b and n of its own, are read in their order, all of them `passes`
    times, T steps in all. In each step the rate of every group of the optimizer is set first: at step
    t, counted from 1, it is peak * min(t / W, (T - t + 1) / (T - W + 1)), where W is `warmup_steps`
    (1 <= W <= T). The model reads all tokens of each row but the last, which may be as many as it has
    positions. The loss is the mean cross-entropy of the next tokens; gradients that were there before do
    not count. The gradient of all parameters of the model together is scaled down to length 1 where it
    is longer, and the optimizer, which holds all of them, makes its step with it.
    """
    ### BEGIN SOLUTION
    model.train()
    losses, steps, step = [], passes * len(batches), 0
    for _ in range(passes):
        for tokens in batches:
            step += 1
            rising, falling = step / warmup_steps, (steps - step + 1) / (steps - warmup_steps + 1)
            for group in optimizer.param_groups:
                group["lr"] = peak * min(rising, falling)
            loss = cross_entropy(model(tokens[:, :-1]), tokens[:, 1:])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
    return losses
    ### END SOLUTION


# %% [markdown]
# ### When a batch is too large for the memory
#
# A batch of 16 windows can also be read as four batches of 4, one after the other: the gradients are added up (do not clear!), and each loss is divided by 4. Only the activations of 4 windows are in memory at any time. Is the gradient the same?
#
# And what if the parts have 12, 2, 1 and 1 windows, and each loss is still divided by 4? Guess the length of the difference of that gradient from the right one, divided by the length of the right one: 0 is the same, 1 is as large as the gradient itself.

# %% guess
guess("relative difference of the gradient, parts of 12, 2, 1 and 1 windows", ...)

# %% experiment
# @title The gradient of a batch, read in parts
def gradient(parts: list[Tensor], shares: list[float]) -> Tensor:
    """Returns the gradient of a new model in one row; the losses of the parts count by their shares."""
    model = new_gpt("small")
    for tokens, share in zip(parts, shares):
        logits, target = model(tokens[:, :-1]), tokens[:, 1:]
        (share * cross_entropy(logits, target)).backward()  # adds to what is there
    return torch.cat([parameter.grad.flatten() for parameter in model.parameters()])


batch = windows(train_tokens[: 17 * WINDOW])[:16]
whole, uneven = gradient([batch], [1.0]), list(batch.split([12, 2, 1, 1]))
ways = {
    "four parts of 4, each a quarter": gradient(list(batch.split(4)), [1 / 4] * 4),
    "12, 2, 1, 1 windows, each a quarter": gradient(uneven, [1 / 4] * 4),
    "12, 2, 1, 1 windows, by their share": gradient(uneven, [len(part) / 16 for part in uneven]),
}
for way, found in ways.items():
    print(f"{way:36} relative difference {(found - whole).norm() / whole.norm():7.2f}")

# %% reveal
from_uneven = ways["12, 2, 1, 1 windows, each a quarter"]
reveal("relative difference of the gradient, parts of 12, 2, 1 and 1 windows",
       (from_uneven - whole).norm() / whole.norm())

# %% [markdown]
# Equal parts give the same gradient up to rounding: the loss of the batch is the mean of the four losses, and the gradient of a mean is the mean of the gradients. Uneven ones do not, unless each loss counts with its share: a mean of means is no mean. This mistake is easily made with padded texts, whose batches have different numbers of real tokens.
#
# ### The run
#
# All of the text, once: batches of 8 windows, each window read a single time. For a wider model change `SHAPES` (section 3), for a shorter run `STEPS`. The loss of a batch is noted *before* the step, on text that the model has not read yet, so the training loss itself tells how well it guesses new text.
#
# `PEAKS` holds the highest rate of each schedule, the *peak* of the formula. The larger model gets a smaller one, as is usual (those of [GPT-3](https://arxiv.org/abs/2005.14165) are in its table 2.1). Whether other rates would do better, we have not tried.
#
# Two models learn from exactly the same batches. Which one is ahead after the same number of **tokens**, and which one after the same number of **seconds**, when the small one has just finished? And how many bits per byte does the small one need at the end, where `zlib` needs 1.93? (The second cell takes a minute and a half to three minutes; a bar shows how far it is. If you are in a hurry, set `STEPS = 900`.)

# %% experiment open=true
BATCH, WARMUP = 8, 60
PEAKS = {"small": 6e-3, "larger": 4e-3}

generator = torch.Generator().manual_seed(0)
all_windows = windows(train_tokens)
STEPS = len(all_windows) // BATCH  # all of the text
order = torch.randperm(len(all_windows), generator=generator)[: STEPS * BATCH]
batches = list(all_windows[order].split(BATCH))  # (8, 65) each
read = STEPS * BATCH * WINDOW
print(f"{STEPS} steps, {read:,} tokens, about {read * bytes_per_token / 1e6:.1f} MB of text")

# %% guess
guess("which model is ahead after the same number of tokens", ..., among=["small", "larger"])

# %% guess
guess("which model is ahead when the small one has finished", ..., among=["small", "larger"])

# %% guess
guess("bits per byte of the small model at the end", ...)

# %% measured
# @title Both models are trained
models, losses, seconds = {}, {}, {}
for name, peak in PEAKS.items():
    model = new_gpt(name)
    optimizer = AdamW(model.parameters(), lr=peak)
    shown = tqdm(total=len(batches), desc=name, unit="step")
    optimizer.register_step_post_hook(lambda *_, shown=shown: shown.update())  # after each step
    start = time.process_time()  # of the processor: what else the machine does is not counted
    losses[name] = training_loop(model, optimizer, batches, 1, peak, min(WARMUP, STEPS))
    shown.close()
    seconds[name], models[name] = time.process_time() - start, model
    print(f"{name:6} {seconds[name]:4.0f} s, held back: "
          f"{bits_per_byte(model, held_windows, held_bytes):.2f} bits per byte (zlib: {zipped:.2f})")

# %% measured
# @title Which model is ahead, by tokens and by time?
points = {name: torch.tensor(found).tensor_split(20) for name, found in losses.items()}
curves = {name: [float(part.mean()) / math.log(2) / bytes_per_token for part in parts]
          for name, parts in points.items()}  # bits per byte
ends = torch.tensor([len(part) for part in points["small"]]).cumsum(0)  # the last step of each point
tokens_read = (ends * BATCH * WINDOW // 1000).tolist()
figure, (left, right) = plots.panels(2, width=4.4, height=3.5)
plots.curves(curves, tokens_read, title="By tokens read", x_label="tokens (thousands)",
             y_label="bits per byte, on text not yet read", axes=left)
for number, (name, found) in enumerate(curves.items()):
    right.plot(ends / STEPS * seconds[name], found, label=name, color=plots.COLOURS[number],
               marker=plots.MARKERS[number], markevery=2, markersize=5)
right.set(xlabel="seconds of processor time", ylabel="bits per byte, on text not yet read")
right.set_title("By time", fontsize=11)
right.grid(color="#dddddd", linewidth=0.6)
for axes in (left, right):
    axes.axhline(zipped, color="#555555", linestyle=":", label="zlib")
    axes.set_ylim(0, 5)
    axes.legend(frameon=False)
told = plots.describe_curves(curves, tokens_read, "tokens (thousands)", digits=2)
plots.show(figure, f"By tokens: {told} "
           f"By time, the small model ends after {seconds['small']:.0f} s and the larger one after "
           f"{seconds['larger']:.0f} s. The dotted line of zlib lies at {zipped:.2f} bits per byte.")

# %% reveal
reveal("which model is ahead after the same number of tokens",
       min(curves, key=lambda name: curves[name][-1]))

# %% reveal
so_far = (ends / STEPS * seconds["larger"] <= seconds["small"]).sum()  # points of the larger one until then
then = {"small": curves["small"][-1], "larger": curves["larger"][max(int(so_far) - 1, 0)]}
reveal("which model is ahead when the small one has finished", min(then, key=then.get))

# %% reveal
reveal("bits per byte of the small model at the end",
       lambda: bits_per_byte(models["small"], held_windows, held_bytes))

# %% [markdown]
# By **tokens** the larger model is ahead: it learns more from the same text, as [Kaplan et al. 2020](https://arxiv.org/abs/2001.08361) found at sizes far beyond ours. By **time** the small one is ahead as long as both are training: its steps are cheaper, and it has read more by then. At the end the larger one is ahead.
#
# (The comparison by time is not quite fair: when the small one has finished its schedule, the larger one is in the middle of its own, with a high rate. And the seconds are those of a single run each.) Which of the two to take depends on what runs out first, text or time.
#
# In our run the small model ends at 0.61 bits per byte and the larger one at 0.48, where `zlib` needs 1.93. So a model with fewer than 100,000 parameters does beat the zip program. (One seed each, and one rate each: a difference of a few hundredths would say nothing here, and part of this one may come from the rates.)

# %% [markdown]
# ### A fairer opponent
#
# `zlib` had read nothing before, and the models have read three megabytes of similar text. So let us give a program the same advantage: `lzma`, which searches for repetitions in all that it has read, gets the very text that the models have read, and then the text held back. What the second one adds is what it needs. Who will win, and why?

# %% guess
guess("bits per byte that lzma needs after the same text", ...)

# %% measured
# @title A program that has read the same text
pieces = bpe_pieces(merges)
read_text = b"".join(pieces[number] for batch in batches for number in batch[:, 1:].flatten().tolist())
alone = len(lzma.compress(read_text, preset=9))
together = len(lzma.compress(read_text + raw, preset=9))
primed = 8 * (together - alone) / len(raw)
print(f"lzma, after the same {len(read_text) / 1e6:.1f} MB: {primed:.2f} bits per byte")

# %% reveal
reveal("bits per byte that lzma needs after the same text", primed)

# %% [markdown]
# In our run `lzma` needs 0.80 bits per byte once it has read the same text: less than half of what `zlib` needs. Both models need fewer still. These reviews are made from about a hundred patterns (`data/README.md`), so whole phrases come back word for word. A program that finds them anywhere in three megabytes profits from that; the model sees the last 64 tokens and has the rest in its weights. Text that people wrote repeats itself far less.
#
# The models were not always ahead. After a third of the text the larger model is near 0.9 bits in the figure. We have tried a training that ends there, with a schedule that has come down to 0 (`STEPS = 900`): it comes to 0.85, and `lzma` after the same 1.0 MB to 0.86, nearly a tie. A comparison of two learners holds for the budget at which it was made: give both three times as much text, and the model is far ahead.
#
# Nor is the account complete. Unpacking the compressed text takes the model, too, and the weights of the larger one take more than a megabyte. What this comparison teaches is something else: **a number says little without an opponent who had the same advantages.**
#
# ### What did it cost?
#
# A multiplication of a matrix with a vector is two operations for each weight, one product and one sum. Forward, each of the $N$ parameters that multiply something is used once for each token: $2N$. Backward costs twice as much, for the gradients of the inputs and those of the weights: $4N$. For $D$ tokens that is the rule of thumb $C \approx 6ND$ (Kaplan et al., section 2.1, who leave out the embedding).
#
# From here on the letters are those of the papers: $D$ is the number of tokens, not the width, and $C$ the number of operations (*FLOPs*). Our table counts once: looking up a row multiplies nothing, but the tied head does. Positions and norms are too few to matter.
#
# The rule leaves out what attention does beside its matrices: scores, and sums of values. PyTorch can count all multiplications of matrices while a step runs. How far off is the rule? And how many operations a second does your machine get out of the training, compared with one large multiplication of matrices?

# %% measured
# @title The rule 6ND beside what was counted, and operations a second
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode


def counted(model: GPT, tokens: Tensor) -> int:
    """Returns the floating point operations of one forward and one backward pass."""
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):  # attention step by step
        cross_entropy(model(tokens[:, :-1]), tokens[:, 1:]).backward()
    return counter.get_total_flops()


def best_rate(size: int = 1024) -> float:
    """Returns how many operations a second of processor time one large product of matrices makes."""
    a = torch.randn(size, size)
    start = time.process_time()
    for _ in range(5):
        a @ a
    return 5 * 2 * size**3 / (time.process_time() - start)


rows = {}
for name, model in models.items():
    N = sum(parameter.numel() for parameter in model.parameters()) - model.position.numel()
    rule, exact = 6 * N * read, counted(model, batches[0]) * STEPS
    rows[name] = {"N (thousands)": f"{N / 1e3:.0f}", "6ND (10^9)": f"{rule / 1e9:,.0f}",
                  "counted (10^9)": f"{exact / 1e9:,.0f}", "counted / 6ND": f"{exact / rule:.2f}",
                  "seconds": f"{seconds[name]:.0f}", "10^9 a second": f"{exact / seconds[name] / 1e9:.0f}"}
print(f"one large product of matrices: {best_rate() / 1e9:.0f} * 10^9 operations a second")
pd.DataFrame(rows).T

# %% [markdown]
# The rule is close. It comes out about a tenth too low, because the scores and sums of attention are left out; with a longer window they would weigh more. In our run, what was counted is 1.13 times $6ND$ for the small model and 1.10 times for the larger one.
#
# Of the speed of one large product, training gets only a part: its matrices are small, and norms, softmax and optimizer take time without counting here. (All times of this table come from single runs; yours differ.) So one can say beforehand how long a training takes: $6ND$, divided by a speed that was measured in a minute of it.

# %% [markdown]
# ### A text that everybody measures on
#
# Reviews that a program invented are easy. For a real text there is one on which many first models are measured: *tiny Shakespeare*, 1.1 MB of his plays. [nanoGPT](https://github.com/karpathy/nanoGPT) says in its README what a small model reaches on it without a GPU. It has four layers of width 128, windows of 64 characters, 12 in a batch, and 2,000 steps; it comes to a loss of **1.88 nats per character** on the tenth of the text that is held back.
#
# Your parts can be put to the same test. Byte pairs have no part in it: each of the 65 characters is a token. The course has done it once, with its own answers in the place of yours, and kept the losses in `data/measured_here`.
#
# To do it with your model, open the next cell and set `again = True`, which takes about five minutes. It needs the text, 1.1 MB, which `load("shakespeare")` downloads once and keeps (or takes from the copy that the environment variable `COURSE_DATA_MIRROR` names); nothing else in this notebook needs it.

# %% experiment
# @title Tiny Shakespeare with the parts of this notebook, beside nanoGPT
again = False  # True downloads the text, if it is not there yet, and trains twice on it
RECIPE_STEPS, NANOGPT = 2000, 1.88


def on_shakespeare(peak: float) -> list[dict]:
    """Trains a GPT on the characters of the plays, by nanoGPT's recipe for a CPU but for the schedule."""
    text = "\n".join(load("shakespeare").train["text"])
    number = {sign: n for n, sign in enumerate(sorted(set(text)))}
    tokens = torch.tensor([number[sign] for sign in text])
    seen, held = tokens.tensor_split([len(tokens) * 9 // 10])
    torch.manual_seed(0)
    model = GPT(len(number), 128, 4, 4, WINDOW)
    starts = torch.randint(len(seen) - WINDOW, (RECIPE_STEPS, 12, 1))
    optimizer = AdamW(model.parameters(), lr=peak, betas=(0.9, 0.99), decay=0.1)
    shown, found = tqdm(total=RECIPE_STEPS, desc=f"peak {peak:g}", unit="step"), []

    def after_step(*_) -> None:
        shown.update()
        if shown.n % 500 == 0:  # a byte is a character here
            bits = bits_per_byte(model, windows(held), windows(held)[:, 1:].numel())
            found.append({"peak": peak, "steps": shown.n, "held_back": bits * math.log(2)})

    optimizer.register_step_post_hook(after_step)
    training_loop(model, optimizer, list(seen[starts + torch.arange(WINDOW + 1)]), 1, peak, 100)
    shown.close()
    return found


if again:
    plays = pd.DataFrame([row for peak in (1e-3, 4e-3) for row in on_shakespeare(peak)])
else:
    plays = load("measured_here")["shakespeare"].rows
steps = sorted(plays["steps"].unique())
nats = {f"peak {peak:g}": part["held_back"].tolist() for peak, part in plays.groupby("peak")}
axes = plots.curves(nats, steps, title="Tiny Shakespeare, by character", x_label="steps",
                    y_label="nats per character, held back")
axes.axhline(NANOGPT, color="#555555", linestyle=":", label="nanoGPT after 2,000 steps")
axes.set_ylim(1.5, 2.5)
axes.legend(frameon=False)
plots.show(axes.figure, f"{plots.describe_curves(nats, steps, 'steps', digits=3)} "
           f"The dotted line, of nanoGPT after 2,000 steps, lies at {NANOGPT}.")

# %% [markdown]
# With nanoGPT's highest rate, 0.001, these parts come to 1.92 nats in our run, a few hundredths above its 1.88; with the highest rate of our larger model, four times as much, they come to 1.76. So the rate matters more than what else is different. The schedule here is a straight line to 0, there a cosine down to a tenth; nanoGPT has a GELU, draws its first weights smaller, and reports the loss of 20 batches in place of the whole tenth. (One seed each.)
#
# ## 6. Writing
#
# The model gives a distribution over the next token. To write is to draw from it, again and again. Drawn as it is, a text derails sooner or later: each of hundreds of unlikely tokens has a tiny chance, but together they have a considerable one, and one bad token spoils what follows. Three knobs, in this order:
#
# - **temperature**: divide the logits by it. Below 1 the most probable tokens gain and the others lose, above 1 it is the other way round; their order stays.
# - **top-k**: keep the $k$ most probable tokens.
# - **top-p**: keep the *fewest* of the most probable tokens that have $p$ or more together (*nucleus sampling*, [Holtzman et al. 2020](https://arxiv.org/abs/1904.09751), section 3.1). Where the model is sure, that is one token; where it is not, it may be a hundred.
#
# **By hand**: four tokens have the probabilities 0.5, 0.3, 0.15 and 0.05. What is left of them with a top-p of 0.75?

# %% by_hand
by_hand("next_token_distribution", [..., ..., ..., ...])

# %% [markdown]
# One token has 0.5, which is not enough; two have 0.8, which is. These two are left, with $0.5 / 0.8 = 0.625$ and 0.375. The token that *crosses* $p$ is in; to drop it is the classical mistake, and with $p = 0.4$ nothing at all would be left.

# %% exercise="next_token_distribution"
def next_token_distribution(
    logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Tensor:
    """Returns the probabilities `(V,)` from which the next token is drawn.

    First the logits are divided by the temperature. Then `top_k` leaves the k most probable tokens. Then
    `top_p` leaves the fewest of the most probable ones that have p or more together, of what
    is left and sums to 1 again. What is cut gets 0, and the result sums to 1. None cuts nothing.

    Args:
        logits: `(V,)`, no two of them equal.
        temperature: above 0.
        top_k: from 1 to V.
        top_p: above 0 and at most 1, which cuts nothing, up to rounding.
    """
    ### BEGIN SOLUTION
    chances, indices = torch.softmax(logits / temperature, dim=-1).sort(descending=True)
    if top_k is not None:
        chances[top_k:] = 0
        chances = chances / chances.sum()
    if top_p is not None:
        before = chances.cumsum(dim=0) - chances  # what the more probable ones have together
        before[0] = 0
        chances = chances.where(before < top_p, torch.zeros_like(chances))
        chances = chances / chances.sum()
    return torch.zeros_like(chances).scatter(0, indices, chances)  # each back at its token's index
    ### END SOLUTION


# %% experiment
# @title How the model writes
@torch.no_grad()
def write(model: GPT, prompt: str, n_tokens: int, seed: int, **cut) -> str:
    """Returns the prompt and what the model writes after it; it reads the last WINDOW tokens each time."""
    numbers, generator = bpe_encode(prompt, merges), torch.Generator().manual_seed(seed)
    for _ in range(n_tokens):
        logits = model(torch.tensor([numbers[-WINDOW:]]))[0, -1]  # (V,)
        chances = next_token_distribution(logits, **cut)
        numbers.append(int(torch.multinomial(chances, 1, generator=generator)))
    return bpe_decode(numbers, merges)

# %% measured
# @title The same beginning, drawn in five ways
PROMPT = "Ce roman"
for told, cut in {"as it is": {}, "temperature 2": {"temperature": 2.0}, "top-k 5": {"top_k": 5},
                  "top-p 0.9": {"top_p": 0.9}, "temperature 0.1": {"temperature": 0.1}}.items():
    print(f"[{told}]\n{write(models['larger'], PROMPT, 60, seed=1, **cut).strip()}\n")

# %% [markdown]
# Read them, with a dictionary if you know no French. Where do the words break, where do the agreements, where does the sense? A temperature of 2 takes many words apart, and even "as it is" one of hundreds of unlikely tokens gets in now and then. A low temperature writes what is most common. With top-p, whole sentences can be read. Here are four reviews from their first word on, at most 100 tokens of each:

# %% measured
# @title Four reviews, from their first word on
for seed in range(4):
    print(write(models["larger"], "\n", 100, seed, temperature=0.8, top_p=0.9).strip().split("\n")[0], "\n")

# %% [markdown]
# A model of 280,000 parameters writes sentences of French, with titles in « » and most adjectives in the gender of their nouns, and it has learned from nothing but guessing the next token. What it does not have is a judgement: praise and blame stand side by side, of books that nobody has written. It sees 64 tokens at a time, and knows how reviews sound.
#
# Move the sliders, with the mouse or with the arrow keys: what is left of the distribution after a prompt? The static figure below shows a temperature of 1 and a top-p of 0.7.

# %% interactive
# @title What temperature and top-p leave of a distribution: move the sliders
from ipywidgets import FloatSlider, interact


AFTER = "C'est donc un livre à"


def show_distribution(temperature: float, top_p: float) -> None:
    """Draws the chances of the next token after a prompt, before and after the cut."""
    with torch.no_grad():
        logits = models["larger"](torch.tensor([bpe_encode(AFTER, merges)]))[0, -1]
    order = logits.argsort(descending=True)[:14]
    found = {"temperature alone": next_token_distribution(logits, temperature),
             "and top-p": next_token_distribution(logits, temperature, top_p=top_p)}
    figure, (axes,) = plots.panels(1, width=8.2, height=3.4)
    for number, (name, chances) in enumerate(found.items()):
        axes.bar(torch.arange(14) + 0.4 * number, chances[order], width=0.4, label=name,
                 color=plots.COLOURS[number])
    names = [bpe_decode([number], merges) for number in order.tolist()]
    names = [name.replace(" ", "␣").replace("\n", "↵") for name in names]
    axes.set_xticks(torch.arange(14) + 0.2, names, rotation=35)
    axes.set(xlabel="next token, the 14 most probable", ylabel="probability", ylim=(0, 1))
    axes.set_title(f"After “{AFTER}”: temperature {temperature:g}, top-p {top_p:g}", fontsize=11)
    axes.legend(frameon=False)
    kept = int((found["and top-p"] > 0).sum())
    plots.show(figure, f"With temperature {temperature:g} the most probable next token has "
               f"{found['temperature alone'].max():.2f}; top-p {top_p:g} leaves {kept} of {V} tokens.")


_ = interact(show_distribution,
             temperature=FloatSlider(value=1.0, min=0.2, max=3.0, step=0.2, continuous_update=False),
             top_p=FloatSlider(value=0.7, min=0.1, max=1.0, step=0.05, continuous_update=False))

# %% measured
# @title The same picture for those who only read: temperature 1, top-p 0.7
show_distribution(1.0, 0.7)

# %% [markdown]
# ## 7. Essay
#
# Two papers asked what a larger budget buys. Both fit curves to many trainings.
#
# - [Kaplan et al. 2020](https://arxiv.org/abs/2001.08361) find power laws, the *scaling laws*: with enough of everything else, the loss falls like $N^{-0.076}$ with the parameters (without the embedding), and like $D^{-0.095}$ with the tokens. Larger models need fewer tokens for the same loss; they conclude that a larger budget should mostly go into a larger model.
# - [Hoffmann et al. 2022](https://arxiv.org/abs/2203.15556) ("Chinchilla"), with more than 400 trainings, conclude that parameters and tokens should grow **equally**: for each doubling of the one, a doubling of the other. For the budgets that they look at, this comes to about **20 tokens for each parameter**, the number for which the paper is best known; the cell below begins there. Their third approach fits $L(N, D) = 1.69 + 406.4 / N^{0.34} + 410.7 / D^{0.28}$ (nats per token of *their* vocabulary and text). [Besiroglu et al. 2024](https://arxiv.org/abs/2404.10102) could not reproduce this last fit from the paper's own figure, and find other constants; the equal growth stands.

# %% experiment
# @title What the fit of Hoffmann et al. says of ten times as much
def chinchilla(N: float, D: float) -> float:
    """Returns the loss that Hoffmann et al. (2022) fit, in nats per token of their text."""
    return 1.69 + 406.4 / N**0.34 + 410.7 / D**0.28


print(f"Kaplan: 10 times the parameters multiply the loss by {10**-0.076:.2f}, "
      f"10 times the tokens by {10**-0.095:.2f}")
for times_n, times_d in ((1, 1), (10, 1), (1, 10), (10**0.5, 10**0.5), (10, 10)):
    N, D = 1e9 * times_n, 20e9 * times_d
    print(f"N = {N:.1e}, D = {D:.1e}, 6ND = {6 * N * D:.1e}: loss {chinchilla(N, D):.2f}, "
          f"above the floor {chinchilla(N, D) - 1.69:.2f}")

# %% [markdown]
# In at most twelve lines, in English or in French: **what would you need to make *your* model ten times as good?** Say first what "ten times as good" shall mean, in which unit and against which floor. Then say what you would have more of (parameters, tokens, time, other text), by how much, and what it would cost by $6ND$, with at least one number of your own run. Use what the two papers say, and say what cannot be carried over from them to your model.

# %% [markdown] essay="scaling_essay"
# **Rubric** (half a point for each, 2 points in all). Any plan can be right; what counts is whether it is thought through.
#
# - *A measure*: says what "ten times" means. Bits per byte cannot fall to a tenth as one likes: text has an entropy, a floor that no model goes below (1.69 nats in the fit of Hoffmann et al. is such a floor); sensible are a tenth of the distance to a floor, ten times fewer errors of some kind, or a named task.
# - *Parameters and tokens together, with the papers*: power laws with small exponents, so that ten times the parameters or tokens give some 16 or 20 % off the loss (Kaplan) and a tenth of it is far away; Hoffmann et al.: grow both equally. For a model that has read about five tokens per parameter (the small one 15), where they come to about 20, more tokens come first.
# - *The cost, from the own run*: uses $6ND$ and the own seconds; both ten times larger is a hundred times the operations, so a run of a minute takes more than an hour. The window and the attention add to it.
# - *What cannot be carried over*: invented text from about a hundred patterns has another entropy and is soon learned by heart; their vocabulary, text and sizes are others (far outside of the range that was fitted); a lower loss is not a better text. Real text, and more of it, changes what is learned.
#
# **Misconceptions that cost marks**: "ten times the parameters is ten times as good"; "bits per byte can fall to zero with enough compute"; "more passes over the same text are as good as new text"; "a smaller vocabulary lowers the loss per token, so the model is better"; "a lower loss means that what it writes is true".
#
# **Answers as students write them**
#
# - *Full marks (2 of 2)*: "By ten times as good I mean a tenth of the distance between my bits per byte and the entropy of the text, since below that
#   no model can go. The exponents are small: by Kaplan ten times the parameters take 16 % off the loss and ten times the tokens 20 %, so I would need
#   both, and by Hoffmann in equal parts. My larger model has 0.28 million parameters and has read 1.28 million tokens, less than five for each
#   parameter, where Hoffmann et al. come to about 20, so I would first give it ten times as many tokens, all of them new. That is ten times the operations ($6ND$) and ten times the seconds;
#   ten times of both is a hundred times, more than an hour in place of a minute. I cannot take over their constants, as my text is invented from a
#   hundred patterns and my models are far smaller than theirs. A model with fewer bits would write better French, but it would know no more about
#   books." Why: All four lines.
# - *Half (1 of 2)*: "Ten times as good would be a loss ten times lower, and I get it with ten times the parameters, because Kaplan shows that the
#   loss falls with size. It would cost ten times the operations by $6ND$: my larger model took about a minute, so it would be ten minutes on the same
#   tokens. What I cannot carry over are their numbers, as they have another vocabulary and real text from the web, while my reviews are invented."
#   Why: *the cost* with a number of the own run and *what cannot be carried over* (1). The measure ignores the floor, with a misconception, and ten
#   times the parameters do not give a tenth of the loss (0.5 lost); tokens are not mentioned (0.5 lost).
# - *No marks (0 of 2)*: "I would take a smaller vocabulary, as the loss per token and the perplexity get better then. With ten times the parameters
#   the model is ten times as good. If it reads the reviews ten times more often, that is ten times as much text. In the end the loss is zero, and
#   then all that it writes is true." Why: Each sentence is a misconception: a unit that depends on the vocabulary, parameters as quality, repetition
#   as new text, no floor, and loss as truth. There is no cost and no number of the own run.

# %% [markdown] questions
# ## Three questions
#
# For yourself: open an answer to see whether it is right.
#
# 1. One model reads bytes, another pieces of three bytes on average. The first has the lower loss per token. Which is better?
#    - The first: its perplexity is lower, too. => Loss and perplexity are per token, and a byte is easier to guess than a piece.
#    - The second: its vocabulary is larger. => A larger vocabulary makes a text shorter; it does not make the guesses better.
#    + Losses per token cannot tell. => Count both in bits per byte: the bytes of a text are the same, however it is cut.
# 2. Why does AdamW keep the weight decay out of the gradient?
#    + Adam would divide the pull by the gradient's size. => Weights with large gradients would hardly shrink, and those with small ones far too much.
#    - The pull would make the gradient too long to be clipped. => Clipping acts on any length. What goes wrong is the division afterwards.
#    - A penalty in the loss would make the loss too large. => How large a loss is does not matter to Adam; only its gradient does.
# 3. You have ten times the compute, and text enough. What does it buy?
#    - A loss that is a tenth of what it was. => The exponents are below 0.1 (Kaplan et al.): ten times the parameters take some 16 % off.
#    + A loss that is somewhat lower. => Best with a larger model and more tokens: by Hoffmann et al. both grow equally, by about $\sqrt{10}$ each, as $C \approx 6ND$.
#    - Any loss you like, down to zero bits per byte. => Text has an entropy, a floor below which no model can go.

# %% [markdown]
# ## What to remember
#
# - Bytes and merges make a vocabulary without unknown words; what is merged is decided by counting, inside of words, with ties broken by a rule.
# - A tied head is the embedding once more. A first loss tells more about a new model than a look at its code.
# - Take the largest logit away before `exp`. Adam divides a gradient by its size, so weight decay must stay out of it.
# - Compare language models in **bits per byte**: everything else depends on how the text was cut.
# - Warm-up, decay and clipping are five lines. A mean of means is no mean.
# - Training costs about $6ND$ operations. By tokens the larger model is ahead; by time the small one is ahead at first.
# - The token that crosses $p$ stays in.
#
# **Go further.** How few steps are enough to be ahead of `lzma` (section 5), with which width and which window? And on real reviews (`CORPUS = "cls_books"`), or on the plays (`CORPUS = "shakespeare"`), who is ahead? Then change one thing at a time: byte by byte ($V = 256$), rotary positions (notebook 02), a batch of 64 by accumulation.
#
# You have now written what a GPT of 2019 is made of, from the bytes to the optimizer, but for a few given lines and the attention of notebook 03. Put the newer parts of notebooks 02 and 16 in their places, and it is what many large models are made of today. What is left is more text, more time, and the question of notebook 12: compared with what, over how many seeds, chosen on which part?

# %% [markdown]
# ## What others call it
#
# - **byte-pair encoding** (also *BPE*): joining the two pieces that stand together most often, again and again; a *byte-level* one knows every text.
# - **bits per byte** (also *BPB*): the loss in a unit that no tokenizer changes.
# - **gradient clipping**: a gradient that is too long is shortened.
# - **decoupled weight decay**: what the W of AdamW stands for.
# - **top-p** (also *nucleus sampling*): drawing from the fewest tokens that have $p$ together.
# - **FLOPs**: floating point operations, here about $6ND$ for a training.
# - **scaling law**: how the loss falls with parameters, tokens and compute.
# - **compute-optimal**: the best use of a given number of FLOPs; by Hoffmann et al. about 20 tokens for each parameter.

# %% experiment open=true
from tutor import progress

progress()
