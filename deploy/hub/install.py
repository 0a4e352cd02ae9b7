"""Puts a hub's parts into one folder; as root, in a clone of the course.

    python3 -m deploy.hub.install /srv/course --instructor teacher

FOLDER/environment  one Python for all, with JupyterLab, nbgrader, JupyterHub and the students' wheel of `helpers`
FOLDER/settings     what this folder and deploy/jupyter hold; who may change these decides what runs as root
FOLDER/exchange     nbgrader's exchange
FOLDER/notebooks    the released notebooks; a hub has them in its exchange, the Dockerfile's image needs them
FOLDER/run          the hub's database and secrets, for root alone

Each part can be done again, when the course is newer for example. It uses the standard library alone.
"""

from __future__ import annotations

import argparse
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
COURSE_ID = "transformers"
PARTS = ("packages", "course", "settings", "exchange", "notebooks")


class InstallError(Exception):
    """Something that the administrator can mend; one sentence says what and how."""


def run(*command: str | Path, **more: str) -> None:
    """Runs a command in the clone; `more` are environment variables."""
    done = subprocess.call([str(word) for word in command], cwd=ROOT, env=os.environ | more)
    if done:
        raise InstallError(f"`{' '.join(map(str, command))}` has failed, its lines above say why: mend it, run again.")


def refuse_private(place: Path) -> None:
    """Raises InstallError where other accounts may not enter a folder of a path, links followed."""
    for folder in place.resolve().parents:
        if folder.exists() and not folder.stat().st_mode & 0o001:
            raise InstallError(
                f"Other accounts may not enter {folder}, and so cannot use {place}: take another folder, or the "
                "system's Python (/usr/bin/python3 -m deploy.hub.install)."
            )


def packages(environment: Path) -> None:
    """Installs what students and instructors need, in the versions of constraints.txt, without the course itself."""
    run(sys.executable, "-m", "deploy", "--extra", "hub", COURSE_ENVIRONMENT=str(environment))
    # It was installed as a link to this clone, whose solutions students must not reach.
    run(environment / "bin" / "python", "-m", "pip", "uninstall", "--quiet", "--yes", "transformers-course")


def course(environment: Path, maker: str | Path | None = None) -> None:
    """Installs the students' wheel: `helpers` with its corpora, nothing of `grading` or `solutions`.

    Args:
        environment: where to.
        maker: a Python that has what `python -m grading release` needs; by default the environment's.
    """
    python = environment / "bin" / "python"
    with tempfile.TemporaryDirectory() as place:
        run(maker or python, "-m", "grading", "release", "--out", place)
        [wheel] = Path(place).glob("*.whl")
        options = ("--quiet", "--no-deps", "--no-index", "--ignore-installed", "--disable-pip-version-check")
        run(python, "-m", "pip", "install", *options, wheel, PIP_ROOT_USER_ACTION="ignore")


def settings(folder: Path) -> None:
    """Copies the hub's settings and JupyterLab's, readable for all and writable for root."""
    place = folder / "settings"
    shutil.rmtree(place, ignore_errors=True)
    ours = shutil.ignore_patterns("__pycache__", "install.py", "__init__.py")
    shutil.copytree(ROOT / "deploy" / "hub", place, ignore=ours)
    shutil.copytree(ROOT / "deploy" / "jupyter", place / "jupyter")
    for path in [place, *place.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    (folder / "run").mkdir(mode=0o700, exist_ok=True)


def exchange(folder: Path, instructor: str) -> None:
    """Makes nbgrader's exchange, in which the course's part belongs to the instructor.

    nbgrader wants its root writable for everyone; the sticky bit keeps students from renaming what is not theirs, and
    the course's folder is made before a student could make one of its name.
    """
    try:
        owner = pwd.getpwnam(instructor)
    except KeyError:
        raise InstallError(f"There is no account {instructor!r} on this machine: make it first (adduser).") from None
    place = folder / "exchange"
    place.mkdir(exist_ok=True)
    place.chmod(0o1777)
    own = place / COURSE_ID
    own.mkdir(exist_ok=True)
    os.chown(own, owner.pw_uid, owner.pw_gid)
    own.chmod(0o755)


def notebooks(folder: Path) -> None:
    """Copies the released notebooks, and nothing that lies beside them."""
    for path in sorted((ROOT / "notebooks").glob("*/*.ipynb")):
        place = folder / path.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python3 -m deploy.hub.install", description="Put a hub's parts in place.")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where to, /srv/course for example")
    parser.add_argument("--instructor", metavar="ACCOUNT", help="to whom the course's part of the exchange belongs")
    parser.add_argument("--only", action="append", choices=PARTS, help="only this part (again: and this one)")
    chosen = parser.parse_args(arguments)
    parts = chosen.only or [part for part in PARTS if part != "notebooks"]
    if "exchange" in parts and not chosen.instructor:
        parser.error("the exchange wants --instructor ACCOUNT, to whom the course's part of it belongs.")
    folder = chosen.folder.resolve()
    os.umask(0o022)  # what is put in place is for all to read, whatever root's own files are
    try:
        folder.mkdir(parents=True, exist_ok=True)
        refuse_private(folder / "settings")
        if "packages" in parts:
            refuse_private(Path(sys.executable))
        if "packages" in parts:
            packages(folder / "environment")
        if "course" in parts:
            course(folder / "environment")
        if "settings" in parts:
            settings(folder)
        if "exchange" in parts:
            exchange(folder, chosen.instructor)
        if "notebooks" in parts:
            notebooks(folder)
    except (InstallError, OSError) as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
