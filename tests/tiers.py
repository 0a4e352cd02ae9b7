"""Which tests a command runs, and in which order: what is expensive is marked `all`, and what takes long begins first.

    make test        every test without the mark, and of those marked `in_turn` (right answers at the check, but for the
                     first of each exercise, and later sittings) the changed notebooks' and every third one's, at
                     another commit others;
                     notebooks without their experiments (`tests/replay.py`)
    make test-all    everything; notebooks in full. With `PYTEST_ARGS=--rest` only what `make test` leaves out, and with
                     `--share 3`, too, of what is asked notebook by notebook every third: at another commit, another
                     one. With `--shard 2/6` the second of six parts, which are the same on every machine
    make test-quick  of `make test`, the groups that do not take long, on the notebooks that have changed

How long a test takes is measured in each run and kept in `.cache/tests/seconds.json`. A fresh clone has no such record:
`tests/seconds.json` stands in for it, made of the records by `python -m tests.seconds`.
"""

import argparse
import functools
import json
import os
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tutor.files import write_whole

ROOT = Path(__file__).resolve().parent.parent
DEFAULT = Path(__file__).with_name("seconds.json")
LONG = 25  # seconds of a group that `--quick` leaves out, and that begins before the many short ones
FIRST = {"00_start_here", "01_causal_mask"}  # what `--quick` proves where nothing has changed
BANK, WARNINGS, BOTH_WAYS = "test_bank.py", "test_warnings.py", "test_both_ways.py"
TURNS = 3  # `make test` asks what is marked `in_turn` of every third notebook, and of those that have changed
SHARED = (
    "helpers/",
    "tutor/checking/",
    "grading/definitions/",
    "tests/definitions/",
)  # a change there is one of every notebook


def group_of(test: str) -> str:
    """Returns the group of a test, from its id: all tests of a group run in one process, one after another.

    A group is a file; in the bank it is an exercise, with what its notebook warns of, as that asks the same answers;
    and of what is graded both ways a notebook, whose questions are then drawn once.
    """
    file, _, name = test.partition("::")
    file = file.rpartition("/")[2]
    if file in (BANK, WARNINGS) and "[" in name:
        first, *rest = name.partition("[")[2].rstrip("]").split("-")  # [exercise-right-title], [notebook-exercise],
        if not first[:2].isdigit() or rest:  # [number-exercise-words], or [notebook], whose list is read
            return rest[0] if first[:2].isdigit() else first
    return name.rpartition("-")[0] if file == BOTH_WAYS else file


class Seconds:
    """How long each test took when it last ran. As a plugin of pytest it measures the tests of this run."""

    def __init__(self, root: Path) -> None:
        self.path = root / ".cache" / "tests" / "seconds.json"
        self.taken = defaultdict[str, float](float)

    def known(self) -> dict[str, float]:
        """Returns the seconds of each test that has a record."""
        try:
            known: dict[str, float] = json.loads(self.path.read_text("utf-8"))
        except (FileNotFoundError, ValueError):
            return {}
        return known

    def of_groups(self, tests: Sequence[str]) -> dict[str, float]:
        """Returns the seconds that these tests take, by group; those of a fresh clone for groups without a record."""
        known, default = self.known(), of_a_fresh_clone()
        sums = dict.fromkeys(map(group_of, tests), 0.0)
        for test in tests:
            sums[group_of(test)] += known.get(test, 0.0)
        return {group: seconds or default.get(group, 0.0) for group, seconds in sums.items()}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Adds the time that a part of a test took, in whichever process it ran."""
        self.taken[report.nodeid] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Writes what was measured; other tests keep their records."""
        if self.taken:
            rounded = {test: round(seconds, 2) for test, seconds in self.taken.items()}
            write_whole(self.path, json.dumps(self.known() | rounded, indent=0, ensure_ascii=False))


@functools.cache
def of_a_fresh_clone() -> dict[str, float]:
    """Returns the seconds of the groups that take long, as they were when this state of the course was made."""
    made: dict[str, float] = json.loads(DEFAULT.read_text("utf-8"))
    return made


def shard(text: str) -> tuple[int, int]:
    """Returns which part is asked for, and of how many: `2/6` -> (2, 6).

    Raises:
        argparse.ArgumentTypeError: when it is none.
    """
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    part, parts = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= part <= parts:
        raise argparse.ArgumentTypeError(f"{text!r}: expected N/M, such as 2/6 for the second of six parts")
    return part, parts


def groups_of_a_shard(tests: Sequence[str], part: int, parts: int) -> set[str]:
    """Returns the groups in one of so many parts of these tests, of about the same length.

    It depends on the tests alone, and not on what a machine has measured: the parts of several machines are the whole.
    """
    count = Counter(map(group_of, tests))
    seconds = {group: of_a_fresh_clone().get(group, 0.1 * number) for group, number in count.items()}
    sums = [0.0] * parts
    found = set[str]()
    for group in sorted(count, key=lambda group: (-seconds[group], group)):
        least = sums.index(min(sums))
        sums[least] += seconds[group]
        if least == part - 1:
            found.add(group)
    return found


def all_only(*values: Any) -> list[Any]:
    """Returns parameters of a test that `make test` leaves out."""
    return [pytest.param(value, marks=pytest.mark.all) for value in values]


def is_expensive(item: pytest.Item) -> bool:
    """Says whether a test is left to `make test-all`: by its mark, or as a cell of a notebook in full."""
    return _is_left_out(item) or item.nodeid.startswith("solutions/")


def _is_left_out(item: pytest.Item) -> bool:
    if item.get_closest_marker("in_turn"):
        notebook = _notebook_of(item)
        return not (notebook in changed_notebooks() or what_is_shared_has_changed() or _is_of_the_share(item, TURNS))
    return item.get_closest_marker("all") is not None


def is_chosen(item: pytest.Item, config: pytest.Config) -> bool:
    """Says whether the options ask for a test, or its id on the command line does."""
    if any("::" in argument and item.nodeid.startswith(argument) for argument in config.args):
        return True
    if config.getoption("rest"):
        return is_expensive(item) and _is_of_the_share(item, config.getoption("share"))
    if _is_left_out(item) and not config.getoption("all"):
        return False
    return not config.getoption("quick") or _is_quick(item)


def turn(item: pytest.Item, seconds: dict[str, float]) -> tuple[int, float, str]:
    """Returns what puts a test in order: what takes long, the bank, what needs the bank's verdicts, all others."""
    file, group = item.path.name, group_of(item.nodeid)
    place = {BANK: 1, WARNINGS: 1, BOTH_WAYS: 2}.get(file, 0 if seconds[group] > LONG else 3)
    return place, -seconds[group], group


def _notebook_of(item: pytest.Item) -> str:
    """Returns the notebook that a test is asked of, "" where it is about more than one."""
    parameters: dict[str, Any] = (
        item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    )
    notebook: str = parameters.get("notebook", "") or getattr(parameters.get("answer"), "notebook", "")
    return notebook


def _is_of_the_share(item: pytest.Item, share: int) -> bool:
    notebook = _notebook_of(item)
    return not notebook or (int(notebook[:2]) + _number_of_the_commit()) % share == 0


@functools.cache
def _number_of_the_commit() -> int:
    """Returns a number that all processes of a run agree on, and that another commit seldom shares."""
    try:
        return int(_git("rev-parse", "HEAD")[0], 16)
    except (OSError, subprocess.CalledProcessError):
        return 0


def _git(*arguments: str) -> list[str]:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()


def _is_quick(item: pytest.Item) -> bool:
    notebook = _notebook_of(item)
    if notebook and notebook not in changed_notebooks():
        return False
    return item.path.name in (BANK, WARNINGS) or of_a_fresh_clone().get(group_of(item.nodeid), 0) <= LONG


@functools.cache
def changed_notebooks() -> set[str]:
    """Returns the notebooks that differ from `main`, or else the first two; all of them where git does not know."""
    known = {path.stem for path in (ROOT / "solutions").glob("[0-9][0-9]_*.py")}

    try:
        paths = _changed_paths()
    except (OSError, subprocess.CalledProcessError):
        return known
    return known & {name for path in paths for name in re.findall(r"\d\d_\w+", path)} or FIRST


@functools.cache
def what_is_shared_has_changed() -> bool:
    """Says whether a part of the course that decides the marks of every notebook differs from `main`."""
    try:
        return any(path.startswith(SHARED) for path in _changed_paths())
    except (OSError, subprocess.CalledProcessError):
        return True


def _changed_paths() -> list[str]:
    (base,) = _git("merge-base", "HEAD", "main")
    return _git("diff", "--name-only", base) + _git("ls-files", "--others", "--exclude-standard")


def is_part_of_a_run() -> bool:
    """Says whether this process is a worker of pytest-xdist, or was started by a test that runs in one."""
    return "PYTEST_XDIST_WORKER" in os.environ
