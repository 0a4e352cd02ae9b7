# ---
# jupyter:
#   course:
#     teaches: a GPT of one's own, from bytes to text, with nothing but torch
#     part: models
#     column: 3
#     row: 3
#     builds_on: ["12"]
#     running: 3
#     questions:
#       - What are the pieces that a GPT reads, and who chooses them?
#       - How is a language model trained and measured, and what does it cost?
#       - Why can it write faster than it reads?
#   jupytext:
#     notebook_metadata_filter: course
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% setup
import math
import re
import time
import zlib
from collections import Counter, OrderedDict

import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from tqdm.auto import tqdm

from helpers import plots
from helpers.check import check
from helpers.data import load
from helpers.hints import hint

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


# %% exercise="train_bpe"
def train_bpe(texts: list[str], merges: int) -> list[Pair]:
    """Returns the pairs to merge, in the order in which they were learned.

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
    found: list[Pair] = []
    while len(found) < merges:
        pairs: Counter[Pair] = Counter()
        for word, numbers in parts.items():
            for pair in zip(numbers, numbers[1:]):
                pairs[pair] += counts[word]
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        new = 256 + len(found)
        parts = {word: replace_pair(numbers, best, new) for word, numbers in parts.items()}
        found.append(best)
    return found
    ### END SOLUTION


# %% check="train_bpe" points=4
check(train_bpe)

# %% exercise="bpe_encode"
def bpe_encode(text: str, merges: list[Pair]) -> list[int]:
    """Returns the numbers of the pieces of a text.

    Each word (of `split_words`) begins as its bytes. The merges are made in the order in which they were
    learned, each wherever its pair stands in the word; merge number n (counted from 0) makes 256 + n.

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


# %% check="bpe_encode" points=2
check(bpe_encode)

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


# %% setup
def causal_mask(size: int) -> Tensor:
    """Returns the mask of notebook 01, `(size, size)`: 0 where j <= i, minus infinity above."""
    return torch.full((size, size), -torch.inf).triu(1)


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Returns `(b, h, n, d/h)` for `(b, n, d)`."""
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """Returns `(b, n, d)` for `(b, h, n, d/h)`."""
    return x.transpose(1, 2).flatten(2)


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """Returns softmax(query @ key.T / sqrt(d/h) + mask) @ value, `(b, h, n, d/h)`."""
    return F.scaled_dot_product_attention(query, key, value, mask.type_as(query))


# %% setup
class Attention(nn.Module):
    """Attention of several heads, as in notebook 03."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.value, self.output = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Returns `(b, n, d)` for `x` `(b, n, d)` and a mask `(n, n)`."""
        query, key, value = (
            split_heads(matrix(x), self.n_heads) for matrix in (self.query, self.key, self.value)
        )
        return self.output(merge_heads(attend(query, key, value, mask)))


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


# %% exercise="GPT"
class Layer(nn.Module):
    """A pre-norm layer: x + attention(norm(x)), then x + feed_forward(norm(x)). No dropout.

    Its parts are called attention_norm, attention, feed_forward_norm and feed_forward: an
    nn.LayerNorm, an Attention, another nn.LayerNorm and a FeedForward of width 4 * d_model inside.
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
    `(max_len, d_model)`), layers (an nn.ModuleList of `n_layers` layers) and norm (an nn.LayerNorm).
    The embedding times sqrt(d_model), plus the position, goes through the layers and the norm. A token's
    score is the product of the result with its row of the embedding; the head has no parameters.
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


# %% check="GPT" points=4
check(GPT)

# %% exercise="bits_per_byte"
def bits_per_byte(model: nn.Module, tokens: Tensor, n_bytes: int) -> float:
    """Returns how many bits the model needs for each byte of a text it is only measured on.

    At each place but the last, the model is asked for the next token. The cross-entropies of all places
    are added up, in bits, and divided by the number of bytes. It is measured in evaluation mode
    and without gradients; afterwards the model is in the mode in which it came.

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
    nats = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), reduction="sum")
    return nats.item() / math.log(2) / n_bytes
    ### END SOLUTION


# %% check="bits_per_byte" points=2
check(bits_per_byte)

# %% exercise="training_loop"
def training_loop(
    model: nn.Module, optimizer: torch.optim.Optimizer, batches: list[Tensor],
    passes: int, peak: float, warmup_steps: int,
) -> list[float]:
    """Trains a model, in training mode; returns the loss of each batch, as it was before its step.

    The batches `(b, n + 1)` are read in their order, all of them `passes` times, T steps in all. In each
    step the rate of every group of the optimizer is set first: at step t, counted from 1,
    it is peak * min(t / W, (T - t + 1) / (T - W + 1)), where W is `warmup_steps` (1 <= W <= T).
    The loss is the mean cross-entropy of the next tokens. The gradient of all parameters together is
    scaled down to length 1 where it is longer.
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
            logits = model(tokens[:, :-1])  # (b, n, V)
            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
    return losses
    ### END SOLUTION


# %% check="training_loop" points=3
check(training_loop)

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
        top_p: above 0 and at most 1.
    """
    ### BEGIN SOLUTION
    chances, places = torch.softmax(logits / temperature, dim=-1).sort(descending=True)
    if top_k is not None:
        chances[top_k:] = 0
        chances = chances / chances.sum()
    if top_p is not None:
        before = chances.cumsum(dim=0) - chances  # what the more probable ones have together
        before[0] = 0
        chances = chances.where(before < top_p, torch.zeros_like(chances))
        chances = chances / chances.sum()
    return torch.zeros_like(chances).scatter(0, places, chances)  # back to their places
    ### END SOLUTION


# %% check="next_token_distribution" points=3
check(next_token_distribution)

# %% setup
Cache = list[tuple[Tensor, Tensor]]  # keys and values of each layer, (b, h, m, d/h) each


# %% exercise="read_with_cache"
def read_with_cache(model: nn.Module, tokens: Tensor, cache: Cache | None) -> tuple[Tensor, Cache]:
    """Returns logits `(b, n, V)` of new tokens `(b, n)`, and the cache with which reading goes on.

    The cache holds for each layer a pair (keys, values) of all m tokens read before, `(b, h, m, d/h)` each;
    None when there are none. What is returned is a new list, for m + n tokens. The new tokens
    have the positions m, m + 1, ... Of the model, only its parts may be used: embedding, position,
    layers and norm; of a layer attention_norm, attention, feed_forward_norm and feed_forward;
    of its attention n_heads, query, key, value and output.
    """
    ### BEGIN SOLUTION
    n, d = tokens.shape[1], model.embedding.embedding_dim
    past = 0 if cache is None else cache[0][0].shape[2]
    mask = causal_mask(past + n)[past:]  # (n, past + n)
    x, kept = model.embedding(tokens) * math.sqrt(d) + model.position[past : past + n], []
    for number, layer in enumerate(model.layers):
        part, y = layer.attention, layer.attention_norm(x)
        query, key, value = (split_heads(matrix(y), part.n_heads)  # (b, h, n, d/h)
                             for matrix in (part.query, part.key, part.value))
        if cache is not None:
            key = torch.cat([cache[number][0], key], dim=2)  # (b, h, past + n, d/h)
            value = torch.cat([cache[number][1], value], dim=2)
        kept.append((key, value))
        x = x + part.output(merge_heads(attend(query, key, value, mask)))
        x = x + layer.feed_forward(layer.feed_forward_norm(x))
    return model.norm(x) @ model.embedding.weight.T, kept
    ### END SOLUTION


# %% check="read_with_cache" points=3
check(read_with_cache)
