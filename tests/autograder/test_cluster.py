"""The cluster: a scheduler and two workers as processes on loopback. One is killed, then the scheduler; marks stay."""

import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass, field, replace
from typing import Any

import nbformat
import pytest

from grading import sandbox
from grading.autograder import cluster_process, pool
from grading.autograder import run as autograde
from grading.autograder.grade_submission import Budget, Graded
from grading.autograder.graded_notebook import load_master
from grading.autograder.outcome import GRADED, UNCHANGED, Outcome
from grading.autograder.preparation import lock_in
from grading.autograder.seeds import VARIABLE, VARIANTS
from grading.autograder.submission import Work, read
from grading.classroom import demo
from grading.folder.course import ROOT, Course
from grading.folder.errors import CourseError
from grading.notebooks.cells import kind
from tests.classroom.submissions import ASSIGNMENT

pytest.importorskip("distributed", reason="dask.distributed is not installed: pip install -e '.[test]'")

from distributed.scheduler import KilledWorker, WorkerState

from grading.autograder import cluster
from grading.autograder.cluster_plugin import Definitions, GradingPlugin

pytestmark = [pytest.mark.sandbox, pytest.mark.all]
DEMO = ("ada_perfect", "blaise_half_done", "chloe_empty", "denis_mistaken")
# Three with each work, of whom each meets questions of its own: enough that a run is in the middle when a worker ends.
STUDENTS = sorted(f"{name}{more}" for name in DEMO for more in ("", "_2", "_3"))


@dataclass
class Processes:
    """A scheduler and workers of one thread each; `kill` ends one as a machine ends that loses its power."""

    address: str
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]

    @staticmethod
    def kill(one: subprocess.Popen[bytes]) -> None:
        one.send_signal(signal.SIGKILL)
        one.wait()


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address, folder = f"tcp://127.0.0.1:{port}", tmp_path_factory.mktemp("dask")

    def start(*words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *words, "--no-dashboard"]
        log = (folder / f"{len(list(folder.iterdir()))}.log").open("wb")
        return subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)

    worker = ("worker", address, "--nthreads", "1", "--no-nanny", "--local-directory", str(folder / "space"))
    started = [start("scheduler", "--host", "127.0.0.1", "--port", str(port)), start(*worker), start(*worker)]
    try:
        yield Processes(address, started[0], started[1:])
    finally:
        for one in started:
            Processes.kill(one)


@pytest.fixture(scope="module")
def courses(tmp_path_factory: pytest.TempPathFactory) -> list[Course]:
    """Three courses with the same submissions."""
    made = [tmp_path_factory.mktemp("course") for _ in range(3)]
    demo.make(made[0])
    submitted = made[0] / "gradebook" / "submitted"
    for folder in list(submitted.iterdir()):
        if folder.name not in DEMO:
            shutil.rmtree(folder)
    for student in set(STUDENTS) - set(DEMO):
        shutil.copytree(submitted / student[:-2], submitted / student)
    autograde._prepare(Course(made[0]), ASSIGNMENT, print)  # once, for it takes seconds
    for other in made[1:]:
        shutil.copytree(made[0], other, dirs_exist_ok=True)
    return [Course(folder) for folder in made]


def run(course: Course, on_outcome: Callable[[Outcome], None] = lambda one: None, **settings: Any) -> list[Outcome]:
    return autograde.run(autograde.Settings(course, progress=False, **settings), on_outcome=on_outcome)


def gradebook(course: Course) -> dict[str, Any]:
    """Returns what a gradebook holds of each student: each cell's points, and the verdicts without their times."""
    held = dict[str, Any]()
    with course.gradebook() as book:
        for one in book.assignment_submissions(ASSIGNMENT):
            points = {grade.name: grade.auto_score for part in one.notebooks for grade in part.grades}
            graded = nbformat.read(course.autograded(one.student_id, ASSIGNMENT), as_version=4)
            verdicts = graded.metadata["grading"]["verdicts"]
            timeless = {name: {**verdict, "seconds": 0} for name, verdict in verdicts.items()}
            held[one.student_id] = one.score, points, timeless, graded.metadata["grading"]["key"]
    return held


@pytest.fixture(scope="module")
def wanted(courses: list[Course]) -> dict[str, Any]:
    """What the local pool writes."""
    run(courses[0], workers=2)
    result = gradebook(courses[0])
    assert set(result) == set(STUDENTS)
    return result


def test_other_exercises_are_refused_in_one_sentence(
    processes: Processes, courses: list[Course], capfd: pytest.CaptureFixture[str]
) -> None:
    genuine = cluster.definitions({}, Budget())
    other = GradingPlugin(replace(genuine, keys={**genuine.keys, ASSIGNMENT: "other exercises"}))
    with pytest.raises(CourseError, match=f"would mark {ASSIGNMENT} otherwise than the coordinator's") as refused:
        cluster.Cluster(processes.address, other)
    assert "Nothing was graded" in str(refused.value)
    assert capfd.readouterr().err.count("does not grade") == 2  # each worker is named


def test_a_killed_worker_costs_nothing_but_time(
    processes: Processes, courses: list[Course], wanted: dict[str, Any]
) -> None:
    finished = list[str]()

    def kill(one: Outcome) -> None:
        if not finished:
            processes.kill(processes.workers[0])
        finished.append(one.student)

    outcomes = run(courses[1], kill, cluster=processes.address)
    assert [one.state for one in outcomes] == [GRADED] * len(STUDENTS)
    assert sorted(finished) == STUDENTS  # each once
    assert gradebook(courses[1]) == wanted


def test_a_lost_scheduler_ends_the_run_and_the_next_goes_on(
    processes: Processes, courses: list[Course], wanted: dict[str, Any]
) -> None:
    finished = list[str]()

    def kill(one: Outcome) -> None:
        if not finished:
            processes.kill(processes.scheduler)
        finished.append(one.student)

    with pytest.raises(CourseError, match=r"was lost\. What was graded is kept; start it, and run"):
        run(courses[2], kill, cluster=processes.address)
    assert finished
    outcomes = {one.student: one.state for one in run(courses[2], workers=1)}
    assert {student for student, state in outcomes.items() if state == UNCHANGED} == set(finished)
    assert gradebook(courses[2]) == wanted


def test_names_secret_and_solutions_do_not_travel(courses: list[Course]) -> None:
    sent = list[Any]()

    class Client:
        def submit(self, *arguments: Any, **named: Any) -> Any:
            sent.append((arguments, named))
            return FakeFuture()

    master = load_master(courses[0], ASSIGNMENT)
    work = read(courses[0].submitted("denis_mistaken", ASSIGNMENT), master)
    flying: Any = cluster._Flying(Client(), "run")  # type: ignore[arg-type]
    flying.send(pool.Job(ASSIGNMENT, "denis_mistaken", work, "fingerprint-of-all", "seed-of-one"))
    payload = pickle.dumps(sent) + pickle.dumps(cluster.definitions({ASSIGNMENT: master}, Budget()))
    source = nbformat.read(courses[0].solution(ASSIGNMENT), as_version=4)
    solutions = [cell.source for cell in source.cells if kind(cell) == "solution"]
    assert len(solutions) > 3
    for secret in (os.environ[VARIABLE], "denis_mistaken", "fingerprint-of-all", *solutions):
        assert secret.encode() not in payload
    assert b"seed-of-one" in payload


# --- without a cluster ------------------------------------------------------------------------------------------------


class FakeFuture:
    def add_done_callback(self, done: Callable[[Any], None]) -> None: ...


def test_a_worker_without_a_sandbox_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "probe", lambda: "this machine has no namespaces.")
    assert cluster_process.refusal(cluster.definitions({}, Budget()).keys) == "this machine has no namespaces."


def test_another_version_of_the_grader_is_refused() -> None:
    assert "another version of the grader" in cluster_process.refusal({"": "another"})


@dataclass
class FakeFlying:
    """Jobs on their way to workers that die of one of them, and of those who happen to be beside it."""

    client: Any
    run: str
    jobs: list[pool.Job] = field(default_factory=list)
    alone: bool = False

    def __len__(self) -> int:
        return len(self.jobs)

    def send(self, job: pool.Job) -> None:
        self.jobs.append(job)

    def landed(self, seconds: float) -> list[tuple[pool.Job, Any]]:
        deadly = any(job.student == "deadly" for job in self.jobs)
        died = KilledWorker("task", WorkerState.__new__(WorkerState), 3)
        landed, self.jobs = [(job, died if deadly else Graded()) for job in self.jobs], []
        return landed

    def cancel(self) -> None: ...


def fake(monkeypatch: pytest.MonkeyPatch, flying: type[FakeFlying] = FakeFlying) -> cluster.Cluster:
    """Returns a cluster of three workers that is not there."""
    monkeypatch.setattr(cluster, "_Flying", flying)
    monkeypatch.setattr(cluster.Cluster, "_prepare", lambda self, plugin: None)
    monkeypatch.setattr(cluster.Cluster, "_look", lambda self: None)
    monkeypatch.setattr(cluster, "Client", lambda **where: None)
    made = cluster.Cluster("tcp://none", GradingPlugin(Definitions("run", {}, b"")))
    made._slots = 3
    return made


def test_what_kills_worker_after_worker_is_given_up_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = [pool.Job(ASSIGNMENT, name, Work(), "", "") for name in ("a", "deadly", "b", "c", "d", "e", "f", "g")]
    results = {job.student: result for done in fake(monkeypatch).grade_all(jobs) for job, result in done}
    assert results.pop("deadly") == "its worker died 8 times; look at the submission, and grade it by itself"
    assert len(results) == 7
    assert all(isinstance(result, Graded) for result in results.values())


def test_a_large_class_is_sent_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    read_by_now = list[int]()

    def jobs() -> Generator[pool.Job]:
        for number in range(1000):
            read_by_now.append(number)
            yield pool.Job(ASSIGNMENT, str(number), Work(), "", "")

    results = fake(monkeypatch).grade_all(jobs())
    next(results)
    assert len(read_by_now) == 3 * cluster.AHEAD
    results.close()


def test_a_file_that_cannot_be_read_is_not_taken_for_a_lost_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    def jobs() -> Generator[pool.Job]:
        raise OSError("no space left on device")
        yield

    with pytest.raises(OSError, match="no space"):
        list(fake(monkeypatch).grade_all(jobs()))


def test_a_connection_that_ends_is_a_lost_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lost(FakeFlying):
        def landed(self, seconds: float) -> Any:
            raise CancelledError

    with pytest.raises(CourseError, match="the scheduler at tcp://none was lost"):
        list(fake(monkeypatch, Lost).grade_all([pool.Job(ASSIGNMENT, "a", Work(), "", "")]))


def test_no_scheduler_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT", 0.5)
    plugin = GradingPlugin(Definitions("run", {}, b""))
    for address in ("tcp://127.0.0.1:1", "tls://127.0.0.1:1", "nonsense://x", "/none/scheduler.json"):
        with pytest.raises(CourseError, match=r"no Dask scheduler answers at .*Nothing was graded; start it"):
            cluster.Cluster(address, plugin)


def test_what_a_cluster_needs_is_reported_before_anything_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CourseError, match="grade in sandboxes or not at all"):
        lock_in(unsafe=True, cluster="tcp://none")
    monkeypatch.setattr("grading.autograder.preparation.find_spec", lambda name: None)
    with pytest.raises(CourseError, match="which is not installed"):
        lock_in(unsafe=False, cluster="tcp://none")


def test_the_page_says_how_many_sets_of_questions_there_are() -> None:
    page = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    assert f"one of the course's {VARIANTS} sets of questions" in page
