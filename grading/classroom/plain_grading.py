"""Grade a class with plain nbgrader, and say for each student the mark and why."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat

from grading.autograder.nbgrader_commands import nbgrader
from grading.course import ROOT
from grading.errors import CourseError


@dataclass(frozen=True)
class Row:
    """One line of the table: `mark` is None when the submission could not be graded."""

    student: str
    mark: float | None
    points: float
    why: str


def submissions(course: Path, assignment: str) -> list[Path]:
    """Returns the submission folders of an assignment.

    Raises:
        CourseError: when the assignment is unknown, or nothing was submitted.
    """
    known = sorted(path.stem for path in (course / "solutions").glob("*/*.ipynb"))
    if not known:
        raise CourseError(f"{course} is no course folder: expected solutions/NN_name/NN_name.ipynb in it.")
    if assignment not in known:
        raise CourseError(f"no assignment is called {assignment!r}; expected one of: {', '.join(known)}.")
    submitted = course / "gradebook" / "submitted"
    found = sorted(path for path in submitted.glob(f"*/{assignment}") if path.is_dir())
    if not found:
        raise CourseError(
            f"nothing was submitted for {assignment}: expected folders {submitted}/STUDENT/{assignment}/ with a "
            "notebook; put the collected files there."
        )
    return found


def refuse_damaged_gradebook(course: Path) -> None:
    """Raises CourseError for a gradebook that a failed run left half made, or that cannot be written."""
    database = course / "gradebook" / "gradebook.db"
    folder = database if database.exists() else next(p for p in database.parents if p.exists())
    if not os.access(folder, os.W_OK):
        raise CourseError(f"{folder} cannot be written; expected write permission. Change its owner or its mode.")
    if not database.exists():
        return
    try:
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
            tables = {name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")}
    except sqlite3.OperationalError:
        return  # another process is writing it; whoever writes next waits
    except sqlite3.DatabaseError as problem:
        raise CourseError(f"{database} is not a gradebook ({problem}); move it away and grade again.") from problem
    if tables and "alembic_version" not in tables:
        raise CourseError(
            f"{database} was left half made by an interrupted run: expected a table alembic_version. It holds no "
            "marks yet; delete it and grade again."
        )


def name_students(course: Path, names: dict[str, tuple[str, str]]) -> None:
    """Writes students' first and last names into the gradebook, which formgrader shows."""
    from nbgrader.api import Gradebook

    path = os.environ.get("PATH", "")
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), path])  # nbgrader calls alembic by name
    try:
        with Gradebook(f"sqlite:///{course / 'gradebook' / 'gradebook.db'}", "transformers") as gradebook:
            for student, (first, last) in names.items():
                gradebook.update_or_create_student(student, first_name=first, last_name=last)
    finally:
        os.environ["PATH"] = path


def grade(course: Path, assignment: str, *, say: bool = True, cell_seconds: int | None = None) -> list[Row]:
    """Autogrades all submissions of an assignment, writes feedback, and returns the table.

    Raises:
        CourseError: when grading cannot start. A broken submission costs that student only.
    """
    found = submissions(course, assignment)
    refuse_damaged_gradebook(course)
    limit = [f"--Execute.timeout={cell_seconds}"] if cell_seconds else []
    reported = ""
    for step in (
        ("generate_assignment", assignment, "--force"),
        ("autograde", assignment, *limit),
        ("generate_feedback", assignment, "--force"),
    ):
        if say:
            print(f"$ nbgrader {' '.join(step)}", flush=True)
        done = nbgrader(course, *step)
        reported += done.stderr
        if done.returncode and step[0] == "generate_assignment":
            raise CourseError(f"nbgrader {step[0]} failed: {_last_line(done.stderr)}")
    return [row(course, assignment, folder.parent.name, reported) for folder in found]


def row(course: Path, assignment: str, student: str, reported: str = "") -> Row:
    """Returns the line of one student: the mark from nbgrader's gradebook, the reasons from the graded notebook."""
    from nbgrader.api import Gradebook, MissingEntry

    address = f"sqlite:///{course / 'gradebook' / 'gradebook.db'}"
    with Gradebook(address, "transformers") as gradebook:
        points = float(gradebook.find_assignment(assignment).max_score)
        graded = course / "gradebook" / "autograded" / student / assignment / f"{assignment}.ipynb"
        if not graded.exists():
            return Row(
                student,
                None,
                points,
                f"could not be graded: {_why_not(course, assignment, student, reported)}",
            )
        try:
            submission = gradebook.find_submission(assignment, student)
        except MissingEntry:
            return Row(
                student,
                None,
                points,
                "could not be graded: nbgrader has no entry for it; grade again",
            )
        return Row(
            student,
            float(submission.score),
            points,
            "; ".join(reasons(graded)) or "all checks passed",
        )


def _why_not(course: Path, assignment: str, student: str, reported: str) -> str:
    folder = course / "gradebook" / "submitted" / student / assignment
    expected = folder / f"{assignment}.ipynb"
    if not expected.exists():
        others = sorted(path.name for path in folder.iterdir() if path.name != "timestamp.txt")
        return f"no {expected.name} in the submission (found: {', '.join(others) or 'nothing'})"
    try:
        nbformat.validate(nbformat.read(expected, as_version=4))
    except (json.JSONDecodeError, nbformat.reader.NotJSONError):
        return f"{expected.name} is damaged: it is not a notebook (not valid JSON)"
    except (nbformat.ValidationError, AttributeError, KeyError, UnicodeDecodeError) as problem:
        return f"{expected.name} is damaged: {' '.join(str(problem).split())[:120]}"
    if "DeadKernelError" in reported or "Kernel died" in reported:
        return "its code ended the kernel"
    return f"nbgrader says: {_last_line(reported)}"


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if "ERROR" in line]
    return re.sub(r"^\[.*?\]\s*", "", lines[-1])[:200] if lines else "no reason given; see its log"


def reasons(graded: Path) -> list[str]:
    """Returns one sentence for each check cell of a graded notebook that lost marks, and for unread essays."""
    from nbgrader.utils import determine_grade, is_grade, is_solution

    told = []
    for cell in nbformat.read(graded, as_version=4).cells:
        if not is_grade(cell):
            continue
        name = cell.metadata.nbgrader.grade_id.removesuffix("_check")
        if is_solution(cell):
            if determine_grade(cell)[0] is None:
                told.append(f"{name}: to be read")
            continue
        mark, points = determine_grade(cell)
        if mark != points:
            told.append(f"{name} {mark:g}/{points:g}: {_reason(cell.outputs)}")
    return told


def _reason(outputs: Sequence[nbformat.NotebookNode]) -> str:
    for output in outputs:
        if output.output_type == "error":
            if output.ename == "CellTimeoutError":
                return "the cell ran too long and was stopped"
            if output.ename == "NameError":
                return "its cell was not run or failed, so there is nothing to check"
            return f"{output.ename}: {output.evalue}"[:120]
    for output in outputs:
        text = str(output.get("data", {}).get("text/plain", ""))
        looks = re.search(r"This looks like: (.*?)\. ", text)
        if looks:
            return looks.group(1)
        headline = re.match(r"\w+: (.*?) - ", text)
        if headline:
            failed = re.search(r"\[failed\] (.*)", text)
            return f"{headline.group(1)}{f' ({failed.group(1)})' if failed else ''}"
    return "no reason given"


def print_table(rows: Sequence[Row]) -> None:
    """Prints student, mark, and why, with long reasons on lines of their own."""
    width = max(7, *(len(row.student) for row in rows))
    print(f"\n{'student':<{width}}  {'mark':>7}  why")
    for entry in rows:
        mark = "none" if entry.mark is None else f"{entry.mark:g}/{entry.points:g}"
        first, *rest = entry.why.split("; ")
        print(f"{entry.student:<{width}}  {mark:>7}  {first}")
        for line in rest:
            print(f"{'':<{width}}  {'':>7}  {line}")


def run(assignment: str, course: Path = ROOT) -> int:
    """Grades an assignment and prints the table; returns 0 only when every submission has a mark."""
    try:
        rows = grade(course, assignment)
    except CourseError as problem:
        print(problem, file=sys.stderr)
        return 2
    print_table(rows)
    missing = [entry.student for entry in rows if entry.mark is None]
    feedback = course / "gradebook" / "feedback"
    print(f"\n{len(rows) - len(missing)} of {len(rows)} submissions have a mark; feedback is in {feedback}.")
    return 1 if missing else 0
