"""Handing back: each student gets the own page, as Moodle, Canvas and nbgrader's exchange read names; others are named.

How Moodle and Canvas read names is written down here a second time, from their sources.
"""

import csv
import io
import os
import re
import shutil
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path

import nbformat
import pytest

from grading.__main__ import main
from grading.autograder.nbgrader_commands import nbgrader
from grading.classroom import collect, hand_back
from grading.classroom.hand_back import HandedBack, Settings
from grading.classroom.worksheet import Worksheet
from grading.folder.course import Course
from grading.folder.errors import CourseError
from grading.folder.times import read_time
from grading.pages.exporter import make_page
from tests.classroom.delivered import A, content, make_zip, there, write_roster
from tests.classroom.test_collect import moodle

TITLES = (
    'Identifier,"Full name","ID number","Email address",Status,Grade,"Maximum Grade","Grade can be changed",'
    '"Last modified (submission)","Last modified (grade)","Feedback comments"'
)
# Equal names, letters of other alphabets, signs that Moodle or a folder reads; by id, with participants' numbers.
NAMES = {
    "john1": ("John Smith", 101),
    "john2": ("John Smith", 102),
    "wei": ("张 伟", 103),
    "nusta": ("Ñusta Quispe", 104),
    "irem": ("İrem Öz", 105),
    "darcy": ("Fitzwilliam D’Arcy", 106),
    "under": ("Ann_Lee 7_8", 107),
    "zoe": ("Zoë O/Neil", 108),
}


def line(student: str, *, grade: str = "", comment: str = "", number: int | None = None) -> str:
    name, own = NAMES[student]
    fields = f'"{name}",{student},{student}@x.org,"Submitted for grading - ",{grade},16.00,Yes'
    return f'"Participant {number or own}",{fields},"Monday, 12 January 2026, 6:00 PM",-,"{comment}"'


def worksheet(*lines: str) -> str:
    return "\ufeff" + "\r\n".join([TITLES, *(lines or [line(student) for student in NAMES])]) + "\r\n"


def page(student: str, score: float) -> str:
    notebook = nbformat.v4.new_notebook()
    return make_page(notebook, {"notebook": A, "student": student, "score": score, "max_score": 16.0})


def mark(course: Path, scores: Mapping[str, float | None]) -> None:
    """Writes marks into nbgrader's gradebook, and the pages that show them; None is a submission without a mark."""
    with Course(course).gradebook() as book:
        for student, score in scores.items():
            book.add_student(student)
            book.add_submission(A, student)
            grade = book.find_grade("check", A, A, student)
            grade.auto_score, grade.needs_manual_grade = score, score is None
            if score is not None:
                file = Course(course).feedback(student, A)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(page(student, score), encoding="utf-8")
        book.db.commit()


@pytest.fixture(scope="module")
def gradebook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A gradebook of nbgrader's with one assignment and nobody in it: making one takes seconds."""
    made = Course(tmp_path_factory.mktemp("gradebook"))
    with made.gradebook() as book:
        book.add_assignment(A)
        book.add_notebook(A, A)
        book.add_grade_cell("check", A, A, max_score=16, cell_type="code")
        book.db.commit()
    return made.database


@pytest.fixture
def course(tmp_path: Path, gradebook: Path) -> Path:
    made = tmp_path / "course"
    (made / "solutions" / A).mkdir(parents=True)
    (made / "solutions" / A / f"{A}.ipynb").write_bytes(content())
    (made / "gradebook").mkdir()
    shutil.copy(gradebook, made / "gradebook")
    return made


def collected(course: Path, files: dict[str, bytes]) -> None:
    found = collect.collect(Course(course), make_zip(course.parent / "delivery.zip", files))
    assert found.unknown == []
    assert found.refused == []


def handed(course: Path, form: str, **wishes: object) -> HandedBack:
    return hand_back.hand_back(Settings(Course(course), A, form, **wishes))  # type: ignore[arg-type]


def unpacked(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def as_moodle_reads(path: Path) -> dict[int, str]:
    """Returns the pages of a zip by participant, as `is_valid_filename_for_import` of Moodle finds them."""
    found: dict[int, str] = {}
    for name, text in unpacked(path).items():
        parts = name.split("/")
        assert not parts[-1].startswith((".", "~"))
        infos = [info for part in parts if len(info := part.split("_", 4)) >= 4 and info[1].isdigit()]
        assert infos[0][2:] == ["assignsubmission", "file", ""], name
        assert int(infos[0][1]) not in found
        found[int(infos[0][1])] = text
        assert len(parts) == 2
    return found


def as_canvas_reads(path: Path) -> dict[tuple[str, str], str]:
    """Returns the pages by user and attachment, as Canvas's `infer_comment_context_from_filename` finds them."""
    found = {}
    for name, text in unpacked(path).items():
        parts = [part for part in name.split("_") if part != "LATE"]
        assert not parts[-1].startswith("link")
        user, attachment = [part for part in parts if re.fullmatch(r"\d+", part)][:2]
        found[user, attachment] = text
    return found


# --- Moodle -----------------------------------------------------------------------------------------------------------


def test_each_student_of_moodle_gets_the_own_page(course: Path) -> None:
    write_roster(course, worksheet())
    by_hand = {"under", "zoe"}  # their names stand in the worksheet only, as nobody has cleaned them
    collected(
        course,
        {f"{one}_{A}.ipynb" if one in by_hand else moodle(*NAMES[one]): content(one) for one in NAMES},
    )
    scores = {student: 1.0 + place for place, student in enumerate(NAMES)}
    mark(course, scores)
    found = handed(course, "moodle")
    assert found.left_out == []
    assert sorted(found.students) == sorted(NAMES)
    got = as_moodle_reads(course / "gradebook" / "hand_back" / f"{A}_moodle.zip")
    assert got == {number: page(student, scores[student]) for student, (_, number) in NAMES.items()}
    sheet = (course / "gradebook" / "hand_back" / f"{A}_worksheet.csv").read_text("utf-8-sig")
    rows = {row["Identifier"]: row for row in csv.DictReader(io.StringIO(sheet))}
    for student, (name, number) in NAMES.items():
        row = rows[f"Participant {number}"]
        assert (row["Full name"], row["Grade"]) == (name, f"{scores[student]:g}")
        assert row["Feedback comments"] == f"{scores[student]:g} of 16 points. Your feedback page has the reasons."


def test_without_a_roster_the_delivery_has_the_numbers(course: Path) -> None:
    collected(course, {moodle("张 伟", 9): content("a"), moodle("Zoë Ñusta", 10): content("b")})
    mark(course, {"张_伟": 3.0, "zoë_ñusta": 4.0})
    assert handed(course, "moodle").left_out == []
    got = unpacked(course / "gradebook" / "hand_back" / f"{A}_moodle.zip")
    assert set(got) == {
        f"张 伟_9_assignsubmission_file_/{A}.html",
        f"Zoë Ñusta_10_assignsubmission_file_/{A}.html",
    }
    assert not list((course / "gradebook" / "hand_back").glob("*.csv"))


@pytest.mark.parametrize("old", [False, True])
def test_a_page_is_stale_when_its_mark_is_another(course: Path, old: bool) -> None:
    """Pages that were written before they had the mark in `<meta>` state it in their first sentence."""
    write_roster(course, "id,first_name,last_name\nada,Ada,Lovelace\nbob,Bob,Brown\n")
    collected(course, {moodle("Ada Lovelace", 1): content("a"), moodle("Bob Brown", 2): content("b")})
    mark(course, {"ada": 9.25, "bob": 8.0})
    for student, score in {"ada": 9.25, "bob": 7.5}.items():
        text = page(student, score)
        assert f'<meta name="score" content="{score}">' in text
        text = re.sub("<meta name=.score.*\n", "", text) if old else text.replace('class="total"', 'class="sum"')
        Course(course).feedback(student, A).write_text(text)
    found = handed(course, "moodle")
    assert found.students == ["ada"]
    assert [student for student, reason in found.left_out if "older than the mark" in reason] == ["bob"]


def test_who_has_no_number_no_page_or_an_old_page_is_reported_by_name(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_roster(
        course, "id,first_name,last_name\nada,Ada,Lovelace\nbob,Bob,Brown\ncy,Cy,Crow\neve,Eve,Elm\nzo,Zo,Zu\n"
    )
    came = {moodle("Ada Lovelace", 1): content("a"), f"bob_{A}.ipynb": content("b"), moodle("Cy Crow", 3): content("c")}
    collected(course, {**came, moodle("Eve Elm", 4): content("e"), moodle("Zo Zu", 5): content("z")})
    mark(course, {"ada": 9.0, "bob": 8.0, "cy": None, "eve": 7.0, "zo": 6.0})
    Course(course).feedback("eve", A).write_text(page("eve", 5.0))  # an essay was read since
    graded = Course(course).autograded("zo", A)
    graded.parent.mkdir(parents=True)
    graded.write_text("{}")
    os.utime(Course(course).feedback("zo", A), (time.time() - 60,) * 2)  # and this one was graded again
    assert main(["hand-back", A, "--format", "moodle", "--course", str(course)]) == 1
    output = capsys.readouterr().out
    assert "1 of 5 students get their feedback page." in output
    assert "Bob Brown (bob): the site's number is not known; collect the zip file of the site again" in output
    assert "Cy Crow (cy): no mark, and so no feedback page" in output
    old = "the feedback page is older than the mark; python -m grading feedback"
    assert f"Eve Elm (eve), Zo Zu (zo): {old} {A}" in output
    assert as_moodle_reads(course / "gradebook" / "hand_back" / f"{A}_moodle.zip") == {1: page("ada", 9.0)}


def test_nobody_gets_a_page_by_a_number_that_two_have(course: Path) -> None:
    write_roster(course, "id,first_name,last_name\nada,Ada,Lovelace\nbob,Bob,Brown\n")
    collected(course, {moodle("Ada Lovelace", 7): content("a"), moodle("Bob Brown", 7): content("b")})
    mark(course, {"ada": 9.0, "bob": 8.0})
    for students in ((), ("ada",)):
        found = handed(course, "moodle", students=students)
        assert found.students == []
        assert {reason.split(";")[0] for _, reason in found.left_out} == {"several students have the number 7"}
    assert not (course / "gradebook" / "hand_back").exists()


def test_another_assignments_worksheet_is_not_used(course: Path, tmp_path: Path) -> None:
    """Moodle numbers its participants anew in each assignment."""
    write_roster(course, "id,first_name,last_name\njohn1,John,Smith\nwei,伟,张\nirem,İrem,Öz\n")
    collected(course, {moodle("John Smith", 101): content("a"), f"wei_{A}.ipynb": content("b")})
    mark(course, {"john1": 9.0, "wei": 8.0})
    other, right = tmp_path / "other.csv", tmp_path / "right.csv"
    other.write_text(worksheet(line("john1", number=501), line("wei", number=503)), encoding="utf-8")
    right.write_text(worksheet(line("john1"), line("wei")), encoding="utf-8")
    found = handed(course, "moodle", worksheet=other)
    assert found.failed
    assert "not fit the numbers of this assignment's submissions (John Smith (john1) came as 101)" in found.notes[0]
    assert [student for student, _ in found.left_out] == ["wei"]
    assert not list((course / "gradebook" / "hand_back").glob("*.csv"))
    found = handed(course, "moodle", worksheet=right)
    assert (found.left_out, found.failed) == ([], False)
    assert set(as_moodle_reads(found.files[0])) == {101, 103}


# --- the worksheet ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_all_other_bytes_of_the_worksheet_stay(course: Path, tmp_path: Path, encoding: str, separator: str) -> None:
    odd = '"Participant 9","Nobody ""N."" Else",n9,"",  ,"-",16.00,No,"a\r\nb",-,\r\n\n'
    text = worksheet(line("nusta", grade="2"), line("zoe", comment="Well done, <b>Zoë</b>")) + odd + line("darcy")
    text = text.replace(",", separator) if separator != "," else text
    data = text.removeprefix("\ufeff").encode(encoding)
    path = tmp_path / "sheet.csv"
    path.write_bytes(data)
    assert Worksheet(path).content() == data  # nothing to do, nothing changed
    collected(course, {moodle("n", NAMES["nusta"][1]): content("1"), moodle("z", NAMES["zoe"][1]): content("2")})
    mark(course, {"n": 13.5, "z": 12.0})
    found = handed(course, "moodle", worksheet=path)
    assert "n: the grade 2 in Moodle becomes 13.5." in found.notes
    assert "The comments that somebody has written in Moodle stay: z." in found.notes
    before = text.removeprefix("\ufeff")
    comment = '"13.5 of 16 points. Your feedback page has the reasons."'
    first, second = line("nusta", grade="2").replace(",", separator), line("zoe").replace(",", separator)
    after = before.replace(
        first, first.replace(f"{separator}2{separator}", f"{separator}13.5{separator}")[:-2] + comment
    )
    head = second[: second.index(f"{separator}16.00")]
    after = after.replace(head, f"{head}12")
    assert found.files[1].read_bytes().decode(encoding) == after
    assert path.read_bytes() == data
    again = handed(course, "moodle", worksheet=found.files[1])  # our own comments are no person's
    assert "The comments that somebody has written in Moodle stay: z." in again.notes
    assert again.files[1].read_bytes().decode(encoding) == after


def test_a_worksheet_with_another_maximum_gets_no_marks(course: Path, tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text(worksheet(line("wei")).replace("16.00", "100.00"), encoding="utf-8")
    collected(course, {moodle("w", 103): content()})
    mark(course, {"w": 8.0})
    found = handed(course, "moodle", worksheet=path)
    assert found.failed
    assert any("its maximum grade is 100.00, the assignment has 16 points" in one for one in found.notes)
    assert [file.suffix for file in found.files] == [".zip"]


@pytest.mark.parametrize(
    ("word", "titles"),
    [
        ("Teilnehmer/in", "ID,Name,ID-Nummer,E-Mail,Status,Bewertung,Maximum,Änderbar,Geändert,Bewertet,Feedback"),
        ("Participant ", "Identifiant,Nom,Numéro,Courriel,Statut,Note,Note max.,Modifiable,Remis,Noté,Commentaires"),
        ("参与者", "识别符,全名,ID号,电子邮件,状态,成绩,最高分,可以修改,提交,评分,反馈"),
    ],
)
@pytest.mark.parametrize("hidden", [0, 2, 3])
def test_a_worksheet_of_another_language_goes_there_and_back(course: Path, word: str, titles: str, hidden: int) -> None:
    lines = [titles.split(",")]
    for at, (name, number) in enumerate((("Ada Lovelace", 501), ("Kurt Gödel", 502), ("Hedy Lamarr", 503))):
        cells = [
            f"{word}{number}",
            name,
            f"u{at}",
            f"u{at}@x.org",
            "abc",
            "",
            "16,00",
            "oui",
            "lundi 12.1.2026, 18:00",
            "-",
        ]
        lines.append([*cells, ""])
    places = range(4 - hidden, 4)
    table = [[cell for at, cell in enumerate(line) if at not in places] for line in lines]
    file = io.StringIO()
    csv.writer(file, delimiter=";").writerows(table)
    write_roster(course, file.getvalue())
    names = ["Ada Lovelace", "Kurt Gödel", "Hedy Lamarr"] if hidden < 3 else [word.strip().replace("/", "")] * 3
    collected(course, {moodle(name, 501 + at): content(name + str(at)) for at, name in enumerate(names)})
    ids = [f"u{at}" for at in range(3)] if not hidden else ["501", "502", "503"]
    assert sorted(there(course)) == [f"{one}/{A}" for one in ids]
    mark(course, {one: 4.5 + at for at, one in enumerate(ids)})
    found = handed(course, "moodle")
    assert (found.left_out, found.failed) == ([], False)
    back = [*csv.reader(io.StringIO(found.files[1].read_text("utf-8")), delimiter=";")]
    place = 5 - hidden
    assert [line[place] for line in back] == [table[0][place], "4,5", "5,5", "6,5"]
    assert [line[:place] for line in back] == [line[:place] for line in table]
    assert [line[place + 1 : -1] for line in back] == [line[place + 1 : -1] for line in table]
    got = as_moodle_reads(course / "gradebook" / "hand_back" / f"{A}_moodle.zip")
    assert got == {501 + at: page(one, 4.5 + at) for at, one in enumerate(ids)}


def test_a_decimal_comma_stays_one(course: Path, tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text(worksheet(line("wei")).replace("16.00", '"16,00"'), encoding="utf-8")
    collected(course, {moodle("w", 103): content()})
    mark(course, {"w": 8.25})
    (row,) = csv.DictReader(io.StringIO(handed(course, "moodle", worksheet=path).files[1].read_text("utf-8-sig")))
    assert row["Grade"] == "8,25"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,name\n1,x\n", "no grading worksheet with grades in numbers"),
        (TITLES + '\n"Participant 1"x,y\n', "line 2: the quotation marks are damaged"),
        (worksheet(line("wei"), line("wei")), "the participant 103 stands there twice"),
        ("", "no grading worksheet with grades in numbers"),
    ],
)
def test_what_is_no_worksheet_is_reported(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CourseError, match=message):
        Worksheet(path)


# --- Canvas -----------------------------------------------------------------------------------------------------------


def test_each_student_of_canvas_gets_the_own_page(course: Path) -> None:
    rows = '"Smith, John",111,,john1,S1\n"Smith, John",222,,john2,S1\n"Öz, İrem",333,,irem,S1\n'
    write_roster(course, "Student,ID,SIS User ID,SIS Login ID,Section\n" + rows)
    first = {
        f"smithjohn_111_901_{A}.ipynb": content("one"),
        f"smithjohn_LATE_222_902_{A}-1.ipynb": content("two"),
        f"özirem_333_903_2026 12 {A}.ipynb": content("three"),
    }
    collected(course, first)
    collected(course, {f"smithjohn_111_955_{A}-1.ipynb": content("one, better")})
    mark(course, {"john1": 5.0, "john2": 6.0, "irem": 7.0})
    found = handed(course, "canvas")
    assert found.left_out == []
    pages = (page("john1", 5.0), page("john2", 6.0), page("irem", 7.0))
    expected = dict(zip((("111", "955"), ("222", "902"), ("333", "903")), pages, strict=True))
    assert as_canvas_reads(found.files[0]) == expected
    assert f"smithjohn_LATE_222_902_{A}.html" in unpacked(found.files[0])


def test_an_older_file_does_not_become_the_one_to_answer(course: Path) -> None:
    collected(course, {f"ada_1_901_{A}.ipynb": content("new")})
    path = make_zip(course.parent / "old.zip", {f"ada_1_800_{A}.ipynb": content("old")}, read_time("2025-01-01 00:00"))
    collect.collect(Course(course), path)
    mark(course, {"ada": 5.0})
    assert set(as_canvas_reads(handed(course, "canvas").files[0])) == {("1", "901")}


def test_a_name_of_digits_is_given_back_by_hand(course: Path) -> None:
    collected(course, {f"007_11_901_{A}.ipynb": content()})
    mark(course, {"007": 5.0})
    found = handed(course, "canvas")
    assert found.left_out == [("007", "Canvas would take the name for a number; give this page back by hand")]
    assert found.files == []


# --- the exchange -----------------------------------------------------------------------------------------------------


def test_the_exchange_gets_the_pages_of_its_submissions(course: Path, repository: Path) -> None:
    shutil.copy(repository / "nbgrader_config.py", course)
    (course / "gradebook" / "exchange").mkdir(parents=True)
    for student in ("ada", "bob", "eve"):
        folder = Course(course).submitted(student, A)
        folder.mkdir(parents=True)
        (folder / f"{A}.ipynb").write_bytes(content(student))
        (folder / "timestamp.txt").write_text("2026-01-12 12:00:00.000000 UTC")
    mark(course, {"ada": 9.0, "bob": 8.0, "eve": 7.0, "cay": 6.0, "dan": 5.0})
    for student in ("ada", "eve", "cay", "dan"):  # where `make grade` and `feedback` put it
        for place in (Course(course).autograded, Course(course).feedback):
            secret = place(student, A).parent / "submission_secret.txt"
            secret.parent.mkdir(parents=True, exist_ok=True)
            secret.write_text(f"secret of {student}")
    (Course(course).feedback("cay", A).parent / "submission_secret.txt").write_text("of an earlier attempt")
    (Course(course).autograded("dan", A).parent / "submission_secret.txt").unlink()  # graded before it was kept
    Course(course).submitted("dan", A).mkdir(parents=True)
    (Course(course).submitted("dan", A) / "submission_secret.txt").write_text("of which attempt?")
    Course(course).feedback("eve", A).write_text(page("eve", 2.0))  # older than the mark
    found = handed(course, "exchange")
    assert found.students == ["ada"]
    assert dict(found.left_out) == {
        "bob": "the submission did not come through the exchange (nbgrader collect)",
        "cay": f"the feedback page is not of the attempt that was graded; python -m grading feedback {A}",
        "dan": "it is not said of which attempt its page is; grade and generate the feedback again",
        "eve": f"the feedback page is older than the mark; python -m grading feedback {A}",
    }
    released = list((course / "gradebook" / "exchange" / "transformers" / "feedback").iterdir())
    assert [file.read_text() for file in released] == [page("ada", 9.0)]


@pytest.mark.all
def test_an_exchange_that_is_not_there_is_reported(course: Path, repository: Path) -> None:
    shutil.copy(repository / "nbgrader_config.py", course)
    mark(course, {"ada": 9.0})
    for place in (Course(course).autograded, Course(course).feedback):
        place("ada", A).parent.mkdir(parents=True, exist_ok=True)
        (place("ada", A).parent / "submission_secret.txt").write_text("of ada")
    with pytest.raises(CourseError, match=r"release_feedback failed .*Make that folder"):
        handed(course, "exchange")
    assert nbgrader(course, "--version").returncode == 0


# --- nothing half written, nothing lost -------------------------------------------------------------------------------


def test_a_zip_is_written_whole_or_not_at_all(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collected(course, {moodle("Ada", 1): content("a"), moodle("Bob", 2): content("b")})
    mark(course, {"ada": 9.0, "bob": 8.0})
    handed(course, "moodle")
    path = course / "gradebook" / "hand_back" / f"{A}_moodle.zip"
    before = path.read_bytes()
    write = zipfile.ZipFile.writestr

    def full(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, data: bytes) -> None:
        write(archive, entry, data)
        if entry.filename.startswith("Bob"):
            raise OSError(28, "No space left")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    with pytest.raises(OSError, match="No space left"):
        handed(course, "moodle")
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert path.read_bytes() == before


@pytest.mark.parametrize(("names", "form", "site"), [
    ([moodle("Ada", 1), moodle("Bob", 2)], "folders", "moodle"),
    ([moodle("Ada", 1), moodle("Bob", 2)], "canvas", "moodle"),
    ([f"adalovelace_11_901_{A}.ipynb", f"bobbrown_12_902_{A}.ipynb"], "moodle", "canvas"),
])  # fmt: skip
def test_another_sites_format_is_refused_once(
    course: Path, capsys: pytest.CaptureFixture[str], names: list[str], form: str, site: str
) -> None:
    collected(course, {name: content(name) for name in names})
    mark(course, {path.name: 3.0 for path in (course / "gradebook" / "submitted").iterdir()})
    assert main(["hand-back", A, "--format", form, "--course", str(course)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert len(told.err.strip().split("\n")) == 1
    assert f"expected --format {site}, got --format {form}" in told.err


def test_one_reason_of_many_is_one_line(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(30):
        collected(course, {f"s{number}_{A}.ipynb": content(str(number))})
    mark(course, {f"s{number}": 3.0 for number in range(30)})
    assert main(["hand-back", A, "--format", "moodle", "--course", str(course)]) == 1
    lines = [line for line in capsys.readouterr().out.split("\n") if "the site's number is not known" in line]
    assert len(lines) == 1
    assert "and 10 more: " in lines[0]


def test_names_of_sites_are_kept_when_a_file_comes_by_hand(course: Path) -> None:
    collected(course, {moodle("Ada", 1): content("a")})
    collected(course, {f"ada_{A}.ipynb": content("mended")})
    mark(course, {"ada": 9.0})
    assert set(as_moodle_reads(handed(course, "moodle").files[0])) == {1}


def test_pages_go_back_into_the_folders_of_other_sites(course: Path) -> None:
    (course / "gradebook" / "students.csv").write_text(
        "id,name\nada,Ada King\nkg,Kurt Gödel\nbob,Bob Brown\neve,Eve Ems\n"
    )
    brightspace, ilias = "12345-678 - Ada King - Jan 12, 2026 559 PM", "Abgaben/Brown_Bob_bob_4711"
    sakai = "01 Causal Mask/Gödel, Kurt(kg)"
    files = {
        f"{brightspace}/{A}.ipynb": content("a"),
        f"{ilias}/x.ipynb": content("b"),
        f"{sakai}/Submission attachment(s)/{A}.ipynb": content("k"),
        f"T_eve_attempt_2026-01-12-17-59-02_{A}.ipynb": content("e"),
    }
    found = collect.collect(Course(course), make_zip(course.parent / "delivery.zip", files), A)
    assert found.unknown == []
    mark(course, {"ada": 9.0, "bob": 8.0, "kg": 7.0, "eve": 6.0})
    given = handed(course, "folders")
    pages = unpacked(given.files[0])
    assert {
        name: student in text for (name, text), student in zip(pages.items(), ("ada", "bob", "kg"), strict=True)
    } == {
        f"{brightspace}/{A}.html": True,
        f"{ilias}/{A}.html": True,
        f"{sakai}/Feedback Attachment(s)/{A}.html": True,
    }
    assert [student for student, _ in given.left_out] == ["eve"]


def test_what_cannot_be_done_is_reported(course: Path, tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="collect and grade first"):
        handed(course, "moodle")
    collected(course, {moodle("Ada", 1): content("a")})
    mark(course, {"ada": 9.0})
    with pytest.raises(CourseError, match="nobody called 'eve' has handed in"):
        handed(course, "moodle", students=["eve"])
    with pytest.raises(CourseError, match="cannot be read"):
        handed(course, "moodle", worksheet=tmp_path / "none.csv")
    (course / "gradebook" / "site_names.json").write_text("[ half")
    with pytest.raises(CourseError, match="collect the same zip files again"):
        handed(course, "moodle")
