"""A training run that can stop and go on where it stopped, bit for bit: its state, its history, its file."""

import math
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from helpers.device import random_state, set_random_state

KEPT = ("name", "epoch", "batch", "step", "waited", "seconds", "best", "best_weights", "rows")


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
        return {"loss": loss, "perplexity": math.exp(loss) if loss < 700 else math.inf, "accuracy": accuracy}


class Run:
    """All that a run needs to go on where it stopped, and its history."""

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer, name: str) -> None:
        self.model, self.optimizer, self.name = model, optimizer, name
        self.weights = [weight for weight in model.parameters() if weight.requires_grad]
        self.device = next(model.parameters()).device
        self.totals, self.clock = Totals(self.device), time.perf_counter()
        self.epoch = self.batch = self.step = self.waited = 0  # waited: epochs since the best one
        self.seconds, self.best, self.best_weights = 0.0, math.inf, dict[str, Tensor]()
        self.rows: list[dict[str, float]] = []

    def log(self) -> str:
        """Adds a row for what was learned since the last one, and returns it as a line.

        Raises:
            FloatingPointError: the loss is no longer a number.
        """
        means, now = self.totals.means(), time.perf_counter()  # waits for the device
        spent, self.clock, self.seconds = now - self.clock, now, self.seconds + now - self.clock
        rates = {"learning_rate": self.optimizer.param_groups[0]["lr"], "tokens_per_second": self.totals.tokens / spent}
        self.rows.append({"step": self.step, "epoch": self.epoch + 1, **means, **rates, "seconds": self.seconds})
        self.totals = Totals(self.device)
        if not math.isfinite(means["loss"]):
            advice = "lower learning_rate, or let it rise slowly with factor=schedule(...)"
            raise FloatingPointError(f"the loss is {means['loss']} after step {self.step}: {advice}")
        return ", ".join(f"{name} {means[name]:.3f}" for name in means)

    def validated(self, means: dict[str, float], keep_best: bool) -> None:
        """Adds the validation to the last row, and keeps the weights if they are the best so far."""
        self.rows[-1] |= {f"valid_{name}": value for name, value in means.items()}
        self.waited += 1
        if means["loss"] < self.best:
            self.best, self.waited = means["loss"], 0
            if keep_best:
                self.best_weights = {name: weight.clone() for name, weight in self.model.state_dict().items()}
        self.clock = time.perf_counter()

    def save(self, path: Path) -> None:
        """Writes the checkpoint: whole, or not at all."""
        state = {name: getattr(self, name) for name in KEPT} | {"totals": vars(self.totals)}
        state |= {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        state["random"] = torch.get_rng_state()
        if self.device.type != "cpu":
            state[f"random_{self.device.type}"] = random_state(self.device)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f"{path.name}.{os.getpid()}.half")
        try:
            with temporary.open("wb") as file:
                torch.save(state, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)

    def load(self, path: Path) -> None:
        """Goes back to where `path` was written.

        Raises:
            ValueError: it is no checkpoint, or that of another run.
        """
        try:
            state = torch.load(path, map_location=self.device, weights_only=True)
            if state["name"] != self.name:
                raise ValueError(f"it belongs to {state['name']}, this is {self.name}")
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
        except Exception as error:
            reason = str(error).splitlines()[0]
            raise ValueError(f"cannot go on from {path}: {reason}. Delete it to start anew") from error
        vars(self).update({name: state[name] for name in KEPT})
        vars(self.totals).update(state["totals"])
        torch.set_rng_state(state["random"].cpu())
        if (name := f"random_{self.device.type}") in state:
            set_random_state(self.device, state[name])


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
