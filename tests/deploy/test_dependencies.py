"""One list of dependencies: what pyproject.toml wants, conda gets, and constraints.txt pins."""

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from grading.autograder import nbgrader_commands

# conda's names, where they are not PyPI's.
CONDA_NAMES = {"torch": "pytorch", "matplotlib": "matplotlib-base"}
# PyTorch's build for NVIDIA GPUs brings these; which ones follows from its version.
FOR_GPUS = re.compile("cuda-|nvidia-|triton")


@pytest.fixture(scope="module")
def wanted(project: dict[str, Any]) -> list[Requirement]:
    """Everything that the course wants, with all extras."""
    extras = project["optional-dependencies"].values()
    return [Requirement(line) for lines in [project["dependencies"], *extras] for line in lines]


@pytest.fixture(scope="module")
def pins(repository: Path) -> list[Requirement]:
    """The lines of constraints.txt."""
    return [Requirement(line) for line in (repository / "constraints.txt").read_text("utf-8").splitlines()]


def conda_ranges(text: str) -> dict[str, SpecifierSet]:
    """The names and ranges under `dependencies:`, without pip and its part."""
    entries = text.partition("\ndependencies:\n")[2].partition("  - pip:")[0]
    names = [line.strip()[2:] for line in entries.splitlines() if line.startswith("  - ")]
    parsed = [Requirement(name) for name in names]
    assert len({item.name for item in parsed}) == len(parsed)
    return {item.name: item.specifier for item in parsed if item.name != "pip"}


def test_conda_wants_what_pip_wants(repository: Path, project: dict[str, Any]) -> None:
    ranges = {"python": SpecifierSet(project["requires-python"])}
    for line in project["dependencies"]:
        item = Requirement(line)
        if item.marker is None:  # what only some systems need comes through pip, with the course
            ranges[CONDA_NAMES.get(item.name, item.name)] = item.specifier
    text = (repository / "environment.yml").read_text("utf-8")
    assert conda_ranges(text) == ranges
    # The course itself comes through pip, which repo2docker and conda find by this line.
    assert "  - pip:\n" in text
    assert "\n      - -e .\n" in text


def test_every_pin_is_a_name_and_one_version(repository: Path, pins: list[Requirement]) -> None:
    assert not re.search(r"://|@|^\s*-|#", (repository / "constraints.txt").read_text("utf-8"), re.M)  # no addresses
    for pin in pins:
        assert [specifier.operator for specifier in pin.specifier] == ["=="], pin
        assert not pin.extras, pin
        assert not FOR_GPUS.match(pin.name), pin
    assert pins


def version_of(pin: Requirement) -> str:
    return next(iter(pin.specifier)).version


@pytest.mark.parametrize("minor", range(10, 15))
@pytest.mark.parametrize(
    "system", [("linux", "Linux", "posix"), ("darwin", "Darwin", "posix"), ("win32", "Windows", "nt")]
)
def test_every_python_has_one_version_in_range_of_what_is_wanted(
    minor: int, system: tuple[str, str, str], pins: list[Requirement], wanted: list[Requirement]
) -> None:
    machine = dict(zip(("sys_platform", "platform_system", "os_name"), system, strict=True))
    machine |= {"python_version": f"3.{minor}", "python_full_version": f"3.{minor}.9"}
    for item in wanted:
        if item.marker and not item.marker.evaluate(machine):
            continue  # another system needs it
        same = [pin for pin in pins if pin.name == canonicalize_name(item.name)]
        found = [version_of(pin) for pin in same if not pin.marker or pin.marker.evaluate(machine)]
        assert len(found) == 1, f"{item.name} {found}: make constraints"
        assert item.specifier.contains(found[0]), f"{item} is pinned at {found[0]}: make constraints"


def test_the_set_up_finds_torch_and_its_range(pins: list[Requirement], project: dict[str, Any]) -> None:
    [pin] = [pin for pin in pins if pin.name == "torch"]
    assert re.fullmatch(r"torch==[\d.]+", str(pin))  # one for every Python and system
    [torch] = [line for line in project["dependencies"] if Requirement(line).name == "torch"]
    assert re.fullmatch(r"torch>=[\d.]+", torch)


def dependencies(item: Requirement, seen: set[tuple[str, str]]) -> Iterator[str]:
    """The names of a package and of all that it brings, as installed here."""
    try:
        distribution = metadata.distribution(item.name)
    except metadata.PackageNotFoundError:
        return  # an extra that is not installed
    yield canonicalize_name(item.name)
    for extra in ["", *item.extras]:
        if (item.name, extra) in seen:
            continue
        seen.add((item.name, extra))
        for line in distribution.requires or []:
            further = Requirement(line)
            if not further.marker or further.marker.evaluate({"extra": extra}):
                yield from dependencies(further, seen)


def test_everything_that_is_installed_for_the_course_is_pinned(
    pins: list[Requirement], wanted: list[Requirement]
) -> None:
    seen: set[tuple[str, str]] = set()
    installed = {name for item in wanted for name in dependencies(item, seen) if not FOR_GPUS.match(name)}
    assert len(installed) > 100
    pinned = {pin.name for pin in pins if not pin.marker or pin.marker.evaluate()}
    assert installed <= pinned, f"not in constraints.txt: {sorted(installed - pinned)}: make constraints"


def test_the_oldest_python_is_stated_once_in_each_place(repository: Path, project: dict[str, Any]) -> None:
    oldest = project["requires-python"].removeprefix(">=")
    for stub in ("deploy/__main__.py", "tutor/__main__.py"):  # they say so to a Python that can import nothing of ours
        assert f"OLDEST = ({oldest.replace('.', ', ')})\n" in (repository / stub).read_text("utf-8"), stub
    pyproject = (repository / "pyproject.toml").read_text("utf-8")
    assert f'\ntarget-version = "py{oldest.replace(".", "")}"\n' in pyproject
    assert f'\npython_version = "{oldest}"\n' in pyproject
    assert f"--python-version {oldest} " in (repository / "Makefile").read_text("utf-8")
    assert sys.version_info[:2] >= tuple(map(int, oldest.split(".")))


def test_reading_notebooks_compiles_no_grammar_of_addresses() -> None:
    """jsonschema 4.25 and later do so whenever something imports nbformat: nine tenths of its time."""
    program = "import sys, grading, nbformat; print(sys.modules.get('rfc3987_syntax'))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "None"
    assert nbgrader_commands.START.startswith("import grading, ")
