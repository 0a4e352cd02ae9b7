"""What students get: complete without the repository, and without anything that is not for them."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path, PurePosixPath

import nbformat
import pytest

from deploy.environment import SHARED
from grading.authoring import build, release, source
from grading.authoring.errors import BuildError
from grading.definitions import catalogue
from grading.folder.course import ROOT
from grading.notebooks.cells import BEGIN_SOLUTION as BEGIN
from grading.notebooks.cells import END_SOLUTION as END
from helpers.weights import TINY
from helpers.weights.fetching import REAL

STEMS = [path.stem for path in build.sources()]
PARTS = {"", ".gguf", ".json", ".pt", ".py", ".safetensors", ".tsv", ".txt", ".typed"}

BINARY = (".whl", ".safetensors", ".gguf", ".pt")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel, and the zip for students."""
    wheel, packed = release.release(tmp_path_factory.mktemp("dist"))
    return wheel, packed


@pytest.fixture(scope="module")
def installed(made: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the wheel installs, far from the repository."""
    folder = tmp_path_factory.mktemp("installed")
    zipfile.ZipFile(made[0]).extractall(folder)
    return folder


def files(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Yields name and content of every file in an archive, and of those in the wheels that it holds."""
    with zipfile.ZipFile(archive) as opened:
        for name in opened.namelist():
            content = opened.read(name)
            yield name, content
            if name.endswith(".whl"):
                with zipfile.ZipFile(BytesIO(content)) as inner:
                    yield from ((f"{name}/{one}", inner.read(one)) for one in inner.namelist())


def test_the_wheel_is_helpers_with_corpora_and_tutor(made: tuple[Path, Path]) -> None:
    names = [PurePosixPath(name) for name, _ in files(made[0])]
    assert {name.parts[0].partition("-")[0] for name in names} == {"helpers", "tutor", "transformers_course"}
    assert {name.suffix for name in names if name.parts[0] in ("helpers", "tutor")} <= PARTS
    brought = [*release.corpora(), *release.tiny_models()]
    assert {name.name for name in names} >= {path.name for path in brought}
    modules = {path.relative_to(ROOT) for folder in ("helpers", "tutor") for path in (ROOT / folder).rglob("*.py")}
    assert {Path(name) for name in names} >= modules  # those whose names begin with a digit, too
    assert [name.parts[1:] for name in names if ".data" in name.parts[0]] == [
        ("data", "etc", "ipython", "ipython_kernel_config.json"),  # where every kernel of the environment reads it
        ("data", "etc", "jupyter", "nbgrader_config.py"),  # and nbgrader, in whatever folder
    ]
    shared = {f"{folder}/{file.name}": file for file, folder in SHARED.items()}
    for name, content in files(made[0]):
        if name.endswith(".py"):
            assert content == shared.get(name.partition(".data/data/")[2], ROOT / name).read_bytes()


def test_the_zip_is_the_notebooks_and_the_wheel(made: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(made[1]) as opened:
        names = [name.partition("/")[2] for name in opened.namelist()]
    around = ["README.md", "requirements.txt", "LICENSE", made[0].name]
    beside = [f"notebooks/{build.FIRST}/{file}" for file in ("before.html", "path.svg", "recap.html")]
    assert [name for name in names if name not in beside] == [*around, *(f"notebooks/{s}/{s}.ipynb" for s in STEMS)]
    assert set(beside) <= set(names)


@pytest.mark.all
def test_the_readme_of_the_zip_can_be_followed(made: tuple[Path, Path], installed: Path, tmp_path: Path) -> None:
    """Its commands, but for pip's and JupyterLab's: with the wheel alone, and again with a newer release."""
    with zipfile.ZipFile(made[1]) as opened:
        opened.extractall(tmp_path)
    [folder] = tmp_path.iterdir()
    commands = re.findall(r"^(?:    |`).venv/bin/(\S+) ([^`\n]+)", (folder / "README.md").read_text("utf-8"), re.M)
    assert [words for program, words in commands if program == "python"] == [
        "-m tutor work",
        "-m tutor progress",
        "-m tutor",
    ]
    assert ("jupyter", "lab work") in commands
    assert ("pip", "install -r requirements.txt") in commands  # not the wheel: on Linux it would bring gigabytes
    required = (folder / "requirements.txt").read_text("utf-8").splitlines()
    assert required == ["--extra-index-url https://download.pytorch.org/whl/cpu", f"./{made[0].name}[lab]"]
    outputs = [alone(installed, folder, RUN, words) for _, words in commands if words.startswith("-m tutor ")]
    assert outputs[0].startswith(f"{len(STEMS)} of {len(STEMS)} notebooks in {folder / 'work'} are copies of what ")
    assert outputs[1].startswith(f"What the checks say in the saved notebooks of {folder / 'work'}:")
    newer = tmp_path / "newer"
    shutil.copytree(folder / "notebooks", newer / "notebooks")
    released = newer / "notebooks" / STEMS[0] / f"{STEMS[0]}.ipynb"
    notebook = nbformat.read(released, as_version=4)
    notebook.cells[0].source += " A newer sentence."
    nbformat.write(notebook, released)
    (folder / "work").rename(newer / "work")
    assert f"{STEMS[0]}: there is a newer release: 1 text or check is renewed." in alone(
        installed, newer, RUN, commands[1][1]
    )
    assert "A newer sentence." in (newer / "work" / STEMS[0] / f"{STEMS[0]}.ipynb").read_text("utf-8")


RUN = """
import runpy, sys
sys.argv = ["tutor", *sys.argv[1].split()[2:]]
runpy.run_module("tutor", run_name="__main__")
"""


def test_no_solution_no_reference_and_no_hidden_question_is_in_them(made: tuple[Path, Path]) -> None:
    words = [
        "BEGIN SOLUTION",
        "BEGIN HIDDEN",
        "from grading",
        "import grading",
        "grading.definitions.examiner",
        "Rubric",
        "# %% right: ",
        "# %% wrong: ",
    ]
    texts = {name: content.decode("utf-8") for name, content in files(made[1]) if not name.endswith(BINARY)}
    assert any(name.endswith(".whl/tutor/checks.py") for name in texts)
    assert not [name for name in texts if ".answers" in name]
    for name, text in texts.items():
        assert not [word for word in words if word in text], name
    for stem in STEMS:
        # Modules of helpers are there to be read, and a notebook may give the answer to an earlier one.
        [notebook] = [text.replace('\\"', '"') for name, text in texts.items() if name.endswith(f"/{stem}.ipynb")]
        for cell in source.read(ROOT / "solutions" / f"{stem}.py"):
            for region in re.findall(rf"{BEGIN}\n(.*?)\n[ \t]*{END}", cell.source, re.DOTALL):
                lines = [line.strip() for line in region.splitlines() if len(line.strip()) > 40]
                assert not [line for line in lines if line in notebook], (stem, cell.name)
        for name in catalogue.names(stem):
            defined = (ROOT / "grading" / "exercises" / stem / f"{name}.py").read_text("utf-8")
            drawn = [line.strip() for line in defined.splitlines() if "rng." in line and len(line.strip()) > 40]
            assert not [line for line in drawn if any(line in text for text in texts.values())], (stem, name)


def test_no_model_that_was_fetched_is_in_them(made: tuple[Path, Path]) -> None:
    held = {name: content for name, content in files(made[1]) if name.endswith((".safetensors", ".gguf"))}
    assert {PurePosixPath(name).parent.name for name in held} == set(TINY)
    assert sum(map(len, held.values())) < 2_000_000
    fetched = {part.sha256 for real in REAL.values() for part in real.parts} | {real.sha256 for real in REAL.values()}
    assert not fetched & {hashlib.sha256(content).hexdigest() for _, content in files(made[1])}


@pytest.mark.all
def test_the_same_release_has_the_same_bytes(made: tuple[Path, Path], tmp_path: Path) -> None:
    assert [path.read_bytes() for path in release.release(tmp_path)] == [path.read_bytes() for path in made]


LOAD = """
import sys, helpers
from helpers.corpora import load
assert helpers.__file__.startswith(sys.argv[1]), helpers.__file__
for name in sys.argv[2:]:
    corpus = load(name)
    print(name, sum(len(part) for part in corpus.parts.values()))
"""


@pytest.mark.all
def test_the_wheel_alone_loads_every_corpus_of_every_notebook(installed: Path, tmp_path: Path) -> None:
    texts = [(ROOT / "solutions" / f"{stem}.py").read_text("utf-8") for stem in STEMS]
    embedded = {path.parent.name for path in release.corpora()} - {"data"}
    named = {name for text in texts for name in re.findall(r'"(\w+)"', text) if name in embedded}
    assert named == embedded
    done = alone(installed, tmp_path, LOAD, str(installed), *sorted(named))
    assert {line.split()[0] for line in done.splitlines() if line.split()[0] in named} == named


LOAD_WEIGHTS = """
import sys
from helpers.weights import TINY, find, load
for name in TINY:
    assert str(find(name)).startswith(sys.argv[1]), find(name)
    print(name, sum(weight.numel() for weight in load(name).parameters()))
"""


@pytest.mark.all
def test_the_wheel_alone_loads_every_tiny_model(installed: Path, tmp_path: Path) -> None:
    lines = alone(installed, tmp_path, LOAD_WEIGHTS, str(installed)).splitlines()
    assert [line.split()[0] for line in lines] == ["tiny_bert", "tiny_gpt2", "tiny_llama", "tiny_llama_gguf"]


SET_UP = """
import sys, helpers
from pathlib import Path
assert helpers.__file__.startswith(sys.argv[1]), helpers.__file__
for cells in Path(sys.argv[2]).read_text("utf-8").split("\\f"):
    variables = {}
    exec(cells, variables)
    assert variables["check"]
print("done")
"""


@pytest.mark.all
def test_the_wheel_alone_has_what_every_set_up_cell_imports(
    installed: Path, made: tuple[Path, Path], tmp_path: Path
) -> None:
    programs = []
    with zipfile.ZipFile(made[1]) as opened:
        for name in opened.namelist():
            if name.endswith(".ipynb"):
                cells = nbformat.reads(opened.read(name).decode(), as_version=4).cells
                locked = [cell for cell in cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "setup"]
                programs.append("\n".join(cell.source for cell in locked))
    assert len(programs) == len(STEMS)
    (tmp_path / "cells").write_text("\f".join(programs), "utf-8")
    assert alone(installed, tmp_path, SET_UP, str(installed), "cells").endswith("done\n")


def alone(installed: Path, folder: Path, program: str, *arguments: str) -> str:
    """Returns what a program prints in an empty folder, with the installed helpers and nothing of the repository."""
    variables = {"PYTHONPATH": str(installed), "PATH": "/usr/bin:/bin", "HOME": str(folder), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


# --- the address ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["https://files.example.org/course.whl", ""])
def test_the_address_is_set_in_one_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, address: str) -> None:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    (tmp_path / "pyproject.toml").write_text(re.sub(r'^install = ".*"', f'install = "{address}"', text, flags=re.M))
    monkeypatch.setattr(build, "ROOT", tmp_path)
    assert build.course_setting("install") == address
    path = ROOT / "solutions" / "01_causal_mask.py"
    notebook = build.solution_notebook(path, source.read(path), address)
    assert notebook.cells[0].cell_type == "markdown"  # the first thing a student reads is the title
    [setup] = [cell.source for cell in notebook.cells if cell.id == "setup"]
    assert "noqa" not in setup
    assert ("pip" in setup and address in setup) if address else ("https:" not in setup and "make lab" in setup)


def test_notebooks_without_the_address_are_not_released(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    settings = {"install": "https://files.example.org/course.whl", "repository": ""}
    monkeypatch.setattr(release, "course_setting", settings.__getitem__)
    with pytest.raises(BuildError, match=r"00_start_here\.ipynb does not begin .*; run `make build` first"):
        release.release(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_without_the_course_and_without_an_address_the_cell_says_what_to_do(tmp_path: Path) -> None:
    program = "import importlib.util\nimportlib.util.find_spec = lambda name: None\n" + build.set_up("")
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert "ModuleNotFoundError: The course is not installed here: open this notebook with `make lab`" in done.stderr


def test_no_address_is_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    monkeypatch.setattr(build, "ROOT", tmp_path)
    with pytest.raises(BuildError, match=r'no `install = "..."` in \[tool.course\]'):
        build.course_setting("install")


@pytest.mark.parametrize("repository", ["https://github.com/school/course", "https://github.com/school/course.git/"])
def test_a_repository_gives_links_to_every_notebook(repository: str) -> None:
    page = release.online(STEMS, repository)
    for stem in STEMS:
        address = f"https://colab.research.google.com/github/school/course/blob/main/notebooks/{stem}/{stem}.ipynb"
        assert page.count(address) == 1
    assert page.count("https://mybinder.org/v2/gh/school/course/main?urlpath=lab/tree/notebooks") == 1


def test_without_a_repository_nothing_is_linked(made: tuple[Path, Path]) -> None:
    [readme] = [content.decode() for name, content in files(made[1]) if name.endswith("/README.md")]
    assert "http" not in readme


@pytest.mark.parametrize(
    "repository", ["school/course", "https://gitlab.com/school/course", "https://github.com/school"]
)
def test_a_repository_that_is_none_is_refused(repository: str) -> None:
    with pytest.raises(BuildError, match=r"expected \"https://github.com/OWNER/NAME\""):
        release.online(STEMS, repository)
