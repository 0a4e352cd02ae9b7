"""The examiner's own time: what a submission sends may cost it only so much CPU time to read and to compare.

Whoever answers chooses what the examiner must work through, so its time is counted as an answer's own is. What it does
for itself meanwhile, such as to ask a known mistake, is left out (`paused`). Standard library only.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator
from typing import Any

AGAIN = 0.2  # seconds after which the alarm rings once more, should the first one have been swallowed


class BudgetExceeded(BaseException):
    """What a submission has sent costs too much to read. Not an `Exception`, so that nothing takes it for its own."""


class CpuBudget:
    """The CPU seconds that the examiner still has for what one submission sends."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    @contextlib.contextmanager
    def limited(self, most: float) -> Iterator[None]:
        """Raises `BudgetExceeded` in the body when that takes more than `most` seconds, or more than are left in all.

        Of the process's main thread only, and not within itself; where there is no such alarm, as on Windows, nothing
        is counted.
        """
        if not hasattr(signal, "setitimer"):
            yield
            return
        clock = _Clock(max(0.001, min(most, self.left)))
        before = signal.signal(signal.SIGVTALRM, clock.ring)
        _clocks.append(clock)
        clock.go()
        try:
            yield
        finally:
            clock.stop()
            _clocks.remove(clock)
            signal.signal(signal.SIGVTALRM, before)
            self.left -= clock.spent


class _Clock:
    """Counts the CPU time of this process. The alarm of the kernel only counts ticks, so it may ring early."""

    def __init__(self, granted: float) -> None:
        self._granted, self.spent, self._since = granted, 0.0, 0.0

    def go(self) -> None:
        self._since = time.process_time()
        signal.setitimer(signal.ITIMER_VIRTUAL, max(0.001, self._granted - self.spent), AGAIN)

    def stop(self) -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        self.spent += time.process_time() - self._since

    def ring(self, number: int, frame: Any) -> None:
        if self.spent + time.process_time() - self._since >= self._granted:
            raise BudgetExceeded


_clocks: list[_Clock] = []  # the one that runs, if any does


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """Stops the clock of `limited` while the examiner works for itself; outside of it this does nothing."""
    running = list(_clocks)
    for clock in running:
        clock.stop()
    try:
        yield
    finally:
        for clock in running:
            clock.go()
