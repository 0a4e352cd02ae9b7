"""Start a module of this course in a Python of its own, with a socket between the two. Standard library only."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from typing import Any

from grading.folder.course import ROOT

# The new Python finds modules where this one finds them, this course before any other that is installed.
_START = (
    "import json, runpy, sys; sys.path[:] = json.loads(sys.argv.pop(1)); "
    "runpy.run_module(sys.argv.pop(1), run_name='__main__')"
)


def start(
    module: str, *arguments: str, isolated: bool = False, **options: Any
) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Starts a module as `__main__`; returns its process, which reads no input, and our end of the socket.

    Args:
        module: its full name; `sys.argv[1]` is then the number of its own end of the socket.
        *arguments: what follows in its `sys.argv`.
        isolated: Python ignores environment variables and the user's own packages (`-I`).
        **options: those of `subprocess.Popen`. Without `env` it gets the environment of this process, with one thread
            for each computation, and is not taken for a part of nbgrader's autograding.

    Raises:
        OSError: when no process can be started.
    """
    places = json.dumps([str(ROOT), *(folder for folder in sys.path if os.path.isabs(folder))])
    inherited = {name: value for name, value in os.environ.items() if name != "NBGRADER_EXECUTION"}
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [
                *(sys.executable, *(["-I"] if isolated else []), "-c", _START),
                *(places, module, str(theirs.fileno()), *arguments),
            ],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            **{"env": inherited | {"OMP_NUM_THREADS": "1"}, **options},
        )
    return process, ours
