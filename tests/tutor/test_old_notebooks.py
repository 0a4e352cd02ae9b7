"""A class in mid-term: notebooks of older releases say what to do, and keep their answers when they are renewed."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

import tutor
from helpers.moved import WHERE
from tests.classroom.submissions import ASSIGNMENT, cell, released
from tutor import work

TODAY = "from tutor import by_hand, check, guess, hint, reveal"
OLDER = {  # the release -> what stands in its first cells in place of today's
    "0.1": {
        TODAY: "from helpers.check import check\nfrom helpers.hints import hint",
        "from tutor import progress": "from helpers.progress import progress",
        'find_spec("tutor")': 'find_spec("helpers")',
    },
    "0.2": {"from helpers.models": "from helpers.data import EOS, Vocabulary, load\nfrom helpers.models"},
}


@pytest.mark.parametrize("name", WHERE)
def test_what_has_moved_is_told_in_a_sentence(name: str) -> None:
    with pytest.raises(ImportError, match=f"no longer has {name}. Run `make lab`.* write `{re.escape(WHERE[name])}`"):
        importlib.import_module(name)


def test_what_a_notebook_types_is_answered_in_the_same_way() -> None:
    for line in ("from helpers.check import check", "from helpers import data", "import helpers.progress"):
        with pytest.raises(ImportError, match="`make lab`, which renews older notebooks and keeps your answers"):
            exec(line, {})
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'helpers\.chek'"):
        importlib.import_module("helpers.chek")


def test_what_is_named_in_place_of_it_is_there() -> None:
    for line in [line for line in WHERE.values() if line.startswith("from tutor")]:
        exec(line, {})
    for name in ("batches", "corpora", "vocabulary"):
        assert importlib.import_module(f"helpers.{name}")


def test_the_older_command_names_the_newer_one(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "helpers"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 1
    assert "write `python -m tutor` in its place" in done.stderr


def test_a_name_that_tutor_does_not_have_is_reported() -> None:
    with pytest.raises(AttributeError, match="no attribute 'chek': it has by_hand, check, guess, hint, "):
        tutor.chek  # noqa: B018


@pytest.mark.parametrize("version", OLDER)
def test_the_set_up_cell_of_an_older_notebook_becomes_the_new_one(version: str, tmp_path: Path) -> None:
    older, notebook = released(), tmp_path / "notebooks" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    for one in older.cells:
        for today, before in OLDER[version].items():
            one.source = one.source.replace(today, before)
    assert cell(older, "setup").source != cell(released(), "setup").source
    notebook.parent.mkdir(parents=True)
    notebook.write_text(nbformat.writes(older), "utf-8")
    assert work.command([str(tmp_path)]) == 0
    own = tmp_path / "work" / ASSIGNMENT / notebook.name
    edited = nbformat.read(own, as_version=4)
    cell(edited, "causal_mask").source = "def causal_mask(size):\n    return 'my own answer'"
    nbformat.write(edited, own)
    notebook.write_text(nbformat.writes(released()), "utf-8")
    assert work.command([str(tmp_path)]) == 0
    merged = nbformat.read(own, as_version=4)
    assert "my own answer" in cell(merged, "causal_mask").source
    assert cell(merged, "setup").source == cell(released(), "setup").source
    assert not any(name in one.source for one in merged.cells for name in WHERE)
