"""Times that a person types: each means one moment, or is refused in a sentence that says what to write."""

import datetime
import time
from collections.abc import Iterator

import pytest

from grading.folder.errors import CourseError
from grading.folder.times import read_time, shown


@pytest.fixture(autouse=True)
def berlin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()


@pytest.fixture(autouse=True, scope="module")
def put_back() -> Iterator[None]:
    yield
    time.tzset()  # the zone of this machine is there again


@pytest.mark.parametrize(("text", "utc"), [
    ("2026-01-12 18:00", "2026-01-12 17:00"),
    ("2026-07-12 18:00", "2026-07-12 16:00"),
    ("2026-01-12T18:00", "2026-01-12 17:00"),
    ("2026-01-12t18:00:30z", "2026-01-12 18:00:30"),
    ("  2026-01-12   9:05 ", "2026-01-12 08:05"),
    ("2026-01-12 17:30 +0100", "2026-01-12 16:30"),
    ("2026-01-12 17:30 +01:00", "2026-01-12 16:30"),
    ("2026-01-12 17:30+01", "2026-01-12 16:30"),
    ("2026-01-12 17:30 -0500", "2026-01-12 22:30"),
    ("2026-01-12 17:30 −05:00", "2026-01-12 22:30"),
    ("2026-01-12T17:30:00+0545", "2026-01-12 11:45"),
    ("2026-01-12 17:30 Z", "2026-01-12 17:30"),
    ("2026-01-12 17:30 UTC", "2026-01-12 17:30"),
    ("2026-01-12 17:30 Europe/Berlin", "2026-01-12 16:30"),
    ("2026-07-12 17:30 europe/berlin", "2026-07-12 15:30"),
    ("2026-01-12 17:30 America/Argentina/Buenos Aires", "2026-01-12 20:30"),
    ("2026-10-25 02:30 +02:00", "2026-10-25 00:30"),
    ("2026-10-25 02:30 +01:00", "2026-10-25 01:30"),
    ("2026-03-29 02:30 Asia/Tokyo", "2026-03-28 17:30"),
])  # fmt: skip
def test_what_is_read(text: str, utc: str) -> None:
    wanted = datetime.datetime.fromisoformat(utc).replace(tzinfo=datetime.timezone.utc)
    assert read_time(text) == wanted


@pytest.mark.parametrize(("text", "told"), [
    ("2026-01-12 17:30 CEST", "'CEST' in .* is no time zone that means one thing everywhere; expected a place"),
    ("2026-01-12 17:30 CET", "'CET' in"),
    ("2026-01-12 17:30 PST", "'PST' in"),
    ("2026-01-12 5:30 pm", "'pm' in"),
    ("2026-01-12 17:30 Europe/Berln", r"Perhaps Europe/Berlin is meant\."),
    ("2026-01-12 17:30 ../../etc/passwd", "is no time zone"),
    ("2026-01-12 17:30 +25:00", "is no time"),
    ("2026-01-12 17:30 +01:75", "is no time"),
    ("12.01.2026", "is no time; expected year, month, day and time of day: '2026-01-12 18:00'"),
    ("12.01.2026 18:00", "is no time; expected year, month, day"),
    ("01/12/2026 18:00", "is no time"),
    ("2026-01-12", "expected year, month, day and time of day"),
    ("18:00", "is no time"),
    ("", "is no time"),
    ("tomorrow", "is no time"),
    ("2026-02-30 18:00", "is no time .*day"),
    ("2026-01-12 24:00", "is no time .*hour"),
    ("0001-01-01 00:00 +14:00", "is no time"),
    ("2026-03-29 02:30", "in the time zone of this machine does not exist: the clocks go forward over it"),
    ("2026-03-29 02:30 Europe/Paris", "does not exist"),
    ("2026-10-25 02:30", r"exists twice, .* write '2026-10-25 02:30 \+02:00' or '2026-10-25 02:30 \+01:00'"),
    ("2026-11-01 01:30 America/New_York", r"'2026-11-01 01:30 -04:00' or '2026-11-01 01:30 -05:00'"),
])  # fmt: skip
def test_what_is_refused(text: str, told: str) -> None:
    with pytest.raises(CourseError, match=told) as problem:
        read_time(text)
    assert "\n" not in str(problem.value)


def test_a_time_is_shown_here_and_in_utc() -> None:
    moment = datetime.datetime(2026, 7, 12, 16)
    assert shown(moment) == "2026-07-12 18:00 +02:00 here, 2026-07-12 16:00 UTC"
    assert shown(moment.replace(second=5)).endswith("16:00:05 UTC")
