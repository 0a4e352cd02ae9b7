"""The device: which one is chosen and why, seeds, mixed precision, threads."""

import os
import random
from collections.abc import Callable

import numpy as np
import pytest
import torch

from helpers import device


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, bool], None]:
    """Pretend a number of NVIDIA GPUs and a Mac's GPU."""
    monkeypatch.delenv(device.SETTING, raising=False)

    def pretend(cuda: int, mps: bool) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: cuda)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)

    return pretend


@pytest.mark.parametrize(("cuda", "mps", "expected"), [(2, False, "cuda"), (0, True, "mps"), (0, False, "cpu")])
def test_the_best_device_is_chosen(cuda: int, mps: bool, expected: str, machine: Callable[[int, bool], None]) -> None:
    machine(cuda, mps)
    assert device.choose_device() == torch.device(expected)
    assert device.choose_device("cpu") == torch.device("cpu")


def test_the_setting_decides(machine: Callable[[int, bool], None], monkeypatch: pytest.MonkeyPatch) -> None:
    machine(2, False)
    monkeypatch.setenv(device.SETTING, " CUDA:1 ")
    assert device.choose_device() == torch.device("cuda", 1)
    monkeypatch.setenv(device.SETTING, "cpu")
    chosen = device.choose_device()
    assert chosen == torch.device("cpu")
    assert "because COURSE_DEVICE says so" in device.explain_device(chosen)


@pytest.mark.parametrize("wanted", ["gpu", "cuda:", "cuda:x", "cuda:-1", "0", "nvidia"])
def test_a_setting_that_means_nothing_is_refused(wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(device.SETTING, wanted)
    with pytest.raises(ValueError, match=f"COURSE_DEVICE is '{wanted}', expected cpu, cuda"):
        device.choose_device()


@pytest.mark.parametrize(
    ("wanted", "finds"),
    [("cuda:1", "1 cuda device on"), ("mps", "no mps devices on"), ("cpu:1", "1 cpu device on")],
)
def test_a_device_that_is_not_there_is_named(wanted: str, finds: str, machine: Callable[[int, bool], None]) -> None:
    machine(1, False)
    with pytest.raises(RuntimeError, match=f"COURSE_DEVICE is '{wanted}', but .*{finds}"):
        device.choose_device(wanted)


def test_one_seed_sets_all_generators() -> None:
    def draw() -> tuple[float, float, float]:
        return random.random(), float(np.random.rand()), float(torch.rand(()))

    device.set_seed(7)
    first = draw()
    second = draw()
    device.set_seed(7)
    assert draw() == first
    device.set_seed(8)
    third = draw()
    for others in (second, third):
        assert all(one != other for one, other in zip(first, others, strict=True))


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_that_does_not_fit_is_refused(seed: int) -> None:
    with pytest.raises(ValueError, match="expected a whole number from 0 to"):
        device.set_seed(seed)


def test_autocast_changes_nothing_on_the_processor() -> None:
    with device.autocast(torch.device("cpu")):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32


@pytest.mark.parametrize(("capability", "pays"), [((7, 5), False), ((8, 0), True), ((9, 0), True)])
def test_bfloat16_pays_from_ampere_on(capability: tuple[int, int], pays: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    assert device.bf16_pays(torch.device("cuda")) is pays


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
def test_an_nvidia_gpu_is_chosen_explained_and_seeded() -> None:
    chosen = device.choose_device("cuda")
    assert torch.cuda.get_device_name(chosen) in device.explain_device(chosen)
    device.set_seed(7)
    first = torch.rand(3, device=chosen)
    device.set_seed(7)
    assert torch.equal(torch.rand(3, device=chosen), first)
    with device.autocast(chosen):
        product = torch.ones(8, 8, device=chosen) @ torch.ones(8, 8, device=chosen)
    assert (product.dtype == torch.bfloat16) == device.bf16_pays(chosen)


def test_threads_follow_the_argument_then_the_cores_that_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    before = torch.get_num_threads()
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: range(4), raising=False)
    try:
        assert device.set_threads(2) == torch.get_num_threads() == 2
        monkeypatch.setenv("CPU_LIMIT", "1.0")  # as JupyterHub says it
        assert device.set_threads() == torch.get_num_threads() == 1
        for wrong in ("", "None"):
            monkeypatch.setenv("CPU_LIMIT", wrong)
            assert device.set_threads() == device.available_cores() >= 1
        with pytest.raises(ValueError, match="expected at least 1"):
            device.set_threads(0)
    finally:
        torch.set_num_threads(before)
