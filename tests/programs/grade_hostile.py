"""Grades a class with the limits that are given as JSON, and prints the outcomes as JSON: run by `test_hostile.py`."""

import dataclasses
import json
import sys
from pathlib import Path

from grading.autograder import run as autograde
from grading.autograder import seeds
from grading.autograder.grade_submission import Budget
from grading.folder.course import Course
from grading.sandbox import Limits
from grading.sandbox.fork_server import ForkServer

if __name__ == "__main__":
    job = json.loads(sys.argv[1])
    seeds.VARIANTS = job["variants"]
    with ForkServer(limits=Limits(**job["limits"])) as fork_server:
        settings = autograde.Settings(
            Course(Path(job["course"])), workers=job["workers"], progress=False, budget=Budget(**job["budget"])
        )
        done = autograde.run(settings, fork_server)
    print(json.dumps([dataclasses.asdict(one) for one in done]))
