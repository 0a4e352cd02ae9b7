"""Makes the course's virtual environment, and starts JupyterLab or another program in it.

    python3 helpers/environment.py --lab                            what `make lab` does
    python3 helpers/environment.py --extra test --run pytest tests  run a module in it

It runs before anything is installed, so it uses the standard library alone. A Python that is too
old must still be able to read it, to say so: its syntax is that of Python 3.6.
"""

import argparse
import errno
import hashlib
import json
import os
import platform
import re
import shlex
import shutil
import socket
import subprocess
import sys
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

OLDEST_PYTHON = (3, 10)
OLDEST_PIP = (22,)  # older ones cannot install a pyproject.toml in editable form
TORCH = "torch==2.13.0"  # what is installed where no torch is; the setting TORCH overrides it
CPU_INDEX = "https://download.pytorch.org/whl/cpu"

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STAMP = "course.json"  # in .venv: what is installed there
MARKER = "course-unfinished"  # in .venv, while something is being installed: the process's number
LOG = "course-pip.log"
TIME_OF_LOG = r"^\d{4}-\d\d-\d\dT[\d:,]+ ?"  # at the start of each line of pip's log

# JupyterLab without the question whether it may fetch news, and without messages about updates.
LAB_SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    }
}

# What a student's JupyterLab leaves out: the instructor's parts of nbgrader.
STUDENT_PAGE = {
    "disabledExtensions": {
        "@jupyter/nbgrader:" + part: True for part in ("formgrader", "create-assignment", "course-list")
    }
}

PROBE = """
import json, sys
try:
    from importlib import metadata
except ImportError:
    print(json.dumps({"python": sys.version_info[:2], "pip": None, "torch": None}))
    sys.exit()
found = {"python": sys.version_info[:2]}
for name in ("pip", "torch"):
    try:
        found[name] = metadata.version(name)
    except metadata.PackageNotFoundError:
        found[name] = None
print(json.dumps(found))
"""


class SetUpError(Exception):
    """Something that the user can mend; the text is one sentence that says what and how."""


# --- what the project wants -----------------------------------------------------------------


def check_python(version: Sequence[Any] = sys.version_info, where: str = sys.executable) -> None:
    """Raise `SetUpError` if this version of Python is too old for the course."""
    if tuple(version[:2]) < OLDEST_PYTHON:
        raise SetUpError(
            "The course needs Python {}.{} or newer, and {} is Python {}: install a newer Python "
            "and name it, for example `make lab PYTHON=python3.12` or "
            "`python3.12 helpers/environment.py --lab`.".format(
                OLDEST_PYTHON[0], OLDEST_PYTHON[1], where, ".".join(map(str, version[:3]))
            )
        )


def read_requirements(pyproject: str) -> Dict[str, List[str]]:
    """Return the requirements in the text of a pyproject.toml.

    Python has a TOML reader from 3.11 on only; this one knows the layout of our file: one
    requirement per line, in double quotes.

    Returns:
        The extra's name (or "" for what is always needed) -> requirements such as `torch>=2.6`.
    """
    requirements = {}  # type: Dict[str, List[str]]
    table = ""
    wanted = None  # type: Optional[List[str]]
    for line in pyproject.splitlines():
        header = re.match(r"\[([^\[\]]+)\]\s*$", line)
        opening = re.match(r"([\w-]+)\s*=\s*\[\s*$", line)
        quoted = re.match(r'\s+"([^"]+)"', line)
        if header:
            table, wanted = header.group(1), None
        elif opening and table == "project" and opening.group(1) == "dependencies":
            wanted = requirements.setdefault("", [])
        elif opening and table == "project.optional-dependencies":
            wanted = requirements.setdefault(opening.group(1), [])
        elif line.startswith("]"):
            wanted = None
        elif quoted and wanted is not None:
            wanted.append(quoted.group(1))
    return requirements


def version_numbers(version: str) -> Tuple[int, ...]:
    """Return the numbers at the start of a version: `2.13.0+cpu` -> (2, 13, 0)."""
    start = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(number) for number in start.group().split(".")) if start else ()


def oldest_torch(requirements: Mapping[str, Sequence[str]]) -> Tuple[int, ...]:
    """Return the oldest torch that the project takes, such as (2, 6)."""
    for requirement in requirements[""]:
        bound = re.match(r"torch\s*>=\s*([\d.]+)", requirement)
        if bound:
            return version_numbers(bound.group(1))
    raise SetUpError("pyproject.toml has no line `torch>=...` among its dependencies: put it back.")


# --- what is there --------------------------------------------------------------------------


def environment_folder(root: str = ROOT) -> str:
    """Return the folder of the virtual environment."""
    return os.path.join(root, ".venv")


def programs_folder(root: str = ROOT) -> str:
    """Return the folder of the environment's programs."""
    return os.path.join(environment_folder(root), "Scripts" if os.name == "nt" else "bin")


def environment_python(root: str = ROOT) -> str:
    """Return the path of the environment's Python."""
    return os.path.join(programs_folder(root), "python.exe" if os.name == "nt" else "python")


def base_python() -> str:
    """Return the Python that environments are made from, also when this one is in one."""
    return getattr(sys, "_base_executable", None) or sys.executable


def probe(python: str) -> Optional[Dict[str, Any]]:
    """Return a Python's version and those of its pip and torch; None if it does not run."""
    try:
        output = subprocess.check_output([python, "-c", PROBE], stderr=subprocess.DEVNULL, universal_newlines=True)
        return dict(json.loads(output))
    except (OSError, subprocess.CalledProcessError, ValueError):
        return None  # the caller says what that means


def fingerprint(root: str) -> str:
    """Return the SHA-256 of the project's pyproject.toml."""
    with open(os.path.join(root, "pyproject.toml"), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def read_stamp(root: str) -> Dict[str, Any]:
    """Return what the last complete installation wrote down, or {} if there was none."""
    try:
        with open(os.path.join(environment_folder(root), STAMP), encoding="utf-8") as file:
            return dict(json.load(file))
    except (OSError, ValueError):
        return {}  # no stamp and a damaged one mean the same: install


def is_current(root: str, extras: Iterable[str], torch: Optional[str]) -> bool:
    """Say whether the environment already holds what is asked for."""
    stamp = read_stamp(root)
    return (
        stamp.get("root") == root
        and stamp.get("python") == list(sys.version_info[:2])
        and stamp.get("pyproject") == fingerprint(root)
        and set(extras) <= set(stamp.get("extras", ()))
        and torch in (None, stamp.get("torch"))
        and os.path.exists(environment_python(root))
        and not os.path.exists(os.path.join(environment_folder(root), MARKER))
    )


def process_runs(number: int) -> bool:
    """Say whether a process with this number is running."""
    if os.name == "nt":  # os.kill would end it there
        return False
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def why_remake(root: str) -> Optional[str]:
    """Return why what is in .venv cannot be used and must be made again; None if it can be used.

    Raises:
        SetUpError: .venv is not ours to delete, or somebody is at work in it.
    """
    folder = environment_folder(root)
    if os.path.islink(folder) or not os.path.isdir(folder):
        raise SetUpError("{} is not a folder, and the course's environment goes there: move it away.".format(folder))
    marker = os.path.join(folder, MARKER)
    if os.path.exists(marker):
        with open(marker, encoding="utf-8") as file:
            number = file.read().strip()
        if number.isdigit() and process_runs(int(number)):
            raise SetUpError(
                "Process {} is installing into {} at this moment: wait until it has finished and "
                "run this again (or delete that folder if it hangs).".format(number, folder)
            )
        return "an earlier installation did not finish"
    contents = os.listdir(folder)
    if contents and not {"pyvenv.cfg", "bin", "Scripts", "lib"} & set(contents):
        raise SetUpError("{} holds something else than a Python environment: move it away.".format(folder))
    stamp = read_stamp(root)
    if stamp and stamp.get("root") != root:
        return "it was made for {}".format(stamp.get("root"))
    found = probe(environment_python(root))
    if found is None or found["pip"] is None:
        return "its Python or its pip does not run"
    if found["python"] != list(sys.version_info[:2]):
        made_with = ".".join(map(str, found["python"]))
        if not stamp:
            raise SetUpError(
                "{} is an environment of Python {} that the course did not make, and this is "
                "Python {}.{}: use that Python, or delete the folder.".format(
                    folder, made_with, sys.version_info[0], sys.version_info[1]
                )
            )
        return "it was made with Python {}".format(made_with)
    return None


# --- installing -----------------------------------------------------------------------------


def explain_failure(log: str, what: str) -> str:
    """Return one sentence on why pip failed, from the text of its log."""
    # The log also has what pip tried on its way, and only the end of a failure says its cause.
    lines = [re.sub(TIME_OF_LOG, "", line) for line in log.splitlines()]
    errors = "\n".join(line for line in lines if re.match(r"\s*(ERROR|[\w.]+Error)\b", line))
    if re.search(r"No space left on device|Errno 28|disk quota exceeded", errors, re.I):
        return "The disk is full, so {} could not be installed: free some gigabytes.".format(what)
    if re.search(r"PermissionError|Permission denied|Read-only file system", errors):
        return (
            "pip may not write where it must, so {} could not be installed: make the clone's "
            "folder your own, or clone into a folder that is.".format(what)
        )
    if re.search(r"CERTIFICATE_VERIFY_FAILED|certificate verify failed", log):
        return (
            "The certificate of the package index could not be verified, so {} could not be "
            "fetched: if your network has its own certificate, name it in PIP_CERT.".format(what)
        )
    no_answer = re.search(
        r"NewConnectionError|NameResolutionError|Failed to establish a new connection|ProxyError"
        r"|Temporary failure in name resolution|getaddrinfo failed|ConnectTimeout"
        r"|ReadTimeoutError|Network is unreachable|Connection refused|Max retries exceeded"
        r"|RemoteDisconnected|Connection reset by peer|ConnectionResetError",
        log,
    )
    # A build or a conflict that failed after the network had stumbled is not the network's fault.
    if no_answer and not re.search(r"ERROR: (ResolutionImpossible|Failed building)", errors):
        return (
            "There is no network: pip did not reach the package index, so {} could not be "
            "fetched; connect and run this again (behind a proxy, set HTTPS_PROXY).".format(what)
        )
    if re.search(r"No matching distribution found for torch\b", errors):
        return (
            "The index has no {} for Python {}.{} on {} {}: name another that is at least the one "
            "in pyproject.toml, for example `make lab TORCH=torch`.".format(
                what,
                sys.version_info[0],
                sys.version_info[1],
                platform.system(),
                platform.machine(),
            )
        )
    return "pip could not install {}: its last lines say why.".format(what)


def last_lines(log: str, count: int = 12) -> List[str]:
    """Return the last lines of pip's log that are for people, without their times."""
    lines = [re.sub(TIME_OF_LOG, "", line).rstrip() for line in log.splitlines()]
    errors = [line for line in lines if re.match(r"\s*(ERROR|WARNING|error)\b", line)]
    return (errors or [line for line in lines if line])[-count:]


def run_pip(python: str, arguments: Sequence[str], log: str, quiet: bool) -> int:
    """Run `pip install`, with its log in a file and, if not quiet, its progress on the screen."""
    volume = ["--quiet"] if quiet else []
    return subprocess.call([python, "-m", "pip", "install", "--log", log, *volume, *arguments])


def pip_install(root: str, arguments: Sequence[str], what: str, quiet: bool = False) -> None:
    """Install with pip.

    Raises:
        SetUpError: pip failed; says why.
    """
    log = os.path.join(environment_folder(root), LOG)
    if os.path.exists(log):
        os.remove(log)
    status = run_pip(environment_python(root), arguments, log, quiet)
    if status == 0:
        return
    text = ""
    if os.path.exists(log):
        with open(log, encoding="utf-8", errors="replace") as file:
            text = file.read()
    raise SetUpError(
        "\n".join(
            ["  " + line for line in last_lines(text)]
            + [explain_failure(text, what), "The whole log is {}.".format(log)]
        )
    )


def make_environment(root: str) -> None:
    """Make an empty virtual environment.

    Raises:
        SetUpError: Python cannot; says why.
    """
    try:
        import ensurepip  # noqa: F401  (Debian keeps it in a package of its own)
    except ImportError:
        raise SetUpError(
            "This Python cannot make virtual environments, because its module ensurepip is "
            "missing: on Debian and Ubuntu, `apt install python3-venv` brings it."
        ) from None
    command = [base_python(), "-m", "venv", environment_folder(root)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    output = process.communicate()[0].strip()
    if process.returncode:
        if shutil.disk_usage(root).free < 100 * 2**20:
            remedy = "the disk is full; free some gigabytes and run this again"
        elif "ensurepip is not available" in output:
            remedy = "on Debian and Ubuntu, `apt install python3-venv` mends it"
        else:
            remedy = "its lines above say why"
        raise SetUpError("{}\n`{}` failed: {}.".format(output, " ".join(map(shlex.quote, command)), remedy))


def share_packages(root: str, share: bool) -> None:
    """Let the environment see the packages of the Python that it is made from, or not."""
    path = os.path.join(environment_folder(root), "pyvenv.cfg")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    setting = "include-system-site-packages = {}".format("true" if share else "false")
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(r"include-system-site-packages\s*=\s*\w+", setting, text))


def install_torch(root: str, oldest: Tuple[int, ...], asked: Optional[str], say: Any = print) -> bool:
    """See to it that the environment has a torch that is new enough.

    A torch that is there is kept: in the environment, or in the Python that it is made from.

    Returns:
        Whether torch is that Python's, outside the environment.
    """
    share_packages(root, False)
    for python in (environment_python(root), base_python()):
        version = (probe(python) or {}).get("torch")
        if not asked and version and version_numbers(version) >= oldest:
            say("Keeping torch {}.".format(version))
            return python != environment_python(root)
    if not asked and has_no_gpu_but_large_torch():
        say(
            "Fetching PyTorch. No NVIDIA GPU was found here, and the plain PyTorch for Linux is "
            "the one for such GPUs, several gigabytes; for the small one, stop and set "
            "TORCH='{} --index-url {}'.".format(TORCH, CPU_INDEX)
        )
    wanted = asked or TORCH
    pip_install(root, shlex.split(wanted), wanted.split()[0])
    version = (probe(environment_python(root)) or {}).get("torch")
    if not version or version_numbers(version) < oldest:
        raise SetUpError(
            "TORCH={!r} gave torch {}, and the course needs {} or newer: name a newer one.".format(
                wanted, version or "not at all", ".".join(map(str, oldest))
            )
        )
    return False


def has_no_gpu_but_large_torch() -> bool:
    """Say whether a plain `pip install torch` fetches libraries for a GPU that is not there."""
    return (
        platform.system() == "Linux"
        and platform.machine() == "x86_64"
        and shutil.which("nvidia-smi") is None
        and not os.path.exists("/proc/driver/nvidia")
    )


def install(root: str, extras: Sequence[str], torch: Optional[str], quiet: bool, say: Any = print) -> None:
    """Install the project, in editable form, with these extras."""
    with open(os.path.join(root, "pyproject.toml"), encoding="utf-8") as file:
        requirements = read_requirements(file.read())
    unknown = sorted(set(extras) - set(requirements))
    if unknown:
        raise SetUpError(
            "pyproject.toml has no extra named {}: it has {}.".format(
                ", ".join(unknown), ", ".join(sorted(set(requirements) - {""}))
            )
        )
    pip_version = (probe(environment_python(root)) or {}).get("pip") or "0"
    if version_numbers(pip_version) < OLDEST_PIP:
        pip_install(root, ["--upgrade", "pip"], "a newer pip")
    torch_is_shared = install_torch(root, oldest_torch(requirements), torch, say)
    project = root + ("[{}]".format(",".join(extras)) if extras else "")
    if torch_is_shared:
        # Only torch is to come from outside: JupyterLab and its extensions must lie in the
        # environment itself, or they do not find each other.
        others = [name for extra in ["", *extras] for name in requirements[extra]]
        others = [name for name in others if not re.match(r"torch\b", name)]
        pip_install(root, others, "what the course needs", quiet)
        share_packages(root, True)
        pip_install(root, ["--no-deps", "--editable", root], "the course", quiet)
    else:
        pip_install(root, ["--editable", project], "the course and what it needs", quiet)
    write_settings(os.path.join(environment_folder(root), "etc", "jupyter"), "default_setting_overrides", LAB_SETTINGS)
    write_settings(students_settings(root), "page_config", STUDENT_PAGE)


def write_settings(folder: str, name: str, settings: Any) -> None:
    """Write settings of JupyterLab into a folder of Jupyter's."""
    folder = os.path.join(folder, "labconfig")
    if not os.path.isdir(folder):
        os.makedirs(folder)
    with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
        json.dump(settings, file, indent=2)


def students_settings(root: str = ROOT) -> str:
    """Return the folder with the settings that only a student's JupyterLab reads."""
    return os.path.join(environment_folder(root), "etc", "jupyter-student")


def ensure(
    extras: Sequence[str] = (),
    torch: Optional[str] = None,
    root: str = ROOT,
    say: Any = print,
) -> str:
    """Make the environment what it should be, which takes no time when it already is.

    Args:
        extras: the extras of pyproject.toml to install too; earlier ones stay.
        torch: a requirement, with options for pip, in place of whatever torch is there.

    Returns:
        The path of the environment's Python.

    Raises:
        SetUpError: it could not be made; says why.
    """
    check_python()
    if is_current(root, extras, torch):
        return environment_python(root)
    folder = environment_folder(root)
    marker = os.path.join(folder, MARKER)
    stamp = read_stamp(root)
    try:
        if os.path.lexists(folder):
            reason = why_remake(root)
            if reason:
                say("Making {} again, because {}.".format(folder, reason))
                shutil.rmtree(folder)
                stamp = {"torch": stamp.get("torch")}  # a choice that somebody made once
                torch = torch or stamp["torch"]
        is_new = not os.path.exists(environment_python(root))
        if not os.path.isdir(folder):
            os.mkdir(folder)
        with open(marker, "w", encoding="utf-8") as file:
            file.write(str(os.getpid()))
        if is_new:
            say("Making the environment {}: a few minutes, once.".format(folder))
            make_environment(root)
        else:
            say("Bringing the environment {} up to date.".format(folder))
        all_extras = sorted(set(extras) | set(stamp.get("extras", ())))
        try:
            # Where most is there already, pip would say so of each package on a line of its own.
            install(root, all_extras, torch, not is_new, say)
        except SetUpError:
            # pip undoes what it could not complete, so what it did complete need not be redone.
            os.remove(marker)
            raise
        stamp = {
            "root": root,
            "python": list(sys.version_info[:2]),
            "pyproject": fingerprint(root),
            "extras": all_extras,
            "torch": torch or stamp.get("torch"),
        }
        with open(os.path.join(folder, STAMP), "w", encoding="utf-8") as file:
            json.dump(stamp, file, indent=2)
        os.remove(marker)
    except OSError as error:
        raise SetUpError(explain_os_error(error, root)) from error
    return environment_python(root)


def explain_os_error(error: OSError, root: str) -> str:
    """Return one sentence on why the environment could not be written."""
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return (
            "You may not write {}, and the course's environment goes into {}: make that folder "
            "your own, or clone into one that is.".format(error.filename or root, root)
        )
    if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", None)):  # Windows has no EDQUOT
        return "The disk of {} is full: free some gigabytes and run this again.".format(root)
    return "The environment in {} could not be written: {}.".format(root, error)


# --- using it -------------------------------------------------------------------------------


def inside(environ: Mapping[str, str], root: str = ROOT) -> Dict[str, str]:
    """Return the environment variables for a program that runs in the virtual environment."""
    variables = dict(environ)
    # nbgrader runs `alembic` as a command, so the folder of programs must be on PATH.
    variables["PATH"] = programs_folder(root) + os.pathsep + environ.get("PATH", "")
    variables["VIRTUAL_ENV"] = environment_folder(root)
    # The kernel of this environment, also where the home folder has one.
    variables["JUPYTER_PREFER_ENV_PATH"] = "1"
    variables.pop("PYTHONHOME", None)
    return variables


def free_port(first: int, tries: int = 50) -> int:
    """Return the first port from `first` on that nobody uses on this machine."""
    for port in range(first, min(first + tries, 65536)):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe_socket:
            if os.name != "nt":  # there, this option takes a port from whoever has it
                probe_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe_socket.bind(("127.0.0.1", port))
            except OSError as error:
                if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                    raise
            else:
                return port
    raise SetUpError(
        "No port from {} to {} is free: name another, for example `make lab PORT=9000`.".format(
            first, min(first + tries, 65536) - 1
        )
    )


def lab_command(
    python: str,
    folder: str,
    port: int,
    arguments: Sequence[str],
    environ: Mapping[str, str],
    is_root: bool,
) -> List[str]:
    """Return the command that starts JupyterLab on a folder."""
    command = [
        python,
        "-m",
        "jupyterlab",
        "--ServerApp.root_dir=" + folder,
        "--ServerApp.port={}".format(port),
        "--Application.log_level=WARN",  # the address still comes
    ]
    if is_root:
        command.append("--allow-root")
    has_screen = any(environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
    if platform.system() == "Linux" and not has_screen:
        command.append("--no-browser")  # else a text browser may take over the terminal
    return command + list(arguments)


def start(command: Sequence[str], folder: str, variables: Mapping[str, str]) -> int:
    """Run a command in place of this one; return its exit status."""
    sys.stdout.flush()
    os.chdir(folder)
    if os.name != "nt":
        os.execve(command[0], list(command), dict(variables))
    return subprocess.call(list(command), env=dict(variables))


def run_lab(python: str, folder: str, port: int, arguments: Sequence[str], root: str) -> int:
    """Start JupyterLab on a folder of the project and say where it is."""
    if not os.path.isdir(folder):
        raise SetUpError(
            "The folder {} is missing: `make build` makes it from solutions/, or clone the project again.".format(
                folder
            )
        )
    chosen = free_port(port)
    if chosen != port:
        print("Port {} is taken, so JupyterLab uses {}.".format(port, chosen))
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    print(
        "JupyterLab opens {} at http://localhost:{}/lab; if no browser comes up, copy the address "
        "with `token=` that appears below. Ctrl-C stops it.".format(folder, chosen)
    )
    command = lab_command(python, folder, chosen, arguments, os.environ, is_root)
    variables = inside(os.environ, root)
    if folder != root:
        others = variables.get("JUPYTER_CONFIG_PATH")
        variables["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, [students_settings(root), others]))
    # From the project's root, where nbgrader looks for nbgrader_config.py.
    return start(command, root, variables)


def port_number(text: str) -> int:
    """Return a port from the command line."""
    if not text.isdigit() or not 0 < int(text) < 65536:
        raise argparse.ArgumentTypeError(
            "{!r} is no port: expected a number from 1 to 65535, for example 8888".format(text)
        )
    return int(text)


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(
        description="Make the course's virtual environment .venv, and run a program in it."
    )
    parser.add_argument("--extra", action="append", default=[], metavar="NAME", help="also install an extra")
    parser.add_argument(
        "--torch",
        default=os.environ.get("TORCH") or None,
        metavar="REQUIREMENT",
        help="the torch to install, with options for pip (default: the variable TORCH, else the "
        "torch that is there, else {})".format(TORCH),
    )
    parser.add_argument("--port", type=port_number, default=8888, help="JupyterLab's port (default: 8888)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--lab", action="store_true", help="open notebooks/ in JupyterLab")
    what.add_argument("--formgrader", action="store_true", help="open the whole project in JupyterLab")
    what.add_argument(
        "--run",
        nargs=argparse.REMAINDER,
        metavar="MODULE",
        help="run a Python module with the arguments that follow",
    )
    parser.add_argument("rest", nargs="*", metavar="-- ARGUMENTS", help="more for JupyterLab")
    chosen = parser.parse_args(arguments)
    if chosen.run == []:
        parser.error("--run needs a module, for example --run pytest tests")
    if chosen.rest and not (chosen.lab or chosen.formgrader):
        parser.error("only --lab and --formgrader take more arguments: {}".format(chosen.rest))
    try:
        python = ensure(chosen.extra, chosen.torch)
        if chosen.lab:
            return run_lab(python, os.path.join(ROOT, "notebooks"), chosen.port, chosen.rest, ROOT)
        if chosen.formgrader:
            print("Formgrader is in JupyterLab's menu Nbgrader.")
            return run_lab(python, ROOT, chosen.port, chosen.rest, ROOT)
        if chosen.run:
            return start([python, "-m", *chosen.run], ROOT, inside(os.environ))
        print("The environment {} is ready.".format(environment_folder()))
        return 0
    except SetUpError as problem:
        print(problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped; run this again to go on.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
