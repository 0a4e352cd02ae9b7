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

SOCKET_BYTES = 425_984  # what a socket may be made to hold in the kernel, which no process is charged for
TOO_LATE, TOO_MUCH, TOO_BUSY = 124, 128 + signal.SIGKILL, 128 + signal.SIGXCPU  # exit statuses


def supervise(child: int, limits: Limits, alive: int, denied: DeniedCalls | None = None) -> NoReturn:
    """Waits for the student's process, watching what all processes of the sandbox use; ends with its exit status.

    Args:
        child: the student's process.
        limits: what the sandbox may use.
        alive: a pipe that closes when the process that waits for us is killed.
        denied: in debug mode, where to answer denied calls.
    """
    end, status, account = time.monotonic() + limits.wall, -1, _Account()
    watched = [alive, denied.listener] if denied else [alive]
    while status < 0:
        pid, wait_status = os.waitpid(-1, os.WNOHANG)
        if pid == child:
            status = exit_status(wait_status)
        elif pid == 0:
            used = _usage(account)
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
    """What all processes of the sandbox use: processes and threads, CPU seconds, memory in bytes at most."""

    processes: int = 0
    cpu: float = 0.0
    memory: int = 0


SEEN_TOO_LATE = 0.01  # CPU seconds that a process counts for which has come and gone between two looks


class _Account:
    """The CPU time of all processes that a sandbox has had, whoever waits for them.

    The kernel adds an ended process's time to the one that waits for it, and to none when its parent ignores that it
    has ended. So each process is kept as it was last seen, and one that was never seen counts for a little.
    """

    def __init__(self) -> None:
        self._alive, self._ended = dict[tuple[int, int], float](), 0.0  # by id and time of the start
        self._seen, self._last = 0, 0

    def look(self, alive: dict[tuple[int, int], float]) -> float:
        """Returns the seconds of all processes until now, of which these are alive."""
        self._ended += sum(seconds for one, seconds in self._alive.items() if one not in alive)
        self._seen += len(alive.keys() - self._alive.keys())
        self._alive = alive
        self._last = max(self._last, _last_number(), *(pid for pid, _ in alive), 0)
        unseen = max(0, self._last - 1 - self._seen)  # the first number is the supervisor's own
        return self._ended + sum(alive.values()) + SEEN_TOO_LATE * unseen


def _last_number() -> int:
    """Returns the last process number that this sandbox has given away, to a process or to a thread; 0 if unknown."""
    try:
        return int(Path("/proc/sys/kernel/ns_last_pid").read_bytes())
    except (OSError, ValueError):  # the kernel was built without it
        return 0


def _usage(account: _Account) -> _Usage:
    """Returns what the sandbox uses now, from one small file for each process: a part of a millisecond."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    used, ticks = _Usage(cpu=ended.ru_utime + ended.ru_stime, memory=_buffers()), os.sysconf("SC_CLK_TCK")
    alive = dict[tuple[int, int], float]()
    for process in _others():
        try:
            fields = _stat(process)
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has just ended
        used.cpu += sum(map(int, fields[11:15])) / ticks
        alive[int(process.name), int(fields[19])] = sum(map(int, fields[11:13])) / ticks
        used.processes += int(fields[17])
        used.memory += int(fields[21]) * resource.getpagesize()
    used.cpu = max(used.cpu, account.look(alive))
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


@dataclass(frozen=True)
class Work:
    """What the processes of a sandbox have used (CPU seconds), and what they wait for.

    One of them may be `ready`: it works, or waits for a CPU. `blocked` says that one waits where nothing can
    interrupt it: for a disk, or, as long as it likes, for a child made by `vfork`.
    """

    used: float
    ready: bool
    blocked: bool


def at_work(supervisor: int) -> Work | None:
    """Returns what the processes of a sandbox have done until now; None if unknown.

    Children that have ended, and were waited for, count with the process that has waited.
    Called from outside, with the process that `enter` has left as supervisor; the two supervisors do not count.
    """
    children = dict[int, list[tuple[int, int, bytes]]]()  # of each process: pid, ticks, state
    try:
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
                fields = _stat(process)
                entry = int(process.name), sum(map(int, fields[11:15])), fields[0]
                children.setdefault(int(fields[1]), []).append(entry)
    except OSError:
        return None
    below = [entry for inner, _, _ in children.get(supervisor, []) for entry in children.get(inner, [])]
    if not below:
        return None
    for pid, _, _ in below:  # grows while it is gone through
        below += children.get(pid, [])
    states = {state for _, _, state in below}
    return Work(sum(ticks for _, ticks, _ in below) / os.sysconf("SC_CLK_TCK"), b"R" in states, b"D" in states)
