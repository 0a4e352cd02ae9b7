"""The course on an accelerator: does it compute what the processor computes, how fast does it train and write?

    python -m benchmarks.gpu                           # everything, some minutes on a GPU
    python -m benchmarks.gpu --parts curves writing    # some of it
    python -m benchmarks.gpu --peak 989 "NVIDIA's data sheet of the H200 SXM, dense bfloat16"
    python -m benchmarks.gpu --quick                   # a trial with tiny models, on any device

Each part compares with something named, in the same run and on the same device:

curves      the same seeds on the accelerator and on the processor: losses of a small language model, in float32 and,
            where it pays, in bfloat16. Dropout is off, since each device draws its own numbers. The exit status is 1
            where float32 is not within the tolerance
loops       our training loop against the plain one of `benchmarks.training`, at the full size of notebook 06, in
            float32 and bfloat16 with the same batches; with --compiled also by torch.compile
accuracy    test accuracy after the same epochs with batches four times as large, three seeds each
encoder     fine-tuning of MiniLM: our model and loop against BERT of `transformers` in a plain loop, and the processor
writing     SmolLM2 writes: with a cache, without one, with a static cache (on CUDA as a graph), in float32 and
            bfloat16, against `generate` of `transformers`

Columns divide: a ratio is that of the two speeds beside it, each from a median time. The share of the peak counts the
operations of `benchmarks.training.share_of`; --peak says the TFLOPS of dense products in bfloat16, and their source.

The real models come by `python -m helpers.weights fetch NAME`, the reviews of `loops` are downloaded. Where a model or
`transformers` is missing, the part says so and measures the rest. Without an accelerator nothing is measured, unless
`--quick` asks for it: the run says what it would do.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from importlib.util import find_spec
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from benchmarks import training
from benchmarks._graphs import StaticWriter
from benchmarks.real_encoders import SentenceClassifier
from helpers.batches import Batches, Example, for_classifier, for_language_model
from helpers.corpora import Corpus, Split, load
from helpers.device import autocast, bf16_pays, choose_device, explain_device, set_seed
from helpers.llama import Llama
from helpers.models import LanguageModel, TransformerBase, as_mask
from helpers.training import evaluate, train
from helpers.vocabulary import Vocabulary
from helpers.weights import is_here
from helpers.weights import load as load_weights

TOLERANCE = 1e-3  # of a loss in float32: sums in another order, over some dozens of steps
GOAL = 8  # times the plain loop, on a GPU
PARTS = ("curves", "loops", "accuracy", "encoder", "writing")
WOULD = """There is no accelerator here, so nothing is measured. On one this would compare
- the losses of a small language model with those on the processor, seed by seed (tolerance {tolerance:g});
- our training loop with a plain one, V = 50,001, D = 200, M = 4, A = 2, 1,600 reviews (goal: {goal} times as fast);
- test accuracy after batches four times as large;
- fine-tuning of {encoder} with BERT of transformers in a plain loop: sentences a second, memory;
- {model} writing with a cache, without one, with a static one, in bfloat16, with generate of transformers:
  tokens a second, memory.
--quick does all of it with tiny models on this device."""


def synchronize(device: torch.device) -> None:
    """Waits until the device has finished its work; the CPU never lags behind."""
    if device.type != "cpu":
        getattr(torch.get_device_module(device), "synchronize", lambda: None)()


def measure(device: torch.device, work: Callable[[], object], repeats: int) -> tuple[float, str]:
    """Returns the median time of some work in seconds, after one time that warms up, and the most memory of tensors.

    Only CUDA reports how much memory was taken.
    """
    cuda = device.type == "cuda"
    times = []
    for _ in range(repeats + 1):
        synchronize(device)
        if cuda:
            torch.cuda.reset_peak_memory_stats(device)
        started = time.perf_counter()
        work()
        synchronize(device)
        times.append(time.perf_counter() - started)
    memory = f"{torch.cuda.max_memory_allocated(device) / 2**30:.2f} GiB" if cuda else "not told"
    return statistics.median(times[1:]), memory


# Curves


def losses(device: torch.device, quick: bool) -> Tensor:
    """Returns the losses `(rows of the history,)` of a small language model that reads book reviews."""
    texts = load("reviews_fr")["unlabelled"].rows.head(60 if quick else 600)
    split = Split("reviews_fr/few", "train", texts.reset_index(drop=True))
    vocabulary = Vocabulary.learn(split["text"])
    batches = Batches(split, for_language_model(vocabulary, max_len=64), 1024)
    set_seed(0)
    width = 16 if quick else 128
    model = LanguageModel(TransformerBase(len(vocabulary), width, 2, 2, dropout=0.0))
    history = train(
        model, batches, "language_model", epochs=1 if quick else 3, log_every=2, device=device, progress=False
    )
    return torch.tensor(history["loss"].to_numpy())


def curves(device: torch.device, quick: bool) -> bool:
    """Prints how far the losses are from those of the CPU, and returns whether float32 is within `TOLERANCE`."""
    wanted = losses(torch.device("cpu"), quick)
    with patch("helpers.device.bf16_pays", lambda device: False):
        found = losses(device, quick)
    apart = float(((found - wanted) / wanted).abs().max())
    print(f"\nLosses at {len(wanted)} points, from {wanted[0]:.3f} to {wanted[-1]:.3f} nats on the processor.")
    print(f"{device.type} in float32: at most {apart:.1e} of a loss away ({TOLERANCE:g} allowed).")
    if bf16_pays(device):
        low = float(((losses(device, quick) - wanted) / wanted).abs().max())
        print(f"{device.type} in bfloat16: at most {low:.1e} of a loss away.")
    return apart <= TOLERANCE


# Training loops


def loops(device: torch.device, quick: bool, peak: float | None = None, compiled: bool = False) -> None:
    """Prints the table of `benchmarks.training` and by how much our loop beats the plain one."""
    if quick:
        small = load("reviews_fr")
        corpus = Corpus(small.name, small.parts, Vocabulary.learn(small.train["text"]))
        settings = argparse.Namespace(rows=16, max_len=16, budget=128, repeats=1)
    else:
        corpus = load("cls_books")
        settings = argparse.Namespace(rows=1600, max_len=512, budget=4096, repeats=3)
    settings.compiled, settings.peak = compiled, peak
    print()
    ratios = training.speeds(corpus, device, settings)
    training.memory(corpus, device, settings)
    best = max((name for name in ratios if name.startswith("ours")), key=lambda name: ratios[name])
    print(f"{best}: {ratios[best]:.1f} times the plain loop (goal on a GPU: {GOAL}).")


# Accuracy


def accuracy(device: torch.device, quick: bool) -> None:
    """Prints test accuracies after the same epochs with large batches: the same rate, and twice it (root of 4)."""
    corpus, budget, epochs, seeds = (load("reviews_fr"), 512, 1, 1) if quick else (load("cls_books"), 4096, 12, 3)
    rows = corpus.train.rows.head(40) if quick else corpus.train.rows
    vocabulary = corpus.vocabulary or Vocabulary.learn(corpus.train["text"])
    encode = for_classifier(vocabulary, max_len=512)
    test = Batches(corpus.test, encode, 8192)
    print(f"\nTest accuracy after {epochs} epochs, {len(rows)} reviews, {seeds} seeds: the mean, least and greatest.")
    print("\n| tokens a batch | learning rate | steps | test accuracy | seconds |\n|---|---|---|---|---|")
    for factor, rate in ((1, 2e-4), (4, 2e-4), (4, 4e-4)):
        found, seconds, steps = [], [], 0
        for seed in range(seeds):
            set_seed(seed)
            model = training.our_classifier()
            batches = Batches(Split(corpus.name, "train", rows), encode, factor * budget, seed=seed)
            history = train(
                model,
                batches,
                "classifier",
                epochs=epochs,
                learning_rate=rate,
                seed=seed,
                device=device,
                progress=False,
            )
            found.append(evaluate(model, test, "classifier")["accuracy"])
            seconds.append(float(history["seconds"].iloc[-1]))
            steps = int(history["step"].iloc[-1])
        spread = f"{statistics.mean(found):.1%} ({min(found):.1%} to {max(found):.1%})"
        took = statistics.median(seconds)
        print(f"| {factor * budget:,} | {rate:g} | {steps} | {spread} | {took:.1f} |", flush=True)


# The encoder


def sentences(count: int, vocabulary_size: int) -> Split:
    """Returns token numbers and labels by chance, with 5 to 49 tokens as sentences of SST-2 have."""
    draw = np.random.default_rng(0)
    rows = [
        {
            "tokens": draw.integers(5, vocabulary_size, size=draw.integers(5, 50)).tolist(),
            "label": int(draw.integers(2)),
        }
        for _ in range(count)
    ]
    return Split("by chance", "train", pd.DataFrame(rows))


class Peer(nn.Module):
    """BERT of `transformers` with a head on the mean over the tokens, as SentenceClassifier has."""

    def __init__(self, base: TransformerBase) -> None:
        from transformers import BertConfig, BertModel

        super().__init__()
        hidden: Any = base.get_submodule("layers.0.feed_forward.hidden").weight
        config = BertConfig(
            vocab_size=base.embedding.num_embeddings,
            hidden_size=base.d_model,
            num_hidden_layers=len(base.layers),
            num_attention_heads=base.n_heads,
            intermediate_size=len(hidden),
        )
        self.base, self.head = BertModel(config, add_pooling_layer=False), nn.Linear(base.d_model, 2)

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Returns logits `(b, 2)` of `tokens` `(b, n)`."""
        real = ~as_mask(lengths, tokens.size(1))  # (b, n)
        hidden = self.base(tokens, attention_mask=real.long()).last_hidden_state
        logits: Tensor = self.head((hidden * real.unsqueeze(2)).sum(dim=1) / lengths.unsqueeze(1))
        return logits


def encoder(device: torch.device, quick: bool, name: str, peak: float | None = None) -> None:
    """Prints how many sentences a second are learned from, and the memory that takes."""
    if not is_here(name):
        print(f"\n{name} is not here: `python -m helpers.weights fetch {name}`")
        return
    count = 32 if quick else 2048
    base = load_base(name)
    split = sentences(count, base.embedding.num_embeddings)

    def encode(row: dict) -> Example:
        return Example(row["tokens"], row["label"])

    naive = Batches(split, encode, 10**9, batch_size=16, grouped=False)
    grouped = Batches(split, encode, 10**9, batch_size=16)
    budget = Batches(split, encode, 4096)

    cpu = torch.device("cpu")
    part = Batches(Split(split.name, "train", split.rows.head(max(16, count // 32))), encode, 10**9, batch_size=16)

    def new() -> SentenceClassifier:
        return SentenceClassifier(load_base(name), torch.zeros(2, base.d_model), torch.zeros(2))

    def plain(model: nn.Module, bf16: bool = False) -> Callable[[], object]:
        model.to(device)
        optimizer = torch.optim.AdamW(model.parameters(), 5e-5)
        precision = (lambda: autocast(device)) if bf16 else nullcontext
        return lambda: training.plain_epoch(model, naive, optimizer, device, precision)

    def ours(batches: Batches, where: torch.device) -> Callable[[], object]:
        model = new()
        return lambda: train(model, batches, "classifier", epochs=1, learning_rate=5e-5, device=where, progress=False)

    ways: dict[str, Callable[[], Callable[[], object]]] = {}  # each is built when its turn comes
    if find_spec("transformers"):
        ways["transformers, plain loop"] = lambda: plain(Peer(base))
        if bf16_pays(device):
            ways["transformers, plain loop, bfloat16"] = lambda: plain(Peer(base), bf16=True)
    else:
        print("\ntransformers is not installed: nothing to compare with")
    ways["our model, plain loop"] = lambda: plain(new())
    ways["ours, batches of 16"] = lambda: ours(grouped, device)
    ways["ours, 4,096 tokens a batch"] = lambda: ours(budget, device)
    ways["ours, batches of 16, on the processor"] = lambda: ours(part, cpu)
    print(f"\n| fine-tuning {name} | sentences/s | times the first row | share of the peak | memory |")
    print("|---|---|---|---|---|")
    length, parameters = sum(budget.sizes) / len(split), training.multiplied(base)
    first = None
    for way, make in ways.items():
        on_processor = way.endswith("processor")
        took, memory = measure(cpu if on_processor else device, make(), 1 if on_processor or quick else 3)
        speed = len(part.sizes if on_processor else split) / took
        first = first or speed
        share = "" if on_processor else training.share_of(peak, speed * length, parameters)
        print(f"| {way} | {speed:,.0f} | {speed / first:.2f} | {share} | {memory} |", flush=True)


def load_base(name: str) -> TransformerBase:
    """Returns the encoder of a published model, without its head."""
    whole = load_weights(name)
    base = whole if isinstance(whole, TransformerBase) else whole.base
    assert isinstance(base, TransformerBase)
    return base


# Writing


@torch.no_grad()
def without_cache(model: Llama, tokens: Tensor, count: int) -> Tensor:
    """Returns what `Llama.greedy` does, and reads everything again at each step."""
    start = tokens.size(1)
    for _ in range(count):
        last = model.hidden_states(tokens)[:, -1:]
        tokens = torch.cat([tokens, model.scores(last).argmax(dim=-1)], dim=1)
    return tokens[:, start:]


def peer_of(model: Llama, dtype: torch.dtype, device: torch.device) -> nn.Module:
    """Returns a Llama of `transformers` in the same shape, with random numbers: its speed does not depend on them."""
    from transformers import LlamaConfig, LlamaForCausalLM

    attention: Any = model.layers[0].attention
    config = LlamaConfig(
        vocab_size=model.embedding.num_embeddings,
        hidden_size=model.embedding.embedding_dim,
        intermediate_size=model.layers[0].feed_forward.gate.out_features,
        num_hidden_layers=len(model.layers),
        num_attention_heads=attention.query.out_features // model.d_head,
        num_key_value_heads=attention.key.out_features // model.d_head,
        head_dim=model.d_head,
        max_position_embeddings=model.max_len,
        tie_word_embeddings=model.tied,
        eos_token_id=None,
        pad_token_id=0,
    )
    peer: nn.Module = LlamaForCausalLM(config)
    return peer.to(device, dtype).eval()


def writer(way: str, model: Llama, tokens: Tensor, count: int, dtype: torch.dtype) -> Callable[[], object]:
    """Returns what writes `count` tokens behind `tokens` `(b, n)`."""
    if way == "without a cache":
        return lambda: without_cache(model, tokens, count)
    if way == "with a cache":
        return lambda: model.greedy(tokens, count)
    if way.startswith("static cache"):
        return StaticWriter(model, tokens, count)
    peer: Any = peer_of(model, dtype, tokens.device)
    seen = torch.ones_like(tokens)
    options = {"do_sample": False, "max_new_tokens": count, "min_new_tokens": count}
    return lambda: peer.generate(tokens, attention_mask=seen, **options)


def writing(device: torch.device, quick: bool, name: str, peak: float | None = None) -> None:
    """Prints how many tokens a second are written, and the memory that takes."""
    if not is_here(name):
        print(f"\n{name} is not here: `python -m helpers.weights fetch {name}`")
        return
    count, prompt = (4, 3) if quick else (64, 16)
    loaded = load_weights(name)
    assert isinstance(loaded, Llama)
    print(f"\n{count} tokens after {prompt}, the most probable one each time.")
    print(f"\n| {name} writes | texts at once | tokens/s | times without a cache | share of the peak | memory |")
    print("|---|---|---|---|---|---|")
    parameters = training.multiplied(loaded) + loaded.embedding.weight.numel() * loaded.tied  # its table is the head
    for dtype in (torch.float32, torch.bfloat16):
        model = loaded.to(device, dtype)
        for texts in (1, 32):
            tokens = torch.randint(5, 300, (texts, prompt), generator=torch.Generator().manual_seed(0)).to(device)
            first = None
            for way in (
                "without a cache",
                "with a cache",
                "static cache" + ", CUDA graph" * (device.type == "cuda"),
                *["transformers, generate"] * bool(find_spec("transformers")),
            ):
                model.to("cpu" if way.startswith("transformers") else device)
                work = writer(way, model, tokens, count, dtype)
                took, memory = measure(device, work, 1 if quick else 2)
                speed = texts * count / took
                first = first or speed
                kind = str(dtype).removeprefix("torch.")
                # What is computed again without a cache is no progress, and does not count as use of the device.
                share = training.share_of(peak, speed, parameters, operations=2)
                print(
                    f"| {way}, {kind} | {texts} | {speed:,.0f} | {speed / first:.2f} | {share} | {memory} |", flush=True
                )
                del work  # and its model
    if not find_spec("transformers"):
        print("transformers is not installed: nothing to compare with")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", help="cpu, cuda, mps; chosen when not given")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--quick", action="store_true", help="tiny models, few steps: only a trial, on any device")
    parser.add_argument("--encoder", help="a name or folder of helpers.weights (minilm; with --quick tiny_bert)")
    parser.add_argument("--model", help="likewise, for writing (smollm2; with --quick tiny_llama)")
    parser.add_argument("--compiled", action="store_true", help="in `loops`, time torch.compile as well")
    parser.add_argument("--peak", nargs=2, metavar=("TFLOPS", "SOURCE"), help="of dense bfloat16, and who says so")
    settings = parser.parse_args()
    try:
        peak = float(settings.peak[0]) if settings.peak else None
    except ValueError:
        parser.error(f"--peak takes TFLOPS and a source: {settings.peak[0]!r} is not a number")
    device = choose_device(settings.device)
    print(explain_device(device), f"PyTorch {torch.__version__}.")
    if peak:
        print(f"The peak is {peak:g} TFLOPS ({settings.peak[1]}).")
    print(f"Products in float32: precision {torch.get_float32_matmul_precision()!r} ('highest': no TF32).")
    encoder_name = settings.encoder or ("tiny_bert" if settings.quick else "minilm")
    model_name = settings.model or ("tiny_llama" if settings.quick else "smollm2")
    if device.type == "cpu" and not settings.quick:
        print(WOULD.format(tolerance=TOLERANCE, goal=GOAL, encoder=encoder_name, model=model_name))
        return
    same = True
    if "curves" in settings.parts:
        same = curves(device, settings.quick)
    if "loops" in settings.parts:
        loops(device, settings.quick, peak, settings.compiled)
    if "accuracy" in settings.parts:
        accuracy(device, settings.quick)
    if "encoder" in settings.parts:
        encoder(device, settings.quick, encoder_name, peak)
    if "writing" in settings.parts:
        writing(device, settings.quick, model_name, peak)
    if not same:
        sys.exit(f"The losses on {device} are further from the processor's than {TOLERANCE:g}.")


if __name__ == "__main__":
    main()
