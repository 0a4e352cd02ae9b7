"""Compares training steps with and without `helpers.memory`: pages that Linux clears, and processor time.

    python -m benchmarks.memory
    python -m benchmarks.memory --steps 200 --rounds 5

Both ways run in processes of their own, in turns, with one thread; the ratio is that of the best rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass

PROGRAM = """
import json
import resource
import sys
import types

kept, steps = json.loads(sys.argv[1])
if not kept:  # glibc with its own settings
    sys.modules["helpers.memory"] = types.SimpleNamespace(keep_freed_memory=lambda: False)

import torch

from helpers.models import LanguageModel, TransformerBase

torch.manual_seed(0)
model, tokens = LanguageModel(TransformerBase(2000, 64, 2, 2)), torch.randint(2000, (16, 64))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)


def train(steps):
    for _ in range(steps):
        optimizer.zero_grad()
        model(tokens).logsumexp(dim=-1).mean().backward()
        optimizer.step()


train(10)
before = resource.getrusage(resource.RUSAGE_SELF)
train(steps)
after = resource.getrusage(resource.RUSAGE_SELF)
names = "ru_minflt", "ru_utime", "ru_stime"
print(json.dumps([(getattr(after, name) - getattr(before, name)) / steps for name in names]))
"""


@dataclass(frozen=True)
class Step:
    """What one training step takes, in the mean."""

    pages: float  # that Linux clears
    own: float  # CPU seconds of the program itself
    kernel: float  # CPU seconds of the kernel for it

    @property
    def seconds(self) -> float:
        """CPU seconds in all."""
        return self.own + self.kernel


def measure(*, kept: bool, steps: int) -> Step:
    """Trains a language model of 0.3 million parameters on 1,024 tokens a step, in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps([kept, steps])],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return Step(*json.loads(done.stdout))


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=100, help="training steps in a round")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each way")
    options = parser.parse_args()
    rounds = [[measure(kept=kept, steps=options.steps) for kept in (True, False)] for _ in range(options.rounds)]
    best = [min(way, key=lambda step: step.seconds) for way in zip(*rounds, strict=True)]
    print("| freed memory | pages a step | ms a step | of them in the kernel |\n|---|---|---|---|")
    for name, step in zip(("stays", "goes back (glibc as it is)"), best, strict=True):
        share = step.kernel / step.seconds
        print(f"| {name} | {step.pages:,.0f} | {1000 * step.seconds:.1f} | {share:.1%} |")
    print(f"glibc as it is takes {best[1].seconds / best[0].seconds:.2f} times the processor time.")


if __name__ == "__main__":
    main()
