"""The set-up: who may run it, how the environment is made and mended, which PyTorch it takes."""

import ast
import http.server
import importlib.util
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType

import pytest

from deploy import environment

PYPROJECT = '[project]\ndependencies = [\n    "torch>=2.6",  # why\n]\n'
PINS = "numpy==2.4.6 ; python_full_version >= '3.11'\ntorch==2.13.0\n"
INSTALL = ["--constraint", os.path.join(".venv", "constraints.txt"), "--editable"]


# --- a Python that is too old -----------------------------------------------------------------


def test_a_python_that_is_too_old_can_read_the_first_file(repository: Path) -> None:
    for name in ("__init__.py", "__main__.py"):
        ast.parse((repository / "deploy" / name).read_text("utf-8"), feature_version=(3, 6))


@pytest.mark.parametrize("version", [(3, 6, 15), (3, 8, 18), (3, 9, 0)])
def test_a_python_that_is_too_old_is_named(
    version: tuple[int, int, int], repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = compile((repository / "deploy" / "__main__.py").read_text("utf-8"), "deploy", "exec")
    monkeypatch.setattr(sys, "version_info", (*version, "final", 0))
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3")
    with pytest.raises(SystemExit) as problem:
        exec(program, {})
    named = ".".join(map(str, version))
    assert str(problem.value).startswith(
        f"The course needs Python 3.10 or newer, and /usr/bin/python3 is Python {named}: install a newer Python"
    )
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize("version", [(3, 10, 0), (3, 13, 1), (4, 0, 0)])
def test_a_python_that_is_new_enough_is_taken(
    version: tuple[int, int, int], repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = compile((repository / "deploy" / "__main__.py").read_text("utf-8"), "deploy", "exec")
    monkeypatch.setattr(environment, "main", lambda: 7)
    monkeypatch.setattr(sys, "version_info", (*version, "final", 0))
    with pytest.raises(SystemExit) as stopped:
        exec(program, {})
    assert stopped.value.code == 7


# --- installing -------------------------------------------------------------------------------


class FakePip:
    """Takes the place of venv and pip: writes down what is asked and makes what they would make."""

    def __init__(self, course: ModuleType) -> None:
        self.course = course
        self.calls: list[list[str]] = []
        self.made = 0
        self.torch = ""
        self.fails_at = "nothing"
        self.interrupted_at = "nothing"
        self.version = course.VERSION  # of the environment's Python; "" if it does not run

    def call(self, command: Sequence[str | Path], cwd: Path | None = None) -> int:
        words = [str(word) for word in command]
        if words[1:3] == ["-m", "venv"]:
            assert words[-1] == str(self.course.VENV)
            self.made += 1
            self.torch, self.version = "", self.course.VERSION
            self.course.PYTHON.parent.mkdir(parents=True)
            self.course.PYTHON.touch()
            return 0
        assert words[:5] == [str(self.course.PYTHON), "-m", "pip", "install", "--disable-pip-version-check"]
        assert cwd == self.course.ROOT
        assert ("--quiet" in words) == ("--editable" in words)  # PyTorch shows its bar, the many packages nothing
        arguments = [word for word in words[5:] if word != "--quiet"]
        self.calls.append(arguments)
        if self.interrupted_at in arguments:
            raise KeyboardInterrupt
        if self.fails_at in arguments:
            return 1
        for argument in arguments:
            if argument.startswith("torch"):
                self.torch = argument.partition("==")[2] or "2.99.0"
        return 0

    def ask(self, *arguments: str) -> str:
        if not (self.course.PYTHON.exists() and self.version):
            return ""
        return self.torch if "-c" in arguments else f"pip 24.0 from /somewhere (python {self.version})"


@pytest.fixture
def course(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The set-up of another clone, in a folder with a space and an accent in its name."""
    root = tmp_path / "Übungen à faire"
    (root / "deploy").mkdir(parents=True)
    (root / "pyproject.toml").write_text(PYPROJECT, "utf-8")
    (root / "constraints.txt").write_text(PINS, "utf-8")
    path = root / "deploy" / "environment.py"
    path.write_bytes((repository / "deploy" / "environment.py").read_bytes())
    specification = importlib.util.spec_from_file_location("environment_of_another_clone", path)
    assert specification
    assert specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    assert root == module.ROOT
    monkeypatch.setattr(module, "torch_options", list)
    monkeypatch.delenv("TORCH", raising=False)
    return module


@pytest.fixture
def pip(course: ModuleType, monkeypatch: pytest.MonkeyPatch) -> FakePip:
    fake = FakePip(course)
    monkeypatch.setattr(course.subprocess, "call", fake.call)
    monkeypatch.setattr(course, "ask", fake.ask)
    return fake


Ensure = Callable[..., list[list[str]]]


@pytest.fixture
def ensure(pip: FakePip) -> Ensure:
    """Calls `ensure` in the other clone; returns what pip was asked in this call."""

    def call(*extras: str, torch: str | None = None, latest: bool = False) -> list[list[str]]:
        before = len(pip.calls)
        pip.course.ensure(extras, torch, latest)
        return pip.calls[before:]

    return call


def pinned(pip: FakePip) -> list[str]:
    """The constraints that pip was given."""
    return (pip.course.VENV / "constraints.txt").read_text("utf-8").splitlines()


def test_the_first_run_installs_the_pinned_versions_and_the_second_does_nothing(pip: FakePip, ensure: Ensure) -> None:
    assert ensure() == [["--no-deps", "torch==2.13.0"], [*INSTALL, "."]]
    assert pinned(pip) == PINS.splitlines()
    assert ensure() == []
    assert pip.made == 1


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_a_change_of_what_is_wanted_is_installed(name: str, pip: FakePip, ensure: Ensure) -> None:
    ensure("test")
    with (pip.course.ROOT / name).open("a", encoding="utf-8") as file:
        file.write("\n")
    assert ensure() == [[*INSTALL, ".[test]"]]
    assert ensure() == []
    assert pip.made == 1


def test_extras_are_added_and_stay(pip: FakePip, ensure: Ensure) -> None:
    ensure()
    assert ensure("test") == [[*INSTALL, ".[test]"]]
    assert ensure() == ensure("test") == []
    assert ensure("browser") == [[*INSTALL, ".[browser,test]"]]
    assert pip.made == 1


def test_the_newest_versions_are_looked_for_each_time_and_left_again(pip: FakePip, ensure: Ensure) -> None:
    newest = [
        ["--no-deps", "--upgrade", "torch"],
        ["--upgrade", "--upgrade-strategy", "eager", *INSTALL, "."],
    ]
    assert ensure(latest=True) == newest
    assert pinned(pip) == ["torch==2.99.0"]  # so that the build that was chosen stays
    assert ensure(latest=True) == newest
    assert ensure() == [[*INSTALL, "."]]
    assert pinned(pip) == [PINS.splitlines()[0], "torch==2.99.0"]
    assert pip.made == 1


@pytest.mark.parametrize("installed", ["2.6.0", "2.10.1+cu130", "3.0.0"])
def test_a_torch_that_is_new_enough_is_kept(pip: FakePip, ensure: Ensure, installed: str) -> None:
    # Such as the one of an environment that somebody made with --system-site-packages.
    pip.course.make_environment()
    pip.torch = installed
    assert ensure() == [[*INSTALL, "."]]
    assert pinned(pip) == [PINS.splitlines()[0], f"torch=={installed}"]


@pytest.mark.parametrize("installed", ["", "2.2.2"])
def test_a_mac_with_an_intel_processor_is_told_before_anything_comes(
    installed: str, pip: FakePip, ensure: Ensure, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PyPI has no PyTorch for it that is new enough: pip would say "no matching distribution" at the end."""
    monkeypatch.setattr(pip.course.platform, "system", lambda: "Darwin")
    monkeypatch.setattr(pip.course.platform, "machine", lambda: "x86_64")
    pip.torch = installed
    with pytest.raises(pip.course.SetUpError, match=r"^PyPI has no PyTorch .* Intel processor\. Take conda"):
        ensure()
    assert pip.calls == []
    ensure(torch="torch==2.10.0")  # a build of somebody's own
    assert pip.torch == "2.10.0"


def test_a_torch_that_is_too_old_is_replaced(pip: FakePip, ensure: Ensure) -> None:
    pip.course.make_environment()
    pip.torch = "2.5.1+cpu"
    assert ensure()[0] == ["--no-deps", "torch==2.13.0"]


def test_the_setting_torch_wins_and_is_remembered(pip: FakePip, ensure: Ensure) -> None:
    wanted = "torch==2.9.0 --index-url https://example.org/whl/cpu"
    assert ensure(torch=wanted) == [wanted.split(), [*INSTALL, "."]]
    assert pinned(pip) == [PINS.splitlines()[0], "torch==2.9.0"]
    assert ensure(torch=wanted) == ensure() == []
    pip.version = ""  # broken: made again, with the torch that was chosen once
    pip.course.PYTHON.unlink()
    assert ensure()[0] == wanted.split()
    assert ensure(torch="torch==2.10.0")[0] == ["torch==2.10.0"]


def test_a_setting_torch_that_could_not_be_installed_is_tried_again(pip: FakePip, ensure: Ensure) -> None:
    ensure()
    pip.fails_at = "torch==2.14.0"
    for _ in range(2):
        with pytest.raises(pip.course.SetUpError):
            ensure(torch="torch==2.14.0")
        assert pip.torch == "2.13.0"
        assert pip.calls[-1] == ["torch==2.14.0"]


def damage_unfinished(pip: FakePip, state: dict) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    pip.course.write_state(state, process.pid)


def damage_broken(pip: FakePip, state: dict) -> None:
    pip.course.PYTHON.unlink()


def damage_moved(pip: FakePip, state: dict) -> None:
    pip.course.write_state({**state, "root": "/elsewhere"}, "complete")


def damage_other_python(pip: FakePip, state: dict) -> None:
    pip.version = "3.9"
    pip.course.write_state({**state, "python": "3.9"}, "complete")


@pytest.mark.parametrize("damage", [damage_unfinished, damage_broken, damage_moved, damage_other_python])
def test_an_environment_that_cannot_be_used_is_made_again(
    pip: FakePip, ensure: Ensure, damage: Callable[[FakePip, dict], None]
) -> None:
    ensure("test")
    (pip.course.VENV / "left over").touch()
    damage(pip, pip.course.read_state())
    assert ensure() == [["--no-deps", "torch==2.13.0"], [*INSTALL, ".[test]"]]
    assert pip.made == 2
    assert not (pip.course.VENV / "left over").exists()
    assert ensure() == []


def test_somebody_at_work_in_the_environment_is_left_alone(pip: FakePip, ensure: Ensure) -> None:
    ensure()
    pip.course.write_state(pip.course.read_state(), os.getpid())
    with pytest.raises(pip.course.SetUpError, match=f"Process {os.getpid()} is installing"):
        ensure()
    assert pip.made == 1


def test_a_folder_that_is_no_environment_is_not_deleted(pip: FakePip, ensure: Ensure) -> None:
    thesis = pip.course.VENV / "thesis.tex"
    thesis.parent.mkdir()
    thesis.touch()
    with pytest.raises(pip.course.SetUpError, match="the course did not make it: move it away"):
        ensure()
    assert thesis.exists()


@pytest.mark.parametrize("step", ["torch==2.13.0", "--editable"])
def test_an_interrupted_installation_is_taken_up_again(
    step: str, pip: FakePip, ensure: Ensure, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pip.interrupted_at = step
    assert pip.course.main([]) == 130
    assert capsys.readouterr().err == "\nStopped; run this again to go on.\n"
    pip.interrupted_at = "nothing"
    monkeypatch.setattr(pip.course, "is_running", lambda process: process != os.getpid())  # it has ended since
    assert ensure() == [["--no-deps", "torch==2.13.0"], [*INSTALL, "."]]
    assert pip.made == 2
    assert ensure() == []


def test_a_failed_installation_goes_on_where_it_stopped(
    pip: FakePip, ensure: Ensure, capsys: pytest.CaptureFixture[str]
) -> None:
    pip.fails_at = "--editable"
    assert pip.course.main(["--extra", "test"]) == 1
    assert re.fullmatch("pip could not install .*: run this again to go on.\n", capsys.readouterr().err)
    pip.fails_at = "nothing"
    assert ensure() == [[*INSTALL, ".[test]"]]  # torch is there already
    assert pip.made == 1


def test_a_python_that_cannot_make_environments_is_named(course: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course.subprocess, "call", lambda command: 1)
    with pytest.raises(course.SetUpError, match=r"could not make .*\.venv, its lines above say why"):
        course.ensure()


@pytest.mark.parametrize("what", ["file", "broken link"])
def test_what_the_system_refuses_is_one_sentence(what: str, pip: FakePip, capsys: pytest.CaptureFixture[str]) -> None:
    if what == "file":
        pip.course.VENV.touch()
    else:
        pip.course.VENV.symlink_to("nowhere")
    assert pip.course.main([]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert re.fullmatch(r"The environment .*\.venv could not be made: \[Errno \d+\] .*\.\n", output.err)


def test_a_process_is_known_by_its_number() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert environment.is_running(process.pid)
    process.communicate(b"\n")
    assert not environment.is_running(process.pid)
    assert environment.is_running(1)  # somebody else's, mostly


def test_a_python_is_asked_for_versions(course: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    assert course.torch_version() == ""  # there is no environment yet
    monkeypatch.setattr(course, "PYTHON", Path(sys.executable))
    assert course.torch_version()[:2] == "2."
    assert course.why_remake({}) == ""  # pip says which Python it runs with


# --- PyTorch without the libraries for NVIDIA GPUs --------------------------------------------


class Index(http.server.BaseHTTPRequestHandler):
    """Answers as an index of packages does."""

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/whl/cpu/torch/" else 404)
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        pass  # what it would say belongs to nobody


@pytest.fixture
def index() -> Iterator[str]:
    """The address of an index on this machine."""
    server = http.server.HTTPServer(("127.0.0.1", 0), Index)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Linux without an NVIDIA GPU, and without a proxy."""
    exists = Path.exists
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(Path, "exists", lambda path: "nvidia" not in str(path) and exists(path))
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.mark.usefixtures("no_gpu")
def test_without_a_gpu_the_cpu_build_is_taken(
    index: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environment, "CPU_INDEX", f"{index}/whl/cpu")
    assert environment.torch_options() == ["--index-url", f"{index}/whl/cpu"]
    assert capsys.readouterr().out == "There is no NVIDIA GPU here, so PyTorch's CPU build is taken.\n"


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("problem", ["nobody listens", "no such page", "not HTTP"])
def test_an_index_that_cannot_be_reached_is_done_without(
    problem: str, index: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    address = f"{index}/elsewhere"
    if problem == "nobody listens":
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"http://127.0.0.1:{free.getsockname()[1]}"
    elif problem == "not HTTP":
        monkeypatch.setattr(Index, "handle", lambda self: self.wfile.write(b"220 mail\r\n"))
    monkeypatch.setattr(environment, "CPU_INDEX", address)
    assert environment.torch_options() == []
    output = capsys.readouterr().out
    assert output.startswith(f"There is no NVIDIA GPU here, but {address} cannot be reached (")
    assert output.endswith("): the plain PyTorch is taken.\n")
    assert output.count("\n") == 1


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("machine", ["Linux with a GPU", "Darwin", "Windows"])
def test_other_machines_take_the_plain_build_without_asking(
    machine: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if machine == "Linux with a GPU":
        monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    else:
        monkeypatch.setattr(platform, "system", lambda: machine)
    monkeypatch.setattr(environment, "CPU_INDEX", "no address")
    assert environment.torch_options() == []
    assert capsys.readouterr().out == ""
