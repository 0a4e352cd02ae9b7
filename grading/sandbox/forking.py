"""The warm parent of all students' processes: it has imported what notebooks need, and runs no student's code.

Started by `grading.zygote`. For each socket that arrives with "s" it forks a server, which says "r" on that socket;
for each that arrives there with "f" the server forks a student's process, which locks itself into the sandbox and
serves that socket. These processes hold no exercise, no solution and no gradebook, so nothing of the kind can be found
in their children's memory.
"""

from __future__ import annotations

import array
import json
import os
import signal
import socket
import sys
from pathlib import Path

from grading import sandbox
from grading.course import ROOT

SHOWN = ("helpers", "data")  # what students have too


def policy(limits: sandbox.Limits) -> sandbox.Policy:
    """Returns what students' processes may see: the system, Python, the helpers, the embedded corpora.

    The course is hidden wherever it lies: in a folder of the system, or installed beside the libraries.
    """
    system = sandbox.readable_system()
    mine = [ROOT / name for name in SHOWN if (ROOT / name).is_dir()]
    within = any(folder in ROOT.parents for folder in system) and ROOT.name not in sandbox.PACKAGES
    course = [ROOT] if within else []
    installed = [Path(folder) / "grading" for folder in sys.path if folder]
    return sandbox.Policy([*system, *mine], [*course, *installed], limits=limits)


def main(control: socket.socket, limits: sandbox.Limits, protected: bool) -> None:
    """Forks for each socket that arrives, until the other side ends; returns in each of the servers too."""
    import matplotlib as mpl
    import numpy  # noqa: F401 - imported here once, so that no student has to
    import pandas  # noqa: F401
    import sympy  # noqa: F401
    import torch

    from helpers.checking import serve

    mpl.use("agg")
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")  # loads what draws, too

    import helpers.check
    import helpers.models
    import helpers.plots  # noqa: F401

    torch.set_num_threads(1)  # a fork of a process that has used two threads would hang
    torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)  # the first optimizer imports for a second
    shell = serve.make_shell()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended children leave no zombies
    allowed = policy(limits)
    while True:
        try:
            kind, handles, _, _ = socket.recv_fds(control, 1, 1)
        except ConnectionError:  # the other side was killed
            return
        if not kind:
            return
        me = os.getpid()
        pid = os.fork()
        if pid == 0:
            if kind != b"s":
                _student(socket.socket(fileno=handles[0]), allowed if protected else None, shell, me)
            control.close()
            control = socket.socket(fileno=handles[0])
            control.sendall(b"r")  # ready
            continue
        for handle in handles:
            os.close(handle)
        if kind == b"f":
            control.sendall(array.array("q", [pid]).tobytes())


def _student(channel: socket.socket, allowed: sandbox.Policy | None, shell: object, server: int) -> None:
    """Becomes one student's process: locked in, then serving. Never returns."""
    import torch

    from helpers.checking import serve

    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        channel = socket.socket(fileno=os.dup2(channel.detach(), 3))
        os.closerange(4, 4096)
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        os.close(nothing)
        if allowed is not None:
            sandbox.enter(allowed, server)
        # After a fork PyTorch makes its pool of threads anew at the first use. Threads of a student that come
        # there together would find it half made ("Invalid thread pool!"), so it is made before there are any.
        torch.set_num_threads(1)
        os.environ["TMPDIR"] = os.getcwd()
        serve.serve(channel, shell)
    finally:
        os._exit(0)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as parent:
        main(parent, sandbox.Limits(**json.loads(sys.argv[3])), protected=sys.argv[2] == "protected")
