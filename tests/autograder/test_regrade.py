"""Grading again: one student, one exercise; what a run reports, and what a person has written stays."""

import json
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from grading.autograder import regrade, reporting
from grading.autograder import run as autograde
from grading.autograder.graded_notebook import merge_exercise
from grading.autograder.nbgrader_commands import nbgrader
from grading.autograder.outcome import FAILED, Outcome
from grading.classroom import demo, export
from grading.folder.course import Course
from grading.folder.errors import CourseError
from grading.pages import report
from tests.classroom.submissions import ASSIGNMENT, AUTOMATIC, cell, perfect, released

pytestmark = pytest.mark.all

STUDENTS = ["ada_perfect", "denis_mistaken"]


def submitted(course: Path, student: str) -> Path:
    return course / "gradebook" / "submitted" / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"


def book(course: Path) -> Gradebook:
    return Gradebook(f"sqlite:///{course}/gradebook/gradebook.db", "transformers")


def marks(course: Path, student: str) -> dict[str, float | None]:
    with book(course) as opened:
        (part,) = opened.find_submission(ASSIGNMENT, student).notebooks
        return {grade.name: grade.score for grade in part.grades}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of two, graded; Ada's essay has been read, and a comment written."""
    made = tmp_path_factory.mktemp("regrade")
    demo.make(made)
    autograde.run(autograde.Settings(Course(made), students=STUDENTS, workers=1, progress=False))
    with book(made) as opened:
        grade = opened.find_grade("mask_essay", ASSIGNMENT, ASSIGNMENT, "ada_perfect")
        grade.manual_score, grade.needs_manual_grade = 1.5, False
        opened.find_comment("mask_essay", ASSIGNMENT, ASSIGNMENT, "ada_perfect").manual_comment = "Good."
        opened.db.commit()
    return made


def test_a_name_cannot_steer_a_terminal(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(autograde, "run", lambda *_: [Outcome("eve\x1b[2J\u202e", ASSIGNMENT, FAILED)])
    regrade.run(Course(course), ASSIGNMENT)
    assert "eve\\x1b[2J\\u202e" in capsys.readouterr().out


@pytest.mark.sandbox
def test_one_exercise_changes_its_own_mark_only(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = marks(course, "ada_perfect")
    others = marks(course, "denis_mistaken")
    path = course / "gradebook" / "autograded" / "ada_perfect" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    key = nbformat.read(path, as_version=4).metadata["grading"]["key"]
    submitted(course, "ada_perfect").write_text(nbformat.writes(released()), encoding="utf-8")  # nothing is right now
    assert regrade.run(Course(course), ASSIGNMENT, ["ada_perfect"], "causal_mask") == 0
    output = capsys.readouterr().out
    assert f"ada_perfect    {AUTOMATIC + 1.5:g}    12.5" in output
    assert "1 of 1 marks changed" in output
    assert marks(course, "ada_perfect") == before | {"causal_mask_check": 0.0}
    assert marks(course, "denis_mistaken") == others
    notebook = nbformat.read(path, as_version=4)
    assert notebook.metadata["grading"]["key"] == key  # the next run grades the rest of the new submission
    (ada,) = (one for one in report.load(Course(course), ASSIGNMENT) if one.student == "ada_perfect")
    earned = {name: verdict.earned for name, verdict in ada.verdicts.items()}
    assert earned == {name: 0.0 if name == "causal_mask" else before[f"{name}_check"] for name in earned}
    assert "NotImplementedError" in ada.sources["causal_mask"]
    assert "NotImplementedError" not in ada.sources["attention_weights"]
    with book(course) as opened:
        assert not opened.find_grade("mask_essay", ASSIGNMENT, ASSIGNMENT, "ada_perfect").needs_manual_grade


@pytest.mark.sandbox
def test_a_student_is_graded_anew_and_manual_marks_stay(course: Path) -> None:
    submitted(course, "ada_perfect").write_text(nbformat.writes(perfect()), encoding="utf-8")
    assert regrade.run(Course(course), ASSIGNMENT, ["ada_perfect"]) == 0
    found = marks(course, "ada_perfect")
    assert found["mask_essay"] == 1.5
    assert sum(score or 0 for score in found.values()) == AUTOMATIC + 1.5
    with book(course) as opened:
        assert opened.find_comment("mask_essay", ASSIGNMENT, ASSIGNMENT, "ada_perfect").comment == "Good."
        assert not opened.find_grade("mask_essay", ASSIGNMENT, ASSIGNMENT, "ada_perfect").needs_manual_grade
    assert {mark.student: mark.unread for mark in export.marks(Course(course))[0]}["ada_perfect"] == 0
    log = sorted((course / "gradebook" / "logs").glob("regrade-*.log"))[-1].read_text(encoding="utf-8")
    assert "01_causal_mask ada_perfect: graded 15.5" in log


@pytest.mark.sandbox
def test_an_essay_that_has_changed_is_to_be_read_again(course: Path) -> None:
    changed = perfect()
    more = nbformat.v4.new_markdown_cell("And more.")
    changed.cells.insert(changed.cells.index(cell(changed, "mask_essay")) + 1, more)
    submitted(course, "ada_perfect").write_text(nbformat.writes(changed), encoding="utf-8")
    assert regrade.run(Course(course), ASSIGNMENT, ["ada_perfect"]) == 0
    with book(course) as opened:
        grade = opened.find_grade("mask_essay", ASSIGNMENT, ASSIGNMENT, "ada_perfect")
        assert (grade.manual_score, grade.needs_manual_grade) == (1.5, True)


@pytest.mark.sandbox
def test_nbgraders_own_commands_ask_again_for_changed_essays_only(course: Path) -> None:
    """formgrader's button grades anew whatever was graded: what a person has read is not to be read again."""
    changed = perfect()
    cell(changed, "mask_essay").source += " And more."
    where = ("mask_essay", ASSIGNMENT, ASSIGNMENT, "ada_perfect")
    command = ("autograde", ASSIGNMENT, "--student", "ada_perfect", "--force")
    for first, second, asked in ((perfect(), perfect(), False), (perfect(), changed, True)):
        submitted(course, "ada_perfect").write_text(nbformat.writes(first), encoding="utf-8")
        assert regrade.run(Course(course), ASSIGNMENT, ["ada_perfect"]) == 0
        with book(course) as opened:  # a person reads it
            grade = opened.find_grade(*where)
            grade.manual_score, grade.needs_manual_grade = 1.5, False
            opened.db.commit()
        submitted(course, "ada_perfect").write_text(nbformat.writes(second), encoding="utf-8")
        done = nbgrader(course, *command)
        assert done.returncode == 0, done.stderr
        with book(course) as opened:
            grade = opened.find_grade(*where)
            assert (grade.auto_score, grade.manual_score, grade.needs_manual_grade) == (None, 1.5, asked)
            assert not opened.find_grade("causal_mask_check", *where[1:]).needs_manual_grade


@pytest.mark.sandbox
def test_a_mark_of_a_person_is_looked_at_again_when_what_it_is_for_has_changed(course: Path) -> None:
    """A person may set another mark than the check; it is asked again only when answer or verdict are new."""
    path = submitted(course, "denis_mistaken")
    before = path.read_text(encoding="utf-8")
    where = ("causal_mask_check", ASSIGNMENT, ASSIGNMENT, "denis_mistaken")
    with book(course) as opened:
        grade = opened.find_grade(*where)
        grade.manual_score, grade.needs_manual_grade = 2.0, False
        opened.db.commit()
    for text, asked in ((before, False), (nbformat.writes(perfect()), True)):
        path.write_text(text, encoding="utf-8")
        assert regrade.run(Course(course), ASSIGNMENT, ["denis_mistaken"]) == 0
        with book(course) as opened:
            grade = opened.find_grade(*where)
            assert (grade.manual_score, grade.needs_manual_grade) == (2.0, asked)


def test_unknown_names_are_refused(tmp_path: Path) -> None:
    demo.make(tmp_path)
    with pytest.raises(CourseError, match="no assignment is called '99_none'"):
        regrade.run(Course(tmp_path), "99_none")
    with pytest.raises(CourseError, match="01_causal_mask has no exercise 'nothing'; expected one of: causal_mask"):
        regrade.run(Course(tmp_path), ASSIGNMENT, exercise="nothing")


def test_without_an_older_grading_there_is_nothing_to_keep(tmp_path: Path) -> None:
    new = released()
    assert merge_exercise(tmp_path / "none.ipynb", new, "causal_mask") is None
    (tmp_path / "half.ipynb").write_text('{"cells": [')
    assert merge_exercise(tmp_path / "half.ipynb", new, "causal_mask") is None
    (tmp_path / "other.ipynb").write_text(nbformat.writes(nbformat.v4.new_notebook()))
    assert merge_exercise(tmp_path / "other.ipynb", new, "causal_mask") is None


# --- what a run reports -----------------------------------------------------------------------------------------------


OUTCOMES = [
    Outcome(
        "bob",
        ASSIGNMENT,
        "graded",
        7.5,
        repairs=["the file is called\x1b[2J 'x'"],
        seconds={"cells": 0.25, "fork": 0.5},
    ),
    Outcome("ada", ASSIGNMENT, "unchanged"),
    Outcome("zoe", ASSIGNMENT, "could not be graded", reason="it is damaged"),
]


def test_the_table_says_mark_time_and_what_was_put_right() -> None:
    lines = reporting.table(OUTCOMES).split("\n")
    assert [line.split()[1] for line in lines[1:]] == ["ada", "bob", "zoe"]
    assert lines[2].split() == [
        ASSIGNMENT,
        "bob",
        "graded",
        "7.5",
        "0.75",
        "s",
        "the",
        "file",
        "is",
        "called\\x1b[2J",
        "'x'",
    ]
    assert reporting.table([]) == ""


def test_the_summary_says_what_has_no_mark_and_why() -> None:
    summary = reporting.summary(OUTCOMES, 2.0)
    assert "1 graded (1 put right), 1 unchanged, 1 could not be graded, in 2.0 s, 30 a minute." in summary
    assert "no mark: zoe 01_causal_mask: it is damaged" in summary
    assert "Without a mark: 1 of 3 submissions; every other one is done." in summary
    assert "every other one" not in reporting.summary(OUTCOMES[2:], 2.0)
    assert "no mark" not in reporting.summary(OUTCOMES[:2], 2.0)


NAMES = {"bob": "Bob\x1b[2J Brown", "zoe": "Zoë Zimmer"}


def test_names_stand_beside_ids() -> None:
    titles, *lines = reporting.table(OUTCOMES, NAMES).split("\n")
    assert titles.split()[:4] == ["assignment", "student", "name", "mark"]
    place = titles.index("name")
    assert [line[place:].split("  ")[0].strip() for line in lines] == ["", "Bob\\x1b[2J Brown", "Zoë Zimmer"]
    assert [line.split()[1] for line in lines] == ["ada", "bob", "zoe"]
    assert "no mark: zoe (Zoë Zimmer) 01_causal_mask: it is damaged" in reporting.summary(OUTCOMES, 2.0, NAMES)
    assert "name" not in reporting.table(OUTCOMES[1:2], NAMES).split("\n")[0]


def test_names_are_those_of_nbgraders_gradebook(tmp_path: Path) -> None:
    course = Course(tmp_path)
    assert reporting.names(course) == {}
    course.name_students({"zoe": ("Zoë", ""), "bob": ("Bob", "Brown"), "ada": ("", "")})
    assert reporting.names(course) == {"zoe": "Zoë", "bob": "Bob Brown"}


def test_the_log_is_dated_and_old_ones_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporting, "KEPT", 3)
    for _ in range(5):
        log = reporting.Log(tmp_path, "autograde")
        log.outcome(OUTCOMES[0])
        assert "bob: graded 7.5 (the file is called" in log.path.read_text(encoding="utf-8")  # before it is closed
        log.close()
    assert len(list((tmp_path / "gradebook" / "logs").iterdir())) == 3


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "gradebook").write_text("in the way")
    log = reporting.Log(tmp_path, "autograde")
    log.outcome(OUTCOMES[0])
    log.close()
    assert "no log file" in capsys.readouterr().err


def test_a_folder_of_no_assignment_has_no_mark(tmp_path: Path) -> None:
    solution = Course(tmp_path).solution(ASSIGNMENT)
    solution.parent.mkdir(parents=True)
    solution.write_text("{}")
    for name in (ASSIGNMENT, "01_causal_msk", f".{ASSIGNMENT}.half"):
        (tmp_path / "gradebook" / "submitted" / "ada" / name).mkdir(parents=True)
    assert [(one.student, one.assignment, one.state) for one in reporting.strays(Course(tmp_path))] == [
        ("ada", "01_causal_msk", FAILED)
    ]


@pytest.mark.sandbox
def test_json_goes_alone_to_standard_output(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from grading.__main__ import main

    at = ["--course", str(course)]
    assert main(["autograde", *at, "--json", "--student", "emile_broken_file", "--student", "ada_perfect"]) == 3
    captured = capsys.readouterr()
    found = {one["student"]: one["state"] for one in json.loads(captured.out)}
    assert found == {"ada_perfect": "unchanged", "emile_broken_file": "could not be graded"}
    assert "log: " in captured.err
    stray = course / "gradebook" / "submitted" / "gael_no_notebook" / "wrong_name"
    stray.mkdir()
    assert main(["autograde", *at, "--json"]) == 3
    assert "no assignment is called so" in capsys.readouterr().out
    stray.rmdir()
    Course(course).name_students({"ada_perfect": ("Ada", "Perfect")})
    assert main(["autograde", *at, "--student", "ada_perfect"]) == 0
    assert f"{ASSIGNMENT}  ada_perfect  Ada Perfect  unchanged" in capsys.readouterr().out
    assert main(["regrade", ASSIGNMENT, *at, "--student", "ada_perfect"]) == 0
    assert capsys.readouterr().out.splitlines()[0].split() == ["student", "name", "before", "now"]
