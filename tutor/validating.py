"""What nbgrader's Validate does, as the button and as `nbgrader validate`, wherever it is called.

nbgrader calls a notebook right in which no test has failed, one without any test too. Here a test that is missing is
one that has failed: for each exercise and each essay of the course there must be the cells that nbgrader looks at. A
cell that nbgrader would stop at, because its metadata is damaged or there twice, costs nothing but itself.
"""

from __future__ import annotations

import re
from collections import Counter
from importlib.util import find_spec
from textwrap import fill
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output
from nbgrader import utils
from nbgrader.nbgraderformat import MetadataValidator
from nbgrader.preprocessors import ClearOutput, Execute, NbGraderPreprocessor
from nbgrader.validator import Validator

from tutor.checking.globals_used import names_bound
from tutor.notebooks import Notebook, notebooks

CHECK = re.compile(r"^[ \t]*check\(\s*(\w+)", re.MULTILINE)
NOT_DEFINED = re.compile(r"name '(\w+)' is not defined")
WIDTH = 80  # of a line in a terminal: nbgrader cuts what is longer


def configure(settings: Any) -> None:
    """Puts into nbgrader's settings (its `c`) what Validate needs."""
    Validator.preprocessors.tag(config=True)  # of autograding nbgrader lets the steps be set, of this it forgot to
    settings.Validator.preprocessors = [KeepWholeCells, ClearOutput, Execute, NameMissing]
    settings.Execute.timeout = 360  # wall-clock seconds, a last resort: the kernel ends a cell after 60 s of CPU time
    settings.Execute.iopub_timeout = 60  # seconds for what a cell has printed to arrive
    settings.Execute.skip_cells_with_tag = "experiment"  # no mark depends on these


class KeepWholeCells(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no types
    """Leaves nbgrader's metadata to those cells that nbgrader can read; of several with one name to the last.

    The others are run as plain cells. No cell with metadata can be skipped: one that was not run would count as right.
    Where no test is left, nothing is run. Whatever kernel the notebook was saved with, it is run by this Python's.
    """

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Returns the notebook, mended in place, and in `resources` a sentence for each test that is missing."""
        nb.metadata["kernelspec"] = {"name": "python3"}
        copies = Counter(_name(cell) for cell in nb.cells)
        for cell in nb.cells:
            copies[_name(cell)] -= 1
            if "nbgrader" in cell.metadata:
                if copies[_name(cell)] or not _is_readable(cell):
                    del cell.metadata["nbgrader"]
                else:
                    cell.metadata.pop("tags", None)
        resources["missing"] = _missing(nb.cells)
        if not any(utils.is_grade(cell) for cell in nb.cells):
            nb.cells = []
        return nb, resources


class NameMissing(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no types
    """Adds a test that has failed for each one that is missing; its source says what, its error what to do.

    A test that stops because a name is not there shows the error that is the reason: that of the cell which makes it.
    """

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Returns the notebook after it was run, with the cells added."""
        _name_causes(nb.cells)
        changed = any(_has_changed(cell) for cell in nb.cells)
        for sentence in resources["missing"]:
            nb.cells.append(_failed(sentence, as_changed=changed))
        return nb, resources


def _name_causes(cells: list[NotebookNode]) -> None:
    """Puts the error of an answer's cell, or of an import, in the place of a test's error that a name is not there."""
    earlier = list[tuple[NotebookNode, NotebookNode]]()  # cells that have stopped, each with its error
    for cell in cells:
        error = next((one for one in cell.get("outputs", []) if one.output_type == "error"), None)
        lost = NOT_DEFINED.search(error.evalue) if error and error.ename == "NameError" else None
        if error and utils.is_grade(cell) and lost:
            made = [one for where, one in earlier if lost[1] in names_bound(where.source)]
            imports = [one for _, one in earlier if one.ename in ("ModuleNotFoundError", "ImportError")]
            if causes := made or imports:
                cause = f"{causes[-1].ename}: {causes[-1].evalue}"
                error.ename, error.evalue = causes[-1].ename, causes[-1].evalue
                error.traceback = fill(f"{lost[1]} is not there: a cell above stopped with {cause}", WIDTH).split("\n")
        elif error:
            earlier.append((cell, error))


def _name(cell: NotebookNode) -> str:
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def _is_readable(cell: NotebookNode) -> bool:
    try:
        MetadataValidator().validate_nb(NotebookNode(cells=[cell]))
    except Exception:  # noqa: BLE001 - whatever nbgrader says of it: this one cell is named as missing
        return False
    return True


def _has_changed(cell: NotebookNode) -> bool:
    wanted = cell.metadata.get("nbgrader", {}).get("checksum")
    return bool(utils.is_locked(cell) and wanted and wanted != utils.compute_checksum(cell))


def _missing(cells: list[NotebookNode]) -> list[str]:
    """Returns a sentence for each cell that nbgrader looks at and that is not in a notebook."""
    sources = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    called = set(CHECK.findall(sources))
    marked = {_name(cell) for cell in cells if utils.is_grade(cell)}
    notebook = _notebook({name.removesuffix("_check") for name in map(_name, cells)} | called)
    if notebook is None:
        return [] if marked else ["There is no test in this notebook."]
    found = list[str]()
    for name in notebook.exercises:
        written = re.search(rf"^(?:def|class)\s+{name}\b|^{name}\s*(?::[^=]+)?=", sources, re.MULTILINE)
        if f"{name}_check" not in marked:
            lost = "is no test any more: its cell has lost its metadata." if name in called else "is missing."
            found.append(f"The check of {name} {lost}")
        if not written and name not in {_name(cell) for cell in cells}:
            found.append(f"The exercise {name} is missing.")
    return found + [f"The cell of the essay {name} is missing." for name in notebook.essays if name not in marked]


def _notebook(names: set[str]) -> Notebook | None:
    """Returns the notebook of the course that has the most of these exercises and essays, None where none has any."""
    shares = {name: len(names & {*one.exercises, *one.essays}) for name, one in notebooks().items()}
    best = max(shares, key=lambda name: shares[name])
    return notebooks()[best] if shares[best] else None


def _failed(sentence: str, *, as_changed: bool) -> NotebookNode:
    """Returns the cell of a test that has failed; where others have changed nbgrader shows only such."""
    if find_spec("grading"):
        remedy = "`python -m grading doctor` with the name of this file writes a copy beside it in which it is there."
    else:
        remedy = (
            "Rename this file, let `python -m tutor work` make the notebook anew, and put your answers into that one."
        )
    cell: NotebookNode = new_code_cell(
        sentence, outputs=[new_output("error", ename="Missing", evalue="", traceback=[])]
    )
    cell.outputs[0].traceback = fill(f"So Validate has nothing to look at. {remedy}", WIDTH).split("\n")
    cell.metadata["nbgrader"] = {"grade": True, "solution": False, "locked": True, "points": 1, "grade_id": sentence}
    if as_changed:
        cell.metadata["nbgrader"]["checksum"] = "none"
    return cell
