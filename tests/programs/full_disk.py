"""Grades a class twice on a file system of its own: when that is full, and when there is room again.

Run by `test_faults.py`, which passes the places as JSON.
"""

import ctypes
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

settings = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
flags = 0x20000 | (0 if os.geteuid() == 0 else 0x10000000)
uid, gid = os.geteuid(), os.getegid()
assert libc.unshare(flags) == 0, os.strerror(ctypes.get_errno())
if uid:
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
assert libc.mount(b"none", b"/", None, 0x4000 | (1 << 18), None) == 0  # nobody else sees what follows
place = Path(settings["place"])
assert libc.mount(b"tmpfs", str(place).encode(), b"tmpfs", 0, b"size=12m") == 0, os.strerror(ctypes.get_errno())
course = place / "course"
shutil.copytree(settings["template"], course)
command = [sys.executable, "-m", "grading", "autograde", "--course", str(course), "--workers", "1"]
filler = place / "filler"
free = os.statvfs(place).f_bavail * os.statvfs(place).f_frsize
filler.write_bytes(bytes(max(0, free - settings["room"])))
first = subprocess.run(command, capture_output=True, text=True, cwd=settings["root"])
filler.unlink()
second = subprocess.run(command, capture_output=True, text=True, cwd=settings["root"])
shutil.copytree(course, settings["copy"])
print(json.dumps([first.returncode, first.stderr[-2000:], second.returncode, second.stderr[-2000:]]))
