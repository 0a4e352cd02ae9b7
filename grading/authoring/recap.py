"""The recap, docs/recap.md: the lines below "What to remember" of all notebooks, on two printed pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from grading.authoring import source
from grading.authoring.errors import BuildError

HEADING = "## What to remember"
LINES = re.compile(rf"{HEADING}\n\n((?:- .+\n(?:  .+\n)*)+)")


def lines(path: Path) -> list[str]:
    """Returns the lines of a source's list, each with what goes on from it.

    Raises:
        BuildError: when there is no such section, or it does not begin with a list.
    """
    found = [match for cell in source.read(path) if (match := LINES.match(f"{cell.source}\n"))]
    if len(found) != 1:
        raise BuildError(f"{path.name}: expected one cell that begins with {HEADING!r} and a list; found {len(found)}.")
    return [" ".join(line.split()) for line in re.split(r"^- ", found[0][1], flags=re.MULTILINE)[1:]]


def page(sources: Sequence[Path]) -> str:
    """Returns docs/recap.md: for each notebook its title, and its lines.

    Raises:
        BuildError: when a source has no title, or no such section.
    """
    what = f"What to remember of all {len(sources)} notebooks, on two printed pages."
    parts = ["# Recap", f"{what} `make build` makes this page from their ends."]
    for path in sources:
        title = re.search(r"^# (\d\d · .+)$", source.read(path)[0].source, re.MULTILINE)
        if title is None:
            raise BuildError(f"{path.name}: its first cell has no title such as '# 01 · The causal mask'.")
        parts += [f"## {title[1]}", "\n".join(f"- {line}" for line in lines(path))]
    return "\n\n".join(parts) + "\n"
