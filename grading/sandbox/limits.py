"""What a process may use, and how long it may live: limits that the kernel holds by itself."""

from __future__ import annotations

import os
import resource
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from grading.sandbox import kernel


@dataclass(frozen=True)
class Limits:
    """What one submission may use. Sizes in bytes, times in seconds."""

    memory: int = 2 << 30
    cpu: float = 60.0
    wall: float = 300.0
    processes: int = 64
    open_files: int = 256
    file_size: int = 32 << 20
    disk: int = 64 << 20


def apply(limits: Limits) -> None:
    """Sets the kernel's limits of this process, which all that it starts inherit."""
    cpu = max(1, int(limits.cpu))
    for kind, value in (
        (resource.RLIMIT_CPU, cpu),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_FSIZE, limits.file_size),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, limits.processes),
        (resource.RLIMIT_AS, limits.memory + (8 << 30)),  # addresses; the supervisor watches real memory
    ):
        resource.setrlimit(kind, (value, value + 1 if kind == resource.RLIMIT_CPU else value))


def limit_growth(more: int) -> None:
    """Limits the memory that this process, and each that it starts, may still take, to `more` bytes; on Linux only."""
    if sys.platform.startswith("linux"):
        limit = (kilobytes(Path("/proc/self/status"), b"VmData:") << 10) + more
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def die_with(parent: int) -> None:
    """Has the kernel end this process when its `parent` ends, however that ends; on Linux only."""
    if sys.platform.startswith("linux"):
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)  # it ended before the line above


def kilobytes(path: Path, *names: bytes) -> int:
    """Returns the sum of the lines of a file of /proc that start with these names."""
    return sum(int(line.split()[1]) for line in path.read_bytes().splitlines() if line.startswith(names))
