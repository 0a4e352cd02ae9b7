"""nbgrader's own commands, each in a process of its own.

A process of their own keeps what a student's kernel writes to the terminal away from it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from grading.folder.database import without_passwords

# `python -m nbgrader`, after what `grading` does so that importing nbformat takes no seconds.
START = "import grading, runpy; runpy.run_module('nbgrader', run_name='__main__', alter_sys=True)"


def nbgrader(course: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs one nbgrader command in a course folder and returns what it printed, without passwords of databases."""
    # nbgrader calls alembic by name, and that lies beside this Python.
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", START, *arguments],
        cwd=course,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PATH": programs},
        text=True,
        capture_output=True,
    )
    done.stdout, done.stderr = without_passwords(done.stdout), without_passwords(done.stderr)
    return done
