"""A whole hub for as long as some tests need it: accounts of this machine, an environment, JupyterHub and its proxy.

Everything lies in one folder that is not pytest's, since other accounts must be able to enter it. It is put in place by
`deploy.hub.install`, all but the packages: those of the Python that runs the tests are shared.
"""

from __future__ import annotations

import contextlib
import fcntl
import grp
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

from deploy.hub import install

ROOT = install.ROOT
ASSIGNMENT = "01_causal_mask"
INSTRUCTORS, STUDENTS = "course-instructors", "course-students"
TEACHER, ADA, BOB = ACCOUNTS = ("hubtest-teacher", "hubtest-ada", "hubtest-bob")
NOBODY = 65_534
PASSWORD = "pass-word-that-nobody-sees"
PACKAGES = ("site-packages", "dist-packages")
START_SECONDS, END_SECONDS = 600.0, 240.0


def why_no_hub() -> str:
    """Returns "" or what is missing here for a hub whose users are accounts of this machine."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return "the hub's test makes accounts on this machine: it needs Linux, and root"
    for program in ("useradd", "userdel", "chpasswd", "groupadd"):
        if shutil.which(program) is None:
            return f"the hub's test makes accounts, and this machine has no {program}"
    if shutil.which("configurable-http-proxy") is None:
        return (
            "JupyterHub's proxy is not on this machine (Debian: apt install node-configurable-http-proxy; "
            "else npm install -g configurable-http-proxy)"
        )
    return ""


def ask(account: str, *command: str | Path, folder: Path = Path("/")) -> subprocess.CompletedProcess[str]:
    """Runs a command as an account of this machine, with its groups, and returns what it printed."""
    user = pwd.getpwnam(account)
    return subprocess.run(
        [str(word) for word in command],
        user=user.pw_uid,
        group=user.pw_gid,
        extra_groups=os.getgrouplist(account, user.pw_gid),
        cwd=folder,
        env={"HOME": user.pw_dir, "PATH": "/usr/bin:/bin", "LC_ALL": "C"},
        capture_output=True,
        text=True,
    )


def _run(*command: str | Path, stdin: str | None = None) -> None:
    done = subprocess.run([str(word) for word in command], input=stdin, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"


# --- accounts -----------------------------------------------------------------------------------


def processes(*of: str) -> list[int]:
    """Returns the processes of the tests' accounts, or of some of them."""
    ids = set()
    for account in of or ACCOUNTS:
        with contextlib.suppress(KeyError):
            ids.add(pwd.getpwnam(account).pw_uid)
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            with contextlib.suppress(OSError):  # it has ended
                if path.stat().st_uid in ids:
                    found.append(int(path.name))
    return found


def _end_processes(names: Sequence[str]) -> None:
    """Kills what still runs as one of the accounts, and what that has started meanwhile."""
    limit = time.monotonic() + END_SECONDS
    while left := processes(*names):
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        assert time.monotonic() < limit, f"these processes do not end: {left}"
        time.sleep(0.05)


def _remove_accounts(names: Sequence[str]) -> None:
    _end_processes(names)
    for account in names:
        with contextlib.suppress(KeyError):
            pwd.getpwnam(account)
            _run("userdel", account)


@contextlib.contextmanager
def accounts(homes: Path, names: Sequence[str]) -> Iterator[None]:
    """Makes an instructor and students, and removes them; what an earlier run has left is removed first."""
    with (Path(tempfile.gettempdir()) / "course-hub-test.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # their names are the same in every run
        _remove_accounts(names)
        made = []
        for group in (INSTRUCTORS, STUDENTS):
            try:
                grp.getgrnam(group)
            except KeyError:
                _run("groupadd", group)
                made.append(group)
        try:
            homes.mkdir()
            for account in names:
                group = INSTRUCTORS if account == TEACHER else STUDENTS
                _run("useradd", "--create-home", "--home-dir", homes / account, "--groups", group, account)
                (homes / account).chmod(0o755)  # as on systems that are careless with homes
            _run("chpasswd", stdin="".join(f"{account}:{PASSWORD}\n" for account in names))
            yield
        finally:
            _remove_accounts(names)
            for group in made:
                _run("groupdel", group)


# --- one Python for all -------------------------------------------------------------------------


def _everybody_reads(path: str | Path) -> bool:
    command = ["test", "-r", str(path)]
    return subprocess.run(command, user=NOBODY, group=NOBODY, extra_groups=[], cwd="/").returncode == 0


def _python_for_all(folder: Path) -> Path:
    """Returns this Python, or where others may not run it (it lies in root's home), a copy that they can run."""
    found = Path(os.path.realpath(sys.executable))
    if _everybody_reads(found):
        return found
    libraries, version = Path(sys.base_prefix) / "lib", f"python{sys.version_info.major}.{sys.version_info.minor}"
    _shared(libraries / version, folder / "lib" / version, without=("site-packages", "test"))
    for library in libraries.glob("libpython3*.so*"):
        shutil.copy(library, folder / "lib")
    # The program looks for its library where it was built; beside itself is a shorter path, filled up with zeros.
    built, beside = os.fsencode(libraries) + b"\0", b"$ORIGIN/../lib\0"
    program = found.read_bytes().replace(b"\0" + built, b"\0" + beside.ljust(len(built), b"\0"))
    copy = folder / "bin" / version
    copy.parent.mkdir()
    copy.write_bytes(program)
    copy.chmod(0o755)
    return copy


def _shared(path: Path, copy: Path, without: Sequence[str] = ()) -> Path:
    """Returns a folder itself, or where others may not enter it, a copy: of links to its files, where that goes."""
    if _everybody_reads(path):
        return path
    copy.mkdir(parents=True)
    for part in path.iterdir():
        if part.name in without:
            continue
        if subprocess.run(["cp", "-a", "--link", part, copy], capture_output=True).returncode:
            _run("cp", "-a", "--remove-destination", part, copy)
    return copy


def make_environment(folder: Path) -> Path:
    """Makes an environment that every account can use, with the packages of this one but without the course.

    A file of paths is not looked into for further ones, so the course, which is installed as a link, is not in it.
    """
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    environment = folder / "environment"
    _run(_python_for_all(folder / "python"), "-m", "venv", "--without-pip", environment)
    packages = [Path(place) for place in sys.path if Path(place).name in PACKAGES]
    # Under its own name, by which the sandbox knows a folder of packages.
    shown = [_shared(place, folder / "packages" / str(number) / place.name) for number, place in enumerate(packages)]
    own = environment / "lib" / version / "site-packages" / "shared.pth"
    own.write_text("".join(f"{place}\n" for place in shown))
    (environment / "share").symlink_to(_shared(Path(sys.prefix) / "share", folder / "packages" / "share"))
    shutil.copytree(Path(sys.prefix) / "etc" / "jupyter", environment / "etc" / "jupyter")
    programs = [Path(sys.executable).parent / "alembic", Path(sys.executable).parent / "jupyter"]
    for program in programs:  # by name, as pip writes them
        text = program.read_text().partition("\n")[2]
        (environment / "bin" / program.name).write_text(f"#!{environment / 'bin' / 'python'}\n{text}")
        (environment / "bin" / program.name).chmod(0o755)
    return environment


# --- the hub ------------------------------------------------------------------------------------


def _free_ports(number: int) -> list[int]:
    with contextlib.ExitStack() as probes:
        found = [probes.enter_context(socket.socket()) for _ in range(number)]
        for probe in found:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in found]


class Hub:
    """A running hub: its address, its folder and the homes of its people."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self.folder, self.names = folder, names
        self.homes = folder / "homes"
        self.course = self.homes / TEACHER / "transformers"
        self.exchange = folder / "exchange" / "transformers"
        self.port, self._inner, self._proxy = _free_ports(3)
        self.address = f"http://127.0.0.1:{self.port}"
        self.process = 0  # when it runs

    def put_in_place(self) -> None:
        """Does what docs/hub.md asks an administrator and an instructor to do."""
        environment = make_environment(self.folder)
        install.course(environment, sys.executable)
        install.settings(self.folder)
        install.exchange(self.folder, TEACHER)
        for part in ("grading", "helpers", "tutor", "data", f"solutions/{ASSIGNMENT}", f"notebooks/{ASSIGNMENT}"):
            shutil.copytree(ROOT / part, self.course / part, ignore=shutil.ignore_patterns("__pycache__", "downloads"))
        shutil.copy(ROOT / "nbgrader_config.py", self.course)
        shutil.copy(ROOT / f"solutions/{ASSIGNMENT}.py", self.course / "solutions")
        (self.course / "gradebook").mkdir()
        _run("chown", "-R", f"{TEACHER}:", self.course)

    def log(self) -> str:
        """Returns what hub, proxy and servers have printed."""
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    @contextlib.contextmanager
    def running(self) -> Iterator[Hub]:
        """Starts the hub, and ends it with its proxy and all servers."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "COURSE_"))}
        command = [self.folder / "environment" / "bin" / "python", "-m", "jupyterhub"]
        command += [f"--config={self.folder / 'settings' / 'jupyterhub_config.py'}"]
        command += [f"--JupyterHub.bind_url={self.address}", f"--JupyterHub.hub_port={self._inner}"]
        command += [f"--ConfigurableHTTPProxy.api_url=http://127.0.0.1:{self._proxy}"]
        with (self.folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [str(word) for word in command],
                cwd=self.folder / "run",
                env=kept | {"OMP_NUM_THREADS": "1"},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.process = process.pid
        try:
            self._wait_for_answer(process)
            yield self
        finally:
            process.terminate()
            _end_processes(self.names)  # the servers would take their time
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(END_SECONDS)
            process.kill()
            process.wait()
            with contextlib.suppress(OSError):  # no file, no process: the hub has ended its proxy
                os.kill(int((self.folder / "run" / "proxy.pid").read_text()), signal.SIGKILL)

    def _wait_for_answer(self, process: subprocess.Popen[bytes]) -> None:
        limit = time.monotonic() + START_SECONDS
        while True:
            try:
                with urllib.request.urlopen(f"{self.address}/hub/api/health", timeout=10):
                    return
            except (urllib.error.URLError, OSError) as problem:
                if process.poll() is not None or time.monotonic() > limit:
                    raise RuntimeError(f"JupyterHub does not answer ({problem}):\n{self.log()[-3000:]}") from problem
            time.sleep(0.1)

    def service(self, kind: str) -> int:
        """Returns the process from which students' "kernels" or "servers" are forked, when it has imported all."""
        limit = time.monotonic() + START_SECONDS
        while not (self.folder / "warm" / kind).exists():
            assert time.monotonic() < limit, f"{kind} cannot be forked:\n{self.log()[-3000:]}"
            time.sleep(0.1)
        program = b"%s\0%s\0" % (os.fsencode(self.folder / "settings" / "warm.py"), kind.encode())
        running = [path.parent for path in Path("/proc").glob("[0-9]*/cmdline") if program in path.read_bytes()]
        [service] = [int(path.name) for path in running if path.stat().st_uid == 0]
        return service


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@contextlib.contextmanager
def running_hub(names: Sequence[str] = ACCOUNTS, settings: str = "") -> Iterator[Hub]:
    """Makes accounts and a hub and ends both; no process, account or file of theirs is left.

    Args:
        names: the accounts; TEACHER, who must be among them, is the instructor.
        settings: further lines of `jupyterhub_config.py`.
    """
    before = signal.signal(signal.SIGTERM, _stop)  # as Ctrl-C: what follows below is done then, too
    folder = Path(tempfile.mkdtemp(prefix="hub-"))
    try:
        folder.chmod(0o755)
        hub = Hub(folder, names)
        with accounts(hub.homes, names):
            hub.put_in_place()
            with (folder / "settings" / "jupyterhub_config.py").open("a", encoding="utf-8") as written:
                written.write(settings)
            with hub.running():
                yield hub
    finally:
        shutil.rmtree(folder)
        signal.signal(signal.SIGTERM, before)
