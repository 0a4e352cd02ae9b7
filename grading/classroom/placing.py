"""Put submissions in their places under `gradebook/`, each whole or not at all; nothing that was there is lost.

A newer submission replaces an older one, which is kept in `older/`; what belongs to nobody is kept in `unknown/`.
"""

from __future__ import annotations

import datetime
import hashlib
import re
import secrets
import shutil
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from grading.classroom.deliveries import UTC, Item, RefusedError, modified
from grading.classroom.export import harmless, text
from grading.classroom.recognition import Owner
from grading.classroom.roster import read_table, split_ids, valid_id
from grading.folder.course import Course, read_timestamp
from grading.folder.errors import CourseError
from grading.folder.files import locked
from tutor.files import write_whole


@dataclass(frozen=True)
class Arrived:
    """A file for which student and assignment are known, and by what."""

    student: str
    assignment: str
    item: Item
    owner: Owner


def only_collector(course: Course) -> AbstractContextManager[None]:
    """Returns the lock that lets one run at a time collect into a course; entering it raises CourseError."""
    folder = course.class_folder
    return locked(folder / ".collect.lock", f"another run is collecting into {folder}; wait until it has ended.")


def stamp(time: datetime.datetime) -> str:
    """Returns a time as nbgrader writes it into `timestamp.txt`."""
    return time.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def finish_interrupted(submitted: Path) -> None:
    """Puts in place what a killed run had written whole (`.half`), and removes what it had not (`.part`)."""
    for part in submitted.glob("*/.*.part"):
        shutil.rmtree(part)
    for half in submitted.glob("*/.*.half"):
        target = half.with_name(half.name[1 : -len(".half")])
        if target.exists():
            shutil.rmtree(half)  # its own run had not replaced the older one yet; it is still in the delivery
        else:
            half.rename(target)


class Older:
    """What lies in `older/`, by a fingerprint of each file: read once for each folder in a run."""

    def __init__(self) -> None:
        self._known = dict[Path, set[str]]()

    def of(self, folder: Path) -> set[str]:
        """Returns the fingerprints of the notebooks in a student's folder, to which what is put there is added."""
        if folder not in self._known:
            self._known[folder] = {_digest(path.read_bytes()) for path in folder.glob("*/*.ipynb")}
        return self._known[folder]


def place(course: Course, arrived: Arrived, data: bytes, kept_before: Older) -> str:
    """Puts a submission in its place, whole or not at all; returns what was done."""
    target = course.submitted(arrived.student, arrived.assignment)
    name, time = f"{arrived.assignment}.ipynb", min(arrived.item.time, datetime.datetime.now(UTC))
    older = course.class_folder / "older" / arrived.student / arrived.assignment
    done = "new"
    if target.exists():
        if (target / name).is_file() and (target / name).read_bytes() == data:
            return "unchanged"
        kept = _digest(data) in kept_before.of(older)
        there = _time_there(target)
        if time < there or (kept and time.replace(microsecond=0) == there.replace(microsecond=0)):
            if not kept:
                aside = older / _unique_name(time)
                _write_submission(aside, aside.with_name(f".{aside.name}.part"), name, data, time)
                kept_before.of(older).add(_digest(data))
            return "older than the one there; kept aside"
        done = "replaces an older one"
    half = target.with_name(f".{target.name}.half")
    try:
        _write_submission(half, target.with_name(f".{target.name}.part"), name, data, time)
        if target.exists():
            older.mkdir(parents=True, exist_ok=True)
            kept_before.of(older).update(_digest(path.read_bytes()) for path in target.glob("*.ipynb"))
            target.rename(older / _unique_name(_time_there(target)))
        half.rename(target)
    except BaseException:
        finish_interrupted(course.submissions)
        raise
    return done


def _write_submission(target: Path, part: Path, name: str, data: bytes, time: datetime.datetime) -> None:
    """Writes the folder of a submission: under the name `part` until it is whole."""
    part.mkdir(parents=True)
    try:
        write_whole(part / name, data, durable=True)
        write_whole(part / "timestamp.txt", stamp(time), durable=True)
        part.rename(target)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _time_there(folder: Path) -> datetime.datetime:
    """Returns when a submission came in: as it says, else when its notebook was written."""
    times = [modified(path) for path in folder.iterdir() if path.suffix == ".ipynb"]
    return read_timestamp(folder) or max(times, default=datetime.datetime.fromtimestamp(0, UTC))


def _unique_name(time: datetime.datetime) -> str:
    return f"{time.astimezone(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


COLUMNS = ("student", "copy", "file", "received", "reason")


class Unknown:
    """Keeps files that belong to nobody or cannot be graded, with a list, in a folder of this run.

    The list has an empty column `student`, to be filled in and collected. What an earlier run has kept is not copied
    again: a class is often collected every day. `entries` are (name, reason) of what belongs to nobody.
    """

    def __init__(self, course: Course) -> None:
        self.entries = list[tuple[str, str]]()
        self._course = course
        self._folder = course.class_folder / "unknown" / _unique_name(datetime.datetime.now(UTC))
        self._rows = list[tuple[str, ...]]()
        self._used = False

    @cached_property
    def _kept(self) -> dict[tuple[str, str], str]:
        """What earlier runs have kept, by name and content, and whose it is where a person has written it."""
        kept = dict[tuple[str, str], str]()
        for path in self._folder.parent.glob("*/list.csv"):
            try:
                rows = read_table(path, ["copy"], "copies").rows
            except CourseError:  # somebody has saved it as something else: what it lists is kept once more
                continue
            for _, row in rows:
                copy = path.parent / Path(row.get("copy", "")).name
                if row.get("copy") and copy.is_file():
                    kept[row.get("file", ""), _digest(copy.read_bytes())] = row.get("student", "")
        return kept

    def add(self, item: Item, reason: str, student: str = "") -> None:
        """Copies a file and lists it."""
        try:
            data = item.read()
        except RefusedError as problem:
            data, reason = None, f"{reason}; {problem}"
        key = harmless(item.name), _digest(data or b"")
        if data is not None and not student and self._is_collected(self._kept.get(key, ""), data):
            return
        self._used = True
        if not student:
            self.entries.append((item.name, reason))
        if data is None:
            self._rows.append((student, "", item.name, stamp(item.time), reason))
        elif key not in self._kept:
            safe = re.sub(r"[^\w.-]+", "_", item.parts[-1])[-80:]
            copy = f"{len(self._rows) + 1:04d}_{safe}"
            write_whole(self._folder / copy, data, durable=True)
            self._kept[key] = ""
            self._rows.append((student, copy, item.name, stamp(item.time), reason))

    def _is_collected(self, students: str, data: bytes) -> bool:
        """Says whether a file has been collected for those whom a person has written beside it."""
        for student in filter(valid_id, split_ids(students)):
            folders = (self._course.submissions / student, self._course.class_folder / "older" / student)
            if any(path.read_bytes() == data for folder in folders for path in folder.rglob("*.ipynb")):
                return True
        return False

    def close(self) -> str:
        """Writes the list; returns the folder where the files lie, "" when there are none."""
        if not self._rows:
            return str(self._folder.parent) if self._used else ""
        table = [COLUMNS, *([harmless(value) for value in row] for row in self._rows)]
        write_whole(self._folder / "list.csv", text(table), durable=True)
        return str(self._folder)


def read_list(path: Path) -> list[Item]:
    """Returns the files of a list of `Unknown` beside which a person has written a student.

    Raises:
        CourseError: when it is no such list, or a copy is not beside it.
    """
    table = read_table(path, ["student"], "students; expected a list.csv of gradebook/unknown/")
    found = list[Item]()
    for number, row in table.rows:
        if not row.get("student"):
            continue
        copy = path.parent / Path(row.get("copy", "")).name
        if not row.get("copy") or not copy.is_file():
            raise CourseError(
                f"{path}, line {number}: there is no file {row.get('copy')!r} beside it; leave the list there."
            )
        try:
            time = datetime.datetime.fromisoformat(row.get("received", "").replace(" UTC", "+00:00")).astimezone(UTC)
        except ValueError:  # a spreadsheet has written it in its own way
            time = modified(copy)
        parts = tuple(row.get("file", "").removeprefix("'").split("/"))
        found.append(Item(parts if parts[-1] else (copy.name,), time, copy.read_bytes, owner=row["student"]))
    return found


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
