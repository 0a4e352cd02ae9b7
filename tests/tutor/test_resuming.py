"""`resume`: a student's own answers, and what the rest needs of the cells above, in a kernel of another day."""

import json
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from tutor import resume, resuming
from tutor.notebooks import Notebook

PARTS = {
    "mine": {
        "2": [
            {"answer": "double", "binds": ["double"]},
            {"code": "four = double(2)", "binds": ["four"]},
            {"code": "marks.append(four)", "binds": []},
            {"code": "print('not shown')\nfive = 5\nif five > 5:\n    six = 6", "binds": ["five", "six"]},
        ]
    }
}
DONE = "Your answers above are back, and what else the rest needs"


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InteractiveShell:
    stored = tmp_path / "resuming.json"
    stored.write_text(json.dumps(PARTS), encoding="utf-8")
    one = InteractiveShell()
    one.user_ns["marks"] = []  # of the set-up cell
    monkeypatch.setattr(resuming, "PARTS", stored)
    monkeypatch.setattr(resuming, "notebooks", lambda: {"mine": Notebook("mine", {"double": 1}, {}, (), frozenset())})
    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: one)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    monkeypatch.chdir(tmp_path)
    return one


def save(path: Path, answer: str) -> None:
    cell: dict[str, Any] = {"cell_type": "code", "metadata": {"nbgrader": {"grade_id": "double"}}, "source": answer}
    path.write_text(json.dumps({"cells": [{"metadata": {}, "source": ["#"]}, cell]}), encoding="utf-8")


def test_answers_and_what_the_rest_needs_are_back(
    shell: InteractiveShell, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(tmp_path / "mine.ipynb", "def double(x):\n    return 2 * x")
    resume("mine", 2)
    assert capsys.readouterr().out == f"{DONE}.\n"
    assert (shell.user_ns["four"], shell.user_ns["five"], shell.user_ns["marks"]) == (4, 5, [4])


@pytest.mark.parametrize("variable", ["JPY_SESSION_NAME", "__vsc_ipynb_file__"])
def test_a_renamed_notebook_is_found_where_the_editor_says_it_is(
    shell: InteractiveShell, tmp_path: Path, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cours d'été n° 1" / "李雷.ipynb"
    path.parent.mkdir()
    save(path, "def double(x):\n    return 3 * x")
    monkeypatch.setenv(variable, str(path))
    shell.user_ns[variable] = str(path)
    resume("mine", 2)
    assert shell.user_ns["four"] == 6


def test_nothing_is_run_again_where_the_cells_above_have_run(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.user_ns |= {"double": None, "four": 4, "five": 5}
    resume("mine", 2)
    assert capsys.readouterr().out == ""
    assert (shell.user_ns["double"], shell.user_ns["marks"]) == (None, [])  # a part that binds nothing asks for nothing


def test_what_has_failed_above_is_not_run_again(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.user_ns |= {"double": None, "five": 5}
    monkeypatch.setattr(resuming, "has_failed", lambda name: name == "four")
    resume("mine", 2)
    assert capsys.readouterr().out == ""


def test_an_answer_still_to_be_written_is_named_with_what_it_stops(
    shell: InteractiveShell, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(tmp_path / "mine.ipynb", "def double(x):\n    raise NotImplementedError")
    resume("mine", 2)
    assert capsys.readouterr().out == (
        f"{DONE}, but for `four`: run the cell of the first one to see why. Still to be written: `double`.\n"
    )
    assert shell.user_ns["five"] == 5


@pytest.mark.parametrize(
    "content", [None, "", "{", "[]", '{"cells": [1]}', '{"cells": [{"metadata": {}, "source": ""}]}']
)
def test_without_a_readable_file_the_way_by_hand_is_said(
    shell: InteractiveShell, tmp_path: Path, content: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        (tmp_path / "mine.ipynb").write_text(content, encoding="utf-8")
    resume("mine", 2)
    assert capsys.readouterr().out == (
        f"The file of this notebook was not found, and with it not your `double`: {resuming.BY_HAND}\n"
    )
    shell.user_ns["double"] = lambda x: 5 * x
    resume("mine", 2)  # its cell has been run by hand
    assert (shell.user_ns["four"], capsys.readouterr().out) == (10, f"{DONE}.\n")


def test_a_sitting_that_does_not_exist_is_refused(shell: InteractiveShell) -> None:
    with pytest.raises(LookupError, match="no sitting 3 begins in 'mine'; write the cell as it was"):
        resume("mine", 3)
    with pytest.raises(LookupError, match="no sitting 2 begins in 'yours'"):
        resume("yours", 2)


def test_nothing_happens_where_marks_are_given_or_outside_a_notebook(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    resume("mine", 2)
    monkeypatch.delenv("NBGRADER_EXECUTION")
    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: None)
    resume("mine", 2)
    assert capsys.readouterr().out == ""
    assert "five" not in shell.user_ns


def test_a_failure_is_known_from_what_looks_on_in_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    from tutor import kernel

    assert not resuming.has_failed("four")
    watch = object.__new__(kernel.Watch)
    watch.missing = {"four": kernel.Failed("NameError")}
    monkeypatch.setattr(kernel, "_watch", watch)
    assert resuming.has_failed("four")
    assert not resuming.has_failed("five")
