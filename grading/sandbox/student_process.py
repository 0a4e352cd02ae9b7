"""Ask an answer that runs in a student's own, locked-in process. The trusted side of the socket."""

from __future__ import annotations

import array
import contextlib
import math
import os
import signal
import socket
import time
from typing import Any

from grading.sandbox.fork_server import ForkServer, Message
from grading.sandbox.limits import Limits
from grading.sandbox.supervision import at_work
from helpers.checking import plain
from helpers.checking.answers import Ask, Reply
from helpers.checking.serve import ChannelError, ProcessEnded, decode_reply, receive, send

SLOWEST = 8.0  # a reply may take this many times its processor time, on a busy machine
STANDSTILL = 10.0  # seconds in which an asked process does nothing at all: then no reply will come
WAITING = 30.0  # the same for a cell, which may honestly wait: for a server that does not answer, or in a `sleep`
IDLE = 4.0  # a process that waits uses up a notebook's time too, this many times more slowly


class ForkServerClient:
    """Where students' processes come from: a server of one's own; a context manager that leaves none behind.

    Without a `fork_server` that runs already it starts one, with `protected` and `limits` as told.
    """

    def __init__(
        self, fork_server: ForkServer | None = None, *, protected: bool = True, limits: Limits | None = None
    ) -> None:
        self._own = None if fork_server else ForkServer(protected=protected, limits=limits)
        source = fork_server or self._own
        assert source is not None
        self._control = source.server()
        try:
            answer = self._control.recv(1)
        except OSError:
            answer = b""
        if answer != Message.READY:
            self.__exit__()
            raise ChannelError("the fork server did not start; its message stands above.")

    def __enter__(self) -> ForkServerClient:
        return self

    def __exit__(self, *problem: object) -> None:
        self._control.close()
        if self._own:
            self._own.close()

    def student(self) -> Student:
        """Returns a fresh process, as if a notebook's kernel had just started."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                socket.send_fds(self._control, [Message.NEW_STUDENT], [theirs.fileno()])
            (pid,) = array.array("q", _exactly(self._control, 8))
        except ChannelError:
            raise
        except OSError as problem:
            raise ChannelError("the fork server has ended") from problem
        return Student(ours, pid)


def _exactly(channel: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = channel.recv(size - len(data))
        if not part:
            raise ChannelError("the fork server has ended")
        data += part
    return data


class Student:
    """One student's process. After any `ChannelError` it is dead."""

    def __init__(self, channel: socket.socket, pid: int) -> None:
        self._channel, self.pid, self.cpu = channel, pid, 0.0
        self._start, self._ended = time.monotonic(), 0.0

    def used(self) -> float:
        """Returns the processor time that it has used, or a part of the time that it took, if that is more.

        What the process says of its processor time cannot be trusted; on a busy machine the time it took says little.
        """
        end = self._ended or time.monotonic()
        return max(self.cpu, (end - self._start) / IDLE)

    def close(self) -> float:
        """Ends the process and all that it has started; returns what it has used, as `used` does."""
        if not self._ended:  # later its number may be that of another process
            self._ended = time.monotonic()
            self._channel.close()
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)  # its supervisor: the kernel kills the rest
        return self.used()

    def _talk(self, message: Any, seconds: float, standstill: float = STANDSTILL) -> dict[str, Any]:
        start, seconds = time.monotonic(), max(0.1, seconds)
        try:
            self._channel.settimeout(seconds)
            send(self._channel, message)
            reply = receive(self._channel, seconds, _Standstill(self.pid, standstill).look)
        except OSError as problem:
            self.close()
            if isinstance(problem, ChannelError):
                raise
            raise ProcessEnded("its process has ended") from problem
        if not isinstance(reply, dict):
            self.close()
            raise ChannelError("its reply is not of the asked form")
        spent, took = reply.get("cpu"), time.monotonic() - start
        told = spent if isinstance(spent, float) and math.isfinite(spent) else 0.0
        self.cpu += min(max(told, took / SLOWEST), seconds)
        return reply

    def run(self, source: str, seconds: float) -> str:
        """Runs a cell; returns "" or the error in one sentence.

        Raises:
            ChannelError: when the cell ended the process, or took too long.
        """
        reply = self._talk({"cell": source, "seconds": seconds}, SLOWEST * seconds, WAITING)
        error = reply.get("error")
        return plain.clean(error[:400]) if isinstance(error, str) and reply.get("ok") is not True else ""

    def answer(self, name: str) -> RemoteAnswer:
        """Returns the answer with this name, to be asked."""
        return RemoteAnswer(self, name)


class _Standstill:
    """Notices that a process which was asked something sleeps, so that nobody waits for it as for one that works."""

    def __init__(self, pid: int, seconds: float) -> None:
        self._pid, self._seconds, self._since, self._before = pid, seconds, time.monotonic(), -1

    def look(self) -> None:
        """Raises ChannelError when the process has done nothing for a while. To be called about once in a second."""
        now, work = time.monotonic(), at_work(self._pid)
        if work is None or work[1] or work[0] != self._before:
            self._since, self._before = now, -1 if work is None else work[0]
        elif now - self._since > self._seconds:
            raise ChannelError("it waits, and does nothing")


class RemoteAnswer:
    """An `Answer` in a student's process. Whatever comes back, asking never raises: it gives a reply."""

    def __init__(self, student: Student, name: str) -> None:
        self._student, self._name, self.dead, self.ended = student, name, "", False

    def ask(self, question: Ask, seconds: float) -> Reply:
        """Returns the reply to one question, after at most about `seconds` of processor time."""
        if self.dead:
            return Reply("late", error=self.dead)
        request = {"ask": self._name, "question": question.encode(), "seconds": seconds}
        start = time.monotonic()
        try:
            return decode_reply(self._student._talk(request, SLOWEST * seconds))
        except ChannelError as problem:
            self.ended = isinstance(problem, ProcessEnded)
            self.dead = f"{problem} after {time.monotonic() - start:.0f} s"
            return Reply("late", error=self.dead)
        except plain.NotPlain as problem:
            return Reply("unreadable", error=f"the result cannot be read: {problem}")

    def spent(self) -> float:
        """Returns the processor time used so far, as the student's process tells it."""
        return self._student.cpu
