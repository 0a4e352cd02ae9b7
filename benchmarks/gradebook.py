"""How many submissions a second the writer takes: recorded gradings are written again, into SQLite and PostgreSQL.

    python -m benchmarks.gradebook                                  # notebook 01, 1,000 submissions
    python -m benchmarks.gradebook 11_translation --submissions 300
    python -m benchmarks.gradebook --address postgresql+psycopg://teacher@localhost/empty_database

The gradings are those of a few submissions, drawn from the answers of the bank and graded once; each student gets one
of them. Two ways write the same marks in the same run: nbgrader's own API as `nbgrader autograde` uses it (objects for
each cell, a commit for each mark; no file is written), and the writer of `python -m grading autograde` (the notebook
is made of the grading, and written too). Then the rows of both are compared. Without `--address`, a server of
this machine's PostgreSQL is started in a folder of its own, with its settings as Debian has them (`fsync` is on).
The clock says what a quiet machine can do; the processor's time is this process's own, without the server's.
"""

import argparse
import itertools
import os
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from benchmarks.autograde import make_class
from grading.autograder import run as autograde
from grading.autograder.grade_submission import Graded
from grading.autograder.gradebook import Writer
from grading.autograder.graded_notebook import graded_notebook, load_master
from grading.autograder.marks import Marked, Written
from grading.autograder.nbgrader_commands import nbgrader
from grading.autograder.penalties import LatePenalties
from grading.autograder.pool import Job
from grading.autograder.submission import Master
from grading.folder.course import Course
from grading.folder.errors import CourseError
from tests.classroom.servers import Server, why_no_server

RECORDED = 12  # submissions that are graded once


def record(course: Course, assignment: str) -> tuple[Master, list[tuple[Job, Graded]]]:
    """Grades a few submissions, and returns what the workers gave."""
    make_class(course.root, assignment, RECORDED)
    recorded = list[tuple[Job, Graded]]()
    marked = autograde._marked

    def recording(course: Course, master: Master, job: Job, graded: Graded, exercise: str) -> Marked:
        recorded.append((job, graded))
        return marked(course, master, job, graded, exercise)

    autograde._marked = recording
    try:
        autograde.run(autograde.Settings(course, [assignment], progress=False))
    finally:
        autograde._marked = marked
    return load_master(course, assignment), recorded


def by_the_api(course: Course, assignment: str, notebooks: Mapping[str, NotebookNode]) -> None:
    """Writes marks as nbgrader's SaveAutoGrades and AssignLatePenalties do where nothing is late; writes no file."""
    from nbgrader.utils import compute_checksum, determine_grade, is_grade, is_solution

    for student, notebook in notebooks.items():
        with course.gradebook() as book:  # nbgrader's step `init_assignment`
            book.update_or_create_student(student)
            book.update_or_create_submission(assignment, student)
        with course.gradebook() as book:  # SaveAutoGrades
            for cell in notebook.cells:
                name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
                if is_grade(cell):
                    grade = book.find_grade(name, assignment, assignment, student)
                    grade.auto_score = determine_grade(cell)[0]
                    grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
                    book.db.commit()
                if is_solution(cell):
                    comment = book.find_comment(name, assignment, assignment, student)
                    untouched = cell.metadata.nbgrader.get("checksum") == compute_checksum(cell)
                    comment.auto_comment = "No response." if untouched else None
                    book.db.commit()
        with course.gradebook() as book:  # AssignLatePenalties
            book.find_submission(assignment, student)
            book.find_submission_notebook(assignment, assignment, student).late_submission_penalty = None
            book.db.commit()


def by_the_writer(
    course: Course, assignment: str, replayed: Mapping[str, tuple[Job, Graded]], master: Master, batch: int
) -> None:
    """Writes as a run does that has so many results at once, with the notebooks that are made of them."""
    students = iter(replayed.items())
    with closing(Writer(course, LatePenalties(course))) as writer:
        while some := [*itertools.islice(students, batch)]:
            marked = [
                Marked(assignment, student, graded_notebook(master, job.work, graded, job.key), None)
                for student, (job, graded) in some
            ]
            assert all(isinstance(one, Written) for one in writer.write(marked))


def rows(course: Course) -> dict[str, Any]:
    """Returns all that the gradebook says of each student, but ids that are drawn at random."""
    with course.gradebook() as book:
        return {
            submission.student_id: (
                submission.timestamp,
                [
                    (
                        part.late_submission_penalty,
                        part.flagged,
                        sorted((g.name, g.auto_score, g.manual_score, g.needs_manual_grade) for g in part.grades),
                        sorted((c.name, c.auto_comment, c.manual_comment) for c in part.comments),
                    )
                    for part in submission.notebooks
                ],
            )
            for assignment in book.assignments
            for submission in book.assignment_submissions(assignment.name)
        }


@contextmanager
def fresh(folder: Path, template: Course, address: str) -> Iterator[Course]:
    """Yields a course folder without marks, with its gradebook at the address ("" for SQLite's file)."""
    root = folder / "course"
    shutil.copytree(template.root, root, ignore=shutil.ignore_patterns("gradebook"))
    course = Course(root)
    course.class_folder.mkdir()
    if address:
        with (root / "nbgrader_config.py").open("a", encoding="utf-8") as config:
            config.write(f"\nc.CourseDirectory.db_url = {address!r}\n")
    try:
        for name in template.assignments:
            done = nbgrader(root, "generate_assignment", name, "--force")
            if done.returncode:
                raise CourseError(f"nbgrader generate_assignment failed: {done.stderr[-500:]}")
        yield course
    finally:
        shutil.rmtree(root)


def empty(address: str) -> None:
    """Removes all tables of a database."""
    from nbgrader.api import Base
    from sqlalchemy import create_engine, text

    engine = create_engine(address)
    with engine.begin() as connection:
        Base.metadata.drop_all(connection)
        connection.execute(text("drop table if exists alembic_version"))
    engine.dispose()


def measure(
    folder: Path, template: Course, recorded: list[tuple[Job, Graded]], master: Master, options: argparse.Namespace
) -> None:
    """Prints the table of one database."""
    address, assignment = options.address, options.assignment
    kind = "PostgreSQL" if address else "SQLite"
    if address:
        empty(address)
    drawn = random.Random(1)
    whole = {f"student-{number:05d}": drawn.choice(recorded) for number in range(options.submissions)}
    few = dict(itertools.islice(whole.items(), options.api))
    notebooks = {name: graded_notebook(master, job.work, graded, job.key) for name, (job, graded) in few.items()}
    with fresh(folder, template, address) as course:
        with spending() as api:
            by_the_api(course, assignment, notebooks)
        expected = rows(course)
    print(f"| {kind} | nbgrader's API | {line(api, len(few), api, len(few))}", flush=True)
    for batch in options.batch:
        if address:
            empty(address)
        with fresh(folder, template, address) as course:
            with spending() as spent:
                by_the_writer(course, assignment, whole, master, batch)
            found = rows(course)
        way = f"the writer, {batch} at once" if batch > 1 else "the writer, one by one"
        print(f"| {kind} | {way} | {line(spent, len(whole), api, len(few))}", flush=True)
        assert len(found) == len(whole), len(found)
        same = sum(found.get(student) == marks for student, marks in expected.items())
        assert same == len(expected), f"{same} of {len(expected)} students have the same rows"


@dataclass
class Spent:
    """What writing took: wall-clock time, and this process's CPU time (s)."""

    wall: float = 0.0
    cpu: float = 0.0


@contextmanager
def spending() -> Iterator[Spent]:
    """Measures the block."""
    spent, wall, cpu = Spent(), time.perf_counter(), time.process_time()
    yield spent
    spent.wall, spent.cpu = time.perf_counter() - wall, time.process_time() - cpu


def line(spent: Spent, count: int, against: Spent, base: int) -> str:
    """Returns the figures of a row; `against` took its time for `base` submissions."""
    wall, cpu = spent.wall / count, spent.cpu / count
    return f"{count} | {1 / wall:.1f} | {1000 * cpu:.1f} | {against.wall / base / wall:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("assignment", nargs="?", default="01_causal_mask")
    parser.add_argument("--submissions", type=int, default=1000)
    parser.add_argument("--api", type=int, default=60, help="how many of them nbgrader's API writes")
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 2, 10, 100], help="how many results come at once")
    parser.add_argument("--address", default="", help="an empty database that may be emptied: postgresql+psycopg://...")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="benchmark-") as name:
        template = Course(Path(name, "recorded"))
        master, recorded = record(template, options.assignment)
        sizes = [len(str(graded_notebook(master, job.work, graded, job.key))) for job, graded in recorded]
        print(f"{options.assignment}: notebooks of {statistics.mean(sizes) / 1000:.0f} kB; {os.cpu_count()} cores")
        print("| database | way | submissions | a second | processor, ms each | times nbgrader's API |")
        print("|---|---|---|---|---|---|", flush=True)
        address, options.address = options.address, ""
        measure(Path(name), template, recorded, master, options)
        if address:
            options.address = address
            measure(Path(name), template, recorded, master, options)
        elif missing := why_no_server():
            print(f"PostgreSQL is left out: {missing}")
        else:
            with Server(safe=True) as server:
                options.address = server.address()
                measure(Path(name), template, recorded, master, options)


if __name__ == "__main__":
    main()
