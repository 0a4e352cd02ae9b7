"""The warm parent of all students' processes: it has imported what notebooks need, and runs no student's code.

Started as `python -I -m grading.forkserver FD`. For each socket that arrives on FD it forks once; the child locks
itself into the sandbox and serves that socket. This process holds no exercise, no solution and no gradebook, so
nothing of the kind can be found in its children's memory.
"""

from __future__ import annotations

import array
import os
import signal
import socket
import sys
from pathlib import Path

from grading import sandbox

HELPERS = Path(__file__).resolve().parent.parent / "helpers"
DATA = HELPERS.parent / "data"


def policy(limits: sandbox.Limits) -> sandbox.Policy:
    """Returns what students' processes may see: the system, Python, the helpers, the embedded corpora."""
    mine = [folder for folder in (HELPERS, DATA) if folder.is_dir()]
    return sandbox.Policy([*sandbox.readable_system(), *mine], limits=limits)


def main(control: socket.socket, limits: sandbox.Limits, protected: bool) -> None:
    """Forks for each socket that arrives, until the other side ends."""
    import matplotlib as mpl
    import numpy  # noqa: F401 - imported here once, so that no student has to
    import pandas  # noqa: F401
    import sympy  # noqa: F401
    import torch

    from helpers.checking import serve

    mpl.use("agg")
    import matplotlib.pyplot as plt  # noqa: F401

    import helpers.check
    import helpers.models
    import helpers.plots  # noqa: F401

    torch.set_num_threads(1)  # a fork of a process that has used two threads would hang
    shell = serve.make_shell()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended children leave no zombies
    control.sendall(b"r")  # ready
    while True:
        data, handles, _, _ = socket.recv_fds(control, 1, 1)
        if not data:
            return
        pid = os.fork()
        if pid == 0:
            _student(socket.socket(fileno=handles[0]), limits, shell, protected)
        for handle in handles:
            os.close(handle)
        control.sendall(array.array("q", [pid]).tobytes())


def _student(channel: socket.socket, limits: sandbox.Limits, shell: object, protected: bool) -> None:
    """Becomes one student's process: locked in, then serving. Never returns."""
    from helpers.checking import serve

    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        channel = socket.socket(fileno=os.dup2(channel.detach(), 3))
        os.closerange(4, 4096)
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        os.close(nothing)
        if protected:
            sandbox.enter(policy(limits))
        os.environ["TMPDIR"] = os.getcwd()
        serve.serve(channel, shell)
    finally:
        os._exit(0)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as parent:
        main(parent, sandbox.Limits(), protected=sys.argv[2] == "protected")
