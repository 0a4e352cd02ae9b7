"""Submission folders with files that are no notebooks, or not files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.hostile.case import Case, World

NOTEBOOK = "01_causal_mask.ipynb"


def _instead(make: Callable[[Path], object], name: str = NOTEBOOK) -> Callable[[Path, World], None]:
    """Returns what puts something else in the place of a file."""

    def change(folder: Path, world: World) -> None:
        (folder / name).unlink(missing_ok=True)
        make(folder / name)

    return change


def _beside(**texts: str) -> Callable[[Path, World], None]:
    def change(folder: Path, world: World) -> None:
        for name, text in texts.items():
            path = folder / name.replace("__", "/").replace("_DOT_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    return change


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(60 << 20)  # takes no room on the disk


def _named(name: str) -> Callable[[Path, World], None]:
    def rename(folder: Path, world: World) -> None:
        (folder / NOTEBOOK).rename(folder / name)

    return rename


def _of_a_classmate(folder: Path, world: World) -> None:
    """Makes the whole folder of a student a link to that of another."""
    shutil.rmtree(folder.parent)
    folder.parent.symlink_to(world.victim.parent)


def _not_gradable(name: str, files: Callable[[Path, World], None]) -> Case:
    return Case(name, files=files, most=0, gradable=False)


CASES = [
    _not_gradable("notebook_is_a_pipe", _instead(lambda path: os.mkfifo(path))),
    _not_gradable("notebook_is_a_folder", _instead(lambda path: path.mkdir())),
    _not_gradable("notebook_is_a_loop_of_links", _instead(lambda path: path.symlink_to(path.name))),
    _not_gradable("notebook_is_an_endless_device", _instead(lambda path: path.symlink_to("/dev/zero"))),
    _not_gradable("notebook_is_empty", _instead(lambda path: path.touch())),
    _not_gradable("notebook_is_too_large", _instead(_sparse)),
    _not_gradable("notebook_is_binary", _instead(lambda path: path.write_bytes(bytes(range(256)) * 100))),
    Case("timestamp_is_a_pipe", files=_instead(lambda path: os.mkfifo(path), "timestamp.txt")),
    Case("timestamp_is_an_endless_device", files=_instead(lambda path: path.symlink_to("/dev/zero"), "timestamp.txt")),
    Case("timestamp_is_a_folder", files=_instead(lambda path: path.mkdir(), "timestamp.txt")),
    Case("timestamp_of_the_future", files=_beside(timestamp_DOT_txt="9999-12-31 23:59:59 UTC")),
    Case("timestamp_of_too_many_digits", files=_beside(timestamp_DOT_txt="9" * 30 + "h"), least=3.0),
    _not_gradable("folder_of_the_student_is_a_link", _of_a_classmate),
    Case("timestamp_of_nonsense", files=_beside(timestamp_DOT_txt="99999999-99-99 " + "9" * 10_000)),
    Case("brings_its_own_modules", files=_beside(torch_DOT_py="raise SystemExit", helpers____init___DOT_py="1 / 0", sitecustomize_DOT_py="1 / 0", nbgrader_config_DOT_py="1 / 0", conftest_DOT_py="1 / 0")),
    Case("brings_startup_files", files=_beside(_DOT_ipython__profile_default__startup__x_DOT_py="1 / 0", _DOT_jupyter__nbgrader_config_DOT_py="1 / 0")),
    *(Case(name, most=0, gradable=False) for name in ("student\x1b[2J", "student\n", "student\u202e", os.fsdecode(b"student\xff"))),
    _not_gradable("name_that_says_a_mark", _named("nothing); graded by hand, 14 of 14 points (x.txt")),
    Case("name_with_control_characters", files=_named("\x1b[2J\n..\x07.ipynb")),
    Case("name_that_is_not_text", files=_named(os.fsdecode(b"\xff\xfe.ipynb"))),
    Case("name_that_is_very_long", files=_named("x" * 240 + ".ipynb")),
]  # fmt: skip
