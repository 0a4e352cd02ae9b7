"""Becomes an ordinary user and runs a command: run by `test_faults.py` as root, with a user id, a folder and a command.

Where Python, its environment or the course lie in a folder that is closed to others, such as root's own, that folder is
replaced by an empty one that is open, with nothing but these in it, in a mount namespace of this process alone.
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


needed = sorted({Path(os.path.realpath(place)) for place in (sys.base_prefix, sys.prefix, os.getcwd())})
closed = {next((up for up in [*reversed(place.parents), place] if not up.stat().st_mode & 1), None) for place in needed}
call("unshare", 0x20000)
call("mount", b"none", b"/", None, 0x4000 | (1 << 18), None)
hidden = {place: Path(folder, f"aside-{number}") for number, place in enumerate(needed)}
for place, aside in hidden.items():
    aside.mkdir()
    call("mount", bytes(place), bytes(aside), None, 4096 | 16384, None)
for top in filter(None, closed):
    call("mount", b"tmpfs", bytes(top), b"tmpfs", 0, b"mode=755,size=1m")
for place, aside in hidden.items():
    if closed & {place, *place.parents}:
        place.mkdir(parents=True, exist_ok=True)
        call("mount", bytes(aside), bytes(place), None, 4096 | 16384, None)
os.setgroups([])
os.setgid(uid)
os.setuid(uid)
os.execve(command[0], command, {"PATH": os.environ["PATH"], "HOME": folder, "OMP_NUM_THREADS": "1"})
