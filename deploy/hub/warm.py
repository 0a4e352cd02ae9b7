"""Forks students' kernels, or their JupyterLabs, from one process that has imported what all of them import.

    python warm.py KIND SOCKET GROUP_OF_STUDENTS GROUP_OF_INSTRUCTORS

The hub starts it, as root, once for each KIND ("kernels", "servers"). A student's JupyterLab, or what starts it,
connects to SOCKET (`forking.py`). Who that is, Linux says; the part that is root reads nothing of what is sent. It
forks a child, which becomes the student's account for good, within the limits of the process that has connected, and
only then reads what is wanted, and becomes it. What was imported lies in memory once for all, until one writes to it.

The memory of a fork begins as a copy of this process's, environment included: no secret may ever be in it.
"""

import array
import contextlib
import ctypes
import fcntl
import gc
import grp
import importlib
import importlib.util
import json
import os
import pkgutil
import resource
import signal
import socket
import struct
import sys
import tempfile
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path

SERVERS_OWN = ("tutor.lab", "tutor.validating")  # of the course, but no notebook imports them
INLINE = "module://matplotlib_inline.backend_inline"  # as kernels have it
# What is read when Python or a library starts. Who wants other values than this process has gets no fork.
EARLY = ("PYTHON", "LD_", "LANG", "LC_", "OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "MALLOC_", "GLIBC_", "TORCH",
         "PYTORCH", "MPL", "MATPLOTLIB", "JUPYTERHUB_SINGLEUSER", "JUPYTERHUB_XSRF", "PROMETHEUS", "PYZMQ")  # fmt: skip
FORKS = 20  # of one account: at a time, and within a minute. A fork costs root 10 ms, and 512 processes are many
LARGEST = 200_000  # bytes of a request, most of it its environment; a packet on a socket holds no more by itself
LISTENS = b"!"  # what a child says when it is ready to read
SECONDS = 60  # within which the request must be there, also where a hundred ask at once
SO_PEERGROUPS = 59  # from asm-generic/socket.h, as the next ones from linux/prctl.h; Python does not name them
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NAME, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 4, 15, 24, 38
LIBRARY_OF_C = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Kind:
    """What is forked: one instance for the life of this process."""

    name: str  # as sentences say it
    process: bytes  # its name for `ps`
    module: str  # what Python runs, where it starts by itself
    libraries: tuple[str, ...]  # imported before
    packages: tuple[str, ...]  # the same, with all that is in them
    left: tuple[str, ...]  # but for these
    ends_with_asker: bool


# What notes the account's home or variables at its import, JupyterLab's application for instance, is left to the fork.
KINDS = {
    "kernels": Kind(
        name="kernels",
        process=b"ipykernel",
        module="ipykernel_launcher",
        # ipykernel first: tqdm asks at its import whether it is there. An optimizer's first step may want the compiler.
        libraries=(
            "ipykernel.kernelapp", "ipywidgets", "torch", "torch._dynamo", "pandas", "sympy", "matplotlib.pyplot",
            # What shows figures, tables and formulas for the first time imports these.
            "IPython.core.pylabtools", "PIL.BmpImagePlugin", "PIL.GifImagePlugin", "PIL.JpegImagePlugin",
            "PIL.PpmImagePlugin", "matplotlib.backends.backend_agg", "pandas.io.formats.style",
            "sympy.assumptions.wrapper", "sympy.physics.units", "sympy.tensor.tensor",
        ),
        packages=("helpers", "tutor"),
        left=SERVERS_OWN,
        ends_with_asker=True,
    ),
    "servers": Kind(
        name="JupyterLabs",
        process=b"jupyterlab",
        module="jupyterhub.singleuser",
        libraries=(
            "IPython.display", "httpcore", "jinja2.ext", "jupyter_core.migrate", "jupyter_lsp",
            "jupyter_lsp.virtual_documents_shadow", "jupyter_server.kernelspecs.handlers",
            "jupyter_server.nbconvert.handlers", "jupyter_server.serverapp", "jupyter_server.view.handlers",
            "jupyter_server_terminals.app", "jupyterhub.httpclient", "jupyterhub.log", "jupyterhub.scopes",
            "jupyterhub.utils", "jupyterhub._xsrf_utils", "jupyterlab.commands", "jupyterlab.debuglog",
            "jupyterlab.extensions.manager", "jupyterlab.handlers.announcements", "jupyterlab.handlers.build_handler",
            "jupyterlab.handlers.error_handler", "jupyterlab.handlers.extension_manager_handler",
            "jupyterlab.handlers.plugin_manager_handler", "jupyterlab_jupytext", "jupyterlab_server", "nbgrader.apps",
            "nbgrader.server_extensions.assignment_list.handlers",
            "nbgrader.server_extensions.validate_assignment.handlers", "notebook_shim.shim",
            "tornado.platform.asyncio", "unittest.mock", *SERVERS_OWN,
        ),
        packages=("jupyter_server.services",),
        left=(),
        ends_with_asker=False,
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Asker:
    """The process that has connected, and its rights then, as Linux says."""

    process: int
    uid: int
    gid: int
    groups: tuple[int, ...]  # all the others

    @classmethod
    def of(cls, connection: socket.socket) -> "Asker":
        """Returns who has connected; raises OSError for an account in more than 256 groups."""
        one = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("iII"))
        process, uid, gid = struct.unpack("iII", one)
        groups = connection.getsockopt(socket.SOL_SOCKET, SO_PEERGROUPS, 1024)
        return cls(process, uid, gid, tuple(array.array("I", groups)))


def prctl(option: int, value: int | bytes) -> None:
    """Asks Linux for something about this process; raises OSError when it refuses."""
    if LIBRARY_OF_C.prctl(option, value, 0, 0, 0):
        raise OSError(ctypes.get_errno(), f"prctl({option}, {value!r}) is refused")


# --- as root --------------------------------------------------------------------------------------


def warm_up(kind: Kind, cache: Path) -> None:
    """Imports once what no fork then has to, on one thread: a fork takes no other threads along."""
    started = dict(os.environ)
    os.environ.update(MPLCONFIGDIR=str(cache), MPLBACKEND=INLINE)
    for name in kind.libraries:
        importlib.import_module(name)
    for top in kind.packages:
        for found in pkgutil.walk_packages(importlib.import_module(top).__path__, f"{top}."):
            if not found.name.endswith("__main__") and found.name not in kind.left:
                importlib.import_module(found.name)
    os.environ.clear()
    os.environ.update(started)  # with which a fork's is compared
    gc.collect()
    gc.freeze()  # a fork that looked through what it shares would get copies of its pages
    threads = len(os.listdir("/proc/self/task"))
    shared = [line for line in Path("/proc/self/maps").read_text().splitlines() if line.split()[1][1::2] == "ws"]
    if threads > 1 or shared:
        raise RuntimeError(f"{kind.name} cannot be forked safely: {threads} threads, memory written by all: {shared}")


def serve(kind: Kind, listener: socket.socket, students: int, instructors: int) -> tuple[socket.socket, Asker]:
    """Forks a child for each student who connects, and returns in the child: the connection, and whose it is."""
    forks: dict[int, int] = {}  # that run: the account of each process
    lately: deque[tuple[float, int]] = deque()  # when one was forked, and for which account
    listener.settimeout(1.0)
    while True:
        while forks and (ended := os.waitpid(-1, os.WNOHANG)[0]):
            del forks[ended]
        while lately and lately[0][0] < time.monotonic() - 60:
            lately.popleft()
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            continue
        with contextlib.suppress(OSError):  # who asked has gone, or Linux has no process to give: it gets no answer
            asker = Asker.of(connection)
            accounts = [*forks.values()], [account for _, account in lately]
            if asker.uid == 0 or students not in (groups := {asker.gid, *asker.groups}) or instructors in groups:
                refuse(connection, f"{kind.name} are forked for students alone")
            elif any(of_all.count(asker.uid) >= FORKS for of_all in accounts):
                refuse(connection, f"you have started {FORKS} {kind.name} within a minute, or have as many")
            elif child := os.fork():
                forks[child] = asker.uid
                lately.append((time.monotonic(), asker.uid))
            else:
                listener.close()
                return connection, asker
        connection.close()


def refuse(connection: socket.socket, why: str) -> None:
    """Says why there is no fork, if anybody is still there to hear it."""
    with contextlib.suppress(OSError):
        connection.send(why.encode(errors="replace")[:LARGEST], socket.MSG_DONTWAIT)


# --- from root to the account ---------------------------------------------------------------------


def keep_only(connection: socket.socket) -> socket.socket:
    """Closes all files of this process but the connection, which is returned; its standard ones are /dev/null."""
    kept = socket.socket(fileno=os.dup2(connection.detach(), 3, inheritable=False))
    for file in map(int, os.listdir("/proc/self/fd")):
        if file > 3:
            with contextlib.suppress(OSError):  # the list's own is closed already
                os.close(file)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    os.close(nothing)
    return kept


def become(asker: Asker) -> None:
    """Makes this child of root a process of the asker's account, for good, with nothing that the asker has not.

    Raises:
        OSError: where Linux refuses, or the asker has ended; nothing may be done here then.
    """
    handle = os.pidfd_open(asker.process)  # names the process that has this number now; see the end
    of_asker = Path("/proc", str(asker.process))
    enter_control_group(of_asker)
    # Written by root, it cannot be taken back by the account.
    Path("/proc/self/oom_score_adj").write_text((of_asker / "oom_score_adj").read_text())
    last_capability = int(Path("/proc/sys/kernel/cap_last_cap").read_text())
    for capability in range(last_capability + 1):
        prctl(PR_CAPBSET_DROP, capability)
    here = surroundings(Path("/proc/self"))
    os.setgroups(asker.groups)
    os.setresgid(asker.gid, asker.gid, asker.gid)
    os.setresuid(asker.uid, asker.uid, asker.uid)  # with this the capabilities are gone
    prctl(PR_SET_NO_NEW_PRIVS, 1)  # neither `sudo` nor any program gives them back

    # From here on it is the account, which can only make its own limits narrower, and copies those of its own alone.
    for limit in range(16):
        resource.setrlimit(limit, resource.prlimit(asker.process, limit))
    os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, asker.process))
    os.umask(int(status(of_asker)["Umask"], 8))
    if surroundings(of_asker) != here:
        raise PermissionError("who asks is locked into a sandbox, which a fork would be out of")
    # It has not ended, so its number was its own all the time; and Linux refuses a signal to another account's process.
    signal.pidfd_send_signal(handle, 0)
    os.close(handle)
    prctl(PR_SET_DUMPABLE, 1)  # its own files in /proc are the account's, as after an exec


def enter_control_group(of_asker: Path) -> None:
    """Enters the asker's control group, whose limits are for server and kernels together (systemdspawner).

    Raises:
        OSError: when it stays in another one: that group cannot be written, or is of the first version.
    """
    group = (of_asker / "cgroup").read_text()
    if group == Path("/proc/self/cgroup").read_text():
        return
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    [root, *_] = [words[1] for words in mounts if words[2] == "cgroup2"] or ["/nonexistent"]
    [path, *_] = [line.removeprefix("0::/") for line in group.splitlines() if line.startswith("0::/")] or [".."]
    if ".." not in path.split("/"):
        Path(root, path, "cgroup.procs").write_text("0")
    if group != Path("/proc/self/cgroup").read_text():
        raise PermissionError("who asks is in a control group of its own")


def status(process: Path) -> dict[str, str]:
    """Returns what /proc says of a process."""
    lines = (process / "status").read_text(errors="replace").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def surroundings(process: Path) -> list[str | None]:
    """Returns what differs for a process in a sandbox: its namespaces, and whether its system calls are filtered."""
    spaces = [os.readlink(space) for space in sorted((process / "ns").iterdir())]
    return [*spaces, *map(status(process).get, ("Seccomp", "Seccomp_filters"))]


# --- as the account -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Wanted:
    """A process that was asked for, as `subprocess.Popen` would start it."""

    command: list[str]
    environment: dict[str, str]
    folder: str


def receive(kind: Kind, connection: socket.socket) -> Wanted:
    """Returns what is asked for, and takes over its standard output and error; not in time, this process is killed.

    Raises:
        ValueError: for a request that is too long or none, and one for which no fork here is right.
    """
    signal.alarm(SECONDS)
    connection.send(LISTENS)  # what was sent before an answer could hide that
    request, files, flags, _ = socket.recv_fds(connection, LARGEST, 2)
    signal.alarm(0)
    if flags & socket.MSG_TRUNC:
        raise ValueError(f"more than {LARGEST} bytes were sent")
    for file, standard in zip(files, (1, 2), strict=False):  # what else is sent was not received
        os.dup2(file, standard)
        os.close(file)
    wanted = Wanted(**json.loads(request))
    if wanted.command[:3] != [sys.executable, "-m", kind.module]:
        raise ValueError(f"{wanted.command[:3]} is not one of the {kind.name} of {sys.executable}")
    for name in {*os.environ, *wanted.environment}:
        if name.startswith(EARLY) and wanted.environment.get(name) != os.environ.get(name):
            raise ValueError(f"{name} is read when Python starts, and has another value here")
    os.chdir(wanted.folder)
    return wanted


def begin(kind: Kind, connection: socket.socket) -> None:
    """Tells the asker which process it has got; Linux kills a kernel when its asker ends, as nothing else comes."""
    if kind.ends_with_asker:
        fcntl.fcntl(connection, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(connection, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(connection, fcntl.F_SETFL, fcntl.fcntl(connection, fcntl.F_GETFL) | fcntl.FASYNC)
    handle = os.pidfd_open(os.getpid())
    socket.send_fds(connection, [b"%d" % os.getpid()], [handle])  # fails when the asker has ended before
    os.close(handle)
    if not kind.ends_with_asker:
        connection.close()


def run(kind: Kind, wanted: Wanted) -> None:
    """Runs what was wanted, to its end, with what Python and the libraries had noted of another folder, user, time."""
    import multiprocessing.process

    os.environ.clear()
    os.environ.update(wanted.environment)
    time.tzset()
    tempfile.tempdir = None
    multiprocessing.process.ORIGINAL_DIR = wanted.folder  # type: ignore[attr-defined]  # private to most
    multiprocessing.process.current_process().authkey = os.urandom(32)
    launcher = importlib.util.find_spec(kind.module)
    sys.argv = [str(launcher and launcher.origin), *wanted.command[3:]]
    if kind is KINDS["servers"]:
        from jupyterhub import singleuser  # it reads the environment

        singleuser.main()
    else:
        run_kernel()


def run_kernel() -> None:
    """Runs the kernel that `sys.argv` says, with random numbers of its own."""
    import numpy as np
    import torch
    from ipykernel import kernelapp

    np.random.seed()  # as in a fresh process; Python's own generator has seen to it
    torch.seed()
    torch.set_num_threads(torch.get_num_threads())  # makes the pool anew, before threads of a student come together
    kernelapp.launch_new_instance([*sys.argv[1:], "--IPKernelApp.parent_handle=1"])  # 1: it looks for no parent


def main(kind: Kind, path: Path, students: str, instructors: str) -> None:
    """Serves for ever; in each child it ends with what that has become."""
    os.umask(0o022)
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)  # it ends with the hub, also when that is killed
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    groups = grp.getgrnam(students).gr_gid, grp.getgrnam(instructors).gr_gid
    warm_up(kind, path.with_name("matplotlib"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(path))
        path.chmod(0o666)
        listener.listen(1024)
        connection, asker = serve(kind, listener, *groups)
    # A child of its own, from here to its end.
    os.setsid()
    prctl(PR_SET_NAME, kind.process)
    connection = keep_only(connection)
    try:
        become(asker)
        wanted = receive(kind, connection)
        begin(kind, connection)
    except BaseException as problem:  # noqa: BLE001 - whatever it is, a process that is half root's ends here
        refuse(connection, f"{type(problem).__name__}: {problem}")
        os._exit(1)
    run(kind, wanted)


if __name__ == "__main__":
    del sys.path[0]  # this folder
    main(KINDS[sys.argv[1]], Path(sys.argv[2]), *sys.argv[3:])
