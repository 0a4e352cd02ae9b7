"""Where was X born, about real people: is it worth having read about them?

    python benchmarks/real_birthplaces.py --out results                # a GPU
    python benchmarks/real_birthplaces.py --out results --width 192 --layers 3 --heads 6 --gaps 0.7 \\
        --max-len 128 --budget 2048 --read-epochs 80 --epochs 10 --repeat 1 --rate 1e-3 --seeds 1 --bf16
                                                                       # half an hour on one core: see docs/results.md
    python benchmarks/real_birthplaces.py --out results --quick        # a trial: does everything run?

A run that was stopped goes on where it was when the same command is given again: reading after
its last whole epoch, the questions after the last whole run.

A character model reads short texts about people, from left to right and, in a share of the
batches, with a span moved behind the text. Then it learns from the questions about the training
people, and is asked about the others. A second model learns from the questions only. The third
line of the table is one place for everybody, the most frequent one in training. Published values
for this corpus: constant 5.0 %, without reading 1.4 %, with reading 10 to 20 %.

"Answered" and "wrong of these" belong to the model that may keep silent: its threshold is chosen
on one half of the people asked about, so that at most --max-risk of its answers there are wrong,
and the figures are those of the other half.
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

import pandas as pd
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from helpers.data import (
    CACHE,
    EOS,
    IGNORE,
    MASK,
    MIRROR,
    PAD,
    SOS,
    Batch,
    Batches,
    Corpus,
    Example,
    Split,
    Vocabulary,
    for_answers,
    for_language_model,
    load,
)
from helpers.device import choose_device, explain_device
from helpers.models import LanguageModel, TransformerBase
from helpers.training import schedule, train

LONGEST = 32  # characters of an answer; the longest place of the corpus has fewer


def fewer_people(corpus: Corpus, count: int) -> Corpus:
    """Return the corpus of the first `count` people each of train and valid, and the texts about them."""
    rows = {part: corpus[part].rows[:count].reset_index(drop=True) for part in ("train", "valid")}
    questions = pd.concat(rows.values())["question"]
    names = set(questions.str.removeprefix("Where was ").str.removesuffix(" born?"))
    texts = corpus["texts"].rows
    about = texts["text"].str.split(". ", n=1, regex=False).str[0].isin(names)
    rows["texts"] = texts[about].reset_index(drop=True)
    parts = {name: Split(corpus[name].name, corpus[name].role, part) for name, part in rows.items()}
    return Corpus(corpus.name, parts)


def corrupt_span(text: Tensor, rng: torch.Generator, block: int) -> tuple[Tensor, Tensor]:
    """Return x and y, `(block,)`: prefix, mask, suffix, mask, content of `text` `(n,)`, y one ahead."""

    def draw(low: int, high: int) -> int:
        return int(torch.randint(low, high + 1, (), generator=rng))

    longest = min(len(text), block - 1)
    kept = text[: draw(min(4, longest), longest)]
    length = draw(1, max(1, len(kept) // 2 - 1))
    start = draw(0, len(kept) - length)
    mask, end = torch.tensor([MASK]), start + length
    moved = torch.cat([kept[:start], mask, kept[end:], mask, kept[start:end]])
    whole = F.pad(moved, (0, block + 1 - len(moved)), value=PAD)
    return whole[:-1], whole[1:]


def new_model(vocabulary: Vocabulary, seed: int, settings: argparse.Namespace) -> LanguageModel:
    torch.manual_seed(seed)
    base = TransformerBase(
        len(vocabulary),
        settings.width,
        settings.layers,
        settings.heads,
        dropout=settings.dropout,
        positions="alibi",
        norm_first=True,
    )
    return LanguageModel(base)


def reader(corpus: Corpus, vocabulary: Vocabulary, device: torch.device, settings: argparse.Namespace) -> LanguageModel:
    """Return the model that has read all texts."""

    def change(batch: Batch, rng: torch.Generator) -> Batch:
        if torch.rand((), generator=rng) < settings.gaps:
            block = batch.tokens.shape[1]
            texts = [row[1:length] for row, length in zip(batch.tokens, batch.lengths, strict=True)]
            x, y = zip(*(corrupt_span(text, rng, block) for text in texts), strict=True)
            batch.tokens = torch.stack(x)
            batch.target = torch.stack(y).masked_fill(torch.stack(y) == PAD, IGNORE)
        return batch

    read = for_language_model(vocabulary, max_len=settings.max_len)
    batches = Batches(corpus["texts"], read, settings.budget, change=change)
    model = new_model(vocabulary, 0, settings)
    size = sum(weight.numel() for weight in model.parameters())
    print(f"\nReading {len(corpus['texts']):,} texts, {sum(batches.sizes):,} characters, {settings.read_epochs} times; "
          f"{size:,} parameters", flush=True)  # fmt: skip
    steps = settings.read_epochs * len(batches)
    history = train(
        model,
        batches,
        "language_model",
        epochs=settings.read_epochs,
        learning_rate=settings.read_rate,
        factor=schedule("cosine", min(200, steps // 10), steps),
        device=device,
        checkpoint=settings.out / "reading.pt",
        resume=True,
        progress=False,
    )
    every = max(1, len(history) // 20)
    for row in history.iloc[every - 1 :: every].to_dict("records"):
        print("epoch {epoch:.0f}, step {step:.0f}, loss {loss:.3f}, perplexity {perplexity:.2f}, "
              "{tokens_per_second:,.0f} characters/s, {seconds:.0f} s".format(**row))  # fmt: skip
    return model.cpu()


@torch.no_grad()
def answers(model: LanguageModel, vocabulary: Vocabulary, questions: list[str]) -> tuple[list[str], Tensor]:
    """Return the most probable answers, character by character, and their probabilities, `(b,)`."""
    model.eval()
    device = next(model.parameters()).device
    written: list[str] = []
    sure: list[Tensor] = []
    for first in range(0, len(questions), 100):
        prompts = [torch.tensor([SOS, *vocabulary.encode(q)]) for q in questions[first : first + 100]]
        ends = torch.tensor([len(prompt) for prompt in prompts], device=device)  # (b,)
        tokens = F.pad(pad_sequence(prompts, True, PAD), (0, LONGEST), value=PAD).to(device)
        rows, longest = torch.arange(len(prompts), device=device), int(ends.max())
        done, logs = torch.zeros_like(ends, dtype=torch.bool), torch.zeros(len(prompts), device=device)
        for step in range(LONGEST):
            hidden = model.base(tokens[:, : longest + step])[rows, ends + step - 1]  # (b, d)
            best = model.head(hidden).log_softmax(dim=-1).max(dim=-1)
            logs += best.values.masked_fill(done, 0.0)
            tokens[rows, ends + step] = best.indices.masked_fill(done, EOS)
            done |= best.indices == EOS
        pairs = zip(tokens.tolist(), ends.tolist(), strict=True)
        written += [vocabulary.decode(row[end : end + LONGEST]) for row, end in pairs]
        sure.append(logs.exp().cpu())
    return written, torch.cat(sure)


def measure(confidence: Tensor, right: Tensor, threshold: float) -> tuple[float, float]:
    """Return coverage, and the share of wrong answers among those given."""
    given = right[confidence >= threshold]
    return len(given) / len(right), float((~given).sum()) / max(1, len(given))


def ask_about(
    corpus: Corpus,
    vocabulary: Vocabulary,
    way: str,
    has_read: LanguageModel,
    seed: int,
    device: torch.device,
    settings: argparse.Namespace,
) -> dict[str, float | str]:
    """Return the figures of one run: fine-tune on the questions about train, ask about valid."""
    read, ask = for_language_model(vocabulary, max_len=settings.max_len), for_answers(vocabulary)
    rows = [corpus.train.rows.assign(text="")] * settings.repeat
    if way == "has read":
        rows.append(corpus["texts"].rows.assign(question="", answer=""))
    split = Split("birthplaces/questions", "train", pd.concat(rows).reset_index(drop=True))

    def encode(row: dict[str, str]) -> Example:
        return ask(row) if row["question"] else read(row)

    model = copy.deepcopy(has_read) if way == "has read" else new_model(vocabulary, seed, settings)
    batches = Batches(split, encode, settings.budget, seed=seed)
    steps = settings.epochs * len(batches)
    history = train(
        model,
        batches,
        "language_model",
        epochs=settings.epochs,
        learning_rate=settings.rate,
        factor=schedule("linear", steps // 20, steps),
        seed=seed,
        device=device,
        progress=False,
    )
    said, confidence = answers(model, vocabulary, corpus.valid["question"])
    right = torch.tensor([a == b for a, b in zip(said, corpus.valid["answer"], strict=True)])
    order = torch.randperm(len(right), generator=torch.Generator().manual_seed(seed))
    dev, others = order.chunk(2)
    thresholds = confidence[dev].unique().tolist()
    allowed = [t for t in thresholds if measure(confidence[dev], right[dev], t)[1] <= settings.max_risk]
    coverage, risk = measure(confidence[others], right[others], min(allowed, default=math.inf))
    return {
        "way": way,
        "seed": seed,
        "right": right.float().mean().item(),
        "answered": coverage,
        "wrong of these": risk if coverage else math.nan,
        "seconds": history["seconds"].iloc[-1],
    }


def table(runs: pd.DataFrame, constant: tuple[str, float]) -> str:
    """Return the table of `docs/results.md`."""
    lines = [
        "| | right | lowest and highest seed | answered | wrong of these | s per run |",
        "|---|---|---|---|---|---|",
    ]
    for way, rows in runs.groupby("way", sort=False):
        means = [f"{100 * rows[column].mean():.1f} %" for column in ("right", "answered", "wrong of these")]
        span = f"{100 * rows['right'].min():.1f} to {100 * rows['right'].max():.1f} %"
        cells = [means[0], span, means[1], means[2].replace("nan %", ""), f"{rows['seconds'].mean():.0f}"]
        lines.append(f"| {way} | {' | '.join(cells)} |")
    lines.append(f"| {constant[0]} for everybody | {100 * constant[1]:.1f} % | | | | |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the CSV and the checkpoint")
    parser.add_argument("--corpus-folder", help=f"folder of copies, in place of {MIRROR}")
    parser.add_argument("--device", help="cpu, cuda, mps; chosen when not given")
    parser.add_argument("--people", type=int, help="of train and of valid each; all when not given")
    parser.add_argument("--seeds", type=int, default=3, help="of the questions; reading is done once")
    parser.add_argument("--epochs", type=int, default=8, help="of the questions")
    parser.add_argument("--repeat", type=int, default=2, help="how often each question comes in an epoch")
    parser.add_argument("--rate", type=float, default=5e-4, help="learning rate of the questions")
    parser.add_argument("--read-epochs", type=int, default=150)
    parser.add_argument("--read-rate", type=float, default=2e-3)
    parser.add_argument("--gaps", type=float, default=0.25, help="share of the batches with a span moved")
    parser.add_argument("--budget", type=int, default=4096, help="characters per batch")
    parser.add_argument("--max-len", type=int, default=256, help="texts are cut at so many characters")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--max-risk", type=float, default=0.5, help="allowed share of wrong answers")
    parser.add_argument("--bf16", action="store_true", help="bfloat16 on a CPU too, where it has the instructions")
    parser.add_argument("--quick", action="store_true", help="little of everything: only a trial")
    settings = parser.parse_args()
    if settings.quick:
        settings.people, settings.seeds, settings.epochs, settings.read_epochs = 20, 2, 1, 2
        settings.width, settings.layers, settings.heads, settings.budget = 32, 1, 2, 1024
    if settings.people is not None and settings.people < 2:
        parser.error(f"--people is {settings.people}, expected at least 2: one half chooses, the other is measured")
    settings.out.mkdir(parents=True, exist_ok=True)
    if settings.corpus_folder:
        os.environ[MIRROR] = str(Path(settings.corpus_folder).resolve())
        os.environ.setdefault(CACHE, str(settings.out / "cache"))
    started = time.perf_counter()
    device = choose_device(settings.device)
    print(explain_device(device))
    corpus = load("birthplaces")
    if settings.people:
        corpus = fewer_people(corpus, settings.people)
    written = [*corpus["texts"]["text"], *corpus.train["question"], *corpus.train["answer"]]
    vocabulary = Vocabulary.learn(written, "character", mask=True)
    place = Counter(corpus.train["answer"]).most_common(1)[0][0]
    constant = place, corpus.valid["answer"].count(place) / len(corpus.valid)

    low = settings.bf16 and device.type == "cpu"
    # Without the cache: around a whole training it would keep the weights as they were at its start.
    precision = torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False) if low else nullcontext()
    with precision:
        model = reader(corpus, vocabulary, device, settings)
    print()
    done = settings.out / "real_birthplaces.csv"
    runs = pd.read_csv(done) if done.exists() else pd.DataFrame(columns=["way", "seed"])
    for seed, way in itertools.product(range(settings.seeds), ("has not read", "has read")):
        if not ((runs["way"] == way) & (runs["seed"] == seed)).any():
            with precision:
                run = pd.DataFrame([ask_about(corpus, vocabulary, way, model, seed, device, settings)])
            runs = pd.concat([runs, run]) if len(runs) else run
            runs.to_csv(done, index=False)
        last = runs[(runs["way"] == way) & (runs["seed"] == seed)].iloc[0]
        print(f"{way}, seed {seed}: {last['right']:.1%} right", flush=True)
    print(f"\n{table(runs, constant)}")
    print(f"\n{len(corpus.train)} people in training, {len(corpus.valid)} asked about; mean of {settings.seeds} seeds. "
          f"{time.perf_counter() - started:.0f} s in all.")  # fmt: skip


if __name__ == "__main__":
    main()
