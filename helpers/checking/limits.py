"""What an answer may not do while it is asked: run on, print, and leave random state or settings changed."""

from __future__ import annotations

import ctypes
import random
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from functools import partial
from io import StringIO
from typing import Any

import numpy as np
import torch

PATIENCE = 6.0  # a body may wait this many times as long as it may work: for other work, a lock, a `sleep`
LOOK = 0.2  # seconds between two looks at a body that runs


class TooSlow(BaseException):
    """Raised inside an answer that has used up its time. Not an `Exception`, so `except Exception` lets it pass."""


class KeptWaiting(TooSlow):
    """Raised inside an answer that has not used up its CPU time, and has taken `PATIENCE` times as long."""


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
    """Puts back random state, gradient mode, default dtype, threads and warning filters; seeds them for the answer.

    The answer runs on one thread: questions are small, threads that wait for each other use up CPU time, and sums come
    out the same whatever the number of cores.

    Without `generators`, those of Python and numpy stay as the answer leaves them: to keep numpy's takes longer than
    most answers, and where nothing but answers runs, each seeded anew, nobody misses it.
    """
    python, numpy = (random.getstate(), np.random.get_state()) if generators else (None, None)
    grad, dtype, threads = torch.is_grad_enabled(), torch.get_default_dtype(), torch.get_num_threads()
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []
    with torch.random.fork_rng(devices=devices), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        random.seed(0)
        np.random.seed(0)
        seed_torch(0)
        _set_threads(1)
        try:
            yield
        finally:
            if python is not None and numpy is not None:
                random.setstate(python)
                np.random.set_state(numpy)
            torch.set_grad_enabled(grad)
            torch.set_default_dtype(dtype)
            _set_threads(threads)


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
    from IPython.core.displaypub import CapturingDisplayPublisher
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is None:
        yield
        return
    before, shell.display_pub = shell.display_pub, CapturingDisplayPublisher()
    try:
        yield
    finally:
        shell.display_pub = before


class Timer:
    """What a body that runs in one thread has used so far, looked at every `LOOK` seconds; in seconds.

    Waiting is counted from look to look, and a look that comes late counts as one: while a process is stopped, or the
    whole computer sleeps, no look comes, and nothing of that is the body's.

    Args:
        seconds: CPU time of the body.
        cpu: a clock of the CPU time.
    """

    def __init__(self, seconds: float, cpu: Callable[[], float]) -> None:
        self.seconds, self.waited, self._cpu = seconds, 0.0, cpu
        self._start, self._last = cpu(), time.monotonic()

    def look(self) -> type[TooSlow] | None:
        """Returns what to raise in the body when its time is used up, else None."""
        now = time.monotonic()
        self.waited, self._last = self.waited + min(now - self._last, 2 * LOOK), now
        if self._cpu() - self._start >= self.seconds:
            return TooSlow
        return KeptWaiting if self.waited >= PATIENCE * self.seconds else None


@contextmanager
def time_limit(seconds: float, clock: str = "thread") -> Iterator[Timer]:
    """Raises `TooSlow` in this thread when the body uses more than `seconds` of CPU time, and again while it goes on.

    `clock` is "thread": the CPU time of this thread, fair on a slow or busy machine, and what waits `PATIENCE` times as
    long raises `KeptWaiting`. It may be "cpu": the CPU time of all threads, where somebody else watches those who wait.

    By a timer's signal where there is one (it ends `sleep` too), else by an asynchronous exception. One limit may stand
    within another.
    """
    seconds = max(seconds, 0.01)
    main = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    timer = Timer(seconds, _cpu_clock() if clock == "thread" else time.process_time)
    with _signals(timer, clock) if main else _watcher(timer):
        yield timer


def _cpu_clock() -> Callable[[], float]:
    """Returns a clock of this thread's CPU time that any thread can read; of all threads, where a system has none."""
    if not hasattr(time, "pthread_getcpuclockid"):  # macOS, Windows
        return time.process_time
    return partial(time.clock_gettime, time.pthread_getcpuclockid(threading.get_ident()))


@contextmanager
def _signals(timer: Timer, clock: str) -> Iterator[None]:
    def ring(number: int, frame: Any) -> None:
        if problem := timer.look() if clock == "thread" else TooSlow:
            raise problem

    kind, number = (signal.ITIMER_REAL, signal.SIGALRM) if clock == "thread" else (signal.ITIMER_PROF, signal.SIGPROF)
    before = signal.signal(number, ring)
    outer = signal.setitimer(kind, min(timer.seconds, LOOK) if clock == "thread" else timer.seconds, LOOK)
    try:
        yield
    finally:
        signal.setitimer(kind, 0)
        signal.signal(number, before)
        signal.setitimer(kind, *outer)


@contextmanager
def _watcher(timer: Timer) -> Iterator[None]:
    done, thread = threading.Event(), threading.get_ident()

    def watch() -> None:
        while not done.wait(min(timer.seconds, LOOK)):
            if problem := timer.look():
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(problem))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
