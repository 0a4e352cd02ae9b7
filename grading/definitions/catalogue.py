"""Which exercises there are, read from the files in `grading/exercises`, without importing one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from grading.folder.course import Course

FOLDER = Path(__file__).parents[1] / "exercises"


class Effort(NamedTuple):
    """What an exercise takes a student: minutes, and a difficulty from 1 to 3."""

    minutes: int
    difficulty: int


def notebooks() -> list[str]:
    """Returns the names of the notebooks that have exercises, in order."""
    return sorted({path.parent.name for path in _modules(FOLDER.glob("[0-9][0-9]_*/[!_]*.py"))})


def names(notebook: str) -> list[str]:
    """Returns the names of a notebook's exercises, in the order in which its source asks them.

    The files say which exercises there are, and the source says their order: one that it lacks comes last, and the
    build refuses it.

    Raises:
        LookupError: when the notebook has no definitions.
    """
    if notebook not in notebooks():
        raise LookupError(f"no exercises are defined for {notebook!r}; expected one of: {', '.join(notebooks())}.")
    source = Course().source(notebook)
    names = re.findall(r'^# %% exercise="(\w+)"', source.read_text(encoding="utf-8"), re.M) if source.exists() else []
    place = {name: number for number, name in enumerate(names)}
    files = sorted(path.stem for path in _modules((FOLDER / notebook).glob("[!_]*.py")))
    return sorted(files, key=lambda name: place.get(name, len(place)))


def definitions(notebook: str) -> list[Path]:
    """Returns the files that define a notebook's exercises: while none of them changes, its marks do not either."""
    seeds = [path for path in (seeds_of(notebook),) if path.exists()]
    return sorted([*FOLDER.glob("*.py"), *_modules((FOLDER / notebook).glob("*.py")), *seeds])


def seeds_of(notebook: str) -> Path:
    """Returns the file that keeps what was searched for the exercises of a notebook (`grading.exercises.searched`)."""
    return FOLDER / notebook / "seeds.json"


def _modules(paths: Iterable[Path]) -> Iterable[Path]:
    """Returns files without the answers that lie beside the definitions: these are no modules."""
    return (path for path in paths if not path.name.endswith(".answers.py"))


def effort(notebook: str, name: str) -> Effort | None:
    """Returns what the definition of an exercise says that it takes, None where it says nothing or there is none."""
    path = FOLDER / notebook / f"{name}.py"
    tree = ast.parse(path.read_text(encoding="utf-8") if path.is_file() else "")
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Definition":
            values = {part.arg: part.value.value for part in call.keywords if isinstance(part.value, ast.Constant)}
            if values.get("minutes") and values.get("difficulty"):
                return Effort(int(str(values["minutes"])), int(str(values["difficulty"])))
    return None
