"""Which part of `grading` may import which, read from the source; and that a cheap command stays cheap."""

from __future__ import annotations

import ast
import graphlib
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from grading.folder.course import ROOT

# A module belongs to the room of the longest of these names that its own begins with; all others are "base".
ROOMS = {
    "grading.folder": "folder",
    "grading.notebooks": "notebooks",
    "grading.definitions": "definitions",
    "grading.exercises": "exercises",
    "grading.sandbox": "sandbox",
    "grading.authoring": "authoring",
    "grading.autograder": "autograder",
    "grading.classroom": "classroom",
    "grading.pages": "pages",
    "grading.pages.leaflet": "markup",
    "grading.pages.markup": "markup",
    "grading.pages.mathml": "markup",
    "grading.pages.rendering": "markup",
    "helpers": "helpers",
    "tutor": "tutor",
    "tutor.files": "files",
    "tutor.checking": "checking",
}
# What a room may import besides itself and the libraries. Nobody imports a room from below.
BELOW = {
    "base": {"folder"},  # the command line
    "files": set(),  # below all of ours: students' work and the class's files are written in the same way
    "helpers": set(),
    "checking": {"helpers"},
    "tutor": {"helpers", "checking", "files"},
    "folder": set(),
    "notebooks": {"folder", "files"},
    "definitions": {"folder", "checking"},
    "exercises": {"definitions", "helpers", "checking"},
    "sandbox": {"folder", "helpers", "tutor", "checking"},  # the fork server imports early what notebooks need
    "markup": {"notebooks"},  # how a page is written, whoever makes one
    "authoring": {"folder", "files", "notebooks", "definitions", "markup", "helpers", "tutor", "checking"},
    "autograder": {"folder", "files", "notebooks", "definitions", "sandbox", "authoring", "helpers", "checking"},
    "classroom": {"folder", "files", "notebooks", "autograder", "authoring"},
    "pages": {"folder", "files", "notebooks", "definitions", "autograder", "classroom", "markup"},
}
HEAVY = ["matplotlib", "nbgrader", "numpy", "pandas", "torch"]


def _modules() -> dict[str, Path]:
    found = {}
    for top in ("grading", "helpers", "tutor"):
        for path in sorted((ROOT / top).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = _modules()


def _room(module: str) -> str:
    fitting = [name for name in ROOMS if module == name or module.startswith(f"{name}.")]
    return ROOMS[max(fitting, key=len)] if fitting else "base"


def _imported(module: str, nodes: Iterable[ast.AST]) -> set[str]:
    """Returns what import statements of a module import: modules of ours by full names, of others by their first."""
    found, package = set(), module if MODULES[module].stem == "__init__" else module.rpartition(".")[0]
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            outer = package.rsplit(".", node.level - 1)[0] if node.level else ""
            source = ".".join(filter(None, [outer, node.module]))
            whole = {f"{source}.{name.name}" for name in node.names}
            found |= {name if name in MODULES else source for name in whole}
    return {name if name in MODULES else name.partition(".")[0] for name in found} - {module}


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    """What each module of ours imports anywhere, inside its functions too."""
    return {module: _imported(module, ast.walk(ast.parse(path.read_text("utf-8")))) for module, path in MODULES.items()}


def test_imports_point_down(imports: dict[str, set[str]]) -> None:
    wrong = [
        f"{module} ({_room(module)}) imports {name} ({_room(name)})"
        for module, names in imports.items()
        for name in sorted(names & set(MODULES))
        if _room(name) not in {_room(module), *BELOW[_room(module)]}
    ]
    assert not wrong, "\n".join(wrong)


def test_no_two_modules_import_each_other(imports: dict[str, set[str]]) -> None:
    order = graphlib.TopologicalSorter({module: names & set(MODULES) for module, names in imports.items()})
    order.prepare()  # raises CycleError, which names a circle


def test_the_ground_needs_the_standard_library_only() -> None:
    for module, path in MODULES.items():
        if _room(module) in ("base", "files", "folder", "notebooks"):
            top = _imported(module, ast.parse(path.read_text(encoding="utf-8")).body)
            assert top - set(MODULES) <= sys.stdlib_module_names, module


# --- what a command costs ---------------------------------------------------------------------------------------------

COMMANDS = [
    "grading.autograder.autograde",
    "grading.autograder.regrade",
    "grading.classroom.collect",
    "grading.classroom.doctor",
    "grading.classroom.export",
    "grading.classroom.hand_back",
    "grading.classroom.roster",
    "grading.pages.essays",
    "grading.pages.feedback",
    "grading.pages.report",
    "grading.pages.similar",
    "grading.pages.solutions",
]
# What `nbgrader_config.py` names: every command of nbgrader's imports it, and the Jupyter server does.
OF_NBGRADER = [
    "grading.autograder.preprocessors",
    "grading.classroom.exchange",
    "grading.pages.exporter",
    "tutor.validating",
]


def _python(program: str, *arguments: str) -> list[str]:
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr[-2000:]
    result: list[str] = json.loads(done.stdout.splitlines()[-1])
    return result


def test_a_command_without_answers_to_run_imports_no_pytorch() -> None:
    """One process imports them all: what they share is imported once."""
    program = (
        "import importlib, json, sys\n"
        "def brings_torch(name):\n"
        "    importlib.import_module(name)\n"
        "    return 'torch' in sys.modules\n"
        "print(json.dumps([*filter(brings_torch, sys.argv[1:])][:1]))"
    )
    assert _python(program, *COMMANDS, *OF_NBGRADER) == []


def test_commands_can_be_imported_on_windows() -> None:
    """What locks students' code in needs Unix; it is imported when grading starts."""
    program = (
        "import importlib, json, sys\n"
        "for name in ('fcntl', 'pwd', 'resource'): sys.modules[name] = None\n"
        "for name in sys.argv[1:]: importlib.import_module(name)\n"
        "print('[]')"
    )
    _python(program, *COMMANDS)


MISTYPED = [
    "nonsense",
    "collect",
    "autograde --quickly",
    "autograde 99_none",
    "regrade 99_none",
    "report 99_none",
    "essays 99_none",
    "similar 99_none",
    "feedback 99_none",
    "hand-back 99_none --format moodle",
    "collect . 99_none",
    "export 99_none",
    "doctor none.ipynb 99_none",
]


@pytest.mark.parametrize("words", MISTYPED)
def test_what_is_mistyped_is_answered_before_anything_is_imported(tmp_path: Path, words: str) -> None:
    for name in ("01_causal_mask", "02_positional_encoding"):
        folder = tmp_path / "solutions" / name
        folder.mkdir(parents=True)
        (folder / f"{name}.ipynb").write_text('{"cells": []}')
    (tmp_path / "gradebook").mkdir()
    arguments = words.split()
    if arguments[0] not in ("nonsense", "doctor"):
        arguments += ["--course", str(tmp_path)]
    program = (
        "import json, sys\nfrom grading.__main__ import main\n"
        "try:\n    status = main(sys.argv[1:])\nexcept SystemExit as ended:\n    status = ended.code\n"
        f"assert status == 2, status\nprint(json.dumps([name for name in {HEAVY} if name in sys.modules]))"
    )
    assert _python(program, *arguments) == []
