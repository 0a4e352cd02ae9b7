"""What notebook 18 stores of a real encoder: learning rates by depth, and weights rounded to a few bits.

    python -m benchmarks.real_transfer --out results                  # a quarter of an hour of one core without a GPU
    python -m benchmarks.real_transfer --out results --draws 0        # the first draw of labels alone
    python -m benchmarks.real_transfer --keep results --out data/measured_here     # what folders hold, in one table

MiniLM learns 100 labelled film reviews of SST-2, drawn as in `benchmarks.real_encoders`.

rates     fine-tuned from the head of a frozen probe on, 5 passes (35 steps of 16 sentences), linear warm-up and decay,
          with the rates of the notebook's own `layerwise_rates`; `SETTINGS` were fixed before anything was measured
rounding  frozen, its matrices rounded in each of the ways of section 5 (`quantise` is the notebook's), with a probe on
          the vectors that come of it

Measured are the accuracy on the first 900 test reviews, the same for all, and the mean cosine of a text's vector with
that of the encoder as it was published, for 200 captions of `multi30k_en_fr`, which have nothing to do with the task.
The tables `real_rates.tsv` and `real_rounding.tsv` grow by a row at a time.
"""

import argparse
import copy
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks.real_encoders import BATCH, SentenceClassifier, Task, fit_head, mean_state, prepare, replace_role
from grading.authoring import source
from grading.folder.course import Course
from helpers.batches import Batches
from helpers.corpora import Split
from helpers.device import set_seed
from helpers.models import TransformerBase
from helpers.training import schedule

NOTEBOOK = "18_real_transfer"
LABELS, PASSES, TESTED, CAPTIONS = 100, 5, 900, 200
SETTINGS = ((5e-5, 1.0), (2e-4, 0.5), (5e-5, 0.5), (1e-5, 1.0))  # rate of the head, decay a step down
Row = dict[Any, Any]


def answers() -> dict[str, Callable[..., Any]]:
    """Returns the notebook's own `layerwise_rates` and `quantise`."""
    variables: dict[str, Any] = {"torch": torch, "Tensor": Tensor}
    for cell in source.read(Course().source(NOTEBOOK)):
        if (cell.kind, cell.name) in {("exercise", "layerwise_rates"), ("exercise", "quantise")}:
            exec(compile(cell.source, f"<{NOTEBOOK}:{cell.line}>", "exec"), variables)
    return variables


def in_steps(weight: Tensor, together: int, most: int) -> Tensor:
    """Returns a matrix rounded to codes from 0 to `most`, with a scale and a minimum for so many values."""
    parts = weight.reshape(-1, together)
    low = parts.amin(dim=1, keepdim=True)
    scale = (parts.amax(dim=1, keepdim=True) - low).clamp_min(1e-12) / most
    return (((parts - low) / scale).round() * scale + low).reshape(weight.shape)


def ways_of_rounding(quantise: Callable[..., tuple[Tensor, Tensor]]) -> dict[str, Callable[[Tensor], Tensor]]:
    """Returns what each way makes of a matrix."""

    def by_rows(weight: Tensor) -> Tensor:
        codes, scales = quantise(weight)
        return codes * scales[:, None]

    return {
        "float32": lambda weight: weight,
        "int8, a scale a row": by_rows,
        "4 bits, a block of 32": lambda weight: in_steps(weight, 32, 15),
        "4 bits, a scale a row": lambda weight: in_steps(weight, weight.shape[1], 15),
        "4 bits, a scale a matrix": lambda weight: in_steps(weight, weight.numel(), 15),
    }


def vectors_of(task: Task, base: TransformerBase, split: Split) -> Tensor:
    """Returns the sentence vectors `(rows, d)` of a split, in its own order."""
    found = torch.zeros(len(split), base.d_model)
    with torch.no_grad():
        for batch in Batches(replace_role(split), task.encode_pieces, task.at_once):
            found[batch.rows] = mean_state(base, batch.tokens, batch.lengths)
    return found


def fine_tuned(task: Task, few: Split, rates: dict[str, float], model: SentenceClassifier, seed: int) -> None:
    """Trains an encoder and its head, each tensor at its own rate."""
    groups = [
        {"params": [weight], "lr": rates[name], "weight_decay": 0.01 if weight.dim() > 1 else 0.0}
        for name, weight in model.named_parameters()
    ]
    optimizer = torch.optim.AdamW(groups, fused=True)
    batches = Batches(few, task.encode_pieces, 10**9, BATCH, seed=seed)
    steps = PASSES * len(batches)
    falling = torch.optim.lr_scheduler.LambdaLR(optimizer, schedule("linear", max(1, steps // 10), steps))
    set_seed(seed)
    model.train()
    for batches.epoch in range(PASSES):
        for batch in batches:
            loss = F.cross_entropy(model(batch.tokens, batch.lengths), batch.target)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            falling.step()
    model.eval()


class Measure:
    """A test part and captions, and what an encoder makes of them."""

    def __init__(self, out: Path) -> None:
        wanted = {"max_len": 512, "quick": False, "encoder": None, "out": out, "texts": None, "reading": 0}
        self.task = prepare("sst2", argparse.Namespace(**wanted), torch.device("cpu"))
        self.test = Split("sst2/test", "test", self.task.corpus.test.rows.iloc[:TESTED].reset_index(drop=True))
        self.captions = Split("captions", "other", pd.DataFrame({"text": self.task.captions[:CAPTIONS], "label": 0}))
        self.before = vectors_of(self.task, self.task.encoder, self.captions)
        self.answers = answers()

    def few(self, seed: int) -> Split:
        """Returns a draw of labelled reviews."""
        rows = self.task.corpus.train.rows.iloc[self.task.draw(LABELS, seed)].reset_index(drop=True)
        return Split("sst2/few", "train", rows)

    def accuracy(self, logits: Tensor) -> float:
        return (logits.argmax(dim=1) == torch.tensor(self.test["label"])).float().mean().item()

    def cosine(self, base: TransformerBase) -> float:
        return F.cosine_similarity(self.before, vectors_of(self.task, base, self.captions), dim=1).mean().item()

    def rates(self, seed: int, rate: float, decay: float) -> Row:
        """Returns what fine-tuning makes of one draw."""
        few = self.few(seed)
        head = fit_head(vectors_of(self.task, self.task.encoder, few), torch.tensor(few["label"]))
        model = SentenceClassifier(copy.deepcopy(self.task.encoder), *head)
        names = [name for name, _ in model.named_parameters()]
        fine_tuned(self.task, few, self.answers["layerwise_rates"](names, rate, decay), model, seed)
        logits = model.head(vectors_of(self.task, model.base, self.test)).detach()
        found = {"accuracy": self.accuracy(logits), "cosine": self.cosine(model.base)}
        return {"rate": rate, "decay": decay, "seed": seed, **found}

    def rounding(self, way: str, seeds: Sequence[int]) -> list[Row]:
        """Returns what a probe makes of the rounded encoder's vectors, a row for each draw."""
        base, change = copy.deepcopy(self.task.encoder), ways_of_rounding(self.answers["quantise"])[way]
        for weight in base.parameters():
            if weight.dim() == 2:
                weight.data = change(weight.data)
        test, cosine, rows = vectors_of(self.task, base, self.test), self.cosine(base), []
        for seed in seeds:
            few = self.few(seed)
            logits = F.linear(test, *fit_head(vectors_of(self.task, base, few), torch.tensor(few["label"])))
            rows.append({"way": way, "seed": seed, "accuracy": self.accuracy(logits), "cosine": cosine})
        return rows


def keep(rows: Sequence[Row], path: Path) -> None:
    """Adds rows to a table."""
    old = pd.read_csv(path, sep="\t").to_dict("records") if path.exists() else []
    pd.DataFrame([*old, *rows]).to_csv(path, sep="\t", index=False, float_format="%.4g", lineterminator="\n")


def main() -> None:
    """Measures, a row at a time, or puts the tables of several folders together."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="the folder of the tables")
    parser.add_argument("--keep", type=Path, nargs="+", metavar="FOLDER", help="only gather what these folders hold")
    parser.add_argument("--only", nargs="+", choices=["rates", "rounding"], default=["rates", "rounding"])
    parser.add_argument("--draws", type=int, nargs="+", default=[0, 1, 2], help="seeds of the labels")
    settings = parser.parse_args()
    settings.out.mkdir(parents=True, exist_ok=True)
    if settings.keep:
        for name in ("real_rates", "real_rounding"):
            paths = [folder / f"{name}.tsv" for folder in settings.keep if (folder / f"{name}.tsv").exists()]
            table = pd.concat([pd.read_csv(path, sep="\t") for path in paths])
            table = table.sort_values("seed", kind="stable").drop_duplicates([*table.columns[:2], "seed"])
            table.to_csv(settings.out / f"{name}.tsv", sep="\t", index=False, lineterminator="\n")
        return
    torch.set_num_threads(1)
    measure, started = Measure(settings.out), time.process_time()

    def done(name: str, rows: list[Row]) -> None:
        keep(rows, settings.out / f"{name}.tsv")
        print(*rows, f"{time.process_time() - started:.0f} CPU s until now", sep="\n", flush=True)

    for way in ways_of_rounding(measure.answers["quantise"]) if "rounding" in settings.only else ():
        done("real_rounding", measure.rounding(way, settings.draws))
    for seed in settings.draws if "rates" in settings.only else ():
        for rate, decay in SETTINGS:
            done("real_rates", [measure.rates(seed, rate, decay)])


if __name__ == "__main__":
    main()
