"""PyTorch's optimizers work without importing its compiler, and to the same numbers; who compiles has it as ever."""

import subprocess
import sys

import pytest
import torch

from helpers.optimizers import leave_out_compiler

# One line for each optimizer: its weights after three steps, a change of the learning rate, and a copy of its state.
STEPS = """
import copy
import sys
from torch import nn

def after_steps(kind, **options):
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer = kind(model.parameters(), lr=0.1, **options)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.5, 3)
    def loss():
        optimizer.zero_grad()
        found = model(torch.ones(1, 3)).square().sum()
        found.backward()
        return found
    for _ in range(3):
        loss()
        optimizer.step(loss if kind is torch.optim.LBFGS else None)
        schedule.step()
        optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    return [weight.tolist() for weight in model.parameters()]

for name in "ASGD Adadelta Adagrad Adam AdamW Adamax LBFGS NAdam RAdam RMSprop Rprop SGD".split():
    print(name, after_steps(getattr(torch.optim, name)))
print("fused", after_steps(torch.optim.AdamW, fused=True))
weight = torch.ones(1, requires_grad=True)
moved = weight.clone()
optimizer = torch.optim.SGD([moved], lr=weight.detach(), differentiable=True)
moved.grad = weight * 3
optimizer.step()
print("differentiable", torch.autograd.grad(moved, weight))
"""
LOADED = "\nprint('torch._dynamo' in sys.modules)"
TRAIN = """
import sys
from helpers.training import train  # which imports PyTorch
import pandas as pd
from helpers.batches import Batches, for_language_model
from helpers.corpora import Split
from helpers.models import LanguageModel, TransformerBase
from helpers.vocabulary import Vocabulary

letters = Vocabulary("aei", "character")
split = Split("letters/train", "train", pd.DataFrame({"text": ["aei", "iea"]}))
batches = Batches(split, for_language_model(letters), token_budget=40)
model = LanguageModel(TransformerBase(len(letters), 8, 2, 1))
train(model, batches, "language_model", epochs=1, progress=False)
"""
COMPILED = """
from torch import nn

def step(x):
    optimizer.zero_grad()
    loss = model(x).square().sum()
    loss.backward()
    optimizer.step()
    return loss

torch.manual_seed(0)
model = nn.Linear(3, 2)
optimizer = torch.optim.Adam(model.parameters())
first = step(torch.ones(1, 3))
import torch._dynamo.testing
counter = torch._dynamo.testing.CompileCounter()
compiled = torch.compile(step, backend=counter)
print(first.item(), [compiled(torch.ones(1, 3)).item() for _ in range(3)], counter.frame_count, counter.op_count)
"""


def printed(program: str) -> str:
    """Returns what a program prints in a process of its own."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_without_the_compiler_every_optimizer_takes_the_same_steps() -> None:
    as_ever = printed(f"import torch{STEPS}{LOADED}")
    assert as_ever.endswith("True\n"), "PyTorch itself imports it no longer: then `helpers.optimizers` may go"
    assert printed(f"import torch, helpers{STEPS}{LOADED}") == as_ever.replace("True\n", "False\n")


@pytest.mark.all
def test_training_imports_no_compiler_whatever_was_imported_first() -> None:
    assert printed(TRAIN + LOADED) == "False\n"


@pytest.mark.all
def test_an_optimizer_that_is_compiled_later_has_the_same_graphs() -> None:
    assert printed(f"import torch, helpers{COMPILED}") == printed(f"import torch{COMPILED}")


def test_what_another_pytorch_has_there_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def _use_grad(optimizer: object) -> None:
        """Imports nothing."""

    class Other(torch.optim.Optimizer):
        step = _use_grad  # type: ignore[assignment]

    monkeypatch.setattr(torch.optim, "Other", Other, raising=False)
    leave_out_compiler()
    assert vars(Other)["step"] is _use_grad
