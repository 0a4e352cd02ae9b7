"""Plans for a term: what is in them, and that no notebook of one asks for a notebook that it lacks."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from grading.__main__ import main
from grading.authoring import build, plans, release, syllabus
from grading.authoring.errors import BuildError
from grading.folder.course import ROOT

HEADS = syllabus.heads(build.sources())


@pytest.mark.parametrize(("plan", "weeks"), [("six-weeks", 6), ("twelve-weeks", 12)])
def test_a_plan_has_its_weeks_and_each_notebook_once(plan: str, weeks: int) -> None:
    numbers = plans.notebooks(plan)
    assert len(plans.PLANS[plan]) == weeks
    assert numbers == sorted(set(numbers))
    assert set(numbers) <= HEADS.keys()


def test_a_notebook_that_asks_for_one_outside_the_plan_is_refused() -> None:
    syllabus.refuse_gaps(HEADS)
    asks = replace(HEADS["04"], before="notebooks 01 (masks) and 02 (positions). Of 08 a sentence is enough.")
    assert syllabus.asked_for(asks) == {"01", "02"}
    with pytest.raises(BuildError, match=r"04_head_replacement\.py: .*asks for 02 in its first"):
        syllabus.refuse_gaps(HEADS | {"04": asks})


def test_the_syllabus_has_a_table_of_each_plan() -> None:
    page = (ROOT / "docs" / "syllabus.md").read_text("utf-8")
    lines = list(syllabus.plan_tables(HEADS))
    assert "\n".join(lines) in page
    rows = [line for line in lines if line.startswith("| ") and line[2].isdigit()]
    assert len(rows) == 6 + 12
    assert rows[0].endswith(f"| {HEADS['00'].points + HEADS['01'].points:g} | {HEADS['01'].essays} |")


def test_an_unknown_plan_is_refused_in_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["release", "--route", "seven-weeks"]) == 2
    assert (
        capsys.readouterr()
        .err.strip()
        .endswith("no plan is called 'seven-weeks'; expected one of: six-weeks, twelve-weeks.")
    )


def test_a_release_of_a_plan_has_its_notebooks_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release, "_wheel", lambda folder: write_empty(folder / "transformers_course.whl"))
    _, packed = release.release(tmp_path, "six-weeks")
    with zipfile.ZipFile(packed) as opened:
        names = [Path(name).parent.name for name in opened.namelist() if name.endswith(".ipynb")]
    assert [name[:2] for name in names] == plans.notebooks("six-weeks")


def write_empty(path: Path) -> Path:
    path.write_bytes(b"")
    return path
