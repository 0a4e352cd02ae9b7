"""Faults while a class is graded: whatever is killed, locked, full or changed, a resumed run ends with the same marks.

The runs are forks of one driver that has imported what they need, so that twenty of them cost little.
"""

from __future__ import annotations

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
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grading.classroom import demo
from grading.course import ROOT
from tests.submissions import ASSIGNMENT, AUTOMATIC, perfect, released

pytestmark = pytest.mark.sandbox
PROGRAMS = Path(__file__).with_name("programs")
ORDINARY = 61_000  # a user id that no account has
STUDENTS = ("ada_perfect", "blaise_half_done", "chloe_empty", "denis_mistaken", "emile_broken_file")


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

    def _say(self, told: dict[str, Any]) -> int:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(told) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def start(self, course: Path, force: bool = False) -> tuple[int, Path]:
        """Starts a run; returns its process id and the file of its outcomes."""
        self._runs += 1
        out = self._folder / f"run-{self._runs}.json"
        return self._say({"course": str(course), "out": str(out), "force": force}), out

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
    with sqlite3.connect(f"file:{course}/gradebook/gradebook.db?mode=ro", uri=True) as book:
        rows = book.execute(
            "select submitted_assignment.student_id, base_cell.name, auto_score, manual_score, needs_manual_grade "
            "from grade join submitted_notebook on grade.notebook_id = submitted_notebook.id "
            "join submitted_assignment on submitted_notebook.assignment_id = submitted_assignment.id "
            "join base_cell on grade.cell_id = base_cell.id order by 1, 2"
        ).fetchall()
    for student in STUDENTS:
        path = course / "gradebook" / "autograded" / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        verdicts = None
        if path.exists():
            told = nbformat.read(path, as_version=4).metadata.grading
            verdicts = {name: (one["earned"], one["outcome"], one["mistake"]) for name, one in told.verdicts.items()}
        found[student] = (tuple(row[1:] for row in rows if row[0] == student), verdicts)
    return found


@pytest.fixture(scope="module")
def template(driver: Driver, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class whose assignment the gradebook knows, with nothing graded."""
    course = tmp_path_factory.mktemp("template") / "course"
    course.mkdir()
    demo.make(course)
    submitted = course / "gradebook" / "submitted"
    for folder in submitted.iterdir():
        if folder.name not in STUDENTS:
            shutil.rmtree(folder)
    aside = course.parent / "aside"
    shutil.move(submitted, aside)
    shutil.copytree(aside / "emile_broken_file", submitted / "emile_broken_file")
    assert driver.run(course)["emile_broken_file"]["state"] == "could not be graded"
    shutil.rmtree(submitted)
    shutil.move(aside, submitted)
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
    assert outcomes["ada_perfect"]["score"] == AUTOMATIC
    return marks(course), took


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


def _victims(kind: str, run: int, driver: Driver) -> list[int]:
    if kind == "run":
        return [run]
    workers = _below(run)
    if kind == "worker":
        return workers
    runs = {
        int(word)
        for path in Path(f"/proc/{driver.process.pid}/task").glob("*/children")
        for word in path.read_text().split()
    }
    sources = [pid for pid in runs if b"grading.sandbox.forking" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    servers = [child for fork_server in sources for child in _below(fork_server)]
    return [pid for pid in servers if os.path.exists(f"/proc/{pid}")]


@pytest.mark.parametrize("moment", range(20))
def test_killed_at_any_moment_and_resumed(
    driver: Driver, undisturbed: tuple[dict[str, tuple[Any, ...]], float], course: Path, moment: int
) -> None:
    wanted, took = undisturbed
    rng = random.Random(moment)
    kind = ("run", "worker", "student")[moment % 3]
    pid, _ = driver.start(course)
    time.sleep(rng.random() * took)
    for _ in range(3 if kind == "student" else 1):
        victims = _victims(kind, pid, driver)
        if victims:
            try:
                os.kill(rng.choice(victims), signal.SIGKILL)
            except ProcessLookupError:  # it has just ended: then nothing was disturbed
                continue
    status = driver.wait(pid)
    assert status in ((-signal.SIGKILL, 0) if kind == "run" else (0,))
    if status == 0 and kind != "run":
        assert marks(course) == wanted  # a run mends what happens to its workers and their children
    driver.run(course)
    assert marks(course) == wanted
    assert not list(course.rglob("*.half"))
    again = driver.run(course)
    assert {one["state"] for one in again.values()} == {"unchanged", "could not be graded"}


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


@pytest.mark.parametrize("kind", ["empty", "tables without a version", "cut off", "not a database"])
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
        told = Path(f"{out}.error").read_text()
        assert "CourseError" in told
        assert "move it away" in told or "delete it" in told
        assert path.read_bytes() == before  # what may be the only copy of marks is left alone
        path.unlink()
        driver.run(course)
    assert marks(course) == wanted


def test_a_submission_that_changes_while_it_is_graded(
    driver: Driver, undisturbed: tuple[dict[str, tuple[Any, ...]], float], course: Path
) -> None:
    wanted, took = undisturbed
    path = course / "gradebook" / "submitted" / "ada_perfect" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    good, bare = nbformat.writes(perfect()), nbformat.writes(released())
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
    ada = next(one for one in json.loads(out.read_text()) if one["student"] == "ada_perfect")
    assert (ada["state"], ada["score"]) in (("graded", AUTOMATIC), ("graded", 0.0), ("could not be graded", None))
    driver.run(course)
    assert marks(course) == wanted


def test_a_submission_that_vanishes_is_named(driver: Driver, course: Path) -> None:
    folder = course / "gradebook" / "submitted" / "ada_perfect" / ASSIGNMENT
    (folder / f"{ASSIGNMENT}.ipynb").unlink()
    outcomes = driver.run(course)
    assert outcomes["ada_perfect"]["state"] == "could not be graded"
    assert outcomes["denis_mistaken"]["score"] == 1.25


# --- a full disk ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("room", [20_000, 120_000])
def test_a_full_disk_loses_nothing(
    undisturbed: tuple[dict[str, tuple[Any, ...]], float], template: Path, tmp_path: Path, room: int
) -> None:
    (tmp_path / "place").mkdir()
    told = {"place": str(tmp_path / "place"), "template": str(template), "room": room, "root": str(ROOT)}
    told["copy"] = str(tmp_path / "copy")
    done = subprocess.run(
        [sys.executable, str(PROGRAMS / "full_disk.py"), json.dumps(told)],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    first, said, second, log = json.loads(done.stdout.splitlines()[-1])
    assert first == 2, said
    assert "Traceback" not in said
    assert "No space left" in said or "full" in said or "cannot be written" in said
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
