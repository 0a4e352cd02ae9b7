"""Kernels for the replay of notebooks, forked from one process that has imported what takes long to import.

Eighteen kernels import the same libraries, three CPU seconds each. A kernel that is forked has the libraries' modules
and nothing else in common with others: the course's own modules are imported in each. Where none can be forked a
notebook gets a kernel as ever, and `make test-all` replays the notebooks in such kernels alone.
"""

import gc
import importlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbval.kernel
from jupyter_client import manager
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from deploy.hub.forking import Process

SOCKET = "TESTS_KERNELS"  # the variable that names the socket on which kernels are asked for
LAUNCHER = "ipykernel_launcher"
# Not tqdm, which asks at its import whether a kernel imports it.
LIBRARIES = ("ipykernel.kernelapp", "matplotlib.figure", "pandas", "sympy", "torch")
SECONDS = 120.0  # for the imports above, on a busy machine


def begin() -> Callable[[], None]:
    """Starts the process that kernels are forked from, for this process and those that it starts; returns what ends it.

    It ends with this process, too.
    """
    if sys.platform != "linux":
        return lambda: None
    with socket.socket(socket.AF_UNIX) as listener:
        folder = tempfile.mkdtemp(prefix="kernels-")
        os.environ[SOCKET] = f"{folder}/socket"
        listener.bind(os.environ[SOCKET])
        listener.listen(100)  # who asks before the server has imported all waits
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.kernels", str(listener.fileno()), folder],
            stdin=subprocess.PIPE,  # its end tells that this process has ended
            pass_fds=[listener.fileno()],
            cwd=Path(__file__).parents[1],
            start_new_session=True,
        )

    def end() -> None:
        server.communicate()
        os.environ.pop(SOCKET, None)

    return end


def use() -> None:
    """Lets nbval take its kernels from there."""
    if SOCKET in os.environ:
        nbval.kernel.KernelManager = Manager


class Manager(manager.KernelManager):
    """A manager whose kernels are forked."""

    def start_kernel(self, **how: Any) -> None:
        """Starts the kernel."""
        self.kernel_id = str(uuid.uuid4())
        self.provisioner = Forked(kernel_id=self.kernel_id, kernel_spec=self.kernel_spec, parent=self)
        super().start_kernel(**how)


class Forked(LocalProvisioner):
    """A kernel's process: a fork where one can be had, else one of its own."""

    process: Any

    async def launch_kernel(self, cmd: list[str], **how: Any) -> Any:
        """Starts the process; returns how to connect to the kernel."""
        try:
            self.process = forked(cmd, how["env"], how.get("cwd") or os.getcwd())
        except (OSError, ValueError) as problem:
            self.log.warning("no kernel can be forked, it gets a process of its own: %r", problem)
            return await super().launch_kernel(cmd, **how)
        self.pid = self.pgid = self.process.pid
        return self.connection_info


def forked(command: list[str], environment: dict[str, str], folder: str) -> Process:
    """Returns the process of a new kernel.

    Raises:
        OSError: when nobody forks one in time.
        ValueError: when the command is not that of an IPython kernel of this Python, or no number is answered.
    """
    if command[0] != sys.executable or LAUNCHER not in command:
        raise ValueError(f"not a kernel of {sys.executable}: {command}")
    arguments = command[command.index(LAUNCHER) + 1 :]
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(SECONDS)
        connection.connect(os.environ[SOCKET])
        request = {"arguments": arguments, "environment": environment, "folder": str(folder)}
        connection.sendall(json.dumps(request).encode() + b"\n")
        pid = int(connection.makefile().readline())
        return Process(pid, os.pidfd_open(pid))


def serve(descriptor: str, folder: str) -> None:
    """Forks a kernel for each who asks at a socket, until the standard input ends; then deletes the socket's folder."""
    with socket.socket(fileno=int(descriptor)) as listener:
        for library in LIBRARIES:
            importlib.import_module(library)
        gc.collect()
        gc.freeze()  # else each kernel's first collection writes to all pages that it shares
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no kernel is waited for
        while sys.stdin not in (ready := select.select([listener, sys.stdin], [], [])[0]):
            connection, _ = ready[0].accept()
            with connection:
                request = json.loads(connection.makefile().readline())
                if pid := os.fork():
                    connection.sendall(b"%d\n" % pid)
                    continue
            listener.close()
            _be_kernel(**request)
    shutil.rmtree(folder)


def _be_kernel(arguments: list[str], environment: dict[str, str], folder: str) -> None:
    """Runs a kernel in this process, to its end, as if it had been started for that."""
    try:
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        os.chdir(folder)
        os.environ.clear()
        # A kernel ends with the process that has this number, if it is its parent.
        os.environ.update(environment | {"JPY_PARENT_PID": str(os.getppid())})
        sys.argv = [LAUNCHER, *arguments]
        kernelapp = importlib.import_module("ipykernel.kernelapp")
        kernelapp.launch_new_instance()
    finally:
        os._exit(0)  # whatever happens, never on into what the server does


if __name__ == "__main__":
    del sys.path[0]  # the folder in which it was started: a kernel's own path has its notebook's
    serve(*sys.argv[1:])
