"""Attempts to read what a student must not see, and to carry it out in errors, results and files."""

from __future__ import annotations

from pathlib import Path

from tests.hostile.case import Case, World

# Takes what it can, then tells it in each way there is: printed, in the error of the cell, in the name and the text of
# the exception of an answer, and in a file. Canaries have sixteen hexadecimal digits after their first word.
_TAKE = """
import os, re, sys
from pathlib import Path
_found = []
def _take(read):
    try:
        data = read()
        text = data.decode("latin-1") if isinstance(data, bytes) else str(data)
        _found.extend(re.findall("canary-[0-9a-f]{16}", text) or [text[:60]])
    except BaseException as problem:
        _found.append(type(problem).__name__)
{steps}
_told = " ".join(dict.fromkeys(_found))
print(_told)
Path("told.txt").write_text(_told)
def causal_mask(size):
    print(_told)
    raise type(_told[:70], (Exception,), {})(_told)
def padding_mask(lengths, size):
    return _told
raise RuntimeError(_told[-250:])
"""


def _reads(name: str, *steps: str) -> Case:
    return Case(name, {"causal_mask": _TAKE.replace("{steps}", "\n".join(steps))})


def _read(path: str) -> str:
    return f"_take(lambda: Path({path!r}).read_bytes())"


def _linked(target: str, name: str = "01_causal_mask.ipynb"):
    def change(folder: Path, world: World) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(world.fill(target))

    return change


CASES = [
    _reads("reads_a_secret", _read("@SECRET@"), _read("/proc/1/root@SECRET@"), _read("/proc/self/root@SECRET@")),
    _reads("reads_the_environment", "_take(lambda: dict(os.environ))", *(_read(f"/proc/{p}/environ") for p in ("self", 1, 2))),
    _reads("reads_the_reference", *(_read(f"@REPOSITORY@/{p}") for p in ("grading/exercises/01_causal_mask/causal_mask.py", "solutions/01_causal_mask.py", "grading/exercises/01_causal_mask/causal_mask.answers.py"))),
    _reads("imports_the_reference", "_take(lambda: __import__('grading.definitions.exercise').exercise.load('01_causal_mask'))", "_take(lambda: __import__('grading.authoring.bank'))"),
    _reads("reads_the_master", _read("@COURSE@/solutions/01_causal_mask/01_causal_mask.ipynb")),
    _reads("reads_the_gradebook", _read("@COURSE@/gradebook/gradebook.db"), "import sqlite3", "_take(lambda: sqlite3.connect('file:@COURSE@/gradebook/gradebook.db?mode=ro', uri=True).execute('select * from student').fetchall())"),
    _reads("reads_another_submission", _read("@VICTIM@/01_causal_mask.ipynb"), "_take(lambda: os.listdir('@COURSE@/gradebook/submitted'))"),
    _reads("walks_upwards", "for up in range(8):\n    for name in ('solutions', 'gradebook', 'secret.txt', 'grading'):\n        _take(lambda: [p.read_bytes() for p in Path(*['..'] * up, name).rglob('*') if p.is_file()])"),
    _reads("walks_everywhere", "_take(lambda: [os.path.join(f, n) for f, _, names in os.walk('/') if not f.startswith(('/usr', '/lib', '/proc', sys.prefix, sys.base_prefix)) for n in names if n.endswith(('.ipynb', '.db')) or 'secret' in n])"),
    _reads("reads_hidden_cells", "shell = get_ipython()", "_take(lambda: (shell.user_ns.get('In'), shell.user_ns.get('Out'), list(shell.history_manager.get_range())))"),
    _reads("climbs_the_frames", "frame = sys._getframe()", "while frame:\n    _take(lambda: {k: repr(v)[:200] for k, v in frame.f_locals.items() if k in ('exercise', 'examples', 'wanted', 'case', 'verdict', 'work', 'master')})\n    frame = frame.f_back"),
    _reads("searches_all_objects", "import gc", "_take(lambda: [o for o in gc.get_objects() if type(o).__name__ in ('Exercise', 'Stage', 'Work', 'Master', 'Gradebook', 'ForkServerClient')])", "_take(lambda: [s for o in gc.get_objects() if type(o) is dict for s in list(o.values()) if type(s) is str and re.search('canary-[0-9a-f]{16}', s)])"),
    _reads("searches_its_memory", "for line in open('/proc/self/maps'):\n    place, mode, rest = line.split(maxsplit=2)\n    if mode.startswith('rw'):\n        low, high = (int(x, 16) for x in place.split('-'))\n        with open('/proc/self/mem', 'rb', 0) as memory:\n            memory.seek(low)\n            _take(lambda: b' '.join(re.findall(rb'canary-[0-9a-f]{16}', memory.read(min(high - low, 1 << 27)))))"),
    _reads("reads_other_processes", "for p in os.listdir('/proc'):\n    if p.isdigit():\n        for n in ('environ', 'cmdline', 'maps', 'cwd/secret.txt'): _take(lambda: Path('/proc', p, n).read_bytes())"),
    _reads("reads_open_files", "for n in range(256):\n    if n != 3: _take(lambda: os.pread(n, 4096, 0))", "_take(lambda: [os.readlink(f'/proc/self/fd/{n}') for n in os.listdir('/proc/self/fd')])"),
    _reads("asks_the_shell", "_take(lambda: get_ipython().getoutput('cat @SECRET@; env; ls @COURSE@ /proc/1/cwd/ 2>&1; cat /etc/shadow /etc/passwd'))", "get_ipython().run_line_magic('run', '@SECRET@')"),
    _reads("opens_by_number", "import ctypes", "libc = ctypes.CDLL(None)", "_take(lambda: os.read(libc.openat(-100, b'@SECRET@', 0), 99))", "_take(lambda: os.read(libc.open(b'/proc/1/root@SECRET@', 0), 99))"),
    _reads("sends_it_over_the_network", "import socket, urllib.request", "_take(lambda: socket.create_connection(('127.0.0.1', @PORT@), 2).sendall(b'canary'))", "_take(lambda: urllib.request.urlopen('http://127.0.0.1:@PORT@/canary', timeout=2).read())", "_take(lambda: socket.getaddrinfo('localhost', 80))", "_take(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'canary', ('127.0.0.1', @PORT@)))", "_take(lambda: socket.socketpair(socket.AF_INET))"),
    _reads("asks_for_a_name", "import getpass, pwd, platform", "_take(lambda: [p.pw_name for p in pwd.getpwall()])", "_take(lambda: getpass.getuser())", "_take(lambda: platform.node())"),
    Case("notebook_is_a_link_to_the_master", files=_linked("@COURSE@/solutions/01_causal_mask/01_causal_mask.ipynb"), most=0, gradable=False),
    Case("notebook_is_a_link_to_a_classmate", files=_linked("@VICTIM@/01_causal_mask.ipynb"), most=0, gradable=False),
    Case("data_is_a_link_to_a_secret", {"causal_mask": _TAKE.replace("{steps}", _read("data.txt"))}, files=_linked("@SECRET@", "data.txt")),
    Case("timestamp_is_a_link_to_a_secret", files=_linked("@SECRET@", "timestamp.txt")),
]  # fmt: skip
