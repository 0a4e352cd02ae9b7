"""Files that are written whole or not at all. Standard library only: whatever needs it may import it."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def replacing(path: Path, *, durable: bool = False, new: bool = False, mode: int = 0o644) -> Iterator[BinaryIO]:
    """Opens a file beside `path`, which takes its place once all was written; after an error it is removed.

    Args:
        path: the file; the folders above it are made. One that is there keeps its permissions.
        durable: only when the disk has it, so that a power cut cannot leave an empty file.
        new: leave a file that is there already as it is.
        mode: the permissions of a file that was not there.

    Raises:
        FileExistsError: with `new`, when the file is there.
        OSError: when it cannot be written; what was there before is still there.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.chmod(temporary, path.stat().st_mode & 0o777 if path.exists() else mode)
        if not new or not _link(temporary, path):
            os.replace(temporary, path)
    finally:
        Path(temporary).unlink(missing_ok=True)


def _link(temporary: str, path: Path) -> bool:
    """Gives a file a second name that no other has; False on a file system without links, where the name is free."""
    try:
        os.link(temporary, path)
    except OSError:
        if path.exists():
            raise FileExistsError(path) from None
        return False
    return True


def write_whole(path: Path, data: str | bytes, *, durable: bool = False) -> bool:
    """Writes a file as `replacing` does, unless it has this content already; returns whether it was written.

    `data` as text is written as UTF-8, with its own line ends.

    Raises:
        OSError: when it cannot be written; what was there before is still there.
    """
    content = data.encode("utf-8") if isinstance(data, str) else data
    if path.is_file() and path.read_bytes() == content:
        return False
    with replacing(path, durable=durable) as file:
        file.write(content)
    return True


def write_new(path: Path, data: bytes, *, mode: int = 0o644) -> bool:
    """Writes a file as `replacing` does, unless one of this name is there; returns whether it was written.

    Of several processes that do so at once, one writes it.

    Raises:
        OSError: when it cannot be written.
    """
    if path.exists():
        return False
    try:
        with replacing(path, new=True, mode=mode) as file:
            file.write(data)
    except FileExistsError:
        return False
    return True
