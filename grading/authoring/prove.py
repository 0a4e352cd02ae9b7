"""`python -m grading prove EXERCISE`: what proves one exercise, its bank and its hints, and nothing else is read."""

from __future__ import annotations

import argparse
import difflib
import importlib.util
import os
import subprocess
import sys

from grading.authoring.errors import BuildError
from grading.definitions import catalogue
from grading.folder.course import ROOT

PROOFS = ("tests/definitions/test_bank.py", "tests/tutor/test_hints.py")
ONLY = "COURSE_PROVES_ONLY"  # the environment's name for the exercise: the tests' files read no other


def is_asked(name: str) -> bool:
    """Says whether the tests of an exercise are wanted: of all of them, unless this process proves one."""
    return os.environ.get(ONLY, name) == name


def command(options: argparse.Namespace) -> int:
    """Runs `python -m grading prove` and returns its exit status: 0 when the exercise is proven, 1 when it is not.

    Raises:
        BuildError: when there is no such exercise, or its tests cannot be run here.
    """
    name = options.exercise
    known = {name: notebook for notebook in catalogue.notebooks() for name in catalogue.names(notebook)}
    if name not in known:
        near = difflib.get_close_matches(name, known, 3, 0.5)
        raise BuildError(f"no exercise is called {name!r}; did you mean {' or '.join(near) or 'one of another clone'}?")
    if missing := next((path for path in PROOFS if not (ROOT / path).is_file()), ""):
        raise BuildError(f"{ROOT} has no {missing}: run this in a clone of the course.")
    if not (ROOT / "tutor" / "check_examples" / known[name] / f"{name}.json").is_file():
        first = f"python -m grading build {known[name][:2]} --examples"
        raise BuildError(f"{name} has no check examples yet, which the proof asks: run `{first}` first.")
    if importlib.util.find_spec("pytest") is None:
        raise BuildError("pytest is not installed here: run `make lint` once, and this with .venv/bin/python.")
    proof = [sys.executable, "-m", "pytest", *PROOFS, "--all", "-q", "-k", name, "--students", str(options.students)]
    environment = os.environ | {ONLY: name}
    return 1 if subprocess.run(proof, cwd=ROOT, env=environment, check=False).returncode else 0
