"""Exported marks: what a spreadsheet, Canvas and Moodle get, and that nothing in it is a formula."""

import csv
import io
import json
import os
import shutil
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from grading.__main__ import main
from grading.classroom import export
from grading.classroom.export import harmless
from grading.classroom.roster import Person, Roster, load
from grading.classroom.worksheet import Worksheet
from grading.command_line import parse
from grading.folder.course import Course
from grading.folder.errors import CourseError

A = "01_causal_mask"


def lines(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A gradebook of nbgrader's with two assignments: Ada is graded, Bob's essay is unread, Zoë's work has no mark."""
    tmp_path = tmp_path_factory.mktemp("export")
    for student in ("yan", "zoe"):
        (tmp_path / "gradebook" / "submitted" / student / A).mkdir(parents=True)  # could not be graded
    Course(tmp_path).name_students(
        {"ada": ("Ada", "Lovelace"), "bob": ("Bob", '=cmd|"/c calc"!A1'), "zoe": ("Zoë", "")}
    )
    with Gradebook(f"sqlite:///{tmp_path}/gradebook/gradebook.db", "transformers") as book:
        for assignment, students in ((A, ("ada", "bob", "zoe")), ("02_x", ("ada",))):
            book.add_assignment(assignment)
            book.add_notebook(assignment, assignment)
            book.add_grade_cell("mask_check", assignment, assignment, max_score=3, cell_type="code")
            book.add_grade_cell("essay", assignment, assignment, max_score=2, cell_type="markdown")
            for student in students:
                book.add_submission(assignment, student)
                check, essay = (book.find_grade(n, assignment, assignment, student) for n in ("mask_check", "essay"))
                if student == "zoe":
                    continue  # could not be graded: nbgrader leaves both without a mark
                check.auto_score, check.needs_manual_grade = 2.25, False
                essay.needs_manual_grade = student == "bob"
                essay.manual_score = None if student == "bob" else 1.5
                if assignment == "02_x":
                    check.notebook.late_submission_penalty = 0.75
        book.db.commit()
    return tmp_path


@pytest.fixture
def course(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "course")
    return tmp_path / "course"


def exported(course: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    assert main(["export", "--format", kind, "--out", "-", "--course", str(course)]) == 0
    return lines(capsys.readouterr().out)


def test_a_line_for_each_student_and_assignment(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    titles, *rows = exported(course, "csv", capsys)
    assert titles == [
        "student",
        "last_name",
        "first_name",
        "assignment",
        "mark",
        "points",
        "late_penalty",
        "still_to_read",
        "received_utc",
    ]
    assert rows == [
        ["ada", "Lovelace", "Ada", A, "3.75", "5", "0", "0", ""],
        ["ada", "Lovelace", "Ada", "02_x", "3", "5", "0.75", "0", ""],
        ["bob", '\'=cmd|"/c calc"!A1', "Bob", A, "2.25", "5", "0", "1", ""],
        ["yan", "", "", A, "", "5", "0", "0", ""],
        ["zoe", "", "Zoë", A, "", "5", "0", "0", ""],
    ]


def test_a_row_for_each_student_with_exercises_and_essays(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    titles, ada, bob, yan, zoe = exported(course, "exercises", capsys)
    assert titles == [
        *("student", "last_name", "first_name"),
        *(f"{A} essay (2)", f"{A} mask (3)", f"{A} late_penalty", f"{A} mark (5)"),
        *("02_x essay (2)", "02_x mask (3)", "02_x late_penalty", "02_x mark (5)"),
    ]
    assert ada == ["ada", "Lovelace", "Ada", "1.5", "2.25", "0", "3.75", "1.5", "2.25", "0.75", "3"]
    assert bob[3:] == ["", "2.25", "0", "2.25", "", "", "", ""]  # the essay is unread, and 02 not handed in
    assert (yan[3:], zoe[3:]) == ([""] * 8, [""] * 8)


def test_exercises_stand_in_the_order_of_the_notebook(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = [{"cell_type": "code", "metadata": {"nbgrader": {"grade_id": one}}} for one in ("mask_check", "essay")]
    path = Course(course).solution(A)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    assert exported(course, "exercises", capsys)[0][3:5] == [f"{A} mask (3)", f"{A} essay (2)"]


def test_who_is_not_in_the_list_is_named(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (course / "gradebook" / "students.csv").write_text("id\nada\nyan\n", encoding="utf-8")
    for kind in ("csv", "exercises", "canvas", "moodle"):
        assert main(["export", "--format", kind, "--course", str(course)]) == 0
        told = capsys.readouterr().err
        assert 'not in the list of students (gradebook/students.csv): bob (Bob =cmd|"/c calc"!A1), zoe (Zoë);' in told


def test_no_folder_is_made_for_a_file(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = course / "nope" / "x.csv"
    assert main(["export", "--out", str(out), "--course", str(course)]) == 2
    assert f"there is no folder {out.parent}; make it" in capsys.readouterr().err
    assert not out.parent.exists()


def test_canvas(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    titles, points, ada, bob, _, zoe = exported(course, "canvas", capsys)
    assert titles == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", A, "02_x"]
    assert points == ["    Points Possible", "", "", "", "", "5", "5"]
    assert ada == ["Lovelace, Ada", "", "", "ada", "", "3.75", "3"]
    assert bob[0].startswith("'=cmd")
    assert zoe[-2:] == ["", ""]  # no mark is no zero


def test_the_rosters_columns_tell_the_site_who_is_who(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = course / "gradebook" / "students.csv"
    path.write_text(
        "id,lms_user_id,first name,last name,email,id number\nada,7,Ada,King,ada@x.org,u7\n", encoding="utf-8"
    )
    assert exported(course, "canvas", capsys)[2][:4] == ["King, Ada", "7", "u7", "ada@x.org"]
    assert exported(course, "moodle", capsys)[1] == ["Ada", "King", "u7", "", "ada@x.org", "3.75", "3"]


CANVAS_TITLES = "Student,ID,SIS User ID,SIS Login ID,Section"


def test_canvas_own_title_of_an_assignment_is_used_again(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = course / "gradebook" / "students.csv"
    path.write_text(
        f"{CANVAS_TITLES},{A} (98765),02_x extra (7),Final Score\n    Points Possible,,,,,5,5,(read only)\n"
        '"Lovelace, Ada",ada,u7,a@x.org,S1,,,\n',
        encoding="utf-8",
    )
    titles, points, ada, *_ = exported(course, "canvas", capsys)
    assert titles[5:] == [f"{A} (98765)", "02_x"]
    assert points[5:] == ["5", "5"]
    assert ada[5:] == ["3.75", "3"]
    assert main(["export", "--format", "canvas", "--course", str(course)]) == 0
    message = capsys.readouterr().err
    assert "Canvas looks for these by their bare title, and makes a new assignment where it has none: 02_x" in message


@pytest.mark.parametrize(
    ("columns", "used"),
    [
        (f"{A} (1),Other (2)", f"{A} (1)"),
        ("01 Causal Mask (3)", "01 Causal Mask (3)"),  # as a person types it
        (f"{A} (1),{A} (2)", A),  # which of them, only a person can say
        (f"{A} (1),01 causal mask (2)", f"{A} (1)"),
        (f"{A} (draft)", A),
        ("01_causal (1)", A),
        (A, A),
        ("=01_causal_mask (4)", "'=01_causal_mask (4)"),
    ],
)
def test_only_a_title_that_is_certain_is_used_again(tmp_path: Path, columns: str, used: str) -> None:
    path = tmp_path / "students.csv"
    path.write_text(f"{CANVAS_TITLES},{columns}\n", encoding="utf-8")
    mark = export.Mark("7", A, 3.0, 5.0, 0, "")
    assert export.rows("canvas", [mark], {}, load(path))[0][5:] == [used]
    assert export.rows("csv", [mark], {}, load(path))[1][3] == A


def test_a_roster_of_canvas_itself(course: Path) -> None:
    path = course / "students.csv"
    path.write_text('Student,ID,SIS User ID,SIS Login ID,Section\n"Lovelace, Ada",7,u7,a@x.org,S1\n', encoding="utf-8")
    mark = export.Mark("7", A, 3.0, 5.0, 0, "")
    assert export.rows("canvas", [mark], {}, load(path))[2] == ["Lovelace, Ada", "7", "u7", "a@x.org", "S1", "3"]


def test_moodle(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    titles, ada, *_ = exported(course, "moodle", capsys)
    assert titles == ["First name", "Last name", "ID number", "Username", "Email address", A, "02_x"]
    assert ada == ["Ada", "Lovelace", "", "", "", "3.75", "3"]  # Moodle knows none of our ids


def test_what_moodle_knows_of_nobody_stays_empty(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = course / "gradebook" / "students.csv"
    path.write_text("Email address,Full name\nada,Ada Lovelace\n", encoding="utf-8")
    assert exported(course, "moodle", capsys)[1][:5] == ["Ada", "Lovelace", "", "", "ada"]
    path.write_text("Username,Full name\nada,Ada Lovelace\n", encoding="utf-8")
    assert exported(course, "moodle", capsys)[1][:5] == ["Ada", "Lovelace", "", "ada", ""]
    with Course(course).gradebook() as book:
        book.update_or_create_student("bob", email="bob@x.org")
    assert exported(course, "moodle", capsys)[2][2:5] == ["", "", "bob@x.org"]


def test_moodles_warning_is_passed_on(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--format", "moodle", "--course", str(course)]) == 0
    message = capsys.readouterr().err
    assert "an imported mark can no longer be changed in the assignment" in message
    assert 'by name only: ada (Ada Lovelace), bob (Bob =cmd|"/c calc"!A1), yan, zoe (Zoë); save Moodle' in message
    assert main(["export", "--format", "canvas", "--course", str(course)]) == 0
    message = capsys.readouterr().err
    assert "Moodle" not in message
    (course / "gradebook" / "students.csv").write_text("id,email\n" + "".join(f"{n},{n}@x\n" for n in ("ada", "bob")))
    assert main(["export", "--format", "moodle", "--course", str(course)]) == 0
    assert "by name only: yan, zoe (Zoë); save" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\ufeff=1", "|cmd", "%x", "＝1", "'=1", "\n=1"]
)
def test_formulas_are_text(text: str) -> None:
    assert harmless(text) == f"'{text}"


def test_a_name_of_three_words_is_not_cut(tmp_path: Path) -> None:
    path = tmp_path / "students.csv"
    path.write_text("Email address,Full name\nnta,Nguyễn Thị Ánh\nada,Ada Lovelace\n", encoding="utf-8")
    marks = [export.Mark(student, A, 3.0, 5.0, 0, "") for student in ("nta", "ada")]
    _, first, second = export.rows("moodle", marks, {}, load(path))
    assert (first[:2], second[:2]) == (["", "Nguyễn Thị Ánh"], ["Ada", "Lovelace"])


@pytest.mark.parametrize("name", ["a;=HYPERLINK(1)", 'ot";=cmd', "a;\t+1", "a,b;@x", "Anne; -2"])
def test_a_semicolon_in_a_name_begins_no_formula(name: str, tmp_path: Path) -> None:
    mark = export.Mark("x", A, 3.0, 5.0, 0, "")
    table = export.rows("csv", [mark], {"x": Person("x", name, name)}, Roster())
    for separator in ",;\t":
        cells = [cell for row in csv.reader(io.StringIO(export.text(table)), delimiter=separator) for cell in row]
        assert not [cell for cell in cells if cell.strip("'\"").startswith(tuple("=+-@")) and cell[0] != "'"]
    assert all(line.startswith('"') and line.endswith('"') for line in export.text(table).splitlines())
    path = tmp_path / "sheet.csv"
    path.write_text("Identifier,Full name,Grade,Last modified (grade)\nParticipant 1,a;=1+1,,-\n", encoding="utf-8")
    assert b'"a;=1+1"' in Worksheet(path).content()


@pytest.mark.parametrize("text", ["", "Ada", "O'Neill", "3.75", "a=b", "    Points Possible", "Anne-Marie"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert harmless(text) == text


def test_a_folder_whose_name_is_not_text_is_exported(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (course / "gradebook" / "submitted" / os.fsdecode(b"eve\xff") / A).mkdir(parents=True)
    assert main(["export", "--course", str(course)]) == 0
    assert b"eve?" in (course / "gradebook" / "marks_csv.csv").read_bytes()


@pytest.mark.parametrize("kind", export.FORMATS)
def test_every_format_can_be_asked_for(kind: str) -> None:
    assert parse(["export", "--format", kind]).format == kind


def test_the_file_and_what_is_not_final(course: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["export", A, "--course", str(course)]) == 0
    message = capsys.readouterr().err
    path = course / "gradebook" / "marks_csv.csv"
    assert f"4 marks of 4 students: {path}" in message
    assert '(python -m grading essays): 1: bob (Bob =cmd|"/c calc"!A1) 01_causal_mask' in message
    assert "without a mark (their places are empty): 2: yan 01_causal_mask, zoe (Zoë) 01_causal_mask" in message
    assert path.read_bytes().startswith('\ufeff"student",'.encode())
    assert main(["export", "--format", "moodle", "--out", str(tmp_path / "m.csv"), "--course", str(course)]) == 0
    assert (tmp_path / "m.csv").read_bytes().startswith(b'"First name",')


def test_what_cannot_be_exported_is_reported(course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CourseError, match=r"there is no .*grade first"):
        export.marks(Course(tmp_path / "other"))
    assert main(["export", "99_none", "--course", str(course)]) == 2
    assert (
        "the gradebook has no assignment '99_none'; expected one of: 01_causal_mask, 02_x." in capsys.readouterr().err
    )
    path = course / "gradebook" / "gradebook.db" / "x.csv"
    assert main(["export", "--out", str(path), "--course", str(course)]) == 2
    assert f"{path} cannot be written" in capsys.readouterr().err
