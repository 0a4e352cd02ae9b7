"""Reads lines of JSON: for each it forks a run and prints its process id, or waits for one and prints its exit status.

Each run is the first of a process group of its own. What it imports is imported once for all of them; a course
that is given as "warm" is graded here, and its questions are drawn here, so that no run has to begin at the beginning.
Run by `test_faults.py`, with the name of the assignment.
"""

import dataclasses
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from grading.autograder import reporting
from grading.autograder import run as autograde
from grading.autograder.fingerprint import environment_key
from grading.autograder.graded_notebook import load_master
from grading.autograder.seeds import secret_of, seed_of
from grading.autograder.submission import UnreadableError, read
from grading.definitions import exercise
from grading.folder.course import Course
from grading.folder.errors import CourseError
from grading.notebooks.cells import exercise_of
from grading.pages import report
from grading.sandbox.fork_server import ForkServer


def graded(request: dict[str, Any], fork_server: ForkServer) -> int:
    """Grades a class and writes its report; returns 0, 3 for an error that was foreseen and 4 for another."""
    try:
        course = Course(Path(request["course"]))
        settings = autograde.Settings(course, workers=2, progress=False, force=request["force"])
        with reporting.Log(course.root, "autograde") as log:
            done = autograde.run(settings, fork_server, log.outcome)
            log.write(reporting.summary(done, 1.0))
        report.write_report(course, sys.argv[1])
        Path(request["out"]).write_text(json.dumps([dataclasses.asdict(one) for one in done]))
        return 0
    except (CourseError, OSError) as problem:
        Path(request["out"] + ".error").write_text(f"{type(problem).__name__}: {problem}")
        return 3
    except BaseException:  # noqa: BLE001 - the fork ends here; the test gets to see whatever it was
        Path(request["out"] + ".error").write_text(traceback.format_exc())
        return 4


def draw(course: Course, assignment: str) -> None:
    """Draws the questions for every submission in a course, as a run would."""
    master = load_master(course, assignment)
    for folder in course.submitted_folders(assignment):
        try:
            work = read(folder, master)
        except UnreadableError:
            continue
        seed = seed_of(secret_of(course), folder.parent.name, work.digest())
        for check in master.cells("check"):
            examples = exercise.load(assignment)[exercise_of(check)].variant(seed)
            for stage in examples.stages:
                for case in stage.cases:
                    dict(case.mistakes)


if __name__ == "__main__":
    environment_key(sys.argv[1])  # looked up once for all runs, and all that they import is imported once
    import nbgrader.api  # noqa: F401

    exercise.load(sys.argv[1])
    with ForkServer() as fork_server:
        for line in sys.stdin:
            request = json.loads(line)
            if "wait" in request:
                print(os.waitstatus_to_exitcode(os.waitpid(request["wait"], 0)[1]), flush=True)
                continue
            if "warm" in request:
                draw(Course(Path(request["warm"])), sys.argv[1])
                print(graded({**request, "course": request["warm"]}, fork_server), flush=True)
                continue
            pid = os.fork()
            if pid == 0:
                os.setpgid(0, 0)
                os.dup2(os.open(os.devnull, os.O_RDWR), 1)
                os._exit(graded(request, fork_server))
            print(pid, flush=True)
