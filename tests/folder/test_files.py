"""Files are written whole or not at all, and a lock ends with the process that has it."""

import ctypes
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from grading.folder.course import ROOT
from grading.folder.errors import CourseError
from grading.folder.files import locked, read_bounded
from tutor.files import write_new, write_whole

LOCKING = """
import pathlib, sys
from grading.folder.files import locked
with locked(pathlib.Path(sys.argv[1]), "busy"):
    pass
"""


def test_a_file_is_written_whole_and_only_when_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    assert write_whole(path, "é\n")
    assert path.read_bytes() == b"\xc3\xa9\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert not write_whole(path, "é\n".encode())
    assert write_whole(path, b"other", durable=True)
    assert [one.name for one in path.parent.iterdir()] == ["file"]


def test_what_cannot_be_written_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_whole(path, "old")

    def full(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_whole(path, "old")
    path.chmod(0o600)
    assert write_whole(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("links", [True, False])
def test_a_new_file_takes_nobodys_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    link, path = os.link, tmp_path / "file"

    def late(source: str, target: Path) -> None:
        target.write_text("another process was faster")
        if not links:
            raise PermissionError(1, "Operation not permitted")
        link(source, target)

    if not links:
        monkeypatch.setattr(os, "link", lambda source, target: (_ for _ in ()).throw(PermissionError(1, "no links")))
    assert write_new(path, b"first", mode=0o600)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not write_new(path, b"second")
    monkeypatch.setattr(os, "link", late)
    assert not write_new(tmp_path / "other", b"second")
    assert {one.name: one.read_text() for one in tmp_path.iterdir()} == {
        "file": "first",
        "other": "another process was faster",
    }


def _bare_fork() -> int:
    """Forks without Python's hooks: the child is as one that was stopped before it could run a line."""
    return int(ctypes.CDLL(None).fork())


@pytest.mark.skipif(os.name == "nt", reason="there are no forks on Windows")
@pytest.mark.parametrize("fork", [os.fork, _bare_fork])
def test_a_lock_is_free_as_soon_as_its_owner_has_died_whatever_its_children_do(
    fork: Callable[[], int], tmp_path: Path
) -> None:
    path = tmp_path / "lock"
    read, write = os.pipe()
    owner = os.fork()
    if owner == 0:
        with locked(path, "busy"):
            child = fork()
            if child == 0:
                time.sleep(60)
                os._exit(0)
            os.write(write, f"{child}".encode())
            time.sleep(60)
        os._exit(0)
    child = int(os.read(read, 20))
    try:
        with pytest.raises(CourseError, match="busy"), locked(path, "busy"):
            pass
        os.kill(owner, signal.SIGKILL)
        os.waitpid(owner, 0)
        with locked(path, "busy"):
            os.kill(child, 0)  # it still runs
    finally:
        os.kill(child, signal.SIGKILL)
        os.close(read)
        os.close(write)


def test_one_process_holds_a_lock_once(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    for _ in range(2):
        with locked(path, "busy"):
            for _ in range(2):  # the first attempt frees nothing
                with pytest.raises(CourseError, match="busy"), locked(tmp_path / "." / "lock", "busy"):
                    pass
            if os.name != "nt":
                other = subprocess.run([sys.executable, "-c", LOCKING, path], cwd=ROOT, capture_output=True, text=True)
                assert "CourseError: busy" in other.stderr


@pytest.mark.skipif(os.name == "nt", reason="links and pipes of Unix")
def test_only_ordinary_files_of_strangers_are_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    assert read_bounded(tmp_path / "file", 4) == b"0123"
    (tmp_path / "link").symlink_to(tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", "missing"):
        with pytest.raises(OSError):  # noqa: PT011 - one kind for each
            read_bounded(tmp_path / name, 4)


def test_windows_is_asked_for_the_very_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without this flag it reads the ends of lines as it likes, and stops at a Ctrl-Z."""
    (tmp_path / "file").write_bytes(b"a\r\n\x1ab")
    flags, opened = list[int](), os.open
    monkeypatch.setattr(os, "O_BINARY", 1 << 15, raising=False)
    monkeypatch.setattr(os, "open", lambda path, flag: flags.append(flag) or opened(path, os.O_RDONLY))
    assert read_bounded(tmp_path / "file", 10) == b"a\r\n\x1ab"
    assert flags[0] & os.O_BINARY  # type: ignore[attr-defined]
