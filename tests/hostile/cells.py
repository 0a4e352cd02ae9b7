"""Notebooks whose cells, metadata, outputs or JSON were changed to win marks, or to break what reads them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import nbformat
from nbformat import NotebookNode

from tests.hostile.case import Case


def _settings(cell: NotebookNode) -> dict[str, Any]:
    settings: dict[str, Any] = cell.metadata.get("nbgrader", {})
    return settings


def _each(change: Callable[[NotebookNode], None], kind: str = "check") -> Callable[[NotebookNode], None]:
    """Returns a change of every cell of a kind: "check", "solution" or "all"."""

    def changed(notebook: NotebookNode) -> None:
        for cell in notebook.cells:
            settings = _settings(cell)
            if kind == "all" or (settings and bool(settings.get("solution")) == (kind == "solution")):
                change(cell)

    return changed


def _set(**values: Any) -> Callable[[NotebookNode], None]:
    return lambda cell: cell.metadata.nbgrader.update(values)


def _outputs(*texts: str) -> Callable[[NotebookNode], None]:
    def change(cell: NotebookNode) -> None:
        if cell.cell_type == "code":
            cell.outputs = [nbformat.v4.new_output("execute_result", {"text/plain": text}) for text in texts]
            cell.execution_count = 1

    return change


def _as_text(cell: NotebookNode) -> None:
    cell.cell_type = "markdown"
    cell.pop("outputs", None)
    cell.pop("execution_count", None)


def _twice(notebook: NotebookNode) -> None:
    notebook.cells += [copy.deepcopy(cell) for cell in notebook.cells]


def _extra(notebook: NotebookNode) -> None:
    gift = {"grade": True, "solution": False, "locked": False, "points": 1000, "grade_id": "gift", "schema_version": 3}
    for grade_id in ("gift", "causal_mask_check", "padding_mask_check", "mask_essay"):
        cell = nbformat.v4.new_code_cell("1000")
        cell.metadata["nbgrader"] = gift | {"grade_id": grade_id, "cell_type": "code"}
        cell.outputs = [nbformat.v4.new_output("execute_result", {"text/plain": "1000"})]
        notebook.cells.insert(0, cell)


def _swapped(notebook: NotebookNode) -> None:
    for cell in notebook.cells:
        settings = _settings(cell)
        if settings:
            name = settings["grade_id"]
            settings["grade_id"] = name.removesuffix("_check") if name.endswith("_check") else f"{name}_check"


def _forged(notebook: NotebookNode) -> None:
    marks = {"earned": 3, "points": 3, "outcome": "right", "mistake": "", "hint": "", "sentence": ""}
    notebook.metadata["grading"] = {"key": "x", "verdicts": {"causal_mask": marks}, "put_right": []}
    notebook.metadata["nbgrader"] = {"score": 14, "max_score": 14}
    for cell in notebook.cells:
        cell.metadata["grading"] = marks


def _many(notebook: NotebookNode) -> None:
    notebook.cells += [nbformat.v4.new_code_cell(f"x{n} = {n}\nraise NameError('x')") for n in range(300)]


def _replaced(cell: NotebookNode) -> None:
    cell.source = "3.0"


def _json(change: Callable[[dict[str, Any]], Any]) -> Callable[[str], str]:
    def changed(text: str) -> str:
        notebook = json.loads(text)
        made = change(notebook)
        return json.dumps(notebook if made is None else made)

    return changed


def _metadata(value: Any) -> Callable[[str], str]:
    def change(notebook: dict[str, Any]) -> None:
        notebook["metadata"] = value
        notebook["nbformat"] = value
        for cell in notebook["cells"]:
            if "nbgrader" not in cell["metadata"]:
                cell["metadata"] = value

    return _json(change)


def _sources(value: Any) -> Callable[[str], str]:
    def change(notebook: dict[str, Any]) -> None:
        for cell in notebook["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("grade_id") == "causal_mask":
                cell["source"] = value

    return _json(change)


CASES = [
    Case("check_cells_tagged", change=_each(lambda c: c.metadata.update(tags=["experiment", "skip-execution", "raises-exception"]))),
    Case("points_raised", change=_each(_set(points=1000))),
    Case("points_negative", change=_each(_set(points=-1000))),
    Case("points_not_a_number", change=_each(_set(points="nan"))),
    Case("checks_replaced", change=_each(_replaced)),
    Case("checks_unlocked_as_solutions", change=_each(_set(solution=True, locked=False))),
    Case("checks_as_text", change=_each(_as_text)),
    Case("checks_emptied", change=_each(lambda c: c.update(source=""))),
    Case("schema_of_the_past", change=_each(_set(schema_version=1))),
    Case("schema_of_the_future", change=_each(_set(schema_version=99))),
    Case("checksums_forged", change=_each(_set(checksum="0" * 32))),
    Case("grade_ids_swapped", change=_swapped, least=3.0),  # its one right answer is found all the same
    Case("all_cells_twice", change=_twice),
    Case("cells_of_its_own_with_points", change=_extra),
    Case("marks_in_metadata", change=_forged),
    Case("outputs_of_full_marks", change=_each(_outputs("3.0"), "all")),
    Case("outputs_beyond_full_marks", change=_each(_outputs("1e9", "nan", "-1", "inf"), "all")),
    Case("outputs_of_text", change=_each(_outputs("all checks passed"), "all")),
    Case("result_before_the_error", {"causal_mask": "from IPython.display import publish_display_data\npublish_display_data({'text/plain': '3.0'})\n3.0\nraise ValueError"}),
    Case("many_failing_cells", change=_many),
    Case("essay_claims_points", change=lambda n: n.cells.append(nbformat.v4.new_markdown_cell("points: 2 of 2"))),
    Case("metadata_is_null", text=_metadata(None)),
    Case("metadata_is_a_list", text=_metadata([1])),
    Case("metadata_is_a_number", text=_metadata(10**30)),
    Case("source_is_null", text=_sources(None)),
    Case("source_is_nested", text=_sources([["x"], {"a": 1}, 5, "1 +"])),
    Case("source_has_lone_surrogates", text=_sources("x = '\ud800' # \udfff")),
    Case("source_has_null_bytes", text=_sources("x = '\x00'\n\x00")),
    Case("source_has_control_characters", text=_sources("x = '\x1b[2J\u2028\u202e\x85'\n\x0c\x1a")),
    Case("cells_are_no_cells", text=_json(lambda n: n["cells"].extend([None, 5, "x", [], {}, {"cell_type": []}] * 2000))),
    Case("cells_is_a_dict", text=_json(lambda n: n.update(cells={"a": 1})), most=0, gradable=False),
    Case("notebook_is_a_list", text=_json(lambda n: [n]), most=0, gradable=False),
    Case("format_of_2013", text=_json(lambda n: {"nbformat": 3, "worksheets": [5, {"cells": 5}, {"cells": n["cells"]}, {}]})),
    Case("json_too_deep", text=lambda t: '{"a": ' * 100_000 + t, most=0, gradable=False),
    Case("json_cut_off", text=lambda t: t[: len(t) // 2], most=0, gradable=False),
    Case("json_with_nan_and_double_keys", text=lambda t: t[:-1] + ', "metadata": NaN, "nbformat": Infinity}'),
    Case("json_with_cells_twice", text=lambda t: '{"cells": [], ' + t[1:], least=3.0),
    Case("json_of_numbers_beyond_numbers", text=lambda t: t[:-1] + ', "metadata": {"a": 1e99999, "b": ' + "9" * 4000 + "}}", least=3.0),
    Case("not_utf_8", text=lambda t: "\udcff" + t, most=0, gradable=False),
]  # fmt: skip
