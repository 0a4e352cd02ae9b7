"""What a mark depends on besides the answers, as a fingerprint: when it changes, a submission is graded again."""

from __future__ import annotations

import hashlib
import importlib.metadata
from functools import cache
from pathlib import Path

from grading.definitions.bank import known_mistakes
from grading.definitions.catalogue import definitions
from grading.folder.course import ROOT

# Modules that no mark depends on: pictures, and what looks at a computer.
WITHOUT_MARKS = ("tutor/__main__.py", "helpers/plots.py")
# What reads a submission, runs it, and marks it.
GRADING = (
    "notebooks/answers.py",
    "notebooks/cells.py",
    "definitions/examiner.py",
    "definitions/contracts.py",
    "notebooks/essay_cells.py",
    "definitions/exercise.py",
    "definitions/known_mistakes.py",
    "notebooks/names.py",
    "definitions/reading_time.py",
    "autograder/grade_submission.py",
    "autograder/seeds.py",
    "autograder/submission.py",
)
# What the coordinator of a cluster and its workers must have in one version, besides.
PROTOCOL = ("autograder/cluster_plugin.py", "autograder/cluster_process.py", "autograder/pool.py")


def sources(assignment: str) -> list[Path]:
    """Returns the files that decide the marks of an assignment."""
    shown = {path for folder in ("helpers", "tutor") for path in (ROOT / folder).rglob("*.py")}
    shown -= {ROOT / name for name in WITHOUT_MARKS}
    grading = [ROOT / "grading" / name for name in GRADING]
    sandbox = (ROOT / "grading" / "sandbox").glob("*.py")
    return sorted(path for path in {*definitions(assignment), *shown, *grading, *sandbox} if path.is_file())


@cache
def environment_key(assignment: str) -> str:
    """Returns a fingerprint of what marks depend on besides the answers: exercises, examiner, versions."""
    versions = [importlib.metadata.version(name) for name in ("torch", "numpy", "sympy")]
    mistakes = map(repr, known_mistakes(assignment))  # other answers of the bank decide nothing
    parts = [path.read_bytes() for path in sources(assignment)] + [" ".join((*versions, *mistakes)).encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


@cache
def protocol_key() -> str:
    """Returns a fingerprint of how a cluster's workers are talked to."""
    return hashlib.sha256(b"\0".join((ROOT / "grading" / name).read_bytes() for name in PROTOCOL)).hexdigest()


def submission_key(answers: str, assignment: str, student: str, seed: str) -> str:
    """Returns the fingerprint of all that a submission's verdicts depend on; `answers` is that of its answers."""
    return hashlib.sha256(f"{answers}|{environment_key(assignment)}|{student}|{seed}".encode()).hexdigest()
