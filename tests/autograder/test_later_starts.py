"""What a cell says after a question was asked is not shown: it may tell of the question what no one should read.

Processes of one submission share next to nothing, but for counters of the kernel; a file outside stands for these.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from grading.autograder.grade_submission import Graded, grade
from grading.autograder.graded_notebook import load_master
from grading.autograder.submission import read
from grading.definitions import exercise
from grading.folder.course import ROOT, Course
from grading.sandbox.student_process import ForkServerClient
from tests.classroom.submissions import ASSIGNMENT, cell, perfect

TELLS = """
import os
from pathlib import Path
told = Path({told!r})
def causal_mask(size):
    told.write_text(f"CHANNEL {{size}}")
    os._exit(0)
"""
CELLS = {  # what the cell does when it runs again
    "an error": "if told.exists(): raise ValueError(told.read_text())",
    "an error of its own class": "if told.exists(): raise type(told.read_text(), (Exception,), {})",
    "it ends": "if told.exists(): os._exit(0)",
    "it ends at its second run only": "again = told.with_name('again')\n"
    "if told.exists() and not again.exists():\n    again.touch(); os._exit(0)\nif not told.exists(): 1 / 0",
}


@pytest.fixture(scope="module")
def students() -> Iterator[ForkServerClient]:
    with ForkServerClient(protected=False) as made:
        yield made


def graded(students: ForkServerClient, folder: Path, source: str) -> Graded:
    notebook = perfect()
    cell(notebook, "causal_mask").source = source
    (folder / f"{ASSIGNMENT}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    master = load_master(Course(ROOT), ASSIGNMENT)
    return grade(students, master, read(folder, master), exercise.load(ASSIGNMENT), "ada")


@pytest.mark.parametrize("kind", CELLS)
def test_of_a_cell_only_what_it_says_before_all_questions_is_shown(
    students: ForkServerClient, tmp_path: Path, kind: str
) -> None:
    told = str(tmp_path / "told")
    first = {"causal_mask": "ZeroDivisionError: division by zero"} if "1 / 0" in CELLS[kind] else {}
    found = graded(students, tmp_path, TELLS.format(told=told) + CELLS[kind])
    assert Path(told).read_text().startswith("CHANNEL")  # it has been asked, and has ended
    assert found.errors == first
    assert "CHANNEL" not in str((found.verdicts, found.repairs))


def test_the_error_of_a_first_run_is_shown(students: ForkServerClient, tmp_path: Path) -> None:
    found = graded(students, tmp_path, "raise ValueError('in my own words')")
    assert found.errors == {"causal_mask": "ValueError: in my own words"}
