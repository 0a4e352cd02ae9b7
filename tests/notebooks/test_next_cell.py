"""No traceback stands below a green check: the cells that use an exercise take every answer that the check calls right.

`test_bank.py` proves that the check calls no wrong answer of the bank right, and all right ones; so those are run.
"""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from grading.definitions import catalogue
from tests.tiers import ROOT


def report(*arguments: str) -> dict[str, Any]:
    """Returns what `tests.notebooks.next_cells` says of a notebook; it runs in a process of its own."""
    command = [sys.executable, "-m", "tests.notebooks.next_cells", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | {"MPLBACKEND": "Agg"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.all
@pytest.mark.parametrize("notebook", catalogue.notebooks())
def test_the_cells_after_an_exercise_take_every_right_answer(notebook: str) -> None:
    found = report(notebook[:2])
    stopped = [f"{answer}: {problem}" for answer, _, problem in found["answers"] if problem]
    assert not stopped, "\n\n".join(stopped)
    stops = {line: why for line, _, _, why in found["cells"] if why}
    for exercise, lines in found["used"].items():
        runs = any(asked for answer, asked, _ in found["answers"] if answer.startswith(f"{exercise}-"))
        can_run = [line for line in lines if line not in stops]
        assert runs or not can_run, f"no cell was run with an answer to {exercise}, though those of {can_run} use it"


@pytest.mark.all
def test_a_cell_that_an_answer_stops_is_named(tmp_path: Any) -> None:
    other = tmp_path / "batch_shape.py"
    other.write_text("# %% right: nothing\ndef batch_shape(b, n, d):\n    return None\n", encoding="utf-8")
    (answer,) = report("00", "--file", str(other))["answers"]
    assert "TypeError" in answer[2]
