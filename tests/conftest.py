"""What every test may use, in which order tests run, and which of them `make test-quick` leaves out."""

import functools
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

pytest_plugins = ["pytester"]

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pytest brings it

ROOT = Path(__file__).resolve().parent.parent

# Before anything imports matplotlib: tests draw into memory, on machines without a screen too.
os.environ.setdefault("MPLBACKEND", "Agg")
# Three processes run the tests on two cores, each with a kernel: more threads would wait for each other, awake.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# nbval reads what a cell shows when the cell has ended. A progress bar that moves ten times a second has by then filled
# the kernel's queue of 1,000 messages where a training takes a minute; what comes later is lost, the cell's end too.
os.environ.setdefault("TQDM_MININTERVAL", "5")
# Every run of the tests draws the same questions; see `grading.autograder.seeds`.
os.environ["COURSE_SECRET"] = "what the questions of the tests are drawn from"

# Seconds that a group of tests takes on one core, where they are many: what takes longest is begun first, so that no
# process ends alone, and `--quick` leaves it out. The bank is made of small groups and has its turn between these
# and all others.
SECONDS = {
    "12_hyperparameter_sweep.ipynb": 240,
    "test_faults.py": 240,
    "test_one_world.py": 260,
    "11_translation.ipynb": 150,
    "10_pretrained_knowledge.ipynb": 80,
    "14_own_gpt.ipynb": 90,
    "15_cheap_adaptation.ipynb": 90,
    "13_recurrence.ipynb": 70,
    "06_pretrained_vs_scratch.ipynb": 180,
    "09_synthesizer.ipynb": 170,
    "test_hostile.py": 260,
    "test_build.py": 160,
    "test_hold_up.py": 60,
    "test_sandbox.py": 90,
    "test_secrecy.py": 60,
    "02_positional_encoding.ipynb": 115,
    "corrupt_span": 110,
    "07_bert_contrast.ipynb": 80,
    "04_head_replacement.ipynb": 70,
    "03_attention_heads.ipynb": 45,
    "test_stand_in_device.py": 45,
    "test_corpora.py": 30,
    "test_oddities.py": 30,
    "test_other_systems.py": 30,
    "test_nbgrader.py": 120,
    "test_late.py": 90,
    "test_ways.py": 90,
    "test_separate.py": 45,
    "test_autograde.py": 30,
    "test_cluster.py": 40,
    "test_regrade.py": 60,
    "test_contributing.py": 40,
    "test_instructor.py": 30,
    "test_not_looking.py": 30,
    "test_postgresql.py": 40,
    "test_every_command.py": 120,
}
LONG = 25


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option of the inner loop."""
    parser.addoption("--quick", action="store_true", help="one seed, changed notebooks, and no group that takes long")


def pytest_configure(config: pytest.Config) -> None:
    """Names the marker of this folder."""
    config.addinivalue_line("markers", "sandbox: needs a machine on which students' code can be locked in")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Puts the tests in order, and leaves out what `--quick` leaves out."""
    items.sort(key=_turn)  # within a group they stay in order
    if config.getoption("quick"):
        changed = changed_notebooks()
        left = [item for item in items if SECONDS.get(group_of(item.nodeid), 0) > LONG or not _concerns(item, changed)]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in set(left)]


def group_of(test: str) -> str:
    """Returns the group of a test, from its id: all tests of a group run in one process, one after another.

    A group is a file; in the bank it is an exercise, and of what is graded both ways a notebook, whose questions are
    then drawn once.
    """
    file, _, name = test.partition("::")
    file = file.rpartition("/")[2]
    if file == "test_bank.py" and "[" in name:
        first, *rest = name.partition("[")[2].rstrip("]").split("-")
        return rest[0] if first[:2].isdigit() else first  # [exercise-right-title] or [notebook-exercise]
    return name.rpartition("-")[0] if file == "test_both_ways.py" else file


class Groups(LoadScopeScheduling):
    """Hands out the tests of a group together. With pytest 9.2 `--dist loadgroup` of pytest-xdist 3.8 does not."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Groups:
    """Gives pytest-xdist the way in which tests are handed out."""
    return Groups(config, log)


def _turn(item: pytest.Item) -> tuple[int, str]:
    files = ["test_bank.py", "test_both_ways.py"]  # the second needs what the first has judged
    name = item.path.name
    return -SECONDS.get(group_of(item.nodeid), 0), str(files.index(name)) if name in files else name


def _concerns(item: pytest.Item, changed: set[str]) -> bool:
    """Says whether a test is about one of these notebooks, or about none in particular."""
    parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    notebook = parameters.get("notebook") or getattr(parameters.get("answer"), "notebook", "")
    return not notebook or notebook in changed


@functools.cache
def changed_notebooks() -> set[str]:
    """Returns the notebooks that differ from the last commit or from `main`; all of them where git does not know."""
    known = {path.stem for path in (ROOT / "solutions").glob("[0-9][0-9]_*.py")}

    def git(*arguments: str) -> list[str]:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()

    try:
        (base,) = git("merge-base", "HEAD", "main")
        paths = git("diff", "--name-only", base) + git("ls-files", "--others", "--exclude-standard")
    except (OSError, subprocess.CalledProcessError):
        return known
    return known & {name for path in paths for name in re.findall(r"\d\d_\w+", path)}


@pytest.fixture(scope="session")
def seeds(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """The students for whom questions are drawn in the proof of the exercises."""
    from tests import kept

    kept.forget_the_old()
    return kept.SEEDS[1:2] if request.config.getoption("quick") else kept.SEEDS


@functools.cache
def why_no_sandbox() -> str:
    """Returns "" or why no sandbox can be made here."""
    from grading import sandbox

    return sandbox.probe()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips what needs a sandbox where there is none."""
    if item.get_closest_marker("sandbox") and why_no_sandbox():
        pytest.skip(f"no sandbox on this machine: {why_no_sandbox()}")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the clone."""
    return ROOT


@pytest.fixture(scope="session")
def project(repository: Path) -> dict[str, Any]:
    """The table [project] of pyproject.toml."""
    return tomllib.loads((repository / "pyproject.toml").read_text("utf-8"))["project"]
