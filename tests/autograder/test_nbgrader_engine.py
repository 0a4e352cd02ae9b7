"""The engine in a process of its own: it is started again when it must be, and says why it grades nothing."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from grading.autograder import nbgrader_engine
from grading.autograder.nbgrader_commands import nbgrader
from grading.autograder.nbgrader_engine import EngineProcess
from grading.autograder.preprocessors import SandboxedExecute, TakeAnswers
from grading.classroom import demo
from grading.folder import processes
from grading.folder.course import Course
from grading.folder.errors import CourseError
from tests.classroom.submissions import ASSIGNMENT, cell, perfect

pytestmark = pytest.mark.all

MISSING = "from grading import sandbox; sandbox.probe = lambda: 'this machine has no namespaces.'\n"
RESOURCES = {"nbgrader": {"student": "ada_perfect", "assignment": ASSIGNMENT, "notebook": ASSIGNMENT, "db_url": ""}}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    course = tmp_path_factory.mktemp("separate")
    demo.make(course)
    done = nbgrader(course, "generate_assignment", ASSIGNMENT, "--force")
    assert done.returncode == 0, done.stderr
    return course


@pytest.fixture
def course(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A course folder of this test's own, in which nbgrader is at work; its processes end with the test."""
    copy = tmp_path / "course"
    shutil.copytree(made, copy)
    monkeypatch.chdir(copy)
    monkeypatch.setattr(nbgrader_engine, "_graders", {})
    yield copy
    for grader in nbgrader_engine._graders.values():
        grader.close()


@pytest.mark.sandbox
def test_a_process_is_kept_and_replaced_when_it_must_be(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grader = EngineProcess(course)
    notebook = grader.ask("rebuild", ASSIGNMENT, "ada_perfect")
    assert cell(notebook, "causal_mask").source == cell(perfect(), "causal_mask").source
    assert any("system calls" in line for line in grader.protections)
    first = grader._process
    graded = grader.ask("grade", ASSIGNMENT, "ada_perfect")
    assert grader._process is first
    assert cell(graded, "causal_mask_check").outputs[-1]["data"]["text/plain"] == "3.0"
    first.kill()  # as when it has waited too long
    first.wait()
    grader.ask("rebuild", ASSIGNMENT, "ada_perfect")
    second = grader._process
    assert second is not first
    monkeypatch.setattr(nbgrader_engine, "_newest_source", lambda: 0)  # an exercise was changed meanwhile
    grader.ask("rebuild", ASSIGNMENT, "ada_perfect")
    assert grader._process is not second
    grader.close()
    assert {process.poll() is None for process in (first, second, grader._process)} == {False}


@pytest.mark.sandbox
def test_what_cannot_be_read_or_fits_no_gradebook_is_reported(course: Path) -> None:
    with pytest.raises(CourseError, match=r"damaged: it is not a notebook \(not valid JSON\)"):
        nbgrader_engine.engine_process(course).ask("rebuild", ASSIGNMENT, "emile_broken_file")
    path = Course(course).solution(ASSIGNMENT)
    changed = nbformat.read(path, as_version=4)
    cell(changed, "causal_mask_check").source += "\n# a new line"
    nbformat.write(changed, path)
    with pytest.raises(CourseError, match=r"does not have 01_causal_mask as solutions/ has it now; run `nbgrader gen"):
        nbgrader_engine.engine_process(course).ask("rebuild", ASSIGNMENT, "ada_perfect")


def test_without_a_sandbox_one_sentence_names_the_setting(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_START", processes._START.replace("runpy.run", f"exec({MISSING!r}); runpy.run", 1))
    wanted = r"^this machine has no namespaces\. Nothing was graded; `c\.SandboxedExecute\.unprotected = True` in"
    for step in (TakeAnswers(), SandboxedExecute()):
        with pytest.raises(CourseError, match=wanted):
            step(perfect(), RESOURCES)


def test_answers_that_are_not_run_are_not_graded(course: Path) -> None:
    """nbgrader takes a check without output for full marks."""
    with pytest.raises(CourseError, match="leave out --no-execute"):
        SandboxedExecute(enabled=False)(perfect(), RESOURCES)


def test_unprotected_leaves_the_notebook_to_nbgrader(course: Path) -> None:
    step = TakeAnswers()
    step.config.SandboxedExecute.unprotected = True
    notebook = perfect()
    assert step(notebook, RESOURCES)[0] == notebook
