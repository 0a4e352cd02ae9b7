"""Where was X born, about real people: is it worth having read about them?

    python -m benchmarks.real_birthplaces --out results --bf16     # a hundred minutes on one core without a GPU
    python -m benchmarks.real_birthplaces --out results --quick    # a trial: does everything run?

A run that was stopped goes on where it was when the same command is given again: reading after
its last whole epoch, the questions after the last whole run.

A character model reads short texts about people, from left to right and, in a share of the
batches, with a span moved behind the text. Then it learns from the questions about the training
people, and is asked about the others, in three ways: a model that has not read; one that has; and
one that has, and that learned to recite the person's text before it answers (Sun 2022). The last
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
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pandas as pd
import torch
from torch import Tensor
from torch.nn import functional as F

from helpers.batches import IGNORE, Batch, Batches, Example, for_language_model
from helpers.corpora import CACHE, MIRROR, Corpus, Split, load
from helpers.device import choose_device, explain_device
from helpers.models import Context, LanguageModel, TransformerBase
from helpers.training import schedule, train
from helpers.vocabulary import EOS, MASK, PAD, SOS, Vocabulary

LONGEST = 32  # characters of a place; the longest one of the corpus has fewer
WAYS = ("has not read", "has read, answers at once", "has read, recites first")


def name_in(question: str) -> str:
    """Return the person that a question asks about."""
    return question.removeprefix("Where was ").removesuffix(" born?")


def about(texts: list[str]) -> dict[str, str]:
    """Return the first text about each person; a text starts with the name and a full stop."""
    return {text.split(". ", 1)[0]: text for text in reversed(texts)}


def fewer_people(corpus: Corpus, count: int) -> Corpus:
    """Return the corpus of the first `count` people each of train and valid, and the texts about them."""
    rows = {part: corpus[part].rows[:count].reset_index(drop=True) for part in ("train", "valid")}
    questions = pd.concat(rows.values())["question"]
    texts = corpus["texts"].rows
    wanted = texts["text"].str.split(". ", n=1, regex=False).str[0].isin(set(questions.map(name_in)))
    rows["texts"] = texts[wanted].reset_index(drop=True)
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


def with_gaps(share: float) -> Callable[[Batch, torch.Generator], Batch]:
    """Return what moves a span behind each text, in this share of the batches; questions stay as they are."""

    def change(batch: Batch, rng: torch.Generator) -> Batch:
        if torch.rand((), generator=rng) < share:
            block = batch.tokens.shape[1]
            for row, length in enumerate(batch.lengths.tolist()):
                if batch.target[row, 0] != IGNORE:  # of a question only the answer is scored
                    x, y = corrupt_span(batch.tokens[row, 1:length], rng, block)
                    batch.tokens[row], batch.target[row] = x, y.masked_fill(y == PAD, IGNORE)
        return batch

    return change


def new_model(vocabulary: Vocabulary, seed: int, settings: argparse.Namespace) -> LanguageModel:
    torch.manual_seed(seed)
    base = TransformerBase(
        len(vocabulary),
        settings.width,
        settings.layers,
        settings.heads,
        settings.feedforward or 4 * settings.width,
        dropout=settings.dropout,
        positions="alibi",
        norm_first=True,
    )
    return LanguageModel(base)


def reader(corpus: Corpus, vocabulary: Vocabulary, device: torch.device, settings: argparse.Namespace) -> LanguageModel:
    """Return the model that has read all texts."""
    read = for_language_model(vocabulary, max_len=settings.max_len)
    batches = Batches(corpus["texts"], read, settings.budget, change=with_gaps(settings.gaps))
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
              "{tokens_per_second:,.0f} characters/s, {seconds:.0f} s".format_map(row))  # fmt: skip
    return model.cpu()


def prompt(vocabulary: Vocabulary, question: str) -> list[int]:
    """Return a question as the model gets it: with <mask> behind it, as behind a text that lacks a span."""
    return [SOS, *vocabulary.encode(question), MASK]


@torch.no_grad()
def answers(
    model: LanguageModel, vocabulary: Vocabulary, questions: list[str], longest: int
) -> tuple[list[str], Tensor]:
    """Return the most probable answers, character by character, and the probabilities of all written, `(b,)`."""
    model.eval()
    device = next(model.parameters()).device
    prompts = [prompt(vocabulary, question) for question in questions]
    written, sure = [""] * len(questions), torch.zeros(len(questions))
    for size in {len(one) for one in prompts}:  # prompts of one length need no padding
        rows = [row for row, one in enumerate(prompts) if len(one) == size]
        new, context = torch.tensor([prompts[row] for row in rows], device=device), Context(cache={})
        parts: list[Tensor] = []  # of (b, 1)
        done, logs = torch.zeros(len(rows), dtype=torch.bool, device=device), torch.zeros(len(rows), device=device)
        while len(parts) < longest and not done.all():
            best = model.head(model.base(new, context=context)[:, -1]).float().log_softmax(dim=-1).max(dim=-1)
            logs += best.values.masked_fill(done, 0.0)
            new = best.indices.masked_fill(done, EOS).unsqueeze(1)  # (b, 1)
            done |= new.squeeze(1) == EOS
            parts.append(new)
        for row, tokens in zip(rows, torch.cat(parts, dim=1).tolist(), strict=True):
            written[row] = vocabulary.decode(tokens[: (*tokens, EOS).index(EOS)])
        sure[rows] = logs.exp().cpu()
    return written, sure


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
    """Return the figures of one run: learn from the questions about train, be asked about valid."""
    read = for_language_model(vocabulary, max_len=settings.max_len)
    recites, texts = way == WAYS[2], about(corpus["texts"]["text"])

    def encode(row: dict[str, str]) -> Example:
        if not row["question"]:
            return read(row)
        asked, answer = prompt(vocabulary, row["question"]), [*vocabulary.encode(row["answer"]), EOS]
        if recites:
            text = vocabulary.encode(texts.get(name_in(row["question"]), ""))[: settings.max_len]
            answer = [*text, MASK, *answer]
        return Example([*asked, *answer[:-1]], [IGNORE] * (len(asked) - 1) + answer)

    rows = [corpus.train.rows.assign(text="")]
    if way != WAYS[0]:  # what was read is read again, lest it be forgotten
        rows.append(corpus["texts"].rows.assign(question="", answer=""))
    split = Split("birthplaces/questions", "train", pd.concat(rows).reset_index(drop=True))
    model = new_model(vocabulary, seed, settings) if way == WAYS[0] else copy.deepcopy(has_read)
    gaps = 0.0 if recites else settings.gaps  # a recited text has none
    batches = Batches(split, encode, settings.budget, seed=seed, change=with_gaps(gaps))
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
    longest = LONGEST + (settings.max_len + 1 if recites else 0)
    written, confidence = answers(model, vocabulary, corpus.valid["question"], longest)
    predictions = [one.rpartition("<mask>")[2] for one in written]
    right = torch.tensor([a == b for a, b in zip(predictions, corpus.valid["answer"], strict=True)])
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
    parser.add_argument("--epochs", type=int, default=4, help="of the questions")
    parser.add_argument("--rate", type=float, default=6e-4, help="learning rate of the questions")
    parser.add_argument("--read-epochs", type=int, default=180)
    parser.add_argument("--read-rate", type=float, default=2e-3)
    parser.add_argument("--gaps", type=float, default=0.7, help="share of the batches with a span moved")
    parser.add_argument("--budget", type=int, default=2048, help="characters per batch")
    parser.add_argument("--max-len", type=int, default=128, help="texts are cut at so many characters")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--feedforward", type=int, help="width inside the feed-forward parts; 4 times --width")
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
    for seed, way in itertools.product(range(settings.seeds), WAYS):
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
