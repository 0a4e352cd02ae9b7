"""`make release` writes what students get: a wheel of `helpers` (with its corpora and tiny models) and `tutor`, a zip
with it and the notebooks.

Neither holds anything of `grading/` or `solutions/`.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from grading.authoring import plans
from grading.authoring.build import course_setting, set_up
from grading.authoring.errors import BuildError
from grading.folder.course import ROOT, Course
from helpers import __version__
from tutor.pyproject import read_pyproject

NAME = "transformers-course"
# What helpers, tutor and the notebooks import, and what students need to open a notebook; the rest of pyproject.toml's
# list is for whoever builds or grades.
IMPORTED = {
    "torch",
    "numpy",
    "sympy",
    "mpmath",
    "pandas",
    "matplotlib",
    "tqdm",
    "ipywidgets",
    "ipython",
    "pooch",
    "requests",
    "packaging",
}
OPENED_WITH = {"jupyterlab", "nbgrader"}
TIME = (2020, 1, 1, 0, 0, 0)  # of every file: the same release has the same bytes

PROJECT = """[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "{version}"
description = "What the notebooks of the course on Transformers import"
requires-python = ">={oldest}"
license = "MIT AND CC-BY-4.0"
license-files = ["LICENSE"]
dependencies = [{imported}]

[project.optional-dependencies]
lab = [{opened}]
weights = [{weights}]

[tool.setuptools.packages.find]
include = ["helpers*", "tutor*"]

[tool.setuptools.package-data]
helpers = ["py.typed", "corpora/*", "corpora/*/*"]
tutor = ["py.typed", "check_examples/*.json", "check_examples/*/*.json"]

[tool.setuptools.data-files]
"etc/ipython" = ["{kernels}"]
"etc/jupyter" = ["{validate}"]
"""
KERNELS = "ipython_kernel_config.json"  # so that a kernel looks on from its start
VALIDATE = "nbgrader_config.py"  # so that Validate says the same from any folder

README = """# The notebooks of the course on Transformers

You need Python {oldest} or newer. In this folder, once:

    python3 -m venv .venv
    .venv/bin/pip install -r requirements.txt
    .venv/bin/python -m tutor work

(`requirements.txt` takes PyTorch's build for the processor. With an NVIDIA GPU, `pip install "{wheel}[lab]"` takes the
one of PyPI, on Linux some gigabytes. On Windows it is `.venv\\Scripts\\pip`, and so on.) Then each time:

    .venv/bin/jupyter lab work

The third command of the first time has copied `notebooks/` to `work/`. That copy is yours: no command writes over what
you write there. Open `00_start_here` and press Shift+Enter through its cells. Beside it lies `before.html`:
what one must know before notebook 01, in ten minutes; a double click opens it. `recap.html` is what to remember of
all notebooks, on two printed pages. In VS Code, choose `.venv` as the kernel.
In Colab, upload a notebook and `{wheel}`, and run `%pip install {wheel}` in a cell of its own first.
{online}
When there is a newer release: unpack it, move your folder `work` into the new folder, and do there again what you did
the first time. Your answers and your own cells stay, texts and checks are renewed, and it says what it has done.

`.venv/bin/python -m tutor progress` shows how far you are.
`.venv/bin/nbgrader validate NOTEBOOK` says what the button *Validate* says.
`.venv/bin/python -m tutor` prints what is installed and what is missing.
"""

# For a repository whose branch `main` holds what the zip holds.
ONLINE = """
## Without installing anything

[![Open all notebooks in Binder](https://mybinder.org/badge_logo.svg)][binder]: what you write there is gone when you
leave, so download it before. Colab keeps a copy in your Google Drive if you ask it to:

{links}

[binder]: https://mybinder.org/v2/gh/{owner}/main?urlpath=lab/tree/notebooks

## A newer release
"""
LINK = (
    "- `{name}` [![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]"
    "(https://colab.research.google.com/github/{owner}/blob/main/notebooks/{name}/{name}.ipynb)"
)
# What Binder installs, where there is no GPU.
REQUIREMENTS = """--extra-index-url https://download.pytorch.org/whl/cpu
./{wheel}[lab]
"""


def command(options: argparse.Namespace) -> int:
    """Runs `python -m grading release` and returns its exit status."""
    for path in release(options.out or ROOT / "dist", options.route):
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    return 0


def release(folder: Path, plan: str = "") -> list[Path]:
    """Writes the wheel and the students' zip into a folder and returns them; older ones of them are removed.

    With a `plan`, one of `plans.PLANS`, only its notebooks are in the zip.

    Raises:
        BuildError: when there is no such plan, a notebook is missing or has another address, or pip makes no wheel.
    """
    course = Course(ROOT)
    chosen = plans.notebooks(plan) if plan else [name[:2] for name in course.assignments]
    names = [name for name in course.assignments if name[:2] in chosen]
    notebooks = [course.released(name) for name in names]
    missing = [path for path in notebooks if not path.is_file()]
    if not notebooks or missing:
        raise BuildError(f"{missing[0] if missing else ROOT / 'notebooks'} is not there; run `make build` first.")
    if other := next((path for path in notebooks if not _installs_from(path, course_setting("install"))), None):
        raise BuildError(
            f"{other} does not begin as `install` in [tool.course] of pyproject.toml has it; run `make build` first."
        )
    folder.mkdir(parents=True, exist_ok=True)
    for old in (*folder.glob("transformers_course-*.whl"), *folder.glob(f"{NAME}-students-*.zip")):
        old.unlink()
    wheel = _wheel(folder)
    packed = folder / f"{NAME}-students-{__version__}.zip"
    top = f"{NAME}-{__version__}"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        links = online(names, course_setting("repository"))
        readme = README.format(oldest=_oldest_python(), wheel=wheel.name, online=links)
        _add(archive, f"{top}/README.md", readme.encode())
        _add(archive, f"{top}/requirements.txt", REQUIREMENTS.format(wheel=wheel.name).encode())
        _add(archive, f"{top}/LICENSE", (ROOT / "LICENSE").read_bytes())
        _add(archive, f"{top}/{wheel.name}", wheel.read_bytes())
        for path in notebooks:
            for one in (path, *sorted([*path.parent.glob("*.html"), *path.parent.glob("*.svg")])):
                _add(archive, f"{top}/{one.relative_to(ROOT).as_posix()}", one.read_bytes())
    return [wheel, packed]


def _installs_from(notebook: Path, address: str) -> bool:
    """Says whether a notebook's first code cell installs the helpers from this address, or from none."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    first = next((cell for cell in cells if cell.get("id") == "setup"), {"source": ""})
    return "".join(first["source"]).startswith(set_up(address))


def online(names: Sequence[str], repository: str) -> str:
    """Returns what the zip's README says of Binder and Colab; "" where no repository is set.

    Raises:
        BuildError: when the repository is none of GitHub's.
    """
    if not repository:
        return ""
    found = re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+?)(?:\.git)?/?", repository)
    if found is None:
        raise BuildError(
            f"[tool.course] in pyproject.toml has the repository {repository!r}; expected "
            '"https://github.com/OWNER/NAME", which Colab and Binder can open, or "" for none.'
        )
    links = "\n".join(LINK.format(name=name, owner=found[1]) for name in names)
    return ONLINE.format(owner=found[1], links=links)


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, TIME)
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, content, zipfile.ZIP_DEFLATED)


def _wheel(folder: Path) -> Path:
    """Returns the wheel that pip makes of a copy of `helpers` and `tutor`, with corpora and tiny models in it."""
    with tempfile.TemporaryDirectory() as place:
        stage = Path(place)
        for package in ("helpers", "tutor"):
            shutil.copytree(ROOT / package, stage / package, ignore=shutil.ignore_patterns("__pycache__", "corpora"))
        for path in (*corpora(), *tiny_models()):
            target = stage / "helpers" / "corpora" / path.relative_to(ROOT / "data")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
        shutil.copy(ROOT / "LICENSE", stage)
        shutil.copy(ROOT / "deploy" / "ipython" / KERNELS, stage)
        shutil.copy(ROOT / "deploy" / "jupyter" / VALIDATE, stage)
        wanted = {"imported": _wanted(IMPORTED), "opened": _wanted(OPENED_WITH)}
        wanted["weights"] = ", ".join(f'"{line}"' for line in _project()["optional-dependencies"]["weights"])
        wanted |= {"oldest": _oldest_python(), "kernels": KERNELS, "validate": VALIDATE}
        project = PROJECT.format(name=NAME, version=__version__, **wanted)
        (stage / "pyproject.toml").write_text(project, encoding="utf-8")
        here = ["--no-build-isolation"] if importlib.util.find_spec("setuptools") else []  # else pip fetches it
        done = subprocess.run(
            [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", *here, "--wheel-dir", folder, stage],
            env=os.environ | {"SOURCE_DATE_EPOCH": "1577836800"},
            capture_output=True,
            text=True,
        )
    made = list(folder.glob("transformers_course-*.whl"))
    if done.returncode or len(made) != 1:
        raise BuildError(f"pip has made no wheel of helpers: {done.stderr.strip()[-500:]}")
    return made[0]


def corpora() -> Iterator[Path]:
    """Yields the files of the embedded corpora, and the list of those that can be fetched."""
    yield ROOT / "data" / "registry.json"
    for pattern in ("*/*.tsv", "*/*.txt"):
        yield from sorted(path for path in (ROOT / "data").glob(pattern) if path.parent.name != "downloads")


def tiny_models() -> Iterator[Path]:
    """Yields the files of the models that the course brings, and the vectors that a real one has made."""
    for pattern in ("tiny_*/*", "first_model/*", "real_vectors/*"):
        yield from sorted((ROOT / "data").glob(pattern))


def _project() -> dict[str, Any]:
    project: dict[str, Any] = read_pyproject(ROOT)["project"]
    return project


def _oldest_python() -> str:
    return str(_project()["requires-python"].removeprefix(">="))


def _wanted(names: set[str]) -> str:
    """Returns the requirements of these packages, as pyproject.toml has them, as the inside of a list in TOML."""
    listed = _project()["dependencies"]
    chosen = {name: line for line in listed if (name := re.split(r"[^\w.-]", line)[0]) in names}
    absent = names - set(chosen)
    if absent:
        raise BuildError(f"pyproject.toml does not want {', '.join(sorted(absent))}, which the release names.")
    return ", ".join(f'"{chosen[name]}"' for name in sorted(chosen))
