"""A way into a sandbox, for tests that try what can be done there."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from grading import sandbox


def inside(action: Callable[[], Any], readable: Sequence[Path] = (), log: int = -1, **limits: Any) -> tuple[str, int]:
    """Returns what an action gives, or the name of its error, and the exit status, in a sandbox of its own."""
    limits.setdefault("memory", 1 << 40)  # a forked test process is large by itself; one test is about memory
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            shown = [*sandbox.readable_system(), *readable]
            sandbox.enter(sandbox.Policy(shown, limits=sandbox.Limits(**limits)), log=log)
            os.write(write, str(action()).encode())
        except BaseException as problem:  # noqa: BLE001 - whatever it is, the test wants to see it
            os.write(write, type(problem).__name__.encode())
        finally:
            os._exit(0)
    os.close(write)
    output = b""
    while chunk := os.read(read, 4096):
        output += chunk
    os.close(read)
    return output.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
