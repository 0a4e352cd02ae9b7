"""Kernels that the hub's service forks: as good as those that start by themselves, and apart from each other.

Root asks for them as accounts without a name, which no user of this machine has.
"""

from __future__ import annotations

import contextlib
import grp
import json
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from deploy.hub import install
from tests.browser.hub import make_environment

ACCOUNTS = range(61_001, 61_100)
MEMORY, PROCESSES = 3 << 30, 700
SECONDS = 300.0
PROGRAM = Path(__file__).parents[1] / "programs" / "kernel_user.py"
pytestmark = [
    pytest.mark.all,
    pytest.mark.skipif(
        sys.platform != "linux" or os.geteuid() != 0, reason="the hub's service works as root, on Linux alone"
    ),
]


def until(condition: Callable[[], Any]) -> Any:
    """Waits for something to be, and returns it."""
    limit = time.monotonic() + SECONDS
    while not (found := condition()):
        assert time.monotonic() < limit, "it does not come about"
        time.sleep(0.05)
    return found


def is_settled(process: int, account: int) -> bool:
    """Says whether a process is an account's, and has the connection open and nothing else."""
    files = sorted(int(path.name) for path in Path(f"/proc/{process}/fd").iterdir())
    return status_of(process)["Uid"].split() == [str(account)] * 4 and files == [0, 1, 2, 3]


def owned_by(*accounts: int) -> list[int]:
    """Returns the processes of accounts that have not ended."""
    found = []
    for path in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if path.name.isdigit() and path.stat().st_uid in accounts and status_of(int(path.name))["State"][0] != "Z":
                found.append(int(path.name))
    return found


def end_all() -> None:
    """Ends all processes of the tests' accounts."""
    while left := owned_by(*ACCOUNTS):
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def status_of(process: int) -> dict[str, str]:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


class Hub:
    """The folder in which a hub is put in place, its service, and who may ask it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "environment" / "bin" / "python"
        self.socket = folder / "warm" / "kernels"
        # Any two groups of this machine.
        self.students, self.instructors = [group for group in grp.getgrall() if group.gr_gid][-2:]
        self.service: subprocess.Popen[str] | None = None
        self.accounts = iter(ACCOUNTS)

    def put_in_place(self) -> None:
        make_environment(self.folder)
        [packages] = (self.folder / "environment" / "lib").glob("python3*/site-packages")
        for part in ("helpers", "tutor"):
            shutil.copytree(install.ROOT / part, packages / part, ignore=shutil.ignore_patterns("__pycache__"))
        install.settings(self.folder)

    def account(self) -> int:
        """Returns an account that has asked for nothing yet, with a home."""
        account = next(self.accounts)
        self.home(account).mkdir(mode=0o700)
        os.chown(self.home(account), account, account)
        return account

    def home(self, account: int) -> Path:
        return self.folder / f"home-{account}"

    def environment(self, account: int) -> dict[str, str]:
        threads = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0"}
        return {"PATH": f"{self.python.parent}:/usr/bin:/bin", "HOME": str(self.home(account)), **threads}

    def start(self) -> None:
        """Starts the service, and returns when it forks kernels."""
        environment = self.environment(0) | {"HOME": "/nonexistent", "LC_CTYPE": "C.UTF-8"}
        settings, names = self.folder / "settings", (self.students.gr_name, self.instructors.gr_name)
        command = [self.python, settings / "warm.py", "kernels", self.socket, *names]
        self.socket.unlink(missing_ok=True)
        with (self.folder / "log").open("a") as log:
            service = subprocess.Popen(
                [str(word) for word in command], env=environment, cwd="/", stderr=log, stdout=log, text=True
            )
        self.service = service
        until(lambda: self.socket.exists() or service.poll() is not None)
        assert service.poll() is None, (self.folder / "log").read_text()

    def end(self) -> None:
        if self.service:
            self.service.kill()
            self.service.wait()

    def children(self) -> list[int]:
        """Returns the processes that the service has forked and that have not ended."""
        assert self.service
        parents = {int(path.name): path for path in Path("/proc").iterdir() if path.name.isdigit()}
        found = []
        for process in parents:
            with contextlib.suppress(OSError):
                about = status_of(process)
                if int(about["PPid"]) == self.service.pid and about["State"][0] != "Z":
                    found.append(process)
        return found

    def popen(self, account: int, *command: str | Path, groups: tuple[int, ...] | None = None) -> subprocess.Popen[str]:
        """Starts a program as an account, within limits as `roles.py` has them."""
        memory, processes = (MEMORY, MEMORY), (PROCESSES, PROCESSES)

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_DATA, memory)
            resource.setrlimit(resource.RLIMIT_NPROC, processes)
            os.nice(3)
            Path("/proc/self/oom_score_adj").write_text("400")
            os.setgroups([self.students.gr_gid, 61_077] if groups is None else groups)
            os.setresgid(account, account, account)
            os.setresuid(account, account, account)

        return subprocess.Popen(
            [str(word) for word in command],
            preexec_fn=limit,
            env=self.environment(account),
            cwd=self.home(account),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            umask=0o027,
            text=True,
        )

    def raw(self, account: int, source: str, **how: Any) -> str:
        """Runs Python as an account, with a socket `s` to the service and `ask(packet)`; returns what it prints."""
        begin = (
            "import json, os, socket, sys, time\n"
            "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
            "s.settimeout(60)\n"
            "def ask(*packets, files=()):\n"
            f"    s.connect({str(self.socket)!r})\n"
            "    text = s.recv(10_000)\n"
            "    if text != b'!': return f'0 {text.decode()}'\n"
            "    for packet in packets: socket.send_fds(s, [packet], files)\n"
            "    text, got, _, _ = socket.recv_fds(s, 10_000, 1)\n"
            "    return f'{len(got)} {text.decode()}'\n"
            "def request(command=(sys.executable, '-m', 'ipykernel_launcher', '-f', '/nonexistent/file'), **more):\n"
            "    whole = {'command': command, 'environment': dict(os.environ), 'folder': '/', **more}\n"
            "    return json.dumps(whole).encode()\n"
        )
        process = self.popen(account, self.python, "-c", begin + source, **how)
        shown, problem = process.communicate(timeout=SECONDS)
        assert process.returncode == 0, problem
        return shown.strip()


class User:
    """A program of an account that has kernels."""

    def __init__(self, hub: Hub, account: int) -> None:
        self.account = account
        self.process = hub.popen(account, hub.python, hub.folder / "kernel_user.py", hub.folder / "settings")

    def __getattr__(self, what: str) -> Callable[..., Any]:
        def ask(name: str, *arguments: Any, **more: str) -> Any:
            assert self.process.stdin
            assert self.process.stdout
            words = [what, name, *arguments, *([more] if what == "start" else [])]
            self.process.stdin.write(json.dumps(words) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
            assert line, self.process.stderr and self.process.stderr.read()[-3000:]
            return json.loads(line)

        return ask

    def forked(self, name: str = "k", **more: str) -> int:
        """Starts a kernel, which must be a forked one, and returns its process."""
        process, is_forked, said = self.start(name, **more)
        assert is_forked, said
        return int(process)

    def plain(self, name: str = "k", **more: str) -> str:
        """Starts a kernel, which must have started by itself, and returns why."""
        _, is_forked, said = self.start(name, **more)
        [why] = [line for line in said if "not forked" in line]
        assert not is_forked
        return str(why)


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    """The parts of a hub in a folder that everybody may enter, and its service."""
    assert not owned_by(*ACCOUNTS)
    with tempfile.TemporaryDirectory(prefix="hub-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        before = os.umask(0o022)
        hub = Hub(folder)
        hub.put_in_place()
        shutil.copy(PROGRAM, folder)
        os.umask(before)
        try:
            hub.start()
            yield hub
        finally:
            hub.end()
            end_all()


@pytest.fixture(autouse=True)
def _ended(hub: Hub) -> Iterator[None]:
    """Ends what a test has started."""
    yield
    end_all()


@pytest.fixture
def ada(hub: Hub) -> User:
    """A student's Jupyter."""
    return User(hub, hub.account())


@pytest.fixture
def bob(hub: Hub) -> User:
    """Another student's."""
    return User(hub, hub.account())


# --- as good as others ----------------------------------------------------------------------------

ABOUT = """
import json, locale, os, resource, signal, sys, tempfile
import matplotlib, torch, tqdm.auto
about = dict(line.rstrip().split(":\\t", 1) for line in open("/proc/self/status") if ":\\t" in line)
kept = "Uid Gid Groups Umask Seccomp SigQ SigBlk SigIgn SigCgt CapInh CapPrm CapEff CapAmb".split()
print(json.dumps({
    **{name: about[name] for name in kept},
    "limits": open("/proc/self/limits").read().splitlines()[1:],
    "nice": os.nice(0), "oom": open("/proc/self/oom_score_adj").read(), "group": open("/proc/self/cgroup").read(),
    "folder": os.getcwd(), "environment": {k: v for k, v in os.environ.items() if k != "JPY_PARENT_PID"},
    "path": sys.path, "argv": [word for word in sys.argv if "json" not in word], "flags": repr(sys.flags),
    "signals": [str(signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGCHLD, signal.SIGTERM)],
    "main": sorted(vars(sys.modules["__main__"])), "tempdir": tempfile.gettempdir(),
    "bar": tqdm.auto.tqdm.__mro__[1].__name__,
    "threads": torch.get_num_threads(), "backend": matplotlib.get_backend(), "locale": locale.getlocale(),
    "encoding": sys.getfilesystemencoding(), "own": os.access("/proc/self/mem", os.W_OK),
    "leads": os.getsid(0) == os.getpid(),
    "standard": [os.readlink(f"/proc/self/fd/{n}")[:5] for n in (1, 2)], "home": os.path.expanduser("~"),
    "options": sys.warnoptions, "filters": len(sys.modules["warnings"].filters) > 0,
}))
"""


def test_a_forked_kernel_is_in_all_that_can_be_read_like_one_that_has_started_by_itself(hub: Hub, ada: User) -> None:
    process = ada.forked("forked", MINE="é", TMPDIR=str(hub.home(ada.account)), TZ="Asia/Tokyo")
    assert process in hub.children()
    assert "it wants" not in ada.plain("plain", MINE="é", TMPDIR=str(hub.home(ada.account)), TZ="Asia/Tokyo", TORCH="1")
    forked, plain = (json.loads(ada.run(name, ABOUT)) for name in ("forked", "plain"))
    plain["environment"].pop("TORCH")
    assert {name: (forked[name], plain[name]) for name in plain if forked[name] != plain[name]} == {}
    assert forked["Uid"].split() == [str(ada.account)] * 4
    assert forked["Groups"].split() == sorted([str(hub.students.gr_gid), "61077"], key=int)
    assert any(line.startswith("Max data size") and str(MEMORY) in line for line in forked["limits"])
    assert (forked["nice"], forked["oom"].strip(), forked["Umask"]) == (os.nice(0) + 3, "400", "0027")
    clock = "import time, datetime; print(time.tzname, datetime.datetime.now().hour)"
    assert ada.run("forked", clock) == ada.run("plain", clock)


def test_no_right_of_roots_is_left(ada: User) -> None:
    about = status_of(ada.forked())
    assert {int(about[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}
    assert about["NoNewPrivs"] == "1"
    assert about["Name"] == "ipykernel"
    tried = "import os\ntry:\n    os.setuid(0)\nexcept PermissionError: print('no')"
    assert ada.run("k", tried) == "no"


def test_it_computes_on_threads_and_draws_and_starts_processes(hub: Hub, ada: User) -> None:
    ada.forked()
    (hub.home(ada.account) / "own.py").write_text("def double(n):\n    return 2 * n\n")
    (hub.home(ada.account) / "own.py").chmod(0o644)
    train = (
        "import torch\ntorch.set_num_threads(2)\nx = torch.randn(300, 300, requires_grad=True)\n"
        "for _ in range(20): (x @ x).square().mean().backward()\n"
        "layer = torch.nn.Linear(300, 300); optimizer = torch.optim.AdamW(layer.parameters(), fused=True)\n"
        "layer(x).sum().backward(); optimizer.step()\nprint(torch.get_num_threads(), bool(x.grad.isfinite().all()))"
    )
    assert ada.run("k", train) == "2 True"
    figure = "import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show(); print(plt.get_backend())"
    assert set(ada.run("k", figure).replace("image/png", "*").split("*")) >= {"inline"} or "inline" in ada.run(
        "k", figure
    )
    assert ada.run("k", "import subprocess\nprint(subprocess.run(['sh', '-c', 'exit 3']).returncode)") == "3"
    assert ada.run("k", "import os\np = os.fork()\nif p == 0: os._exit(4)\nprint(os.waitpid(p, 0)[1] >> 8)") == "4"
    for way in ("fork", "spawn"):
        pool = f"import multiprocessing as m, own\nwith m.get_context('{way}').Pool(2) as p: "
        assert ada.run("k", pool + "print(p.map(own.double, [1, 2]))") == "[2, 4]"
    loader = (
        "from torch.utils.data import DataLoader\nprint([int(b.sum()) for b in DataLoader(range(4), 2, num_workers=2)])"
    )
    assert ada.run("k", loader) == "[1, 5]"
    assert ada.run("k", "from helpers import models; from tutor import check; import pandas, sympy; print(1)") == "1"


def test_it_is_interrupted_restarted_and_ended_and_its_death_is_seen(ada: User) -> None:
    process = ada.forked()
    ada.run("k", "mine = 1")
    assert "KeyboardInterrupt" in ada.interrupt("k", "import time\nprint('now', flush=True)\ntime.sleep(300)")
    assert ada.run("k", "print(mine)") == "1"
    other = ada.restart("k")
    assert other != process
    assert ada.run("k", "mine") == "NameError"
    assert not ada.stop("k")
    assert process not in owned_by(ada.account)
    assert other not in owned_by(ada.account)
    process = ada.forked("second")
    os.kill(process, signal.SIGKILL)
    until(lambda: not ada.alive("second"))


def test_it_ends_with_who_asked_and_so_does_what_it_has_started(ada: User) -> None:
    process = ada.forked()
    # Nothing of Python's could end this: the interpreter is locked while it computes.
    assert ada.run("k", "import subprocess\nprint(subprocess.Popen(['sleep', '1000']).pid > 0)") == "True"
    ada.process.kill()
    ada.process.wait()
    until(lambda: not owned_by(ada.account))
    assert not Path(f"/proc/{process}/exe").exists()


def test_random_numbers_and_keys_are_each_kernels_own(ada: User) -> None:
    draw = (
        "import multiprocessing, random, numpy, torch\n"
        "key = multiprocessing.current_process().authkey.hex()\n"
        "print(random.random(), numpy.random.rand(), torch.rand(()).item(), torch.initial_seed(), key)"
    )
    drawn = []
    for name in ("first", "second"):
        ada.forked(name)
        drawn.append(ada.run(name, draw).split())
    assert all(one != other for one, other in zip(*drawn, strict=True))


# --- where none is forked -------------------------------------------------------------------------


def test_while_the_service_is_away_kernels_go_on_and_new_ones_start_by_themselves(hub: Hub, ada: User) -> None:
    ada.forked("first")
    ada.run("first", "mine = 1")
    hub.end()
    try:
        assert ada.run("first", "print(mine)") == "1"
        assert "Connection refused" in ada.plain("second")
    finally:
        hub.start()
    ada.forked("third")
    assert ada.run("first", "print(mine)") == ada.run("second", "print(1)") == ada.run("third", "print(1)") == "1"
    assert "KeyboardInterrupt" in ada.interrupt("first", "import time\nprint('now', flush=True)\ntime.sleep(300)")


@pytest.mark.parametrize("variable", ["PYTHONPATH", "LD_PRELOAD", "OMP_NUM_THREADS", "LC_ALL", "PYTHONSTARTUP"])
def test_a_variable_that_is_read_at_the_start_is_heeded(ada: User, variable: str) -> None:
    value = "2" if variable == "OMP_NUM_THREADS" else "C" if variable == "LC_ALL" else "/nonexistent"
    assert f"{variable} is read when Python starts" in ada.plain(**{variable: value})
    assert ada.run("k", f"import os; print(os.environ['{variable}'])") == value


def test_kernels_are_counted_for_each_account(hub: Hub, ada: User, bob: User) -> None:
    silent = (
        "asked = []\n"
        "for _ in range(1000):\n"
        "    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.settimeout(60)\n"
        f"    s.connect({str(hub.socket)!r}); asked.append(s)\n"
        "refused = 0\n"
        "for s in asked[20:]:\n"
        "    refused += b'20 kernels' in s.recv(1000)\n"
        "print(refused, flush=True); time.sleep(300)"
    )
    process = hub.popen(ada.account, hub.python, "-c", "import socket, time\n" + silent)
    assert process.stdout
    assert process.stdout.readline().strip() == "980", process.stderr and process.stderr.read()
    waiting = hub.children()
    assert len(waiting) == 20
    for one in waiting:  # each becomes the account before it reads anything, and holds nothing else then
        until(partial(is_settled, one, ada.account))
        about = status_of(one)
        assert int(about["CapPrm"], 16) == int(about["CapBnd"], 16) == 0
    bob.forked()  # who waits costs nobody else anything
    assert "you have started 20 kernels within a minute" in ada.plain()
    until(lambda: len(hub.children()) == 1)  # who says nothing is not waited for
    process.kill()
    process.communicate()


# --- what is tried against it ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("packets", "why"),
    [
        ("b'nonsense'", "JSONDecodeError"),
        ("b'[]'", "TypeError"),
        ("b'{}'", "TypeError"),
        ("b'\\xff' * 100", "UnicodeDecodeError"),
        ("b'[' * 100_000", "RecursionError"),
        ("request(command='x')", "is not one of the kernels of"),
        ("request(command=['/bin/sh', '-c', 'id'])", "is not one of the kernels of"),
        ("request(environment=5)", "TypeError"),
        ("request(folder='/nonexistent')", "FileNotFoundError"),
        ("request(folder='/proc/1/cwd')", "PermissionError"),
    ],
)
def test_a_request_that_is_none_is_refused_by_a_process_of_the_account(hub: Hub, packets: str, why: str) -> None:
    hub_process = hub.service and hub.service.pid
    shown = hub.raw(hub.account(), f"print(ask({packets}))")
    assert shown.startswith("0 ")
    assert why in shown
    assert hub.service
    assert hub.service.poll() is None
    assert hub.service.pid == hub_process


def test_a_request_that_is_too_long_is_refused(hub: Hub) -> None:
    shown = hub.raw(
        hub.account(),
        "s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)\n"
        "try: print(ask(request(environment={'A': 'x' * 200_001})))\n"
        "except OSError as problem: print(problem)",
    )
    assert "more than 200000 bytes were sent" in shown or "Message too long" in shown


def test_a_large_environment_starts_a_kernel_all_the_same(ada: User) -> None:
    ada.start("k", LARGE="x" * 100_000)
    assert ada.run("k", "import os; print(len(os.environ['LARGE']))") == "100000"


@pytest.mark.parametrize("who", ["root", "instructor", "neither"])
def test_only_students_are_served(hub: Hub, who: str) -> None:
    groups = {"instructor": (hub.students.gr_gid, hub.instructors.gr_gid), "neither": ()}.get(who)
    home = hub.home(0)
    home.mkdir(exist_ok=True)
    assert hub.raw(0 if who == "root" else hub.account(), "print(ask(request()))", groups=groups) == (
        "0 kernels are forked for students alone"
    )


def test_who_has_ended_gives_nobody_its_limits(hub: Hub) -> None:
    """Its number may be another process's by then."""
    assert hub.service
    source = (
        f"s.connect({str(hub.socket)!r})\n"
        "first, waits = os.getpid(), os.fork()\n"
        "if waits: os._exit(0)\n"
        "while os.getppid() == first: time.sleep(0.01)\n"
        "print('ended', flush=True)\n"
        "print(s.recv(1000).decode())"
    )
    begin = "import os, socket, time\ns = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
    hub.service.send_signal(signal.SIGSTOP)
    try:
        process = hub.popen(hub.account(), hub.python, "-c", begin + source)
        assert process.stdout
        assert process.stdout.readline() == "ended\n"
        process.wait()
    finally:
        hub.service.send_signal(signal.SIGCONT)
    assert "ProcessLookupError" in process.stdout.read()


def test_who_is_locked_into_a_sandbox_does_not_get_out(hub: Hub) -> None:
    shown = hub.raw(
        hub.account(),
        "import ctypes\n"
        "new_user_namespace = 0x10000000\n"  # CLONE_NEWUSER; Python has os.unshare since 3.12
        "refused = ctypes.CDLL(None).unshare(new_user_namespace)\n"
        "print('refused' if refused else ask(request()))",
    )
    if shown == "refused":
        pytest.skip("Linux gives an ordinary account no user namespace here, so none can be in a sandbox of its own")
    assert shown.startswith("0 PermissionError")


def test_a_kernel_counts_in_the_control_group_of_its_server(hub: Hub) -> None:
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    group = Path(*[words[1] for words in mounts if words[2] == "cgroup2"][:1], f"forked-kernels-{os.getpid()}")
    if not os.access(group.parent, os.W_OK) or group.parent == Path():
        pytest.skip("control groups of the second version cannot be made here, so no server can be in one of its own")
    group.mkdir()
    source = (
        "import socket, sys, os, json\nsys.stdin.readline()\n"
        "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
        f"s.connect({str(hub.socket)!r})\nprint(s.recv(1000).decode(), flush=True)\nsys.stdin.readline()"
    )
    process = hub.popen(hub.account(), hub.python, "-c", source)
    try:
        (group / "cgroup.procs").write_text(str(process.pid))
        assert process.stdin
        assert process.stdout
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "!\n"
        [child] = hub.children()
        assert Path(f"/proc/{child}/cgroup").read_text() == Path(f"/proc/{process.pid}/cgroup").read_text()
        assert group.name in Path(f"/proc/{child}/cgroup").read_text()
    finally:
        end_all()
        process.wait()
        until(lambda: not (group / "cgroup.procs").read_text())
        group.rmdir()


def test_odd_files_and_nothing_at_all_harm_nobody_else(hub: Hub, bob: User) -> None:
    for source in (
        "r, w = os.pipe(); os.close(r); print(ask(request(), files=[w, w]))",
        "d = os.open('/', os.O_RDONLY); print(ask(request(), files=[d, s.fileno()]))",
        "print(ask(request(), files=[0] * 50))",
        f"s.connect({str(hub.socket)!r}); s.shutdown(socket.SHUT_WR); print(s.recv(1000)[:1])",
        f"s.connect({str(hub.socket)!r}); s.shutdown(socket.SHUT_RDWR)",
        f"s.connect({str(hub.socket)!r}); s.close()",
    ):
        hub.raw(hub.account(), source)
    bob.forked()


def test_the_place_of_the_socket_is_roots(hub: Hub) -> None:
    for path in (hub.socket.parent, hub.folder / "settings", hub.socket.parent / "matplotlib"):
        assert path.stat().st_uid == 0
        assert stat.S_IMODE(path.stat().st_mode) & 0o022 == 0
    tried = (
        "import os\n"
        f"for act in (os.unlink, os.listdir, lambda p: os.rename(p, '/tmp/x'), lambda p: os.chmod(p, 0)):\n"
        f"    try: act({str(hub.socket)!r}); print('done')\n"
        "    except OSError: print('no')\n"
    )
    assert hub.raw(hub.account(), tried).split() == ["no"] * 4


SECRET = "a-word-that-only-ada-has"


def test_nothing_of_one_account_is_in_the_kernel_of_another_or_can_be_reached(hub: Hub, ada: User, bob: User) -> None:
    secret = hub.home(ada.account) / "secret"
    process = ada.forked(SECRET=SECRET)
    ada.run(
        "k",
        f"import helpers, os\nhelpers.left = open('secret', 'w'); helpers.left.write('{SECRET}'); helpers.left.flush()",
    )
    assert secret.exists()
    own = bob.forked()
    seen = (
        "import helpers, os; print(hasattr(helpers, 'left'), 'SECRET' in os.environ, open('/proc/self/environ').read())"
    )
    shown = bob.run("k", seen)
    assert shown.startswith("False False")
    assert SECRET not in shown
    files = [os.readlink(path) for path in Path(f"/proc/{own}/fd").iterdir()]
    assert not [file for file in files if str(hub.home(ada.account)) in file or str(hub.socket) in file]
    maps = Path(f"/proc/{own}/maps").read_text()
    assert not [line for line in maps.splitlines() if line.split()[1][1::2] == "ws"]  # written by several
    tried = f"""
import ctypes, os, resource, signal
def attempt(act):
    try: act()
    except OSError as problem: return type(problem).__name__
    return "done"
def trace():
    if ctypes.CDLL(None, use_errno=True).ptrace(16, {process}, 0, 0): raise OSError(ctypes.get_errno(), "")
for victim in ({process}, os.getppid()):
    print(*[attempt(act) for act in (
        lambda: open(f"/proc/{{victim}}/mem", "rb"), lambda: open(f"/proc/{{victim}}/environ").read(),
        lambda: os.listdir(f"/proc/{{victim}}/fd"), lambda: os.kill(victim, signal.SIGKILL),
        lambda: resource.prlimit(victim, resource.RLIMIT_NOFILE, (5, 5)), trace)])
print(attempt(lambda: open({str(secret)!r}).read()))
"""
    assert set(bob.run("k", tried).split()) == {"PermissionError"}
    assert ada.run("k", "print(1)") == "1"


def test_a_connection_file_of_another_account_is_of_no_use(hub: Hub, ada: User) -> None:
    ada.forked()
    [file] = [
        word
        for path in [Path(f"/proc/{process}/cmdline") for process in owned_by(ada.account)]
        for word in re.findall(r"/\S+\.json", path.read_text().replace("\0", " "))
    ] or [ada.run("k", "import ipykernel.connect as c; print(c.get_connection_file())")]
    command = f"(sys.executable, '-m', 'ipykernel_launcher', '-f', {file!r})"
    bob = hub.account()
    assert hub.raw(bob, f"print(ask(request(command={command}))); s.recv(1)").startswith("1 ")
    until(lambda: not owned_by(bob))  # the kernel could not read the file, and has ended
    assert ada.run("k", "print(1)") == "1"
