"""What every test may use, and the options that say which tests are run."""

import functools
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from tests import kernels, replay, rounding, tiers

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
BEGAN = "TESTS_BEGAN"  # when this run began, in seconds

# Every run of the tests draws the same questions; see `grading.autograder.seeds`.
os.environ["COURSE_SECRET"] = "what the questions of the tests are drawn from"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options that choose how much is run."""
    group = parser.getgroup("tiers", "how many of the tests are run (tests/tiers.py)")
    group.addoption("--all", action="store_true", help="run what is marked `all` too: what is expensive")
    group.addoption("--rest", action="store_true", help="run what a run without --all leaves out, and nothing else")
    group.addoption("--share", type=int, default=1, help="with --rest: what is asked of notebooks, of one in so many")
    group.addoption("--shard", type=tiers.shard, help="with N/M: of what the other options choose the Nth of M parts")
    group.addoption("--quick", action="store_true", help="no group that takes long, and of notebooks the changed ones")
    group.addoption("--minutes", type=float, help="begin no test later than so long after the start; it is skipped")
    group.addoption("--students", type=int, default=1, help="for how many students the bank is asked drawn questions")


def pytest_configure(config: pytest.Config) -> None:
    """Names the markers of this folder, and begins what is made once in a run."""
    config.addinivalue_line("markers", "sandbox: needs a machine on which students' code can be locked in")
    config.addinivalue_line("markers", "in_turn: run with --all, and else of a third of the notebooks (tests/tiers.py)")
    config.addinivalue_line("markers", "all: expensive; run with --all, or when it is named")
    if not tiers.is_part_of_a_run():
        os.environ[BEGAN] = str(time.time())  # for the workers
        config.pluginmanager.register(tiers.Seconds(config.rootpath))
        config.pluginmanager.register(Failures(config))
        if replay.FOLDER in [config.invocation_params.dir / argument for argument in config.args]:
            replay.write()
            config.add_cleanup(kernels.begin())
    kernels.use()
    rounding.use()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what the options do not ask for, and puts what takes longest first."""
    chosen = {item for item in items if tiers.is_chosen(item, config)}
    if part := config.getoption("shard"):
        mine = tiers.groups_of_a_shard([item.nodeid for item in chosen], *part)
        chosen = {item for item in chosen if tiers.group_of(item.nodeid) in mine}
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    seconds = tiers.Seconds(config.rootpath).of_groups([item.nodeid for item in items if item in chosen])
    items[:] = sorted((item for item in items if item in chosen), key=lambda item: tiers.turn(item, seconds))


class Failures:
    """Prints which test has failed, and why, when it does: a run that is stopped has then reported it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Prints the name and the end of the report of a test that has failed, below the dots so far."""
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and terminal is not None:
            terminal.ensure_newline()
            terminal.write_line(f"FAILED {report.nodeid} ({report.when})")
            terminal.write_line("\n".join(report.longreprtext.splitlines()[-12:]))


class Groups(LoadScopeScheduling):
    """Hands out the tests of a group together. With pytest 9.2 `--dist loadgroup` of pytest-xdist 3.8 does not."""

    def _split_scope(self, nodeid: str) -> str:
        return tiers.group_of(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Groups:
    """Gives pytest-xdist the way in which tests are handed out."""
    return Groups(config, log)


@functools.cache
def why_no_sandbox() -> str:
    """Returns "" or why no sandbox can be made here."""
    from grading import sandbox

    return sandbox.probe()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips what needs a sandbox where there is none, and what would begin too late."""
    minutes = item.config.getoption("minutes")
    if minutes and time.time() > float(os.environ[BEGAN]) + 60 * minutes:
        pytest.skip(f"not begun: this run had taken {minutes:g} minutes")
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
