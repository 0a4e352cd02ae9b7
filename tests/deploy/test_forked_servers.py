"""Students' JupyterLabs that the hub's service forks: what needs no hub. The hub's test in the browser starts some."""

from __future__ import annotations

import asyncio
import os
import pwd
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from traitlets.config.loader import PyFileConfigLoader

from deploy.hub import install

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the hub's services work on Linux alone")
HUB = install.ROOT / "deploy" / "hub"
MARK = "of-one-account"
# What differs from account to account, or is there for some alone.
MARKED = [
    "HOME", "USER", "LOGNAME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "COURSE_DATA_CACHE",
    "COURSE_EXCHANGE", "JUPYTER_CONFIG_DIR", "JUPYTER_CONFIG_PATH", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR",
    "JUPYTERHUB_ACTIVITY_URL", "JUPYTERHUB_API_TOKEN", "JUPYTERHUB_API_URL", "JUPYTERHUB_BASE_URL",
    "JUPYTERHUB_CLIENT_ID", "JUPYTERHUB_DEFAULT_URL", "JUPYTERHUB_HOST", "JUPYTERHUB_OAUTH_CALLBACK_URL",
    "JUPYTERHUB_ROOT_DIR", "JUPYTERHUB_SERVER_NAME", "JUPYTERHUB_SERVICE_PREFIX", "JUPYTERHUB_SERVICE_URL",
    "JUPYTERHUB_USER",
]  # fmt: skip
OF_PYTHON = {
    "site USER_BASE",
    "site USER_SITE",
    "sysconfig _CONFIG_VARS",
}  # where `pip install --user` would put things
OF_MESSAGES = {"jupyter_client.session _static_immutable_initial_values"}  # the author's name in them, which none reads
# Where waste goes: JupyterHub has its servers delete at once; and what the standard library keeps for CGI scripts.
OF_SERVERS = {f"send2trash.plat_other {name}" for name in ("HOMETRASH", "HOMETRASH_B", "XDG_DATA_HOME")} | {
    "wsgiref.handlers os_environ"
}
FONTS = ("MSUserFontDirectories", "OSXFontDirectories", "X11FontDirectories", "_HOME")
OF_KERNELS = {f"matplotlib.font_manager {name}" for name in FONTS}  # docs/hub.md says that a student's are not read


@pytest.mark.parametrize(("kind", "own"), [("servers", OF_SERVERS), ("kernels", OF_KERNELS)])
def test_a_service_keeps_nothing_that_differs_between_accounts(tmp_path: Path, kind: str, own: set[str]) -> None:
    """A library that notes the home folder at its import would give everybody the service's."""
    if kind == "servers":
        pytest.importorskip("jupyterhub", reason="JupyterHub is not installed: pip install -e '.[hub]'")
    program = install.ROOT / "tests" / "programs" / "warm_memory.py"
    words = [sys.executable, program, kind, HUB, MARK, tmp_path / "cache"]
    variables = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "LC_CTYPE": "C.UTF-8", "OMP_NUM_THREADS": "1"}
    marked = dict.fromkeys(MARKED, f"/nonexistent/{MARK}")
    done = subprocess.run([*map(str, words)], env=variables | marked, capture_output=True, text=True, cwd="/")
    assert done.returncode == 0, done.stderr
    found = {line for line in done.stdout.splitlines() if not line.startswith(("posix environ", "sys ", "["))}
    assert found == own | OF_PYTHON | OF_MESSAGES


def test_where_there_is_no_service_a_jupyterlab_starts_by_itself(tmp_path: Path) -> None:
    (tmp_path / "settings").mkdir()
    program = tmp_path / "settings" / "forking.py"
    program.write_bytes((HUB / "forking.py").read_bytes())
    reads, writes = os.pipe()
    with os.fdopen(reads, "rb") as told:
        shows = (
            "import os, sys; print(sys.argv[1:], os.environ['MINE'], os.path.exists('/dev/fd/' + os.environ['FILE']))"
        )
        command = [sys.executable, "-I", "-S", program, str(writes), sys.executable, "-c", shows, "word"]
        variables = os.environ | {"MINE": "é", "FILE": str(writes)}
        done = subprocess.run(
            [*map(str, command)], pass_fds=[writes], env=variables, capture_output=True, text=True, encoding="utf-8"
        )
        os.close(writes)
        assert told.read() == b""
    assert done.stdout == "['word'] é False\n"
    assert "This JupyterLab is not forked but starts by itself: [Errno 2]" in done.stderr


@pytest.fixture
def roles(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module as the hub reads it."""
    pytest.importorskip("jupyterhub", reason="JupyterHub is not installed: pip install -e '.[hub]'")
    monkeypatch.syspath_prepend(str(HUB))
    import roles

    yield roles
    for name in ("roles", "forking"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def spawner_of(roles: ModuleType, account: str) -> Any:
    spawner = roles.LimitedSpawner()
    spawner.user = SimpleNamespace(name=account)
    return spawner


def test_the_process_of_another_account_is_not_taken_for_a_students_server(roles: ModuleType) -> None:
    """The hub is root, and would end at the student's wish whatever process the student's program has named."""

    spawner = spawner_of(roles, "nobody" if os.geteuid() != pwd.getpwnam("nobody").pw_uid else "root")
    with pytest.raises(PermissionError, match=r"process \d+ is not one of "):
        spawner.take(os.getpid())
    with pytest.raises(OSError, match=r"No such process|Invalid argument"):
        spawner.take(0x3FFFFF)
    assert (spawner.fork, spawner.pid) == (None, 0)


def test_a_fork_is_polled_signalled_and_forgotten(roles: ModuleType) -> None:

    spawner = spawner_of(roles, pwd.getpwuid(os.geteuid()).pw_name)
    with subprocess.Popen(["sleep", "600"]) as process:
        spawner.take(process.pid)
        assert spawner.get_state()["pid"] == process.pid
        assert asyncio.run(spawner.poll()) is None
        asyncio.run(spawner.stop())
        assert process.wait() == -signal.SIGINT
    assert (spawner.fork, spawner.pid) == (None, 0)
    assert asyncio.run(spawner.poll()) == 0


def test_no_two_servers_get_one_port(roles: ModuleType) -> None:
    """Also before the first one listens, and never one on which something does."""
    first = roles.next_port()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", first + 3))
        listener.listen()
        assert [roles.next_port() for _ in range(4)] == [first + number for number in (1, 2, 4, 5)]


def test_a_program_that_says_nothing_does_not_hold_up_the_hub(
    roles: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roles, "FORK_SECONDS", 0.1)
    reads, writes = os.pipe()
    with os.fdopen(reads, "rb") as says:
        assert asyncio.run(roles.said_in_time(says)) == ""
    os.close(writes)
    reads, writes = os.pipe()
    os.write(writes, b"1234")
    with os.fdopen(reads, "rb") as says:
        assert asyncio.run(roles.said_in_time(says)) == "1234"
    os.close(writes)


def test_kernels_listen_on_files_unless_their_path_is_too_long(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:

    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        for folder, transport in ((Path(name), "ipc"), (Path(name, "x" * 60), "tcp"), (Path(name, "none"), "tcp")):
            if folder.name != "none":
                folder.mkdir(exist_ok=True)
            monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(folder))
            settings = PyFileConfigLoader("jupyter_server_config.py", str(HUB / "everyone")).load_config()
            assert settings.KernelManager.transport == transport
            assert not [path for path in folder.glob("*") if re.match("kernel-", path.name)]
