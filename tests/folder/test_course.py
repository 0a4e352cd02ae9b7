"""The course folder and the small modules below all others."""

import datetime
import os
from pathlib import Path

import pytest

from grading.folder.course import Course, read_timestamp
from grading.notebooks.beside import why_no_time

UTC = datetime.timezone.utc


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2026-01-12 18:00:00 UTC", "18:00:00"),
        ("2026-01-12 18:00:00", "18:00:00"),
        ("2026-01-12 18:00", "18:00:00"),
        ("2026-01-12 18:00:00.123456", "18:00:00.123456"),
        ("2026-01-12 18:00:00.5 UTC", "18:00:00.500000"),
        ("2026-01-12", "00:00:00"),
        ("2026-01-12T18:00:00+01:00", "17:00:00"),
        ("2026-01-12T18:00:00,25+01", "17:00:00.250000"),
        ("2026-01-12 18:00:00Z", "18:00:00"),
        ("2026-01-12 18:00:00 +0100", "17:00:00"),
        ("2026-01-12 18:00:00 -0530", "23:30:00"),
        ("\ufeff2026-01-12 18:00:00 UTC\r\n", "18:00:00"),
    ],
)
def test_a_timestamp_is_a_time_of_iso_8601(tmp_path: Path, text: str, wanted: str) -> None:
    folder = tmp_path / "gradebook" / "submitted" / "ada" / "01_causal_mask"
    folder.mkdir(parents=True)
    (folder / "timestamp.txt").write_bytes(text.encode())
    time = datetime.datetime.fromisoformat(f"2026-01-12 {wanted}").replace(tzinfo=UTC)
    assert read_timestamp(folder) == time
    assert Course(tmp_path).received("ada", "01_causal_mask") == time
    assert why_no_time(folder) == ""


@pytest.mark.parametrize(
    "text",
    [
        *("", "no time", "9" * 30, "9" * 30 + "h", "2026-13-01 18:00:00 UTC", "\0", "2026-01-12 99:00:00 UTC"),
        # what nbgrader reads as the first of December, as another zone than the one that is named, or as UTC
        *("12.01.2026 18:00", "12/01/2026", "2026-01-12 18:00 CET", "2026-01-12 18:00:00 Europe/Berlin"),
        *("12 January 2026, 18:00", "2026-01-12 18:00 +99:99", "2026-01-12 18:00 +15:00", "2026-01-12 18:00 CEST"),
        *("2026-02-30 18:00", "0000-01-01 00:00", "0001-01-01 00:00 +01:00", "9999-12-31 23:59 -01:00"),
        *("٢٠٢٦-01-12 18:00", "2026-01-12 18:00\n2025-01-12 18:00", "2026-01-12 +01:00", "{{ time }}", "\x1b[2J"),
    ],
)
def test_what_is_no_time_gives_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "timestamp.txt").write_text(text)
    assert read_timestamp(tmp_path) is None
    assert "timestamp.txt holds" in why_no_time(tmp_path)
    assert "\x1b" not in why_no_time(tmp_path)


def test_a_timestamp_is_an_ordinary_file(tmp_path: Path) -> None:
    assert read_timestamp(tmp_path) is None
    (tmp_path / "elsewhere").write_text("2026-01-12 18:00:00 UTC")
    (tmp_path / "timestamp.txt").symlink_to(tmp_path / "elsewhere")
    assert read_timestamp(tmp_path) is None
    (tmp_path / "timestamp.txt").unlink()
    os.mkfifo(tmp_path / "timestamp.txt")
    assert read_timestamp(tmp_path) is None
