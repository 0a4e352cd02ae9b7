"""How much faster our training loop is than a plain one, and which change brings how much.

    python -m benchmarks.training                    # speed: about 3 minutes on one core
    python -m benchmarks.training --epochs 3         # and accuracy after each of 3 epochs: 15 minutes

Both train the classifier of notebook 06 at full size (V=50001, D=200, M=4, A=2) on the real book
reviews. The plain loop is the usual one: batches of 8 in random order, padded to the longest,
torch.nn.TransformerEncoder with a causal and a padding mask, Adam, float32. Rows are measured in
turn, several times, on the same rows; a ratio is that of the two median times.
"""

import argparse
import math
import resource
import statistics
import time
import warnings
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.batches import Batch, Batches, Encode, for_classifier, padding_share
from helpers.corpora import Corpus, Split, load
from helpers.device import autocast, bf16_pays, choose_device, explain_device
from helpers.models import Classifier, TransformerBase, as_mask, sinusoids
from helpers.training import evaluate, score_classifier, train

VOCABULARY, WIDTH, LAYERS, HEADS, DROPOUT = 50_001, 200, 4, 2, 0.1


class PlainClassifier(nn.Module):
    """The same model as most tutorials write it."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, WIDTH, DROPOUT, batch_first=True)
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        nn.init.normal_(self.embedding.weight, std=WIDTH**-0.5)
        self.encoder = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.dropout, self.head = nn.Dropout(DROPOUT), nn.Linear(WIDTH, 2)
        self.positions: Tensor
        self.register_buffer("positions", sinusoids(2048, WIDTH))

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Return logits `(b, 2)` of `tokens` `(b, n)`."""
        b, n = tokens.shape
        x = self.dropout(self.embedding(tokens) * math.sqrt(WIDTH) + self.positions[:n])
        causal = nn.Transformer.generate_square_subsequent_mask(n, device=tokens.device)
        hidden = self.encoder(x, mask=causal, src_key_padding_mask=as_mask(lengths, n))
        logits: Tensor = self.head(hidden[torch.arange(b, device=tokens.device), lengths - 1])
        return logits


def our_classifier() -> nn.Module:
    return Classifier(TransformerBase(VOCABULARY, WIDTH, LAYERS, HEADS, dropout=DROPOUT))


def plain_epoch(
    model: nn.Module,
    batches: Iterable[Batch],
    optimizer: torch.optim.Optimizer,
    device: torch.device,
    precision: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> float:
    """Train one epoch the usual way, and return the seconds it took."""
    model.train()
    started = time.perf_counter()
    for batch in batches:
        tokens, lengths = batch.tokens.to(device), batch.lengths.to(device)
        with precision():
            loss = F.cross_entropy(model(tokens, lengths), batch.target.to(device))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        loss.item()
    return time.perf_counter() - started


def multiplied(model: nn.Module) -> int:
    """Return how many parameters take part in products: those of an embedding are only looked up."""
    tables = sum(part.weight.numel() for part in model.modules() if isinstance(part, nn.Embedding))
    return sum(parameter.numel() for parameter in model.parameters()) - tables


def share_of(peak: float | None, speed: float, parameters: int, operations: int = 6) -> str:
    """Return which share of a device's peak is used, in words.

    Args:
        peak: in TFLOPS, of the products of dense matrices; without it the share is not known.
        speed: tokens a second, padding not counted.
        parameters: that take part in products.
        operations: for each parameter and token: 2 to read, 6 to learn (Kaplan et al. 2020, 2.1). The products of
            queries, keys and values with one another are not counted.
    """
    return f"{speed * operations * parameters / (peak * 1e12):.3%}" if peak else "no peak given"


def table(times: dict[str, list[float]], tokens: int, share: Callable[[float], str]) -> dict[str, float]:
    """Print a row for each loop, the first one being compared with; return how many times as fast each is.

    Args:
        times: loop -> the seconds of each of its rounds.
        tokens: of one round.
        share: what to write in the last column for so many tokens a second.
    """
    print("\n| loop | tokens/s | times the plain loop | times the row above | share of the peak |")
    print("|---|---|---|---|---|")
    speeds = {name: tokens / statistics.median(seconds) for name, seconds in times.items()}
    first = above = next(iter(speeds.values()))
    for name, speed in speeds.items():
        print(f"| {name} | {speed:,.0f} | {speed / first:.2f} | {speed / above:.2f} | {share(speed)} |")
        above = speed
    return {name: speed / first for name, speed in speeds.items()}


def encoding_of(corpus: Corpus, settings: argparse.Namespace) -> Encode:
    """Return what makes examples of the rows of a corpus that brings its vocabulary."""
    assert corpus.vocabulary is not None
    return for_classifier(corpus.vocabulary, max_len=settings.max_len)


def speeds(corpus: Corpus, device: torch.device, settings: argparse.Namespace) -> dict[str, float]:
    """Print tokens per second from the plain loop to ours, one change at a time; return how often the plain loop's."""
    rows = corpus.train.rows.sample(settings.rows, random_state=0)
    sample = Split("cls_books/sample", "train", rows)
    encode = encoding_of(corpus, settings)
    naive = Batches(sample, encode, 10**9, batch_size=8, grouped=False)
    grouped = Batches(sample, encode, 10**9, batch_size=8)
    budget = Batches(sample, encode, settings.budget)
    print(f"{len(sample)} reviews, cut at {settings.max_len} tokens; share of padding: "
          f"batches of 8 {padding_share(naive):.0%}, grouped {padding_share(grouped):.0%}, "
          f"budget of {settings.budget} tokens {padding_share(budget):.0%}")  # fmt: skip
    tokens = sum(budget.sizes)

    def plain(make: Callable[[], nn.Module], batches: Batches, bf16: bool = False, **adam: Any):
        model = make().to(device)
        optimizer = torch.optim.Adam(model.parameters(), 5e-4, **adam)
        precision = (lambda: autocast(device)) if bf16 else nullcontext
        return lambda: plain_epoch(model, batches, optimizer, device, precision)

    def ours(batches: Batches, compiled: bool = False, bf16: bool = True) -> Callable[[], float]:
        model = our_classifier()

        def epoch() -> float:
            with nullcontext() if bf16 else patch("helpers.device.bf16_pays", lambda device: False):
                history = train(model, batches, "classifier", epochs=1, device=device, progress=False,
                                compiled=compiled)  # fmt: skip
            return float(history["seconds"].iloc[-1])

        return epoch

    loops = {
        "plain loop": plain(PlainClassifier, naive),
        "+ rows of about the same length together": plain(PlainClassifier, grouped),
        "+ fused causal attention without masks": plain(our_classifier, grouped),
        "+ token budget in place of 8 rows": plain(our_classifier, budget),
        "+ fused Adam": plain(our_classifier, budget, fused=device.type != "mps"),
    }
    pays = bf16_pays(device)
    if pays:
        loops["+ bfloat16"] = plain(our_classifier, budget, bf16=True, fused=True)
    loops["ours: + no waiting for numbers, pinned memory"] = ours(budget)
    if pays:
        loops["ours, float32"] = ours(budget, bf16=False)
    if device.type != "cpu":
        large = Batches(sample, encode, 4 * settings.budget)
        loops[f"ours, budget of {4 * settings.budget} tokens, float32"] = ours(large, bf16=False)
        if pays:
            loops[f"ours, budget of {4 * settings.budget} tokens, bfloat16"] = ours(large)
    if settings.compiled:
        loops["ours, compiled"] = ours(budget, compiled=True)
    times: dict[str, list[float]] = {name: [] for name in loops}
    for turn in range(settings.repeats + 1):  # the first turn warms up
        for name, epoch in loops.items():
            seconds = epoch()
            if turn:
                times[name].append(seconds)
    parameters = multiplied(our_classifier())
    print(f"{settings.repeats} rounds; {parameters:,} parameters take part in products.")
    return table(times, tokens, lambda speed: share_of(settings.peak, speed, parameters))


def memory(corpus: Corpus, device: torch.device, settings: argparse.Namespace) -> None:
    """Print the peak memory of one step of each loop on its largest batch (CUDA), or of all."""
    if device.type != "cuda":
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"\nPeak memory of this process, both loops: {peak:.1f} GiB")
        return
    encode = encoding_of(corpus, settings)
    for name, make, batches in (
        ("plain", PlainClassifier, Batches(corpus.train, encode, 10**9, 8, grouped=False)),
        ("ours", our_classifier, Batches(corpus.train, encode, settings.budget)),
    ):
        largest = max(batches, key=lambda batch: batch.tokens.numel())
        torch.cuda.reset_peak_memory_stats()
        model = make().to(device)
        optimizer = torch.optim.Adam(model.parameters(), 5e-4)
        precision = (lambda: autocast(device)) if name == "ours" else nullcontext
        plain_epoch(model, [largest], optimizer, device, precision)
        print(f"Peak memory, {name}: {torch.cuda.max_memory_allocated() / 2**30:.2f} GiB")


def accuracies(corpus: Corpus, device: torch.device, settings: argparse.Namespace) -> None:
    """Print test accuracy and training time after each epoch on all training rows."""
    encode = encoding_of(corpus, settings)
    test = Batches(corpus.test, encode, 8192)

    def score(model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
        return model(batch.tokens, batch.lengths), batch.target

    torch.manual_seed(0)
    model = PlainClassifier().to(device)
    optimizer = torch.optim.Adam(model.parameters(), settings.plain_rate)
    naive = Batches(corpus.train, encode, 10**9, batch_size=8, grouped=False)
    print("\n| loop | epoch | seconds of training | test accuracy |\n|---|---|---|---|")
    seconds = 0.0
    for epoch in range(settings.epochs):
        seconds += plain_epoch(model, naive, optimizer, device)
        right = evaluate(model, test, score)["accuracy"]
        print(f"| plain | {epoch + 1} | {seconds:.0f} | {right:.1%} |", flush=True)

    torch.manual_seed(0)
    ours = our_classifier()
    batches = Batches(corpus.train, encode, settings.budget)
    history = train(
        ours,
        batches,
        score_classifier,
        epochs=settings.epochs,
        learning_rate=settings.rate,
        device=device,
        progress=False,
        after_epoch=lambda: {"test": evaluate(model, test, "classifier")["accuracy"]},
    )
    for row in history.to_dict("records"):
        print(f"| ours | {row['epoch']:.0f} | {row['seconds']:.0f} | {row['test']:.1%} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", help="cpu, cuda, mps; chosen when not given")
    parser.add_argument("--threads", type=int, default=1, help="of the CPU (default 1)")
    parser.add_argument("--rows", type=int, help="reviews to time (default 320; on a GPU 1600)")
    parser.add_argument("--repeats", type=int, default=3, help="rounds (default 3)")
    parser.add_argument("--max-len", type=int, default=512, help="tokens per review (default 512)")
    parser.add_argument("--budget", type=int, help="tokens per batch (default 1024; on a GPU 4096)")
    parser.add_argument("--compiled", action="store_true", help="time torch.compile as well")
    parser.add_argument("--peak", type=float, help="of the device's dense products in bfloat16, in TFLOPS")
    parser.add_argument("--epochs", type=int, default=0, help="also train so long, with accuracy")
    parser.add_argument("--rate", type=float, default=2e-4, help="learning rate, ours")
    parser.add_argument("--plain-rate", type=float, default=2e-4, help="learning rate, plain loop")
    settings = parser.parse_args()
    torch.set_num_threads(settings.threads)
    warnings.filterwarnings("ignore", category=UserWarning)
    device = choose_device(settings.device)
    settings.budget = settings.budget or (1024 if device.type == "cpu" else 4096)
    settings.rows = settings.rows or (320 if device.type == "cpu" else 1600)
    print(explain_device(device))
    corpus = load("cls_books")
    speeds(corpus, device, settings)
    memory(corpus, device, settings)
    if settings.epochs:
        accuracies(corpus, device, settings)


if __name__ == "__main__":
    main()
