"""Later sittings of a notebook: each runs after the set-up cell and `resume` alone."""

import json
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from grading.authoring import build, pacing, source, syllabus
from grading.folder.course import ROOT, Course
from grading.notebooks.cells import grade_id, is_around, kind, tags
from grading.notebooks.names import bound, used
from tutor import resuming

SOURCES = sorted((ROOT / "solutions").glob("[0-9][0-9]_*.py"))
LATER = [(path.stem, number) for path in SOURCES for number in resuming.parts_of(path.stem)]
SITTING = pytest.mark.parametrize(("notebook", "sitting"), LATER, ids=[f"{name}-{number}" for name, number in LATER])


@pytest.mark.parametrize("path", SOURCES, ids=[path.stem for path in SOURCES])
def test_no_sitting_takes_longer_than_an_evening(path: Path) -> None:
    minutes = pacing.sittings(source.read(path), syllabus.place(path).running)
    assert max(minutes) <= pacing.SITTING, [round(part) for part in minutes]


@SITTING
def test_what_a_later_sitting_uses_comes_with_it_or_with_the_set_up(notebook: str, sitting: int) -> None:
    cells = [cell for cell in source.read(ROOT / "solutions" / f"{notebook}.py") if cell.language == "code"]
    begin = [number for number, cell in enumerate(cells) if cell.kind == "resume"][sitting - 2]
    have = bound(cell.source for cell in cells if cell.kind == "setup")
    have |= {one for part in resuming.parts_of(notebook)[sitting] for one in part.binds}
    for cell in cells[begin:]:
        missing = (used([cell.source]) - have) & bound(one.source for one in cells[:begin])
        assert not missing, f"line {cell.line} uses {missing}, which stands above the place to stop"
        have |= bound([cell.source])


def _on_another_evening(name: str, sitting: int) -> NotebookNode:
    """Returns a solution notebook as it then runs: the set-up, `resume`, and all behind it."""
    later: NotebookNode = deepcopy(nbformat.read(Course(ROOT).solution(name), as_version=4))
    begin = [number for number, cell in enumerate(later.cells) if "resume" in tags(cell)][sitting - 2]
    later.cells[begin].metadata["tags"] = []
    later.cells = [cell for cell in later.cells[:begin] if kind(cell) == "setup"] + later.cells[begin:]
    return later


@pytest.mark.all
@SITTING
def test_a_later_sitting_runs_and_has_full_marks_after_the_set_up_alone(notebook: str, sitting: int) -> None:
    run = build.execute(_on_another_evening(notebook, sitting), Course(ROOT).solution(notebook).parent)
    [resumed] = [cell for cell in run.cells if cell.source.startswith(f'resume("{notebook}", {sitting})')]
    assert [output.text for output in resumed.outputs] == [
        "Your answers above are back, and what else the rest needs.\n"
    ]
    build.refuse_lost_marks(notebook, run, f"from sitting {sitting} on")
    assert [grade_id(cell) for cell in run.cells if kind(cell) == "check"]
    assert [cell for cell in run.cells if "experiment" in tags(cell) and not is_around(cell)]


def test_what_is_run_again_is_no_more_than_a_notebook_shows() -> None:
    """Students have the file: it holds statements of given cells and experiments, and no solution."""
    for name, sittings in json.loads(resuming.PARTS.read_text("utf-8")).items():
        cells = source.read(ROOT / "solutions" / f"{name}.py")
        solutions = bound(cell.source for cell in cells if cell.kind == "exercise")
        for part in (part for parts in sittings.values() for part in parts):
            assert "code" not in part or not solutions & set(part["binds"])
