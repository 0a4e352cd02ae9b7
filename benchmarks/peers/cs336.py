"""What the public tests of Stanford's CS336, assignment 1, call: the course's answers under that assignment's names.

`benchmarks.cs336` puts this in the place of `tests/adapters.py`, in a copy of the tests. An answer is what the solution
notebooks say, by the name of its exercise, in whichever notebook that stands. A test that asks for what the course does
not have an exercise for is skipped, with the reason.

With COURSE_PEERS_RULES=theirs the text is cut into words by GPT-2's pattern, and of equally frequent pairs the one with
the greatest bytes is merged, as the assignment specifies. By itself the course cuts more simply and takes the smallest.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch
from torch import Tensor

from grading.authoring import bank
from grading.definitions import catalogue

THEIR_RULES = os.environ.get("COURSE_PEERS_RULES") == "theirs"
# GPT-2's, without the package `regex`: letters are what is neither a digit nor "_" among the signs of a word.
GPT2 = re.compile(r"'(?:[sdmt]|ll|ve|re)| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")
Merges = list[tuple[bytes, bytes]]


@cache
def notebook_of(name: str) -> dict[str, Any]:
    """Returns the variables of the solution notebook that has this exercise.

    Raises:
        LookupError: when none has.
    """
    for notebook in catalogue.notebooks():
        if name in catalogue.names(notebook):
            return bank.namespace(notebook, "")
    raise LookupError(f"no notebook has an exercise {name!r}.")


def answer(name: str) -> Any:
    """Returns the course's answer to an exercise."""
    return notebook_of(name)[name]


def not_asked(what: str) -> NoReturn:
    """Skips the test: the course has no exercise for this, or one that is not called here."""
    pytest.skip(f"no exercise of the course: {what}")


# --- parts of a model -------------------------------------------------------------------------------------------------


def run_linear(d_in: int, d_out: int, weights: Tensor, in_features: Tensor) -> Tensor:
    """Skips: the course takes PyTorch's."""
    not_asked("an own linear layer")


def run_embedding(vocab_size: int, d_model: int, weights: Tensor, token_ids: Tensor) -> Tensor:
    """Skips: the course takes PyTorch's."""
    not_asked("an own embedding")


def run_silu(in_features: Tensor) -> Tensor:
    """Skips: the course takes PyTorch's."""
    not_asked("an own SiLU")


def run_softmax(in_features: Tensor, dim: int) -> Tensor:
    """Skips: the course takes PyTorch's."""
    not_asked("an own softmax")


def run_transformer_block(**given: Any) -> Tensor:
    """Skips: this is the layer of notebook 16, whose weights have other names and come in a file that is missing."""
    not_asked("a layer of rotary positions, RMSNorm and SwiGLU in one")


def run_transformer_lm(**given: Any) -> Tensor:
    """Skips: this is `Llama` of notebook 16 with a head of its own, where the course's is tied."""
    not_asked("a whole model with rotary positions, RMSNorm and SwiGLU")


def run_swiglu(
    d_model: int, d_ff: int, w1_weight: Tensor, w2_weight: Tensor, w3_weight: Tensor, in_features: Tensor
) -> Tensor:
    """Returns what the course's SwiGLU gives; the width that it is asked for is that of a plain part."""
    part = answer("SwiGLU")(d_model, 3 * d_ff // 2)
    part.load_state_dict({"gate.weight": w1_weight, "output.weight": w2_weight, "hidden.weight": w3_weight})
    with torch.no_grad():
        result: Tensor = part(in_features)
    return result


def run_rmsnorm(d_model: int, eps: float, weights: Tensor, in_features: Tensor) -> Tensor:
    """Returns what the course's RMSNorm gives."""
    norm = answer("RMSNorm")(d_model, eps)
    norm.load_state_dict({"weight": weights})
    with torch.no_grad():
        result: Tensor = norm(in_features)
    return result


def run_rope(d_k: int, theta: float, max_seq_len: int, in_query_or_key: Tensor, token_positions: Tensor) -> Tensor:
    """Returns queries turned by the course's rotary, which turns a query, a key and no value of several heads."""
    if theta != 10000:
        not_asked("another base of rotary positions")
    rows = in_query_or_key.unsqueeze(-3)  # (..., 1, n, d): one head
    result: Tensor = answer("rotary")(torch.stack([rows] * 3), token_positions.flatten())[0].squeeze(-3)
    return result


def run_scaled_dot_product_attention(Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None) -> Tensor:  # noqa: N803
    """Returns the output of attention; their mask is True where a key is visible, ours is added."""
    added = None if mask is None else torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)
    result: Tensor = answer("scaled_dot_product_attention")(Q, K, V, added)[0]
    return result


def run_multihead_self_attention(
    d_model: int,
    num_heads: int,
    q_proj_weight: Tensor,
    k_proj_weight: Tensor,
    v_proj_weight: Tensor,
    o_proj_weight: Tensor,
    in_features: Tensor,
) -> Tensor:
    """Returns what the course's attention gives with a causal mask, and with biases of 0."""
    part = answer("MultiHeadAttention")(d_model, num_heads)
    weights = {"query": q_proj_weight, "key": k_proj_weight, "value": v_proj_weight, "output": o_proj_weight}
    with torch.no_grad():
        for name, weight in weights.items():
            getattr(part, name).weight.copy_(weight)
            getattr(part, name).bias.zero_()
        mask = answer("causal_mask")(in_features.shape[-2])
        found: Tensor = part(in_features, in_features, mask)
    return found


def run_multihead_self_attention_with_rope(**given: Any) -> Tensor:
    """Skips: the course turns queries and keys beside its attention, not in it."""
    not_asked("attention with rotary positions in one")


# --- training ---------------------------------------------------------------------------------------------------------


def run_cross_entropy(inputs: Tensor, targets: Tensor) -> Tensor:
    """Returns the course's loss."""
    result: Tensor = answer("cross_entropy")(inputs, targets)
    return result


def get_adamw_cls() -> type[torch.optim.Optimizer]:
    """Returns the optimizer of notebook 14, which makes the steps of `adamw_step`."""
    ours: type[torch.optim.Optimizer] = notebook_of("adamw_step")["AdamW"]

    class Renamed(ours):  # type: ignore[misc, valid-type]
        """Takes the decay by the name that it has in PyTorch."""

        def __init__(
            self, parameters: Any, lr: float, weight_decay: float, betas: tuple[float, float], eps: float
        ) -> None:
            assert eps == 1e-8  # the default of adamw_step
            super().__init__(parameters, lr=lr, betas=betas, decay=weight_decay)

    return Renamed


def run_gradient_clipping(parameters: Iterable[Tensor], max_l2_norm: float) -> None:
    """Skips: training_loop calls PyTorch's."""
    not_asked("own clipping")


def run_get_lr_cosine_schedule(**given: Any) -> float:
    """Skips: the schedules of the course's exercises fall like 1/sqrt(t) or in a straight line."""
    not_asked("a cosine that ends above 0")


def run_get_batch(**given: Any) -> tuple[Tensor, Tensor]:
    """Skips: the course reads every window once, in a random order."""
    not_asked("windows from random places")


def run_save_checkpoint(*given: Any, **named: Any) -> None:
    """Skips: `helpers.checkpoints` is given."""
    not_asked("saving a checkpoint")


def run_load_checkpoint(*given: Any, **named: Any) -> int:
    """Skips: `helpers.checkpoints` is given."""
    not_asked("loading a checkpoint")


# --- byte pairs -------------------------------------------------------------------------------------------------------


class Tokenizer:
    """Cuts texts by the course's bpe_encode, in numbers of their vocabulary.

    Of fifty thousand merges only those reach a word whose piece occurs in it: the others change nothing.
    """

    def __init__(self, vocab: dict[int, bytes], merges: Merges, special: list[str]) -> None:
        self.notebook = notebook_of("bpe_encode")
        if THEIR_RULES:  # of the notebook: its bpe_encode cuts by it, too
            self.notebook["split_words"] = GPT2.findall
        self.bytes_of, self.merges = vocab, merges
        self.numbers = {piece: number for number, piece in vocab.items()}
        self.special = sorted(special, key=len, reverse=True)  # of two that begin alike, the longer one
        self.known = dict[str, list[int]]()

    def encode(self, text: str) -> list[int]:
        """Returns the numbers of a text; special tokens are whole."""
        if not self.special:
            return self._pieces(text)
        parts = re.split("(" + "|".join(map(re.escape, self.special)) + ")", text)
        found = [[self.numbers[part.encode()]] if place % 2 else self._pieces(part) for place, part in enumerate(parts)]
        return [number for part in found for number in part]

    def encode_iterable(self, texts: Iterable[str]) -> Iterator[int]:
        """Yields the numbers of texts, one text after the other."""
        for text in texts:
            yield from self.encode(text)

    def decode(self, numbers: Iterable[int]) -> str:
        """Returns the text of numbers."""
        return b"".join(self.bytes_of[number] for number in numbers).decode("utf-8", errors="replace")

    def _pieces(self, text: str) -> list[int]:
        found = list[int]()
        for word in self.notebook["split_words"](text):
            if word not in self.known:
                self.known[word] = self._word(word)
            found += self.known[word]
        return found

    def _word(self, word: str) -> list[int]:
        whole = word.encode()
        pieces = [bytes([byte]) for byte in range(256)]
        number = {piece: place for place, piece in enumerate(pieces)}
        merges = list[tuple[int, int]]()
        for first, second in self.merges:
            if first + second in whole and first in number and second in number:
                merges.append((number[first], number[second]))
                number[first + second] = len(pieces)
                pieces.append(first + second)
        cut = self.notebook["bpe_encode"](word, merges)
        assert all(isinstance(one, int) for one in cut)
        return [self.numbers[pieces[one]] for one in cut]


def get_tokenizer(vocab: dict[int, bytes], merges: Merges, special_tokens: list[str] | None = None) -> Tokenizer:
    """Returns the tokenizer of a vocabulary and its merges."""
    return Tokenizer(vocab, merges, special_tokens or [])


def run_train_bpe(
    input_path: str | os.PathLike[str], vocab_size: int, special_tokens: list[str], **_: Any
) -> tuple[dict[int, bytes], Merges]:
    """Returns the vocabulary and the merges that are learned from a file between its special tokens."""
    text = Path(input_path).read_text("utf-8")
    texts = re.split("|".join(map(re.escape, special_tokens)), text) if special_tokens else [text]
    count = vocab_size - 256 - len(special_tokens)
    learned = _by_their_rules(texts, count) if THEIR_RULES else answer("train_bpe")(texts, count)
    pieces = [bytes([byte]) for byte in range(256)]
    for first, second in learned:
        pieces.append(pieces[first] + pieces[second])
    merges = [(pieces[first], pieces[second]) for first, second in learned]
    return dict(enumerate([*pieces, *(token.encode() for token in special_tokens)])), merges


def _by_their_rules(texts: list[str], count: int) -> list[tuple[int, int]]:
    """Learns as the course does with the pattern of GPT-2, and of equally frequent pairs the one of greatest bytes.

    The rule for equal counts is a part of the exercise: here the definition's learner is told another one.
    """
    from importlib import import_module

    common = import_module("grading.exercises.14_own_gpt._common")
    pieces = [bytes([byte]) for byte in range(256)]

    def greatest(pairs: Counter[tuple[int, int]]) -> tuple[int, int]:
        best = max(pairs, key=lambda pair: (pairs[pair], pieces[pair[0]], pieces[pair[1]]))
        pieces.append(pieces[best[0]] + pieces[best[1]])
        return best

    found: list[tuple[int, int]] = common._learn(texts, count, split=GPT2.findall, choose=greatest)
    return found
