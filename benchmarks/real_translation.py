"""Translation at full size, on real captions (multi30k, English to French: 29,000 pairs).

    python -m benchmarks.real_translation --out results         # a GPU: minutes; a CPU: hours
    python -m benchmarks.real_translation --out results --bf16 --epochs 12 --budget 4096 --dropout 0.2
                                                                # a CPU: 40 minutes on one core
    python -m benchmarks.real_translation --out results --quick # a CPU: does everything run?

A run that was stopped goes on after its last whole epoch when the same command is given again.

Trains an encoder-decoder, goes back to the epoch with the lowest validation loss, translates the
1,000 sentences of test_2016_flickr greedily, and prints their BLEU and the tokens per second, of
training and of writing. Into --out it writes `real_translation.csv` (a row for each epoch),
`real_translation.png` and `real_translation.txt` (the translations; first come sentences of which the
model finds the wanted translation probable).

BLEU is that of sacrebleu on lower-case words as the course cuts them (`helpers.vocabulary.WORD`), with
the real words as the reference: an <oov> that the model writes is wrong. Sentences whose English is
in the training part, too, do not count. Such a BLEU can be compared with other runs of this program,
not with figures from papers, which cut words differently.
"""

import argparse
import os
import time
from contextlib import nullcontext
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd
import sacrebleu  # of the test dependencies
import torch

from helpers.batches import Batches, for_translation
from helpers.corpora import CACHE, MIRROR, Split, load
from helpers.device import choose_device, explain_device
from helpers.models import EncoderDecoder
from helpers.training import evaluate, schedule, train
from helpers.vocabulary import EOS, SOS, Vocabulary

Translations = list[list[str]]


@torch.no_grad()
def translate(
    model: EncoderDecoder, batches: Batches, french: Vocabulary, max_len: int = 60
) -> tuple[Translations, float]:
    """Return the greedy translations in the order of the rows, and the words written per second."""
    device, was_training, words = next(model.parameters()).device, model.training, 0
    model.eval()
    found: dict[int, list[str]] = {}
    started = time.perf_counter()
    for on_cpu in batches:
        batch = on_cpu.to(device)
        assert batch.source is not None
        written = model.greedy(batch.source, batch.source_lengths, SOS, EOS, max_len).tolist()
        for row, numbers in zip(batch.rows.tolist(), written, strict=True):
            found[row] = [french.tokens[number] for number in numbers[: [*numbers, EOS].index(EOS)]]
            words += len(found[row]) + 1  # <eos> is written as well
    model.train(was_training)
    return [found[row] for row in range(len(found))], words / (time.perf_counter() - started)


def bleu(written: Translations, wanted: Translations) -> float:
    """Return BLEU on words that are already cut."""
    texts, references = ([" ".join(words) for words in sentences] for sentences in (written, wanted))
    return float(sacrebleu.corpus_bleu(texts, [references], tokenize="none", force=True).score)


def easiest_first(model: EncoderDecoder, batches: Batches, device: torch.device) -> list[int]:
    """Return the rows by the model's loss on the wanted translation, the lowest first."""
    losses: dict[int, float] = {}
    model.eval()
    with torch.no_grad():
        for on_cpu in batches:
            batch = on_cpu.to(device)
            logits = model(batch.source, batch.tokens, batch.source_lengths, batch.lengths)  # (b, n, V)
            each = torch.nn.functional.cross_entropy(logits.mT.float(), batch.target, reduction="none")  # (b, n)
            means = each.sum(dim=1) / batch.lengths
            losses |= dict(zip(batch.rows.tolist(), means.tolist(), strict=True))
    return sorted(losses, key=losses.__getitem__)


def draw(history: pd.DataFrame, path: Path) -> None:
    """Write the curves of loss and BLEU."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    left.plot(history["epoch"], history["loss"], color="#d55e00", marker="s", label="training")
    left.plot(history["epoch"], history["valid_loss"], color="#0072b2", marker="o", label="validation")
    left.set(title="loss", xlabel="epoch", ylabel="nats per word")
    left.legend()
    right.plot(history["epoch"], history["valid_bleu"], color="#0072b2", marker="o")
    right.set(title="validation BLEU (greedy)", xlabel="epoch", ylabel="BLEU", ylim=(0, None))
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    parser.add_argument("--corpus-folder", help=f"folder of copies, in place of {MIRROR}")
    parser.add_argument("--device", help="cpu, cuda, mps; chosen when not given")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--patience", type=int, default=5, help="epochs without a lower validation loss")
    parser.add_argument("--budget", type=int, default=8192, help="tokens per batch")
    parser.add_argument("--rate", type=float, default=1e-3, help="learning rate")
    parser.add_argument("--d-model", type=int, default=256)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--dropout", type=float, default=0.3)
    parser.add_argument("--min-count", type=int, default=2, help="rarer words become <oov>")
    parser.add_argument("--pairs", type=int, help="train on so many pairs only")
    parser.add_argument("--bf16", action="store_true", help="bfloat16 on a CPU too, where it has the instructions")
    parser.add_argument("--quick", action="store_true", help="little of everything: only a trial")
    settings = parser.parse_args()
    if settings.quick:
        settings.pairs, settings.epochs, settings.budget = 600, 2, 1024
        settings.d_model, settings.layers = 64, 1
    settings.out.mkdir(parents=True, exist_ok=True)
    if settings.corpus_folder:
        os.environ[MIRROR] = str(Path(settings.corpus_folder).resolve())
        os.environ.setdefault(CACHE, str(settings.out / "cache"))
    started = time.perf_counter()
    device = choose_device(settings.device)
    print(explain_device(device))

    corpus = load("multi30k_en_fr", drop_copies=True)
    learn, valid, test = corpus.train, corpus.valid, corpus.test
    if settings.pairs:
        learn = Split(learn.name, learn.role, learn.rows[: settings.pairs])
    if settings.quick:
        valid, test = (Split(part.name, part.role, part.rows[:60]) for part in (valid, test))
    english, french = (Vocabulary.learn(learn[language], min_count=settings.min_count) for language in ("en", "fr"))
    encode = for_translation(english, french)
    batches = Batches(learn, encode, settings.budget, seed=settings.seed)
    to_check, to_test = (Batches(part, encode, 2 * settings.budget) for part in (valid, test))
    wanted = {part.name: [french.split(text) for text in part["fr"]] for part in (valid, test)}

    torch.manual_seed(settings.seed)
    model = EncoderDecoder(
        len(english),
        len(french),
        settings.d_model,
        settings.layers,
        settings.heads,
        d_feedforward=4 * settings.d_model,
        dropout=settings.dropout,
        norm_first=True,
    )
    print(
        f"{len(learn):,} pairs, {sum(batches.sizes):,} tokens an epoch; {len(english):,} English and "
        f"{len(french):,} French words; {sum(weight.numel() for weight in model.parameters()):,} parameters",
        flush=True,
    )

    def look() -> dict[str, float]:
        return {"valid_bleu": bleu(translate(model, to_check, french)[0], wanted[valid.name])}

    steps = settings.epochs * len(batches)
    low = settings.bf16 and device.type == "cpu"
    # Without the cache: around a whole training it would keep the weights as they were at its start.
    precision = torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False) if low else nullcontext()
    with precision:
        history = train(
            model,
            batches,
            "translation",
            epochs=settings.epochs,
            learning_rate=settings.rate,
            factor=schedule("cosine", min(400, steps // 10), steps),
            valid=to_check,
            patience=settings.patience,
            after_epoch=look,
            seed=settings.seed,
            device=device,
            checkpoint=settings.out / "translation.pt",
            resume=True,
            progress=False,
        )
    for figures in history.to_dict("records"):
        print(
            "epoch {epoch:.0f}, step {step:.0f}, loss {loss:.3f}, valid loss {valid_loss:.3f}, "
            "valid BLEU {valid_bleu:.1f}, {tokens_per_second:,.0f} tokens/s, {seconds:.0f} s".format_map(figures)
        )
    history.to_csv(settings.out / "real_translation.csv", index=False)
    draw(history, settings.out / "real_translation.png")

    written, words_per_second = translate(model, to_test, french)
    lines = []
    for row in easiest_first(model, to_test, device):
        lines += [test["en"][row], f"  written: {' '.join(written[row])}"]
        lines += [f"  wanted:  {' '.join(wanted[test.name][row])}", ""]
    (settings.out / "real_translation.txt").write_text("\n".join(lines), "utf-8")
    loss = evaluate(model, to_test, "translation")["loss"]
    print(
        f"\ntest_2016_flickr, {len(test)} sentences, greedy: BLEU {bleu(written, wanted[test.name]):.1f}, "
        f"loss {loss:.3f} nats per word\n"
        f"training: {history['tokens_per_second'].median():,.0f} tokens per second (both languages, no padding)\n"
        f"writing: {words_per_second:,.0f} words per second\n"
        f"{time.perf_counter() - started:.0f} s in all"
    )


if __name__ == "__main__":
    main()
