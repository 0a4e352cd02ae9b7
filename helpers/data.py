"""Corpora by name, vocabularies, and batches grouped by length.

    corpus = load("reviews_fr")
    vocabulary = Vocabulary.learn(corpus["unlabelled"]["text"])
    batches = Batches(corpus.train, for_classifier(vocabulary), token_budget=1024)

In shapes, b is the number of sequences in a batch and n the length of the longest one.
"""

import gzip
import json
import os
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import pandas as pd
import pooch
import requests
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from helpers.choices import pick, refuse_unknown

SPECIALS = ("<pad>", "<sos>", "<eos>", "<oov>", "<mask>")
PAD, SOS, EOS, OOV, MASK = range(5)
IGNORE = -100  # the target of a position that is not scored; torch's losses skip it
WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*'?|[^\w\s]")  # an elided word (l', qu') stands alone
MIRROR, CACHE = "COURSE_DATA_MIRROR", "COURSE_DATA_CACHE"  # environment variables
GITHUB = "https://raw.githubusercontent.com"

Kind = Literal["word", "character", "piece"]
Role = Literal["train", "valid", "test", "other"]
ROLES: dict[str, Role] = {
    **dict.fromkeys(("train", "unlabelled", "texts", "turns_train"), "train"),
    "valid": "valid",
    **dict.fromkeys(("test", "turns_test"), "test"),
}


class CorpusError(RuntimeError):
    """A corpus could not be found, downloaded or trusted; the message says what to do."""


class Vocabulary:
    """Numbers for tokens: the special tokens first, then `words` in their order.

    Args:
        words: the tokens, most frequent first.
        kind: "word" (lower case, see `WORD`), "character", or "piece" (SentencePiece).
        mask: whether `<mask>` is among the special tokens.
        pieces: the SentencePiece model that cuts raw text; text in pieces needs none.

    Raises:
        ValueError: there is no such kind.
    """

    def __init__(self, words: Iterable[str], kind: Kind = "word", mask: bool = False, pieces: Any = None) -> None:
        refuse_unknown("kind of vocabulary", kind, get_args(Kind))
        self.kind, self.pieces = kind, pieces
        self.tokens = [*SPECIALS[: 4 + mask], *words]
        self.numbers = {token: number for number, token in enumerate(self.tokens)}

    @classmethod
    def learn(cls, texts: Iterable[str], kind: Kind = "word", min_count: int = 1, mask: bool = False) -> "Vocabulary":
        """Returns the vocabulary of all tokens that occur at least `min_count` times in `texts`."""
        empty = cls((), kind, mask)
        counts = Counter(token for text in texts for token in empty.split(text))
        ranked = sorted(counts, key=lambda token: (-counts[token], token))
        return cls((token for token in ranked if counts[token] >= min_count), kind, mask)

    def split(self, text: str) -> list[str]:
        """Returns the tokens of `text` as strings."""
        if self.kind == "word":
            return WORD.findall(text.lower())
        if self.kind == "character":
            return list(text)
        if self.pieces is None or "▁" in text:  # already in pieces
            return text.split()
        tokens: list[str] = self.pieces.encode(text, out_type=str)
        return tokens

    def encode(self, text: str) -> list[int]:
        """Returns the numbers of the tokens of `text`; unknown ones become `<oov>`."""
        return [self.numbers.get(token, OOV) for token in self.split(text)]

    def decode(self, numbers: Iterable[int]) -> str:
        """Returns the text of `numbers`, without special tokens other than `<oov>` and `<mask>`."""
        tokens = [self.tokens[number] for number in numbers if number not in (PAD, SOS, EOS)]
        if self.kind == "word":
            return " ".join(tokens).replace("' ", "'")
        return "".join(tokens).replace("▁", " ").strip() if self.kind == "piece" else "".join(tokens)

    def __len__(self) -> int:
        return len(self.tokens)


@dataclass(frozen=True)
class Split:
    """One part of a corpus. Its role says what it may be used for: `training.train` checks it."""

    name: str  # such as "reviews_fr/train"
    role: Role
    rows: pd.DataFrame

    def __post_init__(self) -> None:
        refuse_unknown("role", self.role, get_args(Role))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, column: str) -> list[Any]:
        """Returns one column as a list."""
        if column not in self.rows:
            raise KeyError(f"{self.name} has no column {column!r}, only {list(self.rows)}")
        return self.rows[column].tolist()


@dataclass(frozen=True)
class Corpus:
    """Parts by name, such as `corpus["unlabelled"]`; `corpus.train` is `corpus["train"]`."""

    name: str
    parts: dict[str, Split]
    vocabulary: Vocabulary | None = None  # where the corpus brings its own

    def __getitem__(self, part: str) -> Split:
        if part not in self.parts:
            raise KeyError(f"{self.name} has no part {part!r}, only {list(self.parts)}")
        return self.parts[part]

    train = property(lambda self: self["train"])
    valid = property(lambda self: self["valid"])
    test = property(lambda self: self["test"])

    def copies(self, part: str) -> list[bool]:
        """Says for each row of `part` whether its text is also in the training part."""
        column = next(name for name in self.train.rows if name != "label")
        known = set(self.train[column])
        return [text in known for text in self[part][column]]


def load(name: str, drop_copies: bool = False) -> Corpus:
    """Returns the corpus `name`: from the folder `data`, or downloaded once and kept.

    Real corpora come from GitHub, or from the address or folder that the environment variable
    COURSE_DATA_MIRROR names; COURSE_DATA_CACHE moves the cache. See `data/README.md`.

    Args:
        drop_copies: leave out rows of valid and test that are copies of training rows.

    Raises:
        ValueError: no corpus has this name.
        CorpusError: it cannot be had; the message says why and what to do.
    """
    here = Path(__file__).resolve().parent
    folders = [here.parent / "data", here / "corpora"]  # in a clone, and in an installed course
    folder = next((folder for folder in folders if (folder / "registry.json").is_file()), None)
    if folder is None:
        raise CorpusError(f"there is neither {folders[0]} nor {folders[1]}: install the course again")
    registry = json.loads((folder / "registry.json").read_text("utf-8"))
    refuse_unknown("corpus", name, sorted({*registry, *(path.parent.name for path in folder.glob("*/*.tsv"))}))
    entry = registry.get(name)
    corpus = _read_real(name, entry["files"], _download(name, entry)) if entry else _read_embedded(folder / name)
    for part in {"train", "valid", "test"} & {*corpus.parts} - {"train"}:
        copied = corpus.copies(part)
        if any(copied):
            print(
                f"{sum(copied)} of {len(copied)} rows of {name}/{part} are copies of training rows"
                + (": dropped." if drop_copies else "; drop_copies=True leaves them out.")
            )
        if drop_copies:
            kept = corpus[part].rows[[not copy for copy in copied]].reset_index(drop=True)
            corpus.parts[part] = replace(corpus[part], rows=kept)
    return corpus


def _read_embedded(folder: Path) -> Corpus:
    parts = {}
    for path in sorted(folder.glob("*.t*")):
        if path.suffix == ".txt":
            rows = pd.DataFrame({"text": path.read_text("utf-8").splitlines()})
        else:
            rows = pd.read_csv(path, sep="\t", quoting=3, keep_default_na=False, encoding="utf-8")
        name = path.stem.removeprefix("qa_")
        name = {"dev": "valid", "unseen": "test"}.get(name, name)
        pieces = {name: rows}
        if "split" in rows:
            pieces = {f"{name}_{split}": part for split, part in rows.groupby("split")}
        for part, table in pieces.items():
            parts[part] = Split(f"{folder.name}/{part}", ROLES.get(part, "other"), table.reset_index(drop=True))
    return Corpus(folder.name, parts)


def _sentencepiece() -> Any:
    """Returns the package that splits the book reviews into pieces; no other corpus needs it."""
    try:
        import sentencepiece
    except ModuleNotFoundError as problem:
        raise ModuleNotFoundError(
            "this corpus needs the package sentencepiece, which is not installed: run `%pip install sentencepiece` in "
            "a cell of its own, and then this cell again."
        ) from problem
    return sentencepiece


def _read_real(name: str, files: list[dict[str, Any]], paths: list[Path]) -> Corpus:
    columns: dict[str, dict[str, list[Any]]] = {}
    words: list[str] | None = None
    model = None
    for file, path in zip(files, paths, strict=True):
        if file["part"] == "pieces":
            sentencepiece = _sentencepiece()
            model = sentencepiece.SentencePieceProcessor(model_file=str(path))
            continue
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8")
        lines = text.removesuffix("\n").split("\n")
        if file["part"] == "words":
            words = [line.split(" ")[0] for line in lines]
            continue
        cells = zip(*(line.rstrip().split("\t") for line in lines), strict=True)
        for column, values in zip(file["columns"], cells, strict=True):
            columns.setdefault(file["part"], {})[column] = (
                [int(value) for value in values] if column == "label" else list(values)
            )
    parts = {part: Split(f"{name}/{part}", ROLES[part], pd.DataFrame(cells)) for part, cells in columns.items()}
    vocabulary = None if words is None else Vocabulary(words, "piece", pieces=model)
    return Corpus(name, parts, vocabulary)


def _download(name: str, entry: dict[str, Any]) -> list[Path]:
    """Returns where the files of `entry` lie in the cache, after downloading what is missing."""
    base = os.environ.get(MIRROR) or GITHUB
    folder = Path(os.environ.get(CACHE) or pooch.os_cache("transformers-course")) / name
    files = {file["path"].rsplit("/", 1)[1]: file for file in entry["files"]}
    store = pooch.create(
        path=folder,
        base_url="",
        registry={short: f"sha256:{file['sha256']}" for short, file in files.items()},
        urls={short: f"{base.rstrip('/')}/{file['path']}" for short, file in files.items()},
        retry_if_failed=2,
    )
    pooch.get_logger().setLevel("ERROR")
    missing = sum(f["bytes"] for short, f in files.items() if not (folder / short).is_file())
    if missing:
        print(f"{name}: {entry['about']}.\nSource: {entry['source']}.\nLicence: {entry['licence']}.")
        print(f"Downloading {missing / 1e6:.1f} MB to {folder}")
    paths = []
    for short in files:
        url = store.get_url(short)
        advice = f"try again later, or set {MIRROR} to a copy; the embedded corpora need no network"
        get = pooch.HTTPDownloader(progressbar=True) if "://" in base else _copy
        try:
            paths.append(Path(store.fetch(short, downloader=get)))
            continue
        except requests.HTTPError as error:
            reason = f"the server answered {str(error)[:3]} for {url}"
        except requests.RequestException:
            reason = f"no connection, or it broke off, at {url}"
        except ValueError:
            reason = f"{url} is damaged or has changed: its SHA-256 is not the expected one"
        except OSError as error:
            reason = f"{url} could not be stored in {folder} ({error.strerror or error})"
        (folder / short).unlink(missing_ok=True)
        raise CorpusError(f"{name} cannot be downloaded: {reason}. Please {advice}.") from None
    return paths


def _copy(url: str, output: str, _: Any) -> None:
    shutil.copyfile(url, output)


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
    scored: Tensor  # places in target.flatten() that are not IGNORE
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
    """Returns the places in `target.flatten()` that are not `IGNORE`, `(k,)`."""
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
