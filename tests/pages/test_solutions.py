"""Worked solutions: each exercise with its answer, nothing of the instructor's, not before the time of all is over."""

import datetime
import shutil
from pathlib import Path

import nbformat
import pytest

from grading.__main__ import main
from grading.definitions import bank
from grading.definitions.exercise import load
from grading.folder.course import ROOT, Course
from grading.notebooks import cells
from grading.pages import solutions
from tests.authoring.test_build import STEMS
from tests.classroom.submissions import ASSIGNMENT
from tests.pages.test_feedback import refuse_anything_active

NOW = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
DAY = datetime.timedelta(days=1)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    made = Course(tmp_path / "course")
    made.solution(ASSIGNMENT).parent.mkdir(parents=True)
    shutil.copy(Course(ROOT).solution(ASSIGNMENT), made.solution(ASSIGNMENT))
    shutil.copy(ROOT / "nbgrader_config.py", made.root)
    made.class_folder.mkdir()
    return made


@pytest.mark.parametrize("stem", STEMS)
def test_a_page_has_each_answer_and_all_pictures_and_nothing_of_the_instructors(stem: str) -> None:
    page = refuse_anything_active(solutions.make_page(Course(ROOT), stem))
    solved = nbformat.read(Course(ROOT).solution(stem), as_version=4)
    for name, exercise in load(stem).items():
        (answer,) = [cell.source for cell in solved.cells if cells.grade_id(cell) == name]
        shown = "\n".join(line for line in answer.splitlines() if line.strip() not in marks_of_answers())
        assert shown in page.text
        (other,) = [one for one in bank.of_exercise(stem, name) if one.other]
        assert other.source in page.text
        assert f"Another answer: {other.title}".casefold() in page.text.casefold()
        assert other.other.replace("`", "") in page.text
        for mistake in exercise.mistakes:
            assert mistake.name.replace("`", "") in page.text
    essays = [cell.source for cell in solved.cells if cells.kind(cell) == "essay"]
    for line in "\n".join(essays).splitlines():
        assert len(line) < 40 or line not in page.text
    for word in ("BEGIN SOLUTION", "grading.definitions.examiner", "mark(", "Full marks (", "Half ("):
        assert word not in page.text, word
    drawn = [
        output
        for cell in solved.cells
        if cells.is_experiment(cell) and "widget" not in cell.metadata.tags
        for output in cell.outputs
        if 'class="course-figure"' in "".join(output.get("data", {}).get("text/html", ""))
    ]
    assert [tag for tag, _ in page.tags].count("img") == len(drawn)


def marks_of_answers() -> tuple[str, str]:
    return cells.BEGIN_SOLUTION, cells.END_SOLUTION


def test_without_a_due_date_nobody_is_waited_for(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["solutions", ASSIGNMENT, "--course", str(course.root)]
    assert main(words) == 0
    page = course.class_folder / "solutions" / f"{ASSIGNMENT}.html"
    assert str(page) in capsys.readouterr().out
    with course.gradebook() as book:
        book.update_or_create_assignment(ASSIGNMENT)
    page.unlink()
    assert main(words) == 0
    assert page.is_file()


@pytest.mark.parametrize(("due", "extended", "expected"), [(1, 0, " UTC:"), (-1, 3, " UTC for ada:"), (-3, 1, "")])
def test_nobodys_time_is_cut_short(
    course: Course, due: int, extended: int, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with course.gradebook() as book:
        book.update_or_create_assignment(ASSIGNMENT, duedate=f"{NOW + due * DAY} UTC")
        for student in ("ada", "bob"):
            book.update_or_create_student(student)
            book.update_or_create_submission(ASSIGNMENT, student)
        if extended:
            book.grant_extension(ASSIGNMENT, "ada", days=extended)
    words = ["solutions", ASSIGNMENT, "--course", str(course.root)]
    page = course.class_folder / "solutions" / f"{ASSIGNMENT}.html"
    assert main(words) == (2 if expected else 0)
    message = capsys.readouterr().err
    assert expected in message
    assert page.is_file() == (not expected)
    if expected:
        assert "expected that time to be over. Wait for it, or say --early." in message
        assert main([*words, "--early"]) == 0
        assert page.is_file()


def test_what_is_no_assignment_is_named(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solutions", "99_none", "--course", str(course.root)]) == 2
    assert "no assignment is called '99_none'" in capsys.readouterr().err
