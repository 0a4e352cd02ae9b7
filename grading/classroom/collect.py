"""Take the submissions of a class out of what a learning site or a shared folder delivers.

Nothing in a delivery is trusted: names decide only which student of the roster is meant, sizes are capped before
anything is unpacked, links are refused, and the time comes from whoever collected the files.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from grading.autograder.reporting import called, name_column
from grading.classroom import deliveries, doctor, rescue, roster
from grading.classroom.deliveries import UTC, Item, RefusedError, read_delivery
from grading.classroom.demo_class import refuse_mixing
from grading.classroom.gradescope import is_metadata, read_submitters
from grading.classroom.numbers import SUBMITTED, WORKING, Numbers
from grading.classroom.origins import Origins
from grading.classroom.placing import (
    Arrived,
    Older,
    Unknown,
    finish_interrupted,
    only_collector,
    place,
    read_list,
    stamp,
)
from grading.classroom.recognition import (
    OF_THE_SITE,
    Class,
    Owner,
    aplus_folder,
    blackboard_titles,
    is_blind,
    is_sakai_feedback,
    numbers_fit,
    sakai_times,
)
from grading.classroom.roster import Roster
from grading.folder.course import ROOT, Course
from grading.folder.errors import CourseError
from grading.folder.text import printable
from grading.folder.times import read_time
from grading.notebooks import assignments
from grading.notebooks.cells import cells_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

ARCHIVES = {"tar", "gz", "tgz", "bz2", "xz", "7z", "rar"}


@dataclass
class Collected:
    """What became of a delivery; each entry says what and where.

    `placed` are (student, assignment, time, what was done); `unknown` and `refused` are (name, reason); `ungradable`
    are (student, reason), who have handed in nothing that can be graded. `late` are (student, assignment, seconds),
    `extra` counts further files of students, `notes` are sentences on the whole delivery.
    """

    placed: list[tuple[str, str, str, str]] = field(default_factory=list)
    unknown: list[tuple[str, str]] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    skipped: int = 0
    unknown_folder: str = ""
    ungradable: list[tuple[str, str]] = field(default_factory=list)
    extra: int = 0
    late: list[tuple[str, str, float]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Wishes(TypedDict, total=False):
    """How to collect: by which list of students, as of which time, and whether damaged files are mended."""

    roster_file: Path | None
    time: datetime.datetime | None
    mend: bool


def collect(course: Course, path: Path, assignment: str = "", **wishes: Unpack[Wishes]) -> Collected:
    """Puts a delivery's submissions into `gradebook/submitted/`, and returns what became of each file.

    Args:
        course: the folder of the course.
        path: a folder, a zip file, a notebook, or a list of unknown files that somebody has filled in.
        assignment: what the files are for, where their names do not show it.
        wishes: `roster_file`, the list of students (`gradebook/students.csv` when there is one; without any, students
            are called as their files say); `time`, when the submissions came in (else the times of the zip's entries or
            of the files); `mend`, whether damaged files are mended as `doctor` does it.

    Raises:
        CourseError: when nothing can be collected.
    """
    time, mend = wishes.get("time"), wishes.get("mend", False)
    known = list(assignments.notebooks(course.root))
    if not known:
        raise CourseError(f"{course.root} has no notebooks/; collect in a copy of the course.")
    if assignment and assignment not in known:
        raise CourseError(f"no assignment is called {assignment!r}; expected one of: {', '.join(known)}.")
    people = read_roster(course, wishes.get("roster_file"))
    with only_collector(course), contextlib.ExitStack() as opened:
        finish_interrupted(course.submissions)
        if path.suffix.casefold() == ".csv" and path.is_file():
            delivery = deliveries.Delivery(read_list(path))
        else:
            most = rescue.MAX_BYTES if mend else 0
            delivery = read_delivery(path, time, opened, most=most)
        numbered = not people or numbers_fit(people, delivery.items)
        items = delivery.items
        forms = is_blind(items), blackboard_titles(items), aplus_folder(items), read_submitters(items)
        groups = roster.load_groups(course.class_folder / "groups.csv", people)
        whose = Class(course.root, people, known, assignment, numbered, *forms, groups)
        run = _Run(course, whose, Collected(refused=delivery.refused, skipped=delivery.skipped), timed=time is not None)
        if not numbered:
            run.found.notes.append(
                "The participants' numbers of this delivery are not those of the list of students: Moodle has new ones "
                "in each assignment. People were found by their names; who shares a name needs this assignment's "
                "grading worksheet as the list."
            )
        run.collect([item for item in items if not (whose.submitters and is_metadata(item))], mend=mend)
    return run.found


def read_roster(course: Course, file: Path | None = None) -> Roster:
    """Returns the list of students, an empty one where there is none."""
    file = file or course.roster
    return roster.load(file, course.submissions) if file != course.roster or file.exists() else Roster()


class _Run:
    """One collection: takes each file where it belongs, and joins what could not be taken to one list."""

    def __init__(self, course: Course, whose: Class, found: Collected, *, timed: bool) -> None:
        self.course, self.whose, self.found, self._timed = course, whose, found, timed
        self._unknown = Unknown(course)
        self._numbers = Numbers(course, with_roster=bool(whose.people))
        self._others = defaultdict[str, list[Item]](list)  # what is no notebook, by student
        self._damaged = defaultdict[tuple[str, str], list[str]](list)  # what is wrong, by student and assignment
        self._assignments = set[str]()
        self._sakai = dict[str, datetime.datetime]()  # when a folder came in
        self._older = Older()
        self._shortened = set[tuple[str, str]]()  # numbers in names, and what the list of students has in their place

    def collect(self, items: list[Item], *, mend: bool) -> None:
        """Collects the files of a delivery."""
        owners = [(item, self._owner(item), item.is_notebook and not is_sakai_feedback(item)) for item in items]
        self._sakai = sakai_times(items)
        known = (owner for _, owner, is_notebook in owners if is_notebook and isinstance(owner, Owner))
        refuse_mixing(self.course, (student for owner in known for student in owner.students))
        origins = Origins(self.course)
        try:
            for arrived in self._sorted(self._arrived(owners)):
                if strange := self._numbers.strange(arrived):
                    self._unknown.add(arrived.item, strange)
                    continue
                done = self._place(arrived, mend=mend)
                if done:
                    self._numbers.remember(arrived)
                    if not done.startswith("older"):
                        origins.remember(arrived)
        finally:
            self._numbers.close()
            origins.close()
            self._join()
            self._name_shortened()
            self.found.unknown, self.found.unknown_folder = self._unknown.entries, self._unknown.close()

    def _owner(self, item: Item) -> Owner | str:
        """Returns whose a file is, or why that is unknown."""
        try:
            return self.whose.owner(item)
        except RefusedError as problem:
            return str(problem)

    def _arrived(self, owners: list[tuple[Item, Owner | str, bool]]) -> Iterator[Arrived]:
        """Yields the notebooks whose student and assignment are known, for each student of a group once."""
        for item, owner, is_notebook in owners:
            if isinstance(owner, str):
                self._shortened |= self.whose.people.shortened(item.name)
                if (not is_notebook and item.parts[-1] in OF_THE_SITE) or self.whose.is_test(item):
                    self.found.skipped += 1
                else:
                    self._unknown.add(item, owner if is_notebook else _no_notebook(item))
                continue
            if not is_notebook:
                for student in owner.students:
                    self._others[student].append(item)
                continue
            try:
                assignment = self.whose.assignment(item, owner)
            except RefusedError as problem:
                self._unknown.add(item, str(problem))
                continue
            if (when := owner.time or self._sakai.get(owner.source.strip("/"))) and not self._timed:
                item = replace(item, time=when)
            for student in owner.students:
                yield Arrived(student, assignment, item, owner)

    def _sorted(self, all_arrived: Iterator[Arrived]) -> Iterator[Arrived]:
        """Yields the files by student and assignment, the newest of each last, without those of doubtful owners."""
        heaps: dict[tuple[str, str], list[Arrived]] = defaultdict(list)
        for arrived in all_arrived:
            heaps[arrived.student, arrived.assignment].append(arrived)
        for (student, name), heap in sorted(heaps.items()):
            sure = self._handed_in(list(self._of_that_number(student, heap)))
            if reason := self._doubt(student, sure):
                for arrived in sure:
                    self._unknown.add(arrived.item, reason)
                continue
            ordered = sorted(sure, key=lambda one: _age(one, name))
            if len({(one.item.time, one.owner.version) for one in ordered[-2:]}) < len(ordered[-2:]):
                self.found.notes.append(
                    f"{student} has handed in several notebooks for {name} at the same time; the last by name counts: "
                    f"{printable(ordered[-1].item.name)}"
                )
            yield from ordered

    def _handed_in(self, heap: list[Arrived]) -> list[Arrived]:
        """Returns the files without the working copies of Microsoft Teams, where the same person has submitted some."""
        areas = [WORKING.search(one.owner.source) for one in heap]
        done = {area["before"] for area in areas if area and area["area"] == SUBMITTED}
        left = [
            one
            for one, area in zip(heap, areas, strict=True)
            if not (area and area["area"] != SUBMITTED and area["before"] in done)
        ]
        self.found.extra += len(heap) - len(left)
        return left

    def _of_that_number(self, student: str, heap: list[Arrived]) -> Iterator[Arrived]:
        """Yields the files that do not come under another number than the roster has for the student."""
        numbers = self.whose.people.numbers(student)
        for one in heap:
            fits = one.owner.site == "canvas" or (one.owner.site == "moodle" and self.whose.numbered)
            if fits and numbers and one.owner.number not in numbers and not one.item.owner:
                reason = f"comes from number {one.owner.number} of the site, which the list of students does not have; "
                reason += f"{called(student, {})} has {', '.join(sorted(numbers))} there"
                self._unknown.add(one.item, reason)
            else:
                yield one

    def _doubt(self, student: str, heap: list[Arrived]) -> str:
        """Returns "", or why the files of a heap are not believed to be all of one person."""
        heap = [one for one in heap if not one.item.owner]
        if not self.whose.people and len({one.owner.number for one in heap} - {""}) > 1:
            return f"several people are called {student}; name them in gradebook/students.csv"
        if len(sources := {one.owner.source.strip("/") for one in heap}) > 1:
            names = " and ".join(sorted(sources)[:3])
            return f"two names of this delivery lead to {student} ({names}); fill in the list of unknown files"
        return ""

    def _place(self, arrived: Arrived, *, mend: bool) -> str:
        """Puts a file in its place, mended where that is wished; returns what was done, "" for nothing."""
        item, name = arrived.item, Path(arrived.item.parts[-1])
        self._assignments.add(arrived.assignment)
        damaged = self._damaged[arrived.student, arrived.assignment]
        try:
            data = item.read()
        except RefusedError as problem:
            self.found.refused.append((item.name, str(problem)))
            return ""
        if wrong := _what_is_wrong(data, name):
            self._unknown.add(item, wrong, arrived.student)
            try:
                data = doctor.as_file(doctor.diagnose(name, arrived.assignment, self.course.root, data).notebook)
            except CourseError as problem:
                damaged.append(str(problem))
                return ""
            if not mend or _what_is_wrong(data, name):
                damaged.append(f"{name}: {wrong}" + ("" if mend else "; collect --mend mends it"))
                return ""
        done = place(self.course, arrived, data, self._older)
        done += f", mended ({wrong})" if wrong else ""
        damaged.clear()  # an older one
        self.found.placed.append((arrived.student, arrived.assignment, stamp(item.time), done))
        return done

    def _join(self) -> None:
        """Says who has handed in nothing that can be graded, and who nothing at all."""
        reasons = defaultdict[str, list[str]](list)
        for (student, _), damaged in self._damaged.items():
            reasons[student] += damaged
        for name, reason in self.found.refused if self.whose.people else ():
            owner = self._owner(Item(tuple(name.split("/")), datetime.datetime.now(UTC), bytes))
            for student in owner.students if isinstance(owner, Owner) else ():
                reasons[student].append(f"{name.rsplit('/', 1)[-1]} {reason}")
        wanted = self._assignments | ({self.whose.requested} if self.whose.requested else set())
        there = {folder.parent.name for name in wanted or {"*"} for folder in self.course.submissions.glob(f"*/{name}")}
        for student, items in sorted(self._others.items()):
            if student in there or reasons[student]:
                self.found.extra += len(items)
                continue
            whose = student if self.whose.people else ""
            for item in items:
                self._unknown.add(item, _no_notebook(item), whose)
            reasons[student] += dict.fromkeys(_kind(item) for item in items) if whose else []
        for student, kinds in sorted(reasons.items()):
            if kinds:
                older = ["what came before it stays"] if student in there else []
                self.found.ungradable.append((student, ", ".join([*kinds, *older])))
        if self.whose.people and wanted:
            without = there | {student for student, _ in self.found.ungradable}
            self.found.missing = [person.id for person in self.whose.people if person.id not in without]

    def _name_shortened(self) -> None:
        """Says where a spreadsheet has probably taken zeros from the list of students."""
        for number, listed in sorted(self._shortened)[:1]:
            self.found.notes.append(
                f"The delivery has the number {number}, and the list of students {listed}: a spreadsheet drops zeros "
                "at the beginning. Nobody was guessed; export the list again and open it with that column as Text."
            )


def _kind(item: Item) -> str:
    """Returns what a file is that is no notebook: "an .html"."""
    ending = item.parts[-1].rpartition(".")[2].casefold()
    if item.why or not re.fullmatch(r"\w{1,8}", ending) or "." not in item.parts[-1]:
        return item.why or "a file that is no notebook"
    kind = f"{'an' if ending[0] in 'aefhilmnorsx' else 'a'} .{ending}"
    return kind + (", an archive that is not opened; unpack it by hand" if ending in ARCHIVES else "")


def _no_notebook(item: Item) -> str:
    archive = item.name.rpartition(".")[2].casefold() in ARCHIVES
    return item.why or ("is an archive that is not opened; unpack it by hand" if archive else "is no notebook")


def _age(one: Arrived, assignment: str) -> tuple[object, ...]:
    """Returns what sorts a student's files for an assignment: the one that counts is last."""
    pieces = re.split(r"(\d{1,18})", one.item.name)
    natural = [int(piece) if at % 2 else piece for at, piece in enumerate(pieces)]  # "Version 10" is after "Version 9"
    return one.item.time, one.owner.version, one.item.parts[-1] == f"{assignment}.ipynb", natural


def _what_is_wrong(data: bytes, name: Path) -> str:
    """Returns why a file cannot be graded, in the words of `doctor`; "" when it can."""
    if len(data) > deliveries.MAX_FILE:
        return f"has {len(data) >> 20} MB, more than {deliveries.MAX_FILE >> 20}"
    try:
        if cells_of(json.loads(data)) is not None:  # in any of the encodings that grading reads
            return ""
    except (ValueError, RecursionError):
        pass
    try:
        found = rescue.load(name, data)
    except rescue.BeyondMendingError as problem:
        return str(problem)
    return "; ".join(found.problems) or "is no notebook that grading can read"


# --- the command ------------------------------------------------------------------------------------------------------


def command(options: argparse.Namespace) -> int:
    """Collects, prints what became of each file, and returns 0 only when every file was placed."""
    course = Course((options.course or ROOT).resolve())
    when = read_time(options.time) if options.time else None
    found = collect(course, options.path, options.assignment, roster_file=options.roster, time=when, mend=options.mend)
    people = read_roster(course, options.roster)
    if people.western:
        accents = (one.name for one in people if not one.name.isascii())
        example = f" (for example: {name})" if (name := next(accents, "")) else ""
        file = options.roster or course.roster
        print(f"{file} is not in UTF-8; it was read as Excel's Western European CSV{example}.", file=sys.stderr)
    _use_gradebook(course, found, people)
    if options.json:
        print(json.dumps(asdict(found), indent=1))
    else:
        _print(found, people)
    return 1 if found.unknown or found.refused or found.ungradable else 0


def _use_gradebook(course: Course, found: Collected, people: Roster) -> None:
    """Writes names of who has just handed in into nbgrader's gradebook, and reads there who is late."""
    from sqlalchemy.exc import OperationalError

    news = {student for student, _, _, _ in found.placed}
    names = {one.id: (one.first, one.last) for one in people if one.id in news and one.name}
    try:
        course.refuse_damaged_gradebook()
        if names:
            course.name_students(names)
        if news and course.has_gradebook():
            found.late = list(_late(course, found))
    except (OperationalError, CourseError) as problem:
        reason = str(getattr(problem, "orig", problem))
        print(f"the names could not be written into the gradebook ({reason}); collect again later.", file=sys.stderr)


def _late(course: Course, found: Collected) -> Iterator[tuple[str, str, float]]:
    """Yields who of those that have just been placed is late, by nbgrader's due dates and extensions, in seconds."""
    with course.gradebook() as book:
        due = {one.name: one.duedate for one in book.assignments if one.duedate}
        names = {name for _, name, _, _ in found.placed} & {*due}
        extended = {
            (one.student.id, name): one.extension
            for name in names
            for one in book.assignment_submissions(name)
            if one.extension
        }
    for student, name, time, _ in found.placed:
        if name in due:
            end = due[name] + extended.get((student, name), datetime.timedelta())
            seconds = (read_time(time).replace(tzinfo=None) - end).total_seconds()
            if seconds > 0:
                yield student, name, seconds


def _duration(seconds: float) -> str:
    """Returns how late something is, as a person says it: "2 d 3 h", "3 h 20 min", "4 min"."""
    minutes = max(1, round(seconds / 60))
    days, hours = divmod(minutes // 60, 24)
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min"


def _print(found: Collected, people: Roster) -> None:
    names = {one.id: one.name for one in people}
    width = max([7, *(len(student) for student, *_ in found.placed)])
    column = name_column([student for student, *_ in found.placed], names)[1:]
    late = {(student, name): _duration(seconds) for student, name, seconds in found.late}
    for (student, assignment, time, done), name in zip(found.placed, column, strict=True):
        state = f"{done}; late by {late[student, assignment]}" if (student, assignment) in late else done
        print(f"{student:<{width}}  {name}{assignment}  {time}  {state}")
    for title, entries in (("not known, copied aside", found.unknown), ("refused", found.refused)):
        if entries:
            print(f"\n{title}:")
        for name, reason in entries:
            print(f"  {printable(name)}: {printable(reason, 300)}")
    if found.ungradable:
        print("\nhanded in, but nothing that can be graded:")
        for student, reason in found.ungradable:
            print(f"  {called(student, names)}: {printable(reason, 300)}")
    if found.missing:
        print(f"\nnothing yet from: {', '.join(called(student, names) for student in found.missing)}")
    for note in found.notes:
        print(f"\n{note}")
    news = sum(done.startswith(("new", "replaces")) for *_, done in found.placed)
    same = sum(done.startswith("unchanged") for *_, done in found.placed)
    counts = [f"{news} collected", f"{same} unchanged"]
    counts += [f"{len(found.late)} late"] if found.late else []
    print(f"\n{', '.join(counts)}, {len(found.unknown)} not known, {len(found.refused)} refused", end="")
    rest = [f"{found.extra} further files of these students"] if found.extra else []
    rest += [f"{found.skipped} files of the system"] if found.skipped else []
    print(f"; {' and '.join(rest)} left out." if rest else ".")
    if found.unknown_folder:
        print(
            f"What was not collected lies in {found.unknown_folder}, with a list.csv: write the student's id beside a "
            "file, and collect the list."
        )
