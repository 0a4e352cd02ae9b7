"""Small notebooks, zip files and folders as sites deliver them, and what a class has after they were collected."""

import datetime
import json
import os
import struct
import zipfile
from pathlib import Path
from typing import Any

A, B = "01_causal_mask", "02_positional_encoding"
UTC = datetime.timezone.utc
NOON = datetime.datetime(2026, 1, 12, 12, 0, tzinfo=UTC)


def content(word: str = "", assignment: str = A) -> bytes:
    """Returns a small notebook; `word` makes it differ from others."""
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "metadata": {}, "source": word, "outputs": [], "execution_count": None}
    ]
    return json.dumps({"cells": cells, "metadata": {"of": assignment}, "nbformat": 4, "nbformat_minor": 5}).encode()


def make_zip(path: Path, files: dict[str, bytes], time: datetime.datetime = NOON) -> Path:
    """Writes a zip whose entries have a time in UTC, in the field that servers write."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (2001, 1, 1, 0, 0, 0))
            entry.extra = struct.pack("<HHBi", 0x5455, 5, 1, int(time.timestamp()))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return path


def make_folder(path: Path, files: dict[str, bytes], time: datetime.datetime = NOON) -> Path:
    for name, data in files.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        os.utime(file, (time.timestamp(), time.timestamp()))
    return path


def there(course: Path) -> dict[str, bytes]:
    """Returns the submissions of a class by "student/assignment"."""
    submitted = course / "gradebook" / "submitted"
    return {"/".join(path.parts[-3:-1]): path.read_bytes() for path in submitted.glob("*/*/*.ipynb")}


def times(course: Path) -> set[str]:
    return {path.read_text() for path in (course / "gradebook" / "submitted").glob("*/*/timestamp.txt")}


def write_roster(course: Path, text: str) -> None:
    (course / "gradebook").mkdir(parents=True, exist_ok=True)
    (course / "gradebook" / "students.csv").write_text(text, encoding="utf-8")
