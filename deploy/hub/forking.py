"""Asks the hub's services (`warm.py`) for processes, as the account that gets them.

    python -I -S forking.py FILE COMMAND...

starts a JupyterLab, by COMMAND: as a fork, whose process it writes to the open FILE, or where there is none, itself.
It needs the standard library alone, since for each server that is started it takes a hundredth of a second then.
"""

import contextlib
import json
import os
import select
import signal
import socket
import sys
from pathlib import Path

SOCKETS = Path(__file__).resolve().parents[1] / "warm"  # beside the folder of settings; see jupyterhub_config.py
LISTENS = b"!"  # what a service says when it wants to know which process; all else is why there is none
SECONDS = 60.0  # for an answer: the fork takes a hundredth of one, and a hundred may ask at once


class Process:
    """A process that is not a child of this one, with what Jupyter asks of a `Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int, handle: int, connection: socket.socket | None = None) -> None:
        self.pid = pid
        self._handle = handle  # of this very process, whoever has its number later
        self._connection = connection  # a kernel is killed when it is closed

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
    """Returns a new process, as the service at a socket forks it.

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


def main(file: int, command: list[str]) -> None:
    """Starts a JupyterLab, or becomes it."""
    try:
        process = forked(SOCKETS / "servers", command, dict(os.environ), str(Path.cwd()))
    except OSError as problem:
        print(f"This JupyterLab is not forked but starts by itself: {problem}", file=sys.stderr, flush=True)
        os.close(file)
        os.execvp(command[0], command)
    os.write(file, str(process.pid).encode())


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
