"""Starting JupyterLab and other programs in the environment: settings, ports, the command line."""

import asyncio
import importlib
import json
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import pytest
from ipykernel.ipkernel import IPythonKernel
from jupyter_server.services.config.manager import ConfigManager
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from jupyterlab_server.config import get_page_config
from jupyterlab_server.workspaces_handler import WorkspacesManager
from tornado.web import HTTPError

from deploy import environment
from tutor import lab


def test_programs_of_the_environment_are_found_first() -> None:
    variables = environment.inside({"PATH": "/usr/bin", "PYTHONHOME": "/x"})
    first, second = variables["PATH"].split(os.pathsep)
    assert Path(first).parent == environment.VENV  # nbgrader runs `alembic` by its name
    assert second == "/usr/bin"
    assert "PYTHONHOME" not in variables


@pytest.mark.parametrize("student", [True, False])
def test_jupyterlab_asks_nothing_and_only_a_student_is_spared_the_instructors_parts(
    student: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = environment.config_path(student, "/mine")
    assert path.endswith(f"{os.pathsep}/mine")
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", path)
    notification = "@jupyterlab/apputils-extension:notification"
    settings = ConfigManager(config_dir_name="labconfig").get("default_setting_overrides")
    assert settings[notification]["fetchNews"] == "false"
    disabled = get_page_config([]).get("disabledExtensions", [])
    assert ("@jupyter/nbgrader:formgrader" in disabled) is student


def test_jupyterlab_starts_with_or_without_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    folder = Path("/c/notebooks")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    plain = environment.lab_options(folder, {"DISPLAY": ":0"})
    assert f"--ServerApp.root_dir={folder}" in plain
    assert not {"--no-browser", "--allow-root"} & set(plain)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert {"--no-browser", "--allow-root"} <= set(environment.lab_options(folder, {}))


# Starts JupyterLab as `make lab` does, in the environment of the tests.
LAB = """
import sys
from pathlib import Path
from deploy import environment
environment.PYTHON = Path(sys.executable)
environment.ensure = lambda *wanted: None
environment.ROOT = Path.cwd()
environment.share_settings = lambda: None
sys.exit(environment.main(sys.argv[1:]))
"""


def answer_of(address: str, process: subprocess.Popen[str]) -> dict:
    """What JupyterLab answers; it says its address a little before it listens."""
    while True:
        try:
            with urllib.request.urlopen(address, timeout=60) as reply:
                return json.loads(reply.read())
        except urllib.error.URLError:
            if process.poll() is not None:
                raise
        time.sleep(0.1)


@pytest.mark.all
def test_jupyterlab_opens_a_copy_and_passes_over_a_port_that_is_taken(repository: Path, tmp_path: Path) -> None:
    course = tmp_path / "course"
    name = "00_start_here"
    shutil.copytree(repository / "notebooks" / name, course / "notebooks" / name)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = subprocess.Popen(
            [sys.executable, "-c", LAB, "--lab", "--", f"--port={port}", "--no-browser"],
            cwd=course,
            env={**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(repository)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            assert process.stdout
            log = ""
            while not (address := re.search(r"http://127\.0\.0\.1:(\d+)/lab\?token=(\w+)", log)):
                line = process.stdout.readline()
                assert line, f"JupyterLab ended:\n{log}"
                log += line
            assert int(address[1]) != port
            assert "kernels" in answer_of(f"http://127.0.0.1:{address[1]}/api/status?token={address[2]}", process)
        finally:
            process.terminate()
            process.wait(60)
            if process.stdout:
                process.stdout.close()
    first, second = log.splitlines()[:2]
    assert first.startswith(f"1 of 1 notebooks in {course / 'work'} is a copy of what {course / 'notebooks'} holds.")
    assert second.startswith(f"JupyterLab opens {course / 'work'}; ")
    released = course / "notebooks" / name / f"{name}.ipynb"
    copied = json.loads((course / "work" / name / f"{name}.ipynb").read_bytes())
    assert copied["cells"] == json.loads(released.read_bytes())["cells"]
    assert copied["metadata"]["language_info"] == IPythonKernel.language_info  # else JupyterLab calls it changed


def test_without_notebooks_nothing_is_opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(environment, "ensure", lambda *wanted: None)
    monkeypatch.setattr(environment, "PYTHON", Path(sys.executable))
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "VENV", tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(environment.__file__).parents[1]))
    monkeypatch.setattr(environment, "start", lambda *_: 7)
    assert environment.main(["--lab"]) == 1


def test_the_environments_programs_find_their_settings_wherever_they_are_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(environment, "VENV", tmp_path)
    for _ in range(2):
        environment.share_settings()
    [made] = (tmp_path / "etc" / "ipython").iterdir()  # what IPython reads in `sys.prefix`
    assert json.loads(made.read_text("utf-8")) == {"InteractiveShellApp": {"extensions": ["tutor.kernel"]}}
    assert made.name == "ipython_kernel_config.json"
    [made] = (tmp_path / "etc" / "jupyter").iterdir()  # and nbgrader there
    assert made.name == "nbgrader_config.py"


def test_formgrader_opens_the_course_that_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    opened: list = []
    monkeypatch.setattr(environment, "ensure", lambda *wanted: None)
    monkeypatch.setattr(environment, "share_settings", lambda: None)
    monkeypatch.setattr(environment, "start", lambda module, variables, folder: opened.append((module[1], folder)) or 0)
    monkeypatch.setattr(environment, "ROOT", tmp_path / "root")
    monkeypatch.delenv("COURSE_EXCHANGE", raising=False)
    (tmp_path / "nbgrader_config.py").touch()
    assert environment.main(["--formgrader", "--course", str(tmp_path)]) == 0
    assert environment.main(["--formgrader"]) == 0
    roots = [tmp_path, environment.ROOT]
    assert opened == [(f"--ServerApp.root_dir={folder}", folder) for folder in roots]
    assert all((folder / "gradebook" / "exchange").is_dir() for folder in roots)  # else each page of it warns


def test_a_hubs_exchange_is_the_hubs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environment.make_exchange(tmp_path, {"COURSE_EXCHANGE": "/srv/course/exchange"})
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "gradebook").touch()
    environment.make_exchange(tmp_path, {})  # where it cannot be made, formgrader says so


def test_the_command_line_passes_arguments_on(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list = []
    monkeypatch.setattr(environment, "ensure", lambda *wanted: asked.append(wanted))
    monkeypatch.setattr(environment, "start", lambda module, variables, folder: asked.append(module) or 7)
    monkeypatch.delenv("TORCH", raising=False)
    arguments = ["--extra", "test", "--latest", "--run", "pytest", "--nbval", "-n", "2", "--lab", "tests"]
    assert environment.main(arguments) == 7
    assert asked == [(["test"], None, True), arguments[4:]]


@pytest.mark.parametrize(
    "arguments",
    [["--run"], ["tests"], ["--lab", "--formgrader"], ["--formgrader", "--course", "tests"], ["--course", "."]],
)
def test_a_wrong_command_line_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        environment.main(arguments)
    assert stopped.value.code == 2
    assert "error: " in capsys.readouterr().err


# --- what JupyterLab opens on ---------------------------------------------------------------------


def opens_on(workspaces: Path) -> str:
    """Returns what is in front in the workspace that a folder keeps."""
    [kept] = workspaces.glob("default-*.jupyterlab-workspace")
    return json.loads(kept.read_text("utf-8"))["data"]["layout-restorer:data"]["main"]["current"]


def test_who_has_opened_nothing_yet_begins_with_the_first_notebook(tmp_path: Path) -> None:
    root, own = tmp_path / "work", tmp_path / "own"
    assert "assignment-list" in lab.first_layout(root)["layout-restorer:data"]["main"]["current"]  # a hub, before Fetch
    first = root / lab.FIRST
    first.parent.mkdir(parents=True)
    first.touch()
    lab.offer_first_layout(tmp_path, own, own)  # a hub that mounts a home over the image
    assert opens_on(own) == f"notebook:work/{lab.FIRST}"
    lab.offer_first_layout(root, tmp_path / "new", own)  # what `own` has open is of another folder
    assert opens_on(tmp_path / "new") == f"notebook:{lab.FIRST}"


@pytest.mark.parametrize("is_of_here", [True, False])
def test_who_has_a_workspace_keeps_it(is_of_here: bool, tmp_path: Path) -> None:
    root, place, own = tmp_path / "work", tmp_path / "place", tmp_path / "own"
    layout = lab.first_layout(root) | {
        "docmanager:recents": {"opened": [{"path": "a.ipynb", "root": str(root if is_of_here else tmp_path)}]}
    }
    layout["layout-restorer:data"]["main"]["current"] = "notebook:mine.ipynb"
    WorkspacesManager(str(own)).save("default", json.dumps({"data": layout, "metadata": {"id": "default"}}))
    [kept] = own.iterdir()
    before = kept.read_bytes()
    lab.offer_first_layout(root, own, own)
    lab.offer_first_layout(root, place, own)
    assert kept.read_bytes() == before
    assert (opens_on(place) == "notebook:mine.ipynb") is is_of_here
    lab.offer_first_layout(root, place, own)
    assert (opens_on(place) == "notebook:mine.ipynb") is is_of_here


def test_a_damaged_workspace_costs_nobody_jupyterlab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTERLAB_WORKSPACES_DIR", str(tmp_path))
    WorkspacesManager(str(tmp_path)).save("default", '{"data": {}, "metadata": {"id": "default"}}')
    [kept] = tmp_path.iterdir()
    kept.write_text("{", "utf-8")
    messages: list = []
    server = SimpleNamespace(root_dir=str(tmp_path), log=SimpleNamespace(warning=lambda *words: messages.append(words)))
    lab._load_jupyter_server_extension(server)
    assert len(messages) == 1
    assert kept.read_text("utf-8") == "{"


def test_a_students_workspace_lies_beside_the_notebooks() -> None:
    variables = environment.lab_variables(Path("/c/work"), {"JUPYTER_CONFIG_PATH": "/mine"}, student=True)
    assert variables["JUPYTERLAB_WORKSPACES_DIR"] == os.path.join(os.sep, "c", "work", ".course", "workspaces")
    assert variables["JUPYTER_CONFIG_PATH"].endswith(f"{os.pathsep}/mine")
    own = {"JUPYTERLAB_WORKSPACES_DIR": "/mine"}
    assert "JUPYTERLAB_WORKSPACES_DIR" not in environment.lab_variables(Path("/c/work"), own, student=True)
    assert "JUPYTERLAB_WORKSPACES_DIR" not in environment.lab_variables(Path("/c"), {}, student=False)


# --- how many kernels -----------------------------------------------------------------------------


def test_a_new_kernel_takes_the_place_of_the_one_idle_for_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    running: dict[str, dict] = {}

    async def start(self: object, **options: str) -> str:
        running[options["path"]] = {"id": options["path"], "execution_state": "idle", "last_activity": len(running)}
        return options["path"]

    async def stop(self: object, number: str) -> None:
        del running[number]

    monkeypatch.setattr(AsyncMappingKernelManager, "start_kernel", start)
    monkeypatch.setattr(lab.FewKernels, "shutdown_kernel", stop)
    monkeypatch.setattr(lab.FewKernels, "list_kernels", lambda self: list(running.values()))
    any_number, two = lab.FewKernels(), lab.FewKernels(most=2)
    for name in ("a", "b"):
        assert asyncio.run(two.start_kernel(path=name)) == name
    running["a"]["execution_state"] = "busy"
    asyncio.run(two.start_kernel(path="c"))
    assert set(running) == {"a", "c"}  # what is at work is not stopped
    running["c"]["execution_state"] = "starting"
    with pytest.raises(HTTPError, match=r"all kernels that you may have \(2\) are busy: wait, or shut one down"):
        asyncio.run(two.start_kernel(path="d"))
    assert set(running) == {"a", "c"}
    asyncio.run(any_number.start_kernel(path="d"))
    assert set(running) == {"a", "c", "d"}


def test_a_hub_ends_idle_kernels_and_limits_their_number_by_choice(repository: Path) -> None:
    settings = {
        folder: json.loads((repository / "deploy" / "hub" / folder / "jupyter_server_config.json").read_text("utf-8"))
        for folder in ("everyone", "student")
    }
    assert settings["everyone"]["MappingKernelManager"] == {"cull_idle_timeout": 1800}  # busy and connected ones stay
    assert settings["student"]["FewKernels"] == {"most": 0}
    module, _, name = settings["student"]["ServerApp"]["kernel_manager_class"].rpartition(".")
    assert issubclass(getattr(importlib.import_module(module), name), AsyncMappingKernelManager)
    page = (repository / "docs" / "hub.md").read_text("utf-8")
    assert "stopped after 30 minutes" in page
    assert '"most": 1' in page
