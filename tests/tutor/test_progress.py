"""How far a student is: the table in a notebook, and the one over all saved notebooks."""

from __future__ import annotations

import json
import os
import re
import runpy
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tutor import __main__ as report
from tutor import overview
from tutor.checking.verdict import Verdict
from tutor.notebooks import notebooks

MASK = "01_causal_mask"


@pytest.fixture(autouse=True)
def nothing_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """No check has been run in this process."""
    monkeypatch.setattr(overview, "_results", {})


def verdict(name: str, outcome: str, earned: float, points: float) -> Verdict:
    return Verdict(name, outcome, earned, points, ())


def test_a_notebook_s_table_says_what_the_checks_have_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(overview, "_variables", lambda: {"causal_mask": 1, "wasted_scores": 1})
    overview.note(verdict("causal_mask", "right", 3.0, 3.0))
    overview.note(verdict("attention_weights", "wrong", 1.5, 3.0))
    overview.note(verdict("batch_shape", "right", 1.0, 1.0))  # of another notebook
    overview.progress()
    assert capsys.readouterr().out.splitlines() == [
        "01_causal_mask: 4.5 of 14 points so far",
        "  [######--------------]",
        "  causal_mask          3 of 3  all checks passed",
        "  attention_weights  1.5 of 3  not yet right",
        "  wasted_scores        0 of 2  not checked yet",
        "  future_influence     0 of 3  not checked yet",
        "  padding_mask         0 of 3  not checked yet",
        "  mask_essay                2  essay, for a person to mark",
        "  Next on the map: 02_positional_encoding.",
    ]


def test_the_table_tells_the_same_as_html(monkeypatch: pytest.MonkeyPatch) -> None:
    table = overview.Progress(notebooks()[MASK], {"causal_mask": ("<all>", 3.0)}, coming="Next on the map: 02.")
    page = table._repr_html_()
    assert "01_causal_mask: 3 of 14 points so far" in page
    assert "width:21%" in page
    assert "&lt;all&gt;" in page
    assert "Next on the map: 02." in page


def test_without_an_exercise_the_cells_above_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    overview.progress()
    assert "run the cells above first" in capsys.readouterr().out


def test_the_file_s_name_tells_which_notebook_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", f"anywhere/{MASK}.ipynb")
    overview.progress()
    assert capsys.readouterr().out.startswith("01_causal_mask: 0 of 14 points so far\n")


def test_the_points_are_those_of_the_exercises(repository: Path) -> None:
    for name, notebook in notebooks().items():
        found = repository / "tutor" / "check_examples" / name
        assert {path.stem for path in found.glob("*.json")} == set(notebook.exercises)
    total = sum(sum(one.exercises.values()) + sum(one.essays.values()) for one in notebooks().values())
    readme = (repository / "README.md").read_text(encoding="utf-8")
    assert total == sum(float(points) for points in re.findall(r"^\| `\d\d_\w+` \|.*\| ([\d.]+) \|$", readme, re.M))


# --- over all saved notebooks -----------------------------------------------------------------------------------------


def saved(repository: Path, folder: Path, name: str, verdicts: dict[str, Verdict], essay: str = "") -> Path:
    """Writes a released notebook as a student saves it: with outputs of checks, and an essay."""
    notebook: Any = nbformat.read(repository / "notebooks" / name / f"{name}.ipynb", as_version=4)
    for cell in notebook.cells:
        identifier = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        verdict = verdicts.get(identifier.removesuffix("_check"))
        if identifier.endswith("_check") and verdict:
            data = {"text/plain": str(verdict)}
            cell.outputs = [nbformat.v4.new_output("display_data", data=data)]
        if identifier in notebooks()[name].essays and essay:
            cell.source = essay
    path = folder / name / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    return path


def test_the_table_over_all_notebooks(repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right, wrong = verdict("causal_mask", "right", 3.0, 3.0), verdict("padding_mask", "wrong", 1.5, 3.0)
    path = saved(repository, tmp_path, MASK, {"causal_mask": right, "padding_mask": wrong}, "Because.")
    saved(repository, tmp_path, "00_start_here", {"batch_shape": verdict("batch_shape", "not attempted", 0.0, 1.0)})
    older = path.with_name("older.ipynb")
    older.write_text((repository / "notebooks" / MASK / f"{MASK}.ipynb").read_text("utf-8"), "utf-8")
    os.utime(older, (0, 0))
    (tmp_path / ".ipynb_checkpoints").mkdir()
    (tmp_path / ".ipynb_checkpoints" / "copy.ipynb").write_bytes(older.read_bytes())
    for name, text in {"cut.ipynb": '{"cells": [', "list.ipynb": "[]", "other.ipynb": '{"cells": []}'}.items():
        (tmp_path / name).write_text(text)
    assert report.main(["progress", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"What the checks say in the saved notebooks of {tmp_path.resolve()}:"
    assert [line.split()[0] for line in lines[1:-1]] == [*notebooks(), "all"]
    assert lines[-1] == "Next on the map: 00_start_here."  # nothing is right there yet
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in lines[1:]}
    assert rows["00_start_here"] == "[--------------------] 0 of 1 1 of 1 checked"
    assert rows[MASK] == "[######--------------] 4.5 of 14 2 of 5 checked, essays 1 of 1 written in their cells"
    assert rows["02_positional_encoding"].endswith("no file here")
    whole = sum(sum(one.exercises.values()) for one in notebooks().values())
    assert rows["all"].startswith(f"[--------------------] 4.5 of {whole:g}")


def test_a_check_of_an_older_release_counts_without_its_points(repository: Path, tmp_path: Path) -> None:
    path = saved(repository, tmp_path, MASK, {"causal_mask": verdict("causal_mask", "right", 3.0, 3.0)})
    text = path.read_text("utf-8").replace("all checks passed - 3 of 3 points", "all checks passed")
    path.write_text(text, "utf-8")
    found = overview.read(path)
    assert found is not None
    assert found[1].results == {"causal_mask": ("all checks passed", 3.0)}


def test_an_output_of_any_form_does_no_harm(repository: Path, tmp_path: Path) -> None:
    path = saved(repository, tmp_path, MASK, {"causal_mask": verdict("causal_mask", "right", 3.0, 3.0)})
    for outputs in ([], [3], [{"data": None}], [{"data": {"text/plain": 3}}], 7, [{"data": {"text/plain": [1]}}]):
        notebook = json.loads(path.read_text("utf-8"))
        for cell in notebook["cells"]:
            if "outputs" in cell:
                cell["outputs"] = outputs
        path.write_text(json.dumps(notebook), "utf-8")
        found = overview.read(path)
        assert found is None or found[1].results == {}


@pytest.mark.parametrize("words", [["nonsense"], ["progress", "nowhere"], ["progress", "a", "b"]])
def test_a_wrong_word_is_answered_in_one_sentence(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert report.main(words) == 2
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_progress_needs_no_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Path(overview.__file__).read_text("utf-8")
    names = runpy.run_path(overview.__file__, run_name="alone")
    assert "torch" not in names
    assert "import torch" not in source
