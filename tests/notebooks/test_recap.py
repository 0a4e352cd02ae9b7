"""The recap: the lines of all notebooks as they stand there, on two printed pages."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from grading.authoring import build, recap
from grading.authoring.errors import BuildError
from grading.folder.course import ROOT

SOURCES = build.sources()
CHROMIUM = os.environ.get("CHROMIUM") or "/usr/bin/chromium"


def test_the_recap_has_every_line_of_every_notebook() -> None:
    page = (ROOT / "docs" / "recap.md").read_text(encoding="utf-8")
    assert page == recap.page(SOURCES)
    parts = re.split(r"^## (\d\d) · .+$", page, flags=re.MULTILINE)[1:]
    assert parts[::2] == [path.stem[:2] for path in SOURCES]
    for path, part in zip(SOURCES, parts[1::2], strict=True):
        shown = [line.removeprefix("- ") for line in part.strip().splitlines()]
        assert shown == recap.lines(path)
        text = " ".join(re.sub(r"^# ?", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE).split())
        assert len(shown) >= 3
        assert all(f"- {line}" in text for line in shown)
        assert "Go further" not in part


@pytest.mark.parametrize("cell", ["## What to learn\n#\n# - One.", "## What to remember\n#\n# Much."])
def test_a_notebook_without_lines_is_refused(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "77_mine.py"
    path.write_text(f"# %% [markdown]\n# # 77 · Mine\n\n# %% [markdown]\n# {cell}\n", encoding="utf-8")
    with pytest.raises(BuildError, match=r"77_mine\.py: expected one cell that begins with '## What to remember'"):
        recap.page([path])


def test_a_line_may_go_on_below(tmp_path: Path) -> None:
    path = tmp_path / "77_mine.py"
    lines = "# - One\n#   line.\n# - Two.\n#\n# **Go further.**\n# - No."
    text = f"# %% [markdown]\n# # 77 · Mine\n\n# %% [markdown]\n# ## What to remember\n#\n{lines}\n"
    path.write_text(text, encoding="utf-8")
    assert recap.page([path]).endswith("\n\n## 77 · Mine\n\n- One line.\n- Two.\n")


@pytest.mark.skipif(not os.access(CHROMIUM, os.X_OK), reason=f"no Chromium at {CHROMIUM} to print with; name yours")
def test_it_is_printed_on_two_pages(tmp_path: Path) -> None:
    page, printed = ROOT / "notebooks" / build.FIRST / "recap.html", tmp_path / "recap.pdf"
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", f"--user-data-dir={tmp_path}"]
    subprocess.run([CHROMIUM, *flags, f"--print-to-pdf={printed}", page.as_uri()], check=True, timeout=120)
    assert len(re.findall(rb"/Type\s*/Page\b", printed.read_bytes())) <= 2
