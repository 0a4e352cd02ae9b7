"""Steps of our own in plain nbgrader's autograding."""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor


class MendCells(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no types
    """Mends what would lose honest work, or win marks without any.

    A copied cell is left by nbgrader with empty metadata, and the whole run then stops: here it becomes a plain
    cell. A check cell with a tag that skips it would have no output, which nbgrader takes for full marks: graded
    and locked cells lose their tags. Nor may a student say what `python -m grading autograde` records of a notebook.
    """

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Returns the notebook, mended in place."""
        nb.metadata.pop("grading", None)
        mended: tuple[NotebookNode, Any] = super().preprocess(nb, resources)
        return mended

    def preprocess_cell(self, cell: NotebookNode, resources: Any, cell_index: int) -> tuple[NotebookNode, Any]:
        """Returns the cell, mended in place."""
        if "nbgrader" in cell.metadata:
            if cell.metadata.nbgrader:
                cell.metadata.pop("tags", None)
            else:
                del cell.metadata["nbgrader"]
        return cell, resources
