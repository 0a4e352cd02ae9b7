"""The headline experiment at full size, on the real book reviews (V=50001, D=200, M=4, A=2).

    python -m benchmarks.real_reviews --out results         # a GPU: minutes; a CPU: hours
    python -m benchmarks.real_reviews --out results --quick # a CPU: does everything run?

A run that was stopped goes on where it was when the same command is given again: pretraining after
its last whole epoch, the classifiers after the last whole run.

Pretrains a language model on the text (never the labels) of the training and validation reviews
and the French captions of multi30k. Then trains the classifier three ways, several seeds each:
from scratch, pretrained, and pretrained with the base frozen. Prints the table for
`docs/results.md`, and writes `real_reviews.csv` and `real_reviews.png` into the folder --out.

The language model's head scores only the pieces that occur in the text: no other is ever a target,
and the head is thrown away after pretraining. That halves the work; the embedding keeps all of V. On a
CPU, --adaptive halves it again: rare pieces get narrower vectors (Grave et al. 2017).

"Best by validation" is the test accuracy of the epoch with the highest validation accuracy,
the honest figure. "Highest" picks the epoch on the test set: only for comparison with published
runs, which did so.
"""

import argparse
import copy
import itertools
import math
import os
import time
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd
import torch
from matplotlib.ticker import MaxNLocator
from torch import Tensor, nn

from helpers.batches import IGNORE, Batch, Batches, for_classifier, for_language_model
from helpers.corpora import CACHE, MIRROR, Corpus, Split, load
from helpers.device import choose_device, explain_device
from helpers.models import Classifier, LanguageModel, TransformerBase
from helpers.training import predict, schedule, score_language_model, train

COLOURS = {"scratch": "#d55e00", "pretrained": "#0072b2", "frozen": "#009e73"}


def naive_bayes(texts: list[list[int]], labels: list[int], others: list[list[int]]) -> list[int]:
    """Return the class of each of `others`: multinomial naive Bayes, add-one smoothing."""
    counts = [Counter[int](), Counter[int]()]
    for text, label in zip(texts, labels, strict=True):
        counts[label].update(text)
    vocabulary = len(counts[0] | counts[1]) + 1
    totals = [sum(count.values()) + vocabulary for count in counts]
    prior = math.log(sum(labels) / (len(labels) - sum(labels)))

    def evidence(token: int) -> float:
        return math.log((counts[1][token] + 1) / totals[1] * totals[0] / (counts[0][token] + 1))

    return [int(prior + sum(evidence(token) for token in text) > 0) for text in others]


def new_base(vocabulary_size: int, settings: argparse.Namespace) -> TransformerBase:
    return TransformerBase(vocabulary_size, 200, 4, 2, dropout=settings.dropout)


def pretrain(corpus: Corpus, device: torch.device, settings: argparse.Namespace) -> TransformerBase:
    """Return the base of a language model that has read reviews and captions."""
    assert corpus.vocabulary is not None
    texts = corpus.train["text"] + corpus.valid["text"] + load("multi30k_en_fr").train["fr"]
    texts = texts[: settings.texts]
    split = Split("cls_books/pretraining", "train", pd.DataFrame({"text": texts}))
    encode = for_language_model(corpus.vocabulary, max_len=settings.max_len)
    batches = Batches(split, encode, settings.pretrain_budget)
    targets = torch.cat([batch.target.flatten() for batch in batches])
    pieces, counts = targets[targets != IGNORE].unique(return_counts=True)
    place = torch.zeros(len(corpus.vocabulary), dtype=torch.long)
    place[pieces[counts.argsort(descending=True)]] = torch.arange(len(pieces))  # the most frequent first
    place = place.to(device)

    def score(model: LanguageModel, batch: Batch) -> tuple[Tensor, Tensor]:
        logits, targets = score_language_model(model, batch)
        return logits, place[targets]

    def score_adaptive(model: LanguageModel, batch: Batch) -> tuple[Tensor, Tensor]:
        hidden = model.base(batch.tokens, batch.lengths).flatten(0, 1)[batch.scored]  # (k, d)
        with torch.autocast(hidden.device.type, enabled=False):  # it mixes precisions, which its own code forbids
            right = model.head(hidden.float(), place[batch.target.flatten()[batch.scored]]).output  # (k,), log p
        wrong = torch.log1p(-right.exp().clamp(max=1 - 1e-6))  # the right piece or another: two classes, the same loss
        return torch.stack([right, wrong], dim=1), torch.zeros(len(right), dtype=torch.long, device=right.device)

    print(f"\nPretraining on {len(texts)} texts, {sum(batches.sizes):,} tokens, "
          f"{settings.pretrain_epochs} epochs", flush=True)  # fmt: skip
    torch.manual_seed(0)
    model: Any = LanguageModel(new_base(len(corpus.vocabulary), settings))
    width = model.head.in_features
    if settings.adaptive:
        model.head = nn.AdaptiveLogSoftmaxWithLoss(width, len(pieces), [len(pieces) // 12, len(pieces) // 3])
    else:
        model.head = nn.Linear(width, len(pieces))
    print(f"{sum(weight.numel() for weight in model.base.parameters()):,} parameters of the base, "
          f"a head over {len(pieces):,} pieces", flush=True)  # fmt: skip
    steps = settings.pretrain_epochs * len(batches)
    history = train(
        model,
        batches,
        score_adaptive if settings.adaptive else score,
        epochs=settings.pretrain_epochs,
        learning_rate=settings.pretrain_rate,
        factor=schedule("cosine", min(200, steps // 10), steps),
        device=device,
        checkpoint=settings.out / "pretraining.pt",
        resume=True,
        progress=False,
    )
    for row in history.to_dict("records"):
        print("epoch {epoch:.0f}, step {step:.0f}, loss {loss:.3f}, perplexity {perplexity:.1f}, "
              "{tokens_per_second:,.0f} tokens/s, {seconds:.0f} s".format_map(row))  # fmt: skip
    return model.base.cpu()


def classify(corpus: Corpus, way: str, base: TransformerBase, seed: int, settings: argparse.Namespace) -> pd.DataFrame:
    """Return the history of one run: one row per epoch with validation and test accuracy."""
    assert corpus.vocabulary is not None
    device = choose_device(settings.device)
    encode = for_classifier(corpus.vocabulary, max_len=settings.max_len)
    batches = Batches(corpus.train, encode, settings.budget, seed=seed)
    valid, test = (Batches(part, encode, 16_384) for part in (corpus.valid, corpus.test))
    labels = torch.tensor(corpus.test["label"])
    fresh = ~torch.tensor(corpus.copies("test"))
    torch.manual_seed(seed)
    start = new_base(len(corpus.vocabulary), settings) if way == "scratch" else copy.deepcopy(base)
    model = Classifier(start)
    model.base.requires_grad_(way != "frozen")

    def look() -> dict[str, float]:
        right = (predict(model, test).argmax(dim=1) == labels).float()
        return {"test_accuracy": right.mean().item(), "test_fresh": right[fresh].mean().item()}

    rates = {"scratch": settings.rate, "pretrained": settings.fine_rate, "frozen": 3e-3}
    steps = settings.epochs * len(batches)
    history = train(
        model,
        batches,
        "classifier",
        epochs=settings.epochs,
        learning_rate=rates[way],
        factor=schedule("linear", steps // 20, steps),
        valid=valid,
        seed=seed,
        device=device,
        progress=False,
        after_epoch=look,
    )
    return history.assign(way=way, seed=seed)


def table(runs: pd.DataFrame, bayes: float) -> str:
    """Return the table of `docs/results.md`."""
    lines = [
        "| way | after 1 epoch | after 2 | best by validation | of these, not in training "
        "| highest | training accuracy at the end | s per epoch |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for way, rows in runs.groupby("way", sort=False):
        each = [run.set_index("epoch") for _, run in rows.groupby("seed")]
        best = [run.loc[run["valid_accuracy"].idxmax()] for run in each]
        columns = [
            [run["test_accuracy"].get(1) for run in each],
            [run["test_accuracy"].get(2, math.nan) for run in each],
            [row["test_accuracy"] for row in best],
            [row["test_fresh"] for row in best],
            [run["test_accuracy"].max() for run in each],
            [run["accuracy"].iloc[-1] for run in each],
        ]
        cells = [f"{100 * pd.Series(c).mean():.1f} ± {100 * pd.Series(c).std():.1f}" for c in columns]
        seconds = rows["seconds"].max() / rows["epoch"].max()
        lines.append(f"| {way} | {' | '.join(cells)} | {seconds:.1f} |")
    lines.append(f"| naive Bayes | | | {100 * bayes:.1f} | | | | |")
    return "\n".join(lines)


def draw(runs: pd.DataFrame, bayes: float, path: Path) -> None:
    """Write the curves: mean over seeds, and a band from the lowest to the highest."""
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for way, rows in runs.groupby("way", sort=False):
        curve = 100 * rows.groupby("epoch")["test_accuracy"].agg(["mean", "min", "max"])
        axes.plot(curve.index, curve["mean"], color=COLOURS[str(way)], marker="o", label=way)
        axes.fill_between(curve.index, curve["min"], curve["max"], color=COLOURS[str(way)], alpha=0.2)
    axes.axhline(100 * bayes, color="#555555", linestyle="--", label="naive Bayes")
    axes.set(title="Book reviews: test accuracy", xlabel="epoch", ylabel="test accuracy (%)")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend()
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the CSV and the figure")
    parser.add_argument("--corpus-folder", help=f"folder of copies, in place of {MIRROR}")
    parser.add_argument("--device", help="cpu, cuda, mps; chosen when not given")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=8, help="of the classifier")
    parser.add_argument("--budget", type=int, default=1024, help="tokens per batch, classifier")
    parser.add_argument("--rate", type=float, default=2e-4, help="learning rate from scratch")
    parser.add_argument("--fine-rate", type=float, default=2e-4, help="learning rate, pretrained")
    parser.add_argument("--pretrain-epochs", type=int, default=12)
    parser.add_argument("--pretrain-budget", type=int, default=8192, help="tokens per batch")
    parser.add_argument("--pretrain-rate", type=float, default=1e-3)
    parser.add_argument("--bf16", action="store_true", help="bfloat16 on a CPU too, where it has the instructions")
    parser.add_argument("--adaptive", action="store_true", help="an adaptive softmax in pretraining: less work")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--max-len", type=int, default=512, help="reviews are cut at so many tokens")
    parser.add_argument("--texts", type=int, help="pretrain on so many texts only")
    parser.add_argument("--quick", action="store_true", help="little of everything: only a trial")
    settings = parser.parse_args()
    if settings.quick:
        settings.seeds, settings.epochs, settings.pretrain_epochs = 2, 2, 1
        settings.texts, settings.max_len, settings.pretrain_budget = 300, 64, 1024
    settings.out.mkdir(parents=True, exist_ok=True)
    if settings.corpus_folder:
        os.environ[MIRROR] = str(Path(settings.corpus_folder).resolve())
        os.environ.setdefault(CACHE, str(settings.out / "cache"))
    started = time.perf_counter()
    device = choose_device(settings.device)
    print(explain_device(device))
    corpus = load("cls_books")
    assert corpus.vocabulary is not None
    if settings.quick:
        for name, part in corpus.parts.items():
            rows = part.rows.sample(200, random_state=0).reset_index(drop=True)
            corpus.parts[name] = Split(part.name, part.role, rows)

    encode = corpus.vocabulary.encode
    guesses = naive_bayes(
        [encode(text) for text in corpus.train["text"]],
        corpus.train["label"],
        [encode(text) for text in corpus.test["text"]],
    )
    pairs = zip(guesses, corpus.test["label"], strict=True)
    bayes = sum(a == b for a, b in pairs) / len(guesses)

    low = settings.bf16 and device.type == "cpu"
    # Without the cache: around a whole training it would keep the weights as they were at its start.
    precision = torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False) if low else nullcontext()
    done = settings.out / "real_reviews.csv"
    together = pd.read_csv(done) if done.exists() else pd.DataFrame(columns=["way", "seed"])
    with precision:
        base = pretrain(corpus, device, settings)
        print()
        for seed, way in itertools.product(range(settings.seeds), COLOURS):
            run = together[(together["way"] == way) & (together["seed"] == seed)]
            if run.empty:
                run = classify(corpus, way, base, seed, settings)
                together = pd.concat([together, run]) if len(together) else run
                together.to_csv(done, index=False)
                draw(together, bayes, settings.out / "real_reviews.png")
            curve = ", ".join(f"{value:.1%}" for value in run["test_accuracy"])
            print(f"{way}, seed {seed}: test accuracy {curve}", flush=True)
    draw(together, bayes, settings.out / "real_reviews.png")
    print(f"\n{table(together, bayes)}")
    print(f"\nTest accuracy in %, mean ± standard deviation of {settings.seeds} seeds. "
          f"{time.perf_counter() - started:.0f} s in all.")  # fmt: skip


if __name__ == "__main__":
    main()
