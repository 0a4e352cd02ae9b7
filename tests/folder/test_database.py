"""Where the gradebook is: addresses in `db_url`, and that no password in one is ever shown."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from grading.folder.course import COURSE_ID, Course
from grading.folder.database import Address, nbgrader_settings, without_passwords
from grading.folder.errors import CourseError

SECRET = "se:cret@word"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (f"mysql://me:{SECRET}@host/grades", "of the kind 'mysql'"),
        (f"postgresql+psycopg://me:{SECRET}@host:port/grades", "is no address of a database"),
        (f"postgresql+pigeon://me:{SECRET}@host/grades", "unknown driver 'postgresql\\+pigeon'"),
        (f"me:{SECRET}@host/grades", "is no address of a database"),
        ("sqlite://", "names no file"),
    ],
)
def test_what_is_no_address_is_refused_without_its_password(address: str, expected: str, tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=rf"{expected}.*; expected sqlite:///FILE or postgresql\+psycopg") as refused:
        Address(address, tmp_path)
    assert "cret" not in str(refused.value)


def test_without_psycopg_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(CourseError, match=r"lacks a package.*pip install -e '\.\[postgresql\]'"):
        Address("postgresql+psycopg://me@host/grades", tmp_path)


def test_a_file_elsewhere_is_honoured(tmp_path: Path) -> None:
    (tmp_path / "nbgrader_config.py").write_text(
        'c = get_config()\nc.CourseDirectory.db_url = "sqlite:///own/marks.db"\n'
    )
    course = Course(tmp_path)
    assert not course.has_gradebook()
    with course.gradebook() as book:
        book.update_or_create_student("ada")
    assert course.has_gradebook()
    course.refuse_damaged_gradebook()
    assert [path.relative_to(tmp_path) for path in tmp_path.rglob("*.db")] == [Path("own/marks.db")]


def test_without_settings_the_gradebook_is_in_the_class_folder(tmp_path: Path) -> None:
    assert Course(tmp_path).address.file == tmp_path / "gradebook" / "gradebook.db"


def test_no_text_reveals_a_password(tmp_path: Path) -> None:
    address = f"postgresql+psycopg://me:{SECRET}@host/grades"
    assert without_passwords(f"no {address}, sorry") == "no postgresql+psycopg://me:***@host/grades, sorry"
    assert without_passwords("see https://host/a:b and mail a@b") == "see https://host/a:b and mail a@b"
    config = tmp_path / "nbgrader_config.py"
    config.write_text(f"raise ValueError({address!r})\n")
    with pytest.raises(CourseError, match=r"cannot be read \(ValueError: .*me:\*\*\*@host/grades"):
        nbgrader_settings(tmp_path)


def test_a_reason_leaves_the_password_out(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    address = Address("postgresql+psycopg://me:hidden@host/grades", tmp_path)
    assert address.reason(ValueError("no hidden thing\nbelow")) == "no *** thing"
    assert str(address) == "PostgreSQL's database grades on host"


def test_a_new_gradebook_is_what_nbgrader_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def content(file: Path) -> list[tuple[str, ...]]:
        with contextlib.closing(sqlite3.connect(file)) as connection:
            tables = connection.execute("select name, coalesce(sql, '') from sqlite_master order by name").fetchall()
            rows = connection.execute("select version_num from alembic_version union all select id from course")
            return [(name, " ".join(sql.lower().split())) for name, sql in tables] + rows.fetchall()

    ours, theirs = Course(tmp_path), tmp_path / "theirs.db"
    ours.gradebook().close()
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    Gradebook(f"sqlite:///{theirs}", COURSE_ID).close()  # it starts alembic by name
    assert ours.address.file is not None
    assert content(ours.address.file) == content(theirs)
