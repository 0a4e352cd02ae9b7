"""A Dask cluster against the local pool: what it costs for each submission, and where one coordinator ends.

    python -m benchmarks.cluster                        # notebook 01, 24 submissions, 3 rounds
    python -m benchmarks.cluster --replayed 2000        # more submissions for the coordinator's limit

Scheduler and worker run here, on loopback. Rounds of the local pool and of the cluster take turns in one run, so that
other work on the machine disturbs both. Scheduler, Dask worker and coordinator are never killed in between, so their
processor time is given exactly, on a busy machine too. For the coordinator's limit the worker does not grade: it sends
back recorded gradings at once.
"""

import argparse
import os
import pickle
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path

from distributed import Worker

from benchmarks.autograde import make_class
from grading import sandbox
from grading.autograder import pool
from grading.autograder import run as autograde
from grading.autograder.cluster import Cluster, definitions
from grading.autograder.cluster_plugin import NAME, Definitions, GradingPlugin
from grading.autograder.grade_submission import Budget, Graded
from grading.autograder.gradebook import Writer
from grading.autograder.graded_notebook import load_master
from grading.autograder.penalties import LatePenalties
from grading.autograder.seeds import seed_of
from grading.autograder.submission import Master, read
from grading.definitions import exercise as exercises
from grading.folder.course import ROOT, Course
from grading.sandbox.fork_server import ForkServer

MACHINES = (1, 10, 100)
CLASSES = (2_000, 20_000, 100_000)
IDLE = 20.0  # seconds in which Dask is watched while it has nothing to do
REPLAYING = 64  # threads of the worker that replays: as many submissions are on their way twice


class Replaying(GradingPlugin):
    """Sends back recorded gradings, one after another, without grading anything."""

    def __init__(self, definitions: Definitions, recorded: list[bytes]) -> None:
        super().__init__(definitions)
        self.recorded, self.given = recorded, 0

    async def setup(self, worker: Worker) -> None:
        """Starts nothing."""
        await worker.set_resources(**{NAME: worker.state.nthreads})

    def teardown(self, worker: Worker) -> None:
        """Ends nothing."""

    def grade(self, run: str, request: bytes) -> bytes:
        """Returns the next recorded grading."""
        self.given += 1
        return self.recorded[self.given % len(self.recorded)]


def used(*processes: subprocess.Popen[bytes]) -> float:
    """Returns the CPU seconds of processes, without those of their children."""
    ticks = 0
    for one in processes:
        fields = Path(f"/proc/{one.pid}/stat").read_bytes().rpartition(b")")[2].split()
        ticks += sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def dask(threads: int) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Starts a scheduler and one worker; gives the address, and both processes."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    started = []
    with tempfile.TemporaryDirectory(prefix="dask-") as space:
        for words in (
            ["scheduler", "--host", "127.0.0.1", "--port", str(port)],
            ["worker", address, "--nthreads", str(threads), "--no-nanny", "--local-directory", space],
        ):
            command = [sys.executable, "-m", "dask", *words, "--no-dashboard"]
            environment = os.environ | {"PYTHONPATH": str(ROOT)}  # the worker opens the class above
            with open(os.devnull, "wb") as nothing:
                started.append(subprocess.Popen(command, stdout=nothing, stderr=nothing, cwd=ROOT, env=environment))
        try:
            yield address, started
        finally:
            for one in reversed(started):
                one.terminate()
                one.wait()


def jobs_of(course: Course, master: Master) -> list[pool.Job]:
    """Returns the submissions of a class as jobs."""
    made = []
    for folder in course.submitted_folders(master.assignment):
        work = read(folder, master)
        student = folder.parent.name
        made.append(
            pool.Job(master.assignment, student, work, "", seed_of(b"of the benchmark", student, work.digest()))
        )
    return made


def overhead(master: Master, jobs: list[pool.Job], workers: int, rounds: int) -> tuple[float, list[bytes]]:
    """Prints the table of overheads; returns submissions per second on the cluster here, and its pickled results."""
    name = master.assignment
    masters, local, remote, dasks, recorded = {name: master}, list[float](), list[float](), list[float](), list[bytes]()
    own = {"local": list[float](), "cluster": list[float]()}
    exercises.load(name)
    with ExitStack() as stack:
        context = pool.Context(stack.enter_context(ForkServer()), masters, Budget())
        here = stack.enter_context(pool.Pool(workers, context))
        verdicts: dict[str, dict[str, float]] = {}

        def on_the_pool() -> Iterator[list[tuple[pool.Job, Graded | str]]]:
            here.add(*jobs)
            while here.at_work:
                yield here.results()

        def round_of(way: str) -> float:
            wall, cpu = time.perf_counter(), time.process_time()
            found = cluster.grade_all(jobs) if way == "cluster" else on_the_pool()
            for job, result in chain.from_iterable(found):
                assert isinstance(result, Graded), result
                points = {one: verdict.earned for one, verdict in result.verdicts.items()}
                assert verdicts.setdefault(job.student, points) == points  # the same marks on both
                recorded.append(pickle.dumps(result))
            own[way].append((time.process_time() - cpu) / len(jobs))
            return (time.perf_counter() - wall) / len(jobs)

        local.append(round_of("local"))  # forks the workers, before there are Dask's threads
        address, processes = stack.enter_context(dask(workers))
        cluster = stack.enter_context(Cluster(address, GradingPlugin(definitions(masters, Budget()))))
        round_of("cluster")  # draws the questions, as the first round there has done
        for _ in range(rounds):
            local.append(round_of("local"))
            before = used(*processes)
            remote.append(round_of("cluster"))
            dasks.append((used(*processes) - before) / len(jobs))
        before = used(*processes)
        time.sleep(IDLE)
        idle = (used(*processes) - before) / IDLE
    alone, there = statistics.median(local[1:]), statistics.median(remote)
    more = statistics.median(own["cluster"][1:]) - statistics.median(own["local"][1:])
    ratios = ", ".join(f"{100 * (b / a - 1):+.0f} %" for a, b in zip(local[1:], remote, strict=True))
    print("| way | submissions/min | ms per submission, by the clock |\n|---|---|---|")
    print(f"| local pool, {workers} workers | {60 / alone:.0f} | {1000 * alone:.0f} |")
    print(f"| cluster, one worker of {workers} threads | {60 / there:.0f} | {1000 * there:.0f} |")
    print(f"By the clock the cluster takes {100 * (there / alone - 1):+.1f} % ({ratios} in each of {rounds} rounds).")
    dask_cpu = statistics.median(dasks)
    print(
        "Processor time that only the cluster needs, ms per submission: scheduler and Dask worker "
        f"{1000 * dask_cpu:.1f}, coordinator {1000 * more:.1f} more. Dask needs {1000 * idle:.0f} ms a second "
        f"while it has nothing to do: {1000 * idle * there:.1f} ms in the time of a submission.",
        flush=True,
    )
    return 1 / there, recorded


def limit(master: Master, jobs: list[pool.Job], recorded: list[bytes], count: int, course: Course) -> dict[str, float]:
    """Prints and returns how many submissions per second one coordinator sends, takes back, and writes."""
    many = [jobs[number % len(jobs)] for number in range(count)]
    found = dict[str, float]()
    with dask(REPLAYING) as (address, _):
        plugin = Replaying(definitions({master.assignment: master}, Budget()), recorded)
        with Cluster(address, plugin) as cluster:
            start = time.perf_counter()
            assert (
                sum(isinstance(result, Graded) for _, result in chain.from_iterable(cluster.grade_all(many))) == count
            )
            found["sent and taken back"] = count / (time.perf_counter() - start)
        # The whole way of a class: read, sent, taken back, made into a notebook, and written.
        autograde._prepare(course, master.assignment, print)
        folders = [(master.assignment, path) for path in course.submitted_folders(master.assignment)]
        settings = autograde.Settings(course, progress=False)
        with Cluster(address, plugin) as cluster:
            writer = Writer(course, LatePenalties(course), print)
            start = time.perf_counter()
            masters = {master.assignment: master}
            outcomes = list(autograde._grade_all(settings, folders, masters, cluster.grade_all, writer))
            found["read, sent, taken back and written"] = len(outcomes) / (time.perf_counter() - start)
            writer.close()
        assert all(one.score is not None for one in outcomes)
    for what, rate in found.items():
        print(f"One coordinator: {rate:.0f} submissions a second {what}.", flush=True)
    return found


def table(rate: float, cores: int, most: float) -> None:
    """Prints what machines like this one would give: calculated, never measured."""
    print(f"\nCalculated: N machines grade {rate:.1f} N a second, and one coordinator takes {most:.0f} at most.\n")
    print(f"| machines of {cores} cores | submissions/s | " + " | ".join(f"{n:,}" for n in CLASSES) + " |")
    print("|" + "---|" * (2 + len(CLASSES)))
    for machines in MACHINES:
        found = min(machines * rate, most)
        ends = "" if machines * rate < most else " (the coordinator)"
        times = " | ".join(f"{n / found / 60:,.0f} min" for n in CLASSES)
        print(f"| {machines} | {found:.0f}{ends} | {times} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("assignment", nargs="?", default="01_causal_mask")
    parser.add_argument("--submissions", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--replayed", type=int, default=1000)
    parser.add_argument("--written", type=int, default=100)
    options = parser.parse_args()
    missing = sandbox.probe()
    if missing:
        parser.error(missing)
    revision = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    cores = os.cpu_count() or 1
    load = os.getloadavg()[0]
    print(f"revision {revision.stdout.strip()}, {cores} cores, load {load:.1f}; {options.assignment}\n", flush=True)
    with tempfile.TemporaryDirectory(prefix="benchmark-") as name:
        course = Course(Path(name))
        make_class(course.root, options.assignment, max(options.submissions, options.written))
        master = load_master(course, options.assignment)
        jobs = jobs_of(course, master)
        rate, recorded = overhead(master, jobs[: options.submissions], cores, options.rounds)
        by_student = recorded[: options.submissions]
        found = limit(master, jobs, by_student, options.replayed, course)
        table(rate, cores, min(found.values()))


if __name__ == "__main__":
    main()
