"""README and pages say what is there: every notebook with its points, every command, path and picture."""

import re
import shutil
from pathlib import Path

import pytest

from grading.authoring import build, source, syllabus
from helpers import __version__
from tutor.__main__ import main as tutor

PAGES = (
    "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/student.md", "docs/instructor.md", "docs/late.md",
    "docs/postgresql.md", "docs/cluster.md", "docs/hub.md", "docs/results.md", "docs/syllabus.md",
    "docs/weights.md", "docs/glossary.md", "docs/sources.md", "docs/before.md", "docs/recap.md",
)  # fmt: skip
COMMAND = r"(?:`|^)(?:\.venv/bin/)?python -m tutor([^`\n]*)"


def test_the_table_lists_every_notebook_with_its_points(repository: Path) -> None:
    text = (repository / "README.md").read_text(encoding="utf-8")
    points = dict(re.findall(r"^\| `(\d\d_\w+)` \|.*\| ([\d.]+) \|$", text, re.MULTILINE))
    cells = {path.stem: source.read(path) for path in build.sources()}
    assert points == {stem: f"{sum(cell.points or 0 for cell in found):g}" for stem, found in cells.items()}


def test_every_make_command_exists(repository: Path) -> None:
    makefile = (repository / "Makefile").read_text(encoding="utf-8")
    for name in PAGES:
        for target in re.findall(r"(?:`|^)make ([a-z-]+)", (repository / name).read_text(encoding="utf-8"), re.M):
            assert re.search(rf"^{target}: ## ", makefile, re.MULTILINE), f"{name}: make {target}"


def test_documented_commands_of_the_tutor_work(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = {
        words for name in PAGES for words in re.findall(COMMAND, (repository / name).read_text(encoding="utf-8"), re.M)
    }
    assert commands == {"", " work", " progress"}
    name = "00_start_here"
    shutil.copytree(repository / "notebooks" / name, tmp_path / "notebooks" / name)
    monkeypatch.chdir(tmp_path)
    assert [tutor(words.split()) for words in (" work", " progress")] == [0, 0]
    assert f"notebooks of {tmp_path / 'work'}:" in capsys.readouterr().out


def test_every_path_picture_and_section_exists(repository: Path) -> None:
    for name in PAGES:
        text = (repository / name).read_text(encoding="utf-8")
        assert not re.search(r"!\[\]\(", text), f"{name}: a picture without a description"
        for link, section in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", text):
            target = (repository / name).parent / link if link else repository / name
            assert target.exists(), f"{name}: {link}"
            if section:
                assert section in sections(target.read_text(encoding="utf-8")), f"{name}: {link}#{section}"


def sections(text: str) -> set[str]:
    """Returns the anchors that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_readme_is_a_door(repository: Path) -> None:
    text = (repository / "README.md").read_text(encoding="utf-8")
    begin, end = text.index(syllabus.BEGIN_TABLE), text.index(syllabus.END_TABLE)
    assert len((text[:begin] + text[end:]).split()) <= 700
    docs = {f"docs/{path.name}" for path in (repository / "docs").glob("*.md")}
    assert docs | {"CONTRIBUTING.md", "CHANGELOG.md"} <= set(re.findall(r"\]\(([^)#:]+)", text))


def test_the_newest_version_of_the_changelog_is_that_of_the_course(repository: Path) -> None:
    text = (repository / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$", text, re.MULTILINE)
    assert versions[0] == __version__
    assert versions == sorted(versions, key=lambda version: [int(part) for part in version.split(".")], reverse=True)
