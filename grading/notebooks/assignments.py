"""The released notebooks: what an assignment's file is called, and which one a student's file is made from.

Needs nothing but the standard library and `notebooks/`, so that a student's copy of the course is enough.
"""

from __future__ import annotations

import json
import re
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

from grading.folder.course import ROOT
from grading.notebooks.cells import grade_id, text


@cache
def notebooks(course: Path = ROOT) -> dict[str, dict[str, Any]]:
    """Returns the released notebooks by assignment, as JSON data; of the course itself where a class has no copy."""
    for folder in (course / "notebooks", ROOT / "notebooks"):
        paths = sorted(folder.glob("[0-9][0-9]_*/*.ipynb"))
        found = {
            path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths if path.stem == path.parent.name
        }
        if found:
            return found
    return {}


def by_name(file: str, known: list[str]) -> str:
    """Returns the assignment that a file's name gives, "" when it gives none.

    Copies count ("01_causal_mask (1).ipynb", "01_causal_mask-2.ipynb", "Copy of 01_causal_mask.ipynb"), and so do
    names with something before them ("ada_01_causal_mask.ipynb").
    """
    stem = unicodedata.normalize("NFC", file).casefold().removesuffix(".ipynb").strip()
    stem = re.sub(r"(\s*\(\d+\)|[-_ ]copy\d*|_mended|\s*-\s*copy|[-_ ]\d{1,2})+$", "", stem)
    fitting = [name for name in known if re.search(rf"(?:^|[^a-z0-9]){re.escape(name.casefold())}$", stem)]
    return max(fitting, key=len, default="")


def by_content(cells: list[Any], course: Path = ROOT) -> str:
    """Returns the assignment that most of a file's cells belong to, "" when fewer than two do."""
    ids = {grade_id(cell) for cell in cells} - {"", "setup"}
    texts = {"".join(text(cell).split()) for cell in cells}
    counts = {}
    for name, notebook in notebooks(course).items():
        own = notebook["cells"]
        shared = len(ids & {grade_id(cell) for cell in own})
        shared += sum("".join(text(cell).split()) in texts for cell in own if len(text(cell)) > 60)
        counts[name] = shared
    best = max(counts, key=lambda name: counts[name], default="")
    return best if best and counts[best] >= 2 else ""
