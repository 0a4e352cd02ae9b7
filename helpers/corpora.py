"""Corpora by name: embedded ones, and real ones that are downloaded once, with their licences.

corpus = load("reviews_fr")
corpus.train["text"]
"""

import gzip
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import pandas as pd

from helpers.choices import refuse_unknown
from helpers.downloads import CACHE as CACHE
from helpers.downloads import MIRROR as MIRROR
from helpers.downloads import DownloadError, cache_of, download
from helpers.vocabulary import Vocabulary

GITHUB = "https://raw.githubusercontent.com"

Role = Literal["train", "valid", "test", "other"]
ROLES: dict[str, Role] = dict.fromkeys(("train", "unlabelled", "texts", "turns_train"), "train")
ROLES |= {"valid": "valid", "test": "test", "turns_test": "test"}


class CorpusError(RuntimeError):
    """A corpus could not be found, downloaded or trusted; the message says what to do."""


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
            end = ": dropped." if drop_copies else "; drop_copies=True leaves them out."
            print(f"{sum(copied)} of {len(copied)} rows of {name}/{part} are copies of training rows{end}")
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
        split = {f"{name}_{kind}": part for kind, part in rows.groupby("split")} if "split" in rows else {name: rows}
        for part, table in split.items():
            parts[part] = Split(f"{folder.name}/{part}", ROLES.get(part, "other"), table.reset_index(drop=True))
    return Corpus(folder.name, parts)


def _read_real(name: str, files: list[dict[str, Any]], paths: list[Path]) -> Corpus:
    columns: dict[str, dict[str, list[Any]]] = {}
    words: list[str] | None = None
    model = None
    for file, path in zip(files, paths, strict=True):
        if file["part"] == "pieces":
            try:
                import sentencepiece  # only this corpus needs it
            except ModuleNotFoundError:
                raise CorpusError(f"{name} needs one package more: run `%pip install sentencepiece`") from None
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
            cast = int if column == "label" else str
            columns.setdefault(file["part"], {})[column] = [*map(cast, values)]
    parts = {part: Split(f"{name}/{part}", ROLES[part], pd.DataFrame(cells)) for part, cells in columns.items()}
    return Corpus(name, parts, None if words is None else Vocabulary(words, "piece", pieces=model))


def _download(name: str, entry: dict[str, Any]) -> list[Path]:
    """Returns where the files of `entry` lie in the cache, after downloading what is missing."""
    folder = cache_of(name)
    files = {file["path"].rsplit("/", 1)[1]: file for file in entry["files"]}
    missing = sum(f["bytes"] for short, f in files.items() if not (folder / short).is_file())
    if missing:
        print(f"{name}: {entry['about']}.\nSource: {entry['source']}.\nLicence: {entry['licence']}.")
        print(f"Downloading {missing / 1e6:.1f} MB to {folder}")
    try:
        return download(name, folder, files, GITHUB, "the embedded corpora need no network")
    except DownloadError as error:
        raise CorpusError(str(error)) from None
