"""The image of the Dockerfile, and the values with which a hub on Kubernetes starts it; neither needs Docker here."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.hub import install
from helpers.threads import SETTINGS

# What values.yaml sets, and what the schema of Zero to JupyterHub takes there: `jupyterhub/values.schema.yaml` of the
# version below, which refuses every other key. A mapping in which it takes anything is named by itself.
CHART, ITS_HUB = "4.4.0", "5.5.0"
TAKEN: dict[str, type | tuple[type, ...]] = {
    "hub.config": dict,
    "proxy.https.enabled": bool,
    "proxy.https.hosts": list,
    "proxy.https.letsencrypt.contactEmail": str,
    "singleuser.image.name": str,
    "singleuser.image.tag": str,
    "singleuser.cmd": (list, str),
    "singleuser.defaultUrl": str,
    "singleuser.memory.guarantee": (int, float, str),
    "singleuser.memory.limit": (int, float, str),
    "singleuser.cpu.guarantee": (int, float),
    "singleuser.cpu.limit": (int, float),
    "singleuser.extraEnv": dict,
    "singleuser.storage.capacity": str,
    "cull.timeout": int,
    "cull.maxAge": int,
    "scheduling.userScheduler.enabled": bool,
    "prePuller.hook.enabled": bool,
    "prePuller.continuous.enabled": bool,
}


@pytest.fixture
def text(repository: Path) -> str:
    return (repository / "deploy" / "hub" / "values.yaml").read_text("utf-8")


@pytest.fixture
def values(text: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(text)
    return found


@pytest.fixture
def dockerfile(repository: Path) -> str:
    return (repository / "Dockerfile").read_text("utf-8")


def leaves(values: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yields the full name and the value of everything that is set."""
    for key, value in values.items():
        name = f"{before}{key}"
        if isinstance(value, dict) and name not in TAKEN:
            yield from leaves(value, f"{name}.")
        else:
            yield name, value


def test_the_chart_takes_these_values(values: dict[str, Any]) -> None:
    wrong = [(name, value) for name, value in leaves(values) if not isinstance(value, TAKEN.get(name, ()))]
    assert not wrong
    assert all(isinstance(value, str) for value in values["singleuser"]["extraEnv"].values())  # Kubernetes wants text


def test_values_page_and_image_name_one_version(text: str, dockerfile: str, repository: Path) -> None:
    page = (repository / "docs" / "hub.md").read_text("utf-8")
    for number, places in ((CHART, [text, page]), (f"JUPYTERHUB={ITS_HUB}", [text, page, dockerfile])):
        assert all(number in place for place in places), number


def test_threads_are_those_of_the_helpers(values: dict[str, Any]) -> None:
    assert values["singleuser"]["extraEnv"] == SETTINGS


def test_a_students_server_starts_behind_the_notebooks(values: dict[str, Any], dockerfile: str, tmp_path: Path) -> None:
    """Twice, with an answer in between: the second start keeps it. What it is started with is passed on."""
    [step] = re.findall(r"^RUN (cp .*)$", dockerfile, re.M)
    command = [word.replace("/srv/course", str(tmp_path)) for word in values["singleuser"]["cmd"]]
    assert step.replace("/srv/course", str(tmp_path)) in command[2]
    install.notebooks(tmp_path)
    home, programs = tmp_path / "home", tmp_path / "programs"
    home.mkdir()
    programs.mkdir()
    (programs / "jupyterhub-singleuser").write_text('#!/bin/sh\nls work\necho "with $*"\n')
    (programs / "jupyterhub-singleuser").chmod(0o755)
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    for _ in range(2):
        done = subprocess.run(
            [*command, "--port=1"], cwd=home, env=os.environ | {"PATH": path}, capture_output=True, text=True
        )
        assert done.stdout.splitlines()[-1] == "with --port=1", done.stderr
        assert (home / "work" / "01_causal_mask" / "01_causal_mask.ipynb").is_file()
        (home / "work" / "own.txt").write_text("mine")
    assert "own.txt" in done.stdout


def test_the_assignment_list_is_off_in_the_image_and_nowhere_else(repository: Path, dockerfile: str) -> None:
    program = (
        "import json\nfrom jupyterlab_server.config import get_page_config\n"
        "from jupyter_server.serverapp import ServerApp\n"
        "app = ServerApp()\napp.load_config_file()\n"
        "print(json.dumps([get_page_config([])['disabledExtensions'], dict(app.config.ServerApp.jpserver_extensions)]))"
    )
    [path] = re.findall(r"JUPYTER_CONFIG_PATH=(\S+)", dockerfile)
    inside = [place.removeprefix("/srv/course/settings/") for place in path.split(":")]
    found = []
    for places in (inside, [place for place in inside if place != "image"]):
        folders = [repository / "deploy" / ("" if place.startswith("jupyter/") else "hub") / place for place in places]
        assert all(folder.is_dir() for folder in folders)
        settings = {"JUPYTER_CONFIG_PATH": os.pathsep.join(map(str, folders)), "JUPYTER_PREFER_ENV_PATH": "1"}
        done = subprocess.check_output([sys.executable, "-c", program], env=os.environ | settings, text=True)
        found.append(json.loads(done.splitlines()[-1]))
    (menus, extensions), (menus_on_a_server, extensions_on_a_server) = found
    assert not extensions["nbgrader.server_extensions.assignment_list"]
    assert "@jupyter/nbgrader:assignment-list" in menus
    assert "@jupyter/nbgrader:formgrader" in menus  # the student's settings still count
    assert "nbgrader.server_extensions.assignment_list" not in extensions_on_a_server
    assert "@jupyter/nbgrader:assignment-list" not in menus_on_a_server


def test_what_nobody_runs_is_left_out_of_the_image(dockerfile: str, tmp_path: Path) -> None:
    """The step of the Dockerfile, in a folder that looks like an environment's."""
    packages = tmp_path / "environment" / "lib" / "python3.12" / "site-packages"
    kept = ["torch/bin/torch_shm_manager", "torch/testing/a.py", "sympy/a.py", "sympy/testing/a.py", "sympy/tests.py"]
    left_out = [
        "torch/bin/protoc",
        "torch/include/a.h",
        "torch/test/a.py",
        "sympy/core/tests/deep/a.py",
        "a/tests/b.py",
    ]
    for name in kept + left_out:
        (packages / name).parent.mkdir(parents=True, exist_ok=True)
        (packages / name).touch()
    [step] = re.findall(r"^RUN (cd /srv/course/environment/lib.*)$", dockerfile, re.M)
    subprocess.run(["sh", "-ec", step.replace("/srv/course", str(tmp_path))], check=True)
    assert sorted(kept) == sorted(str(path.relative_to(packages)) for path in packages.rglob("*") if path.is_file())
