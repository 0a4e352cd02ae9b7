"""Where tensors live: the device, one seed for all generators, mixed precision, threads."""

import os
import random
from contextlib import AbstractContextManager, nullcontext, suppress

import numpy as np
import torch
from torch import Tensor

SETTING = "COURSE_DEVICE"


def choose_device(wanted: str | None = None) -> torch.device:
    """Returns the device to work on: a GPU where PyTorch can use one, else the processor.

    Args:
        wanted: `cpu`, `cuda`, `cuda:1`, `mps`, or another accelerator that PyTorch was built for, such as `xpu`;
            without it the environment variable COURSE_DEVICE decides, and without that the best device that is there.

    Raises:
        ValueError: there is no such kind of device.
        RuntimeError: there is, but not on this machine.
    """
    wanted = (wanted or os.environ.get(SETTING, "")).strip().lower()
    available = {
        "cuda": torch.cuda.device_count() if torch.cuda.is_available() else 0,
        "mps": int(torch.backends.mps.is_available()),
        "cpu": 1,
    }
    if not wanted:
        return torch.device(next(kind for kind, devices in available.items() if devices))

    if accelerator := torch.accelerator.current_accelerator():
        available.setdefault(accelerator.type, torch.accelerator.device_count())
    kind, _, index = wanted.partition(":")
    if kind not in available or (":" in wanted and not index.isdecimal()):
        raise ValueError(
            f"{SETTING} is {wanted!r}, expected cpu, cuda, cuda:0 (or another number) or mps: "
            "set one of these, or nothing to let the course choose."
        )
    devices = available[kind]
    if int(index or 0) >= devices:
        raise RuntimeError(
            f"{SETTING} is {wanted!r}, but PyTorch {torch.__version__} finds "
            f"{devices or 'no'} {kind} device{'' if devices == 1 else 's'} on this machine: "
            "set it to cpu, or to nothing to let the course choose."
        )
    return torch.device(wanted)


def explain_device(device: torch.device) -> str:
    """Returns one sentence that says what the device is and why it was chosen."""
    if os.environ.get(SETTING, "").strip():
        why = f"because {SETTING} says so"
    elif device.type == "cpu":
        why = "because PyTorch finds no GPU; every notebook is made to run on it"
    else:
        why = "because it is the fastest that PyTorch finds here"
    if device.type == "cuda":
        properties = torch.cuda.get_device_properties(device)
        memory = properties.total_memory / 2**30
        precision = "bfloat16 autocast" if bf16_pays(device) else "float32"
        return f"Device {device}: {properties.name}, {memory:.0f} GiB, {precision}, {why}."
    if device.type != "cpu":
        what = "the GPU of this Mac" if device.type == "mps" else "an accelerator that PyTorch knows"
        return f"Device {device}: {what}, float32, {why}."
    threads = torch.get_num_threads()
    return f"Device {device}: the processor, {threads} thread{'s' * (threads != 1)}, {why}."


def set_seed(seed: int) -> None:
    """Seeds the generators of Python, NumPy and PyTorch (on every device) alike.

    Raises:
        ValueError: the seed does not fit into 32 bits, which NumPy needs.
    """
    if not 0 <= seed < 2**32:
        raise ValueError(f"The seed is {seed}, expected a whole number from 0 to 2**32 - 1.")
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)  # all devices


def random_state(device: torch.device) -> Tensor:
    """Returns where the random numbers of a device other than the processor are; see `set_random_state`."""
    module = torch.get_device_module(device)  # such as torch.cuda
    return module.get_rng_state() if device.type == "mps" else module.get_rng_state(device)


def set_random_state(device: torch.device, state: Tensor) -> None:
    """Lets the random numbers of a device go on from where `random_state` was taken."""
    module = torch.get_device_module(device)
    module.set_rng_state(state.cpu(), *([] if device.type == "mps" else [device]))


def bf16_pays(device: torch.device) -> bool:
    """Says whether the device computes in bfloat16 faster than in float32.

    That is so on NVIDIA GPUs from Ampere (2020) on. Older ones only emulate it, and on processors
    and Macs the gain depends on the model.
    """
    return device.type == "cuda" and torch.cuda.get_device_capability(device) >= (8, 0)


def autocast(device: torch.device) -> AbstractContextManager[None]:
    """Returns a context in which matrix products run in bfloat16 where that pays.

    Elsewhere it changes nothing. Use it around the forward pass and the loss, not around
    `backward()`. bfloat16 has the range of float32, so no gradient scaling is needed.
    """
    return torch.autocast("cuda", dtype=torch.bfloat16) if bf16_pays(device) else nullcontext()


def available_cores() -> int:
    """Returns how many processor cores this process may use.

    A container, as on Binder, often may use fewer than the machine has, and a JupyterHub may ask for
    it (CPU_LIMIT). PyTorch does not know, starts one thread for each core of the machine, and gets slow.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(ValueError):  # not set, or not a number
        cores = min(cores, max(1, round(float(os.environ.get("CPU_LIMIT", "")))))
    try:
        with open("/sys/fs/cgroup/cpu.max", encoding="ascii") as file:
            quota, period = file.read().split()
    except (OSError, ValueError):
        return cores  # no control groups here (version 2), hence no limit
    if quota != "max":
        cores = min(cores, max(1, round(int(quota) / int(period))))
    return cores


def set_threads(threads: int | None = None) -> int:
    """Sets how many threads PyTorch uses on the CPU, and returns that number.

    Importing `helpers` sets 1, which is right for small models (see `helpers.threads`). Call this
    before you train a large one on the CPU: `set_threads()`.

    Args:
        threads: the number; without it, the number of cores that this process may use.

    Raises:
        ValueError: the number is not a whole number of at least 1.
    """
    threads = available_cores() if threads is None else threads
    if threads < 1:
        raise ValueError(f"The number of threads is {threads}, expected at least 1.")
    torch.set_num_threads(threads)
    return threads
