"""nbgrader's own commands on real submissions: release, autograde, feedback, and what broken work costs."""

import json
import os
import shutil
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from traitlets.config import Config

from grading.authoring import bank
from grading.autograder import run as autograde
from grading.autograder.nbgrader_commands import nbgrader
from grading.autograder.outcome import UNCHANGED
from grading.classroom import demo
from grading.folder.course import ROOT, Course
from grading.folder.errors import CourseError
from grading.notebooks.cells import exercise_of, kind
from grading.notebooks.verdicts import read_verdict
from grading.pages import report
from tests.classroom.submissions import ASSIGNMENT, AUTOMATIC, cell, oddities, perfect, recorded_mark, released
from tests.hostile import cells

pytestmark = [pytest.mark.sandbox, pytest.mark.all]

LOOK_AROUND = """
import os, pathlib
for folder in ({course!r}, "/tmp", os.path.expanduser("~"), "."):
    try:
        pathlib.Path(folder, "canary-{name}").write_text("was here")
    except OSError:
        pass
def causal_mask(size):
    return pathlib.Path({course!r}, "solutions", "01_causal_mask", "01_causal_mask.ipynb").read_text()
"""
FORGED = ("check_cells_tagged", "outputs_of_full_marks", "schema_of_the_past", "checks_replaced", "all_cells_twice")


def submit(course: Path, student: str, notebook: NotebookNode) -> Path:
    folder = course / "gradebook" / "submitted" / student / ASSIGNMENT
    folder.mkdir(parents=True)
    (folder / f"{ASSIGNMENT}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    return folder


def odd_class(course: Path) -> None:
    """Writes the demo class with odd submissions and hostile ones more."""
    demo.make(course)
    for student, notebook in oddities().items():
        submit(course, student, notebook)
    ending, looking = perfect(), perfect()
    cell(ending, "causal_mask").source = "import os\nos._exit(1)"
    submit(course, "20260112", ending)
    (submit(course, "no_time", perfect()) / "timestamp.txt").write_text("as soon as possible")
    cell(looking, "causal_mask").source = LOOK_AROUND.format(course=str(course), name="sandboxed")
    folder = submit(course, "looking", looking)
    (course / "secret.txt").write_text("for the instructor only")
    (folder / "notes.txt").symlink_to(course / "secret.txt")
    (submit(course, "half_written", perfect()) / f".{ASSIGNMENT}.ipynb.half").write_text("x")
    (submit(course, "too_deep", perfect()) / f"{ASSIGNMENT}.ipynb").write_text('{"a": ' * 100_000)
    for name in FORGED:
        (case,) = (case for case in cells.CASES if case.name == name)
        forged = released()
        assert case.change is not None
        case.change(forged)
        submit(course, name, forged)


@dataclass
class Row:
    """What nbgrader's commands made of a submission: its mark, None without one, and what each check reported."""

    mark: float | None = None
    sentences: dict[str, str] = field(default_factory=dict)


def grade(course: Course, *options: str) -> tuple[dict[str, Row], str]:
    """Grades a class with nbgrader's own commands; returns a row for each student, and what `autograde` printed."""
    done = nbgrader(course.root, "generate_assignment", ASSIGNMENT, "--force")
    assert done.returncode == 0, done.stderr
    printed = nbgrader(course.root, "autograde", ASSIGNMENT, *options).stderr
    nbgrader(course.root, "generate_feedback", ASSIGNMENT, "--force")
    made = {folder.parent.name: Row() for folder in course.submitted_folders(ASSIGNMENT)}
    for student, row in made.items():
        if (path := course.autograded(student, ASSIGNMENT)).exists():
            row.mark = recorded_mark(course, student)
            checks = [cell for cell in nbformat.read(path, as_version=4).cells if kind(cell) == "check"]
            row.sentences = {exercise_of(check): _sentence(check) for check in checks}
    return made, printed


def _sentence(check: NotebookNode) -> str:
    if verdict := read_verdict(check):
        return verdict.mistake or verdict.headline
    return next(output["ename"] for output in check.outputs if output["output_type"] == "error")


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Course, dict[str, Row], str]:
    """The demo class with odd and hostile submissions more, as nbgrader grades it, and what `autograde` printed."""
    course = Course(tmp_path_factory.mktemp("course"))
    odd_class(course.root)
    return course, *grade(course)


@pytest.fixture(scope="module")
def course(graded: tuple[Course, dict[str, Row], str]) -> Course:
    return graded[0]


@pytest.fixture(scope="module")
def rows(graded: tuple[Course, dict[str, Row], str]) -> dict[str, Row]:
    return graded[1]


def test_a_perfect_submission_gets_every_automatic_point(rows: dict[str, Row]) -> None:
    assert rows["ada_perfect"].mark == AUTOMATIC
    assert all(": all checks passed - " in text for text in rows["ada_perfect"].sentences.values())


def test_half_done_and_empty(rows: dict[str, Row]) -> None:
    assert rows["blaise_half_done"].mark == 6
    assert rows["blaise_half_done"].sentences["padding_mask"].startswith("padding_mask: not attempted yet")
    assert rows["chloe_empty"].mark == 0


def test_mistakes_are_named_and_marks_are_partial(rows: dict[str, Row]) -> None:
    assert rows["denis_mistaken"].mark is not None
    assert 0 < rows["denis_mistaken"].mark < AUTOMATIC / 2
    assert rows["denis_mistaken"].sentences["causal_mask"] == "the diagonal is blocked too"


def test_a_broken_file_costs_that_student_only(rows: dict[str, Row]) -> None:
    assert rows["emile_broken_file"].mark is None


def test_a_file_that_is_nested_too_deeply_costs_that_student_only(rows: dict[str, Row]) -> None:
    assert rows["too_deep"].mark is None


def test_no_submission_can_say_that_it_is_being_graded(rows: dict[str, Row], course: Course) -> None:
    assert rows["half_written"].mark == AUTOMATIC
    graded = course.autograded("half_written", ASSIGNMENT)
    assert sorted(path.name for path in graded.parent.iterdir()) == [graded.name]


def test_a_missing_notebook_has_no_mark(rows: dict[str, Row]) -> None:
    assert rows["gael_no_notebook"].mark is None


def test_an_endless_loop_costs_its_exercise_only(rows: dict[str, Row]) -> None:
    assert rows["fatou_endless_loop"].mark == AUTOMATIC - 3
    assert rows["fatou_endless_loop"].sentences["causal_mask"].startswith("causal_mask: took too long")
    assert rows["looping"].mark == AUTOMATIC - 3


def test_code_that_ends_its_process_costs_its_exercise_only(rows: dict[str, Row]) -> None:
    assert rows["20260112"].mark == AUTOMATIC - 3


def test_why_marks_are_missing_is_printed(graded: tuple[Course, dict[str, Row], str]) -> None:
    _, rows, printed = graded
    assert rows["no_time"].mark is None
    for reason in ("as soon as possible", "Notebook does not appear to be JSON"):
        assert reason in printed


def test_an_essay_below_its_cell_is_to_be_read(course: Course) -> None:
    essay = cell(nbformat.read(course.autograded("essay_below", ASSIGNMENT), as_version=4), "mask_essay")
    assert cell(perfect(), "mask_essay").source in essay.source
    assert [*essay.attachments] == ["d.gif"]
    page = course.feedback("essay_below", ASSIGNMENT).read_text(encoding="utf-8")
    assert "mask_essay: written in the cell below its own" in page
    assert '<img alt="d" src="data:image/gif;base64,' in page
    assert "no answer found in its cell" in course.feedback("chloe_empty", ASSIGNMENT).read_text(encoding="utf-8")


def test_honest_oddities_lose_nothing(rows: dict[str, Row]) -> None:
    assert {name: rows[name].mark for name in ("essay_below", "warning", "copied", "kernel")} == {
        "essay_below": AUTOMATIC,
        "warning": AUTOMATIC,
        "copied": AUTOMATIC,
        "kernel": AUTOMATIC,
    }


def test_a_check_tagged_to_be_skipped_is_run_all_the_same(rows: dict[str, Row]) -> None:
    assert rows["tagged"].mark == AUTOMATIC - 3


def test_an_answer_under_another_name_is_reported(rows: dict[str, Row]) -> None:
    assert rows["undefined"].sentences["causal_mask"].startswith("causal_mask: stopped with an error")


def test_hostile_submissions_win_nothing_and_stop_nobody(rows: dict[str, Row]) -> None:
    assert {name: rows[name].mark for name in FORGED} == dict.fromkeys(FORGED, 0.0)
    assert rows["looking"].mark == AUTOMATIC - 3


def test_no_code_of_a_student_has_run_outside_the_sandbox(course: Course) -> None:
    places = [course.root, Path("/tmp"), Path.home(), course.autograded("looking", ASSIGNMENT).parent]
    assert [place for place in places if (place / "canary-sandboxed").exists()] == []
    assert [path.name for path in places[-1].iterdir()] == [f"{ASSIGNMENT}.ipynb"]  # nothing through the link


def recorded(course: Course) -> dict[str, tuple[dict[str, tuple[float | None, bool]], Any, str]]:
    """Returns for each student the marks of all cells, what was recorded of the verdicts, and what was put right."""
    made = {}
    with course.gradebook() as book:
        for one in book.assignment_submissions(ASSIGNMENT):
            path = course.autograded(one.student_id, ASSIGNMENT)
            if path.exists():
                (part,) = one.notebooks
                marks = {grade.name: (grade.auto_score, grade.needs_manual_grade) for grade in part.grades}
                graded = nbformat.read(path, as_version=4)
                for verdict in graded.metadata["grading"]["verdicts"].values():
                    del verdict["seconds"]
                del graded.metadata["grading"]["odd"]  # some of it is about time
                made[one.student_id] = (marks, graded.metadata["grading"], graded.cells[0].source)
    return made


def test_our_own_command_gives_the_same_marks_and_says_the_same(course: Course, tmp_path: Path) -> None:
    own = Course(tmp_path / "course")
    shutil.copytree(course.root, own.root, symlinks=True)
    shutil.rmtree(own.class_folder / "autograded")
    own.database.unlink()
    autograde.run(autograde.Settings(own, workers=1, progress=False))
    theirs, ours = recorded(course), recorded(own)
    del ours["no_time"]  # nbgrader itself cannot read its time
    assert set(theirs) == set(ours) >= {*FORGED, *oddities(), "looking", "20260112", "fatou_endless_loop"}
    assert theirs == ours


def test_what_nbgrader_has_graded_is_not_graded_again(course: Course) -> None:
    settings = autograde.Settings(course, students=["ada_perfect", "looking"], progress=False)
    assert {one.state for one in autograde.run(settings)} == {UNCHANGED}


def test_feedback_shows_check_points_and_hint_and_no_hidden_value(course: Course) -> None:
    text = course.feedback("denis_mistaken", ASSIGNMENT).read_text(encoding="utf-8")
    assert "causal_mask: not yet right - 0.25 of 3 points" in text
    assert "This looks like: the diagonal is blocked too" in text
    assert "Score: 0.5 / 3" in text.replace("&nbsp;", " ") or "0.5" in text


def test_a_class_graded_by_plain_nbgrader_gets_a_report(rows: dict[str, Row], course: Course) -> None:
    graded = {one.student: one for one in report.load(course, ASSIGNMENT)}
    assert {student for student, row in rows.items() if row.mark is not None} == set(graded)
    assert graded["ada_perfect"].share == 1
    assert graded["denis_mistaken"].verdicts["causal_mask"].mistake == "the diagonal is blocked too"
    assert graded["fatou_endless_loop"].verdicts["causal_mask"].outcome == "late"
    assert graded["ada_perfect"].seconds["causal_mask"] > 0
    earned = {student: sum(verdict.earned for verdict in one.verdicts.values()) for student, one in graded.items()}
    assert earned == pytest.approx({student: rows[student].mark for student in graded})


def test_the_gradebook_is_nbgraders_own(course: Course) -> None:
    done = nbgrader(course.root, "export", "--to", "grades.csv")
    assert done.returncode == 0, done.stderr
    table = (course.root / "grades.csv").read_text(encoding="utf-8")
    line = next(line for line in table.splitlines() if "ada_perfect" in line)
    assert "14.0" in line


def test_nbgrader_releases_the_very_bytes_of_the_build(course: Course) -> None:
    made = course.released(ASSIGNMENT).parent
    assert [path.name for path in made.iterdir()] == [f"{ASSIGNMENT}.ipynb"]
    ours = ROOT / "notebooks" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    theirs = json.loads((made / f"{ASSIGNMENT}.ipynb").read_text(encoding="utf-8"))
    assert theirs == json.loads(ours.read_text(encoding="utf-8"))


def test_the_demo_does_not_touch_a_real_class(tmp_path: Path) -> None:
    work = tmp_path / "gradebook" / "submitted" / "real" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    work.parent.mkdir(parents=True)
    work.write_text("real work")
    with pytest.raises(CourseError, match="holds a class that the demo has not made"):
        demo.make(tmp_path)
    assert work.read_text() == "real work"


def course_with_a_submission(tmp_path: Path) -> Course:
    demo.make(tmp_path)
    return Course(tmp_path)


def test_an_unknown_assignment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="no assignment is called '99_none'; expected one of: 01_causal_mask"):
        course_with_a_submission(tmp_path).submitted_folders("99_none")


def test_missing_submissions_are_refused(tmp_path: Path) -> None:
    course = course_with_a_submission(tmp_path)
    shutil.rmtree(course.submissions)
    with pytest.raises(CourseError, match="nothing was submitted for 01_causal_mask: expected folders"):
        course.submitted_folders(ASSIGNMENT)


def test_a_half_made_gradebook_is_refused(tmp_path: Path) -> None:
    course = course_with_a_submission(tmp_path)
    with sqlite3.connect(course.database) as connection:
        connection.execute("create table assignment (id text)")
    with pytest.raises(CourseError, match=r"left half made by an interrupted run.*delete it and grade again"):
        course.refuse_damaged_gradebook()


def test_a_gradebook_that_is_none_is_refused(tmp_path: Path) -> None:
    course = course_with_a_submission(tmp_path)
    course.database.write_text("this is not a database, whatever its name says")
    with pytest.raises(CourseError, match="is not a gradebook"):
        course.refuse_damaged_gradebook()


def test_a_folder_without_write_permission_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    course = course_with_a_submission(tmp_path)
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write anywhere
    with pytest.raises(CourseError, match="cannot be written; expected write permission"):
        course.refuse_damaged_gradebook()


def validate(notebook: NotebookNode, path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    from nbgrader.validator import Validator

    nbformat.write(notebook, path)
    monkeypatch.chdir(path.parent)
    patient = Config({"Execute": {"timeout": 1800, "iopub_timeout": 600}})  # however busy this machine is
    found: dict[str, Any] = Validator(config=patient).validate(str(path))
    return found


def test_validate_passes_a_right_notebook_and_shows_the_hint_of_a_wrong_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = perfect()
    notebook.cells = [c for c in notebook.cells if "experiment" not in c.metadata.get("tags", [])]
    assert validate(notebook, tmp_path / "right.ipynb", monkeypatch) == {}
    wrong = next(answer for answer in bank.answers(ASSIGNMENT) if answer.mistake == "the diagonal is blocked too")
    cell(notebook, "causal_mask").source = wrong.source
    failed = validate(notebook, tmp_path / "wrong.ipynb", monkeypatch)["failed"]
    assert len(failed) == 1
    assert "This looks like: the diagonal is blocked too" in failed[0]["error"]


# --- plain kernels, for those who say so ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def unprotected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Row]:
    """A few of these submissions, graded in plain kernels."""
    course = tmp_path_factory.mktemp("unprotected")
    odd_class(course)
    wanted = {"ada_perfect", "denis_mistaken", "copied", "tagged", "undefined", "20260112", "essay_below"}
    for folder in Course(course).submissions.iterdir():
        if folder.name not in wanted:
            shutil.rmtree(folder)
    return grade(Course(course), "--SandboxedExecute.unprotected=True")[0]


def test_plain_kernels_give_honest_work_the_same_marks(unprotected: dict[str, Row], rows: dict[str, Row]) -> None:
    honest = ("ada_perfect", "denis_mistaken", "copied", "tagged", "essay_below")
    assert {name: unprotected[name].mark for name in honest} == {name: rows[name].mark for name in honest}
    for name in ("denis_mistaken", "essay_below"):
        assert unprotected[name].sentences == rows[name].sentences


def test_plain_kernels_say_what_stopped(unprotected: dict[str, Row]) -> None:
    assert unprotected["20260112"].mark is None
    sentence = unprotected["undefined"].sentences["causal_mask"]
    assert sentence == "The check stopped with NameError: name 'causal_mask' is not defined"


def test_a_notebook_of_an_older_release_is_graded_by_the_present_checks() -> None:
    from grading.autograder.preprocessors import MendCells

    notebook = perfect()
    cell(notebook, "causal_mask_check").metadata["tags"] = ["experiment"]
    mended, _ = MendCells().preprocess(notebook, {})
    assert "tags" not in cell(mended, "causal_mask_check").metadata
