"""What is in a delivery of Moodle, Canvas or a shared folder: a folder, a zip file or one notebook.

Nothing in it is trusted: sizes are capped before anything is unpacked, and links are refused.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import re
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grading.errors import CourseError
from grading.files import read_bounded

MAX_FILES = 20_000
MAX_FILE = 50 << 20  # a notebook with many pictures has 5 MB
MAX_TOTAL = 8 << 30
MAX_RATIO = 200  # a notebook shrinks to a tenth, a bomb to a thousandth
MAX_DEPTH = 12
SMALL = 1 << 20  # below this size the ratio says nothing
JUNK = {"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini", ".ipynb_checkpoints"}
UTC = datetime.timezone.utc


class RefusedError(ValueError):
    """One file of a delivery is not taken; the message says why."""


@dataclass(frozen=True)
class Item:
    """One file of a delivery: its path inside, when it came in, and a way to read it.

    `read` returns at most `MAX_FILE` bytes, or raises RefusedError.
    """

    parts: tuple[str, ...]
    time: datetime.datetime
    read: Callable[[], bytes]

    @property
    def name(self) -> str:
        """The path inside the delivery."""
        return "/".join(self.parts)


@dataclass
class Delivery:
    """The files of a delivery; `refused` are (name, reason), `skipped` counts those that a system has left there."""

    items: list[Item] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    skipped: int = 0


def read_delivery(path: Path, time: datetime.datetime | None, opened: contextlib.ExitStack) -> Delivery:
    """Returns what is in a delivery; of a zip file only the list is read.

    Args:
        path: a folder, a zip file or a notebook.
        time: when everything came in; else the times of the zip's entries or of the files.
        opened: keeps the zip file open, as long as the items are to be read.

    Raises:
        CourseError: when it is no delivery, or has more than a class can hand in.
    """
    found = Delivery()
    if path.is_dir():
        found.items += _folder_items(path, time, found)
    elif path.is_file() and zipfile.is_zipfile(path):
        found.items += _zip_items(path, time, found, opened)
    elif path.is_file() and path.suffix == ".ipynb":
        found.items.append(Item((path.name,), time or modified(path), lambda: _read_file(path)))
    elif path.exists():
        raise CourseError(f"{path} is neither a folder nor a zip file nor a notebook; unpack it, and name the folder.")
    else:
        raise CourseError(f"there is no {path}; expected a folder or a zip file with submissions.")
    return found


def modified(path: Path) -> datetime.datetime:
    """Returns when a file was written last."""
    return datetime.datetime.fromtimestamp(path.stat().st_mtime, UTC)


def _folder_items(path: Path, time: datetime.datetime | None, found: Delivery) -> Iterator[Item]:
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
                yield Item(parts, time or modified(one), lambda one=one: _read_file(one))  # type: ignore[misc]


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
        data = read_bounded(path, MAX_FILE + 1)
    except OSError as problem:
        raise RefusedError(f"cannot be read ({problem.strerror})") from problem
    if len(data) > MAX_FILE:
        raise RefusedError(_too_large(len(data)))
    return data


def _zip_items(
    path: Path, time: datetime.datetime | None, found: Delivery, opened: contextlib.ExitStack
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
        when = time or _entry_time(entry, modified(path))
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
        raise RefusedError(f"is damaged inside the archive ({problem})") from problem
    if len(data) > min(MAX_FILE, entry.file_size):
        raise RefusedError("is larger than the archive says")
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
