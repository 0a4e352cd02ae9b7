"""Take the submissions of a class out of what Moodle, Canvas or a shared folder deliver.

Nothing in a delivery is trusted: names decide only which student of the roster is meant, sizes are capped before
anything is unpacked, links are refused, and the time comes from whoever collected the files.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from grading import assignments
from grading.autograder.reporting import called, name_column
from grading.classroom import roster
from grading.classroom.deliveries import UTC, Item, RefusedError, read_delivery
from grading.classroom.demo_class import refuse_mixing
from grading.classroom.numbers import Numbers
from grading.classroom.origins import Origins
from grading.classroom.placing import Arrived, Unknown, finish_interrupted, only_collector, place, stamp
from grading.classroom.plain_grading import name_students
from grading.classroom.recognition import Class, site_numbers
from grading.classroom.roster import Roster
from grading.course import ROOT, Course
from grading.errors import CourseError
from grading.text import printable


@dataclass
class Collected:
    """What became of a delivery; each entry says what and where.

    `placed` are (student, assignment, time, what was done); `unknown` and `refused` are (name, reason).
    """

    placed: list[tuple[str, str, str, str]] = field(default_factory=list)
    unknown: list[tuple[str, str]] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    skipped: int = 0
    unknown_folder: str = ""


def collect(
    course: Course,
    path: Path,
    assignment: str = "",
    *,
    roster_file: Path | None = None,
    time: datetime.datetime | None = None,
) -> Collected:
    """Puts a delivery's submissions into `gradebook/submitted/`, and returns what became of each file.

    Args:
        course: the folder of the course.
        path: a folder or a zip file.
        assignment: what the files are for, where their names do not tell.
        roster_file: the list of students; `gradebook/students.csv` when there is one. Without any, students are called
            as their files say.
        time: when the submissions came in; else the times of the zip's entries or of the files.

    Raises:
        CourseError: when nothing can be collected.
    """
    known = list(assignments.notebooks(course.root))
    if not known:
        raise CourseError(f"{course.root} has no notebooks/; collect in a copy of the course.")
    if assignment and assignment not in known:
        raise CourseError(f"no assignment is called {assignment!r}; expected one of: {', '.join(known)}.")
    people = roster.load(roster_file or course.roster) if roster_file or course.roster.exists() else Roster()
    with only_collector(course), contextlib.ExitStack() as opened:
        finish_interrupted(course.submissions)
        delivery = read_delivery(path, time, opened)
        whose = Class(course.root, people, known, assignment)
        refuse_mixing(course, _students(whose, delivery.items))
        found = Collected(refused=delivery.refused, skipped=delivery.skipped)
        unknown, numbers, origins = Unknown(course), Numbers(course), Origins(course)
        try:
            for arrived in _recognise(whose, delivery.items, unknown):
                if not people and (strange := numbers.strange(arrived)):
                    unknown.add(arrived.item, strange)
                    continue
                try:
                    done = place(course, arrived, arrived.item.read())
                except RefusedError as problem:
                    found.refused.append((arrived.item.name, str(problem)))
                else:
                    found.placed.append((arrived.student, arrived.assignment, stamp(arrived.item.time), done))
                    numbers.remember(arrived)
                    if not done.startswith("older"):
                        origins.remember(arrived)
        finally:
            numbers.close()
            origins.close()
            found.unknown, found.unknown_folder = unknown.entries, unknown.close()
    asked = {name for _, name, _, _ in found.placed} | ({assignment} if assignment else set())
    if people and asked:
        there = {folder.parent.name for name in asked for folder in course.submissions.glob(f"*/{name}")}
        found.missing = [person.id for person in people if person.id not in there]
    return found


def _students(whose: Class, items: list[Item]) -> Iterator[str]:
    """Yields whose the files are, where that can be told."""
    for item in items:
        with contextlib.suppress(RefusedError):
            yield whose.recognise(item).student


def _recognise(whose: Class, items: list[Item], unknown: Unknown) -> Iterator[Arrived]:
    """Yields the files that belong to somebody, by student and assignment, the newest of each last."""
    heaps: dict[tuple[str, str], list[Arrived]] = defaultdict(list)
    numbers: dict[str, set[str]] = defaultdict(set)
    for item in items:
        try:
            arrived = whose.recognise(item)
        except RefusedError as problem:
            unknown.add(item, str(problem))
        else:
            heaps[arrived.student, arrived.assignment].append(arrived)
            numbers[arrived.student] |= site_numbers(item)
    for (student, name), heap in sorted(heaps.items()):
        if not whose.people and len(numbers[student]) > 1:
            for arrived in heap:
                unknown.add(arrived.item, f"several people are called {student}; name them in gradebook/students.csv")
            continue
        yield from sorted(
            heap, key=lambda one: (one.item.time, one.version, one.item.parts[-1] == f"{name}.ipynb", one.item.name)
        )


# --- the command ------------------------------------------------------------------------------------------------------


def read_time(text: str) -> datetime.datetime:
    """Returns a time such as "2026-01-12 18:00" (local) or "2026-01-12T18:00+01:00".

    Raises:
        ValueError: for anything else.
    """
    return datetime.datetime.fromisoformat(text.strip().replace("Z", "+00:00")).astimezone(UTC)


def command(options: argparse.Namespace) -> int:
    """Collects, prints what became of each file, and returns 0 only when every file was placed."""
    course = Course((options.course or ROOT).resolve())
    try:
        when = read_time(options.time) if options.time else None
    except ValueError:
        raise CourseError(
            f"--time {options.time!r} is no time; expected for example '2026-01-12 18:00' or '2026-01-12T18:00+01:00'."
        ) from None
    found = collect(course, options.path, options.assignment, roster_file=options.roster, time=when)
    file = options.roster or course.roster
    people = roster.load(file) if file.exists() else Roster()
    if people.western:
        accents = (one.name for one in people if not one.name.isascii())
        example = f" (for example: {name})" if (name := next(accents, "")) else ""
        print(f"{file} is not in UTF-8; it was read as Excel's Western European CSV{example}.", file=sys.stderr)
    _name_students(course, found, people)
    if options.json:
        print(json.dumps(asdict(found), indent=1))
    else:
        _print(found, people)
    return 1 if found.unknown or found.refused else 0


def _name_students(course: Course, found: Collected, people: Roster) -> None:
    """Writes the names of who has just handed in into nbgrader's gradebook, where formgrader shows them."""
    from sqlalchemy.exc import OperationalError

    news = {student for student, _, _, _ in found.placed}
    names = {one.id: (one.first, one.last) for one in people if one.id in news and one.name}
    if not names:
        return
    try:
        course.refuse_damaged_gradebook()
        name_students(course, names)
    except (OperationalError, CourseError) as problem:
        told = str(getattr(problem, "orig", problem))
        print(f"the names could not be written into the gradebook ({told}); collect again later.", file=sys.stderr)


def _print(found: Collected, people: Roster) -> None:
    names = {one.id: one.name for one in people}
    width = max([7, *(len(student) for student, *_ in found.placed)])
    column = name_column([student for student, *_ in found.placed], names)[1:]
    for (student, assignment, time, done), name in zip(found.placed, column, strict=True):
        print(f"{student:<{width}}  {name}{assignment}  {time}  {done}")
    for title, entries in (("not known, copied aside", found.unknown), ("refused", found.refused)):
        if entries:
            print(f"\n{title}:")
        for name, reason in entries:
            print(f"  {printable(name)}: {printable(reason)}")
    if found.missing:
        print(f"\nnothing yet from: {', '.join(called(student, names) for student in found.missing)}")
    news = sum(done.startswith(("new", "replaces")) for *_, done in found.placed)
    same = sum(done == "unchanged" for *_, done in found.placed)
    print(f"\n{news} collected, {same} unchanged, {len(found.unknown)} not known, {len(found.refused)} refused", end="")
    print(f"; {found.skipped} files of the system left out." if found.skipped else ".")
    if found.unknown_folder:
        print(f"What is not known lies in {found.unknown_folder}, with a list.csv.")
