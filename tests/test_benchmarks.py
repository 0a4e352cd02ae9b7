"""Every benchmark starts in the way that is documented."""

import importlib
import re
import sys
from pathlib import Path

import pytest

NAMES = sorted(path.stem for path in (Path(__file__).parent.parent / "benchmarks").glob("[!_]*.py"))


@pytest.mark.parametrize("name", NAMES)
def test_it_starts_and_its_help_shows_commands_that_it_takes(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = importlib.import_module(f"benchmarks.{name}")
    commands = re.findall(r"^    python (.*)", made.__doc__ or "", re.MULTILINE)
    assert commands
    for command in commands:  # by its path the clone's other folders, which benchmarks import, would not be found
        assert re.match(rf"-m benchmarks\.{name}( |$)", command), command
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit) as ended:
        made.main()
    assert ended.value.code == 0
    help_text = capsys.readouterr().out
    for option in {word for command in commands for word in re.findall(r" (--[a-z-]+)", command.partition("#")[0])}:
        assert option in help_text, option


def test_documents_name_benchmarks_that_exist(repository: Path) -> None:
    for page in (repository / "README.md", repository / "CONTRIBUTING.md", *(repository / "docs").glob("*.md")):
        text = page.read_text("utf-8")
        assert "python benchmarks/" not in text, page.name
        assert set(re.findall(r"-m benchmarks\.(\w+)", text)) <= set(NAMES), page.name
