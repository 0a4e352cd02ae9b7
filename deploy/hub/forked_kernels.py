"""Kernels that the hub's service forks (`warm_kernels.py`); where none is forked, one starts as ever.

`settings/student/jupyter_server_config.py` has a student's JupyterLab take them.
"""

import asyncio
import contextlib
import json
import os
import select
import signal
import socket
from pathlib import Path
from typing import Any

from jupyter_client.provisioning.local_provisioner import LocalProvisioner

SOCKET = (
    Path(__file__).resolve().parents[1] / "kernels" / "socket"
)  # beside the folder of settings; see jupyterhub_config.py
LISTENS = b"!"  # what the service says when it wants to know which kernel; all else is why there is none
SECONDS = 10.0  # for an answer; the fork takes a hundredth of one
KNOWN = {"cwd", "env"}  # what of the options of `subprocess.Popen` is handed on


class Process:
    """A process that is not a child of this one, with what Jupyter asks of a `Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int, handle: int, connection: socket.socket | None = None) -> None:
        self.pid = pid
        self._handle = handle  # of this very process, whoever has its number later
        self._connection = connection  # the process is killed when it is closed

    def poll(self) -> int | None:
        """Returns None while it runs, and then 0: with what it has ended is not known."""
        return 0 if select.select([self._handle], [], [], 0)[0] else None

    def wait(self) -> int:
        """Returns when it has ended."""
        select.select([self._handle], [], [])
        return 0

    def send_signal(self, number: int) -> None:
        """Sends a signal to the process alone, if it has not ended."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, number)

    def terminate(self) -> None:
        """Asks it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Ends it."""
        self.send_signal(signal.SIGKILL)

    def __del__(self) -> None:
        os.close(self._handle)
        if self._connection:
            self._connection.close()


def forked(path: Path, command: list[str], environment: dict[str, str], folder: str) -> Process:
    """Returns the process of a new kernel.

    Raises:
        OSError: when none is forked; it says why.
    """
    with contextlib.ExitStack() as opened:
        connection = opened.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
        connection.settimeout(SECONDS)
        connection.connect(str(path))
        if (answer := connection.recv(10_000)) != LISTENS:
            raise OSError(answer.decode(errors="replace") or "no answer")
        request = {"command": command, "environment": environment, "folder": folder}
        socket.send_fds(connection, [json.dumps(request).encode()], [1, 2])
        answer, handles, _, _ = socket.recv_fds(connection, 10_000, 1)
        if not handles:
            raise OSError(answer.decode(errors="replace") or "no answer")
        connection.settimeout(None)
        opened.pop_all()
        return Process(int(answer), handles[0], connection)


class ForkedProvisioner(LocalProvisioner):
    """Has kernels forked, and starts those itself for which that cannot be."""

    process: Any

    async def launch_kernel(self, cmd: list[str], **how: Any) -> Any:
        """Starts the process; returns how to connect to the kernel."""
        try:
            if unknown := how.keys() - KNOWN:
                raise OSError(f"it wants {', '.join(sorted(unknown))}")
            folder = str(Path(how.get("cwd") or "").absolute())
            self.process = await asyncio.to_thread(forked, SOCKET, cmd, how["env"], folder)
        except OSError as problem:
            self.log.warning("This kernel is not forked but starts by itself: %s", problem)
            return await super().launch_kernel(cmd, **how)
        self.pid = self.pgid = self.process.pid  # it leads a group of its own
        self.cwd = how.get("cwd", Path.cwd())
        return self.connection_info
