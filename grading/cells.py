"""The one reader of a notebook's cells, whoever wrote them. Standard library only.

A cell is JSON data of any form: nothing here raises for what a file can hold.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

BEGIN_HIDDEN, END_HIDDEN = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
BEGIN_SOLUTION, END_SOLUTION = "### BEGIN SOLUTION", "### END SOLUTION"


def cells_of(notebook: Any) -> list[Any] | None:
    """Returns the cells of notebook data of format 4, or of format 3 (of 2013); None when it has none."""
    if not isinstance(notebook, dict):
        return None
    if isinstance(notebook.get("worksheets"), list):
        sheets = [sheet.get("cells") for sheet in notebook["worksheets"] if isinstance(sheet, dict)]
        return [cell for cells in sheets if isinstance(cells, list) for cell in cells]
    cells = notebook.get("cells")
    return cells if isinstance(cells, list) else None


def settings(cell: Any) -> Mapping[str, Any]:
    """Returns nbgrader's metadata of a cell, {} when it has none."""
    value = cell
    for key in ("metadata", "nbgrader"):
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def grade_id(cell: Any) -> str:
    """Returns nbgrader's id of a cell, "" when it has none."""
    value = settings(cell).get("grade_id")
    return value if isinstance(value, str) else ""


def kind(cell: Any) -> str:
    """Returns "setup", "solution", "check", "essay" or "" from a cell's nbgrader metadata."""
    told = settings(cell)
    if told.get("solution"):
        return "essay" if told.get("grade") else "solution"
    return "check" if told.get("grade") else "setup" if told.get("locked") and cell.get("cell_type") == "code" else ""


def is_experiment(cell: Any) -> bool:
    """Says whether a cell of a notebook is tagged as an experiment: no mark depends on it."""
    metadata = cell.get("metadata") if isinstance(cell, dict) else None
    tags = metadata.get("tags") if isinstance(metadata, dict) else None
    return isinstance(tags, list) and "experiment" in tags and cell.get("cell_type") == "code"


def exercise_of(check: Any) -> str:
    """Returns the exercise that a check cell is for."""
    return grade_id(check).removesuffix("_check")


def text(cell: Any) -> str:
    """Returns the text of a cell, with newlines as `\\n`; halves of characters, which JSON can hold, become "?"."""
    source = cell.get("source", cell.get("input")) if isinstance(cell, dict) else ""
    parts = source if isinstance(source, list) else [source]
    joined = "".join(part for part in parts if isinstance(part, str)).replace("\r\n", "\n").replace("\r", "\n")
    return joined if joined.isascii() else joined.encode("utf-8", "replace").decode()


def bare(source: str) -> str:
    """Returns source without space and without hidden lines, to say whether two cells hold the same."""
    return "".join(source.split(BEGIN_HIDDEN)[0].split())


def defines(source: str, name: str) -> bool:
    """Says whether source defines a function, a class or a variable of this name at its outermost level."""
    name = re.escape(name)
    pattern = rf"^(?:async\s+def|def|class)\s+{name}\b|^{name}\s*="
    return re.search(pattern, source, re.MULTILINE) is not None
