"""Rows of a corpus in numbers, and batches of them, grouped by length.

    vocabulary = Vocabulary.learn(corpus["unlabelled"]["text"])
    batches = Batches(corpus.train, for_classifier(vocabulary), token_budget=1024)

In shapes, b is the number of sequences in a batch and n the length of the longest one.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from helpers.choices import pick
from helpers.corpora import Split
from helpers.vocabulary import EOS, PAD, SOS, Vocabulary

IGNORE = -100  # the target of a position that is not scored; torch's losses skip it


@dataclass(frozen=True)
class Example:
    """One row in numbers: what the model reads, what it should say, and an encoder's source."""

    tokens: Sequence[int]
    target: Sequence[int] | int  # one for each token, or a class
    source: Sequence[int] = ()


Encode = Callable[[dict[str, Any]], Example]


def for_language_model(vocabulary: Vocabulary, column: str = "text", max_len: int | None = None) -> Encode:
    """Returns what makes of a row the pair `<sos> A B`, `A B <eos>`, cut at `max_len` tokens."""

    def encode(row: dict[str, Any]) -> Example:
        tokens = [SOS, *vocabulary.encode(pick("column", column, row)), EOS]
        return Example(tokens[:-1][:max_len], tokens[1:][:max_len])

    return encode


def for_classifier(vocabulary: Vocabulary, column: str = "text", max_len: int | None = None) -> Encode:
    """Returns what makes of a row `<sos> A B`, cut at `max_len` tokens, and the column `label`."""
    return lambda row: Example([SOS, *vocabulary.encode(pick("column", column, row))][:max_len], int(row["label"]))


def for_answers(vocabulary: Vocabulary) -> Encode:
    """Returns what makes of a row question and answer, of which the answer only is scored."""

    def encode(row: dict[str, Any]) -> Example:
        question, answer = vocabulary.encode(row["question"]), vocabulary.encode(row["answer"])
        return Example([SOS, *question, *answer], [IGNORE] * len(question) + [*answer, EOS])

    return encode


def for_translation(
    source: Vocabulary, target: Vocabulary, source_column: str = "en", target_column: str = "fr"
) -> Encode:
    """Returns what makes of a row `A B <eos>` to read, and `<sos> X Y`, `X Y <eos>` to write."""

    def encode(row: dict[str, Any]) -> Example:
        tokens = [SOS, *target.encode(pick("column", target_column, row)), EOS]
        return Example(tokens[:-1], tokens[1:], [*source.encode(pick("column", source_column, row)), EOS])

    return encode


@dataclass
class Batch:
    """Examples of about the same length, padded at the end with `PAD`."""

    rows: Tensor  # (b,), where they stand in the split
    tokens: Tensor  # (b, n)
    lengths: Tensor  # (b,)
    target: Tensor  # (b, n), IGNORE where not scored; (b,) for classes
    scored: Tensor  # (k,), indices in target.flatten() of what is not IGNORE
    source: Tensor | None = None  # (b, m)
    source_lengths: Tensor | None = None  # (b,)
    n_tokens: int = 0  # real tokens, without padding

    def to(self, device: torch.device) -> "Batch":
        """Returns the batch on `device`; the copy to a CUDA device does not make us wait."""
        if device.type == "cpu":
            return self
        moved = replace(self)
        for name, value in vars(self).items():
            if isinstance(value, Tensor):
                value = value.pin_memory() if device.type == "cuda" else value
                setattr(moved, name, value.to(device, non_blocking=True))
        return moved


def scored_places(target: Tensor) -> Tensor:
    """Returns the indices in `target.flatten()` of what is not `IGNORE`, `(k,)`."""
    return (target.flatten() != IGNORE).nonzero().squeeze(1)


class Batches:
    """The batches of a split, in a new order at every pass when its role is "train".

    Args:
        split: the rows.
        encode: what makes an example of a row, such as `for_classifier(vocabulary)`.
        token_budget: most tokens of a batch, padding included (a longer row comes alone).
        batch_size: most rows of a batch.
        grouped: whether rows of about the same length come together.
        seed: of the order; the same seed and `epoch` give the same batches.
        change: called with each batch and a generator, for batches that differ at every pass.

    Raises:
        ValueError: the split has no rows, or a row has no tokens.
    """

    def __init__(
        self,
        split: Split,
        encode: Encode,
        token_budget: int = 2048,
        batch_size: int | None = None,
        grouped: bool = True,
        seed: int = 0,
        change: Callable[[Batch, torch.Generator], Batch] | None = None,
    ) -> None:
        self.name, self.role, self.seed, self.epoch = split.name, split.role, seed, 0
        self.token_budget, self.batch_size = token_budget, batch_size or len(split)
        self.grouped, self.change = grouped, change
        rows: list[Any] = split.rows.to_dict("records")
        self.examples = [encode(row) for row in rows]
        self.sizes = [len(example.tokens) + len(example.source) for example in self.examples]
        if not all(self.sizes) or not self.sizes:
            raise ValueError(f"{split.name} has no rows, or a row without tokens: nothing to learn")

    def plan(self, epoch: int) -> list[list[int]]:
        """Returns the rows of each batch of pass number `epoch`."""
        draw = random.Random(f"{self.seed} {epoch}")
        order = list(range(len(self.sizes)))
        noise = [1.0] * len(order)
        if self.role == "train":
            draw.shuffle(order)
            noise = [draw.uniform(0.9, 1.1) for _ in order]  # so that neighbours change
        if self.grouped:
            order.sort(key=lambda row: self.sizes[row] * noise[row])
        batches: list[list[int]] = [[]]
        longest = 0
        for row in order:
            longest = max(longest, self.sizes[row])
            full = len(batches[-1]) == self.batch_size
            if batches[-1] and (full or longest * (len(batches[-1]) + 1) > self.token_budget):
                batches.append([])
                longest = self.sizes[row]
            batches[-1].append(row)
        if self.role == "train":
            draw.shuffle(batches)
        return batches

    def __iter__(self) -> Iterator[Batch]:
        epoch, self.epoch = self.epoch, self.epoch + 1
        generator = torch.Generator().manual_seed(1_000_003 * self.seed + epoch)
        for rows in self.plan(epoch):
            batch = self.collate(rows)
            if self.change is not None:
                batch = self.change(batch, generator)
                batch.scored = scored_places(batch.target)
            yield batch

    def __len__(self) -> int:
        return len(self.plan(self.epoch))

    def collate(self, rows: Sequence[int]) -> Batch:
        """Returns the batch of the examples number `rows`."""
        examples = [self.examples[row] for row in rows]

        def pad(sequences: Sequence[Sequence[int]], value: int = PAD) -> Tensor:
            return pad_sequence([torch.tensor(s) for s in sequences], True, value)

        if isinstance(examples[0].target, int):
            target = torch.tensor([example.target for example in examples])
        else:
            target = pad([e.target for e in examples if not isinstance(e.target, int)], IGNORE)
        batch = Batch(
            torch.tensor(rows),
            pad([example.tokens for example in examples]),
            torch.tensor([len(example.tokens) for example in examples]),
            target,
            scored_places(target),
            n_tokens=sum(self.sizes[row] for row in rows),
        )
        if examples[0].source:
            batch.source = pad([example.source for example in examples])
            batch.source_lengths = torch.tensor([len(example.source) for example in examples])
        return batch


def padding_share(batches: Iterable[Batch]) -> float:
    """Returns which share of the numbers in `batches` is padding, between 0 and 1."""
    real = cells = 0
    for batch in batches:
        real += batch.n_tokens
        cells += batch.tokens.numel() + (0 if batch.source is None else batch.source.numel())
    return 1 - real / cells
