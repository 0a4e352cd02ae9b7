"""The README says what is there: every notebook with its points, every command, every picture."""

import re
import shutil
from pathlib import Path

import pytest

from grading.authoring import build, source
from tutor.__main__ import main as tutor

PAGES = ("README.md", "CONTRIBUTING.md", "docs/instructor.md", "docs/cluster.md", "docs/hub.md")
COMMAND = r"(?:`|^)(?:\.venv/bin/)?python -m tutor([^`\n]*)"


def test_the_table_lists_every_notebook_with_its_points(repository: Path) -> None:
    text = (repository / "README.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `(\d\d_\w+)` \|.*\| (\d+) \|$", text, re.MULTILINE))
    cells = {path.stem: source.read(path) for path in build.sources()}
    assert told == {stem: f"{sum(cell.points or 0 for cell in found):g}" for stem, found in cells.items()}


def test_every_make_command_exists(repository: Path) -> None:
    makefile = (repository / "Makefile").read_text(encoding="utf-8")
    for name in PAGES:
        for target in re.findall(r"(?:`|^)make ([a-z-]+)", (repository / name).read_text(encoding="utf-8"), re.M):
            assert re.search(rf"^{target}: ## ", makefile, re.MULTILINE), f"{name}: make {target}"


def test_what_is_said_to_the_tutor_works(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = {
        words for name in PAGES for words in re.findall(COMMAND, (repository / name).read_text(encoding="utf-8"), re.M)
    }
    assert told == {"", " work", " progress"}
    name = "00_start_here"
    shutil.copytree(repository / "notebooks" / name, tmp_path / "notebooks" / name)
    monkeypatch.chdir(tmp_path)
    assert [tutor(words.split()) for words in (" work", " progress")] == [0, 0]
    assert f"notebooks of {tmp_path / 'work'}:" in capsys.readouterr().out


def test_every_path_and_picture_exists(repository: Path) -> None:
    for name in PAGES:
        text = (repository / name).read_text(encoding="utf-8")
        for path in re.findall(r"\]\(([^)#:]+)\)", text):
            assert (repository / name).parent.joinpath(path).exists(), f"{name}: {path}"
    assert not re.search(r"!\[\]\(", (repository / "README.md").read_text(encoding="utf-8"))  # alt texts
