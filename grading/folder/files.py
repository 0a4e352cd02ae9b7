"""Locks, and files of strangers that are read. Standard library only."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from grading.folder.errors import CourseError

_held: dict[Path, int] = {}  # locks, with the process that holds them: a forked child inherits the table alone


@contextlib.contextmanager
def locked(path: Path, message: str) -> Iterator[None]:
    """Holds an exclusive lock on a file; the system frees it as soon as this process ends, whatever its children do.

    The lock is POSIX's, which belongs to a process: no child inherits it, not even one that is killed before it could
    run a line. A process would get its own lock again, and lose it by closing any handle of the file; so a table says
    what it holds. Windows has no `fcntl`, and no grading either: there the table alone counts.

    Raises:
        CourseError: with `message`, when another process or another part of this one holds it.
    """
    path = path.resolve()
    if _held.get(path) == os.getpid():
        raise CourseError(message)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        with contextlib.suppress(ImportError):
            import fcntl

            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except (BlockingIOError, PermissionError) as problem:  # POSIX leaves the choice
                raise CourseError(message) from problem
        _held[path] = os.getpid()
        try:
            yield
        finally:
            _held.pop(path, None)


def read_bounded(path: Path, limit: int) -> bytes:
    """Returns the first `limit` bytes of a file that a stranger made: never through a link, never waiting for a pipe.

    Raises:
        OSError: when it is missing, a link, or no ordinary file.
    """
    flags = (getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))  # the last is of Windows only
    handle = os.open(path, sum(flags, os.O_RDONLY))
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(0, "it is no ordinary file", str(path))
        return file.read(limit)
