"""Faults while a class is graded: whatever is killed, locked, full or changed, a resumed run ends with the same marks.

The runs are forks of one driver that has imported what they need and drawn their questions, and the notebook of the
class has one exercise and an essay: a run takes a second, so that there can be hundreds.
"""

from __future__ import annotations

import functools
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

from grading.classroom import demo
from grading.folder.course import ROOT
from grading.notebooks.cells import grade_id, kind
from tests.classroom.submissions import ASSIGNMENT, released
from tests.tiers import all_only

pytestmark = pytest.mark.sandbox
PROGRAMS = Path(__file__).parents[1] / "programs"
ORDINARY = 61_000  # a user id that no account has
KEPT = ("causal_mask", "causal_mask_check", "mask_essay")  # the cells of the class's notebook, beside those of set-up
POINTS = 3.0
STUDENTS = ("ada", "blaise", "chloe", "denis", "emile_broken")
VERSIONS = (("right", "mistaken", "empty", "right"), ("mistaken", "right", "right", "empty"))  # of what they hand in
DEMO = {"right": "ada_perfect", "mistaken": "denis_mistaken", "empty": "chloe_empty"}
KILLS, BATCHES = 40, 10
AFRESH = 0.06  # the share of killed runs that make the gradebook itself


class Driver:
    """Starts runs and waits for them."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._runs = folder, 0
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAMS / "driver.py"), ASSIGNMENT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
        )

    def _say(self, request: dict[str, Any]) -> int:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def start(self, course: Path, force: bool = False) -> tuple[int, Path]:
        """Starts a run; returns its process id and the file of its outcomes."""
        self._runs += 1
        out = self._folder / f"run-{self._runs}.json"
        return self._say({"course": str(course), "out": str(out), "force": force}), out

    def warm(self, course: Path) -> None:
        """Grades a class in the driver itself, and draws its questions there, for all runs to come."""
        out = self._folder / "warm.json"
        assert self._say({"warm": str(course), "out": str(out), "force": False}) == 0, Path(f"{out}.error").read_text()

    def wait(self, pid: int) -> int:
        """Returns the exit status: 0, 3 for an error that was foreseen, 4 for another; negative when it was killed."""
        return self._say({"wait": pid})

    def run(self, course: Path, force: bool = False) -> dict[str, dict[str, Any]]:
        """Runs to the end and returns the outcome of each student."""
        pid, out = self.start(course, force)
        status = self.wait(pid)
        assert status == 0, Path(f"{out}.error").read_text()
        return {one["student"]: one for one in json.loads(out.read_text())}


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    made = Driver(tmp_path_factory.mktemp("driver"))
    yield made
    made.process.communicate()


def marks(course: Path) -> dict[str, tuple[Any, ...]]:
    """Returns all that the gradebook and the graded files say of each student."""
    found: dict[str, tuple[Any, ...]] = {}
    rows: list[tuple[Any, ...]] = []
    path = course / "gradebook" / "gradebook.db"
    if path.exists():
        book = sqlite3.connect(path)  # who opens it to read may have to undo what a killed run has left
        rows = book.execute(
            "select submitted_assignment.student_id, base_cell.name, auto_score, manual_score, needs_manual_grade "
            "from grade join submitted_notebook on grade.notebook_id = submitted_notebook.id "
            "join submitted_assignment on submitted_notebook.assignment_id = submitted_assignment.id "
            "join base_cell on grade.cell_id = base_cell.id order by 1, 2"
        ).fetchall()
        book.close()
    for student in STUDENTS:
        path = course / "gradebook" / "autograded" / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        verdicts = None
        if path.exists():
            grading = nbformat.read(path, as_version=4).metadata.grading
            verdicts = {name: (one["earned"], one["outcome"], one["mistake"]) for name, one in grading.verdicts.items()}
        found[student] = (tuple(row[1:] for row in rows if row[0] == student), verdicts)
    return found


def _cut(notebook: NotebookNode) -> NotebookNode:
    """Returns a notebook with one exercise and one essay."""
    notebook.cells = [one for one in notebook.cells if kind(one) == "setup" or grade_id(one) in KEPT]
    return notebook


@functools.cache
def _texts(version: int) -> dict[str, str]:
    """Returns what the students hand in, by name, in one of two versions; one file is broken in both."""
    demos = demo.submissions(released())
    made = {name: nbformat.writes(_cut(nbformat.reads(demos[of], as_version=4))) for name, of in DEMO.items()}
    texts = dict(zip(STUDENTS, (made[name] for name in VERSIONS[version]), strict=False))
    return texts | {"emile_broken": made["right"][: len(made["right"]) // 2]}


def hand_in(course: Path, version: int) -> None:
    """Writes the submissions of the class."""
    for student, text in _texts(version).items():
        path = submitted(course, student)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        (path.parent / "timestamp.txt").write_text(demo.RECEIVED, encoding="utf-8")


def submitted(course: Path, student: str) -> Path:
    return course / "gradebook" / "submitted" / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"


@pytest.fixture(scope="module")
def template(driver: Driver, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class whose assignment the gradebook knows, with nothing graded."""
    course = tmp_path_factory.mktemp("template") / "course"
    solution = course / "solutions" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    solution.parent.mkdir(parents=True)
    nbformat.write(_cut(nbformat.read(ROOT / "solutions" / ASSIGNMENT / solution.name, as_version=4)), solution)
    shutil.copy(ROOT / "nbgrader_config.py", course)
    hand_in(course, 0)
    aside = course.parent / "aside"
    aside.mkdir()
    for student in STUDENTS[:-1]:
        shutil.move(submitted(course, student).parent.parent, aside / student)
    pid, out = driver.start(course)  # nothing is graded, so there is no report
    assert driver.wait(pid) == 3, Path(f"{out}.error").read_text()
    for student in STUDENTS[:-1]:
        shutil.move(aside / student, submitted(course, student).parent.parent)
    other = Path(shutil.copytree(course, course.parent / "other"))
    for version in (1, 0):
        hand_in(other, version)
        driver.warm(other)
    return course


@pytest.fixture
def course(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "course"))


@pytest.fixture(scope="module")
def undisturbed(
    driver: Driver, template: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, tuple[Any, ...]], float]:
    """The marks of a run that nothing disturbs, and how long it took."""
    course = Path(shutil.copytree(template, tmp_path_factory.mktemp("undisturbed") / "course"))
    start = time.monotonic()
    outcomes = driver.run(course)
    took = time.monotonic() - start
    assert [outcomes[name]["score"] for name in STUDENTS] == [POINTS, 0.25, 0.0, POINTS, None]
    return marks(course), took


# --- kills ------------------------------------------------------------------------------------------------------------


@dataclass
class Killed:
    """One class that is graded over and over while runs are killed: what it has now, and what has happened to it.

    `wanted` are the marks of both versions; `seen` counts how many students had their new marks when a run was killed.
    """

    course: Path
    wanted: list[dict[str, tuple[Any, ...]]]
    took: float
    version: int = 1
    seen: Counter[int] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)


@pytest.fixture(scope="module")
def killed(driver: Driver, template: Path, tmp_path_factory: pytest.TempPathFactory) -> Killed:
    course = Path(shutil.copytree(template, tmp_path_factory.mktemp("killed") / "course"))
    wanted = []
    for version in (0, 1):
        hand_in(course, version)
        start = time.monotonic()
        driver.run(course)
        wanted.append(marks(course))
    assert all(wanted[0][student] != wanted[1][student] for student in STUDENTS[:-1])
    return Killed(course, wanted, time.monotonic() - start)


def _below(pid: int) -> list[int]:
    """Returns the children of a process, and theirs."""
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            direct = [int(word) for word in path.read_text().split()]
        except OSError:  # it has just ended
            continue
        found += direct + [below for child in direct for below in _below(child)]
    return found


def _victims(whom: str, run: int, driver: Driver) -> list[int]:
    workers = _below(run)
    if whom == "worker":
        return workers
    runs = {
        int(word)
        for path in Path(f"/proc/{driver.process.pid}/task").glob("*/children")
        for word in path.read_text().split()
    }
    sources = [pid for pid in runs if b"grading.sandbox.forking" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    servers = [child for fork_server in sources for child in _below(fork_server)]
    return [pid for pid in servers if os.path.exists(f"/proc/{pid}")]


def _kill(whom: str, run: int, driver: Driver, rng: random.Random) -> bool:
    """Kills the process group of a run, or one of its workers or students' processes; says whether there was one."""
    try:
        if whom == "run":
            os.killpg(run, signal.SIGKILL)
            return True
        victims = _victims(whom, run, driver)
        if victims:
            os.kill(rng.choice(victims), signal.SIGKILL)
        return bool(victims)
    except ProcessLookupError:  # it has just ended, or has not begun yet: then nothing was disturbed
        return False


def _killed_once(driver: Driver, killed: Killed, whom: str, rng: random.Random) -> bool:
    """Hands in anew, grades, kills at a random moment, and grades on; says whether anything was killed."""
    before, killed.version = killed.wanted[killed.version], 1 - killed.version
    after, course = killed.wanted[killed.version], killed.course
    hand_in(course, killed.version)
    if whom == "run" and rng.random() < AFRESH:
        for path in (course / "gradebook" / "gradebook.db", course / "gradebook" / "autograded"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        before = dict.fromkeys(STUDENTS, ((), None))
    pid, out = driver.start(course)
    time.sleep(rng.random() * killed.took)
    over = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2].startswith(b"Z")  # the driver waits for it below
    # So that moments fall into the run, however busy the machine is just now.
    killed.took *= 0.9 if over else 1.01
    hit = _kill(whom, pid, driver, rng)
    status = driver.wait(pid)
    if whom == "run" and status == -signal.SIGKILL:
        found = marks(course)
        for student in STUDENTS:  # what is graded is whole: the gradebook comes first, then the file
            for old, new, now in zip(before[student], after[student], found[student], strict=True):
                assert now in (old, new), student
        killed.seen[sum(found[student] == after[student] != before[student] for student in STUDENTS)] += 1
    else:
        assert status == 0, Path(f"{out}.error").read_text()
        assert marks(course) == after  # a run mends what happens to its workers and their children
        hit = hit and whom != "run"
    if status:
        driver.run(course)
        assert marks(course) == after
    assert not list(course.rglob("*.half"))
    return hit


@pytest.mark.parametrize("batch", all_only(*range(BATCHES)))
def test_killed_at_any_moment_and_resumed(driver: Driver, killed: Killed, batch: int) -> None:
    """Forty kills, half of them of whole runs, give the marks of none; what is left in between is whole."""
    rng = random.Random(batch)
    for number in range(KILLS // BATCHES):
        whom = ("run", "worker", "run", "student")[number % 4]
        for _ in range(20):
            if _killed_once(driver, killed, whom, rng):
                killed.kinds[whom] += 1
                break
        else:
            pytest.fail(f"no {whom} could be killed")
    again = driver.run(killed.course)
    assert {one["state"] for one in again.values()} == {"unchanged", "could not be graded"}


@pytest.mark.all
def test_the_kills_fell_on_all_parts_of_a_run(killed: Killed) -> None:
    if sum(killed.kinds.values()) < KILLS - KILLS // BATCHES:  # the first ones may have fallen in another run
        pytest.skip("not all kills were requested")
    assert killed.seen[0]  # at the start, or while the first were graded
    assert any(killed.seen[number] for number in range(1, len(STUDENTS)))


def test_two_runs_at_once(driver: Driver, undisturbed: tuple[dict[str, tuple[Any, ...]], float], course: Path) -> None:
    wanted, _ = undisturbed
    (first, _), (second, out) = driver.start(course), driver.start(course)
    statuses = sorted([driver.wait(first), driver.wait(second)])
    assert statuses in ([0, 0], [0, 3])  # they may have run one after the other
    if statuses == [0, 3]:
        errors = [
            path for path in out.parent.glob(f"{out.stem[:4]}*.error") if "another run is grading" in path.read_text()
        ]
        assert errors
    assert marks(course) == wanted


@pytest.mark.all
def test_a_locked_gradebook_is_waited_for(
    driver: Driver, undisturbed: tuple[dict[str, tuple[Any, ...]], float], course: Path
) -> None:
    wanted, took = undisturbed
    book = sqlite3.connect(course / "gradebook" / "gradebook.db", isolation_level=None)
    book.execute("begin exclusive")
    pid, out = driver.start(course)
    time.sleep(took + 6)  # longer than SQLite waits by itself
    assert not out.exists()
    book.execute("rollback")
    book.close()
    status = driver.wait(pid)
    assert status == 0, Path(f"{out}.error").read_text()
    assert marks(course) == wanted


@pytest.mark.parametrize("kind", ["cut off", *all_only("empty", "tables without a version", "not a database")])
def test_a_half_made_gradebook_is_made_anew_or_refused(
    driver: Driver, undisturbed: tuple[dict[str, tuple[Any, ...]], float], course: Path, kind: str
) -> None:
    wanted, _ = undisturbed
    path = course / "gradebook" / "gradebook.db"
    whole = path.read_bytes()
    if kind == "empty":
        path.write_bytes(b"")
    elif kind == "cut off":
        path.write_bytes(whole[: len(whole) // 2])
    elif kind == "not a database":
        path.write_bytes(b"marks: all 20" * 1000)
    else:
        path.unlink()
        with sqlite3.connect(path) as book:
            book.execute("create table student (id text)")
    before = path.read_bytes()
    pid, out = driver.start(course)
    status = driver.wait(pid)
    if kind == "empty":
        assert status == 0, Path(f"{out}.error").read_text()
    else:
        error = Path(f"{out}.error").read_text()
        assert "CourseError" in error
        assert "move it away" in error or "delete it" in error
        assert path.read_bytes() == before  # what may be the only copy of marks is left alone
        path.unlink()
        driver.run(course)
    assert marks(course) == wanted


@pytest.mark.all
def test_a_submission_that_changes_while_it_is_graded(
    driver: Driver, undisturbed: tuple[dict[str, tuple[Any, ...]], float], course: Path
) -> None:
    wanted, took = undisturbed
    path = course / "gradebook" / "submitted" / "ada" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    good, bare = path.read_text(encoding="utf-8"), submitted(course, "chloe").read_text(encoding="utf-8")
    pid, out = driver.start(course)
    end = time.monotonic() + took
    for round_ in range(10**6):
        text = (good, bare, good[: len(good) // 2])[round_ % 3]
        path.write_text(text, encoding="utf-8")
        time.sleep(0.003)
        if time.monotonic() > end:
            break
    path.write_text(good, encoding="utf-8")
    status = driver.wait(pid)
    assert status == 0, Path(f"{out}.error").read_text()
    ada = next(one for one in json.loads(out.read_text()) if one["student"] == "ada")
    assert (ada["state"], ada["score"]) in (("graded", POINTS), ("graded", 0.0), ("could not be graded", None))
    driver.run(course)
    assert marks(course) == wanted


def test_a_submission_that_vanishes_is_named(driver: Driver, course: Path) -> None:
    folder = course / "gradebook" / "submitted" / "ada" / ASSIGNMENT
    (folder / f"{ASSIGNMENT}.ipynb").unlink()
    outcomes = driver.run(course)
    assert outcomes["ada"]["state"] == "could not be graded"
    assert outcomes["denis"]["score"] == POINTS


# --- a full disk ------------------------------------------------------------------------------------------------------


@pytest.mark.all
@pytest.mark.parametrize("room", [20_000, 70_000])
def test_a_full_disk_loses_nothing(
    undisturbed: tuple[dict[str, tuple[Any, ...]], float], template: Path, tmp_path: Path, room: int
) -> None:
    (tmp_path / "place").mkdir()
    settings = {"place": str(tmp_path / "place"), "template": str(template), "room": room, "root": str(ROOT)}
    settings["copy"] = str(tmp_path / "copy")
    done = subprocess.run(
        [sys.executable, str(PROGRAMS / "full_disk.py"), json.dumps(settings)],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    first, message, second, log = json.loads(done.stdout.splitlines()[-1])
    assert first == 2, message
    assert "Traceback" not in message
    assert "No space left" in message or "full" in message or "cannot be written" in message
    assert second == 3, log  # one submission is damaged and has no mark
    assert marks(tmp_path / "copy") == undisturbed[0]


# --- as an ordinary user ----------------------------------------------------------------------------------------------

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user; all else tests this one")


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder that the ordinary user owns; pytest's own folders are for root alone."""
    with tempfile.TemporaryDirectory() as name:
        os.chown(name, ORDINARY, ORDINARY)
        os.chmod(name, 0o755)
        yield Path(name)


def _as_user(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PROGRAMS / "as_user.py"), str(ORDINARY), str(home), sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


@pytest.mark.all
@only_root
def test_an_ordinary_user_grades_the_same(
    undisturbed: tuple[dict[str, tuple[Any, ...]], float], template: Path, home: Path
) -> None:
    course = Path(shutil.copytree(template, home / "course"))
    for path in [course, *course.rglob("*")]:
        os.chown(path, ORDINARY, ORDINARY)
    done = _as_user(home, "-m", "grading", "autograde", "--course", str(course), "--workers", "1", "--json")
    if "refuses the sandbox" in done.stderr:
        pytest.skip(f"this machine allows a sandbox to root only: {done.stderr[:200]}")
    assert done.returncode == 3, done.stderr[-3000:]  # one submission is damaged and has no mark
    assert "its own user namespace, no privileges" in done.stderr
    assert marks(course) == undisturbed[0]


@only_root
def test_an_ordinary_users_sandbox_holds_no_capability(home: Path) -> None:
    program = (
        "import os\nfrom grading import sandbox\n"
        "try:\n    sandbox.enter(sandbox.Policy(sandbox.readable_system()))\n"
        "except sandbox.SandboxError as problem:\n    print('refused', problem, flush=True)\n    os._exit(0)\n"
        "print([line.split()[1] for line in open('/proc/self/status') if line.startswith('Cap')], flush=True)\n"
        "try:\n    open('/proc/1/mem', 'r+b')\n"
        "except OSError as problem:\n    print(type(problem).__name__, flush=True)\n"
        "os._exit(0)"
    )
    done = _as_user(home, "-c", program)
    if done.stdout.startswith("refused"):
        pytest.skip(done.stdout)
    assert done.stdout.splitlines() == [str(["0" * 16] * 5), "PermissionError"], done.stderr
