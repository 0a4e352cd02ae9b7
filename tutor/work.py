"""`python -m tutor work` makes `work/`, where a student works, or brings it up to a newer release.

`notebooks/` is what the course releases; `work/` is a copy that belongs to the student. Nothing else writes there, and
this only adds: `tutor.merging` says what becomes of each cell. A notebook is written whole or not at all, and what it
was before is kept in `work/.course/before`. In `work/.course/released` are the releases that it was made from.

It runs where nothing is installed yet, so it needs nothing but the standard library.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tutor.files import write_whole
from tutor.merging import Merged, is_notebook, likeness, merge

BESIDE = ".course"  # in work/; a name that JupyterLab does not show


@dataclass(frozen=True)
class Places:
    """The folders of a course as a student sees them."""

    course: Path

    @property
    def released(self) -> Path:
        """What the course gives out."""
        return self.course / "notebooks"

    @property
    def work(self) -> Path:
        """Where the student works."""
        return self.course / "work"

    def releases(self, name: str) -> Path:
        """Returns the folder with the releases of a notebook that the student's was made from."""
        return self.work / BESIDE / "released" / name

    def before(self, name: str) -> Path:
        """Returns the folder with what a notebook was before each merge."""
        return self.work / BESIDE / "before" / name


def read(data: bytes) -> dict[str, Any] | None:
    """Returns the notebook that a file holds, None when it holds no whole one."""
    try:
        found = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return found if is_notebook(found) else None


def as_saved_here(content: bytes) -> bytes:
    """Returns a notebook with what a kernel of this Python says of its language.

    JupyterLab adds it otherwise, and calls a notebook changed that nobody has touched.
    """
    notebook = json.loads(content)
    notebook["metadata"]["language_info"] = {
        "codemirror_mode": {"name": "ipython", "version": sys.version_info[0]},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
        "version": sys.version.split()[0],
    }
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def _keep(path: Path, data: bytes) -> Path:
    """Writes a file under this name, or under one with a number that no other content has; returns which."""
    number, free = 1, path
    while free.exists() and free.read_bytes() != data:
        number += 1
        free = path.with_name(f"{path.stem}-{number}{path.suffix}")
    if not free.exists():
        write_whole(free, data, durable=True)
    return free


def _keep_trust(before: bytes, after: bytes) -> None:
    """Signs a merged notebook where Jupyter has signed the one before: else its outputs are shown without colours."""
    try:
        import nbformat
        from nbformat.sign import NotebookNotary
    except ImportError:
        return  # no Jupyter here, so nothing is signed
    notary = NotebookNotary()
    if notary.check_signature(nbformat.reads(before.decode("utf-8"), as_version=4)):
        notary.sign(nbformat.reads(after.decode("utf-8"), as_version=4))


class Work:
    """Brings a student's folder up to what the course releases; `lines` say what was done."""

    def __init__(self, course: Path) -> None:
        self.places = Places(course)
        self.lines: list[str] = []
        self.made = self.merged = 0

    def follow(self) -> bool:
        """Makes the folder, or brings it up to date; returns whether it can be used.

        Raises:
            OSError: when the folder cannot be made.
        """
        places = self.places
        released = sorted(path for path in places.released.glob("*/*.ipynb") if path.stem == path.parent.name)
        if not released:
            self.lines.append(f"{places.released} holds no notebooks: run this in the folder of the course.")
            return False
        places.work.mkdir(exist_ok=True)
        for path in released:
            try:
                self._follow(path)
            except OSError as problem:
                self._say(path.stem, f"it cannot be read or written ({problem}), so it stays as it is.")
        if self.made:
            copied = "is a copy" if self.made == 1 else "are copies"
            message = (
                f"{self.made} of {len(released)} notebooks in {places.work} {copied} of what {places.released} holds."
            )
            self.lines.insert(0, f"{message} They are yours: no command writes over what you write there.")
        if self.merged:
            self.lines.append(f"What {places.work} held before is kept in {places.work / BESIDE / 'before'}.")
        if not self.lines:
            self.lines.append(f"Your {len(released)} notebooks in {places.work} are those of the newest release.")
        return True

    def _say(self, name: str, *lines: str) -> None:
        self.lines += [f"{name}: {lines[0]}", *(f"  {line}" for line in lines[1:])]

    def _follow(self, released: Path) -> None:
        """Brings one notebook, and what lies beside it, up to its release."""
        name = released.stem
        for other in released.parent.iterdir():
            if other.is_file() and other != released and not other.name.startswith("."):
                self._follow_beside(name, other)
        content = released.read_bytes()
        newer = read(content)
        if newer is None:
            self._say(name, f"{released} is no whole notebook, so yours stays as it is; get the release again.")
            return
        target = Path(os.path.realpath(self.places.work / name / f"{name}.ipynb"))
        if not target.exists():
            self._copy(name, target, content)
            self.made += 1
            return
        data = target.read_bytes()
        mine = read(data)
        if mine is None:
            data = self._rescue(name, target, data)
            mine = read(data)
        if mine is None:
            self._copy(name, target, content)
            return
        base, is_newest = self._base(name, mine, content)
        if is_newest:
            return
        merged = merge(mine, base, newer)
        if merged.notebook["cells"] == mine["cells"]:
            self._remember(name, content)
        elif target.read_bytes() != data:
            self._say(name, "it was saved at this very moment, so it stays as it is; run this again.")
        else:
            self._replace(name, target, data, content, merged)

    def _follow_beside(self, name: str, released: Path) -> None:
        """Brings a file that lies beside a notebook up to its release, unless the student has changed it."""
        content, mine = released.read_bytes(), self.places.work / name / released.name
        is_ours = mine.is_file() and self._release(name, mine.read_bytes(), ".beside").exists()
        if is_ours or not mine.exists():
            self._remember(name, content, ".beside")
            write_whole(mine, content, durable=True)

    def _copy(self, name: str, target: Path, content: bytes) -> None:
        self._remember(name, content)
        write_whole(target, as_saved_here(content), durable=True)

    def _replace(self, name: str, target: Path, data: bytes, content: bytes, merged: Merged) -> None:
        """Puts a merged notebook in the place of the student's, which is kept; `data` is what that one holds."""
        _keep(self.places.before(name) / f"{name}.ipynb", data)
        self._remember(name, content)
        text = json.dumps(merged.notebook, indent=1, ensure_ascii=False) + "\n"
        made = text.encode("utf-8", "replace")  # JSON can hold halves of characters
        write_whole(target, made, durable=True)
        _keep_trust(data, made)
        self._say(name, f"there is a newer release: {merged.summary}.", *merged.remarks)
        self.merged += 1

    def _release(self, name: str, content: bytes, suffix: str = ".ipynb") -> Path:
        """Returns where a release is kept."""
        return self.places.releases(name) / f"{hashlib.sha256(content).hexdigest()[:16]}{suffix}"

    def _remember(self, name: str, content: bytes, suffix: str = ".ipynb") -> None:
        path = self._release(name, content, suffix)
        if not path.exists():
            write_whole(path, content, durable=True)

    def _base(self, name: str, mine: dict[str, Any], content: bytes) -> tuple[dict[str, Any] | None, bool]:
        """Returns the release that a student's notebook was made from, None where unknown; and whether it is today's.

        It is the one that has most of its cells: so it is the right one, too, when an older file was put back, or when
        JupyterLab has saved over what was merged while it was open.
        """
        known = []
        for path in self.places.releases(name).glob("*.ipynb"):
            data = path.read_bytes()
            release = read(data)
            if release is not None:
                known.append((likeness(mine, release), data == content, path.name, release))
        if not known:
            return None, False
        _, is_newest, _, base = max(known, key=lambda one: one[:3])
        return base, is_newest

    def _rescue(self, name: str, target: Path, data: bytes) -> bytes:
        """Keeps a damaged notebook beside its place, and puts JupyterLab's last checkpoint of it there.

        Returns what the checkpoint holds, b"" where there is no whole one.
        """
        aside = _keep(target.with_name(f"{name}_damaged.ipynb"), data)
        checkpoint = target.parent / ".ipynb_checkpoints" / f"{name}-checkpoint.ipynb"
        saved = checkpoint.read_bytes() if checkpoint.is_file() else b""
        message = f"your file was damaged (no whole notebook). It is kept as {aside.name};"
        if read(saved) is None:
            self._say(name, f"{message} a fresh copy is in its place. Ask your instructor what can be saved from it.")
            return b""
        write_whole(target, saved, durable=True)
        self._say(name, f"{message} what you had saved by hand last is in its place again.")
        return saved


def command(folders: list[str]) -> int:
    """Runs `python -m tutor work [FOLDER]` and returns its exit status: 0 when the folder can be used."""
    if len(folders) > 1:
        print("work takes one folder, the one of the course: python -m tutor work FOLDER")
        return 2
    work = Work(Path(*folders).resolve())
    try:
        is_ready = work.follow()
    except OSError as problem:
        print(f"{work.places.work} cannot be made ({problem}); make room or give the right, and run this again.")
        return 1
    print(*work.lines, sep="\n")
    return 0 if is_ready else 1
