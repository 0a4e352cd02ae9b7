"""Grade a class the safe way: students' code in sandboxes, verdicts here, one writer for the gradebook."""

from __future__ import annotations

import datetime
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tqdm import tqdm

from grading.autograder import pool
from grading.autograder.drawn_sets import DrawnSets
from grading.autograder.entering import enter, say_who_is_left, ungraded
from grading.autograder.fingerprint import submission_key
from grading.autograder.grade_submission import Budget, Graded
from grading.autograder.gradebook import Writer, only_run
from grading.autograder.graded_notebook import graded_notebook, load_master, merge_exercise, recorded_key
from grading.autograder.marks import Marked, Written
from grading.autograder.outcome import FAILED, GRADED, UNCHANGED, Outcome
from grading.autograder.penalties import LatePenalties, PenaltyError
from grading.autograder.pool import Job
from grading.autograder.preparation import chosen, start_fork_server
from grading.autograder.seeds import secret_of, seed_of
from grading.autograder.submission import Master, UnreadableError, read
from grading.folder.course import Course, parse_timestamp
from grading.notebooks.beside import STAMP, read_beside, why_no_time
from grading.sandbox.fork_server import ForkServer
from helpers.device import available_cores

# Yields the jobs with their gradings, or with a sentence on why there is none, as they come: all that are there.
Grader = Callable[[Iterable[Job]], Generator[list[tuple[Job, Graded | str]]]]


@dataclass(frozen=True)
class Settings:
    """What a run grades, and how.

    `assignments` and `students` name those that are wanted, none stands for all; with `exercise` no other exercise's
    mark is written; `workers` are one for each core when none are given; `force` grades unchanged submissions too, and
    `unsafe` even where no sandbox can be made. `cluster` is the address of a Dask scheduler whose workers grade.
    """

    course: Course
    assignments: Sequence[str] = ()
    students: Sequence[str] = ()
    exercise: str = ""
    workers: int | None = None
    force: bool = False
    unsafe: bool = False
    cluster: str = ""
    progress: bool = True
    budget: Budget = field(default_factory=Budget)


def run(
    settings: Settings,
    fork_server: ForkServer | None = None,
    on_outcome: Callable[[Outcome], None] = lambda outcome: None,
    report: Callable[[str], None] = lambda sentence: print(sentence, file=sys.stderr),
) -> list[Outcome]:
    """Grades every submission that has changed since it was graded, and returns what became of each.

    Args:
        settings: what is graded, and how.
        fork_server: the fork server, where it has been started already.
        on_outcome: gets each outcome as soon as it is known.
        report: gets in a sentence what else happens, such as a database server that goes away and comes back.

    Raises:
        CourseError: when there is nothing to grade, a name is unknown, or this machine cannot make a sandbox.
        CourseError: when another run is at work or the gradebook cannot be written.
        CourseError: when the cluster cannot grade, or is lost.
    """
    course = settings.course
    found = chosen(course, settings.assignments, settings.students)
    with ExitStack() as stack:
        if not settings.cluster:
            fork_server = fork_server or stack.enter_context(start_fork_server(unsafe=settings.unsafe))
        stack.enter_context(only_run(course))
        course.refuse_damaged_gradebook()
        penalties = LatePenalties(course)  # wrong settings are reported before anything is graded
        masters = {name: _prepare(course, name, report) for name in dict.fromkeys(name for name, _ in found)}
        writer = stack.enter_context(closing(Writer(course, penalties, report)))
        if fork_server is None:
            from grading.autograder.cluster import Cluster, definitions
            from grading.autograder.cluster_plugin import GradingPlugin

            plugin = GradingPlugin(definitions(masters, settings.budget))
            grade_all: Grader = stack.enter_context(Cluster(settings.cluster, plugin)).grade_all
        else:
            sets = DrawnSets.of(course, report)
            pool.prepare(fork_server, masters, sets)
            context = pool.Context(fork_server, masters, settings.budget, sets)
            grade_all = partial(pool.grade_all, workers=settings.workers or available_cores(), context=context)
        for odd in filter(None, (why_no_time(folder) for _, folder in found)):
            report(odd)
        outcomes = list[Outcome]()
        for outcome in _grade_all(settings, found, masters, grade_all, writer):
            outcomes.append(outcome)
            on_outcome(outcome)
        for name in masters:  # whom this run was not to grade
            done = {one.student for one in outcomes if one.assignment == name}
            if left := [student for student in ungraded(course, name) if student not in done]:
                report(say_who_is_left(name, left, f"python -m grading autograde {name}"))
        return outcomes


def _prepare(course: Course, assignment: str, report: Callable[[str], None]) -> Master:
    """Returns the master, once nbgrader's gradebook has its cells and points."""
    master = load_master(course, assignment)
    pool.refuse_unbuilt(master)
    if changed := enter(course, master, report):
        report(changed)
    return master


def _grade_all(
    settings: Settings,
    found: Sequence[tuple[str, Path]],
    masters: Mapping[str, Master],
    grade_all: Grader,
    writer: Writer,
) -> Iterator[Outcome]:
    """Yields what became of each submission: of those that need no grading when they are read, of others as they come.

    A submission is read when there is a worker for it: of a large class only a few are in memory at a time.
    """
    settled, secret = deque[Outcome](), secret_of(settings.course)

    def jobs() -> Iterator[Job]:
        for name, folder in found:
            job = _job(settings, folder, masters[name], writer, secret)
            if isinstance(job, Job):
                yield job
            else:
                settled.append(job)
                bar.update()

    tqdm.monitor_interval = 0  # its thread could hold a lock just when a worker is forked
    with (
        tqdm(total=len(found), unit="submission", disable=not settings.progress, file=sys.stderr) as bar,
        closing(grade_all(jobs())) as results,
    ):
        for done in results:
            while settled:
                yield settled.popleft()
            yield from _write(writer, masters, done, settings.exercise)
            bar.update(len(done))
    yield from settled


def _job(settings: Settings, folder: Path, master: Master, writer: Writer, secret: bytes) -> Job | Outcome:
    """Returns a submission as a job, or what became of it when it needs or allows no grading."""
    name, student = master.assignment, folder.parent.name
    beside = read_beside(folder)  # now: a newer attempt may come in while this one is graded
    try:
        work = read(folder, master)
    except UnreadableError as problem:
        return Outcome(student, name, FAILED, reason=str(problem))
    seed = seed_of(secret, student, work.digest())
    key = submission_key(work.digest(), name, student, seed)
    if not settings.force and recorded_key(settings.course.autograded(student, name)) == key:
        try:
            held = writer.count_lateness(name, student, _received(beside))
        except PenaltyError as problem:
            return Outcome(student, name, FAILED, reason=str(problem))
        if held is not None:
            writer.keep_beside(name, student, beside)  # the same answers may have been handed in once more
            return _unchanged(student, name, held)
    return Job(name, student, work, key, seed, beside)


def _received(beside: Mapping[str, bytes]) -> datetime.datetime | None:
    """Returns when an attempt came in, in UTC; None where it does not say."""
    return parse_timestamp(beside[STAMP]) if STAMP in beside else None


def _unchanged(student: str, name: str, held: Written) -> Outcome:
    """Returns the outcome of a submission with its old answers, and its mark where lateness now counts otherwise."""
    if not held.changed:
        return Outcome(student, name, UNCHANGED)
    return Outcome(student, name, UNCHANGED, held.score, "its lateness was counted anew", penalty=held.penalty)


def _write(
    writer: Writer, masters: Mapping[str, Master], done: Sequence[tuple[Job, Graded | str]], exercise: str
) -> Iterator[Outcome]:
    """Writes the marks and the graded notebooks of submissions, or what belongs to one exercise of them."""
    start = time.perf_counter()
    marked = dict[Job, Marked]()
    for job, graded in done:
        if isinstance(graded, Graded):
            marked[job] = _marked(writer.course, masters[job.assignment], job, graded, exercise)
    results = dict(zip(marked, writer.write([*marked.values()]), strict=True))
    spent = (time.perf_counter() - start) / max(1, len(marked))
    for job, graded in done:
        name, student = job.assignment, job.student
        written = results.get(job)
        if isinstance(graded, str):
            yield Outcome(student, name, FAILED, reason=graded)
        elif isinstance(written, Written):
            graded.seconds["gradebook and files"] = spent
            notes = (graded.repairs, graded.odd, graded.seconds, written.penalty)
            yield Outcome(student, name, GRADED, written.score, "", *notes, lacking=sorted(graded.lacking))
        else:
            yield Outcome(student, name, FAILED, reason=str(written))


def _marked(course: Course, master: Master, job: Job, graded: Graded, exercise: str) -> Marked:
    """Returns a grading as it is written; with `exercise` what was graded before stays, but for this one's mark."""
    notebook = graded_notebook(master, job.work, graded, job.key)
    path = course.autograded(job.student, job.assignment)
    # Of a newer attempt everything is graded: a notebook made of two would go back to one of them.
    same = read_beside(path.parent) in (job.beside, {})
    kept = merge_exercise(path, notebook, exercise) if exercise and same else None
    received = _received(job.beside)
    return Marked(job.assignment, job.student, kept or notebook, received, job.beside, only=exercise if kept else "")
