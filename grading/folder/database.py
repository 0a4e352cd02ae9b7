"""Where nbgrader's gradebook is: what `db_url` of `nbgrader_config.py` names, a file of SQLite or a server.

A password in `db_url` is never shown: not in a sentence, not in a log, not in what nbgrader prints. Standard library
only until a gradebook is opened, so that no command waits for an import.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grading.folder.errors import CourseError
from grading.folder.text import one_line

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine
    from traitlets.config import Config

EXPECTED = "expected sqlite:///FILE or postgresql+psycopg://USER@HOST/NAME in c.CourseDirectory.db_url"
# A server that does not answer must not hold a command for minutes; whoever knows better writes it into db_url.
PATIENCE = {"connect_timeout": "10", "tcp_user_timeout": "30000"}  # s, ms
NAMES = {"application_name": "grading", "client_encoding": "utf8"}
COURSES = "default_course"  # what nbgrader's own steps call the course of a gradebook that they open
TURN = 0x6772616465  # the number of the lock that a run holds while it makes tables or takes an assignment in
_PASSWORD = re.compile(r"(://[^:/@\s]*):\S*@")


def without_passwords(text: str) -> str:
    """Returns a text in which no address of a database has a password any more."""
    return _PASSWORD.sub(r"\1:***@", text)


def nbgrader_settings(course: Path) -> Config:
    """Returns the settings that nbgrader has in a course folder: its `nbgrader_config.py`, and those of Jupyter below.

    Like nbgrader it makes modules that lie in the course folder known: a setting may name a plugin there.

    Raises:
        CourseError: when a file of settings cannot be read.
    """
    from jupyter_core.paths import jupyter_config_path
    from traitlets.config import Application

    if str(course) not in sys.path:
        sys.path.append(str(course))
    application = Application(raise_config_file_errors=True)
    try:
        application.load_config_file("nbgrader_config", path=[str(course), *jupyter_config_path()])
    except Exception as problem:  # noqa: BLE001 - a file of settings is a program
        reason = without_passwords(f"{type(problem).__name__}: {problem}")
        raise CourseError(f"nbgrader's settings cannot be read ({reason}).") from None
    return application.config


def is_lost(problem: BaseException | None) -> bool:
    """Says whether a database's error means that its server cannot be reached, or has ended the connection."""
    from sqlalchemy.exc import DBAPIError, OperationalError

    if not isinstance(problem, DBAPIError):
        return False
    if not type(problem.orig).__module__.startswith("psycopg"):
        return False  # a file cannot be lost
    state = getattr(problem.orig, "sqlstate", None)  # PostgreSQL's manual, appendix A; none when nobody answered
    gone = state is None or state[:2] in ("08", "57") or state == "53300"  # connection, shut down, too many connections
    return problem.connection_invalidated or (isinstance(problem, OperationalError) and gone)


class Address:
    """The place of a gradebook: `file` where it is SQLite's, else None. As text it is fit to be shown to people."""

    def __init__(self, address: str, course: Path) -> None:
        """Reads an address as nbgrader takes it; a file's name counts from the course folder.

        Raises:
            CourseError: when it is none, or names a database that is not supported.
        """
        from sqlalchemy.engine import make_url
        from sqlalchemy.exc import ArgumentError

        try:
            url = make_url(address)
        except (ArgumentError, ValueError):  # their text may hold a password
            raise CourseError(f"nbgrader's db_url is no address of a database; {EXPECTED}.") from None
        kind = url.drivername.partition("+")[0]
        if kind not in ("sqlite", "postgresql"):
            raise CourseError(f"nbgrader's db_url names a database of the kind {kind!r}; {EXPECTED}.")
        self.file = None
        if kind == "sqlite":
            if not url.database or url.database == ":memory:":
                raise CourseError(f"nbgrader's db_url names no file; {EXPECTED}.")
            self.file = course / url.database
            self.url: URL = url.set(database=str(self.file))
        else:
            _refuse_without_driver(url)
            self.url = url.set(query={**PATIENCE, **NAMES, **url.query})

    def __str__(self) -> str:
        if self.file:
            return str(self.file)
        host = f" on {self.url.host}" if self.url.host else ""
        return f"PostgreSQL's database {self.url.database}{host}{f':{self.url.port}' if self.url.port else ''}"

    def reason(self, problem: BaseException | None) -> str:
        """Returns why a database could not do something, on one line, without a password."""
        lines = str(getattr(problem, "orig", None) or problem).splitlines()
        reason = without_passwords(one_line(lines[0] if lines else type(problem).__name__, 200))
        return reason.replace(str(self.url.password), "***") if self.url.password else reason

    @contextlib.contextmanager
    def reaching(self) -> Iterator[None]:
        """Makes a CourseError of what is raised when the server cannot be reached, or goes away."""
        try:
            yield
        except Exception as problem:
            for cause in (problem, problem.__context__):  # nbgrader makes one of its own of a database's error
                if is_lost(cause):
                    raise self._unreachable(cause) from None
            raise

    def _unreachable(self, problem: BaseException | None) -> CourseError:
        return CourseError(
            f"the gradebook ({self}) cannot be reached: {self.reason(problem)}; what was written is whole. Start the "
            "server, or mend db_url in nbgrader_config.py, and run the same command again."
        )

    def _engine(self) -> Engine:
        """Returns a way to the database that keeps no connection when it is not used."""
        from sqlalchemy import NullPool, create_engine

        return create_engine(self.url, poolclass=NullPool, pool_reset_on_return=None)

    def engine_for_writing(self) -> Engine:
        """Returns a way to the database with one connection, on which a transaction on a file locks it from its start.

        Python's module would lock it at the first change only: what was read before could be old by then.
        """
        from sqlalchemy import create_engine, event

        engine = create_engine(self.url, pool_size=1, max_overflow=0)
        if self.file:
            event.listen(engine, "connect", lambda connection, _: setattr(connection, "isolation_level", None))
            event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
        return engine

    def exists(self) -> bool:
        """Says whether a gradebook is there; one without a table counts as none.

        Raises:
            CourseError: when the server cannot be reached.
        """
        if self.file:
            return self.file.exists() and self.file.stat().st_size > 0
        return "assignment" in self._tables()

    def refuse_damaged(self) -> None:
        """Raises CourseError for a gradebook that a failed run left half made, or that cannot be reached or written."""
        if self.file:
            _refuse_damaged_file(self.file)
        elif (tables := self._tables()) and "alembic_version" not in tables:
            raise CourseError(
                f"{self} holds tables, but not those of a whole gradebook: expected an empty database, or one with a "
                "table alembic_version. Give the gradebook a database of its own (createdb NAME)."
            )

    def open(self, course_id: str) -> Any:
        """Returns nbgrader's gradebook, opened: a context manager that closes it.

        A new one is made whole or not at all, whenever this process is killed.

        Raises:
            CourseError: when the server cannot be reached, or refuses.
        """
        if self.file and not self.exists():
            _make_file(self.file, course_id)
        with self.reaching():
            if not self.file:
                self._make_tables(course_id)
            return _book_class()(self, course_id)

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Waits until no other grader prepares a gradebook on this server, and lets none begin; a file needs it not.

        Raises:
            CourseError: when the server cannot be reached.
        """
        if self.file:
            yield
            return
        with contextlib.ExitStack() as stack:
            with self.reaching():
                connection = stack.enter_context(self._engine().connect())
                connection.exec_driver_sql(f"select pg_advisory_lock({TURN})")  # freed with the connection
            yield

    def _tables(self) -> set[str]:
        from sqlalchemy import inspect

        with self.reaching():
            return set(inspect(self._engine()).get_table_names())

    def _make_tables(self, course_id: str) -> None:
        """Makes the tables of a gradebook in an empty database, in one transaction; several may try at once."""
        from sqlalchemy import inspect
        from sqlalchemy.exc import ProgrammingError

        if self._tables():
            return
        try:
            with self._engine().begin() as connection:
                connection.exec_driver_sql(f"select pg_advisory_xact_lock({TURN + 1})")
                if inspect(connection).get_table_names():
                    return
                encoding = connection.exec_driver_sql("show server_encoding").scalar()
                if encoding != "UTF8":
                    raise CourseError(
                        f"{self} has the encoding {encoding}, which cannot hold every name; expected UTF8. Make it so: "
                        "createdb --encoding=UTF8 --template=template0 NAME."
                    )
                _fill(connection, course_id, COURSES)
        except ProgrammingError as problem:
            raise CourseError(
                f"the tables of the gradebook cannot be made in {self}: {self.reason(problem)}; expected a database "
                "that the user in db_url owns (createdb --owner=USER NAME)."
            ) from None


def _fill(connection: Connection, *course_ids: str) -> None:
    """Makes the tables of a gradebook as nbgrader does, which starts a program to learn their version."""
    from nbgrader.api import Base, Course
    from sqlalchemy import insert, text

    Base.metadata.create_all(bind=connection)
    connection.exec_driver_sql("create table alembic_version (version_num varchar(32) not null)")
    connection.execute(text("insert into alembic_version values (:version)"), {"version": _version()})
    connection.execute(insert(Course), [{"id": name} for name in dict.fromkeys(course_ids)])


@functools.cache
def _version() -> str:
    """Returns the version of nbgrader's tables: the last of its migrations."""
    from alembic.script import ScriptDirectory
    from nbgrader.dbutil import ALEMBIC_DIR

    return ScriptDirectory(ALEMBIC_DIR).get_current_head() or ""


@functools.cache
def _book_class() -> Any:
    """Returns nbgrader's gradebook, which here reports a lost server in a sentence."""
    from nbgrader.api import Gradebook

    class Book(Gradebook):  # type: ignore[misc]  # nbgrader has no types
        def __init__(self, address: Address, course_id: str) -> None:
            self._address = address
            super().__init__(address.url, course_id)

        def __exit__(self, kind: Any, problem: BaseException | None, trace: Any) -> None:
            super().__exit__(kind, problem, trace)
            with self._address.reaching():
                if problem is not None:
                    raise problem

    return Book


def _refuse_without_driver(url: URL) -> None:
    from sqlalchemy.exc import NoSuchModuleError

    try:
        url.get_dialect().import_dbapi()
    except NoSuchModuleError:
        raise CourseError(f"nbgrader's db_url names the unknown driver {url.drivername!r}; {EXPECTED}.") from None
    except ImportError as problem:
        raise CourseError(
            f"nbgrader's db_url names PostgreSQL, for which Python lacks a package ({problem}); expected psycopg 3. "
            "Install it (pip install -e '.[postgresql]' in the clone), and begin db_url with postgresql+psycopg://."
        ) from None


def _make_file(file: Path, course_id: str) -> None:
    """Makes SQLite's file of a gradebook under another name first: there is a whole one or none."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.exists():  # empty, as an interrupted run leaves it
        _fill_file(file, course_id)
        return
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=".gradebook-") as folder:
        made = Path(folder, file.name)
        _fill_file(made, course_id)
        with contextlib.suppress(FileExistsError):  # another process has made one meanwhile
            os.link(made, file)


def _fill_file(file: Path, course_id: str) -> None:
    from sqlalchemy import URL, create_engine, inspect
    from sqlalchemy.pool import NullPool

    with create_engine(URL.create("sqlite", database=str(file)), poolclass=NullPool).begin() as connection:
        connection.exec_driver_sql("begin immediate")  # SQLite's driver begins none before it makes tables
        if not inspect(connection).get_table_names():
            _fill(connection, course_id)


def _refuse_damaged_file(file: Path) -> None:
    folder = file if file.exists() else next(path for path in file.parents if path.exists())
    if not os.access(folder, os.W_OK):
        raise CourseError(f"{folder} cannot be written; expected write permission. Change its owner or its mode.")
    if not file.exists():
        return
    try:
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as connection:
            tables = {name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")}
    except sqlite3.OperationalError:
        return  # another process is writing it; whoever writes next waits
    except sqlite3.DatabaseError as problem:
        raise CourseError(f"{file} is not a gradebook ({problem}); move it away and grade again.") from problem
    if tables and "alembic_version" not in tables:
        raise CourseError(
            f"{file} was left half made by an interrupted run: expected a table alembic_version. It holds no "
            "marks yet; delete it and grade again."
        )


def read_address(course: Path, default: Path) -> Address:
    """Returns the address that nbgrader's settings name in a course folder; `default` is a file for those without.

    Raises:
        CourseError: when the settings cannot be read, or name no database that is supported.
    """
    address = nbgrader_settings(course).get("CourseDirectory", {}).get("db_url", "")
    return Address(str(address) or f"sqlite:///{default}", course)
