"""What a Dask worker has of the grader: a plug-in that starts one process, and the task that hands it submissions.

Imports nothing of the grader that takes time: PyTorch and students' code are in that process, never in the Dask worker.
"""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from queue import SimpleQueue

from distributed import Worker, WorkerPlugin, get_worker, secede

from grading.folder import processes

NAME = "grading"  # of the plug-in, and of the resource that a worker with a grading process has
MORE = 2  # further submissions for each thread, while those whose students' processes stand still wait
STARTING = 300.0  # seconds for the process to import what it needs, on a busy machine


class RefusedError(RuntimeError):
    """This worker cannot grade; the message says why."""


class ReplacedError(RuntimeError):
    """Another run has given this worker other definitions."""


@dataclass(frozen=True)
class Definitions:
    """What one run grades with.

    `run` is a name of its own; `keys` are fingerprints of what marks depend on, by assignment, with that of the grader
    itself under ""; `packed` are masters and budget, which are opened only where the fingerprints agree.
    """

    run: str
    keys: Mapping[str, str]
    packed: bytes


class GradingProcess:
    """A process that grades, as `grading.autograder.cluster_process` says; used by many threads.

    Raises:
        RefusedError: when it cannot grade here.
    """

    def __init__(self, definitions: Definitions, workers: int) -> None:
        self._process, ours = processes.start(
            "grading.autograder.cluster_process",
            str(workers),
            start_new_session=True,  # Ctrl-C is for the Dask worker, which then ends this process
        )
        self._connection = Connection(ours.detach())
        self._lock, self._pending, self._alive = threading.Lock(), dict[int, SimpleQueue[bool | bytes | None]](), True
        self._last = 0
        self._listener = threading.Thread(target=self._listen, daemon=True)
        refused = self._set_up(pickle.dumps(dict(definitions.keys))) or self._set_up(definitions.packed)
        if refused:
            self._process.kill()
            self._process.wait()
            self._connection.close()
            raise RefusedError(refused)
        self._listener.start()

    def _set_up(self, message: bytes) -> str:
        """Returns "" when the process goes on after a message, else why it does not."""
        try:
            self._connection.send_bytes(message)
            if not self._connection.poll(STARTING):
                return f"its grading process was not ready after {STARTING:.0f} s."
            return str(self._connection.recv())
        except (EOFError, OSError):
            return "its grading process ended when it started; what it said stands in the worker's log."

    def ask(self, request: bytes) -> SimpleQueue[bool | bytes | None]:
        """Returns where the replies to a job arrive: see `cluster_process`; None when the process has ended."""
        replies = SimpleQueue[bool | bytes | None]()
        with self._lock:
            self._last += 1
            self._pending[self._last] = replies
            try:
                if not self._alive:
                    raise BrokenPipeError
                self._connection.send((self._last, request))
            except OSError:
                replies.put(None)
        return replies

    @property
    def alive(self) -> bool:
        """Whether it takes requests."""
        return self._alive

    def _listen(self) -> None:
        """Hands out the replies to requests, until the process ends."""
        with contextlib.suppress(EOFError, OSError):
            while True:
                number, reply = self._connection.recv()
                self._pending[number].put(reply)
                if not isinstance(reply, bool):
                    del self._pending[number]
        with self._lock:
            self._alive = False
            for replies in self._pending.values():
                replies.put(None)

    def close(self) -> None:
        """Ends the process; its children end with it."""
        self._process.kill()
        self._process.wait()
        self._listener.join()  # it has read to the end
        self._connection.close()


@dataclass(eq=False)
class GradingPlugin(WorkerPlugin):
    """Starts the process of a Dask worker that grades, when the worker starts or the run begins."""

    definitions: Definitions
    refused: str = field(default="", init=False)

    async def setup(self, worker: Worker) -> None:
        """Starts the process; a worker that cannot grade says why, and is given no submission."""
        self._lock, self._beside, self._threads = threading.Lock(), 0, worker.state.nthreads
        try:
            self._process = await asyncio.to_thread(self._started)
        except RefusedError as problem:
            self.refused = str(problem)
            print(f"this worker does not grade: {problem}", file=sys.stderr, flush=True)
        room = 0 if self.refused else (1 + MORE) * self._threads
        await worker.set_resources(**{NAME: room})

    def teardown(self, worker: Worker) -> None:
        """Ends the process."""
        if not self.refused:
            self._process.close()

    def _started(self) -> GradingProcess:
        return GradingProcess(self.definitions, self._threads)

    def grade(self, run: str, request: bytes) -> bytes:
        """Returns the pickled result of a job of a run. While its student's process stands still, others are begun.

        Raises:
            ReplacedError: when another run has this worker.
            RefusedError: when this worker cannot grade.
            RuntimeError: when its process died in the middle.
        """
        if run != self.definitions.run:
            raise ReplacedError("another run has taken over the workers of this cluster")
        if self.refused:
            raise RefusedError(self.refused)
        with self._lock:
            if not self._process.alive:  # it was killed, or nobody has asked it for long
                self._process.close()
                self._process = self._started()
            process = self._process
        replies, seceded = process.ask(request), False
        try:
            while isinstance(reply := replies.get(), bool):
                with self._lock:
                    go = reply and not seceded and self._beside < MORE * self._threads
                    self._beside += go
                if go:
                    seceded = True
                    secede()
        finally:
            with self._lock:
                self._beside -= seceded
        if reply is None:
            raise RuntimeError("the process that graded it died")
        return reply


def grade(run: str, request: bytes) -> bytes:
    """The task: returns what `GradingPlugin.grade` does, on the worker that it has come to."""
    plugin = get_worker().plugins.get(NAME)
    if not isinstance(plugin, GradingPlugin):
        raise ReplacedError("this worker has no definitions of this run")
    return plugin.grade(run, request)


def standing(dask_worker: Worker) -> str:
    """Returns "" for a worker that grades, else why it does not."""
    plugin = dask_worker.plugins.get(NAME)
    return plugin.refused if isinstance(plugin, GradingPlugin) else "it has no plug-in of this run."
