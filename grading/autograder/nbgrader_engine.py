"""The engine of `python -m grading autograde` for nbgrader's own commands, in a process of its own.

nbgrader's process may be a Jupyter server, which lives for weeks and has threads: nothing is forked from it, PyTorch is
not imported into it, and an exercise that was changed meanwhile counts. The process is trusted, as nbgrader's is; those
of students are its children, locked in as ever. It ends when nobody has asked it anything for a while.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import subprocess
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from grading.autograder.preparation import no_processes
from grading.folder import processes
from grading.folder.course import ROOT
from grading.folder.errors import CourseError


class NoSandboxError(CourseError):
    """This machine cannot lock students' code in; the message says what is missing."""


class EngineProcess:
    """A process that reads and grades one submission of a course after another; started when it is first needed."""

    def __init__(self, course: Path) -> None:
        self._course = course
        self._connection: Connection | None = None
        self.protections: list[str] = []

    def ask(self, step: str, assignment: str, student: str) -> NotebookNode:
        """Returns a notebook made of a submission: for "rebuild" without outputs, for "grade" with the verdicts.

        Raises:
            NoSandboxError: when no sandbox can be made.
            CourseError: when the submission cannot be read or graded.
        """
        request = json.dumps({"step": step, "assignment": assignment, "student": student}).encode()
        for again in (False, True):  # one that has waited too long has ended
            try:
                reply = self._answer(request)
                break
            except (EOFError, OSError) as problem:
                self.close()
                if again:
                    raise CourseError(f"the grading process has ended ({problem}); grade again.") from problem
            except BaseException:  # Ctrl-C: what it would say next is no answer to the next request
                self.close()
                raise
        if "refused" in reply:
            raise CourseError(reply["refused"])
        notebook: NotebookNode = nbformat.from_dict(reply["notebook"])
        return notebook

    def _answer(self, request: bytes) -> dict[str, Any]:
        if self._connection is not None and self._sources != _newest_source():
            self.close()
        if self._connection is None:
            self._start()
        assert self._connection is not None
        self._connection.send_bytes(request)
        reply: dict[str, Any] = json.loads(self._connection.recv_bytes())
        return reply

    def _start(self) -> None:
        """Starts the process, and waits until it has reported how students' code is locked in."""
        if missing := no_processes():
            raise NoSandboxError(missing)
        self._sources = _newest_source()
        self._process, ours = processes.start(
            "grading.autograder.nbgrader_engine_process",
            str(self._course),
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for nbgrader, which then ends this process
        )
        self._connection = Connection(ours.detach())
        report = json.loads(self._connection.recv_bytes())
        if "refused" in report:
            self.close()
            raise NoSandboxError(report["refused"])
        self.protections = report["protections"]

    def close(self) -> None:
        """Ends the process; its children end with it."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(2)  # it ends by itself, unless it is at work
            self._process.kill()
            self._process.wait()


def _newest_source() -> int:
    """Returns when a program of this course was last changed (ns): a process with an older one is not asked again."""
    files = [path for folder in ("grading", "helpers", "tutor") for path in (ROOT / folder).rglob("*.py")]
    files += (ROOT / "grading").rglob("seeds.json")
    return max(path.stat().st_mtime_ns for path in files)


_graders: dict[Path, EngineProcess] = {}


def engine_process(course: Path) -> EngineProcess:
    """Returns the grader of a course folder, the same in the whole life of this process."""
    if course not in _graders:
        _graders[course] = EngineProcess(course)
        atexit.register(_graders[course].close)
    return _graders[course]
