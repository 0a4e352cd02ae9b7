"""Processes that grade one submission after another. One that dies costs nobody but the submission it was at."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path

import torch

from grading import sandbox
from grading.autograder.drawn_sets import DrawnSets
from grading.autograder.grade_submission import Budget, Graded, grade
from grading.autograder.submission import Master, Work
from grading.definitions import exercise as exercises
from grading.folder.errors import CourseError
from grading.notebooks.cells import exercise_of, kind, settings
from grading.sandbox.fork_server import ForkServer
from grading.sandbox.serve import ChannelError
from grading.sandbox.student_process import ForkServerClient, Pace
from tutor.checking import plain
from tutor.checking.recipes import models_in

TRIES = 3  # a submission whose worker dies this often could not be graded
LOOK = 2.0  # seconds between two looks at how long the workers have been at it
# A worker whose submission costs the examiner more than this is ended with it. What is read is limited in
# `grade_submission`, so this is for what no alarm stops: a library's function that runs for minutes.
EXAMINER_SECONDS = 120.0  # of CPU time
AT_LEAST = 600.0  # wall-clock seconds that a submission always has, however busy the machine is
MORE = 2  # workers for each one, while those whose students' processes stand still wait
WORKER_BYTES = 2 << 30  # of memory that a worker may take; the student's processes have a limit of their own


@dataclass(eq=False)
class Job:
    """One submission that is to be graded: `key` is the fingerprint of all that its mark depends on.

    Its questions are drawn from `seed`; `beside` are the files that record which attempt of the student it is. In the
    process of a cluster's worker, which writes no marks, it has the `number` of its request, and no `key`.
    """

    assignment: str
    student: str
    work: Work
    key: str
    seed: str
    beside: Mapping[str, bytes] = field(default_factory=dict)
    number: int = 0
    deaths: int = 0  # of workers that were at it

    @property
    def questions(self) -> tuple[str, str]:
        """Which questions it meets: to draw them may take longer than to grade it."""
        return self.assignment, self.seed

    def after_death(self) -> str | None:
        """Counts the death of a worker that was at it; returns why it is not tried again, None when it is."""
        self.deaths += 1
        return None if self.deaths < TRIES else f"its worker died {TRIES} times"


@dataclass(frozen=True)
class Context:
    """What every worker has from its start."""

    fork_server: ForkServer
    masters: Mapping[str, Master]
    budget: Budget
    sets: DrawnSets = field(default_factory=DrawnSets)


def prepare(fork_server: ForkServer, assignments: Iterable[str], sets: DrawnSets) -> None:
    """Makes what takes seconds once here, and not in each worker: exercises, what all are asked, and their models."""
    torch.set_num_threads(1)  # a fork of a process that has used two threads would hang
    names = list(assignments)
    for name in names:
        sets.draw(name)
    known = [exercise for name in names for exercise in exercises.load(name).values()]
    asks = [case.ask for one in known for stage in one.everybodys().stages for case in stage.cases]
    given = [[ask.inputs, ask.keywords, ask.build, ask.weights, ask.follow_up] for ask in asks]
    fork_server.make_models([plain.encode(recipe) for recipe in models_in(given)])


def refuse_unbuilt(master: Master) -> None:
    """Raises CourseError when a notebook's checks do not carry the points that their exercises have."""
    defined = exercises.load(master.assignment)
    for cell in master.notebook.cells:
        if kind(cell) == "check":
            name, points = exercise_of(cell), float(settings(cell).get("points", 0))
            known = defined[name].points if name in defined else None
            if known is None or abs(known - points) > 1e-9:
                has = "is defined no more" if known is None else f"has {known:g} points"
                raise CourseError(
                    f"{name} {has} in grading/exercises/, and {points:g} points in the notebook {master.assignment}; "
                    f"nothing was graded. Make the notebook anew (python -m grading build {master.assignment})."
                )


class _Queue:
    """The jobs that wait. Those that meet the same questions go to one worker, as far as this keeps all at work.

    So a class draws each question about once, however many workers there are.
    """

    def __init__(self, jobs: Iterable[Job] = ()) -> None:
        self._jobs = dict[tuple[str, str], deque[Job]]()
        self.add(*jobs)

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def add(self, *jobs: Job) -> None:
        """Has jobs wait behind the others."""
        for job in jobs:
            self._jobs.setdefault(job.questions, deque()).append(job)

    def next(self, drawn: Collection[tuple[str, str]], others: Collection[tuple[str, str]]) -> Job:
        """Returns the job for a worker that has `drawn` these questions; other workers have drawn the `others`.

        Where all wait for what others have drawn, it is one with the questions for which most wait.
        """
        known = [questions for questions in self._jobs if questions in drawn]
        fresh = [questions for questions in self._jobs if questions not in others]
        chosen = next(iter(known or fresh), None) or max(self._jobs, key=lambda one: len(self._jobs[one]))
        job = self._jobs[chosen].popleft()
        if not self._jobs[chosen]:
            del self._jobs[chosen]
        return job


class _Worker:
    """A forked process, the job it is at, and the questions that it has drawn."""

    def __init__(self, context: Context) -> None:
        self.drawn = set[tuple[str, str]]()
        forking = get_context("fork")
        self.pipe, theirs = forking.Pipe()
        self._process = forking.Process(target=_work, args=(theirs, os.getpid(), context))
        self._process.start()
        theirs.close()  # so that the pipe ends when the process does

    def start(self, job: Job) -> None:
        """Gives it a job."""
        self.job, self.pace = job, Pace.RUNNING
        self.drawn.add(job.questions)
        self._since, self._cpu = time.monotonic(), self._used()
        with contextlib.suppress(BrokenPipeError):  # it has just died, which `result` finds
            self.pipe.send((job.assignment, job.seed, job.work))

    def result(self) -> Graded | str | Pace | None:
        """Returns what became of its job, a sentence when the examiner stopped; None when the process has died.

        A pace is no result: the student's process stands still now, or does so no longer.
        """
        try:
            result: Graded | str | Pace = self.pipe.recv()
        except (EOFError, OSError):
            return None
        return result

    @staticmethod
    def is_fit(result: Graded | str | None) -> bool:
        """Says whether a worker with this result can grade on."""
        return isinstance(result, str) or (result is not None and not result.expensive)

    def overdue(self, wall: float) -> str:
        """Returns "" or why its job must be broken off: it has taken `wall` seconds, or too much CPU time."""
        if self._used() - self._cpu > EXAMINER_SECONDS:
            return f"its replies cost the examiner more than {EXAMINER_SECONDS:.0f} s to read; look at the submission"
        if time.monotonic() - self._since > wall:
            return f"it was not graded after {wall:.0f} s; grade it again by itself, and look at the submission"
        return ""

    def _used(self) -> float:
        """Returns the CPU seconds of the process; 0 where they are unknown."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_bytes().rpartition(b")")[2].split()
        except OSError:  # it has just ended, or this is not Linux
            return 0.0
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """Ends the process, whatever it is doing."""
        self._process.kill()
        self._process.join()
        self.pipe.close()


def _work(pipe: Connection, run: int, context: Context) -> None:
    """Grades what comes over the pipe, in a fork server of its own, until it is killed."""
    sandbox.die_with(run)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the run, which then ends its workers
    sandbox.limit_growth(WORKER_BYTES)
    torch.set_num_threads(1)
    gc.freeze()  # what it shares with the run is no garbage, and to look through it would copy its pages
    students: ForkServerClient | None = None
    while True:
        assignment, seed, work = pipe.recv()
        for again in (False, True):  # a server that has ended is started again, once
            try:
                students = students or ForkServerClient(context.fork_server)
                pipe.send(_graded(students, context, assignment, work, seed, pipe.send))
                break
            except Exception as problem:  # noqa: BLE001 - whatever it is: it is reported, and the next one is graded
                if again or not isinstance(problem, ChannelError):
                    pipe.send(f"the examiner stopped with {type(problem).__name__}: {problem}"[:300])
                    break
                if students:
                    students.__exit__()
                students = None


def _graded(  # noqa: PLR0913 - a job's parts
    students: ForkServerClient,
    context: Context,
    assignment: str,
    work: Work,
    seed: str,
    on_pace: Callable[[Pace], None],
) -> Graded:
    """Grades a submission; draws its questions where that was not done, and keeps what is found out of mistakes."""
    start = time.perf_counter()
    context.sets.draw(assignment, seed)
    drawn, known = time.perf_counter() - start, exercises.load(assignment)
    graded = grade(students, context.masters[assignment], work, known, seed, context.budget, on_pace)
    start = time.perf_counter()
    context.sets.keep(assignment, seed)
    graded.seconds["drawing"] = drawn + time.perf_counter() - start
    return graded


class Pool:
    """Workers that grade what they are given; a context manager that leaves none behind.

    Args:
        workers: how many of them work at once; more are started while some students' processes stand still.
        context: what every worker has from its start.
        on_pace: is called when a job's student's process stands still, and when it does so no longer.
    """

    def __init__(
        self, workers: int, context: Context, on_pace: Callable[[Job, Pace], None] = lambda job, pace: None
    ) -> None:
        self._workers, self._context, self._on_pace = workers, context, on_pace
        self._waiting, self._idle, self._busy = _Queue(), list[_Worker](), list[_Worker]()
        self._wall = AT_LEAST + 2 * context.budget.wall

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *problem: object) -> None:
        for worker in (*self._idle, *self._busy):
            worker.end()

    @property
    def at_work(self) -> bool:
        """Whether any job is not done."""
        return bool(self._busy)

    def add(self, *jobs: Job) -> None:
        """Takes jobs; those that meet the same questions are begun together."""
        self._waiting.add(*jobs)
        self._start_waiting()

    def results(self, also: Sequence[Connection] = ()) -> list[tuple[Job, Graded | str]]:
        """Waits until a worker has something to report, or one of `also` has; returns what has been graded by then.

        A job comes with its grading, or with a sentence on why there is none.
        """
        ready, done = wait([*also, *(worker.pipe for worker in self._busy)], LOOK), list[tuple[Job, Graded | str]]()
        for worker in list(self._busy):
            result = worker.result() if worker.pipe in ready else worker.overdue(self._wall) or worker.pace
            if isinstance(result, Pace):
                if result is not worker.pace:
                    self._on_pace(worker.job, result)
                worker.pace = result
                self._start_waiting()
                continue
            self._busy.remove(worker)
            job = worker.job
            if worker.pipe in ready and worker.is_fit(result):
                self._idle.append(worker)
            else:  # it has died, or was broken off in the middle of something
                worker.end()
            settled = job.after_death() if result is None else result
            if settled is None:
                self._waiting.add(job)
            else:
                done.append((job, settled))
            self._start_waiting()
        return done

    def _start_waiting(self) -> None:
        while (
            self._waiting
            and sum(one.pace is Pace.RUNNING for one in self._busy) < self._workers
            and len(self._busy) < self._workers * (1 + MORE)
        ):
            others = {one for worker in (*self._idle[:-1], *self._busy) for one in worker.drawn}
            worker = self._idle.pop() if self._idle else _Worker(self._context)
            worker.start(self._waiting.next(worker.drawn, others))
            self._busy.append(worker)


def grade_all(jobs: Iterable[Job], workers: int, context: Context) -> Generator[list[tuple[Job, Graded | str]]]:
    """Yields the jobs with their gradings, or with a sentence on why there is none, as they come: all that are there.

    Whatever ends this generator, Ctrl-C or a gradebook that cannot be written, ends the workers at once.
    """
    with Pool(workers, context) as pool:
        pool.add(*jobs)
        while pool.at_work:
            if done := pool.results():
                yield done
