"""The glossary, docs/glossary.md: words of the whole course, and what the last sections of notebooks say.

The former stand in `solutions/words.md`, the latter below "What others call it".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from grading.authoring import source
from grading.authoring.errors import BuildError

HEADING = "## What others call it"
ENTRY = re.compile(r"^- (\*\*.+)$", re.MULTILINE)
WORD = re.compile(r"^- (\*\*.+) \((\d\d)\)$", re.MULTILINE)  # of solutions/words.md


class Entry(NamedTuple):
    """A line of the glossary: the words that it explains, the line itself, and the number of its notebook."""

    words: tuple[str, ...]
    line: str
    notebook: str


def entries(path: Path) -> list[Entry]:
    """Returns the lines of a source's section, in its order; none where there is no such section.

    Raises:
        BuildError: when there are two such sections, or one with fewer than five or more than ten lines.
    """
    found = [cell.source for cell in source.read(path) if cell.source.startswith(f"{HEADING}\n")]
    lines = [line for text in found for line in ENTRY.findall(text)]
    if len(found) > 1 or (found and not 5 <= len(lines) <= 10):
        raise BuildError(
            f"{path.name}: expected one cell that begins with {HEADING!r}, with five to ten lines such as "
            f"'- **tokenizer**: what cuts a text'; found {len(lines)} in {len(found)} cells."
        )
    return [Entry(tuple(re.findall(r"\*\*(.+?)\*\*", line)), line, path.stem[:2]) for line in lines]


def words(path: Path) -> list[Entry]:
    """Returns the words of the whole course, from a file such as `solutions/words.md`.

    Raises:
        BuildError: for a line of its list that is not understood.
    """
    text = path.read_text(encoding="utf-8")
    if strange := [line for line in text.splitlines() if line.startswith("-") and not WORD.fullmatch(line)]:
        raise BuildError(f"{path.name}: expected '- **word**: what it is. (NN)', got {strange[0][:60]!r}.")
    return [Entry(tuple(re.findall(r"\*\*(.+?)\*\*", line)), line, notebook) for line, notebook in WORD.findall(text)]


def page(sources: Sequence[Path], own: Sequence[Entry] = ()) -> str:
    """Returns docs/glossary.md: all lines by their first words, with the notebook that each comes from.

    Args:
        sources: of the notebooks.
        own: the words of the whole course.

    Raises:
        BuildError: when a section is not as it must be, or two of them begin a line with the same word.
    """
    of_notebooks = (entry for path in sources for entry in entries(path))
    found = sorted([*own, *of_notebooks], key=lambda entry: entry.words[0].lower())
    firsts: dict[str, Entry] = {}
    for entry in found:
        other = firsts.setdefault(entry.words[0].lower(), entry)
        if other is not entry:
            raise BuildError(
                f"the notebooks {other.notebook} and {entry.notebook} both explain {entry.words[0]!r}; let one do it."
            )
    head = [
        "# Glossary",
        "",
        f"{len(found)} words, each with the number of its notebook: those that the course uses all along, and what "
        "others call its things. `make build` makes this page.",
        "",
    ]
    return "\n".join(head + [f"- {entry.line} ({entry.notebook})" for entry in found]) + "\n"
