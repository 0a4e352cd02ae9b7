"""What each notebook of the course holds and needs: exercises and essays with points, and names that its cells make.

`check_examples/notebooks.json` says so; the build makes it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Container, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

NOTEBOOKS = Path(__file__).with_name("check_examples") / "notebooks.json"


@dataclass(frozen=True)
class Notebook:
    """One notebook; `exercises` and `essays` give the points by name, in the order of the cells."""

    name: str
    exercises: Mapping[str, float]
    essays: Mapping[str, float]
    builds_on: tuple[str, ...]  # the notebooks that it needs, by name
    names: frozenset[str]  # the variables, functions and imports of its own cells


@cache
def notebooks() -> dict[str, Notebook]:
    """Returns the notebooks by name, in the order of the course."""
    stored = json.loads(NOTEBOOKS.read_text("utf-8"))
    return {
        name: Notebook(name, entry["exercises"], entry["essays"], tuple(entry["builds_on"]), frozenset(entry["names"]))
        for name, entry in stored.items()
    }


def opened(variables: Container[str]) -> Notebook | None:
    """Returns the notebook that a kernel belongs to, None where nothing shows which.

    Its exercises among the kernel's variables show it; before there are any, the name of the file or its folder.
    """
    shares = {
        name: sum(exercise in variables for exercise in notebook.exercises) for name, notebook in notebooks().items()
    }
    best = max(shares, key=lambda name: shares[name])
    if shares[best]:
        return notebooks()[best]
    places = (Path(os.environ.get("JPY_SESSION_NAME", "")).stem, Path.cwd().name)
    return next((notebook for name, notebook in notebooks().items() if name in places), None)
