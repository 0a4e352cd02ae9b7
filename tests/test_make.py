"""The Makefile and the script of the continuous integration: each target is listed and does what it says."""

import ast
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from grading.autograder import reporting
from tutor.pyproject import read_pyproject

OPTIONS = "--rest --share 9 --minutes 12"  # of what CI runs of `make test-all`
TEST, REST, QUICK = "make test", f'make test-all PYTEST_ARGS="{OPTIONS}"', "make test-quick"


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


def run_by_ci(repository: Path, folder: Path, *arguments: str) -> list[str]:
    """Returns what the script runs on a machine that has all it needs, where programs only note how they are called."""
    calls = folder / "calls"
    for name in ("make", "apt-get", "configurable-http-proxy", "sudo"):
        program = folder / name
        program.write_text(f"#!/bin/sh\n(printf {name}; printf ' %s' \"$@\"; echo) >> {calls}\n")
        program.chmod(0o755)
    environ = os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "CHROMIUM": "/bin/sh"}
    subprocess.run(["bash", repository / ".ci" / "run", *arguments], env=environ, cwd=folder, check=True)
    return [line for line in calls.read_text("utf-8").splitlines() if line.startswith("make ")]


def test_ci_runs_make_test_the_rest_and_then_the_browser(repository: Path, tmp_path: Path) -> None:
    script = repository / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "set -euo pipefail" in script.read_text("utf-8")
    called = [" ".join(shlex.split(command)) for command in (TEST, REST, "make test-browser")]
    assert run_by_ci(repository, tmp_path) == called  # the last lines are pytest's


def test_several_machines_can_share_what_ci_runs(repository: Path, tmp_path: Path) -> None:
    assert run_by_ci(repository, tmp_path, "--shard", "2/6") == ["make test-all PYTEST_ARGS=--shard 2/6"]
    (tmp_path / "calls").unlink()
    assert run_by_ci(repository, tmp_path, "--browser") == ["make test-browser"]
    for wrong in (["--shard"], ["--other"]):
        with pytest.raises(subprocess.CalledProcessError):
            run_by_ci(repository, tmp_path, *wrong)


WORKFLOWS = ("test", "night", "release")


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_calls_what_there_is(name: str, repository: Path) -> None:
    text = (repository / ".github" / "workflows" / f"{name}.yml").read_text("utf-8")
    workflow = yaml.safe_load(text)
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert all(job["timeout-minutes"] <= 90 for job in workflow["jobs"].values())
    targets = re.search(r"^\.PHONY: (.*)$", (repository / "Makefile").read_text("utf-8"), re.M)
    assert targets
    for command in (step["run"] for step in steps if "run" in step):
        program, *words = command.split()
        if program == "make":
            assert words[0] in targets[1].split()
        elif program == "python":
            assert words[:4] == ["-m", "deploy", "--extra", "test"]
            assert all((repository / word).is_dir() for word in words if word.startswith("tests/"))
        else:
            assert program in ("sudo", "gh", ".ci/run")


def test_the_workflows_ask_every_python_and_every_part(repository: Path) -> None:
    folder = repository / ".github" / "workflows"
    jobs = {name: yaml.safe_load((folder / f"{name}.yml").read_text("utf-8"))["jobs"] for name in WORKFLOWS}
    pythons = jobs["test"]["linux"]["strategy"]["matrix"]["python"]
    assert pythons[0] == read_pyproject(repository)["project"]["requires-python"].removeprefix(">=")
    assert pythons == [f"3.{minor}" for minor in range(int(pythons[0][2:]), int(pythons[-1][2:]) + 1)]
    parts = jobs["night"]["all"]["strategy"]["matrix"]["part"]
    (command,) = [step["run"] for step in jobs["night"]["all"]["steps"] if ".ci/run" in step.get("run", "")]
    assert parts == [*range(1, len(parts) + 1)]
    assert command.endswith(f"/{len(parts)}")


def test_ruff_has_one_version(repository: Path) -> None:
    (hooks,) = yaml.safe_load((repository / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    pins = (repository / "constraints.txt").read_text("utf-8").splitlines()
    assert f"ruff=={hooks['rev'].removeprefix('v')}" in pins


def test_make_lists_every_target(repository: Path) -> None:
    text = (repository / "Makefile").read_text("utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", text, re.M)
    assert phony
    output = make(repository).stdout
    listed = [line.split()[1] for line in output.splitlines()]
    assert listed == phony.group(1).split()
    assert all(len(line.split()) > 3 for line in output.splitlines())


def planned(repository: Path, command: str) -> list[str]:
    """Returns the arguments of the one pytest run that a command starts."""
    words = make(repository, "-n", *shlex.split(command)[1:]).stdout.replace("\\\n", " ").split()
    assert words.count("pytest") == 1
    return words[words.index("pytest") + 1 :]


def test_a_tier_is_one_pytest_run(repository: Path) -> None:
    test, everything, rest, quick = (planned(repository, one) for one in (TEST, "make test-all", REST, QUICK))
    # The longest groups come first, as `conftest.py` has put them; it also says what runs in one process.
    assert all("--no-loadscope-reorder" in one for one in (test, everything, rest, quick))
    assert "--nbval" in test
    assert "--nbval-sanitize-with=tests/nbval.cfg" in test
    assert test[-2:] == ["tests", ".cache/replay"]
    assert everything == [*test[: test.index("--nbval")], "--all", *test[test.index("--nbval") : -1], "solutions"]
    assert rest == [*everything[:-2], *OPTIONS.split(), *everything[-2:]]
    assert "--quick" in quick
    assert "--nbval" not in quick


@pytest.mark.parametrize(("status", "ended"), [(0, 0), (reporting.SOME_WITHOUT_MARK, 0), (1, 2), (2, 2), (130, 2)])
def test_make_grade_fails_only_when_grading_did(repository: Path, tmp_path: Path, status: int, ended: int) -> None:
    """One broken file has no mark; it is no `make: *** Error 1`, as if the class had none."""
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\nexit {status}\n")
    python.chmod(0o755)
    done = make(repository, "grade", f"PYTHON={python}")
    assert done.returncode == ended
    sentence = "Some submissions have no mark (the lines above say which, and why); all others have theirs.\n"
    assert (sentence == done.stderr) == (status == reporting.SOME_WITHOUT_MARK)
    assert ("***" in done.stderr) == (ended > 0)


def test_formgrader_opens_another_course(repository: Path) -> None:
    assert '--formgrader --course "demo" --' in make(repository, "-n", "formgrader", "COURSE=demo").stdout
    assert "--course" not in make(repository, "-n", "formgrader").stdout


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


def test_mypy_looks_at_every_script_of_data(repository: Path) -> None:
    """They are no package: pyproject.toml names some of them, which import the others."""
    scripts = {path.stem: ast.parse(path.read_text("utf-8")) for path in (repository / "data").glob("*.py")}
    seen, found = set[str](), set(read_pyproject(repository)["tool"]["mypy"]["modules"])
    while new := found - seen:
        seen |= new
        for node in (node for name in new for node in ast.walk(scripts[name])):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names} & scripts.keys()
            elif isinstance(node, ast.ImportFrom):
                found |= {node.module or ""} & scripts.keys()
    assert found == scripts.keys()
