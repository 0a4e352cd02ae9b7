"""Makes the course's virtual environment, and starts JupyterLab or another program in it.

    python3 -m deploy --lab                             what `make lab` does
    python3 -m deploy --extra test --run pytest tests   run a module in it

It runs before anything is installed, so it uses the standard library alone. What pip, venv and
JupyterLab say themselves when something is wrong is left to them.
"""

import argparse
import contextlib
import hashlib
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parent.parent
WANTED, PINS = ROOT / "pyproject.toml", ROOT / "constraints.txt"
SETTINGS = ROOT / "deploy" / "jupyter"  # JupyterLab's: for everyone, and for students only
KERNELS = ROOT / "deploy" / "ipython" / "ipython_kernel_config.json"
# What the environment's programs read wherever they are started: kernels, and nbgrader's Validate.
SHARED = {KERNELS: "etc/ipython", SETTINGS / "nbgrader_config.py": "etc/jupyter"}
VENV = Path(os.environ.get("COURSE_ENVIRONMENT") or ROOT / ".venv")  # a hub's lies elsewhere
STATE = VENV / "course.json"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"  # PyTorch without the libraries for NVIDIA GPUs


class SetUpError(Exception):
    """Something that the user can mend; the text is one sentence that says what and how."""


# --- what is there ----------------------------------------------------------------------------


def ask(*arguments: str) -> str:
    """Returns what the environment's Python prints, or "" where it fails: then something is not installed."""
    try:
        return subprocess.check_output([PYTHON, *arguments], stderr=subprocess.DEVNULL, text=True).strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def torch_version() -> str:
    """Returns the version of the environment's torch, such as 2.13.0+cpu, or "" if it has none."""
    return ask("-c", "from importlib.metadata import version; print(version('torch'))")


def read_state() -> dict[str, Any]:
    """Returns what the last installation wrote down, or {} if there was none."""
    try:
        return dict(json.loads(STATE.read_text("utf-8")))
    except (OSError, ValueError):
        return {}  # no file and a damaged one mean the same: install


def write_state(wanted: Mapping[str, Any], status: str | int) -> None:
    """Writes down what is installed: "complete", "failed", or by which process at this moment."""
    STATE.write_text(json.dumps({**wanted, "status": status}, indent=2), "utf-8")


def is_running(process: int) -> bool:
    """Says whether there is a process with this number."""
    if os.name == "nt":  # os.kill would end it there
        return False
    try:
        os.kill(process, 0)
    except OSError as problem:
        return isinstance(problem, PermissionError)  # somebody else's
    return True


def why_remake(state: Mapping[str, Any]) -> str:
    """Returns why the environment must be made again, or "" if it can be used as it is.

    Raises:
        SetUpError: somebody is at work in it, or it cannot be used and is not ours to delete.
    """
    status = state.get("status")
    if isinstance(status, int):
        if is_running(status):
            raise SetUpError(
                f"Process {status} is installing into {VENV} at this moment: wait until it has finished and "
                "run this again (or delete that folder if it hangs)."
            )
        return "an earlier installation did not finish"
    if state.get("root", str(ROOT)) != str(ROOT):
        return f"it was made for {state['root']}"
    if ask("-m", "pip", "--version").endswith(f"(python {VERSION})"):
        return ""
    if state:
        return f"it has no pip that runs with Python {VERSION}"
    raise SetUpError(f"{VENV} is no environment of Python {VERSION}, and the course did not make it: move it away.")


# --- installing -------------------------------------------------------------------------------


def make_environment() -> None:
    """Makes an empty virtual environment."""
    # Not `sys.executable`, which may lie in the very environment that is made again.
    python = getattr(sys, "_base_executable", sys.executable)
    if subprocess.call([python, "-m", "venv", "--upgrade-deps", VENV]):
        raise SetUpError(f"{python} could not make {VENV}, its lines above say why: mend that and run this again.")


def pip_install(*arguments: str) -> None:
    """Runs `pip install` in the environment, from the root of the project."""
    if subprocess.call([PYTHON, "-m", "pip", "install", "--disable-pip-version-check", *arguments], cwd=ROOT):
        raise SetUpError(
            "pip could not install what the course needs, its lines above say why: run this again to go on."
        )


def torch_options() -> list[str]:
    """Returns what makes pip take PyTorch's CPU build, where the plain one would bring gigabytes for no use."""
    if platform.system() != "Linux" or shutil.which("nvidia-smi") or Path("/proc/driver/nvidia").exists():
        return []
    try:
        with urlopen(f"{CPU_INDEX}/torch/", timeout=5):
            print("There is no NVIDIA GPU here, so PyTorch's CPU build is taken.")
            return ["--index-url", CPU_INDEX]
    except (OSError, HTTPException) as problem:
        reason = " ".join(str(problem).split())
        print(f"There is no NVIDIA GPU here, but {CPU_INDEX} cannot be reached ({reason}): the plain PyTorch is taken.")
        return []


def numbers(version: str) -> list[int]:
    """Returns the numbers of a version: `2.13.0+cpu` -> [2, 13, 0]."""
    return [int(number) for number in re.findall(r"\d+", version.partition("+")[0])]


def install_torch(torch: str | None, latest: bool) -> None:
    """Sees to it that the environment has a torch: the requested one, or one that is there and new enough, or ours.

    Raises:
        SetUpError: there is none for this machine, or pip fails.
    """
    [oldest] = re.findall(r'^ *"torch>=([\d.]+)', WANTED.read_text("utf-8"), re.M)
    intel_mac = (platform.system(), platform.machine()) == ("Darwin", "x86_64")
    if intel_mac and not torch and numbers(torch_version()) < numbers(oldest):
        raise SetUpError(  # pytorch/pytorch issue 114602: 2.2.2 was the last
            f"PyPI has no PyTorch {oldest} or newer for a Mac with an Intel processor. Take conda, whose packages "
            "include it: docs/student.md, Install; or Colab."
        )
    [pin] = re.findall(r"^torch==[\d.]+", PINS.read_text("utf-8"), re.M)
    if torch:
        pip_install(*shlex.split(torch))
    elif latest or numbers(torch_version()) < numbers(oldest):
        # What it depends on comes with the rest: the CPU index has that in older versions.
        pip_install("--no-deps", *(["--upgrade", "torch"] if latest else [pin]), *torch_options())


def install(extras: Sequence[str], torch: str | None, latest: bool) -> None:
    """Installs the project, in editable form, with the versions of constraints.txt or with the newest."""
    install_torch(torch, latest)
    pins = [] if latest else PINS.read_text("utf-8").splitlines()
    pins = [line for line in pins if not line.startswith("torch==")] + [f"torch=={torch_version()}"]
    constraints = VENV / "constraints.txt"
    constraints.write_text("\n".join(pins) + "\n", "utf-8")
    print("Installing the packages of the course.", flush=True)
    pip_install(
        "--quiet",  # it has several lines for each of 130 packages; of what fails it tells all the same
        *(["--upgrade", "--upgrade-strategy", "eager"] if latest else []),
        *["--constraint", os.path.relpath(constraints, ROOT)],
        *["--editable", f".[{','.join(extras)}]" if extras else "."],
    )


def ensure(extras: Sequence[str] = (), torch: str | None = None, latest: bool = False) -> None:
    """Makes the environment what it should be, which takes no time when it already is.

    Args:
        extras: the extras of pyproject.toml to install too; earlier ones stay.
        torch: a requirement, with options for pip, in place of whatever torch is there; it stays.
        latest: take the newest versions that pyproject.toml allows, not those of constraints.txt.

    Raises:
        SetUpError: it could not be made; says why.
    """
    state = read_state()
    wanted: dict[str, Any] = {
        "root": str(ROOT),
        "python": VERSION,
        "files": hashlib.sha256(WANTED.read_bytes() + PINS.read_bytes()).hexdigest(),
        "extras": sorted({*extras, *state.get("extras", [])}),
        "torch": torch or state.get("torch"),
        "latest": latest,
    }
    if state == {**wanted, "status": "complete"} and not latest and PYTHON.exists():
        return
    is_new = not VENV.exists() or not any(VENV.iterdir())
    reason = "" if is_new else why_remake(state)
    if reason:
        print(f"Making {VENV} again, because {reason}.")
        shutil.rmtree(VENV)
        is_new = True
    VENV.mkdir(exist_ok=True)
    write_state(wanted, os.getpid())
    print(f"Making the environment {VENV}: a few minutes, once." if is_new else f"Bringing {VENV} up to date.")
    try:
        if is_new:
            make_environment()
        install(wanted["extras"], wanted["torch"], latest)
    except SetUpError:
        write_state(wanted, "failed")  # pip undoes what it could not complete, and the rest need not be redone
        raise
    write_state(wanted, "complete")


# --- using it ---------------------------------------------------------------------------------


def inside(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment variables for a program that runs in the virtual environment."""
    return {name: value for name, value in environ.items() if name != "PYTHONHOME"} | {
        # nbgrader runs `alembic` as a command, so the folder of programs must be on PATH.
        "PATH": os.pathsep.join([str(PYTHON.parent), environ.get("PATH", "")]),
        "VIRTUAL_ENV": str(VENV),
        # The kernel of this environment, also where the home folder has one.
        "JUPYTER_PREFER_ENV_PATH": "1",
    }


def share_settings() -> None:
    """Puts where the environment's programs read it that a kernel looks on from its start, and what Validate does.

    The students' wheel brings the same files; pip leaves them out of an installation in editable form.
    """
    for file, folder in SHARED.items():
        place = VENV / folder / file.name
        if not place.exists() or place.read_bytes() != file.read_bytes():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place)


def config_path(student: bool, others: str | None = None) -> str:
    """Returns JUPYTER_CONFIG_PATH with the course's settings of JupyterLab before other folders."""
    folders = [str(SETTINGS / "student")] if student else []
    return os.pathsep.join([*folders, str(SETTINGS / "everyone"), *([others] if others else [])])


def lab_variables(folder: Path, environ: Mapping[str, str], *, student: bool) -> dict[str, str]:
    """Returns the environment variables of JupyterLab on a folder: the course's settings, and a student's workspace.

    JupyterLab's workspace, what was open, lies beside the notebooks: the one in the home folder is that of all folders.
    """
    variables = {"JUPYTER_CONFIG_PATH": config_path(student, environ.get("JUPYTER_CONFIG_PATH"))}
    if student and "JUPYTERLAB_WORKSPACES_DIR" not in environ:
        variables["JUPYTERLAB_WORKSPACES_DIR"] = str(folder / ".course" / "workspaces")
    return variables


def make_exchange(course: Path, environ: Mapping[str, str]) -> None:
    """Makes the folder of nbgrader's exchange where `nbgrader_config.py` has it: without it formgrader's pages warn.

    A hub has its own; where the folder cannot be made, formgrader says so.
    """
    if not environ.get("COURSE_EXCHANGE"):
        with contextlib.suppress(OSError):
            (course / "gradebook" / "exchange").mkdir(parents=True, exist_ok=True)


def lab_options(folder: Path, environ: Mapping[str, str]) -> list[str]:
    """Returns the options with which JupyterLab opens a folder; it passes over ports that are taken by itself."""
    options = [f"--ServerApp.root_dir={folder}", "--Application.log_level=WARN"]  # the address still comes
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-root")
    has_screen = any(environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
    if platform.system() == "Linux" and not has_screen:
        options.append("--no-browser")  # else a text browser may take over the terminal
    return options


def start(module: Sequence[str], variables: Mapping[str, str], folder: Path) -> int:
    """Runs a module of the environment in a folder, in place of this program; returns its exit status."""
    command = [str(PYTHON), "-m", *module]
    sys.stdout.flush()
    os.chdir(folder)  # where nbgrader looks for nbgrader_config.py
    if os.name != "nt":
        os.execve(command[0], command, dict(variables))
    return subprocess.call(command, env=dict(variables))


def open_lab(course: Path, rest: Sequence[str], variables: dict[str, str], *, student: bool) -> int:
    """Opens JupyterLab, for a student on work/, else on a course folder; returns its exit status."""
    # The copy in which students work; it is made here, or brought up to what notebooks/ holds now.
    if student and subprocess.call([PYTHON, "-m", "tutor", "work"], cwd=ROOT, env=variables):
        return 1
    folder = ROOT / "work" if student else course
    if not student:
        make_exchange(course, variables)
    print(f"JupyterLab opens {folder}; if no browser comes up, copy the address with `token=` that appears below.")
    print("Ctrl-C stops it." if student else "Formgrader is in JupyterLab's menu Nbgrader. Ctrl-C stops it.")
    variables |= lab_variables(folder, variables, student=student)
    return start(["jupyterlab", *lab_options(folder, variables), *rest], variables, course)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python3 -m deploy", description="Make the course's virtual environment .venv, and run a program in it."
    )
    parser.add_argument("--extra", action="append", default=[], metavar="NAME", help="also install an extra")
    parser.add_argument("--latest", action="store_true", help="the newest versions, not those of constraints.txt")
    parser.add_argument(
        "--torch",
        default=os.environ.get("TORCH") or None,
        metavar="REQUIREMENT",
        help="the torch to install, with options for pip (default: the variable TORCH, else what is there)",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--lab", action="store_true", help="open work/, your copy of the notebooks, in JupyterLab")
    what.add_argument("--formgrader", action="store_true", help="open a whole course in JupyterLab")
    what.add_argument(
        "--run", nargs=argparse.REMAINDER, metavar="MODULE", help="run a Python module with the arguments that follow"
    )
    parser.add_argument("--course", type=Path, metavar="FOLDER", help="with --formgrader: another course folder")
    parser.add_argument("rest", nargs="*", metavar="-- ARGUMENTS", help="more for JupyterLab")
    chosen = parser.parse_args(arguments)
    if chosen.run == []:
        parser.error("--run needs a module, for example --run pytest tests")
    if chosen.rest and not (chosen.lab or chosen.formgrader):
        parser.error(f"only --lab and --formgrader take more arguments: {chosen.rest}")
    course = (chosen.course or ROOT).resolve()
    if chosen.course and not (chosen.formgrader and (course / "nbgrader_config.py").is_file()):
        parser.error(
            f"--course wants --formgrader and a folder with nbgrader_config.py, as `make demo` makes it: {course}"
        )
    try:
        ensure(chosen.extra, chosen.torch, chosen.latest)
        share_settings()
    except SetUpError as problem:
        print(problem, file=sys.stderr)
        return 1
    except OSError as problem:
        print(f"The environment {VENV} could not be made: {problem}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped; run this again to go on.", file=sys.stderr)
        return 130
    variables = inside(os.environ)
    if chosen.run:
        return start(chosen.run, variables, ROOT)
    if not (chosen.lab or chosen.formgrader):
        print(f"The environment {VENV} is ready.")
        return 0
    return open_lab(course, chosen.rest, variables, student=chosen.lab)
