"""macOS and Windows: all but the running of students' code works where Python lacks what only Linux has.

One program does the whole way of a class with the modules and functions taken away; the submission was graded
elsewhere, so its graded notebook and its marks are made by hand.
"""

from __future__ import annotations

import datetime
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass

import nbformat
import pytest

from grading.autograder.grade_submission import Graded
from grading.autograder.graded_notebook import graded_notebook, load_master
from grading.autograder.submission import read
from grading.folder.course import ROOT, Course
from grading.notebooks.cells import exercise_of, grade_id, settings
from tests.classroom.delivered import make_zip, write_roster
from tests.classroom.submissions import ASSIGNMENT, perfect
from tutor.checking.verdict import Verdict

pytestmark = pytest.mark.all

# What Windows lacks; other libraries ask by the name of the system what else there is (nbgrader for `pwd`).
TAKEN_AWAY = """
import os, sys
for name in ("fcntl", "resource"): sys.modules[name] = None
for name in ("fork", "forkpty", "sched_getaffinity", "O_NOFOLLOW", "O_NONBLOCK"): vars(os).pop(name, None)
"""
WAY = """
import importlib, json, pkgutil, sys
from pathlib import Path
from grading.__main__ import main
from grading.folder.course import Course

folder, delivery, broken, assignment = sys.argv[1:]
course, at, statuses = Course(Path(folder)), ["--course", folder], {}

def run(*words):
    statuses.setdefault(words[0], []).append(main([*words]))

run("collect", delivery, *at)
run("feedback", assignment, *at)
with course.gradebook() as book:  # as formgrader does when a person has read the essay
    grade = book.find_grade("mask_essay", assignment, assignment, "ada")
    grade.manual_score, grade.needs_manual_grade = 1.5, False
    book.find_comment("mask_essay", assignment, assignment, "ada").manual_comment = "Well put."
    book.db.commit()
run("feedback", assignment, *at)
run("report", assignment, *at)
for form in ("csv", "canvas", "moodle"):
    run("export", "--format", form, *at)
run("hand-back", assignment, "--format", "moodle", *at)
run("doctor", broken)
run("autograde", *at)
run("autograde", "--unsafe", *at)
run("regrade", assignment, *at)
failed = []
for package in ("grading", "helpers", "tutor"):
    places = importlib.import_module(package).__path__
    for module in pkgutil.walk_packages(places, f"{package}.", onerror=lambda name: None):
        try:
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
        except ImportError:
            failed.append(module.name)
print(json.dumps([statuses, failed]))
"""
# What runs students' code; the command that leads there says in one sentence that it cannot.
RUNS_CODE = {
    "grading.autograder.cluster",
    "grading.autograder.cluster_plugin",
    "grading.autograder.cluster_process",
    "grading.autograder.grade_submission",
    "grading.autograder.one_submission",
    "grading.autograder.pool",
    "grading.autograder.run",
    "grading.autograder.nbgrader_engine_process",
}


def python(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-c", TAKEN_AWAY + program, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done


@dataclass(frozen=True)
class Done:
    """A class with its way behind it: the statuses of the commands by name, and what they printed of what went wrong.

    `failed` are the modules that could not be imported then.
    """

    course: Course
    statuses: dict[str, list[int]]
    failed: list[str]
    errors: str


def mark(course: Course) -> None:
    """Writes what grading elsewhere has left of one perfect submission: the graded notebook, and the marks."""
    master, folder = load_master(course, ASSIGNMENT), course.root / "as handed in"
    folder.mkdir()
    nbformat.write(perfect(), folder / f"{ASSIGNMENT}.ipynb")
    verdicts = dict[str, Verdict]()
    with course.gradebook() as book:
        book.add_assignment(ASSIGNMENT)
        book.add_notebook(ASSIGNMENT, ASSIGNMENT)
        for cell in master.notebook.cells:
            metadata, where = settings(cell), (grade_id(cell), ASSIGNMENT, ASSIGNMENT)
            if metadata.get("grade"):
                book.add_grade_cell(*where, max_score=metadata["points"], cell_type=cell.cell_type)
            if metadata.get("solution"):
                book.add_solution_cell(*where)
        book.add_student("ada", first_name="Ada", last_name="Lovelace")
        book.add_submission(ASSIGNMENT, "ada", timestamp=datetime.datetime(2026, 1, 12, 12))
        for check in master.cells("check"):
            name, points = exercise_of(check), settings(check)["points"]
            verdicts[name] = Verdict(name, "right", points, points, (("all", True),), graded=True)
            grade = book.find_grade(grade_id(check), ASSIGNMENT, ASSIGNMENT, "ada")
            grade.auto_score, grade.needs_manual_grade = points, False
        book.db.commit()
    path = course.autograded("ada", ASSIGNMENT)
    path.parent.mkdir(parents=True)
    nbformat.write(graded_notebook(master, read(folder, master), Graded(verdicts), "key"), path)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    folder = tmp_path_factory.mktemp("systems")
    course = Course(folder / "course")
    course.solution(ASSIGNMENT).parent.mkdir(parents=True)
    shutil.copy(Course().solution(ASSIGNMENT), course.solution(ASSIGNMENT))
    shutil.copy(ROOT / "nbgrader_config.py", course.root)
    mark(course)
    write_roster(course.root, "Identifier,Full name,ID number,Email address\nParticipant 42,Ada Lovelace,ada,a@x.org\n")
    entry = f"Ada Lovelace_42_assignsubmission_file_/{ASSIGNMENT}.ipynb"
    delivery = make_zip(folder / "delivery.zip", {entry: nbformat.writes(perfect()).encode()})
    broken, text = folder / f"{ASSIGNMENT}.ipynb", nbformat.writes(perfect())
    broken.write_text(text[: 2 * len(text) // 3], encoding="utf-8")
    ran = python(WAY, str(course.root), str(delivery), str(broken), ASSIGNMENT)
    statuses, failed = json.loads(ran.stdout.splitlines()[-1])
    return Done(course, statuses, failed, ran.stderr)


def test_only_what_runs_students_code_cannot_be_imported(done: Done) -> None:
    assert {name for name in done.failed if not name.startswith("grading.sandbox")} == RUNS_CODE


def test_a_class_is_collected_read_and_handed_back(done: Done) -> None:
    assert (done.course.submitted("ada", ASSIGNMENT) / f"{ASSIGNMENT}.ipynb").is_file()
    wanted = {"collect": [0], "feedback": [0, 0], "report": [0], "export": [0, 0, 0], "hand-back": [0]}
    assert {name: done.statuses[name] for name in wanted} == wanted, done.errors
    page = done.course.feedback("ada", ASSIGNMENT).read_text("utf-8")
    assert "15.5 of 16 points" in page
    assert "Well put." in page
    assert "15.5" in (done.course.class_folder / "marks_csv.csv").read_text("utf-8")
    assert list((done.course.class_folder / "hand_back").glob("*.zip"))


def test_the_doctor_mends_a_file(done: Done) -> None:
    assert done.statuses["doctor"] == [1]  # something was wrong
    assert (done.course.root.parent / f"{ASSIGNMENT}_mended.ipynb").is_file()


def test_what_needs_linux_says_so_in_one_sentence(done: Done) -> None:
    assert (done.statuses["autograde"], done.statuses["regrade"]) == ([2, 2], [2])
    sentences = [line for line in done.errors.splitlines() if "cannot lock students' code in" in line]
    assert len(sentences) == 3
    assert all(line.endswith("Nothing was graded; grade on Linux, or in WSL.") for line in sentences)
    assert "Traceback" not in done.errors
