"""`benchmarks.gpu` says what it would measure where there is no accelerator, and measures where there is one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

from benchmarks import gpu, training
from benchmarks._graphs import StaticWriter
from helpers.device import SETTING
from helpers.llama import Llama
from tests.helpers import stand_in_device

RUN = """
import sys
from tests.helpers import stand_in_device
stand_in_device.install()
from benchmarks import gpu
sys.argv = ["gpu", "--quick"]
gpu.main()
"""


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setenv(SETTING, "cpu")
    monkeypatch.setattr(sys, "argv", ["gpu", *arguments])
    gpu.main()


def test_without_an_accelerator_it_says_what_it_would_measure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for part in gpu.PARTS:
        monkeypatch.setattr(gpu, part, None)  # nothing is measured
    run(monkeypatch)
    output = capsys.readouterr().out
    for words in ("no accelerator here", "goal: 8 times", "fine-tuning of minilm", "smollm2 writing", "--quick"):
        assert words in output


@pytest.mark.parametrize(("apart", "same"), [(0.0, True), (0.9e-3, True), (1.2e-3, False)])
def test_losses_further_apart_than_rounding_are_a_failure(
    apart: float, same: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    times = iter([1.0, 1 + apart])

    def losses(device: torch.device, quick: bool) -> Tensor:
        return torch.tensor([3.0, 2.0 * next(times)], dtype=torch.float64)

    monkeypatch.setattr(gpu, "losses", losses)
    if same:
        run(monkeypatch, "--quick", "--parts", "curves")
    else:
        with pytest.raises(SystemExit, match=r"further from the processor's than 0\.001"):
            run(monkeypatch, "--quick", "--parts", "curves")
    assert f"at most {apart:.1e} of a loss away" in capsys.readouterr().out


def test_writing_without_a_cache_writes_the_same() -> None:
    torch.manual_seed(0)
    model = Llama(40, 16, 2, 4, 2).eval()
    tokens = torch.randint(0, 40, (3, 5))
    assert torch.equal(gpu.without_cache(model, tokens, 6), model.greedy(tokens, 6))


@pytest.mark.parametrize(("sharing", "texts"), [(1, 1), (2, 3)])
def test_a_static_cache_writes_the_same_each_time(sharing: int, texts: int) -> None:
    torch.manual_seed(0)
    model = Llama(40, 16, 2, 4, 4 // sharing).eval()
    tokens = torch.randint(0, 40, (texts, 5))
    write = StaticWriter(model, tokens, 6)
    for _ in range(2):  # the cache of the time before is written over
        assert torch.equal(write(), model.greedy(tokens, 6))
    assert torch.equal(StaticWriter(model, tokens, 1)(), model.greedy(tokens, 1))


def test_columns_of_the_table_divide(capsys: pytest.CaptureFixture[str]) -> None:
    times = {"plain loop": [4.0, 1.0, 2.0], "better": [0.5, 2.0, 1.0], "best": [0.5]}
    ratios = training.table(times, 1000, lambda speed: training.share_of(0.001, speed, 10_000))
    assert ratios == {"plain loop": 1, "better": 2, "best": 4}
    assert capsys.readouterr().out.splitlines()[3:] == [
        "| plain loop | 500 | 1.00 | 1.00 | 3.000% |",
        "| better | 1,000 | 2.00 | 2.00 | 6.000% |",
        "| best | 2,000 | 4.00 | 2.00 | 12.000% |",
    ]
    assert training.share_of(None, 1000, 10) == "no peak given"


def test_parameters_that_are_only_looked_up_multiply_nothing() -> None:
    model = Llama(40, 16, 2, 4, 2, d_feedforward=24)
    attention, feed_forward = 2 * 16 * 16 + 2 * 16 * 8, 3 * 16 * 24
    assert training.multiplied(model) == 2 * (attention + feed_forward) + 5 * 16


def test_a_peak_that_is_no_number_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run(monkeypatch, "--quick", "--peak", "fast", "a guess")
    assert "'fast' is not a number" in capsys.readouterr().err


@pytest.mark.all
def test_a_trial_runs_on_a_device_that_is_not_the_processor(repository: Path) -> None:
    """In a process of its own: PyTorch cannot forget a device."""
    pytest.importorskip("safetensors", reason="the extra weights is not installed")
    settings = os.environ | {SETTING: stand_in_device.NAME, "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    done = subprocess.run([sys.executable, "-c", RUN], cwd=repository, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    for line in (
        "standin in float32: at most ",
        "| plain loop | ",
        "| ours, budget of 512 tokens, float32 | ",
        "| 2,048 | 0.0004 | ",
        "| static cache, float32 | 1 | ",
        " times the plain loop (goal on a GPU: 8).",
        "| our model, plain loop | ",
        "| ours, batches of 16, on the processor | ",
        "| with a cache, bfloat16 | 32 | ",
    ):
        assert line in done.stdout, line
