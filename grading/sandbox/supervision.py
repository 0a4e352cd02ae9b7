"""What all processes of a sandbox use together: the supervisor's watch from inside, and a look from outside."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from grading.sandbox.limits import Limits, kilobytes
from grading.sandbox.system_calls import DeniedCalls

SOCKET_BYTES = 212_992  # what a socket may hold in the kernel, which no process is charged for
TOO_LATE, TOO_MUCH, TOO_BUSY = 124, 128 + signal.SIGKILL, 128 + signal.SIGXCPU  # exit statuses


def supervise(child: int, limits: Limits, alive: int, denied: DeniedCalls | None = None) -> NoReturn:
    """Waits for the student's process, watching what all processes of the sandbox use; ends with its exit status.

    Args:
        child: the student's process.
        limits: what the sandbox may use.
        alive: a pipe that closes when the process that waits for us is killed.
        denied: in debug mode, where to answer denied calls.
    """
    end, status = time.monotonic() + limits.wall, -1
    watched = [alive, denied.listener] if denied else [alive]
    while status < 0:
        pid, wait_status = os.waitpid(-1, os.WNOHANG)
        if pid == child:
            status = exit_status(wait_status)
        elif pid == 0:
            used = _usage()
            if time.monotonic() > end:
                status = TOO_LATE
            elif used.cpu > limits.cpu + 1:
                status = TOO_BUSY
            elif used.processes > limits.processes or (used.memory > limits.memory and _memory() > limits.memory):
                status = TOO_MUCH
            else:
                ready = select.select(watched, [], [], 0.02)[0]
                if alive in ready:
                    status = 1
                elif denied and ready:
                    denied.refuse_next()
    os._exit(status)  # the kernel kills whatever is left in these process ids


def exit_status(wait_status: int) -> int:
    """Returns a process's exit status as a shell gives it: 128 and the number of the signal that ended it."""
    code = os.waitstatus_to_exitcode(wait_status)
    return code if code >= 0 else 128 - code


@dataclass
class _Usage:
    """What all processes of the sandbox use: processes and threads, processor seconds, memory in bytes at most."""

    processes: int = 0
    cpu: float = 0.0
    memory: int = 0


def _usage() -> _Usage:
    """Returns what the sandbox uses now, from one small file for each process: a part of a millisecond."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    used, ticks = _Usage(cpu=ended.ru_utime + ended.ru_stime, memory=_buffers()), os.sysconf("SC_CLK_TCK")
    for process in _others():
        try:
            fields = _stat(process)
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has just ended
        used.cpu += sum(map(int, fields[11:15])) / ticks
        used.processes += int(fields[17])
        used.memory += int(fields[21]) * resource.getpagesize()
    return used


def _stat(process: Path) -> list[bytes]:
    """Returns the fields of a process's `stat` after its name, which may hold spaces: the state is the first."""
    return (process / "stat").read_bytes().rpartition(b")")[2].split()


def _others() -> list[Path]:
    return [Path("/proc", name) for name in os.listdir("/proc") if name.isdigit() and name != "1"]


def _buffers() -> int:
    """Returns how much memory the kernel may hold in sockets; there is no network, so they are all of one kind."""
    return (Path("/proc/net/unix").read_bytes().count(b"\n") - 1) * SOCKET_BYTES


def _memory() -> int:
    """Returns the memory, in bytes, of all processes of the sandbox, without pages of files.

    A page that several processes share counts once in all, so a forked process costs what it has changed.
    """
    total = _buffers()
    for process in _others():
        try:
            total += kilobytes(process / "smaps_rollup", b"Pss_Anon:", b"Pss_Shmem:") << 10
        except PermissionError:  # a process that does not let itself be looked at: each page counts in full
            total += kilobytes(process / "status", b"RssAnon:", b"RssShmem:") << 10
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has just ended
    return total


def at_work(supervisor: int) -> tuple[int, bool] | None:
    """Returns what the processes of a sandbox have used (ticks), and whether one of them can go on; None if unknown.

    Children that have ended, and were waited for, count with the process that has waited.
    Called from outside, with the process that `enter` has left as supervisor; the two supervisors do not count.
    """
    children = dict[int, list[tuple[int, int, bool]]]()  # of each process: pid, ticks, whether it can go on
    try:
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
                fields = _stat(process)
                entry = int(process.name), sum(map(int, fields[11:15])), fields[0] in (b"R", b"D")
                children.setdefault(int(fields[1]), []).append(entry)
    except OSError:
        return None
    below = [entry for inner, _, _ in children.get(supervisor, []) for entry in children.get(inner, [])]
    if not below:
        return None
    for pid, _, _ in below:  # grows while it is gone through
        below += children.get(pid, [])
    return sum(ticks for _, ticks, _ in below), any(ready for _, _, ready in below)
