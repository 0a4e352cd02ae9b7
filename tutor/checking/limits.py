"""What an answer may not do while it is asked: print, and leave random state or settings changed."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from typing import Any

import numpy as np
import torch

CPU = torch.device("cpu")


def seed_torch(seed: int) -> None:
    """Seeds PyTorch's generator, and those of GPUs where these are in use.

    `torch.manual_seed` also keeps a list of what to do once CUDA starts, with a stack trace for each entry: it grows
    with every call and takes a thousand times as long.
    """
    if torch.cuda.is_initialized():
        torch.manual_seed(seed)
    else:
        torch.default_generator.manual_seed(seed)


@contextmanager
def state_kept(*, generators: bool = True) -> Iterator[None]:
    """Puts back random state, gradient mode, default dtype and device, threads and warnings; seeds them for the answer.

    An answer is asked with PyTorch's own defaults, whatever dtype and device a cell has set: so it is marked.
    The answer runs on one thread: questions are small, threads that wait for each other use up CPU time, and sums come
    out the same whatever the number of cores.

    Without `generators`, those of Python and numpy stay as the answer leaves them: to keep numpy's takes longer than
    most answers, and where nothing but answers runs, each seeded anew, nobody misses it.
    """
    python, numpy = (random.getstate(), np.random.get_state()) if generators else (None, None)
    grad, threads = torch.is_grad_enabled(), torch.get_num_threads()
    dtype, device = torch.get_default_dtype(), _device()
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []
    with torch.random.fork_rng(devices=devices), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        random.seed(0)
        np.random.seed(0)
        seed_torch(0)
        _set_threads(1)
        usual_defaults()
        try:
            yield
        finally:
            if python is not None and numpy is not None:
                random.setstate(python)
                np.random.set_state(numpy)
            torch.set_grad_enabled(grad)
            torch.set_default_dtype(dtype)
            _set_device(device)
            _set_threads(threads)


def usual_defaults() -> list[str]:
    """Gives PyTorch its own default dtype and device again; returns which of them had been set."""
    changed = ["dtype"] if torch.get_default_dtype() != torch.float32 else []
    torch.set_default_dtype(torch.float32)
    if _device() != CPU:
        changed.append("device")
        _set_device(CPU)
    return changed


def _device() -> torch.device:
    """Returns the default device; PyTorch's own function asks the device for its number, and fails where it is not."""
    context = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
    return CPU if context is None else torch.device(context.device)


def _set_device(device: torch.device) -> None:
    if _device() != device:
        torch.set_default_device(None if device == CPU else device)


def _set_threads(threads: int) -> None:
    if torch.get_num_threads() != threads:
        torch.set_num_threads(threads)


class _Limited(StringIO):
    def write(self, text: str) -> int:
        if self.tell() < 10_000:
            super().write(text[:10_000])
        return len(text)


@contextmanager
def output_kept(printed: StringIO) -> Iterator[None]:
    """Sends what the answer prints or displays to `printed`, so that it cannot count as an error or a mark."""
    capped = _Limited()
    try:
        with ExitStack() as stack:
            stack.enter_context(_display_kept())
            stack.enter_context(redirect_stdout(capped))
            stack.enter_context(redirect_stderr(capped))
            yield
    finally:
        printed.write(capped.getvalue())


@contextmanager
def _display_kept() -> Iterator[None]:
    """Drops what the answer displays, when IPython is there to display it."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is None:
        yield
        return
    unseen, before = _unseen_displays(), shell.display_pub
    shell.display_pub = unseen
    try:
        yield
    finally:
        unseen.outputs = []
        shell.display_pub = before


@cache
def _unseen_displays() -> Any:
    """Returns what takes displays and shows none; to make one takes longer than many an answer."""
    from IPython.core.displaypub import CapturingDisplayPublisher

    return CapturingDisplayPublisher()
