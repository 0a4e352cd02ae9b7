"""Start the fork server early, while this process still imports what it needs itself. Only the standard library."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from enum import Enum
from typing import Any

from grading.folder import processes
from grading.sandbox.limits import Limits
from grading.sandbox.system_calls import DEBUG


class Message(bytes, Enum):
    """The messages on a fork server's sockets, one byte each; all but the last come with a socket of their own."""

    MODELS = b"m"
    NEW_SERVER = b"s"
    NEW_STUDENT = b"f"
    READY = b"r"


class ForkServer:
    """The process that all students' processes descend from; a context manager that leaves none behind.

    Its constructor returns at once: `server` can be asked at any time, and the answer comes when the imports are done.
    """

    def __init__(self, *, protected: bool = True, limits: Limits | None = None) -> None:
        self._protected, self._limits = protected, limits
        self._folder = (
            None if protected else tempfile.TemporaryDirectory(prefix="students-", ignore_cleanup_errors=True)
        )
        self._process, self._control = processes.start(
            "grading.sandbox.forking",
            "protected" if protected else "unprotected",
            json.dumps(asdict(limits or Limits())),
            isolated=True,
            env={
                "PATH": "/usr/bin:/bin",
                "HOME": "/home/student",
                "USER": "student",
                "LANG": "C.UTF-8",
                "OMP_NUM_THREADS": "1",
                "TORCHDYNAMO_DISABLE": "1",  # no compiler in a sandbox: `torch.compile` gives what it is given
                "NBGRADER_EXECUTION": "autograde",  # as in nbgrader: there `check` says nothing and needs no examples
                **{name: os.environ[name] for name in (DEBUG,) if name in os.environ},
            },
            cwd=self._folder.name if self._folder else "/",
        )

    def __enter__(self) -> ForkServer:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process; its servers end when their clients close the sockets."""
        self._control.close()
        self._process.kill()
        self._process.wait()
        if self._folder:
            self._folder.cleanup()

    def another(self) -> ForkServer:
        """Returns a new one like this, for when this one has ended. It has made no models."""
        return ForkServer(protected=self._protected, limits=self._limits)

    def make_models(self, recipes: Sequence[Any]) -> None:
        """Has models made from their recipes, as `plain.encode` gives them: students' processes then copy them.

        Only for what students may know. Later requests wait until they are made.
        """
        ours, theirs = socket.socketpair()
        with ours, contextlib.suppress(OSError):  # when it has ended, `server` raises an error
            with theirs:
                socket.send_fds(self._control, [Message.MODELS], [theirs.fileno()])
            ours.sendall(json.dumps(recipes).encode())

    def server(self) -> socket.socket:
        """Returns a socket on which a server of its own says `READY` when it is so. For forked processes too.

        Raises:
            OSError: when the process has ended.
        """
        ours, theirs = socket.socketpair()
        socket.send_fds(self._control, [Message.NEW_SERVER], [theirs.fileno()])
        theirs.close()
        return ours
