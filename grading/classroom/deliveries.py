"""What is in a delivery of Moodle, Canvas or a shared folder: a folder, a zip file or one notebook.

Nothing in it is trusted: sizes are capped before anything is unpacked, and links are refused.
"""

from __future__ import annotations

import contextlib
import datetime
import io
import os
import re
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import BinaryIO

from grading.classroom.rescue import MAX_BYTES as MAX_MENDED
from grading.folder.errors import CourseError
from grading.folder.files import read_bounded

MAX_FILES = 20_000
MAX_FILE = 50 << 20  # a notebook with many pictures has 5 MB
MAX_TOTAL = 8 << 30
MAX_RATIO = 200  # a notebook shrinks to a tenth, a bomb to a thousandth
MAX_DEPTH = 12
SMALL = 1 << 20  # below this size the ratio says nothing
MAX_INSIDE = 50  # notebooks in a zip that a student hands in
JUNK = {"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini", ".ipynb_checkpoints", ".git"}
NOTEBOOK = re.compile(r"\.ipynb(?:[._ -]?(?:txt|json|download|crdownload|\d+))*$", re.IGNORECASE)
OTHERS = re.compile(
    r"\.(?:html?|pdf|png|jpe?g|gif|svg|webp|heic|py|r|md|docx?|odt|rtf|xlsx?|csv|pptx?|zip|tar|t?gz|7z|rar|bz2|xz|pt|pth|"
    r"npz?|pkl|mp4|mov|webloc|url|lnk|log|yml)$",
    re.IGNORECASE,
)
UTC = datetime.timezone.utc
DAMAGED = (zipfile.BadZipFile, NotImplementedError, struct.error, ValueError, EOFError)


class RefusedError(ValueError):
    """One file of a delivery is not taken; the message says why."""


@dataclass(frozen=True)
class Item:
    """One file of a delivery: its path inside, when it came in, and a way to read it.

    `read` returns at most `MAX_FILE` bytes, or raises RefusedError. The last `inner` parts of the path lie inside a zip
    that somebody has handed in; `why` says why one could not be unpacked, `owner` whose it is where somebody wrote it.
    """

    parts: tuple[str, ...]
    time: datetime.datetime
    read: Callable[[], bytes]
    inner: int = 0
    why: str = ""
    owner: str = ""

    @property
    def name(self) -> str:
        """The path inside the delivery."""
        return "/".join(self.parts)

    @property
    def is_notebook(self) -> bool:
        """Whether it is a notebook by its name, or has no clear name and holds one."""
        file = self.parts[-1]
        if NOTEBOOK.search(file):
            return True
        if OTHERS.search(file):
            return False
        try:
            data = self.read()
        except RefusedError:
            return False
        return data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and b'"cells"' in data and b'"nbformat' in data


@dataclass
class Delivery:
    """The files of a delivery; `refused` are (name, reason), `skipped` counts those that a system has left there."""

    items: list[Item] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    skipped: int = 0
    most: int = MAX_FILE


def read_delivery(
    path: Path, time: datetime.datetime | None, opened: contextlib.ExitStack, *, most: int = 0
) -> Delivery:
    """Returns what is in a delivery; of a zip file only the list is read.

    Args:
        path: a folder, a zip file or a notebook.
        time: when everything came in; else the times of the zip's entries or of the files.
        opened: keeps the zip file open, as long as the items are to be read.
        most: the bytes that a file may have, `MAX_FILE` when 0.

    Raises:
        CourseError: when it is no delivery, or has more than a class can hand in.
    """
    found = Delivery(most=most or MAX_FILE)
    if path.is_dir():
        found.items += _folder_items(path, time, found)
    elif path.is_file() and zipfile.is_zipfile(path):
        found.items += _zip_items(path, time, found, opened)
    elif path.is_file() and NOTEBOOK.search(path.name):
        found.items.append(Item((path.name,), time or modified(path), partial(_read_file, path, found.most)))
    elif path.exists():
        raise CourseError(f"{path} is neither a folder nor a zip file nor a notebook; unpack it, and name the folder.")
    else:
        raise CourseError(f"there is no {path}; expected a folder or a zip file with submissions.")
    found.items = [one for item in found.items for one in _unpacked(item, found)]
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
            one, parts = Path(folder) / name, tuple(_readable(part) for part in (*inside, name))
            status = one.lstat()
            count, total = count + 1, total + status.st_size
            _refuse_masses(path, count, total)
            if name in JUNK:
                found.skipped += 1
            elif stat.S_ISLNK(status.st_mode):
                found.refused.append(("/".join(parts), "is a link; ask for the file itself"))
            elif not stat.S_ISREG(status.st_mode):
                found.refused.append(("/".join(parts), "is no ordinary file"))
            elif status.st_size > found.most:
                found.refused.append(("/".join(parts), _too_large(status.st_size, found.most)))
            else:
                yield Item(parts, time or modified(one), partial(_read_file, one, found.most))


def _refuse_masses(path: Path, count: int, total: int) -> None:
    if count > MAX_FILES or total > MAX_TOTAL:
        raise CourseError(
            f"{path} has more than {MAX_FILES} files or {MAX_TOTAL >> 30} GB; expected the submissions of one class. "
            "Nothing was collected."
        )


def _too_large(size: int, most: int) -> str:
    advice = "ask for it without outputs"
    if most < size <= MAX_MENDED:
        advice += ", or collect it with --mend, which leaves them out"
    return f"has {size >> 20} MB, more than {most >> 20}; {advice}"


def _read_file(path: Path, most: int) -> bytes:
    try:
        data = read_bounded(path, most + 1)
    except OSError as problem:
        raise RefusedError(f"cannot be read ({problem.strerror})") from problem
    if len(data) > most:
        raise RefusedError(_too_large(len(data), most))
    return data


def _zip_items(
    path: Path, time: datetime.datetime | None, found: Delivery, opened: contextlib.ExitStack
) -> Iterator[Item]:
    with path.open("rb") as file:
        _refuse_masses(path, _announced_entries(file), path.stat().st_size)
    try:
        archive = opened.enter_context(zipfile.ZipFile(path))
    except DAMAGED as problem:
        raise CourseError(f"{path} is a damaged zip file ({problem}); download it again.") from problem
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    _refuse_masses(path, len(entries), sum(entry.file_size for entry in entries))
    wrapper = _wrapper(path, entries)
    for entry in entries:
        parts = _safe_parts(_entry_name(entry))
        if parts and JUNK & set(parts):
            found.skipped += 1
            continue
        reason = _why_not(entry, parts, found.most)
        if reason:
            found.refused.append((_entry_name(entry), reason))
            continue
        parts = parts[1:] if wrapper and parts[0] == wrapper else parts
        when = time or _entry_time(entry, modified(path))
        yield Item(parts, when, partial(_read_entry, archive, entry, found.most))


def _announced_entries(file: BinaryIO) -> int:
    """Returns how many entries a zip file says it has, before its list is read into memory."""
    file.seek(max(0, file.seek(0, os.SEEK_END) - 65_600))
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


def _unpacked(item: Item, found: Delivery) -> Iterator[Item]:
    """Yields the notebooks in a zip file inside a delivery, else the item itself."""
    if not item.name.casefold().endswith(".zip"):
        yield item
        return
    try:
        inside, skipped = _inside(item, found.most)
    except RefusedError as problem:
        yield replace(item, why=str(problem))
        return
    found.skipped += skipped
    yield from inside or [replace(item, why="is an archive without a notebook; unpack it by hand")]


def _inside(item: Item, most: int) -> tuple[list[Item], int]:
    """Returns the notebooks inside a zip that was handed in, and how many of its files a system has left there.

    Each is read through the zip when it is wanted, so that never more than one zip is in memory.
    """
    file = io.BytesIO(item.read())
    if (count := _announced_entries(file)) > MAX_FILES:
        raise RefusedError(f"is a zip with {count} files; expected one notebook")
    try:
        with zipfile.ZipFile(file) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    except DAMAGED as problem:
        raise RefusedError(f"is a damaged zip file ({problem}); ask for it again") from problem
    named = {entry: _safe_parts(_entry_name(entry)) for entry in entries}
    left = [entry for entry in entries if not JUNK & {*named[entry]}]
    wanted = [entry for entry in left if NOTEBOOK.search(entry.filename)]
    wanted = wanted or [entry for entry in left if not OTHERS.search(entry.filename)][:MAX_INSIDE]
    if len(wanted) > MAX_INSIDE:
        raise RefusedError(f"is a zip with {len(wanted)} notebooks; expected one, or collect it by itself")
    if (total := sum(entry.file_size for entry in wanted)) > MAX_MENDED:
        raise RefusedError(f"is a zip that unpacks to {total >> 20} MB; expected one notebook")
    reasons = {entry: _why_not(entry, (*item.parts, *named[entry]) if named[entry] else (), most) for entry in wanted}
    if wrong := next((entry for entry in wanted if reasons[entry]), None):
        raise RefusedError(f"holds {_entry_name(wrong)!r}, which {reasons[wrong]}")
    made = [
        Item((*item.parts, *named[entry]), item.time, partial(_read_inside, item, entry, most), len(named[entry]))
        for entry in wanted
    ]
    return [one for one in made if one.is_notebook], len(entries) - len(left)


def _read_inside(item: Item, entry: zipfile.ZipInfo, most: int) -> bytes:
    with zipfile.ZipFile(io.BytesIO(item.read())) as archive:
        return _read_entry(archive, entry, most)


def _wrapper(path: Path, entries: Sequence[zipfile.ZipInfo]) -> str:
    """Returns the folder that holds everything and has the zip file's own name, else "".

    Browsers add "(1)" to the name of a file that they save again.
    """
    names = [_entry_name(entry) for entry in entries]
    tops = {name.split("/")[0] for name in names} - JUNK
    (top,) = tops if len(tops) == 1 else ("",)
    fits = top in {path.stem, re.sub(r" ?\(\d+\)$| copy$", "", path.stem)}
    return top if fits and all("/" in name for name in names) else ""


def _entry_name(entry: zipfile.ZipInfo) -> str:
    """Returns an entry's name; one without the flag for UTF-8 is UTF-8 nevertheless where its bytes are (macOS)."""
    return entry.filename if entry.flag_bits & 0x800 else _readable(entry.filename)


def _readable(name: str) -> str:
    """Returns a name in the usual Unicode form; UTF-8 that was read in the alphabet of old zip files is put right."""
    with contextlib.suppress(UnicodeError):
        name = name if name.isascii() else name.encode("cp437").decode("utf-8")
    return unicodedata.normalize("NFC", name)


def _safe_parts(name: str) -> tuple[str, ...]:
    """Returns the parts of a path, () when it leads outside."""
    parts = tuple(unicodedata.normalize("NFC", name.replace("\\", "/")).split("/"))
    outside = any(part in ("", ".", "..") or "\0" in part for part in parts) or re.match(r"[A-Za-z]:", parts[0])
    return () if outside else parts


def _why_not(entry: zipfile.ZipInfo, parts: tuple[str, ...], most: int) -> str:
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
    if entry.file_size > most:
        return _too_large(entry.file_size, most)
    bomb = entry.file_size > SMALL and entry.file_size > MAX_RATIO * max(1, entry.compress_size)
    if bomb and most < MAX_MENDED:  # with --mend no more than `most` is read, however much it shrinks
        return f"unpacks to more than {MAX_RATIO} times its size; if its output goes on and on, collect it with --mend"
    return ""


def _read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int) -> bytes:
    try:
        with archive.open(entry) as file:
            data = file.read(most + 1)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, zlib.error, RuntimeError, OSError) as problem:
        raise RefusedError(f"is damaged inside the archive ({problem})") from problem
    if len(data) > min(most, entry.file_size):
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
