"""Reads lines of JSON: for each it forks a run and prints its process id, or waits for one and prints its exit status.

Run by `test_faults.py`, with the name of the assignment.
"""

import dataclasses
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from grading import exercise
from grading.autograder import run as autograde
from grading.autograder.fingerprint import environment_key
from grading.course import Course
from grading.errors import CourseError
from grading.sandbox.fork_server import ForkServer


def graded(told: dict[str, Any], fork_server: ForkServer) -> int:
    """Grades a class; returns 0, 3 for an error that was foreseen and 4 for another."""
    try:
        settings = autograde.Settings(Course(Path(told["course"])), workers=2, progress=False, force=told["force"])
        done = autograde.run(settings, fork_server)
        Path(told["out"]).write_text(json.dumps([dataclasses.asdict(one) for one in done]))
        return 0
    except (CourseError, OSError) as problem:
        Path(told["out"] + ".error").write_text(f"{type(problem).__name__}: {problem}")
        return 3
    except BaseException:  # noqa: BLE001 - the fork ends here; the test is told of whatever it was
        Path(told["out"] + ".error").write_text(traceback.format_exc())
        return 4


if __name__ == "__main__":
    environment_key(sys.argv[1])  # looked up once for all runs, and all that they import is imported once
    import nbgrader.api  # noqa: F401

    exercise.load(sys.argv[1])
    with ForkServer() as fork_server:
        for line in sys.stdin:
            told = json.loads(line)
            if "wait" in told:
                print(os.waitstatus_to_exitcode(os.waitpid(told["wait"], 0)[1]), flush=True)
                continue
            pid = os.fork()
            if pid == 0:
                os.dup2(os.open(os.devnull, os.O_RDWR), 1)
                os._exit(graded(told, fork_server))
            print(pid, flush=True)
