"""Memory that is freed stays with the process."""

import subprocess
import sys

import pytest

from helpers.memory import keep_freed_memory

STEPS = """
import importlib
import resource

memory = importlib.import_module("helpers.memory")
if not {kept}:
    memory.LARGEST, memory.KEPT = 128 * 2**10, 128 * 2**10  # with which glibc begins
    memory.keep_freed_memory()

import torch
from helpers.models import LanguageModel, TransformerBase

torch.manual_seed(0)
model, tokens = LanguageModel(TransformerBase(2000, 64, 2, 2)), torch.randint(2000, (16, 64))
for step in range(20):
    if step == 10:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    model(tokens).logsumexp(dim=-1).sum().backward()
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) // 10)
"""


def new_pages(*, kept: bool) -> int:
    """Returns how many pages Linux clears in a step of training, which needs some 30 MB."""
    program = [sys.executable, "-c", STEPS.format(kept=kept)]
    return int(subprocess.run(program, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(not keep_freed_memory(), reason="only glibc can be told to keep what is freed")
def test_a_step_gets_the_pages_of_the_step_before() -> None:
    assert 20 * new_pages(kept=True) < new_pages(kept=False)


def test_where_there_is_no_glibc_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not keep_freed_memory()
