"""A copy of the course in which a test may change sources, and commands that run in it as they do in a clone."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

OF_PEOPLE = ("gradebook", "work", "demo")
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", *OF_PEOPLE, "downloads", "checkpoints")


def clone(repository: Path, target: Path) -> Path:
    """Returns a copy of the course at `target`, without environment, history, and what is about people."""
    shutil.copytree(repository, target, ignore=LEFT_OUT)
    return target


def python(folder: Path, arguments: Sequence[str], seconds: float = 600) -> subprocess.CompletedProcess[str]:
    """Runs this Python in a copy of the course, on the copy's own modules, and returns how it ended."""
    environment = os.environ | {"PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=seconds
    )
