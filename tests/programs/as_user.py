"""Becomes an ordinary user and runs a command: run by `test_faults.py` as root, with a user id, a folder and a command.

Where Python lies in a folder that is closed to others, such as root's own, the folder is replaced by an empty one that
is open, with nothing but Python in it, in a mount namespace of this process alone.
"""

import ctypes
import os
import sys
from pathlib import Path
from typing import Any

uid, folder, *command = int(sys.argv[1]), sys.argv[2], *sys.argv[3:]
libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: Any) -> None:
    assert getattr(libc, name)(*arguments) == 0, f"{name}: {os.strerror(ctypes.get_errno())}"


python = Path(os.path.realpath(sys.base_prefix))
closed = [place for place in reversed([python, *python.parents]) if not place.stat().st_mode & 1]
call("unshare", 0x20000)
call("mount", b"none", b"/", None, 0x4000 | (1 << 18), None)
if closed:
    aside = Path(folder, "python")
    aside.mkdir()
    call("mount", bytes(python), bytes(aside), None, 4096 | 16384, None)
    call("mount", b"tmpfs", bytes(closed[0]), b"tmpfs", 0, b"mode=755,size=1m")
    python.mkdir(parents=True, exist_ok=True)
    call("mount", bytes(aside), bytes(python), None, 4096 | 16384, None)
os.setgroups([])
os.setgid(uid)
os.setuid(uid)
os.execve(command[0], command, {"PATH": os.environ["PATH"], "HOME": folder, "OMP_NUM_THREADS": "1"})
