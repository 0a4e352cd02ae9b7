"""What the later sittings of a notebook need of the cells above their beginning, for `resume`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grading.authoring.source import Cell
from grading.notebooks.names import bound, needed, used


def parts(cells: Sequence[Cell]) -> dict[int, list[dict[str, Any]]]:
    """Returns for each later sitting, by its number, the answers and statements above that it needs, in their order.

    All answers above are among them; of given cells and experiments the statements that bind what the answers or the
    cells below use, with those that these need in turn. The set-up is run by itself.
    """
    found: dict[int, list[dict[str, Any]]] = {}
    for place, cell in enumerate(cells):
        if cell.kind == "pause":
            found[len(found) + 2] = _above(_code(cells[:place]), _code(cells[place:]))
    return found


def _code(cells: Sequence[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell.language == "code" and cell.kind not in ("check", "resume")]


def _above(above: Sequence[Cell], below: Sequence[Cell]) -> list[dict[str, Any]]:
    setups = bound(cell.source for cell in above if cell.kind == "setup")
    run = [cell for cell in above if cell.kind != "setup"]
    answers = [cell for cell in run if cell.kind == "exercise"]
    wanted, seen = used(cell.source for cell in answers), set[str]()
    for cell in below:
        wanted |= used([cell.source]) - seen
        seen |= bound([cell.source])
    statements = needed([cell.source for cell in run], wanted - setups)
    result: list[dict[str, Any]] = []
    for cell, code in zip(run, statements, strict=True):
        if cell.kind == "exercise":
            result.append({"answer": cell.name, "binds": [cell.name]})
        elif code:
            result.append({"code": code, "binds": sorted(bound([code]))})
    return result
