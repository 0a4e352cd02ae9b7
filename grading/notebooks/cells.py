"""The one reader of a notebook's cells, whoever wrote them. Standard library only.

A cell is JSON data of any form: nothing here raises for what a file can hold.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping
from typing import Any

BEGIN_HIDDEN, END_HIDDEN = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
LONGEST_STUB = 10_000  # characters; the longest one of the course has 2,000
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
AROUND = {"guess", "reveal", "by_hand", "resume"}  # tags of what acts for a student at work only, and makes no marks
CAPTION = re.compile(r"# @title (\S.*)")  # what a folded cell shows; Colab and JupyterLab show it in place of the code
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
    flags = settings(cell)
    if flags.get("solution"):
        return "essay" if flags.get("grade") else "solution"
    return "check" if flags.get("grade") else "setup" if flags.get("locked") and cell.get("cell_type") == "code" else ""


def is_experiment(cell: Any) -> bool:
    """Says whether a cell of a notebook is tagged as an experiment: no mark depends on it."""
    return "experiment" in tags(cell) and cell.get("cell_type") == "code"


def is_around(cell: Any) -> bool:
    """Says whether a cell acts for a student at work only: it shows nothing where the notebook runs as it is."""
    return any(tag in tags(cell) for tag in AROUND)


def tags(cell: Any) -> list[Any]:
    """Returns the tags of a cell, [] when it has none."""
    metadata = cell.get("metadata") if isinstance(cell, dict) else None
    found = metadata.get("tags") if isinstance(metadata, dict) else None
    return found if isinstance(found, list) else []


def captioned(source: str) -> tuple[str, str]:
    """Returns the caption of an experiment, "" when it has none, and the code without it."""
    first, _, rest = source.partition("\n")
    match = CAPTION.fullmatch(first)
    return (match[1], rest) if match else ("", source)


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
    """Says whether source defines, assigns or imports a function, a class or a variable of this name.

    Only what stands at the beginning of a line counts.
    """
    name = re.escape(name)
    definition = rf"(?:async\s+def|def|class)\s+{name}\b|{name}\s*(?::[^=\n]+)?=(?!=)"
    imported = rf"from[ \t]+\S+[ \t]+import[ \t(][^\n#]*\b{name}\b"
    return re.search(rf"^(?:{definition}|{imported})", source, re.MULTILINE) is not None


def is_stub(source: str, given: Collection[str]) -> bool:
    """Says whether the cell of an exercise holds no answer: it is as released, or each of its functions only raises.

    Args:
        source: the text of the cell.
        given: the texts of the released cells, without space (`bare`).
    """
    if bare(source) in given:
        return True
    if "NotImplementedError" not in source or len(source) > LONGEST_STUB:
        return False
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(isinstance(node, DEFINITIONS) for node in body) and all(map(_does_nothing, body))


def _does_nothing(node: ast.stmt) -> bool:
    """Says whether a statement does nothing that an answer could need: a function of it ends in a `raise` alone."""
    if isinstance(node, ast.ClassDef):
        return all(map(_does_nothing, node.body))
    if isinstance(node, DEFINITIONS):
        raised = isinstance(node.body[-1], ast.Raise) and "NotImplementedError" in ast.unparse(node.body[-1])
        return raised and not any(isinstance(part, ast.Return | ast.Yield) for part in ast.walk(node))
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_text or isinstance(node, ast.Pass | ast.Import | ast.ImportFrom)
