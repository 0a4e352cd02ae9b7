"""Say what is wrong with a notebook file, and write a mended copy beside it; never over the original.

Works on a student's copy of the course too: it compares with the released notebook, and runs nothing. The copy is the
released notebook with the student's answers and own cells in it, so whatever was copied, split, retyped, moved or
deleted is as it should be.
"""

from __future__ import annotations

import ast
import copy
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grading import assignments as released
from grading.assignments import grade_id, text_of

MAX_BYTES = 200 << 20
LARGE_OUTPUT = 1 << 20  # bytes of one cell; larger ones are left out of the copy
LARGE_FILE = 10 << 20  # many sites for handing in refuse more
CONFLICT = re.compile(
    r"^<{7}(?: [^\n]*)?\n(.*?)(?:^\|{7}[^\n]*\n.*?)?^={7}\r?\n(.*?)^>{7}(?: [^\n]*)?(?:\n|\Z)", re.MULTILINE | re.DOTALL
)
CELL_START = re.compile(r'\{\s*"(?:cell_type|attachments|execution_count|id|metadata|outputs|source)"\s*:')

Cell = dict[str, Any]


class BeyondMendingError(ValueError):
    """Nothing can be saved from the file; the message says why, and what to do."""


@dataclass
class Diagnosis:
    """What was found: `problems` are mended in `notebook`, `advice` is for the student to follow.

    `lost` are the cells that a `damaged` file no longer has.
    """

    assignment: str = ""
    problems: list[str] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)
    notebook: dict[str, Any] = field(default_factory=dict)
    damaged: bool = False
    lost: list[str] = field(default_factory=list)


# --- the file ---------------------------------------------------------------------------------------------------------


def _load(path: Path, found: Diagnosis) -> dict[str, Any]:
    """Returns the notebook's data, saved from a damaged file as far as it goes."""
    if path.is_symlink():
        raise BeyondMendingError(f"{path.name} is a link; name the file itself.")
    if not path.is_file():
        raise BeyondMendingError(f"there is no file {path}; expected a notebook (.ipynb).")
    if path.stat().st_size > MAX_BYTES:
        raise BeyondMendingError(
            f"{path.name} has more than {MAX_BYTES >> 20} MB; clear its outputs in JupyterLab first."
        )
    text = _decoded(path, found)
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError) as problem:
        notebook = _saved(text, problem, found)
    if isinstance(notebook, dict) and isinstance(notebook.get("worksheets"), list):
        found.problems.append("it is a notebook of format 3, of 2013; it is written in today's format")
        notebook["cells"] = [c for sheet in notebook["worksheets"] if isinstance(sheet, dict) for c in sheet["cells"]]
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise BeyondMendingError(f"{path.name} is JSON, but no notebook: it has no cells. Hand in the .ipynb file.")
    cells = [cell for cell in notebook["cells"] if isinstance(cell, dict)]
    if len(cells) < len(notebook["cells"]):
        found.problems.append(f"{len(notebook['cells']) - len(cells)} of its cells are no cells; they are left out")
    for cell in cells:
        if not isinstance(cell.get("metadata"), dict):
            cell["metadata"] = {}
        if not isinstance(cell["metadata"].get("nbgrader", {}), dict):
            del cell["metadata"]["nbgrader"]
        if not isinstance(cell.get("outputs", []), list):
            cell["outputs"] = []
    notebook["cells"] = cells
    return notebook


def _decoded(path: Path, found: Diagnosis) -> str:
    data = path.read_bytes()
    if not data.strip():
        raise BeyondMendingError(f"{path.name} is empty; look for a copy in .ipynb_checkpoints beside it.")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        found.problems.append("it is saved in UTF-16, as some editors do; it is written in UTF-8")
        text = data.decode("utf-16", errors="replace")
    else:
        if data.startswith(b"\xef\xbb\xbf"):
            found.problems.append("it begins with a byte order mark, as some editors write; it is left out")
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            found.problems.append("it is not UTF-8; its accents were guessed")
            text = data.decode("cp1252", errors="replace")
    if "\r\n" in text or "\\r\\n" in text:
        found.problems.append("its lines end as on Windows (CRLF); they are written as everywhere else (LF)")
    return text.replace("\r\n", "\n")


def _saved(text: str, problem: Exception, found: Diagnosis) -> Any:
    """Returns what can be saved of text that is not valid JSON."""
    if re.match(r"\s*<(!doctype|html)", text, re.IGNORECASE):
        raise BeyondMendingError("it is a web page, not a notebook: in the browser, download the file, not its page.")
    if re.search(r"^(<{7}|>{7})", text, re.MULTILINE):
        ours, theirs = (CONFLICT.sub(rf"\{side}", text) for side in (1, 2))
        found.problems.append("it holds merge-conflict markers of Git; the first version is taken")
        try:
            notebook = json.loads(ours)
        except ValueError as still:
            notebook = _cells_of(ours, still, found)
        try:
            _keep_other_side(notebook, json.loads(theirs), found)
        except (ValueError, KeyError, TypeError):
            found.advice.append("the second version of the merge cannot be read; compare with the original file")
        return notebook
    return _cells_of(text, problem, found)


def _keep_other_side(notebook: Any, other: Any, found: Diagnosis) -> None:
    """Puts answers of the second side of a merge below those of the first, as text."""
    theirs = {grade_id(cell): text_of(cell) for cell in other["cells"] if grade_id(cell)}
    cells = []
    for cell in notebook["cells"]:
        cells.append(cell)
        name = grade_id(cell)
        solution = name and cell["metadata"]["nbgrader"].get("solution")
        if solution and theirs.get(name, text_of(cell)) != text_of(cell):
            source = f"The other version of `{name}`, from the merge:\n\n```python\n{theirs[name]}\n```"
            cells.append({"cell_type": "markdown", "metadata": {}, "source": source})
            found.advice.append(f"the two versions of {name} differ; the second one stands below the first, as text")
    notebook["cells"] = cells


def _cells_of(text: str, problem: Exception, found: Diagnosis) -> dict[str, Any]:
    """Returns a notebook with every cell that stands whole in damaged text, and the source of those cut in two."""
    start = re.search(r'"cells"\s*:\s*\[', text)
    if start is None:
        raise BeyondMendingError(f"it is not a notebook (not valid JSON: {problem}); look for another copy.")
    decoder, cells, halves, position = json.JSONDecoder(), list[Cell](), 0, start.end()
    while match := CELL_START.search(text, position):
        try:
            cell, position = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            following = CELL_START.search(text, match.end())
            while following and '"cell_type"' not in text[following.start() : following.start() + 200]:
                following = CELL_START.search(text, following.end())
            end = following.start() if following else len(text)
            half = _half_cell(text[match.start() : end])
            cells += [half] if half else []
            halves, position = halves + 1, end
            continue
        if isinstance(cell, dict) and isinstance(cell.get("cell_type"), str):
            cells.append(cell)
    if not cells:
        raise BeyondMendingError(
            f"it is damaged (not valid JSON: {problem}), and no cell is whole; look for another copy."
        )
    found.damaged = True
    where = "it is cut off at its end" if not text.rstrip().endswith("}") else "it is damaged (not valid JSON)"
    found.problems.append(f"{where}; {len(cells)} cells were saved" + (f", {halves} of them in part" if halves else ""))
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def _half_cell(text: str) -> Cell | None:
    """Returns what is left of a cell that is cut in two: its id, and the whole lines of its source."""
    identifier = re.search(r'"grade_id"\s*:\s*"([^"\\]{1,100})"', text)
    kind = re.search(r'"cell_type"\s*:\s*"(code|markdown|raw)"', text)
    source = re.search(r'"source"\s*:\s*\[?', text)
    lines, position = list[str](), source.end() if source else len(text)
    while match := re.compile(r'\s*,?\s*(?=")').match(text, position):
        try:
            line, position = json.JSONDecoder().raw_decode(text, match.end())
        except ValueError:
            break
        if re.match(r"\s*:", text[position:]):  # the key after the source
            break
        lines.append(line)
    if not lines:
        return None
    metadata = {"nbgrader": {"grade_id": identifier[1], "solution": True}} if identifier else {}
    return {"cell_type": kind[1] if kind else "code", "metadata": metadata, "source": "".join(lines)}


# --- the cells --------------------------------------------------------------------------------------------------------


def _kind(cell: Cell) -> str:
    told = cell["metadata"].get("nbgrader", {})
    if told.get("solution"):
        return "essay" if told.get("grade") else "solution"
    return "check" if told.get("grade") else "setup" if told.get("locked") else ""


def _defines(source: str, name: str) -> bool:
    pattern = rf"^(?:async\s+def|def|class)\s+{re.escape(name)}\b|^{re.escape(name)}\s*="
    return re.search(pattern, source, re.MULTILINE) is not None


def _bare(source: str) -> str:
    return "".join(source.split())


def _rebuilt(notebook: dict[str, Any], master: dict[str, Any], found: Diagnosis) -> list[Cell]:
    """Returns the released cells with the student's answers in them, and the student's own cells where they stood."""
    kinds = {grade_id(cell): _kind(cell) for cell in master["cells"] if grade_id(cell)}
    given = {cell["id"]: _bare(text_of(cell)) for cell in master["cells"]}
    texts = {text: identifier for identifier, text in given.items()}
    own: dict[str, list[Cell]] = {}  # the student's cells, by the released cell that they belong to
    extra: dict[str, list[Cell]] = {}  # the student's further cells, by the released cell that they follow
    order, stripped, last = list[str](), list[str](), ""
    for cell in notebook["cells"]:
        name = grade_id(cell)
        place = name if name in kinds else str(cell.get("id", ""))
        bare = _bare(text_of(cell))
        if place not in given:
            place = texts.get(bare, "")
        elif place in kinds and not name:
            stripped.append(place)
        if not place and cell.get("cell_type") == "code":
            loose = (name for name, kind in kinds.items() if kind == "solution" and name not in _ids(notebook))
            place = next((name for name in loose if _defines(text_of(cell), name)), "")
            if place:
                found.problems.append(f"{place} stands in another cell than its own; it is put into its own")
        if place:
            own.setdefault(place, []).append(cell)
            order.append(place)
            last = place
        elif bare:
            cell["metadata"].pop("nbgrader", None)  # of another notebook, or of nobody
            extra.setdefault(last, []).append(cell)
    if stripped:
        found.problems.append(f"the grading information of {', '.join(stripped)} was lost; it is put back")
    _tell_order(order, list(given), found)
    cells = extra.pop("", [])
    for released_cell in master["cells"]:
        identifier = released_cell["id"]
        cells.append(_mended(released_cell, own.get(identifier, []), kinds.get(identifier, ""), found))
        cells += extra.pop(identifier, [])
    if found.lost:
        found.problems.append(f"lost with the damage: {', '.join(found.lost)}; the cells are put back as released")
    return cells


def _ids(notebook: dict[str, Any]) -> set[str]:
    return {grade_id(cell) for cell in notebook["cells"]}


def _tell_order(order: list[str], given: list[str], found: Diagnosis) -> None:
    firsts = list(dict.fromkeys(order))
    if firsts != sorted(firsts, key=given.index):
        found.problems.append("its cells are not in their order; they are put back")


def _mended(master: Cell, found_cells: list[Cell], kind: str, found: Diagnosis) -> Cell:
    """Returns a released cell with the student's text in it where it is the student's to write."""
    made = copy.deepcopy(master)
    name = grade_id(master)
    if not found_cells:
        if kind and found.damaged:
            found.lost.append(name)
        elif kind in ("solution", "essay"):
            found.problems.append(f"the cell of {name} was deleted; an empty one is put back")
        elif kind in ("check", "setup"):
            found.problems.append(f"the cell {name} was deleted; it is put back")
        return made
    first = found_cells[0]
    if kind in ("check", "setup"):
        if len(found_cells) > 1:
            found.problems.append(f"the cell {name} stands {len(found_cells)} times; once is kept")
        if _bare(text_of(first)) != _bare(text_of(master)) or first.get("cell_type") != master["cell_type"]:
            found.problems.append(f"the cell {name}, which is not to be changed, was changed; it is put back")
    elif kind in ("solution", "essay"):
        made["source"] = _joined(name, found_cells, master["cell_type"], found)
        told = first["metadata"].get("nbgrader", {})
        flags = ("grade", "solution", "locked", "points")
        if grade_id(first) and any(told.get(flag) != master["metadata"]["nbgrader"].get(flag) for flag in flags):
            found.problems.append(f"the grading information of {name} was changed; it is put back")
    else:  # text or an experiment of the course: the student's notes in it stay
        made["source"] = text_of(first)
        if first.get("cell_type") in ("code", "markdown", "raw"):
            made["cell_type"] = first["cell_type"]
    _take_outputs(made, first)
    return made


def _take_outputs(made: Cell, theirs: Cell) -> None:
    if made["cell_type"] != "code":
        made.pop("outputs", None)
        made.pop("execution_count", None)
        return
    count = theirs.get("execution_count")
    made["outputs"] = [one for one in theirs.get("outputs", []) if isinstance(one, dict)]
    made["execution_count"] = count if isinstance(count, int) else None


def _joined(name: str, cells: list[Cell], kind: str, found: Diagnosis) -> str:
    sources = [text_of(cell) for cell in cells]
    different = list(dict.fromkeys(source.strip("\n") for source in sources))
    if any(cell.get("cell_type") != kind for cell in cells):
        said = "a code cell" if kind == "code" else "a text (Markdown) cell"
        found.problems.append(f"the cell of {name} is no longer {said}; it is made one again")
    if len(cells) > 1 and len(different) == 1:
        found.problems.append(f"the cell of {name} stands {len(cells)} times, each time the same; once is kept")
    elif len(cells) > 1:
        how = "was split or copied with changes"
        found.problems.append(f"the cell of {name} {how}: its {len(cells)} parts are joined in their order")
    return "\n\n".join(different)


def _advise(cells: list[Cell], master: dict[str, Any], found: Diagnosis) -> None:
    """Tells the student what a mended copy cannot put right: answers that are missing or cannot run."""
    stubs = {grade_id(cell): _bare(text_of(cell)) for cell in master["cells"] if _kind(cell) in ("solution", "essay")}
    open_ones = []
    for cell in cells:
        name, source = grade_id(cell), text_of(cell)
        if name not in stubs:
            continue
        if _bare(source) in (stubs[name], ""):
            open_ones.append(name)
            continue
        if re.search(r"^(<{7} |>{7} |={7}$)", source, re.MULTILINE):
            found.advice.append(f"the cell of {name} holds merge-conflict markers; choose one version")
        elif cell["cell_type"] == "code":
            trouble = _syntax(source)
            if trouble:
                found.advice.append(f"the cell of {name} is not valid Python ({trouble})")
            elif not _defines(source, name):
                found.advice.append(f"the cell of {name} does not define {name}")
    if open_ones:
        found.advice.append(f"not answered yet: {', '.join(open_ones)}")


def _syntax(source: str) -> str:
    plain = re.sub(r"^(\s*)[%!].*$", r"\1pass", source, flags=re.MULTILINE)
    try:
        ast.parse(plain)
    except SyntaxError as problem:
        return f"line {problem.lineno}: {problem.msg}"
    except (ValueError, RecursionError, MemoryError) as problem:
        return str(problem) or "too deeply nested"
    return ""


def _slim(cells: list[Cell], found: Diagnosis) -> None:
    total = 0
    for number, cell in enumerate(cells, 1):
        size = len(json.dumps(cell.get("outputs", [])))
        total += size
        if size > LARGE_OUTPUT:
            place = grade_id(cell) or f"number {number}"
            found.problems.append(f"the outputs of cell {place} have {size / (1 << 20):.1f} MB; they are left out")
            cell["outputs"] = []
    if total > LARGE_FILE:
        found.problems.append(f"its outputs have {total >> 20} MB in all; they are left out (run the cells again)")
        for cell in cells:
            if "outputs" in cell:
                cell["outputs"] = []


def diagnose(path: Path, assignment: str = "", course: Path = released.ROOT) -> Diagnosis:
    """Returns what is wrong with a file, with a mended notebook.

    Raises:
        BeyondMendingError: when nothing can be saved.
    """
    found = Diagnosis()
    notebook = _load(path, found)
    masters = released.notebooks(course)
    known = list(masters)
    if not known:
        raise BeyondMendingError("there are no released notebooks to compare with; run it in a copy of the course.")
    if assignment and assignment not in masters:
        raise BeyondMendingError(f"no assignment is called {assignment!r}; expected one of: {', '.join(known)}.")
    inside = released.by_content(notebook["cells"], course)
    named = released.by_name(path.name, known)
    found.assignment = assignment or inside or named
    if not found.assignment:
        raise BeyondMendingError(
            f"neither the name nor the cells of {path.name} tell which notebook of the course it is; say it: "
            f"python -m grading doctor {path.name} {known[0]}"
        )
    if inside and named and inside != named:
        found.problems.append(f"it is called like {named}, but its cells are those of {inside}")
    if path.name != f"{found.assignment}.ipynb":
        found.advice.append(f"its name is {path.name!r}; hand it in as {found.assignment}.ipynb")
    master = masters[found.assignment]
    metadata = notebook.get("metadata") if isinstance(notebook.get("metadata"), dict) else {}
    _tell_kernel(metadata or {}, found)
    cells = _rebuilt(notebook, master, found)
    _advise(cells, master, found)
    _slim(cells, found)
    found.notebook = {
        "cells": [_clean(cell, number) for number, cell in enumerate(cells)],
        "metadata": copy.deepcopy(master["metadata"]),
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    _unique_ids(found.notebook["cells"])
    return found


def _tell_kernel(metadata: dict[str, Any], found: Diagnosis) -> None:
    kernel, language = metadata.get("kernelspec"), metadata.get("language_info")
    name = kernel.get("name") if isinstance(kernel, dict) else None
    spoken = (language.get("name") if isinstance(language, dict) else None) or (
        kernel.get("language") if isinstance(kernel, dict) else None
    )
    if isinstance(spoken, str) and spoken.casefold() not in ("python", "ipython"):
        found.problems.append(f"its kernel is for {spoken[:40]}; it is set to Python 3")
    elif isinstance(name, str) and name != "python3":
        found.problems.append(f"its kernel is {name[:60]!r}, which others do not have; it is set to python3")


def _clean(cell: Cell, number: int) -> Cell:
    """Returns a cell with the keys of format 4.5, and its source with newlines as they should be."""
    kind = cell.get("cell_type") if cell.get("cell_type") in ("code", "markdown", "raw") else "raw"
    made: Cell = {
        "cell_type": kind,
        "id": str(cell.get("id") or f"own-{number}"),
        "metadata": cell["metadata"],
        "source": text_of(cell).splitlines(keepends=True),
    }
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", made["id"]):
        made["id"] = f"own-{number}"
    if kind == "code":
        made |= {"execution_count": cell.get("execution_count"), "outputs": cell.get("outputs", [])}
    elif isinstance(cell.get("attachments"), dict):
        made["attachments"] = cell["attachments"]
    return made


def _unique_ids(cells: list[Cell]) -> None:
    seen = {cell["id"] for cell in cells if _kind(cell)}
    for number, cell in enumerate(cells):
        if not _kind(cell) and cell["id"] in seen:
            cell["id"] = f"own-{number}-{len(seen)}"
        seen.add(cell["id"])


# --- the command ------------------------------------------------------------------------------------------------------


def _names(path: Path) -> Iterator[Path]:
    yield path.with_name(f"{path.stem}_mended.ipynb")
    for number in range(2, 1000):
        yield path.with_name(f"{path.stem}_mended_{number}.ipynb")


def write_copy(path: Path, notebook: dict[str, Any]) -> Path:
    """Writes a mended copy beside a file, under a name that no file has, whole or not at all."""
    content = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    half = path.with_name(f".{path.stem}.{os.getpid()}.half")
    try:
        half.write_text(content, encoding="utf-8", newline="\n")
        for name in _names(path):
            try:
                os.link(half, name)
            except FileExistsError:
                continue
            except OSError:  # a file system without links
                if name.exists():
                    continue
                half.replace(name)
            return name
    finally:
        half.unlink(missing_ok=True)
    raise OSError(f"there are too many mended copies beside {path.name}")


def run(path: Path, assignment: str = "", *, write: bool = True) -> int:
    """Prints what is wrong, and writes a mended copy when something is; returns 0 when nothing was.

    Returns 1 for a file with problems, and 2 for one beyond mending.
    """
    try:
        found = diagnose(path, assignment)
    except BeyondMendingError as problem:
        print(f"{path.name}: {problem}", file=sys.stderr)
        return 2
    print(f"{path.name} is {found.assignment}.")
    for line in found.problems:
        print(f"  wrong: {line}")
    for line in found.advice:
        print(f"  to do: {line}")
    if not found.problems:
        print("  nothing in the file had to be mended.")
        return 1 if found.advice else 0
    if write:
        try:
            made = write_copy(path, found.notebook)
        except OSError as problem:
            print(f"the mended copy cannot be written: {problem}", file=sys.stderr)
            return 2
        print(f"A mended copy is in {made.name}; the original is as it was. Open it, look, and run all its cells.")
    return 1
