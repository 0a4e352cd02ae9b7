"""Grade a class the safe way: students' code in sandboxes, verdicts here, one writer for the gradebook."""

from __future__ import annotations

import datetime
import hashlib
import importlib.metadata
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import cache, partial
from multiprocessing import active_children, get_context
from pathlib import Path

import torch
from tqdm import tqdm

from grading import exercise as exercises
from grading import sandbox
from grading.autograder import regrade
from grading.autograder import reporting as telling
from grading.autograder.grade_submission import Budget, Graded, grade
from grading.autograder.gradebook import Writer, graded_notebook, load_master, only_run, recorded_key
from grading.autograder.submission import Master, UnreadableError, Work, read, start_of
from grading.classroom import plain_grading as classroom
from grading.course import ROOT
from grading.errors import CourseError
from grading.sandbox.fork_server import Zygote
from grading.sandbox.student_process import Students
from helpers.checking.serve import ChannelError
from helpers.device import available_cores

TRIES = 3  # a submission whose worker dies this often could not be graded
WORKER_BYTES = 2 << 30  # of memory that a worker may take; the student's processes have a limit of their own


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
_start: Callable[[], Students] = Students
_masters: dict[str, Master] = {}


def _start_worker(run: int, zygote: Zygote, masters: dict[str, Master]) -> None:
    global _start, _masters
    sandbox.die_with(run)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the run, which then ends its workers
    sandbox.limit_growth(WORKER_BYTES)
    torch.set_num_threads(1)
    _start, _masters = partial(Students, zygote), masters


def _grade_one(assignment: str, work: Work, student: str, budget: Budget) -> Graded:
    """Grades in this worker's fork server; a server that has ended is started again, once."""
    global _students
    try:
        _students = _students or _start()
        return grade(_students, _masters[assignment], work, exercises.load(assignment), student, budget)
    except ChannelError:
        if _students:
            _students.__exit__()
        _students = _start()
        return grade(_students, _masters[assignment], work, exercises.load(assignment), student, budget)


# --- in the run -------------------------------------------------------------------------------------------------------


@cache
def environment_key(assignment: str) -> str:
    """Returns a fingerprint of what marks depend on besides the answers: exercises, examiner, versions."""
    folder = ROOT / "grading"
    sources = [*exercises.definitions(assignment), folder / "exercise.py", folder / "examiner.py"]
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
    zygote: Zygote | None = None,
    budget: Budget | None = None,
    exercise: str = "",
    heard: Callable[[Outcome], None] = lambda outcome: None,
) -> list[Outcome]:
    """Grades every submission that has changed since it was graded, and returns what became of each.

    With `exercise` no other exercise's mark is written; `heard` is told each outcome as soon as it is known.

    Raises:
        CourseError: when there is nothing to grade, or a name is unknown.
        CourseError: when another run is at work or the gradebook cannot be written.
        SandboxError: when this machine cannot make a sandbox and `unsafe` is not given.
    """
    missing = sandbox.probe()
    if missing and not unsafe:
        raise sandbox.SandboxError(0, f"{missing} Nothing was graded; --unsafe grades without protection.")
    _say_protections(missing)
    found = _submissions(course, assignments, students)
    classroom.refuse_damaged_gradebook(course)
    with ExitStack() as stack:
        stack.enter_context(only_run(course / "gradebook"))
        if zygote is None:
            zygote = stack.enter_context(Zygote(protected=not missing))
        masters = {name: _prepared(course, name) for name in dict.fromkeys(name for name, _ in found)}
        writer = stack.enter_context(closing(Writer(course)))
        cores, outcomes = workers or available_cores(), list[Outcome]()
        settings = (force, progress, budget or Budget(), exercise)
        for outcome in _graded(found, masters, writer, zygote, cores, *settings):
            outcomes.append(outcome)
            heard(outcome)
        return outcomes


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
        raise CourseError(f"no submission of {', '.join(sorted(unknown))}; expected a folder in {submitted}.")
    if not found:
        raise CourseError(f"nothing was submitted: {submitted} holds no assignment of this course.")
    return [(name, folder) for name, folder in found if not students or folder.parent.name in students]


def _prepared(course: Path, assignment: str) -> Master:
    """Returns the master, once nbgrader's gradebook knows its cells."""
    master = load_master(course, assignment)
    database = course / "gradebook" / "gradebook.db"
    made = database.exists() and database.stat().st_size > 0  # an empty file is what a full disk may leave
    writer = Writer(course) if made else None
    known = writer is not None and writer.knows(assignment, master)
    if writer:
        writer.close()
    if not known:
        done = classroom.nbgrader(course, "generate_assignment", assignment, "--force")
        if done.returncode:
            raise CourseError(f"nbgrader cannot take {assignment} into the gradebook: {done.stderr[-300:]}")
    return master


def _graded(
    found: Iterable[tuple[str, Path]],
    masters: dict[str, Master],
    writer: Writer,
    zygote: Zygote,
    workers: int,
    force: bool,
    progress: bool,
    budget: Budget,
    exercise: str,
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
    tqdm.monitor_interval = 0  # its thread could hold a lock just when a worker is forked
    bar = tqdm(total=len(waiting), unit="submission", disable=not progress or not waiting, file=sys.stderr)
    tries, suspects = dict.fromkeys(waiting, 0), list[int]()  # suspects: what a dead worker may have been at
    while waiting:
        batch = suspects[:1] or sorted(waiting)
        broken = []
        for index, result in _results(masters, zygote, {i: waiting[i] for i in batch}, workers, budget):
            name, student, work, key = waiting[index]
            if isinstance(result, BrokenProcessPool):
                broken.append(index)
                continue
            if isinstance(result, Graded):
                outcome = _written(writer, masters[name], work, result, name, student, key, exercise)
            else:
                told = f"the examiner stopped with {type(result).__name__}: {result}"[:300]
                outcome = Outcome(student, name, "could not be graded", reason=told)
            del waiting[index]
            bar.update()
            yield outcome
        if len(batch) > 1:
            suspects = sorted(broken)[: 2 * workers + 1]  # jobs start in order, and few are ahead of their workers
            continue
        for index in broken:
            tries[index] += 1
            if tries[index] == TRIES:
                name, student, _, _ = waiting.pop(index)
                bar.update()
                yield Outcome(student, name, "could not be graded", reason=f"its worker died {TRIES} times")
        suspects = [index for index in suspects if index in waiting]
    bar.close()


def _results(
    masters: dict[str, Master],
    zygote: Zygote,
    batch: dict[int, tuple[str, str, Work, str]],
    workers: int,
    budget: Budget,
) -> Iterator[tuple[int, Graded | Exception]]:
    """Yields each submission's index with its grading, or with what went wrong, as they come from a pool."""
    settings = (os.getpid(), zygote, masters)
    with ProcessPoolExecutor(min(workers, len(batch)), get_context("fork"), _start_worker, settings) as pool:
        jobs = {pool.submit(_grade_one, one[0], one[2], one[1], budget): index for index, one in batch.items()}
        try:
            for job in as_completed(jobs):
                problem = job.exception()
                if problem is not None and not isinstance(problem, Exception):
                    raise problem
                yield jobs[job], problem or job.result()
        except BaseException:  # Ctrl-C, or a gradebook that cannot be written: do not wait for what still runs
            pool.shutdown(wait=False, cancel_futures=True)
            for process in active_children():
                process.kill()
            raise


def received(course: Path, assignment: str, student: str) -> datetime.datetime | None:
    """Returns when a submission came in, as its `timestamp.txt` says (nbgrader's way), else None."""
    from nbgrader.utils import parse_utc

    path = course / "gradebook" / "submitted" / student / assignment / "timestamp.txt"
    try:
        found: datetime.datetime = parse_utc(start_of(path, 100).decode("utf-8-sig").strip())
    except (OSError, ValueError, OverflowError):
        return None
    return found


def _written(
    writer: Writer, master: Master, work: Work, graded: Graded, name: str, student: str, key: str, exercise: str
) -> Outcome:
    start = time.perf_counter()
    notebook = graded_notebook(master, work, graded, key)
    kept = regrade.merged(writer.autograded(name, student), notebook, exercise) if exercise else None
    came = received(writer.course, name, student)
    score = writer.write(name, student, kept or notebook, came, only=exercise if kept else "")
    graded.seconds["gradebook and files"] = time.perf_counter() - start
    return Outcome(student, name, "graded", score, put_right=graded.put_right, seconds=graded.seconds)


def main(options: object, zygote: Zygote | None = None) -> int:
    """Runs from the command line's options; returns 0 only when every submission has a mark."""
    start = time.perf_counter()
    arguments = vars(options)
    course = (arguments.get("course") or ROOT).resolve()
    log = telling.Log(course, "autograde")
    log.say(f"autograde {arguments}")
    try:
        outcomes = run(
            arguments["assignment"],
            students=arguments["student"],
            workers=arguments["workers"],
            unsafe=arguments["unsafe"],
            course=course,
            force=arguments["force"],
            zygote=zygote,
            heard=log.outcome,
        )
        if not arguments["assignment"] and not arguments["student"]:
            outcomes += _strays(course)
    except CourseError as problem:
        return _stopped(log, str(problem), 2)
    except sandbox.SandboxError as problem:
        return _stopped(log, str(problem.strerror), 2)
    except OSError as problem:
        kept = "marks written so far are whole. Make room or give the right, and run the same command again."
        return _stopped(log, f"a file cannot be written ({problem}); {kept}", 2)
    except KeyboardInterrupt:
        return _stopped(log, "stopped; marks written so far are whole. Run the same command again to go on.", 130)
    told = telling.summary(outcomes, time.perf_counter() - start)
    log.say(told)
    log.close()
    print(telling.as_json(outcomes) if arguments["json"] else f"{telling.table(outcomes)}\n\n{told}")
    print(f"log: {log.path}", file=sys.stderr)
    return 1 if any(outcome.state == telling.FAILED for outcome in outcomes) else 0


def _strays(course: Path) -> list[Outcome]:
    known = sorted(path.stem for path in (course / "solutions").glob("*/*.ipynb"))
    reason = f"no assignment is called so; expected one of: {', '.join(known)}"
    return [Outcome(student, name, telling.FAILED, reason=reason) for student, name in telling.strays(course, known)]


def _stopped(log: telling.Log, sentence: str, status: int) -> int:
    log.say(sentence)
    log.close()
    print(sentence, file=sys.stderr)
    return status
