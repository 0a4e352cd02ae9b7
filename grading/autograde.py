"""Grade a class the safe way: students' code in sandboxes, verdicts here, one writer for the gradebook."""

from __future__ import annotations

import atexit
import datetime
import hashlib
import importlib.metadata
import json
import os
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from pathlib import Path

from tqdm import tqdm

from grading import classroom, exercise, sandbox
from grading.build import ROOT
from grading.gradebook import GradebookError, Writer, graded_notebook, load_master, only_run, recorded_key
from grading.remote import Students
from grading.submission import Master, UnreadableError, Work, read
from grading.worker import Graded, grade

TRIES = 3  # a submission whose worker dies this often could not be graded


@dataclass
class Outcome:
    """What a run did with one submission: `state` is "graded", "unchanged" or "could not be graded"."""

    student: str
    assignment: str
    state: str
    score: float | None = None
    reason: str = ""
    put_right: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)


# --- in the workers ---------------------------------------------------------------------------------------------------

_students: Students | None = None


def _start_worker(protected: bool) -> None:
    global _students
    import torch

    torch.set_num_threads(1)
    _students = Students(protected=protected)
    atexit.register(_students.__exit__)


def _grade_one(master: Master, work: Work, student: str) -> Graded:
    assert _students is not None
    return grade(_students, master, work, exercise.load(master.assignment), student)


# --- in the run -------------------------------------------------------------------------------------------------------


def environment_key(assignment: str) -> str:
    """Returns a fingerprint of what marks depend on besides the answers: exercises, examiner, versions."""
    folder = ROOT / "grading"
    sources = [folder / "exercises" / f"{assignment}.py", folder / "exercise.py", folder / "examiner.py"]
    sources += sorted((ROOT / "helpers").rglob("*.py"))
    versions = [importlib.metadata.version(name) for name in ("torch", "numpy", "sympy")]
    parts = [path.read_bytes() for path in sources] + [" ".join(versions).encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def run(
    assignments: Sequence[str] = (),
    *,
    students: Sequence[str] = (),
    workers: int | None = None,
    course: Path = ROOT,
    unsafe: bool = False,
    force: bool = False,
    progress: bool = True,
) -> list[Outcome]:
    """Grades every submission that has changed since it was graded, and returns what became of each.

    Raises:
        ClassroomError: when there is nothing to grade, or a name is unknown.
        GradebookError: when another run is at work or the gradebook cannot be written.
        SandboxError: when this machine cannot make a sandbox and `unsafe` is not given.
    """
    missing = sandbox.probe()
    if missing and not unsafe:
        raise sandbox.SandboxError(0, f"{missing} Nothing was graded; --unsafe grades without protection.")
    _say_protections(missing)
    found = _submissions(course, assignments, students)
    classroom.refuse_damaged_gradebook(course)
    with only_run(course / "gradebook"):
        masters = {name: _prepared(course, name) for name in dict.fromkeys(name for name, _ in found)}
        writer = Writer(course)
        try:
            return list(_graded(found, masters, writer, workers or os.cpu_count() or 1, not missing, force, progress))
        finally:
            writer.close()


def _say_protections(missing: str) -> None:
    if missing:
        print(f"NOT PROTECTED: {missing} Students' code runs with your rights.", file=sys.stderr)
        return
    for line in sandbox.protections():
        print(f"protected: {line}", file=sys.stderr)


def _submissions(course: Path, assignments: Sequence[str], students: Sequence[str]) -> list[tuple[str, Path]]:
    known = sorted(path.stem for path in (course / "solutions").glob("*/*.ipynb"))
    submitted = course / "gradebook" / "submitted"
    wanted = list(assignments) or [name for name in known if any(submitted.glob(f"*/{name}"))]
    found = [(name, folder) for name in wanted for folder in classroom.submissions(course, name)]
    unknown = set(students) - {folder.parent.name for _, folder in found}
    if unknown:
        raise classroom.ClassroomError(
            f"no submission of {', '.join(sorted(unknown))}; expected a folder in {submitted}."
        )
    if not found:
        raise classroom.ClassroomError(f"nothing was submitted: {submitted} holds no assignment of this course.")
    return [(name, folder) for name, folder in found if not students or folder.parent.name in students]


def _prepared(course: Path, assignment: str) -> Master:
    """Returns the master, once nbgrader's gradebook knows its cells."""
    master = load_master(course, assignment)
    writer = Writer(course) if (course / "gradebook" / "gradebook.db").exists() else None
    known = writer is not None and writer.knows(assignment, master)
    if writer:
        writer.close()
    if not known:
        done = classroom.nbgrader(course, "generate_assignment", assignment, "--force")
        if done.returncode:
            raise GradebookError(f"nbgrader cannot take {assignment} into the gradebook: {done.stderr[-300:]}")
    return master


def _graded(
    found: Iterable[tuple[str, Path]],
    masters: dict[str, Master],
    writer: Writer,
    workers: int,
    protected: bool,
    force: bool,
    progress: bool,
) -> Iterable[Outcome]:
    waiting: dict[int, tuple[str, str, Work, str]] = {}
    for name, folder in found:
        student = folder.parent.name
        try:
            work = read(folder, masters[name])
        except UnreadableError as problem:
            yield Outcome(student, name, "could not be graded", reason=str(problem))
            continue
        key = hashlib.sha256(f"{work.digest()}|{environment_key(name)}|{student}".encode()).hexdigest()
        if not force and recorded_key(writer.autograded(name, student)) == key:
            yield Outcome(student, name, "unchanged")
        else:
            waiting[len(waiting)] = (name, student, work, key)
    tries = dict.fromkeys(waiting, 0)
    bar = tqdm(total=len(waiting), unit="submission", disable=not progress or not waiting, file=sys.stderr)
    while waiting:
        size = 1 if any(tries.values()) else min(workers, len(waiting))  # after a crash, find the culprit alone
        with ProcessPoolExecutor(size, get_context("spawn"), _start_worker, (protected,)) as pool:
            jobs: dict[Future[Graded], int] = {}
            for index in sorted(waiting, key=lambda i: tries[i]):
                name, student, work, _ = waiting[index]
                jobs[pool.submit(_grade_one, masters[name], work, student)] = index
            for job in as_completed(jobs):
                index = jobs[job]
                name, student, work, key = waiting[index]
                try:
                    graded = job.result()
                except BrokenProcessPool:
                    tries[index] += 1
                    if tries[index] < TRIES:
                        continue
                    outcome = Outcome(student, name, "could not be graded", reason="its worker died three times")
                else:
                    outcome = _written(writer, masters[name], work, graded, name, student, key)
                del waiting[index]
                bar.update()
                yield outcome
    bar.close()


def received(course: Path, assignment: str, student: str) -> datetime.datetime | None:
    """Returns when a submission came in, as its `timestamp.txt` says (nbgrader's way), else None."""
    from nbgrader.utils import parse_utc

    path = course / "gradebook" / "submitted" / student / assignment / "timestamp.txt"
    try:
        found: datetime.datetime = parse_utc(path.read_text(encoding="utf-8")[:100].strip())
    except (OSError, ValueError):
        return None
    return found


def _written(writer: Writer, master: Master, work: Work, graded: Graded, name: str, student: str, key: str) -> Outcome:
    start = time.perf_counter()
    notebook = graded_notebook(master, work, graded, key)
    score = writer.write(name, student, notebook, received(writer.course, name, student))
    graded.seconds["gradebook and files"] = time.perf_counter() - start
    return Outcome(student, name, "graded", score, put_right=graded.put_right, seconds=graded.seconds)


def main(options: object) -> int:
    """Runs from the command line's options; returns 0 only when every submission has a mark."""
    start = time.perf_counter()
    arguments = vars(options)
    try:
        outcomes = run(
            arguments["assignment"],
            students=arguments["student"],
            workers=arguments["workers"],
            unsafe=arguments["unsafe"],
            force=arguments["force"],
        )
    except (classroom.ClassroomError, GradebookError) as problem:
        print(problem, file=sys.stderr)
        return 2
    except sandbox.SandboxError as problem:
        print(problem.strerror, file=sys.stderr)
        return 2
    failed = [outcome for outcome in outcomes if outcome.state == "could not be graded"]
    if arguments["json"]:
        print(json.dumps([asdict(outcome) for outcome in outcomes], indent=1))
        return 1 if failed else 0
    for outcome in sorted(outcomes, key=lambda one: (one.assignment, one.student)):
        mark = "" if outcome.score is None else f"{outcome.score:g}"
        notes = "; ".join([outcome.reason, *outcome.put_right]).strip("; ")
        print(f"{outcome.assignment}  {outcome.student:<24} {outcome.state:<20} {mark:>6}  {notes}")
    counts = {state: sum(one.state == state for one in outcomes) for state in ("graded", "unchanged")}
    put_right = sum(bool(one.put_right) for one in outcomes)
    took = f"{time.perf_counter() - start:.1f} s"
    print(f"\n{counts['graded']} graded ({put_right} put right), {counts['unchanged']} unchanged, ", end="")
    print(f"{len(failed)} could not be graded, in {took}.")
    return 1 if failed else 0
