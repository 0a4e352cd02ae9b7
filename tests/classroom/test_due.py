"""Due dates and extensions by command: what is typed, what the gradebook holds, what is said."""

import datetime
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grading.__main__ import main
from grading.classroom import demo, export
from grading.folder.course import Course

A = demo.ASSIGNMENT
ROSTER = "id,first_name,last_name,email\nada1815,Ada,Lovelace,ada@example.org\nbob,Bob,Brown,bob@example.org\n"


@pytest.fixture(autouse=True, scope="module")
def put_back() -> Iterator[None]:
    yield
    time.tzset()  # the zone of this machine is there again


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """A class of which nothing is graded yet; its machine is in Berlin."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    demo.make(tmp_path)
    made = Course(tmp_path)
    shutil.rmtree(made.submissions)
    made.roster.write_text(ROSTER, encoding="utf-8")
    return made


def said(course: Course, capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> str:
    capsys.readouterr()
    assert main([*words, "--course", str(course.root)]) == status
    told = capsys.readouterr()
    return told.err if status else told.out


def held(course: Course) -> tuple[datetime.datetime | None, dict[str, datetime.timedelta]]:
    with course.gradebook() as book:
        found = book.find_assignment(A)
        return found.duedate, {one.student_id: one.extension for one in found.submissions if one.extension}


def test_a_due_date_is_set_shown_and_taken_away(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    assert "has no due date: nothing is late" in said(course, capsys, "due", A)
    for typed in (
        "2026-01-12 17:30 +0100",
        "2026-01-12 17:30",
        "2026-01-12T16:30Z",
        "2026-01-12 11:30 America/New_York",
    ):
        shown = said(course, capsys, "due", A, typed)
        assert f"{A} is due 2026-01-12 17:30 +01:00 here, 2026-01-12 16:30 UTC" in shown
        assert held(course) == (datetime.datetime(2026, 1, 12, 16, 30), {})
    assert "is due 2026-01-12 17:30 +01:00" in said(course, capsys, "due", A)
    assert "no time zone" in said(course, capsys, "due", A, "2026-07-12 18:00 CEST", status=2)
    assert "has no due date" in said(course, capsys, "due", A, "--remove")
    assert held(course) == (None, {})
    assert "not both" in said(course, capsys, "due", A, "2026-01-12 17:30", "--remove", status=2)


def test_an_extension_is_given_shown_and_taken_away(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    to = ("--to", "2026-01-14 18:00")
    assert "has no due date to extend" in said(course, capsys, "extend", A, "bob", *to, status=2)
    said(course, capsys, "due", A, "2026-01-12 18:00")
    shown = said(course, capsys, "extend", A, "ada1815", "--days", "2")
    assert "ada1815 has 2 days more, until 2026-01-14 18:00 +01:00 here, 2026-01-14 17:00 UTC" in shown
    said(course, capsys, "extend", A, "bob", *to)
    two = datetime.timedelta(days=2)
    assert held(course)[1] == {"ada1815": two, "bob": two}
    shown = said(course, capsys, "extend", A)
    assert shown.index("ada1815") < shown.index("bob")
    assert "ada1815" not in said(course, capsys, "extend", A, "bob")
    said(course, capsys, "extend", A, "bob", "--days", "0.5")  # takes the other one's place
    assert held(course)[1]["bob"] == datetime.timedelta(hours=12)
    assert "bob has no extension" in said(course, capsys, "extend", A, "bob", "--remove")
    assert held(course)[1] == {"ada1815": two}
    assert export.marks(course)[0] == []  # nobody has handed in


@pytest.mark.parametrize(("words", "told"), [
    (["eve", "--days", "2"], "nobody is called 'eve'; expected an id of"),
    (["ada", "--days", "2"], "Is ada1815 meant?"),
    (["bob@example.org", "--days", "2"], "Is bob meant?"),
    (["bob", "--days", "-1"], "--days -1 is no extension; expected more than 0"),
    (["bob", "--days", "nan"], "--days nan is no extension"),
    (["bob", "--days", "1e9"], "at most 3660"),
    (["bob", "--to", "2026-01-12 18:00"], "is no extension: 01_causal_mask is due"),
    (["bob", "--to", "14.01.2026"], "is no time"),
    (["bob", "--days", "1", "--remove"], "give one of --days, --to and --remove"),
    (["--days", "1"], "whose extension?"),
])  # fmt: skip
def test_what_is_no_extension_is_refused(
    course: Course, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    said(course, capsys, "due", A, "2026-01-12 18:00")
    assert told in said(course, capsys, "extend", A, *words, status=2)
    assert held(course)[1] == {}


def test_other_names_are_refused(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no assignment is called '99'" in said(course, capsys, "due", "99", "2026-01-12 18:00", status=2)
    assert main(["due", A, "--course", "/nope"]) == 2
    assert "there is no folder /nope" in capsys.readouterr().err
