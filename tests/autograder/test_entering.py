"""Points, names and types of cells that have changed: the gradebook has them as the notebook has, and says so."""

import copy
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grading.autograder import regrade
from grading.autograder import run as autograde
from grading.autograder.entering import enter, knows, ungraded
from grading.autograder.graded_notebook import load_master
from grading.autograder.nbgrader_commands import nbgrader
from grading.autograder.outcome import GRADED
from grading.autograder.submission import Master
from grading.classroom import demo, export, hand_back
from grading.folder.course import Course
from grading.folder.errors import CourseError
from grading.pages import feedback, report
from tests.classroom.submissions import ASSIGNMENT, AUTOMATIC, cell, perfect

pytestmark = pytest.mark.all

STUDENTS = ["ada", "bob", "cleo", "dan"]
CHECK = "padding_mask_check"
Change = Callable[[Master], None]


def make(folder: Path) -> Course:
    """Makes a class of four perfect submissions."""
    demo.make(folder)
    course = Course(folder)
    for path in course.submissions.glob(f"*/{ASSIGNMENT}"):
        path.rename(path.parent / "other")
    for student in STUDENTS:
        place = course.submitted(student, ASSIGNMENT)
        place.mkdir(parents=True)
        nbformat.write(perfect(), place / f"{ASSIGNMENT}.ipynb")
    return course


def changed(course: Course, *changes: Change) -> Master:
    master = copy.deepcopy(load_master(course, ASSIGNMENT))
    for change in changes:
        change(master)
    return master


def worth(name: str, points: float) -> Change:
    return lambda master: cell(master.notebook, name).metadata.nbgrader.update(points=points)


def without(*names: str) -> Change:
    def remove(master: Master) -> None:
        for name in names:
            master.notebook.cells.remove(cell(master.notebook, name))

    return remove


def as_markdown(name: str) -> Change:
    return lambda master: cell(master.notebook, name).update(cell_type="markdown")


def rows(course: Course, student: str) -> dict[str, tuple[float | None, float | None, bool, float]]:
    """Returns for each cell the points of the examiner and of a person, whether it is to be read, and its maximum."""
    with course.gradebook() as book:
        (part,) = book.find_submission(ASSIGNMENT, student).notebooks
        return {
            one.name: (one.auto_score, one.manual_score, one.needs_manual_grade, one.max_score) for one in part.grades
        }


def read_essay(course: Course, student: str, points: float) -> None:
    with course.gradebook() as book:
        grade = book.find_grade("mask_essay", ASSIGNMENT, ASSIGNMENT, student)
        grade.manual_score, grade.needs_manual_grade = points, False
        book.find_comment("mask_essay", ASSIGNMENT, ASSIGNMENT, student).manual_comment = "Good."
        book.db.commit()


@pytest.fixture
def entered(tmp_path: Path) -> Course:
    """A class whose marks are in the gradebook, as grading has left them, and whose essay is read."""
    course = make(tmp_path)
    assert enter(course, load_master(course, ASSIGNMENT)) == ""  # a new assignment has no other points
    with course.gradebook() as book:
        for student in STUDENTS:
            book.add_student(student)
            (part,) = book.add_submission(ASSIGNMENT, student).notebooks
            for grade in part.grades:
                if grade.cell.cell_type == "code":
                    grade.auto_score, grade.needs_manual_grade = grade.cell.max_score, False
        book.db.commit()
    for student in STUDENTS:
        read_essay(course, student, 1.5)
        graded = course.autograded(student, ASSIGNMENT)
        graded.parent.mkdir(parents=True)
        graded.write_text(course.solution(ASSIGNMENT).read_text(encoding="utf-8"), encoding="utf-8")
    return course


def points(course: Course) -> float:
    with course.gradebook() as book:
        return float(book.find_assignment(ASSIGNMENT).max_score)


@pytest.mark.parametrize(("change", "total", "said", "again"), [
    pytest.param([worth(CHECK, 4)], 17, "padding_mask 3 -> 4; 17 in all (16 before)", True, id="more"),
    pytest.param([worth(CHECK, 0.5)], 13.5, "padding_mask 3 -> 0.5; 13.5 in all", True, id="fewer"),
    pytest.param([worth("mask_essay", 3)], 17, "mask_essay 2 -> 3", False, id="essay_more"),
    pytest.param([worth("mask_essay", 1)], 15, "mask_essay 2 -> 1", False, id="essay_fewer"),
    pytest.param([without("padding_mask", CHECK)], 13, "padding_mask left out (3)", False, id="exercise_left_out"),
    pytest.param([without("mask_essay")], 14, "mask_essay left out (2)", False, id="essay_left_out"),
    pytest.param([as_markdown(CHECK)], 16, "padding_mask code -> markdown", False, id="other_type"),
    pytest.param([worth(CHECK, 4), worth("causal_mask_check", 2)], 16, "causal_mask 3 -> 2", True, id="same_total"),
])  # fmt: skip
def test_points_that_have_changed_are_those_of_the_gradebook(
    entered: Course, change: list[Change], total: float, said: str, again: bool
) -> None:
    master = changed(entered, *change)
    assert not knows(entered, master)
    assert said in enter(entered, master)
    assert knows(entered, master)
    assert enter(entered, master) == ""
    assert points(entered) == total
    assert ungraded(entered, ASSIGNMENT) == (STUDENTS if again else [])
    for student in STUDENTS:
        for auto, manual, _, highest in rows(entered, student).values():
            assert (auto or 0) <= highest
            assert (manual or 0) <= highest


def test_marks_and_comments_of_people_stay(entered: Course) -> None:
    before = rows(entered, "ada")["mask_essay"]
    enter(entered, changed(entered, worth(CHECK, 4)))
    assert rows(entered, "ada")["mask_essay"] == before == (None, 1.5, False, 2)
    enter(entered, changed(entered, worth("mask_essay", 3)))
    assert rows(entered, "ada")["mask_essay"] == (None, 1.5, True, 3)  # by other points: to be looked at again
    enter(entered, changed(entered, worth("mask_essay", 1)))
    assert rows(entered, "ada")["mask_essay"] == (None, 1.0, True, 1)
    with entered.gradebook() as book:
        assert book.find_comment("mask_essay", ASSIGNMENT, ASSIGNMENT, "ada").manual_comment == "Good."


def test_what_people_gave_for_what_is_left_out_is_kept_in_a_file(entered: Course) -> None:
    said = enter(entered, changed(entered, without("mask_essay")))
    (path,) = (entered.class_folder / "left_out").iterdir()
    assert str(path) in said
    text = path.read_text(encoding="utf-8")
    assert all(f"{student},mask_essay,manual_score,1.5" in text for student in STUDENTS)
    assert text.count("manual_comment,Good.") == 4
    enter(entered, load_master(entered, ASSIGNMENT))  # it comes back, to be read
    assert rows(entered, "ada")["mask_essay"] == (None, None, True, 2)


def test_a_new_exercise_is_to_be_graded_for_everybody(entered: Course) -> None:
    enter(entered, changed(entered, without("padding_mask", CHECK)))
    assert ungraded(entered, ASSIGNMENT) == []
    assert "padding_mask new (3)" in enter(entered, load_master(entered, ASSIGNMENT))
    assert ungraded(entered, ASSIGNMENT) == STUDENTS
    assert rows(entered, "bob")[CHECK] == (None, None, True, 3)


def test_who_has_an_extension_only_is_not_to_be_graded(entered: Course) -> None:
    with entered.gradebook() as book:
        book.add_student("eve")
        book.add_submission(ASSIGNMENT, "eve")
    assert ungraded(entered, ASSIGNMENT) == []


def test_no_page_shows_marks_by_other_points(entered: Course, capsys: pytest.CaptureFixture[str]) -> None:
    page = entered.feedback("ada", ASSIGNMENT)
    page.parent.mkdir(parents=True)
    page.write_text('<meta name="score" content="15.5">')
    enter(entered, changed(entered, worth(CHECK, 4)))
    marks = export.marks(entered)[0]
    assert {(mark.student, mark.score, mark.points) for mark in marks} == {(one, None, 17.0) for one in STUDENTS}
    assert feedback.run(entered, progress=False) == 1
    assert "no page for ada 01_causal_mask: graded by other points than it has now" in capsys.readouterr().err
    left = dict(hand_back.hand_back(hand_back.Settings(entered, ASSIGNMENT, "folders")).left_out)
    assert left["ada"].startswith("no mark any more, its points have changed")


# --- every way of grading ---------------------------------------------------------------------------------------------


def go_back(course: Course, old: float = 2.0) -> None:
    """Makes the gradebook one of the notebook as it was, with other points and another exercise."""
    with course.gradebook() as book:
        cell = book.find_grade_cell(CHECK, ASSIGNMENT, ASSIGNMENT)
        cell.max_score = old
        for grade in cell.grades:
            grade.auto_score = old
        book.db.commit()
    assert points(course) == 16 - 3 + old


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Course:
    course = make(tmp_path_factory.mktemp("points"))
    for path in [*course.submissions.glob("*/other")]:
        path.rename(course.root / path.parent.name)
    run(course)
    for student in STUDENTS:
        read_essay(course, student, 1.5)
    return course


def run(course: Course, **settings: Any) -> tuple[dict[str, str], str]:
    """Returns what became of each, and what was said."""
    said = list[str]()
    outcomes = autograde.run(autograde.Settings(course, workers=1, progress=False, **settings), report=said.append)
    return {one.student: one.state for one in outcomes}, "\n".join(said)


def score(course: Course) -> dict[str, tuple[float | None, float]]:
    return {mark.student: (mark.score, mark.points) for mark in export.marks(course)[0]}


FULL = dict.fromkeys(STUDENTS, (AUTOMATIC + 1.5, 16.0))


@pytest.mark.sandbox
def test_a_run_grades_what_has_other_points_though_nothing_else_has_changed(made: Course) -> None:
    go_back(made)
    states, said = run(made)
    assert states == dict.fromkeys(STUDENTS, GRADED)
    assert f"{ASSIGNMENT} has other points now: padding_mask 2 -> 3; 16 in all (15 before)." in said
    assert "again" not in said
    assert score(made) == FULL
    assert [mark.unread for mark in export.marks(made)[0]] == [0, 0, 0, 0]


@pytest.mark.sandbox
def test_those_who_are_not_graded_again_are_named_and_have_no_mark(made: Course) -> None:
    go_back(made)
    _, said = run(made, students=["ada"])
    assert "without a mark until they are graded again (python -m grading autograde 01_causal_mask)" in said
    assert said.endswith("bob, cleo, dan.")
    shown = report.write_report(made, ASSIGNMENT).read_text(encoding="utf-8")
    assert "1 graded submissions." in shown
    assert "Handed in without a mark: 3" in shown
    assert score(made) == FULL | dict.fromkeys(["bob", "cleo", "dan"], (None, 16.0))
    assert run(made)[1] == ""
    assert score(made) == FULL


@pytest.mark.sandbox
def test_regrading_one_exercise_changes_no_other(made: Course, capsys: pytest.CaptureFixture[str]) -> None:
    go_back(made)
    with made.gradebook() as book:
        book.find_grade("causal_mask_check", ASSIGNMENT, ASSIGNMENT, "ada").auto_score = 1.25
        book.db.commit()
    assert regrade.run(made, ASSIGNMENT, exercise="padding_mask") == 0
    assert rows(made, "ada")["causal_mask_check"][0] == 1.25
    assert {rows(made, student)[CHECK][0] for student in STUDENTS} == {3.0}
    assert "padding_mask 2 -> 3" in capsys.readouterr().err
    assert regrade.run(made, ASSIGNMENT) == 0
    assert score(made) == FULL


@pytest.mark.sandbox
@pytest.mark.parametrize("path", ["by_name", "by_path"])
def test_nbgraders_own_commands_take_the_assignment_in(tmp_path: Path, made: Course, path: str) -> None:
    """Also in a new clone, where there is no gradebook, and `alembic` is not on the path."""
    course = make(tmp_path / "course")
    for other in course.submissions.glob("*/other"):
        other.rename(tmp_path / other.parent.name)
    for step in range(2):
        command = ("autograde", ASSIGNMENT, *(["--force"] if step else []))
        if path == "by_name":
            done = nbgrader(course.root, *command)
        else:
            program = Path(sys.executable).with_name("nbgrader")
            environment = os.environ | {"PATH": os.defpath}
            done = subprocess.run([program, *command], cwd=course.root, env=environment, text=True, capture_output=True)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        assert score(course) == dict.fromkeys(STUDENTS, (AUTOMATIC, 16.0))
        if step:
            assert "padding_mask 2 -> 3" in done.stderr
            assert "--force): bob, cleo, dan" in done.stderr  # whom nbgrader has not deleted yet
        go_back(course) if not step else None


def test_a_release_is_never_lost(entered: Course) -> None:
    release = entered.released(ASSIGNMENT)
    assert nbgrader(entered.root, "generate_assignment", ASSIGNMENT).returncode == 0
    before = release.read_bytes()
    solution = nbformat.read(entered.solution(ASSIGNMENT), as_version=4)
    solution.cells.remove(cell(solution, "mask_essay"))  # nbgrader refuses this once somebody has handed in
    nbformat.write(solution, entered.solution(ASSIGNMENT))
    done = nbgrader(entered.root, "generate_assignment", ASSIGNMENT, "--force")
    assert done.returncode == 0, done.stderr
    assert "mask_essay left out (2)" in done.stderr
    assert release.read_bytes() != before
    before = release.read_bytes()
    entered.solution(ASSIGNMENT).write_text(json.dumps({"cells": [{}]}))
    assert nbgrader(entered.root, "generate_assignment", ASSIGNMENT, "--force").returncode == 1
    assert release.read_bytes() == before


def test_a_notebook_that_was_not_built_again_is_refused(made: Course) -> None:
    """Points of the definitions, which the notebook does not have: marks could be above its points."""
    path = made.solution(ASSIGNMENT)
    before, held = path.read_bytes(), points(made)
    notebook = nbformat.read(path, as_version=4)
    try:
        for name, value in ((CHECK, 2.0), ("token_count_check", 1.0)):
            cell(notebook, CHECK).metadata.nbgrader.update(grade_id=name, points=value)
            nbformat.write(notebook, path)
            with pytest.raises(CourseError, match=r"points in the notebook 01_causal_mask; nothing was graded. Make"):
                run(made)
            assert points(made) == held
    finally:
        path.write_bytes(before)
