"""The warm parent of all students' processes: it has imported what notebooks need, and runs no student's code.

Started by `grading.sandbox.fork_server`. For each socket that arrives with NEW_SERVER it forks a server, which says
READY on that socket; for each that arrives there with NEW_STUDENT the server forks a student's process, which locks
itself into the sandbox and serves that socket. On a socket that arrives with MODELS it gets the models of public
questions, which it makes for its children to copy. These processes hold no exercise, no solution and no gradebook, so
nothing of the kind can be found in their children's memory.
"""

from __future__ import annotations

import array
import contextlib
import gc
import json
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from grading import sandbox
from grading.folder.course import ROOT
from grading.sandbox import system_calls
from grading.sandbox.fork_server import Message
from grading.sandbox.namespaces import PACKAGES

SHOWN = ("helpers", "tutor", "data")  # what students have too
OLDER_NAMES = {  # see `helpers.moved`: what was there is here now
    "helpers.check": ("tutor.checks",),
    "helpers.hints": ("tutor.hints",),
    "helpers.progress": ("tutor.overview",),
    "helpers.weight_files": ("helpers.weights.files",),
    "helpers.data": ("helpers.batches", "helpers.corpora", "helpers.vocabulary"),
}
EXCHANGE = Path("/usr/local/share/nbgrader")  # what students hand in lies there where nbgrader's settings say nothing
YOUNG = 10_000  # objects between two looks for garbage: a question makes thousands of which nothing is garbage
CHANNEL, LOG = 3, 4  # file descriptors of a student's process, until it is locked in


def policy(limits: sandbox.Limits) -> sandbox.Policy:
    """Returns what students' processes may see: the system, Python, `helpers`, `tutor`, the embedded corpora.

    The course is hidden wherever it lies: in a folder of the system, or installed beside the libraries. The public
    questions with their results are hidden too: who knows them could answer without reading the inputs.
    """
    system = sandbox.readable_system()
    mine = [ROOT / name for name in SHOWN if (ROOT / name).is_dir()]
    within = any(folder in ROOT.parents for folder in system) and ROOT.name not in PACKAGES
    course = [ROOT] if within else []
    # `check` does not look at its examples here; what is installed beside the libraries has them, too.
    parts = ("grading", "tutor/check_examples")
    hidden = [Path(folder) / part for folder in [str(ROOT), *sys.path] if folder for part in parts]
    return sandbox.Policy([*system, *mine], list(dict.fromkeys([*course, *hidden, EXCHANGE])), limits=limits)


@dataclass(frozen=True)
class Warm:
    """What every student's process starts with: an IPython shell, and its sandbox (None: unprotected)."""

    shell: object
    policy: sandbox.Policy | None


def warm_up(limits: sandbox.Limits, *, protected: bool) -> Warm:
    """Imports and makes once what no student then has to wait for."""
    import matplotlib as mpl
    import numpy  # noqa: F401 - imported here once, so that no student has to
    import pandas  # noqa: F401
    import sympy  # noqa: F401
    import torch

    from grading.sandbox import serve
    from tutor.checking import forwarding, untouched
    from tutor.checking.answers import InProcess, Question

    mpl.use("agg")
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")  # loads what draws, too

    # What notebooks import.
    from helpers import (  # noqa: F401
        batches,
        bleu,
        corpora,
        diagrams,
        first_model,
        formulas,
        heads,
        llama,
        models,
        pieces,
        plots,
        real_vectors,
        training,
        weights,
    )
    from tutor import by_hand, check, guess, hint, progress, resume  # noqa: F401
    from tutor.checking import sequence_layers  # noqa: F401

    torch.set_num_threads(1)  # a fork of a process that has used two threads would hang
    _bring_older_names()
    _use_once()
    if protected:
        system_calls.build_filter(debug=_debug())
    for name in serve.NAMELESS:
        untouched.nameless(name)  # reads its code
    forwarding.parts_there()  # as they are before any student's process
    shell = serve.make_shell()
    serve.run_cell(shell, "", seconds=10.0)
    question = Question((torch.eye(2),))
    serve.encode_reply(InProcess(lambda x: torch.softmax(x, dim=-1), clock="cpu").ask(question, seconds=10.0))
    return Warm(shell, policy(limits) if protected else None)


def _bring_older_names() -> None:
    """Makes importable what cells of older notebooks import: students are told to renew them, but no mark is lost."""
    for older, newer in OLDER_NAMES.items():
        module = ModuleType(older)
        for name in newer:
            vars(module).update({key: value for key, value in vars(import_module(name)).items() if key[0] != "_"})
        sys.modules[older] = module


def _use_once() -> None:
    """Uses what imports more at its first use: PyTorch's optimizers and files, and sympy's sums, products and powers.

    A first sum of symbols takes 25 to 90 ms, which every student's process would spend. No gradient is computed here:
    where there is a GPU that starts threads, and a fork does not take them along.
    """
    import sympy
    import sympy.sets.setexpr
    import torch._dynamo  # for answers that call torch.compile

    weight = torch.nn.Parameter(torch.ones(1))
    weight.grad = torch.ones(1)
    torch.optim.SGD([weight], lr=0.1).step()
    with BytesIO() as file:
        torch.save(weight.grad, file)
        file.seek(0)
        torch.load(file, weights_only=True)
    n, m = sympy.symbols("n m", positive=True, integer=True)
    formula = sympy.simplify((n * (n - 1) / 2 + sympy.sqrt(m) ** n) / m)
    formula.subs({n: 3, m: 2}).evalf()
    sympy.Max(n, m)
    sympy.lambdify(n, n**2)


def _debug() -> bool:
    return bool(os.environ.get(system_calls.DEBUG))


def serve_servers(control: socket.socket, warm: Warm) -> None:
    """Forks a server for each socket that arrives, or makes the models it names, until the other side ends."""
    for message, channel in _arriving(control, Message.NEW_SERVER, Message.MODELS):
        if message is Message.MODELS:
            make_models(channel)
        elif os.fork() == 0:
            control.close()
            serve_students(channel, warm)
        channel.close()


def make_models(channel: socket.socket) -> None:
    """Makes the models whose recipes arrive, which the students' processes then have to copy only."""
    from tutor.checking import building, plain

    with channel.makefile("rb") as file:
        encoded = file.read()
    try:
        recipes = json.loads(encoded)
    except json.JSONDecodeError:  # the sender was killed halfway; others may still want servers
        return
    for recipe in recipes:
        building.build(plain.decode(recipe))
    building.forget_alive()  # a child that let go of them, one for each it makes, would get copies of their pages
    gc.freeze()


def serve_students(control: socket.socket, warm: Warm) -> NoReturn:
    """Forks a student's process for each socket that arrives and sends back its id, until the other side ends."""
    server = os.getpid()
    with contextlib.suppress(ConnectionError):  # the other side has ended before it could be told
        control.sendall(Message.READY)
        for _, channel in _arriving(control, Message.NEW_STUDENT):
            pid = os.fork()
            if pid == 0:
                _become_student(channel, warm, server)
            channel.close()
            control.sendall(array.array("q", [pid]).tobytes())
    os._exit(0)


def _arriving(control: socket.socket, *expected: Message) -> Iterator[tuple[Message, socket.socket]]:
    """Yields the sockets that arrive, with the message, until the other side ends.

    Raises:
        ValueError: when one comes with another message than those expected.
    """
    while True:
        try:
            message, handles, _, _ = socket.recv_fds(control, 1, 1)
        except ConnectionError:  # the other side was killed
            return
        if not message:
            return
        if Message(message) not in expected:
            wanted = " or ".join(one.name for one in expected)
            raise ValueError(f"the fork server was sent {Message(message).name}; expected {wanted}")
        yield Message(message), socket.socket(fileno=handles[0])


def _become_student(channel: socket.socket, warm: Warm, server: int) -> NoReturn:
    """Becomes one student's process: locked in, then serving."""
    import torch

    from grading.sandbox import serve

    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        channel = socket.socket(fileno=os.dup2(channel.detach(), CHANNEL))
        log = os.dup2(2, LOG) if warm.policy and _debug() else -1
        os.closerange(max(CHANNEL, log) + 1, 4096)
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        os.close(nothing)
        if warm.policy is not None:
            sandbox.enter(warm.policy, server, log)
        else:
            os.chdir(tempfile.mkdtemp(dir="."))  # cells may write files, and none that another student's cells find
        # After a fork PyTorch makes its pool of threads anew at the first use. Threads of a student that come
        # there together would find it half made ("Invalid thread pool!"), so it is made before there are any.
        torch.set_num_threads(1)
        serve.serve(channel, warm.shell)
    finally:
        os._exit(0)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as parent:
        ready = warm_up(sandbox.Limits(**json.loads(sys.argv[3])), protected=sys.argv[2] == "protected")
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended children leave no zombies
        gc.set_threshold(YOUNG)
        gc.collect()
        gc.freeze()  # a child that looked through what it shares with all would get copies of its pages
        serve_servers(parent, ready)
