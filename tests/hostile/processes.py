"""Attempts to outlive the grading, to stop it, and to use up time, memory, processes or room."""

from tests.hostile.case import Case

_DEAF = """
import os, signal, sys, threading, time
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))
for _clock in (signal.ITIMER_PROF, signal.ITIMER_REAL, signal.ITIMER_VIRTUAL): signal.setitimer(_clock, 0)
"""


def _answer(
    name: str,
    body: str,
    before: str = "import os, signal, sys, threading, time",
    costly: bool = True,
    least: float = 3.0,
) -> Case:
    lines = "\n    ".join(body.splitlines())
    return Case(name, {"causal_mask": f"{before}\ndef causal_mask(size):\n    {lines}"}, least=least, costly=costly)


def _cell(name: str, source: str, costly: bool = True) -> Case:
    return Case(name, {"causal_mask": f"import os, signal, sys, threading, time\n{source}"}, least=3.0, costly=costly)


_STAY = "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(600)\n    os._exit(0)"

CASES = [
    # Quick: what stays behind, what ends, what signals.
    _cell("leaves_a_process", _STAY, costly=False),
    _answer("leaves_a_process_and_exits", _STAY + "\nos._exit(0)", costly=False),
    _cell("leaves_a_shell_command", "import subprocess\nsubprocess.Popen('setsid nohup sleep 600 & disown', shell=True, executable='/bin/bash')", costly=False),
    _cell("leaves_a_thread", "threading.Thread(target=lambda: time.sleep(600)).start()", costly=False),
    _answer("hands_its_channel_to_a_child", "if os.fork(): os._exit(0)\ntime.sleep(600)", costly=False),
    _answer("ends_at_once", "os._exit(0)", costly=False),
    _cell("ends_at_once_in_its_cell", "os._exit(0)", costly=False),
    _answer("aborts", "os.abort()", costly=False),
    _answer("reads_address_zero", "import ctypes\nctypes.string_at(0)", costly=False),
    _answer("kills_everything", "os.kill(-1, 9)", costly=False),
    _cell("kills_its_group_and_parent", "for n in (0, os.getppid(), 1, -1):\n    for s in (2, 15, 9):\n        try: os.kill(n, s)\n        except OSError: pass", costly=False),
    _answer("recurses_for_ever", "return causal_mask(size)", costly=False),
    _answer("recurses_in_the_machine", "sys.setrecursionlimit(10**9)\nx = []\nfor _ in range(10**6): x = [x]\nreturn repr(x)", costly=False),
    _answer("closes_its_channel", "os.closerange(0, 256)\nreturn 1", costly=False),
    _answer("fills_its_channel_with_text", "os.write(3, b'all checks passed' * 10000)\nreturn 1", costly=False),
    # Costly: graded with small limits.
    _answer("loops", "while True: pass"),
    _cell("loops_in_its_cell", "while True: pass"),
    _answer("loops_and_catches_all", "while True:\n    try:\n        while True: pass\n    except BaseException: pass"),
    _answer("loops_deaf", "while True: pass", _DEAF),
    _answer("loops_in_the_machine", "return (lambda: sum(iter(int, 1)))()"),
    _answer("matches_for_ever", "import re\nreturn re.match('(a*)*b', 'a' * 40)"),
    _answer("computes_for_ever", "return len(str(7 ** (10 ** 9)))"),
    _answer("sleeps", "time.sleep(600)"),
    _answer("sleeps_deaf", "while True: time.sleep(600)", _DEAF),
    _answer("stops_itself", "os.kill(os.getpid(), signal.SIGSTOP)"),
    _answer("waits_for_a_lock", "lock = threading.Lock(); lock.acquire(); lock.acquire()"),
    # Its copies talk on the same channel, so they may spoil its own other answers.
    _answer("loops_in_many_processes", "for _ in range(6): os.fork()\nwhile True: pass", _DEAF, least=0),
    _answer("breeds_processes", "while True:\n    try: os.fork()\n    except OSError: pass", _DEAF, least=0),
    _answer("breeds_threads", "while True: threading.Thread(target=time.sleep, args=(600,), daemon=True).start()"),
    _answer("takes_memory", "x = []\nwhile True: x.append(b'x' * (8 << 20))"),
    _answer("takes_one_large_piece", "return torch.ones(1 << 40)"),
    _answer("takes_shared_memory", "import mmap\nx = []\nfor _ in range(200):\n    x.append(mmap.mmap(-1, 8 << 20)); x[-1].write(b'x' * (8 << 20))\ntime.sleep(600)"),
    _answer("takes_memory_in_processes", "for _ in range(5):\n    if os.fork() == 0: break\nx = b'x' * (200 << 20); time.sleep(600)", _DEAF, least=0),
    _answer("takes_memory_in_sockets", "import socket\nx = [socket.socketpair() for _ in range(100)]\nfor a, b in x:\n    a.setblocking(False)\n    try:\n        while True: a.send(b'x' * 65536)\n    except OSError: pass\nreturn 1"),
    _answer("takes_memory_in_large_sockets", "import socket\nx = [socket.socketpair() for _ in range(100)]\nfor a, b in x:\n    a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)\n    a.setblocking(False)\n    try:\n        while True: a.send(b'x' * 65536)\n    except OSError: pass\nreturn 1"),
    _answer("takes_memory_in_pipes", "import fcntl\nx = [os.pipe() for _ in range(100)]\nfor a, b in x:\n    try: fcntl.fcntl(b, 1031, 1 << 20)\n    except OSError: pass\n    os.set_blocking(b, False)\n    try:\n        while True: os.write(b, b'x' * 4096)\n    except OSError: pass\nreturn 1"),
    _answer("fills_its_folder", "for n in range(10**6): open(str(n), 'wb').write(bytes(1 << 20))"),
    _answer("fills_its_folder_with_names", "for n in range(10**6): open(str(n), 'wb').close()"),
    _answer("opens_many_files", "x = [open('/dev/null') for _ in range(10**6)]"),
    _answer("prints_without_end", "while True: print('x' * 10**6)"),
    _cell("prints_much_in_its_cell", "for _ in range(100): print('x' * 10**6)\nprint(*range(10**5), sep='\\n')"),
    _cell("shows_without_end", "from IPython.display import display\nwhile True: display({'text/plain': 'x' * 1000}, raw=True)"),
    _answer("writes_one_large_file", "with open('x', 'wb') as f:\n    while True: f.write(bytes(1 << 20))"),
]  # fmt: skip
