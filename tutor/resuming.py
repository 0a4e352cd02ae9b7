"""`resume(NOTEBOOK, 2)` where a second sitting begins: after the set-up cell, the rest runs without the cells above.

It runs a student's own answers above, from the saved notebook, and what else the rest uses: the statements of given
cells that `check_examples/resuming.json` lists (the build finds them). Where the cells above have run it does nothing,
and it does nothing where nbgrader gives marks.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tutor.notebooks import notebooks

PARTS = Path(__file__).with_name("check_examples") / "resuming.json"
STUB = "raise NotImplementedError"  # in an answer that is as released
BY_HAND = "run the cells with your answers above one by one (the experiments need not run), and then this cell again."


@dataclass(frozen=True)
class Part:
    """One piece of what stands above: a student's answer, or statements of the notebook's own cells."""

    binds: Sequence[str]  # any of these names shows that it has run: a branch that is not taken binds none of its own
    answer: str = ""  # the exercise, or
    code: str = ""


def resume(notebook: str, sitting: int) -> None:
    """Brings back what the cells above have made, where they have not run: your answers, and what the rest needs.

    Args:
        notebook: the name of the notebook, as the cell says.
        sitting: which one begins here, counted from 1, as the cell says.

    Raises:
        LookupError: when the notebook has no such sitting.
    """
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is None or os.environ.get("NBGRADER_EXECUTION") == "autograde":
        return
    parts = parts_of(notebook).get(sitting)
    if parts is None:
        raise LookupError(f"no sitting {sitting} begins in {notebook!r}; write the cell as it was.")
    if not all(any(name in shell.user_ns or has_failed(name) for name in part.binds) for part in parts if part.binds):
        print(_run(shell, parts, notebook))


def parts_of(notebook: str) -> dict[int, list[Part]]:
    """Returns what each later sitting of a notebook needs of what stands above, in order."""
    stored = json.loads(PARTS.read_text("utf-8")).get(notebook, {})
    return {int(number): [Part(**part) for part in parts] for number, parts in stored.items()}


def has_failed(name: str) -> bool:
    """Says whether the cell that makes a variable has run, and has failed: then it is not to be run again here."""
    from tutor import kernel

    return isinstance(kernel._watch, kernel.Watch) and name in kernel._watch.missing


def _run(shell: Any, parts: Sequence[Part], notebook: str) -> str:
    """Runs parts in a kernel, and returns what there is to say of it."""
    answers = _answers(shell, notebook)
    if lost := [part.answer for part in parts if part.answer and part.answer not in {*answers, *shell.user_ns}]:
        return f"The file of this notebook was not found, and with it not your `{lost[0]}`: {BY_HAND}"
    failed = list(_failed(shell, parts, answers))
    done = "Your answers above are back, and what else the rest needs"
    unwritten = [part.answer for part in parts if STUB in answers.get(part.answer, "")]
    still = f" Still to be written: {_named(unwritten)}." if unwritten else ""
    if failed:
        return f"{done}, but for {_named(failed)}: run the cell of the first one to see why.{still}"
    return f"{done}.{still}"


def _named(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _failed(shell: Any, parts: Sequence[Part], answers: Mapping[str, str]) -> Iterator[str]:
    """Runs parts without their outputs, and yields what is not there, as an answer is still to be written."""
    from IPython.utils.capture import capture_output

    for part in parts:
        if part.answer and part.answer not in answers:
            continue  # its cell has been run by hand
        with capture_output():  # a cell that stops says so where it stands
            result = shell.run_cell(answers.get(part.answer, part.code), silent=True, store_history=False)
        if not result.success:
            yield from part.binds


def _answers(shell: Any, notebook: str) -> dict[str, str]:
    """Returns the answers of the saved notebook by exercise; none where its file is not found or not readable."""
    for path in _places(shell, notebook):
        try:
            cells = json.loads(path.read_text("utf-8"))["cells"]
            named = {cell["metadata"].get("nbgrader", {}).get("grade_id"): cell["source"] for cell in cells}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):  # not there, or half written
            continue
        found = {name: "".join(named[name]) for name in notebooks()[notebook].exercises if name in named}
        if found:
            return found
    return {}


def _places(shell: Any, notebook: str) -> Iterator[Path]:
    """Yields where the notebook's file may be: as JupyterLab or VS Code say, or in the kernel's folder."""
    for place in (os.environ.get("JPY_SESSION_NAME"), shell.user_ns.get("__vsc_ipynb_file__")):
        if isinstance(place, str) and place.endswith(".ipynb"):
            yield Path(place)
    yield Path.cwd() / f"{notebook}.ipynb"
