"""A real PostgreSQL server in a folder of its own, for as long as some tests need it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

USER, PASSWORD = "teacher", "pass-word-that-nobody-sees"
PLACES = "/usr/lib/postgresql"  # where Debian has a folder for each version


def _programs() -> Path | None:
    """Returns the folder of the newest server's programs."""
    found = sorted(Path(PLACES).glob("[0-9]*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    beside = shutil.which("initdb")
    return found[-1].parent if found else Path(beside).resolve().parent if beside else None


def why_no_server() -> str:
    """Returns "" or what is missing here for a server."""
    if not hasattr(os, "geteuid"):
        return "the tests start PostgreSQL on Unix only"
    if _programs() is None:
        return "there is no PostgreSQL server on this machine (Debian: apt install postgresql)"
    try:
        import psycopg  # noqa: F401 - whether it is there
    except ImportError as problem:
        return f"Python has no psycopg ({problem}): pip install -e '.[postgresql]'"
    return ""


class Server:
    """A server on loopback and on a socket in its folder, with one user who has a password; it ends with the block.

    It runs as another user where this one is root, as which PostgreSQL refuses to run. It can be killed, and started
    again. Unless it is to be `safe`, it does not wait for the disk: a server that is killed loses nothing by that,
    a machine without power would.
    """

    def __init__(self, *, safe: bool = False) -> None:
        programs = _programs()
        assert programs, why_no_server()
        self._programs = programs
        self._settings = [] if safe else ["-c", "fsync=off"]
        self.folder = Path(tempfile.mkdtemp(prefix="postgresql-"))
        self._as: dict[str, Any] = {"cwd": self.folder}
        if os.geteuid() == 0:
            os.chown(self.folder, 65_534, 65_534)  # nobody
            self._as |= {"user": 65_534, "group": 65_534, "extra_groups": []}
        self._process: subprocess.Popen[Any] | None = None
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = found.getsockname()[1]

    def __enter__(self) -> Server:
        secret = self.folder / "password"
        secret.write_text(PASSWORD)
        os.chmod(secret, 0o644)
        os.chmod(self.folder, 0o755)
        self._run("initdb", "-D", "data", "-U", USER, f"--pwfile={secret}", "-A", "scram-sha-256", "-N",
                  "--encoding=UTF8", "--locale=C")  # fmt: skip
        self.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self.kill()
        shutil.rmtree(self.folder)

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run([self._programs / program, *arguments], **self._as, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    def start(self) -> None:
        """Starts it, and waits until it answers."""
        settings = ["-c", "listen_addresses=127.0.0.1", "-k", str(self.folder), "-p", str(self.port), *self._settings]
        log = (self.folder / "log").open("ab")
        with log:
            command: list[str | Path] = [self._programs / "postgres", "-D", "data", *settings]
            process = self._process = subprocess.Popen(
                command, **self._as, stdout=log, stderr=log, start_new_session=True
            )
        while self._asked("select 1"):
            assert process.poll() is None, (self.folder / "log").read_text()
            time.sleep(0.05)

    def _asked(self, statement: str, database: str = "postgres") -> str:
        """Runs a statement; returns "" or why it could not be done."""
        import psycopg

        try:
            with psycopg.connect(self.address(database).replace("+psycopg", ""), autocommit=True) as connection:
                connection.execute(statement)
        except psycopg.Error as problem:
            return str(problem)
        return ""

    def ask(self, *statements: str, database: str = "postgres") -> None:
        """Runs statements as its one user, who may do everything."""
        for statement in statements:
            problem = self._asked(statement, database)
            assert not problem, problem

    def kill(self) -> None:
        """Kills it with all its processes at once, as a machine without memory would."""
        if self._process is None:
            return
        # Each connection has a process in a group of its own; all are children of the first.
        below = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        children = [int(word) for word in below.read_text().split()] if below.exists() else []
        for pid in (self._process.pid, *children):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:  # it has ended with the first
                continue
        self._process.wait()
        self._process = None

    def database(self, name: str) -> str:
        """Makes an empty database, and returns its address."""
        self.ask(f'create database "{name}"')
        return self.address(name)

    def address(self, name: str = "postgres", password: str = PASSWORD) -> str:
        """Returns the address of a database, as `db_url` takes it."""
        return f"postgresql+psycopg://{USER}:{password}@127.0.0.1:{self.port}/{name}"
