"""Validate: the same from any folder, no success where a test is missing, and no traceback over a damaged cell."""

import copy
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbgrader.preprocessors import Execute
from nbgrader.server_extensions.validate_assignment.handlers import ValidateAssignmentHandler
from nbgrader.validator import Validator
from traitlets.config import Config

from grading.classroom import demo
from grading.folder.course import ROOT, Course
from tests.classroom.submissions import cell, perfect
from tutor.validating import NameMissing

SETTINGS = ROOT / "deploy" / "jupyter" / "nbgrader_config.py"
RIGHT = {"batch_shape": "def batch_shape(b, n, d):\n    return (b, n, d)"}
REMEDY = "So Validate has nothing to look at. `python -m grading doctor`"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    """What the button finds in an environment that has the settings, in a folder that has none."""
    settings = tmp_path / "etc" / "jupyter"
    settings.mkdir(parents=True)
    shutil.copy(SETTINGS, settings)
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(settings))
    monkeypatch.chdir(tmp_path)
    found: Config = ValidateAssignmentHandler.load_config(None)
    return found


def findings(config: Config, notebook: NotebookNode, *, run: bool = False) -> dict[str, list[str]]:
    """Returns the sources of the cells that Validate names, by what it says of them."""
    nbformat.write(notebook, "notebook.ipynb")
    if not run:
        config.Validator.preprocessors = [step for step in config.Validator.preprocessors if step is not Execute]
    found: dict[str, Any] = Validator(config=config).validate(os.path.abspath("notebook.ipynb"))
    return {what: [one["source"] for one in cells] for what, cells in found.items()}


def test_a_notebook_with_all_its_tests_is_right(config: Config) -> None:
    assert findings(config, perfect()) == {}


def test_nothing_is_run_and_everything_named_where_no_test_is_left(config: Config) -> None:
    notebook = perfect()
    for one in notebook.cells:
        one.metadata.clear()
    notebook.cells.append(nbformat.v4.new_code_cell("open('was_run', 'w')"))
    names = ("causal_mask", "attention_weights", "wasted_scores", "future_influence", "padding_mask")
    lost = [f"The check of {name} is no test any more: its cell has lost its metadata." for name in names]
    assert findings(config, notebook, run=True) == {"failed": [*lost, "The cell of the essay mask_essay is missing."]}
    assert not Path("was_run").exists()


def without(*names: str) -> NotebookNode:
    notebook = perfect()
    gone = [cell(notebook, name) for name in names]
    notebook.cells = [one for one in notebook.cells if one not in gone]
    return notebook


def test_what_was_deleted_is_named(config: Config) -> None:
    assert findings(config, without("padding_mask_check")) == {"failed": ["The check of padding_mask is missing."]}
    assert findings(config, without("padding_mask", "padding_mask_check", "mask_essay")) == {
        "failed": [
            "The check of padding_mask is missing.",
            "The exercise padding_mask is missing.",
            "The cell of the essay mask_essay is missing.",
        ]
    }
    assert findings(config, without("causal_mask")) == {"failed": ["The exercise causal_mask is missing."]}


def test_what_is_missing_is_named_beside_what_was_changed(config: Config) -> None:
    notebook = without("padding_mask_check")
    cell(notebook, "causal_mask_check").source = "print('right')"
    assert findings(config, notebook) == {"changed": ["print('right')", "The check of padding_mask is missing."]}


def test_an_answer_in_another_cell_than_its_own_is_not_missing(config: Config) -> None:
    notebook = without("padding_mask")
    notebook.cells.insert(5, nbformat.v4.new_code_cell("def padding_mask(lengths, size):\n    return 0"))
    assert findings(config, notebook) == {}


def no_metadata(one: NotebookNode) -> None:
    one.metadata.nbgrader = {}


def no_schema(one: NotebookNode) -> None:
    del one.metadata.nbgrader["schema_version"]


def no_points(one: NotebookNode) -> None:
    del one.metadata.nbgrader["points"]


def newer(one: NotebookNode) -> None:
    one.metadata.nbgrader["schema_version"] = 9


def no_mark(one: NotebookNode) -> None:
    one.metadata.nbgrader["grade"] = False


@pytest.mark.parametrize("damage", [no_metadata, no_schema, no_points, newer, no_mark])
def test_a_cell_that_nbgrader_cannot_read_is_named(config: Config, damage: Callable[[NotebookNode], None]) -> None:
    notebook = perfect()
    damage(cell(notebook, "padding_mask_check"))
    wanted = "The check of padding_mask is no test any more: its cell has lost its metadata."
    assert any(wanted in sources for sources in findings(config, notebook).values())


def test_copied_cells_stop_nothing(config: Config) -> None:
    notebook = perfect()
    for name in ("causal_mask", "causal_mask_check"):
        twin = copy.deepcopy(cell(notebook, name))
        twin.id = f"twin_{name.replace('_', '-')}"
        notebook.cells.append(twin)
    assert findings(config, notebook) == {}


@pytest.mark.parametrize("cells", [[], [nbformat.v4.new_code_cell("print(1)")]], ids=["empty", "of one's own"])
def test_a_notebook_without_any_test_is_no_success(config: Config, cells: list[NotebookNode]) -> None:
    assert findings(config, nbformat.v4.new_notebook(cells=cells), run=True) == {
        "failed": ["There is no test in this notebook."]
    }


def test_tests_of_another_course_are_left_alone(config: Config) -> None:
    other = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("assert True")])
    schema = {"cell_type": "code", "task": False, "schema_version": 3}
    other.cells[0].metadata["nbgrader"] = {"grade": True, "solution": False, "locked": True, "points": 1} | {
        "grade_id": "theirs",
        **schema,
    }
    assert findings(config, other) == {}


def test_a_test_that_was_tagged_is_run_and_experiments_are_not(config: Config) -> None:
    notebook = nbformat.read(Course().released("00_start_here"), as_version=4)
    cell(notebook, "batch_shape_check").metadata["tags"] = ["experiment"]
    experiment = nbformat.v4.new_code_cell("open('was_run', 'w')", metadata={"tags": ["experiment"]})
    notebook.cells.append(experiment)
    assert findings(config, notebook, run=True) == {"failed": ["check(batch_shape)"]}
    assert not Path("was_run").exists()


@pytest.mark.all
def test_the_command_says_the_same_from_any_folder(config: Config, tmp_path: Path) -> None:
    place = tmp_path / "work" / "00_start_here"
    place.mkdir(parents=True)
    notebook = demo.fill(nbformat.read(Course().released("00_start_here"), as_version=4), RIGHT)
    notebook.metadata.kernelspec = {"name": "somebodys_conda", "display_name": "x", "language": "python"}
    nbformat.write(notebook, place / "right.ipynb")
    notebook.cells = [one for one in notebook.cells if one is not cell(notebook, "batch_shape_check")]
    nbformat.write(notebook, place / "lost.ipynb")
    for folder in (place, tmp_path / "etc"):
        files = [os.path.relpath(place / name, folder) for name in ("right.ipynb", "lost.ipynb")]
        command = [sys.executable, "-m", "nbgrader", "validate", *files]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert "Traceback" not in done.stderr, done.stderr
        assert done.stdout.startswith("Success! Your notebook passes all the tests.\nVALIDATION FAILED ON 1 CELL(S)!")
        assert "The check of batch_shape is missing." in done.stdout
        assert REMEDY in done.stdout


def test_students_of_the_wheel_are_told_what_they_have(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tutor.validating.find_spec", lambda name: None)
    nbformat.write(without("padding_mask_check"), "notebook.ipynb")
    config.Validator.preprocessors = [step for step in config.Validator.preprocessors if step is not Execute]
    [failed] = Validator(config=config).validate(os.path.abspath("notebook.ipynb"))["failed"]
    assert "`python -m tutor work`" in " ".join(failed["raw_error"].split())
    assert json.dumps(failed)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (
            [("import einops\ndef causal_mask(size): pass", ("ModuleNotFoundError", "No module named 'einops'"))],
            "causal_mask is not there: a cell above stopped with ModuleNotFoundError: No\nmodule named 'einops'",
        ),
        (
            [("from mine import causal_mask", ("ModuleNotFoundError", "No module named 'mine'"))],
            "causal_mask is not there: a cell above stopped with ModuleNotFoundError: No\nmodule named 'mine'",
        ),
        (
            [
                ("x = 1 / 0", ("ZeroDivisionError", "division by zero")),
                ("def causal_mask(:", ("SyntaxError", "bad")),
            ],
            "causal_mask is not there: a cell above stopped with SyntaxError: bad",
        ),
        ([("x = 1 / 0", ("ZeroDivisionError", "division by zero"))], "as it was"),
        ([], "as it was"),
    ],
)
def test_a_name_that_is_not_there_is_explained_by_the_error_of_its_cell(
    cells: list[tuple[str, tuple[str, str]]], said: str
) -> None:
    def failed(source: str, kind: str, text: str) -> NotebookNode:
        error = nbformat.v4.new_output("error", ename=kind, evalue=text, traceback=["as it was"])
        return nbformat.v4.new_code_cell(source, outputs=[error])

    check = failed("check(causal_mask)", "NameError", "name 'causal_mask' is not defined")
    check.metadata["nbgrader"] = {"grade": True, "solution": False, "locked": True, "points": 1, "grade_id": "c"}
    notebook = nbformat.v4.new_notebook(cells=[*(failed(source, *error) for source, error in cells), check])
    NameMissing().preprocess(notebook, {"missing": []})
    assert "\n".join(notebook.cells[-1].outputs[0].traceback) == said
