"""What comes next on the map of the course: `docs/images/path.svg`, which lies beside notebook 00 as `path.svg`.

Where only some notebooks are there, as in a plan for six weeks, one that is not stands for those that it builds on.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from tutor.notebooks import notebooks

SPELLED = 3  # as many notebooks are named in full


def beside(folder: Path) -> list[str]:
    """Returns the notebooks of the course that lie in a folder, each in its own, in the order of the course."""
    return [name for name in notebooks() if (folder / name / f"{name}.ipynb").is_file()]


def needs(name: str, there: Collection[str]) -> set[str]:
    """Returns what a notebook builds on among those that are there."""
    found = set[str]()
    for one in notebooks()[name].builds_on:
        found |= {one} if one in there else needs(one, there)
    return found


def after(name: str, there: Collection[str]) -> str:
    """Returns in one line what comes after a notebook: "Next on the map: 09_synthesizer; also open: 04 and 11."

    First what builds on it, then what else is open, then what builds on it and on something that is not behind it.
    Where nothing of it is there, the whole map is asked.
    """
    behind, new = {name}, {name}
    while new:
        new = {need for one in new for need in needs(one, there)} - behind
        behind |= new
    ahead = [one for one in notebooks() if one in there and one not in behind]
    free = [one for one in ahead if needs(one, there) <= behind]
    further = [one for one in free if name in needs(one, there)]
    later = [one for one in ahead if name in needs(one, there) and one not in free]
    others = [one for one in free if one not in further]
    if not free:
        return after(name, notebooks()) if set(there) != set(notebooks()) else ""
    parts = [named(further or others)]
    if further and others:
        parts.append(f"also open: {_and(others)}")
    parts += [f"{number(one)} after {_and(sorted(needs(one, there) - behind))}" for one in later]
    return f"Next on the map: {'; '.join(parts)}."


def open_after(done: Collection[str], there: Collection[str]) -> str:
    """Returns in one line what is open on the map when these notebooks are done, "" when all are."""
    free = [one for one in notebooks() if one in there and one not in done and needs(one, there) <= set(done)]
    return f"Next on the map: {named(free)}." if free else ""


def number(name: str) -> str:
    """Returns the number of a notebook: "04"."""
    return name[:2]


def named(names: Sequence[str]) -> str:
    """Returns notebooks as a choice: by name, or by number where they are many."""
    return _join(names if len(names) <= SPELLED else [number(name) for name in names], "or")


def _and(names: Sequence[str]) -> str:
    return _join([number(name) for name in names], "and")


def _join(words: Sequence[str], last: str) -> str:
    return f"{', '.join(words[:-1])} {last} {words[-1]}" if len(words) > 1 else words[0]
