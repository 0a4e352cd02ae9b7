"""Processes that grade one submission after another. One that dies costs nobody but the submission it was at."""

from __future__ import annotations

import contextlib
import os
import signal
from collections import deque
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait

import torch

from grading import exercise as exercises
from grading import sandbox
from grading.autograder.grade_submission import Budget, Graded, grade
from grading.autograder.submission import Master, Work
from grading.sandbox.fork_server import ForkServer
from grading.sandbox.student_process import ForkServerClient
from helpers.checking.serve import ChannelError

TRIES = 3  # a submission whose worker dies this often could not be graded
WORKER_BYTES = 2 << 30  # of memory that a worker may take; the student's processes have a limit of their own


@dataclass(eq=False)
class Job:
    """One submission that is to be graded; `key` is the fingerprint of all that its mark depends on."""

    assignment: str
    student: str
    work: Work
    key: str
    deaths: int = 0  # of workers that were at it


@dataclass(frozen=True)
class Context:
    """What every worker has from its start."""

    fork_server: ForkServer
    masters: Mapping[str, Master]
    budget: Budget


class _Worker:
    """A forked process, and the job it is at."""

    def __init__(self, context: Context) -> None:
        forking = get_context("fork")
        self.pipe, theirs = forking.Pipe()
        self._process = forking.Process(target=_work, args=(theirs, os.getpid(), context))
        self._process.start()
        theirs.close()  # so that the pipe ends when the process does

    def start(self, job: Job) -> None:
        """Gives it a job."""
        self.job = job
        with contextlib.suppress(BrokenPipeError):  # it has just died, which `result` finds
            self.pipe.send((job.assignment, job.student, job.work))

    def result(self) -> Graded | str | None:
        """Returns what became of its job, a sentence when the examiner stopped; None when the process has died."""
        try:
            result: Graded | str = self.pipe.recv()
        except (EOFError, OSError):
            return None
        return result

    def end(self) -> None:
        """Ends the process, whatever it is doing."""
        self.pipe.close()
        self._process.kill()
        self._process.join()


def _work(pipe: Connection, run: int, context: Context) -> None:
    """Grades what comes over the pipe, in a fork server of its own, until it is killed."""
    sandbox.die_with(run)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the run, which then ends its workers
    sandbox.limit_growth(WORKER_BYTES)
    torch.set_num_threads(1)
    students: ForkServerClient | None = None
    while True:
        assignment, student, work = pipe.recv()
        for again in (False, True):  # a server that has ended is started again, once
            try:
                students = students or ForkServerClient(context.fork_server)
                known = exercises.load(assignment)
                pipe.send(grade(students, context.masters[assignment], work, known, student, context.budget))
                break
            except Exception as problem:  # noqa: BLE001 - whatever it is: it is told, and the next one is graded
                if again or not isinstance(problem, ChannelError):
                    pipe.send(f"the examiner stopped with {type(problem).__name__}: {problem}"[:300])
                    break
                if students:
                    students.__exit__()
                students = None


def grade_all(jobs: Iterable[Job], workers: int, context: Context) -> Generator[tuple[Job, Graded | str]]:
    """Yields each job with its grading, or with a sentence on why there is none, as they come.

    Whatever ends this generator, Ctrl-C or a gradebook that cannot be written, ends the workers at once.
    """
    waiting, idle, busy = deque(jobs), list[_Worker](), list[_Worker]()

    def start_waiting() -> None:
        while waiting and len(busy) < workers:
            busy.append(idle.pop() if idle else _Worker(context))
            busy[-1].start(waiting.popleft())

    try:
        start_waiting()
        while busy:
            ready = wait([worker.pipe for worker in busy])
            for worker in [worker for worker in busy if worker.pipe in ready]:
                busy.remove(worker)
                job, result = worker.job, worker.result()
                if result is None:
                    worker.end()
                    job.deaths += 1
                    if job.deaths < TRIES:
                        waiting.append(job)
                    else:
                        result = f"its worker died {TRIES} times"
                else:
                    idle.append(worker)
                start_waiting()
                if result is not None:
                    yield job, result
    finally:
        for worker in (*idle, *busy):
            worker.end()
