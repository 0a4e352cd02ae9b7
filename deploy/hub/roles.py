"""Who is who on the hub, and what follows from it: the folder, the menus and the limits of each server.

The roles are groups of the operating system, so that what the hub shows and what files may be read agree. The hub reads
this file from the folder into which `deploy.hub.install` has copied it.
"""

from __future__ import annotations

import grp
import os
import pwd
import resource
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jupyterhub.spawner import LocalProcessSpawner

INSTRUCTORS, STUDENTS = "course-instructors", "course-students"
COURSE = "transformers"  # an instructor's clone, in the home folder
PROCESSES = 512  # threads count too: a server and ten kernels with PyTorch have about 300
STUDENTS_COME_AFTER = 5  # the step in niceness, of 19
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


class LimitedSpawner(LocalProcessSpawner):  # type: ignore[misc]  # JupyterHub has no types
    """Starts servers as accounts of this machine; those of students within limits that the kernel of Linux holds.

    `mem_limit` counts for each process alone (a notebook's kernel is one), PROCESSES for all processes of an account.
    There is no limit on CPU time: students' processes come after those of instructors and of the hub.
    """

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
