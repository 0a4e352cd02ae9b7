"""Each essay's rubric ends with three sample answers, and none of it reaches what students get."""

import re
from pathlib import Path

import nbformat
import pytest

from grading.authoring import build, source
from grading.authoring.source import Cell
from grading.folder.course import ROOT

ESSAYS = [(path, cell) for path in build.sources() for cell in source.read(path) if cell.kind == "essay"]
NAMES = [cell.name for _, cell in ESSAYS]
HEAD = "\n\n**Answers as students write them**\n\n"
WORDS = ("Full marks", "Half", "No marks")
ANSWER = re.compile(
    r'- \*(?P<word>[\w ]+) \((?P<mark>[\d.]+) of (?P<points>[\d.]+)\)\*: "(?P<text>.+)" Why: (?P<why>.+)'
)


def answers(text: str) -> list[re.Match[str]]:
    """Returns the sample answers of a rubric in their order, with its lines put together."""
    _, head, listed = text.partition(HEAD)
    assert head, "the rubric has no part **Answers as students write them**"
    bullets = [" ".join(bullet.split()) for bullet in re.split(r"(?m)^(?=- )", listed) if bullet]
    found = [ANSWER.fullmatch(bullet) for bullet in bullets]
    assert all(found), bullets
    return [one for one in found if one]


def pieces(cell: Cell) -> list[str]:
    """Returns the lines of a rubric that are long enough to be known again somewhere else."""
    return [line.strip() for line in cell.source.splitlines() if len(line.strip()) > 25]


def released(path: Path) -> str:
    """Returns the text of the notebook that students would get of this source today."""
    draft = build.solution_notebook(path, source.read(path), "https://example.org/course")
    return "\n".join(cell.source for cell in build.release(draft).cells)


def test_there_are_essays() -> None:
    assert len(ESSAYS) >= 19


@pytest.mark.parametrize(("path", "cell"), ESSAYS, ids=NAMES)
def test_a_rubric_has_answers_at_full_half_and_no_marks(path: Path, cell: Cell) -> None:
    samples = answers(cell.source)
    assert cell.points
    assert tuple(one["word"] for one in samples) == WORDS
    assert [float(one["points"]) for one in samples] == [cell.points] * 3
    assert [float(one["mark"]) for one in samples] == [cell.points, cell.points / 2, 0]
    for one in samples:
        sentences = re.findall(r"[.?!](?=\W*(?:\s[A-Z*(`]|$))", one["text"])
        assert 2 <= len(sentences) <= 6, one["text"]
    assert "misconception" in " ".join(one["why"] for one in samples[1:]).lower()


@pytest.mark.parametrize("path", sorted({path for path, _ in ESSAYS}), ids=lambda path: path.stem)
def test_nothing_of_a_rubric_is_released(path: Path) -> None:
    kept = nbformat.read(ROOT / "notebooks" / path.stem / f"{path.stem}.ipynb", as_version=4)
    texts = released(path), "\n".join(cell.source for cell in kept.cells)
    lines = [line for own, cell in ESSAYS if own == path for line in pieces(cell)]
    assert len(lines) > 10
    for text in texts:
        assert HEAD.strip() not in text
        assert [line for line in lines if line in text] == []


def test_nothing_of_a_rubric_is_in_what_students_install_or_read() -> None:
    places = [
        *ROOT.glob("helpers/**/*"),
        *ROOT.glob("tutor/**/*"),
        *ROOT.glob("docs/**/*.md"),
        ROOT / "README.md",
    ]
    texts = [
        (place, place.read_text(encoding="utf-8"))
        for place in places
        if place.suffix in {".py", ".json", ".md", ".csv", ".txt"}
    ]
    assert texts
    lines = [line for _, cell in ESSAYS for line in pieces(cell)]
    assert [(place, line) for place, text in texts for line in lines if line in text] == []


@pytest.mark.parametrize(
    "broken",
    [
        "**Rubric**\n\n- *x* (2): y",
        '**Rubric**\n\n**Answers as students write them**\n\n- *Full marks (2 of 2)*: "A. B." Because: x',
    ],
)
def test_a_rubric_without_sample_answers_is_found(broken: str) -> None:
    with pytest.raises(AssertionError):
        answers(broken)
