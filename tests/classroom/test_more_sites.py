"""Gradescope, Microsoft Teams, groups, and numbers that a spreadsheet has shortened."""

from pathlib import Path

import pytest

from grading.classroom import collect
from grading.classroom.collect import Collected
from grading.folder.course import Course
from grading.folder.errors import CourseError
from tests.classroom.delivered import A, content, make_zip, there, write_roster

ROSTER = "id,first_name,last_name,email\n" + "".join(
    f"{line}\n"
    for line in (
        "ada,Ada,Lovelace,ada@x.org",
        "kg06,Kurt,Gödel,k@x.org",
        "zoe,Honest,Zoe,z@x.org",
        "12345,Bob,Builder,b@x.org",
    )
)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    made = tmp_path / "course"
    write_roster(made, ROSTER)
    return made


def collected(course: Path, files: dict[str, bytes]) -> Collected:
    return collect.collect(Course(course), make_zip(course.parent / "x.zip", files), A)


def entry(number: int, *submitters: tuple[str, str, str], more: str = "") -> str:
    lines = [f"submission_{number}:", "  :submitters:"]
    for name, sid, mail in submitters:
        lines += [f"  - :name: {name}", f"    :sid: {sid}", f"    :email: {mail}"]
    return "\n".join([*lines, "  :created_at: 2026-01-12 12:00:00.000000000 Z", "  :score: 0.0", more, ""])


ADA, KURT = ("Ada Lovelace", "ada", "ada@x.org"), ("Kurt Gödel", "'kg06'", "k@x.org")


@pytest.mark.parametrize("top", ["", "assignment_77_export/"])
@pytest.mark.parametrize("with_roster", [True, False])
def test_gradescope(course: Path, tmp_path: Path, top: str, with_roster: bool) -> None:
    where = course if with_roster else tmp_path / "other"
    metadata = (
        "---\n"
        + entry(1, ADA, more="  :results: !ruby/object:X\n    :output: |\n      :email: z@x.org")
        + entry(2, KURT)
    )
    files = {
        f"{top}submission_metadata.yml": metadata.encode(),
        f"{top}submission_1/{A}.ipynb": content("ada"),
        f"{top}submission_2/deep/hw.ipynb": content("kurt"),
        f"{top}submission_3/{A}.ipynb": content("nobody's"),
    }
    found = collected(where, files)
    assert there(where)[f"ada/{A}"] == content("ada")
    assert there(where)[f"kg06/{A}"] == content("kurt")
    assert [name for name, _ in found.unknown if name.endswith(".ipynb")] == (
        [f"{top}submission_3/{A}.ipynb"] if with_roster else []
    )


def test_gradescope_finds_people_by_address_or_name_and_groups(course: Path) -> None:
    files = {
        "submission_metadata.yml": (
            entry(1, ("A. L.", '""', "ada@x.org"), KURT)
            + entry(2, ("Honest Zoe", '""', '""'))
            + entry(3, ("Z", "77", "q@x.org"))
        ).encode(),
        **{f"submission_{number}/hw.ipynb": content(str(number)) for number in (1, 2, 3)},
    }
    found = collected(course, files)
    wanted = {"ada": "1", "kg06": "1", "zoe": "2"}
    assert there(course) == {f"{student}/{A}": content(word) for student, word in wanted.items()}
    assert len(found.unknown) == 1


@pytest.mark.parametrize(
    "metadata",
    [
        entry(1, ("Zoe\\n", "ada", "z@x.org")),  # two people
        entry(1, ("x", "*anchor", "z@x.org")),
        "submission_1: &a [*a]\n",
        "submission_1:\n  :submitters: 7\n",
        "[" * 50_000,
        "submission_1:\n  :submitters:\n  - !!python/object/apply:os.system ['touch /tmp/never']\n",
        "\0",
        "",
    ],
)
def test_a_list_of_submitters_that_says_nothing_clear_gives_nobody(course: Path, metadata: str) -> None:
    collected(course, {"submission_metadata.yml": metadata.encode(), "submission_1/hw.ipynb": content()})
    assert there(course) == {}


@pytest.mark.parametrize("with_roster", [True, False])
@pytest.mark.parametrize("folder", ["", "kg06", "kg06/assignment_1_export", "Kurt Gödel_77_assignsubmission_file"])
def test_a_students_own_list_of_submitters_counts_for_nothing(
    course: Path, tmp_path: Path, folder: str, with_roster: bool
) -> None:
    where = course if with_roster else tmp_path / "other"
    files = {
        f"{folder}/submission_metadata.yml".strip("/"): entry(1, ("Honest Zoe", "zoe", "z@x.org")).encode(),
        f"{folder}/submission_1/hw.ipynb".strip("/"): content("mine"),
        "ada/hw.ipynb": content("hers"),
    }
    collected(where, files)
    assert f"zoe/{A}" not in there(where)


def test_of_microsoft_teams_the_submitted_files_count(course: Path) -> None:
    area = {"w": "Working files", "s": "Submitted files"}
    files = {
        f"{area['w']}/Ada Lovelace/01 Causal mask/Version 3/{A}.ipynb": content("working"),
        f"{area['s']}/Ada Lovelace/01 Causal mask/Version 2/{A}.ipynb": content("2"),
        f"{area['s']}/Ada Lovelace/01 Causal mask/Version 10/{A}.ipynb": content("10"),
        f"{area['s']}/Kurt Gödel/01 Causal mask/{A}.ipynb": content("kurt"),
        f"{area['w']}/Honest Zoe/01 Causal mask/{A}.ipynb": content("only begun"),
    }
    found = collected(course, files)
    assert found.unknown == []
    wanted = {"ada": "10", "kg06": "kurt", "zoe": "only begun"}
    assert there(course) == {f"{student}/{A}": content(word) for student, word in wanted.items()}
    again = {f"{area['s']}/Honest Zoe/01 Causal mask/{A}.ipynb": content("handed in")}
    assert collected(course, files | again).unknown == []
    done = make_zip(course.parent / "later.zip", again)
    assert collect.collect(Course(course), done, A).unknown == []


def test_a_folder_of_ones_own_is_no_area_of_teams(course: Path) -> None:
    files = {
        f"Ada Lovelace/Submitted files/Honest Zoe/{A}.ipynb": content("ada's"),
        f"Working files/Honest Zoe/{A}.ipynb": content("zoe's"),
    }
    collected(course, files)
    assert there(course).get(f"zoe/{A}") == content("zoe's")


@pytest.mark.parametrize("name", ["Group A", "group_a", "GroupA"])
@pytest.mark.parametrize(
    "form", ["{}_88_assignsubmission_file/hw.ipynb", "{}/hw.ipynb", f"{{}}_{A}.ipynb", "canvas", "x/{}/hw.ipynb"]
)
@pytest.mark.parametrize("separator", [",", ";"])
def test_a_group_hands_in_for_all_of_its_members(course: Path, name: str, form: str, separator: str) -> None:
    (course / "gradebook" / "groups.csv").write_text(
        f"name{separator}ids\nGroup A{separator}ada kg06\n", encoding="utf-8-sig"
    )
    path = "groupa_88_99_hw.ipynb" if form == "canvas" else form.format(name)
    found = collected(course, {path: content("ours"), "Honest Zoe/hw.ipynb": content("zoe's")})
    assert found.unknown == []
    wanted = {"ada": "ours", "kg06": "ours", "zoe": "zoe's"}
    assert there(course) == {f"{student}/{A}": content(word) for student, word in wanted.items()}


def test_a_group_of_a_students_own_is_none(course: Path) -> None:
    (course / "gradebook" / "groups.csv").write_text("name,ids\nGroup A,ada kg06\n")
    collected(course, {"Honest Zoe/Group A/hw.ipynb": content("zoe's")})
    assert there(course) in ({f"zoe/{A}": content("zoe's")}, {})
    both = {"Group A/hw.ipynb": content("ours"), "Ada Lovelace/hw.ipynb": content("mine")}
    found = collected(course, both)  # both lead to ada
    assert f"ada/{A}" not in there(course)
    assert there(course)[f"kg06/{A}"] == content("ours")
    assert len(found.unknown) == 2


def test_a_groups_work_of_another_persons_folder_is_set_aside(course: Path) -> None:
    (course / "gradebook" / "groups.csv").write_text("name,ids\nGroup A,ada kg06\n")
    collected(course, {f"Group A/Honest Zoe_77_assignsubmission_file/{A}.ipynb": content()})
    assert there(course) == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,members\nA,ada\n", "no column of ids"),
        ("name,ids\nA,ada nobody\n", "'nobody' is not in the list of students"),
        ("name,ids\nA,\n", "line 2: expected the name of a group and the ids"),
        ("name,ids\nA 1,ada\nA-1,kg06\n", "line 3: 'A-1' is the name of another group"),
        ("name,ids\nHonest Zoe,ada kg06\n", "'Honest Zoe' is the name of another group or a person"),
    ],
)
def test_groups_that_are_none_are_reported(course: Path, text: str, message: str) -> None:
    (course / "gradebook" / "groups.csv").write_text(text)
    with pytest.raises(CourseError, match=message):
        collected(course, {"x.ipynb": content()})


@pytest.mark.parametrize("name", ["00012345/hw.ipynb", "x_00012345_y.ipynb", "0012345_file1_submission1"])
def test_a_number_that_a_spreadsheet_has_shortened_is_said_and_not_guessed(course: Path, name: str) -> None:
    found = collected(course, {name: content()})
    assert there(course) == {}
    assert len(found.unknown) == 1
    assert "and the list of students 12345: a spreadsheet drops zeros" in found.notes[0]
    assert collected(course, {"12345/hw.ipynb": content(), "007/x.ipynb": content("7")}).notes == []
