"""What a run reports: a table for people, JSON for machines, and a log file for afterwards."""

from __future__ import annotations

import datetime
import json
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from grading.autograder.outcome import FAILED, GRADED, Outcome
from grading.folder.course import Course
from grading.folder.errors import CourseError
from grading.folder.text import one_line, printable

KEPT = 30  # log files; older ones are removed
SOME_WITHOUT_MARK = 3  # the status of a run that has ended as it should, and could not grade every submission
LONGEST = 2000  # signs of the notes on one submission
MANY = 12  # packages that a sentence lists


class Log:
    """A file in `gradebook/logs/`, one for each run; every line is on disk at once.

    As a context manager it also holds what has stopped the run.
    """

    def __init__(self, course: Path, command: str) -> None:
        folder = Course(course).class_folder / "logs"
        now = datetime.datetime.now(datetime.timezone.utc)
        self.path = folder / f"{command}-{now:%Y%m%d-%H%M%S-%f}.log"
        self._file: Any = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("x", encoding="utf-8", errors="backslashreplace", buffering=1)
            for old in sorted(folder.glob(f"{command}-*.log"))[:-KEPT]:
                old.unlink(missing_ok=True)
        except OSError as problem:  # a full disk must not stop a run that needs no log
            print(f"no log file: {problem}", file=sys.stderr)

    def __enter__(self) -> Log:
        return self

    def __exit__(self, kind: object, problem: BaseException | None, trace: object) -> None:
        if problem is not None:
            self.write(f"stopped: {problem or type(problem).__name__}")
        self.close()

    def write(self, text: str) -> None:
        """Writes a line with the time."""
        if self._file is None:
            return
        try:
            now = datetime.datetime.now(datetime.timezone.utc)
            self._file.write(f"{now:%Y-%m-%d %H:%M:%S} {printable(one_line(text, 10 * LONGEST), 10 * LONGEST)}\n")
        except OSError as problem:
            print(f"the log file ends here: {problem}", file=sys.stderr)
            self._file = None

    def write_and_print(self, text: str) -> None:
        """Writes a line with the time, and prints it."""
        self.write(text)
        print(text, file=sys.stderr)

    def outcome(self, one: Outcome) -> None:
        """Writes what became of a submission."""
        mark = "" if one.score is None else f" {one.score:g}"
        notes = "; ".join(one.notes)
        parts = ", ".join(f"{part} {seconds:.3f} s" for part, seconds in one.seconds.items())
        self.write(f"{one.assignment} {one.student}: {one.state}{mark}{f' ({notes})' if notes else ''} {parts}")

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            try:
                self._file.close()
            except OSError as problem:
                print(f"the log file lacks its end: {problem}", file=sys.stderr)


def strays(course: Course) -> list[Outcome]:
    """Returns what lies among the submissions under the name of no assignment: nobody gets a mark for it."""
    reason = f"no assignment is called so; expected one of: {', '.join(course.assignments)}"
    folders = sorted(path for path in course.submissions.glob("[!.]*/[!.]*") if path.is_dir())
    return [
        Outcome(path.parent.name, path.name, FAILED, reason=reason)
        for path in folders
        if path.name not in course.assignments
    ]


def names(course: Course) -> dict[str, str]:
    """Returns the names of the students in nbgrader's gradebook, by id; who has none there is not in it."""
    from sqlalchemy.exc import OperationalError

    try:
        if not course.has_gradebook():
            return {}
        with course.gradebook() as book:
            found = {one.id: f"{one.first_name or ''} {one.last_name or ''}".strip() for one in book.students}
    except (OperationalError, CourseError) as problem:  # a table without names is better than none
        reason = getattr(problem, "orig", problem)
        print(f"the names cannot be read from the gradebook: {reason}", file=sys.stderr)
        return {}
    return {student: name for student, name in found.items() if name}


def called(student: str, known: Mapping[str, str]) -> str:
    """Returns a student's id, and the name where it is known: "u17 (Ada Lovelace)"; fit to be printed."""
    return printable(f"{student} ({known[student]})" if known.get(student) else student)


def name_column(students: Sequence[str], known: Mapping[str, str], title: str = "name") -> list[str]:
    """Returns a column of a table, title first: the students' names; only "" where none of them is known."""
    column = [printable(known.get(student, "")) for student in students]
    wide = max(map(len, [title, *column])) if any(column) else 0
    return [f"{text:<{wide}}  " if wide else "" for text in (title, *column)]


def _whose(one: Outcome, known: Mapping[str, str]) -> str:
    return f"{called(one.student, known)} {printable(one.assignment)}"


def table(outcomes: Sequence[Outcome], known: Mapping[str, str] | None = None) -> str:
    """Returns a line for each submission: assignment, student, what was done, mark, time, notes.

    `known` are names by id, for a column of their own.
    """
    lines = []
    outcomes = sorted(outcomes, key=lambda one: (one.assignment, one.student))
    wide = max([7, *(len(printable(one.student)) for one in outcomes)])
    long = max([10, *(len(printable(one.assignment)) for one in outcomes)])
    title, *column = name_column([one.student for one in outcomes], known or {})
    if outcomes:
        left = f"{'assignment':<{long}}  {'student':<{wide}}  {title}{'':<{len(FAILED)}}"
        lines.append(f"{left}  {'mark':>6}  {'time':>7}  notes")
    for one, name in zip(outcomes, column, strict=True):
        mark = "" if one.score is None else f"{one.score:g}"
        took = f"{sum(one.seconds.values()):.2f} s" if one.seconds else ""
        notes = printable("; ".join(one.notes), LONGEST)
        whose = f"{printable(one.student):<{wide}}  {name}"
        left = f"{printable(one.assignment):<{long}}  {whose}{one.state:<{len(FAILED)}}"
        lines.append(f"{left}  {mark:>6}  {took:>7}  {notes}".rstrip())
    return "\n".join(lines)


def summary(outcomes: Sequence[Outcome], seconds: float, known: Mapping[str, str] | None = None) -> str:
    """Returns how many were graded, put right, unchanged, and not graded and why, with time and rate.

    `known` are names by id, which stand beside the ids.
    """
    known = known or {}
    counts = Counter(one.state for one in outcomes)
    repairs = sum(bool(one.repairs) for one in outcomes if one.state == GRADED)
    rate = f", {60 * counts['graded'] / seconds:.0f} a minute" if counts[GRADED] and seconds > 0 else ""
    lines = [
        f"{counts['graded']} graded ({repairs} put right), {counts['unchanged']} unchanged, "
        f"{counts[FAILED]} {FAILED}, in {seconds:.1f} s{rate}."
    ]
    for one in outcomes:
        if one.state == FAILED:
            lines.append(f"  no mark: {_whose(one, known)}: {printable(one.reason, LONGEST)}")
    if 0 < counts[FAILED] < len(outcomes):
        lines.append(f"  Without a mark: {counts[FAILED]} of {len(outcomes)} submissions; every other one is done.")
    for one in outcomes:
        if one.odd:
            odd = printable("; ".join(one.odd), LONGEST)
            lines.append(f"  look at: {_whose(one, known)}: {odd}")
    if wanting := lacking([one.lacking for one in outcomes]):
        lines.append(f"  {wanting}")
    if any("damaged" in one.reason for one in outcomes):
        lines.append("  A damaged file can often be saved: python -m grading doctor FILE")
    return "\n".join(lines)


def lacking(packages: Iterable[Collection[str]]) -> str:
    """Returns a sentence on the packages for want of which answers have stopped, of each student; "" for none."""
    counts = Counter(package for found in packages for package in set(found))
    if not counts:
        return ""
    listed = [f"{printable(name)} ({n} student{'s' if n > 1 else ''})" for name, n in counts.most_common(MANY)]
    return (
        f"Answers that may be right and need a package that is not there where they are graded: {', '.join(listed)}. "
        "Install what they may use, and grade again with --force."
    )


def as_json(outcomes: Sequence[Outcome]) -> str:
    """Returns the outcomes as JSON."""
    made = [asdict(outcome) for outcome in outcomes]
    for one in made:
        one["put_right"] = one.pop("repairs")  # as programs of instructors know it
    return json.dumps(made, indent=1)
