"""Submissions that try to hold whoever grades, among honest ones: how long the run takes, and whether a mark is lost.

    python -m benchmarks.hold_up                    # 30 among 30
    python -m benchmarks.hold_up --each 3 --workers 2

The hostile ones are those of `tests/hostile/costs.py` (replies expensive to read, and processes that hardly work),
one after the other until there are enough. The honest ones are graded first by themselves, then among the others.
Beside the time of a run stands what it has used of processors, which says on a busy machine how long a quiet one takes.
"""

import argparse
import itertools
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

import nbformat

from grading.autograder import run as autograde
from grading.autograder.outcome import GRADED, Outcome
from grading.classroom import demo
from grading.folder.course import ROOT, Course
from grading.sandbox.fork_server import ForkServer
from tests.classroom.submissions import ASSIGNMENT, cell, released
from tests.hostile.costs import CASES

# One of each kind in turn, those first that have cost most.
KINDS = [
    "dear_many_numbers_of_formulas",
    "lazy_answer",
    "dear_colliding_members",
    "lazy_cell",
    "dear_small_dicts",
    "lazy_everywhere",
    "lazy_answer_in_a_child_by_vfork",
    "lazy_cells_everywhere",
    "dear_long_text",
    "lazy_answer_that_works_a_little",
    "dear_colliding_keys",
    "lazy_answer_that_works_half_of_the_time",
    "dear_keys_of_tensors",
    "lazy_answer_that_takes_no_questions",
    "dear_a_large_tensor",
]
HONEST = ("ada_perfect", "blaise_half_done", "chloe_empty", "denis_mistaken")


def make(course: Path, honest: int, hostile: int) -> list[str]:
    """Makes a class of so many submissions of each sort; returns the names of the honest students."""
    (course / "solutions" / ASSIGNMENT).mkdir(parents=True)
    shutil.copy(ROOT / "nbgrader_config.py", course)
    shutil.copy(Course().solution(ASSIGNMENT), course / "solutions" / ASSIGNMENT)
    good = [text for name, text in demo.submissions(released()).items() if name in HONEST]
    names = [f"honest_{number:02d}" for number in range(honest)]
    contents = dict(zip(names, itertools.cycle(good), strict=False))
    cases = {case.name: case for case in CASES}
    for number, kind in zip(range(hostile), itertools.cycle(KINDS), strict=False):
        notebook = released()
        for name, source in cases[kind].cells.items():
            cell(notebook, name).source = source
        contents[f"hostile_{number:02d}_{kind}"] = nbformat.writes(notebook)
    for student, content in contents.items():
        folder = Course(course).submitted(student, ASSIGNMENT)
        folder.mkdir(parents=True)
        (folder / "timestamp.txt").write_text(demo.RECEIVED, encoding="utf-8")
        (folder / f"{ASSIGNMENT}.ipynb").write_text(content, encoding="utf-8")
    return names


def graded(course: Path, workers: int, students: list[str] | None = None) -> tuple[dict[str, Outcome], str]:
    """Grades anew; returns the outcomes by student, and in words how long it took."""
    start, used = time.perf_counter(), _used()
    settings = autograde.Settings(
        Course(course), students=students or (), workers=workers, force=True, progress=sys.stderr.isatty()
    )
    with ForkServer() as fork_server:
        outcomes = autograde.run(settings, fork_server)
    took, cpu = time.perf_counter() - start, _used() - used
    report = f"{took:.1f} s, with {cpu:.1f} s of a processor for the examiners"
    return {one.student: one for one in outcomes}, report


def _used() -> float:
    """Returns the CPU seconds of this process and of the workers that it has had."""
    both = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(one.ru_utime + one.ru_stime for one in both)


def marks(outcomes: dict[str, Outcome], names: list[str]) -> dict[str, float | None]:
    """Returns the marks of some students."""
    return {name: outcomes[name].score for name in names}


def main() -> int:
    """Prints both runs, the slowest submissions, and each honest mark that differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=30, help="how many submissions of each sort")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder)
        names = make(course, options.each, options.each)
        alone, took = graded(course, options.workers, names)
        print(f"{len(names)} honest submissions alone, {options.workers} workers: {took}")
        together, took = graded(course, options.workers)
        print(f"the same among {options.each} hostile ones: {took}")
        for one in sorted(together.values(), key=lambda one: -sum(one.seconds.values()))[:8]:
            seconds, odd = sum(one.seconds.values()), "; ".join(one.odd)[:90]
            print(f"  {seconds:6.1f} s  {one.student}: {one.state}, {one.score}; {odd}")
        different = [name for name in names if marks(alone, names)[name] != marks(together, names)[name]]
        failed = [one.student for one in together.values() if one.state != GRADED]
        print(f"honest marks that differ: {different or 'none'}; not graded: {failed or 'none'}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
