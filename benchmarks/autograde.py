"""The safe autograder against plain `nbgrader autograde`: the same submissions, in the same run, with the same marks.

    python -m benchmarks.autograde                                # notebook 01, 40 submissions
    python -m benchmarks.autograde 06_pretrained_vs_scratch --experiments
    python -m benchmarks.autograde --growth 50 500 2000           # the safe way alone: does the cost grow linearly?
    python -m benchmarks.autograde --all                          # a row of every notebook, half an hour and more
    python -m benchmarks.autograde --parts                        # the same without plain nbgrader
    python -m benchmarks.autograde 11_translation --parts         # its row alone

A course keeps the sets of questions that it has drawn: what a run takes that finds them is measured, and that of the
first one beside it.

Run it on a quiet machine: processor time is that of the whole machine, since the sandboxed processes are killed when
they are no longer needed, and a killed process takes its times with it. Memory is the highest sum, over all processes
of a run but the one that writes the gradebook, of their share of it (a page that several share counts once in all).
To look at it takes time, so it is measured in a run of its own, or seldom.
"""

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import nbformat

from grading import sandbox
from grading.authoring import bank
from grading.autograder import run as autograde
from grading.autograder.nbgrader_commands import nbgrader
from grading.autograder.outcome import Outcome
from grading.autograder.pool import WORKER_BYTES
from grading.classroom import demo
from grading.definitions import catalogue
from grading.folder.course import ROOT, Course

# The columns of a row of `each_notebook`; the last five are those beside plain nbgrader.
ROW = (
    "submissions/min",
    "CPU s each",
    "CPU s each, first run",
    "plain: submissions/min",
    "plain: CPU s each",
    "times plain, by the clock",
    "times plain, per core",
    "same marks",
)


@dataclass
class Spent:
    """What a block of code took: `wall` and `cpu` in seconds, `memory` in bytes at most."""

    wall: float = 0.0
    cpu: float = 0.0
    memory: int = 0


def busy() -> float:
    """Returns the CPU time of the whole machine since it started (s)."""
    fields = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
    user, nice, system, _, _, irq, softirq = map(int, fields[:7])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def memory_below(process: int) -> int:
    """Returns the memory of all processes below one (bytes); a page that several share counts once in all."""
    parents: dict[int, list[int]] = defaultdict(list)
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has just ended
            parents[int(path.read_text().rpartition(")")[2].split()[1])].append(int(path.parent.name))
    total, below = 0, list(parents[process])
    while below:
        one = below.pop()
        below += parents[one]
        with suppress(OSError):
            lines = Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
    return total


@contextmanager
def spending(look_every: float | None) -> Iterator[Spent]:
    """Measures the block; looks at the memory, if at all, every so many seconds, which takes a tenth of one."""
    spent, wall, cpu, over = Spent(), time.perf_counter(), busy(), threading.Event()

    def watch() -> None:
        while not over.wait(look_every):
            spent.memory = max(spent.memory, memory_below(os.getpid()))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield spent
    finally:
        over.set()
        watcher.join()
    spent.wall, spent.cpu = time.perf_counter() - wall, busy() - cpu


def make_class(course: Path, assignment: str, count: int) -> None:
    """Writes a course folder with `count` submissions: for each exercise one of the bank's answers, drawn by seed."""
    source = ROOT / "solutions" / assignment / f"{assignment}.ipynb"
    folder = course / "solutions" / assignment
    folder.mkdir(parents=True)
    shutil.copy(source, folder)
    shutil.copy(ROOT / "nbgrader_config.py", course)
    released = nbformat.read(ROOT / "notebooks" / assignment / f"{assignment}.ipynb", as_version=4)
    answers = defaultdict(list)
    for answer in bank.answers(assignment):
        if not any(word in answer.source for word in ("while True", "sleep(")):  # time limits are not the subject
            answers[answer.exercise].append(answer)
    for number in range(count):
        drawn = random.Random(number)
        chosen = {name: drawn.choice(known).source for name, known in answers.items()}
        path = course / "gradebook" / "submitted" / f"student-{number:04d}" / assignment / f"{assignment}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(nbformat.writes(demo.fill(released, chosen)), encoding="utf-8")


def plain(course: Path, assignment: str, experiments: bool) -> tuple[Spent, dict[str, float]]:
    """Grades with `nbgrader autograde` in plain kernels; returns what it took, and the marks."""
    nbgrader(course, "generate_assignment", assignment, "--force")
    skip = ["--SandboxedExecute.unprotected=True", *(["--Execute.skip_cells_with_tag="] if experiments else [])]
    with spending(look_every=5) as spent:
        done = nbgrader(course, "autograde", assignment, *skip)
    if done.returncode:
        print(done.stderr[-2000:], file=sys.stderr)
    return spent, marks(course, assignment)


def safe(course: Path, assignment: str, workers: int, look_every: float | None = None) -> tuple[Spent, list[Outcome]]:
    """Grades in sandboxes; returns what it took, and the outcomes."""
    nbgrader(course, "generate_assignment", assignment, "--force")
    return graded(course, assignment, workers, look_every)


def graded(course: Path, assignment: str, workers: int, look_every: float | None = None) -> tuple[Spent, list[Outcome]]:
    """Grades in sandboxes what nbgrader knows already, also what was graded before."""
    settings = autograde.Settings(Course(course), [assignment], workers=workers, force=True)
    with spending(look_every) as spent:
        outcomes = autograde.run(settings)
    return spent, outcomes


def marks(course: Path, assignment: str) -> dict[str, float]:
    """Returns the score of each student from nbgrader's gradebook."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course / 'gradebook' / 'gradebook.db'}", "transformers") as gradebook:
        return {one.student_id: float(one.score) for one in gradebook.assignment_submissions(assignment)}


def line(name: str, spent: Spent, count: int, against: Spent | None = None, base: int = 1) -> str:
    """Returns a row of the table; `against` took its time for `base` submissions."""
    rate, cpu = 60 * count / spent.wall, spent.cpu / count
    ratios = ("", "")
    if against is not None:
        ratios = (f"{rate / (60 * base / against.wall):.1f}", f"{against.cpu / base / cpu:.1f}")
    return f"| {name} | {rate:.0f} | {cpu:.2f} | {ratios[0]} | {ratios[1]} |"


def compare(assignment: str, count: int, plain_count: int, workers: list[int], experiments: bool) -> None:
    """Prints the table of one notebook, and says where the time of the safe way went; all questions are drawn in it."""
    print(f"\n{assignment}, {count} submissions (plain nbgrader: {plain_count} of them)")
    with tempfile.TemporaryDirectory(prefix="benchmark-") as name:
        few, course = Path(name) / "plain", Path(name) / "safe"
        make_class(few, assignment, plain_count)
        spent_plain, marks_plain = plain(few, assignment, experiments)
        head = "| way | submissions/min | CPU s per submission | times plain, by the clock | times plain, per core |"
        print(f"{head}\n|---|---|---|---|---|\n{line('plain nbgrader', spent_plain, plain_count)}", flush=True)
        for number in workers:
            shutil.rmtree(course, ignore_errors=True)
            make_class(course, assignment, count)
            spent, outcomes = safe(course, assignment, number)
            way = f"safe, {number} worker{'s' * (number > 1)}"
            print(line(way, spent, count, spent_plain, plain_count), flush=True)
        found = marks(course, assignment)
        different = {s: (mark, found.get(s)) for s, mark in marks_plain.items() if found.get(s) != mark}
        print(f"The same marks in {len(marks_plain) - len(different)} of {len(marks_plain)}.", *different.items())
        times = ", ".join(f"{part} {spent:.0f}" for part, spent in parts(outcomes).items())
        print(f"Where the time of one submission goes (ms, mean): {times}.")
        shutil.rmtree(course)
        make_class(course, assignment, count)
        watched, _ = safe(course, assignment, number, look_every=0.3)
        print(f"Memory for each worker, at most: safe {watched.memory / number / 2**20:.0f} MB ({number} at work), "
              f"plain {spent_plain.memory / 2**20:.0f} MB. The safe way ends a worker that takes "
              f"{WORKER_BYTES >> 20} MB more, and a student's processes at "
              f"{sandbox.Limits().memory >> 20} MB.")  # fmt: skip


def parts(outcomes: list[Outcome]) -> dict[str, float]:
    """Returns the milliseconds by the clock that each part of grading took, the mean over all submissions."""
    names = dict.fromkeys(part for outcome in outcomes for part in outcome.seconds)
    return {part: 1000 * statistics.mean(outcome.seconds.get(part, 0.0) for outcome in outcomes) for part in names}


def each_notebook(assignments: Sequence[str], count: int, plain_count: int, workers: int) -> None:
    """Prints a row for each notebook: the safe way, plain nbgrader unless `plain_count` is 0, where time goes."""
    header: tuple[str, ...] = ()
    for assignment in assignments:
        with tempfile.TemporaryDirectory(prefix="benchmark-") as name:
            usual, few = Path(name) / "safe", Path(name) / "plain"
            make_class(usual, assignment, count)
            first, _ = safe(usual, assignment, workers)
            spent, outcomes = graded(usual, assignment, workers)
            found = parts(outcomes)
            row = [f"{60 * count / spent.wall:.0f}", f"{spent.cpu / count:.2f}", f"{first.cpu / count:.2f}"]
            if plain_count:
                make_class(few, assignment, plain_count)
                base, expected = plain(few, assignment, experiments=False)
                rate, cpu = plain_count / base.wall, base.cpu / plain_count
                row += [f"{60 * rate:.0f}", f"{cpu:.2f}"]
                row += [f"{count / spent.wall / rate:.1f}", f"{cpu / (spent.cpu / count):.1f}"]
                mine = marks(usual, assignment)
                row += [f"{sum(mine.get(student) == mark for student, mark in expected.items())} of {len(expected)}"]
            if not header:
                header = ("notebook", *ROW[: len(row)], *(f"{part}, ms" for part in found))
                print(f"| {' | '.join(header)} |\n|{'---|' * len(header)}")
            row += [f"{spent:.0f}" for spent in found.values()]
            print(f"| {' | '.join([assignment, *row])} |", flush=True)


def growth(assignment: str, counts: list[int], workers: int) -> None:
    """Prints submissions per minute for classes of different sizes."""
    print("| submissions | submissions/min | CPU s per submission | gradebook, ms | MB per worker |")
    print("|---|---|---|---|---|")
    for count in counts:
        with tempfile.TemporaryDirectory(prefix="benchmark-") as name:
            make_class(Path(name), assignment, count)
            spent, outcomes = safe(Path(name), assignment, workers, look_every=5)
            book = statistics.mean(outcome.seconds.get("gradebook and files", 0.0) for outcome in outcomes)
            rate, cpu = 60 * count / spent.wall, spent.cpu / count
            memory = spent.memory / workers / 2**20
            print(f"| {count} | {rate:.0f} | {cpu:.2f} | {1000 * book:.0f} | {memory:.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("assignment", nargs="?", help="default: 01_causal_mask; with --all and --parts every notebook")
    parser.add_argument("--submissions", type=int, help="default: 40; with --all 12")
    parser.add_argument("--plain", type=int, help="how many of them plain nbgrader grades (default: all; with --all 2)")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, os.cpu_count() or 1])
    parser.add_argument("--experiments", action="store_true", help="plain nbgrader runs the experiments too")
    parser.add_argument("--growth", type=int, nargs="+", help="only the safe way, on classes of these sizes")
    parser.add_argument("--all", action="store_true", help="a row of every notebook, or of the one that is named")
    parser.add_argument("--parts", action="store_true", help="the same without plain nbgrader")
    options = parser.parse_args()
    missing = sandbox.probe()
    if missing:
        parser.error(missing)
    revision = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    print(f"revision {revision.stdout.strip()}, {os.cpu_count()} cores")
    rows = [options.assignment] if options.assignment else catalogue.notebooks()
    assignment = options.assignment or "01_causal_mask"
    if options.all:
        each_notebook(rows, options.submissions or 12, options.plain or 2, max(options.workers))
    elif options.parts:
        each_notebook(rows, options.submissions or 40, 0, max(options.workers))
    elif options.growth:
        growth(assignment, options.growth, max(options.workers))
    else:
        count = options.submissions or 40
        compare(assignment, count, options.plain or count, options.workers, options.experiments)


if __name__ == "__main__":
    main()
