"""A class in mid-term: notebooks from before `tutor` was a package of its own go on working."""

import importlib
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

import tutor
from tests.classroom.submissions import ASSIGNMENT, released
from tutor import work

OLD = "from helpers.check import check\nfrom helpers.hints import hint"
NEW = "from tutor import check, hint"
PLACES = {"check": "helpers.check", "hint": "helpers.hints", "progress": "helpers.progress"}


@pytest.mark.parametrize("name", PLACES)
def test_the_three_functions_are_found_where_they_were(name: str) -> None:
    assert getattr(importlib.import_module(PLACES[name]), name) is getattr(tutor, name)


def test_corpora_vocabularies_and_batches_are_found_where_they_were() -> None:
    older = vars(importlib.import_module("helpers.data"))
    modules = [vars(importlib.import_module(f"helpers.{name}")) for name in ("batches", "corpora", "vocabulary")]
    for module in modules:
        names = {name for name, value in module.items() if getattr(value, "__module__", "") == module["__name__"]}
        assert {name for name in names if name[0] != "_"} <= set(older)
    assert all(any(module.get(name) is older[name] for module in modules) for name in older if name[0] != "_")


def test_the_command_is_found_where_it_was(tmp_path: Path) -> None:
    outputs = [
        subprocess.run([sys.executable, "-m", name, "nonsense"], cwd=tmp_path, capture_output=True, text=True).stdout
        for name in ("helpers", "tutor")
    ]
    assert outputs[0] == outputs[1] != ""


def test_a_name_that_tutor_does_not_have_is_reported() -> None:
    with pytest.raises(AttributeError, match="module 'tutor' has no attribute 'chek': it has check, hint, progress"):
        tutor.chek  # noqa: B018


def test_the_set_up_cell_of_an_older_notebook_becomes_the_new_one(tmp_path: Path) -> None:
    older, notebook = released(), tmp_path / "notebooks" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    for cell in older.cells:
        cell.source = cell.source.replace(NEW, OLD).replace(
            "from tutor import progress", "from helpers.progress import progress"
        )
    assert OLD in "".join(cell.source for cell in older.cells)
    notebook.parent.mkdir(parents=True)
    notebook.write_text(nbformat.writes(older), "utf-8")
    assert work.command([str(tmp_path)]) == 0
    own = tmp_path / "work" / ASSIGNMENT / notebook.name
    edited = nbformat.read(own, as_version=4)
    [answer] = [cell for cell in edited.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "causal_mask"]
    answer.source = "def causal_mask(size):\n    return 'my own answer'"
    nbformat.write(edited, own)
    notebook.write_text(nbformat.writes(released()), "utf-8")
    assert work.command([str(tmp_path)]) == 0
    merged = own.read_text("utf-8")
    assert "my own answer" in merged
    assert NEW in merged
    assert "helpers.check" not in merged
