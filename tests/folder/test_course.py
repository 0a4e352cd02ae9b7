"""The course folder and the small modules below all others."""

import datetime
import os
from pathlib import Path

import pytest
from nbgrader.utils import parse_utc

from grading.folder.course import Course, read_timestamp

UTC = datetime.timezone.utc


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-12 18:00:00 UTC",
        "2026-01-12 18:00:00.123456 UTC",
        "2026-01-12 18:00:00",
        "2026-01-12 18:00:00.123456",
        "2026-01-12 18:00:00.5 UTC",
        "2026-01-12",
        "2026-01-12T18:00:00+01:00",
        "2026-01-12 18:00:00Z",
        "2026-01-12 18:00:00 CET",
        "2026-01-12 18:00:00.123456 Europe/Berlin",
        "2026-01-12 18:00:00 +0100",
        "12 January 2026, 18:00",
        "\ufeff2026-01-12 18:00:00 UTC\r\n",
    ],
)
def test_a_timestamp_is_read_as_nbgrader_reads_it(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "gradebook" / "submitted" / "ada" / "01_causal_mask"
    folder.mkdir(parents=True)
    (folder / "timestamp.txt").write_bytes(text.encode())
    wanted = parse_utc(text.strip("\ufeff\r\n")).replace(tzinfo=UTC)
    assert read_timestamp(folder) == wanted
    assert Course(tmp_path).received("ada", "01_causal_mask") == wanted


@pytest.mark.parametrize(
    "text", ["", "no time", "9" * 30, "9" * 30 + "h", "2026-13-01 18:00:00 UTC", "\0", "2026-01-12 99:00:00 UTC"]
)
def test_what_is_no_time_gives_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "timestamp.txt").write_text(text)
    assert read_timestamp(tmp_path) is None


def test_a_timestamp_is_an_ordinary_file(tmp_path: Path) -> None:
    assert read_timestamp(tmp_path) is None
    (tmp_path / "elsewhere").write_text("2026-01-12 18:00:00 UTC")
    (tmp_path / "timestamp.txt").symlink_to(tmp_path / "elsewhere")
    assert read_timestamp(tmp_path) is None
    (tmp_path / "timestamp.txt").unlink()
    os.mkfifo(tmp_path / "timestamp.txt")
    assert read_timestamp(tmp_path) is None
