"""How long an answer may run: CPU time, fair on a busy machine, and wall-clock time as a last resort."""

from __future__ import annotations

import ctypes
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

PATIENCE = 6.0  # a body may wait this many times as long as it may work: for other work, a lock, a `sleep`
BUSY = (
    "it was stopped, since it hardly got to work: this computer is busy with other work, or your code waits for "
    "something (a `sleep`, a lock, an input). When the computer is less busy, run this again"
)
LOOK = 0.2  # seconds between two looks at a body that runs


class TooSlow(BaseException):
    """Raised inside an answer that has used up its time. Not an `Exception`, so `except Exception` lets it pass."""

    def __str__(self) -> str:
        return "it was stopped, since its CPU time is used up; is there a loop that never ends?"


class KeptWaiting(TooSlow):
    """Raised inside an answer that has not used up its CPU time, and has taken `PATIENCE` times as long."""

    def __str__(self) -> str:
        return BUSY


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
def time_limit(seconds: float, clock: str = "thread", *, again: bool = True) -> Iterator[Timer]:
    """Raises `TooSlow` in this thread when the body uses more than `seconds` of CPU time; `again` while it goes on.

    `clock` is "thread": the CPU time of this thread, fair on a slow or busy machine, and what waits `PATIENCE` times as
    long raises `KeptWaiting`. It may be "cpu": the CPU time of all threads, where somebody else watches those who wait.

    By a timer's signal where there is one (it ends `sleep` too), else by an asynchronous exception. One limit may stand
    within another.
    """
    seconds = max(seconds, 0.01)
    main = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    own = time.thread_time if main else _own_clock()
    timer = Timer(seconds, own if clock == "thread" else time.process_time)
    with _signals(timer, clock, again=again) if main else _watcher(timer, again=again):
        yield timer


def _own_clock() -> Callable[[], float]:
    """Returns a clock of this thread's CPU time that any thread can read; of all threads, where a system has none."""
    if not hasattr(time, "pthread_getcpuclockid"):  # macOS, Windows
        return time.process_time
    return partial(time.clock_gettime, time.pthread_getcpuclockid(threading.get_ident()))


@contextmanager
def _signals(timer: Timer, clock: str, *, again: bool) -> Iterator[None]:
    def ring(number: int, frame: Any) -> None:
        if problem := timer.look() if clock == "thread" else TooSlow:
            if not again:
                signal.setitimer(kind, 0)
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
def _watcher(timer: Timer, *, again: bool) -> Iterator[None]:
    done, thread = threading.Event(), threading.get_ident()

    def watch() -> None:
        while not done.wait(min(timer.seconds, LOOK)):
            if problem := timer.look():
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(problem))
                if not again:
                    return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
