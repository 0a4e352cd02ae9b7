"""Grade on the workers of a Dask cluster: what the local pool does, on other machines.

Answers and seeds go out, verdicts come back; the gradebook, names and the course's secret stay here. How workers are
started, and what protects what, is in docs/cluster.md.
"""

from __future__ import annotations

import logging
import pickle
import sys
import time
import uuid
from collections.abc import Generator, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any

from distributed import Client, Future
from distributed.scheduler import KilledWorker

from grading.autograder.cluster_plugin import NAME, Definitions, GradingPlugin, ReplacedError, grade, standing
from grading.autograder.fingerprint import environment_key, protocol_key
from grading.autograder.grade_submission import Budget, Graded
from grading.autograder.pool import TRIES, Job
from grading.autograder.submission import Master
from grading.folder.errors import CourseError
from grading.folder.text import one_line
from grading.notebooks.cells import kind

CONNECT = 20.0  # seconds in which a scheduler must answer
NO_WORKER = 600.0  # seconds to wait for a worker that grades: a queue of jobs may start none for a while
LOOK = 5.0  # seconds between two looks at how many workers there are
AHEAD = 2  # submissions on their way for each thread of a worker, so that none waits for the next
LOST = (OSError, TimeoutError, CancelledError)  # what Dask raises when the scheduler is gone


def definitions(masters: Mapping[str, Master], budget: Budget) -> Definitions:
    """Returns what workers need of a course: the cells that are run and checked, and no solution."""
    keys = {"": protocol_key()} | {name: environment_key(name) for name in masters}
    return Definitions(uuid.uuid4().hex, keys, pickle.dumps(({n: _bare(m) for n, m in masters.items()}, budget)))


def _bare(master: Master) -> Master:
    """Returns a master without what no grading looks at: text, experiments, figures."""
    notebook = master.notebook.copy()
    notebook.cells = [cell.copy() for cell in notebook.cells if kind(cell)]
    for cell in notebook.cells:
        cell.pop("outputs", None)
    return Master(master.assignment, notebook)


class Cluster:
    """The workers of a cluster, ready to grade; a context manager that leaves none of our processes on them.

    Args:
        address: of the scheduler, "tcp://host:8786" or "tls://host:8786", or the path of its scheduler file (.json).
        plugin: what each worker gets.

    Raises:
        CourseError: when there is no scheduler, or none of its workers can grade.
    """

    def __init__(self, address: str, plugin: GradingPlugin) -> None:
        self._address, self._run = address, plugin.definitions.run
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what a lost connection means is explained below
        for name in ("client", "core", "comm"):
            logging.getLogger(f"distributed.{name}").setLevel(logging.CRITICAL)
        where: dict[str, Any] = {"scheduler_file": address} if address.endswith(".json") else {"address": address}
        try:
            if "scheduler_file" in where:
                Path(address).read_bytes()  # Dask would wait for it, for ever
            self._client = Client(**where, timeout=CONNECT, set_as_default=False, name="grading")
        except (OSError, TimeoutError, TypeError, ValueError, RuntimeError) as problem:  # TypeError: no TLS keys
            raise CourseError(
                f"no Dask scheduler answers at {address} ({one_line(str(problem), 200)}). Nothing was graded; start "
                "it: docs/cluster.md."
            ) from problem
        try:
            self._prepare(plugin)
        except BaseException:
            self._end()
            raise

    def _prepare(self, plugin: GradingPlugin) -> None:
        """Waits for workers, and has each start its process."""
        try:
            if not self._client.nthreads():
                print(f"waiting for a worker of {self._address}", file=sys.stderr)
                self._client.wait_for_workers(1, timeout=NO_WORKER)
            self._client.register_plugin(plugin, name=NAME)
            refused = self._refused()
        except LOST as problem:
            raise CourseError(
                f"the scheduler at {self._address} has no worker, or was lost: {one_line(str(problem), 200)} Nothing "
                "was graded; start workers, and run the same command again."
            ) from problem
        except (ImportError, AttributeError) as problem:
            raise CourseError(
                f"a worker of {self._address} cannot open what it is sent ({problem}). Nothing was graded; scheduler "
                "and workers need the environment of this course, see docs/cluster.md."
            ) from problem
        self._slots, self._looked, self._seen = self._count_slots(), time.monotonic(), time.monotonic()
        if not self._slots:
            raise CourseError(
                f"no worker of {self._address} can grade: {next(iter(refused.values()), 'all of them have ended.')} "
                "Nothing was graded."
            )

    def _refused(self) -> dict[str, str]:
        """Returns why workers do not grade, by address, and prints it."""
        states: dict[str, Any] = self._client.run(standing, on_error="return")
        refused = {address: str(reason) for address, reason in states.items() if reason}
        for address, reason in refused.items():
            print(f"the worker at {address} does not grade: {reason}", file=sys.stderr)
        return refused

    def _count_slots(self) -> int:
        """Returns how many submissions the workers grade at once."""
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        return sum(int(one["nthreads"]) for one in workers if one["resources"].get(NAME))

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _end(self) -> None:
        try:
            if self._client.status == "running":
                self._client.unregister_worker_plugin(NAME)
        except LOST:
            print(f"the scheduler at {self._address} is gone; its workers end by themselves.", file=sys.stderr)
        finally:
            self._client.close(CONNECT)

    def grade_all(self, jobs: Iterable[Job]) -> Generator[list[tuple[Job, Graded | str]]]:
        """Yields the jobs with their gradings, or with a sentence on why there is none: all that have come.

        Only a few jobs for each worker are taken and sent at a time. Those of a worker that dies are graded by others.

        Raises:
            CourseError: when the scheduler is lost, no worker is left, or another run has taken them over.
        """
        flying = _Flying(self._client, self._run)
        waiting, suspects = iter(jobs), list[Job]()
        try:
            while True:
                while len(flying) < max(1, AHEAD * self._slots) and (job := next(waiting, None)):
                    with self._kept():
                        flying.send(job)
                if not flying and suspects:
                    with self._kept():
                        flying.send(suspects.pop())  # alone: whatever worker dies now, it dies of this
                if not flying:
                    return
                with self._kept():
                    landed = flying.landed(LOOK)
                    self._look()
                done = list[tuple[Job, Graded | str]]()
                for job, result in landed:
                    if isinstance(result, KilledWorker) and not job.deaths:
                        suspects.append(job)
                    settled = _settled(job, result)
                    if settled is not None:
                        done.append((job, settled))
                if done:
                    yield done
        finally:
            flying.cancel()

    def _look(self) -> None:
        """Counts the workers, now and then.

        Raises:
            CourseError: when there has been none for long.
        """
        now = time.monotonic()
        if now > self._looked + LOOK:
            self._looked, self._slots = now, self._count_slots()
            self._seen = now if self._slots else self._seen
        if now > self._seen + NO_WORKER:
            raise CourseError(
                f"no worker of {self._address} is left. What was graded is kept; run the same command again to go on."
            )

    @contextmanager
    def _kept(self) -> Iterator[None]:
        """Raises CourseError when the scheduler is lost meanwhile."""
        try:
            yield
        except LOST as problem:
            raise CourseError(
                f"the scheduler at {self._address} was lost. What was graded is kept; start it, and run the same "
                "command again to go on."
            ) from problem


def _settled(job: Job, result: Graded | str | Exception) -> Graded | str | None:
    """Returns the result of a job or why it has none; None when it is to be tried again."""
    if isinstance(result, KilledWorker):
        again, job.deaths = not job.deaths, job.deaths + result.allowed_failures + 1
        return None if again else f"its worker died {job.deaths} times; look at the submission, and grade it by itself"
    if isinstance(result, ReplacedError):
        raise CourseError(f"{result}. What was graded is kept; run the same command again when that one has ended.")
    return f"its worker stopped with {one_line(repr(result))}" if isinstance(result, Exception) else result


class _Flying:
    """The jobs that are on their way, as Dask's futures."""

    def __init__(self, client: Client, run: str) -> None:
        self._client, self._run, self._sent = client, run, 0
        self._jobs, self._done = dict[Future[Any], Job](), SimpleQueue[Future[Any]]()

    def __len__(self) -> int:
        return len(self._jobs)

    def send(self, job: Job) -> None:
        """Sends one job. Neither student nor answers are in its key, which Dask's pages show."""
        self._sent += 1
        request = pickle.dumps((job.assignment, job.seed, job.work))
        key = f"{NAME}-{self._run}-{self._sent}"
        future = self._client.submit(
            grade, self._run, request, key=key, resources={NAME: 1}, retries=TRIES - 1, pure=False
        )
        self._jobs[future] = job
        future.add_done_callback(self._done.put)

    def landed(self, seconds: float) -> list[tuple[Job, Graded | str | Exception]]:
        """Returns the jobs that are done by now with what became of them; waits at most so long for the first.

        Raises:
            CancelledError: when the scheduler is lost.
        """
        done = list[Future[Any]]()
        with suppress(Empty):
            done.append(self._done.get(timeout=seconds))
            while True:
                done.append(self._done.get_nowait())
        if self._client.status != "running" or any(future.cancelled() for future in done):
            raise CancelledError
        finished = [future for future in done if future.status == "finished"]
        results: dict[Future[Any], Any] = {future: future.exception(CONNECT) for future in set(done) - set(finished)}
        results |= zip(finished, map(pickle.loads, self._client.gather(finished)), strict=True)
        return [(self._jobs.pop(future), results[future]) for future in done]

    def cancel(self) -> None:
        """Has Dask forget what is still on its way."""
        try:
            if self._jobs and self._client.status == "running":
                self._client.cancel(list(self._jobs))
        except LOST:
            self._jobs.clear()  # there is no scheduler any more that could do anything
