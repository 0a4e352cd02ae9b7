"""The set-up: what is wanted, how it is installed, what is said when that fails, and the device."""

import ast
import errno
import json
import os
import random
import re
import runpy
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
import torch
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import helpers.__main__ as report
from helpers import __version__, device, environment

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pytest brings it

# conda's names, where they are not PyPI's.
CONDA_NAMES = {"torch": "pytorch", "matplotlib": "matplotlib-base"}

PYPROJECT = """\
[project]
dependencies = [
    "torch>=2.6",  # why
    "numpy>=1.26",
]

[project.optional-dependencies]
test = [
    "pytest>=8",
]
"""


def read_project(repository: Path) -> dict:
    return tomllib.loads((repository / "pyproject.toml").read_text("utf-8"))["project"]


# --- one list of dependencies ----------------------------------------------------------------


def conda_ranges(text: str) -> dict[str, SpecifierSet]:
    """The names and ranges under `dependencies:`, without pip and its part."""
    entries = text.partition("\ndependencies:\n")[2].partition("  - pip:")[0]
    names = [line.strip()[2:] for line in entries.splitlines() if line.startswith("  - ")]
    parsed = [Requirement(name) for name in names]
    assert len({item.name for item in parsed}) == len(parsed)
    return {item.name: item.specifier for item in parsed if item.name != "pip"}


def test_conda_wants_what_pip_wants(repository: Path) -> None:
    project = read_project(repository)
    wanted = {"python": SpecifierSet(project["requires-python"])}
    for line in project["dependencies"]:
        item = Requirement(line)
        if item.marker is None:  # what only some systems need comes through pip, with the course
            wanted[CONDA_NAMES.get(item.name, item.name)] = item.specifier
    text = (repository / "environment.yml").read_text("utf-8")
    assert conda_ranges(text) == wanted
    # The course itself comes through pip, which repo2docker and conda find by this line.
    assert "  - pip:\n" in text
    assert "\n      - -e .\n" in text


def test_our_reader_finds_what_a_toml_reader_finds(repository: Path) -> None:
    project = read_project(repository)
    expected = {"": project["dependencies"], **project["optional-dependencies"]}
    text = (repository / "pyproject.toml").read_text("utf-8")
    assert environment.read_requirements(text) == expected


def test_the_versions_named_in_the_code_are_those_of_the_project(repository: Path) -> None:
    project = read_project(repository)
    oldest = ".".join(map(str, environment.OLDEST_PYTHON))
    assert project["requires-python"] == f">={oldest}"
    torch_range = next(item.specifier for item in map(Requirement, project["dependencies"]) if item.name == "torch")
    requirements = environment.read_requirements((repository / "pyproject.toml").read_text("utf-8"))
    assert str(torch_range) == ">=" + ".".join(map(str, environment.oldest_torch(requirements)))
    assert Requirement(environment.TORCH).name == "torch"
    default = environment.TORCH.partition("==")[2]
    assert torch_range.contains(default)


def test_every_extra_has_a_command_that_installs_it(repository: Path) -> None:
    project = read_project(repository)
    assert set(report.PURPOSES) == {"", *project["optional-dependencies"]}
    makefile = (repository / "Makefile").read_text("utf-8")
    for _, command in report.PURPOSES.values():
        assert re.search(rf"^{command.removeprefix('make ')}: ##", makefile, re.M), command


# --- make and CI ------------------------------------------------------------------------------


def make(repository: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run make as from a terminal, also when `make test` runs this test."""
    own = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "PYTEST_ARGS", "CHROMIUM"}
    return subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=repository,
        env={name: value for name, value in os.environ.items() if name not in own},
        capture_output=True,
        text=True,
        check=False,
    )


def test_ci_runs_make_test_and_then_the_browser(repository: Path) -> None:
    script = repository / ".ci" / "run"
    assert os.access(script, os.X_OK)
    text = script.read_text("utf-8")
    assert "set -euo pipefail" in text
    lines = text.splitlines()
    assert lines.index("make test") < lines.index("make test-browser")
    assert lines[-1] == "make test-browser"  # so the closing lines are pytest's
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0


def test_make_lists_every_target(repository: Path) -> None:
    text = (repository / "Makefile").read_text("utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", text, re.M)
    assert phony
    output = make(repository).stdout
    listed = [line.split()[1] for line in output.splitlines()]
    assert listed == phony.group(1).split()
    assert all(len(line.split()) > 3 for line in output.splitlines())


def test_make_test_is_one_pytest_run_of_everything(repository: Path) -> None:
    plan = make(repository, "-n", "test").stdout
    command = plan.replace("\\\n", " ").split()
    assert command.count("pytest") == 1
    assert command[-2:] == ["tests", "solutions"]
    assert "--nbval" in command
    assert "--nbval-sanitize-with=tests/nbval.cfg" in command
    # Without it, the cells of one notebook land in two kernels.
    assert command[command.index("--dist") + 1] == "loadfile"


def test_a_missing_chromium_is_one_sentence(repository: Path, tmp_path: Path) -> None:
    absent = tmp_path / "chromium"
    result = make(repository, "test-browser", f"CHROMIUM={absent}")
    assert result.returncode != 0
    assert f"There is no Chromium at {absent}: install it" in result.stderr


def test_honest_differences_between_two_runs_are_sanitised(repository: Path) -> None:
    text = (repository / "tests" / "nbval.cfg").read_text("utf-8")
    pairs = re.findall(r"^regex: (.*)$\n^replace: (.*)$", text, re.M)  # as nbval reads it
    assert len(pairs) == text.count("regex: ") == text.count("replace: ")

    def sanitise(output: str) -> str:
        for pattern, replacement in pairs:
            output = re.sub(pattern, replacement, output)
        return output

    for first, second in [
        ("<object at 0x7f0a1b2c3d4e>", "<object at 0x55d0c0ffee00>"),
        ("took 0.0141 s", "took 12.5 ms"),
        ("CPU times: user 2 ms, sys: 1 ms, total: 3 ms", "CPU times: user 1.2 s, total: 2 s"),
        ("Wall time: 3.1 ms", "Wall time: 4 µs"),
        ("/tmp/ipykernel_12/34.py:1: UserWarning", "C:\\T\\ipykernel_9\\8.py:1: UserWarning"),
        ("epoch 1:  50%|#####     | 1/2 [00:01]", "epoch 1:  50%|##5  | 1/2 [00:09]"),
        (
            "1.2 ms ± 3 µs per loop (mean ± std. dev. of 7 runs, 10 loops each)",
            "9.9 ms ± 4 µs per loop (mean ± std. dev. of 7 runs, 99 loops each)",
        ),
    ]:
        assert sanitise(first) == sanitise(second)
    for output in ["tensor([0.1, -inf])", "21,018,401 parameters", "loss 2.9000"]:
        assert sanitise(output) == output


# --- environment.py: readable for old Pythons -------------------------------------------------


def test_a_python_that_is_too_old_can_read_the_file(repository: Path) -> None:
    source = (repository / "helpers" / "environment.py").read_text("utf-8")
    tree = ast.parse(source, feature_version=(3, 6))
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module != "__future__"  # annotations are known from 3.7 on only
            imported.add(str(node.module).partition(".")[0])
        elif isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            assert "|" not in ast.unparse(node.annotation)
            assert not re.search(r"\b(list|dict|tuple|set)\[", ast.unparse(node.annotation))
    assert imported <= sys.stdlib_module_names


@pytest.mark.parametrize("version", [(3, 6, 15), (3, 8, 18), (3, 9, 0)])
def test_a_python_that_is_too_old_is_named(version: tuple[int, int, int]) -> None:
    with pytest.raises(environment.SetUpError) as problem:
        environment.check_python(version, "/usr/bin/python3")
    named = ".".join(map(str, version))
    assert str(problem.value).startswith(
        f"The course needs Python 3.10 or newer, and /usr/bin/python3 is Python {named}: install"
    )
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize("version", [(3, 10, 0), (3, 13, 1), (4, 0, 0)])
def test_a_python_that_is_new_enough_is_taken(version: tuple[int, int, int]) -> None:
    environment.check_python(version)


def test_the_command_line_ends_with_the_sentence_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse() -> None:
        raise environment.SetUpError("Too old: install a newer one.")

    monkeypatch.setattr(environment, "check_python", refuse)
    assert environment.main([]) == 1
    output = capsys.readouterr()
    assert (output.out, output.err) == ("", "Too old: install a newer one.\n")


# --- environment.py: installing ---------------------------------------------------------------


class FakePip:
    """Takes the place of venv and pip: writes down what is asked and makes what they would make."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.calls: list[list[str]] = []
        self.made = 0
        self.installed: dict[str, str | None] = {"pip": "24.0", "torch": None}
        self.base_torch: str | None = None
        self.log = ""  # what a failing pip writes
        self.fails_at = ""
        self.runs = True

    def make_environment(self, root: str) -> None:
        self.made += 1
        self.installed["torch"] = None
        self.runs = True
        python = Path(environment.environment_python(root))
        python.parent.mkdir(parents=True)
        python.touch()
        (self.root / ".venv" / "pyvenv.cfg").write_text("include-system-site-packages = false\n")

    def probe(self, python: str) -> dict | None:
        version = list(sys.version_info[:2])
        if python != environment.environment_python(str(self.root)):
            return {"python": version, "pip": "24.0", "torch": self.base_torch}
        if not (Path(python).exists() and self.runs):
            return None
        return {"python": version, **self.installed}

    def run_pip(self, python: str, arguments: Sequence[str], log: str, quiet: bool) -> int:
        assert python == environment.environment_python(str(self.root))
        self.calls.append(list(arguments))
        if self.fails_at and any(self.fails_at in argument for argument in arguments):
            Path(log).write_text(self.log, "utf-8")
            return 1
        for argument in arguments:
            if argument.startswith("torch=="):
                self.installed["torch"] = argument.partition("==")[2]
        return 0


@pytest.fixture
def pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakePip:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT, "utf-8")
    fake = FakePip(tmp_path)
    monkeypatch.setattr(environment, "make_environment", fake.make_environment)
    monkeypatch.setattr(environment, "probe", fake.probe)
    monkeypatch.setattr(environment, "run_pip", fake.run_pip)
    return fake


@pytest.fixture
def ensure(pip: FakePip) -> Callable[..., list[list[str]]]:
    """Call `ensure` in the temporary project; return what pip was asked in this call."""

    def call(*extras: str, torch: str | None = None) -> list[list[str]]:
        before = len(pip.calls)
        environment.ensure(extras, torch, str(pip.root), say=lambda line: None)
        return pip.calls[before:]

    return call


Ensure = Callable[..., list[list[str]]]


def test_the_first_run_installs_and_the_second_does_nothing(pip: FakePip, ensure: Ensure) -> None:
    assert ensure() == [[environment.TORCH], ["--editable", str(pip.root)]]
    assert ensure() == []
    assert pip.made == 1


def test_extras_are_added_and_stay(pip: FakePip, ensure: Ensure) -> None:
    ensure()
    assert ensure("test") == [["--editable", f"{pip.root}[test]"]]
    assert ensure() == ensure("test") == []
    (pip.root / "pyproject.toml").write_text(PYPROJECT + "# changed\n", "utf-8")
    assert ensure() == [["--editable", f"{pip.root}[test]"]]
    assert pip.made == 1


def test_an_unknown_extra_is_named(ensure: Ensure) -> None:
    with pytest.raises(environment.SetUpError, match="no extra named tset: it has test"):
        ensure("tset")


def test_jupyterlab_asks_nothing_at_its_first_start(pip: FakePip, ensure: Ensure) -> None:
    ensure()
    path = pip.root / ".venv/etc/jupyter/labconfig/default_setting_overrides.json"
    settings = json.loads(path.read_text("utf-8"))
    assert settings["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"


def test_only_a_student_is_spared_the_instructors_parts(
    pip: FakePip, ensure: Ensure, monkeypatch: pytest.MonkeyPatch
) -> None:
    ensure()
    folder = pip.root / ".venv/etc/jupyter-student"
    page = json.loads((folder / "labconfig/page_config.json").read_text("utf-8"))
    assert page["disabledExtensions"]["@jupyter/nbgrader:formgrader"] is True
    started: list[str] = []

    def start(command: list[str], where: str, variables: dict[str, str]) -> int:
        started.append(variables.get("JUPYTER_CONFIG_PATH", ""))
        return 0

    monkeypatch.setattr(environment, "start", start)
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "/mine")
    (pip.root / "notebooks").mkdir()
    for name in ("notebooks", ""):
        environment.run_lab("py", str(pip.root / name if name else pip.root), 8888, [], str(pip.root))
    assert started == [f"{folder}{os.pathsep}/mine", "/mine"]


@pytest.mark.parametrize("installed", ["2.6.0", "2.10.1+cu130", "3.0.0"])
def test_a_torch_that_is_new_enough_is_kept(pip: FakePip, ensure: Ensure, installed: str) -> None:
    pip.make_environment(str(pip.root))
    pip.installed["torch"] = installed
    assert ensure() == [["--editable", str(pip.root)]]


def test_a_torch_that_is_too_old_is_replaced(pip: FakePip, ensure: Ensure) -> None:
    pip.make_environment(str(pip.root))
    pip.installed["torch"] = "2.5.1"
    assert ensure()[0] == [environment.TORCH]


def test_the_torch_of_the_python_outside_is_used_and_nothing_else_of_it(pip: FakePip, ensure: Ensure) -> None:
    pip.base_torch = "2.8.0+cu126"
    assert ensure("test") == [
        ["numpy>=1.26", "pytest>=8"],
        ["--no-deps", "--editable", str(pip.root)],
    ]
    config = (pip.root / ".venv" / "pyvenv.cfg").read_text("utf-8")
    assert config == "include-system-site-packages = true\n"


def test_the_setting_torch_wins_and_is_remembered(pip: FakePip, ensure: Ensure) -> None:
    wanted = "torch==2.9.0 --index-url https://example.org/whl/cpu"
    pip.base_torch = "2.8.0"
    assert ensure(torch=wanted)[0] == wanted.split()
    assert ensure(torch=wanted) == []
    assert ensure() == []
    assert ensure(torch="torch==2.10.0")[0] == ["torch==2.10.0"]


def test_a_setting_torch_that_is_too_old_is_named(ensure: Ensure) -> None:
    with pytest.raises(environment.SetUpError, match=r"gave torch 2\.5\.1, .* needs 2\.6 or newer"):
        ensure(torch="torch==2.5.1")


@pytest.mark.parametrize("damage", ["unfinished", "broken", "moved", "other python"])
def test_an_environment_that_cannot_be_used_is_made_again(pip: FakePip, ensure: Ensure, damage: str) -> None:
    ensure("test")
    folder = pip.root / ".venv"
    (folder / "left over").touch()
    stamp_file = folder / environment.STAMP
    stamp = json.loads(stamp_file.read_text("utf-8"))
    if damage == "unfinished":
        process = subprocess.Popen([sys.executable, "-c", ""])
        process.wait()
        (folder / environment.MARKER).write_text(str(process.pid), "utf-8")
    elif damage == "broken":
        stamp_file.unlink()
        pip.runs = False
    elif damage == "moved":
        stamp_file.write_text(json.dumps({**stamp, "root": "/elsewhere"}), "utf-8")
    else:
        stamp_file.write_text(json.dumps({**stamp, "python": [3, 9]}), "utf-8")
        original = pip.probe
        answers = [{"python": [3, 9], "pip": "24.0", "torch": None}]
        environment.probe = lambda python: answers.pop() if answers else original(python)
    assert ensure("test") == [[environment.TORCH], ["--editable", f"{pip.root}[test]"]]
    assert pip.made == 2
    assert not (folder / "left over").exists()
    assert ensure("test") == []


def test_somebody_at_work_in_the_environment_is_left_alone(pip: FakePip, ensure: Ensure) -> None:
    ensure()
    (pip.root / ".venv" / environment.MARKER).write_text(str(os.getpid()), "utf-8")
    with pytest.raises(environment.SetUpError, match=f"Process {os.getpid()} is installing"):
        ensure()
    assert pip.made == 1


def test_a_folder_that_is_no_environment_is_not_deleted(pip: FakePip, ensure: Ensure) -> None:
    thesis = pip.root / ".venv" / "thesis.tex"
    thesis.parent.mkdir()
    thesis.touch()
    with pytest.raises(environment.SetUpError, match="holds something else"):
        ensure()
    assert thesis.exists()


def test_an_interrupted_installation_leaves_no_stamp(
    pip: FakePip, ensure: Ensure, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*arguments: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(environment, "run_pip", interrupt)
        with pytest.raises(KeyboardInterrupt):
            ensure()
    assert not (pip.root / ".venv" / environment.STAMP).exists()
    monkeypatch.setattr(environment, "process_runs", lambda number: False)
    assert ensure() == [[environment.TORCH], ["--editable", str(pip.root)]]
    assert pip.made == 2


def test_a_failed_installation_goes_on_where_it_stopped(pip: FakePip, ensure: Ensure) -> None:
    pip.fails_at = "--editable"
    with pytest.raises(environment.SetUpError):
        ensure()
    pip.fails_at = ""
    assert ensure() == [["--editable", str(pip.root)]]  # torch is there already
    assert pip.made == 1


# --- environment.py: what is said when it fails -----------------------------------------------

NO_NETWORK = """\
2026-01-02T03:04:05,678 WARNING: Retrying (Retry(total=0, connect=None)) after connection broken \
by 'NewConnectionError('<HTTPSConnection>: Failed to establish a new connection: [Errno -3] \
Temporary failure in name resolution')': /simple/torch/
2026-01-02T03:04:05,679 pip._vendor.resolvelib.resolvers.ResolutionImpossible: [(None)]
2026-01-02T03:04:05,679 The above exception was the direct cause of the following exception:
2026-01-02T03:04:05,679 ERROR: Could not find a version that satisfies the requirement torch
2026-01-02T03:04:05,680 ERROR: No matching distribution found for torch==2.13.0
"""


def test_no_network_is_one_sentence_after_the_last_lines_of_pip(pip: FakePip, ensure: Ensure) -> None:
    pip.fails_at, pip.log = "torch", NO_NETWORK
    with pytest.raises(environment.SetUpError) as problem:
        ensure()
    lines = str(problem.value).splitlines()
    assert "  ERROR: No matching distribution found for torch==2.13.0" in lines
    sentence = lines[-2]
    assert sentence.startswith("There is no network: pip did not reach the package index")
    assert "connect and run this again" in sentence
    assert lines[-1].startswith("The whole log is ")


@pytest.mark.parametrize(
    ("log", "beginning"),
    [
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space", "The disk is"),
        ("ERROR: Exception:\nOSError: [Errno 28] No space left on device", "The disk is full"),
        ("ERROR: [Errno 13] Permission denied: '/x'", "pip may not write"),
        ("WARNING: cache: Permission denied\nERROR: bad", "pip could not install numpy"),
        ("SSLError(SSLCertVerificationError('CERTIFICATE_VERIFY_FAILED'))", "The certificate"),
        ("ERROR: No matching distribution found for torch==2.13.0", "The index has no numpy for"),
        ("ERROR: ResolutionImpossible: for help visit", "pip could not install numpy"),
        ("ReadTimeoutError\nERROR: ResolutionImpossible: for help", "pip could not install numpy"),
    ],
)
def test_other_failures_of_pip_are_told_apart(log: str, beginning: str) -> None:
    assert environment.explain_failure(log, "numpy").startswith(beginning)


@pytest.mark.parametrize(
    ("number", "beginning"),
    [
        (errno.EACCES, "You may not write /clone/.venv, and the course's environment goes into"),
        (errno.EROFS, "You may not write /clone/.venv"),
        (errno.ENOSPC, "The disk of /clone is full: free some gigabytes"),
    ],
)
def test_a_folder_that_cannot_be_written_is_named(
    number: int, beginning: str, pip: FakePip, ensure: Ensure, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = OSError(number, "reason", "/clone/.venv")
    assert environment.explain_os_error(error, "/clone").startswith(beginning)

    def refuse(path: str) -> None:
        raise error

    monkeypatch.setattr(environment.os, "mkdir", refuse)
    with pytest.raises(environment.SetUpError):
        ensure()


def test_a_python_without_ensurepip_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "ensurepip", None)  # what a missing module looks like
    with pytest.raises(environment.SetUpError, match="apt install python3-venv"):
        environment.make_environment(str(tmp_path))


def test_a_python_that_does_not_run_is_no_environment(tmp_path: Path) -> None:
    assert environment.probe(str(tmp_path / "python")) is None
    found = environment.probe(sys.executable)
    assert found
    assert found["python"] == list(sys.version_info[:2])
    assert found["torch"] == metadata.version("torch")


# --- environment.py: starting programs --------------------------------------------------------


def test_a_taken_port_is_passed_over() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert port < environment.free_port(port) < port + 50
        with pytest.raises(environment.SetUpError, match="No port from"):
            environment.free_port(port, tries=1)


def test_programs_of_the_environment_are_found_first(tmp_path: Path) -> None:
    variables = environment.inside({"PATH": "/usr/bin", "PYTHONHOME": "/x"}, str(tmp_path))
    first, second = variables["PATH"].split(os.pathsep)
    assert Path(first).parent == tmp_path / ".venv"  # nbgrader runs `alembic` by its name
    assert second == "/usr/bin"
    assert "PYTHONHOME" not in variables


def test_jupyterlab_starts_on_the_folder_with_or_without_a_screen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(environment.platform, "system", lambda: "Linux")
    plain = environment.lab_command("py", "/c/notebooks", 8890, ["--x"], {"DISPLAY": ":0"}, False)
    assert plain[:3] == ["py", "-m", "jupyterlab"]
    assert {"--ServerApp.root_dir=/c/notebooks", "--ServerApp.port=8890"} <= set(plain)
    assert plain[-1] == "--x"
    assert not {"--no-browser", "--allow-root"} & set(plain)
    bare = environment.lab_command("py", "/c/notebooks", 8890, [], {}, True)
    assert {"--no-browser", "--allow-root"} <= set(bare)


def test_the_command_line_passes_arguments_on(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list = []

    def ensure(extras: list[str], torch: str | None) -> str:
        asked.append((extras, torch))
        return "py"

    monkeypatch.setattr(environment, "ensure", ensure)
    monkeypatch.setattr(environment, "start", lambda command, *rest: asked.append(command) or 7)
    monkeypatch.delenv("TORCH", raising=False)
    arguments = ["--extra", "test", "--run", "pytest", "--nbval", "-n", "2", "--lab", "tests"]
    assert environment.main(arguments) == 7
    assert asked == [(["test"], None), ["py", "-m", "pytest", *arguments[4:]]]


@pytest.mark.parametrize("arguments", [["--port", "http"], ["--port", "0"], ["--run"], ["tests"]])
def test_a_wrong_command_line_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        environment.main(arguments)
    assert stopped.value.code == 2
    assert "error: " in capsys.readouterr().err


# --- python -m helpers ------------------------------------------------------------------------


@pytest.fixture
def versions(monkeypatch: pytest.MonkeyPatch) -> dict[str, str | None]:
    """Pretended versions of packages; None for a missing one. The others are as they are."""
    pretended: dict[str, str | None] = {}
    true_version = metadata.version

    def version(name: str) -> str:
        found = pretended[name] if name in pretended else true_version(name)
        if found is None:
            raise metadata.PackageNotFoundError(name)
        return found

    monkeypatch.setattr(metadata, "version", version)
    return pretended


def test_the_report_of_a_complete_environment(
    repository: Path, versions: dict[str, str | None], capsys: pytest.CaptureFixture[str]
) -> None:
    assert report.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"Transformers course {__version__}, Python 3.")
    rows = {line.split()[0]: line.split()[1:] for line in lines}
    for text in read_project(repository)["dependencies"]:
        item = Requirement(text)
        if item.marker and not item.marker.evaluate():
            assert item.name not in rows
            continue
        assert rows[item.name] == [str(item.specifier), metadata.version(item.name)]
    assert rows["pytest"][2:] == ["for", "the", "tests"]
    assert any(line.startswith("Device ") for line in lines)
    assert lines[-1] == "Everything that the course needs is here."


@pytest.mark.parametrize(
    ("name", "found", "line"),
    [
        ("sympy", None, "sympy is missing, the course needs sympy>=1.13: run `make lab`, or "),
        ("torch", "2.5.1+cu121", "torch 2.5.1+cu121 does not fit, the course needs torch>=2.6: "),
        ("jupyterlab", "5.0.1", "jupyterlab 5.0.1 does not fit, the course needs jupyterlab<5,>=4"),
    ],
)
def test_what_is_missing_or_does_not_fit_is_named_with_its_remedy(
    name: str,
    found: str | None,
    line: str,
    versions: dict[str, str | None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    versions[name] = found
    assert report.main() == 1
    output = capsys.readouterr().out
    complaints = [text for text in output.splitlines() if "needs " in text]
    assert len(complaints) == 1
    assert complaints[0].startswith(line)
    assert f'pip install "{name}' in complaints[0]
    assert "Everything" not in output


def test_what_only_tests_need_is_no_fault(versions: dict[str, str | None], capsys: pytest.CaptureFixture[str]) -> None:
    versions.update({"nbval": None, "ruff": None, "mypy": "1.0"})
    assert report.main() == 0
    output = capsys.readouterr().out
    assert "Only the tests need nbval, ruff: `make test` installs them." in output
    assert "mypy 1.0 does not fit, only the tests need mypy>=1.13: run `make test`" in output


@pytest.mark.parametrize("installed", [True, False])
def test_the_wanted_packages_are_the_projects_either_way(
    installed: bool, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = read_project(repository)
    expected = [("", text) for text in project["dependencies"]]
    for extra, texts in project["optional-dependencies"].items():
        expected += [(extra, text) for text in texts]

    def requires(name: str) -> list[str]:
        if not installed:
            raise metadata.PackageNotFoundError(name)
        return [text if not extra else f'{text}; extra == "{extra}"' for extra, text in expected]

    monkeypatch.setattr(metadata, "requires", requires)
    assert list(report.wanted_packages()) == expected


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ModuleNotFoundError("no", name="torch"), "Device: unknown, because torch is not inst"),
        (OSError("libcudart.so.12: cannot open\nmore"), "does not load (OSError: libcudart.so.12"),
        (ImportError("undefined symbol"), "does not load (ImportError: undefined symbol)"),
    ],
)
def test_a_missing_or_broken_torch_does_not_stop_the_report(
    error: Exception,
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr(device, "choose_device", fail)
    assert report.main() == 1
    assert sentence in capsys.readouterr().out


def test_the_report_runs_as_a_module(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv(device.SETTING, "gpu")
    monkeypatch.delitem(sys.modules, "helpers.__main__")
    with pytest.raises(SystemExit) as stopped:
        runpy.run_module("helpers", run_name="__main__")
    assert stopped.value.code == 1
    assert "COURSE_DEVICE is 'gpu', expected cpu, cuda" in capsys.readouterr().out


# --- device -----------------------------------------------------------------------------------


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, bool], None]:
    """Pretend a number of NVIDIA GPUs and a Mac's GPU."""
    monkeypatch.delenv(device.SETTING, raising=False)

    def pretend(cuda: int, mps: bool) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: cuda)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)

    return pretend


@pytest.mark.parametrize(("cuda", "mps", "expected"), [(2, False, "cuda"), (0, True, "mps"), (0, False, "cpu")])
def test_the_best_device_is_chosen(cuda: int, mps: bool, expected: str, machine: Callable[[int, bool], None]) -> None:
    machine(cuda, mps)
    assert device.choose_device() == torch.device(expected)
    assert device.choose_device("cpu") == torch.device("cpu")


def test_the_setting_decides(machine: Callable[[int, bool], None], monkeypatch: pytest.MonkeyPatch) -> None:
    machine(2, False)
    monkeypatch.setenv(device.SETTING, " CUDA:1 ")
    assert device.choose_device() == torch.device("cuda", 1)
    monkeypatch.setenv(device.SETTING, "cpu")
    chosen = device.choose_device()
    assert chosen == torch.device("cpu")
    assert "because COURSE_DEVICE says so" in device.explain_device(chosen)


@pytest.mark.parametrize("wanted", ["gpu", "cuda:", "cuda:x", "cuda:-1", "0", "nvidia"])
def test_a_setting_that_means_nothing_is_refused(wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(device.SETTING, wanted)
    with pytest.raises(ValueError, match=f"COURSE_DEVICE is '{wanted}', expected cpu, cuda"):
        device.choose_device()


@pytest.mark.parametrize(
    ("wanted", "finds"),
    [("cuda:1", "1 cuda device on"), ("mps", "no mps devices on"), ("cpu:1", "1 cpu device on")],
)
def test_a_device_that_is_not_there_is_named(wanted: str, finds: str, machine: Callable[[int, bool], None]) -> None:
    machine(1, False)
    with pytest.raises(RuntimeError, match=f"COURSE_DEVICE is '{wanted}', but .*{finds}"):
        device.choose_device(wanted)


def test_one_seed_sets_all_generators() -> None:
    def draw() -> tuple[float, float, float]:
        return random.random(), float(np.random.rand()), float(torch.rand(()))

    device.set_seed(7)
    first = draw()
    second = draw()
    device.set_seed(7)
    assert draw() == first
    device.set_seed(8)
    third = draw()
    for others in (second, third):
        assert all(one != other for one, other in zip(first, others, strict=True))


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_that_does_not_fit_is_refused(seed: int) -> None:
    with pytest.raises(ValueError, match="expected a whole number from 0 to"):
        device.set_seed(seed)


def test_autocast_changes_nothing_on_the_processor() -> None:
    with device.autocast(torch.device("cpu")):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32


@pytest.mark.parametrize(("capability", "pays"), [((7, 5), False), ((8, 0), True), ((9, 0), True)])
def test_bfloat16_pays_from_ampere_on(capability: tuple[int, int], pays: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    assert device.bf16_pays(torch.device("cuda")) is pays


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
def test_an_nvidia_gpu_is_chosen_explained_and_seeded() -> None:
    chosen = device.choose_device("cuda")
    assert torch.cuda.get_device_name(chosen) in device.explain_device(chosen)
    device.set_seed(7)
    first = torch.rand(3, device=chosen)
    device.set_seed(7)
    assert torch.equal(torch.rand(3, device=chosen), first)
    with device.autocast(chosen):
        product = torch.ones(8, 8, device=chosen) @ torch.ones(8, 8, device=chosen)
    assert (product.dtype == torch.bfloat16) == device.bf16_pays(chosen)


def test_threads_follow_the_argument_then_the_setting_then_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = torch.get_num_threads()
    try:
        monkeypatch.setenv("OMP_NUM_THREADS", "1")
        assert device.set_threads() == torch.get_num_threads() == 1
        assert device.set_threads(2) == torch.get_num_threads() == 2
        monkeypatch.delenv("OMP_NUM_THREADS")
        assert device.set_threads() == device.available_cores() >= 1
        with pytest.raises(ValueError, match="expected at least 1"):
            device.set_threads(0)
    finally:
        torch.set_num_threads(before)
