"""Who is who on the hub, and what follows from it: the folder, the menus and the limits of each server.

The roles are groups of the operating system, so that what the hub shows and what files may be read agree. The hub reads
this file from the folder into which `deploy.hub.install` has copied it.
"""

from __future__ import annotations

import asyncio
import contextlib
import grp
import itertools
import os
import pwd
import resource
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from forking import Process
from jupyterhub.spawner import LocalProcessSpawner

INSTRUCTORS, STUDENTS = "course-instructors", "course-students"
COURSE = "transformers"  # an instructor's clone, in the home folder
PROCESSES = 512  # threads count too: a server and ten kernels with PyTorch have about 300
STUDENTS_COME_AFTER = 5  # the step in niceness, of 19
# Of servers, each another one: JupyterHub would take any that is free, and where many start at once two then have the
# same before either listens. Linux gives no program that asks for any port one of these.
NUMBERS = range(20_000, 30_000)
PORTS = itertools.cycle(NUMBERS)
FORK_SECONDS = 90.0  # until the program that asks for a student's JupyterLab says which process that is
STUDENTS_GO_FIRST = 500  # of 1000, where memory ends and Linux kills a process; hub and proxy have 0
# As `helpers.threads` has it, for programs that do not import it too. `set_threads()` takes `cpu_limit` cores.
THREADS = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0"}


def is_instructor(account: str) -> bool:
    """Says whether an account of this machine is in the group of instructors; who has no account yet is not."""
    try:
        groups = os.getgrouplist(account, pwd.getpwnam(account).pw_gid)
        return grp.getgrnam(INSTRUCTORS).gr_gid in groups
    except KeyError:
        return False


def members(group: str) -> list[str]:
    """Returns the accounts of a group, [] for one that is not there."""
    try:
        return sorted(grp.getgrnam(group).gr_mem)
    except KeyError:
        return []


def close_home(account: str) -> None:
    """Takes the rights of all others away from a home folder: some systems make them readable for everyone."""
    try:
        user = pwd.getpwnam(account)
        owned = os.stat(user.pw_dir)
    except (KeyError, FileNotFoundError):
        return  # made when the server starts
    if owned.st_uid == user.pw_uid and stat.S_IMODE(owned.st_mode) & 0o077:
        os.chmod(user.pw_dir, 0o700)


def place_of_kernels(folder: Path, account: str) -> Path:
    """Returns the folder for the files on which an account's kernels listen, made where it is missing.

    It is not in the home folder: such a file's path has at most 107 bytes, and the file system must know such files.
    """
    user = pwd.getpwnam(account)
    place = folder / "kernels" / account
    place.parent.mkdir(exist_ok=True)
    place.parent.chmod(0o755)
    place.mkdir(mode=0o700, exist_ok=True)
    os.chown(place, user.pw_uid, user.pw_gid)
    return place


def before_start(folder: Path, account: Callable[[str], str] = str) -> Callable[[Any], None]:
    """Returns what the hub calls before it starts somebody's server, for `c.Spawner.pre_spawn_hook`.

    Args:
        folder: where `deploy.hub.install` has put settings and exchange.
        account: from a name on the hub to the account on this machine.
    """
    settings = folder / "settings"

    def prepare(spawner: Any) -> None:
        name = account(spawner.user.name)
        close_home(name)
        shared = [settings / "everyone", settings / "jupyter" / "everyone"]
        variables = {"COURSE_EXCHANGE": str(folder / "exchange"), "JUPYTER_PREFER_ENV_PATH": "1", **THREADS}
        variables["JUPYTER_RUNTIME_DIR"] = str(place_of_kernels(folder, name))
        course = Path(pwd.getpwnam(name).pw_dir) / COURSE if is_instructor(name) else None
        if course and (course / "nbgrader_config.py").is_file():
            # The settings of nbgrader lie in the clone, and what they import; students' Python has neither.
            shared = [course, settings / "instructor", *shared]
            variables["PYTHONPATH"] = str(course)
            spawner.notebook_dir = str(course)
            spawner.mem_limit = spawner.cpu_limit = None  # the grader has limits of its own for each submission
        else:  # an instructor without a clone, too: here it can be made
            shared = [settings / "student", settings / "jupyter" / "student", *shared]
        variables["JUPYTER_CONFIG_PATH"] = os.pathsep.join(map(str, shared))
        spawner.environment = {**spawner.environment, **variables}

    return prepare


def next_port() -> int:
    """Returns the next port of this machine on which nothing listens; raises OSError where there is none."""
    for port in itertools.islice(PORTS, len(NUMBERS)):
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # what has ended a minute ago is no hindrance
            probe.bind(("127.0.0.1", port))
            return port
    raise OSError(f"something listens on each port from {NUMBERS[0]} to {NUMBERS[-1]}")


async def said_in_time(file: Any) -> str:
    """Returns what is written to a pipe at once, "" when it is closed before, or nothing comes for long."""
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), file
    )
    try:
        return (await asyncio.wait_for(reader.read(20), FORK_SECONDS)).decode()
    except asyncio.TimeoutError:
        return ""
    finally:
        transport.close()


class LimitedSpawner(LocalProcessSpawner):  # type: ignore[misc]  # JupyterHub has no types
    """Starts servers as accounts of this machine; those of students within limits that the kernel of Linux holds.

    `mem_limit` counts for each process alone (a notebook's kernel is one), PROCESSES for all processes of an account.
    There is no limit on CPU time: students' processes come after those of instructors and of the hub.

    A student's server is a fork (`warm.py`) where there can be one. What is started is then a program that asks for it
    as the student (`forking.py`), says which process it has got, and ends.
    """

    fork: Process | None = None
    cmd: list[str]
    proc: subprocess.Popen[bytes] | None

    async def start(self) -> tuple[str, int]:
        """Starts the server; returns its address and port."""
        address: tuple[str, int]
        self.port = next_port()
        if is_instructor(self.user.name):
            address = await super().start()
            return address
        plain, told = self.cmd, os.pipe()
        with os.fdopen(told[0], "rb") as says:
            try:
                self.popen_kwargs = {"pass_fds": told[1:]}
                asks = [sys.executable, "-I", "-S", str(Path(__file__).with_name("forking.py")), str(told[1])]
                self.cmd = [*asks, *plain]
                address = await super().start()
            finally:
                os.close(told[1])
                self.cmd = plain
            said = await said_in_time(says)
        if said:
            asked = self.proc
            self.take(int(said))
            assert asked
            with contextlib.suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(asked.wait, 1)  # it has ended, or will
        return address

    def take(self, process: int) -> None:
        """Makes a fork this spawner's process, if it is the student's own.

        A student can make any program of the account say anything, a number of root's process for instance.
        """
        handle = os.pidfd_open(process)  # from here on the number is this process's, or nobody's
        fork = Process(process, handle)
        if os.stat(f"/proc/{process}").st_uid != pwd.getpwnam(self.user.name).pw_uid:
            raise PermissionError(f"process {process} is not one of {self.user.name}")
        self.fork, self.proc, self.pid = fork, None, process

    async def poll(self) -> int | None:
        """Returns None while the server runs, and then its exit status, or 0."""
        if self.fork is None:
            status: int | None = await super().poll()
        elif (status := self.fork.poll()) is not None:
            self.clear_state()
        return status

    async def _signal(self, sig: int) -> bool:
        if self.fork is None:
            return bool(await super()._signal(sig))
        self.fork.send_signal(sig)
        return self.fork.poll() is None

    def clear_state(self) -> None:
        """Forgets the server that was."""
        super().clear_state()
        self.fork = None

    def make_preexec_fn(self, name: str) -> Callable[[], None]:
        """Returns what the new process does before it becomes the server: take limits, then the account."""
        become: Callable[[], None] = super().make_preexec_fn(name)
        if is_instructor(name):
            return become
        memory = int(self.mem_limit or 0)

        def start() -> None:
            if memory:
                resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
            resource.setrlimit(resource.RLIMIT_NPROC, (PROCESSES, PROCESSES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.nice(STUDENTS_COME_AFTER)
            Path("/proc/self/oom_score_adj").write_text(str(STUDENTS_GO_FIRST))
            become()

        return start
