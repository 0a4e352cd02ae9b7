"""Load a notebook file that may be damaged: cut off, of another encoding or format, or in the middle of a merge."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grading.folder.errors import CourseError
from grading.notebooks.cells import cells_of, grade_id, settings, text

MAX_BYTES = 200 << 20
# The lines of a merge conflict by what follows them: the first version, the common one (not always), the second one.
CONFLICT = (re.compile(r"<{7}(?: .*)?"), re.compile(r"\|{7}.*"), re.compile(r"={7}\r?"), re.compile(r">{7}(?: .*)?"))
END = 3
PIECE = 1 << 14  # characters in which a cell is looked for first
MAX_DEEP = 50  # cells that are nested too deeply to be read: no student's notebook has one
HALF = "cut in two"  # in the metadata of a cell that was saved in part
FOLLOWING = {-1: (0,), 0: (1, 2), 1: (2,), 2: (END,)}  # which of them may come next
CELLS_END = re.compile(r'\}\s*\]\s*(?:\}|,\s*"(?:metadata|nbformat|nbformat_minor)"\s*:)')  # and of the last
CELL_START = re.compile(r'\{\s*"(?:cell_type|attachments|execution_count|id|metadata|outputs|source)"\s*:')

Cell = dict[str, Any]


class BeyondMendingError(CourseError):
    """Nothing can be saved from the file; the message says why, and what to do."""


@dataclass
class Rescued:
    """What a file holds: its cells, with metadata and outputs of their kinds, and what was wrong and is left to do.

    `damaged` says that cells may be missing.
    """

    cells: list[Cell] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)
    damaged: bool = False


def load(path: Path, data: bytes | None = None) -> Rescued:
    """Returns what a file holds, saved from damage as far as it goes.

    Args:
        path: the file.
        data: what is in it, where it is not on the disk.

    Raises:
        BeyondMendingError: when nothing can be saved.
    """
    found = Rescued()
    content = _decode(path.name, _read(path) if data is None else data, found)
    try:
        notebook = json.loads(content)
    except (ValueError, RecursionError) as problem:
        try:
            notebook = _save_damaged(content, problem, found)
        except BeyondMendingError as reason:
            raise BeyondMendingError(f"{path.name}: {reason}") from problem
    listed = cells_of(notebook)
    if listed is None:
        raise BeyondMendingError(f"{path.name} is JSON, but no notebook: it has no cells. Hand in the .ipynb file.")
    if isinstance(notebook.get("worksheets"), list):
        found.problems.append("it is a notebook of format 3, of 2013; it is written in today's format")
    found.cells = [cell for cell in listed if isinstance(cell, dict)]
    if len(found.cells) < len(listed):
        found.problems.append(f"{len(listed) - len(found.cells)} of its cells are no cells; they are left out")
    for cell in found.cells:
        _normalise(cell)
    found.metadata = notebook["metadata"] if isinstance(notebook.get("metadata"), dict) else {}
    return found


def _normalise(cell: Cell) -> None:
    """Puts metadata and outputs of their kinds where a cell has others."""
    if not isinstance(cell.get("metadata"), dict):
        cell["metadata"] = {}
    if not isinstance(cell["metadata"].get("nbgrader", {}), dict):
        del cell["metadata"]["nbgrader"]
    if not isinstance(cell.get("outputs", []), list):
        cell["outputs"] = []


def _read(path: Path) -> bytes:
    if path.is_symlink():
        raise BeyondMendingError(f"{path.name} is a link; name the file itself.")
    if not path.is_file():
        raise BeyondMendingError(f"there is no file {path}; expected a notebook (.ipynb).")
    if path.stat().st_size > MAX_BYTES:
        raise BeyondMendingError(
            f"{path.name} has more than {MAX_BYTES >> 20} MB; clear its outputs in JupyterLab first."
        )
    return path.read_bytes()


def _decode(name: str, data: bytes, found: Rescued) -> str:
    """Returns the text of a file, whatever an editor has made of it."""
    if not data.strip():
        raise BeyondMendingError(f"{name} is empty; look for a copy in .ipynb_checkpoints beside it.")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        found.problems.append("it is saved in UTF-16, as some editors do; it is written in UTF-8")
        content = data.decode("utf-16", errors="replace")
    else:
        if data.startswith(b"\xef\xbb\xbf"):
            found.problems.append("it begins with a byte order mark, as some editors write; it is left out")
        try:
            content = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            found.problems.append("it is not UTF-8; its accents were guessed")
            content = data.decode("cp1252", errors="replace")
    if "\r\n" in content or "\\r\\n" in content:
        found.problems.append("its lines end as on Windows (CRLF); they are written as everywhere else (LF)")
    return content.replace("\r\n", "\n")


def _save_damaged(content: str, problem: Exception, found: Rescued) -> Any:
    """Returns what can be saved of text that is not valid JSON."""
    if re.match(r"\s*<(!doctype|html)", content, re.IGNORECASE):
        raise BeyondMendingError("it is a web page, not a notebook: in the browser, download the file, not its page.")
    if content.startswith("version https://git-lfs"):
        raise BeyondMendingError(
            "it is a pointer of Git LFS, and the notebook itself is not in it: run `git lfs pull` in the clone it came "
            "from, or ask for the .ipynb file."
        )
    if re.search(r"^(<{7}|>{7})", content, re.MULTILINE):
        ours, theirs = (_one_side(content, side) for side in (0, 2))
        found.problems.append("it holds merge-conflict markers of Git; the first version is taken")
        try:
            notebook = json.loads(ours)
        except ValueError as still:
            notebook = _save_cells(ours, still, found)
        try:
            _keep_other_side(notebook, json.loads(theirs), found)
        except (ValueError, KeyError, TypeError):
            found.advice.append("the second version of the merge cannot be read; compare with the original file")
        return notebook
    return _save_cells(content, problem, found)


def _one_side(content: str, side: int) -> str:
    """Returns text with this part of each merge conflict in its place, 0 or 2; one that does not end stays as it is."""
    kept, conflict, parts, part = list[str](), list[str](), defaultdict[int, list[str]](list), -1
    for line in content.split("\n"):
        found = next((number for number in FOLLOWING[part] if CONFLICT[number].fullmatch(line)), None)
        if part < 0 and found is None:
            kept.append(line)
            continue
        conflict.append(line)
        if found is None:
            parts[part].append(line)
        elif found == END:
            kept += parts[side]
            conflict, parts, part = [], defaultdict(list), -1
        else:
            part = found
    return "\n".join([*kept, *conflict])


def _keep_other_side(notebook: Any, other: Any, found: Rescued) -> None:
    """Puts answers of the second side of a merge below those of the first, as text."""
    theirs = {grade_id(cell): text(cell) for cell in other["cells"] if grade_id(cell)}
    cells = []
    for cell in notebook["cells"]:
        cells.append(cell)
        name = grade_id(cell)
        if name and settings(cell).get("solution") and theirs.get(name, text(cell)) != text(cell):
            source = f"The other version of `{name}`, from the merge:\n\n```python\n{theirs[name]}\n```"
            cells.append({"cell_type": "markdown", "metadata": {}, "source": source})
            found.advice.append(f"the two versions of {name} differ; the second one stands below the first, as text")
    notebook["cells"] = cells


def _save_cells(content: str, problem: Exception, found: Rescued) -> dict[str, Any]:
    """Returns a notebook with every cell that stands whole in damaged text, and the source of those cut in two."""
    start = re.search(r'"cells"\s*:\s*\[', content)
    if start is None:
        raise BeyondMendingError(f"it is not a notebook (not valid JSON: {problem}); look for another copy.")
    cells, halves, deep, position = list[Cell](), 0, 0, start.end()
    last = position  # from where on the list of cells must end
    while deep < MAX_DEEP and (match := CELL_START.search(content, position)):
        try:
            cell, position = _decode_at(content, match.start())
        except (ValueError, RecursionError) as still:
            deep += isinstance(still, RecursionError)
            following = CELL_START.search(content, match.end())
            while following and '"cell_type"' not in content[following.start() : following.start() + 200]:
                following = CELL_START.search(content, following.end())
            end = following.start() if following else len(content)
            half = _save_half_cell(content[match.start() : end])
            cells += [half] if half else []
            halves, position, last = halves + 1, end, match.start()
            continue
        last = position - 1  # with its brace
        if isinstance(cell, dict) and isinstance(cell.get("cell_type"), str):
            cells.append(cell)
    if not cells:
        raise BeyondMendingError(
            f"it is damaged (not valid JSON: {problem}), and no cell is whole; look for another copy."
        )
    found.damaged = True
    where = "it is damaged (not valid JSON)" if CELLS_END.search(content, last) else "it is cut off at its end"
    found.problems.append(f"{where}; {len(cells)} cells were saved" + (f", {halves} of them in part" if halves else ""))
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def _decode_at(content: str, start: int) -> tuple[Any, int]:
    """Returns the JSON value that begins at a place of a text, and where it ends.

    An error counts the lines before it: so the decoder sees no more of the text than it needs, or a file of many broken
    cells would take the square of its length.

    Raises:
        ValueError: when there is none, or RecursionError.
    """
    size = PIECE
    while True:
        piece = content[start : start + size]
        try:
            value, end = json.JSONDecoder().raw_decode(piece)
        except json.JSONDecodeError as problem:
            cut = problem.msg.startswith("Unterminated string") or problem.pos > len(piece) - 10
            if not cut or start + size >= len(content):
                raise
            size *= 4
        else:
            return value, start + end


def _save_half_cell(content: str) -> Cell | None:
    """Returns what is left of a cell that is cut in two, as a `HALF`: its id, and the whole lines of its source."""
    identifier = re.search(r'"grade_id"\s*:\s*"([^"\\]{1,100})"', content)
    kind = re.search(r'"cell_type"\s*:\s*"(code|markdown|raw)"', content)
    source = re.search(r'"source"\s*:\s*\[?', content)
    lines, position = list[str](), source.end() if source else len(content)
    while match := re.compile(r'\s*,?\s*(?=")').match(content, position):
        try:
            line, position = json.JSONDecoder().raw_decode(content, match.end())
        except ValueError:
            break
        if re.match(r"\s*:", content[position:]):  # the key after the source
            break
        lines.append(line)
    if not lines:
        return None
    metadata: dict[str, Any] = {HALF: True}
    if identifier:
        metadata["nbgrader"] = {"grade_id": identifier[1], "solution": True}
    return {"cell_type": kind[1] if kind else "code", "metadata": metadata, "source": "".join(lines)}
