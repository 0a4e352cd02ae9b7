"""One training loop for every task, on CPU and GPU.

history = train(model, batches, "classifier", epochs=5, valid=valid_batches)
evaluate(model, test_batches, "classifier")["accuracy"]
"""

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, get_args

import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from tqdm import tqdm

from helpers.choices import pick, refuse_unknown
from helpers.data import Batch, Batches
from helpers.device import autocast, choose_device, random_state, set_random_state, set_seed

Scores = tuple[Tensor, Tensor]  # logits (k, C) and targets (k,) of the k places that are scored
Score = Callable[[Any, Batch], Scores]
Loss = Literal["language_model", "classifier", "translation"]
Schedule = Literal["constant", "linear", "cosine", "inverse_sqrt"]


def score_language_model(model: Any, batch: Batch) -> Scores:
    """Scores the next token, or the hidden one. The head, the widest part, skips the padding."""
    hidden = model.base(batch.tokens, batch.lengths).flatten(0, 1)  # (b * n, d)
    return model.head(hidden.index_select(0, batch.scored)), batch.target.flatten()[batch.scored]


def score_classifier(model: Any, batch: Batch) -> Scores:
    """Scores the class of each sequence."""
    return model(batch.tokens, batch.lengths), batch.target


def score_translation(model: Any, batch: Batch) -> Scores:
    """Scores the next token of the target, given the source and the target before it."""
    context = model.encode(batch.source, batch.source_lengths)
    hidden = model.decoder(batch.tokens, batch.lengths, context).flatten(0, 1)  # (b * n, d)
    return model.head(hidden.index_select(0, batch.scored)), batch.target.flatten()[batch.scored]


SCORES: dict[str, Score] = {
    "language_model": score_language_model,
    "classifier": score_classifier,
    "translation": score_translation,
}


def schedule(kind: Schedule, warmup: int, total: int = 0) -> Callable[[int], float]:
    """Returns the factor of the learning rate at each step (counted from 0).

    It rises to 1 in `warmup` steps and then stays, falls to 0 at step `total` (linear, cosine) or
    falls like 1/sqrt(step) (inverse_sqrt: the paper's 5.3).

    Raises:
        ValueError: there is no such kind.
    """
    refuse_unknown("schedule", kind, get_args(Schedule))

    def factor(step: int) -> float:
        if step < warmup:
            return (step + 1) / warmup
        left = max(0.0, (total - step) / max(1, total - warmup))
        after = {
            "constant": 1.0,
            "linear": left,
            "cosine": 0.5 - 0.5 * math.cos(math.pi * left),
            "inverse_sqrt": math.sqrt(max(1, warmup) / (step + 1)),
        }
        return after[kind]

    return factor


class Totals:
    """Sums of losses and right answers. They stay on the device: reading them makes it wait."""

    def __init__(self, device: torch.device) -> None:
        self.sums = torch.zeros(2, dtype=torch.float32 if device.type == "mps" else torch.float64)
        self.sums, self.count, self.tokens = self.sums.to(device), 0, 0

    def add(self, loss: Tensor, logits: Tensor, targets: Tensor, tokens: int) -> None:
        """Counts a batch with mean loss `loss`, logits `(k, C)` and targets `(k,)`."""
        best = logits.detach().max(dim=-1).indices  # as argmax, at half the time on a CPU
        right = (best == targets).sum()
        self.sums += torch.stack([loss.detach().float() * len(targets), right]).to(self.sums)
        self.count, self.tokens = self.count + len(targets), self.tokens + tokens

    def means(self) -> dict[str, float]:
        """Returns the mean loss in nats, its exponential and the share of right answers."""
        loss, accuracy = (self.sums / max(1, self.count)).tolist()
        perplexity = math.exp(loss) if loss < 700 else math.inf
        return {"loss": loss, "perplexity": perplexity, "accuracy": accuracy}


@torch.no_grad()
def evaluate(model: nn.Module, batches: Batches, loss: Loss | Score) -> dict[str, float]:
    """Returns loss, perplexity and accuracy over all scored places of `batches`, without dropout."""
    device = next(model.parameters()).device
    score, totals, was_training = _score(loss), Totals(device), model.training
    batches.epoch = 0  # where batches change at every pass, all evaluations see the same ones
    model.eval()
    for on_cpu in batches:
        batch = on_cpu.to(device)
        with autocast(device):
            logits, targets = score(model, batch)
            totals.add(_mean_loss(logits, targets), logits, targets, batch.n_tokens)
    model.train(was_training)
    return totals.means()


@torch.no_grad()
def predict(model: nn.Module, batches: Batches) -> Tensor:
    """Returns the logits of a classifier, `(rows, C)`, in the order of the split's rows."""
    device, was_training = next(model.parameters()).device, model.training
    model.eval()
    found = [(batch.rows, score_classifier(model, batch.to(device))[0].cpu()) for batch in batches]
    model.train(was_training)
    return torch.cat([logits for _, logits in found])[torch.cat([r for r, _ in found]).argsort()]


class Run:
    """All that a run needs to go on where it stopped, and its history."""

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer, name: str) -> None:
        self.model, self.optimizer, self.name = model, optimizer, name
        self.device = next(model.parameters()).device
        self.totals, self.clock = Totals(self.device), time.perf_counter()
        self.epoch = self.batch = self.step = self.waited = 0  # waited: epochs since the best one
        self.seconds, self.best, self.best_weights = 0.0, math.inf, dict[str, Tensor]()
        self.rows: list[dict[str, float]] = []

    def log(self, rate: float) -> str:
        """Adds a row for what was learned since the last one, and return it as a line."""
        means, now = self.totals.means(), time.perf_counter()  # waits for the device
        spent, self.clock, self.seconds = now - self.clock, now, self.seconds + now - self.clock
        row = {"step": self.step, "epoch": self.epoch + 1, **means, "learning_rate": rate}
        row |= {"tokens_per_second": self.totals.tokens / spent, "seconds": self.seconds}
        self.rows.append(row)
        self.totals = Totals(self.device)
        if not math.isfinite(means["loss"]):
            raise FloatingPointError(
                f"the loss is {means['loss']} after step {self.step}: lower learning_rate, or let "
                "it rise slowly with factor=schedule(...)"
            )
        return ", ".join(f"{name} {means[name]:.3f}" for name in means)

    def validated(self, means: dict[str, float], keep_best: bool) -> None:
        """Adds the validation to the last row, and keep the weights if they are the best so far."""
        self.rows[-1] |= {f"valid_{name}": value for name, value in means.items()}
        self.waited += 1
        if means["loss"] < self.best:
            self.best, self.waited = means["loss"], 0
            if keep_best:
                weights = self.model.state_dict()
                self.best_weights = {name: weight.clone() for name, weight in weights.items()}
        self.clock = time.perf_counter()

    def history(self) -> pd.DataFrame:
        """Returns the rows so far."""
        table: pd.DataFrame = pd.DataFrame(self.rows)
        return table

    def save(self, path: Path) -> None:
        """Writes the checkpoint: whole, or not at all."""
        state = {name: getattr(self, name) for name in KEPT}
        state |= {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        state |= {"random": torch.get_rng_state(), "totals": vars(self.totals)}
        if self.device.type != "cpu":
            state[f"random_{self.device.type}"] = random_state(self.device)
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_name(f"{path.name}.{os.getpid()}.half")
        try:
            with half.open("wb") as file:
                torch.save(state, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(half, path)
        finally:
            half.unlink(missing_ok=True)

    def load(self, path: Path) -> None:
        """Goes back to where `path` was written."""
        try:
            state = torch.load(path, map_location=self.device, weights_only=True)
            if state["name"] != self.name:
                raise ValueError(f"it belongs to {state['name']}, this is {self.name}")
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
        except Exception as error:
            raise ValueError(
                f"cannot go on from {path}: {str(error).splitlines()[0]}. Delete it to start anew"
            ) from error
        for name in KEPT:
            setattr(self, name, state[name])
        vars(self.totals).update(state["totals"])
        torch.set_rng_state(state["random"].cpu())
        if (name := f"random_{self.device.type}") in state:
            set_random_state(self.device, state[name])


KEPT = ("name", "epoch", "batch", "step", "waited", "seconds", "best", "best_weights", "rows")


@contextmanager
def finish_step_on_interrupt() -> Iterator[list[int]]:
    """Collects Ctrl-C in a list, so that the step that runs can end; a second one stops at once."""
    asked: list[int] = []

    def note(number: int, _: Any) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    if threading.current_thread() is not threading.main_thread():
        yield asked  # only the main thread receives signals
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


def _out_of_memory(error: RuntimeError, batch: Batch, device: torch.device) -> Exception:
    if not isinstance(error, torch.OutOfMemoryError) and "memory" not in str(error):
        return error
    return MemoryError(
        f"a batch of {' x '.join(map(str, batch.tokens.shape))} tokens does not fit into the "
        f"memory of {device}: lower token_budget or max_len, or take a smaller model"
    )


def train(  # noqa: C901 - one loop, which is read from top to bottom
    model: nn.Module,
    batches: Batches,
    loss: Loss | Score,
    *,
    epochs: int,
    learning_rate: float = 1e-3,
    valid: Batches | None = None,
    factor: Callable[[int], float] | None = None,
    weight_decay: float = 0.01,
    clip: float = 1.0,
    log_every: int | None = None,
    patience: int | None = None,
    after_epoch: Callable[[], dict[str, float]] | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    seed: int = 0,
    device: torch.device | None = None,
    compiled: bool = False,
    progress: bool = True,
) -> pd.DataFrame:
    """Trains `model` with AdamW and return its history.

    On a CPU the same arguments give the same numbers, also when the run stops and resumes. Ctrl-C
    ends the step that runs, writes the checkpoint and returns the history so far.

    Args:
        model: from `helpers.models`, or any with a `loss` that knows it. Frozen weights stay.
        batches: of a split with role "train".
        loss: a key of `SCORES`, or a function (model, batch) -> logits `(k, C)`, targets `(k,)`.
        epochs: passes over `batches`.
        learning_rate, weight_decay: of AdamW.
        valid: batches of a split with role "valid", evaluated after every epoch.
        factor: the learning rate's factor at each step, such as `schedule("linear", 100, 1000)`.
        clip: longest gradient; longer ones are scaled down to this norm.
        log_every: steps between two rows of the history; without it, one row per epoch.
        patience: stop after so many epochs without a lower loss on `valid`, and go back to the
            weights of the best one.
        after_epoch: called after every epoch; what it returns joins the last row of the history.
        checkpoint: file to write after every epoch; the old one stays until the new one is whole.
        resume: go on from `checkpoint` if it is there.
        seed: of dropout. The order of the batches has its own.
        device: where to train; without it, `choose_device()` decides.
        compiled: whether torch.compile makes the layers faster (first steps slower; GPU).
        progress: whether to show a progress bar.

    Returns:
        One row per log point: step, epoch, loss (mean per scored place since the last row, in
        nats), perplexity, accuracy, valid_loss, valid_perplexity, valid_accuracy, learning_rate,
        tokens_per_second (padding not counted), seconds (of training, without validation).

    Raises:
        ValueError: a split is not for this use, or the checkpoint belongs to another run.
        FloatingPointError: the loss is no longer a number.
        MemoryError: the batch does not fit; the message says what to lower.
    """
    for given, role in ((batches, "train"), (valid, "valid")):
        if given is not None and given.role != role:
            raise ValueError(f"{given.name} has the role {given.role!r}, but {role!r} is needed")
    if patience is not None and valid is None:
        raise ValueError("patience needs valid: without it nothing says when to stop")
    device = device or choose_device()
    model.to(device).train()
    if compiled:
        for part in (p for p in model.children() if hasattr(p, "layers")):
            part.compile(dynamic=True)
    set_seed(seed)
    score, weights = _score(loss), [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(weights, learning_rate, weight_decay=weight_decay, fused=device.type != "mps")
    run = Run(model, optimizer, f"{batches.name} with seeds {batches.seed} and {seed}")
    path = Path(checkpoint) if checkpoint else None
    if path and resume and path.is_file():
        run.load(path)
    rate = learning_rate
    steps = sum(len(batches.plan(epoch)) for epoch in range(epochs))
    bar = tqdm(total=steps, initial=run.step, disable=not progress, unit="step", file=sys.stdout)
    with bar, finish_step_on_interrupt() as interrupted:
        while run.epoch < epochs and not interrupted and run.waited < (patience or math.inf):
            batches.epoch, run.clock = run.epoch, time.perf_counter()
            for number, on_cpu in enumerate(batches):
                if interrupted:
                    break
                if number < run.batch:
                    continue  # learned from before the checkpoint
                rate = learning_rate * (factor(run.step) if factor else 1.0)
                for group in optimizer.param_groups:
                    group["lr"] = rate
                try:
                    batch = on_cpu.to(device)
                    with autocast(device):
                        logits, targets = score(model, batch)
                        mean_loss = _mean_loss(logits, targets)
                    optimizer.zero_grad(set_to_none=True)
                    mean_loss.backward()
                except RuntimeError as error:
                    raise _out_of_memory(error, on_cpu, device) from None
                nn.utils.clip_grad_norm_(weights, clip)
                optimizer.step()
                run.totals.add(mean_loss, logits, targets, batch.n_tokens)
                run.batch, run.step = number + 1, run.step + 1
                bar.update()
                if log_every and run.step % log_every == 0:
                    bar.set_postfix_str(run.log(rate))
            else:
                if run.totals.count:
                    bar.set_postfix_str(run.log(rate))
                if valid is not None:
                    run.validated(evaluate(model, valid, loss), patience is not None)
                if after_epoch is not None:
                    run.rows[-1] |= after_epoch()
                run.epoch, run.batch = run.epoch + 1, 0
            if path:
                run.save(path)
        if interrupted:
            if run.totals.count:
                run.log(rate)
            print(f"Stopped after step {run.step}" + (f"; resume=True goes on from {path}" * bool(path)))
    if run.best_weights and not interrupted:
        model.load_state_dict(run.best_weights)
    return run.history()


def _mean_loss(logits: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(logits, targets, reduction="sum") / max(1, len(targets))


def _score(loss: Loss | Score) -> Score:
    return loss if callable(loss) else pick("loss", loss, SCORES)
