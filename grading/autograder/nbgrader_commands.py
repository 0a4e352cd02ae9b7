"""nbgrader's own commands, each in a process of its own, and nbgrader's settings.

A process of their own keeps what a student's kernel writes to the terminal away from it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from grading.course import programs_on_path
from grading.errors import CourseError

if TYPE_CHECKING:
    from traitlets.config import Config

# `python -m nbgrader`, after what `grading` does so that importing nbformat takes no seconds.
START = "import grading, runpy; runpy.run_module('nbgrader', run_name='__main__', alter_sys=True)"


def nbgrader(course: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs one nbgrader command in a course folder and returns what it printed."""
    with programs_on_path():  # nbgrader calls alembic by name when it makes the gradebook
        return subprocess.run(
            [sys.executable, "-c", START, *arguments],
            cwd=course,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            text=True,
            capture_output=True,
        )


def nbgrader_settings(course: Path) -> Config:
    """Returns the settings that nbgrader has in a course folder: its `nbgrader_config.py`, and those of Jupyter below.

    Like nbgrader it makes modules that lie in the course folder known: a setting may name a plugin there.

    Raises:
        CourseError: when a file of settings cannot be read.
    """
    from jupyter_core.paths import jupyter_config_path
    from traitlets.config import Application

    if str(course) not in sys.path:
        sys.path.append(str(course))
    application = Application(raise_config_file_errors=True)
    try:
        application.load_config_file("nbgrader_config", path=[str(course), *jupyter_config_path()])
    except Exception as problem:  # a file of settings is a program
        raise CourseError(f"nbgrader's settings cannot be read ({type(problem).__name__}: {problem}).") from problem
    return application.config
