"""What the later sittings of a notebook need of the cells above their beginning, for `resume`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from grading.authoring.source import Cell
from grading.notebooks.names import bound, needed, statements, used

SEEDS = re.compile(r"torch\.manual_seed\(.*\)")  # binds no name, and what comes after it is drawn as in the text


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
    result: list[dict[str, Any]] = []
    for cell, code in zip(run, needed([cell.source for cell in run], wanted - setups), strict=True):
        if cell.kind == "exercise":
            result.append({"answer": cell.name, "binds": [cell.name]})
        elif code:
            result.append({"code": _with_seeds(cell.source, code), "binds": sorted(bound([code]))})
    return result


def _with_seeds(cell: str, code: str) -> str:
    """Returns the statements of a cell that are needed, with those among them that seed what is drawn."""
    kept = {one.source for one in statements(code)}
    return "\n".join(one.source for one in statements(cell) if one.source in kept or SEEDS.fullmatch(one.source))
