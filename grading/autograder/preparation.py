"""What is settled before anything is graded: which submissions, and how students' code is locked in.

Imports nothing that takes time, so that a mistyped name is answered at once.
"""

from __future__ import annotations

import importlib
import os
import platform
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from grading.folder.course import Course
from grading.folder.errors import CourseError

if TYPE_CHECKING:
    from grading.sandbox.fork_server import ForkServer


def chosen(course: Course, assignments: Sequence[str], students: Sequence[str]) -> list[tuple[str, Path]]:
    """Returns assignment and folder of each submission that is wanted: of some assignments and students, or of all.

    Raises:
        CourseError: when a name is unknown, or nothing was submitted.
    """
    present = [name for name in course.assignments if any(course.submissions.glob(f"*/{name}"))]
    found = [(name, folder) for name in assignments or present for folder in course.submitted_folders(name)]
    unknown = set(students) - {folder.parent.name for _, folder in found}
    if unknown:
        raise CourseError(f"no submission of {', '.join(sorted(unknown))}; expected a folder in {course.submissions}.")
    if not found:
        raise CourseError(f"nothing was submitted: {course.submissions} holds no assignment of this course.")
    return [(name, folder) for name, folder in found if not students or folder.parent.name in students]


def no_processes() -> str:
    """Returns "" where students' code can have processes of its own, else one sentence that says what is missing."""
    if sys.platform.startswith("win"):
        return "Windows cannot lock students' code in."
    missing = ["os.fork"] if not hasattr(os, "fork") else []
    for name in ("fcntl", "resource"):
        try:
            importlib.import_module(name)
        except ImportError:
            missing.append(name)
    if not missing:
        return ""
    return f"{platform.system()} cannot lock students' code in: its Python has no {' and no '.join(missing)}."


def lock_in(*, unsafe: bool, cluster: str = "") -> AbstractContextManager[ForkServer | None]:
    """Does what `start_fork_server` does; nothing where the workers of a cluster lock students' code in.

    Raises:
        CourseError: when the one or the other is not possible here.
    """
    if not cluster:
        return start_fork_server(unsafe=unsafe)
    if unsafe:
        raise CourseError("--unsafe is for this machine: the workers of a cluster grade in sandboxes or not at all.")
    if find_spec("distributed") is None:
        raise CourseError(
            "--cluster needs dask.distributed, which is not installed; see docs/cluster.md, or leave --cluster out."
        )
    print(f"students' code runs in sandboxes of the workers of {cluster}", file=sys.stderr)
    return nullcontext()


def start_fork_server(*, unsafe: bool) -> ForkServer:
    """Says how students' code is locked in, and starts the process that theirs descend from; returns at once.

    Raises:
        CourseError: when this machine cannot make a sandbox and `unsafe` is not given.
    """
    if missing := no_processes():
        raise CourseError(f"{missing} Nothing was graded; grade on Linux, or in WSL.")
    from grading import sandbox  # its modules are those of Unix
    from grading.sandbox.fork_server import ForkServer

    missing = sandbox.probe()
    if missing and not unsafe:
        raise CourseError(f"{missing} Nothing was graded; --unsafe grades without protection.")
    if missing:
        print(f"NOT PROTECTED: {missing} Students' code runs with your rights.", file=sys.stderr)
    else:
        for line in sandbox.protections():
            print(f"protected: {line}", file=sys.stderr)
    return ForkServer(protected=not missing)
