"""What nbgrader keeps beside a notebook: the two files that tell one attempt of a student from another, and all others.

`timestamp.txt` says when an attempt came in. `submission_secret.txt` is what nbgrader's exchange names a feedback page
by: who has handed in that attempt, and nobody else, can fetch it. Both follow the answers from `submitted/` to
`autograded/` and `feedback/`, so that a page goes back to the attempt that it is about.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from grading.folder.course import parse_timestamp
from grading.folder.files import read_bounded
from grading.folder.text import printable
from tutor.files import write_whole

STAMP, SECRET = "timestamp.txt", "submission_secret.txt"
MOST = 1000  # bytes of each; nbgrader's secrets have 128
MOST_OTHERS, OTHER_BYTES = 100, 10 << 20  # further files of a student that are copied, and the size of each


def read_beside(folder: Path) -> dict[str, bytes]:
    """Returns the two files of an attempt by name, those that are there and that nbgrader can read."""
    found = dict[str, bytes]()
    for name in (STAMP, SECRET):
        with contextlib.suppress(OSError):  # there is none, or it is a link
            data = read_bounded(folder / name, MOST + 1)
            if parse_timestamp(data) if name == STAMP else _is_secret(data):
                found[name] = data
    return found


def why_no_time(folder: Path) -> str:
    """Returns "", or why the time of an attempt that has one does not count, in a sentence."""
    try:
        data = read_bounded(folder / STAMP, MOST + 1)
    except OSError:  # there is none
        return ""
    if parse_timestamp(data):
        return ""
    return (
        f"{folder / STAMP} holds {data[:40].decode('utf-8', 'replace')!r}, which is no time: it never counts as "
        "late. Expected for example 2026-01-12 18:00:00 UTC: correct it, and grade again."
    )


def _is_secret(data: bytes) -> bool:
    return 0 < len(data) <= MOST and data.isascii() and bool(data.strip())


def why_no_secret(submitted: Path) -> str:
    """Returns why a page cannot be given back through the exchange, where no secret stands beside it."""
    if SECRET in read_beside(submitted):
        return "it is not said of which attempt its page is; grade and generate the feedback again"
    return "the submission did not come through the exchange (nbgrader collect)"


def write_beside(folder: Path, beside: Mapping[str, bytes]) -> None:
    """Makes the two files in a folder those of an attempt; one that the attempt lacks is removed."""
    for name in (STAMP, SECRET):
        place = folder / name
        if place.is_dir() and not place.is_symlink():  # a student may hand in a folder of this name
            shutil.rmtree(place)
        if name in beside:
            write_whole(place, beside[name])
        else:
            place.unlink(missing_ok=True)


def copy_others(submitted: Path, graded: Path, report: Callable[[str], None]) -> None:
    """Copies what else a student has handed in beside the notebook, a picture for instance, as nbgrader does.

    Notebooks, programs, caches and hidden files are left out, and links are not followed. What is not copied is noted
    and costs nothing: it stays where it was handed in.
    """
    found = list[Path]()
    for folder, folders, files in os.walk(submitted):
        folders[:] = sorted(name for name in folders if _is_kept(name))
        found += [Path(folder, name) for name in sorted(files) if _is_kept(name)]
        if len(found) > MOST_OTHERS:
            break
    for path in found[:MOST_OTHERS]:
        name = path.relative_to(submitted)
        try:
            data = read_bounded(path, OTHER_BYTES + 1)
            if len(data) > OTHER_BYTES:
                raise OSError(0, f"it has more than {OTHER_BYTES >> 20} MB")
            write_whole(graded / name, data)
        except OSError as problem:
            file = f"{printable(str(name))} of {submitted.parent.name}"
            report(f"{file} is not copied beside the graded notebook: {problem.strerror}.")


def _is_kept(name: str) -> bool:
    """Says whether a file or folder of a submission is copied, by its name: `nbgrader_config.py` has the same list."""
    left_out = (".ipynb", ".py", ".pyc")
    return not name.startswith(".") and not name.lower().endswith(left_out) and name not in (
        STAMP, SECRET, "__pycache__", "feedback"
    )  # fmt: skip
