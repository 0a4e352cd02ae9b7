"""Collecting: what Moodle, Canvas and folders deliver arrives whole, under the right student; nothing harmful does."""

import codecs
import datetime
import io
import json
import os
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from grading.__main__ import main
from grading.autograder import reporting
from grading.classroom import collect, deliveries, demo, placing, roster
from grading.classroom.collect import Collected
from grading.classroom.demo_class import FOLDER
from grading.folder.course import Course
from grading.folder.errors import CourseError
from grading.folder.times import read_time
from tests.classroom.delivered import NOON, UTC, A, B, content, make_folder, make_zip, there, times, write_roster


@pytest.fixture
def course(tmp_path: Path) -> Path:
    made = tmp_path / "course"
    made.mkdir()
    return made


# --- the three ways ---------------------------------------------------------------------------------------------------

NBGRADER_ROSTER = (
    "id,first_name,last_name,email,lms_user_id\nada,Ada,Lovelace,ada@x.org,111\nrene,René,Descartes,r@x.org,\n"
)


@pytest.mark.parametrize("packed", [True, False])
def test_moodle(course: Path, tmp_path: Path, packed: bool) -> None:
    write_roster(course, NBGRADER_ROSTER)
    files = {
        f"Ada Lovelace_111_assignsubmission_file_/{A}.ipynb": content("ada"),
        "Ada Lovelace_111_assignsubmission_onlinetext_/onlinetext.html": b"<p>hello</p>",
        f"René Descartes_222_assignsubmission_file_/{A} (1).ipynb": content("rené"),
        f"Zoe Nobody_333_assignsubmission_file_/{A}.ipynb": content("zoe"),
    }
    path = make_zip(tmp_path / "m.zip", files) if packed else make_folder(tmp_path / "m", files)
    found = collect.collect(Course(course), path)
    assert there(course) == {f"ada/{A}": content("ada"), f"rene/{A}": content("rené")}
    assert times(course) == {"2026-01-12 12:00:00 UTC"}
    assert dict(found.unknown) == {
        f"Zoe Nobody_333_assignsubmission_file_/{A}.ipynb": "Zoe Nobody (333) is not in the roster",
    }
    assert found.extra == 1  # the text of somebody whose notebook is there
    kept = sorted(Path(found.unknown_folder).iterdir())
    assert [p.name for p in kept] == [f"0001_{A}.ipynb", "list.csv"]
    assert kept[0].read_bytes() == content("zoe")
    assert "Zoe Nobody (333) is not in the roster" in kept[1].read_text()
    again = collect.collect(Course(course), path)  # tomorrow
    assert len(again.unknown) == 1
    assert list((course / "gradebook" / "unknown").iterdir()) == [Path(found.unknown_folder)]


def test_moodle_without_folders_and_within_the_courses_folder(course: Path, tmp_path: Path) -> None:
    write_roster(course, NBGRADER_ROSTER)
    files = {
        f"Course-Exercise 1-99/Ada Lovelace_111_assignsubmission_file_{A}.ipynb": content("ada"),
        "Course-Exercise 1-99/Descartes René_4_assignsubmission_file/work.ipynb": content("rené"),
    }
    found = collect.collect(Course(course), make_zip(tmp_path / "m.zip", files), A)
    assert set(there(course)) == {f"ada/{A}", f"rene/{A}"}
    assert found.unknown == []


def test_blind_marking_is_recognised_by_the_participants_number(course: Path, tmp_path: Path) -> None:
    write_roster(course, "Identifier,Full name,ID number,Email address\nParticipant 42,Ada Lovelace,s42,ada@x.org\n")
    files = {f"Participant 42_42_assignsubmission_file_/{A}.ipynb": content()}
    collect.collect(Course(course), make_zip(tmp_path / "m.zip", files))
    assert set(there(course)) == {f"s42/{A}"}


@pytest.mark.parametrize("with_roster", [True, False])
def test_canvas(course: Path, tmp_path: Path, with_roster: bool) -> None:
    if with_roster:
        rows = '    Points Possible,,,,\n"Lovelace, Ada",111,,ada,S1\n"De La Cruz, Ana María",222,,ana,S1\n'
        write_roster(course, "Student,ID,SIS User ID,SIS Login ID,Section\n" + rows)
    files = {
        f"lovelaceada_111_900_{A}.ipynb": content("first"),
        f"lovelaceada_LATE_111_901_{A}-1.ipynb": content("second"),
        f"delacruzanamaria_222_902_{A}-2.ipynb": content("ana"),
        "delacruzanamaria_222_903_notes.txt": b"notes",
    }
    found = collect.collect(Course(course), make_zip(tmp_path / "submissions.zip", files))
    ids = ("ada", "ana") if with_roster else ("lovelaceada", "delacruzanamaria")
    assert there(course) == {f"{ids[0]}/{A}": content("second"), f"{ids[1]}/{A}": content("ana")}
    older = list((course / "gradebook" / "older" / ids[0] / A).glob("*/*.ipynb"))
    assert [path.read_bytes() for path in older] == [content("first")]
    assert (found.unknown, found.extra) == ([], 1)


def test_plain_names(course: Path, tmp_path: Path) -> None:
    files = {
        f"ada/{A}/homework.ipynb": content("1"),
        f"blaise/{A}.ipynb": content("2"),
        f"chloe_{A}.ipynb": content("3"),
        f"deep/er/denis/{B}/x.ipynb": content("4"),
        "__MACOSX/ada/._x.ipynb": b"junk",
        "ada/.DS_Store": b"junk",
    }
    found = collect.collect(Course(course), make_folder(tmp_path / "plain", files))
    assert set(there(course)) == {f"ada/{A}", f"blaise/{A}", f"chloe/{A}", f"denis/{B}"}
    assert found.unknown == []
    named = collect.collect(Course(course), make_folder(tmp_path / "named", {"émile.ipynb": content("5")}), A)
    assert named.placed == [("émile", A, "2026-01-12 12:00:00 UTC", "new")]


def test_the_assignment_is_recognised_by_the_cells_too(course: Path, tmp_path: Path, repository: Path) -> None:
    released = (repository / "notebooks" / A / f"{A}.ipynb").read_bytes()
    found = collect.collect(
        Course(course), make_folder(tmp_path / "p", {"ada/homework.ipynb": released, "bob/x.ipynb": content()})
    )
    assert set(there(course)) == {f"ada/{A}"}
    assert "for no assignment that can be told" in found.unknown[0][1]


def test_one_file_and_another_assignment(course: Path, tmp_path: Path) -> None:
    path = make_folder(tmp_path / "p", {f"ada_{B}.ipynb": content()}) / f"ada_{B}.ipynb"
    found = collect.collect(Course(course), path, A)
    assert f"is for {B}, not for {A}" in found.unknown[0][1]
    assert collect.collect(Course(course), path).placed[0][:2] == ("ada", B)


# --- newer, older, the same -------------------------------------------------------------------------------------------


def test_newer_replaces_older_and_older_is_kept_aside(course: Path, tmp_path: Path) -> None:
    hour = datetime.timedelta(hours=1)
    done = []
    for name, time in (("b", NOON), ("b", NOON + hour), ("c", NOON + hour), ("a", NOON - hour), ("a", NOON - hour)):
        path = make_zip(tmp_path / "x.zip", {f"ada_{A}.ipynb": content(name)}, time)
        done += [entry[3] for entry in collect.collect(Course(course), path).placed]
    assert done == ["new", "unchanged", "replaces an older one", *["older than the one there; kept aside"] * 2]
    assert there(course) == {f"ada/{A}": content("c")}
    assert times(course) == {"2026-01-12 13:00:00 UTC"}
    older = sorted(path.read_bytes() for path in (course / "gradebook" / "older").glob("*/*/*/*.ipynb"))
    assert older == [content("a"), content("b")]


@pytest.mark.parametrize("time", ["2026-01-12 12:00:00.123456 UTC", "2026-01-12T13:00:00+01:00", "2026-01-12 12:00Z"])
def test_the_time_there_is_read(course: Path, tmp_path: Path, time: str) -> None:
    folder = course / "gradebook" / "submitted" / "ada" / A
    make_folder(folder, {f"{A}.ipynb": content("old"), "timestamp.txt": time.encode()}, NOON + datetime.timedelta(9))
    newer = make_zip(tmp_path / "x.zip", {f"ada_{A}.ipynb": content("new")}, NOON + datetime.timedelta(1))
    assert collect.collect(Course(course), newer).placed[0][3] == "replaces an older one"
    assert there(course) == {f"ada/{A}": content("new")}


def test_the_time_is_the_collectors(course: Path, tmp_path: Path) -> None:
    files = {f"ada/{A}/{A}.ipynb": content(), f"ada/{A}/timestamp.txt": b"2020-01-01 00:00:00 UTC"}
    collect.collect(Course(course), make_folder(tmp_path / "p", files), time=read_time("2026-02-03T10:00+01:00"))
    assert times(course) == {"2026-02-03 09:00:00 UTC"}


def test_times_in_the_future_become_now_and_missing_ones_those_of_the_zip(course: Path, tmp_path: Path) -> None:
    late = datetime.datetime(2035, 1, 1, tzinfo=UTC)
    collect.collect(Course(course), make_zip(tmp_path / "x.zip", {f"ada_{A}.ipynb": content()}, late))
    time = datetime.datetime.strptime(times(course).pop(), "%Y-%m-%d %H:%M:%S UTC").replace(tzinfo=UTC)
    assert abs(datetime.datetime.now(UTC) - time) < datetime.timedelta(minutes=5)
    path = tmp_path / "none.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo(f"bob_{A}.ipynb"), content())  # 1980, which means: no time
    os.utime(path, (NOON.timestamp(), NOON.timestamp()))
    collect.collect(Course(course), path)
    assert "2026-01-12 12:00:00 UTC" in times(course)


# --- what is refused --------------------------------------------------------------------------------------------------


def test_links_and_special_files_in_folders(course: Path, tmp_path: Path) -> None:
    outside = make_folder(tmp_path / "outside", {"secret.ipynb": content("secret")})
    folder = make_folder(tmp_path / "p", {f"ada/{A}.ipynb": content("ada")})
    (folder / "bob").mkdir()
    os.symlink(outside / "secret.ipynb", folder / "bob" / f"{A}.ipynb")
    os.symlink(outside, folder / "carl")
    os.mkfifo(folder / "bob" / "pipe.ipynb")
    found = collect.collect(Course(course), folder)
    assert set(there(course)) == {f"ada/{A}"}
    assert dict(found.refused) == {
        f"bob/{A}.ipynb": "is a link; ask for the file itself",
        "carl": "is a link; ask for the files themselves",
        "bob/pipe.ipynb": "is no ordinary file",
    }


def test_links_and_paths_that_lead_outside_in_zips(course: Path, tmp_path: Path) -> None:
    path = make_zip(tmp_path / "x.zip", {f"ada_{A}.ipynb": content()})
    with zipfile.ZipFile(path, "a") as archive:
        link = zipfile.ZipInfo(f"bob_{A}.ipynb")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        for name in (f"../../evil_{A}.ipynb", f"/abs_{A}.ipynb", f"C:\\x_{A}.ipynb", f"a\\..\\..\\b_{A}.ipynb"):
            archive.writestr(name, content("evil"))
    before = sorted(tmp_path.iterdir())
    found = collect.collect(Course(course), path)
    assert set(there(course)) == {f"ada/{A}"}
    assert [reason for _, reason in found.refused] == [
        "is a link; ask for the file itself",
        *["leads outside the archive"] * 4,
    ]
    assert sorted(tmp_path.iterdir()) == before


def test_students_names_never_become_paths(course: Path, tmp_path: Path) -> None:
    files = {
        f"..._{A}.ipynb": content(),
        f"-x_{A}.ipynb": content(),
        f".._{A}.ipynb": content(),
        f"a*b/{A}.ipynb": content(),
    }
    found = collect.collect(Course(course), make_folder(tmp_path / "p", files))
    assert there(course) == {}
    assert len(found.unknown) == 4
    assert "'a*b' cannot be a student's id" in dict(found.unknown)[f"a*b/{A}.ipynb"]


def test_bombs(course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_zip(tmp_path / "ratio.zip", {f"ada_{A}.ipynb": b" " * (8 << 20), f"bob_{A}.ipynb": content()})
    found = collect.collect(Course(course), path)
    (bomb,) = found.refused
    assert bomb[0] == f"ada_{A}.ipynb"
    assert bomb[1].startswith("unpacks to more than 200 times its size")
    assert set(there(course)) == {f"bob/{A}"}
    monkeypatch.setattr(deliveries, "MAX_FILE", 1000)
    found = collect.collect(Course(course), make_zip(tmp_path / "large.zip", {f"ada_{A}.ipynb": os.urandom(2000)}))
    assert "more than" in found.refused[0][1]
    monkeypatch.setattr(deliveries, "MAX_FILES", 3)
    many = make_zip(tmp_path / "many.zip", {f"s{n}_{A}.ipynb": content() for n in range(4)})
    with pytest.raises(CourseError, match="more than 3 files"):
        collect.collect(Course(course), many)
    with pytest.raises(CourseError, match="more than 3 files"):
        collect.collect(Course(course), make_folder(tmp_path / "f", {f"s{n}_{A}.ipynb": content() for n in range(4)}))
    monkeypatch.setattr(deliveries, "MAX_TOTAL", 100)
    with pytest.raises(CourseError, match="Nothing was collected"):
        collect.collect(Course(course), make_zip(tmp_path / "total.zip", {f"s_{A}.ipynb": b"x" * 200}))
    assert set(there(course)) == {f"bob/{A}"}


def test_a_list_of_entries_that_is_too_long_is_refused_before_it_is_read(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_zip(tmp_path / "x.zip", {f"s{n}_{A}.ipynb": content() for n in range(40)})
    monkeypatch.setattr(deliveries, "MAX_FILES", 30)
    monkeypatch.setattr(zipfile, "ZipFile", lambda *_: pytest.fail("the list was read"))
    with pytest.raises(CourseError, match="more than 30 files"):
        collect.collect(Course(course), path)


def test_an_entry_that_lies_about_its_size_is_not_taken(course: Path, tmp_path: Path) -> None:
    path = make_zip(tmp_path / "x.zip", {f"ada_{A}.ipynb": content("x" * 500), f"bob_{A}.ipynb": content()})
    data = bytearray(path.read_bytes())
    place = data.index(b"PK\1\2")  # ada's line of the list: its size lies 24 bytes on
    struct.pack_into("<I", data, place + 24, 10)
    path.write_bytes(data)
    found = collect.collect(Course(course), path)
    assert f"ada/{A}" not in there(course)
    assert found.refused[0][0] == f"ada_{A}.ipynb"
    assert "damaged inside the archive" in found.refused[0][1]


def test_damage_and_passwords_cost_their_own_file_only(course: Path, tmp_path: Path) -> None:
    path = make_zip(tmp_path / "x.zip", {f"ada_{A}.ipynb": content("ada" * 50), f"bob_{A}.ipynb": content()})
    data = bytearray(path.read_bytes())
    start = data.index(b"PK\3\4") + 30 + len(f"ada_{A}.ipynb") + 9
    data[start + 20 : start + 30] = b"\xff" * 10
    second = data.index(b"PK\1\2", data.index(b"PK\1\2") + 4)
    data[second + 8] |= 1  # bob's entry says that it is encrypted
    path.write_bytes(data)
    found = collect.collect(Course(course), path)
    assert there(course) == {}
    reasons = dict(found.refused)
    assert "is damaged inside the archive" in reasons[f"ada_{A}.ipynb"]
    assert reasons[f"bob_{A}.ipynb"] == "is encrypted; ask for it without a password"


def test_what_is_no_delivery_is_reported(course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CourseError, match="there is no"):
        collect.collect(Course(course), tmp_path / "none")
    (tmp_path / "x.txt").write_text("x")
    with pytest.raises(CourseError, match="neither a folder nor a zip file"):
        collect.collect(Course(course), tmp_path / "x.txt")
    path = make_zip(tmp_path / "x.zip", {"a": b"x" * 1000})
    data = path.read_bytes()
    path.write_bytes(data[:20] + data[-30:])
    with pytest.raises(CourseError, match=r"damaged zip file|neither a folder nor"):
        collect.collect(Course(course), path)
    with pytest.raises(CourseError, match="no assignment is called '99_none'"):
        collect.collect(Course(course), tmp_path, "99_none")
    assert main(["collect", str(tmp_path), "--time", "noon", "--course", str(course)]) == 2
    assert "'noon' is no time" in capsys.readouterr().err


# --- names ------------------------------------------------------------------------------------------------------------


def test_two_people_of_one_name_are_never_mixed_up(course: Path, tmp_path: Path) -> None:
    files = {
        f"Ada Lovelace_1_assignsubmission_file_/{A}.ipynb": content("one"),
        f"Ada Lovelace_2_assignsubmission_file_/{A}.ipynb": content("two"),
    }
    found = collect.collect(Course(course), make_zip(tmp_path / "m.zip", files))
    assert there(course) == {}
    assert all("several people are called ada_lovelace" in reason for _, reason in found.unknown)
    write_roster(course, "id,first_name,last_name\na1,Ada,Lovelace\na2,Ada,Lovelace\n")
    found = collect.collect(Course(course), make_zip(tmp_path / "m.zip", files))
    assert all("fits several students of the roster: a1, a2" in reason for _, reason in found.unknown)
    write_roster(course, "id,first_name,last_name,lms_user_id\na1,Ada,Lovelace,1\na2,Ada,Lovelace,2\n")
    collect.collect(Course(course), make_zip(tmp_path / "m.zip", files))
    assert there(course) == {f"a1/{A}": content("one"), f"a2/{A}": content("two")}


def test_a_number_that_contradicts_the_name_is_not_believed(course: Path, tmp_path: Path) -> None:
    write_roster(course, "id,first_name,last_name,lms_user_id\nada,Ada,Lovelace,1\nbob,Bob,Brown,2\n")
    files = {f"Ada Lovelace_2_assignsubmission_file_/{A}.ipynb": content()}
    found = collect.collect(Course(course), make_zip(tmp_path / "m.zip", files))
    assert "fits several students of the roster: ada, bob" in found.unknown[0][1]


@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("id,first_name,last_name,email\nada,Ada,Lovelace,a@x.org\n", ("ada", "Ada", "Lovelace")),
        ("First name;Surname;ID number;Email address\nAda;Lovelace;s1;a@x.org\n", ("s1", "Ada", "Lovelace")),
        ('Student,ID,SIS Login ID\n"Lovelace, Ada",7,ada7\n', ("ada7", "Ada", "Lovelace")),
        ('Student,ID,SIS User ID\n"Lovelace, Ada",7,u7\n', ("u7", "Ada", "Lovelace")),
        ('Student,ID,SIS Login ID\n"Lovelace, Ada",7,\n', ("7", "Ada", "Lovelace")),
        ("OrgDefinedId,Last Name,First Name\n#ada7,Lovelace,Ada\n", ("ada7", "Ada", "Lovelace")),
        ("Email address,Full name\nada@x.org,Ada King Lovelace\n", ("ada@x.org", "", "Ada King Lovelace")),
        ("\ufeffusername\tName\nada\tAda Lovelace\n\n", ("ada", "Ada", "Lovelace")),
    ],
)
def test_rosters(tmp_path: Path, text: str, person: tuple[str, str, str]) -> None:
    path = tmp_path / "students.csv"
    path.write_text(text, encoding="utf-8")
    (found,) = roster.load(path)
    assert (found.id, found.first, found.last) == person
    assert roster.load(path).find(name="LOVELACE Ada King" if "King" in text else "lovelace ada") == {person[0]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no column of ids"),
        ("first,last\nAda,Lovelace\n", "no column of ids"),
        ("id\nada\nada\n", "line 3: the id 'ada' stands there twice"),
        ("id\n../evil\n", "cannot name a folder"),
        ('id\n"ada\n', "is not a CSV file"),
    ],
)
def test_rosters_that_are_none(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "students.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CourseError, match=message):
        roster.load(path)


EXCEL = "ID number;First name;Surname\r\ns1;René;Müller\r\ns2;Zoë;D’Arcy-Žižek\r\n;;\r\n"


@pytest.mark.parametrize("separator", [";", "\t", ","])
@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-be", "utf-8-sig", "utf-8"])
def test_rosters_as_excel_saves_them(tmp_path: Path, encoding: str, separator: str) -> None:
    mark = codecs.BOM_UTF16_BE if encoding == "utf-16-be" else b""
    path = tmp_path / "students.csv"
    path.write_bytes(mark + EXCEL.replace(";", separator).encode(encoding))
    found = roster.load(path)
    assert [(one.id, one.first, one.last) for one in found] == [("s1", "René", "Müller"), ("s2", "Zoë", "D’Arcy-Žižek")]
    assert found.find(name="Muller Rene") == {"s1"}
    assert found.western == (encoding == "cp1252")


@pytest.mark.parametrize(
    "text",
    [
        "sep=;\nid;name\nada;Ada Lovelace\n",
        "\n\nid,name\nada,Ada Lovelace\n",
        'name;"group, room, day";id\nAda Lovelace;"1, 2, Mo";ada\n',
        "name,id,01; 02; 03; 04; 05\nAda Lovelace,ada,\n",
        "id\tname\rada\tAda Lovelace\r",
    ],
)
def test_separators_are_recognised_by_the_titles(tmp_path: Path, text: str) -> None:
    path = tmp_path / "students.csv"
    path.write_text(text, encoding="utf-8", newline="")
    assert [(one.id, one.first, one.last) for one in roster.load(path)] == [("ada", "Ada", "Lovelace")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"PK\3\4 a workbook", "is an Excel workbook.*CSV UTF-8"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is an Excel workbook.*CSV UTF-8"),
        (b"id,name\nada,Ren\x8f\n", "is in no alphabet that can be told.*CSV UTF-8"),  # Mac: è
        ("id,name\nada,Michał Nowak\n".encode("cp1250"), "line 2: 'Micha³ Nowak' is no name.*CSV UTF-8"),
        ("id\nada\n".encode("utf-16") + b"\0", "is in no alphabet that can be told.*CSV UTF-8"),
        ("id\nada\n".encode("utf-16-le"), "is in no alphabet that can be told.*CSV UTF-8"),
        (b"id\n1.23457E+11\n", "line 2: the id '1.23457E.11' is what Excel makes of a long number.*Text"),
        (b"id;name\n1,23457E+11;Ada\n", "line 2: the id '1,23457E.11' is what Excel makes of a long number.*Text"),
    ],
)
def test_rosters_that_cannot_be_read_are_reported_with_the_way_out(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "students.csv"
    path.write_bytes(data)
    with pytest.raises(CourseError, match=message) as error:
        roster.load(path)
    assert "codec" not in str(error.value)


def test_a_guessed_alphabet_is_reported_with_a_name_to_look_at(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (course / "gradebook").mkdir()
    listed = "id;name\nada;Ada Lovelace\nrené;René Müller\n"
    (course / "gradebook" / "students.csv").write_bytes(listed.encode("cp1252"))
    path = make_zip(tmp_path / "x.zip", {f"rené_{A}.ipynb": content()})
    assert main(["collect", str(path), "--course", str(course)]) == 0
    assert "is not in UTF-8; it was read as Excel's Western European CSV (for example: René Müller)" in (
        capsys.readouterr().err
    )
    assert set(there(course)) == {f"rené/{A}"}


def test_names_stand_beside_ids(course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_roster(course, "id,name\nu17,Ada Lovelace\nu18,René\x1b[2J Descartes\nu19,\n")
    files = {f"u17_{A}.ipynb": content(), f"u19_{A}.ipynb": content()}
    assert main(["collect", str(make_zip(tmp_path / "x.zip", files)), "--course", str(course)]) == 0
    first, second, *rest = capsys.readouterr().out.splitlines()
    assert first.split("  ")[:3] == ["u17    ", "Ada Lovelace", A] or first.split()[:4] == ["u17", "Ada", "Lovelace", A]
    assert second.split()[:2] == ["u19", A]
    assert "nothing yet from: u18 (René\\x1b[2J Descartes)" in rest


def test_who_has_not_handed_in_is_reported(course: Path, tmp_path: Path) -> None:
    write_roster(course, "id\nada\nbob\n")
    found = collect.collect(Course(course), make_zip(tmp_path / "x.zip", {f"ada_{A}.ipynb": content()}))
    assert found.missing == ["bob"]


# --- nothing half-written ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", range(4))
def test_stopped_at_any_step_the_old_or_the_new_submission_is_there(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    collect.collect(Course(course), make_zip(tmp_path / "x.zip", {f"ada_{A}.ipynb": content("old")}))
    newer = make_zip(tmp_path / "x.zip", {f"ada_{A}.ipynb": content("new")}, NOON + datetime.timedelta(hours=1))
    real, calls = Path.rename, [0]

    def rename(self: Path, target: Path) -> Path:
        calls[0] += 1
        if calls[0] == step:
            raise KeyboardInterrupt
        return real(self, target)

    def write(path: Path, data: bytes, *, durable: bool) -> None:
        path.write_bytes(data[: len(data) // 2])
        raise KeyboardInterrupt

    if step:
        monkeypatch.setattr(Path, "rename", rename)
    else:
        monkeypatch.setattr(placing, "write_whole", write)
    with pytest.raises(KeyboardInterrupt):
        collect.collect(Course(course), newer)
    monkeypatch.undo()
    assert there(course)[f"ada/{A}"] in (content("old"), content("new"))
    assert not list((course / "gradebook" / "submitted").glob("*/.*"))
    collect.collect(Course(course), newer)
    assert there(course) == {f"ada/{A}": content("new")}
    assert times(course) == {"2026-01-12 13:00:00 UTC"}


def test_a_run_that_was_killed_is_finished_by_the_next(course: Path, tmp_path: Path) -> None:
    student = course / "gradebook" / "submitted" / "ada"
    make_folder(student / f".{A}.half", {f"{A}.ipynb": content("whole"), "timestamp.txt": b"2026-01-12 12:00:00 UTC"})
    make_folder(student / f".{B}.part", {f"{B}.ipynb": content("ha")})
    collect.collect(Course(course), make_zip(tmp_path / "x.zip", {f"bob_{A}.ipynb": content()}))
    assert there(course)[f"ada/{A}"] == content("whole")
    assert [path.name for path in student.iterdir()] == [A]


def moodle(name: str, number: int) -> str:
    return f"{name}_{number}_assignsubmission_file_/{A}.ipynb"


@pytest.mark.parametrize("name", ["Honest Zoe", "honest zoe", "HONEST ZOË"])
def test_a_later_delivery_under_anothers_name_replaces_nothing(course: Path, tmp_path: Path, name: str) -> None:
    first = make_zip(tmp_path / "first.zip", {moodle("Honest Zoe", 101): content("hers")})
    assert len(collect.collect(Course(course), first).placed) == 1
    before = there(course)
    second = make_zip(tmp_path / "second.zip", {moodle(name, 202): content("another's")})
    found = collect.collect(Course(course), second)
    assert {key: there(course)[key] for key in before} == before
    if found.unknown:
        ((_, reason),) = found.unknown
        assert "as number 101 of the site" in reason
        assert "from number 202" in reason
    else:  # to the course it is another name
        assert len(there(course)) == 2


def test_the_same_person_may_hand_in_again(course: Path, tmp_path: Path) -> None:
    for text in ("first", "second"):
        path = make_zip(tmp_path / f"{text}.zip", {moodle("Honest Zoe", 101): content(text)})
        assert collect.collect(Course(course), path).unknown == []
    folder = tmp_path / "by hand"
    make_folder(folder, {f"honest_zoe_{A}.ipynb": content("third")})
    assert collect.collect(Course(course), folder).unknown == []  # a file without a number says nothing against it


def test_the_number_of_a_student_is_remembered_with_a_roster_too(course: Path, tmp_path: Path) -> None:
    write_roster(course, NBGRADER_ROSTER)
    first = make_zip(tmp_path / "9.zip", {moodle("René Descartes", 9): content("his")})
    assert collect.collect(Course(course), first).unknown == []
    later = NOON + datetime.timedelta(hours=1)
    second = make_zip(tmp_path / "10.zip", {moodle("René Descartes", 10): content("of one who took the name")}, later)
    ((_, reason),) = collect.collect(Course(course), second).unknown
    assert "as number 9 of the site, and this is from number 10" in reason
    assert there(course) == {f"rene/{A}": content("his")}


def test_a_damaged_file_of_numbers_is_reported(course: Path, tmp_path: Path) -> None:
    path = make_zip(tmp_path / "x.zip", {moodle("Honest Zoe", 101): content()})
    collect.collect(Course(course), path)
    (course / "gradebook" / "site_numbers.json").write_text("{ half")
    with pytest.raises(CourseError, match="Delete it"):
        collect.collect(Course(course), path)


def test_two_collectors_do_not_meet(course: Path, tmp_path: Path) -> None:
    with (
        placing.only_collector(Course(course)),
        pytest.raises(CourseError, match="another run is collecting"),
    ):
        collect.collect(Course(course), make_zip(tmp_path / "x.zip", {f"ada_{A}.ipynb": content()}))


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command_line(course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = make_zip(tmp_path / "x.zip", {f"ada_{A}.ipynb": content(), "bob\x1b[31m.txt": b"x"})
    assert main(["collect", str(path), "--course", str(course)]) == 1
    output = capsys.readouterr().out
    assert f"ada      {A}  2026-01-12 12:00:00 UTC  new" in output
    assert r"bob\x1b[31m.txt: is no notebook" in output
    assert "\x1b" not in output
    assert "1 collected, 0 unchanged, 1 not known, 0 refused." in output
    good = make_zip(tmp_path / "y.zip", {f"ada_{A}.ipynb": content()})
    assert main(["collect", str(good), "--course", str(course), "--json"]) == 0
    assert Collected(**json.loads(capsys.readouterr().out)).placed[0][3] == "unchanged"
    assert main(["collect", str(tmp_path / "none"), "--course", str(course)]) == 2
    assert "there is no" in capsys.readouterr().err


def test_the_list_of_unknown_files_is_no_formula(course: Path, tmp_path: Path) -> None:
    found = collect.collect(Course(course), make_zip(tmp_path / "x.zip", {"=cmd()|x.txt": b"x"}))
    table = (Path(found.unknown_folder) / "list.csv").read_text()
    assert "'=cmd()|x.txt" in table
    assert io.StringIO(table).readline() == '"student","copy","file","received","reason"\n'


def test_the_rosters_names_are_in_nbgraders_gradebook(course: Path, tmp_path: Path) -> None:
    from nbgrader.api import Gradebook

    write_roster(course, NBGRADER_ROSTER)
    path = make_zip(tmp_path / "x.zip", {f"René Descartes_9_assignsubmission_file_/{A}.ipynb": content()})
    assert main(["collect", str(path), "--course", str(course)]) == 0
    with Gradebook(f"sqlite:///{course}/gradebook/gradebook.db", "transformers") as book:
        assert [(one.id, one.first_name, one.last_name) for one in book.students] == [("rene", "René", "Descartes")]


def test_the_demo_class_and_a_real_one_are_never_mixed(course: Path, tmp_path: Path) -> None:
    real = make_zip(tmp_path / "real.zip", {f"{who}_{A}.ipynb": content() for who in ("ada", "bob", "eve", "zoe")})
    invented = make_zip(tmp_path / "demo.zip", {f"{who}/{A}/{A}.ipynb": content() for who in ("ada_perfect", "bob")})
    with pytest.raises(
        CourseError, match=r"^ada_perfect would come out of the class of `make demo` into .*: nothing was"
    ):
        collect.collect(Course(course), invented)
    assert there(course) == {}
    collect.collect(Course(course), real)
    assert len(there(course)) == 4
    with pytest.raises(CourseError, match="holds a class that the demo has not made"):
        demo.make(course)

    demo.make(tmp_path / "demo")
    before = there(tmp_path / "demo")
    with pytest.raises(CourseError, match="holds the class of `make demo`, and ada, bob, eve and 1 more would join it"):
        collect.collect(Course(tmp_path / "demo"), real)
    assert there(tmp_path / "demo") == before
    delivery = tmp_path / "demo" / "gradebook" / "submitted"
    assert not collect.collect(Course(tmp_path / "demo"), delivery).refused  # its own
    with pytest.raises(CourseError, match="ada_perfect, blaise_half_done, chloe_empty and 3 more would come out of"):
        collect.collect(Course(course), delivery)


def test_the_demo_writes_nothing_into_the_folders_of_the_course(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert repository / "demo" == FOLDER
    ran: list[list[str]] = []
    monkeypatch.setattr(demo, "FOLDER", tmp_path / "demo")
    monkeypatch.setattr(demo, "_run", lambda words: ran.append(words) or reporting.SOME_WITHOUT_MARK)
    monkeypatch.setattr(Course, "name_students", lambda self, names: None)
    assert main(["demo"]) == 0
    rest = ["01_causal_mask", "--course", str(tmp_path / "demo")]
    assert ran == [["autograde", *rest], ["feedback", *rest]]
    assert sorted(path.name for path in (tmp_path / "demo").iterdir()) == [
        "gradebook",
        "nbgrader_config.py",
        "solutions",
    ]
    assert f"make formgrader COURSE={tmp_path / 'demo'}" in capsys.readouterr().out
    monkeypatch.setattr(demo, "_run", lambda words: ran.append(words) or 2)
    assert main(["demo", "--unsafe"]) == 2
    assert [words[:2] for words in ran[2:]] == [["autograde", "--unsafe"]]  # nothing follows what has failed
    assert main(["demo", "--folder", str(repository)]) == 2
    assert "the demo class has a course folder of its own" in capsys.readouterr().err
