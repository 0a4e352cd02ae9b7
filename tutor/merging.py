"""Bring a student's notebook up to a newer release, cell by cell; `tutor.work` says where the files lie.

Answers stay, texts and checks are renewed, new cells come, and a student's own cells stay where they were. nbgrader has
written into each cell that it knows by name the checksum of what was released: so the cell itself shows whether it
holds an answer, and whether the newer release begins the exercise in another way. Any other cell is found by its place
in the release that the notebook was made from.
"""

from __future__ import annotations

import copy
import difflib
import hashlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Cell = dict[str, Any]
KINDS = ("code", "markdown", "raw")
TAG = "newer-release"  # of the cells that a merge puts in to say something
CHANGED = (
    "**The newer release begins this exercise in another way.** Your answer below is as you left it. The new beginning "
    "is:\n\n````{language}\n{skeleton}\n````\n\nTake over what has changed, then delete this cell."
)
YOURS = "*You had changed a cell that the newer release has made anew. The new one stands above, yours below.*"
GONE = (
    "*This notebook no longer asks for `{name}`. Your answer stays, as a cell of your own. Where another notebook asks "
    "for it now, copy it there.*"
)


@dataclass
class Merged:
    """A merged notebook, how many cells of each kind it has, and sentences on what the student has to look at."""

    notebook: dict[str, Any]
    answers: int = 0
    renewed: int = 0
    new: int = 0
    own: int = 0
    remarks: list[str] = field(default_factory=list)

    @property
    def summary(self) -> str:
        """One line: what stays, what is renewed, what is new."""
        parts = [
            _count(self.answers, "answer stays", "answers stay"),
            _count(self.own, "cell of your own stays", "cells of your own stay"),
            _count(self.renewed, "text or check is renewed", "texts and checks are renewed"),
            _count(self.new, "cell is new", "cells are new"),
        ]
        return ", ".join(part for part in parts if part) or "nothing in its cells has changed"


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}" if number else ""


# --- one cell ---------------------------------------------------------------------------------------------------------


def is_notebook(data: Any) -> bool:
    """Says whether JSON data is a whole notebook of format 4, as JupyterLab writes it."""
    if not (isinstance(data, dict) and data.get("nbformat") == 4 and isinstance(data.get("cells"), list)):
        return False
    is_headed = isinstance(data.get("metadata"), dict) and isinstance(data.get("nbformat_minor"), int)
    return is_headed and all(map(_is_cell, data["cells"]))


def _is_cell(cell: Any) -> bool:
    if not (isinstance(cell, dict) and cell.get("cell_type") in KINDS and isinstance(cell.get("metadata"), dict)):
        return False
    if not isinstance(cell.get("id", ""), str):
        return False
    source = cell.get("source")
    parts = source if isinstance(source, list) else [source]
    return all(isinstance(part, str) for part in parts) and isinstance(cell["metadata"].get("nbgrader", {}), dict)


def text(cell: Mapping[str, Any]) -> str:
    """Returns the text of a cell."""
    return "".join(cell["source"])


def _settings(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    return dict(cell["metadata"].get("nbgrader", {}))


def _name(cell: Mapping[str, Any]) -> str:
    """Returns the name by which nbgrader knows a cell, "" for one that it does not know."""
    return str(_settings(cell).get("grade_id", ""))


def _is_answer(cell: Mapping[str, Any]) -> bool:
    return bool(_settings(cell).get("solution"))


def checksum(source: str, settings: Mapping[str, Any]) -> str:
    """Returns nbgrader's checksum of a cell with this text and these settings, as its metadata holds it."""
    grade, solution = bool(settings.get("grade")), bool(settings.get("solution"))
    locked = not solution and (grade or bool(settings.get("locked")))
    parts = [source, settings.get("cell_type", "code"), grade, solution, locked, settings.get("grade_id", "")]
    if grade and isinstance(settings.get("points"), int | float):
        parts.append(float(settings["points"]))
    return hashlib.md5("".join(map(str, parts)).encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def _is_as_released(cell: Mapping[str, Any], source: str) -> bool:
    """Says whether this text is the one with which a cell of nbgrader's was released."""
    return checksum(source, _settings(cell)) == _settings(cell).get("checksum")


# --- which cell is which ----------------------------------------------------------------------------------------------


def likeness(student: Mapping[str, Any], released: Mapping[str, Any]) -> int:
    """Returns how much of a student's notebook stands in a release: most of it in the one that it was made from."""
    texts = {(cell.get("id"), text(cell)) for cell in released["cells"]}
    sums = {(_name(cell), _settings(cell).get("checksum")) for cell in released["cells"] if _name(cell)}
    return sum(
        ((cell.get("id"), text(cell)) in texts) + ((_name(cell), _settings(cell).get("checksum")) in sums)
        for cell in student["cells"]
    )


def _counterparts(student: Sequence[Cell], base: Sequence[Cell], *, by_id: bool) -> list[int | None]:
    """Returns for each of the student's cells its place in the release that they were made from, None for own ones."""
    found: list[int | None] = [None] * len(student)
    names = {_name(cell): place for place, cell in enumerate(base) if _name(cell)}
    ids = {cell.get("id"): place for place, cell in enumerate(base) if not _name(cell)} if by_id else {}
    for number, cell in enumerate(student):
        place = names.pop(_name(cell), None) if _name(cell) else ids.pop(cell.get("id"), None)
        found[number] = place
    left: dict[str, list[int]] = {}
    for place, cell in enumerate(base):
        if not _name(cell) and place not in found:
            left.setdefault(text(cell).strip(), []).append(place)
    for number, cell in enumerate(student):
        if found[number] is None and not _name(cell) and left.get(text(cell).strip()):
            found[number] = left[text(cell).strip()].pop(0)
    return found


@dataclass
class _Places:
    """Where the cells of an older release are in the newer one.

    `same` are those that are in both, with their places; `after` says for every older cell behind which newer one
    stands what stood behind it (-1: at the head); `new` are the newer cells that take nobody's place.
    """

    same: dict[int, int]
    after: list[int]
    new: set[int]


def _places(base: Sequence[Cell], newer: Sequence[Cell]) -> _Places:
    older, later = (
        [_name(cell) or (cell["cell_type"], text(cell).strip()) for cell in cells] for cells in (base, newer)
    )
    made = _Places({}, [-1] * len(older), set())
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, older, later, autojunk=False).get_opcodes():
        for i in range(i1, i2):
            made.after[i] = min(j1 + i - i1, j2 - 1)
            if tag == "equal":
                made.same[i] = j1 + i - i1
        made.new |= set(range(min(j1 + i2 - i1, j2), j2))
    named = {name: j for j, name in enumerate(later) if isinstance(name, str)}
    for i, name in enumerate(older):
        if isinstance(name, str) and name in named:  # wherever the newer release has put it
            made.same[i] = made.after[i] = named[name]
    return made


# --- the merge --------------------------------------------------------------------------------------------------------


def merge(student: Mapping[str, Any], base: Mapping[str, Any] | None, newer: Mapping[str, Any]) -> Merged:
    """Returns the newer release with what the student has written; none of the arguments is changed.

    Args:
        student: the student's notebook.
        base: the release that it was made from; None where nobody knows. Then no cell of it counts as deleted, and one
            that the newer release does not have counts as the student's own.
        newer: the newer release.
    """
    mine, made = copy.deepcopy(student["cells"]), Merged({})
    older = (newer if base is None else base)["cells"]
    places = _places(older, newer["cells"])
    counterparts = _counterparts(mine, older, by_id=base is not None)
    kept: dict[int, Cell] = {}  # by the place in the newer release
    own: dict[int, list[Cell]] = {}  # by the place behind which they stand
    parts: dict[str, list[Cell]] = {}  # a cell that is split or copied keeps its name
    names, last = {_name(cell) for cell in newer["cells"]}, -1
    for cell, place in zip(mine, counterparts, strict=True):
        parts.setdefault(_name(cell), []).append(cell)
        if place is not None:
            last = places.after[place]
        if place is not None and place in places.same:
            kept[places.same[place]] = cell
        elif place is None and (not _name(cell) or _name(cell) in names):
            own.setdefault(last, []).append(cell)
            made.own += TAG not in _tags(cell)
        else:
            own.setdefault(last, []).extend(_dropped(cell, cell if place is None else older[place], made))
    deleted = set() if base is None else set(places.same.values()) - set(kept)
    ids = {cell.get("id") for cell in newer["cells"]}
    for cell in (one for cells in own.values() for one in cells):
        cell["id"] = "" if cell.get("id") in ids else cell.get("id")
    merged = own.get(-1, [])
    for place, cell in enumerate(newer["cells"]):
        if place not in deleted or _name(cell):
            is_new = place not in kept if base is None else place in places.new
            merged += _renewed(cell, kept.get(place), parts.get(_name(cell), []), made, is_new=is_new)
        merged += own.get(place, [])
    made.notebook = {
        "cells": _with_ids(_without_old_notices(merged, newer["cells"])),
        "metadata": {**copy.deepcopy(newer["metadata"]), **copy.deepcopy(student["metadata"])},
        "nbformat": 4,
        "nbformat_minor": max(5, student["nbformat_minor"]),
    }
    return made


def _dropped(cell: Cell, older: Mapping[str, Any], made: Merged) -> Iterator[Cell]:
    """Yields what stays of a cell that the newer release does not have in this form: what the student wrote in it."""
    name = _name(cell)
    if name:
        if _is_answer(cell) and not _is_as_released(cell, text(cell)):
            del cell["metadata"]["nbgrader"]
            cell["metadata"].pop("deletable", None)
            made.answers += 1
            made.remarks.append(f"`{name}` is no longer asked for here; your answer stays, as a cell of your own.")
            yield from (_notice(GONE.format(name=name)), cell)
    elif text(cell).strip() != text(older).strip() or cell["cell_type"] != older["cell_type"]:
        first = next((line for line in text(cell).splitlines() if line.strip()), "")
        made.remarks.append(
            f"You had changed a cell that is made anew: yours ({first[:50]!r}) stands below the new one."
        )
        yield from (_notice(YOURS), cell)


def _renewed(
    newer: Mapping[str, Any], mine: Cell | None, parts: Sequence[Cell], made: Merged, *, is_new: bool
) -> Iterator[Cell]:
    """Yields a cell of the newer release with what the student has in it, and before it what there is to say."""
    cell: Cell = copy.deepcopy(dict(newer))
    name = _name(newer)
    if mine is None:
        made.new += is_new
        made.renewed += not is_new
        if name and not is_new:
            made.remarks.append(f"`{name}` was missing; its cell is put back.")
        yield cell
        return
    answered = _is_answer(newer) and any(not _is_as_released(part, text(part)) for part in parts)
    if answered and not _is_as_released(mine, text(newer)) and text(mine) != text(newer):
        language = "python" if newer["cell_type"] == "code" else ""
        yield _notice(CHANGED.format(language=language, skeleton=text(newer)), about=name)
        made.remarks.append(
            f"`{name}` begins in another way now. Your answer stays as it is; the new beginning stands above it."
        )
    made.answers += answered
    is_same = text(mine) == text(newer) and mine["cell_type"] == newer["cell_type"]
    if answered or is_same or not name:  # with what it has printed, and how the student has set it
        released = newer["metadata"] if mine["cell_type"] == newer["cell_type"] else {}
        cell = {**mine, "id": newer.get("id", ""), "metadata": {**mine["metadata"], **copy.deepcopy(released)}}
    else:
        made.renewed += 1
    yield cell


def _tags(cell: Mapping[str, Any]) -> Sequence[str]:
    tags = cell["metadata"].get("tags")
    return tags if isinstance(tags, list) else []


def _notice(source: str, about: str = "") -> Cell:
    """Returns a cell of text that says what a merge has done."""
    metadata: dict[str, Any] = {"tags": [TAG]} | ({"about": about} if about else {})
    return {"cell_type": "markdown", "id": "", "metadata": metadata, "source": source.splitlines(keepends=True)}


def _without_old_notices(cells: Sequence[Cell], newer: Sequence[Cell]) -> list[Cell]:
    """Returns the cells without what an earlier merge has noted of an exercise, where it is no longer so."""
    latest = {cell["metadata"].get("about"): cell for cell in cells if TAG in _tags(cell)}
    skeletons = {_name(cell): text(cell) for cell in newer if _is_answer(cell)}
    return [
        cell
        for cell in cells
        if TAG not in _tags(cell)
        or not (about := cell["metadata"].get("about"))
        or (latest[about] is cell and skeletons.get(about, "") in text(cell))
    ]


def _with_ids(cells: list[Cell]) -> list[Cell]:
    """Gives every cell an id of its own, where it has none or that of an earlier cell, and returns them."""
    taken = {cell.get("id") for cell in cells}
    free = (name for number in itertools.count(1) if (name := f"own-{number}") not in taken)
    seen: set[str] = set()
    for cell in cells:
        if not cell.get("id") or cell["id"] in seen:
            cell["id"] = next(free)
        seen.add(cell["id"])
    return cells
