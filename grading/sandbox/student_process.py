"""Ask an answer that runs in a student's own, locked-in process. The trusted side of the socket."""

from __future__ import annotations

import array
import contextlib
import math
import os
import select
import signal
import socket
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from grading.sandbox.fork_server import ForkServer, Message
from grading.sandbox.limits import Limits
from grading.sandbox.serve import (
    GENUINE,
    GENUINE_OF_A_CELL,
    ChannelError,
    NoMessage,
    ProcessEnded,
    decode_reply,
    in_own_words,
    in_the_words_of_the_course,
    receive,
    send,
)
from grading.sandbox.supervision import at_work
from tutor.checking import plain
from tutor.checking.answers import UNREADABLE, Question, Reply
from tutor.checking.texts import one_line

SLOWEST = 8.0  # a reply may take this many times its CPU time, on a busy machine
STANDSTILL = 10.0  # seconds in which an asked process does next to nothing: then no reply will come
WAITING = 30.0  # the same for a cell, which may honestly wait: for a server that does not answer, or in a `sleep`
AT_WORK = 0.05  # the share of such a time for which a process must use a CPU, or want to use one
IDLE = 4.0  # a process that waits uses up a notebook's time too, this many times more slowly
NOTICED = 3.0  # seconds of hardly any work after which others may work in its place; of one that has waited before,
NOTICED_AGAIN = 1.0  # only so many
BLOCKED = 5.0  # seconds for which waiting for a disk counts as work
HALF = 0.5  # the share of such a time that is hardly any work


class ForkServerClient:
    """Where students' processes come from: a server of one's own; a context manager that leaves none behind.

    Without a `fork_server` that runs already it starts one, with `protected` and `limits` as given; in the place of one
    that has ended it starts another.

    Raises:
        ChannelError: when the one that it has started does not run.
    """

    def __init__(
        self, fork_server: ForkServer | None = None, *, protected: bool = True, limits: Limits | None = None
    ) -> None:
        self._own = None if fork_server else ForkServer(protected=protected, limits=limits)
        source = fork_server or self._own
        assert source
        control = _ready_server(source)
        if not control and not self._own:
            self._own = source.another()
            control = _ready_server(self._own)
        if not control:
            self._end_own()
            raise ChannelError("the fork server did not start; its message stands above.")
        self._control = control

    def __enter__(self) -> ForkServerClient:
        return self

    def __exit__(self, *problem: object) -> None:
        self._control.close()
        self._end_own()

    def _end_own(self) -> None:
        if self._own:
            self._own.close()

    def student(self, patience: Patience | None = None) -> Student:
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
        return Student(ours, pid, patience or Patience())


def _ready_server(source: ForkServer) -> socket.socket | None:
    """Returns the socket of a server that is ready, None when the process that forks servers has ended."""
    control = None
    try:
        control = source.server()
        if control.recv(1) == Message.READY:
            return control
    except OSError:
        pass
    if control:
        control.close()
    return None


def _exactly(channel: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = channel.recv(size - len(data))
        if not part:
            raise ChannelError("the fork server has ended")
        data += part
    return data


class Pace(Enum):
    """What a process that was asked something does: it works, or it stands still."""

    RUNNING = "works"
    IDLE = "waits"


@dataclass
class Patience:
    """How long the processes of one submission may still be waited for, in wall-clock seconds.

    Args:
        wall: for all replies together.
        idle: for all replies together, while the asked process waits for anything but a CPU; of one that works a
            part of the time, the rest of it counts.
        on_pace: called when a process has stood still for a moment, and when it works again or is no longer waited for.
        odd: what has come that the course's own code does not send, in one sentence each.
        has_waited: whether one of the processes has stood still for a moment.
    """

    wall: float = math.inf
    idle: float = math.inf
    on_pace: Callable[[Pace], None] = lambda pace: None
    odd: list[str] = field(default_factory=list)
    has_waited: bool = False

    def note(self, sentence: str) -> None:
        """Keeps one sentence for whoever looks after the class, once."""
        if sentence not in self.odd:
            self.odd.append(sentence)


class Student:
    """One student's process. After any `ChannelError` it is dead."""

    def __init__(self, channel: socket.socket, pid: int, patience: Patience) -> None:
        self._channel, self.pid, self.patience, self.cpu = channel, pid, patience, 0.0
        self._start, self._ended = time.monotonic(), 0.0
        self.defaults = set[
            str
        ]()  # of PyTorch, "dtype" and "device": those that a cell has set, and that were put back

    def used(self) -> float:
        """Returns the CPU time that it has used, or a part of the time that it took, if that is more.

        What the process reports of its CPU time cannot be trusted; on a busy machine the time it took says little.
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

    def _talk(self, message: Any, seconds: float, standstill: float) -> dict[str, Any]:
        """Returns the reply to a message; raises ChannelError, and ends the process, when there is none in time."""
        if self._ended:
            raise ProcessEnded("its process has ended")
        start, most = time.monotonic(), max(0.1, min(seconds, self.patience.wall))
        watch = _Standstill(self.pid, standstill, self.patience)
        try:
            self._refuse_early_replies()
            send(self._channel, message, most, watch.look)
            reply = receive(self._channel, most, watch.look)
            if not isinstance(reply, dict):
                raise NoMessage("it has sent a reply that is not of the asked form")
        except OSError as problem:
            self.close()
            if isinstance(problem, NoMessage):
                self.patience.note(f"{problem}, which no process does that is not made to")
            if isinstance(problem, ChannelError):
                raise
            raise ProcessEnded("its process has ended") from problem
        finally:
            took = time.monotonic() - start
            self.patience.wall -= took
            watch.end()
        spent = reply.get("cpu")
        reported = spent if isinstance(spent, float) and math.isfinite(spent) else 0.0
        self.cpu += min(max(reported, took / SLOWEST, watch.cpu), max(0.1, seconds))
        return reply

    def _refuse_early_replies(self) -> None:
        """Raises NoMessage when the process has sent something before it was asked."""
        ready, _, _ = select.select([self._channel], [], [], 0)
        if ready and self._channel.recv(1, socket.MSG_PEEK):
            raise NoMessage("it has sent a reply before it was asked")

    def run(self, source: str, seconds: float) -> str:
        """Runs a cell; returns "" or the error in one sentence.

        Raises:
            ChannelError: when the cell ended the process, or took too long.
        """
        reply = self._talk({"cell": source, "seconds": seconds}, SLOWEST * seconds, WAITING)
        if set(reply) != GENUINE_OF_A_CELL:
            self.patience.note("a reply to a cell is not one that the course's own code sends")
        if isinstance(defaults := reply.get("defaults"), list):
            self.defaults |= {name for name in ("dtype", "device") if name in defaults}
        error = reply.get("error")
        return one_line(error) if isinstance(error, str) and reply.get("ok") is not True else ""

    def put(self, file: str, data: str) -> str:
        """Writes a file where the process is at work, from its content in base64; returns "" or the error.

        Raises:
            ChannelError: when the process has ended, or took too long.
        """
        reply = self._talk({"file": file, "data": data}, WAITING, STANDSTILL)
        return "" if reply.get("ok") is True else one_line(str(reply.get("error")))

    def answer(self, name: str) -> RemoteAnswer:
        """Returns the answer with this name, to be asked."""
        return RemoteAnswer(self, name)


class _Standstill:
    """Notices that a process which was asked something hardly works, so that nobody waits for it as for one that does.

    Of the last `seconds` its processes must have used, or waited for, a CPU in a share of `AT_WORK`.
    """

    def __init__(self, pid: int, seconds: float, patience: Patience) -> None:
        self._pid, self._seconds, self._patience, self.cpu = pid, seconds, patience, 0.0
        self._looks = deque[tuple[float, float]]()  # of each look: when, and the seconds of work since the one before
        self._start = self._last = time.monotonic()
        self._used, self._blocked, self._reported_idle = -1.0, 0.0, False

    def look(self) -> None:
        """Raises ChannelError when the process has done next to nothing for a while. To be called each second or so."""
        now, work = time.monotonic(), at_work(self._pid)
        passed, self._last = now - self._last, now
        if work is None or self._used < 0:  # the first look, or none could be taken: it counts as work
            done = passed
        else:
            used = max(0.0, work.used - self._used)
            self.cpu += used
            # A disk may be slow, and a machine short of memory; but nobody is waited for who uses nothing for long.
            self._blocked = 0.0 if used >= AT_WORK * passed else self._blocked + passed
            ready = work.ready or (work.blocked and self._blocked < BLOCKED)
            done = passed if ready else min(used, passed)
        self._used = -1.0 if work is None else work.used
        self._looks.append((now, done))
        self._patience.idle -= passed - done
        noticed = NOTICED_AGAIN if self._patience.has_waited else NOTICED
        if now - self._start >= noticed and self._done(now - noticed) < HALF * noticed:
            if not self._reported_idle:
                self._reported_idle = self._patience.has_waited = True
                self._patience.on_pace(Pace.IDLE)
        else:
            self.end()
        while self._looks[0][0] < now - self._seconds:
            self._looks.popleft()
            if self._done(0) < AT_WORK * self._seconds:
                raise ChannelError("it waits, and does nothing")
        if done < passed and self._patience.idle <= 0:
            raise ChannelError("it waits, and the cells and answers before it have done so too,")

    def _done(self, since: float) -> float:
        """Returns the seconds of work that the looks after a moment have seen."""
        return sum(done for when, done in self._looks if when > since)

    def end(self) -> None:
        """Reports that the process is no longer waited for, where the opposite was reported."""
        if self._reported_idle:
            self._reported_idle = False
            self._patience.on_pace(Pace.RUNNING)


class RemoteAnswer:
    """An `Answer` in a student's process. Whatever comes back, asking never raises: it gives a reply."""

    def __init__(self, student: Student, name: str) -> None:
        self._student, self._name, self.dead, self.ended = student, name, "", False
        self._made_up: Reply | None = None  # a reply that no genuine process sends: then no more questions are asked

    @property
    def out_of_step(self) -> bool:
        """Whether a reply was made up: the process may answer no question any more, or answer an earlier one."""
        return self._made_up is not None

    def ask(self, question: Question, seconds: float) -> Reply:
        """Returns the reply to one question, after at most about `seconds` of CPU time."""
        if self.dead:
            return Reply("late", error=self.dead)
        if self._made_up is not None:
            return self._made_up
        request = {"ask": self._name, "question": question.encode(), "seconds": seconds}
        start = time.monotonic()
        try:
            data = self._student._talk(request, SLOWEST * seconds, STANDSTILL)
            if set(data) != GENUINE:
                self._note("it has other parts")
            reply = decode_reply(data)
            if not in_the_words_of_the_course(reply):
                self._note("it says what no check says")
            return in_own_words(reply)
        except ChannelError as problem:
            self.ended = isinstance(problem, ProcessEnded)
            self.dead = f"{problem} after {time.monotonic() - start:.0f} s"
            return Reply("late", error=self.dead)
        except plain.NotPlain as problem:  # a genuine reply was read once where it was made
            self._note(str(problem))
            self._made_up = Reply("unreadable", error=f"{UNREADABLE}{problem}")
            return self._made_up

    def _note(self, reason: str) -> None:
        self._student.patience.note(f"a reply to {self._name} is not one that the course's own code sends: {reason}")

    def spent(self) -> float:
        """Returns the CPU time used so far, as the student's process reports it."""
        return self._student.cpu
