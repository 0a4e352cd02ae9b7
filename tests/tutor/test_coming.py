"""What comes next on the map, in a notebook and over all saved ones."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from grading.authoring import build, plans, syllabus
from grading.definitions import catalogue
from grading.folder.course import ROOT
from grading.notebooks.cells import is_progress
from tutor import coming, overview
from tutor.notebooks import Notebook, notebooks

MAP = {"00_a": (), "01_b": ("00_a",), "02_c": ("01_b",), "03_d": ("01_b",), "04_e": ("02_c", "03_d"), "05_f": ("04_e",)}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A course of six notebooks."""
    known = {name: Notebook(name, {"x": 2.0}, {}, needs, frozenset()) for name, needs in MAP.items()}
    monkeypatch.setattr(coming, "notebooks", lambda: known)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("name", "there", "said"),
    [
        ("00_a", MAP, "01_b."),
        ("01_b", MAP, "02_c or 03_d."),
        ("02_c", MAP, "03_d; 04 after 03."),
        ("04_e", MAP, "05_f."),
        ("01_b", ("00_a", "01_b", "04_e", "05_f"), "04_e."),  # a plan: what 04 needs is not in it
        ("01_b", ("00_a", "01_b"), "02_c or 03_d."),  # fetched one by one: the next one is not here yet
        ("01_b", (), "02_c or 03_d."),
    ],
)
def test_what_comes_after_a_notebook(name: str, there: tuple[str, ...], said: str) -> None:
    assert coming.after(name, there) == f"Next on the map: {said}"


@pytest.mark.usefixtures("small")
def test_the_end_of_the_map_says_nothing() -> None:
    assert coming.after("05_f", MAP) == ""
    assert coming.open_after(MAP, MAP) == ""
    assert coming.open_after({"00_a", "01_b", "02_c"}, MAP) == "Next on the map: 03_d."
    assert coming.open_after((), MAP) == "Next on the map: 00_a."


def test_the_map_is_that_of_the_syllabus() -> None:
    heads = syllabus.heads(build.sources())
    for name, notebook in notebooks().items():
        assert tuple(one[:2] for one in notebook.builds_on) == heads[name[:2]].place.builds_on


def test_many_are_named_by_number() -> None:
    said = coming.after("07_bert_contrast", notebooks())
    assert said == "Next on the map: 18_real_transfer; also open: 05, 08, 10, 11 and 17."
    assert coming.after("04_head_replacement", notebooks()) == (
        "Next on the map: 05_parameter_counts or 06_pretrained_vs_scratch; also open: 08 and 11."
    )


@pytest.mark.parametrize("plan", plans.PLANS)
def test_a_plan_s_students_are_sent_to_its_notebooks(plan: str) -> None:
    chosen = [name for name in notebooks() if name[:2] in plans.notebooks(plan)]
    left_out = {word for name in notebooks() if name not in chosen for word in (name, name[:2])}
    for name in chosen:
        said = coming.after(name, chosen)
        assert said
        assert not left_out & set(said.replace(",", "").rstrip(".").replace(";", "").split()), said


def test_a_notebook_looks_for_others_beside_its_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(overview, "_variables", lambda: {"causal_mask": 1})
    for name in ("00_start_here", "01_causal_mask", "03_attention_heads"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.ipynb").touch()
    monkeypatch.chdir(tmp_path / "01_causal_mask")
    overview.progress()
    assert capsys.readouterr().out.splitlines()[-1] == "  Next on the map: 03_attention_heads."


@pytest.mark.parametrize("name", catalogue.notebooks())
def test_a_solution_notebook_shows_the_map_as_it_is(name: str) -> None:
    """Another notebook of the course changes what the `progress()` of this one says, and nothing in its source."""
    cells = nbformat.read(ROOT / "solutions" / name / f"{name}.ipynb", as_version=4).cells
    [progress] = [cell for cell in cells if is_progress(cell)]
    said = [line.strip() for output in progress.outputs for line in output.data["text/plain"].splitlines()]
    assert coming.after(name, notebooks()) in said, f"build it again: python -m grading build {name} --keep"
