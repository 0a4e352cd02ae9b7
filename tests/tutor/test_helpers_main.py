"""`python -m tutor`: what is installed, what is missing or does not fit, and what to do about it."""

import re
import runpy
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

import tutor.__main__ as report
from helpers import __version__, device

Project = dict[str, Any]


def test_every_extra_has_a_command_that_installs_it(repository: Path, project: Project) -> None:
    assert set(report.PURPOSES) == {"", *project["optional-dependencies"]}
    makefile = (repository / "Makefile").read_text("utf-8")
    for extra, (_, command) in report.PURPOSES.items():
        made = re.search(rf"^{command.removeprefix('make ')}: ##", makefile, re.M)
        assert made or command == f"pip install -e '.[{extra}]'", command


@pytest.fixture
def versions(monkeypatch: pytest.MonkeyPatch) -> dict[str, str | None]:
    """Pretended versions of packages; None for a missing one. The others are as they are."""
    pretended: dict[str, str | None] = {}
    true_version = metadata.version

    def version(name: str) -> str:
        result = pretended[name] if name in pretended else true_version(name)
        if result is None:
            raise metadata.PackageNotFoundError(name)
        return result

    monkeypatch.setattr(metadata, "version", version)
    return pretended


def test_the_report_of_a_complete_environment(
    project: Project, versions: dict[str, str | None], capsys: pytest.CaptureFixture[str]
) -> None:
    assert report.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"Transformers course {__version__}, Python 3.")
    rows = {line.split()[0]: line.split()[1:] for line in lines}
    for text in project["dependencies"]:
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
    installed: bool, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
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
        (ImportError("undefined symbol"), "does not load (ImportError: undefined symbol): install it again, with `pip"),
        (
            OSError("[WinError 126] The specified module could not be found"),
            "be found): install Microsoft's Visual C++",
        ),
        (
            ImportError("DLL load failed while importing _C"),
            "_C): install Microsoft's Visual C++ Redistributable (x64)",
        ),
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
    monkeypatch.delitem(sys.modules, "tutor.__main__")
    monkeypatch.setattr(sys, "argv", ["tutor"])
    with pytest.raises(SystemExit) as stopped:
        runpy.run_module("tutor", run_name="__main__")
    assert stopped.value.code == 1
    assert "COURSE_DEVICE is 'gpu', expected cpu, cuda" in capsys.readouterr().out


def test_a_python_that_is_too_old_is_named(monkeypatch: pytest.MonkeyPatch, project: Project) -> None:
    monkeypatch.delitem(sys.modules, "tutor.__main__")
    monkeypatch.setattr(sys, "version_info", (3, 9, 1))
    with pytest.raises(SystemExit, match=r"^The course needs Python 3\.10 or newer, and .*: install a newer Python"):
        runpy.run_module("tutor", run_name="__main__")
    assert project["requires-python"] == ">=" + ".".join(map(str, report.OLDEST))


def test_without_packaging_and_pip_the_report_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("packaging.requirements", "pip._vendor.packaging.requirements"):
        monkeypatch.setitem(sys.modules, name, None)  # what a missing module looks like
    with pytest.raises(SystemExit, match="cannot be compared: run `make lab`"):
        report.main()


def test_what_another_system_needs_is_not_missing_here(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(metadata, "requires", lambda name: ['absent>=1; sys_platform == "plan9"'])
    assert [item.name for item in report.inspect()] == []
    monkeypatch.setattr(metadata, "requires", lambda name: [f'absent>=1; sys_platform == "{sys.platform}"'])
    assert [item.name for item in report.inspect()] == ["absent"]
    assert report.main() == 1
    assert "absent is missing, the course needs absent>=1: run `make lab`, " in capsys.readouterr().out
