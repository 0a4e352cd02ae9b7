"""Ask an answer that runs in a student's own, locked-in process. The trusted side of the socket."""

from __future__ import annotations

import array
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from typing import Any

from helpers.checking import plain
from helpers.checking.answers import Ask, Reply
from helpers.checking.serve import ChannelError, decode_reply, receive, send

SLOWEST = 8.0  # a reply may take this many times its processor time, on a busy machine


class Students:
    """A fork server and the students' processes that it has made; a context manager that leaves none behind."""

    def __init__(self, *, protected: bool = True) -> None:
        ours, theirs = socket.socketpair()
        mode = "protected" if protected else "unprotected"
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-m", "grading.forkserver", str(theirs.fileno()), mode],
            pass_fds=[theirs.fileno()],
            env={"PATH": "/usr/bin:/bin", "HOME": "/home/student", "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1"},
            cwd="/",
            stdin=subprocess.DEVNULL,
        )
        theirs.close()
        self._control = ours
        if ours.recv(1) != b"r":
            raise ChannelError("the fork server did not start; its message stands above.")

    def __enter__(self) -> Students:
        return self

    def __exit__(self, *problem: object) -> None:
        self._control.close()
        self._process.kill()
        self._process.wait()

    def student(self) -> Student:
        """Returns a fresh process, as if a notebook's kernel had just started."""
        ours, theirs = socket.socketpair()
        socket.send_fds(self._control, [b"f"], [theirs.fileno()])
        theirs.close()
        (pid,) = array.array("q", _exactly(self._control, 8))
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

    def close(self) -> None:
        """Ends the process and all that it has started."""
        self._channel.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)  # its supervisor: the kernel kills the rest

    def _talk(self, message: Any, seconds: float) -> dict[str, Any]:
        try:
            self._channel.settimeout(max(0.1, seconds))
            send(self._channel, message)
            reply = receive(self._channel)
        except OSError as problem:
            self.close()
            if isinstance(problem, ChannelError):
                raise
            raise ChannelError("its process has ended") from problem
        if not isinstance(reply, dict):
            self.close()
            raise ChannelError("its reply is not of the asked form")
        spent = reply.get("cpu")
        self.cpu += min(max(spent, 0.0), seconds) if isinstance(spent, float) else 0.0
        return reply

    def run(self, source: str, seconds: float) -> str:
        """Runs a cell; returns "" or the error in one sentence.

        Raises:
            ChannelError: when the cell ended the process, or took too long.
        """
        reply = self._talk({"cell": source, "seconds": seconds}, SLOWEST * seconds)
        error = reply.get("error")
        return error[:400] if isinstance(error, str) and reply.get("ok") is not True else ""

    def answer(self, name: str) -> RemoteAnswer:
        """Returns the answer with this name, to be asked."""
        return RemoteAnswer(self, name)


class RemoteAnswer:
    """An `Answer` in a student's process. Whatever comes back, asking never raises: it gives a reply."""

    def __init__(self, student: Student, name: str) -> None:
        self._student, self._name, self.dead = student, name, ""

    def ask(self, question: Ask, seconds: float) -> Reply:
        """Returns the reply to one question, after at most about `seconds` of processor time."""
        if self.dead:
            return Reply("late", error=self.dead)
        request = {"ask": self._name, "question": question.encode(), "seconds": seconds}
        start = time.monotonic()
        try:
            return decode_reply(self._student._talk(request, SLOWEST * seconds))
        except ChannelError as problem:
            self.dead = f"{problem} after {time.monotonic() - start:.0f} s"
            return Reply("late", error=self.dead)
        except plain.NotPlain as problem:
            return Reply("unreadable", error=f"the result cannot be read: {problem}")

    def spent(self) -> float:
        """Returns the processor time used so far, as the student's process tells it."""
        return self._student.cpu
