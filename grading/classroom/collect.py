"""Take the submissions of a class out of what Moodle, Canvas or a shared folder deliver.

Nothing in a delivery is trusted: names decide only which student of the roster is meant, sizes are capped before
anything is unpacked, links are refused, and the time comes from whoever collected the files.
"""

from __future__ import annotations

import contextlib
import csv
import datetime
import fcntl
import hashlib
import io
import json
import os
import re
import secrets
import shutil
import stat
import struct
import sys
import unicodedata
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from grading import assignments as released
from grading.classroom import roster
from grading.classroom.demo import MARKER
from grading.classroom.plain_grading import name_students, refuse_damaged_gradebook
from grading.classroom.roster import Roster
from grading.errors import CourseError

MAX_FILES = 20_000
MAX_FILE = 50 << 20  # a notebook with many pictures has 5 MB
MAX_TOTAL = 8 << 30
MAX_RATIO = 200  # a notebook shrinks to a tenth, a bomb to a thousandth
MAX_DEPTH = 12
SMALL = 1 << 20  # below this size the ratio says nothing
JUNK = {"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini", ".ipynb_checkpoints"}
MOODLE = re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_(?P<kind>file|onlinetext)(?:_(?P<rest>.*))?")
CANVAS = re.compile(r"(?P<name>[^_/]+)_(?:LATE_)?(?P<number>\d+)_(?P<delivery>\d+)_(?P<rest>.+)", re.IGNORECASE)
UTC = datetime.timezone.utc


@dataclass(frozen=True)
class Item:
    """One file of a delivery: its path inside, when it came in, and a way to read it (at most `MAX_FILE` bytes)."""

    parts: tuple[str, ...]
    time: datetime.datetime
    read: Callable[[], bytes]

    @property
    def name(self) -> str:
        """The path inside the delivery."""
        return "/".join(self.parts)


@dataclass(frozen=True)
class Arrived:
    """A file for which student and assignment are known. `version` is Canvas's count of attempts."""

    student: str
    assignment: str
    item: Item
    version: int = 0


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


class _RefusedError(ValueError):
    """One file of a delivery is not taken; the message says why."""


# --- what is in a delivery --------------------------------------------------------------------------------------------


def _items(
    path: Path, time: datetime.datetime | None, found: Collected, opened: contextlib.ExitStack
) -> Iterator[Item]:
    if path.is_dir():
        yield from _folder_items(path, time, found)
    elif path.is_file() and zipfile.is_zipfile(path):
        yield from _zip_items(path, time, found, opened)
    elif path.is_file() and path.suffix == ".ipynb":
        yield Item((path.name,), time or _modified(path.stat()), lambda: _read_file(path))
    elif path.exists():
        raise CourseError(f"{path} is neither a folder nor a zip file nor a notebook; unpack it, and name the folder.")
    else:
        raise CourseError(f"there is no {path}; expected a folder or a zip file with submissions.")


def _modified(told: os.stat_result) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(told.st_mtime, UTC)


def _folder_items(path: Path, time: datetime.datetime | None, found: Collected) -> Iterator[Item]:
    count, total = 0, 0
    for folder, folders, files in os.walk(path):  # does not follow links
        inside = Path(folder).relative_to(path).parts
        for name in sorted(folders):
            if (Path(folder) / name).is_symlink():
                found.refused.append(("/".join((*inside, name)), "is a link; ask for the files themselves"))
        folders[:] = sorted(name for name in folders if name not in JUNK)
        if len(inside) >= MAX_DEPTH:
            found.refused.extend(("/".join((*inside, name)), "lies too deep in folders") for name in folders)
            folders[:] = []
        for name in sorted(files):
            one, parts = Path(folder) / name, (*inside, unicodedata.normalize("NFC", name))
            told = one.lstat()
            count, total = count + 1, total + told.st_size
            _refuse_masses(path, count, total)
            if name in JUNK:
                found.skipped += 1
            elif stat.S_ISLNK(told.st_mode):
                found.refused.append(("/".join(parts), "is a link; ask for the file itself"))
            elif not stat.S_ISREG(told.st_mode):
                found.refused.append(("/".join(parts), "is no ordinary file"))
            elif told.st_size > MAX_FILE:
                found.refused.append(("/".join(parts), _too_large(told.st_size)))
            else:
                yield Item(parts, time or _modified(told), lambda one=one: _read_file(one))  # type: ignore[misc]


def _refuse_masses(path: Path, count: int, total: int) -> None:
    if count > MAX_FILES or total > MAX_TOTAL:
        raise CourseError(
            f"{path} has more than {MAX_FILES} files or {MAX_TOTAL >> 30} GB; expected the submissions of one class. "
            "Nothing was collected."
        )


def _too_large(size: int) -> str:
    return f"has {size >> 20} MB, more than {MAX_FILE >> 20}; ask for it without outputs"


def _read_file(path: Path) -> bytes:
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            data = file.read(MAX_FILE + 1) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
    except OSError as problem:
        raise _RefusedError(f"cannot be read ({problem.strerror})") from problem
    if len(data) > MAX_FILE:
        raise _RefusedError(_too_large(len(data)))
    return data


def _zip_items(
    path: Path, time: datetime.datetime | None, found: Collected, opened: contextlib.ExitStack
) -> Iterator[Item]:
    _refuse_masses(path, _announced_entries(path), path.stat().st_size)
    try:
        archive = opened.enter_context(zipfile.ZipFile(path))
    except (zipfile.BadZipFile, NotImplementedError, struct.error, ValueError) as problem:
        raise CourseError(f"{path} is a damaged zip file ({problem}); download it again.") from problem
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    _refuse_masses(path, len(entries), sum(entry.file_size for entry in entries))
    wrapper = _wrapper(path, entries)
    for entry in entries:
        parts = _safe_parts(entry.filename)
        if parts and JUNK & set(parts):
            found.skipped += 1
            continue
        reason = _why_not(entry, parts)
        if reason:
            found.refused.append((entry.filename, reason))
            continue
        parts = parts[1:] if wrapper and parts[0] == wrapper else parts
        when = time or _entry_time(entry, _modified(path.stat()))
        yield Item(parts, when, lambda entry=entry: _read_entry(archive, entry))  # type: ignore[misc]


def _announced_entries(path: Path) -> int:
    """Returns how many entries a zip file says it has, before its list is read into memory."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 65_600))
        tail = file.read()
    place = tail.rfind(b"PK\5\6")
    if place < 0 or len(tail) < place + 22:
        return 0
    count = int(struct.unpack_from("<H", tail, place + 10)[0])
    size = int(struct.unpack_from("<I", tail, place + 12)[0])
    wide = tail.rfind(b"PK\6\6")
    if wide >= 0 and len(tail) >= wide + 48:
        count, size = (int(number) for number in struct.unpack_from("<QQ", tail, wide + 32))
    return max(count, size // 46)  # an entry takes 46 bytes at least; the short count can wrap around


def _wrapper(path: Path, entries: Sequence[zipfile.ZipInfo]) -> str:
    """Returns the folder that holds everything and has the zip file's own name, else ""."""
    tops = {entry.filename.split("/")[0] for entry in entries} - JUNK
    (top,) = tops if len(tops) == 1 else ("",)
    return top if top == path.stem and all("/" in entry.filename for entry in entries) else ""


def _safe_parts(name: str) -> tuple[str, ...]:
    """Returns the parts of a path, () when it leads outside."""
    parts = tuple(unicodedata.normalize("NFC", name.replace("\\", "/")).split("/"))
    outside = any(part in ("", ".", "..") or "\0" in part for part in parts) or re.match(r"[A-Za-z]:", parts[0])
    return () if outside else parts


def _why_not(entry: zipfile.ZipInfo, parts: tuple[str, ...]) -> str:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if not parts:
        return "leads outside the archive"
    if len(parts) > MAX_DEPTH:
        return "lies too deep in folders"
    if kind == stat.S_IFLNK:
        return "is a link; ask for the file itself"
    if kind not in (0, stat.S_IFREG):
        return "is no ordinary file"
    if entry.flag_bits & 1:
        return "is encrypted; ask for it without a password"
    if entry.file_size > MAX_FILE:
        return _too_large(entry.file_size)
    if entry.file_size > SMALL and entry.file_size > MAX_RATIO * max(1, entry.compress_size):
        return f"unpacks to more than {MAX_RATIO} times its size"
    return ""


def _read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    try:
        with archive.open(entry) as file:
            data = file.read(MAX_FILE + 1)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, zlib.error, RuntimeError, OSError) as problem:
        raise _RefusedError(f"is damaged inside the archive ({problem})") from problem
    if len(data) > min(MAX_FILE, entry.file_size):
        raise _RefusedError("is larger than the archive says")
    return data


def _entry_time(entry: zipfile.ZipInfo, otherwise: datetime.datetime) -> datetime.datetime:
    """Returns an entry's time: the field in UTC where there is one, else the local time; `otherwise` without any."""
    extra = entry.extra
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<HH", extra)
        if kind == 0x5455 and size >= 5 and len(extra) >= 9 and extra[4] & 1:
            return datetime.datetime.fromtimestamp(struct.unpack_from("<i", extra, 5)[0], UTC)
        extra = extra[4 + size :]
    try:
        local = datetime.datetime(*entry.date_time)
    except ValueError:
        return otherwise
    return local.astimezone(UTC) if local.year > 1980 else otherwise


# --- whose it is ------------------------------------------------------------------------------------------------------


def _assigned(item: Item, people: Roster, known: list[str], wanted: str, course: Path) -> Arrived:
    """Returns whose file it is, and for which assignment.

    Raises:
        _RefusedError: when student or assignment cannot be told; the message says why.
    """
    moodle = next((found for part in item.parts if (found := MOODLE.fullmatch(part))), None)
    canvas = CANVAS.fullmatch(item.parts[-1]) if moodle is None else None
    if not item.name.casefold().endswith(".ipynb"):
        archive = item.name.casefold().endswith((".zip", ".tar", ".gz", ".7z", ".rar"))
        raise _RefusedError("is an archive; unpack it by hand" if archive else "is no notebook")
    if moodle:
        student = _person(people, moodle["number"], moodle["name"])
        file, inside = item.parts[-1], item.parts[:-1]
        if file == moodle.string:  # Moodle without folders: the file's name follows
            file = moodle["rest"] or ""
    elif canvas:
        student = _person(people, canvas["number"], canvas["name"])
        file, inside = canvas["rest"], item.parts[:-1]
    else:
        file, inside = item.parts[-1], item.parts[:-1]
        student = _plain_student(people, file, inside, known)
    assignment = _assignment(item, file, inside, known, course) or wanted
    if not assignment:
        raise _RefusedError(f"is for no assignment that can be told; say which: collect PATH {known[0]}")
    if wanted and assignment != wanted:
        raise _RefusedError(f"is for {assignment}, not for {wanted}; collect it without naming an assignment")
    attempt = re.search(r"-(\d{1,4})\.ipynb$", file, re.IGNORECASE) if canvas else None
    return Arrived(student, assignment, item, int(attempt[1]) if attempt else 0)


def _assignment(item: Item, file: str, inside: Sequence[str], known: list[str], course: Path) -> str:
    for part in reversed(inside):
        if part in known:
            return part
    told = released.by_name(file, known)
    if told:
        return told
    try:
        notebook = json.loads(item.read().decode("utf-8-sig"))
    except (ValueError, RecursionError, _RefusedError):
        return ""
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    return released.by_content(cells, course) if isinstance(cells, list) else ""


def _person(people: Roster, number: str, name: str) -> str:
    if not people:
        return re.sub(r"[^\w.@-]+", "_", unicodedata.normalize("NFC", name)).strip("_.-").casefold()[:100]
    found = people.find(number=number, name=name)
    return _only(found, f"{name} ({number})")


def _plain_student(people: Roster, file: str, inside: Sequence[str], known: list[str]) -> str:
    stem = file[: -len(".ipynb")]
    place = next((index for index in range(len(inside) - 1, -1, -1) if inside[index] in known), None)
    if place is not None:
        if place == 0:
            raise _RefusedError("names no student; expected STUDENT/ASSIGNMENT/file.ipynb")
        told = inside[place - 1]
    else:
        suffix = next((f"_{name}" for name in known if stem.endswith(f"_{name}")), "")
        before = stem.removesuffix(suffix) if suffix else stem
        named = suffix or not inside or (people and people.find(label=before) and not people.find(label=inside[-1]))
        told = before if named else inside[-1]
        if not inside and not suffix and released.by_name(file, known):
            raise _RefusedError("names no student; expected STUDENT_ASSIGNMENT.ipynb or a folder for each student")
    if people:
        return _only(people.find(label=told), told)
    if not roster.valid_id(told):
        raise _RefusedError(f"{told!r} cannot be a student's id; expected letters, digits and .@_- only")
    return told


def _only(found: set[str], told: str) -> str:
    if len(found) > 1:
        raise _RefusedError(f"{told} fits several students of the roster: {', '.join(sorted(found))}")
    if not found:
        raise _RefusedError(f"{told} is not in the roster")
    return next(iter(found))


# --- where it goes ----------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _only_collector(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".collect.lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as problem:
            raise CourseError(f"another run is collecting into {folder}; wait until it has ended.") from problem
        yield


def _stamp(time: datetime.datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _write(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


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


def _place(gradebook: Path, arrived: Arrived, data: bytes) -> str:
    """Puts a submission in its place, whole or not at all; returns what was done."""
    target = gradebook / "submitted" / arrived.student / arrived.assignment
    name, time = f"{arrived.assignment}.ipynb", min(arrived.item.time, datetime.datetime.now(UTC))
    done = "new"
    if target.exists():
        if (target / name).is_file() and (target / name).read_bytes() == data:
            return "unchanged"
        if time < _time_there(target):
            _keep_aside(gradebook, arrived, data, time)
            return "older than the one there; kept aside"
        done = "replaces an older one"
    part, half = target.with_name(f".{target.name}.part"), target.with_name(f".{target.name}.half")
    part.mkdir(parents=True)
    try:
        _write(part / name, data)
        _write(part / "timestamp.txt", _stamp(time).encode())
        part.rename(half)
        if target.exists():
            aside = _aside(gradebook, arrived, _time_there(target))
            aside.parent.mkdir(parents=True, exist_ok=True)
            target.rename(aside)
        half.rename(target)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        finish_interrupted(gradebook / "submitted")
        raise
    return done


def _time_there(folder: Path) -> datetime.datetime:
    try:
        told = (folder / "timestamp.txt").read_text(encoding="utf-8")[:23]
        return datetime.datetime.strptime(told, "%Y-%m-%d %H:%M:%S UTC").replace(tzinfo=UTC)
    except (OSError, ValueError):
        times = [_modified(path.stat()) for path in folder.iterdir() if path.suffix == ".ipynb"]
        return max(times, default=datetime.datetime.fromtimestamp(0, UTC))


def _aside(gradebook: Path, arrived: Arrived, time: datetime.datetime) -> Path:
    name = f"{time.astimezone(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
    return gradebook / "older" / arrived.student / arrived.assignment / name


def _keep_aside(gradebook: Path, arrived: Arrived, data: bytes, time: datetime.datetime) -> None:
    older = gradebook / "older" / arrived.student / arrived.assignment
    if any(path.read_bytes() == data for path in older.glob("*/*.ipynb")):
        return
    aside = _aside(gradebook, arrived, time)
    part = aside.with_name(f".{aside.name}.part")
    part.mkdir(parents=True)
    try:
        _write(part / f"{arrived.assignment}.ipynb", data)
        _write(part / "timestamp.txt", _stamp(time).encode())
        part.rename(aside)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


class _Unknown:
    """Keeps files that belong to nobody, with a list, in a folder of this run; makes it when it is needed.

    What an earlier run has kept is not copied again: a class is often collected every day.
    """

    def __init__(self, gradebook: Path, found: Collected) -> None:
        now = datetime.datetime.now(UTC)
        self._folder = gradebook / "unknown" / f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
        self._found, self._rows = found, list[tuple[str, str, str, str]]()
        self._kept: dict[str, Path] | None = None

    def add(self, item: Item, reason: str) -> None:
        """Copies a file and lists it."""
        self._found.unknown.append((item.name, reason))
        try:
            data = item.read()
        except _RefusedError as problem:
            self._rows.append(("", item.name, _stamp(item.time), f"{reason}; {problem}"))
            return
        if self._kept is None:
            self._kept = {_digest(path.read_bytes()): path for path in self._folder.parent.glob("*/[0-9]*_*")}
        if _digest(data) in self._kept:
            return
        safe = re.sub(r"[^\w.-]+", "_", item.parts[-1])[-80:]
        copy = f"{len(self._rows) + 1:04d}_{safe}"
        self._folder.mkdir(parents=True, exist_ok=True)
        _write(self._folder / copy, data)
        self._kept[_digest(data)] = self._folder / copy
        self._rows.append((copy, item.name, _stamp(item.time), reason))

    def close(self) -> None:
        """Writes the list."""
        self._found.unknown_folder = str(self._folder.parent) if self._found.unknown else ""
        if not self._rows:
            return
        from grading.classroom.export import harmless

        text = io.StringIO(newline="")
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(("copy", "file", "received", "reason"))
        rows.writerows([harmless(value) for value in row] for row in self._rows)
        self._folder.mkdir(parents=True, exist_ok=True)
        _write(self._folder / "list.csv", text.getvalue().encode())
        self._found.unknown_folder = str(self._folder)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def collect(
    course: Path,
    path: Path,
    assignment: str = "",
    *,
    roster_file: Path | None = None,
    time: datetime.datetime | None = None,
) -> Collected:
    """Puts a delivery's submissions into `gradebook/submitted/`, and returns what became of each file.

    Args:
        course: the course folder.
        path: a folder or a zip file.
        assignment: what the files are for, where their names do not tell.
        roster_file: the list of students; `gradebook/students.csv` when there is one. Without any, students are called
            as their files say.
        time: when the submissions came in; else the times of the zip's entries or of the files.

    Raises:
        CourseError: when nothing can be collected.
    """
    known = list(released.notebooks(course))
    if not known:
        raise CourseError(f"{course} has no notebooks/; collect in a copy of the course.")
    if assignment and assignment not in known:
        raise CourseError(f"no assignment is called {assignment!r}; expected one of: {', '.join(known)}.")
    gradebook = course / "gradebook"
    own = gradebook / "students.csv"
    people = roster.load(roster_file or own) if roster_file or own.exists() else Roster()
    found = Collected()
    with _only_collector(gradebook), contextlib.ExitStack() as opened:
        finish_interrupted(gradebook / "submitted")
        items = list(_items(path, time, found, opened))
        unknown = _Unknown(gradebook, found)
        try:
            _sort(course, items, assignment, people, known, found, unknown)
        finally:
            unknown.close()
    if found.placed and (gradebook / MARKER).exists():
        (gradebook / MARKER).unlink()  # else `make demo` would replace real work
    if people:
        asked = {name for _, name, _, _ in found.placed} | ({assignment} if assignment else set())
        there = {p.parent.name for name in asked for p in (gradebook / "submitted").glob(f"*/{name}")}
        found.missing = [person.id for person in people if person.id not in there] if asked else []
    return found


def _sort(
    course: Path,
    items: Sequence[Item],
    assignment: str,
    people: Roster,
    known: list[str],
    found: Collected,
    unknown: _Unknown,
) -> None:
    heaps: dict[tuple[str, str], list[Arrived]] = defaultdict(list)
    numbers: dict[str, set[str]] = defaultdict(set)
    for item in items:
        try:
            arrived = _assigned(item, people, known, assignment, course)
        except _RefusedError as problem:
            unknown.add(item, str(problem))
        else:
            heaps[arrived.student, arrived.assignment].append(arrived)
            numbers[arrived.student] |= _numbers(item)
    for (student, name), heap in sorted(heaps.items()):
        if not people and len(numbers[student]) > 1:
            for arrived in heap:
                unknown.add(arrived.item, f"several people are called {student}; name them in gradebook/students.csv")
            continue
        heap.sort(key=lambda one: (one.item.time, one.version, one.item.parts[-1] == f"{name}.ipynb", one.item.name))
        for arrived in heap:  # the newest comes last, and replaces the others
            try:
                data = arrived.item.read()
            except _RefusedError as problem:
                found.refused.append((arrived.item.name, str(problem)))
                continue
            done = _place(course / "gradebook", arrived, data)
            found.placed.append((student, name, _stamp(arrived.item.time), done))


def _numbers(item: Item) -> set[str]:
    matches = [MOODLE.fullmatch(part) for part in item.parts] + [CANVAS.fullmatch(item.parts[-1])]
    return {match["number"] for match in matches if match}


# --- the command ------------------------------------------------------------------------------------------------------


def read_time(text: str) -> datetime.datetime:
    """Returns a time such as "2026-01-12 18:00" (local) or "2026-01-12T18:00+01:00".

    Raises:
        ValueError: for anything else.
    """
    return datetime.datetime.fromisoformat(text.strip().replace("Z", "+00:00")).astimezone(UTC)


def shown(text: str) -> str:
    """Returns a name from a delivery without what a terminal would obey."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)[:200]


def run(
    course: Path, path: Path, assignment: str, roster_file: Path | None, time: str | None, as_json: bool = False
) -> int:
    """Collects, prints what became of each file, and returns 0 only when every file was placed."""
    try:
        when = read_time(time) if time else None
    except ValueError:
        raise CourseError(
            f"--time {time!r} is no time; expected for example '2026-01-12 18:00' or '2026-01-12T18:00+01:00'."
        ) from None
    found = collect(course, path, assignment, roster_file=roster_file, time=when)
    _name_students(course, found, roster_file)
    if as_json:
        print(json.dumps(asdict(found), indent=1))
    else:
        _print(found)
    return 1 if found.unknown or found.refused else 0


def _name_students(course: Path, found: Collected, roster_file: Path | None) -> None:
    """Writes the names of who has just handed in into nbgrader's gradebook, where formgrader shows them."""
    from sqlalchemy.exc import OperationalError

    file = roster_file or course / "gradebook" / "students.csv"
    news = {student for student, _, _, _ in found.placed}
    if not file.exists() or not news:
        return
    people = roster.load(file).people
    names = {one: (people[one].first, people[one].last) for one in news if people[one].first or people[one].last}
    try:
        refuse_damaged_gradebook(course)
        name_students(course, names)
    except (OperationalError, CourseError) as problem:
        told = str(getattr(problem, "orig", problem))
        print(f"the names could not be written into the gradebook ({told}); collect again later.", file=sys.stderr)


def _print(found: Collected) -> None:
    width = max([7, *(len(student) for student, *_ in found.placed)])
    for student, assignment, time, done in found.placed:
        print(f"{student:<{width}}  {assignment}  {time}  {done}")
    for title, entries in (("not known, copied aside", found.unknown), ("refused", found.refused)):
        if entries:
            print(f"\n{title}:")
        for name, reason in entries:
            print(f"  {shown(name)}: {shown(reason)}")
    if found.missing:
        print(f"\nnothing yet from: {', '.join(found.missing)}")
    news = sum(done.startswith(("new", "replaces")) for *_, done in found.placed)
    same = sum(done == "unchanged" for *_, done in found.placed)
    print(f"\n{news} collected, {same} unchanged, {len(found.unknown)} not known, {len(found.refused)} refused", end="")
    print(f"; {found.skipped} files of the system left out." if found.skipped else ".")
    if found.unknown_folder:
        print(f"What is not known lies in {found.unknown_folder}, with a list.csv.")
