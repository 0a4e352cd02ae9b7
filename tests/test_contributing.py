"""CONTRIBUTING says what works: its five steps are taken here, on notebook 00 in a copy of the course."""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.clones import clone, python

NAMES = {"EXERCISE": "batch_shape", "NN": "00"}
MAKE = {  # what make must start; `make build CHECK=1` runs for real in tests/authoring/test_build.py
    "make build": "grading build",
    "make build CHECK=1": "grading build --check",
    "make lint": "mypy",
    "make test": "pytest",
    "make test-all": "pytest",
    "make test-quick": "pytest",
    "make test-browser": "tests/browser",
    "make constraints": "uv pip compile",
    "make bench": "benchmarks.autograde",
}
REPLAY = ".venv/bin/python -m pytest --nbval solutions/NN_name/NN_name.ipynb"
PROVE = ".venv/bin/python -m grading prove EXERCISE"
BUILD = ".venv/bin/python -m grading build NN --keep"
EXAMPLES = ".venv/bin/python -m grading build NN --examples"
SLIPS = ".venv/bin/python -m benchmarks.slips NN EXERCISE"
NEW = ".venv/bin/python -m grading new NN_name EXERCISE"  # run in tests/definitions/test_new_exercise.py

MARKER = "# %% wrong: the width twice -> the width stands twice\n"
ANSWER = f"""

{MARKER}def batch_shape(b, n, d):
    return (d, n, d)
"""
HINT = "# hint: The width is the last of the three sizes only: the first one is the number of sentences.\n"


def commands(text: str) -> set[str]:
    """Returns the commands that a text tells its reader to type."""
    return {" ".join(found.split()) for found in re.findall(r"`((?:make|python|\.venv/bin/\w+) [^`]+)`", text)}


def run(course: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Runs a command of CONTRIBUTING on a small case, with this Python in the place of the environment's."""
    program, *arguments = shlex.split(command)
    assert program == ".venv/bin/python"
    return python(course, [NAMES.get(word, word.replace("NN_name", "00_start_here")) for word in arguments])


def test_every_command_is_run_here(repository: Path) -> None:
    found = commands((repository / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert found == {PROVE, BUILD, EXAMPLES, SLIPS, NEW, REPLAY, *MAKE}


def test_a_newcomer_reads_it_in_minutes_and_finds_first_what_is_first(repository: Path) -> None:
    text = (repository / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 1200
    first, second = re.findall(r"^## (.*)$", text, re.M)[:2]
    assert (first, second) == ("A new exercise", "A change, in five steps")


@pytest.mark.parametrize(("command", "started"), MAKE.items())
def test_make_starts_the_right_program(repository: Path, command: str, started: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    dry = [*shlex.split(command), "--dry-run", "--no-print-directory"]
    ended = subprocess.run(dry, cwd=repository, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert started in " ".join(ended.stdout.split())


def test_every_file_that_is_named_exists(repository: Path) -> None:
    text = (repository / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for path in re.findall(r"`((?:grading|helpers|tutor|solutions|tests|notebooks|docs)/[^` ]*)`", text):
        real = path.replace("NN_name", "00_start_here").replace("EXERCISE", "batch_shape")
        assert (repository / real).exists(), path


@pytest.mark.all
def test_one_notebook_is_replayed(repository: Path) -> None:
    ended = run(repository, REPLAY)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert re.search(r"\b[1-9]\d* passed", ended.stdout), ended.stdout


@pytest.mark.all
@pytest.mark.parametrize(("command", "printed"), [(PROVE, r"\b[1-9]\d* passed"), (SLIPS, r" of [1-9]\d* get through")])
def test_what_proves_an_exercise_runs(repository: Path, command: str, printed: str) -> None:
    ended = run(repository, command)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert re.search(printed, ended.stdout), ended.stdout


@pytest.mark.all
def test_the_five_steps(repository: Path, tmp_path: Path) -> None:
    course = clone(repository, tmp_path / "course")
    # 1: the answer that is not recognised yet
    answers = course / "grading/exercises/00_start_here/batch_shape.answers.py"
    text = answers.read_text(encoding="utf-8") + ANSWER
    answers.write_text(text, encoding="utf-8")
    before = run(course, PROVE)
    assert before.returncode == 1, before.stdout + before.stderr
    assert "batch_shape-wrong-the width twice" in before.stdout
    assert "\n2 failed" in before.stdout  # its own check lacks the hint, and so does grading, whatever is drawn
    examples = {path: path.read_bytes() for path in course.rglob("tutor/check_examples/*/*.json")}
    # 2 and 3: the hint; the definition and the text need no change
    answers.write_text(text.replace(MARKER, MARKER + HINT), encoding="utf-8")
    # while it is written: what the proof reads is made in seconds, and is what the build makes
    made = run(course, EXAMPLES)
    assert made.returncode == 0, made.stderr
    proved = run(course, PROVE)
    assert proved.returncode == 0, proved.stdout + proved.stderr
    quickly = {path: path.read_bytes() for path in course.rglob("tutor/check_examples/*/*.json")}
    # 4: the build changes what is made of this exercise, and nothing else
    built = run(course, BUILD)
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr  # nothing that a maintainer has to know to be nothing
    changed = [path for path, content in examples.items() if path.read_bytes() != content]
    assert [path.stem for path in changed] == ["batch_shape"]
    assert "the width stands twice" in json.loads(changed[0].read_text(encoding="utf-8"))["hints"]
    assert quickly == {path: path.read_bytes() for path in quickly}
