"""What real pretraining buys: accuracy on real reviews by number of labels, in English and in French.

    python -m benchmarks.real_encoders --out results             # about ten minutes on a GPU, hours without
    python -m benchmarks.real_encoders --out results --quick     # a trial: does everything run?
    python -m benchmarks.real_encoders --draw                    # the picture and the table, of the numbers kept
    python -m benchmarks.real_encoders --out results --copies    # what copies of training reviews in the test change

Film reviews of SST-2 in English, the book reviews of `cls_books` in French; each way learns from the same draws of
labelled sentences, one draw for each seed, and is tested on the whole test part once. Nothing is chosen by the test,
nor by validation: rates and numbers of passes were fixed before (`TUNING`), the last pass counts.

naive Bayes       counts words (English) or SentencePiece tokens (French), add-one smoothing
scratch           the classifier of notebook 06, from random numbers
own pretraining   the same, after a language model has read the training reviews without labels and 29,000 captions
real, frozen      a linear head on the mean over the tokens of a real encoder, which stays as it is: in English MiniLM
                  (a BERT of six layers), in French multilingual-e5-small (one of twelve)
real, fine-tuned  that head to begin with, then everything is trained
real, LoRA        the same, but queries and values change by matrices of rank 8 only (Hu 2021)
asked             no label: SmolLM2 reads the sentence and an unfinished one behind it, and its logit of a praising word
                  is compared with that of a blaming one. `seed` is the number of the wording (`WORDINGS`)

French has no LoRA and nothing that is asked, since SmolLM2 reads English. `python -m helpers.weights fetch` brings the
real models; the tokens of the French one need the extra `tokens`. A run that was stopped goes on where it was; `--ways`
and `--corpora` share it out among processes, each with its own folder, and `--keep` gathers what all have found.
"""

import argparse
import copy
import itertools
import json
import math
import re
import time
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from benchmarks.real_reviews import naive_bayes
from helpers.batches import Batches, Encode, Example, for_classifier, for_language_model
from helpers.corpora import Corpus, Split, load
from helpers.device import choose_device, explain_device, set_seed
from helpers.llama import Llama
from helpers.models import Classifier, LanguageModel, TransformerBase, as_mask
from helpers.plots import STYLE
from helpers.training import predict, schedule, train
from helpers.vocabulary import Vocabulary
from helpers.weights import find
from helpers.weights import load as load_weights
from helpers.weights.files import read

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "data" / "measured_here" / "real_encoders.tsv"
PICTURES = ROOT / "docs" / "images"
LANGUAGES = {"sst2": "English", "cls_books": "French"}
ENCODERS = {"sst2": "minilm", "cls_books": "e5"}
OF_WORDS = ("naive Bayes", "scratch", "own pretraining")
REAL = ("real, frozen", "real, fine-tuned", "real, LoRA")
ASKED = "asked"
WAYS = {"sst2": (*OF_WORDS, *REAL, ASKED), "cls_books": (*OF_WORDS, *REAL[:2])}
LABELS = (20, 100, 300, 1600, 6920)
# Learning rate, fewest steps, fewest passes. With few labels three passes would be a handful of steps, too few for any
# encoder (Zhang 2021, "Revisiting few-sample BERT fine-tuning"; Mosbach 2021).
TUNING = {
    "scratch": (2e-4, 200, 5),
    "own pretraining": (2e-4, 200, 5),
    "real, fine-tuned": (5e-5, 100, 3),
    "real, LoRA": (1e-3, 100, 3),
}
BATCH = 16
WORDINGS = (  # behind the sentence, with a word of praise and one of blame; the first is that of Gao et al. (2021)
    ("\nIt was", " great", " terrible"),
    ("\nAll in all, this film is", " good", " bad"),
    ("\nSentiment:", " positive", " negative"),
    ("\nIn one word, the film was", " wonderful", " awful"),
)
COLOURS = {
    "naive Bayes": "#666666",
    "scratch": "#d55e00",
    "own pretraining": "#0072b2",
    "real, frozen": "#009e73",
    "real, fine-tuned": "#cc79a7",
    "real, LoRA": "#e69f00",
    ASKED: "#56b4e9",
}
MARKERS = dict(zip(COLOURS, "sov^D*.", strict=True))
DARK = {"figure.facecolor": "#0d1117", "axes.facecolor": "#0d1117", "savefig.facecolor": "#0d1117"} | dict.fromkeys(
    ("text.color", "axes.labelcolor", "axes.edgecolor", "axes.titlecolor", "xtick.color", "ytick.color"), "#e6edf3"
)


# Text in numbers, as the real models read it


class WordPieces:
    """BERT's tokenizer, from the `tokenizer.json` of a model: words, then the longest pieces of them (Wu 2016)."""

    def __init__(self, path: Path) -> None:
        self.numbers: dict[str, int] = json.loads(path.read_text("utf-8"))["model"]["vocab"]

    def encode(self, text: str) -> list[int]:
        """Returns the numbers of `[CLS]`, the pieces of `text` and `[SEP]`."""
        plain = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")
        pieces = [piece for word in re.findall(r"[^\W_]+|[^\w\s]|_", plain) for piece in self.cut(word)]
        return [self.numbers[piece] for piece in ("[CLS]", *pieces, "[SEP]")]

    def cut(self, word: str) -> list[str]:
        """Returns the longest known piece at the start of a word, the longest one that goes on, and so on."""
        pieces: list[str] = []
        start = 0
        while start < len(word):
            ends = range(len(word), start, -1)
            known = (end for end in ends if ("##" * (start > 0) + word[start:end]) in self.numbers)
            if (end := next(known, None)) is None:
                return ["[UNK]"]
            pieces.append("##" * (start > 0) + word[start:end])
            start = end
        return pieces


class Unigrams:
    """The tokenizer of multilingual-e5-small, as the library `tokenizers` reads it from its `tokenizer.json`.

    Its authors want "query: " before each text; the reviews of `cls_books` come as SentencePiece tokens.
    """

    def __init__(self, path: Path, max_len: int) -> None:
        from tokenizers import Tokenizer  # here, for whoever has not installed the extra `tokens`

        self.library = Tokenizer.from_file(str(path))
        self.library.enable_truncation(max_len)

    def encode(self, text: str) -> list[int]:
        """Returns the numbers of `<s>`, the pieces of `text` and `</s>`, the end of `text` cut off."""
        plain = text.replace(" ", "").replace("▁", " ").strip() if "▁" in text else text
        return self.library.encode(f"query: {plain}").ids


class BytePairs:
    """The tokenizer of SmolLM2, from the fields of its GGUF file: byte pairs with GPT-2's letters for bytes."""

    PARTS = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[^\W\d_]+|\d| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")

    def __init__(self, tokens: Sequence[str], merges: Sequence[str]) -> None:
        self.numbers = {token: number for number, token in enumerate(tokens)}
        self.ranks = {tuple(merge.split(" ")): rank for rank, merge in enumerate(merges)}
        shown = [*range(33, 127), *range(161, 173), *range(174, 256)]  # bytes that are letters of their own
        others = [byte for byte in range(256) if byte not in shown]
        self.letters = {byte: chr(byte) for byte in shown} | {byte: chr(256 + i) for i, byte in enumerate(others)}
        self.known: dict[str, list[int]] = {}

    def encode(self, text: str) -> list[int]:
        """Returns the numbers of the tokens of `text`."""
        return [number for part in self.PARTS.findall(text) for number in self.cut(part)]

    def cut(self, part: str) -> list[int]:
        """Returns the numbers of one part: the earliest merge of the list comes first, at all its places."""
        if part not in self.known:
            pieces = [self.letters[byte] for byte in part.encode()]
            while len(pieces) > 1:
                pairs = list(itertools.pairwise(pieces))
                best = min(pairs, key=lambda pair: self.ranks.get(pair, math.inf))
                if best not in self.ranks:
                    break
                joined: list[str] = []
                for piece in pieces:
                    both = bool(joined) and (joined[-1], piece) == best
                    joined[-1:] = [joined[-1] + piece] if both else [*joined[-1:], piece]
                pieces = joined
            self.known[part] = [self.numbers[piece] for piece in pieces]
        return self.known[part]


# Heads and models


class SentenceClassifier(nn.Module):
    """An encoder and a linear head on the mean over its tokens; MiniLM was trained for this mean."""

    def __init__(self, base: TransformerBase, weight: Tensor, bias: Tensor) -> None:
        super().__init__()
        self.base, self.head = base, nn.Linear(base.d_model, len(weight))
        self.head.load_state_dict({"weight": weight, "bias": bias})

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Returns logits `(b, C)` of `tokens` `(b, n)`."""
        logits: Tensor = self.head(mean_state(self.base, tokens, lengths))
        return logits


def mean_state(base: TransformerBase, tokens: Tensor, lengths: Tensor) -> Tensor:
    """Returns the mean hidden state of the real tokens, `(b, d)`, of `tokens` `(b, n)`."""
    real = ~as_mask(lengths, tokens.size(1)).unsqueeze(2)  # (b, n, 1)
    return (base(tokens, lengths) * real).sum(dim=1) / lengths.unsqueeze(1)


class LoRALinear(nn.Module):
    """A linear map that stays as it is, plus what two narrow matrices learn: W x + 2 B A x (Hu 2021)."""

    def __init__(self, linear: nn.Linear, rank: int = 8) -> None:
        super().__init__()
        self.linear, self.scale = linear, 2.0
        self.down = nn.Parameter(torch.randn(rank, linear.in_features) / math.sqrt(linear.in_features))
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank))  # nothing changes at the start

    def forward(self, x: Tensor) -> Tensor:
        """Returns `(..., out)` for `x` `(..., in)`."""
        added: Tensor = F.linear(F.linear(x, self.down), self.up) * self.scale
        return self.linear(x) + added


def with_lora(model: SentenceClassifier) -> SentenceClassifier:
    """Freezes the encoder and puts a LoRALinear in place of each query and value; the head trains as well."""
    model.base.requires_grad_(False)
    for layer in model.base.layers:
        attention: Any = layer.attention
        attention.query, attention.value = map(LoRALinear, (attention.query, attention.value))
    return model


def fit_head(states: Tensor, labels: Tensor, folds: int = 5) -> tuple[Tensor, Tensor]:
    """Returns weight `(2, d)` and bias `(2,)` of a logistic regression on `states` `(n, d)`.

    How strongly large weights are punished is chosen by cross-validation within the `labels` `(n,)`.
    """
    middle = states.mean(dim=0)
    size = (states - middle).square().mean().sqrt()
    x = (states - middle) / size  # (n, d)

    def fit(part: Tensor, strength: float) -> tuple[Tensor, Tensor]:
        weight = torch.zeros(2, x.size(1), requires_grad=True)
        bias = torch.zeros(2, requires_grad=True)
        search = torch.optim.LBFGS([weight, bias], max_iter=100, line_search_fn="strong_wolfe")

        def loss() -> Tensor:
            search.zero_grad()
            total = F.cross_entropy(F.linear(x[part], weight, bias), labels[part])
            total = total + strength * weight.square().sum() / (2 * len(part))
            total.backward()
            return total

        search.step(loss)
        return weight.detach(), bias.detach()

    def loss_left_out(strength: float) -> float:
        order, total = torch.arange(len(x)), 0.0
        for fold in range(folds):
            out = order % folds == fold
            total += float(F.cross_entropy(F.linear(x[out], *fit(order[~out], strength)), labels[out]))
        return total

    weight, bias = fit(torch.arange(len(x)), min((1.0, 10.0, 100.0, 1000.0), key=loss_left_out))
    weight = weight / size
    return weight, bias - weight @ middle


# The comparison


@dataclass
class Task:
    """A corpus with what its ways need; what is expensive is made when it is first needed."""

    name: str
    corpus: Corpus
    vocabulary: Vocabulary
    captions: list[str]
    device: torch.device
    settings: argparse.Namespace

    def encode(self) -> Encode:
        return for_classifier(self.vocabulary, max_len=self.settings.max_len)

    def new_base(self) -> TransformerBase:
        """Returns the base of notebook 06's classifier at full size, with random numbers."""
        return TransformerBase(len(self.vocabulary), 200, 4, 2, dropout=0.1)

    @cached_property
    def test(self) -> Batches:
        return Batches(self.corpus.test, self.encode(), 16_384)

    @cached_property
    def own(self) -> TransformerBase:
        """The base of a language model that has read the training reviews, without labels, and the captions."""
        texts = (self.corpus.train["text"] + self.captions)[: self.settings.texts]
        split = Split(f"{self.name}/read", "train", pd.DataFrame({"text": texts}))
        batches = Batches(split, for_language_model(self.vocabulary, max_len=self.settings.max_len), 8192)
        set_seed(0)
        model = LanguageModel(self.new_base())
        passes, started = self.settings.reading, time.perf_counter()
        factor = schedule("cosine", 20, passes * len(batches))
        history = train(
            model, batches, "language_model", epochs=passes, factor=factor, device=self.device, progress=False
        )
        print(
            f"{self.name}: {sum(batches.sizes):,} tokens read {passes} times in {time.perf_counter() - started:.0f} s, "
            f"perplexity {history['perplexity'].iloc[-1]:.0f}",
            flush=True,
        )
        return model.base

    @cached_property
    def pieces(self) -> WordPieces | Unigrams:
        path = find(self.name_of_encoder) / "tokenizer.json"
        unigram = json.loads(path.read_text("utf-8"))["model"].get("type") == "Unigram"
        return Unigrams(path, self.settings.max_len) if unigram else WordPieces(path)

    @property
    def name_of_encoder(self) -> str:
        return self.settings.encoder or ENCODERS[self.name]

    def encode_pieces(self, row: dict) -> Example:
        return Example(self.pieces.encode(row["text"])[: self.settings.max_len], int(row["label"]))

    @cached_property
    def encoder(self) -> TransformerBase:
        model = load_weights(self.name_of_encoder)
        assert isinstance(model, TransformerBase)
        return model.to(self.device)

    @cached_property
    def test_pieces(self) -> Batches:
        return Batches(self.corpus.test, self.encode_pieces, self.at_once)

    @property
    def at_once(self) -> int:
        return 16_384 if self.device.type == "cuda" else 2048  # tokens; on a processor large batches gain nothing

    @cached_property
    def states(self) -> dict[str, Tensor]:
        """The frozen encoder's sentence vectors, `(rows, d)`, of the training and the test part, which are kept."""
        path, found = (
            self.settings.out / f"states_{self.name}_{Path(self.name_of_encoder).name}.pt",
            dict[str, Tensor](),
        )
        if path.exists():
            return dict(torch.load(path))
        for part in (self.corpus.train, self.corpus.test):
            batches = Batches(replace_role(part), self.encode_pieces, self.at_once)
            found[part.role] = torch.zeros(len(part), self.encoder.d_model)
            with torch.no_grad():
                for batch in batches:
                    on_device = batch.to(self.device)
                    found[part.role][batch.rows] = mean_state(self.encoder, on_device.tokens, on_device.lengths).cpu()
        if not self.settings.quick:
            torch.save(found, path)
        return found

    def draw(self, count: int, seed: int) -> list[int]:
        """Returns the rows of `count` labelled reviews, half of each kind; more labels are the same ones and others."""
        labels = np.array(self.corpus.train["label"])
        order = np.random.default_rng(seed).permutation(len(labels))
        if count >= len(labels):
            return order.tolist()
        kinds = [order[labels[order] == kind][: count // 2] for kind in (0, 1)]
        return sorted(np.concatenate(kinds).tolist())

    def accuracy(self, logits: Tensor, copies: bool = True) -> float:
        """Returns the share of the test part that is right; without `copies`, of its rows that are in no other part."""
        right = logits.argmax(dim=1) == torch.tensor(self.corpus.test["label"])
        if not copies:
            right = right[~torch.tensor(self.corpus.copies("test"))]
        return right.float().mean().item()


def replace_role(split: Split) -> Split:
    """Returns a split whose rows come in their own order."""
    return Split(split.name, "other", split.rows)


def tune(task: Task, way: str, model: nn.Module, few: Split, encode: Encode, seed: int) -> nn.Module:
    """Trains a classifier as `TUNING` says."""
    rate, least_steps, least_passes = TUNING[way]
    batches = Batches(few, encode, 10**9, BATCH, seed=seed)
    passes = max(least_passes, math.ceil(least_steps / len(batches)))
    if task.settings.quick:
        passes = 1
    steps = passes * len(batches)
    factor = schedule("linear", max(1, steps // 10), steps)
    train(
        model,
        batches,
        "classifier",
        epochs=passes,
        learning_rate=rate,
        factor=factor,
        seed=seed,
        device=task.device,
        progress=False,
    )
    return model


def measure(task: Task, way: str, count: int, seed: int) -> Tensor:
    """Returns the logits `(rows, 2)` of the test part by one way with `count` labels."""
    chosen = task.draw(count, seed)
    few = Split(f"{task.name}/few", "train", task.corpus.train.rows.iloc[chosen].reset_index(drop=True))
    if way == "naive Bayes":
        texts, others = (list(map(task.vocabulary.encode, part["text"])) for part in (few, task.corpus.test))
        return F.one_hot(torch.tensor(naive_bayes(texts, few["label"], others)), 2)
    torch.manual_seed(seed)
    if way in OF_WORDS:
        model: nn.Module = Classifier(task.new_base() if way == "scratch" else copy.deepcopy(task.own))
        return predict(tune(task, way, model, few, task.encode(), seed), task.test)
    weight, bias = fit_head(task.states["train"][chosen], torch.tensor(few["label"]))
    if way == "real, frozen":
        return F.linear(task.states["test"], weight, bias)
    real = SentenceClassifier(copy.deepcopy(task.encoder), weight, bias)
    if way == "real, LoRA":
        real = with_lora(real)
    return predict(tune(task, way, real, few, task.encode_pieces, seed), task.test_pieces)


def score_by_words(logits: Tensor, positive: list[int], negative: list[int]) -> Tensor:
    """Returns the log-odds of words of praise against words of blame, `(b,)`, of logits `(b, V)`, as in notebook 17."""
    return logits[:, positive].logsumexp(dim=1) - logits[:, negative].logsumexp(dim=1)


@torch.no_grad()
def ask(model: Llama, pairs: BytePairs, texts: list[str], device: torch.device) -> Tensor:
    """Returns the scores of `texts` for each wording, `(wordings, texts)`; a batch holds texts of about one length."""
    scores = torch.zeros(len(WORDINGS), len(texts))
    order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
    for wording, (behind, praise, blame) in enumerate(WORDINGS):
        positive, negative = pairs.encode(praise), pairs.encode(blame)  # one token each
        for start in range(0, len(texts), 64):
            rows = order[start : start + 64]
            read = [torch.tensor(pairs.encode(texts[row] + behind)) for row in rows]
            tokens = pad_sequence(read, batch_first=True).to(device)  # (b, n)
            lengths = torch.tensor([len(one) for one in read])
            hidden = model.hidden_states(tokens, lengths.to(device))
            last = hidden[torch.arange(len(rows), device=device), (lengths - 1).to(device)]  # (b, d)
            scores[wording, rows] = score_by_words(model.scores(last), positive, negative).float().cpu()
    return scores


def asked(task: Task) -> list[dict[str, object]]:
    """Returns a row for each wording: accuracy on the test part, and in validation, by which one may choose.

    The middle of the scores stands between the classes: half of the reviews are called praise. That needs reviews of
    both kinds, and no label.
    """
    published = read(find(task.settings.model))
    names = ("tokenizer.ggml.tokens", "tokenizer.ggml.merges")
    pairs = BytePairs(*(published.setting(name) for name in names))
    model = load_weights(task.settings.model)
    assert isinstance(model, Llama)
    model.to(task.device)
    parts = {part.role: ask(model, pairs, part["text"], task.device) for part in (task.corpus.valid, task.corpus.test)}
    rows: list[dict[str, object]] = []
    for wording in range(len(WORDINGS)):
        right = {}
        for part in (task.corpus.valid, task.corpus.test):
            predicted = parts[part.role][wording] > parts["valid"][wording].median()
            right[part.role] = (predicted == torch.tensor(part["label"]).bool()).float().mean().item()
        rows.append({"labels": 0, "seed": wording, "accuracy": right["test"], "valid": right["valid"]})
    return rows


def prepare(name: str, settings: argparse.Namespace, device: torch.device) -> Task:
    """Returns a corpus with its vocabulary and the captions of its language."""
    corpus = load(name)
    if settings.quick:
        for part, split in corpus.parts.items():
            rows = split.rows.sample(60, random_state=0).reset_index(drop=True)
            corpus.parts[part] = Split(split.name, split.role, rows)
    captions = load("multi30k_en_fr").train["fr" if LANGUAGES[name] == "French" else "en"]
    vocabulary = corpus.vocabulary or Vocabulary.learn(corpus.train["text"] + captions, min_count=2)
    return Task(name, corpus, vocabulary, captions, device, settings)


def run(settings: argparse.Namespace, device: torch.device) -> None:
    """Measures what is missing in the folder, a row at a time."""
    done = settings.out / KEPT.name
    found: list[dict[Any, Any]] = pd.read_csv(done, sep="\t").to_dict("records") if done.exists() else []

    def keep(rows: list[dict[str, Any]]) -> None:
        found.extend(rows)
        pd.DataFrame(found).to_csv(done, sep="\t", index=False, float_format="%.4f")
        for row in rows:
            print("{corpus}, {way}, {labels} labels, seed {seed}: {accuracy:.1%}".format_map(row), flush=True)

    for name in settings.corpora:
        task = prepare(name, settings, device)
        counts = [count for count in settings.labels if count <= len(task.corpus.train)]
        ways = [way for way in WAYS[name] if way in settings.ways]
        have = {(row["corpus"], row["way"], row["labels"], row["seed"]) for row in found}
        if ASKED in ways and (name, ASKED, 0, 0) not in have:
            keep([{"corpus": name, "way": ASKED, **row} for row in asked(task)])
        for seed in range(settings.seeds):
            for count in counts:
                for way in (way for way in ways if way != ASKED):
                    if (name, way, count, seed) not in have:
                        row = {"corpus": name, "way": way, "labels": count, "seed": seed}
                        accuracy = task.accuracy(measure(task, way, count, seed))
                        keep([{**row, "accuracy": accuracy, "valid": math.nan}])


def compare_copies(settings: argparse.Namespace, device: torch.device) -> None:
    """Prints mean accuracies, of ways that are quick, with and without test reviews that stand in the training part."""
    for name in settings.corpora:
        task = prepare(name, settings, device)
        print(f"{name}: {sum(task.corpus.copies('test'))} copies among {len(task.corpus.test)} test reviews")
        for way in ("naive Bayes", "real, frozen"):
            for count in (count for count in settings.labels if count <= len(task.corpus.train)):
                logits = [measure(task, way, count, seed) for seed in range(settings.seeds)]
                means = [100 * np.mean([task.accuracy(one, copies) for one in logits]) for copies in (True, False)]
                print(f"{way}, {count} labels: {means[0]:.1f} % with the copies, {means[1]:.1f} without", flush=True)


# The table and the picture


def table(runs: pd.DataFrame, corpus: str) -> str:
    """Returns the table of `docs/results.md`: test accuracy in %, mean and range over the draws."""
    runs = runs[runs["corpus"] == corpus]
    counts = sorted({count for count in runs["labels"] if count})
    lines = [
        f"| {LANGUAGES[corpus]}: labels | {' | '.join(f'{count:,}' for count in counts)} |",
        "|---" * (len(counts) + 1) + "|",
    ]
    for way in (way for way in WAYS[corpus] if way != ASKED and way in set(runs["way"])):
        cells = []
        for count in counts:
            each = 100 * runs[(runs["way"] == way) & (runs["labels"] == count)]["accuracy"]
            cells.append(f"{each.mean():.1f} ({each.min():.1f} to {each.max():.1f})" if len(each) else "")
        lines.append(f"| {way} | {' | '.join(cells)} |")
    return "\n".join(lines)


def table_of_wordings(runs: pd.DataFrame) -> str:
    """Returns the table of what is asked without a label."""
    lines = ["| behind the sentence | praise, blame | validation | test |", "|---|---|---|---|"]
    for row in runs[runs["way"] == ASKED].sort_values("seed").to_dict("records"):
        behind, praise, blame = WORDINGS[int(row["seed"])]
        lines.append(
            f"| {behind.strip()} | {praise.strip()}, {blame.strip()} | {row['valid']:.1%} | {row['accuracy']:.1%} |"
        )
    return "\n".join(lines)


def draw(runs: pd.DataFrame) -> plt.Figure:
    """Returns the picture: a panel for each language, a line with its band for each way."""
    corpora = [name for name in LANGUAGES if name in set(runs["corpus"])]
    figure, panels = plt.subplots(
        1, len(corpora), figsize=(4.9 * len(corpora), 4), layout="constrained", sharey=True, squeeze=False
    )
    for axes, name in zip(panels[0], corpora, strict=True):
        here = runs[runs["corpus"] == name]
        for way in (way for way in WAYS[name] if way != ASKED and way in set(here["way"])):
            points = 100 * here[here["way"] == way].groupby("labels")["accuracy"].agg(["mean", "min", "max"])
            axes.plot(points.index, points["mean"], color=COLOURS[way], marker=MARKERS[way], markersize=5, label=way)
            axes.fill_between(points.index, points["min"], points["max"], color=COLOURS[way], alpha=0.18, linewidth=0)
        if len(found := here[here["way"] == ASKED]):
            best = found.loc[found["valid"].idxmax()]
            axes.axhline(100 * best["accuracy"], color=COLOURS[ASKED], linestyle="--", label="asked, no label")
        counts = sorted({count for count in here["labels"] if count})
        axes.set(title=f"{LANGUAGES[name]} ({name})", xlabel="labelled reviews", xscale="log", ylim=(45, 95))
        axes.grid(color="#88888855", linewidth=0.6)
        axes.set_xticks(counts, [f"{count:,}" for count in counts])
        axes.minorticks_off()
        axes.legend(fontsize=8, loc="upper left" if name == "cls_books" else "lower right")
    panels[0][0].set_ylabel("test accuracy (%)")
    return figure


def show(runs: pd.DataFrame, folder: Path) -> None:
    """Writes the pictures, for light pages and for dark ones, and prints the tables."""
    for name, style in (("real_encoders", {}), ("real_encoders_dark", DARK)):
        with plt.rc_context({**STYLE, **style}):
            figure = draw(runs)
            figure.savefig(folder / f"{name}.png", dpi=120)
            plt.close(figure)
    for corpus in (name for name in LANGUAGES if name in set(runs["corpus"])):
        print(f"\n{table(runs, corpus)}")
    if ASKED in set(runs["way"]):
        print(f"\n{table_of_wordings(runs)}")


def gather(folders: Sequence[Path]) -> pd.DataFrame:
    """Returns what was measured in several folders, in one order."""
    runs = pd.concat([pd.read_csv(folder / KEPT.name, sep="\t") for folder in folders], ignore_index=True)
    ways = {way: place for place, way in enumerate(WAYS["sst2"])}
    keys = {"corpus": runs["corpus"].map(list(LANGUAGES).index), "way": runs["way"].map(ways)}
    runs = runs.assign(a=keys["corpus"], b=keys["way"]).sort_values(["a", "b", "labels", "seed"])
    return runs.drop(columns=["a", "b"]).drop_duplicates(["corpus", "way", "labels", "seed"]).reset_index(drop=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="folder for what is measured")
    parser.add_argument("--draw", action="store_true", help="only make picture and table again")
    parser.add_argument("--keep", type=Path, nargs="+", metavar="FOLDER", help="keep what these folders hold")
    parser.add_argument("--copies", action="store_true", help="only compare with a test part without copies")
    parser.add_argument("--corpora", nargs="+", choices=LANGUAGES, default=list(LANGUAGES))
    parser.add_argument("--ways", nargs="+", choices=WAYS["sst2"], default=list(WAYS["sst2"]))
    parser.add_argument("--labels", type=int, nargs="+", default=list(LABELS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--max-len", type=int, default=512, help="texts are cut at so many tokens")
    parser.add_argument("--reading", type=int, default=10, help="passes of the own pretraining")
    parser.add_argument("--texts", type=int, help="read so many texts only")
    parser.add_argument("--encoder", help="a name or folder of helpers.weights, in place of those in ENCODERS")
    parser.add_argument("--model", default="smollm2", help="likewise, for what is asked")
    parser.add_argument("--device", help="cpu, cuda, mps; chosen when not given")
    parser.add_argument("--quick", action="store_true", help="little of everything: only a trial")
    settings = parser.parse_args()
    if settings.keep:
        gather(settings.keep).to_csv(KEPT, sep="\t", index=False, float_format="%.4f")
    if settings.draw or settings.keep:
        show(pd.read_csv(KEPT, sep="\t"), PICTURES)
        return
    if settings.out is None:
        parser.error("--out is needed, or --draw")
    if settings.quick:
        settings.labels, settings.seeds, settings.reading, settings.texts = [4, 20], 2, 1, 50
        settings.max_len = 32
    settings.out.mkdir(parents=True, exist_ok=True)
    device = choose_device(settings.device)
    print(explain_device(device))
    if settings.copies:
        compare_copies(settings, device)
        return
    started = time.perf_counter()
    run(settings, device)
    show(gather([settings.out]), settings.out)
    print(f"\n{settings.seeds} seeds. {time.perf_counter() - started:.0f} s in all.")


if __name__ == "__main__":
    main()
