"""Keeps drawn questions on disk, beside the gradebook, so that neither the next run nor a late submission draws them.

They tell hidden questions: only their owner can read the folder, and no student's process sees it. Of a file nothing is
trusted but what this course's secret has signed, for this state of definitions, grader and libraries; all else is drawn
anew. Whatever is wrong with the disk, grading goes on without it.
"""

from __future__ import annotations

import hashlib
import hmac
import importlib.metadata
import json
import os
import platform
import shutil
import stat
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from grading.autograder.fingerprint import environment_key
from grading.autograder.seeds import secret_of
from grading.definitions import drawn
from grading.definitions import exercise as exercises
from grading.definitions.exercise import Exercise
from grading.folder.course import ROOT, Course
from grading.folder.files import read_bounded
from tutor.files import replacing

NAME = "drawn_questions"  # the folder, in that of the class
MORE = 0.1  # a file is written anew when so much more is known of mistakes than it holds
LARGEST = 200 << 20  # bytes of a file; the largest has 6 MB


class DrawnSets:
    """What is asked in exercises, drawn or found in a folder.

    Args:
        folder: is made where it is missing; without one, what is drawn stays in memory.
        secret: signs what is kept.
        report: gets one sentence when something cannot be kept or used.
    """

    def __init__(
        self,
        folder: Path | None = None,
        secret: bytes = b"",
        report: Callable[[str], None] = lambda sentence: print(sentence, file=sys.stderr),
    ) -> None:
        self._folder, self._secret, self._report = folder, secret, report
        self._held = dict[Path, int]()  # by file: how many replies of known mistakes it holds
        self._refused = False  # whether a file was reported
        if folder is not None:
            self._open(folder)

    @classmethod
    def of(cls, course: Course, report: Callable[[str], None]) -> DrawnSets:
        """Returns those that are kept beside the gradebook of a course.

        Raises:
            CourseError: when the course's secret cannot be read.
        """
        return cls(course.class_folder / NAME, secret_of(course), report)

    def draw(self, assignment: str, seed: str = drawn.EVERYBODY) -> None:
        """Has ready what is asked with a seed, or of everybody, in the exercises of an assignment."""
        for exercise in exercises.load(assignment).values():
            self.draw_one(assignment, exercise, seed)

    def draw_one(self, assignment: str, exercise: Exercise, seed: str) -> None:
        """Has ready what is asked in one exercise."""
        for whose in dict.fromkeys((drawn.EVERYBODY, seed)):
            if (path := self._path(assignment, exercise, whose)) not in self._held:
                self._held[path] = 0
                if not self._taken(path, exercise, whose):
                    drawn.draw(exercise, whose)
                    self._keep(path, exercise, whose)

    def keep(self, assignment: str, seed: str) -> None:
        """Keeps what has been found out of known mistakes since, where it is so much that to keep it pays."""
        for exercise in exercises.load(assignment).values():
            self.keep_one(assignment, exercise, seed)

    def keep_one(self, assignment: str, exercise: Exercise, seed: str) -> None:
        """Keeps what has been found out in one exercise."""
        for whose in (drawn.EVERYBODY, seed):
            path = self._path(assignment, exercise, whose)
            if drawn.replies_of_mistakes(exercise, whose) > (1 + MORE) * self._held.get(path, 0):
                self._keep(path, exercise, whose)

    def _open(self, folder: Path) -> None:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = folder.lstat()
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != getattr(os, "geteuid", int)():
                raise OSError(0, "it is no folder of whoever grades", str(folder))
            folder.chmod(0o700)
        except OSError as problem:
            self._draw_without(problem)

    def _draw_without(self, problem: OSError) -> None:
        self._folder = None
        self._report(f"drawn questions cannot be kept ({problem}): they are drawn again in each run.")

    def _path(self, assignment: str, exercise: Exercise, seed: str) -> Path:
        """Returns the file, in a folder of this state of the grader; nothing of the seed can be read from its name."""
        name = hashlib.sha256(seed.encode()).hexdigest()[:16] if seed else "everybody"
        return Path(assignment, _state(assignment, self._secret), f"{exercise.name}-{name}.json")

    def _signature(self, path: Path, data: bytes) -> bytes:
        return hmac.new(self._secret, f"{path.as_posix()}\n".encode() + data, hashlib.sha256).hexdigest().encode()

    def _taken(self, path: Path, exercise: Exercise, seed: str) -> bool:
        """Says whether an exercise now asks what the file holds."""
        if self._folder is None:
            return False
        try:
            signature, _, data = read_bounded(self._folder / path, LARGEST).partition(b"\n")
            if not hmac.compare_digest(signature, self._signature(path, data)):
                raise ValueError("it was not written by this course, or is damaged")
            drawn.take(exercise, seed, json.loads(data))
        except FileNotFoundError:
            return False
        except Exception as problem:  # noqa: BLE001 - whatever it is: it is reported, and drawn anew
            if not self._refused:
                self._refused = True
                self._report(f"{self._folder / path} is drawn anew: {problem}.")
            return False
        self._held[path] = drawn.replies_of_mistakes(exercise, seed)
        return True

    def _keep(self, path: Path, exercise: Exercise, seed: str) -> None:
        """Writes what an exercise asks, and removes what belongs to other states of the grader."""
        if self._folder is None:
            return
        data = json.dumps(drawn.encode(exercise, seed)).encode()
        self._held[path] = drawn.replies_of_mistakes(exercise, seed)
        file = self._folder / path
        try:
            for old in file.parent.parent.glob("*") if not file.parent.exists() else ():
                if old != file.parent:  # which another process may have made by now
                    shutil.rmtree(old, ignore_errors=True)
            with replacing(file, mode=0o600) as written:
                written.write(self._signature(path, data) + b"\n" + data)
        except OSError as problem:
            self._draw_without(problem)


@cache
def _state(assignment: str, secret: bytes) -> str:
    """Returns a name for all that decides what is drawn and what comes out, and for the secret of the course."""
    folder = ROOT / "grading" / "definitions"
    code = [path.read_bytes() for path in [*sorted(folder.glob("*.py")), Path(__file__)]]
    versions = f"{sys.version} {platform.machine()} {importlib.metadata.version('mpmath')}"
    parts = [environment_key(assignment).encode(), versions.encode(), *code]
    return hmac.new(secret, b"\0".join(parts), hashlib.sha256).hexdigest()[:32]
