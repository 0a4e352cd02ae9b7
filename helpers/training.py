"""One training loop for every task, on CPU and GPU.

history = train(model, batches, "classifier", epochs=5, valid=valid_batches)
evaluate(model, test_batches, "classifier")["accuracy"]
"""

import math
import sys
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_args

import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from tqdm import tqdm

from helpers.batches import Batch, Batches
from helpers.checkpoints import Run, Totals, finish_step_on_interrupt
from helpers.choices import pick, refuse_unknown
from helpers.device import autocast, choose_device, set_seed
from helpers.optimizers import leave_out_compiler

Scores = tuple[Tensor, Tensor]  # logits (k, C) and targets (k,) of the k positions that are scored
Score = Callable[[Any, Batch], Scores]
AfterEpoch = Callable[[], dict[str, float]]
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
        return {
            "constant": 1.0,
            "linear": left,
            "cosine": 0.5 - 0.5 * math.cos(math.pi * left),
            "inverse_sqrt": math.sqrt(max(1, warmup) / (step + 1)),
        }[kind]

    return factor


@torch.no_grad()
def evaluate(model: nn.Module, batches: Batches, loss: Loss | Score) -> dict[str, float]:
    """Returns loss, perplexity and accuracy over all scored positions of `batches`, without dropout."""
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


def take_step(run: Run, score: Score, on_cpu: Batch, rate: float, clip: float) -> None:
    """Moves the weights once, against the gradient of the mean loss of a batch, and counts the step.

    Args:
        score: gives logits and targets of the batch.
        rate: the learning rate of this step.
        clip: longest gradient; a longer one is scaled down to this norm.

    Raises:
        MemoryError: the batch does not fit; the message says what to lower.
    """
    try:
        batch = on_cpu.to(run.device)
        with autocast(run.device):
            logits, targets = score(run.model, batch)
            mean_loss = _mean_loss(logits, targets)
        run.optimizer.zero_grad(set_to_none=True)
        mean_loss.backward()
    except RuntimeError as error:
        if not isinstance(error, torch.OutOfMemoryError) and "memory" not in str(error):
            raise
        raise MemoryError(
            f"a batch of {' x '.join(map(str, on_cpu.tokens.shape))} tokens does not fit into the memory of "
            f"{run.device}: lower token_budget or max_len, or take a smaller model"
        ) from None
    nn.utils.clip_grad_norm_(run.weights, clip)
    for group in run.optimizer.param_groups:
        group["lr"] = rate
    run.optimizer.step()
    run.totals.add(mean_loss, logits, targets, batch.n_tokens)
    run.batch, run.step = run.batch + 1, run.step + 1


def train(
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
    after_epoch: AfterEpoch | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    seed: int = 0,
    device: torch.device | None = None,
    compiled: bool = False,
    progress: bool = True,
) -> pd.DataFrame:
    """Trains `model` with AdamW and returns its history.

    On a CPU the same arguments give the same numbers, also when the run stops and resumes. Ctrl-C
    ends the step that runs, writes the checkpoint and returns the history so far.

    Args:
        model: from `helpers.models`, or any with a `loss` that knows it. Frozen weights stay.
        batches: of a split with role "train".
        loss: a key of `SCORES`, or a function (model, batch) -> logits `(k, C)`, targets `(k,)`.
        epochs: passes over `batches`.
        learning_rate: of AdamW.
        weight_decay: of AdamW, for matrices; norms and biases do not decay.
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
        One row per log point: step, epoch, loss (mean per scored position since the last row, in
        nats), perplexity, accuracy, valid_loss, valid_perplexity, valid_accuracy, learning_rate,
        tokens_per_second (padding not counted), seconds (of training, without validation).

    Raises:
        ValueError: a split is not for this use, or the checkpoint belongs to another run.
        FloatingPointError: the loss is no longer a number.
        MemoryError: the batch does not fit; the message says what to lower.
    """
    _refuse_other_roles(batches, valid, patience)
    _prepare(model, device or choose_device(), compiled)
    set_seed(seed)
    optimizer = _adamw(model, learning_rate, weight_decay)
    run = Run(model, optimizer, f"{batches.name} with seeds {batches.seed} and {seed}")
    path = Path(checkpoint) if checkpoint else None
    if path and resume and path.is_file():
        run.load(path)
    score, factor = _score(loss), factor or schedule("constant", 0)
    steps = sum(map(len, map(batches.plan, range(epochs))))
    bar = tqdm(total=steps, initial=run.step, disable=not progress, unit="step", file=sys.stdout)
    with bar, finish_step_on_interrupt() as interrupted:
        while run.epoch < epochs and not interrupted and run.waited < (patience or math.inf):
            batches.epoch, run.clock = run.epoch, time.perf_counter()
            for batch in islice(batches, run.batch, None):  # without those from before the checkpoint
                if interrupted:
                    break
                take_step(run, score, batch, learning_rate * factor(run.step), clip)
                bar.update()
                if log_every and run.step % log_every == 0:
                    bar.set_postfix_str(run.log())
            else:
                if run.totals.count:
                    bar.set_postfix_str(run.log())
                _end_epoch(run, valid, loss, after_epoch, keep_best=patience is not None)
            if path:
                run.save(path)
    if interrupted:
        _stop(run, path)
    elif run.best_weights:
        model.load_state_dict(run.best_weights)
    return pd.DataFrame(run.rows)


def _refuse_other_roles(batches: Batches, valid: Batches | None, patience: int | None) -> None:
    for given, role in ((batches, "train"), (valid, "valid")):
        if given is not None and given.role != role:
            raise ValueError(f"{given.name} has the role {given.role!r}, but {role!r} is needed")
    if patience is not None and valid is None:
        raise ValueError("patience needs valid: without it nothing says when to stop")


def _adamw(model: nn.Module, rate: float, decay: float) -> torch.optim.Optimizer:
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    # Decay pulls weights towards 0, which limits what the matrices can learn by heart. Norms and biases are few, and
    # the factor of a norm belongs near 1: they are left out, as in nanoGPT and minGPT.
    matrices, vectors = [w for w in weights if w.dim() > 1], [w for w in weights if w.dim() < 2]
    groups = [{"params": matrices, "weight_decay": decay}, {"params": vectors, "weight_decay": 0.0}]
    leave_out_compiler()
    return torch.optim.AdamW(groups, rate, fused=next(model.parameters()).device.type != "mps")


def _prepare(model: nn.Module, device: torch.device, compiled: bool) -> None:
    model.to(device).train()
    for part in model.children():
        if compiled and hasattr(part, "layers"):
            part.compile(dynamic=True)


def _end_epoch(run: Run, valid: Batches | None, loss: Loss | Score, after: AfterEpoch | None, keep_best: bool) -> None:
    if valid is not None:
        run.validated(evaluate(run.model, valid, loss), keep_best)
    if after is not None:
        run.rows[-1] |= after()
    run.epoch, run.batch = run.epoch + 1, 0


def _stop(run: Run, path: Path | None) -> None:
    if run.totals.count:
        run.log()
    print(f"Stopped after step {run.step}" + (f"; resume=True goes on from {path}" if path else ""))


def _mean_loss(logits: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(logits, targets, reduction="sum") / max(1, len(targets))


def _score(loss: Loss | Score) -> Score:
    return loss if callable(loss) else pick("loss", loss, SCORES)
