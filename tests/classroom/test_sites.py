"""Collecting from any site: by the names that each gives to files and folders, and nobody's work in another's place."""

import datetime
import io
import json
import unicodedata
import zipfile
from pathlib import Path
from typing import Any

import pytest

from grading.__main__ import main
from grading.classroom import collect, deliveries, doctor, roster
from grading.classroom.collect import Collected
from grading.classroom.naming import Namer
from grading.classroom.origins import Origins
from grading.folder.course import Course
from tests.classroom.delivered import NOON, A, B, content, make_folder, make_zip, there, times, write_roster

ROSTER = """id,first_name,last_name,email,github_username
ada1815,Ada,Lovelace,ada.king@x.org,countess
kg06,Kurt,Gödel,kurt@x.org,
u9,Jürgen,Müller,jm@x.org,
u10,Siobhán,O'Connor,so@x.org,
u13,Nguyễn Thị,Ánh,na@x.org,
u14,Łukasz,Żółć,lz@x.org,
u15,Hedy,Lamarr,hl@x.org,
honest_zoe,Honest,Zoe,hz@x.org,
mallory,Mallory,Mean,mm@x.org,
"""


@pytest.fixture
def course(tmp_path: Path) -> Path:
    made = tmp_path / "course"
    write_roster(made, ROSTER)
    return made


def collected(course: Path, tmp_path: Path, files: dict[str, bytes], **wishes: object) -> Collected:
    return collect.collect(Course(course), make_zip(tmp_path / "x.zip", files), A, **wishes)  # type: ignore[arg-type]


# --- each site, as it writes names --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "student"),
    [
        # Moodle: [group-]name_number_assignsubmission_file[_]/file, or without folders
        (f"Ada Lovelace_77_assignsubmission_file/{A}.ipynb", "ada1815"),
        (f"Group A-Ada Lovelace_77_assignsubmission_file_/{A}.ipynb", "ada1815"),
        (f"Team 7-O'Connor Siobhán_77_assignsubmission_file_{A}.ipynb", "u10"),
        # Canvas: lastnamefirstname_[LATE_]user_file_name
        (f"lamarrhedy_LATE_40011_999_{A}-2.ipynb", "u15"),
        (f"zolclukasz_40012_998_{A}.ipynb", "u14"),
        # Blackboard: title_login_attempt_time_name
        (f"01 Causal Mask_ada1815_attempt_2026-01-12-17-59-02_{A}.ipynb", "ada1815"),
        ("Week_2_honest_zoe_attempt_2026-01-12-17-59-02_hw.ipynb", "honest_zoe"),
        # Brightspace: user-folder - name - time/file, and without folders
        (f"12345-67890 - Ada Lovelace - Jan 12, 2026 559 PM/{A}.ipynb", "ada1815"),
        ("12346-67890 - T0123 Jürgen Müller- Jan 12, 2026 600 PM - hw.ipynb", "u9"),
        # ILIAS: Last_First_login_number/file, teams in folders of their own, umlauts as two letters
        (f"Abgaben/Team 12/Lovelace_Ada_ada1815_4711/20260112175900_{A}.ipynb", "ada1815"),
        ("Mueller_Juergen_u9_4712/hw.ipynb", "u9"),
        # Sakai: title/Last, First(login)/Submission attachment(s)/file, and without folders
        (f"01 Causal Mask/Gödel, Kurt(kg06)/Submission attachment(s)/{A}.ipynb", "kg06"),
        ("Lamarr, Hedy(u15)_Submission attachment(s)_hw.ipynb", "u15"),
        # A+: login_fileN_submissionN, without an ending
        ("ada1815_file1_submission2", "ada1815"),
        # Google Classroom: what the student or the teacher has called it, often with the name behind
        ("Ada Lovelace - 01_causal_mask.ipynb", "ada1815"),
        ("Copy of 01_causal_mask - Kurt Gödel.ipynb", "kg06"),
        # GitHub Classroom: assignment-login/...
        (f"causal-mask-submissions/causal-mask-countess/{A}.ipynb", "ada1815"),
        # folders of mail, by name, address or its first part
        ("Kurt Gödel <kurt@x.org>/hw.ipynb", "kg06"),
        ("ada.king@x.org/hw.ipynb", "ada1815"),
        ("homework of Hedy Lamarr for monday/hw.ipynb", "u15"),
    ],
)
def test_each_sites_names(course: Path, tmp_path: Path, name: str, student: str) -> None:
    found = collected(course, tmp_path, {name: content(student)})
    assert (found.unknown, found.refused, found.ungradable) == ([], [], [])
    assert there(course) == {f"{student}/{A}": content(student)}


def test_a_group_of_a_plus_hands_in_for_all_of_its_members(course: Path, tmp_path: Path) -> None:
    files = {
        "ada1815_file1_submission1": content("old"),
        "ada1815_file1_submission10": content("new"),
        "ada1815_file1_submission9": content("middle"),
        "kg06+u9_file1_submission1.ipynb": content("both"),
    }
    assert collected(course, tmp_path, files).unknown == []
    assert there(course) == {
        f"ada1815/{A}": content("new"),
        f"kg06/{A}": content("both"),
        f"u9/{A}": content("both"),
    }


LOGIN = "attempt_2026-01-12-17-59-02_hw.ipynb"


@pytest.mark.parametrize(
    ("titles", "taken"),
    [
        (["T_zoe", "T_mal_zoe"], {"zoe": 0, "mal_zoe": 1}),
        (["01 Causal Mask_anna_meier", "01 Causal Mask_tim_meier"], {"anna_meier": 0, "tim_meier": 1}),
        (["01_causal_mask_anna_meier", "01_causal_mask_tim_meier"], {"anna_meier": 0, "tim_meier": 1}),
        (["Week_2_anna_meier", "Week_2_tim_meier"], {}),
        (["Homework_zoe"], {"zoe": 0}),
        (["Home_work_zoe"], {}),
    ],
)
def test_blackboard_without_a_list(tmp_path: Path, titles: list[str], taken: dict[str, int]) -> None:
    files = {f"{title}_{LOGIN}": content(str(at)) for at, title in enumerate(titles)}
    found = collected(tmp_path / "course", tmp_path, files)
    assert there(tmp_path / "course") == {f"{student}/{A}": content(str(at)) for student, at in taken.items()}
    assert len(found.unknown) == len(titles) - len(taken)
    assert all("where the login in" in reason for _, reason in found.unknown)


@pytest.mark.parametrize(
    ("titles", "taken"),
    [
        (["Week_2_honest_zoe", "Week_2_u9"], ["honest_zoe", "u9"]),
        (["Week_2_mal_u9", "Week_2_kg06"], ["kg06"]),  # mal_u9 is not in the list, and is not u9
        (["T_mal_u9", "T_kg06"], ["kg06"]),
        (["01 Causal Mask_mal_u9"], []),
        (["Week_2_mal_u9", "Week_2_u9"], ["u9"]),
        (["Week_1_u9", "Week_2_u9"], []),  # two titles lead to one person
    ],
)
def test_blackboard_with_a_list(course: Path, tmp_path: Path, titles: list[str], taken: list[str]) -> None:
    found = collected(course, tmp_path, {f"{title}_{LOGIN}": content(title) for title in titles})
    assert sorted(there(course)) == [f"{student}/{A}" for student in taken]
    assert len(found.unknown) == len(titles) - len(taken)


@pytest.mark.parametrize(
    "files",
    [
        ["mallory+honest_zoe+kg06_file1_submission9.ipynb", "u9.ipynb"],
        ["drop/mallory+honest_zoe_file1_submission9.ipynb", "drop/notes.txt"],
        ["mallory+honest_zoe_file1_submission9", "honest_zoe.ipynb"],
        ["mallory/honest_zoe+kg06_file1_submission9", "honest_zoe_file1_submission1"],
    ],
)
@pytest.mark.parametrize("with_roster", [True, False])
def test_a_plus_is_believed_where_it_has_named_every_file_only(
    course: Path, tmp_path: Path, files: list[str], with_roster: bool
) -> None:
    where = course if with_roster else tmp_path / "other"
    collected(where, tmp_path, {name: content(name) for name in files})
    assert {name for name, data in there(where).items() if data == content(files[0])} <= {f"mallory/{A}"}


def test_many_files_of_one_person_are_read_once_each(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, real = list[str](), Path.read_bytes

    def read_bytes(path: Path) -> bytes:
        read.append(path.name)
        return real(path)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    monkeypatch.setattr("tutor.files.os.fsync", lambda file: None)
    files = {f"ada1815/{number}.ipynb": content(str(number)) for number in range(60)}
    collect.collect(Course(course), make_folder(tmp_path / "many", files), A)
    assert there(course) == {f"ada1815/{A}": content("59")}
    assert len(list((course / "gradebook" / "older").glob("*/*/*/*.ipynb"))) == 59
    assert read.count(f"{A}.ipynb") < 5 * 60  # not the square
    collect.collect(Course(course), tmp_path / "many", A)
    assert len(list((course / "gradebook" / "older").glob("*/*/*/*.ipynb"))) == 59


@pytest.mark.parametrize("name", ["con", "AUX", "com1", "nul.x", "Lpt9"])
def test_devices_of_windows_are_no_ids(tmp_path: Path, name: str) -> None:
    found = collected(tmp_path / "course", tmp_path, {f"{name}/hw.ipynb": content(), "console/hw.ipynb": content("1")})
    assert [*there(tmp_path / "course")] == [f"console/{A}"]
    assert "cannot be a student's id" in found.unknown[0][1]


@pytest.mark.parametrize("folder", ["notebooks", f"notebooks/{A}", "Work", f"solutions/{A}"])
def test_a_folder_of_the_course_is_no_student(tmp_path: Path, folder: str) -> None:
    found = collected(tmp_path / "course", tmp_path, {f"01-mask-kg06/{folder}/{A}.ipynb": content(), "x.txt": b""})
    assert there(tmp_path / "course") == {}
    assert "names no student" in found.unknown[0][1]


def endless(size: int) -> bytes:
    """Returns a notebook whose print did not end."""
    notebook = json.loads(content())
    lines = "still here\n" * (size // 11)
    notebook["cells"][0]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": lines}]
    return json.dumps(notebook).encode()


@pytest.mark.parametrize("size", [8 << 20, 70 << 20])
@pytest.mark.parametrize("inside", [False, True])
def test_an_output_without_end_is_mended(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, inside: bool
) -> None:
    cells = json.loads(content())["cells"]
    mended = type("Found", (), {"notebook": {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}})
    monkeypatch.setattr(doctor, "diagnose", lambda *parts: mended)
    monkeypatch.setattr(doctor, "as_file", lambda notebook: content("mended"))
    data = {"kg06/hw.zip": zipped({"hw.ipynb": endless(size)})} if inside else {"kg06/hw.ipynb": endless(size)}
    found = collected(course, tmp_path, data)
    assert "--mend" in str(found.refused) + str(found.ungradable) + str(found.unknown)
    found = collected(course, tmp_path, data, mend=True)
    assert (found.refused, [*there(course)]) == ([], [f"kg06/{A}"])


def test_mending_is_advised_only_where_it_helps(course: Path, tmp_path: Path) -> None:
    data = {"kg06/hw.ipynb": endless(210 << 20)}
    for mend in (False, True):
        found = collected(course, tmp_path, data, mend=mend)
        assert "has 229 MB" in found.refused[0][1]
        assert "--mend" not in str(found)


def test_times_that_a_site_writes_into_names(course: Path, tmp_path: Path) -> None:
    files = {
        "T_ada1815_attempt_2026-01-11-10-00-00_a.ipynb": content("older"),
        "T_ada1815_attempt_2026-01-12-10-00-00_a.ipynb": content("newer"),
        f"12345-67890 - Kurt Gödel - Jan 12, 2026 1000 AM/{A}.ipynb": content(),
    }
    assert collected(course, tmp_path, files).unknown == []
    assert there(course)[f"ada1815/{A}"] == content("newer")
    local = datetime.datetime(2026, 1, 12, 10).astimezone(deliveries.UTC)
    assert times(course) == {f"{local:%Y-%m-%d %H:%M:%S} UTC"}
    odd = {
        "T_u10_attempt_2026-99-99-10-00-00_a.ipynb": content(),
        f"1-2 - Hedy Lamarr - Jan 1, 2020 100 AM - Jan 12, 2026 1000 AM/{A}.ipynb": content(),
        f"1-2 - Łukasz Żółć - Feb 31, 0001 100 AM/{A}.ipynb": content(),
    }
    collected(course, tmp_path, odd)
    assert len(there(course)) == 5
    assert times(course) == {f"{local:%Y-%m-%d %H:%M:%S} UTC", "2026-01-12 12:00:00 UTC"}
    collected(course, tmp_path, {"T_u9_attempt_2026-01-12-10-00-00_a.ipynb": content()}, time=NOON)
    assert "2026-01-12 12:00:00 UTC" in times(course)


def test_sakai_writes_times_into_files_and_keeps_what_was_given_back(course: Path, tmp_path: Path) -> None:
    hers, his = "01 Causal Mask/Zoe, Honest(honest_zoe)", "01 Causal Mask/Mean, Mallory(mallory)"
    files = {
        "01 Causal Mask/grades.csv": b"",
        f"{hers}/timestamp.txt": b"20260111175902123",
        f"{hers}/Submission attachment(s)/hw.ipynb": content("hers"),
        f"{hers}/Submission attachment(s)/timestamp.txt": b"20250101000000000",
        f"{hers}/Feedback Attachment(s)/{A}.ipynb": content("given back"),
        f"{his}/timestamp.txt": b"yesterday",
        f"{his}/Submission attachment(s)/hw.ipynb": content("his"),
        "u9/Müller, Jürgen(u9)/timestamp.txt": b"20250101000000000",
        "u9/grades.csv": b"",
        "u9/Müller, Jürgen(u9)/Submission attachment(s)/hw.ipynb": content("dated back"),
    }
    found = collected(course, tmp_path, files)
    assert [(student, time) for student, _, time, _ in found.placed] == [
        ("honest_zoe", "2026-01-11 17:59:02 UTC"),
        ("mallory", "2026-01-12 12:00:00 UTC"),
        ("u9", "2026-01-12 12:00:00 UTC"),
    ]
    assert there(course)[f"honest_zoe/{A}"] == content("hers")


def test_of_several_notebooks_of_one_time_the_last_by_number_counts_and_is_named(course: Path, tmp_path: Path) -> None:
    files = {f"Submitted files/Kurt Gödel/01/Version {number}/x.ipynb": content(str(number)) for number in (2, 9, 10)}
    for run in range(3):
        found = collected(course, tmp_path, files)
        assert there(course) == {f"kg06/{A}": content("10")}
        assert len(found.notes) == 1
        assert "Version 10/x.ipynb" in found.notes[0]
        assert len(list((course / "gradebook" / "older").glob("*/*/*"))) == 2, run


def test_a_sites_zip_in_a_folder_is_collected_by_itself(course: Path, tmp_path: Path) -> None:
    path = make_zip(tmp_path / "submissions.zip", {f"kg06/{A}.ipynb": content("kurt")})
    found = collected(course, tmp_path, {"submissions.zip": path.read_bytes()})
    ((_, reason),) = found.unknown
    assert "outside of submissions.zip; a site's zip is collected by itself" in reason


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_any_form_of_unicode_any_case_and_any_separator(course: Path, tmp_path: Path, form: Any) -> None:
    people = roster.load(course / "gradebook" / "students.csv")
    named = Namer(people, (A, B)).named
    for person in people:
        first, last = person.first, person.last
        for text in (
            *(f"{first} {last}", f"{last}, {first}", f"{last}_{first}_work", f"{first.upper()}-{last.upper()}"),
            *(f"{last}{first}".casefold().replace("'", "").replace(" ", ""), f"{first}.{last}".replace("'", "_")),
        ):
            assert named(unicodedata.normalize(form, text)).students == {person.id}, text


@pytest.mark.parametrize("flag", [0, 0x800])
def test_names_in_utf8_without_the_flag_that_says_so(course: Path, tmp_path: Path, flag: int) -> None:
    name = unicodedata.normalize("NFD", f"Jürgen Müller_8_assignsubmission_file_/{A}.ipynb").encode()
    plain = name.decode("ascii", "replace").replace("\ufffd", "?").encode()
    path = make_zip(tmp_path / "x.zip", {plain.decode(): content("jm")})
    data = path.read_bytes().replace(plain, name)
    if flag:
        data = data.replace(b"PK\1\2\x14\x03\x14\0\0\0", b"PK\1\2\x14\x03\x14\0\0\x08")
        data = data.replace(b"PK\3\4\x14\0\0\0", b"PK\3\4\x14\0\0\x08")
    path.write_bytes(data)
    assert collect.collect(Course(course), path).unknown == []
    assert there(course) == {f"u9/{A}": content("jm")}


# --- nobody's work in another's place -----------------------------------------------------------------------------


HERS = {f"honest_zoe/{A}.ipynb": content("hers")}
LATER = NOON + datetime.timedelta(hours=1)


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize(
    "name",
    [
        f"mallory/honest_zoe/{A}/x.ipynb",
        f"mallory/honest_zoe_{A}.ipynb",
        f"mallory/a/b/honest_zoe/{A}/{A}.ipynb",
        f"mallory/Honest Zoe_126_assignsubmission_file_/{A}.ipynb",
        f"nobody/honest_zoe/{A}/x.ipynb",
        f"ｈonest_zoe/{A}.ipynb",
        f"HONEST_ZOE/{A}.ipynb",
    ],
)
def test_no_folder_replaces_anothers_submission(
    course: Path, tmp_path: Path, name: str, *, together: bool, listed: bool
) -> None:
    if not listed:
        (course / "gradebook" / "students.csv").unlink()
    if not together:
        collect.collect(Course(course), make_folder(tmp_path / "first", HERS))
    files = {name: content("his"), **(HERS if together else {})}
    found = collect.collect(Course(course), make_zip(tmp_path / "x.zip", files, LATER))
    if listed and not together and name.startswith(("ｈ", "H")):
        return  # to the roster it is her; what she handed in before is kept
    now = there(course)
    assert now.get(f"honest_zoe/{A}", content("hers")) == content("hers")
    kept = {path.read_bytes() for path in (course / "gradebook" / "unknown").glob("*/0*")} | {*now.values()}
    assert kept == {content("hers"), content("his")}
    assert found.unknown or f"mallory/{A}" in now or not listed


@pytest.mark.parametrize(
    "name",
    [
        f"Honest Zoe_999_assignsubmission_file_/{A}.ipynb",
        f"x_1_assignsubmission_file__126_assignsubmission_file_/{A}.ipynb",
        f"honest_zoe_999_assignsubmission_file_/{A}.ipynb",
        f"Honest Zoe_2_assignsubmission_file_/{A}.ipynb",
        f"zoehonest_999_5_{A}.ipynb",
        f"zoehonest_2_5_{A}.ipynb",
        f"12345-6 - Honest Zoe - Jan 12, 2026 559 PM/Kurt Gödel_1_assignsubmission_file_/{A}.ipynb",
    ],
)
def test_a_number_that_the_roster_does_not_have_is_not_believed(course: Path, tmp_path: Path, name: str) -> None:
    write_roster(course, "id,first_name,last_name,lms_user_id\nzoe,Honest,Zoe,1\nkg06,Kurt,Gödel,2\n")
    collected(course, tmp_path, {f"Honest Zoe_1_assignsubmission_file_/{A}.ipynb": content("hers")})
    found = collect.collect(Course(course), make_zip(tmp_path / "y.zip", {name: content("another's")}, LATER), A)
    if "12345" in name:  # the outer name is the site's own: the file is of that account, which may be hers
        assert set(there(course)) == {f"zoe/{A}"}
        return
    assert len(found.unknown) == 1
    assert there(course) == {f"zoe/{A}": content("hers")}


@pytest.mark.parametrize(
    ("first", "second", "stays"),
    [
        # somebody whom the course does not know has a folder, and calls what is in it after her
        ("honest_zoe/x.ipynb", "stranger/honest_zoe/x.ipynb", True),
        ("honest_zoe/x.ipynb", "stranger/Zoe, Honest - 01.ipynb", True),
        ("causal-mask/honest_zoe/x.ipynb", "causal-mask/stranger/honest_zoe.ipynb", True),
        ("U/Zoe_Honest_honest_zoe_7/x.ipynb", "U/Mean_Eve_eve_8/honest_zoe.ipynb", True),
        ("Honest Zoe_5_assignsubmission_file_/x.ipynb", "repo-eve/Honest Zoe_5_assignsubmission_file_/x.ipynb", True),
        ("Honest Zoe_5_assignsubmission_file_/x.ipynb", "repo-eve/honest_zoe/x.ipynb", True),
        ("export/submission_555/honest_zoe.ipynb", "export/submission_777/honest_zoe.ipynb", True),
        # the site's own folders, with the date of the download; and what the instructor has called so
        ("Hand in-20260112T175900Z-001/Honest Zoe.ipynb", "Hand in-20260113T080100Z-003/Zoe Honest (1).ipynb", False),
        ("U/Team 5/Zoe_Honest_honest_zoe_7/x.ipynb", "U/Team 5/Zoe_Honest_honest_zoe_7/y.ipynb", False),
        ("U/Zoe_Honest_honest_zoe_7/x.ipynb", f"honest_zoe_{A}.ipynb", False),
        ("Honest Zoe_5_assignsubmission_file_/x.ipynb", "honest_zoe/x.ipynb", False),
    ],
)
def test_a_name_in_another_folder_than_before_replaces_nothing(
    course: Path, tmp_path: Path, first: str, second: str, *, stays: bool
) -> None:
    collected(course, tmp_path, {first: content("hers")})
    for _ in range(2):
        found = collect.collect(Course(course), make_zip(tmp_path / "y.zip", {second: content("later")}, LATER), A)
        assert there(course) == {f"honest_zoe/{A}": content("hers" if stays else "later")}
        assert len(found.unknown) == stays
        if stays:
            assert "lies in another folder, and honest_zoe has handed in already: fill in" in found.unknown[0][1]
    if stays:
        table = next((course / "gradebook" / "unknown").glob("*/list.csv"))
        table.write_text(table.read_text().replace('"",', '"honest_zoe",', 1))
        collect.collect(Course(course), table, A)
        assert there(course) == {f"honest_zoe/{A}": content("later")}


def test_a_zip_saved_twice_is_the_same_delivery(course: Path, tmp_path: Path) -> None:
    for name in ("Exc 1.zip", "Exc 1 (1).zip", "Exc 1(2).zip", "Exc 1 copy.zip"):
        path = make_zip(tmp_path / name, {f"Exc 1/honest_zoe/{A}.ipynb": content(name)})
        assert collect.collect(Course(course), path).unknown == []
        assert there(course) == {f"honest_zoe/{A}": content(name)}


def test_two_accounts_of_one_name_go_aside(course: Path, tmp_path: Path) -> None:
    files = {
        f"Honest Zoe_1_assignsubmission_file_/{A}.ipynb": content("one"),
        f"Honest Zoe_2_assignsubmission_file_/{A}.ipynb": content("two"),
        f"Kurt Gödel_3_assignsubmission_file_/{A}.ipynb": content("kurt"),
    }
    found = collected(course, tmp_path, files)
    assert set(there(course)) == {f"kg06/{A}"}
    assert [reason for _, reason in found.unknown] == [
        "two names of this delivery lead to honest_zoe (number 1 and number 2); fill in the list of unknown files"
    ] * 2


WORKSHEET = """Identifier,Full name,ID number,Email address
Participant 1,Ada Lovelace,s1,ada@x.org
Participant 2,Kurt Gödel,s2,kg@x.org
Participant 3,Honest Zoe,s3,hz@x.org
"""


def test_the_worksheet_of_another_assignment_is_noticed(course: Path, tmp_path: Path) -> None:
    write_roster(course, WORKSHEET)
    files = {
        f"{name}_{number}_assignsubmission_file_/{A}.ipynb": content(name)
        for number, name in ((1002, "Ada Lovelace"), (1, "Kurt Gödel"))
    }
    found = collected(course, tmp_path, files)
    assert there(course) == {f"s1/{A}": content("Ada Lovelace"), f"s2/{A}": content("Kurt Gödel")}
    assert "Moodle has new ones in each assignment" in found.notes[0]
    alone = collected(course, tmp_path, {f"Honest Zoe_1003_assignsubmission_file_/{A}.ipynb": content("taken")})
    assert "comes from number 1003" in alone.unknown[0][1]  # one alone may have taken the name


ODD = """id,first_name,last_name
ada,Ada,Byron
01,Zero,One
mask,Jim,Carrey
an,An,Do
final,Fi,Nal
u7,Anna,Schmidt
u8,Anna,Schmidt
anna,Eve,Adams
u12,Causal,Mask
4711,Alan,Turing
u20,,Sukarno
"""


@pytest.mark.parametrize(
    ("text", "students"),
    [
        *(
            ("ada", "ada"),
            ("hw_ada_v2", "ada"),
            ("01-causal-mask-ada", "ada"),
            ("Ada Lovelace", ""),
            ("Byron_Ada", "ada"),
        ),
        *(("Lovelace_Ada_lovelace1_4711", ""), ("ada lovelace", ""), ("Grace Ada Hopper hw", "")),
        *(("01", "01"), ("01 Causal Mask", ""), ("week 01", ""), ("hw 01 2", ""), ("20260101", "")),
        *(("mask", "mask"), ("causal mask", ""), ("01-causal-mask-mask", "mask"), ("Mask, Causal(u12)", "u12")),
        *(("an", "an"), ("an essay", ""), ("An unknown person", ""), ("An Do", "an")),
        *(("Anna Schmidt", "u7 u8"), ("Schmidt, Anna(u8)", "u8"), ("anna", "anna"), ("Anna Karenina", "")),
        *(("Sukarno", "u20"), ("Sukarno Putra", ""), ("hw sukarno", "u20")),
        *(("Anna Schmidt - final", "u7 u8"), ("Ada Byron - 01 final", "ada"), ("an Ada Byron", "ada")),
        *(("Annabel Do", ""), ("Byron Ada King", ""), ("Alan Turing 12", "4711"), ("Canada", ""), ("adams", "")),
    ],
)
def test_ids_that_are_words_and_parts_of_names(course: Path, text: str, students: str) -> None:
    write_roster(course, ODD)
    people = roster.load(course / "gradebook" / "students.csv")
    assert Namer(people, (A, B)).named(text).students == {*students.split()}


def test_a_folder_that_is_called_like_the_notebook_is_nobodys(course: Path, tmp_path: Path) -> None:
    write_roster(course, ODD)
    files = {f"{A}/Anna Schmidt u7.ipynb": content("7"), "01 Causal Mask/ada.ipynb": content("ada")}
    assert collected(course, tmp_path, files).unknown == []
    assert there(course) == {f"u7/{A}": content("7"), f"ada/{A}": content("ada")}
    found = collected(course, tmp_path, {"mask/An Do.ipynb": content("whose?"), "ada and An Do/x.ipynb": content("2")})
    assert sorted(reason for _, reason in found.unknown) == [
        "fits several students of the roster: ada, an",
        "fits several students of the roster: an, mask",
    ]


# --- what can be graded, and what not -----------------------------------------------------------------------------


def zipped(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return made.getvalue()


@pytest.mark.parametrize(
    ("name", "inside"),
    [
        ("hw.ipynb.txt", ""),
        ("hw.ipynb.json", ""),
        ("hw.json", ""),
        ("hw", ""),
        ("hw.IPYNB", ""),
        ("hw.ipynb.download", ""),
        ("hw.zip", f"{A}.ipynb"),
        ("hw.zip", f"my folder/{A}.ipynb"),
        ("hw.zip", "Kurt Gödel_1_assignsubmission_file_/x.ipynb"),
        ("hw.zip", "kg06/notebook.json"),
    ],
)
def test_notebooks_without_their_ending_and_in_a_zip(course: Path, tmp_path: Path, name: str, inside: str) -> None:
    data = zipped({inside: content("ada"), "figure.png": b"x", "__MACOSX/._x": b"x"}) if inside else content("ada")
    found = collected(course, tmp_path, {f"Ada Lovelace_5_assignsubmission_file_/{name}": data})
    assert (found.unknown, found.refused, found.ungradable) == ([], [], [])
    assert there(course) == {f"ada1815/{A}": content("ada")}


def test_a_zip_in_canvas_is_handed_back_by_its_name(course: Path, tmp_path: Path) -> None:
    name = "lamarrhedy_LATE_40011_999_submission.zip"
    collected(course, tmp_path, {name: zipped({f"hw/{A}.ipynb": content("hedy")})})
    assert there(course) == {f"u15/{A}": content("hedy")}
    origin = Origins(Course(course)).find("u15", A)
    assert origin is not None
    assert (origin.name, origin.late, origin.number, origin.delivery) == ("lamarrhedy", "LATE", "40011", "999")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (zipped({"a.ipynb": b" " * (8 << 20)}), "'a.ipynb', which unpacks to more than 200 times its size"),
        (zipped({f"{n}.ipynb": content() for n in range(60)}), "a zip with 60 notebooks"),
        (zipped({"../a.ipynb": content()}), "'../a.ipynb', which leads outside the archive"),
        (b"PK\3\4 half", "a damaged zip file"),
        (zipped({"a.pdf": b"x"}), "is an archive without a notebook; unpack it by hand"),
    ],
)
def test_a_zip_that_cannot_be_taken_costs_its_own_student_only(
    course: Path, tmp_path: Path, data: bytes, message: str
) -> None:
    files = {"Ada Lovelace_5_assignsubmission_file_/x.zip": data, f"kg06/{A}.ipynb": content("kurt")}
    found = collected(course, tmp_path, files)
    assert set(there(course)) == {f"kg06/{A}"}
    ((student, reason),) = found.ungradable
    assert student == "ada1815"
    assert message in reason
    assert "ada1815" not in found.missing


def test_one_list_joins_what_nobody_can_grade(course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    moodle = "{}_assignsubmission_file_/{}".format
    cut = json.dumps(json.loads(content("x")), indent=1).encode()[:-60]
    files = {
        moodle("Ada Lovelace_1", f"{A}.ipynb"): content("ada"),
        moodle("Ada Lovelace_1", "figure.png"): b"png",
        moodle("Ada Lovelace_1", f"{A}.html"): b"<html>",
        moodle("Hedy Lamarr_2", f"{A}.html"): b"<html>",
        moodle("Kurt Gödel_3", f"{A}.ipynb"): b"<!DOCTYPE html><html>GitHub",
        moodle("Jürgen Müller_4", f"{A}.ipynb"): b"",
        moodle("Honest Zoe_5", f"{A}.ipynb"): cut,
    }
    path = make_zip(tmp_path / "x.zip", files)
    assert main(["collect", str(path), A, "--course", str(course)]) == 1
    output = capsys.readouterr().out
    assert "not known" not in output.split("collected,")[0]
    assert "handed in, but nothing that can be graded:\n" in output
    assert "u15 (Hedy Lamarr): an .html\n" in output
    assert f"kg06 (Kurt Gödel): {A}.ipynb: it is a web page, not a notebook: in the browser" in output
    assert f"u9 (Jürgen Müller): {A}.ipynb is empty" in output
    assert f"honest_zoe (Honest Zoe): {A}.ipynb: it is damaged (not valid JSON); 1 cells were saved" in output
    assert "nothing yet from: u10 (Siobhán O'Connor), u13" in output
    assert "2 further files of these students left out." in output
    assert set(there(course)) == {f"ada1815/{A}"}
    kept = {path.read_bytes() for path in (course / "gradebook" / "unknown").glob("*/0*")}
    assert kept == {files[name] for name in files if "Ada" not in name}

    assert main(["collect", str(path), A, "--mend", "--course", str(course)]) == 1
    assert "new, mended (it is damaged (not valid JSON)" in capsys.readouterr().out
    assert "cells" in json.loads(there(course)[f"honest_zoe/{A}"])
    assert main(["collect", str(path), A, "--mend", "--course", str(course)]) == 1
    assert "unchanged, mended" in capsys.readouterr().out


def test_extra_files_of_known_students_do_not_set_the_status(course: Path, tmp_path: Path) -> None:
    files = {f"kg06/{A}.ipynb": content(), "kg06/a.png": b"x", "kg06/b.html": b"x", "index.html": b"x"}
    assert main(["collect", str(make_zip(tmp_path / "x.zip", files)), A, "--course", str(course)]) == 0


def test_a_damaged_file_replaces_no_good_one(course: Path, tmp_path: Path) -> None:
    collected(course, tmp_path, {f"kg06/{A}.ipynb": content("good")})
    newer = make_zip(tmp_path / "y.zip", {f"kg06/{A}.ipynb": b"{ half"}, LATER)
    found = collect.collect(Course(course), newer)
    assert there(course) == {f"kg06/{A}": content("good")}
    assert "what came before it stays" in found.ungradable[0][1]


def test_what_is_too_large_is_mended_without_its_outputs(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: Path
) -> None:
    notebook = json.loads((repository / "notebooks" / A / f"{A}.ipynb").read_bytes())
    code = next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    code["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "".join(map(str, range(400_000)))}]
    monkeypatch.setattr(deliveries, "MAX_FILE", 1 << 20)
    path = make_zip(tmp_path / "x.zip", {f"kg06/{A}.ipynb": json.dumps(notebook).encode()})
    found = collect.collect(Course(course), path)
    assert "collect it with --mend" in found.refused[0][1]
    assert found.ungradable[0][0] == "kg06"
    collect.collect(Course(course), path, mend=True)
    assert len(there(course)[f"kg06/{A}"]) < 1 << 20


@pytest.mark.parametrize("separator", [",", ";"])
def test_the_list_of_unknown_files_is_filled_in_and_taken_back(course: Path, tmp_path: Path, separator: str) -> None:
    files = {
        "Kurtchen G._7_assignsubmission_file_/q1.ipynb": content("kurt"),
        "Team 7_8_assignsubmission_file_/q1.ipynb": content("team"),
        "=cmd()|x/q2.ipynb": content("nobody"),
    }
    found = collected(course, tmp_path, files)
    assert len(found.unknown) == 3
    path = Path(found.unknown_folder) / "list.csv"
    table = roster.read_table(path, ["student"], "students")
    whose = {"Kurtchen G.": "kg06", "Team 7_8_assi": "ada1815 u9", "'=cmd()|x/q2": ""}
    lines = [table.titles]
    for _, row in table.rows:
        students = next(name for start, name in whose.items() if row["file"].startswith(start))
        lines.append([students, *list(row.values())[1:]])
    path.write_text("\ufeff" + "\n".join(separator.join(line) for line in lines), encoding="utf-8")
    again = collect.collect(Course(course), path, A)
    assert again.unknown == []
    assert there(course) == {
        f"kg06/{A}": content("kurt"),
        f"ada1815/{A}": content("team"),
        f"u9/{A}": content("team"),
    }
    assert times(course) == {"2026-01-12 12:00:00 UTC"}
    origin = Origins(Course(course)).find("kg06", A)
    assert origin is not None
    assert origin.number == "7"
    daily = collected(course, tmp_path, files)  # tomorrow, the same files again
    assert [name for name, _ in daily.unknown] == ["=cmd()|x/q2.ipynb"]
    newer = {"Kurt Gödel_7_assignsubmission_file_/q1.ipynb": content("newer")}  # from the number that was given
    assert collect.collect(Course(course), make_zip(tmp_path / "y.zip", newer, LATER), A).unknown == []


def test_a_list_that_cannot_be_taken_is_refused(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "list.csv"
    path.write_text("student,copy,file,received,reason\nkg06,0001_gone.ipynb,x,,\n")
    assert main(["collect", str(path), A, "--course", str(course)]) == 2
    assert "line 2: there is no file '0001_gone.ipynb' beside it" in capsys.readouterr().err
    path.write_text("a,b\n1,2\n")
    assert main(["collect", str(path), A, "--course", str(course)]) == 2
    assert "has no column of students" in capsys.readouterr().err
    (tmp_path / "0001_x.ipynb").write_bytes(content())
    path.write_text("student,copy,file,received,reason\nnobody,0001_x.ipynb,x,,\n")
    assert main(["collect", str(path), A, "--course", str(course)]) == 1
    assert "nobody is not in the roster" in capsys.readouterr().out


# --- rosters of Canvas, and lateness ------------------------------------------------------------------------------

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,\n"
    '"Lovelace, Ada",111,s1,ada,S\n"Gödel, Kurt",222,s2,,S\n"Thị Ánh, Nguyễn",333,,,S\n"Student, Test",999,,f00d,S\n'
)


def test_canvas_students_are_called_by_their_login(course: Path, tmp_path: Path) -> None:
    write_roster(course, CANVAS)
    assert [one.id for one in roster.load(course / "gradebook" / "students.csv")] == ["ada", "s2", "333"]
    files = {f"lovelaceada_111_900_{A}.ipynb": content("ada"), f"godelkurt_222_901_{A}.ipynb": content("kurt")}
    found = collected(course, tmp_path, files | {f"studenttest_999_902_{A}.ipynb": content("tried out")})
    assert (found.unknown, found.skipped) == ([], 1)
    assert set(there(course)) == {f"ada/{A}", f"s2/{A}"}
    assert found.missing == ["333"]


def test_an_old_class_of_canvas_keeps_its_numbers(course: Path, tmp_path: Path) -> None:
    write_roster(course, CANVAS)
    make_folder(course / "gradebook" / "submitted" / "111" / B, {f"{B}.ipynb": content()})
    collected(course, tmp_path, {f"lovelaceada_111_900_{A}.ipynb": content("ada")})
    assert set(there(course)) == {f"111/{A}", f"111/{B}"}
    assert [one.id for one in roster.load(course / "gradebook" / "students.csv")] == ["111", "222", "333"]


def test_who_is_late_stands_in_the_table(course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Course(course).gradebook() as book:
        book.update_or_create_assignment(A, duedate="2026-01-12 09:40 UTC")
        book.update_or_create_student("u9")
        book.update_or_create_submission(A, "u9")
        book.grant_extension(A, "u9", days=2)
    files = {f"kg06/{A}.ipynb": content(), f"u9/{A}.ipynb": content()}
    assert main(["collect", str(make_zip(tmp_path / "x.zip", files)), "--course", str(course)]) == 0
    output = capsys.readouterr().out
    kurt, mueller = (line for line in output.splitlines() if A in line)
    assert kurt.endswith("new; late by 2 h 20 min")
    assert mueller.endswith("new")
    assert "1 late, 0 not known" in output


def test_equal_files_of_several_people_are_each_in_the_list(course: Path, tmp_path: Path) -> None:
    found = collected(course, tmp_path, {f"{who}/{A}.ipynb": b"" for who in ("kg06", "u9", "u10")})
    rows = roster.read_table(Path(found.unknown_folder) / "list.csv", ["student"], "students").rows
    assert sorted(row["student"] for _, row in rows) == ["kg06", "u10", "u9"]
