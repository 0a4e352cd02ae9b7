"""A browser, a course folder and JupyterLab for each role, and a picture of each failure.

pytest tests/browser                      uses the Chromium that the variable CHROMIUM names
pytest tests/browser --save-screenshots   also makes the README's pictures in docs/images again
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect, sync_playwright

from tests.browser.lab import SCREEN, STEP_SECONDS, Server, Witness, jupyterlab
from tutor.work import Work

ASSIGNMENT = "01_causal_mask"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # No name but this machine's is known, so no page can fetch anything from elsewhere.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
]


expect.set_options(timeout=STEP_SECONDS * 1000)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option that makes the README's pictures."""
    parser.addoption("--save-screenshots", action="store_true", help="write the README's pictures to docs/images")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium that knows no address but this machine's."""
    program = os.environ.get("CHROMIUM") or "/usr/bin/chromium"
    if not os.access(program, os.X_OK):
        pytest.fail(f"there is no Chromium at {program}: install it, or name yours in CHROMIUM.")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def witness() -> Witness:
    """What the browser reports beside the page."""
    return Witness()


@pytest.fixture
def context(browser: Browser, witness: Witness) -> Iterator[BrowserContext]:
    """A browser window without history, cookies or tabs."""
    window = browser.new_context(viewport=SCREEN)
    window.set_default_timeout(STEP_SECONDS * 1000)
    yield window
    window.close()


@pytest.fixture
def page(context: BrowserContext, witness: Witness) -> Page:
    """An empty tab."""
    tab = context.new_page()
    witness.watch(tab)
    return tab


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Adds to the report of a failure where its picture is."""
    report = yield
    used = getattr(item, "funcargs", {})
    tabs = {name: tab for name, tab in used.items() if isinstance(tab, Page)}
    for name, tab in tabs.items() if report.failed and call.when == "call" else ():
        folder = item.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        picture = folder / (re.sub(r"\W+", "_", f"{item.name}_{name}") + ".png")
        try:
            tab.screenshot(path=picture)
            remark = f"{picture}, of {tab.url}"
        except Error as problem:
            remark = f"none could be taken: {problem}"
        report.sections.append(("Screenshot", remark))
    witnesses = [seen for seen in used.values() if isinstance(seen, Witness)]
    if report.failed and call.when == "call":
        if "hub" in used:
            report.sections.append(("The hub's log", used["hub"].log()[-20_000:]))
        for seen in witnesses:
            report.sections.append(("Console errors", "\n".join(seen.errors) or "none"))
    return report


@pytest.fixture
def save_screenshot(request: pytest.FixtureRequest, repository: Path) -> Callable[[Page, str], None]:
    """Writes a picture for the README, where --save-screenshots asks for it."""

    def save(page: Page, name: str) -> None:
        if request.config.getoption("--save-screenshots", default=False):
            folder = repository / "docs" / "images"
            folder.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=folder / name)

    return save


# --- a student --------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def student_server(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Path]]:
    """What `make lab` gives, in a fresh copy: JupyterLab on work/, nbgrader's settings above it."""
    course = tmp_path_factory.mktemp("student")
    shutil.copytree(repository / "notebooks" / ASSIGNMENT, course / "notebooks" / ASSIGNMENT)
    shutil.copy(repository / "nbgrader_config.py", course)
    assert Work(course).follow()
    with jupyterlab(course, course / "work", course / "home") as server:
        yield server, course


@pytest.fixture
def lab(student_server: tuple[Server, Path]) -> Iterator[Server]:
    """The student's JupyterLab, without kernels of earlier tests."""
    server, _ = student_server
    yield server
    server.end_kernels()


@pytest.fixture
def notebook(student_server: tuple[Server, Path], repository: Path) -> Path:
    """The student's own copy of a notebook, as it was released."""
    _, course = student_server
    for name in ("notebooks", "work"):
        shutil.rmtree(course / name / ASSIGNMENT, ignore_errors=True)
    shutil.copytree(repository / "notebooks" / ASSIGNMENT, course / "notebooks" / ASSIGNMENT)
    assert Work(course).follow()
    return course / "work" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"


# --- an instructor ----------------------------------------------------------------------------


@pytest.fixture(scope="session")
def graded_course(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course folder in which `make demo` has graded its class."""
    course = tmp_path_factory.mktemp("instructor") / "course"
    command = [sys.executable, "-m", "grading", "demo", "--folder", str(course)]
    done = subprocess.run(command, cwd=repository, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return course


@pytest.fixture(scope="session")
def instructor_lab(graded_course: Path) -> Iterator[Server]:
    """JupyterLab on the graded course."""
    with jupyterlab(graded_course, graded_course, graded_course.parent / "home") as server:
        yield server
